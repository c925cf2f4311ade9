"""Proof that a path of a cone program is within eps of the optimum at every t, and that none is beyond its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.engine.reduction.program import between
from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.proof.bands.infeasible import judge_chain
from paretoclf.proof.bands.line_judge import ConeJudge
from paretoclf.proof.bands.moving_matrix import Bend, ConePiece
from paretoclf.proof.bands.pairs import Pair
from paretoclf.proof.cones.cone_kinds import Cone
from paretoclf.proof.cones.cone_program import ConeProgram
from paretoclf.proof.cones.relaxation import relaxed
from paretoclf.proof.cones.upper_bound import upper_bound
from paretoclf.proof.programs.convexity import added, largest_share, said_of
from paretoclf.proof.programs.rays import RayProof
from paretoclf.proof.verdicts.cells import PiecesProof

_EPS = float(np.finfo(float).eps)

#: The gap is relative to the optimal value, but to no less than this share of the largest of the path.
OF_LARGEST = 1e-3

#: The line ends so far beyond the sign change of a ray, for this to be sure.
_BESIDE = 1e-9


@dataclass(frozen=True, repr=False)
class BandProof(PiecesProof):
    """Bounds of the optimal value that hold at every t between the first pair and the last.

    Attributes
    ----------
    pairs : tuple of Pair
        Points and multipliers at increasing t, each enclosed.
    pieces : tuple of ConePiece
        Bounds between each two of them.
    eps : float
        How close the bounds are to be, relative to the optimal value, and to no less than a thousandth of the largest
        on the path.
    ceiling : float
        No value of the path may be above it.
    difference : array of shape (k,)
        The largest distance of both bounds on each piece.
    gap : array of shape (k,)
        That distance relative to the smallest optimal value that the piece can have; infinite where nothing is proved.
    note : str
        Addition of `explain` about the problem that was judged.
    writer : callable, optional
        Writes the certificate file of the path.
    """

    pairs: tuple[Pair, ...] = field(repr=False)
    pieces: tuple[ConePiece, ...] = field(repr=False)
    eps: float
    ceiling: float
    note: str = field(default="", repr=False)
    writer: Callable[..., None] | None = field(default=None, repr=False, compare=False)

    @property
    def t(self) -> Array:
        """Parameters t of the pairs."""
        return np.array([pair.t for pair in self.pairs])

    def __len__(self) -> int:
        return len(self.pieces)

    @cached_property
    def difference(self) -> Array:  # type: ignore[override]  # computed, where others store it
        """The largest distance of both bounds on each piece."""
        return np.array([piece.gap for piece in self.pieces])

    @cached_property
    def gap(self) -> Array:  # type: ignore[override]  # computed, where others store it
        """The largest distance of both bounds on each piece, relative to the smallest value that the piece can have."""
        floor = floor_of(self.pairs)
        units = np.array([piece.unit(floor) for piece in self.pieces])
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.where(self.difference == 0.0, 0.0, self.difference / units)
        unproved = np.array([bool(pair.why) for pair in self.pairs])
        high = np.array([piece.high for piece in self.pieces])
        nothing = unproved[:-1] | unproved[1:] | ~(high <= self.ceiling)
        return np.where(nothing | np.isnan(found), np.inf, found)

    def point(self, j: int, t: float) -> tuple[float, Array, Array]:
        """Share of the way along piece j at t, the point there, and how far an exactly feasible one is at most."""
        first, last = self.pairs[j], self.pairs[j + 1]
        bend = self.pieces[j].bend or Bend(np.zeros(1), np.zeros(1), 0.0)
        share = (t - first.t) / (last.t - first.t)
        return share, *bend.at(first, last, share)

    @cached_property
    def why(self) -> str:
        """Reason why the path is not proved; empty where it is."""
        for pair in self.pairs:
            if pair.why:
                return f"at t = {pair.t:.10g} {pair.why}"
        high = max(piece.high for piece in self.pieces)
        if not high <= self.ceiling:
            return f"a value of the path, {high:.10g}, is above the ceiling {self.ceiling:.10g}"
        return ""

    def _ends_of(self, piece: int) -> str:
        """Say from where to where a piece goes."""
        first, last = self.pairs[piece], self.pairs[piece + 1]
        return f"t = {first.t:.6g} and {last.t:.6g}"

    def passes(self, tol: float | None = None) -> bool:
        """Whether both bounds are within ``tol``, by default eps, at every t."""
        return super().passes(self.eps if tol is None else tol)

    def explain(self, tol: float | None = None) -> str:
        """Say in words what is proved, and where it is worst."""
        explained = self._explained(self.eps if tol is None else tol)
        return f"{explained}. {self.note}" if self.note else explained

    def _explained(self, tol: float) -> str:
        """Say in words what is proved, and where it is worst, without the note."""
        if self.why:
            return f"Not proved: {self.why}"
        worst = int(np.argmax(self.gap))
        largest = f"{self.gap[worst]:.1e}, between {self._ends_of(worst)}"
        if not self.passes(tol):
            return f"Not proved to {_shown(tol)} on all of {len(self.pieces)} pieces. Largest distance: {largest}"
        begin, end = self.pairs[0].t, self.pairs[-1].t
        return (
            f"Within {_shown(tol)} of the optimal value at every t in [{begin:.6g}, {end:.6g}], relative to it: the "
            f"path's own point is feasible, and no point is better by more, on each of {len(self.pieces)} pieces "
            f"between {len(self.pairs)} proved pairs. Largest distance: {largest}"
        )

    def __repr__(self) -> str:
        verdict = f"within {_shown(self.eps)}" if self.passes() else "not proved"
        return f"BandProof({len(self.pieces)} pieces, {verdict}, worst={float(self.gap.max()):.1e})"


def _shown(tol: float) -> str:
    """Write a tolerance with all the digits that it has, so that nothing smaller is said."""
    return next(text for digits in range(17) if float(text := f"{tol:.{digits}e}") == tol)


def floor_of(pairs: Any) -> float:
    """Scale of a gap where the value is small: a share of a lower bound of the largest value's size."""
    sizes = []
    for pair in pairs:
        if not pair.why:
            least, most = pair.value - pair.off - pair.own, pair.value + pair.off
            sizes.append(max(least, -most, 0.0))
    return OF_LARGEST * max(sizes, default=0.0)


def prove_band(judge: ConeJudge, points: tuple[Array, Array, Array, Array], eps: float) -> BandProof:
    """Prove a path from raw arrays: t, x, y, z with a row for each pair.

    Examples
    --------
    The smallest x above the norm of a vector of length 1 to 3, and its multipliers:

    >>> import numpy as np
    >>> from paretoclf.proof.bands.band_proof import prove_band
    >>> from paretoclf.proof.bands.line_judge import ConeJudge
    >>> from paretoclf.proof.bands.cone_line import ConeLine
    >>> from paretoclf.proof.cones.cone_kinds import Cone, Cones
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
    """Explain how far a line is from convex, relative to the values of its pairs."""
    if line.shift is None and line.lacks is None:
        return ""
    sizes = np.maximum([abs(pair.value) for pair in pairs], floor_of(pairs))
    at = np.array([pair.t for pair in pairs])
    points = np.array([pair.x for pair in pairs])
    return said_of(line, largest_share(added(line, at, points), sizes))


def judge_cone_ray(line: ConeLine, status: str, ray: Array) -> RayProof:
    """Prove that there is no optimum from some t on, by a ray.

    Multipliers z in the dual cone with ``A'z = 0`` exactly, or with a residual that the bounds of feasible points make
    good, leave no point where ``b(t)'z < 0``. Along a direction d with ``Pd = 0`` and ``-Ad`` in the cone the objective
    is unbounded where ``q(t)'d < 0``, if there are points. Where A depends on t, rays are rows t, z of a chain
    (`paretoclf.proof.bands.infeasible`), and of directions nothing is proved.
    """
    nothing = RayProof(float("inf"), 0.0, float("inf"))
    if line.A_stop is not None:
        return judge_chain(line, ray) if status == "infeasible" and ray.ndim == 2 else nothing
    size = float(np.abs(ray).max(initial=0.0))
    ray = ray / max(size, np.finfo(float).tiny)
    infeasible = status == "infeasible"
    first, last = _products_with_sides(line, ray) if infeasible else _products_with_costs(line, ray)
    if not last < 0.0:
        return nothing
    since = 0.0 if first <= 0.0 else first / (first - last) * (1 + 8 * _EPS)
    ends = line.b if infeasible else line.q
    terms = float(np.abs(ends).max(axis=0) @ np.abs(ray))
    return RayProof(0.0, -last / max(terms, -last), min(since, 1.0))


def _products_with_sides(line: ConeLine, z: Array) -> tuple[float, float]:
    """Upper bounds of ``b'z`` and of the cost of the residual A'z, at both ends; infinite where nothing is proved.

    Multipliers on a face of the dual cones, where no neighbour of theirs need be in these, are those of weaker rows.
    """
    found = _products_of_rows(line.still, z)
    face = relaxed(line.base.grouped, z)
    if np.isfinite(found[1]) or not face.weaker:
        return found
    A, b = face.of(line.A), face.of(line.b.T)
    if A is None or b is None:
        return found
    weaker = replace(line.still, A=A, b=b.toarray().T, cones=face.cones)
    return _products_of_rows(weaker, face.taken(z))


def _products_of_rows(line: ConeLine, z: Array) -> tuple[float, float]:
    """Products of a line without costs; infinite where its multipliers are not proved to be in the dual cones."""
    judge = ConeJudge(line, np.inf)
    at_start, no_y = np.zeros(1), np.zeros((1, line.n))
    _, _, *found, fine = judge.multipliers(at_start, no_y, z[None])
    if not fine[0]:
        return np.inf, np.inf
    enclosed, radius, missed = (each[0] for each in found)
    reach = np.where(judge.wide, 0.0, judge.box.reach)
    cost = float(missed @ reach) * (1 + 1e-6)
    ends = []
    for sides in line.b:
        sizes = np.abs(sides)
        rounding = (enclosed.size + 2) * _EPS * sizes @ np.abs(enclosed)
        off = rounding + (1 + 1e-6) * sizes @ radius
        ends.append(float(sides @ enclosed + off) + cost)
    first, last = ends
    return first, last


def _products_with_costs(line: ConeLine, direction: Array) -> tuple[float, float]:
    """Upper bounds of ``q'd`` at both ends of an exact direction near d: 0 at its sign change, -1 at the end."""
    first, last = (float(costs @ direction) for costs in line.q)
    if not last < 0.0:
        return np.inf, np.inf
    begin = first / (first - last) if first > 0.0 else 0.0  # it may fall all along, and by as much everywhere
    since = min(begin + _BESIDE, 1.0)
    rays = _cone_of_directions(line, since)
    if not np.isfinite(upper_bound(rays, direction / -last * (1 + _BESIDE)).value):
        return np.inf, np.inf
    # At t = since and t = 1 the products are at most 0 and -1: so is a straight line of this value at the first end.
    return since / max(1.0 - since, _EPS), -1.0


def _cone_of_directions(line: ConeLine, since: float) -> ConeProgram:
    """Program of all d with ``Pd = 0``, ``-Ad`` in the cones, and ``q'd`` at most 0 at ``since`` and -1 at the end."""
    quadratic, matrix = line.base.P, line.base.A
    equations = line.equations
    curved = np.flatnonzero(np.diff(quadratic.indptr) > 0)
    falls = np.stack([between(line.q, since), line.q[1]])
    rows = sp.vstack([quadratic[curved], matrix[:equations], falls, matrix[equations:]])
    zero = curved.size + equations
    sides = np.concatenate([np.zeros(zero), [0.0, -1.0], np.zeros(line.m - equations)])
    others = [cone for cone in line.cones if cone.kind != "zero"]
    cones = [Cone("nonnegative", 2), *others]
    if zero:
        cones = [Cone("zero", zero), *cones]
    nothing = sp.csr_array((line.n, line.n))
    return ConeProgram(nothing, np.zeros(line.n), rows, sides, cones)
