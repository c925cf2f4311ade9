"""NeymanPearsonSVC: a support vector machine with a guaranteed false positive rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from paretoclf.common.checks import Array, Index, check_share
from paretoclf.common.errors import InputError
from paretoclf.estimators.cost_path import CostPathSVC
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.tuning.guarantee import ShiftedRule, guaranteed, negatives_needed


@dataclass(kw_only=True, eq=False, repr=False)
class NeymanPearsonSVC(CostPathSVC):
    """`CostPathSVC` whose false positive rate is above alpha with probability at most delta.

    A part of the negatives (the samples whose label is not ``pos_label``) is left out of the training; the threshold is
    put just above one of their scores (Tong, Feng & Li 2018, Science Advances 4(2), Proposition 1 and Algorithm 1).

    Parameters
    ----------
    alpha : float
        The largest false positive rate, in (0, 1).
    delta : float
        How probable a larger one may be, in (0, 1).
    holdout : float
        Share of the negatives that is left out, in (0, 1). `negatives_needed` says how many must be: `fit` refuses
        fewer, and says the same.
    C, start, stop, costs, kernel, gamma, bandwidth, low_rank, class_weight, pos_label
        As for `CostPathSVC`: where it is trained. The threshold does not come from the costs.
    random_state : int, RandomState or None
        What draws the negatives to leave out.
    transformer : scikit-learn transformer, optional
        Steps such as ``StandardScaler()`` or a ``Pipeline`` that selects features. It is fitted, with labels, to the
        samples that are trained on, and not to those left out. In a ``Pipeline`` before this estimator it would see
        these, and the guarantee would not hold.

    Attributes
    ----------
    guarantee_ : Guarantee
        What was proved of the classifier that is used.
    left_out_ : int array
        Positions of the negatives that were left out, increasing.
    transformer_ : transformer or None
        The one that was fitted; `coef_` and `path_` are of the samples as it returns them.
    path_, solution_, t_, costs_, classes_, pos_label_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `CostPathSVC`, but `intercept_` and scores have the shifted threshold, `solution_` has not.

    Notes
    -----
    The probability is over the left-out negatives, independent draws from those on which the classifier is used, and
    seen by nothing that was learned: a step before this estimator that was fitted to them breaks it. It holds for costs
    that were fixed beforehand; of costs that were chosen by looking at what each of them gives on the left-out
    negatives it does not. Their weights do not count in it, but those of weight 0 are not among them.

    Examples
    --------
    >>> import paretoclf as pc
    >>> data = pc.datasets.make_bimodal(400)
    >>> svm = pc.NeymanPearsonSVC(alpha=0.05, delta=0.05, random_state=0).fit(data.X, data.y)
    >>> print(svm.guarantee_)
    P(false positive rate > 0.05) <= 0.0263 <= 0.05 (rank 107 of 108 left-out negatives)
    """

    alpha: float = 0.05
    delta: float = 0.05
    holdout: float = 0.5
    random_state: Any = None
    transformer: Any = None

    def _set_t(self, t: float) -> None:
        super()._set_t(t)
        self.guarantee_ = self._used.guarantee

    def _rule(self, solution: Solution) -> ShiftedRule:
        return guaranteed(solution.classifier, self._negatives, self.alpha, self.delta)

    def _trained(self, X: Any, labels: Array, rows: Index) -> tuple[Index, Any]:
        negatives, share = rows[labels[rows] < 0], check_share(self.holdout, "holdout")
        m = min(round(share * negatives.size), negatives.size - 1)
        needed = negatives_needed(self.alpha, self.delta)
        if m < needed:
            remedy = f"with holdout={share:g} that is some {int(np.ceil(needed / share))} negatives in all"
            enough = np.ceil(1000 * needed / negatives.size) / 1000
            if enough < 1:
                remedy += f", and of the {negatives.size} here holdout={enough:g}"
            raise InputError(
                f"alpha = {self.alpha:g} with delta = {self.delta:g} needs at least {needed} left-out negatives, "
                f"got {m}: {remedy}"
            )
        self.left_out_ = np.sort(check_random_state(self.random_state).permutation(negatives)[:m])
        trained = np.setdiff1d(rows, self.left_out_)
        self.transformer_ = self._fitted(X[trained], labels[trained])
        self._negatives = self._as_trained(X[self.left_out_], trained)
        # Not even the bandwidth may come from what is left out.
        return trained, X[trained] if self.transformer_ is None else self._as_trained(X[trained], trained)

    def _fitted(self, X: Any, labels: Array) -> Any:
        """The transformer, fitted to the samples that are trained on."""
        if self.transformer is None:
            return None
        if self.__sklearn_tags__().input_tags.pairwise:
            raise InputError("transformer must be None where kernel='precomputed': kernel values are no features")
        return clone(self.transformer).fit(X, labels)

    def _as_trained(self, X: Any, rows: Index) -> Any:
        return super()._as_trained(X, rows) if self.transformer_ is None else self.transformer_.transform(X)
