"""Groups and folds that are left out together: against fractions, against trained folds, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneGroupOut, StratifiedKFold
from sklearn.preprocessing import StandardScaler

import paretoclf as pc
from paretoclf.common.errors import InputError
from tests.oracles.exact import integer_kernel
from tests.path.deletion.test_one_out import exact_without_part, instance

LINE = ((0.25, 1.75), (1.75, 0.25))


@pytest.mark.parametrize("part", range(2))
def test_groups_are_what_fractions_say(part):
    """At a point and along a line; groups of one label, which may be all of it, and of both."""
    for seed in range(10 * part, 10 * part + 10):
        X, y, _, weight = instance(seed)
        groups = np.random.default_rng(seed).integers(3, size=y.size)
        groups[:2] = 0, 1
        degree = 1 + seed % 2
        svm = pc.TwoCSVM(X, y, None if degree == 1 else pc.Polynomial(degree), sample_weight=weight)
        path, K = pc.trace(svm, *LINE), integer_kernel(X, degree)
        along = path.leave_one_out(groups=groups)
        assert along.passes()
        for t in (0.171, 0.683):
            point, found, caps = pc.leave_one_out(svm, path.costs(t), groups=groups), along(t), path.caps(t)
            assert point.proof.passes()
            for name in np.unique(groups):
                own = np.flatnonzero(groups == name)
                slopes, low, high = exact_without_part(K, y, caps, own)
                for i, slope in zip(own, slopes, strict=True):
                    unit = 1e-8 * (1.0 + abs(float(slope)))
                    ends = float(slope + low), float(slope + high)
                    assert ends[0] - unit <= found[i] <= ends[1] + unit, (seed, t, i)
                    np.testing.assert_allclose(point.intervals[i], ends, atol=unit)


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.5)], ids=["linear", "rbf"])
def test_folds_are_those_that_are_trained(gaussians, kernel):
    svm = pc.TwoCSVM(*gaussians(40, 3, seed=5), kernel)
    one = pc.trace(svm, *LINE).leave_one_out(cv=4, rng=3)
    other = pc.cross_validated_errors(svm, *LINE, folds=4, rng=3)
    for t in np.linspace(0.017, 0.983, 15):
        assert one.curve.counts(t) == other.counts(t)
        assert pc.leave_one_out(svm, one.path.costs(t), cv=4, rng=3).counts == other.counts(t)
    splits = list(StratifiedKFold(4, shuffle=True, random_state=3).split(svm.X, svm.y))
    assert pc.leave_one_out(svm, (1.0, 1.0), cv=splits).counts == pc.leave_one_out(svm, (1.0, 1.0), cv=4, rng=3).counts
    groups = np.arange(40) % 5
    splitter = LeaveOneGroupOut().split(svm.X, svm.y, groups)
    np.testing.assert_array_equal(
        pc.leave_one_out(svm, (1.0, 1.0), cv=splitter).scores, pc.leave_one_out(svm, (1.0, 1.0), groups=groups).scores
    )


def test_a_part_that_leaves_one_class_leaves_its_rule():
    X, y = np.arange(6.0)[:, None], np.array([-1, -1, -1, -1, 1, 1])
    svm = pc.TwoCSVM(X, y)
    out = pc.leave_one_out(svm, (1.0, 1.0), groups=[0, 1, 0, 1, 2, 2])
    assert out.scores[4:].tolist() == [-1.0, -1.0]
    assert out.constant.tolist() == [4, 5]
    assert "2 by a constant rule" in repr(out)
    along = pc.trace(svm, *LINE).leave_one_out(groups=[0, 1, 0, 1, 2, 2])
    assert along(0.4)[4:].tolist() == [-1.0, -1.0]


def test_who_costs_nothing_is_not_there():
    """The optimum of all is that of the others; with its cost 0 a class of two is one of one."""
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [1.5]]), np.array([-1, -1, 1, 1, 1])
    svm, costs = pc.TwoCSVM(X, y), [pc.SampleCosts(np.array([1.0, c, 1.0, 0.0, 0.0])) for c in (0.5, 1.5)]
    rest = pc.TwoCSVM(X[:3], y[:3], sample_weight=[1.0, 1.0, 1.0])
    path = pc.trace(svm, *costs)
    point = pc.leave_one_out(svm, path.costs(0.5))
    assert point.constant.tolist() == [2]
    whole = rest.solve(C_plus=1.0, C_minus=1.0, accuracy="reference").classifier.decision_function(X[3:])
    np.testing.assert_allclose(point.scores[3:], whole, atol=1e-8)
    along, (low, high) = path.leave_one_out()(0.5), point.intervals.T
    assert np.all((low - 1e-9 <= along) & (along <= high + 1e-9))


def test_bad_input(gaussians):
    svm = pc.TwoCSVM(*gaussians(12, 2))
    path, half = pc.trace(svm, *LINE), (np.arange(6), np.arange(6, 12))
    for how, message in (
        ({"groups": [1, 2]}, r"groups must have shape \(12,\), one for each sample, got \(2,\)"),
        ({"groups": np.zeros(12)}, "groups must make at least two parts, got 1"),
        ({"groups": np.arange(12), "cv": 3}, "cv must be None where groups are given"),
        ({"cv": 20}, "cv must be at least 2 and at most the size of the smaller class"),
        ({"cv": [half]}, "cv must test each sample once, got 0 times for sample 0"),
        ({"cv": [(np.arange(1, 6), np.arange(6, 12))]}, r"cv\[0\] must train on all samples that it does not test"),
        ({"transformer": StandardScaler()}, "transformer must be None, .* cross_validated_errors fits a transformer"),
    ):
        for ask in (lambda how: pc.leave_one_out(svm, (1.0, 1.0), **how), lambda how: path.leave_one_out(**how)):
            with pytest.raises(InputError, match=message):
                ask(how)
    two = np.where(np.arange(12) % 6 == 0, 1.0, 0.0)
    with pytest.raises(InputError, match="groups must leave somebody with a cost"):
        pc.leave_one_out(svm, pc.SampleCosts(two), groups=two)
