"""Lines of costs that leave from one known solution, and the optima at their ends, each with its certificate.

A sample that is left out is one whose cost goes to 0. Where its multiplier is 0 nothing else moves; else the tracker
follows its line from the basis that is known, which takes a few exchanges where a new fit starts from nothing. An end
that its certificate does not prove is traced anew, from the origin of the balanced ray.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask, State
from paretoclf.common.errors import DegeneratePathError
from paretoclf.common.progress import PathLimits
from paretoclf.common.tolerances import AT_BOUND
from paretoclf.engine.box import AnyBox
from paretoclf.engine.boxes import make_tracker
from paretoclf.engine.segments import OnBasis
from paretoclf.engine.sets import LEFT, OUT
from paretoclf.path.svm_lines.double_double import quadratic_of
from paretoclf.path.svm_lines.stages import CapsWalk, straight
from paretoclf.problem.intercepts import intercept_interval, point_of
from paretoclf.problem.lines import problem_of_costs
from paretoclf.problem.samples import Samples
from paretoclf.proof.points.hinge import certify_hinges
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.verdicts.certificate import Certificate

if TYPE_CHECKING:
    from paretoclf.engine.tracker import CoreTracker

_NUMBERS = 2**18  # in the multipliers and slopes of the lines that are worked through together: a cache holds them


@dataclass(frozen=True)
class Move:
    """A line: some samples, and the caps that they go to."""

    samples: Index
    caps: Array


@dataclass(frozen=True)
class Ends:
    """Optima at the ends of k lines.

    Attributes
    ----------
    caps, alpha : arrays of shape (n, k)
    w : array of shape (d, k), optional
        Where there are features.
    b, low, high : arrays of shape (k,)
        The intercept, the middle of all optimal ones, and the ends of their interval; of features as the Gram measures
        them.
    certificates : list of Certificate
    """

    caps: Array = field(repr=False)
    alpha: Array = field(repr=False)
    w: Array | None = field(repr=False)
    b: Array
    low: Array
    high: Array
    certificates: list[Certificate] = field(repr=False)


class Departures:
    """A point of a path, to leave from.

    Parameters
    ----------
    path : Path
    t : float
        Where on it.
    engine, max_events
        As for `trace`.
    """

    def __init__(self, path: Any, t: float, *, engine: str | None = None, max_events: int | None = None) -> None:
        self.path, self.t, self.gram, self.y = path, t, path.gram, path.y
        self.engine, self.max_events = engine, max_events
        self.caps, self.alpha = path.caps(t), path.alpha(t)
        self.state, self.margin = path.basis(t)
        self.state[(self.caps == 0.0) & (self.state == LEFT)] = OUT  # not there, unless a line brings it

    @cached_property
    def here(self) -> Ends:
        """The optimum that lines leave from."""
        w = self.path.slope(self.t)[:, None] if self.gram.quadratic.width else None
        b = np.array([self.path.at(self.t).classifier.b_at_origin])
        ends = self._judged(Ends(self.caps[:, None], self.alpha[:, None], w, b, b.copy(), b.copy(), []))
        if not ends.certificates[0].holds():
            ends.certificates[0] = self.path.at(self.t).certificate
        return ends

    def scores(self, ends: Ends, k: int, samples: Any) -> Array:
        """Scores of training samples at one end, without intercept."""
        if ends.w is not None:
            return np.asarray(self._features[samples] @ ends.w[:, k])
        return np.asarray(self.gram.rows(samples) @ (self.y * ends.alpha[:, k]))

    def sizes(self, ends: Ends, k: int, samples: Any) -> Array:
        """Size that rounding of these scores is relative to: the sum of terms, the intercept, and the margin's 1."""
        if ends.w is not None:
            terms = np.asarray(abs(self._features[samples]) @ np.abs(ends.w[:, k]))
        else:
            terms = np.abs(self.gram.rows(samples)) @ ends.alpha[:, k]
        return np.asarray(1.0 + abs(ends.b[k]) + terms)

    def ends(self, moves: Sequence[Move]) -> Iterator[Ends]:
        """The optima at the ends of lines, in their order, many at a time."""
        n, d = self.y.size, self.gram.quadratic.width
        width = max(16, _NUMBERS // (2 * n + d))
        for first in range(0, len(moves), width):
            yield self._block(moves[first : first + width])

    def basis_without(self, samples: Index) -> tuple[State, Index] | None:
        """Sets and margin set of the optimum without samples; None where their line cannot be followed."""
        caps = self.caps.copy()
        caps[samples] = 0.0
        move = Move(samples, np.zeros(samples.size))
        if not self._two_sided(caps[:, None])[0] or self._follow(move, caps) is None:
            return None
        assert self._engine is not None
        engine = self._engine[0]
        known, margin = engine.basis if isinstance(engine, AnyBox) else (engine.state, engine.index)
        state = known.copy()
        state[samples] = OUT
        return state, margin[~np.isin(margin, samples)]

    @property
    def _features(self) -> Samples:
        return self.gram.features

    def _block(self, moves: Sequence[Move]) -> Ends:
        k, n = len(moves), self.y.size
        caps, alpha, b = np.repeat(self.caps[:, None], k, axis=1), np.zeros((n, k)), np.zeros(k)
        w = np.zeros((self.gram.quadratic.width, k)) if self.gram.quadratic.width else None
        for j, move in enumerate(moves):
            caps[move.samples, j] = move.caps
        anew = ~self._two_sided(caps)
        follows = [int(j) for j in np.flatnonzero(~anew)]
        many = self._follow_many([moves[j] for j in follows])
        if many is not None:
            alpha[:, follows], b[follows], slopes, anew[follows] = many
            if w is not None:
                w[:, follows] = slopes
        else:
            for j in follows:
                found = self._follow(moves[j], caps[:, j])
                anew[j] = found is None
                if found is None:
                    continue
                alpha[:, j], b[j], slope = found
                if w is not None:
                    w[:, j] = slope
        ends = self._judged(Ends(caps, alpha, w, b, b.copy(), b.copy(), []))
        for j in range(k):
            if anew[j] or not ends.certificates[j].holds():
                alpha[:, j], b[j], slope, ends.certificates[j] = self._anew(caps[:, j])
                if w is not None:
                    w[:, j] = slope
                self._judge_anew(ends, j)
        return ends

    def _two_sided(self, caps: Array) -> Mask:
        """Whether both classes have costs, at both ends of each line."""
        ends = np.column_stack([self.caps, caps])
        plus, minus = (np.asarray(ends[side].any(axis=0)) for side in (self.y > 0, self.y < 0))
        both = plus & minus
        return np.asarray(both[1:] & both[0])

    # ---- along a line --------------------------------------------------------------------------------------------

    @cached_property
    def _engine(self) -> tuple[CoreTracker | AnyBox, Array | None, Any] | None:
        """The engine on the basis that lines leave from, the point that its samples are centred at, and that basis."""
        form, mean = quadratic_of(self.gram, self.y, float(self.caps.max()))
        n, caps = self.y.size, np.stack([self.caps, self.caps])
        stated = problem_of_costs(form, caps)
        problem = make_tracker(self.engine, stated)
        if problem is None:
            return AnyBox(stated, self.engine, self.max_events), mean, (self.state, self.margin)
        try:
            here = np.array([1.0, 0.0])
            line = straight(problem, np.stack([self.caps, np.zeros(n)]), here, here)
            if not problem.start_on(self.state, self.margin, line):
                return None
        except DegeneratePathError:
            return None
        problem.record_from_here(keep=False)
        return problem, mean, problem.snapshot()

    def _follow_many(self, moves: Sequence[Move]) -> tuple[Array, Array, Any, Mask] | None:
        """Follow lines on which one sample moves, by one call of a tracker that has it."""
        if self._engine is None or not moves or any(move.samples.size != 1 for move in moves):
            return None
        problem, mean, here = self._engine
        if isinstance(problem, AnyBox):
            return None
        samples, to = (np.concatenate(parts) for parts in zip(*((m.samples, m.caps) for m in moves), strict=True))
        found = problem.line_ends(here, self.caps, samples, to, self.max_events)
        caps = np.repeat(self.caps[None], samples.size, axis=0)
        caps[np.arange(samples.size), samples] = to
        alpha, b, w = np.clip(found.alpha, 0.0, caps), found.eta.sum(axis=1), None
        if self.gram.quadratic.width:
            w = found.w if found.w.shape[1] else self.gram.quadratic.slope((alpha * self.y).T).T
            b = b - w @ mean if mean is not None else b
            w = w.T
        return alpha.T, b, w, found.failed

    def _follow(self, move: Move, caps: Array) -> tuple[Array, float, Array | None] | None:
        """Multipliers, intercept and slope at the end of a line; None where it cannot be followed."""
        if self._engine is None:
            return None
        problem, mean, here = self._engine
        moving = np.zeros(self.y.size, dtype=np.bool_)
        moving[move.samples] = True
        first, last = (np.where(moving, end, 0.0) for end in (self.caps, caps))
        still = np.where(moving, 0.0, self.caps)
        if isinstance(problem, AnyBox):
            return self._follow_alone(problem, mean, np.stack([still + first, still + last]))
        problem.restore(here)
        try:
            if move.samples.size == 1:  # that alone moves in proportion: its cap is exact all along
                unit = np.stack([still, moving.astype(float)])
                start, stop = (np.array([1.0, float(end[move.samples[0]])]) for end in (first, last))
                problem.set_line(straight(problem, unit, start, stop))
                problem.record_from_here(keep=False)
                problem.follow(self.max_events)
            else:
                bases = np.stack([still + first, still + last])
                walk = CapsWalk(problem, bases, self.max_events)
                problem.record_from_here(keep=False)
                walk.go(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
            return self._read(problem, problem.solution(1.0), mean, caps)
        except DegeneratePathError:
            return None

    def _follow_alone(self, box: AnyBox, mean: Array | None, caps: Array) -> tuple[Array, float, Array | None] | None:
        """Follow one line by the engine of any program, between caps (2, n)."""
        try:
            log = box.along(straight(box, caps, *np.eye(2)), (self.state, self.margin))
        except DegeneratePathError:
            return None
        alpha, b = np.clip(box.weights(1.0), 0.0, caps[1]), float(log.eta[-1, 1].sum())
        w = self.gram.quadratic.slope(alpha * self.y) if self.gram.quadratic.width else None
        return alpha, b if w is None or mean is None else b - float(w @ mean), w

    def _read(
        self, problem: CoreTracker, found: OnBasis, mean: Array | None, caps: Array
    ) -> tuple[Array, float, Array | None]:
        alpha = np.where(problem.state == LEFT, caps, 0.0)
        alpha[problem.index] = found.a[0]
        b = float(found.eta[:, 0].sum())
        if found.w is not None and mean is not None:
            b -= float(found.w @ mean)
        return np.clip(alpha, 0.0, caps), b, found.w

    def _anew(self, caps: Array) -> tuple[Array, float, Array | None, Certificate]:
        """The optimum at these caps, by a path of its own."""
        how: dict[str, Any] = {"engine": self.engine, "limits": PathLimits(self.max_events), "progress": False}
        solution = self.path.between(caps, caps, **how).at(0.0)
        rule: Any = solution.classifier
        slope = rule.w if self.gram.quadratic.width else None
        return solution.alpha, rule.b_at_origin, slope, solution.certificate

    # ---- what is known of the ends -------------------------------------------------------------------------------

    def _judged(self, ends: Ends) -> Ends:
        """With the middles of the intervals of all optimal intercepts, and certificates."""
        for k in np.flatnonzero(~free(ends.alpha, ends.caps)):
            scores = self.scores(ends, int(k), slice(None))
            ends.low[k], ends.high[k] = self.interval_of(ends.caps[:, k], ends.alpha[:, k], scores)
            ends.b[k] = point_of((ends.low[k], ends.high[k]))
        found = certify_hinges(SoftMargin.of(self.gram, self.y, ends.caps), ends.alpha, ends.b, ends.w)
        return replace(ends, certificates=found)

    def _judge_anew(self, ends: Ends, k: int) -> None:
        """Judge one end that was traced anew; its own intercept and certificate stay if they are better."""
        one = slice(k, k + 1)
        b, low, high = (ends.b[one].copy() for _ in range(3))
        slope = None if ends.w is None else ends.w[:, one]
        judged = self._judged(Ends(ends.caps[:, one], ends.alpha[:, one], slope, b, low, high, []))
        ends.low[k], ends.high[k] = judged.low[0], judged.high[0]
        if judged.certificates[0].holds():
            ends.b[k], ends.certificates[k] = judged.b[0], judged.certificates[0]

    def interval_of(self, caps: Array, alpha: Array, scores: Array) -> tuple[float, float]:
        """All optimal intercepts at these caps, for optimal multipliers and the scores that they give."""
        return intercept_interval(self.y, caps, alpha, scores)


def free(alpha: Array, caps: Array) -> Mask:
    """Whether some multiplier is off both of its bounds, of each column: then there is one optimal intercept."""
    least = AT_BOUND * np.minimum(caps, alpha.max(axis=0, initial=0.0))
    return np.asarray(((alpha > least) & (caps - alpha > least)).any(axis=0))
