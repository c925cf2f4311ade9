"""Words for columns and rows of a stage."""

import numpy as np
import pytest
import scipy.sparse as sp

from paretoclf.engine.reduction.program import ProgramLine, Reading
from paretoclf.engine.reduction.rules.names import crossing, expression, names_of_rows, no_solution, uncrossed


def a_line(moves=True):
    """Columns w[0], w[1], b, and one that CVXPY added; rows named cap."""
    variables = {"w": Reading((2,), np.arange(2), np.ones(2)), "b": Reading((), np.array([2]), np.ones(1))}
    cap = {"cap": Reading((2,), np.arange(2), np.ones(2))}
    b = np.array([[0.0, 1.0, 0.0], [0.0, 1.0 + moves, 0.0]])
    q = np.zeros((2, 4))
    return ProgramLine(sp.csc_array((4, 4)), sp.csc_array((3, 4)), q, b, np.zeros(2), 0, 1, variables, cap)


def test_names_of_rows():
    rows = [[1, 1, 0, 0], [0, 1, 0, -2.5], [-1, 0, 0, 0], [1, 1, 1, 0], [2, 1, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]]
    titled = np.array([1, -1, -1, -1, -1, -1, -1])
    assert names_of_rows(a_line(), sp.csr_array(rows), titled) == [
        "cap[1]",
        "w[1] - 2.5 auxiliary variable 3",
        "-w[0]",
        "term of w, b, number 0",
        "term of w, b, number 1",
        "term of w, b, auxiliary variable 3, number 0",
        "b + auxiliary variable 3",
    ]


def test_an_expression_has_no_number():
    A = sp.csr_array([[1.0, 1, 1, 0], [0, 3, 0, 1]])
    assert [expression(a_line(), A, row) for row in (0, 1)] == ["term of w, b", "3 w[1] + auxiliary variable 3"]


@pytest.mark.parametrize(("moves", "said"), [(True, "at the start, where it is"), (False, "and has none: it is")])
def test_where_nothing_moves_no_start_is_named(moves, said):
    assert said in str(no_solution(a_line(moves), "it is"))


def test_bounds_that_cross_by_rounding_meet():
    lower = np.array([[0.1 + 0.2, 2.0, -np.inf, 0.0, 1.0], [1.0, 2.0, -np.inf, 1.0, 1.0]])
    upper = np.array([[0.3, 1.0, np.inf, 1.0, 2.0], [2.0, 3.0, np.inf, 0.0, np.inf]])
    found, wrong = uncrossed(lower, upper)
    assert wrong.tolist() == [1]
    assert found.tolist() == [[0.1 + 0.2, 1.0, np.inf, 1.0, 2.0], [2.0, 3.0, np.inf, 0.0, np.inf]]


def test_bounds_that_cross():
    said = str(crossing(a_line(), "variable b", np.array([0, 2]), np.array([2.0, 2.0]), np.array([1.0, 3.0])))
    assert said.endswith("the bounds of variable b cross: at least 2 and at most 1 (cap[0] and auxiliary row 2)")
