"""Paths of costs: every optimal 2C-SVM on a line of the cost plane, and how it is found without a solver.

Bach, Heckerman & Horvitz (2006), section 3.1. On the ray ``C_plus sum_+ s_i = C_minus sum_- s_i`` (s_i the sample
weights) every multiplier is at its cap near the origin, so both the solution and its first breakpoint are known in
closed form. From a point of the ray any other point is reached along a line. A path is traced in both directions from
where its line meets the ray; one that ends at zero costs is traced *into* them, where nothing happens any more, since
out of them there is no closed-form start off the ray.

A path that is there already can be the *hub* of others: they set out from where their line comes closest to it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
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
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.common.progress import meter
from paretoclf.common.tolerances import CERTIFY, FAST_ERROR, LARGEST_PULL, ROUNDING, STEEP
from paretoclf.engine.box import AnyBox
from paretoclf.engine.boxes import make_tracker
from paretoclf.engine.engines import first_found, turns
from paretoclf.engine.reduction.program import between
from paretoclf.engine.segments import Line
from paretoclf.engine.sets import LEFT, OUT, RIGHT
from paretoclf.path.hub import Hub, hub_of
from paretoclf.path.journey import (
    BasisAt,
    CapsWalk,
    Found,
    Known,
    Stage,
    assemble,
    one_way,
    straight,
)
from paretoclf.path.on_pieces import proved
from paretoclf.path.pieces import Pieces
from paretoclf.path.precise import Precise, PreciseSolver, quadratic_of
from paretoclf.path.prices import ShadowPrices, prices_of
from paretoclf.path.refining import Refining
from paretoclf.problem.classifiers import Classifier
from paretoclf.problem.costs import CostLine, Costs, SampleCosts, per_sample
from paretoclf.problem.lines import LabelledSamples, LineOfCosts, Weighted, problem_of_costs
from paretoclf.problem.operator.signed import STORED_SLOPE
from paretoclf.problem.units import balanced_units
from paretoclf.proof.judged import make_solution
from paretoclf.proof.soft_margin import SoftMargin
from paretoclf.proof.solution import Solution

if TYPE_CHECKING:
    from paretoclf.path.deletion.along import LeaveOneOutPath  # a room above


def trace_costs(
    svm: Weighted,
    start: Any,
    stop: Any,
    *,
    hub: Path | Solution | BasisAt | None = None,
    engine: str | None = None,
    certify: bool = True,
    max_events: int | None = None,
    progress: bool | None = None,
) -> Path:
    """Every optimal classifier on the segment of the cost plane from start to stop; for the arguments see `trace`.

    The hub may be a basis of this very problem at one point of the line.
    """
    line = LineOfCosts.of(svm, start, stop)
    leaving, began = None if hub is None else hub_of(hub, line), time.perf_counter()

    def traced(name: str) -> Path:
        with meter(progress) as update:
            pieces = _Tracer(line, leaving, name, max_events, update).run()
        seconds = time.perf_counter() - began
        path = Path(line.gram, line.y, line.sample_weight, line.ends, pieces=pieces, seconds=seconds)
        return proved(path) if certify else path

    return first_found(partial(traced, name) for name in turns(engine))


_AT_AN_END = 1e-9  # share of the line in which it meets the ray at its end, up to rounding


class _Tracer:
    """One path: where to start, which way to go, and the joining of what was traced.

    A line is one of caps: its two *bases* are the weights of either class, and phi its two costs; or, with costs per
    sample, the caps at its two ends, and phi = (1 - t, t). The balanced ray has the weights of either class as its
    bases, those of the point where the line meets it if the costs are per sample.
    """

    def __init__(
        self,
        line: LineOfCosts,
        hub: Hub | None,
        engine: str | None,
        max_events: int | None,
        progress: Callable[[float], Any] | None,
    ) -> None:
        self.line, self.y, self.gram, ends = line, line.y, line.gram, line.ends
        self.engine, self.max_events, self.progress = engine, max_events, progress
        positive = self.y > 0
        self.side = np.array([positive, ~positive])
        self.per_sample = isinstance(ends.start, SampleCosts)
        if self.per_sample:
            self.bases, self.ends = line.caps, np.eye(2)
        else:
            self.bases, self.ends = line.sample_weight * self.side, np.array([tuple(ends.start), tuple(ends.stop)])
        self.caps = self.ends @ self.bases
        self.inside: Mask = np.asarray(self.caps.any(axis=0))
        self.sums = (self.caps[:, None] * self.side).sum(axis=2).tolist()  # at both ends, of either class
        pull = max(plus + minus for plus, minus in self.sums) * math.sqrt(self.gram.quadratic.length2)
        require_scale_of_costs(pull, "the sum of the costs times the largest length of a sample", LARGEST_PULL)
        inner = hub is not None and all((self._caps(hub.t)[side] > 0.0).any() for side in self.side)  # off the axes
        self.hub = hub if inner else None

    def run(self) -> Pieces:
        """Trace and join."""
        if any(first == last == 0.0 for first, last in zip(*self.sums, strict=True)):
            return self._on_axis()
        form, self.mean = quadratic_of(self.gram, self.y, float(self.caps.max()))
        problem = problem_of_costs(form, self.caps)
        at_origin = [max(sums) == 0.0 for sums in self.sums]
        from_origin = any(at_origin) and all(_balanced(*sums) for sums in self.sums) and not self.per_sample
        tracker = make_tracker(self.engine, problem)
        if tracker is None:
            found = self._by_any_engine(AnyBox(problem, self.engine, self.max_events), from_origin)
        else:
            self.problem = tracker
            found = self._walked(at_origin[0], from_origin)
        Q, signs = self.gram.quadratic, [float(np.sign(plus - minus)) for plus, minus in self.sums]
        alone, labels = (self._alone(0), self._alone(1)), (signs[0], signs[1])
        known = Known(Q, self.caps, self.gram.diagonal(), alone, labels, from_origin)
        return assemble(found, self.mean, bool(Q.width), known)

    def _by_any_engine(self, box: AnyBox, from_origin: bool) -> Found:
        """The whole line at once, with the basis of the hub as a guess; or out of the origin, whose basis is known."""
        start, stop = self.ends
        up = not from_origin or not start.any()
        line = straight(box, self.bases, *((start, stop) if up else (stop, start)))
        basis = None if self.hub is None else (self.hub.state, self.hub.margin)
        log = box.along(line, self._at_origin(line.caps(1.0))[0] if from_origin else basis, self.progress)
        if from_origin:
            log = log.from_nothing(self.caps.sum(axis=0))
        return one_way(log, Stage(0, log.segments, *((0.0, 1.0) if up else (1.0, 0.0))))

    def _walked(self, up: bool, from_origin: bool) -> Found:
        """From where the line meets the ray (or from the hub) to both of its ends; out of the origin, up or down."""
        self.walk = CapsWalk(self.problem, self.bases, self.max_events, self.progress)
        start, stop = self.ends
        alone = self._alone(0), self._alone(1)
        if from_origin:
            self._start_ray(self.bases, stop if up else start)
            self.problem.record_from_here()
            stage = self.walk.stage(*((0.0, 1.0) if up else (1.0, 0.0)))
            return one_way(self.problem.log.from_nothing(self.caps.sum(axis=0)), stage)
        if np.array_equal(*self.caps):
            self._reach(0.0)
            self.problem.record_from_here()
            stage = self.walk.stage(0.0, 1.0, self._line(self.bases, start, stop))
            return one_way(self.problem.log, stage)
        t_meet = self._meeting() if self.hub is None else self.hub.t
        meet = self._phi(t_meet)
        self._reach(t_meet)
        stages = self.walk.stages
        return self.walk.both_ways(
            lambda: stages(meet, stop, t_meet, 1.0, alone[1]) if t_meet < 1.0 else [],
            lambda: stages(meet, start, t_meet, 0.0, alone[0]) if t_meet > 0.0 else [],
        )

    def _alone(self, end: int) -> Mask | None:
        """Where a class has no cost at an end: its samples, if the other class has some. None where both have costs."""
        plus, minus = self.sums[end]
        return None if min(plus, minus) > 0.0 else np.asarray(self.y * (plus - minus) < 0.0)

    # ---- where the line meets the ray ------------------------------------------------------------------------

    def _phi(self, t: float) -> Array:
        return np.asarray(between(self.ends, t))

    def _caps(self, t: float) -> Array:
        return np.asarray(between(self.caps, t))

    def _meeting(self) -> float:
        """Parameter of the point of the line to start from: interior costs, on the ray if possible.

        Where the line is balanced at an end but for rounding, costs are next to none there of who has none at the end.
        """
        at_a, at_b = (float(self.y @ cap) for cap in self.caps)
        if at_a * at_b < 0.0 and min(abs(at_a), abs(at_b)) > _AT_AN_END * abs(at_a - at_b):
            return at_a / (at_a - at_b)
        inner_a, inner_b = ((cap[self.inside] > 0).all() for cap in self.caps)
        if inner_a and inner_b:
            share = [abs(at) / cap.sum() for at, cap in zip((at_a, at_b), self.caps, strict=True)]
            return 0.0 if share[0] <= share[1] else 1.0
        return 0.0 if inner_a else 1.0 if inner_b else 0.5

    def _at_origin(self, caps: Array) -> tuple[tuple[State, Index], float]:
        """Basis where a ray sets out to some caps, and its speed: all at their cap, b is held by one positive.

        It is the first to meet its margin. The first event is where the first negative does, ``t speed = 2``.
        """
        push = self.y * self.gram.matvec(self.y * caps)
        plus, minus = (np.argmax(np.where(side & self.inside, push, -np.inf)) for side in self.side)
        state = np.where(self.inside, LEFT, OUT).astype(np.int8)
        return (state, np.array([plus])), float(push[plus] + push[minus])

    def _start_ray(self, bases: Array, to: Array) -> None:
        """Begin at the origin of the ray."""
        basis, speed = self._at_origin(to @ bases)
        self.problem.start(*basis, self._line(bases, np.zeros(2), to))
        self.problem.holds_until = min(1.0, 2.0 / speed if speed > 0.0 else 1.0) / 2.0

    def _line(self, bases: Array, a: Array, b: Array) -> Line:
        return straight(self.problem, bases, a, b)

    def _reach(self, t: float) -> None:
        """Bring the basis to the interior point t of the line: from the hub, or up the ray, then across."""
        if self.hub is not None and self._reach_from_hub(self.hub, t):
            return
        bases, to = (self._caps(t) * self.side, np.ones(2)) if self.per_sample else (self.bases, self._phi(t))
        sums = bases.sum(axis=1)
        balanced = to if _balanced(*(to * sums).tolist()) else to.sum() / sums.sum() * sums[::-1]
        self._start_ray(bases, balanced)
        self.problem.record_from_here(keep=False)
        self.problem.follow(self.max_events)
        if balanced is not to:
            self.problem.set_line(self._line(bases, balanced, to))
            self.problem.follow(self.max_events)

    def _reach_from_hub(self, hub: Hub, t: float) -> bool:
        """Follow the straight line from the caps of the hub to those of the line at t; False if that fails."""
        caps, here, there = np.stack([hub.caps, self._caps(t)]), np.array([1.0, 0.0]), np.array([0.0, 1.0])
        walk = CapsWalk(self.problem, caps, self.max_events)
        state, margin = np.where(caps.any(axis=0), hub.state, OUT), hub.margin
        try:
            if not self.problem.start_on(state, margin, self._line(caps, here, here)):
                return False
            self.problem.record_from_here(keep=False)
            if np.abs(caps[1] - caps[0]).max() > 4 * ROUNDING * caps[1].max():  # the two are not one up to rounding
                walk.stages(here, there, 0.0, 1.0)
            state, margin, gone = self.problem.state, self.problem.index, ~self.inside
            if (gone & (state != OUT)).any():  # who has no cap on the line takes no part in it
                on_line = self._line(self.bases, self._phi(t), self._phi(t))
                return self.problem.start_on(np.where(gone, OUT, state), margin[~gone[margin]], on_line)
        except DegeneratePathError:
            return False
        return True

    def _on_axis(self) -> Pieces:
        """One class has no cost all along: no multiplier, w = 0, and the other class decides b."""
        b = float(np.sign((self.y * self.caps.sum(axis=0)).sum()))
        Q, nobody = self.gram.quadratic, np.zeros(0, dtype=np.int64)
        w = Q.zeros(2) if Q.width <= STORED_SLOPE else None
        state = np.full(self.y.size, RIGHT, dtype=np.int8)
        return Pieces.still(np.array([0.0, 1.0]), nobody, np.zeros(0), np.full(2, b), 0.0, w, state)


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
        a, b = (
            f"({c.C_plus:g}, {c.C_minus:g})" if isinstance(c, Costs) else c for c in (self.line.start, self.line.stop)
        )
        if np.array_equal(per_sample(self.line.start, self.y), per_sample(self.line.stop, self.y)):
            return f"Path(one point, {a}, {self.y.size} samples, margin set of {int(self.n_margin.max())})"
        return self._printed(f"{a} to {b}")

    _about = ""  # the line of costs has its ends

    @property
    def _whole_line(self) -> LineOfCosts:
        return LineOfCosts(self.gram, self.y, self.sample_weight, self.line)

    def costs(self, t: float) -> Any:
        """Costs at t; SampleCosts on a line between such."""
        return self.line.at(self._inside(t))

    @property
    def _moves(self) -> dict[str, tuple[Any, Any]]:
        """The costs that move; on a line of SampleCosts those of all samples."""
        first, last = self.line.start, self.line.stop
        if isinstance(first, Costs):
            return {name: (cost, vars(last)[name]) for name, cost in vars(first).items() if cost != vars(last)[name]}
        return {"costs": (first.values, last.values)}

    def caps(self, t: float) -> Array:
        """Upper bounds of the multipliers at t, shape (n,)."""
        return self._caps_of(self.costs(t))

    def _caps_of(self, costs: Costs | SampleCosts) -> Array:
        return self.sample_weight * per_sample(costs, self.y)

    def _trivial(self, t: float) -> bool:
        return self._without_a_class(self.line.at(t))

    def _without_a_class(self, costs: Costs | SampleCosts) -> bool:
        """A class has no cost: no multiplier and w = 0 exactly, where rounding would count infinitely against 0."""
        if isinstance(costs, Costs):
            return costs.C_plus == 0.0 or costs.C_minus == 0.0
        return not (costs.values[self.y > 0].any() and costs.values[self.y < 0].any())

    def _intercept(self, t: float, j: int | None = None) -> float:
        lead = float(np.sign(self.y @ self.caps(t))) if self._trivial(t) else 0.0
        return lead or super()._intercept(t, j)

    def _at(self, t: float) -> Solution:
        here, (j, share), P = self.line.at(t), self._locate(t), self.pieces
        caps, b, W = self._caps_of(here), float(share.between(P.b0[j], P.b1[j])), P.w
        if self._without_a_class(here):
            alpha, w = np.zeros_like(caps), None if W is None else np.zeros(W.shape[1])
            b = float(np.sign(self.y @ caps)) or b
        else:
            alpha = np.minimum(np.maximum(self._within(t, caps, (j, share)), 0.0), caps)
            w = None if W is None else share.between(W[j], W[j + 1])
        low = np.zeros_like(alpha) if self._rounds(caps) else None
        stored = make_solution(Classifier(self.gram, self.y, caps, alpha, b, w), here, alpha_lo=low, source="path")
        if not self._doubted(j) or stored.certificate.holds(FAST_ERROR):
            return stored
        return self._better(t) or stored

    def _rounds(self, caps: Array) -> bool:
        if self._steep:
            return True
        # Or it shows next to multipliers that balance a cheap class: no unit is smaller than the least cap, if there is
        # one.
        seen = STEEP * float(caps.max())
        return seen > CERTIFY * float(caps.min()) and seen > CERTIFY * float(balanced_units(self.y, caps).min())

    def _intercepts(self, t: float, found: Precise) -> tuple[float, float]:
        return Classifier(self.gram, self.y, self.caps(t), found.alpha[0], found.b, found.w).interval_at_origin

    def _solve(self, t: float, j: int) -> Precise | None:
        return self._solver.solve(self.caps(t), *self._basis(j))

    def _as_solution(self, t: float, found: Precise) -> Solution:
        classifier = Classifier(self.gram, self.y, self.caps(t), found.alpha[0], found.b, found.w)
        return make_solution(classifier, self.costs(t), alpha_lo=found.alpha[1], source="path")

    @cached_property
    def _solver(self) -> PreciseSolver:
        return PreciseSolver.of_costs(self.gram, self.problem, self._steepest)

    def _value(self, t: float) -> float:
        """Piecewise quadratic, concave (Bach et al. 2006, section 3)."""
        return 0.0 if self._trivial(t) else super()._value(t)

    def shadow_prices(self, t: float) -> ShadowPrices:
        """What a unit of either cost adds to the optimal value at t: the weighted slacks of either class.

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
        """The path of the same samples between other caps, shape (n,) each; ``how`` is for `trace_costs`."""
        return trace_costs(LabelledSamples(self.gram, self.y), SampleCosts(start), SampleCosts(stop), **how)

    def without(self, samples: Any, *, engine: str | None = None, progress: bool | None = None) -> Path:
        """The path on the same line if some samples were not there: of costs per sample, theirs 0.

        Parameters
        ----------
        samples : int array of shape (k,)
            Their positions.
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
        >>> float(path.without([1]).at(1.0).alpha[1])
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

        Where a sample has no multiplier the score is the path's own; the rest of the line is traced without it.

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
        from paretoclf.path.deletion.along import leave_one_out_along  # which traces paths

        out = {"groups": groups, "cv": cv, "rng": rng, "transformer": transformer}
        return leave_one_out_along(self, out, engine=engine, n_jobs=n_jobs, progress=progress)

    def _most_multipliers(self) -> Array:
        """A bound on the sum of the multipliers at each knot: those of either class add up to the same."""
        ends = self._whole_line.caps
        sums = [between(ends[:, one].sum(axis=1), self.t) for one in (self.y > 0, self.y < 0)]
        return np.asarray(2.0 * np.minimum(*sums))

    def _caps_at(self, points: Array) -> Array:
        return np.asarray(self.sample_weight[:, None] * self.line.per_sample(points, self.y))

    def _multipliers(self, points: Array) -> tuple[Array, Array]:
        """Multipliers and caps at increasing points, (n, k) each: those of `alpha` and `caps`, in one walk."""
        alpha, caps = self._expand(points)
        np.clip(alpha, 0.0, caps, out=alpha)
        alpha[:, [self._trivial(float(t)) for t in points]] = 0.0
        return alpha, caps

    @property
    def soft_margin(self) -> SoftMargin:
        """The 2C-SVM along the line."""
        return SoftMargin.of(self.gram, self.y, self._whole_line.caps)

    @staticmethod
    def _rule(solution: Solution) -> Classifier:
        assert isinstance(solution.classifier, Classifier)
        return solution.classifier

    def _slope_of(self, solution: Solution) -> Array | None:
        return self._rule(solution).slope

    def _own(self) -> dict[str, Any]:
        name = "sample_costs" if isinstance(self.line.start, SampleCosts) else "line"
        ends = np.array([_numbers(costs) for costs in (self.line.start, self.line.stop)])
        return {name: ends, "sample_weight": self.sample_weight}


def _numbers(costs: Costs | SampleCosts) -> Array:
    return costs.values if isinstance(costs, SampleCosts) else np.array(tuple(costs))
