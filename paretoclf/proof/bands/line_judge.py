r"""Proof of a cone program along a line: bounds that hold at every t between two pairs.

.. math::

   f^*(t)=\inf_x\ \tfrac12x^\top Px+q(t)^\top x+d(t)\quad\text{s.t. }s=b(t)-Ax\in K,\qquad
   \sup_{y,z}\ -\tfrac12y^\top Py-b(t)^\top z+d(t)\quad\text{s.t. }Py+q(t)+A^\top z=0,\ z\in K^*,

with q, b, d affine in t. Take pairs x, s and y, z at two t that are feasible, and interpolate both linearly in u from 0
to 1. The equations are affine, K and its dual are convex: the interpolated points are feasible for every u, and with
:math:`e=x-y`

.. math:: f(x(u))-D(y(u),z(u))=\tfrac12e(u)^\top Pe(u)+z(u)^\top s(u)\le(1-u)^2a_k+u^2a_j+u(1-u)c,

where :math:`a=z^\top s+\tfrac12e^\top Pe` at each end and
:math:`c=z_k^\top s_j+z_j^\top s_k+\tfrac12e_k^\top Pe_k+\tfrac12e_j^\top Pe_j`. Four inner products prove every t
between the two. The largest value is :math:`\max(a_k,a_j)`, unless :math:`c>2\max(a_k,a_j)`: then it is
:math:`(c^2-4a_ka_j)/(4(c-a_k-a_j))`. Inside a segment of the exact path of a quadratic program c is 0.

**Rounding** is counted at the pairs only. A float x is within a radius of a point that satisfies the equations exactly
(`paretoclf.proof.cones.enclosure`), with slacks that are in the cone wherever they are within theirs. Multipliers are
moved into their cones; their residual :math:`r=Py+q+A^\top z` costs :math:`r^\top(x(u)-x)` for the x of a box that
holds, for every t of the line, the feasible points with an objective below a ceiling above all values of the path. As
r and the distance to the corners of the box are both affine in u, that is a quadratic of the same kind, and goes into
a and c. Where a column has no bound, the pair must be stationary exactly, and is enclosed. Numbers b(t) and q(t) are
the exact combinations of the doubles at both ends, also in equations: there 1 - t and t are two more unknowns, which
are known exactly, and t is a multiple of :math:`2^{-44}`, so that both are doubles.

A and P may be affine in t, too: `paretoclf.proof.bands.moving_matrix` derives the additions to the points and to c.

This is the judge: it knows no solver. Its verdict is computed from the line, t, x, y, z, the ceiling and, where A
depends on t, two strictly feasible points alone.

References: Giesen, Mueller, Laue, Swiercy, *Approximating concavely parameterized optimization problems* (2012), for
the growth of the number of pairs as eps to the power -1/2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.proof.bands.moving_matrix import NOTHING, ConePiece, bent_pieces
from paretoclf.proof.bands.pairs import AT_ONCE, WIDER, Pair, PairJudge, StackedPairs, products
from paretoclf.proof.bands.row_products import dot, mixed

_EPS = float(np.finfo(float).eps)


class ConeJudge(PairJudge):
    """Judges pairs of a line of cone programs, and the pieces between them."""

    def piece(self, first: Pair, last: Pair) -> ConePiece:
        """Bound the gap between two pairs, the first at the smaller t."""
        return self.pieces([first], [last])[0]

    def pieces(self, firsts: Sequence[Pair], lasts: Sequence[Pair]) -> list[ConePiece]:
        """Bound the gap between each two pairs; nothing is proved next to a pair that is not."""
        found = [NOTHING] * len(firsts)
        both = zip(firsts, lasts, strict=True)
        proved = [i for i, (first, last) in enumerate(both) if not (first.why or last.why)]
        at_once = max(1, AT_ONCE // max(self.line.n, self.line.m))
        for begin in range(0, len(proved), at_once):
            part = proved[begin : begin + at_once]
            first = StackedPairs.of([firsts[i] for i in part])
            last = StackedPairs.of([lasts[i] for i in part])
            pieces = self._straight(first, last) if self.line.stands else bent_pieces(self, first, last)
            for i, piece in zip(part, pieces, strict=True):
                found[i] = piece
        return found

    def _straight(self, first: StackedPairs, last: StackedPairs) -> list[ConePiece]:
        """Pieces of a line on which both matrices are constant."""
        residuals = dot(first.missed, last.reach) + dot(last.missed, first.reach)
        cross = products(first, last) + products(last, first)
        cross = cross + residuals * WIDER + first.bent + last.bent
        # The objective at the point is a quadratic: between the smallest and the largest Bernstein coefficient.
        middle, middle_off = self._middle_coefficient(first, last)
        lower = first.value - first.off, last.value - last.off
        upper = first.value + first.off, last.value + last.off
        low = np.minimum(np.minimum(*lower), middle - middle_off)
        high = np.maximum(np.maximum(*upper), middle + middle_off)
        coefficients = [np.maximum(each, 0.0) for each in (first.own, last.own, cross)]
        return [ConePiece(*row) for row in np.stack([*coefficients, low, high], axis=1).tolist()]

    def _middle_coefficient(self, first: StackedPairs, last: StackedPairs) -> tuple[Array, Array]:
        """The middle Bernstein coefficient of the objective between two points, and how far off it is at most."""
        line, sizes = self.line, self.P.sizes
        found = mixed(line.constant[:, None], 0.5 * (first.t + last.t))[:, 0]
        terms = np.full(found.shape, float(self._constant_sizes.sum()))
        off = np.zeros(found.shape)
        for one, other in ((first, last), (last, first)):
            largest = np.abs(one.x) + one.x_radius
            size = 0.5 * sizes.at(one.t, largest) + mixed(self._q_sizes, one.t)
            product = self.P.at(one.t, one.x)
            slope = 0.5 * product + mixed(line.q, one.t)
            found = found + 0.5 * dot(slope, other.x)
            # Half of the quadratic term is in the slope of each point, and all of it changes with either.
            change = size + 0.5 * sizes.at(one.t, np.abs(one.x))
            off += 0.5 * dot(change, other.x_radius)
            terms += dot(size, np.abs(other.x))
        count = line.n + int(self.column_terms.max(initial=0))
        return found, off * WIDER + 4 * count * _EPS * terms
