"""Where to solve a cone program along a line, so that the optimal value is known within eps at every t of it.

Pairs at nine t come first; each interval between two of them is then covered on its own. A piece whose gap is too
large by some factor is divided by the root of that: the gap grows with the square of the length where the solution is
smooth. Where a pair itself is not as close as that, division is of no use; it is made anew to a smaller tolerance, and
refused if that is not enough. A line that leaves the set of t with a solution is cut at its border, which one more
program finds, together with the ray that proves it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.common.progress import meter
from paretoclf.engine.reduction.program import between
from paretoclf.proof.cone_band import OF_LARGEST, BandProof, floor_of
from paretoclf.proof.cone_bends import ConePiece
from paretoclf.proof.cone_judge import ConeJudge
from paretoclf.proof.cone_line import ConeLine
from paretoclf.proof.cone_pair import Pair
from paretoclf.solve.cone_ends import ending, inside, last_inside, on_grid, refused
from paretoclf.solve.cone_inside import Inner, inner_multipliers
from paretoclf.solve.cone_pairs import pairs_near
from paretoclf.solve.cone_solver import NONE, ConeSolver
from paretoclf.solve.model import settings_at

#: Pairs at first.
_FIRST = 9

#: A gap is aimed at that is so much of the one that is asked for.
_AIM = 0.92

#: A pair whose own gap is more than this share of what is asked for is improved; more than the second is refused.
_OWN, _MOST = 0.1, 0.5

#: The solver is asked for this share of eps, within bounds.
_SHARE, _FINEST, _COARSEST = 1e-5, 1e-13, 1e-9

#: What else is tried where the solver stalls: other linear algebra, and the smallest tolerance.
_OTHERWISE: tuple[dict[str, Any], ...] = (
    {"direct_solve_method": "faer"},
    {"static_regularization_constant": 1e-10},
    {"direct_solve_method": "faer", **settings_at(_FINEST)},
)

#: Ceilings that are tried, each above the values that the one before let find.
_CEILINGS = 4

#: A gap is divided as if it were no more times what is aimed at: where nothing is proved yet, it is infinite.
_FARTHEST = 1e4

#: Pieces are no shorter.
_SHORTEST = 2.0**-36

#: What to do about a floor.
_HIGHER = (
    "Ask for a larger eps, bound the variables, or rescale them; where the optimal value is 0, add a constant to the "
    "objective, as no bounds are within a share of 0."
)

#: A pair as raw arrays t, x, y, z; with what is proved of it; what a solver returns.
Raw = tuple[float, Array, Array, Array]
Made = tuple[Pair, Raw]
Found = tuple[Array, Array, str]


@dataclass(frozen=True)
class Searched:
    """What a search found: pairs as raw arrays t, x, y, z, their proof, the end, and how often was solved."""

    points: tuple[Array, Array, Array, Array] = field(repr=False)
    proof: BandProof = field(repr=False)
    status: str
    ray: Array | None
    solves: int
    seconds: Mapping[str, float]
    inside: Array | None = field(default=None, repr=False)


#: Pairs of a path, as t, x, y, z, and its status and ray.
Known = tuple[tuple[Array, Array, Array, Array], tuple[str, Array | None]]


def search(
    line: ConeLine, eps: float, known: Known | None = None, *, n_jobs: int | None = None, progress: bool | None = None
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

    Raises
    ------
    InputError
        If there is no solution at the start, or no point inside the cones.
    DegeneratePathError
        If a pair cannot be proved, or is not as close as eps: with what stands in the way.
    """
    began = time.perf_counter()
    if not line.convex:
        raise InputError("the quadratic term of the problem must be convex, which is not proved of what CVXPY compiled")
    solver = ConeSolver(line, min(max(_SHARE * eps, _FINEST), _COARSEST))
    if known is None:
        found = {t: solver(t) for t in (0.0, 1.0)}
        inner = None if any(word in NONE for *_, word in found.values()) else inside(line, 1.0, _reach(found))
        found |= {t: solver(t) for t in on_grid(np.linspace(0.0, 1.0, _FIRST)).tolist() if t not in found}
        found = dict(sorted(found.items()))
        status, ray, stop = ending(line, [word for *_, word in found.values()])
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
    deep = np.stack(inner.points) if line.A_stop is not None else None
    values = [line.at(t).value(x) + float(between(line.constant, t)) for t, (x, *_) in found.items()]
    largest = max(abs(value) for value in values)
    unit = largest if 0.0 < largest < 1.0 else 1.0
    reach_z = 1.0 + max(float(np.abs(z).max(initial=0.0)) for _, z, _ in found.values())
    solves, ceiling = solver.solves, max(values) + 0.5 * (max(values) - min(values)) + 1e-3 * largest + 1e-9 * unit
    for _ in range(_CEILINGS):
        judge = ConeJudge(line, ceiling, deep)
        if judge.why:
            raise InputError(f"the problem must have bounds where its coefficients move: {judge.why}. Add them")
        inner_z = inner_multipliers(line, end, reach_z) if judge.wide.any() else None
        task = _Task(judge, inner, inner_z, eps, solver.tol, unit, OF_LARGEST * largest)
        points, proof, more = _everywhere(task, found, n_jobs, progress)
        solves += more
        highest = max(piece.high for piece in proof.pieces)
        if highest <= ceiling:
            break
        ceiling = highest + 0.1 * (highest - min(values))
    if not proof.passes():
        raise refused(proof.explain(), float(proof.t[int(np.argmax(proof.relative))]))
    return Searched(points, proof, status, ray, solves, {"search": time.perf_counter() - began}, deep)


def _reach(found: Mapping[float, Found]) -> float:
    """How large the entries of solutions are."""
    return 1.0 + max(float(np.abs(x).max(initial=0.0)) for x, _, word in found.values() if word not in NONE)


def _everywhere(
    task: _Task, found: Mapping[float, Found], n_jobs: int | None, progress: bool | None
) -> tuple[tuple[Array, Array, Array, Array], BandProof, int]:
    """Pairs where a solver has been, and all that are needed between them: as raw arrays, and what is proved of them.

    And how often was solved for these.
    """
    solver = ConeSolver(task.judge.line, task.tol, task.unit)
    first = [task.pair(solver, t, each) for t, each in found.items()]
    task = replace(task, floor=floor_of([pair for pair, _ in first]))
    made: list[tuple[Made, ConePiece]] = []
    solves = solver.solves
    expected = [task.expected(k[0], j[0]) for k, j in pairwise(first)]
    with meter(progress, pieces=sum(expected)) as update:
        parts = (delayed(_cover)(task, k, j) for k, j in pairwise(first))
        for (part, count), pieces in zip(Parallel(n_jobs=n_jobs, return_as="generator")(parts), expected, strict=True):
            made += part
            solves += count
            if update is not None:
                update(pieces)
    pairs = [*(each for each, _ in made), first[-1]]
    t, x, y, z = (np.stack([raw[i] for _, raw in pairs]) for i in range(4))
    proof = BandProof(tuple(pair for pair, _ in pairs), tuple(piece for _, piece in made), task.eps, task.judge.ceiling)
    return (t, x, y, z), proof, solves


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

    def share(self, pair: Pair) -> float:
        """The own gap of a pair, as a share of the gap that is asked for; infinite where it is not proved."""
        return np.inf if pair.why else pair.own / max(self.eps * self._size(pair), np.finfo(float).tiny)

    def _size(self, pair: Pair) -> float:
        return max(abs(pair.value), self.floor)

    def relative(self, piece: ConePiece) -> float:
        """The gap of a piece, relative to the optimal value."""
        return piece.gap / max(piece.unit(self.floor), np.finfo(float).tiny)

    def expected(self, k: Pair, j: Pair) -> float:
        """How many pieces there will be between two pairs, if the gap grows with the square of the length."""
        relative = self.relative(self.judge.piece(k, j))
        return max(1.0, math.sqrt(min(relative / (_AIM * self.eps), _FARTHEST)))

    def pair(self, solver: ConeSolver, t: float, found: Found | None = None) -> Made:
        """The best pair at t, and what it is made of; refused if it is of no use."""
        best = None if found is None else self._best(t, found)
        word = "no numbers" if found is None else found[2]
        for others in _OTHERWISE if best is not None and self.unit == 1.0 else ({}, *_OTHERWISE):
            if best is None or self.share(best[0]) > (_MOST if others else _OWN):
                other = solver(t, **others)
                best, word = self._best(t, other, best), other[2]
        if best is None:
            raise refused(f"CLARABEL returned {word!r}", t)
        pair = best[0]
        if pair.why:
            raise refused(f"not proved: {pair.why}", t, _remedy(pair.why))
        if self.share(pair) > _MOST:
            raise refused(f"a floor: {self._floor(pair)}", t, _HIGHER)
        return best

    def _best(self, t: float, found: Found, best: Made | None = None) -> Made | None:
        """The better one of a pair and those that a solver's numbers make."""
        x, z, word = found
        if word in NONE or not (np.isfinite(x).all() and np.isfinite(z).all()):
            return best
        for pair, (point, y, tried) in pairs_near(self.judge, t, (x, z), self.inner, self.inner_z):
            if best is None or (self.share(pair), pair.own) < (self.share(best[0]), best[0].own):
                best = pair, (t, point, y, tried)
            if self.share(best[0]) <= _OWN:
                break
        return best

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


def _cover(task: _Task, k: Made, j: Made) -> tuple[list[tuple[Made, ConePiece]], int]:
    """Pairs from k, inclusive, to j, exclusive, each with the piece after it; and how often was solved."""
    solver = ConeSolver(task.judge.line, task.tol, task.unit)
    aim, todo = _AIM * task.eps, [j]
    made: list[tuple[Made, ConePiece]] = []
    length: float | None = None
    while todo:
        (here, _), (there, _) = k, todo[-1]
        piece, whole = task.judge.piece(here, there), there.t - here.t
        relative = task.relative(piece)
        if relative <= task.eps:
            made.append((k, piece))
            k = todo.pop()
            length = whole * math.sqrt(aim / max(relative, 0.25 * aim))  # what would do, if it goes on like this
            continue
        if whole <= _SHORTEST:
            raise refused(f"bounds stay {relative:.1e} apart on a piece of length {whole:.1e}", here.t)
        step = whole / math.sqrt(min(relative / aim, _FARTHEST)) if length is None else length
        parts = max(2, math.ceil(whole / step - 0.05))
        todo.append(task.pair(solver, float(on_grid(np.array([here.t + whole / parts]))[0])))
        length = None
    return made, solver.solves


def _remedy(why: str) -> str:
    """What to do where a pair is not proved."""
    if "no bounds" in why:
        return "Bound these variables by constraints, or begin the line where nothing vanishes."
    return "Give it points well inside its constraints, or rescale the data."
