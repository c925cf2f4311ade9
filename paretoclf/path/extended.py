"""Sums and products in twice the working precision (double-double), compiled.

A margin system can have condition 1e13 and still define its solution exactly. Residuals computed here,
to about 32 digits, let the ordinary double factor refine that solution to full double precision, so that no
error accumulates over thousands of breakpoints. Error-free transformations: Knuth's two-sum, Dekker's two-product.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from paretoclf.checks import Array, Index
from paretoclf.path.jit import compiled

Columns: TypeAlias = npt.NDArray[np.int32]

_SPLIT = 134217729.0  # 2**27 + 1: splits a double into two halves whose products are exact


@compiled()
def two_sum(a: float, b: float) -> tuple[float, float]:
    """Sum and its rounding error."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


@compiled()
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


@compiled()
def add_product(hi: float, lo: float, a: float, b: float) -> tuple[float, float]:
    """Double-double ``(hi, lo) + a * b`` for doubles a and b."""
    p, e = two_prod(a, b)
    s, f = two_sum(hi, p)
    return two_sum(s, lo + (e + f))


@compiled()
def add_scaled(hi: float, lo: float, s: float, b: float, b_lo: float) -> tuple[float, float]:
    """Double-double ``(hi, lo) + s * (b, b_lo)`` for a double s."""
    hi, lo = add_product(hi, lo, s, b)
    return hi, lo + s * b_lo


@compiled()
def accumulate(hi: Array, lo: Array, scale: float, row: Array) -> None:
    """Add ``scale * row`` to the double-double vector (hi, lo), in place."""
    if abs(scale) == 1.0:  # the product is exact: a third of the work
        for j in range(row.shape[0]):
            x, h = scale * row[j], hi[j]
            s = h + x
            z = s - h
            hi[j], lo[j] = s, lo[j] + ((h - (s - z)) + (x - z))
        return
    for j in range(row.shape[0]):
        hi[j], lo[j] = add_product(hi[j], lo[j], scale, row[j])


@compiled()
def accumulate_sparse(hi: Array, lo: Array, scale: float, columns: Columns, values: Array) -> None:
    """Add ``scale * row`` to the double-double vector (hi, lo), in place; row given by its nonzeros."""
    for j in range(columns.shape[0]):
        f = columns[j]
        hi[f], lo[f] = add_product(hi[f], lo[f], scale, values[j])


@compiled()
def right_sides(
    line: Array, t: float, t_lo: float, phi: Array, slope: Array, fixed: Array, sums: Array, line_e: Array, e: Array,
    at_cap: Array,
) -> None:  # fmt: skip
    """What the samples at their cap leave for the margin set, and its rate, in double-double.

    Parameters
    ----------
    line : array of shape (3, m)
        Right-hand sides of the equality constraints, as for `line_at`.
    phi, slope : arrays of shape (2, 2)
        The two functions that the caps are made of at t, and their slopes: hi and lo.
    fixed, sums : arrays of shape (2, 2, m) and (2, 2, n)
        For either base of the caps, hi and lo of what those at their cap contribute to ``A a`` and ``Q a``.
    line_e, e, at_cap : arrays of shape (2, m), (2, 2, m) and (2, 2, n)
        On return the right-hand sides with the samples at their cap; without them, value and rate; and what these add
        to ``Q a``, value and rate: hi and lo.
    """
    line_at(line, t, t_lo, line_e)
    for h in range(line.shape[1]):
        e[0, 0, h], e[0, 1, h], e[1, 0, h], e[1, 1, h] = line_e[0, h], line_e[1, h], line[1, h], line[2, h]
    subtract(e[0], fixed, phi)
    subtract(e[1], fixed, slope)
    combine(sums, phi, at_cap[0])
    combine(sums, slope, at_cap[1])


@compiled()
def add_matrix_product(A: Array, hi: Array, lo: Array, out_hi: Array, out_lo: Array) -> None:
    """Add ``A @ (hi + lo)`` to the double-double ``out``; A (m, k) is in double, the others (k, c) and (m, c)."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if A[i, j] != 0.0:
                for c in range(hi.shape[1]):
                    if hi[j, c] != 0.0:
                        out_hi[i, c], out_lo[i, c] = add_scaled(out_hi[i, c], out_lo[i, c], A[i, j], hi[j, c], lo[j, c])


@compiled()
def line_at(line: Array, t: float, t_lo: float, out: Array) -> None:
    """Two affine functions of t in double-double: rows of `line` are start, slope hi and slope lo; out is hi, lo."""
    for b in range(line.shape[1]):
        hi, lo = add_product(line[0, b], 0.0, t, line[1, b])
        out[0, b], out[1, b] = two_sum(hi, lo + (t * line[2, b] + t_lo * line[1, b]))


@compiled()
def combine(sums: Array, phi: Array, out: Array) -> None:
    """``phi_0 sums_0 + phi_1 sums_1`` in double-double: sums (2, 2, n) basis, hi and lo; phi (2, 2) and out hi, lo."""
    for j in range(sums.shape[2]):
        hi, lo = 0.0, 0.0
        for b in range(2):
            hi, lo = _add_mul(hi, lo, phi[0, b], phi[1, b], sums[b, 0, j], sums[b, 1, j])
        out[0, j], out[1, j] = hi, lo


@compiled()
def subtract(e: Array, sums: Array, phi: Array) -> None:
    """``e - phi_0 sums_0 - phi_1 sums_1`` in place, all in double-double; e (2, m) and sums (2, 2, at least m)."""
    for j in range(e.shape[1]):
        hi, lo = e[0, j], e[1, j]
        for b in range(2):
            hi, lo = _add_mul(hi, lo, -phi[0, b], -phi[1, b], sums[b, 0, j], sums[b, 1, j])
        e[0, j], e[1, j] = hi, lo


@compiled()
def _add_mul(hi: float, lo: float, ah: float, al: float, bh: float, bl: float) -> tuple[float, float]:
    """Double-double ``(hi, lo) + (ah, al) * (bh, bl)``."""
    hi, lo = add_product(hi, lo, ah, bh)
    return two_sum(hi, lo + (ah * bl + al * bh))


@compiled()
def gram_residual(
    K: Array,
    sign: Array,
    index: Index,
    hi: Array,
    lo: Array,
    kappa: Array,
    group: Index,
    a_hi: Array,
    a_lo: Array,
    eta_hi: Array,
    eta_lo: Array,
    out: Array,
) -> None:
    """Residual ``right - Q_FF a - A_F' eta`` of the margin rows, rounded to double once, at the end.

    The right-hand side (hi, lo) is used up.
    """
    k = index.shape[0]
    for j in range(k):
        f, s, a, b = index[j], -sign[index[j]], a_hi[j], a_lo[j]
        if a == 0.0 and b == 0.0:  # all of them, when a refinement begins
            continue
        for i in range(k):
            out[i] = sign[index[i]] * K[index[i], f] * s
        for i in range(k):  # apart, and row by row: for the vector units, since each sum would wait for itself
            hi[i], lo[i] = add_scaled(hi[i], lo[i], out[i], a, b)
    for i in range(k):
        g = group[index[i]]
        if g >= 0:
            hi[i], lo[i] = add_scaled(hi[i], lo[i], -kappa[index[i]], eta_hi[g], eta_lo[g])
        out[i] = hi[i] + lo[i]


@compiled()
def feature_residual(
    ptr: Index,
    columns: Columns,
    values: Array,
    index: Index,
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
    k = index.shape[0]
    for j in range(k):
        i = index[j]
        for c in range(ptr[i], ptr[i + 1]):
            f, z = columns[c], values[c]
            hi, lo = add_product(w_hi[f], w_lo[f], a_hi[j], z)
            w_hi[f], w_lo[f] = hi, lo + a_lo[j] * z
    for j in range(k):
        i = index[j]
        hi, lo = right[j], right_lo[j]
        for c in range(ptr[i], ptr[i + 1]):
            f, z = columns[c], values[c]
            hi, lo = add_scaled(hi, lo, -z, w_hi[f], w_lo[f])
        g = group[i]
        if g >= 0:
            hi, lo = add_scaled(hi, lo, -kappa[i], eta_hi[g], eta_lo[g])
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
                hi, lo = add_scaled(hi, lo, -kappa[i], a_hi[j], a_lo[j])
        out[g] = hi + lo


@compiled()
def gram_gradients(
    K: Array,
    sign: Array,
    samples: Index,
    index: Index,
    at: Array,
    rate: Array,
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

    ``at`` and ``rate`` (hi, lo) are value and rate of ``K_iL (sign cap)_L``.
    """
    for j in range(samples.shape[0]):
        i = samples[j]
        own = sign[i]
        hi, lo = two_sum(own * at[0, i], -p[i])
        lo += own * at[1, i] - p_lo[i]
        dhi, dlo = own * rate[0, i], own * rate[1, i]
        size = abs(dhi)
        for f in range(index.shape[0]):
            q = sign[i] * K[i, index[f]] * sign[index[f]]
            hi, lo = add_scaled(hi, lo, q, a[f], a_lo[f])
            dhi, dlo = add_scaled(dhi, dlo, q, da[f], da_lo[f])
            size += abs(q * da[f])
        g = group[i]
        if g >= 0:
            hi, lo = add_scaled(hi, lo, kappa[i], eta[g], eta_lo[g])
            dhi, dlo = add_scaled(dhi, dlo, kappa[i], deta[g], deta_lo[g])
            size += abs(deta[g])
        out[0, j], out[1, j], out[2, j] = hi + lo, dhi + dlo, size


@compiled()
def feature_gradients(
    ptr: Index,
    columns: Columns,
    values: Array,
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
        for c in range(ptr[i], ptr[i + 1]):
            f, z = columns[c], values[c]
            hi, lo = add_scaled(hi, lo, z, w[0, 0, f], w[0, 1, f])
            dhi, dlo = add_scaled(dhi, dlo, z, w[1, 0, f], w[1, 1, f])
            size += abs(z * w[1, 0, f])
        g = group[i]
        if g >= 0:
            hi, lo = add_scaled(hi, lo, kappa[i], eta[g], eta_lo[g])
            dhi, dlo = add_scaled(dhi, dlo, kappa[i], deta[g], deta_lo[g])
            size += abs(deta[g])
        out[0, j], out[1, j], out[2, j] = hi + lo, dhi + dlo, size


@compiled()
def _sub_mul(hi: float, lo: float, ah: float, al: float, bh: float, bl: float) -> tuple[float, float]:
    """Double-double ``(hi, lo) - (ah, al) * (bh, bl)``."""
    hi, lo = add_product(hi, lo, -ah, bh)
    return two_sum(hi, lo - (ah * bl + al * bh))


@compiled()
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
def cholesky_solve(H: Array, L: Array, x: Array, low: Array) -> None:
    """Solve with the factor of `cholesky`, in place; only the result is rounded to double. ``low`` (k,) is room."""
    k = H.shape[0]
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
def add_products(ptr: Index, columns: Columns, values: Array, index: Index, row: Array, H: Array, L: Array) -> None:
    """Add the products of the rows in index to the double-double matrix (H, L), in place.

    ``row`` (d,) is zero before and after.
    """
    for i in range(index.shape[0]):
        first, last = ptr[index[i]], ptr[index[i] + 1]
        for c in range(first, last):
            row[columns[c]] = values[c]
        for j in range(index.shape[0]):
            hi, lo = H[i, j], L[i, j]
            for c in range(ptr[index[j]], ptr[index[j] + 1]):
                hi, lo = add_product(hi, lo, row[columns[c]], values[c])
            H[i, j], L[i, j] = hi, lo
        for c in range(first, last):
            row[columns[c]] = 0.0
