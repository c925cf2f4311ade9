"""Lines of the cost plane as parametric box QPs, and how to start on them without a solver.

Bach, Heckerman & Horvitz (2006), section 3.1. On the ray ``C_plus sum_+ s_i = C_minus sum_- s_i`` (s_i the sample
weights) every multiplier is at its cap near the origin, so both the solution and its first breakpoint are known in
closed form. From a point of the ray any other point is reached along a line. A path is traced in both directions from
where its line meets the ray; one that ends at zero costs is traced *into* them, where nothing happens any more, since
out of them there is no closed-form start off the ray.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from tqdm import tqdm

from paretoclf.checks import Array
from paretoclf.costs import CostLine, Costs
from paretoclf.errors import DegeneratePathError, InputError
from paretoclf.gram import Gram
from paretoclf.path.box_qp import BoxQP
from paretoclf.path.build import Leg, assemble, with_chords
from paretoclf.path.engine import follow
from paretoclf.path.events import LEFT, RIGHT
from paretoclf.path.quadratic import FeatureForm, GramForm
from paretoclf.path.result import Path, Pieces
from paretoclf.path.segments import Line
from paretoclf.tolerances import CERTIFY, END_OF_VANISHING_LINE

_STAGE = 1e-3  # a line into vanishing costs is traced in stages, each this share of the one before


class CostProblem(Protocol):
    """What is needed of a formulation: samples, labels and weights of a 2C-SVM."""

    @property
    def gram(self) -> Gram:
        """Kernel values."""
        ...

    @property
    def y(self) -> Array:
        """Labels."""
        ...

    @property
    def sample_weight(self) -> Array:
        """Weights of the samples' costs."""
        ...


def trace(
    svm: CostProblem,
    start: Any,
    stop: Any,
    *,
    certify: bool = True,
    max_events: int | None = None,
    progress: bool | None = None,
) -> Path:
    """Every optimal classifier on the segment of the cost plane from start to stop, exactly.

    Parameters
    ----------
    svm : TwoCSVM
        The problem; only its samples, labels and weights are used, no solver.
    start, stop : Costs or pair (C_plus, C_minus)
        Anywhere in the closed quadrant, the origin and the axes included.
    certify : bool
        Whether to compute the certificate at every breakpoint and every middle of a piece and refuse a path that
        fails (the default); it can also be asked for later.
    max_events : int, optional
        Limit on the number of exchanges per line; by default 200 n + 10 000.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal.

    Returns
    -------
    Path

    Raises
    ------
    InputError
        If a cost is negative or not finite.
    DegeneratePathError
        If the path cannot be continued, or fails its certificate. No doubtful path is returned.

    References
    ----------
    Bach, Heckerman & Horvitz (2006), JMLR 7, section 3; Hastie et al. (2004), JMLR 5; Karasuyama et al. (2012).

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> svm = pc.TwoCSVM(np.array([[0.0], [1.0], [2.0], [3.0]]), [-1, 1, -1, 1])
    >>> path = pc.trace(svm, start=(0, 0), stop=(1, 1))
    >>> path.worst_certificate.passes(1e-12)
    True
    >>> round(path.at(1.0).value, 6)
    2.888889
    """
    line = CostLine(_costs(start, "start"), _costs(stop, "stop"))
    began = time.perf_counter()
    bar = sys.stderr.isatty() if progress is None else progress
    layout = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}"
    with tqdm(total=1.0, disable=not bar, desc="trace", leave=False, bar_format=layout) as meter:
        tracer = _Tracer(svm, line, max_events, meter.update)
        pieces = with_chords(tracer.run(), svm.y, svm.sample_weight, line, tracer.balanced)
    path = Path(svm.gram, svm.y, svm.sample_weight, line, pieces, time.perf_counter() - began)
    if certify and not path.worst_certificate.passes(CERTIFY):
        _refuse_uncertified(path)
    return path


def _costs(given: Any, name: str) -> Costs:
    if isinstance(given, Costs):
        return given
    try:
        pair = tuple(given)
    except TypeError:
        pair = ()
    if len(pair) != 2:
        raise InputError(f"{name} must be a pair (C_plus, C_minus), got {given!r}")
    try:
        return Costs(*pair)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _refuse_uncertified(path: Path) -> None:
    certificates = path.certificates()
    bad = next(k for k, c in enumerate(certificates) if not c.passes(CERTIFY))
    t = float(path.certificate_points[bad])
    costs = path.costs(t)
    raise DegeneratePathError(
        f"the certificate fails ({certificates[bad].explain()})",
        t=t,
        costs=f"C_plus = {costs.C_plus:.6g}, C_minus = {costs.C_minus:.6g}",
        n_margin=int(path.n_margin[min(bad // 2, path.n_margin.size - 1)]),
        remedy="Standardise the features, or use a slightly different line.",
    )


class _Tracer:
    """One path: where to start, which way to go, and the joining of what was traced."""

    def __init__(
        self, svm: CostProblem, line: CostLine, max_events: int | None, progress: Callable[[float], Any]
    ) -> None:
        self.y, self.weight, self.line = svm.y, svm.sample_weight, line
        self.max_events, self.progress = max_events, progress
        self.gram = svm.gram
        self.sum_plus = float(self.weight[self.y > 0].sum())
        self.sum_minus = float(self.weight[self.y < 0].sum())

    @property
    def balanced(self) -> bool:
        """Whether the line is on the ray."""
        return self._on_ray(self.line.start) and self._on_ray(self.line.stop)

    def run(self) -> Pieces:
        """Trace and join."""
        a, b = self.line.start, self.line.stop
        if a.C_plus == b.C_plus == 0.0 or a.C_minus == b.C_minus == 0.0:
            return self._on_axis()
        self.mean: Array | None = None
        self.problem = BoxQP(self._quadratic(), np.ones(self.y.size), self.y, np.zeros(self.y.size, dtype=np.int64), 1)
        if a == b:
            self._reach(a)
            leg = self._leg(a, a, 0.0, 1.0)
            return assemble(self.y.size, [leg], [], self.mean)
        if self.balanced and 0.0 in (a.total, b.total):
            up = a.total == 0.0
            self._start_ray(b if up else a)
            leg = self._leg(Costs(0, 0), b if up else a, *((0.0, 1.0) if up else (1.0, 0.0)), fresh=True)
            legs = ([leg], []) if up else ([], [leg])
            return assemble(self.y.size, *legs, self.mean)
        t_meet = self._meeting()
        meet = self.line.at(t_meet)
        self._reach(meet)
        state, index = self.problem.state.copy(), self.problem.index.copy()
        forward = self._legs(meet, b, t_meet, 1.0) if t_meet < 1.0 else []
        backward = []
        if t_meet > 0.0:
            self.problem.start(state, index, self._line(meet, meet))
            backward = self._legs(meet, a, t_meet, 0.0)
        return assemble(self.y.size, forward, backward, self.mean)

    def _quadratic(self) -> GramForm | FeatureForm:
        if not self.gram.linear:
            return GramForm(self.gram.matrix, self.y)
        X = self.gram.X
        # With a free intercept the samples may be centred, which costs no accuracy and improves the conditioning.
        self.mean = np.where(np.ptp(X, axis=0) > 0, X.mean(axis=0), X[0])
        return FeatureForm(X - self.mean, self.y)

    # ---- where the line meets the ray ------------------------------------------------------------------------

    def _imbalance(self, c: Costs) -> float:
        return c.C_plus * self.sum_plus - c.C_minus * self.sum_minus

    def _on_ray(self, c: Costs) -> bool:
        return abs(self._imbalance(c)) <= 1e-12 * (c.C_plus * self.sum_plus + c.C_minus * self.sum_minus)

    def _meeting(self) -> float:
        """Parameter of the point of the line to start from: interior costs, on the ray if possible."""
        a, b = self.line.start, self.line.stop
        at_a, at_b = self._imbalance(a), self._imbalance(b)
        if at_a * at_b < 0.0:
            return at_a / (at_a - at_b)
        inner_a, inner_b = min(a.C_plus, a.C_minus) > 0, min(b.C_plus, b.C_minus) > 0
        if inner_a and inner_b:
            share = [abs(at) / c.total for at, c in ((at_a, a), (at_b, b))]
            return 0.0 if share[0] <= share[1] else 1.0
        return 0.0 if inner_a else 1.0 if inner_b else 0.5

    def _caps(self, c: Costs) -> Array:
        return np.asarray(self.weight * np.where(self.y > 0, c.C_plus, c.C_minus))

    def _line(self, a: Costs, b: Costs) -> Line:
        return Line(self._caps(a), self._caps(b), np.zeros(1), np.zeros(1))

    def _start_ray(self, to: Costs) -> None:
        """Basis at the origin of the ray: all at their cap, the positive first to meet its margin holds b."""
        caps = self._caps(to)
        push = self.y * self.gram.matvec(self.y * caps)
        positive = np.flatnonzero(self.y > 0)
        holder = positive[int(np.argmax(push[positive]))]
        self.problem.start(np.full(self.y.size, LEFT), [holder], self._line(Costs(0, 0), to))

    def _reach(self, c: Costs) -> None:
        """Bring the basis to interior costs c: up the ray to the same total, then across."""
        if self._on_ray(c):
            balanced = c
        else:
            scale = c.total / (self.sum_plus + self.sum_minus)
            balanced = Costs(scale * self.sum_minus, scale * self.sum_plus)
        self._start_ray(balanced)
        follow(self.problem, max_events=self.max_events)
        if balanced != c:
            self.problem.set_line(self._line(balanced, c))
            follow(self.problem, max_events=self.max_events)

    # ---- following -------------------------------------------------------------------------------------------

    def _leg(self, a: Costs, b: Costs, t_from: float, t_to: float, fresh: bool = False) -> Leg:
        if not fresh:
            self.problem.set_line(self._line(a, b))
        seen, width = 0.0, abs(t_to - t_from)

        def report(u: float) -> None:
            nonlocal seen
            self.progress(width * (u - seen))
            seen = u

        follow(self.problem, max_events=self.max_events, progress=report)
        return Leg(self.problem.segments, t_from, t_to)

    def _legs(self, a: Costs, b: Costs, t_from: float, t_to: float) -> list[Leg]:
        """Follow from a to b; where a cost vanishes at b, in stages until nothing happens any more."""
        if min(b.C_plus, b.C_minus) > 0.0:
            return [self._leg(a, b, t_from, t_to)]
        legs: list[Leg] = []
        here, share, t = a, 1.0, t_from
        while True:
            self.problem.set_line(self._line(here, b), END_OF_VANISHING_LINE)
            piece = self.problem.piece(0.0)
            _, event = self.problem.next_event(piece, 0.0, False)
            if event is None or share < 1e-11:
                self.problem.set_line(self._line(here, b), END_OF_VANISHING_LINE)
                follow(self.problem, max_events=self.max_events)
                return [*legs, Leg(self.problem.segments, t, t_to)]
            share *= _STAGE
            near = Costs((1 - share) * b.C_plus + share * a.C_plus, (1 - share) * b.C_minus + share * a.C_minus)
            t_near = t_to + share * (t_from - t_to)
            legs.append(self._leg(here, near, t, t_near))
            here, t = near, t_near

    def _on_axis(self) -> Pieces:
        """One cost is zero all along: no multiplier, w = 0, and the other class decides b."""
        c = Costs(
            max(self.line.start.C_plus, self.line.stop.C_plus), max(self.line.start.C_minus, self.line.stop.C_minus)
        )
        b = 1.0 if c.C_plus > 0 else -1.0 if c.C_minus > 0 else 0.0
        empty = np.zeros(0)
        return Pieces(
            t=np.array([0.0, 1.0]),
            ptr=np.zeros(2, dtype=np.int64),
            index=np.zeros(0, dtype=np.int64),
            a0=empty,
            a1=empty,
            b0=np.array([b]),
            b1=np.array([b]),
            value=np.zeros((1, 3)),
            w=np.zeros((2, self.gram.X.shape[1])) if self.gram.linear else None,
            state=np.full(self.y.size, RIGHT, dtype=np.int8),
            changes=np.zeros((3, 0), dtype=np.int64),
        )
