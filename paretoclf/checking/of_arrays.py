"""`verify` of a `QP`: a point of a program of arrays, and its multipliers, with safe bounds on the optimal value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.checking.engine_points import engine_points
from paretoclf.checking.multiplier_signs import Signs, sign_advice, signs_of_given
from paretoclf.checking.multipliers import dual_error
from paretoclf.checking.of_problem import judge_problem
from paretoclf.checking.program_claims import CLAIMS, claim_of, judge_ray
from paretoclf.checking.program_solutions import labelled, read_point
from paretoclf.checking.ray_claims import judge_contradiction
from paretoclf.common.checks import Array, check_vector
from paretoclf.common.errors import InputError
from paretoclf.engine.reduction.of_arrays import line_of
from paretoclf.problem.integers import said_of
from paretoclf.problem.qp import QP
from paretoclf.proof.cones.cone_kinds import Cone
from paretoclf.proof.cones.cone_program import ConeProgram
from paretoclf.solve.judging.cone_proof import ProblemProof
from paretoclf.solve.sources.array_line import BLOCKS, holding


def judge_arrays(qp: QP, x: Any, y: Any, tol: float) -> ProblemProof:
    """Certify a point or a claim as `judge_point`, and say what became of integers."""
    return with_integers(qp, judge_point(qp, x, y, tol))


def judge_point(qp: QP, x: Any, y: Any, tol: float) -> ProblemProof:
    """Certify a point, and if they are given its multipliers, which have OSQP's signs: wrong ones are not optimal.

    Parameters
    ----------
    qp : QP
        The program, its parameters where its arrays stand. Where it has integers that were relaxed or fixed, so much
        is said.
    x : array of shape (n,), or mapping of the names of the variables to numbers
        Or what has both: a solution file of a solver, a CSV file, an ``OptimizeResult``, or a result of OSQP. Or a
        claim, ``"infeasible"`` or ``"unbounded"``.
    y : array of shape (m,), mapping of names of rows to numbers, or None
        Multipliers. Rows that a mapping leaves out are not judged: they get the multipliers that suit the others best.
        Beside ``"infeasible"`` those of rows that contradict each other, beside ``"unbounded"`` the ray (n,).
    tol : float
    """
    if x is None:
        raise InputError(
            "verify(qp, x, y) needs a point: an array, values by names, a solution file, a result of linprog or OSQP, "
            "'infeasible' or 'unbounded'"
        )
    x = claim_of(x)
    if isinstance(x, str) and x in CLAIMS:
        return CLAIMS[x](qp, tol) if y is None else _judged_evidence(qp, x, y, tol)
    x, y = read_point(x, y, qp)
    point = _entries(x, qp, 0)
    if y is None:
        return _judged(qp, point, None, tol)
    own = _entries(y, qp, 1)
    multipliers = _by_name(qp, y)
    missing = _missing(qp, multipliers)
    if _are_bounds(missing, qp):
        own += _reduced_costs(qp, point, own, missing)
    proof = _judged(qp, point, own, tol)
    if proof.status != "optimal":
        return proof
    error = _dual_error(qp, point, multipliers)
    if (
        proof.certificate is not None and missing and error <= tol
    ):  # those that were chosen are none of the certificate's
        proof = replace(proof, certificate=replace(proof.certificate, multipliers={}))
    words = _said_of(missing, qp)
    if error <= tol:
        words = f"The multipliers hold to {error:.1e} of their terms. {words}".rstrip()
    signs = signs_of_given(y)
    if error > tol:
        advice = sign_advice(qp, signs, multipliers, lambda others: _dual_error(qp, point, others) <= tol)
        words = f"{advice} {words}".strip()
    return proof.with_multipliers(error, f"{_wrong_sign(qp, own, missing, tol, signs)} {words}".strip())


def _judged_evidence(qp: QP, claim: str, given: Any, tol: float) -> ProblemProof:
    """Judge somebody's proof that there is no solution: multipliers of rows, or a ray."""
    if claim == "infeasible":
        given = labelled(given)
        if wrong := _wrong_sign(qp, _entries(given, qp, 1), [], tol, Signs()):
            return ProblemProof(
                "not optimal", -np.inf, np.inf, words=f"The multipliers prove nothing. {wrong}", tol=tol
            )
        rows = replace(qp, P=None, q=np.zeros_like(qp.q), moves={}, values={})
        return judge_contradiction(line_of(rows, {}, {}), _by_name(qp, given), tol)
    return judge_ray(qp, _entries(labelled(given), qp, 0), tol)


def with_integers(qp: QP, proof: ProblemProof) -> ProblemProof:
    """Say in a proof what it is of where the integers of a program were relaxed, or fixed."""
    said = said_of(qp.integers)
    if not said:
        return proof
    of, more = "what is left with integers fixed", ""
    if None in qp.integers.values():
        of = "the relaxation"
        more = ": its bounds hold with integers, too, and what is not optimal in it may be with integers"
    return replace(proof, of=of, words=f"{proof.words} {said[0].upper()}{said[1:]}{more}.".lstrip())


def _wrong_sign(qp: QP, y: Array, missing: Sequence[int], tol: float, signs: Signs) -> str:
    """Name the multiplier whose sign is most wrong, of those that were given of rows with one side."""
    wrong = np.where(qp.above & ~qp.below, -y, np.where(qp.below & ~qp.above, y, 0.0))
    wrong[list(missing)] = 0.0
    row = int(np.argmax(wrong)) if wrong.size else 0
    if not wrong.size or wrong[row] <= tol * (1.0 + float(np.abs(y).max())):
        return ""
    other = "lower" if qp.above[row] else "upper"
    sign = signs.word(is_positive=not qp.above[row])
    return f"{signs.named(qp.row(row), y[row])} and must not be {sign}: the row has no {other} side."


def _missing(qp: QP, given: Mapping[str, Array]) -> list[int]:
    """Rows without a multiplier."""
    return [row for row, key in enumerate(qp.keys[1]) if key not in given]


def _are_bounds(rows: Sequence[int], qp: QP) -> bool:
    """Whether these are rows, and all of them bounds of variables."""
    names = set() if qp.names is None else {f"bound of {name}" for name in qp.names[0]}
    return bool(rows) and names.issuperset(qp.names[1][row] for row in rows)


def _reduced_costs(qp: QP, x: Array, y: Array, rows: Sequence[int]) -> Array:
    """Multipliers of bounds that make the gradient vanish, beside those of the other rows."""
    gradient = qp.sense * (qp.P @ x + qp.q) + qp.A.T @ y
    own = sp.csr_array(qp.A)[list(rows)]
    found = np.zeros(y.size)
    found[list(rows)] = -gradient[own.indices] / own.data
    return found


def _said_of(missing: Sequence[int], qp: QP) -> str:
    """Say which multipliers were not given."""
    if not missing:
        return ""
    if _are_bounds(missing, qp):
        return f"Reduced costs that were not given, {len(missing)}, are worked out from the duals of the rows."
    names = ", ".join([qp.row(row) for row in missing[:3]] + ["..."] * (len(missing) > 3))
    return f"Multipliers of {names} were not given: they are those that suit the others best."


def _judged(qp: QP, point: Array, multipliers: Array | None, tol: float) -> ProblemProof:
    """The verdict on a point, with rows named as the program does."""
    proof = judge_problem(holding(qp, point, multipliers), tol, partial(_row_of, qp))
    if proof.status in CLAIMS:  # there is no optimal point, and the rows that say so have names
        return CLAIMS[proof.status](qp, tol)
    if proof.certificate is None or not isinstance(proof.certificate.worst, str):
        return proof
    found = re.fullmatch(rf"({'|'.join(BLOCKS)}) (\d+)", proof.certificate.worst)
    if found is None:
        return proof
    worst = _row_of(qp, found[1], int(found[2]))
    return replace(proof, certificate=replace(proof.certificate, worst=worst))


def _row_of(qp: QP, block: str, entry: int) -> str:
    """Name the row, and its side, that is so many in a block."""
    row = int(np.flatnonzero(BLOCKS[block](qp))[entry])
    side = "" if block == "equations" else f" ({block.removesuffix('s of rows')})"
    return f"{qp.row(row)}{side}"


def _by_name(qp: QP, y: Any) -> dict[str, Array]:
    """The multipliers that were given, by the names that they have in a program line."""
    if qp.names is None:
        return {"y": _entries(y, qp, 1)}
    keys = qp.keys[1]
    if isinstance(y, Mapping):
        own = dict(zip((*qp.names[1], *keys), (*keys, *keys), strict=True))
        return {own[name]: np.asarray(value, dtype=np.float64) for name, value in y.items()}
    return dict(zip(keys, _entries(y, qp, 1), strict=True))


def _dual_error(qp: QP, x: Array, duals: Mapping[str, Array]) -> float:
    """Residual of multipliers as those of an optimum, beside the engine's own optimum, if it finds one."""
    if not qp.A.shape[0]:
        return 0.0
    line = line_of(qp, {}, {})
    kinds = ("zero", line.equations), ("nonnegative", line.m - line.equations)
    cones = [Cone(kind, size) for kind, size in kinds if size]
    program = ConeProgram(line.P, line.q[0], line.A, line.b[0], cones)
    best, own = next(engine_points(program, [(x, np.zeros(line.m))]), (x, None))
    return dual_error(line, 0.0, best, duals, own)


def _entries(given: Any, qp: QP, which: int) -> Array:
    """Numbers of all variables (0) or rows (1)."""
    name = "xy"[which]
    size = (qp.q.size, qp.A.shape[0])[which]
    if not isinstance(given, Mapping):
        return check_vector(given, size, name)
    if qp.names is None and list(given) == [name]:  # as path.at(t).variables has it
        return check_vector(given[name], size, name)
    if qp.names is None:
        raise InputError(f"{name} must be an array of shape ({size},): this QP has no names, got a mapping")
    known = qp.names[which]
    names = dict(zip(qp.keys[which], known, strict=True))  # results have keys that tell rows from variables
    given = {names.get(key, key): value for key, value in given.items()}
    strange = [key for key in given if key not in set(known)]
    missing = [] if which else [key for key in known if key not in given]
    if strange:
        raise InputError(f"{name} must have names of the QP, got {strange[0]!r:.100}")
    if missing:
        raise InputError(f"{name} must have a number for each variable, got none for {missing[0]!r:.100}")
    return check_vector([given.get(key, 0.0) for key in known], size, name)
