"""A ``cvxpy.Problem`` of the user's as a formulation: some of its parameters move, the others keep their values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from paretoclf.common.checks import what_it_is
from paretoclf.common.errors import InputError
from paretoclf.solve.formulation import Formulation, Range
from paretoclf.solve.models.fixed_parameters import with_numbers
from paretoclf.solve.models.lazily import cp


class GivenProblem(Formulation):
    """A minimisation in CVXPY, in the parameters that are named: numbers, within what their attributes allow.

    Parameters
    ----------
    problem : cvxpy.Problem
        DPP in the parameters that move.
    moving : mapping
        The parameters that move, by themselves or by name, and anything.

    Raises
    ------
    InputError
        If the problem has no such parameter, or it is no number; if another one has no value.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.given_problem import GivenProblem
    >>> x, lam = cp.Variable(name="x"), cp.Parameter(nonneg=True, name="lam")
    >>> given = GivenProblem(cp.Problem(cp.Minimize(cp.square(x - 3) / 2 + lam * cp.abs(x))), {lam: None})
    >>> round(given.solve(lam=1.0).value, 9)
    2.5
    """

    def __init__(self, problem: Any, moving: Mapping[Any, Any]) -> None:
        known = {p.name(): p for p in problem.parameters()}
        self._moving = {}
        for key in moving:
            name = key.name() if isinstance(key, cp.Parameter) else key
            if name not in known or (isinstance(key, cp.Parameter) and key is not known[name]):
                listed = ", ".join(known) or "none"
                raise InputError(f"grid must be of parameters of the problem, which are {listed}, got {name!r:.100}")
            if known[name].shape != ():
                raise InputError(f"{name} must be a number to be swept, got a parameter of shape {known[name].shape}")
            self._moving[name] = known[name]
        for name, each in known.items():
            if name not in self._moving and each.value is None:
                raise InputError(f"{name} must have a value, or values to be swept over")
        self._problem = with_numbers(problem, self._moving.values())

    @property
    def domain(self) -> Mapping[str, Range]:  # type: ignore[override]  # of a class it is the same for all
        """Numbers that the attributes of the parameters allow."""
        return {
            name: Range(
                0.0 if p.is_nonneg() else -np.inf, 0.0 if p.is_nonpos() else np.inf, not p.attributes.get("pos", False)
            )
            for name, p in self._moving.items()
        }

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters of the problem that move."""
        return MappingProxyType(self._moving)

    @property
    def primal(self) -> Any:
        """The problem itself."""
        return self._problem

    def __getstate__(self) -> dict[str, Any]:
        # A problem that was solved holds its solver, which cannot be pickled.
        return {"_problem": cp.Problem(self._problem.objective, self._problem.constraints), "_moving": self._moving}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        reserve_numbers(self._problem)


def reserve_numbers(problem: Any) -> None:
    """Let no variable that is made here have a number of the problem's, which comes from another process.

    CVXPY tells variables apart by numbers, and counts them from 1 in each process: those that it makes where it
    compiles the problem could be taken for the problem's own.
    """
    from cvxpy.lin_ops.lin_utils import ID_COUNTER

    constraints = problem.constraints
    duals = (dual for constraint in constraints for dual in constraint.dual_variables)
    numbers = [each.id for each in (*problem.variables(), *problem.parameters(), *constraints, *duals)]
    ID_COUNTER.count = max(ID_COUNTER.count, 1 + max(numbers, default=0))


def as_formulation(given: Any, grid: Mapping[Any, Any] | None) -> tuple[Any, dict[str, Any]]:
    """A formulation and the values of its parameters by name, from one or from a problem and a mapping."""
    values = {key.name() if isinstance(key, cp.Parameter) else key: each for key, each in (grid or {}).items()}
    if isinstance(given, cp.Problem):
        if not values:
            raise InputError("grid must have values of a parameter of the problem, as {lam: [1.0, 2.0]}")
        return GivenProblem(given, grid or {}), values
    if isinstance(given, type) or not hasattr(given, "check_values"):
        raise InputError(
            f"formulation must be a formulation, such as TwoCSVM(X, y), or a cvxpy.Problem, got {what_it_is(given)}"
        )
    return given, values
