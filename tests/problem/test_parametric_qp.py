"""What the data of a line say about t."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from paretoclf.common import memory
from paretoclf.common.errors import InputError
from paretoclf.problem.parametric_qp import ParametricQP, points_of, shortest_stretch


def test_each_number_that_moves_says_as_much_as_its_rounding_leaves():
    rng = np.random.default_rng(0)
    ends = np.where(rng.random((2, 40)) < 0.3, 0.0, rng.normal(size=(2, 40)) * 10.0 ** rng.integers(-6, 7, 40))
    ends[:, 30:] = ends[0, 30:]
    numbers = [[Fraction(v) for v in end.tolist()] for end in ends]
    least = max((abs(a) + abs(b)) / abs(b - a) for a, b in zip(*numbers, strict=True) if a != b)
    assert shortest_stretch(ends[:, :17], ends[:, 17:]) == pytest.approx(float(4 * least / 2**53), rel=1e-12)
    assert shortest_stretch(3.7e-9 * ends) == pytest.approx(shortest_stretch(ends), rel=1e-12)


def test_what_stands_still_says_nothing():
    still = np.array([[1.0, np.inf, -np.inf, 0.1 + 0.2], [1.0, np.inf, -np.inf, 0.3]])
    assert shortest_stretch(still, np.zeros((2, 0)), np.zeros(2)) == 0.0
    assert shortest_stretch(still, np.array([1.0, 3.0])) == 2.0**-50


def test_a_stretch_is_a_point_where_the_numbers_there_say_no_more():
    """A cost from 0 to 1 is known to its last digit next to 0, beside one that stands still; a large one is not."""
    ulp = 2.0**-52
    t = np.array([[0.5, 0.5 + ulp], [0.5, 0.5 + 4 * ulp], [1e-20, 2e-20], [0.0, ulp], [1 - ulp, 1.0], [0.3, 0.3]])
    caps = np.array([[0.0, 7.0], [1.0, 7.0]])
    assert points_of(t, caps).tolist() == [True, False, False, False, True, True]
    assert points_of(t, np.array([[1.0], [0.0]])).tolist() == [True, False, True, True, True, True]
    far = np.array([[1e6], [1e6 + 1.0]])
    assert points_of(np.array([[0.1, 0.1 + 8e-10], [0.1, 0.1 + 1e-9]]), far).tolist() == [True, False]
    assert points_of(np.array([[0.1, 0.1 + 0.9e-9], [0.1, 0.1 + 2e-9]]), 1e3 * far - 1e9).tolist() == [False, False]
    assert points_of(np.array([[0.1, 0.1 + 0.9e-9], [0.1, 0.1 + 2e-9]]), far + 1e9).tolist() == [True, False]
    assert points_of(np.zeros((1, 2)), np.ones((2, 3))).tolist() == [True]


@pytest.mark.parametrize(("n", "m", "word"), [(3000, 10, "variables"), (500, 10_000, "constraints")])
def test_no_memory_for_arrays_names_what_there_is_too_much_of(n, m, word, monkeypatch):
    """With a tenth of it there is enough."""
    monkeypatch.setattr(memory, "available_memory", lambda: 2**27)

    def sparse(n, m):
        P, A = sp.csr_array((n, n)), sp.csr_array((m, n))
        return ParametricQP.hard(P, A, np.zeros((2, n)), *np.zeros((2, 2, n + m)))

    with pytest.raises(
        InputError, match=f"{n} columns and {m} rows, as an array needs .* use fewer {word}, or a sweep"
    ):
        sparse(n, m).dense()
    fewer = (n // 10, m) if word == "variables" else (n, m // 10)
    assert sparse(*fewer).dense().P.shape == (fewer[0], fewer[0])
