"""paretoclf: exact cost paths, convex formulations and certificates for cost-asymmetric classifiers."""

from paretoclf.certificate import Certificate as Certificate
from paretoclf.certificate import certify as certify
from paretoclf.costs import CostLine as CostLine
from paretoclf.costs import Costs as Costs
from paretoclf.errors import DegeneratePathError as DegeneratePathError
from paretoclf.errors import InputError as InputError
from paretoclf.errors import ParetoclfError as ParetoclfError
from paretoclf.errors import SolveError as SolveError
from paretoclf.gram import Gram as Gram
from paretoclf.kernels import RBF as RBF
from paretoclf.kernels import Linear as Linear
from paretoclf.kernels import Polynomial as Polynomial
from paretoclf.solution import Classifier as Classifier
from paretoclf.solution import Solution as Solution

__version__ = "0.1.0"
