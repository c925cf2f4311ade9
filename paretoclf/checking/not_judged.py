"""Why a fitted model of scikit-learn is not judged, by its kind, and what can be judged in its place."""

from __future__ import annotations

from typing import Any

from paretoclf.checking.elsewhere import is_minimiser
from paretoclf.checking.estimators import is_of

#: Any minimiser of a convex function can be judged as a solution of a problem in CVXPY.
_BY_HAND = (
    "state what it minimises as a cvxpy.Problem, and give its numbers by the names of the variables: "
    "grade(problem, {'w': coef, 'b': intercept}, tol=...)"
)

_CLOSED_FORM = "it is computed in closed form, and no solver could have stopped early"

_GREEDY = "it chooses features one by one, and no convex function decides which"

_ALONE = "give it alone, fitted with fit_path=True: it is judged with its path"

#: Reasons by class, for those that are not like others of their module; the special one first.
_CLASSES = {
    "BaseSearchCV": "it must be fitted, with refit=True, to hold a model",
    "BaseThresholdClassifier": "judge the model whose threshold it moves, verify(X, y, model.estimator_)",
    "OneVsRestClassifier": (
        "judge its models one by one: verify(X, (y == model.classes_[k]).astype(int), model.estimators_[k])"
    ),
    "MultiOutputRegressor": "judge its models one by one: verify(X, y[:, k], model.estimators_[k])",
    "TransformedTargetRegressor": (
        "judge its model on the targets that this saw: "
        "verify(X, model.transformer_.transform(y.reshape(-1, 1)).ravel(), model.regressor_)"
    ),
    "BayesianRidge": (
        "it maximises a marginal likelihood, which is not concave in its precisions; with these fixed its coefficients "
        "are those of Ridge(alpha=model.lambda_ / model.alpha_)"
    ),
    "ARDRegression": "it maximises a marginal likelihood, which is not concave in its precisions",
    "Perceptron": (
        "its loss, sum_i max(0, -y_i f(x_i)), is least where w = 0 and b = 0; its coefficients are where its passes "
        "over the samples stopped, and solve no problem"
    ),
    "PassiveAggressiveClassifier": "it takes a step for each sample in turn, and solves no problem of all of them",
    "PassiveAggressiveRegressor": "it takes a step for each sample in turn, and solves no problem of all of them",
    "RANSACRegressor": "judge its model on the rows that it chose, X[model.inlier_mask_], y[model.inlier_mask_]",
    "TheilSenRegressor": "it combines solutions on many subsets of the samples, and minimises no one function of X, y",
    "OrthogonalMatchingPursuit": _GREEDY,
    "OrthogonalMatchingPursuitCV": _GREEDY,
    "LassoLarsIC": _BY_HAND,
    "LassoLars": _ALONE,
    "LassoLarsCV": _ALONE,
    "Lars": "its steps of least angles minimise no function on their way; LassoLars is judged, with its path",
    "NearestCentroid": _CLOSED_FORM,
    "NeighborhoodComponentsAnalysis": "what it maximises is not concave",
}

#: Reasons by module of scikit-learn.
_MODULES = {
    "calibration": "it calibrates models that were fitted on folds: judge the model that you calibrate",
    "cluster": "its clusters are the minimum of no convex function",
    "cross_decomposition": "its components are the minimum of no convex function",
    "decomposition": "its factors are the minimum of no convex function",
    "discriminant_analysis": _CLOSED_FORM,
    "dummy": _CLOSED_FORM,
    "ensemble": "it combines other models, and minimises no one convex function whose optimum could be proved",
    "gaussian_process": "its kernel's parameters maximise a marginal likelihood, which is not concave",
    "isotonic": (
        "with x and y in the order of increasing x, verify(cp.Problem(cp.Minimize(cp.sum_squares(u - y)), "
        "[cp.diff(u) >= 0]), {'u': model.predict(x)}), u = cp.Variable(y.size, name='u')"
    ),
    "mixture": "the likelihood of a mixture is not concave",
    "multiclass": "it holds several models, estimators_, each fitted on labels of its own: judge these",
    "multioutput": "it holds several models, estimators_, each fitted on a target of its own: judge these",
    "naive_bayes": _CLOSED_FORM,
    "neighbors": "it compares distances to stored samples, and minimises no convex function",
    "neural_network": "its loss is not convex in its weights, so that no optimum can be proved",
    "tree": "a tree is grown split by split, and is the minimum of no convex function",
}


def why_not(given: Any) -> str:
    """Say why this is not judged, or what judges it; an empty text where neither is known.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from paretoclf.checking.not_judged import why_not
    >>> why_not(DecisionTreeClassifier())
    'a tree is grown split by split, and is the minimum of no convex function'
    """
    for kind, reason in _CLASSES.items():
        if is_of(given, kind):
            return reason
    modules = [cls.__module__.split(".") for cls in type(given).__mro__]
    for names in modules:
        if names[0] == "sklearn" and len(names) > 1 and names[1] in _MODULES:
            return _MODULES[names[1]]
    return _BY_HAND if is_minimiser(given) else ""
