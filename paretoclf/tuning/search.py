"""The search for the best cell of a grid: all of it, or by coordinate descent. Of arrays, whatever filled them.

**Reference.** Davenport, Baraniuk & Scott (2010), Algorithms 1 and 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from paretoclf.checks import Array, Mask
from paretoclf.errors import InputError
from paretoclf.roc.criteria import DECIMALS, Criterion

Cell = tuple[int, ...]

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
        Of the criterion there; its score where no cell that was compared is allowed.
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

    The smallest objective; where no cell is allowed, the smallest score of the criterion. Of equal cells the current
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
        A cell that is left only for a smaller objective.

    Raises
    ------
    InputError
        If the criterion is nan at every cell.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> from paretoclf.tuning import choose
    >>> choose(pc.NeymanPearson(0.1), np.array([0.0, 0.1, 0.2]), np.array([0.5, 0.3, 0.1]))
    Step(cell=(1,), fpr=0.1, fnr=0.3, objective=0.3, allowed=True)
    """
    candidates = np.ones(fpr.shape, dtype=np.bool_) if among is None else among
    objective = np.where(candidates, criterion(fpr, fnr), np.nan)
    allowed = bool(np.isfinite(objective).any())
    if not allowed:
        objective = np.where(candidates, criterion.score(fpr, fnr), np.nan)
    unrounded = objective
    objective = np.where(np.isnan(objective), np.inf, np.round(objective, DECIMALS))
    least = float(objective.min(initial=np.inf))
    if least == np.inf:
        raise InputError(
            f"criterion must be a number at some cell, got nan at all {int(candidates.sum())}: "
            "there is no classifier at any of them"
        )
    cell = current
    if current is None or objective[current] > least:
        tied = objective == least
        both = np.round(np.where(tied, fpr + fnr, np.inf), DECIMALS)
        cells = np.argwhere(both == both.min())
        away = ((cells - cells.mean(axis=0)) ** 2).sum(axis=1)
        cell = tuple(int(k) for k in cells[np.argmin(np.round(away, DECIMALS))])
    assert cell is not None
    return Step(cell, float(fpr[cell]), float(fnr[cell]), float(unrounded[cell]), allowed)


def grid_search(look: Look, shape: Cell, criterion: Criterion) -> tuple[Step, ...]:
    """Smoothed grid search (Algorithm 1): all cells are looked at; the one step is the best of them."""
    fpr, fnr = look(np.ones(shape, dtype=np.bool_))
    return (choose(criterion, fpr, fnr),)


def coordinate_descent(
    look: Look, shape: Cell, criterion: Criterion, start: Cell, axes: tuple[int, ...]
) -> tuple[Step, ...]:
    """Coordinate descent (Algorithm 2): to the best cell of the lines through the current one, until that stays.

    Parameters
    ----------
    look : callable
        Given a mask of cells, returns both rates, known at these cells at least.
    shape : tuple of int
    criterion : Criterion
    start : tuple of int
    axes : tuple of int
        Along which there are lines.

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
    >>> steps = coordinate_descent(lambda cells: (fpr, fpr), (3, 3), pc.Minimax(), (0, 0), (0, 1))
    >>> [step.cell for step in steps]
    [(0, 2), (2, 2), (2, 2)]
    """
    here, steps = start, list[Step]()
    while True:
        lines = np.zeros(shape, dtype=np.bool_)
        for axis in axes:
            lines[tuple(slice(None) if k == axis else here[k] for k in range(len(shape)))] = True
        fpr, fnr = look(lines)
        steps.append(choose(criterion, fpr, fnr, lines, here))
        if steps[-1].cell == here:
            return tuple(steps)
        here = steps[-1].cell


def nearest(values: Array, target: float) -> int:
    """Index of the value nearest to a target; of two, the first."""
    return int(np.argmin(np.round(np.abs(values - target), DECIMALS)))
