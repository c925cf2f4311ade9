"""Leave one out along a line of costs: the score of every sample under the optimum of all others, at every t.

Where the multiplier of a sample is 0 the optimum of all is that of the others: there the score is the path's own. The
stretches on which it has a multiplier are traced without it, from a basis that the path has where they begin or end.
Each sample is a fold of its own, so that everything that is read off folds is exact here, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from paretoclf.checks import Array, Mask
from paretoclf.deletion.departures import Departures
from paretoclf.errors import DegeneratePathError
from paretoclf.path.journey import BasisAt
from paretoclf.path.scores import PathScores
from paretoclf.path.sets import OUT, RIGHT
from paretoclf.progress import counted
from paretoclf.roc.area_curve import AreaCurve
from paretoclf.roc.curve import RocCurve
from paretoclf.roc.error_curve import ErrorCurve, Optimum, labels_of_scores
from paretoclf.roc.of_path import Vary, roc_of_scores
from paretoclf.tables import Tabular


@dataclass(frozen=True, repr=False)
class StretchWithout:
    """A part of the line on which a sample has a multiplier, and the path of all others there.

    Attributes
    ----------
    sample : int
    start, stop : float
        Its ends, as the path of all has them; 0 and 1 of the path without the sample.
    path : Path
        Of costs per sample, with cost 0 for this one; proved like every path.
    """

    sample: int
    start: float
    stop: float
    path: Any

    def __repr__(self) -> str:
        return f"StretchWithout(without {self.sample}, t in [{self.start:.6g}, {self.stop:.6g}], {self.path!r})"


@dataclass(frozen=True)
class Flip:
    """Where the label of a sample depends on whether it is there itself: the open interval from start to stop."""

    sample: int
    start: float
    stop: float


@dataclass(frozen=True, repr=False)
class LeaveOneOutPath(Tabular):
    """Every sample scored by the optimum of all others, as an exact piecewise affine function of t.

    Attributes
    ----------
    path : Path
        Of all samples.
    own : PathScores
        Scores of the samples when all are there.
    scores : tuple of PathScores
        Of each sample under the path of all others: one a sample, each with its own breakpoints.
    stretches : tuple of StretchWithout
        What was traced.
    """

    path: Any
    own: PathScores = field(repr=False)
    scores: tuple[PathScores, ...] = field(repr=False)
    stretches: tuple[StretchWithout, ...] = field(repr=False)

    def __repr__(self) -> str:
        samples = len({each.sample for each in self.stretches})
        return (
            f"LeaveOneOutPath({len(self.scores)} samples, {len(self.stretches)} stretches traced for {samples} of "
            f"them, {'all proved' if self.passes() else 'NOT PROVED'})"
        )

    def __call__(self, t: float) -> Array:
        """The score of each sample under the optimum of all others at t, shape (n,)."""
        return np.concatenate([each(t) for each in self.scores])

    def passes(self) -> bool:
        """Whether the path of all, and each stretch without a sample, is proved at every t."""
        return all(each.proof.passes() for each in (self.path, *(each.path for each in self.stretches)))

    @property
    def _folds(self) -> list[Array]:
        return list(self.path.y[:, None])

    @cached_property
    def curve(self) -> ErrorCurve:
        """Held-out errors over t, exact step functions."""
        return ErrorCurve.of_scores(self.scores, self._folds, self.path.line)

    def best(self, criterion: Any, prior_plus: float | None = None) -> tuple[Optimum, ...]:
        """Where the held-out errors are best, as `ErrorCurve.best`; chosen by the labels that it reports."""
        return self.curve.best(criterion, prior_plus)

    def roc(self, vary: Vary = "intercept", t: float | None = None) -> RocCurve:
        """ROC curve of the held-out scores, ties counted; as `roc_of_scores`."""
        return roc_of_scores(self.scores, self._folds, vary, t)

    @cached_property
    def area(self) -> AreaCurve:
        """Area under the ROC curve of the held-out scores, as an exact step function of t."""
        return AreaCurve.of_scores(self.scores, self.path.y)

    @cached_property
    def flips(self) -> tuple[Flip, ...]:
        """Where which samples get another label from the others than from all; by sample, then by t."""
        found = []
        for i in sorted({each.sample for each in self.stretches}):
            mine = PathScores(self.own.t, self.own.start[i : i + 1], self.own.end[i : i + 1])
            sides = [labels_of_scores(each) for each in (mine, self.scores[i])]
            t = np.unique(np.concatenate([side[0] for side in sides]))
            middle = 0.5 * (t[:-1] + t[1:])
            one, other = (side[2][np.searchsorted(side[0], middle) - 1, 0] for side in sides)
            edges = np.flatnonzero(np.diff(one != other, prepend=False, append=False))
            found += [Flip(i, float(t[a]), float(t[b])) for a, b in zip(edges[::2], edges[1::2], strict=True)]
        return tuple(found)

    def _rows(self) -> Iterator[dict[str, Any]]:
        for each in self.stretches:
            yield {
                **{"sample": each.sample, "start": each.start, "stop": each.stop},
                **{"breakpoints": each.path.breakpoints.size, "gap": each.path.proof.worst.gap},
            }


def leave_one_out_along(path: Any, *, engine: str | None = None, progress: bool | None = None) -> LeaveOneOutPath:
    """Score every sample by the optimum of all others at every t; see `Path.leave_one_out`."""
    ends, has = path.pieces.t, _multipliers(path)
    scores = path.training_scores(np.arange(path.y.size))
    departures = _Interior(path, engine)
    stretches, parts = [], []
    for i in counted(range(path.y.size), "leave one out", path.y.size, progress):
        mine = []
        for a, b in _runs(has[:, i]):
            known = _known(path, departures, i, a, b)
            mine.append((a, b, _without(path, i, float(ends[a]), float(ends[b]), known, engine)))
        parts.append(_joined(scores, i, mine))
        stretches += [each for _, _, each in mine]
    return LeaveOneOutPath(path, scores, tuple(parts), tuple(stretches))


def _multipliers(path: Any) -> Mask:
    """Whether each sample may have a multiplier on each piece, (k, n); a class of one sample has one all along."""
    ends = path.pieces.t
    has = np.stack([path.sets(0.5 * (a + b)) != RIGHT for a, b in pairwise(ends.tolist())])
    there = path.caps(0.0) + path.caps(1.0) > 0.0
    has[:, ~there] = False
    for side in (path.y > 0, path.y < 0):
        if np.count_nonzero(side & there) == 1:
            has[:, side & there] = True
    return np.asarray(has)


def _runs(has: Mask) -> list[tuple[int, int]]:
    """First pieces and ends of the runs of pieces that are marked."""
    edges = np.flatnonzero(np.diff(has, prepend=False, append=False))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


class _Interior:
    """Bases without a sample that has a multiplier all along: of the ends of lines that leave from the middle."""

    def __init__(self, path: Any, engine: str | None) -> None:
        self.path, self.engine = path, engine

    @cached_property
    def _departures(self) -> Departures:
        return Departures(self.path, 0.5, engine=self.engine)

    def without(self, i: int) -> BasisAt | None:
        """Where to start on the whole line, and on which basis."""
        basis = self._departures.basis_without(i)
        return None if basis is None else BasisAt(0.5, *basis)


def _known(path: Any, interior: _Interior, i: int, a: int, b: int) -> BasisAt | None:
    """A basis of all others at one end of the pieces a to b - 1: that of the next piece, where i has no multiplier."""
    ends = path.pieces.t
    if a > 0:
        piece, u = a - 1, 0.0
    elif b < ends.size - 1:
        piece, u = b, 1.0
    else:
        return interior.without(i)
    state, margin = path.basis(float(0.5 * (ends[piece] + ends[piece + 1])))
    state[i] = OUT
    return BasisAt(u, state, margin)


def _without(path: Any, i: int, start: float, stop: float, known: BasisAt | None, engine: str | None) -> StretchWithout:
    """The path of all others between two t, proved; from nothing where it cannot set out from a known basis."""
    costs = []
    for t in (start, stop):
        caps = path.caps(t)
        caps[i] = 0.0
        costs.append(caps)
    two_sided = all((each[side] > 0).any() for each in costs for side in (path.y > 0, path.y < 0))
    if known is not None and two_sided:
        try:
            return StretchWithout(i, start, stop, path.between(*costs, hub=known, engine=engine, progress=False))
        except DegeneratePathError:
            pass
    return StretchWithout(i, start, stop, path.between(*costs, engine=engine, progress=False))


def _joined(scores: PathScores, i: int, mine: list[tuple[int, int, StretchWithout]]) -> PathScores:
    """The scores of one sample: the path's own, but those of its stretches where it has a multiplier."""
    t, starts, stops, done = [scores.t[:1]], [], [], 0
    for a, b, stretch in [*mine, (scores.t.size - 1, 0, None)]:
        t.append(scores.t[done + 1 : a + 1])
        starts.append(scores.start[i, done:a])
        stops.append(scores.end[i, done:a])
        if stretch is None:
            break
        part = stretch.path.training_scores(np.array([i]))
        at = np.where(part.t == 1.0, stretch.stop, stretch.start + part.t * (stretch.stop - stretch.start))
        long = np.diff(at) > 0.0  # where rounding left something of a piece
        t.append(np.append(at[1:-1][long[:-1]], stretch.stop) if long[-1] else at[1:][long])
        starts.append(part.start[0][long])
        stops.append(part.end[0][long])
        done = b
    return PathScores(np.concatenate(t), np.concatenate(starts)[None], np.concatenate(stops)[None])
