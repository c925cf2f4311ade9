"""The proof of values and multipliers of any parametric program, item by item: that of the rows that its bounds are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import OWN_TERMS
from paretoclf.engine.reduction.of_items import RowsOfItems
from paretoclf.engine.reduction.program import Points, ProgramLine
from paretoclf.problem.convex import Convexity
from paretoclf.problem.parametric_qp import ParametricQP, Trace
from paretoclf.proof.line import LineProof
from paretoclf.proof.programs import prove_program

_TINY = float(np.finfo(float).tiny)


def prove_items(problem: ParametricQP, found: Trace, parameter: str = "t") -> LineProof:
    """Prove values and multipliers of all items, as `paretoclf.proof.proving.prove` says."""
    rows, t, x = RowsOfItems.of(problem), np.asarray(found.t, dtype=np.float64), found.v[..., : problem.n]
    with np.errstate(invalid="ignore", over="ignore"):  # what is not a number is not proved
        points = Points.of(x, rows.multipliers(found.y))
        proof = prove_program(_rounded(rows.line), t, points, parameter, rows.prices)
        off = {"values": _apart(problem, x, found.v), "free": _free(problem, found.y)}
    return replace(proof, residuals={**proof.residuals, **off})


def _rounded(line: ProgramLine) -> ProgramLine:
    """The line with what rounding took from P; one that is not convex by more stays, and is not proved."""
    found = Convexity.of(line.P)
    if found.shift is None:
        return line
    return replace(line, P=found.P, shift=np.stack([found.shift, found.shift]))


def _apart(QP: ParametricQP, x: Array, v: Array) -> Array:
    """How far the values of rows are from those of x, (k,), relative to their terms."""
    x, rows = (each.reshape(2 * len(v), -1 if each.size else 0).T for each in (x, v[..., QP.n :]))
    size = abs(QP.A) @ np.abs(x)
    size += OWN_TERMS * (abs(QP.A) @ np.ones((QP.n, 1))) * np.abs(x).max(axis=0, initial=0.0)
    off = np.abs(rows - QP.A @ x) / np.maximum(size, _TINY)
    return np.asarray(off.max(axis=0, initial=0.0).reshape(len(v), 2).max(axis=1))


def _free(QP: ParametricQP, y: Array) -> Array:
    """How large multipliers are of items without a bound, (k,), relative to the largest of all, and to q."""
    free = np.isinf(QP.lower[0]) & np.isinf(QP.upper[0])
    sizes = np.append(np.ones(QP.n), abs(sp.csr_array(QP.A)).max(axis=1).toarray())
    added = np.abs(y) * sizes  # to the gradient, at most
    most = added.max(axis=(1, 2), initial=0.0) + np.abs(QP.q).max(initial=0.0)
    return np.asarray(added[..., free].max(axis=(1, 2), initial=0.0) / np.maximum(most, _TINY))
