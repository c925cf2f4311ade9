"""Bounds on the cost of negative curvature, over the box that the constraints of a program imply."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.proof.bands.line_bounds import line_box
from paretoclf.proof.cones.cone_kinds import Cone
from paretoclf.proof.cones.cone_program import ConeProgram
from paretoclf.proof.cones.implied_bounds import implied_box
from paretoclf.proof.cones.lower_bound import Box

#: Sums of few positive terms are below this many times what doubles make of them.
_UP = 1 + 1e-9


def costs_more(line: ProgramLine, tol: float) -> bool:
    """Whether the bound on the cost of negative curvature is above ``tol`` of the largest terms of the objective."""
    if isinstance(line, ConeLine) and not line.stands:  # bounds of points that bend between two t rest on convexity
        return True
    box = box_of(line)
    cost = cost_on(line, box)
    return not (np.isfinite(cost) and cost <= tol * _most(line, box))


def cost_on(line: ProgramLine, box: Box) -> float:
    """Upper bound of the cost of the negative curvature of a line over a box."""
    assert line.lacks is not None
    hollow = line.lacks > 0.0
    width = (box.high - box.low)[hollow]
    return 0.5 * float(line.lacks[hollow] @ width**2) * _UP


def box_of(line: ProgramLine, sides: Array | None = None) -> Box:
    """Bounds of all feasible points at every t; ``sides`` are right-hand sides in place of those of both ends."""
    if isinstance(line, ConeLine):
        return line_box(line, np.inf)
    ends = line.b if sides is None else sides
    equations = line.equations
    # Each row with the weakest of its sides; an equation is two inequalities.
    matrix = sp.csr_array(line.A)
    rows = sp.vstack([matrix, -matrix[:equations]])
    weakest = np.append(ends.max(axis=0), -ends[:, :equations].min(axis=0))
    nothing = sp.csr_array((line.n, line.n))
    cones = [Cone("nonnegative", line.m + equations)]
    program = ConeProgram(nothing, np.zeros(line.n), rows, weakest, cones)
    low, high = implied_box(program)
    return Box.of(low, high)


def _most(line: ProgramLine, box: Box) -> float:
    """Upper bound of the sum of sizes of terms of the objective, at any feasible point."""
    costs = np.abs(line.q).max(axis=0)
    quadratic = sum(abs(sp.csc_array(matrix)) for matrix in line.quadratics)
    used = (costs > 0.0) | (np.asarray(quadratic.sum(axis=0)).ravel() > 0.0)
    reach = np.where(used, box.reach, 0.0)
    with np.errstate(invalid="ignore"):
        found = float(costs @ reach + 0.5 * reach @ (quadratic @ reach))
        found += float(np.abs(line.constant).max())
    return np.inf if np.isnan(found) else found
