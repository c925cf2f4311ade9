"""Numbers of a file that move by their words: beside HiGHS, whose model has the number changed by hand."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.problem.moved_numbers import moved_number
from tests.problem.test_mps import FILE

highspy = pytest.importorskip("highspy")

#: A minimisation with an equation, a range, a row from below, and bounds of each kind.
MINIMISED = """NAME          MINIMISED
ROWS
 N  cost
 G  need
 E  tie
 L  cap
 L  wide
COLUMNS
    a         cost      2.0        need      1.0
    a         tie       1.0
    b         cost      3.0        need      1.0
    b         cap       1.0        wide      -1.0
    c         cost      -1.0       tie       -1.0
    c         cap       1.0
    d         cost      0.5        cap       1.0
    d         wide      1.0
RHS
    RHS       need      4.0        tie       -1.0
    RHS       cap       9.0        wide      6.0
RANGES
    RNG       wide      5.0
BOUNDS
 UP BND       a         5.0
 LO BND       b         -2.0
 UP BND       b         8.0
 UP BND       d         7.0
ENDATA
"""

#: Words, and how HiGHS is told the same: its method, the place, and which of the two bounds.
NUMBERS = [
    ("rhs:need", ("row", 0, "l")),
    ("rhs:tie", ("row", 1, "lu")),
    ("rhs:cap", ("row", 2, "u")),
    ("lower:wide", ("row", 3, "l")),
    ("upper:wide", ("row", 3, "u")),
    ("cost:d", ("cost", 3, "")),
    ("cost:a", ("cost", 0, "")),
    ("lower:b", ("column", 1, "l")),
    ("upper:a", ("column", 0, "u")),
]


@pytest.fixture
def file(tmp_path):
    (tmp_path / "program.mps").write_text(MINIMISED)
    return str(tmp_path / "program.mps")


def by_highs(file, changes):
    """The optimal value that HiGHS finds with these numbers in place of those of the file; nan if there is none."""
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(file)
    lp = solver.getLp()
    for (kind, place, which), value in changes:
        if kind == "cost":
            solver.changeColCost(place, value)
            continue
        low, high = (lp.row_lower_, lp.row_upper_) if kind == "row" else (lp.col_lower_, lp.col_upper_)
        bounds = value if "l" in which else low[place], value if "u" in which else high[place]
        (solver.changeRowBounds if kind == "row" else solver.changeColBounds)(place, *bounds)
    solver.run()
    found = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return solver.getInfo().objective_function_value if found else float("nan")


@pytest.mark.parametrize(("words", "place"), NUMBERS)
def test_a_number_that_moves_is_that_of_the_file(file, words, place):
    qp = pc.QP.from_file(file, moves={"p": words})
    here = qp.values["p"]
    path = pc.trace(qp, start={"p": here}, stop={"p": here + 3})
    assert path.value(p=here) == pytest.approx(by_highs(file, []), abs=1e-9)
    for p in np.linspace(here, here + 3 * path.t[-1], 7):
        assert path.value(p=p) == pytest.approx(by_highs(file, [(place, p)]), abs=1e-8)


def test_several_numbers_move_together_and_others_stay(file):
    qp = pc.QP.from_file(file, moves={"need": "rhs:need", "price": "cost:c", "rest": "rhs:cap"})
    path = pc.trace(qp, start={"need": 3, "price": -1}, stop={"need": 6, "price": 2})
    for t in (0.0, 0.4, 1.0):
        own = [(("row", 0, "l"), 3 + 3 * t), (("cost", 2, ""), -1 + 3 * t)]
        assert path.value(t) == pytest.approx(by_highs(file, own), abs=1e-9)
    found = pc.plane(qp, {"need": (3, 6), "rest": (5, 12)})
    for need, rest in ((3.5, 6.0), (5.5, 11.0)):
        own = [(("row", 0, "l"), need), (("row", 2, "u"), rest)]
        assert found.value(need=need, rest=rest) == pytest.approx(by_highs(file, own), abs=1e-9)


def test_what_asks_for_no_move_is_where_the_file_is(file):
    still, moving = pc.QP.from_file(file), pc.QP.from_file(file, moves={"need": "rhs:need"})
    ranges = pc.ranges(still)
    assert ranges.rows == pc.ranges(moving).rows
    found = pc.derivatives(moving, {"need": 1.0})
    assert found.right.value == ranges["need"].rows[0].price
    assert found.value == pytest.approx(by_highs(file, []), abs=1e-9)


def test_a_compressed_file_is_read_as_the_plain_one(tmp_path, file):
    with gzip.open(tmp_path / "program.mps.gz", "wt") as handle:
        handle.write(MINIMISED)
    plain, packed = pc.QP.from_file(file), pc.QP.from_file(tmp_path / "program.mps.gz")
    assert plain.names == packed.names
    assert (plain.A != packed.A).nnz == 0
    assert plain.u.tolist() == packed.u.tolist()
    (tmp_path / "torn.mps.gz").write_bytes(b"ROWS")
    with pytest.raises(pc.InputError, match=r"file must be one that gzip wrote, got .*torn\.mps\.gz"):
        pc.QP.from_file(tmp_path / "torn.mps.gz")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("rhs:SPAN", "lower:SPAN or upper:SPAN, as this row has two sides"),
        ("range:SPAN", "must say lower:SPAN or upper:SPAN, the two sides of a range, got 'range:SPAN'"),
        ("rhs:BUDGE", "got 'rhs:BUDGE': is BUDGET meant"),
        ("BUDGET", "as rhs:ROW, cost:VARIABLE, lower:NAME or upper:NAME, got 'BUDGET'"),
        (3, "as rhs:ROW, cost:VARIABLE, lower:NAME or upper:NAME, got 3"),
        ("cost:BUDGET", "name a variable of the program, got 'cost:BUDGET'"),
        ("upper:X", "got 'upper:X': it is inf there"),
        ("lower:Z", "got 'lower:Z': Z has none"),
    ],
)
def test_what_the_file_does_not_have_is_refused(tmp_path, words, said):
    (tmp_path / "goods.mps").write_text(FILE)
    with pytest.raises(pc.InputError, match=said):
        pc.QP.from_file(tmp_path / "goods.mps", moves={"p": words})


def test_moves_that_are_a_list_are_refused(tmp_path):
    (tmp_path / "goods.mps").write_text(FILE)
    with pytest.raises(pc.InputError, match=r"must map names to numbers of the file, \{'cap': 'rhs:CAP'\}, got \["):
        pc.QP.from_file(tmp_path / "goods.mps", moves=["rhs:BUDGET"])


def test_a_row_and_a_variable_of_one_name_are_told_apart():
    low, high = np.array([1.0, 0.0]), np.array([8.0, np.inf])
    program = {"q": np.array([3.0]), "names": (["X"], ["X", "bound of X"]), "l": low, "u": high}
    with pytest.raises(pc.InputError, match="moves must say upper:bound of X for the variable X, which is a row, too"):
        moved_number(program, "upper:X")
    assert moved_number(program, "lower:bound of X").change["l"].tolist() == [0, 1]


def test_values_are_those_of_moves():
    how = {"moves": {"p": {"q": [1.0]}}}
    assert pc.QP(None, [1.0], **how).values == {"p": 0.0}
    assert pc.QP(None, [1.0], **how, values={"p": 4}).at({"p": 6})["q"].tolist() == [3.0]
    with pytest.raises(pc.InputError, match="values must have parameters among moves for keys, got 'r'; it has p"):
        pc.QP(None, [1.0], **how, values={"r": 4})
    with pytest.raises(pc.InputError, match=r"values\['p'\] must be finite, got inf"):
        pc.QP(None, [1.0], **how, values={"p": np.inf})


def test_a_direction_moves_several_numbers_by_amounts_and_by_shares(file):
    qp = pc.QP.from_file(file, moves={"p": {"rhs:need": 2.0, "rhs:cap": "20%", "cost:c": 0.5}})
    assert dict(qp.values) == {"p": 0.0}
    path = pc.trace(qp, start={"p": 0}, stop={"p": 1})
    for p in np.linspace(0.0, 1.0, 5):
        own = [(("row", 0, "l"), 4 + 2 * p), (("row", 2, "u"), 9 + 1.8 * p), (("cost", 2, ""), -1 + 0.5 * p)]
        assert path.value(p=p) == pytest.approx(by_highs(file, own), abs=1e-9)


def test_a_star_is_every_right_hand_side(file):
    path = pc.trace(pc.QP.from_file(file, moves={"p": {"rhs:*": "1%"}}), start={"p": -10}, stop={"p": 20})
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(file)
    low, high = (np.array(getattr(solver.getLp(), f"row_{side}_")) for side in ("lower", "upper"))
    for p in np.linspace(-10.0, 20.0, 7):
        for row in range(4):
            solver.changeRowBounds(row, (1 + p / 100) * low[row], (1 + p / 100) * high[row])
        solver.run()
        assert path.value(p=p) == pytest.approx(solver.getInfo().objective_function_value, abs=1e-9)


def test_a_star_is_bounds_costs_and_parts_of_names(file):
    qp = pc.QP.from_file(file, moves={"c": {"cost:*": 1.0}, "u": {"upper:*": 1.0}, "w": {"rhs:w*": 1.0}})
    assert qp.moves["c"]["q"].tolist() == [1, 1, 1, 1]
    tie = qp.names[1].index("tie")
    assert qp.moves["u"]["u"].tolist() == [float(np.isfinite(u) and i != tie) for i, u in enumerate(qp.u)]
    assert [np.flatnonzero(qp.moves["w"][side]).tolist() for side in "lu"] == [[3], [3]]


@pytest.mark.parametrize(
    ("amounts", "said"),
    [
        ({"rhs:need": "five"}, "must add a number to rhs:need, or a share of it as '5%', got 'five'"),
        ({"rhs:need": True}, "must add a number to rhs:need"),
        ({"rhs:need": np.nan}, "must add a number to rhs:need"),
        ({"rhs:n": 1}, "got 'rhs:n': it has need, tie, cap, wide"),
        ({"rhs:q*": 1}, r"must name numbers that the program has, got 'rhs:q\*', which none of them fits"),
        ({"rhs:need": 0}, "must move something, got {'rhs:need': 0}"),
        ({}, "must move something, got {}"),
        (["rhs:need", "rhs:cap"], "several that move together are a mapping, {'rhs:CAP1': 10, 'rhs:CAP2': '5%'}"),
    ],
)
def test_a_direction_that_moves_nothing_is_refused(file, amounts, said):
    with pytest.raises(pc.InputError, match=said):
        pc.QP.from_file(file, moves={"p": amounts})
