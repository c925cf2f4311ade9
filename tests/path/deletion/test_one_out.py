"""Leave one out against optima in fractions, and against refits in CVXPY and LIBSVM."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.path.deletion import one_out
from paretoclf.path.svm.cost_path import trace_costs
from tests.oracles.exact import fractions, integer_kernel, intercepts
from tests.oracles.exact_criss_cross import criss_cross
from tests.oracles.mostly_slow import mostly_slow


def exact_without(K, y, caps, i):
    """Score without intercept, and the ends of the interval of optimal intercepts, without sample i, in fractions."""
    slopes, low, high = exact_without_part(K, y, caps, np.array([i]))
    return slopes[0], low, high


def exact_without_part(K, y, caps, part):
    """The same of samples that are left out together."""
    left = np.array(caps, dtype=float)
    left[part] = 0.0
    scores, low, high = exact_optimum(K, y, left)
    return scores[part], low, high


def exact_optimum(K, y, caps):
    """Scores without intercept of all samples, and the ends of the interval of optimal intercepts, in fractions."""
    path = criss_cross(K, y, fractions(caps), fractions(np.zeros(y.size)))
    alpha = path.alpha(path.ends[0])
    scores = path.scores_of(alpha)
    grow, shrink = alpha < fractions(caps), alpha > 0  # a cap of 0 bounds nothing
    low, high = intercepts(np.array([int(v) for v in y], dtype=object), grow, shrink, scores)
    return scores, low, high


def middle(low, high):
    """The convention for an intercept that is not unique."""
    ends = [b for b in (low, high) if np.isfinite(float(b))]
    return float(sum(ends) / len(ends)) if ends else 0.0


def agrees(svm, K, caps, out):
    """Scores, labels and intervals of every sample are those in fractions."""
    for i in range(svm.y.size):
        slope, low, high = exact_without(K, svm.y, caps, i)
        unit = 1.0 + abs(float(slope))
        np.testing.assert_allclose(out.intervals[i], [float(slope + low), float(slope + high)], atol=1e-9 * unit)
        wanted = float(slope) + middle(low, high)
        assert abs(out.scores[i] - wanted) <= 1e-9 * unit
        if np.isfinite(float(low)) and np.isfinite(float(high)):
            wanted_exactly = slope + (low + high) / 2
            assert (out.scores[i] >= 0) == (wanted_exactly >= 0), (i, out.scores[i], wanted_exactly)
    assert out.proof.passes()


def instance(seed):
    """Whole numbers with copies of samples, of either label, ties, classes of few samples, one at times."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 9)), int(rng.integers(1, 4))
    X = rng.integers(-2, 3, size=(n, d)).astype(float)
    for _ in range(int(rng.integers(0, 3))):
        X[rng.integers(n)] = X[rng.integers(n)]
    plus = 1 if rng.random() < 0.2 else int(rng.integers(1, n))
    y = rng.permutation(np.where(np.arange(n) < plus, 1.0, -1.0))
    costs = rng.choice([0.25, 0.5, 1.0, 1.0, 2.0, 8.0], size=2)
    weight = rng.integers(1, 4, n).astype(float) if seed % 3 == 0 else None
    return X, y, tuple(costs), weight


@pytest.mark.parametrize("part", mostly_slow(range(4), 1))
@pytest.mark.parametrize("degree", [1, 2])
def test_it_is_what_fractions_say(part, degree):
    for seed in range(100 * (degree - 1) + 25 * part, 100 * (degree - 1) + 25 * part + 25):
        X, y, costs, weight = instance(seed)
        kernel = None if degree == 1 else pc.Polynomial(degree)
        svm = pc.TwoCSVM(X, y, kernel, sample_weight=weight)
        caps = svm.sample_weight * np.where(y > 0, *costs)
        agrees(svm, integer_kernel(X, degree), caps, pc.leave_one_out(svm, costs))


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.5)], ids=["linear", "rbf"])
def test_it_is_what_refits_in_cvxpy_say(gaussians, kernel):
    X, y = gaussians(30, 3, seed=3)
    svm = pc.TwoCSVM(X, y, kernel, sample_weight=np.linspace(0.5, 2.0, 30))
    out = pc.leave_one_out(svm, (0.8, 0.3))
    for i in range(0, 30, 3):
        rest = np.arange(30) != i
        refit = pc.TwoCSVM(X[rest], y[rest], kernel, sample_weight=svm.sample_weight[rest])
        found = refit.solve(C_plus=0.8, C_minus=0.3, accuracy="reference")
        low, high = found.classifier.b_interval
        at = found.classifier.decision_function(X[[i]])[0] - found.classifier.b
        assert at + low - 1e-7 <= out.scores[i] <= at + high + 1e-7


@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 30.0]))
@settings(max_examples=10)
def test_it_is_what_refits_of_libsvm_say(seed, C):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(40) < 15, 1.0, -1.0)
    X = rng.normal(size=(40, 2)) + 0.5 * y[:, None]
    svm = pc.TwoCSVM(X, y, pc.RBF(1.0))
    out = pc.leave_one_out(svm, (C, C))
    K = svm.gram.matrix
    for i in out.moved[::5]:
        rest = np.arange(40) != i
        model = SVC(kernel="precomputed", C=C, tol=1e-10).fit(K[np.ix_(rest, rest)], y[rest])
        unique = out.intervals[i, 1] - out.intervals[i, 0] < 1e-9
        if unique:
            assert abs(model.decision_function(K[[i]][:, rest])[0] - out.scores[i]) < 1e-6 * (1 + C)


def test_the_textbook_tracker_says_the_same(gaussians):
    svm = pc.TwoCSVM(*gaussians(24, 2, seed=5))
    one, other = (pc.leave_one_out(svm, (1.0, 0.5), engine=engine) for engine in ("fast", "textbook"))
    np.testing.assert_allclose(one.scores, other.scores, atol=1e-9)


def test_a_class_of_one_sample_leaves_the_rule_of_the_other():
    svm = pc.TwoCSVM([[0.0], [1.0], [2.0]], [-1, -1, 1])
    out = pc.leave_one_out(svm, (1.0, 1.0))
    assert out.scores[2] == -1.0
    assert out.intervals[2].tolist() == [-np.inf, -1.0]
    assert out.wrong[2]
    assert out.proof.passes()


def test_costs_of_zero():
    """A class that costs nothing has no multipliers: nobody's absence changes anything, but the last one's."""
    svm = pc.TwoCSVM([[0.0], [1.0], [2.0]], [-1, -1, 1])
    out = pc.leave_one_out(svm, (0.0, 1.0))
    assert out.scores.tolist() == [-1.0, -1.0, -1.0]
    assert out.moved.size == 0
    nothing = pc.leave_one_out(svm, (0.0, 0.0))
    assert nothing.scores.tolist() == [0.0, 0.0, 0.0]
    assert nothing.wrong.tolist() == [True, True, False]  # +1 is predicted where the score is 0
    costs = pc.SampleCosts([1.0, 0.0, 1.0])
    assert pc.leave_one_out(svm, costs).scores[1] == pytest.approx(0.0, abs=1e-12)  # it was not there before


def test_what_is_read_off():
    svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
    out = pc.leave_one_out(svm, (1.0, 1.0))
    assert out.counts == (int(out.wrong[svm.y < 0].sum()), int(out.wrong[svm.y > 0].sum()))
    assert [row["wrong"] for row in out.records()] == out.wrong.tolist()
    assert out.roc().auc <= 1.0
    assert out.flipped.tolist() == np.flatnonzero((out.own >= 0) != (out.scores >= 0)).tolist()
    assert len(out.proof.records()) == out.moved.size + 1
    assert "Each of" in out.proof.explain()


def test_rates_are_shares_of_either_class():
    """Classes of 3 and 9, one wrong of the one and two of the other."""
    y = np.repeat([1.0, -1.0], [3, 9])
    X = np.where(y > 0, 2.0, -2.0)[:, None] + 0.01 * np.arange(12)[:, None]
    X[0], X[3], X[4] = -2.0, 2.0, 2.0
    out = pc.leave_one_out(pc.TwoCSVM(X, y), (3.0, 1.0))
    assert out.wrong.tolist() == [True, False, False, True, True] + [False] * 7
    assert out.counts == (2, 1)
    assert out.rates == (2 / 9, 1 / 3)


def test_a_score_of_0_predicts_the_positive_label_with_and_without_the_sample():
    out = pc.leave_one_out(pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]), (1.0, 1.0))
    scored = replace(out, own=np.array([0.0, 0.0, -1.0, 1.0]), scores=np.array([-1.0, 1.0, 0.0, 0.0]))
    assert scored.flipped.tolist() == [0, 2]
    assert scored.wrong.tolist() == [False, False, True, False]


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_scores_that_are_rounding_of_their_terms_are_0_in_any_unit(unit):
    scores, sizes = unit * np.array([1e-15, -1e-15, 1e-14, 1e-15]), unit * np.array([1.0, 1.0, 1.0, 1e-3])
    assert one_out._without_rounding(scores, sizes).tolist() == (scores * [0, 0, 1, 1]).tolist()


def test_bad_input():
    svm = pc.TwoCSVM([[0.0], [1.0]], [-1, 1])
    with pytest.raises(InputError, match="costs must be a pair"):
        pc.leave_one_out(svm, 1.0)
    with pytest.raises(InputError, match="svm must be a TwoCSVM"):
        pc.leave_one_out(pc.BiobjectiveMargin([[0.0], [1.0]], [-1, 1]), (1.0, 1.0))


@pytest.mark.parametrize("shift", [0.0, 128.0, -128.0])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_sample_without_multiplier_may_bound_the_intercept(sign, shift):
    """Its absence moves no multiplier, but the middle of the intercepts, wherever the origin of the samples is."""
    X, y = np.array([[1.0], [-1.0], [-50.0]]) + shift, sign * np.array([1.0, -1.0, -1.0])
    out = pc.leave_one_out(pc.TwoCSVM(X, y), (0.01, 0.01))
    assert 2 not in out.moved
    np.testing.assert_allclose(out.intervals[2], sign * -1.0 + np.array([-0.98, 0.98]), atol=1e-12)
    np.testing.assert_allclose(out.scores[2], sign * -1.0, atol=1e-12)
    agrees(pc.TwoCSVM(X, y), integer_kernel(X), np.full(3, 0.01), out)


def test_one_of_a_group_without_multipliers_may_bound_the_intercept():
    """The others of the group need not."""
    X, y = np.array([[1.0], [-1.0], [-50.0], [-64.0]]), np.array([1.0, -1.0, -1.0, -1.0])
    out = pc.leave_one_out(pc.TwoCSVM(X, y), (0.01, 0.01), groups=[0, 1, 2, 2])
    assert 2 not in out.moved
    slopes, low, high = exact_without_part(integer_kernel(X), y, np.full(4, 0.01), np.array([2, 3]))
    np.testing.assert_allclose(out.intervals[2:, 0], (slopes + low).astype(float), atol=1e-12)
    np.testing.assert_allclose(out.intervals[2:, 1], (slopes + high).astype(float), atol=1e-12)
    assert out.intervals[2, 1] > out.own[2] + 0.5  # those two bound it where they are there


def test_a_solution_of_all_that_is_not_proved_is_refused(monkeypatch):
    svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])

    def wrong(*given, **options):
        path = trace_costs(*given, **options)
        return replace(path, pieces=replace(path.pieces, a0=0.9 * path.pieces.a0, a1=0.9 * path.pieces.a1))

    monkeypatch.setattr(one_out, "trace_costs", wrong)
    with pytest.raises(pc.DegeneratePathError, match="certificate fails"):
        pc.leave_one_out(svm, (1.0, 1.0))
