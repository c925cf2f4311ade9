r"""Reduced hulls as a parametric box QP, how to start on them without a solver, and the paths of the 2nu-SVM.

Hull weights :math:`a=2\alpha/\nu` minimise :math:`\frac12a^\top Qa` with sum 1 in either class and caps
:math:`s_\pm/n_\pm`, :math:`s_\pm=1/\nu_\pm`. At :math:`s_+=s_-=1` every weight is at its cap: the hulls are the class
means. From this corner any other point is reached on a straight line, on which the caps of both classes grow. At fixed
asymmetry the path follows from its largest nu; there the two class sums move, and the caps stand still.

The hulls grow with s. Where they meet, w = 0: the line is left there (`Line.to_zero`), since below it there is no
classifier.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from paretoclf.checks import Array, check_number, check_pair
from paretoclf.errors import InputError
from paretoclf.gram import Gram
from paretoclf.nu import nu_max, to_classes
from paretoclf.path.box_qp import BoxQP
from paretoclf.path.build import assemble
from paretoclf.path.engine import follow
from paretoclf.path.events import LEFT
from paretoclf.path.legs import follow_leg, meter
from paretoclf.path.nu_path import FixedAsymmetry, HullLine, NuPath
from paretoclf.path.pieces import Pieces, prove
from paretoclf.path.quadratic import FeatureForm, GramForm, centre
from paretoclf.path.segments import Line
from paretoclf.samples import squares
from paretoclf.tolerances import NU_ROUNDING, SCORE_ROUNDING


class NuProblem(Protocol):
    """What is needed of a formulation: samples and labels."""

    @property
    def gram(self) -> Gram:
        """Kernel values."""
        ...

    @property
    def y(self) -> Array:
        """Labels."""
        ...


class Hulls:
    """A tracker of the reduced hulls of one data set, and where it stands: ``caps`` (s_plus, s_minus).

    Weights add up to ``total``, a number in [1, 2) of which the caps at the class means are whole parts, so that no
    rounding makes them add up to less. Samples are measured in a unit (a power of two, so that nothing is rounded) in
    which none is much longer than 1, and from their mean: neither changes the weights.
    """

    def __init__(self, gram: Gram, y: Array, max_events: int | None = None) -> None:
        self.gram, self.y, self.max_events = gram, y, max_events
        plus = y > 0
        self.n_plus, self.n_minus = int(plus.sum()), int((~plus).sum())
        scale = 2.0 ** np.floor(np.log2(self.n_plus * self.n_minus))
        self.total = self.n_plus * self.n_minus / scale
        self.bases = np.stack([plus, ~plus]).astype(np.float64)
        self.at_means = np.array([self.n_minus, self.n_plus]) / scale  # caps there
        X, self.mean = gram.features, None
        weights = self.at_means @ self.bases
        coef = y * weights  # of the difference of the class means
        if X is None:
            self.unit = _power(float(np.max(gram.diagonal())))
            K = gram.matrix if self.unit == 1.0 else gram.matrix / self.unit**2
            form: GramForm | FeatureForm = GramForm(K, y)
            scores = K @ coef
        else:
            self.mean = centre(X)
            X = X if self.mean is None else X - self.mean
            self.unit = _power(float(np.max(squares(X))))
            X = X / self.unit
            form = FeatureForm(X, y)
            scores = np.asarray(X @ (X.T @ coef))
        self.problem = BoxQP(form, np.zeros(y.size), np.ones(y.size), np.where(plus, 0, 1).astype(np.int64), 2)
        # At the class means. On any line from there the caps grow, and of either class the sample that is furthest on
        # its own side is the first to leave its cap.
        inner = y * scores
        first = [int(members[np.argmax(inner[members])]) for members in map(np.flatnonzero, (plus, ~plus))]
        self.problem.start(np.full(y.size, LEFT), first, self.line(np.ones(2), np.ones(2)))
        self.caps, self.meeting = np.ones(2), weights  # and the weights with which the hulls met
        largest = float(np.max(form.reach)) ** 2
        self.met = bool(scores @ coef <= (2 * self.total) ** 2 * SCORE_ROUNDING * largest)  # the means coincide
        self.lost = False  # it could not go where it was asked to

    def line(self, a: Array, b: Array, sums: float = 1.0) -> Line:
        """Line on which the caps go from a to b, as multiples of those at the class means.

        The class sums go from `total` to so much of it.
        """
        whole = np.full(2, self.total)
        return Line(self.bases, a * self.at_means, b * self.at_means, whole, sums * whole, to_zero=True)

    def go(self, caps: Array) -> bool:
        """Go straight to other caps, none smaller; False if the hulls meet on the way."""
        if not self.met and not np.array_equal(caps, self.caps):
            self.problem.set_line(self.line(self.caps, caps))
            self.problem.record_over()
            follow(self.problem, max_events=self.max_events)
            self.met = self.stopped
            if self.met:
                self.meeting = self._weights()
        self.caps = caps
        return not self.met

    def _weights(self) -> Array:
        """Weights at the end of the line that was recorded last."""
        problem, log, last = self.problem, self.problem.log, self.problem.segments - 1
        t = float(log.t[1, last]) if last >= 0 else 0.0
        weights = np.where(problem.state == LEFT, problem.caps(t), 0.0)
        weights[problem.index] = problem.piece(t).value.a[0]
        return weights

    @property
    def stopped(self) -> bool:
        """Whether the line that was recorded last ends where the hulls meet; exactly at its end they meet too."""
        log, last = self.problem.log, self.problem.segments - 1
        if last < 0 or log.t[1, last] < 1.0:
            return True
        sums = self.problem.line.e_end[0]
        return bool(sums > 0.0 and -log.eta[last, 1].sum() <= SCORE_ROUNDING * sums)

    def follow(self, line: Line, t_from: float, t_to: float, progress: Callable[[float], Any] | None) -> Pieces | None:
        """Follow a line from here, as the pieces of a path over t, in the unit of the data; none if the hulls meet."""
        self.problem.set_line(line)
        self.problem.record_from_here()
        leg = follow_leg(self.problem, t_from, t_to, self.max_events, progress)
        forward, backward = ([leg], []) if t_from < t_to else ([], [leg])
        log = self.problem.log
        if self.problem.segments == 0:
            return None
        pieces = assemble(log, forward, log, backward, None, self.gram.features is not None)
        return _scaled(_in_units(pieces, self), 1.0 / self.total)


def _power(square: float) -> float:
    """Power of two next to a length with this square, 1 if it is about 1."""
    return 1.0 if square == 0.0 or 0.25 <= square <= 4.0 else float(2.0 ** np.round(0.5 * np.log2(square)))


def _in_units(pieces: Pieces, hulls: Hulls) -> Pieces:
    """Scores in the unit of the data, measured from 0 and not from the mean."""
    u, P = hulls.unit, pieces
    w = None if P.w is None else u * P.w
    shift = np.zeros(P.t.size) if w is None or hulls.mean is None else w @ hulls.mean
    return replace(
        P, value=u**2 * P.value, w=w, rho0=u**2 * P.rho0, rho1=u**2 * P.rho1,
        b0=u**2 * P.b0 - shift[:-1], b1=u**2 * P.b1 - shift[1:],
    )  # fmt: skip


def _scaled(pieces: Pieces, s: float) -> Pieces:
    """Multipliers s times as large."""
    P = pieces
    return replace(
        P, a0=s * P.a0, a1=s * P.a1, value=s**2 * P.value, w=None if P.w is None else s * P.w, b0=s * P.b0,
        b1=s * P.b1, rho0=s * P.rho0, rho1=s * P.rho1,
    )  # fmt: skip


def _ends_trivial(pieces: Pieces, first: bool, nothing: bool = False) -> Pieces:
    """At one end of the path rho, b and w are 0, not only up to rounding: the hulls meet, or (nothing) nu is 0."""
    P = replace(pieces, **{name: getattr(pieces, name).copy() for name in ("a0", "b0", "b1", "rho0", "rho1", "value")})
    b, rho = (P.b0, P.rho0) if first else (P.b1, P.rho1)
    end = 0 if first else -1
    b[end] = rho[end] = 0.0
    if nothing:
        P.a0[: P.ptr[1]] = P.value[0, 0] = 0.0
    if P.w is None:
        return P
    w = P.w.copy()
    w[end] = 0.0
    return replace(P, w=w)


def trace_nu(
    svm: NuProblem,
    nu: Any,
    asymmetry: Any,
    *,
    certify: bool = True,
    max_events: int | None = None,
    progress: bool | None = None,
) -> NuPath:
    """Solve the 2nu-SVM at every nu of an interval at fixed asymmetry, exactly.

    Parameters
    ----------
    svm : TwoNuSVM
        The problem; only its samples and labels are used, no solver.
    nu : pair (lo, hi)
        Interval within [0, nu_max]; None for hi is nu_max. The path ends at nu_star if that is above lo.
    asymmetry : float
        In (0, 1).
    certify, max_events, progress
        As for `paretoclf.path.tracing.trace`.

    Raises
    ------
    InputError
        If nu or asymmetry is out of range, or every solution of the interval is trivial.
    DegeneratePathError
        If the path cannot be continued, or fails its certificate. No doubtful path is returned.

    References
    ----------
    Davenport, Baraniuk & Scott (2010), section 2, Proposition 2 and Theorem 3.

    Examples
    --------
    >>> from paretoclf.formulations.two_nu_svm import TwoNuSVM
    >>> from paretoclf.path.nu import trace_nu
    >>> svm = TwoNuSVM([[2.0], [1.0], [-0.5], [0.0], [-1.0], [-3.0]], [1, 1, 1, -1, -1, -1])
    >>> path = trace_nu(svm, nu=(0, None), asymmetry=0.5)
    >>> path.star.kind, round(path.star.lower, 9), round(path.star.upper, 9)
    ('trivial', 0.208333333, 0.208333333)
    """
    hulls, began = Hulls(svm.gram, svm.y, max_events), time.perf_counter()
    asymmetry = check_number(asymmetry, "asymmetry")
    if not 0 < asymmetry < 1:
        raise InputError(f"asymmetry must lie in (0, 1), got {asymmetry!r}")
    sizes = hulls.n_plus, hulls.n_minus
    top = nu_max(asymmetry, *sizes)
    lo, hi = check_pair(nu, "nu", default=top)
    if not 0 <= lo < hi <= top * (1 + NU_ROUNDING):
        raise InputError(
            f"nu must be a pair (lo, hi) with 0 <= lo < hi <= {top:.9g} (the largest feasible nu at asymmetry "
            f"{asymmetry:.6g}), got ({lo!r}, {hi!r})"
        )
    hi = min(hi, top)
    caps = 1.0 / np.minimum(to_classes(hi, asymmetry, *sizes), 1.0)
    pieces = None
    if hulls.go(caps):
        with meter(progress) as update:
            pieces = hulls.follow(hulls.line(caps, caps, lo / hi), hi, lo, update)
    if pieces is None:
        raise InputError(f"nu must reach above nu_star: at {hi:.9g} and below every solution is trivial, w = 0")
    pieces = _scaled(pieces, 0.5 * hi)
    if hulls.stopped or lo == 0.0:
        pieces = _ends_trivial(pieces, first=True, nothing=not hulls.stopped)
    path = NuPath(svm.gram, svm.y, FixedAsymmetry(asymmetry, *sizes), pieces, time.perf_counter() - began)
    if certify:
        prove(path)
    return path


def trace_hulls(
    svm: NuProblem,
    start: Any,
    stop: Any,
    *,
    certify: bool = True,
    max_events: int | None = None,
    progress: bool | None = None,
) -> NuPath:
    """Solve the 2nu-SVM on a line in (1/nu_plus, 1/nu_minus), exactly.

    Parameters
    ----------
    svm : TwoNuSVM
    start, stop : pair (nu_plus, nu_minus)
        In (0, 1]. Where the hulls meet on the way, the path ends there; if they meet at start, it comes from stop.
    certify, max_events, progress
        As for `paretoclf.path.tracing.trace`.

    Raises
    ------
    InputError
        If start or stop is no such pair, they are the same, or the solution is trivial at both.
    DegeneratePathError
        As for `trace_nu`.

    Examples
    --------
    >>> from paretoclf.formulations.two_nu_svm import TwoNuSVM
    >>> from paretoclf.path.nu import trace_hulls
    >>> svm = TwoNuSVM([[2.0], [1.0], [0.0], [-1.0], [-3.0]], [1, 1, -1, -1, -1])
    >>> path = trace_hulls(svm, start=(1, 1), stop=(0.5, 0.5))
    >>> [round(path.rho(t), 6) for t in (0, 0.5, 1)], path.worst_certificate.passes(1e-12)
    ([1.7, 0.42, 0.24], True)
    """
    began, ends = time.perf_counter(), [_classes(start, "start"), _classes(stop, "stop")]
    if ends[0] == ends[1]:
        raise InputError(f"stop must differ from start, got {ends[1]} for both")
    s = [1.0 / np.array(end) for end in ends]
    pieces = None
    for first in (0, 1):
        hulls = Hulls(svm.gram, svm.y, max_events)
        if hulls.go(s[first]):
            with meter(progress) as update:
                pieces = hulls.follow(hulls.line(s[first], s[1 - first]), float(first), float(1 - first), update)
        if pieces is not None:
            break
    if pieces is None:
        raise InputError("start or stop must have reduced hulls that do not meet: at both the solution is trivial")
    if hulls.stopped:
        pieces = _ends_trivial(pieces, first=first == 1)
    line = HullLine(ends[0], ends[1], hulls.n_plus, hulls.n_minus)
    path = NuPath(svm.gram, svm.y, line, pieces, time.perf_counter() - began)
    if certify:
        prove(path)
    return path


def _classes(given: Any, name: str) -> tuple[float, float]:
    pair = check_pair(given, name, "(nu_plus, nu_minus)")
    if not (0 < pair[0] <= 1 and 0 < pair[1] <= 1):
        raise InputError(f"{name} must be a pair (nu_plus, nu_minus) within (0, 1], got {given!r}")
    return pair
