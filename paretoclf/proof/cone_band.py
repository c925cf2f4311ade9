"""Whether a path of a cone program is within eps of the optimum at every t, and why there is none beyond its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index
from paretoclf.engine.reduction.program import between
from paretoclf.proof.cells import CellCertificate
from paretoclf.proof.cone_bends import Bend, ConePiece
from paretoclf.proof.cone_judge import ConeJudge
from paretoclf.proof.cone_line import ConeLine
from paretoclf.proof.cone_pair import Pair
from paretoclf.proof.cone_rays import judge_chain
from paretoclf.proof.convexity import added, largest_share, said_of
from paretoclf.proof.parts import Proof
from paretoclf.proof.points.cone_program import ConeProgram
from paretoclf.proof.points.cone_upper import upper_bound
from paretoclf.proof.points.cones import Cone
from paretoclf.proof.rays import RayProof

_EPS = float(np.finfo(float).eps)

#: The gap is relative to the optimal value, but to no less than this share of the largest of the path.
OF_LARGEST = 1e-3

#: The line ends so far beyond the sign change of a ray, for this to be sure.
_BESIDE = 1e-9


@dataclass(frozen=True, repr=False)
class BandProof(Proof[CellCertificate]):
    """Bounds of the optimal value that hold at every t between the first pair and the last.

    Attributes
    ----------
    pairs : tuple of Pair
        Points and multipliers at increasing t, each enclosed.
    pieces : tuple of ConePiece
        What is proved between each two.
    eps : float
        How close the bounds are to be, relative to the optimal value, and to no less than a thousandth of the largest
        on the path.
    ceiling : float
        No value of the path may be above it.
    difference : array of shape (k,)
        The largest distance of both bounds on each piece.
    gap : array of shape (k,)
        The same, relative to the smallest optimal value that the piece can have; infinite where nothing is proved.
    note : str
        What `explain` adds about the problem that was judged.
    """

    pairs: tuple[Pair, ...] = field(repr=False)
    pieces: tuple[ConePiece, ...] = field(repr=False)
    eps: float
    ceiling: float
    note: str = field(default="", repr=False)

    part, whole, residuals, samples, kernel = "piece", "", MappingProxyType[str, Array]({}), None, None

    @property
    def t(self) -> Array:
        """Where the pairs are."""
        return np.array([pair.t for pair in self.pairs])

    def __len__(self) -> int:
        return len(self.pieces)

    @cached_property
    def difference(self) -> Array:
        """The largest distance of both bounds on each piece."""
        return np.array([piece.gap for piece in self.pieces])

    @cached_property
    def gap(self) -> Array:  # type: ignore[override]  # computed, where others store it
        """The same, relative to the smallest optimal value that the piece can have."""
        floor = floor_of(self.pairs)
        units = np.array([piece.unit(floor) for piece in self.pieces])
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.where(self.difference == 0.0, 0.0, self.difference / units)
        off = np.array([bool(pair.why) for pair in self.pairs])
        high = np.array([piece.high for piece in self.pieces])
        return np.where(off[:-1] | off[1:] | ~(high <= self.ceiling) | np.isnan(found), np.inf, found)

    @property
    def unexplained(self) -> Array:  # type: ignore[override]
        """Rounding is part of the bounds."""
        return self.gap

    def point(self, j: int, t: float) -> tuple[float, Array, Array]:
        """How far t is along piece j, the point there, and how far an exactly feasible one is at most."""
        k, last, bend = self.pairs[j], self.pairs[j + 1], self.pieces[j].bend
        u = (t - k.t) / (last.t - k.t)
        return u, *(bend or Bend(np.zeros(1), np.zeros(1), 0.0)).at(k, last, u)

    @cached_property
    def why(self) -> str:
        """What is not proved; empty where all of it is."""
        for pair in self.pairs:
            if pair.why:
                return f"at t = {pair.t:.10g} {pair.why}"
        high = max(piece.high for piece in self.pieces)
        if not high <= self.ceiling:
            return f"a value of the path, {high:.10g}, is above the ceiling {self.ceiling:.10g}"
        return ""

    def __getitem__(self, piece: int) -> CellCertificate:
        j = range(len(self))[piece]
        where = f"Between t = {self.pairs[j].t:.6g} and {self.pairs[j + 1].t:.6g}"
        return CellCertificate(
            cell=where,
            scale=1.0,
            unexplained=float(self.gap[j]),
            difference=float(self.difference[j]),
            **self._fields(j),
        )

    def failures(self, tol: float | None = None) -> Index:
        """Numbers of the pieces on which the bounds are not within ``tol``, by default eps."""
        return super().failures(self.eps if tol is None else tol)

    def passes(self, tol: float | None = None) -> bool:
        """Whether both bounds are within ``tol``, by default eps, at every t."""
        return super().passes(self.eps if tol is None else tol)

    def explain(self, tol: float | None = None) -> str:
        """Say in words what is proved, and where it is worst."""
        return f"{self._explained(self.eps if tol is None else tol)}{'. ' if self.note else ''}{self.note}"

    def _explained(self, tol: float) -> str:
        """Say in words what is proved, and where it is worst, without the note."""
        j = int(np.argmax(self.gap))
        if self.why:
            return f"Not proved: {self.why}"
        largest = f"{self.gap[j]:.1e}, between t = {self.pairs[j].t:.6g} and {self.pairs[j + 1].t:.6g}"
        if not self.passes(tol):
            return f"Not proved to {tol:.0e} on all of {len(self.pieces)} pieces. Largest distance: {largest}"
        return (
            f"Within {tol:.0e} of the optimal value at every t in [{self.pairs[0].t:.6g}, {self.pairs[-1].t:.6g}]: the "
            f"path's own point is feasible, and no point is better by more, on each of {len(self.pieces)} pieces "
            f"between {len(self.pairs)} proved pairs. Largest distance: {largest}"
        )

    def __repr__(self) -> str:
        verdict = f"within {self.eps:.0e}" if self.passes() else "not proved"
        return f"BandProof({len(self.pieces)} pieces, {verdict}, worst={float(self.gap.max()):.1e})"


def floor_of(pairs: Any) -> float:
    """What a gap is relative to where the value is small: a share of a lower bound of the largest value's size."""
    sizes = [max(pair.value - pair.off - pair.own, -pair.value - pair.off, 0.0) for pair in pairs if not pair.why]
    return OF_LARGEST * max(sizes, default=0.0)


def prove_band(judge: ConeJudge, points: tuple[Array, Array, Array, Array], eps: float) -> BandProof:
    """Judge a path from raw arrays: t, x, y, z with a row for each pair.

    Examples
    --------
    The smallest x above the norm of a vector of length 1 to 3, and the multipliers of that:

    >>> import numpy as np
    >>> from paretoclf.proof.cone_band import prove_band
    >>> from paretoclf.proof.cone_judge import ConeJudge
    >>> from paretoclf.proof.cone_line import ConeLine
    >>> from paretoclf.proof.points.cones import Cone, Cones
    >>> cones, A = Cones([Cone("second-order", 2)]), np.array([[-1.0], [0.0]])
    >>> line = ConeLine(np.zeros((1, 1)), A, np.ones((2, 1)), np.array([[0.0, 1], [0.0, 3]]), np.zeros(2), 0, 1, {}, {},
    ...                 (), cones)
    >>> x, z = np.array([[1 + 1e-9], [3 + 1e-9]]), np.array([[1.0, -1.0], [1.0, -1.0]])
    >>> proof = prove_band(ConeJudge(line, 4.0), (np.array([0.0, 1.0]), x, x, z), 1e-6)
    >>> proof
    BandProof(1 pieces, within 1e-06, worst=1.0e-09)
    """
    t, x, y, z = points
    pairs = judge.pairs(t, x, y, z)
    pieces = tuple(judge.pieces(pairs[:-1], pairs[1:]))
    return BandProof(tuple(pairs), pieces, eps, judge.ceiling, note_of(judge.line, pairs))


def note_of(line: ConeLine, pairs: Sequence[Pair]) -> str:
    """Explain how far a line, of which there are pairs, is from convex."""
    if line.shift is None and line.lacks is None:
        return ""
    sizes = np.maximum([abs(pair.value) for pair in pairs], floor_of(pairs))
    at = np.array([pair.t for pair in pairs])
    points = np.array([pair.x for pair in pairs])
    return said_of(line, largest_share(added(line, at, points), sizes))


def judge_cone_ray(line: ConeLine, status: str, ray: Array) -> RayProof:
    """From which t on a ray proves that there is no optimum.

    Multipliers z in the dual cone with ``A'z = 0`` exactly, or with a rest that the bounds of feasible points make
    good, leave no point where ``b(t)'z < 0``. A direction d with ``Pd = 0`` and ``-Ad`` in the cone leaves no bound
    where ``q(t)'d < 0``, if there are points. Where A moves, rays are rows t, z of a chain
    (`paretoclf.proof.cone_rays`), and of directions nothing is proved.
    """
    if line.A_stop is not None:
        nothing = RayProof(float("inf"), 0.0, float("inf"))
        return judge_chain(line, ray) if status == "infeasible" and ray.ndim == 2 else nothing
    ray = ray / max(float(np.abs(ray).max(initial=0.0)), np.finfo(float).tiny)
    first, last = _of_multipliers(line, ray) if status == "infeasible" else _of_direction(line, ray)
    if not last < 0.0:
        return RayProof(float("inf"), 0.0, float("inf"))
    since = 0.0 if first <= 0.0 else first / (first - last) * (1 + 8 * _EPS)
    size = float(np.abs(line.b if status == "infeasible" else line.q).max(axis=0) @ np.abs(ray))
    return RayProof(0.0, -last / max(size, -last), min(since, 1.0))


def _of_multipliers(line: ConeLine, z: Array) -> tuple[float, float]:
    """Upper bounds of ``b'z`` and what is left of A'z, at both ends; infinite where nothing is proved."""
    judge = ConeJudge(line.still, np.inf)
    _, _, *found, fine = judge.multipliers(np.zeros(1), np.zeros((1, line.n)), z[None])
    if not fine[0]:
        return np.inf, np.inf
    z, radius, missed = (each[0] for each in found)
    reach = np.where(judge.wide, 0.0, np.maximum(np.abs(judge.box.low), np.abs(judge.box.high)))
    left = float(missed @ reach) * (1 + 1e-6)
    sizes = [(z.size + 2) * _EPS * np.abs(b) @ np.abs(z) + (1 + 1e-6) * np.abs(b) @ radius for b in line.b]
    first, last = (float(b @ z + size) + left for b, size in zip(line.b, sizes, strict=True))
    return first, last


def _of_direction(line: ConeLine, d: Array) -> tuple[float, float]:
    """Upper bounds of ``q'd`` at both ends of an exact direction near d: 0 at its sign change, -1 at the end."""
    first, last = (float(q @ d) for q in line.q)
    if not last < 0.0:
        return np.inf, np.inf
    begin = first / (first - last) if first > 0.0 else 0.0  # it may fall all along, and by the same everywhere
    since = min(begin + _BESIDE, 1.0)
    falls = np.stack([between(line.q, since), line.q[1]])
    rows = np.flatnonzero(np.diff(line.base.P.indptr) > 0)
    M = sp.vstack([line.base.P[rows], line.base.A[: line.equations], falls, line.base.A[line.equations :]])
    sides = np.concatenate([np.zeros(rows.size + line.equations), [0.0, -1.0], np.zeros(line.m - line.equations)])
    others = [cone for cone in line.cones if cone.kind != "zero"]
    k = rows.size + line.equations
    cones = [*([Cone("zero", k)] if k else []), Cone("nonnegative", 2), *others]
    rays = ConeProgram(sp.csr_array((line.n, line.n)), np.zeros(line.n), M, sides, cones)
    if not np.isfinite(upper_bound(rays, d / -last * (1 + _BESIDE)).value):
        return np.inf, np.inf
    # At the two t the products are at most 0 and -1: of a straight line that says as much at the first end.
    return since / max(1.0 - since, _EPS), -1.0
