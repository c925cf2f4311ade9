"""Trade-off curves of families of classifiers on held-out samples: repeated splits, monotone fit, bands, comparison."""

from paretoclf.common.names import attach as _attach

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
