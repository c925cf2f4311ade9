"""Warm starts of a line of costs from a path, a solution or a basis that is known, where the two come closest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, State, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.engine.reduction.program import between
from paretoclf.engine.sets import LEFT, MARGIN, OUT, RIGHT
from paretoclf.path.svm_lines.stages import BasisAt
from paretoclf.problem.classifiers import Classifier
from paretoclf.problem.costs import CostLine, SampleCosts
from paretoclf.problem.gram import Gram
from paretoclf.problem.intercepts import sides
from paretoclf.problem.lines import LineOfCosts
from paretoclf.problem.samples import same_samples
from paretoclf.proof.verdicts.solution import Solution


@dataclass(frozen=True)
class WarmStart:
    """Known basis of the optimum at some caps, from where a line is joined at t.

    Attributes
    ----------
    t : float
        The line's point that is nearest to those caps.
    caps : array of shape (n,)
    state, margin : arrays of shape (n,) and (k,)
        Sets of all samples, and the margin set.
    """

    t: float
    caps: Array
    state: State
    margin: Index


def warm_start_of(hub: Any, line: LineOfCosts) -> WarmStart | None:
    """Warm start of a line from what is given as its ``hub``; InputError if it is nothing of that kind.

    There is none where a class has no cost at the nearest point of the two.
    """
    if isinstance(hub, BasisAt):
        return WarmStart(hub.t, between(line.caps, hub.t), hub.state, hub.margin)
    found = _of_solution(hub, line) if isinstance(hub, Solution) else _of_path(hub, line)
    positive = line.y > 0
    both_cost = (found.caps[positive] > 0.0).any() and (found.caps[~positive] > 0.0).any()
    return found if both_cost else None


def _of_path(hub: Any, line: LineOfCosts) -> WarmStart:
    """Warm start from the nearest point of a path of costs."""
    if not all(hasattr(hub, name) for name in ("caps", "basis", "line", "sample_weight")):
        raise InputError(f"hub must be a path of costs, as trace returns it, or a solution, got {what_it_is(hub)}")
    per_sample = any(isinstance(each.start, SampleCosts) for each in (line.ends, hub.line))
    weights = per_sample or _same(hub.sample_weight, line.sample_weight)  # costs per sample have their own
    _check(_same_problem(hub.gram, hub.y, line) and weights, "path")
    if per_sample:
        first, last = line.caps
        t, at = _nearest_points(first, last, hub.caps(0.0), hub.caps(1.0))
    else:
        t, at = crossing(line.ends, hub.line)
    state, margin = hub.basis(at)
    caps = hub.caps(at)
    return WarmStart(t, caps, _everywhere(state, caps, lambda: hub.at(at).classifier), margin)


def _of_solution(hub: Solution, line: LineOfCosts) -> WarmStart:
    """Warm start from a proved solution of the 2C-SVM, whoever computed it."""
    rule = hub.classifier
    if not isinstance(rule, Classifier):
        raise InputError(f"hub must be a solution of the 2C-SVM, got one of {what_it_is(rule)}")
    _check(_same_problem(rule.gram, rule.y, line), "solution")
    if not hub.certificate.holds():
        raise InputError(f"hub must be a proved solution, got one whose certificate says: {hub.certificate.explain()}")
    first, last = line.caps
    t, _ = _nearest_points(first, last, rule.caps, rule.caps)
    margins = rule.training_scores + rule.b_at_origin
    left, right = sides(rule.y, rule.caps, rule.alpha, margins)
    state = np.full(rule.y.size, MARGIN, dtype=np.int8)
    state[right] = RIGHT
    state[left] = LEFT
    state[rule.caps == 0.0] = OUT
    if not (state == MARGIN).any():  # the one that is nearest to its margin holds the intercept
        distance = np.abs(rule.y * margins - 1.0)
        nearest = np.argmin(np.where(state == OUT, np.inf, distance))
        state[nearest] = MARGIN
    everywhere = _everywhere(state, rule.caps, lambda: rule)
    return WarmStart(t, rule.caps, everywhere, np.flatnonzero(state == MARGIN))


def _everywhere(state: State, caps: Array, known: Callable[[], Any]) -> State:
    """Sets in which samples without a cap are where they would be if they got one, by the known classifier."""
    out = (caps == 0.0) & (state != MARGIN)
    if not out.any():
        return state
    rule = known()
    beyond = rule.y * (rule.training_scores + rule.b_at_origin) < 1.0
    return np.where(out, np.where(beyond, LEFT, RIGHT), state).astype(np.int8)


def _check(fits: bool, kind: str) -> None:
    """InputError unless a path or solution belongs to the line's problem."""
    if not fits:
        raise InputError(f"hub must be a {kind} of the same samples, labels, kernel and weights")


def _same_problem(gram: Gram, y: Array, line: LineOfCosts) -> bool:
    """Whether samples, kernel and labels are those of a line."""
    if not _same(y, line.y):
        return False
    if gram is line.gram:
        return True
    same_kernel = gram.kernel == line.gram.kernel and _same(gram.pivots, line.gram.pivots)
    return bool(same_kernel and same_samples(gram.X, line.gram.X))


def _same(a: Any, b: Any) -> bool:
    """Whether two arrays, or None, are equal."""
    return a is b or np.array_equal(a, b)


# ---- nearest points --------------------------------------------------------------------------------------------------


def crossing(a: CostLine, b: CostLine) -> tuple[float, float]:
    """Parameters on two segments of the cost plane where they cross, or else come closest."""
    corners = [np.array(tuple(costs)) for costs in (a.start, a.stop, b.start, b.stop)]
    return _nearest_points(*corners)


def _nearest_points(p: Array, q: Array, r: Array, s: Array) -> tuple[float, float]:
    """Parameters of the nearest points of two segments, from p to q and from r to s."""
    U, V, W = q - p, s - r, r - p
    UU, VV, UV = float(U @ U), float(V @ V), float(U @ V)
    UW, VW = float(U @ W), float(V @ W)
    determinant = UU * VV - UV * UV
    if determinant > 1e-24 * UU * VV:  # not parallel: the nearest points of the two lines, if they are on the segments
        x = (VV * UW - UV * VW) / determinant
        z = (UV * UW - UU * VW) / determinant
        if 0 <= x <= 1 and 0 <= z <= 1:
            return x, z
    pairs = []  # else an end of one segment, and the point of the other that is nearest to it
    for end in (0.0, 1.0):
        pairs.append((end, _nearest(p + end * U, r, V)))
        pairs.append((_nearest(r + end * V, p, U), end))

    def distance(pair: tuple[float, float]) -> float:
        """Distance of the points at a pair of parameters."""
        x, z = pair
        between = p + x * U - r - z * V
        return float(np.linalg.norm(between))

    return min(pairs, key=distance)


def _nearest(point: Array, start: Array, direction: Array) -> float:
    """Parameter of the point of a segment, ``start + [0, 1] direction``, that is nearest to a point."""
    square = float(direction @ direction)
    return float(np.clip((point - start) @ direction / square, 0.0, 1.0)) if square > 0 else 0.0
