"""Points of a trade-off curve, made by hand: rates by SciPy, the part that is optimal, scores and words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

import paretoclf as pc
from paretoclf.distributions.gaussian.operating import OperatingPoint, TradeoffCurve
from paretoclf.distributions.rates import ChebyshevRate, GaussianRate

BOTH = (ChebyshevRate(), GaussianRate())


def point(u_minus=1.0, u_plus=2.0, rates=BOTH, **more):
    return OperatingPoint(np.array([1.0, -2.0]), 0.5, 0.25, u_minus, u_plus, rates, **more)


def test_each_class_is_judged_by_its_own_rate():
    at = point()
    assert (at.tnr, at.fpr) == pytest.approx((ndtr(1.0), ndtr(-1.0)), rel=1e-14)
    assert (at.tpr, at.fnr) == pytest.approx((0.8, 0.2), rel=1e-14)
    assert (at.distances.u_minus, at.distances.u_plus) == (1.0, 2.0)
    assert at.classifier.decision_function([[1.0, 0.0], [0.0, 1.0]]).tolist() == [1.5, -1.5]


@pytest.mark.parametrize(("u_minus", "u_plus", "weight"), [(1.0, 2.0, 0.5), (0.0, 2.0, None), (1.0, -2.0, None)])
def test_a_weight_is_that_of_the_middle_segment(u_minus, u_plus, weight):
    found = point(u_minus, u_plus).weight
    assert np.isnan(found) if weight is None else found == weight
    assert np.isnan(point(1.0, 0.0).weight)


def test_words_of_a_point():
    assert repr(point()) == "OperatingPoint(fpr=0.158655, tpr=0.8, t=0.25)"
    assert repr(point(cost=0.125, bound=0.1)) == "OperatingPoint(fpr=0.158655, tpr=0.8, t=0.25, cost=0.125)"


@pytest.fixture
def curve():
    w = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    u_minus, u_plus = np.array([-1.0, 0.5, 2.0]), np.array([3.0, 1.0, -0.5])
    return TradeoffCurve(w, np.array([0.1, 0.2, 0.3]), np.array([-1.0, 1.0, 5.0]), u_minus, u_plus, BOTH)


def test_a_curve_is_its_points(curve):
    assert len(curve) == 3
    for j in range(3):
        at = curve.point(j)
        for name in ("b", "t", "u_minus", "u_plus", "tnr", "tpr", "fpr", "fnr"):
            assert getattr(at, name) == getattr(curve, name)[j]
        assert at.w.tolist() == curve.w[j].tolist()
        assert at.rates is curve.rates
        assert isinstance(at.b, float)
    assert curve.tnr == pytest.approx(ndtr(curve.u_minus))
    assert curve.tpr == pytest.approx([0.9, 0.5, 0.0])
    assert curve.fpr == pytest.approx(1 - curve.tnr)
    assert curve.fnr == pytest.approx(1 - curve.tpr)


def test_the_part_that_is_optimal_hangs_on_the_rates(curve):
    assert curve.pareto.tolist() == [True, True, False]  # Chebyshev's rate of the positives is 0 at the last
    assert curve.judged_by(GaussianRate()).pareto.all()
    assert curve.judged_by((GaussianRate(), ChebyshevRate())).pareto.tolist() == [False, True, True]
    assert curve.judged_by(ChebyshevRate()).pareto.tolist() == [False, True, False]
    assert curve.judged_by(GaussianRate()).w.tolist() == curve.w.tolist()
    with pytest.raises(pc.InputError, match="rates must be a Rate"):
        curve.judged_by("gaussian")


def test_scores_are_those_of_each_classifier(curve):
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert curve.scores(X) == pytest.approx(np.array([[1.1, 3.1], [2.2, 4.2], [3.3, 7.3]]))
    with pytest.raises(pc.InputError, match=r"X must have"):
        curve.scores(np.ones((2, 3)))
    assert repr(curve) == "TradeoffCurve(3 points, ChebyshevRate() of the positives, GaussianRate() of the negatives)"


def test_points_keep_copies_of_what_they_are_given(curve):
    w = np.array([1.0, 2.0])
    at = OperatingPoint(w, 0.0, 1.0, 1.0, 1.0, BOTH)
    w[0] = 7.0
    assert at.w[0] == 1.0
    arrays = [np.eye(2), np.ones(2), np.ones(2), np.ones(2), np.ones(2)]
    made = TradeoffCurve(*arrays, BOTH)
    for each in arrays:
        each += 1.0
    assert made.w.tolist() == np.eye(2).tolist()
    for name in ("b", "t", "u_minus", "u_plus"):
        assert getattr(made, name).tolist() == [1.0, 1.0]
