r"""The proof of lines of the 2nu-SVM: two reduced hulls, and a margin that moves.

They are the case of `paretoclf.proof.theorem` in which a row a sample is soft, and x is :math:`(w,b,\rho)`. A move d of
multipliers into their box, and of each class to its sum, is counted from the slope that they imply: it adds
:math:`\rho` and b times what the sums miss, margins times what leaves the box, and
:math:`w_\alpha\cdot e+\tfrac12\|e\|^2` for the way e that the slope moves.

Gaps are measured against :math:`\nu\rho`, the largest term of the objective, which vanishes where the hulls meet. The
value :math:`-\tfrac12\|w\|^2` vanishes there as its square. Rounding of scores of a kernel does not: next to the
meeting a gap of no more than :math:`10^{-14}\nu^2\max_iK_{ii}` is called none, whatever the value is. Those of a
slope that is stored vanish with it.
`paretoclf.proof.line.LineProof.rounded` says on which stretch that may be more than the tolerance; in fractions the two
objectives of what is stored differ by no more than the bound on the gap and that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.tolerances import LOOSE, SCORE_DIGITS, SCORE_ROUNDING, UNDECIDED
from paretoclf.proof import bernstein
from paretoclf.proof.block import BlockTerms, ProofTask, over_blocks, proved
from paretoclf.proof.line import LineProof
from paretoclf.proof.points.hulls import moved_by_rounding
from paretoclf.proof.products import FeatureProducts
from paretoclf.proof.soft_margin import SoftMargin
from paretoclf.proof.stored import Stored, kernel_rounding
from paretoclf.proof.theorem import complementarity, gap_of

_TINY = float(np.finfo(float).tiny)


def prove_hulls(problem: SoftMargin, stored: Stored, parameter: str) -> LineProof:
    """Prove a line of the 2nu-SVM."""
    return proved(problem, stored, lambda q: _prove(q, parameter))


def _prove(q: ProofTask, parameter: str) -> LineProof:
    S = q.stored
    costs, nu = (bernstein.pairs((1.0 - S.t) * x[0] + S.t * x[1]) for x in (q.caps.sum(axis=1), q.problem.nu))
    terms = _terms(q, nu)
    found = over_blocks(q, lambda here, K: _found(q, K, costs[here], nu[here], terms[here]))
    residuals = {name: found[name] for name in ("stationarity in w", "box", "balance", "rho", "complementarity")}
    norms, gaps = found["norms"], found["gaps"]
    stored = bernstein.columns(S.rho0, S.rho1)
    rho = np.maximum(stored, 0.0)
    below = (rho - stored).max(axis=1)  # by rounding, at most, of what rho grows to
    residuals["rho"] = residuals["rho"] + below / np.maximum(rho.max(axis=1), _TINY)
    sizes, rounding = bernstein.product(nu, rho), SCORE_ROUNDING * bernstein.product(nu, terms)
    # Where rho vanishes the value is rounding, and a gap of no more than that is none.
    vanishing = sizes.min(axis=1, keepdims=True) <= 0.0
    sizes = np.where(vanishing, 0.5 * sizes + rounding / UNDECIDED, sizes)
    # Where the gap is small, or rho vanishes at an end, what rounding of scores does to margins is no error.
    small = (gaps <= LOOSE * sizes).all(axis=1) | (rho.min(axis=1) == 0.0)
    residuals["complementarity"] = np.where(small, found["up to rounding"], found["complementarity"])
    duals, lost = -0.5 * norms, np.where(rho.min(axis=1, keepdims=True) > 0.0, 0.0, rounding)  # of small differences
    allowed = duals - lost, gaps + rounding + lost, 0.5 * np.maximum(norms, 0)
    kernel = kernel_rounding(q.problem.kernel_rounding, q.products.lam, S, q.caps, found["in all"])
    named = {"parameter": parameter, "note": q.problem.note, "kernel_rounding": kernel}
    t, bounds, ends = bernstein.pairs(S.t), (gaps, sizes, rounding, duals), (float(S.t[0]), float(S.t[-1]))
    return LineProof.of(t, bounds, residuals, found["samples"], (S.value, allowed), ends, **named)


def _terms(q: ProofTask, nu: Array) -> Array:
    """So large are the terms that rounding of scores is a share of, at both ends (k, 2).

    Scores that multipliers imply are sums of nu times the largest kernel value. Those of slopes that are stored are
    sums of the terms of these, however much cancels in a slope; it belongs to a breakpoint before that was rounded, and
    is known up to rounding of the multipliers.
    """
    S, terms = q.stored, q.products.largest2 * nu
    if S.w is None:
        return terms
    assert isinstance(q.products, FeatureProducts)
    size = q.products.size
    moved = moved_by_rounding(S.t, np.abs(np.diff(S.w, axis=0)) @ size)
    own = bernstein.pairs(np.abs(S.w) @ size + moved / SCORE_ROUNDING) + SCORE_ROUNDING * terms
    return np.where((own < terms).all(axis=1, keepdims=True), own, terms)


def _found(q: ProofTask, K: BlockTerms, costs: Array, nu: Array, terms: Array) -> dict[str, Any]:
    """What of a block goes into the proof.

    ``costs`` and ``nu`` (k, 2) are sums of all caps, and of the multipliers; ``terms`` are `_terms`.
    """
    E, slopes, lam, reach = K.entries, K.slopes, q.products.lam, float(q.products.reach.max(initial=0.0))
    balance, missing = np.abs(K.both(K.balance)), np.abs(K.both(K.sums) - nu)
    unit, least = np.minimum(E.caps, 0.5 * nu[E.row].T), _least(nu, terms)

    def residual(size: Array) -> tuple[Array, Index]:
        size = np.maximum(size, _TINY)
        most, samples = complementarity(E, E.margin / size.T[:, E.row], unit)
        return most + K.noise / size[:, 1], samples

    most, samples = residual(K.size)
    rounded = residual(_larger(K.size, least))[0] if (K.size < least).any() else most
    # Multipliers that are feasible, next to those stored, move w by no more than this.
    moved = reach * (balance + missing + 2.0 * K.outside)
    gaps = (
        gap_of(E)
        + bernstein.product(K.both(K.target), missing)
        + bernstein.product(np.abs(K.both(K.b)), balance)
        + bernstein.product(np.sqrt(np.maximum(K.both(slopes.norm2), 0.0)), moved)
        + 0.5 * bernstein.product(moved, moved)
        + bernstein.product(costs, bernstein.late(K.noise))
        + bernstein.product(K.outside, E.at_ends(np.abs(E.margin)))
        + 0.5 * lam * bernstein.square(K.both(slopes.distance))
    )
    return {
        "stationarity in w": K.both(slopes.apart).max(axis=1) + (0.0 if q.stored.w is None else K.jump),
        "balance": bernstein.quotient(balance, nu),
        "rho": bernstein.quotient(missing, nu),
        "box": K.box(unit),
        "complementarity": most,
        "up to rounding": rounded,
        "samples": samples,
        "in all": K.both(K.sums) + 2.0 * K.outside,  # of the sizes of multipliers: some are below 0
        "gaps": gaps,
        "norms": slopes.norms((K.first, K.last)),
    }


def _least(nu: Array, terms: Array) -> Array:
    """So much of the terms that scores are sums of, affine on each segment, that rounding leaves digits of it, (k, 2).

    Next to where the hulls meet, scores are small differences of terms that are not.
    """
    return np.asarray(SCORE_DIGITS * np.where(nu > 0.0, terms, terms.max(axis=1, keepdims=True)))


def _larger(a: Array, b: Array) -> Array:
    """Affine functions, (k, 2), nowhere above the larger of two."""
    mine, other = ((x >= y).all(axis=1, keepdims=True) for x, y in ((a, b), (b, a)))
    return np.where(mine, a, np.where(other, b, 0.5 * (a + b)))
