"""Proofs where double precision ends: of a path whose multipliers need two doubles each.

Costs times kernel values may be so large that the rounding of a multiplier moves margins by more than a certificate
allows. There the multipliers at each end of a segment are recomputed on its basis, in twice the precision, and the
stored ones must be the same but for rounding. Slopes and intercepts are proved as they are stored, with these
multipliers: one that is wrong moves slacks, and the gap shows it.

Where rounding of a breakpoint moves the solution by more than certificates allow, what is stored is the solution at
another t, a few units in the last place away. There the recomputed solution is proved, the stored one must be as near
to it as its own rate of change allows, and the proof says by how much scores differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.tolerances import AT_BOUND, FAST_ERROR, ROUNDED
from paretoclf.path.svm_lines.double_double import NEAR, Precise
from paretoclf.path.svm_lines.stages import STAGE
from paretoclf.problem.pieces import Pieces
from paretoclf.problem.shares import Shares
from paretoclf.problem.units import balanced_units, box_units
from paretoclf.proof.lines.refined_lines import Refined, prove_costs
from paretoclf.proof.segments.line_proof import LineProof

_BLOCK = 32  # segments solved to twice double precision at a time


@dataclass(frozen=True)
class _Recomputed:
    """Pieces that were recomputed to twice double precision.

    Attributes
    ----------
    which : int array of shape (k,)
    short : bool array of shape (k,)
        Whether a piece is so short that it was recomputed in its middle, on any basis next to it.
    solutions : list of k pairs
        The solutions at both ends; None where no multiplier differs from 0.
    stored, found : Refined
        Their multipliers, with slopes and intercepts as they are stored, and as they were found.
    """

    which: Index
    short: Mask
    solutions: list[list[Precise | None]]
    stored: Refined
    found: Refined


@dataclass(frozen=True)
class RefinedProof:
    """Way from the proof of a path in doubles to one with multipliers in two doubles, where these are needed.

    Attributes
    ----------
    path : Refining
        See `paretoclf.path.svm_lines.refined_path`.
    """

    path: Any

    def improved(self, proof: LineProof) -> LineProof:
        """Prove each segment that fails with multipliers in two doubles, where that is what it lacks."""
        pieces = self.path.pieces
        # Breakpoints are rounded: next to one, `at` takes the basis before or after it, whichever is proved there.
        known_to = 0.0
        for margin in (0.0, NEAR):
            failed = proof.failures()
            failed = failed[[self.path._doubted(j) for j in failed.tolist()]]
            if margin:
                ends = np.union1d(failed, failed + 1).tolist()
                proved = {j: self._proved_at(float(pieces.t[j])) for j in ends}
                failed = failed[[proved[j] and proved[j + 1] for j in failed.tolist()]]
            for first in range(0, failed.size, _BLOCK):
                proof, distance = self._proved_in_part(proof, failed[first : first + _BLOCK], margin)
                known_to = max(known_to, distance)
        return proof if known_to <= FAST_ERROR else replace(proof, note=f"{proof.note} {_beside(known_to)}")

    def _proved_in_part(self, proof: LineProof, which: Index, margin: float) -> tuple[LineProof, float]:
        """Put into a proof what is proved of some pieces with multipliers in two doubles.

        Returns also the largest distance of stored scores from those that are proved.
        """
        again = self._recomputed(which, margin)
        if again.which.size == 0:
            return proof, 0.0
        problem, parameter = self.path.soft_margin, self.path.parameter
        proof = proof.with_parts(again.which, prove_costs(problem, again.stored, parameter))
        left = np.flatnonzero(np.isin(again.which, proof.failures()))
        distances = np.array([self._largest_distance(again, k) for k in left.tolist()])
        near = distances < np.inf
        left = left[near]
        if left.size:
            beside = prove_costs(problem, again.found.part(left), parameter)
            proof = proof.with_parts(again.which[left], beside)
        return proof, float(distances[near].max(initial=0.0))

    def _largest_distance(self, again: _Recomputed, k: int) -> float:
        """Largest distance of the stored scores of a recomputed piece from those that were found at its ends."""
        j, short = int(again.which[k]), bool(again.short[k])
        each = zip(again.found.t[k].tolist(), again.solutions[k], strict=True)
        return max(0.0 if one is None else self._distance(t, one, j, short) for t, one in each)

    def _proved_at(self, t: float) -> bool:
        """Whether the solution at t is proved: none needs to be computed where no multiplier differs from 0."""
        return self.path._trivial(t) or self.path._precise(t) is not None

    def _recomputed(self, which: Index, margin: float) -> _Recomputed:
        """Solve at both ends of some pieces, or at a margin from them, to twice double precision.

        Returns those pieces that store these multipliers but for rounding.
        """
        t, trivial, short = self._recomputed_at(which, margin)
        each = zip(t.tolist(), which.tolist(), trivial.tolist(), short.tolist(), strict=True)
        pairs = [self._solved_pair(*one) for one in each]
        kept = np.array([pair is not None for pair in pairs], dtype=np.bool_)
        t, which, short = t[kept], which[kept], short[kept]
        solutions = [pair for pair in pairs if pair is not None]
        stored = self._as_stored(t, which, solutions)
        b = stored.b.copy()
        w = None if stored.w is None else stored.w.copy()
        for k, pair in enumerate(solutions):
            for end, one in enumerate(pair):
                if one is not None:
                    b[k, end] = one.b
                    if w is not None:
                        w[k, end] = one.w
        return _Recomputed(which, short, solutions, stored, replace(stored, b=b, w=w))

    def _recomputed_at(self, which: Index, margin: float) -> tuple[Array, Mask, Mask]:
        """Points (k, 2) at which some pieces are recomputed, which are known without, and which pieces are short."""
        pieces = self.path.pieces
        t = np.stack([pieces.t[which], pieces.t[which + 1]], axis=1)
        inner = t + margin * np.where(t == pieces.t[[0, -1]], 0.0, [1.0, -1.0])  # the two ends of a path are exact
        trivial = np.array([[self.path._trivial(float(u)) for u in ends] for ends in t]).reshape(t.shape)
        short = np.diff(inner, axis=1)[:, 0] <= 0.0  # a few doubles, all next to breakpoints
        inner[short] = t[short].mean(axis=1, keepdims=True)
        trivial[short] = False
        return np.where(trivial, t, inner), trivial, short

    def _solved_pair(self, t: list[float], j: int, trivial: list[bool], short: bool) -> list[Precise | None] | None:
        """Precise solutions at both ends of piece j, None where they are known; None if one is not what is stored."""
        pair: list[Precise | None] = [None, None]
        for end in (0, 1):
            if not trivial[end]:
                pair[end] = self._solved(t[end], j, short)
                if pair[end] is None:
                    return None
        return pair

    def _as_stored(self, t: Array, which: Index, solutions: list[list[Precise | None]]) -> Refined:
        """Stored slopes and intercepts of some pieces at t, shape (k, 2), with multipliers that were found there."""
        P = self.path.pieces
        b = np.stack([P.b0[which], P.b1[which]], axis=1)  # where multipliers vanish it is known exactly
        alpha = np.zeros((which.size, 2, 2, self.path.y.size))
        w: Any = self.path.gram.quadratic.zeros(which.size, 2)
        for k, j in enumerate(which.tolist()):
            for end, one in enumerate(solutions[k]):
                u = float(t[k, end])
                if one is not None:
                    b[k, end], alpha[k, end] = self.path._intercept(u, j), one.alpha
                if w is not None:
                    w[k, end] = self._stored_slope_on(u, j)
        return Refined(t, alpha, b, w, _values_between(P, which, t))

    def _stored_slope_on(self, t: float, j: int) -> Any:
        """Stored slope at t on piece j."""
        w: Any = self.path.pieces.w
        return self.path._between(w[:-1], w[1:], t, j)

    def _solved(self, t: float, j: int, near_breakpoints: bool) -> Precise | None:
        """Precise solution on the basis of piece j, if that is what is stored but for rounding."""
        found = None
        if near_breakpoints:
            better = self.path._precise(t)
            found = None if better is None else better[0]
        else:
            found = self.path._solve(t, j)
        if found is None:
            return None
        return found if self._stores(t, found, j) else None

    def _stores(self, t: float, found: Precise, j: int) -> bool:
        """Whether piece j stores the multipliers of a precise solution at t, but for rounding, also of breakpoints.

        They are measured against their units, and the scores that they imply against the terms that these are the sum
        of. What is stored at a breakpoint belongs to where that was before it was rounded, where costs had other
        digits: numbers may be shifted by as much as they change on so short a way.
        """
        P, Q, lam = self.path.pieces, self.path.gram.quadratic, self.path._value_unit(t)
        step = self._step(t)
        share = min(1.0, step / float(P.t[j + 1] - P.t[j]))  # of the piece
        of_caps = step * self._steepness(t)  # relative change of the caps
        high, low = found.alpha
        caps = self.path.caps(t) / lam
        residual = (self.path._stored(t, j) / lam - high) - low
        shift = self._shift(j, share / lam)
        largest = float(high.max())
        most = ROUNDED * largest + AT_BOUND * float(caps.max())
        units = balanced_units(self.path.y, caps) if self.path.soft_margin.intercept == "free" else box_units(caps)
        if not _near(units, residual, np.minimum(shift + of_caps * largest, most), NEAR * high):
            return False
        scale = 1.0 + np.abs(Q.scores(self.path.y * high, found.w) + found.b)
        implied = Q.scores(self.path.y * residual)  # change of the scores
        length = np.sqrt(self.path.gram.diagonal())
        moved = length * float(length @ shift + of_caps * (length @ high))
        rounded = NEAR * length * float(length @ high)
        return _near(scale, implied, moved, rounded)

    def _step(self, t: float) -> float:
        """Distance of t from where it was before it was rounded, at most."""
        # A stage towards vanishing costs ends at this share of where it begins, which is known to half a unit.
        return 0.0 if t == self.path._range[1] else 2 * NEAR * min(1.0, t / STAGE)

    def _distance(self, t: float, found: Precise, j: int, short: bool) -> float:
        """Largest distance of stored scores at t from those of a precise solution; infinite where they are not near.

        They are near where they are what scores are on the basis of piece j so short a way from t as t is rounded by;
        or what they are on another basis, at t, where piece j meets it. A short piece is anywhere between the bases
        around. In the last doubles before an end where all vanishes there is nothing to tell. Where there are no
        slopes, this is about the intercept.
        """
        near = self._vanishes_next_to(t) or self._is_near(t, found, j, short)
        return float(np.abs(self._off(t, found, j)).max()) if near else np.inf

    def _vanishes_next_to(self, t: float) -> bool:
        """Whether t is within rounding of an end of the path at which no multiplier may differ from 0."""
        return any(abs(end - t) <= NEAR and self.path._trivial(end) for end in self.path._range)

    def _is_near(self, t: float, found: Precise, j: int, short: bool) -> bool:
        """Whether stored scores at t are near those of a precise solution, as `_distance` says."""
        low, high = [], []
        ends = self.path.pieces.t
        meeting = [k for k in (j - 1, j + 1) if 0 <= k < ends.size - 1 and abs(ends[max(j, k)] - t) <= 2 * NEAR]
        for k in dict.fromkeys([j, *meeting, *self.path._around(t)]):
            own = short or k == j
            at = t if own else float(ends[max(j, k)])  # where the two meet, if they do
            one = self.path._solve(at, k)
            if one is not None:
                moved = self._step(t) * self._score_rates(t, k) if own else 0.0
                off = self._off(at, one, j)
                low.append(off - moved)
                high.append(off + moved)
        if short:
            low, high = [np.min(low, axis=0)], [np.max(high, axis=0)]
        allowed = self._score_rounding(t, found, j)
        each = zip(low, high, strict=True)
        return any(bool(((least <= allowed) & (most >= -allowed)).all()) for least, most in each)

    def _score_rounding(self, t: float, found: Precise, j: int) -> Array:
        """Rounding of the scores that piece j stores at t, or of the intercept, and the tracker's share."""
        b = abs(self.path._intercept(t, j))
        if found.w is None:
            if self.path.soft_margin.intercept != "feature":
                return np.array([FAST_ERROR * (1.0 + b) + NEAR * b])
            # The weight of a constant feature is a sum of multipliers, each with its share and rounding.
            terms = found.alpha[0]
            return np.array([FAST_ERROR * (1.0 + b) * max(np.count_nonzero(terms), 1) + NEAR * terms.sum()])
        Q, w = self.path.gram.quadratic, self._stored_slope_on(t, j)
        digits = (Q.width + 8) * NEAR * (1.0 + float(Q.largest_terms(w[None])[0]) + b)
        return np.asarray(FAST_ERROR * (1.0 + np.abs(Q.project(found.w) + found.b)) + digits)

    def _off(self, t: float, found: Precise, j: int) -> Array:
        """Differences of the scores that piece j stores at t and of a solution; without slopes, of intercepts."""
        off = np.array([self.path._intercept(t, j) - found.b])
        if found.w is None:
            return off
        return np.asarray(self.path.gram.quadratic.project(self._stored_slope_on(t, j) - found.w) + off)

    def _score_rates(self, t: float, j: int) -> Array:
        """Sizes of the derivatives of all scores on the basis of piece j; without slopes, of the intercept.

        On a basis solutions are affine in t, wherever it is optimal: so they are told from two points far apart.
        """
        first, last = self.path._range
        far = first if t - first > last - t else last
        here, there = self.path._solve(t, j), self.path._solve(far, j)
        if here is None or there is None:
            return np.zeros(1)
        change = np.array([there.b - here.b])
        if here.w is not None and there.w is not None:
            change = self.path.gram.quadratic.project(there.w - here.w) + change
        return np.asarray(np.abs(change) / abs(far - t))

    def _shift(self, j: int, share: float) -> Array:
        """Absolute change of each multiplier on a share of piece j, shape (n,)."""
        entries = self.path._entries(j)
        change = self.path.pieces.a1[entries] - self.path.pieces.a0[entries]
        shift = np.zeros(self.path.y.size)
        shift[self.path.pieces.index[entries]] = share * np.abs(change)
        return shift

    def _steepness(self, t: float) -> float:
        """Largest relative rate of change of a cap at t."""
        caps = self.path.caps(t)
        first, last = (self.path.caps(end) for end in self.path._range)
        there = caps > 0.0
        change = np.abs(last - first)
        with np.errstate(over="ignore"):
            most = np.max(change[there] / caps[there], initial=0.0)
        return float(float(most) / (self.path._range[1] - self.path._range[0]))


def _beside(distance: float) -> str:
    """Sentence on stored scores that are those of another t, but for rounding the same."""
    return (
        "Next to breakpoints that are a few units in the last place apart the scores that are stored differ from those "
        f"that are proved by up to {distance:.1e}."
    )


def _values_between(pieces: Pieces, which: Index, t: Array) -> Array:
    """Values on some pieces between two t each: at these, and the bend between them, shape (k, 3)."""
    first, last = pieces.t[which, None], pieces.t[which + 1, None]
    length = last - first
    start, end, bend = pieces.value[which].T[:, :, None]
    values = Shares((last - t) / length, (t - first) / length).parabola(start, end, bend)
    part = np.diff(t) / length
    return np.column_stack([values, bend * part**2])


def _near(unit: Array, residual: Array, shift: Array, rounded: Any) -> bool:
    """Whether residuals are at most the tracker's share of their unit, a shift, and rounding."""
    allowed = FAST_ERROR * unit + shift + rounded
    return bool((np.abs(residual) <= allowed).all())
