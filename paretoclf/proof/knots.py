"""The proof of segments of many lines of the 2C-SVM at once, from all that is known at their knots.

Lines that leave out one sample each are short and many: what a block of one line saves (see `block`) is less than what
a block costs. Here all multipliers and all margins are at hand at every knot, and the theorem is that of `block`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask, State
from paretoclf.problem.operator import Features, Quadratic
from paretoclf.problem.samples import largest
from paretoclf.proof import bernstein
from paretoclf.proof.bernstein import columns
from paretoclf.proof.hinge import HingeTerms, floored, of_margins, slack_rounding
from paretoclf.proof.line import LineProof
from paretoclf.proof.theorem import Entries

_NUMBERS = 2**17 - 2**10  # of multipliers that are looked at together: a cache holds them
_CLEAR = 1e-12  # of a margin: what is no further off is not looked at, and counts as a residual of that size
_TINY = float(np.finfo(float).tiny)
_ROWS = ("gaps", "sizes", "rounding", "duals", "samples")


class SignedSamples:
    """Features, whose slopes are judged, or kernel values, times labels: made once, for many knots.

    ``caps`` (2, n) are those at t = 0 and t = 1; ``rounding`` as `Gram` has it.
    """

    def __init__(self, Q: Quadratic, y: Array, caps: Array, rounding: Array | None, slopes: bool) -> None:
        self.y, self.caps, self.rounding = y, caps, rounding
        sums = [np.ones((y.size, 1)), y[:, None]] + ([] if rounding is None else [rounding[:, None]])
        if slopes:
            assert isinstance(Q, Features)
            self.size = largest(Q.X)
            self.matrix, self.length2 = np.ascontiguousarray(y[:, None] * Q.X), float(self.size @ self.size)
            #: What slopes, intercepts and ones are multiplied by for margins.
            self.with_intercept = np.vstack([self.matrix.T, y, np.full(y.size, -1.0)])
            sums.append(self.matrix)
        else:
            K = Q.whole()
            self.matrix, self.length2 = y[:, None] * K * y, float(np.max(np.diagonal(K), initial=0.0))
        #: What multipliers are multiplied by for their sums.
        self.sums = np.hstack(sums)


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

    def part(self, a: int, z: int) -> LineKnots:
        """Segments a to z - 1, as views."""
        first = self.first[a:z]
        at = slice(first[0], first[-1] + 2)
        w, costs = None if self.w is None else self.w[at], self.costs[at]
        return LineKnots(self.t[at], self.b[at], costs, self.sets[at], self.alpha[at], w, first - first[0], self.of)

    def cap(self, knot: Index, sample: Index) -> Array:
        """Caps of some samples at some knots."""
        t, (first, last) = self.t[knot], self.of.caps
        return np.asarray((1.0 - t) * first[sample] + t * last[sample])

    def ends(self, x: Array) -> Array:
        """Numbers (c,) at both ends of the segments, (k, 2)."""
        return columns(x[self.first], x[self.first + 1])


def prove_knots(at: LineKnots, note: str = "") -> LineProof:
    """Prove segments of lines of the 2C-SVM; the t of the proof are those where they begin."""
    with np.errstate(invalid="ignore", over="ignore"):  # what is not a number is not proved
        n, length2 = at.alpha.shape[1], at.of.length2
        size = max(16, _NUMBERS // n)
        room = np.empty((2, 2 * size, n))
        found = [_look(at.part(a, a + size), room) for a in range(0, at.first.size, size)]
        F: dict[str, Any] = {name: np.concatenate([one[name] for one in found]) for name in found[0]}
        kernel, rounding = F.pop("kernel", None), floored(slack_rounding(F["sums"], F["b"]))
        residuals = {name: F.pop(name) for name in ("stationarity in w", "box", "complementarity")}
        room = F["plus"] + F["minus"] - F["sums"]  # no less than that of those next to their margin
        slack = np.full(len(room), np.inf)  # there may be larger ones
        terms = HingeTerms(residuals=residuals, room=room, rounding=rounding, slack=slack, length2=length2, **F)
        return terms.proof(note=note, kernel_rounding=kernel)


def part_of(proof: LineProof, which: Index, t: Array) -> LineProof:
    """What a proof says of some segments, which are a line from ``t[0]`` to ``t[-1]``."""
    parts: dict[str, Any] = {name: getattr(proof, name)[which] for name in _ROWS}
    parts["residuals"] = {name: values[which] for name, values in proof.residuals.items()}
    if proof.kernel_rounding is not None:
        parts["kernel_rounding"] = proof.kernel_rounding[which]
    return LineProof(t=t, parameter=proof.parameter, note=proof.note, **parts)


def _look(at: LineKnots, room: Array) -> dict[str, Any]:
    """What of these knots goes into the proof, at both ends of each segment, (k, 2), or along it."""
    S, here, c = at.of, at.first, at.t.size
    sums, (margin, shift) = at.alpha @ S.sums, room[:, :c]
    if at.w is None:
        np.matmul(at.alpha, S.matrix, out=margin)
        norm2, cross = np.vecdot(at.alpha, margin), np.vecdot(at.alpha[:-1], margin[1:])
        apart = distance = np.zeros(c)
        np.multiply(at.b[:, None], S.y, out=shift)
        shift -= 1.0
        margin += shift
    else:
        implied = sums[:, sums.shape[1] - S.size.size :]
        norm2, cross = np.vecdot(implied, implied), np.vecdot(implied[:-1], implied[1:])
        wrong = np.abs(at.w - implied)
        distance = np.sqrt(np.vecdot(wrong, wrong))
        apart = (wrong * S.size / (1.0 + np.abs(implied) * S.size)).max(axis=1, initial=0.0)
        np.matmul(np.hstack([at.w, at.b[:, None], np.ones((c, 1))]), S.with_intercept, out=margin)
    E = _entries(at, margin)
    box, outside = _outside(at)
    unit = np.minimum(
        E.caps, at.costs.T.take(at.first[E.row] + np.array([[0], [1]]) + at.t.size * (S.y > 0).take(E.sample))
    )
    plus, minus = (at.ends(x) for x in at.costs.T)
    found = of_margins(E, unit, at.ends(outside))
    found["complementarity"] = np.maximum(found["complementarity"], _CLEAR)
    found["gap"] += _CLEAR * bernstein.line(plus + minus)
    found |= {
        **{"t": at.ends(at.t), "b": at.ends(at.b), "plus": plus, "minus": minus},
        **{"sums": at.ends(sums[:, 0]), "balance": at.ends(sums[:, 1])},
        "stationarity in w": at.ends(apart).max(axis=1),
        **{"box": at.ends(box).max(axis=1), "distance": at.ends(distance)},
        "norms": columns(norm2[here], cross[here], norm2[here + 1]),
    }
    return found if S.rounding is None else {**found, "kernel": 0.5 * at.ends(sums[:, 2]).max(axis=1) ** 2}


def _outside(at: LineKnots) -> tuple[Array, Array]:
    """How far listed multipliers leave their box: by most of their caps, and in all; (c,) each."""
    most, total = np.zeros(at.t.size), np.zeros(at.t.size)
    place = _places(at.sets == 2)
    knot, sample = np.divmod(place, at.alpha.shape[1])
    alpha, caps = at.alpha.take(place), at.cap(knot, sample)
    off = np.maximum(-alpha, alpha - caps)
    out = np.flatnonzero(~(off <= 0.0))
    np.maximum.at(most, knot[out], off[out] / np.maximum(caps[out], _TINY))
    np.add.at(total, knot[out], off[out])
    return most, total


def _entries(at: LineKnots, margin: Array) -> Entries:
    """Samples that are on the wrong side of their margin at an end of a segment, by more than `_CLEAR`."""
    n, k, c = at.alpha.shape[1], at.first.size, at.t.size
    above, below = margin > _CLEAR, margin < -_CLEAR
    loaded, spare = ((at.sets == 2) | (at.sets == bound) for bound in (1, 0))
    wrong = (above[:-1] | above[1:]) & (loaded[:-1] | loaded[1:])
    wrong |= (below[:-1] | below[1:]) & (spare[:-1] | spare[1:])
    segment = np.full(c - 1, -1)
    segment[at.first] = np.arange(k)
    wrong[segment < 0] = False
    place = _places(wrong)
    knot, sample = np.divmod(place, n)
    row = segment[knot]
    alpha, off = (np.array([x.take(place), x.take(place + n)]) for x in (at.alpha, margin))
    caps = at.cap(knot + np.array([[0], [1]]), sample)
    return Entries(np.searchsorted(row, np.arange(k + 1)), row, sample, caps, np.minimum(alpha, caps), off)


def _places(marked: Mask) -> Index:
    """Flat places of the few that are marked: eight are looked at together."""
    flat = marked.reshape(-1)
    whole = flat.size // 8 * 8
    some = 8 * np.flatnonzero(flat[:whole].view(np.int64))[:, None] + np.arange(8)
    found = np.concatenate([some.ravel(), np.arange(whole, flat.size)])
    return np.asarray(found[flat[found]])
