"""Leave one out along a line of costs: the score of every sample under the optimum of all others, at every t.

Where the multiplier of a sample is 0 the optimum of all is that of the others: there the score is the path's own. The
stretches on which it has a multiplier are traced without it, from a basis that the path has where they begin or end.
Each sample is a fold of its own, so that everything that is read off folds is exact here, too. The same holds of parts:
groups and folds whose samples are left out together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.tables import Tabular
from paretoclf.engine.sets import OUT, RIGHT
from paretoclf.path.deletion.departures import Departures
from paretoclf.path.deletion.left_out import leave_one_class, parts_of
from paretoclf.path.deletion.stretches import Followed, StretchTask, follow
from paretoclf.path.svm_lines.stages import BasisAt
from paretoclf.proof.segments.line_proof import LineProof
from paretoclf.roc.area_curve import AreaCurve
from paretoclf.roc.crossings import distinct_changes
from paretoclf.roc.curve import RocCurve
from paretoclf.roc.error_curve import ErrorCurve, Optimum, labels_of_scores
from paretoclf.roc.of_path import Vary, roc_of_scores
from paretoclf.roc.scores import PathScores


@dataclass(frozen=True, repr=False)
class StretchWithout:
    """A part of the line on which some samples have multipliers, and what is known of the path of all others there.

    Attributes
    ----------
    samples : int array of shape (g,)
        Who is out.
    start, stop : float
        Its ends.
    known : Followed
        The scores of these samples under the optimum of all others, and its proof.
    proof : LineProof
        That of the optimum of all others, for every t of the stretch.
    """

    samples: Index
    start: float
    stop: float
    known: Followed = field(repr=False)

    @cached_property
    def proof(self) -> LineProof:
        """The proof of the optimum of all other samples, for every t of the stretch."""
        return self.known.proof()

    @property
    def segments(self) -> int:
        """How many pieces it has."""
        return len(self.proof)

    @property
    def gap(self) -> float:
        """The largest gap on it."""
        return self.proof.worst.gap

    def __repr__(self) -> str:
        return f"StretchWithout(without {self.samples.tolist()}, t in [{self.start:.6g}, {self.stop:.6g}])"


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
    path : Path or ProblemPath
        The path of all samples.
    y : array of shape (n,)
        Their labels.
    own : PathScores
        Scores of the samples when all are there.
    scores : tuple of PathScores
        Scores of each sample under the path of all others: one a sample, each with its own breakpoints.
    stretches : tuple of StretchWithout or PathWithout
        What was traced.
    """

    path: Any
    y: Array = field(repr=False)
    own: PathScores = field(repr=False)
    scores: tuple[PathScores, ...] = field(repr=False)
    stretches: tuple[Any, ...] = field(repr=False)

    def __repr__(self) -> str:
        samples = len(self._traced)
        return (
            f"LeaveOneOutPath({len(self.scores)} samples, {len(self.stretches)} stretches traced for {samples} of "
            f"them, {'all proved' if self.passes() else 'NOT PROVED'})"
        )

    def __call__(self, t: float) -> Array:
        """The score of each sample under the optimum of all others at t, shape (n,)."""
        return np.concatenate([each(t) for each in self.scores])

    def passes(self) -> bool:
        """Whether the path of all, and each stretch without samples, is proved at every t."""
        return all(each.proof.passes() for each in (self.path, *self.stretches))

    @property
    def _traced(self) -> list[int]:
        """Samples whose removal changes some score."""
        return sorted({i for each in self.stretches for i in each.samples.tolist()})

    @property
    def _folds(self) -> list[Array]:
        return list(self.y[:, None])

    @cached_property
    def curve(self) -> ErrorCurve:
        """Held-out errors over t, exact step functions."""
        return ErrorCurve.of_scores(self.scores, self._folds, getattr(self.path, "line", None))

    def best(self, criterion: Any, prior_plus: float | None = None) -> tuple[Optimum, ...]:
        """Where the held-out errors are best, as `ErrorCurve.best`; chosen by the labels that it reports."""
        return self.curve.best(criterion, prior_plus)

    def roc(self, vary: Vary = "intercept", t: float | None = None) -> RocCurve:
        """ROC curve of the held-out scores, ties counted; as `roc_of_scores`."""
        return roc_of_scores(self.scores, self._folds, vary, t)

    @cached_property
    def area(self) -> AreaCurve:
        """Area under the ROC curve of the held-out scores, as an exact step function of t."""
        return AreaCurve.of_scores(self.scores, self.y)

    @cached_property
    def flips(self) -> tuple[Flip, ...]:
        """Where which samples get another label from the others than from all; by sample, then by t."""
        found = []
        for i in self._traced:
            mine = PathScores(self.own.t, self.own.start[i : i + 1], self.own.end[i : i + 1])
            sides = [labels_of_scores(each) for each in (mine, self.scores[i])]
            t, _ = distinct_changes(np.concatenate([side[0] for side in sides]))
            middle = 0.5 * (t[:-1] + t[1:])
            one, other = (side[2][np.searchsorted(side[0], middle) - 1, 0] for side in sides)
            edges = np.flatnonzero(np.diff(one != other, prepend=False, append=False))
            found += [Flip(i, float(t[a]), float(t[b])) for a, b in zip(edges[::2], edges[1::2], strict=True)]
        return tuple(found)

    def _rows(self) -> Iterator[dict[str, Any]]:
        for each in self.stretches:
            where = {"start": each.start, "stop": each.stop, "segments": each.segments}
            for i in each.samples.tolist():
                yield {"sample": i, **where, "gap": each.gap}


def leave_one_out_along(
    path: Any,
    out: Mapping[str, Any],
    *,
    engine: str | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> LeaveOneOutPath:
    """Score every sample by the optimum without its part at every t; see `Path.leave_one_out`."""
    parts = parts_of(path.y, **out)
    ends, has = path.pieces.t, _multipliers(path, parts)
    scores, interior = path.training_scores(np.arange(path.y.size)), _Interior(path, engine)
    runs = [(part, *run) for k, part in enumerate(parts) for run in _runs(has[:, k])]
    wanted = [
        StretchTask(part, float(ends[a]), float(ends[b]), _known(path, interior, part, a, b)) for part, a, b in runs
    ]
    found = follow(path, wanted, engine, n_jobs, progress)
    stretches = tuple(
        StretchWithout(one.samples, one.start, one.stop, known) for one, known in zip(wanted, found, strict=True)
    )
    mine: list[list[tuple[int, int, tuple[Array, Array, Array]]]] = [[] for _ in path.y]
    for (part, a, b), known in zip(runs, found, strict=True):
        long = np.diff(known.t) > 0.0  # where rounding left something of a piece
        t = np.append(known.t[:-1][long], known.t[-1])
        for row, i in enumerate(part.tolist()):
            mine[i].append((a, b, (t, known.start[row, long], known.end[row, long])))
    return LeaveOneOutPath(
        path, path.y, scores, tuple(_joined(scores, i, parts) for i, parts in enumerate(mine)), stretches
    )


def _multipliers(path: Any, parts: Sequence[Index]) -> Mask:
    """Whether each part may have a multiplier on each piece, (k, parts); all along if it leaves one class."""
    k, (piece, sample, new) = path.pieces.t.size - 1, path.pieces.changes
    has, state = np.empty((k, path.y.size), dtype=np.bool_), path.pieces.state.copy()
    edges = np.searchsorted(piece, np.arange(k + 1)).tolist()
    for j, (first, last) in enumerate(pairwise(edges)):
        state[sample[first:last]] = new[first:last]  # of repeated samples the last assignment stands
        has[j] = state != RIGHT
    there = path.caps(0.0) + path.caps(1.0) > 0.0
    has[:, ~there] = False
    if not all(part.size == 1 for part in parts):
        has = np.stack([np.logical_or.reduce(has[:, part], axis=1) for part in parts], axis=1)
    else:
        has = has[:, np.concatenate(parts)]
    has[:, leave_one_class(path.y, there, parts)] = True
    return np.asarray(has)


def _runs(has: Mask) -> list[tuple[int, int]]:
    """First pieces and ends of the runs of pieces that are marked."""
    edges = np.flatnonzero(np.diff(has, prepend=False, append=False))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


class _Interior:
    """Bases without samples that have multipliers all along: of the ends of lines that leave from the middle."""

    def __init__(self, path: Any, engine: str | None) -> None:
        self.path, self.engine = path, engine

    @cached_property
    def _departures(self) -> Departures:
        return Departures(self.path, 0.5, engine=self.engine)

    def without(self, samples: Index) -> BasisAt | None:
        """Where to start on the whole line, and on which basis."""
        basis = self._departures.basis_without(samples)
        return None if basis is None else BasisAt(0.5, *basis)


def _known(path: Any, interior: _Interior, samples: Index, a: int, b: int) -> BasisAt | None:
    """A basis of all others at one end of the pieces a to b - 1: that of the next piece, where they have none."""
    ends = path.pieces.t
    if a == 0 and b == ends.size - 1:
        return interior.without(samples)
    piece, t = (a - 1, float(ends[a])) if a > 0 else (b, float(ends[b]))
    state, margin = path._basis(piece)
    state[samples] = OUT
    return BasisAt(t, state, margin)


def _joined(scores: PathScores, i: int, mine: list[tuple[int, int, tuple[Array, Array, Array]]]) -> PathScores:
    """The scores of one sample: the path's own, but those of its stretches where it has a multiplier."""
    t, starts, stops, done = [], [], [], 0
    for a, b, part in mine:
        t += [scores.t[done:a], part[0][:-1]]
        starts += [scores.start[i, done:a], part[1]]
        stops += [scores.end[i, done:a], part[2]]
        done = b
    t.append(scores.t[done:])
    starts.append(scores.start[i, done:])
    stops.append(scores.end[i, done:])
    return PathScores(np.concatenate(t), np.concatenate(starts)[None], np.concatenate(stops)[None])
