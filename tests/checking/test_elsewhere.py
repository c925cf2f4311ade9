"""What `verify` does not read as it is: the refusal names the call that judges it, and that call does."""

from __future__ import annotations

import re

import cvxpy as cp
import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.linear_model import LinearRegression, Ridge, lasso_path
from sklearn.svm import LinearSVR
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

import paretoclf as pc

RNG = np.random.default_rng(0)
A = RNG.normal(size=(30, 4))
T = A @ [2.0, -1.0, 0.5, 0.0] + RNG.normal(size=30)
Y = np.where(T > 0, 1, -1)


def lasso():
    w, lam = cp.Variable(4, name="w"), cp.Parameter(nonneg=True, name="lam")
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ w - T) / 2 + lam * cp.norm1(w))), lam


def results():
    """As an object of statsmodels looks."""
    made = type("RegressionResultsWrapper", (), {"params": np.zeros(4)})
    made.__module__ = "statsmodels.regression.linear_model"
    return made()


def test_the_lasso_at_some_alphas_beside_a_path():
    alphas, coefs, _ = lasso_path(A, T, alphas=[0.5, 0.2, 0.05], tol=1e-12)
    problem, lam = lasso()
    path = pc.trace(problem, {lam: 60.0}, {lam: 0.0})
    assert pc.verify(path, {"lam": 30 * alphas, "w": coefs.T}, between=False).passes()


@pytest.mark.parametrize("machine", [LinearSVR(), LinearRegression(), Ridge()])
def test_an_estimator_that_minimises_a_convex_function(machine):
    fit = machine.fit(A, T)
    for call in ((A, T, fit), (A, Y, fit), (A, fit), (fit,)):
        with pytest.raises(pc.InputError, match=r"grade\(problem, {'w': coef, 'b': intercept}, tol=\.\.\.\)"):
            pc.verify(*call)
    if isinstance(fit, Ridge):
        w, b = cp.Variable(4, name="w"), cp.Variable(name="b")
        problem = cp.Problem(cp.Minimize(cp.sum_squares(T - A @ w - b) + fit.alpha * cp.sum_squares(w)))
        assert pc.grade(problem, {"w": fit.coef_, "b": fit.intercept_}, tol=1e-6).verdict == "right"
        assert pc.grade(problem, {"w": 1.01 * fit.coef_, "b": fit.intercept_}, tol=1e-6).verdict == "not optimal"


@pytest.mark.filterwarnings("ignore")
def test_the_estimators_that_a_refusal_names_are_those_that_are_read():
    with pytest.raises(pc.InputError, match="one of the estimators SVC, ") as refused:
        pc.verify(A, T, Ridge().fit(A, T))
    named = set(re.findall(r"\w+", str(refused.value).split("the estimators ")[1].split(", got ")[0]))
    machines = dict(all_estimators())
    for name in sorted((named & machines.keys()) - {"Pipeline"}):
        machine = machines[name]()
        target = Y if is_classifier(machine) else np.c_[T, -T] if name.startswith("MultiTask") else T
        found = pc.verify(A, None if name == "OneClassSVM" else target, machine.fit(A, target))
        assert found, name
    derived = {name for name, machine in machines.items() if named & {cls.__name__ for cls in machine.__mro__}}
    assert derived - named == {"LassoLarsIC"}  # which keeps no path


def test_results_of_statsmodels():
    for call in ((A, T, results()), (A, results()), (results(),)):
        with pytest.raises(pc.InputError, match=r"got RegressionResultsWrapper: .* grade\(problem, "):
            pc.verify(*call)


def test_of_what_has_no_convex_problem_nothing_is_promised():
    with pytest.raises(pc.InputError, match=r"got DecisionTreeClassifier: .* is the minimum of no convex function$"):
        pc.verify(A, Y, DecisionTreeClassifier().fit(A, Y))
