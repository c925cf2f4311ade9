r"""Programs with fewer constraints, whose multipliers are those on a face of the dual cones of another program.

A multiplier on a face of a dual cone proves nothing while it may be off by its rounding: some neighbours are outside.
On the face itself it is a multiplier of a weaker constraint, and neighbours on the face stay there:

- of an exponential cone, :math:`(0,v,w)` belongs to :math:`y\ge0,\ z\ge0`;
- of a power cone, :math:`(u,v,0)` belongs to :math:`x\ge0,\ y\ge0`;
- of a positive semidefinite matrix, one with rows of zeros belongs to the principal submatrix of the other rows;
- of a second-order cone, one with zeros belongs to the cone of the other entries, and one of :math:`v_0` and a single
  entry that is as large to :math:`s_0\pm s_i\ge0`;
- multipliers that are all 0 belong to no constraint.

Each follows from the cone. So whatever is below the optimal value of the weaker program is below that of the other, and
where the weaker one has no feasible point, the other has none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index
from paretoclf.proof.cones.cone_kinds import Cone, Cones, blocks
from paretoclf.proof.cones.cone_program import ConeProgram

#: Entries of a multiplier of a second-order cone that differ by less, relative to it, are taken for as large.
_AS_LARGE = 0.1


@dataclass(frozen=True)
class Relaxation:
    """Weaker constraints: each row is one of the stronger program, or the sum or difference of two.

    Attributes
    ----------
    rows : sparse array
        Slacks of the weaker constraints are these times those of the stronger ones.
    first : array of int
        The row of the stronger program that gives each weaker row its multiplier.
    cones : Cones
        Cones of the weaker rows.
    """

    rows: Any = field(repr=False)
    first: Index = field(repr=False)
    cones: Cones = field(repr=False)

    @property
    def weaker(self) -> bool:
        """Whether anything was left out."""
        weaker, stronger = self.rows.shape
        return bool(weaker < stronger)

    def of(self, A: Any) -> Any | None:
        """Coefficients of the weaker rows; None where a sum of two rows would be rounded."""
        matrix = sp.csr_array(A)
        of_two = np.flatnonzero(np.diff(self.rows.indptr) == 2)
        at, sign = self.rows.indptr[of_two], self.rows.data
        first, second = (matrix[self.rows.indices[at + k]].toarray() * sign[at + k, None] for k in (0, 1))
        return sp.csr_array(self.rows @ matrix) if _exact(first, second) else None

    def program(self, program: ConeProgram) -> ConeProgram | None:
        """The weaker program; None where nothing is left out, or a number of it would be rounded."""
        if not self.weaker:
            return None
        A, b = self.of(program.A), self.of(program.b[:, None])
        if A is None or b is None:
            return None
        return ConeProgram(program.P, program.q, A, b.toarray()[:, 0], self.cones)

    def taken(self, z: Array) -> Array:
        """Multipliers of the weaker rows."""
        return z[self.first]

    def kept(self, z: Array, least: float) -> Array:
        """Multipliers of the weaker rows, without those of inequalities that are no larger than ``least``."""
        weaker = self.taken(z)
        plain = np.repeat([cone.kind == "nonnegative" for cone in self.cones], [cone.size for cone in self.cones])
        return np.where(plain & (weaker <= least), 0.0, weaker)

    def back(self, z: Array) -> Array:
        """Multipliers of the stronger program, on a face of its dual cones."""
        return np.asarray(self.rows.T @ z)


def relaxed(cones: Cones, z: Array, least: float = 0.0) -> Relaxation:
    """Constraints that belong to the face of the dual cones on which z is, where entries up to ``least`` count as 0.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.cones.cone_kinds import Cone, Cones
    >>> from paretoclf.proof.cones.relaxation import relaxed
    >>> found = relaxed(Cones([Cone("exponential"), Cone("psd", 2)]), np.array([-1e-12, 2, 1, 3, 1e-9, 1e-9]), 1e-8)
    >>> [(cone.kind, cone.size) for cone in found.cones], found.first.tolist()
    ([('nonnegative', 2), ('psd', 1)], [1, 2, 3])
    """
    entries: list[tuple[int, int, float]] = []
    first: list[int] = []
    kinds: list[Cone] = []
    for cone, at in blocks(cones):
        faces = _FACES.get(cone.kind, _all_of_it)
        for kind, places in faces(z[at], cone, least):
            kinds.append(kind)
            for place in places:
                entries += [(len(first), at.start + i, sign) for i, sign in place]
                first.append(at.start + place[0][0])
    number, column, sign = (np.array(each) for each in zip(*entries, strict=True)) if entries else _NO_ENTRIES
    rows = sp.csr_array((sign.astype(float), (number, column)), shape=(len(first), z.size))
    return Relaxation(rows, np.array(first, dtype=np.int64), Cones(kinds))


#: The row numbers and signs of a slack that is taken, and the cone of several of them.
_Row = list[tuple[int, float]]
_Face = list[tuple[Cone, list[_Row]]]

_NO_ENTRIES = np.zeros(0, dtype=int), np.zeros(0, dtype=int), np.zeros(0)


def _exact(first: Array, second: Array) -> bool:
    """Whether no sum of two numbers is rounded: the sum less either of them is the other."""
    total = first + second
    return bool((total - first == second).all() and (total - second == first).all())


def _single(places: Any) -> list[_Row]:
    """Rows as they are."""
    return [[(int(place), 1.0)] for place in places]


def _all_of_it(z: Array, cone: Cone, least: float) -> _Face:
    """The cone itself."""
    return [(cone, _single(range(cone.size)))]


def _of_exponential(z: Array, cone: Cone, least: float) -> _Face:
    """Signs of y and z where the multiplier of x is 0; nothing where all are."""
    if np.abs(z).max() <= least:
        return []
    return _all_of_it(z, cone, least) if abs(z[0]) > least else [(Cone("nonnegative", 2), _single([1, 2]))]


def _of_power(z: Array, cone: Cone, least: float) -> _Face:
    """Signs of x and y where the multiplier of the third entry is 0; nothing where all are."""
    if np.abs(z).max() <= least:
        return []
    return _all_of_it(z, cone, least) if abs(z[2]) > least else [(Cone("nonnegative", 2), _single([0, 1]))]


def _of_second_order(z: Array, cone: Cone, least: float) -> _Face:
    """The cone of the entries whose multipliers are not 0, or the side of it on which two are; nothing if all are 0."""
    if np.abs(z).max() <= least:
        return []
    others = np.flatnonzero(np.abs(z[1:]) > least) + 1
    if others.size == 1 and abs(abs(z[others[0]]) - z[0]) <= _AS_LARGE * z[0]:
        other = int(others[0])
        return [(Cone("nonnegative", 1), [[(0, 1.0), (other, float(np.sign(z[other])))]])]
    return [(Cone("second-order", 1 + others.size), _single([0, *others]))]


def _of_matrix(z: Array, cone: Cone, least: float) -> _Face:
    """The principal submatrix of rows whose multipliers on the diagonal are not 0; nothing where all are."""
    row, column = _places(cone.order)
    kept = np.zeros(cone.order, dtype=bool)
    diagonal = row == column
    kept[row[diagonal]] = z[diagonal] > least
    # Multipliers beside 0 on the diagonal are rounding, and without `least` they are no multipliers of the submatrix.
    outside = ~(kept[row] & kept[column])
    if least == 0.0 and z[outside].any():
        return _all_of_it(z, cone, least)
    order = int(kept.sum())
    return [(replace(cone, order=order), _single(np.flatnonzero(~outside)))] if order else []


def _places(order: int) -> tuple[Index, Index]:
    """Row and column of each entry of the vector of a symmetric matrix."""
    column, row = np.tril_indices(order)
    return row, column


_FACES: dict[str, Callable[[Array, Cone, float], _Face]] = {
    "exponential": _of_exponential,
    "power": _of_power,
    "second-order": _of_second_order,
    "psd": _of_matrix,
}
