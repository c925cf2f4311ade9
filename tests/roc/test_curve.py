"""ROC curves against scikit-learn, brute force on a grid of t, and exhaustive searches."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.plotting import RocDisplay
from paretoclf.problem.costs import CostLine, Costs
from paretoclf.roc import of_path as of_path_module
from paretoclf.roc.crossings import crossings, scores_at
from paretoclf.roc.curve import RocCurve
from paretoclf.roc.of_path import roc_of_path, roc_of_scores, symmetric_t
from paretoclf.roc.rules import PathRule
from paretoclf.roc.scores import PathScores
from paretoclf.tuning import ExpectedCost, Minimax, NeymanPearson, NeymanPearsonScore


def path_scores(knots, start, end):
    return PathScores(np.array(knots, float), np.array(start, float), np.array(end, float))


def random_scores(rng, m, k, *, jumps=0.3, drift=1.0, whole=False):
    """Continuous piecewise affine scores with jumps common to all samples."""
    knots = np.concatenate([[0.0], np.sort(rng.random(k - 1)), [1.0]])
    draw = (lambda *size: rng.integers(-2, 3, size).astype(float)) if whole else (lambda *size: rng.normal(size=size))
    values = draw(m, k + 1)
    if not whole:
        values = values + drift * 3 * np.linspace(-1, 1, k + 1)
    jump = np.cumsum(np.where(rng.random(k) < jumps, draw(k), 0.0))
    return PathScores(knots, values[:, :-1] + jump, values[:, 1:] + jump)


def random_labels(rng, m):
    y = np.where(rng.random(m) < 0.4, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return y


def rates(scores, y):
    return np.mean(scores[y < 0] >= 0), np.mean(scores[y > 0] >= 0)


def rates_of_points(curve, folds, labels):
    """Rates of every point of a curve, evaluated afresh from what the curve says about its classifiers."""
    y = np.concatenate(labels)
    f = np.concatenate([scores_at(fold, curve.t, curve.swept) for fold in folds]) + curve.shift
    return np.array([rates(column, y) for column in f.T]).T


def states_on_grid(folds, labels, size=20001):
    """States seen on a fine grid of t and, at every breakpoint, of the share of the jump; without repetition."""
    y = np.concatenate(labels)
    knots = np.unique(np.concatenate([fold.t for fold in folds]))
    t = np.setdiff1d(np.linspace(0, 1, size) + 1e-7 * np.sqrt(2), knots)
    t = t[t < 1]
    inner = knots[1:-1]
    shares = np.linspace(0, 1, 401)[1:-1] + 1e-7
    t_all = np.concatenate([t, np.repeat(inner, len(shares))])
    s_all = np.concatenate([np.ones(len(t)), np.tile(shares, len(inner))])
    order = np.lexsort((s_all, t_all))
    f = np.concatenate([scores_at(fold, t_all[order], s_all[order]) for fold in folds])
    fp, tp = (f[y < 0] >= 0).sum(axis=0), (f[y > 0] >= 0).sum(axis=0)
    new = np.concatenate([[True], (fp[1:] != fp[:-1]) | (tp[1:] != tp[:-1])])
    return np.column_stack([fp[new], tp[new]])


def exhaustive_hull(points, n_minus, n_plus):
    """Vertices of the upper hull: points strictly above every chord, in fractions. O(n^3)."""
    points = {*points, (0, 0), (n_minus, n_plus)}
    highest = {}
    for x, y in points:
        highest[x] = max(y, highest.get(x, 0))
    vertices = {(0, 0), (n_minus, n_plus)}
    for x, y in highest.items():
        below = False
        for (a, ya), (b, yb) in combinations(sorted(points), 2):
            if a < x < b and ya + Fraction(yb - ya, b - a) * (x - a) >= y:
                below = True
        if not below and not (x == n_minus and y < n_plus):
            vertices.add((x, y))
    return sorted(vertices)


# --- Curves of scores ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", [False, True])
def test_intercept_curve_agrees_with_scikit_learn(ties):
    rng = np.random.default_rng(0)
    y = random_labels(rng, 200)
    scores = rng.normal(size=200) + y
    scores = np.round(scores) if ties else scores
    curve = roc_of_scores(scores, y)
    assert curve.auc == pytest.approx(roc_auc_score(y, scores), abs=1e-14)
    assert len(curve) == len(np.unique(scores)) + 1  # every threshold, and none that splits a tie
    for j in range(len(curve)):
        assert (curve.fpr[j], curve.tpr[j]) == rates(scores + curve.shift[j], y)


def test_intercept_curve_of_constant_scores_is_the_chance_line():
    curve = roc_of_scores([0.5, 0.5, 0.5], [1, -1, -1])
    assert curve.fpr.tolist() == [0, 1]
    assert curve.auc == 0.5


def test_auc_of_a_curve_that_runs_backwards_is_signed():
    there_and_back = RocCurve([0, 0.5, 1, 0.5, 1], [0, 1, 1, 1, 1], 2, 2)
    assert there_and_back.auc == RocCurve([0, 0.5, 1], [0, 1, 1], 2, 2).auc == 0.75


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"fpr": [0, 2]}, "fpr must lie in"),
        ({"fpr": [0, np.nan]}, "fpr must lie in"),
        ({"tpr": [0.3, 1]}, "whole number of 2 samples"),
        ({"tpr": [0, 0.5, 1]}, "tpr must have one value per point"),
        ({"t": [0.0]}, "t must have one value per point"),
        ({"fpr": [], "tpr": []}, "non-empty"),
        ({"n_plus": 0}, "n_plus must be at least 1"),
    ],
)
def test_bad_curves_are_refused(change, words):
    with pytest.raises(InputError, match=words):
        RocCurve(**{"fpr": [0, 1], "tpr": [0, 1], "n_plus": 2, "n_minus": 2, **change})


# --- Hull and selection ----------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5)), min_size=1, max_size=9))
def test_hull_is_the_exhaustive_one(points):
    fp, tp = np.array(points).T
    curve = RocCurve(fp / 6, tp / 5, 5, 6)
    hull = curve.hull()
    assert list(zip(*(c.tolist() for c in hull.counts), strict=True)) == exhaustive_hull(points, 6, 5)
    for j, original in enumerate(hull.index):
        if original < 0:
            assert (hull.fpr[j], hull.tpr[j], hull.shift[j]) in ((0, 0, -np.inf), (1, 1, np.inf))
        else:
            assert points.index((round(hull.fpr[j] * 6), round(hull.tpr[j] * 5))) == original
    again = hull.hull()
    assert (again.fpr.tolist(), again.tpr.tolist()) == (hull.fpr.tolist(), hull.tpr.tolist())


def test_hull_drops_collinear_points_exactly():
    thirds = np.arange(4) / 3  # 1/3 and 2/3 are not exact in binary
    assert len(RocCurve(thirds, thirds, 3, 3).hull()) == 2


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 5)), min_size=1, max_size=10),
    st.floats(0, 10),
    st.floats(0.1, 10),
    st.one_of(st.none(), st.floats(0.01, 0.99)),
)
def test_selection_is_the_brute_force_minimum(points, C_plus, C_minus, prior):
    fp, tp = np.array([*points, (0, 0), (7, 5)]).T
    p = 5 / 12 if prior is None else prior
    cost = p * C_plus * (1 - tp / 5) + (1 - p) * C_minus * fp / 7
    curve = RocCurve(fp / 7, tp / 5, 5, 7)
    chosen = curve.select(Costs(C_plus, C_minus), prior_plus=prior)
    assert len(chosen) in (1, 2)
    for point in chosen:
        assert point.cost == pytest.approx(cost.min(), abs=1e-11)
        assert point.cost == pytest.approx(cost[point.index], abs=1e-11)
        assert point.rates == (fp[point.index] / 7, 1 - tp[point.index] / 5)


def test_selection_returns_both_ends_of_an_edge_parallel_to_the_costs():
    curve = RocCurve([0, 0.2, 0.6, 1], [0, 0.6, 0.9, 1], n_plus=10, n_minus=10)
    # Slope of the middle edge: 0.3 / 0.4 = p_minus C_minus / (p_plus C_plus). 0.1 * 3 != 0.3 in binary.
    assert [point.index for point in curve.select((0.4, 0.3))] == [1, 2]
    assert [point.index for point in curve.select((0.4 * 7, 0.1 * 3 * 7))] == [1, 2]
    assert [point.index for point in curve.select((0.4, 0.3001))] == [1]
    assert [point.index for point in curve.select((0.4, 0.2999))] == [2]
    assert [point.index for point in curve.select((1.0, 1.0), prior_plus=4 / 7)] == [1, 2]
    assert [point.index for point in curve.select((1.0, 0.0))] == [3]  # only (1, 1) misses nobody
    assert [point.index for point in curve.select((0.0, 1.0))] == [0]


def test_selection_with_a_vertical_edge_and_free_misses_is_tied():
    curve = RocCurve([0, 0, 1], [0, 0.5, 1], 2, 2)
    assert [point.index for point in curve.select((0.0, 1.0))] == [0, 1]


@pytest.mark.parametrize(
    ("costs", "prior", "words"),
    [
        ((0.0, 0.0), None, "must not both be zero"),
        ((0.0, 1.0), 1.0, "must not both be zero"),
        ((1.0, -1.0), None, "C_minus"),
        ((1.0, 1.0), 1.5, "prior_plus"),
    ],
)
def test_bad_selections_are_refused(costs, prior, words):
    with pytest.raises(InputError, match=words):
        RocCurve([0, 1], [0, 1], 1, 1).select(costs, prior)


# --- Crossings -------------------------------------------------------------------------------------------------------


def found_of(scores):
    c = crossings(scores)
    order = np.lexsort((c.swept, c.t))
    return [(c.t[j], c.swept[j], bool(c.up[j])) for j in order]


@pytest.mark.parametrize(
    ("knots", "start", "end", "expected"),
    [
        ([0, 1], [[-1]], [[3]], [(0.25, 1, True)]),
        ([0, 1], [[3]], [[-1]], [(0.75, 1, False)]),
        ([0, 0.5, 1], [[-1, 1]], [[1, -3]], [(0.25, 1, True), (0.625, 1, False)]),  # there and back
        ([0, 0.5, 1], [[-1, 1]], [[-1, 1]], [(0.5, 0.5, True)]),  # in a jump
        ([0, 0.5, 1], [[-1, 3]], [[-1, 3]], [(0.5, 0.25, True)]),
        ([0, 0.5, 1], [[3, -1]], [[3, -1]], [(0.5, 0.75, False)]),
        ([0, 0.5, 1], [[-1, 0]], [[0, -1]], []),  # touches zero from below
        ([0, 0.5, 1], [[1, 0]], [[0, 1]], []),  # and from above
        ([0, 0.5, 1], [[-1, 0]], [[0, 1]], [(0.5, 1, True)]),  # passes through zero at a breakpoint
        ([0, 0.5, 1], [[1, 0]], [[0, -1]], [(0.5, 1, False)]),
        ([0, 0.5, 1], [[-1, 0]], [[-1, 1]], [(0.5, 1, True)]),  # a jump that ends at zero
        ([0, 0.5, 1], [[-1, 1]], [[0, 1]], [(0.5, 0, True)]),  # a jump that begins there
        ([0, 0.25, 0.5, 1], [[-1, 0, 0]], [[0, 0, -1]], [(0.25, 1, True), (0.5, 1, False)]),  # rests at zero: +1
        ([0, 1], [[0]], [[0]], []),
        ([0, 1], [[0]], [[-1]], []),  # -1 on all of (0, 1]
        ([0, 1], [[-1]], [[0]], []),  # +1 at t = 1 only
    ],
)
def test_crossings_of_one_score(knots, start, end, expected):
    assert found_of(path_scores(knots, start, end)) == expected


def test_first_labels_are_those_just_after_the_start():
    found = crossings(path_scores([0, 1], [[0], [0], [0], [1]], [[-1], [1], [0], [1]]))
    assert found.first.tolist() == [False, True, True, True]


def test_crossings_do_not_depend_on_the_block_size(monkeypatch):
    scores = random_scores(np.random.default_rng(3), 20, 40)
    whole = found_of(scores)
    monkeypatch.setattr("paretoclf.roc.crossings.BLOCK", 60)
    assert found_of(scores) == whole


# --- Varying the asymmetry -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n_folds", [1, 3])
def test_asymmetry_curve_is_what_a_fine_grid_sees(seed, n_folds):
    rng = np.random.default_rng(seed)
    folds = [random_scores(rng, 7, 5, drift=[1, -1][seed % 2]) for _ in range(n_folds)]
    labels = [random_labels(rng, 7) for _ in folds]
    curve = roc_of_scores(folds, labels, vary="asymmetry")
    seen = states_on_grid(folds, labels)
    states = np.column_stack(curve.counts)[np.isfinite(curve.shift)]
    repeated = np.concatenate([[False], (states[1:] == states[:-1]).all(axis=1)])
    states = states[~repeated]
    if seed % 2:
        seen = seen[::-1]
    # The grid may miss a state shorter than its step, never see one that the curve does not have, in this order.
    j = 0
    for state in seen:
        while j < len(states) and (states[j] != state).any():
            j += 1
        assert j < len(states), "the grid saw a state that the exact sequence does not have"
    assert len(seen) >= 0.9 * len(states)


@pytest.mark.parametrize("seed", range(8))
def test_every_point_is_the_classifier_that_its_labels_say(seed):
    rng = np.random.default_rng(seed)
    folds = [random_scores(rng, 9, 6, whole=seed % 2 == 1) for _ in range(1 + seed % 3)]
    labels = [random_labels(rng, 9) for _ in folds]
    for vary in ("intercept", "asymmetry", "both"):
        curve = roc_of_scores(folds, labels, vary, t=0.3, n_grid=20)
        assert np.array_equal(rates_of_points(curve, folds, labels), [curve.fpr, curve.tpr]), vary
        assert (curve.fpr[0], curve.tpr[0], curve.fpr[-1], curve.tpr[-1]) == (0, 0, 1, 1)


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


def test_asymmetry_curve_is_completed_where_the_path_stops_short():
    scores = path_scores([0, 1], [[1], [-1], [-1], [-1]], [[1], [1], [-1], [-1]])
    curve = roc_of_scores(scores, [1, -1, 1, -1], "asymmetry")
    assert list(zip(curve.fpr, curve.tpr, strict=True)) == [(0, 0), (0, 0.5), (0.5, 0.5), (1, 1)]
    assert curve.shift.tolist() == [-np.inf, 0, 0, np.inf]


def test_asymmetry_curve_of_a_path_without_crossings():
    curve = roc_of_scores(path_scores([0, 1], [[1], [-1]], [[2], [-2]]), [1, -1], "asymmetry")
    assert list(zip(curve.fpr, curve.tpr, strict=True)) == [(0, 0), (0, 1), (1, 1)]
    assert curve.auc == 1


def test_duplicates_cross_together():
    scores = path_scores([0, 1], [[-1.1], [-1.1], [-1.1]], [[2.3], [2.3], [2.3]])
    assert len(roc_of_scores(scores, [1, -1, 1], "asymmetry")) == 2


def test_a_score_may_cross_several_times():
    knots = np.linspace(0, 1, 6)
    zigzag = np.array([-1.0, 1, -1, 1, -1, 1])
    scores = PathScores(knots, np.array([zigzag[:-1], 0 * zigzag[:-1] + 1]), np.array([zigzag[1:], 0 * zigzag[1:] + 1]))
    curve = roc_of_scores(scores, [-1, 1], "asymmetry")
    assert curve.fpr.tolist() == [0, 0, 1, 0, 1, 0, 1]
    assert curve.auc == 1


# --- Varying both ----------------------------------------------------------------------------------------------------


def height(curve, u):
    """Height of a hull at u, at its vertical edge the upper end."""
    at_zero = curve.tpr[curve.fpr == 0].max()
    return np.where(u == 0, at_zero, np.interp(u, curve.fpr, curve.tpr))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n_folds", [1, 2])
def test_both_contains_the_other_two(seed, n_folds):
    rng = np.random.default_rng(100 + seed)
    folds = [random_scores(rng, 15, 1 + seed) for _ in range(n_folds)]
    labels = [random_labels(rng, 15) for _ in folds]
    both = roc_of_scores(folds, labels, "both", t=0.37, n_grid=0)
    for vary in ("intercept", "asymmetry"):
        other = roc_of_scores(folds, labels, vary, t=0.37)
        assert (height(both, other.fpr) >= other.tpr - 1e-15).all()
        assert both.auc >= other.hull().auc - 1e-15 >= other.auc - 2e-15


def test_neither_intercept_nor_asymmetry_is_always_better():
    rng = np.random.default_rng(5)
    better = set()
    for _ in range(20):
        scores, y = random_scores(rng, 20, 6), random_labels(rng, 20)
        a, b = (roc_of_scores(scores, y, vary, t=0.5).hull().auc for vary in ("intercept", "asymmetry"))
        better.add(np.sign(a - b))
    assert {-1, 1} <= better


@pytest.mark.parametrize("n_folds", [1, 2])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_both_is_the_hull_of_all_thresholds(n_folds, whole, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    folds = [random_scores(rng, 12, 5, whole=whole, jumps=1.0) for _ in range(n_folds)]
    labels = [random_labels(rng, 12) for _ in folds]
    y = np.concatenate(labels)
    curve = roc_of_scores(folds, labels, "both", n_grid=50)
    asymmetry = roc_of_scores(folds, labels, "asymmetry")
    points = set(zip(*(c.tolist() for c in asymmetry.counts), strict=True))
    positions = [(t, 1.0) for t in np.linspace(0, 1, 50)]
    positions += [(t, s) for fold in folds for t in fold.t for s in (0.0, 1.0)]
    for t, s in positions:
        f = np.concatenate([scores_at(fold, t, s)[:, 0] for fold in folds])
        for threshold in f:
            points.add((int(np.sum(f[y < 0] >= threshold)), int(np.sum(f[y > 0] >= threshold))))
    expected = exhaustive_hull(points, int(np.sum(y < 0)), int(np.sum(y > 0)))
    assert list(zip(*(c.tolist() for c in curve.counts), strict=True)) == expected
    monkeypatch.setattr(of_path_module, "BLOCK", 3 * len(y))
    blockwise = roc_of_scores(folds, labels, "both", n_grid=50)
    assert np.array_equal(blockwise.fpr, curve.fpr)
    assert np.array_equal(blockwise.tpr, curve.tpr)


def test_both_sees_the_states_between_breakpoints():
    # Separated by zero for t in (1/4, 3/4) only; no threshold separates at t = 0 or t = 1.
    scores = path_scores([0, 1], [[2], [0], [1], [-3]], [[0], [2], [-3], [1]])
    assert roc_of_scores(scores, [1, 1, -1, -1], "intercept", t=0.0).auc < 1
    assert roc_of_scores(scores, [1, 1, -1, -1], "both", n_grid=0).auc == 1


def test_both_sees_both_sides_of_a_jump_that_moves_one_fold_against_the_other():
    jumping = path_scores([0, 0.5, 1], [[-9, -9]], [[1, -9]])
    still = path_scores([0, 1], [[0.5]], [[0.5]])
    assert roc_of_scores([jumping, still], [[1], [-1]], "both", n_grid=0).auc == 1


# --- Paths and folds -------------------------------------------------------------------------------------------------


class Line:
    """A path of classifiers f(x) = x + b on a line of fixed total, b from -4 to 4."""

    def __init__(self, start=(0.0, 2.0), stop=(2.0, 0.0)):
        self.line = CostLine(Costs(*start), Costs(*stop))

    def scores(self, X):
        return PathScores(np.array([0.0, 1.0]), X - 4, X + 4)

    def costs(self, t):
        return self.line.at(t)


@pytest.mark.parametrize("vary", ["intercept", "asymmetry", "both"])
def test_with_one_slope_all_three_curves_agree(vary):
    rng = np.random.default_rng(1)
    y = random_labels(rng, 60)
    X = (np.clip(rng.normal(size=60) + y, -3.9, 3.9))[:, None]
    expected = roc_of_scores(X[:, 0], y)
    curve = roc_of_path(Line(), X, y, vary)
    assert curve.vary == vary
    if vary == "both":
        expected = expected.hull()
    assert np.array_equal(curve.fpr, expected.fpr)
    assert np.array_equal(curve.tpr, expected.tpr)


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [
        ((0.0, 2.0), (2.0, 0.0), 0.5),
        ((2.0, 0.0), (0.0, 2.0), 0.5),
        ((0.0, 3.0), (1.0, 2.0), 1.0),
        ((1.0, 2.0), (0.0, 3.0), 0.0),
        ((0.0, 0.0), (1.0, 3.0), 1.0),  # a ray: constant asymmetry
        ((1.0, 3.0), (0.0, 0.0), 0.0),  # the same backwards: no asymmetry at the origin
        ((0.0, 0.0), (1.0, 1.0), 1.0),
        ((1.0, 1.0), (2.0, 0.0), 0.0),
        ((0.0, 1.0), (3.0, 1.0), 1 / 3),
    ],
)
def test_default_slope_is_the_one_nearest_to_symmetric_costs(start, stop, expected):
    line = Line(start, stop)
    assert symmetric_t(line) == pytest.approx(expected, abs=1e-15)
    X, y = np.array([[0.0], [1.0]]), [-1, 1]
    assert (roc_of_path(line, X, y).t == symmetric_t(line)).all()


def test_pooling_adds_the_counts_of_the_folds_at_equal_shift():
    rng = np.random.default_rng(2)
    folds = [random_scores(rng, m, 4) for m in (5, 8)]
    labels = [random_labels(rng, m) for m in (5, 8)]
    pooled = roc_of_scores(folds, labels, "intercept", t=0.6)
    scores = np.concatenate([fold(0.6) for fold in folds])
    assert pooled.auc == pytest.approx(roc_auc_score(np.concatenate(labels), scores), abs=1e-14)
    one = roc_of_scores(folds[0], labels[0], "asymmetry")
    same = roc_of_scores([folds[0]], [labels[0]], "asymmetry")
    assert np.array_equal(one.t, same.t)


def test_a_fold_may_lack_a_class_but_not_all_of_them():
    fold = path_scores([0, 1], [[-1], [-2]], [[2], [1]])
    assert roc_of_scores([fold, fold], [[1, 1], [-1, -1]], "asymmetry").n_plus == 2
    with pytest.raises(InputError, match="both classes"):
        roc_of_scores([fold, fold], [[1, 1], [1, 1]], "asymmetry")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"vary": "slope"}, "vary must be"),
        ({"t": None}, "t is required"),
        ({"t": 1.5}, "t must lie in"),
        ({"y": [1, -1, 1]}, r"y must have shape \(2,\), got \(3,\)"),
        ({"y": [1, 0]}, "labels -1 and"),
        ({"scores": [], "y": []}, "one vector of labels"),
        ({"vary": "both", "n_grid": -1}, "n_grid"),
        (
            {"scores": [path_scores([0, 1], [[-1]], [[2]]), path_scores([0, 0.5], [[1]], [[2]])], "y": [[1], [-1]]},
            "scores must be those of paths over one range of t",
        ),
        (
            {"scores": [path_scores([0, 1], [[-1]], [[2]]), path_scores([0.1, 1], [[1]], [[2]])], "y": [[1], [-1]]},
            "scores must be those of paths over one range of t",
        ),
        ({"scores": [0.5, 1.0], "t": None, "vary": "asymmetry"}, 'scores must be PathScores for vary="asymmetry"'),
        ({"scores": [0.5, 1.0], "t": None, "vary": "both"}, 'scores must be PathScores for vary="both"'),
        ({"scores": [0.5, 1.0], "t": 0.5}, "scores must be PathScores for .* and a t, .* got list"),
    ],
)
def test_bad_arguments_are_refused(change, words):
    arguments = {
        "scores": path_scores([0, 1], [[-1], [-2]], [[2], [1]]),
        "y": [1, -1],
        "vary": "intercept",
        "t": 0.5,
        **change,
    }
    with pytest.raises(InputError, match=words):
        roc_of_scores(**arguments)


def test_the_area_is_a_ratio_of_whole_numbers():
    """Of every class size the area of a perfect separation is 1, and of other curves the fraction, rounded once."""
    for n_plus in range(1, 40):
        for n_minus in range(1, 40):
            curve = RocCurve([0, 0, 1], [0, 1, 1], n_plus=n_plus, n_minus=n_minus)
            assert curve.auc == 1.0
            assert curve.hull().auc == 1.0
    rng = np.random.default_rng(0)
    for _ in range(50):
        y, scores = np.where(np.arange(31) < rng.integers(1, 30), 1, -1), rng.integers(0, 9, 31).astype(float)
        pairs = scores[y > 0][:, None] - scores[y < 0]
        expected = Fraction(int(2 * (pairs > 0).sum() + (pairs == 0).sum()), 2 * pairs.size)
        assert roc_of_scores(scores, y).auc == float(expected)


def test_scores_at_sweeps_a_jump():
    scores = random_scores(np.random.default_rng(4), 3, 4, jumps=1.0)
    for j in (1, 2, 3):
        t = scores.t[j]
        at = scores_at(scores, t, np.array([0.0, 0.5, 1.0]))
        assert np.allclose(at, np.column_stack([scores.end[:, j - 1], at[:, 1], scores.start[:, j]]), atol=1e-14)
        assert np.allclose(at[:, 1], 0.5 * (at[:, 0] + at[:, 2]))
    between = np.array([0.1, 0.9])
    assert np.array_equal(scores_at(scores, between, 0.2), scores(between))


# --- Pictures --------------------------------------------------------------------------------------------------------


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    yield plt
    plt.close("all")


def test_plots_show_every_curve(pyplot):
    curve = roc_of_scores([0.1, 0.4, 0.4, 0.8], [-1, 1, -1, 1])
    alone = curve.plot(name="alone", color="k")
    assert isinstance(alone, RocDisplay)
    ax = alone.ax_
    assert ax.get_legend_handles_labels()[1] == ["chance", "alone (AUC 0.875)"]
    assert ax.lines[-1].get_color() == "k"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("false positive rate", "true positive rate")
    display = RocDisplay.from_curves(curve, other=curve, best=curve.hull()).plot(title="two")
    shown = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert shown == [
        "chance", "varying intercept (AUC 0.875)", "other (AUC 0.875)", "best (AUC 0.875, optimistic)"
    ]  # fmt: skip
    assert display.figure_ is display.ax_.figure
    assert len(display.ax_.lines) == 4
    ax = display.plot(hull=True).ax_
    assert len(ax.lines) == 6  # what was chosen already has no other envelope
    assert "upper envelopes (optimistic)" in ax.get_legend_handles_labels()[1]
    assert "2 positives" in repr(display)
    with pytest.raises(InputError, match="at least one curve"):
        RocDisplay({})


# --- Rounding is no ranking ------------------------------------------------------------------------------------------


def imbalanced(n=60, n_plus=12, d=2, seed=0):
    """Classes that overlap: next to the ends of an asymmetry line w = 0."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), np.where(np.arange(n) < n_plus, 1, -1), rng.normal(size=(200, d)), rng


@pytest.mark.parametrize(
    ("kernel", "total"), [(None, 2.0), (None, 1e6), ("precomputed", 2.0), ("precomputed", 1e6), (pc.Polynomial(2), 2.0)]
)
def test_where_the_slope_is_zero_every_score_is_a_tie(kernel, total):
    X, y, Z, rng = imbalanced()
    new = Z @ X.T if kernel == "precomputed" else Z
    path = pc.trace(pc.TwoCSVM(X @ X.T if kernel == "precomputed" else X, y, kernel), (0, total), (total, 0))
    z = random_labels(rng, len(Z))
    # Positives at their caps, their mean met by a mean of negatives: w = 0, and training scores are rounding.
    flat = [t for t in path.breakpoints if np.abs(path.gram.matvec(y * path.alpha(t))).max() < 1e-6]
    assert len(flat) > 5
    for t in flat[1:6]:
        curve = roc_of_path(path, new, z, "intercept", t=t)
        assert (len(curve), curve.auc) == (2, 0.5)
    assert len(np.unique(path.scores(new).start[:, 1])) == 1


def test_a_finer_grid_finds_nothing_where_the_slope_is_zero():
    X, y, Z, rng = imbalanced()
    path, z = pc.trace(pc.TwoCSVM(X, y), (0.01, 2.0), (0.02, 2.0)), random_labels(rng, len(Z))
    for n_grid in (0, 50, 400):
        assert roc_of_path(path, Z, z, "both", n_grid=n_grid).auc == 0.5


def test_along_a_nu_path_too():
    X, y, Z, rng = imbalanced(n_plus=30)
    path, z = pc.trace(pc.TwoNuSVM(X, y), nu=(0, None), asymmetry=0.5), random_labels(rng, len(Z))
    curve = roc_of_path(path, Z, z, "intercept", t=float(path.breakpoints[0]))
    assert (len(curve), curve.auc) == (2, 0.5)


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


def test_scores_that_differ_by_more_than_rounding_are_no_ties():
    tiny = path_scores([0, 1], [[1], [1 + 1e-12], [3e9]], [[1], [1 + 1e-12], [3e9]])
    assert len(roc_of_scores(tiny, [1, -1, 1], "intercept", t=0.0)) == 4


def random_curve(rng):
    """Points in any order, with repetitions, with the corners or without."""
    n_plus, n_minus, p = rng.integers(1, 7), rng.integers(1, 7), rng.integers(1, 12)
    fp, tp = rng.integers(0, n_minus + 1, p), rng.integers(0, n_plus + 1, p)
    return RocCurve(fp / n_minus, tp / n_plus, int(n_plus), int(n_minus))


def counts_with_corners(curve):
    fp, tp = curve.counts
    return [*zip(fp.tolist(), tp.tolist(), strict=True), (0, 0), (curve.n_minus, curve.n_plus)]


@given(st.integers(0, 2**32 - 1))
def test_operating_points_against_every_point(seed):
    rng = np.random.default_rng(seed)
    curve = random_curve(rng)
    n_plus, n_minus = curve.n_plus, curve.n_minus
    points = counts_with_corners(curve)
    worst = {(fp, tp): max(Fraction(fp, n_minus), 1 - Fraction(tp, n_plus)) for fp, tp in points}
    least = {p for p, value in worst.items() if value == min(worst.values())}
    efficient = {p for p in least if not any(q != p and q[0] <= p[0] and q[1] >= p[1] for q in least)}
    found = curve.minimax()
    assert {(round(p.fpr * n_minus), round(p.tpr * n_plus)) for p in found} == efficient
    assert len(found) == len(efficient)
    assert all(p.cost == float(min(worst.values())) for p in found)
    limit = rng.integers(0, n_minus + 1) / n_minus
    allowed = [(tp, -fp) for fp, tp in points if fp / n_minus <= limit]
    (point,) = curve.neyman_pearson(limit)
    assert (round(point.tpr * n_plus), -round(point.fpr * n_minus)) == max(allowed)
    for p in (*found, point):
        assert p.index < 0 or (curve.fpr[p.index], curve.tpr[p.index]) == (p.fpr, p.tpr)


@given(st.integers(0, 2**32 - 1))
def test_a_mixture_is_the_best_of_all_mixtures_of_two_points(seed):
    rng = np.random.default_rng(seed)
    curve = random_curve(rng)
    points = [(fp / curve.n_minus, tp / curve.n_plus) for fp, tp in counts_with_corners(curve)]
    rate = rng.choice([0.0, 1.0, rng.random(), points[0][0], points[0][1]])
    pairs = [(p, q) for p in points for q in points]
    for name, axis, best in (("fpr", 0, max), ("tpr", 1, min)):
        reached = []
        for p, q in pairs:
            if p[axis] == rate == q[axis]:
                reached += [p[1 - axis], q[1 - axis]]
            elif p[axis] <= rate <= q[axis] and p[axis] < q[axis]:
                share = (rate - p[axis]) / (q[axis] - p[axis])
                reached.append((1 - share) * p[1 - axis] + share * q[1 - axis])
        mixture = curve.at_rate(**{name: rate})
        assert getattr(mixture, name) == pytest.approx(rate, abs=1e-12)
        other = mixture.tpr if name == "fpr" else mixture.fpr
        assert other == pytest.approx(best(reached), abs=1e-12)
        opposite = curve.at_rate(**{{"fpr": "tnr", "tpr": "fnr"}[name]: 1 - rate})
        assert opposite.rates == pytest.approx(mixture.rates, abs=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_consistent_points_are_those_that_some_costs_make_best(seed):
    curve = random_curve(np.random.default_rng(seed))
    points = [(Fraction(fp, curve.n_minus), Fraction(tp, curve.n_plus)) for fp, tp in counts_with_corners(curve)]
    # The weights of a false negative at which two points cost the same, and those between them, are all that matter.
    at = {Fraction(0), Fraction(1)}
    for (a, b), (c, d) in combinations(set(points), 2):
        if (c - a) + (d - b) != 0 and 0 <= (g := (c - a) / ((c - a) + (d - b))) <= 1:
            at.add(g)
    best = set()
    for g in at:
        cost = [g * (1 - v) + (1 - g) * u for u, v in points]
        best |= {p for p, value in zip(points, cost, strict=True) if value == min(cost)}
    assert curve.consistent.tolist() == [p in best for p in points[:-2]]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "exactly one of tnr, tpr, fpr and fnr must be given, got none"),
        ({"fpr": 0.1, "tpr": 0.9}, "exactly one of tnr, tpr, fpr and fnr must be given, got tpr, fpr"),
        ({"fpr": 1.1}, r"fpr must lie in \[0, 1\], got 1.1"),
        ({"fnr": "a"}, "fnr must be a number, got 'a'"),
    ],
)
def test_a_rate_that_there_is_not(asked, said):
    with pytest.raises(InputError, match=said):
        RocCurve([0, 1], [0, 1], 2, 2).at_rate(**asked)


def test_a_point_of_every_curve_of_a_path_is_a_classifier_with_its_rates():
    rng = np.random.default_rng(3)
    y = np.repeat([-1.0, 1.0], [12, 18])
    X = rng.normal(size=(30, 2)) + 0.5 * y[:, None]
    Z, z = rng.normal(size=(40, 2)) + 0.5 * np.repeat([-1.0, 1.0], 20)[:, None], np.repeat([-1.0, 1.0], 20)
    path = pc.trace(pc.TwoCSVM(X, y), (0, 2), (2, 0))
    for vary in ("intercept", "asymmetry", "both"):
        curve = roc_of_path(path, Z, z, vary, n_grid=20)
        for point in (*curve.best((2.0, 1.0)), *curve.minimax(), *curve.best((0.0, 1.0)), *curve.best((1.0, 0.0))):
            rule = PathRule.of(path, point)
            assert rates(rule.decision_function(Z), z) == pytest.approx((point.fpr, point.tpr))
            if np.isfinite(point.shift) and point.swept == 1:
                assert np.allclose(Z @ rule.w + rule.b, rule.decision_function(Z))


def test_a_mixture_that_is_called_has_the_rates_it_promises():
    score = np.arange(20000) % 40
    y = np.where(score + np.arange(20000) % 7 > 22, 1, -1)
    curve = roc_of_scores(score, y)
    mixture = curve.at_rate(fpr=0.05)
    one, other = (pc.results.LinearRule([1.0], p.shift) for p in (mixture.first, mixture.second))
    labels = pc.results.RandomisedRule(one, other, mixture.share).predict(score[:, None].astype(float), rng=0)
    found = np.mean(labels[y < 0] > 0), np.mean(labels[y > 0] > 0)
    assert 0 < mixture.share < 1
    assert found == pytest.approx((mixture.fpr, mixture.tpr), abs=0.01)
    with pytest.raises(InputError, match="share must lie in"):
        pc.results.RandomisedRule(one, other, 1.5)


def test_lines_of_equal_cost_touch_the_curve_at_its_best_point():
    curve = RocCurve([0, 0.25, 0.5, 1], [0, 0.75, 1, 1], 4, 4)
    (point,) = curve.best((1.0, 2.0))
    ax = RocDisplay.from_curves(curve).plot(costs=(1.0, 2.0)).ax_
    (line,) = [each for each in ax.lines if str(each.get_label()).startswith("equal cost")]
    u, v = line.get_xydata().T
    assert np.allclose(0.5 * (1 - v) + 0.5 * 2 * u, point.cost)
    assert np.ptp(u) > 0


def test_costs_that_differ_by_one_sample_pair_are_no_tie():
    """1 / (n_plus n_minus) apart, which is less than any tolerance; in fractions they differ."""
    n_plus, n_minus = 2_000_000, 2_000_003
    alarms = pow(n_plus, -1, n_minus)  # alarms / n_minus - hits / n_plus = 1 / (n_plus n_minus)
    hits = (alarms * n_plus - 1) // n_minus
    assert Fraction(alarms, n_minus) - Fraction(hits, n_plus) == Fraction(1, n_plus * n_minus)
    curve = RocCurve([0, 0, alarms / n_minus, 1], [0, 0.2, 0.2 + hits / n_plus, 1], n_plus, n_minus)
    assert [point.index for point in curve.best((1.0, 1.0), 0.5)] == [1]


@given(st.integers(0, 2**32 - 1))
def test_any_criterion_against_every_point(seed):
    rng = np.random.default_rng(seed)
    curve = random_curve(rng)
    n_plus, n_minus = curve.n_plus, curve.n_minus
    points = {(Fraction(fp, n_minus), 1 - Fraction(tp, n_plus)) for fp, tp in counts_with_corners(curve)}
    alpha, prior = Fraction(int(rng.integers(1, 6)), 6), Fraction(int(rng.integers(1, 10)), 10)
    costs = [int(c) for c in rng.integers(1, 10, 2)]
    for criterion, objective in (
        (Minimax(), max),
        (
            NeymanPearson(float(alpha)) if alpha < 1 else Minimax(),
            (lambda u, v: v if u <= alpha else 9) if alpha < 1 else max,
        ),
        (
            NeymanPearsonScore(float(alpha * prior)),
            lambda u, v: max(u - alpha * prior, 0) / (alpha * prior) + v,
        ),
        (ExpectedCost(*costs, float(prior)), lambda u, v: prior * costs[0] * v + (1 - prior) * costs[1] * u),
    ):
        least = min(objective(*p) for p in points)
        ties = {p for p in points if objective(*p) == least}
        efficient = {p for p in ties if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in ties)}
        found = curve.best(criterion)
        assert {
            (Fraction(round(p.fpr * n_minus), n_minus), 1 - Fraction(round(p.tpr * n_plus), n_plus)) for p in found
        } == efficient
        assert all(p.cost == float(least) for p in found)
    with pytest.raises(InputError, match="prior_plus must be left out for Minimax"):
        curve.best(Minimax(), 0.5)
