"""Lines of MPS files: what all readers understand alike is read, all else is refused with its line and the reason."""

from __future__ import annotations

import pytest

from paretoclf.problem.mps_text import LineError, check_mps

#: A program in the free format that says everything there is once. Line 1 is NAME.
PROGRAM = """\
NAME demo
OBJSENSE
    MAX
ROWS
 N cost
 L cap
 G need
 E both
COLUMNS
 x cost 1.5 cap 1
 x need 1
 y cost -2 cap 1e0
 y both 3D0
RHS
 RHS cap 4 need 1
 RHS both 3
RANGES
 RNG cap 2
BOUNDS
 UP BND x 4
 LO BND x -1
 FR BND y
QUADOBJ
 x x 2
 x y -1
ENDATA"""


def with_lines(*changes: tuple[int, str]) -> str:
    """The program with some lines, by their numbers, replaced: by several, or by none where the text is empty."""
    lines = PROGRAM.split("\n")
    for number, text in changes:
        lines[number - 1] = text
    return "\n".join(lines)


def reason(text: str) -> str:
    """The reason for which a text is refused, with its line."""
    with pytest.raises(LineError) as refused:
        check_mps(text)
    assert str(refused.value).startswith(f"line {refused.value.number}: ")
    return str(refused.value)


def test_names_and_kinds_and_lines_are_those_of_the_text():
    said = check_mps(with_lines())
    assert not said.fixed
    assert said.maximise is True
    assert said.objective == "cost"
    assert said.rows == {"cost": "objective", "cap": "L", "need": "G", "both": "E"}
    assert said.columns == {"x": 0, "y": 1}
    assert said.sets == {"RHS": "RHS", "RANGES": "RNG", "BOUNDS": "BND"}
    for name in ("NAME", "OBJSENSE", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "QUADOBJ", "ENDATA"):
        (line,) = (k for k, text in enumerate(PROGRAM.split("\n"), 1) if text in (name, f"{name} demo"))
        assert said.sections[name] == line
    assert [said.bound_at("x", side) for side in "ul"] == [20, 21]
    assert [said.bound_at("y", side) for side in "ul"] == [22, 22]
    assert said.entries["QUADOBJ", "x", "y"] == 25
    assert said.entries["COLUMNS", "y", "both"] == 13


@pytest.mark.parametrize(
    ("kind", "sides"),
    [
        *(("UP", "u"), ("LO", "l"), ("FX", "lu"), ("FR", "lu"), ("MI", "l"), ("PL", "u"), ("BV", "lu")),
        *(("LI", "l"), ("UI", "u"), ("SC", "u"), ("SI", "u")),
    ],
)
def test_a_bound_is_of_the_sides_that_its_type_says(kind, sides):
    said = check_mps(with_lines((20, f" {kind} BND x 1"), (21, ""), (22, "")))
    assert [side for side in "lu" if said.bound_at("x", side) == 20] == list(sides)
    assert said.bound_at("y", "l") is None


def test_numbers_may_be_left_out_only_where_the_type_needs_none():
    for kind in ("FR", "MI", "PL", "BV"):
        for own in ("BND x", "x"):
            assert check_mps(with_lines((20, f" {kind} {own}"), (21, ""), (22, ""))).entries
    for kind in ("UP", "LO", "FX", "LI", "UI", "SC", "SI"):
        assert "line 20: BOUNDS must have" in reason(with_lines((20, f" {kind} x"), (21, "")))
        assert check_mps(with_lines((20, f" {kind} x 1"), (21, ""))).sets["BOUNDS"] == "BND"  # the set is left out


@pytest.mark.parametrize("number", ["1", "-1.", ".5", "+2.5E-3", "1d2", "inf", "-Infinity", "007"])
def test_numbers_are_those_of_c_and_of_fortran(number):
    assert check_mps(with_lines((20, f" UP BND x {number}"))).bound_at("x", "u") == 20


@pytest.mark.parametrize("number", ["1,5", "1e", "0x10", ".", "nan", "1_000", "e5", "--1"])
def test_a_text_that_is_only_begun_by_a_number_is_none(number):
    assert reason(with_lines((20, f" UP BND x {number}"))) == f"line 20: {number!r} is no number"


#: Lines that are put in the place of others, and the reason: it stands in the line that is named.
REFUSED = {
    "a sense nobody knows": ((3, " MOST"), 3, "OBJSENSE must be one of MIN"),
    "no sense": ((3, ""), 2, "OBJSENSE must be followed by one of MIN"),
    "two senses": ((3, " MAX\n MIN"), 4, "OBJSENSE says MIN after the contrary"),
    "a type of row nobody knows": ((6, " Q cap"), 6, "ROWS must have one of N, L, G, E"),
    "a row without a name": ((6, " L"), 6, "ROWS must have one of N, L, G, E"),
    "two rows of a name": ((7, " G cap"), 7, "the row cap has the same name"),
    "a row that is not defined": ((10, " x cost 1 gap 1"), 10, "the row gap in COLUMNS is not defined"),
    "a column in two places": ((13, " y both 3\n x both 1"), 14, "the column x has been there before"),
    "an entry twice in a line": ((10, " x cost 1 cost 1"), 10, "a duplicate of line 10, x cost"),
    "an entry twice": ((11, " x cap 2"), 11, "a duplicate of line 10, x cap"),
    "four fields": ((10, " x cost 1 cap"), 10, "COLUMNS must have a name and one or two rows with numbers, got 4"),
    "seven fields": ((10, " x cost 1 cap 1 need 1"), 10, "got 7 fields"),
    "a right-hand side of a row that is not there": ((16, " RHS gap 3"), 16, "the row gap in RHS is not defined"),
    "a right-hand side twice": ((16, " RHS cap 3"), 16, "a duplicate of line 15, cap"),
    "two sets": ((16, " OTHER both 3"), 16, "RHS has two sets, RHS and OTHER"),
    "a set that is a row": (
        (16, " cap both 3"),
        16,
        "the set cap has the name of a row: which is meant? Call the set RHS",
    ),
    "one field": ((16, " both"), 16, "RHS must have a set and one or two rows"),
    "six fields": ((16, " RHS both 3 cap 1 need"), 16, "RHS must have a set and one or two rows"),
    "ranges without a set": ((18, " cap 2"), 18, "RANGES must have a set"),
    "a range of the objective": ((18, " RNG cost 2"), 18, "the row cost is no constraint"),
    "a type of bound nobody knows": ((20, " UB BND x 4"), 20, "BOUNDS must have one of UP, LO"),
    "a bound twice": ((21, " FX BND x 4"), 21, "a duplicate of line 20, x u"),
    "a bound of no variable": ((20, " UP BND z 4"), 20, "the column z in BOUNDS is not defined; one without coef"),
    "a bound of nothing": ((22, " FR z"), 22, "the column z in BOUNDS is not defined"),
    "two sets of bounds": ((21, " LO OTHER x -1"), 21, "BOUNDS has two sets, BND and OTHER"),
    "too many fields of a bound": ((20, " UP BND x 4 5"), 20, "BOUNDS must have a type, a set"),
    "both triangles": ((25, " x y -1\n y x -1"), 26, "line 25 has the mirror image of y, x"),
    "a square twice": ((25, " x x 3"), 25, "a duplicate of line 24, x x"),
    "squares of no variable": ((25, " x z 3"), 25, "the column z in QUADOBJ is not defined"),
    "two fields of a square": ((25, " x y"), 25, "QUADOBJ must have a column and one or two columns"),
    "two quadratic sections": ((25, "QMATRIX\n x x 1"), 25, "a second section of the quadratic objective"),
    "a section twice": ((25, "ROWS"), 25, "ROWS is there a second time"),
    "right-hand sides after ranges": ((14, "RANGES\n RNG cap 2\nRHS"), 16, "RHS must stand before RANGES"),
    "squares in a row": ((23, "QSECTION cap"), 23, "QSECTION must be that of the objective cost"),
    "squares in no row": ((23, "QSECTION"), 23, "QSECTION must be that of the objective cost"),
    "a section nobody knows": ((1, "NAME demo\nSOS1"), 2, "'SOS1' is in no section that is read"),
    "no end": ((26, ""), 26, "the file ends before ENDATA"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_lines_that_readers_understand_differently_are_refused(name):
    (number, text), line, words = REFUSED[name]
    found = reason(with_lines((number, text)))
    assert found.startswith(f"line {line}: ")
    assert words in found


def test_data_before_any_section_are_refused():
    assert reason(" x cost 1\n" + with_lines()).startswith("line 1: 'x cost 1' is in no section")


def test_a_comment_behind_the_fields_is_not_read_and_the_reason_says_so():
    assert "a comment after $much is not read" in reason(with_lines((10, " x cost 1 $much")))
    assert "comment" not in reason(with_lines((10, " x cost 1 cap")))


def test_a_comment_that_it_is_maximised_is_refused_with_the_section_to_write():
    """PuLP writes it so, and every reader minimises."""
    text = "*SENSE:Maximize\n" + PROGRAM
    without = text.replace("OBJSENSE\n    MAX\n", "")
    assert reason(without).startswith("line 1: a comment says that it is maximised, as PuLP writes it")
    assert check_mps(text).maximise  # both say it
    assert check_mps(without.replace("Maximize", "Minimize")).maximise is None
    assert check_mps(without.replace("NAME demo\n", "NAME demo\nOBJSENSE\n MAX\n")).maximise


def test_comments_and_empty_lines_say_nothing_and_what_follows_the_end_is_not_read():
    text = with_lines((9, "* what follows\n\nCOLUMNS")) + "\nROWS\nROWS\n"
    assert check_mps(text).columns == {"x": 0, "y": 1}
    assert check_mps(text).sections["COLUMNS"] == 11


def test_markers_of_integers_are_no_columns():
    text = with_lines((10, " M1 'MARKER' 'INTORG'\n x cost 1.5 cap 1"))
    assert check_mps(text).columns == {"x": 0, "y": 1}


def test_right_hand_sides_need_no_set_and_may_have_two_rows():
    said = check_mps(with_lines((15, " cap 4 need 1"), (16, " both 3")))
    assert "RHS" not in said.sets
    assert [said.entries["RHS", row] for row in ("cap", "need", "both")] == [15, 15, 16]
    # A constant of the objective is one; a number of a row that is not used would move it.
    assert check_mps(with_lines((16, " RHS cost 3"))).entries["RHS", "cost"] == 16
    assert "the row spare is no constraint" in reason(with_lines((8, " N spare"), (13, ""), (16, " RHS spare 3")))


def test_the_first_free_row_is_the_objective():
    said = check_mps(with_lines((8, " N spare"), (13, " y spare 3"), (16, "")))
    assert said.objective == "cost"
    assert said.rows["spare"] == "free"


def test_both_triangles_may_stand_in_a_matrix_and_two_entries_on_a_line():
    said = check_mps(with_lines((23, "QMATRIX"), (25, " x y -1\n y x -1 y 2")))
    assert said.entries["QMATRIX", "y", "x"] == 26
    assert said.entries["QMATRIX", "y", "y"] == 26
    assert check_mps(with_lines((23, "QSECTION cost"))).entries["QSECTION", "x", "y"] == 25


@pytest.mark.parametrize(("word", "maximise"), [("MIN", False), ("minimise", False), ("Max", True), ("MAXIMIZE", True)])
def test_a_sense_may_stand_beside_the_section_or_below(word, maximise):
    assert check_mps(with_lines((3, f" {word}"))).maximise is maximise
    assert check_mps(with_lines((2, f"OBJSENSE {word}"), (3, ""))).maximise is maximise
    assert check_mps(with_lines((3, f" {word}\n {word}"))).maximise is maximise
    assert check_mps(with_lines((2, ""), (3, ""))).maximise is None


def in_columns(*fields: str) -> str:
    """A line of the fixed format: its fields begin at columns 2, 5, 15, 25, 40 and 50."""
    line = ""
    for start, text in zip((2, 5, 15, 25, 40, 50), fields, strict=False):
        line = line.ljust(start - 1) + text
    return line


def test_names_with_blanks_stand_in_the_columns_of_the_fixed_format():
    lines = [
        "NAME          demo",
        "ROWS",
        in_columns("N", "the cost"),
        in_columns("L", "a cap"),
        "COLUMNS",
        in_columns("", "one unit", "the cost", "1.5", "a cap", "-2"),
        "RHS",
        in_columns("", "", "a cap", "4"),
        "BOUNDS",
        in_columns("UP", "a set", "one unit", "3"),
        "ENDATA",
    ]
    said = check_mps("\n".join(lines))
    assert said.fixed
    assert said.rows == {"the cost": "objective", "a cap": "L"}
    assert said.columns == {"one unit": 0}
    assert said.entries["COLUMNS", "one unit", "a cap"] == 6
    assert said.entries["RHS", "a cap"] == 8
    assert said.bound_at("one unit", "u") == 10
    assert said.sets == {"BOUNDS": "a set"}


def test_a_comment_in_a_row_makes_no_fixed_format():
    assert not check_mps(with_lines()).fixed
    assert reason(with_lines((6, " L cap $ of all"))).startswith("line 6: ROWS must have")
    assert not check_mps(with_lines((9, "* a name of many words\nCOLUMNS"))).fixed
