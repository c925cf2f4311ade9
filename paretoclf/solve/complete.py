"""From a solver's point of the box QP to a certified Solution, polished where that helps."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from paretoclf.checks import Array
from paretoclf.costs import Costs
from paretoclf.gram import Gram
from paretoclf.solution import Solution, make_solution
from paretoclf.solve.model import Point, worst
from paretoclf.solve.polish import polish


def complete_box_qp(
    gram: Gram,
    y: Array,
    caps: Array,
    costs: Costs,
    point: Point,
    *,
    polishing: bool,
    source: str,
    status: str,
    timing: Mapping[str, float],
) -> Solution:
    """Certify a point of the 2C-SVM and, on request, the vertex next to it; return the better of the two.

    Parameters
    ----------
    gram, y, caps, costs
        The problem.
    point : Point
        Multipliers, intercept and possibly w, as a solver returned them.
    polishing : bool
        Whether to try the polish (`paretoclf.solve.polish`).
    source, status, timing
        Passed on; the outcome of the polish is added to the status, its seconds to the timing.
    """
    alpha = np.clip(point.alpha, 0.0, caps)
    conic = make_solution(
        gram, y, caps, costs, alpha, b=point.b, w=point.w, source=source, status=status, timing=timing
    )
    if not polishing or point.b is None:
        return conic
    started = time.perf_counter()
    refined = polish(gram, y, caps, alpha, point.b)
    vertex = make_solution(
        gram, y, caps, costs, refined.alpha, w=refined.w, source=source, status=f"{status}, polished"
    )
    better = worst(vertex.certificate) <= worst(conic.certificate)
    seconds = {**timing, "polish": time.perf_counter() - started}
    if better:
        return replace(vertex, timing=seconds)
    reason = "no better than the solver's point" if refined.settled else "the margin set did not settle"
    return replace(conic, status=f"{status}, not polished: {reason}", timing=seconds)
