"""The path of a parametric program as an engine found it, with why it ends where it does."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from paretoclf.common.checks import State
from paretoclf.problem.piecewise import Piecewise


@dataclass(frozen=True, eq=False)
class Trace:
    """A path from t = 0, and its ending.

    Attributes
    ----------
    path : Piecewise
        Its last t is 1 where ``status`` is "end". It has one segment of no length where there is one optimum at the
        start and none beyond, and no segment where there is none at the start.
    status : str
        ``"end"``; ``"infeasible"`` or ``"unbounded"`` for every later t, with the ray; ``"limit"`` where as many
        exchanges were made, or as much time was taken, as were allowed; ``"interrupted"`` by the keyboard.
    ray : array of shape (items,), optional
        A direction: of values where it is unbounded, of multipliers where it is infeasible.
    exchanges : int
    item : int
        Where it is infeasible since the two bounds of one item cross: that item; else -1.
    """

    path: Piecewise
    status: str
    ray: Any = field(default=None, repr=False)
    exchanges: int = 0
    item: int = -1

    @property
    def t(self) -> Any:
        """Ends of the segments, shape (k + 1,)."""
        return self.path.t

    @property
    def segments(self) -> int:
        """Number of segments."""
        return self.path.segments

    @cached_property
    def labels(self) -> State:
        """Labels on all segments, shape (k, items)."""
        return self.path.labels()

    @cached_property
    def v(self) -> Any:
        """Values of all items at both ends of each segment, shape (k, 2, items)."""
        return self.path.whole()[0][self.path.ends]

    @cached_property
    def y(self) -> Any:
        """Multipliers of all items at both ends of each segment, shape (k, 2, items)."""
        return self.path.spread()[1]
