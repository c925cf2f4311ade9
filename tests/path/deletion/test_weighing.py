"""Exact influence and paths without samples, against refits in CVXPY and the path of the others alone."""

from __future__ import annotations

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.path.deletion.weighing import influence
from tests.benchmarks.deletion import wrong


@pytest.mark.parametrize("factor", [0.0, 0.4, 2.0], ids=["removed", "cheaper", "doubled"])
@pytest.mark.parametrize("kernel", [None, pc.RBF(1.5)], ids=["linear", "rbf"])
def test_it_is_what_refits_say(gaussians, kernel, factor):
    X, y = gaussians(30, 3, seed=3)
    new = np.random.default_rng(0).normal(size=(6, 3))
    found = influence(pc.TwoCSVM(X, y, kernel), (0.8, 0.3), new, factor=factor, samples=[0, 7, 15, 29])
    assert found.proof.passes()

    def refit(weight):
        there = weight > 0
        svm = pc.TwoCSVM(X[there], y[there], kernel, sample_weight=weight[there])
        return svm.solve(C_plus=0.8, C_minus=0.3, accuracy="reference")

    whole = refit(np.ones(30))
    for j, i in enumerate(found.samples):
        weight = np.ones(30)
        weight[i] = factor
        other = refit(weight)
        if np.isclose(*other.classifier.b_interval) and np.isclose(*whole.classifier.b_interval):
            change = other.classifier.decision_function(new) - whole.classifier.decision_function(new)
            np.testing.assert_allclose(found.scores[:, j], change, atol=1e-6)
        assert found.value[j] == pytest.approx(other.value - whole.value, abs=1e-7)


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.5)], ids=["linear", "rbf"])
def test_another_label_is_a_refit(gaussians, kernel):
    """The sample then has the cost of the other class; errors are counted on the samples that are given."""
    X, y = gaussians(30, 3, seed=3)
    svm = pc.TwoCSVM(X, y, kernel)
    whole = svm.solve(C_plus=0.8, C_minus=0.3, accuracy="reference")
    new, labels = np.random.default_rng(0).normal(size=(40, 3)), np.where(np.arange(40) % 2, 1.0, -1.0)
    found = influence(whole, None, new, labels, relabelled=True, samples=[0, 7, 15, 29])
    assert found.proof.passes()
    assert np.isnan(found.slopes).all()
    for j, i in enumerate(found.samples):
        other = pc.TwoCSVM(X, np.where(np.arange(30) == i, -y, y), kernel)
        refit = other.solve(C_plus=0.8, C_minus=0.3, accuracy="reference")
        before, after = (each.classifier.decision_function(new) for each in (whole, refit))
        if np.isclose(*refit.classifier.b_interval) and np.isclose(*whole.classifier.b_interval):
            np.testing.assert_allclose(found.scores[:, j], after - before, atol=1e-6)
            wrong = [[np.sum((s >= 0) & (labels < 0)), np.sum((s < 0) & (labels > 0))] for s in (before, after)]
            assert found.errors[:, j].tolist() == np.subtract(wrong[1], wrong[0]).tolist()
        assert found.value[j] == pytest.approx(refit.value - whole.value, abs=1e-7)
        if kernel is None:
            np.testing.assert_allclose(found.w[:, j], refit.classifier.w - whole.classifier.w, atol=1e-6)


def test_a_solution_is_asked_for_influence(gaussians):
    """It says what the function says; weights are part of its costs."""
    svm = pc.TwoCSVM(*gaussians(20, 2, seed=4), sample_weight=np.linspace(0.5, 2.0, 20))
    solution = svm.solve(C_plus=0.8, C_minus=0.3, accuracy="reference")
    for how in ({}, {"factor": 2.0}, {"relabelled": True}):
        one, other = influence(solution, **how), influence(svm, (0.8, 0.3), **how)
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-9)
        np.testing.assert_array_equal(one.errors, other.errors)
    assert {"exact", "by slope", "false positives"} <= set(one.records()[0])
    with pytest.raises(InputError, match="svm must be a TwoCSVM or a solution of one"):
        influence(pc.QuantileSVM(svm.X, svm.y).solve(tau=0.5, lam=1.0))
    with pytest.raises(InputError, match="costs must be None for a solution"):
        influence(solution, (1.0, 1.0))
    with pytest.raises(InputError, match="y must be labels"):
        influence(solution, None, [[0.0, 1.0]], [2.0])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_it_is_what_fractions_say(part):
    """Some of the 200 instances of tests/benchmarks/deletion.py: the line, and samples removed, doubled, relabelled."""
    for seed in range(8 * part + 1, 8 * part + 9):
        count, differ = wrong(seed)
        assert count > 10
        assert differ == 0, seed


def test_the_slope_is_the_derivative(gaussians):
    """For a change of cost that is small enough it is the exact one; multipliers off their bounds have slope 0."""
    svm = pc.TwoCSVM(*gaussians(30, 2, seed=1))
    near = influence(svm, (1.0, 0.5), factor=1.0 - 1e-4)
    np.testing.assert_allclose(near.slopes, near.scores, atol=1e-8)
    far = influence(svm, (1.0, 0.5), factor=0.0)
    caps = np.where(svm.y > 0, 1.0, 0.5)
    alpha = svm.solve(C_plus=1.0, C_minus=0.5, accuracy="reference").alpha
    inner = (alpha > 1e-6) & (alpha < caps - 1e-6)
    assert inner.any()
    assert np.abs(far.slopes[:, inner]).max() < 1e-8
    assert np.all(far.size[inner] > 1e-6)  # which the slope says nothing of
    assert np.abs(far.scores[:, alpha < 1e-9]).max() < 1e-9
    np.testing.assert_allclose(far.off_slope[inner], far.size[inner], rtol=1e-6)
    assert far.ranking[0] == np.argmax(far.size)
    assert [row["sample"] for row in far.records()] == far.samples[far.ranking].tolist()


def test_a_path_without_samples_is_that_of_the_others(gaussians):
    X, y = gaussians(30, 2, seed=2)
    gone = np.array([1, 4, 20])
    line = ((0.2, 1.8), (1.8, 0.2))
    one = pc.trace(pc.TwoCSVM(X, y), *line).without(gone)
    other = pc.trace(pc.TwoCSVM(np.delete(X, gone, axis=0), np.delete(y, gone)), *line)
    for t in (0.0, 0.3, 0.77, 1.0):
        np.testing.assert_allclose(one.slope(t), other.slope(t), atol=1e-9)
        assert one.value(t) == pytest.approx(other.value(t), rel=1e-9)
    assert one.proof.passes()


def test_positions_are_one_number_several_or_a_mask():
    """A mask as numbers would take the samples at positions 0 and 1."""
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], 10)
    X = rng.normal(size=(20, 2)) + 0.8 * y[:, None]
    path = pc.trace(pc.TwoCSVM(X, y), (0.2, 1.8), (1.8, 0.2))
    value = pc.trace(pc.TwoCSVM(np.delete(X, 13, axis=0), np.delete(y, 13)), (0.2, 1.8), (1.8, 0.2)).value(0.4)
    for which in (13, np.int64(13), [13], np.arange(20) == 13, (np.arange(20) == 13).tolist()):
        assert path.without(which).value(0.4) == pytest.approx(value, abs=1e-9)
    with pytest.raises(InputError, match="samples must be a mask of 20 samples or their positions"):
        path.without([True, False])


def test_bad_input():
    svm = pc.TwoCSVM([[0.0], [1.0], [2.0]], [-1, 1, 1])
    path = pc.trace(svm, (0.2, 1.8), (1.8, 0.2))
    with pytest.raises(InputError, match="samples must leave somebody in each class"):
        path.without([0])
    with pytest.raises(InputError, match="samples must be whole numbers from 0 to 2"):
        path.without([3])
    with pytest.raises(InputError, match="factor must be a finite nonnegative number"):
        influence(svm, (1.0, 1.0), factor=-1.0)
