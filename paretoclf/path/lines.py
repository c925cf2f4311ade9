"""Lines of the cost plane as parametric box QPs, and how to start on them without a solver.

Bach, Heckerman & Horvitz (2006), section 3.1. On the ray ``C_plus sum_+ s_i = C_minus sum_- s_i`` (s_i the sample
weights) every multiplier is at its cap near the origin, so both the solution and its first breakpoint are known in
closed form. From a point of the ray any other point is reached along a line. A path is traced in both directions from
where its line meets the ray; one that ends at zero costs is traced *into* them, where nothing happens any more, since
out of them there is no closed-form start off the ray.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from paretoclf.checks import Array
from paretoclf.costs import CostLine, Costs, SampleCosts, per_sample
from paretoclf.errors import DegeneratePathError, InputError
from paretoclf.gram import Gram
from paretoclf.path.build import Leg, assemble, with_chords, with_exact_ends
from paretoclf.path.engines import make_tracker
from paretoclf.path.forms import STORED_SLOPE
from paretoclf.path.hub import check_hub, crossing
from paretoclf.path.legs import Walk, meter, straight
from paretoclf.path.pieces import Pieces, prove
from paretoclf.path.precise import quadratic_of
from paretoclf.path.result import Path
from paretoclf.path.segments import Line, Log, empty_log
from paretoclf.path.sets import LEFT, OUT, RIGHT
from paretoclf.tolerances import ROUNDING


class CostProblem(Protocol):
    """What is needed of a formulation: samples, labels and weights of a 2C-SVM."""

    @property
    def gram(self) -> Gram:
        """Kernel values."""
        ...

    @property
    def y(self) -> Array:
        """Labels."""
        ...

    @property
    def sample_weight(self) -> Array:
        """Weights of the samples' costs."""
        ...


def trace_costs(
    svm: CostProblem,
    start: Any,
    stop: Any,
    *,
    hub: Path | None = None,
    engine: str | None = None,
    certify: bool = True,
    max_events: int | None = None,
    progress: bool | None = None,
) -> Path:
    """Every optimal classifier on the segment of the cost plane from start to stop; for the arguments see `trace`."""
    line = _line_of_costs(start, stop, svm.y)
    if hub is not None:
        check_hub(hub, svm.gram, svm.y, svm.sample_weight, line)
    began = time.perf_counter()
    with meter(progress) as update:
        pieces = _Tracer(svm, line, hub, engine, max_events, update).run()
    path = Path(svm.gram, svm.y, svm.sample_weight, line, pieces, time.perf_counter() - began)
    if certify:
        prove(path)
    return path


def _costs(given: Any, name: str) -> Costs:
    if isinstance(given, Costs):
        return given
    try:
        pair = tuple(given)
    except TypeError:
        pair = ()
    if len(pair) != 2:
        raise InputError(f"{name} must be a pair (C_plus, C_minus), got {given!r}")
    try:
        return Costs(*pair)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _line_of_costs(start: Any, stop: Any, y: Array) -> CostLine:
    ends = []
    for given, name in ((start, "start"), (stop, "stop")):
        costs = given if isinstance(given, SampleCosts) else _costs(given, name)
        if isinstance(costs, SampleCosts) and costs.values.size != y.size:
            raise InputError(f"{name} must give {y.size} samples their costs, got {costs.values.size}")
        ends.append(costs)
    if any(isinstance(costs, SampleCosts) for costs in ends):
        ends = [SampleCosts(per_sample(costs, y)) for costs in ends]
    return CostLine(*ends)


class _Tracer:
    """One path: where to start, which way to go, and the joining of what was traced.

    A line is one of caps: its two *bases* are the weights of either class, and phi its two costs; or, with costs per
    sample, the caps at its two ends, and phi = (1 - t, t). The balanced ray has the weights of either class as its
    bases, those of the point where the line meets it if the costs are per sample.
    """

    def __init__(
        self,
        svm: CostProblem,
        line: CostLine,
        hub: Path | None,
        engine: str | None,
        max_events: int | None,
        progress: Callable[[float], Any] | None,
    ) -> None:
        self.y, self.weight, self.gram = svm.y, svm.sample_weight, svm.gram
        self.engine, self.max_events, self.progress = engine, max_events, progress
        self.cap_start, self.cap_stop = (self.weight * per_sample(costs, self.y) for costs in (line.start, line.stop))
        self.out = (self.cap_start == 0.0) & (self.cap_stop == 0.0)
        self.side = np.stack([self.y > 0, self.y < 0])
        if isinstance(line.start, Costs):
            self.bases = self.weight * self.side
            self.ends = np.array(tuple(line.start)), np.array(tuple(line.stop))
        else:
            self.bases = np.stack([self.cap_start, self.cap_stop])
            self.ends = np.array([1.0, 0.0]), np.array([0.0, 1.0])
        self.per_sample = isinstance(line.start, SampleCosts)
        self.hub = hub
        if hub is not None:
            at_line, at_hub = crossing(line, hub.line)
            if min(*line.at(at_line), *hub.costs(at_hub)) > 0.0:  # off the axes
                self.t_line, self.t_hub = at_line, at_hub
            else:
                self.hub = None

    def run(self) -> Pieces:
        """Trace and join."""
        if any(not (self.cap_start[side].any() or self.cap_stop[side].any()) for side in self.side):
            return self._on_axis()
        largest = float(max(self.cap_start.max(), self.cap_stop.max()))
        form, self.mean = quadratic_of(self.gram, self.y, largest)
        n = self.y.size
        self.problem = make_tracker(self.engine, form, np.ones(n), self.y, np.zeros(n, dtype=np.int64), 1)
        self.walk = Walk(self.problem, self.bases, ~self.out, self.max_events, self.progress)
        start, stop = self.ends
        at_origin = [not cap.any() for cap in (self.cap_start, self.cap_stop)]
        on_ray = [self._on_ray(cap) for cap in (self.cap_start, self.cap_stop)]
        from_origin = all(on_ray) and any(at_origin) and not self.per_sample
        if from_origin:
            up = at_origin[0]
            self._start_ray(self.bases, stop if up else start)
            self.problem.record_from_here()
            leg = self.walk.leg(*((0.0, 1.0) if up else (1.0, 0.0)))
            self.problem.log.begin_at_zero(self.cap_start + self.cap_stop)
            log, other = self.problem.log, empty_log(self.problem.log)
            pieces = self._join(log, [leg], other, []) if up else self._join(other, [], log, [leg])
        elif np.array_equal(self.cap_start, self.cap_stop):
            self._reach(0.0)
            self.problem.record_from_here()
            leg = self.walk.leg(0.0, 1.0, self._line(self.bases, start, stop))
            pieces = self._join(self.problem.log, [leg], self.problem.log, [])
        else:
            t_meet = self._meeting() if self.hub is None else self.t_line
            meet = self._phi(t_meet)
            self._reach(t_meet)
            here = self.problem.snapshot()
            self.problem.record_from_here()
            forward = self.walk.legs(meet, stop, t_meet, 1.0, self._nothing(self.cap_stop)) if t_meet < 1.0 else []
            log = self.problem.log
            self.problem.restore(here)
            self.problem.record_from_here()
            backward = self.walk.legs(meet, start, t_meet, 0.0, self._nothing(self.cap_start)) if t_meet > 0.0 else []
            pieces = self._join(log, forward, self.problem.log, backward)
        pieces = with_exact_ends(pieces, self.cap_start, self.cap_stop, self.y)
        return with_chords(pieces, self._caps, from_origin)

    def _join(self, log: Log, forward: list[Leg], other: Log, backward: list[Leg]) -> Pieces:
        return assemble(log, forward, other, backward, self.mean, self.gram.features is not None)

    # ---- where the line meets the ray ------------------------------------------------------------------------

    def _phi(self, t: float) -> Array:
        start, stop = self.ends
        return np.asarray((1 - t) * start + t * stop)

    def _caps(self, t: float) -> Array:
        return np.asarray((1 - t) * self.cap_start + t * self.cap_stop)

    def _on_ray(self, cap: Array) -> bool:
        plus, minus = (float(cap[side].sum()) for side in self.side)
        return abs(plus - minus) <= 1e-12 * (plus + minus)

    def _nothing(self, cap: Array) -> bool:
        """Whether a class has no cost."""
        return not all(cap[side].any() for side in self.side)

    def _meeting(self) -> float:
        """Parameter of the point of the line to start from: interior costs, on the ray if possible."""
        at_a, at_b = float(self.y @ self.cap_start), float(self.y @ self.cap_stop)
        if at_a * at_b < 0.0:
            return at_a / (at_a - at_b)
        inner_a, inner_b = ((cap[~self.out] > 0).all() for cap in (self.cap_start, self.cap_stop))
        if inner_a and inner_b:
            share = [abs(at) / cap.sum() for at, cap in ((at_a, self.cap_start), (at_b, self.cap_stop))]
            return 0.0 if share[0] <= share[1] else 1.0
        return 0.0 if inner_a else 1.0 if inner_b else 0.5

    def _start_ray(self, bases: Array, to: Array) -> None:
        """Basis at the origin of the ray: all at their cap, the positive first to meet its margin holds b.

        The first event is where the first negative meets its margin, ``t (push_+ + push_-) = 2``.
        """
        push = self.y * self.gram.matvec(self.y * (to @ bases))
        first = [np.flatnonzero(side & ~self.out) for side in self.side]
        plus, minus = (members[int(np.argmax(push[members]))] for members in first)
        state = np.where(self.out, OUT, LEFT)
        self.problem.start(state, [plus], self._line(bases, np.zeros(2), to))
        speed = float(push[plus] + push[minus])
        self.problem.ahead = min(1.0, 2.0 / speed if speed > 0.0 else 1.0) / 2.0

    def _line(self, bases: Array, a: Array, b: Array) -> Line:
        return straight(self.problem, bases, a, b)

    def _reach(self, t: float) -> None:
        """Bring the basis to the interior point t of the line: from the hub, or up the ray, then across."""
        if self.hub is not None and self._reach_from(self.hub, t):
            return
        bases, to = (self._caps(t) * self.side, np.ones(2)) if self.per_sample else (self.bases, self._phi(t))
        sums = bases.sum(axis=1)
        balanced = to if self._on_ray(to @ bases) else to.sum() / sums.sum() * sums[::-1]
        self._start_ray(bases, balanced)
        self.problem.record_from_here(keep=False)
        self.problem.follow(self.max_events)
        if balanced is not to:
            self.problem.set_line(self._line(bases, balanced, to))
            self.problem.follow(self.max_events)

    def _reach_from(self, hub: Path, t: float) -> bool:
        here, to = np.array(tuple(hub.costs(self.t_hub))), self._phi(t)
        state, margin = hub.basis(self.t_hub)
        try:
            if not self.problem.start_on(state, margin, self._line(self.bases, here, to)):
                return False
            self.problem.record_from_here(keep=False)
            if np.abs(to - here).max() > 4 * ROUNDING * to.max():  # the two points are not one up to rounding
                self.problem.follow(self.max_events)
        except DegeneratePathError:
            return False
        return True

    def _on_axis(self) -> Pieces:
        """One class has no cost all along: no multiplier, w = 0, and the other class decides b."""
        b = float(np.sign((self.y * (self.cap_start + self.cap_stop)).sum()))
        empty = np.zeros(0)
        features = self.gram.features
        return Pieces(
            t=np.array([0.0, 1.0]),
            ptr=np.zeros(2, dtype=np.int64),
            index=np.zeros(0, dtype=np.int64),
            a0=empty,
            a1=empty,
            b0=np.array([b]),
            b1=np.array([b]),
            value=np.zeros((1, 3)),
            w=None if features is None or features.shape[1] > STORED_SLOPE else np.zeros((2, features.shape[1])),
            state=np.full(self.y.size, RIGHT, dtype=np.int8),
            changes=np.zeros((3, 0), dtype=np.int64),
        )
