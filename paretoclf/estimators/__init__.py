"""Exact paths, and classifiers of moments, as estimators of scikit-learn: no more thought than an ``SVC``."""

from paretoclf.estimators.biobjective_margin import BiobjectiveMarginClassifier as BiobjectiveMarginClassifier
from paretoclf.estimators.conformal import ConformalSVC as ConformalSVC
from paretoclf.estimators.cost_path import CostPathSVC as CostPathSVC
from paretoclf.estimators.cost_path_cv import CostPathSVCCV as CostPathSVCCV
from paretoclf.estimators.mempm import MEMPMClassifier as MEMPMClassifier
from paretoclf.estimators.neyman_pearson import NeymanPearsonSVC as NeymanPearsonSVC
from paretoclf.estimators.pareto_gaussian import ParetoGaussianClassifier as ParetoGaussianClassifier
from paretoclf.estimators.quantile import QuantileSVC as QuantileSVC
from paretoclf.estimators.two_nu import TwoNuSVC as TwoNuSVC
