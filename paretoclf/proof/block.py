r"""Margins and sums on segments, in blocks; nothing is accumulated from one block to the next.

The problem is a support vector machine with caps :math:`c_i(t)` that are affine in t and labels :math:`y_i`,

.. math::

   \min\ \tfrac\lambda2\|w\|^2+\sum_ic_i\xi_i-\nu\rho\quad\text{s.t.}\quad y_if(x_i)\ge\rho-\xi_i,\ \xi_i\ge0,

with :math:`\rho=1` and without :math:`\nu\rho` (2C-SVM, quantile SVM), or with a free :math:`\rho\ge0` (2nu-SVM). Each
sample is a row with a soft bound, so that G of `paretoclf.proof.theorem` is, with :math:`g_i=y_if(x_i)-\rho`,

.. math::

   P-D=\sum_i\alpha_i(g_i)_++\sum_i(c_i-\alpha_i)(-g_i)_++\tfrac\lambda2\|w-w_\alpha\|^2 .

What this file finds out are the values of the factors at both ends of each segment (`known`): of the samples that move
in a block, and of those that are so near their margin that they might count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.tolerances import ONE_COLUMN
from paretoclf.problem.parametric_qp import points_of
from paretoclf.proof.bernstein import columns, pairs
from paretoclf.proof.line import LineProof
from paretoclf.proof.products import Anchors, BlockScores, BlockSlopes, FeatureProducts, KernelProducts, products_of
from paretoclf.proof.soft_margin import SoftMargin
from paretoclf.proof.stored import AT_CAP, Block, Cutter, Group, Stored, groups
from paretoclf.proof.theorem import Entries

_TINY, _EPS = float(np.finfo(float).tiny), float(np.finfo(float).eps)

#: Segments in a block, with features; with a kernel matrix half as many, as all that moves is multiplied by all.
_SEGMENTS = 256

#: Numbers in the multipliers at the anchors of a group.
_GROUP = 2**21


@dataclass(frozen=True)
class ProofTask:
    """What is to be proved.

    Attributes
    ----------
    stored : Stored
        The segments.
    problem : SoftMargin
        Along the line. With nu, margins are compared with the stored rho, instead of 1.
    products : KernelProducts or FeatureProducts
        Products with the kernel values of its samples.
    one_column : float
        How far scores of the end of a segment and the beginning of the next may be apart to be looked at as one.
    """

    stored: Stored
    problem: SoftMargin
    products: KernelProducts | FeatureProducts
    one_column: float = ONE_COLUMN

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
    """What is known of one block of k segments, in c columns: points of the line.

    Attributes
    ----------
    entries : Entries
        All that contributes to residuals and gap.
    off : array of shape (2, l)
        How far the l multipliers that are listed leave their box as they are stored, at both ends.
    outside : array of shape (k, 2)
        Their sums on each segment.
    first, last : slices or int arrays
        Columns of the beginnings and of the ends of the segments.
    b, target, sums, balance : array of shape (c,)
        Intercepts; what margins are compared with; sums of the multipliers, and of these times the labels.
    slopes : BlockSlopes
    noise, jump : array of shape (k,)
        How far scores at the end of a segment may be from those of the column that stands for it: those that are
        judged, and those that the multipliers imply.
    size : array of shape (k, 2)
        With a free rho, ends of an affine function nowhere above the size of margins: the largest score, or rho.
    slack : float
        No sample of the block has a larger slack.
    """

    entries: Entries
    off: Array
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
    size: Array
    slack: float

    def both(self, x: Array) -> Array:
        """Numbers (c,) of columns at both ends of the segments, (k, 2)."""
        return columns(x[self.first], x[self.last])

    def box(self, unit: Array) -> Array:
        """How far multipliers leave their box on each segment, at most, in units (2, e) of their own; shape (k,)."""
        out, off = np.zeros(self.entries.ptr.size - 1), self.off
        some = _some(off)
        if some.size:
            own = unit[:, some]
            own = np.maximum(np.maximum(own, _EPS * own[::-1]), _TINY)  # caps vanish, but t is a double
            np.maximum.at(out, self.entries.row[some], (off[:, some] / own).max(axis=0))
        return out


def _some(off: Array) -> Index:
    """Where numbers (2, l), none of them negative, are not 0 (nan is not): nearly always nowhere, or in few places."""
    return np.flatnonzero(~((off[0] == 0.0) & (off[1] == 0.0)))


def proved(problem: SoftMargin, stored: Stored, prove: Callable[[ProofTask], LineProof]) -> LineProof:
    """Ask for a proof; where it fails, with each end of each segment looked at by itself."""
    q = ProofTask(stored, problem, products_of(problem, stored))
    with np.errstate(invalid="ignore", over="ignore"):  # what is not a number is not proved
        proof = prove(q)
        return proof if proof.holds() else prove(replace(q, one_column=0.0))


def over_blocks(q: ProofTask, look: Callable[[slice, BlockTerms], Mapping[str, Any]]) -> dict[str, Any]:
    """What is found out about block after block, given its segments and what is known of it: all of it, by name."""
    cut, size = Cutter(q.stored), max(1, _SEGMENTS // (2 if isinstance(q.products, KernelProducts) else 1))
    found = []
    for group in groups(q.stored, q.caps, size, max(1, _GROUP // q.y.size)):
        anchors = q.products.anchors(group, q.stored)
        for k in range(group.ends.size - 1):
            here = slice(int(group.ends[k]), int(group.ends[k + 1]))
            found.append(look(here, known(q, group, anchors, k, cut)))
    return {name: np.concatenate([one[name] for one in found]) for name in found[0]}


def known(q: ProofTask, group: Group, anchors: Anchors, k: int, cut: Cutter) -> BlockTerms:
    """What is known of block k of a group."""
    S, a, z, anchors = q.stored, int(group.ends[k]), int(group.ends[k + 1]), anchors.pair(k)
    block = cut.block(a, z, group.states[k])
    U, rest = block.moving, group.alpha[k : k + 2].copy()
    rest[:, U] = 0.0
    L, C, coef = _multipliers(q, block, a, z, float(rest.sum(axis=1).min()))
    labels, t = q.y[U], C.spread(S.t[a : z + 1], S.t[a + 1 : z + 1])
    share = (t - S.t[a]) / (S.t[z] - S.t[a])
    between = columns(1.0 - share, share)  # of the two anchors
    sums, balance = coef @ labels + between @ rest.sum(axis=1), coef.sum(axis=1) + between @ (rest @ q.y)
    w = None if S.w is None else C.spread(S.w[a : z + 1], S.w[a + 1 : z + 1])
    scores = q.products.block(anchors, U, coef, share, (C.first, C.last), w)
    b, target = _intercepts(q, C, balance, w, a, z), C.spread(np.append(C.rho[0], C.rho[1, -1]), C.rho[1])

    def margins(f: Array, labels: Array) -> Array:
        f += b[:, None]
        f *= labels
        f -= target[:, None]
        return f

    margin, at_cap = margins(scores.of_moving, labels), group.states[k] == AT_CAP
    near, slack = _near(q, anchors.scores, at_cap, b, target, between, scores, float(C.noise.max()))
    near[U] = False
    others = np.flatnonzero(near)
    margin_of_others = margins(scores.others(others), q.y[others]) if others.size else np.empty((C.count, 0))
    size = C.rho.T.copy()
    if q.problem.nu is not None:
        _enlarge(size, margin, target, C.first, C.last)
        _enlarge(size, margin_of_others, target, C.first, C.last)
    held_others = np.broadcast_to(at_cap[others], (z - a, others.size))
    entries = [
        (block.row, L.sample, L.cap, L.inside, C.at_ends(margin, block.row, block.place)),
        _unclear(q, C, margin, block.at_cap, U, block.place, S.t[a : z + 1]),
        _unclear(q, C, margin_of_others, held_others, others, block.place[:0], S.t[a : z + 1]),
    ]
    E = Entries(block.ptr, *(np.concatenate(x, axis=-1) for x in zip(*entries, strict=True)))
    E = replace(E, apart=q.points[a:z])
    slopes = scores.slopes
    return BlockTerms(
        E, L.off, L.outside, C.first, C.last, b, target, sums, balance, slopes, C.noise, C.jump, size, slack
    )


# ---- the samples that move in a block ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Listed:
    """The e multipliers that are listed on a segment of a block.

    ``sample`` (e,), ``cap`` and ``inside`` (2, e), multipliers in their box; ``off``, ``outside`` as in `BlockTerms`.
    """

    sample: Index
    cap: Array
    inside: Array
    off: Array
    outside: Array


def _multipliers(q: ProofTask, block: Block, a: int, z: int, others: float) -> tuple[_Listed, _Columns, Array]:
    """Those that are listed in a block, its columns, and multipliers times labels of all that move there, (c, u).

    All that do not move add up to ``others`` or more.
    """
    S, U, listed, t = q.stored, block.moving, slice(q.stored.ptr[a], q.stored.ptr[z]), q.stored.t[a : z + 1]
    caps = columns(1.0 - t, t) @ (q.caps[:, U] * q.y[U])  # times labels
    sample, stored = S.index[listed], np.array([S.a0[listed], S.a1[listed]])
    cap = np.abs([caps.take(block.place), caps.take(block.place + U.size)])
    inside = np.minimum(np.maximum(stored, 0.0), cap)
    off, outside = np.abs(stored - inside), np.zeros((z - a, 2))
    if (some := _some(off)).size:
        outside = np.array([np.bincount(block.row[some], each[some], z - a) for each in off]).T
    held, knots = block.at_cap.astype(np.float64), np.empty(caps.shape)
    np.multiply(held, caps[:-1], out=knots[:-1])  # at the beginnings of segments, and at the end of the last
    end = np.multiply(held, caps[1:], out=held)
    judged = stored * q.y.take(sample)
    knots.ravel()[block.place], end.ravel()[block.place] = judged
    knots[-1] = end[-1]
    C = _columns(q, knots, end, a, z, others)
    return _Listed(sample, cap, inside, off, outside), C, C.spread(knots, end)


# ---- columns: the points of the line at which scores are computed --------------------------------------------------


@dataclass(frozen=True)
class _Columns:
    """Which columns the beginnings and the ends of k segments are.

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
        """Numbers at the beginnings of the segments and at the end of the last, and at all ends, in their columns."""
        if knots.shape[0] == self.count:
            return knots
        out = np.empty((self.count, *end.shape[1:]))
        out[self.last] = end
        out[self.first] = knots[:-1]
        return out

    def at_ends(self, margin: Array, row: Index, place: Index) -> Array:
        """Entries (2, e) of a matrix with a row for each column here: at both ends of segments, of some samples.

        ``place`` (e,) is where they would be if there were a row for each segment.
        """
        if margin.shape[0] > self.added.size + 1:
            place = place + margin.shape[1] * self.added[row]
        return np.array([margin.take(place), margin.take(place + margin.shape[1])])


def _columns(q: ProofTask, knots: Array, end: Array, a: int, z: int, others: float) -> _Columns:
    S, k = q.stored, z - a
    jump, noise = np.zeros(k), np.zeros(k)
    moved = end[:-1] - knots[1:-1]
    apart = np.abs(moved, out=moved).sum(axis=1)
    jump[:-1] = apart * (q.products.length2 / q.products.lam)
    noise[:-1] = np.abs(S.b1[a : z - 1] - S.b0[a + 1 : z])
    if S.w is None:  # otherwise scores are those of the stored slopes, and there is one of these at each breakpoint
        noise += jump
    rho = np.ones((2, k))
    if q.problem.nu is not None:
        rho = np.maximum([S.rho0[a:z], S.rho1[a:z]], 0.0)  # what is below counts as a residual
    noise[:-1] += np.abs(rho[1, :-1] - rho[0, 1:])
    two = noise > q.one_column * np.append(rho[0, 1:], 0.0)
    two |= rho.min(axis=0) == 0.0  # where all sizes vanish, too
    if S.w is not None:
        two |= jump > q.one_column
    # Multipliers may be so small that no score shows what their own sums do.
    two[:-1] |= apart > q.one_column * (others + np.abs(end[:-1]).sum(axis=1))
    two[-1] = False  # the last end has a column of its own
    noise[two], jump[two] = 0.0, 0.0
    added = np.append(0, np.cumsum(two[:-1]))
    if added[-1] == 0:
        return _Columns(slice(0, -1), slice(1, None), added, k + 1, noise, jump, rho)
    first = np.arange(k) + added
    return _Columns(first, first + 1, added, k + 1 + int(added[-1]), noise, jump, rho)


def _intercepts(q: ProofTask, C: _Columns, balance: Array, w: Array | None, a: int, z: int) -> Array:
    S = q.stored
    if q.problem.intercept != "free" and w is None:  # nothing is read off those that are stored
        return np.asarray(balance / q.products.lam if q.problem.intercept == "feature" else np.zeros(C.count))
    return C.spread(np.append(S.b0[a:z], S.b1[z - 1]), S.b1[a:z])


# ---- who might count -----------------------------------------------------------------------------------------------


def _near(
    q: ProofTask, at: Array, at_cap: Mask, b: Array, target: Array, between: Array, scores: BlockScores, noise: float
) -> tuple[Mask, float]:
    """Samples that may be on the wrong side of their margin somewhere in a block; and a bound on all slacks.

    Most samples that keep to one bound are far from their margin: ``|v . x_i| <= |v| |x_i|``, where v is how far
    w is from its chord between the two anchors, at which scores are ``at`` (2, n).
    """
    off = np.abs(b + scores.shift - between @ b[[0, -1]]) + np.abs(target - between @ target[[0, -1]])
    sides = [q.y * (at[e] + b[-e]) - target[-e] for e in (0, 1)]
    low, high = np.minimum(*sides), np.maximum(*sides)
    away = float(scores.deviation.max()) * q.products.reach + (float(off.max()) + noise)
    near = ~(np.where(at_cap, -high, low) >= away)  # what is not a number is near, too
    if q.problem.nu is not None:  # what margins are measured against are the largest scores
        near[[int(np.argmax(np.abs(at[e] + b[-e]))) for e in (0, 1)]] = True
    return near, float((away - low).max(initial=0.0))


def _unclear(
    q: ProofTask, C: _Columns, margin: Array, at_cap: Mask, samples: Index, listed: Index, t: Array
) -> tuple[Index, Index, Array, Array, Array]:
    """What `Entries` hold of samples that are on the wrong side of their margin at an end of a segment, unlisted.

    ``at_cap`` (k, samples) says which side is right.
    """
    below = margin < 0.0
    wrong = ((below[C.first] != at_cap) | (below[C.last] != at_cap)).ravel()
    wrong[listed] = False
    place = np.flatnonzero(wrong)
    row, column = np.divmod(place, max(samples.size, 1))
    sample, at = samples[column], t[row + np.array([[0], [1]])]
    cap = (1.0 - at) * q.caps[0, sample] + at * q.caps[1, sample]
    return row, sample, cap, cap * at_cap[row, column], C.at_ends(margin, row, place)


def _enlarge(size: Array, margin: Array, target: Array, first: Any, last: Any) -> None:
    """Replace sizes (k, 2) by the largest of some scores that are larger at both ends, and of one sign."""
    if not margin.shape[1]:
        return
    f = margin + target[:, None]
    f0, f1 = f[first], f[last]
    least = np.where(f0 * f1 > 0.0, np.minimum(np.abs(f0), np.abs(f1)), 0.0)
    rows = np.arange(size.shape[0])
    most = np.abs(f0) + np.abs(f1)
    best = np.where(least > 0.0, most, 0.0).argmax(axis=1)
    found = np.abs(np.stack([f0[rows, best], f1[rows, best]], axis=1))
    larger = (least[rows, best] > 0.0) & (found >= size).all(axis=1)
    size[larger] = found[larger]
