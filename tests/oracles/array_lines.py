"""Lines of cone programs from a few numbers, and pairs on them whose gap is known in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.proof.cones.cone_kinds import Cone, Cones

#: Shares of the way between two pairs at which a bound is compared.
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)


def both(ends: Any) -> Any:
    """What is given at both ends, or once for both."""
    given = np.asarray(ends, dtype=float)
    return given if given.ndim == 2 else np.tile(given, (2, 1))


def array_line(
    A: Any,
    b: Any,
    q: Any,
    *,
    P: Any = None,
    constant: Any = (0.0, 0.0),
    cones: Sequence[Cone] | None = None,
    A_stop: Any = None,
    P_stop: Any = None,
) -> ConeLine:
    """Minimise ``x'Px / 2 + q'x + constant`` where ``b - Ax`` is in the cones: by default all rows are inequalities.

    b and q are one row that stands still, or two: at t = 0 and at t = 1.
    """
    A = sp.csc_array(np.asarray(A, dtype=float))
    rows, columns = A.shape
    kinds = Cones(cones or [Cone("nonnegative", rows)])
    equations = sum(cone.size for cone in kinds if cone.kind == "zero")
    P = sp.csc_array((columns, columns)) if P is None else sp.csc_array(np.asarray(P, dtype=float))
    last = [None if M is None else sp.csc_array(np.asarray(M, dtype=float)) for M in (P_stop, A_stop)]
    numbers = both(q), both(b), np.asarray(constant, dtype=float)
    return ConeLine(P, A, *numbers, equations, 1, {}, {}, (), kinds, P_stop=last[0], A_stop=last[1])


def interval(p: Sequence[float], q: Sequence[float], *, moves: bool) -> ConeLine:
    """Minimise ``p x^2 / 2 + q x`` on [-1, 1], p and q at t = 0 and at t = 1.

    With ``moves`` a row 9 >= x, that is never tight, gets a coefficient that moves from 1 to 1.5.
    """
    first, last = np.array([[1.0], [1.0], [-1.0]]), np.array([[1.5], [1.0], [-1.0]])
    P = np.array([[[each]] for each in p])
    ends = {"A_stop": last if moves else None, "P_stop": P[1] if p[0] != p[1] else None}
    return array_line(first, [9.0, 1.0, 1.0], np.array(q)[:, None], P=P[0], **ends)


def least(line: ConeLine, t: float) -> float:
    """The optimal value of an `interval` at t: at an end, or where the slope is 0."""
    p = float(line.at(t).P.toarray()[0, 0])
    slope = float(line.at(t).q[0])
    tried = [-1.0, 1.0] if p == 0.0 else [-1.0, 1.0, float(np.clip(-slope / p, -1.0, 1.0))]
    return min(0.5 * p * x * x + slope * x for x in tried)


def pairs_of(judge: Any, x: Sequence[Any], y: Sequence[Any], z: Sequence[Any]) -> tuple[Any, Any]:
    """The judge's pairs at t = 0 and at t = 1, all proved."""
    k, j = (
        judge.pair(t, *(np.atleast_1d(np.asarray(each[i], dtype=float)) for each in (x, y, z)))
        for i, t in enumerate((0.0, 1.0))
    )
    assert k.why == j.why == ""
    return k, j
