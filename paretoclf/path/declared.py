"""Which exact path a problem has: what it declares, and nothing that it happens to have."""

from __future__ import annotations

from typing import Any

from paretoclf.checks import what_it_is
from paretoclf.errors import InputError

#: What a problem that declares a path has to have for it.
NEEDS = {
    "costs": ("gram", "y", "sample_weight"),
    "quantile": ("gram", "y", "bias"),
    "margins": ("gram", "y", "soft", "check_values"),
    "nu": ("gram", "y"),
}

#: Whose path it is.
OF = {"costs": "TwoCSVM", "quantile": "QuantileSVM", "margins": "BiobjectiveMargin", "nu": "TwoNuSVM"}


def path_problem(svm: Any, only: str | None = None) -> str:
    """Which path a problem declares by its ``path_problem``: a key of `NEEDS`.

    Parameters
    ----------
    svm : formulation
    only : str, optional
        The one that is asked for.

    Raises
    ------
    InputError
        If svm is no formulation, declares none or another one, or lacks what that one needs.

    Examples
    --------
    >>> import paretoclf as pc
    >>> from paretoclf.path.declared import path_problem
    >>> path_problem(pc.QuantileSVM([[1.0], [-1.0]], [1, -1]))
    'quantile'
    """
    name = type(svm).__name__
    if isinstance(svm, type) or not hasattr(svm, "path_problem"):
        raise InputError(f"svm must be a formulation of your samples, such as TwoCSVM(X, y), got {what_it_is(svm)}")
    declared = svm.path_problem
    if declared is None:
        raise InputError(f"no exact path for {name}: use sweep")
    if declared not in NEEDS:
        raise InputError(f"path_problem of {name} must be one of {', '.join(NEEDS)} or None, got {declared!r}")
    if only is not None and declared != only:
        raise InputError(f"svm must be a {OF[only]}, or declare path_problem = {only!r}, got a {name}")
    missing = [attribute for attribute in NEEDS[declared] if not hasattr(svm, attribute)]
    if missing:
        raise InputError(f"{name} declares path_problem = {declared!r} and must have {', '.join(missing)} for it")
    return str(declared)
