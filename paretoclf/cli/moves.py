"""``--move rhs:CAP1=100..300``: numbers of a program in a file that move, from where to where, or by how much."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import paretoclf as pc
from paretoclf.checking.program_solutions import read_solution
from paretoclf.common.checks import number_from_text
from paretoclf.common.errors import InputError
from paretoclf.problem.integers import RELAX

#: A number of the program, and the two between which it goes.
_BETWEEN = re.compile(r"(?P<words>.+)=(?P<first>[^=]+?)\.\.(?P<last>[^=]+)")


def read_moves(texts: Sequence[str] | None) -> dict[str, tuple[float, float]]:
    """Return the numbers that move, by their words, each with both ends.

    Raises
    ------
    InputError
        If there is none, or one is not stated as ``WHAT=FROM..TO``.

    Examples
    --------
    >>> from paretoclf.cli.moves import read_moves
    >>> read_moves(["rhs:CAP1=100..300", "cost:X7=-2..5e1"])
    {'rhs:CAP1': (100.0, 300.0), 'cost:X7': (-2.0, 50.0)}
    """
    found = dict[str, tuple[float, float]]()
    for text in texts or ():
        said = _BETWEEN.fullmatch(text)
        if said is None or "..." in text.rpartition("=")[2]:  # 1...12 would end at .12; names may have dots
            raise InputError(f"--move must be WHAT=FROM..TO, as rhs:CAP1=100..300, got {text}")
        _add(found, said["words"], (_number(said["first"], text), _number(said["last"], text)))
    if not found:
        raise InputError("--move must say which number of the program moves, as rhs:CAP1=100..300, got none")
    return found


def read_direction(texts: Sequence[str] | None) -> dict[str, float]:
    """Return by how much numbers move in a unit, by their words; by 1 where that is not said.

    Examples
    --------
    >>> from paretoclf.cli.moves import read_direction
    >>> read_direction(["rhs:CAP1", "cost:X7=-2"])
    {'rhs:CAP1': 1.0, 'cost:X7': -2.0}
    """
    found = dict[str, float]()
    for text in texts or ():
        words, said, rate = text.rpartition("=")
        if not said:
            words, rate = text, "1"
        _add(found, words, _number(rate, text))
    if not found:
        raise InputError("--move must say which number of the program moves, as rhs:CAP1, got none")
    return found


def read_qp(file: str, integers: str | None, words: Sequence[str] = ()) -> pc.QP:
    """Read the program, with these of its numbers as parameters that have their words for names.

    Parameters
    ----------
    file : path
    integers : "relax", path or None
        What ``--integers`` says: they are relaxed, or fixed at the solution in this file.
    words : sequence of str
    """
    how: Any = integers
    if integers not in (None, RELAX):
        how, _ = read_solution(str(integers), pc.QP.from_file(file, integers="relax"))
    try:
        return pc.QP.from_file(file, moves={each: each for each in words}, integers=how)
    except InputError as error:
        said = re.sub(r"^moves must", "--move must", str(error))
        raise InputError(re.sub(r"^integers must", f"--integers {integers} must", said)) from None


def head_of(file: str, integers: str | None, qp: pc.QP) -> str:
    """Line that says which program it is that an answer is about."""
    how = "" if integers is None else ", integers relaxed" if integers == RELAX else f", integers fixed at {integers}"
    return f"{file}{how}: {qp!r}"


def _add(found: dict[str, Any], words: str, how: Any) -> None:
    """Put it in, once."""
    if words in found:
        raise InputError(f"--move must name each number once, got {words} twice")
    found[words] = how


def _number(text: str, whole: str) -> float:
    """The number of a text."""
    try:
        return number_from_text(text)
    except ValueError:
        raise InputError(f"--move must have numbers, got {text!r} in {whole}") from None
