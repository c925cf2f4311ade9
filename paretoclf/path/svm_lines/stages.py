"""Following a line in stages, from a point where the solution is known, and joining the stages to pieces of a path."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from paretoclf.common.checks import Array, Index, Mask, State
from paretoclf.common.errors import DegeneratePathError, Stop, StoppedError
from paretoclf.common.progress import reaching
from paretoclf.common.tolerances import AT_BOUND, ENTERED, FEW_DIGITS, OUTWARDS, SEEN_OUTSIDE, SLACK_ROUNDING
from paretoclf.engine.segments import Line, Log
from paretoclf.engine.sets import LEFT, MARGIN, RIGHT
from paretoclf.path.svm_lines.knot_slopes import with_knot_slopes
from paretoclf.problem.operator import Quadratic
from paretoclf.problem.pieces import Pieces

if TYPE_CHECKING:
    from paretoclf.engine.box import AnyBox
    from paretoclf.engine.tracker import CoreTracker

STAGE = 1e-3  # a line into vanishing costs is traced in stages, each this share of the one before
_VANISHING = 1e-6  # of what costs are at the other end: next to so few, rounding of multipliers is no longer little
_AT_THE_END = 1e-9  # nearer to it a stage that fails is left out: the one before goes on, and the proof judges it
_LEFT = 1e-9  # of multipliers: more than rounding leaves of them, and far less than a wrong basis does
_TWICE = 1e-25  # of the largest cap: rounding of a multiplier in twice the precision; of 1: that of a margin
_DIGITS = 8  # and nearer to the end than so many units in its last place t has no digits left
_TINY = float(np.finfo(float).tiny)
_EPS = float(np.finfo(float).eps)


def straight(problem: CoreTracker | AnyBox, bases: Array, a: Array, b: Array) -> Line:
    """Line on which only caps move: their factors ``phi`` go from a to b, right-hand sides are zero."""
    zero = np.zeros(problem.m)
    return Line(bases, a, b, zero, zero)


@dataclass(frozen=True)
class BasisAt:
    """Basis of a line at one t, where both classes have costs: sets of all samples, and the margin set."""

    t: float
    state: State
    margin: Index


class LineOfCaps(NamedTuple):
    """Line of caps to follow: from a to b, which is [t_from, t_to] of the path; for ``alone`` see `CapsWalk.stages`."""

    a: Array
    b: Array
    t_from: float
    t_to: float
    alone: Mask | None = None


@dataclass(frozen=True)
class CapsWalk:
    """Tracker that follows straight lines of caps.

    Attributes
    ----------
    problem : CoreTracker
    bases : array of shape (2, n)
        See `Line`.
    max_events : int, optional
        Limit for each stage.
    progress : callable, optional
        Told by how much of the path each step has advanced.
    """

    problem: CoreTracker
    bases: Array
    max_events: int | None = None
    progress: Callable[[float], Any] | None = None

    def stage(self, t_from: float, t_to: float, line: Line | None = None, still: bool = False) -> Stage:
        """Follow a line (or the one that the tracker is on), which is [t_from, t_to] of the path, unless stopped."""
        problem, stopped = self.problem, None
        if line is not None:
            problem.set_line(line, still)
        first = problem.segments
        try:
            problem.follow(self.max_events, reaching(self.progress, abs(t_to - t_from)))
        except (StoppedError, KeyboardInterrupt) as error:  # what was followed stands
            stopped = error
        return Stage(first, problem.segments, t_from, t_to, stopped)

    def stages(self, a: Array, b: Array, t_from: float, t_to: float, alone: Mask | None = None) -> list[Stage]:
        """Follow from a to b; where a cap (all but) vanishes at b, in stages until nothing happens any more.

        Each stage ends where the distance to b is a share ``STAGE`` of what it was. ``alone`` (n,): where a class has
        no cost at b, its samples, or none if neither has. There all multipliers vanish, and so they do on the last
        basis. Where what vanishes moves no margin any more, no event means anything: that stage is the last. So is one
        that was stopped.
        """
        if not self._vanishes(a, b, _VANISHING):
            return [self.stage(t_from, t_to, straight(self.problem, self.bases, a, b))]
        stages: list[Stage] = []
        here, t = a, t_from
        while True:
            rest = straight(self.problem, self.bases, here, b)
            t_near = t_to + STAGE * (t - t_to)
            no_digits = abs(t_near - t_to) < _DIGITS * np.spacing(t_to)
            none = self._is_none(here, b)
            last = no_digits or none or not self._vanishes(here, b, STAGE)
            share = (t_near - t_to) / (t_from - t_to)  # t_near is rounded, and caps must be those that it has
            near = (1 - share) * b + share * a
            try:
                self.problem.set_line(rest)
                quiet = self.problem.quiet() or self._goes_to_nothing(alone)
                done = quiet and (alone is None or not self._something_left(alone))
                if done or last:
                    return [*stages, self.stage(t, t_to, rest, done or none)]
                line = straight(self.problem, self.bases, here, near)
                stages.append(self.stage(t, t_near, line))
                if stages[-1].stopped is not None:
                    return stages
            except DegeneratePathError:
                if not stages or abs(t - t_to) > _AT_THE_END:
                    raise
                # Rounding of the caps that stay is more than those that vanish: no event there means anything.
                return [*stages[:-1], replace(stages[-1], t_to=t_to)]
            here, t = near, t_near

    def go(self, a: Array, b: Array) -> None:
        """Follow from a to b, whatever is recorded of it."""
        stopped = self.stages(a, b, 0.0, 1.0)[-1].stopped
        if stopped is not None:
            raise stopped

    def both_ways(self, forward: LineOfCaps | None, backward: LineOfCaps | None) -> Found:
        """Trace forward from here, and then, from here once more, backward; None where the path has its end here.

        Where it is stopped on its way forward, it does not go back.
        """
        problem = self.problem
        here = problem.snapshot()
        problem.record_from_here()
        ahead = [] if forward is None else self.stages(*forward)
        log = problem.log
        if ahead and ahead[-1].stopped is not None:
            return log, ahead, log, []
        problem.restore(here)
        problem.record_from_here()
        behind = [] if backward is None else self.stages(*backward)
        return log, ahead, problem.log, behind

    def _vanishes(self, a: Array, b: Array, share: float) -> bool:
        """Whether a cap at b is less than this share of what it is at a."""
        before, after = np.array([a, b]) @ self.bases  # a sample without a cap on the line is at 0 all along
        return bool((after < share * before).any())

    def _goes_to_nothing(self, alone: Mask | None) -> bool:
        """Whether all multipliers go to 0 on the basis as it is, at the end of a line where a class has no cost.

        There the intercept is the label of the others, who are on their margin or beyond it, and all of the class are
        at their caps. Whatever holds at both ends of a line holds between them: events at its end are rounding.
        """
        if alone is None or not alone.any() or not self.problem.index.size:
            return False
        before, after = (float(np.abs(self.problem.solution(u).a[0]).max()) for u in (0.0, 1.0))
        return after <= _LEFT * before and bool((self.problem.state[alone] != RIGHT).all())

    def _is_none(self, a: Array, b: Array) -> bool:
        """Whether caps that vanish at b are rounding at a: beside the other caps, and in what they move margins by."""
        before, after = np.array([a, b]) @ self.bases
        vanishing = before[after < STAGE * before]
        if not vanishing.size:
            return False
        caps, longest = float(vanishing.sum()), float(self.problem.Q.quadratic.diagonal().max(initial=0.0))
        return caps < _TWICE * float(before.max()) and caps * longest < _TWICE

    def _something_left(self, alone: Mask) -> bool:
        """Whether multipliers would be left at the end of the line, if nothing happened on it.

        Or a sample on its margin whose class alone has no cost there: at the end all of this class are beyond.
        """
        before, after = (self.problem.solution(u).a[0] for u in (0.0, 1.0))
        caps, margin = self.problem.line.caps(0.0), self.problem.index
        inside = _off_cap(before, caps[margin])
        if inside[alone[margin]].any():
            return True
        first, last = (float(np.abs(a).max(initial=0.0)) for a in (before, after))
        rounding = _TWICE * float(caps.max())  # a margin set may be at 0 all along
        return last > max(_LEFT * first, rounding)


def _off_cap(a: Array, caps: Array) -> Mask:
    """Whether multipliers are off their caps by more than rounding makes of those that stay there."""
    return np.asarray(np.abs(caps - a) > _LEFT * caps)


# ---- joining stages --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stage:
    """Segments ``first`` to ``last - 1`` of a log, whose [0, 1] is [t_from, t_to] of the path.

    ``t_to < t_from`` if it was traced backwards. ``stopped`` is the error that ended it before its end, if one did.
    """

    first: int
    last: int
    t_from: float
    t_to: float
    stopped: Stop | None = None

    def rescaled(self, a: float, b: float) -> Stage:
        """The stage where [a, b] of the path is [0, 1] of another."""
        length = b - a
        return replace(self, t_from=(self.t_from - a) / length, t_to=(self.t_to - a) / length)

    def t(self, u: Array) -> Array:
        """Parameter of the path at the local parameter u."""
        length = self.t_to - self.t_from
        return np.where(u == 1.0, self.t_to, self.t_from + u * length)


def _rounded(log: Log, stages: list[Stage]) -> tuple[Log, Array]:
    """Move the ends of a log's segments to the t that the path stores, which are rounded.

    Returns the log, and the values of its segments, shape (s, 3): at both ends, and the bend. Next to t = 1 few digits
    are left of 1 - t, and so of the costs that vanish there.
    """
    # The value is continuous in t, and what it begins with is better known than what it ends with.
    value = log.value.copy()
    value[:-1, 1], value[-1, 1] = log.value[1:, 0], log.value[-1].sum()
    for stage in stages:
        if abs(stage.t_to - stage.t_from) > FEW_DIGITS * math.ulp(max(stage.t_to, stage.t_from)):
            continue
        rows = slice(stage.first, stage.last)
        u = log.t[:, rows]
        rounded = (stage.t(u) - stage.t_from) / (stage.t_to - stage.t_from)
        moved = (rounded - u) / (u[1] - u[0])  # in shares of the segments
        log = log.moved(stage.first, stage.last, moved)
        start, slope, bend = log.value[rows].T
        begin, end = moved[0], 1.0 + moved[1]
        first, last = (start + share * (slope + share * bend) for share in (begin, end))
        shorter = (end - begin) ** 2
        value[rows] = np.stack([first, last, shorter * bend], axis=1)
    return log, value


def _pieces(log: Log, stages: list[Stage], linear: bool, known: Known | None) -> tuple[Pieces, bool]:
    """Turn a log into pieces, in the order in which it was traced: backwards, t falls.

    Also returns whether a multiplier may be outside of its box.
    """
    log, value = _rounded(log.until(stages[-1].last), stages)
    intercepts, rho = _intercepts(log)
    slopes = None
    if linear and log.w.shape[2]:
        slopes = np.concatenate([log.w[:, 0], log.w[-1:, 1]])
    # A sample without a cost all along is at its cap, which is zero.
    state = np.where(log.state > MARGIN, np.int8(LEFT), log.state)
    segment, sample, _, new = log.changes
    pieces = Pieces(
        t=_knots(log, stages),
        ptr=log.ptr,
        index=log.index,
        a0=log.a0,
        a1=log.a1,
        b0=intercepts[0],
        b1=intercepts[1],
        value=value,
        w=slopes,
        state=state,
        changes=np.array([segment, sample, new]),
        rho0=rho[0],
        rho1=rho[1],
    )
    if slopes is not None and known is not None:
        pieces = with_knot_slopes(pieces, log, known.quadratic, known.caps)
    return pieces, bool(log.outside.size)


def _knots(log: Log, stages: list[Stage]) -> Array:
    """Parameters of the path at the ends of a log's segments; of a point between two stages the first one has it."""
    u = np.concatenate([log.t[0, :1], log.t[1]])
    first, *others = stages
    parts = [first.t(u[first.first : first.last + 1])]
    parts += [stage.t(u[stage.first + 1 : stage.last + 1]) for stage in others]
    return np.concatenate(parts)


def _intercepts(log: Log) -> tuple[Array, Array]:
    """Intercepts, and margins rho, at both ends of each segment of a log: shape (2, s), or (2, 0) without a margin.

    They are the multipliers of the equations: of one it is b, of two they are b - rho and -b - rho.
    """
    none = np.zeros((2, 0))
    equations = log.eta.shape[2]
    if equations == 0:
        return np.zeros((2, log.segments)), none
    if equations == 1:
        return log.eta.T[0], none
    plus, minus = log.eta.T
    return 0.5 * (plus - minus), -0.5 * (plus + minus)


#: Logs of what was traced forwards and backwards from one basis, and the stages of each; where one has no stages, its
#: log may be the other one once more.
Found = tuple[Log, list[Stage], Log, list[Stage]]


def one_way(log: Log, stage: Stage) -> Found:
    """Logs and stages of a path that was traced in one stage, whichever way it went."""
    return (log, [stage], log, []) if stage.t_from < stage.t_to else (log, [], log, [stage])


def stop_of(found: Found) -> Stop | None:
    """The error that stopped a path before its end, if one did; raised where nothing of the path was traced."""
    _, forward, _, backward = found
    stopped = next((stages[-1].stopped for stages in (backward, forward) if stages and stages[-1].stopped), None)
    if stopped is not None and len(set(reached(found))) < 2:
        raise stopped
    return stopped


def reached(found: Found) -> list[float]:
    """The least and the largest t that were traced; nothing where nothing was."""
    log, forward, other, backward = found
    traced = [(each, stages) for each, stages in ((log, forward), (other, backward)) if stages and each.segments]
    t = [float(t) for each, stages in traced for t in _knots(each.until(stages[-1].last), stages)[[0, -1]]]
    return [min(t), max(t)] if t else t


def rescaled(found: Found, a: float, b: float) -> Found:
    """Return what was traced, with [0, 1] for [a, b]."""
    log, forward, other, backward = found
    ahead, behind = ([stage.rescaled(a, b) for stage in stages] for stages in (forward, backward))
    return log, ahead, other, behind


def assemble(found: Found, mean: Array | None, linear: bool, known: Known | None = None) -> Pieces:
    """Join what was traced forwards and backwards from one point into the pieces of a path.

    Parameters
    ----------
    found : tuple
        Logs and stages, in the order in which they were traced.
    mean : array of shape (d,), optional
        Point the samples were centred at; the intercept is moved back.
    linear : bool
        Whether w is part of the solution (it is stored if the logs have it).
    known : Known, optional
        Facts about the path beside its logs, which are all put in.
    """
    pieces, outside = unsettled(found, mean, linear, known)
    return pieces if known is None else known.settle(pieces, outside)


def unsettled(found: Found, mean: Array | None, linear: bool, known: Known | None = None) -> tuple[Pieces, bool]:
    """Pieces for `Known.settle`, and whether a multiplier may be outside of its box; for the rest see `assemble`."""
    log, forward, other, backward = found
    parts, outside = list[Pieces](), False
    if backward and other.segments:
        behind, outside = _pieces(other, backward, linear, known)
        parts.append(behind.reversed())
    if forward and log.segments:
        ahead, outside_ahead = _pieces(log, forward, linear, known)
        parts.append(ahead)
        outside = outside or outside_ahead
    return reduce(Pieces.joined, parts).pruned().from_origin(mean), outside


@dataclass(frozen=True)
class Known:
    """Facts about a path beside its logs, in which rounding hides them: boxes, ends, intervals of b, margins.

    Attributes
    ----------
    quadratic : Quadratic
        The samples that slopes are measured by.
    caps : array of shape (2, n)
        At t = 0 and at t = 1.
    diagonal : array of shape (n,)
        Squared lengths of the samples.
    alone : pair of masks (n,) or None
        For each end at which a class has no cost its samples, as in `CapsWalk.stages`; there no multiplier is left,
        w = 0, the value is 0, and the other class holds the intercept at its label.
    labels : pair of float
        That label for each end; 0 where there is none.
    from_origin : bool or None
        Whether the path begins, or ends, at the origin of a balanced ray; None where b is not free.
    scaled : callable, optional
        Conversion of the pieces to the units of the path.
    """

    quadratic: Quadratic
    caps: Array
    diagonal: Array
    alone: tuple[Mask | None, Mask | None] = (None, None)
    labels: tuple[float, float] = (0.0, 0.0)
    from_origin: bool | None = None
    scaled: Callable[[Pieces], Pieces] | None = None

    def settle(self, pieces: Pieces, outside: bool) -> Pieces:
        """Put all facts into the pieces; ``outside`` says whether a multiplier may be outside of its box."""
        P = within_box(pieces, self.caps, self.diagonal) if outside else pieces
        for end, alone, label in zip((0, -1), self.alone, self.labels, strict=True):
            P = P if alone is None else self._exact_end(P, end, alone, label)
        P = P if self.from_origin is None else self._with_chords(P, self.from_origin)
        few = self._costly(P)
        P = P if self.scaled is None else self.scaled(P)
        return self._outwards(P, few) if few.size else P

    def _exact_end(self, P: Pieces, end: int, alone: Mask, label: float) -> Pieces:
        """Set the exact solution at an end of the path (0 or -1) where a class has no cost.

        So the path next to the end is accurate relative to the cost that vanishes, and can be judged relative to it.
        There all of the class ``alone`` are beyond their margins. One that is on it, off its cap, on the last piece
        gets there later, where costs are below the digits of t: what was found is right up to the last double before
        t = 1.
        """
        names = ["a0", "b0"] if end == 0 else ["a1", "b1"]
        if end:
            entries, t = slice(int(P.ptr[-2]), None), float(P.t[-2])
            samples = P.index[entries]
            here = np.array([1.0 - t, t]) @ self.caps[:, samples]
            inside = _off_cap(P.a0[entries], here)
            if inside[alone[samples]].any():
                P = _still_until(P, math.nextafter(1.0, 0.0))
        changed = [*names, "value"] if P.w is None else [*names, "value", "w"]
        made = {name: getattr(P, name).copy() for name in changed}
        multipliers, intercepts = (made[name] for name in names)
        entries = slice(0, P.ptr[1]) if end == 0 else slice(P.ptr[-2], None)
        multipliers[entries] = 0.0
        intercepts[end] = label or intercepts[end]  # on the balanced ray it is not unique at the origin
        made["value"][end, -end] = 0.0
        if P.w is not None:
            made["w"][end] = 0.0
        return replace(P, **made)

    def _with_chords(self, P: Pieces, from_origin: bool) -> Pieces:
        """Replace b where it is an interval over a range of t: by the chord over that range.

        There the margin set only holds samples at their bounds. The interval's lower end is convex and its upper end
        concave in t, so the chord between its two closing points is optimal all along. Out of the origin of a balanced
        ray, where every b in [-1, 1] is a limit, it starts from the middle.
        """
        start, stop = self.caps
        free = _free(P, start, stop)
        if free.all():
            return P
        b0, b1 = P.b0.copy(), P.b1.copy()
        around = np.concatenate([[True], free, [True]])
        edges = np.flatnonzero(around[1:] != around[:-1])
        for first, last in edges.reshape(-1, 2):  # pieces first .. last - 1 have no free multiplier
            begin = 0.0 if from_origin and first == 0 and not start.any() else P.b0[first]
            end = 0.0 if from_origin and last == free.size and not stop.any() else P.b1[last - 1]
            t = P.t[first : last + 1]
            share = (t - t[0]) / (t[-1] - t[0])
            knots = begin + share * (end - begin)
            b0[first:last], b1[first:last] = knots[:-1], knots[1:]
        return replace(P, b0=b0, b1=b1)

    def _costly(self, P: Pieces) -> Index:
        """Knots of pieces with costs so large against the optimal value that the rounding of a margin shows.

        A slack at one end of a piece costs at the other, too: it goes on until there.
        """
        if P.w is None:
            return np.zeros(0, dtype=np.int64)
        first, last = self.caps.sum(axis=1)
        costs = (1.0 - P.t) * first + P.t * last
        values = np.concatenate([P.value[:, 0], P.value[-1:, 1]])  # concave: costs per value are largest at knots
        seen = OUTWARDS * np.maximum(values, 0.0)
        costly = 2 * SLACK_ROUNDING * costs > seen
        of_pieces = costly[:-1] | costly[1:]
        return np.flatnonzero(np.append(of_pieces, False) | np.append(False, of_pieces))

    def _outwards(self, P: Pieces, few: Index) -> Pieces:
        """Enlarge slope and intercept at a few knots by the largest rounding of a margin.

        With w and b as doubles, samples on their margin are on either side of it. Where costs are large against the
        optimal value (separable classes, costs next to an axis), what such a slack of 1e-16 costs is more than the
        value. Larger by a share of d, w and b keep every margin, and their objective is larger by no more than a share
        of 2 d.
        """
        assert P.w is not None
        before, after = np.abs(P.b0), np.abs(P.b1)
        b = np.maximum(np.append(before, 0.0), np.append(0.0, after))
        larger = np.ones(P.t.size)
        larger[few] = outwards(self.quadratic, P.w[few], b[few])
        slopes = P.w * larger[:, None]
        return replace(P, w=slopes, b0=P.b0 * larger[:-1], b1=P.b1 * larger[1:])


def _still_until(pieces: Pieces, t: float) -> Pieces:
    """Pieces with one more knot, at t on the last piece, until which its slope is what it is where the piece begins.

    At the end the slope that is found is that of no multipliers, which says nothing of the one before.
    """
    P = pieces.cut_last(t)
    if P.w is None:
        return P
    w = P.w.copy()
    w[-2] = w[-3]
    return replace(P, w=w)


def _free(pieces: Pieces, start: Array, stop: Array) -> Mask:
    """Whether a multiplier of a piece is off its bounds; in the middle too, as it may cross from bound to bound."""
    P = pieces
    some = P.ptr[1:] > P.ptr[:-1]
    if not some.any():
        return some
    first = np.minimum(P.ptr[:-1], P.index.size - 1)  # nearly always the first multiplier tells
    sample = P.index[first]
    middle = 0.5 * (P.t[:-1] + P.t[1:])
    multiplier = 0.5 * (P.a0[first] + P.a1[first])
    cap = (1.0 - middle) * start[sample] + middle * stop[sample]
    free: Mask = some & (np.minimum(multiplier, cap - multiplier) > AT_BOUND * cap)
    few = np.flatnonzero(some & ~free)
    if few.size:
        free[few] = _free_in_full(P, few, start, stop)
    return free


def _free_in_full(pieces: Pieces, which: Index, start: Array, stop: Array) -> Mask:
    """Whether any multiplier of some pieces, none of them empty, is off its bounds: all are looked at."""
    P = pieces
    size = P.ptr[which + 1] - P.ptr[which]
    begin = np.cumsum(size) - size  # of each piece among the entries of all
    row = np.repeat(np.arange(which.size), size)
    entry = np.arange(row.size) + (P.ptr[which] - begin)[row]
    a0, a1 = P.a0[entry], P.a1[entry]
    first_cap, last_cap = start[P.index[entry]], stop[P.index[entry]]
    ends = np.stack([P.t[which], P.t[which + 1]])
    of_entries = ends[:, row]
    caps = (1.0 - of_entries) * first_cap + of_entries * last_cap
    largest = np.maximum.reduceat(np.maximum(a0, a1), begin)
    largest_caps = np.maximum.reduceat(caps, begin, axis=1)
    # Where caps grow by 1e12 and more, a multiplier that does not is off its bounds where they have just doubled.
    doubled = largest_caps[0] / np.maximum(largest_caps[0] + largest_caps[1], _TINY)
    middle = np.full(which.size, 0.5)
    shares = np.stack([np.zeros(which.size), doubled, middle, np.ones(which.size)])
    t = ((1.0 - shares) * ends[0] + shares * ends[1])[:, row]
    share = shares[:, row]
    cap = (1.0 - t) * first_cap + t * last_cap
    multiplier = (1.0 - share) * a0 + share * a1
    slack = np.minimum(multiplier, cap - multiplier)
    # A multiplier far below its cap is not at zero if all are.
    off = slack > AT_BOUND * np.minimum(cap, largest[row])
    return np.asarray(np.logical_or.reduceat(off.any(axis=0), begin))


def within_box(pieces: Pieces, caps: Array, diagonal: Array) -> Pieces:
    """Put multipliers at their bound where rounding has put them beyond it by a share that a certificate would see.

    A multiplier that enters is known to what its margin is, 1e-14, which is more than a certificate allows of a small
    cap. At the bound it moves no margin by more than the tracker allows in any case; but it moves the slope and what
    balances. All multipliers of the piece that meets this one there, from which it enters, do not: they are taken where
    none is further off than that one. ``caps`` and ``diagonal`` as in `Known`.
    """
    return replace(pieces, a0=_end_within_box(pieces, 0, caps, diagonal), a1=_end_within_box(pieces, 1, caps, diagonal))


def _end_within_box(pieces: Pieces, end: int, caps: Array, diagonal: Array) -> Array:
    """Multipliers at the start (0) or the end (1) of each piece, as in `within_box`."""
    P = pieces
    multipliers = (P.a0, P.a1)[end]
    row = np.repeat(np.arange(P.t.size - 1), np.diff(P.ptr))
    t = P.t[row + end]
    cap = (1.0 - t) * caps[0, P.index] + t * caps[1, P.index]
    inside = np.clip(multipliers, 0.0, cap)
    distance = np.abs(multipliers - inside)
    seen = distance > SEEN_OUTSIDE * cap
    beyond = seen & (distance * diagonal[P.index] <= ENTERED)
    new = np.where(beyond, inside, multipliers)
    for j in np.unique(row[beyond]).tolist():
        neighbour = j + 2 * end - 1
        if not 0 <= neighbour < P.t.size - 1:
            continue
        entries = slice(P.ptr[j], P.ptr[j + 1])
        given, limit = multipliers[entries], cap[entries]
        there = _at_neighbour(P, neighbour, end, P.index[entries], np.where(2 * given > limit, limit, 0.0))
        outside = np.abs(there - np.clip(there, 0.0, limit)) > SEEN_OUTSIDE * limit
        further = np.abs(there - given) > 2 * distance[entries].max()
        if not (outside | further).any():
            new[entries] = there
    return new


def _at_neighbour(pieces: Pieces, j: int, end: int, samples: Index, bounds: Array) -> Array:
    """Multipliers of samples where piece j meets the next (0) or the one before (1); bounds where it has none."""
    entries = slice(pieces.ptr[j], pieces.ptr[j + 1])
    multipliers = (pieces.a1, pieces.a0)[end][entries]
    known = dict(zip(pieces.index[entries].tolist(), multipliers.tolist(), strict=True))
    wanted = zip(samples.tolist(), bounds.tolist(), strict=True)
    return np.array([known.get(sample, bound) for sample, bound in wanted])


def outwards(Q: Quadratic, w: Array, b: Array) -> Array:
    """Factors for slopes (k, d) and intercepts (k,) with which no rounding puts a sample inside its margin."""
    # Products of d terms, the intercept, rounding of what is stored and of what lies between two knots.
    terms = _EPS * (Q.width + 8)
    share = terms * (1.0 + Q.largest_terms(w) + np.abs(b))
    return np.asarray(1.0 + np.where(share <= OUTWARDS, share, 0.0))
