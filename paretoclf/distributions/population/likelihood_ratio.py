r"""The likelihood-ratio classifier: no classifier of any kind is better (the lemma of Neyman and Pearson).

It predicts +1 where :math:`\ell(x)=\log\frac{p_+(x)}{p_-(x)}\ge c`. For two Gaussians :math:`\ell` is quadratic, and
with the cumulant generating function :math:`K(z)=\log E_-e^{z\ell}`, which is elementary,

.. math::

   P_-(\ell>c)=\frac1{2\pi i}\int\frac{e^{K(z)-zc}}z\,dz,\qquad
   P_+(\ell>c)=1+\frac1{2\pi i}\int\frac{e^{K(z)-(z-1)c}}{z-1}\,dz

along a path from below to above that crosses the real axis between 0 and 1 (where it crosses elsewhere, the residues at
0 and 1 are subtracted). Through the saddle point of the integrand, and bent towards the side on which it decays, it
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

#: Tangent of the angle by which the path is bent from the vertical.
_BEND = np.tan(np.pi / 6)
#: The path is z = s + ... with imaginary part sinh(t): at this t the integrand is below 1e-13 even for one feature.
_LENGTH = 60.0
_PANELS = np.linspace(0.0, _LENGTH, 31)
#: The path crosses the real axis within this distance from 0.
_FAR = 1e3
#: Ends of a curve: the share of one class that is left there.
_END = 1e-6


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
        """Diagonalise both covariances."""
        plus = population.positives
        minus = population.negatives
        ratios, axes = eigh(plus.covariances[0], minus.covariances[0])
        return cls(ratios, axes.T @ (plus.mean - minus.mean))

    def cumulants(self, z: Array) -> Array:
        r"""Cumulant generating function K, for complex z of shape (n,)."""
        log_ratios = np.log(self.ratios)
        mixed = self.ratios + np.multiply.outer(z, 1.0 - self.ratios)
        of_variances = np.multiply.outer(1.0 - z, log_ratios) - np.log(mixed)
        of_means = (self.shift**2 / mixed).sum(axis=-1)
        return np.asarray((0.5 * of_variances).sum(axis=-1) - 0.5 * z * (1 - z) * of_means)

    def _cumulants_slope(self, z: float) -> float:
        """Derivative of K at a real number."""
        growth = 1.0 - self.ratios
        mixed = self.ratios + z * growth
        of_variances = -np.log(self.ratios) - growth / mixed
        of_means = self.shift**2 * ((1.0 - 2.0 * z) * mixed - z * (1.0 - z) * growth) / mixed**2
        return float((of_variances - of_means).sum() / 2)

    def saddle(self, threshold: float) -> float:
        """Real number at which the integrand is smallest on the real axis, a little away from its poles 0 and 1."""
        unequal = self.ratios[self.ratios != 1.0]
        ends = unequal / (unequal - 1.0)  # beyond the nearest of them K is infinite
        lowest = max(float(max(ends[ends < 0], default=-_FAR)), -_FAR)
        highest = min(float(min(ends[ends > 0], default=_FAR)), _FAR)
        low = lowest * (1 - 1e-9)
        high = 1.0 + (highest - 1.0) * (1 - 1e-9)

        def excess(z: float) -> float:
            return self._cumulants_slope(z) - threshold

        if excess(low) >= 0:
            saddle = low
        elif excess(high) <= 0:
            saddle = high
        else:
            saddle = float(brentq(excess, low, high, xtol=1e-6))
        distance = min(0.1, 1.0 / (1.0 + abs(threshold)))  # changes exp(-saddle threshold) by a factor of e at most
        for pole, inside in ((0.0, distance), (1.0, -distance)):
            if abs(saddle - pole) < distance:
                saddle = pole + inside
        return saddle

    def shares(self, threshold: float) -> tuple[float, float]:
        """False positive and true positive rate; small ones to about as many digits as large ones."""
        side = self._decaying_side(threshold)
        saddle = self.saddle(threshold)
        log_scale = float(self.cumulants(np.array([saddle + 0j]))[0].real) - saddle * threshold

        def functions(t: Array) -> Array:
            """Both integrands on a branch of a hyperbola with imaginary part sinh(t), over exp(log_scale)."""
            height = np.sinh(t)
            distance = np.sqrt(1.0 + height**2)
            z = saddle + side * _BEND * (distance - 1.0) + 1j * height
            derivative = (side * _BEND * height / distance + 1j) * np.cosh(t)
            kernel = np.exp(self.cumulants(z) - z * threshold - log_scale) * derivative
            return np.array([(kernel / z).imag, (kernel / (z - 1.0)).imag]) / np.pi

        of_minus, of_plus = integrate(functions, _PANELS)
        # The residues at 0 and at 1, where the path crosses the real axis on their left.
        fpr = np.exp(log_scale) * of_minus + (saddle < 0)
        tpr = np.exp(log_scale + threshold) * of_plus + (saddle < 1)
        return float(np.clip(fpr, 0.0, 1.0)), float(np.clip(tpr, 0.0, 1.0))

    def _decaying_side(self, threshold: float) -> float:
        """Side to which the path is bent, -1 or 1: the integrand decays there.

        K is linear at infinity. Where the variances of a feature agree it is quadratic, and either side will do.
        """
        growth = np.where(self.ratios == 1.0, 1e-300, 1.0 - self.ratios)
        with np.errstate(over="ignore"):
            of_means = 0.5 * (self.shift**2 / growth)
        linear = float((of_means - 0.5 * np.log(self.ratios)).sum())
        return -1.0 if linear > threshold else 1.0

    def curve(self, n: int) -> tuple[Array, Array, Array]:
        """Thresholds (decreasing), fpr, tpr: from one true positive in a million to all but one false positive in one.

        The next threshold is always put into the longest piece of the curve.
        """

        def root(excess: Callable[[float], float], sign: float) -> float:
            """Root of a decreasing function; sign says in which direction the bracket is doubled."""
            end = sign
            while excess(end) * sign > 0 and abs(end) < 1e6:
                end *= 2.0
            begin = -sign * 1e-3 if excess(0.0) * sign > 0 else -1e3 * sign
            return float(brentq(excess, begin, end, xtol=1e-3))

        def tpr_above_end(threshold: float) -> float:
            _, tpr = self.shares(threshold)
            return tpr - _END

        def tnr_below_end(threshold: float) -> float:
            fpr, _ = self.shares(threshold)
            return _END - (1.0 - fpr)

        thresholds = [root(tpr_above_end, 1.0), root(tnr_below_end, -1.0)]
        points = [self.shares(threshold) for threshold in thresholds]
        while len(points) < n:
            lengths = np.abs(np.diff(points, axis=0)).sum(axis=1)
            longest = int(np.argmax(lengths))
            middle = 0.5 * (thresholds[longest] + thresholds[longest + 1])
            thresholds.insert(longest + 1, middle)
            points.insert(longest + 1, self.shares(middle))
        fpr, tpr = np.array(points).T
        return np.array(thresholds), fpr, tpr


@dataclass(frozen=True, eq=False, repr=False)
class LikelihoodRatioCurve:
    """The ROC curve of the likelihood ratio: the upper bound of every ROC curve of these classes.

    Attributes
    ----------
    thresholds, fpr, tpr : array of shape (k,)
        Points of the curve, from (nearly) no positives to nearly all; thresholds decrease.
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
        fpr, tpr = self._with_corners()
        return float(np.trapezoid(tpr, fpr))

    def tpr_at(self, fpr: Any) -> Array:
        """True positive rate at given false positive rates, by linear interpolation between the points."""
        known_fpr, known_tpr = self._with_corners()
        return np.asarray(np.interp(np.asarray(fpr, dtype=np.float64), known_fpr, known_tpr))

    def _with_corners(self) -> tuple[Array, Array]:
        """Rates (fpr, tpr) from (0, 0) to (1, 1)."""
        fpr = np.concatenate([[0.0], self.fpr, [1.0]])
        tpr = np.concatenate([[0.0], self.tpr, [1.0]])
        return fpr, tpr

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
    source = check_rng(rng)
    half = check_count(draws, "draws", 1000) // 2
    positives = population.positives.draw(half, source)
    negatives = population.negatives.draw(half, source)
    ratio = np.sort(population.log_ratio(np.concatenate([positives, negatives])))[::-1]
    # Shares of the draws by their densities: each class has the mean of its weights, which is 1 but for chance.
    minus = expit(-ratio)
    plus = expit(ratio)
    fpr = np.cumsum(minus) / minus.sum()
    tpr = np.cumsum(plus) / plus.sum()
    steps = np.linspace(0.0, 2.0, n)  # equal along the curve
    kept = np.searchsorted(fpr + tpr, steps).clip(0, ratio.size - 1)
    error = float(1.0 / np.sqrt(2.0 * half))
    return LikelihoodRatioCurve(population, ratio[kept], fpr[kept], tpr[kept], error)
