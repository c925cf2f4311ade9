"""Weights of the two ends of a segment, by which what is stored of it is interpolated."""

from __future__ import annotations

from typing import Any, NamedTuple


class Shares(NamedTuple):
    """Weights of the two ends of a segment at a point of it.

    Each is accurate relative to itself: so is what vanishes at an end and is interpolated with them.
    """

    before: Any
    after: Any

    @classmethod
    def of(cls, t: float, start: float, end: float) -> Shares:
        """Weights of start and end at a point t between them; on a segment without length all weight is at start."""
        length = end - start
        if not length:
            return cls(1.0, 0.0)
        return cls((end - t) / length, (t - start) / length)

    @property
    def whole(self) -> Shares:
        """Weights that add up to exactly 1: what is constant on the segment is interpolated without rounding."""
        return Shares(1.0 - self.after, self.after)

    def between(self, start: Any, end: Any) -> Any:
        """Interpolate linearly between the values at start and end."""
        return self.before * start + self.after * end

    def parabola(self, start: Any, end: Any, bend: Any) -> Any:
        """Interpolate along a parabola that is a quarter of the bend below the chord in its middle."""
        chord = self.between(start, end)
        return chord - self.before * self.after * bend
