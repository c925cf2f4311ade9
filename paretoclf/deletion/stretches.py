"""Stretches of a line on which samples are out, followed by one call of the core and proved together.

Each sets out from a basis of the path of all that has no multiplier of theirs. What the core cannot follow, what
vanishes at an end, and what the common proof leaves open is traced by itself, like any path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import ulp
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed

from paretoclf.checks import Array, Index, Mask
from paretoclf.errors import DegeneratePathError
from paretoclf.lines import problem_of_costs
from paretoclf.path.engines import Tracker, make_tracker
from paretoclf.path.journey import BasisAt
from paretoclf.path.precise import quadratic_of
from paretoclf.path.scores import zero_rounding
from paretoclf.path.segments import ManyLines
from paretoclf.path.sets import LEFT, OUT
from paretoclf.progress import counted
from paretoclf.proof import LineProof
from paretoclf.proof.knots import LineKnots, SignedSamples, part_of, prove_knots
from paretoclf.tolerances import AT_BOUND, FEW_DIGITS, ONE_COLUMN, OUTWARDS, SLACK_ROUNDING

_SETS = 2**22  # of the segments that one call of the core finds, as far as that can be told
_KNOTS = 2**17  # numbers in the multipliers of the segments that are proved together: a cache holds them
_TINY = float(np.finfo(float).tiny)
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
        Of the whole line.
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
    """As many together as the path of all makes expect that their sets fit into memory."""
    batch: list[StretchTask] = []
    size, ends = 0, path.pieces.t
    for each in wanted:
        first, last = np.searchsorted(ends, (each.start, each.stop))
        size += int(last - first + 1) * path.y.size
        batch.append(each)
        if size > _SETS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _batch(together: _Together, batch: Sequence[StretchTask]) -> list[Followed]:
    """What is known of some stretches, in their order."""
    found = together.follow(batch)
    return [_alone(together, one) if known is None else known for one, known in zip(batch, found, strict=True)]


def _alone(together: _Together, stretch: StretchTask) -> Followed:
    """The same of one that is traced by itself."""
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
        tracker = self._tracker()
        self.possible = hasattr(tracker, "many_lines") and not sp.issparse(gram.features)
        self.possible &= self.mean is None or self.stores
        if self.possible:
            self.signed = SignedSamples(gram.quadratic, path.y, self.caps, gram.rounding, self.stores)

    def _caps(self, t: Array, samples: Index) -> Array:
        """Caps at some t without these samples, (k, n)."""
        caps = np.column_stack([1.0 - t, t]) @ self.caps
        caps[:, samples] = 0.0
        return np.asarray(caps)

    def _tracker(self) -> Tracker:
        return make_tracker(self.engine, problem_of_costs(self.form, self.caps))

    def follow(self, batch: Sequence[StretchTask]) -> list[Followed | None]:
        """What is known of each stretch; None of those that are to be traced by themselves."""
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
        proof = many.proved()
        good = np.ones(len(batch), dtype=np.bool_)
        bad = many.open | np.isin(np.arange(many.line.size), proof.failures())
        good[[ways[j].stretch for j in np.unique(many.line[bad]).tolist()]] = False
        good[[way.stretch for way, failed in zip(ways, found.failed, strict=True) if failed]] = False
        of: dict[int, list[int]] = {}
        for j, way in enumerate(ways):
            of.setdefault(way.stretch, []).append(j)
        for k, own in of.items():
            if good[k]:
                out[k] = many.read(own, proof)
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
    """What one call has found: the knots of all lines, a chunk at a time, their proof, and the scores at them."""

    def __init__(self, task: _Together, found: ManyLines, samples: Sequence[Index], ways: Sequence[_Way]) -> None:
        self.task, self.found, self.samples = task, found, samples
        self.line = np.repeat(np.arange(len(ways)), np.diff(found.lines))
        start, stop = (np.array([getattr(way, name) for way in ways])[self.line] for name in ("t", "to"))
        self.backward = np.array([way.to < way.t for way in ways])
        self.t = _along(found.u, start, stop)
        self.b = found.eta.sum(axis=2).T
        if task.mean is not None:
            self.b = self.b - (found.w @ task.mean).T
        # The end of a segment is where the next one begins, but on another line, or where the intercept jumps.
        self.goes_on = np.zeros(self.line.size, dtype=np.bool_)
        apart = np.abs(self.b[1, :-1] - self.b[0, 1:])
        self.goes_on[:-1] = (self.line[1:] == self.line[:-1]) & (apart <= ONE_COLUMN)
        self.b[1, :-1] = np.where(self.goes_on[:-1], self.b[0, 1:], self.b[1, :-1])
        # Sums of the caps of either class, at t = 0 and at t = 1, of those who are there: (2, lines, 2).
        whole = task.caps @ task.sides
        self.costs = np.stack([whole - task.caps[:, each] @ task.sides[each] for each in samples], axis=1)
        self.slopes: list[list[Array]] = [[] for _ in ways]
        gram = task.path.gram
        self.rows = [gram.mapped_rows(each) if task.stores else gram.rows(each) * task.path.y for each in samples]

    def proved(self) -> LineProof:
        """The proof of all segments."""
        proof = prove_knots(self._chunks(), self.task.path.gram.note)
        self.open = ~self._free() | (
            2 * SLACK_ROUNDING * self.task.caps.sum(axis=1).max() > OUTWARDS * proof.sizes.min(axis=1)
        )
        return proof

    def _chunks(self) -> Iterator[LineKnots]:
        """LineKnots of some segments after others; on the way the scores without intercept are read off."""
        path = self.task.path
        size = max(16, _KNOTS // path.y.size)
        for a in range(0, self.line.size, size):
            z = min(a + size, self.line.size)
            at = self._knots(a, z)
            for j, part in _runs(self.line[a:z]):
                begin, end = at.first[part.start], at.first[part.stop - 1] + 2
                found = self.rows[j] @ (at.alpha if at.w is None else at.w)[begin:end].T
                first = at.first[part] - begin
                self.slopes[j].append(np.stack([found[:, first], found[:, first + 1]], axis=1))
            yield at

    def _free(self) -> Mask:
        """Whether a multiplier of each segment is off its bounds: then there is one optimal intercept."""
        F, middles = self.found, self.t.mean(axis=0)
        free, sizes = np.zeros(self.line.size, dtype=np.bool_), np.diff(F.ptr)
        for most in (1, self.task.path.y.size):  # nearly always the first of a margin set tells
            rows = np.flatnonzero(~free & (sizes > 0))
            size = np.minimum(sizes[rows], most)
            row = np.repeat(rows, size)
            entry = F.ptr[row] + np.arange(row.size) - np.repeat(np.cumsum(size) - size, size)
            i, a, t = F.index[entry], 0.5 * (F.a0[entry] + F.a1[entry]), middles[row]
            cap = (1.0 - t) * self.task.caps[0, i] + t * self.task.caps[1, i]
            free[row[np.minimum(a, cap - a) > AT_BOUND * cap]] = True
        return free

    def _knots(self, a: int, z: int) -> LineKnots:
        """The knots of segments a to z - 1: where each begins, and those ends where the next one does not."""
        F, n, k = self.found, self.task.path.y.size, z - a
        ends = ~self.goes_on[a:z]
        ends[-1] = True
        first, own = np.arange(k) + np.append(0, np.cumsum(ends[:-1])), np.flatnonzero(ends)
        last = first[own] + 1
        which = np.empty(k + own.size, dtype=np.int64)
        which[last], which[first] = own, np.arange(k)

        def at_knots(x: Array) -> Array:
            out = x[0, a:z][which]
            out[last] = x[1, a:z][own]
            return np.asarray(out)

        sets, row = F.states[a:z][which], np.repeat(np.arange(k), np.diff(F.ptr[a : z + 1]))
        share, t, listed = (sets == LEFT).astype(np.float64), at_knots(self.t), slice(F.ptr[a], F.ptr[z])
        for entry, knot, values in ((slice(None), first, F.a0), (np.flatnonzero(ends[row]), first + 1, F.a1)):
            i, at = F.index[listed][entry], knot[row[entry]]
            cap = (1.0 - t[at]) * self.task.caps[0, i] + t[at] * self.task.caps[1, i]
            share.reshape(-1)[at * n + i] = np.minimum(
                np.maximum(values[listed][entry], 0.0) / np.maximum(cap, _TINY), 1.0
            )
        start, stop = self.costs[:, self.line[a:z][which]]
        costs = (1.0 - t)[:, None] * start + t[:, None] * stop
        w = at_knots(F.w.transpose(1, 0, 2)) if self.task.stores else None
        return LineKnots(t, at_knots(self.b), costs, sets, share, w, first, self.task.signed)

    def read(self, ways: Sequence[int], proof: LineProof) -> Followed:
        """What is known of the stretch that consists of these lines, forwards."""
        path, samples, parts = self.task.path, self.samples[ways[0]], []
        for j in sorted(ways, key=lambda j: not self.backward[j]):
            step = -1 if self.backward[j] else 1
            which: Any = np.arange(self.found.lines[j], self.found.lines[j + 1])[::step]
            found = np.concatenate(self.slopes[j], axis=2)[:, ::step, ::step]
            parts.append((which, found, self.t[::step, which], self.b[::step, which]))
        which, found, t, b = (
            parts[0] if len(parts) == 1 else (np.concatenate(x, axis=-1) for x in zip(*parts, strict=True))
        )
        size = samples.size
        Z = path.gram.mapped_rows(samples)
        start, stop = self.costs[:, ways[0]]
        most = 2.0 * np.minimum(*((1.0 - t) * x + t * z for x, z in zip(start, stop, strict=True))).ravel()
        found = (
            zero_rounding(found.reshape(size, -1), path.gram.quadratic.largest_value(Z) * most).reshape(found.shape) + b
        )
        ends = np.append(t[0], t[1, -1:])
        return Followed(ends, found[:, 0], found[:, 1], lambda: part_of(proof, which, ends))


def _runs(lines: Index) -> Iterator[tuple[int, slice]]:
    """Lines that come one after another, and where each does."""
    edges = np.flatnonzero(np.diff(lines, prepend=lines[0] - 1, append=lines[-1] + 1)).tolist()
    for first, last in pairwise(edges):
        yield int(lines[first]), slice(first, last)
