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
from typing import Any, NamedTuple

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
        Derivatives of w and b in :math:`\log\rho`.
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
        sign_plus, log_plus = self._speed(self.population.positives)
        sign_minus, log_minus = self._speed(self.population.negatives)
        return log_plus - log_minus if sign_plus * sign_minus > 0 else float("nan")

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
        prior = self.population.prior_plus
        weights = [self.asymmetry * prior, expit(-self.log_odds) * (1 - prior)]
        means = [_mean_loss(self.loss, sign, mixture, self.w, self.b) for sign, mixture in _signed(self.population)]
        return float(np.dot(weights, means))

    def _speed(self, mixture: Mixture) -> tuple[float, float]:
        """Sign and logarithm of the derivative of the share of a class that is called positive."""
        w = self.w
        dw, db = self.towards
        spread = mixture.spreads(w)
        if not (spread > 0).all():
            return 0.0, -np.inf
        distance = (mixture.means @ w + self.b) / spread
        score_rate = mixture.means @ dw + db
        spread_rate = distance * ((mixture.covariances @ w) @ dw) / spread
        distance_rate = (score_rate - spread_rate) / spread
        # Without the factor 1 / sqrt(2 pi) of the normal density, which both classes have.
        logs, sign = logsumexp(-0.5 * distance**2, b=mixture.weights * distance_rate, return_sign=True)
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
    log_rho = log_odds + population.log_prior_odds
    here = population.centred
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
                no_slope = np.zeros(population.d)
                label = -1.0 if log_rho <= low.log_rho else 1.0
                return PopulationSolution(population, loss, log_odds, no_slope, label, (no_slope, 0.0))
            firsts += [2.0**-k * a for k in range(-1, _HALVINGS) for a in (low.slope, -high.slope)]
        w, b = _newton(here, loss, log_rho, firsts)
    at = _risk(here, loss, log_rho, w, b)
    derivatives = -np.linalg.solve(at.hessian, at.plus)
    dw = np.asarray(derivatives[:-1], dtype=np.float64)
    # Back from the coordinates in which the middle of the means is the origin.
    b = float(b - w @ population.centre)
    db = float(derivatives[-1] - dw @ population.centre)
    return PopulationSolution(population, loss, log_odds, w, b, (dw, db))


def _square(population: Population, log_rho: float) -> tuple[Array, float]:
    r"""Normal equations, appendix A.1, with shares :math:`\rho/(1+\rho)` and :math:`1/(1+\rho)`."""
    moments = population.moments
    delta = moments.delta
    plus = expit(log_rho)
    minus = expit(-log_rho)
    scatter_minus = moments.Sigma_minus + plus * np.outer(delta, delta)
    w = np.linalg.solve(plus * moments.Sigma_plus + minus * scatter_minus, 2 * plus * minus * delta)
    mean = plus * moments.mu_plus + minus * moments.mu_minus
    return w, float(plus - minus - w @ mean)


# ---- The risk over min(1, rho), which no asymmetry makes vanish, and its derivatives ---------------------------------


@dataclass(frozen=True)
class _Risk:
    """Value, gradient, Hessian in (w, b); the gradient of the positives; sums of absolute terms of the gradient."""

    value: float
    gradient: Array
    hessian: Array
    plus: Array
    size: Array


def _signed(population: Population) -> tuple[tuple[float, Mixture], tuple[float, Mixture]]:
    """Classes with the signs of their labels."""
    return (1.0, population.positives), (-1.0, population.negatives)


def _expected(loss: str, sign: float, mixture: Mixture, w: Array, b: float) -> Expected:
    """Expectations of the loss over one class."""
    return expected(loss, sign * (mixture.means @ w + b), mixture.spreads(w))


def _mean_loss(loss: str, sign: float, mixture: Mixture, w: Array, b: float) -> float:
    """Mean of the loss over one class."""
    if loss == "hinge" and not w.any():
        return max(0.0, 1.0 - sign * b)
    at = _expected(loss, sign, mixture, w, b)
    return float(mixture.weights @ (at.value * np.exp(at.log_scale)))


def _risk(population: Population, loss: str, log_rho: float, w: Array, b: float) -> _Risk:
    """Risk and its derivatives at a slope and an intercept."""
    d = population.d
    value = 0.0
    gradient = np.zeros(d + 1)
    hessian = np.zeros((d + 1, d + 1))
    size = np.zeros(d + 1)
    plus = None
    for sign, mixture in _signed(population):
        at = _expected(loss, sign, mixture, w, b)
        share = np.log(mixture.weights) + max(sign * log_rho, 0.0)
        scale = np.exp(share + at.log_scale)
        slope = scale * at.slope
        bend = scale * at.bend
        no_intercept = np.zeros(mixture.k)
        points = np.column_stack([mixture.means, np.ones(mixture.k)])
        deviations = np.column_stack([mixture.deviations, no_intercept])
        along = np.column_stack([mixture.covariances @ w, no_intercept])
        spread = _positive(mixture.spreads(w))
        value += float(scale @ at.value)
        gradient += (scale * sign * at.slope) @ points + bend @ along
        size += np.abs(slope) @ (np.abs(points) + deviations)
        size += np.abs(bend) @ np.abs(along)
        if plus is None:
            plus = gradient.copy()
        across_weights = scale * sign * at.bend_z / spread
        across = (points.T * across_weights) @ along
        along_weights = scale * (at.bend_zz - at.bend) / spread**2
        hessian += (points.T * bend) @ points + across + across.T
        hessian += (along.T * along_weights) @ along
        hessian[:d, :d] += np.einsum("i,iab->ab", bend, mixture.covariances)
    assert plus is not None
    return _Risk(value, gradient, hessian, plus, size)


def _positive(spread: Array) -> Array:
    """Spreads to divide by, 1 in place of 0: at w = 0, each number that is divided by the spread is 0 as well."""
    return np.where(spread > 0, spread, 1.0)


# ---- Newton's method -------------------------------------------------------------------------------------------------


def _intercept(population: Population, loss: str, log_rho: float, w: Array, b: float) -> float:
    """Return the best intercept for a slope: a root of the logarithm of the ratio of the two classes' pulls."""

    def pull(sign: float, mixture: Mixture, b: float) -> tuple[float, float]:
        """Logarithm of the derivative of one class's risk in b, in absolute value, and how fast it changes."""
        at = _expected(loss, sign, mixture, w, b)
        log_slope = logsumexp(at.log_scale, b=mixture.weights * -at.slope)
        log_bend = logsumexp(at.log_scale, b=mixture.weights * at.bend)
        return log_slope, np.exp(log_bend - log_slope)

    def excess_at(b: float) -> tuple[float, float]:
        """Logarithm of the pull of the negatives over that of the positives, and its derivative."""
        (log_plus, rate_plus), (log_minus, rate_minus) = (pull(*signed, b) for signed in _signed(population))
        return float(log_minus - log_rho - log_plus), float(rate_plus + rate_minus)

    low, high = -np.inf, np.inf
    for step in range(_STEPS):
        excess, slope = excess_at(b)
        if abs(excess) <= 4 * np.finfo(float).eps * (1.0 + abs(log_rho)):
            return b
        if excess > 0:
            high = b
        else:
            low = b
        # Newton's step. Far out the slope may vanish, so that steps are bounded, first tightly.
        new = b - excess / slope if slope > 0 else np.nan
        longest = 2.0**step * (1.0 + abs(b))
        if not np.isfinite(new) or abs(new - b) > longest:
            new = b - np.sign(excess) * longest
        if not low < new < high:
            new = 0.5 * (low + high)
        if new == b or not low < new < high:
            return b
        b = float(new)
    return b


def _newton(population: Population, loss: str, log_rho: float, firsts: Sequence[Array]) -> tuple[Array, float]:
    """Minimise over w the risk at the best intercept."""

    def profile(w: Array, near: float) -> Profile:
        """Risk as a function of w alone; its Hessian is a Schur complement."""
        b = _intercept(population, loss, log_rho, w, near)
        risk = _risk(population, loss, log_rho, w, b)
        across = risk.hessian[:-1, -1]
        bend = risk.hessian[-1, -1]
        gradient = risk.gradient[:-1] - across * (risk.gradient[-1] / bend)
        hessian = risk.hessian[:-1, :-1] - np.outer(across, across / bend)
        return Profile(risk.value, gradient, hessian, risk.size[:-1], b)

    metric = population.positives.covariance + population.negatives.covariance
    # The hinge has a kink at w = 0, where its risk is 2: steps that go down from below it never come near.
    first = next((w for w in firsts if loss != "hinge" or profile(w, 0.0).value < 2.0), firsts[-1])
    return minimise(profile, first, 0.0, metric, f"the population risk of the {loss} loss")


class Profile(NamedTuple):
    """Convex function of a slope alone, the intercept being the best one for it.

    Attributes
    ----------
    value : float
        Value of the function.
    gradient : array of shape (d,)
        First derivatives.
    hessian : array of shape (d, d)
        Second derivatives.
    size : array of shape (d,)
        Sums of the absolute values of the terms that the gradient sums: its rounding is a share of them.
    intercept : float
        The best intercept for the slope.
    """

    value: float
    gradient: Array
    hessian: Array
    size: Array
    intercept: float


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def minimise(
    profile: Callable[[Array, float], Profile],
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
        From a slope and an intercept nearby to a `Profile`.
    w, b : array of shape (d,), float
        Slope and intercept to begin with.
    metric : array of shape (d, d)
        Covariance in which lengths of slopes are measured.
    name : str
        Name of the function, for the message of an error.

    Returns
    -------
    (array of shape (d,), float)
        Slope and intercept.
    """
    root = np.asarray(np.linalg.cholesky(metric).T, dtype=np.float64)
    at = profile(w, b)
    full_steps = 0
    for _ in range(_STEPS):
        stationary = (np.abs(at.gradient) <= _ROUNDING * at.size).all()
        if stationary or full_steps == _LAST or not np.isfinite(at.hessian).all():
            break
        longest = 1.0 + float(np.linalg.norm(root @ w))
        step = _step(at.gradient, at.hessian, root, longest)
        descent = float(at.gradient @ step)
        if -descent <= 1e-10 * abs(at.value):  # values no longer tell which point is better
            full_steps += 1
            w = w + step
            at = profile(w, at.intercept)
            continue
        for halving in range(_HALVINGS):
            new = w + 0.5**halving * step
            there = profile(new, at.intercept)
            if there.value <= at.value + 1e-4 * 0.5**halving * descent:  # not where it is too large for a double
                break
        else:
            break  # the value cannot be made smaller
        w, at = new, there
    if not (np.abs(at.gradient) <= 1e-7 * at.size).all():
        raise SolveError(
            f"Newton's method did not converge for {name}; it does not where the classes are so far apart that the "
            "risk is too small for a double"
        )
    return w, at.intercept


def _step(gradient: Array, hessian: Array, root: Array, longest: float) -> Array:
    """Newton's step, or the best one of the largest length allowed: with a multiple of the metric in the Hessian."""
    half = solve_triangular(root, hessian, trans=1)
    curvature, axes = np.linalg.eigh(solve_triangular(root, half.T, trans=1))
    along = axes.T @ solve_triangular(root, gradient, trans=1)
    curvature = np.maximum(curvature, 0.0)

    def excess(damping: float) -> float:
        """Length of the step with this multiple of the metric, minus the largest one."""
        return float(np.linalg.norm(along / (curvature + damping))) - longest

    machine = np.finfo(float)
    damping = float(machine.tiny + machine.eps * float(curvature[-1]))  # none, but for rounding
    if excess(damping) > 0:
        enough = np.linalg.norm(along) / longest
        damping = float(brentq(excess, damping, enough, rtol=1e-3))
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
    """Ends of the asymmetries with a slope other than 0; the second is the first one with the classes exchanged."""
    plus = population.positives
    minus = population.negatives
    return _cheapest_slope(minus, plus.mean), _cheapest_slope(plus, minus.mean)


def _cheapest_slope(mixture: Mixture, point: Array) -> _End:
    """Minimise the mean of the positive part of 1 + a . (x - point) over a class."""
    means = mixture.means - point
    sums = -means.T @ mixture.weights
    first = np.asarray(np.linalg.solve(mixture.covariance, sums), dtype=np.float64)
    start = expected("hinge", -(means @ first), mixture.spreads(first))
    log_unit = float(np.max(start.log_scale))  # the minimum may be the probability of a far tail

    def profile(a: Array, _: float) -> Profile:
        """Mean over exp(log_unit), with its derivatives."""
        spread = mixture.spreads(a)
        at = expected("hinge", -(means @ a), spread)
        scale = mixture.weights * np.exp(at.log_scale - log_unit)
        slope = scale * -at.slope
        bend = scale * at.bend
        along = mixture.covariances @ a
        across_weights = scale * -at.bend_z / spread
        across = (means.T * across_weights) @ along
        along_weights = scale * (at.bend_zz - at.bend) / spread**2
        hessian = (means.T * bend) @ means + across + across.T
        hessian += (along.T * along_weights) @ along
        hessian += np.einsum("i,iab->ab", bend, mixture.covariances)
        gradient = slope @ means + bend @ along
        size = np.abs(slope) @ (np.abs(means) + mixture.deviations) + bend @ np.abs(along)
        return Profile(float(scale @ at.value), gradient, hessian, size, 0.0)

    a, _ = minimise(profile, first, 0.0, mixture.covariance, "the hinge at its threshold")
    value = profile(a, 0.0).value
    return _End(float(np.log(value)) + log_unit, a)
