"""Empirical trade-off curves: the fit against a QP, rates against counting, bands against simulated truth."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise

import cvxpy as cp
import matplotlib as mpl
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.preprocessing import StandardScaler

import paretoclf as pc
from examples.papers.comparisons import paired_areas
from paretoclf.roc.empirical.bands import bootstrap
from paretoclf.roc.empirical.held_out import held_out
from paretoclf.roc.of_path import roc_of_scores
from paretoclf.roc.scores import PathScores

mpl.use("Agg")
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


# The monotone fit.


def fit_by_qp(x, y, weight):
    """The constrained program as it is stated, one variable a point; equal abscissae share a value."""
    h = cp.Variable(len(x))
    order = np.argsort(x, kind="stable")
    constraints = []
    for i, j in pairwise(order):
        constraints.append(h[i] == h[j] if x[i] == x[j] else h[i] >= h[j])
    objective = cp.sum_squares(cp.multiply(np.sqrt(weight), h - y))
    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13)
    return h.value, problem.value


@given(seed=st.integers(0, 999), size=st.integers(1, 30), places=st.integers(1, 20))
def test_the_fit_is_that_of_the_constrained_program(seed, size, places):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, places + 1, size) / places
    y = np.clip(1 - x + rng.normal(scale=0.3, size=size), 0, 1)
    weight = rng.uniform(0.2, 2.0, size)
    fit = pc.empirical.monotone_fit(x, y, weight)
    values, objective = fit_by_qp(x, y, weight)
    np.testing.assert_allclose(fit(x), values, atol=2e-6)
    assert fit.residual == pytest.approx(objective, abs=1e-9)
    assert (np.diff(fit.y) <= 1e-15).all()
    assert fit.residual == pytest.approx(weight @ (y - fit(x)) ** 2, abs=1e-12)


@given(seed=st.integers(0, 999))
def test_reflection_at_the_diagonal_is_not_a_symmetry_but_the_half_turn_is(seed):
    """(x, y) -> (1 - x, 1 - y) keeps the order and the squares, so it turns the fit with the points."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 6, 12) / 5, rng.random(12)
    fit, turned = pc.empirical.monotone_fit(x, y), pc.empirical.monotone_fit(1 - x, 1 - y)
    np.testing.assert_allclose(turned(1 - x), 1 - fit(x), atol=1e-12)
    assert turned.area == pytest.approx(1 - fit.area, abs=1e-12)


def test_points_of_a_curve_are_their_own_fit_and_weights_count():
    x = np.linspace(0.1, 0.9, 9)
    fit = pc.empirical.monotone_fit(x, 1 - x**2)
    np.testing.assert_allclose(fit.y, 1 - x**2)
    assert fit.residual == 0
    assert fit(0.0) == fit.y[0]  # constant beyond the data
    fine = np.linspace(0, 1, 200_001)
    assert fit.area == pytest.approx(np.trapezoid(fit(fine), fine), abs=1e-9)
    twice = pc.empirical.monotone_fit([0.1, 0.1, 0.5], [0.4, 0.4, 0.9])
    weighted = pc.empirical.monotone_fit([0.1, 0.3, 0.5], [0.4, 0.7, 0.9], [2, 0, 1])
    np.testing.assert_allclose(weighted.y, twice.y)
    assert weighted.x.tolist() == [0.1, 0.5]  # a weight of 0 is no point


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], []), "x must hold at least one point"),
        (([0.1], [0.1, 0.2]), r"y must have shape \(1,\)"),
        (([0.1], [1.2]), r"y must lie in \[0, 1\]"),
        (([-0.1], [0.2]), r"x must lie in \[0, 1\]"),
        (([0.1], [0.2], [-1.0]), "weight must be nonnegative"),
        (([0.1], [0.2], [0.0]), "weight must hold a positive number"),
        (([np.nan], [0.2]), "x must be finite"),
    ],
)
def test_bad_points_are_refused(arguments, message):
    with pytest.raises(pc.InputError, match=message):
        pc.empirical.monotone_fit(*arguments)


# Rates along a path.


def random_path(seed, m=12, pieces=6, whole=False):
    rng = np.random.default_rng(seed)
    values = rng.integers(-2, 3, (m, pieces + 1)).astype(float) if whole else rng.normal(size=(m, pieces + 1))
    values = values + np.linspace(-2, 2, pieces + 1)
    jump = rng.normal(size=pieces) * (rng.random(pieces) < 0.3)
    y = np.where(np.arange(m) % 3 == 0, 1.0, -1.0)
    return PathScores(np.linspace(0, 1, pieces + 1), values[:, :-1] + jump, values[:, 1:] + jump), y


@given(seed=st.integers(0, 999), whole=st.booleans())
def test_states_are_those_of_the_roc_curve(seed, whole):
    scores, y = random_path(seed, whole=whole)
    part, curve = held_out(scores, y, np.arange(12)), roc_of_scores(scores, y, "asymmetry")
    tnr, tpr = part.rates()
    np.testing.assert_allclose(tnr, 1 - curve.fpr, atol=1e-12)
    np.testing.assert_allclose(tpr, curve.tpr, atol=1e-12)
    assert part.auc == pytest.approx(curve.auc, abs=1e-12)


@given(seed=st.integers(0, 999))
def test_weights_are_repetitions(seed):
    scores, y = random_path(seed)
    count = 1 + np.random.default_rng(seed).integers(0, 3, (12, 2))
    tnr, tpr = held_out(scores, y, np.arange(12)).rates(count)
    for j in range(2):
        rows = np.repeat(np.arange(12), count[:, j])
        again = held_out(PathScores(scores.t, scores.start[rows], scores.end[rows]), y[rows], rows)
        np.testing.assert_allclose(tnr[:, j], again.rates()[0], atol=1e-12)
        np.testing.assert_allclose(tpr[:, j], again.rates()[1], atol=1e-12)


def test_a_path_on_which_nothing_changes_has_the_trivial_classifiers():
    scores = PathScores(np.array([0.0, 1.0]), np.array([[1.0], [-1.0]]), np.array([[1.0], [-1.0]]))
    tnr, tpr = held_out(scores, np.array([1.0, -1.0]), np.arange(2)).rates()
    assert tnr.tolist() == [1, 1, 0]
    assert tpr.tolist() == [0, 1, 1]


# Repeated splits.


@dataclass(frozen=True)
class Thresholds:
    """All thresholds on one slope, from "all negative" to "all positive"."""

    w: np.ndarray

    def scores(self, X):
        s = (X @ self.w)[:, None]
        return PathScores(np.array([0.0, 1.0]), s - 50, s + 50)


def centroids(X, y):
    return Thresholds(X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0))


def test_points_are_the_counts_of_each_split(gaussians):
    X, y = gaussians(n=50, d=2)
    seen = []

    def fit(A, b):
        seen.append((A, b))
        return centroids(A, b)

    found = pc.empirical_tradeoff(X, y, fit, splits=5, rng=3, both=True)
    assert len(found.parts) == 5
    tnr, tpr = [], []
    for part, (A, b) in zip(found.parts, seen, strict=True):
        test = part.test
        assert len(A) == 35
        assert sorted(map(tuple, np.r_[A, X[test]])) == sorted(map(tuple, X))  # nobody is on both sides
        assert (y[test] > 0).sum() == 6  # stratified: 40 % of 15
        s = X[test] @ centroids(A, b).w
        levels = np.concatenate([[np.inf], np.sort(s)[::-1]])
        tnr += [np.mean(s[y[test] < 0] < level) for level in levels]
        tpr += [np.mean(s[y[test] > 0] >= level) for level in levels]
    np.testing.assert_allclose(found.points[0], tnr, atol=1e-12)
    np.testing.assert_allclose(found.points[1], tpr, atol=1e-12)
    np.testing.assert_allclose(found.fit.y, pc.empirical.monotone_fit(tnr, tpr).y, atol=1e-12)
    assert found.area == found.fit.area
    assert (found.hull_areas >= found.areas - 1e-12).all()


def test_the_result_depends_on_the_seed_alone(gaussians):
    X, y = gaussians(n=60)
    one = pc.empirical_tradeoff(X, y, centroids, splits=4)
    two = pc.empirical_tradeoff(X, y, centroids, splits=4, n_jobs=2)
    other = pc.empirical_tradeoff(X, y, centroids, splits=4, rng=1)
    np.testing.assert_array_equal(one.points, two.points)
    assert [part.test.tolist() for part in one.parts] != [part.test.tolist() for part in other.parts]
    bands = [each.band(0.9, draws=20) for each in (one, two)]
    np.testing.assert_array_equal(bands[0].lower, bands[1].lower)


def test_a_transformer_sees_the_training_part_only(gaussians):
    X, y = gaussians(n=60)

    def fit(A, b):
        np.testing.assert_allclose(A.mean(axis=0), 0, atol=1e-12)
        return centroids(A, b)

    found = pc.empirical_tradeoff(100 * X, y, fit, splits=3, transformer=StandardScaler())
    plain = pc.empirical_tradeoff(X, y, fit, splits=3, transformer=StandardScaler())
    np.testing.assert_allclose(found.areas, plain.areas)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"splits": 0}, "splits must be a whole number >= 1, got 0"),
        ({"splits": 1.5}, "splits must be a whole number >= 1"),
        ({"train_share": 1.0}, "train_share must lie strictly between 0 and 1, got 1.0"),
        ({"train_share": 0.001}, "y cannot be split with train_share = 0.001"),
    ],
)
def test_bad_splits_are_refused(gaussians, options, message):
    with pytest.raises(pc.InputError, match=message):
        pc.empirical_tradeoff(*gaussians(n=20), centroids, **options)


def test_a_class_too_small_for_both_parts_is_refused(gaussians):
    X, _ = gaussians(n=20)
    y = np.where(np.arange(20) < 1, 1, -1)
    with pytest.raises(pc.InputError, match="y cannot be split"):
        pc.empirical_tradeoff(X, y, centroids)
    y = np.where(np.arange(20) < 2, 1, -1)
    with pytest.raises(pc.InputError, match="leaves a held-out part of 2 samples one class"):
        pc.empirical_tradeoff(X, y, centroids, train_share=0.9)
    with pytest.raises(pc.InputError, match="tnr must lie in"):
        pc.empirical_tradeoff(*gaussians(n=20), centroids, splits=1).tpr_at(1.5)


def test_samples_may_be_sparse(gaussians):
    X, y = gaussians(n=40)
    dense, sparse = (
        pc.empirical_tradeoff(Z, y, lambda A, b: pc.gaussian_tradeoff(A, b).curve(50), splits=2)
        for Z in (X, sp.csr_array(X))
    )
    np.testing.assert_allclose(dense.points, sparse.points)


@pytest.mark.parametrize(
    ("fit", "message"),
    [
        (lambda A, b: pc.gaussian_tradeoff(A, b), "fit must return an object with a method scores.*GaussianTradeoff"),
        (lambda A, b: None, "fit must return an object with a method scores.*got NoneType"),
        (lambda A, b: pc.gaussian_tradeoff(A, b).minimax().classifier, "fit must return an object"),
    ],
)
def test_what_is_no_family_is_refused(gaussians, fit, message):
    with pytest.raises(pc.InputError, match=message):
        pc.empirical_tradeoff(*gaussians(n=40), fit, splits=1)


# Confidence bands.


def test_bands_cover_a_known_curve():
    """A slope that is known, two normal classes: the true curve is binormal. 90 % at each point; 90 % of curves."""

    def known(A, b):
        return Thresholds(np.array([1.0]))

    grid = np.linspace(0, 1, 101)
    some = np.arange(20, 91, 10)
    truth = norm.cdf(1.5 - norm.ppf(grid[1:-1]))
    hit = {"point": [], "curve": [], "area": []}
    found, widths = [], []
    rng = np.random.default_rng(0)
    y = np.repeat([1.0, -1.0], 100)
    for _ in range(80):
        X = rng.normal(size=(200, 1)) + 1.5 * (y[:, None] > 0)
        one = pc.empirical_tradeoff(X, y, known, splits=20)
        drawn = bootstrap(one.parts, y, 100, np.random.default_rng(1), grid)
        found.append(one.fit(grid))
        widths.append(drawn.values.std(axis=0))
        for name, simultaneous in (("point", False), ("curve", True)):
            band = drawn.band(0.9, simultaneous)
            within = ((band.lower[1:-1] <= truth) & (truth <= band.upper[1:-1]))[some - 1]
            hit[name].append(within if name == "point" else within.all())
        hit["area"].append(band.area[0] <= norm.cdf(1.5 / np.sqrt(2)) <= band.area[1])
    assert np.mean(hit["point"]) == pytest.approx(0.9, abs=0.04)
    assert np.mean(hit["curve"]) == pytest.approx(0.9, abs=0.08)
    assert np.mean(hit["area"]) == pytest.approx(0.9, abs=0.08)
    # The spread of the draws is the spread over data sets.
    np.testing.assert_allclose(np.mean(widths, axis=0)[some], np.std(found, axis=0)[some], rtol=0.25)


def test_a_simultaneous_band_holds_its_share_of_the_draws(gaussians):
    found = pc.empirical_tradeoff(*gaussians(n=60), centroids, splits=4)
    drawn = bootstrap(found.parts, found.y, 120, np.random.default_rng(0), np.linspace(0, 1, 21))
    for level in (0.5, 0.9):
        wide, narrow = drawn.band(level, True), drawn.band(level, False)
        inside = ((drawn.values >= wide.lower) & (drawn.values <= wide.upper)).all(axis=1)
        assert inside.mean() >= level
        assert (wide.lower <= narrow.lower + 1e-12).all()
        assert (wide.upper >= narrow.upper - 1e-12).all()
        assert narrow.area[0] < found.area < narrow.area[1]


def test_more_splits_do_not_narrow_the_band_away(gaussians):
    """The spread over splits would go to zero; what is not known about the samples stays."""
    X, y = gaussians(n=100)
    widths = []
    for splits in (10, 160):
        band = pc.empirical_tradeoff(X, y, centroids, splits=splits).band(draws=100)
        widths.append((band.upper - band.lower).mean())
    assert widths[1] > 0.5 * widths[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [({"level": 1.0}, "level must lie strictly between 0 and 1"), ({"draws": 1}, "draws must be at least 2")],
)
def test_bad_bands_are_refused(gaussians, options, message):
    found = pc.empirical_tradeoff(*gaussians(n=40), centroids, splits=2)
    with pytest.raises(pc.InputError, match=message):
        found.band(**{"draws": 3, **options})


def test_a_held_out_class_of_one_sample_has_a_band(gaussians):
    X, y = gaussians(n=20, positives=0.2)
    band = pc.empirical_tradeoff(X, y, centroids, splits=2).band(draws=30)
    assert np.isfinite(band.lower).all()
    assert (band.lower <= band.upper).all()


# Envelopes, and choices on validation folds.


def test_nested_areas_do_not_flatter_and_envelopes_do():
    line, envelopes, nested = ((0.02, 1.98), (1.98, 0.02)), [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 2)), np.where(rng.random(60) < 0.5, 1.0, -1.0)  # noise
        found = pc.empirical_tradeoff(
            X, y, lambda A, b: pc.trace(pc.TwoCSVM(A, b), *line), splits=4, both=True, nested=True, rng=seed
        )
        envelopes.append(found.hull_areas.mean())
        nested.append(found.nested_areas.mean())
    assert np.mean(envelopes) > 0.6
    assert abs(np.mean(nested) - 0.5) < 0.07


def test_the_svm_path_is_a_family(gaussians):
    X, y = gaussians(n=40)
    line = ((0.02, 1.98), (1.98, 0.02))
    found = pc.empirical_tradeoff(X, y, lambda A, b: pc.trace(pc.TwoCSVM(A, b), *line), splits=2, both=True)
    for part, area, hull in zip(found.parts, found.areas, found.hull_areas, strict=True):
        train = np.setdiff1d(np.arange(40), part.test)
        path = pc.trace(pc.TwoCSVM(X[train], y[train]), *line)
        assert area == pytest.approx(pc.roc_of_path(path, X[part.test], y[part.test], "asymmetry").auc, abs=0.02)
        assert hull == pytest.approx(pc.roc_of_path(path, X[part.test], y[part.test], "both").auc, abs=0.01)


# Real data.


@pytest.mark.skipif(not os.environ.get("PARETOCLF_DATA"), reason="PARETOCLF_DATA is not set")
def test_on_ionosphere_the_kernel_is_far_superior():
    """Kim et al., section 7.2, with our settings; and why the linear family needs a ridge there."""
    data = pc.datasets.load("ionosphere", data_dir=os.environ["PARETOCLF_DATA"])
    X = data.X[:, data.X.std(axis=0) > 0]
    assert X.shape == (351, 33)
    assert (X[data.y > 0, 0] == 1).all()
    with pytest.raises(pc.InputError, match=r"reg must be positive: the covariance of the positives \(225 samples"):
        pc.gaussian_tradeoff(X, data.y)
    linear, kernel = (
        pc.empirical_tradeoff(X, data.y, lambda A, b, o=o: pc.gaussian_tradeoff(A, b, **o).curve(60), splits=10)
        for o in ({"shrinkage": "ledoit-wolf"}, {"kernel": pc.RBF(2.0), "reg": 1e-3})
    )
    found = paired_areas(kernel, linear)
    assert found.wins == 10
    assert 1 - kernel.area < 0.5 * (1 - linear.area)
    assert found.p_corrected < 0.05


# The picture.


def test_the_picture_shows_curve_band_and_points(gaussians):
    found = pc.empirical_tradeoff(*gaussians(n=60), centroids, splits=3, name="centroids")
    display = found.plot(draws=20, title="three splits")
    ax = display.ax_
    assert display.figure_ is ax.figure
    label = next(text.get_text() for text in ax.get_legend().get_texts())
    assert label == f"centroids (area {found.area:.3f})"
    line = next(each for each in ax.lines if each.get_label() == label)
    np.testing.assert_allclose(line.get_ydata(), found.fit(line.get_xdata()))
    assert "true negative" in ax.get_xlabel()
    assert "true positive" in ax.get_ylabel()
    assert len(ax.collections) == 2  # points and band
    ax.figure.canvas.draw()
    bare = found.plot(points=False, level=None)
    assert not bare.ax_.collections
    with pytest.raises(pc.InputError, match="tradeoffs must hold at least one"):
        type(display).from_tradeoffs()
