"""A compiled quadratic or linear program in two numbers from 0 to 1, in which q, b and the constant are affine."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import AFFINE
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.problem.parametric_qp import ParametricQP


@dataclass(frozen=True)
class ProgramPlane:
    """A compiled program; what is affine in both numbers has rows for (0, 0), (1, 0) and (0, 1).

    Attributes
    ----------
    line : ProgramLine
        From (0, 0) to (1, 0): its matrices, and who is called how.
    q, b : arrays of shape (3, n), (3, m)
    constant : array of shape (3,)
    """

    line: ProgramLine = field(repr=False)
    q: Array = field(repr=False)
    b: Array = field(repr=False)
    constant: Array = field(repr=False)

    @classmethod
    def of(cls, first: ProgramLine, second: ProgramLine, both: ProgramLine) -> ProgramPlane:
        """From the lines that begin at (0, 0) and end at (1, 0), at (0, 1), and at (1, 1), where it is checked.

        Raises
        ------
        InputError
            If the data are not affine in both numbers.
        """
        found = {}
        for key in ("q", "b", "constant"):
            begin, one, other, corner = (getattr(first, key)[0], *(getattr(e, key)[1] for e in (first, second, both)))
            size = np.abs(begin) + np.abs(one) + np.abs(other) + np.abs(corner)
            if (np.abs(corner - one - other + begin) > AFFINE * size).any():
                raise InputError(
                    "the data of the problem must be affine in both parameters, got a product of the two, in a "
                    "CallbackParam: make it a cvxpy.Parameter"
                )
            found[key] = np.stack([begin, one, other])
        return cls(first, **found)

    @property
    def problem(self) -> ParametricQP:
        """The whole program with every row an item; its bounds and costs have three rows."""
        low = self.b.copy()
        low[:, self.line.equations :] = -np.inf
        none = np.full(self.q.shape, np.inf)
        return ParametricQP.hard(
            self.line.given.toarray(), self.line.A.toarray(), self.q, np.hstack([-none, low]), np.hstack([none, self.b])
        )

    def data(self, points: Array) -> tuple[Array, Array, Array]:
        """The three at points (k, 2): shapes (k, n), (k, m), (k,)."""
        weights = shares(points)
        return weights @ self.q, weights @ self.b, weights @ self.constant

    def between(self, start: Array, stop: Array) -> ProgramLine:
        """The program along a segment."""
        q, b, constant = self.data(np.stack([start, stop]))
        return replace(self.line, q=q, b=b, constant=constant)

    def gain(self, status: str, ray: Array) -> Array:
        """What a ray gains, by (1, s, t): there is no optimum where that is positive.

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
