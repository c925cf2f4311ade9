"""ConformalSVC: p-values of both labels of each new sample, by full conformal prediction, exactly."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from paretoclf.common.checks import Array, Mask, check_positive_number, check_share
from paretoclf.estimators.base import BinaryClassifier
from paretoclf.path.deletion.conformal_labels import ConformalRanks, Nonconformity, optimum_to_rank_with, ranks_from
from paretoclf.problem.costs import Costs, as_costs
from paretoclf.problem.gram import Gram
from paretoclf.problem.lines import LabelledSamples
from paretoclf.proof.solution import Solution


class ConformalSVC(BinaryClassifier):
    """Support vector machine that says of each new sample which labels it may have, by full conformal prediction.

    The p-value of a label is the rank of the new sample among all training samples, under the machine that is trained
    on them and on itself with that label. Of exchangeable samples it is uniform, so that a set of all labels whose
    p-value exceeds alpha misses the true one with probability alpha, whatever the distribution; no sample is held back
    for calibration. Others refit for each label of each new sample. Here a line of costs leads from the machine
    of the training samples to each of them, in a few exchanges, and each is proved.

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
    kernel, gamma, bandwidth
        As for `CostPathSVC`, but not ``"precomputed"``: the kernel value of a new sample with itself is needed.
    random_state : int, RandomState or None
        What decides ties.
    n_jobs : int, optional
        Processes at work on new samples. The result does not depend on it.
    pos_label : label, optional
        As for `CostPathSVC`.

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

    Raises
    ------
    InputError
        If an argument is not what it must be.
    DegeneratePathError
        If an optimum cannot be found and proved.

    Notes
    -----
    Multipliers are a function of the set of samples where the kernel is strictly positive definite (of copies of a
    sample the mean is ranked). Margins always are: of an interval of optimal intercepts the middle is taken.

    References
    ----------
    Vovk, Gammerman & Shafer (2005), Algorithmic Learning in a Random World, chapters 2 and 4.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["healthy", "ill"], 30)
    >>> X = rng.normal(size=(60, 2)) + np.where(y == "ill", 1.0, -1.0)[:, None]
    >>> svm = pc.ConformalSVC(bandwidth=2.0, random_state=0, pos_label="ill").fit(X, y)
    >>> svm.p_values([[2.0, 1.0], [0.3, 0.0]]).round(3)
    array([[0.01 , 0.83 ],
           [0.07 , 0.105]])
    >>> svm.predict_set([[2.0, 1.0], [0.3, 0.0]], alpha=0.05)
    array([[False,  True],
           [ True,  True]])
    """

    solution_: Solution
    symmetric_: bool

    def __init__(
        self,
        *,
        C: float = 1.0,
        costs: Any = (1.0, 1.0),
        nonconformity: Nonconformity = "margin",
        by_label: bool = False,
        smoothed: bool = True,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        bandwidth: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        pos_label: Any = None,
    ) -> None:
        self.C = C
        self.costs = costs
        self.nonconformity = nonconformity
        self.by_label = by_label
        self.smoothed = smoothed
        self.kernel = kernel
        self.gamma = gamma
        self.bandwidth = bandwidth
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.pos_label = pos_label

    def fit(self, X: Any, y: Any) -> Self:
        """Find the machine of the training samples, from which all lines leave.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            Samples.
        y : array of shape (n,)
            Labels of two classes.

        Returns
        -------
        ConformalSVC
            Itself.
        """
        X, labels = self._samples_and_labels(X, y)
        kernel = self._kernel(X)
        C, pair = check_positive_number(self.C, "C"), as_costs(self.costs)
        svm = LabelledSamples(Gram(X, kernel, free_origin=True), labels)
        self._start, self._point = optimum_to_rank_with(svm, Costs(*(C * cost for cost in pair)))
        self.solution_ = self._start.at(0.0)
        self._used = self.solution_.classifier
        by_scale = isinstance(self.gamma, str) and self.gamma == "scale" and self.bandwidth is None
        self.symmetric_ = not (by_scale and isinstance(self.kernel, str) and self.kernel == "rbf")
        return self

    def ranks(self, X: Any) -> ConformalRanks:
        """Ranks of new samples with either label; columns are the negatives' label and the positives'.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (m, d)
        """
        check_is_fitted(self)
        X = self._samples(X)
        how: dict[str, Any] = {"nonconformity": self.nonconformity, "by_label": self.by_label}
        return ranks_from(self._start, self._point, X, **how, n_jobs=self.n_jobs)

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
        """Which labels a sample may have: the true one is missing with probability alpha.

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
