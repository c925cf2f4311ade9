r"""The proof of the Pareto set of two margins: one segment, on which only the intercept depends on t.

It is the case of `paretoclf.proof.segments.theorem` in which the rows are hard. The next feasible point is a multiple
of the slope, or has larger slacks: the gap is the difference of the two objectives.

In the positives' share p of the margin, ``theta / (1 + theta)``, the constraints (those of
`paretoclf.proof.points.margins`, divided by :math:`|\bar y_i|`) are :math:`y_if(x_i)\ge\tau_i-\xi_i` with
:math:`\tau_i=2p` for positive and :math:`2(1-p)` for negative samples, and the multipliers times :math:`|\bar y_i|`, u,
have the same dual at every p: :math:`2\sum_{y_i=1}u_i-\frac14\|\sum_iy_iu_ix_i\|^2-\frac14\sum_iu_i^2/C_i` with
:math:`y^\top u=0,\ u\ge0`.
"""

from __future__ import annotations

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.problem.pieces import Pieces
from paretoclf.proof.points.margins import nearest_feasible, noted, weigh
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.segments.bernstein import of_value
from paretoclf.proof.segments.line_proof import LineProof
from paretoclf.proof.segments.stored_segments import AT_CAP, kernel_rounding

_TINY = float(np.finfo(float).tiny)


def prove_margins(problem: SoftMargin, stored: Pieces, parameter: str, low: Array | None = None) -> LineProof:
    """Prove the Pareto set on an interval of the share: one segment, whose multipliers are those of theta = 1.

    ``low`` (n,) is the part of the multipliers that doubles do not hold, where they need two doubles each.
    """
    y = problem.y
    multipliers = np.zeros(y.size)
    multipliers[stored.index] = stored.a0
    weighed = weigh(problem, multipliers, None if stored.w is None else stored.w[0], low)
    dual = weighed.dual
    share = stored.t[:, None]
    target = np.where(y > 0, 2.0 * share, 2.0 * (1.0 - share))
    scores = weighed.slope.scores + np.array([[stored.b0[0]], [stored.b1[0]]])  # a row for each end
    score_size = (scores[0] * scores[1] > 0.0) * np.abs(scores)  # an affine function only where the sign is kept
    residuals = {"stationarity in w": weighed.slope.apart, "balance": weighed.balance}
    residuals["one solution"] = _change(stored)
    slack = y * scores - target
    if problem.squares is None:
        primal = np.full(3, nearest_feasible(y, weighed.slope))
    else:
        xi = np.maximum(0.0, -slack)
        slack = slack + xi
        primal = weighed.slope.norm2 + _cost_of_slacks(problem.squares, xi)
        residual = np.abs(xi - 0.5 * multipliers / problem.squares).max(axis=0, initial=0.0)
        largest_score = float(score_size.min(axis=0).max())
        residuals["stationarity in xi"] = float(residual.max()) / (1.0 + largest_score)
    scaled = slack / np.maximum(target + score_size, _TINY)
    loads = _loads(y, multipliers, stored.t)
    meeting = np.minimum(loads.max(axis=0), scaled.max(axis=0))
    residuals["margin"] = _largest_violation(scaled)
    # Multipliers have no upper bound here, so none can be at it.
    residuals["box"] = np.inf if (stored.state == AT_CAP).any() else _largest_violation(loads)
    residuals["complementarity"] = float(np.maximum(meeting, 0.0).max())
    value_difference = np.abs(of_value(stored.value) - dual)
    residuals["value"] = float(value_difference.max()) / max(dual, _TINY)
    worst_sample = int(np.argmax(np.maximum(meeting, -scaled.min(axis=0))))
    samples = np.array([worst_sample])
    no_caps = np.zeros((2, y.size))
    kernel = kernel_rounding(problem.kernel_rounding, problem.lam, stored, no_caps, None)
    each = {name: np.array([residual]) for name, residual in residuals.items()}
    gaps = (primal - dual)[None]
    sizes, duals = (np.full((1, 3), value) for value in (max(dual, 0.0), dual))
    bounds = gaps, sizes, np.zeros((1, 3)), duals
    return LineProof(stored.t, *bounds, each, samples, parameter, noted(problem, low), kernel)


def _cost_of_slacks(costs: Array, xi: Array) -> Array:
    """Bernstein coefficients (3,) of ``costs @ xi**2``, where the slacks xi (2, n) at both ends are affine between."""
    start, end = xi
    mixed = costs @ (start * end)
    return np.array([costs @ start**2, mixed, costs @ end**2])


def _loads(y: Array, multipliers: Array, share: Array) -> Array:
    """Multipliers at both ends (2, n), relative to the largest at that end."""
    theta = share / (1.0 - share)
    scaled = np.where(y > 0, multipliers, multipliers / theta[:, None])
    return np.asarray(scaled / np.maximum(scaled.max(axis=1, keepdims=True), _TINY))


def _largest_violation(values: Array) -> float:
    """Largest amount by which one of the values is below 0."""
    return float(np.maximum(-values, 0.0).max())


def _change(stored: Pieces) -> float:
    """Largest relative change of multipliers and slope from one end to the other: both must be constant in t."""
    change = _relative_change(stored.a0, stored.a1)
    if stored.w is None:
        return change
    return max(change, _relative_change(stored.w[0], stored.w[1]))


def _relative_change(start: Array, end: Array) -> float:
    """Largest difference of two arrays, relative to the largest number of the first."""
    size = max(np.abs(start).max(initial=0.0), _TINY)
    return float(np.abs(start - end).max(initial=0.0) / size)
