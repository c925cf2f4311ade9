"""`verify` of a problem: the point that a solved ``cvxpy.Problem`` holds, with safe bounds on its optimal value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paretoclf.checking.engine_points import engine_points
from paretoclf.solve.judging.cone_proof import ProblemProof, certify_problem


def judge_problem(problem: Any, tol: float, named: Callable[[str, int], str] | None = None) -> ProblemProof:
    """Certify the point that a solved ``cvxpy.Problem`` holds; the engine of any program has points, too.

    ``named`` makes a name of that of a constraint and the number of an entry of it.
    """
    proof = certify_problem(problem, tol, engine_points)
    if proof.status == "optimal":
        return proof
    from paretoclf.checking.violations import in_shapes_of, with_reasons, with_violations  # most points are optimal

    return with_reasons(with_violations(proof, named or in_shapes_of(problem, proof)), problem)
