r"""The family of slopes :math:`a_t=(\Sigma_++t\Sigma_-)^{-1}\delta`, :math:`t>0`, that holds every answer.

Anderson & Bahadur (1962). At :math:`a_t`, :math:`u_+=\sqrt{a_t^\top\Sigma_+a_t}` and
:math:`u_-=t\sqrt{a_t^\top\Sigma_-a_t}`; as t grows :math:`u_-/u_+` increases and :math:`u_+` decreases. Here a few
Newton steps in :math:`\log t` lead from a solver's point to the member of the family that solves a problem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from paretoclf.checks import Array
from paretoclf.gaussian.moments import Moments

#: Newton steps in log t: convergence is quadratic, from a solver's six digits two suffice.
_STEPS = 8


@dataclass(frozen=True, eq=False)
class Member:
    r"""One slope of the family, and how it moves.

    Attributes
    ----------
    t : float
        Its parameter.
    a : array of shape (d,)
        :math:`a_t`, not normalised.
    plus, minus : float
        Standard deviations of the classes along it.
    drift_plus, drift_minus : float
        Derivatives of the logarithms of the two in :math:`\log t`.
    """

    t: float
    a: Array
    plus: float
    minus: float
    drift_plus: float
    drift_minus: float

    @property
    def weight(self) -> float:
        r"""The :math:`\lambda=u_-/u_+` whose problem (3) this slope solves."""
        return self.t * self.minus / self.plus


def member(moments: Moments, t: float) -> Member:
    r"""Slope :math:`a_t` of the family.

    Examples
    --------
    >>> import numpy as np
    >>> m = Moments.from_covariances([3.0, 0.0], np.eye(2), [0.0, 0.0], 4 * np.eye(2))
    >>> member(m, t=0.5).a, member(m, t=0.5).weight
    (array([1., 0.]), 1.0)
    """
    # Not in whitened coordinates: for t far from 1 they would cost the digits of the lighter class.
    T = np.linalg.qr(np.vstack([moments.root_plus, np.sqrt(t) * moments.root_minus]), mode="r")

    def solve(x: Array) -> Array:
        return np.asarray(solve_triangular(T, solve_triangular(T, x, trans=1)))

    a = solve(moments.delta)
    plus, minus = moments.root_plus @ a, moments.root_minus @ a
    da = -t * solve(moments.root_minus.T @ minus)
    sizes = float(plus @ plus), float(minus @ minus)
    return Member(
        t=t,
        a=a,
        plus=float(np.sqrt(sizes[0])),
        minus=float(np.sqrt(sizes[1])),
        drift_plus=float(plus @ (moments.root_plus @ da)) / sizes[0],
        drift_minus=float(minus @ (moments.root_minus @ da)) / sizes[1],
    )


def slope_of_positives(moments: Moments) -> Array:
    r"""Slope :math:`\Sigma_+^{-1}\delta`, the start of the family at t = 0: best for the positives alone."""
    return np.asarray(solve_triangular(moments.root_plus, solve_triangular(moments.root_plus, moments.delta, trans=1)))


def slope_of_negatives(moments: Moments) -> Array:
    r"""Slope :math:`\Sigma_-^{-1}\delta`, the end of the family as t grows: best for the negatives alone."""
    return np.asarray(
        solve_triangular(moments.root_minus, solve_triangular(moments.root_minus, moments.delta, trans=1))
    )


def with_weight(moments: Moments, lam: float, start: float) -> Member:
    r"""Return the member that solves problem (3) of Kim et al. for :math:`\lambda`, by Newton steps from t = start."""
    return _newton(moments, start, lambda m: np.log(m.weight / lam), lambda m: 1.0 + m.drift_minus - m.drift_plus)


def with_distance(moments: Moments, u_plus: float, start: float) -> Member:
    """Return the member at which the positives' mean has the distance u_plus > 0, by Newton steps from t = start."""
    return _newton(moments, start, lambda m: np.log(m.plus / u_plus), lambda m: m.drift_plus)


def _newton(
    moments: Moments, start: float, miss: Callable[[Member], float], slope: Callable[[Member], float]
) -> Member:
    best = member(moments, start)
    for _ in range(_STEPS):
        step = -miss(best) / slope(best)
        if not np.isfinite(step):
            break
        found = member(moments, best.t * float(np.exp(np.clip(step, -2.0, 2.0))))
        if not abs(miss(found)) < abs(miss(best)):
            break
        best = found
    return best
