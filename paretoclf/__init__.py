"""paretoclf: exact cost paths, convex formulations and certificates for cost-asymmetric classifiers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from paretoclf.certificate import Certificate as Certificate
from paretoclf.certificate import certify as certify
from paretoclf.classifiers import LinearRule as LinearRule
from paretoclf.classifiers import Rule as Rule
from paretoclf.costs import CostLine as CostLine
from paretoclf.costs import Costs as Costs
from paretoclf.costs import SampleCosts as SampleCosts
from paretoclf.errors import DegeneratePathError as DegeneratePathError
from paretoclf.errors import InputError as InputError
from paretoclf.errors import InseparableError as InseparableError
from paretoclf.errors import ParetoclfError as ParetoclfError
from paretoclf.errors import SmallSampleWarning as SmallSampleWarning
from paretoclf.errors import SolveError as SolveError
from paretoclf.gaussian.moments import Distances as Distances
from paretoclf.gaussian.moments import Moments as Moments
from paretoclf.gram import Gram as Gram
from paretoclf.gram import nearest_psd as nearest_psd
from paretoclf.kernels import RBF as RBF
from paretoclf.kernels import Linear as Linear
from paretoclf.kernels import Polynomial as Polynomial
from paretoclf.solution import Classifier as Classifier
from paretoclf.solution import Solution as Solution

if TYPE_CHECKING:
    from paretoclf import datasets as datasets
    from paretoclf.agreement import Agreement as Agreement
    from paretoclf.agreement import ValueAgreement as ValueAgreement
    from paretoclf.agreement import compare as compare
    from paretoclf.cross_validation import cross_validated_errors as cross_validated_errors
    from paretoclf.cross_validation import cross_validated_roc as cross_validated_roc
    from paretoclf.cross_validation import cross_validated_rocs as cross_validated_rocs
    from paretoclf.empirical import EmpiricalTradeoff as EmpiricalTradeoff
    from paretoclf.empirical import MonotoneFit as MonotoneFit
    from paretoclf.empirical import NestedRoc as NestedRoc
    from paretoclf.empirical import empirical_tradeoff as empirical_tradeoff
    from paretoclf.empirical import monotone_fit as monotone_fit
    from paretoclf.empirical import nested_rocs as nested_rocs
    from paretoclf.empirical import paired_areas as paired_areas
    from paretoclf.formulations.base import NONNEGATIVE as NONNEGATIVE
    from paretoclf.formulations.base import POSITIVE as POSITIVE
    from paretoclf.formulations.base import Formulation as Formulation
    from paretoclf.formulations.base import Range as Range
    from paretoclf.formulations.biased_minimax import BiasedMinimaxProbabilityMachine as BiasedMinimaxProbabilityMachine
    from paretoclf.formulations.biobjective_margin import BiobjectiveMargin as BiobjectiveMargin
    from paretoclf.formulations.mempm import MEMPM as MEMPM
    from paretoclf.formulations.minimax_probability import MinimaxProbabilityMachine as MinimaxProbabilityMachine
    from paretoclf.formulations.on_samples import SampleFormulation as SampleFormulation
    from paretoclf.formulations.pareto_gaussian import ParetoGaussian as ParetoGaussian
    from paretoclf.formulations.pareto_gaussian_qp import ParetoGaussianQP as ParetoGaussianQP
    from paretoclf.formulations.quantile_svm import QuantileSVM as QuantileSVM
    from paretoclf.formulations.s_procedure import SProcedure as SProcedure
    from paretoclf.formulations.statement import Statement as Statement
    from paretoclf.formulations.surrogate_risk import SurrogateRisk as SurrogateRisk
    from paretoclf.formulations.two_c_svm import TwoCSVM as TwoCSVM
    from paretoclf.formulations.two_nu_svm import TwoNuSVM as TwoNuSVM
    from paretoclf.gaussian.operating import OperatingPoint as OperatingPoint
    from paretoclf.gaussian.operating import TradeoffCurve as TradeoffCurve
    from paretoclf.gaussian.rates import ChebyshevRate as ChebyshevRate
    from paretoclf.gaussian.rates import GaussianRate as GaussianRate
    from paretoclf.gaussian.rates import KLRate as KLRate
    from paretoclf.gaussian.rates import Rate as Rate
    from paretoclf.gaussian.rates import ScaleMixtureRate as ScaleMixtureRate
    from paretoclf.gaussian.rates import StudentRate as StudentRate
    from paretoclf.gaussian.tradeoff import GaussianTradeoff as GaussianTradeoff
    from paretoclf.gaussian.tradeoff import gaussian_tradeoff as gaussian_tradeoff
    from paretoclf.path.load import load_path as load_path
    from paretoclf.path.load import load_plane as load_plane
    from paretoclf.path.margin_path import MarginPath as MarginPath
    from paretoclf.path.nu_grid import NuGrid as NuGrid
    from paretoclf.path.nu_grid import nu_grid as nu_grid
    from paretoclf.path.nu_path import NuPath as NuPath
    from paretoclf.path.nu_path import NuStar as NuStar
    from paretoclf.path.plane import CostPlane as CostPlane
    from paretoclf.path.plane import plane as plane
    from paretoclf.path.prices import ShadowPrices as ShadowPrices
    from paretoclf.path.quantile_path import QuantilePath as QuantilePath
    from paretoclf.path.result import Path as Path
    from paretoclf.path.scores import PathScores as PathScores
    from paretoclf.path.tracing import trace as trace
    from paretoclf.roc import ErrorCurve as ErrorCurve
    from paretoclf.roc import ErrorMap as ErrorMap
    from paretoclf.roc import RocCurve as RocCurve
    from paretoclf.roc import error_curve_of_scores as error_curve_of_scores
    from paretoclf.roc import roc_curve_of_scores as roc_curve_of_scores
    from paretoclf.roc import roc_of_path as roc_of_path
    from paretoclf.roc import roc_of_scores as roc_of_scores
    from paretoclf.solve.sweep import Sweep as Sweep
    from paretoclf.solve.sweep import sweep as sweep
    from paretoclf.verification import Verification as Verification
    from paretoclf.verification import verify as verify

__version__ = "0.1.0"

# Imported when first used: CVXPY takes seconds, and `paretoclf --version` does not need it.
_LAZY = {
    "Agreement": "paretoclf.agreement",
    "ValueAgreement": "paretoclf.agreement",
    "compare": "paretoclf.agreement",
    "cross_validated_errors": "paretoclf.cross_validation",
    "cross_validated_roc": "paretoclf.cross_validation",
    "cross_validated_rocs": "paretoclf.cross_validation",
    "EmpiricalTradeoff": "paretoclf.empirical",
    "MonotoneFit": "paretoclf.empirical",
    "NestedRoc": "paretoclf.empirical",
    "empirical_tradeoff": "paretoclf.empirical",
    "monotone_fit": "paretoclf.empirical",
    "nested_rocs": "paretoclf.empirical",
    "paired_areas": "paretoclf.empirical",
    "BiobjectiveMargin": "paretoclf.formulations.biobjective_margin",
    "Formulation": "paretoclf.formulations.base",
    "NONNEGATIVE": "paretoclf.formulations.base",
    "POSITIVE": "paretoclf.formulations.base",
    "QuantileSVM": "paretoclf.formulations.quantile_svm",
    "Range": "paretoclf.formulations.base",
    "SampleFormulation": "paretoclf.formulations.on_samples",
    "Statement": "paretoclf.formulations.statement",
    "SurrogateRisk": "paretoclf.formulations.surrogate_risk",
    "ParetoGaussian": "paretoclf.formulations.pareto_gaussian",
    "ParetoGaussianQP": "paretoclf.formulations.pareto_gaussian_qp",
    "SProcedure": "paretoclf.formulations.s_procedure",
    "MinimaxProbabilityMachine": "paretoclf.formulations.minimax_probability",
    "BiasedMinimaxProbabilityMachine": "paretoclf.formulations.biased_minimax",
    "MEMPM": "paretoclf.formulations.mempm",
    "TwoCSVM": "paretoclf.formulations.two_c_svm",
    "TwoNuSVM": "paretoclf.formulations.two_nu_svm",
    "ChebyshevRate": "paretoclf.gaussian.rates",
    "GaussianRate": "paretoclf.gaussian.rates",
    "KLRate": "paretoclf.gaussian.rates",
    "Rate": "paretoclf.gaussian.rates",
    "ScaleMixtureRate": "paretoclf.gaussian.rates",
    "StudentRate": "paretoclf.gaussian.rates",
    "GaussianTradeoff": "paretoclf.gaussian.tradeoff",
    "OperatingPoint": "paretoclf.gaussian.operating",
    "TradeoffCurve": "paretoclf.gaussian.operating",
    "gaussian_tradeoff": "paretoclf.gaussian.tradeoff",
    "trace": "paretoclf.path.tracing",
    "CostPlane": "paretoclf.path.plane",
    "plane": "paretoclf.path.plane",
    "NuGrid": "paretoclf.path.nu_grid",
    "NuPath": "paretoclf.path.nu_path",
    "NuStar": "paretoclf.path.nu_path",
    "nu_grid": "paretoclf.path.nu_grid",
    "Path": "paretoclf.path.result",
    "load_path": "paretoclf.path.load",
    "load_plane": "paretoclf.path.load",
    "MarginPath": "paretoclf.path.margin_path",
    "QuantilePath": "paretoclf.path.quantile_path",
    "ShadowPrices": "paretoclf.path.prices",
    "PathScores": "paretoclf.path.scores",
    "ErrorCurve": "paretoclf.roc",
    "ErrorMap": "paretoclf.roc",
    "RocCurve": "paretoclf.roc",
    "error_curve_of_scores": "paretoclf.roc",
    "roc_curve_of_scores": "paretoclf.roc",
    "roc_of_path": "paretoclf.roc",
    "roc_of_scores": "paretoclf.roc",
    "Sweep": "paretoclf.solve.sweep",
    "sweep": "paretoclf.solve.sweep",
    "Verification": "paretoclf.verification",
    "verify": "paretoclf.verification",
}


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module("paretoclf.datasets")
    if name not in _LAZY:
        raise AttributeError(f"module 'paretoclf' has no attribute {name!r}")
    # `from` a submodule of the same name (paretoclf.compare) would bind the module here: bind the object instead.
    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, "datasets"})
