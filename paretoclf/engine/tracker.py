r"""Parametric box QP: the one problem behind every path of the package, and the tracker that follows it.

.. math::

   \min_a \tfrac12 a^\top Q a - p^\top a \quad\text{s.t. } A a = e_0 + t e_1,\ 0 \le a \le c_0 + t c_1,

every index in at most one row of A, with coefficient :math:`\kappa_i\neq0`. Gradient
:math:`g = Qa - p + A^\top\eta`; optimal iff :math:`g_i\ge0` where :math:`a_i=0`, :math:`g_i\le0` where
:math:`a_i=c_i`, :math:`g_i=0` between.

The state is a *basis*: a margin set F whose bordered system is nonsingular and which has a member in every row of A,
and the bound at which each other index sits. On a basis the solution is affine in t. docs/explanation/tracker.md
explains the algorithm on the textbook tracker; this is the face of the same in C++ (``core/``), in two precisions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, Mask, State
from paretoclf.common.errors import DegeneratePathError, StoppedError
from paretoclf.common.tolerances import AT_BOUND, END_OF_LINE, ONE_COLUMN
from paretoclf.engine import _core
from paretoclf.engine.segments import Line, LineEnds, Log, ManyLines, OnBasis, most_exchanges
from paretoclf.engine.sets import LABELS, LEFT, MARGIN, OUT, RIGHT, sets_of
from paretoclf.problem.operator import Features, Matrix
from paretoclf.problem.operator.signed import Signed
from paretoclf.problem.parametric_qp import LOWER, ParametricQP
from paretoclf.problem.piecewise import Piecewise
from paretoclf.problem.trace import Trace

_TURN = 0.05  # seconds between two looks at the keyboard and at the progress bar
_MORE = (
    "Raise max_events, or max_seconds, or trace the line in parts: what was traced is the path of this exception, "
    "if it is not None."
)
_END, _PAUSE, _LIMIT, _STALL = range(4)


def add_product(hi: Array, lo: Array, B: Array, out_hi: Array, out_lo: Array) -> None:
    """Add ``(hi + lo) @ B`` to ``out_hi + out_lo``, in place, in twice the precision.

    Stacks: (r, m, k) by (r, k, n), or by one for all, (1, k, n).
    """
    _core.add_product(hi, lo, B, out_hi, out_lo)


class CoreTracker:
    """Follows a parametric box QP along one line after another.

    Parameters
    ----------
    problem : ParametricQP
        As for `make_tracker`.
    """

    #: Whether steps may be taken in double; else all are taken in twice the precision.
    doubles = True

    #: When to stop, by ``time.monotonic()``; None where there is no limit.
    deadline: float | None = None

    def __init__(self, problem: ParametricQP) -> None:
        rows = problem.A
        self.Q, self.m, self.n = problem.P, rows.shape[0], problem.n
        # The equation of each index, -1 for none, and its coefficient there.
        group = np.full(self.n, -1)
        if self.m:
            first = rows.astype(bool).argmax(axis=0)
            group = np.where(rows.any(axis=0), first, -1)
        group = np.ascontiguousarray(group, dtype=np.int64)
        kappa = np.where(group < 0, 1.0, rows.sum(axis=0))
        linear = _doubles(-problem.q[0])
        self._core = _core_of(problem.P, linear, _doubles(kappa), group, self.m)
        self._core.doubles = self.doubles
        self.line: Line  # set by `set_line`
        self._log: Log | None = None

    # ---- the basis and the line ----

    def start(self, state: Any, margin: Any, line: Line) -> None:
        """Take over a basis: sets of all indices (LEFT or RIGHT outside margin), and the margin set."""
        self._core.start(*_basis(state, margin))
        self.set_line(line)
        for index in margin:
            if not self._core.enter(int(index)):
                raise ValueError("the margin set to start from is dependent")

    def start_on(self, state: Any, margin: Any, line: Line) -> bool:
        """`start` with a margin set that a tracker was on, factored at once; False if that fails."""
        self._core.start(*_basis(state, margin))
        self.set_line(line)
        return bool(self._core.take(_basis(state, margin)[1]))

    def set_line(self, line: Line, still: bool = False) -> None:
        """Continue from the current basis along another line that starts where the solution is.

        With ``still`` nothing happens on it (`quiet`): it is one step, in twice the precision.
        """
        self.line = line
        bases = np.ascontiguousarray(line.bases, dtype=np.float64)
        ends = (_doubles(x) for x in (line.start, line.stop, line.e0, line.e_end))
        self._core.set_line(bases, *ends, line.to_zero, 1.0 if still else END_OF_LINE)
        self._core.doubles = self.doubles and not still

    @property
    def t(self) -> float:
        """Where on the line it is."""
        return float(self._core.t)

    @property
    def holds_until(self) -> float:
        """The t up to which the basis is known to hold; there the first solution is checked."""
        return float(self._core.ahead)

    @holds_until.setter
    def holds_until(self, t: float) -> None:
        self._core.ahead = t

    def snapshot(self) -> Any:
        """The basis, to come back to."""
        return self._core.save()

    def restore(self, snapshot: Any) -> None:
        """Come back to a basis; `set_line` must follow."""
        self._core.load(snapshot)

    @property
    def state(self) -> State:
        """Set of each index."""
        return np.asarray(self._core.state)

    @property
    def index(self) -> Index:
        """The margin set."""
        return np.asarray(self._core.margin)

    @property
    def exchanges(self) -> dict[str, int]:
        """Number of exchanges of each kind: regular ones in double, the others in twice the precision."""
        return dict(self._core.counts)

    def caps(self, t: float) -> Array:
        """Caps at t: exact at both ends, and accurate relative to caps that vanish there."""
        return np.asarray(self._core.caps(t))

    # ---- following ----

    def follow(self, max_events: int | None = None, progress: Callable[[float], Any] | None = None) -> int:
        """Follow the line from t = 0 to t = 1; return the number of exchanges.

        Raises
        ------
        DegeneratePathError
            If the path stalls at one t, or its next step cannot be told with confidence.
        StoppedError
            If it needs more than max_events exchanges (by default 200 n + 10 000), or more time than there is.
        """
        limit = most_exchanges(self.n, max_events)
        while True:
            try:
                stop = self._core.run(limit, _TURN)
            except _core.Refused as error:
                raise self._refuse(
                    str(error),
                    "Standardise the features or use a slightly different line; where a wide kernel has a matrix that "
                    "is nearly singular, low_rank=1e-8 (TwoNuSVM: a narrower kernel); no doubtful path is returned.",
                ) from None
            if progress is not None:
                progress(self._core.t)
            if stop == _END:
                return int(self._core.exchanges)
            late = self.deadline is not None and time.monotonic() >= self.deadline
            if stop == _LIMIT or late:
                cause = f"more than {limit} exchanges" if stop == _LIMIT else "no time is left"
                raise self._refuse(cause, _MORE, StoppedError)
            if stop == _STALL:
                raise self._refuse(
                    "no progress after very many exchanges at one point", "Use a slightly different line."
                )

    def _refuse(
        self, cause: str, remedy: str, kind: type[DegeneratePathError] = DegeneratePathError
    ) -> DegeneratePathError:
        """Make the error that the line cannot be followed beyond the present t."""
        t = self.t
        cap = self.caps(t)
        costs = f"costs {cap.min():.4g} to {cap.max():.4g}"
        return kind(cause, t=t, costs=costs, n_margin=int(self.index.size), remedy=remedy)

    def quiet(self) -> bool:
        """Whether nothing happens any more on the line; puts the targets of the margin set where they belong."""
        try:
            return bool(self._core.quiet())
        except _core.Refused as error:
            raise self._refuse(str(error), "Standardise the features or use a slightly different line.") from None

    def solution(self, t: float) -> OnBasis:
        """The solution of the current basis at t, in twice the precision."""
        try:
            multipliers, eta, weights = self._core.solution(t)
        except _core.Refused as error:
            raise self._refuse(str(error), "Standardise the features or use a slightly different line.") from None
        return OnBasis(multipliers, eta, weights if self.Q.quadratic.width else None)

    def weights(self, t: float) -> Array:
        """Multipliers at t on the current basis, shape (n,)."""
        weights = np.where(self.state == LEFT, self.caps(t), 0.0)
        weights[self.index] = self.solution(t).a[0]
        return np.asarray(weights)

    def line_ends(
        self, snapshot: Any, caps: Array, samples: Index, to: Array, max_events: int | None = None
    ) -> LineEnds:
        """Solutions at the ends of many lines on each of which one cap changes, from one basis.

        Parameters
        ----------
        snapshot : object
            A basis that this tracker has saved, on a line whose bases are ``caps`` and 0.
        caps : array of shape (n,)
        samples, to : arrays of shape (k,)
            The sample of each line, and its cap at the end.
        max_events : int, optional
            Limit for each line.
        """
        limit = most_exchanges(self.n, max_events)
        wanted = np.ascontiguousarray(samples, dtype=np.int64), _doubles(to), self.Q.stored_width, limit
        self._core.doubles = self.doubles
        alpha, eta, w, failed = self._core.ends(snapshot, _doubles(caps), *wanted)
        return LineEnds(alpha, eta, w, failed.astype(np.bool_))

    def many_lines(self, caps: Array, states: State, margins: Sequence[Index], t: Array) -> ManyLines:
        """Follow many lines, each from a basis of its own, and begin anew after each.

        Parameters
        ----------
        caps : array of shape (2, n)
            At t = 0 and at t = 1; on a line on which a sample is OUT its cap is 0.
        states : array of shape (k, n)
            Sets outside of the margin set, where each line begins.
        margins : sequence of int arrays
            Margin sets there.
        t : array of shape (k, 2)
            Where each begins and ends.
        """
        begin = np.cumsum([0, *(each.size for each in margins)])
        members = np.concatenate([np.zeros(0, dtype=np.int64), *margins])
        states, members = _basis(states, members)
        bases = states, np.ascontiguousarray(begin, dtype=np.int64), members
        self._core.doubles = self.doubles
        wanted = _doubles(t), self.Q.stored_width, most_exchanges(self.n), ONE_COLUMN, AT_BOUND
        found = dict(self._core.many(_doubles(caps), *bases, *wanted))
        for name in ("free", "failed"):
            found[name] = found[name].astype(np.bool_)
        return ManyLines(**found)

    # ---- what was found ----

    def record_from_here(self, keep: bool = True, at: Array | None = None) -> None:
        """Begin a new log, which ends when it is asked for; or none.

        Where increasing parameters `at` are given, it holds the segments with one of them, and the last.
        """
        self._core.record(keep, self.Q.stored_width, _doubles([] if at is None else at))
        self._log = None

    @property
    def segments(self) -> int:
        """Number of segments in the log."""
        return int(self._core.segments) if self._log is None else self._log.segments

    @property
    def log(self) -> Log:
        """The log since the last `record_from_here`."""
        if self._log is None:
            self._log = Log(**self._core.take_log())
        return self._log


def _basis(state: Any, margin: Any) -> tuple[State, Index]:
    """Sets and margin set as the core takes them, which converts no whole numbers."""
    return np.ascontiguousarray(state, dtype=np.int8), np.ascontiguousarray(margin, dtype=np.int64)


def _doubles(numbers: Any) -> Array:
    """Numbers as contiguous doubles."""
    return np.ascontiguousarray(numbers, dtype=np.float64)


def _core_of(form: Signed, *rest: Any) -> Any:
    """The tracker in C++ for a quadratic term of kernel matrix, dense or sparse features."""
    quadratic, sign = form.quadratic, form.sign
    if isinstance(quadratic, Matrix):
        return _core.KernelTracker(_doubles(quadratic.K), _doubles(sign), *rest)
    assert isinstance(quadratic, Features)
    if not quadratic.sparse:
        return _core.DenseTracker(_doubles(sign[:, None] * quadratic.X), *rest)
    features = sp.csr_array(quadratic.X)
    values = np.repeat(sign, np.diff(features.indptr)) * features.data
    begin, places = features.indptr.astype(np.int64), features.indices.astype(np.int32)
    return _core.SparseTracker(begin, places, values, int(features.shape[1]), *rest)


class CarefulTracker(CoreTracker):
    """Follows a parametric box QP with every step in twice the precision: two to four times as slow."""

    doubles = False


# ---- a whole problem, as the engine of any program has it ------------------------------------------------------------


def is_box(problem: ParametricQP) -> bool:
    """Whether the trackers of boxes follow a problem: variables from 0 to finite caps, each in at most one equation.

    P is a `Signed`, and q is constant.
    """
    if not isinstance(problem.P, Signed):
        return False
    n, lower, upper = problem.n, problem.lower, problem.upper
    constant = (problem.q[0] == problem.q[1]).all()
    boxed = not lower[:, :n].any() and np.isfinite(upper).all()
    hard = np.isinf([problem.below, problem.above]).all()
    equations = (lower[:, n:] == upper[:, n:]).all()
    one_each = (np.count_nonzero(problem.A, axis=0) <= 1).all()
    return bool(constant and boxed and hard and equations and one_each)


def follow_box(
    tracker: CoreTracker,
    problem: ParametricQP,
    labels: Index | None,
    max_events: int | None,
    progress: Callable[[float], Any] | None,
) -> Trace | None:
    """The path of a box from t = 0 to t = 1; None where no basis to begin with is known.

    It begins with the basis of the labels or, without them, from where every multiplier is at its cap.
    """
    n = problem.n
    caps, sums = problem.upper[:, :n], problem.upper[:, n:]
    begin, end = np.eye(2)
    line = Line(caps, begin, end, *sums)
    if labels is not None:
        state = sets_of(labels[:n])
        without_cap = (caps == 0.0).all(axis=0)
        margin = np.flatnonzero(state == MARGIN)
        started = tracker.start_on(np.where(without_cap, OUT, state), margin, line)
    else:
        started = _from_caps(tracker, problem, max_events)
        if started:
            tracker.set_line(line)
    if not started:
        return None
    tracker.record_from_here()
    status = "end"
    try:
        tracker.follow(max_events, progress)
    except StoppedError:
        status = "limit"
    except KeyboardInterrupt:
        if tracker.deadline is None:
            raise
        status = "interrupted"
    return _trace_of(tracker, problem, status)


def _from_caps(tracker: CoreTracker, problem: ParametricQP, max_events: int | None) -> bool:
    """Go from where every multiplier is at its cap to t = 0; False where there is no such point that is optimal.

    Out of zero it is, where all gain the same from growing; with one sign in each equation, where that needs all caps.
    """
    form, A, linear = problem.P, problem.A, -problem.q[0]
    caps, sums = problem.upper[0, : problem.n], problem.upper[0, problem.n :]
    full = _full_caps(A, caps, sums)
    if full is None:
        return False
    from_zero = not sums.any()
    if from_zero and not ((linear == linear[0]).all() and linear[0] > 0.0 and np.isin(A, (-1.0, 0.0, 1.0)).all()):
        return False
    if not from_zero and not sums.all():
        return False
    inside = caps > 0.0
    push = form.sign * form.quadratic.times(form.sign * full)
    first = _first_to_leave(A, push if from_zero else push - linear, inside)
    bases = np.stack([full, caps])
    middle, end = np.eye(2)
    begin = np.zeros(2) if from_zero else middle
    sets = np.where(inside, LEFT, OUT)
    tracker.start(sets, first, Line(bases, begin, middle, sums, sums))
    tracker.record_from_here(keep=False)
    if from_zero:
        held = np.sum([push[index] for index in first]) if first else 0.0
        not_positive = (A <= 0).all(axis=0)
        speed = held + float(np.max(push[not_positive & inside], initial=0.0))
        reached = (2.0 if first else 1.0) * linear[0] / speed if speed > 0.0 else 1.0
        tracker.holds_until = min(1.0, reached) / 2.0
        tracker.follow(max_events)
    if not np.array_equal(full, caps):
        tracker.set_line(Line(bases, middle, end, sums, sums))
        tracker.follow(max_events)
    return True


def _full_caps(A: Array, caps: Array, sums: Array) -> Array | None:
    """Caps, reduced so that each equation holds where every multiplier is at its own; None where that cannot be."""
    full = caps.copy()
    of_positive, of_negative = (np.where(side, A, 0.0) @ caps for side in (A > 0, -A > 0))
    for row, above, below, whole in zip(A, of_positive, -of_negative, sums, strict=True):
        if whole == 0.0:  # both signs balance
            least = min(above, below)
            if least == 0.0:
                return None
            full[row > 0] *= least / above
            full[row < 0] *= least / below
        elif below or not 0.0 < whole <= above:
            return None
        else:
            full[row > 0] *= whole / above
    return full


def _first_to_leave(A: Array, gain: Array, inside: Mask) -> list[int]:
    """The index with a positive coefficient in each equation whose multiplier is the first to leave its cap."""
    first = []
    for row in A:
        positive = row > 0
        rate = gain / np.where(positive, row, 1.0)
        rate = np.where(positive & inside, rate, -np.inf)
        first.append(int(np.argmax(rate)))
    return first


def _trace_of(tracker: CoreTracker, problem: ParametricQP, status: str) -> Trace:
    """The trace of what a tracker has logged, for all items; segments without a length are left out."""
    log, exchanges = tracker.log, int(tracker._core.exchanges)
    n, rows = problem.n, problem.items - problem.n
    long = np.flatnonzero((log.t[1] > log.t[0]) | (log.segments == 1))
    t = np.append(log.t[0, long[:1]], log.t[1, long])
    log = _with_exact_events(log, long, t, problem.upper[:, :n])
    ptr, place, number = _numbers_of(log, long, n, rows)
    first, changes = _labels_of(log, long, n, rows)
    begin = 2 * np.arange(long.size)  # each segment has two points of its own
    path = Piecewise(problem, t, begin, first, changes, ptr, place, number, stationary=True)
    return Trace(path, status, None, exchanges)


def _with_exact_events(log: Log, long: Index, t: Array, caps: Array) -> Log:
    """The log, with multipliers that come to a bound, or leave it, at this bound: as computed they miss it by rounding.

    ``t`` are the ends of the segments ``long``, and ``caps`` (2, n) those at t = 0 and 1.
    """
    before, sample, old, new = log.changes
    point = np.searchsorted(long, before)  # where it is, among these ends
    side = np.where(old == MARGIN, new, old)
    first, last = caps[:, sample]
    cap = (1.0 - t[point]) * first + t[point] * last
    bound = np.where(side == LEFT, cap, 0.0)
    known = (side == LEFT) | (side == RIGHT)
    leaves, comes = known & (point < long.size), known & (point > 0)
    a0 = _put_at(log, log.a0, long[point[leaves]], sample[leaves], bound[leaves])
    a1 = _put_at(log, log.a1, long[point[comes] - 1], sample[comes], bound[comes])
    return replace(log, a0=a0, a1=a1)


def _put_at(log: Log, multipliers: Array, segment: Index, sample: Index, bound: Array) -> Array:
    """Multipliers at one end of segments; those of samples on some of these are at a bound that they are next to."""
    n, of_entry = log.state.size, np.repeat(np.arange(log.segments), np.diff(log.ptr))
    _, entry, event = np.intersect1d(of_entry * n + log.index, segment * n + sample, return_indices=True)
    largest = np.zeros(log.segments)
    np.maximum.at(largest, of_entry, np.abs(multipliers))
    missed = np.abs(multipliers[entry] - bound[event])
    near = missed <= AT_BOUND * largest[of_entry[entry]]
    found = multipliers.copy()
    found[entry[near]] = bound[event[near]]
    return found


def _numbers_of(log: Log, long: Index, n: int, rows: int) -> tuple[Index, Index, Array]:
    """Numbers at both ends of some segments, as `Piecewise` has them: of the margin set, and multipliers of rows."""
    sizes = np.diff(log.ptr)[long]
    each = sizes + rows
    ptr = np.concatenate([[0], np.cumsum(np.repeat(each, 2))])
    place, number = np.empty(ptr[-1], dtype=np.int32), np.empty(ptr[-1])
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    entry = within + np.repeat(log.ptr[long], sizes)
    for side, multipliers in enumerate((log.a0, log.a1)):
        begin = ptr[side:-1:2]
        of_margin = within + np.repeat(begin, sizes)
        place[of_margin], number[of_margin] = log.index[entry], multipliers[entry]
        of_rows = (begin + sizes)[:, None] + np.arange(rows)
        place[of_rows], number[of_rows] = n + n + np.arange(rows), -log.eta[long, side]
    return ptr, place, number


def _labels_of(log: Log, long: Index, n: int, rows: int) -> tuple[State, tuple[Index, Index, State]]:
    """Labels on the first of some segments, and their changes, as `Piecewise` has them."""
    label = LABELS.astype(np.int8)
    first = np.append(label[log.state], np.full(rows, LOWER, dtype=np.int8))
    before, sample, old, new = log.changes
    segment = np.searchsorted(long, before)  # the first of them that is not before the change
    step = label[new] - label[old]
    at_start = segment == 0
    np.add.at(first, sample[at_start], step[at_start])
    later = ~at_start & (segment < long.size)
    return first, (segment[later], sample[later], step[later])
