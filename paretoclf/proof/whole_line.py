r"""From stored segments to a `LineProof`, in blocks; nothing is accumulated from one block to the next.

The problem is a support vector machine with caps :math:`c_i(t)` that are affine in t and labels :math:`y_i`,

.. math::

   \min\ \tfrac\lambda2\|w\|^2+\sum_ic_i\xi_i-\nu\rho\quad\text{s.t.}\quad y_if(x_i)\ge\rho-\xi_i,\ \xi_i\ge0,

with :math:`\rho=1` and without :math:`\nu\rho` (2C-SVM, quantile SVM), or with a free :math:`\rho\ge0` (2nu-SVM). For
any :math:`w,b` and any feasible multipliers, with :math:`g_i=y_if(x_i)-\rho`,

.. math::

   P-D=\sum_i\alpha_i(g_i)_++\sum_i(c_i-\alpha_i)(-g_i)_++\tfrac\lambda2\|w-w_\alpha\|^2 .

All factors are affine in t, or positive parts of what is, and a positive part is nowhere above its chord: so each
product is bounded by its Bernstein coefficients ``p0 q0``, ``(p0 q1 + p1 q0) / 2``, ``p1 q1``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.checks import Array, Index
from paretoclf.exact_sums import inner
from paretoclf.proof.line import LineProof
from paretoclf.proof.products import Anchors, FeatureProducts, KernelProducts, Scores
from paretoclf.proof.stored import AT_CAP, Cutter, Group, Stored, groups
from paretoclf.proof.twice import product
from paretoclf.samples import Samples, largest
from paretoclf.tolerances import ONE_COLUMN, ROUNDING, SCORE_ROUNDING, SLACK_ROUNDING
from paretoclf.units import balanced_units, largest_sum, slack_rounding

_TINY, _EPS = float(np.finfo(float).tiny), float(np.finfo(float).eps)

#: Segments in a block, with features; with a kernel matrix half as many, as all that moves is multiplied by all.
_SEGMENTS = 256

#: Numbers in the multipliers at the anchors of a group.
_GROUP = 2**21


@dataclass(frozen=True)
class Question:
    """What is to be proved.

    Attributes
    ----------
    stored : Stored
        The segments.
    y : array of shape (n,)
        Labels.
    caps : array of shape (2, n)
        Caps at t = 0 and at t = 1.
    products : KernelProducts or FeatureProducts
        Kernel matrix or features, with the weight of the squared norm.
    intercept : "free", "none" or "feature"
        The last: the weight of a constant feature 1, part of the norm.
    clip : bool
        Whether stored multipliers that leave their box stand for the nearest ones in it.
    free_margin : bool
        Whether margins are compared with the stored rho, instead of 1.
    one_column : float
        How far scores of the end of a segment and the beginning of the next may be apart to be looked at as one.
    """

    stored: Stored
    y: Array
    caps: Array
    products: KernelProducts | FeatureProducts
    intercept: str = "free"
    clip: bool = True
    free_margin: bool = False
    one_column: float = ONE_COLUMN


@dataclass(frozen=True)
class Entries:
    """Samples that need a look, each on one segment: those listed there, and those that are not clear of their margin.

    Attributes
    ----------
    row, sample : int array of shape (e,)
        Segment, from the beginning of the block, and sample.
    caps, alpha, margin : array of shape (2, e)
        At both ends of the segment: cap, multiplier (in its box), ``y_i f_i - target``.
    """

    row: Index
    sample: Index
    caps: Array
    alpha: Array
    margin: Array

    def largest(self, values: Array, k: int) -> tuple[Array, Index]:
        """Largest of some values (e,) on each of k segments, and the sample it belongs to; at least 0."""
        out, sample = np.zeros(k), np.zeros(k, dtype=np.int64)
        np.maximum.at(out, self.row, values)
        most = np.flatnonzero(values >= out[self.row])
        sample[self.row[most]] = self.sample[most]
        return out, sample

    def at_ends(self, values: Array, k: int) -> Array:
        """Largest of values (2, e) at both ends of each of k segments, (k, 2); at least 0."""
        out = np.zeros((k, 2))
        np.maximum.at(out, self.row, values.T)
        return out

    def add(self, values: Array, k: int) -> Array:
        """Sums of values (e,) on each of k segments."""
        return np.bincount(self.row, values, k).astype(np.float64)


@dataclass(frozen=True)
class Known:
    """What is known of one block of k segments, in c columns: points of the line.

    Attributes
    ----------
    entries : Entries
        All that contributes to residuals and gap.
    box, outside : array of shape (k,), (k, 2)
        How far multipliers leave their box as they are stored: the largest, relative to the cap, and sums at both ends.
    first, last : slices or int arrays
        Columns of the beginnings and of the ends of the segments.
    b, target, sums, balance : array of shape (c,)
        Intercepts; what margins are compared with; sums of the multipliers, and of these times the labels.
    scores : Scores
    noise, jump : array of shape (k,)
        How far scores at the end of a segment may be from those of the column that stands for it: those that are
        judged, and those that the multipliers imply.
    size : array of shape (k, 2)
        With a free rho, ends of an affine function nowhere above the size of margins: the largest score, or rho.
    slack : float
        No sample of the block has a larger slack.
    """

    entries: Entries
    box: Array
    outside: Array
    first: Any
    last: Any
    b: Array
    target: Array
    sums: Array
    balance: Array
    scores: Scores
    noise: Array
    jump: Array
    size: Array
    slack: float


def known(q: Question, group: Group, anchors: Anchors, k: int, cut: Cutter) -> Known:
    """Margins on block k of a group."""
    S, y, products = q.stored, q.y, q.products
    a, z = int(group.ends[k]), int(group.ends[k + 1])
    block = cut.block(a, z, group.states[k])
    U, labels, u = block.moving, y[block.moving], block.moving.size
    t = S.t[a : z + 1]
    caps = np.stack([1.0 - t, t], axis=1) @ q.caps[:, U]
    signed = caps * labels
    start, end = np.where(block.at_cap, signed[:-1], 0.0), np.where(block.at_cap, signed[1:], 0.0)

    listed = block.row * u + block.column  # positions in flat arrays
    sample = U[block.column]
    cap = np.stack([caps.ravel()[listed], caps.ravel()[listed + u]])
    stored = np.stack([S.a0[S.ptr[a] : S.ptr[z]], S.a1[S.ptr[a] : S.ptr[z]]])
    inside = np.minimum(np.maximum(stored, 0.0), cap)
    box, outside = np.zeros(z - a), np.zeros((z - a, 2))
    if not q.clip and (inside != stored).any():
        off = np.abs(stored - inside)
        unit = np.maximum(np.maximum(cap, _EPS * cap[::-1]), _TINY)  # caps vanish, but t is a double
        np.maximum.at(box, block.row, (off / unit).max(axis=0))
        np.add.at(outside, block.row, off.T)
    judged = (inside if q.clip else stored) * y[sample]
    start.ravel()[listed], end.ravel()[listed] = judged

    # The end of a segment and the beginning of the next are one column, unless b jumps there (or multipliers do).
    jump, noise = np.zeros(z - a), np.zeros(z - a)
    jump[:-1] = np.abs(end[:-1] - start[1:]).sum(axis=1) * (products.length2 / products.lam)
    noise[:-1] = np.abs(S.b1[a : z - 1] - S.b0[a + 1 : z])
    if S.w is None:  # otherwise scores are those of the stored slopes, and there is one of these at each breakpoint
        noise += jump
    rho = _rho(S, a, z) if q.free_margin else np.ones((2, z - a))
    noise[:-1] += np.abs(rho[1, :-1] - rho[0, 1:])
    two = noise > q.one_column * np.append(rho[0, 1:], 0.0)
    two |= rho.min(axis=0) == 0.0  # where all sizes vanish, too
    if S.w is not None:
        two |= jump > q.one_column
    two[-1] = False  # the last end has a column of its own
    noise[two], jump[two] = 0.0, 0.0
    first, last, columns = slice(0, -1), slice(1, None), z - a + 1
    shift: Any = 0
    if two.any():
        shift = np.append(0, np.cumsum(two[:-1]))
        first = np.arange(z - a) + shift
        last, columns = first + 1, columns + int(two.sum())
        shift = shift[block.row] * u

    def spread(start: Array, end: Array) -> Array:
        out = np.empty((columns, *start.shape[1:]))
        out[last] = end
        out[first] = start
        return out

    t = spread(t[:-1], t[1:])
    share = (t - S.t[a]) / (S.t[z] - S.t[a])
    coef = spread(start, end)
    rest = group.alpha[k : k + 2].copy()
    rest[:, U] = 0.0
    between = np.stack([1.0 - share, share], axis=1)
    sums, balance = coef @ labels + between @ rest.sum(axis=1), coef.sum(axis=1) + between @ (rest @ y)
    w = None if S.w is None else spread(S.w[a:z], S.w[a + 1 : z + 1])
    scores = products.block(anchors, group, k, U, coef, share, (first, last), w)
    if q.intercept == "none":
        b = np.zeros(columns)
    elif q.intercept == "feature" and w is None:
        b = balance / products.lam
    else:
        b = spread(S.b0[a:z], S.b1[a:z])
    target = spread(*rho)

    def margins(scores: Array, labels: Array) -> Array:
        scores += b[:, None]
        scores *= labels
        scores -= target[:, None]
        return scores

    margin = margins(scores.of_moving, labels)
    below = margin < 0.0
    unclear = (below[first] != block.at_cap) | (below[last] != block.at_cap)
    unclear.ravel()[listed] = False
    more = np.flatnonzero(unclear.ravel())

    # Of the samples that keep to one bound most are far from their margin: |v . x_i| <= |v| |x_i|.
    off = np.abs(b + scores.shift - between @ b[[0, -1]]) + np.abs(target - between @ target[[0, -1]])
    at_cap = group.states[k] == AT_CAP
    sides = [y * (anchors.scores[k + e] + b[-e]) - target[-e] for e in (0, 1)]
    low, high = np.minimum(*sides), np.maximum(*sides)
    away = float(scores.deviation.max()) * products.reach + (float(off.max()) + float(noise.max()))
    near = ~(np.where(at_cap, -high, low) >= away)  # what is not a number is near, too
    near[U] = False
    if q.free_margin:  # what margins are measured against are the largest scores
        near[[int(np.argmax(np.abs(anchors.scores[k + e] + b[-e]))) for e in (0, 1)]] = True
        near[U] = False
    slack = float((away - low).max(initial=0.0))
    size = rho.T.copy()
    if q.free_margin:
        _enlarge(size, margin, target, first, last)
    others = np.flatnonzero(near)
    entries = [(block.row, sample, cap, inside, _ends(margin, listed + shift, u))]
    if more.size:
        row, column = np.divmod(more, u)
        c = np.stack([caps.ravel()[more], caps.ravel()[more + u]])
        here = more if first is not None and isinstance(first, slice) else first[row] * u + column
        entries.append((row, U[column], c, c * block.at_cap.ravel()[more], _ends(margin, here, u)))
    if others.size:
        margin = margins(scores.others(others), y[others])
        if q.free_margin:
            _enlarge(size, margin, target, first, last)
        below = margin < 0.0
        unclear = (below[first] != at_cap[others]) | (below[last] != at_cap[others])
        more, u = np.flatnonzero(unclear.ravel()), others.size
        if more.size:
            row, column = np.divmod(more, u)
            these = others[column]
            at = S.t[a + row + np.array([[0], [1]])]
            c = (1.0 - at) * q.caps[0, these] + at * q.caps[1, these]
            here = more if isinstance(first, slice) else first[row] * u + column
            entries.append((row, these, c, c * at_cap[these], _ends(margin, here, u)))
    joined = entries[0] if len(entries) == 1 else [np.concatenate(x, axis=-1) for x in zip(*entries, strict=True)]
    return Known(
        Entries(*joined), box, outside, first, last, b, target, sums, balance, scores, noise, jump, size, slack
    )


def _rho(S: Stored, a: int, z: int) -> Array:
    """Margins at both ends of segments; rounding below 0 is 0."""
    return np.maximum(np.stack([S.rho0[a:z], S.rho1[a:z]]), 0.0)


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


def _ends(margin: Array, at: Index, width: int) -> Array:
    """Entries of a matrix at flat positions, and those one row below."""
    flat = margin.ravel()
    return np.stack([flat[at], flat[at + width]])


def prove_costs(
    stored: Stored, y: Array, caps: Array, *, K: Array | None = None, X: Samples | None = None, note: str = ""
) -> LineProof:
    """Prove a line of the 2C-SVM.

    Multipliers outside their box stand for the nearest ones in it.

    Parameters
    ----------
    stored : Stored
        What is to be proved: segments with multipliers, intercepts, optimal values and, with features, slopes.
    y : array of shape (n,)
        Labels -1 and +1.
    caps : array of shape (2, n)
        Caps of the multipliers at t = 0 and at t = 1.
    K : array of shape (n, n), optional
        Kernel matrix. Exactly one of K and X must be given.
    X : array or CSR array of shape (n, d), optional
        Features, for the linear kernel.
    note : str
        What `LineProof.explain` adds about the problem.

    Returns
    -------
    LineProof
    """
    products = KernelProducts(K, y) if X is None and K is not None else FeatureProducts(X, y)
    return _proved(Question(stored, y, caps, products), lambda q: _prove_hinge(q, "t", note))


@dataclass(frozen=True)
class Refined:
    """Solutions at both ends of k segments, to twice double precision.

    Attributes
    ----------
    t : array of shape (k, 2)
    alpha : array of shape (k, 2, 2, n)
        Multipliers: of a segment, at an end, in two parts.
    b : array of shape (k, 2)
    w : array of shape (k, 2, d) or None
        Slopes, where there are features.
    value : array of shape (k, 3)
        Stored optimal values, as in `Stored`.
    """

    t: Array
    alpha: Array
    b: Array
    w: Array | None
    value: Array


def prove_refined(
    refined: Refined, y: Array, caps: Array, *, K: Array | None = None, X: Samples | None = None, note: str = ""
) -> LineProof:
    """`prove_costs` for segments on which multipliers need two doubles each; all samples are looked at."""
    R, (k, n) = refined, (refined.t.shape[0], y.size)
    box = ((1.0 - R.t)[:, :, None] * caps[0] + R.t[:, :, None] * caps[1]).reshape(2 * k, n)
    high, low = (np.ascontiguousarray(R.alpha[:, :, part].reshape(2 * k, n)) for part in (0, 1))
    coef, coef_low = (y * high).T, (y * low).T
    apart = distance = np.zeros(2 * k)
    if X is None:
        assert K is not None
        scores, rest = product(K, coef, coef_low)
        length2 = float(np.diagonal(K).max())
    else:
        implied = product(X.T if not sp.issparse(X) else sp.csr_array(X.T), coef, coef_low)
        slope = implied if R.w is None else (R.w.reshape(2 * k, -1).T, np.zeros((X.shape[1], 2 * k)))
        scores, rest = product(X, *slope)
        size = largest(X)
        length2 = float(size @ size)
        if R.w is not None:
            terms, wrong = np.asarray(abs(X).T @ np.abs(coef)).T * size, np.abs(slope[0] - implied[0]).T
            apart, distance = (wrong * size / (1.0 + terms)).max(axis=1, initial=0.0), np.sqrt((wrong**2).sum(axis=1))
    f = ((scores + R.b.reshape(-1)) + rest).T
    margin = y * f - 1.0
    inside = np.where((high - box) + low > 0.0, box, np.where(high + low < 0.0, 0.0, high))
    outside = np.abs((high - inside) + np.where(inside == high, 0.0, low))
    parts = [np.stack(pair) for pair in zip(high, low, strict=True)]
    sums, balance = (np.array([inner(pair, v) for pair in parts]) for v in (np.ones(n), y))
    first, second = slice(0, None, 2), slice(1, None, 2)
    norm2, cross = (
        np.array([inner(np.stack([coef[:, i], coef_low[:, i]]), scores[:, j]) for i, j in pairs])
        for pairs in ([(i, i) for i in range(2 * k)], [(2 * i, 2 * i + 1) for i in range(k)])
    )

    def at_ends(x: Array) -> Array:
        return np.stack([x[first].ravel(), x[second].ravel()])

    E = Entries(np.repeat(np.arange(k), n), np.tile(np.arange(n), k), at_ends(box), at_ends(inside), at_ends(margin))
    units = np.maximum(balanced_units(y, box.T).T * (box > 0.0), 0.0)
    most, samples = _complementarity(E, at_ends(margin / (1.0 + np.abs(f))), at_ends(units), k)
    gone = outside.sum(axis=1).reshape(k, 2)
    missing = np.abs(balance).reshape(k, 2) + gone
    rounding = slack_rounding(box.T, margin.T, f.T, R.b.ravel()).reshape(k, 2).min(axis=1)[:, None] * np.ones(3)
    gaps = (
        _products_of(E, k)
        + max(0.0, -float(margin.min())) * _product(missing, _pair(np.ones(k)))
        + 0.5 * length2 * _square(missing + gone)
        + 0.5 * _square(distance.reshape(k, 2))
    )
    dual = (sums - 0.5 * norm2).reshape(k, 2)
    duals = np.stack([dual[:, 0], 0.5 * (sums.reshape(k, 2).sum(axis=1) - cross), dual[:, 1]], axis=1)
    sizes = _chord(duals)
    residuals = {
        "stationarity in w": apart.reshape(k, 2).max(axis=1),
        "box": (outside / np.maximum(box, _TINY)).max(axis=1, initial=0.0).reshape(k, 2).max(axis=1),
        "balance": (np.abs(balance) / largest_sum(y, box.T)).reshape(k, 2).max(axis=1),
        "complementarity": most,
        "value": value_residual(np.maximum(np.diff(R.t)[:, 0], _EPS), R.value, duals, gaps, sizes),
    }
    return LineProof(np.append(R.t[:, 0], R.t[-1:, 1]), gaps, sizes, rounding, duals, residuals, samples, "t", note)


def prove_quantile(
    stored: Stored, y: Array, caps: Array, lam: float, bias: bool, *,
    K: Array | None = None, X: Samples | None = None, note: str = "",
) -> LineProof:  # fmt: skip
    """Prove a line of the quantile SVM, whose parameter is tau; the arguments are as for `prove_costs`.

    Parameters
    ----------
    lam : float
        Weight of the squared norm.
    bias : bool
        Whether there is a constant feature 1, whose weight b is part of the norm.
    """
    products = KernelProducts(K, y, lam) if X is None and K is not None else FeatureProducts(X, y, lam)
    q = Question(stored, y, caps, products, "feature" if bias else "none", clip=False)
    return _proved(q, lambda q: _prove_hinge(q, "tau", note))


def prove_nu(
    stored: Stored, y: Array, caps: Array, total: Array, *,
    K: Array | None = None, X: Samples | None = None, parameter: str = "t", note: str = "",
) -> LineProof:  # fmt: skip
    """Prove a line of the 2nu-SVM; the arguments are as for `prove_costs`.

    Parameters
    ----------
    total : array of shape (2,)
        The least sum of the multipliers, nu, at t = 0 and t = 1.
    parameter : str
        What t is called.
    """
    products = KernelProducts(K, y) if X is None and K is not None else FeatureProducts(X, y)
    q = Question(stored, y, caps, products, clip=False, free_margin=True)
    return _proved(q, lambda q: _prove_nu(q, total, parameter, note))


def _proved(q: Question, prove: Callable[[Question], LineProof]) -> LineProof:
    """Ask for a proof; where it fails, with each end of each segment looked at by itself."""
    with np.errstate(invalid="ignore", over="ignore"):  # what is not a number is not proved
        proof = prove(q)
        return proof if proof.passes() else prove(replace(q, one_column=0.0))


def _blocks(q: Question) -> Iterator[tuple[slice, Known]]:
    """Block after block, and its segments."""
    cut, size = Cutter(q.stored), max(1, _SEGMENTS // (2 if isinstance(q.products, KernelProducts) else 1))
    for group in groups(q.stored, q.caps, size, max(1, _GROUP // q.y.size), q.clip):
        anchors = q.products.anchors(group, q.stored)
        for k in range(group.ends.size - 1):
            yield slice(int(group.ends[k]), int(group.ends[k + 1])), known(q, group, anchors, k, cut)


def _prove_nu(q: Question, total: Array, parameter: str, note: str) -> LineProof:
    S, lam = q.stored, q.products.lam
    m, reach = S.t.size - 1, float(q.products.reach.max(initial=0.0))
    gaps, norms = np.empty((m, 3)), np.empty((m, 3))
    names = ("stationarity in w", "box", "balance", "rho", "complementarity", "value")
    residuals = {name: np.zeros(m) for name in names}
    samples = np.zeros(m, dtype=np.int64)
    costs, nu = (_pairs((1.0 - S.t) * x[0] + S.t * x[1]) for x in (q.caps.sum(axis=1), total))
    largest2 = q.products.largest2
    for here, K in _blocks(q):
        i, j, E, k = K.first, K.last, K.entries, K.noise.size
        norms[here] = np.stack([K.scores.norm2[i], K.scores.cross, K.scores.norm2[j]], axis=1)
        stationarity = np.maximum(K.scores.apart[i], K.scores.apart[j]) + (0.0 if S.w is None else K.jump)
        residuals["stationarity in w"][here] = stationarity
        balance, missing = np.abs(_both(K.balance, K)), np.abs(_both(K.sums, K) - nu[here])
        residuals["balance"][here] = _quotient(balance, nu[here])
        residuals["rho"][here] = _quotient(missing, nu[here])
        residuals["box"][here] = K.box
        # Where rho vanishes, at one end of the path, margins are the rounding of scores.
        trivial = _both(K.target, K).min(axis=1) == 0.0
        allowed = (SCORE_ROUNDING * largest2 * nu[here].max(axis=1) * trivial)[E.row]
        off = np.sign(E.margin) * np.maximum(np.abs(E.margin) - allowed, 0.0) / np.maximum(K.size.T[:, E.row], _TINY)
        unit = np.minimum(E.caps, 0.5 * nu[here][E.row].T)
        most, samples[here] = _complementarity(E, off, unit, k)
        residuals["complementarity"][here] = most + K.noise / np.maximum(K.size[:, 1], _TINY)
        # Multipliers that are feasible, next to those stored, move w by no more than this.
        moved = reach * (balance + missing + 2.0 * K.outside)
        if not nu[here].all():
            E = _without_slack(E, nu[here])
        gaps[here] = (
            _products_of(E, k)
            + _product(_both(K.target, K), missing)
            + _product(np.abs(_both(K.b, K)), balance)
            + _product(np.sqrt(np.maximum(_both(K.scores.norm2, K), 0.0)), moved)
            + 0.5 * _product(moved, moved)
            + _product(costs[here], _late(K.noise))
            + _product(K.outside, E.at_ends(np.abs(E.margin), k))
            + 0.5 * lam * _square(_both(K.scores.distance, K))
        )
    sizes, rounding = _product(nu, _rho(S, 0, m).T), SCORE_ROUNDING * largest2 * _product(nu, nu)
    sizes = np.where(sizes.min(axis=1, keepdims=True) > 0.0, sizes, 0.5 * (sizes + rounding))  # where rho vanishes
    residuals["value"] = value_residual(
        np.diff(S.t), S.value, -0.5 * norms, gaps + rounding, 0.5 * np.maximum(norms, 0)
    )
    return LineProof(S.t, gaps, sizes, rounding, -0.5 * norms, residuals, samples, parameter, note)


def _without_slack(E: Entries, nu: Array) -> Entries:
    """The same with smaller rho on segments that begin or end at nu = 0, where nobody is at its cap.

    Slacks cost the more there the smaller nu is, against a value of order nu squared. So rho gives way.
    """
    give = E.at_ends(np.where((E.alpha < E.caps).any(axis=0), -E.margin, 0.0), nu.shape[0])
    give[nu.all(axis=1)] = 0.0
    return replace(E, margin=E.margin + give[E.row].T)


def _prove_hinge(q: Question, parameter: str, note: str) -> LineProof:
    S, lam = q.stored, q.products.lam
    m = S.t.size - 1
    gaps, duals = np.empty((m, 3)), np.empty((m, 3))
    residuals = {name: np.zeros(m) for name in ("stationarity in w", "box", "balance", "complementarity", "value")}
    samples = np.zeros(m, dtype=np.int64)
    costs, plus, minus = (_pairs(sums) for sums in _sums(S.t, q.y, q.caps))
    rounding = np.empty((m, 3))
    for here, K in _blocks(q):
        i, j, E, k = K.first, K.last, K.entries, K.noise.size
        norm2, cross, apart, distance = K.scores.norm2, K.scores.cross, K.scores.apart, K.scores.distance
        if q.intercept == "feature":
            constant = K.balance / lam
            norm2, cross = norm2 + lam * constant**2, cross + lam * constant[i] * constant[j]
            # A stored intercept is judged against the one that the multipliers imply.
            off = np.abs(K.b - constant)
            apart, distance = np.maximum(apart, off / (1.0 + K.sums / lam)), np.hypot(distance, off)
        dual = K.sums - 0.5 * norm2
        duals[here] = np.stack([dual[i], 0.5 * (K.sums[i] + K.sums[j] - cross), dual[j]], axis=1)
        residuals["stationarity in w"][here] = np.maximum(apart[i], apart[j]) + (0.0 if S.w is None else K.jump)
        residuals["box"][here] = K.box
        unit = E.caps
        if q.intercept == "free":
            unit = np.minimum(unit, np.where(q.y[E.sample] > 0, minus[here][E.row].T, plus[here][E.row].T))
        off = E.margin / (1.0 + np.abs(E.margin + 1.0))
        most, samples[here] = _complementarity(E, off, unit, k)
        residuals["complementarity"][here] = most + K.noise
        rounding[here] = _slack_rounding(K, k)
        gaps[here] = _products_of(E, k) + _product(costs[here], _late(K.noise))
        gaps[here] += 0.5 * lam * _square(_both(distance, K))
        if not q.clip:
            gaps[here] += 0.5 * (q.products.length2 / lam) * _square(K.outside)
        if q.intercept == "free":
            balance = np.abs(_both(K.balance, K))
            residuals["balance"][here] = _quotient(balance, np.minimum(plus[here], minus[here]))
            # The class with the larger sum is scaled down until the two balance. That costs what its slacks are on
            # average; all slacks times caps add up to sum alpha - |w|^2 + gap.
            slack = max(K.slack, -float(E.margin.min(initial=0.0)))
            sums = _product(_both(K.sums, K), np.ones((k, 2)))
            hinge = sums - np.stack([norm2[i], cross, norm2[j]], axis=1) + gaps[here]
            average = np.minimum(2.0 * (hinge / np.maximum(sums, _TINY)).max(axis=1), slack)
            gaps[here] += average[:, None] * _product(balance, np.ones((k, 2)))
            gaps[here] += 0.5 * q.products.length2 * _square(balance)
    rounding = np.maximum(rounding, _EPS * rounding.max(axis=1, keepdims=True))  # costs vanish, but t is a double
    sizes = _chord(duals)
    sizes = np.maximum(sizes, _EPS * sizes.max(axis=1, keepdims=True))
    residuals["value"] = value_residual(np.diff(S.t), S.value, duals, gaps, sizes)
    return LineProof(S.t, gaps, sizes, rounding, duals, residuals, samples, parameter, note)


def _products_of(E: Entries, k: int) -> Array:
    """Bernstein coefficients of what slack times multiplier adds up to, on each of k segments."""
    right = np.maximum(E.margin, 0.0)
    left, room = right - E.margin, E.caps - E.alpha
    terms = E.alpha * right + room * left
    mixed = E.alpha * right[::-1] + room * left[::-1]
    return np.stack([E.add(terms[0], k), 0.5 * E.add(mixed[0] + mixed[1], k), E.add(terms[1], k)], axis=1)


def _complementarity(E: Entries, off: Array, unit: Array, k: int) -> tuple[Array, Index]:
    """Largest residual on each of k segments, for margins in their units, and the sample it belongs to.

    ``unit`` (2, e) is what the multipliers can reach: a quotient of two affine functions, it is largest at an end.
    """
    positive = np.where(unit > 0.0, unit, 1.0)
    load = np.where(unit > 0.0, E.alpha / positive, 0.0)
    room = np.where(unit > 0.0, (E.caps - E.alpha) / positive, np.where(E.caps > E.alpha, np.inf, 0.0))
    above, below = np.minimum(load.max(axis=0), off.max(axis=0)), np.minimum(room.max(axis=0), -off.min(axis=0))
    return E.largest(np.maximum(above, below), k)


def _slack_rounding(K: Known, k: int) -> Array:
    """Nowhere above what rounding of slacks makes of the gap: costs of all that are not beyond their margin."""
    E, sums = K.entries, _both(K.sums, K)
    near = E.margin.max(axis=0) <= SLACK_ROUNDING
    more = np.stack([E.add(np.where(near, c - a, 0.0), k) for c, a in zip(E.caps, E.alpha, strict=True)], axis=1)
    b0, b1 = K.b[K.first], K.b[K.last]
    size = 1.0 + np.minimum(np.abs(b0), np.abs(b1)) * (b0 * b1 > 0.0)
    return SLACK_ROUNDING * _product(sums + more, _pair(size))


def _sums(t: Array, y: Array, caps: Array) -> list[Array]:
    """Sums of all caps, of those of the positive and of the negative samples at t, shape (m + 1,) each."""
    return [(1.0 - t) * (caps[0] @ side) + t * (caps[1] @ side) for side in (np.ones(y.size), y > 0, y < 0)]


def _quotient(p: Array, q: Array) -> Array:
    """Largest quotient of two positive affine functions, given by their values (k, 2) at both ends."""
    return np.asarray(np.where(q > 0.0, p / np.where(q > 0.0, q, 1.0), np.where(p > 0.0, np.inf, 0.0)).max(axis=1))


def _chord(duals: Array) -> Array:
    """Of dual values: the optimal value is concave, so nowhere below the chord of its bounds."""
    start, end = np.maximum(duals[:, 0], 0.0), np.maximum(duals[:, 2], 0.0)
    return np.stack([start, 0.5 * (start + end), end], axis=1)


def value_residual(length: Array, value: Array, duals: Array, gaps: Array, sizes: Array) -> Array:
    """How far the stored values are outside the proved bounds, relative to them."""
    # What a unit in the last place of t makes of the value: all there is next to the origin.
    slope = np.abs(value[:, 1] - value[:, 0]) / length
    stored = _bernstein(value)
    off = np.maximum(duals - stored, stored - duals - gaps) - 4 * _EPS * slope[:, None]
    # Where the value vanishes at an end, it is a difference of the stored numbers, and these are what is accurate.
    most = sizes.max(axis=1, keepdims=True)
    unit = np.where(sizes.min(axis=1, keepdims=True) > ROUNDING * most, sizes, 0.25 * most)
    return np.asarray((np.maximum(off, 0.0) / np.maximum(unit, 1e-300)).max(axis=1))


def _bernstein(value: Array) -> Array:
    """Coefficients of ``(1 - f) s + f e - f (1 - f) c``, given as rows s, e, c."""
    start, end, bend = value.T
    return np.stack([start, 0.5 * (start + end) - 0.5 * bend, end], axis=1)


def _product(p: Array, q: Array) -> Array:
    """Bernstein coefficients of products of affine functions, given by their values (k, 2) at both ends."""
    return np.stack([p[:, 0] * q[:, 0], 0.5 * (p[:, 0] * q[:, 1] + p[:, 1] * q[:, 0]), p[:, 1] * q[:, 1]], axis=1)


def _square(p: Array) -> Array:
    return _product(p, p)


def _late(x: Array) -> Array:
    """What is 0 at the beginning of each segment."""
    return np.stack([np.zeros_like(x), x], axis=1)


def _pair(x: Array) -> Array:
    """The same at both ends."""
    return np.stack([x, x], axis=1)


def _pairs(x: Array) -> Array:
    """Numbers at the ends of m segments, (m + 1,), as (m, 2)."""
    return np.stack([x[:-1], x[1:]], axis=1)


def _both(x: Array, K: Known) -> Array:
    """Numbers of columns at both ends of the segments, (k, 2)."""
    return np.stack([x[K.first], x[K.last]], axis=1)
