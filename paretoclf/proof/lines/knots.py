"""The proof of segments of many lines of the 2C-SVM at once, from the multipliers and margins at their knots.

Lines that leave out one sample each are short and many: a block of one line saves less than it costs (see
`paretoclf.proof.segments.block`). Here all multipliers and all margins are computed at every knot; the theorem is the
same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask, State
from paretoclf.problem.operator import Features, Quadratic
from paretoclf.problem.samples import largest
from paretoclf.proof.lines.hinge_lines import HingeTerms, floored, of_margins, slack_rounding
from paretoclf.proof.segments import bernstein
from paretoclf.proof.segments.bernstein import columns
from paretoclf.proof.segments.block import joined
from paretoclf.proof.segments.line_proof import LineProof
from paretoclf.proof.segments.score_products import BlockSlopes
from paretoclf.proof.segments.theorem import Entries

_NUMBERS = 2**17 - 2**10  # of multipliers that are looked at together: a cache holds them
_CLEAR = 1e-12  # smaller violations of a margin are not listed, but count as a residual of this size
_TINY = float(np.finfo(float).tiny)
_ROWS = ("gaps", "sizes", "rounding", "duals", "samples")


class SignedSamples:
    """Features, whose slopes are judged, or kernel values, times labels: computed once, for many knots.

    ``caps`` (2, n) are those at t = 0 and t = 1; ``rounding`` as `Gram` has it.
    """

    def __init__(self, Q: Quadratic, y: Array, caps: Array, rounding: Array | None, slopes: bool) -> None:
        self.y, self.caps, self.rounding = y, caps, rounding
        weights = [np.ones((y.size, 1)), y[:, None]]
        if rounding is not None:
            weights.append(rounding[:, None])
        if slopes:
            assert isinstance(Q, Features)
            self.size = largest(Q.X)
            self.matrix = np.ascontiguousarray(y[:, None] * Q.X)
            self.length2 = float(self.size @ self.size)
            #: Factor of slopes, intercepts and ones in the product that gives margins.
            self.with_intercept = np.vstack([self.matrix.T, y, np.full(y.size, -1.0)])
            weights.append(self.matrix)
        else:
            K = Q.whole()
            self.matrix = y[:, None] * K * y
            self.length2 = float(np.max(np.diagonal(K), initial=0.0))
        #: Weights of the multipliers in their sums: 1, the labels, rounding of the kernel, and features, where given.
        self.weights = np.hstack(weights)


@dataclass(frozen=True)
class LineKnots:
    """Points of some lines, and k segments, each from one of them to the next, affine in between.

    Attributes
    ----------
    t, b : arrays of shape (c,)
    costs : array of shape (c, 2)
        Sums of the caps of the positives, and of the negatives.
    sets : array of shape (c, n)
        0: multiplier 0; 1: at its cap; 2: listed; 3: not there.
    alpha : array of shape (c, n)
        Multipliers, from 0 to their caps; these two as ``sets`` say.
    w : array of shape (c, d), optional
        Slopes that are judged, where there are features.
    first : int array of shape (k,)
        Where each segment begins.
    of : SignedSamples
    """

    t: Array
    b: Array
    costs: Array
    sets: State
    alpha: Array
    w: Array | None
    first: Index
    of: SignedSamples

    def part(self, start: int, stop: int) -> LineKnots:
        """Take the segments from ``start`` to ``stop - 1``, as views."""
        first = self.first[start:stop]
        knots = slice(first[0], first[-1] + 2)
        w = None if self.w is None else self.w[knots]
        numbers = self.t[knots], self.b[knots], self.costs[knots]
        samples = self.sets[knots], self.alpha[knots]
        return LineKnots(*numbers, *samples, w, first - first[0], self.of)

    def cap(self, knot: Index, sample: Index) -> Array:
        """Caps of some samples at some knots."""
        t = self.t[knot]
        first, last = self.of.caps
        return np.asarray((1.0 - t) * first[sample] + t * last[sample])

    def ends(self, numbers: Array) -> Array:
        """Pair numbers (c,) of the knots by segments: values at both ends, (k, 2)."""
        return columns(numbers[self.first], numbers[self.first + 1])


def prove_knots(at: LineKnots, note: str = "") -> LineProof:
    """Prove segments of lines of the 2C-SVM; the t of the proof are those where they begin."""
    with np.errstate(invalid="ignore", over="ignore"):  # what is not a number is not proved
        count = at.alpha.shape[1]
        size = max(16, _NUMBERS // count)
        workspace = np.empty((2, 2 * size, count))
        starts = range(0, at.first.size, size)
        found = joined([_terms(at.part(start, start + size), workspace) for start in starts])
        kernel = found.pop("kernel", None)
        residuals = {name: found.pop(name) for name in ("stationarity in w", "box", "complementarity")}
        # No less than the costs of the samples that are next to their margin.
        costs = found["plus"] + found["minus"] - found["sums"]
        terms = HingeTerms(
            residuals=residuals,
            hidden_costs=costs,
            rounding=floored(slack_rounding(found["sums"], found["b"])),
            slack=np.full(len(costs), np.inf),  # only those listed are known
            length2=at.of.length2,
            **found,
        )
        return terms.proof(note=note, kernel_rounding=kernel)


def part_of(proof: LineProof, which: Index, t: Array) -> LineProof:
    """Take from a proof what it says of some segments, which are a line from ``t[0]`` to ``t[-1]``."""
    parts: dict[str, Any] = {name: getattr(proof, name)[which] for name in _ROWS}
    parts["residuals"] = {name: values[which] for name, values in proof.residuals.items()}
    if proof.kernel_rounding is not None:
        parts["kernel_rounding"] = proof.kernel_rounding[which]
    return LineProof(t=t, parameter=proof.parameter, note=proof.note, **parts)


def _terms(at: LineKnots, workspace: Array) -> dict[str, Any]:
    """Compute the terms of `HingeTerms` and the residuals of some segments; margins are written to the workspace."""
    samples = at.of
    sums = at.alpha @ samples.weights
    slopes, margin = _with_kernel(at, workspace) if at.w is None else _with_slopes(at, sums, workspace)
    entries = _entries(at, margin)
    box, outside = _outside(at)
    # A multiplier reaches no further than the other class can balance.
    knot = at.first[entries.row] + np.array([[0], [1]])
    other_class = at.t.size * (samples.y > 0).take(entries.sample)
    unit = np.minimum(entries.caps, at.costs.T.take(knot + other_class))
    plus, minus = (at.ends(costs) for costs in at.costs.T)
    found = of_margins(entries, unit, at.ends(outside))
    found["complementarity"] = np.maximum(found["complementarity"], _CLEAR)
    found["gap"] += _CLEAR * bernstein.line(plus + minus)
    found |= {"plus": plus, "minus": minus}
    at_knots = {"t": at.t, "b": at.b, "sums": sums[:, 0], "balance": sums[:, 1], "distance": slopes.distance}
    found |= {name: at.ends(numbers) for name, numbers in at_knots.items()}
    found["stationarity in w"] = at.ends(slopes.stationarity).max(axis=1)
    found["box"] = at.ends(box).max(axis=1)
    found["norms"] = slopes.norms((at.first, at.first + 1))
    if samples.rounding is not None:
        found["kernel"] = 0.5 * at.ends(sums[:, 2]).max(axis=1) ** 2
    return found


def _with_kernel(at: LineKnots, workspace: Array) -> tuple[BlockSlopes, Array]:
    """Norms of the slopes that multipliers imply, and margins ``y f - 1`` (c, n), by products with the kernel."""
    margin, shift = workspace[:, : at.t.size]
    np.matmul(at.alpha, at.of.matrix, out=margin)
    norm2 = np.vecdot(at.alpha, margin)
    cross = np.vecdot(at.alpha[:-1], margin[1:])
    np.multiply(at.b[:, None], at.of.y, out=shift)
    shift -= 1.0
    margin += shift
    zero = np.zeros(at.t.size)
    return BlockSlopes(norm2, cross[at.first], zero, zero), margin


def _with_slopes(at: LineKnots, sums: Array, workspace: Array) -> tuple[BlockSlopes, Array]:
    """Norms of the slopes that multipliers imply, residuals of those judged, and margins ``y f - 1`` (c, n)."""
    assert at.w is not None
    size, (margin, _) = at.of.size, workspace[:, : at.t.size]
    implied = sums[:, sums.shape[1] - size.size :]
    norm2 = np.vecdot(implied, implied)
    cross = np.vecdot(implied[:-1], implied[1:])
    difference = np.abs(at.w - implied)
    distance = np.sqrt(np.vecdot(difference, difference))
    stationarity = (difference * size / (1.0 + np.abs(implied) * size)).max(axis=1, initial=0.0)
    with_intercept = np.hstack([at.w, at.b[:, None], np.ones((at.t.size, 1))])
    np.matmul(with_intercept, at.of.with_intercept, out=margin)
    return BlockSlopes(norm2, cross[at.first], stationarity, distance), margin


def _outside(at: LineKnots) -> tuple[Array, Array]:
    """Violations of the box by listed multipliers at each knot: the largest share of a cap, and the sum; (c,) each."""
    largest_share, total = np.zeros(at.t.size), np.zeros(at.t.size)
    place = _places(at.sets == 2)
    knot, sample = np.divmod(place, at.alpha.shape[1])
    alpha, caps = at.alpha.take(place), at.cap(knot, sample)
    violation = np.maximum(-alpha, alpha - caps)
    some = np.flatnonzero(~(violation <= 0.0))
    share = violation[some] / np.maximum(caps[some], _TINY)
    np.maximum.at(largest_share, knot[some], share)
    np.add.at(total, knot[some], violation[some])
    return largest_share, total


def _entries(at: LineKnots, margin: Array) -> Entries:
    """List samples that are on the wrong side of their margin at an end of a segment, by more than `_CLEAR`."""
    sample_count, segment_count = at.alpha.shape[1], at.first.size
    above, below = margin > _CLEAR, margin < -_CLEAR
    listed = at.sets == 2
    may_be_positive = listed | (at.sets == 1)
    may_be_below_cap = listed | (at.sets == 0)
    wrong = (above[:-1] | above[1:]) & (may_be_positive[:-1] | may_be_positive[1:])
    wrong |= (below[:-1] | below[1:]) & (may_be_below_cap[:-1] | may_be_below_cap[1:])
    segment = np.full(at.t.size - 1, -1)
    segment[at.first] = np.arange(segment_count)
    wrong[segment < 0] = False
    place = _places(wrong)
    knot, sample = np.divmod(place, sample_count)
    row = segment[knot]
    at_both_ends = place + np.array([[0], [sample_count]])
    caps = at.cap(knot + np.array([[0], [1]]), sample)
    alpha = np.minimum(at.alpha.take(at_both_ends), caps)
    ptr = np.searchsorted(row, np.arange(segment_count + 1))
    return Entries(ptr, row, sample, caps, alpha, margin.take(at_both_ends))


def _places(marked: Mask) -> Index:
    """Flat places of the few that are marked: eight are looked at together."""
    flat = marked.reshape(-1)
    whole = flat.size // 8 * 8
    eights = np.flatnonzero(flat[:whole].view(np.int64))
    candidates = 8 * eights[:, None] + np.arange(8)
    candidates = np.concatenate([candidates.ravel(), np.arange(whole, flat.size)])
    return np.asarray(candidates[flat[candidates]])
