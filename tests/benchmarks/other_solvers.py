"""Bounds on the optimal value of a 2C-SVM by other solvers than the package's: Clarabel, and else LIBSVM.

Whatever they return is made a feasible dual and a feasible primal point by the code of this file: in double precision,
or where that is not enough in whole numbers, exactly.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import clarabel
import numpy as np
from scipy import sparse
from sklearn.svm import SVC

WORSE = 1e-6  # relative difference of optimal values from which a path is wrong
ROUNDING = 1e-12  # a slack is a difference of numbers of size 1: this share of all costs is rounding


def primal(norm2: Any, scores: Any, y: Any, caps: Any, b: Any) -> Any:
    """Primal objective of a slope, given its squared norm and scores, and of intercepts b (shape of the result)."""
    return 0.5 * norm2 + caps @ np.maximum(0.0, 1 - y[:, None] * (scores[:, None] + np.atleast_1d(b)))


def integers(x: Any) -> tuple[Any, int]:
    """Whole numbers of any size and s with ``x = numbers * 2**-s``, exactly."""
    mantissas, exponents = np.frexp(x)
    least = int(exponents[mantissas != 0].min(initial=0)) - 53
    whole = [
        int(m) << (int(e) - 53 - least) if m else 0
        for m, e in zip((mantissas * 2.0**53).flat, exponents.flat, strict=True)
    ]
    return np.array(whole, dtype=object).reshape(x.shape), -least


@dataclass(frozen=True)
class Exact:
    """A kernel matrix, or samples with the linear kernel, whose products are computed exactly and rounded once."""

    data: Any
    linear: bool

    def slope(self, v: Any, v_lo: Any = 0.0) -> tuple[float, Any]:
        """Squared norm and scores of the slope with coefficients ``v + v_lo``."""
        A, s = integers(self.data)
        x, e = integers(np.stack([v, np.broadcast_to(v_lo, v.shape)]))
        x = x.sum(axis=0)
        w = x @ A
        scores, scale = (A @ w, 2 * s + e) if self.linear else (w, s + e)
        norm2 = (w @ w, 2 * (s + e)) if self.linear else (x @ w, s + 2 * e)
        return float(Fraction(norm2[0], 2 ** norm2[1])), np.array([float(Fraction(f, 2**scale)) for f in scores])


def bounds(K: Any, y: Any, caps: Any, a: Any) -> tuple[float, float]:
    """A lower and an upper bound on the optimal value, from any multipliers: made feasible, with the best b.

    K may be an `Exact`.
    """
    a = np.clip(np.nan_to_num(a), 0.0, caps)
    sums = [a[y > 0].sum(), a[y < 0].sum()]
    for label, total in ((1, sums[0]), (-1, sums[1])):
        a[y == label] *= min(sums) / total if total > 0 else 1.0
    if isinstance(K, Exact):
        norm2, scores = K.slope(y * a)
    else:
        scores = K @ (y * a)
        norm2 = y * a @ scores
    return float(a.sum() - 0.5 * norm2), float(primal(norm2, scores, y, caps, y - scores).min())


def solved(P: Any, q: Any, A: Any, b: Any, equalities: int) -> Any:
    """Clarabel's solution of min x'Px/2 + q'x, A x <= b, the first rows with equality; its x, and its multipliers."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = 100
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cones = [clarabel.ZeroConeT(equalities)] * bool(equalities) + [clarabel.NonnegativeConeT(b.size - equalities)]
    P = sparse.triu(P).tocsc()
    solution = clarabel.DefaultSolver(P, q, sparse.csc_array(A), b, cones, settings).solve()
    return np.array(solution.x), np.array(solution.z)


def by_dual(K: Any, Z: Any, y: Any, caps: Any, exact: Exact | None) -> tuple[float, float]:
    """Bounds from the dual, which is well scaled where few multipliers are at their caps."""
    n = y.size
    eye = sparse.eye_array(n)
    A = sparse.vstack([sparse.csc_array(y[None]), -eye, eye])
    Q = sparse.csc_array(y[:, None] * K * y)
    return bounds(exact or K, y, caps, solved(Q, -np.ones(n), A, np.r_[np.zeros(n + 1), caps], 1)[0])


def by_primal(K: Any, Z: Any, y: Any, caps: Any, exact: Exact | None) -> tuple[float, float]:
    """Bounds from the primal in units of the mean cost, which is well scaled where slacks are most of the value."""
    n, d = Z.shape
    unit = float(caps.mean())
    rows = sparse.hstack([sparse.csc_array(-y[:, None] * np.column_stack([Z, np.ones(n)])), -sparse.eye_array(n)])
    A = sparse.vstack([rows, sparse.hstack([sparse.csc_array((n, d + 1)), -sparse.eye_array(n)])])
    P = sparse.diags_array(np.r_[np.full(d, 1 / unit), np.zeros(n + 1)])
    x, z = solved(P, np.r_[np.zeros(d + 1), caps / unit], A, np.r_[-np.ones(n), np.zeros(n)], 0)
    w = np.nan_to_num(x[:d])
    lower, upper = bounds(exact or K, y, caps, unit * z[:n])
    if exact is not None:  # for a kernel, Z Z' is something else
        return lower, upper
    return lower, min(upper, float(primal(w @ w, Z @ w, y, caps, y - Z @ w).min()))


def by_libsvm(K: Any, Z: Any, y: Any, caps: Any, exact: Exact | None) -> tuple[float, float]:
    """Bounds from sequential minimal optimisation."""
    used = np.flatnonzero(caps > 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where it stops short, the bounds say so
        model = SVC(kernel="precomputed", C=1.0, tol=1e-10, max_iter=200_000)
        model.fit(K[np.ix_(used, used)], y[used], sample_weight=caps[used])
    a = np.zeros(y.size)
    a[used[model.support_]] = abs(model.dual_coef_[0])
    return bounds(exact or K, y, caps, a)


def reference(K: Any, Z: Any, y: Any, caps: Any, exact: Exact | None = None) -> tuple[float, float]:
    """Bounds on the optimal value that owe nothing to the package, as close as three ways to solve bring them.

    With `exact` they are computed from these numbers, and K and Z are what the solvers see.
    """
    if min(caps[y > 0].max(), caps[y < 0].max()) == 0.0:
        return 0.0, 0.0
    # A kernel over s at costs s C is the kernel at C; by a power of 4 nothing is rounded.
    root = 2.0 ** round(np.log2(max(float(K.diagonal().max()), np.finfo(float).tiny)) / 2)
    scale, data = root**2, None
    if exact is not None:
        data = Exact(exact.data / (root if exact.linear else scale), exact.linear)
    lower, upper = -np.inf, np.inf
    for solver in (by_dual, by_primal, by_libsvm):
        lo, hi = solver(K / scale, Z / root, y, caps * scale, data)
        lower, upper = max(lower, lo / scale), min(upper, hi / scale)
        if upper - lower <= 0.1 * allowed(upper, caps):
            break
    return lower, upper


def allowed(value: float, caps: Any) -> float:
    """By how much two computations of an optimal value may differ."""
    return WORSE * abs(value) + ROUNDING * float(caps.sum())
