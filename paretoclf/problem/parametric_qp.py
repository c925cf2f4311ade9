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

from paretoclf.common.checks import Array, Index, Mask
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
        What is added to the objective.
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
        bounds = np.zeros((2, 2, n + A.shape[0]), dtype=number)
        bounds[:, :, n:], bounds[1, :, :n] = np.asarray(e, dtype=number), caps
        return cls.hard(P, A, np.repeat(-p[None], 2, axis=0), *bounds, names=names)

    def dense(self) -> ParametricQP:
        """The same with P and A as arrays; InputError where there is no memory for them."""
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
        """What messages call an item."""
        if self.names:
            return self.names[item]
        return f"variable {item}" if item < self.n else f"row {item - self.n}"


@dataclass(frozen=True)
class Trace:
    """What an engine found of a `ParametricQP`: k segments, on each of which all items are affine in t.

    Attributes
    ----------
    t : array of shape (k + 1,)
        Ends of the segments, increasing from 0; the last is 1 where ``status`` is "end". Twice 0 where there is one
        optimum at the start, and none beyond.
    labels : int array of shape (k, items)
    ends : int array of shape (k, 2)
        The two points between which each segment lies, the second the next one; where segments meet, they share one.
    values, multipliers : arrays of shape (points, items)
        Values and multipliers of all items at each point.
    status : str
        ``"end"``; ``"infeasible"`` or ``"unbounded"`` for every later t, with the ray; ``"limit"`` where as many
        exchanges were made as were allowed.
    ray : array of shape (items,), optional
        A direction: of values where it is unbounded, of multipliers where it is infeasible.
    exchanges : int
    item : int
        Where it is infeasible since the two bounds of one item cross: that item; else -1.
    log : optional
        What points of many items are made from when they are asked for (`paretoclf.engine.log`).
    """

    t: Array
    labels: Index = field(repr=False)
    ends: Index = field(repr=False)
    values: Any = field(repr=False)
    multipliers: Any = field(repr=False)
    status: str
    ray: Any = field(default=None, repr=False)
    exchanges: int = 0
    item: int = -1
    log: Any = field(default=None, repr=False)

    @classmethod
    def of(cls, t: Array, labels: Index, v: Any, y: Any, *more: Any) -> Trace:
        """A trace from values and multipliers at both ends of each segment, (k, 2, items)."""
        v, y = (each.reshape(-1, each.shape[-1]) for each in (v, y))
        return cls(t, labels, np.arange(len(v)).reshape(-1, 2), v, y, *more)

    def points(self, part: slice) -> tuple[Any, Any]:
        """Values of the variables, or of all items, and multipliers of all, at points that follow each other."""
        return (self.values[part], self.multipliers[part]) if self.log is None else self.log.points(part)

    @property
    def v(self) -> Any:
        """Values at both ends of each segment, shape (k, 2, items)."""
        return self.values[self.ends]

    @property
    def y(self) -> Any:
        """Multipliers at both ends of each segment, shape (k, 2, items)."""
        return self.multipliers[self.ends]


def shortest_stretch(*moving: Array) -> float:
    """The length below which a stretch of a line is a point, as the data that move say no more about t.

    A number that goes from a to b is rounded, hence says where a point is only up to its rounding over ``|b - a|``: the
    one that says least counts, four times.

    Parameters
    ----------
    *moving : arrays of shape (2, ...)
        Data at t = 0 and t = 1. What stands still, up to how a sum is rounded, or is infinite, says nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.problem.parametric_qp import shortest_stretch
    >>> shortest_stretch(np.array([[0.0, 5.0], [2.0, 5.0]])) == 2.0**-51
    True
    >>> f"{shortest_stretch(np.array([1e6, 1e6 + 1.0])):.1e}"
    '8.9e-10'
    """
    return _told_apart(moving, [np.abs(first) + np.abs(last) for first, last in moving])


def _told_apart(moving: Sequence[Array], sizes: Sequence[Any]) -> float:
    """Four roundings of numbers of these sizes, over how far each goes on the whole line: the longest such stretch."""
    least = 0.0
    for (first, last), size in zip(moving, sizes, strict=True):
        whole = np.abs(first) + np.abs(last)
        known = np.isfinite(whole)
        change = np.abs(np.subtract(last, first, out=np.zeros(np.shape(whole)), where=known))
        moves = known & (change > SAME_NUMBER * whole)
        least = max(least, float(np.max(size[moves] / change[moves], initial=0.0)))
    return 2.0 * float(np.finfo(float).eps) * least


def points_of(t: Array, *moving: Array) -> Mask:
    """Which stretches from t[:, 0] to t[:, 1] are points: no longer than t, or the data that move, say *there*.

    The same as `shortest_stretch` with what the numbers are on each stretch in place of what they are along the line:
    where all of them vanish a short stretch is one. None is longer than ``POINT``.
    """
    length = t[:, 1] - t[:, 0]
    moving = (*moving, np.array([0.0, 1.0]))
    found = np.asarray(length <= min(shortest_stretch(*moving), POINT))
    for j in np.flatnonzero(found).tolist():
        here = [np.multiply.outer(1.0 - t[j], first) + np.multiply.outer(t[j], last) for first, last in moving]
        found[j] = length[j] <= _told_apart(moving, [np.abs(ends).sum(axis=0) for ends in here])
    return found
