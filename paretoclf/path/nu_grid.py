"""All solutions of a grid of (nu_plus, nu_minus), read off one exact line for each value of one of the two."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask, check_increasing
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.common.memory import require_memory
from paretoclf.common.progress import counted
from paretoclf.common.tolerances import NU_ROUNDING, TOGETHER
from paretoclf.engine.box import AnyBox, no_log
from paretoclf.engine.segments import Line, Log
from paretoclf.engine.sets import LEFT
from paretoclf.path.nu import Hulls
from paretoclf.problem.classifiers import KernelRule, NoRule, Rule
from paretoclf.problem.gram import Gram
from paretoclf.problem.lines import Labelled, LineOfNu, lines_of, sizes_of
from paretoclf.problem.nu import caps_of, equivalent_costs, to_asymmetry
from paretoclf.problem.samples import distinct
from paretoclf.proof.cells import CellsProof
from paretoclf.proof.evidence import Evidence
from paretoclf.proof.points.hulls import CONDITIONS, Graded, grade_hulls
from paretoclf.proof.points.meeting import largest_cancelling, proved_to_meet
from paretoclf.proof.soft_margin import SoftMargin
from paretoclf.proof.solution import Solution

#: Multipliers that are judged at a time.
_BLOCK = 2**16


@dataclass(frozen=True)
class NuGrid:
    """The 2nu-SVM at every pair of a grid.

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
        refused = f", {int(self.refused.sum())} refused" if self.refused.any() else ""
        worst = [np.max(np.abs(x[~self.refused]), initial=0.0) for x in (self.gap, self.residual)]
        return (
            f"NuGrid({p} x {m}, {self.y.size} samples, {int(self.trivial.sum())} trivial{refused}, {self.exchanges} "
            f"exchanges, worst gap {worst[0]:.1e}, worst residual {worst[1]:.1e})"
        )

    def at(self, i: int, j: int) -> Solution:
        """Solution at ``(nu_plus[i], nu_minus[j])``, with its full certificate; InputError where it was refused."""
        if self.refused[i, j]:
            raise InputError(
                f"nu_plus = {self.nu_plus[i]:g}, nu_minus = {self.nu_minus[j]:g} was refused: the hulls are so close "
                "that no solution passes its certificate"
            )
        nu, asymmetry = self._pair(i, j)
        one, trivial = self.alpha[i, j][:, None], self.trivial[i, j : j + 1]
        judged = _grade(self.gram, self.y, np.array([nu]), np.array([asymmetry]), one, trivial).judged(0)
        best = judged.numbers["thresholds"]
        rule: Rule = KernelRule(
            self.gram, self.y * self.alpha[i, j], float(self.b[i, j]), None if best.unique else best.b_interval
        )
        if trivial[0]:
            rule = NoRule(
                f"trivial: the reduced hulls meet at nu_plus = {self.nu_plus[i]:g}, "
                f"nu_minus = {self.nu_minus[j]:g}; w = 0, and there is no classifier"
            )
        return Solution(
            classifier=rule,
            evidence=Evidence(judged),
            source="path",
            values={"nu_plus": float(self.nu_plus[i]), "nu_minus": float(self.nu_minus[j])},
            costs=equivalent_costs(asymmetry, float(self.rho[i, j]), self.y.size),
        )

    def _pair(self, i: int, j: int) -> tuple[float, float]:
        return to_asymmetry(float(self.nu_plus[i]), float(self.nu_minus[j]), *sizes_of(self.y))

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
        return self.gram.scores(X, coef.T).T.reshape(p, m, -1) + self.b[:, :, None]

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
        hulls = Hulls(svm.gram, y, max_events)
    else:
        hulls = Hulls(svm.gram.part(first), y[first], max_events, copies=copies.astype(np.float64))
    alpha = np.zeros((*shape, first.size))
    trivial, refused = np.zeros((2, *shape), dtype=np.bool_)
    # Along a line the caps of one class move: the smaller one, which makes fewer exchanges. From here on rows are the
    # values that stand still.
    moving = 0 if 2 * np.count_nonzero(hulls.y > 0) < hulls.y.size else 1
    rows: list[Any] = [np.swapaxes(x, 0, 1) if moving == 0 else x for x in (alpha, trivial, refused)]
    standing, going = (plus, minus) if moving == 1 else (minus, plus)
    lines = (
        _line(hulls, moving, 1.0 / standing[i], 1.0 / going[::-1], *(x[i, ::-1] for x in rows))
        for i in range(standing.size - 1, -1, -1)
    )
    traced = [line for line in counted(lines, "lines of the grid", standing.size, progress) if line is not None]
    for line in traced:  # only now: right after the tracker nothing of what reading takes is in the cache
        line.read()
    exchanges = sum(line.log.changes.shape[1] for line in traced)
    nu, asymmetry = to_asymmetry(plus[:, None], minus, hulls.n_plus, hulls.n_minus)
    if not alone:
        alpha = (alpha / copies).take(which, axis=2)
    alpha *= (0.5 / hulls.total * nu)[:, :, None]
    pairs = nu.ravel(), asymmetry.ravel()
    found, residuals = _judged(svm.gram, y, points, *pairs, alpha.reshape(-1, y.size), trivial, refused)
    trivial &= ~refused
    b, rho, value, gap = (found[name].reshape(shape) for name in ("b", "rho", "value", "gap"))
    residual = np.max(list(residuals.values()), axis=0).reshape(shape)
    b[trivial], rho[trivial] = np.nan, 0.0
    for x in (alpha, b, rho, value, gap, residual):
        x[refused] = np.nan
    known = np.flatnonzero(~refused)
    at_plus, at_minus = plus[known // minus.size], minus[known % minus.size]
    proof = CellsProof(
        np.abs(found["gap"][known]), found["unexplained"][known], found["difference"][known],
        {name: x[known] for name, x in residuals.items()}, None, svm.gram.note, kernel=found["kernel"][known],
        places={"nu_plus": at_plus, "nu_minus": at_minus}, part="point",
        whole="at every point of the grid that was not refused",
    )  # fmt: skip
    seconds = time.perf_counter() - began
    return NuGrid(
        svm.gram, y, plus, minus, alpha, b, rho, value, gap, residual, trivial, refused, proof, seconds, exchanges
    )


def _judged(
    gram: Gram, y: Array, which: Index, nu: Array, asymmetry: Array, alpha: Array, trivial: Mask, refused: Mask
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Numbers of all points, and residuals of their conditions, a block of them at a time; alpha has shape (k, n).

    Decides what is trivial, and what is refused: where w = 0 is not proved, or the certificate does not pass. ``which``
    are the numbers of the distinct samples.
    """
    trivial, refused, width = trivial.reshape(-1), refused.reshape(-1), max(1, _BLOCK // y.size)
    shared = np.intersect1d(which[y > 0], which[y < 0]).size > 0  # a sample in both classes: weights cancel there
    names = ("b", "rho", "value", "gap", "unexplained", "difference", "kernel")
    numbers, residuals = ({name: np.full(nu.size, np.nan) for name in each} for each in (names, CONDITIONS))
    for first in range(0, nu.size, width):
        points = np.arange(first, min(first + width, nu.size))
        met = points[trivial[points]]
        refused[met] = ~proved_to_meet(gram, y, nu[met], alpha[met].T)
        for j in points if shared else ():
            most, cancelling = largest_cancelling(which, y, caps_of(asymmetry[j], y))
            if nu[j] <= most * (1 + NU_ROUNDING):
                alpha[j], trivial[j], refused[j] = cancelling * (nu[j] / most), True, False
        known = points[~refused[points]]
        if known.size:
            a = alpha[known] if known.size < points.size else alpha[first : first + width]
            graded = _grade(gram, y, nu[known], asymmetry[known], a.T, trivial[known])
            found = (graded.b, graded.rho, graded.primal_value, graded.gap, graded.unexplained)
            of_kernel = graded.kernel_rounding / graded.scale
            for name, x in zip(names, (*found, np.abs(graded.gap) * graded.scale, of_kernel), strict=True):
                numbers[name][known] = x
            for name, x in graded.residuals.items():
                residuals[name][known] = x
            refused[known] = ~graded.passes(TOGETHER)
    return numbers, residuals


def _grade(gram: Gram, y: Array, nu: Array, asymmetry: Array, alpha: Array, trivial: Mask) -> Graded:
    return grade_hulls(SoftMargin.of(gram, y, caps_of(asymmetry, y), nu=nu), alpha, zero=trivial)


@dataclass(frozen=True)
class _Traced:
    """What was found on a line, and where the weights at increasing parameters go (k, n).

    Beyond the end of the line they are those at its end.
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
        # Who is at a cap at each parameter: who is at the first, and all that went to a cap or left it by then.
        (piece, sample, old, new), at_cap = log.changes, np.zeros((u.size + 1, weights.shape[1]), dtype=np.int8)
        at_cap[0] = log.state == LEFT
        np.add.at(at_cap, (np.searchsorted(segment, piece), sample), (new == LEFT).astype(np.int8) - (old == LEFT))
        caps = np.stack([1.0 - u, u], axis=1) @ np.stack([self.line.caps(0.0), self.line.caps(1.0)])
        np.multiply(caps, np.add.accumulate(at_cap[:-1], axis=0, dtype=np.int8), out=weights)
        start, sizes = log.ptr[segment], log.ptr[segment + 1] - log.ptr[segment]
        row = np.repeat(np.arange(u.size), sizes)
        entry = np.arange(row.size) + np.repeat(start - np.append(0, np.cumsum(sizes[:-1])), sizes)
        t0, t1 = log.t[:, segment]
        share = np.clip((u - t0) / (t1 - t0), 0.0, 1.0).take(row)
        weights[row, log.index.take(entry)] = (1.0 - share) * log.a0.take(entry) + share * log.a1.take(entry)


def _line(
    hulls: Hulls, moving: int, standing: float, going: Array, weights: Array, trivial: Mask, refused: Mask
) -> _Traced | None:
    """A line at increasing caps of one class, whose weights are not read yet; and where the hulls have met by then.

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
    """Follow a line and come back; whether there is all of it. Its log is wanted `at` some parameters."""
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
