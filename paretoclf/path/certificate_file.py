"""Certificate files: the labels of a path, made exact, for `paretoclf.proof.check` or whoever reads them.

The bases of a path in doubles are nearly always exactly optimal: they are the guide, and each is tried in integers. At
the start, and where none of them goes on, the general engine exchanges items exactly until one does.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from paretoclf.checks import Array, Index
from paretoclf.errors import InputError
from paretoclf.files import AnyFile, replacing
from paretoclf.gram import Gram
from paretoclf.path.certificate_points import StoredPoints, lower_triangle, stated
from paretoclf.path.start import Data, first_labels, shifted
from paretoclf.path.textbook_general import Walk
from paretoclf.problem import ParametricQP
from paretoclf.progress import meter
from paretoclf.proof import check, check_gap, check_ray
from paretoclf.samples import dense
from paretoclf.solution import Classifier, Solution

#: Of labels from -2 to 2.
LETTERS = "bliua"
#: Powers of two that are tried on the diagonal of a matrix that is not proved semidefinite, against its largest entry.
_SHIFTS = (-48, -44, -40, -36, -32, -28, -24)
#: Of matrices larger than this none is taken apart without rounding.
_LARGE = 150
#: Where an exact certificate is expected to take more seconds than this (`_seconds`), it is bounded by default.
_MINUTE = 60.0
#: Seconds that a unit of work takes in it: of the inverse on the margin set, of all samples, of proving P >= 0.
_INVERSE, _ITEMS, _MATRIX = 1e-8, 1e-7, 1e-8
#: Multipliers this near to a bound, relative to it, are taken to be at it.
UNTOUCHED = 1e-7
#: Powers of two by which dual points are stretched, of problems whose multipliers have no upper bound.
_STRETCHES = (-40, -34, -28, -22)

#: What proves that no minimum is beyond an end, as `paretoclf.proof.check_ray` reads it.
Ray = tuple[str, list[Any]]


class Exact(Walk):
    """The general engine in integers: of its transform only what belongs to the basis is kept, over one denominator."""

    def __init__(self, data: Data, labels: Index) -> None:
        n, problem = data.problem.n, data.problem
        self.data, self.labels, self.n = data, np.array(labels), n
        size = self.labels.size
        self.zero = self.t = Fraction(0)
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


def exact_labels(
    data: Data, guide: Iterable[Index], report: Callable[[float], Any] | None = None
) -> tuple[list[Index], Ray | None]:
    """Labels that are exactly optimal one after the other, and the ray if the intervals do not cover [0, 1]."""
    waiting = iter(guide)
    candidate = next(waiting, None)
    walk = _start(data, first_labels(data) if candidate is None else candidate)
    t, steps, limit = Fraction(0), 0, 200 * walk.labels.size + 10_000
    found: list[Index] = []
    cross, crossing = _crossing(data)
    while t < 1:
        until = None
        if t == cross:
            return found or [walk.labels], ("crossing", [crossing])
        while candidate is not None and until is None:
            here = walk.labels
            try:
                walk.move(candidate)
            except ArithmeticError:
                candidate = next(waiting, None)
                continue
            lo, hi = walk.window()
            if lo <= t < hi:
                until = hi
            else:
                walk.move(here)
                if t < lo <= hi:
                    break  # ahead of us: exact exchanges until there
            candidate = next(waiting, None)
        while until is None:
            lo, hi = walk.window()
            if lo <= t < hi:
                until = hi
                break
            walk.t = t
            v, y = walk.solve(t)
            _, item, side = walk.event(v, y)
            last = walk.labels.copy()
            if (stopped := walk.exchange(item, side, v, y)) is not None:
                kind, ray = stopped
                return found or [last], (
                    kind,
                    [stated(r) for r in (ray[: walk.n] if kind == "unbounded" else ray[walk.n :])],
                )
            if (steps := steps + 1) > limit:
                raise ArithmeticError(f"no exact exchange goes on at t = {float(t)!r}")
        found.append(walk.labels.copy())
        t = min(until, cross)
        if report is not None:
            report(float(t))
    return found, None


def _crossing(data: Data) -> tuple[Fraction, int]:
    """Where the bounds of an item first cross, and whose; at 2 if nowhere."""
    (a, b), both = data.low - data.up, data.has_low & data.has_up
    return min(
        ((Fraction(-int(a[i]), int(b[i] - a[i])), i) for i in np.flatnonzero(both & (b > 0)).tolist()),
        default=(Fraction(2), -1),
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
    if first.follow(200 * guess.size + 10_000, keep=False).status != "end":
        raise ArithmeticError("the problem has no optimum at t = 0")
    return Exact(data, first.labels)


def certificate(problem: Mapping[str, Any], guide: Iterable[Index], progress: bool | None = None) -> dict[str, Any]:
    """The content of a certificate file.

    Parameters
    ----------
    problem : mapping
        As the file states it (docs/reference/certificate_files.md).
    guide : iterable of int arrays of shape (items,)
        Labels of the segments of a path in doubles.
    progress : bool, optional
        Whether to show a bar; by default on a terminal.

    Raises
    ------
    ArithmeticError
        If there is no exact path.
    """
    problem, data = _settled(dict(problem), integer_data)
    with meter(progress) as report:
        found, ray = exact_labels(data, guide, report)
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


def path_problem(gram: Gram, y: Array, own: Mapping[str, Any]) -> dict[str, Any]:
    """What the certificate of a path of classifiers is about: samples or kernel values, labels, and ``own``."""
    problem: dict[str, Any] = {**own, "y": [int(v) for v in y]}
    said = [own["about"]] if "about" in own else []
    features = gram.X if gram.linear else gram.features
    if features is not None:
        problem["X"] = dense(features).tolist()
        said += [f"X are features of an approximated kernel ({gram.approximation})"] if gram.approximation else []
    else:
        problem["K"] = [row[: i + 1] for i, row in enumerate(gram.matrix.tolist())]
        rounding = 0.0 if gram.rounding is None else float(gram.rounding.max()) ** 2
        off = f", each at most {rounding:.1e} from the kernel's own" if rounding else ""
        said.append(f"K are the values of the kernel {gram.kernel!r} in doubles{off}")
    return {**problem, **({"about": "; ".join(said)} if said else {})}


def _settled(problem: dict[str, Any], attempt: Callable[[dict[str, Any]], Any]) -> tuple[dict[str, Any], Any]:
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


def program_problem(problem: ParametricQP) -> dict[str, Any]:
    """What the certificate of any parametric program is about; its constant is left out.

    Parameters
    ----------
    problem : ParametricQP
        In doubles or in fractions.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.path.certificate_file import certificate, program_problem
    >>> from paretoclf.problem import ParametricQP
    >>> from paretoclf.proof import check
    >>> q, one = np.array([[-2.0], [2.0]]), np.ones((2, 1))
    >>> line = ParametricQP.hard(np.eye(1), np.zeros((0, 1)), q, -one, one)
    >>> found = certificate(program_problem(line), guide=[])  # x = 2 - 4 t, but within [-1, 1]
    >>> found["segments"], check.check(found["problem"], found["segments"])
    (['u', [[0, 'i']], [[0, 'l']]], ([-1.5, -1.5], Fraction(1, 1)))
    """
    P = [[stated(v) for v in row[: i + 1]] for i, row in enumerate(problem.P)]
    names = ("A", "q", "lower", "upper", "below", "above")
    parts = {name: [[stated(v) for v in row] for row in getattr(problem, name)] for name in names}
    return {"kind": "program", "K": P, **parts}


def _shifts_to_try(problem: Mapping[str, Any]) -> list[int | None]:
    """Powers of two that double precision is sure of; none of a small matrix, too, which may be singular."""
    n, K = len(problem["K"]), lower_triangle(problem)
    values, largest = np.linalg.eigvalsh(K), float(K.diagonal().max(initial=0.0))
    sure = float(values[0]) - n * math.ldexp(float(values[-1]), -52) if n else 1.0
    every: list[int | None] = [None, *_SHIFTS]
    enough = [s for s in every if sure + (0.0 if s is None else math.ldexp(largest, s)) > 0]
    return enough if None in enough or n > _LARGE else [None, *enough]


def bounded(problem: Mapping[str, Any], pieces: Any, labels: list[Index]) -> dict[str, Any]:
    """The content of a bounded certificate: the path as it is stored, and nothing of it solved anew.

    Parameters
    ----------
    problem : mapping
        As for `certificate`; of a path of classifiers.
    pieces : Pieces
        The path.
    labels : list of int arrays of shape (items,)
        Of its pieces.

    Raises
    ------
    ArithmeticError
        If `paretoclf.proof.check_gap` finds no bound.
    """

    def attempt(settled: dict[str, Any]) -> tuple[list[Any], Fraction]:
        knots = StoredPoints(settled, pieces, labels)
        stretches = [Fraction(0)] if knots.capped else [Fraction(1, 2**-k) for k in _STRETCHES]
        for stretch in stretches:
            points = knots.points(stretch)
            try:
                check_gap.gap(settled, points, str(stretch))
            except ArithmeticError as error:
                if "not finite" not in str(error) or stretch == stretches[-1]:
                    raise
                continue
            break
        return points, stretch

    settled, (points, stretch) = _settled(dict(problem), attempt)
    sha = _digest(settled)
    return {
        "format": "bounded certificate 1",
        "problem": settled,
        "sha256": sha,
        "stretch": str(stretch),
        "points": points,
    }


def _seconds(problem: Mapping[str, Any], labels: list[Index]) -> float:
    """What an exact certificate is expected to take, by what was measured: the inverse, then all items."""
    n = len(problem["y"])
    margin = np.array([int((each[:n] == 0).sum()) for each in labels], dtype=np.float64)
    return float((_INVERSE * margin**4 + _ITEMS * n * margin**2).sum() + _MATRIX * n**3)


def save_certificate(
    path: Any, equations: int, file: AnyFile, level: str | None = None, progress: bool | None = None
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
    progress : bool, optional
        As for `certificate`.

    Raises
    ------
    InputError
        If no certificate can be written: the message says why. There is no file then.
    """
    if level not in (None, "exact", "bounded"):
        raise InputError(f"level must be 'exact', 'bounded' or None, got {level!r}")
    check_target(file)
    problem, labels = path._certificate_problem(), list(path._labels(equations))
    quick = _seconds(problem, labels) <= _MINUTE
    levels = [level] if level else ["exact", "bounded"] if quick else ["bounded"]
    why = ""
    for each in levels:
        try:
            exact = each == "exact"
            content = certificate(problem, labels, progress) if exact else bounded(problem, path.pieces, labels)
        except ArithmeticError as error:
            why = f"no {each} certificate can be written: {error}" + (f"; {why}" if why else "")
            continue
        return write_content(content, file)
    raise InputError(why)


def check_target(file: AnyFile) -> None:
    """InputError unless there is a folder for the file."""
    target = FilePath(file)
    if not target.parent.is_dir():
        raise InputError(f"file must lie in a folder that there is, got {target}: there is no folder {target.parent}")


def write_content(content: Mapping[str, Any], file: AnyFile) -> None:
    """Write a content as a file, compressed if the name ends in ``.gz``."""
    text, target = json.dumps(content, separators=(",", ":"), allow_nan=False).encode(), FilePath(file)
    with replacing(target) as temporary:
        temporary.write_bytes(gzip.compress(text, mtime=0) if target.name.endswith(".gz") else text)


def save_program(problem: ParametricQP, guide: Iterable[Index], file: AnyFile, progress: bool | None = None) -> None:
    """Write the exact certificate of any parametric program; see `certificate` and `program_problem`.

    Raises
    ------
    InputError
        If there is none: the message says why. There is no file then.
    """
    check_target(file)
    try:
        content = certificate(program_problem(problem), guide, progress)
    except ArithmeticError as error:
        raise InputError(f"no exact certificate can be written: {error}") from None
    write_content(content, file)


def save_solution(solution: Solution, file: AnyFile) -> None:
    """Write the exact certificate of one optimal point of a 2C-SVM, whoever computed it.

    Parameters
    ----------
    solution : Solution
        Its classifier has samples, labels, costs, and multipliers, which are a guide only: a letter for each of them
        that is not exactly optimal is exchanged.
    file : path
        Compressed if its name ends in ``.gz``.

    Raises
    ------
    InputError
        If it is no solution of a 2C-SVM, or there is no exact certificate.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> import paretoclf as pc
    >>> from paretoclf.path.certificate_file import save_solution
    >>> from paretoclf.proof import check
    >>> point = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]).solve(C_plus=1.0, C_minus=1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_solution(point, f"{folder}/point.json")
    ...     content = json.loads(Path(folder, "point.json").read_text())
    >>> len(content["segments"]), -check.check(content["problem"], content["segments"])[0][0]
    (1, 2.888888888888889)
    """
    rule = solution.classifier
    if not isinstance(rule, Classifier):
        raise InputError(f"solution must be one of a 2C-SVM, got one with a {type(rule).__name__}")
    check_target(file)
    caps, alpha = rule.caps, rule.alpha
    labels = np.where(alpha <= UNTOUCHED * caps, -1, np.where(alpha >= (1 - UNTOUCHED) * caps, 1, 0))
    problem = path_problem(rule.gram, rule.y, {"kind": "2C-SVM", "caps": [caps.tolist()] * 2})
    try:
        write_content(certificate(problem, [np.append(labels, -1)], progress=False), file)
    except ArithmeticError as error:
        raise InputError(f"no exact certificate can be written: {error}") from None
