"""ConformalSVC: p-values of both labels of each new sample, by full conformal prediction, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from paretoclf.common.checks import Array, Mask, check_positive_number, check_share
from paretoclf.estimators.base import BinaryClassifier
from paretoclf.path.deletion.conformal_labels import ConformalRanks, Nonconformity, optimum_to_rank_with, ranks_from
from paretoclf.problem.costs import Costs, as_costs
from paretoclf.problem.gram import Gram
from paretoclf.problem.lines import LabelledSamples


@dataclass(kw_only=True, eq=False, repr=False)
class ConformalSVC(BinaryClassifier):
    """Support vector machine that says of each new sample which labels it may have, by full conformal prediction.

    The p-value of a label is the rank of the new sample among all training samples, under the machine that is trained
    on them and on itself with that label. With exchangeable samples it is uniform, so that a set of all labels whose
    p-value exceeds alpha misses the true one with probability alpha, whatever the distribution; no sample is held back
    for calibration. Others refit for each label of each new sample. Here a line of costs leads from the machine
    of the training samples to each of them, in a few exchanges, and each is proved. Reference: Vovk, Gammerman & Shafer
    (2005), Algorithmic Learning in a Random World, chapters 2 and 4.

    Parameters
    ----------
    C : float
        Unit of the costs.
    costs : pair (C_plus, C_minus)
        Costs of the positives and of the negatives in training, in units of C.
    nonconformity : {"margin", "multiplier"}
        What is ranked: minus the margin ``y f(x)``, or the multiplier as a share of the cost.
    by_label : bool
        Whether a sample is ranked among those of its label only (Mondrian, label-conditional). Then alpha holds for
        either class, however unequal they and their costs are.
    smoothed : bool
        Whether ties are decided at random, so that alpha is met exactly; else they count whole, and the probability
        is at most alpha.
    kernel, gamma, bandwidth, pos_label
        As for `CostPathSVC`, except ``kernel="precomputed"``: the kernel value of a new sample with itself is needed.
    random_state : int, RandomState or None
        What decides ties.
    n_jobs : int, optional
        Processes at work on new samples. The result does not depend on it.

    Attributes
    ----------
    solution_ : Solution
        The machine of the training samples, with its certificate: what `predict` and `decision_function` use.
    symmetric_ : bool
        Whether everything that is ranked treats the new sample as it treats the others, which is what the guarantee
        needs. False for ``gamma="scale"``, which looks at the training samples alone: give gamma or bandwidth a number
        (that was chosen without these samples).
    classes_, pos_label_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `CostPathSVC`.

    Notes
    -----
    Multipliers are a function of the set of samples where the kernel is strictly positive definite (of copies of a
    sample the mean is ranked). Margins always are: of an interval of optimal intercepts the middle is taken.

    Examples
    --------
    >>> import paretoclf as pc
    >>> data = pc.datasets.make_bimodal(60)
    >>> svm = pc.ConformalSVC(bandwidth=2.0, random_state=0).fit(data.X, data.y)
    >>> svm.p_values(data.X[:2]).round(3)
    array([[0.627, 0.011],
           [0.037, 0.354]])
    >>> svm.predict_set(data.X[:2], alpha=0.05)
    array([[ True, False],
           [False,  True]])
    """

    C: float = 1.0
    costs: Any = (1.0, 1.0)
    nonconformity: Nonconformity = "margin"
    by_label: bool = False
    smoothed: bool = True
    random_state: Any = None
    n_jobs: int | None = None

    def _fit(self, X: Any, labels: Array) -> None:
        kernel = self._kernel(X)
        C, pair = check_positive_number(self.C, "C"), as_costs(self.costs)
        svm = LabelledSamples(self._named(Gram(X, kernel, free_origin=True)), labels)
        self._start, self._point = optimum_to_rank_with(svm, Costs(*(C * cost for cost in pair)))
        self.solution_ = self._start.at(0.0)
        self._used = self.solution_.classifier
        by_scale = isinstance(self.gamma, str) and self.gamma == "scale" and self.bandwidth is None
        self.symmetric_ = not (by_scale and isinstance(self.kernel, str) and self.kernel == "rbf")

    @property
    def _margin(self) -> float:
        return 1.0

    def ranks(self, X: Any) -> ConformalRanks:
        """Ranks of new samples with either label; columns are the negatives' label and the positives'.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (m, d)
        """
        X, what, own = self._samples(X), self.nonconformity, self.by_label
        return ranks_from(self._start, self._point, X, nonconformity=what, by_label=own, n_jobs=self.n_jobs)

    def p_values(self, X: Any) -> Array:
        """The p-value of each label.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (m, d)

        Returns
        -------
        array of shape (m, 2)
            In the order of ``classes_``.
        """
        seed = check_random_state(self.random_state).randint(2**31 - 1) if self.smoothed else None
        return self.ranks(X).p_values(seed)[:, :: int(self._sign)]

    def predict_set(self, X: Any, alpha: float = 0.1) -> Mask:
        """Mask of the labels that a sample may have: the true one is missing with probability alpha.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (m, d)
        alpha : float
            In (0, 1).

        Returns
        -------
        bool array of shape (m, 2)
            In the order of ``classes_``; both where a sample tells too little, neither where it is like no other.
        """
        alpha = check_share(alpha, "alpha")
        return np.asarray(self.p_values(X) > alpha)
