"""Paths of costs: every optimal 2C-SVM on a line of the cost plane, and how it is found without a solver.

Bach, Heckerman & Horvitz (2006), section 3.1. On the ray ``C_plus sum_+ s_i = C_minus sum_- s_i`` (s_i the sample
weights) every multiplier is at its cap near the origin, so both the solution and its first breakpoint are known in
closed form. From a point of the ray any other point is reached along a line. A path is traced in both directions from
where its line meets the ray; one that ends at zero costs is traced *into* them, where nothing happens any more, since
out of them there is no closed-form start off the ray.

A path that is there already can be the warm start (``hub``) of others: they set out from where their line comes closest
to it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoclf.common.checks import (
    Array,
    Index,
    Mask,
    Rng,
    State,
    check_positions,
    require_scale_of_costs,
)
from paretoclf.common.errors import DegeneratePathError, InputError, Stop, StoppedError
from paretoclf.common.progress import NO_LIMITS, PathLimits, meter
from paretoclf.common.tolerances import CERTIFY, FAST_ERROR, LARGEST_PULL, ROUNDING, STEEP
from paretoclf.engine.box import AnyBox
from paretoclf.engine.boxes import make_tracker
from paretoclf.engine.engines import first_found, turns
from paretoclf.engine.reduction.program import between
from paretoclf.engine.segments import Line
from paretoclf.engine.sets import LEFT, OUT, RIGHT
from paretoclf.path.svm.shadow_prices import ShadowPrices, prices_of
from paretoclf.path.svm_lines.double_double import Precise, PreciseSolver, quadratic_of
from paretoclf.path.svm_lines.refined_path import Refining
from paretoclf.path.svm_lines.stages import (
    BasisAt,
    CapsWalk,
    Found,
    Known,
    LineOfCaps,
    Stage,
    assemble,
    one_way,
    reached,
    rescaled,
    stop_of,
    straight,
)
from paretoclf.path.svm_lines.stopping import finished
from paretoclf.path.svm_lines.warm_start import WarmStart, warm_start_of
from paretoclf.problem.classifiers import Classifier
from paretoclf.problem.costs import CostLine, Costs, SampleCosts, per_sample
from paretoclf.problem.lines import LabelledSamples, LineOfCosts, Weighted, problem_of_costs
from paretoclf.problem.operator.signed import STORED_SLOPE
from paretoclf.problem.pieces import Pieces
from paretoclf.problem.units import balanced_units
from paretoclf.proof.points.judged_classifiers import make_solution
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.verdicts.solution import Solution

if TYPE_CHECKING:
    from paretoclf.path.deletion.along_line import LeaveOneOutPath  # a room above


def trace_costs(
    svm: Weighted,
    start: Any,
    stop: Any,
    *,
    hub: Path | Solution | BasisAt | None = None,
    engine: str | None = None,
    certify: bool = True,
    limits: PathLimits = NO_LIMITS,
    progress: bool | None = None,
) -> Path:
    """Trace every optimal classifier on a segment of the cost plane; for the arguments see `trace`.

    The warm start ``hub`` may be a basis of this very problem at one point of the line.
    """
    line = LineOfCosts.of(svm, start, stop)
    warm_start = None if hub is None else warm_start_of(hub, line)
    began = time.perf_counter()

    def traced(name: str) -> Path:
        """Path by one engine, proved if that is asked for."""
        with meter(progress) as update:
            tracer = CostTracer(line, warm_start, name, limits, update)
            pieces = tracer.run()
        seconds = time.perf_counter() - began
        path = Path(line.gram, line.y, line.sample_weight, tracer.part, pieces=pieces, seconds=seconds)
        return finished(path, certify, tracer.stopped)

    return first_found(partial(traced, name) for name in turns(engine))


_AT_AN_END = 1e-9  # share of the line in which it meets the ray at its end, up to rounding


class CostTracer:
    """Tracer of one path, or of a ``span`` of it: it decides where to start and which way to go, and joins the stages.

    A line is one of caps: its two *bases* are the weights of either class, and phi its two costs; or, with costs per
    sample, the caps at its two ends, and phi = (1 - t, t). The balanced ray has the weights of either class as its
    bases, those of the point where the line meets it if the costs are per sample.
    """

    def __init__(
        self,
        line: LineOfCosts,
        warm_start: WarmStart | None,
        engine: str | None,
        limits: PathLimits,
        progress: Callable[[float], Any] | None,
        span: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        self.line, self.y, self.gram, self.span = line, line.y, line.gram, span
        self.engine, self.progress = engine, progress
        self.max_events, self.deadline = limits
        self.part, self.on_ray = line.ends, False
        self.stopped: Stop | None = None
        positive = self.y > 0
        self.side = np.array([positive, ~positive])
        start, stop = line.ends.start, line.ends.stop
        self.per_sample = isinstance(start, SampleCosts)
        if self.per_sample:
            self.bases, self.ends = line.caps, np.eye(2)
        else:
            self.bases = line.sample_weight * self.side
            self.ends = np.array([tuple(start), tuple(stop)])
        self.caps = self.ends @ self.bases
        self.inside: Mask = np.asarray(self.caps.any(axis=0))
        self.sums = (self.caps[:, None] * self.side).sum(axis=2).tolist()  # at both ends, of either class
        largest_sum = max(plus + minus for plus, minus in self.sums)
        pull = largest_sum * math.sqrt(self.gram.quadratic.length2)
        require_scale_of_costs(pull, "the sum of the costs times the largest length of a sample", LARGEST_PULL)
        self.warm_start = warm_start
        if warm_start is not None:
            caps = self._caps(warm_start.t)
            if not all((caps[side] > 0.0).any() for side in self.side):  # on an axis
                self.warm_start = None

    def run(self) -> Pieces:
        """Trace the line both ways, and join what was traced: all of the line, or ``part`` if it was ``stopped``."""
        if self.on_axis:
            return self._on_axis()
        try:
            found = self.follow()
        except (StoppedError, KeyboardInterrupt) as stopped:
            return self._where_it_is(stopped)
        known = self.known()
        self.stopped = stop_of(found)
        if self.stopped is not None:
            found, known = self._cut_short(found, known)
        pieces = assemble(found, self.mean, bool(known.quadratic.width), known)
        return pieces if self.stopped is None else replace(pieces, t=np.concatenate([[0.0], pieces.t[1:-1], [1.0]]))

    @property
    def on_axis(self) -> bool:
        """Whether a class has no cost all along the line."""
        return any(first == last == 0.0 for first, last in zip(*self.sums, strict=True))

    def follow(self) -> Found:
        """Trace the line, or the span."""
        form, self.mean = quadratic_of(self.gram, self.y, float(self.caps.max()))
        problem = problem_of_costs(form, self.caps)
        tracker = make_tracker(self.engine, problem, self.deadline)
        if tracker is None:
            return self._by_any_engine(AnyBox(problem, self.engine, self.max_events, self.deadline))
        self.problem = tracker
        return self._walked()

    def known(self) -> Known:
        """Facts that are known of the whole line."""
        first, last = (float(np.sign(plus - minus)) for plus, minus in self.sums)
        alone = self._alone(0), self._alone(1)
        Q = self.gram.quadratic
        return Known(Q, self.caps, self.gram.diagonal(), alone, (first, last), self.from_origin)

    @cached_property
    def from_origin(self) -> bool:
        """Whether the line is a balanced ray out of the origin, or into it."""
        at_origin = any(max(sums) == 0.0 for sums in self.sums)
        return at_origin and all(_balanced(*sums) for sums in self.sums) and not self.per_sample

    def _cut_short(self, found: Found, known: Known) -> tuple[Found, Known]:
        """Return what was traced of the line, as the whole of a shorter one."""
        begin, end = reached(found)
        line, (first, last) = self.line.ends, known.alone
        self.part = CostLine(line.at(begin), line.at(end))
        caps = np.stack([self._caps(begin), self._caps(end)])
        alone = None if begin else first, last if end == 1.0 else None
        return rescaled(found, begin, end), replace(known, caps=caps, alone=alone)

    def _where_it_is(self, stopped: Stop) -> Pieces:
        """The point of the balanced ray at which the tracker was stopped, on its way to the line: a warm start."""
        if not self.on_ray or self.problem.t == 0.0:
            raise stopped
        line = self.problem.line
        here = np.asarray(between(np.stack([line.start, line.stop]), self.problem.t))
        self.problem.set_line(straight(self.problem, line.bases, here, here))
        self.problem.record_from_here()
        self.problem.follow()
        caps = here @ line.bases
        of_samples = np.divide(caps, self.line.sample_weight, out=np.zeros_like(caps), where=caps > 0.0)
        costs = SampleCosts(of_samples) if self.per_sample else Costs(*here)
        self.part, self.stopped = CostLine(costs, costs), stopped
        found = one_way(self.problem.log, Stage(0, self.problem.segments, 0.0, 1.0))
        Q = self.gram.quadratic
        known = Known(Q, np.stack([caps, caps]), self.gram.diagonal(), from_origin=False)
        return assemble(found, self.mean, bool(Q.width), known)

    def _by_any_engine(self, box: AnyBox) -> Found:
        """Follow the line at once, with the warm start as a guess; or out of the origin, whose basis is known."""
        ends, from_origin = self.span, self._begins_at_origin
        start, stop = (self._phi(t) for t in ends)
        up = not from_origin or not start.any()
        line = straight(box, self.bases, *((start, stop) if up else (stop, start)))
        basis = None
        if from_origin:
            basis, _ = self._at_origin(line.caps(1.0))
        elif self.warm_start is not None:
            basis = self.warm_start.state, self.warm_start.margin
        log = box.along(line, basis, self.progress)
        if from_origin:
            log = log.from_nothing(line.caps(1.0))
        t_from, t_to = ends if up else ends[::-1]
        return one_way(log, Stage(0, log.segments, t_from, t_to))

    @property
    def _begins_at_origin(self) -> bool:
        """Whether the span has the origin of a balanced ray as an end."""
        return self.from_origin and not all(self._caps(t).any() for t in self.span)

    def _walked(self) -> Found:
        """Follow the line from where it meets the ray (or from the warm start) to both ends; or out of the origin."""
        self.walk = CapsWalk(self.problem, self.bases, self.max_events, self.progress)
        first, last = self.span
        start, stop = self._phi(first), self._phi(last)
        if self._begins_at_origin:
            up = not start.any()
            self._start_ray(self.bases, stop if up else start)
            self.problem.record_from_here()
            stage = self.walk.stage(*((first, last) if up else (last, first)))
            return one_way(self.problem.log.from_nothing(self.problem.line.caps(1.0)), stage)
        if np.array_equal(*self.caps):
            self._reach(0.0)
            self.problem.record_from_here()
            stage = self.walk.stage(0.0, 1.0, self._line(self.bases, start, stop))
            return one_way(self.problem.log, stage)
        t_meet = self._meeting() if self.warm_start is None else self.warm_start.t
        t_meet = self._in_span(t_meet)
        meet = self._phi(t_meet)
        self._reach(t_meet)
        forward = LineOfCaps(meet, stop, t_meet, last, self._alone(1)) if t_meet < last else None
        backward = LineOfCaps(meet, start, t_meet, first, self._alone(0)) if t_meet > first else None
        return self.walk.both_ways(forward, backward)

    def _alone(self, end: int) -> Mask | None:
        """Samples of a class that has no cost at an end, if the other class has some; None where both have costs."""
        plus, minus = self.sums[end]
        if min(plus, minus) > 0.0:
            return None
        return np.asarray(self.y * (plus - minus) < 0.0)

    # ---- where the line meets the ray ------------------------------------------------------------------------

    def _phi(self, t: float) -> Array:
        """Factors of the two bases at t."""
        return np.asarray(between(self.ends, t))

    def _caps(self, t: float) -> Array:
        """Caps of all samples at t."""
        return np.asarray(between(self.caps, t))

    def _meeting(self) -> float:
        """Parameter of the point of the line to start from: interior costs, on the ray if possible.

        Where the line is balanced at an end but for rounding, samples without a cost at that end have next to none
        where it meets the ray.
        """
        at_a, at_b = (float(self.y @ cap) for cap in self.caps)
        if at_a * at_b < 0.0 and min(abs(at_a), abs(at_b)) > _AT_AN_END * abs(at_a - at_b):
            return at_a / (at_a - at_b)
        inner_a, inner_b = ((cap[self.inside] > 0).all() for cap in self.caps)
        if inner_a and inner_b:
            cap_a, cap_b = self.caps
            share_a, share_b = abs(at_a) / cap_a.sum(), abs(at_b) / cap_b.sum()
            return 0.0 if share_a <= share_b else 1.0
        if inner_a:
            return 0.0
        return 1.0 if inner_b else 0.5

    def _in_span(self, t: float) -> float:
        """The point of the span that is nearest to one of the line, where all samples have costs if that can be."""
        nearest = float(np.clip(t, *self.span))
        if nearest == t or (self._caps(nearest)[self.inside] > 0.0).all():
            return nearest
        return 0.5 * sum(self.span)

    def _at_origin(self, caps: Array) -> tuple[tuple[State, Index], float]:
        """Basis where a ray sets out to some caps, and its speed: all are at their cap, and one positive holds b.

        It is the first to meet its margin. The first event is where the first negative does, ``t speed = 2``.
        """
        push = self.y * self.gram.matvec(self.y * caps)
        members = self.side & self.inside
        plus, minus = (np.argmax(np.where(each, push, -np.inf)) for each in members)
        state = np.where(self.inside, LEFT, OUT).astype(np.int8)
        return (state, np.array([plus])), float(push[plus] + push[minus])

    def _start_ray(self, bases: Array, to: Array) -> None:
        """Begin at the origin of the ray."""
        basis, speed = self._at_origin(to @ bases)
        self.problem.start(*basis, self._line(bases, np.zeros(2), to))
        self.problem.holds_until = min(1.0, 2.0 / speed if speed > 0.0 else 1.0) / 2.0

    def _line(self, bases: Array, a: Array, b: Array) -> Line:
        """Line on which the factors of the bases go from a to b."""
        return straight(self.problem, bases, a, b)

    def _reach(self, t: float) -> None:
        """Bring the basis to the interior point t of the line: from the warm start, or up the ray, then across."""
        if self.warm_start is not None and self._reach_from(self.warm_start, t):
            return
        if self.per_sample:
            bases, to = self._caps(t) * self.side, np.ones(2)
        else:
            bases, to = self.bases, self._phi(t)
        sums = bases.sum(axis=1)
        balanced = to
        if not _balanced(*(to * sums).tolist()):
            balanced = to.sum() / sums.sum() * sums[::-1]
        self._start_ray(bases, balanced)
        self.problem.record_from_here(keep=False)
        self.on_ray = True
        self.problem.follow(self.max_events)
        if balanced is not to:
            self.problem.set_line(self._line(bases, balanced, to))
            self.problem.follow(self.max_events)
        self.on_ray = False

    def _reach_from(self, warm_start: WarmStart, t: float) -> bool:
        """Follow the straight line from the caps of a warm start to those of the line at t; False if that fails."""
        caps = np.stack([warm_start.caps, self._caps(t)])
        here, there = np.array([1.0, 0.0]), np.array([0.0, 1.0])
        walk = CapsWalk(self.problem, caps, self.max_events)
        state = np.where(caps.any(axis=0), warm_start.state, OUT)
        try:
            if not self.problem.start_on(state, warm_start.margin, self._line(caps, here, here)):
                return False
            self.problem.record_from_here(keep=False)
            distance = np.abs(caps[1] - caps[0]).max()
            if distance > 4 * ROUNDING * caps[1].max():  # else the two are one up to rounding
                walk.go(here, there)
            state, margin, gone = self.problem.state, self.problem.index, ~self.inside
            if (gone & (state != OUT)).any():  # a sample without a cap on the line takes no part in it
                state = np.where(gone, OUT, state)
                on_line = self._line(self.bases, self._phi(t), self._phi(t))
                return self.problem.start_on(state, margin[~gone[margin]], on_line)
        except StoppedError:
            raise
        except DegeneratePathError:
            return False
        return True

    def _on_axis(self) -> Pieces:
        """Pieces of a line along which one class has no cost: no multiplier, w = 0, and the other class decides b."""
        b = float(np.sign((self.y * self.caps.sum(axis=0)).sum()))
        Q, nobody = self.gram.quadratic, np.zeros(0, dtype=np.int64)
        w = Q.zeros(2) if Q.width <= STORED_SLOPE else None
        state = np.full(self.y.size, RIGHT, dtype=np.int8)
        ends = np.array([0.0, 1.0])
        return Pieces.still(ends, nobody, np.zeros(0), np.full(2, b), 0.0, w, state)


def _balanced(plus: float, minus: float) -> bool:
    """Whether caps that add up to this in either class are those of a point of the ray."""
    return abs(plus - minus) <= 1e-12 * (plus + minus)


# ---- the path --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Path(Refining):
    """All optimal 2C-SVM classifiers on a segment of the cost plane, parametrised by t in [0, 1].

    Attributes
    ----------
    gram : Gram
    y : array of shape (n,)
    sample_weight : array of shape (n,)
        The cap of sample i is ``sample_weight[i] * C_{y_i}``.
    line : CostLine
        From t = 0 to t = 1.

    Notes
    -----
    Multipliers and w are continuous and piecewise affine in t; b is piecewise affine with jumps (every b between the
    two values is optimal at a jump; functions of t are continuous from the right there). Where b is not unique on a
    whole range of t, the path uses the chord between the values at its two ends.
    """

    sample_weight: Array = field(repr=False)
    line: CostLine

    def __repr__(self) -> str:
        start, stop = self.line.start, self.line.stop
        if np.array_equal(per_sample(start, self.y), per_sample(stop, self.y)):
            sizes = f"{self.y.size} samples, margin set of {int(self.n_margin.max())}"
            return f"Path(one point, {_written(start)}, {sizes})"
        return self._printed(f"{_written(start)} to {_written(stop)}")

    _about = ""  # the line of costs has its ends

    @property
    def _whole_line(self) -> LineOfCosts:
        return LineOfCosts(self.gram, self.y, self.sample_weight, self.line)

    def costs(self, t: float) -> Any:
        """Costs at t; SampleCosts on a line between such."""
        return self.line.at(self._inside(t))

    @property
    def _moves(self) -> dict[str, tuple[Any, Any]]:
        """Ends of the costs that move; on a line of SampleCosts those of all samples."""
        first, last = self.line.start, self.line.stop
        if isinstance(first, Costs):
            ends = {name: (cost, vars(last)[name]) for name, cost in vars(first).items()}
            return {name: (start, stop) for name, (start, stop) in ends.items() if start != stop}
        return {"costs": (first.values, last.values)}

    def caps(self, t: float) -> Array:
        """Upper bounds of the multipliers at t, shape (n,)."""
        return self._caps_of(self.costs(t))

    def _caps_of(self, costs: Costs | SampleCosts) -> Array:
        """Upper bounds of the multipliers at some costs, shape (n,)."""
        return self.sample_weight * per_sample(costs, self.y)

    def _trivial(self, t: float) -> bool:
        return self._without_a_class(self.line.at(t))

    def _without_a_class(self, costs: Costs | SampleCosts) -> bool:
        """Whether a class has no cost, and so there is no multiplier, and w = 0 exactly."""
        if isinstance(costs, Costs):
            return costs.C_plus == 0.0 or costs.C_minus == 0.0
        plus, minus = costs.values[self.y > 0], costs.values[self.y < 0]
        return not (plus.any() and minus.any())

    def _intercept(self, t: float, j: int | None = None) -> float:
        if self._trivial(t):
            label = float(np.sign(self.y @ self.caps(t)))  # of the class that has a cost
            if label:
                return label
        return super()._intercept(t, j)

    def _at(self, t: float) -> Solution:
        here = self.line.at(t)
        caps = self._caps_of(here)
        j, share = self._locate(t)
        W = self.pieces.w
        b = float(share.between(self.pieces.b0[j], self.pieces.b1[j]))
        if self._without_a_class(here):
            alpha = np.zeros_like(caps)
            w = None if W is None else np.zeros(W.shape[1])
            b = float(np.sign(self.y @ caps)) or b
        else:
            stored = self._within(t, caps, (j, share))
            alpha = np.minimum(np.maximum(stored, 0.0), caps)
            w = None if W is None else share.between(W[j], W[j + 1])
        low = np.zeros_like(alpha) if self._rounds(caps) else None
        classifier = Classifier(self.gram, self.y, caps, alpha, b, w)
        solution = make_solution(classifier, here, alpha_lo=low, source="path")
        if not self._doubted(j) or solution.certificate.holds(FAST_ERROR):
            return solution
        return self._better(t) or solution

    def _rounds(self, caps: Array) -> bool:
        if self._steep:
            return True
        # Or it shows next to multipliers that balance a cheap class: no unit is smaller than the least cap, if there is
        # one.
        rounding = STEEP * float(caps.max())
        if rounding <= CERTIFY * float(caps.min()):
            return False
        least_unit = float(balanced_units(self.y, caps).min())
        return rounding > CERTIFY * least_unit

    def _classifier_of(self, t: float, found: Precise) -> Classifier:
        """Classifier with the numbers of a precise solution, rounded to double."""
        alpha, _ = found.alpha
        return Classifier(self.gram, self.y, self.caps(t), alpha, found.b, found.w)

    def _solve(self, t: float, j: int) -> Precise | None:
        return self._solver.solve(self.caps(t), *self._basis(j))

    def _as_solution(self, t: float, found: Precise) -> Solution:
        _, low = found.alpha
        return make_solution(self._classifier_of(t, found), self.costs(t), alpha_lo=low, source="path")

    @cached_property
    def _solver(self) -> PreciseSolver:
        """Solver in double-double for the bases of the path."""
        return PreciseSolver.of_costs(self.gram, self.problem, self._steepest)

    def shadow_prices(self, t: float) -> ShadowPrices:
        """Derivatives of the optimal value in either cost at t: the weighted slacks of either class.

        Parameters
        ----------
        t : float
            In [0, 1].

        Returns
        -------
        ShadowPrices
            ``(dV/dC_plus, dV/dC_minus)``, with the interval of all of them where b is not unique.

        Examples
        --------
        >>> import paretoclf as pc
        >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
        >>> prices = pc.trace(svm, start=(0, 0), stop=(1, 1)).shadow_prices(1.0)
        >>> round(prices.C_plus, 6), round(prices.C_minus, 6)
        (1.333333, 1.333333)
        """
        return prices_of(self.at(t), self.sample_weight)

    def between(self, start: Array, stop: Array, **how: Any) -> Path:
        """Trace the path of these samples between other caps, shape (n,) each; ``how`` is for `trace_costs`."""
        return trace_costs(LabelledSamples(self.gram, self.y), SampleCosts(start), SampleCosts(stop), **how)

    def without(self, samples: Any, *, engine: str | None = None, progress: bool | None = None) -> Path:
        """Trace the same line without some samples: with costs per sample, theirs 0.

        The samples keep their positions, and their rows are still stored in the path and in its file. Where data must
        be erased, trace a problem that was made without them: its path is the same, up to rounding.

        Parameters
        ----------
        samples : int, int array of shape (k,), or bool array of shape (n,)
            Their positions, or a mask.
        engine, progress
            As for `trace`.

        Raises
        ------
        InputError
            If these are no positions, or one class has nobody left.
        DegeneratePathError
            If the path cannot be followed and proved.

        Examples
        --------
        >>> import paretoclf as pc
        >>> path = pc.trace(pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]), start=(0, 0), stop=(1, 1))
        >>> float(path.without(1).at(1.0).alpha[1])
        0.0
        """
        which = check_positions(samples, "samples", self.y.size)
        left = np.delete(self.y, which)
        if not ((left > 0).any() and (left < 0).any()):
            raise InputError(f"samples must leave somebody in each class, got {samples!r}: what is left has one label")
        ends = self._whole_line.caps
        ends[:, which] = 0.0
        return self.between(*ends, engine=engine, progress=progress)

    def leave_one_out(
        self,
        *,
        groups: Any = None,
        cv: Any = None,
        rng: Rng = 0,
        transformer: Any = None,
        engine: str | None = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> LeaveOneOutPath:
        """Score every sample by the optimum of all others, exactly and at every t.

        Where a sample has no multiplier the score is the path's own; the rest of the line is traced without it. Where
        an optimum has an interval of intercepts, one of them is taken, and a new fit may take another: such scores, and
        what is counted of them, are those of an optimum, and may differ from each other.

        Parameters
        ----------
        groups, cv, rng, transformer
            As for `leave_one_out`: samples that are left out together.
        engine, progress
            As for `trace`.
        n_jobs : int, optional
            Threads at work, as for joblib. The result does not depend on it.

        Returns
        -------
        LeaveOneOutPath
            ``scores``, one `PathScores` a sample; ``curve`` and ``best`` of held-out errors, ``roc``, ``area``,
            ``flips``.

        Raises
        ------
        InputError
            If groups or folds leave out nobody, everybody, or a sample twice; if a transformer is given.
        DegeneratePathError
            If a stretch without a sample cannot be followed and proved.

        Examples
        --------
        >>> import numpy as np
        >>> import paretoclf as pc
        >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0], [4.0]], [-1, -1, 1, -1, 1])
        >>> out = pc.trace(svm, start=(0.1, 0.9), stop=(0.9, 0.1)).leave_one_out()
        >>> out.passes(), out.curve.minimax()[0].objective
        (True, 1.0)
        >>> bool(np.allclose(out(0.25), pc.leave_one_out(svm, (0.3, 0.7)).scores))
        True
        """
        from paretoclf.path.deletion.along_line import leave_one_out_along  # which traces paths

        out = {"groups": groups, "cv": cv, "rng": rng, "transformer": transformer}
        return leave_one_out_along(self, out, engine=engine, n_jobs=n_jobs, progress=progress)

    def _most_multipliers(self) -> Array:
        """Bound on the sum of the multipliers at each knot: those of either class add up to the same."""
        ends = self._whole_line.caps
        sums_at_ends = [ends[:, side].sum(axis=1) for side in (self.y > 0, self.y < 0)]
        plus, minus = (between(sums, self.t) for sums in sums_at_ends)
        return np.asarray(2.0 * np.minimum(plus, minus))

    def _caps_at(self, points: Array) -> Array:
        return np.asarray(self.sample_weight[:, None] * self.line.per_sample(points, self.y))

    def _multipliers(self, points: Array) -> tuple[Array, Array]:
        """Multipliers as `alpha` has them, and caps, at increasing points, (n, k) each, in one walk."""
        alpha, caps = self._expand(points)
        np.clip(alpha, 0.0, caps, out=alpha)
        alpha[:, [self._trivial(float(t)) for t in points]] = 0.0
        return alpha, caps

    @property
    def soft_margin(self) -> SoftMargin:
        """Problem of the 2C-SVM along the line."""
        return SoftMargin.of(self.gram, self.y, self._whole_line.caps)

    def _slope_of(self, solution: Solution) -> Array | None:
        assert isinstance(solution.classifier, Classifier)
        return solution.classifier.slope

    def _arrays(self) -> Mapping[str, Any]:
        name = "sample_costs" if isinstance(self.line.start, SampleCosts) else "line"
        ends = np.array([_numbers(costs) for costs in (self.line.start, self.line.stop)])
        return {**super()._arrays(), name: ends, "sample_weight": self.sample_weight}


def _written(costs: Costs | SampleCosts) -> str:
    """Write costs for ``repr``."""
    return f"({costs.C_plus:g}, {costs.C_minus:g})" if isinstance(costs, Costs) else str(costs)


def _numbers(costs: Costs | SampleCosts) -> Array:
    """Array of the two costs, or of those of all samples."""
    return costs.values if isinstance(costs, SampleCosts) else np.array(tuple(costs))
