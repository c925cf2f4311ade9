"""The certificate file of a path within eps, for `paretoclf.proof.check_band` or whoever reads it.

The pairs of a path in doubles are nearly feasible: each is moved to where its equations hold up to rounding, and then
goes so small a share of the way to a point well inside the cones that the checker finds it inside. What the checker
needs beside that, two inverses, are those of a square part of the matrices, rounded to as few bits as will do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.linalg as la

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import InputError
from paretoclf.common.files import AnyFile
from paretoclf.common.progress import counted
from paretoclf.engine.reduction.program import between
from paretoclf.proof import check_band
from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.proof.cones.cone_kinds import Cone
from paretoclf.proof.files.certificate_file import digest, write_content
from paretoclf.proof.verdicts.proof import refuse_labels

#: Points are rounded to so many bits behind the largest number of theirs.
_BITS = 60

#: Bits to which inverses are rounded: the first that keep theta below `_NEAR` where it can be.
_INVERSE_BITS = (10, 16, 24, 36, 53)
_NEAR = 0.25
#: Theta of lines of which there is no certificate.
_FAR = 0.95

#: Shares of the way to points inside are powers of two from the first to the last.
_SHARES = range(-52, 0)

#: Rows whose coefficients move are this much less likely to be among those that an inverse is of.
_MOVES = 1e-3

#: A column of a triangular factor below this share of the largest is none.
_NONE = 1e-11

#: How often a pair is moved to where its equations hold.
_CORRECTED = 20

#: Added to the diagonal of P where it is not proved semidefinite: powers of two, relative to its largest entry.
_SHIFTS = (-48, -44, -40, -36, -32, -28, -24)

#: Rounds in which shares are enlarged where points between pairs are not inside.
_ROUNDS = 30


@dataclass(frozen=True)
class Insides:
    """Points well inside all that can be, at t = 0 and on the straight line at t = 1.

    Attributes
    ----------
    x : array of shape (2, n)
        Points.
    y, z : arrays of shape (2, n) and (2, m)
        Stationary multipliers.
    depth : array of shape (m,)
        How far inside the multipliers of each row are.
    """

    x: Array
    y: Array
    z: Array
    depth: Array


def band_certificate(
    line: ConeLine,
    points: tuple[Array, Array, Array, Array],
    insides: Insides,
    *,
    about: str = "",
    progress: Any = None,
) -> dict[str, Any]:
    """Make the content of a certificate file.

    Parameters
    ----------
    line : ConeLine
    points : tuple of arrays of shape (k,), (k, n), (k, n) and (k, m)
        t, x, y, z of the pairs of a path in doubles.
    insides : Insides
    about : str
        Statement about the problem.
    progress : bool, optional
        Whether to show a bar; by default on a terminal.

    Raises
    ------
    ArithmeticError
        If there is none: the message says why.
    """
    problem, data = stated_line(line, float(points[0][-1]), about)
    B, C, scale = inverses(data, insides)
    mended = _Mended(data, points, insides, (B, C))
    stated = {"B": sparse_rows(B.T), "C": sparse_rows(C), "scale": [plain(each) for each in scale]}
    found = _proved(problem, stated, mended, progress)
    return {"format": "band certificate 1", "problem": problem, "sha256": digest(problem), **stated, "points": found}


def relative_width(content: Mapping[str, Any]) -> float:
    """Width of a band, relative to the least size that the minimum can have; infinite where that may be 0."""
    _, pieces = check_band.band(content["problem"], *(content[name] for name in check_band.PARTS))
    share = check_band.share_of(pieces)
    return math.inf if share is None else float(share)


def wide_pieces(content: Mapping[str, Any], most: float) -> list[tuple[float, float]]:
    """Pieces, by their ends, whose width is more than a share of the least size of the minimum on them."""
    _, pieces = check_band.band(content["problem"], *(content[name] for name in check_band.PARTS))
    ends = pairwise([point[0] for point in content["points"]])
    return [each for each, piece in zip(ends, pieces, strict=True) if piece.width > most * max(piece.low, -piece.high)]


def save_made(
    make: Callable[[], dict[str, Any]], file: AnyFile, level: str | None, positive: Any, own: str = "band"
) -> None:
    """Write what is made as a file; InputError says why there is none.

    Parameters
    ----------
    make : callable
        Makes the content, as `band_certificate` and `paretoclf.proof.curves.curve_certificate`.
    file : path
        Compressed if its name ends in ``.gz``.
    level, positive : optional
        Must be None: what is made is of one level, and has no labels.
    own : str
        The level.
    """
    if level not in (None, own):
        raise InputError(f"level must be None or {own!r} for this path, got {level!r:.50}")
    refuse_labels(positive)
    try:
        content = make()
    except ArithmeticError as error:
        raise InputError(f"no certificate can be written: {error}") from None
    write_content(content, file)


# ---- the problem -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StatedLine:
    """A line with dense matrices at both ends, as the file states them."""

    P: tuple[Array, Array]
    A: tuple[Array, Array]
    q: Array
    b: Array
    cones: tuple[Cone, ...]
    equations: int

    def at(self, t: float) -> tuple[Array, Array, Array, Array]:
        """P, A, q and b at t."""
        P, A, q, b = (between(ends, t) for ends in (self.P, self.A, self.q, self.b))
        return P, A, q, b


def stated_line(line: ConeLine, until: float, about: str = "") -> tuple[dict[str, Any], StatedLine]:
    """State the problem of a line, and its arrays; ArithmeticError where the format has no words for it."""
    first, last = line.base, line.end
    P, said = _semidefinite((first.P.toarray(), last.P.toarray()))
    A = first.A.toarray(), last.A.toarray()
    data = StatedLine(P, A, line.q, line.b, tuple(line.cones), line.equations)
    notes = [about, said, "The user's objective is minus that of the file." if line.sense < 0 else ""]
    lower = np.tril(P[0]), np.tril(P[1])
    problem = {
        "kind": "cone program",
        "P": sparse_rows(*lower),
        "A": sparse_rows(*A),
        "q": line.q.tolist(),
        "b": line.b.tolist(),
        "constant": line.constant.tolist(),
        "cones": [_stated_cone(cone) for cone in line.cones],
        "until": plain(until),
        "about": " ".join(filter(None, notes)),
    }
    return problem, data


def _stated_cone(cone: Cone) -> list[Any]:
    """State a cone; the exponent of a power cone must be a fraction with a small denominator."""
    if cone.kind == "power":
        exponent = Fraction(cone.exponent).limit_denominator(check_band.MOST_ROOT)
        if float(exponent) != cone.exponent:
            raise ArithmeticError(
                f"a power cone has the exponent {cone.exponent!r}, and a file states p / q with q at most "
                f"{check_band.MOST_ROOT}; write the power with such a fraction"
            )
        return ["power", str(exponent)]
    return ["semidefinite" if cone.kind == "psd" else cone.kind, cone.order]


def _semidefinite(P: tuple[Array, Array]) -> tuple[tuple[Array, Array], str]:
    """Both matrices, with as much on the diagonal as it takes to prove them semidefinite, and a sentence about it."""
    used = np.flatnonzero(np.any([end != 0 for end in P], axis=(0, 1)))
    largest = max(float(np.abs(end).max(initial=0.0)) for end in P)
    for shift in (None, *_SHIFTS):
        more = 0.0 if shift is None or not largest else math.ldexp(1.0, math.frexp(largest)[1] + shift)
        ends = [end.copy() for end in P]
        for end in ends:
            end[used, used] += more
        rows = sparse_rows(*ends)
        unit = check_band.unit_of(rows)
        whole = check_band.sparse(rows, len(rows), len(rows), unit)
        if check_band.semidefinite(whole, 0) and check_band.semidefinite(whole, 1):
            said = f"2^{math.frexp(more)[1] - 1} is added to the diagonal of P." if more else ""
            return (ends[0], ends[1]), said
    raise ArithmeticError("P is not positive semidefinite, nor with 2^-24 of its largest entry added")


def sparse_rows(first: Array, last: Array | None = None) -> list[list[list[Any]]]:
    """State a matrix as rows of its entries; with a second number where it moves."""
    last = first if last is None else last
    rows = []
    for start, stop in zip(first, last, strict=True):
        entries = []
        for column in np.flatnonzero((start != 0) | (stop != 0)).tolist():
            one, other = plain(start[column]), plain(stop[column])
            entries.append([column, one] if one == other else [column, one, other])
        rows.append(entries)
    return rows


def plain(number: float) -> int | float:
    """State a double; whole numbers without a point, which are shorter."""
    value = float(number)
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


# ---- inverses --------------------------------------------------------------------------------------------------------


def inverses(data: StatedLine, insides: Insides) -> tuple[Array, Array, Array]:
    """A left inverse B of N = [P; A], and a right inverse C of the equations, each of a square part; a scale for B."""
    k, columns = data.equations, data.q.shape[1]
    ends = [np.vstack([P, A]) for P, A in zip(data.P, data.A, strict=True)]
    sizes = np.abs(insides.y).max(initial=1.0)
    depth = np.concatenate([np.full(columns, sizes), insides.depth])
    depth[columns : columns + k] = np.abs(insides.z).max(initial=1.0)
    rows = _independent(ends, depth)
    if rows.size < columns:
        raise ArithmeticError(
            "no stationary multipliers are well inside the cones at both ends of the line: there are variables that "
            "neither a square in the objective nor a constraint with such a multiplier determines. A weight that is 0 "
            "at an end is a common reason: begin and end further inside"
        )
    square = tuple(end[rows] for end in ends)
    B = _rounded_inverse(square)
    whole = np.zeros((columns, len(ends[0])))
    whole[:, rows] = B
    equations = [A[:k].T for A in data.A]
    chosen = _independent(equations, np.ones(columns)) if k else np.zeros(0, dtype=np.int64)
    if chosen.size < k:
        raise ArithmeticError("equations of the program depend on each other; leave out those that say no more")
    right = np.zeros((columns, k))
    if k:
        right[chosen] = _rounded_inverse(tuple(A[:k, chosen] for A in data.A))
    return whole, right, _scale(B, square)


def _scale(B: Array, ends: tuple[Array, ...]) -> Array:
    """A scale of the columns in which B is a left inverse at both ends, as powers of two.

    With E the absolute values of N'B' - I, and rho above its largest eigenvalue, v = (rho I - E)^-1 1 has Ev <= rho v.
    """
    one = np.eye(len(B))
    E = np.max([np.abs((B @ end - one).T) for end in ends], axis=0)
    largest = float(np.abs(la.eigvals(E)).max(initial=0.0))
    if not largest < _FAR:
        raise ArithmeticError(
            f"coefficients move too much for one left inverse along the whole line (theta is {largest:.2g}); "
            "trace shorter lines"
        )
    rho = max(_NEAR, 0.5 * (largest + 1.0))
    v = np.abs(la.solve(rho * one - E, np.ones(len(B))))
    return np.asarray(np.exp2(np.round(np.log2(v / v.max()))) if largest > 1e-6 or E.sum() > _NEAR else np.ones(len(B)))


def _independent(ends: Any, weights: Array) -> Index:
    """Numbers of as many independent rows of a matrix as there are, those of a large weight that do not move first."""
    first, last = ends
    moves = (first != last).any(axis=1)
    scaled = 0.5 * (first + last) * np.where(moves, _MOVES * weights, weights)[:, None]
    sizes = np.abs(scaled).max(axis=0)
    scaled = scaled / np.where(sizes > 0, sizes, 1.0)
    _, upper, order = la.qr(scaled.T, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(upper))
    rank = int(np.count_nonzero(diagonal > _NONE * diagonal.max(initial=0.0)))
    return np.sort(order[:rank])


def _rounded_inverse(ends: tuple[Array, ...]) -> Array:
    """The inverse of the matrix in the middle, rounded to as few bits as keep it near enough."""
    middle = 0.5 * (ends[0] + ends[-1])
    inverse = la.inv(middle)
    one = np.eye(len(middle))
    for bits in _INVERSE_BITS:
        rounded = _to_bits(inverse, bits)
        theta = max(float(np.abs((rounded @ end - one).T).sum(axis=1).max(initial=0.0)) for end in ends)
        if theta < _NEAR:
            break
    return rounded


def _to_bits(numbers: Array, bits: int) -> Array:
    """Round numbers to so many significant bits; those that are rounding of the largest are 0."""
    mantissa, exponent = np.frexp(numbers)
    rounded = np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits)
    return np.where(np.abs(numbers) > 1e-13 * np.abs(numbers).max(initial=0.0), rounded, 0.0)


# ---- points ----------------------------------------------------------------------------------------------------------


class _Mended:
    """Pairs that are moved to where their equations hold, and points inside beside each."""

    def __init__(
        self, data: StatedLine, points: tuple[Array, ...], insides: Insides, inverses: tuple[Array, Array]
    ) -> None:
        self.data = data
        self.t = points[0]
        self.insides = insides
        self.B, self.C = inverses
        self.quadratic = any(P.any() for P in data.P)
        made = [self._mended(*row) for row in zip(*points, strict=True)]
        self.x, self.y, self.z = (list(each) for each in zip(*made, strict=True))
        deep = [self._mended(t, *(between(ends, t) for ends in (insides.x, insides.y, insides.z))) for t in self.t]
        self.inner = deep

    def _mended(self, t: float, x: Array, y: Array, z: Array) -> tuple[Array, Array, Array]:
        """Correct a pair by both inverses until that is of no more use."""
        P, A, q, b = self.data.at(t)
        k, columns = self.data.equations, x.size
        for _ in range(_CORRECTED):
            missed = b[:k] - A[:k] @ x
            residual = P @ y + q + A.T @ z
            step, moved = self.C @ missed, self.B.T @ residual
            x, y, z = x + step, y - moved[:columns], z - moved[columns:]
            largest = max(np.abs(step).max(initial=0.0), np.abs(moved).max(initial=0.0))
            if largest <= 1e-17 * max(np.abs(x).max(initial=0.0), np.abs(z).max(initial=0.0)):
                break
        return x, y, z

    @cached_property
    def grid(self) -> tuple[float, float]:
        """Steps to which points, and multipliers, are rounded."""
        sizes = [max(float(np.abs(each).max(initial=0.0)) for each in (*self.x, self.insides.x))]
        sizes.append(max(float(np.abs(each).max(initial=0.0)) for each in (*self.y, *self.z, self.insides.z)))
        x, z = (math.ldexp(1.0, math.frexp(size or 1.0)[1] - _BITS) for size in sizes)
        return x, z

    def stated(self, number: int, shares: tuple[float, float]) -> list[Any]:
        """State a pair that went these shares, of points and of multipliers, of the way to points inside."""
        of_x, of_z = shares
        inner = self.inner[number]
        x = (1 - of_x) * self.x[number] + of_x * inner[0]
        y = (1 - of_z) * self.y[number] + of_z * inner[1]
        z = (1 - of_z) * self.z[number] + of_z * inner[2]
        step_x, step_z = self.grid
        said_y = on_grid(y, step_z) if self.quadratic else None
        return [plain(self.t[number]), on_grid(x, step_x), said_y, on_grid(z, step_z)]


def on_grid(numbers: Array, step: float) -> list[int | float]:
    """Round numbers to multiples of a step."""
    return [plain(each) for each in np.round(numbers / step) * step]


def _proved(problem: dict[str, Any], stated: dict[str, Any], mended: _Mended, progress: Any) -> list[Any]:
    """Points that the checker finds inside their cones, each moved inside by the least power of two that will do."""
    count = len(mended.t)
    shares = [(0.0, 0.0)] * count
    lists = [*problem.values(), *stated.values(), mended.t.tolist(), list(mended.grid)]
    unit = max(map(check_band.unit_of, lists))
    given = check_band.line(problem, unit)
    both = check_band.inverses(given, stated["B"], stated["C"], stated["scale"])
    tried = _Tried(given, both, mended)
    for _ in range(_ROUNDS):
        pairs = [tried.pair(number, shares[number]) for number in range(count)]
        radii = [check_band.radii_of(given, both, *ends) for ends in pairwise(pairs)]
        enlarged = False
        for number in counted(range(count), "certificate", count, progress):
            found = tried.least_shares(number, shares[number], radii[max(0, number - 1) : number + 1])
            enlarged |= found != shares[number]
            shares[number] = found
        for number, radius in enumerate(radii):
            enlarged |= tried.enlarge(number, shares, radius)
        if not enlarged:
            return [mended.stated(number, shares[number]) for number in range(count)]
    raise ArithmeticError("no points between the pairs of the path are proved inside the cones")


class _Tried:
    """Pairs as the checker reads them, with shares that are tried."""

    def __init__(self, given: Any, both: Any, mended: _Mended) -> None:
        self.given, self.both, self.mended = given, both, mended
        self.made: dict[Any, Any] = {}

    def pair(self, number: int, shares: tuple[float, float]) -> Any:
        """A pair, with the products that the checker computes."""
        if (number, shares) not in self.made:
            self.made[number, shares] = check_band.pair_of(self.given, self.mended.stated(number, shares), "")
        return self.made[number, shares]

    def least_shares(self, number: int, shares: tuple[float, float], radii: list[Any]) -> tuple[float, float]:
        """The least shares, from those given on, with which a pair is in its cones."""
        of_x = check_band.largest([each.slack for each in radii])
        of_z = check_band.largest([each.z for each in radii])

        def point_is_in(share: float) -> bool:
            pair = self.pair(number, (share, 0.0))
            return not check_band.slack_leaves(self.given, pair, pair, of_x)

        def multipliers_are_in(share: float) -> bool:
            return not check_band.leaves(self.given, self.pair(number, (0.0, share)).z, of_z, True)

        return self._least(number, shares[0], point_is_in, "point"), self._least(
            number, shares[1], multipliers_are_in, "multipliers"
        )

    def enlarge(self, number: int, shares: list[tuple[float, float]], radius: Any) -> bool:
        """Enlarge the shares of points at both ends of a piece until all points between are inside; whether it had to.

        They are doubled: the least power of two is found within a factor of two at the other end.
        """
        enlarged = False
        while True:
            first, last = (self.pair(each, shares[each]) for each in (number, number + 1))
            if not check_band.why_piece_fails(self.given, first, last, radius):
                return enlarged
            enlarged = True
            for each in (number, number + 1):
                of_x, of_z = shares[each]
                if of_x >= 0.5:
                    raise ArithmeticError(f"between t = {self.mended.t[number]:.6g} and the next no points are inside")
                shares[each] = (max(2 * of_x, 2.0 ** _SHARES[0]), of_z)

    def _least(self, number: int, begin: float, fine: Callable[[float], bool], what: str) -> float:
        """The least share, no less than where to begin, that is fine."""
        candidates: Iterable[float] = (2.0**power for power in _SHARES)
        for share in (begin, *(each for each in candidates if each > begin)):
            if fine(share):
                return share
        at = float(self.mended.t[number])
        raise ArithmeticError(f"at t = {at:.6g} no {what} well inside the cones were found")
