"""The certificate file of ranges and of derivatives, for `paretoclf.proof.check_ranges` or whoever reads it.

One basis in doubles is nearly always exactly optimal, and is the guide. Beside the point the engine goes on in integers
along each movement, until the minimum is another polynomial.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from paretoclf.common.checks import Index
from paretoclf.common.files import AnyFile
from paretoclf.common.progress import counted
from paretoclf.engine.start import Data
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.proof import check, check_ranges
from paretoclf.proof.files.certificate_file import (
    LETTERS,
    definite,
    digest,
    engine_data,
    exact_labels,
    exact_start,
    save_exact,
)
from paretoclf.proof.files.stated_problems import Stated, by_entries, program_problem, stated

#: Lines that are tried on a side, each this much longer than where the letters of the one before end.
_LINES, _LONGER = 40, 2
#: An end in doubles is passed by this share of it.
_PASSED = Fraction(1, 2**20)
#: Prices and ends in doubles are those of the file up to this share of them, or of the largest.
_SAME, _ROUNDED = 1e-6, 1e-9

#: An entry of a movement: the field, the item, and its rate.
Entry = tuple[str, int, Fraction]


@dataclass(frozen=True)
class SideInDoubles:
    """What was found of one side, in doubles; nan where nothing is to be compared.

    Attributes
    ----------
    price : float
        Derivative of the value on this side; infinite where there is no optimum.
    until : float
        How far the value is one parabola.
    """

    price: float
    until: float = math.nan


@dataclass(frozen=True)
class FoundMove:
    """A movement of the data, and what was found of its two sides; None where nothing was."""

    name: str
    entries: Sequence[Entry]
    below: SideInDoubles | None
    above: SideInDoubles | None

    @property
    def sides(self) -> tuple[tuple[int, SideInDoubles | None], ...]:
        """Both, with the direction in which the data move."""
        return (-1, self.below), (1, self.above)


@dataclass(frozen=True)
class RangesProof:
    """What writes the certificate file of ranges, or of derivatives."""

    make: Callable[[bool | None], dict[str, Any]]

    def save(self, file: AnyFile, level: str | None = None, progress: bool | None = None) -> None:
        """Write the certificate file, which a plain script checks without rounding.

        The format, and what it proves: docs/reference/certificate_files.md.

        Parameters
        ----------
        file : path
            Compressed if its name ends in ``.gz``.
        level : str, optional
            None, or the one level that there is: ``"exact"``.
        progress : bool, optional
            Whether to show a bar; by default on a terminal.

        Raises
        ------
        InputError
            If no certificate can be written: the message says why. There is no file then.
        """
        save_exact(partial(self.make, progress), file, level, "ranges and derivatives")


def stated_point(problem: ParametricQP, constant: float, sense: int) -> Stated:
    """State a program at the point where a line begins; ``sense`` is -1 where it is minus what is maximised."""
    found = program_problem(problem)
    for name in check_ranges.AT_POINT:
        found[name] = found[name][:1]
    named = {"names": list(problem.names)} if problem.names else {}
    return {**found, "constant": stated(constant), "sign": sense, **named}


def ranges_certificate(
    problem: Mapping[str, Any], guide: Index, moves: Sequence[FoundMove], progress: bool | None = None
) -> dict[str, Any]:
    """Make the content of a certificate file.

    Parameters
    ----------
    problem : mapping
        As `stated_point` states it.
    guide : int array of shape (items,)
        Labels of a basis in doubles.
    moves : sequence of FoundMove
    progress : bool, optional
        Whether to show a bar; by default on a terminal.

    Raises
    ------
    ArithmeticError
        If there are no letters that prove this, or what is exact is not what was found in doubles.
    """
    movements: list[Any] = [
        [move.name, [[field, item, stated(rate)] for field, item, rate in move.entries]] for move in moves
    ]
    problem, at = definite({**problem, "moves": movements}, check_ranges.standing)
    data = engine_data(at.given)
    labels = exact_start(data, guide).labels
    base = check.LetterEquations(at.given)
    letters = letters_of(labels)
    base.change_letters(base.read_letters(letters, True, ""), "")
    sides = []
    for move, (_, entries) in zip(counted(moves, "certificate", len(moves), progress), movements, strict=True):
        both: list[Any] = []
        for direction, found in move.sides:
            moved = check_ranges.movement(at, entries, direction)
            both.append(None if found is None else _OneSideExactly(data, base, labels, moved).side(found.until))
        sides.append(both)
    problem = by_entries(problem)
    proved = check_ranges.check_ranges(problem, letters, sides)
    _agree(moves, proved)
    parts = {"letters": letters, "sides": sides}
    return {"format": check_ranges.FORMAT, "problem": problem, "sha256": digest(problem), **parts}


def letters_of(labels: Index) -> str:
    """Labels as one text."""
    return "".join(LETTERS[label + 2] for label in labels)


def changes_of(before: str, after: str) -> list[Any]:
    """Letters that are others."""
    return [[item, new] for item, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]


@dataclass(frozen=True)
class _OneSideExactly:
    """One side of the point, for the engine and for the checker."""

    data: Data
    base: check.LetterEquations
    labels: Index
    moved: check_ranges.MovedData

    def side(self, distance: float) -> dict[str, Any]:
        """State the letters from the point on, until the minimum is another polynomial or there is none.

        Parameters
        ----------
        distance : float
            How far it is one, in doubles; infinite, or nan where that is not known.
        """
        reach = Fraction(1)
        if 0.0 < distance < math.inf:
            reach = Fraction(distance) * (1 + _PASSED)
        for _ in range(_LINES):
            found, ray = exact_labels(self._line(reach), [self.labels])
            side, end = self._until_it_bends(found, ray)
            if side is not None:
                return side
            reach = _LONGER * max(reach, end)
        raise ArithmeticError("it is not known how far the minimum is one polynomial")

    def _line(self, reach: Fraction) -> Data:
        """The line from the point so many units along the movement, in integers."""
        up, down = reach.as_integer_ratio()

        def scaled(pair: Any) -> Any:
            return None if pair is None else (down * pair[0], up * pair[1])

        affine = {name: [scaled(pair) for pair in pairs] for name, pairs in self.moved.affine.items()}
        made = engine_data(self.base.given._replace(affine=affine))
        return replace(made, read=self.data.read)

    def _until_it_bends(self, found: Sequence[Index], ray: Any) -> tuple[dict[str, Any] | None, Fraction]:
        """State the side from labels that are optimal one after the other; None, with their end, if it goes on."""
        equations = check_ranges.moving(self.base, self.moved.affine)
        before, until = letters_of(self.labels), Fraction(0)
        segments: list[Any] = []
        minimum = None
        for labels in found:
            letters = letters_of(labels)
            changes = changes_of(before, letters)
            try:
                segment = check_ranges.next_segment(equations, changes, until, "")
            except ArithmeticError:
                if ray is None or segments:
                    raise
                break  # they hold at the point alone
            if minimum not in (None, segment.minimum):
                return {"segments": segments, "next": changes}, until
            segments.append(changes)
            if segment.until is None:
                return {"segments": segments}, until
            before, until, minimum = letters, segment.until, segment.minimum
        if ray is not None:
            return {"segments": segments, "ray": list(ray)}, until
        return None, until


def _agree(moves: Sequence[FoundMove], proved: check_ranges.Proved) -> None:
    """Raise ArithmeticError where what is proved is not what was found in doubles."""
    doubles = [found for move in moves for _, found in move.sides if found is not None]
    prices = _largest(found.price for found in doubles)
    ends = _largest(found.until for found in doubles)
    for move, both in zip(moves, proved.sides, strict=True):
        for (direction, found), side in zip(move.sides, both, strict=True):
            if found is None or side is None:
                continue
            price = math.inf if side.price is None else float(direction * side.price)
            until = math.inf if side.until is None else float(side.until)
            pairs = ("price", found.price, price, prices), ("end", found.until, until, ends)
            for what, stored, exact, size in pairs:
                if not _same(stored, exact, size):
                    where = f"{'below' if direction < 0 else 'above'} of {move.name}"
                    raise ArithmeticError(
                        f"the {what} {where} is {exact!r} of the data as they are stored, and "
                        f"{stored!r} up to their rounding"
                    )


def _largest(numbers: Iterable[float]) -> float:
    """The largest finite size."""
    return max((abs(number) for number in numbers if math.isfinite(number)), default=0.0)


def _same(stored: float, exact: float, size: float) -> bool:
    """Whether a number in doubles is the exact one; of infinite ones the sign is not compared, nan with nothing."""
    if math.isnan(stored):
        return True
    if math.isinf(stored) or math.isinf(exact):
        return math.isinf(stored) and math.isinf(exact)
    return abs(stored - exact) <= _SAME * max(abs(stored), abs(exact)) + _ROUNDED * size
