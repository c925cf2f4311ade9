"""Paths with bounds between which the optimal value is proved at every t: within eps, and curves."""

from __future__ import annotations

from typing import Any, cast

from paretoclf.common.checks import check_share, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.common.progress import logger
from paretoclf.path.curves.curve_path import CurvePath, trace_curve
from paretoclf.path.programs.eps_path import ConePath, trace_cones
from paretoclf.solve.sources.cone_problem_line import LineOfCones, LineOfCurves, cone_source_of

#: Start and stop of a line of a cvxpy.Problem, as they were given.
Ends = tuple[Any, Any]


def trace_bounded(problem: Any, named: dict[str, Any], ends: Ends | None, how: dict[str, Any]) -> ConePath | CurvePath:
    """Trace a problem within eps, or as a curve.

    Parameters
    ----------
    problem : cvxpy.Problem or formulation
    named : mapping
        Arguments by name, which are those of a formulation.
    ends : pair, optional
        Start and stop of a cvxpy.Problem; None for a formulation.
    how : mapping
        Options of `paretoclf.path.tracing.trace`, all of them.
    """
    if how["curve"] is not False:
        return _trace_curve(problem, named, ends, how)
    return _trace_within(problem, named, ends, how)


def _trace_within(problem: Any, named: dict[str, Any], ends: Ends | None, how: dict[str, Any]) -> ConePath | CurvePath:
    """Trace a cvxpy.Problem, or a formulation by the names of its parameters, within eps.

    Chords between two points keep no equation whose coefficients move: then the path is a curve.
    """
    eps, n_jobs = check_share(how["eps"], "eps"), how["n_jobs"]
    usual = {"certify": True, "max_events": None, "parts": None}
    for name in (name for name, value in usual.items() if how[name] is not value):
        why = "n_jobs alone is side by side" if name == "parts" else "nothing is returned unproved"
        raise InputError(f"{name} must be left out with eps, got {how[name]!r:.100}: {why}")
    if hasattr(type(problem), "trace_within"):  # a search over formulations
        for name, value in (("n_jobs", n_jobs), ("max_seconds", how["max_seconds"])):
            if value is not None:
                raise InputError(f"{name} must be left out for {type(problem).__name__}, got {value!r:.100}")
        return cast("ConePath", problem.trace_within(eps, named, how["progress"]))  # a path of its own, with that face
    source: Any
    if ends is not None:
        source = LineOfCones(problem, *ends)
    elif not isinstance(problem, type) and hasattr(type(problem), "primal_model"):
        source = cone_source_of(problem, named)
    else:
        raise InputError(
            f"problem must be a cvxpy.Problem or a formulation where eps is given, got {what_it_is(problem)}"
        )
    path: ConePath | CurvePath
    if source.line.moves_equations:
        for name in ("n_jobs", "max_seconds"):
            if how[name] is not None:
                raise InputError(
                    f"{name} must be left out where coefficients of an equation move, got {how[name]!r:.100}: trace "
                    "shorter lines"
                )
        path = trace_curve(source, eps, progress=how["progress"])
    else:
        path = trace_cones(source, eps, n_jobs=n_jobs, max_seconds=how["max_seconds"], progress=how["progress"])
    logger.info("traced in %.2f s: %r", sum(path.seconds.values()), path)
    return path


def _trace_curve(problem: Any, named: dict[str, Any], ends: Ends | None, how: dict[str, Any]) -> CurvePath:
    """Trace a cvxpy.Problem, or a formulation by the names of its parameters, as a curve."""
    if how["curve"] is not True:
        raise InputError(f"curve must be True or False, got {how['curve']!r:.100}")
    others = {"eps": None, "parts": None, "n_jobs": None, "max_events": None, "max_seconds": None, "certify": True}
    reasons = {"eps": "eps is what is proved, and path.eps says it", "parts": "trace shorter lines"}
    for name, usual in others.items():
        if how[name] is not usual:
            why = reasons.get(name, "nothing is returned unproved")
            raise InputError(f"{name} must be left out with curve=True, got {how[name]!r:.100}: {why}")
    source: Any
    if ends is not None:
        source = LineOfCurves(problem, *ends)
    elif not isinstance(problem, type) and hasattr(type(problem), "primal_model"):
        source = cone_source_of(problem, named, LineOfCurves)
    else:
        given = what_it_is(problem)
        raise InputError(f"problem must be a cvxpy.Problem or a formulation where curve is True, got {given}")
    path = trace_curve(source, progress=how["progress"])
    logger.info("traced in %.2f s: %r", sum(path.seconds.values()), path)
    return path
