"""The cheapest classifier of a trade-off curve: against many members of the family, and constant classifiers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

import paretoclf as pc
from tests.oracles.gaussian_pairs import random_moments, random_pair

PAIRS = {"d": st.integers(1, 8), "seed": st.integers(0, 99)}


def tradeoff(pair):
    return pc.gaussian_tradeoff(pc.Moments.from_covariances(*pair))


@given(d=st.integers(1, 4), seed=st.integers(0, 30), asymmetry=st.floats(0.01, 0.99), prior=st.floats(0.05, 0.95))
def test_the_cheapest_point_is_the_cheapest_of_many_and_its_bound_holds(d, seed, asymmetry, prior):
    found = pc.gaussian_tradeoff(random_moments(d, seed, 10.0))
    at = found.best((asymmetry, 1 - asymmetry), prior)
    miss, alarm = prior * asymmetry, (1 - prior) * (1 - asymmetry)
    many = found.family.at(np.linspace(-40, 40, 4001))
    costs = miss * ndtr(-many.u_plus) + alarm * ndtr(-many.u_minus)
    cheapest = min(costs.min(), miss, alarm)
    assert at.cost == pytest.approx(miss * at.fnr + alarm * at.fpr, abs=1e-14)
    assert at.bound <= cheapest + 1e-15
    assert at.cost <= cheapest + 1e-9
    assert at.cost - at.bound <= 1.01e-7 * (miss + alarm)
    assert at.bound < at.cost or not at.w.any()  # a bound over pieces, not the value itself


def test_the_cheapest_point_can_lie_in_an_outer_segment():
    """The search of the paper's middle segment would miss it: the true positive rate is below 1/2."""
    found = tradeoff(random_pair(3, seed=2, condition=10.0))
    at = found.best((0.1, 0.9))
    assert 0.2 < at.tpr < 0.5
    middle = found.family.of_ratio(np.logspace(-6, 6, 2001))
    costs = 0.05 * ndtr(-middle.u_plus) + 0.45 * ndtr(-middle.u_minus)
    assert at.cost < costs.min() - 1e-4
    # Stationary: alarm phi(u_minus) = miss phi(u_plus) s_minus / s_plus.
    plus, minus = found.moments.spread(at.w)
    density = [np.exp(-(u**2) / 2) for u in (at.u_minus, at.u_plus)]
    assert 0.45 * density[0] / minus == pytest.approx(0.05 * density[1] / plus, rel=1e-9)


def test_one_label_for_all_can_be_cheapest():
    found = tradeoff(([0.1], [[1.0]], [0.0], [[1.0]]))
    for costs, label in (((1.0, 1e-6), 1), ((1e-6, 1.0), -1)):
        at = found.best(costs)
        assert (at.classifier.predict([[-5.0], [5.0]]) == label).all()
        assert at.cost == pytest.approx(0.5e-6)
        assert (at.fpr, at.tpr) == ((1.0, 1.0) if label == 1 else (0.0, 0.0))
        with pytest.raises(pc.InputError, match="point must be a hyperplane"):
            found.certificate(at)
