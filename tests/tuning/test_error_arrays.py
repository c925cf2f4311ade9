"""Cross-validated error arrays against other solvers, the methods of `tune` against each other, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import NuSVC

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.problem.gram import Gram
from paretoclf.problem.nu import to_asymmetry
from paretoclf.tuning import ExpectedCost, GaussianWindow, MedianWindow, Minimax, NeymanPearson, smooth
from paretoclf.tuning.cross_validation import folds_of
from paretoclf.tuning.error_arrays import CountGrid, CrossValidation, _boxes

BANDWIDTHS, PLUS, MINUS = np.array([0.7, 1.9]), np.array([0.31, 0.57, 0.93]), np.array([0.37, 0.71])


def data(n=60, seed=0, apart=0.8, d=2):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < 0.4 * n, 1.0, -1.0)
    return rng.normal(size=(n, d)) + apart * y[:, None], y


def validation(X, y, plus=PLUS, minus=MINUS, folds=3, bandwidths=BANDWIDTHS, kernel=None, **more):
    axes = {"bandwidth": bandwidths, "nu_plus": plus, "nu_minus": minus}
    return CrossValidation(X, y, axes, kernel, folds_of(y, folds, 0), CountGrid(plus, minus), **more)


def everything(cross):
    return cross.evaluate(np.ones(cross.arrays.shape, dtype=bool))


def libsvm(X, y, train, test, bandwidth, nu_plus, nu_minus):
    """Labels of LIBSVM's 2nu-SVM: scikit-learn's NuSVC with weights of the samples."""
    labels = y[train]
    nu, asymmetry = to_asymmetry(nu_plus, nu_minus, int((labels > 0).sum()), int((labels < 0).sum()))
    weight = np.where(labels > 0, asymmetry, 1 - asymmetry) / labels.size
    model = NuSVC(nu=nu / weight.sum() * (1 - 1e-10), gamma=0.5 / bandwidth**2, tol=1e-9)
    return model.fit(X[train], labels, sample_weight=weight).predict(X[test])


# ---- error arrays ---------------------------------------------------------------------------------------------------


def test_counts_are_those_of_libsvm_added_over_stratified_folds():
    X, y = data()
    arrays = everything(validation(X, y))
    splitter = StratifiedKFold(3, shuffle=True, random_state=0)
    for s, bandwidth in enumerate(BANDWIDTHS):
        for i, nu_plus in enumerate(PLUS):
            for j, nu_minus in enumerate(MINUS):
                fp = fn = 0
                for train, test in splitter.split(X, y):
                    positive = libsvm(X, y, train, test, bandwidth, nu_plus, nu_minus) > 0
                    fp, fn = fp + (positive & (y[test] < 0)).sum(), fn + (~positive & (y[test] > 0)).sum()
                assert (arrays.false_positives[s, i, j], arrays.false_negatives[s, i, j]) == (fp, fn)
    assert arrays.false_positives.dtype == np.float32
    assert (arrays.n_plus, arrays.n_minus, arrays.cells) == (24, 36, 12)
    assert arrays.fpr[0, 0, 0] == float(arrays.false_positives[0, 0, 0]) / 36


def test_trivial_cells_have_no_error_and_are_counted():
    """A line cannot separate XOR: small nu are below nu_star of the linear program in every fold."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    plus = minus = np.array([0.13, 0.99])
    cross = validation(X, y, plus, minus, kernel=pc.Linear(), bandwidths=np.array([np.nan]))
    arrays = everything(cross)
    for i, j in ((0, 0), (1, 1)):
        expected = 0
        for train, _ in cross.folds:
            svm = pc.TwoNuSVM(X[train], y[train])
            nu, asymmetry = svm.to_asymmetry(plus[i], minus[j])
            expected += nu < svm.nu_star(asymmetry)
        assert arrays.trivial[0, i, j] == expected
        assert np.isnan(arrays.fpr[0, i, j]) == (expected > 0)
    assert arrays.trivial[0, 0, 0] == 3
    assert "trivial" in repr(arrays)
    assert arrays.without == int(np.isnan(arrays.fpr).sum()) > 0
    tuned = pc.tune(X, y, kernel="linear", nu_plus=plus, folds=3, smoothing="3d")
    assert tuned.arrays.at(tuned.cell) == {"nu_plus": 0.99, "nu_minus": 0.99}
    assert f"({tuned.arrays.without} without classifier)" in repr(tuned)


def test_all_cells_trivial_is_one_clear_error():
    X, y = np.repeat([[0.0], [1.0]], 10, axis=0), np.tile([-1.0, 1.0], 10)  # both labels at either point
    with pytest.raises(InputError, match="got nan at all 4"):
        pc.tune(X, y, kernel="linear", nu_plus=2, folds=2)


def test_some_cells_first_and_the_others_later_are_the_same_counts():
    X, y = data()
    whole, piecewise = everything(validation(X, y)), validation(X, y)
    some = np.zeros(whole.shape, dtype=bool)
    some[0, 1], some[1, :, 0] = True, True
    first = piecewise.evaluate(some)
    assert np.array_equal(first.evaluated, some)
    assert np.isnan(first.fpr[~some]).all()
    assert np.array_equal(everything(piecewise).false_positives, whole.false_positives)


def test_processes_do_not_change_the_counts():
    X, y = data(30)
    alone, two = everything(validation(X, y)), everything(validation(X, y, n_jobs=2))
    assert np.array_equal(alone.false_negatives, two.false_negatives)


def test_an_interrupted_run_goes_on_where_it_was(tmp_path, monkeypatch):
    X, y = data(30)
    file = tmp_path / "errors.npz"
    first = validation(X, y, resume=file)
    half = np.zeros(first.arrays.shape, dtype=bool)
    half[1] = True
    first.evaluate(half)
    seen = []
    count = CountGrid.__call__
    monkeypatch.setattr(CountGrid, "__call__", lambda self, *a: seen.append(a[3].sum()) or count(self, *a))
    again = validation(X, y, resume=file)
    assert again.arrays.seconds == first.arrays.seconds
    found = everything(again)
    assert seen == [6]  # the other bandwidth only
    assert np.array_equal(found.false_positives, everything(validation(X, y)).false_positives)
    assert [p.name for p in tmp_path.iterdir()] == ["errors.npz"]
    with pytest.raises(InputError, match="resume must be of the same samples, folds and options"):
        validation(X + 1, y, resume=file)
    file.write_bytes(b"not one")
    with pytest.raises(InputError, match=r"resume must hold files of this run.*delete it to compute it again"):
        validation(X, y, resume=file)


def linear(U, V):
    return U @ V.T


def test_a_file_to_resume_from_is_of_one_criterion(tmp_path):
    X, y = data(30)
    file = tmp_path / "errors.npz"

    class Weighted(ExpectedCost):
        """A user's own."""

        __repr__ = object.__repr__

    def tuned(C_plus):
        options = {"kernel": linear, "nu_plus": 3, "folds": 3, "resume": file, "smoothing": "none"}
        return pc.tune(X, y, Weighted(C_plus, 1.0, 0.5), "bias-shift", **options)

    tuned(1.0)
    assert tuned(1.0).parameters
    with pytest.raises(InputError, match=r"resume must be of the same samples.*C_plus: 1.0 there, 5.0 here"):
        tuned(5.0)


def test_boxes_cover_a_mask_once():
    rng = np.random.default_rng(0)
    cross = np.zeros((6, 7), dtype=bool)
    cross[2:4], cross[:, 5] = True, True
    assert len(_boxes(cross)) == 2
    for mask in (cross, rng.random((6, 7)) < 0.5, np.zeros((3, 3), dtype=bool)):
        times = np.zeros(mask.shape, dtype=int)
        for box in _boxes(mask):
            times[box] += 1
        assert np.array_equal(times, mask)


def test_a_precomputed_kernel_has_the_counts_of_its_samples():
    X, y = data()
    alone = everything(validation(X, y, bandwidths=BANDWIDTHS[:1]))
    matrix = pc.RBF(0.7)(X, X)
    same = everything(
        validation(matrix, y, bandwidths=np.array([np.nan]), kernel=pc.Gram(matrix, "precomputed").kernel)
    )
    assert np.array_equal(alone.false_positives, same.false_positives)


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.0), "poly"])
def test_a_part_of_a_gram(kernel):
    X, _ = data(20)
    gram, index, rows = Gram(X, kernel), np.array([3, 1, 8]), np.array([0, 5])
    part = gram.part(index)
    assert np.allclose(part.matrix, Gram(X[index], kernel).matrix, rtol=1e-14)
    assert np.allclose(part.cross(gram.part_of_new(index, rows)), gram.matrix[np.ix_(rows, index)], rtol=1e-14)


# ---- bandwidths -----------------------------------------------------------------------------------------------------


# ---- one nu ---------------------------------------------------------------------------------------------------------


def test_the_shift_is_in_the_units_of_the_solution():
    """Trained and tested on all samples, the shifted classifier has the errors that were counted."""
    X, y = data(50, apart=0.4)
    both = np.arange(50)
    tuned = pc.tune(
        X, y, method="bias-shift", bandwidths=3, nu_plus=[0.33, 0.66], folds=[(both, both)], smoothing="none"
    )
    assert tuned.rates(X, y) == pytest.approx((tuned.raw_fpr, tuned.raw_fnr))
    assert tuned.parameters["shift"] != 0.0
    sizes = 20, 30
    _, asymmetry = to_asymmetry(tuned.parameters["nu_plus"], tuned.parameters["nu_minus"], *sizes)
    assert asymmetry == pytest.approx(0.5)


# ---- exact lines ----------------------------------------------------------------------------------------------------


# ---- the cost plane -------------------------------------------------------------------------------------------------


# ---- tune -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", [Minimax(), NeymanPearson(0.2)])
@pytest.mark.parametrize("smoothing", ["none", "2d", "3d"])
def test_every_search_takes_the_best_of_what_it_looked_at(criterion, smoothing):
    X, y = data(50)
    options = {"bandwidths": 4, "nu_plus": np.arange(1, 9) / 8 - 0.01, "folds": 3, "smoothing": smoothing}
    whole = pc.tune(X, y, criterion, **options)
    objective = np.where(np.isnan(whole.smoothed[0]), np.inf, criterion(*whole.smoothed))
    assert whole.objective == pytest.approx(objective.min())
    for method in ("coordinate-descent-2d", "coordinate-descent-3d"):
        found = pc.tune(X, y, criterion, method, **options)
        assert found.objective >= whole.objective
        assert found.arrays.cells <= whole.arrays.cells
        assert (found.fpr, found.fnr) == pytest.approx([each[found.cell] for each in whole.smoothed], abs=1e-12)
        assert found.raw_fpr == whole.arrays.fpr[found.cell]
        p = found.parameters
        expected = pc.TwoNuSVM(X, y, pc.RBF(p["bandwidth"])).solve(nu_plus=p["nu_plus"], nu_minus=p["nu_minus"])
        assert np.allclose(found.classifier.decision_function(X), expected.classifier.decision_function(X), atol=1e-7)


def test_the_guarantee_uses_negatives_that_nothing_else_saw():
    X, y = data(200)
    tuned = pc.tune(X, y, NeymanPearson(0.1), bandwidths=2, nu_plus=4, folds=3, delta=0.1, rng=5)
    assert tuned.guarantee.negatives == 60
    assert tuned.arrays.n_minus == 60
    left = np.sort(np.random.default_rng(5).permutation(np.flatnonzero(y < 0))[:60])
    assert (tuned.predict(X[left]) > 0).sum() == 60 - tuned.guarantee.rank
    kept = np.setdiff1d(np.arange(200), left)
    without = pc.tune(X[kept], y[kept], NeymanPearson(0.1), bandwidths=2, nu_plus=4, folds=3, rng=5)
    assert without.parameters == tuned.parameters


def test_a_transformer_is_fitted_on_what_is_tuned_on_and_on_nothing_left_out():
    X, y = data(120)
    X = 5 * X + 3
    how = {"bandwidths": 2, "nu_plus": 4, "folds": 3, "rng": 1}
    tuned = pc.tune(X, y, NeymanPearson(0.2), transformer=StandardScaler(), delta=0.2, **how)
    left = np.sort(np.random.default_rng(1).permutation(np.flatnonzero(y < 0))[:36])
    kept = np.setdiff1d(np.arange(120), left)
    assert np.allclose(tuned.transformer.mean_, X[kept].mean(axis=0))
    same = pc.tune(StandardScaler().fit_transform(X[kept]), y[kept], NeymanPearson(0.2), **how)
    assert same.parameters == tuned.parameters
    scores = same.classifier.decision_function(tuned.transformer.transform(X)) - tuned.guarantee.threshold
    assert np.allclose(tuned.classifier.decision_function(X), scores)
    assert (tuned.predict(X[left]) > 0).sum() == 36 - tuned.guarantee.rank
    fpr, fnr = tuned.held_out(X, y)
    assert (fpr[tuned.cell[1:]], fnr[tuned.cell[1:]]) == pytest.approx(same.rates(tuned.transformer.transform(X), y))
    with pytest.raises(InputError, match="transformer must be left out for kernel='precomputed'"):
        pc.tune(X @ X.T, y, transformer=StandardScaler(), kernel="precomputed")


def test_what_is_drawn():
    X, y = data(40)
    tuned = pc.tune(X, y, bandwidths=2, nu_plus=4, folds=2)
    display = tuned.plot(*data(30, seed=1))
    assert list(display.panels) == ["cross-validated", "smoothed", "test samples"]
    assert np.array_equal(display.panels["smoothed"], np.maximum(*tuned.smoothed)[tuned.cell[0]])
    labels = data(30, seed=1)[1]
    fpr, fnr = tuned.held_out(*data(30, seed=1))
    i, j = tuned.cell[1:]
    assert (fpr[i, j], fnr[i, j]) == tuned.rates(data(30, seed=1)[0], labels)
    one = pc.tune(X, y, method="balanced", bandwidths=2, nu_plus=4, folds=2)
    assert list(one.plot().panels) == ["cross-validated", "smoothed"]
    lines = pc.tune(X, y, method="exact-lines", bandwidths=2, nu_plus=4, folds=2)
    with pytest.raises(InputError, match="no error arrays to draw for method 'exact-lines'"):
        lines.plot()
    with pytest.raises(InputError, match="both or neither"):
        tuned.plot(X)


def test_smoothing_other_widths_and_medians_is_a_word_away():
    X, y = data(40)
    for window in (GaussianWindow(3, 5, 2.0), MedianWindow(2)):
        tuned = pc.tune(X, y, bandwidths=2, nu_plus=4, folds=2, smoothing=window)
        assert np.array_equal(tuned.smoothed[0], smooth(tuned.arrays.fpr, window))


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"method": "random"}, "method must be one of grid, coordinate-descent-2d"),
        ({"criterion": Minimax}, "criterion must be Minimax"),
        ({"criterion": "minimax"}, "criterion must be Minimax"),
        ({"nu_plus": []}, "nu_plus must be one or more numbers"),
        ({"nu_plus": [0.5, 0.2]}, "nu_plus must be increasing"),
        ({"nu_plus": [0.0, 0.5]}, r"nu_plus must be within \(0, 1\]"),
        ({"nu_minus": [0.5, 1.5]}, r"nu_minus must be within \(0, 1\]"),
        ({"nu_plus": 0}, "nu_plus must be at least 1"),
        ({"nu_plus": True}, "nu_plus must"),
        ({"bandwidths": []}, "bandwidths must be one or more numbers"),
        ({"bandwidths": [2.0, 1.0]}, "bandwidths must be increasing"),
        ({"bandwidths": [-1.0, 1.0]}, "bandwidths must be positive and finite"),
        ({"bandwidths": 0}, "count must be a whole number of at least 1"),
        ({"bandwidths": [1.0], "kernel": "linear"}, "bandwidths must be left out with kernel"),
        ({"kernel": pc.RBF(2.0)}, r"kernel must be left out for Gaussian kernels: give bandwidths=\[2\]"),
        ({"folds": 9}, r"folds must be at least 2 and at most the size of the smaller class \(8\), got 9"),
        ({"folds": 1}, "folds must be at least 2"),
        ({"smoothing": "4d"}, "smoothing must be 'none', '2d', '3d'"),
        ({"method": "cost-plane", "smoothing": "3d"}, "smoothing must be 'auto' or 'none' for method 'cost-plane'"),
        ({"method": "cost-plane", "costs": (2, 1)}, "costs must be a pair with 0 < lo < hi"),
        (
            {"method": "exact-lines", "smoothing": MedianWindow()},
            "smoothing must be 'none' or a GaussianWindow",
        ),
        ({"method": "balanced", "nu_minus": 5}, "nu_minus must be left out for method 'balanced'"),
        ({"delta": 0.1}, "delta must be left out for Minimax"),
        ({"criterion": NeymanPearson(0.1), "delta": 1.0}, "delta must lie strictly between 0 and 1"),
        ({"criterion": NeymanPearson(0.5), "delta": 0.5, "left_out": 1.5}, "left_out must lie strictly"),
        ({"y": np.ones(20)}, "y must contain both classes"),
        ({"X": np.full((20, 1), np.nan)}, "X must be finite"),
    ],
)
def test_bad_input(how, words):
    X, y = data(20)
    options = {"nu_plus": 2, "folds": 2, **how}
    with pytest.raises(InputError, match=words):
        pc.tune(options.pop("X", X), options.pop("y", y), **options)
