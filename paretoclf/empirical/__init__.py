"""Trade-off curves of families of classifiers on held-out samples: repeated splits, monotone fit, bands, comparison."""

from paretoclf.empirical.bands import Band as Band
from paretoclf.empirical.monotone import MonotoneFit as MonotoneFit
from paretoclf.empirical.monotone import monotone_fit as monotone_fit
from paretoclf.empirical.nested import AlongPath as AlongPath
from paretoclf.empirical.nested import ByValidation as ByValidation
from paretoclf.empirical.nested import NestedPoint as NestedPoint
from paretoclf.empirical.nested import NestedRoc as NestedRoc
from paretoclf.empirical.nested import nested_rocs as nested_rocs
from paretoclf.empirical.paired import PairedAreas as PairedAreas
from paretoclf.empirical.paired import paired_areas as paired_areas
from paretoclf.empirical.ranks import RankComparison as RankComparison
from paretoclf.empirical.ranks import compare_mean_ranks as compare_mean_ranks
from paretoclf.empirical.ranks import compare_ranks as compare_ranks
from paretoclf.empirical.ranks import nemenyi_difference as nemenyi_difference
from paretoclf.empirical.signed_ranks import signed_rank_greater as signed_rank_greater
from paretoclf.empirical.tradeoff import EmpiricalTradeoff as EmpiricalTradeoff
from paretoclf.empirical.tradeoff import empirical_tradeoff as empirical_tradeoff
