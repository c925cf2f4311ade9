"""The proof of lines of the 2C-SVM and of the quantile SVM: hinge losses, with an intercept or without.

They are the case of `paretoclf.proof.segments.theorem` in which a row a sample is soft, and x is (w, b).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.tolerances import SLACK_ROUNDING, UNDECIDED
from paretoclf.problem.pieces import Pieces
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.segments import bernstein
from paretoclf.proof.segments.block import BlockTerms, ProofTask, blocks, joined
from paretoclf.proof.segments.line_proof import LineProof
from paretoclf.proof.segments.stored_segments import kernel_rounding
from paretoclf.proof.segments.theorem import Entries, complementarity, gap_of

_TINY = float(np.finfo(float).tiny)
_EPS = float(np.finfo(float).eps)


def prove_hinge(problem: SoftMargin, stored: Pieces, parameter: str) -> LineProof:
    """Prove a line of the 2C-SVM or of the quantile SVM."""
    task = ProofTask.of(problem, stored)
    with np.errstate(invalid="ignore", over="ignore"):  # what is not a number is not proved
        proof = _line_proof(task, parameter)
        # Ends that are judged as one point widen the bounds: only a line that fails is worth all of its ends.
        return proof if proof.holds() else _line_proof(task.with_each_end(), parameter)


@dataclass(frozen=True)
class HingeTerms:
    """Terms of the proof of k segments with hinge losses: at both ends (k, 2), or Bernstein coefficients (k, 3).

    Attributes
    ----------
    t : array of shape (k, 2)
    gap : array of shape (k, 3)
        The sums of the theorem: of multipliers times distances within the margin, and of cap slacks times slacks.
    norms : array of shape (k, 3)
        ``lam |w|^2`` of the slope that the multipliers imply.
    sums, balance, plus, minus : arrays of shape (k, 2)
        Sums of multipliers, of these times labels, and of the caps of either class.
    outside : array of shape (k, 2)
        Sums of how far multipliers are outside their box.
    outside_margin : array of shape (k, 2)
        Largest size of a margin, where multipliers are outside their box; 0 elsewhere.
    distance : array of shape (k, 2)
        From the slope that is judged to the implied one.
    slack : array of shape (k,)
        Upper bound on all slacks.
    b : array of shape (k, 2)
    rounding : array of shape (k, 3)
        Bound on what rounding of margins adds to the gap.
    residuals : mapping of str to array of shape (k,)
    samples : int array of shape (k,)
    length2 : float
        Upper bound on the squared lengths of all samples.
    lam : float
    intercept : "free", "none" or "feature"
    hidden_costs : array of shape (k, 2), optional
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
    outside_margin: Array
    distance: Array
    slack: Array
    b: Array
    rounding: Array
    residuals: Mapping[str, Array]
    samples: Index
    length2: float
    lam: float = 1.0
    intercept: str = "free"
    hidden_costs: Array | None = None

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
        length = float(np.sqrt(self.length2 + (self.intercept == "feature"))) / self.lam
        distance = self.distance + length * moved
        gaps = gaps + 0.5 * self.lam * bernstein.square(distance)
        sizes = floored(bernstein.chord(duals))
        # From the dual value of the stored multipliers to that of feasible ones.
        lost = bernstein.product(self.outside, self.outside_margin)
        lost += 0.5 * self.lam * length**2 * bernstein.square(self.outside)
        stored = None if value is None else (value, (duals - lost, gaps + 2.0 * lost, sizes))
        if self.hidden_costs is not None:
            gaps = gaps + hidden(self.hidden_costs, self.b, sizes)
        bounds = gaps, sizes, self.rounding, duals - lost
        return LineProof.of(self.t, bounds, residuals, self.samples, stored, ends, **named)


def _line_proof(task: ProofTask, parameter: str) -> LineProof:
    """Prove a line block by block, with ends of segments judged as one point where the task allows it."""
    stored, problem = task.stored, task.problem
    cap_sums = _cap_sums(stored.t, task.y, task.caps)
    costs, plus, minus = (bernstein.pairs(sums) for sums in cap_sums)
    parts = []
    for segments, block in blocks(task):
        parts.append(_block_part(task, block, plus[segments], minus[segments]))
    found = joined(parts)
    residuals = {"stationarity in w": found.pop("stationarity in w"), "box": found.pop("box")}
    residuals["balance"] = np.zeros(stored.t.size - 1)
    residuals["complementarity"] = found.pop("complementarity")
    noise = bernstein.late(found.pop("noise"))
    gap = found.pop("gap") + bernstein.product(costs, noise)
    rounding = floored(slack_rounding(found["sums"] + found["hidden_costs"], found["b"]))
    terms = HingeTerms(
        bernstein.pairs(stored.t),
        gap,
        plus=plus,
        minus=minus,
        residuals=residuals,
        rounding=rounding,
        length2=task.products.length2,
        lam=problem.lam,
        intercept=problem.intercept,
        **found,
    )
    sizes = terms.sums + 2.0 * terms.outside  # of the absolute values: some multipliers are below 0
    kernel = kernel_rounding(problem.kernel_rounding, problem.lam, stored, task.caps, sizes)
    ends = float(stored.t[0]), float(stored.t[-1])
    return terms.proof(stored.value, ends, parameter=parameter, note=problem.note, kernel_rounding=kernel)


def _block_part(task: ProofTask, block: BlockTerms, plus: Array, minus: Array) -> dict[str, Any]:
    """Terms of `HingeTerms` and residuals on one block; ``plus`` and ``minus`` (k, 2) are cap sums of either class."""
    entries, slopes, lam = block.entries, block.slopes, task.products.lam
    count = block.noise.size
    unit = entries.caps
    if task.problem.intercept == "free":
        # A multiplier reaches no further than the other class can balance.
        of_other_class = np.concatenate([plus, minus]).T
        place = entries.row + count * (task.y > 0).take(entries.sample)
        unit = np.minimum(unit, of_other_class.take(place, axis=1))
    else:
        # A stored intercept is judged against the one that the multipliers imply; without a feature 1 it is 0.
        constant = block.balance / lam if task.problem.intercept == "feature" else np.zeros_like(block.b)
        size = 1.0 + block.sums / lam
        slopes = slopes.with_constant(constant, block.b, size, lam, (block.first, block.last))
    found = of_margins(entries, unit, block.outside)
    found["complementarity"] += block.noise
    found["stationarity in w"] = block.both(slopes.stationarity).max(axis=1)
    found["stationarity in w"] += 0.0 if task.stored.w is None else block.jump
    found["box"] = block.box(unit)
    found["noise"] = block.noise
    found["distance"] = block.both(slopes.distance)
    found["norms"] = slopes.norms((block.first, block.last))
    for name in ("sums", "balance", "b"):
        found[name] = block.both(getattr(block, name))
    largest_listed = -float(entries.margin.min(initial=0.0))
    found["slack"] = np.full(count, max(block.slack, largest_listed))
    may_be_rounded = np.maximum(*entries.margin) <= SLACK_ROUNDING  # all that are not clear of their margin
    found["hidden_costs"] = entries.add(*(entries.cap_slack * may_be_rounded))
    return found


def of_margins(entries: Entries, unit: Array, outside: Array) -> dict[str, Any]:
    """Compute complementarity, gap, and the margins of multipliers outside their box, as `HingeTerms` has them.

    ``unit`` (2, e) is the most that multipliers can be, and ``outside`` (k, 2) by how much they leave their box;
    margins are measured against 1 + the size of the score.
    """
    size = np.abs(entries.margin + 1.0)
    size += 1.0
    most, samples = complementarity(entries, entries.margin / size, unit)
    outside_margin = np.zeros_like(outside)
    if outside.any():
        outside_margin = entries.at_ends(np.abs(entries.margin))
    found = {"complementarity": most, "samples": samples, "gap": gap_of(entries)}
    return found | {"outside": outside, "outside_margin": outside_margin}


def average_slack(sums: Array, norms: Array, gaps: Array) -> Array:
    """Upper bound (k,) on the cost of a unit of multipliers, where the class with the larger sum is scaled to balance.

    It is the average slack of that class; all slacks times caps add up to ``sum alpha - |w|^2 + gap``.
    """
    costs = (sums - norms + gaps) / np.maximum(sums, _TINY)
    return np.asarray(2.0 * costs.max(axis=1))


def floored(sizes: Array) -> Array:
    """Raise coefficients to a rounding unit of the largest of their segment: costs vanish, but t is a double."""
    return np.asarray(np.maximum(sizes, _EPS * sizes.max(axis=1, keepdims=True)))


def hidden(hidden_costs: Array, b: Array, sizes: Array) -> Array:
    """Bound on the cost of slacks lost to rounding, which the computed gap cannot show.

    It counts where it is as large as the value all along a segment: then nothing is decided there.
    """
    most = slack_rounding(hidden_costs, b)
    counts = most.min(axis=1) > UNDECIDED * sizes.max(axis=1)
    return np.asarray(most * counts[:, None])


def slack_rounding(costs: Array, b: Array) -> Array:
    """Lower bound on what rounding of slacks can add to the gap.

    ``costs`` (m, 2) are those of all samples that are not clear of their margin.
    """
    same_sign = b[:, 0] * b[:, 1] > 0.0
    size = 1.0 + np.abs(b).min(axis=1) * same_sign
    return np.asarray(SLACK_ROUNDING * bernstein.line(costs) * size[:, None])


def _cap_sums(t: Array, y: Array, caps: Array) -> list[Array]:
    """Sums of all caps, of those of the positive and of the negative samples at t, shape (m + 1,) each."""
    start, stop = caps
    classes = np.ones(y.size), y > 0, y < 0
    return [(1.0 - t) * (start @ members) + t * (stop @ members) for members in classes]
