"""TwoNuSVC: the 2nu-SVM of two bounds on the shares of margin errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.estimators.base import BinaryClassifier
from paretoclf.formulations.base import within
from paretoclf.formulations.two_nu_svm import BY_CLASSES, TwoNuSVM
from paretoclf.path.svm.nu_path import trace_hulls


@dataclass(kw_only=True, eq=False, repr=False)
class TwoNuSVC(BinaryClassifier):
    """Support vector machine of two numbers, each of which bounds the share of a class that misses its margin.

    At most a share ``nu_plus`` of the positives misses the margin, and at least that share are support vectors; of the
    negatives ``nu_minus``. In these two, unlike in costs, every value in (0, 1] is one to try, whatever the units of
    the features (Davenport, Baraniuk & Scott 2010, section 2).

    Parameters
    ----------
    nu_plus, nu_minus : float
        In (0, 1]. At 1 a class is represented by its mean. Where the reduced convex hulls of the classes meet there is
        no classifier: `fit` then says from where on the way they meet.
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

    Examples
    --------
    >>> import paretoclf as pc
    >>> data = pc.datasets.make_bimodal(60)
    >>> svm = pc.TwoNuSVC(nu_plus=0.1, nu_minus=0.4).fit(data.X, data.y)
    >>> missed = svm.decision_function(data.X[data.y > 0]) < svm.rho_ - 1e-12
    >>> int(missed.sum()), svm.solution_.certificate.passes()  # at most 0.1 of 28
    (2, True)
    """

    nu_plus: float = 0.5
    nu_minus: float = 0.5

    @property
    def _margin(self) -> float:
        return float(self.rho_)

    def _fit(self, X: Any, labels: Array) -> None:
        pair = tuple(within({"nu_plus": self.nu_plus, "nu_minus": self.nu_minus}, BY_CLASSES).values())
        svm = TwoNuSVM(X, labels, self._kernel(X))
        self._named(svm.gram)
        t, stop = (0.0, (0.5, 0.5)) if pair == (1.0, 1.0) else (1.0, pair)  # a path from the means goes somewhere
        try:
            self.path_ = trace_hulls(svm, (1.0, 1.0), stop, progress=False)
        except InputError:  # they meet at both ends
            raise _no_classifier(pair, None) from None
        first, last = self.path_.breakpoints[[0, -1]]
        if not first <= t <= last or self.path_.rho(t) == 0.0:
            raise _no_classifier(pair, self.path_.line.classes(float(last)) if first == 0.0 else None)
        self.solution_ = self.path_.at(t)
        self._used = self.solution_.classifier
        self.rho_ = self.path_.rho(t)
        self.costs_ = self.solution_.costs


def _no_classifier(pair: tuple[float, ...], met: tuple[float, float] | None) -> InputError:
    """The hulls meet: on the way from the class means at some pair, or at these already."""
    where = "at the class means already" if met is None else f"from ({met[0]:.6g}, {met[1]:.6g}) on"
    return InputError(
        f"nu_plus and nu_minus must be larger than ({pair[0]:g}, {pair[1]:g}): the reduced convex hulls of the classes "
        f"meet {where}, and where they meet there is no classifier"
    )
