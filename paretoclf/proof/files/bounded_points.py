"""The points of a bounded certificate: a path in doubles as it is stored, made feasible without rounding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.engine.reduction.program import between
from paretoclf.problem.parametric_qp import INSIDE, UPPER, ParametricQP
from paretoclf.problem.pieces import Pieces
from paretoclf.proof import check
from paretoclf.proof.files.stated_problems import stated

#: Bounds are widened by no less.
_TINY = 2.0**-200
_EPS = float(np.finfo(np.float64).eps)


def lower_triangle(problem: Mapping[str, Any]) -> Array:
    """The matrix K of a problem and its diagonal in doubles, of which only the lower triangle is filled."""
    count = len(problem["K"])
    matrix = np.zeros((count, count))
    matrix[np.tril_indices(count)] = _doubles(entry for row in problem["K"] for entry in row)
    return matrix + np.diag(_diagonal(problem, count))


def _doubles(numbers: Iterable[Any]) -> list[float]:
    """The doubles that are nearest to numbers as a file states them."""
    return [float(Fraction(number)) for number in numbers]


def _diagonal(problem: Mapping[str, Any], count: int) -> Array:
    """The diagonal that a problem adds to its matrix, in doubles."""
    return np.array(_doubles(problem.get("diagonal", [0] * count)))


def one_point(alpha: Array, labels: Index) -> Pieces:
    """One solution as the piece of a path on which nothing depends on t; multipliers with the label 0 move."""
    moving = np.flatnonzero(labels[: alpha.size] == INSIDE)
    state = labels[: alpha.size].astype(np.int8)
    return Pieces.still(np.array([0.0, 1.0]), moving, alpha[moving], np.zeros(2), 0.0, None, state)


def program_points(
    problem: ParametricQP, t: Array, x: Array, multipliers: Array
) -> tuple[ParametricQP, list[Any], str]:
    """State a path in doubles as points of a program that has room for it: that program, the points, and a note.

    A double misses an equation by rounding, and without bounds on a variable there is no finite dual value for a
    gradient that rounding has left. So each bound is widened by its violation, to a power of two, and where a variable
    has none it gets one, twice its largest value or more from 0.
    """
    matrix = np.asarray(problem.A, dtype=np.float64)
    values = np.hstack([x, x @ matrix.T])
    terms = np.hstack([abs(x), abs(x) @ abs(matrix).T])
    far = _power_of_two(2 * max(float(abs(x).max(initial=0.0)), 1.0))
    lower, most_below = _widened(problem, "lower", t, values, terms, far)
    upper, most_above = _widened(problem, "upper", t, values, terms, far)
    # A multiplier of a bound that a row does not have is rounding.
    rows = slice(problem.n, None)
    multipliers = np.where(np.isfinite(lower[0, rows]), multipliers, np.minimum(multipliers, 0.0))
    multipliers = np.where(np.isfinite(upper[0, rows]), multipliers, np.maximum(multipliers, 0.0))
    most = max(0.0, most_below, most_above)
    about = f"bounds are at most {most:.1e} wider than asked, by what doubles miss; variables without any have {far:g}"
    return replace(problem, lower=lower, upper=upper), _stated_points(t, x, multipliers), about


def _power_of_two(size: Any) -> Any:
    """The least power of two that is no less than a size."""
    return 2.0 ** np.ceil(np.log2(size))


def _widened(
    problem: ParametricQP, name: str, t: Array, values: Array, terms: Array, far: float
) -> tuple[Array, float]:
    """Bounds of one side that all points keep without rounding, (2, items), and the most by which one was widened."""
    sign = -1.0 if name == "lower" else 1.0
    ends = np.array(getattr(problem, name), dtype=np.float64)
    finite = np.isfinite(ends[0])
    bounds = between(np.where(finite, ends, 0.0), t[:, None])
    rounding = 4 * _EPS * (problem.n + 4) * (terms + abs(bounds))
    violation = (sign * (values - bounds) + rounding).max(axis=0)
    wider = _power_of_two(2 * np.maximum(violation, _TINY))
    added = np.where(finite & (violation > 0), wider, 0.0)
    ends = np.where(finite, ends + sign * added, sign * np.inf)
    columns = slice(problem.n)
    ends[:, columns] = np.where(finite[columns], ends[:, columns], sign * far)
    return ends, float(added.max(initial=0.0))


def _stated_points(t: Array, x: Array, multipliers: Array) -> list[Any]:
    """State points as a file has them: t, changed variables, and multipliers of rows; two that are equal only once."""
    points: list[Any] = []
    known: dict[int, float] = {}
    for when, values, rows in zip(t.tolist(), x.tolist(), multipliers.tolist(), strict=True):
        changes = [[i, value] for i, value in enumerate(values) if known.get(i) != value]
        if changes or not points or points[-1][::2] != [when, rows]:
            points.append([when, changes, rows])
        known.update(enumerate(values))
    return points


class _PieceEnd(NamedTuple):
    """One end of a piece: t, labels of samples, the margin set, its multipliers, and multipliers of the rows."""

    t: float
    labels: Index
    margin_set: Index
    values: Array
    rows: Array


class StoredPoints:
    """Points of a path in doubles, made feasible without rounding, with multipliers of the rows (of which y is one)."""

    def __init__(self, problem: Mapping[str, Any], pieces: Pieces, labels: list[Index]) -> None:
        self.y = [int(label) for label in problem["y"]]
        count = len(self.y)
        q, A, ends = check.classifier(dict(problem), self.y)
        self.q = np.array([_doubles(end) for end in q])
        self.A = np.array(A, dtype=np.int64).reshape(-1, count)
        self.ends = [[Fraction(number) for number in end] for end in ends]
        self.capped, self.factor = "caps" in problem, 0.5 if problem["kind"] == "margins" else 1.0
        (start, stop), self.one = check.integers(problem.get("caps", [[0] * count] * 2))
        self.caps = list(zip(start, stop, strict=True))
        self.cap_ends = self._cap_ends()
        self.product = _with_features(problem) if "X" in problem else _with_kernel(problem)
        self.pieces, self.labels = pieces, labels
        exact = [Fraction(float(t)) for t in pieces.t]
        first, last = exact[0], exact[-1]
        self.t = [float((t - first) / (last - first)) for t in exact]

    def _cap_ends(self) -> Array:
        """Caps in doubles, at both ends (2, n); infinite where there are none."""
        if not self.capped:
            return np.full((2, len(self.y)), np.inf)
        if not self.caps:
            return np.zeros((2, 0))
        in_doubles = np.array(self.caps, dtype=object).astype(float) / float(self.one)
        return np.asarray(in_doubles.T)

    def side(self, piece: int, end: int) -> _PieceEnd:
        """Take one end of a piece, with multipliers of the rows that go with it."""
        pieces, t = self.pieces, self.t[piece + end]
        labels = self.labels[piece][: len(self.y)]
        part = slice(pieces.ptr[piece], pieces.ptr[piece + 1])
        index = pieces.index[part]
        values = self.factor * (pieces.a1 if end else pieces.a0)[part]
        cap, last_cap = self.cap_ends
        if self.capped:
            cap = (1 - t) * cap + t * last_cap
        multipliers: Array = np.where(labels == 1, cap, 0.0)
        multipliers[index] = values
        signs = np.array(self.y, dtype=np.float64)
        gradient = signs * self.product(multipliers * np.array(self.y))
        gradient = gradient + (1 - t) * self.q[0] + t * self.q[1]
        rows = [self.price(row, gradient, labels, index, cap) for row in self.A]
        return _PieceEnd(t, labels, index, values, np.array(rows))

    def price(self, row: Index, gradient: Array, labels: Index, index: Index, cap: Array) -> float:
        """The multiplier of a row that leaves the margin set where it is; without one, the middle of those allowed."""
        own = index[row[index] != 0]
        if own.size:
            return float(np.mean(gradient[own] / row[own]))
        movable = (row != 0) & (cap > 0)
        at_most = movable & ((labels == -1) == (row > 0))
        at_least = movable & ~at_most
        least = float((gradient * row)[at_least].max(initial=-np.inf))
        most = float((gradient * row)[at_most].min(initial=np.inf))
        finite = [bound for bound in (least, most) if np.isfinite(bound)]
        return float(np.mean(finite)) if finite else 0.0

    def points(self, stretch: Fraction) -> list[Any]:
        """Points for the file, [t, changes, multipliers of the rows times 1 + stretch], which keep all rows exactly.

        A joint is one point, unless something jumps there.
        """
        out: list[Any] = []
        known: dict[int, Any] = {}
        unit = float(self.cap_ends.max(initial=0.0)) if self.capped else 0.0
        before: _PieceEnd | None = None
        for piece in range(len(self.t) - 1):
            here = self.side(piece, 0)
            joint = None if before is None else self.joined(before, here, unit)
            for side in (before, here) if joint is None else (joint,):
                if side is not None:
                    self.write(out, known, side, stretch)
            before = self.side(piece, 1)
        if before is not None:
            self.write(out, known, before, stretch)
        assert len(self.y) == len(known)
        return out

    @staticmethod
    def joined(before: _PieceEnd, here: _PieceEnd, unit: float) -> _PieceEnd | None:
        """Make one point of both sides of a joint; None where something jumps."""
        change = np.abs(before.rows - here.rows)
        if (change > 1e-12 * (1 + np.abs(before.rows))).any() or ((before.labels * here.labels) == -1).any():
            return None
        known = dict(zip(here.margin_set.tolist(), here.values.tolist(), strict=True))
        size = unit or float(np.abs(before.values).max(initial=0.0))
        for i, value in zip(before.margin_set.tolist(), before.values.tolist(), strict=True):
            if abs(value - known.get(i, value)) > 1e-9 * size:
                return None
        kept = here.labels[before.margin_set] == 0
        labels = np.where(before.labels == 0, here.labels, before.labels)
        return _PieceEnd(before.t, labels, before.margin_set[kept], before.values[kept], before.rows)

    def write(self, out: list[Any], known: dict[int, Any], side: _PieceEnd, stretch: Fraction) -> None:
        """Add a point: multipliers within their bounds, changed so that each row's equation holds exactly."""
        when = Fraction(side.t)
        of_labels = ("u" if label == UPPER else "l" for label in side.labels.tolist())
        letters: dict[int, Any] = dict(enumerate(of_labels))
        for sample, value in zip(side.margin_set.tolist(), side.values.tolist(), strict=True):
            letters[sample] = self._letter(sample, value, when)
        for row, (first, last) in zip(self.A, zip(*self.ends, strict=True), strict=True):
            self.repair(letters, row, (1 - when) * first + when * last, when)
        changes = [[i, value] for i, value in letters.items() if known.get(i, "l") != value]
        known.update(letters)
        rows = [stated(Fraction(float(row)) * (1 + stretch)) for row in side.rows]
        out.append([side.t, changes, rows])

    def _letter(self, sample: int, value: float, t: Fraction) -> Any:
        """A multiplier as the file has it: "l" or "u" where it is at a bound or beyond, else its value."""
        if value <= 0:
            return "l"
        if self.capped and Fraction(value) >= self.cap(sample, t):
            return "u"
        return value

    def cap(self, sample: int, t: Fraction) -> Fraction:
        """The upper bound of a multiplier."""
        return self._at(*self.caps[sample], t)

    def _at(self, first: int, last: int, t: Fraction) -> Fraction:
        """Value at t of a number that is affine in t, by integers over the denominator of the caps at both ends."""
        numerator = first * (t.denominator - t.numerator) + last * t.numerator
        return Fraction(numerator, self.one * t.denominator)

    def repair(self, letters: dict[int, Any], row: Index, wanted: Fraction, t: Fraction) -> None:
        """Change the multiplier that has most room, so that the equation of a row holds."""
        where = np.flatnonzero(row).tolist()
        signs = {sample: int(row[sample]) for sample in where}
        at_caps = [sample for sample in where if letters[sample] == "u"]
        first, last = (sum(signs[sample] * self.caps[sample][end] for sample in at_caps) for end in (0, 1))
        inside = [sample for sample in where if letters[sample] not in ("l", "u")]
        of_inside = sum((signs[sample] * Fraction(letters[sample]) for sample in inside), Fraction(0))
        missing = wanted - self._at(first, last, t) - of_inside
        if not missing:
            return
        for some in (inside, where):  # of those at their bounds only where no other has room
            rooms = {sample: self._room(sample, letters[sample], missing * signs[sample], t) for sample in some}
            best = max(some, key=lambda sample: rooms[sample][0], default=None)
            if best is None:
                continue
            room, value = rooms[best]
            if room >= abs(missing):
                letters[best] = stated(value)
                return
        raise ArithmeticError(f"no multiplier can make an equation hold exactly at t = {float(t)!r}")

    def _room(self, sample: int, letter: Any, move: Fraction, t: Fraction) -> tuple[Fraction, Fraction]:
        """Distance of a multiplier from its bound in the direction of a move, and its value after the move."""
        if letter == "l":
            value = Fraction(0)
        elif letter == "u":
            value = self.cap(sample, t)
        else:
            value = Fraction(letter)
        if move < 0:
            return value, value + move
        if not self.capped:
            return abs(move) + value, value + move
        return self.cap(sample, t) - value, value + move


def _with_kernel(problem: Mapping[str, Any]) -> Callable[[Array], Array]:
    """The product with the matrix K of a problem, and its diagonal, in doubles."""
    lower = lower_triangle(problem)
    return (lower + np.tril(lower, -1).T).__matmul__


def _with_features(problem: Mapping[str, Any]) -> Callable[[Array], Array]:
    """The product with ``X X'``, of the features of a problem, and its diagonal, in doubles."""
    features = np.array(problem["X"], dtype=np.float64)
    count = len(features)
    if problem.get("bias"):
        features = np.column_stack([features, np.ones(count)])
    diagonal = _diagonal(problem, count)

    def product(coef: Array) -> Array:
        return np.asarray(features @ (features.T @ coef) + diagonal * coef)

    return product
