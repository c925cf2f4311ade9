"""The points of a bounded certificate: a path in doubles as it is stored, made feasible without rounding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.engine.reduction.program import between
from paretoclf.problem.parametric_qp import INSIDE, ParametricQP
from paretoclf.proof import check
from paretoclf.proof.files.problems import stated

#: The least by which a bound is widened.
_TINY = 2.0**-200


def lower_triangle(problem: Mapping[str, Any]) -> Array:
    """The matrix K of a problem and its diagonal in doubles, of which only the lower triangle is filled."""
    n = len(problem["K"])
    K = np.zeros((n, n))
    K[np.tril_indices(n)] = [float(Fraction(v)) for row in problem["K"] for v in row]
    return K + np.diag([float(Fraction(v)) for v in problem.get("diagonal", [0] * n)])


@dataclass(frozen=True)
class OnePoint:
    """One solution as a path of one piece on which nothing moves."""

    t: Array
    ptr: Index
    index: Index
    a0: Array
    a1: Array

    @classmethod
    def of(cls, alpha: Array, labels: Index) -> OnePoint:
        """That of multipliers, of which those with the label 0 are between their bounds."""
        index = np.flatnonzero(labels[: alpha.size] == INSIDE)
        return cls(np.array([0.0, 1.0]), np.array([0, index.size]), index, alpha[index], alpha[index])


def program_points(problem: ParametricQP, t: Array, x: Array, r: Array) -> tuple[ParametricQP, list[Any], str]:
    """A path in doubles as points of a program that has room for it, that program, and what it is.

    A double misses an equation by rounding, and without bounds on a variable there is no finite dual value for a
    gradient that rounding has left. So each bound is widened by what is missed, to a power of two, and where a variable
    has none it gets one, twice its largest value or more from 0.
    """
    n, eps = problem.n, np.finfo(np.float64).eps
    A = np.asarray(problem.A, dtype=np.float64)
    v, terms = np.hstack([x, x @ A.T]), np.hstack([abs(x), abs(x) @ abs(A).T])
    far = 2.0 ** np.ceil(np.log2(2 * max(float(abs(x).max(initial=0.0)), 1.0)))
    wider, most = {}, 0.0
    for name, sign in (("lower", -1.0), ("upper", 1.0)):
        ends = np.array(getattr(problem, name), dtype=np.float64)
        has = np.isfinite(ends[0])
        bounds = between(np.where(has, ends, 0.0), t[:, None])
        missed = (sign * (v - bounds) + 4 * eps * (n + 4) * (terms + abs(bounds))).max(axis=0)
        by = np.where(has & (missed > 0), 2.0 ** np.ceil(np.log2(2 * np.maximum(missed, _TINY))), 0.0)
        most = max(most, float(by.max(initial=0.0)))
        ends = np.where(has, ends + sign * by, sign * np.inf)
        ends[:, :n] = np.where(has[:n], ends[:, :n], sign * far)
        wider[name] = ends
        r = np.where(has[n:], r, np.maximum(r, 0.0) if sign > 0 else np.minimum(r, 0.0))
    points: list[Any] = []
    at: dict[int, float] = {}
    for when, values, rows in zip(t.tolist(), x.tolist(), r.tolist(), strict=True):
        changes = [[i, value] for i, value in enumerate(values) if at.get(i) != value]
        if changes or not points or points[-1][::2] != [when, rows]:
            points.append([when, changes, rows])
        at.update(enumerate(values))
    about = f"bounds are at most {most:.1e} wider than asked, by what doubles miss; variables without any have {far:g}"
    return replace(problem, lower=wider["lower"], upper=wider["upper"]), points, about


class StoredPoints:
    """Points of a path in doubles, made feasible without rounding, with multipliers of the rows (of which y is one)."""

    def __init__(self, problem: Mapping[str, Any], pieces: Any, labels: list[Index]) -> None:
        self.y, n = [int(v) for v in problem["y"]], len(problem["y"])
        of: Any = check.LINEAR[problem["kind"]]
        q, A, ends = of(problem, self.y)
        self.q = np.array([[float(Fraction(v)) for v in end] for end in q])
        self.A, self.ends = np.array(A, dtype=np.int64).reshape(-1, n), [[Fraction(v) for v in end] for end in ends]
        self.capped, self.factor = "caps" in problem, 0.5 if problem["kind"] == "margins" else 1.0
        (start, stop), self.one = check.integers(problem.get("caps", [[0] * n] * 2))
        self.caps = list(zip(start, stop, strict=True))
        own = np.array(self.caps, dtype=object).astype(float) / float(self.one) if n else np.zeros((0, 2))
        self.cap_ends = own.T if self.capped else np.full((2, n), np.inf)
        self.K: Any = None if "X" in problem else lower_triangle(problem)
        if self.K is not None:
            self.K = self.K + np.tril(self.K, -1).T
        else:
            self.X = np.array(problem["X"], dtype=np.float64)
            self.X = np.column_stack([self.X, np.ones(n)]) if problem.get("bias") else self.X
            self.diagonal = np.array([float(Fraction(v)) for v in problem.get("diagonal", [0] * n)])
        self.pieces, self.labels = pieces, labels
        first, last = (Fraction(float(t)) for t in pieces.t[[0, -1]])
        self.t = [float((Fraction(float(t)) - first) / (last - first)) for t in pieces.t]

    def side(self, j: int, end: int) -> tuple[float, Index, Index, Array, Array]:
        """One end of a piece: t, labels of samples, the margin set, its multipliers, multipliers of the rows."""
        P, labels, t = self.pieces, self.labels[j][: len(self.y)], self.t[j + end]
        part = slice(P.ptr[j], P.ptr[j + 1])
        index, values = P.index[part], self.factor * (P.a1 if end else P.a0)[part]
        cap = (1 - t) * self.cap_ends[0] + t * self.cap_ends[1] if self.capped else self.cap_ends[0]
        x: Array = np.where(labels == 1, cap, 0.0)
        x[index] = values
        y, z = np.array(self.y, dtype=np.float64), x * np.array(self.y)
        Kz = self.X @ (self.X.T @ z) + self.diagonal * z if self.K is None else self.K @ z
        Px = y * Kz
        g = Px + (1 - t) * self.q[0] + t * self.q[1]
        return t, labels, index, values, np.array([self.price(row, g, labels, index, cap) for row in self.A])

    def price(self, row: Index, g: Array, labels: Index, index: Index, cap: Array) -> float:
        """The multiplier of a row that leaves the margin set where it is; without one, the middle of those allowed."""
        own = index[row[index] != 0]
        if own.size:
            return float(np.mean(g[own] / row[own]))
        open_ = (row != 0) & (cap > 0)
        at_most = open_ & ((labels == -1) == (row > 0))
        least = float((g * row)[open_ & ~at_most].max(initial=-np.inf))
        most = float((g * row)[at_most].min(initial=np.inf))
        both = [v for v in (least, most) if np.isfinite(v)]
        return float(np.mean(both)) if both else 0.0

    def points(self, stretch: Fraction) -> list[Any]:
        """What the file has: t, changes, multipliers of the rows; at a joint once, unless something jumps there."""
        out: list[Any] = []
        at: dict[int, Any] = {}
        n, unit = len(self.y), float(self.cap_ends.max(initial=0.0)) if self.capped else 0.0
        before: Any = None
        for j in range(len(self.t) - 1):
            here, there = self.side(j, 0), self.side(j, 1)
            knots = [here]
            if before is not None:
                joint = self.joined(before, here, unit)
                knots = [before, here] if joint is None else [joint]
            for knot in knots:
                self.write(out, at, knot, stretch)
            before = there
        if before is not None:
            self.write(out, at, before, stretch)
        assert n == len(at)
        return out

    @staticmethod
    def joined(before: Any, here: Any, unit: float) -> Any:
        """One point for both sides of a joint; None where something jumps."""
        (t, old, index, values, rows), (_, new, other, values_new, rows_new) = before, here
        if (np.abs(rows - rows_new) > 1e-12 * (1 + np.abs(rows))).any() or ((old * new) == -1).any():
            return None
        known = dict(zip(other.tolist(), values_new.tolist(), strict=True))
        size = unit or float(np.abs(values).max(initial=0.0))
        if any(abs(v - known.get(i, v)) > 1e-9 * size for i, v in zip(index.tolist(), values.tolist(), strict=True)):
            return None
        kept = new[index] == 0
        return t, np.where(old == 0, new, old), index[kept], values[kept], rows

    def write(self, out: list[Any], at: dict[int, Any], knot: Any, stretch: Fraction) -> None:
        """Add a point: multipliers within their bounds, and of each row one that makes the equation hold exactly."""
        t, labels, index, values, rows = knot
        when = Fraction(t)
        letters: dict[int, Any] = dict(enumerate("u" if v == 1 else "l" for v in labels.tolist()))
        for i, v in zip(index.tolist(), values.tolist(), strict=True):
            letters[i] = "l" if v <= 0 else "u" if self.capped and Fraction(v) >= self.cap(i, when) else v
        for row, (first, last) in zip(self.A, zip(*self.ends, strict=True), strict=True):
            self.repair(letters, row, (1 - when) * first + when * last, when)
        changes = [[i, v] for i, v in letters.items() if at.get(i, "l") != v]
        at.update(letters)
        out.append([t, changes, [stated(Fraction(float(r)) * (1 + stretch)) for r in rows]])

    def cap(self, i: int, t: Fraction) -> Fraction:
        """The upper bound of a multiplier."""
        first, last = self.caps[i]
        return Fraction(first * (t.denominator - t.numerator) + last * t.numerator, self.one * t.denominator)

    def repair(self, letters: dict[int, Any], row: Index, wanted: Fraction, t: Fraction) -> None:
        """Change the multiplier with most room so that the equation holds."""
        where = np.flatnonzero(row).tolist()
        full = [(int(row[i]) * self.caps[i][0], int(row[i]) * self.caps[i][1]) for i in where if letters[i] == "u"]
        first, last = (sum(each[k] for each in full) for k in (0, 1))
        total = Fraction(first * (t.denominator - t.numerator) + last * t.numerator, self.one * t.denominator)
        inside = [i for i in where if letters[i] not in ("l", "u")]
        missing = wanted - total - sum((int(row[i]) * Fraction(letters[i]) for i in inside), Fraction(0))
        if not missing:
            return
        for some in (inside, where):  # of those at their bounds only where no other has room
            rooms = {}
            for i in some:
                x = Fraction(0) if letters[i] == "l" else self.cap(i, t) if letters[i] == "u" else Fraction(letters[i])
                move = missing * int(row[i])
                rooms[i] = (x if move < 0 else self.cap(i, t) - x if self.capped else abs(move) + x), x + move
            best = max(rooms, key=lambda k: rooms[k][0], default=None)
            if best is not None and rooms[best][0] >= abs(missing):
                letters[best] = stated(rooms[best][1])
                return
        raise ArithmeticError(f"no multiplier can make an equation hold exactly at t = {float(t)!r}")
