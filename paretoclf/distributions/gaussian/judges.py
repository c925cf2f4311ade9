r"""The judges of the Gaussian problems: certificate, conditions and classifier of a slope, from the moments alone.

Each takes a slope, scales it into the feasible set, evaluates the primal there and the dual at a feasible dual point
that it makes of the slope (`paretoclf.distributions.gaussian.bounds`; so an open gap refutes nothing), and measures the
KKT conditions. Thresholds follow from the slope: with
:math:`(\Sigma_++t\Sigma_-)a=k\delta`, :math:`a\cdot\delta=1` the two classes stand at
:math:`u_+=\sqrt{a^\top\Sigma_+a}/k` and :math:`u_-=t\sqrt{a^\top\Sigma_-a}/k`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular, svd

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import EQUAL_MEANS
from paretoclf.distributions.gaussian.bounds import (
    Bounds,
    fixed_distance,
    largest_distance,
    largest_spread,
    normalised,
    squared_sum,
    weighted_sum,
)
from paretoclf.distributions.gaussian.moments import Moments
from paretoclf.proof.verdicts.evidence import Condition, Judged, judge


def classified(moments: Moments, slope: Array, b: float, t: float) -> dict[str, Any]:
    """Named numbers of a classifier: slope, intercept, distances of the means, and its t in the family of slopes."""
    distances = moments.distances(slope, b)
    return {"w": slope, "b": b, "t": t, "u_minus": distances.u_minus, "u_plus": distances.u_plus}


def judge_weighted_sum(moments: Moments, slope: Array, lam: float) -> Judged:
    r"""Judge a slope for :math:`\min\sqrt{a^\top\Sigma_+a}+\lambda\sqrt{a^\top\Sigma_-a}`, :math:`a\cdot\delta=1`.

    Examples
    --------
    >>> import numpy as np
    >>> m = Moments.from_covariances([2.0, 0.0], np.eye(2), [0.0, 0.0], np.eye(2))
    >>> judged = judge_weighted_sum(m, np.array([1.0, 0.0]), lam=1.0)
    >>> judged.certificate, judged.numbers["b"]
    (Certificate(optimal, gap=0.0e+00, residual=0.0e+00), -0.5)
    """
    slope = normalised(moments, slope)
    bounds = weighted_sum(moments, slope, lam)
    plus, minus = moments.spread(slope)
    z = bounds.primal_value
    h_plus = moments.root_plus @ slope / plus
    h_minus = lam * (moments.root_minus @ slope) / minus
    combined = moments.root_plus.T @ h_plus + moments.root_minus.T @ h_minus
    # Take the intercept from the mean of the heavier class: there fewer digits cancel.
    from_plus = plus / z - float(slope @ moments.mu_plus)
    from_minus = -lam * minus / z - float(slope @ moments.mu_minus)
    b = from_plus if lam < 1 else from_minus
    numbers = classified(moments, slope, b, lam * plus / minus)
    numbers |= {"z": z, "h_plus": h_plus, "h_minus": h_minus, "s_plus": plus, "s_minus": minus}
    positives = Condition("positives", np.zeros(1), np.ones(1))
    negatives = Condition("negatives", np.zeros(1), np.array([lam]))
    stationarity = {"stationarity": _stationarity(moments, combined, z)}
    return _judged(bounds, [_normalisation(moments, slope, z), positives, negatives], numbers, stationarity)


def judge_squared_sum(moments: Moments, slope: Array, t: float) -> Judged:
    r"""Judge a slope for :math:`\min a^\top(\Sigma_++t\Sigma_-)a`, :math:`a\cdot\delta=1`."""
    slope = normalised(moments, slope)
    bounds = squared_sum(moments, slope, t)
    nu = bounds.primal_value
    plus = moments.root_plus @ slope
    minus = moments.root_minus @ slope
    combined = moments.root_plus.T @ plus + t * (moments.root_minus.T @ minus)
    b = float(plus @ plus) / nu - float(slope @ moments.mu_plus)
    numbers = {**classified(moments, slope, b, t), "nu": nu, "h_plus": plus, "h_minus": minus}
    stationarity = {"stationarity": _stationarity(moments, combined, nu)}
    return _judged(bounds, [_normalisation(moments, slope, 2 * nu)], numbers, stationarity)


def judge_fixed_distance(moments: Moments, slope: Array, u_plus: float) -> Judged:
    r"""Judge a slope for :math:`\max a\cdot\delta-u_+\sqrt{a^\top\Sigma_+a}`, :math:`a^\top\Sigma_-a\le1`, negated."""
    bounds = fixed_distance(moments, slope, u_plus)
    plus, minus = moments.spread(slope)
    slope = slope / minus
    plus = plus / minus
    u_minus = -bounds.primal_value
    _, farthest = largest_distances(moments)
    v = u_plus * (moments.root_plus @ slope) / plus
    h = u_minus * (moments.root_minus @ slope)
    combined = moments.root_plus.T @ v + moments.root_minus.T @ h
    residual = _distance(moments, combined - moments.delta)
    b = u_plus * plus - float(slope @ moments.mu_plus)
    t = u_minus * plus / u_plus if u_plus > 0 else np.inf
    unit = Condition("unit deviation of the negatives", np.zeros(1), np.array([u_minus]), multiplier_unit=farthest)
    numbers = {**classified(moments, slope, b, t), "h": h, "v": v, "s_plus": plus}
    stationarity = {"stationarity": residual / moments.white.length}
    return _judged(bounds, [unit], numbers, stationarity, scale=farthest)


def judge_largest_spread(moments: Moments, slope: Array, tau: float, zeta: float) -> Judged:
    r"""Judge a slope for minus the largest :math:`a^\top\Sigma_-a` at :math:`a^\top\Sigma_+a\le\zeta`.

    The classifier of the slope is Pareto optimal exactly where :math:`\tau\Sigma_+-\Sigma_-\succeq0` (t = -1/tau);
    elsewhere its threshold is put through the mean of the negatives.
    """
    slope = normalised(moments, slope)
    bounds = largest_spread(moments, slope, tau, zeta)
    plus, minus = moments.spread(slope)
    mu = minus**2 - tau * plus**2
    t = -1.0 / tau if tau > 0 else -np.inf
    whitened_plus = moments.root_plus @ slope
    whitened_minus = moments.root_minus @ slope
    combined = tau * (moments.root_plus.T @ whitened_plus) - moments.root_minus.T @ whitened_minus
    residual = solve_triangular(moments.root_plus, combined + mu * moments.delta, trans=1)
    ratio = largest_ratio(moments)
    largest_term = float(np.linalg.norm(whitened_minus)) * np.sqrt(ratio)
    scale = max(tau * plus, largest_term)
    slack = np.array([zeta - plus**2])
    unit = 1.0 if moments.d == 1 else max(tau, np.finfo(float).tiny)
    bound_on_positives = Condition(
        "bound on the positives", slack, np.array([tau]), slack_unit=zeta, multiplier_unit=unit
    )
    b = -float(slope @ moments.mu_minus)
    pareto = tau >= ratio * (1 - 1e-12) and mu < 0
    if pareto:
        b -= t * minus**2 / (-mu / tau)
    numbers = {**classified(moments, slope, b, t), "tau": tau, "mu": mu, "pareto": pareto}
    stationarity = {"stationarity": float(np.linalg.norm(residual)) / scale}
    return _judged(bounds, [_normalisation(moments, slope, mu), bound_on_positives], numbers, stationarity)


def judge_widest(moments: Moments, q: float) -> Judged:
    r"""Judge, at equal means, the best :math:`u_+` at :math:`u_-=q<0`: along the largest ratio of the variances.

    Kim et al. (2006), appendix A.2, the case :math:`\mu_-=\mu_+`: :math:`u_+=-q\sqrt\tau`, where :math:`\tau` is the
    largest eigenvalue of the pair :math:`(\Sigma_-,\Sigma_+)`. The bound is `largest_distance`.

    Examples
    --------
    >>> import numpy as np
    >>> m = Moments.from_covariances([0.0, 0.0], np.eye(2), [0.0, 0.0], np.diag([4.0, 1.0]))
    >>> judged = judge_widest(m, -1.0)
    >>> round(judged.numbers["u_plus"], 9), judged.certificate.passes()
    (2.0, True)
    """
    S = solve_triangular(moments.root_plus, moments.root_minus.T, trans=1).T
    _, _, axes = svd(S)
    slope = solve_triangular(moments.root_plus, axes[0])
    slope = slope * np.sign(slope[np.argmax(np.abs(slope))])  # of the two signs one, whatever the decomposition gives
    plus, minus = moments.spread(slope)
    tau = (minus / plus) ** 2
    u_plus = -q * minus / plus
    b = -float(slope @ moments.mu_minus) - q * minus
    residual = tau * (moments.root_plus @ slope) - S.T @ (moments.root_minus @ slope)
    numbers = {**classified(moments, slope, b, -1 / tau), "tau": tau, "mu": 0.0, "pareto": True}
    stationarity = {"eigenvector": float(np.linalg.norm(residual)) / (tau * plus)}
    bounds = Bounds(-u_plus, -largest_distance(moments, tau, q))
    return _judged(bounds, [], numbers, stationarity, scale=max(u_plus, 1.0))


def judge_pareto(moments: Moments, w: Array, b: float) -> Judged:
    r"""Judge a hyperplane for Pareto optimality: no other one has its :math:`u_-` and a larger :math:`u_+`.

    Or the other way round, where the positives' mean is the one on the wrong side. In the middle segment the bound is
    the dual of problem (3) of Kim et al., on the outer ones that of (4) and (5). Nothing is taken from the hyperplane
    but w and b.

    Examples
    --------
    >>> import numpy as np
    >>> m = Moments.from_covariances([2.0, 0.0], np.eye(2), [0.0, 0.0], np.eye(2))
    >>> judge_pareto(m, np.array([1.0, 0.0]), -0.5).certificate
    Certificate(optimal, gap=0.0e+00, residual=0.0e+00)
    """
    at = moments.distances(w, b)
    if at.u_plus <= 0 < at.u_minus or at.u_plus < at.u_minus <= 0:
        return judge_pareto(moments.swapped(), -w, -b)
    plus, minus = moments.spread(w)
    weight_plus = at.u_plus / plus
    weight_minus = at.u_minus / minus
    if at.u_minus >= -EQUAL_MEANS:  # a smaller distance is rounding
        bound, _ = largest_distances(moments)
        if at.u_plus > 0 < at.u_minus:
            value = weighted_sum(moments, w, at.u_minus / at.u_plus).dual_value
            if value > 0:
                bound = min(bound, 1.0 / value)
    else:
        bound = largest_distance(moments, -weight_plus / weight_minus, at.u_minus)
    t = weight_minus / weight_plus if at.u_plus else np.inf
    numbers = classified(moments, w, b, t)
    rounding = _rounding_of_distances(moments, w, b)
    return _judged(Bounds(-at.u_plus, -bound), [], numbers, scale=max(at.u_plus, 1.0), rounding=rounding)


def _rounding_of_distances(moments: Moments, w: Array, b: float) -> float:
    """Rounding of the distances of a hyperplane, in standard deviations: far from the origin they have few digits."""
    plus, minus = moments.spread(w)
    largest_means = np.maximum(np.abs(moments.mu_plus), np.abs(moments.mu_minus))
    size = max(abs(b), float(np.abs(w) @ largest_means))
    of_score = 8 * np.finfo(float).eps * size
    of_distances = of_score * (1 / plus + 1 / minus) + EQUAL_MEANS
    return of_distances * (1 + minus / plus)


def largest_distances(moments: Moments) -> tuple[float, float]:
    r"""Largest :math:`u_+` at :math:`u_-=0` and the reverse: :math:`r_1,r_2`, Kim et al. (2006), equation (2)."""
    whitened_plus = solve_triangular(moments.root_plus, moments.delta, trans=1)
    whitened_minus = solve_triangular(moments.root_minus, moments.delta, trans=1)
    return float(np.linalg.norm(whitened_plus)), float(np.linalg.norm(whitened_minus))


def largest_ratio(moments: Moments) -> float:
    r"""Largest ratio of the negatives' variance to that of the positives along one direction."""
    S = solve_triangular(moments.root_plus, moments.root_minus.T, trans=1)
    return float(np.linalg.norm(S, 2)) ** 2


def _judged(
    bounds: Bounds,
    conditions: list[Condition],
    numbers: dict[str, Any],
    stationarity: dict[str, float] | None = None,
    scale: float | None = None,
    rounding: float = 0.0,
) -> Judged:
    """Judge bounds and conditions of a slope that is feasible by construction: it has no shortfall."""
    found = judge(
        bounds.primal_value,
        bounds.dual_value,
        conditions,
        numbers,
        stationarity=stationarity,
        scale=scale,
        rounding=rounding,
    )
    return found.revised(shortfall=0.0)


def _distance(moments: Moments, residual: Array) -> float:
    """Size of an error of the difference of the means, in the norm of the pooled covariance."""
    return float(np.linalg.norm(solve_triangular(moments.white.P, residual, trans=1)))


def _stationarity(moments: Moments, combined: Array, multiplier: float) -> float:
    """Relative residual of the condition that a combination is a multiple of the difference of the means."""
    residual = _distance(moments, combined - multiplier * moments.delta)
    return residual / (multiplier * moments.white.length)


def _normalisation(moments: Moments, slope: Array, multiplier: float) -> Condition:
    """Condition that the slope times the difference of the means is 1."""
    residual = np.array([1.0 - float(slope @ moments.delta)])
    return Condition("normalisation", residual, np.array([multiplier]), equation=True)
