"""Tests of `paretoclf.roc.of_path`."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.plotting import RocDisplay
from paretoclf.problem.costs import CostLine, Costs
from paretoclf.roc.crossings import scores_at
from paretoclf.roc.curve import RocCurve
from paretoclf.roc.of_path import roc_of_path, roc_of_scores, symmetric_t
from paretoclf.roc.rules import PathRule
from paretoclf.roc.scores import PathScores
from tests.roc.test_curve import path_scores, random_labels, random_scores


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


def test_both_sees_the_states_between_breakpoints():
    # Separated by zero for t in (1/4, 3/4) only; no threshold separates at t = 0 or t = 1.
    scores = path_scores([0, 1], [[2], [0], [1], [-3]], [[0], [2], [-3], [1]])
    assert roc_of_scores(scores, [1, 1, -1, -1], "intercept", t=0.0).auc < 1
    assert roc_of_scores(scores, [1, 1, -1, -1], "both", n_grid=0).auc == 1


def test_both_sees_both_sides_of_a_jump_that_moves_one_fold_against_the_other():
    jumping = path_scores([0, 0.5, 1], [[-9, -9]], [[1, -9]])
    still = path_scores([0, 1], [[0.5]], [[0.5]])
    assert roc_of_scores([jumping, still], [[1], [-1]], "both", n_grid=0).auc == 1


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


def test_scores_that_differ_by_more_than_rounding_are_no_ties():
    tiny = path_scores([0, 1], [[1], [1 + 1e-12], [3e9]], [[1], [1 + 1e-12], [3e9]])
    assert len(roc_of_scores(tiny, [1, -1, 1], "intercept", t=0.0)) == 4


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


def test_any_two_labels_may_be_given_where_one_is_named_positive():
    """Beside counts by the labels that a path's own classifiers say."""
    data = pc.datasets.make_bimodal(40, rng=3)
    held, texts = data.X[::2], np.where(data.y[::2] > 0, "churn", "stays")
    svm = pc.TwoCSVM(data.X[1::2], data.y[1::2])
    path = pc.trace(svm, (0.2, 1.8), (1.8, 0.2), progress=False)
    counted = path.error_curve(held, texts, pos_label="churn")
    said = path.at(0.3).classifier.predict(held) > 0
    assert counted.counts(0.3) == (np.sum(said & (texts == "stays")), np.sum(~said & (texts == "churn")))
    area = roc_of_path(path, held, texts, t=0.3, pos_label="churn").auc
    assert area == pytest.approx(roc_auc_score(texts == "churn", path.at(0.3).classifier.decision_function(held)))
    reverse = path.error_curve(held, texts, pos_label="stays")
    assert reverse.n_plus == np.sum(texts == "stays")

    sweep = pc.sweep(svm, C_plus=[0.5, 1.0], C_minus=[1.5, 1.0])
    said = sweep.scores(held)[1] >= 0
    assert sweep.error_curve(held, texts, pos_label="churn").fnr[1] == np.mean(~said[texts == "churn"])
    for call in (path.error_curve, sweep.error_curve, partial(roc_of_path, path), partial(roc_of_path, sweep)):
        with pytest.raises(InputError, match=r"pos_label must be one of the labels of y, .*'churn'.*, got 'left'"):
            call(held, texts, pos_label="left")
