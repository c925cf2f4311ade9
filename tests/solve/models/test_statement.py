"""Textbook pages: what stands in them and in which order, and problems as CVXPY prints them, but shorter."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from paretoclf.solve.models.statement import Statement, printed

x = cp.Variable(3, name="x")
t = cp.Variable(name="t")


def page(**changes):
    """A page with all its parts, some of them replaced."""
    parts = {
        "title": "Least squares",
        "data": "A matrix $A$.",
        "primal": r"\min_x \|Ax-b\|^2",
        "lagrangian": "L(x)",
        "dual": r"\max_y -|y|^2",
        "kkt": {"stationarity": r"\|A^T r\| = 0", "sign": "|y| = 1"},
        "signs": {"y": "free, |y| at most 1"},
        "recovery": "$x = A^+ b$",
        "remarks": ("One row.", "No row."),
        "reference": "Gauss (1809).",
    }
    return Statement(**(parts | changes)).markdown()


def test_a_page_has_its_parts_in_the_order_of_a_textbook():
    heads = [line for line in page().splitlines() if line.startswith("#")]
    assert heads[0] == "# Least squares"
    assert heads[1:4] == ["## Primal", "## Lagrangian", "## Dual"]
    assert heads[4:] == ["## KKT conditions", "## Signs", "## Recovery", "## Special cases"]
    assert page().endswith("\n\n- One row.\n- No row.\n\nReference: Gauss (1809).\n")
    assert "## Primal\n\n$$\n\\min_x \\|Ax-b\\|^2\n$$\n\n## Lagrangian" in page()


@pytest.mark.parametrize(
    ("part", "empty", "head"),
    [
        ("primal", "", "## Primal"),
        ("lagrangian", "", "## Lagrangian"),
        ("dual", "", "## Dual"),
        ("kkt", {}, "## KKT conditions"),
        ("signs", {}, "## Signs"),
        ("recovery", "", "## Recovery"),
        ("remarks", (), "## Special cases"),
        ("reference", "", "Reference:"),
    ],
)
def test_a_part_that_says_nothing_has_no_head(part, empty, head):
    assert head in page()
    assert head not in page(**{part: empty})


def test_bars_of_norms_do_not_end_the_cells_of_tables():
    lines = page().splitlines()
    head = lines.index("| condition | |")
    assert lines[head + 1 : head + 4] == [
        "| --- | --- |",
        r"| stationarity | $\Vert A^T r\Vert  = 0$ |",
        r"| sign | $\vert y\vert  = 1$ |",
    ]
    assert r"| $y$ | free, \vert y\vert  at most 1 |" in lines
    tables = [line for line in lines if line.startswith("|")]
    assert {line.count("|") for line in tables} == {3}


def test_what_is_given_to_a_page_can_change_afterwards():
    conditions, remarks = {"sign": "y >= 0"}, ["One row."]
    made = Statement("T", "", "", "", "", conditions, {}, "", remarks)
    conditions["more"], before = "z", made.markdown()
    remarks.append("No row.")
    assert made.markdown() == before
    assert made.remarks == ("One row.",)


def said(objective, *constraints):
    """The objective as it is printed."""
    text = printed(cp.Problem(cp.Minimize(objective), list(constraints)))
    return text.splitlines()[0].removeprefix("minimize ")


def test_squares_are_written_as_a_reader_writes_them():
    assert said(cp.sum_squares(x)) == "||x||^2"
    assert said(cp.sum_squares(x - np.ones(3))) == "||x + -[1. 1. 1.]||^2"
    assert said(cp.quad_over_lin(x, t)) == "(||x||^2 / t)"
    assert said(cp.quad_over_lin(x, t + 1)) == "(||x||^2 / (t + 1.0))"
    assert said(2 * cp.quad_over_lin(x, 4)) == "2.0 * (||x||^2 / (4.0))"
    assert said(cp.sum_squares(x) + cp.sum_squares(t)) == "||x||^2 + ||t||^2"


def test_squares_in_squares_are_written_so_too():
    inner = cp.sum_squares(x) + 1
    assert said(cp.sum_squares(inner)) == "||||x||^2 + 1.0||^2"
    assert said(cp.quad_over_lin(x, t) + cp.sum_squares(inner)).startswith("(||x||^2 / t) + ||")


def test_squares_along_an_axis_are_left_to_cvxpy():
    matrix = cp.Variable((2, 3), name="M")
    along = cp.sum(cp.sum_squares(matrix, axis=1))
    assert said(along) == str(along)
    assert said(along + cp.sum_squares(x)) == f"{along} + ||x||^2"


def test_a_text_that_breaks_off_is_left_as_it_is():
    name = cp.Variable(name="quad_over_lin(a, b")
    assert said(name) == "quad_over_lin(a, b"
    assert said(2 * t) == "2.0 * t"


@pytest.mark.parametrize("size", [12, 13, 40])
def test_long_vectors_of_numbers_are_their_ends_and_their_number(size):
    v = cp.Variable(size, name="v")
    mask = np.arange(size) != 1
    text = printed(cp.Problem(cp.Minimize(cp.sum(v)), [v[mask] >= 1]))
    given = str(v[mask])
    if size <= 12:
        assert given in text
    else:
        assert f"v[True, False, True, ..., True, True, True ({size} entries)]" in text
    numbers = printed(cp.Problem(cp.Minimize(np.arange(float(size)) @ v)))
    assert ("..." in numbers) == (size > 12)


def test_numbers_keep_their_print_options():
    before = np.get_printoptions()
    printed(cp.Problem(cp.Minimize(cp.sum(x))))
    assert np.get_printoptions() == before
