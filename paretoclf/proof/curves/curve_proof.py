"""Proof of a curve: bounds of the optimal value at every t of all pieces, one after the other from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.proof.bands.band_proof import OF_LARGEST
from paretoclf.proof.curves.curve_theorem import CurveBounds, CurveJudge, CurvePiece
from paretoclf.proof.curves.polynomials import UP, Polynomials
from paretoclf.proof.verdicts.cells import PiecesProof

#: Reason why bounds that are as close as can be prove nothing relative to a value.
VANISHES = "the optimal value and all terms of the objective may be 0 there, and no bounds are within a share of 0"

#: How often a piece is halved before its width is compared with the scale of the value there.
_HALVED = 3


def relative_width(bounds: CurveBounds) -> float:
    """Largest distance of both bounds of a piece, relative to the scale of the value at the same t.

    That is the size of the optimal value, and no less than a thousandth of the largest term of the objective there. A
    piece is halved a few times for that, and the largest distance of each part is divided by its smallest scale. Terms
    that are small beside every value need not be looked at.
    """
    least = max(float(bounds.lower.low().min()), -float(bounds.upper.high().max()))
    terms = bounds.terms[OF_LARGEST * bounds.terms.largest() > least]
    parts = [(bounds.apart, bounds.lower, bounds.upper, terms)]
    for _ in range(_HALVED):
        halved = [[each.halves() for each in part] for part in parts]
        parts = [tuple(half[side] for half in part) for part in halved for side in (0, 1)]  # type: ignore[misc]
    return max(_width_of_part(*part) for part in parts)


def _width_of_part(apart: Polynomials, lower: Polynomials, upper: Polynomials, terms: Polynomials) -> float:
    """Largest distance on a part of a piece, over the smallest scale there."""
    width = max(float(apart.high().max()), 0.0)
    least, most = float(lower.low().min()), float(upper.high().max())
    largest_term = float(terms.least_size().max(initial=0.0))
    scale = max(least, -most, OF_LARGEST * largest_term)
    if width == 0.0:
        return 0.0
    return width / scale * UP if scale > 0.0 else np.inf


@dataclass(frozen=True, repr=False)
class CurveProof(PiecesProof):
    """Bounds of the optimal value that hold at every t from 0 to 1.

    Attributes
    ----------
    pieces : tuple of CurvePiece
        In their order.
    bounds : tuple of CurveBounds or str
        Those of each piece, or the reason why there are none.
    eps : float
        How close the bounds are to be, relative to the scale of the value at the same t.
    gap, difference : arrays of shape (k,)
        Largest relative distance of both bounds on each piece, infinite where nothing is proved; and the distance.
    note : str
        Addition of `explain` about the problem that was judged.
    writer : callable, optional
        Writes the certificate file.
    """

    pieces: tuple[CurvePiece, ...] = field(repr=False)
    bounds: tuple[CurveBounds | str, ...] = field(repr=False)
    eps: float
    gap: Array = field(repr=False)
    difference: Array = field(repr=False)
    note: str = field(default="", repr=False)
    writer: Callable[..., None] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def why(self) -> str:
        """Reason why the curve is not proved; empty where it is."""
        if not covers(self.pieces):
            return "its pieces do not go from 0 to 1, one after the other"
        for piece, found in zip(self.pieces, self.bounds, strict=True):
            if isinstance(found, str):
                return f"between t = {piece.start:.10g} and {piece.stop:.10g}: {found}"
        vanishing = np.flatnonzero(~np.isfinite(self.gap))
        if vanishing.size:
            return f"between {self._ends_of(int(vanishing[0]))}: {VANISHES}"
        return ""

    def _ends_of(self, piece: int) -> str:
        own = self.pieces[piece]
        return f"t = {own.start:.6g} and {own.stop:.6g}"

    def passes(self, tol: float | None = None) -> bool:
        """Whether both bounds are within ``tol``, by default eps, at every t from 0 to 1."""
        return not self.why and super().passes(self.eps if tol is None else tol)

    def explain(self, tol: float | None = None) -> str:
        """Say in words what is proved, and where it is worst."""
        if self.why:
            return f"Not proved: {self.why}"
        tol = self.eps if tol is None else tol
        worst = int(np.argmax(self.gap))
        largest = f"Largest distance: {self.gap[worst]:.1e}, between {self._ends_of(worst)}"
        note = f". {self.note}" if self.note else ""
        if not self.passes(tol):
            return f"Not proved to {tol:.1e} on all of {len(self)} pieces. {largest}{note}"
        return (
            f"The optimal value lies between two polynomials that are within {tol:.1e} of each other, relative to it, "
            f"at every t in [0, 1], on each of {len(self)} pieces. {largest}{note}"
        )

    def __repr__(self) -> str:
        verdict = f"within {self.eps:.1e}" if self.passes() else "not proved"
        return f"CurveProof({len(self)} pieces, {verdict}, worst={float(self.gap.max()):.1e})"


def covers(pieces: Sequence[CurvePiece]) -> bool:
    """Whether pieces go from 0 to 1, each from where the one before ends."""
    if not pieces or pieces[0].start != 0.0 or pieces[-1].stop != 1.0:
        return False
    return all(first.stop == second.start for first, second in pairwise(pieces))


def prove_curve(
    judge: CurveJudge, pieces: Sequence[CurvePiece], eps: float | None = None, note: str = ""
) -> CurveProof:
    """Prove a curve from its pieces alone; eps is by default what they are proved within.

    Examples
    --------
    The least x that is at least t + 1, with multiplier 1:

    >>> import numpy as np
    >>> from paretoclf.proof.cones.cone_kinds import Cone, Cones
    >>> from paretoclf.proof.curves.curve_program import CurveProgram
    >>> from paretoclf.proof.curves.curve_proof import prove_curve
    >>> from paretoclf.proof.curves.curve_theorem import CurveJudge, CurvePiece
    >>> P, A = np.zeros((1, 1)), np.array([[-1.0]])
    >>> b = np.array([[-1.0], [-2.0]])
    >>> program = CurveProgram((P, P), (A, A), np.ones((2, 1)), b, np.zeros(2), Cones([Cone("nonnegative", 1)]))
    >>> one, x = np.array([[1.0]]), np.array([[1.0], [2.0]])
    >>> piece = CurvePiece(0.0, 1.0, x, one, x + 1, one, one)
    >>> prove_curve(CurveJudge(program), [piece], 1e-12).passes()
    True
    """
    bounds = [judge.bounds(piece) for piece in pieces]
    gaps = [np.inf if isinstance(found, str) else relative_width(found) for found in bounds]
    return proof_of(pieces, bounds, gaps, eps, note)


def proof_of(
    pieces: Sequence[CurvePiece],
    bounds: Sequence[CurveBounds | str],
    gaps: Sequence[float],
    eps: float | None = None,
    note: str = "",
) -> CurveProof:
    """Proof that consists of the bounds of pieces that were judged, and of how far apart they are, relatively."""
    apart = [np.inf if isinstance(found, str) else float(found.apart.high().max()) for found in bounds]
    reached = max(gaps, default=np.inf) if eps is None else eps
    return CurveProof(tuple(pieces), tuple(bounds), float(reached), np.array(gaps), np.array(apart), note)
