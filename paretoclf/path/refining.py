"""Where double precision ends: what is proved of a path whose multipliers need two doubles each.

Costs times kernel values may be so large that the rounding of a multiplier moves margins by more than a certificate
allows. There the solution at each end of a segment is computed anew on its basis, in twice the precision, and held
against what is stored: this must be the same but for rounding.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.tolerances import CERTIFY, FAST_ERROR, ROUNDED, STEEP, VALUE_ROUNDING
from paretoclf.path.along import Shares
from paretoclf.path.on_pieces import OnPieces
from paretoclf.path.precise import Precise
from paretoclf.proof.certificates import Certificate
from paretoclf.proof.exact import ExactBounds
from paretoclf.proof.line import LineProof
from paretoclf.proof.points.hinge import certify_hinges
from paretoclf.proof.proving import prove
from paretoclf.proof.refined import Refined
from paretoclf.proof.solution import Solution

_BLOCK = 32  # segments solved to twice double precision at a time
NEAR = 4 * float(np.finfo(float).eps)  # from a breakpoint: there the basis before or after it may be the right one


class Refining(OnPieces):
    """A path that is proved with multipliers in two doubles where one is not enough."""

    def _solve(self, t: float, j: int) -> Precise | None:
        """Solution at t on the basis of piece j."""
        raise NotImplementedError

    def _as_solution(self, t: float, found: Precise) -> Solution:
        """What is found, judged with sums in twice the precision."""
        raise NotImplementedError

    def _slope_of(self, solution: Solution) -> Array | None:
        """The slope of a solution that was judged; None where it is that of the multipliers."""
        raise NotImplementedError

    def _judge(self, points: Array) -> list[Certificate]:
        alpha, caps = self._multipliers(points)
        b, W = np.array([self._intercept(float(t)) for t in points]), self._stored_slopes(points)
        out = certify_hinges(replace(self.soft_margin, caps=caps), alpha, b, W)
        for j, certificate in enumerate(out):
            if not certificate.holds():
                better = self._precise(float(points[j])) if self._doubtful(float(points[j])) else None
                if better is None:
                    break  # one that fails is enough
                out[j] = better[1].certificate
        return out

    def _exact_bounds(self, t: float) -> ExactBounds:
        solution = self._at(t)
        low, problem = solution.numbers.get("alpha_lo", np.zeros(0)), replace(self.soft_margin, caps=self.caps(t))
        parts = np.stack([solution.alpha, low]) if low.any() else solution.alpha[None]
        return problem.bounds(parts, solution.numbers["b"], self._slope_of(solution))

    def _stores(self, t: float, solution: Solution, j: int) -> bool:
        """Whether what piece j stores at t is a precise solution but for rounding."""
        raise NotImplementedError

    def _rounded(self, t: float) -> float:
        """How far what is stored may be from that, as a share: of steep paths more than of others."""
        return ROUNDED if self._rounds(t) else FAST_ERROR

    def _rounds(self, t: float) -> bool:
        """Whether rounding of multipliers shows at t."""
        raise NotImplementedError

    def _doubtful(self, t: float) -> bool:
        """Whether rounding shows at t: of multipliers, or of margins, where all costs are large against the value."""
        return self._rounds(t) or self._costly(self.caps(t), self._value(t))

    @staticmethod
    def _costly(caps: Array, value: float) -> bool:
        """Whether all costs are so large against the value that the rounding of margins shows."""
        return bool(FAST_ERROR * caps.sum() > CERTIFY * value)

    @property
    def _steepest(self) -> float:
        """The largest multiplier that there may be, of a slope of unit weight."""
        return max(float(self.caps(t).max()) for t in self._range) / self._value_unit(self._range[0])

    def _value_rounding(self) -> Array:
        """What rounding may make of the stored values: the tracker adds up costs times slacks."""
        most = max(float(self.caps(t).sum()) for t in self._range)
        return np.full(self.t.size - 1, VALUE_ROUNDING * most)

    @cached_property
    def _steep(self) -> bool:
        """Whether the rounding of a multiplier may move margins by more than certificates allow."""
        return bool(STEEP * self._steepest * self.gram.diagonal().max() > CERTIFY)

    def _precise(self, t: float) -> tuple[Precise, Solution] | None:
        """Solution at t to twice double precision, if that passes its certificate.

        Breakpoints are rounded: next to one the basis before or after it may be the right one.
        """
        if self._trivial(t):
            return None
        ends = self.pieces.t
        j, first, last = (self._locate(min(max(u, ends[0]), ends[-1]))[0] for u in (t, t - NEAR, t + NEAR))
        for piece in sorted(range(first, last + 1), key=lambda k: abs(k - j)):
            found = self._solve(t, piece)
            if found is not None:
                solution = self._as_solution(t, found)
                if solution.certificate.holds():
                    return found, solution
        return None

    def _proved(self) -> LineProof:
        """Each segment that fails is proved with multipliers in two doubles, where that is what it lacks."""
        proof, pieces = super()._proved(), self.pieces
        # Breakpoints are rounded: next to one, `at` takes the basis before or after it, whichever is proved there.
        for margin in (0.0, NEAR):
            failed = proof.failures()
            if failed.size == 0:
                return proof
            ends = pieces.t[failed], pieces.t[failed + 1]
            # A cost that vanishes at an end of a line falls by orders of magnitude along its last segment.
            along = np.stack([ends[0], 0.5 * (ends[0] + ends[1]), ends[1]], axis=1)
            failed = failed[[any(self._doubtful(float(t)) for t in each) for each in along]]
            if margin:
                knots = {j: self._proved_at(float(pieces.t[j])) for j in np.union1d(failed, failed + 1).tolist()}
                failed = failed[[knots[j] and knots[j + 1] for j in failed.tolist()]]
            for first in range(0, failed.size, _BLOCK):
                refined, which = self._refined(failed[first : first + _BLOCK], margin)
                if which.size:
                    proof = proof.with_parts(which, prove(self.soft_margin, refined, self.parameter))
        return proof

    def _proved_at(self, t: float) -> bool:
        return self._trivial(t) or self._precise(t) is not None

    def _refined(self, which: Index, margin: float) -> tuple[Refined, Index]:
        """Solutions at both ends of pieces, to twice double precision, or at this distance from them; and of which."""
        pieces = self.pieces
        t = np.stack([pieces.t[which], pieces.t[which + 1]], axis=1)
        inner = t + margin * np.where(t == pieces.t[[0, -1]], 0.0, [1.0, -1.0])  # the two ends of a path are exact
        trivial = np.array([[self._trivial(float(u)) for u in ends] for ends in t])
        short = np.diff(inner, axis=1)[:, 0] <= 0.0  # a few doubles, all next to breakpoints
        inner[short] = t[short].mean(axis=1, keepdims=True)
        trivial[short] = False
        t = np.where(trivial, t, inner)
        b = np.stack([pieces.b0[which], pieces.b1[which]], axis=1)  # where multipliers vanish it is known exactly
        alpha, found = np.zeros((which.size, 2, 2, self.y.size)), np.ones(which.size, dtype=np.bool_)
        w: Any = self.gram.quadratic.zeros(which.size, 2)
        for k, e in np.argwhere(~trivial):
            one = self._solved(float(t[k, e]), int(which[k]), bool(short[k])) if found[k] else None
            found[k] = one is not None
            if one is not None:
                b[k, e], alpha[k, e] = one.b, one.alpha
                if w is not None:
                    w[k, e] = one.w
        t, b, alpha, which = t[found], b[found], alpha[found], which[found]
        first, last = pieces.t[which, None], pieces.t[which + 1, None]
        start, end, bend = pieces.value[which].T[:, :, None]
        values = Shares((last - t) / (last - first), (t - first) / (last - first)).parabola(start, end, bend)
        shorter = np.column_stack([values, bend * (np.diff(t) / (last - first)) ** 2])
        return Refined(t, alpha, b, None if w is None else w[found], shorter), which

    def _solved(self, t: float, j: int, near_breakpoints: bool) -> Precise | None:
        """Precise solution on the basis of piece j, if that is what is stored but for rounding."""
        found = None
        if near_breakpoints:
            better = self._precise(t)
            found = None if better is None else better[0]
        else:
            found = self._solve(t, j)
        if found is None:
            return None
        return found if self._stores(t, self._as_solution(t, found), j) else None
