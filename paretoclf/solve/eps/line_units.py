r"""Units in which the numbers of a line are near 1: powers of two, so that a line is scaled, and pairs are, exactly.

With :math:`x=2^au` all sides are divided by :math:`2^a`, and so are slacks, which stay in their cones; with an
objective in units of :math:`2^c` multipliers are divided by :math:`2^{c-a}`. A solver's tolerances, and where a search
begins to call a value small, are absolute numbers: prices of 1e8, or lengths of 1e-6, are beyond them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.proof.bands.cone_line import ConeLine

#: Numbers that are no farther from 1 than this power of two are left as they are.
_PLAIN = 10

#: Pairs as raw arrays t, x, y, z.
Points = tuple[Array, Array, Array, Array]


@dataclass(frozen=True)
class LineUnits:
    """Units of points and of values, powers of two.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.solve.eps.line_units import LineUnits
    >>> units = LineUnits(2.0**-20, 2.0**10)
    >>> ones = np.ones((1, 1))
    >>> t, x, y, z = units.back((np.zeros(1), ones, ones, ones))
    >>> float(x[0, 0]) == 2.0**-20, float(z[0, 0]) == 2.0**30
    (True, True)
    """

    points: float
    values: float

    @classmethod
    def of(cls, line: ConeLine) -> LineUnits:
        """Units in which the median of the sides, and that of the costs, is near 1; 1 where it is not far from that.

        Lines whose coefficients move, or whose P was shifted, are left as they are.
        """
        if not line.stands or line.shift is not None or line.lacks is not None:
            return cls(1.0, 1.0)
        of_points = _unit(line.b)
        return cls(of_points, _unit(of_points * line.q))

    @property
    def plain(self) -> bool:
        """Whether nothing is scaled."""
        return self.points == self.values == 1.0

    def scaled(self, line: ConeLine) -> ConeLine:
        """The line in these units."""
        costs = self.points / self.values
        numbers: dict[str, Any] = {
            "P": line.P * (self.points * costs),
            "q": line.q * costs,
            "b": line.b / self.points,
            "constant": line.constant / self.values,
        }
        return replace(line, **numbers)

    def into(self, points: Points) -> Points:
        """Pairs in these units."""
        return LineUnits(1.0 / self.points, 1.0 / self.values).back(points)

    def back(self, points: Points) -> Points:
        """Pairs of the scaled line in the units of the line."""
        t, x, y, z = points
        return t, x * self.points, y * self.points, z * (self.values / self.points)


def _unit(numbers: Array) -> float:
    """The power of two next to the median of the sizes of numbers that are not 0; 1 where that is near 1."""
    sizes = np.abs(numbers[numbers != 0.0])
    power = round(math.log2(float(np.median(sizes)))) if sizes.size else 0
    return 2.0**power if abs(power) > _PLAIN else 1.0
