"""What a caller does to an array after handing it over changes nothing: every public constructor keeps copies."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping

import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.distributions.population import Mixture
from paretoclf.results import (
    Classifier,
    FeatureRule,
    LinearRule,
    OperatingPoint,
    ShadowPrices,
    Statement,
    TradeoffCurve,
)
from paretoclf.roc.curve import RocCurve
from paretoclf.roc.scores import PathScores
from tests.oracles.public import classes

RNG = np.random.default_rng(5)
N, D = 24, 3
X = RNG.normal(size=(N, D)) + np.where(np.arange(N) < 10, 1.5, -1.5)[:, None]
Y = np.where(np.arange(N) < 10, 1.0, -1.0)
K = pc.RBF(1.0)(X, X)
GRAM = pc.Gram(X)
SVM = pc.TwoCSVM(X, Y)
LINE = {"start": (0.1, 0.1), "stop": (1.0, 0.5)}
PLANE = pc.plane(pc.TwoCSVM(X[6:14], Y[6:14]), (0.1, 1), (0.1, 1))
RATES = (pc.rates.GaussianRate(), pc.rates.GaussianRate())
MU, SIGMA = np.array([1.0, 0.0]), np.array([[2.0, 0.5], [0.5, 1.0]])
MOMENTS = {"mu_plus": MU, "Sigma_plus": SIGMA, "mu_minus": -MU, "Sigma_minus": 2 * SIGMA}
STEPS, SCORES = np.array([0.0, 0.5, 1.0]), RNG.normal(size=(5, 2))
COUNTS = np.array([1, 0])

SAMPLES = {"X": X, "y": Y}
SPARSE = {"X": sp.csr_array(X), "y": Y}
MOMENT_CLASSES = (
    pc.ParetoGaussian,
    pc.formulations.ParetoGaussianQP,
    pc.SProcedure,
    pc.MinimaxProbabilityMachine,
    pc.formulations.BiasedMinimaxProbabilityMachine,
    pc.MEMPM,
)
SAMPLE_CLASSES = (
    pc.TwoCSVM,
    pc.TwoNuSVM,
    pc.QuantileSVM,
    pc.BiobjectiveMargin,
    pc.formulations.MarginInNorm,
    pc.SurrogateRisk,
)

#: Constructor, and arguments for it.
CASES = [
    (pc.Gram, {"X": X}),
    (pc.Gram, {"X": sp.csr_array(X)}),
    (pc.Gram, {"X": sp.coo_array(X)}),
    (pc.Gram, {"X": K, "kernel": "precomputed"}),
    (pc.Gram, {"X": X, "kernel": "rbf", "low_rank": np.array([3, 1, 4])}),
    *((cls, arguments) for cls in SAMPLE_CLASSES for arguments in (SAMPLES, SPARSE)),
    (pc.TwoCSVM, {"X": K, "y": Y, "kernel": "precomputed", "sample_weight": np.ones(N)}),
    *((cls, {**SAMPLES, "reg": np.array([0.1, 0.2])}) for cls in MOMENT_CLASSES),
    *((cls.from_moments, MOMENTS) for cls in MOMENT_CLASSES),
    (pc.Moments, {"mu_plus": MU, "root_plus": SIGMA, "mu_minus": -MU, "root_minus": SIGMA}),
    (pc.Moments.from_covariances, MOMENTS),
    (pc.Moments.from_samples, SAMPLES),
    (pc.QP, {"P": SIGMA, "q": MU, "A": SIGMA, "l": MU - 1, "u": MU + 1, "moves": {"m": {"q": MU.copy()}}}),
    (pc.gaussian_tradeoff, {"data": X, "y": Y}),
    (pc.gaussian_tradeoff, {"data": X, "y": Y, "kernel": pc.RBF(2.0), "reg": 0.1}),
    (OperatingPoint, {"w": MU, "b": 0.0, "t": 1.0, "u_minus": 1.0, "u_plus": 1.0, "rates": RATES}),
    (TradeoffCurve, {"w": SIGMA, "b": MU, "t": MU, "u_minus": MU, "u_plus": MU, "rates": RATES}),
    (LinearRule, {"slope": MU, "b": 0.0}),
    (FeatureRule, {"gram": pc.Gram(X, "rbf", low_rank=2), "slope": MU[:2].copy(), "b_at_origin": 0.0}),
    (Classifier, {"gram": GRAM, "y": Y, "caps": np.ones(N), "alpha": np.ones(N), "b_at_origin": 0.0, "slope": X[0]}),
    (pc.SampleCosts, {"values": np.ones(N)}),
    (PathScores, {"t": STEPS, "start": SCORES, "end": SCORES}),
    (RocCurve, {
        "fpr": np.array([0.0, 1.0]), "tpr": np.array([0.0, 1.0]), "n_plus": 1, "n_minus": 1, "shift": MU, "t": MU,
        "swept": MU, "index": COUNTS,
    }),
    (pc.roc.ErrorCurve, {
        "t": STEPS, "false_positives": COUNTS, "false_negatives": COUNTS, "false_positives_at": np.array([0, 1, 0]),
        "false_negatives_at": np.array([0, 1, 0]), "n_plus": 2, "n_minus": 2,
    }),
    (pc.roc.GridErrorCurve, {
        "parameters": {"C": STEPS[:2].copy()}, "false_positives": COUNTS, "false_negatives": COUNTS, "n_plus": 2,
        "n_minus": 2,
    }),
    (pc.roc.ErrorSurface, {
        "folds": [PathScores(STEPS, SCORES, SCORES)], "y": [np.array([1.0, -1.0, 1.0, 1.0, -1.0])],
    }),
    (pc.empirical.MonotoneFit, {"x": MU, "y": MU, "residual": 0.0}),
    (pc.empirical.monotone_fit, {"x": np.array([0.2, 0.5]), "y": np.array([0.4, 0.1]), "weight": np.ones(2)}),
    (pc.empirical.EmpiricalTradeoff, {"parts": (), "y": Y, "areas": MU, "hull_areas": MU}),
    (ShadowPrices, {"C_plus": 1.0, "C_minus": 1.0, "ends": ((1.0, 1.0), (1.0, 1.0)), "samples": Y}),
    (Statement, {
        "title": "", "data": "", "primal": "", "lagrangian": "", "dual": "", "kkt": {"a": "b"}, "signs": {"a": "b"},
        "recovery": "", "remarks": ["c"],
    }),
    (pc.datasets.Dataset, {
        "name": "", "X": X, "y": Y, "feature_names": ["a", "b", "c"], "positive": "1", "negative": "-1",
    }),
    (Mixture, {"means": np.stack([MU, -MU]), "covariances": np.stack([SIGMA, SIGMA]), "weights": np.full(2, 0.5)}),
    # Functions that return objects which remember what they were given.
    (lambda **given: pc.trace(pc.TwoCSVM(**given), **LINE), {**SAMPLES, "sample_weight": np.ones(N)}),
    (
        lambda start, stop: pc.trace(SVM, pc.SampleCosts(start), pc.SampleCosts(stop)),
        {"start": np.full(N, 0.1), "stop": np.linspace(0.5, 1, N)},
    ),
    (pc.trace(SVM, **LINE).error_curve, SAMPLES),
    (lambda **given: pc.roc_of_path(pc.trace(SVM, **LINE), **given), SAMPLES),
    (PLANE.error_map, SAMPLES),
    (PLANE.error_map, SPARSE),
    (
        lambda nu_plus, nu_minus: pc.nu_grid(pc.TwoNuSVM(X, Y), nu_plus, nu_minus),
        {"nu_plus": np.array([0.5, 1.0]), "nu_minus": np.array([0.5, 1.0])},
    ),
    (
        lambda C_plus, C_minus: pc.sweep(SVM, C_plus=C_plus, C_minus=C_minus),
        {"C_plus": np.array([0.5, 1.0]), "C_minus": np.array([0.5, 1.0])},
    ),
]  # fmt: skip

#: Public classes without a case: those that hold no arrays, and those that only our own functions make.
ESTIMATORS = {name for name in dir(pc) if hasattr(getattr(pc, name), "set_params")}
NO_ARRAYS = {
    "Costs", "CostLine", "Distances", "RBF", "Linear", "Polynomial", "Range", "Rule", "Rate", "GaussianRate",
    "ChebyshevRate", "KLRate", "StudentRate", "ScaleMixtureRate", "NuStar", "Certificate", "Formulation",
    "GaussianTradeoff", "ClassMargins", "Solution", "Agreement", "ValueAgreement", "Verification", "Sweep",
    "ExpectedCost", "ExtremeAsymmetry", "GaussianWindow", "Guarantee", "LikelihoodRatioRule", "MedianWindow", "Minimax",
    "NeymanPearson", "NeymanPearsonScore", "Population", "PopulationCurve", "ProblemProof", "RandomisedRule",
    "RateInterval", "ErrorRates",
}  # fmt: skip
MADE_BY_US = {
    "HeldOutLoss",
    "LeastLoss",
    "Path",
    "NuPath",
    "QuantilePath",
    "MarginPath",
    "ConePath",
    "CurvePath",
    "CurveStretch",
    "Conflict",
    "OptimalSet",
    "GuaranteePath",
    "ProblemMap",
    "SlopeBounds",
    "CostPlane",
    "Derivatives",
    "Ranges",
    *("BestRange", "BestRanges", "LabelChanges", "PathInterval"),
    "Regimes",
    "NuGrid",  # trace, plane, nu_grid: cases above
    "ErrorArrays",
    "Expansion",
    "Grade",
    "InterceptCurve",
    "LeaveOneOut",
    "LeaveOneOutPath",
    "ConformalRanks",
    "TargetPValues",
    "Influence",
    "JudgedPoints",
    "JudgedValues",
    "KKTTable",
    "AreaCurve",
    "Proofs",
    "LikelihoodRatioCurve",
    "NestedRoc",
    "PopulationSolution",
    "ProblemPath",
    "Tuned",
    *("AreaDifference", "AreaInterval", "GridOptimum", "NestedPoint", "Optimum", "RocMixture", "RocPoint", "PathRule"),
    *("AlongPath", "Band", "ByValidation", "Chosen", "ShiftedRule", "Step", "Tuning"),
    *("Dual", "DualFunctionPoint", "DualGrade", "PartialLagrangian", "Recovered", "StrongDuality", "WeakDuality"),
}


def numbers(made, seen=None):
    """All arrays and texts that can be reached from an object, copied."""
    seen = {} if seen is None else seen
    if id(made) in seen:
        return None
    seen[id(made)] = made
    if sp.issparse(made):
        return made.toarray()
    if isinstance(made, np.ndarray):
        return made.copy()
    if isinstance(made, str | float | int):
        return made
    if isinstance(made, Mapping):
        return {str(key): numbers(value, seen) for key, value in made.items()}
    if isinstance(made, list | tuple):
        return [numbers(value, seen) for value in made]
    if type(made).__module__.startswith("paretoclf"):
        return numbers({**vars(made)}, seen)
    return None


def scribble(value):
    """Change in place whatever can be changed."""
    if sp.issparse(value):
        value.data[:] = 77.0
    elif isinstance(value, np.ndarray):
        value[...] = 77
    elif isinstance(value, dict):
        value.update(dict.fromkeys(value, "scribbled"))
    elif isinstance(value, list):
        value[:] = ["scribbled"] * len(value)


@pytest.mark.parametrize(("make", "arguments"), CASES, ids=lambda v: getattr(v, "__qualname__", ""))
def test_the_callers_arrays_stay_the_callers(make, arguments):
    mine = copy.deepcopy(arguments)
    made = make(**mine)
    before = numbers(made)
    for value in mine.values():
        scribble(value)
    np.testing.assert_equal(numbers(made), before)


@pytest.mark.parametrize("estimator", sorted(ESTIMATORS))
def test_what_an_estimator_was_fitted_to_stays_the_callers(estimator):
    """A constructor keeps its parameters as they are, as scikit-learn's do; what is fitted keeps copies."""
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], 30)
    mine, new = rng.normal(size=(60, 2)) + y[:, None], rng.normal(size=(20, 2))
    options = {"alpha": 0.3, "delta": 0.5, "random_state": 0} if estimator == "NeymanPearsonSVC" else {}
    fitted = getattr(pc, estimator)(**options).fit(mine, labels := y.copy())
    before = fitted.decision_function(new)
    scribble(mine), scribble(labels)
    np.testing.assert_array_equal(fitted.decision_function(new), before)


def test_every_public_class_has_a_case():
    public = {name for name, cls in classes().items() if not issubclass(cls, BaseException)}
    tried = {
        getattr(make, "__self__", make).__name__
        for make, _ in CASES
        if inspect.isclass(getattr(make, "__self__", make))
    }
    assert (
        public - tried - NO_ARRAYS - MADE_BY_US - ESTIMATORS - {"SampleFormulation", "ErrorMap", "SuiteReport"} == set()
    )


def test_predictions_survive_standardising_in_place():
    """They changed with the samples of the caller, and certificates still passed."""
    mine = X.copy()
    path = pc.trace(pc.TwoCSVM(mine, Y, pc.RBF(1.0)), **LINE)
    before = path.at(0.5).classifier.decision_function(X)
    mine -= mine.mean(axis=0) + 3.0
    np.testing.assert_array_equal(path.at(0.5).classifier.decision_function(X), before)
    assert path.at(0.5).certificate.passes()
