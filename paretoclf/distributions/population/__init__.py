"""Two classes whose distributions are known: what a convex loss does to a linear classifier without any sample."""

from paretoclf.common.names import attach as _attach

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
