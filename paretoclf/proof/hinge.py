"""The proof of lines of the 2C-SVM and of the quantile SVM: hinge losses, with an intercept or without.

They are the case of `paretoclf.proof.theorem` in which a row a sample is soft, and x is (w, b).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.tolerances import SLACK_ROUNDING, UNDECIDED
from paretoclf.proof import bernstein
from paretoclf.proof.block import BlockTerms, ProofTask, over_blocks, proved
from paretoclf.proof.line import LineProof
from paretoclf.proof.soft_margin import SoftMargin
from paretoclf.proof.stored import Stored, kernel_rounding
from paretoclf.proof.theorem import Entries, complementarity, gap_of

_TINY, _EPS = float(np.finfo(float).tiny), float(np.finfo(float).eps)


def prove_hinge(problem: SoftMargin, stored: Stored, parameter: str) -> LineProof:
    """Prove a line of the 2C-SVM or of the quantile SVM."""
    return proved(problem, stored, lambda q: _prove(q, parameter))


@dataclass(frozen=True)
class HingeTerms:
    """What is known of k segments of such a line, at both ends (k, 2), or in Bernstein coefficients (k, 3).

    Attributes
    ----------
    t : array of shape (k, 2)
    gap : array of shape (k, 3)
        The sums of the theorem: of multipliers times what margins are beyond 1, and of their room times slacks.
    norms : array of shape (k, 3)
        ``lam |w|^2`` of the slope that the multipliers imply.
    sums, balance, plus, minus : arrays of shape (k, 2)
        Sums of multipliers, of these times labels, and of the caps of either class.
    outside, off : arrays of shape (k, 2)
        How far multipliers are outside their box, in sum, and the largest margin of those that are.
    distance : array of shape (k, 2)
        From the slope that is judged to the implied one.
    slack : array of shape (k,)
        No sample has a larger slack.
    b : array of shape (k, 2)
    rounding : array of shape (k, 3)
        What rounding of margins makes of the gap.
    residuals : mapping of str to array of shape (k,)
    samples : int array of shape (k,)
    length2 : float
        No sample has a larger squared length.
    lam : float
    intercept : "free", "none" or "feature"
    room : array of shape (k, 2), optional
        The costs of slacks that may be rounded to 0; none where margins are known better than that.
    """

    t: Array
    gap: Array
    norms: Array
    sums: Array
    balance: Array
    plus: Array
    minus: Array
    outside: Array
    off: Array
    distance: Array
    slack: Array
    b: Array
    rounding: Array
    residuals: Mapping[str, Array]
    samples: Index
    length2: float
    lam: float = 1.0
    intercept: str = "free"
    room: Array | None = None

    def proof(self, value: Array | None = None, ends: tuple[float, float] = (0.0, 1.0), **named: Any) -> LineProof:
        r"""The gap to a feasible dual point next to the stored one.

        For feasible multipliers it is ``gap`` and :math:`\tfrac\lambda2\|w-w_\alpha\|^2`. A move d of others into their
        box, and where the intercept is free into balance, by scaling down the larger class, adds :math:`d^\top g`, with
        :math:`g_i=y_if(x_i)-1`, and moves :math:`w_\alpha` by :math:`\tfrac1\lambda\sum_id_iy_ix_i`: by no more than
        the sum of the sizes of d, times the largest length.

        Parameters
        ----------
        value : array of shape (k, 3), optional
            Stored optimal values.
        ends : pair of float
            Where the path begins and ends, exactly.
        **named
            For `LineProof`.
        """
        residuals, moved = dict(self.residuals), self.outside
        total = bernstein.line(self.sums)
        duals = total - 0.5 * self.norms
        gaps = self.gap
        if self.intercept == "free":
            balance = np.abs(self.balance)
            residuals["balance"] = bernstein.quotient(balance, np.minimum(self.plus, self.minus))
            missing = balance + moved
            moved = moved + missing
            above = gaps + 0.5 * self.lam * bernstein.square(self.distance)
            price = np.minimum(average_slack(total, self.norms, above), self.slack)
            gaps = gaps + price[:, None] * bernstein.line(missing)
        reach = float(np.sqrt(self.length2 + (self.intercept == "feature"))) / self.lam
        gaps = gaps + 0.5 * self.lam * bernstein.square(self.distance + reach * moved)
        sizes = floored(bernstein.chord(duals))
        slips = bernstein.product(self.outside, self.off)  # from the dual value there to that of feasible ones
        slips += 0.5 * self.lam * reach**2 * bernstein.square(self.outside)
        stored = None if value is None else (value, (duals - slips, gaps + 2.0 * slips, sizes))
        if self.room is not None:
            gaps = gaps + hidden(self.room, self.b, sizes)
        bounds = gaps, sizes, self.rounding, duals - slips
        return LineProof.of(self.t, bounds, residuals, self.samples, stored, ends, **named)


def _prove(q: ProofTask, parameter: str) -> LineProof:
    S, problem = q.stored, q.problem
    costs, plus, minus = (bernstein.pairs(sums) for sums in _sums(S.t, q.y, q.caps))
    found = over_blocks(q, lambda here, K: _found(q, K, plus[here], minus[here]))
    residuals = {"stationarity in w": found.pop("stationarity in w"), "box": found.pop("box")}
    residuals |= {"balance": np.zeros(S.t.size - 1), "complementarity": found.pop("complementarity")}
    gap = found.pop("gap") + bernstein.product(costs, bernstein.late(found.pop("noise")))
    found["rounding"] = floored(slack_rounding(found["sums"] + found["room"], found["b"]))
    found |= {"length2": q.products.length2, "lam": problem.lam, "intercept": problem.intercept}
    terms = HingeTerms(bernstein.pairs(S.t), gap, plus=plus, minus=minus, residuals=residuals, **found)
    sizes = terms.sums + 2.0 * terms.outside  # of their sizes: some are below 0
    kernel = kernel_rounding(problem.kernel_rounding, problem.lam, S, q.caps, sizes)
    named = {"parameter": parameter, "note": problem.note, "kernel_rounding": kernel}
    return terms.proof(S.value, (float(S.t[0]), float(S.t[-1])), **named)


def _found(q: ProofTask, K: BlockTerms, plus: Array, minus: Array) -> dict[str, Any]:
    """What of a block goes into the proof; ``plus`` and ``minus`` (k, 2) are sums of the caps of either class."""
    E, k, lam, slopes, ends = K.entries, K.noise.size, q.products.lam, K.slopes, (K.first, K.last)
    unit = E.caps
    if q.problem.intercept == "free":
        # A multiplier reaches no further than the other class can balance.
        others = np.concatenate([plus, minus]).T
        unit = np.minimum(unit, others.take(E.row + k * (q.y > 0).take(E.sample), axis=1))
    else:
        # A stored intercept is judged against the one that the multipliers imply; without a feature 1 it is 0.
        constant = K.balance / lam if q.problem.intercept == "feature" else np.zeros_like(K.b)
        slopes = slopes.with_constant(constant, K.b, 1.0 + K.sums / lam, lam, ends)
    found = of_margins(E, unit, K.outside)
    found["complementarity"] += K.noise
    return found | {
        "stationarity in w": K.both(slopes.apart).max(axis=1) + (0.0 if q.stored.w is None else K.jump),
        "box": K.box(unit),
        "noise": K.noise,
        "distance": K.both(slopes.distance),
        "norms": slopes.norms(ends),
        "sums": K.both(K.sums),
        "balance": K.both(K.balance),
        "b": K.both(K.b),
        "slack": np.full(k, max(K.slack, -float(E.margin.min(initial=0.0)))),
        "room": E.add(*(E.room * (np.maximum(*E.margin) <= SLACK_ROUNDING))),  # of all that are not beyond their margin
    }


def of_margins(E: Entries, unit: Array, outside: Array) -> dict[str, Any]:
    """What margins say of k segments, as `HingeTerms` has it.

    ``unit`` (2, e) is what multipliers can reach, and ``outside`` (k, 2) by how much they leave their box; margins are
    measured against 1 + the size of the score.
    """
    size = np.abs(E.margin + 1.0)
    size += 1.0
    most, samples = complementarity(E, E.margin / size, unit)
    off = E.at_ends(np.abs(E.margin)) if outside.any() else np.zeros_like(outside)
    return {"complementarity": most, "samples": samples, "gap": gap_of(E), "outside": outside, "off": off}


def average_slack(sums: Array, norms: Array, gaps: Array) -> Array:
    """What a unit of multipliers costs, at most, where the class with the larger sum is scaled down to balance; (k,).

    That is what its slacks are on average; all slacks times caps add up to ``sum alpha - |w|^2 + gap``.
    """
    return np.asarray(2.0 * ((sums - norms + gaps) / np.maximum(sums, _TINY)).max(axis=1))


def floored(sizes: Array) -> Array:
    """Coefficients none of which is nothing beside the others: costs vanish, but t is a double."""
    return np.asarray(np.maximum(sizes, _EPS * sizes.max(axis=1, keepdims=True)))


def hidden(room: Array, b: Array, sizes: Array) -> Array:
    """What slacks that round to 0 add to the bound: such a slack shows in no gap.

    It counts where all that rounding may hide is as large as the value, all along: then nothing is decided.
    """
    most = slack_rounding(room, b)
    return np.asarray(most * (most.min(axis=1) > UNDECIDED * sizes.max(axis=1))[:, None])


def slack_rounding(costs: Array, b: Array) -> Array:
    """Nowhere above what rounding of slacks makes of the gap: costs (m, 2) of all that are not beyond their margin."""
    size = 1.0 + np.abs(b).min(axis=1) * (b[:, 0] * b[:, 1] > 0.0)
    return np.asarray(SLACK_ROUNDING * bernstein.line(costs) * size[:, None])


def _sums(t: Array, y: Array, caps: Array) -> list[Array]:
    """Sums of all caps, of those of the positive and of the negative samples at t, shape (m + 1,) each."""
    return [(1.0 - t) * (caps[0] @ side) + t * (caps[1] @ side) for side in (np.ones(y.size), y > 0, y < 0)]
