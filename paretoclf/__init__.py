"""paretoclf: exact solution paths of QPs, LPs and classifiers with unequal costs, each point proved optimal."""

import logging

from paretoclf.common.names import attach as _attach

__getattr__, __dir__, __all__ = _attach(__name__, __file__)
__version__ = "0.1.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())  # silent unless the user asks
