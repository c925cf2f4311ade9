"""ROC curves of scores and of whole paths, their hulls, and the selection of a classifier for given costs."""

from paretoclf.roc.area_curve import AreaCurve as AreaCurve
from paretoclf.roc.crossings import scores_at as scores_at
from paretoclf.roc.curve import RocCurve as RocCurve
from paretoclf.roc.curve import RocMixture as RocMixture
from paretoclf.roc.curve import RocPoint as RocPoint
from paretoclf.roc.delong import AreaDifference as AreaDifference
from paretoclf.roc.delong import AreaInterval as AreaInterval
from paretoclf.roc.delong import area_difference as area_difference
from paretoclf.roc.delong import area_interval as area_interval
from paretoclf.roc.error_curve import ErrorCurve as ErrorCurve
from paretoclf.roc.error_curve import Optimum as Optimum
from paretoclf.roc.error_map import ErrorMap as ErrorMap
from paretoclf.roc.error_surface import ErrorSurface as ErrorSurface
from paretoclf.roc.grid import GridErrorCurve as GridErrorCurve
from paretoclf.roc.grid import GridOptimum as GridOptimum
from paretoclf.roc.of_path import roc_of_path as roc_of_path
from paretoclf.roc.of_path import roc_of_scores as roc_of_scores
from paretoclf.roc.of_path import symmetric_t as symmetric_t
from paretoclf.roc.rules import PathRule as PathRule
