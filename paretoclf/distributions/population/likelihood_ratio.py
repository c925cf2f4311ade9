r"""The likelihood-ratio classifier: what no classifier of any kind can beat (the lemma of Neyman and Pearson).

It predicts +1 where :math:`\ell(x)=\log\frac{p_+(x)}{p_-(x)}\ge c`. For two Gaussians :math:`\ell` is quadratic, and
with the cumulant generating function :math:`K(z)=\log E_-e^{z\ell}`, which is elementary,

.. math::

   P_-(\ell>c)=\frac1{2\pi i}\int\frac{e^{K(z)-zc}}z\,dz,\qquad
   P_+(\ell>c)=1+\frac1{2\pi i}\int\frac{e^{K(z)-(z-1)c}}{z-1}\,dz

along a path from below to above that crosses the real axis between 0 and 1 (where it crosses elsewhere, the residues at
0 and 1 are taken off). Through the saddle point of the integrand, and bent towards the side on which it decays, it
needs a few hundred nodes, and small rates come out as accurately as large ones. For mixtures both rates are means over
one set of draws from the two classes in equal parts, with the weights :math:`2/(1+e^{\pm\ell})`, which are at most 2 in
either tail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.special import expit

from paretoclf.common.checks import Array, Rng, check_count, check_rng
from paretoclf.distributions.population.classes import Population
from paretoclf.distributions.population.quadrature import integrate
from paretoclf.distributions.population.solution import check_asymmetry
from paretoclf.problem.classifiers import Rule

#: How far the path is bent from the vertical.
_BEND = np.tan(np.pi / 6)
#: The path is z = s + ... with imaginary part sinh(t): at this t the integrand is below 1e-13 even for one feature.
_LENGTH = 60.0
_PANELS = np.linspace(0.0, _LENGTH, 31)
#: Where the path crosses the real axis: not beyond this.
_FAR = 1e3


@dataclass(frozen=True)
class LikelihoodRatioRule(Rule):
    r"""``f(x) = log p_plus(x) - log p_minus(x) - threshold``: optimal among all classifiers at its false positive rate.

    Parameters
    ----------
    population : Population
        The two classes.
    threshold : float
        c; for costs and priors :math:`\log\frac{p_-C_-}{p_+C_+}`.
    """

    population: Population = field(repr=False)
    threshold: float

    @property
    def b(self) -> float:  # type: ignore[override]
        """Minus the threshold."""
        return -self.threshold

    def decision_function(self, X: Any) -> Array:
        """Scores f of shape (m,)."""
        return self.population.log_ratio(X) - self.threshold


@dataclass(frozen=True, eq=False)
class _Gaussians:
    """Two Gaussian classes in coordinates in which the negatives are N(0, I): variances and mean of the positives."""

    ratios: Array
    shift: Array

    @classmethod
    def of(cls, population: Population) -> _Gaussians:
        plus, minus = population.positives, population.negatives
        ratios, W = eigh(plus.covariances[0], minus.covariances[0])
        return cls(ratios, W.T @ (plus.mean - minus.mean))

    def cumulants(self, z: Array) -> Array:
        r"""K, for complex z of shape (n,)."""
        E = self.ratios + np.multiply.outer(z, 1.0 - self.ratios)
        parts = np.multiply.outer(1.0 - z, np.log(self.ratios)) - np.log(E)
        return np.asarray((0.5 * parts).sum(axis=-1) - 0.5 * z * (1 - z) * (self.shift**2 / E).sum(axis=-1))

    def saddle(self, threshold: float) -> float:
        """Where the integrand is smallest on the real axis, a little away from its poles 0 and 1."""
        unequal = self.ratios[self.ratios != 1.0]
        ends = unequal / (unequal - 1.0)  # beyond the nearest of them K is infinite
        low = max(float(max(ends[ends < 0], default=-_FAR)), -_FAR) * (1 - 1e-9)
        high = 1.0 + (min(float(min(ends[ends > 0], default=_FAR)), _FAR) - 1.0) * (1 - 1e-9)

        def excess(z: float) -> float:
            E = self.ratios + z * (1.0 - self.ratios)
            bent = self.shift**2 * ((1.0 - 2.0 * z) * E - z * (1.0 - z) * (1.0 - self.ratios)) / E**2
            return float((-np.log(self.ratios) - (1.0 - self.ratios) / E - bent).sum() / 2 - threshold)

        if excess(low) >= 0:
            s = low
        elif excess(high) <= 0:
            s = high
        else:
            s = float(brentq(excess, low, high, xtol=1e-6))
        away = min(0.1, 1.0 / (1.0 + abs(threshold)))  # which changes exp(-s threshold) by a factor of e at most
        for pole, inside in ((0.0, away), (1.0, -away)):
            if abs(s - pole) < away:
                s = pole + inside
        return s

    def shares(self, threshold: float) -> tuple[float, float]:
        """False positive and true positive rate; small ones to about as many digits as large ones."""
        # Linear part of K at infinity; where the variances of a feature agree it is quadratic, and either side will do.
        off = np.where(self.ratios == 1.0, 1e-300, 1.0 - self.ratios)
        with np.errstate(over="ignore"):
            linear = float((0.5 * (self.shift**2 / off) - 0.5 * np.log(self.ratios)).sum())
        side, s = -1.0 if linear > threshold else 1.0, self.saddle(threshold)
        top = float(self.cumulants(np.array([s + 0j]))[0].real) - s * threshold

        def functions(t: Array) -> Array:
            y = np.sinh(t)
            z = s + side * _BEND * (np.sqrt(1.0 + y**2) - 1.0) + 1j * y
            dz = (side * _BEND * y / np.sqrt(1.0 + y**2) + 1j) * np.cosh(t)
            kernel = np.exp(self.cumulants(z) - z * threshold - top) * dz
            return np.array([(kernel / z).imag, (kernel / (z - 1.0)).imag]) / np.pi

        first, second = integrate(functions, _PANELS)
        fpr, tpr = np.exp(top) * first + (s < 0), np.exp(top + threshold) * second + (s < 1)
        return float(np.clip(fpr, 0.0, 1.0)), float(np.clip(tpr, 0.0, 1.0))

    def curve(self, n: int) -> tuple[Array, Array, Array]:
        """Thresholds (decreasing), fpr, tpr: from one true positive in a million to all but one false positive in one.

        The next threshold is always put into the longest piece of the curve.
        """

        def reach(excess: Callable[[float], float], sign: float) -> float:
            step = sign
            while excess(step) * sign > 0 and abs(step) < 1e6:
                step *= 2.0
            return float(brentq(excess, -sign * 1e-3 if excess(0.0) * sign > 0 else -1e3 * sign, step, xtol=1e-3))

        thresholds = [
            reach(lambda c: self.shares(c)[1] - 1e-6, 1.0),
            reach(lambda c: 1e-6 - (1.0 - self.shares(c)[0]), -1.0),
        ]
        points = [self.shares(c) for c in thresholds]
        while len(points) < n:
            k = int(np.argmax(np.abs(np.diff(points, axis=0)).sum(axis=1)))
            thresholds.insert(k + 1, 0.5 * (thresholds[k] + thresholds[k + 1]))
            points.insert(k + 1, self.shares(thresholds[k + 1]))
        fpr, tpr = np.array(points).T
        return np.array(thresholds), fpr, tpr


@dataclass(frozen=True, eq=False, repr=False)
class LikelihoodRatioCurve:
    """The ROC curve of the likelihood ratio: the upper bound of every ROC curve of these classes.

    Attributes
    ----------
    thresholds, fpr, tpr : array of shape (k,)
        From (nearly) no positives to nearly all; thresholds decrease.
    error : float
        Standard error of the rates: 0 for two Gaussians, whose curve is exact.
    """

    population: Population = field(repr=False)
    thresholds: Array
    fpr: Array
    tpr: Array
    error: float

    @property
    def auc(self) -> float:
        """Area under the curve, with its corners (0, 0) and (1, 1)."""
        u, v = np.concatenate([[0.0], self.fpr, [1.0]]), np.concatenate([[0.0], self.tpr, [1.0]])
        return float(np.trapezoid(v, u))

    def tpr_at(self, fpr: Any) -> Array:
        """True positive rate at given false positive rates, by linear interpolation between the points."""
        u, v = np.concatenate([[0.0], self.fpr, [1.0]]), np.concatenate([[0.0], self.tpr, [1.0]])
        return np.asarray(np.interp(np.asarray(fpr, dtype=np.float64), u, v))

    def best(self, testing_asymmetry: float) -> LikelihoodRatioRule:
        """Return Bayes' rule for costs that have this asymmetry."""
        odds = check_asymmetry(testing_asymmetry, "testing_asymmetry")
        return LikelihoodRatioRule(self.population, -odds - self.population.log_prior_odds)

    def __repr__(self) -> str:
        how = "exact" if self.error == 0 else f"standard error {self.error:.1e}"
        return f"LikelihoodRatioCurve({len(self.fpr)} points, area {self.auc:.6f}, {how})"


def likelihood_ratio_curve(
    population: Population, n: int = 201, *, draws: int = 200_000, rng: Rng = 0
) -> LikelihoodRatioCurve:
    """The ROC curve of the likelihood ratio, exact for two Gaussians and by Monte Carlo for mixtures.

    Parameters
    ----------
    population : Population
        The two classes.
    n : int
        Number of points, at least 2.
    draws : int
        Mixtures: number of draws, half of them from each class, at least 1000.
    rng : int or numpy.random.Generator
        Mixtures: source of the draws.

    Raises
    ------
    InputError
        If there are too few points or draws.

    References
    ----------
    Kim et al. (2006), sections 1.1, 1.2 and 4: Neyman-Pearson optimal classifiers.

    Examples
    --------
    Equal covariances: the rule is linear, and the area is known.

    >>> import numpy as np
    >>> from paretoclf.distributions.population import Mixture, Population, likelihood_ratio_curve
    >>> from scipy.special import ndtr
    >>> pair = Population(Mixture([1.0, 0.0], np.eye(2)), Mixture([-1.0, 0.0], np.eye(2)))
    >>> curve = likelihood_ratio_curve(pair, n=401)
    >>> round(curve.auc, 4), round(float(ndtr(np.sqrt(2.0))), 4)
    (0.9213, 0.9214)
    """
    n = check_count(n, "n", 2)
    if population.gaussian:
        return LikelihoodRatioCurve(population, *_Gaussians.of(population).curve(n), error=0.0)
    source, half = check_rng(rng), check_count(draws, "draws", 1000) // 2
    X = np.concatenate([population.positives.draw(half, source), population.negatives.draw(half, source)])
    ratio = np.sort(population.log_ratio(X))[::-1]
    # Shares of the draws by their densities: each class has the mean of its weights, which is 1 but for chance.
    minus, plus = expit(-ratio), expit(ratio)
    fpr, tpr = np.cumsum(minus) / minus.sum(), np.cumsum(plus) / plus.sum()
    # Equal steps along the curve.
    kept = np.searchsorted(fpr + tpr, np.linspace(0.0, 2.0, n)).clip(0, ratio.size - 1)
    return LikelihoodRatioCurve(population, ratio[kept], fpr[kept], tpr[kept], error=float(1.0 / np.sqrt(2.0 * half)))
