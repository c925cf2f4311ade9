r"""The theorem behind curves: bounds of the optimal value at every t of a piece, from polynomials.

The program has data P, q, A, b and prices c that are affine in t,

.. math::

   V(t)=\min_x\ F_t(x)=f(x)+h_t(s(x)),\qquad f(x)=\tfrac12x^\top Px+q^\top x,\quad s(x)=b-Ax,\quad
   h_t(s)=\sup_{z\in Z(t)}-z^\top s,

with :math:`P\succeq0` at both ends of the line, and so at every t. Where a block of rows must be in a cone K the set Z
is its dual :math:`K^*` (all multipliers, for an equation), and h is 0 in K, infinite outside. Where a row may be missed
at a price, Z is the interval from 0 to c(t), and h is :math:`c\max(0,-s)`.

**At a point.** For any y and any z, of no set in particular, let :math:`r=Py+q+A^\top z` and
:math:`l(y,z)=f(y)-z^\top s(y)`. Then for every x'

.. math:: f(x')-z^\top s(x')\ \ge\ l(y,z)+r^\top(x'-y).\tag{1}

*Proof.* The left side is a convex quadratic function of x' (as :math:`P\succeq0`), whose value at y is l and whose
gradient there is r. :math:`\square` If z is in Z, then :math:`F_t(x')\ge f(x')-z^\top s(x')`, as h is a supremum.

**Mending multipliers.** Let :math:`z+\zeta e` and :math:`z_0-\delta e` be in Z for each block, :math:`\delta>0`. With
:math:`\lambda\ge\zeta/(\zeta+\delta)` the mean :math:`(1-\lambda)z+\lambda z_0` is in Z
(`paretoclf.proof.curves.cone_shares`). By (1) for both, and the mean of the two, for every x'

.. math:: F_t(x')\ge(1-\lambda)\big[l(y,z)+r^\top(x'-y)\big]+\lambda\big[l(y_0,z_0)+r_0^\top(x'-y_0)\big].\tag{2}

Nothing asks that :math:`z_0` be stationary, nor that l be concave: where P or A moves neither is so between two t.

**Mending points.** Likewise, if :math:`s(x)+\sigma e` and :math:`s(x_0)-\delta e` are in K for each block that must be,
and both keep the equations, then :math:`V\le(1-\tau)F^\circ(x)+\tau F^\circ(x_0)`, where :math:`F^\circ` has the prices
of soft rows alone: the mean is feasible, and F is convex.\ (3)

**Residuals.** *Into the multipliers:* there are e and w with :math:`Pe+A^\top w=r` at every t, and bounds of these
(`paretoclf.proof.curves.residuals`). Then :math:`(y-e,z-w)` has no residual, and by (1), as
:math:`f(x)-\hat z^\top s(x)=l(\hat y,\hat z)+\tfrac12(x-\hat y)^\top P(x-\hat y)`,

.. math:: l(\hat y,\hat z)=f(x)-\hat z^\top s(x)-\tfrac12(x-\hat y)^\top P(x-\hat y)

for any point x; no bound of any variable is needed. *Or into a box:* if every x' that is feasible, with
:math:`F_t(x')` at most a ceiling, lies in a box, **and the upper bound (3) is at most the ceiling at every t of the
piece**, then :math:`r^\top(x'-y)\ge-|r|^\top\mathrm{reach}` in (2), where reach is how far the box extends from y.
*Equations* are kept by x + d, where d is what their residuals are mended with.

**On a piece.** Let x, y, z be polynomials of u, from 0 to 1 over the piece. Then s and r are polynomials of one degree
more, f and :math:`z^\top s` of twice the degree and one more, and all are nowhere outside the range of their Bernstein
coefficients (`paretoclf.proof.curves.polynomials`). :math:`\max(0,p)\le\sum_i\max(0,p_i)B_i`, so that prices have a
bound that is a polynomial. :math:`\sigma,\zeta,\delta` are constants of the piece, which hold at each of its u. So (2)
and (3) hold at every u with the coefficients of their polynomials, and rounding is part of each of these.

**Conditions.** Each is needed: `tests/proof/curves/test_directed.py` has a program for each of which a judge without it
says something false. Slacks of :math:`x_0` are those at every t (where A moves they are no means of two ends); its
depth and that of :math:`z_0` are the least of the piece; prices bound multipliers from above; a second-order cone has a
side (:math:`s_1\ge0`); the reach is taken over all u; a cone is mended along an e that is inside it; equations are
mended first; P is semidefinite at both ends of the line.

**Cases.** Polynomials of degree 1 in exact numbers, with no shift and no residual, are an exact segment
(`paretoclf.proof.segments.theorem`): the bracket of prices and multipliers has the three coefficients that
`gap_of` takes. Points and multipliers that are affine between two solutions are the chords of a path within eps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.problem.definite import least_curvature
from paretoclf.proof.curves.cone_shares import Vectors, needed_share, share_of
from paretoclf.proof.curves.curve_program import CurveProgram, Ends
from paretoclf.proof.curves.polynomials import GRID, UP, Polynomials
from paretoclf.proof.curves.residuals import ApproximateInverse

#: How often a residual is subtracted as a polynomial: once more where the inverse misses something.
_FOLDS_STILL, _FOLDS_MOVING = 1, 2


@dataclass(frozen=True)
class CurvePiece:
    """Polynomials between two t, by their Bernstein coefficients, a row for each: as they are stored.

    Attributes
    ----------
    start, stop : float
        Whole multiples of `paretoclf.proof.curves.polynomials.GRID`, from 0 to 1.
    x, z : arrays of shape (degree + 1, n), (degree + 1, m)
        Points and multipliers.
    inner : array of shape (k, n)
        Points well inside the cones.
    inner_y, inner_z : arrays of shape (k, n), (k, m)
        Multipliers well inside the dual cones, and a y with which their residual is small.
    """

    start: float
    stop: float
    x: Array = field(repr=False)
    z: Array = field(repr=False)
    inner: Array = field(repr=False)
    inner_y: Array = field(repr=False)
    inner_z: Array = field(repr=False)

    @property
    def ends(self) -> Ends:
        """Both ends."""
        return self.start, self.stop


@dataclass(frozen=True)
class CurveBounds:
    """Bounds of the optimal value all over a piece; of the program, which minimises.

    Attributes
    ----------
    lower, upper : Polynomials
        The optimal value is between them at every t.
    lifted, shared : float
        Shares of the points, and of the multipliers, inside that the means have.
    misses : float
        By how much the inverse that takes residuals is missed; 0 where a box takes them.
    terms : Polynomials
        Terms of the objective at the path's points.
    """

    lower: Polynomials = field(repr=False)
    upper: Polynomials = field(repr=False)
    lifted: float
    shared: float
    misses: float
    terms: Polynomials = field(repr=False)

    @cached_property
    def apart(self) -> Polynomials:
        """Distance of both bounds."""
        return self.upper - self.lower

    def at(self, share: float) -> tuple[float, float]:
        """Bounds of the optimal value at a share of the piece."""
        least, off = self.lower.at(share)
        most, off_most = self.upper.at(share)
        return float(least - 2 * off), float(most + 2 * off_most)


class MendedPiece(NamedTuple):
    """Points of a piece and points inside, and pairs y, z of multipliers of both, within their radii."""

    x: Polynomials
    inner: Polynomials
    pair: tuple[Polynomials, Polynomials]
    inner_pair: tuple[Polynomials, Polynomials]


@dataclass(frozen=True)
class ValueBox:
    """Bounds of all feasible points whose objective is at most the ceiling, at any t."""

    low: Array = field(repr=False)
    high: Array = field(repr=False)
    ceiling: float


class CurveJudge:
    """Judge of the pieces of one program.

    Parameters
    ----------
    program : CurveProgram
    box : ValueBox, optional
        Takes residuals where the multipliers do not.
    """

    def __init__(self, program: CurveProgram, box: ValueBox | None = None) -> None:
        self.program, self.box = program, box

    def bounds(self, piece: CurvePiece) -> CurveBounds | str:
        """Bounds of the optimal value all over a piece, or the reason why there are none.

        Examples
        --------
        The least x that is at least t, with slacks (x - t) and multipliers 1:

        >>> import numpy as np
        >>> from paretoclf.proof.cones.cone_kinds import Cone, Cones
        >>> from paretoclf.proof.curves.curve_program import CurveProgram
        >>> from paretoclf.proof.curves.curve_theorem import CurveJudge, CurvePiece
        >>> P, A = np.zeros((1, 1)), np.array([[-1.0]])
        >>> program = CurveProgram((P, P), (A, A), np.ones((2, 1)), np.array([[0.0], [-1.0]]), np.zeros(2),
        ...                        Cones([Cone("nonnegative", 1)]))
        >>> one, x = np.array([[1.0]]), np.array([[0.0], [1.0]])
        >>> found = CurveJudge(program).bounds(CurvePiece(0.0, 1.0, x, np.vstack([one, one]), x + 1, one, one))
        >>> bool(found.apart.high().max() < 1e-14), [round(each, 9) for each in found.at(0.5)]
        (True, [0.5, 0.5])
        """
        wrong = _unfit(self.program, piece)
        if wrong:
            return wrong
        if not self.convex:
            return "P is not proved positive semidefinite at both ends of the line"
        above = self._above(piece)
        if isinstance(above, str):
            return above
        upper, lifted = above
        terms = self.program.terms(piece.ends, Polynomials.of(piece.x))
        whys = []
        for below in (self._below_by_multipliers(piece), self._below_in_box(piece, upper)):
            if isinstance(below, str):
                whys.append(below)
                continue
            lower, shared, misses = below
            return CurveBounds(lower, upper, lifted, shared, misses, terms)
        return "; ".join(whys)

    @cached_property
    def convex(self) -> bool:
        """Whether P is proved positive semidefinite at both ends of the line, and so at every t."""
        curvatures = [least_curvature(matrix, signs=True) for matrix in self.program.P]
        return all(bool(each.min(initial=0.0) >= 0.0) for each in curvatures)

    def mended(self, piece: CurvePiece) -> MendedPiece:
        """The polynomials of a piece, and those inside, after what they miss was subtracted as polynomials."""
        t, inverse = piece.ends, self._stationarity(piece.ends)
        x, inner = (Polynomials.of(each) for each in (piece.x, piece.inner))
        if self.program.equations.size:
            x, inner = (self._kept(self._equations(t), t, each) for each in (x, inner))
        pair, inner_pair = (
            self._stationary(inverse, t, Polynomials.of(y), Polynomials.of(z))
            for y, z in ((piece.x, piece.z), (piece.inner_y, piece.inner_z))
        )
        return MendedPiece(x, inner, pair, inner_pair)

    def kept(self, t: Ends, x: Array) -> Array:
        """Coefficients of points near given ones that keep the equations, up to a little of what those miss."""
        inverse = self._equations(t)
        return self._kept(inverse, t, Polynomials.of(x)).value if inverse.works else x

    # ---- from above: points -----------------------------------------------------------------------------------

    def _above(self, piece: CurvePiece) -> tuple[Polynomials, float] | str:
        """Upper bound of the value, and the share of the inner point."""
        program, t = self.program, piece.ends
        points = [Polynomials.of(each) for each in (piece.x, piece.inner)]
        if program.equations.size:
            inverse = self._equations(t)
            if not inverse.works:
                return "equations that depend on each other, or whose coefficients move too far, cannot be kept"
            points = [self._kept(inverse, t, each) for each in points]
        x, inner = points
        slack, deep = program.slack(t, x), program.slack(t, inner)
        partner = Polynomials.of(piece.z)
        share = self._share(Vectors(slack, deep, partner, dual=False), t)
        if not share < 1.0:
            return "no point is well inside the constraints"
        upper = _mean(share, program.cost(t, x), program.cost(t, inner))
        return upper, share

    def _kept(self, inverse: ApproximateInverse, t: Ends, x: Polynomials) -> Polynomials:
        """Points that keep the equations, within their radius."""
        rows = self.program.equations
        for _ in range(_FOLDS_MOVING if inverse.moving else _FOLDS_STILL):
            x = x + inverse.solved(self.program.slack(t, x)[rows])
        return x.widened(inverse.bound(self.program.slack(t, x)[rows]))

    def _share(self, vectors: Vectors, t: Ends) -> float:
        """The largest share of what is inside that any row or cone needs."""
        program, shares = self.program, [0.0]
        rows = program.hard
        least, deep = (each[rows].low().min(axis=0) for each in (vectors.near, vectors.inside))
        shares.append(float(share_of(np.maximum(-least, 0.0), deep).max(initial=0.0)))
        if vectors.dual and program.soft.size:
            shares.append(self._share_of_prices(vectors, t))
        shares.append(float(needed_share(program.cones, vectors).max(initial=0.0)))
        return max(shares)

    def _share_of_prices(self, vectors: Vectors, t: Ends) -> float:
        """The share that multipliers of soft rows need to be between 0 and their prices."""
        rows, price = self.program.soft, self.program.price(t)
        within = []
        for each in (vectors.near[rows], vectors.inside[rows]):
            room = (price - each).low().min(axis=0)
            within.append(np.minimum(each.low().min(axis=0), room))
        return float(share_of(np.maximum(-within[0], 0.0), within[1]).max(initial=0.0))

    # ---- from below: multipliers ------------------------------------------------------------------------------

    def _below_by_multipliers(self, piece: CurvePiece) -> tuple[Polynomials, float, float] | str:
        """Lower bound of the value, with residuals that go into the multipliers."""
        program, t, inverse = self.program, piece.ends, self._stationarity(piece.ends)
        if not inverse.works:
            return "matrices move too far on a piece, or leave a direction free"
        x, slack = Polynomials.of(piece.x), program.slack(t, Polynomials.of(piece.x))
        y, z = self._stationary(inverse, t, x, Polynomials.of(piece.z))
        start = Polynomials.of(piece.inner_y)
        inner_y, inner_z = self._stationary(inverse, t, start, Polynomials.of(piece.inner_z))
        share = self._share(Vectors(z, inner_z, slack, dual=True), t)
        if not share < 1.0:
            return "no multipliers are well inside the dual cones"
        below = self._dual_value(t, x, (y, z))
        below_inner = self._dual_value(t, start, (inner_y, inner_z))
        return _mean(share, below, below_inner), share, inverse.misses

    def _stationary(
        self, inverse: ApproximateInverse, t: Ends, y: Polynomials, z: Polynomials
    ) -> tuple[Polynomials, Polynomials]:
        """Pairs y, z without a residual, within their radius."""
        n = self.program.n
        for _ in range(_FOLDS_MOVING if inverse.moving else _FOLDS_STILL):
            move = inverse.solved(self.program.residual(t, y, z))
            y, z = y - move[:n], z - move[n:]
        left = inverse.bound(self.program.residual(t, y, z))
        return y.widened(left[:n]), z.widened(left[n:])

    def _dual_value(self, t: Ends, x: Polynomials, pair: tuple[Polynomials, Polynomials]) -> Polynomials:
        """Polynomial nowhere above l(y, z) of a pair without a residual, from a point near y."""
        y, z = pair
        away = (x - y).largest()
        quadratic = 0.5 * float(away @ (self.program.largest_P @ away)) * (UP + 1e-9)
        value = self.program.objective(t, x) - z.dot(self.program.slack(t, x))
        return value - Polynomials.constant(quadratic)

    def _below_in_box(self, piece: CurvePiece, upper: Polynomials) -> tuple[Polynomials, float, float] | str:
        """Lower bound of the value, with residuals times what is left of the box."""
        if self.box is None:
            return "no box of the variables is known"
        if not upper.high().max() <= self.box.ceiling:
            return "a value of the path is above the ceiling of its box"
        program, t = self.program, piece.ends
        x, z = Polynomials.of(piece.x), Polynomials.of(piece.z)
        inner_y, inner_z = Polynomials.of(piece.inner_y), Polynomials.of(piece.inner_z)
        share = self._share(Vectors(z, inner_z, program.slack(t, x), dual=True), t)
        if not share < 1.0:
            return "no multipliers are well inside the dual cones"
        below, below_inner = (self._in_box(t, *pair) for pair in ((x, z), (inner_y, inner_z)))
        if below is None or below_inner is None:
            return "a variable without bounds is not stationary"
        return _mean(share, below, below_inner), share, 0.0

    def _in_box(self, t: Ends, y: Polynomials, z: Polynomials) -> Polynomials | None:
        """Polynomial nowhere above the least of (1) over the box."""
        assert self.box is not None
        missed = self.program.residual(t, y, z).largest()
        reach = np.maximum(self.box.high - y.low().min(axis=0), y.high().max(axis=0) - self.box.low)
        lost = np.where(missed > 0.0, missed * np.where(missed > 0.0, reach, 0.0), 0.0)
        total = float(lost.sum()) * (UP + 1e-9)
        if not np.isfinite(total):
            return None
        value = self.program.objective(t, y) - z.dot(self.program.slack(t, y))
        return value - Polynomials.constant(total)

    # ---- matrices that are inverted ---------------------------------------------------------------------------

    def _stationarity(self, t: Ends) -> ApproximateInverse:
        """Inverse of P above A on a piece."""
        program = self.program
        if program.P[0] is program.P[1] and program.A[0] is program.A[1]:
            return self._still
        return ApproximateInverse.of(*(np.vstack(self._matrices(at)) for at in t))

    @cached_property
    def _still(self) -> ApproximateInverse:
        both = np.vstack([self.program.P[0], self.program.A[0]])
        return ApproximateInverse.of(both, both)

    def _equations(self, t: Ends) -> ApproximateInverse:
        """Inverse of the transposed equations on a piece."""
        rows, (first, last) = self.program.equations, self.program.A
        if first is last:
            return self._still_equations
        return ApproximateInverse.of(*(self._matrices(at)[1][rows].T for at in t))

    @cached_property
    def _still_equations(self) -> ApproximateInverse:
        transposed = self.program.A[0][self.program.equations].T
        return ApproximateInverse.of(transposed, transposed)

    def _matrices(self, t: float) -> tuple[Array, Array]:
        """P and A at t, rounded."""
        P, A = ((1.0 - t) * first + t * last for first, last in (self.program.P, self.program.A))
        return P, A


def _mean(share: float, near: Polynomials, inside: Polynomials) -> Polynomials:
    """Polynomials ``(1 - share) near + share inside``, for the share as it is rounded."""
    if share == 0.0:
        return near
    rest = Polynomials(np.array([1.0 - share]), np.array([2.0**-53]))
    return rest * near + inside.scaled(share)


def _unfit(program: CurveProgram, piece: CurvePiece) -> str:
    """Reason why a piece is none; empty where it is one."""
    on_grid = all((at / GRID).is_integer() for at in piece.ends)
    if not (0.0 <= piece.start <= piece.stop <= 1.0 and on_grid):
        return f"the piece from {piece.start!r} to {piece.stop!r} is not on the grid of t"
    points = [(each, program.n) for each in (piece.x, piece.inner, piece.inner_y)]
    widths = [*points, (piece.z, program.m), (piece.inner_z, program.m)]
    if any(each.ndim != 2 or each.shape[1] != width for each, width in widths):
        return "the piece has coefficients of other shapes than the program"
    if not all(np.isfinite(each).all() for each, _ in widths):
        return "the piece has coefficients that are no numbers"
    return ""
