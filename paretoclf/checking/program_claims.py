"""Claims that a program of arrays has no solution: no point satisfies its rows, or nothing bounds its value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.checking.of_problem import judge_problem
from paretoclf.common.checks import Array
from paretoclf.path.sensitivity.conflict import Conflict, conflict
from paretoclf.problem.qp import QP
from paretoclf.solve.judging.cone_proof import ProblemProof
from paretoclf.solve.judging.contradiction import together
from paretoclf.solve.judging.given_values import solved
from paretoclf.solve.judging.unbounded import ProvedRay, few_numbers, linear_ray
from paretoclf.solve.models.lazily import cp
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
    Infeasible, proved: no point satisfies y[1] (upper bound) and y[0] (lower bound) together (multipliers 0.5 and 1).
    """
    return judge_conflict(conflict(qp), qp.sense, tol)


def judge_conflict(found: Conflict, sense: int, tol: float) -> ProblemProof:
    """Say what a conflict proves of the claim that there is no point: undecided within what a point may miss."""
    if found.proof is None:
        said, status = "Not infeasible: a point satisfies all rows", "not optimal"
        if found.missed:
            within = f"a point satisfies all rows to {found.missed:.1e} of their terms"
            said, status = f"Undecided: feasible within the tolerance, as {within}", "undecided"
        return ProblemProof(status, -np.inf, np.inf, words=f"{said}, {_told(found.point)}.", tol=tol)
    blame = {row.name: row.multiplier for row in found}
    if found.proof.gain <= tol:
        words = (
            f"Undecided: {' and '.join(blame)} contradict each other, by no more than {found.proof.gain:.1e} of their "
        )
        words += f"terms, and that does not count with tol={tol:g}."
        return ProblemProof("undecided", -np.inf, np.inf, words=words, tol=tol)
    sizes = [f"{size / max(blame.values()):.4g}" for size in blame.values()]
    with_them = f" (multipliers {' and '.join(sizes)})" if 1 < len(sizes) <= SHOWN else ""
    words = f"Infeasible, proved: no point satisfies {together(blame)}{with_them}."
    none = sense * np.inf
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
    ray = _ray(qp)
    if ray is not None:
        proof = judge_ray(qp, ray, tol)
        if proof.status == "unbounded" or proof.blame:
            return proof
    if len(conflict(qp)):
        return replace(judge_infeasible(qp, tol), status="not optimal")
    try:
        proof = judge_problem(solved(problem_of(qp, {})), tol)
    except cp.SolverError:
        words = "Neither a ray is found nor, by the solver, a bound."
        return ProblemProof("undecided", -np.inf, np.inf, words=words, tol=tol)
    if proof.ray is not None:  # there is a point
        return replace(proof, words=f"Unbounded {proof.ray.side}: {proof.ray}.")
    if proof.certificate is None:
        return proof
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
    if _overflows(qp, ray):
        return _nothing("its products with the program overflow: divide it by its largest entry", tol)
    along = qp.A @ ray
    beyond = np.maximum(np.where(np.isfinite(qp.u), along, 0.0), np.where(np.isfinite(qp.l), -along, 0.0))
    fall = -qp.sense * float(qp.q @ ray)
    why = _leaves(qp, ray, beyond, tol) or _bends(qp, ray, tol) or _rises(qp, ray, fall, tol)
    if why:
        return _nothing(why, tol)
    found = conflict(qp)
    if len(found):
        return replace(judge_infeasible(qp, tol), status="not optimal")
    moves = "rises" if qp.maximise else "falls"
    by_name = {} if qp.names is None else {qp.names[0][k]: ray[k] for k in np.flatnonzero(ray)}
    which = f"the ray {few_numbers(by_name or {'d': ray})}".rstrip()
    missed = float(beyond.max(initial=0.0)) + 0.0  # no -0.0
    kept = f"rows are kept to {missed:.1e} a step" if missed else "all rows are kept"
    words = (
        f"Unbounded, proved by {which}: a point satisfies all rows, {_told(found.point)}, and "
        f"from there the objective {moves} by {fall:.4g} a step, while {kept}."
    )
    proved = ProvedRay(by_name or {"x": ray}, missed, qp.sense, fall)
    return ProblemProof("unbounded", -np.inf, np.inf, words=words, tol=tol, ray=proved)


def _nothing(why: str, tol: float) -> ProblemProof:
    """The verdict on a ray that is none."""
    return ProblemProof("not optimal", -np.inf, np.inf, words=f"The ray proves nothing: {why}.", tol=tol)


def _overflows(qp: QP, ray: Array) -> bool:
    """Whether products of a ray with the program may be too large for doubles."""
    with np.errstate(over="ignore"):
        sizes = [abs(matrix) @ np.abs(ray) for matrix in (qp.A, qp.P, qp.q)]
    return not all(np.isfinite(each).all() for each in sizes)


def _leaves(qp: QP, ray: Array, beyond: Array, tol: float) -> str:
    """Say which row a ray leaves most; nothing where it keeps all of them."""
    if not (beyond > tol * (abs(qp.A) @ np.abs(ray))).any():
        return ""
    row = int(np.argmax(beyond))
    side, moves = ("an upper", "rises") if (qp.A @ ray)[row] > 0 else ("a lower", "falls")
    return f"it leaves {qp.row(row)}, which has {side} side and {moves} by {beyond[row]:.4g} a step"


def _bends(qp: QP, ray: Array, tol: float) -> str:
    """Say that the objective is not linear along a ray; nothing where it is."""
    bend = np.abs(qp.P @ ray)
    if not (bend > tol * (abs(qp.P) @ np.abs(ray))).any():
        return ""
    return f"the objective bends along it: P times the ray is {float(bend.max()):.4g}, and not 0"


def _rises(qp: QP, ray: Array, fall: float, tol: float) -> str:
    """Say that the objective gets no better along a ray; nothing where it does."""
    if fall > tol * float(np.abs(qp.q) @ np.abs(ray)):
        return ""
    return f"the objective {'falls' if qp.maximise else 'rises'} by {-fall:.4g} a step along it"


def _ray(qp: QP) -> Array | None:
    """A direction in which HiGHS says that the objective has no bound."""
    A = sp.csr_array(qp.A)
    above, below = np.isfinite(qp.u), np.isfinite(qp.l)
    one_sided = sp.vstack([A[above & ~below], -A[below & ~above]])
    return linear_ray(qp.P, qp.sense * qp.q, A[above & below], one_sided)


def _told(point: Mapping[str, Any]) -> str:
    """The first variables of a point in words."""
    return ", ".join(f"{name} = {np.round(value, 6)}" for name, value in list(point.items())[:SHOWN])


#: What may be claimed of a program in place of a point.
CLAIMS = {"infeasible": judge_infeasible, "unbounded": judge_unbounded}

#: How solvers say the same.
_SPOKEN = {"primal infeasible": "infeasible", "dual infeasible": "unbounded"}


def claim_of(given: Any) -> Any:
    """A claim as it is named here, whatever its case, and as solvers say it; anything else as it is.

    Examples
    --------
    >>> from paretoclf.checking.program_claims import claim_of
    >>> claim_of("INFEASIBLE"), claim_of("dual infeasible"), claim_of("unbounded_inaccurate"), claim_of("optimal")
    ('infeasible', 'unbounded', 'unbounded', 'optimal')
    """
    said = given.lower().replace("_", " ").removesuffix(" inaccurate") if isinstance(given, str) else ""
    said = _SPOKEN.get(said, said)
    return said if said in CLAIMS else given
