"""Certificate files: the labels of a path, made exact, for `paretoclf.proof.check` or whoever reads them.

The bases of a path in doubles are nearly always exactly optimal: they are the guide, and each is tried in integers. At
the start, and where none of them goes on, the general engine exchanges items exactly until one does.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import InputError
from paretoclf.common.files import AnyFile, replacing
from paretoclf.common.progress import counted, meter
from paretoclf.engine.segments import most_exchanges
from paretoclf.engine.start import Data, first_labels, shifted
from paretoclf.engine.textbook import Walk
from paretoclf.problem.parametric_qp import INSIDE, ParametricQP
from paretoclf.proof import check, check_gap, check_ray
from paretoclf.proof.files.points import OnePoint, StoredPoints, lower_triangle, program_points
from paretoclf.proof.files.problems import (
    UNTOUCHED,
    labelled,
    labels_of,
    path_problem,
    point_problem,
    program_problem,
    stated,
)
from paretoclf.proof.solution import Solution

#: Of labels from -2 to 2.
LETTERS = "bliua"
#: Powers of two that are tried on the diagonal of a matrix that is not proved semidefinite, against its largest entry.
_SHIFTS = (-48, -44, -40, -36, -32, -28, -24)
#: Of matrices larger than this none is taken apart without rounding.
_LARGE = 150
#: Where an exact certificate is expected to take more seconds than this (`_quick`), it is bounded by default.
_MINUTE = 60.0
#: Seconds that a unit of work takes in it: of the inverse on the margin set, of all samples, of proving P >= 0.
_INVERSE, _ITEMS, _MATRIX = 1e-8, 1e-7, 1e-8
#: Powers of two by which dual points are stretched, of problems whose multipliers have no upper bound.
_STRETCHES = (-40, -34, -28, -22)

#: A path in doubles: t, variables and multipliers of rows at its knots.
Knots = tuple[Array, Array, Array]
#: What proves that no minimum is beyond an end, as `paretoclf.proof.check_ray` reads it.
Ray = tuple[str, list[Any]]


class Exact(Walk):
    """The general engine in integers: of its transform only what belongs to the basis is kept, over one denominator."""

    def __init__(self, data: Data, labels: Index) -> None:
        n, problem = data.problem.n, data.problem
        self.data, self.labels, self.n = data, np.array(labels), n
        size = self.labels.size
        self.zero = self.t = Fraction(0)
        self.last = 0
        self.kind = np.dtype(object)
        self.variable = np.arange(size) < n
        self.matrix = np.zeros((size, size), dtype=object)
        self.matrix[:n, :n], self.matrix[:n, n:], self.matrix[n:, :n] = problem.P, problem.A.T, problem.A
        self.rows = self.matrix.tolist()
        self.exchanges = self.standing = 0
        self.patience = 200 + 2 * size
        self.resting = np.zeros(size, dtype=bool)
        q = np.hstack([data.q, np.zeros((2, size - n), dtype=object)])
        ends = (q, data.low, data.up, data.below, data.above)
        self.lines = tuple(np.stack([each[0], each[1] - each[0]]) for each in ends)
        self.outside, self.load = np.zeros((2, 2, size), dtype=object)
        self.factor()

    def factor(self) -> None:
        """The inverse on the basis, afresh."""
        self.inverse, self.D = check.change(self.rows, {}, 1, np.flatnonzero(self.basis).tolist())

    def pivot(self, items: list[int]) -> None:
        """Some items change their roles."""
        self.resting[:] = False
        self.inverse, self.D = check.change(self.rows, self.inverse, self.D, items)

    def move(self, labels: Index) -> None:
        """To other labels; ArithmeticError, and nothing has changed, where they leave open what the solution is."""
        old, before = self.basis, self.labels
        self.labels = np.array(labels)
        try:
            self.pivot(np.flatnonzero(self.basis != old).tolist())
        except ArithmeticError:
            self.labels = before
            raise

    def scaled(self) -> tuple[Any, Any]:
        """Values and multipliers at t = 0, and their rates, times the common denominator; shape (2, items) each."""
        labels, variable, basis = self.labels, self.variable, self.basis
        q, low, up, below, above = self.lines
        bound = np.where(labels > 0, up, low)
        level = np.where(labels == -2, below, np.where(labels == 2, -above, 0))
        known = np.where(basis, np.where(variable, level - q, bound), np.where(variable, bound, -level))
        outside = np.where(basis, 0, known)
        new = np.flatnonzero((outside != self.outside).any(axis=0))
        self.load = self.load + (outside - self.outside)[:, new].dot(self.matrix[new])
        self.outside = outside
        B = np.array(list(self.inverse), dtype=np.int64)
        u, w = self.D * outside, self.D * self.load
        if B.size:
            inverse: Any = np.array([list(row.values()) for row in self.inverse.values()], dtype=object)
            u[:, B] = (known - self.load)[:, B].dot(inverse.T)
            w = w + u[:, B].dot(self.matrix[B])
        return np.where(variable, u, w), np.where(variable, w + self.D * q, -u)

    def solve(self, t: Any) -> tuple[Any, Any]:
        """Values and multipliers of all items at t, and their rates, shape (2, items) each."""
        self.now = tuple(np.stack([each[0] + t * each[1], each[1]]) for each in self.lines[1:])
        over = Fraction(1, self.D)
        v, y = ((over * np.stack([each[0] + t * each[1], each[1]])) for each in self.scaled())
        return v, y

    def window(self) -> tuple[Fraction, Fraction]:
        """Where the labels are optimal: from, to; the latter is less than the former where they are nowhere."""
        v, y = self.scaled()
        self.now = tuple(self.D * each for each in self.lines[1:])
        (p, asked), (q, _) = (self.slacks(self.labels, v[k], y[k], k) for k in (0, 1))
        lo, hi = (0, 1), (1, 1)
        for a, b in zip(p[asked], q[asked], strict=True):  # a + b t >= 0
            if b > 0 and -a * lo[1] > lo[0] * b:
                lo = -a, b
            elif b < 0 and a * hi[1] < -b * hi[0]:
                hi = a, -b
            elif b == 0 and a < 0:
                return Fraction(1), Fraction(0)
        return Fraction(*lo), Fraction(*hi)

    def response(self, i: int, unit: int) -> tuple[Any, Any, bool, Any]:
        """How u and w move with item i, whether its pivot is not 0, and zeros."""
        u = np.zeros(self.labels.size, dtype=object)
        inside = i in self.inverse
        if not inside:
            u[i] = unit + self.zero
        for b, row in self.inverse.items():
            moved = row[i] if inside else -sum(v * self.matrix[j, i] for j, v in row.items())
            u[b] = Fraction(unit * moved, self.D)
        some = np.flatnonzero(u)
        w = u[some].dot(self.matrix[some]) if some.size else 0 * u
        pivot = u[i] if inside else w[i]
        return u, np.where(self.basis, np.where(np.arange(u.size) == i, unit, 0), w), bool(pivot != 0), 0 * u


def integer_data(problem: Mapping[str, Any]) -> Data:
    """A problem as `paretoclf.proof.check` reads it, for the engine."""
    n, H, given, _ = check.program(dict(problem))
    numbers: dict[str, Any] = {}
    for name in ("lower", "upper", "below", "above"):
        none, sign = -math.inf if name == "lower" else math.inf, -1 if name == "above" else 1
        ends = [(none, none) if e is None else (sign * e[0], sign * (e[0] + e[1])) for e in given[name]]
        numbers[name] = _ends(ends)
    numbers["q"] = _ends([(a, a + b) for a, b in given["q"][:n]])
    for i, (lower, upper) in enumerate(zip(given["lower"], given["upper"], strict=True)):
        if lower and upper and lower[0] > upper[0]:
            raise ArithmeticError(f"the problem has no optimum at t = 0: the bounds cross of item {i}")
    matrix = np.array(H, dtype=object)
    return Data.of(ParametricQP(matrix[:n, :n], matrix[n:, :n], **numbers))


def _ends(pairs: list[tuple[Any, Any]]) -> Any:
    """Pairs as an array of objects of shape (2, k)."""
    out = np.empty((2, len(pairs)), dtype=object)
    for k, pair in enumerate(pairs):
        out[:, k] = pair
    return out


#: Where labels are optimal, from and to; None where they leave open what the solution is.
Window = tuple[Fraction, Fraction] | None


def windows(data: Data, guide: list[Index], n_jobs: int | None = None) -> Iterator[Window]:
    """Those of some labels, which are the same whoever finds them."""
    parts = min(4 * effective_n_jobs(n_jobs), len(guide)) if n_jobs not in (None, 1) else 1
    if parts <= 1:
        yield from _windows(data, guide)
        return
    ends = [len(guide) * k // parts for k in range(parts + 1)]
    chunks = (delayed(_listed_windows)(data, guide[a:b]) for a, b in pairwise(ends))
    for found in Parallel(n_jobs=n_jobs, return_as="generator")(chunks):
        yield from found


def _listed_windows(data: Data, guide: list[Index]) -> list[Window]:
    """Those of some labels, as one piece of work."""
    return list(_windows(data, guide))


def _windows(data: Data, guide: list[Index]) -> Iterator[Window]:
    """Those of some labels, one after the other."""
    walk: Exact | None = None
    for labels in guide:
        try:
            if walk is None:
                walk = Exact(data, labels)
            else:
                walk.move(labels)
        except ArithmeticError:
            yield None
            continue
        yield walk.window()


def exact_labels(
    data: Data, guide: list[Index], n_jobs: int | None = None, report: Callable[[float], Any] | None = None
) -> tuple[list[Index], Ray | None]:
    """Labels that are exactly optimal one after the other, and the ray if the intervals do not cover [0, 1]."""
    walk = _start(data, guide[0] if guide else first_labels(data))
    waiting = zip(guide, windows(data, guide, n_jobs), strict=True)
    candidate = next(waiting, None)
    t, steps, limit = Fraction(0), 0, most_exchanges(walk.labels.size)
    found: list[Index] = []
    cross, soft, crossing = _crossing(data)
    while t < 1:
        until = None
        if t == cross:
            if soft:
                name = data.problem.name(crossing)
                raise ArithmeticError(f"the bounds of {name} cross at t = {float(t)!r}, where one of them has a price")
            return found or [walk.labels], ("crossing", [crossing])
        while candidate is not None and until is None:
            labels, (lo, hi) = candidate[0], candidate[1] or (Fraction(1), Fraction(0))
            if t < lo <= hi:
                break  # it begins later: exact exchanges until there
            if lo <= t < hi:
                until = hi
                found.append(labels)
            candidate = next(waiting, None)
        if until is None:
            if found:
                walk.move(found[-1])
            while True:
                lo, until = walk.window()
                if lo <= t < until:
                    break
                walk.t = t
                v, y = walk.solve(t)
                _, item, side = walk.event(v, y)
                last = walk.labels.copy()
                if (stopped := walk.exchange(item, side, v, y)) is not None:
                    kind, ray = stopped
                    part = ray[: walk.n] if kind == "unbounded" else ray[walk.n :]
                    return found or [last], (kind, [stated(r) for r in part])
                if (steps := steps + 1) > limit:
                    raise ArithmeticError(f"no exact exchange goes on at t = {float(t)!r}")
            found.append(walk.labels.copy())
        before, t = t, min(until, cross)
        if report is not None:
            report(float(t - before))
    return found, None


def _crossing(data: Data) -> tuple[Fraction, bool, int]:
    """Where the bounds of an item first cross, whether one of them has a price, and whose; at 2 if nowhere."""
    (a, b), both = data.low - data.up, data.has_low & data.has_up
    soft = data.soft_low | data.soft_up
    return min(
        ((Fraction(-int(a[i]), int(b[i] - a[i])), bool(soft[i]), i) for i in np.flatnonzero(both & (b > 0)).tolist()),
        default=(Fraction(2), False, -1),
    )


def _start(data: Data, guess: Index) -> Exact:
    """On labels that are optimal at t = 0: the guess, if it is, or what the exact engine makes of it."""
    try:
        walk = Exact(data, guess)
        lo, hi = walk.window()
        if lo == 0 <= hi:
            return walk
    except ArithmeticError:
        guess = first_labels(data)
    first = Exact(shifted(data, guess, Exact), guess)
    if first.follow(most_exchanges(guess.size), keep=False).status != "end":
        raise ArithmeticError("the problem has no optimum at t = 0")
    return Exact(data, first.labels)


def certificate(
    problem: Mapping[str, Any], guide: Iterable[Index], progress: bool | None = None, n_jobs: int | None = None
) -> dict[str, Any]:
    """The content of a certificate file.

    Parameters
    ----------
    problem : mapping
        As the file states it (docs/reference/certificate_files.md).
    guide : iterable of int arrays of shape (items,)
        Labels of the segments of a path in doubles.
    progress : bool, optional
        Whether to show a bar; by default on a terminal.
    n_jobs : int, optional
        Processes that try the labels, as joblib counts them; default 1. What is found is the same.

    Raises
    ------
    ArithmeticError
        If there is no exact path.
    """
    problem, data = _definite(dict(problem), integer_data)
    with meter(progress, "certificate") as report:
        found, ray = exact_labels(data, list(guide), n_jobs, report)
    segments: list[Any] = []
    letters = ""
    for labels in found:
        before, letters = letters, "".join(LETTERS[k + 2] for k in labels)
        changed = [[i, pair[1]] for i, pair in enumerate(zip(before, letters, strict=False)) if pair[0] != pair[1]]
        segments.append(changed if segments else letters)
    content: dict[str, Any] = {
        "format": "exact certificate 1",
        "problem": problem,
        "sha256": _digest(problem),
        "segments": segments,
    }
    if ray is not None:
        _, end = check.check(problem, segments, early=True)
        check_ray.beyond(problem, end, *ray)
        content["ray"] = list(ray)
    return content


def _digest(problem: Mapping[str, Any]) -> str:
    """The hash that the checker computes."""
    return hashlib.sha256(json.dumps(problem, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _definite(problem: dict[str, Any], attempt: Callable[[dict[str, Any]], Any]) -> tuple[dict[str, Any], Any]:
    """The problem with as much on the diagonal as it takes to prove its matrix semidefinite, and what is made of it."""
    n, about = len(problem["K" if "K" in problem else "X"]), problem.get("about", "")
    for shift in _shifts_to_try(problem) if "K" in problem else (None,):
        found = problem
        if shift is not None:
            add = math.ldexp(1.0, math.frexp(max(row[-1] for row in problem["K"]))[1] + shift)
            why = f"2^{math.frexp(add)[1] - 1} is added to the diagonal of K, which is not proved positive semidefinite"
            before = [Fraction(v) for v in problem.get("diagonal", [0] * n)]
            found = {**problem, "diagonal": [add if v == 0 else str(Fraction(add) + v) for v in before]}
            found["about"] = f"{about}; {why}" if about else why
        try:
            return found, attempt(found)
        except ArithmeticError as error:
            if "semidefinite" not in str(error):
                raise
    raise ArithmeticError(
        f"the matrix is not positive semidefinite, nor with 2^{_SHIFTS[-1]} of its largest entry added"
    )


def _shifts_to_try(problem: Mapping[str, Any]) -> list[int | None]:
    """Powers of two that double precision is sure of; none of a small matrix, too, which may be singular."""
    n, K = len(problem["K"]), lower_triangle(problem)
    values, largest = np.linalg.eigvalsh(K), float(K.diagonal().max(initial=0.0))
    sure = float(values[0]) - n * math.ldexp(float(values[-1]), -52) if n else 1.0
    every: list[int | None] = [None, *_SHIFTS]
    enough = [s for s in every if sure + (0.0 if s is None else math.ldexp(largest, s)) > 0]
    return enough if None in enough or n > _LARGE else [None, *enough]


def bounded(
    problem: Mapping[str, Any], pieces: Any, labels: list[Index], progress: bool | None = False
) -> dict[str, Any]:
    """The content of a bounded certificate: the path as it is stored, and nothing of it solved anew.

    Parameters
    ----------
    problem : mapping
        As for `certificate`; of a path of classifiers.
    pieces : Pieces or OnePoint
        The path.
    labels : list of int arrays of shape (items,)
        Labels of its pieces.
    progress : bool, optional
        As for `certificate`.

    Raises
    ------
    ArithmeticError
        If `paretoclf.proof.check_gap` finds no bound.
    """

    def attempt(stated_problem: dict[str, Any]) -> tuple[list[Any], Fraction]:
        knots = StoredPoints(stated_problem, pieces, labels)
        stretches = [Fraction(0)] if knots.capped else [Fraction(1, 2**-k) for k in _STRETCHES]
        for stretch in stretches:
            points = knots.points(stretch)
            try:
                _gap(stated_problem, points, stretch, progress)
            except ArithmeticError as error:
                if "not finite" not in str(error) or stretch == stretches[-1]:
                    raise
                continue
            break
        return points, stretch

    stated_problem, (points, stretch) = _definite(dict(problem), attempt)
    return _bounded_content(stated_problem, points, stretch)


def bounded_program(
    problem: ParametricQP, knots: Knots, progress: bool | None = False, about: str = ""
) -> dict[str, Any]:
    """The same of a program with hard bounds, which the file states a little wider (`program_points`).

    Parameters
    ----------
    problem : ParametricQP
    knots : tuple of arrays of shape (k,), (k, n) and (k, m)
        t from 0 to 1, never falling; variables and multipliers of the rows, affine in between.
    progress : bool, optional
        As for `certificate`.
    """
    soft = (np.stack([problem.below, problem.above]) < np.inf).any(axis=(0, 1))
    if soft.any():
        raise ArithmeticError(f"{problem.name(int(np.argmax(soft)))} has a price, and a gap is of hard bounds")
    wider, points, widened = program_points(problem, *knots)
    about = f"{about} {widened}" if about else widened

    def attempt(stated_problem: dict[str, Any]) -> None:
        _gap(stated_problem, points, Fraction(0), progress)

    stated_problem, _ = _definite({**program_problem(wider), "about": about}, attempt)
    return _bounded_content(stated_problem, points, Fraction(0))


def _gap(problem: dict[str, Any], points: list[Any], stretch: Fraction, progress: bool | None) -> None:
    """ArithmeticError where points have no bound."""
    shown: Any = counted(points, "certificate", len(points), progress)
    check_gap.gap(problem, shown, str(stretch))


def _bounded_content(stated_problem: dict[str, Any], points: list[Any], stretch: Fraction) -> dict[str, Any]:
    """What the file has."""
    said = {"problem": stated_problem, "sha256": _digest(stated_problem), "stretch": str(stretch), "points": points}
    return {"format": "bounded certificate 1", **said}


def _basis(n: int, labels: list[Index]) -> Array:
    """How many items are in the basis of each segment."""
    return np.array([(each[:n] == INSIDE).sum() + (each[n:] != INSIDE).sum() for each in labels], dtype=np.float64)


def _quick(n: int, basis: Array) -> bool:
    """Whether an exact certificate is expected within a minute, by what was measured: the inverse, then all items."""
    return float((_INVERSE * basis**4 + _ITEMS * n * basis**2).sum() + _MATRIX * n**3) <= _MINUTE


def save_certificate(
    path: Any,
    equations: int,
    file: AnyFile,
    level: str | None = None,
    progress: bool | None = None,
    n_jobs: int | None = None,
    positive: Any = None,
) -> None:
    """Write a certificate file, to a temporary name first, then renamed.

    Parameters
    ----------
    path : path of classifiers
    equations : int
        How many rows its program has.
    file : path
        Compressed if its name ends in ``.gz``.
    level : str, optional
        ``"exact"`` or ``"bounded"``; by default exact where that is expected to take no more than a minute and can be
        had, else bounded.
    progress, n_jobs : optional
        As for `certificate`; the file is the same, byte for byte.
    positive : str or number, optional
        The label that y = +1 stands for in the data of who reads the file; default ``"1"``.

    Raises
    ------
    InputError
        If no certificate can be written: the message says why. There is no file then.
    """
    problem, labels = labelled(path_problem(path), positive), list(path._labels(equations))
    makers = {
        "exact": partial(certificate, problem, labels, progress, n_jobs),
        "bounded": partial(bounded, problem, path.pieces, labels, progress),
    }
    _save(makers, file, level, _quick(len(path.y), _basis(len(path.y), labels)))


def save_program(
    problem: ParametricQP,
    guide: Iterable[Index],
    file: AnyFile,
    level: str | None = None,
    progress: bool | None = None,
    n_jobs: int | None = None,
    knots: Knots | None = None,
    about: str = "",
) -> None:
    """Write the certificate of any parametric program; see `certificate` and `bounded_program`.

    Parameters
    ----------
    problem : ParametricQP
    guide : iterable of int arrays of shape (items,)
        Labels of the segments of a path in doubles; asked for where the exact level is tried.
    file, level, progress, n_jobs
        As for `save_certificate`.
    knots : tuple of arrays, optional
        The path in doubles, without which there is no bounded level.
    about : str
        What the file says of the problem.

    Raises
    ------
    InputError
        If there is none: the message says why. There is no file then.
    """
    told = {"about": about} if about else {}
    makers: dict[str, Callable[[], dict[str, Any]]] = {
        "exact": lambda: certificate(program_problem(problem) | told, guide, progress, n_jobs)
    }
    quick = True
    if knots is not None:
        makers["bounded"] = partial(bounded_program, problem, knots, progress, about)
        priced = np.abs(knots[2][::2]) > UNTOUCHED * np.abs(knots[2]).max(initial=0.0)
        quick = _quick(problem.n, problem.n + priced.sum(axis=1))
    _save(makers, file, level, quick)


def _save(makers: Mapping[str, Callable[[], dict[str, Any]]], file: AnyFile, level: str | None, quick: bool) -> None:
    """Write the content of the level that is asked for, else of the best that can be had."""
    if level not in (None, "exact", "bounded"):
        raise InputError(f"level must be 'exact', 'bounded' or None, got {level!r}")
    target, why = FilePath(file), ""
    if not target.parent.is_dir():
        raise InputError(f"file must lie in a folder that there is, got {target}: there is no folder {target.parent}")
    for each in [level] if level else ["exact", "bounded"] if quick else ["bounded"]:
        try:
            if each not in makers:
                raise ArithmeticError("the path ends before t = 1, and a bound is of a path that does not")
            return write_content(makers[each](), file)
        except ArithmeticError as error:
            why = f"no {each} certificate can be written: {error}" + (f"; {why}" if why else "")
    raise InputError(why)


def write_content(content: Mapping[str, Any], file: AnyFile) -> None:
    """Write a content as a file, compressed if the name ends in ``.gz``."""
    text, target = json.dumps(content, separators=(",", ":"), allow_nan=False).encode(), FilePath(file)
    with replacing(target) as temporary:
        temporary.write_bytes(gzip.compress(text, mtime=0) if target.name.endswith(".gz") else text)


def save_solution(svm: Any, solution: Solution, file: AnyFile, level: str | None = None, positive: Any = None) -> None:
    """Write the certificate of one optimal point of a formulation with exact paths, whoever computed it.

    For any other formulation and a ``cvxpy.Problem``: `paretoclf.path.tracing.save_point`.

    Parameters
    ----------
    svm : TwoCSVM, TwoNuSVM, QuantileSVM, BiobjectiveMargin, or one of yours that declares their lines
    solution : Solution
        A solution of it, with its parameters and multipliers. These are a guide only for the exact level: a letter
        that is not exactly optimal is exchanged. For reduced hulls: their ``solution``.
    file, level, positive
        As for `save_certificate`.

    Raises
    ------
    InputError
        If it is no solution of this formulation, or there is no certificate.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> import paretoclf as pc
    >>> from paretoclf.proof.files.file import save_solution
    >>> from paretoclf.proof import check
    >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_solution(svm, svm.solve(C_plus=1.0, C_minus=1.0), f"{folder}/point.json")
    ...     content = json.loads(Path(folder, "point.json").read_text())
    >>> len(content["segments"]), -check.check(content["problem"], content["segments"])[0][0]
    (1, 2.888888888888889)
    """
    problem, alpha, equations = point_problem(svm, solution)
    problem, labels = labelled(problem, positive), labels_of(problem, alpha, equations)
    makers = {
        "exact": partial(certificate, problem, [labels], progress=False),
        "bounded": partial(bounded, problem, OnePoint.of(alpha, labels), [labels]),
    }
    _save(makers, file, level, _quick(alpha.size, _basis(alpha.size, [labels])))
