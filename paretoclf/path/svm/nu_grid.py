"""Solutions at all pairs of a grid of (nu_plus, nu_minus): one exact line for each value of one of the two."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask, check_increasing
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.common.memory import require_memory
from paretoclf.common.progress import PathLimits, counted
from paretoclf.common.tolerances import NU_ROUNDING, TOGETHER
from paretoclf.engine.box import AnyBox, no_log
from paretoclf.engine.segments import Line, Log
from paretoclf.engine.sets import LEFT
from paretoclf.path.svm.nu_path import Hulls
from paretoclf.problem.classifiers import KernelRule, NoRule, Rule
from paretoclf.problem.gram import Gram
from paretoclf.problem.lines import Labelled, LineOfNu, lines_of, sizes_of
from paretoclf.problem.nu import caps_of, equivalent_costs, to_asymmetry
from paretoclf.problem.samples import distinct
from paretoclf.proof.points.hulls import CONDITIONS, Graded, grade_hulls
from paretoclf.proof.points.meeting import largest_cancelling, proved_to_meet
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.verdicts.cells import CellsProof
from paretoclf.proof.verdicts.evidence import Evidence
from paretoclf.proof.verdicts.solution import Solution

#: Multipliers that are judged at a time.
_BLOCK = 2**16


@dataclass(frozen=True)
class NuGrid:
    """Solutions of the 2nu-SVM at every pair of a grid.

    Attributes
    ----------
    gram : Gram
    y : array of shape (n,)
    nu_plus : array of shape (p,)
    nu_minus : array of shape (m,)
    alpha : array of shape (p, m, n)
        Multipliers, up to rounding (1e-12 of the cap) within their bounds.
    b, rho : array of shape (p, m)
        Intercept and margin: where there are several, the middle, or the finite end. nan and 0 where there is no
        classifier. Intercepts are those of the features as the Gram measures them: where these lie far from 0, `at`
        has the plain ones.
    value : array of shape (p, m)
        Optimal values, as certified: primal objectives at feasible points.
    gap, residual : array of shape (p, m)
        Relative duality gap and largest KKT residual of each point's certificate.
    trivial : bool array of shape (p, m)
        Where the reduced hulls are proved to meet (`paretoclf.proof.points.meeting`): w = 0, and there is no
        classifier.
    refused : bool array of shape (p, m)
        Points without a solution that passes its certificate, all nan: hulls so close that double precision cannot
        tell whether they meet.
    proof : CellsProof
        The certificates of all other points, as arrays, condition by condition.
    seconds : float
        Time it took, certificates included.
    exchanges : int
        Number of basis exchanges on all lines together.
    """

    gram: Gram = field(repr=False)
    y: Array = field(repr=False)
    nu_plus: Array = field(repr=False)
    nu_minus: Array = field(repr=False)
    alpha: Array = field(repr=False)
    b: Array = field(repr=False)
    rho: Array = field(repr=False)
    value: Array = field(repr=False)
    gap: Array = field(repr=False)
    residual: Array = field(repr=False)
    trivial: Mask = field(repr=False)
    refused: Mask = field(repr=False)
    proof: CellsProof = field(repr=False)
    seconds: float
    exchanges: int

    def __repr__(self) -> str:
        p, m = self.rho.shape
        trivial, refused = int(self.trivial.sum()), int(self.refused.sum())
        of_them = f"{trivial} trivial, {refused} refused" if refused else f"{trivial} trivial"
        known = ~self.refused
        gap, residual = (np.max(np.abs(each[known]), initial=0.0) for each in (self.gap, self.residual))
        worst = f"worst gap {gap:.1e}, worst residual {residual:.1e}"
        return f"NuGrid({p} x {m}, {self.y.size} samples, {of_them}, {self.exchanges} exchanges, {worst})"

    def at(self, i: int, j: int) -> Solution:
        """Solution at ``(nu_plus[i], nu_minus[j])``, with its full certificate; InputError where it was refused."""
        if self.refused[i, j]:
            raise InputError(
                f"nu_plus = {self.nu_plus[i]:g}, nu_minus = {self.nu_minus[j]:g} was refused: the hulls are so close "
                "that no solution passes its certificate"
            )
        nu_plus, nu_minus = float(self.nu_plus[i]), float(self.nu_minus[j])
        nu, asymmetry = to_asymmetry(nu_plus, nu_minus, *sizes_of(self.y))
        alpha, trivial = self.alpha[i, j], self.trivial[i, j : j + 1]
        graded = _grade(self.gram, self.y, np.array([nu]), np.array([asymmetry]), alpha[:, None], trivial)
        judged = graded.judged(0)
        rule: Rule
        if trivial[0]:
            rule = NoRule(
                f"trivial: the reduced hulls meet at nu_plus = {self.nu_plus[i]:g}, "
                f"nu_minus = {self.nu_minus[j]:g}; w = 0, and there is no classifier"
            )
        else:
            best = judged.numbers["thresholds"]
            interval = None if best.unique else best.b_interval
            rule = KernelRule(self.gram, self.y * alpha, float(self.b[i, j]), interval)
        costs = equivalent_costs(asymmetry, float(self.rho[i, j]), self.y.size)
        values = {"nu_plus": nu_plus, "nu_minus": nu_minus}
        return Solution(rule, Evidence(judged), "path", values=values, costs=costs)

    @property
    def distance(self) -> Array:
        """Distance of the two reduced hulls, ``2 |w| / nu``, shape (p, m)."""
        nu, _ = to_asymmetry(self.nu_plus[:, None], self.nu_minus, *sizes_of(self.y))
        return np.asarray(2 * np.sqrt(np.maximum(-2.0 * self.value, 0.0)) / nu)

    def scores(self, X: Any) -> Array:
        """Scores of new samples at every point, shape (p, m, number of samples); nan where there is no classifier.

        Parameters
        ----------
        X : array or sparse matrix
            As for `Classifier.decision_function`.
        """
        p, m, n = self.alpha.shape
        coef = self.y * self.alpha.reshape(-1, n)
        scores = self.gram.scores(X, coef.T)
        return scores.T.reshape(p, m, -1) + self.b[:, :, None]

    def plot(self, ax: Any = None) -> Any:
        """Draw the distance of the hulls over the grid; see `paretoclf.plotting.NuGridDisplay`."""
        from paretoclf.plotting.nu_grid import NuGridDisplay  # matplotlib only when a picture is wanted

        return NuGridDisplay.from_grid(self).plot(ax=ax)


def nu_grid(
    svm: Labelled, nu_plus: Any, nu_minus: Any, *, max_events: int | None = None, progress: bool | None = None
) -> NuGrid:
    """Solve the 2nu-SVM at every pair of a grid, each solution exact and certified.

    The largest values first, the tracker goes from the class means (1, 1) along an edge of the grid from one nu_plus
    (or nu_minus) to the next, and from each along the line on which only the other one falls: that of the smaller
    class. On a line every point of the grid is read off; no solver is called. Samples of one class that are equal are
    followed as one, and share its weight.

    Parameters
    ----------
    svm : TwoNuSVM
        The problem; only its samples and labels are used.
    nu_plus, nu_minus : array of shape (p,), (m,)
        Increasing, within (0, 1].
    max_events : int, optional
        Limit on the number of exchanges per line.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal.

    Raises
    ------
    InputError
        If svm is no 2nu-SVM, nu_plus or nu_minus is not as above, or there is no memory for the multipliers.

    References
    ----------
    Davenport, Baraniuk & Scott (2010), section 3.2, whose grid takes a solver a point.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> svm = pc.TwoNuSVM([[2.0], [1.0], [-0.5], [0.0], [-1.0], [-3.0]], [1, 1, 1, -1, -1, -1])
    >>> grid = pc.nu_grid(svm, [0.25, 0.5, 1.0], [0.25, 0.5, 1.0])
    >>> np.round(grid.rho, 3)
    array([[0.   , 0.   , 0.104],
           [0.   , 0.042, 0.444],
           [0.083, 0.292, 1.354]])
    """
    lines_of(svm, only=LineOfNu)
    y, began = svm.y, time.perf_counter()
    plus, minus = (check_increasing(each, name, 1.0) for each, name in ((nu_plus, "nu_plus"), (nu_minus, "nu_minus")))
    shape = plus.size, minus.size
    require_memory(
        8 * y.size * plus.size * minus.size, f"a {plus.size} x {minus.size} grid of multipliers", "Use fewer points."
    )
    points = distinct(svm.gram.X)
    _, first, which, copies = np.unique(
        2 * points + (y > 0), return_index=True, return_inverse=True, return_counts=True
    )
    alone = first.size == y.size
    if alone:
        hulls = Hulls(svm.gram, y, PathLimits(max_events))
    else:
        repeated = copies.astype(np.float64)
        hulls = Hulls(svm.gram.part(first), y[first], PathLimits(max_events), copies=repeated)
    alpha = np.zeros((*shape, first.size))
    trivial, refused = np.zeros((2, *shape), dtype=np.bool_)
    exchanges = _trace_lines(hulls, plus, minus, alpha, trivial, refused, progress)
    nu, asymmetry = to_asymmetry(plus[:, None], minus, hulls.n_plus, hulls.n_minus)
    if not alone:
        alpha = (alpha / copies).take(which, axis=2)
    alpha *= (0.5 / hulls.total * nu)[:, :, None]
    pairs = nu.ravel(), asymmetry.ravel()
    multipliers = alpha.reshape(-1, y.size)
    found, residuals = _judged(svm.gram, y, points, *pairs, multipliers, trivial, refused)
    trivial &= ~refused
    b, rho, value, gap = (found[name].reshape(shape) for name in ("b", "rho", "value", "gap"))
    residual = np.max(list(residuals.values()), axis=0).reshape(shape)
    b[trivial], rho[trivial] = np.nan, 0.0
    for numbers in (alpha, b, rho, value, gap, residual):
        numbers[refused] = np.nan
    known = np.flatnonzero(~refused)
    places = {"nu_plus": plus[known // minus.size], "nu_minus": minus[known % minus.size]}
    of_known = {name: numbers[known] for name, numbers in found.items()}
    residuals = {name: numbers[known] for name, numbers in residuals.items()}
    proof = CellsProof(
        np.abs(of_known["gap"]), of_known["unexplained"], of_known["difference"], residuals, None, svm.gram.note,
        kernel=of_known["kernel"], places=places, part="point", whole="at every point of the grid that was not refused",
    )  # fmt: skip
    seconds = time.perf_counter() - began
    return NuGrid(
        svm.gram, y, plus, minus, alpha, b, rho, value, gap, residual, trivial, refused, proof, seconds, exchanges
    )


def _trace_lines(
    hulls: Hulls, plus: Array, minus: Array, alpha: Array, trivial: Mask, refused: Mask, progress: bool | None
) -> int:
    """Trace a line for each value of one of the two, and read off all points; return the number of exchanges.

    Weights, and where the hulls meet or the tracker cannot go on, are written into the three arrays. Along a line the
    caps of one class move: the smaller one, which makes fewer exchanges.
    """
    if 2 * np.count_nonzero(hulls.y > 0) < hulls.y.size:
        moving, fixed, going = 0, minus, plus
        weights, met, failed = np.swapaxes(alpha, 0, 1), trivial.T, refused.T
    else:
        moving, fixed, going = 1, plus, minus
        weights, met, failed = alpha, trivial, refused
    growing = 1.0 / going[::-1]  # caps: the largest values first
    rows = zip(fixed, weights[:, ::-1], met[:, ::-1], failed[:, ::-1], strict=True)
    lines = (_line(hulls, moving, 1.0 / value, growing, *row) for value, *row in reversed([*rows]))
    traced = [line for line in counted(lines, "lines of the grid", fixed.size, progress) if line is not None]
    for line in traced:  # only now: right after the tracker nothing of what reading takes is in the cache
        line.read()
    return sum(line.log.changes.shape[1] for line in traced)


def _judged(
    gram: Gram, y: Array, which: Index, nu: Array, asymmetry: Array, alpha: Array, trivial: Mask, refused: Mask
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Judge all points, a block of them at a time: return their numbers, and residuals of their conditions.

    Decides which are trivial, and which are refused: where w = 0 is not proved, or the certificate does not pass. alpha
    has shape (k, n), and ``which`` are the numbers of the distinct samples.
    """
    trivial, refused = trivial.reshape(-1), refused.reshape(-1)
    width = max(1, _BLOCK // y.size)
    in_both = np.intersect1d(which[y > 0], which[y < 0])  # samples in both classes: weights cancel there
    names = ("b", "rho", "value", "gap", "unexplained", "difference", "kernel")
    numbers, residuals = ({name: np.full(nu.size, np.nan) for name in each} for each in (names, CONDITIONS))
    for first in range(0, nu.size, width):
        points = np.arange(first, min(first + width, nu.size))
        met = points[trivial[points]]
        refused[met] = ~proved_to_meet(gram, y, nu[met], alpha[met].T)
        for j in points if in_both.size else ():
            most, cancelling = largest_cancelling(which, y, caps_of(asymmetry[j], y))
            if nu[j] <= most * (1 + NU_ROUNDING):
                alpha[j] = cancelling * (nu[j] / most)
                trivial[j], refused[j] = True, False
        known = points[~refused[points]]
        if not known.size:
            continue
        whole_block = known.size == points.size
        multipliers = alpha[first : first + width] if whole_block else alpha[known]  # a view where it can be one
        graded = _grade(gram, y, nu[known], asymmetry[known], multipliers.T, trivial[known])
        found = (graded.b, graded.rho, graded.primal_value, graded.gap, graded.unexplained)
        difference = np.abs(graded.gap) * graded.scale
        of_kernel = graded.kernel_rounding / graded.scale
        for name, each in zip(names, (*found, difference, of_kernel), strict=True):
            numbers[name][known] = each
        for name, residual in graded.residuals.items():
            residuals[name][known] = residual
        refused[known] = ~graded.passes(TOGETHER)
    return numbers, residuals


def _grade(gram: Gram, y: Array, nu: Array, asymmetry: Array, alpha: Array, trivial: Mask) -> Graded:
    """Judge multipliers (n, k) at k pairs of nu and asymmetry."""
    return grade_hulls(SoftMargin.of(gram, y, caps_of(asymmetry, y), nu=nu), alpha, zero=trivial)


@dataclass(frozen=True)
class _Traced:
    """Log of a traced line, and an array (k, n) for the weights at increasing parameters.

    Beyond the end of the line weights are those at its end.
    """

    at: Array
    log: Log
    line: Line
    weights: Array

    def read(self) -> None:
        """Fill in the weights, from the segments."""
        log, weights = self.log, self.weights
        if log.segments == 0:
            return
        u = np.minimum(self.at, log.t[1, -1])
        segment = np.searchsorted(log.t[1], u)
        # Samples at their cap at each parameter: those at the first, and all that went to a cap or left it by then.
        piece, sample, old, new = log.changes
        arrivals = np.zeros((u.size + 1, weights.shape[1]), dtype=np.int8)
        arrivals[0] = log.state == LEFT
        arrived = (new == LEFT).astype(np.int8) - (old == LEFT)
        np.add.at(arrivals, (np.searchsorted(segment, piece), sample), arrived)
        at_cap = np.add.accumulate(arrivals[:-1], axis=0, dtype=np.int8)
        ends = np.stack([self.line.caps(0.0), self.line.caps(1.0)])
        caps = np.stack([1.0 - u, u], axis=1) @ ends
        np.multiply(caps, at_cap, out=weights)
        # Weights of the margin sets, listed segment by segment.
        start = log.ptr[segment]
        sizes = log.ptr[segment + 1] - start
        begin = np.append(0, np.cumsum(sizes[:-1]))
        row = np.repeat(np.arange(u.size), sizes)
        entry = np.arange(row.size) + np.repeat(start - begin, sizes)
        t0, t1 = log.t[:, segment]
        share = np.clip((u - t0) / (t1 - t0), 0.0, 1.0).take(row)
        before, after = log.a0.take(entry), log.a1.take(entry)
        weights[row, log.index.take(entry)] = (1.0 - share) * before + share * after


def _line(
    hulls: Hulls, moving: int, standing: float, going: Array, weights: Array, trivial: Mask, refused: Mask
) -> _Traced | None:
    """Trace a line at increasing caps of one class; its weights are read later. Marks where the hulls have met by then.

    The tracker moves to where the caps of that class are 1 and those of the other `standing`, and stays there. Where it
    cannot go on all further points are refused.
    """
    here, stop = np.full(2, standing), np.full(2, standing)
    here[moving], stop[moving] = 1.0, max(float(going[-1]), 2.0)
    if hulls.lost:
        refused[:] = True
        return None
    try:
        apart = hulls.go(here)
    except DegeneratePathError:
        hulls.lost = True
        refused[:] = True
        return None
    if not apart:
        trivial[:] = True
        weights[:] = hulls.meeting
        return None
    line, t = hulls.line(here, stop), (going - 1.0) / (stop[moving] - 1.0)
    complete, log = _aside(hulls, line, t), hulls.log
    end = float(log.t[1, -1]) if log.segments else 0.0
    if complete:
        trivial[:] = t >= end if hulls.stopped else False
    else:
        refused[:] = t >= end
    return _Traced(t, log, line, weights)


def _aside(hulls: Hulls, line: Line, at: Array) -> bool:
    """Follow a line and come back; return whether there is all of it. Its log is wanted `at` some parameters."""
    engine, hulls.last = hulls.problem, line
    if isinstance(engine, AnyBox):
        here = hulls.basis
        try:
            hulls.walk(line)
        except DegeneratePathError:
            hulls.log = no_log(hulls.y.size, 2)
            return False
        finally:
            hulls.basis = here
        return True
    snapshot = engine.snapshot()
    engine.set_line(line)
    engine.record_from_here(at=at)
    try:
        engine.follow(hulls.max_events)
    except DegeneratePathError:
        return False
    finally:
        hulls.log = engine.log
        engine.restore(snapshot)
    return True
