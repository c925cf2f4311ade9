"""ParetoGaussianClassifier: no hyperplane that a search finds is cheaper for two Gaussian classes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import ndtr
from sklearn.covariance import ledoit_wolf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils.estimator_checks import parametrize_with_checks

import paretoclf as pc

#: Labels are texts here, and which of the two is positive is not said: `test_pos_label` has that.
pytestmark = pytest.mark.filterwarnings("ignore::paretoclf.common.errors.PositiveClassWarning")


@pytest.mark.filterwarnings("ignore::paretoclf.common.errors.SmallSampleWarning")
@parametrize_with_checks(
    [
        pc.ParetoGaussianClassifier(),
        pc.ParetoGaussianClassifier(costs=(2, 1), reg=0.01, shrinkage=0.0),
        pc.ParetoGaussianClassifier(kernel="rbf", lam=0.5),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("costs", [(1, 1), (1, 6), (4, 1)])
@pytest.mark.parametrize("prior", [None, 0.5])
def test_no_hyperplane_is_cheaper(gaussians, costs, prior):
    X, y = gaussians(n=80, seed=1, d=2, positives=0.3)
    X[y > 0, 0] *= 2.0
    svm = pc.ParetoGaussianClassifier(costs=costs, prior_plus=prior).fit(X, y)
    moments = [(X[y == s].mean(axis=0), ledoit_wolf(X[y == s])[0]) for s in (1, -1)]
    share = 0.3 if prior is None else prior
    weights = share * costs[0], (1 - share) * costs[1]

    def cost(v):
        errors = (
            ndtr(-s * (v[:2] @ mean + v[2]) / np.sqrt(v[:2] @ cov @ v[:2]))
            for s, (mean, cov) in zip((1, -1), moments, strict=True)
        )
        return sum(w * e for w, e in zip(weights, errors, strict=True))

    rng = np.random.default_rng(0)
    found = min(float(minimize(cost, rng.normal(size=3), method="Nelder-Mead").fun) for _ in range(12))
    ours = cost(np.append(svm.coef_, svm.intercept_))
    assert ours <= min(found, *weights) + 1e-9
    assert ours == pytest.approx(svm.point_.cost, abs=1e-12)
    assert svm.prior_plus_ == share
    plain = pc.ParetoGaussianClassifier(prior_plus=prior).fit(X, y)
    np.testing.assert_array_equal(plain.predict(X, costs=costs), svm.predict(X))
    np.testing.assert_array_equal(plain.decision_function(X, costs), svm.decision_function(X))
    assert plain.costs_ is None
    assert plain.set_costs(costs).costs_ == pc.Costs(*costs)
    assert svm.tradeoff_.certificate(svm.point_).passes()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_without_costs_it_is_the_program_of_kim_and_others(gaussians, kernel):
    X, y = gaussians(n=40, seed=2)
    for lam in (0.4, 1.0, 3.0):
        svm = pc.ParetoGaussianClassifier(lam=lam, reg=0.1, shrinkage=0.2, kernel=kernel).fit(X, y)
        theirs = pc.ParetoGaussian(X, y, kernel, reg=0.1, shrinkage=0.2).solve(lam=lam).classifier
        a, b = svm.decision_function(X), theirs.decision_function(X)
        np.testing.assert_allclose(a / np.linalg.norm(a), b / np.linalg.norm(b), atol=1e-7)
    equal = pc.ParetoGaussianClassifier(kernel=kernel, reg=0.1).fit(X, y).point_
    assert equal.fpr == pytest.approx(equal.fnr)


def test_equal_covariances_have_the_slope_of_lda():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3))
    X, y = np.concatenate([Z, Z + np.array([1.0, 0.5, -0.5])]), np.repeat(["a", "b"], 40)
    svm = pc.ParetoGaussianClassifier(shrinkage=0.0, costs=(1, 1)).fit(X, y)
    lda = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    a, b = (np.append(model.coef_, model.intercept_) / np.linalg.norm(model.coef_) for model in (svm, lda))
    np.testing.assert_allclose(a, b, atol=1e-7)


def test_one_label_may_be_cheapest(gaussians):
    X, y = gaussians(n=40)
    svm = pc.ParetoGaussianClassifier(costs=(1, 1e6)).fit(X, np.where(y > 0, "yes", "no"))
    assert set(svm.predict(X)) == {"no"}
    assert set(svm.predict(X, costs=(1e6, 1))) == {"yes"}


def test_degenerate_classes():
    one = np.array([[0.0, 1.0], [3.0, 2.0]])
    with pytest.raises(pc.InputError, match="reg must be positive"):
        pc.ParetoGaussianClassifier().fit(one, [0, 1])
    with pytest.warns(pc.errors.SmallSampleWarning):
        svm = pc.ParetoGaussianClassifier(reg=1.0).fit(one, [0, 1])
    assert svm.predict(one).tolist() == [0, 1]
    with pytest.raises(pc.InputError, match="must differ"):
        pc.ParetoGaussianClassifier().fit([[0.0], [2.0], [0.5], [1.5]], [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lam": 0.0}, "lam must be"),
        ({"costs": (0, 0)}, "must not both be zero"),
        ({"costs": 3}, "costs must be a pair"),
        ({"prior_plus": 2.0}, "prior_plus must lie"),
        ({"shrinkage": "much"}, "shrinkage must be"),
        ({"reg": -1.0}, "reg must be"),
    ],
)
def test_arguments_are_refused(gaussians, options, message):
    with pytest.raises(pc.InputError, match=message):
        pc.ParetoGaussianClassifier(**options).fit(*gaussians())
