"""Partial Lagrangians: only the constraints that are named go to the objective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.errors import InputError, SolveError
from paretoclf.solve.duals.construction.adjoint import inner
from paretoclf.solve.duals.weak_duality import solved_or_refused
from paretoclf.solve.judging.cone_proof import ProblemProof, certify_problem, is_problem
from paretoclf.solve.judging.given_values import by_name, kept
from paretoclf.solve.judging.primal_and_dual import held
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Model

#: How close the proved bounds of a value of the dual function must be to it, relative to its scale.
_PROVED = 1e-6


@dataclass(frozen=True)
class DualFunctionPoint:
    """The dual function at one place.

    Attributes
    ----------
    value : float
        The least value of the Lagrangian, a lower bound of a minimised objective; of a maximised one the largest, an
        upper bound. It is that of ``minimiser``, judged as `verify` judges a problem, to 1e-6. Infinite where there is
        none.
    minimiser : mapping of str to array
        A point at which it is taken, by the names of the variables; empty where there is none.
    supergradient : mapping of str to array
        What the dualised constraints are there, by their labels: the concave dual function lies below ``value`` plus
        its inner product with any step. Of a maximisation the function is convex, and this a subgradient.
    status : str
        The solver's.
    lower, upper : float
        Between them the least value is proved to lie. The bound on the far side is infinite where a variable without
        bounds is in the Lagrangian with a slope of rounding size (at most 1e-6), as with multipliers from a solver:
        with that slope there is no least value, and ``value`` is the one without it. The other is infinite where no
        strictly feasible point was found.
    """

    value: float
    minimiser: Mapping[str, Any] = field(repr=False)
    supergradient: Mapping[str, Any]
    status: str
    lower: float
    upper: float


@dataclass(frozen=True, repr=False, eq=False)
class PartialLagrangian:
    """A problem some of whose constraints have gone to the objective, as `lagrangian` returns it.

    Attributes
    ----------
    problem : cvxpy.Problem
        The objective with the products of multipliers and constraints, under the other constraints.
    multipliers : mapping of str to cvxpy.Parameter
        By the labels of the constraints.
    """

    problem: cp.Problem
    multipliers: Mapping[str, Any]
    _slacks: Mapping[str, Any]
    _sense: int

    def at(self, values: Mapping[Any, Any]) -> DualFunctionPoint:
        """The dual function at given multipliers, with a minimiser and a supergradient.

        Parameters
        ----------
        values : dict from str to number or array
            By the labels; those of inequalities must not be negative.

        Raises
        ------
        InputError
            If a multiplier is missing, or has the wrong sign or shape.
        SolveError
            If the least value is not proved, as where it is approached and not attained.

        Examples
        --------
        >>> import cvxpy as cp, paretoclf as pc
        >>> x = cp.Variable(name="x")
        >>> problem = cp.Problem(cp.Minimize(cp.square(x)), [(x >= 2).set_label("low"), x <= 5])
        >>> point = pc.lagrangian(problem, dualize=["low"]).at({"low": 2})
        >>> print(f"{point.value:.4f} {point.minimiser['x']:.4f} {point.supergradient['low']:.4f}")
        3.0000 1.0000 1.0000
        """
        given = by_name(values, self.multipliers, "values")
        missing = [label for label in self.multipliers if label not in given]
        if missing:
            raise InputError(
                f"values must have all multipliers, {', '.join(self.multipliers)}: {missing[0]} is missing"
            )
        before = [(p, p.value) for p in self.multipliers.values()]
        with kept(self.problem):
            try:
                for label, value in given.items():
                    self.multipliers[label].value = value
                return self._at_these()
            except ValueError as error:
                raise InputError(f"values must have the signs of multipliers: {error}") from None
            finally:
                for parameter, value in before:
                    parameter.save_value(value)

    def _at_these(self) -> DualFunctionPoint:
        """The dual function at the values that the parameters have."""
        own = solved_or_refused(self.problem)
        try:
            proof = certify_problem(own, _PROVED)
        except SolveError as error:
            proof = ProblemProof("undecided", -np.inf, np.inf, words=str(error))
        if proof.status == "unbounded":
            return self._without_point(-self._sense * np.inf, own.status)
        if proof.status == "infeasible":
            return self._without_point(self._sense * np.inf, own.status)
        if not (proof.passes() or self._has_slopes_of_rounding(proof)):
            raise SolveError(self._not_proved(own, proof))
        point = {v.name(): held(v) for v in self.problem.variables()}
        slopes = {}
        for label, slack in self._slacks.items():
            slopes[label] = self._sense * np.asarray(slack.value)
        return DualFunctionPoint(float(own.value), point, slopes, own.status, proof.lower, proof.upper)

    def _without_point(self, value: float, status: str) -> DualFunctionPoint:
        """The dual function where it is infinite."""
        return DualFunctionPoint(value, {}, {}, status, value, value)

    def _has_slopes_of_rounding(self, proof: ProblemProof) -> bool:
        """Whether nothing but slopes of rounding size, in variables without bounds, leaves the far side open."""
        far = proof.lower if self._sense > 0 else proof.upper
        known = proof.certificate
        if known is None or np.isfinite(far) or not proof.unabsorbed:
            return False
        near = max(known.primal_residual, *known.multipliers.values(), *proof.unabsorbed.values())
        return proof.status == "undecided" and near <= _PROVED

    def _not_proved(self, own: cp.Problem, proof: ProblemProof) -> str:
        """Say what is known of a value that is refused."""
        least = "least" if self._sense > 0 else "largest"
        value = "no value" if own.value is None else f"{float(own.value):.6g}"
        return (
            f"the {least} value of the Lagrangian at these multipliers is not proved to {_PROVED:.0e}: the solver says "
            f"{own.status}, with {value}, and the value is proved to lie in [{proof.lower:.6g}, {proof.upper:.6g}] "
            "only. It may be approached and not attained. Give other multipliers, dualize fewer constraints, or bound "
            "the variables of the problem"
        )

    def __repr__(self) -> str:
        return f"PartialLagrangian(dualised: {', '.join(self.multipliers)})"


def lagrangian(problem: cp.Problem, dualize: Sequence[str]) -> PartialLagrangian:
    """Make the Lagrangian of some constraints of a problem; the others stay constraints.

    Parameters
    ----------
    problem : cvxpy.Problem
        Convex.
    dualize : sequence of str
        Labels of inequalities, equations or semidefinite constraints (``constraint k`` of one without).

    Returns
    -------
    PartialLagrangian

    Raises
    ------
    InputError
        If there is no such label, or the constraint is another cone.

    Examples
    --------
    >>> import cvxpy as cp, paretoclf as pc
    >>> x = cp.Variable(2, name="x")
    >>> mass = (cp.sum(x) == 1).set_label("mass")
    >>> made = pc.lagrangian(cp.Problem(cp.Minimize(cp.sum_squares(x)), [mass, x >= 0]), dualize=["mass"])
    >>> [round(float(made.at({"mass": nu}).value), 4) + 0.0 for nu in (-2, -1, 0)]
    [0.0, 0.5, 0.0]
    """
    if not is_problem(problem):
        raise InputError(f"problem must be a cvxpy.Problem, got {problem!r:.200}")
    model = Model.of(problem, maximise=True, moving=False)
    labels = [dualize] if isinstance(dualize, str) else list(dualize)
    unknown = [label for label in labels if label not in model.constraints]
    if unknown or not labels:
        raise InputError(
            f"dualize must be labels of constraints, among {', '.join(model.constraints) or 'none'}, got {dualize!r}"
        )
    objective = model.sense * problem.objective.expr
    multipliers: dict[str, Any] = {}
    slacks: dict[str, Any] = {}
    for label in labels:
        multiplier, slack = _dualised(model.constraints[label], label)
        multipliers[label], slacks[label] = multiplier, slack
        objective = objective + (inner(multiplier, slack) if slack.ndim else multiplier * slack)
    rest = [constraint for label, constraint in model.constraints.items() if label not in multipliers]
    goal = cp.Minimize(objective) if model.sense > 0 else cp.Maximize(-objective)
    return PartialLagrangian(cp.Problem(goal, rest), multipliers, slacks, model.sense)


def _dualised(constraint: Any, label: str) -> tuple[Any, Any]:
    """The multiplier of a constraint as a parameter, and what it multiplies."""
    kinds = cp.constraints
    if isinstance(constraint, kinds.Equality | kinds.Zero):
        return cp.Parameter(constraint.expr.shape, name=f"nu_{label}"), constraint.expr
    if isinstance(constraint, kinds.Inequality | kinds.NonPos | kinds.NonNeg):
        slack = -constraint.args[0] if isinstance(constraint, kinds.NonNeg) else constraint.expr
        return cp.Parameter(slack.shape, nonneg=True, name=f"lambda_{label}"), slack
    if isinstance(constraint, kinds.PSD):
        return cp.Parameter(constraint.expr.shape, PSD=True, name=f"Z_{label}"), -constraint.expr
    raise InputError(
        f"dualize must be inequalities, equations or semidefinite constraints, and {label} is {constraint}"
    )
