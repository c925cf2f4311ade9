"""Claims that a program of arrays has no solution: no point satisfies its rows, or nothing bounds its value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from paretoclf.checking.of_problem import judge_problem
from paretoclf.common.checks import Array
from paretoclf.path.sensitivity.conflict import conflict
from paretoclf.problem.qp import QP
from paretoclf.solve.judging.cone_proof import ProblemProof
from paretoclf.solve.models.model import conic_settings
from paretoclf.solve.sources.array_line import problem_of

#: Variables of a point that are told.
SHOWN = 6


def judge_infeasible(qp: QP, tol: float) -> ProblemProof:
    """Judge the claim that no point satisfies the rows: by those that contradict each other, or by a point.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.checking.program_claims import judge_infeasible
    >>> print(judge_infeasible(pc.QP(None, [1.0], [[1.0], [2.0]], [3.0, 0.0], [9.0, 4.0]), 1e-8).explain())
    Infeasible, proved: no point satisfies y[1] (upper bound) and y[0] (lower bound) together.
    """
    found = conflict(qp)
    if not len(found):
        words = f"Not infeasible: a point satisfies all rows, {_told(found.point)}."
        return ProblemProof("not optimal", -np.inf, np.inf, words=words, tol=tol)
    blame = {row.name: row.multiplier for row in found}
    words = f"Infeasible, proved: no point satisfies {' and '.join(blame)} together."
    none = qp.sense * np.inf
    return ProblemProof("infeasible", none, none, blame=blame, words=words, tol=tol)


def judge_unbounded(qp: QP, tol: float) -> ProblemProof:
    """Judge the claim that nothing bounds the objective: by a point and a ray, or by a bound.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.checking.program_claims import judge_unbounded
    >>> [judge_unbounded(pc.QP(None, [cost], [[1.0]], [3.0]), 1e-8).status for cost in (-1.0, 1.0)]
    ['unbounded', 'not optimal']
    """
    if len(conflict(qp)):
        return replace(judge_infeasible(qp, tol), status="not optimal")
    problem = problem_of(qp, {})
    problem.solve(solver="CLARABEL", **conic_settings("reference"))
    proof = judge_problem(problem, tol)
    if proof.certificate is None:  # there is a point
        return replace(proof, words=proof.words.replace(" if feasible", ""))
    bound = proof.lower if qp.sense > 0 else proof.upper
    words = f"Not unbounded: the optimal value lies in [{proof.lower:.10g}, {proof.upper:.10g}]."
    status = "not optimal" if np.isfinite(bound) else "undecided"
    return ProblemProof(status, proof.lower, proof.upper, words=words, tol=tol)


def judge_ray(qp: QP, ray: Array, tol: float) -> ProblemProof:
    """Judge somebody's direction along which the objective should have no bound, as it stands.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.checking.program_claims import judge_ray
    >>> judge_ray(pc.QP(None, [1.0], [[1.0]], [0.0]), np.array([-1.0]), 1e-8).explain()
    'The ray proves nothing: it leaves row 0, which has a lower side and falls by 1 a step.'
    """
    along, size = qp.A @ ray, abs(qp.A) @ np.abs(ray)
    beyond = np.maximum(np.where(np.isfinite(qp.u), along, 0.0), np.where(np.isfinite(qp.l), -along, 0.0))
    fall = -qp.sense * float(qp.q @ ray)
    bend, terms = np.abs(qp.P @ ray), abs(qp.P) @ np.abs(ray)
    why = ""
    if (beyond > tol * size).any():
        row = int(np.argmax(beyond))
        side, moves = ("an upper", "rises") if along[row] > 0 else ("a lower", "falls")
        why = f"it leaves {qp.row(row)}, which has {side} side and {moves} by {beyond[row]:.4g} a step"
    elif (bend > tol * terms).any():
        why = f"the objective bends along it: P times the ray is {float(bend.max()):.4g}, and not 0"
    elif fall <= tol * float(np.abs(qp.q) @ np.abs(ray)):
        why = f"the objective {'falls' if qp.maximise else 'rises'} by {-fall:.4g} a step along it"
    if why:
        return ProblemProof("not optimal", -np.inf, np.inf, words=f"The ray proves nothing: {why}.", tol=tol)
    found = conflict(qp)
    if len(found):
        return replace(judge_infeasible(qp, tol), status="not optimal")
    moves = "rises" if qp.maximise else "falls"
    words = (
        f"Unbounded, proved by the ray: a point satisfies all rows, {_told(found.point)}, and from there the objective "
        f"{moves} by {fall:.4g} a step, while rows are kept to {float(beyond.max(initial=0.0)):.1e} a step."
    )
    return ProblemProof("unbounded", -np.inf, np.inf, words=words, tol=tol)


def _told(point: Mapping[str, Any]) -> str:
    """The first variables of a point in words."""
    return ", ".join(f"{name} = {np.round(value, 6)}" for name, value in list(point.items())[:SHOWN])


#: What may be claimed of a program in place of a point.
CLAIMS = {"infeasible": judge_infeasible, "unbounded": judge_unbounded}
