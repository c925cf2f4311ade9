"""CostPathSVC: a citizen of scikit-learn, whose every classifier is that of LIBSVM."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import paretoclf as pc
from paretoclf.problem.kernels import Polynomial

#: Labels are texts here, and which of the two is positive is not said: `test_pos_label` has that.
pytestmark = pytest.mark.filterwarnings("ignore::paretoclf.common.errors.PositiveClassWarning")

UNWEIGHTED_SCALE = "gamma='scale' is that of SVC: the variance of X, whatever the weights"


def not_expected(estimator):
    if estimator.kernel != "rbf" or estimator.bandwidth is not None:
        return {}
    name = "check_sample_weight_equivalence_on_{}_data"
    return {name.format(kind): UNWEIGHTED_SCALE for kind in ("dense", "sparse")}


@parametrize_with_checks(
    [pc.CostPathSVC(), pc.CostPathSVC(kernel="linear"), pc.CostPathSVC(start=(0, 0), stop=(1, 1), bandwidth=1.0)],
    expected_failed_checks=not_expected,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("options", [{}, {"kernel": "linear"}, {"gamma": "auto"}, {"gamma": 0.3}])
@pytest.mark.parametrize("weight", [None, "balanced", {"no": 2.0, "yes": 0.5}])
def test_every_point_of_the_line_is_an_svc(gaussians, options, weight):
    X, y = gaussians(n=60, seed=1, positives=0.3)
    labels = np.where(y > 0, "yes", "no")
    sample_weight = np.random.default_rng(0).uniform(0.5, 2.0, size=y.size)
    svm = pc.CostPathSVC(C=0.7, class_weight=weight, **options).fit(X, labels, sample_weight)
    theirs = {"kernel": "rbf", "gamma": "scale", **options, "class_weight": weight, "tol": 1e-10}
    for costs in [None, (1, 1), (1, 9), (3, 1)]:
        svm.set_costs(costs)
        caps = sample_weight * np.where(y > 0, svm.costs_.C_plus, svm.costs_.C_minus)
        svc = SVC(C=1.0, **theirs).fit(X, labels, caps)
        low, high = svm.solution_.classifier.b_interval
        np.testing.assert_allclose(
            svm.decision_function(X) - svm.intercept_, svc.decision_function(X) - svc.intercept_, atol=1e-6
        )
        assert low - 1e-6 <= svc.intercept_[0] <= high + 1e-6
        np.testing.assert_array_equal(svm.decision_function(X), svm.decision_function(X, costs=svm.costs_))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("options", [{}, {"start": (0, 0), "stop": (1, 1)}])
def test_of_an_interval_of_intercepts_the_middle_is_taken_as_in_libsvm(seed, options):
    # Equal classes and a small C: in the middle of the line, and along the ray, every multiplier is at its cap.
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 5 * rng.integers(2, 8))  # so that those of each of five folds are equal, too
    X = rng.normal(size=(y.size, 2)) + y[:, None]
    kernel, C = ("rbf", "linear")[seed % 2], 10.0 ** rng.uniform(-4, -2.5)
    svm, svc = (each.fit(X, y) for each in (pc.CostPathSVC(C=C, kernel=kernel, **options), SVC(C=C, kernel=kernel)))
    low, high = svm.solution_.classifier.b_interval
    assert high - low > 0.5
    assert svm.intercept_[0] == pytest.approx(0.5 * (low + high), abs=1e-12)
    new = rng.normal(size=(100, 2)) + 0.5
    np.testing.assert_allclose(svm.decision_function(new), svc.decision_function(new), atol=1e-6)
    np.testing.assert_array_equal(svm.decision_function(new), svm.decision_function(new, costs=svm.costs_))
    assert svm.solution_.certificate.passes()
    chosen = pc.CostPathSVCCV(C=C, kernel=kernel).fit(X, y)
    assert chosen.best_t_ == 0.5
    np.testing.assert_allclose(chosen.decision_function(new), svc.decision_function(new), atol=1e-6)


def test_costs_choose_a_point_of_the_line_and_class_weight_multiplies_c(gaussians):
    X, y = gaussians()
    one, ten = (pc.CostPathSVC(costs=costs).fit(X, y) for costs in [(5, 1), (50, 10)])
    np.testing.assert_array_equal(one.decision_function(X), ten.decision_function(X))
    assert one.costs_.C_plus == pytest.approx(5 / 3)
    assert one.costs_.C_minus == pytest.approx(1 / 3)
    for svm, weight in ((one, {1: 5 / 3, -1: 1 / 3}), (pc.CostPathSVC(class_weight={1: 5}).fit(X, y), {1: 5})):
        svc = SVC(class_weight=weight, tol=1e-10).fit(X, y)
        np.testing.assert_allclose(svm.decision_function(X), svc.decision_function(X), atol=1e-6)


def test_the_polynomial_of_svc_has_to_be_named(gaussians):
    X, y = gaussians()
    theirs = SVC(kernel="poly", tol=1e-10).fit(X, y)
    kernel = pc.Polynomial(3, scale=1 / (X.shape[1] * X.var()), offset=0)
    ours = pc.CostPathSVC(kernel=kernel).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    named = SVC(kernel="poly", gamma=1 / X.shape[1], coef0=1, tol=1e-10).fit(X, y)
    scores = pc.CostPathSVC(kernel="poly").fit(X, y).decision_function(X)
    np.testing.assert_allclose(scores, named.decision_function(X), atol=1e-5)


def test_a_column_of_dates_is_named(gaussians):
    X, y = gaussians(n=30)
    frame = pd.DataFrame({"a": X[:, 0], "seen": pd.date_range("2020", periods=30)})
    with pytest.raises(pc.InputError, match=r"whose column 'seen' has .*OneHotEncoder in a Pipeline"):
        pc.CostPathSVC().fit(frame, y)


@pytest.mark.parametrize("name", ["coef_", "intercept_"])
def test_an_attribute_before_fit_says_so(name):
    with pytest.raises(AttributeError, match=f"{name} is there after fit: this CostPathSVC is not fitted yet"):
        getattr(pc.CostPathSVC(kernel="linear"), name)


def test_costs_of_one_call_leave_those_that_are_set(gaussians):
    X, y = gaussians()
    svm = pc.CostPathSVC(costs=(1, 5)).fit(X, y)
    assert svm.costs_.asymmetry == pytest.approx(1 / 6)
    few, many = (int((svm.predict(X, costs=costs) > 0).sum()) for costs in [(1, 50), (50, 1)])
    assert few < many
    assert svm.costs_.asymmetry == pytest.approx(1 / 6)
    assert svm.set_costs((50, 1)) is svm
    assert int((svm.predict(X) > 0).sum()) == many
    assert svm.path_.proof.worst.passes()


def test_only_the_ratio_of_costs_counts_where_it_changes_along_the_line():
    line = pc.results.CostLine(pc.Costs(1.0, 4.0), pc.Costs(5.0, 2.0))
    for t in (0.0, 0.1, 1 / 3, 1.0):
        here = line.at(t)
        for unit in (1e-6, 1.0, 300.0):
            assert line.position((unit * here.C_plus, unit * here.C_minus)) == pytest.approx(t, abs=1e-14)


def test_on_a_ray_costs_are_a_point_of_it():
    ray = pc.results.CostLine(pc.Costs(0.0, 0.0), pc.Costs(2.0, 1.0))
    assert ray.position((1.0, 0.5)) == 0.5
    assert pc.results.CostLine(ray.stop, ray.start).position((2.0, 1.0)) == 0.0
    with pytest.raises(pc.InputError, match="costs must have a total from 0 to 3"):
        ray.position((4.0, 2.0))
    with pytest.raises(pc.InputError, match=r"costs must have an asymmetry .* from 0.666667 to 0.666667"):
        ray.position((1.0, 1.0))


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ((0, 0), "must not both be zero"),
        ((9, 1), "asymmetry .*: a line with another start or stop has it"),
        ((-1, 2), "nonnegative"),
        (3, "pair"),
        ("ab", "number"),
        ({1: 5, 0: 1}, r"costs must be a pair .*: factors by label are the class_weight of an estimator"),
    ],
)
def test_costs_that_the_line_does_not_have(costs, message):
    with pytest.raises(pc.InputError, match=message):
        pc.results.CostLine(pc.Costs(0.0, 2.0), pc.Costs(1.0, 1.0)).position(costs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0.0}, "C must be"),
        ({"start": (1, 2, 3)}, "start must be a pair"),
        ({"stop": (-1.0, 1.0)}, "C_plus must be"),
        ({"gamma": "all"}, "gamma must be"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"gamma": 1.0, "bandwidth": 1.0}, "gamma must be left out"),
        ({"kernel": "linear", "bandwidth": 1.0}, "bandwidth must be left out"),
        ({"kernel": "linear", "gamma": 1.0}, "gamma must be left out.*; a grid of both has one dict a kernel"),
        ({"kernel": "no such"}, "kernel must be"),
        ({"costs": {1: 5, 0: 1}}, "factors by label are the class_weight of an estimator"),
        ({"class_weight": {-1.0: -1.0}}, "class_weight must not be negative"),
    ],
)
def test_arguments_are_refused_when_fitted(gaussians, options, message):
    with pytest.raises(pc.InputError, match=message):
        pc.CostPathSVC(**options).fit(*gaussians())


def test_weights_of_zero_leave_samples_out(gaussians):
    X, y = gaussians(n=50)
    keep = np.arange(50) % 3 > 0
    K = X @ X.T
    for given, options in ((X, {"kernel": "linear"}), (K, {"kernel": "precomputed"})):
        some = pc.CostPathSVC(**options).fit(given, y, keep.astype(float))
        few = pc.CostPathSVC(kernel="linear").fit(X[keep], y[keep])
        np.testing.assert_allclose(some.decision_function(given), few.decision_function(X), atol=1e-9)
    with pytest.raises(pc.InputError, match="positive weight must hold samples of two classes"):
        pc.CostPathSVC().fit(X, y, (y > 0).astype(float))
    with pytest.raises(pc.InputError, match="sample_weight must not be negative"):
        pc.CostPathSVC().fit(X, y, -np.ones(50))


@pytest.mark.parametrize("kernel", ["poly", Polynomial(2), lambda A, B: np.asarray(A @ B.T) + 1.0])
def test_other_kernels(gaussians, kernel):
    X, y = gaussians()
    svm = pc.CostPathSVC(kernel=kernel).fit(X, y)
    assert svm.solution_.certificate.passes()
    with pytest.raises(AttributeError, match="coef_"):
        _ = svm.coef_


def test_sparse_samples_are_the_dense_ones(gaussians):
    X, y = gaussians()
    dense, sparse = (pc.CostPathSVC(kernel="linear").fit(A, y) for A in (X, sp.csc_matrix(X)))
    np.testing.assert_allclose(dense.coef_ @ X.T + dense.intercept_, sparse.decision_function(sp.coo_array(X))[None])


def test_one_of_each_class_duplicates_and_both_labels_on_one_point():
    X, y = np.array([[0.0], [0.0], [1.0], [1.0], [1.0], [2.0]]), [0, 1, 0, 0, 1, 1]
    for Z, labels in ((X, y), (X[[0, 5]], [0, 1]), (np.zeros((4, 1)), [0, 1, 1, 1])):
        svm = pc.CostPathSVC(kernel="linear").fit(Z, labels)
        assert svm.path_.proof.worst.passes()
        assert svm.predict(Z, costs=(0, 1)).tolist() == [0] * len(labels)
        assert svm.predict(Z, costs=(1, 0)).tolist() == [1] * len(labels)


def test_a_grid_over_kernel_and_gamma_is_one_for_each_kernel(gaussians):
    """As the refusal of gamma beside a linear kernel says."""
    X, y = gaussians(n=40)
    grid = [{"kernel": ["linear"]}, {"kernel": ["rbf"], "gamma": ["scale", 0.1]}]
    found = GridSearchCV(pc.CostPathSVC(), grid, cv=2, error_score="raise").fit(X, y)
    assert np.isfinite(found.cv_results_["mean_test_score"]).sum() == 3


def refusal(estimator, X, y):
    """The message of a fit that is refused by rounding, which no processor owes; empty where it is not."""
    try:
        estimator.fit(X, y)
    except pc.errors.DegeneratePathError as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize(("column", "estimator"), [(4, pc.CostPathSVCCV(cv=2)), (5, pc.CostPathSVC())])
def test_a_wide_kernel_on_one_feature_is_replaced_by_features_where_it_is_refused(column, estimator):
    """Its matrix is singular but for rounding. LIBSVM's primal and dual values enclose that of the line's middle."""
    X, y = make_classification(300, 6, weights=[0.85], random_state=1, class_sep=0.8)
    X = X[:, [column]]
    remedy = "where a wide kernel has a matrix that is nearly singular, low_rank=1e-8"
    assert remedy in (refusal(clone(estimator), X, y) or remedy)
    svm = clone(estimator).set_params(low_rank=1e-8).fit(X, y)
    assert svm.path_.proof.passes()
    assert not hasattr(svm, "coef_")

    theirs = SVC(tol=1e-4).fit(X, y)
    kernel = rbf_kernel(X, gamma=1.0 / X.var())
    weights = np.zeros(300)
    weights[theirs.support_] = theirs.dual_coef_[0]
    quadratic = weights @ kernel @ weights / 2
    signs = np.where(y == 1, 1.0, -1.0)
    primal = quadratic + np.maximum(0.0, 1.0 - signs * theirs.decision_function(X)).sum()
    dual = np.abs(weights).sum() - quadratic
    middle = svm.path_.at(0.5)
    left_out = svm.path_.gram.approximation.largest * middle.alpha.sum() ** 2 / 2
    assert dual - 1e-9 <= middle.value <= primal + left_out
    assert primal + left_out - dual < 1e-3 * dual


def test_features_in_place_of_given_kernel_values_score_new_samples(gaussians):
    X, y = gaussians(n=40, d=1)
    new = np.linspace(-3.0, 3.0, 7)[:, None]
    by_kernel = pc.CostPathSVC(gamma=0.5, low_rank=1e-8).fit(X, y)
    by_values = pc.CostPathSVC(kernel="precomputed", low_rank=1e-8).fit(rbf_kernel(X, gamma=0.5), y)
    found = by_values.decision_function(rbf_kernel(new, X, gamma=0.5))
    np.testing.assert_allclose(found, by_kernel.decision_function(new), atol=1e-9)
    exact = SVC(gamma=0.5, tol=1e-9).fit(X, y).decision_function(new)
    np.testing.assert_allclose(found, exact, atol=1e-4)
