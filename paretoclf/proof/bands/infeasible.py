r"""Proof that a line of cone programs on which A depends on t has no feasible point from some t on.

Multipliers z in the dual cone leave no feasible point at t where :math:`b(t)^\top z+|A(t)^\top z|^\top r<0`, with r the
size of the largest feasible points of the whole line, column by column: for a feasible x

.. math:: 0\le z^\top s=b(t)^\top z-(A(t)^\top z)^\top x .

Between two t the multipliers are interpolated and stay in the dual cone; their stationarity residual is the
interpolated one and :math:`w\,dA^\top dz` with :math:`w=u(1-u)`, as in `paretoclf.proof.bands.moving_matrix`. The sum
of all is at most
:math:`(1-u)^2a+u^2b+wc`, which is negative for every u where a and b are, and :math:`c\le0` or :math:`c^2<4ab`. Rows
t, z of a chain prove that there is no point from the first of them to the last, which is 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretoclf.common.checks import Array, Mask
from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.proof.bands.pairs import WIDER, PairJudge
from paretoclf.proof.bands.row_products import difference_radius, dot, mixed
from paretoclf.proof.programs.rays import RayProof

_EPS = float(np.finfo(float).eps)


class ChainJudge:
    """Judges chains of multipliers on a line."""

    def __init__(self, line: ConeLine) -> None:
        self._judge = PairJudge(line.still, np.inf)
        self._reach = np.where(self._judge.wide, 0.0, self._judge.box.reach)
        self.why = self._judge.why

    def links(self, rays: Array) -> tuple[Array, Mask]:
        """Bound each row t, z of a chain, and say whether each two rows prove that there is no point between them.

        A bound that is negative leaves no feasible point at that t; it is infinite where nothing is proved.
        """
        t = rays[:, 0]
        judge, line = self._judge, self._judge.line
        no_y = np.zeros((t.size, line.n))
        _, _, z, radius, missed, fine = judge.multipliers(t, no_y, rays[:, 1:])
        sizes = mixed(np.abs(line.b), t)
        sides = _ChainSides(mixed(line.b, t), sizes, z, radius)
        cost = dot(missed, self._reach) * WIDER
        whole, before, after = slice(None), slice(None, -1), slice(1, None)
        own = np.where(fine, sides.product(whole, whole) + cost, np.inf)
        cross = sides.product(before, after) + sides.product(after, before)
        cross = cross + cost[before] + cost[after]
        cross = cross + dot(self._residual_between(t, z, radius), self._reach) * WIDER
        first, last = own[before], own[after]
        with np.errstate(invalid="ignore"):
            small = cross * cross * (1 + 16 * _EPS) < 4.0 * first * last
            between = (cross <= 0.0) | small
        return own, (first < 0.0) & (last < 0.0) & between & (np.diff(t) > 0.0)

    def _residual_between(self, t: Array, z: Array, radius: Array) -> Array:
        """Bound on ``dA'dz`` between each two rows, column by column; 0 in columns without bounds."""
        back = self._judge.A.back
        length, change = np.diff(t), np.diff(z, axis=0)
        around = difference_radius(z[:-1], radius[:-1], z[1:], radius[1:])
        radii = back.sizes.gained(length, around) * WIDER
        residual = np.abs(back.gained(length, change)) + radii
        residual = residual + back.gained_rounding(length, change)
        return np.where(self._judge.wide, 0.0, residual)


@dataclass(frozen=True)
class _ChainSides:
    """Right-hand sides, sums of sizes of their terms, and multipliers within a radius, a row for each t."""

    b: Array
    sizes: Array
    z: Array
    radius: Array

    def product(self, of_b: slice, of_z: slice) -> Array:
        """Upper bounds of ``b'z`` for some rows of b and some rows of z."""
        z, sizes = self.z[of_z], self.sizes[of_b]
        rounding = (z.shape[-1] + 6) * _EPS * dot(sizes, np.abs(z))
        off = rounding + dot(sizes, self.radius[of_z]) * WIDER
        return np.asarray(dot(self.b[of_b], z) + off)


def judge_chain(line: ConeLine, rays: Array) -> RayProof:
    """Prove that there is no feasible point from some t on, by the rows t, z of a chain."""
    nothing = RayProof(float("inf"), 0.0, float("inf"))
    if len(rays) < 2 or not (rays[:, 0] >= 0.0).all() or rays[-1, 0] != 1.0:
        return nothing
    judge = ChainJudge(line)
    own, proved = judge.links(rays)
    if judge.why or not proved[-1]:
        return nothing
    first = int(np.flatnonzero(np.append(False, proved) == 0)[-1])  # the links from there on are proved
    terms = float(np.abs(line.b[1]) @ np.abs(rays[-1, 1:]))
    gain = -float(own[-1])
    return RayProof(0.0, gain / max(terms, gain), float(rays[first, 0]))
