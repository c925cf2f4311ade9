"""Held-out scores along a path, as an exact piecewise affine function of the path parameter."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from paretoclf.checks import Array, Index, keep
from paretoclf.errors import InputError


@dataclass(frozen=True)
class PathScores:
    """Scores of m samples along a path: affine on each piece, with jumps only where the intercept jumps.

    Attributes
    ----------
    t : array of shape (k + 1,)
        Ends of the k pieces: increasing (from 0 to 1 along a line of the cost plane).
    start : array of shape (m, k)
        Scores at the beginning of each piece (limit from the right at ``t[j]``).
    end : array of shape (m, k)
        Scores at the end of each piece (limit from the left at ``t[j + 1]``).
    """

    t: Array
    start: Array = field(repr=False)
    end: Array = field(repr=False)

    def __post_init__(self) -> None:
        keep(self, "t", "start", "end")

    def __call__(self, t: float | Array) -> Array:
        """Scores at t: shape (m,) for a number, (m, len(t)) for an array. Right-continuous at jumps."""
        at = np.atleast_1d(np.asarray(t, dtype=float))
        inside = (at >= self.t[0]) & (at <= self.t[-1])
        if not inside.all():
            raise InputError(f"t must lie in [{self.t[0]:g}, {self.t[-1]:g}], got {at[~inside][0]}")
        piece = np.clip(np.searchsorted(self.t, at, side="right") - 1, 0, self.start.shape[1] - 1)
        share = (at - self.t[piece]) / (self.t[piece + 1] - self.t[piece])
        values = (1 - share) * self.start[:, piece] + share * self.end[:, piece]
        return np.asarray(values[:, 0] if np.ndim(t) == 0 else values)

    def positive(self) -> tuple[Array, Index]:
        """How long each score is >= 0, in units of t, and how often it changes its label: two arrays of shape (m,).

        A score that only touches zero does not change its label; one that stays at zero is labelled +1.
        """
        a, c = self.start, self.end
        first, last = (a > 0) | ((a == 0) & (c >= 0)), (c > 0) | ((c == 0) & (a >= 0))
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(first == last, first, np.maximum(a, c) / (np.maximum(a, c) - np.minimum(a, c)))
        changes = (first != last).sum(axis=1) + (last[:, :-1] != first[:, 1:]).sum(axis=1)
        return np.asarray(share @ np.diff(self.t)), changes
