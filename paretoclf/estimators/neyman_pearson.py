"""NeymanPearsonSVC: a support vector machine with a guaranteed false positive rate."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from paretoclf.common.checks import check_share
from paretoclf.estimators.base import Problem, weights_of
from paretoclf.estimators.cost_path import CostPathSVC
from paretoclf.problem.gram import Gram
from paretoclf.proof.solution import Solution
from paretoclf.tuning.guarantee import Guarantee, ShiftedRule, guaranteed, order_statistic


class NeymanPearsonSVC(CostPathSVC):
    """`CostPathSVC` whose false positive rate is above alpha with probability at most delta.

    A part of the negatives (the samples whose label is not ``pos_label``) is left out of the training; the threshold is
    put just above one of their scores.

    Parameters
    ----------
    alpha : float
        The largest false positive rate, in (0, 1).
    delta : float
        How probable a larger one may be, in (0, 1).
    holdout : float
        Share of the negatives that is left out, in (0, 1). `negatives_needed` says how many must be.
    C, start, stop, costs, kernel, gamma, bandwidth, class_weight
        As for `CostPathSVC`: where it is trained. The threshold does not come from the costs.
    random_state : int, RandomState or None
        What draws the negatives to leave out.
    pos_label : label, optional
        As for `CostPathSVC`.

    Attributes
    ----------
    guarantee_ : Guarantee
        What was proved of the classifier that is used.
    left_out_ : int array
        Positions of the negatives that were left out, increasing.
    path_, solution_, t_, costs_, classes_, pos_label_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `CostPathSVC`, but `intercept_` and scores have the shifted threshold, `solution_` has not.

    Raises
    ------
    InputError
        If an argument is not what it must be, or too few negatives are left out; the message says how many are needed.
    DegeneratePathError
        If the path cannot be followed, or fails its proof.

    Notes
    -----
    The probability is over the left-out negatives, independent draws from those on which the classifier is used. It
    holds for costs that were fixed beforehand; of costs that were chosen by looking at what each of them gives on the
    left-out negatives it does not. Their weights do not count in it, but those of weight 0 are not among them.

    References
    ----------
    Tong, Feng & Li (2018), Science Advances 4(2), Proposition 1 and Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["healthy", "ill"], [200, 50])
    >>> X = rng.normal(size=(250, 2)) + np.where(y == "ill", 1.0, -1.0)[:, None]
    >>> svm = pc.NeymanPearsonSVC(alpha=0.05, delta=0.05, random_state=0, pos_label="ill").fit(X, y)
    >>> print(svm.guarantee_)
    P(false positive rate > 0.05) <= 0.0371 <= 0.05 (rank 99 of 100 left-out negatives)
    """

    guarantee_: Guarantee

    def __init__(
        self,
        *,
        alpha: float = 0.05,
        delta: float = 0.05,
        holdout: float = 0.5,
        C: float = 1.0,
        start: Any = (0.0, 2.0),
        stop: Any = (2.0, 0.0),
        costs: Any = None,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        bandwidth: float | None = None,
        class_weight: Any = None,
        random_state: Any = None,
        pos_label: Any = None,
    ) -> None:
        super().__init__(
            C=C,
            start=start,
            stop=stop,
            costs=costs,
            kernel=kernel,
            gamma=gamma,
            bandwidth=bandwidth,
            class_weight=class_weight,
            pos_label=pos_label,
        )
        self.alpha = alpha
        self.delta = delta
        self.holdout = holdout
        self.random_state = random_state

    def _set_t(self, t: float) -> Self:
        super()._set_t(t)
        self.guarantee_ = self._used.guarantee
        return self

    def _rule(self, solution: Solution) -> ShiftedRule:
        return guaranteed(solution.classifier, self._negatives, self.alpha, self.delta)

    def _problem(self, X: Any, y: Any, sample_weight: Any) -> Problem:
        X, labels = self._samples_and_labels(X, y)
        weights, rows = weights_of(self, X, labels, sample_weight)
        self.left_out_ = self._draw(rows[labels[rows] < 0])
        trained = ~np.isin(rows, self.left_out_)
        weights, rows = weights[trained], rows[trained]
        # Not even the bandwidth may come from what is left out.
        kernel = self._kernel(X[rows])
        self._negatives = self._as_trained(X[self.left_out_], rows)
        gram = Gram(self._as_trained(X[rows], rows), kernel, free_origin=True)
        return Problem(gram, labels[rows], weights, rows=rows, labels=labels)

    def _draw(self, negatives: Any) -> Any:
        share = check_share(self.holdout, "holdout")
        m = min(round(share * negatives.size), negatives.size - 1)
        order_statistic(m, self.alpha, self.delta)
        return np.sort(check_random_state(self.random_state).permutation(negatives)[:m])
