r"""Paths of the quantile SVM: a parametric box QP in tau, and how to start on it without a solver.

Divided by lam, with multipliers :math:`a=\alpha/\lambda`, the dual is :math:`\min\frac12a^\top Qa-1^\top a` within
:math:`0\le a\le c/\lambda`, without any equation. Near cost zero every multiplier is at its cap, whatever the ratio of
the two costs. So the solution is followed from nothing up to the wanted lam at tau = 1/2 (or at the end of the interval
that is nearest), and from there along tau to both ends of the interval. At tau = 0 and tau = 1 the caps of one class
vanish; there the path is followed in stages, like a line of costs that ends on an axis.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import fsum
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import HomogeneousWarning, InputError, Stop
from paretoclf.common.progress import NO_LIMITS, PathLimits, meter
from paretoclf.common.tolerances import FAST_ERROR
from paretoclf.engine.box import AnyBox
from paretoclf.engine.boxes import make_tracker
from paretoclf.engine.engines import first_found, turns
from paretoclf.engine.segments import Log
from paretoclf.engine.sets import LEFT
from paretoclf.path.svm.slope_or_kernel import linear_or_kernel
from paretoclf.path.svm_lines.double_double import Precise, PreciseSolver
from paretoclf.path.svm_lines.refined_path import Refining
from paretoclf.path.svm_lines.stages import (
    CapsWalk,
    Found,
    Known,
    LineOfCaps,
    Stage,
    assemble,
    one_way,
    stop_of,
    straight,
)
from paretoclf.path.svm_lines.stopping import finished
from paretoclf.problem.classifiers import Rule
from paretoclf.problem.costs import Costs
from paretoclf.problem.exact_sums import inner, times
from paretoclf.problem.lines import Homogeneous, LineOfTau, sides_of
from paretoclf.problem.operator import twice
from paretoclf.problem.pieces import Pieces
from paretoclf.problem.samples import Samples, dense
from paretoclf.proof.points.hinge import certify_hinge_precisely, judge_hinge
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.verdicts.evidence import Evidence, Judged
from paretoclf.proof.verdicts.solution import Solution

if TYPE_CHECKING:
    from paretoclf.engine.tracker import CoreTracker


def trace_quantile(
    svm: Homogeneous,
    tau: Any,
    lam: Any,
    *,
    engine: str | None = None,
    certify: bool = True,
    limits: PathLimits = NO_LIMITS,
    progress: bool | None = None,
) -> QuantilePath:
    """Solve the quantile SVM at every tau of an interval, exactly.

    For the arguments see `paretoclf.path.tracing.trace`. Only samples, labels and bias of the problem are used, no
    solver.

    References
    ----------
    Yu et al., section 3 and Algorithm 1, which calls a solver for its start and assumes single events.

    Examples
    --------
    >>> from paretoclf.formulations.quantile_svm import QuantileSVM
    >>> from paretoclf.path.svm.quantile_path import trace_quantile
    >>> path = trace_quantile(QuantileSVM([[2.0], [-1.0]], [1, -1]), tau=(0, 1), lam=0.25)
    >>> path.worst_certificate.passes(1e-12), [round(float(path.slope(t)[0]), 9) for t in (0, 0.5, 1)]
    (True, [0.5, 1.0, 1.0])
    """
    line = LineOfTau.of(svm, tau, lam)
    began = time.perf_counter()

    def traced(name: str) -> QuantilePath:
        """Path by one engine, proved if that is asked for."""
        with meter(progress) as update:
            pieces, stopped = _trace(line, name, limits, update)
        seconds = time.perf_counter() - began
        path = QuantilePath(line.gram, line.y, line.lam, line.bias, pieces=pieces, seconds=seconds)
        return finished(path, certify, stopped)

    return first_found(partial(traced, name) for name in turns(engine))


def _trace(
    line: LineOfTau, engine: str | None, limits: PathLimits, progress: Callable[[float], Any] | None
) -> tuple[Pieces, Stop | None]:
    """Follow the line with the tracker, or with an engine that needs no basis, and join what was found.

    Also returns what stopped it before its end, if anything did.
    """
    max_events, deadline = limits
    n = line.y.size
    bases, problem = sides_of(line.y), line.problem
    tracker = make_tracker(engine, problem, deadline)
    if tracker is None:
        lo, hi = line.ends
        box = AnyBox(problem, engine, max_events, deadline)
        at_cap = np.full(n, LEFT, dtype=np.int8), np.zeros(0, dtype=np.int64)
        whole = straight(box, bases, line.costs(lo), line.costs(hi))
        log = box.along(whole, at_cap, progress)
        found = one_way(log, Stage(0, log.segments, lo, hi))
    else:
        found = _walked(line, tracker, bases, max_events, progress)
    stopped, Q = stop_of(found), line.gram.quadratic
    caps = 2 / (n * line.lam) * bases
    diagonal = line.gram.diagonal() + line.bias
    scaled = partial(_in_the_papers_scale, lam=line.lam, bias=line.bias)
    return assemble(found, None, bool(Q.width), Known(Q, caps, diagonal, scaled=scaled)), stopped


def _walked(
    line: LineOfTau,
    problem: CoreTracker,
    bases: Array,
    max_events: int | None,
    progress: Callable[[float], Any] | None,
) -> Found:
    """Follow the line upwards and downwards from its middle, up to which the tracker goes from nothing."""
    lo, hi = line.ends
    middle = min(max(0.5, lo), hi)
    start = line.costs(middle)
    _go_up(problem, line, bases, start, max_events)
    shown = None if progress is None else lambda length: progress(length / (hi - lo))
    walk = CapsWalk(problem, bases, max_events, shown)
    up = LineOfCaps(start, line.costs(hi), 1 - middle, 1 - hi) if middle < hi else None
    down = LineOfCaps(start, line.costs(lo), middle, lo) if lo < middle else None
    log, upwards, other, backward = walk.both_ways(up, down)
    forward: list[Stage] = [_FromOne(**vars(stage)) for stage in upwards]
    for stage in forward:
        log = _at_doubles(log, stage)
    return log, forward, other, backward


@dataclass(frozen=True)
class _FromOne(Stage):
    """Stage that was traced in 1 - tau, which has more digits than tau where the cost of the positives vanishes."""

    def t(self, u: Array) -> Array:
        return 1.0 - super().t(u)


def _at_doubles(log: Log, stage: Stage) -> Log:
    """Move the ends of a stage's segments along these, to where tau is a double.

    At a small lam the largest cost times the rounding of tau is visible in the multipliers.
    """
    u = log.t[:, stage.first : stage.last]
    tau, length = stage.t(u), u[1] - u[0]
    exact = Stage.t(stage, u) - (1.0 - tau)  # tau minus where the solution is known; no rounding, as tau >= 1/2
    long = length > 0
    in_tau = (stage.t_from - stage.t_to) * np.where(long, length, 1.0)
    shares = np.where(long, exact / in_tau, 0.0)
    return log.moved(stage.first, stage.last, shares)


def _go_up(problem: CoreTracker, line: LineOfTau, bases: Array, to: Array, max_events: int | None) -> None:
    """Bring the basis from cost zero, where every multiplier is at its cap, to the costs `to`."""
    y, gram = line.y, line.gram
    coef = y * (to @ bases)
    push = y * (gram.matvec(coef) + (coef.sum() if line.bias else 0.0))
    all_at_cap = np.full(y.size, LEFT)
    problem.start(all_at_cap, [], straight(problem, bases, np.zeros(2), to))
    # At the origin itself everything is zero: look at the solution half way to the first event, or to the end.
    problem.holds_until = 0.5 / max(float(push.max()), 1.0)
    problem.record_from_here(keep=False)
    problem.follow(max_events)


def _has_constant(X: Samples) -> bool:
    """Whether a feature is the same number for all samples, and not 0: its weight is an intercept."""
    low, high = (dense(x).ravel() for x in (X.min(axis=0), X.max(axis=0)))
    return bool(((low == high) & (low != 0.0)).any())


def _in_the_papers_scale(pieces: Pieces, lam: float, bias: bool) -> Pieces:
    """Multiply multipliers and value by lam; make the weight of the constant feature, the last of w, the intercept."""
    w, b0, b1 = pieces.w, np.zeros_like(pieces.b0), np.zeros_like(pieces.b1)
    if bias and w is not None:
        w, b = np.ascontiguousarray(w[:, :-1]), w[:, -1].copy()
        b0, b1 = b[:-1], b[1:]
    return replace(pieces.scaled(a=lam, value=lam), w=w, b0=b0, b1=b1)


# ---- the path --------------------------------------------------------------------------------------------------------


_ENTRIES = 1 << 24  # numbers in a matrix of scores held at a time

#: Notes of `QuantilePath.at` on the classifiers at the two ends.
END_NOTES = {
    0.0: "tau = 0: the negative samples cost nothing, so only the positive ones are fitted: not a constant label",
    1.0: "tau = 1: the positive samples cost nothing, so only the negative ones are fitted: not a constant label",
}


@dataclass(frozen=True)
class ConditionalProbability:
    """Estimates of P(y = 1 | x) for m samples.

    Attributes
    ----------
    probability : array of shape (m,)
        Length of the set of tau in [0, 1] at which the sample is labelled +1.
    crossings : int array of shape (m,)
        Number of changes of its label between tau = 0 and 1. At most 1 where the label is monotone in tau; beyond that
        the set is not an interval, and its length is a convention.
    """

    probability: Array
    crossings: Index


@dataclass(frozen=True)
class QuantilePath(Refining):
    """Solution of the quantile SVM at every tau of an interval, for one lam.

    Attributes
    ----------
    gram : Gram
    y : array of shape (n,)
    lam : float
        Weight of the squared norm.
    bias : bool
        Whether there is a constant feature 1, whose weight b is part of the norm.
    pieces : Pieces
        The stored solution; its ``t`` is tau.
    seconds : float
        Time that tracing took, certificates excluded.

    Notes
    -----
    Multipliers, w and b are continuous and piecewise affine in tau, the optimal value is concave and piecewise
    quadratic. At the ends only one class has a cost. The other class is not fitted, and the path ends in the limit of
    the classifiers before it: w is unique, so that is the solution there, and in general no constant one.

    References
    ----------
    Yu et al., section 3 and Algorithm 1; section 6 overstates what the classifier is at the ends.
    """

    lam: float
    bias: bool

    equations = 0

    @property
    def parameter(self) -> str:
        """Name of t in messages: ``"tau"``."""
        return "tau"

    def __repr__(self) -> str:
        lo, hi = self.breakpoints[[0, -1]]
        return self._printed(f"tau {lo:g} to {hi:g}, lam={self.lam:g}", f"{self.kinks.size} kinks")

    @property
    def kinks(self) -> Array:
        """Points at which a set changes, increasing: all breakpoints but those where two traced stretches meet."""
        return np.asarray(self.pieces.t[np.unique(self.pieces.changes[0])])

    @property
    def _whole_line(self) -> LineOfTau:
        lo, hi = (float(tau) for tau in self.pieces.t[[0, -1]])
        return LineOfTau(self.gram, self.y, self.bias, self.lam, (lo, hi))

    def costs(self, tau: float) -> Costs:
        """Costs at which the 2C-SVM without intercept has the same solution."""
        tau, total = self._inside(tau), 2 / (self.y.size * self.lam)
        return Costs((1 - tau) * total, tau * total)

    def caps(self, tau: float) -> Array:
        """Upper bounds of the multipliers, ``2 (1 - tau) / n`` or ``2 tau / n``, shape (n,)."""
        tau = self._inside(tau)
        n = self.y.size
        return np.where(self.y > 0, 2 * (1 - tau) / n, 2 * tau / n)

    @property
    def variables(self) -> tuple[str, ...]:
        """``"w"`` where the kernel is linear, and ``"b"`` where there is a constant feature."""
        return super().variables if self.bias else super().variables[:-1]

    def _coef(self, tau: float) -> Array:
        return self.y * self.alpha(tau) / self.lam

    def _intercept(self, tau: float, j: int | None = None) -> float:
        """Weight of the constant feature at tau; 0 where there is none."""
        if not self.bias:
            return 0.0
        if self.pieces.w is None:
            return float(self._coef(tau).sum())
        return super()._intercept(tau, j)

    def _value_unit(self, t: float) -> float:
        return self.lam

    def _at(self, tau: float) -> Solution:
        evidence = Evidence(partial(self.judged, tau))
        if self._doubted(self._piece(tau)) and not evidence.certificate.holds(FAST_ERROR):
            better = self._better(tau)
            if better is not None:
                return better
        return self._solution(tau, self._rule_at(tau), evidence)

    def _solution(self, tau: float, rule: Rule, evidence: Evidence) -> Solution:
        """Solution at tau, with a note at the two ends."""
        values = {"tau": tau, "lam": self.lam}
        notes = (END_NOTES[tau],) if tau in END_NOTES else ()
        return Solution(rule, evidence, "path", values=values, costs=self.costs(tau), notes=notes)

    # ---- where double precision ends: multipliers divided by lam, of a slope of unit weight --------------------------

    def _rounds(self, caps: Array) -> bool:
        return self._steep

    @cached_property
    def _solver(self) -> PreciseSolver:
        """Solver in double-double for the bases of the path."""
        return PreciseSolver(self.problem.P.quadratic, self.problem, None)

    def _solve(self, tau: float, j: int) -> Precise | None:
        state, margin = self._basis(j)
        caps = self.caps(tau) / self.lam
        found = self._solver.solve(caps, state, margin)
        if found is None or not self.bias:
            return found
        if found.w is None:
            alpha = self._of_constant(found.alpha, margin)
            return replace(found, alpha=alpha, b=inner(alpha, self.y))
        return replace(found, w=found.w[:-1], b=float(found.w[-1]))

    def _of_constant(self, alpha: Array, margin: Index) -> Array:
        """Correct multipliers (2, n) of a kernel with a constant feature.

        They solve a system with the rounded sum of both; here the margins of the two, as they are, are to be 1.
        """
        rows, signs = self.gram.quadratic.rows(margin), self.y[margin]
        b = inner(alpha, self.y)
        scores = twice.product(rows, *(self.y * alpha)[:, :, None])
        terms = np.column_stack([*scores, np.full(margin.size, b), -signs])
        rounding_of_b = inner(alpha, self.y, -b)
        residual = np.array([fsum(each) for each in terms]) + rounding_of_b
        step, *_ = np.linalg.lstsq(rows[:, margin] + 1.0, residual)
        change = -signs * step
        high, low = alpha[:, margin]
        total = high + change  # and what is lost by rounding in that (Knuth's sum of two doubles)
        part = total - high
        lost = (high - (total - part)) + (change - part)
        corrected = alpha.copy()
        corrected[:, margin] = total, low + lost
        return corrected

    def _as_solution(self, tau: float, found: Precise) -> Solution:
        w = found.w
        b = found.b if self.bias else 0.0
        problem = replace(self.soft_margin, caps=self.caps(tau))
        certificate = certify_hinge_precisely(problem.unit, found.alpha, b, w).times(self.lam)
        alpha, low = times(found.alpha, self.lam)
        evidence = Evidence(judge_hinge(problem, alpha, b, w, low, certificate))
        coef = self.y * found.alpha[0]
        return self._solution(tau, linear_or_kernel(self.gram, coef, w, found.b), evidence)

    def _knot_coef(self, knots: Array) -> Array:
        return super()._knot_coef(knots) / self.lam

    def _knot_intercepts(self) -> tuple[Array, Array]:
        if self.pieces.w is not None:
            return super()._knot_intercepts()
        b = np.array([self._intercept(float(tau)) for tau in self.pieces.t])
        return b[:-1], b[1:]

    def conditional_probability(self, X: Any) -> ConditionalProbability:
        """Estimate P(y = 1 | x) by the length of the set of tau at which x is labelled +1.

        In the population sign f_tau(x) = sign(P(y = 1 | x) - tau) is optimal (`minimiser`). On a sample, and in a class
        of functions that does not hold all, the sign need not be monotone in tau; the crossings say where it is not.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)
            As for `scores`.

        Raises
        ------
        InputError
            If the path does not go from tau = 0 to tau = 1.

        Warns
        -----
        HomogeneousWarning
            If the kernel is linear and there is no bias: ``f_tau(c x) = c f_tau(x)``, so that all boundaries go through
            0, and most probabilities are 0 or 1. Not if the samples have a constant feature.
        """
        lo, hi = self.breakpoints[[0, -1]]
        if (lo, hi) != (0.0, 1.0):
            raise InputError(f"tau must go from 0 to 1 for probabilities, got a path from {lo:g} to {hi:g}")
        if self.gram.linear and not self.bias and not _has_constant(self.gram.X):
            warnings.warn(
                "with a linear kernel and bias=False all boundaries go through 0, and most probabilities are 0 or 1: "
                "use bias=True, or another kernel",
                HomogeneousWarning,
                stacklevel=2,
            )
        new = self.gram.check_new(X)
        rows = max(1, _ENTRIES // self.breakpoints.size)
        blocks = [new[first : first + rows] for first in range(0, new.shape[0], rows)]
        parts = [self.scores(block).positive() for block in blocks]
        probability, crossings = (np.concatenate(part) for part in zip(*parts, strict=True))
        return ConditionalProbability(probability, crossings)

    def judged(self, tau: float) -> Judged:
        """Judge the stored solution at tau."""
        caps, alpha, w = self.caps(tau), self._stored(tau), self._stored_slope(tau)
        judged = judge_hinge(replace(self.soft_margin, caps=caps), alpha, self._intercept(tau), w)
        return replace(judged, numbers={**judged.numbers, "alpha": np.clip(alpha, 0.0, caps)})

    def _slope_of(self, solution: Solution) -> Array | None:
        return None if self.pieces.w is None else solution.classifier.w

    @property
    def soft_margin(self) -> SoftMargin:
        """Problem of the quantile SVM along tau."""
        caps = (2 / self.y.size) * sides_of(self.y)
        intercept = "feature" if self.bias else "none"
        return SoftMargin.of(self.gram, self.y, caps, lam=self.lam, intercept=intercept)

    def _arrays(self) -> Mapping[str, Any]:
        return {**super()._arrays(), "lam": np.array(self.lam), "bias": np.array(self.bias)}
