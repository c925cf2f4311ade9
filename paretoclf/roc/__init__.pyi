"""Names of `paretoclf.roc`: where each is, for type checkers and for whoever imports it."""

from ..path.regions.error_map import ErrorMap as ErrorMap
from .area_curve import AreaCurve as AreaCurve
from .best_ranges import BestRange as BestRange
from .best_ranges import BestRanges as BestRanges
from .clopper_pearson import ErrorRates as ErrorRates
from .clopper_pearson import RateInterval as RateInterval
from .clopper_pearson import rate_intervals as rate_intervals
from .crossings import LabelChanges as LabelChanges
from .crossings import label_changes as label_changes
from .crossings import scores_at as scores_at
from .curve import RocCurve as RocCurve
from .delong import AreaDifference as AreaDifference
from .delong import AreaInterval as AreaInterval
from .delong import area_difference as area_difference
from .delong import area_interval as area_interval
from .error_curve import ErrorCurve as ErrorCurve
from .error_curve import Optimum as Optimum
from .error_surface import ErrorSurface as ErrorSurface
from .grid import GridErrorCurve as GridErrorCurve
from .grid import GridOptimum as GridOptimum
from .of_path import roc_of_path as roc_of_path
from .of_path import roc_of_scores as roc_of_scores
from .of_path import symmetric_t as symmetric_t
from .points import RocMixture as RocMixture
from .points import RocPoint as RocPoint
from .rules import PathRule as PathRule
