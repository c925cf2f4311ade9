"""The formulations: one file each, the mathematics first, then the CVXPY model."""

from ..problem.class_margins import object_margins as object_margins
from .biased_minimax import BiasedMinimaxProbabilityMachine as BiasedMinimaxProbabilityMachine
from .extreme_asymmetry import ExtremeAsymmetry as ExtremeAsymmetry
from .margin_in_norm import MarginInNorm as MarginInNorm
from .pareto_gaussian_qp import ParetoGaussianQP as ParetoGaussianQP
