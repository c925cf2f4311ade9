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
    fixed_distance,
    largest_distance,
    largest_spread,
    normalised,
    squared_sum,
    weighted_sum,
)
from paretoclf.distributions.gaussian.moments import Moments
from paretoclf.proof.evidence import Condition, Judged, judge


def classified(moments: Moments, a: Array, b: float, t: float) -> dict[str, Any]:
    """Named numbers of a classifier: slope, intercept, distances of the means, and its t in the family of slopes."""
    distances = moments.distances(a, b)
    return {"w": a, "b": b, "t": t, "u_minus": distances.u_minus, "u_plus": distances.u_plus}


def judge_weighted_sum(moments: Moments, a: Array, lam: float) -> Judged:
    r"""Judge a slope for :math:`\min\sqrt{a^\top\Sigma_+a}+\lambda\sqrt{a^\top\Sigma_-a}`, :math:`a\cdot\delta=1`.

    Examples
    --------
    >>> import numpy as np
    >>> m = Moments.from_covariances([2.0, 0.0], np.eye(2), [0.0, 0.0], np.eye(2))
    >>> judged = judge_weighted_sum(m, np.array([1.0, 0.0]), lam=1.0)
    >>> judged.certificate, judged.numbers["b"]
    (Certificate(optimal, gap=0.0e+00, residual=0.0e+00), -0.5)
    """
    a = normalised(moments, a)
    bounds = weighted_sum(moments, a, lam)
    plus, minus = moments.spread(a)
    z = bounds.primal_value
    h_plus, h_minus = moments.root_plus @ a / plus, lam * (moments.root_minus @ a) / minus
    combined = moments.root_plus.T @ h_plus + moments.root_minus.T @ h_minus
    # From the mean of the heavier class: there fewer digits cancel.
    b = plus / z - float(a @ moments.mu_plus) if lam < 1 else -lam * minus / z - float(a @ moments.mu_minus)
    numbers = classified(moments, a, b, lam * plus / minus)
    return judge(
        z,
        bounds.dual_value,
        [
            _normalisation(moments, a, z),
            Condition("positives", np.zeros(1), np.ones(1)),
            Condition("negatives", np.zeros(1), np.array([lam])),
        ],
        {**numbers, "z": z, "h_plus": h_plus, "h_minus": h_minus, "s_plus": plus, "s_minus": minus},
        stationarity={"stationarity": _distance(moments, combined - z * moments.delta) / (z * moments.white.length)},
    ).revised(shortfall=0.0)


def judge_squared_sum(moments: Moments, a: Array, t: float) -> Judged:
    r"""Judge a slope for :math:`\min a^\top(\Sigma_++t\Sigma_-)a`, :math:`a\cdot\delta=1`."""
    a = normalised(moments, a)
    bounds = squared_sum(moments, a, t)
    nu = bounds.primal_value
    plus, minus = moments.root_plus @ a, moments.root_minus @ a
    combined = moments.root_plus.T @ plus + t * (moments.root_minus.T @ minus)
    b = float(plus @ plus) / nu - float(a @ moments.mu_plus)
    return judge(
        nu,
        bounds.dual_value,
        [_normalisation(moments, a, 2 * nu)],
        {**classified(moments, a, b, t), "nu": nu, "h_plus": plus, "h_minus": minus},
        stationarity={"stationarity": _distance(moments, combined - nu * moments.delta) / (nu * moments.white.length)},
    ).revised(shortfall=0.0)


def judge_fixed_distance(moments: Moments, a: Array, u_plus: float) -> Judged:
    r"""Judge a slope for :math:`\max a\cdot\delta-u_+\sqrt{a^\top\Sigma_+a}`, :math:`a^\top\Sigma_-a\le1`, negated."""
    bounds = fixed_distance(moments, a, u_plus)
    plus, minus = moments.spread(a)
    a, plus = a / minus, plus / minus
    u_minus, farthest = -bounds.primal_value, largest_distances(moments)[1]
    v, h = u_plus * (moments.root_plus @ a) / plus, u_minus * (moments.root_minus @ a)
    missed = _distance(moments, moments.root_plus.T @ v + moments.root_minus.T @ h - moments.delta)
    b = u_plus * plus - float(a @ moments.mu_plus)
    t = u_minus * plus / u_plus if u_plus > 0 else np.inf
    return judge(
        -u_minus,
        bounds.dual_value,
        [Condition("unit deviation of the negatives", np.zeros(1), np.array([u_minus]), multiplier_unit=farthest)],
        {**classified(moments, a, b, t), "h": h, "v": v, "s_plus": plus},
        stationarity={"stationarity": missed / moments.white.length},
        scale=farthest,
    ).revised(shortfall=0.0)


def judge_largest_spread(moments: Moments, a: Array, tau: float, zeta: float) -> Judged:
    r"""Judge a slope for minus the largest :math:`a^\top\Sigma_-a` at :math:`a^\top\Sigma_+a\le\zeta`.

    The classifier of the slope is Pareto optimal exactly where :math:`\tau\Sigma_+-\Sigma_-\succeq0` (t = -1/tau);
    elsewhere its threshold is put through the mean of the negatives.
    """
    a = normalised(moments, a)
    bounds = largest_spread(moments, a, tau, zeta)
    plus, minus = moments.spread(a)
    mu = minus**2 - tau * plus**2
    t = -1.0 / tau if tau > 0 else -np.inf
    combined = tau * (moments.root_plus.T @ (moments.root_plus @ a)) - moments.root_minus.T @ (moments.root_minus @ a)
    missed = solve_triangular(moments.root_plus, combined + mu * moments.delta, trans=1)
    scale = max(tau * plus, float(np.linalg.norm(moments.root_minus @ a)) * np.sqrt(largest_ratio(moments)))
    inside = np.array([zeta - plus**2])
    multiplier = 1.0 if moments.d == 1 else max(tau, np.finfo(float).tiny)
    b = -float(a @ moments.mu_minus)
    pareto = tau >= largest_ratio(moments) * (1 - 1e-12) and mu < 0
    if pareto:
        b -= t * minus**2 / (-mu / tau)
    return judge(
        bounds.primal_value,
        bounds.dual_value,
        [
            _normalisation(moments, a, mu),
            Condition("bound on the positives", inside, np.array([tau]), slack_unit=zeta, multiplier_unit=multiplier),
        ],
        {**classified(moments, a, b, t), "tau": tau, "mu": mu, "pareto": pareto},
        stationarity={"stationarity": float(np.linalg.norm(missed)) / scale},
    ).revised(shortfall=0.0)


def judge_widest(moments: Moments, q: float) -> Judged:
    r"""Judge, at equal means, the best :math:`u_+` at :math:`u_-=q<0`: along the largest ratio of the variances.

    Kim et al. (2006), appendix A.2, the case :math:`\mu_-=\mu_+`: :math:`u_+=-q\sqrt\tau`, where :math:`\tau` is the
    largest eigenvalue of the pair :math:`(\Sigma_-,\Sigma_+)`. The bound is `largest_distance`, which knows none.

    Examples
    --------
    >>> import numpy as np
    >>> m = Moments.from_covariances([0.0, 0.0], np.eye(2), [0.0, 0.0], np.diag([4.0, 1.0]))
    >>> judged = judge_widest(m, -1.0)
    >>> round(judged.numbers["u_plus"], 9), judged.certificate.passes()
    (2.0, True)
    """
    S = solve_triangular(moments.root_plus, moments.root_minus.T, trans=1).T
    a = solve_triangular(moments.root_plus, svd(S)[2][0])
    a = a * np.sign(a[np.argmax(np.abs(a))])
    plus, minus = moments.spread(a)
    tau, u_plus = (minus / plus) ** 2, -q * minus / plus
    b = -float(a @ moments.mu_minus) - q * minus
    missed = tau * (moments.root_plus @ a) - S.T @ (moments.root_minus @ a)
    return judge(
        -u_plus,
        -largest_distance(moments, tau, q),
        [],
        {**classified(moments, a, b, -1 / tau), "tau": tau, "mu": 0.0, "pareto": True},
        stationarity={"eigenvector": float(np.linalg.norm(missed)) / (tau * plus)},
        scale=max(u_plus, 1.0),
    ).revised(shortfall=0.0)


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
    # The digits that the intercept has, in standard deviations: far from the origin they are few.
    size = max(abs(b), float(np.abs(w) @ np.maximum(np.abs(moments.mu_plus), np.abs(moments.mu_minus))))
    rounding = 8 * np.finfo(float).eps * size * (1 / plus + 1 / minus) + EQUAL_MEANS
    if at.u_minus >= -EQUAL_MEANS:  # a smaller distance is none
        bound = largest_distances(moments)[0]
        if at.u_plus > 0 < at.u_minus and (value := weighted_sum(moments, w, at.u_minus / at.u_plus).dual_value) > 0:
            bound = min(bound, 1.0 / value)
    else:
        bound = largest_distance(moments, -(at.u_plus / plus) / (at.u_minus / minus), at.u_minus)
    t = (at.u_minus / minus) / (at.u_plus / plus) if at.u_plus else np.inf
    numbers = classified(moments, w, b, t)
    rounding *= 1 + minus / plus
    return judge(-at.u_plus, -bound, [], numbers, scale=max(at.u_plus, 1.0), rounding=rounding).revised(shortfall=0.0)


def largest_distances(moments: Moments) -> tuple[float, float]:
    r"""Largest :math:`u_+` at :math:`u_-=0` and the reverse: :math:`r_1,r_2`, Kim et al. (2006), equation (2)."""
    found = (solve_triangular(R, moments.delta, trans=1) for R in (moments.root_plus, moments.root_minus))
    first, second = (float(np.linalg.norm(p)) for p in found)
    return first, second


def largest_ratio(moments: Moments) -> float:
    r"""Largest ratio of the negatives' variance to that of the positives along one direction."""
    S = solve_triangular(moments.root_plus, moments.root_minus.T, trans=1)
    return float(np.linalg.norm(S, 2)) ** 2


def _distance(moments: Moments, residual: Array) -> float:
    """Size of an error of the difference of the means, in the norm of the pooled covariance."""
    return float(np.linalg.norm(solve_triangular(moments.white.P, residual, trans=1)))


def _normalisation(moments: Moments, a: Array, multiplier: float) -> Condition:
    missed = np.array([1.0 - float(a @ moments.delta)])
    return Condition("normalisation", missed, np.array([multiplier]), equation=True)
