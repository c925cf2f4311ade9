"""Costs, costs of samples and the lines between them, against fractions and angles."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from paretoclf.common.errors import InputError
from paretoclf.problem.costs import ON_RAY, CostLine, Costs, SampleCosts, as_costs, per_sample

Y = np.array([1.0, -1.0, -1.0])
PAIRS = [(0.0, 2.0), (2.0, 0.0), (1.0, 3.0), (5.0, 1.0), (1e-6, 1.0), (0.25, 0.25)]


class TestCosts:
    def test_a_point(self):
        costs = Costs(3, 1)
        assert (costs.total, costs.asymmetry, tuple(costs)) == (4.0, 0.75, (3.0, 1.0))
        assert math.isnan(Costs(0, 0).asymmetry)
        assert Costs.from_asymmetry(0.25, 8.0) == Costs(2.0, 6.0)
        assert Costs.from_asymmetry(1, 8.0) == Costs(8.0, 0.0)

    @pytest.mark.parametrize("pair", [(-1, 1), (1, -1), (1, math.nan), (math.inf, 1), (1, 1e141), (1e141, 1), ("a", 1)])
    def test_no_point(self, pair):
        with pytest.raises(InputError):
            Costs(*pair)
        with pytest.raises(InputError, match=r"^weights: C_"):
            as_costs(pair, "weights")

    @pytest.mark.parametrize("asymmetry", [-0.1, 1.1, math.nan])
    def test_no_asymmetry(self, asymmetry):
        with pytest.raises(InputError, match="asymmetry"):
            Costs.from_asymmetry(asymmetry, 1.0)

    @pytest.mark.parametrize("given", [1.0, (1, 2, 3), (1,)])
    def test_no_pair(self, given):
        with pytest.raises(InputError, match=r"^costs must be a pair"):
            as_costs(given)

    def test_a_pair_stands_for_costs(self):
        costs = Costs(1, 2)
        assert as_costs(costs) is costs
        assert as_costs((1, 2)) == as_costs(np.array([1.0, 2.0])) == costs


class TestSampleCosts:
    def test_the_array_is_copied(self):
        given = np.array([1.0, 0.5, 0.0])
        costs = SampleCosts(given)
        given[:] = 9.0
        assert costs.total == 1.5
        assert repr(costs) == "SampleCosts(3 samples, 0 to 1)"
        assert repr(SampleCosts([2, 3])) == "SampleCosts(2 samples, 2 to 3)"
        assert costs.values.dtype == np.float64

    @pytest.mark.parametrize("values", [[[1.0]], [], ["a"], [1j], 1.0, [1.0, -1.0], [np.nan], [1.0, 1e141]])
    def test_refused(self, values):
        with pytest.raises(InputError, match="costs of the samples"):
            SampleCosts(values)

    def test_per_sample(self):
        np.testing.assert_array_equal(per_sample(Costs(2, 3), Y), [2, 3, 3])
        np.testing.assert_array_equal(per_sample(SampleCosts([4, 5, 6]), Y), [4, 5, 6])


class TestLine:
    @pytest.mark.parametrize("t", [0.0, 0.25, 0.75, 1.0])
    def test_it_is_affine(self, t):
        line, of_samples = CostLine(Costs(1, 8), Costs(5, 2)), CostLine(SampleCosts([1, 2, 4]), SampleCosts([3, 2, 0]))
        assert line.at(t) == Costs(1 + 4 * t, 8 - 6 * t)
        np.testing.assert_array_equal(of_samples.at(t).values, [1 + 2 * t, 2, 4 - 4 * t])
        for each in (line, of_samples):
            found = each.per_sample(np.array([0.5, t]), Y)
            assert found.shape == (3, 2)
            np.testing.assert_array_equal(found[:, 1], per_sample(each.at(t), Y))
            np.testing.assert_array_equal(found[:, 0], per_sample(each.at(0.5), Y))

    @pytest.mark.parametrize("t", [-0.1, 1.1])
    def test_outside(self, t):
        with pytest.raises(InputError, match="t must"):
            CostLine(Costs(1, 0), Costs(0, 1)).at(t)

    @pytest.mark.parametrize("start", PAIRS)
    @pytest.mark.parametrize("stop", PAIRS)
    @pytest.mark.parametrize("t", [0.0, 0.125, 0.5, 1.0])
    def test_the_position_of_a_ratio(self, start, stop, t):
        if start == stop:
            return
        line, t = CostLine(Costs(*start), Costs(*stop)), Fraction(t)
        at = [(1 - t) * Fraction(a) + t * Fraction(b) for a, b in zip(start, stop, strict=True)]
        assert line.position((float(7 * at[0]), float(7 * at[1]))) == pytest.approx(float(t), abs=1e-12)

    @pytest.mark.parametrize("at", [(9, 1), (1, 9), (1, 0), (0, 1)])
    def test_a_ratio_that_it_has_not(self, at):
        for ends in (((1, 2), (2, 1)), ((2, 1), (1, 2))):
            with pytest.raises(InputError, match=r"asymmetry .* from 0\.333333 to 0\.666667, as"):
                CostLine(*(Costs(*end) for end in ends)).position(at)

    def test_on_a_ray(self):
        line = CostLine(Costs(1, 1), Costs(3, 3))
        back = CostLine(Costs(3, 3), Costs(1, 1))
        assert [line.position((c, c)) for c in (1, 1.5, 3)] == [0.0, 0.25, 1.0]
        assert [back.position((c, c)) for c in (1, 1.5, 3)] == [1.0, 0.75, 0.0]
        for beside in (1 - 1e-13, 3 + 1e-12):
            assert line.position((beside, beside)) in (0.0, 1.0)
        for total in (0.9, 3.1, 1 - 1e-11, 3 + 4e-11):
            with pytest.raises(InputError, match="total from 2 to 6 on this ray"):
                line.position((total, total))
        assert CostLine(Costs(2, 1), Costs(2, 1)).position((2, 1)) == 1.0

    @pytest.mark.parametrize("at", [(1, 2), (2, 1)])
    def test_beside_a_ray(self, at):
        with pytest.raises(InputError, match=r"from 0\.5 to 0\.5"):
            CostLine(Costs(0, 0), Costs(3, 3)).position(at)
        with pytest.raises(InputError, match=r"from 0\.5 to 0\.5"):
            CostLine(Costs(1, 1), Costs(3, 3)).position(at)

    def test_costs_that_are_beside_an_end_by_rounding_are_at_it(self):
        line = CostLine(Costs(0.3, 1.7), Costs(1.7, 0.3))
        for off in (0.0, 1e-14, -1e-14, 3e-13, -3e-13):
            assert 0.0 <= line.position((0.3 + off, 1.7)) < 1e-11
            assert 1.0 - 1e-11 < line.position((1.7 + off, 0.3)) <= 1.0

    def test_no_position(self):
        line = CostLine(Costs(1, 0), Costs(0, 1))
        with pytest.raises(InputError, match="both be zero"):
            line.position((0, 0))
        with pytest.raises(InputError, match="per sample"):
            CostLine(SampleCosts([1]), SampleCosts([2])).position((1, 1))

    def test_from_the_origin_to_a_ray(self):
        assert CostLine(Costs(0, 0), Costs(2, 4)).position((0.5, 1)) == 0.25
        assert ON_RAY == 1e-12
        near = CostLine(Costs(1, 0), Costs(1, 1))
        assert near.position((1, -0.0)) == 0.0
        assert CostLine(Costs(1, 1), Costs(0, 1)).position((1 + 1e-13, 1)) == 0.0
        with pytest.raises(InputError, match="asymmetry"):
            CostLine(Costs(1, 1), Costs(0, 1)).position((1 + 1e-10, 1))
