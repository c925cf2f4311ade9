"""The cost of a negative curvature between the bounds that the constraints of a program imply."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.proof.cone_line import ConeLine
from paretoclf.proof.cone_line_box import line_box
from paretoclf.proof.points.cone_box import implied_box
from paretoclf.proof.points.cone_lower import Box
from paretoclf.proof.points.cone_program import ConeProgram
from paretoclf.proof.points.cones import Cone

#: Sums of few positive terms are below this many times what doubles make of them.
_UP = 1 + 1e-9


def costs_more(line: ProgramLine, tol: float) -> bool:
    """Whether it certainly costs more than ``tol`` of the value."""
    if isinstance(line, ConeLine) and not line.stands:  # what bends between two points counts on convexity
        return True
    box = box_of(line)
    cost = cost_on(line, box)
    return not (np.isfinite(cost) and cost <= tol * _most(line, box))


def cost_on(line: ProgramLine, box: Box) -> float:
    """The most that it may cost between bounds."""
    assert line.lacks is not None
    hollow = line.lacks > 0.0
    width = (box.high - box.low)[hollow]
    return 0.5 * float(line.lacks[hollow] @ width**2) * _UP


def box_of(line: ProgramLine, sides: Array | None = None) -> Box:
    """Bounds of all feasible points at every t; ``sides`` are right hand sides in place of those of both ends."""
    if isinstance(line, ConeLine):
        return line_box(line, np.inf)
    b = line.b if sides is None else sides
    k, A = line.equations, sp.csr_array(line.A)
    rows = sp.vstack([A, -A[:k]])
    weakest = np.append(b.max(axis=0), -b[:, :k].min(axis=0))
    nothing = sp.csr_array((line.n, line.n))
    cones = [Cone("nonnegative", line.m + k)]
    program = ConeProgram(nothing, np.zeros(line.n), rows, weakest, cones)
    low, high = implied_box(program)
    return Box(np.minimum(low, high), np.maximum(low, high))


def _most(line: ProgramLine, box: Box) -> float:
    """The largest sum of sizes of terms of the objective, at any feasible point."""
    reach = np.maximum(np.abs(box.low), np.abs(box.high))
    q = np.abs(line.q).max(axis=0)
    P = sum(abs(sp.csc_array(matrix)) for matrix in line.quadratics)
    used = (q > 0.0) | (np.asarray(P.sum(axis=0)).ravel() > 0.0)
    reach = np.where(used, reach, 0.0)
    with np.errstate(invalid="ignore"):
        found = float(q @ reach + 0.5 * reach @ (P @ reach))
        found += float(np.abs(line.constant).max())
    return np.inf if np.isnan(found) else found
