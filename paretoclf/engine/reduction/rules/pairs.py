"""Epigraph variables of two rows, which are most of them, found all at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.tolerances import PARALLEL
from paretoclf.engine.reduction.rules.stage import Kinks, ReductionStage


@dataclass(frozen=True)
class TwoRows:
    """Columns of two rows each: the rows, minus the coefficients in them, and how many other entries each row has."""

    columns: Index
    rows: Index
    factors: Array
    others: Index

    def only(self, which: Any) -> TwoRows:
        """Select some of the columns."""
        return TwoRows(self.columns[which], self.rows[which], self.factors[which], self.others[which])


@dataclass(frozen=True)
class Epigraphs:
    """Variables that were eliminated, in that order; the costs with kinks left of them, and the rows and columns left.

    Attributes
    ----------
    kinks : Kinks
    variables : int array
        The columns.
    begin, bounds, factors : arrays
        Where the rows of each one begin, these rows, and minus its coefficients in them.
    rows, columns : bool arrays
    """

    kinks: Kinks
    variables: Index
    begin: Index
    bounds: Index
    factors: Array
    rows: Mask
    columns: Mask


def pairs(stage: ReductionStage, cheap: Mask) -> Epigraphs:
    """Find those of two rows of different slopes in which no other column may be one.

    Parameters
    ----------
    stage : ReductionStage
    cheap : bool array
        Columns that may be epigraph variables.
    """
    found = _with_two_rows(cheap, stage)
    longest = found.others.max(axis=1, initial=0)
    equally_long = (found.others[:, 0] == found.others[:, 1]) | (found.others.min(axis=1, initial=1) == 0)
    good = (longest > 0) & equally_long
    lengths = np.unique(longest[good]).tolist()
    done = [_of_one_length(found.only(good & (longest == length)), length, stage) for length in lengths]
    variables = np.concatenate([found.columns[:0], *(each.columns for each, _ in done)])
    bounds = np.concatenate([found.rows[:0].ravel(), *(each.rows.ravel() for each, _ in done)])
    factors = np.concatenate([np.zeros(0), *(each.factors.ravel() for each, _ in done)])
    rows, columns = stage.rows.copy(), stage.columns.copy()
    rows[bounds], columns[variables] = False, False
    kinks = Kinks.joined([stage.kinks, *(each for _, each in done)])
    return Epigraphs(kinks, variables, 2 * np.arange(variables.size + 1), bounds, factors, rows, columns)


def _with_two_rows(cheap: Mask, stage: ReductionStage) -> TwoRows:
    """Columns that two rows bound from below, and nothing from above, without another such column in them."""
    by_rows, by_columns = stage.A, stage.by_columns
    bounded = cheap.copy()  # from below only: others may become ones when rows are gone
    bounded[by_rows.indices[by_rows.data > 0]] = False
    candidates = np.where(bounded[by_rows.indices], 1, 0)
    of_rows = np.add.reduceat(np.append(candidates, 0), by_rows.indptr[:-1])
    sizes = np.diff(by_rows.indptr)
    crowded = (of_rows > 1) & (sizes != 0)
    columns = np.flatnonzero(bounded & (np.diff(by_columns.indptr) == 2))
    at = by_columns.indptr[columns][:, None] + [0, 1]
    rows, values = by_columns.indices[at], by_columns.data[at]
    found = TwoRows(columns, rows, -values, sizes[rows] - 1)
    return found.only((values < 0).all(axis=1) & ~crowded[rows].any(axis=1))


def _of_one_length(found: TwoRows, length: int, stage: ReductionStage) -> tuple[TwoRows, Kinks]:
    """Find the costs of columns whose longer row has so many other entries, and whose rows are of one direction."""
    places, parts = _other_entries(found, length, stage.A)
    largest = np.abs(parts).max(axis=2)
    longer = np.where(largest[0] >= largest[1], 0, 1)
    each = np.arange(found.columns.size)
    direction, there = parts[longer, each], places[longer, each]
    leading = direction[:, :1]
    direction = direction / (leading if length == 1 else np.sign(leading))
    top = np.abs(direction).argmax(axis=1)
    slopes = parts[:, each, top] / direction[each, top]
    one_empty = (found.others == 0).any(axis=1)
    same_places = (places[0] == places[1]) | one_empty[:, None]
    residual = np.abs(parts - slopes[:, :, None] * direction).max(axis=(0, 2))
    parallel = same_places.all(axis=1) & (residual <= PARALLEL * largest.max(axis=0))
    unequal = np.abs(slopes[0] - slopes[1])
    kink = unequal > 2.0 * PARALLEL * (1.0 + np.abs(slopes).max(axis=0))
    cost = stage.q
    good = np.flatnonzero(parallel & kink & cost[:, found.columns].any(axis=0))
    entries = direction[good].ravel(), there[good].ravel(), length * np.arange(good.size + 1)
    directions = sp.csr_array(entries, shape=(good.size, cost.shape[1]))
    chosen = found.only(good)
    return chosen, _kinks(chosen, directions, slopes[:, good].T, stage)


def _kinks(found: TwoRows, directions: Any, slopes: Array, stage: ReductionStage) -> Kinks:
    """Costs of two pieces each, by slope; ``slopes`` are those of both rows, shape (columns, 2)."""
    order = np.argsort(slopes, axis=1)
    rows, units = (np.take_along_axis(each, order, axis=1).ravel() for each in (found.rows, 1.0 / found.factors))
    offsets = stage.of_rows.upper[:, found.rows] / found.factors
    by_slope = np.take_along_axis(offsets, order[None], axis=2)
    weights = sp.csr_array((units, rows, np.arange(rows.size + 1)), shape=(rows.size, stage.rows.size))
    return Kinks(
        directions=directions,
        cost=stage.q[:, found.columns],
        begin=2 * np.arange(found.columns.size + 1),
        slope=np.take_along_axis(slopes, order, axis=1).ravel(),
        offset=by_slope.reshape(2, -1),
        weights=weights,
    )


def _other_entries(found: TwoRows, length: int, by_rows: Any) -> tuple[Index, Array]:
    """Places and values of the other entries of both rows, over the factors, shape (2, columns, length)."""
    shape = 2, found.columns.size, length
    places, parts = np.zeros(shape, dtype=int), np.zeros(shape)
    for side in range(2):
        filled = np.flatnonzero(found.others[:, side])
        begin = by_rows.indptr[found.rows[filled, side]]
        at = begin[:, None] + np.arange(length + 1)
        beside = by_rows.indices[at] != found.columns[filled, None]
        places[side, filled] = by_rows.indices[at][beside].reshape(-1, length)
        values = by_rows.data[at][beside].reshape(-1, length)
        parts[side, filled] = values / found.factors[filled, side, None]
    return places, parts
