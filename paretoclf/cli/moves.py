"""``--move rhs:CAP1=100..300``: numbers of a program in a file that move, from where to where, or by how much.

With ``--by FROM..TO`` each ``--move`` says by how much its number moves in a unit of one direction, as it does for
``derivatives``: ``--move rhs:CAP1=10 --move rhs:CAP2=5% --by 0..1``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import paretoclf as pc
from paretoclf.checking.program_solutions import read_solution
from paretoclf.common.checks import number_from_text
from paretoclf.common.errors import InputError
from paretoclf.problem.integers import RELAX

#: A number of the program, and the two between which it goes.
_BETWEEN = re.compile(r"(?P<words>.+)=(?P<first>[^=]+?)\.\.(?P<last>[^=]+)")


#: Two numbers.
_ENDS = re.compile(r"(?P<first>[^=]+?)\.\.(?P<last>[^=]+)")

#: The parameter of a direction.
BY = "units"


class FileLine(NamedTuple):
    """A line of numbers of a program in a file.

    Attributes
    ----------
    moves : mapping
        Parameters, as `paretoclf.QP.from_file` takes them.
    start, stop : mapping of str to float
    """

    moves: dict[str, Any]
    start: dict[str, float]
    stop: dict[str, float]


def read_line(texts: Sequence[str] | None, by: str | None) -> FileLine:
    """Read a line of ``--move WHAT=FROM..TO``, or of ``--move WHAT=RATE`` and ``--by FROM..TO``.

    Examples
    --------
    >>> from paretoclf.cli.moves import read_line
    >>> read_line(["rhs:CAP1=100..300"], None)
    FileLine(moves={'rhs:CAP1': 'rhs:CAP1'}, start={'rhs:CAP1': 100.0}, stop={'rhs:CAP1': 300.0})
    >>> read_line(["rhs:CAP1=10", "rhs:N*=5%"], "0..1")
    FileLine(moves={'units': {'rhs:CAP1': 10.0, 'rhs:N*': '5%'}}, start={'units': 0.0}, stop={'units': 1.0})
    """
    if by is None:
        ends = read_moves(texts)
        own = {words: words for words in ends}
        return FileLine(own, *({words: pair[k] for words, pair in ends.items()} for k in (0, 1)))
    rates, said = read_rates(texts), _ENDS.fullmatch(by)
    if said is None or "..." in by:
        raise InputError(f"--by must be FROM..TO, as 0..1 or, with an equals sign, --by=-1..1, got {by}")
    first, last = (_number(said[name], by, "--by") for name in ("first", "last"))
    return FileLine({BY: rates}, {BY: first}, {BY: last})


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
            with_rate = "; WHAT=RATE is for a direction, with --by FROM..TO"
            raise InputError(f"--move must be WHAT=FROM..TO, as rhs:CAP1=100..300, got {text}{with_rate}")
        _add(found, said["words"], (_number(said["first"], text), _number(said["last"], text)))
    if not found:
        raise InputError("--move must say which number of the program moves, as rhs:CAP1=100..300, got none")
    return found


def read_rates(texts: Sequence[str] | None) -> dict[str, float | str]:
    """Return by how much numbers move in a unit, by their words: a number, or a share such as ``"5%"``; 1 by default.

    Examples
    --------
    >>> from paretoclf.cli.moves import read_rates
    >>> read_rates(["rhs:CAP1", "cost:X7=-2", "rhs:*=5%"])
    {'rhs:CAP1': 1.0, 'cost:X7': -2.0, 'rhs:*': '5%'}
    """
    found = dict[str, Any]()
    for text in texts or ():
        words, said, rate = text.rpartition("=")
        if not said:
            words, rate = text, "1"
        share = rate.endswith("%")
        number = _number(rate.removesuffix("%"), text)
        _add(found, words, rate if share else number)
    if not found:
        raise InputError("--move must say which number of the program moves, as rhs:CAP1, got none")
    return found


def read_direction(texts: Sequence[str] | None) -> tuple[dict[str, Any], dict[str, float]]:
    """Return the parameters of a direction, and by how much each of them moves in a unit.

    Examples
    --------
    >>> from paretoclf.cli.moves import read_direction
    >>> read_direction(["cost:X7=-2", "rhs:*=5%"])
    ({'cost:X7': 'cost:X7', 'rhs:*=5%': {'rhs:*': '5%'}}, {'cost:X7': -2.0, 'rhs:*=5%': 1.0})
    """
    moves, direction = dict[str, Any](), dict[str, float]()
    for words, rate in read_rates(texts).items():
        if isinstance(rate, str) or "*" in words:  # no one number of the file
            name = f"{words}={rate}"
            moves[name], direction[name] = {words: rate}, 1.0
        else:
            moves[words], direction[words] = words, rate
    return moves, direction


def read_qp(file: str, integers: str | None, moves: Mapping[str, Any] | None = None) -> pc.QP:
    """Read the program, with these parameters.

    Parameters
    ----------
    file : path
    integers : "relax", path or None
        What ``--integers`` says: they are relaxed, or fixed at the solution in this file.
    moves : mapping, optional
        As `paretoclf.QP.from_file` takes it.
    """
    how: Any = integers
    if integers not in (None, RELAX):
        how, _ = read_solution(str(integers), pc.QP.from_file(file, integers="relax"))
    try:
        return pc.QP.from_file(file, moves=moves, integers=how)
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


def _number(text: str, whole: str, option: str = "--move") -> float:
    """The number of a text."""
    try:
        return number_from_text(text)
    except ValueError:
        raise InputError(f"{option} must have numbers, got {text!r} in {whole}") from None
