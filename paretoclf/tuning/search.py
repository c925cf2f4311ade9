"""The search for the best cell of a grid: all of it, or by coordinate descent, in arrays, whatever filled them.

**Reference.** Davenport, Baraniuk & Scott (2010), Algorithms 1 and 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.errors import InputError
from paretoclf.roc.criteria import Criterion, Key, as_fraction, exactly

Cell = tuple[int, ...]

#: More than rounding can do to a rate, and to a criterion in units of a rate.
_ROUNDING = 1e-12

# Smoothed false positive and false negative rates; they need be known at the given cells only.
Look = Callable[[Mask], tuple[Array, Array]]


@dataclass(frozen=True)
class Step:
    """One cell that a search went to.

    Attributes
    ----------
    cell : tuple of int
        Its indices.
    fpr, fnr : float
        Rates there, as the search saw them.
    objective : float
        Value of the criterion there; its score where no cell that was compared is allowed.
    allowed : bool
        Whether the criterion is finite there.
    """

    cell: Cell
    fpr: float
    fnr: float
    objective: float
    allowed: bool


def choose(
    criterion: Criterion, fpr: Array, fnr: Array, among: Mask | None = None, current: Cell | None = None
) -> Step:
    """Return the best cell.

    The smallest objective; where no cell is allowed, the smallest score of the criterion. Among equal cells the current
    one; else that with the smallest sum of both rates; else that nearest to the centroid of those (in steps of the
    grid); else the first.

    Parameters
    ----------
    criterion : Criterion
    fpr, fnr : array of any shape
        Rates; nan where there is no classifier.
    among : bool array, optional
        Cells to choose from; default: all.
    current : tuple of int, optional
        A cell that is left only for a smaller objective. Objectives and sums are compared in fractions.

    Raises
    ------
    InputError
        If the criterion is nan at every cell.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> from paretoclf.tuning import choose
    >>> choose(pc.tuning.NeymanPearson(0.1), np.array([0.0, 0.1, 0.2]), np.array([0.5, 0.3, 0.1]))
    Step(cell=(1,), fpr=0.1, fnr=0.3, objective=0.3, allowed=True)
    """
    among = np.ones(fpr.shape, dtype=np.bool_) if among is None else among
    tied, (refused, objective) = least(criterion, fpr, fnr, among)
    cell = current
    if cell is None or not tied[cell]:
        cells = fewest(tied, fpr, fnr)
        from_centroid = len(cells) * cells - cells.sum(axis=0)  # in whole numbers
        closest = np.argmin((from_centroid**2).sum(axis=1))
        cell = tuple(int(k) for k in cells[closest])
    rates = float(fpr[cell]), float(fnr[cell])
    return Step(cell, *rates, float(objective), not refused)


def least(criterion: Criterion, fpr: Array, fnr: Array, among: Mask) -> tuple[Mask, Key]:
    """Cells at which the criterion is smallest, and its value there, in fractions.

    Values that may be smallest, whatever rounding does to floats, are compared in fractions. Where no cell is allowed
    the smallest score is taken. InputError if the criterion is nan everywhere.
    """
    known = among & ~np.isnan(criterion.score(fpr, fnr))
    if not known.any():
        raise InputError(
            f"criterion must be a number at some cell, got nan at all {int(among.sum())}: "
            "there is no classifier at any of them"
        )
    key = exactly(criterion)
    for measure in (criterion, criterion.score):
        low = np.where(known, _with_rounding(measure, fpr, fnr, -_ROUNDING), np.inf)
        high = np.where(known, _with_rounding(measure, fpr, fnr, _ROUNDING), np.inf)
        near = np.argwhere(np.isfinite(low) & (low <= high.min()))
        keys = [key(*_fractions(fpr, fnr, cell)) for cell in near]
        best = min(keys, default=(True, Fraction(0)))
        if not best[0]:
            break
    smallest = near[[each == best for each in keys]]
    tied = np.zeros(fpr.shape, dtype=np.bool_)
    tied[tuple(smallest.T)] = True
    return tied, best


def _with_rounding(measure: Callable[[Array, Array], Array], fpr: Array, fnr: Array, rounding: float) -> Array:
    """Measure rates that rounding may have changed by so much."""
    return measure(np.clip(fpr + rounding, 0.0, 1.0), np.clip(fnr + rounding, 0.0, 1.0))


def _fractions(fpr: Array, fnr: Array, cell: Index) -> tuple[Fraction, Fraction]:
    """Rates of a cell, as the fractions that the floats stand for."""
    at = tuple(cell)
    return as_fraction(float(fpr[at])), as_fraction(float(fnr[at]))


def fewest(tied: Mask, fpr: Array, fnr: Array) -> Index:
    """Tied cells with the smallest sum of both rates, shape (k, dimensions)."""
    cells = np.argwhere(tied)
    sums = [sum(_fractions(fpr, fnr, cell)) for cell in cells]
    smallest = min(sums)
    return np.asarray(cells[[each == smallest for each in sums]])


def grid_search(look: Look, shape: Cell, criterion: Criterion) -> tuple[Step, ...]:
    """Search all cells of the smoothed grid (Algorithm 1); the one step is the best of them."""
    fpr, fnr = look(np.ones(shape, dtype=np.bool_))
    return (choose(criterion, fpr, fnr),)


def coordinate_descent(
    look: Look, shape: Cell, criterion: Criterion, start: Cell, axes: tuple[int, ...]
) -> tuple[Step, ...]:
    """Descend by coordinates (Algorithm 2): to the best cell of the lines through the current one, until that stays.

    Parameters
    ----------
    look : callable
        Given a mask of cells, returns both rates, known at these cells at least.
    shape : tuple of int
    criterion : Criterion
    start : tuple of int
    axes : tuple of int
        Axes along which there are lines.

    Returns
    -------
    tuple of Step
        The best cell of the first lines, that of the second ones, ...; the last two are the same.

    Raises
    ------
    InputError
        If the criterion is nan on all lines through the start.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> from paretoclf.tuning import coordinate_descent
    >>> fpr = np.array([[5, 4, 3], [4, 3, 2], [3, 2, 1]]) / 10
    >>> steps = coordinate_descent(lambda cells: (fpr, fpr), (3, 3), pc.tuning.Minimax(), (0, 0), (0, 1))
    >>> [step.cell for step in steps]
    [(0, 2), (2, 2), (2, 2)]
    """
    here, steps = start, list[Step]()
    while True:
        lines = np.zeros(shape, dtype=np.bool_)
        for axis in axes:
            line: list[int | slice] = list(here)
            line[axis] = slice(None)
            lines[tuple(line)] = True
        fpr, fnr = look(lines)
        steps.append(choose(criterion, fpr, fnr, lines, here))
        if steps[-1].cell == here:
            return tuple(steps)
        here = steps[-1].cell


def nearest(values: Array, target: float) -> int:
    """Index of the value nearest to a target; of two, the first."""
    wanted = as_fraction(target)
    distances = [abs(as_fraction(value) - wanted) for value in values.tolist()]
    return distances.index(min(distances))
