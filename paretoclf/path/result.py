"""Path: every optimal classifier along a line of the cost plane, as data."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.certificate import PRECISELY, Certificate, certify_many
from paretoclf.checks import Array, Index
from paretoclf.costs import CostLine, Costs, SampleCosts, per_sample
from paretoclf.errors import InputError
from paretoclf.gram import Gram
from paretoclf.path.pieces import OnPieces, Pieces, Shares
from paretoclf.path.precise import Precise, PreciseSolver
from paretoclf.path.prices import ShadowPrices, prices_of
from paretoclf.path.scores import PathScores, settle
from paretoclf.path.sets import LEFT
from paretoclf.path.storage import write
from paretoclf.proof import LineProof, Refined, prove_costs, prove_refined
from paretoclf.proof.exact import ExactBounds, exact_bounds
from paretoclf.solution import Classifier, Solution, make_solution
from paretoclf.tolerances import (
    AT_BOUND,
    CERTIFY,
    ROUNDED,
    STEEP,
    VALUE_ROUNDING,
)
from paretoclf.units import balanced_units

_BLOCK = 256  # columns of multipliers expanded at a time
_NEAR = 4 * float(np.finfo(float).eps)  # from a breakpoint: there the basis before or after it may be the right one
_BLOCK_REFINED = 32  # segments solved to twice double precision at a time


@dataclass(frozen=True)
class Path(OnPieces):
    """All optimal 2C-SVM classifiers on a segment of the cost plane, parametrised by t in [0, 1].

    Attributes
    ----------
    gram : Gram
    y : array of shape (n,)
    sample_weight : array of shape (n,)
        The cap of sample i is ``sample_weight[i] * C_{y_i}``.
    line : CostLine
        From t = 0 to t = 1.
    pieces : Pieces
        The stored solution.
    seconds : float
        Time that tracing took, certificates excluded.

    Notes
    -----
    Multipliers and w are continuous and piecewise affine in t; b is piecewise affine with jumps (every b between the
    two values is optimal at a jump; functions of t are continuous from the right there). Where b is not unique on a
    whole range of t, the path uses the chord between the values at its two ends.
    """

    gram: Gram = field(repr=False)
    y: Array = field(repr=False)
    sample_weight: Array = field(repr=False)
    line: CostLine
    pieces: Pieces = field(repr=False)
    seconds: float = 0.0

    def __repr__(self) -> str:
        a, b = (
            f"({c.C_plus:g}, {c.C_minus:g})" if isinstance(c, Costs) else c for c in (self.line.start, self.line.stop)
        )
        return (
            f"Path({a} to {b}, {self.y.size} samples, "
            f"{self.breakpoints.size} breakpoints, margin sets of up to {int(self.n_margin.max())})"
        )

    def costs(self, t: float) -> Any:
        """Costs at t; SampleCosts on a line between such."""
        return self.line.at(self._inside(t))

    def caps(self, t: float) -> Array:
        """Upper bounds of the multipliers at t, shape (n,)."""
        return self.sample_weight * per_sample(self.costs(t), self.y)

    def _trivial(self, t: float) -> bool:
        """A class has no cost: no multiplier and w = 0 exactly, where rounding would count infinitely against 0."""
        costs = self.line.at(t)
        if isinstance(costs, Costs):
            return min(costs) == 0.0
        return not (costs.values[self.y > 0].any() and costs.values[self.y < 0].any())

    def alpha(self, t: float) -> Array:
        """Multipliers at t, shape (n,), in O(n)."""
        j, share = self._locate(t)
        caps = self.caps(t)
        if self._trivial(t):
            return np.zeros_like(caps)
        alpha = np.where(self._state(j) == LEFT, caps, 0.0)
        index, a = self._margin(j, share)
        alpha[index] = np.clip(a, 0.0, caps[index])
        return alpha

    def _intercept(self, t: float) -> float:
        j, share = self._locate(t)
        if self._trivial(t):
            lead = float(np.sign(self.y @ self.caps(t)))
            if lead:
                return lead
        return float(share.between(self.pieces.b0[j], self.pieces.b1[j]))

    def slope(self, t: float) -> Array:
        """The slope w at t, shape (d,), linear kernel only."""
        if self.gram.features is None:
            raise InputError("w exists for the linear kernel only")
        if self.pieces.w is None:
            return np.asarray(self.gram.features.T @ (self.y * self.alpha(t)))
        j, share = self._locate(t)
        if self._trivial(t):
            return np.zeros(self.pieces.w.shape[1])
        return np.asarray(share.between(self.pieces.w[j], self.pieces.w[j + 1]))

    def at(self, t: float) -> Solution:
        """Solution at t; its certificate is computed when asked for.

        Where costs times kernel values are so large, or one cost against the other so small, that the rounding of the
        multipliers shows, the certificate is computed at once; if it fails, the solution is computed to twice double
        precision, and its numbers have the second half of the multipliers, ``alpha_lo``.

        Parameters
        ----------
        t : float
            In [0, 1].
        """
        w = None if self.pieces.w is None else self.slope(t)
        stored = self._solution(t, self.alpha(t), self._intercept(t), w)
        if not self._rounds(t) or stored.certificate.passes():
            return stored
        better = self._precise(t)
        return stored if better is None else better[1]

    def _solution(self, t: float, alpha: Array, b: float, w: Array | None, alpha_lo: Array | None = None) -> Solution:
        classifier = Classifier(self.gram, self.y, self.caps(t), alpha, b, w)
        return make_solution(classifier, self.costs(t), alpha_lo=alpha_lo, source="path")

    @cached_property
    def _steep(self) -> bool:
        """Whether the rounding of a multiplier may move margins by more than certificates allow."""
        return bool(STEEP * self._largest_cap * self.gram.diagonal().max() > CERTIFY)

    def _rounds(self, t: float) -> bool:
        """Whether rounding shows at t: on a steep path, or relative to multipliers that balance a cheap class."""
        caps = self.caps(t)
        return self._steep or bool(STEEP * caps.max() > CERTIFY * balanced_units(self.y, caps).min())

    def _stores(self, t: float, solution: Solution) -> bool:
        """Whether what is stored at t is a precise solution but for rounding."""
        largest, b = float(self.caps(t).max()), self._intercept(t)
        off = float(np.abs(self.alpha(t) - solution.alpha).max())
        low, high = self._rule(solution).interval_at_origin
        room = max(ROUNDED, STEEP * largest * float(self.gram.diagonal().max())) * (1.0 + abs(b))
        near = off <= ROUNDED * float(solution.alpha.max()) + AT_BOUND * largest
        return bool(near and low - room <= b <= high + room)

    @property
    def _largest_cap(self) -> float:
        return max(float(self.caps(float(t)).max()) for t in self.pieces.t[[0, -1]])

    def _precise(self, t: float) -> tuple[Precise, Solution] | None:
        """Solution at t to twice double precision, if that passes its certificate.

        Breakpoints are rounded: next to one the basis before or after it may be the right one.
        """
        if self._trivial(t):
            return None
        ends = self.pieces.t
        j, first, last = (self._locate(min(max(u, ends[0]), ends[-1]))[0] for u in (t, t - _NEAR, t + _NEAR))
        for piece in sorted(range(first, last + 1), key=lambda k: abs(k - j)):
            found = self._solver.solve(self.caps(t), *self._basis(piece))
            if found is not None:
                solution = self._solution(t, found.alpha[0], found.b, found.w, found.alpha[1])
                if solution.certificate.passes():
                    return found, solution
        return None

    @cached_property
    def _solver(self) -> PreciseSolver:
        return PreciseSolver(self.gram, self.y, self._largest_cap)

    def _value(self, t: float) -> float:
        """Piecewise quadratic, concave (Bach et al. 2006, section 3)."""
        return 0.0 if self._trivial(t) else super()._value(t)

    def shadow_prices(self, t: float) -> ShadowPrices:
        """What a unit of either cost adds to the optimal value at t: the weighted slacks of either class.

        Parameters
        ----------
        t : float
            In [0, 1].

        Returns
        -------
        ShadowPrices
            ``(dV/dC_plus, dV/dC_minus)``, with the interval of all of them where b is not unique.

        Examples
        --------
        >>> import paretoclf as pc
        >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
        >>> prices = pc.trace(svm, start=(0, 0), stop=(1, 1)).shadow_prices(1.0)
        >>> round(prices.C_plus, 6), round(prices.C_minus, 6)
        (1.333333, 1.333333)
        """
        return prices_of(self.at(t), self.sample_weight)

    def scores(self, X: Any) -> PathScores:
        """Scores of new samples as an exact piecewise affine function of t.

        Parameters
        ----------
        X : array of shape (m, d)
            As for `Classifier.decision_function`.
        """
        P = self.pieces
        if P.w is not None:
            Z = self.gram.cross_features(X)
            base = np.asarray(Z @ P.w.T)
        elif self.gram.features is not None:
            Z = self.gram.cross_features(X)
            base = np.empty((Z.shape[0], P.t.size))
            for j, t in enumerate(P.t):
                base[:, j] = Z @ self.slope(float(t))
        else:
            Z = self.gram.cross(X)
            base = np.empty((Z.shape[0], P.t.size))
            for first in range(0, P.t.size, _BLOCK):
                knots = np.arange(first, min(first + _BLOCK, P.t.size))
                base[:, knots] = Z @ (self.y[:, None] * self._multipliers(P.t[knots])[0])
        settle(base, self._largest_value(Z) * self._most_multipliers())
        return PathScores(P.t, base[:, :-1] + P.b0, base[:, 1:] + P.b1)

    def _most_multipliers(self) -> Array:
        """A bound on the sum of the multipliers at each knot: those of either class add up to the same."""
        positive, t = self.y > 0, self.pieces.t
        ends = [self.caps(float(end)) for end in t[[0, -1]]]  # affine in between
        share = (t - t[0]) / (t[-1] - t[0])
        sums = [(1 - share) * ends[0][one].sum() + share * ends[1][one].sum() for one in (positive, ~positive)]
        return np.asarray(2.0 * np.minimum(*sums))

    def _multipliers(self, points: Array) -> tuple[Array, Array]:
        """Multipliers and caps at increasing points, (n, k) each: those of `alpha` and `caps`, in one walk."""
        P, costs = self.pieces, self.line.per_sample(points, self.y)
        caps = self.sample_weight[:, None] * costs
        trivial = np.minimum(costs[self.y > 0].max(axis=0), costs[self.y < 0].max(axis=0)) == 0.0
        pieces = np.minimum(np.searchsorted(P.t, points, side="right") - 1, P.t.size - 2)
        changed, sample, new = P.changes
        until = np.searchsorted(changed, pieces, side="right")
        state, alpha = self._state(int(pieces[0])), np.zeros(caps.shape[::-1])
        for k, (t, j) in enumerate(zip(points, pieces, strict=True)):
            part = slice(until[max(k - 1, 0)], until[k])
            state[sample[part]] = new[part]  # of repeated samples the last assignment stands
            if trivial[k]:
                continue
            np.multiply(state == LEFT, caps[:, k], out=alpha[k])
            index, a = self._margin(j, Shares.of(t, P.t[j], P.t[j + 1]))
            alpha[k, index] = np.clip(a, 0.0, caps[index, k])
        return np.ascontiguousarray(alpha.T), caps

    def _expand(self, points: Array) -> tuple[Array, Array, Array]:
        """Multipliers (n, k), caps (n, k) and intercepts (k,) at increasing points."""
        return *self._multipliers(points), np.array([self._intercept(float(t)) for t in points])

    def _value_rounding(self) -> Array:
        """What rounding may make of the stored values: the tracker adds up costs times slacks."""
        most = max(float(self.caps(float(t)).sum()) for t in self.pieces.t[[0, -1]])
        return np.full(self.pieces.t.size - 1, VALUE_ROUNDING * most)

    @cached_property
    def proof(self) -> LineProof:
        """What is proved of every t in [0, 1], segment by segment."""
        ends = (self.line.start, self.line.stop)
        caps, pieces = np.stack([self.sample_weight * per_sample(end, self.y) for end in ends]), self.pieces
        proof = prove_costs(pieces, self.y, caps, note=self.gram.note, **self._data)
        # Breakpoints are rounded: next to one, `at` takes the basis before or after it, whichever is proved there.
        for margin in (0.0, _NEAR):
            failed = proof.failures()
            if failed.size == 0:
                return proof
            if not all(self._rounds(float(t)) for t in 0.5 * (pieces.t[failed] + pieces.t[failed + 1])):
                return proof
            if margin and not all(self._proved_at(float(t)) for t in np.unique(pieces.t[[failed, failed + 1]])):
                return proof
            for first in range(0, failed.size, _BLOCK_REFINED):
                which = failed[first : first + _BLOCK_REFINED]
                refined = self._refined(pieces, which, margin)
                if refined is None:
                    continue  # next to breakpoints perhaps
                note = f"{PRECISELY} {self.gram.note}".rstrip()
                proof = proof.with_segments(which, prove_refined(refined, self.y, caps, note=note, **self._data))
        return proof

    def _proved_at(self, t: float) -> bool:
        return self._trivial(t) or self._precise(t) is not None

    def _refined(self, pieces: Pieces, which: Index, margin: float) -> Refined | None:
        """Solutions at both ends of pieces, to twice double precision, or at this distance from them."""
        t = np.stack([pieces.t[which], pieces.t[which + 1]], axis=1)
        inner = np.stack([t[:, 0] + margin, t[:, 1] - margin], axis=1)
        trivial = np.array([[self._trivial(float(u)) for u in ends] for ends in t])
        short = np.diff(inner, axis=1)[:, 0] <= 0.0  # a few doubles, all next to breakpoints
        inner[short] = t[short].mean(axis=1, keepdims=True)
        trivial[short] = False
        t = np.where(trivial, t, inner)
        b = np.stack([pieces.b0[which], pieces.b1[which]], axis=1)  # where multipliers vanish it is known exactly
        alpha = np.zeros((which.size, 2, 2, self.y.size))
        features = self.gram.features
        w = None if features is None else np.zeros((which.size, 2, features.shape[1]))
        for k, e in np.argwhere(~trivial):
            found = self._solved(float(t[k, e]), int(which[k]), bool(short[k]))
            if found is None:
                return None
            b[k, e], alpha[k, e] = found.b, found.alpha
            if w is not None:
                w[k, e] = found.w
        start, end, bend = pieces.value[which].T[:, :, None]
        before, after = (pieces.t[which + 1, None] - t), (t - pieces.t[which, None])
        whole = before + after
        values = (before * start + after * end) / whole - before * after / whole**2 * bend
        shorter = np.column_stack([values, bend * (np.diff(t) / whole[:, :1]) ** 2])
        return Refined(t, alpha, b, w, shorter)

    def _solved(self, t: float, j: int, near_breakpoints: bool) -> Precise | None:
        """Precise solution on the basis of piece j, if that is what is stored but for rounding."""
        found = None
        if near_breakpoints:
            better = self._precise(t)
            found = None if better is None else better[0]
        else:
            found = self._solver.solve(self.caps(t), *self._basis(j))
        if found is None:
            return None
        solution = self._solution(t, found.alpha[0], found.b, found.w, found.alpha[1])
        return found if self._stores(t, solution) else None

    @staticmethod
    def _rule(solution: Solution) -> Classifier:
        assert isinstance(solution.classifier, Classifier)
        return solution.classifier

    def _exact_bounds(self, t: float) -> ExactBounds:
        solution = self.at(t)
        low = solution.numbers.get("alpha_lo")
        w = None if self.gram.features is None or self.pieces.w is None or low is not None else self.slope(t)
        parts = solution.alpha[None] if low is None else np.stack([solution.alpha, low])
        return exact_bounds(self.y, self.caps(t), parts, self._rule(solution).b_at_origin, w=w, **self._data)

    @cached_property
    def _certificates(self) -> list[Certificate]:
        points = self.certificate_points
        out: list[Certificate] = []
        for first in range(0, points.size, _BLOCK):
            here = points[first : first + _BLOCK]
            alpha, caps, b = self._expand(here)
            W = None if self.pieces.w is None else np.stack([self.slope(float(t)) for t in here], axis=1)
            out += certify_many(self.y, caps, alpha, b, W=W, note=self.gram.note, **self._data)
        for j, certificate in enumerate(out):
            if not certificate.passes():
                better = self._precise(float(points[j])) if self._rounds(float(points[j])) else None
                if better is None:
                    break  # one that fails is enough
                out[j] = better[1].certificate
        return out

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the path to an npz file (to a temporary name first, then renamed)."""
        ends = np.array([_numbers(costs) for costs in (self.line.start, self.line.stop)])
        name = "sample_costs" if isinstance(self.line.start, SampleCosts) else "line"
        own = {name: ends, "sample_weight": self.sample_weight}
        write(file, self.gram, self.y, self.pieces, self.seconds, own)


def _numbers(costs: Costs | SampleCosts) -> Array:
    return costs.values if isinstance(costs, SampleCosts) else np.array(tuple(costs))
