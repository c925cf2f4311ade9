r"""The best weighted guarantee of two classes at every weight, within eps: MEMPM along an interval of theta.

:math:`V(\theta)=\max_q\theta\Psi(u(q))+(1-\theta)\Psi(q)` is a maximum of affine functions of :math:`\theta`, and so
convex. Each hyperplane that is known gives one of them, a straight line below V. At some :math:`\theta_k` the outer
search (`paretoclf.distributions.gaussian.outer_search`) proves that nothing is above :math:`U_k`; between two of them V
is below the chord. What was solved at one weight serves at all others: a point of the curve u does not depend on theta.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, check_number, check_pair
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.common.progress import meter
from paretoclf.common.tables import Tabular
from paretoclf.distributions.gaussian.moments import chebyshev
from paretoclf.distributions.gaussian.outer_search import Node, Search, search
from paretoclf.proof.solution import Solution

#: What rounding can add to a guarantee, which is at most 1.
_ROUNDING = 1e-14

#: A search at one weight ends when value and bound are as close as this share of what is asked for.
_OWN = 0.1

#: No two weights are closer.
_SHORTEST = 1e-9

#: Programs that one search may solve.
_MOST = 400


@dataclass(frozen=True, repr=False)
class GuaranteePath(Tabular):
    """The best weighted guarantee at every weight of an interval, within eps.

    Attributes
    ----------
    machine : MEMPM
    theta : array of shape (k,)
        Where the outer search has been.
    most : array of shape (k,)
        What no guarantee there is above.
    nodes : tuple of Node
        Points of the curve of both distances, each reached by a hyperplane.
    eps : float
        How far the bounds may be apart, relative to the guarantee.

    Examples
    --------
    >>> import paretoclf as pc
    >>> path = pc.trace(pc.MEMPM.from_moments([4.0], [[1.0]], [0.0], [[1.0]]), theta=(0.4, 0.6), eps=1e-2)
    >>> path.passes()
    True
    >>> low, high = path.bounds(0.5)
    >>> low <= -0.8 <= high
    True
    """

    machine: Any = field(repr=False)
    theta: Array
    most: Array = field(repr=False)
    nodes: tuple[Node, ...] = field(repr=False)
    eps: float

    @cached_property
    def _rates(self) -> tuple[Array, Array]:
        """What the hyperplane of each node guarantees for negatives and positives."""
        rates = [(chebyshev(node.lower), chebyshev(node.q)) for node in self.nodes]
        minus, plus = np.array(rates, dtype=float).T
        return minus, plus

    def bounds(self, theta: float) -> tuple[float, float]:
        """Two numbers between which the optimal value is at this weight: minus the best weighted guarantee.

        It is the value of ``solve(theta)``, a minimisation. The larger one is that of a hyperplane.
        """
        theta = self._within(theta)
        high = float(np.interp(theta, self.theta, self.most)) + _ROUNDING
        return -high, -self._best(theta)[0]

    def value(self, theta: float) -> float:
        """Minus the weighted guarantee of the path's own hyperplane at this weight."""
        return self.bounds(theta)[1]

    def at(self, theta: float) -> Solution:
        """The best hyperplane that is known at this weight, moved to where the guarantee is stationary."""
        theta = self._within(theta)
        (value, k), high = self._best(theta), -self.bounds(theta)[0]
        solution: Solution = self.machine.found(theta, Search(self.nodes[k].q, value, max(high, value), self.nodes))
        return solution

    def _best(self, theta: float) -> tuple[float, int]:
        """The largest guarantee of a node, and its index."""
        minus, plus = self._rates
        values = theta * minus + (1.0 - theta) * plus
        k = int(np.argmax(values))
        return float(values[k]) - _ROUNDING, k

    def _within(self, theta: Any) -> float:
        number, low, high = check_number(theta, "theta"), float(self.theta[0]), float(self.theta[-1])
        if not low <= number <= high:
            raise InputError(f"theta must lie between {low:g} and {high:g}, got {number!r}")
        return number

    @property
    def worst(self) -> float:
        """The largest distance of both bounds, relative to the guarantee."""
        return max(self._gap(j) for j in range(self.theta.size - 1))

    def _gap(self, j: int) -> float:
        """The same between two weights: at the ends, and where the lines of two hyperplanes meet."""
        ends = self.theta[j : j + 2]
        found = [
            (float(np.interp(theta, ends, self.most[j : j + 2])) - value + 2 * _ROUNDING)
            / max(value, np.finfo(float).tiny)
            for theta, value in self._corners(*ends.tolist())
        ]
        return max(found)

    def _corners(self, a: float, b: float) -> list[tuple[float, float]]:
        """Both ends and where the best hyperplane changes between them, with the guarantee there."""
        minus, plus = self._rates
        (first, k), (last, i) = self._best(a), self._best(b)
        corners, todo = [(a, first), (b, last)], [(k, i)]
        while todo:
            k, i = todo.pop()
            rise = (minus[i] - plus[i]) - (minus[k] - plus[k])
            if not rise > 0.0:
                continue
            at = float(np.clip((plus[k] - plus[i]) / rise, a, b))
            value, best = self._best(at)
            if best in (k, i) or value <= at * minus[k] + (1.0 - at) * plus[k]:
                corners.append((at, value))
            else:
                todo += [(k, best), (best, i)]
        return corners

    def passes(self, tol: float | None = None) -> bool:
        """Whether both bounds are within ``tol``, by default eps, at every weight."""
        return self.worst <= (self.eps if tol is None else tol)

    def _rows(self) -> Iterator[dict[str, Any]]:
        for theta in self.theta.tolist():
            low, high = self.bounds(theta)
            yield {"theta": theta, "lower": low, "upper": high}

    def __repr__(self) -> str:
        low, high = self.theta[[0, -1]].tolist()
        return (
            f"GuaranteePath(theta {low:g} to {high:g}, within {self.eps:g} everywhere, {self.theta.size} searches, "
            f"{len(self.nodes)} points)"
        )


def trace_guarantees(machine: Any, eps: float, given: Mapping[str, Any], progress: bool | None = None) -> GuaranteePath:
    """Trace MEMPM along an interval of theta; ``given`` has ``theta=(from, to)``.

    Raises
    ------
    InputError
        If theta is no interval within (0, 1).
    DegeneratePathError
        If a search does not come as close as eps.
    """
    foreign = [name for name in given if name != "theta"]
    if foreign or "theta" not in given:
        raise InputError(f"MEMPM is traced with theta=(from, to), got {', '.join(given) or 'nothing'}")
    ends = sorted(machine.check_values({"theta": end})["theta"] for end in check_pair(given["theta"], "theta"))
    if ends[0] == ends[1]:
        raise InputError(f"theta must be a pair with different ends, got {given['theta']!r:.100}")
    known: dict[float, tuple[float, float]] = {}

    def inner(q: float) -> tuple[float, float]:
        if q not in known:
            known[q] = machine.point(q)
        return known[q]

    def bound(theta: float) -> float:
        found = search(theta, inner, machine.inner.ends, tol=_OWN * eps * max(theta, 1 - theta) / 2, most=_MOST)
        nodes.update({node.q: node for node in found.nodes})
        return found.bound

    nodes: dict[float, Node] = {}
    most = {theta: bound(theta) for theta in ends}
    with meter(progress) as update:
        j = 0
        while j < len(most) - 1:
            theta = np.array(sorted(most))
            path = GuaranteePath(
                machine, theta, np.array([most[each] for each in theta.tolist()]),
                tuple(nodes[q] for q in sorted(nodes)), eps,
            )  # fmt: skip
            if path._gap(j) <= eps:
                if update is not None:
                    update(float(theta[j + 1] - theta[j]) / (ends[1] - ends[0]))
                j += 1
                continue
            middle = float(0.5 * (theta[j] + theta[j + 1]))
            if theta[j + 1] - theta[j] <= _SHORTEST:
                raise DegeneratePathError(
                    f"bounds stay {path._gap(j):.1e} apart", t=middle, costs="", n_margin=None,
                    remedy="Ask for a larger eps.",
                )  # fmt: skip
            most[middle] = bound(middle)
    return path
