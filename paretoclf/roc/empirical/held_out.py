"""Held-out rates of every classifier along a path, where the held-out samples may have weights."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.roc.counts import area_of_counts
from paretoclf.roc.crossings import label_changes
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
        Samples labelled +1 in the first state.
    sample : int array of shape (e,)
        Sample that changes its label, in the order of the path.
    up : bool array of shape (e,)
        True where the label becomes +1.
    last : int array of shape (states,)
        Number of changes before each state; several that coincide make one step.
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
        weight = np.ones(self.test.size) if weight is None else weight
        columns = weight.reshape(self.test.size, -1)
        fpr = self._share_labelled_positive(~self.positive, columns)
        tpr = self._share_labelled_positive(self.positive, columns)
        start = int(self.first.sum())
        stop = start + 2 * int(self.up.sum()) - self.up.size
        if start > stop:
            fpr, tpr = fpr[::-1], tpr[::-1]
            start, stop = stop, start
        corner = np.ones((1, columns.shape[1]))
        if start > 0:
            fpr, tpr = (np.concatenate([0.0 * corner, rates]) for rates in (fpr, tpr))
        if stop < self.test.size:
            fpr, tpr = (np.concatenate([rates, corner]) for rates in (fpr, tpr))
        shape = -1, *weight.shape[1:]
        return 1.0 - fpr.reshape(shape), tpr.reshape(shape)

    def _share_labelled_positive(self, group: Mask, weight: Array) -> Array:
        """Share of a group's weight that is labelled +1 in each state, shape (states, r); weights (m, r)."""
        step = np.where(self.up[:, None], 1.0, -1.0) * weight[self.sample]
        in_group = np.where(group[self.sample, None], step, 0.0)
        none = np.zeros((1, weight.shape[1]))
        since_first = np.concatenate([none, np.cumsum(in_group, axis=0)])[self.last]
        share = (since_first + (self.first & group) @ weight) / (group @ weight)
        return np.clip(share, 0.0, 1.0)  # a running sum of weights ends in rounding

    @property
    def auc(self) -> float:
        """Area under the states by trapezoids, signed where they run backwards (as `RocCurve.auc`)."""
        tnr, tpr = self.rates()
        n_plus, n_minus = int(self.positive.sum()), int((~self.positive).sum())
        fp = np.rint((1.0 - tnr) * n_minus).astype(np.int64)
        tp = np.rint(tpr * n_plus).astype(np.int64)
        return area_of_counts(fp, tp, n_plus, n_minus)


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
    found = label_changes(scores)
    order = np.lexsort((found.swept, found.t))
    t, swept = found.t[order], found.swept[order]
    sample = found.sample[order].astype(np.int64)
    last = np.zeros(1, dtype=np.int64)
    if t.size:
        other_position = (t[1:] != t[:-1]) | (swept[1:] != swept[:-1])
        last = np.concatenate([last, np.flatnonzero(other_position) + 1, [t.size]])
    return HeldOut(test, y > 0, found.first, sample, found.up[order], last)
