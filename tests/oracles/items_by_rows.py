"""The proof of a path of items by rows: every bound of an item is one, and each is looked at on every segment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from paretoclf.engine.reduction.of_items import RowsOfItems
from paretoclf.engine.reduction.points import ProgramPoints
from paretoclf.problem.convex import Convexity
from paretoclf.proof.programs.program_lines import prove_program

TINY = float(np.finfo(float).tiny)


def prove_by_rows(problem, path):
    """Prove values and multipliers of all items, with all points at hand."""
    rows = RowsOfItems.of(problem)
    t = np.asarray(path.t, dtype=np.float64)
    x, y = path.spread()
    with np.errstate(invalid="ignore", over="ignore"):
        points = ProgramPoints.of(x, rows.multipliers(y))
        proof = prove_program(rounded(rows.line), t, points, "t", rows.prices)
        free = of_free(problem, y)
    return replace(proof, residuals={**proof.residuals, "free": free})


def rounded(line):
    """The line with P made semidefinite up to rounding."""
    found = Convexity.of(line.P)
    return line if found.shift is None else replace(line, P=found.P, shift=np.stack([found.shift, found.shift]))


def of_free(problem, y):
    """Sizes of the multipliers of items without a bound, relative to the largest of all, and to q."""
    free = np.isinf(problem.lower[0]) & np.isinf(problem.upper[0])
    of_rows = abs(sp.csr_array(problem.A)).max(axis=1).toarray()
    in_gradient = np.abs(y) * np.append(np.ones(problem.n), of_rows)
    most = in_gradient.max(axis=(1, 2), initial=0.0) + np.abs(problem.q).max(initial=0.0)
    return in_gradient[..., free].max(axis=(1, 2), initial=0.0) / np.maximum(most, TINY)
