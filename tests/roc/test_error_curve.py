"""Held-out errors as step functions of t: against exact rationals, brute force, hand, symmetry and folds by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import groupby, pairwise

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.plotting import ErrorCurveDisplay
from paretoclf.roc.scores import PathScores
from tests.oracles.exact import fractions, integer_kernel
from tests.oracles.exact_criss_cross import criss_cross

mpl.use("Agg")
from matplotlib import pyplot as plt

LINE = (0.1, 1.9), (1.9, 0.1)


def errors(predicted, y):
    return int(((predicted > 0) & (y < 0)).sum()), int(((predicted < 0) & (y > 0)).sum())


def middles(curve):
    return [(0.5 * (a + b), j) for j, (a, b) in enumerate(pairwise(curve.t))]


def assert_is_the_path(path, curve, X, y):
    """In the middle of every stretch that is not rounding, and at random t, against the path's own classifiers."""
    looked_at = [t for t, j in middles(curve) if curve.t[j + 1] - curve.t[j] > 1e-9]
    rng = np.random.default_rng(0)
    looked_at += [t for t in rng.random(300) if np.abs(curve.t - t).min() > 1e-9]
    for t in looked_at:
        assert curve.counts(t) == errors(path.at(t).classifier.predict(X), y), t


# ---- random piecewise affine scores in exact rationals -----------------------------------------------------------


def exact_cells(scores, y):
    """Runs ((fp, fn), start, start included, stop, stop included) over [0, 1] in rational arithmetic."""
    t = [Fraction(float(v)) for v in scores.t]
    pieces = list(enumerate(pairwise(t)))

    def value(i, j, s):
        a, c = Fraction(float(scores.start[i, j])), Fraction(float(scores.end[i, j]))
        return a + (c - a) * (s - t[j]) / (t[j + 1] - t[j])

    places = set(t)
    for i in range(len(y)):
        for j, (low, high) in pieces:
            a, c = value(i, j, low), value(i, j, high)
            if a * c < 0:
                places.add(low + (high - low) * a / (a - c))
    places = sorted(places)
    cells = []
    for k, s in enumerate(places):
        for at in [s] if k + 1 == len(places) else [s, (s + places[k + 1]) / 2]:
            j = max(j for j, (low, _) in pieces if low <= at)
            positive = np.array([value(i, j, at) >= 0 for i in range(len(y))])
            counts = int((positive & (y < 0)).sum()), int((~positive & (y > 0)).sum())
            cells.append((counts, s, at == s, s if at == s else places[k + 1], at == s))
    return in_runs(cells)


def in_runs(cells):
    runs = []
    for counts, run in groupby(cells, key=lambda cell: cell[0]):
        first, *_, last = [*run] * 2
        runs.append((counts, first[1], first[2], last[3], last[4]))
    return runs


def runs_of(curve):
    """The same of an error curve."""
    cells = []
    at = [*zip(curve.false_positives_at.tolist(), curve.false_negatives_at.tolist(), strict=True)]
    between = [*zip(curve.false_positives.tolist(), curve.false_negatives.tolist(), strict=True)]
    for j, t in enumerate(curve.t):
        cells.append((at[j], t, True, t, True))
        cells += [(between[j], t, False, curve.t[j + 1], False)] if j < len(between) else []
    return in_runs(cells)


def random_scores(rng, m=5, k=4):
    """Small whole numbers: many zeros, touches, stretches of zero, jumps onto 0 and over it."""
    start, end = rng.integers(-2, 3, (2, m, k)).astype(float)
    joined = rng.random((m, k - 1)) < 0.6
    start[:, 1:][joined] = end[:, :-1][joined]
    return PathScores(np.linspace(0.0, 1.0, k + 1), start, end), np.where(np.arange(m) < 2, 1, -1)


def as_tuples(optima):
    return [
        ((o.false_positives, o.false_negatives), o.start, o.start_included, o.stop, o.stop_included) for o in optima
    ]


def best_runs(runs, objective):
    least = min(objective(*counts) for counts, *_ in runs)
    ties = {counts for counts, *_ in runs if objective(*counts) == least}
    kept = {c for c in ties if not any(d != c and d[0] <= c[0] and d[1] <= c[1] for d in ties)}
    return [(counts, float(a), a_in, float(b), b_in) for counts, a, a_in, b, b_in in runs if counts in kept]


@pytest.mark.parametrize("seed", range(200))
def test_steps_and_optima_against_rationals(seed):
    scores, y = random_scores(np.random.default_rng(seed))
    curve, runs = pc.roc.ErrorCurve.of_scores(scores, y), exact_cells(scores, y)
    got = runs_of(curve)
    assert [(g[0], g[2], g[4]) for g in got] == [(e[0], e[2], e[4]) for e in runs]
    np.testing.assert_allclose([g[1::2] for g in got], [[float(v) for v in e[1::2]] for e in runs], atol=1e-15)
    for counts, start, _, stop, _ in runs:
        assert start == stop or curve.counts(float((start + stop) / 2)) == counts
    for t, fp, fn in zip(curve.t, curve.false_positives_at, curve.false_negatives_at, strict=True):
        assert curve.counts(t) == (fp, fn)
    n_plus, n_minus = 2, 3
    for found, objective in (
        (curve.minimax(), lambda fp, fn: max(Fraction(fp, n_minus), Fraction(fn, n_plus))),
        (curve.best((3.0, 1.0)), lambda fp, fn: 3 * fn + fp),
        (curve.best((1.0, 1.0), 0.5), lambda fp, fn: Fraction(fn, n_plus) + Fraction(fp, n_minus)),
        (curve.best((0.0, 1.0)), lambda fp, fn: fp),
    ):
        got, expected = as_tuples(found), best_runs(runs, objective)
        assert [(g[0], g[2], g[4]) for g in got] == [(e[0], e[2], e[4]) for e in expected]
        np.testing.assert_allclose([g[1::2] for g in got], [e[1::2] for e in expected], atol=1e-15)
    allowed = min(fp for (fp, _), *_ in runs) / n_minus + 1 / 3
    found = as_tuples(curve.neyman_pearson(min(allowed, 1.0)))
    expected = best_runs(runs, lambda fp, fn: fn if fp / n_minus <= min(allowed, 1.0) else 99)
    assert [(g[0], g[2], g[4]) for g in found] == [(e[0], e[2], e[4]) for e in expected]


def joined(runs):
    """Runs that touch, as one each: start, stop and whether these belong to them."""
    found = []
    for _, start, start_in, stop, stop_in in runs:
        if found and found[-1][1] == start and (found[-1][3] or start_in):
            start, _, start_in, _ = found.pop()
        found.append((start, stop, start_in, stop_in))
    return found


@pytest.mark.parametrize("seed", range(40))  # 300 pass, too
def test_where_rates_are_low_and_the_table_against_rationals(seed):
    scores, y = random_scores(np.random.default_rng(seed))
    curve, runs = pc.roc.ErrorCurve.of_scores(scores, y), exact_cells(scores, y)
    for fp_limit, fn_limit in [(None, 0), (None, 1), (0, None), (1, 1), (2, 0), (0, 0)]:
        fits = [run for run in runs if run[0][0] <= (fp_limit, 9)[fp_limit is None]]
        fits = [run for run in fits if run[0][1] <= (fn_limit, 9)[fn_limit is None]]
        limits = {} if fp_limit is None else {"max_fpr": fp_limit / 3}
        found = curve.where(**limits, max_fnr=None if fn_limit is None else fn_limit / 2)
        expected = joined(fits)
        assert [(each.start_included, each.stop_included) for each in found] == [each[2:] for each in expected]
        ends = [(each.start, each.stop) for each in found]
        np.testing.assert_allclose(ends, [tuple(map(float, each[:2])) for each in expected], atol=1e-15)
    rows = curve.records()
    assert [(row["false_positives"], row["false_negatives"]) for row in rows] == [run[0] for run in runs]
    assert [(row["start_included"], row["stop_included"]) for row in rows] == [(run[2], run[4]) for run in runs]
    for row in rows:
        assert (row["fpr"], row["fnr"]) == (row["false_positives"] / 3, row["false_negatives"] / 2)


def test_intervals_show_the_costs_at_their_ends_and_the_name_of_the_parameter(gaussians):
    X, y = gaussians(30, 2, seed=1)
    curve = pc.trace(pc.TwoCSVM(X, y), *LINE, progress=False).error_curve(*gaussians(40, 2, seed=2))
    for each in (*curve.minimax(), *curve.where(max_fnr=0.3)):
        for t, costs in zip((each.start, each.stop), each.costs, strict=True):
            assert tuple(costs) == pytest.approx((0.1 + 1.8 * t, 1.9 - 1.8 * t))
        shown = f"C_plus {0.1 + 1.8 * each.start:.6g} to {0.1 + 1.8 * each.stop:.6g}"
        assert shown in repr(each)
    last = curve.where(max_fnr=0.3)[-1]
    assert last.stop == 1.0
    for t in np.linspace(last.start, 1.0, 50)[1:]:
        assert curve.rates(t)[1] <= 0.3
    other = pc.roc.ErrorCurve.of_scores(*random_scores(np.random.default_rng(0)), parameter="tau")
    assert repr(other.minimax()[0]).startswith("Optimum(tau in ")
    assert other.minimax()[0].costs is None
    with pytest.raises(InputError, match="max_fpr or max_fnr must be given, got neither"):
        curve.where()
    with pytest.raises(InputError, match="max_fnr must lie in"):
        curve.where(max_fnr=2)


def test_folds_are_added_and_blocks_do_not_matter(monkeypatch):
    rng = np.random.default_rng(1)
    folds, labels = zip(*(random_scores(rng) for _ in range(3)), strict=True)
    pooled = pc.roc.ErrorCurve.of_scores(folds, labels)
    each = [pc.roc.ErrorCurve.of_scores(f, y) for f, y in zip(folds, labels, strict=True)]
    for t in [*np.linspace(0, 1, 101), *pooled.t]:
        assert pooled.counts(t) == tuple(np.sum([c.counts(t) for c in each], axis=0))
    monkeypatch.setattr("paretoclf.roc.error_curve.BLOCK", 5)
    again = pc.roc.ErrorCurve.of_scores(folds, labels)
    for name in ("t", "false_positives", "false_negatives", "false_positives_at", "false_negatives_at"):
        np.testing.assert_array_equal(getattr(again, name), getattr(pooled, name))


def test_jumps_that_rounding_has_put_apart_are_one():
    # A jump at 1/2 in each of three folds, one of them rounded; the sample of the last changes twice there.
    after = np.nextafter(0.5, 1.0)
    at = PathScores(np.array([0.0, 0.5, 1.0]), np.array([[-1.0, 1.0]]), np.array([[-1.0, 1.0]]))
    rounded = PathScores(np.array([0.0, after, 1.0]), np.array([[1.0, -1.0]]), np.array([[1.0, -1.0]]))
    twice = PathScores(np.array([0.0, 0.5, after, 1.0]), np.array([[1.0, -1.0, 1.0]]), np.array([[1.0, -1.0, 1.0]]))
    curve = pc.roc.ErrorCurve.of_scores([at, rounded, twice], [[-1], [1], [-1]])
    np.testing.assert_allclose(curve.t, [0, 0.5, 1], rtol=1e-15)
    assert (curve.false_positives.tolist(), curve.false_negatives.tolist()) == ([1, 2], [0, 1])
    assert (curve.false_positives_at.tolist(), curve.false_negatives_at.tolist()) == ([1, 2, 2], [0, 1, 1])


def test_leaving_any_one_of_a_class_out_moves_the_jump_to_one_t():
    # All multipliers are at their bounds but at the jump, where n_plus C_plus = n_minus C_minus of those who are left.
    rng = np.random.default_rng(6)
    n_minus, n_plus = 13, 10
    y = np.repeat([-1.0, 1.0], [n_minus, n_plus])
    svm = pc.TwoCSVM(rng.normal(size=(y.size, 2)) + 0.6 * y[:, None], y, pc.RBF(1.0))
    held_out = pc.trace(svm, (0.001, 0.019), (0.019, 0.001)).leave_one_out()
    for left_minus, left_plus in ((n_minus - 1, n_plus), (n_minus, n_plus - 1)):
        asymmetry = Fraction(left_minus, left_minus + left_plus)
        jump = float((asymmetry - Fraction(1, 20)) / Fraction(9, 10))
        assert np.sum(np.abs(held_out.curve.t - jump) < 1e-9) == 1
    assert all(flip.stop - flip.start > 1e-9 for flip in held_out.flips)


def test_a_zero_that_is_rounded_onto_the_end_of_its_piece_leaves_the_label_there_alone():
    tiny, t = 1e-20, np.array([0.0, 0.5, 1.0])
    start = np.array([[1.0, -tiny], [-2.0, 1.0], [-1.0, -tiny], [1.0, 1.0], [1.0, 1.0]])
    end = np.array([[-tiny, -1.0], [-1.0, -tiny], [-tiny, 1.0], [1.0, 1.0], [1.0, 1.0]])
    curve = pc.roc.ErrorCurve.of_scores(PathScores(t, start, end), [-1, -1, -1, -1, 1])
    np.testing.assert_array_equal(curve.t, t)
    np.testing.assert_array_equal(curve.false_positives, [2, 3])
    np.testing.assert_array_equal(curve.false_positives_at, (np.c_[start, end[:, -1]][:4] >= 0).sum(axis=0))


# ---- paths -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_crossings_of_a_path_against_rational_optima(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, (7, 2)), np.where(np.arange(7) < 3, 1, -1)
    Z, labels = rng.integers(-2, 3, (6, 2)) * 2 + 1, np.array([1, 1, 1, -1, -1, -1])
    start, stop = (Fraction(1, 8), Fraction(3, 2)), (Fraction(2), Fraction(1, 4))
    c0, c1 = (np.array([c[0] if label > 0 else c[1] for label in y], dtype=object) for c in (start, stop))
    judge = criss_cross(integer_kernel(X), fractions(y), c0, c1 - c0)
    cross = fractions(Z) @ fractions(X).T
    path = pc.trace(pc.TwoCSVM(X.astype(float), y), [float(c) for c in start], [float(c) for c in stop])
    curve = path.error_curve(Z.astype(float), labels)
    compared = crossed = 0
    for low, high in pairwise(judge.ends):
        thirds = [low + (high - low) * Fraction(k, 3) for k in (1, 2)]
        if any(judge.intercepts(t)[0] != judge.intercepts(t)[1] for t in thirds):
            continue  # b is the path's choice
        f = [cross @ (fractions(y) * judge.alpha(t)) + judge.intercepts(t)[0] for t in thirds]
        ends = 2 * f[0] - f[1], 2 * f[1] - f[0]
        zeros = sorted({low + (high - low) * a / (a - c) for a, c in zip(*ends, strict=True) if a * c < 0})
        for t in zeros:
            assert np.abs(curve.t - float(t)).min() < 1e-12
        crossed += len(zeros)
        for a, b in pairwise([low, *zeros, high]):
            t = (a + b) / 2
            scores = ends[0] + (ends[1] - ends[0]) * (t - low) / (high - low)
            if b - a > 1e-9 and (scores != 0).all():
                assert curve.counts(float(t)) == errors(np.where(scores > 0, 1, -1), labels)
                compared += 1
    assert compared > 5
    assert crossed > 0


@pytest.mark.parametrize("seed", range(24))
def test_a_score_that_is_zero_in_fractions_is_predicted_positive(seed):
    """Small whole numbers: many scores are 0 along whole stretches, and rounding must not choose their labels."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 9))
    X, y = rng.integers(-2, 3, (n, 2)), np.where(np.arange(n) < n // 2, 1, -1)
    Z, labels = np.vstack([rng.integers(-3, 4, (5, 2)), X]), np.concatenate([[1, -1, 1, -1, 1], y])
    start, stop = (Fraction(1, 8), Fraction(3, 2)), (Fraction(2), Fraction(1, 4))
    if seed % 2:
        start, stop = (Fraction(1, 2), Fraction(1, 2)), (Fraction(3), Fraction(3))
    c0, c1 = (np.array([c[0] if label > 0 else c[1] for label in y], dtype=object) for c in (start, stop))
    judge = criss_cross(integer_kernel(X), fractions(y), c0, c1 - c0)
    cross = fractions(Z) @ fractions(X).T
    path = pc.trace(pc.TwoCSVM(X.astype(float), y), [float(c) for c in start], [float(c) for c in stop])
    curve = path.error_curve(Z.astype(float), labels)
    # Each test part a single sample, as where one at a time is left out: nobody else says how large scores are.
    alone = [path.scores(Z[i : i + 1].astype(float)) for i in range(len(labels))]
    folds = pc.roc.ErrorCurve.of_scores(alone, list(labels[:, None]))
    compared = 0
    for low, high in pairwise(judge.ends):
        thirds = [low + (high - low) * Fraction(k, 3) for k in (1, 2)]
        if any(judge.intercepts(t)[0] != judge.intercepts(t)[1] for t in thirds):
            continue  # b is the path's choice
        f = [cross @ (fractions(y) * judge.alpha(t)) + judge.intercepts(t)[0] for t in thirds]
        ends = 2 * f[0] - f[1], 2 * f[1] - f[0]
        zeros = sorted({low + (high - low) * a / (a - c) for a, c in zip(*ends, strict=True) if a * c < 0})
        for a, b in pairwise([low, *zeros, high]):
            t = (a + b) / 2
            scores = ends[0] + (ends[1] - ends[0]) * (t - low) / (high - low)
            if b - a > 1e-9:
                expected = errors(np.where(scores >= 0, 1, -1), labels)
                assert curve.counts(float(t)) == folds.counts(float(t)) == expected
                compared += 1
    assert compared > 0


@pytest.mark.parametrize("seed", [25, 28, 32])
def test_scores_of_nu_paths_are_zero_where_only_rounding_is_left(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, (8, 2)).astype(float), np.where(np.arange(8) < 4, 1, -1)
    Z = np.vstack([np.zeros((1, 2)), rng.integers(-3, 4, (8, 2))])
    svm = pc.TwoNuSVM(X, y)
    for path in (pc.trace(svm, start=(1, 1), stop=(0.3, 0.4)), pc.trace(svm, nu=(0, None), asymmetry=0.4)):
        scores = path.scores(Z)
        values = np.abs(np.concatenate([scores.start.ravel(), scores.end.ravel()]))
        assert (values == 0).any()
        assert values[values > 0].min() > 1e-12 * values.max()


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.0)], ids=["linear", "rbf"])
def test_a_dense_grid_finds_nothing_better(gaussians, kernel):
    X, y = gaussians(40, 2, seed=1)
    Z, labels = gaussians(60, 2, seed=2)
    path = pc.trace(pc.TwoCSVM(X, y, kernel), *LINE)
    curve = path.error_curve(Z, labels)
    assert curve.t.size > 10
    assert_is_the_path(path, curve, Z, labels)
    scores = path.scores(Z)(np.linspace(0, 1, 20001))
    fpr, fnr = ((scores >= 0) & (labels < 0)[:, None]).mean(axis=0), ((scores < 0) & (labels > 0)[:, None]).mean(axis=0)
    fpr, fnr = fpr * labels.size / curve.n_minus, fnr * labels.size / curve.n_plus
    assert curve.minimax()[0].objective <= np.maximum(fpr, fnr).min() + 1e-12
    prior = curve.n_plus / labels.size
    cost = prior * 2 * fnr + (1 - prior) * fpr
    assert curve.best((2, 1))[0].objective <= cost.min() + 1e-12
    assert curve.neyman_pearson(0.2)[0].fnr <= fnr[fpr <= 0.2].min()
    for optimum in (*curve.minimax(), *curve.best((2, 1)), *curve.neyman_pearson(0.2)):
        assert (optimum.fpr, optimum.fnr) == curve.rates(optimum.t)
        assert errors(path.at(optimum.t).classifier.predict(Z), labels) == (
            optimum.false_positives,
            optimum.false_negatives,
        )


DEGENERATE = {
    "duplicates": lambda X, y: (np.vstack([X, X, X[:5]]), np.concatenate([y, -y, y[:5]])),
    "constant feature": lambda X, y: (np.column_stack([X, np.full(len(X), 3.0)]), y),
    "only constant features": lambda X, y: (np.ones_like(X), y),
    "one sample per class": lambda X, y: (X[[0, -1]], y[[0, -1]]),
    "one positive": lambda X, y: (np.vstack([X[y < 0], X[:1]]), np.r_[y[y < 0], 1.0]),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_samples(gaussians, name):
    X, y = DEGENERATE[name](*gaussians(20, 2, seed=4))
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(30, X.shape[1]))
    labels = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    path = pc.trace(pc.TwoCSVM(X, y), *LINE)
    assert_is_the_path(path, path.error_curve(Z, labels), Z, labels)
    on_training = path.error_curve(X, y)
    assert on_training.t[0] == 0.0
    assert on_training.t[-1] == 1.0


def test_one_positive_in_a_hundred(gaussians):
    X, y = gaussians(202, 2, seed=6, positives=0.0099)
    Z, labels = gaussians(404, 2, seed=7, positives=0.0099)
    assert (y > 0).sum() == 2
    path = pc.trace(pc.TwoCSVM(X, y), (0.5, 0.5), (50.0, 0.5))
    curve = path.error_curve(Z, labels)
    assert_is_the_path(path, curve, Z, labels)
    assert (curve.n_plus, curve.n_minus) == (4, 400)
    assert curve.best((100.0, 1.0))[0].objective == pytest.approx(
        min(100 * fn + fp for fp, fn in zip(curve.false_positives, curve.false_negatives, strict=True)) / 404
    )


def test_exchanging_the_classes_exchanges_the_errors(gaussians):
    X, y = gaussians(40, 2, seed=8)
    Z, labels = gaussians(50, 2, seed=9)
    one = pc.trace(pc.TwoCSVM(X, y), *LINE).error_curve(Z, labels)
    other = pc.trace(pc.TwoCSVM(X, -y), *(end[::-1] for end in LINE)).error_curve(Z, -labels)
    np.testing.assert_allclose(one.t, other.t, atol=1e-9)
    np.testing.assert_array_equal(one.false_positives, other.false_negatives)
    np.testing.assert_array_equal(one.false_negatives, other.false_positives)
    assert one.minimax()[0].t == pytest.approx(other.minimax()[0].t)
    # What belongs to the other class at f = 0 is the one thing that is not symmetric.
    assert one.minimax()[0].start_included != other.minimax()[0].start_included


def test_five_points_by_hand():
    """Spec 12b: w and b along the ray are known, and f(1/4) = 0 at t = 4/49, 1/5 and 2/3."""
    X, y = np.array([[2.0], [1.0], [0.0], [-1.0], [-3.0]]), np.array([1, 1, -1, -1, -1.0])
    path = pc.trace(pc.TwoCSVM(X, y), (0, 0), (3, 2))
    curve = path.error_curve([[0.25], [3.0]], [-1, 1])
    assert curve.t == pytest.approx([0.0, 4 / 49, 1 / 5, 2 / 3, 1.0], abs=1e-15)
    np.testing.assert_array_equal(curve.false_positives, [1, 0, 1, 0])
    np.testing.assert_array_equal(curve.false_positives_at, [1, 1, 1, 1, 0])
    assert not curve.false_negatives.any()
    assert [(o.start_included, o.stop_included) for o in curve.minimax()] == [(False, False), (False, True)]
    assert curve.minimax() == curve.neyman_pearson(0.0)
    assert curve.neyman_pearson(0.0) == tuple(replace(o, objective=0.0) for o in curve.best((1, 1)))
    other = path.error_curve([[0.25], [-3.0]], [1, -1])  # now f = 0 is right, but at t = 0 that of -3 is 0, too
    assert [(o.start_included, o.stop_included) for o in other.best((1, 1))] == [(False, True), (True, True)]
    assert [o.start for o in other.best((1, 1))] == pytest.approx([0.0, 1 / 5])
    assert [o.stop for o in other.best((1, 1))] == pytest.approx([4 / 49, 2 / 3])


def test_three_of_thirty_are_not_more_than_a_tenth():
    scores = PathScores(np.array([0.0, 1.0]), np.r_[np.ones(3), -np.ones(28)][:, None], np.full((31, 1), -1.0))
    y = np.r_[-np.ones(30), 1.0]
    assert pc.roc.ErrorCurve.of_scores(scores, y).neyman_pearson(0.1)[0].false_positives == 0
    always = PathScores(scores.t, scores.start, scores.start)
    assert pc.roc.ErrorCurve.of_scores(always, y).neyman_pearson(0.1)[0].false_positives == 3
    with pytest.raises(pc.InputError, match=r"max_fpr must be at least 0\.1, the smallest there is, got 0\.09"):
        pc.roc.ErrorCurve.of_scores(always, y).neyman_pearson(0.09)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.counts(-0.1), r"t must lie in \[0, 1\], got -0.1"),
        (lambda c: c.neyman_pearson(1.5), r"max_fpr must lie in \[0, 1\], got 1.5"),
        (lambda c: c.best((0, 0)), "must not both be zero"),
        (lambda c: c.best((-1, 0)), "C_plus must be a finite nonnegative number"),
        (lambda c: c.best((1, 1), 2.0), r"prior_plus must lie in \[0, 1\], got 2.0"),
    ],
)
def test_bad_arguments(call, message):
    scores, y = random_scores(np.random.default_rng(0))
    with pytest.raises(pc.InputError, match=message):
        call(pc.roc.ErrorCurve.of_scores(scores, y))


def test_both_classes_must_be_held_out(gaussians):
    X, y = gaussians(12, 2)
    with pytest.raises(pc.InputError, match="y must contain both classes"):
        pc.trace(pc.TwoCSVM(X, y), *LINE).error_curve(X[y > 0], y[y > 0])


# ---- folds -------------------------------------------------------------------------------------------------------


def same(one, other):
    for name in ("t", "false_positives", "false_negatives", "false_positives_at", "false_negatives_at"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.5)], ids=["linear", "rbf"])
def test_cross_validation_is_the_sum_of_its_folds(gaussians, kernel):
    X, y = gaussians(45, 2, seed=11)
    weight = np.random.default_rng(0).uniform(0.5, 2, 45)
    svm = pc.TwoCSVM(X, y, kernel, sample_weight=weight)
    curve = pc.cross_validated_errors(svm, *LINE, folds=3, rng=4, transformer=StandardScaler())
    assert (curve.n_plus, curve.n_minus) == (svm.n_plus, svm.n_minus)
    assert curve.line.start == pc.Costs(*LINE[0])
    by_hand = np.zeros((99, 2), dtype=int)
    times = np.random.default_rng(1).random(99)
    for train, test in StratifiedKFold(3, shuffle=True, random_state=4).split(X, y):
        mean, scale = X[train].mean(axis=0), X[train].std(axis=0)
        part = pc.TwoCSVM((X[train] - mean) / scale, y[train], kernel, sample_weight=weight[train])
        path = pc.trace(part, *LINE)
        by_hand += [errors(path.at(t).classifier.predict((X[test] - mean) / scale), y[test]) for t in times]
    np.testing.assert_array_equal([curve.counts(t) for t in times], by_hand)


def test_cross_validation_does_not_depend_on_the_number_of_processes(gaussians):
    svm = pc.TwoCSVM(*gaussians(40, 2, seed=12))
    one = pc.cross_validated_errors(svm, *LINE, folds=4, n_jobs=1)
    same(one, pc.cross_validated_errors(svm, *LINE, folds=4, n_jobs=2))
    same(one, pc.cross_validated_errors(svm, *LINE, folds=4))
    assert pc.cross_validated_errors(svm, *LINE, folds=4, rng=1).t.tolist() != one.t.tolist()


def test_other_kinds_of_problems_are_taken_apart_too(gaussians):
    X, y = gaussians(30, 2, seed=13)
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    kernel = pc.RBF(1.5)
    expected = pc.cross_validated_errors(pc.TwoCSVM(X, y, kernel), *LINE, folds)
    K = kernel(X, X)
    found = pc.cross_validated_errors(pc.TwoCSVM(K, y, "precomputed"), *LINE, folds)
    np.testing.assert_allclose(found.t, expected.t, atol=1e-9)
    np.testing.assert_array_equal(found.false_positives, expected.false_positives)
    full = pc.cross_validated_errors(pc.TwoCSVM(X, y, kernel, low_rank=30), *LINE, folds)
    np.testing.assert_allclose(full.t, expected.t, atol=1e-6)
    ends = [pc.SampleCosts(np.where(y > 0, *end)) for end in LINE]
    per_sample = pc.cross_validated_errors(pc.TwoCSVM(X, y, kernel), *ends, folds)
    np.testing.assert_allclose(per_sample.t, expected.t, atol=1e-9)
    assert per_sample.line is None


def test_folds_are_checked(gaussians):
    X, y = gaussians(20, 2, positives=0.15)
    svm = pc.TwoCSVM(X, y)
    for folds in (1, 4):
        with pytest.raises(pc.InputError, match=rf"folds must be at least 2 and at most .* \(3\), got {folds}"):
            pc.cross_validated_errors(svm, *LINE, folds)
    with pytest.raises(pc.InputError, match=r"folds\[0\] must train on both classes, got 3 samples"):
        pc.cross_validated_errors(svm, *LINE, [(np.flatnonzero(y > 0), np.flatnonzero(y < 0))])
    precomputed = pc.TwoCSVM(X @ X.T, y, "precomputed")
    with pytest.raises(pc.InputError, match="transformer must be left out"):
        pc.cross_validated_errors(precomputed, *LINE, 2, transformer=StandardScaler())


# ---- the picture -------------------------------------------------------------------------------------------------


def test_the_picture_shows_the_steps(gaussians):
    X, y = gaussians(30, 2, seed=1)
    curve = pc.trace(pc.TwoCSVM(X, y), *LINE).error_curve(*gaussians(40, 2, seed=2))
    display = curve.plot()
    assert isinstance(display, ErrorCurveDisplay)
    assert display.parameter == "asymmetry"
    fpr, fnr = (patch.get_data() for patch in display.ax_.patches[:2])
    np.testing.assert_array_equal(fpr.values, curve.fpr)
    np.testing.assert_array_equal(fnr.values, curve.fnr)
    np.testing.assert_allclose(fpr.edges, 0.05 + 0.9 * curve.t)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    best = f"minimax, chosen here: {curve.minimax()[0].objective:.3g}"
    assert texts == ["false positive rate", "false negative rate", best]
    display.figure_.canvas.draw()
    plt.close("all")


def test_the_picture_marks_touches():
    touch = PathScores(np.array([0.0, 0.5, 1.0]), np.array([[-1.0, 0.0], [1, 1]]), np.array([[0.0, -1.0], [1, 1]]))
    display = pc.roc.ErrorCurve.of_scores(touch, [-1, 1]).plot()
    dots = display.ax_.lines[0].get_data()
    np.testing.assert_array_equal(dots, [[0.5], [1.0]])
    assert display.parameter == "t"
    plt.close("all")


def test_best_of_a_criterion_is_what_its_name_finds():
    rng = np.random.default_rng(5)
    for _ in range(20):
        scores, y = random_scores(rng)
        curve = pc.roc.ErrorCurve.of_scores(scores, y)
        assert curve.best(pc.tuning.Minimax()) == curve.minimax()
        assert curve.best(pc.tuning.ExpectedCost(3, 1, 0.3)) == curve.best((3, 1), 0.3)
        allowed = [o for o in curve.best(pc.tuning.NeymanPearson(0.4)) if o.fpr <= 0.4]
        if curve.fpr.min() <= 0.4:
            assert tuple(allowed) == curve.neyman_pearson(0.4)


def test_the_table_has_the_costs_of_each_stretch(gaussians):
    X, y = gaussians(30, 2, seed=1)
    path = pc.trace(pc.TwoCSVM(X, y), *LINE)
    curve = path.error_curve(*gaussians(40, 2, seed=2))
    for row in curve.records():
        for end in ("start", "stop"):
            costs = row[f"{end}_C_plus"], row[f"{end}_C_minus"]
            assert costs == pytest.approx((0.1 + 1.8 * row[end], 1.9 - 1.8 * row[end]))
            assert costs == pytest.approx((path.costs(row[end]).C_plus, path.costs(row[end]).C_minus))
    without = pc.roc.ErrorCurve.of_scores(*random_scores(np.random.default_rng(0)))
    place = ["start", "stop", "start_included", "stop_included"]
    assert [*without.records()[0]] == [*place, "false_positives", "false_negatives", "fpr", "fnr"]
