"""Two classes whose distributions are known: linear classifiers that minimise a convex loss, without any sample."""

from paretoclf.common.names import attach as _attach

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
