"""Names of `paretoclf.roc.empirical`: where each is, for type checkers and for whoever imports it."""

from .bands import Band as Band
from .monotone import MonotoneFit as MonotoneFit
from .monotone import monotone_fit as monotone_fit
from .nested import AlongPath as AlongPath
from .nested import ByValidation as ByValidation
from .nested import NestedPoint as NestedPoint
from .nested import NestedRoc as NestedRoc
from .nested import nested_rocs as nested_rocs
from .paired import PairedAreas as PairedAreas
from .paired import paired_areas as paired_areas
from .ranks import RankComparison as RankComparison
from .ranks import compare_mean_ranks as compare_mean_ranks
from .ranks import compare_ranks as compare_ranks
from .ranks import nemenyi_difference as nemenyi_difference
from .signed_ranks import signed_rank_greater as signed_rank_greater
from .tradeoff import EmpiricalTradeoff as EmpiricalTradeoff
from .tradeoff import empirical_tradeoff as empirical_tradeoff
