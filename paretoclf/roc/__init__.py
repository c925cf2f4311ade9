"""ROC curves of scores and of whole paths, their hulls, and the selection of a classifier for given costs."""

from paretoclf.common.names import attach as _attach

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
