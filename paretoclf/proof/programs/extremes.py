"""Numbers that are largest and least at points of a compiled program, and sums at each point, by one pass over all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretoclf.common.checks import Array, Index

try:
    from paretoclf.engine._core import extremes as _pass
except ImportError:  # installed without a C++ compiler
    from paretoclf.proof.programs.numpy_extremes import extremes as _pass


@dataclass(frozen=True)
class PointProducts:
    """PointProducts of the matrices with k points, a column each.

    Attributes
    ----------
    rows : array of shape (m, k)
        Ax. After `extremes_of` it holds the sizes of slacks, ``|b - Ax|``.
    gradient : array of shape (n, k)
        Px + A'z. After `extremes_of` it holds the sizes of ``Px + q + A'z``.
    curved : int array of shape (c,)
        Columns that P has entries of.
    half_P : array of shape (c, k)
        Px / 2 of these.
    """

    rows: Array
    gradient: Array
    curved: Index
    half_P: Array


@dataclass(frozen=True)
class ColumnExtremes:
    """The least size of each column, the largest of its entry of the gradient, the least of its cost: (n,) each."""

    least: Array
    gradient: Array
    least_cost: Array


@dataclass(frozen=True)
class RowExtremes:
    """Of each row, (m,): sizes of slack, multiplier and bound; and the least slack and multiplier with their signs."""

    slack: Array
    least_slack: Array
    multiplier: Array
    least_size: Array
    least_multiplier: Array
    least_bound: Array


@dataclass(frozen=True)
class PointSums:
    """Sums at each of k points, or between each two.

    Attributes
    ----------
    value, term : arrays of shape (k,)
        x'Px / 2 + q'x, and the largest of its terms.
    moved : array of shape (k,)
        The product of x with the change of q along the line.
    products, mixed : arrays of shape (k,) and (k - 1,)
        Sizes of slacks times those of multipliers, and of the gradient times those of columns; and of each with the
        other's at the next point.
    bend : array of shape (k - 1,)
        The product of the changes of x and Px / 2.
    """

    value: Array
    term: Array
    moved: Array
    products: Array
    mixed: Array
    bend: Array

    @property
    def finite(self) -> bool:
        """Whether all are numbers; each number of the points is a factor in one of them."""
        sums = self.value, self.products, self.mixed, self.bend
        return bool(all(np.isfinite(each).all() for each in sums))


Extremes = tuple[ColumnExtremes, RowExtremes, PointSums]


def extremes_of(t: Array, x: Array, z: Array, products: PointProducts, q: Array, b: Array) -> Extremes:
    """Look at k points, x (n, k) with multipliers z (m, k); ``products`` are written over.

    Parameters
    ----------
    t : array of shape (k,)
    x, z : arrays of shape (n, k), (m, k)
    products : PointProducts
    q, b : arrays of shape (2, n), (2, m)
        At both ends of the line.
    """
    arrays = products.rows, products.gradient, products.curved, products.half_P
    columns, rows, points = _pass(t, x, z, arrays, q, b)
    return ColumnExtremes(*columns), RowExtremes(*rows), PointSums(*points)
