"""From a point where the solution is known to a whole line: followed in stages, and joined to the pieces of a path."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask, State
from paretoclf.common.errors import DegeneratePathError
from paretoclf.common.progress import reaching
from paretoclf.common.tolerances import AT_BOUND, ENTERED, FEW_DIGITS, OUTWARDS, SEEN_OUTSIDE, SLACK_ROUNDING
from paretoclf.engine.segments import Line, Log
from paretoclf.engine.sets import LEFT, MARGIN
from paretoclf.path.pieces import Pieces
from paretoclf.problem.operator import Quadratic

if TYPE_CHECKING:
    from paretoclf.engine.box import AnyBox
    from paretoclf.engine.tracker import CoreTracker

STAGE = 1e-3  # a line into vanishing costs is traced in stages, each this share of the one before
_VANISHING = 1e-6  # of what costs are at the other end: next to so few, rounding of multipliers is no longer little
_AT_THE_END = 1e-9  # nearer to it a stage that fails is left out: the one before goes on, and the proof judges it
_LEFT = 1e-9  # of multipliers: more than rounding leaves of them, and far less than a wrong basis does
_TWICE = 1e-25  # of the largest cap: rounding of a multiplier in twice the precision
_DIGITS = 8  # and nearer to the end than so many units in its last place t has no digits left
_TINY = float(np.finfo(float).tiny)
_EPS = float(np.finfo(float).eps)


def straight(problem: CoreTracker | AnyBox, bases: Array, a: Array, b: Array) -> Line:
    """Line on which only caps move: ``phi`` from a to b, right-hand sides zero."""
    zero = np.zeros(problem.m)
    return Line(bases, a, b, zero, zero)


@dataclass(frozen=True)
class BasisAt:
    """A basis of a line at one t, where both classes have costs: sets of all samples, and the margin set."""

    t: float
    state: State
    margin: Index


@dataclass(frozen=True)
class CapsWalk:
    """A tracker that is walked along straight lines of caps.

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
        """Follow a line (or the one that the tracker is on), which the path has as [t_from, t_to]."""
        problem = self.problem
        if line is not None:
            problem.set_line(line, still)
        first = problem.segments
        problem.follow(self.max_events, reaching(self.progress, abs(t_to - t_from)))
        return Stage(first, problem.segments, t_from, t_to)

    def stages(self, a: Array, b: Array, t_from: float, t_to: float, alone: Mask | None = None) -> list[Stage]:
        """Follow from a to b; where a cap (all but) vanishes at b, in stages until nothing happens any more.

        ``alone`` (n,): where a class has no cost at b, its samples, or nobody if neither has. There all multipliers
        vanish, and so they do on the last basis.
        """
        if not self._vanishes(a, b, _VANISHING):
            return [self.stage(t_from, t_to, straight(self.problem, self.bases, a, b))]
        stages: list[Stage] = []
        here, t = a, t_from
        while True:
            rest = straight(self.problem, self.bases, here, b)
            t_near = t_to + STAGE * (t - t_to)
            last = abs(t_near - t_to) < _DIGITS * np.spacing(t_to) or not self._vanishes(here, b, STAGE)
            share = (t_near - t_to) / (t_from - t_to)  # t_near is rounded, and caps must be those that it has
            near = (1 - share) * b + share * a
            try:
                self.problem.set_line(rest)
                done = self.problem.quiet() and (alone is None or not self._something_left(alone))
                if done or last:
                    return [*stages, self.stage(t, t_to, rest, done)]
                stages.append(self.stage(t, t_near, straight(self.problem, self.bases, here, near)))
            except DegeneratePathError:
                if not stages or abs(t - t_to) > _AT_THE_END:
                    raise
                # Rounding of the caps that stay is more than those that vanish: no event there means anything.
                return [*stages[:-1], replace(stages[-1], t_to=t_to)]
            here, t = near, t_near

    def both_ways(self, forward: Callable[[], list[Stage]], backward: Callable[[], list[Stage]]) -> Found:
        """What is traced forward from here, and then, from here once more, backward."""
        problem, here = self.problem, self.problem.snapshot()
        problem.record_from_here()
        ahead, log = forward(), problem.log
        problem.restore(here)
        problem.record_from_here()
        behind = backward()
        return log, ahead, problem.log, behind

    def _vanishes(self, a: Array, b: Array, share: float) -> bool:
        """Whether a cap at b is less than this share of what it is at a."""
        before, after = np.array([a, b]) @ self.bases  # who has no cap on the line is at 0 all along
        return bool((after < share * before).any())

    def _something_left(self, alone: Mask) -> bool:
        """Whether multipliers would be left at the end of the line, if nothing happened on it.

        Or a sample on its margin whose class alone has no cost there: at the end all of this class are beyond.
        """
        before, after = (self.problem.solution(u).a[0] for u in (0.0, 1.0))
        caps, F = self.problem.line.caps(0.0), self.problem.index
        if _off_cap(before, caps[F])[alone[F]].any():
            return True
        first, last = (float(np.abs(a).max(initial=0.0)) for a in (before, after))
        return last > max(_LEFT * first, _TWICE * float(caps.max()))  # a margin set may be at 0 all along


def _off_cap(a: Array, caps: Array) -> Mask:
    """Whether multipliers are off their caps by more than rounding makes of those that stay there."""
    return np.asarray(np.abs(caps - a) > _LEFT * caps)


# ---- what was found on the way, joined -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stage:
    """Segments ``first`` to ``last - 1`` of a log, whose [0, 1] is [t_from, t_to] of the path.

    ``t_to < t_from`` if it was traced backwards.
    """

    first: int
    last: int
    t_from: float
    t_to: float

    def t(self, u: Array) -> Array:
        """Parameter of the path at the local parameter u."""
        return np.where(u == 1.0, self.t_to, self.t_from + u * (self.t_to - self.t_from))


def _rounded(log: Log, stages: list[Stage]) -> tuple[Log, Array]:
    """What bases say at the ends of segments as the path has them, rounded; and the values (s, 3): at both ends, bend.

    Next to t = 1 few digits are left of 1 - t, and so of the costs that vanish there.
    """
    # The value is continuous in t, and what it begins with is better known than what it ends with.
    value = log.value.copy()
    value[:-1, 1], value[-1, 1] = log.value[1:, 0], log.value[-1].sum()
    for stage in stages:
        if abs(stage.t_to - stage.t_from) > FEW_DIGITS * math.ulp(max(stage.t_to, stage.t_from)):
            continue
        rows = slice(stage.first, stage.last)
        u = log.t[:, rows]
        places = (stage.t(u) - stage.t_from) / (stage.t_to - stage.t_from)
        off = (places - u) / (u[1] - u[0])  # in shares of the segments
        log = log.moved(stage.first, stage.last, off)
        start, slope, bend = log.value[rows].T
        first, last = (start + f * (slope + f * bend) for f in (off[0], 1.0 + off[1]))
        value[rows] = np.stack([first, last, (1.0 + off[1] - off[0]) ** 2 * bend], axis=1)
    return log, value


def _pieces(log: Log, stages: list[Stage], linear: bool) -> tuple[Pieces, bool]:
    """What a log has as the path has it, as it was traced: backwards, t falls; and whether anything may be outside."""
    log, value = _rounded(log.until(stages[-1].last), stages)
    u = np.concatenate([log.t[0, :1], log.t[1]])  # of what lies between two stages the first one says where it is
    t = np.concatenate([stage.t(u[stage.first + (stage is not stages[0]) : stage.last + 1]) for stage in stages])
    w = np.concatenate([log.w[:, 0], log.w[-1:, 1]]) if linear and log.w.shape[2] else None
    (b0, b1), rho = log.eta.T[0] if log.eta.shape[2] else np.zeros((2, log.segments)), np.zeros((2, 0))
    if log.eta.shape[2] == 2:  # the multipliers are b - rho and -b - rho
        plus, minus = log.eta.T
        (b0, b1), rho = 0.5 * (plus - minus), -0.5 * (plus + minus)
    # A sample without a cost all along is at its cap, which is zero.
    state, (segment, sample, _, new) = np.where(log.state > MARGIN, np.int8(LEFT), log.state), log.changes
    changes = np.array([segment, sample, new])
    pieces = Pieces(t, log.ptr, log.index, log.a0, log.a1, b0, b1, value, w, state, changes, rho[0], rho[1])
    return pieces, bool(log.outside.size)


#: Logs of what was traced forwards and backwards from one basis, and the stages of each; where one has no stages, its
#: log may be the other one once more.
Found = tuple[Log, list[Stage], Log, list[Stage]]


def one_way(log: Log, stage: Stage) -> Found:
    """What was traced in one stage, whichever way it went."""
    return (log, [stage], log, []) if stage.t_from < stage.t_to else (log, [], log, [stage])


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
        What is known of the path beside its logs; it is all put in together.
    """
    log, forward, other, backward = found
    (before, out), (behind, outside) = (
        _pieces(*each, linear) if each[1] and each[0].segments else (None, False)
        for each in ((other, backward), (log, forward))
    )
    parts = [part for part in (None if before is None else before.reversed(), behind) if part is not None]
    pieces = reduce(Pieces.joined, parts).pruned().from_origin(mean)
    return pieces if known is None else known.settle(pieces, out or outside)


@dataclass(frozen=True)
class Known:
    """What is known of a path beside its logs, in which rounding hides it: boxes, ends, intervals of b, margins.

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
        What takes the pieces to the units of the path.
    """

    quadratic: Quadratic
    caps: Array
    diagonal: Array
    alone: tuple[Mask | None, Mask | None] = (None, None)
    labels: tuple[float, float] = (0.0, 0.0)
    from_origin: bool | None = None
    scaled: Callable[[Pieces], Pieces] | None = None

    def settle(self, pieces: Pieces, outside: bool) -> Pieces:
        """The pieces with all of that; ``outside`` says whether a multiplier may be outside of its box."""
        P = within_box(pieces, self.caps, self.diagonal) if outside else pieces
        for end, alone, label in zip((0, -1), self.alone, self.labels, strict=True):
            P = P if alone is None else self._exact_end(P, end, alone, label)
        P = P if self.from_origin is None else self._with_chords(P, self.from_origin)
        few = self._costly(P)
        P = P if self.scaled is None else self.scaled(P)
        return self._outwards(P, few) if few.size else P

    def _exact_end(self, P: Pieces, end: int, alone: Mask, label: float) -> Pieces:
        """What is known at an end of the path (0 or -1) where a class has no cost, in place of what was found.

        So what the path says next to the end is accurate relative to the cost that vanishes, and can be judged relative
        to it. There all of the class ``alone`` are beyond their margins. One that is on it, off its cap, on the last
        piece gets there later, where costs are below the digits of t: what was found is right up to the last double
        before t = 1.
        """
        ends = ("a0", "b0") if end == 0 else ("a1", "b1")
        if end:
            F, t = slice(int(P.ptr[-2]), None), float(P.t[-2])
            here = np.array([1.0 - t, t]) @ self.caps[:, P.index[F]]
            if _off_cap(P.a0[F], here)[alone[P.index[F]]].any():
                P = P.cut_last(math.nextafter(1.0, 0.0))
        made = {name: getattr(P, name).copy() for name in (*ends, "value", *([] if P.w is None else ["w"]))}
        a, intercepts = (made[name] for name in ends)
        a[slice(0, P.ptr[1]) if end == 0 else slice(P.ptr[-2], None)] = 0.0
        intercepts[end] = label or intercepts[end]  # on the balanced ray it is not unique at the origin
        made["value"][end, -end] = 0.0
        if P.w is not None:
            made["w"][end] = 0.0
        return replace(P, **made)

    def _with_chords(self, P: Pieces, from_origin: bool) -> Pieces:
        """Where b is an interval over a range of t, the chord over that range in place of the tracker's end of it.

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
            share = (P.t[first : last + 1] - P.t[first]) / (P.t[last] - P.t[first])
            knots = begin + share * (end - begin)
            b0[first:last], b1[first:last] = knots[:-1], knots[1:]
        return replace(P, b0=b0, b1=b1)

    def _costly(self, P: Pieces) -> Index:
        """Knots at which costs are so large against the optimal value that the rounding of a margin shows."""
        if P.w is None:
            return np.zeros(0, dtype=np.int64)
        first, last = self.caps.sum(axis=1)
        costs = (1.0 - P.t) * first + P.t * last
        values = np.concatenate([P.value[:, 0], P.value[-1:, 1]])  # concave: costs per value are largest at knots
        return np.flatnonzero(2 * SLACK_ROUNDING * costs > OUTWARDS * np.maximum(values, 0.0))

    def _outwards(self, P: Pieces, few: Index) -> Pieces:
        """Slope and intercept larger by what rounding could make of a margin, at a few knots.

        With w and b as doubles, samples on their margin are on either side of it. Where costs are large against the
        optimal value (separable classes, costs next to an axis), what such a slack of 1e-16 costs is more than the
        value. Larger by a share of d, w and b keep every margin, and their objective is larger by no more than a share
        of 2 d.
        """
        assert P.w is not None
        b = np.maximum(np.append(np.abs(P.b0), 0.0), np.append(0.0, np.abs(P.b1)))
        larger = np.ones(P.t.size)
        larger[few] = outwards(self.quadratic, P.w[few], b[few])
        return replace(P, w=P.w * larger[:, None], b0=P.b0 * larger[:-1], b1=P.b1 * larger[1:])


def _free(pieces: Pieces, start: Array, stop: Array) -> Mask:
    """Whether a multiplier of a piece is off its bounds; in the middle too, as it may cross from bound to bound."""
    P, some = pieces, pieces.ptr[1:] > pieces.ptr[:-1]
    if not some.any():
        return some
    first, u = np.minimum(P.ptr[:-1], P.index.size - 1), 0.5 * (P.t[:-1] + P.t[1:])  # nearly always this one tells
    i, a = P.index[first], 0.5 * (P.a0[first] + P.a1[first])
    cap = (1.0 - u) * start[i] + u * stop[i]
    free: Mask = some & (np.minimum(a, cap - a) > AT_BOUND * cap)
    few = np.flatnonzero(some & ~free)
    if few.size:
        free[few] = _free_in_full(P, few, start, stop)
    return free


def _free_in_full(pieces: Pieces, which: Index, start: Array, stop: Array) -> Mask:
    """The same of some pieces that have multipliers, each of which is looked at."""
    P, size = pieces, pieces.ptr[which + 1] - pieces.ptr[which]
    begin, row = np.cumsum(size) - size, np.repeat(np.arange(which.size), size)
    part = np.arange(row.size) + (P.ptr[which] - begin)[row]
    i, a0, a1, ends = P.index[part], P.a0[part], P.a1[part], np.stack([P.t[which], P.t[which + 1]])
    largest = np.maximum.reduceat(np.maximum(a0, a1), begin)
    most = np.maximum.reduceat((1.0 - ends[:, row]) * start[i] + ends[:, row] * stop[i], begin, axis=1)
    # Where caps grow by 1e12 and more, a multiplier that does not is off its bounds where they have just doubled.
    doubled = most[0] / np.maximum(most[0] + most[1], _TINY)
    share = np.stack([np.zeros(which.size), doubled, np.full(which.size, 0.5), np.ones(which.size)])
    at, share = ((1.0 - share) * ends[0] + share * ends[1])[:, row], share[:, row]
    cap = (1.0 - at) * start[i] + at * stop[i]
    a = (1.0 - share) * a0 + share * a1
    # A multiplier far below its cap is not at zero if all are.
    off = np.minimum(a, cap - a) > AT_BOUND * np.minimum(cap, largest[row])
    return np.asarray(np.logical_or.reduceat(off.any(axis=0), begin))


def within_box(pieces: Pieces, caps: Array, diagonal: Array) -> Pieces:
    """Multipliers at their bound where rounding has put them beyond it by a share that a certificate would see.

    A multiplier that enters is known to what its margin is, 1e-14, which is more than a certificate allows of a small
    cap. At the bound it moves no margin by more than the tracker allows in any case; but it moves the slope and what
    balances. All multipliers of the piece that meets this one there, from which it enters, do not: they are taken where
    none is further off than that one. ``caps`` and ``diagonal`` as in `Known`.
    """
    P, row = pieces, np.repeat(np.arange(pieces.t.size - 1), np.diff(pieces.ptr))
    ends, sides = [], (P.a0, P.a1)
    for end, a in enumerate(sides):
        t = P.t[row + end]
        cap = (1.0 - t) * caps[0, P.index] + t * caps[1, P.index]
        inside = np.clip(a, 0.0, cap)
        off = np.abs(a - inside)
        beyond = (off > SEEN_OUTSIDE * cap) & (off * diagonal[P.index] <= ENTERED)
        new = np.where(beyond, inside, a)
        for j in np.unique(row[beyond]).tolist():
            k, F = j + 2 * end - 1, slice(P.ptr[j], P.ptr[j + 1])
            if 0 <= k < P.t.size - 1:
                G = slice(P.ptr[k], P.ptr[k + 1])
                known = dict(zip(P.index[G].tolist(), sides[1 - end][G].tolist(), strict=True))
                bound = np.where(2 * a[F] > cap[F], cap[F], 0.0)
                there = np.array([known.get(i, v) for i, v in zip(P.index[F].tolist(), bound.tolist(), strict=True)])
                apart = np.abs(there - np.clip(there, 0.0, cap[F])) > SEEN_OUTSIDE * cap[F]
                if not (apart | (np.abs(there - a[F]) > 2 * off[F].max())).any():
                    new[F] = there
        ends.append(new)
    return replace(P, a0=ends[0], a1=ends[1])


def outwards(Q: Quadratic, w: Array, b: Array) -> Array:
    """By what to multiply slopes (k, d) and intercepts (k,), so that no rounding puts a sample inside its margin."""
    # Products of d terms, the intercept, rounding of what is stored and of what lies between two knots.
    terms = _EPS * (Q.width + 8)
    share = terms * (1.0 + Q.largest_terms(w) + np.abs(b))
    return np.asarray(1.0 + np.where(share <= OUTWARDS, share, 0.0))
