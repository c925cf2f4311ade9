"""Tests of `paretoclf.path.svm_lines.warm_start`: nearest points by brute force, and bases by their conditions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.engine.sets import LEFT, MARGIN, OUT, RIGHT
from paretoclf.path.svm_lines import warm_start
from paretoclf.path.svm_lines.stages import BasisAt
from paretoclf.path.svm_lines.warm_start import crossing, warm_start_of
from paretoclf.problem.costs import CostLine, Costs
from paretoclf.problem.lines import LineOfCosts
from paretoclf.proof.points.judged_classifiers import make_solution

Y = np.where(np.arange(16) < 7, 1.0, -1.0)
X = np.random.default_rng(0).normal(size=(16, 2)) + 0.5 * Y[:, None]
SVM = pc.TwoCSVM(X, Y, sample_weight=np.linspace(0.5, 2.0, 16))
ACROSS = (0.5, 1.5), (1.5, 0.5)
GRID = np.linspace(0, 1, 201)


@pytest.fixture(scope="module")
def across():
    return pc.trace(SVM, *ACROSS)


@pytest.fixture(scope="module")
def solved():
    return SVM.solve(C_plus=1.0, C_minus=0.75)


# ---- nearest points --------------------------------------------------------------------------------------------------


def distances(p, q, r, s):
    """Distance of the two segments at each pair of a grid."""
    one, other = (a + GRID[:, None] * (b - a) for a, b in ((p, q), (r, s)))
    return np.linalg.norm(one[:, None] - other[None], axis=2)


@pytest.mark.parametrize("d", [2, 3, 5])
@pytest.mark.parametrize("seed", range(12))
def test_nearest_points_are_those_of_a_grid(d, seed):
    rng = np.random.default_rng(seed)
    p, q, r, s = rng.integers(-3, 4, (4, d)).astype(float)
    if seed % 4 == 0:
        s = r + (q - p) * rng.integers(1, 3)  # parallel
    if seed % 4 == 1:
        q = p + 3.0 * (rng.random(d) < 0.5)
    x, z = warm_start._nearest_points(p, q, r, s)
    assert 0.0 <= x <= 1.0
    assert 0.0 <= z <= 1.0
    found = np.linalg.norm(p + x * (q - p) - r - z * (s - r))
    least = distances(p, q, r, s).min()
    assert found <= least + 1e-12
    assert found >= least - 0.01 * (np.linalg.norm(q - p) + np.linalg.norm(s - r))


def test_two_segments_that_cross_do_so_there():
    rng = np.random.default_rng(1)
    for _ in range(20):
        meet, U, V = rng.normal(size=(3, 2))
        x, z = rng.uniform(0, 1, 2)
        p, r = meet - x * U, meet - z * V
        assert warm_start._nearest_points(p, p + U, r, r + V) == pytest.approx((x, z), abs=1e-9)
    # Nearly parallel, and still two lines.
    p, q, r, s = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, -1e-6], [1.0, 3e-6]])
    assert warm_start._nearest_points(p, q, r, s) == pytest.approx((0.25, 0.25), rel=1e-3)
    line, other = CostLine(Costs(0, 1), Costs(2, 1)), CostLine(Costs(0.5, 0), Costs(0.5, 4))
    assert crossing(line, other) == pytest.approx((0.25, 0.25))


def test_corners_of_segments_count_as_theirs():
    p, q, r, s = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 2.0]])
    assert warm_start._nearest_points(p, q, r, s) == (1.0, 0.0)
    assert warm_start._nearest_points(q, p, s, r) == (0.0, 1.0)


def test_a_segment_without_length_is_a_point():
    p = np.array([0.25, 1.0])
    assert warm_start._nearest(p, np.zeros(2), np.array([1.0, 0.0])) == 0.25
    assert warm_start._nearest(p, np.zeros(2), np.array([4.0, 0.0])) == 0.0625
    assert warm_start._nearest(p, np.array([1.0, 0.0]), np.array([1.0, 0.0])) == 0.0
    assert warm_start._nearest(p, np.zeros(2), np.array([0.1, 0.0])) == 1.0
    assert warm_start._nearest(p, np.zeros(2), np.zeros(2)) == 0.0
    assert warm_start._nearest(np.zeros(2), p, np.array([0.1, 0.1])) == 0.0
    assert warm_start._nearest_points(p, p, np.zeros(2), np.array([1.0, 0.0]))[1] == 0.25


# ---- bases -----------------------------------------------------------------------------------------------------------


def line_of(start, stop, svm=SVM):
    return LineOfCosts.of(svm, start, stop)


def is_optimal(start, atol=1e-7):
    """Hold a basis against the margins of Clarabel's solution at its caps, where all samples have one."""
    here = pc.TwoCSVM(X, Y, sample_weight=start.caps)
    rule = here.solve(C_plus=1.0, C_minus=1.0).classifier
    margins = Y * (rule.training_scores + rule.b_at_origin)
    assert (margins[start.state == LEFT] <= 1 + atol).all()
    assert (margins[start.state == RIGHT] >= 1 - atol).all()
    np.testing.assert_array_equal(np.sort(start.margin), np.flatnonzero(start.state == MARGIN))
    np.testing.assert_allclose(margins[start.margin], 1.0, atol=atol)
    assert not (start.state == OUT).any()


def test_a_basis_is_taken_as_it_is():
    state = np.full(16, LEFT, dtype=np.int8)
    line, margin = line_of((0.0, 1.0), (2.0, 3.0)), np.array([3])
    found = warm_start_of(BasisAt(0.25, state, margin), line)
    np.testing.assert_allclose(found.caps, SVM.sample_weight * np.where(Y > 0, 0.5, 1.5))
    assert (found.t, found.state is state, found.margin is margin) == (0.25, True, True)


@pytest.mark.parametrize("end", [(0.0, 1.0), (1.0, 0.0)])
def test_where_a_class_has_no_cost_no_line_is_joined(end):
    """The two lines come closest at that end, which is the first of both."""
    path = pc.trace(SVM, end, (1.0, 1.0))
    line = line_of(end, (2.0, 2.0) if end[0] else (0.1, 3.0))
    assert warm_start_of(path, line) is None


def test_a_path_is_joined_where_the_two_lines_of_costs_cross(across):
    """From (0.2, 0.4) to (1.4, 1.6) meets C_plus + C_minus = 2 at (0.9, 1.1)."""
    found = warm_start_of(across, line_of((0.2, 0.4), (1.4, 1.6)))
    assert found.t == pytest.approx(0.7 / 1.2)
    np.testing.assert_allclose(found.caps, SVM.sample_weight * np.where(Y > 0, 0.9, 1.1))
    is_optimal(found)


def test_costs_per_sample_are_joined_where_their_caps_are_nearest(across):
    rng = np.random.default_rng(4)
    start, stop = rng.uniform(0.2, 2.0, (2, 16))
    ours = line_of(pc.SampleCosts(start), pc.SampleCosts(stop))
    found = warm_start_of(across, ours)
    one, other = (a + GRID[:, None] * (b - a) for a, b in (ours.caps, (across.caps(0.0), across.caps(1.0))))
    least = np.linalg.norm(one[:, None] - other[None], axis=2)
    at = np.unravel_index(least.argmin(), least.shape)
    assert found.t == pytest.approx(GRID[at[0]], abs=0.01)
    np.testing.assert_allclose(found.caps, other[at[1]], atol=0.03)
    is_optimal(found)
    # Their weights are their own: those of the path need not be these.
    plain = pc.TwoCSVM(X, Y)
    again = warm_start_of(across, line_of(pc.SampleCosts(start * SVM.sample_weight), pc.SampleCosts(stop), plain))
    assert again is not None
    with pytest.raises(pc.InputError, match="a path of the same samples, labels, kernel and weights"):
        warm_start_of(across, line_of(*ACROSS, plain))


def test_a_solution_is_joined_where_its_caps_are_nearest(solved):
    """The foot of (1, 0.75) on a line of constant C_minus is where C_plus is 1."""
    found = warm_start_of(solved, line_of((0.0, 1.0), (2.0, 1.0)))
    assert found.t == pytest.approx(0.5)
    np.testing.assert_array_equal(found.caps, solved.classifier.caps)
    assert found.state.dtype == np.int8
    is_optimal(found)


def test_of_a_solution_without_a_margin_set_the_nearest_holds_the_intercept(solved, monkeypatch):
    apart = np.arange(16) % 2 == 0
    monkeypatch.setattr(warm_start, "sides", lambda *_: (apart, ~apart))
    found = warm_start_of(solved, line_of(*ACROSS))
    rule = solved.classifier
    distance = np.abs(Y * (rule.decision_function(X)) - 1.0)
    assert found.margin.tolist() == [distance.argmin()]
    expected = np.where(apart, LEFT, RIGHT)
    expected[distance.argmin()] = MARGIN
    np.testing.assert_array_equal(found.state, expected)


@pytest.mark.parametrize("kind", ["path", "solution"])
def test_samples_without_a_cap_are_where_they_would_be(kind):
    """With a small cap in place of none, the optimum is nearly the same."""
    cost = np.where(np.arange(16) % 5 == 2, 0.0, 1.0)
    start = pc.SampleCosts(cost), pc.SampleCosts(cost * np.linspace(1, 2, 16))
    path = pc.trace(SVM, *start)
    found = warm_start_of(path if kind == "path" else path.at(0.0), line_of(start[0], pc.SampleCosts(np.ones(16))))
    np.testing.assert_array_equal(found.caps == 0.0, cost == 0.0)
    assert {LEFT, RIGHT} == set(found.state[cost == 0.0].tolist())
    assert found.t == 0.0
    is_optimal(replace(found, caps=np.maximum(found.caps, 1e-9)), atol=1e-5)
    assert found.state.dtype == np.int8


def test_sets_of_samples_with_caps_are_left_alone():
    state = np.array([OUT, LEFT, MARGIN], dtype=np.int8)
    asked = []
    for caps in (np.ones(3), np.array([1.0, 1.0, 0.0])):  # one on its margin stays there
        assert warm_start._everywhere(state, caps, lambda: asked.append(1)) is state
    assert not asked


def test_another_problem_is_refused(across, solved):
    same = pc.TwoCSVM(X.copy(), Y.copy(), sample_weight=SVM.sample_weight.copy())
    for hub in (across, solved):
        assert warm_start_of(hub, line_of(*ACROSS, same)) is not None
    weights = SVM.sample_weight
    others = [
        pc.TwoCSVM(X + 1e-9, Y, sample_weight=weights),
        pc.TwoCSVM(X, -Y, sample_weight=weights),
        pc.TwoCSVM(X, Y, pc.RBF(1.0), sample_weight=weights),
        pc.TwoCSVM(X[1:], Y[1:], sample_weight=weights[1:]),
    ]
    for other in others:
        for hub, kind in ((across, "path"), (solved, "solution")):
            with pytest.raises(pc.InputError, match=f"a {kind} of the same samples, labels, kernel and weights"):
                warm_start_of(hub, line_of(*ACROSS, other))
    kernel = pc.TwoCSVM(X, Y, pc.RBF(1.0), sample_weight=weights)
    fewer = pc.TwoCSVM(X, Y, pc.RBF(1.0), sample_weight=weights, low_rank=5)
    assert warm_start._same_problem(kernel.gram, Y, line_of(*ACROSS, kernel))
    assert not warm_start._same_problem(fewer.gram, Y, line_of(*ACROSS, kernel))


def test_what_is_no_path_or_proved_solution_is_refused(solved):
    with pytest.raises(pc.InputError, match="hub must be a path of costs"):
        warm_start_of(SVM, line_of(*ACROSS))
    quantile = pc.QuantileSVM(X, Y).solve(tau=0.5, lam=0.1)
    with pytest.raises(pc.InputError, match=r"hub must be a solution of the 2C-SVM, got one of"):
        warm_start_of(quantile, line_of(*ACROSS))
    rule = solved.classifier
    rough = make_solution(replace(rule, alpha=0.9 * rule.alpha), solved.costs, source="path")
    with pytest.raises(pc.InputError, match="hub must be a proved solution"):
        warm_start_of(rough, line_of(*ACROSS))
