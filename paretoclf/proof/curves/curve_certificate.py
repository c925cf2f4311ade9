"""The certificate file of a curve, for `paretoclf.proof.check_curve` or whoever reads it.

The polynomials of a path in doubles are nearly feasible and nearly stationary. What they miss is subtracted, as
polynomials; then they go so small a share of the way to points well inside the cones that the checker finds them
inside at every t. It is told how to eliminate a matrix whose rank is less than its order: by a core of its rows, and
polynomials by which the core's columns are added to the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.files import AnyFile
from paretoclf.common.progress import counted
from paretoclf.proof import check_band, check_curve
from paretoclf.proof.bands.band_certificate import (
    Insides,
    StatedLine,
    inverses,
    on_grid,
    plain,
    save_made,
    sparse_rows,
    stated_line,
)
from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.proof.cones.cone_kinds import Cone, Cones, blocks, matrix
from paretoclf.proof.curves.curve_program import CurveProgram
from paretoclf.proof.curves.curve_theorem import CurveJudge, CurvePiece, MendedPiece
from paretoclf.proof.curves.exponential_cone import FROM_DUAL
from paretoclf.proof.curves.polynomials import Polynomials, evaluation
from paretoclf.proof.files.certificate_file import digest

#: Points are rounded to so many bits behind the largest number of theirs; mixtures of frames behind 1.
_BITS, _FRAME_BITS = 60, 30

#: Shares of the way to points inside are powers of two from the first to the last.
_FIRST, _LAST = -52, -1

#: The first share that is tried is the judge's divided by this.
_LESS = 16.0

#: Polynomials of a frame are of this degree.
_DEGREE = 8
_NODES = 0.5 * (1.0 - np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1)))
_TO_COEFFICIENTS = np.linalg.inv(evaluation(_DEGREE, _NODES))


def curve_certificate(
    line: ConeLine, pieces: Sequence[CurvePiece], *, about: str = "", progress: bool | None = None
) -> dict[str, Any]:
    """Make the content of a certificate file.

    Parameters
    ----------
    line : ConeLine
    pieces : sequence of CurvePiece
        In their order, from t = 0 to 1.
    about : str
        Statement about the problem.
    progress : bool, optional
        Whether to show a bar; by default on a terminal.

    Raises
    ------
    ArithmeticError
        If there is none: the message says why.
    """
    problem, data = stated_line(line, 1.0, about)
    stretches = list(_stretches(data, list(pieces)))
    writer = _Writer(problem, _program(data, line.constant), stretches)
    found = []
    for each in counted(pieces, "certificate", len(pieces), progress):
        found.append(writer.stated(each))
    parts, done = [], 0
    for stretch in stretches:
        last = done + len(stretch.pieces)
        parts.append([*stretch.inverses, found[done:last]])
        done = last
    return {"format": "curve certificate 1", "problem": problem, "sha256": digest(problem), "stretches": parts}


def save_curve(
    line: ConeLine,
    pieces: Sequence[CurvePiece],
    file: AnyFile,
    *,
    level: str | None = None,
    positive: Any = None,
    about: str = "",
    progress: bool | None = None,
) -> None:
    """Write the certificate file of a curve; InputError says why there is none.

    Parameters
    ----------
    line, pieces, about, progress
        As for `curve_certificate`.
    file : path
        Compressed if its name ends in ``.gz``.
    level : str, optional
        None or ``"curve"``.
    positive : optional
        Must be None: a curve has no labels.
    """
    save_made(lambda: curve_certificate(line, pieces, about=about, progress=progress), file, level, positive, "curve")


def _program(data: StatedLine, constant: Array) -> CurveProgram:
    """The program that the file states; a matrix that stands still is one object."""
    P, A = ((first, first if np.array_equal(first, last) else last) for first, last in (data.P, data.A))
    return CurveProgram(P, A, data.q, data.b, constant, Cones(data.cones))


# ---- inverses, each for as many pieces as can be -----------------------------------------------------------------


@dataclass(frozen=True)
class _SharedInverses:
    """Pieces that have the same inverses, as they are stated."""

    pieces: list[CurvePiece]
    inverses: tuple[Any, Any, Any]


def _stretches(data: StatedLine, pieces: list[CurvePiece]) -> Iterator[_SharedInverses]:
    """Stretches from the first piece to the last: all pieces are one, or both halves are taken by themselves."""
    first, last = pieces[0], pieces[-1]
    P, A = (_between(ends, first.start, last.stop) for ends in (data.P, data.A))
    y, z = np.stack([first.inner_y[0], last.inner_y[-1]]), np.stack([first.inner_z[0], last.inner_z[-1]])
    depth = np.min([_depths(data.cones, each) for each in z], axis=0)
    insides = Insides(np.zeros((2, 0)), y, z, depth)
    try:
        B, C, scale = inverses(replace(data, P=P, A=A), insides)
    except ArithmeticError:
        if len(pieces) == 1:
            raise
        middle = len(pieces) // 2
        yield from _stretches(data, pieces[:middle])
        yield from _stretches(data, pieces[middle:])
        return
    yield _SharedInverses(pieces, (sparse_rows(B.T), sparse_rows(C), [plain(each) for each in scale]))


def _between(ends: tuple[Array, Array], start: float, stop: float) -> tuple[Array, Array]:
    """A matrix at both ends of a stretch; entries that stand still are not rounded."""
    first, last = ends
    rate = last - first
    return first + start * rate, first + stop * rate


def _depths(cones: Sequence[Cone], z: Array) -> Array:
    """How far inside the dual cones multipliers are, about, for each row; those of equations as far as can be."""
    depth = np.zeros(z.size)
    for cone, rows in blocks(cones):
        v = z[rows]
        if cone.kind == "nonnegative":
            depth[rows] = v
        elif cone.kind == "second-order":
            depth[rows] = v[0] - np.linalg.norm(v[1:])
        elif cone.kind == "psd":
            depth[rows] = np.linalg.eigvalsh(matrix(v, cone.order))[0]
        elif cone.kind == "exponential":
            a, c, d = FROM_DUAL @ v
            depth[rows] = min(c, d - c * math.exp(min(a / c, 700.0))) if c > 0 else 0.0
        else:
            depth[rows] = np.abs(z).max(initial=1.0)
    return np.maximum(depth, 0.0)


# ---- pieces ------------------------------------------------------------------------------------------------------


class _Writer:
    """States pieces, each with the least shares of what is inside with which the checker proves it."""

    def __init__(self, problem: dict[str, Any], program: CurveProgram, stretches: list[_SharedInverses]) -> None:
        self.program, self.stretches = program, stretches
        self.judge = CurveJudge(program)
        pieces = [piece for stretch in stretches for piece in stretch.pieces]
        self.steps = tuple(_step([getattr(piece, name) for piece in pieces for name in names]) for names in _NAMES)
        self.grid = max(check_band.unit_of(piece.stop) for piece in pieces)
        stated = [part for stretch in stretches for part in stretch.inverses]
        unit = max(map(check_band.unit_of, [*problem.values(), *stated, list(self.steps)]))
        self.given = check_band.line(problem, unit)
        self.quadratic = any(row for row in self.given.P)

    @cached_property
    def read(self) -> dict[float, Any]:
        """Inverses as the checker reads them, by the start of each piece."""
        found: dict[float, Any] = {}
        for stretch in self.stretches:
            ends = stretch.pieces[0].start, stretch.pieces[-1].stop
            both = check_band.inverses(self._on(*ends), *stretch.inverses)
            found |= {piece.start: both for piece in stretch.pieces}
        return found

    def _on(self, start: float, stop: float) -> Any:
        """The problem between two t, as the checker reads it."""
        first, last = (check_band.whole(each, self.grid) for each in (start, stop))
        return check_curve.on_part(self.given, first, last, self.grid)

    def stated(self, piece: CurvePiece) -> list[Any]:
        """State a piece."""
        judged, where = self.judge.bounds(piece), f"between t = {piece.start:.6g} and {piece.stop:.6g}"
        if isinstance(judged, str):
            raise ArithmeticError(f"{where}: {judged}")
        tried = _TriedPiece(self._on(*piece.ends), self.read[piece.start], self.judge.mended(piece), self.steps)
        slack = self.program.slack(piece.ends, tried.mended.x).value
        multipliers = tried.mended.pair[1].value
        frames = [_framed(self.program.cones, *each) for each in ((slack, multipliers), (multipliers, slack))]
        pairs = [list(each) for each in zip(*frames, strict=True)]
        x = _least(lambda share: tried.points(share, pairs), judged.lifted, f"b - Ax {where} in the")
        y, z = _least(lambda share: tried.pairs(share, pairs), judged.shared, f"z {where} in the dual of the")
        return [plain(piece.stop), x, y if self.quadratic else None, z, pairs]


@dataclass(frozen=True)
class _TriedPiece:
    """A piece, of which means with what is inside are tried: what is wrong with them, and how they are stated."""

    given: Any
    both: Any
    mended: MendedPiece
    steps: tuple[float, ...]

    def points(self, share: float, frames: list[Any]) -> tuple[str, Any]:
        """Points with a share of those inside."""
        x = self._rounded(_mixed(share, self.mended.x, self.mended.inner), 0)
        corrected = check_curve.corrected_points(self.given, self.both, self._whole(x))
        return check_curve.leaves(self.given, corrected, False, _read(frames)), x

    def pairs(self, share: float, frames: list[Any]) -> tuple[str, Any]:
        """Multipliers y and z with a share of those inside."""
        (y, z), (inner_y, inner_z) = self.mended.pair, self.mended.inner_pair
        stated = [self._rounded(_mixed(share, *each), 1) for each in ((y, inner_y), (z, inner_z))]
        corrected = check_curve.corrected_multipliers(self.given, self.both, *map(self._whole, stated))
        return check_curve.leaves(self.given, corrected, True, _read(frames)), stated

    def _rounded(self, polynomials: Array, which: int) -> list[list[int | float]]:
        """Coefficients as they are stated."""
        return [on_grid(row, self.steps[which]) for row in polynomials]

    def _whole(self, stated: list[list[int | float]]) -> Any:
        """Polynomials as the checker reads them."""
        return check_curve.polynomials(stated, len(stated[0]), self.given.unit)


#: Arrays of pieces that are rounded to the same step.
_NAMES = (("x", "inner"), ("x", "z", "inner_y", "inner_z"))


def _step(arrays: list[Array]) -> float:
    """Step to which numbers are rounded."""
    size = max(float(np.abs(each).max(initial=0.0)) for each in arrays)
    return math.ldexp(1.0, math.frexp(size or 1.0)[1] - _BITS)


def _mixed(share: float, near: Polynomials, inside: Polynomials) -> Array:
    """Coefficients of a mean, of one degree at least."""
    degree = max(near.degree, inside.degree, 1)
    return (1.0 - share) * near.lifted(degree).value + share * inside.lifted(degree).value


def _least(tried: Callable[[float], tuple[str, Any]], guess: float, where: str) -> Any:
    """Numbers that are stated with the least share with which nothing is found to be wrong, from a guess on."""
    begin = max(_FIRST, math.frexp(guess / _LESS)[1]) if guess > 0.0 else _FIRST
    wrong = ""
    for power in range(begin, _LAST + 1):
        wrong, found = tried(2.0**power)
        if not wrong:
            return found
    raise ArithmeticError(
        f"no polynomials are found that have {where} {wrong}. Trace a shorter line, or with eps=1e-4, whose band has "
        "a file of another kind"
    )


# ---- frames ------------------------------------------------------------------------------------------------------


def _framed(cones: Cones, vectors: Array, partners: Array) -> list[Any]:
    """Frames of the semidefinite matrices of polynomials, whose partners are complementary to them."""
    found = []
    for cone, rows in blocks(cones):
        if cone.kind == "psd":
            found.append(_frame(matrix(vectors[:, rows], cone.order), matrix(partners[:, rows], cone.order)))
    return found


def _read(frames: list[Any]) -> list[Any]:
    """Frames as the checker reads them."""
    return [[each and check_curve.frame_of(each, _order(each)) for each in pair] for pair in frames]


def _order(frame: Any) -> int:
    """Order of the matrix of a frame."""
    core, mixture = frame
    return len(core) + len(mixture[0][0])


def _frame(whole: Array, other: Array) -> Any:
    """Core and mixture of a matrix of polynomials; None where its rank is its order, or 0."""
    order = whole.shape[1]
    middle, other_middle = (_at(each, np.array([0.5]))[0] for each in (whole, other))
    rank = int((np.linalg.eigvalsh(middle) > np.linalg.eigvalsh(other_middle)[::-1]).sum())
    if rank in (0, order):
        return None
    core = _pivots(middle, rank)
    rest = np.setdiff1d(np.arange(order), core)
    mine, theirs = _at(whole, _NODES), _at(other, _NODES)
    own, partner = mine[:, core[:, None], core], theirs[:, rest[:, None], rest]
    if _condition(own) > _condition(partner):
        mixture = -np.linalg.solve(own, mine[:, core[:, None], rest])
    else:
        mixture = np.swapaxes(np.linalg.solve(partner, theirs[:, rest[:, None], core]), 1, 2)
    coefficients = np.tensordot(_TO_COEFFICIENTS, mixture, 1)
    rounded = [[on_grid(row, 2.0**-_FRAME_BITS) for row in each] for each in coefficients]
    return [core.tolist(), rounded]


def _at(whole: Array, shares: Array) -> Array:
    """Matrices at some shares of a piece."""
    return np.tensordot(evaluation(len(whole) - 1, shares), whole, 1)


def _pivots(middle: Array, rank: int) -> Index:
    """Rows of a core: the pivots of Cholesky's algorithm, the largest first."""
    rest, found = middle.copy(), list[int]()
    for _ in range(rank):
        pivot = int(np.argmax(np.diag(rest)))
        found.append(pivot)
        rest = rest - np.outer(rest[:, pivot], rest[pivot]) / rest[pivot, pivot]
        rest[pivot, :] = rest[:, pivot] = 0.0
    return np.sort(np.array(found, dtype=np.int64))


def _condition(parts: Array) -> float:
    """Smallest quotient of the least and the largest eigenvalue of some matrices."""
    eigenvalues = np.linalg.eigvalsh(parts)
    return float((eigenvalues[:, 0] / np.maximum(eigenvalues[:, -1], np.finfo(float).tiny)).min())
