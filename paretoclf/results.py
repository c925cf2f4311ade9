"""What functions return and nobody constructs: for type annotations, and to read what an attribute means."""

from paretoclf.common.names import attach as _attach

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
