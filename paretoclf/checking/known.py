"""The problems that well-known path codes solve, each as its code's documentation states it, and the line it follows.

Each returns the problem and its one parameter, which moves; every variable has a name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.solve.lazily import cp


def lasso(X: Array, y: Array, *, intercept: bool, nonneg: bool, scale: float, weights: Array | None = None) -> Any:
    r""":math:`\frac1{2s}\|y-Xw-b\|^2+\lambda\sum_jc_j|w_j|`, with s the ``scale``; in lambda.

    scikit-learn's and glmnet's have s = n, cvxcla's 1; glmnet's weights c are the features' standard deviations.
    """
    w = cp.Variable(X.shape[1], nonneg=nonneg, name="w")
    lam = cp.Parameter(nonneg=True, name="lambda")
    rest = y - X @ w - (cp.Variable(name="b") if intercept else 0.0)
    penalty = cp.norm1(w if weights is None else cp.multiply(weights, w))
    return cp.Problem(cp.Minimize(cp.sum_squares(rest) / (2.0 * scale) + lam * penalty)), lam


def frontier(mean: Array, covariance: Array, bounds: tuple[Array, Array], **rows: Any) -> Any:
    r""":math:`\frac12w^\top\Sigma w-(q+\lambda\mu)^\top w`, bounds, ``a w = b`` and ``g w <= h``; in lambda.

    Markowitz's critical line, from a large lambda (the largest return) to 0 (the least variance).
    """
    w, lam = cp.Variable(mean.size, name="w"), cp.Parameter(nonneg=True, name="lambda")
    held = [(rows["a"] @ w == rows["b"]).set_label("equations")]
    for side, value in zip((-1.0, 1.0), bounds, strict=True):
        there = np.isfinite(value)
        if there.any():
            held.append((side * w[there] <= side * value[there]).set_label("lower" if side < 0 else "upper"))
    if rows.get("g") is not None:
        held.append((rows["g"] @ w <= rows["h"]).set_label("inequalities"))
    q = rows.get("q")
    risk = cp.quad_form(w, cp.psd_wrap((covariance + covariance.T) / 2)) / 2 - (0.0 if q is None else q @ w)
    return cp.Problem(cp.Minimize(risk - lam * (mean @ w)), held), lam


def quantile_regression(X: Array, y: Array) -> Any:
    r""":math:`\sum_i\max(\tau r_i,(\tau-1)r_i)` of the residuals :math:`r=y-Xw-b`; in tau."""
    w, b, tau = cp.Variable(X.shape[1], name="w"), cp.Variable(name="b"), cp.Parameter(nonneg=True, name="tau")
    r = y - X @ w - b
    return cp.Problem(cp.Minimize(cp.sum(cp.maximum(tau * r, (tau - 1.0) * r)))), tau
