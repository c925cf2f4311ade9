"""A cone program as raw arrays, with what is worked out of them once: half-spaces, and the proof that it is convex."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from paretoclf.common.checks import Array, Index, check_vector
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import COVARIANCE_SYMMETRY
from paretoclf.problem.definite import least_curvature
from paretoclf.proof.points.cones import Cone, Cones
from paretoclf.proof.points.half_spaces import HalfSpaces, half_spaces


@dataclass(frozen=True)
class ConeProgram:
    """``min x'Px/2 + q'x`` subject to ``b - A x`` in the cones.

    Parameters
    ----------
    P, A : arrays or sparse matrices of shape (n, n) and (m, n)
        P symmetric; where it is so up to rounding, its upper triangle counts. That it is positive semidefinite is not
        assumed but proved, as far as it is.
    q, b : arrays of shape (n,) and (m,)
        Costs and right-hand sides.
    cones : sequence of Cone
        Cones of the m rows, from the first.

    Raises
    ------
    InputError
        If shapes do not fit, P is not symmetric, or a number is not finite.
    """

    P: Any = field(repr=False)
    q: Array = field(repr=False)
    A: Any = field(repr=False)
    b: Array = field(repr=False)
    cones: Sequence[Cone] = field(repr=False)

    def __post_init__(self) -> None:
        n, m = np.size(self.q), np.size(self.b)
        for name, shape in (("P", (n, n)), ("A", (m, n))):
            value = sp.csr_array(getattr(self, name), dtype=np.float64)
            if value.shape != shape or not np.isfinite(value.data).all():
                raise InputError(f"{name} must be finite and of shape {shape}, got shape {value.shape}")
            if (value.data == 0).any():  # a coefficient 0 is none: 0 times an infinite bound is not a number
                value = value.copy()
                value.eliminate_zeros()
            object.__setattr__(self, name, value)
        object.__setattr__(self, "P", _symmetric(self.P))
        object.__setattr__(self, "q", check_vector(self.q, n, "q"))
        object.__setattr__(self, "b", check_vector(self.b, m, "b"))
        object.__setattr__(self, "cones", Cones(self.cones))
        if sum(cone.size for cone in self.cones) != m:
            raise InputError(f"cones must have {m} entries together, got {sum(cone.size for cone in self.cones)}")

    def value(self, x: Array) -> float:
        """The objective."""
        return float(0.5 * x @ (self.P @ x) + self.q @ x)

    def moved(self, q: Any, b: Any) -> ConeProgram:
        """The program with other vectors; what was worked out of the matrices is kept."""
        other = ConeProgram(self.P, q, self.A, b, self.cones)
        for name in (
            "kinds",
            "grouped",
            "block_of_row",
            "bounds",
            "half_spaces",
            "curvature",
            "diagonal",
            "column_length",
        ):
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        return other

    @cached_property
    def grouped(self) -> Cones:
        """The cones, with those that are alike together."""
        return Cones(self.cones)

    @cached_property
    def kinds(self) -> Any:
        """Kind of the cone of each row."""
        return np.repeat(np.array([c.kind for c in self.cones], dtype="U12"), [c.size for c in self.cones])

    @cached_property
    def block_of_row(self) -> Index:
        """A number for each row of an equation or inequality, and one for all rows of any other cone."""
        apart = np.isin(self.kinds, ("zero", "nonnegative"))
        cone = np.repeat(np.arange(len(self.cones)), [c.size for c in self.cones])
        return np.where(apart, len(self.cones) + np.arange(self.b.size), cone)

    @cached_property
    def bounds(self) -> tuple[Index, Index, Array]:
        """Inequalities with one variable: their rows, the columns of these, and the coefficients."""
        rows = np.flatnonzero((np.diff(self.A.indptr) == 1) & (self.kinds == "nonnegative"))
        at = self.A.indptr[rows]
        return rows, self.A.indices[at], self.A.data[at]

    @cached_property
    def half_spaces(self) -> HalfSpaces:
        """What contains the points that the constraints allow, whatever b is."""
        return half_spaces(self.A, self.cones)

    @cached_property
    def curvature(self) -> Array:
        """The diagonal of a proved D with P - D positive semidefinite."""
        return least_curvature(self.P)

    @cached_property
    def diagonal(self) -> bool:
        """Whether P has no entries off its diagonal."""
        return bool((self.P - sp.diags_array(self.P.diagonal())).nnz == 0)

    @property
    def indefinite(self) -> float:
        """By how much P is not proved positive semidefinite: 0 where it is."""
        return max(0.0, -float(self.curvature.min(initial=0.0)))

    @cached_property
    def column_length(self) -> Array:
        """Number of terms in each entry of ``Px + q + A'z``, and some more."""
        return np.asarray(np.diff(sp.csc_array(self.A).indptr) + np.diff(sp.csc_array(self.P).indptr) + 3)


def _symmetric(P: Any) -> Any:
    """The matrix of the upper triangle, which is what solvers read."""
    apart = abs(P - P.T)
    if apart.nnz == 0 or apart.max() == 0:
        return P
    if apart.max() > COVARIANCE_SYMMETRY * abs(P).max():
        raise InputError(f"P must be symmetric, got entries that differ by {apart.max():.1e} from their mirror images")
    return sp.csr_array(sp.triu(P) + sp.triu(P, 1).T)


def factor(N: Any) -> Any:
    """Solve with a positive semidefinite matrix, regularised at its rounding; projections repeat, so that is enough."""
    diagonal = N.diagonal()
    shift = 1e-13 * float(np.max(diagonal, initial=0.0)) + np.finfo(float).tiny
    return splu(sp.csc_array(N + sp.diags_array(np.full(diagonal.size, shift)))).solve
