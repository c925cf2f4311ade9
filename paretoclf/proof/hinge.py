"""The proof of lines of the 2C-SVM and of the quantile SVM: hinge losses, with an intercept or without."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import SLACK_ROUNDING, UNDECIDED
from paretoclf.proof import bernstein
from paretoclf.proof.block import BlockTerms, ProofTask, over_blocks, proved
from paretoclf.proof.entries import complementarity, gap_of
from paretoclf.proof.line import LineProof
from paretoclf.proof.soft_margin import SoftMargin
from paretoclf.proof.stored import Stored, kernel_rounding
from paretoclf.proof.values import value_residual

_TINY, _EPS = float(np.finfo(float).tiny), float(np.finfo(float).eps)


def prove_hinge(problem: SoftMargin, stored: Stored, parameter: str) -> LineProof:
    """Prove a line of the 2C-SVM or of the quantile SVM."""
    return proved(problem, stored, lambda q: _prove(q, parameter))


def _prove(q: ProofTask, parameter: str) -> LineProof:
    S, lam = q.stored, q.products.lam
    costs, plus, minus = (bernstein.pairs(sums) for sums in _sums(S.t, q.y, q.caps))
    found = over_blocks(q, lambda here, K: _found(q, K, plus[here], minus[here]))
    names = ("stationarity in w", "box", "balance", "complementarity")
    residuals = {name: found.get(name, np.zeros(S.t.size - 1)) for name in names}
    norms, sums = found["norms"], bernstein.line(found["sums"])
    duals = sums - 0.5 * norms
    gaps = found["gap"] + bernstein.product(costs, bernstein.late(found["noise"]))
    gaps += 0.5 * lam * bernstein.square(found["distance"])
    moved = found["outside"]  # how far from the stored multipliers feasible ones are, in sum
    if q.problem.intercept == "free":
        balance = np.abs(found["balances"])
        residuals["balance"] = bernstein.quotient(balance, np.minimum(plus, minus))
        missing = balance + moved
        moved = moved + missing
        gaps += np.minimum(average_slack(sums, norms, gaps), found["slack"])[:, None] * bernstein.line(missing)
    gaps += 0.5 * (q.products.length2 / lam) * bernstein.square(moved)
    rounding = floored(slack_rounding(found["sums"] + found["room"], found["b"]))
    sizes = floored(bernstein.chord(duals))
    slips = bernstein.product(found["outside"], found["off"])  # from the dual value there to that of feasible ones
    slips += 0.5 * (q.products.length2 / lam) * bernstein.square(found["outside"])
    duals = duals - slips
    allowed = duals, gaps + 2.0 * slips, sizes
    residuals["value"] = value_residual(bernstein.pairs(S.t), S.value, *allowed, (S.t[0], S.t[-1]))
    gaps += hidden(found["room"], found["b"], sizes)
    bounds = gaps, sizes, rounding, duals, residuals, found["samples"]
    sizes = found["sums"] + 2.0 * found["outside"]  # of their sizes: some are below 0
    kernel = kernel_rounding(q.problem.kernel_rounding, lam, S, q.caps, sizes)
    return LineProof(S.t, *bounds, parameter, q.problem.note, kernel, allowed=allowed)


def _found(q: ProofTask, K: BlockTerms, plus: Array, minus: Array) -> dict[str, Any]:
    """What of a block goes into the proof; ``plus`` and ``minus`` (k, 2) are sums of the caps of either class."""
    E, k, lam, slopes = K.entries, K.noise.size, q.products.lam, K.slopes
    norm2, cross, apart, distance = slopes.norm2, slopes.cross, slopes.apart, slopes.distance
    if q.problem.intercept != "free":
        constant = K.balance / lam if q.problem.intercept == "feature" else np.zeros_like(K.b)
        norm2, cross = norm2 + lam * constant**2, cross + lam * constant[K.first] * constant[K.last]
        # A stored intercept is judged against the one that the multipliers imply; without a feature 1 it is 0.
        off = np.abs(K.b - constant)
        apart, distance = np.maximum(apart, off / (1.0 + K.sums / lam)), np.hypot(distance, off)
    unit = E.caps
    if q.problem.intercept == "free":
        # A multiplier reaches no further than the other class can balance.
        others = np.concatenate([plus, minus]).T
        unit = np.minimum(unit, others.take(E.row + k * (q.y > 0).take(E.sample), axis=1))
    size = np.abs(E.margin + 1.0)
    size += 1.0
    most, samples = complementarity(E, E.margin / size, unit)
    return {
        "stationarity in w": K.both(apart).max(axis=1) + (0.0 if q.stored.w is None else K.jump),
        "box": K.box(unit),
        "complementarity": most + K.noise,
        "samples": samples,
        "gap": gap_of(E),
        "noise": K.noise,
        "distance": K.both(distance),
        "outside": K.outside,
        "off": E.at_ends(np.abs(E.margin)) if K.outside.any() else np.zeros((k, 2)),
        "norms": bernstein.columns(norm2[K.first], cross, norm2[K.last]),
        "sums": K.both(K.sums),
        "balances": K.both(K.balance),
        "b": K.both(K.b),
        "slack": np.full(k, max(K.slack, -float(E.margin.min(initial=0.0)))),
        "room": E.add(*(E.room * (np.maximum(*E.margin) <= SLACK_ROUNDING))),  # of all that are not beyond their margin
    }


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
