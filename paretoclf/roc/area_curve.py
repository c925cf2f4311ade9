"""The area under the ROC curve along a line, as an exact step function of t.

It changes only where a positive and a negative change their order: where the difference of their scores, piecewise
affine in t, changes its sign. A tie counts one half, at one t or along a whole stretch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paretoclf.common.checks import Array, Index, check_inside, check_labels, keep
from paretoclf.common.errors import InputError
from paretoclf.roc.scores import PathScores, also, note_of

_CELLS = 256  # at most so many: in one a score moves little, and most pairs are far apart
_PAIRS = 2**22  # signs of pairs in cells that are at hand at a time


@dataclass(frozen=True, eq=False, repr=False)
class AreaCurve:
    """Share of the pairs of a positive and a negative that are in the right order, ties one half.

    Attributes
    ----------
    t : array of shape (k + 1,)
        Every t at which it changes, and both ends; increasing.
    area : array of shape (k,)
        On the open stretches between.
    area_at : array of shape (k + 1,)
        At these t themselves.
    note : str
        Whose scores were ordered, as of `PathScores`.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.roc.scores import PathScores
    >>> from paretoclf.roc import AreaCurve
    >>> positive = PathScores(np.array([0.0, 1.0]), np.array([[-1.0]]), np.array([[3.0]]))
    >>> negative = PathScores(np.array([0.0, 1.0]), np.array([[0.0]]), np.array([[0.0]]))
    >>> curve = AreaCurve.of_scores([positive, negative], [1, -1])
    >>> curve.t, curve.area, curve.area_at
    (array([0.  , 0.25, 1.  ]), array([0., 1.]), array([0. , 0.5, 1. ]))
    """

    t: Array
    area: Array
    area_at: Array
    note: str = ""

    def __post_init__(self) -> None:
        keep(self, "t", "area", "area_at")

    def __repr__(self) -> str:
        j = int(np.argmax(self.area))
        where = f"({self.t[j]:.6g}, {self.t[j + 1]:.6g})"
        return f"AreaCurve({self.t.size - 2} changes, largest {self.area[j]:.4f} on {where}{also(self.note)})"

    def __call__(self, t: float) -> float:
        """The area at t."""
        check_inside(t, "t", self.t[0], self.t[-1])
        j = int(np.searchsorted(self.t, t))
        return float(self.area_at[j] if self.t[j] == t else self.area[j - 1])

    @classmethod
    def of_scores(cls, scores: Sequence[PathScores], y: object) -> AreaCurve:
        """The curve of samples that are scored each by a path of its own, along one line.

        Parameters
        ----------
        scores : sequence of PathScores
            One for each sample, of one score each, on one range of t.
        y : array of shape (n,)
            Labels -1 and +1, both present.

        Raises
        ------
        InputError
            If the labels do not fit the scores.
        """
        labels = check_labels(y)
        if len(scores) != labels.size:
            raise InputError(f"y must have one label per PathScores ({len(scores)}), got {labels.size}")
        cells = _Cells(scores)
        plus, minus = np.flatnonzero(labels > 0), np.flatnonzero(labels < 0)
        first, events = 0, [np.array([[cells.t[0], 0, 0], [cells.t[-1], 0, 0]])]
        width = max(1, _PAIRS // (minus.size * (cells.t.size - 1)))
        for part in range(0, plus.size, width):
            begin, found = cells.order(plus[part : part + width], minus)
            first += begin
            events += found
        t, at, after = np.concatenate(events).T
        knots, place = _together(t)
        sums = np.zeros((2, knots.size), dtype=np.int64)
        np.add.at(sums[0], place, at.astype(np.int64))
        np.add.at(sums[1], place, after.astype(np.int64))
        stretches = first + np.cumsum(sums[1, :-1])
        points = np.concatenate([[first], stretches]) + sums[0]
        pairs = 2 * plus.size * minus.size
        return cls(knots, stretches / pairs, points / pairs, note_of(scores))


def _together(t: Array) -> tuple[Array, Index]:
    """The different t, increasing, and which of them each is; those that only rounding has put apart are one."""
    knots, place = np.unique(t, return_inverse=True)
    apart = np.diff(knots) > 8 * np.spacing(np.abs(knots).max())
    group = np.concatenate([[0], np.cumsum(apart)])
    kept = knots[np.concatenate([[True], apart])]
    kept[-1] = knots[-1]  # both ends stay what they are
    return kept, group[place]


class _Cells:
    """The range of t in cells, and the scores of all samples on these: nearly all pairs keep their order in a cell."""

    def __init__(self, scores: Sequence[PathScores]) -> None:
        knots = np.unique(np.concatenate([each.t for each in scores]))
        count = min(_CELLS, int(np.mean([each.t.size for each in scores])))
        self.t = knots[np.unique(np.linspace(0, knots.size - 1, count + 1).round().astype(np.int64))]
        fine = [np.union1d(each.t, self.t) for each in scores]
        sizes = np.array([t.size - 1 for t in fine])
        self.begin = np.concatenate([t[:-1] for t in fine])
        self.end = np.concatenate([t[1:] for t in fine])
        values = [_on(each, t) for each, t in zip(scores, fine, strict=True)]
        self.a, self.c = (np.concatenate([each[side] for each in values]) for side in (0, 1))
        self.near = np.array([each.rounding[0] for each in scores])
        offset = np.cumsum(sizes) - sizes
        #: First piece of each sample in each cell, and behind the last one.
        self.ptr = np.stack([start + np.searchsorted(t, self.t) for start, t in zip(offset, fine, strict=True)])
        first = self.ptr[:, :-1]
        self.low, self.high = (
            each.reduceat(each(self.a, self.c), first.ravel()).reshape(first.shape) for each in (np.minimum, np.maximum)
        )

    def order(self, plus: Index, minus: Index) -> tuple[int, list[Array]]:
        """Twice what pairs count just after the beginning; rows (t, change at t, change after t) against before."""
        near = (self.near[plus, None] + self.near[minus])[:, :, None]
        above = self.low[plus][:, None] - self.high[minus] > near
        below = self.high[plus][:, None] - self.low[minus] < -near
        signs = (above.astype(np.int8) - below)[None].repeat(3, axis=0)  # at the beginning, behind it, before the end
        open_pairs = np.nonzero(~(above | below))
        rows: list[Array] = []
        if open_pairs[0].size:
            found, rows = self._inside(plus[open_pairs[0]], minus[open_pairs[1]], open_pairs[2])
            for sign, inner in zip(signs, found, strict=True):
                sign[open_pairs] = inner
        at, behind, before = (sign.sum(axis=(0, 1), dtype=np.int64) for sign in signs)
        rows.append(_row(self.t[:1], at[:1] - behind[:1], np.zeros(1)))
        rows.append(_row(self.t[-1:], self._last(plus, minus) - before[-1:], np.zeros(1)))
        rows.append(_row(self.t[1:-1], at[1:] - before[:-1], behind[1:] - before[:-1]))
        return int(behind[0]) + plus.size * minus.size, rows

    def _last(self, plus: Index, minus: Index) -> float:
        """The sum of the signs at the very end."""
        end = self.c[self.ptr[:, -1] - 1]
        apart = end[plus, None] - end[minus]
        near = self.near[plus, None] + self.near[minus]
        return float(np.sign(np.where(np.abs(apart) <= near, 0.0, apart)).sum())

    def _inside(self, plus: Index, minus: Index, cell: Index) -> tuple[list[Array], list[Array]]:
        """For pairs, each in a cell: signs at its beginning, behind that, and before its end; changes in between."""
        ranges = [(self.ptr[one, cell], self.ptr[one, cell + 1]) for one in (plus, minus)]
        sizes = [stop - start for start, stop in ranges]
        # The pieces of both, by where they begin; of those that begin together the last one stays.
        piece = np.concatenate([_spread(*each) for each in ranges])
        pair = np.concatenate([np.repeat(np.arange(cell.size), size) for size in sizes])
        mine = np.arange(pair.size) < int(sizes[0].sum())
        order = np.lexsort((self.begin[piece], pair))
        pair, mine, t = pair[order], mine[order], self.begin[piece[order]]
        counts = np.cumsum(mine), np.cumsum(~mine)
        before = [np.cumsum(size) - size for size in sizes]
        stays = np.append((pair[1:] != pair[:-1]) | (t[1:] != t[:-1]), True)
        pair, t = pair[stays], t[stays]
        ends = np.append(pair[1:] != pair[:-1], True)
        begins = np.append(True, ends[:-1])
        until = np.where(ends, self.t[cell[pair] + 1], np.append(t[1:], 0.0))
        values = []
        for (start, _), count, done in zip(ranges, counts, before, strict=True):
            j = start[pair] + (count[stays] - done[pair]) - 1
            left, width = self.begin[j], self.end[j] - self.begin[j]
            shares = ((x - left) / width for x in (t, until))
            values.append([(1.0 - share) * self.a[j] + share * self.c[j] for share in shares])
        near = self.near[plus[pair]] + self.near[minus[pair]]
        a, c = (np.where(np.abs(x - z) <= near, 0.0, x - z) for x, z in zip(*values, strict=True))
        sa, sc = np.sign(a), np.sign(c)
        begin, end = np.where(sa != 0, sa, sc), np.where(sc != 0, sc, sa)
        inner = np.flatnonzero(~begins)
        rows = [_row(t[inner], sa[inner] - end[inner - 1], begin[inner] - end[inner - 1])]
        j = np.flatnonzero(sa * sc < 0)
        share = a[j] / (a[j] - c[j])
        rows.append(_row(t[j] + share * (until[j] - t[j]), -begin[j], end[j] - begin[j]))
        rows = [each[(each[:, 1] != 0) | (each[:, 2] != 0)] for each in rows]
        return [sa[begins], begin[begins], end[ends]], rows


def _spread(start: Index, stop: Index) -> Index:
    """The whole numbers of each range, one range after another."""
    size = stop - start
    return np.repeat(start - np.cumsum(size) + size, size) + np.arange(int(size.sum()))


def _on(scores: PathScores, t: Array) -> tuple[Array, Array]:
    """Scores of one sample at both ends of the pieces of a finer partition."""
    if t.size == scores.t.size:
        return scores.start[0], scores.end[0]
    j = np.searchsorted(scores.t, t[:-1], side="right") - 1
    left, width = scores.t[j], scores.t[j + 1] - scores.t[j]
    a, c = scores.start[0, j], scores.end[0, j]
    u, v = (t[:-1] - left) / width, (t[1:] - left) / width
    return (1 - u) * a + u * c, (1 - v) * a + v * c


def _row(t: Array, at: Array, after: Array) -> Array:
    return np.stack([t, at, after], axis=1)
