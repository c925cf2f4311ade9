"""A compiled quadratic or linear program in two numbers from 0 to 1, in which q, b and the constant are affine."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import AFFINE
from paretoclf.engine.reduction.program import ProgramLine, bounds_of_items
from paretoclf.problem.parametric_qp import ParametricQP


@dataclass(frozen=True)
class ProgramPlane:
    """A compiled program; what is affine in both numbers has rows for (0, 0), (1, 0) and (0, 1).

    Attributes
    ----------
    line : ProgramLine
        The program from (0, 0) to (1, 0): its matrices, and the names of columns and rows.
    q, b : arrays of shape (3, n), (3, m)
    constant : array of shape (3,)
    """

    line: ProgramLine = field(repr=False)
    q: Array = field(repr=False)
    b: Array = field(repr=False)
    constant: Array = field(repr=False)

    @classmethod
    def of(cls, first: ProgramLine, second: ProgramLine, both: ProgramLine) -> ProgramPlane:
        """Make a plane of the lines from (0, 0) to (1, 0), to (0, 1), and to (1, 1), where it is checked.

        Raises
        ------
        InputError
            If the data are not affine in both numbers.
        """
        found = {}
        for key in ("q", "b", "constant"):
            begin = getattr(first, key)[0]
            one, other, corner = (getattr(line, key)[1] for line in (first, second, both))
            size = np.abs(begin) + np.abs(one)
            size = size + np.abs(other) + np.abs(corner)
            bend = corner - one - other + begin
            if (np.abs(bend) > AFFINE * size).any():
                raise InputError(
                    "the data of the problem must be affine in both parameters, got a product of the two, in a "
                    "CallbackParam: make it a cvxpy.Parameter"
                )
            found[key] = np.stack([begin, one, other])
        return cls(first, **found)

    @property
    def problem(self) -> ParametricQP:
        """The whole program with every row an item; its bounds and costs have three rows."""
        P, A = self.line.given.toarray(), self.line.A.toarray()
        lower, upper = bounds_of_items(self.q, self.b, self.line.equations)
        return ParametricQP.hard(P, A, self.q, lower, upper)

    def data(self, points: Array) -> tuple[Array, Array, Array]:
        """Evaluate q, b and the constant at points (k, 2): shapes (k, n), (k, m), (k,)."""
        weights = shares(points)
        return weights @ self.q, weights @ self.b, weights @ self.constant

    def terms(self, points: Array) -> tuple[Array, Array]:
        """Sizes of what q and b are sums of at points."""
        weights = np.abs(shares(points))
        return weights @ np.abs(self.q), weights @ np.abs(self.b)

    def between(self, start: Array, stop: Array) -> ProgramLine:
        """The program along a segment."""
        q, b, constant = self.data(np.stack([start, stop]))
        return replace(self.line, q=q, b=b, constant=constant)

    def gain(self, status: str, ray: Array) -> Array:
        """Gain of a ray, by (1, s, t): there is no optimum where it is positive.

        Parameters
        ----------
        status : {"infeasible", "unbounded"}
        ray : array
            Multipliers (m,) where it is infeasible, a direction (n,) where it is unbounded.
        """
        found = -(self.q if status == "unbounded" else self.b) @ ray
        return np.array([found[0], found[1] - found[0], found[2] - found[0]])


def shares(points: Array) -> Array:
    """Weights of the three corners (0, 0), (1, 0) and (0, 1) at points (..., 2).

    Examples
    --------
    >>> import numpy as np
    >>> shares(np.array([0.25, 0.5])).tolist()
    [0.25, 0.25, 0.5]
    """
    points = np.asarray(points)
    return np.asarray(np.concatenate([1.0 - points.sum(axis=-1, keepdims=True), points], axis=-1))
