r"""The one problem behind every path: a convex quadratic program whose linear term and bounds are affine in t.

.. math::

   \min_x\ \tfrac12x^\top Px+q(t)^\top x+\sum_i\varphi_i(v_i,t),\qquad v=(x,Ax),\quad t\in[0,1],\quad P\succeq0 .

An *item* i is a variable or a row; :math:`v_i` is its value. :math:`\varphi_i` is 0 between its two bounds; beyond
them it is infinite (a hard bound) or grows with a slope (a soft one), so that hinge, pinball and absolute values are
one item each. A point x is optimal exactly if there are multipliers y, one an item, with
:math:`Px+q=y_x+A^\top y_r` and every :math:`(v_i,y_i)` on its staircase: while v grows, y falls.

==========  ===  ==========================  ===========================================
label       no.  known                       range
==========  ===  ==========================  ===========================================
``BELOW``   -2   y is the slope below        v at most the lower bound
``LOWER``   -1   v is the lower bound        y from 0 to the slope below
``INSIDE``  0    y = 0                       v between the bounds
``UPPER``    1   v is the upper bound        y from minus the slope above to 0
``ABOVE``    2   y is minus the slope above  v at least the upper bound
==========  ===  ==========================  ===========================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Mask
from paretoclf.common.memory import require_memory
from paretoclf.common.tolerances import POINT, SAME_NUMBER

BELOW, LOWER, INSIDE, UPPER, ABOVE = -2, -1, 0, 1, 2


@dataclass(frozen=True)
class ParametricQP:
    """A quadratic program along a line; what is affine in t has a row for t = 0 and one for t = 1.

    With arrays of doubles it is solved in doubles, with object arrays of fractions in fractions.

    Attributes
    ----------
    P : array of shape (n, n), sparse or not, or an operator
        Symmetric and positive semidefinite. An operator has it all by its method ``whole`` (`dense`).
    A : array of shape (m, n), sparse where P is
    q : array of shape (2, n)
    lower, upper : array of shape (2, n + m)
        Bounds of the variables, then of the rows; infinite where there is none (then at both ends).
    below, above : array of shape (2, n + m)
        By how much the objective grows for each unit of an item beyond its bound; infinite where the bound is hard
        (then at both ends).
    constant : array of shape (2,)
        Number added to the objective.
    names : tuple of str
        Names of the items, for messages; empty for plain numbers.
    """

    P: Any = field(repr=False)
    A: Any = field(repr=False)
    q: Any = field(repr=False)
    lower: Any = field(repr=False)
    upper: Any = field(repr=False)
    below: Any = field(repr=False)
    above: Any = field(repr=False)
    constant: Any = field(default_factory=lambda: np.zeros(2), repr=False)
    names: tuple[str, ...] = field(default=(), repr=False)

    @classmethod
    def hard(cls, P: Any, A: Any, q: Any, lower: Any, upper: Any, **more: Any) -> ParametricQP:
        """A problem whose bounds are all hard."""
        none = np.full(np.shape(lower), np.inf)
        return cls(P, A, q, lower, upper, none, none, **more)

    @classmethod
    def box(cls, P: Any, p: Array, A: Array, caps: Array, e: Any = 0, names: tuple[str, ...] = ()) -> ParametricQP:
        r"""Multipliers of samples: :math:`\min\tfrac12a^\top Pa-p^\top a` with :math:`Aa=e,\ 0\le a\le c`.

        Parameters
        ----------
        P : array or operator
        p : array of shape (n,)
        A : array of shape (m, n)
        caps : array of shape (2, n)
            c at both ends of the line; infinite at both where there is none.
        e : number or array of shape (2, m)
            Right-hand sides at both ends.
        names : tuple of str, optional
        """
        number = object if np.asarray(caps).dtype == object else np.float64
        n = np.shape(caps)[1]
        lower, upper = np.zeros((2, 2, n + A.shape[0]), dtype=number)
        upper[:, :n] = caps
        lower[:, n:] = upper[:, n:] = np.asarray(e, dtype=number)
        return cls.hard(P, A, np.repeat(-p[None], 2, axis=0), lower, upper, names=names)

    def dense(self) -> ParametricQP:
        """Problem with P and A as arrays; InputError where there is no memory for them."""
        if sp.issparse(self.P):
            n, m = self.n, self.items - self.n
            what = f"what is left of the compiled program, {n} columns and {m} rows, as an array"
            largest = "variables" if 3 * n >= 4 * m else "constraints"
            require_memory(8 * (3 * n + 4 * m) * n, what, f"use fewer {largest}, or a sweep")
            return replace(self, P=self.P.toarray(), A=self.A.toarray())
        return replace(self, P=self.P.whole()) if hasattr(self.P, "whole") else self

    @property
    def n(self) -> int:
        """Number of variables."""
        return int(np.shape(self.q)[1])

    @property
    def items(self) -> int:
        """Number of variables and rows."""
        return int(np.shape(self.lower)[1])

    @cached_property
    def fixed(self) -> Mask:
        """Items whose two bounds are equal all along the line, shape (items,)."""
        return np.asarray((self.lower == self.upper).all(axis=0), dtype=np.bool_)

    def name(self, item: int) -> str:
        """Name of an item in messages."""
        if self.names:
            return self.names[item]
        return f"variable {item}" if item < self.n else f"row {item - self.n}"


def shortest_stretch(*moving: Array) -> float:
    """Length below which a stretch of a line is a point: the data that depend on t do not determine t any better.

    A number that goes from a to b is rounded, hence determines t only up to its rounding over ``|b - a|``: the number
    that determines it worst counts, four times.

    Parameters
    ----------
    *moving : arrays of shape (2, ...)
        Data at t = 0 and t = 1. Numbers that are constant, up to the rounding of a sum, or infinite do not count.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.problem.parametric_qp import shortest_stretch
    >>> shortest_stretch(np.array([[0.0, 5.0], [2.0, 5.0]])) == 2.0**-51
    True
    >>> f"{shortest_stretch(np.array([1e6, 1e6 + 1.0])):.1e}"
    '8.9e-10'
    """
    return _resolution(moving, [np.abs(first) + np.abs(last) for first, last in moving])


def _resolution(moving: Sequence[Array], sizes: Sequence[Any]) -> float:
    """Longest stretch on which a number of its size changes by four roundings; it changes evenly along the line."""
    longest = 0.0
    for (first, last), size in zip(moving, sizes, strict=True):
        whole = np.abs(first) + np.abs(last)
        known = np.isfinite(whole)
        change = np.zeros(np.shape(whole))
        np.subtract(last, first, out=change, where=known)
        moves = known & (np.abs(change) > SAME_NUMBER * whole)
        relative = size[moves] / np.abs(change[moves])
        longest = max(longest, float(np.max(relative, initial=0.0)))
    return 2.0 * float(np.finfo(float).eps) * longest


def points_of(t: Array, *moving: Array) -> Mask:
    """Mask of the stretches from t[:, 0] to t[:, 1] that are points: the data *there* do not determine t any better.

    The rule is that of `shortest_stretch`, with the sizes of the numbers on each stretch in place of those along the
    line: where all of them vanish a short stretch is one. None is longer than ``POINT``.
    """
    length = t[:, 1] - t[:, 0]
    moving = (*moving, np.array([0.0, 1.0]))
    found = np.asarray(length <= min(shortest_stretch(*moving), POINT))
    for j in np.flatnonzero(found).tolist():
        sizes = []
        for first, last in moving:
            from_first = np.multiply.outer(1.0 - t[j], first)
            from_last = np.multiply.outer(t[j], last)
            sizes.append(np.abs(from_first + from_last).sum(axis=0))
        found[j] = length[j] <= _resolution(moving, sizes)
    return found
