"""Stretches of a line on which samples are out, followed by one call of the core and proved together.

Each sets out from a basis of the path of all that has no multiplier of theirs. What the core cannot follow, what
vanishes at an end, and what the common proof leaves open is traced by itself, like any path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import ulp
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import DegeneratePathError
from paretoclf.common.progress import counted
from paretoclf.common.tolerances import FEW_DIGITS, OUTWARDS, SLACK_ROUNDING
from paretoclf.engine.boxes import make_tracker
from paretoclf.engine.segments import ManyLines
from paretoclf.engine.sets import OUT
from paretoclf.path.svm_lines.double_double import quadratic_of
from paretoclf.path.svm_lines.stages import BasisAt
from paretoclf.problem.lines import problem_of_costs
from paretoclf.proof.lines.knots import LineKnots, SignedSamples, part_of, prove_knots
from paretoclf.proof.segments.line_proof import LineProof
from paretoclf.roc.rounded_scores import with_intercepts, zero_rounding

if TYPE_CHECKING:
    from paretoclf.engine.tracker import CoreTracker

_NUMBERS = 2**19  # in the multipliers that one call of the core finds, as far as that can be told: a cache holds them
_VANISHING = 1e-6  # of what a cap is where a stretch begins: next to so little it is traced in stages


@dataclass(frozen=True)
class StretchTask:
    """Where some samples are out: from start to stop, and a basis of all others at a t in between."""

    samples: Index
    start: float
    stop: float
    known: BasisAt | None


@dataclass(frozen=True)
class Followed:
    """What is known of a stretch of k segments: the scores of the g samples that are out, and the proof.

    Attributes
    ----------
    t : array of shape (k + 1,)
        Breakpoints of the whole line.
    start, end : arrays of shape (g, k)
        Scores at both ends of each segment.
    proof : callable
        What is proved, as a `LineProof`.
    """

    t: Array
    start: Array
    end: Array
    proof: Callable[[], LineProof]


def follow(
    path: Any, wanted: Sequence[StretchTask], engine: str | None, n_jobs: int | None, progress: bool | None
) -> list[Followed]:
    """Follow stretches without their samples."""
    together = _Together(path, engine)
    batches = list(_batches(wanted, path))
    run = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    found = run(delayed(partial(_batch, together))(batch) for batch in batches)
    return [each for batch in counted(found, "without samples", len(batches), progress) for each in batch]


def without(path: Any, stretch: StretchTask, engine: str | None) -> Any:
    """The path of all others on a stretch, proved; from nothing where it cannot set out from the known basis."""
    costs = [_caps_without(path, t, stretch.samples) for t in (stretch.start, stretch.stop)]
    known = stretch.known
    if known is not None and all((each[side] > 0).any() for each in costs for side in (path.y > 0, path.y < 0)):
        u = (known.t - stretch.start) / (stretch.stop - stretch.start)
        try:
            return path.between(*costs, hub=BasisAt(u, known.state, known.margin), engine=engine, progress=False)
        except DegeneratePathError:
            pass
    return path.between(*costs, engine=engine, progress=False)


def _caps_without(path: Any, t: float, samples: Index) -> Array:
    caps = np.array(path.caps(t))
    caps[samples] = 0.0
    return caps


def _batches(wanted: Sequence[StretchTask], path: Any) -> Iterator[list[StretchTask]]:
    """As many together as the path of all makes expect to have so many numbers."""
    batch: list[StretchTask] = []
    size, ends = 0, path.pieces.t
    for each in wanted:
        first, last = np.searchsorted(ends, (each.start, each.stop))
        size += int(last - first + 1) * path.y.size
        batch.append(each)
        if size > _NUMBERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _batch(together: _Together, batch: Sequence[StretchTask]) -> list[Followed]:
    """Results of some stretches, in their order."""
    found = together.follow(batch)
    return [_alone(together, one) if known is None else known for one, known in zip(batch, found, strict=True)]


def _alone(together: _Together, stretch: StretchTask) -> Followed:
    """Result of one stretch that is traced by itself."""
    made = without(together.path, stretch, together.engine)
    part = made.training_scores(stretch.samples)
    return Followed(_along(part.t, stretch.start, stretch.stop), part.start, part.end, lambda: made.proof)


def _along(u: Array, start: Any, stop: Any) -> Array:
    """The t of the whole line at a share of a stretch of it."""
    return np.asarray(np.where(u == 1.0, stop, start + u * (stop - start)))


@dataclass(frozen=True)
class _Way:
    """From a basis to one end of a stretch."""

    stretch: int
    t: float
    to: float


class _Together:
    """Many stretches of one path, followed by one call and proved as arrays."""

    def __init__(self, path: Any, engine: str | None) -> None:
        self.path, self.engine, gram = path, engine, path.gram
        self.caps = np.stack([path.caps(0.0), path.caps(1.0)])
        self.form, self.mean = quadratic_of(gram, path.y, float(self.caps.max()))
        self.stores = self.form.stored_width > 0
        self.sides = np.column_stack([path.y > 0, path.y < 0]).astype(np.float64)
        self.possible = self._tracker() is not None and not sp.issparse(gram.features)
        self.possible &= self.mean is None or self.stores
        if self.possible:
            self.signed = SignedSamples(gram.quadratic, path.y, self.caps, gram.rounding, self.stores)

    def _caps(self, t: Array, samples: Index) -> Array:
        """Caps at some t without these samples, (k, n)."""
        caps = np.column_stack([1.0 - t, t]) @ self.caps
        caps[:, samples] = 0.0
        return np.asarray(caps)

    def _tracker(self) -> CoreTracker | None:
        return make_tracker(self.engine, problem_of_costs(self.form, self.caps))

    def follow(self, batch: Sequence[StretchTask]) -> list[Followed | None]:
        """Results of stretches that are followed together; None of those that are to be traced by themselves."""
        out: list[Followed | None] = [None] * len(batch)
        ways = [way for k, each in enumerate(batch) for way in self._ways(k, each)] if self.possible else []
        if not ways:
            return out
        bases = [batch[way.stretch].known for way in ways]
        tracker: Any = self._tracker()
        found = tracker.many_lines(
            self.caps,
            np.where(self.caps.any(axis=0), np.stack([basis.state for basis in bases if basis is not None]), OUT),
            [basis.margin for basis in bases if basis is not None],
            np.array([(way.t, way.to) for way in ways]),
        )
        many = _Segments(self, found, [batch[way.stretch].samples for way in ways], ways)
        good = np.ones(len(batch), dtype=np.bool_)
        bad = many.open | np.isin(np.arange(many.line.size), many.proof.failures())
        good[[ways[j].stretch for j in np.unique(many.line[bad]).tolist()]] = False
        good[[way.stretch for way, failed in zip(ways, found.failed, strict=True) if failed]] = False
        of: dict[int, list[int]] = {}
        for j, way in enumerate(ways):
            of.setdefault(way.stretch, []).append(j)
        for k, own in of.items():
            if good[k]:
                out[k] = many.read(own)
        return out

    def _ways(self, k: int, stretch: StretchTask) -> list[_Way]:
        """The ways from the known basis to both ends, if they are plain: no cap vanishes, and t has its digits."""
        if stretch.known is None:
            return []
        t = stretch.known.t
        ends = [end for end in (stretch.stop, stretch.start) if end != t]
        caps = self._caps(np.array([t, *ends]), stretch.samples)
        plain = (caps[1:] >= _VANISHING * caps[0]).all() and (caps @ self.sides > 0.0).all()
        if not plain or any(abs(end - t) <= FEW_DIGITS * ulp(max(end, t)) for end in ends):
            return []
        return [_Way(k, t, end) for end in ends]


class _Segments:
    """What one call has found: the segments of all lines, their proof, and the scores at their ends."""

    def __init__(self, task: _Together, found: ManyLines, samples: Sequence[Index], ways: Sequence[_Way]) -> None:
        self.task, self.found, self.samples = task, found, samples
        self.line = np.repeat(np.arange(len(ways)), np.diff(found.lines))
        self.backward = np.array([way.to < way.t for way in ways])
        ends = np.append(found.first, found.u.size)[found.lines]  # between the knots of one line and the next
        of = np.repeat(np.arange(len(ways)), np.diff(ends))
        start, stop = (np.array([getattr(way, name) for way in ways])[of] for name in ("t", "to"))
        self.t = _along(found.u, start, stop)
        self.b = found.eta.sum(axis=1)
        if task.mean is not None:
            self.b = self.b - found.w @ task.mean
        # Sums of the caps of either class, at t = 0 and at t = 1, of those who are there: (2, lines, 2).
        whole = task.caps @ task.sides
        first, last = np.stack([whole - task.caps[:, each] @ task.sides[each] for each in samples], axis=1)
        self.costs = (1.0 - self.t)[:, None] * first[of] + self.t[:, None] * last[of]
        w = found.w if task.stores else None
        knots = LineKnots(self.t, self.b, self.costs, found.sets, found.alpha, w, found.first, task.signed)
        self.proof = prove_knots(knots, task.path.gram.note)
        rounding = 2 * SLACK_ROUNDING * task.caps.sum(axis=1).max()
        #: Where the intercept may be one of many, or unknown.
        self.open = ~found.free | (rounding > OUTWARDS * self.proof.sizes.min(axis=1))

    def read(self, ways: Sequence[int]) -> Followed:
        """Result of the stretch that consists of these lines, forwards."""
        samples, gram = self.samples[ways[0]], self.task.path.gram
        segments, knots = self._forwards(ways)
        mapped = gram.mapped_rows(samples)
        products = self._products(samples, mapped, knots)
        most = gram.quadratic.largest_value(mapped) * 2.0 * self.costs[knots].min(axis=2).ravel()
        by_sample = np.moveaxis(products, 2, 0).reshape(samples.size, -1)
        scores = zero_rounding(by_sample.copy(), most).reshape(samples.size, 2, -1)
        scores = with_intercepts(scores, self.b[knots], 1.0)
        ends = np.append(self.t[knots[0]], self.t[knots[1, -1:]])
        return Followed(ends, scores[:, 0], scores[:, 1], lambda: part_of(self.proof, segments, ends))

    def _forwards(self, ways: Sequence[int]) -> tuple[Index, Index]:
        """Segments of these lines by growing t, and the knots at both their ends, shape (2, segments)."""
        segments, knots = [], []
        for way in sorted(ways, key=lambda way: not self.backward[way]):  # backwards ones first
            own = np.arange(self.found.lines[way], self.found.lines[way + 1])
            ends = self.found.first[own] + np.array([[0], [1]])
            segments.append(own[::-1] if self.backward[way] else own)
            knots.append(ends[::-1, ::-1] if self.backward[way] else ends)
        return np.concatenate(segments), np.concatenate(knots, axis=1)

    def _products(self, samples: Index, mapped: Array, knots: Index) -> Array:
        """Scores without intercepts of samples, whose rows of features are mapped, at knots, shape (2, segments, g)."""
        if self.task.stores:
            return np.asarray(self.found.w[knots] @ mapped.T)
        begin, end = knots.min(), knots.max() + 1
        signed = self.task.path.gram.rows(samples) * self.task.path.y
        return np.asarray((self.found.alpha[begin:end] @ signed.T)[knots - begin])
