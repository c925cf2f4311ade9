"""Where a line may set out from what is solved already: a path, a solution, or a basis, and their nearest points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, State, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.engine.reduction.program import between
from paretoclf.engine.sets import LEFT, MARGIN, OUT, RIGHT
from paretoclf.path.journey import BasisAt
from paretoclf.problem.classifiers import Classifier
from paretoclf.problem.costs import CostLine, SampleCosts
from paretoclf.problem.gram import Gram
from paretoclf.problem.intercepts import sides
from paretoclf.problem.lines import LineOfCosts
from paretoclf.problem.samples import same_samples
from paretoclf.proof.solution import Solution


@dataclass(frozen=True)
class Hub:
    """A basis that is known: of the optimum at some caps, from where the line is joined at t.

    Attributes
    ----------
    t : float
        The line's point nearest to the hub.
    caps : array of shape (n,)
    state, margin : arrays of shape (n,) and (k,)
        Sets of all samples, and the margin set.
    """

    t: float
    caps: Array
    state: State
    margin: Index


def hub_of(hub: Any, line: LineOfCosts) -> Hub | None:
    """Where a line sets out from; None where the two have no interior point. InputError for what is no such hub."""
    if isinstance(hub, BasisAt):
        return Hub(hub.t, between(line.caps, hub.t), hub.state, hub.margin)
    found = _of_solution(hub, line) if isinstance(hub, Solution) else _of_path(hub, line)
    return found if all((found.caps[side] > 0.0).any() for side in (line.y > 0, line.y < 0)) else None


def _of_path(hub: Any, line: LineOfCosts) -> Hub:
    if not all(hasattr(hub, name) for name in ("caps", "basis", "line", "sample_weight")):
        raise InputError(f"hub must be a path of costs, as trace returns it, or a solution, got {what_it_is(hub)}")
    per_sample = any(isinstance(each.start, SampleCosts) for each in (line.ends, hub.line))
    weights = per_sample or _same(hub.sample_weight, line.sample_weight)  # costs per sample have their own
    _check(_same_problem(hub.gram, hub.y, line) and weights, "path")
    if per_sample:
        t, at = _nearest_points(line.caps[0], line.caps[1], hub.caps(0.0), hub.caps(1.0))
    else:
        t, at = crossing(line.ends, hub.line)
    state, margin = hub.basis(at)
    caps = hub.caps(at)
    return Hub(t, caps, _everywhere(state, caps, lambda: hub.at(at).classifier), margin)


def _of_solution(hub: Solution, line: LineOfCosts) -> Hub:
    rule = hub.classifier
    if not isinstance(rule, Classifier):
        raise InputError(f"hub must be a solution of the 2C-SVM, got one of {what_it_is(rule)}")
    _check(_same_problem(rule.gram, rule.y, line), "solution")
    if not hub.certificate.holds():
        raise InputError(f"hub must be a proved solution, got one whose certificate says: {hub.certificate.explain()}")
    t, _ = _nearest_points(line.caps[0], line.caps[1], rule.caps, rule.caps)
    margins = rule.training_scores + rule.b_at_origin
    left, right = sides(rule.y, rule.caps, rule.alpha, margins)
    state = np.where(left, LEFT, np.where(right, RIGHT, MARGIN)).astype(np.int8)
    state[rule.caps == 0.0] = OUT
    if not (state == MARGIN).any():  # the one that is nearest to its margin holds the intercept
        state[np.argmin(np.where(state == OUT, np.inf, np.abs(rule.y * margins - 1.0)))] = MARGIN
    return Hub(t, rule.caps, _everywhere(state, rule.caps, lambda: rule), np.flatnonzero(state == MARGIN))


def _everywhere(state: State, caps: Array, known: Callable[[], Any]) -> State:
    """Sets in which who has no cap is where it will be, by the classifier that is known, if it gets one."""
    out = (caps == 0.0) & (state != MARGIN)
    if not out.any():
        return state
    rule = known()
    beyond = rule.y * (rule.training_scores + rule.b_at_origin) < 1.0
    return np.where(out, np.where(beyond, LEFT, RIGHT), state).astype(np.int8)


def _check(fits: bool, kind: str) -> None:
    if not fits:
        raise InputError(f"hub must be a {kind} of the same samples, labels, kernel and weights")


def _same_problem(gram: Gram, y: Array, line: LineOfCosts) -> bool:
    a, b = gram, line.gram
    same = a is b or (a.kernel == b.kernel and same_samples(a.X, b.X) and _same(a.pivots, b.pivots))
    return bool(same and _same(y, line.y))


def _same(a: Any, b: Any) -> bool:
    return a is b or np.array_equal(a, b)


# ---- nearest points --------------------------------------------------------------------------------------------------


def crossing(a: CostLine, b: CostLine) -> tuple[float, float]:
    """Parameters on two segments of the cost plane where they cross, or else come closest."""
    return _nearest_points(*(np.array(tuple(costs)) for costs in (a.start, a.stop, b.start, b.stop)))


def _nearest_points(p: Array, q: Array, r: Array, s: Array) -> tuple[float, float]:
    """Parameters of the nearest points of two segments, from p to q and from r to s."""
    U, V, W = q - p, s - r, r - p
    uu, vv, uv = float(U @ U), float(V @ V), float(U @ V)
    det = uu * vv - uv * uv
    if det > 1e-24 * uu * vv:
        x, z = (vv * float(U @ W) - uv * float(V @ W)) / det, (uv * float(U @ W) - uu * float(V @ W)) / det
        if 0 <= x <= 1 and 0 <= z <= 1:
            return x, z
    pairs = []
    for x in (0.0, 1.0):
        pairs += [(x, _nearest(p + x * U, r, V)), (_nearest(r + x * V, p, U), x)]
    return min(pairs, key=lambda xz: float(np.linalg.norm(p + xz[0] * U - r - xz[1] * V)))


def _nearest(point: Array, start: Array, direction: Array) -> float:
    square = float(direction @ direction)
    return float(np.clip((point - start) @ direction / square, 0.0, 1.0)) if square > 0 else 0.0
