"""The problems that well-known path codes solve, each as its code's documentation states it, and the line it follows.

Each returns the problem and its one parameter, which moves; every variable has a name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.solve.models.lazily import cp


def lasso(
    X: Array,
    y: Array,
    *,
    intercept: bool,
    nonneg: bool,
    scale: float,
    weights: Array | None = None,
    ridge: Array | None = None,
) -> Any:
    r""":math:`\frac1{2s}\|y-Xw-b\|^2+\lambda\sum_jc_j|w_j|+\frac12\sum_jd_jw_j^2`, with s the ``scale``; in lambda.

    scikit-learn's and glmnet's have s = n, cvxcla's 1; glmnet's weights c are the features' standard deviations. The
    ``ridge`` d does not move.
    """
    w = cp.Variable(X.shape[1], nonneg=nonneg, name="w")
    lam = cp.Parameter(nonneg=True, name="lambda")
    residuals = y - X @ w - (cp.Variable(name="b") if intercept else 0.0)
    penalty = cp.norm1(w if weights is None else cp.multiply(weights, w))
    loss = cp.sum_squares(residuals) / (2.0 * scale)
    if ridge is not None:
        loss = loss + cp.sum_squares(cp.multiply(np.sqrt(ridge), w)) / 2.0
    return cp.Problem(cp.Minimize(loss + lam * penalty)), lam


def frontier(mean: Array, covariance: Array, bounds: tuple[Array, Array], **rows: Any) -> Any:
    r""":math:`\frac12w^\top\Sigma w-(q+\lambda\mu)^\top w`, bounds, ``a w = b`` and ``g w <= h``; in lambda.

    Markowitz's critical line, from a large lambda (the largest return) to 0 (the least variance).
    """
    w = cp.Variable(mean.size, name="w")
    lam = cp.Parameter(nonneg=True, name="lambda")
    equations = rows["a"] @ w == rows["b"]
    constraints = [equations.set_label("equations")]
    for label, side, value in zip(("lower", "upper"), (-1.0, 1.0), bounds, strict=True):
        finite = np.isfinite(value)
        if finite.any():
            bound = side * w[finite] <= side * value[finite]
            constraints.append(bound.set_label(label))
    if rows.get("g") is not None:
        inequalities = rows["g"] @ w <= rows["h"]
        constraints.append(inequalities.set_label("inequalities"))
    q = rows.get("q")
    symmetric = (covariance + covariance.T) / 2
    variance = cp.quad_form(w, cp.psd_wrap(symmetric)) / 2
    risk = variance - (0.0 if q is None else q @ w)
    return cp.Problem(cp.Minimize(risk - lam * (mean @ w)), constraints), lam


def quantile_regression(X: Array, y: Array) -> Any:
    r""":math:`\sum_i\max(\tau r_i,(\tau-1)r_i)` of the residuals :math:`r=y-Xw-b`; in tau."""
    w = cp.Variable(X.shape[1], name="w")
    b = cp.Variable(name="b")
    tau = cp.Parameter(nonneg=True, name="tau")
    residuals = y - X @ w - b
    losses = cp.maximum(tau * residuals, (tau - 1.0) * residuals)
    return cp.Problem(cp.Minimize(cp.sum(losses))), tau
