"""Quadratic term of a problem as an operator. No other module asks whether there are features or a kernel matrix."""

from paretoclf.problem.operator.features import Features as Features
from paretoclf.problem.operator.matrix import Matrix as Matrix
from paretoclf.problem.operator.operator import FeatureSlope as FeatureSlope
from paretoclf.problem.operator.operator import FeatureSlopes as FeatureSlopes
from paretoclf.problem.operator.operator import Quadratic as Quadratic
