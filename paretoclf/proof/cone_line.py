"""A compiled cone program along a line of its parameters, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.engine.reduction.program import ProgramLine, between
from paretoclf.proof.points.cone_program import ConeProgram
from paretoclf.proof.points.cones import Cones

#: Each t is a whole multiple of this, so that 1 - t is a double, too.
GRID = 2.0**-44


@dataclass(frozen=True)
class ConeLine(ProgramLine):
    """A compiled cone program along a line of its parameters: as a `ProgramLine`, with cones for its rows.

    Attributes
    ----------
    cones : Cones
        Cones of the rows, from the first; the equations are the first of them.
    P_stop, A_stop : sparse arrays, optional
        The matrices at t = 1, where one moves; those of equations do not.
    """

    cones: Cones = field(default_factory=Cones, repr=False)
    P_stop: Any = field(default=None, repr=False)
    A_stop: Any = field(default=None, repr=False)

    @property
    def stands(self) -> bool:
        """Whether both matrices are the same at every t."""
        return self.P_stop is None and self.A_stop is None

    @property
    def quadratics(self) -> tuple[Any, ...]:
        """P at both ends, or once where it stands still."""
        return (self.P,) if self.P_stop is None else (self.P, self.P_stop)

    @cached_property
    def base(self) -> ConeProgram:
        """The program at t = 0."""
        return ConeProgram(self.P, self.q[0], self.A, self.b[0], self.cones)

    @cached_property
    def end(self) -> ConeProgram:
        """The program at t = 1."""
        P, A = (first if last is None else last for first, last in ((self.P, self.P_stop), (self.A, self.A_stop)))
        return ConeProgram(P, self.q[1], A, self.b[1], self.cones)

    @cached_property
    def speeds(self) -> tuple[Any, Any]:
        """What P and A gain from t = 0 to 1; no entry where nothing moves."""
        return tuple(gained(*ends) for ends in ((self.base.P, self.end.P), (self.base.A, self.end.A)))

    def matrices(self, t: float) -> tuple[Any, Any]:
        """P and A at t."""
        if self.stands:
            return self.base.P, self.base.A
        P, A = self._moving
        return P.at(t), A.at(t)

    @cached_property
    def _moving(self) -> tuple[AffineMatrix, AffineMatrix]:
        return AffineMatrix(self.base.P, self.speeds[0]), AffineMatrix(self.base.A, self.speeds[1])

    def at(self, t: float) -> ConeProgram:
        """The program at t."""
        q, b = between(self.q, t), between(self.b, t)
        if not self.stands:
            P, A = self.matrices(t)
            moved = ConeProgram(P, q, A, b, self.cones)
            moved.__dict__.update(kinds=self.base.kinds, grouped=self.base.grouped)
            return moved
        for name in ("kinds", "grouped", "curvature", "diagonal", "column_length"):  # shared by all t
            getattr(self.base, name)
        return self.base.moved(q, b)

    def value(self, x: Array, t: float) -> float:
        """The user's objective at a point."""
        bent = 0.0 if self.P_stop is None else 0.5 * t * self.sense * float(x @ (self.speeds[0] @ x))
        return super().value(x, t) + bent

    @cached_property
    def parabolas(self) -> tuple[str, ...]:
        """The user's variables that are no straight lines between two pairs: all of them where A moves."""
        return super().parabolas if self.A_stop is None else tuple(self.variables)

    @property
    def still(self) -> ConeLine:
        """The same without an objective: what bounds its points, and its rays."""
        none = np.zeros_like(self.q)
        P = sp.csc_array((self.n, self.n))
        no = np.zeros(2)
        return ConeLine(P, self.A, none, self.b, no, self.equations, 1, {}, {}, (), self.cones, A_stop=self.A_stop)


class AffineMatrix:
    """A sparse matrix that is affine in t, entry by entry; by columns if ``first`` is."""

    def __init__(self, first: Any, speed: Any) -> None:
        self._made, by = (sp.csc_array, 0) if first.format == "csc" else (sp.csr_array, 1)
        union = self._made(abs(first) + abs(speed))
        union.sort_indices()
        self._at, self._shape = (union.indices, union.indptr), union.shape
        where, ends = [], []
        for M in map(sp.coo_array, (union, first, speed)):
            where.append(M.coords[1 - by].astype(np.int64) * M.shape[by] + M.coords[by])
            ends.append(np.zeros(union.nnz))
            ends[-1][np.searchsorted(where[0], where[-1])] = M.data
        self._ends = ends[1:]

    def at(self, t: float) -> Any:
        """The matrix at t."""
        return self._made((self._ends[0] + t * self._ends[1], *self._at), shape=self._shape)


def gained(first: Any, last: Any) -> Any:
    """What one matrix has more than another; no entry where they are equal."""
    speed = sp.csr_array(last - first)
    speed.eliminate_zeros()
    return speed
