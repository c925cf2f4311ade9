r"""Share of a point inside that a mean with another point needs to be in all cones at every t of a piece.

Let :math:`w+\sigma e\in K` and :math:`w_0-\delta e\in K` with :math:`\sigma\ge0`, :math:`\delta>0` and :math:`e\in K`.
With :math:`\tau\ge\sigma/(\sigma+\delta)` the mean :math:`(1-\tau)w+\tau w_0` is in K: for the least such share it is
:math:`(1-\tau)(w+\sigma e)+\tau(w_0-\delta e)`, and a larger one adds more of :math:`w_0`, which is in K. Each cone has
its own :math:`\sigma`, :math:`\delta` and e, and the share is the largest. Where :math:`\sigma=0` it is enough that
:math:`w_0` is in K.

=================  ==================================================================================================
nonnegative        e = 1: the least coefficient
second-order       e = (1, 0, ...): coefficients of :math:`(w_1+\sigma)^2-|w_2|^2` and of :math:`w_1+\sigma`, both
semidefinite       e = I: `paretoclf.proof.curves.semidefinite_cone`
exponential        e inside both the cone and its dual (the border of a cone mends nothing):
                   `paretoclf.proof.curves.exponential_cone`
=================  ==================================================================================================

An equation has no share: points are mended before (`paretoclf.proof.curves.residuals`), multipliers have either sign.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from paretoclf.common.checks import Array, Mask
from paretoclf.proof.cones.cone_kinds import Alike, Cone, Cones, contains
from paretoclf.proof.curves.exponential_cone import FROM_DUAL, INSIDE, in_exponential
from paretoclf.proof.curves.polynomials import UP, Polynomials, evaluation
from paretoclf.proof.curves.semidefinite_cone import depth_of_matrix, shift_of_matrix

#: The smallest shift that is tried, relative to the entries of a point, and the largest.
_FIRST, _LAST = 2.0**-56, 2.0**10

#: Points of less than this size are shifted as if they had it: squares of smaller shifts underflow.
_LEAST = 1e-100

#: Shares of the depth that is found at some t, which are tried at all t of a piece.
_SHARES_OF_DEPTH = (0.95, 0.8, 0.5, 0.2, 0.05, 0.0)

#: Places at which the depth of a point is looked for, and halvings.
_PLACES, _HALVINGS = np.linspace(0.0, 1.0, 9), 60

#: For each of k points whether it is in its cone all over the piece.
Test = Callable[[Polynomials], Mask]


@dataclass(frozen=True)
class Vectors:
    """Vectors of the rows of a program: near the border of the cones, inside them, and partners of the first.

    ``dual`` says whether they are to be in the dual cones; partners are complementary to what is near.
    """

    near: Polynomials
    inside: Polynomials
    partner: Polynomials
    dual: bool


def needed_share(cones: Cones, vectors: Vectors) -> Array:
    """Share of the vector inside that each cone needs, (c,); infinite where none is enough, 0 for nonnegative rows.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.cones.cone_kinds import Cone, Cones
    >>> from paretoclf.proof.curves.cone_shares import Vectors, needed_share
    >>> from paretoclf.proof.curves.polynomials import Polynomials
    >>> cones, near = Cones([Cone("second-order", 2)]), Polynomials.of([[1.0, 1.5], [2.0, 2.0]])
    >>> inside = Polynomials.of([[1.0, 0.0], [1.0, 0.0]])
    >>> 0.33 < float(needed_share(cones, Vectors(near, inside, near, False))[0]) < 0.6
    True
    """
    shares = np.zeros(len(cones))
    for each in cones.alike:
        if each.kind in ("zero", "nonnegative"):
            continue
        does = _of_matrices if each.kind == "psd" else _of_tested
        shift, depth = does(each, vectors)
        shares[each.which] = share_of(shift, depth)
    return shares


def share_of(shift: Array, depth: Array) -> Array:
    """Shares for shifts and depths: infinite where the point that is to be inside is not.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.curves.cone_shares import share_of
    >>> share_of(np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.0, 1.0, -1.0, 0.0])).round(9).tolist()
    [0.0, 0.5, inf, inf]
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(shift > 0.0, shift / (shift + depth) * UP, 0.0)
    helps = (depth > 0.0) | ((shift == 0.0) & (depth >= 0.0))
    return np.where(helps & np.isfinite(shift), np.minimum(share, 1.0), np.inf)


def _of_matrices(each: Alike, vectors: Vectors) -> tuple[Array, Array]:
    """Shifts and depths of semidefinite matrices."""
    shifts, depths = [], []
    for rows in each.rows:
        depths.append(depth_of_matrix(vectors.inside[rows], each.order))
        shifts.append(shift_of_matrix(vectors.near[rows], vectors.partner[rows], each.order))
    return np.array(shifts), np.array(depths)


def _of_tested(each: Alike, vectors: Vectors) -> tuple[Array, Array]:
    """Shifts and depths in cones of which it is tested whether they contain a polynomial."""
    near, inside = vectors.near[each.rows], vectors.inside[each.rows]
    if each.kind == "exponential":
        if vectors.dual:
            near, inside = near.through(FROM_DUAL), inside.through(FROM_DUAL)
        guess = -1.1 * _depth_at_places(near, INSIDE, each)
        return _shift(near, INSIDE, in_exponential, guess), _depth(inside, INSIDE, in_exponential, each)
    if each.kind != "second-order":
        nothing = np.full(len(each.which), np.inf)
        return nothing, nothing
    raised = np.zeros(each.order)
    raised[0] = 1.0
    shift = _shift(near, raised, in_second_order, _raise_of_second_order(near))
    return shift, _depth(inside, raised, in_second_order, each)


def in_second_order(points: Polynomials) -> Mask:
    """Whether each of k points, of shape (degree + 1, k, order), is proved to be in the cone all over the piece."""
    height, tail = points[:, 0], points[:, 1:]
    below = (height * height - tail.dot(tail)).low().min(axis=0)
    return np.asarray((height.low().min(axis=0) >= 0.0) & (below >= 0.0))


def _moved(points: Polynomials, step: Array, direction: Array) -> Polynomials:
    """Points with a multiple of a direction added to each."""
    return points + Polynomials.constant(step[:, None]).scaled(direction)


def _raise_of_second_order(points: Polynomials) -> Array:
    """Guess by how much the first entries must be raised: until no coefficient of the test is negative."""
    height, tail = points[:, 0], points[:, 1:]
    below = (height * height - tail.dot(tail)).low()
    first = height.lifted(2 * points.degree).value
    with np.errstate(invalid="ignore"):
        root = np.sqrt(np.maximum(first * first - below, 0.0))
    needed = np.where(below < 0.0, root - first, 0.0)
    return np.asarray(1.01 * np.maximum(needed.max(axis=0), -height.low().min(axis=0)))


def _shift(points: Polynomials, direction: Array, test: Test, guess: Array) -> Array:
    """Multiples of a direction, doubled from a guess until the test is passed; infinite where it never is."""
    unit = np.maximum(points.largest().max(axis=1), _LEAST)
    found = np.zeros(len(unit))
    open_ = ~test(points)
    found[open_] = np.maximum(_FIRST * unit, guess)[open_]
    while open_.any():
        which = np.flatnonzero(open_)
        fine = test(_moved(points[which], found[which], direction))
        open_[which[fine]] = False
        found[open_] *= 2.0
        lost = open_ & ~(found <= _LAST * unit)
        found[lost], open_ = np.inf, open_ & ~lost
    return found


def _depth(points: Polynomials, direction: Array, test: Test, each: Alike) -> Array:
    """Multiples of a direction that can be taken off, so that the test is still passed; -1 where points fail it."""
    guess = _depth_at_places(points, direction, each)
    found, open_ = np.full(len(guess), -1.0), np.ones(len(guess), dtype=bool)
    for share in _SHARES_OF_DEPTH:
        which = np.flatnonzero(open_)
        if not which.size:
            break
        step = share * guess[which]
        fine = test(_moved(points[which], -step, direction))
        found[which[fine]] = step[fine]
        open_[which[fine]] = False
    return found


def _depth_at_places(points: Polynomials, direction: Array, each: Alike) -> Array:
    """Depths at some places of the piece, the least for each point: a guess, negative where a point is outside."""
    values = np.tensordot(evaluation(points.degree, _PLACES), points.value, 1)
    if each.kind == "second-order":
        margins = values[:, :, 0] - np.linalg.norm(values[:, :, 1:], axis=2)
        return np.asarray(margins.min(axis=0))
    count = values.shape[1]
    cones = Cones([Cone(each.kind, each.order)] * count)
    high = np.abs(values).max(axis=(0, 2)) / np.abs(direction).max() + np.finfo(float).tiny
    low = -4.0 * high
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        inner = values - middle[:, None] * direction
        flat = inner.reshape(len(_PLACES), -1)
        fine = contains(flat, np.zeros_like(flat), cones).all(axis=0)
        low, high = np.where(fine, middle, low), np.where(fine, high, middle)
    return np.asarray(low)
