"""Nested ROC curves: nothing that judges has chosen. Against brute force over weights, and on labels that are noise."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

import paretoclf as pc
from paretoclf.plotting import NestedRocDisplay
from paretoclf.roc.curve import RocCurve
from paretoclf.roc.empirical.nested import AlongPath, ByValidation, NestedPoint, nested_rocs, outer_folds, vertex_for
from paretoclf.roc.of_path import roc_of_scores
from paretoclf.roc.points import RocPoint

LINE = (0.04, 1.96), (1.96, 0.04)
ALL = ("intercept", "asymmetry", "both")


def two_classes(n=60, d=3, shift=0.8, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 5 < 2, 1.0, -1.0)
    return rng.normal(size=(n, d)) + shift * y[:, None] / np.sqrt(d), y


class Threshold:
    """A choice of the threshold of one score, by the training labels."""

    def __init__(self, score, y, train):
        self.score, self.train = score, train
        self.envelope = roc_of_scores(score[train], y[train]).hull()

    def positive(self, rows):
        assert not set(rows) & set(self.train) or len(self.train) == len(self.score)
        return self.score[rows, None] + self.envelope.shift >= 0


# --- The point of it -------------------------------------------------------------------------------------------------


def test_on_noise_the_area_is_one_half():
    chosen, optimistic = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(90, 2)), np.where(rng.random(90) < 0.5, 1, -1)
        found = pc.cross_validated_roc(pc.TwoCSVM(X, y), *LINE, folds=3, inner=2, repeats=1, n_grid=50, rng=seed)
        chosen.append(found.auc)
        path = pc.trace(pc.TwoCSVM(X[:45], y[:45]), *LINE)
        optimistic.append(pc.roc_of_path(path, X[45:], y[45:], "both", n_grid=50).auc)
    assert abs(np.mean(chosen) - 0.5) < 0.03
    assert np.mean(optimistic) > 0.6  # the envelope chosen on the labels that judge it, on the same noise


def test_along_a_given_path_too():
    chosen = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(240, 2)), np.where(rng.random(240) < 0.5, 1, -1)
        scores = pc.trace(pc.TwoCSVM(X[:40], y[:40]), *LINE).scores(X[40:])
        chosen.append(nested_rocs(y[40:], AlongPath(scores, y[40:], n_grid=50), repeats=1, rng=seed)["both"].auc)
    assert abs(np.mean(chosen) - 0.5) < 0.03


@pytest.mark.parametrize("vary", ["intercept", "asymmetry", "both"])
def test_labels_of_an_outer_fold_choose_nothing(vary):
    X, y = two_classes(n=40)

    def trained(labels):
        def train_on(train):
            assert set(train) <= set(allowed)
            path = pc.trace(pc.TwoCSVM(X[train], labels[train]), *LINE)
            return lambda rows: path.scores(X[rows])

        return train_on

    allowed, test, seed = outer_folds(y, 5, 1, 0)[0][0]
    changed = y.copy()
    changed[test] *= -1
    one, two = (ByValidation(trained(labels), labels, (vary,), 3, 0.5, 20) for labels in (y, changed))
    a, b = (each(allowed, seed)[vary] for each in (one, two))
    for name in ("fpr", "tpr", "t", "shift"):
        assert np.array_equal(getattr(a.envelope, name), getattr(b.envelope, name))
    assert np.array_equal(a.positive(test), b.positive(test))
    assert set(test).isdisjoint(allowed)


# --- Counting --------------------------------------------------------------------------------------------------------


def test_the_curve_is_what_brute_force_over_weights_finds():
    rng = np.random.default_rng(3)
    y = np.where(rng.random(90) < 0.4, 1.0, -1.0)
    score = np.round(rng.normal(size=90) + y, 1)
    found = nested_rocs(y, lambda train, seed: {"": Threshold(score, y, train)}, folds=4, repeats=2, rng=5)[""]
    for folds, curve in zip(outer_folds(y, 4, 2, 5), found.curves, strict=True):
        tried = []
        for train, test, _ in folds:  # every threshold of the training part: its rates there, its counts on the fold
            shifts = np.array([-np.inf, *np.sort(-score[train]), np.inf])
            label, there = score[train] + shifts[:, None] >= 0, score[test] + shifts[:, None] >= 0
            inside = label[:, y[train] < 0].mean(axis=1), label[:, y[train] > 0].mean(axis=1)
            tried.append((*inside, there[:, y[test] < 0].sum(axis=1), there[:, y[test] > 0].sum(axis=1)))
        seen = [(0, 0)]
        for g in np.linspace(0.0, 1.0, 2001)[1:-1] + 1e-6:
            fp = tp = 0
            for u, v, false, true in tried:
                best = np.argmin(np.round(g * (1 - v) + (1 - g) * u, 12))
                fp, tp = fp + int(false[best]), tp + int(true[best])
            if (fp, tp) != seen[-1]:
                seen.append((fp, tp))
        states = list(zip(*(c.tolist() for c in curve.counts), strict=True))
        missing = [state for state in seen if state not in states]
        assert missing == []
        assert len(seen) >= 0.7 * len(set(states))  # the grid passes over short intervals of g, and g = 0


def test_every_sample_is_judged_once_in_a_repeat():
    X, y = two_classes()
    found = pc.cross_validated_roc(pc.TwoCSVM(X, y), *LINE, repeats=2)
    for curve in found.curves:
        assert (curve.n_plus, curve.n_minus) == ((y > 0).sum(), (y < 0).sum())
        assert (curve.fpr[0], curve.tpr[0], curve.fpr[-1], curve.tpr[-1]) == (0, 0, 1, 1)
    assert found.curve.n_plus == 2 * (y > 0).sum()
    assert found.auc == pytest.approx(np.mean([np.trapezoid(c.tpr, c.fpr) for c in found.curves]))


def test_selection_adds_up_and_names_the_classifier_to_use():
    X, y = two_classes(seed=2)
    svm = pc.TwoCSVM(X, y)
    found = pc.cross_validated_roc(svm, *LINE, repeats=3)
    for costs, prior in (((5.0, 1.0), None), ((1.0, 1.0), 0.1), ((1.0, 8.0), 0.5)):
        point = found.select(costs, prior)
        p = np.mean(y > 0) if prior is None else prior
        assert point.cost == pytest.approx(p * costs[0] * (1 - point.tpr) + (1 - p) * costs[1] * point.fpr)
        for value, (low, high) in (
            (point.cost, point.cost_band), (point.fpr, point.fpr_band), (point.tpr, point.tpr_band)
        ):  # fmt: skip
            assert low <= value <= high
        assert point.rates == (point.fpr, 1 - point.tpr)
        f = pc.trace(svm, *LINE).scores(X)(point.chosen.t) + point.chosen.shift
        assert 0 < np.mean(f >= 0) < 1
    # The ends: free misses and free false alarms.
    assert found.select((0.0, 1.0)).cost == pytest.approx(found.select((0.0, 1.0)).fpr * np.mean(y < 0))
    assert found.select((1.0, 0.0)).chosen.tpr == 1.0


def test_more_costly_misses_give_more_alarms():
    X, y = two_classes(n=200, seed=4)
    found = pc.cross_validated_roc(pc.TwoCSVM(X, y), *LINE, "asymmetry", repeats=1)
    fpr = [found.select((c, 1.0)).fpr for c in (0.02, 0.5, 2.0, 50.0)]
    assert fpr[0] < fpr[1] < fpr[2] < fpr[3]


def test_one_label_for_all_where_that_is_best_whatever_the_path_does():
    # Next to the ends of the line w = 0 and one b for all: a threshold found there would be rounding elsewhere.
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), np.where(np.arange(60) < 15, 1, -1)
    found = pc.cross_validated_roc(pc.TwoCSVM(X, y), (0.004, 1.996), (1.996, 0.004), ALL, repeats=2)
    for nested in found.values():
        for fold in (fold for folds in nested.repeats for fold in folds):
            assert (fold.false_positives[0], fold.true_positives[0]) == (0, 0)
            assert (fold.false_positives[-1], fold.true_positives[-1]) == (fold.n_minus, fold.n_plus)


# --- Which folds, which kernels --------------------------------------------------------------------------------------


def test_kernels_transformers_and_weights():
    X, y = two_classes(n=40, seed=5)
    options = {"repeats": 1, "n_grid": 20, "folds": 3, "inner": 2}
    linear = pc.cross_validated_roc(pc.TwoCSVM(X, y), *LINE, **options)
    gram = pc.cross_validated_roc(pc.TwoCSVM(X @ X.T, y, "precomputed"), *LINE, **options)
    assert gram.areas == pytest.approx(linear.areas, abs=1e-12)
    scaled = pc.cross_validated_roc(pc.TwoCSVM(3 * X + 7, y), *LINE, transformer=StandardScaler(), **options)
    same = pc.cross_validated_roc(pc.TwoCSVM(X, y), *LINE, transformer=StandardScaler(), **options)
    assert scaled.areas == pytest.approx(same.areas, abs=1e-12)
    rank = pc.cross_validated_roc(pc.TwoCSVM(X, y, pc.RBF(2.0), low_rank=10), *LINE, **options)
    assert 0.4 < rank.auc <= 1
    with pytest.raises(pc.InputError, match="transformer must be left out"):
        pc.cross_validated_roc(pc.TwoCSVM(X @ X.T, y, "precomputed"), *LINE, transformer=StandardScaler())


def test_randomness_is_that_of_rng_and_nothing_else():
    X, y = two_classes(n=30)
    svm, options = pc.TwoCSVM(X, y), {"folds": 2, "inner": 2, "repeats": 2, "n_grid": 20}
    first = pc.cross_validated_roc(svm, *LINE, rng=7, **options)
    assert np.array_equal(pc.cross_validated_roc(svm, *LINE, rng=7, n_jobs=2, **options).areas, first.areas)
    assert not np.array_equal(pc.cross_validated_roc(svm, *LINE, rng=8, **options).areas, first.areas)
    drawn = [pc.cross_validated_roc(svm, *LINE, rng=np.random.default_rng(7), **options).areas for _ in range(2)]
    assert np.array_equal(*drawn)


def test_curves_that_share_their_paths_are_those_made_alone():
    X, y = two_classes(n=40)
    together = pc.cross_validated_roc(pc.TwoCSVM(X, y), *LINE, ALL, repeats=1)
    assert list(together) == ["intercept", "asymmetry", "both"]
    for vary, nested in together.items():
        alone = pc.cross_validated_roc(pc.TwoCSVM(X, y), *LINE, vary, repeats=1)
        assert np.array_equal(alone.curve.fpr, nested.curve.fpr)
        assert np.array_equal(alone.curve.tpr, nested.curve.tpr)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"vary": "slope"}, "vary must be"),
        ({"folds": 1}, "folds must be at least 2"),
        ({"folds": 17}, r"smaller class \(16\)"),
        ({"repeats": 0}, "repeats must be a whole number"),
        ({"n_grid": 1}, "n_grid must be at least 2"),
    ],
)
def test_bad_arguments_are_refused(change, words):
    X, y = two_classes(n=40)
    with pytest.raises(pc.InputError, match=words):
        pc.cross_validated_roc(pc.TwoCSVM(X, y), *LINE, **change)


def test_too_few_samples_to_validate_on_are_refused():
    X, y = two_classes(n=10)
    y[:] = -1
    y[:2] = 1
    with pytest.raises(pc.InputError, match="validation folds need 2 samples of each class, got 1 positives"):
        pc.cross_validated_roc(pc.TwoCSVM(X, y), *LINE, folds=2)


@pytest.mark.parametrize(("costs", "prior"), [((0.0, 0.0), None), ((-1.0, 1.0), None), ((1.0, 1.0), 2.0)])
def test_bad_selections_are_refused(costs, prior):
    score = np.arange(20.0)
    y = np.where(np.arange(20) % 3 == 0, -1.0, 1.0)
    found = nested_rocs(y, lambda train, seed: {"": Threshold(score, y, train)}, folds=2)[""]
    with pytest.raises(pc.InputError):
        found.select(costs, prior)


# --- What was chosen by looking says so ------------------------------------------------------------------------------


def test_upper_envelopes_say_that_they_are_optimistic():
    X, y = two_classes()
    path = pc.trace(pc.TwoCSVM(X[::2], y[::2]), *LINE)
    curves = {vary: pc.roc_of_path(path, X[1::2], y[1::2], vary) for vary in ("intercept", "asymmetry", "both")}
    assert [curve.chosen for curve in curves.values()] == [False, False, True]
    assert all(curve.hull().chosen for curve in curves.values())
    assert "chosen on these labels (optimistic)" in repr(curves["both"])
    assert not RocCurve([0, 1], [0, 1], 1, 1).chosen


def test_the_band_holds_the_mean_and_the_legend_tells_them_apart():
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y = two_classes()
    found = pc.cross_validated_roc(pc.TwoCSVM(X, y), *LINE, repeats=3)
    grid = np.linspace(0, 1, 50)
    lower, upper = found.band(grid)
    mean = found.tpr_at(grid).mean(axis=0)
    assert ((lower <= mean) & (mean <= upper)).all()
    assert (np.diff(lower) >= 0).all()
    assert upper[-1] == lower[-1] == 1.0
    path = pc.trace(pc.TwoCSVM(X, y), *LINE)
    envelope = pc.roc_of_path(path, X, y, "both")
    display = NestedRocDisplay.from_nested(found, envelope=envelope).plot(title="held out")
    shown = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert shown == [
        "chance", f"both (AUC {found.auc:.3f})", f"upper envelope (AUC {envelope.auc:.3f}, optimistic)"
    ]  # fmt: skip
    assert found.plot(display.ax_).figure_ is display.figure_
    with pytest.raises(pc.InputError, match="at least one curve"):
        NestedRocDisplay({})
    plt.close("all")


def test_a_chosen_classifier_is_printed_as_two_rates_t_and_its_shift():
    chosen = RocPoint(1 / 3, 2 / 3, 0.5, 0.123456789, 1.0, -0.25, 3)
    assert repr(chosen) == "RocPoint(fpr 0.3333, fnr 0.3333, t 0.123457, threshold 0.25)"
    point = NestedPoint(0.1, 0.75, 0.2, (0, 1), (0, 1), (0, 1), chosen)
    assert repr(point) == "NestedPoint(fpr 0.1000, fnr 0.2500, t 0.123457, threshold 0.25)"


def test_the_table_says_from_which_weight_on_which_rates_are_chosen():
    X, y = two_classes()
    found = pc.cross_validated_roc(pc.TwoCSVM(X, y), *LINE, repeats=2)
    rows = found.records()
    assert [*rows[0]] == ["repeat", "weight", "fpr", "tpr"]
    for number, curve in enumerate(found.curves):
        mine = [row for row in rows if row["repeat"] == number]
        assert [(row["fpr"], row["tpr"]) for row in mine] == [*zip(curve.fpr.tolist(), curve.tpr.tolist(), strict=True)]
        begins = [row["weight"] for row in mine] + [1.0]
        assert begins == sorted(begins)
        for row, end in zip(mine, begins[1:], strict=True):
            if end == row["weight"]:  # 0 or 1 alone, where one of the costs is 0
                continue
            g = 0.5 * (row["weight"] + end)  # a pair of costs, which picks that point
            fpr, tpr = found.judged(partial(vertex_for, weight=g))
            assert (fpr[number], tpr[number]) == (row["fpr"], row["tpr"])
