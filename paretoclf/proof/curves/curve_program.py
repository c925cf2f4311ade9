"""The program of a line as a judge of curves reads it: dense matrices at both ends, cones, and prices of soft rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.errors import InputError
from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.proof.cones.cone_kinds import Cones
from paretoclf.proof.curves.polynomials import Polynomials, along

#: Both ends of a piece.
Ends = tuple[float, float]


@dataclass(frozen=True)
class CurveProgram:
    """Program ``min x'Px/2 + q'x + constant`` with ``b - A x`` in cones, where all data are affine in t.

    Parameters
    ----------
    P, A : pairs of arrays
        Matrices at t = 0 and t = 1: the same object twice where a matrix stands still.
    q, b, constant : arrays of shape (2, n), (2, m), (2,)
    cones : Cones
        Of the rows.
    prices : array of shape (2, m), optional
        Of each unit by which a nonnegative row is missed; infinite, at both ends, where it must not be.
    """

    P: tuple[Array, Array] = field(repr=False)
    A: tuple[Array, Array] = field(repr=False)
    q: Array = field(repr=False)
    b: Array = field(repr=False)
    constant: Array
    cones: Cones
    prices: Array | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if any(cone.kind == "power" for cone in self.cones):
            raise InputError("curve must be False where power cones are in the problem: they are proved within eps")
        if self.prices is not None and not (self.prices >= 0.0).all():
            raise InputError("prices must not be negative")

    @classmethod
    def of(cls, line: ConeLine) -> CurveProgram:
        """The program of a compiled line."""
        first, last = line.base, line.end
        P, A = _dense(first.P), _dense(first.A)
        return cls(
            (P, P if line.P_stop is None else _dense(last.P)),
            (A, A if line.A_stop is None else _dense(last.A)),
            line.q,
            line.b,
            line.constant,
            Cones(line.cones),
        )

    @property
    def n(self) -> int:
        """Number of columns."""
        return int(self.q.shape[1])

    @property
    def m(self) -> int:
        """Number of rows."""
        return int(self.b.shape[1])

    @cached_property
    def kinds(self) -> Any:
        """Kind of the cone of each row."""
        kinds = [cone.kind for cone in self.cones]
        return np.repeat(np.array(kinds, dtype="U12"), [cone.size for cone in self.cones])

    @cached_property
    def equations(self) -> Index:
        """Rows that are equations."""
        return np.flatnonzero(self.kinds == "zero")

    @cached_property
    def _priced(self) -> Mask:
        """Whether each row is soft."""
        return np.zeros(self.m, dtype=bool) if self.prices is None else np.isfinite(self.prices[0])

    @cached_property
    def soft(self) -> Index:
        """Rows that may be missed at a price."""
        return np.flatnonzero(self._priced)

    @cached_property
    def hard(self) -> Index:
        """Inequalities that may not be missed."""
        return np.flatnonzero((self.kinds == "nonnegative") & ~self._priced)

    @cached_property
    def largest_P(self) -> Array:
        """Sizes that no entry of P has at any t."""
        return np.maximum(*(np.abs(matrix) for matrix in self.P))

    def price(self, t: Ends) -> Polynomials:
        """Prices of the soft rows on a piece."""
        assert self.prices is not None
        return self._vector(t, self.prices[:, self.soft])

    def slack(self, t: Ends, x: Polynomials) -> Polynomials:
        """Slacks ``b - A x`` on a piece."""
        return self._vector(t, self.b) - self._product(t, self.A, x)

    def residual(self, t: Ends, y: Polynomials, z: Polynomials) -> Polynomials:
        """Residuals ``P y + q + A'z`` on a piece."""
        first, last = self.A
        transposed = (first.T, first.T if last is first else last.T)
        gradient = self._product(t, self.P, y) + self._vector(t, self.q)
        return gradient + self._product(t, transposed, z, still=last is first)

    def terms(self, t: Ends, x: Polynomials) -> Polynomials:
        """Terms of the objective on a piece: of x'Px/2 an entry for each variable, of q'x as many, and the constant."""
        quadratic = (x * self._product(t, self.P, x)).scaled(0.5)
        linear = self._vector(t, self.q) * x
        constant = self._vector(t, self.constant[:, None])
        degree = max(quadratic.degree, linear.degree)
        parts = [each.lifted(degree) for each in (quadratic, linear, constant)]
        value, radius = (np.concatenate([getattr(p, name) for p in parts], axis=1) for name in ("value", "radius"))
        return Polynomials(value, radius)

    def objective(self, t: Ends, x: Polynomials) -> Polynomials:
        """The objective without the prices of soft rows."""
        return self.terms(t, x).summed()

    def cost(self, t: Ends, x: Polynomials) -> Polynomials:
        """Polynomial that is nowhere below the objective with its prices."""
        total = self.objective(t, x)
        if not self.soft.size:
            return total
        missed = -self.slack(t, x)[self.soft]
        return total + self.price(t).dot(missed.positive_part())

    def _vector(self, t: Ends, ends: Array) -> Polynomials:
        """A vector that is affine in t."""
        first = Polynomials.constant(ends[0])
        last = first if (ends[0] == ends[1]).all() else Polynomials.constant(ends[1])
        return along(t, first, last)

    def _product(
        self, t: Ends, ends: tuple[Array, Array], vectors: Polynomials, *, still: bool | None = None
    ) -> Polynomials:
        """Products of a matrix that is affine in t with vectors."""
        first, last = ends
        begins = vectors.through(first)
        stands = last is first if still is None else still
        return begins if stands else along(t, begins, vectors.through(last))


def _dense(matrix: Any) -> Array:
    """A matrix as an array."""
    return np.asarray(sp.csr_array(matrix).toarray())
