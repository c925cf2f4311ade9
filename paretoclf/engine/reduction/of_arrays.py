"""A quadratic program of raw arrays along a line of its parameters, as the program that is reduced and followed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Index
from paretoclf.engine.reduction.program import ProgramLine, Reading
from paretoclf.problem.qp import QP


def line_of(qp: QP, first: Mapping[str, float], last: Mapping[str, float]) -> ProgramLine:
    """The program between two values of its parameters: equations, upper bounds, then minus lower ones.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.engine.reduction.of_arrays import line_of
    >>> from paretoclf.problem.qp import QP
    >>> line = line_of(QP(None, [1.0], [[2.0]], [3.0], [4.0]), {}, {})
    >>> line.A.toarray().ravel().tolist(), line.b[0].tolist()
    ([2.0, -2.0], [4.0, -3.0])
    >>> line.duals(np.array([0.0, 0.5]))["y"].tolist()
    [-0.5]
    """
    ends, sense = (qp.at(first), qp.at(last)), float(qp.sense)
    q, low, high = (np.stack([end[key] for end in ends]) for key in "qlu")
    equations, above, below = (np.flatnonzero(rows) for rows in (qp.equations, qp.above, qp.below))
    A = sp.csr_array(qp.A)[np.concatenate([equations, above, below])]
    A.data[A.indptr[equations.size + above.size] :] *= -1.0
    return ProgramLine(
        P=sp.csc_array(qp.P if sense > 0 else -qp.P, copy=True),
        A=sp.csc_array(A),
        q=sense * q,
        b=np.hstack([high[:, equations], high[:, above], -low[:, below]]),
        constant=np.full(2, sense * qp.constant),
        equations=equations.size,
        sense=qp.sense,
        variables=_variables(qp),
        multipliers=_multipliers(qp, equations, above, below),
    )


def _variables(qp: QP) -> dict[str, Reading]:
    """Where x stands: one array, or each variable by its name."""
    n = qp.q.size
    if qp.names is None:
        return {"x": Reading((n,), np.arange(n), np.ones(n))}
    names, _ = qp.keys
    return {name: Reading((), np.array([column]), np.ones(1)) for column, name in enumerate(names)}


def _multipliers(qp: QP, equations: Index, above: Index, below: Index) -> dict[str, Reading]:
    """Where y stands: the multiplier of the upper bound of a row, less that of its lower one."""
    m = qp.A.shape[0]
    place, factor = np.zeros((m, 2), dtype=np.int64), np.zeros((m, 2))
    begin = 0
    for rows, side, sign in ((equations, 0, 1.0), (above, 0, 1.0), (below, 1, -1.0)):
        place[rows, side] = begin + np.arange(rows.size)
        factor[rows, side] = sign
        begin += rows.size
    if qp.names is None:
        return {"y": Reading((m,), place, factor)} if m else {}
    _, names = qp.keys
    return {name: Reading((), place[[row]], factor[[row]]) for row, name in enumerate(names)}
