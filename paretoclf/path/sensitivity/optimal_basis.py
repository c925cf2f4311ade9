r"""An optimal basis of a program, certified once: from one factor, how any movement of its data moves the optimum.

Let some rows :math:`A_S` be tight at an optimum, equations among them, such that

.. math:: \begin{pmatrix}P&A_S^\top\\A_S&0\end{pmatrix}
   \begin{pmatrix}\mathrm dx\\\mathrm dz_S\end{pmatrix}=\begin{pmatrix}-\mathrm dq\\\mathrm db_S\end{pmatrix}

has one solution. As long as no slack of another inequality and no multiplier of one in S falls below 0, the solution
for moved data is the optimum: with these *levels*, and their rates, everything beside the point is known.

Tight rows with one column fix it, and are taken out; what is left is the *core* K. With an approximate inverse R and
:math:`\kappa=\|1-RK\|_\infty<1`, the solution of :math:`Ku=g` is off an approximate one, whose residual is r, by no
more than :math:`|R||r|+\kappa\||R||r|\|_\infty/(1-\kappa)` in any entry. Rounding is counted in, so that every number
here has a *radius* within which it is exact for the data as they are stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.tolerances import CERTIFY
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.problem.parametric_qp import INSIDE
from paretoclf.proof.files.tight_labels import labels_of_rows
from paretoclf.proof.programs.row_units import Sizes, Units

_EPS = float(np.finfo(float).eps)

#: Unknowns of a core that is inverted: a larger one takes minutes, and gigabytes.
_LARGEST = 4000

#: An approximate inverse that misses 1 by more bounds too little.
_CONTRACTION = 1e-5

#: Radii of columns, against the largest column that has to do with them.
_KNOWN = 1e-9

#: Entries up to which a matrix is an array.
_SMALL = 2**14

#: Rounds in which rows and columns are brought to about one size.
_SCALINGS = 4

#: A number this many radii away from 0 is not 0, also where data were rounded before they came here.
CLEAR = 16.0


@dataclass(frozen=True)
class Within:
    """Numbers, and how far the exact ones may be from them, in arrays of one shape."""

    middle: Array
    radius: Array

    @classmethod
    def of(cls, numbers: Array) -> Within:
        """Numbers that are exact."""
        return cls(numbers, np.zeros_like(numbers))

    def __getitem__(self, rows: Any) -> Within:
        return Within(self.middle[rows], self.radius[rows])

    def __neg__(self) -> Within:
        return Within(-self.middle, self.radius)

    def __add__(self, other: Within) -> Within:
        rounding = _EPS * (np.abs(self.middle) + np.abs(other.middle))
        return Within(self.middle + other.middle, self.radius + other.radius + rounding)

    def __sub__(self, other: Within) -> Within:
        return self + -other

    def over(self, pivots: Array) -> Within:
        """Each row divided by its pivot."""
        found = self.middle / pivots[:, None]
        radius = self.radius / np.abs(pivots)[:, None]
        return Within(found, radius + _EPS * np.abs(found))

    @property
    def is_positive(self) -> Mask:
        """Whether each number is clearly above 0."""
        return np.asarray(self.middle > CLEAR * self.radius)

    @property
    def is_zero(self) -> Mask:
        """Whether each number is 0, or its rounding."""
        return np.asarray(np.abs(self.middle) <= CLEAR * self.radius)

    @property
    def shown(self) -> Array:
        """The numbers, with 0 for each that is 0 or its rounding."""
        return np.where(self.is_zero, 0.0, self.middle)


def times(matrix: Any, numbers: Within) -> Within:
    """A matrix, an array or sparse by rows, times numbers, a column each.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from paretoclf.path.sensitivity.optimal_basis import Within, times
    >>> found = times(sp.csr_array([[1.0, 2.0]]), Within.of(np.ones((2, 1))))
    >>> found.middle.tolist(), bool(found.radius[0, 0] < 1e-14)
    ([[3.0]], True)
    """
    longest = matrix.shape[1]
    if sp.issparse(matrix):
        longest = int(np.diff(matrix.indptr).max(initial=0))
    reach = numbers.radius + (longest + 2) * _EPS * np.abs(numbers.middle)
    middle, radius = matrix @ numbers.middle, abs(matrix) @ reach
    return Within(np.asarray(middle), np.asarray(radius))


@dataclass(frozen=True)
class Core:
    """A symmetric matrix with an approximate inverse, in units in which rows are of about one size.

    Attributes
    ----------
    scale : array of shape (k,)
        Powers of 2: scaling rounds nothing.
    matrix, inverse : arrays of shape (k, k)
        Scaled.
    contraction : float
        By how much the inverse misses 1, at most.
    """

    scale: Array
    matrix: Array
    inverse: Array
    contraction: float

    @classmethod
    def of(cls, K: Array) -> Core | None:
        """None where no inverse is proved."""
        size = len(K)
        if not size:
            return cls(np.ones(0), K, K, 0.0)
        scale = np.ones(size)
        for _ in range(_SCALINGS):
            most = (np.abs(K) * scale * scale[:, None]).max(axis=1)
            if not most.all():
                return None
            scale *= 2.0 ** np.round(-0.5 * np.log2(most))
        matrix = K * scale * scale[:, None]
        try:
            inverse: Array = np.linalg.inv(matrix).astype(np.float64)
        except np.linalg.LinAlgError:
            return None
        sizes = np.abs(inverse)
        missed = np.abs(np.eye(size) - inverse @ matrix)
        rounding = (size + 2) * _EPS * (sizes @ np.abs(matrix).sum(axis=1))
        contraction = float((missed.sum(axis=1) + rounding).max())
        return cls(scale, matrix, inverse, contraction) if contraction <= _CONTRACTION else None

    def solve(self, right: Within) -> Within:
        """The solution for each column."""
        if not len(self.matrix):
            return right
        scale, rounding = self.scale[:, None], (len(self.matrix) + 3) * _EPS
        goal = right.middle * scale
        found = self.inverse @ goal
        found += self.inverse @ (goal - self.matrix @ found)
        terms = np.abs(self.matrix) @ np.abs(found)
        terms += np.abs(goal)
        left = np.abs(goal - self.matrix @ found)
        left += rounding * terms
        left += right.radius * scale
        radius = np.abs(self.inverse) @ left * (1.0 + rounding)
        radius += self.contraction / (1.0 - self.contraction) * radius.max(axis=0, initial=0.0)
        return Within(found * scale, radius * scale)


@dataclass(frozen=True)
class Movement:
    """Movements of the optimum of a basis, for k movements of the data.

    Attributes
    ----------
    x : Within of shape (n, k)
    z : Within of shape (m, k)
        Multipliers; 0 of rows that are not in the basis.
    rates : Within of shape (m, k)
        Of the level of each row: of its multiplier, if it is in the basis, else of its slack.
    """

    x: Within
    z: Within
    rates: Within


@dataclass(frozen=True)
class Basis:
    """Tight rows that make an optimum and its multipliers the one solution of linear equations.

    Attributes
    ----------
    line : ProgramLine
    fixing : int array of shape (f,)
        Rows of the basis with one column.
    fixed, free : int arrays of shapes (f,) and (n - f,)
        The columns that these fix, and the others.
    rows : int array
        All other rows of the basis.
    core : Core
        Of free columns, then these rows.
    """

    line: ProgramLine
    fixing: Index
    fixed: Index
    free: Index
    rows: Index
    core: Core

    @classmethod
    def of(cls, line: ProgramLine, members: Index) -> Basis | None:
        """The basis of these rows; None where it is none, or where that is not proved."""
        A = line.rows
        single = np.diff(A.indptr)[members] == 1
        fixing = members[single]
        fixed, first = np.unique(A.indices[A.indptr[fixing]], return_index=True)
        if first.size < fixing.size:
            return None
        fixing, rows = fixing[first], members[~single]
        free = np.setdiff1d(np.arange(line.n), fixed)
        if free.size + rows.size > _LARGEST:
            return None
        curvature = _dense(_ready(line.P)[free][:, free])
        own = _dense(_ready(A)[rows][:, free])
        nothing = np.zeros((rows.size, rows.size))
        core = Core.of(np.block([[curvature, own.T], [own, nothing]]))
        return None if core is None else cls(line, fixing, fixed, free, rows, core)

    @cached_property
    def active(self) -> Mask:
        """Rows of the basis, shape (m,)."""
        found = np.zeros(self.line.m, dtype=np.bool_)
        found[self.fixing] = found[self.rows] = True
        return found

    @cached_property
    def inequality(self) -> Mask:
        """Rows that are no equations, shape (m,)."""
        return np.asarray(np.arange(self.line.m) >= self.line.equations)

    @cached_property
    def optimum(self) -> Movement:
        """The optimum itself, a column, with levels for rates: what it is moved to from data that are 0."""
        return self.moved(self.line.q[0][:, None], self.line.b[0][:, None])

    @cached_property
    def _parts(self) -> tuple[Any, ...]:
        """Coefficients: P by free and by fixed rows; A by rows of the core; its columns that are fixed; pivots; A."""
        by_rows = self.line.rows
        P, A = _ready(self.line.P), _ready(by_rows)
        of_core = A[self.rows]
        tall = _ready(of_core.T)
        pivots = by_rows.data[by_rows.indptr[self.fixing]]
        return P[self.free], P[self.fixed], of_core, tall[self.fixed], pivots, A

    def moved(self, q: Array, b: Array) -> Movement:
        """The movements of the optimum for those of the data, q (n, k) and b (m, k)."""
        P_free, P_fixed, A_rows, A_fixed, pivots, A = self._parts
        count = q.shape[1]
        x = Within.of(np.zeros((self.line.n, count)))
        z = Within.of(np.zeros((self.line.m, count)))
        _put(x, self.fixed, Within.of(b[self.fixing]).over(pivots))
        top = -times(P_free, x) - Within.of(q[self.free])
        low = Within.of(b[self.rows]) - times(A_rows, x)
        solved = self.core.solve(_stacked(top, low))
        _put(x, self.free, solved[: self.free.size])
        own = solved[self.free.size :]
        _put(z, self.rows, own)
        gradient = times(P_fixed, x) + Within.of(q[self.fixed])
        gradient += times(A_fixed, own)
        _put(z, self.fixing, (-gradient).over(pivots))
        rates = Within.of(b) - times(A, x)
        _put(rates, np.flatnonzero(self.active), z[self.active])
        return Movement(x, z, rates)

    @cached_property
    def weak(self) -> Mask:
        """Inequalities whose level is 0 up to rounding, shape (m,): where there are some, the basis is degenerate."""
        return np.asarray(self.inequality & ~self.optimum.rates.is_positive[:, 0])

    def rate(self, q: Array, b: Array) -> Within:
        """Return the rates of the optimal value for k movements of the data, q (n, k) and b (m, k): a column."""
        x, z = self.optimum.x, self.optimum.z
        return times(q.T, x) - times(b.T, z)

    @cached_property
    def dependent(self) -> Mask:
        """Equations that are left out, as the others say what they say, shape (m,)."""
        return ~self.inequality & ~self.active

    @cached_property
    def resting(self) -> Mask:
        """Equations that are left out, and hold only where inequalities of the basis are tight, shape (m,)."""
        found, rows = np.zeros(self.line.m, dtype=np.bool_), np.flatnonzero(self.dependent)
        if rows.size:
            shares = self.moved(-self.line.rows[rows].toarray().T, np.zeros((self.line.m, rows.size))).z
            found[rows] = (~shares.is_zero & self.inequality[:, None]).any(axis=0)
        return found

    @property
    def is_degenerate(self) -> bool:
        """Whether a level is 0, or an equation left out."""
        return bool(self.weak.any() or self.dependent.any())

    def _is_optimal(self, sizes: Sizes) -> bool:
        """Whether no level is clearly below 0, left out equations hold, and columns are known well enough."""
        levels, x = self.optimum.rates, self.optimum.x
        if (levels.middle < -CLEAR * levels.radius)[self.inequality].any():
            return False
        if not levels.is_zero[self.dependent].all():
            return False
        largest = sizes.connected(np.abs(x.middle.T))[0]
        room = largest.T * _KNOWN
        return not (x.radius > room).any()


def basis_at(line: ProgramLine, x: Array, z: Array) -> Basis | None:
    """The basis of an optimum (x, z) at the beginning of a line; None where none is certified.

    Examples
    --------
    The least 2 x0 + x1 with x0 >= 3 and x1 >= 0:

    >>> import numpy as np
    >>> from paretoclf.engine.reduction.of_arrays import line_of
    >>> from paretoclf.path.sensitivity.optimal_basis import basis_at
    >>> from paretoclf.problem.qp import QP
    >>> line = line_of(QP(None, [2.0, 1.0], np.eye(2), [3.0, 0.0], None), {}, {})
    >>> basis = basis_at(line, np.array([3.0, 0.0]), np.array([2.0, 1.0]))
    >>> basis.is_degenerate, basis.moved(np.zeros((2, 1)), np.array([[-1.0], [0.0]])).x.middle[:, 0] + 0.0
    (False, array([1., 0.]))
    """
    sizes = Sizes(line)
    strict, tight = rows_at(line, x, z, sizes)
    equation = np.arange(line.m) < line.equations
    basis = Basis.of(line, np.flatnonzero(strict))
    if basis is None and line.n <= _LARGEST:
        labels = labels_of_rows(line, strict, tight)
        held = labels[: line.n] == INSIDE
        members = labels[line.n :] != INSIDE
        if held.all() and not (strict & ~equation & ~members).any():
            basis = Basis.of(line, np.flatnonzero(members))
    return basis if basis is not None and basis._is_optimal(sizes) else None


def rows_at(line: ProgramLine, x: Array, z: Array, sizes: Sizes) -> tuple[Mask, Mask]:
    """Equations, and rows with a multiplier, at an optimum (x, z) at the beginning of a line; and all without slack."""
    units = Units.at(line, np.zeros(1), x[None], z[None], sizes)
    equation = np.arange(line.m) < line.equations
    slack = units.slacks[0] * (line.b[0] - line.A @ x)
    price = units.prices((z > 0.0)[None])[0] * z
    strict = np.asarray(equation | (price > np.maximum(slack, 0.0)))
    return strict, np.asarray(strict | (slack <= CERTIFY))


def labels_at(line: ProgramLine, x: Array, z: Array) -> Index:
    """Labels of columns and rows at an optimum (x, z) at the beginning of a line, in doubles."""
    return labels_of_rows(line, *rows_at(line, x, z, Sizes(line)))


def _ready(matrix: Any) -> Any:
    """A matrix as an array, if it is small: most of the time that a product takes would not be for numbers."""
    if not sp.issparse(matrix):
        return matrix
    rows, columns = matrix.shape
    return matrix.toarray() if rows * columns <= _SMALL else sp.csr_array(matrix)


def _dense(matrix: Any) -> Array:
    """A matrix as an array."""
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix)


def _put(into: Within, places: Any, numbers: Within) -> None:
    """Write numbers into rows."""
    into.middle[places], into.radius[places] = numbers.middle, numbers.radius


def _stacked(top: Within, low: Within) -> Within:
    """One above the other."""
    middle = np.vstack([top.middle, low.middle])
    radius = np.vstack([top.radius, low.radius])
    return Within(middle, radius)
