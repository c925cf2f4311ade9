"""The margin system solved to more than double precision: residuals in double-double, corrections by the factor."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.checks import Array, Index
from paretoclf.path import extended
from paretoclf.path.factor import HardFactor, SoftFactor, schur, solve_small, solve_with
from paretoclf.path.jit import compiled
from paretoclf.path.rows import GramRows, Rows, by_form
from paretoclf.path.vectors import copy, fill
from paretoclf.tolerances import REFINED

_PASSES = 12


def _residual_gram(
    Q: GramRows, index: Index, right: Array, kappa: Array, group: Index, at_cap: Array, a: Array, eta: Array, w: Array,
    room: Array, out: Array,
) -> None:  # fmt: skip
    high, low = room[0], room[1]
    for j in range(index.shape[0]):
        i = index[j]
        s, error = extended.two_sum(right[0, j], -Q.sign[i] * at_cap[0, i])
        high[j], low[j] = s, error + (right[1, j] - Q.sign[i] * at_cap[1, i])
    extended.gram_residual(Q.K, Q.sign, index, high, low, kappa, group, a[0], a[1], eta[0], eta[1], out)


def _residual_features(
    Q: Any, index: Index, right: Array, kappa: Array, group: Index, at_cap: Array, a: Array, eta: Array, w: Array,
    room: Array, out: Array,
) -> None:  # fmt: skip
    copy(at_cap[0], w[0])
    copy(at_cap[1], w[1])
    extended.feature_residual(
        Q.ptr, Q.columns, Q.values, index, right[0], right[1], kappa, group, w[0], w[1], a[0], a[1], eta[0], eta[1],
        out,
    )  # fmt: skip


#: ``right - (Q a)_F - A_F' eta`` rounded once; right, a and eta hold hi and lo. ``at_cap`` (2, width) is what the
#: samples at their cap contribute; w (2, d) is completed where Q has features; room (2, k) at least.
residual = by_form(_residual_gram, _residual_features, _residual_features)


@compiled()
def _add(x: Array, d: Array) -> None:
    """Add a correction to the double-double vector x, in place."""
    for j in range(d.shape[0]):
        s, error = extended.two_sum(x[0, j], d[j])
        x[0, j], x[1, j] = s, x[1, j] + error


@compiled()
def refine(
    Q: Rows,
    factor: SoftFactor | HardFactor,
    index: Index,
    right: Array,
    e: Array,
    kappa: Array,
    group: Index,
    at_cap: Array,
    U: Array,
    scale: float,
    a: Array,
    eta: Array,
    w: Array,
    room: Array,
    small: Array,
) -> float:
    """Solve ``Q_FF a + A_F' eta = right, A_F a = e``; the last correction, relative, 0 where it is negligible.

    Parameters
    ----------
    factor
        That of the margin system, in double or in double-double.
    right, e : arrays of shape (2, k) and (2, m)
        Right-hand sides, hi and lo.
    at_cap : array of shape (2, width)
        What the samples at their cap contribute.
    U : array of shape (m, k)
        The factor's solutions for the rows of A_F.
    scale : float
        Size of the multipliers: those that are zero need not be refined further than rounding of this.
    a, eta, w : arrays of shape (2, k), (2, m) and (2, d)
        The solution, hi and lo.
    room, small : arrays of shape (3, k) and (m + 2, m)
        To work in.
    """
    k, m = index.shape[0], e.shape[1]
    S, re, deta, r = small[:m], small[m], small[m + 1], room[2]
    schur(k, index, kappa, group, U, S)
    for b in range(2):
        fill(a[b], 0.0)
        fill(eta[b], 0.0)
    longest = 0.0
    for j in range(k):
        longest = max(longest, Q.reach[index[j]])
    floor = 1e-14 * scale * longest
    last, terms = np.inf, floor
    for count in range(_PASSES):
        residual(Q, index, right, kappa, group, at_cap, a, eta, w, room, r)
        extended.balance_residual(index, k, kappa, group, e[0], e[1], a[0], a[1], re)
        for j in range(k):
            g = group[index[j]]
            if g >= 0:
                r[j] += Q.shift * kappa[index[j]] * re[g]
        solve_with(factor, k, r, room[0])
        for g in range(m):
            re[g] = -re[g]
        for j in range(k):
            g = group[index[j]]
            if g >= 0:
                re[g] += kappa[index[j]] * r[j]
        solve_small(S, re, deta)
        size = 0.0
        for j in range(k):
            for h in range(m):
                r[j] -= deta[h] * U[h, j]
            size = max(size, abs(r[j]) * Q.reach[index[j]])
        # The first solution may be all cancellation; from then on the corrections must shrink.
        if count > 1 and not size <= max(0.5 * last, REFINED * terms):
            break
        _add(a, r)
        _add(eta, deta)
        last, terms = size, floor
        for j in range(k):
            terms = max(terms, abs(a[0, j]) * Q.reach[index[j]])
        most, moved = 0.0, 0.0
        for g in range(m):
            most, moved = max(most, abs(eta[0, g])), max(moved, abs(deta[g]))
        if size <= REFINED * terms and moved <= REFINED * most:
            if w.shape[1] > 0:  # features: w after the final correction
                residual(Q, index, right, kappa, group, at_cap, a, eta, w, room, r)
            return 0.0
    return last / max(terms, 1e-300)
