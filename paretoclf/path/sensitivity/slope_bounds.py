"""Bounds of the slopes of an optimal value in a direction of the parameters, for any convex problem: from short paths.

A convex problem with norms, logarithms or semidefinite matrices has no exact path, and its solution no rates that could
be proved. Its optimal value has bounds at every point of a short line through the present one, and the slopes of these
bounds are slopes of the value where that is concave or convex (`paretoclf.path.programs.eps_path.ConePath.slopes`). The
shorter the line, the less the value bends on it and the more its bounds are apart: several lengths are tried.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.path.programs.eps_path import NO_SLOPES, ConePath, SlopeBounds
from paretoclf.path.tracing import trace

#: Half lengths of lines, in units of the parameters, and within what of the value; the next where one is a floor.
_LENGTHS, _WITHIN = (1e-2, 1e-3, 1e-4), (1e-8, 1e-7, 1e-6)


def slope_bounds(problem: Any, values_at: Callable[[float], Any], unit: float, most: float) -> SlopeBounds:
    """Bounds of the slopes at 0, for a unit of the direction; ``values_at`` has the parameters on the line.

    ``most`` is how far they may go on both sides. InputError if they may not, the problem has no path within eps, or
    there is no optimum on both sides; DegeneratePathError if nothing is proved.
    """
    if most == 0.0:
        raise InputError(
            "direction must be one in which the parameters may move both ways, as the problem has cones, got one that "
            "leaves what they allow"
        )
    found, refused = [], None
    for length in (min(each * unit, most) for each in _LENGTHS):
        for eps in _WITHIN:
            try:
                path = trace(problem, values_at(-length), values_at(length), eps=eps, progress=False)
            except DegeneratePathError as error:
                refused = error
                continue
            if not isinstance(path, ConePath):  # coefficients of an equation move
                raise InputError(NO_SLOPES)
            if path.t[-1] > 0.5:
                slope = path.slopes(0.5)
                found.append((slope, slope.lower / (2 * length), slope.upper / (2 * length)))
            break
    if not found:
        raise refused or InputError("problem must have an optimum on both sides of the point, got one on one side only")
    return replace(found[0][0], t=0.0, lower=max(low for _, low, _ in found), upper=min(high for _, _, high in found))
