"""The small records that the tracker of a box QP passes around: a line, a piece of solution, an event; and its log."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.checks import Array, Index, State
from paretoclf.path import extended
from paretoclf.path.quadratic import Multipliers
from paretoclf.tolerances import ROUNDING


@dataclass(frozen=True)
class Line:
    """Everything that moves with t in [0, 1].

    Caps are ``phi_0(t) bases[0] + phi_1(t) bases[1]`` with phi affine from ``start`` to ``stop`` (2,): for a line of
    the cost plane the bases are the weights of either class and phi its two costs. The right-hand sides e (m,) go from
    e0 to e_end. With ``to_zero`` it is followed no further than to where the multipliers eta add up to 0.
    """

    bases: Array
    start: Array
    stop: Array
    e0: Array
    e_end: Array
    to_zero: bool = False

    def affine(self) -> tuple[Array, Array]:
        """Phi and e as rows start, slope hi, slope lo: shapes (3, 2) and (3, m)."""
        return _affine(self.start, self.stop), _affine(self.e0, self.e_end)

    @property
    def c1(self) -> Array:
        """Slopes of the caps, shape (n,)."""
        return np.asarray((self.stop - self.start) @ self.bases)

    def caps(self, t: float, t_lo: float = 0.0) -> Array:
        """Caps at ``t + t_lo``: exact at both ends, and accurate relative to caps that vanish there."""
        phi = np.empty((2, 2))
        extended.line_at(_affine(self.start, self.stop), t, t_lo, phi)
        return np.asarray(phi[0] @ self.bases)


def _affine(start: Array, stop: Array) -> Array:
    out = np.empty((3, start.size))
    for j, (a, b) in enumerate(zip(start.tolist(), stop.tolist(), strict=True)):  # at most two: no work for NumPy
        slope = b - a
        z = slope - b
        out[:, j] = a, slope, (b - (slope - z)) + (-a - z)
    return out


class Log:
    """What a tracker found out, segment by segment, in arrays that grow.

    ``t`` (2, s) both ends; the margin set of segment j is ``index[ptr[j]:ptr[j + 1]]`` with multipliers ``a`` (2, .) at
    both ends; ``eta`` (s, 2, m); ``value`` (s, 3), the optimal value ``v0 + v1 f + v2 f**2`` at the share f of the
    segment; ``w`` (s, 2, d) if kept; ``changes`` (4, .): segment before which a sample changed its set, sample, old
    and new set. ``count`` (3,) tells how many segments, entries and changes there are.
    """

    def __init__(self, state: State, m: int, width: int) -> None:
        self.state = state.copy()
        self.count = np.zeros(3, dtype=np.int64)
        self.t = np.empty((2, 0))
        self.ptr: Index = np.zeros(1, dtype=np.int64)
        self.eta, self.value, self.w = np.empty((0, 2, m)), np.empty((0, 3)), np.empty((0, 2, width))
        self.index: Index = np.empty(0, dtype=np.int64)
        self.a = np.empty((2, 0))
        self.changes: Index = np.empty((4, 0), dtype=np.int64)

    def begin_again(self, state: State) -> None:
        """Forget everything, but for the memory it took."""
        self.state = state.copy()
        self.count[:] = 0

    @property
    def made(self) -> Index:
        """The changes so far, shape (4, .)."""
        return self.changes[:, : self.count[2]]

    def reserve(self, segments: int, entries: int, changes: int) -> None:
        """Make room for so many more."""
        need = [int(had) + more for had, more in zip(self.count, (segments, entries, changes), strict=True)]
        n = self.state.size  # a first guess: memory that is not used costs nothing
        if need[0] > self.t.shape[1]:
            rows = max(need[0], 2 * self.t.shape[1], min(3 * n, 2**22 // (self.w.shape[2] + 1)))
            self.t, self.ptr = _wider(self.t, rows), _wider(self.ptr, rows + 1)
            self.eta, self.value, self.w = (_longer(x, rows) for x in (self.eta, self.value, self.w))
        if need[1] > self.index.size:
            size = max(need[1], 2 * self.index.size, 64 * n)
            self.index, self.a = _wider(self.index, size), _wider(self.a, size)
        if need[2] > self.changes.shape[1]:
            self.changes = _wider(self.changes, max(need[2], 2 * self.changes.shape[1], 4 * n))

    def begin_at_zero(self, cap: Array) -> None:
        """Replace what the log has for the first segment by what is known of a path out of zero costs.

        There are no multipliers at its beginning, and at its end those are at their cap that are so up to rounding;
        ``cap`` are the caps at t = 1.
        """
        first = slice(0, int(self.ptr[1]))
        full = self.t[1, 0] * cap[self.index[first]]
        self.a[1, first] = np.where(np.abs(self.a[1, first] - full) <= 8 * ROUNDING * full, full, self.a[1, first])
        self.a[0, first] = 0.0
        self.w[0, 0] = 0.0
        self.value[0, 0] = 0.0


def _wider(x: Any, size: int) -> Any:
    out = np.empty((*x.shape[:-1], size), dtype=x.dtype)
    out[..., : x.shape[-1]] = x
    return out


def _longer(x: Array, size: int) -> Array:
    out = np.empty((size, *x.shape[1:]))
    out[: x.shape[0]] = x
    return out


@dataclass
class Piece:
    """Solution on one basis around t + t_lo: multipliers, ``Q a`` and gradient with their rates and error bounds."""

    t: float
    t_lo: float
    value: Multipliers
    rate: Multipliers
    cap: Array
    q: Array
    dq: Array
    g: Array
    dg: Array
    g_scale: Array
    g_error: Array
    dg_error: Array
    w: Array | None
    dw: Array | None


@dataclass(frozen=True)
class Entering:
    """A sample about to join the margin set: its column of the factor, and what is left of its gradient."""

    row: Array = field(repr=False)
    pivot: float
    u: Array = field(repr=False)
    dependent: bool
    g: float


@dataclass(frozen=True)
class Event:
    """What happens after a step dt: kind, and position in the margin set (or the sample, if it enters)."""

    kind: int
    position: int
    dt: float
    entering: Entering | None
