"""Epigraph variables of two rows that are found all at once."""

import numpy as np
import pytest

from paretoclf.engine.reduction.rules.pairs import pairs
from tests.oracles.stages import stage_of


def found_in(A, q, b, cheap):
    return pairs(stage_of(np.zeros((len(q), len(q))), A, q, b), np.array(cheap))


def test_an_absolute_value_and_a_hinge():
    """Columns x, y, and variables above |x - 1| and above max(0, 1 - 2 x - 2 y), with a coefficient of 2."""
    A = [[1, 0, -1, 0], [-1, 0, -1, 0], [0, 0, 0, -2], [-2, -2, 0, -2]]
    found = found_in(A, [0, 0, 3, 4], [[1, -1, 0, -1], [1, -1, 0, 0]], [False, False, True, True])
    assert found.variables.tolist() == [2, 3]
    assert (found.begin.tolist(), found.bounds.tolist()) == ([0, 2, 4], [0, 1, 2, 3])
    assert found.factors.tolist() == [1, 1, 2, 2]
    assert (found.rows.any(), found.columns.tolist()) == (False, [True, True, False, False])
    kinks = found.kinks
    assert kinks.directions.toarray().tolist() == [[1, 0, 0, 0], [1, 1, 0, 0]]
    assert kinks.cost.tolist() == [[3, 4], [3, 4]]
    assert kinks.slope.tolist() == [-1, 1, -1, 0]
    assert kinks.at.tolist() == [[1.0, 0.5], [1.0, 0.0]]
    wanted = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0.5], [0, 0, 0.5, 0]]
    assert kinks.weights.toarray().tolist() == wanted


@pytest.mark.parametrize(
    ("A", "q", "cheap"),
    [
        ([[1, -1], [2, -1]], [0, 0], [False, True]),  # costs nothing
        ([[1, -1], [2, -1]], [0, 1], [False, False]),
        ([[1, -1], [2, 1]], [0, 1], [False, True]),  # has an upper bound
        ([[1, -1], [1, -1]], [0, 1], [False, True]),  # of one slope
        ([[0, -1], [0, -2]], [0, 1], [False, True]),  # of no direction
        ([[1, 1, -1], [1, 2, -1]], [0, 0, 1], [False, False, True]),  # of two directions
        ([[1, 1, -1], [1, 0, -1]], [0, 0, 1], [False, False, True]),
        ([[1, -1, -1], [0, -1, -1]], [0, 1, 1], [False, True, True]),  # with another one beside
    ],
)
def test_what_is_none(A, q, cheap):
    found = found_in(A, q, np.zeros(2), cheap)
    assert (found.variables.size, found.kinks.size) == (0, 0)
    assert found.rows.all()
    assert found.columns.all()


def test_short_directions_come_first():
    A = [[1, 1, -1, 0], [0, 0, -1, 0], [0, 1, 0, -1], [0, -1, 0, -1]]
    found = found_in(A, [0, 0, 1, 1], np.zeros(4), [False, False, True, True])
    assert found.variables.tolist() == [3, 2]
