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
from itertools import count, pairwise
from pathlib import Path as FilePath
from typing import Any, NamedTuple

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
from paretoclf.problem.pieces import Pieces
from paretoclf.proof import check, check_gap, check_ray
from paretoclf.proof.files.bounded_points import StoredPoints, lower_triangle, one_point, program_points
from paretoclf.proof.files.stated_problems import (
    UNTOUCHED,
    by_entries,
    labelled,
    labels_of,
    path_problem,
    point_problem,
    program_problem,
    stated,
)
from paretoclf.proof.verdicts.solution import Solution

#: Of labels from -2 to 2.
LETTERS = "bliua"
#: Powers of two that are tried on the diagonal of a matrix that is not proved semidefinite, relative to its largest
#: entry.
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
#: Makes the content of a certificate file.
Maker = Callable[[], dict[str, Any]]
#: Proof that there is no minimum beyond an end, as `paretoclf.proof.check_ray` reads it.
Ray = tuple[str, list[Any]]


class Exact(Walk):
    """The general engine in integers, with the inverse on the basis alone, over one denominator."""

    def __init__(self, data: Data, labels: Index) -> None:
        self.data, self.labels, self.n = data, np.array(labels), data.problem.n
        size = self.labels.size
        self.zero = self.t = Fraction(0)
        self.last = 0
        self.kind = np.dtype(object)
        self.variable = np.arange(size) < self.n
        self.matrix = _bordered(data.problem)
        self.rows = self.matrix.tolist()
        self.exchanges = self.standing = 0
        self.patience = 200 + 2 * size
        self.resting = np.zeros(size, dtype=bool)
        q = np.hstack([data.q, np.zeros((2, size - self.n), dtype=object)])
        ends = (q, data.low, data.up, data.below, data.above)
        self.lines = tuple(np.stack([start, stop - start]) for start, stop in ends)
        self.outside, self.load = np.zeros((2, 2, size), dtype=object)
        self.factor()

    def factor(self) -> None:
        """Compute the inverse on the basis anew, or take the last that was, of whatever line of the same matrices."""
        basis = tuple(np.flatnonzero(self.basis).tolist())
        known = self.data.read.setdefault(Exact, {})
        if basis not in known:
            known.clear()
            known[basis] = check.change(self.rows, {}, 1, list(basis))
        self.inverse, self.D = known[basis]

    def pivot(self, items: list[int]) -> None:
        """Update the inverse where some items enter the basis or leave it."""
        self.resting[:] = False
        self.inverse, self.D = check.change(self.rows, self.inverse, self.D, items)

    def move(self, labels: Index) -> None:
        """Go to other labels; ArithmeticError, and nothing has changed, where they leave open what the solution is."""
        old, before = self.basis, self.labels
        self.labels = np.array(labels)
        try:
            self.pivot(np.flatnonzero(self.basis != old).tolist())
        except ArithmeticError:
            self.labels = before
            raise

    def scaled(self) -> tuple[Any, Any]:
        """Values and multipliers at t = 0, and their rates, times the common denominator; shape (2, items) each."""
        q, known = self._known()
        outside = np.where(self.basis, 0, known)
        change = outside - self.outside
        changed = np.flatnonzero(change.any(axis=0))
        self.load = self.load + change[:, changed].dot(self.matrix[changed])
        self.outside = outside
        members = np.array(list(self.inverse), dtype=np.int64)
        solution, product = self.D * outside, self.D * self.load
        if members.size:
            rows = [list(row.values()) for row in self.inverse.values()]
            inverse: Any = np.array(rows, dtype=object)
            missing = (known - self.load)[:, members]
            solution[:, members] = missing.dot(inverse.T)
            product = product + solution[:, members].dot(self.matrix[members])
        values = np.where(self.variable, solution, product)
        return values, np.where(self.variable, product + self.D * q, -solution)

    def _known(self) -> tuple[Any, Any]:
        """Return q, and the numbers that the labels fix: values outside the basis, right hand sides in it."""
        labels, variable = self.labels, self.variable
        q, low, up, below, above = self.lines
        bound = np.where(labels > 0, up, low)
        level = np.where(labels == -2, below, np.where(labels == 2, -above, 0))
        right_hand_side = np.where(variable, level - q, bound)
        value = np.where(variable, bound, -level)
        return q, np.where(self.basis, right_hand_side, value)

    def solve(self, t: Any) -> tuple[Any, Any]:
        """Values and multipliers of all items at t, and their rates, shape (2, items) each."""
        self.now = tuple(_from(t, *each) for each in self.lines[1:])
        over = Fraction(1, self.D)
        values, multipliers = (over * _from(t, *each) for each in self.scaled())
        return values, multipliers

    def window(self) -> tuple[Fraction, Fraction]:
        """Interval on which the labels are optimal: its end is less than its beginning where they are nowhere."""
        values, multipliers = self.scaled()
        self.now = tuple(self.D * each for each in self.lines[1:])
        slack, asked = self.slacks(self.labels, values[0], multipliers[0], 0)
        rate, _ = self.slacks(self.labels, values[1], multipliers[1], 1)
        # Numerators and denominators of both ends; fractions would be reduced at each step.
        low, high = (0, 1), (1, 1)
        for start, slope in zip(slack[asked], rate[asked], strict=True):  # start + slope t >= 0
            if slope > 0 and -start * low[1] > low[0] * slope:
                low = -start, slope
            elif slope < 0 and start * high[1] < -slope * high[0]:
                high = start, -slope
            elif slope == 0 and start < 0:
                return Fraction(1), Fraction(0)
        return Fraction(*low), Fraction(*high)

    def response(self, i: int, unit: int) -> tuple[Any, Any, bool, Any]:
        """Rates of u and w with item i, whether its pivot is not 0, and zeros."""
        u = np.zeros(self.labels.size, dtype=object)
        inside = i in self.inverse
        column = self.matrix[:, i]
        if not inside:
            u[i] = unit + self.zero
        for member, row in self.inverse.items():
            rate = row[i] if inside else -sum(entry * column[other] for other, entry in row.items())
            u[member] = Fraction(unit * rate, self.D)
        some = np.flatnonzero(u)
        w = u[some].dot(self.matrix[some]) if some.size else 0 * u
        pivot = u[i] if inside else w[i]
        asked = np.where(np.arange(u.size) == i, unit, 0)
        return u, np.where(self.basis, asked, w), bool(pivot != 0), 0 * u


def _bordered(problem: ParametricQP) -> Any:
    """The matrix of P, A' and A over 0, as an array of objects."""
    n, size = problem.n, problem.items
    matrix = np.zeros((size, size), dtype=object)
    matrix[:n, :n] = problem.P
    matrix[:n, n:] = problem.A.T
    matrix[n:, :n] = problem.A
    return matrix


def _from(t: Any, start: Any, slope: Any) -> Any:
    """Value and slope at t of what is affine in t, (2, items)."""
    return np.stack([start + t * slope, slope])


def integer_data(problem: Mapping[str, Any]) -> Data:
    """A problem as `paretoclf.proof.check` reads it, for the engine."""
    return engine_data(check.program(dict(problem)))


def engine_data(program: check.WholeProgram) -> Data:
    """A program in integers, for the engine."""
    n, H, given, _ = program
    numbers: dict[str, Any] = {}
    for name in ("lower", "upper", "below", "above"):
        none = -math.inf if name == "lower" else math.inf
        sign = -1 if name == "above" else 1  # the checker has multipliers at upper bounds below 0
        lines = [(none, none) if each is None else _both_ends(each[0], each[1], sign) for each in given[name]]
        numbers[name] = _ends(lines)
    numbers["q"] = _ends([_both_ends(start, slope) for start, slope in given["q"][:n]])
    for i, (lower, upper) in enumerate(zip(given["lower"], given["upper"], strict=True)):
        if lower and upper and lower[0] > upper[0]:
            raise ArithmeticError(f"the problem has no optimum at t = 0: the bounds cross of item {i}")
    matrix = np.array(H, dtype=object)
    return Data.of(ParametricQP(matrix[:n, :n], matrix[n:, :n], **numbers))


def _both_ends(start: Any, slope: Any, sign: int = 1) -> tuple[Any, Any]:
    """Values at t = 0 and at t = 1 of what begins there with this slope, times a sign."""
    return sign * start, sign * (start + slope)


def _ends(pairs: list[tuple[Any, Any]]) -> Any:
    """Pairs as an array of objects of shape (2, k)."""
    out = np.empty((2, len(pairs)), dtype=object)
    for place, pair in enumerate(pairs):
        out[:, place] = pair
    return out


#: Interval on which labels are optimal; None where they leave open what the solution is.
Window = tuple[Fraction, Fraction] | None


def windows(data: Data, guide: list[Index], n_jobs: int | None = None) -> Iterator[Window]:
    """Yield the windows of some labels; they are the same however many processes find them."""
    parts = min(4 * effective_n_jobs(n_jobs), len(guide)) if n_jobs not in (None, 1) else 1
    if parts <= 1:
        yield from _windows(data, guide)
        return
    ends = [len(guide) * part // parts for part in range(parts + 1)]
    chunks = (delayed(_listed_windows)(data, guide[start:stop]) for start, stop in pairwise(ends))
    for found in Parallel(n_jobs=n_jobs, return_as="generator")(chunks):
        yield from found


def _listed_windows(data: Data, guide: list[Index]) -> list[Window]:
    """List the windows of a batch of labels (one task of a process)."""
    return list(_windows(data, guide))


def _windows(data: Data, guide: list[Index]) -> Iterator[Window]:
    """Yield the windows of some labels, one after the other."""
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
    """Find labels that are exactly optimal one after the other, and the ray if their intervals do not cover [0, 1]."""
    walk = exact_start(data, guide[0] if guide else first_labels(data))
    candidates = _TriedLabels(zip(guide, windows(data, guide, n_jobs), strict=True))
    t = Fraction(0)
    exchanges = count(1)
    found: list[Index] = []
    cross, soft, crossing = _crossing(data)
    while t < 1:
        if t == cross:
            if soft:
                name = data.problem.name(crossing)
                raise ArithmeticError(f"the bounds of {name} cross at t = {float(t)!r}, where one of them has a price")
            return found or [walk.labels], ("crossing", [crossing])
        guided = candidates.optimal_at(t)
        if guided is None:  # exact exchanges, until a candidate goes on
            if found:
                walk.move(found[-1])
            stopped = _exchange_until_optimal(walk, t, exchanges)
            if isinstance(stopped, _ExactRay):
                return found or [stopped.labels], (stopped.kind, stopped.entries)
            guided = walk.labels.copy(), stopped
        labels, until = guided
        found.append(labels)
        before, t = t, min(until, cross)
        if report is not None:
            report(float(t - before))
    return found, None


class _TriedLabels:
    """Labels with their windows, in the order of the path in doubles."""

    def __init__(self, waiting: Iterator[tuple[Index, Window]]) -> None:
        self.waiting = waiting
        self.next = next(waiting, None)

    def optimal_at(self, t: Fraction) -> tuple[Index, Fraction] | None:
        """Take the first labels that are optimal from t on, and until when; None if the next ones begin later."""
        while self.next is not None:
            labels, window = self.next
            begin, end = window or (Fraction(1), Fraction(0))
            if t < begin <= end:
                return None
            self.next = next(self.waiting, None)
            if begin <= t < end:
                return labels, end
        return None


class _ExactRay(NamedTuple):
    """Ray that an exchange has found: the labels before, its kind, and its entries as the file has them."""

    labels: Index
    kind: str
    entries: list[Any]


def _exchange_until_optimal(walk: Exact, t: Fraction, exchanges: Iterator[int]) -> Fraction | _ExactRay:
    """Exchange items exactly until the labels are optimal from t on: until when they are, or the ray that is met."""
    limit = most_exchanges(walk.labels.size)
    while True:
        begin, until = walk.window()
        if begin <= t < until:
            return until
        walk.t = t
        values, multipliers = walk.solve(t)
        _, item, side = walk.event(values, multipliers)
        labels = walk.labels.copy()
        if (stopped := walk.exchange(item, side, values, multipliers)) is not None:
            kind, ray = stopped
            part = ray[: walk.n] if kind == "unbounded" else ray[walk.n :]
            return _ExactRay(labels, kind, [stated(entry) for entry in part])
        if next(exchanges) > limit:
            raise ArithmeticError(f"no exact exchange goes on at t = {float(t)!r}")


def _crossing(data: Data) -> tuple[Fraction, bool, int]:
    """Find where the bounds of an item first cross, whether one of them has a price, and the item; 2 if nowhere."""
    start, stop = data.low - data.up  # integers: the item's bounds cross where this is 0
    soft = data.soft_low | data.soft_up
    crossings = []
    for item in np.flatnonzero(data.has_low & data.has_up & (stop > 0)).tolist():
        t = Fraction(-int(start[item]), int(stop[item] - start[item]))
        crossings.append((t, bool(soft[item]), item))
    return min(crossings, default=(Fraction(2), False, -1))


def exact_start(data: Data, guess: Index) -> Exact:
    """Begin on labels that are optimal at t = 0: the guess, if it is, or what the exact engine makes of it."""
    try:
        walk = Exact(data, guess)
        begin, end = walk.window()
        if begin == 0 <= end:
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
    """Make the content of a certificate file.

    Parameters
    ----------
    problem : mapping
        As the file states it (docs/reference/certificate_files.md).
    guide : iterable of int arrays of shape (items,)
        Labels of the segments of a path in doubles.
    progress : bool, optional
        Whether to show a bar; by default on a terminal.
    n_jobs : int, optional
        Processes that try the labels, as joblib counts them; default 1. The result is the same.

    Raises
    ------
    ArithmeticError
        If there is no exact path.
    """
    problem, data = definite(dict(problem), integer_data)
    with meter(progress, "certificate") as report:
        found, ray = exact_labels(data, list(guide), n_jobs, report)
    segments = _in_letters(found)
    problem = by_entries(problem)
    content: dict[str, Any] = {
        "format": "exact certificate 1",
        "problem": problem,
        "sha256": digest(problem),
        "segments": segments,
    }
    if ray is not None:
        _, end = check.check(problem, segments, early=True)
        check_ray.beyond(problem, end, *ray)
        content["ray"] = list(ray)
    return content


def _in_letters(found: list[Index]) -> list[Any]:
    """State labels as the file has them: all letters of the first segment, and then the changes of each."""
    segments: list[Any] = []
    before = ""
    for labels in found:
        letters = "".join(LETTERS[label + 2] for label in labels)
        pairs = enumerate(zip(before, letters, strict=False))
        changed = [[item, new] for item, (old, new) in pairs if old != new]
        segments.append(changed if segments else letters)
        before = letters
    return segments


def digest(problem: Mapping[str, Any]) -> str:
    """The hash that the checker computes."""
    return hashlib.sha256(json.dumps(problem, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def definite(problem: dict[str, Any], attempt: Callable[[dict[str, Any]], Any]) -> tuple[dict[str, Any], Any]:
    """Attempt something with as much on the diagonal as it takes to prove the matrix semidefinite.

    Returns
    -------
    problem : dict
        With the diagonal that it took.
    made : object
        Result of the attempt.
    """
    for shift in _shifts_to_try(problem) if "K" in problem else (None,):
        found = problem if shift is None else _shifted_diagonal(problem, shift)
        try:
            return found, attempt(found)
        except ArithmeticError as error:
            if "semidefinite" not in str(error):
                raise
    raise ArithmeticError(
        f"the matrix is not positive semidefinite, nor with 2^{_SHIFTS[-1]} of its largest entry added"
    )


def _shifted_diagonal(problem: Mapping[str, Any], shift: int) -> dict[str, Any]:
    """The problem with a power of two added to the diagonal of K, of its largest entry and a shift; it says so."""
    largest = max(row[-1] for row in problem["K"])
    add = math.ldexp(1.0, math.frexp(largest)[1] + shift)
    why = f"2^{math.frexp(add)[1] - 1} is added to the diagonal of K, which is not proved positive semidefinite"
    before = [Fraction(entry) for entry in problem.get("diagonal", [0] * len(problem["K"]))]
    diagonal = [add if entry == 0 else str(Fraction(add) + entry) for entry in before]
    about = problem.get("about", "")
    return {**problem, "diagonal": diagonal, "about": f"{about}; {why}" if about else why}


def _shifts_to_try(problem: Mapping[str, Any]) -> list[int | None]:
    """Additions to the diagonal of K that may make it semidefinite, in the order in which to try them.

    None, nothing, where doubles show that K is positive definite, or K is small; then exponents k of ``_SHIFTS``, for
    2^k times the largest entry, that doubles say are enough.
    """
    matrix = lower_triangle(problem)
    count = len(matrix)
    eigenvalues = np.linalg.eigvalsh(matrix)
    largest = float(matrix.diagonal().max(initial=0.0))
    sure = 1.0
    if count:
        rounding = count * math.ldexp(float(eigenvalues[-1]), -52)
        sure = float(eigenvalues[0]) - rounding
    enough: list[int | None] = [shift for shift in _SHIFTS if sure + math.ldexp(largest, shift) > 0]
    if sure > 0:
        return [None, *enough]
    return enough if count > _LARGE else [None, *enough]


def bounded(
    problem: Mapping[str, Any], pieces: Pieces, labels: list[Index], progress: bool | None = False
) -> dict[str, Any]:
    """Make the content of a bounded certificate: the path as it is stored, and nothing of it solved anew.

    Parameters
    ----------
    problem : mapping
        As for `certificate`; of a path of classifiers.
    pieces : Pieces
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

    stated_problem, (points, stretch) = definite(dict(problem), attempt)
    return _bounded_content(stated_problem, points, stretch)


def bounded_program(
    problem: ParametricQP, knots: Knots, progress: bool | None = False, about: str = ""
) -> dict[str, Any]:
    """Make the content of a bounded certificate of a program with hard bounds, stated a little wider in the file.

    `paretoclf.proof.files.bounded_points.program_points` says by how much.

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

    stated_problem, _ = definite({**program_problem(wider), "about": about}, attempt)
    return _bounded_content(stated_problem, points, Fraction(0))


def _gap(problem: dict[str, Any], points: list[Any], stretch: Fraction, progress: bool | None) -> None:
    """Raise ArithmeticError where points have no bound."""
    shown: Any = counted(points, "certificate", len(points), progress)
    check_gap.gap(problem, shown, str(stretch))


def _bounded_content(stated_problem: dict[str, Any], points: list[Any], stretch: Fraction) -> dict[str, Any]:
    """Make the content of a bounded certificate from its parts."""
    stated_problem = by_entries(stated_problem)
    said = {"problem": stated_problem, "sha256": digest(stated_problem), "stretch": str(stretch), "points": points}
    return {"format": "bounded certificate 1", **said}


def _basis(n: int, labels: list[Index]) -> Array:
    """Numbers of the items that are in the basis of each segment."""
    variables = [(each[:n] == INSIDE).sum() for each in labels]
    rows = [(each[n:] != INSIDE).sum() for each in labels]
    return np.add(variables, rows, dtype=np.float64)


def _quick(n: int, basis: Array) -> bool:
    """Whether an exact certificate is expected within a minute, by what was measured: the inverse, then all items."""
    of_segments = _INVERSE * basis**4 + _ITEMS * n * basis**2
    return float(of_segments.sum() + _MATRIX * n**3) <= _MINUTE


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
        Number of the rows of its program.
    file : path
        Compressed if its name ends in ``.gz``.
    level : str, optional
        ``"exact"`` or ``"bounded"``; by default exact where that is expected to take no more than a minute and can be
        had, else bounded.
    progress, n_jobs : optional
        As for `certificate`; the file is the same, byte for byte.
    positive : str or number, optional
        The label that y = +1 stands for in the reader's data; default ``"1"``.

    Raises
    ------
    InputError
        If no certificate can be written: the message says why. There is no file then.
    """
    problem = labelled(path_problem(path), positive)
    labels = list(path._labels(equations))
    exact = partial(certificate, problem, labels, progress, n_jobs)
    within = partial(bounded, problem, path.pieces, labels, progress)
    quick = _quick(len(path.y), _basis(len(path.y), labels))
    _save({"exact": exact, "bounded": within}, file, level, quick)


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
        Statement about the problem in the file.

    Raises
    ------
    InputError
        If there is none: the message says why. There is no file then.
    """
    makers: dict[str, Maker] = {"exact": partial(_exact_program, problem, guide, progress, n_jobs, about)}
    quick = True
    if knots is not None:
        makers["bounded"] = partial(bounded_program, problem, knots, progress, about)
        quick = _quick_program(problem, knots)
    _save(makers, file, level, quick)


def _exact_program(
    problem: ParametricQP, guide: Iterable[Index], progress: bool | None, n_jobs: int | None, about: str
) -> dict[str, Any]:
    """Make the content of an exact certificate of a program, with a statement about it."""
    told = {"about": about} if about else {}
    return certificate(program_problem(problem) | told, guide, progress, n_jobs)


def _quick_program(problem: ParametricQP, knots: Knots) -> bool:
    """Whether an exact certificate is expected within a minute, with all variables and priced rows in the basis."""
    _, _, multipliers = knots
    sizes = np.abs(multipliers)
    priced = sizes[::2] > UNTOUCHED * sizes.max(initial=0.0)
    return _quick(problem.n, problem.n + priced.sum(axis=1))


def _save(makers: Mapping[str, Maker], file: AnyFile, level: str | None, quick: bool) -> None:
    """Write the content of the level that is asked for, else of the best that can be had."""
    if level not in (None, "exact", "bounded"):
        raise InputError(f"level must be 'exact', 'bounded' or None, got {level!r}")
    target, why = FilePath(file), ""
    if not target.parent.is_dir():
        raise InputError(f"file must lie in a folder that there is, got {target}: there is no folder {target.parent}")
    by_default = ["exact", "bounded"] if quick else ["bounded"]
    for each in [level] if level else by_default:
        try:
            if each not in makers:
                raise ArithmeticError("the path ends before t = 1, and a bound is of a path that does not")
            return write_content(makers[each](), file)
        except ArithmeticError as error:
            why = f"no {each} certificate can be written: {error}" + (f"; {why}" if why else "")
    raise InputError(why)


def save_exact(make: Maker, file: AnyFile, level: str | None, what: str) -> None:
    """Write what is made as a file, of what has one level; InputError says why there is none.

    Parameters
    ----------
    make : callable
        Makes the content.
    file : path
        Compressed if its name ends in ``.gz``.
    level : str, optional
        None or ``"exact"``.
    what : str
        Of what the file is.
    """
    if level not in (None, "exact"):
        raise InputError(f"level must be None or 'exact' for {what}, got {level!r:.50}")
    try:
        content = make()
    except ArithmeticError as error:
        raise InputError(f"no certificate can be written: {error}") from None
    write_content(content, file)


def write_content(content: Mapping[str, Any], file: AnyFile) -> None:
    """Write a content as a file, compressed if the name ends in ``.gz``."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False).encode()
    target = FilePath(file)
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
        that is not exactly optimal is exchanged. For reduced hulls give their ``solution``.
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
    >>> from paretoclf.proof.files.certificate_file import save_solution
    >>> from paretoclf.proof import check
    >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_solution(svm, svm.solve(C_plus=1.0, C_minus=1.0), f"{folder}/point.json")
    ...     content = json.loads(Path(folder, "point.json").read_text())
    >>> len(content["segments"]), -check.check(content["problem"], content["segments"])[0][0]
    (1, 2.888888888888889)
    """
    problem, alpha, equations = point_problem(svm, solution)
    problem = labelled(problem, positive)
    labels = labels_of(problem, alpha, equations)
    exact = partial(certificate, problem, [labels], progress=False)
    within = partial(bounded, problem, one_point(alpha, labels), [labels])
    quick = _quick(alpha.size, _basis(alpha.size, [labels]))
    _save({"exact": exact, "bounded": within}, file, level, quick)
