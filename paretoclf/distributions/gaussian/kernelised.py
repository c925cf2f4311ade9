r"""The trade-off curve through a kernel: the closed form in the span of the samples.

Kim et al. (2006), section 6. A factor of the Gram, :math:`G=LL^\top`, has the samples as rows of features in which
everything is as without a kernel; the covariances there are sample covariances plus ridges :math:`\delta_\pm`. Each
member of the family is then written in coefficients, :math:`a=\sum_i\alpha_i\phi(x_i)`
(:mod:`paretoclf.distributions.gaussian.span`), and new samples need kernel values only.

In the whole feature space the complement of the samples has variances :math:`\delta_+` and :math:`\delta_-`. A member
is optimal there too where :math:`t_+\delta_++t_-\delta_->0`: always between A and B, and on an outer segment as far as
the ratio :math:`\delta_-/\delta_+` is not beyond the ratios of variances in the span, the rule with equal ridges.
`KernelTradeoff.spans` says it of a point. Elsewhere the curve is optimal among what kernel values can express.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, check_labels
from paretoclf.distributions.gaussian.closed_form import GaussianTradeoff
from paretoclf.distributions.gaussian.estimation import Estimate, check_reg, check_shrinkage, estimates
from paretoclf.distributions.gaussian.family import Members
from paretoclf.distributions.gaussian.moments import Moments
from paretoclf.distributions.gaussian.operating import OperatingPoint, TradeoffCurve
from paretoclf.distributions.gaussian.rates import Rates
from paretoclf.distributions.gaussian.span import coefficients
from paretoclf.problem.classifiers import KernelRule
from paretoclf.problem.gram import Gram


@dataclass(frozen=True, eq=False, repr=False)
class KernelPoint(OperatingPoint):
    r"""An operating point through a kernel; `w` is its slope in the features of the Gram's factor.

    Attributes
    ----------
    gram : Gram
        Training samples and kernel.
    coef : array of shape (n,)
        Coefficients :math:`\alpha` of the training samples.
    """

    gram: Gram = field(kw_only=True)
    coef: Array = field(kw_only=True)

    @property
    def classifier(self) -> KernelRule:  # type: ignore[override]
        """The rule ``f(x) = sum_i coef_i k(x_i, x) + b``."""
        return KernelRule(self.gram, self.coef, self.b)


@dataclass(frozen=True, eq=False, repr=False)
class KernelCurve(TradeoffCurve):
    """Points of a trade-off curve through a kernel.

    Attributes
    ----------
    gram : Gram
        Training samples and kernel.
    coef : array of shape (k, n)
        Coefficients of the training samples.
    """

    gram: Gram
    coef: Array

    def point(self, j: int) -> KernelPoint:
        """Return one point."""
        return KernelPoint(**vars(super().point(j)), gram=self.gram, coef=self.coef[j])

    def scores(self, X: Any) -> Array:
        """Scores of every classifier, shape (k, m), of m new samples: +1 is predicted where they are >= 0."""
        kernel_values = self.gram.cross(X)
        return np.asarray(self.coef @ kernel_values.T + self.b[:, None])


@dataclass(frozen=True, eq=False, repr=False)
class KernelTradeoff(GaussianTradeoff):
    """The optimal trade-off curve of two classes in the feature space of a kernel.

    Made by ``gaussian_tradeoff(X, y, kernel=..., reg=...)``.

    Attributes
    ----------
    moments : Moments
        In the features of the Gram's factor.
    gram : Gram
        Training samples and kernel.
    y : array of shape (n,)
        Labels.
    estimates : (Estimate, Estimate)
        Moments of the positives and of the negatives, with their ridges.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> X, y = np.array([[0.0], [1.0], [4.0], [2.0], [3.0]]), np.array([1, 1, 1, -1, -1])  # no line separates these
    >>> tradeoff = pc.gaussian_tradeoff(X, y, kernel=pc.RBF(0.5), reg=0.01)
    >>> tradeoff.minimax().classifier.predict(X)
    array([ 1.,  1.,  1., -1., -1.])
    """

    gram: Gram = field(kw_only=True)
    y: Array = field(kw_only=True)
    estimates: tuple[Estimate, Estimate] = field(kw_only=True)

    @classmethod
    def of(
        cls, X: Any, y: Any, kernel: Any, *, low_rank: Any, reg: Any, shrinkage: Any, rates: Rates
    ) -> KernelTradeoff:
        """Estimate the moments in the features of a factor of the Gram."""
        gram = Gram(X, kernel, low_rank)
        labels = check_labels(y, gram.n, of=X)
        found = estimates(np.asarray(gram.factor), labels, check_reg(reg), check_shrinkage(shrinkage))
        return cls(Moments.from_estimates(*found), rates, gram=gram, y=labels, estimates=found)

    @property
    def ridge(self) -> tuple[float, float]:
        """Variances of positives and negatives in every direction that no sample has."""
        return self.estimates[0].ridge, self.estimates[1].ridge

    def spans(self, point: OperatingPoint) -> bool:
        """Whether a point of the curve is optimal in the whole feature space, not only in the span of the samples."""
        # t alone does not say which of the two weights is negative: between A and B both are positive.
        if point.u_plus >= 0 and point.u_minus >= 0:
            return True
        ridge_plus, ridge_minus = self.ridge
        complement = ridge_plus + point.t * ridge_minus
        return complement > 0 if point.u_plus >= 0 else complement < 0

    def _curve(self, at: Members) -> KernelCurve:
        made = super()._curve(at)
        size = np.linalg.norm(at.y, axis=-1)  # w is the member over this
        kept = self.estimates[0].kept, self.estimates[1].kept
        rows = []
        for w, scale, plus, minus in zip(made.w, size, at.t_plus, at.t_minus, strict=True):
            weights = float(plus), float(minus)
            rows.append(coefficients(self.gram, self.y, w, 1.0 / scale, weights, self.ridge, kept))
        return KernelCurve(**vars(made), gram=self.gram, coef=np.array(rows))

    def _trivial(self, label: int, cost: float, bound: float) -> KernelPoint:
        made = super()._trivial(label, cost, bound)
        return KernelPoint(**vars(made), gram=self.gram, coef=np.zeros(self.gram.n))

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, {self.gram.n} samples, {self.gram.kernel})"
