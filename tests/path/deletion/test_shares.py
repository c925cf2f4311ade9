"""Leave one out of problems whose caps are shares of n, against refits of the others by a solver."""

from __future__ import annotations

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.errors import InputError

POINTS = {
    "nu": (pc.TwoNuSVM, {}, {"nu": 0.27, "asymmetry": 0.45}),
    "classes": (pc.TwoNuSVM, {"by": "classes"}, {"nu_plus": 0.41, "nu_minus": 0.63}),
    "tau": (pc.QuantileSVM, {}, {"tau": 0.3, "lam": 0.05}),
    "bias": (pc.QuantileSVM, {"bias": True}, {"tau": 0.6, "lam": 0.2}),
}
KERNELS = pytest.mark.parametrize("kernel", [None, pc.RBF(1.5)], ids=["linear", "rbf"])


def refit(kind, how, values, X, y, kernel, out):
    """Least and largest optimal score of who is out, by a solver."""
    rest = np.setdiff1d(np.arange(y.size), out)
    rule = kind(X[rest], y[rest], kernel, **how).solve(**values, accuracy="reference").classifier
    scores = rule.decision_function(X[out])
    low, high = rule.b_interval if getattr(rule, "b_interval", None) is not None else (rule.b, rule.b)
    return scores - rule.b + low, scores - rule.b + high


@KERNELS
@pytest.mark.parametrize("name", list(POINTS))
def test_the_scores_are_those_of_refits(gaussians, name, kernel):
    kind, how, values = POINTS[name]
    X, y = gaussians(24, 2, seed=11)
    X[5], X[6], y[6] = X[4], X[4], -y[4]  # copies, and the other label on one point
    out = pc.leave_one_out(kind(X, y, kernel, **how), values)
    assert out.proof.passes()
    assert out.moved.size == y.size
    assert out.intervals.shape == (y.size, 2)
    without = [row["without"] for row in out.proof.records()]
    assert np.isnan(without[0])  # of all of them
    assert without[1:] == list(range(y.size))
    for i in range(y.size):
        low, high = refit(kind, how, values, X, y, kernel, [i])
        assert low[0] - 1e-6 <= out.scores[i] <= high[0] + 1e-6
        np.testing.assert_allclose(out.intervals[i], [low[0], high[0]], atol=1e-6)


@pytest.mark.parametrize("name", list(POINTS))
def test_groups_are_left_out_together(gaussians, name):
    kind, how, values = POINTS[name]
    X, y = gaussians(24, 2, seed=12)
    groups = np.arange(24) // 3
    out = pc.leave_one_out(kind(X, y, **how), values, groups=groups)
    for g in range(8):
        part = np.flatnonzero(groups == g)
        low, high = refit(kind, how, values, X, y, None, part)
        assert np.all(low - 1e-6 <= out.scores[part])
        assert np.all(out.scores[part] <= high + 1e-6)


def test_scores_have_the_middle_of_the_optimal_intercepts(gaussians):
    """Caps of both classes go a whole number of times into the sums: then there is an interval of intercepts."""
    X, y = gaussians(20, 2, seed=11)
    svm, values = pc.TwoNuSVM(X, y, by="classes"), {"nu_plus": 0.5, "nu_minus": 0.75}
    rule = svm.solve(**values, accuracy="reference").classifier
    low, high = rule.b_interval
    assert high - low > 1e-2
    out = pc.leave_one_out(svm, values)
    np.testing.assert_allclose(out.own, rule.decision_function(X) - rule.b + 0.5 * (low + high), atol=1e-6)
    values["nu_minus"] = 8 / 11  # so is it without one of the twelve negatives
    out = pc.leave_one_out(svm, values)
    for i in np.flatnonzero(y < 0)[:3]:
        low, high = refit(pc.TwoNuSVM, {"by": "classes"}, values, X, y, None, [i])
        assert high[0] - low[0] > 1e-3
        np.testing.assert_allclose(out.scores[i], 0.5 * (low[0] + high[0]), atol=1e-6)


def test_most_lines_leave_from_the_solution_of_all(gaussians, monkeypatch):
    from paretoclf.path.deletion.shares import ShareDepartures

    def refuse(*_):
        raise AssertionError("a part was solved anew")

    monkeypatch.setattr(ShareDepartures, "_anew", refuse)
    X, y = gaussians(40, 3, seed=13)
    for kind, how, values in POINTS.values():
        assert pc.leave_one_out(kind(X, y, pc.RBF(1.5), **how), values).proof.passes()


def test_the_last_of_a_class_leaves_the_rule_of_the_other(gaussians):
    X, y = gaussians(12, 2, seed=14)
    y[:] = -1.0
    y[3] = 1.0
    for kind, values in ((pc.TwoNuSVM, {"nu": 0.05, "asymmetry": 0.5}), (pc.QuantileSVM, POINTS["tau"][2])):
        out = pc.leave_one_out(kind(X, y, pc.RBF(1.5)), values)
        assert out.constant.tolist() == [3]
        assert out.scores[3] == -1.0


def test_what_has_no_solution_is_refused(gaussians):
    X, y = gaussians(12, 2, seed=15)
    svm = pc.TwoNuSVM(X, y)
    top = svm.nu_max(0.5)
    for bad, values, message in (
        (svm, {"nu": top, "asymmetry": 0.5}, r"the largest that is feasible without \["),
        (svm, {"nu": 2.0 * top, "asymmetry": 0.5}, "nu must be at most"),
        (svm, (1.0, 1.0), "must be the parameters of TwoNuSVM, a mapping"),
        (pc.QuantileSVM(X, y), {"tau": 0.5}, "lam"),
        (pc.QuantileSVM(X, y), pc.Costs(1.0, 1.0), "must be the parameters of QuantileSVM"),
    ):
        with pytest.raises(InputError, match=message):
            pc.leave_one_out(bad, values)
