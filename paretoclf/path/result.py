"""Path: every optimal classifier along a line of the cost plane, as data."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoclf.certificate import Certificate, certify_many
from paretoclf.checks import Array, Index, State
from paretoclf.costs import CostLine, Costs, per_sample
from paretoclf.errors import InputError
from paretoclf.gram import Gram
from paretoclf.path.events import LEFT, MARGIN, RIGHT
from paretoclf.path.prices import ShadowPrices, prices_of
from paretoclf.path.scores import PathScores
from paretoclf.solution import Solution, make_solution

if TYPE_CHECKING:
    from paretoclf.roc.error_curve import ErrorCurve

_SETS = {RIGHT: "R", LEFT: "L", MARGIN: "M"}
_BLOCK = 256  # columns of multipliers expanded at a time


@dataclass(frozen=True)
class PathEvent:
    """One sample changes its set: ``"R"`` (multiplier 0), ``"L"`` (at its cap), ``"M"`` (margin set)."""

    t: float
    sample: int
    before: str
    after: str


@dataclass(frozen=True)
class Pieces:
    """The stored form of a path of k pieces: storage grows with the sum of the margin-set sizes.

    ``t`` (k+1,) ends; margin set of piece j in ``index[ptr[j]:ptr[j+1]]`` with multipliers ``a0``, ``a1`` at its
    two ends; intercepts ``b0``, ``b1`` (k,); optimal value ``value`` (k, 3): at its start s, at its end e, and the bend
    c of ``(1 - f) s + f e - f (1 - f) c`` at the share f of the piece;
    ``w`` (k+1, d) where there are features, and not too many of them; ``state`` (n,) sets on piece 0 and ``changes``
    (3, m): piece, sample, set.
    """

    t: Array
    ptr: Index
    index: Index
    a0: Array
    a1: Array
    b0: Array
    b1: Array
    value: Array
    w: Array | None
    state: State
    changes: Index


@dataclass(frozen=True)
class Path:
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
            f"{self.breakpoints.size - 2} breakpoints, margin sets of up to {int(self.n_margin.max())})"
        )

    @property
    def breakpoints(self) -> Array:
        """Ends of the pieces, increasing, from 0 to 1: where a set changes, and where two traced stretches meet.

        The latter are few: the point at which the line was reached, and stages towards a vanishing cost.
        """
        return self.pieces.t

    @property
    def n_margin(self) -> Index:
        """Size of the margin set on each piece, shape (k,)."""
        return np.diff(self.pieces.ptr)

    @cached_property
    def events(self) -> list[PathEvent]:
        """Every change of set, in order."""
        state = self.pieces.state.copy()
        out = []
        for j, i, new in self.pieces.changes.T:
            out.append(PathEvent(float(self.pieces.t[j]), int(i), _SETS[int(state[i])], _SETS[int(new)]))
            state[i] = new
        return out

    def costs(self, t: float) -> Any:
        """Costs at t; SampleCosts on a line between such."""
        return self.line.at(t)

    def caps(self, t: float) -> Array:
        """Upper bounds of the multipliers at t, shape (n,)."""
        return self.sample_weight * per_sample(self.line.at(t), self.y)

    def _locate(self, t: float) -> tuple[int, float]:
        if not 0 <= t <= 1:
            raise InputError(f"t must lie in [0, 1], got {t!r}")
        ends = self.pieces.t
        j = min(int(np.searchsorted(ends, t, side="right")) - 1, ends.size - 2)
        return j, float((t - ends[j]) / (ends[j + 1] - ends[j]))

    def sets(self, t: float) -> State:
        """Set of each sample on the piece that begins at or contains t: 0 right, 1 left, 2 margin; shape (n,)."""
        return self._state(self._locate(t)[0])

    @cached_property
    def _states(self) -> State:
        """The sets before every n-th change: with them `_state` needs O(n) however long the path."""
        n, (_, sample, new) = self.y.size, self.pieces.changes
        states = np.empty((new.size // n + 1, n), dtype=np.int8)
        states[0] = self.pieces.state
        for j in range(1, states.shape[0]):
            part = slice((j - 1) * n, j * n)
            states[j] = states[j - 1]
            states[j][sample[part]] = new[part]
        return states

    def _state(self, j: int) -> State:
        piece, sample, new = self.pieces.changes
        until = int(np.searchsorted(piece, j, side="right"))
        block = until // self.y.size
        state: State = self._states[block].copy()
        part = slice(block * self.y.size, until)
        state[sample[part]] = new[part]  # of repeated samples the last assignment stands
        return state

    def basis(self, t: float) -> tuple[State, Index]:
        """The basis at t: set of each sample, shape (n,), and the margin set, shape (k,)."""
        j = self._locate(t)[0]
        return self._state(j), self.pieces.index[self.pieces.ptr[j] : self.pieces.ptr[j + 1]]

    def _margin(self, j: int, share: float) -> tuple[Index, Array]:
        P, part = self.pieces, slice(self.pieces.ptr[j], self.pieces.ptr[j + 1])
        return P.index[part], (1 - share) * P.a0[part] + share * P.a1[part]

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

    def intercept(self, t: float) -> float:
        """The path's intercept at t."""
        j, share = self._locate(t)
        if self._trivial(t):
            lead = float(np.sign(self.y @ self.caps(t)))
            if lead:
                return lead
        return float((1 - share) * self.pieces.b0[j] + share * self.pieces.b1[j])

    def slope(self, t: float) -> Array:
        """The slope w at t, shape (d,), linear kernel only."""
        if self.gram.features is None:
            raise InputError("w exists for the linear kernel only")
        if self.pieces.w is None:
            return np.asarray(self.gram.features.T @ (self.y * self.alpha(t)))
        j, share = self._locate(t)
        if self._trivial(t):
            return np.zeros(self.pieces.w.shape[1])
        return np.asarray((1 - share) * self.pieces.w[j] + share * self.pieces.w[j + 1])

    def at(self, t: float) -> Solution:
        """Solution at t; its certificate is computed when asked for.

        Parameters
        ----------
        t : float
            In [0, 1].
        """
        w = None if self.pieces.w is None else self.slope(t)
        return make_solution(
            self.gram, self.y, self.caps(t), self.costs(t), self.alpha(t), b=self.intercept(t), w=w, source="path"
        )

    def value(self, t: float) -> float:
        """Optimal value at t: piecewise quadratic, concave (Bach et al. 2006, section 3)."""
        if self._trivial(t):
            return 0.0
        j, f = self._locate(t)
        start, end, bend = self.pieces.value[j]
        chord = start + f * (end - start) if f <= 0.5 else end - (1 - f) * (end - start)  # exact at both ends
        return float(chord - f * (1 - f) * bend)

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
            base = self.gram.cross_features(X) @ P.w.T
        elif self.gram.features is not None:
            Z = self.gram.cross_features(X)
            base = np.empty((Z.shape[0], P.t.size))
            for j, t in enumerate(P.t):
                base[:, j] = Z @ self.slope(float(t))
        else:
            K = self.gram.cross(X)
            base = np.empty((K.shape[0], P.t.size))
            for first in range(0, P.t.size, _BLOCK):
                knots = np.arange(first, min(first + _BLOCK, P.t.size))
                base[:, knots] = K @ (self.y[:, None] * self._expand(P.t[knots])[0])
        return PathScores(P.t, base[:, :-1] + P.b0, base[:, 1:] + P.b1)

    def error_curve(self, X: Any, y: Any) -> ErrorCurve:
        """False positives and false negatives on (held-out) samples as exact step functions of t.

        Parameters
        ----------
        X : array of shape (m, d)
            As for `Classifier.decision_function`.
        y : array of shape (m,)
            Labels -1 and +1, both present.

        Examples
        --------
        >>> import paretoclf as pc
        >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
        >>> pc.trace(svm, start=(0.4, 1.6), stop=(1.6, 0.4)).error_curve([[0.5], [2.5]], [-1, 1]).minimax()
        (Optimum(t in [0.277778, 0.722222), fpr 0, fnr 0, objective 0),)
        """
        from paretoclf.roc.error_curve import error_curve_of_scores  # a room above

        return error_curve_of_scores(self.scores(X), y, self.line)

    def _expand(self, points: Array) -> tuple[Array, Array, Array]:
        """Multipliers (n, k), caps (n, k) and intercepts (k,) at increasing points."""
        alpha = np.stack([self.alpha(float(t)) for t in points], axis=1)
        caps = np.stack([self.caps(float(t)) for t in points], axis=1)
        return alpha, caps, np.array([self.intercept(float(t)) for t in points])

    @property
    def certificate_points(self) -> Array:
        """Where `certificates` looks: every breakpoint and the middle of every piece, increasing."""
        ends = self.pieces.t
        points = np.empty(2 * ends.size - 1)
        points[::2] = ends
        points[1::2] = 0.5 * (ends[:-1] + ends[1:])
        return points

    @cached_property
    def _certificates(self) -> list[Certificate]:
        points = self.certificate_points
        out: list[Certificate] = []
        for first in range(0, points.size, _BLOCK):
            here = points[first : first + _BLOCK]
            alpha, caps, b = self._expand(here)
            if self.gram.features is None:
                out += certify_many(self.y, caps, alpha, b, K=self.gram.matrix, note=self.gram.note)
            else:
                W = None if self.pieces.w is None else np.stack([self.slope(float(t)) for t in here], axis=1)
                out += certify_many(self.y, caps, alpha, b, X=self.gram.features, W=W, note=self.gram.note)
        return out

    def value_errors(self) -> Array:
        """How far `value` is from the certified objective at `certificate_points`, relative; 0 up to its rounding."""
        points, V = self.certificate_points, self.pieces.value
        ends = np.concatenate([V[:1, 0], V[:, 1]])
        stored = np.empty(points.size)
        stored[::2], stored[1::2] = ends, 0.5 * (V[:, 0] + V[:, 1]) - 0.25 * V[:, 2]
        stored[[0, -1]] = [self.value(float(t)) for t in points[[0, -1]]]
        proved = np.array([c.primal_value for c in self._certificates])
        allowed = np.array([c.rounding for c in self._certificates])
        # What a unit in the last place of t makes of the value: all there is next to the origin.
        slope = np.abs(V[:, 1] - V[:, 0]) / np.diff(self.pieces.t)
        allowed[1::2] += 4 * np.finfo(float).eps * slope
        allowed[:-1:2] += 4 * np.finfo(float).eps * slope
        allowed[2::2] += 4 * np.finfo(float).eps * slope
        return np.asarray(np.maximum(np.abs(stored - proved) - allowed, 0.0) / np.maximum(np.abs(proved), 1e-300))

    def certificates(self) -> list[Certificate]:
        """One certificate per breakpoint and per middle of a piece, in the order of `certificate_points`."""
        return list(self._certificates)

    @property
    def worst_certificate(self) -> Certificate:
        """The certificate with the largest residual or gap."""
        return max(self._certificates, key=lambda c: np.max([c.residual, abs(c.gap)]))

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the path to an npz file (to a temporary name first, then renamed); `paretoclf.load_path` reads it."""
        from paretoclf.path.saved import write_path  # which needs this class

        write_path(self, file)

    def plot(self, ax: Any = None) -> Any:
        """Draw coefficients or multipliers and the duality gap; see `paretoclf.plotting.PathDisplay`."""
        from paretoclf.plotting.path import PathDisplay  # matplotlib only when a picture is wanted

        return PathDisplay.from_path(self).plot(ax=ax)
