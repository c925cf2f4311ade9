r"""The search for a curve: smooth pieces by Newton's method, events, and chords where no smooth branch is found.

A piece is a polynomial through solutions at Chebyshev nodes. It ends where something must stay positive and does not,
or where the judge's bound is too wide, so that it is halved. Behind an event one interior-point solve, a little further
on, says which eigenvalues are positive there; at the event itself two branches meet, and Newton's method goes nowhere.
What is not positive all over the piece that follows is another branch: then the solve comes closer.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.common.progress import meter
from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.proof.curves.curve_proof import VANISHES, CurveProof, proof_of, relative_width
from paretoclf.proof.curves.curve_theorem import CurveBounds, CurveJudge, CurvePiece
from paretoclf.proof.curves.polynomials import GRID, evaluation
from paretoclf.solve.curves.active_rows import behind, event_near, row_of
from paretoclf.solve.curves.complementarity import CurveEvent, eigenvalues, labels, watched
from paretoclf.solve.curves.inner_pairs import InnerPair, InnerPairs
from paretoclf.solve.curves.newton import DEGREE, NODES, TO_COEFFICIENTS, Branch, CurvePoint, NewtonLine
from paretoclf.solve.eps.ends import refused
from paretoclf.solve.eps.solver import NONE, ConeSolver

#: Length of the first piece behind an event, at least.
_AFTER = 2.0**-5

#: Length of the first piece, of the shortest one that is smooth, and of the shortest that is halved for its bound.
_LENGTH, _SHORTEST, _SHORTEST_HALVED = 0.25, 1e-8, 1e-3

#: The next piece is longer than one that was fine by the first factor, and than one whose bounds are closer than they
#: need be by the last number by the second.
_LONGER, _MUCH_LONGER, _CLOSER_THAN = 1.6, 4.0, 0.03

#: The next trial is shorter than one that was not fine by factors between these, of which the usual is in the middle,
#: and than one on another branch by the other number.
_SHORTER, _MUCH_SHORTER = (0.1, 0.5, 0.8), 0.125

#: How far behind an event the solver is asked, at most; how often it comes closer, and by which factor.
_BEHIND, _CLOSER, _TRIES = 1e-3, 0.1, 6

#: What must stay positive has an event where it is below minus this share of the largest of its kind.
_EDGE = 1e-11

#: What a solution has of a negative number by its rounding, relative to its slacks and multipliers.
_ROUNDED = 1e-9

#: A solution at the start is one of no event where the least of these numbers is larger.
_CLEAR = 1e-6

#: Shares of a piece at which the polynomial is compared with the curve, and how far residuals may be off there.
_BETWEEN, _OFF = (0.137, 0.711), 1e-10

#: Widths that are aimed at where none is asked for: of smooth pieces, where a matrix of constraints moves, of chords.
_AIM, _AIM_MOVING, _AIM_CHORDS = 1e-9, 1e-7, 1e-6

#: Wider bounds, relative to the value, are no curve.
_WIDEST = 1e-2

#: Share of a width that is asked for that smooth pieces aim at: one that misses it by less than that is fine.
_SHARE = 0.5

#: A width that halving does not improve by this factor, twice, is taken: rounding is most of it.
_IMPROVES = 0.5

#: Stretches of chords: the first length, and the factor by which it grows.
_CHORDS, _GROWS = 1e-4, 4.0

#: The most chords of a stretch and of a path, beyond which it is no curve; and where a width is asked for, to which
#: they are halved.
_MOST_CHORDS, _MOST_ASKED = (64, 256), (2048, 4096)

#: No shorter chord is halved.
_SHORTEST_CHORD = 1e-7

_CONSTANT = "add a constant to the objective"

_BOUND = "bound its variables by constraints, so that no price vanishes"

#: What is so near an end of the line is said to be trouble of that end.
_OF_END = 1e-3

#: A value of no more than this share of the largest term of the objective is said to be near 0.
_NEAR = 1e-2

#: Places of a piece where roots are looked for, and halvings until one is found.
_ROOTS, _HALVINGS = np.linspace(0.0, 1.0, 401), 50


@dataclass(frozen=True)
class FoundCurve:
    """Pieces from 0 to 1 and how they were found; ``smooth`` says which of them are no chords."""

    judged: tuple[JudgedPiece, ...] = field(repr=False)
    smooth: tuple[bool, ...]
    events: tuple[CurveEvent, ...]
    solves: int
    inner_solves: int
    steps: int
    seconds: Mapping[str, float]

    @property
    def pieces(self) -> tuple[CurvePiece, ...]:
        """Pieces alone."""
        return tuple(each.piece for each in self.judged)

    def proof(self, note: str = "") -> CurveProof:
        """Proof of the curve, of the bounds by which its pieces were chosen."""
        bounds, widths = [each.bounds for each in self.judged], [each.width for each in self.judged]
        return proof_of(self.pieces, bounds, widths, note=note)


@dataclass(frozen=True)
class JudgedPiece:
    """A piece with its bounds, and how far these are apart, relative to the value."""

    piece: CurvePiece
    bounds: CurveBounds = field(repr=False)
    width: float


@dataclass(frozen=True)
class _SmoothTrial:
    """A smooth piece that was tried, as far as its first event, and the event's number."""

    stop: float
    x: Array
    z: Array
    event: int | None


@dataclass(frozen=True)
class _Chord:
    """The straight line between two solutions; None where it has no bounds."""

    first: CurvePoint
    last: CurvePoint
    judged: JudgedPiece | None

    @property
    def width(self) -> float:
        """How far the bounds are apart; infinite where there are none."""
        return np.inf if self.judged is None else self.judged.width


@dataclass(frozen=True)
class CurveAims:
    """How close the bounds of pieces are to be, relative to the value, and how many chords there may be.

    Attributes
    ----------
    smooth : float
        Smooth pieces that are wider are halved, as long as that helps.
    chords : float
        Smooth pieces that are wider become chords, and chords that are wider are halved.
    widest : float
        What stays wider is refused.
    most, most_in_all : int
        Chords of a stretch, and of the path.
    """

    smooth: float
    chords: float
    widest: float
    most: int
    most_in_all: int

    @classmethod
    def of(cls, line: ConeLine, eps: float | None) -> CurveAims:
        """Aims for a line, where all is to be within eps, or as close as it can be."""
        if eps is not None:
            return cls(_SHARE * eps, eps, eps, *_MOST_ASKED)
        return cls(_AIM if line.A_stop is None else _AIM_MOVING, _AIM_CHORDS, _WIDEST, *_MOST_CHORDS)


class CurveSearch:
    """Search along one line.

    Parameters
    ----------
    line : ConeLine
        Proved convex at both ends.
    eps : float, optional
        Within which the bounds of the value are to be, relative to it; by default they are as close as they can be.
    """

    def __init__(self, line: ConeLine, eps: float | None = None) -> None:
        self.newton = NewtonLine(line)
        self.judge = CurveJudge(self.newton.program)
        self._solver = ConeSolver(line, 1e-11)
        self._asked = eps is not None
        self.aims = CurveAims.of(line, eps)
        self.aim = self.aims.smooth
        self.judged: list[JudgedPiece] = []
        self.smooth: list[bool] = []
        self.events: list[CurveEvent] = []
        self._why = "no multipliers are well inside the dual cones"  # until the judge gives another reason
        self._first = self._interior(0.0)
        self.inner = self._inner_pairs(line, self._first)
        if self.inner.at(1.0) is None:  # solutions may be larger there
            self.inner = self._inner_pairs(line, self._first, self._interior(1.0))

    @staticmethod
    def _inner_pairs(line: ConeLine, *solutions: CurvePoint) -> InnerPairs:
        """Inner pairs of about the size of solutions, at both ends."""
        reach, reach_z = (1.0 + max(_largest(getattr(each, name)) for each in solutions) for name in "xz")
        found = InnerPairs(line, reach, reach_z)
        for t in (0.0, 1.0):
            found.at(t)
        return found

    # ---- solutions and branches -------------------------------------------------------------------------------

    def _interior(self, t: float) -> CurvePoint:
        """A solution by the interior-point solver."""
        x, z, word = self._solver(t)
        if word in NONE or not (np.isfinite(x).all() and np.isfinite(z).all()):
            raise self._no_optimum(t, word)
        return CurvePoint(t, x, z)

    def _no_optimum(self, t: float, word: str) -> InputError:
        """The error where a solver finds no optimum."""
        if self.newton.line.moves_equations:
            return InputError(
                f"stop must be nearer to start: at t = {t:.6g} the solver says {word!r}, and where coefficients of an "
                "equation move there must be an optimum at every t"
            )
        return InputError(
            f"curve must be False for this line: at t = {t:.6g} the solver says {word!r}, and a curve needs an "
            "optimum at every t. Trace it with eps, which says until where there is one"
        )

    def _branch(self, t: float, length: float) -> Branch | None:
        """The branch that begins at t, from a solution a little further; None where none is smooth there."""
        if t == 0.0 and length == _LENGTH:  # no event, mostly
            branch = self._polished(self._first)
            if branch is not None and self._least(branch) > _CLEAR:
                return branch
        behind = min(_BEHIND, length / 4)
        for _ in range(_TRIES):
            branch = self._polished(self._interior(min(t + behind, 1.0)))
            if branch is not None:
                return branch
            behind *= _CLOSER
        return None

    def _polished(self, found: CurvePoint) -> Branch | None:
        """The exact solution near one by the solver; None where none is found whose signs are right."""
        for label in (None, self._labels(found)):
            pair = self.newton.solved(found.t, found.x, found.z, label)
            if pair is None:
                continue
            branch = Branch(pair, self._labels(pair) if label is None else label)
            if self._inside(branch):
                return branch
        return None

    def _inside(self, branch: Branch) -> bool:
        """Whether nothing that must be positive is negative by more than rounding; Newton's method knows no signs."""
        return self._least(branch) > -_ROUNDED

    def _least(self, branch: Branch) -> float:
        """The least of what must not be negative, relative to slacks and multipliers."""
        pair = branch.pair
        slack = self.newton.slack(pair)
        of_slack, of_multiplier, _ = eigenvalues(self.newton.cones, slack, pair.z)
        scale = 1.0 + max(_largest(pair.z), _largest(slack))
        small = min(each.min(initial=1.0) for each in (of_slack, of_multiplier)) / scale
        least = float(self._watched(pair, branch.label).min(initial=1.0)) / scale
        return least if small > -_ROUNDED else min(least, small)

    def _labels(self, pair: CurvePoint) -> Mask:
        return labels(self.newton.cones, self.newton.slack(pair), pair.z)

    def _watched(self, pair: CurvePoint, label: Mask) -> Array:
        return watched(self.newton.cones, self.newton.slack(pair), pair.z, label)

    # ---- pieces -----------------------------------------------------------------------------------------------

    def _tried(self, t: float, length: float, branch: Branch) -> _SmoothTrial | float:
        """A smooth piece from t as far as its first event; or which share of its length is to be tried next."""
        pairs = self.newton.at_nodes(t, length, branch)
        if pairs is None:
            return _SHORTER[1]
        x, z = (TO_COEFFICIENTS @ np.array([getattr(pair, name) for pair in pairs]) for name in "xz")
        missed = 0.0
        for share in _BETWEEN:
            row = evaluation(DEGREE, np.array([share]))[0]
            missed = max(missed, self.newton.missed(CurvePoint(t + share * length, row @ x, row @ z), branch.label))
        if not missed <= _OFF:
            return _shorter(missed / _OFF)
        values = np.array([self._watched(pair, branch.label) for pair in pairs])
        share, event = _first_root(values)
        if share == 0.0:
            return _MUCH_SHORTER
        if event is None:
            return _SmoothTrial(1.0 if t + length >= 1.0 else _on_grid(t + length), x, z, None)
        stop = t + share * length
        if row_of(self.newton, branch, event) is not None:
            stop = event_near(self.newton, stop, length, branch, event)
        stop = min(_on_grid(stop), 1.0)
        if stop <= t:
            return _MUCH_SHORTER
        rows = evaluation(len(x) - 1, NODES * (stop - t) / length)
        return _SmoothTrial(stop, TO_COEFFICIENTS @ (rows @ x), TO_COEFFICIENTS @ (rows @ z), event)

    def _judged(self, start: float, stop: float, x: Array, z: Array) -> JudgedPiece | None:
        """The piece with the inner pairs with which its bounds are closest, and their relative distance."""
        tried = []
        moves = not self.newton.line.stands
        for choice in (self.inner.around, self.inner.closer):
            inner = choice(start, stop)
            found = None if inner is None else self._with((start, stop), x, z, inner)
            if found is None:
                continue
            tried.append(found)
            if found.width <= self.aim or not moves:  # where nothing moves, pairs that are closer are no better
                break
        return min(tried, key=lambda each: each.width) if tried else None

    def _with(
        self, ends: tuple[float, float], x: Array, z: Array, inner: tuple[InnerPair, InnerPair]
    ) -> JudgedPiece | None:
        """The piece with given inner pairs, and the relative distance of its bounds; None where it has none."""
        deep = (np.stack([getattr(each, name) for each in inner]) for name in "xyz")
        piece = CurvePiece(*ends, x, z, *deep)
        bounds = self.judge.bounds(piece)
        if isinstance(bounds, str):
            self._why = bounds
            return None
        return JudgedPiece(piece, bounds, relative_width(bounds))

    def run(self, progress: bool | None = None) -> FoundCurve:
        """Find pieces from 0 to 1."""
        began, t, length = time.perf_counter(), 0.0, _LENGTH
        branch, before, widths = self._branch(0.0, length), None, list[float]()
        with meter(progress) as update:
            while t < 1.0:
                was = t
                if branch is None or length < _SHORTEST:
                    t, branch = self._chords(t)
                    length, widths = _LENGTH, []
                else:
                    length = min(length, 1.0 - t)
                    t, length, branch, before = self._advance(t, length, branch, before, widths)
                if update is not None:
                    update(t - was)
        seconds = {"search": time.perf_counter() - began}
        counts = self._solver.solves, self.inner.solves, self.newton.steps
        return FoundCurve(tuple(self.judged), tuple(self.smooth), tuple(self.events), *counts, seconds)

    def _advance(
        self, t: float, length: float, branch: Branch, before: Mask | None, widths: list[float]
    ) -> tuple[float, float, Branch | None, Mask | None]:
        """Add the next piece, or say how long the next trial is; where it ends, the length and branch from there."""
        trial = self._tried(t, length, branch)
        if isinstance(trial, float):
            shorter = trial * length
            closer = trial == _MUCH_SHORTER or branch.pair.t > t + shorter
            return t, shorter, self._branch(t, shorter) if closer and shorter >= _SHORTEST else branch, before
        judged = self._judged(t, trial.stop, trial.x, trial.z)
        width = np.inf if judged is None else judged.width
        if width > self.aim and trial.stop - t > _SHORTEST_HALVED and not _stands(widths, width):
            widths.append(width)
            shorter = _shorter(width / self.aim) * (trial.stop - t)
            closer = branch.pair.t > t + shorter
            return t, shorter, self._branch(t, shorter) if closer else branch, before
        if judged is not None and self.aims.widest < width < _AIM_CHORDS:  # mostly rounding: no chord is closer
            raise self._too_wide(judged, t)
        if judged is None or width > self.aims.chords:  # chords may do better
            return t, 0.0, branch, before
        if width > self.aim and widths:
            self.aim = max(self.aim, min(2.0 * width, 100.0 * self.aim))
        elif width <= self.aims.smooth:  # such as behind a place where the value is 0
            self.aim = self.aims.smooth
        widths.clear()
        self._take(judged, smooth=True)
        if before is not None:
            self._compare(t, before, branch)
        last = Branch(CurvePoint(trial.stop, trial.x[-1], trial.z[-1]), branch.label)
        longer = length * (_MUCH_LONGER if width < _CLOSER_THAN * self.aim else _LONGER)
        if trial.event is None:
            return trial.stop, longer, last, None
        if trial.stop >= 1.0:
            return 1.0, length, branch, None
        longest = min(max(longer, _AFTER), 1.0 - trial.stop)
        row = row_of(self.newton, branch, trial.event)
        beyond = None if row is None else behind(self.newton, last, trial.event, row)
        return trial.stop, longest, beyond or self._branch(trial.stop, longest), branch.label

    def _take(self, piece: JudgedPiece, *, smooth: bool) -> None:
        self.judged.append(piece)
        self.smooth.append(smooth)

    def _compare(self, t: float, before: Mask, branch: Branch) -> None:
        """Write down which cones have other labels than before t."""
        which = self._which(branch.pair)
        changed = np.unique(which[before != branch.label]).tolist()
        for row in changed:
            mine = which == row
            self.events.append(CurveEvent(t, row, int(before[mine].sum()), int(branch.label[mine].sum())))

    def _which(self, pair: CurvePoint) -> Index:
        """Row of the cone that each label belongs to."""
        return eigenvalues(self.newton.cones, self.newton.slack(pair), pair.z)[2]

    # ---- chords -----------------------------------------------------------------------------------------------

    def _chords(self, t: float) -> tuple[float, Branch | None]:
        """Cover what lies before the next smooth branch with chords; where it begins, and the branch."""
        length, branch = _CHORDS, None
        while branch is None and t + length < 1.0:
            branch = self._branch(_on_grid(t + length), _LENGTH)
            if branch is None:
                length *= _GROWS
        stop = _on_grid(t + length) if t + length < 1.0 else 1.0
        self._cover(self._solution(t), self._solution(stop))
        return stop, branch

    def _solution(self, t: float) -> CurvePoint:
        """A solution at t, by Newton's method where that goes."""
        found = self._interior(t)
        branch = self._polished(found)
        return found if branch is None else branch.pair

    def _cover(self, first: CurvePoint, last: CurvePoint) -> None:
        """Cover an interval with chords: the widest is halved until all are close, or there are many."""
        chords = [self._chord(first, last)]
        while len(chords) < self.aims.most:
            widest = max(range(len(chords)), key=lambda k: chords[k].width)
            wide = chords[widest]
            middle = _on_grid(0.5 * (wide.first.t + wide.last.t))
            shortest = wide.last.t - wide.first.t < _SHORTEST_CHORD
            if wide.width <= self.aims.chords or shortest:
                break
            there = self._solution(middle)
            chords[widest : widest + 1] = [self._chord(wide.first, there), self._chord(there, wide.last)]
        for chord in chords:
            if chord.judged is None:
                why = f"no curve is found, and no chord proved: {self._why}"
                ways = [_BOUND] if "multipliers" in self._why else []  # a price that vanishes leaves none inside
                raise self._refused(why, chord.first.t, *ways)
            if chord.width > self.aims.widest:
                raise self._too_wide(chord.judged, chord.first.t)
            self._take(chord.judged, smooth=False)
        if self.smooth.count(False) > self.aims.most_in_all:
            raise self._refused("no smooth branch is found on much of the path", first.t)

    def _chord(self, first: CurvePoint, last: CurvePoint) -> _Chord:
        """The straight line between two solutions, judged; it bends a little to keep equations that move.

        The shortest chords may hide a jump of multipliers: the multipliers of one end alone may have closer bounds.
        """
        x, z = (np.stack([getattr(each, name) for each in (first, last)]) for name in "xz")
        if self.newton.line.moves_equations:
            x = self.judge.kept((first.t, last.t), x)
        chord = _Chord(first, last, self._judged(first.t, last.t, x, z))
        if last.t - first.t >= _SHORTEST_CHORD or chord.width <= self.aims.chords:
            return chord
        ends = [np.stack([each.z, each.z]) for each in (first, last)]
        others = [_Chord(first, last, self._judged(first.t, last.t, x, end)) for end in ends]
        return min([chord, *others], key=lambda each: each.width)

    def _too_wide(self, judged: JudgedPiece, t: float) -> DegeneratePathError:
        """Refusal of a piece whose bounds are far apart."""
        if judged.width == np.inf:
            return self._refused(VANISHES, t, _CONSTANT)
        said, bounds = f"bounds stay {judged.width:.1e} apart, relative to a value that", judged.bounds
        least, most = float(bounds.lower.low().min()), float(bounds.upper.high().max())
        if max(least, -most) <= _NEAR * float(bounds.terms.largest().max(initial=0.0)):
            return self._refused(f"{said} may be near 0", t, _CONSTANT)
        low, high = sorted(self.newton.line.sense * each for each in (least, most))
        return self._refused(f"{said} is between {low:.6g} and {high:.6g}", t)

    def _refused(self, why: str, t: float, *ways: str) -> DegeneratePathError:
        """Refusal with what may be done: a path within eps is one where points are well inside at both ends."""
        within = []
        if self._asked:
            within = ["ask for a larger eps"]
        elif not self.newton.line.moves_equations and None not in (self.inner.at(0.0), self.inner.at(1.0)):
            within = ["trace it with eps=1e-4"]  # where equations move, eps leads here again
        if t < _OF_END:
            beside = "begin the line a little later"
        elif t > 1.0 - _OF_END:
            beside = "end the line a little earlier"
        else:
            beside = "trace the parts of the line before and behind"
        *others, last = [*ways, *within, beside]
        remedy = f"{', '.join(others)}, or {last}." if others else f"{last}."
        return refused(why, t, remedy[0].upper() + remedy[1:])


def _first_root(values: Array) -> tuple[float, int | None]:
    """Share of a piece at which the first of some numbers is negative, and which; 1 where none is."""
    scale = 1.0 + float(np.abs(values).max(initial=0.0))
    coefficients = TO_COEFFICIENTS @ values
    share, event = 1.0, None
    below = np.flatnonzero(coefficients.min(axis=0, initial=0.0) < -_EDGE * scale)
    rows = evaluation(len(coefficients) - 1, _ROOTS)
    for column in below.tolist():
        mine = coefficients[:, column]
        bad = np.flatnonzero(rows @ mine < -_EDGE * scale)
        if not bad.size:
            continue
        if bad[0] == 0:
            return 0.0, column
        low, high = float(_ROOTS[bad[0] - 1]), float(_ROOTS[bad[0]])
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            positive = float(evaluation(len(mine) - 1, np.array([middle]))[0] @ mine) > 0.0
            low, high = (middle, high) if positive else (low, middle)
        if low < share:
            share, event = low, column
    return share, event


def _shorter(times: float) -> float:
    """Share of a piece to try next, as errors are to be smaller so many times, and fall with a power of its length."""
    least, _, most = _SHORTER
    share = 0.9 * times ** (-1.0 / (DEGREE + 1))
    return float(np.clip(share, least, most)) if np.isfinite(times) else least


def _stands(widths: list[float], width: float) -> bool:
    """Whether halving has not improved a width, twice."""
    return len(widths) >= 2 and width > _IMPROVES * widths[-1] and widths[-1] > _IMPROVES * widths[-2]


def _on_grid(t: float) -> float:
    """The nearest number of which 1 less it is a double, too."""
    return float(np.round(t / GRID) * GRID)


def _largest(v: Array) -> float:
    """Size of the largest entry."""
    return float(np.abs(v).max(initial=0.0))
