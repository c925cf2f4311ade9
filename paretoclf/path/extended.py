"""Sums and products in twice the working precision (double-double), compiled.

A margin system can have condition 1e13 and still define its solution exactly. Residuals computed here,
to about 32 digits, let the ordinary double factor refine that solution to full double precision, so that no
error accumulates over thousands of breakpoints. Error-free transformations: Knuth's two-sum, Dekker's two-product.
"""

from __future__ import annotations

import numpy as np

from paretoclf.checks import Array, Index
from paretoclf.path.jit import compiled

_SPLIT = 134217729.0  # 2**27 + 1: splits a double into two halves whose products are exact


@compiled(inline="always")
def two_sum(a: float, b: float) -> tuple[float, float]:
    """Sum and its rounding error."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


@compiled(inline="always")
def two_prod(a: float, b: float) -> tuple[float, float]:
    """Product and its rounding error."""
    p = a * b
    s = _SPLIT * a
    ah = s - (s - a)
    al = a - ah
    s = _SPLIT * b
    bh = s - (s - b)
    bl = b - bh
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


@compiled(inline="always")
def add_product(hi: float, lo: float, a: float, b: float) -> tuple[float, float]:
    """Double-double ``(hi, lo) + a * b`` for doubles a and b."""
    p, e = two_prod(a, b)
    s, f = two_sum(hi, p)
    return two_sum(s, lo + (e + f))


@compiled()
def accumulate(hi: Array, lo: Array, scale: float, row: Array) -> None:
    """Add ``scale * row`` to the double-double vector (hi, lo), in place."""
    for j in range(row.shape[0]):
        hi[j], lo[j] = add_product(hi[j], lo[j], scale, row[j])


@compiled()
def gram_residual(
    rows: Array,
    index: Index,
    k: int,
    right_hi: Array,
    right_lo: Array,
    kappa: Array,
    group: Index,
    a_hi: Array,
    a_lo: Array,
    eta_hi: Array,
    eta_lo: Array,
    out: Array,
) -> None:
    """Residual ``right - Q_FF a - A_F' eta`` of the margin rows, rounded to double once, at the end."""
    for i in range(k):
        hi, lo = right_hi[i], right_lo[i]
        for j in range(k):
            q = rows[i, index[j]]
            hi, lo = add_product(hi, lo, -q, a_hi[j])
            lo -= q * a_lo[j]
        g = group[index[i]]
        if g >= 0:
            s = kappa[index[i]]
            hi, lo = add_product(hi, lo, -s, eta_hi[g])
            lo -= s * eta_lo[g]
        out[i] = hi + lo


@compiled()
def feature_residual(
    Z: Array,
    index: Index,
    k: int,
    right: Array,
    right_lo: Array,
    kappa: Array,
    group: Index,
    w_hi: Array,
    w_lo: Array,
    a_hi: Array,
    a_lo: Array,
    eta_hi: Array,
    eta_lo: Array,
    out: Array,
) -> None:
    """Residual ``right - z_i . (w + sum_F a z) - A_F' eta``; on return (w_hi, w_lo) is the completed slope."""
    d = Z.shape[1]
    for j in range(k):
        i = index[j]
        for f in range(d):
            hi, lo = add_product(w_hi[f], w_lo[f], a_hi[j], Z[i, f])
            w_hi[f], w_lo[f] = hi, lo + a_lo[j] * Z[i, f]
    for j in range(k):
        i = index[j]
        hi, lo = right[j], right_lo[j]
        for f in range(d):
            hi, lo = add_product(hi, lo, -Z[i, f], w_hi[f])
            lo -= Z[i, f] * w_lo[f]
        g = group[i]
        if g >= 0:
            hi, lo = add_product(hi, lo, -kappa[i], eta_hi[g])
            lo -= kappa[i] * eta_lo[g]
        out[j] = hi + lo


@compiled()
def balance_residual(
    index: Index,
    k: int,
    kappa: Array,
    group: Index,
    right_hi: Array,
    right_lo: Array,
    a_hi: Array,
    a_lo: Array,
    out: Array,
) -> None:
    """Residual ``right - A_F a`` of the equality constraints."""
    for g in range(out.shape[0]):
        hi, lo = right_hi[g], right_lo[g]
        for j in range(k):
            i = index[j]
            if group[i] == g:
                hi, lo = add_product(hi, lo, -kappa[i], a_hi[j])
                lo -= kappa[i] * a_lo[j]
        out[g] = hi + lo


@compiled()
def at_t(moving: Array, t: float, t_lo: float, out: Array) -> None:
    """Value at ``t + t_lo`` of an affine double-double function.

    ``moving`` holds value hi, lo and rate hi, lo (shape (4, n)); ``out`` receives hi, lo (shape (2, n)).
    """
    for j in range(moving.shape[1]):
        hi, lo = add_product(moving[0, j], moving[1, j], t, moving[2, j])
        out[0, j], out[1, j] = two_sum(hi, lo + (t * moving[3, j] + t_lo * moving[2, j]))


@compiled()
def gram_gradients(
    K: Array,
    sign: Array,
    samples: Index,
    index: Index,
    at: Array,
    h: Array,
    p: Array,
    p_lo: Array,
    kappa: Array,
    group: Index,
    a: Array,
    a_lo: Array,
    eta: Array,
    eta_lo: Array,
    da: Array,
    da_lo: Array,
    deta: Array,
    deta_lo: Array,
    out: Array,
) -> None:
    """Gradient, its slope and the size of the slope's terms for some samples, from rows of the Gram.

    ``at`` (hi, lo) and ``h[2:]`` are value and rate of what the samples at their cap contribute.
    """
    for j in range(samples.shape[0]):
        i = samples[j]
        hi, lo = two_sum(at[0, i], -p[i])
        lo += at[1, i] - p_lo[i]
        dhi, dlo = h[2, i], h[3, i]
        size = abs(dhi)
        for f in range(index.shape[0]):
            q = sign[i] * K[i, index[f]] * sign[index[f]]
            hi, lo = add_product(hi, lo, q, a[f])
            lo += q * a_lo[f]
            dhi, dlo = add_product(dhi, dlo, q, da[f])
            dlo += q * da_lo[f]
            size += abs(q * da[f])
        g = group[i]
        if g >= 0:
            hi, lo = add_product(hi, lo, kappa[i], eta[g])
            lo += kappa[i] * eta_lo[g]
            dhi, dlo = add_product(dhi, dlo, kappa[i], deta[g])
            dlo += kappa[i] * deta_lo[g]
            size += abs(deta[g])
        out[0, j], out[1, j], out[2, j] = hi + lo, dhi + dlo, size


@compiled()
def feature_gradients(
    Z: Array,
    samples: Index,
    w: Array,
    p: Array,
    p_lo: Array,
    kappa: Array,
    group: Index,
    eta: Array,
    eta_lo: Array,
    deta: Array,
    deta_lo: Array,
    out: Array,
) -> None:
    """Gradient, its slope and the size of the slope's terms for some samples, from w (value and rate, hi and lo)."""
    for j in range(samples.shape[0]):
        i = samples[j]
        hi, lo, dhi, dlo, size = -p[i], -p_lo[i], 0.0, 0.0, 0.0
        for f in range(Z.shape[1]):
            z = Z[i, f]
            hi, lo = add_product(hi, lo, z, w[0, 0, f])
            lo += z * w[0, 1, f]
            dhi, dlo = add_product(dhi, dlo, z, w[1, 0, f])
            dlo += z * w[1, 1, f]
            size += abs(z * w[1, 0, f])
        g = group[i]
        if g >= 0:
            hi, lo = add_product(hi, lo, kappa[i], eta[g])
            lo += kappa[i] * eta_lo[g]
            dhi, dlo = add_product(dhi, dlo, kappa[i], deta[g])
            dlo += kappa[i] * deta_lo[g]
            size += abs(deta[g])
        out[0, j], out[1, j], out[2, j] = hi + lo, dhi + dlo, size


@compiled(inline="always")
def _sub_mul(hi: float, lo: float, ah: float, al: float, bh: float, bl: float) -> tuple[float, float]:
    """Double-double ``(hi, lo) - (ah, al) * (bh, bl)``."""
    hi, lo = add_product(hi, lo, -ah, bh)
    return two_sum(hi, lo - (ah * bl + al * bh))


@compiled(inline="always")
def _divide(ah: float, al: float, bh: float, bl: float) -> tuple[float, float]:
    """Double-double ``(ah, al) / (bh, bl)``."""
    q = ah / bh
    rh, rl = _sub_mul(ah, al, q, 0.0, bh, bl)
    return two_sum(q, (rh + rl) / bh)


@compiled()
def cholesky(H: Array, L: Array) -> bool:
    """Cholesky factor of the double-double matrix (H, L), in place (lower triangle); False if a pivot is not positive.

    For margin systems so ill-conditioned that a double factor no longer refines anything.
    """
    k = H.shape[0]
    for i in range(k):
        for j in range(i + 1):
            hi, lo = H[i, j], L[i, j]
            for f in range(j):
                hi, lo = _sub_mul(hi, lo, H[i, f], L[i, f], H[j, f], L[j, f])
            if j < i:
                H[i, j], L[i, j] = _divide(hi, lo, H[j, j], L[j, j])
            else:
                if hi <= 0.0:
                    return False
                root = np.sqrt(hi)
                rh, rl = _sub_mul(hi, lo, root, 0.0, root, 0.0)
                H[i, i], L[i, i] = two_sum(root, (rh + rl) / (2.0 * root))
    return True


@compiled()
def cholesky_solve(H: Array, L: Array, x: Array) -> None:
    """Solve with the factor of `cholesky`, in place; only the result is rounded to double."""
    k = H.shape[0]
    low = np.zeros(k)
    for i in range(k):
        hi, lo = x[i], 0.0
        for j in range(i):
            hi, lo = _sub_mul(hi, lo, H[i, j], L[i, j], x[j], low[j])
        x[i], low[i] = _divide(hi, lo, H[i, i], L[i, i])
    for i in range(k - 1, -1, -1):
        hi, lo = x[i], low[i]
        for j in range(i + 1, k):
            hi, lo = _sub_mul(hi, lo, H[j, i], L[j, i], x[j], low[j])
        x[i], low[i] = _divide(hi, lo, H[i, i], L[i, i])


@compiled()
def add_products(Z: Array, H: Array, L: Array) -> None:
    """Add ``Z Z'`` to the double-double matrix (H, L), in place."""
    k, d = Z.shape
    for i in range(k):
        for j in range(k):
            hi, lo = H[i, j], L[i, j]
            for f in range(d):
                hi, lo = add_product(hi, lo, Z[i, f], Z[j, f])
            H[i, j], L[i, j] = hi, lo
