"""The area under the ROC curve along a line, as an exact step function of t.

It changes only where a positive and a negative change their order: where the difference of their scores, piecewise
affine in t, changes its sign. A tie counts one half, at one t or along a whole stretch. Here the sign of a pair is that
of the positive's score minus the negative's: 1 in the right order, 0 for a tie, -1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paretoclf.common.checks import Array, Index, check_inside, check_labels, keep
from paretoclf.common.errors import InputError
from paretoclf.roc.crossings import distinct_changes
from paretoclf.roc.scores import PathScores, also, note_of

_CELLS = 256  # at most so many: in one a score moves little, and most pairs are far apart
_PAIRS = 2**22  # signs of pairs in cells that are at hand at a time


@dataclass(frozen=True, eq=False, repr=False)
class AreaCurve:
    """Share of the pairs of a positive and a negative that are in the right order, ties one half.

    Attributes
    ----------
    t : array of shape (k + 1,)
        Every t at which the area changes, and both ends; increasing.
    area : array of shape (k,)
        Area on the open stretches between these t.
    area_at : array of shape (k + 1,)
        Area at these t themselves.
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
        if self.t[j] == t:
            return float(self.area_at[j])
        return float(self.area[j - 1])

    @classmethod
    def of_scores(cls, scores: Sequence[PathScores], y: object) -> AreaCurve:
        """Area curve of samples that are scored each by a path of its own, along one line.

        Parameters
        ----------
        scores : sequence of PathScores
            One for each sample, of one score each, all on one range of t.
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
        plus = np.flatnonzero(labels > 0)
        minus = np.flatnonzero(labels < 0)
        first = 0
        changes = [np.array([[cells.t[0], 0, 0], [cells.t[-1], 0, 0]])]
        width = max(1, _PAIRS // (minus.size * (cells.t.size - 1)))
        for part in range(0, plus.size, width):
            begin, found = cells.order(plus[part : part + width], minus)
            first += begin
            changes += found
        t, at, after = np.concatenate(changes).T
        knots, place = distinct_changes(t)
        sums = np.zeros((2, knots.size), dtype=np.int64)
        np.add.at(sums[0], place, at.astype(np.int64))
        np.add.at(sums[1], place, after.astype(np.int64))
        stretches = first + np.cumsum(sums[1, :-1])
        points = np.concatenate([[first], stretches]) + sums[0]
        pairs = 2 * plus.size * minus.size
        return cls(knots, stretches / pairs, points / pairs, note_of(scores))


class _Cells:
    """The range of t in cells, and the scores of all samples on these: nearly all pairs keep their order in a cell.

    Pieces of all samples stand one sample after another: ``begin`` and ``end`` are the ends of each piece, ``start``
    and ``stop`` the scores there. ``first_piece[i, k]`` is sample i's first piece in cell k; the last column is one
    behind its last piece. ``low`` and ``high`` bound the scores of a sample in a cell.
    """

    def __init__(self, scores: Sequence[PathScores]) -> None:
        knots = np.unique(np.concatenate([each.t for each in scores]))
        count = min(_CELLS, int(np.mean([each.t.size for each in scores])))
        evenly = np.linspace(0, knots.size - 1, count + 1).round()
        self.t = knots[np.unique(evenly.astype(np.int64))]
        partitions = [np.union1d(each.t, self.t) for each in scores]
        self.begin = np.concatenate([t[:-1] for t in partitions])
        self.end = np.concatenate([t[1:] for t in partitions])
        values = [_scores_on(each, t) for each, t in zip(scores, partitions, strict=True)]
        self.start = np.concatenate([start for start, _ in values])
        self.stop = np.concatenate([stop for _, stop in values])
        self.rounding = np.array([each.rounding[0] for each in scores])
        sizes = np.array([t.size - 1 for t in partitions])
        offsets = np.cumsum(sizes) - sizes
        in_sample = np.stack([np.searchsorted(t, self.t) for t in partitions])
        self.first_piece = offsets[:, None] + in_sample
        self.low = self._extreme(np.minimum)
        self.high = self._extreme(np.maximum)

    def _extreme(self, extreme: np.ufunc) -> Array:
        """Smallest or largest score of each sample in each cell."""
        first = self.first_piece[:, :-1]
        of_pieces = extreme(self.start, self.stop)
        return np.asarray(extreme.reduceat(of_pieces, first.ravel()).reshape(first.shape))

    def order(self, plus: Index, minus: Index) -> tuple[int, list[Array]]:
        """Order all pairs of some positives and negatives.

        Returns
        -------
        int
            Twice the number of pairs in the right order just after the beginning, a tie counting one half.
        list of array of shape (rows, 3)
            Rows (t, change at t, change after t): by what that number differs at t and after it from that before t.
        """
        rounding = (self.rounding[plus, None] + self.rounding[minus])[:, :, None]
        above = self.low[plus][:, None] - self.high[minus] > rounding
        below = self.high[plus][:, None] - self.low[minus] < -rounding
        of_cells = above.astype(np.int8) - below
        signs = of_cells[None].repeat(3, axis=0)  # at the beginning of the cell, behind it, before its end
        overlapping = np.nonzero(~(above | below))
        rows: list[Array] = []
        if overlapping[0].size:
            one, other, cell = overlapping
            found, rows = self._inside(plus[one], minus[other], cell)
            for sign, inner in zip(signs, found, strict=True):
                sign[overlapping] = inner
        at, behind, before = (sign.sum(axis=(0, 1), dtype=np.int64) for sign in signs)
        at_begin = at[:1] - behind[:1]
        at_end = self._last(plus, minus) - before[-1:]
        at_cells = at[1:] - before[:-1]
        after_cells = behind[1:] - before[:-1]
        nothing = np.zeros(1)
        rows.append(_rows(self.t[:1], at_begin, nothing))
        rows.append(_rows(self.t[-1:], at_end, nothing))
        rows.append(_rows(self.t[1:-1], at_cells, after_cells))
        return int(behind[0]) + plus.size * minus.size, rows

    def _last(self, plus: Index, minus: Index) -> float:
        """Sum of the signs of all pairs at the very end."""
        end = self.stop[self.first_piece[:, -1] - 1]
        difference = end[plus, None] - end[minus]
        rounding = self.rounding[plus, None] + self.rounding[minus]
        return float(np.sign(_without_rounding(difference, rounding)).sum())

    def _inside(self, plus: Index, minus: Index, cell: Index) -> tuple[list[Array], list[Array]]:
        """Signs of pairs, each in a cell: at its beginning, behind that, before its end; and the changes in between."""
        pair, t, until, pieces = self._common_pieces(plus, minus, cell)
        last = np.append(pair[1:] != pair[:-1], True)
        first = np.append(True, last[:-1])
        rounding = self.rounding[plus[pair]] + self.rounding[minus[pair]]
        positive, negative = pieces
        start = _without_rounding(self._at(positive, t) - self._at(negative, t), rounding)
        stop = _without_rounding(self._at(positive, until) - self._at(negative, until), rounding)
        at_start, at_stop = np.sign(start), np.sign(stop)
        behind_start = np.where(at_start != 0, at_start, at_stop)
        before_stop = np.where(at_stop != 0, at_stop, at_start)
        inner = np.flatnonzero(~first)
        before, at, after = before_stop[inner - 1], at_start[inner], behind_start[inner]
        at_pieces = _rows(t[inner], at - before, after - before)
        crossed = np.flatnonzero(at_start * at_stop < 0)
        share = start[crossed] / (start[crossed] - stop[crossed])
        zero = t[crossed] + share * (until[crossed] - t[crossed])
        before, after = behind_start[crossed], before_stop[crossed]
        in_pieces = _rows(zero, -before, after - before)
        rows = [each[(each[:, 1] != 0) | (each[:, 2] != 0)] for each in (at_pieces, in_pieces)]
        return [at_start[first], behind_start[first], before_stop[last]], rows

    def _common_pieces(self, plus: Index, minus: Index, cell: Index) -> tuple[Index, Array, Array, list[Index]]:
        """Pieces on which both samples of a pair have affine scores, for all pairs, each in a cell.

        Pair, beginning and end of each, and the piece of the positive and of the negative that hold it. The pieces of
        both samples are merged by where they begin; of two that begin together only the last stays.
        """
        ranges = [(self.first_piece[sample, cell], self.first_piece[sample, cell + 1]) for sample in (plus, minus)]
        sizes = [stop - start for start, stop in ranges]
        piece = np.concatenate([_spread(start, stop) for start, stop in ranges])
        pair = np.concatenate([np.repeat(np.arange(cell.size), size) for size in sizes])
        positive = np.arange(pair.size) < int(sizes[0].sum())
        begin = self.begin[piece]
        order = np.lexsort((begin, pair))
        pair, positive, t = pair[order], positive[order], begin[order]
        stays = np.append((pair[1:] != pair[:-1]) | (t[1:] != t[:-1]), True)
        begun = [np.cumsum(positive)[stays], np.cumsum(~positive)[stays]]  # pieces of all pairs so far
        pair, t = pair[stays], t[stays]
        pieces = []
        for (start, _), size, count in zip(ranges, sizes, begun, strict=True):
            of_pairs_before = np.cumsum(size) - size
            pieces.append(start[pair] + (count - of_pairs_before[pair]) - 1)
        last = np.append(pair[1:] != pair[:-1], True)
        end_of_cell = self.t[cell[pair] + 1]
        until = np.where(last, end_of_cell, np.append(t[1:], 0.0))
        return pair, t, until, pieces

    def _at(self, piece: Index, t: Array) -> Array:
        """Scores on some pieces, each at its t."""
        left = self.begin[piece]
        share = (t - left) / (self.end[piece] - left)
        start, stop = self.start[piece], self.stop[piece]
        return np.asarray((1.0 - share) * start + share * stop)


def _without_rounding(difference: Array, rounding: Array) -> Array:
    """Differences of scores, 0 where rounding alone may have made them."""
    return np.where(np.abs(difference) <= rounding, 0.0, difference)


def _spread(start: Index, stop: Index) -> Index:
    """Whole numbers of each range, one range after another."""
    size = stop - start
    total = int(size.sum())
    before = np.cumsum(size) - size
    return np.repeat(start - before, size) + np.arange(total)


def _scores_on(scores: PathScores, t: Array) -> tuple[Array, Array]:
    """Scores of one sample at both ends of the pieces of a finer partition."""
    if t.size == scores.t.size:
        return scores.start[0], scores.end[0]
    j = np.searchsorted(scores.t, t[:-1], side="right") - 1
    left = scores.t[j]
    width = scores.t[j + 1] - left
    start, end = scores.start[0, j], scores.end[0, j]
    shares = [(each - left) / width for each in (t[:-1], t[1:])]
    at_begin, at_end = ((1 - share) * start + share * end for share in shares)
    return at_begin, at_end


def _rows(t: Array, at: Array, after: Array) -> Array:
    """Rows (t, change at t, change after t)."""
    return np.stack([t, at, after], axis=1)
