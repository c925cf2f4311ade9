"""The formulations: one file each, the mathematics first, then the CVXPY model."""

from paretoclf.common.names import attach as _attach

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
