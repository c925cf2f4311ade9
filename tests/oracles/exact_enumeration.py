"""Exact optima along a line of costs from every partition of the samples into R (multiplier 0), L (at the cap) and F.

Partitions with a singular bordered system are left out: at every t the optimal multipliers are a polytope, and at
each vertex of it the samples strictly between their bounds either are none or have a nonsingular system. (A direction
u of F with Q u = 0 and y'u = 0 has 1'u = 0 too, since gradients vanish on F: it stays in the polytope.) So the
partitions that are kept give every vertex, and a multiplier is unique where they all agree on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import lcm
from typing import Any

import numpy as np

from tests.oracles.exact import Cell, Exact, ExactPath, fractions


def enumerate_bases(K: Exact, y: Any, c0: Any, c1: Any) -> ExactPath:
    """The optima of caps ``c0 + t c1``, 0 <= t <= 1, from all partitions into R, L and F.

    Parameters
    ----------
    K : object array of ints, shape (n, n)
    y : labels
    c0, c1 : rationals, or floats that are meant exactly
    """
    K, y = np.asarray(K, dtype=object), np.array([int(v) for v in y], dtype=object)
    c0, c1 = fractions(c0), fractions(c1)
    unit = lcm(*(c.denominator for c in [*c0, *c1]))
    whole = [np.array([int(c * unit) for c in part], dtype=object) for part in (c0, c1)]
    Q = y[:, None] * K * y
    n = y.size
    bases = list(_without_margin(Q, y, *whole, unit))
    for size in range(1, n + 1):
        for F in combinations(range(n), size):
            bases += _with_margin(Q, y, *whole, unit, list(F))
    return _agreed(ExactPath(K, y, c0, c1, _cells(bases)).proved(), bases)


Basis = tuple[Fraction, Fraction, tuple[Fraction, ...], tuple[Fraction, ...]]  # t0, t1, multipliers at 0, rate


def inverse(M: Exact) -> tuple[Exact, int]:
    """Integer matrix N and number d > 0 with M N = d I, by fraction-free elimination; d = 0 if M is singular."""
    m, last = M.shape[0], 1
    A = np.hstack([M, np.eye(m, dtype=int).astype(object)])
    for k in range(m):
        p = next((i for i in range(k, m) if A[i, k] != 0), None)
        if p is None:
            return None, 0
        A[[k, p]] = A[[p, k]]
        pivot, row = A[k, k], A[k].copy()
        A = (pivot * A - np.outer(A[:, k], row)) // last
        A[k], last = row, pivot
    return (A[:, m:], last) if last > 0 else (-A[:, m:], -last)


def _subsets(m: int) -> Exact:
    """All 0-1 vectors of length m as the columns of an (m, 2^m) array."""
    return np.array(list(product((0, 1), repeat=m)), dtype=object).reshape(2**m, m).T


def _with_margin(Q: Exact, y: Exact, c0: Exact, c1: Exact, unit: int, F: list[int]) -> Iterator[Basis]:
    """The optimal bases with margin set F; everything is scaled by ``det * unit`` to stay whole."""
    k, rest = len(F), [i for i in range(y.size) if i not in F]
    bordered = np.zeros((k + 1, k + 1), dtype=object)
    bordered[:k, :k], bordered[:k, k], bordered[k, :k] = Q[np.ix_(F, F)], y[F], y[F]
    adjugate, det = inverse(bordered)
    if det == 0:
        return
    left = _subsets(len(rest))
    sign = 1 - 2 * left  # of the gradient: nonnegative in R, nonpositive in L
    sign[(c0[rest] == 0) & (c1[rest] == 0)] = 0  # a sample that costs nothing asks for nothing
    parts, conditions = [], []
    for c, one in ((c0, unit), (c1, 0)):
        at_cap = left * c[rest][:, None]
        a = adjugate @ np.vstack([one - Q[np.ix_(F, rest)] @ at_cap, -(y[rest] @ at_cap)[None]])
        g = Q[np.ix_(rest, F)] @ a[:k] + y[rest][:, None] * a[k] + det * (Q[np.ix_(rest, rest)] @ at_cap - one)
        parts.append((a[:k], det * at_cap))
        conditions.append(np.vstack([a[:k], det * c[F][:, None] - a[:k], sign * g]))
    (inner0, cap0), (inner1, cap1) = parts
    hopeless = ((conditions[0] < 0) & (conditions[0] + conditions[1] < 0)).any(axis=0)
    for j in np.flatnonzero(~hopeless.astype(bool)):
        span = _span(zip(conditions[0][:, j], conditions[1][:, j], strict=True))
        if span is not None:
            yield (
                *span,
                _merge(y.size, F, inner0, rest, cap0, j, det * unit),
                _merge(y.size, F, inner1, rest, cap1, j, det * unit),
            )


def _merge(n: int, F: list[int], inner: Exact, rest: list[int], outer: Exact, j: int, scale: int) -> Any:
    a = [Fraction(0)] * n
    for indices, values in ((F, inner), (rest, outer)):
        for i, value in zip(indices, values[:, j], strict=True):
            a[i] = Fraction(value, scale)
    return tuple(a)


def _without_margin(Q: Exact, y: Exact, c0: Exact, c1: Exact, unit: int) -> Iterator[Basis]:
    """The optimal bases with all samples at their bounds; b is any number between the bounds that they set it."""
    costs = (c0 != 0) | (c1 != 0)
    for left in _subsets(y.size).T:
        a0, a1 = left * c0, left * c1
        if y @ a0 != 0 or y @ a1 != 0:  # balanced at one t at most: that point belongs to other bases as well
            continue
        meets = list(zip(y * (unit - Q @ a0), y * -(Q @ a1), strict=True))
        lower = [m for i, m in enumerate(meets) if costs[i] and (y[i] > 0) != bool(left[i])]
        upper = [m for i, m in enumerate(meets) if costs[i] and (y[i] > 0) == bool(left[i])]
        span = _span((u0 - l0, u1 - l1) for (l0, l1), (u0, u1) in product(lower, upper))
        if span is not None:
            yield *span, tuple(Fraction(a, unit) for a in a0), tuple(Fraction(a, unit) for a in a1)


def _span(conditions: Any) -> tuple[Fraction, Fraction] | None:
    """The part of [0, 1] where every ``p + q t >= 0``, unless it is a point or empty."""
    lo, hi = Fraction(0), Fraction(1)
    for p, q in conditions:
        if q > 0:
            lo = max(lo, Fraction(-p, q))
        elif q < 0:
            hi = min(hi, Fraction(p, -q))
        elif p < 0:
            return None
        if lo >= hi:
            return None
    return lo, hi


def _cells(bases: list[Basis]) -> tuple[Cell, ...]:
    """Cut [0, 1] at the ends of all bases; on each cell they agree on the multipliers that are unique."""
    cells = []
    for t0, t1 in pairwise(sorted({e for basis in bases for e in basis[:2]})):
        here = [(at0, rate) for lo, hi, at0, rate in bases if lo <= t0 and t1 <= hi]
        assert here, f"no partition is optimal between {t0} and {t1}"
        unique = tuple(len(set(choices)) == 1 for choices in zip(*(zip(*h, strict=True) for h in here), strict=True))
        cells.append(Cell(t0, t1, *(np.array(part, dtype=object) for part in here[0]), unique))
    return tuple(cells)


def _agreed(path: ExactPath, bases: list[Basis]) -> ExactPath:
    """The path, once all bases that are optimal on a cell agree on scores and value, which are unique."""

    def known(at0: Any, rate: Any) -> tuple[Any, ...]:
        return tuple((sum(part), *path.scores_of(np.array(part, dtype=object))) for part in (at0, rate))

    shared = {choice: known(*choice) for choice in {tuple(choice) for _, _, *choice in bases}}
    for cell in path.cells:
        here = known(cell.at0, cell.rate)
        assert all(shared[at0, rate] == here for lo, hi, at0, rate in bases if lo <= cell.t0 and cell.t1 <= hi)
    return path
