"""What the solving side asks of a formulation, and the data that pass between the two."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import SOLVER_FAST, SOLVER_REFERENCE
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.quadratic_forms import check_forms

Form = Literal["dual", "primal"]
Accuracy = Literal["reference", "fast"]


@dataclass(frozen=True)
class Model:
    """One optimisation problem, with names for its variables and constraints.

    Attributes
    ----------
    problem : cvxpy.Problem
        A minimisation, DPP in its parameters.
    variables : mapping of str to cvxpy.Variable
        Whatever a solution is read from.
    constraints : mapping of str to cvxpy constraint
        Those whose multipliers a solution is read from. No name occurs among the variables too.
    thin : bool
        True where the quadratic is a sum of squares of a thin factor, so that simple sparse linear algebra is fastest.
    """

    problem: cp.Problem
    variables: Mapping[str, cp.Variable]
    constraints: Mapping[str, cp.Constraint]
    thin: bool = True

    @classmethod
    def of(
        cls, problem: cp.Problem, thin: bool = True, maximise: bool = False, moving: bool = True, forms: bool = False
    ) -> Model:
        """Take the names from the problem: those of its variables, and the labels of its constraints.

        A constraint without a label is called ``constraint k``, by its position. With maximise the problem may be a
        maximisation, too; with forms a parameter may be the matrix of a quadratic form of the objective. InputError
        says what it is not: a minimisation, convex by CVXPY's rules, DPP, of different names.
        """
        allowed = cp.Minimize | cp.Maximize if maximise else cp.Minimize
        if not isinstance(problem, cp.Problem) or not isinstance(problem.objective, allowed):
            instead = "cp.Problem(cp.Minimize(-problem.objective.expr), problem.constraints)"
            remedy = f"; minimise minus the objective, {instead}" if isinstance(problem, cp.Problem) else ""
            raise InputError(f"a model must be a cvxpy.Problem that minimises, got {problem!r:.200}{remedy}")
        named = [(v.name(), v) for v in problem.variables()]
        labelled = [(c.label or f"constraint {k}", c) for k, c in enumerate(problem.constraints)]
        parts = [("objective", problem.objective), *labelled]
        broken = [name for name, part in parts if not part.is_dcp()]
        if broken:
            from paretoclf.solve.models.refused_models import not_convex

            raise InputError(not_convex(problem, dict(parts), broken))
        with getattr(cp.utilities.scopes, "quad_form_dpp_scope", nullcontext)() if forms else nullcontext():
            first = [] if not moving or problem.objective.is_dcp(dpp=True) else ["objective"]
        broken = first + [name for name, part in labelled if moving and not part.is_dcp(dpp=True)]
        if broken:
            from paretoclf.solve.models.refused_models import not_dpp

            raise InputError(not_dpp(dict(parts), broken))
        names = [name for name, _ in named + labelled]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InputError(f"names of variables and labels of constraints must differ, got {twice[0]!r} twice")
        check_forms(problem)
        return cls(problem, dict(named), dict(labelled), thin)

    @property
    def sense(self) -> int:
        """1 for a minimisation, -1 for a maximisation."""
        return 1 if isinstance(self.problem.objective, cp.Minimize) else -1

    def check_parameters(self, form: str = "model") -> None:
        """InputError if a parameter of the problem has no value: nobody moves it."""
        stray = [p.name() for p in self.problem.parameters() if p.value is None]
        if stray:
            raise InputError(
                f"parameter {stray[0]} of the {form} must have a value, {stray[0]}.value = ...; of a formulation those "
                "in the domain are self.parameters[...], what is a function of them a cvxpy.CallbackParam"
            )

    def check_continuous(self) -> None:
        """InputError if a variable is integer or boolean."""
        for name, variable in self.variables.items():
            if variable.attributes["integer"] or variable.attributes["boolean"]:
                raise InputError(
                    f"problem must be convex, got the integer or boolean variable {name}; an answer would be of its "
                    f"relaxation: ask for that with a plain cp.Variable and its bounds, or give {name} as an array"
                )


@dataclass(frozen=True)
class Point:
    """What is read from a solved model: multipliers, intercept, and w where the model has one (linear kernel)."""

    alpha: Array = field(repr=False)
    b: float | None
    w: Array | None = field(default=None, repr=False)


class Numbers(dict[str, Any]):
    """Numbers by name, as read from a cone program; ``cone`` returns that, solved, for who proves the numbers."""

    cone: Callable[[], Any] | None = None


@dataclass(frozen=True)
class Claim:
    """A point that is said to be optimal, to be certified.

    Attributes
    ----------
    values : mapping of str to float
        Parameters.
    point : object
        What the formulation read from a solver's numbers.
    polish : bool
        Whether to refine it.
    source, status, timing
        Who says so, in which words, after how many seconds by stage.
    """

    values: Mapping[str, float]
    point: Any = field(repr=False)
    polish: bool
    source: str
    status: str
    timing: Mapping[str, float]


@contextmanager
def having(values: Mapping[Any, Any]) -> Iterator[None]:
    """Give parameters, or variables, other values for a while; None takes away what one holds."""
    before = {leaf: leaf.value if leaf.sparse_idx is None else leaf.value_sparse for leaf in values}
    try:
        for leaf, value in values.items():
            leaf.save_value(value)
        yield
    finally:
        for leaf, value in before.items():
            leaf.save_value(value, leaf.sparse_idx is not None)


def without_values(problem: cp.Problem) -> AbstractContextManager[None]:
    """Clear what the variables of a problem hold for a while.

    CVXPY compiles ``cvar`` and ``sum_largest`` of a fraction only then, and warns of sparse variables that hold some.
    """
    return having(dict.fromkeys(problem.variables()))


def problem_data(problem: cp.Problem, options: Mapping[str, Any] | None = None, **how: Any) -> tuple[Any, Any, Any]:
    """CVXPY's data for Clarabel, with its chain and what inverts it; whatever the variables hold, they hold then."""
    with without_values(problem):
        found = problem.get_problem_data("CLARABEL", solver_opts=dict(options or {}), **how)
    return found  # type: ignore[no-any-return]


def dense(value: Any) -> Any:
    """A value of CVXPY as an array."""
    return value.toarray() if sp.issparse(value) else np.asarray(value)


def form_of(formulation: Any, form: Any) -> Form:
    """Return form checked, or the default of the formulation for None."""
    return formulation.default_form if form is None else check_form(form)


def check_form(form: Any) -> Form:
    """Return form, or say which there are."""
    if form not in ("dual", "primal"):
        raise InputError(f"form must be 'dual' or 'primal', got {form!r}")
    return form  # type: ignore[no-any-return]


def solver_tolerance(accuracy: Any) -> float:
    """Tolerance of the conic solver for ``accuracy="reference"`` or ``"fast"``."""
    tolerances = {"reference": SOLVER_REFERENCE, "fast": SOLVER_FAST}
    if not isinstance(accuracy, str) or accuracy not in tolerances:
        raise InputError(f"accuracy must be 'reference' or 'fast', got {accuracy!r}")
    return tolerances[accuracy]


def conic_settings(accuracy: Any) -> dict[str, Any]:
    """Clarabel's settings for one accuracy. A single thread, so that results do not depend on the machine."""
    return settings_at(solver_tolerance(accuracy))


def settings_at(tol: float) -> dict[str, Any]:
    """Clarabel's settings for one tolerance."""
    return {"tol_gap_abs": tol, "tol_gap_rel": tol, "tol_feas": tol, "max_threads": 1}


def what_to_do(status: str) -> str:
    """Meaning of a solver's claim that there is no solution, and what to try: the end of a message."""
    said = status.lower()
    if "dual" in said or "unbounded" in said:
        return "its objective has no lower bound. Check the signs; if it has one, try another solver or form"
    if "infeasible" in said:
        return "no point satisfies its constraints. Check them; if one does, try another solver or form"
    return "that is no claim about the problem. Try another solver or form"


def worst(certificate: Certificate) -> float:
    """Largest residual or gap of a certificate, infinite where it is not a number: what to compare two points by."""
    largest = float(np.max([certificate.residual, abs(certificate.gap)]))
    return float("inf") if np.isnan(largest) else largest
