"""`verify` of a problem: the point that a solved ``cvxpy.Problem`` holds, with safe bounds on its optimal value."""

from __future__ import annotations

from typing import Any

from paretoclf.checking.engine_points import engine_points
from paretoclf.solve.judging.cone_proof import ProblemProof, certify_problem


def judge_problem(problem: Any, tol: float) -> ProblemProof:
    """Certify the point that a solved ``cvxpy.Problem`` holds; the engine of any program has points, too."""
    return certify_problem(problem, tol, engine_points)
