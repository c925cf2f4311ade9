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
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from paretoclf.checks import Array, Index
from paretoclf.errors import InputError
from paretoclf.files import AnyFile, replacing
from paretoclf.gram import Gram
from paretoclf.path.general import Data, Walk, first_labels, shifted
from paretoclf.problem import ParametricQP
from paretoclf.progress import meter
from paretoclf.proof import check
from paretoclf.samples import dense

#: Of labels from -2 to 2.
LETTERS = "bliua"
#: Powers of two that are tried on the diagonal of a matrix that is not proved semidefinite, against its largest entry.
_SHIFTS = (-40, -36, -32, -28, -24)


#: Of matrices larger than this none is taken apart without rounding.
_LARGE = 150


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
        self.exchanges = self.since = self.standing = 0
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

    def response(self, i: int, unit: int) -> tuple[Any, Any, bool | None, Any]:
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
        if lower and upper and (lower[0] > upper[0] or sum(lower) > sum(upper)):
            raise ArithmeticError(f"the problem has no optimum all along the line: the bounds cross of item {i}")
    matrix = np.array(H, dtype=object)
    return Data.of(ParametricQP(matrix[:n, :n], matrix[n:, :n], **numbers))


def _ends(pairs: list[tuple[Any, Any]]) -> Any:
    """Pairs as an array of objects of shape (2, k)."""
    out = np.empty((2, len(pairs)), dtype=object)
    for k, pair in enumerate(pairs):
        out[:, k] = pair
    return out


def exact_labels(data: Data, guide: Iterable[Index]) -> Iterator[tuple[Fraction, Index]]:
    """Labels that are exactly optimal one after the other on intervals that cover [0, 1], and where each begins."""
    waiting = iter(guide)
    candidate = next(waiting, None)
    walk = _start(data, first_labels(data) if candidate is None else candidate)
    t, steps, limit = Fraction(0), 0, 200 * walk.labels.size + 10_000
    while t < 1:
        found = None
        while candidate is not None and found is None:
            here = walk.labels
            try:
                walk.move(candidate)
            except ArithmeticError:
                candidate = next(waiting, None)
                continue
            lo, hi = walk.window()
            if lo <= t < hi:
                found = hi
            else:
                walk.move(here)
                if t < lo <= hi:
                    break  # ahead of us: exact exchanges until there
            candidate = next(waiting, None)
        while found is None:
            lo, hi = walk.window()
            if lo <= t < hi:
                found = hi
                break
            walk.t = t
            v, y = walk.solve(t)
            _, item, side = walk.event(v, y)
            stopped = walk.exchange(item, side, v, y)
            steps += 1
            if stopped is not None or steps > limit:
                raise ArithmeticError(f"no exact exchange goes on at t = {float(t)!r}")
        yield t, walk.labels
        t = found


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
    problem, data = _settled(dict(problem))
    segments: list[Any] = []
    letters = ""
    with meter(progress) as report:
        for t, labels in exact_labels(data, guide):
            if report is not None:
                report(float(t))
            before, letters = letters, "".join(LETTERS[k + 2] for k in labels)
            changed = [[i, pair[1]] for i, pair in enumerate(zip(before, letters, strict=False)) if pair[0] != pair[1]]
            segments.append(changed if segments else letters)
    return {
        "format": "exact certificate 1",
        "problem": problem,
        "sha256": _digest(problem),
        "segments": segments,
    }


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


def _settled(problem: dict[str, Any]) -> tuple[dict[str, Any], Data]:
    """The problem with as much on the diagonal as it takes to prove its matrix positive semidefinite, and its data."""
    n, about = len(problem["K" if "K" in problem else "X"]), problem.get("about", "")
    for shift in _shifts_to_try(problem) if "K" in problem else (None,):
        if shift is not None:
            add = math.ldexp(1.0, math.frexp(max(row[-1] for row in problem["K"]))[1] + shift)
            why = f"2^{math.frexp(add)[1] - 1} is added to the diagonal of K, which is not proved positive semidefinite"
            before = [Fraction(v) for v in problem.get("diagonal", [0] * n)]
            changed = {**problem, "diagonal": [add if v == 0 else str(Fraction(add) + v) for v in before]}
            changed["about"] = f"{about}; {why}" if about else why
        try:
            found = problem if shift is None else changed
            return found, integer_data(found)
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
    (['u', [[0, 'i']], [[0, 'l']]], [-1.5, -1.5])
    """
    P = [[_stated(v) for v in row[: i + 1]] for i, row in enumerate(problem.P)]
    names = ("A", "q", "lower", "upper", "below", "above")
    parts = {name: [[_stated(v) for v in row] for row in getattr(problem, name)] for name in names}
    return {"kind": "program", "K": P, **parts}


def _stated(v: Any) -> int | float | str | None:
    """A number as the file has it; None for one that is infinite."""
    if isinstance(v, Fraction):
        return int(v) if v.denominator == 1 else str(v)
    if isinstance(v, int | np.integer):
        return int(v)
    return float(v) if math.isfinite(v) else None


def _shifts_to_try(problem: Mapping[str, Any]) -> list[int | None]:
    """Powers of two; of a large matrix only those that need no elimination, which would take hours."""
    n, every = len(problem["K"]), [None, *_SHIFTS]
    if n <= _LARGE:
        return every
    K = np.zeros((n, n))
    K[np.tril_indices(n)] = [float(Fraction(v)) for row in problem["K"] for v in row]
    K += np.diag([float(Fraction(v)) for v in problem.get("diagonal", [0] * n)])
    least, largest = float(np.linalg.eigvalsh(K)[0]), float(K.diagonal().max())
    enough = [s for s in every if least + (0.0 if s is None else math.ldexp(largest, s)) > n * math.ldexp(largest, -42)]
    return enough or every[-1:]


def save_certificate(
    problem: Callable[[], dict[str, Any]],
    guide: Callable[[], Iterable[Index]],
    file: AnyFile,
    level: str = "exact",
    progress: bool | None = None,
) -> None:
    """Write a certificate file, to a temporary name first, then renamed.

    Parameters
    ----------
    problem, guide : callable
        Make what `certificate` takes.
    file : path
        Compressed if its name ends in ``.gz``.
    level : str
        ``"exact"``.
    progress : bool, optional
        As for `certificate`.

    Raises
    ------
    InputError
        If no exact certificate can be written: the message says why. There is no file then.
    """
    if level != "exact":
        raise InputError(f"level must be 'exact', got {level!r}")
    target = FilePath(file)
    if not target.parent.is_dir():
        raise InputError(f"file must lie in a folder that there is, got {target}: there is no folder {target.parent}")
    try:
        content = certificate(problem(), guide(), progress)
    except ArithmeticError as error:
        raise InputError(f"no exact certificate can be written: {error}") from None
    text = json.dumps(content, separators=(",", ":"), allow_nan=False).encode()
    with replacing(target) as temporary:
        temporary.write_bytes(gzip.compress(text, mtime=0) if target.name.endswith(".gz") else text)
