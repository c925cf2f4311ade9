r"""Minimisers of a convex loss at extreme asymmetries: Propositions 1 to 4, corrected, and one order more.

Bach, Heckerman & Horvitz (2006), sections 4.1 and 4.2, appendices A and B. Everything is said for :math:`\gamma\to0`;
the other end is the same with the names of the classes exchanged. As in the appendices
:math:`\rho=\frac{\gamma p_+}{(1-\gamma)p_-}`, and :math:`m=\mu_+-\mu_-` with the moments of the whole classes.

**Square loss.** With :math:`a=\Sigma_-^{-1}m`, :math:`c=a+\Sigma_-^{-1}(\Sigma_++mm^\top)a`

.. math::

   w=2\rho a-2\rho^2c+O(\rho^3),\qquad
   b=-1+\rho(2-2\mu_-\cdot a)+\rho^2(2c\cdot\mu_--2a\cdot m-2)+O(\rho^3).

**Erf loss.** Let :math:`K(a)=\log E_-e^{a\cdot(x-\mu_+)}` be the cumulant generating function of the negatives about
:math:`\mu_+`, :math:`a` its minimiser, and :math:`V^*=-K(a)\ge0` (Cramér's rate of the negatives at :math:`\mu_+`).
That is the convex problem of appendix A: :math:`V^*` is its value, :math:`\theta=-a`, and :math:`\xi` are the weights
of the components tilted by :math:`e^{a\cdot x}`. With :math:`T=-\Phi^{-1}(\rho)` (so :math:`T^2\approx2\log\frac1\rho`)
and :math:`b_0=b+w\cdot\mu_+`

.. math::

   b_0=-T+\frac{V^*}T+O(T^{-3}),\qquad w=\frac aT+\frac{aV^*-x_1}{T^3}+O(T^{-5}),

where :math:`x_1` solves one linear system (see the code). The logistic loss has the same limiting direction: there
:math:`w\to a`.

**ROC slope.** The component of each class with the *largest* variance along a, :math:`V_\pm=\max_ia^\top\Sigma_\pm^ia`,
dominates, so with :math:`A=1/V_--1/V_+`

.. math::

   \log\frac{dv}{du}=\frac A{8\rho^2}+\frac{B}{\rho}+O(1)\ \text{(square)},\qquad
   \log\frac{dv}{du}=\frac A2T^4+BT^2+O(1)\ \text{(erf)} .

:math:`A>0`: the curve leaves (0, 0) vertically and :math:`\beta\to0` faster than any power of :math:`\gamma`.
:math:`A<0`: it leaves horizontally, :math:`\beta\to1`, and the points are useless. :math:`A=0`: the paper leaves it
open; the sign of :math:`B` decides in the same way. With the erf loss :math:`\beta\approx\gamma^{2B}` then, a power
(:math:`B=1` for two Gaussians). All of it in ``tests/distributions/population/test_expansions.py``, as orders of
remainders.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit, logsumexp, ndtri_exp

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import SAME_VARIANCE
from paretoclf.distributions.population.classes import Mixture, Population
from paretoclf.distributions.population.solution import Profile, minimise

#: Losses with expansions.
EXPANDED = ("square", "erf")


@dataclass(frozen=True, eq=False)
class Tilt:
    r"""The minimiser of :math:`K(a)=\log E\,e^{a\cdot(x-p)}`: appendix A's convex problem, solved by Newton's method.

    Attributes
    ----------
    a : array of shape (d,)
        The minimiser, :math:`-\theta` of the paper.
    xi : array of shape (k,)
        Weights of the tilted components, :math:`\xi`.
    value : float
        :math:`V^*=-K(a)`, the value of the paper's problem.
    """

    a: Array
    xi: Array
    value: float


def tilt(mixture: Mixture, point: Array) -> Tilt:
    r"""Minimise :math:`K(a)=\log\sum_i\pi_i\exp(a\cdot(\mu_i-p)+\frac12a^\top\Sigma_ia)`.

    Parameters
    ----------
    mixture : Mixture
        The class.
    point : array of shape (d,)
        The point p, which is subtracted from samples.

    Examples
    --------
    The fixture of the xi problem.

    >>> import numpy as np
    >>> from paretoclf.distributions.population.classes import Mixture
    >>> from paretoclf.distributions.population.expansions import tilt
    >>> negatives = Mixture([[-1.0, 0.0], [0.0, -2.0]], [np.eye(2), np.diag([2, 0.5])], [0.3, 0.7])
    >>> found = tilt(negatives, np.array([1.0, 0.0]))
    >>> found.xi.round(8), found.a.round(7)
    (array([0.54816927, 0.45183073]), array([1.0663566, 1.1673936]))
    """
    means = mixture.means - point

    def tilted(a: Array) -> tuple[Array, float]:
        """Weights of the tilted components, and K(a)."""
        variances = (mixture.covariances @ a) @ a
        logs = np.log(mixture.weights) + means @ a + 0.5 * variances
        value = float(logsumexp(logs))
        return np.exp(logs - value), value

    def cumulants(a: Array, _: float) -> Profile:
        """K with its derivatives: value, mean and covariance of the tilted class."""
        xi, value = tilted(a)
        shifts = mixture.covariances @ a
        tilted_means = means + shifts
        gradient = xi @ tilted_means
        second_moments = np.einsum("i,iab->ab", xi, mixture.covariances) + (tilted_means.T * xi) @ tilted_means
        size = xi @ (np.abs(means) + np.abs(shifts) + mixture.deviations)
        return Profile(value, gradient, second_moments - np.outer(gradient, gradient), size, 0.0)

    start = np.asarray(np.linalg.solve(mixture.covariance, point - mixture.mean), dtype=np.float64)
    a, _ = minimise(cumulants, start, 0.0, mixture.covariance, "the cumulant generating function")
    xi, value = tilted(a)
    return Tilt(a, xi, -value)


@dataclass(frozen=True, eq=False)
class Expansion:
    r"""Leading orders of the minimiser of a loss as the training asymmetry tends to 0, or to 1.

    Attributes
    ----------
    loss : str
        "square" or "erf".
    end : int
        0 or 1.
    a : array of shape (d,)
        Limiting direction of the slope (towards the positives).
    A : float
        Regime: Propositions 3 and 4, with the minimum over the components in place of the printed maximum.
    B : float
        Coefficient of the next order, which decides where A = 0.
    xi : array of shape (k,) or None
        Erf loss: weights of the components of the frequent class in the limit.
    value : float
        Erf loss: :math:`V^*`.
    """

    population: Population = field(repr=False)
    loss: str
    end: int
    a: Array
    A: float
    B: float
    second: Array = field(repr=False)
    xi: Array | None = None
    value: float = 0.0

    @property
    def regime(self) -> str:
        """Limit of the testing asymmetry, in words."""
        deciding = self.A or self.B
        kind = "A" if self.A else "A = 0, B"
        if deciding > 0:
            fast = f"like the power {2 * self.B:g}" if self.loss == "erf" and not self.A else "faster than any power"
            return f"{kind} > 0: the testing asymmetry tends to {self.end}, {fast} of the training asymmetry"
        if deciding < 0:
            limit = f"the testing asymmetry tends to {1 - self.end}"
            return f"{kind} < 0: {limit}: the points are below the diagonal, and useless"
        return f"{kind} = 0: undecided at this order"

    @property
    def roc_slope(self) -> float:
        """Slope dv/du at which the ROC curve reaches the corner: 0 or infinity; nan where neither order decides."""
        deciding = (self.A or self.B) * (1 if self.end == 0 else -1)
        if deciding > 0:
            return np.inf
        return 0.0 if deciding < 0 else np.nan

    @property
    def training(self) -> str:
        """Best training asymmetry for an extreme testing asymmetry: "less extreme", "the same", or "more extreme".

        "less extreme, or one label" where A < 0 (or A = 0, B < 0): a classifier that is trained near the end is worse
        than one label for all, which the extreme testing asymmetry itself may ask for. "undecided" where both orders
        vanish.
        """
        deciding = self.A or self.B
        if deciding < 0:
            return "less extreme, or one label"
        if not deciding:
            return "undecided"
        if self.A or self.loss == "square" or 2 * self.B > 1:
            return "less extreme"
        return "the same" if 2 * self.B == 1 else "more extreme"

    def small(self, log_odds: float) -> float:
        r"""The small parameter at log-odds :math:`\log\frac\gamma{1-\gamma}`: :math:`\rho` (square) or :math:`1/T`."""
        log_rho = (log_odds + self.population.log_prior_odds) * (1 if self.end == 0 else -1)
        return float(np.exp(log_rho) if self.loss == "square" else -1.0 / ndtri_exp(log_rho))

    def classifier(self, log_odds: float, order: int = 2) -> tuple[Array, float]:
        r"""Slope and intercept, to first or second order.

        Parameters
        ----------
        log_odds : float
            Log-odds of the training asymmetry; extreme towards `end`. For the erf loss the asymmetry's weight
            :math:`\rho` must be below 1/2.
        order : int
            1 (Propositions 1 and 2) or 2.
        """
        _check_order(order)
        here = self.population if self.end == 0 else self.population.swapped()
        moments = here.moments
        epsilon = self.small(log_odds)
        later = float(order > 1)
        if self.loss == "square":
            w = 2 * epsilon * self.a - later * 2 * epsilon**2 * self.second
            next_order = 2 * self.second @ moments.mu_minus - 2 * self.a @ moments.delta - 2
            b = -1.0 + epsilon * (2 - 2 * moments.mu_minus @ self.a)
            b += later * epsilon**2 * next_order
        else:
            next_order = self.a * self.value - self.second
            w = epsilon * self.a + later * epsilon**3 * next_order
            at_mu_plus = -1.0 / epsilon + later * epsilon * self.value
            b = at_mu_plus - w @ moments.mu_plus
        return (w, float(b)) if self.end == 0 else (-w, -float(b))

    def log_slope(self, log_odds: float, order: int = 2) -> float:
        r"""Logarithm of the ROC slope :math:`dv/du`, to first (Propositions 3 and 4) or second order."""
        _check_order(order)
        epsilon = self.small(log_odds)
        later = float(order > 1)
        if self.loss == "square":
            found = self.A / (8 * epsilon**2) + later * self.B / epsilon
        else:
            found = self.A / (2 * epsilon**4) + later * self.B / epsilon**2
        return found if self.end == 0 else -found

    def testing_asymmetry(self, log_odds: float, order: int = 2) -> float:
        r"""Testing asymmetry :math:`\beta`, from `log_slope`."""
        return float(expit(-self.population.log_prior_odds - self.log_slope(log_odds, order)))

    def __repr__(self) -> str:
        return f"Expansion({self.loss}, asymmetry -> {self.end}, A={self.A:.6g}, B={self.B:.6g})"


def population_expansion(population: Population, loss: str = "square", end: int = 0) -> Expansion:
    r"""Expand the minimiser of an expected loss, and the slope of its ROC curve, at an extreme asymmetry.

    Parameters
    ----------
    population : Population
        The two classes.
    loss : str
        "square" or "erf".
    end : int
        0 for :math:`\gamma\to0`, 1 for :math:`\gamma\to1`.

    Raises
    ------
    InputError
        If an argument is not what it must be.

    References
    ----------
    Bach, Heckerman & Horvitz (2006), Propositions 1 to 4 with the errata eB1 to eB3.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.distributions.population import Mixture, Population, population_expansion
    >>> pair = Population(Mixture([0.5, 0.0], np.diag([4.0, 1.0])), Mixture([0.0, 0.0], np.eye(2)))
    >>> population_expansion(pair, "square")
    Expansion(square, asymmetry -> 0, A=3, B=2.5625)
    >>> population_expansion(pair, "erf").regime
    'A > 0: the testing asymmetry tends to 0, faster than any power of the training asymmetry'
    """
    if loss not in EXPANDED:
        raise InputError(f"loss must be one of {', '.join(EXPANDED)}, got {loss!r}")
    if end not in (0, 1):
        raise InputError(f"end must be 0 or 1, got {end!r}")
    population.moments.require_difference()
    here = population if end == 0 else population.swapped()
    return _square(population, here, end) if loss == "square" else _erf(population, here, end)


def _square(population: Population, here: Population, end: int) -> Expansion:
    """Expand the minimiser of the square loss; ``here`` is the population, with its classes exchanged at end 1."""
    moments = here.moments
    delta = moments.delta
    a = np.asarray(np.linalg.solve(moments.Sigma_minus, delta), dtype=np.float64)
    second_moment_times_a = moments.Sigma_plus @ a + delta * (delta @ a)
    c = a + np.linalg.solve(moments.Sigma_minus, second_moment_times_a)

    def orders(mixture: Mixture) -> tuple[Array, Array]:
        """1 / V and next of each component in t^2 / 2 = 1 / (8 V rho^2) + next / rho + O(1); t is its distance."""
        along = mixture.covariances @ a
        V = along @ a
        score = 1 + (mixture.means - moments.mu_minus) @ a
        next_order = (along @ c / (2 * V) - score) / (2 * V)
        return 1 / V, next_order

    A, B = _difference(orders(here.negatives), orders(here.positives))
    return Expansion(population, "square", end, a, A, B, c)


def _erf(population: Population, here: Population, end: int) -> Expansion:
    """Expand the minimiser of the erf loss; ``here`` is the population, with its classes exchanged at end 1."""
    centre = here.positives.mean
    found = tilt(here.negatives, centre)
    x0 = -found.a
    xi = found.xi
    # First order of x = b_0 w in 1 / b_0^2, from the optimality conditions divided by rho.
    means = here.negatives.means - centre
    covariances = here.negatives.covariances
    along = covariances @ x0
    p = means @ x0
    q = along @ x0
    tilted_means = means - along
    weights_of_means = xi * ((p - q) ** 2 / 2 + p - q / 2 + 1)
    weights_of_shifts = xi * (1 + p - q)
    system = np.einsum("i,iab->ab", xi, covariances) + (tilted_means.T * xi) @ tilted_means
    right_side = weights_of_means @ tilted_means + weights_of_shifts @ along
    x1: Array = -np.linalg.solve(system, right_side)

    def orders(mixture: Mixture) -> tuple[Array, Array]:
        """Coefficients of t^2 / 2 = b_0^4 / (2 V) + next b_0^2 + O(1), where b_0^2 = T^2 - 2 value + O(1 / T^2)."""
        along = mixture.covariances @ x0
        V = along @ x0
        of_means = (mixture.means - centre) @ x0 / V
        of_slope = along @ x1 / V**2
        return 1 / V, of_means - of_slope - 2 * found.value / V

    A, B = _difference(orders(here.negatives), orders(here.positives))
    return Expansion(population, "erf", end, found.a, A, B, x1, xi, found.value)


def _difference(minus: tuple[Array, Array], plus: tuple[Array, Array]) -> tuple[float, float]:
    """Orders of the dominating component of each class, negatives less positives; equal variances count as equal."""
    first_minus, next_minus = _dominating(*minus)
    first_plus, next_plus = _dominating(*plus)
    same = abs(first_minus - first_plus) <= SAME_VARIANCE * max(first_minus, first_plus)
    return (0.0 if same else first_minus - first_plus), next_minus - next_plus


def _dominating(first: Array, following: Array) -> tuple[float, float]:
    """The component with the smallest exponent: largest variance, then smallest next order."""
    tied = first <= first.min() * (1 + SAME_VARIANCE)
    return float(first.min()), float(following[tied].min())


def _check_order(order: int) -> None:
    if order not in (1, 2):
        raise InputError(f"order must be 1 or 2, got {order!r}")
