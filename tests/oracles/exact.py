"""The judge of paths: optimal solutions along a line of costs in exact rational arithmetic, for a handful of samples.

Two ways to them that share nothing with the tracker, nor with each other: `exact_enumeration.enumerate_bases` and
`exact_criss_cross.criss_cross`. `objections` compares a path with either.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import inf
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
        """Sums of the rates of the terms of value and scores, and the largest rate of a multiplier.

        At an end of a cell the largest of both sides: t is rounded, and what is there may be on either.
        """
        beside = [cell for cell in self.cells if any(cell.t0 <= s <= cell.t1 for s in self.near(float(t)))]
        speeds = []
        for cell in beside:
            rates = abs(cell.rate)
            sums = abs(self.K) @ rates
            speeds.append((float(sum(rates) + cell.alpha(t) @ sums), float(max(sums)), float(max(rates))))
        value, scores, alpha = np.max(speeds, axis=0)
        return float(value), float(scores), float(alpha)

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
