"""Cone program as raw arrays, with results that are computed once: half-spaces, and the proof that it is convex."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
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
from paretoclf.proof.cones.cone_kinds import Cone, Cones
from paretoclf.proof.cones.half_spaces import HalfSpaces, half_spaces


@dataclass(frozen=True)
class ConeProgram:
    """Cone program ``min x'Px/2 + q'x`` subject to ``b - A x`` in the cones.

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
        columns, count = np.size(self.q), np.size(self.b)
        quadratic = _checked_matrix(self.P, "P", (columns, columns))
        object.__setattr__(self, "A", _checked_matrix(self.A, "A", (count, columns)))
        object.__setattr__(self, "P", _symmetric(quadratic))
        object.__setattr__(self, "q", check_vector(self.q, columns, "q"))
        object.__setattr__(self, "b", check_vector(self.b, count, "b"))
        object.__setattr__(self, "cones", Cones(self.cones))
        rows = sum(cone.size for cone in self.cones)
        if rows != count:
            raise InputError(f"cones must have {count} entries together, got {rows}")

    def value(self, x: Array) -> float:
        """The objective."""
        return float(0.5 * x @ (self.P @ x) + self.q @ x)

    def moved(self, q: Any, b: Any) -> ConeProgram:
        """The program with other vectors; what was worked out is kept, as it depends on matrices and cones alone."""
        other = copy(self)
        object.__setattr__(other, "q", check_vector(q, self.q.size, "q"))
        object.__setattr__(other, "b", check_vector(b, self.b.size, "b"))
        return other

    @cached_property
    def back(self) -> Any:
        """The transpose of A."""
        return sp.csr_array(self.A.T)

    @cached_property
    def sizes(self) -> tuple[Any, Any, Any]:
        """Absolute values of P, of A and of its transpose."""
        return abs(self.P), abs(self.A), abs(self.back)

    @cached_property
    def grouped(self) -> Cones:
        """The cones, with groups of those that are alike."""
        return Cones(self.cones)

    @cached_property
    def kinds(self) -> Any:
        """Kind of the cone of each row."""
        kinds = np.array([cone.kind for cone in self.cones], dtype="U12")
        return np.repeat(kinds, [cone.size for cone in self.cones])

    @cached_property
    def block_of_row(self) -> Index:
        """A number for each row of an equation or inequality, and one for all rows of any other cone."""
        single = np.isin(self.kinds, ("zero", "nonnegative"))
        count = len(self.cones)
        number = np.repeat(np.arange(count), [cone.size for cone in self.cones])
        return np.where(single, count + np.arange(self.b.size), number)

    @cached_property
    def bounds(self) -> tuple[Index, Index, Array]:
        """Inequalities with one variable: their rows, the columns of these, and the coefficients."""
        single = np.diff(self.A.indptr) == 1
        rows = np.flatnonzero(single & (self.kinds == "nonnegative"))
        at = self.A.indptr[rows]
        return rows, self.A.indices[at], self.A.data[at]

    @cached_property
    def half_spaces(self) -> HalfSpaces:
        """Half-spaces that contain the feasible points, whatever b is."""
        return half_spaces(self.A, self.cones)

    @cached_property
    def curvature(self) -> Array:
        """The diagonal of a proved D with P - D positive semidefinite."""
        return least_curvature(self.P)

    @cached_property
    def diagonal(self) -> bool:
        """Whether P has no entries off its diagonal."""
        return bool(self.P.nnz == np.count_nonzero(self.P.diagonal()))

    @property
    def indefinite(self) -> float:
        """Size of the negative curvature that is not excluded: 0 where P is proved positive semidefinite."""
        return max(0.0, -float(self.curvature.min(initial=0.0)))

    @cached_property
    def column_length(self) -> Array:
        """Number of terms in each entry of ``Px + q + A'z``, and some more."""
        of_A, of_P = (np.diff(sp.csc_array(matrix).indptr) for matrix in (self.A, self.P))
        return np.asarray(of_A + of_P + 3)


def _checked_matrix(matrix: Any, name: str, shape: tuple[int, int]) -> Any:
    """Sparse matrix of finite entries without zeros, or an `InputError`."""
    value = sp.csr_array(matrix, dtype=np.float64)
    if value.shape != shape or not np.isfinite(value.data).all():
        raise InputError(f"{name} must be finite and of shape {shape}, got shape {value.shape}")
    if (value.data == 0).any():  # a coefficient 0 is none: 0 times an infinite bound is not a number
        value = value.copy()
        value.eliminate_zeros()
    return value


def _symmetric(matrix: Any) -> Any:
    """Symmetric matrix of the upper triangle, which is what solvers read."""
    if matrix.nnz == 0:
        return matrix
    difference = abs(matrix - matrix.T)
    if difference.nnz == 0 or difference.max() == 0:
        return matrix
    largest = difference.max()
    if largest > COVARIANCE_SYMMETRY * abs(matrix).max():
        raise InputError(f"P must be symmetric, got entries that differ by {largest:.1e} from their mirror images")
    return sp.csr_array(sp.triu(matrix) + sp.triu(matrix, 1).T)


def factor(N: Any) -> Any:
    """Function that solves with a positive semidefinite matrix, regularised by its rounding.

    Projections are repeated, so that this is exact enough.
    """
    diagonal = N.diagonal()
    largest = float(np.max(diagonal, initial=0.0))
    shift = 1e-13 * largest + np.finfo(float).tiny
    regularisation = sp.diags_array(np.full(diagonal.size, shift))
    return splu(sp.csc_array(N + regularisation)).solve
