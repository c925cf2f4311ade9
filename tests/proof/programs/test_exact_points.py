"""Points in fractions beside random systems whose solutions are known in fractions."""

from fractions import Fraction

import numpy as np
import pytest

from paretoclf.engine.reduction.of_arrays import line_of
from paretoclf.problem.qp import QP
from paretoclf.proof.programs.exact_points import _excess, _near, exact_point


@pytest.mark.parametrize("seed", range(12))
def test_rounded_solutions_of_equations_are_found_in_fractions(seed):
    """Of decimals, whose denominators are powers of 2: no double solves them, and Cramer's rule does."""
    rng = np.random.default_rng(seed)
    A, b = rng.integers(-9, 10, (2, 2)) / 10, rng.integers(-9, 10, 2) / 10
    (a, c), (d, e) = [[Fraction(number) for number in row] for row in A.tolist()]
    det = a * e - c * d
    assert det
    first, second = map(Fraction, b.tolist())
    solution = [(first * e - c * second) / det, (a * second - first * d) / det]
    line = line_of(QP(None, [0.0, 0.0], A, b, b), {}, {})
    rounded = np.array(solution, dtype=float)
    found = exact_point(line, rounded * (1 + 1e-15))
    assert np.abs(found - rounded).max() <= 1e-15 * np.abs(rounded).max()
    *_, moved = _near(line.rows, line.b[0], 2, rounded * (1 + 1e-15))
    assert moved == solution
    assert list(_excess(line.rows, line.b[0], moved)) == [0, 0]


def test_there_is_none_where_rows_contradict_each_other_by_rounding():
    A, b = np.array([[1, 0], [0, 1], [1, 1]]), np.array([0.7, 0.1, 0.8])
    x = np.array([0.7, 0.1])
    assert exact_point(line_of(QP(None, [0.0, 0.0], A, b, b), {}, {}), x) is None
    assert exact_point(line_of(QP(None, [0.0, 0.0], A, None, b), {}, {}), x) is not None
    assert exact_point(line_of(QP(None, [0.0, 0.0], A, b), {}, {}), x + 1e-9) is not None
