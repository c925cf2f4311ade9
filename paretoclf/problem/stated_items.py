"""What labels of a path need of its problem, where there are no data: as a file has it."""

from __future__ import annotations

from dataclasses import dataclass

from paretoclf.common.checks import Array

#: Names of the bounds of items, and of what the objective grows by beyond them.
SIDES = ("lower", "upper", "below", "above")


@dataclass(frozen=True)
class StatedItems:
    """Bounds and prices of the items of a problem, of which the first ``n`` are variables; as `ParametricQP` has them.

    Attributes
    ----------
    n : int
    lower, upper, below, above : arrays of shape (2, items)
    """

    n: int
    lower: Array
    upper: Array
    below: Array
    above: Array

    @property
    def items(self) -> int:
        """Number of variables and rows."""
        return int(self.lower.shape[1])
