"""Points of a trade-off curve: one hyperplane, and a whole row of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Mask, keep
from paretoclf.distributions.gaussian.moments import Distances
from paretoclf.distributions.gaussian.rates import Rate, Rates, check_rates, said
from paretoclf.problem.classifiers import LinearRule
from paretoclf.problem.samples import check_samples


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    r"""One hyperplane ``<w, x> + b = 0`` of a trade-off curve, and how it is judged.

    Attributes
    ----------
    w : array of shape (d,)
        Slope, with :math:`w^\top(\Sigma_++\Sigma_-)w=1`; 0 for a classifier that gives every sample one label.
    b : float
        Intercept.
    t : float
        :math:`w\propto(\Sigma_++t\Sigma_-)^{-1}\delta`: positive where both rates of Gaussian classes are above 1/2;
        nan where every sample gets one label.
    u_minus, u_plus : float
        Distances of the two means, in standard deviations of their classes.
    rates : (Rate, Rate)
        How positives and negatives are judged.
    cost, bound : float or None
        For a point chosen by costs: its expected cost, and a proved lower bound on the cost of any hyperplane.
    """

    w: Array
    b: float
    t: float
    u_minus: float
    u_plus: float
    rates: Rates = field(repr=False)
    cost: float | None = None
    bound: float | None = None

    def __post_init__(self) -> None:
        keep(self, "w")

    @property
    def tnr(self) -> float:
        """True negative rate."""
        return float(self.rates[1].correct(self.u_minus))

    @property
    def tpr(self) -> float:
        """True positive rate."""
        return float(self.rates[0].correct(self.u_plus))

    @property
    def fpr(self) -> float:
        """False positive rate."""
        return float(self.rates[1].error(self.u_minus))

    @property
    def fnr(self) -> float:
        """False negative rate."""
        return float(self.rates[0].error(self.u_plus))

    @property
    def weight(self) -> float:
        r"""The :math:`\lambda=u_-/u_+` whose problem (3) of Kim et al. it solves; nan outside the middle segment."""
        return self.u_minus / self.u_plus if self.u_minus > 0 < self.u_plus else float("nan")

    @property
    def distances(self) -> Distances:
        """Distances of the two means."""
        return Distances(self.u_minus, self.u_plus)

    @property
    def classifier(self) -> LinearRule:
        """The rule ``f(x) = w . x + b``."""
        return LinearRule(self.w, self.b)

    def __repr__(self) -> str:
        cost = "" if self.cost is None else f", cost={self.cost:.6g}"
        return f"OperatingPoint(fpr={self.fpr:.6g}, tpr={self.tpr:.6g}, t={self.t:.6g}{cost})"


@dataclass(frozen=True, eq=False, repr=False)
class TradeoffCurve:
    r"""Points of a trade-off curve, in the order of increasing true negative rate; arrays of length k.

    Attributes
    ----------
    w : array of shape (k, d)
        Slopes, with :math:`w^\top(\Sigma_++\Sigma_-)w=1`.
    b, t, u_minus, u_plus : array of shape (k,)
        As of an `OperatingPoint`.
    rates : (Rate, Rate)
        How positives and negatives are judged.
    """

    w: Array
    b: Array
    t: Array
    u_minus: Array
    u_plus: Array
    rates: Rates

    def __post_init__(self) -> None:
        keep(self, "w", "b", "t", "u_minus", "u_plus")

    @property
    def tnr(self) -> Array:
        """True negative rates."""
        return self.rates[1].correct(self.u_minus)

    @property
    def tpr(self) -> Array:
        """True positive rates."""
        return self.rates[0].correct(self.u_plus)

    @property
    def fpr(self) -> Array:
        """False positive rates."""
        return self.rates[1].error(self.u_minus)

    @property
    def fnr(self) -> Array:
        """False negative rates."""
        return self.rates[0].error(self.u_plus)

    @property
    def pareto(self) -> Mask:
        """Which of the classifiers are Pareto optimal for these rates: those with both rates positive."""
        plus, minus = self.rates
        return np.asarray((self.u_plus > plus.threshold) & (self.u_minus > minus.threshold))

    def judged_by(self, rates: Rate | Rates) -> TradeoffCurve:
        """Return the same classifiers, judged by other rates; `pareto` says which are still worth having."""
        return replace(self, rates=check_rates(rates))

    def point(self, j: int) -> OperatingPoint:
        """Return one point."""
        return OperatingPoint(
            w=self.w[j],
            b=float(self.b[j]),
            t=float(self.t[j]),
            u_minus=float(self.u_minus[j]),
            u_plus=float(self.u_plus[j]),
            rates=self.rates,
        )

    def scores(self, X: Any) -> Array:
        """Scores of every classifier, shape (k, m), of samples of shape (m, d): +1 is predicted where they are >= 0."""
        samples = check_samples(X, n_features=self.w.shape[1])
        return np.asarray((samples @ self.w.T + self.b).T)

    def __len__(self) -> int:
        return len(self.b)

    def __repr__(self) -> str:
        return f"TradeoffCurve({len(self)} points, {said(self.rates)})"
