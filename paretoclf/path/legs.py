"""Following a line of caps with a tracker, leg by leg; what every kind of path needs of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from tqdm import tqdm

from paretoclf.checks import Array, Mask
from paretoclf.path.build import Leg
from paretoclf.path.engines import Tracker
from paretoclf.path.segments import Line
from paretoclf.progress import shows_progress
from paretoclf.tolerances import END_OF_LINE

_STAGE = 1e-3  # a line into vanishing costs is traced in stages, each this share of the one before
_REST = 1e-9  # on the last stage nothing happens: what double precision sees this near to its end is rounding
_LEFT = 1e-9  # of multipliers: more than rounding leaves of them, and far less than a wrong basis does
_TWICE = 1e-25  # of the largest cap: rounding of a multiplier in twice the precision
_DIGITS = 8  # and nearer to the end than so many units in its last place t has no digits left


def straight(problem: Tracker, bases: Array, a: Array, b: Array) -> Line:
    """Line on which only caps move: ``phi`` from a to b, right-hand sides zero."""
    return Line(bases, a, b, np.zeros(problem.m), np.zeros(problem.m))


def follow_leg(
    problem: Tracker,
    t_from: float,
    t_to: float,
    max_events: int | None = None,
    progress: Callable[[float], Any] | None = None,
) -> Leg:
    """Follow the line that the tracker is on, which the path has as [t_from, t_to]."""
    seen, width = 0.0, abs(t_to - t_from)

    def report(u: float) -> None:
        nonlocal seen
        if progress is not None:
            progress(width * (u - seen))
        seen = u

    first = problem.segments
    problem.follow(max_events, report)
    return Leg(first, problem.segments, t_from, t_to)


@dataclass(frozen=True)
class Walk:
    """A tracker that is walked along straight lines of caps.

    Attributes
    ----------
    problem : Tracker
    bases : array of shape (2, n)
        See `Line`.
    inside : bool array of shape (n,)
        Samples with a cap on the line.
    max_events : int, optional
        Limit for each leg.
    progress : callable, optional
        Told by how much of the path each step has advanced.
    """

    problem: Tracker
    bases: Array
    inside: Mask
    max_events: int | None = None
    progress: Callable[[float], Any] | None = None

    def leg(self, t_from: float, t_to: float, line: Line | None = None, end: float = END_OF_LINE) -> Leg:
        """Follow a line (or the one that the tracker is on), which the path has as [t_from, t_to]."""
        if line is not None:
            self.problem.set_line(line, end)
        return follow_leg(self.problem, t_from, t_to, self.max_events, self.progress)

    def legs(self, a: Array, b: Array, t_from: float, t_to: float, nothing: bool = False) -> list[Leg]:
        """Follow from a to b; where a cap vanishes at b, in stages until nothing happens any more.

        ``nothing``: whether all multipliers vanish at b. On the last basis they do, too.
        """
        if ((b @ self.bases)[self.inside] > 0.0).all():
            return [self.leg(t_from, t_to, straight(self.problem, self.bases, a, b))]
        legs: list[Leg] = []
        here, t = a, t_from
        while True:
            rest = straight(self.problem, self.bases, here, b)
            self.problem.set_line(rest)
            t_near = t_to + _STAGE * (t - t_to)
            done = self.problem.quiet() and not (nothing and self._something_left())
            if done or abs(t_near - t_to) < _DIGITS * np.spacing(t_to):
                return [*legs, self.leg(t, t_to, rest, _REST if done else END_OF_LINE)]
            share = (t_near - t_to) / (t_from - t_to)  # t_near is rounded, and caps must be those that it has
            near = (1 - share) * b + share * a
            legs.append(self.leg(t, t_near, straight(self.problem, self.bases, here, near)))
            here, t = near, t_near

    def _something_left(self) -> bool:
        """Whether multipliers would be left at the end of the line, if nothing happened on it."""
        before, after = (float(np.abs(self.problem.solution(u).a[0]).max(initial=0.0)) for u in (0.0, 1.0))
        rounding = _TWICE * float(self.problem.line.caps(0.0).max())
        return after > max(_LEFT * before, rounding)  # a margin set may be at 0 all along


@contextmanager
def meter(progress: bool | None) -> Iterator[Callable[[float], Any] | None]:
    """Progress bar to update, or None; by default on a terminal."""
    if not shows_progress(progress):
        yield None
        return
    layout = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}"
    with tqdm(total=1.0, desc="trace", leave=False, bar_format=layout) as bar:
        yield bar.update
