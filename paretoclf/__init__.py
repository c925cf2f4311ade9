"""paretoclf: exact cost paths, convex formulations and certificates for cost-asymmetric classifiers."""

import logging

import lazy_loader

# The public names stand in __init__.pyi, each is imported when first used: CVXPY and the tracker take seconds.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = "0.1.0"

logging.getLogger(__name__).addHandler(logging.NullHandler())  # silent unless the user asks
