"""Paths: exact fixtures, two independent solvers, symmetries, special lines, and the Path object."""

from __future__ import annotations

import os
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf import certify
from paretoclf.problem.costs import Costs
from paretoclf.proof.points import judged_classifiers as judging

RAY = (0, 0), (3, 2)
FIVE = np.array([[2.0], [1.0], [0.0], [-1.0], [-3.0]]), np.array([1, 1, -1, -1, -1.0])
KERNELS = [None, pc.RBF(1.5)]
BOTH_KERNELS = pytest.mark.parametrize("kernel", KERNELS, ids=["linear", "rbf"])
TIMES = np.linspace(0.013, 0.987, 9)


@pytest.fixture
def svm(gaussians):
    return pc.TwoCSVM(*gaussians(30, 2, seed=5, positives=0.3), pc.RBF(1.0))


@pytest.fixture
def path(svm):
    return pc.trace(svm, (0.2, 2.0), (3.0, 0.3))


def same_values(one, other, times=TIMES, scale=1.0, other_times=None, rtol=1e-11):
    other_times = times if other_times is None else other_times
    np.testing.assert_allclose([one.value(t) for t in times], [scale * other.value(t) for t in other_times], rtol=rtol)


# ---- exact fixtures (spec 12b) -----------------------------------------------------------------------------------


def test_ray_of_five_points():
    path = pc.trace(pc.TwoCSVM(*FIVE), *RAY)
    knots = np.array(
        [
            (0, 0, 0),
            (6 / 85, 2 / 5, 1 / 5),
            (6 / 35, 2 / 5, 1 / 5),
            (2 / 7, 2 / 3, -1 / 3),
            (1 / 2, 2 / 3, -1 / 3),
            (3 / 4, 1, 0),
            (3 / 2, 1, 0),
            (3, 2, -1),
        ]
    )
    for t in np.union1d(knots[:, 0], np.linspace(0, 3, 50)):
        w, b = (np.interp(t, knots[:, 0], knots[:, k]) for k in (1, 2))
        at = min(t / 3, 1.0)
        assert path.slope(at)[0] == pytest.approx(w, abs=1e-14)
        assert path.intercept(at) == pytest.approx(b, abs=1e-14)
    for t in knots[:, 0] / 3:
        assert np.abs(path.breakpoints - t).min() < 1e-15
    assert path.worst_certificate.passes(1e-13)


def test_asymmetry_line_of_five_points():
    path = pc.trace(pc.TwoCSVM(*FIVE), (0, 2 / 3), (2 / 3, 0))
    eps = 1e-12
    expected = [
        (0, 0, -1),
        (1 / 6, 1 / 3, -1),
        (1 / 3 - eps, 2 / 3, -1),
        (1 / 3 + eps, 2 / 3, -1 / 3),
        (0.6, 2 / 3, -1 / 3),
        (2 / 3 - eps, 2 / 3, -1 / 3),
        (2 / 3 + eps, 2 / 3, 1 / 3),
        (3 / 4, 1 / 2, 1 / 2),
        (25 / 28, 1 / 2, 1 / 2),
        (1, 0, 1),
    ]
    for t, w, b in expected:
        assert path.slope(t)[0] == pytest.approx(w, abs=1e-10)
        assert path.intercept(t) == pytest.approx(b, abs=1e-10)
    for t, lo, hi in [(1 / 3, -1, -1 / 3), (2 / 3, -1 / 3, 1 / 3)]:
        assert path.at(t).classifier.b_interval == pytest.approx((lo, hi), abs=1e-9)
    assert path.worst_certificate.passes(1e-12)  # next to an end one class's caps are 3e-4


@pytest.mark.parametrize("line", [((0, 0), (1, 1)), ((0.1, 1), (1, 0.1)), ((0, 0.3), (0.2, 0.7)), ((1, 0), (0.1, 3))])
def test_two_points(line):
    path = pc.trace(pc.TwoCSVM([[1.0], [-1.0]], [1, -1]), *line)
    for t in TIMES:
        c = path.costs(t)
        w = 2 * min(0.5, c.C_plus, c.C_minus)
        assert path.slope(t)[0] == pytest.approx(w, abs=1e-14)
        if c.C_plus < min(c.C_minus, 0.5):
            assert path.intercept(t) == pytest.approx(w - 1, abs=1e-14)
        if c.C_minus < min(c.C_plus, 0.5):
            assert path.intercept(t) == pytest.approx(1 - w, abs=1e-14)


# ---- independent solvers -----------------------------------------------------------------------------------------


@BOTH_KERNELS
@pytest.mark.parametrize("line", [((0, 0), (4, 2)), ((0.05, 3), (3, 0.05)), ((2, 1), (0.1, 0.1))])
def test_against_cvxpy(gaussians, kernel, line):
    svm = pc.TwoCSVM(*gaussians(36, 3, seed=1, positives=0.3), kernel)
    path = pc.trace(svm, *line)
    agreement = pc.compare(path, svm, n=12)
    assert agreement.cvxpy_better <= 1e-9, agreement
    assert agreement.worst <= 1e-9, agreement


@BOTH_KERNELS
def test_against_a_sweep_with_weights(gaussians, kernel):
    X, y = gaussians(30, 2, seed=8, positives=0.6)
    svm = pc.TwoCSVM(X, y, kernel, sample_weight=np.random.default_rng(0).uniform(0.2, 3, 30))
    path = pc.trace(svm, (0.1, 1), (2, 0.2))
    costs = [path.costs(t) for t in TIMES]
    reference = pc.sweep(svm, C_plus=[c.C_plus for c in costs], C_minus=[c.C_minus for c in costs], progress=False)
    np.testing.assert_allclose([path.value(t) for t in TIMES], reference.values, rtol=1e-9)
    np.testing.assert_allclose([path.at(t).value for t in TIMES], [path.value(t) for t in TIMES], rtol=1e-11)
    if kernel is not None:  # the multipliers are unique
        np.testing.assert_allclose([path.alpha(t) for t in TIMES], [s.alpha for s in reference], atol=1e-6)


@BOTH_KERNELS
def test_against_libsvm(gaussians, kernel):
    X, y = gaussians(50, 3, seed=2, positives=0.3)
    svm = pc.TwoCSVM(X, y, kernel)
    path = pc.trace(svm, (0.1, 2), (3, 0.2))
    K = svm.gram.matrix
    for t in TIMES:
        c = path.costs(t)
        model = SVC(C=1.0, class_weight={1: c.C_plus, -1: c.C_minus}, kernel="precomputed", tol=1e-8).fit(K, y)
        coef = np.zeros(y.size)
        coef[model.support_] = model.dual_coef_[0]
        value = np.abs(coef).sum() - 0.5 * coef @ K @ coef
        assert path.value(t) == pytest.approx(value, rel=1e-9)
        solution = path.at(t)
        np.testing.assert_allclose(solution.classifier.training_scores, K @ coef, atol=1e-5)
        lo, hi = solution.classifier.b_interval
        assert lo - 1e-6 <= model.intercept_[0] <= hi + 1e-6


# ---- symmetries --------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.sampled_from(KERNELS))
def test_swapped_classes(seed, kernel):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 20))
    X, y = rng.normal(size=(n, 2)), np.where(np.arange(n) < rng.integers(1, n), 1.0, -1.0)
    start, stop = rng.random((2, 2)) * 3
    path = pc.trace(pc.TwoCSVM(X, y, kernel), start, stop)
    swapped = pc.trace(pc.TwoCSVM(X, -y, kernel), start[::-1], stop[::-1])
    same_values(path, swapped)
    for t in TIMES:
        if kernel is None:
            np.testing.assert_allclose(path.slope(t), -swapped.slope(t), atol=1e-9)
        else:
            np.testing.assert_allclose(path.alpha(t), swapped.alpha(t), atol=1e-9)
        lo, hi = swapped.at(t).classifier.b_interval
        assert path.at(t).classifier.b_interval == pytest.approx((-hi, -lo), abs=1e-8)


@BOTH_KERNELS
def test_order_of_rows(gaussians, kernel):
    X, y = gaussians(25, 2, seed=4)
    order = np.random.default_rng(0).permutation(25)
    path = pc.trace(pc.TwoCSVM(X, y, kernel), (0.1, 1), (2, 0.1))
    mixed = pc.trace(pc.TwoCSVM(X[order], y[order], kernel), (0.1, 1), (2, 0.1))
    same_values(path, mixed)
    np.testing.assert_allclose(path.scores(X)(TIMES), mixed.scores(X)(TIMES), atol=1e-10)


@BOTH_KERNELS
@pytest.mark.parametrize("line", [((0, 0), (3, 3)), ((0.2, 2), (2, 0.2))])
def test_a_duplicated_sample_is_a_doubled_weight(gaussians, kernel, line):
    X, y = gaussians(20, 2, seed=6)
    twice = np.array([0, 7, 15])
    weight = np.ones(20)
    weight[twice] = 2.0
    doubled = pc.trace(pc.TwoCSVM(X, y, kernel, sample_weight=weight), *line)
    repeated = pc.trace(pc.TwoCSVM(np.vstack([X, X[twice]]), np.append(y, y[twice]), kernel), *line)
    same_values(doubled, repeated)
    np.testing.assert_allclose(doubled.scores(X)(TIMES), repeated.scores(X)(TIMES), atol=1e-9)


@pytest.mark.parametrize("s", [1e-2, 3.0, 1e3])
def test_scaled_features(gaussians, s):
    X, y = gaussians(25, 3, seed=9)
    path = pc.trace(pc.TwoCSVM(X, y), (0.1, 1), (2, 0.1))
    scaled = pc.trace(pc.TwoCSVM(s * X, y), np.array((0.1, 1)) / s**2, np.array((2, 0.1)) / s**2)
    same_values(path, scaled, scale=s**2)
    np.testing.assert_allclose(path.scores(X)(TIMES), scaled.scores(s * X)(TIMES), atol=1e-9)


@BOTH_KERNELS
@pytest.mark.parametrize("line", [((0, 0), (3, 2)), ((0, 0), (1, 1)), ((0.1, 2), (2, 0.2)), ((0, 1), (1, 0))])
def test_reversed_line(gaussians, kernel, line):
    svm = pc.TwoCSVM(*gaussians(20, 2, seed=3), kernel)
    forth, back = pc.trace(svm, *line), pc.trace(svm, *line[::-1])
    same_values(forth, back, other_times=1 - TIMES)
    np.testing.assert_allclose(forth.scores(svm.X)(TIMES), back.scores(svm.X)(1 - TIMES), atol=1e-9)


@BOTH_KERNELS
def test_where_two_lines_cross_they_agree(gaussians, kernel):
    svm = pc.TwoCSVM(*gaussians(20, 2, seed=3), kernel)
    paths = [pc.trace(svm, *line) for line in (((0, 0), (2, 2)), ((0.5, 1.5), (1.5, 0.5)), ((1, 0), (1, 2)))]
    assert len({round(p.value(0.5), 10) for p in paths}) == 1
    for other in paths[1:]:
        np.testing.assert_allclose(paths[0].at(0.5).alpha, other.at(0.5).alpha, atol=1e-9)


# ---- special lines -----------------------------------------------------------------------------------------------


@BOTH_KERNELS
@pytest.mark.parametrize(
    "line", [((0, 0), (2, 1)), ((0, 1), (1, 1)), ((1, 0), (0, 2)), ((2, 0), (1, 1)), ((1, 1), (0, 0))]
)
def test_lines_that_touch_an_axis_or_the_origin(gaussians, kernel, line):
    svm = pc.TwoCSVM(*gaussians(20, 2, seed=3, positives=0.3), kernel)
    path = pc.trace(svm, *line)
    assert path.worst_certificate.passes(1e-8)
    for t, costs in ((0.0, line[0]), (1.0, line[1])):
        if min(costs) == 0:
            assert path.value(t) == pytest.approx(0.0, abs=1e-12)
            assert not path.alpha(t).any()


def test_zero_length_line(svm):
    path = pc.trace(svm, (1, 2), (1, 2))
    assert path.breakpoints.tolist() == [0.0, 1.0]
    assert path.worst_certificate.passes(1e-12)
    assert path.value(0.0) == path.value(0.7) == pytest.approx(svm.solve(C_plus=1, C_minus=2).value, rel=1e-10)


@pytest.mark.parametrize(
    ("line", "b"),
    [
        (((0, 1), (0, 5)), -1),
        (((1, 0), (3, 0)), 1),
        (((0, 0), (0, 2)), -1),
        (((0, 0), (0, 0)), 0),
        (((2, 0), (2, 0)), 1),
    ],
)
@BOTH_KERNELS
def test_lines_along_an_axis(gaussians, kernel, line, b):
    svm = pc.TwoCSVM(*gaussians(12, 2), kernel)
    path = pc.trace(svm, *line)
    for t in (0.3, 0.5, 1.0):
        assert path.value(t) == 0.0
        assert not path.alpha(t).any()
        assert path.intercept(t) == b
        np.testing.assert_array_equal(path.scores(svm.X)(t), b)
    assert not path.events
    assert path.worst_certificate.passes(1e-12)


# ---- the Path object ---------------------------------------------------------------------------------------------


@BOTH_KERNELS
def test_every_view_of_a_path_agrees(gaussians, kernel):
    X, y = gaussians(30, 2, seed=5, positives=0.3)
    svm = pc.TwoCSVM(X, y, kernel)
    path = pc.trace(svm, (0.1, 2), (2, 0.1))
    assert (np.diff(path.breakpoints) > 0).all()
    assert path.breakpoints[0] == 0.0
    assert path.breakpoints[-1] == 1.0
    new = np.random.default_rng(1).normal(size=(7, 2))
    scores = path.scores(new)
    for t in np.concatenate([np.random.default_rng(2).random(10), path.breakpoints]):
        t = float(t)
        solution = path.at(t)
        assert solution.source == "path"
        assert tuple(solution.costs) == tuple(path.costs(t))
        assert solution.value == pytest.approx(path.value(t), rel=1e-11)
        assert solution.dual_value == pytest.approx(path.value(t), rel=1e-11)
        np.testing.assert_array_equal(solution.alpha, path.alpha(t))
        np.testing.assert_allclose(scores(t), solution.classifier.decision_function(new), atol=1e-11)
        caps = path.caps(t)
        alpha, sets = path.alpha(t), path.sets(t)
        assert not alpha[sets == 0].any()
        np.testing.assert_array_equal(alpha[sets == 1], caps[sets == 1])
        assert ((alpha >= 0) & (alpha <= caps)).all()
        assert y @ alpha == pytest.approx(0.0, abs=1e-12)
        lo, hi = solution.classifier.b_interval
        assert lo <= solution.classifier.b <= hi
    np.testing.assert_allclose(scores(TIMES), np.stack([scores(t) for t in TIMES], axis=1), atol=0)
    assert len(path.certificates()) == path.certificate_points.size
    assert "30 samples" in repr(path)


@BOTH_KERNELS
@pytest.mark.parametrize("line", [((0, 0), (3, 2)), ((0.1, 2), (2, 0.1))])
def test_events_replay_the_sets(gaussians, kernel, line):
    svm = pc.TwoCSVM(*gaussians(25, 2, seed=5, positives=0.4), kernel)
    path = pc.trace(svm, *line)
    letters = np.array(["R", "L", "M"])
    state = letters[path.pieces.state]
    waiting = list(path.events)
    assert [e.t for e in waiting] == sorted(e.t for e in waiting)
    ends = path.breakpoints
    for j in range(ends.size - 1):
        while waiting and waiting[0].t <= ends[j]:
            event = waiting.pop(0)
            assert event.before == state[event.sample]
            state[event.sample] = event.after
        for t in (ends[j], 0.5 * (ends[j] + ends[j + 1])):
            np.testing.assert_array_equal(letters[path.sets(float(t))], state)
        assert path.n_margin[j] == (state == "M").sum()
    assert not waiting


@BOTH_KERNELS
@pytest.mark.parametrize("line", [((0, 0), (3, 2)), ((0.1, 2), (2, 0.1)), ((2, 0), (0.1, 3))])
def test_the_value_is_concave_and_its_derivative_is_the_weighted_slack(gaussians, kernel, line):
    X, y = gaussians(25, 2, seed=5, positives=0.4)
    weight = np.random.default_rng(3).uniform(0.5, 2, 25)
    path = pc.trace(pc.TwoCSVM(X, y, kernel, sample_weight=weight), *line)
    grid = np.linspace(0, 1, 60)
    value = np.array([path.value(t) for t in grid])
    assert (np.diff(value, 2) <= 1e-12 * value.max()).all()
    direction = np.where(y > 0, line[1][0] - line[0][0], line[1][1] - line[0][1])
    ends = path.breakpoints
    for t0, t1 in pairwise(ends):
        if t1 - t0 < 1e-4:
            continue
        t, h = 0.5 * (t0 + t1), 0.25 * (t1 - t0)
        slope = (path.value(t + h) - path.value(t - h)) / (2 * h)  # exact: the value is quadratic on a piece
        terms = weight * direction * path.at(t).xi
        assert slope == pytest.approx(terms.sum(), abs=1e-9 * (1 + np.abs(terms).sum()))


def test_values_and_slopes_are_continuous(path):
    ends = path.breakpoints[1:-1]
    for t in ends:
        assert path.value(np.nextafter(t, 0)) == pytest.approx(path.value(t), rel=1e-11)
        np.testing.assert_allclose(path.alpha(np.nextafter(t, 0)), path.alpha(t), atol=1e-9)


@pytest.mark.parametrize("t", [-1e-9, 1.0000001, np.nan, np.inf])
def test_t_outside_the_line(path, t):
    for view in (path.at, path.value, path.alpha, path.sets, path.intercept, path.costs, path.scores([[0.0, 0.0]])):
        with pytest.raises(pc.InputError, match="t must lie in"):
            view(t)


def test_slope_only_for_the_linear_kernel(path):
    with pytest.raises(pc.InputError, match="linear kernel and with low_rank only"):
        path.slope(0.5)


def test_a_limit_on_events_is_an_error_and_not_a_shorter_path(svm):
    with pytest.raises(pc.DegeneratePathError, match="more than 3 exchanges") as caught:
        pc.trace(svm, (0, 0), (5, 5), max_events=3)
    assert 0 <= caught.value.t < 1


@pytest.mark.parametrize("bad", [(-1, 1), (1, np.nan), (np.inf, 1), (1,), (1, 2, 3), 5, None, ("a", 1)])
@pytest.mark.parametrize("name", ["start", "stop"])
def test_bad_ends_name_the_argument(svm, name, bad):
    line = {"start": (0, 0), "stop": (1, 1), name: bad}
    with pytest.raises(pc.InputError, match=f"^{name}"):
        pc.trace(svm, **line)


# ---- files -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.5), pc.Polynomial(2)], ids=["linear", "rbf", "poly"])
def test_save_and_load(gaussians, tmp_path, kernel):
    X, y = gaussians(20, 2)
    path = pc.trace(pc.TwoCSVM(X, y, kernel, sample_weight=np.linspace(1, 2, 20)), (0.1, 1), (1, 0.2))
    path.save(tmp_path / "path")
    assert [f.name for f in tmp_path.iterdir()] == ["path.npz"]
    again = pc.load(tmp_path / "path.npz")
    assert repr(again) == repr(path)
    assert again.line == path.line
    assert again.events == path.events
    assert again.seconds == path.seconds
    np.testing.assert_array_equal(again.breakpoints, path.breakpoints)
    np.testing.assert_array_equal(again.sample_weight, path.sample_weight)
    np.testing.assert_array_equal(again.scores(X + 0.1)(TIMES), path.scores(X + 0.1)(TIMES))
    for t in TIMES:
        assert again.value(t) == path.value(t)
        np.testing.assert_array_equal(again.alpha(t), path.alpha(t))
    assert again.worst_certificate.passes(1e-8)


@pytest.mark.parametrize("where", ["numpy.savez_compressed", "os.replace"])
def test_a_failed_save_leaves_what_was_there(path, tmp_path, monkeypatch, where):
    (tmp_path / "old.npz").write_bytes(b"old")

    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(where, fail)
    for name in ("old.npz", "new.npz"):
        with pytest.raises(pc.InputError, match=rf"{name}: cannot be written \(disk full\)"):
            path.save(tmp_path / name)
    assert os.listdir(tmp_path) == ["old.npz"]
    assert (tmp_path / "old.npz").read_bytes() == b"old"


def test_save_into_a_missing_folder(path, tmp_path):
    with pytest.raises(
        pc.InputError, match=r"^file must lie in a folder that there is, got .*missing.path\.npz: there is"
    ):
        path.save(tmp_path / "missing" / "path.npz")
    assert not list(tmp_path.iterdir())


def _not_a_path(kind, file):
    if kind == "text":
        file.write_text("a,b\n1,2\n")
    elif kind == "other npz":
        np.savez(file, X=np.zeros(3))
    elif kind == "array":
        with open(file, "wb") as stream:
            np.save(stream, np.zeros(3))
    elif kind == "folder":
        file.mkdir()
    elif kind == "empty":
        file.write_bytes(b"")
    elif kind == "cut":
        np.savez(file, X=np.zeros((5, 5)))
        file.write_bytes(file.read_bytes()[:-100])


@pytest.mark.parametrize("kind", ["missing", "text", "other npz", "array", "folder", "empty", "cut"])
def test_load_of_something_else(tmp_path, kind):
    file = tmp_path / "thing.npz"
    _not_a_path(kind, file)
    with pytest.raises(pc.InputError, match=r"thing\.npz: (not a saved path|no such file)"):
        pc.load(file)


# ---- many points in one walk --------------------------------------------------------------------------------------


@BOTH_KERNELS
@pytest.mark.parametrize("ends", [((0, 0), (9, 9)), ((0, 2), (2, 0)), ((0, 0), (0, 1)), "samples"], ids=str)
def test_multipliers_and_scores_at_many_points_are_those_at_each(gaussians, kernel, ends):
    X, y = gaussians(30, 2, seed=5, positives=0.3)
    X, y = np.concatenate([X, X[:4]]), np.concatenate([y, -y[:4]])  # both labels on one point
    rng = np.random.default_rng(3)
    if ends == "samples":
        ends = (pc.SampleCosts(rng.uniform(0.1, 1.0, 34)), pc.SampleCosts(rng.uniform(0.1, 1.0, 34)))
    path = pc.trace(pc.TwoCSVM(X, y, kernel, sample_weight=rng.uniform(0.5, 2.0, 34)), *ends)
    points = path.certificate_points
    alpha, caps = path._multipliers(points)
    np.testing.assert_array_equal(alpha.T, [path.alpha(t) for t in points])
    np.testing.assert_array_equal(caps.T, [path.caps(t) for t in points])
    scores, new = path.scores(X[:5] + 0.3), 0.5 * (points[1:] + points[:-1])
    each = [path.at(t).classifier.decision_function(X[:5] + 0.3) for t in new]
    np.testing.assert_allclose(np.transpose(each), scores(new), rtol=1e-9, atol=1e-9)


@BOTH_KERNELS
@pytest.mark.parametrize("ends", [((0.1, 1.5), (1.5, 0.1)), ((0, 0), (2, 1)), ((0, 3), (3, 0))])
def test_a_point_is_what_its_parts_are_and_its_value_is_that_of_its_certificate(gaussians, kernel, ends):
    path = pc.trace(pc.TwoCSVM(*gaussians(40, 2, seed=3, positives=0.4), kernel), *ends)
    for t in (0.0, *path.certificate_points[3:-3:7].tolist(), 1.0):
        point, other = path.at(t), path.at(t)
        np.testing.assert_array_equal(point.alpha, path.alpha(t))
        np.testing.assert_array_equal(point.numbers["alpha"], point.alpha)
        assert point.classifier.b == path.intercept(t)
        assert tuple(point.costs) == tuple(path.costs(t))
        np.testing.assert_array_equal(point.classifier.caps, path.caps(t))
        if kernel is None:
            np.testing.assert_array_equal(point.classifier.w, path.slope(t))
        value = point.value  # before the certificate is there, and after it
        assert value == point.certificate.primal_value == point.value == other.certificate.primal_value
        assert value == pytest.approx(path.value(t), rel=1e-9, abs=1e-12)
        again = certify(path.y, path.caps(t), point.alpha, point.classifier.b, K=path.gram.matrix, psd=True)
        assert again.primal_value == pytest.approx(value, rel=1e-9, abs=1e-12)


@BOTH_KERNELS
def test_reading_a_point_states_its_costs_once_and_asks_no_judge_for_more_than_is_read(gaussians, kernel, monkeypatch):
    path = pc.trace(pc.TwoCSVM(*gaussians(40, 2, seed=3, positives=0.4), kernel), (0.1, 1.5), (1.5, 0.1))
    path.at(0.5)  # how steep the path is, is asked once
    made, judged, real = [], [], Costs.__post_init__
    monkeypatch.setattr(Costs, "__post_init__", lambda costs: made.append(costs) or real(costs))
    for name in ("certify_hinge", "judge_rule"):
        function = getattr(judging, name)
        monkeypatch.setattr(judging, name, lambda *given, f=function, n=name: judged.append(n) or f(*given))
    point = path.at(0.3)
    _ = point.alpha, point.classifier.b, point.value
    assert (len(made), judged) == (1, [])
    assert point.certificate is point.certificate
    assert judged == ["certify_hinge"]
    assert {"alpha", "xi", "b"} <= set(point.numbers)
    assert judged == ["certify_hinge", "judge_rule"]
    assert len(made) == 1
    copied = pickle.loads(pickle.dumps(point))
    assert copied.certificate == point.certificate
    assert pickle.loads(pickle.dumps(path.at(0.3))).value == point.value


def test_what_others_ask_of_a_path_is_answered_in_words():
    path = pc.trace(pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]), start=(0, 0), stop=(1, 1))
    with pytest.raises(pc.InputError, match=r"a path is asked by name: path\.at\(t\) is the optimum"):
        path(0.1)
    with pytest.raises(pc.InputError, match=r"path\.at\(path\.breakpoints\[k\]\) that at the k-th breakpoint"):
        path[0]
    with pytest.raises(AttributeError, match=r"path\.at\(t\)\.classifier\.predict\(X\) is that of one"):
        path.predict([[1.0]])
    with pytest.raises(AttributeError, match="object has no attribute 'nothing'"):
        path.nothing  # noqa: B018
    assert not hasattr(path, "predict")
