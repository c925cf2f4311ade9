"""The lines of an MPS file, read strictly before HiGHS reads them.

HiGHS says nothing of names that nobody defined, of entries in both triangles, of numbers of which it reads the first
digits, and of directions that it does not know. Whatever is not said in the one way that all readers share is refused
here, with its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from typing import NoReturn

#: Words of a section OBJSENSE, each with whether the objective is maximised.
_SENSES = {
    **dict.fromkeys(("MIN", "MINIMIZE", "MINIMISE"), False),
    **dict.fromkeys(("MAX", "MAXIMIZE", "MAXIMISE"), True),
}

#: Sections of one word, and those that have text beside it.
_ALONE = {"ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "QUADOBJ", "QMATRIX", "ENDATA"}
_WITH_TEXT = {"NAME", "OBJSENSE", "QSECTION"}

#: Sections of entries of P: the same entry in two of them would count twice.
_QUADRATIC = {"QUADOBJ", "QMATRIX", "QSECTION"}

#: A number as C and Fortran write it.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([edED][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)

#: Sides of the interval of a variable that each type of bound says.
_SIDES = {
    "UP": "u", "LO": "l", "FX": "lu", "FR": "lu", "MI": "l", "PL": "u",
    "BV": "lu", "LI": "l", "UI": "u", "SC": "u", "SI": "u",
}  # fmt: skip

#: Types of bounds that need no number.
_WITHOUT_NUMBER = {"FR", "MI", "PL", "BV"}

#: Where the fields of a line stand in the fixed format, in which names may have blanks.
_FIXED = (slice(1, 3), slice(4, 12), slice(14, 22), slice(24, 36), slice(39, 47), slice(49, 61))


class LineError(Exception):
    """A line says what is read in more than one way, or in none; its text is the reason."""

    def __init__(self, number: int, reason: str) -> None:
        self.number = number
        super().__init__(f"line {number}: {reason}")


@dataclass
class Said:
    """The names and entries that the lines up to one have said."""

    fixed: bool
    maximise: bool | None = None
    sections: dict[str, int] = field(default_factory=dict)
    rows: dict[str, str] = field(default_factory=dict)
    columns: dict[str, int] = field(default_factory=dict)
    entries: dict[tuple[str, ...], int] = field(default_factory=dict)
    sets: dict[str, str] = field(default_factory=dict)
    objective: str = ""

    def bound_at(self, column: str, side: str) -> int | None:
        """The line that says the lower ("l") or upper ("u") bound of a variable, or None."""
        return self.entries.get(("BOUNDS", column, side))


@dataclass(frozen=True)
class TextLine:
    """The fields of a line below the name of a section."""

    number: int
    section: str
    fields: list[str]

    def refuse(self, reason: str) -> NoReturn:
        """Say why this line is not read."""
        comment = next((each for each in self.fields if each.startswith("$")), None)
        raise LineError(self.number, reason if comment is None else f"{reason} (a comment after {comment} is not read)")


def check_mps(text: str) -> Said:
    """Read every line.

    Raises
    ------
    LineError
        At the first line that readers understand differently, or that HiGHS would leave out.
    """
    said = Said(fixed=_has_blanks_in_names(text))
    for line in _lines(text, said):
        _CHECKS[line.section](line, said)
    if "ENDATA" not in said.sections:
        raise LineError(len(text.split("\n")), "the file ends before ENDATA")
    comment = re.search(r"(?im)^\*\s*SENSE:\s*max", text)
    if comment is not None and said.maximise is None:
        number = text[: comment.start()].count("\n") + 1
        raise LineError(
            number,
            "a comment says that it is maximised, as PuLP writes it, and readers pass over comments: write OBJSENSE "
            "below NAME and, in the next line, MAX",
        )
    if "OBJSENSE" in said.sections and said.maximise is None:
        raise LineError(said.sections["OBJSENSE"], f"OBJSENSE must be followed by one of {', '.join(_SENSES)}")
    return said


def _has_blanks_in_names(text: str) -> bool:
    """Whether the format is the fixed one: a row has a type and more than one word, and no comment."""
    inside = False
    for line in text.split("\n"):
        words = line.split()
        if not words or line.startswith("*"):
            continue
        if len(words) == 1:
            inside = words[0].upper() == "ROWS"
        elif inside and len(words) > 2 and not words[2].startswith("$"):
            return True
    return False


def _lines(text: str, said: Said) -> Iterator[TextLine]:
    """Lines of data with their sections, up to ENDATA."""
    section = ""
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if not words or line.startswith("*"):
            continue
        head = words[0].upper()
        if head in _WITH_TEXT or (head in _ALONE and len(words) == 1):
            section = head
            _begin(TextLine(number, head, words[1:]), said)
            if head == "ENDATA":
                return
        elif section in _CHECKS:
            yield TextLine(number, section, _fields(line, said.fixed and section != "OBJSENSE"))
        else:
            raise LineError(number, f"{' '.join(words)!r:.60} is in no section that is read")


def _fields(line: str, fixed: bool) -> list[str]:
    """Words of a line, or what stands in the columns of the fixed format."""
    if not fixed:
        return line.split()
    return [found for place in _FIXED if (found := line.expandtabs()[place].strip())]


def _begin(line: TextLine, said: Said) -> None:
    """A new section."""
    name = line.section
    if name in said.sections:
        line.refuse(f"{name} is there a second time")
    if name in _QUADRATIC and _QUADRATIC & set(said.sections):
        line.refuse("a second section of the quadratic objective: entries of both are added by some readers")
    if name == "RHS" and "RANGES" in said.sections:
        line.refuse("RHS must stand before RANGES, which begin at it")
    said.sections[name] = line.number
    if name == "OBJSENSE" and line.fields:
        _check_sense(line, said)
    if name == "QSECTION" and line.fields[:1] != [said.objective]:
        line.refuse(f"QSECTION must be that of the objective {said.objective}: rows are linear")


def _check_sense(line: TextLine, said: Said) -> None:
    """One word, minimise or maximise."""
    word = " ".join(line.fields).upper()
    if word not in _SENSES:
        line.refuse(f"OBJSENSE must be one of {', '.join(_SENSES)}, got {word}")
    if said.maximise not in (None, _SENSES[word]):
        line.refuse(f"OBJSENSE says {word} after the contrary")
    said.maximise = _SENSES[word]


def _check_row(line: TextLine, said: Said) -> None:
    """A type and a new name; the first N is the objective."""
    if len(line.fields) != 2 or line.fields[0] not in ("N", "L", "G", "E"):
        line.refuse(f"ROWS must have one of N, L, G, E and a name, got {' '.join(line.fields)!r:.60}")
    kind, name = line.fields
    if name in said.rows:
        line.refuse(f"the row {name} has the same name as one before")
    if kind == "N":
        kind = "free" if said.objective else "objective"
        said.objective = said.objective or name
    said.rows[name] = kind


def _check_column(line: TextLine, said: Said) -> None:
    """A name, and one or two rows with numbers; lines of one column stand together."""
    if "'MARKER'" in line.fields:
        return
    if len(line.fields) not in (3, 5):
        line.refuse(f"COLUMNS must have a name and one or two rows with numbers, got {len(line.fields)} fields")
    name = line.fields[0]
    if name not in said.columns:
        said.columns[name] = len(said.columns)
    elif said.columns[name] != len(said.columns) - 1:
        line.refuse(f"the column {name} has been there before others: a second variable of the same name")
    for row, number in _pairs(line.fields[1:]):
        _known(line, "row", row, said.rows)
        _once(line, said, (name, row), number)


def _check_rhs(line: TextLine, said: Said) -> None:
    """A set, which may be left out, and one or two rows with numbers."""
    for row, number in _pairs(_without_set(line, said)):
        _known(line, "row", row, said.rows)
        if said.rows[row] == "free" or (line.section == "RANGES" and said.rows[row] == "objective"):
            line.refuse(f"the row {row} is no constraint")  # its number would move the objective
        _once(line, said, (row,), number)


def _without_set(line: TextLine, said: Said) -> list[str]:
    """Fields without the first one where their number is odd; a second set is another problem."""
    fields = line.fields
    if len(fields) not in (2, 3, 4, 5) or (len(fields) % 2 == 0 and line.section == "RANGES"):
        line.refuse(f"{line.section} must have a set and one or two rows with numbers, got {len(fields)} fields")
    if len(fields) % 2 == 0:
        return fields
    if fields[0] in said.rows and line.section != "RANGES":  # of ranges the set is always there
        line.refuse(
            f"the set {fields[0]} has the name of a row: which is meant? Call the set {line.section} in all lines"
        )
    _one_set(line, said, fields[0])
    return fields[1:]


def _one_set(line: TextLine, said: Said, name: str) -> None:
    """Refuse a second set of numbers in a section."""
    first = said.sets.setdefault(line.section, name)
    if first != name:
        line.refuse(f"{line.section} has two sets, {first} and {name}: keep one")


def _check_bound(line: TextLine, said: Said) -> None:
    """Check a type, a set, which may be left out, a column and, except of FR, MI, PL and BV, a number."""
    kind, *rest = line.fields
    if kind not in _SIDES:
        line.refuse(f"BOUNDS must have one of {', '.join(_SIDES)}, got {kind!r:.20}")
    least = 1 if kind in _WITHOUT_NUMBER else 2
    with_set = len(rest) > least and rest[0] not in said.columns
    own = rest[1:] if with_set else rest
    if not least <= len(own) <= 2:
        line.refuse(f"BOUNDS must have a type, a set, a column and a number, got {' '.join(line.fields)!r:.60}")
    if with_set:
        _one_set(line, said, rest[0])
    _known(line, "column", own[0], said.columns)
    for side in _SIDES[kind]:
        _once(line, said, (own[0], side), own[1] if len(own) == 2 else "0")


def _check_quadratic(line: TextLine, said: Said) -> None:
    """Check a column, and one or two columns with numbers; of a triangle, one of two mirror images."""
    if len(line.fields) not in (3, 5):
        line.refuse(f"{line.section} must have a column and one or two columns with numbers")
    first = line.fields[0]
    for second, number in _pairs(line.fields[1:]):
        for name in (first, second):
            _known(line, "column", name, said.columns)
        _once(line, said, (first, second), number)
        before = said.entries.get((line.section, second, first))
        if first != second and before is not None and line.section != "QMATRIX":
            line.refuse(
                f"{line.section} has one triangle, and line {before} has the mirror image of {first}, {second}: "
                "leave one out, or call the section QMATRIX"
            )


def _pairs(fields: list[str]) -> list[tuple[str, str]]:
    """Names, each with the number behind it."""
    return list(zip(fields[::2], fields[1::2], strict=True))


def _known(line: TextLine, what: str, name: str, names: Container[str]) -> None:
    """Refuse a name that nothing has defined."""
    if name not in names:
        more = "; one without coefficients has a 0 in the objective, in COLUMNS" if what == "column" else ""
        line.refuse(f"the {what} {name} in {line.section} is not defined{more}")


def _once(line: TextLine, said: Said, place: tuple[str, ...], number: str) -> None:
    """Refuse a second number for one place, and a text that is no number."""
    if not _NUMBER.fullmatch(number):
        line.refuse(f"{number!r:.40} is no number")
    key = (line.section, *place)
    if key in said.entries:
        line.refuse(f"a duplicate of line {said.entries[key]}, {' '.join(place)}")
    said.entries[key] = line.number


_CHECKS: dict[str, Callable[[TextLine, Said], None]] = {
    "OBJSENSE": _check_sense,
    "ROWS": _check_row,
    "COLUMNS": _check_column,
    "RHS": _check_rhs,
    "RANGES": _check_rhs,
    "BOUNDS": _check_bound,
    **dict.fromkeys(_QUADRATIC, _check_quadratic),
}
