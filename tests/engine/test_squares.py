"""Tests of `paretoclf.engine.squares`."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.engine.squares import root
from tests.engine.test_general import few_squares


@pytest.mark.parametrize(
    ("off", "most", "known"), [(0.0, 3, True), (0.0, 2, False), (1e-12, 3, False), (-1e-12, 3, False)]
)
def test_a_root_is_of_its_rank_and_misses_nothing(off, most, known):
    """Not where P bends by 1e-12 more, or less, than its squares."""
    P = few_squares(0).P
    F = root(P + off * np.diag(np.arange(96) == 7) * P[7, 7], most)
    assert (F is not None) is known
    assert not known or np.abs(F.T @ F - P).max() <= 1e-14 * np.abs(P).max()


def test_matrices_of_full_rank_and_indefinite_ones_have_no_such_root():
    assert root(np.diag([1.0, 0.0, 2.0]), 3) is None
    assert root(np.array([[2.0, 1.0], [1.0, 2.0]]), 2) is None
    assert root(np.array([[0.0, 1.0], [1.0, 4.0]]), 2) is None
    assert root(np.array([[1.0, 2.0, 0.0], [2.0, 3.0, 0.0], [0.0, 0.0, 0.0]]), 3) is None
    np.testing.assert_array_equal(root(np.array([[4.0, 0.0, 2.0], [0.0, 0.0, 0.0], [2.0, 0.0, 1.0]]), 3), [[2, 0, 1]])
