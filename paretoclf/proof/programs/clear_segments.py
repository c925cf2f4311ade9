"""Bounds on segments of a program that are clearly right: by the least units of all, and one pass over the points.

No segment has smaller units than those of the least data, columns and multipliers of all points. Where these explain
all residuals, as nearly always, no segment is asked for its own: the bound is wider then, and no more than a hundredth
of ``CERTIFY``. Where they do not, `paretoclf.proof.programs.program_lines.judged` looks at each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import CERTIFY, PRODUCT_ROUNDING, RESIDUAL_ROUNDING
from paretoclf.engine.reduction.program import ProgramLine, between
from paretoclf.proof.programs.extremes import ColumnExtremes, PointProducts, RowExtremes, extremes_of
from paretoclf.proof.programs.row_units import Sizes, Units
from paretoclf.proof.segments import bernstein
from paretoclf.proof.verdicts.scale import sizes_of

TINY = float(np.finfo(float).tiny)

#: Share of ``CERTIFY`` up to which bounds by the least units of all segments will do.
CLEAR = 0.01


class SegmentBounds(NamedTuple):
    """Residuals (k, 4) of k segments; gaps, sizes and lower bounds of the value, (k, 3) each."""

    residuals: Array
    gaps: Array
    sizes: Array
    duals: Array


def clear_bounds(line: ProgramLine, sizes: Sizes, t: Array, x: Array, z: Array) -> SegmentBounds | None:
    """Bounds between each two of k + 1 points, x (n, k + 1) and z (m, k + 1); None where they are not clearly small."""
    x, z = np.ascontiguousarray(x), np.ascontiguousarray(z)
    products = _products(sizes, x, z)
    columns, rows, sums = extremes_of(t, x, z, products, line.q, line.b)
    if not sums.finite:
        return None
    with np.errstate(over="ignore", invalid="ignore"):  # where there is no size
        gaps = _between(sums.products, sums.mixed) + _wrong_signs(line, sizes, rows, t, x, z)
        pairs = products.rows, np.abs(z)
        units = least_units(sizes, columns, rows.least_bound, rows.least_size)
        residuals = in_least_units(units, line.equations, columns.gradient, rows, pairs, _larger_neighbour)
        value = sums.value + between(line.constant, t)
        largest_term = np.maximum(sums.term, np.abs(between(line.constant, t)))
        size = bernstein.line(bernstein.pairs(sizes_of(value, largest_term)))
        least = no_less(size, units.rounding(rows.least_size))
        clear = are_clear(residuals, gaps, least)
    if not clear:
        return None
    values = bernstein.line(bernstein.pairs(value))
    values[:, 1] -= 0.5 * (sums.bend + np.diff(t) * np.diff(sums.moved))
    return SegmentBounds(residuals.T, gaps, least, values - gaps)


def are_clear(residuals: Array, gaps: Array, sizes: Array) -> bool:
    """Whether residuals, and gaps next to these sizes, are so small that no units of their own are asked for."""
    return bool((residuals <= CLEAR * CERTIFY).all() and (gaps <= CLEAR * CERTIFY * sizes).all())


def no_less(size: Array, rounding: Array | float) -> Array:
    """The sizes of values, and no less than what of those is rounding."""
    share = PRODUCT_ROUNDING / CERTIFY
    return np.asarray(np.maximum(np.maximum(size, share * rounding), TINY))


def smaller(share: Array, price: Array, largest: Array) -> Array:
    """The smaller of a slack and its multiplier, as shares; the slack, where nobody asked for the other."""
    known = (price > 0.0) | (largest == 0.0)
    return np.where(known, np.minimum(share, price * largest), share)


def _products(sizes: Sizes, x: Array, z: Array) -> PointProducts:
    """PointProducts of the matrices of a program with points."""
    _, rows, transposed = sizes.plain
    of_P = np.ascontiguousarray(sizes.curvature @ x)
    gradient = np.ascontiguousarray(transposed @ z)
    gradient[sizes.curved] += of_P
    curved = np.arange(sizes.n)[sizes.curved]
    of_P *= 0.5
    return PointProducts(np.ascontiguousarray(rows @ x), gradient, curved, of_P)


def _between(products: Array, mixed: Array) -> Array:
    """Coefficients (k, 3) of sums of products of affine functions, from those at points and mixed ones between."""
    return bernstein.columns(products[:-1], 0.5 * mixed, products[1:])


def _wrong_signs(line: ProgramLine, sizes: Sizes, rows: RowExtremes, t: Array, x: Array, z: Array) -> Array | float:
    """Coefficients (k, 3) of what multipliers of the wrong sign are worth: each times the terms of its row."""
    some = line.equations + np.flatnonzero(rows.least_multiplier[line.equations :] < 0.0)
    if not some.size:
        return 0.0
    wrong = np.maximum(-z[some], 0.0)
    terms = sizes.A.of_rows(some) @ np.abs(x)
    terms += np.abs(between(line.b[:, some, None], t))
    at_points = np.einsum("ij,ij->j", terms, wrong)
    mixed = np.einsum("ij,ij->j", terms[:, :-1], wrong[:, 1:]) + np.einsum("ij,ij->j", terms[:, 1:], wrong[:, :-1])
    return _between(at_points, mixed)


def least_units(sizes: Sizes, columns: ColumnExtremes, bounds: Array, multipliers: Array) -> Units:
    """Units of the least data, columns and multipliers (m,) of all points: no cell has smaller ones."""
    data = columns.least_cost, bounds, columns.least, multipliers
    return Units.of(sizes, *(each[None] for each in data), none=TINY)


def in_least_units(
    units: Units,
    equations: int,
    gradient: Array,
    rows: RowExtremes,
    pairs: tuple[Array, Array],
    most: Callable[[Array], Array],
) -> Array:
    """Bounds (4, k) on residuals of k cells in units of the least data and points.

    Parameters
    ----------
    units : Units
    equations : int
        How many of the first rows are equations.
    gradient : array of shape (n,)
        The largest of each entry.
    rows, pairs, most
        As in `of_multipliers`.
    """
    inequality = np.arange(rows.slack.size) >= equations
    violation = np.where(inequality, -rows.least_slack, rows.slack)
    violated = (violation / units.rows[0]).max(initial=0.0)
    stationarity = (gradient / units.gradient[0]).max(initial=0.0)
    signs, both = of_multipliers(units, equations, rows, pairs, most)
    of_all = (np.full(both.size, each) for each in (violated, stationarity, signs))
    return np.stack([*of_all, both]) + 0.0  # no -0.0


def of_multipliers(
    units: Units,
    equations: int,
    rows: RowExtremes,
    pairs: tuple[Array, Array],
    most: Callable[[Array], Array],
    row: Any = slice(None),
) -> tuple[float, Array]:
    """Bounds on the residuals ``signs``, of all cells, and ``slackness``, (k,), in units of the least data and points.

    Parameters
    ----------
    units : Units
    equations : int
        How many of the first rows are equations.
    rows : RowExtremes
        Of all points.
    pairs : pair of arrays of shape (rows, points)
        Sizes of slacks and of multipliers.
    most : callable
        Returns the largest numbers of each cell, (rows, k), from those of the points, (rows, points).
    row : int array, optional
        Which row of the program each is of; by default they are all rows, in order.
    """
    inequality = np.arange(rows.slack.size) >= equations
    shares = units.slacks[0, row]
    share = shares * rows.slack
    meeting = inequality & (share > 0.0) & (rows.multiplier > 0.0)
    asked = inequality & ((rows.least_multiplier < 0.0) | (meeting & (share > RESIDUAL_ROUNDING)))
    price = units.prices(asked[None], row)[0]
    signs = -(price * rows.least_multiplier)[equations:].min(initial=0.0)
    some = np.flatnonzero(meeting)
    slack, multiplier = (most(each[some]) for each in pairs)
    found = smaller(shares[some, None] * slack, price[some, None], multiplier)
    return float(signs), found.max(axis=0, initial=0.0)


def _larger_neighbour(numbers: Array) -> Array:
    """The larger of both ends of each segment."""
    return np.maximum(numbers[:, :-1], numbers[:, 1:])
