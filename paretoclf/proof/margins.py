r"""The proof of the Pareto set of two margins: one segment, on which all that moves is the intercept.

It is the case of `paretoclf.proof.theorem` in which the rows are hard. The next feasible point is a multiple of the
slope, or has larger slacks: the gap is the difference of the two objectives.

In the positives' share p of the margin, ``theta / (1 + theta)``, the constraints (those of
`paretoclf.proof.points.margins`, divided by :math:`|\bar y_i|`) are :math:`y_if(x_i)\ge\tau_i-\xi_i` with
:math:`\tau_i=2p` for positive and :math:`2(1-p)` for negative samples, and the multipliers times :math:`|\bar y_i|`, u,
have the same dual at every p: :math:`2\sum_{y_i=1}u_i-\frac14\|\sum_iy_iu_ix_i\|^2-\frac14\sum_iu_i^2/C_i` with
:math:`y^\top u=0,\ u\ge0`.
"""

from __future__ import annotations

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.proof.bernstein import of_value
from paretoclf.proof.line import LineProof
from paretoclf.proof.points.margins import nearest_feasible, noted, weigh
from paretoclf.proof.soft_margin import SoftMargin
from paretoclf.proof.stored import AT_CAP, Stored, kernel_rounding

_TINY = float(np.finfo(float).tiny)


def prove_margins(problem: SoftMargin, stored: Stored, parameter: str, low: Array | None = None) -> LineProof:
    """Prove the Pareto set on an interval of the share: one segment, whose multipliers are those of theta = 1.

    ``low`` (n,) is what the stored multipliers miss, where they need two doubles each.
    """
    y, costs, given = problem.y, problem.squares, np.zeros(problem.y.size)
    given[stored.index] = stored.a0
    known = weigh(problem, given, None if stored.w is None else stored.w[0], low)
    slope, dual = known.slope, known.dual
    t = stored.t
    f = slope.scores + np.array([[stored.b0[0]], [stored.b1[0]]])  # a row for each end
    target = np.where(y > 0, 2.0 * t[:, None], 2.0 * (1.0 - t[:, None]))
    same = (f[0] * f[1] > 0.0) * np.abs(f)  # affine, where it counts
    residuals = {"stationarity in w": slope.apart, "balance": known.balance, "one solution": _moves(stored)}
    slack = y * f - target
    if costs is None:
        primal = np.full(3, nearest_feasible(y, slope))
    else:
        xi = np.maximum(0.0, -slack)
        slack = slack + xi
        primal = slope.norm2 + np.array([costs @ xi[0] ** 2, costs @ (xi[0] * xi[1]), costs @ xi[1] ** 2])
        wrong = np.abs(xi - 0.5 * given / costs).max(axis=0, initial=0.0)
        residuals["stationarity in xi"] = float(wrong.max()) / (1.0 + float(same.min(axis=0).max()))
    scaled = slack / np.maximum(target + same, _TINY)
    theta = t / (1.0 - t)
    lam = np.where(y > 0, given, given / theta[:, None])
    loads = lam / np.maximum(lam.max(axis=1, keepdims=True), _TINY)
    residuals["margin"] = float(np.maximum(-scaled, 0.0).max())
    residuals["box"] = float(np.maximum(-loads, 0.0).max()) if not (stored.state == AT_CAP).any() else np.inf
    meeting = np.minimum(loads.max(axis=0), scaled.max(axis=0))
    residuals["complementarity"] = float(np.maximum(meeting, 0.0).max())
    residuals["value"] = float(np.abs(of_value(stored.value) - dual).max()) / max(dual, _TINY)
    gaps, sizes = (primal - dual)[None], np.full((1, 3), max(dual, 0.0))
    sample = np.array([int(np.argmax(np.maximum(meeting, -scaled.min(axis=0))))])
    each = {name: np.array([value]) for name, value in residuals.items()}
    kernel = kernel_rounding(problem.kernel_rounding, problem.lam, stored, np.zeros((2, y.size)), None)
    none, duals = np.zeros((1, 3)), np.full((1, 3), dual)
    return LineProof(t, gaps, sizes, none, duals, each, sample, parameter, noted(problem, low), kernel)


def _moves(stored: Stored) -> float:
    """How far the multipliers and slopes that are stored for the two ends are apart; they are to be the same."""
    pairs = [(stored.a0, stored.a1)] + ([] if stored.w is None else [(stored.w[0], stored.w[1])])
    return max(float(np.abs(a - z).max(initial=0.0) / max(np.abs(a).max(initial=0.0), _TINY)) for a, z in pairs)
