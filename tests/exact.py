"""The judge of paths: optimal solutions along a line of costs in exact rational arithmetic, for a handful of samples.

Two ways that share nothing with the tracker, nor with each other. `enumerate_bases` tries every partition of the
samples into R (multiplier 0), L (at the cap) and F (margin set). `criss_cross` follows the line with the least-index
criss-cross method for linear complementarity problems (den Hertog, Roos & Terlaky 1993), in which ties cannot cycle
and no feasible start is needed. `objections` compares a path with either.

Partitions with a singular bordered system are left out: at every t the optimal multipliers are a polytope, and at
each vertex of it the samples strictly between their bounds either are none or have a nonsingular system. (A direction
u of F with Q u = 0 and y'u = 0 has 1'u = 0 too, since gradients vanish on F: it stays in the polytope.) So the
partitions that are kept give every vertex, and a multiplier is unique where they all agree on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, pairwise, product
from math import inf, lcm
from typing import Any

import numpy as np

Exact = Any  # a Fraction, or an object array of Fractions or ints
NEAR = 1e-12  # two parameters of a line closer than this are one


def fractions(values: Any) -> Exact:
    """Floats (or ints) as the rational numbers that they are, in an object array."""
    flat = [Fraction(v) for v in np.asarray(values, dtype=object).ravel()]
    return np.array(flat, dtype=object).reshape(np.shape(values))


def integer_kernel(X: Any, degree: int = 1) -> Exact:
    """Linear kernel of samples with integer entries, or (x . z + 1)^degree, in Python's integers."""
    Z = np.array([[int(v) for v in row] for row in np.asarray(X)], dtype=object)
    K = Z @ Z.T
    return K if degree == 1 else (K + 1) ** degree


@dataclass(frozen=True)
class Cell:
    """A range of t on which multipliers ``at0 + t rate`` are optimal; ``unique`` marks those without a choice."""

    t0: Fraction
    t1: Fraction
    at0: Exact
    rate: Exact
    unique: tuple[bool, ...]

    def alpha(self, t: Exact) -> Exact:
        """Multipliers at t."""
        return self.at0 + t * self.rate


@dataclass(frozen=True)
class ExactPath:
    """All that is unique about the optima of caps ``c0 + t c1``: value, scores up to b, intervals of b."""

    K: Exact
    y: Exact
    c0: Exact
    c1: Exact
    cells: tuple[Cell, ...]

    def _cell(self, t: Exact) -> Cell:
        return next(cell for cell in self.cells if t <= cell.t1)

    def alpha(self, t: Exact) -> Exact:
        """Optimal multipliers at t (one choice)."""
        return self._cell(t).alpha(t)

    def scores_of(self, alpha: Exact) -> Exact:
        """Scores of the samples without intercept."""
        return self.K @ (self.y * alpha)

    def value(self, t: Exact) -> Fraction:
        """Optimal value at t."""
        a = self.alpha(t)
        return sum(a) - (self.y * a) @ self.scores_of(a) / 2

    def intercepts(self, t: Exact) -> tuple[Any, Any]:
        """Ends of the interval of optimal b at t; infinite where a class costs nothing."""
        a = self.alpha(t)
        return intercepts(self.y, a < self.c0 + t * self.c1, a > 0, self.scores_of(a))

    def proved(self) -> ExactPath:
        """Itself, once every cell meets the optimality conditions: affine ones, so at both of its ends."""
        assert self.ends[0] == 0
        assert self.ends[-1] == 1
        for cell in self.cells:
            t = (cell.t0 + cell.t1) / 2
            may_grow, may_shrink = cell.alpha(t) < self.c0 + t * self.c1, cell.alpha(t) > 0
            for end in (cell.t0, cell.t1):
                a = cell.alpha(end)
                assert (a >= 0).all()
                assert (a <= self.c0 + end * self.c1).all()
                assert self.y @ a == 0
                lo, hi = intercepts(self.y, may_grow, may_shrink, self.scores_of(a))
                assert lo <= hi, f"not optimal at {end}"
        return self

    @cached_property
    def ends(self) -> list[Fraction]:
        """Ends of the cells."""
        return [self.cells[0].t0, *(cell.t1 for cell in self.cells)]

    @cached_property
    def bends(self) -> list[Fraction]:
        """Where w bends, or a multiplier that is unique on both sides."""
        return [b.t0 for a, b in pairwise(self.cells) if self.bends_w(a, b) or _bends_alpha(a, b)]

    def bends_w(self, a: Cell, b: Cell) -> bool:
        """Whether the slope of w differs between two cells."""
        return any(self.scores_of(a.rate) != self.scores_of(b.rate))

    def terms(self, t: Fraction) -> tuple[float, float]:
        """Sizes of the terms that value and largest score are sums of: rounding is relative to these."""
        a = self.alpha(t)
        sums = abs(self.K) @ a
        return float(sum(a) + a @ sums / 2), float(max(sums))

    def speed(self, t: Fraction) -> tuple[float, float, float]:
        """Sums of the rates of the terms of value and scores, and the largest rate of a multiplier."""
        cell = self._cell(t)
        rates = abs(cell.rate)
        sums = abs(self.K) @ rates
        return float(sum(rates) + cell.alpha(t) @ sums), float(max(sums)), float(max(rates))

    def near(self, t: float) -> list[Fraction]:
        """The parameter t, and ends of cells that cannot be told from it."""
        return [Fraction(t), *(e for e in self.ends if abs(float(e) - t) <= NEAR)]

    def intercepts_near(self, t: float) -> tuple[float, float]:
        """Optimal intercepts at t, widened to those of an end of a cell that cannot be told from t."""
        lows, highs = zip(*(self.intercepts(s) for s in self.near(t)), strict=True)
        return float(min(lows)), float(max(highs))

    def settled(self, t: float) -> Exact:
        """Mask of the multipliers that are unique at t: on both sides and continuous, if t is an end of a cell."""
        cells = [c for c in self.cells if any(c.t0 <= s <= c.t1 for s in self.near(t))]
        unique = np.all([c.unique for c in cells], axis=0)
        for a, b in pairwise(cells):
            unique &= a.alpha(b.t0) == b.alpha(b.t0)
        return unique


def intercepts(y: Exact, may_grow: Any, may_shrink: Any, scores: Exact) -> tuple[Any, Any]:
    """Optimal intercepts: each multiplier that may grow or shrink bounds b, from opposite sides for the two labels."""
    meets, positive = y - scores, y > 0
    lower = meets[(may_grow & positive) | (may_shrink & ~positive)]
    upper = meets[(may_shrink & positive) | (may_grow & ~positive)]
    return max(lower, default=-inf), min(upper, default=inf)


def _bends_alpha(a: Cell, b: Cell) -> bool:
    unique = np.logical_and(a.unique, b.unique)
    return bool((unique & ((a.rate != b.rate) | (a.at0 != b.at0))).any())


# ---- every partition ---------------------------------------------------------------------------------------------


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


# ---- the criss-cross method --------------------------------------------------------------------------------------


def criss_cross(K: Exact, y: Any, c0: Any, c1: Any) -> ExactPath:
    """The optima of caps ``c0 + t c1``, 0 <= t <= 1, by parametric least-index criss-cross pivots.

    Parameters as for `enumerate_bases`. Says of no multiplier that it is unique.
    """
    K, y = np.asarray(K, dtype=object), np.array([int(v) for v in y], dtype=object)
    c0, c1 = fractions(c0), fractions(c1)
    n = y.size
    T = _dictionary(y[:, None] * K * y, y, c0, c1)
    inside = np.zeros(2 * n + 2, dtype=bool)
    t, cells = Fraction(0), []
    while t < 1:
        _restore(T, inside, t)
        shrinking = T[:, -1] < 0
        t_next = min([Fraction(1), *(-T[shrinking, -2] / T[shrinking, -1])])
        at0, rate = (np.where(inside[:n], T[:n, column], Fraction(0)) for column in (-2, -1))
        cells.append(Cell(t, t_next, at0, rate, (False,) * n))
        t = t_next
    return ExactPath(K, y, c0, c1, tuple(cells)).proved()


def _dictionary(Q: Exact, y: Exact, c0: Exact, c1: Exact) -> Exact:
    """The conditions as ``w = M z + q + t r``, w and z complementary: rows of M with q and r appended.

    The pairs: gradient and multiplier, distance to the cap and slack, and two for ``y'a = 0`` with b = b+ - b-.
    """
    n = y.size
    T = fractions(np.zeros((2 * n + 2, 2 * n + 4), dtype=int))
    T[:n, :n], T[:n, n : 2 * n], T[:n, 2 * n], T[:n, 2 * n + 1] = Q, np.eye(n, dtype=int), y, -y
    T[n : 2 * n, :n], T[2 * n, :n], T[2 * n + 1, :n] = -np.eye(n, dtype=int), -y, y
    T[:n, -2], T[n : 2 * n, -2], T[n : 2 * n, -1] = -1, c0, c1
    return T + Fraction(0)


def _restore(T: Exact, inside: Any, t: Fraction) -> None:
    """Pivot until every basic variable is nonnegative at t and a little after it."""
    size = T.shape[0]
    for _ in range(100_000):
        now = T[:, -2] + t * T[:, -1]
        k = next((i for i in range(size) if now[i] < 0 or (now[i] == 0 and T[i, -1] < 0)), None)
        if k is None:
            return
        if T[k, k] != 0:
            _pivot(T, k, k)
            inside[k] = not inside[k]
            continue
        other = next(j for j in range(size) if T[k, j] > 0)  # one exists: the problem is feasible and bounded
        _pivot(T, k, other)
        _pivot(T, other, k)
        T[[k, other]] = T[[other, k]]
        T[:, [k, other]] = T[:, [other, k]]
        inside[[k, other]] = ~inside[[k, other]]
    raise AssertionError("the criss-cross method does not cycle")


def _pivot(T: Exact, r: int, s: int) -> None:
    """Exchange the basic variable of row r and the nonbasic variable of column s."""
    column = T[:, s] / T[r, s]
    row = -T[r] / T[r, s]
    row[s] = 1 / T[r, s]
    used = np.flatnonzero(T[r] != 0)
    for i in np.flatnonzero(column != 0):
        if i != r:
            T[i, used] -= column[i] * T[r, used]
            T[i, s] = column[i]
    T[r] = row


# ---- a path before the judge -------------------------------------------------------------------------------------


def objections(path: Any, judge: ExactPath) -> list[str]:
    """What a path says that the exact optima contradict; empty if it is right.

    Breakpoints are held to 1e-12 of the line; at each of them, and at the middle of each piece, the value to 1e-13 of
    itself, scores and intercepts to 1e-12 and multipliers to 1e-12 of the largest cap. To that comes what rounding
    makes of them: of t, which moves every term of a sum, and of the sums on the piece.
    """
    t = np.asarray(path.breakpoints)
    lost = [s for s in judge.bends if abs(t - float(s)).min() > NEAR]
    out = [f"{float(s):.15g}: w or alpha bends, and there is no breakpoint" for s in lost]
    terms = np.array([judge.terms(Fraction(float(s))) for s in t])
    pieces = np.maximum(terms[:-1], terms[1:])
    ends = np.vstack([pieces[:1], np.maximum(pieces[:-1], pieces[1:]), pieces[-1:]])
    scores = []
    for s, size in zip(t, ends, strict=True):
        wrong, at_s = _objections_at(path, judge, float(s), *size)
        scores.append(at_s)
        out += wrong
    for s, size in zip(0.5 * (t[:-1] + t[1:]), pieces, strict=True):
        out += _objections_at(path, judge, float(s), *size)[0]
    return out + _bends_without_reason(t, np.array(scores), judge, 1e-12 * (1 + terms[:, 1].max()))


def _objections_at(path: Any, judge: ExactPath, t: float, sums: float, terms: float) -> tuple[list[str], Any]:
    s = Fraction(t)
    alpha, caps = judge.alpha(s), judge.c0 + s * judge.c1
    value, scores, exact = float(judge.value(s)), judge.scores_of(alpha).astype(float), alpha.astype(float)
    found, b = path.at(t).classifier, path.intercept(t)
    lo, hi = judge.intercepts_near(t)
    moved_value, moved, moved_alpha = (2.0**-51 * speed for speed in judge.speed(s))
    near = 1e-12 + 1e-14 * terms + moved
    out = []

    def check(fine: Any, what: str, given: Any, right: Any) -> None:
        if not fine:
            out.append(f"{t:.15g}: {what} {given}, exactly {right}")

    given = path.value(t)
    check(abs(given - value) <= 1e-13 * value + 1e-15 * sums + moved_value, "value", given, value)
    given = found.training_scores
    check((abs(given - scores) <= near).all(), "scores", given, scores)
    given = path.alpha(t)
    wrong = (abs(given - exact) > 1e-12 * float(max(caps)) + moved_alpha) & judge.settled(t)
    check(not wrong.any(), "alpha", given[wrong], exact[wrong])
    check(lo - near <= b <= hi + near, "b", b, (lo, hi))
    given = found.b_interval
    check(
        all(g == e or abs(g - e) <= near for g, e in zip(given, (lo, hi), strict=True)), "b_interval", given, (lo, hi)
    )
    return out, found.training_scores


def _bends_without_reason(t: Any, scores: Any, judge: ExactPath, tol: float) -> list[str]:
    """Breakpoints at which the path's w bends and the exact one does not."""
    out = []
    for j in range(1, t.size - 1):
        if min((abs(float(s) - t[j]) for s in judge.bends), default=1.0) > NEAR:
            share = (t[j] - t[j - 1]) / (t[j + 1] - t[j - 1])
            if (abs(scores[j] - (1 - share) * scores[j - 1] - share * scores[j + 1]) > tol).any():
                out.append(f"{t[j]:.15g}: w bends for no reason")
    return out
