"""Names of `paretoclf.roc.empirical`: where each is, for type checkers and for whoever imports it."""

from .bands import Band as Band
from .monotone import MonotoneFit as MonotoneFit
from .monotone import monotone_fit as monotone_fit
from .nested import AlongPath as AlongPath
from .nested import ByValidation as ByValidation
from .nested import NestedPoint as NestedPoint
from .nested import NestedRoc as NestedRoc
from .nested import nested_rocs as nested_rocs
from .tradeoff import EmpiricalTradeoff as EmpiricalTradeoff
from .tradeoff import empirical_tradeoff as empirical_tradeoff
