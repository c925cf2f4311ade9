"""The list of formulations: ours, and every subclass that has been defined since."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from paretoclf.common.errors import InputError
from paretoclf.formulations.base import Formulation

#: Our formulations, by the module of this package they are in.
OURS = {
    "TwoCSVM": "two_c_svm",
    "TwoNuSVM": "two_nu_svm",
    "QuantileSVM": "quantile_svm",
    "BiobjectiveMargin": "biobjective_margin",
    "MarginInNorm": "margin_in_norm",
    "SurrogateRisk": "surrogate_risk",
    "ParetoGaussian": "pareto_gaussian",
    "ParetoGaussianQP": "pareto_gaussian_qp",
    "SProcedure": "s_procedure",
    "MinimaxProbabilityMachine": "minimax_probability",
    "BiasedMinimaxProbabilityMachine": "biased_minimax",
    "ExtremeAsymmetry": "extreme_asymmetry",
}


#: Searches over some of our formulations, no convex programs; with a statement, and solved in the same way.
SEARCHES = {"MEMPM": "mempm"}


def formulations() -> dict[str, type[Formulation]]:
    """Return all formulations by name: ours first, then those that users have defined.

    Examples
    --------
    >>> from paretoclf.formulations.registry import formulations
    >>> next(iter(formulations()))
    'TwoCSVM'
    """
    found: dict[str, type[Formulation]] = {name: _imported(name, module) for name, module in OURS.items()}
    for cls in _subclasses(Formulation):  # type: ignore[type-abstract]  # any class may be abstract
        if not (cls.__module__.startswith("paretoclf.") or inspect.isabstract(cls)):
            found.setdefault(cls.__name__, cls)
    return found


def listed() -> dict[str, Any]:
    """Return everything that has a statement, by name: our formulations, searches over them, those of users.

    Examples
    --------
    >>> from paretoclf.formulations.registry import listed
    >>> "MEMPM" in listed()
    True
    """
    found = formulations()
    ours = {name: found.pop(name) for name in OURS}
    searches = {name: _imported(name, module) for name, module in SEARCHES.items()}
    return {**ours, **searches, **found}


def formulation(name: str) -> Any:
    """Return the formulation of this name, in any case, or the search over some; InputError if there is none."""
    known = listed()
    for each, cls in known.items():
        if each.lower() == name.lower():
            return cls
    raise InputError(f"NAME must be one of the formulations {', '.join(known)}, got {name!r}")


def _imported(name: str, module: str) -> Any:
    """Import a class from a module of this folder."""
    return getattr(import_module(f"paretoclf.formulations.{module}"), name)


def _subclasses(cls: type[Formulation]) -> Iterator[type[Formulation]]:
    """All classes below a class, however deep."""
    for sub in cls.__subclasses__():
        yield sub
        yield from _subclasses(sub)
