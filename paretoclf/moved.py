"""Old names: they work for one version, and say what to write instead."""

from __future__ import annotations

from typing import Any

#: Module of the package -> names that stood at the top and stand there now.
_ELSEWHERE = {
    "empirical": (
        "EmpiricalTradeoff MonotoneFit NestedRoc RankComparison compare_ranks monotone_fit nested_rocs paired_areas "
    ),
    "errors": "BandwidthWarning InseparableError SmallSampleWarning SolveError",
    "formulations": "BiasedMinimaxProbabilityMachine ExtremeAsymmetry ParetoGaussianQP object_margins",
    "population": (
        "Expansion InterceptCurve LikelihoodRatioCurve LikelihoodRatioRule Mixture Population PopulationCurve "
        "PopulationSolution hinge_thresholds intercept_curve likelihood_ratio_curve population_curve "
        "population_expansion population_solution "
    ),
    "rates": "ChebyshevRate GaussianRate KLRate Rate ScaleMixtureRate StudentRate",
    "results": (
        "Agreement AsymmetryStudy Certificate ClassMargins Classifier CostLine CostPlane Distances Exploration "
        "GaussianTradeoff Grade LinearRule MarginPath NuGrid NuPath NuStar OperatingPoint PathScores ProblemProof "
        "QuantilePath RandomisedRule Rule ShadowPrices Statement SuiteReport Sweep TradeoffCurve ValueAgreement "
        "Verification "
    ),
    "roc": "ErrorCurve ErrorMap ErrorSurface GridErrorCurve roc_of_scores",
    "tuning": (
        "ErrorArrays ExpectedCost GaussianWindow Guarantee MedianWindow Minimax NeymanPearson NeymanPearsonScore "
        "Tuned bandwidth_grid guaranteed negatives_needed "
    ),
}

#: Old name -> what to write instead, and where the old one is.
MOVED = {
    **{
        name: (f"paretoclf.{room}.{name}", f"paretoclf.{room}:{name}")
        for room, names in _ELSEWHERE.items()
        for name in names.split()
    },
    "load_path": ("paretoclf.load", "paretoclf.path.load:load_path"),
    "load_plane": ("paretoclf.load", "paretoclf.path.load:load_plane"),
    "certify_problem": ("paretoclf.verify", "paretoclf.solve.cone_proof:certify_problem"),
    "roc_curve_of_scores": ("paretoclf.roc.roc_of_scores(scores, y)", "paretoclf.moved:roc_curve_of_scores"),
    "error_curve_of_scores": ("paretoclf.roc.ErrorCurve.of_scores", "paretoclf.moved:error_curve_of_scores"),
    "cross_validated_rocs": (
        "paretoclf.cross_validated_roc, with several ways to vary",
        "paretoclf.moved:cross_validated_rocs",
    ),
}


def roc_curve_of_scores(y: Any, scores: Any) -> Any:
    """As `roc_of_scores`, with its arguments the other way round."""
    from paretoclf.roc.of_path import roc_of_scores

    return roc_of_scores(scores=scores, y=y)


def error_curve_of_scores(*given: Any, **options: Any) -> Any:
    """As `ErrorCurve.of_scores`."""
    from paretoclf.roc.error_curve import ErrorCurve

    return ErrorCurve.of_scores(*given, **options)


def cross_validated_rocs(
    svm: Any, start: Any, stop: Any, vary: Any = ("intercept", "asymmetry", "both"), **options: Any
) -> Any:
    """As `cross_validated_roc`, for all three ways to vary by default."""
    from paretoclf.cross_validation import cross_validated_roc

    return cross_validated_roc(svm, start, stop, tuple(vary), **options)
