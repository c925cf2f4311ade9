"""Leave one out along a line: against points, which are held against fractions, and against refits in fractions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import paretoclf as pc
from paretoclf.roc.area_curve import AreaCurve
from paretoclf.roc.scores import PathScores
from tests.oracles.exact import integer_kernel
from tests.oracles.mostly_slow import mostly_slow
from tests.path.deletion.test_one_out import exact_without, instance

LINES = (((0.25, 1.75), (1.75, 0.25)), ((0.0, 0.0), (1.0, 2.0)), ((0.0, 1.0), (2.0, 0.5)))


@pytest.mark.parametrize("part", mostly_slow(range(4), 1))
def test_it_is_what_fractions_say(part):
    """At four t of each line, away from breakpoints, the score is one of the interval without the sample."""
    for seed in range(15 * part, 15 * part + 15):
        X, y, _, weight = instance(seed)
        degree = 1 + seed % 2
        svm = pc.TwoCSVM(X, y, None if degree == 1 else pc.Polynomial(degree), sample_weight=weight)
        path = pc.trace(svm, *LINES[seed % 3])
        out = path.leave_one_out()
        assert out.passes()
        K = integer_kernel(X, degree)
        for t in (0.171, 0.437, 0.683, 0.911):
            found, caps = out(t), path.caps(t)
            for i in range(y.size):
                slope, low, high = exact_without(K, y, caps, i)
                unit = 1e-8 * (1.0 + abs(float(slope)))
                assert float(slope + low) - unit <= found[i] <= float(slope + high) + unit, (seed, t, i)


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.5)], ids=["linear", "rbf"])
def test_it_is_leave_one_out_at_each_t(gaussians, kernel):
    svm = pc.TwoCSVM(*gaussians(40, 3, seed=3), kernel, sample_weight=np.linspace(0.5, 2.0, 40))
    path = pc.trace(svm, (0.05, 1.95), (1.95, 0.05))
    out = path.leave_one_out()
    for t in np.linspace(0.013, 0.987, 12):
        point = pc.leave_one_out(svm, path.costs(t))
        got = out(t)
        unit = 1e-9 * (1.0 + np.abs(got))
        assert np.all((point.intervals[:, 0] - unit <= got) & (got <= point.intervals[:, 1] + unit))
        if np.allclose(*point.intervals.T):  # else another of the optimal intercepts
            assert out.curve.counts(t) == point.counts
            assert out.area(t) == pytest.approx(roc_auc_score(svm.y, np.round(point.scores, 10)), abs=1e-12)
            assert out.roc(t=t).auc == pytest.approx(out.area(t), abs=1e-12)
            assert {each.sample for each in out.flips if each.start < t < each.stop} == set(point.flipped.tolist())


def test_what_is_read_off(gaussians):
    svm = pc.TwoCSVM(*gaussians(24, 2, seed=1))
    out = pc.trace(svm, (0.2, 1.8), (1.8, 0.2)).leave_one_out()
    best = out.best((1.0, 1.0))[0]
    assert best.objective == min(each.objective for each in out.curve.best((1.0, 1.0)))
    assert len(out.records()) == sum(each.samples.size for each in out.stretches)
    assert {each.sample for each in out.flips} <= {i for each in out.stretches for i in each.samples.tolist()}
    assert "all proved" in repr(out)
    assert out.roc("asymmetry").auc <= 1.0


def test_where_all_scores_are_equal_they_are_ties(gaussians):
    """Where w = 0 without each sample, the computed scores differ by rounding, and a curve of them would rank noise."""
    X, y = gaussians(40, 2, seed=0)
    svm = pc.TwoCSVM(X, y)
    point = pc.leave_one_out(svm, (0.01, 1.99))
    assert np.ptp(point.scores) < 1e-9
    assert point.roc().auc == 0.5


def test_a_class_of_one_sample_leaves_the_rule_of_the_other():
    out = pc.trace(pc.TwoCSVM([[0.0], [1.0], [2.0]], [-1, -1, 1]), (0.2, 1.8), (1.8, 0.2)).leave_one_out()
    assert out(0.3)[2] == out(0.9)[2] == -1.0


def test_the_area_is_that_of_the_scores_at_each_t():
    """Random scores of whole numbers, with ties at points and along whole pieces, jumps, and knots of their own."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        scores = []
        for _ in range(6):
            inner = np.sort(rng.choice(np.arange(1, 8), size=int(rng.integers(0, 4)), replace=False)) / 8
            t = np.concatenate([[0.0], inner, [1.0]])
            values = rng.integers(-2, 3, size=(2, 1, t.size - 1)).astype(float)
            scores.append(PathScores(t, *values))
        y = rng.permutation([1, 1, -1, -1, -1, 1])
        curve = AreaCurve.of_scores(scores, y)
        middles = 0.5 * (curve.t[1:] + curve.t[:-1])
        eighths = np.arange(1, 8) / 8  # where scores jump; a zero there may be rounded to beside it
        off = np.abs(curve.t[:, None] - eighths).min(axis=1)
        for t in np.concatenate([middles, curve.t[(off == 0.0) | (off > 1e-12)]]):
            wanted = roc_auc_score(y, np.round([float(each(t)[0]) for each in scores], 9))
            assert curve(float(t)) == pytest.approx(wanted, abs=1e-12)
        assert np.all(np.diff(curve.t) > 0)
