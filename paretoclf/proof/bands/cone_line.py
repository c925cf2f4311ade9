"""Compiled cone program along a line of its parameters, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index
from paretoclf.engine.reduction.program import ProgramLine, between
from paretoclf.proof.cones.cone_kinds import Cones
from paretoclf.proof.cones.cone_program import ConeProgram

#: Each t is a whole multiple of this, so that 1 - t is a double, too.
GRID = 2.0**-44


@dataclass(frozen=True)
class ConeLine(ProgramLine):
    """Compiled cone program along a line of its parameters: a `ProgramLine` with cones for its rows.

    Attributes
    ----------
    cones : Cones
        Cones of the rows, from the first; the equations are the first of them.
    P_stop, A_stop : sparse arrays, optional
        The matrices at t = 1, where they depend on t; where rows of equations do, a path is a curve.
    """

    cones: Cones = field(default_factory=Cones, repr=False)
    P_stop: Any = field(default=None, repr=False)
    A_stop: Any = field(default=None, repr=False)

    @property
    def stands(self) -> bool:
        """Whether both matrices are the same at every t."""
        return self.P_stop is None and self.A_stop is None

    @cached_property
    def moves_equations(self) -> bool:
        """Whether a coefficient of an equation depends on t."""
        if self.A_stop is None:
            return False
        rows = self.speeds[1].nonzero()[0]
        return bool((rows < self.equations).any())

    @property
    def quadratics(self) -> tuple[Any, ...]:
        """P at both ends, or once where it is constant."""
        return (self.P,) if self.P_stop is None else (self.P, self.P_stop)

    @cached_property
    def base(self) -> ConeProgram:
        """The program at t = 0."""
        return ConeProgram(self.P, self.q[0], self.A, self.b[0], self.cones)

    @cached_property
    def end(self) -> ConeProgram:
        """The program at t = 1."""
        quadratic = self.P if self.P_stop is None else self.P_stop
        matrix = self.A if self.A_stop is None else self.A_stop
        return ConeProgram(quadratic, self.q[1], matrix, self.b[1], self.cones)

    @cached_property
    def speeds(self) -> tuple[Any, Any]:
        """Changes of P and of A from t = 0 to 1; without entries where a matrix is constant."""
        first, last = self.base, self.end
        return gained(first.P, last.P), gained(first.A, last.A)

    def matrices(self, t: float) -> tuple[Any, Any]:
        """P and A at t."""
        if self.stands:
            return self.base.P, self.base.A
        quadratic, matrix = self._moving
        return quadratic.at(t), matrix.at(t)

    @cached_property
    def _moving(self) -> tuple[AffineMatrix, AffineMatrix]:
        """P and A as matrices that are affine in t."""
        speeds = self.speeds
        return AffineMatrix(self.base.P, speeds[0]), AffineMatrix(self.base.A, speeds[1])

    def at(self, t: float) -> ConeProgram:
        """The program at t."""
        costs, sides = between(self.q, t), between(self.b, t)
        if not self.stands:
            quadratic, matrix = self.matrices(t)
            moved = ConeProgram(quadratic, costs, matrix, sides, self.cones)
            moved.__dict__.update(kinds=self.base.kinds, grouped=self.base.grouped)
            return moved
        for name in ("kinds", "grouped", "curvature", "diagonal", "column_length"):  # computed once for all t
            getattr(self.base, name)
        return self.base.moved(costs, sides)

    def value(self, x: Array, t: float) -> float:
        """The user's objective at a point."""
        bent = 0.0
        if self.P_stop is not None:
            change = float(x @ (self.speeds[0] @ x))
            bent = 0.5 * t * self.sense * change
        return super().value(x, t) + bent

    @cached_property
    def parabolas(self) -> tuple[str, ...]:
        """The user's variables that are not affine in t between two pairs: all of them where A depends on t."""
        return super().parabolas if self.A_stop is None else tuple(self.variables)

    @property
    def still(self) -> ConeLine:
        """The line without an objective: its points are bounded by the constraints alone, and so are its rays."""
        no_costs = np.zeros_like(self.q)
        no_quadratic = sp.csc_array((self.n, self.n))
        numbers = no_costs, self.b, np.zeros(2), self.equations, 1
        return ConeLine(no_quadratic, self.A, *numbers, {}, {}, (), self.cones, A_stop=self.A_stop)


class AffineMatrix:
    """Sparse matrix that is affine in t, entry by entry; stored by columns if ``first`` is."""

    def __init__(self, first: Any, speed: Any) -> None:
        by_columns = first.format == "csc"
        self._made = sp.csc_array if by_columns else sp.csr_array
        union = self._made(abs(first) + abs(speed))
        union.sort_indices()
        self._pattern = union.indices, union.indptr
        self._shape = union.shape
        places = _places(union, by_columns)
        self._ends = []
        for matrix in (first, speed):
            values = np.zeros(union.nnz)
            values[np.searchsorted(places, _places(matrix, by_columns))] = sp.coo_array(matrix).data
            self._ends.append(values)

    def at(self, t: float) -> Any:
        """The matrix at t."""
        first, speed = self._ends
        return self._made((first + t * speed, *self._pattern), shape=self._shape)


def _places(matrix: Any, by_columns: bool) -> Index:
    """Number of each entry in the order of columns, or of rows; increasing where indices are sorted."""
    row, column = sp.coo_array(matrix).coords
    rows, columns = matrix.shape
    if by_columns:
        return np.asarray(column.astype(np.int64) * rows + row)
    return np.asarray(row.astype(np.int64) * columns + column)


def gained(first: Any, last: Any) -> Any:
    """Difference of two matrices, without entries where they are equal."""
    speed = sp.csr_array(last - first)
    speed.eliminate_zeros()
    return speed
