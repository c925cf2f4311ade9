"""What the optimum would be if samples were not there, or cost something else: ends of lines that leave from it."""

from paretoclf.common.names import attach as _attach

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
