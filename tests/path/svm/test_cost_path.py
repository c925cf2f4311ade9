"""Paths by way of a hub, costs per sample, units, and what a file keeps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedShuffleSplit

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.engine import tracker
from paretoclf.engine.tracker import CoreTracker
from paretoclf.path.svm import cost_path
from paretoclf.proof.points.judged_classifiers import make_solution
from tests.oracles.box_problems import careful_steps

KERNELS = pytest.mark.parametrize("kernel", [None, pc.RBF(1.5)], ids=["linear", "rbf"])
TIMES = np.linspace(0.013, 0.987, 9)
ACROSS = (0.1, 1.5), (1.5, 0.1)
ALL = np.arange(24)


def event_times(path):
    """Where sets change: the breakpoints but for the places where two stretches that were traced apart meet."""
    return np.unique([event.t for event in path.events])


def same(one, other):
    """Events, values and scores of two paths of the same samples."""
    assert [(e.sample, e.before, e.after) for e in one.events] == [(e.sample, e.before, e.after) for e in other.events]
    np.testing.assert_allclose(event_times(one), event_times(other), rtol=0, atol=1e-9)
    np.testing.assert_allclose([one.value(t) for t in TIMES], [other.value(t) for t in TIMES], rtol=1e-10)
    np.testing.assert_allclose(one.scores(one.gram.X)(TIMES), other.scores(one.gram.X)(TIMES), atol=1e-8)
    assert one.worst_certificate.passes(1e-9)


# ---- by way of a hub -----------------------------------------------------------------------------------------------


@KERNELS
@pytest.mark.parametrize(
    "line",
    [
        ((0.2, 0.2), (1.7, 1.1)),
        ((0.3, 2.5), (1.0, 3.0)),
        ((3, 2), (2, 0.5)),
        ((0, 0), (1, 2)),
        ((1, 0), (0.4, 1)),
        ((0, 2), (2, 0)),
        ((0.7, 0.7), (0.7, 0.7)),
        ((0.5, 1.1), (1.1, 0.5)),
        ((0, 1), (0, 3)),
    ],
    ids=["crossing", "beside", "beyond", "origin", "axis", "axes", "point", "along", "on an axis"],
)
def test_a_hub_changes_nothing(gaussians, kernel, line):
    svm = pc.TwoCSVM(*gaussians(30, 3, seed=1), kernel)
    hub = pc.trace(svm, *ACROSS)
    same(pc.trace(svm, *line, hub=hub), pc.trace(svm, *line))


@KERNELS
@pytest.mark.parametrize("ends", [((0, 0), (2, 3)), ((0, 1), (1, 0)), ((0, 1), (0, 2)), ((1, 1), (1, 1))])
def test_any_path_may_be_a_hub(gaussians, kernel, ends):
    svm = pc.TwoCSVM(*gaussians(30, 3, seed=2), kernel, sample_weight=np.linspace(0.5, 2, 30))
    hub, line = pc.trace(svm, *ends), ((0.3, 0.6), (1.5, 1.0))
    same(pc.trace(svm, *line, hub=hub), pc.trace(svm, *line))
    again = pc.TwoCSVM(svm.X.copy(), svm.y.copy(), kernel, sample_weight=svm.sample_weight.copy())
    same(pc.trace(again, *line, hub=hub), pc.trace(svm, *line))  # an equal problem is the same problem


@given(st.integers(0, 10**6), st.tuples(*[st.floats(0.05, 3.0)] * 8))
def test_hubs_of_random_lines(seed, costs):
    rng = np.random.default_rng(seed)
    svm = pc.TwoCSVM(rng.integers(-2, 3, size=(10, 2)).astype(float), np.where(np.arange(10) < 4, 1, -1))
    hub = pc.trace(svm, costs[:2], costs[2:4])
    one, other = (pc.trace(svm, costs[4:6], costs[6:], hub=h) for h in (hub, None))
    # Ties: the bases may differ, what is optimal may not.
    np.testing.assert_allclose([one.value(t) for t in TIMES], [other.value(t) for t in TIMES], rtol=1e-10)


def test_a_hub_of_another_problem_is_refused(gaussians):
    X, y = gaussians(20, 2)
    svm, twice = pc.TwoCSVM(X, y, pc.RBF(1.0)), np.where(np.arange(20) == 3, 2.0, 1.0)
    others = [
        pc.TwoCSVM(X, y, pc.RBF(2.0)),
        pc.TwoCSVM(X, y),
        pc.TwoCSVM(X + 1e-9, y, pc.RBF(1.0)),
        pc.TwoCSVM(X, y[::-1], pc.RBF(1.0)),
        pc.TwoCSVM(X, y, pc.RBF(1.0), sample_weight=twice),
        pc.TwoCSVM(X[1:], y[1:], pc.RBF(1.0)),
        pc.TwoCSVM(X, y, pc.RBF(1.0), low_rank=5),
    ]
    for other in others:
        with pytest.raises(pc.InputError, match="hub must be a path of the same samples, labels, kernel and weights"):
            pc.trace(svm, *ACROSS, hub=pc.trace(other, *ACROSS))


@KERNELS
@pytest.mark.parametrize("seed", range(4))
def test_a_hub_changes_nothing_where_costs_are_per_sample(gaussians, kernel, seed):
    """A path of two costs, one of costs per sample, a solution of the path and one of a solver; some costs are 0."""
    X, y = gaussians(24, 2, seed=seed)
    svm, rng = pc.TwoCSVM(X, y, kernel, sample_weight=np.linspace(0.5, 2, 24)), np.random.default_rng(seed)

    def costs():
        return pc.SampleCosts(np.where(rng.random(24) < 0.2, 0.0, rng.uniform(0.2, 2.0, size=24)))

    plain, own = pc.trace(svm, *ACROSS), pc.trace(svm, costs(), costs())
    solved = svm.solve(C_plus=0.7, C_minus=0.9, accuracy="reference")
    ends = costs(), costs()
    wanted = pc.trace(svm, *ends)
    for hub in (plain, own, plain.at(0.3), own.at(0.6), solved):
        for line, other in ((ends, wanted), (ACROSS, plain)):
            if hub is plain and other is plain:
                continue
            found = pc.trace(svm, *line, hub=hub)
            assert found.proof.passes()  # multipliers need not be unique in two dimensions; what they give is
            np.testing.assert_allclose([found.value(t) for t in TIMES], [other.value(t) for t in TIMES], rtol=1e-10)
            np.testing.assert_allclose(found.training_scores(ALL)(TIMES), other.training_scores(ALL)(TIMES), atol=1e-9)


def test_a_hub_is_where_a_line_sets_out(gaussians, monkeypatch):
    """The way up the ray is not taken."""
    svm = pc.TwoCSVM(*gaussians(24, 2, seed=7))
    path = pc.trace(svm, *ACROSS)
    solution, gone = path.at(0.4), pc.SampleCosts(np.where(np.arange(24) == path.basis(0.4)[1][0], 0.0, 1.0))

    def refuse(*_):
        raise AssertionError("the ray was followed")

    monkeypatch.setattr(cost_path.CostTracer, "_start_ray", refuse)
    for hub in (path, solution):
        assert pc.trace(svm, pc.SampleCosts(np.ones(24)), gone, hub=hub).proof.passes()


def test_what_is_no_hub_is_refused(gaussians):
    X, y = gaussians(20, 2)
    svm, other = pc.TwoCSVM(X, y), pc.TwoCSVM(X + 1.0, y)
    ends = pc.SampleCosts(np.ones(20)), pc.SampleCosts(np.linspace(1, 2, 20))
    with pytest.raises(pc.InputError, match="hub must be a solution of the same samples, labels, kernel and weights"):
        pc.trace(svm, *ends, hub=other.solve(C_plus=1.0, C_minus=1.0))
    rough = svm.solve(C_plus=1.0, C_minus=1.0, accuracy="reference")
    rule = replace(rough.classifier, alpha=rough.classifier.alpha * 0.9)
    with pytest.raises(pc.InputError, match="hub must be a proved solution"):
        pc.trace(svm, *ends, hub=make_solution(rule, rough.costs, source="path"))
    with pytest.raises(pc.InputError, match="hub must be a path of costs"):
        pc.trace(svm, *ends, hub=svm)


# ---- costs per sample ----------------------------------------------------------------------------------------------


def each(y, C_plus, C_minus):
    return pc.SampleCosts(np.where(y > 0, C_plus, C_minus))


@KERNELS
@pytest.mark.parametrize(
    "line", [ACROSS, ((0.5, 0.5), (2, 3)), ((0, 0), (3, 2)), ((0, 0), (1, 4)), ((0, 1), (1, 0)), ((0, 1), (0, 2))]
)
@pytest.mark.parametrize("mixed", [False, True])
def test_constant_in_each_class_it_is_a_line_of_the_cost_plane(gaussians, kernel, line, mixed):
    X, y = gaussians(30, 3, seed=4)
    svm = pc.TwoCSVM(X, y, kernel, sample_weight=np.linspace(0.5, 1.5, 30))
    ends = each(y, *line[0]), line[1] if mixed else each(y, *line[1])
    one, other = pc.trace(svm, *ends), pc.trace(svm, *line)
    np.testing.assert_allclose([one.value(t) for t in TIMES], [other.value(t) for t in TIMES], rtol=1e-10)
    for t in TIMES:
        np.testing.assert_allclose(one.caps(t), other.caps(t), rtol=1e-14)
        np.testing.assert_allclose(one.alpha(t), other.alpha(t), atol=1e-9)
    assert one.worst_certificate.passes(1e-9)


@KERNELS
@pytest.mark.parametrize("zeros", ["none", "start", "stop", "both"])
def test_costs_per_sample_against_cvxpy(gaussians, kernel, zeros):
    X, y = gaussians(24, 2, seed=5)
    rng = np.random.default_rng(6)
    start, stop = rng.uniform(0.1, 2, (2, 24))
    if zeros in ("start", "both"):
        start[rng.random(24) < 0.3] = 0.0
    if zeros in ("stop", "both"):
        stop[rng.random(24) < 0.3] = 0.0
    path = pc.trace(pc.TwoCSVM(X, y, kernel), pc.SampleCosts(start), pc.SampleCosts(stop))
    assert path.worst_certificate.passes(1e-9)
    for t in (0.0, 0.21, 0.5, 0.83, 1.0):
        caps = (1 - t) * start + t * stop
        np.testing.assert_allclose(path.costs(t).values, caps, rtol=1e-14)
        keep = caps > 0
        solution = pc.TwoCSVM(X[keep], y[keep], kernel, sample_weight=caps[keep]).solve(1.0, 1.0)
        assert path.value(t) == pytest.approx(solution.value, rel=1e-8)
        assert not path.alpha(t)[~keep].any()


def test_one_sample_out_of_all_and_back(gaussians):
    """Leaving a sample out, as its cost goes to zero."""
    X, y = gaussians(24, 2, seed=7)
    for i in (0, 11, 23):
        without = np.ones(24)
        without[i] = 0.0
        path = pc.trace(pc.TwoCSVM(X, y), pc.SampleCosts(np.ones(24)), pc.SampleCosts(without))
        back = pc.trace(pc.TwoCSVM(X, y), pc.SampleCosts(without), pc.SampleCosts(np.ones(24)))
        rest = np.arange(24) != i
        kept = pc.TwoCSVM(X[rest], y[rest]).solve(1.0, 1.0)
        assert path.value(0.0) == pytest.approx(pc.TwoCSVM(X, y).solve(1.0, 1.0).value, rel=1e-9)
        assert path.value(1.0) == pytest.approx(kept.value, rel=1e-9)
        np.testing.assert_allclose(path.at(1.0).classifier.w, kept.classifier.w, atol=1e-6)
        np.testing.assert_allclose([back.value(1 - t) for t in TIMES], [path.value(t) for t in TIMES], rtol=1e-10)


def test_a_sample_of_no_cost_all_along_is_not_there(gaussians):
    X, y = gaussians(24, 2, seed=8)
    start, stop, gone = np.linspace(0.2, 2, 24), np.linspace(2, 0.2, 24), np.arange(24) % 5 == 0
    start[gone] = stop[gone] = 0.0
    one = pc.trace(pc.TwoCSVM(X, y), pc.SampleCosts(start), pc.SampleCosts(stop))
    other = pc.trace(pc.TwoCSVM(X[~gone], y[~gone]), pc.SampleCosts(start[~gone]), pc.SampleCosts(stop[~gone]))
    np.testing.assert_allclose(event_times(one), event_times(other), rtol=0, atol=1e-9)
    for t in (0.0, *TIMES, 1.0):
        assert one.value(t) == pytest.approx(other.value(t), rel=1e-11)
        assert not one.alpha(t)[gone].any()
        np.testing.assert_allclose(one.alpha(t)[~gone], other.alpha(t), atol=1e-9)
    assert one.worst_certificate.passes(1e-9)


@pytest.mark.parametrize("end", ["start", "stop"])
@pytest.mark.parametrize("wrong", [np.ones(19), np.ones(21), np.ones(0), np.ones((20, 1))])
def test_costs_of_the_wrong_shape_are_refused(gaussians, wrong, end):
    line = {"start": (1, 1), "stop": (1, 1)}
    with pytest.raises(pc.InputError, match=r"costs of the samples|must give 20 samples their costs|got"):
        pc.trace(pc.TwoCSVM(*gaussians(20, 2)), **line | {end: pc.SampleCosts(wrong)})


@pytest.mark.parametrize("bad", [[1.0, -1.0], [1.0, np.nan], [np.inf, 1.0], ["a", "b"], [1.0, None]])
def test_costs_that_are_none_are_refused(bad):
    with pytest.raises(pc.InputError, match="costs of the samples"):
        pc.SampleCosts(bad)


@pytest.mark.parametrize("n", [2, 3, 20])
def test_save_and_load_costs_per_sample(gaussians, tmp_path, n):
    X, y = gaussians(n, 2, seed=9)
    rng = np.random.default_rng(n)
    path = pc.trace(pc.TwoCSVM(X, y), *(pc.SampleCosts(rng.uniform(0.5, 2, n)) for _ in range(2)))
    path.save(tmp_path / "path")
    again = pc.load(tmp_path / "path.npz")
    assert repr(again) == repr(path)
    for t in (0.0, *TIMES, 1.0):
        assert isinstance(again.costs(t), pc.SampleCosts)
        np.testing.assert_array_equal(again.costs(t).values, path.costs(t).values)
        np.testing.assert_array_equal(again.alpha(t), path.alpha(t))
        assert again.value(t) == path.value(t)
    assert again.worst_certificate.passes(1e-9)


# ---- units ---------------------------------------------------------------------------------------------------------


@KERNELS
@pytest.mark.parametrize("s", [1e-6, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize("line", [((0.1, 1), (2, 0.1)), ((0, 0), (2, 3)), ((0, 1), (1, 0))])
def test_other_units(gaussians, kernel, s, line):
    """Features times s, costs over s**2 (an RBF kernel has no units: its bandwidth times s)."""
    X, y = gaussians(25, 3, seed=9)
    c = 1.0 if kernel else s**2
    path = pc.trace(pc.TwoCSVM(X, y, kernel), *line)
    scaled = pc.trace(pc.TwoCSVM(s * X, y, kernel and pc.RBF(1.5 * s)), *(np.array(end) / c for end in line))
    assert scaled.breakpoints.size == path.breakpoints.size
    np.testing.assert_allclose(scaled.breakpoints, path.breakpoints, rtol=0, atol=1e-9)
    for t in TIMES:
        assert c * scaled.value(t) == pytest.approx(path.value(t), rel=1e-10)
        np.testing.assert_allclose(c * scaled.alpha(t), path.alpha(t), atol=1e-8)
        assert scaled.intercept(t) == pytest.approx(path.intercept(t), abs=1e-8)
    np.testing.assert_allclose(scaled.scores(s * X)(TIMES), path.scores(X)(TIMES), atol=1e-8)
    assert scaled.worst_certificate.passes(1e-9)


@KERNELS
def test_the_origin_is_exactly_zero(gaussians, kernel):
    svm = pc.TwoCSVM(*gaussians(20, 3, seed=3), kernel)
    weights = np.linspace(0.5, 2, 20)
    for stop in ((3, 2), (1, 1), (0, 2), pc.SampleCosts(weights)):
        for ends, t in ((((0, 0), stop), 0.0), ((stop, (0, 0)), 1.0)):
            path = pc.trace(svm, *ends)
            assert path.value(t) == 0.0
            assert not path.alpha(t).any()
            assert not path.caps(t).any()
            assert path.at(t).value == 0.0
            assert path.at(t).certificate.passes(1e-12)


# ---- files, and many features --------------------------------------------------------------------------------------


def sparse_problem(n=40, d=30, density=0.2, seed=0):
    X = sp.random_array((n, d), density=density, format="csr", rng=np.random.default_rng(seed))
    return X, np.where(np.arange(n) % 3 == 0, 1, -1)


@pytest.mark.parametrize("kind", ["sparse", "sparse rbf", "low rank", "low rank of sparse", "many", "many sparse"])
def test_save_and_load_keeps_every_view(gaussians, tmp_path, kind):
    X, y = sparse_problem() if "sparse" in kind else gaussians(30, 3, seed=4)
    kernel = pc.RBF(1.0) if "rbf" in kind or "low" in kind else None
    if "many" in kind:
        X, y = sparse_problem(d=700) if "sparse" in kind else gaussians(30, 600, seed=4)
    svm = pc.TwoCSVM(X, y, kernel, low_rank=12 if "low" in kind else None)
    path = pc.trace(svm, (0.1, 1), (1, 0.2))
    path.save(tmp_path / "path")
    again = pc.load(tmp_path / "path.npz")
    assert repr(again) == repr(path)
    assert again.events == path.events
    assert sp.issparse(again.gram.X) == sp.issparse(svm.X)
    if "low" in kind:
        np.testing.assert_array_equal(again.gram.pivots, svm.gram.pivots)
    np.testing.assert_array_equal(again.scores(X)(TIMES), path.scores(X)(TIMES))
    for t in (0.0, *TIMES, 1.0):
        one, other = again.at(t), path.at(t)
        assert one.value == pytest.approx(other.value, rel=1e-14)
        assert again.value(t) == path.value(t)
        assert one.certificate.passes(1e-9)
        np.testing.assert_array_equal(one.alpha, other.alpha)
        scores = one.classifier.decision_function(X)
        np.testing.assert_allclose(scores, other.classifier.decision_function(X), atol=1e-13)
        np.testing.assert_allclose(scores, again.scores(X)(t), atol=1e-9)
    same(pc.trace(svm, (0.1, 0.3), (1, 0.9), hub=again), pc.trace(svm, (0.1, 0.3), (1, 0.9)))  # a hub from a file


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("d", [512, 513, 700])
def test_w_of_many_features(d, dense):
    X, y = sparse_problem(d=d)
    X = X.toarray() if dense else X
    path = pc.trace(pc.TwoCSVM(X, y), (0.1, 1), (1, 0.2))
    assert (path.pieces.w is None) == (d > 512)
    for t in (0.0, *TIMES, 1.0):
        np.testing.assert_allclose(path.slope(t), X.T @ (y * path.alpha(t)), rtol=0, atol=1e-12)
        np.testing.assert_allclose(path.at(t).classifier.w, path.slope(t), rtol=0, atol=1e-14)
    scores = path.scores(X)(TIMES)
    expected = np.stack([X @ path.slope(t) + path.intercept(t) for t in TIMES], axis=1)
    np.testing.assert_allclose(scores, expected, atol=1e-11)


# ---- the fast road and the careful one -----------------------------------------------------------------------------


@st.composite
def small_problems(draw):
    """Continuous or tied samples, any of the kernels, weights or none; two lines in one draw."""
    n, d, seed = draw(st.integers(4, 14)), draw(st.integers(1, 4)), draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, d)).astype(float) if draw(st.booleans()) else rng.normal(size=(n, d))
    y = np.where(np.arange(n) < draw(st.integers(1, n - 1)), 1, -1)
    weight = rng.uniform(0.5, 2, n) if draw(st.booleans()) else None
    kernel = draw(st.sampled_from([None, pc.RBF(1.0), pc.Polynomial(2)]))
    cost = st.one_of(st.just(0.0), st.floats(0.01, 5.0))
    line = draw(st.tuples(st.tuples(cost, cost), st.tuples(cost, cost)))
    if draw(st.booleans()):
        line = tuple(pc.SampleCosts(rng.uniform(0, 2, n)) for _ in range(2))
    return pc.TwoCSVM(X, y, kernel, sample_weight=weight), line, rng.random(8)


@settings(max_examples=150)
@given(small_problems())
def test_both_roads_have_the_same_values(drawn):
    svm, line, times = drawn
    fast = pc.trace(svm, *line)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CoreTracker, "doubles", False)
        careful = pc.trace(svm, *line)
    for path in (fast, careful):
        assert path.worst_certificate.passes(1e-8)
    for t in times:
        assert fast.value(t) == pytest.approx(careful.value(t), rel=1e-10, abs=0)


@pytest.mark.parametrize("apart", [1e-4, 1e-3, 1e-2])
def test_near_copies_on_both_roads(apart):
    # Two samples next to each other in the margin set: squared pivots down to the square of their distance.
    data, rng = pc.datasets.make_gaussians(60, rng=0), np.random.default_rng(0)
    X = np.vstack([data.X, data.X[:20] + apart * rng.normal(size=(20, data.X.shape[1]))])
    svm = pc.TwoCSVM(X, np.append(data.y, data.y[:20]), pc.RBF(1.0))
    fast = pc.trace(svm, (0.0, 0.0), (10.0, 10.0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CoreTracker, "doubles", False)
        careful = pc.trace(svm, (0.0, 0.0), (10.0, 10.0))
    np.testing.assert_allclose(fast.breakpoints, careful.breakpoints, rtol=0, atol=1e-10)
    for t in np.linspace(0.05, 1.0, 20):
        np.testing.assert_allclose(fast.alpha(t), careful.alpha(t), rtol=0, atol=1e-8)
        assert fast.value(t) == pytest.approx(careful.value(t), rel=1e-13, abs=0)


def test_a_path_is_the_same_however_often_the_core_pauses(monkeypatch):
    # It looks at the keyboard every 50 ms; on a busy machine that is at other steps each time.
    data = pc.datasets.make_gaussians(200, rng=0)
    svm = pc.TwoCSVM(data.X, data.y, pc.RBF(6.0))
    found = []
    for turn in (100.0, 0.003, 0.001):
        monkeypatch.setattr(tracker, "_TURN", turn)
        found.append(pc.trace(svm, (0.0, 0.0), (1e4, 1e4), certify=False).pieces)
    for other in found[1:]:
        for name in ("t", "index", "a0", "a1", "b0", "value"):
            np.testing.assert_array_equal(getattr(other, name), getattr(found[0], name))


def test_sample_costs_do_not_follow_the_callers_array():
    given = np.ones(4)
    costs = pc.SampleCosts(given)
    given[:] = 5.0
    np.testing.assert_array_equal(costs.values, np.ones(4))


@pytest.mark.parametrize("values", [3.0, [], [[1.0]], [1j, 1.0], ["a"], None], ids=str)
def test_sample_costs_are_a_vector_of_numbers(values):
    with pytest.raises(InputError, match="costs of the samples must be a vector of real numbers"):
        pc.SampleCosts(values)


@pytest.mark.parametrize("total", [2.0, 20.0])
def test_shifts_of_targets_do_not_follow_a_line_into_an_axis(total):
    # What rounding leaves of a margin on the way, 6e-12 of it here, was all there was of it where the caps vanish.
    data = pc.datasets.load("ringnorm")
    outer = StratifiedShuffleSplit(4, train_size=0.7, random_state=0)
    for part, _ in outer.split(data.X, data.y):
        X = data.X[part]
        X, y = (X - X.mean(axis=0)) / X.std(axis=0), data.y[part]
        for inner, _ in StratifiedShuffleSplit(3, train_size=0.7, random_state=0).split(X, y):
            path = pc.trace(pc.TwoCSVM(X[inner], y[inner]), (0, total), (total, 0))
            last = path.pieces.t[-2]  # where the last stretch towards the axis begins
            assert path.intercept(last) == pytest.approx(1.0, abs=1e-11)  # w vanishes, and the positives have f >= 1


@pytest.mark.parametrize("kernel", [None, pc.RBF(np.sqrt(5.0))])
def test_a_ray_of_two_equal_classes_needs_no_care(kernel, monkeypatch):
    # Near the origin b is one of an interval: the margin set has two samples, whose multipliers reach a bound together
    # or are at their cap up to rounding. Every such step was a careful one.
    steps = careful_steps(monkeypatch)
    data = pc.datasets.make_gaussians(40, rng=1)
    path = pc.trace(pc.TwoCSVM(data.X, data.y, kernel), (0.0, 0.0), (10.0, 10.0))
    assert path.breakpoints.size > 50
    assert steps == [0]


@pytest.mark.parametrize("seed", [1, 2])
def test_where_w_stands_still_at_0_needs_no_care(seed, monkeypatch):
    # All positives are on their margin there, b = 1, for a third of the line, while multipliers come and go. What
    # rounding left of the margins of those that entered was all that w was made of, and kept one in six steps from
    # double.
    steps = careful_steps(monkeypatch)
    data = pc.datasets.make_gaussians(400, rng=seed, mean_plus=np.full(3, 0.22), mean_minus=np.full(3, -0.22))
    path = pc.trace(pc.TwoCSVM(data.X, data.y), (0.04, 1.96), (1.96, 0.04))
    for t in (0.75, 0.9):
        assert np.abs(path.slope(t)).max() < 1e-11
        assert path.intercept(t) == pytest.approx(1.0, abs=1e-11)
    assert path.breakpoints.size > 500
    assert steps[-1] < 0.02 * path.breakpoints.size


def test_a_cost_may_stand_in_place_of_t(gaussians):
    path = pc.trace(pc.TwoCSVM(*gaussians(n=20)), (0.1, 0.9), (0.9, 0.1))
    at = path.at(C_plus=0.3)
    assert at.costs.C_plus == pytest.approx(0.3, rel=1e-14)
    assert path.value(C_minus=0.7) == pytest.approx(at.value, rel=1e-12)
    assert path.at(t=0.5).value == path.at(0.5).value
    for asked, said in [
        ({"C_plus": 3.0}, "C_plus must lie between 0.1 and 0.9, got 3"),
        ({"C": 3.0}, "one of t, C_plus, C_minus must be given, got C"),
        ({}, "t must be a number, got None"),
        ({"t": 0.5, "C_plus": 0.3}, "one of t, C_plus, C_minus must be given, got t, C_plus"),
    ]:
        with pytest.raises(pc.InputError, match=said):
            path.at(**asked)
