r"""The ROC curve of a population over the training asymmetry, and for which testing asymmetry each point is best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit, ndtr

from paretoclf.common.checks import Array, Mask, check_count, real_array
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import HULL_ROUNDING, ROC_TIE
from paretoclf.distributions.population.classes import Mixture, Population
from paretoclf.distributions.population.losses import check_loss
from paretoclf.distributions.population.solution import PopulationSolution, check_asymmetry, solution_at
from paretoclf.problem.classifiers import LinearRule

#: Training asymmetries where none are given: dense towards both ends.
DEFAULT_ASYMMETRIES = expit(np.linspace(-7.0, 7.0, 141))


@dataclass(frozen=True, eq=False, repr=False)
class PopulationCurve:
    r"""Minimisers of one expected loss over the training asymmetry; arrays of length k.

    Attributes
    ----------
    population : Population
        The two classes.
    loss : str
        Which loss.
    asymmetries : array of shape (k,)
        Training asymmetries :math:`\gamma`, increasing.
    solutions : sequence of PopulationSolution
        The minimisers.
    """

    population: Population = field(repr=False)
    loss: str
    asymmetries: Array
    solutions: Sequence[PopulationSolution] = field(repr=False)

    @cached_property
    def w(self) -> Array:
        """Slopes, shape (k, d)."""
        return np.array([s.w for s in self.solutions])

    @cached_property
    def b(self) -> Array:
        """Intercepts."""
        return np.array([s.b for s in self.solutions])

    @cached_property
    def fpr(self) -> Array:
        """False positive rates."""
        return np.array([s.fpr for s in self.solutions])

    @cached_property
    def tpr(self) -> Array:
        """True positive rates."""
        return np.array([s.tpr for s in self.solutions])

    @cached_property
    def log_slope(self) -> Array:
        r"""Logarithms of :math:`dv/du`; nan where the curve has no slope."""
        return np.array([s.log_slope for s in self.solutions])

    @cached_property
    def testing_asymmetries(self) -> Array:
        r""":math:`\beta(\gamma)`, Bach et al. (2006), equation (1); nan where the curve has no slope."""
        return np.asarray(expit(-self.population.log_prior_odds - self.log_slope))

    @cached_property
    def hull(self) -> tuple[Array, Array]:
        """Vertices (fpr, tpr) of the upper convex hull of the points with (0, 0) and (1, 1)."""
        return upper_hull(self.fpr, self.tpr)

    def both(self, n: int = 401) -> tuple[Array, Array]:
        """Vertices (fpr, tpr) of the hull of every slope of the curve with every intercept: it contains all others.

        Parameters
        ----------
        n : int
            Number of intercepts for each slope, at least 2.
        """
        curves = [intercept_curve(self.population, slope, n) for slope in self.w if slope.any()]
        fpr = np.concatenate([self.fpr, *(curve.fpr for curve in curves)])
        tpr = np.concatenate([self.tpr, *(curve.tpr for curve in curves)])
        return upper_hull(fpr, tpr)

    @cached_property
    def consistent(self) -> Mask:
        """Which points are ROC-consistent: on the upper convex hull of these points with the two corners."""
        # Judged from both corners: a point below the diagonal at 1e-20 from (0, 0) is not on the hull.
        fnr = self.population.positives.share(self.w, self.b, label=-1)
        tnr = self.population.negatives.share(self.w, self.b, label=-1)
        return _on_hull(self.fpr, self.tpr, self.log_slope) & _on_hull(fnr, tnr, -self.log_slope)

    @cached_property
    def inverted(self) -> Mask:
        r"""Mask of the inverted mismatches: ROC-consistent points trained at a *more* extreme asymmetry than their own.

        That is :math:`\gamma<\beta(\gamma)\le\frac12` or :math:`\gamma>\beta(\gamma)\ge\frac12`. Near the ends it never
        is (Bach et al. 2006, section 4.2), in between it may be.
        """
        beta = self.testing_asymmetries
        gamma = self.asymmetries
        with np.errstate(invalid="ignore"):
            below = (gamma < beta) & (beta <= 0.5)
            above = (gamma > beta) & (beta >= 0.5)
        return np.asarray((below | above) & self.consistent)

    @cached_property
    def auc(self) -> float:
        """Area under the hull."""
        return float(np.trapezoid(self.hull[1], self.hull[0]))

    def expected_costs(self, testing_asymmetry: float) -> Array:
        r"""Costs :math:`p_+\beta(1-v)+p_-(1-\beta)u` of the classifiers, for costs that add up to 1.

        Parameters
        ----------
        testing_asymmetry : float
            :math:`\beta=C_+/(C_++C_-)` of the use, strictly between 0 and 1.
        """
        beta = float(expit(check_asymmetry(testing_asymmetry, "testing_asymmetry")))
        prior = self.population.prior_plus
        miss = prior * beta
        alarm = (1.0 - prior) * (1.0 - beta)
        return np.asarray(miss * (1.0 - self.tpr) + alarm * self.fpr)

    def best(self, testing_asymmetry: float) -> PopulationSolution:
        """Return the classifier with the smallest expected cost in use: often trained at another asymmetry.

        Among several of them (such as all those that call hardly anything positive) the least extreme one.
        """
        costs = self.expected_costs(testing_asymmetry)
        cheapest = np.flatnonzero(costs <= costs.min() + ROC_TIE)
        extremeness = np.abs(self.asymmetries[cheapest] - 0.5)
        return self.solutions[int(cheapest[np.argmin(extremeness)])]

    def __len__(self) -> int:
        return len(self.solutions)

    def __repr__(self) -> str:
        first, last = self.asymmetries[[0, -1]]
        consistent = int(self.consistent.sum())
        return (
            f"PopulationCurve({self.loss}, {len(self)} asymmetries from {first:.3g} to {last:.3g}, "
            f"{consistent} ROC-consistent, area of the hull {self.auc:.6f})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class InterceptCurve:
    """The ROC curve of one slope with every intercept.

    Attributes
    ----------
    fpr, tpr, b : array of shape (k,)
        Rates from (0, 0) to (1, 1), and intercepts.
    w : array of shape (d,)
        The slope.
    auc : float
        Area under the curve, exact: the probability that a positive has a larger score than a negative.
    """

    fpr: Array
    tpr: Array
    b: Array
    w: Array
    auc: float

    def point(self, j: int) -> LinearRule:
        """Return one of the classifiers."""
        return LinearRule(self.w, float(self.b[j]))

    def __repr__(self) -> str:
        return f"InterceptCurve({len(self.b)} intercepts, area {self.auc:.6f})"


def population_curve(population: Population, loss: str = "square", asymmetries: Any = None) -> PopulationCurve:
    r"""The minimisers of an expected loss over the training asymmetry.

    Parameters
    ----------
    population : Population
        The two classes.
    loss : str
        "square", "erf", "hinge", "logistic" or "probit".
    asymmetries : array of shape (k,), optional
        Training asymmetries, strictly between 0 and 1, increasing. Default: 141, dense towards both ends
        (:math:`9\cdot10^{-4}` to :math:`1-9\cdot10^{-4}`).

    Raises
    ------
    InputError
        If an argument is not what it must be.

    References
    ----------
    Bach, Heckerman & Horvitz (2006), section 4, equation (1).

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.distributions.population import Mixture, Population, population_curve
    >>> pair = Population(Mixture([1.0, 0.0], np.eye(2)), Mixture([-1.0, 0.0], np.diag([4.0, 1.0])))
    >>> curve = population_curve(pair, "square", [0.1, 0.2, 0.25, 0.3, 0.4, 0.5])
    >>> curve.testing_asymmetries.round(3)
    array([1.   , 0.379, 0.22 , 0.206, 0.285, 0.421])
    >>> curve.consistent
    array([False, False, False, False,  True,  True])
    >>> curve.best(0.3).asymmetry
    0.4
    """
    given = DEFAULT_ASYMMETRIES
    if asymmetries is not None:
        given = np.atleast_1d(real_array(asymmetries, "asymmetries", copy=True))
    if given.ndim != 1 or not given.size:
        raise InputError(f"asymmetries must be a non-empty vector, got shape {given.shape}")
    check_loss(loss)
    odds = [check_asymmetry(value, f"asymmetries[{i}]") for i, value in enumerate(given)]
    if not (np.diff(given) > 0).all():
        raise InputError("asymmetries must increase")
    solutions: list[PopulationSolution] = []
    for each in odds:
        solutions.append(solution_at(population, each, loss, solutions[-1] if solutions else None))
    return PopulationCurve(population, loss, given, tuple(solutions))


def intercept_curve(population: Population, w: Any, n: int = 401) -> InterceptCurve:
    """The ROC curve of one slope with every intercept: of training once and then moving the threshold.

    Parameters
    ----------
    population : Population
        The two classes.
    w : array of shape (d,)
        Slope, not 0.
    n : int
        Number of intercepts, at least 2.

    Raises
    ------
    InputError
        If w is no vector of the features, or 0.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.distributions.population import Mixture, Population, intercept_curve
    >>> pair = Population(Mixture([1.0], [[1.0]]), Mixture([-1.0], [[1.0]]))
    >>> intercept_curve(pair, [1.0])
    InterceptCurve(401 intercepts, area 0.921350)
    """
    slope = real_array(w, "w", copy=True)
    if slope.shape != (population.d,) or not np.isfinite(slope).all() or not slope.any():
        raise InputError(f"w must be a finite vector of {population.d} numbers, not all 0, got {w!r}")
    n = check_count(n, "n", 2)
    plus = population.positives
    minus = population.negatives
    ends: list[float] = []
    for mixture in (plus, minus):
        centres = mixture.means @ slope
        margin = 9.0 * mixture.spreads(slope)  # standard deviations, beyond which a rate is 0 or 1 to rounding
        ends += [float(np.min(centres - margin)), float(np.max(centres + margin))]
    intercepts = -np.linspace(max(ends), min(ends), n)
    slopes = np.broadcast_to(slope, (intercepts.size, slope.size))
    fpr = minus.share(slopes, intercepts)
    tpr = plus.share(slopes, intercepts)
    return InterceptCurve(fpr, tpr, intercepts, slope, _area(plus, minus, slope))


def _area(plus: Mixture, minus: Mixture, slope: Array) -> float:
    """Probability that a positive has a larger score than a negative."""
    distances = np.subtract.outer(plus.means @ slope, minus.means @ slope)
    spreads = np.hypot(*np.meshgrid(plus.spreads(slope), minus.spreads(slope), indexing="ij"))
    return float(plus.weights @ ndtr(distances / spreads) @ minus.weights)


def _on_hull(rates: Array, others: Array, log_slope: Array) -> Mask:
    """Which points of a ROC plane are on the upper convex hull of all of them, seen from the corner (0, 0).

    Where a rate is no double any more, the slope of the curve there must be at least the slope of the hull at (0, 0).
    """
    x, y = upper_hull(rates, others)
    first = int(np.argmax(x > 0))
    hull_log_slope = np.log(y[first]) - np.log(x[first])
    vanishing = (rates == 0) | (others == 0)
    near = others >= np.interp(rates, x, y) * (1.0 - HULL_ROUNDING)
    return np.where(vanishing, ~(log_slope < hull_log_slope), near)


def upper_hull(u: Array, v: Array) -> tuple[Array, Array]:
    """Vertices of the upper convex hull of points of the ROC plane and its corners, by increasing u: monotone chain."""
    chain: list[tuple[float, float]] = []
    for point in sorted([(0.0, 0.0), *zip(u.tolist(), v.tolist(), strict=True), (1.0, 1.0)]):
        while chain and chain[-1][0] == point[0]:
            chain.pop()
        while len(chain) > 1 and _is_below(chain[-2], chain[-1], point):
            chain.pop()
        chain.append(point)
    x, y = np.array(chain).T
    return x, y


def _is_below(left: tuple[float, float], middle: tuple[float, float], right: tuple[float, float]) -> bool:
    """Whether a point is not above the line through its two neighbours."""
    to_middle = middle[0] - left[0], middle[1] - left[1]
    to_right = right[0] - left[0], right[1] - left[1]
    return to_middle[0] * to_right[1] >= to_middle[1] * to_right[0]
