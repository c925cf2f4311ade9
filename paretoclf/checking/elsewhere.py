"""Results of other codes, recognised by their class: which `verify` reads, and which call judges the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def is_minimiser(given: Any) -> bool:
    """Whether this has coefficients that minimise something, as linear models of scikit-learn and statsmodels do.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from paretoclf.checking.elsewhere import is_minimiser
    >>> is_minimiser(Ridge().fit([[0.0], [1.0]], [0.0, 1.0])), is_minimiser([1.0])
    (True, False)
    """
    packages = {package for package, _ in _classes(given)}
    linear = "sklearn" in packages and (hasattr(given, "coef_") or hasattr(given, "dual_coef_"))
    return linear or "statsmodels" in packages


def grid_of(given: Any) -> tuple[Any, Any] | None:
    """Alphas (k,) and coefficients, (d, k) or (targets, d, k), as ``lasso_path`` and ``enet_path`` return them."""
    alphas, coefs = given[:2] if isinstance(given, tuple) and 2 <= len(given) <= 4 else (None, None)
    if not isinstance(coefs, np.ndarray) or coefs.ndim not in (2, 3):
        return None
    return (alphas, coefs) if np.ndim(alphas) == 1 else None


def is_fitted(given: Any) -> bool:
    """Whether this is an estimator, or several of which one is, or what a path of scikit-learn's lasso returned."""
    several = given if isinstance(given, list | tuple) else [given]
    return any(map(is_estimator, several)) or is_lars(given) or grid_of(given) is not None


def is_estimator(given: Any) -> bool:
    """Whether this looks like an estimator of scikit-learn."""
    return hasattr(given, "get_params") and hasattr(given, "fit") and not isinstance(given, type)


def is_of_another(X: Any, y: Any, solutions: Any, parameters: Mapping[str, Any]) -> bool:
    """Whether `verify` is given the path or the map of a program, or what a code that is known here returned."""
    ours = {("paretoclf", name) for name in ("ProblemPath", "ConePath", "CurvePath", "ProblemMap")}
    known = _is_one_of(X, ours) or is_critical_line(X) or is_fitted(solutions) or "of" in parameters
    return known or any(map(is_minimiser, (X, y, solutions)))


def is_critical_line(given: Any) -> bool:
    """Whether it is an object of cvxcla or of PyPortfolioOpt, by its class; neither is imported for that."""
    return _is_one_of(given, {("cvxcla", "CLA"), ("cvxcla", "Lasso"), ("pypfopt", "CLA")})


def _is_one_of(given: Any, known: set[tuple[str, str]]) -> bool:
    """Whether it is of a class, or derived from one, that is known by its package and its name."""
    return bool(known & _classes(given))


def _classes(given: Any) -> set[tuple[str, str]]:
    """Packages and names of its class, and of those that it is derived from."""
    return {(cls.__module__.split(".")[0], cls.__name__) for cls in type(given).__mro__}


def is_lars(given: Any) -> bool:
    """Whether it is what ``lars_path`` returns, or a fitted ``LassoLars``."""
    if getattr(given, "method", None) == "lasso" and hasattr(given, "coef_path_"):
        return True
    if not isinstance(given, tuple) or len(given) != 3 or not isinstance(given[1], list):
        return False
    alphas, _, coefs = given
    if np.ndim(alphas) != 1 or np.ndim(coefs) != 2:
        return False
    return bool(np.shape(coefs)[1] == np.size(alphas))
