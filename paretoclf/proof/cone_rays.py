r"""Why a line of cone programs on which A moves has no feasible point from some t on.

Multipliers z in the dual cone leave no feasible point at t where :math:`b(t)^\top z+|A(t)^\top z|^\top r<0`, with r the
size of the largest feasible points of the whole line, column by column: of a feasible x it is

.. math:: 0\le z^\top s=b(t)^\top z-(A(t)^\top z)^\top x .

Between two t the multipliers are interpolated, stay in the dual cone, and miss stationarity by what is interpolated and
by :math:`w\,dA^\top dz` with :math:`w=u(1-u)`, as in `paretoclf.proof.cone_bends`. All of that is at most
:math:`(1-u)^2a+u^2b+wc`, which is negative for every u where a and b are, and :math:`c\le0` or :math:`c^2<4ab`. Rows
t, z of a chain prove that there is no point from the first of them to the last, which is 1.
"""

from __future__ import annotations

import numpy as np

from paretoclf.common.checks import Array, Mask
from paretoclf.proof.cone_line import ConeLine
from paretoclf.proof.cone_pair import WIDER, PairJudge
from paretoclf.proof.cone_rows import dot, mixed
from paretoclf.proof.rays import RayProof

_EPS = float(np.finfo(float).eps)


class ChainJudge:
    """Judges chains of multipliers on a line."""

    def __init__(self, line: ConeLine) -> None:
        self._judge = PairJudge(line.still, np.inf)
        box, wide = self._judge.box, self._judge.wide
        self._reach = np.where(wide, 0.0, np.maximum(np.abs(box.low), np.abs(box.high)))
        self.why = self._judge.why

    def links(self, rays: Array) -> tuple[Array, Mask]:
        """Upper bounds at each row t, z, infinite where there is none; and whether each two rows prove what is between.

        A bound that is negative leaves no feasible point at that t.
        """
        judge, line, t = self._judge, self._judge.line, rays[:, 0]
        _, _, z, radius, missed, fine = judge.multipliers(t, np.zeros((t.size, line.n)), rays[:, 1:])
        b, sizes, absolute = mixed(line.b, t), mixed(np.abs(line.b), t), np.abs(z)
        cost = dot(missed, self._reach) * WIDER

        def product(k: slice, j: slice) -> Array:
            off = (line.m + 6) * _EPS * dot(sizes[k], absolute[j]) + dot(sizes[k], radius[j]) * WIDER
            return dot(b[k], z[j]) + off

        whole, before, after = slice(None), slice(None, -1), slice(1, None)
        own = np.where(fine, product(whole, whole) + cost, np.inf)
        back, h, dz = judge.A.back, np.diff(t), np.diff(z, axis=0)
        around = radius[before] + radius[after] + 2 * _EPS * (absolute[before] + absolute[after])
        bent = np.abs(back.gained(h, dz)) + back.sizes.gained(h, around) * WIDER
        bent = bent + (back.gains + 6) * _EPS * back.sizes.gained(h, np.abs(dz))
        cross = product(before, after) + product(after, before) + cost[before] + cost[after]
        cross = cross + dot(np.where(self._judge.wide, 0.0, bent), self._reach) * WIDER
        a, b_last = own[before], own[after]
        with np.errstate(invalid="ignore"):
            room = (cross <= 0.0) | (cross * cross * (1 + 16 * _EPS) < 4.0 * a * b_last)
        return own, (a < 0.0) & (b_last < 0.0) & room & (h > 0.0)


def judge_chain(line: ConeLine, rays: Array) -> RayProof:
    """From which t on the rows t, z prove that there is no feasible point."""
    nothing = RayProof(float("inf"), 0.0, float("inf"))
    if len(rays) < 2 or not (rays[:, 0] >= 0.0).all() or rays[-1, 0] != 1.0:
        return nothing
    judge = ChainJudge(line)
    own, proved = judge.links(rays)
    if judge.why or not proved[-1]:
        return nothing
    first = int(np.flatnonzero(np.append(False, proved) == 0)[-1])  # the links from there on are proved
    terms = float(np.abs(line.b[1]) @ np.abs(rays[-1, 1:]))
    return RayProof(0.0, -float(own[-1]) / max(terms, -float(own[-1])), float(rays[first, 0]))
