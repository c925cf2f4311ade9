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

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index, State
from paretoclf.common.errors import DegeneratePathError
from paretoclf.common.tolerances import AT_BOUND, END_OF_LINE, ONE_COLUMN
from paretoclf.engine import _core
from paretoclf.engine.segments import Line, LineEnds, Log, ManyLines, OnBasis, most_exchanges
from paretoclf.engine.sets import LABELS, LEFT, MARGIN, OUT, RIGHT, sets_of
from paretoclf.problem.operator import Features, Matrix
from paretoclf.problem.operator.signed import Signed
from paretoclf.problem.parametric_qp import LOWER, ParametricQP, Trace

_TURN = 0.05  # seconds between two looks at the keyboard and at the progress bar
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

    def __init__(self, problem: ParametricQP) -> None:
        rows = problem.A
        self.Q, self.m, self.n = problem.P, rows.shape[0], problem.n
        # The equation of each index, -1 for none, and its coefficient there.
        group = np.where(rows.any(axis=0), rows.astype(bool).argmax(axis=0), -1) if self.m else np.full(self.n, -1)
        kappa = np.where(group < 0, 1.0, rows.sum(axis=0))
        self._core = _core_of(
            problem.P, _doubles(-problem.q[0]), _doubles(kappa), np.ascontiguousarray(group, dtype=np.int64), self.m
        )
        self._core.doubles = self.doubles
        self.line: Line  # set by `set_line`
        self._log: Log | None = None

    # ---- the basis and the line ----

    def start(self, state: Any, margin: Any, line: Line) -> None:
        """Take over a basis: sets of all indices (LEFT or RIGHT outside margin), and the margin set."""
        self._core.start(*_basis(state, margin))
        self.set_line(line)
        for i in margin:
            if not self._core.enter(int(i)):
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
    def holds_until(self) -> float:
        """How far from the beginning of the line the basis is known to hold; there the first solution is looked at."""
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
        """How many exchanges of each kind there were: regular ones in double, the others in twice the precision."""
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
            If the path stalls at one t, needs more than max_events exchanges (by default 200 n + 10 000), or its next
            step cannot be told with confidence.
        """
        limit = most_exchanges(self.n, max_events)
        while True:
            try:
                stop = self._core.run(limit, _TURN)
            except _core.Refused as error:
                raise self._refuse(
                    str(error),
                    "Standardise the features or use a slightly different line; no doubtful path is returned.",
                ) from None
            if progress is not None:
                progress(self._core.t)
            if stop == _END:
                return int(self._core.exchanges)
            if stop == _LIMIT:
                raise self._refuse(f"more than {limit} exchanges", "Raise max_events, or trace the line in parts.")
            if stop == _STALL:
                raise self._refuse(
                    "no progress after very many exchanges at one point", "Use a slightly different line."
                )

    def _refuse(self, cause: str, remedy: str) -> DegeneratePathError:
        t = float(self._core.t)
        cap = self.caps(t)
        costs = f"costs {cap.min():.4g} to {cap.max():.4g}"
        return DegeneratePathError(cause, t=t, costs=costs, n_margin=int(self.index.size), remedy=remedy)

    def quiet(self) -> bool:
        """Whether nothing happens any more on the line; puts the targets of the margin set where they belong."""
        try:
            return bool(self._core.quiet())
        except _core.Refused as error:
            raise self._refuse(str(error), "Standardise the features or use a slightly different line.") from None

    def solution(self, t: float) -> OnBasis:
        """The solution of the current basis at t, in twice the precision."""
        try:
            a, eta, w = self._core.solution(t)
        except _core.Refused as error:
            raise self._refuse(str(error), "Standardise the features or use a slightly different line.") from None
        return OnBasis(a, eta, w if self.Q.quadratic.width else None)

    def weights(self, t: float) -> Array:
        """Multipliers at t on the current basis, shape (n,)."""
        weights = np.where(self.state == LEFT, self.caps(t), 0.0)
        weights[self.index] = self.solution(t).a[0]
        return np.asarray(weights)

    def line_ends(
        self, snapshot: Any, caps: Array, samples: Index, to: Array, max_events: int | None = None
    ) -> LineEnds:
        """Where many lines end on which the cap of one sample moves: from a basis that was saved on a line at rest.

        Parameters
        ----------
        snapshot : object
            One that this tracker took, on a line whose bases are ``caps`` and 0.
        caps : array of shape (n,)
        samples, to : arrays of shape (k,)
            Who moves, and where to.
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
        ptr = np.cumsum([0, *(each.size for each in margins)])
        members = np.concatenate([np.zeros(0, dtype=np.int64), *margins])
        self._core.doubles = self.doubles
        bases = (
            np.ascontiguousarray(x, dtype=kind) for x, kind in ((states, np.int8), (ptr, np.int64), (members, np.int64))
        )
        wanted = _doubles(t), self.Q.stored_width, most_exchanges(self.n), ONE_COLUMN, AT_BOUND
        found = self._core.many(_doubles(caps), *bases, *wanted)
        return ManyLines(**{**found, **{name: found[name].astype(np.bool_) for name in ("free", "failed")}})

    # ---- what was found ----

    def record_from_here(self, keep: bool = True, at: Array | None = None) -> None:
        """Begin a new log, which ends when it is asked for; or none.

        Where increasing parameters `at` are given, it holds the segments with one of them, and the last.
        """
        self._core.record(keep, self.Q.stored_width, _doubles([] if at is None else at))
        self._log = None

    @property
    def segments(self) -> int:
        """How many segments the log holds."""
        return int(self._core.segments) if self._log is None else self._log.segments

    @property
    def log(self) -> Log:
        """What was found since the last `record_from_here`."""
        if self._log is None:
            self._log = Log(**self._core.take_log())
        return self._log


def _basis(state: Any, margin: Any) -> tuple[State, Index]:
    """Sets and margin set as the core takes them, which converts no whole numbers."""
    return np.ascontiguousarray(state, dtype=np.int8), np.ascontiguousarray(margin, dtype=np.int64)


def _doubles(x: Any) -> Array:
    return np.ascontiguousarray(x, dtype=np.float64)


def _core_of(form: Signed, *rest: Any) -> Any:
    """The tracker in C++ for this form."""
    Q, sign = form.quadratic, form.sign
    if isinstance(Q, Matrix):
        return _core.KernelTracker(_doubles(Q.K), _doubles(sign), *rest)
    assert isinstance(Q, Features)
    if not Q.sparse:
        return _core.DenseTracker(_doubles(sign[:, None] * Q.X), *rest)
    Z = sp.csr_array(Q.X)
    values = np.repeat(sign, np.diff(Z.indptr)) * Z.data
    return _core.SparseTracker(Z.indptr.astype(np.int64), Z.indices.astype(np.int32), values, int(Z.shape[1]), *rest)


class CarefulTracker(CoreTracker):
    """The same with every step in twice the precision: two to four times as slow."""

    doubles = False


# ---- a whole problem, as the engine of any program has it ------------------------------------------------------------


def is_box(problem: ParametricQP) -> bool:
    """Whether a problem is one of multipliers from 0 to finite caps in equations of their own; its P is an operator."""
    n = problem.n
    return bool(
        isinstance(problem.P, Signed)
        and (problem.q[0] == problem.q[1]).all()
        and not problem.lower[:, :n].any()
        and np.isfinite(problem.upper).all()
        and np.isinf([problem.below, problem.above]).all()
        and (problem.lower[:, n:] == problem.upper[:, n:]).all()
        and (np.count_nonzero(problem.A, axis=0) <= 1).all()
    )


def follow_box(
    tracker: CoreTracker,
    problem: ParametricQP,
    labels: Index | None,
    max_events: int | None,
    progress: Callable[[float], Any] | None,
) -> Trace | None:
    """The path of a box from t = 0 to t = 1; None where no basis to begin with is known.

    That is the one of the labels; or where every multiplier is at its cap: the line sets out from there.
    """
    n, caps, e = problem.n, problem.upper[:, : problem.n], problem.upper[:, problem.n :]
    ends = np.eye(2)
    line = Line(caps, *ends, *e)
    if labels is not None:
        state = sets_of(labels[:n])
        started = tracker.start_on(
            np.where((caps == 0.0).all(axis=0), OUT, state), np.flatnonzero(state == MARGIN), line
        )
    else:
        started = _from_caps(tracker, problem, max_events)
        if started:
            tracker.set_line(line)
    if not started:
        return None
    tracker.record_from_here()
    exchanges = tracker.follow(max_events, progress)
    return _trace_of(tracker.log, problem, exchanges)


def _from_caps(tracker: CoreTracker, problem: ParametricQP, max_events: int | None) -> bool:
    """Go from where every multiplier is at its cap to t = 0; False where there is no such point that is optimal.

    Out of zero it is, where all gain the same from growing; with one sign in each equation, where that needs all caps.
    """
    form, A, p = problem.P, problem.A, -problem.q[0]
    caps, e = problem.upper[0, : problem.n], problem.upper[0, problem.n :]
    inside, full = caps > 0.0, caps.copy()
    plus, minus = (np.where(side, A, 0.0) @ caps for side in (A > 0, -A > 0))
    for row, above, below, whole in zip(A, plus, -minus, e, strict=True):
        if whole == 0.0:  # both signs balance
            least = min(above, below)
            if least == 0.0:
                return False
            full[row > 0] *= least / above
            full[row < 0] *= least / below
        elif below or not 0.0 < whole <= above:
            return False
        else:
            full[row > 0] *= whole / above
    from_zero = not e.any()
    if from_zero and not ((p == p[0]).all() and p[0] > 0.0 and np.isin(A, (-1.0, 0.0, 1.0)).all()):
        return False
    if not from_zero and not e.all():
        return False
    push = form.sign * form.quadratic.times(form.sign * full)
    gain = push if from_zero else push - p
    first = [int(np.argmax(np.where((row > 0) & inside, gain / np.where(row > 0, row, 1.0), -np.inf))) for row in A]
    bases, none = np.stack([full, caps]), np.zeros(2)
    begin, middle, end = none if from_zero else np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.array([0.0, 1.0])
    tracker.start(np.where(inside, LEFT, OUT), first, Line(bases, begin, middle, e, e))
    tracker.record_from_here(keep=False)
    if from_zero:
        held = np.sum([push[i] for i in first]) if first else 0.0
        speed = float(np.max(push[(A <= 0).all(axis=0) & inside], initial=0.0)) + held
        tracker.holds_until = min(1.0, (2.0 if first else 1.0) * p[0] / speed if speed > 0.0 else 1.0) / 2.0
        tracker.follow(max_events)
    if not np.array_equal(full, caps):
        tracker.set_line(Line(bases, middle, end, e, e))
        tracker.follow(max_events)
    return True


def _trace_of(log: Log, problem: ParametricQP, exchanges: int) -> Trace:
    """What a log has of all items, segments without a length left out."""
    n, form, k = problem.n, problem.P, log.segments
    sets = np.repeat(np.where(log.state == OUT, np.int8(RIGHT), log.state)[None], k, axis=0)
    for piece, sample, _, new in log.changes.T:
        sets[piece:, sample] = RIGHT if new == OUT else new
    caps = problem.upper[:, :n]
    at = np.where(sets == LEFT, 1.0, 0.0)
    a = np.stack([at * ((1.0 - t)[:, None] * caps[0] + t[:, None] * caps[1]) for t in log.t], axis=1)
    row = np.repeat(np.arange(k), np.diff(log.ptr))
    a[row, 0, log.index], a[row, 1, log.index] = log.a0, log.a1
    flat = a.reshape(2 * k, n)
    slopes = (form.sign[:, None] * form.quadratic.times(form.sign[:, None] * flat.T)).T.reshape(k, 2, n)
    gradient = slopes + problem.q[0] + log.eta @ problem.A
    gradient[sets.repeat(2, axis=0).reshape(k, 2, n) == MARGIN] = 0.0
    sums = np.stack(
        [(1.0 - t)[:, None] * problem.upper[0, n:] + t[:, None] * problem.upper[1, n:] for t in log.t], axis=1
    )
    labels = np.hstack([LABELS[sets], np.full((k, problem.items - n), LOWER)])
    some = np.flatnonzero((log.t[1] > log.t[0]) | (k == 1))
    v, y = np.concatenate([a, sums], axis=2)[some], np.concatenate([gradient, -log.eta], axis=2)[some]
    return Trace.of(np.append(log.t[0, some[:1]], log.t[1, some]), labels[some], v, y, "end", None, exchanges)
