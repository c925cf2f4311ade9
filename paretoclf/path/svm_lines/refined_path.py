"""Solutions where double precision ends: of a path whose multipliers need two doubles each.

Costs times kernel values may be so large that the rounding of a multiplier moves margins by more than a certificate
allows. There the solution at a point is recomputed on its basis, in twice the precision, and so are the ends of
segments for the proof (`paretoclf.path.svm_lines.refined_proof`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import CERTIFY, FAST_ERROR, STEEP, VALUE_ROUNDING
from paretoclf.path.svm_lines.double_double import NEAR, Precise
from paretoclf.path.svm_lines.svm_path import OnPieces
from paretoclf.proof.points.hinge import certify_hinges
from paretoclf.proof.segments.line_proof import LineProof
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.proof.verdicts.exact_bounds import ExactBounds
from paretoclf.proof.verdicts.solution import Solution

_BLOCK = 32  # segments solved to twice double precision at a time


class Refining(OnPieces):
    """Path that is proved with multipliers in two doubles where one is not enough.

    Such a kind implements, beside the names on the page of `paretoclf.path.base.path`, ``_solve``, ``_as_solution``,
    ``_slope_of`` and ``_rounds``.
    """

    def _solve(self, t: float, j: int) -> Precise | None:
        """Solution at t on the basis of piece j."""
        raise NotImplementedError

    def _as_solution(self, t: float, found: Precise) -> Solution:
        """Solution with the numbers that were found, judged with sums in twice the precision."""
        raise NotImplementedError

    def _slope_of(self, solution: Solution) -> Array | None:
        """Slope of a solution that was judged; None where it is that of the multipliers."""
        raise NotImplementedError

    def _judge(self, points: Array) -> list[Certificate]:
        alpha, caps = self._multipliers(points)
        b = np.array([self._intercept(float(t)) for t in points])
        W = self._stored_slopes(points)
        certificates = certify_hinges(replace(self.soft_margin, caps=caps), alpha, b, W)
        for j, certificate in enumerate(certificates):
            if certificate.holds(FAST_ERROR):
                continue
            better = self._better(float(points[j]))
            if better is None and not certificate.holds():
                break  # one that fails is enough
            certificates[j] = certificate if better is None else better.certificate
        return certificates

    def _better(self, t: float) -> Solution | None:
        """Precise solution at t, if rounding shows on the piece there, and there is one: certificates are about it."""
        better = self._precise(t) if self._doubted(self._piece(t)) else None
        return None if better is None else better[1]

    def _exact_bounds(self, t: float) -> ExactBounds:
        solution = self._at(t)
        low = solution.numbers.get("alpha_lo", np.zeros(0))
        problem = replace(self.soft_margin, caps=self.caps(t))
        parts = np.stack([solution.alpha, low]) if low.any() else solution.alpha[None]
        return problem.bounds(parts, solution.numbers["b"], self._slope_of(solution))

    def _rounds(self, caps: Array) -> bool:
        """Whether rounding of multipliers shows at these caps."""
        raise NotImplementedError

    def _doubted(self, j: int) -> bool:
        """Whether rounding shows on piece j: of multipliers, or of margins, where all costs are large for the value."""
        if j not in self._doubts:
            # A cost that vanishes at an end of a line falls by orders of magnitude along its last segment.
            start, end = self.pieces.t[j : j + 2].tolist()
            first, last, bend = self.pieces.value[j].tolist()
            points = np.array([start, 0.5 * (start + end), end])
            values = (first, 0.5 * (first + last) - 0.25 * bend, last)
            each = zip(self._caps_at(points).T, values, strict=True)
            self._doubts[j] = any(self._rounds(caps) or self._costly(caps, value) for caps, value in each)
        return self._doubts[j]

    @cached_property
    def _doubts(self) -> dict[int, bool]:
        """Answers of `_doubted` that are known already."""
        return {}

    @staticmethod
    def _costly(caps: Array, value: float) -> bool:
        """Whether all costs are so large against the value that the rounding of margins shows."""
        return bool(FAST_ERROR * caps.sum() > CERTIFY * value)

    @property
    def _steepest(self) -> float:
        """Bound on the multipliers of a slope of unit weight."""
        largest = max(float(self.caps(t).max()) for t in self._range)
        return largest / self._value_unit(self._range[0])

    def _value_rounding(self) -> Array:
        """Bound on the rounding of the stored values: the tracker adds up costs times slacks."""
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
        for piece in self._around(t):
            found = self._solve(t, piece)
            if found is not None:
                solution = self._as_solution(t, found)
                if solution.certificate.holds():
                    return found, solution
        return None

    def _around(self, t: float) -> list[int]:
        """Pieces at t, and at what may be t without rounding: the nearest first."""
        ends = self.pieces.t
        around = (t, t - NEAR, t + NEAR)
        j, first, last = (self._piece(min(max(u, ends[0]), ends[-1])) for u in around)
        return sorted(range(first, last + 1), key=lambda k: abs(k - j))

    def _proved(self) -> LineProof:
        """Prove the path; each segment that fails with multipliers in two doubles, where that is what it lacks."""
        proof = super()._proved()
        if proof.failures().size == 0:
            return proof
        from paretoclf.path.svm_lines.refined_proof import RefinedProof  # few paths are steep

        return RefinedProof(self).improved(proof)
