"""Where to solve a cone program along a line, so that the optimal value is known within eps at every t of it.

Pairs at nine t come first; each interval between two of them is then covered on its own. A piece whose gap is too
large by some factor is divided by the root of that: the gap grows with the square of the length where the solution is
smooth. Where a pair itself is not as close as that, division is of no use; it is made anew to a smaller tolerance, and
refused if that is not enough. A line that leaves the set of t with a solution is cut at its border, which one more
program finds, together with the ray that proves it. A search that is stopped leaves the pairs that there are, and what
is proved between them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from paretoclf.common.checks import Array
from paretoclf.common.errors import DegeneratePathError, InputError, Stop, StoppedError
from paretoclf.common.progress import meter
from paretoclf.engine.reduction.program import between
from paretoclf.proof.bands.band_proof import OF_LARGEST, BandProof, floor_of, note_of, prove_band
from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.proof.bands.line_judge import ConeJudge
from paretoclf.proof.bands.moving_matrix import NOTHING, ConePiece
from paretoclf.proof.bands.pairs import Pair
from paretoclf.proof.programs.convexity import semidefinite
from paretoclf.solve.eps.ends import ending, inside, last_inside, on_grid, refused
from paretoclf.solve.eps.interior import Inner, inner_multipliers
from paretoclf.solve.eps.line_units import LineUnits
from paretoclf.solve.eps.solver import NONE, SHORTER, ConeSolver
from paretoclf.solve.eps.solver_pairs import feasible, tried_multipliers
from paretoclf.solve.models.model import settings_at

#: Pairs at first.
_FIRST = 9

#: A gap is aimed at that is so much of the one that is asked for.
_AIM = 0.92

#: A pair whose own gap is more than this share of what is asked for is improved; more than the second is refused.
_OWN, _MOST = 0.1, 0.5

#: The solver is asked for this share of eps, within bounds.
_SHARE, _FINEST, _COARSEST = 1e-5, 1e-13, 1e-9

#: What else is tried where the solver stalls: other linear algebra, the smallest tolerance, and shorter steps.
_OTHERWISE: tuple[dict[str, Any], ...] = (
    {"direct_solve_method": "faer"},
    {"static_regularization_constant": 1e-10},
    {"direct_solve_method": "faer", **settings_at(_FINEST)},
    *SHORTER,
)

#: Ceilings that are tried, each above the values that the one before let find.
_CEILINGS = 4

#: A gap is divided as if it were no more times what is aimed at: where nothing is proved yet, it is infinite.
_FARTHEST = 1e4

#: What will be more pieces is divided at once, as far as into so many parts.
_LONG, _PARTS = 8, 8

#: Pieces are no shorter.
_SHORTEST = 2.0**-36

#: What to do about a floor.
_HIGHER = (
    "Ask for a larger eps, bound the variables, or rescale them; where the optimal value is 0, add a constant to the "
    "objective, as no bounds are within a share of 0. With curve=True in place of eps smooth pieces are often closer."
)

#: What a solver returns.
Found = tuple[Array, Array, str]

#: Where a pair is wanted, by which solver, and the recipe for multipliers that did nearby.
Wanted = tuple[float, ConeSolver, int]


class Made(NamedTuple):
    """A pair, the raw arrays t, x, y, z that it is made of, and by which recipe its multipliers are."""

    pair: Pair
    raw: tuple[float, Array, Array, Array]
    recipe: int


@dataclass(frozen=True)
class Searched:
    """What a search found: pairs as raw arrays t, x, y, z, their proof, the end, and how often was solved.

    Where it was ``stopped`` the eps of the proof is what was reached.
    """

    points: tuple[Array, Array, Array, Array] = field(repr=False)
    proof: BandProof = field(repr=False)
    status: str
    ray: Array | None
    solves: int
    seconds: Mapping[str, float]
    inside: Array | None = field(default=None, repr=False)
    stopped: Stop | None = field(default=None, repr=False)


#: Pairs of a path, as t, x, y, z, and its status and ray.
Known = tuple[tuple[Array, Array, Array, Array], tuple[str, Array | None]]


def search(
    line: ConeLine,
    eps: float,
    known: Known | None = None,
    *,
    n_jobs: int | None = None,
    progress: bool | None = None,
    deadline: float = math.inf,
) -> Searched:
    """Pairs of a line between which everything is proved to eps.

    Parameters
    ----------
    line : ConeLine
    eps : float
        Relative, strictly between 0 and 1.
    known : pairs, and an end, optional
        Those of a path that is to be refined.
    n_jobs : int, optional
        Processes, for joblib. What is found does not depend on it.
    progress : bool, optional
    deadline : float, optional
        When to stop, by ``time.monotonic()``. Nor does an interrupt from the keyboard lose pairs, where one process
        is at work.

    Raises
    ------
    InputError
        If there is no solution at the start, or no point inside the cones.
    DegeneratePathError
        If a pair cannot be proved, or is not as close as eps: with what stands in the way.
    StoppedError
        If the search was stopped before anything was proved on all of the line.
    """
    how: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress, "deadline": deadline}
    units = LineUnits.of(line)
    if not units.plain:
        try:
            return _in_units(units, line, eps, known, **how)
        except StoppedError:
            raise
        except (InputError, DegeneratePathError):  # whose words have the numbers of other units
            pass
    return _searched(line, eps, known, **how)


def _in_units(units: LineUnits, line: ConeLine, eps: float, known: Known | None, **how: Any) -> Searched:
    """Search in units of the line; what is found is proved of the line as it is."""
    if known is not None:
        pairs, end = known
        known = units.into(pairs), end
    found = _searched(units.scaled(line), eps, known, **how)
    points = units.back(found.points)
    proof = prove_band(ConeJudge(line, units.values * found.proof.ceiling), points, eps)
    if found.stopped is not None:
        proof = _as_reached(proof, found.stopped)
    if not proof.passes():
        raise refused(proof.explain(), float(proof.t[int(np.argmax(proof.gap))]))
    return replace(found, points=points, proof=proof)


def _as_reached(proof: BandProof, stopped: Stop) -> BandProof:
    """Proof of what was reached before the search was stopped: its eps has two digits; the error if that is nothing."""
    if proof.passes():
        return proof
    reached = float(proof.gap.max())
    if not reached < 1.0:
        raise stopped
    digit = 10.0 ** (math.floor(math.log10(reached)) - 1)
    eps = float(f"{math.ceil(reached / digit) * digit:.1e}")
    return replace(proof, eps=eps if eps < 1.0 else reached)


def _searched(
    line: ConeLine, eps: float, known: Known | None, *, n_jobs: int | None, progress: bool | None, deadline: float
) -> Searched:
    """Search in the units that the line has."""
    began = time.perf_counter()
    solver = ConeSolver(line, min(max(_SHARE * eps, _FINEST), _COARSEST))
    if known is None:
        found = {t: solver(t) for t in (0.0, 1.0)}
        inner = None if any(word in NONE for *_, word in found.values()) else inside(line, 1.0, _reach(found))
        found |= {t: solver(t) for t in on_grid(np.linspace(0.0, 1.0, _FIRST)).tolist() if t not in found}
        found = dict(sorted(found.items()))
        status, ray, stop = ending(line, {t: word for t, (*_, word) in found.items()})
    else:
        (t, x, _, z), (status, ray) = known
        found = {each: (x[i], z[i], "Solved") for i, each in enumerate(t.tolist())}
        stop = float(t[-1])
        inner = inside(line, stop, _reach(found))
    end = stop
    if inner is None or (known is None and status != "end"):
        end, inner = last_inside(line, stop, _reach(found), solver)
        found |= {t: solver(t) for t in on_grid(np.linspace(0.0, end, _FIRST)).tolist() if t not in found}
        found = {t: found[t] for t in on_grid(np.linspace(0.0, end, _FIRST)).tolist()}
    deep = inner.ends if line.A_stop is not None else None
    values = [line.at(t).value(x) + float(between(line.constant, t)) for t, (x, *_) in found.items()]
    largest = max(abs(value) for value in values)
    unit = largest if 0.0 < largest < 1.0 else 1.0
    reach_z = 1.0 + max(float(np.abs(z).max(initial=0.0)) for _, z, _ in found.values())
    solves, ceiling = solver.solves, max(values) + 0.5 * (max(values) - min(values)) + 1e-3 * largest + 1e-9 * unit
    for _ in range(_CEILINGS):
        judge = ConeJudge(line, ceiling, deep)
        if judge.why and not semidefinite(line):
            raise InputError(
                "the quadratic term of the problem must be convex, which is not proved of what was compiled"
            )
        if judge.why:
            remedy = "Add them, or pass curve=True in place of eps, which needs none"
            raise InputError(f"the problem must have bounds where its coefficients move: {judge.why}. {remedy}")
        inner_z = inner_multipliers(line, end, reach_z) if judge.wide.any() else None
        task = _Task(judge, inner, inner_z, eps, solver.tol, unit, OF_LARGEST * largest, deadline)
        points, proof, more, stopped = _everywhere(task, found, n_jobs, progress)
        solves += more
        highest = max(piece.high for piece in proof.pieces)
        if highest <= ceiling or stopped is not None:
            break
        ceiling = highest + 0.1 * (highest - min(values))
    if stopped is not None:
        proof = _as_reached(proof, stopped)
    if not proof.passes():
        raise refused(proof.explain(), float(proof.t[int(np.argmax(proof.gap))]))
    return Searched(points, proof, status, ray, solves, {"search": time.perf_counter() - began}, deep, stopped)


def _reach(found: Mapping[float, Found]) -> float:
    """How large the entries of solutions are."""
    return 1.0 + max(float(np.abs(x).max(initial=0.0)) for x, _, word in found.values() if word not in NONE)


def _everywhere(
    task: _Task, found: Mapping[float, Found], n_jobs: int | None, progress: bool | None
) -> tuple[tuple[Array, Array, Array, Array], BandProof, int, Stop | None]:
    """Pairs where a solver has been, and all that are needed between them: as raw arrays, and what is proved of them.

    And how often was solved for these, and what stopped it.
    """
    solver = ConeSolver(task.judge.line, task.tol, task.unit)
    first = task.pairs([(t, solver, 0) for t in found], [*found.values()])
    task = replace(task, floor=floor_of([made.pair for made in first]))
    spans, stopped = _divided(task, solver, first)
    expected = [task.expected(span.piece) for span in spans]
    jobs = min(effective_n_jobs(n_jobs), len(spans))
    with meter(progress, pieces=sum(expected)) as update:
        if stopped is not None:
            covered = [_as_they_are(task.judge, spans, stopped)]
        elif jobs == 1:
            covered = [_cover(task, spans, update, expected)]
        else:
            groups = [part.tolist() for part in np.array_split(np.arange(len(spans)), jobs)]
            left = task.deadline - time.monotonic()  # another machine has another clock
            parts = (delayed(_cover_within)(left, task, [spans[i] for i in group]) for group in groups)
            covered = []
            for group, part in zip(groups, Parallel(n_jobs=n_jobs, return_as="generator")(parts), strict=True):
                covered.append(part)
                if update is not None:
                    update(sum(expected[i] for i in group))
    made = [each for part in covered for span in part.spans for each in span.made]
    solves = solver.solves + sum(part.solves for part in covered)
    stopped = next((part.stopped for part in covered if part.stopped is not None), None)
    pairs = [*(each for each, _ in made), first[-1]]
    t, x, y, z = (np.stack([each.raw[i] for each in pairs]) for i in range(4))
    proved, pieces = tuple(each.pair for each in pairs), tuple(piece for _, piece in made)
    judge = task.judge
    proof = BandProof(proved, pieces, task.eps, judge.ceiling, note_of(judge.line, proved))
    return (t, x, y, z), proof, solves, stopped


@dataclass(frozen=True)
class _Task:
    """What an interval needs to be covered; ``floor`` is the least size of a value that eps is a share of."""

    judge: ConeJudge = field(repr=False)
    inner: Inner | None
    inner_z: Inner | None
    eps: float
    tol: float
    unit: float
    floor: float
    deadline: float = math.inf

    @property
    def late(self) -> bool:
        """Whether no time is left."""
        return time.monotonic() >= self.deadline

    def share(self, pair: Pair) -> float:
        """The own gap of a pair, as a share of the gap that is asked for; infinite where it is not proved."""
        return np.inf if pair.why else pair.own / max(self.eps * self._size(pair), np.finfo(float).tiny)

    def _size(self, pair: Pair) -> float:
        return max(abs(pair.value), self.floor)

    def relative(self, piece: ConePiece) -> float:
        """The gap of a piece, relative to the optimal value."""
        return piece.gap / max(piece.unit(self.floor), np.finfo(float).tiny)

    def expected(self, piece: ConePiece) -> float:
        """How many pieces there will be between two pairs, if the gap grows with the square of the length."""
        return max(1.0, math.sqrt(min(self.relative(piece) / (_AIM * self.eps), _FARTHEST)))

    def pairs(self, wanted: Sequence[Wanted], found: list[Found] | None = None) -> list[Made]:
        """The best pair at each t, and what it is made of; refused if one is of no use.

        What else there is is tried of the first that is not close, before it is of the others: if it fails, all do.
        """
        best: dict[int, Made] = {}
        words = ["no numbers"] * len(wanted) if found is None else [each[2] for each in found]
        if found is not None:
            self._improve(best, wanted, dict(enumerate(found)))
        self._solve(best, wanted, [i for i in range(len(wanted)) if i not in best], words)
        in_these_units = found is None or self.unit == 1.0
        most = _MOST if in_these_units else _OWN
        short = self._short(best, range(len(wanted)), most)
        for some in (short[:1], short[1:]):
            if not in_these_units:
                self._solve(best, wanted, some, words)
            for others in _OTHERWISE:
                self._solve(best, wanted, self._short(best, some, _MOST), words, others)
            for i in some:
                self._check(best.get(i), wanted[i][0], words[i])
        return [best[i] for i in range(len(wanted))]

    def _short(self, best: Mapping[int, Made], some: Iterable[int], most: float) -> list[int]:
        """Places without a pair whose own gap is at most a share of what is asked for."""
        return [i for i in some if i not in best or self.share(best[i].pair) > most]

    def _solve(
        self,
        best: dict[int, Made],
        wanted: Sequence[Wanted],
        some: list[int],
        words: list[str],
        others: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Solve where some pairs are wanted, with other settings, and keep what is better and the solver's words."""
        solved = {i: wanted[i][1](wanted[i][0], **others) for i in some}
        for i, (*_, word) in solved.items():
            words[i] = word
        self._improve(best, wanted, solved)

    def _check(self, made: Made | None, t: float, word: str) -> None:
        """Refuse a pair of no use."""
        if made is None:
            raise refused(f"CLARABEL returned {word!r}", t)
        if made.pair.why:
            raise refused(f"not proved: {made.pair.why}", t, _remedy(made.pair.why))
        if self.share(made.pair) > _MOST:
            raise refused(f"a floor: {self._floor(made.pair)}", t, _HIGHER)

    def _improve(self, best: dict[int, Made], wanted: Sequence[Wanted], solved: Mapping[int, Found]) -> None:
        """Put a better pair in place of each, where a solver's numbers make one; all are judged together."""
        fine = {
            i: (x, z)
            for i, (x, z, word) in solved.items()
            if word not in NONE and np.isfinite(x).all() and np.isfinite(z).all()
        }
        if not fine:
            return
        t, x = np.array([wanted[i][0] for i in fine]), np.array([x for x, _ in fine.values()])
        points = dict(zip(fine, feasible(self.judge, t, x, self.inner), strict=True))
        trials = {
            i: tried_multipliers(self.judge, wanted[i][0], each, self.inner_z, wanted[i][2]) for i, each in fine.items()
        }
        while trials:
            tried = {i: each for i, trial in trials.items() if (each := next(trial, None)) is not None}
            if not tried:
                return
            y, z = (np.array([each[k] for each in tried.values()]) for k in (1, 2))
            t, x = np.array([wanted[i][0] for i in tried]), np.array([points[i] for i in tried])
            for i, pair in zip(tried, self.judge.pairs(t, x, y, z), strict=True):
                if i not in best or (self.share(pair), pair.own) < (self.share(best[i].pair), best[i].pair.own):
                    recipe, *numbers = tried[i]
                    best[i] = Made(pair, (wanted[i][0], points[i], *numbers), recipe)
            trials = {i: trials[i] for i in tried if self.share(best[i].pair) > _OWN}

    def _floor(self, pair: Pair) -> str:
        """Why a pair is not closer than it is."""
        cost, unit = pair.missed * pair.reach, max(self._size(pair), np.finfo(float).tiny)
        worst = self.judge.line.column_name(int(np.argmax(cost)))
        parts = {
            f"what multipliers miss of stationarity, most in {worst}": float(cost.sum()),
            "the gap that the solver leaves": pair.own - float(cost.sum()),
        }
        name = max(parts, key=lambda key: parts[key])
        return (
            f"the pair, of objective {pair.value:.3g}, is within {pair.own / unit:.1e} of the optimal value only, "
            f"because of {name} ({parts[name] / unit:.1e})"
        )


@dataclass
class _Span:
    """What lies between a pair and those to the right of it, the nearest last; ``made``: what is done to the left.

    ``piece`` is what is proved as far as the nearest.
    """

    here: Made
    todo: list[Made]
    piece: ConePiece
    made: list[tuple[Made, ConePiece]] = field(default_factory=list)
    length: float | None = None

    @property
    def recipe(self) -> int:
        """Recipe for multipliers that is worth trying first in this interval."""
        return max(self.here.recipe, self.todo[-1].recipe)

    def goes_on(self, task: _Task) -> float | None:
        """Take the piece if it is good enough, else say where to solve."""
        here, there = self.here.pair, self.todo[-1].pair
        aim, whole = _AIM * task.eps, there.t - here.t
        relative = task.relative(self.piece)
        if relative <= task.eps:
            self.made.append((self.here, self.piece))
            self.here = self.todo.pop()
            self.length = whole * math.sqrt(aim / max(relative, 0.25 * aim))  # would do, if it goes on like this
            return None
        if whole <= _SHORTEST:
            raise refused(f"bounds stay {relative:.1e} apart on a piece of length {whole:.1e}", here.t)
        step = whole / math.sqrt(min(relative / aim, _FARTHEST)) if self.length is None else self.length
        parts, self.length = max(2, math.ceil(whole / step - 0.05)), None
        return float(on_grid(np.array([here.t + whole / parts]))[0])


def _divided(task: _Task, solver: ConeSolver, pairs: list[Made]) -> tuple[list[_Span], Stop | None]:
    """Spans between pairs, and between more of them where there will be many pieces; and what stopped that."""
    spans = [_Span(k, [j], NOTHING) for k, j in pairwise(pairs)]
    _look(task.judge, spans)
    try:
        while not task.late and (finer := _finer(task, solver, spans)):
            spans = finer
    except KeyboardInterrupt as pressed:
        return spans, pressed
    return spans, None


def _finer(task: _Task, solver: ConeSolver, spans: list[_Span]) -> list[_Span]:
    """Spans with those divided where there will be many pieces; none if there are no such."""
    parts = [min(math.ceil(task.expected(span.piece) / _LONG), _PARTS) for span in spans]
    ends = [(span.here.pair.t, span.todo[-1].pair.t) for span in spans]
    inner = [on_grid(np.linspace(*each, part + 1))[1:-1] for each, part in zip(ends, parts, strict=True)]
    if not any(each.size for each in inner):
        return []
    wanted = [(t, solver, span.recipe) for span, each in zip(spans, inner, strict=True) for t in each.tolist()]
    made = iter(task.pairs(wanted))
    finer: list[_Span] = []
    for span, each in zip(spans, inner, strict=True):
        between = [span.here, *(next(made) for _ in each), *span.todo]
        finer += [_Span(k, [j], NOTHING) for k, j in pairwise(between)] if each.size else [span]
    _look(task.judge, [span for span in finer if span.piece is NOTHING])
    return finer


class _Covered(NamedTuple):
    """Spans that were covered, how often was solved for them, and what stopped that."""

    spans: list[_Span]
    solves: int
    stopped: Stop | None


def _cover_within(seconds: float, task: _Task, spans: list[_Span]) -> _Covered:
    """Cover spans in so much time."""
    return _cover(replace(task, deadline=time.monotonic() + seconds), spans)


def _cover(task: _Task, spans: list[_Span], update: Any = None, expected: list[float] | None = None) -> _Covered:
    """Cover spans with pieces that are good enough, all side by side.

    What comes of one does not depend on which others are covered with it. Where it is stopped, pieces between the pairs
    that there are cover the spans, whatever is proved of them.
    """
    first, todo = ConeSolver(task.judge.line, task.tol, task.unit), [*range(len(spans))]
    stopped: Stop | None = None
    solvers = [first.fresh() for _ in spans]  # where one was set up may depend on its own span only
    try:
        while todo:
            wanted = _taken(task, spans, todo, update, expected)
            if task.late and wanted:
                cause = "the time that was allowed is over"
                stopped = StoppedError(cause, t=None, costs="", n_margin=None, remedy="Raise max_seconds, or eps.")
                break
            asked = [(t, solvers[i], spans[i].recipe) for i, t in wanted.items()]
            for i, made in zip(wanted, task.pairs(asked), strict=True):
                spans[i].todo.append(made)
            todo = [*wanted]
            _look(task.judge, [spans[i] for i in todo])
    except KeyboardInterrupt as pressed:
        stopped = pressed
    solves = sum(solver.solves for solver in solvers)
    if stopped is not None:
        return _as_they_are(task.judge, spans, stopped, solves)
    return _Covered(spans, solves, None)


def _taken(
    task: _Task, spans: list[_Span], todo: list[int], update: Any, expected: list[float] | None
) -> dict[int, float]:
    """Take all pieces that are good enough, and return where to solve for the others: t by the number of the span."""
    wanted: dict[int, float] = {}
    while todo:
        taken = []
        for i in todo:
            t = spans[i].goes_on(task)
            if t is not None:
                wanted[i] = t
            elif spans[i].todo:
                taken.append(i)
            elif update is not None and expected is not None:
                update(expected[i])
        todo = taken
        _look(task.judge, [spans[i] for i in todo])
    return wanted


def _as_they_are(judge: ConeJudge, spans: list[_Span], stopped: Stop, solves: int = 0) -> _Covered:
    """Cover spans by pieces between their pairs: at an interrupt these are all that can be relied on."""
    for span in spans:
        there = {made.pair.t: made for made in (*(made for made, _ in span.made), span.here, *span.todo)}
        pairs = [there[t] for t in sorted(there)]
        pieces = judge.pieces([each.pair for each in pairs[:-1]], [each.pair for each in pairs[1:]])
        span.made = list(zip(pairs[:-1], pieces, strict=True))
    return _Covered(spans, solves, stopped)


def _look(judge: ConeJudge, spans: list[_Span]) -> None:
    """Prove what can be from the left of each span to the nearest pair."""
    pieces = judge.pieces([span.here.pair for span in spans], [span.todo[-1].pair for span in spans])
    for span, piece in zip(spans, pieces, strict=True):
        span.piece = piece


def _remedy(why: str) -> str:
    """Advice where a pair is not proved."""
    if "no bounds" in why:
        return "Bound these variables by constraints, or begin the line where nothing vanishes."
    return "Give it points well inside its constraints, or rescale the data."
