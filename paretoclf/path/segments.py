"""The small records that the tracker of a box QP passes around: a line, a piece of solution, an event, a segment."""

from __future__ import annotations

from dataclasses import dataclass, field

from paretoclf.checks import Array, Index
from paretoclf.path.quadratic import Multipliers


@dataclass(frozen=True)
class Line:
    """Everything that moves with t in [0, 1]: caps from c0 to c_end, right-hand sides from e0 to e_end."""

    c0: Array
    c_end: Array
    e0: Array
    e_end: Array

    @property
    def c1(self) -> Array:
        """Slopes of the caps."""
        return self.c_end - self.c0

    def caps(self, t: float, t_lo: float = 0.0) -> Array:
        """Caps at ``t + t_lo``: exact at both ends, and accurate relative to caps that vanish there."""
        return ((1.0 - t) - t_lo) * self.c0 + (t + t_lo) * self.c_end


@dataclass(frozen=True)
class Segment:
    """The solution over [t0, t1]: margin set with multipliers and eta at both ends; others sit at their bounds."""

    t0: float
    t1: float
    index: Index = field(repr=False)
    a0: Array = field(repr=False)
    a1: Array = field(repr=False)
    eta0: Array = field(repr=False)
    eta1: Array = field(repr=False)
    w0: Array | None = field(repr=False)
    w1: Array | None = field(repr=False)
    value: tuple[float, float, float]  # optimal value -V at the share f of the segment: v0 + v1 f + v2 f**2
    changes: list[tuple[int, int]] = field(repr=False)  # (index, new state) since the segment before


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
    """A sample about to join the margin set: its row of the factor, and what is left of its gradient."""

    row: Array
    pivot: float
    u: Array
    dependent: bool
    g: float


@dataclass(frozen=True)
class Event:
    """What happens after a step dt: kind, and position in the margin set (or the sample, if it enters)."""

    kind: int
    position: int
    dt: float
    entering: Entering | None
