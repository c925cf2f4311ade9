r"""A global search along the trade-off curve of Chebyshev guarantees, with a proof that nothing was missed.

To be maximised over :math:`q\in[0,r_1]` is :math:`\theta\Psi(u(q))+(1-\theta)\Psi(q)`, where :math:`u(q)` is the
largest :math:`u_-` at :math:`u_+=q`. It can have several local maxima. But u is convex (a maximum of affine functions
of q) and decreasing, so between two values at which it is known it lies below its chord, and :math:`\Psi` is
increasing: on every piece the maximum over the chord is an upper bound, and that one is the root of a polynomial.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Polynomial

from paretoclf.distributions.gaussian.moments import chebyshev


@dataclass(frozen=True)
class Node:
    """A point of the curve: q, and an interval that holds u(q)."""

    q: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Search:
    """Result of a search: the best point, and a bound.

    Attributes
    ----------
    q : float
        Position of the best value found.
    value : float
        Largest value found: it is reached.
    bound : float
        Upper bound on every value.
    nodes : tuple of Node
        Every point at which the curve was computed, in order.
    """

    q: float
    value: float
    bound: float
    nodes: tuple[Node, ...]


def weighted_guarantee(theta: float, u_minus: float, u_plus: float) -> float:
    r"""Objective :math:`\theta\Psi(u_-)+(1-\theta)\Psi(u_+)`."""
    return theta * chebyshev(u_minus) + (1.0 - theta) * chebyshev(u_plus)


def chord_maximum(theta: float, left: Node, right: Node) -> tuple[float, float]:
    """Largest objective over the chord between two nodes, and where it is.

    Examples
    --------
    >>> value, q = chord_maximum(0.5, Node(0.0, 4.0, 4.0), Node(4.0, 0.0, 0.0))
    >>> round(value, 9), round(q, 9)
    (0.8, 2.0)
    """
    slope = (right.upper - left.upper) / (right.q - left.q)
    q = Polynomial([0.0, 1.0])
    chord = Polynomial([left.upper - slope * left.q, slope])
    # Derivative of the objective along the chord, times (1 + q^2)^2 (1 + chord^2)^2 / 2.
    of_plus = (1 - theta) * q * (1 + chord**2) ** 2
    of_minus = theta * slope * chord * (1 + q**2) ** 2
    stationary = np.atleast_1d((of_plus + of_minus).roots())
    # Real parts of complex roots are points like any other: the largest value over a few points is what is wanted.
    inside = [float(root.real) for root in stationary if left.q < root.real < right.q]
    values = [(weighted_guarantee(theta, float(chord(point)), point), point) for point in inside]
    values += [(weighted_guarantee(theta, node.upper, node.q), node.q) for node in (left, right)]
    return max(values)


def search(
    theta: float,
    inner: Callable[[float], tuple[float, float]],
    ends: tuple[float, float],
    *,
    tol: float = 1e-9,
    most: int = 200,
) -> Search:
    """Maximise along the whole curve.

    Parameters
    ----------
    theta : float
        Weight of the negatives' guarantee, in (0, 1).
    inner : callable
        Lower and upper bound of u(q) for q strictly between the ends.
    ends : (float, float)
        The ends of the curve: u(0) and the q at which u is 0.
    tol : float
        The search ends when value and bound are this close.
    most : int
        Largest number of calls of inner.

    Examples
    --------
    >>> found = search(0.5, lambda q: (4 - q, 4 - q), (4.0, 4.0))
    >>> round(found.value, 9), round(found.q, 6)
    (0.8, 2.0)
    """
    nodes = [Node(0.0, ends[0], ends[0]), Node(ends[1], 0.0, 0.0)]
    pieces = [(*chord_maximum(theta, *nodes), 0)]  # bound, where, and the node on its left
    while True:
        value, q = max((weighted_guarantee(theta, node.lower, node.q), node.q) for node in nodes)
        bound, at, cut = max(pieces)
        left = nodes[cut]
        right = nodes[cut + 1]
        width = right.q - left.q
        if bound - value <= tol or len(nodes) >= most + 2 or width <= 1e-9 * ends[1]:
            return Search(q, value, max(bound, value), tuple(nodes))
        # Stay away from the ends of the piece: a cut beside one of them hardly makes the other part shorter.
        margin = 0.05 * width
        at = min(max(at, left.q + margin), right.q - margin)
        middle = Node(at, *inner(at))
        nodes.insert(cut + 1, middle)
        before = [piece for piece in pieces if piece[2] < cut]
        after = [(most_there, where, j + 1) for most_there, where, j in pieces if j > cut]
        halves = [(*chord_maximum(theta, left, middle), cut), (*chord_maximum(theta, middle, right), cut + 1)]
        pieces = before + halves + after
