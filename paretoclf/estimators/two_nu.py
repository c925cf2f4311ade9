"""TwoNuSVC: the 2nu-SVM of two bounds on the shares of margin errors."""

from __future__ import annotations

from typing import Any, Self

from paretoclf.common.errors import InputError
from paretoclf.estimators.base import BinaryClassifier
from paretoclf.formulations.base import within
from paretoclf.formulations.two_nu_svm import BY_CLASSES, TwoNuSVM
from paretoclf.path.nu import NuPath, trace_hulls
from paretoclf.problem.costs import Costs
from paretoclf.proof.solution import Solution

#: Where the path from the class means goes if these are asked for themselves.
_FROM_MEANS = (0.5, 0.5)


class TwoNuSVC(BinaryClassifier):
    """Support vector machine of two numbers, each of which bounds the share of a class that misses its margin.

    Of the positives at most a share ``nu_plus`` misses the margin, and at least that share are support vectors; of the
    negatives ``nu_minus``. In these two, unlike in costs, every value in (0, 1] is one to try, whatever the units of
    the features. The positives are those of ``pos_label``.

    Parameters
    ----------
    nu_plus, nu_minus : float
        In (0, 1]. At 1 a class is represented by its mean.
    kernel, gamma, bandwidth, pos_label
        As for `CostPathSVC`.

    Attributes
    ----------
    path_ : NuPath
        From the class means, (1, 1), straight in (1 / nu_plus, 1 / nu_minus) to the pair; ``path_.proof`` proves it.
    solution_ : Solution
        That of the pair, with its certificate.
    rho_ : float
        Its margin: positives with scores of at least ``rho_`` for their class are right and beyond it.
    costs_ : Costs
        At which the 2C-SVM has the same classifier, with scores divided by ``rho_``.
    classes_, pos_label_, coef_, intercept_, n_features_in_, feature_names_in_
        As for `CostPathSVC`.

    Raises
    ------
    InputError
        If an argument is not what it must be; or the reduced convex hulls of the classes meet, so that there is no
        classifier at the pair. The message says where on the way they meet.
    DegeneratePathError
        If the path cannot be followed, or fails its proof.

    References
    ----------
    Davenport, Baraniuk & Scott (2010), section 2.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["healthy", "ill"], 30)
    >>> X = rng.normal(size=(60, 2)) + np.where(y == "ill", 1.0, -1.0)[:, None]
    >>> svm = pc.TwoNuSVC(nu_plus=0.1, nu_minus=0.4, pos_label="ill").fit(X, y)
    >>> missed = svm.decision_function(X[y == "ill"]) < svm.rho_ - 1e-12
    >>> int(missed.sum()), svm.solution_.certificate.passes()  # at most 0.1 of 30
    (2, True)
    """

    path_: NuPath
    solution_: Solution
    rho_: float
    costs_: Costs

    def __init__(
        self,
        *,
        nu_plus: float = 0.5,
        nu_minus: float = 0.5,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        bandwidth: float | None = None,
        pos_label: Any = None,
    ) -> None:
        self.nu_plus = nu_plus
        self.nu_minus = nu_minus
        self.kernel = kernel
        self.gamma = gamma
        self.bandwidth = bandwidth
        self.pos_label = pos_label

    def fit(self, X: Any, y: Any) -> Self:
        """Trace the path from the class means to the pair.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n, d)
            Samples; for ``kernel="precomputed"`` their kernel values, shape (n, n).
        y : array of shape (n,)
            Labels of two classes.

        Returns
        -------
        TwoNuSVC
            Itself.
        """
        X, labels = self._samples_and_labels(X, y)
        pair = tuple(within({"nu_plus": self.nu_plus, "nu_minus": self.nu_minus}, BY_CLASSES).values())
        svm = TwoNuSVM(X, labels, self._kernel(X))
        t, stop = (0.0, _FROM_MEANS) if pair == (1.0, 1.0) else (1.0, pair)
        try:
            self.path_ = trace_hulls(svm, (1.0, 1.0), stop, progress=False)
        except InputError:  # they meet at both ends
            raise _no_classifier(pair, None) from None
        first, last = self.path_.breakpoints[[0, -1]]
        if not first <= t <= last or self.path_.rho(t) == 0.0:
            raise _no_classifier(pair, self.path_.along.classes(float(last)) if first == 0.0 else None)
        self.solution_ = self.path_.at(t)
        self._used, self.rho_, self.costs_ = self.solution_.classifier, self.path_.rho(t), self.solution_.costs
        return self


def _no_classifier(pair: tuple[float, ...], met: tuple[float, float] | None) -> InputError:
    """The hulls meet: on the way from the class means at some pair, or at these already."""
    where = "at the class means already" if met is None else f"from ({met[0]:.6g}, {met[1]:.6g}) on"
    return InputError(
        f"nu_plus and nu_minus must be larger than ({pair[0]:g}, {pair[1]:g}): the reduced convex hulls of the classes "
        f"meet {where}, and where they meet there is no classifier"
    )
