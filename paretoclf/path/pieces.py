"""Pieces: the stored form of a path, and what every path reads from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoclf.certificate import Certificate
from paretoclf.checks import Array, Index, State
from paretoclf.errors import InputError
from paretoclf.gram import Gram
from paretoclf.path.events import LEFT, MARGIN, RIGHT
from paretoclf.path.scores import PathScores
from paretoclf.samples import squares

if TYPE_CHECKING:
    from paretoclf.roc.error_curve import ErrorCurve

_SETS = {RIGHT: "R", LEFT: "L", MARGIN: "M"}


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
    (3, m): piece, sample, set. ``rho0``, ``rho1`` (k,): margins of a 2nu-SVM.
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
    rho0: Array = field(default_factory=lambda: np.zeros(0))
    rho1: Array = field(default_factory=lambda: np.zeros(0))


class OnPieces:
    """What is common to paths whatever their parameter t is, from ``pieces.t[0]`` to ``pieces.t[-1]``."""

    gram: Gram
    y: Array
    pieces: Pieces

    @property
    def parameter(self) -> str:
        """What messages call t."""
        return "t"

    def costs(self, t: float) -> Any:
        """Costs at t; None where there are none."""
        raise NotImplementedError

    def scores(self, X: Any) -> PathScores:
        """Scores of new samples as an exact piecewise affine function of t."""
        raise NotImplementedError

    def _largest_value(self, Z: Any) -> float:
        """A bound on the kernel values that scores are summed from; Z has features of new samples, or those values."""
        features = self.gram.features
        if features is None:
            return float(np.abs(Z).max(initial=0.0))
        return float(np.sqrt(squares(Z).max(initial=0.0) * squares(features).max(initial=0.0)))

    @cached_property
    def _certificates(self) -> list[Certificate]:
        """One certificate per certificate point."""
        raise NotImplementedError

    @property
    def breakpoints(self) -> Array:
        """Ends of the pieces, increasing: where a set changes, and where two traced stretches meet.

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

    def _locate(self, t: float) -> tuple[int, float]:
        ends = self.pieces.t
        if not ends[0] <= t <= ends[-1]:
            raise InputError(f"{self.parameter} must lie in [{ends[0]:g}, {ends[-1]:g}], got {t!r}")
        j = min(int(np.searchsorted(ends, t, side="right")) - 1, ends.size - 2)
        return j, float((t - ends[j]) / (ends[j + 1] - ends[j]))

    def value(self, t: float) -> float:
        """Optimal value at t: piecewise quadratic, and concave."""
        j, f = self._locate(t)
        start, end, bend = self.pieces.value[j]
        chord = start + f * (end - start) if f <= 0.5 else end - (1 - f) * (end - start)  # exact at both ends
        return float(chord - f * (1 - f) * bend)

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
        return self._basis(self._locate(t)[0])

    def _basis(self, j: int) -> tuple[State, Index]:
        return self._state(j), self.pieces.index[self.pieces.ptr[j] : self.pieces.ptr[j + 1]]

    def _margin(self, j: int, share: float) -> tuple[Index, Array]:
        P, part = self.pieces, slice(self.pieces.ptr[j], self.pieces.ptr[j + 1])
        return P.index[part], (1 - share) * P.a0[part] + share * P.a1[part]

    @property
    def certificate_points(self) -> Array:
        """Where `certificates` looks: every breakpoint and the middle of every piece, increasing."""
        ends = self.pieces.t
        points = np.empty(2 * ends.size - 1)
        points[::2] = ends
        points[1::2] = 0.5 * (ends[:-1] + ends[1:])
        return points

    def value_errors(self) -> Array:
        """How far `value` is from the certified objective at `certificate_points`, relative; 0 up to its rounding."""
        points, V = self.certificate_points, self.pieces.value
        ends = np.concatenate([V[:1, 0], V[:, 1]])
        stored = np.empty(points.size)
        stored[::2], stored[1::2] = ends, 0.5 * (V[:, 0] + V[:, 1]) - 0.25 * V[:, 2]
        stored *= self._value_units(points)
        stored[[0, -1]] = [self.value(float(t)) for t in points[[0, -1]]]
        proved = np.array([c.primal_value for c in self._certificates])
        allowed = np.array([c.rounding for c in self._certificates])
        # What a unit in the last place of t makes of the value: all there is next to the origin.
        slope = np.abs(V[:, 1] - V[:, 0]) / np.diff(self.pieces.t)
        allowed[1::2] += 4 * np.finfo(float).eps * slope
        allowed[:-1:2] += 4 * np.finfo(float).eps * slope
        allowed[2::2] += 4 * np.finfo(float).eps * slope
        return np.asarray(np.maximum(np.abs(stored - proved) - allowed, 0.0) / np.maximum(np.abs(proved), 1e-300))

    def _value_units(self, points: Array) -> Array:
        """What the stored values are to be multiplied by at some points."""
        return np.ones(points.size)

    def certificates(self) -> list[Certificate]:
        """One certificate per breakpoint and per middle of a piece, in the order of `certificate_points`."""
        return list(self._certificates)

    @property
    def worst_certificate(self) -> Certificate:
        """The certificate with the largest residual or gap."""
        return max(self._certificates, key=lambda c: np.max([c.residual, abs(c.gap)]))

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

        line = getattr(self, "line", None)  # of a path through the cost plane
        return error_curve_of_scores(self.scores(X), y, line, self.parameter)

    def plot(self, ax: Any = None) -> Any:
        """Draw the solution and the duality gap; see `paretoclf.plotting.PathDisplay`."""
        from paretoclf.plotting.path import PathDisplay  # matplotlib only when a picture is wanted

        return PathDisplay.from_path(self).plot(ax=ax)
