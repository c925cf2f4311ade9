r"""Bounds of every variable that the constraints of a cone program, and a ceiling on its objective, imply.

Each cone is replaced by half-spaces that contain it: :math:`t\pm v_k\ge0` of a second-order cone,
:math:`S_{ii}+S_{jj}\pm2S_{ij}\ge0` of a matrix, tangents :math:`z\ge e^cx+(1-c)e^cy` of an exponential cone,
:math:`ax+(1-a)y\pm z\ge0` of a power cone. Then the bounds of all other variables in a row give one of each variable,
again and again. Variables that no single row bounds may be bounded by several: where the values :math:`s` of some rows
are bounded and these determine :math:`x`, then :math:`x=A^+(b-s)`. Every bound is moved outwards by more than its
rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index
from paretoclf.proof.cones.cone_kinds import blocks
from paretoclf.proof.cones.half_spaces import HalfSpaces

if TYPE_CHECKING:
    from paretoclf.proof.cones.cone_program import ConeProgram

#: Bounds are moved outwards by this share of the terms they are made of.
OUTWARDS = 1e-9

#: Rounds of propagation. Bounds that are still moving after so many move by little, or for ever.
_ROUNDS = 40

#: Rows and variables up to which systems of several rows are solved, and the curvature of a quadratic is computed.
_DENSE = 1500


def implied_box(program: ConeProgram, ceiling: float = np.inf) -> tuple[Array, Array]:
    r"""Lower and upper bounds of every x with ``b - A x`` in the cones and objective at most the ceiling.

    Parameters
    ----------
    program : ConeProgram
        The constraints and the objective.
    ceiling : float
        Bound on ``x'Px/2 + q'x``.

    Returns
    -------
    lower, upper : arrays of shape (n,)
        Infinite where nothing bounds a variable. ``lower > upper`` somewhere: there is no such x.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.cones.cone_judge import ConeProgram
    >>> from paretoclf.proof.cones.implied_bounds import implied_box
    >>> from paretoclf.proof.cones.cone_kinds import Cone
    >>> rows = [[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]]
    >>> program = ConeProgram(np.zeros((2, 2)), np.zeros(2), rows, [0.0, 0, 3], [Cone("nonnegative", 3)])
    >>> implied_box(program)[1].round(6)
    array([3., 3.])
    """
    rows, sides = program.half_spaces, program.half_spaces.at(program.b)
    count, curvature = program.q.size, program.curvature
    lower, upper = np.full(count, -np.inf), np.full(count, np.inf)
    for _ in range(_ROUNDS):
        before = lower, upper
        lower, upper = _from_rows(rows, sides, lower, upper)
        if np.isfinite(ceiling):
            lower, upper = _from_objective(curvature, program.q, ceiling, lower, upper)
        if (lower > upper).any():
            break
        bounded = np.isfinite(lower) & np.isfinite(upper)
        if bounded.all() or _stalled(before, (lower, upper)):
            propagated = lower, upper
            lower, upper = _from_systems(program, lower, upper)
            if (lower > upper).any() or _stalled(propagated, (lower, upper)):
                break
    return lower, upper


def _stalled(before: tuple[Array, Array], after: tuple[Array, Array]) -> bool:
    """Whether no bound became finite, or smaller by a tenth."""
    for old, new in zip(before, after, strict=True):
        known = np.isfinite(old)
        if (np.isfinite(new) & ~known).any():
            return False
        change = np.abs(new[known] - old[known])
        if (change > 0.1 * (1 + np.abs(new[known]))).any():
            return False
    return True


def _from_rows(rows: HalfSpaces, sides: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Bound each variable by a row and the bounds of the row's other variables."""
    row, column, value = rows.row, rows.column, rows.value
    uncertain = value == 0  # a coefficient that cannot be told from 0
    with np.errstate(invalid="ignore"):
        reach = np.maximum(np.abs(lower), np.abs(upper))
        around = np.where(rows.spread > 0, rows.spread * reach[column], 0.0)
        product = value * np.where(value > 0, lower[column], upper[column])
        least = np.where(uncertain, 0.0, product)
    infinite = ~np.isfinite(least) | (uncertain & ~np.isfinite(around))
    finite = np.where(infinite, 0.0, np.where(uncertain, -around, least))
    total = np.bincount(row, finite, sides.size)
    terms = np.bincount(row, np.abs(finite), sides.size)
    terms = terms + np.abs(sides)
    missing = np.bincount(row, infinite, sides.size)
    # Entries whose row has bounds of all other variables.
    use = (missing[row] - infinite == 0) & ~uncertain
    row, column = row[use], column[use]
    value, own = value[use], finite[use]
    bound = (sides[row] - (total[row] - own)) / value
    outwards = np.sign(value) * OUTWARDS * terms[row]
    bound = bound + outwards / np.abs(value)
    lower, upper = lower.copy(), upper.copy()
    above, below = value > 0, value < 0
    np.minimum.at(upper, column[above], bound[above])
    np.maximum.at(lower, column[below], bound[below])
    return lower, upper


def _from_objective(curvature: Array, costs: Array, ceiling: float, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Bound each term ``c x^2 / 2 + q x`` by the ceiling less the smallest values of the others, and x by its term."""
    least = _least_terms(curvature, costs, lower, upper)
    infinite = ~np.isfinite(least)
    if infinite.sum() > 1:
        return lower, upper
    finite = np.where(infinite, 0.0, least)
    slack = ceiling - (finite.sum() - finite)
    terms = float(np.abs(finite).sum())
    slack = slack + OUTWARDS * (abs(ceiling) + terms)
    # If one term has no bound the others bound it, and no other.
    slack = np.where(infinite | (infinite.sum() == 0), slack, np.inf)
    convex = curvature > 0
    linear = ~convex & ~(curvature < 0)
    bent = np.where(convex, curvature, 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        centre = -costs / bent
        square = (costs / bent) ** 2 + 2 * slack / bent
        half = np.sqrt(np.maximum(square, 0.0)) * (1 + OUTWARDS)
        rises, falls = (costs > 0) & linear, (costs < 0) & linear
        high = np.where(rises, slack / np.where(costs > 0, costs, 1.0), np.inf)
        low = np.where(falls, slack / np.where(costs < 0, costs, -1.0), -np.inf)
        high = np.where(convex, centre + half, high)
        low = np.where(convex, centre - half, low)
    return np.maximum(lower, low), np.minimum(upper, high)


def _least_terms(curvature: Array, costs: Array, lower: Array, upper: Array) -> Array:
    """The smallest value of each term ``c x^2 / 2 + q x`` between bounds."""
    convex, concave = curvature > 0, curvature < 0
    bent = np.where(convex, curvature, 1.0)
    nearest = np.clip(-costs / bent, lower, upper)
    with np.errstate(invalid="ignore", over="ignore"):  # a term beyond all doubles counts as one without a bound
        linear = np.where(costs > 0, costs * lower, costs * upper)
        linear = np.where(costs == 0, 0.0, linear)
        least = np.where(convex, 0.5 * bent * nearest**2 + costs * nearest, linear)
        ends = [0.5 * curvature * edge**2 + costs * edge for edge in (lower, upper)]
        at_ends = np.minimum(*np.where(np.isfinite(ends), ends, -np.inf))
    return np.where(concave, at_ends, least)


@dataclass(frozen=True)
class _BoundedRows:
    """Equations ``M x = middle +- radius`` in the variables ``free`` that have no bounds."""

    M: Array
    middle: Array
    radius: Array
    free: Index

    def determined(self) -> _BoundedRows:
        """Leave out variables that the equations do not determine, and the rows that they are in."""
        product = np.linalg.pinv(self.M) @ self.M
        error = np.abs(product - np.eye(self.free.size))
        determined = ~(error.max(axis=1) > 1e-8)
        rows = ~(self.M[:, ~determined] != 0).any(axis=1)
        matrix = self.M[rows][:, determined]
        return _BoundedRows(matrix, self.middle[rows], self.radius[rows], self.free[determined])


def _from_systems(program: ConeProgram, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Bound the variables that several rows of bounded value determine together."""
    free = np.flatnonzero(~(np.isfinite(lower) & np.isfinite(upper)))
    if free.size == 0 or free.size > _DENSE:
        return lower, upper
    low, high = _row_values(program, lower, upper)
    rows = np.flatnonzero(np.isfinite(low) & np.isfinite(high))
    if rows.size == 0 or rows.size > 4 * _DENSE:
        return lower, upper
    values = low[rows], high[rows]
    system = _system_of(program, (rows, free), values, (lower, upper)).determined()
    if 0 in system.M.shape:
        return lower, upper
    inverse = np.linalg.pinv(system.M)
    error = np.abs(inverse @ system.M - np.eye(system.free.size))
    contraction = float(error.sum(axis=1).max())
    if not contraction < 1e-6:
        return lower, upper
    centre = inverse @ system.middle
    radius = system.radius + OUTWARDS * np.abs(system.middle)
    reach = np.abs(inverse) @ radius
    # x = inverse (middle +- radius) + (1 - inverse M) x, and |x| is at most its bound over 1 - contraction.
    largest = float(np.max(np.abs(centre) + reach))
    reach = reach + contraction * largest / (1 - contraction)
    reach = reach + OUTWARDS * np.abs(centre)
    lower, upper = lower.copy(), upper.copy()
    lower[system.free] = np.maximum(lower[system.free], centre - reach)
    upper[system.free] = np.minimum(upper[system.free], centre + reach)
    return lower, upper


def _system_of(
    program: ConeProgram, at: tuple[Index, Index], values: tuple[Array, Array], bounds: tuple[Array, Array]
) -> _BoundedRows:
    """Rows of bounded value as equations in the variables without bounds, the others at the centre of theirs."""
    rows, free = at
    lower, upper = bounds
    low, high = values
    known = np.setdiff1d(np.arange(lower.size), free)
    part = sp.csr_array(program.A)[rows]
    others = part[:, known]
    centre = 0.5 * (lower[known] + upper[known])
    spread = 0.5 * (upper[known] - lower[known])
    sides = program.b[rows]
    middle = sides - 0.5 * (low + high) - others @ centre
    rounding = OUTWARDS * (np.abs(sides) + abs(others) @ abs(centre))
    radius = 0.5 * (high - low) + abs(others) @ spread + rounding
    return _BoundedRows(part[:, free].toarray(), middle, radius, free)


def _row_values(program: ConeProgram, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Bounds of every entry of ``b - A x``: those that the box gives, cut by those that the cones give."""
    low, high = _interval(program, lower, upper)
    for cone, at in blocks(program.cones):
        if cone.kind == "zero":
            low[at], high[at] = 0.0, 0.0
        elif cone.kind == "nonnegative":
            low[at] = np.maximum(low[at], 0.0)
        elif cone.kind == "second-order":
            size = high[at.start]
            tail = np.full(cone.order - 1, -size)
            low[at] = np.maximum(low[at], np.append(0.0, tail))
            high[at] = np.minimum(high[at], size)
        elif cone.kind == "psd":
            # No entry of such a matrix is larger than its largest diagonal entry.
            index = np.arange(cone.order)
            diagonal = high[at.start + index * (index + 3) // 2]
            size = max(diagonal.tolist()) * np.sqrt(2.0)
            low[at] = np.maximum(low[at], -size)
            high[at] = np.minimum(high[at], size)
        elif cone.kind == "exponential":
            low[at] = np.maximum(low[at], [-np.inf, 0.0, 0.0])
        else:
            size = max(high[at][:2].tolist())
            low[at] = np.maximum(low[at], [0.0, 0.0, -size])
            high[at] = np.minimum(high[at], [np.inf, np.inf, size])
    return low, high


def _interval(program: ConeProgram, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Bounds of every entry of ``b - A x`` over a box."""
    entries = sp.coo_array(program.A)
    value, column, size = entries.data, entries.col, program.b.size
    positive = value > 0
    least = value * np.where(positive, lower[column], upper[column])
    most = value * np.where(positive, upper[column], lower[column])
    low = program.b - np.bincount(entries.row, most, size)
    high = program.b - np.bincount(entries.row, least, size)
    return low, high
