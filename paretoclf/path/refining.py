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
from paretoclf.common.tolerances import AT_BOUND, CERTIFY, FAST_ERROR, ROUNDED, STEEP, VALUE_ROUNDING
from paretoclf.path.along import Shares
from paretoclf.path.journey import STAGE
from paretoclf.path.on_pieces import OnPieces
from paretoclf.path.precise import Precise
from paretoclf.problem.units import balanced_units, box_units
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
            if not certificate.holds(FAST_ERROR):
                better = self._better(float(points[j]))
                if better is None and not certificate.holds():
                    break  # one that fails is enough
                out[j] = certificate if better is None else better.certificate
        return out

    def _better(self, t: float) -> Solution | None:
        """The precise solution at t, if rounding shows on the piece there: what is proved of it is about that."""
        better = self._precise(t) if self._doubted(self._locate(t)[0]) else None
        return None if better is None else better[1]

    def _exact_bounds(self, t: float) -> ExactBounds:
        solution = self._at(t)
        low, problem = solution.numbers.get("alpha_lo", np.zeros(0)), replace(self.soft_margin, caps=self.caps(t))
        parts = np.stack([solution.alpha, low]) if low.any() else solution.alpha[None]
        return problem.bounds(parts, solution.numbers["b"], self._slope_of(solution))

    def _stores(self, t: float, found: Precise, j: int) -> bool:
        """Whether what piece j stores at t is a precise solution but for rounding: of numbers, and of breakpoints.

        Multipliers are measured against what they can reach, what scores are made of against these. What is stored at
        a breakpoint belongs to where that was before it was rounded, where costs had other digits.
        """
        P, Q, lam, reach = self.pieces, self.gram.quadratic, self._value_unit(t), np.sqrt(self.gram.diagonal())
        # A stage towards vanishing costs ends at this share of where it begins, which is known to half a unit.
        step = 0.0 if t == self._range[1] else 2 * NEAR * min(1.0, t / STAGE)
        inside, share = slice(P.ptr[j], P.ptr[j + 1]), min(1.0, step / float(P.t[j + 1] - P.t[j]))
        alpha, caps, lost = found.alpha[0], self.caps(t) / lam, step * self._steepness(t)
        off, shift = (self._stored(t, j) / lam - alpha) - found.alpha[1], np.zeros(alpha.size)
        shift[P.index[inside]] = share / lam * np.abs(P.a1[inside] - P.a0[inside])
        most = ROUNDED * float(alpha.max()) + AT_BOUND * float(caps.max())
        units = balanced_units(self.y, caps) if self.soft_margin.intercept == "free" else box_units(caps)
        if not _near(units, off, np.minimum(shift + lost * float(alpha.max()), most), NEAR * alpha):
            return False
        b, jump = self._intercept(t, j), share * float(P.b1[j] - P.b0[j])
        size, wrong = (
            1.0 + np.abs(Q.scores(self.y * alpha, found.w) + found.b),
            b - np.clip(b, *self._intercepts(t, found)),
        )
        implied, moved = Q.scores(self.y * off), reach * float(reach @ shift + lost * (reach @ alpha))
        rounded = NEAR * reach * float(reach @ alpha)
        if P.w is None or found.w is None:
            return _near(size, np.abs(implied) + abs(wrong), moved + abs(jump), rounded)
        w, shift = self.slope(t), np.abs(Q.project(share * (P.w[j + 1] - P.w[j])) + jump)
        digits = (Q.width + 8) * NEAR * (1.0 + float(Q.largest_terms(w[None])[0]) + abs(b))
        judged = Q.project(w - found.w) + wrong
        return _near(size, implied, moved, rounded) and _near(size, judged, shift + moved, digits)

    def _steepness(self, t: float) -> float:
        """How fast caps change there at most, next to what they are."""
        caps, (first, last) = self.caps(t), (self.caps(end) for end in self._range)
        there = caps > 0.0
        with np.errstate(over="ignore"):
            most = np.max(np.abs(last - first)[there] / caps[there], initial=0.0)
        return float(most) / (self._range[1] - self._range[0])

    def _intercepts(self, t: float, found: Precise) -> tuple[float, float]:
        """The least and the largest optimal intercept that goes with a precise solution."""
        return found.b, found.b

    def _rounds(self, caps: Array) -> bool:
        """Whether rounding of multipliers shows at these caps."""
        raise NotImplementedError

    def _doubted(self, j: int) -> bool:
        """Whether rounding shows on piece j: of multipliers, or of margins, where all costs are large for the value."""
        if j not in self._doubts:
            # A cost that vanishes at an end of a line falls by orders of magnitude along its last segment.
            (start, end), (first, last, bend) = self.pieces.t[j : j + 2].tolist(), self.pieces.value[j].tolist()
            caps = self._caps_at(np.array([start, 0.5 * (start + end), end])).T
            each = zip(caps, (first, 0.5 * (first + last) - 0.25 * bend, last), strict=True)
            self._doubts[j] = any(self._rounds(cap) or self._costly(cap, value) for cap, value in each)
        return self._doubts[j]

    @cached_property
    def _doubts(self) -> dict[int, bool]:
        """Of which pieces that is known."""
        return {}

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
            failed = failed[[self._doubted(j) for j in failed.tolist()]]
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
        return found if self._stores(t, found, j) else None


def _near(unit: Array, off: Array, shift: Array, rounded: Any) -> bool:
    """Whether numbers are off by no more than the tracker's share of their unit, a shift, and rounding."""
    return bool((np.abs(off) <= FAST_ERROR * unit + shift + rounded).all())
