"""The quadratic of a problem as an operator. Nobody else asks whether there are features or a kernel matrix."""

from paretoclf.quadratic.features import Features as Features
from paretoclf.quadratic.matrix import Matrix as Matrix
from paretoclf.quadratic.operator import FeatureSlope as FeatureSlope
from paretoclf.quadratic.operator import FeatureSlopes as FeatureSlopes
from paretoclf.quadratic.operator import Quadratic as Quadratic
