"""Held-out rates of every classifier along a path, and what they become when the held-out samples get weights."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.roc.counts import area_of_counts
from paretoclf.roc.crossings import crossings
from paretoclf.roc.scores import PathScores


@dataclass(frozen=True, eq=False)
class HeldOut:
    """One split: which samples were held out, and the finite sequence of labellings that a path gives them.

    Along a path held-out labels change one after another; between two changes all classifiers have the same rates. So
    a path is a finite sequence of states, whatever it is parametrised by. The two trivial classifiers are added where
    the path does not reach them.

    Attributes
    ----------
    test : int array of shape (m,)
        Positions of the held-out samples in the data.
    positive : bool array of shape (m,)
        Which of them are positive.
    first : bool array of shape (m,)
        Which are labelled +1 in the first state.
    sample : int array of shape (e,)
        Which changes its label, in the order of the path.
    up : bool array of shape (e,)
        True where the label becomes +1.
    last : int array of shape (states,)
        How many changes lie before each state; several that coincide make one step.
    """

    test: Index = field(repr=False)
    positive: Mask = field(repr=False)
    first: Mask = field(repr=False)
    sample: Index = field(repr=False)
    up: Mask = field(repr=False)
    last: Index = field(repr=False)

    def rates(self, weight: Array | None = None) -> tuple[Array, Array]:
        """True negative and true positive rates of the states, from "all negative" to "all positive".

        The held-out samples may have weights (m,) or (m, r), such as the counts of r bootstrap draws; both classes must
        have some.
        """
        w = np.ones(self.test.size) if weight is None else weight
        step = np.where(self.up[:, None], 1.0, -1.0) * w.reshape(self.test.size, -1)[self.sample]
        found = []
        for mask in (~self.positive, self.positive):
            moved = np.cumsum(np.where(mask[self.sample, None], step, 0.0), axis=0)
            share = np.concatenate([np.zeros_like(moved[:1]), moved])[self.last] if len(moved) else np.zeros((1, 1))
            share = (share + (self.first & mask) @ w) / (mask @ w)
            found.append(np.clip(share, 0.0, 1.0))  # a running sum of weights ends in rounding
        start = int(self.first.sum())
        stop = start + 2 * int(self.up.sum()) - self.up.size
        if start > stop:
            found, start, stop = [rate[::-1] for rate in found], stop, start
        ends = [
            np.full((int(absent), found[0].shape[1]), value)
            for absent, value in ((start > 0, 0.0), (stop < self.test.size, 1.0))
        ]
        fpr, tpr = (np.concatenate([ends[0], rate, ends[1]]).reshape(-1, *w.shape[1:]) for rate in found)
        return 1.0 - fpr, tpr

    @property
    def auc(self) -> float:
        """Area under the states by trapezoids, signed where they run backwards (as `RocCurve.auc`)."""
        tnr, tpr = self.rates()
        plus, minus = int(self.positive.sum()), int((~self.positive).sum())
        fp, tp = (np.rint(rate * size).astype(np.int64) for rate, size in ((1.0 - tnr, minus), (tpr, plus)))
        return area_of_counts(fp, tp, plus, minus)


def held_out(scores: PathScores, y: Array, test: Index) -> HeldOut:
    """States of held-out samples along a path, from their scores, their labels and their positions in the data.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.roc.scores import PathScores
    >>> scores = PathScores(np.array([0.0, 1.0]), np.array([[-2.0], [-1.0]]), np.array([[1.0], [3.0]]))
    >>> held_out(scores, np.array([-1.0, 1.0]), np.array([4, 7])).rates()
    (array([1., 1., 0.]), array([0., 1., 1.]))
    """
    found = crossings(scores)
    order = np.lexsort((found.swept, found.t))
    t, swept = found.t[order], found.swept[order]
    apart = np.flatnonzero((t[1:] != t[:-1]) | (swept[1:] != swept[:-1])) + 1
    last = np.concatenate([[0], apart, [t.size]]) if t.size else np.zeros(1, dtype=np.int64)
    return HeldOut(test, y > 0, found.first, found.sample[order].astype(np.int64), found.up[order], last)
