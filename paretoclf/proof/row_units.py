"""What residuals of a program with rows are small against: of each row and each entry of the gradient its own terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import OWN_SIZE, OWN_TERMS
from paretoclf.engine.reduction.products import plainly
from paretoclf.engine.reduction.program import ProgramLine, along


class Sizes:
    """Coefficients of a program in absolute values: what units are made of.

    Rounding of one column reaches another only where rows, or P, connect the two.
    """

    def __init__(self, line: ProgramLine) -> None:
        P, A, _ = self.plain = line.products  # with P, A and A', and with their absolute values
        self.P, self.A, self.entries = P.of_sizes, A.of_sizes, line.rows
        self.transposed = self.A.T
        self.n, count = line.n, line.n + line.m
        (i, j), (row, column) = P.connected(), A.connected()
        edges = np.concatenate([i, row + line.n]), np.concatenate([j, column])
        graph = sp.coo_array((np.ones(edges[0].size), edges), shape=(count, count))
        _, self.part = connected_components(graph, directed=False)
        self.order = np.argsort(self.part, kind="stable")
        self.begin = np.flatnonzero(np.diff(self.part[self.order], prepend=-1))
        each = (self.P, line.n), (self.A, line.n), (self.transposed, line.m)
        self.sums = [(M @ np.ones((size, 1))).ravel() for M, size in each]
        columns = sp.csc_array(line.A)
        most, used = np.zeros(line.n), np.flatnonzero(np.diff(columns.indptr))
        if used.size:
            most[used] = np.maximum.reduceat(np.abs(columns.data), columns.indptr[used])
        self.balancing = np.where(most > 0.0, 1.0 / np.where(most > 0.0, most, 1.0), 0.0)
        curved = np.flatnonzero(self.sums[0] > 0.0)  # of others nobody asks what is natural
        self.curved, self.curvature = plainly(curved), P.of_rows(curved)
        self.equations = sp.csc_array(abs(columns[:, curved])[: line.equations])
        self.determined_columns = curved[np.diff(self.equations.indptr) > 0]

    def connected(self, columns: Array, rows: Array | None = None) -> tuple[Array, Array]:
        """The largest of all columns and rows that each has to do with, (k, n) and (k, m), or (k, 1) if that is one."""
        if self.begin.size == 1:
            parts = [each.max(axis=1, initial=0.0, keepdims=True) for each in (columns, rows) if each is not None]
            most = np.maximum(parts[0], parts[-1])
            return most, most
        every = np.zeros((len(columns), self.part.size))
        every[:, : self.n] = columns
        if rows is not None:
            every[:, self.n :] = rows
        every = np.maximum.reduceat(every[:, self.order], self.begin, axis=1)[:, self.part]
        return every[:, : self.n], every[:, self.n :]

    def determined(self, terms: Array) -> Array:
        """What columns of P would be if in the equations that say what they are nothing cancelled; 0 elsewhere."""
        M, found = self.equations, np.zeros((len(terms), self.n))
        if M.nnz:
            begin = M.indptr[:-1][np.diff(M.indptr) > 0]
            each = terms[:, M.indices] / M.data
            found[:, self.determined_columns] = np.minimum.reduceat(each, begin, axis=1)
        return found


@dataclass(frozen=True)
class Units:
    """What residuals are small against: of each its own terms on k segments, and no less than doubles can know.

    Attributes
    ----------
    sizes : Sizes
    rows, gradient : arrays of shape (k, m), (k, n)
        The unit of each row and of each entry of the gradient: its terms, and ``OWN_TERMS`` of what they would be if
        each were the largest column, or multiplier, connected with it.
    slacks : array of shape (k, m)
        What a slack is multiplied with to be its share of the row's terms, of which ``OWN_SIZE`` counts.
    shares : array of shape (k, n)
        The same for what multipliers add to the gradient.
    largest : array of shape (k, m)
        What the terms of each row would be if each were the largest column.
    squares : array of shape (k,)
        What the terms of x'Px would be if in each equation nothing cancelled.
    """

    sizes: Sizes
    rows: Array
    gradient: Array
    slacks: Array
    shares: Array
    largest: Array
    squares: Array

    @classmethod
    def of(cls, sizes: Sizes, q: Array, b: Array, x: Array, z: Array, *, none: float) -> Units:
        """The units of the largest that data, columns and multipliers are on each of k segments, in absolute values.

        They grow with each of these numbers. What has no size has the unit ``none``: is as wrong as it is.
        """
        P_sums, row_sums, column_sums = sizes.sums
        row_terms = b + sizes.A(x)
        # Where q and Px cancel, multipliers are their rounding: no less than the least that would balance one of them.
        natural = np.maximum(x, sizes.determined(row_terms[:, : sizes.equations.shape[0]]))
        curved, squared = sizes.P(natural), sizes.P(x)
        wide, tall = sizes.connected(x), sizes.connected((q + curved) * sizes.balancing, z)
        terms = sizes.transposed(z)
        terms += q + squared
        most_b, most_q = wide[1] * row_sums, wide[0] * P_sums
        most_q += tall[0] * column_sums
        return cls(
            sizes,
            _unit(row_terms, OWN_TERMS, most_b, none),
            _unit(terms, OWN_TERMS, most_q, none),
            np.reciprocal(_unit(row_terms, OWN_SIZE, most_b, none)),
            np.reciprocal(_unit(terms, OWN_SIZE, most_q, none)),
            np.add(most_b, b, out=most_b),
            np.einsum("ij,ij->i", natural, curved),
        )

    @classmethod
    def at(cls, line: ProgramLine, t: Array, x: Array, z: Array, sizes: Sizes | None = None) -> Units:
        """The units of one segment, or point: of what x and z, one at each of its t, are at most."""
        data = (np.abs(along(ends, t).T) for ends in (line.q, line.b))
        most = (np.abs(each).max(axis=0, keepdims=True) for each in (*data, x, z))
        return cls.of(sizes or Sizes(line), *most, none=1.0)

    def prices(self, asked: Any, row: Any = slice(None)) -> Array:
        """What makes a multiplier its largest share of an entry of the gradient, where asked, (k, multipliers of rows).

        ``row`` says which row each is of, by default one after the other.
        """
        A, found, row = self.sizes.entries, np.zeros(asked.shape), np.arange(self.sizes.entries.shape[0])[row]
        k, i = np.nonzero(asked & (np.diff(A.indptr) > 0)[row])
        if k.size:
            own = row[i]
            count = np.diff(A.indptr)[own]
            begin = np.cumsum(count) - count
            place = np.arange(begin[-1] + count[-1]) + np.repeat(A.indptr[own] - begin, count)
            own = np.repeat(np.minimum(k, len(self.shares) - 1), count)
            each = np.abs(A.data[place]) * self.shares[own, A.indices[place]]
            found[k, i] = np.maximum.reduceat(each, begin)
        return found


def _unit(terms: Array, share: float, most: Array, none: float) -> Array:
    """Terms, and a share of what they could be; what has no size has this one."""
    size = share * most
    size += terms
    size[size == 0.0] = none
    return np.asarray(size)
