"""All solutions of a grid of (nu_plus, nu_minus), read off one exact line for each nu_plus."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tqdm import tqdm

from paretoclf.checks import Array, Index, Mask, State
from paretoclf.classifiers import KernelRule, NoRule, Rule
from paretoclf.costs import Costs
from paretoclf.errors import DegeneratePathError, InputError
from paretoclf.gram import Gram
from paretoclf.judges.two_nu import Graded, grade_two_nu
from paretoclf.memory import require_memory
from paretoclf.nu import to_asymmetry
from paretoclf.path.engine import follow
from paretoclf.path.events import LEFT
from paretoclf.path.jit import compiled
from paretoclf.path.legs import shows_progress
from paretoclf.path.nu import Hulls, NuProblem
from paretoclf.solution import Solution


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
        classifier.
    value : array of shape (p, m)
        Optimal values, as certified: primal objectives at feasible points.
    gap, residual : array of shape (p, m)
        Relative duality gap and largest KKT residual of each point's certificate.
    trivial : bool array of shape (p, m)
        Where the reduced hulls meet: w = 0, and there is no classifier.
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
    seconds: float
    exchanges: int

    def __repr__(self) -> str:
        p, m = self.rho.shape
        return (
            f"NuGrid({p} x {m}, {self.y.size} samples, {int(self.trivial.sum())} trivial, {self.exchanges} exchanges, "
            f"worst gap {np.abs(self.gap).max():.1e}, worst residual {self.residual.max():.1e})"
        )

    def at(self, i: int, j: int) -> Solution:
        """Solution at ``(nu_plus[i], nu_minus[j])``, with its full certificate."""
        nu, asymmetry = self._pair(i, j)
        n, rho = self.y.size, float(self.rho[i, j])
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
            evidence=judged,
            source="path",
            values={"nu_plus": float(self.nu_plus[i]), "nu_minus": float(self.nu_minus[j])},
            costs=Costs(asymmetry / (rho * n), (1 - asymmetry) / (rho * n)) if rho > 0 else None,
        )

    def _pair(self, i: int, j: int) -> tuple[float, float]:
        plus = int(np.count_nonzero(self.y > 0))
        return to_asymmetry(float(self.nu_plus[i]), float(self.nu_minus[j]), plus, self.y.size - plus)

    @property
    def distance(self) -> Array:
        """Distance of the two reduced hulls, ``2 |w| / nu``, shape (p, m)."""
        pairs = [[self._pair(i, j)[0] for j in range(self.nu_minus.size)] for i in range(self.nu_plus.size)]
        return np.asarray(2 * np.sqrt(np.maximum(-2.0 * self.value, 0.0)) / np.array(pairs))

    def scores(self, X: Any) -> Array:
        """Scores of new samples at every point, shape (p, m, number of samples); nan where there is no classifier.

        Parameters
        ----------
        X : array or sparse matrix
            As for `Classifier.decision_function`.
        """
        p, m, n = self.alpha.shape
        coef = self.y * self.alpha.reshape(-1, n)
        features = self.gram.features
        if features is None:
            out = coef @ self.gram.cross(X).T
        else:
            out = np.asarray(self.gram.cross_features(X) @ (features.T @ coef.T)).T
        return np.asarray(out).reshape(p, m, -1) + self.b[:, :, None]

    def plot(self, ax: Any = None) -> Any:
        """Draw the distance of the hulls over the grid; see `paretoclf.plotting.NuGridDisplay`."""
        from paretoclf.plotting.nu_grid import NuGridDisplay  # matplotlib only when a picture is wanted

        return NuGridDisplay.from_grid(self).plot(ax=ax)


def nu_grid(
    svm: NuProblem, nu_plus: Any, nu_minus: Any, *, max_events: int | None = None, progress: bool | None = None
) -> NuGrid:
    """Solve the 2nu-SVM at every pair of a grid, each solution exact and certified.

    The largest values first, the tracker goes from the class means (1, 1) along the edge ``nu_minus = 1`` from one
    nu_plus to the next, and from each along the line on which only nu_minus falls. On a line every point of the grid is
    read off; no solver is called.

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
        If nu_plus or nu_minus is not as above, or there is no memory for the multipliers.
    DegeneratePathError
        If a line cannot be continued, or a point fails its certificate.

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
    y, began = svm.y, time.perf_counter()
    plus, minus = _increasing(nu_plus, "nu_plus"), _increasing(nu_minus, "nu_minus")
    shape = plus.size, minus.size
    require_memory(
        8 * y.size * plus.size * minus.size, f"a {plus.size} x {minus.size} grid of multipliers", "Use fewer points."
    )
    hulls = Hulls(svm.gram, y, max_events)
    sizes = hulls.n_plus, hulls.n_minus
    alpha = np.empty((*shape, y.size))
    b, rho, value, gap, residual = (np.empty(shape) for _ in range(5))
    trivial = np.zeros(shape, dtype=np.bool_)
    exchanges = 0
    with tqdm(total=plus.size, desc="grid", leave=False, disable=not shows_progress(progress)) as bar:
        for i in range(plus.size - 1, -1, -1):
            exchanges += _line(hulls, 1.0 / plus[i], 1.0 / minus[::-1], alpha[i, ::-1], trivial[i, ::-1])
            pairs = [to_asymmetry(float(plus[i]), float(v), *sizes) for v in minus]
            nu, asymmetry = (np.array(x) for x in zip(*pairs, strict=True))
            alpha[i] *= 0.5 / hulls.total * nu[:, None]
            graded = _grade(svm.gram, y, nu, asymmetry, alpha[i].T, trivial[i])
            if not graded.passes.all():
                _refuse(graded, plus[i], minus)
            b[i], rho[i], value[i] = graded.b, graded.rho, graded.primal_value
            gap[i], residual[i] = graded.gap, graded.residual
            bar.update()
    b[trivial], rho[trivial] = np.nan, 0.0
    seconds = time.perf_counter() - began
    return NuGrid(svm.gram, y, plus, minus, alpha, b, rho, value, gap, residual, trivial, seconds, exchanges)


def _increasing(given: Any, name: str) -> Array:
    values = np.atleast_1d(np.asarray(given, dtype=np.float64))
    good = values.ndim == 1 and values.size > 0 and bool((values > 0).all()) and bool((values <= 1).all())
    if not good or (np.diff(values) <= 0).any():
        raise InputError(f"{name} must be increasing numbers within (0, 1], got {given!r}")
    return values


def _grade(gram: Gram, y: Array, nu: Array, asymmetry: Array, alpha: Array, trivial: Mask) -> Graded:
    return grade_two_nu(gram, y, nu, asymmetry / y.size, (1 - asymmetry) / y.size, alpha, zero=trivial)


def _refuse(graded: Graded, plus: float, minus: Array) -> None:
    j = int(np.argmin(graded.passes))
    raise DegeneratePathError(
        f"the certificate fails ({graded.judged(j).certificate.explain()})",
        t=float(minus[j]),
        costs=f"nu_plus = {plus:g}, nu_minus = {minus[j]:g}",
        n_margin=int(np.count_nonzero(graded.alpha[:, j])),
        remedy="Standardise the features.",
    )


def _line(hulls: Hulls, s_plus: float, s_minus: Array, weights: Array, trivial: Mask) -> int:
    """Weights at increasing caps s_minus, and where the hulls have met by then; how many exchanges it took.

    The tracker moves on to (s_plus, 1) and stays there.
    """
    problem, here = hulls.problem, np.array([s_plus, 1.0])
    if not hulls.go(here):
        trivial[:] = True
        weights[:] = hulls.meeting
        return 0
    snapshot = problem.snapshot()
    stop = np.array([s_plus, max(float(s_minus[-1]), 2.0)])
    problem.set_line(hulls.line(here, stop))
    problem.record_from_here()
    exchanges = follow(problem, max_events=hulls.max_events)
    log, t = problem.log, (s_minus - 1.0) / (stop[1] - 1.0)
    _read(
        t, log.t[:, : problem.segments], log.ptr, log.index, log.a, log.made, log.state.copy(), here @ hulls.bases,
        stop @ hulls.bases, weights,
    )  # fmt: skip
    trivial[:] = t >= log.t[1, problem.segments - 1] if hulls.stopped else False
    problem.restore(snapshot)
    return exchanges


@compiled()
def _read(
    at: Array, t: Array, ptr: Index, index: Index, a: Array, changes: Index, state: State, first: Array, last: Array,
    out: Array,
) -> None:  # fmt: skip
    """Multipliers at increasing parameters of a logged line (those beyond its end: at its end), from its segments.

    ``state`` is that before the first segment, and is used up; the caps go from `first` to `last`.
    """
    s, c = 0, 0
    for j in range(at.shape[0]):
        u = min(at[j], t[1, t.shape[1] - 1])
        while s + 1 < t.shape[1] and t[1, s] < u:
            s += 1
        while c < changes.shape[1] and changes[0, c] <= s:
            state[changes[1, c]] = changes[3, c]
            c += 1
        for i in range(state.shape[0]):
            out[j, i] = (1.0 - u) * first[i] + u * last[i] if state[i] == LEFT else 0.0
        share = min(max((u - t[0, s]) / (t[1, s] - t[0, s]), 0.0), 1.0)
        for e in range(ptr[s], ptr[s + 1]):
            i = index[e]
            out[j, i] = (1.0 - share) * a[0, e] + share * a[1, e]
