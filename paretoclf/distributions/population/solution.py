r"""The linear classifier that minimises an expected convex loss, for classes whose distributions are known.

.. math::

   \min_{w,b}\ \rho\,E_+\phi(w\cdot x+b)+E_-\phi(-w\cdot x-b),\qquad
   \rho=\frac{C_+p_+}{C_-p_-}=\frac{\gamma p_+}{(1-\gamma)p_-}

(Bach, Heckerman & Horvitz 2006, section 4.1; there is no regulariser, so only the asymmetry :math:`\gamma` counts).
For the square loss that is one linear system; for the others Newton's method in w, with the best b for each w, which is
the root of an increasing function. Everything is computed from :math:`\log\rho`, so the asymmetry may be as extreme as
one likes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import brentq
from scipy.special import expit, logsumexp

from paretoclf.common.checks import Array, check_share
from paretoclf.common.errors import SolveError
from paretoclf.distributions.population.classes import Mixture, Population
from paretoclf.distributions.population.losses import Expected, check_loss, expected
from paretoclf.problem.classifiers import LinearRule

#: Steps and halvings: far more than a strictly convex smooth risk needs.
_STEPS = 200
_HALVINGS = 60
#: Full steps once values no longer tell which point is better.
_LAST = 5
#: Gradients below this share of what was summed are rounding.
_ROUNDING = 1e-14


def check_asymmetry(asymmetry: Any, name: str = "asymmetry") -> float:
    """Return the logarithm of ``asymmetry / (1 - asymmetry)``, or say what is wrong with it."""
    value = check_share(asymmetry, name)
    return float(np.log(value) - np.log1p(-value))


@dataclass(frozen=True, eq=False)
class PopulationSolution:
    r"""The minimiser of an expected loss.

    Attributes
    ----------
    population : Population
        The two classes.
    loss : str
        "square", "erf", "hinge", "logistic" or "probit".
    log_odds : float
        Logarithm of :math:`\gamma/(1-\gamma)`, :math:`\gamma` the training asymmetry.
    w : array of shape (d,)
        Slope; 0 for a hinge at an asymmetry so extreme that no hyperplane is worth its errors.
    b : float
        Intercept.
    towards : (array of shape (d,), float)
        Derivatives of w and b by :math:`\log\rho`.
    """

    population: Population = field(repr=False)
    loss: str
    log_odds: float
    w: Array
    b: float
    towards: tuple[Array, float] = field(repr=False)

    @property
    def asymmetry(self) -> float:
        r"""Training asymmetry :math:`\gamma`."""
        return float(expit(self.log_odds))

    @property
    def classifier(self) -> LinearRule:
        """The rule ``f(x) = w . x + b``."""
        return LinearRule(self.w, self.b)

    @property
    def rates(self) -> tuple[float, float]:
        """False positive and false negative rate."""
        fpr, fnr = self.population.rates(self.w, self.b)
        return float(fpr), float(fnr)

    @property
    def fpr(self) -> float:
        """False positive rate."""
        return float(self.population.negatives.share(self.w, self.b))

    @property
    def tpr(self) -> float:
        """True positive rate."""
        return float(self.population.positives.share(self.w, self.b))

    @cached_property
    def log_slope(self) -> float:
        r"""Logarithm of the slope :math:`dv/du` of the ROC curve over the asymmetry; nan where there is none.

        There is none where one rate grows while the other falls, or where w = 0.
        """
        signs, logs = zip(
            *(self._speed(mixture) for mixture in (self.population.positives, self.population.negatives)), strict=True
        )
        return float(logs[0] - logs[1]) if signs[0] * signs[1] > 0 else float("nan")

    @property
    def testing_asymmetry(self) -> float:
        r"""The testing asymmetry :math:`\beta` for which this is optimal, if for any: Bach et al. (2006), equation (1).

        :math:`\beta=1/(1+\frac{p_+}{p_-}\frac{dv}{du})`. It has no meaning where the point is not ROC-consistent (see
        `PopulationCurve.consistent`); nan where the curve has no slope.
        """
        return float(expit(-self.population.log_prior_odds - self.log_slope))

    @property
    def risk(self) -> float:
        r"""The expected loss, :math:`\gamma p_+E_+\phi(f)+(1-\gamma)p_-E_-\phi(-f)`."""
        prior, gamma = self.population.prior_plus, self.asymmetry
        parts = (_mean_loss(self.loss, c, m, self.w, self.b) for c, m in _signed(self.population))
        return float(np.dot([gamma * prior, expit(-self.log_odds) * (1 - prior)], list(parts)))

    def _speed(self, mixture: Mixture) -> tuple[float, float]:
        """Sign and logarithm of the derivative of the share of a class that is called positive."""
        w, (dw, db) = self.w, self.towards
        spread = mixture.spreads(w)
        if not (spread > 0).all():
            return 0.0, -np.inf
        t = (mixture.means @ w + self.b) / spread
        dt = (mixture.means @ dw + db - t * ((mixture.covariances @ w) @ dw) / spread) / spread
        logs, sign = logsumexp(-0.5 * t**2, b=mixture.weights * dt, return_sign=True)
        return float(sign), float(logs)

    def __repr__(self) -> str:
        return (
            f"PopulationSolution({self.loss}, asymmetry={self.asymmetry:.6g}, fpr={self.fpr:.6g}, tpr={self.tpr:.6g}, "
            f"testing_asymmetry={self.testing_asymmetry:.6g})"
        )


def population_solution(population: Population, asymmetry: float, loss: str = "square") -> PopulationSolution:
    r"""Minimise an expected loss at one training asymmetry.

    Parameters
    ----------
    population : Population
        The two classes.
    asymmetry : float
        :math:`\gamma=C_+/(C_++C_-)`, strictly between 0 and 1.
    loss : str
        "square", "erf", "hinge", "logistic" or "probit".

    Raises
    ------
    InputError
        If an argument is not what it must be, or the classes have equal means.
    SolveError
        If Newton's method does not converge.

    References
    ----------
    Bach, Heckerman & Horvitz (2006), section 4 and appendix A.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.distributions.population import Mixture, Population, population_solution
    >>> pair = Population(Mixture([1.0, 0.0], np.eye(2)), Mixture([-1.0, 0.0], 2 * np.eye(2)))
    >>> at = population_solution(pair, 0.5, loss="erf")
    >>> at.w.round(6) + 0.0, round(at.b, 6)
    (array([0.792487, 0.      ]), -0.064494)
    """
    return solution_at(population, check_asymmetry(asymmetry), check_loss(loss))


def solution_at(
    population: Population, log_odds: float, loss: str, start: PopulationSolution | None = None
) -> PopulationSolution:
    """Minimise at given log-odds of the asymmetry, from the slope of another solution where one is given."""
    population.moments.require_difference()
    log_rho, here = log_odds + population.log_prior_odds, population.centred
    if loss == "square":
        w, b = _square(here, log_rho)
    else:
        # The slope of the square loss at equal weights has about the right length.
        firsts = [_square(here, 0.0)[0]]
        if start is not None and start.w.any():
            firsts = [start.w + (log_odds - start.log_odds) * start.towards[0]]
        if loss == "hinge":
            low, high = _ends(here)
            if not low.log_rho < log_rho < -high.log_rho:
                w, label = np.zeros(population.d), -1.0 if log_rho <= low.log_rho else 1.0
                return PopulationSolution(population, loss, log_odds, w, label, (w, 0.0))
            firsts += [2.0**-k * a for k in range(-1, _HALVINGS) for a in (low.slope, -high.slope)]
        w, b = _newton(here, loss, log_rho, firsts)
    at = _risk(here, loss, log_rho, w, b)
    moving = -np.linalg.solve(at.hessian, at.plus)
    dw, off = np.asarray(moving[:-1], dtype=np.float64), population.centre
    return PopulationSolution(population, loss, log_odds, w, float(b - w @ off), (dw, float(moving[-1] - dw @ off)))


def _square(population: Population, log_rho: float) -> tuple[Array, float]:
    r"""Normal equations, appendix A.1, with shares :math:`\rho/(1+\rho)` and :math:`1/(1+\rho)`."""
    moments, plus, minus = population.moments, expit(log_rho), expit(-log_rho)
    m = moments.delta
    system = plus * moments.Sigma_plus + minus * (moments.Sigma_minus + plus * np.outer(m, m))
    w = np.linalg.solve(system, 2 * plus * minus * m)
    return w, float(plus - minus - w @ (plus * moments.mu_plus + minus * moments.mu_minus))


# ---- The risk over min(1, rho), which no asymmetry makes vanish, and its derivatives ---------------------------------


@dataclass(frozen=True)
class _Risk:
    """Value, gradient, Hessian in (w, b); the gradient of the positives; and the sizes of what the gradient sums."""

    value: float
    gradient: Array
    hessian: Array
    plus: Array
    size: Array


def _signed(population: Population) -> tuple[tuple[float, Mixture], tuple[float, Mixture]]:
    return (1.0, population.positives), (-1.0, population.negatives)


def _expected(loss: str, sign: float, mixture: Mixture, w: Array, b: float) -> Expected:
    return expected(loss, sign * (mixture.means @ w + b), mixture.spreads(w))


def _mean_loss(loss: str, sign: float, mixture: Mixture, w: Array, b: float) -> float:
    if loss == "hinge" and not w.any():
        return max(0.0, 1.0 - sign * b)
    at = _expected(loss, sign, mixture, w, b)
    return float(mixture.weights @ (at.value * np.exp(at.log_scale)))


def _risk(population: Population, loss: str, log_rho: float, w: Array, b: float) -> _Risk:
    d = population.d
    value, gradient, hessian, size, plus = 0.0, np.zeros(d + 1), np.zeros((d + 1, d + 1)), np.zeros(d + 1), None
    for sign, mixture in _signed(population):
        at = _expected(loss, sign, mixture, w, b)
        share = np.log(mixture.weights) + max(sign * log_rho, 0.0)
        scale = np.exp(share + at.log_scale)
        points = np.column_stack([mixture.means, np.ones(mixture.k)])
        along = np.column_stack([mixture.covariances @ w, np.zeros(mixture.k)])
        value += float(scale @ at.value)
        gradient += (scale * sign * at.slope) @ points + (scale * at.bend) @ along
        size += np.abs(scale * at.slope) @ (np.abs(points) + np.column_stack([mixture.deviations, np.zeros(mixture.k)]))
        size += np.abs(scale * at.bend) @ np.abs(along)
        if plus is None:
            plus = gradient.copy()
        across = (points.T * (scale * sign * at.bend_z / _positive(mixture.spreads(w)))) @ along
        hessian += (points.T * (scale * at.bend)) @ points + across + across.T
        inner = scale * (at.bend_zz - at.bend) / _positive(mixture.spreads(w)) ** 2
        hessian += (along.T * inner) @ along
        hessian[:d, :d] += np.einsum("i,iab->ab", scale * at.bend, mixture.covariances)
    assert plus is not None
    return _Risk(value, gradient, hessian, plus, size)


def _positive(spread: Array) -> Array:
    """At w = 0 what is divided by the spread is 0 as well."""
    return np.where(spread > 0, spread, 1.0)


# ---- Newton's method -------------------------------------------------------------------------------------------------


def _intercept(population: Population, loss: str, log_rho: float, w: Array, b: float) -> float:
    """Return the best intercept for a slope: a root of the logarithm of the ratio of the two classes' pulls."""

    def pulls(b: float) -> tuple[float, float]:
        logs, bends = [], []
        for sign, mixture in _signed(population):
            at = _expected(loss, sign, mixture, w, b)
            logs.append(logsumexp(at.log_scale, b=mixture.weights * -at.slope))
            bends.append(np.exp(logsumexp(at.log_scale, b=mixture.weights * at.bend) - logs[-1]))
        return float(logs[1] - log_rho - logs[0]), float(sum(bends))

    low, high = -np.inf, np.inf
    for step in range(_STEPS):
        excess, slope = pulls(b)
        if abs(excess) <= 4 * np.finfo(float).eps * (1.0 + abs(log_rho)):
            return b
        low, high = (low, b) if excess > 0 else (b, high)
        # Newton's step; far out the slope may vanish, and steps are bounded by what is known of b.
        new = b - excess / slope if slope > 0 else np.nan
        reach = 2.0**step
        if not np.isfinite(new) or abs(new - b) > reach * (1.0 + abs(b)):
            new = b - np.sign(excess) * reach * (1.0 + abs(b))
        if not low < new < high:
            new = 0.5 * (low + high)
        if new == b or not low < new < high:
            return b
        b = float(new)
    return b


def _newton(population: Population, loss: str, log_rho: float, firsts: Sequence[Array]) -> tuple[Array, float]:
    """Minimise over w the risk at the best intercept."""

    def at(w: Array, b: float) -> tuple[_Risk, float]:
        b = _intercept(population, loss, log_rho, w, b)
        return _risk(population, loss, log_rho, w, b), b

    def profile(w: Array, near: float) -> tuple[float, Array, Array, Array, float]:
        here, there = at(w, near)
        across, bend = here.hessian[:-1, -1], here.hessian[-1, -1]
        gradient = here.gradient[:-1] - across * (here.gradient[-1] / bend)
        return here.value, gradient, here.hessian[:-1, :-1] - np.outer(across, across / bend), here.size[:-1], there

    metric = population.positives.covariance + population.negatives.covariance
    # The hinge has a kink at w = 0, where its risk is 2: steps that go down from below it never come near.
    first = next((w for w in firsts if loss != "hinge" or profile(w, 0.0)[0] < 2.0), firsts[-1])
    return minimise(profile, first, 0.0, metric, f"the population risk of the {loss} loss")


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def minimise(
    profile: Callable[[Array, float], tuple[float, Array, Array, Array, float]],
    w: Array,
    b: float,
    metric: Array,
    name: str,
) -> tuple[Array, float]:
    """Newton's method in a trust region, with halved steps.

    A step is as long as 1 and the point together at most: where the hinge is far from its bends it is nearly linear.

    Parameters
    ----------
    profile : callable
        From a slope and an intercept nearby to value, gradient, Hessian, sizes of what the gradient sums, and the
        intercept that belongs to the slope.
    w, b : array of shape (d,), float
        Where to begin.
    metric : array of shape (d, d)
        Covariance in which lengths of slopes are measured.
    name : str
        What is minimised, for the message of an error.
    """
    root = np.asarray(np.linalg.cholesky(metric).T, dtype=np.float64)
    value, gradient, hessian, size, b = profile(w, b)
    last = 0
    for _ in range(_STEPS):
        if (np.abs(gradient) <= _ROUNDING * size).all() or last == _LAST or not np.isfinite(hessian).all():
            break
        step = _step(gradient, hessian, root, 1.0 + float(np.linalg.norm(root @ w)))
        descent = float(gradient @ step)
        if -descent <= 1e-10 * abs(value):
            last += 1
            w = w + step
            value, gradient, hessian, size, b = profile(w, b)
            continue
        for halving in range(_HALVINGS):
            new = w + 0.5**halving * step
            found = profile(new, b)
            if found[0] <= value + 1e-4 * 0.5**halving * descent:  # not where it is too large for a double
                break
        else:
            break  # the value cannot be made smaller
        w, (value, gradient, hessian, size, b) = new, found
    if not (np.abs(gradient) <= 1e-7 * size).all():
        raise SolveError(
            f"Newton's method did not converge for {name}; it does not where the classes are so far apart that the "
            "risk is too small for a double"
        )
    return w, b


def _step(gradient: Array, hessian: Array, root: Array, most: float) -> Array:
    """Newton's step, or the best one of the largest length allowed: with a multiple of the metric in the Hessian."""
    half = solve_triangular(root, hessian, trans=1)
    curvature, axes = np.linalg.eigh(solve_triangular(root, half.T, trans=1))
    along = axes.T @ solve_triangular(root, gradient, trans=1)
    curvature = np.maximum(curvature, 0.0)

    def excess(damping: float) -> float:
        return float(np.linalg.norm(along / (curvature + damping))) - most

    low = np.finfo(float).tiny + np.finfo(float).eps * float(curvature[-1])
    damping = low if excess(low) <= 0 else float(brentq(excess, low, np.linalg.norm(along) / most, rtol=1e-3))
    return np.asarray(-solve_triangular(root, axes @ (along / (curvature + damping))))


# ---- Where the hinge is not worth a slope ----------------------------------------------------------------------------


def hinge_thresholds(population: Population) -> tuple[float, float]:
    r"""Log-odds of the asymmetries between which the hinge has a slope other than 0.

    At :math:`w=0`, :math:`b=-1` the risk is :math:`2\rho`. It can be made smaller to first order iff
    :math:`\rho>\rho_0=\min\{E_-(a\cdot x+c)_+:a\cdot\mu_++c=1\}`, which is positive. So below some asymmetry, and in
    the same way above another, the population's support vector machine gives every sample one label. (For Gaussian
    negatives :math:`\rho_0=\Phi(-t)`, :math:`\varphi(t)/\Phi(-t)` the distance of the means in standard deviations of
    the negatives.)
    """
    low, high = _ends(population)
    return low.log_rho - population.log_prior_odds, -high.log_rho - population.log_prior_odds


@dataclass(frozen=True)
class _End:
    r"""Minimum over a of :math:`E(1+a\cdot(x-p))_+`: its logarithm, and a."""

    log_rho: float
    slope: Array


@lru_cache(maxsize=16)
def _ends(population: Population) -> tuple[_End, _End]:
    plus, minus = population.positives, population.negatives
    return _cheapest_slope(minus, plus.mean), _cheapest_slope(plus, minus.mean)


def _cheapest_slope(mixture: Mixture, point: Array) -> _End:
    means = mixture.means - point
    first = np.asarray(np.linalg.solve(mixture.covariance, -means.T @ mixture.weights), dtype=np.float64)
    start = expected("hinge", -(means @ first), mixture.spreads(first))
    top = float(np.max(start.log_scale))  # what is minimised may be the probability of a far tail

    def profile(a: Array, _: float) -> tuple[float, Array, Array, Array, float]:
        spread = mixture.spreads(a)
        at = expected("hinge", -(means @ a), spread)
        scale = mixture.weights * np.exp(at.log_scale - top)
        along = mixture.covariances @ a
        across = (means.T * (scale * -at.bend_z / spread)) @ along
        hessian = (means.T * (scale * at.bend)) @ means + across + across.T
        hessian += (along.T * (scale * (at.bend_zz - at.bend) / spread**2)) @ along
        hessian += np.einsum("i,iab->ab", scale * at.bend, mixture.covariances)
        gradient = (scale * -at.slope) @ means + (scale * at.bend) @ along
        size = np.abs(scale * at.slope) @ (np.abs(means) + mixture.deviations) + (scale * at.bend) @ np.abs(along)
        return float(scale @ at.value), gradient, hessian, size, 0.0

    a = minimise(profile, first, 0.0, mixture.covariance, "the hinge at its threshold")[0]
    return _End(float(np.log(profile(a, 0.0)[0])) + top, a)
