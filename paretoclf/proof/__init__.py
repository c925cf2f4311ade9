"""Proofs: certificates of single points, and proofs of whole lines. NumPy and SciPy only, from raw arrays."""

from paretoclf.common.names import attach as _attach

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
