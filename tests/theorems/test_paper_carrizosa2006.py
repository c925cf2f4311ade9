"""Section 5 of Carrizosa & Martin-Barragan (2006), as `examples/papers/carrizosa2006.py` repeats it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

import paretoclf as pc

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from examples.papers import carrizosa2006 as example

needs_data = pytest.mark.skipif("PARETOCLF_DATA" not in os.environ, reason="PARETOCLF_DATA is not set")


@pytest.fixture(scope="module")
def wdbc():
    return pc.datasets.load("wdbc")


@pytest.fixture(scope="module")
def drawn(wdbc):
    """The training and the test part of seed 0."""
    order = np.random.default_rng(0).permutation(wdbc.n)
    return order[:100], order[100:]


@pytest.fixture(scope="module")
def found(wdbc):
    patch = pytest.MonkeyPatch()
    patch.setattr(example, "GRID", (0.125, 2.0))
    yield example.study(wdbc.X, wdbc.y, 0)
    patch.undo()


def problem_26(X, y, C):
    """Value, slope and intercept for the data as they are; the variables are w * scale and b + w . middle."""
    middle, scale = X.mean(axis=0), X.std(axis=0)
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    slacks = cp.pos(1 - cp.multiply(y, ((X - middle) / scale) @ w + b))
    value = cp.Problem(cp.Minimize(cp.sum_squares(w / scale) + C * cp.sum_squares(slacks))).solve(solver="CLARABEL")
    slope = w.value / scale
    return value, slope, b.value - slope @ middle


def test_cvxpy_solves_problem_26_to_the_same(found, wdbc, drawn):
    X, y = wdbc.X[drawn[0]], wdbc.y[drawn[0]]
    value, w, b = problem_26(X, y, found.C)
    assert found.path.value(0.5) == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(X @ found.path.slope(0.5) + found.path.intercept(0.5), X @ w + b, atol=1e-4)


def test_rates_at_every_delta_are_those_of_the_shifted_classifier(found, wdbc, drawn):
    w, b = found.path.slope(0.5), found.path.intercept(0.5)
    for part, curve in zip(drawn, (found.train, found.test), strict=True):
        f, y = wdbc.X[part] @ w + b, wdbc.y[part]
        for delta in (-7.3, -1.4, -0.99, -0.2, 0.0, 0.31, 0.99, 2.7, 11.0):
            by_hand = (f - delta >= 0)[y > 0].mean(), (f - delta < 0)[y < 0].mean()
            assert found.rates(curve, delta) == pytest.approx(by_hand, abs=1e-12)
            if abs(delta) < 1:
                labels = found.path.rule(0.5 * (1 - delta)).predict(wdbc.X[part])
                assert by_hand == pytest.approx(((labels > 0)[y > 0].mean(), (labels < 0)[y < 0].mean()), abs=1e-12)


def test_cross_validation_by_cvxpy(found, wdbc, drawn):
    X, y = wdbc.X[drawn[0]], wdbc.y[drawn[0]]
    for C in found.accuracy:
        right = 0
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
            _, w, b = problem_26(X[train], y[train], C)
            right += int(np.count_nonzero(np.sign(X[test] @ w + b) == y[test]))
        assert found.accuracy[C] == right / 100
    assert found.accuracy[found.C] == max(found.accuracy.values())


def test_theorem_7_on_the_training_samples(found):
    checked = example.check(found)
    assert checked["worst gap"] < 1e-11
    assert checked["missing inside"] < 1e-10
    assert (checked["optimal inside"], checked["optimal outside"]) == (1.0, 0.0)


def test_the_pareto_set_is_a_part_of_the_roc_curve(found):
    """Erratum eC5: the ROC curve varies beta over all values, the Pareto set of (29) ends at a distance of 1."""
    for curve in (found.train, found.test):
        (low, _), (_, high) = found.rates(curve, 1.0), found.rates(curve, -1.0)
        assert low > 0.5  # sensitivity; the curve goes on to 0
        assert high > 0.5  # specificity; the same
        assert found.rates(curve, 1e6) == (0.0, 1.0)
        assert found.rates(curve, -1e6) == (1.0, 0.0)


def test_figures_and_what_is_printed(found, wdbc, tmp_path, capsys):
    example.table_1("wdbc", wdbc)
    example.tell("wdbc", found, example.check(found))
    example.tell_draws("wdbc", [found, found])
    printed = capsys.readouterr().out
    assert "n 569, p 30 (printed: n 569, p 30); +1 is malignant (212 of 569)" in printed
    assert "(printed: 2, here 0.9" in printed
    assert "wdbc: 2 draws, log2 C -3 to -3, median -3 (the printed one in 0; it costs 0.010 of accuracy)" in printed
    example.roc_figure("wdbc", found, tmp_path / "roc.png")
    example.delta_figure("wdbc", found, tmp_path / "delta.png")
    assert min((tmp_path / name).stat().st_size for name in ("roc.png", "delta.png")) > 10_000


def test_without_a_folder_there_are_wdbc_and_generated_sets():
    assert [name for name, _ in example.data_sets(None)] == ["wdbc", "gaussians", "bimodal"]


@needs_data
def test_table_1():
    sets = dict(example.data_sets(os.environ["PARETOCLF_DATA"]))
    assert {name: (data.n, data.d) for name, data in sets.items()} == {
        name: (printed.n, printed.d) for name, printed in example.PRINTED.items()
    }


@needs_data
def test_bupa_has_six_predictors():
    """Besides the label; the printed p = 5 is what is left without the drinks."""
    data = pc.datasets.load("bupa", data_dir=os.environ["PARETOCLF_DATA"])
    assert data.d == 6
    assert data.feature_names[-1] == "drinks"


@needs_data
def test_a_variable_of_ionosphere_is_constant_and_one_is_binary():
    """Erratum eC7: "predictor variables are all continuous"."""
    data = pc.datasets.load("ionosphere", data_dir=os.environ["PARETOCLF_DATA"])
    assert sorted(set(data.X[:, 0])) == [0, 1]
    assert set(data.X[:, 1]) == {0}
