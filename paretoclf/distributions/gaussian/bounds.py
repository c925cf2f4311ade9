r"""Bounds on the optimal values of the Gaussian problems, by weak duality, from any point. No solver is trusted.

With :math:`\delta=\mu_+-\mu_-`, :math:`\Sigma_\pm=R_\pm^\top R_\pm` and :math:`|h_\pm|\le1` every slope satisfies
:math:`\|R_\pm a\|\ge h_\pm\cdot R_\pm a`. So a vector in each unit ball proves a lower bound wherever a combination of
the :math:`R_\pm^\top h_\pm` is a multiple of :math:`\delta`. At the optimum :math:`h_\pm=R_\pm a/\|R_\pm a\|`; from a
slope that is wrong by :math:`\eta` one of the two vectors is taken and the other computed, and the bound is wrong by
:math:`O(\eta^2)`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, qr, solve_triangular, svd
from scipy.optimize import brentq

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import TAU_NUDGE
from paretoclf.distributions.gaussian.moments import Moments


@dataclass(frozen=True)
class Bounds:
    """An interval that holds the optimal value of a minimisation.

    Attributes
    ----------
    primal_value : float
        Objective at a feasible primal point: an upper bound.
    dual_value : float
        Objective at a feasible dual point: a lower bound.
    """

    primal_value: float
    dual_value: float

    @property
    def gap(self) -> float:
        """Width of the interval, relative to the larger of the two values (0 where both are 0)."""
        scale = max(abs(self.primal_value), abs(self.dual_value))
        if not np.isfinite(scale):
            return np.inf
        return (self.primal_value - self.dual_value) / scale if scale > 0 else 0.0


def normalised(moments: Moments, slope: Array) -> Array:
    r"""Slope scaled to :math:`a\cdot\delta=1`."""
    return slope / float(slope @ moments.delta)


def weighted_sum(moments: Moments, slope: Array, lam: float) -> Bounds:
    r"""Bounds on :math:`\min\sqrt{a^\top\Sigma_+a}+\lambda\sqrt{a^\top\Sigma_-a}`, :math:`a\cdot\delta=1`.

    Kim et al. (2006), problem (3). The dual is :math:`\max z` subject to
    :math:`z\delta=R_+^\top h_++R_-^\top h_-`, :math:`|h_+|\le1`, :math:`|h_-|\le\lambda`.

    Parameters
    ----------
    moments : Moments
        The two classes.
    slope : array of shape (d,)
        Any a with :math:`a\cdot\delta>0`.
    lam : float
        The weight :math:`\lambda>0`.

    Returns
    -------
    Bounds

    Examples
    --------
    >>> import numpy as np
    >>> m = Moments.from_covariances([2.0, 0.0], np.eye(2), [0.0, 0.0], np.eye(2))
    >>> weighted_sum(m, np.array([1.0, 0.0]), lam=1.0)
    Bounds(primal_value=1.0, dual_value=1.0)
    >>> weighted_sum(m, np.array([1.0, 0.1]), lam=1.0).dual_value <= 1.0
    True
    """
    slope = normalised(moments, slope)
    plus = moments.root_plus @ slope
    minus = moments.root_minus @ slope
    size_plus = float(np.linalg.norm(plus))
    size_minus = float(np.linalg.norm(minus))
    h_plus = plus / size_plus
    h_minus = lam * minus / size_minus
    given_plus = _largest_multiple(moments, moments.root_minus, moments.root_plus.T @ h_plus, lam)
    given_minus = _largest_multiple(moments, moments.root_plus, moments.root_minus.T @ h_minus, 1.0)
    return Bounds(size_plus + lam * size_minus, max(given_plus, given_minus))


def _largest_multiple(moments: Moments, root: Array, given: Array, radius: float) -> float:
    r"""Largest z with :math:`z\delta=s\,g+R^\top h`, :math:`|h|\le r`; s is 1, or below it where nothing else fits."""
    delta, shift = solve_triangular(root, np.column_stack([moments.delta, given]), trans=1).T
    length = float(np.linalg.norm(delta))
    along = float(delta @ shift) / length
    across = float(np.linalg.norm(shift - along * delta / length))
    if across > radius:
        return radius / across * along / length
    return (along + _half_chord(radius, across)) / length


def _half_chord(radius: float, distance: float) -> float:
    """Half the length of a chord at a distance from the centre of a circle, without cancellation."""
    return float(np.sqrt((radius - distance) * (radius + distance)))


def squared_sum(moments: Moments, slope: Array, t: float) -> Bounds:
    r"""Bounds on :math:`\min a^\top(\Sigma_++t\Sigma_-)a`, :math:`a\cdot\delta=1`, for :math:`t\ge0`.

    The dual is :math:`\max 2\nu-|h_+|^2-t|h_-|^2` subject to :math:`\nu\delta=R_+^\top h_++tR_-^\top h_-`.

    Examples
    --------
    >>> import numpy as np
    >>> m = Moments.from_covariances([2.0, 0.0], np.eye(2), [0.0, 0.0], np.eye(2))
    >>> squared_sum(m, np.array([1.0, 0.0]), t=3.0)
    Bounds(primal_value=1.0, dual_value=1.0)
    """
    slope = normalised(moments, slope)
    plus = moments.root_plus @ slope
    minus = moments.root_minus @ slope
    variance_plus = float(plus @ plus)
    variance_minus = float(minus @ minus)
    value = float(plus @ plus + t * (minus @ minus))
    # Take the vector of one class from the slope, and the other one from the constraint.
    rest = value * moments.delta - t * (moments.root_minus.T @ minus)
    h_plus = solve_triangular(moments.root_plus, rest, trans=1)
    found = [2 * value - float(h_plus @ h_plus) - t * variance_minus]
    if t > 0:
        rest = value * moments.delta - moments.root_plus.T @ plus
        h_minus = solve_triangular(moments.root_minus, rest / t, trans=1)
        found.append(2 * value - variance_plus - t * float(h_minus @ h_minus))
    return Bounds(value, max(found))


def fixed_distance(moments: Moments, slope: Array, u_plus: float) -> Bounds:
    r"""Bounds on the largest :math:`u_-` at a given :math:`u_+`, negated.

    The problem is :math:`\max a\cdot\delta-u_+\sqrt{a^\top\Sigma_+a}` subject to :math:`a^\top\Sigma_-a\le1`, the
    biased minimax probability machine of Huang et al. (2004). Its dual is :math:`\min|h|` subject to
    :math:`\delta=R_-^\top h+R_+^\top v`, :math:`|v|\le u_+`: the distance, in the metric of the negatives, of their
    mean from the ellipsoid of radius :math:`u_+` around the mean of the positives.

    Parameters
    ----------
    moments : Moments
        The two classes.
    slope : array of shape (d,)
        Any a but 0.
    u_plus : float
        Distance of the positives' mean, nonnegative.

    Returns
    -------
    Bounds
        Bounds on the smallest :math:`-u_-`.

    Examples
    --------
    >>> import numpy as np
    >>> m = Moments.from_covariances([2.0, 0.0], np.eye(2), [0.0, 0.0], np.eye(2))
    >>> fixed_distance(m, np.array([1.0, 0.0]), u_plus=0.5)
    Bounds(primal_value=-1.5, dual_value=-1.5)
    """
    plus, minus = moments.spread(slope)
    reached = (float(slope @ moments.delta) - u_plus * plus) / minus
    # Take v from the slope, and h from the constraint.
    v = u_plus * (moments.root_plus @ slope) / plus
    h = solve_triangular(moments.root_minus, moments.delta - moments.root_plus.T @ v, trans=1)
    # Take the direction of h from the slope, and the shortest multiple of it for which some v fits.
    along_h = moments.root_minus.T @ (moments.root_minus @ slope) / minus
    delta, direction = solve_triangular(moments.root_plus, np.column_stack([moments.delta, along_h]), trans=1).T
    upper = min(float(np.linalg.norm(h)), _smallest_multiple(delta, direction, u_plus))
    return Bounds(-reached, -upper)


def _smallest_multiple(point: Array, direction: Array, radius: float) -> float:
    """Smallest s >= 0 with |point - s direction| <= radius; infinite where there is none."""
    length = float(np.linalg.norm(direction))
    along = float(point @ direction) / length
    across = float(np.linalg.norm(point - along * direction / length))
    if across > radius:
        return np.inf
    half = _half_chord(radius, across)
    if along <= half:
        return 0.0 if along >= -half else np.inf
    outside = float(np.linalg.norm(point))
    return (outside - radius) * (outside + radius) / ((along + half) * length)


def largest_spread(moments: Moments, slope: Array, tau: float, zeta: float) -> Bounds:
    r"""Bounds on minus the largest :math:`a^\top\Sigma_-a` at :math:`a^\top\Sigma_+a\le\zeta`, :math:`a\cdot\delta=1`.

    Kim et al. (2006), problem (21), as a minimisation of :math:`-a^\top\Sigma_-a`. The S-procedure:
    :math:`\tau\zeta+\mu` is an upper bound of the maximum wherever :math:`\tau\ge0` and
    :math:`\tau\Sigma_+-\Sigma_-+\mu\delta\delta^\top\succeq0`. For a given :math:`\tau` the smallest such :math:`\mu`
    is a Schur complement, and the Cholesky factor of the rest proves the inequality.

    Parameters
    ----------
    moments : Moments
        The two classes.
    slope : array of shape (d,)
        Any a with :math:`a\cdot\delta\ne0`; it is brought into the feasible set first.
    tau : float
        Multiplier of the bound on the positives' variance. In the hard case the matrix is singular at the best one, so
        a slightly larger one is tried too.
    zeta : float
        Bound on the positives' variance, at least :math:`\zeta_{\min}`.

    Returns
    -------
    Bounds
        Bounds of the negated problem: minus the variance that a reaches, and minus the upper bound (minus infinity
        where the matrix is not positive semidefinite for any :math:`\mu`).
    """
    # Coordinates R_+ a = x e + N v: e along R_+^-T delta, where a . delta = 1 fixes x, and N orthogonal to it.
    direction = solve_triangular(moments.root_plus, moments.delta, trans=1)
    x = 1.0 / float(np.linalg.norm(direction))
    frame = qr(direction[:, None])[0]
    e = frame[:, 0] * np.sign(frame[:, 0] @ direction)
    N = frame[:, 1:]
    S = solve_triangular(moments.root_plus, moments.root_minus.T, trans=1).T
    v = N.T @ (moments.root_plus @ normalised(moments, slope))
    slack = zeta - x**2
    if slack <= 8 * np.finfo(float).eps * zeta:  # rounding of the difference
        slack = 0.0
    size = float(v @ v)
    if size > slack:
        v = v * np.sqrt(slack / size)
    reached = S @ (x * e + N @ v)
    across = S @ N
    along = S @ e
    if N.shape[1] == 0:
        upper = x**2 * float(along @ along)
    else:
        multipliers = (tau, tau * (1 + TAU_NUDGE))
        upper = min(_s_procedure(across, along, x, multiplier, slack) for multiplier in multipliers)
    return Bounds(-float(reached @ reached), -upper)


def largest_distance(moments: Moments, tau: float, u_minus: float) -> float:
    r"""Upper bound on :math:`u_+` over all hyperplanes with a given :math:`u_-\le0`, from any multiplier.

    Kim et al. (2006), problem (4), has a dual of one variable: with :math:`M=\Sigma_+-\Sigma_-/\tau\succ0` and
    :math:`a\cdot\delta=1` Cauchy's inequality gives :math:`1\le a^\top Ma\,D`, :math:`D=\delta^\top M^{-1}\delta`, and
    a second time :math:`u_+=(1-u_-\|R_-a\|)/\|R_+a\|\le\sqrt{D+u_-^2\tau}`.

    Far from the origin the distances of a hyperplane have few digits, and a multiplier made of them may fall below the
    largest ratio of the variances, where in the hard case the best one is: so the best one is computed, and tried too.

    Parameters
    ----------
    moments : Moments
        The two classes.
    tau : float
        Multiplier; it bounds something above the largest ratio of the variances only.
    u_minus : float
        Distance of the negatives' mean, not positive.

    Examples
    --------
    >>> import numpy as np
    >>> m = Moments.from_covariances([1.0, 0.0], np.eye(2), [0.0, 0.0], np.eye(2) / 4)
    >>> round(largest_distance(m, tau=1.0, u_minus=-1 / 3 * 2), 9)  # t = -1: u_plus = 4 / 3, u_minus = -2 / 3
    1.333333333
    """
    direction = solve_triangular(moments.root_plus, moments.delta, trans=1)
    S = solve_triangular(moments.root_plus, moments.root_minus.T, trans=1).T
    bounds = []
    for multiplier in (tau, tau * (1 + TAU_NUDGE), _best_multiplier(S, direction, u_minus)):
        difference = multiplier * np.eye(moments.d) - S.T @ S
        root = _root_above_rounding(difference, multiplier)
        if root is not None:
            half = solve_triangular(root, direction, lower=True)
            square = multiplier * (half @ half) + u_minus**2 * multiplier
            bounds.append(float(np.sqrt(square)))
    return min(bounds, default=np.inf)


def _best_multiplier(S: Array, direction: Array, u_minus: float) -> float:
    r"""The :math:`\tau` with the smallest bound: :math:`\sum_jc_j^2\lambda_j/(\tau-\lambda_j)^2=u_-^2`, if it exists.

    :math:`\lambda_j` are the ratios of the variances, :math:`c_j` the components of the whitened difference of the
    means. In the hard case there may be none above the largest ratio: then TAU_NUDGE above it.
    """
    _, values, axes = svd(S)
    ratios = values**2
    largest = ratios[0]
    weights = (axes @ direction) ** 2 * ratios
    below = largest - ratios
    distance = max(-u_minus, 1e-150)

    def excess(log_above: float) -> float:
        """Root of the sum minus the distance, where the multiplier is above the largest ratio by this share of it."""
        gaps = below + largest * np.exp(log_above)
        return float(np.sqrt(np.sum(weights / gaps**2))) - distance

    above = float(np.log(TAU_NUDGE))
    if excess(above) > 0:  # and not where every ratio counts as the largest one
        farthest = np.log(2.0 * np.sqrt(weights.sum()) / (largest * distance))
        above = float(brentq(excess, above, farthest))
    return float(largest * (1.0 + np.exp(above)))


def _s_procedure(across: Array, along: Array, x: float, tau: float, slack: float) -> float:
    """Upper bound that one multiplier proves; infinite where the matrix cannot be told from an indefinite one."""
    difference = tau * np.eye(across.shape[1]) - across.T @ across
    root = _root_above_rounding(difference, tau)
    if root is None:
        return np.inf
    half = solve_triangular(root, across.T @ along, lower=True)
    schur_complement = x**2 * float(along @ along + half @ half)
    return schur_complement + tau * slack


def _root_above_rounding(matrix: Array, scale: float) -> Array | None:
    """Lower Cholesky factor, or None where the matrix cannot be told from an indefinite one."""
    try:
        root: Array = cholesky(matrix, lower=True)
    except np.linalg.LinAlgError:
        return None
    rounding = len(root) * np.finfo(float).eps * scale
    return root if np.diagonal(root).min() ** 2 > rounding else None
