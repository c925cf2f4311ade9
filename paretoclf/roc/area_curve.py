"""The area under the ROC curve along a line, as an exact step function of t.

It changes only where a positive and a negative change their order: where the difference of their scores, piecewise
affine in t, changes its sign. A tie counts one half, at one t or along a whole stretch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paretoclf.checks import Array, Index, check_labels, keep
from paretoclf.errors import InputError
from paretoclf.path.scores import PathScores


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

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.path.scores import PathScores
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

    def __post_init__(self) -> None:
        keep(self, "t", "area", "area_at")

    def __repr__(self) -> str:
        j = int(np.argmax(self.area))
        where = f"({self.t[j]:.6g}, {self.t[j + 1]:.6g})"
        return f"AreaCurve({self.t.size - 2} changes, largest {self.area[j]:.4f} on {where})"

    def __call__(self, t: float) -> float:
        """The area at t."""
        if not self.t[0] <= t <= self.t[-1]:
            raise InputError(f"t must lie in [{self.t[0]:g}, {self.t[-1]:g}], got {t!r}")
        j = int(np.searchsorted(self.t, t))
        return float(self.area_at[j] if self.t[j] == t else self.area[j - 1])

    @classmethod
    def of_scores(cls, scores: Sequence[PathScores], y: object) -> AreaCurve:
        """Of samples that are scored each by a path of its own, along one line.

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
        positives, negatives = (
            [each for each, label in zip(scores, labels, strict=True) if label * side > 0] for side in (1, -1)
        )
        lo, hi = scores[0].t[0], scores[0].t[-1]
        first, events = 0, [np.array([[lo, 0, 0], [hi, 0, 0]])]
        for plus in positives:
            for minus in negatives:
                begin, found = _of_pair(plus, minus)
                first += begin
                if found is not None:
                    events.append(found)
        t, at, after = np.concatenate(events).T
        knots, place = _together(t)
        sums = np.zeros((2, knots.size), dtype=np.int64)
        np.add.at(sums[0], place, at.astype(np.int64))
        np.add.at(sums[1], place, after.astype(np.int64))
        stretches = first + np.cumsum(sums[1, :-1])
        points = np.concatenate([[first], stretches]) + sums[0]
        pairs = 2 * len(positives) * len(negatives)
        return cls(knots, stretches / pairs, points / pairs)


def _together(t: Array) -> tuple[Array, Index]:
    """The different t, increasing, and which of them each is; those that only rounding has put apart are one."""
    knots, place = np.unique(t, return_inverse=True)
    apart = np.diff(knots) > 8 * np.spacing(np.abs(knots).max())
    group = np.concatenate([[0], np.cumsum(apart)])
    kept = knots[np.concatenate([[True], apart])]
    kept[-1] = knots[-1]  # both ends stay what they are
    return kept, group[place]


def _of_pair(plus: PathScores, minus: PathScores) -> tuple[int, Array | None]:
    """Twice what a pair counts just after the beginning; rows (t, change at t, change after t) against before."""
    t = plus.t if plus.t is minus.t or np.array_equal(plus.t, minus.t) else np.union1d(plus.t, minus.t)
    a, c = (one - other for one, other in zip(_on(plus, t), _on(minus, t), strict=True))
    near = plus.rounding[0] + minus.rounding[0]
    a, c = np.where(np.abs(a) <= near, 0.0, a), np.where(np.abs(c) <= near, 0.0, c)
    sa, sc = np.sign(a), np.sign(c)
    begin = np.where(sa != 0, sa, sc)  # just after the beginning of each piece, and just before its end
    end = np.where(sc != 0, sc, sa)
    rows = [
        _row(t[:1], sa[:1] - begin[:1], 0.0 * begin[:1]),
        _row(t[-1:], sc[-1:] - end[-1:], 0.0 * end[-1:]),
        _row(t[1:-1], sa[1:] - end[:-1], begin[1:] - end[:-1]),
    ]
    j = np.flatnonzero(sa * sc < 0)
    if j.size:
        share = a[j] / (a[j] - c[j])
        rows.append(_row(t[j] + share * (t[j + 1] - t[j]), -begin[j], end[j] - begin[j]))
    found = np.concatenate(rows)
    found = found[(found[:, 1] != 0) | (found[:, 2] != 0)]
    return 1 + int(begin[0]), found if found.size else None


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
