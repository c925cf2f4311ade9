"""Tests of `paretoclf.roc.scores`."""

from __future__ import annotations

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.roc.of_path import roc_of_scores
from paretoclf.roc.scores import PathScores
from tests.roc.test_curve import random_labels, random_scores


def test_asymmetry_curve_by_hand():
    # Two positives, two negatives; b rises from -2 to 2 and jumps from -1 to 1 at t = 1/2: all cross within the jump
    # except those at x = -1.5 and 1.5.
    x = np.array([[-1.5], [-0.5], [0.5], [1.5]])
    b_start, b_end = np.array([-2.0, 1.0]), np.array([-1.0, 2.0])
    scores = PathScores(np.array([0.0, 0.5, 1.0]), x + b_start, x + b_end)
    curve = roc_of_scores(scores, [-1, 1, -1, 1], "asymmetry")
    assert curve.tpr.tolist() == [0, 0.5, 0.5, 1, 1]
    assert curve.fpr.tolist() == [0, 0, 0.5, 0.5, 1]
    assert curve.t.tolist() == [0.125, 0.375, 0.5, 0.625, 0.875]
    assert curve.swept.tolist() == [1, 1, 0.5, 1, 1]
    backwards = PathScores(scores.t, scores.end[:, ::-1], scores.start[:, ::-1])
    other = roc_of_scores(backwards, [-1, 1, -1, 1], "asymmetry")
    assert np.array_equal(other.fpr, curve.fpr)
    assert np.array_equal(other.tpr, curve.tpr)


def test_a_score_may_cross_several_times():
    knots = np.linspace(0, 1, 6)
    zigzag = np.array([-1.0, 1, -1, 1, -1, 1])
    scores = PathScores(knots, np.array([zigzag[:-1], 0 * zigzag[:-1] + 1]), np.array([zigzag[1:], 0 * zigzag[1:] + 1]))
    curve = roc_of_scores(scores, [-1, 1], "asymmetry")
    assert curve.fpr.tolist() == [0, 0, 1, 0, 1, 0, 1]
    assert curve.auc == 1


@pytest.mark.parametrize("vary", ["intercept", "asymmetry", "both"])
def test_equal_samples_are_ties_in_whatever_order_their_terms_were_added(vary):
    rng = np.random.default_rng(0)
    distinct, which, labels = random_scores(rng, 6, 8), rng.integers(0, 6, 400), random_labels(rng, 400)
    exact = PathScores(distinct.t, distinct.start[which], distinct.end[which])
    ulps = 1 + 2.2e-16 * rng.integers(-4, 5, (2, *exact.start.shape))
    rounded = PathScores(exact.t, exact.start * ulps[0], exact.end * ulps[1])
    found, expected = (roc_of_scores(each, labels, vary, t=0.4, n_grid=30) for each in (rounded, exact))
    assert np.array_equal(found.fpr, expected.fpr)
    assert np.array_equal(found.tpr, expected.tpr)


def test_no_interval_of_t_lies_between_equal_samples():
    rng = np.random.default_rng(1)
    distinct, which, labels = random_scores(rng, 6, 8), rng.integers(0, 6, 400), random_labels(rng, 400)
    exact = PathScores(distinct.t, distinct.start[which], distinct.end[which])
    ulps = 1 + 2.2e-16 * rng.integers(-4, 5, (2, *exact.start.shape))
    rounded = PathScores(exact.t, exact.start * ulps[0], exact.end * ulps[1])
    found, expected = (pc.roc.ErrorCurve.of_scores(each, labels) for each in (rounded, exact))
    assert len(found.t) == len(expected.t)
    assert found.minimax()[0].objective == expected.minimax()[0].objective
