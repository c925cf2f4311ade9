"""Rules that take a t: against a fine grid, and against what they say of themselves."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.roc.error_surface import ErrorSurface
from paretoclf.roc.scores import PathScores
from paretoclf.tuning.selection import check_selection, choose


@pytest.fixture(params=range(4))
def surface(request, gaussians):
    X, y = gaussians(60, 2, seed=request.param, positives=0.3)
    return pc.cross_validated_surface(pc.TwoCSVM(X, y, pc.RBF(1.0)), (0, 2), (2, 0), folds=4)


COSTS = [pc.Costs(5, 1), pc.Costs(1, 20), pc.Costs(1, 1)]


def on_grid(surface, costs, t):
    """Held-out cost of all samples at some t."""
    counts = surface.counts(t).sum(axis=1)
    return costs.C_plus * counts[:, 1] + costs.C_minus * counts[:, 0]


@pytest.mark.parametrize("costs", COSTS, ids=str)
def test_longest_and_first_are_best(surface, costs):
    best = surface.curve().best(costs)
    longest, first = choose(surface, costs, "longest"), choose(surface, costs, "first")
    grid = np.linspace(0, 1, 4001)
    least = on_grid(surface, costs, grid).min()
    assert all(on_grid(surface, costs, np.array([each.t]))[0] <= least for each in (longest, first))
    assert first.t <= min(each.stop for each in best)
    assert longest.t == next(each.t for each in best if each.width == max(x.width for x in best))


@pytest.mark.parametrize("costs", COSTS, ids=str)
@pytest.mark.parametrize("width", [0.02, 0.1, 0.5, 1.0])
def test_no_window_of_a_grid_has_a_smaller_mean_cost(surface, costs, width):
    m = 20_000  # cells of the grid
    cost = on_grid(surface, costs, (np.arange(m) + 0.5) / m)
    total = np.concatenate([[0.0], np.cumsum(cost)]) / m

    def mean(t):
        a, b = (np.clip(t + sign * width / 2, 0.0, 1.0) for sign in (-1, 1))
        low, up = (np.interp(each, np.linspace(0, 1, m + 1), total) for each in (a, b))
        return (up - low) / (b - a)

    t = choose(surface, costs, width).t
    assert mean(t) <= mean(np.linspace(0, 1, 1001)).min() + 40 * cost.max() / (m * width)


def test_a_window_as_wide_as_the_line_takes_its_place():
    scores = PathScores(np.array([0.0, 1.0]), np.array([[-1.0], [1.0]]), np.array([[3.0], [1.0]]))
    surface = ErrorSurface([scores], [[-1, 1]])  # wrong after t = 1/4
    assert choose(surface, pc.Costs(1, 1), 0.1).t == pytest.approx(0.1)  # right for all windows up to 0.2
    assert choose(surface, pc.Costs(1, 1), "longest").t == pytest.approx(0.125)


@pytest.mark.parametrize("costs", COSTS, ids=str)
def test_one_standard_error_is_kept(surface, costs):
    best = choose(surface, costs).t
    t = choose(surface, costs, "one-se").t
    counts = surface.counts(best)
    means = (counts @ [costs.C_minus, costs.C_plus]) / surface.sizes
    limit = on_grid(surface, costs, np.array([best]))[0] / 60 + means.std(ddof=1) / 2 + 1e-12
    assert on_grid(surface, costs, np.array([t]))[0] / 60 <= limit
    grid = np.linspace(0, 1, 4001)
    fine = grid[on_grid(surface, costs, grid) / 60 <= limit]
    assert abs(t - costs.asymmetry) <= np.abs(fine - costs.asymmetry).min() + 1e-7  # so far inside its interval


@pytest.mark.parametrize("costs", COSTS, ids=str)
def test_a_threshold_is_no_dearer_than_none(surface, costs):
    t, shift = choose(surface, costs, "threshold")
    (counts,) = surface.counts(np.array([t]), np.array([shift]))
    found = counts.sum(axis=0) @ [costs.C_minus, costs.C_plus]
    assert found <= on_grid(surface, costs, np.linspace(0, 1, 51)).min() + 1e-9 or found <= min(18 * costs.C_plus, 42)


def test_rules_are_checked():
    for given in ("last", 0.0, 1.5, None, True, np.nan, [0.1]):
        with pytest.raises(InputError, match="selection must be one of"):
            check_selection(given)
    assert check_selection(0.05) == 0.05


@pytest.mark.parametrize("rule", ["one-se", "longest", "first", 0.05])
@pytest.mark.parametrize("costs", [(8, 1), (1, 3)])
def test_the_score_is_the_held_out_cost_where_the_classifier_is_trained(rule, costs):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [60, 30])
    X = rng.normal(size=(90, 2)) + y[:, None]
    for seed in range(4):
        cv = StratifiedKFold(5, shuffle=True, random_state=seed)
        svm = pc.CostPathSVCCV(kernel="linear", costs=costs, selection=rule, pos_label=1, cv=cv).fit(X, y)
        fp, fn = svm.errors_.counts(svm.best_t_)
        assert svm.best_score_ == -(costs[0] * fn + costs[1] * fp) / 90
        trained = pc.CostPathSVC(kernel="linear", costs=svm.best_costs_, pos_label=1)
        said = cross_val_predict(trained, X, y, cv=cv)
        misses, alarms = ((said == 0) & (y == 1)).sum(), ((said == 1) & (y == 0)).sum()
        assert svm.best_score_ == pytest.approx(-(costs[0] * misses + costs[1] * alarms) / 90)


@pytest.mark.parametrize("rule", ["first", "one-se", "threshold", 0.05])
def test_the_estimator_takes_what_the_rule_says(gaussians, rule):
    X, y = gaussians(80, 2, seed=3, positives=0.3)
    svm = pc.CostPathSVCCV(costs=(5, 1), selection=rule, bandwidth=1.0, cv=4).fit(X, y)
    assert svm.solution_ is not None
    t = svm.best_t_
    model = SVC(gamma=0.5, class_weight={1: 2 * t, -1: 2 * (1 - t)}, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(svm.decision_function(X), model.decision_function(X) + svm.shift_, atol=1e-5)
    assert (svm.shift_ != 0.0) == (rule == "threshold")
    for costs in ((1, 20), (1, 1)):
        np.testing.assert_array_equal(svm.decision_function(X, costs), svm.set_costs(costs).decision_function(X))
    with pytest.raises(InputError, match="selection must be left out where scoring is given"):
        pc.CostPathSVCCV(selection=rule, scoring="accuracy").fit(X, y)


def test_one_label_for_all_is_a_finite_shift(gaussians):
    X, y = gaussians(40, 2, seed=0, positives=0.5)
    rng = np.random.default_rng(0)
    svm = pc.CostPathSVCCV(costs=(1, 1000), selection="threshold", bandwidth=1.0).fit(X, rng.permutation(y))
    scores = svm.decision_function(X)
    assert np.isfinite(scores).all()
    assert svm.best_score_ <= 0
