r"""The theorem behind the proof of every line: how far what is stored of a segment is from optimal, at each t of it.

The problem is a `paretoclf.problem.parametric_qp.ParametricQP`,

.. math::

   \min_x\ f(x)=\tfrac12x^\top Px+q^\top x+\sum_i\varphi_i(v_i),\qquad v=(x,Ax),\quad P\succeq0,

in which :math:`\varphi_i` is 0 from :math:`l_i` to :math:`u_i`, and costs :math:`c_i^-` a unit below, :math:`c_i^+`
above (infinite where the bound is hard); q, l, u, c are affine in t.

**At a point.** Let x keep its hard bounds, let multipliers y of the items be from :math:`-c_i^+` to :math:`c_i^-` (none
where there is no bound), and let u be any point with :math:`Pu+q=y_x+A^\top y_r`. Then x is no further above the
optimal value than

.. math::

   G=\tfrac12(x-u)^\top P(x-u)+\sum_iF_i,\qquad
   F_i=y_i^+(v_i-l_i)_++(c_i^--y_i^+)(l_i-v_i)_++y_i^-(u_i-v_i)_++(c_i^+-y_i^-)(v_i-u_i)_+ .

*Proof.* For each x', with values v', :math:`\tfrac12x'^\top Px'\ge u^\top Px'-\tfrac12u^\top Pu` as
:math:`P\succeq0`, and :math:`\varphi_i(v_i')\ge-y_iv_i'-\varphi_i^*(-y_i)`, where :math:`\varphi_i^*(-y)` is
:math:`-yl_i` for :math:`y\ge0` and :math:`-yu_i` for :math:`y\le0`. The sum is
:math:`f(x')\ge D:=-\tfrac12u^\top Pu-\sum_i\varphi_i^*(-y_i)`, because
:math:`(Pu+q)^\top x'=y_x^\top x'+y_r^\top Ax'=\sum_iy_iv_i'` cancels. At x itself
:math:`f(x)-D=\tfrac12(x-u)^\top P(x-u)+\sum_i[\varphi_i(v_i)+\varphi_i^*(-y_i)+y_iv_i]`, and the bracket is
:math:`F_i`, on each of the three sides of the two bounds. :math:`\square` So G is the difference of two objectives, as
a sum of what is not negative: nothing cancels in it.

**On a segment.** Let x, u, y be affine in t. They meet all conditions between two points at which they do. Each product
in :math:`F_i` has two factors, none negative. A positive part of what is affine is nowhere above its chord, but
:math:`c-y^+` is nowhere below it. So :math:`y^+` and :math:`y^-` are replaced by their chords a and b, one multiplier
for each bound: they are affine, their difference is y as that is affine, and each is at least what it replaces, by the
same :math:`s\ge0`. That adds :math:`s(u_i-l_i)\ge0` to :math:`F_i`, whatever the side of v; so nothing is lost but
tightness, and only where y changes its sign in the segment. Now no factor is above its chord; a product of chords has
three Bernstein coefficients, and lies nowhere above the largest (`paretoclf.proof.segments.bernstein`). So four numbers
of each bound prove every t (`gap_of`). A quotient of affine functions is largest at an end: that is
what residuals and complementarity are. On a stretch that is two points, as t is known no better, nothing at one end is
multiplied with what is at the other.

**Repair.** Where y misses its conditions, y + d meets them, and u moves by e, :math:`Pe=d_x+A^\top d_r`. As F is affine
in y on either side of 0, G is then

.. math::

   \sum_iF_i(y)+\sum_id_i(v_i-l_i)+\tfrac12(x-u-e)^\top P(x-u-e) ,

for a d at lower bounds; likewise at upper ones. Multipliers are clipped to their prices; those of a class whose sum is
too large are scaled down, and of one whose sum is too small moved up
(`paretoclf.proof.points.soft_margin.SoftMargin.feasible`). Whatever no move repairs is a residual,
measured in units of its own terms on the segment (`paretoclf.proof.programs.row_units.Units`): where the gradient
misses :math:`r=Pu+q-y_x-A^\top y_r`, a point x' is better than x by no more than :math:`G+r^\top(x-x')`.

**Rounding.** The effect of rounding of slacks, scores or kernel values on G has a bound of its own, beside that on G. A
stored optimal value is held against D and D + G (`paretoclf.proof.segments.stored_values`).

Modules of ``paretoclf.proof`` that prove with it, and how they read the problem:

===========================  ==========================================================================================
`programs.program_lines`     any program with rows :math:`Ax\le b`, hard or soft, and free columns; u = x
`programs.item_lines`        the problem as it stands: a row for every bound of every item
`lines.hinge_lines`          x = (w, b) and a row a sample, :math:`y_if(x_i)\ge1`, soft at the price of its cap; u is
                             the slope that the multipliers imply, and P is lam times that of w. Where b is free it
                             has no bound, so that its multiplier, the balance, must be 0
`lines.hull_lines`           x = (w, b, rho), rows :math:`y_if(x_i)-\rho\ge0`, soft; q is -nu for rho, and
                             :math:`\rho\ge0`: one product more, of rho and what multipliers add up to above nu
`lines.margin_lines`         x = (w, b), or with slacks xi whose squares are in P; the rows are hard
===========================  ==========================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.proof.segments.bernstein import columns


@dataclass(frozen=True)
class Entries:
    """Bounds that contribute to G, each on one segment: of samples, those that are listed or not clear of their margin.

    For a bound of a row a multiplier goes from 0 to the price, and the distance is how far the row is within the bound.
    For the two bounds of a variable, 0 and a cap, it is the other way round, and the sum is the same.

    Attributes
    ----------
    ptr : int array of shape (k + 1,)
        The listed ones of segment j are ``ptr[j]`` to ``ptr[j + 1] - 1``; behind all of these are the others.
    row, sample : int array of shape (e,)
        Segment, from the beginning of the block, and sample (or item).
    caps, alpha, margin : array of shape (2, e)
        At both ends of the segment: price, multiplier (no more than that), and distance, ``y_i f_i - target``.
    points : bool array of shape (k,), optional
        Segments that are two points, each judged by itself: there nothing at one end is multiplied with the other.
    """

    ptr: Index
    row: Index
    sample: Index
    caps: Array
    alpha: Array
    margin: Array
    points: Mask | None = None

    def largest(self, values: Array) -> tuple[Array, Index]:
        """Largest of some values (e,) on each of the k segments, and the sample it belongs to; at least 0."""
        most = self._reduced(np.maximum, values)
        sample = np.zeros(most.size, dtype=np.int64)
        reached = np.flatnonzero(values >= most.take(self.row))
        sample[self.row[reached]] = self.sample[reached]
        return most, sample

    def at_ends(self, values: Array) -> Array:
        """Largest of values (2, e) at both ends of each segment, (k, 2); at least 0."""
        return columns(*(self._reduced(np.maximum, each) for each in values))

    def add(self, *values: Array) -> Array:
        """Sums of some values (e,) on each segment, a column for each."""
        return columns(*(self._reduced(np.add, each) for each in values))

    def _reduced(self, combine: np.ufunc, values: Array) -> Array:
        """Combine 0 and the values (e,) of each segment."""
        found = np.zeros(self.ptr.size - 1)
        count = self.ptr[-1]
        some = self._listing
        found[some] = combine(0.0, combine.reduceat(values[:count], self.ptr[some]))
        combine.at(found, self.row[count:], values[count:])
        return found

    @cached_property
    def _listing(self) -> Index:
        """Segments on which any sample is listed."""
        return np.flatnonzero(self.ptr[1:] > self.ptr[:-1])

    @cached_property
    def at_points(self) -> Index:
        """Entries on segments that are two points: nearly always none."""
        if self.points is None or not self.points.any():
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(self.points.take(self.row))

    @cached_property
    def cap_slack(self) -> Array:
        """Distance of each multiplier from its cap, at both ends."""
        return self.caps - self.alpha


def gap_of(entries: Entries) -> Array:
    """Bernstein coefficients (k, 3) of the sum of all F, of which these bounds are part."""
    within = np.maximum(entries.margin, 0.0)
    beyond = within - entries.margin
    alpha, cap_slack = entries.alpha, entries.cap_slack
    start, end = alpha * within
    mixed = alpha * within[::-1]
    start += cap_slack[0] * beyond[0]
    end += cap_slack[1] * beyond[1]
    mixed += cap_slack * beyond[::-1]
    middle = 0.5 * (mixed[0] + mixed[1])
    alone = entries.at_points
    middle[alone] = 0.5 * (start[alone] + end[alone])
    return entries.add(start, middle, end)


def complementarity(entries: Entries, margin: Array, unit: Array) -> tuple[Array, Index]:
    """Largest residual on each of k segments, for margins in their units, and the sample it belongs to.

    ``unit`` (2, e) is the most that the multipliers can be: a quotient of two affine functions, it is largest at an
    end.
    """
    load_unit = slack_unit = unit
    movable = unit > 0.0
    if not movable.all():  # a multiplier that must be 0 has no load, and all of its slack, if it has any
        load_unit = np.where(movable, unit, np.inf)
        slack_unit = np.where(movable | (entries.cap_slack > 0.0), unit, np.inf)
    with np.errstate(divide="ignore", over="ignore"):
        load = entries.alpha / load_unit
        cap_slack = entries.cap_slack / slack_unit
    above = np.minimum(np.maximum(*load), np.maximum(*margin))
    below = np.minimum(np.maximum(*cap_slack), -np.minimum(*margin))
    alone = entries.at_points
    above[alone] = np.minimum(load[:, alone], margin[:, alone]).max(axis=0)
    below[alone] = np.minimum(cap_slack[:, alone], -margin[:, alone]).max(axis=0)
    return entries.largest(np.maximum(above, below))
