"""Held-out scores along a path, as an exact piecewise affine function of the path parameter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paretoclf.common.checks import Array, Index, keep
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import SCORE_TIE


@dataclass(frozen=True, repr=False)
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
    note : str
        Whose scores they are, where not those of an optimum; results counted from them have the same note.
    """

    t: Array
    start: Array
    end: Array
    note: str = ""

    def __post_init__(self) -> None:
        keep(self, "t", "start", "end")

    def __repr__(self) -> str:
        samples, pieces = self.start.shape
        size = f"{samples} samples, {pieces} pieces from {self.t[0]:g} to {self.t[-1]:g}"
        return f"PathScores({size}{also(self.note)})"

    def __call__(self, t: float | Array) -> Array:
        """Scores at t: shape (m,) for a number, (m, len(t)) for an array. Right-continuous at jumps."""
        at = np.atleast_1d(np.asarray(t, dtype=float))
        inside = (at >= self.t[0]) & (at <= self.t[-1])
        if not inside.all():
            raise InputError(f"t must lie in [{self.t[0]:g}, {self.t[-1]:g}], got {at[~inside][0]}")
        last = self.start.shape[1] - 1
        piece = np.clip(np.searchsorted(self.t, at, side="right") - 1, 0, last)
        left, right = self.t[piece], self.t[piece + 1]
        share = (at - left) / (right - left)
        values = (1 - share) * self.start[:, piece] + share * self.end[:, piece]
        return np.asarray(values[:, 0] if np.ndim(t) == 0 else values)

    @cached_property
    def rounding(self) -> Array:
        """Bound on the rounding of each sample's scores, shape (m,): two that are closer than their sum are ties."""
        largest = [np.maximum(each.max(axis=1), -each.min(axis=1)) for each in (self.start, self.end)]
        return np.asarray(SCORE_TIE * np.maximum(*largest))

    def positive(self) -> tuple[Array, Index]:
        """Length of t on which each score is >= 0, and number of changes of its label: two arrays of shape (m,).

        A score that only touches zero does not change its label; one that stays at zero is labelled +1.
        """
        start, end = self.start, self.end
        first = (start > 0) | ((start == 0) & (end >= 0))
        last = (end > 0) | ((end == 0) & (start >= 0))
        larger, smaller = np.maximum(start, end), np.minimum(start, end)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(first == last, first, larger / (larger - smaller))
        in_pieces = (first != last).sum(axis=1)
        at_knots = (last[:, :-1] != first[:, 1:]).sum(axis=1)
        return np.asarray(share @ np.diff(self.t)), in_pieces + at_knots


def also(note: str) -> str:
    """Return a note as the end of a text in parentheses; nothing where there is no note."""
    return f"; {note}" if note else ""


def note_of(scores: Iterable[PathScores]) -> str:
    """Join the notes of several scores that are counted together, each once."""
    return "; ".join(dict.fromkeys(each.note for each in scores if each.note))
