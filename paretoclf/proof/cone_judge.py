r"""A cone program along a line, and what is proved of it at every t between two pairs.

.. math::

   f^*(t)=\inf_x\ \tfrac12x^\top Px+q(t)^\top x+d(t)\quad\text{s.t. }s=b(t)-Ax\in K,\qquad
   \sup_{y,z}\ -\tfrac12y^\top Py-b(t)^\top z+d(t)\quad\text{s.t. }Py+q(t)+A^\top z=0,\ z\in K^*,

with q, b, d affine in t. Take pairs x, s and y, z at two t that are feasible, and interpolate both linearly in u from 0
to 1. The equations are affine, K and its dual are convex: what comes out is feasible for every u, and with
:math:`e=x-y`

.. math:: f(x(u))-D(y(u),z(u))=\tfrac12e(u)^\top Pe(u)+z(u)^\top s(u)\le(1-u)^2a_k+u^2a_j+u(1-u)c,

where :math:`a=z^\top s+\tfrac12e^\top Pe` at each end and
:math:`c=z_k^\top s_j+z_j^\top s_k+\tfrac12e_k^\top Pe_k+\tfrac12e_j^\top Pe_j`. Four inner products prove every t
between the two. The largest value is :math:`\max(a_k,a_j)`, unless :math:`c>2\max(a_k,a_j)`: then it is
:math:`(c^2-4a_ka_j)/(4(c-a_k-a_j))`. Inside a segment of the exact path of a quadratic program c is 0.

**Rounding** is counted at the pairs only. A float x is within a radius of a point that satisfies the equations exactly
(`paretoclf.proof.points.enclosure`), with slacks that are in the cone wherever they are within theirs. Multipliers are
moved into their cones; what they miss, :math:`r=Py+q+A^\top z`, costs :math:`r^\top(x(u)-x)` for the x of a box that
holds, for every t of the line, the feasible points with an objective below a ceiling above all values of the path. As
r and the distance to the corners of the box are both affine in u, that is a quadratic of the same kind, and goes into
a and c. Where a column has no bound, the pair must be stationary exactly, and is enclosed. Numbers b(t) and q(t) are
the exact combinations of the doubles at both ends, also in equations: there 1 - t and t are two more unknowns that
stand still, and t is a multiple of :math:`2^{-44}`, so that both are doubles.

A and P may move, too, affine in t: `paretoclf.proof.cone_bends` has what that adds to the points and to c.

This is the judge: it knows no solver, and what it says is computed from the line, t, x, y, z, the ceiling and, where A
moves, two points well inside alone.

References: Giesen, Mueller, Laue, Swiercy, *Approximating concavely parameterized optimization problems* (2012), for
the growth of the number of pairs as eps to the power -1/2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.proof.cone_bends import NOTHING, ConePiece, bent_pieces
from paretoclf.proof.cone_pair import AT_ONCE, WIDER, Pair, PairJudge, StackedPairs, products
from paretoclf.proof.cone_rows import dot, mixed

_EPS = float(np.finfo(float).eps)


class ConeJudge(PairJudge):
    """Judges pairs and pieces of a line: a `PairJudge`, and what is between two pairs."""

    def piece(self, k: Pair, j: Pair) -> ConePiece:
        """What is proved between two pairs, the first at the smaller t."""
        return self.pieces([k], [j])[0]

    def pieces(self, firsts: Sequence[Pair], lasts: Sequence[Pair]) -> list[ConePiece]:
        """What is proved between each two pairs."""
        found = [NOTHING] * len(firsts)
        proved = [i for i, (k, j) in enumerate(zip(firsts, lasts, strict=True)) if not (k.why or j.why)]
        at_once = max(1, AT_ONCE // max(self.line.n, self.line.m))
        for first in range(0, len(proved), at_once):
            part = proved[first : first + at_once]
            k, j = StackedPairs.of([firsts[i] for i in part]), StackedPairs.of([lasts[i] for i in part])
            pieces = self._straight(k, j) if self.line.stands else bent_pieces(self, k, j)
            for i, piece in zip(part, pieces, strict=True):
                found[i] = piece
        return found

    def _straight(self, k: StackedPairs, j: StackedPairs) -> list[ConePiece]:
        """Pieces of a line on which no matrix moves."""
        missed = (dot(k.missed, j.reach) + dot(j.missed, k.reach)) * WIDER
        cross = products(k, j) + products(j, k) + missed + k.bent + j.bent
        # The objective at the point is a quadratic: between the smallest and the largest of three numbers.
        middle, off = self._middle(k, j)
        low = np.minimum(np.minimum(k.value - k.off, j.value - j.off), middle - off)
        high = np.maximum(np.maximum(k.value + k.off, j.value + j.off), middle + off)
        a, b, c = (np.maximum(each, 0.0) for each in (k.own, j.own, cross))
        return [ConePiece(*row) for row in np.stack([a, b, c, low, high], axis=1).tolist()]

    def _middle(self, k: StackedPairs, j: StackedPairs) -> tuple[Array, Array]:
        """The middle one of those three numbers, and what it is off at most."""
        line = self.line
        found = mixed(line.constant[:, None], 0.5 * (k.t + j.t))[:, 0]
        sizes, off = np.full(found.shape, float(self._constant_sizes.sum())), np.zeros(found.shape)
        for one, other in ((k, j), (j, k)):
            size = 0.5 * self.P.sizes.at(one.t, np.abs(one.x) + one.x_radius) + mixed(self._q_sizes, one.t)
            found = found + 0.5 * dot(0.5 * self.P.at(one.t, one.x) + mixed(line.q, one.t), other.x)
            off += 0.5 * dot(size, other.x_radius)
            sizes += dot(size, np.abs(other.x))
        return found, off * WIDER + 4 * (line.n + int(self.longer.max(initial=0))) * _EPS * sizes
