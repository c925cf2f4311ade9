"""What other codes give `verify`: paths that it reads, and what another call judges; nothing is imported for that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

#: Whatever is the minimum of a convex function can be judged as that.
_BY_HAND = (
    "state what it minimises as a cvxpy.Problem, and give its numbers by the names of the variables: "
    "grade(problem, {'w': coef, 'b': intercept}, tol=...)"
)

_LOGISTIC = (
    "verify(SurrogateRisk(X, y, loss='logistic'), [{'C_plus': C, 'C_minus': C, 'ridge': 1, 'w': coef_[0], "
    "'b': intercept_}]) judges it, where its penalty is the squared norm"
)

_LASSO_PATH = (
    "the lasso at some alphas is no path: state it as a cvxpy.Problem, path = trace(problem, {lam: most}, {lam: 0}), "
    "and verify(path, {'lam': n * alphas, 'w': coefs.T}, between=False) judges each; lars_path(X, y) is read as it is"
)


def judged_by(given: Any) -> str:
    """Which call judges this, in words; nothing where none is known.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.checking.elsewhere import judged_by
    >>> judged_by((np.ones(3), np.ones((2, 3)), np.zeros(3))).split(":")[0]
    'the lasso at some alphas is no path'
    """
    if _is_grid(given):
        return _LASSO_PATH
    names = {(cls.__module__.split(".")[0], cls.__name__) for cls in type(given).__mro__}
    if ("sklearn", "LogisticRegression") in names:
        return _LOGISTIC
    if ("sklearn", "Lasso") in names:
        return f"{_BY_HAND}; lars_path(X, y) and a fitted LassoLars are read as they are"
    packages = {package for package, _ in names}
    linear = "sklearn" in packages and (hasattr(given, "coef_") or hasattr(given, "dual_coef_"))
    return _BY_HAND if linear or "statsmodels" in packages else ""


def _is_grid(given: Any) -> bool:
    """Whether it is what ``lasso_path`` and ``enet_path`` return: alphas (k,), coefficients (d, k), gaps (k,)."""
    if not isinstance(given, tuple) or len(given) != 3 or not all(isinstance(each, np.ndarray) for each in given):
        return False
    alphas, coefs, gaps = given
    return bool(alphas.ndim == gaps.ndim == 1 and coefs.ndim == 2 and coefs.shape[1] == alphas.size == gaps.size)


def is_estimator(given: Any) -> bool:
    """Whether this looks like an estimator of scikit-learn."""
    return hasattr(given, "get_params") and hasattr(given, "fit") and not isinstance(given, type)


def is_of_program(X: Any, solutions: Any, parameters: Mapping[str, Any]) -> bool:
    """Whether `verify` is given the path of a program, or of a code that is known here."""
    own = ("ProblemPath", "ConePath")
    ours = any(c.__name__ in own and c.__module__.startswith("paretoclf.") for c in type(X).__mro__)
    return ours or is_critical_line(X) or is_lars(solutions) or "of" in parameters


def is_critical_line(given: Any) -> bool:
    """Whether it is an object of cvxcla or of PyPortfolioOpt, by its class; neither is imported for that."""
    own = {("cvxcla", "CLA"), ("cvxcla", "Lasso"), ("pypfopt", "CLA")}
    return any((c.__module__.split(".")[0], c.__name__) in own for c in type(given).__mro__)


def is_lars(given: Any) -> bool:
    """Whether it is what ``lars_path`` returns, or a fitted ``LassoLars``."""
    if getattr(given, "method", None) == "lasso" and hasattr(given, "coef_path_"):
        return True
    triple = isinstance(given, tuple) and len(given) == 3 and isinstance(given[1], list)
    return triple and np.ndim(given[0]) == 1 and np.ndim(given[2]) == 2 and np.shape(given[2])[1] == np.size(given[0])
