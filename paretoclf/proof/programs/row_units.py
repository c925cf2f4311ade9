"""Units of the residuals of a program with rows: the terms of each row and of each entry of the gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.tolerances import OWN_SIZE, OWN_TERMS
from paretoclf.engine.reduction.products import plainly
from paretoclf.engine.reduction.program import ProgramLine, along
from paretoclf.proof.verdicts.scale import largest_of_rows


class Sizes:
    """Absolute values of the coefficients of a program, from which units are computed.

    Rounding of one column reaches another only where rows, or P, connect the two.
    """

    def __init__(self, line: ProgramLine) -> None:
        self.plain = line.products  # with P, A and A', and with their absolute values
        quadratic, rows, _ = self.plain
        self.P, self.A, self.entries = quadratic.of_sizes, rows.of_sizes, line.rows
        self.transposed = self.A.T
        self.n = line.n
        self.part = _connected_parts(line)
        self.order = np.argsort(self.part, kind="stable")
        self.begin = np.flatnonzero(np.diff(self.part[self.order], prepend=-1))
        each = (self.P, line.n), (self.A, line.n), (self.transposed, line.m)
        self.sums = [(matrix @ np.ones((size, 1))).ravel() for matrix, size in each]
        columns = sp.csc_array(line.A)
        largest = largest_of_rows(columns.T)
        self.balancing = np.where(largest > 0.0, 1.0 / np.where(largest > 0.0, largest, 1.0), 0.0)
        curved = np.flatnonzero(self.sums[0] > 0.0)  # natural sizes of others are not needed
        self.curved, self.curvature = plainly(curved), quadratic.of_rows(curved)
        self.equations = sp.csc_array(abs(columns[:, self.curved])[: line.equations])
        self.determined_columns = curved[np.diff(self.equations.indptr) > 0]

    def connected(self, columns: Array, rows: Array | None = None) -> tuple[Array, Array]:
        """The largest of all columns and rows that are connected with each, (k, n) and (k, m), or (k, 1) if all are."""
        if self.begin.size == 1:
            most = columns.max(axis=1, initial=0.0, keepdims=True)
            if rows is not None:
                most = np.maximum(most, rows.max(axis=1, initial=0.0, keepdims=True))
            return most, most
        every = np.zeros((len(columns), self.part.size))
        every[:, : self.n] = columns
        if rows is not None:
            every[:, self.n :] = rows
        of_parts = np.maximum.reduceat(every[:, self.order], self.begin, axis=1)
        every = of_parts[:, self.part]
        return every[:, : self.n], every[:, self.n :]

    def determined(self, terms: Array) -> Array:
        """Sizes that columns of P would have if nothing cancelled in the equations that determine them; 0 elsewhere."""
        equations, found = self.equations, np.zeros((len(terms), self.n))
        if equations.nnz:
            begin = equations.indptr[:-1][np.diff(equations.indptr) > 0]
            each = terms[:, equations.indices] / equations.data
            found[:, self.determined_columns] = np.minimum.reduceat(each, begin, axis=1)
        return found


def _connected_parts(line: ProgramLine) -> Index:
    """Number the parts of a program that share no entry of P and A: a number for each column, then for each row."""
    quadratic, rows, _ = line.products
    (first, second), (row, column) = quadratic.connected(), rows.connected()
    edges = np.concatenate([first, row + line.n]), np.concatenate([second, column])
    count = line.n + line.m
    graph = sp.coo_array((np.ones(edges[0].size), edges), shape=(count, count))
    _, part = connected_components(graph, directed=False)
    return np.asarray(part)


@dataclass(frozen=True)
class Units:
    """Units of residuals: the terms of each on k segments, and no less than doubles can know.

    Attributes
    ----------
    sizes : Sizes
    rows, gradient : arrays of shape (k, m), (k, n)
        The unit of each row and of each entry of the gradient: its terms, and ``OWN_TERMS`` of what they would be if
        each were the largest column, or multiplier, connected with it.
    least_rows, least_gradient : arrays of shape (k, m), (k, n)
        That share alone: the part of these units that is not the terms at a point.
    slacks : array of shape (k, m)
        Factor that turns a slack into its share of the row's terms, of which ``OWN_SIZE`` counts.
    shares : array of shape (k, n)
        Factor that turns what multipliers add to the gradient into a share of its terms, of which ``OWN_SIZE`` counts.
    largest : array of shape (k, m)
        Terms that each row would have if all columns were as large as the largest.
    squares : array of shape (k,)
        Terms that x'Px would have if in each equation nothing cancelled.
    """

    sizes: Sizes
    rows: Array
    gradient: Array
    least_rows: Array
    least_gradient: Array
    slacks: Array
    shares: Array
    largest: Array
    squares: Array

    @classmethod
    def of(cls, sizes: Sizes, q: Array, b: Array, columns: Array, multipliers: Array, *, none: float) -> Units:
        """Compute the units of k segments from the largest data, columns and multipliers there, in absolute values.

        They grow with each of these numbers. Where a residual has no terms, its unit is ``none``.
        """
        P_sums, row_sums, column_sums = sizes.sums
        row_terms = b + sizes.A(columns)
        # Where q and Px cancel, multipliers are their rounding: no less than the least that would balance one of them.
        natural = np.maximum(columns, sizes.determined(row_terms[:, : sizes.equations.shape[0]]))
        curved = sizes.P(natural)
        terms = sizes.transposed(multipliers)
        terms += q + sizes.P(columns)
        largest_column, column_at_rows = sizes.connected(columns)
        largest_multiplier, _ = sizes.connected((q + curved) * sizes.balancing, multipliers)
        most_b, most_q = column_at_rows * row_sums, largest_column * P_sums
        most_q += largest_multiplier * column_sums
        slack_units = _unit(row_terms, OWN_SIZE, most_b, none)
        share_units = _unit(terms, OWN_SIZE, most_q, none)
        return cls(
            sizes,
            rows=_unit(row_terms, OWN_TERMS, most_b, none),
            gradient=_unit(terms, OWN_TERMS, most_q, none),
            least_rows=OWN_TERMS * most_b,
            least_gradient=OWN_TERMS * most_q,
            slacks=np.reciprocal(slack_units),
            shares=np.reciprocal(share_units),
            largest=np.add(most_b, b, out=most_b),
            squares=np.einsum("ij,ij->i", natural, curved),
        )

    @classmethod
    def at(cls, line: ProgramLine, t: Array, x: Array, z: Array, sizes: Sizes | None = None) -> Units:
        """Compute the units of one segment, or point, from x and z, a row for each of its t."""
        q, b = (along(ends, t).T for ends in (line.q, line.b))
        most = (np.abs(each).max(axis=0, keepdims=True) for each in (q, b, x, z))
        return cls.of(sizes or Sizes(line), *most, none=1.0)

    def rounding(self, multipliers: Array) -> Array:
        """Rounding of a value on each segment, (k,), where multipliers (k, m), or (m,), have these sizes."""
        return np.asarray(np.vecdot(multipliers, self.largest) + self.squares)

    def prices(self, asked: Mask, row: Any = slice(None)) -> Array:
        """Factors that turn multipliers into their largest share of an entry of the gradient, where asked.

        ``asked`` and the factors have shape (k, multipliers of rows); ``row`` says which row each is of, by default one
        after the other.
        """
        entries, found = self.sizes.entries, np.zeros(asked.shape)
        entries_of_rows = np.diff(entries.indptr)
        row = np.arange(entries_of_rows.size)[row]
        segment, multiplier = np.nonzero(asked & (entries_of_rows > 0)[row])
        if segment.size:
            own = row[multiplier]
            count = entries_of_rows[own]
            # All entries of these rows, one row after the other.
            begin = np.cumsum(count) - count
            offset = np.repeat(entries.indptr[own] - begin, count)
            place = np.arange(begin[-1] + count[-1]) + offset
            own_segment = np.repeat(np.minimum(segment, len(self.shares) - 1), count)
            shares = self.shares[own_segment, entries.indices[place]]
            each = np.abs(entries.data[place]) * shares
            found[segment, multiplier] = np.maximum.reduceat(each, begin)
        return found


def _unit(terms: Array, share: float, most: Array, none: float) -> Array:
    """Terms, and a share of what they could be at most; ``none`` where there is no size."""
    size = share * most
    size += terms
    size[size == 0.0] = none
    return np.asarray(size)
