r"""The proof of lines of the 2nu-SVM: two reduced hulls, and a margin that moves.

They are the case of `paretoclf.proof.segments.theorem` in which a row a sample is soft, and x is :math:`(w,b,\rho)`. A
move d of multipliers into their box, and of each class to its sum, is counted from the slope that they imply: it adds
:math:`\rho` and b times what the sums miss, margins times what leaves the box, and
:math:`w_\alpha\cdot e+\tfrac12\|e\|^2` for the way e that the slope moves.

Gaps are measured against :math:`\nu\rho`, the largest term of the objective, which vanishes where the hulls meet. The
value :math:`-\tfrac12\|w\|^2` vanishes there as its square. Rounding of scores of a kernel does not: next to the
meeting a gap of no more than :math:`10^{-14}\nu^2\max_iK_{ii}` is called none, whatever the value is. Those of a
slope that is stored vanish with it.
`paretoclf.proof.segments.line_proof.LineProof.rounded` says on which stretch that may be more than the tolerance; in
fractions the two objectives of what is stored differ by no more than the bound on the gap and that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.tolerances import LOOSE, SCORE_DIGITS, SCORE_ROUNDING, UNDECIDED
from paretoclf.problem.pieces import Pieces
from paretoclf.proof.points.hulls import moved_by_rounding
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.segments import bernstein
from paretoclf.proof.segments.block import BlockTerms, ProofTask, blocks, joined
from paretoclf.proof.segments.line_proof import LineProof
from paretoclf.proof.segments.score_products import FeatureProducts
from paretoclf.proof.segments.stored_segments import kernel_rounding
from paretoclf.proof.segments.theorem import complementarity, gap_of

_TINY = float(np.finfo(float).tiny)


def prove_hulls(problem: SoftMargin, stored: Pieces, parameter: str) -> LineProof:
    """Prove a line of the 2nu-SVM."""
    task = ProofTask.of(problem, stored)
    with np.errstate(invalid="ignore", over="ignore"):  # what is not a number is not proved
        proof = _line_proof(task, parameter)
        # Ends that are judged as one point widen the bounds: only a line that fails is worth all of its ends.
        return proof if proof.holds() else _line_proof(task.with_each_end(), parameter)


@dataclass(frozen=True)
class _OfLine:
    """Numbers at both ends of segments, (k, 2): sums of all caps, nu, and the terms of scores (`_score_terms`)."""

    costs: Array
    nu: Array
    terms: Array

    @classmethod
    def of(cls, task: ProofTask) -> _OfLine:
        """Compute them for all segments of a line."""
        t = task.stored.t
        ends = task.caps.sum(axis=1), task.problem.nu
        costs, nu = (bernstein.pairs((1.0 - t) * start + t * stop) for start, stop in ends)
        return cls(costs, nu, _score_terms(task, nu))

    def part(self, segments: slice) -> _OfLine:
        """Take the numbers of some segments."""
        return _OfLine(self.costs[segments], self.nu[segments], self.terms[segments])


def _line_proof(task: ProofTask, parameter: str) -> LineProof:
    """Prove a line block by block, with ends of segments judged as one point where the task allows it."""
    stored, problem = task.stored, task.problem
    line = _OfLine.of(task)
    parts = [_block_part(task, block, line.part(segments)) for segments, block in blocks(task)]
    found = joined(parts)
    residuals = {name: found[name] for name in ("stationarity in w", "box", "balance", "rho", "complementarity")}
    norms, gaps = found["norms"], found["gaps"]
    given = bernstein.columns(stored.rho0, stored.rho1)
    rho = np.maximum(given, 0.0)
    below = (rho - given).max(axis=1)  # by rounding, at most, of what rho grows to
    residuals["rho"] = residuals["rho"] + below / np.maximum(rho.max(axis=1), _TINY)
    sizes = bernstein.product(line.nu, rho)
    rounding = SCORE_ROUNDING * bernstein.product(line.nu, line.terms)
    # Where rho vanishes the value is rounding, and a gap of no more than that is none.
    vanishing = sizes.min(axis=1, keepdims=True) <= 0.0
    sizes = np.where(vanishing, 0.5 * sizes + rounding / UNDECIDED, sizes)
    # Where the gap is small, or rho vanishes at an end, what rounding of scores does to margins is no error.
    small = (gaps <= LOOSE * sizes).all(axis=1) | (rho.min(axis=1) == 0.0)
    residuals["complementarity"] = np.where(small, found["up to rounding"], found["complementarity"])
    # Where rho vanishes, norms are those of small differences.
    lost = np.where(rho.min(axis=1, keepdims=True) > 0.0, 0.0, rounding)
    duals = -0.5 * norms
    allowed = duals - lost, gaps + rounding + lost, 0.5 * np.maximum(norms, 0)
    kernel = kernel_rounding(problem.kernel_rounding, task.products.lam, stored, task.caps, found["multiplier sizes"])
    named = {"parameter": parameter, "note": problem.note, "kernel_rounding": kernel}
    t = bernstein.pairs(stored.t)
    ends = float(stored.t[0]), float(stored.t[-1])
    bounds = gaps, sizes, rounding, duals
    return LineProof.of(t, bounds, residuals, found["samples"], (stored.value, allowed), ends, **named)


def _score_terms(task: ProofTask, nu: Array) -> Array:
    """Size of the terms that scores are sums of, at both ends (k, 2): rounding of scores is a share of it.

    Scores that multipliers imply are sums of nu times the largest kernel value. Those of slopes that are stored are
    sums of the terms of these, however much cancels in a slope; it belongs to a breakpoint before that was rounded, and
    is known up to rounding of the multipliers.
    """
    stored = task.stored
    terms = task.products.largest2 * nu
    if stored.w is None:
        return terms
    assert isinstance(task.products, FeatureProducts)
    size = task.products.size
    moved = moved_by_rounding(stored.t, np.abs(np.diff(stored.w, axis=0)) @ size)
    of_slopes = np.abs(stored.w) @ size + moved / SCORE_ROUNDING
    own = bernstein.pairs(of_slopes) + SCORE_ROUNDING * terms
    return np.where((own < terms).all(axis=1, keepdims=True), own, terms)


def _block_part(task: ProofTask, block: BlockTerms, line: _OfLine) -> dict[str, Any]:
    """Compute residuals, gaps and norms of one block; ``line`` has the numbers of its segments."""
    entries, slopes = block.entries, block.slopes
    balance = np.abs(block.both(block.balance))
    missing = np.abs(block.both(block.sums) - line.nu)
    unit = np.minimum(entries.caps, 0.5 * line.nu[entries.row].T)
    most, samples = _complementarity(block, block.margin_size, unit)
    least = _least(line.nu, line.terms)
    up_to_rounding = most
    if (block.margin_size < least).any():
        up_to_rounding, _ = _complementarity(block, _larger(block.margin_size, least), unit)
    stationarity = block.both(slopes.stationarity).max(axis=1)
    return {
        "stationarity in w": stationarity + (0.0 if task.stored.w is None else block.jump),
        "balance": bernstein.quotient(balance, line.nu),
        "rho": bernstein.quotient(missing, line.nu),
        "box": block.box(unit),
        "complementarity": most,
        "up to rounding": up_to_rounding,
        "samples": samples,
        "multiplier sizes": block.both(block.sums) + 2.0 * block.outside,  # some multipliers are below 0
        "gaps": _gaps(task, block, line.costs, balance, missing),
        "norms": slopes.norms((block.first, block.last)),
    }


def _complementarity(block: BlockTerms, size: Array, unit: Array) -> tuple[Array, Index]:
    """Largest residual on each segment, with margins relative to ``size`` (k, 2), and the sample it belongs to."""
    entries = block.entries
    size = np.maximum(size, _TINY)
    most, samples = complementarity(entries, entries.margin / size.T[:, entries.row], unit)
    return most + block.noise / size[:, 1], samples


def _gaps(task: ProofTask, block: BlockTerms, costs: Array, balance: Array, missing: Array) -> Array:
    """Bernstein coefficients (k, 3) of the gap to feasible multipliers next to the stored ones.

    ``balance`` and ``missing`` (k, 2) are what the sums of multipliers, signed and all, are away from 0 and from nu.
    """
    slopes = block.slopes
    # Multipliers that are feasible, next to those stored, move w by no more than this.
    longest = float(task.products.lengths.max(initial=0.0))
    moved = longest * (balance + missing + 2.0 * block.outside)
    norm = np.sqrt(np.maximum(block.both(slopes.norm2), 0.0))
    gaps = gap_of(block.entries)
    gaps = gaps + bernstein.product(block.both(block.target), missing)
    gaps = gaps + bernstein.product(np.abs(block.both(block.b)), balance)
    gaps = gaps + bernstein.product(norm, moved)
    gaps = gaps + 0.5 * bernstein.product(moved, moved)
    gaps = gaps + bernstein.product(costs, bernstein.late(block.noise))
    largest_margin = block.entries.at_ends(np.abs(block.entries.margin))
    gaps = gaps + bernstein.product(block.outside, largest_margin)
    distance2 = bernstein.square(block.both(slopes.distance))
    return np.asarray(gaps + 0.5 * task.products.lam * distance2)


def _least(nu: Array, terms: Array) -> Array:
    """Least size of margins at both ends, (k, 2): the share of the terms of scores of which rounding leaves digits.

    Next to where the hulls meet, scores are small differences of terms that are not.
    """
    return np.asarray(SCORE_DIGITS * np.where(nu > 0.0, terms, terms.max(axis=1, keepdims=True)))


def _larger(first: Array, second: Array) -> Array:
    """Affine functions, (k, 2), nowhere above the larger of two."""
    first_is_larger, second_is_larger = (
        (one >= other).all(axis=1, keepdims=True) for one, other in ((first, second), (second, first))
    )
    return np.where(first_is_larger, first, np.where(second_is_larger, second, 0.5 * (first + second)))
