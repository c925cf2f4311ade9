"""The proof of segments of many lines of the 2C-SVM at once, from all that is known at their knots.

Lines that leave out one sample each are short and many: what a block of one line saves (see `block`) is less than what
a block costs. Here all multipliers and all margins are at hand at every knot, and the theorem is that of `block`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.checks import Array, Index, Mask, State
from paretoclf.proof import bernstein
from paretoclf.proof.bernstein import columns
from paretoclf.proof.entries import Entries, complementarity, gap_of
from paretoclf.proof.hinge import average_slack, floored, hidden, slack_rounding
from paretoclf.proof.line import LineProof
from paretoclf.quadratic import Features, Quadratic
from paretoclf.samples import largest

_CLEAR = 1e-12  # of a margin: what is no further off is not looked at, and counts as a residual of that size
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
            sums.append(self.matrix)
        else:
            K = Q.whole()
            self.matrix, self.length2 = y[:, None] * K * y, float(np.max(np.diagonal(K), initial=0.0))
        #: What shares of caps are multiplied by for sums of multipliers: at t = 0, at t = 1.
        self.sums = np.hstack([np.hstack(sums) * cap[:, None] for cap in caps])


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
    share : array of shape (c, n)
        Multipliers over caps, from 0 to 1; 0 and 1 as ``sets`` say.
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
    share: Array
    w: Array | None
    first: Index
    of: SignedSamples

    def ends(self, x: Array) -> Array:
        """Numbers (c,) at both ends of the segments, (k, 2)."""
        return columns(x[self.first], x[self.first + 1])

    @cached_property
    def alpha(self) -> Array:
        """Multipliers, (c, n)."""
        return np.asarray(self.share * (np.column_stack([1.0 - self.t, self.t]) @ self.of.caps))


def prove_knots(some: Iterable[LineKnots], note: str = "") -> LineProof:
    """Prove segments of lines of the 2C-SVM; the t of the proof are those where they begin."""
    with np.errstate(invalid="ignore", over="ignore"):  # what is not a number is not proved
        found, length2 = [], 0.0
        for at in some:
            found.append(_look(at))
            length2 = at.of.length2
        F = {name: np.concatenate([one[name] for one in found]) for name in found[0]}
        plus, minus, sums, b, norms = (F[name] for name in ("plus", "minus", "sums", "b", "norms"))
        total, missing = bernstein.line(sums), np.abs(F["balances"])
        duals = total - 0.5 * norms
        gaps = F["gap"] + 0.5 * bernstein.square(F["distance"])
        gaps += average_slack(total, norms, gaps)[:, None] * bernstein.line(missing) + 0.5 * length2 * bernstein.square(
            missing
        )
        sizes, rounding = floored(bernstein.chord(duals)), floored(slack_rounding(sums, b))
        gaps += hidden(plus + minus - sums, b, sizes)  # no less than the room of those next to their margin
        residuals = {
            "stationarity in w": F["apart"].max(axis=1),
            "balance": bernstein.quotient(missing, np.minimum(plus, minus)),
            "complementarity": F["complementarity"],
        }
        t = np.append(F["t"][:, 0], F["t"][-1:, 1])
        return LineProof(t, gaps, sizes, rounding, duals, residuals, F["samples"], "t", note, F.get("kernel"))


def part_of(proof: LineProof, which: Index, t: Array) -> LineProof:
    """What a proof says of some segments, which are a line from ``t[0]`` to ``t[-1]``."""
    parts: dict[str, Any] = {name: getattr(proof, name)[which] for name in _ROWS}
    parts["residuals"] = {name: values[which] for name, values in proof.residuals.items()}
    if proof.kernel_rounding is not None:
        parts["kernel_rounding"] = proof.kernel_rounding[which]
    return LineProof(t=t, parameter=proof.parameter, note=proof.note, **parts)


def _look(at: LineKnots) -> dict[str, Any]:
    """What of these knots goes into the proof, at both ends of each segment, (k, 2), or along it."""
    S, n, here, one = at.of, at.share.shape[1], at.first, np.ones((at.t.size, 1))
    sums = at.share @ S.sums
    width = sums.shape[1] // 2
    sums = (1.0 - at.t)[:, None] * sums[:, :width] + at.t[:, None] * sums[:, width:]
    behind = [S.y[None], np.full((1, n), -1.0)]
    if at.w is None:
        alpha = at.alpha
        margin = alpha @ S.matrix
        norm2, cross = np.vecdot(alpha, margin), np.vecdot(alpha[:-1], margin[1:])
        apart = distance = np.zeros(at.t.size)
        margin += np.hstack([at.b[:, None], one]) @ np.vstack(behind)
    else:
        implied = sums[:, width - S.size.size :]
        norm2, cross = np.vecdot(implied, implied), np.vecdot(implied[:-1], implied[1:])
        wrong = np.abs(at.w - implied)
        distance = np.sqrt(np.vecdot(wrong, wrong))
        apart = (wrong * S.size / (1.0 + np.abs(implied) * S.size)).max(axis=1, initial=0.0)
        margin = np.hstack([at.w, at.b[:, None], one]) @ np.vstack([S.matrix.T, *behind])
    E = _entries(at, margin)
    unit = np.minimum(
        E.caps, at.costs.T.take(at.first[E.row] + np.array([[0], [1]]) + at.t.size * (S.y > 0).take(E.sample))
    )
    most, samples = complementarity(E, E.margin / (np.abs(E.margin + 1.0) + 1.0), unit)
    plus, minus = (at.ends(x) for x in at.costs.T)
    found = {
        **{"t": at.ends(at.t), "b": at.ends(at.b), "plus": plus, "minus": minus},
        **{"sums": at.ends(sums[:, 0]), "balances": at.ends(sums[:, 1])},
        **{"apart": at.ends(apart), "distance": at.ends(distance)},
        **{"complementarity": np.maximum(most, _CLEAR), "samples": samples},
        "norms": columns(norm2[here], cross[here], norm2[here + 1]),
        "gap": gap_of(E) + _CLEAR * bernstein.line(plus + minus),
    }
    return found if S.rounding is None else {**found, "kernel": 0.5 * at.ends(sums[:, 2]).max(axis=1) ** 2}


def _entries(at: LineKnots, margin: Array) -> Entries:
    """Samples that are on the wrong side of their margin at an end of a segment, by more than `_CLEAR`."""
    n, k, c = at.share.shape[1], at.first.size, at.t.size
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
    share, off = (np.array([x.take(place), x.take(place + n)]) for x in (at.share, margin))
    t = at.t[knot + np.array([[0], [1]])]
    caps = (1.0 - t) * at.of.caps[0, sample] + t * at.of.caps[1, sample]
    return Entries(np.searchsorted(row, np.arange(k + 1)), row, sample, caps, share * caps, off)


def _places(marked: Mask) -> Index:
    """Flat places of the few that are marked: eight are looked at together."""
    flat = marked.reshape(-1)
    whole = flat.size // 8 * 8
    some = 8 * np.flatnonzero(flat[:whole].view(np.int64))[:, None] + np.arange(8)
    found = np.concatenate([some.ravel(), np.arange(whole, flat.size)])
    return np.asarray(found[flat[found]])
