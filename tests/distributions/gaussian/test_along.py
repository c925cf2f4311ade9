"""Points evenly spaced along a trade-off curve, its part with positive rates, and the area under it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

import paretoclf as pc
from paretoclf.distributions.gaussian.along import area, evenly, positive_part
from paretoclf.distributions.gaussian.family import Family
from paretoclf.distributions.gaussian.moments import Moments
from paretoclf.distributions.rates import ChebyshevRate, GaussianRate, KLRate, Rate, StudentRate
from tests.oracles.gaussian_pairs import FIXTURE, random_pair


def tradeoff(pair):
    return pc.gaussian_tradeoff(pc.Moments.from_covariances(*pair))


def test_points_of_a_curve_are_evenly_spaced_and_reach_both_ends():
    curve = tradeoff(FIXTURE).curve(101)
    steps = np.hypot(np.diff(curve.tnr), np.diff(curve.tpr))
    assert steps.max() < 1.1 * steps.min()
    assert curve.tnr[0] < 1e-5 > curve.tpr[-1]
    assert curve.w.shape == (101, 2)
    pooled = FIXTURE[1] + FIXTURE[3]
    np.testing.assert_allclose(np.einsum("ki,ij,kj->k", curve.w, pooled, curve.w), 1.0, rtol=1e-12)


def traced(found, rates, start, stop):
    """Area under the curve between two positions, by trapezoids between a hundred thousand members."""
    at = found.family.at(np.linspace(max(start, -60.0), min(stop, 60.0), 100_001))
    return float(np.trapezoid(rates[0].correct(at.u_plus), rates[1].correct(at.u_minus)))


@pytest.mark.parametrize("rate", [GaussianRate(), ChebyshevRate(), KLRate(0.2), StudentRate(3.0)], ids=repr)
@pytest.mark.parametrize("seed", [0, 3])
def test_the_area_is_that_under_many_members(rate, seed):
    found = tradeoff(random_pair(3, seed, 10.0)).judged_by(rate)
    part = positive_part(found.family, found.rates)
    assert area(found.family, found.rates, part) == pytest.approx(traced(found, found.rates, *part), abs=1e-7)
    assert found.auc == area(found.family, found.rates, part)


def test_rates_of_two_kinds_are_each_of_its_own_class():
    found = tradeoff(random_pair(3, 1, 10.0))
    for rates in ((ChebyshevRate(), GaussianRate()), (GaussianRate(), ChebyshevRate())):
        part = positive_part(found.family, rates)
        ends = [found.family.at(s) if np.isfinite(s) else None for s in part]
        if isinstance(rates[1], ChebyshevRate):  # the negatives' rate begins where their mean is on the hyperplane
            assert ends[0].u_minus == pytest.approx(0.0, abs=1e-10)
            assert part[1] == np.inf
        else:
            assert part[0] == -np.inf
            assert ends[1].u_plus == pytest.approx(0.0, abs=1e-10)
        assert area(found.family, rates, part) == pytest.approx(traced(found, rates, *part), abs=1e-7)
        positions = evenly(found.family, rates, part, 20)
        at = found.family.at(positions)
        first, last = float(rates[1].correct(at.u_minus[0])), float(rates[0].correct(at.u_plus[-1]))
        for s, end, share in ((positions[0], part[0], first), (positions[-1], part[1], last)):
            assert s == pytest.approx(end, abs=1e-12) if np.isfinite(end) else 5e-7 < share < 2e-6


@pytest.mark.parametrize("n", [2, 3, 40])
def test_points_are_as_far_apart_in_the_plane_of_the_rates(n):
    found = tradeoff(random_pair(4, 2, 100.0))
    positions = evenly(found.family, found.rates, (-np.inf, np.inf), n)
    assert positions.shape == (n,)
    assert np.all(np.diff(positions) > 0)
    at = found.family.at(positions)
    tnr, tpr = ndtr(at.u_minus), ndtr(at.u_plus)
    steps = np.hypot(np.diff(tnr), np.diff(tpr))
    assert steps.max() <= 1.06 * steps.min()
    assert 5e-7 < tnr[0] < 2e-6
    assert 5e-7 < tpr[-1] < 2e-6


def test_where_a_threshold_leaves_nothing_the_ends_are_exchanged():
    """One distribution twice: no hyperplane has both means on their own side."""
    family = Family.of(Moments.from_covariances([0.0, 0.0], np.eye(2), [0.0, 0.0], np.eye(2)))
    start, stop = positive_part(family, (ChebyshevRate(), ChebyshevRate()))
    assert not start < stop


class Laplace(Rate):
    """The rate of a Laplace distribution of variance 1: a kink where the mean is on the hyperplane."""

    def error(self, u):
        tail = 0.5 * np.exp(-np.sqrt(2) * np.abs(u))
        return np.where(np.asarray(u) > 0, tail, 1 - tail)

    def slope(self, u):
        return np.sqrt(0.5) * np.exp(-np.sqrt(2) * np.abs(u))

    def at_error(self, error):
        return float(np.sign(0.5 - error) * -np.log(2 * min(error, 1 - error)) / np.sqrt(2))


def test_a_kink_inside_the_curve_costs_no_digits():
    found = tradeoff(([2.0, 0.0], np.diag([1.0, 3.0]), [0.0, 0.5], np.diag([4.0, 1.0])))
    rates = (Laplace(), Laplace())
    assert area(found.family, rates, (-np.inf, np.inf)) == pytest.approx(traced(found, rates, -60, 60), abs=1e-7)
