r"""Margins and sums on segments, in blocks; nothing is accumulated from one block to the next.

The problem is a support vector machine with caps :math:`c_i(t)` that are affine in t and labels :math:`y_i`,

.. math::

   \min\ \tfrac\lambda2\|w\|^2+\sum_ic_i\xi_i-\nu\rho\quad\text{s.t.}\quad y_if(x_i)\ge\rho-\xi_i,\ \xi_i\ge0,

with :math:`\rho=1` and without :math:`\nu\rho` (2C-SVM, quantile SVM), or with a free :math:`\rho\ge0` (2nu-SVM). Each
sample is a row with a soft bound, so that G of `paretoclf.proof.segments.theorem` is, with :math:`g_i=y_if(x_i)-\rho`,

.. math::

   P-D=\sum_i\alpha_i(g_i)_++\sum_i(c_i-\alpha_i)(-g_i)_++\tfrac\lambda2\|w-w_\alpha\|^2 .

This file computes the values of the factors at both ends of each segment (`block_terms`): for the samples that move in
a block, and for those that are so near their margin that they might count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.tolerances import ONE_COLUMN
from paretoclf.problem.parametric_qp import points_of
from paretoclf.problem.pieces import Pieces
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.segments.bernstein import columns, pairs
from paretoclf.proof.segments.score_products import (
    Anchors,
    BlockScores,
    BlockSlopes,
    FeatureProducts,
    KernelProducts,
    products_of,
)
from paretoclf.proof.segments.stored_segments import AT_CAP, Block, Cutter, Group, groups
from paretoclf.proof.segments.theorem import Entries

_TINY = float(np.finfo(float).tiny)
_EPS = float(np.finfo(float).eps)

#: Segments in a block, with features; with a kernel matrix half as many, as all that moves is multiplied by all.
_SEGMENTS = 256

#: Numbers in the multipliers at the anchors of a group.
_GROUP = 2**21


@dataclass(frozen=True)
class ProofTask:
    """Problem and stored path of one proof, with the products that give the scores of its samples.

    Attributes
    ----------
    stored : Pieces
        The segments.
    problem : SoftMargin
        Along the line. With nu, margins are compared with the stored rho, instead of 1.
    products : KernelProducts or FeatureProducts
        Products with the kernel values of its samples.
    one_column : float
        How far scores of the end of a segment and the beginning of the next may be apart to be judged as one point.
    """

    stored: Pieces
    problem: SoftMargin
    products: KernelProducts | FeatureProducts
    one_column: float = ONE_COLUMN

    @classmethod
    def of(cls, problem: SoftMargin, stored: Pieces) -> ProofTask:
        """Make the task of proving a stored path of a problem."""
        return cls(stored, problem, products_of(problem, stored))

    def with_each_end(self) -> ProofTask:
        """Make the same task with scores computed at both ends of each segment, however near they are to the next."""
        return replace(self, one_column=0.0)

    @cached_property
    def points(self) -> Mask:
        """Segments that are so short that they are two points, each judged by itself."""
        nu = () if self.problem.nu is None else (np.asarray(self.problem.nu),)
        return points_of(pairs(self.stored.t), self.caps, *nu)

    @property
    def y(self) -> Array:
        """Labels."""
        return self.problem.y

    @property
    def caps(self) -> Array:
        """Caps at t = 0 and at t = 1."""
        assert self.problem.caps is not None
        return self.problem.caps


@dataclass(frozen=True)
class BlockTerms:
    """Terms of the theorem on one block of k segments, in c columns: points of the line.

    Attributes
    ----------
    entries : Entries
        All that contributes to residuals and gap.
    violations : array of shape (2, l)
        How far the l multipliers that are listed leave their box as they are stored, at both ends.
    outside : array of shape (k, 2)
        Sums of these violations on each segment.
    first, last : slices or int arrays
        Columns of the beginnings and of the ends of the segments.
    b, target, sums, balance : array of shape (c,)
        Intercepts; what margins are compared with; sums of the multipliers, and of these times the labels.
    slopes : BlockSlopes
    noise, jump : array of shape (k,)
        How far scores at the end of a segment may be from those of the column that stands for it: those that are
        judged, and those that the multipliers imply.
    margin_size : array of shape (k, 2)
        With a free rho, ends of an affine function nowhere above the size of margins: the largest score, or rho.
    slack : float
        Upper bound on the slacks of all samples in the block.
    """

    entries: Entries
    violations: Array
    outside: Array
    first: Any
    last: Any
    b: Array
    target: Array
    sums: Array
    balance: Array
    slopes: BlockSlopes
    noise: Array
    jump: Array
    margin_size: Array
    slack: float

    def both(self, numbers: Array) -> Array:
        """Pair numbers (c,) of the columns by segments: values at both ends, (k, 2)."""
        return columns(numbers[self.first], numbers[self.last])

    def box(self, unit: Array) -> Array:
        """Largest violation of the box on each segment, (k,), in units (2, e) of the multipliers."""
        residuals = np.zeros(self.entries.ptr.size - 1)
        some = _nonzero(self.violations)
        if some.size:
            own = unit[:, some]
            own = np.maximum(np.maximum(own, _EPS * own[::-1]), _TINY)  # caps vanish, but t is a double
            relative = self.violations[:, some] / own
            np.maximum.at(residuals, self.entries.row[some], relative.max(axis=0))
        return residuals


def _nonzero(violations: Array) -> Index:
    """Places where nonnegative numbers (2, l) are not 0 (nan is not): nearly always none, or few."""
    start, end = violations
    return np.flatnonzero(~((start == 0.0) & (end == 0.0)))


def blocks(task: ProofTask) -> Iterator[tuple[slice, BlockTerms]]:
    """Yield the segments of each block, and its terms."""
    # With a kernel matrix all samples that move are multiplied by all of these, so that smaller blocks cost less.
    parts = 2 if isinstance(task.products, KernelProducts) else 1
    rows = max(1, _GROUP // task.y.size)
    cutter = Cutter(task.stored)
    for group in groups(task.stored, task.caps, max(1, _SEGMENTS // parts), rows):
        anchors = task.products.anchors(group, task.stored)
        for k, (start, stop) in enumerate(pairwise(group.ends.tolist())):
            segments = slice(start, stop)
            block = cutter.block(start, stop, group.states[k])
            yield segments, block_terms(task, block, segments, _BlockEnds.of(group, anchors, k))


def joined(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Concatenate the arrays that were found of each block, by their names."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


@dataclass(frozen=True)
class _BlockEnds:
    """Multipliers, scores and slopes at the two anchors of a block, and the states of its samples at the first."""

    anchors: Anchors
    alpha: Array
    at_cap: Mask

    @classmethod
    def of(cls, group: Group, anchors: Anchors, k: int) -> _BlockEnds:
        """Take those of block k of a group."""
        alpha, at_cap = group.alpha[k : k + 2], group.states[k] == AT_CAP
        return cls(anchors.pair(k), alpha, at_cap)


def block_terms(task: ProofTask, block: Block, segments: slice, ends: _BlockEnds) -> BlockTerms:
    """Compute the terms of the theorem on one block, from the stored segments and from its two anchors."""
    resting = ends.alpha.copy()
    resting[:, block.moving] = 0.0
    resting_sums = resting.sum(axis=1)
    listed, layout, coef = _multipliers(task, block, segments, float(resting_sums.min()))
    share = _share(task.stored, layout, segments)
    between = columns(1.0 - share, share)
    sums = coef @ task.y[block.moving] + between @ resting_sums
    balance = coef.sum(axis=1) + between @ (resting @ task.y)
    w = _slopes(task.stored, layout, segments)
    scores = task.products.block(ends.anchors, block.moving, coef, share, (layout.first, layout.last), w)
    b = _intercepts(task, layout, balance, w, segments)
    target = layout.spread(np.append(layout.rho[0], layout.rho[1, -1]), layout.rho[1])
    # Margins of the samples that move, and of the others that may be on the wrong side of theirs.
    near, slack = _near(task, ends, b, target, between, scores, float(layout.noise.max()))
    near[block.moving] = False
    others = np.flatnonzero(near)
    margin = _margins(scores.of_moving, task.y[block.moving], b, target)
    margin_of_others = np.empty((layout.count, 0))
    if others.size:
        margin_of_others = _margins(scores.others(others), task.y[others], b, target)
    t = task.stored.t[segments.start : segments.stop + 1]
    at_cap = np.broadcast_to(ends.at_cap[others], (t.size - 1, others.size))
    at_ends = layout.at_ends(margin, block.row, block.place)
    parts = [
        (block.row, listed.sample, listed.cap, listed.inside, at_ends),
        _unclear(task, layout, margin, block.at_cap, block.moving, block.place, t),
        _unclear(task, layout, margin_of_others, at_cap, others, block.place[:0], t),
    ]
    row, sample, caps, alpha, margins = (np.concatenate(part, axis=-1) for part in zip(*parts, strict=True))
    return BlockTerms(
        entries=Entries(block.ptr, row, sample, caps, alpha, margins, task.points[segments]),
        violations=listed.violations,
        outside=listed.outside,
        first=layout.first,
        last=layout.last,
        b=b,
        target=target,
        sums=sums,
        balance=balance,
        slopes=scores.slopes,
        noise=layout.noise,
        jump=layout.jump,
        margin_size=_margin_size(task, layout, target, [margin, margin_of_others]),
        slack=slack,
    )


def _share(stored: Pieces, layout: _Columns, segments: slice) -> Array:
    """Positions (c,) of the columns between the two anchors, from 0 to 1."""
    knots = stored.t[segments.start : segments.stop + 1]
    first, last = knots[0], knots[-1]
    return np.asarray((layout.spread(knots, knots[1:]) - first) / (last - first))


def _slopes(stored: Pieces, layout: _Columns, segments: slice) -> Array | None:
    """Stored slopes (c, d) of the columns."""
    if stored.w is None:
        return None
    at_knots = stored.w[segments.start : segments.stop + 1]
    return layout.spread(at_knots, at_knots[1:])


def _margins(scores: Array, labels: Array, b: Array, target: Array) -> Array:
    """Turn scores (c, samples), in place, into distances of the samples within their margin."""
    scores += b[:, None]
    scores *= labels
    scores -= target[:, None]
    return scores


# ---- the samples that move in a block ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Listed:
    """Samples (e,) of the multipliers that a block lists, their caps and their multipliers within the box, (2, e).

    ``violations`` and ``outside`` as in `BlockTerms`.
    """

    sample: Index
    cap: Array
    inside: Array
    violations: Array
    outside: Array


def _multipliers(
    task: ProofTask, block: Block, segments: slice, sum_of_others: float
) -> tuple[_Listed, _Columns, Array]:
    """Find the listed multipliers of a block, its columns, and multipliers times labels of all that move, (c, u).

    The multipliers of the samples that do not move add up to ``sum_of_others`` or more.
    """
    stored, moving = task.stored, block.moving
    t = stored.t[segments.start : segments.stop + 1]
    entries = slice(stored.ptr[segments.start], stored.ptr[segments.stop])
    sample = stored.index[entries]
    given = np.array([stored.a0[entries], stored.a1[entries]])
    signed_ends = task.caps[:, moving] * task.y[moving]
    signed_caps = columns(1.0 - t, t) @ signed_ends
    place_at_end = block.place + moving.size
    cap = np.abs([signed_caps.take(block.place), signed_caps.take(place_at_end)])
    inside = np.minimum(np.maximum(given, 0.0), cap)
    violations = np.abs(given - inside)
    outside = np.zeros((t.size - 1, 2))
    if (some := _nonzero(violations)).size:
        row = block.row[some]
        sums = [np.bincount(row, each[some], t.size - 1) for each in violations]
        outside = np.array(sums, dtype=np.float64).T
    # Listed multipliers are judged as they are stored; all others are 0 or at their cap.
    held = block.at_cap.astype(np.float64)
    at_knots = np.empty(signed_caps.shape)
    np.multiply(held, signed_caps[:-1], out=at_knots[:-1])
    at_end = np.multiply(held, signed_caps[1:], out=held)
    signed = given * task.y.take(sample)
    at_knots.ravel()[block.place] = signed[0]
    at_end.ravel()[block.place] = signed[1]
    at_knots[-1] = at_end[-1]
    layout = _columns(task, at_knots, at_end, segments, sum_of_others)
    return _Listed(sample, cap, inside, violations, outside), layout, layout.spread(at_knots, at_end)


# ---- columns: the points of the line at which scores are computed --------------------------------------------------


@dataclass(frozen=True)
class _Columns:
    """Columns of the beginnings and of the ends of k segments.

    The end of a segment and the beginning of the next are one column, unless b jumps there (or multipliers do).
    ``first``, ``last``, ``noise``, ``jump`` as in `BlockTerms`; ``added`` (k,) is how many columns before that of its
    beginning a segment finds more than there are segments; ``rho`` (2, k) is what margins are compared with at both
    ends.
    """

    first: Any
    last: Any
    added: Index
    count: int
    noise: Array
    jump: Array
    rho: Array

    def spread(self, knots: Array, end: Array) -> Array:
        """Put numbers in their columns: at the beginnings and the last end (k + 1 of them), and at all ends (k)."""
        if knots.shape[0] == self.count:
            return knots
        out = np.empty((self.count, *end.shape[1:]))
        out[self.last] = end
        out[self.first] = knots[:-1]
        return out

    def at_ends(self, margin: Array, row: Index, place: Index) -> Array:
        """Take entries (2, e) of a matrix with a row for each column: some samples, at both ends of their segments.

        ``place`` (e,) is where they would be if there were a row for each segment.
        """
        if margin.shape[0] > self.added.size + 1:
            place = place + margin.shape[1] * self.added[row]
        return np.array([margin.take(place), margin.take(place + margin.shape[1])])


def _columns(task: ProofTask, at_knots: Array, at_end: Array, segments: slice, sum_of_others: float) -> _Columns:
    """Decide which ends of segments share a column with the next beginning, and what scores may differ by there."""
    stored, count = task.stored, segments.stop - segments.start
    jump, noise = np.zeros(count), np.zeros(count)
    change = at_end[:-1] - at_knots[1:-1]
    change_sums = np.abs(change, out=change).sum(axis=1)
    jump[:-1] = change_sums * (task.products.length2 / task.products.lam)
    b_at_end = stored.b1[segments.start : segments.stop - 1]
    b_at_next = stored.b0[segments.start + 1 : segments.stop]
    noise[:-1] = np.abs(b_at_end - b_at_next)
    if (
        stored.w is None
    ):  # otherwise scores are those of the stored slopes, and there is one of these at each breakpoint
        noise += jump
    rho = np.ones((2, count))
    if task.problem.nu is not None:
        rho = np.maximum([stored.rho0[segments], stored.rho1[segments]], 0.0)  # what is below counts as a residual
    noise[:-1] += np.abs(rho[1, :-1] - rho[0, 1:])
    separate = noise > task.one_column * np.append(rho[0, 1:], 0.0)
    separate |= rho.min(axis=0) == 0.0  # where all sizes vanish, too
    if stored.w is not None:
        separate |= jump > task.one_column
    # Multipliers may be so small that no score shows what their own sums do.
    sums = sum_of_others + np.abs(at_end[:-1]).sum(axis=1)
    separate[:-1] |= change_sums > task.one_column * sums
    separate[-1] = False  # the last end has a column of its own
    noise[separate] = 0.0
    jump[separate] = 0.0
    added = np.append(0, np.cumsum(separate[:-1]))
    columns_in_all = count + 1 + int(added[-1])
    if added[-1] == 0:
        return _Columns(slice(0, -1), slice(1, None), added, columns_in_all, noise, jump, rho)
    first = np.arange(count) + added
    return _Columns(first, first + 1, added, columns_in_all, noise, jump, rho)


def _intercepts(task: ProofTask, layout: _Columns, balance: Array, w: Array | None, segments: slice) -> Array:
    """Intercepts of the columns: the stored ones, or without slopes and a free intercept what multipliers imply."""
    problem, stored = task.problem, task.stored
    if problem.intercept == "free" or w is not None:
        at_knots = np.append(stored.b0[segments], stored.b1[segments.stop - 1])
        return layout.spread(at_knots, stored.b1[segments])
    if problem.intercept == "feature":
        return np.asarray(balance / task.products.lam)
    return np.zeros(layout.count)


# ---- samples that might count --------------------------------------------------------------------------------------


def _near(
    task: ProofTask,
    ends: _BlockEnds,
    b: Array,
    target: Array,
    between: Array,
    scores: BlockScores,
    noise: float,
) -> tuple[Mask, float]:
    """Find samples that may be on the wrong side of their margin somewhere in a block; and a bound on all slacks.

    Most samples that keep to one bound are far from their margin: ``|v . x_i| <= |v| |x_i|``, where v is how far
    w is from its chord between the two anchors.
    """
    at_anchors = [ends.anchors.scores[end] + b[-end] for end in (0, 1)]
    b_off_chord = np.abs(b + scores.shift - between @ b[[0, -1]])
    off_chord = b_off_chord + np.abs(target - between @ target[[0, -1]])
    margins = [task.y * at_anchors[end] - target[-end] for end in (0, 1)]
    low, high = np.minimum(*margins), np.maximum(*margins)
    common_change = float(off_chord.max()) + noise
    change = float(scores.deviation.max()) * task.products.lengths + common_change
    near = ~(np.where(ends.at_cap, -high, low) >= change)  # what is not a number is near, too
    if task.problem.nu is not None:  # what margins are measured against are the largest scores
        near[[int(np.argmax(np.abs(each))) for each in at_anchors]] = True
    return near, float((change - low).max(initial=0.0))


def _unclear(
    task: ProofTask, layout: _Columns, margin: Array, at_cap: Mask, samples: Index, listed: Index, t: Array
) -> tuple[Index, Index, Array, Array, Array]:
    """List samples that are on the wrong side of their margin at an end of a segment: their fields of `Entries`.

    ``at_cap`` (k, samples) says which side is right; places ``listed`` are those of samples that the segment lists.
    """
    below = margin < 0.0
    wrong_at_end = below[layout.last] != at_cap
    wrong = ((below[layout.first] != at_cap) | wrong_at_end).ravel()
    wrong[listed] = False
    place = np.flatnonzero(wrong)
    row, column = np.divmod(place, max(samples.size, 1))
    sample, at = samples[column], t[row + np.array([[0], [1]])]
    cap = (1.0 - at) * task.caps[0, sample] + at * task.caps[1, sample]
    return row, sample, cap, cap * at_cap[row, column], layout.at_ends(margin, row, place)


def _margin_size(task: ProofTask, layout: _Columns, target: Array, margins: Sequence[Array]) -> Array:
    """Sizes (k, 2) that margins are measured against: rho, where it is free the largest scores if they are more."""
    size = layout.rho.T.copy()
    if task.problem.nu is not None:
        for margin in margins:
            _enlarge(size, margin, target, layout.first, layout.last)
    return size


def _enlarge(size: Array, margin: Array, target: Array, first: Any, last: Any) -> None:
    """Replace sizes (k, 2) by the largest of some scores that are larger at both ends, and of one sign."""
    if not margin.shape[1]:
        return
    scores = margin + target[:, None]
    start, end = scores[first], scores[last]
    start_size, end_size = np.abs(start), np.abs(end)
    least = np.where(start * end > 0.0, np.minimum(start_size, end_size), 0.0)
    sums = start_size + end_size
    rows = np.arange(size.shape[0])
    best = np.where(least > 0.0, sums, 0.0).argmax(axis=1)
    found = np.abs(np.stack([start[rows, best], end[rows, best]], axis=1))
    larger = (least[rows, best] > 0.0) & (found >= size).all(axis=1)
    size[larger] = found[larger]
