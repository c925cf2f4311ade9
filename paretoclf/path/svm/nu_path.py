r"""Paths of the 2nu-SVM: the reduced hulls as a parametric box QP, and how to start on them without a solver.

Hull weights :math:`a=2\alpha/\nu` minimise :math:`\frac12a^\top Qa` with sum 1 in either class and caps
:math:`s_\pm/n_\pm`, :math:`s_\pm=1/\nu_\pm`. At :math:`s_+=s_-=1` every weight is at its cap: the hulls are the class
means. From this corner any other point is reached on a straight line, on which the caps of both classes grow. At fixed
asymmetry the path follows from its largest nu; there the two class sums move, and the caps are constant.

The hulls grow with s. Where they meet, w = 0: the line is left there (``Line.to_zero``), since below it there is no
classifier.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import DegeneratePathError, InputError, Stop, StoppedError
from paretoclf.common.progress import NO_LIMITS, PathLimits, meter, reaching
from paretoclf.common.tolerances import NU_ROUNDING, SCORE_ROUNDING, WHOLE_RANK
from paretoclf.engine.box import AnyBox, no_log
from paretoclf.engine.boxes import make_tracker
from paretoclf.engine.engines import first_found, turns
from paretoclf.engine.reduction.program import between
from paretoclf.engine.segments import Line
from paretoclf.engine.sets import LEFT
from paretoclf.path.svm.rho_margin import with_lower_rho
from paretoclf.path.svm.slope_or_kernel import linear_or_kernel
from paretoclf.path.svm_lines.stages import Stage, assemble, one_way
from paretoclf.path.svm_lines.stopping import finished
from paretoclf.path.svm_lines.svm_path import OnPieces, proved, with_proved_values
from paretoclf.problem.classifiers import NoRule, Rule
from paretoclf.problem.costs import Costs
from paretoclf.problem.gram import Gram
from paretoclf.problem.lines import FixedAsymmetry, HullLine, Labelled, LineOfNu
from paretoclf.problem.nu import caps_of, equivalent_costs
from paretoclf.problem.operator.signed import Signed, centre
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.problem.pieces import Pieces
from paretoclf.problem.samples import distinct
from paretoclf.proof.lines.hull_lines import prove_hulls
from paretoclf.proof.points.hulls import Graded, grade_hulls, moved_by_rounding
from paretoclf.proof.points.meeting import largest_cancelling, proved_to_meet
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.segments.line_proof import LineProof
from paretoclf.proof.segments.stored_segments import totals
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.proof.verdicts.evidence import Evidence, Judged
from paretoclf.proof.verdicts.exact_bounds import ExactBounds
from paretoclf.proof.verdicts.solution import Solution

_ONE_POINT = 1e-8  # two ends of a piece are one where it is so much shorter than the next


class Hulls:
    """Engine on the reduced hulls of one data set; it stands at some caps (s_plus, s_minus), and is moved to others.

    Weights of either class add up to ``total``, a number in [1, 2) of which the caps at the class means are whole
    parts, so that no rounding makes them add up to less. Samples are measured in a unit (a power of two, so that
    nothing is rounded) in which none is much longer than 1, and from their mean: neither changes the weights. A sample
    may stand for several ``copies``, whose weights it has together. Without a tracker each line is followed on its own.
    """

    def __init__(
        self,
        gram: Gram,
        y: Array,
        limits: PathLimits = NO_LIMITS,
        engine: str | None = None,
        copies: Array | None = None,
    ) -> None:
        self.gram, self.y, (self.max_events, deadline) = gram, y, limits
        plus = y > 0
        copies = np.ones(y.size) if copies is None else copies
        self.n_plus = int(copies[plus].sum())
        self.n_minus = int(copies[~plus].sum())
        scale = 2.0 ** np.floor(np.log2(self.n_plus * self.n_minus))
        self.total = self.n_plus * self.n_minus / scale
        rows = np.stack([plus, ~plus]).astype(np.float64)
        self.bases = rows * copies
        self.at_means = np.array([self.n_minus, self.n_plus]) / scale  # caps there
        Q = gram.quadratic
        self.mean = centre(Q)
        coef = y * (self.at_means @ self.bases)  # of the difference of the class means
        Q = Q.centred(self.mean)
        self.unit = _power(Q.length2)
        Q = Q.over(self.unit)
        form = Signed(Q, y)
        scores = Q.times(coef)
        caps = np.stack([self.at_means @ self.bases] * 2)
        problem = ParametricQP.box(form, np.zeros(y.size), rows, caps, self.total)
        # At the class means. On any line from there the caps grow, and of either class the sample that is furthest on
        # its own side is the first to leave its cap.
        inner = y * scores
        state = np.full(y.size, LEFT, dtype=np.int8)
        classes = [np.flatnonzero(side) for side in (plus, ~plus)]
        first = np.array([members[np.argmax(inner[members])] for members in classes])
        self.problem = make_tracker(engine, problem, deadline) or AnyBox(problem, engine, *limits)
        self.basis, self.last = (state, first), self.line(np.ones(2), np.ones(2))
        self.log = no_log(y.size, 2)
        if not isinstance(self.problem, AnyBox):
            self.problem.start(state, first, self.last)
        self.caps = np.ones(2)
        largest = float(np.max(form.reach)) ** 2
        self.largest = self.unit**2 * largest  # of the squared lengths, from the mean where there are features
        rounding = (2 * self.total) ** 2 * SCORE_ROUNDING * largest
        self.met = bool(scores @ coef <= rounding)  # the means coincide
        self.lost = False  # it could not go where it was asked to
        self.halt: Stop | None = None  # what ended the line that was followed last, before its end

    def line(self, a: Array, b: Array, sums: float = 1.0) -> Line:
        """Line on which the caps go from a to b, as multiples of those at the class means.

        The sums of both classes go from `total` to ``sums`` times that.
        """
        whole = np.full(2, self.total)
        start, end = a * self.at_means, b * self.at_means
        return Line(self.bases, start, end, whole, sums * whole, to_zero=True)

    def go(self, caps: Array) -> bool:
        """Go straight to other caps, none smaller; False if the hulls meet on the way."""
        if not self.met and not np.array_equal(caps, self.caps):
            self.walk(self.line(self.caps, caps), at=np.ones(1))
            self.met = self.stopped
        self.caps = caps
        return not self.met

    def walk(self, line: Line, at: Array | None = None, progress: Callable[[float], Any] | None = None) -> None:
        """Follow a line that begins where the engine stands; `at`: parameters at which its log is wanted."""
        self.last = line
        if isinstance(self.problem, AnyBox):
            self.log = self.problem.along(line, self.basis, progress)
            self.basis = self.problem.basis
            return
        self.problem.set_line(line)
        self.problem.record_from_here(at=at)
        try:
            self.problem.follow(self.max_events, reaching(progress))
        finally:
            self.log = self.problem.log

    @property
    def n_margin(self) -> int | None:
        """Size of the margin set, where it is known."""
        return None if isinstance(self.problem, AnyBox) else int(self.problem.index.size)

    @property
    def meeting(self) -> Array:
        """Weights with which the hulls met: those at the end of the line that was followed last."""
        return self.problem.weights(float(self.log.t[1, -1]) if self.log.segments else 0.0)

    def check_meeting(self, weights: Array | None = None) -> None:
        """DegeneratePathError unless some weights prove that the hulls meet; by default those with which they met."""
        weights = self.meeting if weights is None else weights
        if not proved_to_meet(self.gram, self.y, np.array([weights.sum()]), weights[:, None])[0]:
            where = "nu_plus = {:.6g}, nu_minus = {:.6g}".format(*(1.0 / self.caps))
            raise _too_close(where, self.n_margin)

    @property
    def stopped(self) -> bool:
        """Whether the line that was followed last ends where the hulls meet, its very end included."""
        log = self.log
        if self.halt is not None:
            return False
        if not log.segments or log.t[1, -1] < 1.0:
            return True
        sums = self.last.e_end[0]
        return bool(sums > 0.0 and -log.eta[-1, 1].sum() <= SCORE_ROUNDING * sums)

    def follow(self, line: Line, t_from: float, t_to: float, progress: Callable[[float], Any] | None) -> Pieces | None:
        """Follow a line from here: pieces of a path over t, in the unit of the data; none if the hulls meet.

        What is followed when it is stopped stands, and the reason is ``halt``; the error if that is nothing.
        """
        width = abs(t_to - t_from)
        try:
            self.walk(line, progress=None if progress is None else lambda u: progress(width * u))
        except (StoppedError, KeyboardInterrupt) as stopped:
            if isinstance(self.problem, AnyBox) or not self.log.segments:
                raise
            self.halt = stopped
        log = self.log
        if not log.segments:
            return None
        found = one_way(log, Stage(0, log.segments, t_from, t_to))
        pieces = assemble(found, None, bool(self.gram.quadratic.width))
        unit = self.unit  # scores in that of the data, measured from 0 and not from the mean
        in_data = pieces.scaled(w=unit, b=unit**2, value=unit**2).from_origin(self.mean)
        return _times(in_data, 1.0 / self.total)


def _power(square: float) -> float:
    """Power of two next to a length with this square, 1 if it is about 1."""
    if square == 0.0 or 0.25 <= square <= 4.0:
        return 1.0
    exponent = np.round(0.5 * np.log2(square))
    return float(2.0**exponent)


def _times(pieces: Pieces, s: float) -> Pieces:
    """Pieces whose multipliers are s times as large, with all that goes with them."""
    return pieces.scaled(s, s, s, s**2)


def _too_close(where: str, n_margin: int | None) -> DegeneratePathError:
    """Error for hulls of which double precision cannot tell whether they meet."""
    return DegeneratePathError(
        "the reduced hulls are so close that double precision cannot tell whether they meet",
        t=None,
        costs=where,
        n_margin=n_margin,
        remedy="End the path before that, or use a narrower kernel.",
    )


def _down_to_the_meeting(
    hulls: Hulls, along: FixedAsymmetry | HullLine, pieces: Pieces | None, first: bool, nothing: InputError
) -> tuple[Pieces, bool]:
    """Pieces as far as the hulls do not meet, and whether they do at the end; the error if nothing is left."""
    if pieces is None:
        hulls.check_meeting()
        raise nothing
    sums = pieces.t if isinstance(along, FixedAsymmetry) else np.full(pieces.t.size, 2.0)
    unit = hulls.largest * sums  # of scores
    if pieces.w is not None:  # scores of a slope that is more than rounding are known as well as it is
        terms = np.sqrt(hulls.largest * np.vecdot(pieces.w, pieces.w))
        known = terms > SCORE_ROUNDING * unit
        unit = np.where(known, np.minimum(terms, unit), unit)
    left, beyond = _until_meeting(pieces, first, unit)
    if left is None:
        hulls.check_meeting(hulls.problem.weights(0.0))
        raise nothing
    return left, beyond or hulls.stopped


def _until_meeting(pieces: Pieces, first: bool, unit: Array) -> tuple[Pieces | None, bool]:
    """Pieces without those beyond the hulls' meeting (None if that is all), and whether they meet at the end.

    Where rho is 0 up to rounding (of numbers of this unit, at every knot) the tracker may go on along noise: no event
    ends it there. The end is the first knot of the path, or its last.
    """
    last = pieces.rho0.size
    parts = (pieces.rho0, pieces.rho1[-1]) if first else (pieces.rho0[0], pieces.rho1)
    rho = np.append(*parts)  # at each knot
    meets = (rho <= SCORE_ROUNDING * unit) & (unit > 0.0)
    met = np.flatnonzero(meets).tolist()
    if meets.all():
        return None, True
    if not met or last == 1:
        return pieces, False
    if first:
        return pieces.part(min(met[-1], last - 1), last), True
    return pieces.part(0, max(met[0], 1)), True


def _from_the_meeting(path: NuPath) -> NuPath:
    """Path without a first piece so short that its two ends are one up to rounding: the second begins there.

    Where events coincide with the meeting, rounding sets them apart; next to it scores are too small to be judged.
    """
    P = path.pieces
    if P.rho0.size < 2 or P.t[1] - P.t[0] > _ONE_POINT * (P.t[2] - P.t[0]):
        return path
    rest = P.part(1, P.rho0.size)
    behind = slice(int(rest.ptr[1]), None)  # entries of the pieces after the one that is made longer
    # Whoever is in the margin set of one of the two pieces, or leaves its bound between them, moves on their union.
    entering = P.changes[1, P.changes[0] == 1]
    moving = np.union1d(P.index[: P.ptr[2]], entering)
    start, end = (path._stored(float(t))[moving] for t in P.t[[0, 2]])
    t, value = rest.t.copy(), rest.value.copy()
    t[0] = P.t[0]
    value[0, [0, 2]] = 0.0, value[0, 1]  # w grows from 0 in proportion
    ptr = rest.ptr + (moving.size - rest.ptr[1])
    ptr[0] = 0
    pieces = replace(
        rest,
        t=t,
        ptr=ptr,
        index=np.concatenate([moving, rest.index[behind]]),
        a0=np.concatenate([start, rest.a0[behind]]),
        a1=np.concatenate([end, rest.a1[behind]]),
        b0=np.concatenate([P.b0[:1], rest.b0[1:]]),
        rho0=np.concatenate([P.rho0[:1], rest.rho0[1:]]),
        value=value,
        w=None if P.w is None else np.concatenate([P.w[:1], P.w[2:]]),
    )
    return replace(path, pieces=pieces)


def _with_cancelling(path: NuPath, end: int) -> NuPath:
    """Path with multipliers that cancel sample by sample at its end (0 or -1), if those found do up to rounding.

    For an RBF kernel the hulls meet in no other way: it is known where, and with which weights, but for which copies of
    a sample have them.
    """
    if not path.gram.strict:
        return path
    P = path.pieces
    which = distinct(path.gram.X)
    caps_along, sums_along = path._caps_along, path.soft_margin.nu
    j = end % path.n_margin.size
    t = float(P.t[end])
    neighbour = float(P.t[1] if end == 0 else P.t[-2])
    length = neighbour - t

    def excess(u: float) -> float:
        """Largest sum of multipliers that cancel at u, less the sum that multipliers have there."""
        most, _ = largest_cancelling(which, path.y, between(caps_along, u))
        return float(most - between(sums_along, u))

    # The hulls meet where there is no excess: one step of Newton's method from where the tracker ended.
    step = 1e-3 * length
    rate = (excess(t + step) - excess(t)) / step
    at = t if rate == 0.0 else t - excess(t) / rate
    caps = between(caps_along, at)
    found = path._stored(t, j) / path._unit(t)
    wanted = _cancelling(which, path.y, caps, found)
    if abs(at - t) > _ONE_POINT * abs(length) or (np.abs(wanted - found) > _ONE_POINT * caps).any():
        return path
    entries = path._entries(j)
    name, ends = ("a0", "a1")[end], P.t.copy()
    multipliers = getattr(P, name).copy()
    multipliers[entries] = wanted[P.index[entries]]
    ends[end] = at
    return replace(path, pieces=replace(P, t=ends, **{name: multipliers}))


def _cancelling(which: Index, y: Array, caps: Array, near: Array) -> Array:
    """Multipliers (n,) that cancel sample by sample with the largest sum, shared between copies as those near are."""
    sides = y > 0, y < 0
    most, present = ([np.bincount(which, np.where(side, each, 0.0)) for side in sides] for each in (caps, near))
    goal = np.minimum(*most)  # of each distinct sample in either class
    cancelling = np.zeros(y.size)
    for side, largest, found in zip(sides, most, present, strict=True):
        factor = np.divide(goal, found, out=np.zeros(goal.size), where=np.greater(found, 0.0))
        shared = np.minimum(near * factor[which], caps)
        all_at_cap = (goal == largest)[which]
        cancelling[side] = np.where(all_at_cap, caps, shared)[side]
    return cancelling


def _meets(path: NuPath, t: float) -> bool:
    """Whether the path's multipliers at its end t prove that the hulls meet there."""
    alpha = path.alpha(t)
    (meet,) = proved_to_meet(path.gram, path.y, np.array([alpha.sum()]), alpha[:, None])
    return bool(meet)


def _check_meeting(path: NuPath, t: float) -> None:
    """DegeneratePathError unless the path's multipliers at its end t prove that the hulls meet there."""
    if not _meets(path, t):
        raise _too_close(f"{path.parameter} = {t:.6g}", int(path.n_margin.max()))


def _ends_trivial(pieces: Pieces, first: bool, nothing: bool = False) -> Pieces:
    """Set rho, b, w and value at one end of the path to 0, which they are but for rounding.

    Either the hulls meet there, or nu is 0 (``nothing``), and no multiplier is left.
    """
    names = ["a0", "b0", "b1", "rho0", "rho1", "value", *([] if pieces.w is None else ["w"])]
    P = replace(pieces, **{name: getattr(pieces, name).copy() for name in names})
    b, rho = (P.b0, P.rho0) if first else (P.b1, P.rho1)
    end = 0 if first else -1
    there, other = (0, 1) if first else (1, 0)  # columns of the value
    b[end] = rho[end] = P.value[end, there] = 0.0
    P.value[end, 2] = P.value[end, other]  # w grows from 0 in proportion, so that the value is a square
    if nothing:
        P.a0[: P.ptr[1]] = 0.0
    if P.w is not None:
        P.w[end] = 0.0
    return P


def trace_nu(
    svm: Labelled,
    nu: Any,
    asymmetry: Any,
    *,
    engine: str | None = None,
    certify: bool = True,
    limits: PathLimits = NO_LIMITS,
    progress: bool | None = None,
) -> NuPath:
    """Solve the 2nu-SVM at every nu of an interval at fixed asymmetry, exactly.

    For the arguments see `paretoclf.path.tracing.trace`. Only samples and labels of the problem are used, no solver.

    Raises
    ------
    InputError
        If nu or asymmetry is out of range, or every solution of the interval is trivial.

    References
    ----------
    Davenport, Baraniuk & Scott (2010), section 2, Proposition 2 and Theorem 3.

    Examples
    --------
    >>> from paretoclf.formulations.two_nu_svm import TwoNuSVM
    >>> from paretoclf.path.svm.nu_path import trace_nu
    >>> svm = TwoNuSVM([[2.0], [1.0], [-0.5], [0.0], [-1.0], [-3.0]], [1, 1, 1, -1, -1, -1])
    >>> path = trace_nu(svm, nu=(0, None), asymmetry=0.5)
    >>> path.star.kind, round(path.star.lower, 9), round(path.star.upper, 9)
    ('trivial', 0.208333333, 0.208333333)
    """
    began, line = time.perf_counter(), LineOfNu.of(svm, nu=nu, asymmetry=asymmetry)
    if svm.gram.strict:
        caps = caps_of(float(asymmetry), svm.y)
        if line.ends[1] <= largest_cancelling(distinct(svm.gram.X), svm.y, caps)[0] * (1 + NU_ROUNDING):
            raise _all_trivial(line.ends[1])

    def traced(name: str, as_proved: bool = False) -> NuPath:
        """Path by one engine: proved if that is asked for, or as far as it is proved."""
        hulls = Hulls(svm.gram, svm.y, limits, name)
        with meter(progress) as update:
            path, met = _down(hulls, line, update, began)
        if as_proved:
            return finished(_as_proved(path, met), False, hulls.halt)
        if met:
            _check_meeting(path, float(path.pieces.t[0]))
        return finished(path, certify, hulls.halt)

    names, (lowest, _) = turns(engine), nu
    attempts, as_proved = [partial(traced, name) for name in names], partial(traced, names[-1], True)
    if lowest is None:
        return first_found([*attempts, as_proved])
    try:
        return first_found(attempts)
    except StoppedError:
        raise
    except DegeneratePathError as error:
        with suppress(DegeneratePathError, InputError):
            error.args = (f"{error} {_from_where(as_proved())}",)
        raise


def _from_where(path: NuPath) -> str:
    """Sentence on where a path begins that ends where it is no longer proved."""
    lo, hi = path.t[[0, -1]]
    others = path.proof.of_other_values()
    end = f"With nu = (None, {hi:.6g}) it ends where it is no longer proved, at nu = {lo:.6g}"
    if not others.size:
        return f"{end}."
    last = float(path.t[others[-1] + 1])
    step = 10.0 ** (math.floor(math.log10(last)) - 5)  # of six digits, rounded upwards: just below they are not
    first = math.ceil(last / step) * step
    own = f"known well enough from nu = {first:.6g} on" if first < hi else "nowhere known well enough"
    return f"{end}, of the kernel values as rounded; the kernel's own are {own}."


def _down(hulls: Hulls, line: LineOfNu, progress: Callable[[float], Any] | None, began: float) -> tuple[NuPath, bool]:
    """Path from the largest nu down, and whether the hulls meet at its end; InputError where it has no length."""
    lo, hi = line.ends
    along = line.along
    assert isinstance(along, FixedAsymmetry)
    caps = 1.0 / np.minimum(along.classes(hi), 1.0)
    found = None
    if hulls.go(caps):
        down = hulls.line(caps, caps, lo / hi)
        found = hulls.follow(down, hi, lo, progress)
    scaled = None if found is None else _times(found, 0.5 * hi)
    pieces, met = _down_to_the_meeting(hulls, along, scaled, True, _all_trivial(hi))
    if met or (lo == 0.0 and hulls.halt is None):
        pieces = _ends_trivial(pieces, first=True, nothing=not met)
    seconds = time.perf_counter() - began
    path = NuPath(line.gram, line.y, along, pieces=pieces, seconds=seconds)
    if met:
        path = _from_the_meeting(path)
        path = path if _meets(path, float(path.t[0])) else _with_cancelling(path, 0)
    return with_lower_rho(path), met


def _as_proved(path: NuPath, met: bool) -> NuPath:
    """Path down to where it is proved, and so is the meeting of the hulls if it ends there."""
    if met and not _meets(path, float(path.pieces.t[0])):
        path = _without_first(path, 1)
    path = with_proved_values(path)  # a value that is rounding is no reason to end above it
    while (failed := path.proof.failures()).size:
        path = _without_first(path, int(failed[-1]) + 1)
    return proved(path)


def _without_first(path: NuPath, pieces: int) -> NuPath:
    """Path without so many pieces at its beginning; DegeneratePathError if no other is left."""
    if pieces == path.pieces.b0.size:
        raise _too_close(f"{path.parameter} = {path.pieces.t[-1]:.6g}", int(path.n_margin.max()))
    return replace(path, pieces=path.pieces.part(pieces, path.pieces.b0.size))


def _all_trivial(hi: float) -> InputError:
    """Error for an interval of nu on which every solution is trivial."""
    return InputError(f"nu must reach above nu_star: at {hi:.9g} and below every solution is trivial, w = 0")


def trace_hulls(
    svm: Labelled,
    start: Any,
    stop: Any,
    *,
    engine: str | None = None,
    certify: bool = True,
    limits: PathLimits = NO_LIMITS,
    progress: bool | None = None,
) -> NuPath:
    """Solve the 2nu-SVM on a line in (1/nu_plus, 1/nu_minus), exactly.

    For the arguments see `paretoclf.path.tracing.trace`. If the hulls meet at start, the path comes from stop.

    Raises
    ------
    InputError
        If start or stop is no such pair, they are the same, or the solution is trivial at both.

    Examples
    --------
    >>> from paretoclf.formulations.two_nu_svm import TwoNuSVM
    >>> from paretoclf.path.svm.nu_path import trace_hulls
    >>> svm = TwoNuSVM([[2.0], [1.0], [0.0], [-1.0], [-3.0]], [1, 1, -1, -1, -1])
    >>> path = trace_hulls(svm, start=(1, 1), stop=(0.5, 0.5))
    >>> [round(path.rho(t), 6) for t in (0, 0.75, 1)], path.worst_certificate.passes(1e-12)
    ([1.7, 0.317143, 0.24], True)
    """
    began, line = time.perf_counter(), LineOfNu.of(svm, start, stop)

    def traced(name: str) -> NuPath:
        """Path by one engine, proved if that is asked for."""
        path, met, halt = _across(line, name, limits, progress, began)
        if met is not None:
            _check_meeting(path, float(path.pieces.t[met]))
        return finished(path, certify, halt)

    return first_found(partial(traced, name) for name in turns(engine))


def _across(
    line: LineOfNu, engine: str, limits: PathLimits, progress: bool | None, began: float
) -> tuple[NuPath, int | None, Stop | None]:
    """Path from the end whose hulls do not meet; the end (0 or -1) of it at which they do, if any; what stopped it."""
    along = line.along
    assert isinstance(along, HullLine)
    s = [1.0 / np.array(end) for end in (along.start, along.stop)]
    pieces = None
    for first in (0, 1):
        other = 1 - first
        hulls = Hulls(line.gram, line.y, limits, engine)
        if hulls.go(s[first]):
            with meter(progress) as update:
                across = hulls.line(s[first], s[other])
                pieces = hulls.follow(across, float(first), float(other), update)
        if pieces is not None:
            break
    backward = first == 1
    nothing = InputError("start or stop must have reduced hulls that do not meet: at both the solution is trivial")
    pieces, met = _down_to_the_meeting(hulls, along, pieces, backward, nothing)
    if met:
        pieces = _ends_trivial(pieces, first=backward)
    path = NuPath(line.gram, line.y, along, pieces=pieces, seconds=time.perf_counter() - began)
    if met and not _meets(path, float(path.t[first - 1])):
        path = _with_cancelling(path, first - 1)
    return with_lower_rho(path), (first - 1 if met else None), hulls.halt


# ---- the paths -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NuStar:
    r"""Largest nu whose solution is trivial, proved by a pair of points of the linear program that defines it.

    :math:`\nu_*=\max1^\top\alpha` over :math:`0\le\alpha_i\le c_i` with :math:`\sum_i\alpha_iy_ix_i=0` and
    :math:`y^\top\alpha=0`; the dual is :math:`\min_{w,b}\sum_ic_i\max(0,1-y_i(w\cdot x_i+b))`.

    Attributes
    ----------
    nu : float
        Where the path found it.
    lower : float
        Sum of multipliers that cancel: at every nu up to it w = 0.
    upper : float
        Hinge loss of `rule`: above it no such multipliers exist.
    residual : float
        ``|w|`` of the cancelling multipliers, relative to what they would reach if they did not cancel.
    rule : Rule
        With ``kind="trivial"`` the limit of the classifiers above nu, scaled to margin 1; with ``kind="separating"``
        (nu = 0) one that separates the classes.
    """

    nu: float
    lower: float
    upper: float
    residual: float
    rule: Rule = field(repr=False)

    @property
    def kind(self) -> str:
        """``"separating"`` if nu_star is 0, else ``"trivial"``."""
        return "separating" if self.nu == 0.0 else "trivial"


@dataclass(frozen=True)
class NuPath(OnPieces):
    r"""Solutions of the 2nu-SVM along a line of its parameters, down to where the solution is trivial.

    Attributes
    ----------
    gram : Gram
    y : array of shape (n,)
    line : FixedAsymmetry or HullLine
        What the parameter t is: nu itself, or the position on a line in (1/nu_plus, 1/nu_minus).
    pieces : Pieces
        The stored solution. On a HullLine it is that of the reduced hulls, whose multipliers are affine in t: those of
        the 2nu-SVM times :math:`2/\nu`.
    seconds : float
        Time that tracing took, certificates excluded.

    Notes
    -----
    Multipliers and w are continuous and piecewise affine in t; b and rho are too, with jumps where
    ``nu_plus n_plus`` or ``nu_minus n_minus`` is a whole number and all values in between are optimal. On a whole range
    of such t (an edge ``nu_plus = 1``, a line with one of the two fixed) the path takes the end of the interval that
    is affine there; `at` gives the interval.

    Next to nu = 0, and where the costs of one class are tiny, rho is below the smallest margin of free samples by what
    rounding can make of margins: a slack of 1e-16 nu would cost more than the value, which is of order nu squared.

    References
    ----------
    Davenport, Baraniuk & Scott (2010), section 2, Theorem 3.
    """

    line: FixedAsymmetry | HullLine

    no_page = "of nu, whose margins are at distances that move, not at f = 1 and f = -1"
    equations = 2

    def __repr__(self) -> str:
        lo, hi = self.breakpoints[[0, -1]]
        if isinstance(self.line, FixedAsymmetry):
            return self._printed(f"nu {lo:g} to {hi:g}, asymmetry={self.line.asymmetry:g}")
        pairs = f"(nu_plus, nu_minus) {_pair(self.line.start)} to {_pair(self.line.stop)}"
        return self._printed(f"t {lo:g} to {hi:g}, {pairs}")

    @property
    def parameter(self) -> str:
        """Name of t in messages: ``"nu"``, or ``"t"`` on a line of pairs."""
        return "nu" if isinstance(self.line, FixedAsymmetry) else "t"

    @property
    def _whole_line(self) -> LineOfNu:
        lo, hi = (float(t) for t in self.pieces.t[[0, -1]])
        return LineOfNu(self.gram, self.y, self.line, (lo, hi))

    @cached_property
    def star(self) -> NuStar | None:
        """Largest nu whose solution is trivial, at fixed asymmetry; None if the path does not get that far."""
        if not isinstance(self.line, FixedAsymmetry):
            return None
        low, above = (float(t) for t in self.pieces.t[:2])
        trivial = low > 0.0 and self.rho(low) == 0.0
        if not trivial and max(self._ranks(low)) > 1.0:
            return None
        at = 0.5 * (low + above) if trivial or low == 0.0 else low  # inside the last piece: w, b and rho go to 0 there
        coef = self.y * self.alpha(at)
        b, w = self._intercept(at), self._stored_slope(at)
        margins = self.y * (self.gram.quadratic.scores(coef, w) + b)
        unit = self.rho(at) if trivial else float(margins.min())
        slacks = np.maximum(0.0, 1.0 - margins / unit)
        cancelling = self.alpha(low) if trivial else np.zeros(self.y.size)
        slope = None if w is None else w / unit
        return NuStar(
            nu=low if trivial else 0.0,
            lower=float(cancelling.sum()),
            upper=float(self.caps(low) @ slacks),
            residual=self._remainder(cancelling),
            rule=linear_or_kernel(self.gram, coef / unit, slope, b / unit),
        )

    def _remainder(self, alpha: Array) -> float:
        """Norm of w of multipliers that cancel, relative to its largest for multipliers with the same sum."""
        coef = alpha * self.y
        norm2 = float(coef @ self.gram.matvec(coef))
        longest = float(np.sqrt(np.max(self.gram.diagonal())))
        largest = float(alpha.sum()) * longest
        return float(np.sqrt(max(norm2, 0.0))) / largest if largest > 0.0 else 0.0

    @property
    def _sizes(self) -> tuple[int, int]:
        """Numbers of positives and of negatives."""
        return self.line.n_plus, self.line.n_minus

    def _ranks(self, t: float) -> list[float]:
        """Products ``nu_plus n_plus`` and ``nu_minus n_minus`` at t."""
        return [nu * size for nu, size in zip(self.line.classes(t), self._sizes, strict=True)]

    def _unit(self, t: float) -> float:
        return 0.5 * self.line.nu(t)[0] if isinstance(self.line, HullLine) else 1.0

    def _knot_margins(self) -> tuple[Array, Array]:
        return np.abs(self.pieces.rho0), np.abs(self.pieces.rho1)

    @property
    def variables(self) -> tuple[str, ...]:
        """``"w"`` where the kernel is linear, ``"b"``, and the margin ``"rho"``."""
        return (*super().variables, "rho")

    @property
    def bent(self) -> tuple[str, ...]:
        """Names of all numbers, ``"value"`` included, on a line of pairs: there the weights of the hulls are affine."""
        return () if self.parameter == "nu" else ("value", *self.variables, *self.duals)

    def parameters(self, t: float) -> dict[str, Any]:
        """Values at t of nu, or of nu_plus and nu_minus if they move."""
        if isinstance(self.line, FixedAsymmetry):
            return {"nu": t}
        ends = zip(("nu_plus", "nu_minus"), self.line.start, self.line.stop, self.line.classes(t), strict=True)
        return {name: at for name, first, last, at in ends if first != last}

    def costs(self, t: float) -> Costs | None:
        """Costs at which the 2C-SVM has the same classifier up to scale (Theorem 2); None where rho = 0."""
        rho = self.rho(t)  # which refuses several t, before the line computes with them
        _, asymmetry = self.line.nu(t)
        return equivalent_costs(asymmetry, rho, self.y.size)

    def caps(self, t: float) -> Array:
        """Upper bounds of the multipliers at t, shape (n,)."""
        _, asymmetry = self.line.nu(self._inside(t))
        return caps_of(asymmetry, self.y)

    def rho(self, t: float) -> float:
        """Margin of the path at t; where the hulls meet it is 0."""
        t = self._inside(t)
        stored = self._between(self.pieces.rho0, self.pieces.rho1, t)
        return max(0.0, float(stored))

    def _at(self, t: float) -> Solution:
        evidence, rho = Evidence(partial(self._judged, t)), self.rho(t)
        interval, notes = None, tuple[str, ...]()
        if self._whole(t):
            best = evidence.numbers["thresholds"]
            if not best.unique:
                interval = best.b_interval
                notes = (f"Not unique: every intercept in [{interval[0]:.6g}, {interval[1]:.6g}] is optimal.",)
        nu, asymmetry = self.line.nu(t)
        rule = self._rule_at(t, interval)
        if rho == 0.0:
            reason = f"trivial: w = 0 at nu = {nu:.6g}, and there is no classifier"
            rule, notes = NoRule(reason), (reason,)
        return Solution(
            classifier=rule,
            evidence=evidence,
            source="path",
            values={"nu": nu, "asymmetry": asymmetry},
            costs=self.costs(t),
            notes=notes,
        )

    def _whole(self, t: float) -> bool:
        """Whether nu_plus n_plus or nu_minus n_minus is a whole number, so that intercepts may not be unique."""
        for rank, size in zip(self._ranks(t), self._sizes, strict=True):
            if math.isfinite(rank) and abs(rank - round(rank)) <= WHOLE_RANK * size:
                return True
        return False

    def _most_multipliers(self) -> Array:
        ends = totals(self.pieces, self._caps_along, np.ones(self.y.size))
        return np.append(ends[:, 0], ends[-1:, 1])

    def graded(self, points: Array) -> Graded:
        """Judge the solutions at some points of the path."""
        pairs = [self.line.nu(float(t)) for t in points]
        nu, asymmetry = (np.array(each) for each in zip(*pairs, strict=True))
        alpha, _ = self._expand(points)
        W = self._stored_slopes(points)
        b = np.array([self._intercept(float(t)) for t in points])
        rho = np.array([self.rho(float(t)) for t in points])
        problem = SoftMargin.of(self.gram, self.y, caps_of(asymmetry, self.y), nu=nu)
        moved = None if W is None else np.array([self._moved(float(t)) for t in points])
        return grade_hulls(problem, alpha, W=W, own=(b, rho), zero=rho == 0.0, moved=moved)

    def _moved(self, t: float) -> float:
        """Bound on how much scores at t change with the rounding of the breakpoints around it."""
        P, j = self.pieces, self._piece(t)
        near = slice(max(j - 1, 0), j + 3)  # and those before and after them
        assert P.w is not None
        steps = self.gram.quadratic.largest_terms(np.diff(P.w[near], axis=0))
        moved = moved_by_rounding(P.t[near], steps)
        first = j - near.start
        return self._unit(t) * float(moved[first : first + 2].max())

    def _judged(self, t: float) -> Judged:
        """Judge the solution at t."""
        return self.graded(np.array([t])).judged(0)

    def _exact_bounds(self, t: float) -> ExactBounds:
        nu, asymmetry = self.line.nu(t)
        problem = SoftMargin(self.y, self.gram.quadratic, caps_of(asymmetry, self.y), nu=nu)
        alpha, b, w = self._stored(t), self._intercept(t), self._stored_slope(t)
        return problem.bounds(alpha[None], b, w, self.rho(t))

    @property
    def soft_margin(self) -> SoftMargin:
        """Problem of the 2nu-SVM along the line."""
        total = np.array([2.0, 2.0] if isinstance(self.line, HullLine) else [0.0, 1.0])
        return SoftMargin.of(self.gram, self.y, self._caps_along, nu=total)

    @property
    def _caps_along(self) -> Array:
        """Caps of the stored multipliers at t = 0 and at t = 1, shape (2, n)."""
        if isinstance(self.line, FixedAsymmetry):
            return np.stack([caps_of(self.line.asymmetry, self.y)] * 2)
        asymmetries = [self.line.nu(t)[1] for t in (0.0, 1.0)]
        caps = np.stack([caps_of(asymmetry, self.y) for asymmetry in asymmetries])
        # Stored multipliers are 2 / nu times those of the 2nu-SVM, and so are their caps.
        units = np.array([[self._unit(0.0)], [self._unit(1.0)]])
        return np.asarray(caps / units)

    def _proved(self) -> LineProof:
        return prove_hulls(self.soft_margin, self.pieces, self.parameter)

    def _judge(self, points: Array) -> list[Certificate]:
        graded = self.graded(points)
        return [graded.judged(j).certificate for j in range(points.size)]

    def _arrays(self) -> Mapping[str, Any]:
        line = self.line
        if isinstance(line, FixedAsymmetry):
            return {**super()._arrays(), "asymmetry": np.array(line.asymmetry)}
        return {**super()._arrays(), "hulls": np.array([line.start, line.stop])}


def _pair(pair: tuple[float, float]) -> str:
    """Write a pair of numbers."""
    return f"({pair[0]:g}, {pair[1]:g})"
