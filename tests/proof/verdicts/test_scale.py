"""The scale of a difference of values, against the rule written out number by number."""

from __future__ import annotations

from statistics import median

import numpy as np
import pytest
import scipy.sparse as sp

from paretoclf.proof.verdicts.scale import Objective, Scale, largest_of_rows, sizes_of

TINY = float(np.finfo(float).tiny)


class TestScale:
    @pytest.mark.parametrize(
        ("given", "size", "decides", "briefly"),
        [
            ((-3.0, 2.0, 1.0), 3.0, "the value", "the value"),
            ((1e-5, 2.0, 0.125), 2e-3, "the terms", "0.002, the terms"),
            ((1e-5, 2.0, 1.0), 1e-2, "the unit", "0.01, the unit"),
            ((1e-5, 10.0, 1.0), 1e-2, "the terms", "0.01, the terms"),  # of equals the first
            ((1e-2, 10.0, 1.0), 1e-2, "the value", "the value"),
            ((0.0, 1.0, 0.0), 1e-3, "the terms", "0.001, the terms"),
            ((0.0, 0.0, 0.0), TINY, "the value", "the value"),
        ],
    )
    def test_the_largest_of_three(self, given, size, decides, briefly):
        scale = Scale.of(*given)
        assert (scale.size, scale.decides, scale.briefly) == (size, decides, briefly)

    def test_in_another_unit(self):
        assert Scale(1.0, 2.0, 3.0).times(4.0) == Scale(4.0, 8.0, 12.0)

    def test_as_a_text(self):
        said = str(Scale.of(-1e-5, 2.0, 1.0))
        for part in ("0.01, the largest", "value (1e-05)", "term (0.002)", "unit (0.01)"):
            assert part in said


def test_scales_of_many_values():
    found = sizes_of(np.array([-3.0, 1e-5, 0.0]), np.array([5.0, 4.0, 0.0]))
    np.testing.assert_allclose(found, [3.0, 4e-3, 0.0], rtol=1e-15)


def test_largest_coefficients_of_rows():
    A = np.array([[1.0, -3.0, 0.0], [0.0, 0.0, 0.0], [0.5, 0.25, 0.0]])
    np.testing.assert_array_equal(largest_of_rows(sp.csr_array(A)), [3.0, 0.0, 0.5])
    np.testing.assert_array_equal(largest_of_rows(sp.csr_array((0, 3))), np.zeros(0))


def objective(**other):
    """Minimise 2 x0^2 + x0 x1 + x1^2 / 2 + 3 x0 - x1 + 0.25 x2 - 5."""
    P = np.array([[4.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    data = {
        "P": sp.csr_array(P),
        "q": np.array([3.0, -1.0, 0.25]),
        "constant": -5.0,
        "rows": np.array([2.0, 0.0, 8.0, 1.0]),
        "b": np.array([-1.0, 9.0, 2.0, 0.0]),
    }
    return Objective(**{**data, **other})


X = np.array([1.0, -2.0, 3.0])


class TestObjective:
    def test_its_value_and_terms(self):
        assert objective().value(X) == 2 - 2 + 2 + 3 + 2 + 0.75 - 5
        terms = objective().terms(X)
        assert sorted(terms) == sorted([3.0, 2.0, 0.75, 1.0, 1.0, 0.0, 5.0])

    @pytest.mark.parametrize(
        ("x", "linear", "squares"),
        [
            (X, [3.0, 1.0, 0.25], [4.0, 1.0]),
            ([1.0, 0.0, 0.0], [3.0], [4.0]),
            ([1.0, 1e-7, 0.0], [3.0], [4.0]),
            ([1.0, 1e-5, 0.0], [3.0, 1.0], [4.0, 1.0]),
            ([1.0, -1e-5, 0.0], [3.0, 1.0], [4.0, 1.0]),
            ([1000.0, 2e-4, 0.0], [3.0], [4.0]),
            ([0.0, 0.0, -1.0], [0.25], []),
            ([0.0, 0.0, 0.0], [0.25], []),  # the least of all
        ],
    )
    def test_its_unit_is_the_median_cost_of_moving_what_is_used(self, x, linear, squares):
        step = 0.5  # the largest that the rows say
        costs = [step * each for each in linear] + [step**2 * each for each in squares]
        assert objective().unit(np.array(x)) == median(costs)

    @pytest.mark.parametrize("factor", [2.0**-10, 2.0**-40])
    def test_data_in_a_smaller_unit_have_a_smaller_scale_as_they_have_a_smaller_value(self, factor):
        """Before, squares had that of what is linear: x = 0 passed for the least squares of data of size 1e-6."""
        small = objective(
            b=factor * np.array([-1.0, 9.0, 2.0, 0.0]), q=factor * objective().q, constant=-5.0 * factor**2
        )
        scale, there = objective().scale(X), small.scale(factor * X)
        assert (there.value, there.terms, there.unit) == tuple(
            factor**2 * each for each in (scale.value, scale.terms, scale.unit)
        )

    def test_without_prices_of_what_is_used(self):
        free = objective(q=np.array([0.0, -6.0, 0.0]), P=sp.csr_array((3, 3)))
        assert free.unit(np.array([1.0, 0.0, 0.0])) == 3.0
        nothing = objective(q=np.zeros(3), P=sp.csr_array((3, 3)))
        assert nothing.unit(X) == 0.5

    @pytest.mark.parametrize(
        ("b", "reach"),
        [
            ([0.0, 0.0, 0.0, 0.0], 1.0),
            ([0.0, 7.0, 0.0, 0.0], 1.0),  # its row has no coefficient
            ([0.0, 7.0, 0.5, 0.0], 0.0625),
            ([-0.25, 7.0, 0.5, 0.0], 0.125),
            ([-20.0, 7.0, 0.5, 0.0], 1.0),  # no more than 1
        ],
    )
    def test_its_unit_is_of_what_the_rows_say_is_large(self, b, reach):
        assert objective(b=np.array(b)).unit(np.array([0.0, 0.0, 1.0])) == reach * 0.25

    def test_its_scale(self):
        own, other = objective().scale(X), objective().scale(X, -40.0)
        assert own == Scale.of(2.75, 5.0, objective().unit(X))
        assert other == Scale.of(40.0, 5.0, objective().unit(X))
