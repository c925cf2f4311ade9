"""Exploration of the cost plane against paths traced afresh, sums of folds, and every cost ratio."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold

import paretoclf as pc
from examples.papers.bach2006_explore import combined, explore, line_envelope, main
from paretoclf.common.errors import InputError
from paretoclf.roc.of_path import roc_of_scores
from paretoclf.roc.scores import PathScores


def overlapping(n, seed, share=0.4):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < share * n, 1.0, -1.0)
    return rng.normal(size=(n, 2)) + 0.6 * y[:, None], y


@pytest.fixture(scope="module")
def found():
    X, y = overlapping(45, 0)
    return explore(pc.TwoCSVM(X, y), (3.0, 1.0), multiples=(1, 10, 0.1), folds=2, inner=3, n_grid=40)


def scores_of_folds(rng, folds, m, k):
    made = []
    for _ in range(folds):
        knots = np.concatenate([[0.0], np.sort(rng.random(k - 1)), [1.0]])
        values = rng.integers(-3, 4, (m, k + 1)).astype(float) + 2 * np.linspace(-1, 1, k + 1)
        made.append(PathScores(knots, values[:, :-1], values[:, 1:]))
    return made


def under(curve, hull):
    """Whether every point of a curve is below an upper hull or on it, in fractions."""
    corners = [
        (Fraction(int(u), hull.n_minus), Fraction(int(v), hull.n_plus)) for u, v in zip(*hull.counts, strict=True)
    ]
    for fp, tp in zip(*curve.counts, strict=True):
        u, v = Fraction(int(fp), curve.n_minus), Fraction(int(tp), curve.n_plus)
        for (a, b), (c, d) in pairwise(corners):
            if (c - a) * (v - b) > (d - b) * (u - a):
                return False
    return True


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_both_contains_the_other_two_and_the_combination_every_line(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 7))
    y = [np.where(np.arange(m) % 2 == 0, 1.0, -1.0) for _ in range(2)]
    lines = [scores_of_folds(rng, 2, m, int(rng.integers(1, 4))) for _ in range(3)]
    t = float(rng.random())
    envelopes = [line_envelope(scores, y, t, 5) for scores in lines]
    for scores, envelope in zip(lines, envelopes, strict=True):
        assert under(roc_of_scores(scores, y, "intercept", t), envelope)
        assert under(roc_of_scores(scores, y, "asymmetry"), envelope)
    whole, line = combined(envelopes)
    assert all(under(envelope, whole) for envelope in envelopes)
    for j, k in enumerate(line):  # each vertex is one of the line it is said to be on
        same = (envelopes[k].fpr == whole.fpr[j]) & (envelopes[k].tpr == whole.tpr[j]) & (envelopes[k].t == whole.t[j])
        assert same.any()


def test_the_total_is_the_best_of_the_ray_on_the_sum_of_the_folds(found):
    X, y = overlapping(45, 0)
    explored, line = found.found, found.found.ray.line
    seed = pc.empirical.nested.outer_folds(y, 2, 1, 0)[0][0][2]
    at = np.linspace(0, 1, 301)
    false = np.zeros((2, at.size))
    for train, held in StratifiedKFold(3, shuffle=True, random_state=seed).split(y, y):
        path = pc.trace(pc.TwoCSVM(X[train], y[train]), line.start, line.stop)
        positive = path.scores(X[held])(at) >= 0
        false += [np.sum(positive[y[held] < 0], axis=0), np.sum(~positive[y[held] > 0], axis=0)]
    cost = (3 * false[1] + false[0]) / y.size
    optimum = explored.optimum
    inside = (at > optimum.start) & (at < optimum.stop)
    assert np.allclose(cost[inside], optimum.objective)
    assert cost.min() >= optimum.objective - 1e-12
    assert (cost[at < optimum.start] > optimum.objective + 1e-12).all()  # the smallest total of equally good ones
    assert explored.best.total == pytest.approx(line.at(optimum.t).total)
    assert explored.best.C_plus * np.sum(y > 0) == pytest.approx(explored.best.C_minus * np.sum(y < 0))
    totals = [path.line.at(0.3).total / explored.best.total for path in explored.lines]
    assert totals == pytest.approx([1, 10, 0.1])


def test_each_vertex_has_its_rates_on_paths_traced_without_a_hub(found):
    X, y = overlapping(45, 0)
    seed = pc.empirical.nested.outer_folds(y, 2, 1, 0)[0][0][2]
    folds = list(StratifiedKFold(3, shuffle=True, random_state=seed).split(y, y))
    for point in found.points[1:-1:2]:
        line = found.found.lines[found.multiples.index(point.multiple)].line
        wrong = np.zeros(2)
        for train, held in folds:
            path = pc.trace(pc.TwoCSVM(X[train], y[train]), line.start, line.stop)
            score = path.scores(X[held])(point.point.t) + point.point.shift
            score[np.abs(score) < 1e-9] = 0.0  # the sample that the threshold is
            wrong += np.sum(score[y[held] < 0] >= 0), np.sum(score[y[held] > 0] >= 0)
        assert wrong / [np.sum(y < 0), np.sum(y > 0)] == pytest.approx([point.point.fpr, point.point.tpr])
        assert line.at(point.point.t) == point.trained


def test_a_vertex_is_best_for_its_cost_ratios(found):
    points = found.points
    assert points[0].cost_ratios[0] == 0
    assert points[-1].cost_ratios[1] == np.inf
    for one, other in pairwise(points):
        assert one.cost_ratios[1] == other.cost_ratios[0]
        if 0 < one.cost_ratios[1] < np.inf:
            tie = found.envelope.best((one.cost_ratios[1], 1.0), found.prior_plus)
            assert [point.index for point in tie] == [one.point.index, other.point.index]
    for point in points:
        low, high = point.cost_ratios
        if low < high:
            middle = (low + min(high, low + 1)) / 2
            assert [each.index for each in found.envelope.best((middle, 1.0))] == [point.point.index]


def test_the_classifiers_are_those_of_all_samples(found):
    X, y = overlapping(45, 0)
    point = found.points[len(found.points) // 2]
    again = pc.TwoCSVM(X, y).solve(*point.trained)
    f = found.rule(point).decision_function(X)
    assert np.allclose(f, again.classifier.decision_function(X) + point.point.shift, atol=1e-4)
    assert np.array_equal(found.rule(point.point).decision_function(X), f)
    assert isinstance(found.rule(found.select()), pc.roc.PathRule)
    mixture = found.envelope.at_rate(fpr=0.5 * (found.envelope.fpr[2] + found.envelope.fpr[3]))
    assert isinstance(found.rule(mixture), pc.results.RandomisedRule)
    assert found.rule(found.envelope.at_rate(fpr=point.point.fpr)) == found.rule(point)
    with pytest.raises(InputError, match="chosen must be a vertex of this envelope"):
        found.rule(replace(point.point, index=-1))


def test_on_noise_the_curve_that_can_be_expected_is_that_of_chance():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), np.repeat([-1.0, 1.0], 30)
    found = explore(pc.TwoCSVM(X, y), (1.0, 1.0), multiples=(1, 10), folds=3, inner=3, repeats=2, n_grid=40)
    assert found.envelope.auc > 0.58
    assert abs(found.nested.auc - 0.5) < 0.05


@pytest.fixture(scope="module")
def by_validation_set():
    X, y = overlapping(90, 3)
    train, val = np.arange(90) % 2 == 0, np.arange(90) % 2 == 1
    found = explore(
        pc.TwoCSVM(X[train], y[train]), (2.0, 1.0), X_val=X[val], y_val=y[val], multiples=(1, 10, 0.1), folds=3
    )
    return found, X[train], y[train], X[val], y[val]


def test_with_a_validation_set_everything_is_trained_on_all_samples_and_chosen_on_the_set(by_validation_set):
    found, _, y, X_val, y_val = by_validation_set
    assert all(np.array_equal(path.y, y) for path in (found.found.ray, *found.found.lines))
    assert found.prior_plus == pytest.approx(np.mean(y_val > 0))
    for point in found.points:
        predicted = found.rule(point).predict(X_val)
        rates = np.mean(predicted[y_val < 0] > 0), np.mean(predicted[y_val > 0] > 0)
        assert rates == pytest.approx((point.point.fpr, point.point.tpr))
    assert sum(fold.n_plus + fold.n_minus for fold in found.nested.repeats[0]) == y_val.size


def test_the_total_is_the_best_of_the_ray_on_the_validation_set(by_validation_set):
    found, X, y, X_val, y_val = by_validation_set
    svm, share, optimum = pc.TwoCSVM(X, y), np.mean(y < 0), found.found.optimum

    def cost(classifier):
        predicted = classifier.predict(X_val)
        return np.mean(2.0 * (y_val > 0) * (predicted < 0) + (y_val < 0) * (predicted > 0))

    assert cost(found.found.ray.at(optimum.t).classifier) == pytest.approx(optimum.objective)
    for total in (0.003, 0.05, 0.4, 3.0, 40.0):
        assert cost(svm.solve(share * total, (1 - share) * total).classifier) >= optimum.objective - 1e-12


def test_a_sparse_validation_set_is_the_same_as_a_dense_one(by_validation_set):
    found, X, y, X_val, y_val = by_validation_set
    svm = pc.TwoCSVM(sp.csr_array(X), y)
    same = explore(svm, (2.0, 1.0), X_val=sp.csr_array(X_val), y_val=y_val, multiples=(1, 10, 0.1), folds=3)
    assert np.array_equal(same.envelope.fpr, found.envelope.fpr)
    assert same.nested.auc == pytest.approx(found.nested.auc)


def test_a_validation_set_of_noise_is_not_believed():
    rng = np.random.default_rng(5)
    X, y, Z, z = rng.normal(size=(40, 2)), np.repeat([-1.0, 1], 20), rng.normal(size=(60, 2)), np.repeat([-1.0, 1], 30)
    found = explore(pc.TwoCSVM(X, y), (1.0, 1.0), X_val=Z, y_val=z, multiples=(1,), folds=3, repeats=3, n_grid=40)
    assert found.envelope.auc > 0.58
    assert found.nested.auc < 0.5 + 0.075  # the deviation of the area of noise on 30 + 30 samples


def test_validation_sets_that_do_not_fit_are_refused():
    X, y = overlapping(20, 0)
    svm, K = pc.TwoCSVM(X, y), X @ X.T
    with pytest.raises(InputError, match="X_val and y_val must be given both or not at all, got only X_val"):
        explore(svm, (1, 1), X_val=X)
    with pytest.raises(InputError, match="X_val and y_val must be given both or not at all, got only y_val"):
        explore(svm, (1, 1), y_val=y)
    with pytest.raises(InputError, match="X_val must have 2 columns as in training, got 1"):
        explore(svm, (1, 1), X_val=X[:, :1], y_val=y)
    with pytest.raises(InputError, match="y_val must have one label per sample"):
        explore(svm, (1, 1), X_val=X, y_val=y[:-1])
    with pytest.raises(InputError, match="X_val must be left out for kernel='precomputed'"):
        explore(pc.TwoCSVM(K, y, "precomputed"), (1, 1), X_val=X, y_val=y)


@pytest.mark.parametrize(
    ("costs", "given_", "said"),
    [
        ((0, 0), {}, "costs must not both be zero"),
        ((1, 1), {"multiples": (1, 0)}, "multiples must be positive"),
        ((1, 1), {"multiples": ()}, "multiples must be positive"),
        ((1, 1), {"totals": (1, 1)}, "totals must be two positive finite numbers"),
        ((1, 1), {"prior_plus": 1}, "prior_plus must lie strictly between 0 and 1"),
        ((1, 1), {"inner": 1}, "inner must be at least 2"),
        ((1, 1), {"n_grid": 1}, "n_grid must be at least 2"),
        ((1, 1), {"folds": 9}, "folds must be at least 2 and at most the size of the smaller class"),
    ],
)
def test_bad_arguments(costs, given_, said):
    X, y = overlapping(20, 0)
    with pytest.raises(InputError, match=said):
        explore(pc.TwoCSVM(X, y), costs, **given_)


# The script, on data of one's own.


def test_its_files_agree_and_the_rows_are_classifiers(tmp_path, capsys):
    main(["twonorm", "--n", "40", "--costs", "3", "1", "--out", str(tmp_path / "new")])
    said = capsys.readouterr().out
    assert sorted(file.name for file in (tmp_path / "new").iterdir()) == ["explore.png", "points.csv"]
    with (tmp_path / "new" / "points.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    ratios = np.array([[float(row["cost_ratio_from"]), float(row["cost_ratio_to"])] for row in rows])
    assert np.array_equal(ratios[1:, 0], ratios[:-1, 1])
    assert f"upper envelope of {len(rows)} points" in said
    row = rows[int(re.search(r"chosen  point (\d+)", said).group(1))]
    assert float(row["cost_ratio_from"]) <= 3 <= float(row["cost_ratio_to"])
    data = pc.datasets.load("twonorm", n=40, rng=0)
    w = np.array([float(row[f"w_{name}"]) for name in data.feature_names])
    again = pc.TwoCSVM((data.X - data.X.mean(axis=0)) / data.X.std(axis=0), data.y)
    slope = again.solve(float(row["C_plus"]), float(row["C_minus"])).classifier.w / data.X.std(axis=0)
    assert np.allclose(w, slope, atol=1e-5 * np.abs(slope).max())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--costs", "0", "0"], "costs must not both be zero"),
        (["--prior", "1"], "prior_plus must lie strictly between 0 and 1"),
        (["--n", "6"], "needs at least 4 samples of each class"),
    ],
)
def test_what_the_script_refuses_leaves_no_file(more, said, tmp_path):
    with pytest.raises(InputError, match=said):
        main(["twonorm", "--n", "40", *more, "--out", str(tmp_path / "out")])
    assert list(tmp_path.iterdir()) == []
