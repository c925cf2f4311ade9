"""Exact paths as estimators of scikit-learn: no more thought than an ``SVC``."""

from paretoclf.estimators.cost_path import CostPathSVC as CostPathSVC
from paretoclf.estimators.cost_path_cv import CostPathSVCCV as CostPathSVCCV
from paretoclf.estimators.neyman_pearson import NeymanPearsonSVC as NeymanPearsonSVC
from paretoclf.estimators.quantile import QuantileSVC as QuantileSVC
