"""Homework: values and multipliers that somebody worked out by hand, judged, with one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from paretoclf.common.checks import check_positive_number
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import HOMEWORK
from paretoclf.solve.cone_proof import ProblemProof, certify_problem
from paretoclf.solve.lazily import cp
from paretoclf.solve.model import Model
from paretoclf.solve.programs import evaluate, held

Verdict = Literal["right", "infeasible", "not optimal", "wrong multipliers", "undecided"]

#: Slips that are named: what the answer is, beside what a solver found.
SLIPS = {-1.0: "has the opposite sign of", 2.0: "is twice", 0.5: "is half"}


#: Half the side of the box around an optimum in which its Lagrangian must be least, relative to the values.
BOX = 1e-2


@dataclass(frozen=True)
class Grade:
    """What `grade` says of an answer.

    Attributes
    ----------
    verdict : {"right", "infeasible", "not optimal", "wrong multipliers", "undecided"}
        Values come first: multipliers are what is wrong only where the values are optimal.
    sentence : str
        Why, in one sentence.
    values, multipliers : bool or None
        Whether each is right, for who counts points; None where it is undecided, or no multipliers were given.
    proof : ProblemProof
        The proof of the values.
    """

    verdict: Verdict
    sentence: str
    values: bool | None
    multipliers: bool | None
    proof: ProblemProof = field(repr=False)

    def __str__(self) -> str:
        return self.sentence


def grade(
    problem: cp.Problem, values: Mapping[Any, Any], duals: Mapping[Any, Any] | None = None, tol: float = HOMEWORK
) -> Grade:
    """Grade an answer to a convex problem: values of its variables, and multipliers of its constraints.

    It is `certify_problem` twice: of the values, against proved bounds of the optimal value; and of the Lagrangian,
    which must be least at an optimum, whatever the values are. Where optima or multipliers are many, each is right.

    Parameters
    ----------
    problem : cvxpy.Problem
        The exercise; it need not be solved, and holds what it held afterwards.
    values : dict from cvxpy.Variable or str to number or array
        By the variables, or by their names.
    duals : dict from cvxpy.Constraint or str to number or array, optional
        By the constraints, or by their labels (``constraint k`` without one), with the signs of CVXPY: the Lagrangian
        of a minimisation is the objective plus multiplier times (left - right) of ``left <= right`` and ``left ==
        right``, (right - left) of ``left >= right``; that of a maximisation has minus the objective.
    tol : float
        What counts, relative to the terms: by default three digits, so that answers rounded to four are right.

    Returns
    -------
    Grade

    Raises
    ------
    InputError
        If a name is missing, unknown or given twice, a shape does not fit, or `certify_problem` does not take the
        problem.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import paretoclf as pc
    >>> x = cp.Variable(2, name="x")
    >>> low = (x[0] >= 0.75).set_label("low")
    >>> exercise = cp.Problem(cp.Minimize(cp.sum_squares(x)), [(cp.sum(x) == 1).set_label("mass"), low])
    >>> print(pc.grade(exercise, {"x": [0.75, 0.25]}, {"mass": -0.5, "low": 1}))
    Right: the values are optimal (value 0.625), and the multipliers prove it.
    >>> print(pc.grade(exercise, {"x": [0.75, 0.25]}, {"mass": -0.5, "low": 2}))
    Wrong multipliers: the values are optimal, but the multiplier of low is twice the solver's.
    >>> print(pc.grade(exercise, {x: [0.75, 0.25]}, {"mass": -0.5, low: 0.5}))
    Wrong multipliers: the values are optimal, but the multiplier of low is half the solver's.
    >>> print(pc.grade(exercise, {x: [0.5, 0.5]}))
    Infeasible: low is violated by 0.25.
    >>> print(pc.grade(exercise, {"x": [1, 0]}))
    Not optimal: the value is 1, and 0.625 is possible.
    """
    tol, model = check_positive_number(tol, "tol"), Model.of(problem, maximise=True)
    given = _named(values, model.variables, "values", "variables")
    multipliers = None if duals is None else _named(duals, model.constraints, "duals", "constraints")
    own = cp.Problem(problem.objective, problem.constraints)  # its status and value are not those of the user's
    with _kept(model):
        own.solve(solver="CLARABEL")
        reference = {name: held(part) for name, part in (*model.variables.items(), *model.constraints.items())}
        solved = certify_problem(own, tol)
        if solved.certificate is None or any(reference[name] is None for name in model.variables):
            return Grade("undecided", f"Undecided: the problem itself is {solved.status}.", None, None, solved)
        shaped = {name: _shaped(name, value, reference[name]) for name, value in given.items()}
        hand = {name: _shaped(name, value, reference[name]) for name, value in (multipliers or {}).items()}
        missed = None if multipliers is None else _missed(model, {**reference, **hand}, tol)
        for name, value in shaped.items():
            model.variables[name].save_value(value)
        proof = certify_problem(own, tol)
        right = {"optimal": True, "not optimal": False}.get(proof.status)
        proves = None if missed is None else not missed
        if right is not True:
            verdict, sentence = _of_values(proof, shaped, reference, right, tol)
            if right is False and proves:
                sentence += "; the multipliers are right"
            return Grade(verdict, f"{sentence}.", right, proves, proof)
        at = f"the values are optimal (value {proof.certificate.primal_value:.6g})" if proof.certificate else ""
        if multipliers is None:
            return Grade("right", f"Right: {at}.", True, None, proof)
        if proves:
            return Grade("right", f"Right: {at}, and the multipliers prove it.", True, True, proof)
        if proves is None:
            return Grade("undecided", f"Undecided: {at}, but of the multipliers nothing is proved.", True, None, proof)
        why = _slip(hand, reference, "the multiplier of ") or missed
        return Grade("wrong multipliers", f"Wrong multipliers: the values are optimal, but {why}.", True, False, proof)


def _named(given: Mapping[Any, Any], known: Mapping[str, Any], argument: str, what: str) -> dict[str, Any]:
    """What was given, for every name that there is; a variable or constraint itself stands for its name."""
    if not isinstance(given, Mapping):
        raise InputError(f"{argument} must be a dict by the {what} or their names, got {given!r:.200}")
    own = {id(part): name for name, part in known.items()}
    names = [own.get(id(key), key if isinstance(key, str) else str(key)) for key in given]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"{argument} must have each of the {what} once: {twice[0]} is given twice")
    given = dict(zip(names, given.values(), strict=True))
    odd = [name for name in (*known, *given) if name not in given or name not in known]
    if odd:
        is_wrong = "is missing" if odd[0] in known else "is none"
        raise InputError(f"{argument} must have all {what}, {', '.join(known)}: {odd[0]} {is_wrong}")
    return {name: given[name] for name in known}


def _shaped(name: str, value: Any, like: Any) -> Any:
    """A given value as an array like that of a solver; a multiplier of a cone is a list of such."""
    if isinstance(like, list):
        if not isinstance(value, list | tuple) or len(value) != len(like):
            raise InputError(f"{name} must be a list of {len(like)} arrays, got {value!r:.200}")
        return [_shaped(name, each, part) for each, part in zip(value, like, strict=True)]
    try:
        array = np.asarray(value, dtype=complex if np.iscomplexobj(like) else float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, got {value!r:.200}") from None
    if np.squeeze(array).shape != np.squeeze(like).shape or not np.isfinite(array).all():
        raise InputError(f"{name} must be finite numbers of shape {np.shape(like)}, got {value!r:.200}")
    return array.reshape(np.shape(like))


@contextmanager
def _kept(model: Model) -> Iterator[None]:
    """Give variables and constraints what they held back at the end."""
    leaves = [*model.variables.values(), *(v for c in model.constraints.values() for v in c.dual_variables)]
    before = [leaf.value for leaf in leaves]
    try:
        yield
    finally:
        for leaf, value in zip(leaves, before, strict=True):
            leaf.save_value(value)


def _missed(model: Model, numbers: Mapping[str, Any], tol: float) -> str | None:
    """What multipliers miss beside optimal values: nothing (an empty text), or None where that is not proved.

    They are optimal if their signs are right, those of constraints with room are 0, and the Lagrangian is least at the
    optimal values. It is convex, so a small box around these decides; what can be won in it is measured by what the
    objective and the constraints could win alone.
    """
    _, conditions = evaluate(model, numbers)
    for c in conditions:
        if not c.alone and c.wrong_sign.max(initial=0.0) > tol:
            allowed = "must not be negative" if c.product is None else "must lie in its cone"
            return f"the multiplier of {c.name} {allowed}"
        if not c.alone and c.not_complementary.max(initial=0.0) > tol:
            return f"the multiplier of {c.name} must be 0 where there is room"
    objective = model.sense * model.problem.objective.expr
    terms = [_term(constraint, numbers[name]) for name, constraint in model.constraints.items()]
    if any(term is None for term in terms) or any(v.is_complex() for v in model.variables.values()):
        return None
    box, radius = [], BOX * (1.0 + max(float(np.max(np.abs(numbers[name]))) for name in model.variables))
    for name, variable in model.variables.items():
        variable.save_value(np.asarray(numbers[name], dtype=float))
        box += [variable - numbers[name] <= radius, numbers[name] - variable <= radius]
    both = cp.Problem(cp.Minimize(objective + sum(terms)), box)
    here = float(both.objective.expr.value)
    size = BOX * radius + sum(_won(cp.Problem(cp.Minimize(part), box)) for part in (objective, sum(terms)))
    both.solve(solver="CLARABEL")
    proof = certify_problem(both, 1e-6)
    if here - proof.lower <= tol * size:
        return ""
    if here - proof.upper <= tol * size:
        return None
    falls = {name: _fall(both, model, numbers, name) for name in model.variables}
    where = " and ".join(name for name, fall in falls.items() if fall > tol * size)
    return f"the Lagrangian is not stationary {f'in {where} ' if where else ''}at the optimum"


def _fall(both: cp.Problem, model: Model, numbers: Mapping[str, Any], name: str) -> float:
    """By how much the Lagrangian falls in the box where one variable moves alone."""
    others = {id(v): cp.Constant(numbers[other]) for other, v in model.variables.items() if other != name}
    model.variables[name].save_value(np.asarray(numbers[name], dtype=float))
    parts = [both.objective.expr, *(constraint.expr for constraint in both.constraints)]
    objective, *box = (part.tree_copy(others) for part in parts)
    return _won(cp.Problem(cp.Minimize(objective), [each <= 0 for each in box if each.variables()]))


def _term(constraint: Any, multiplier: Any) -> Any:
    """What a constraint adds to the Lagrangian; None of kinds that are not covered."""
    kinds = cp.constraints
    if isinstance(constraint, kinds.Zero | kinds.Equality):
        return cp.sum(cp.multiply(multiplier, constraint.expr))
    if isinstance(constraint, kinds.Inequality | kinds.NonPos):
        return cp.sum(cp.multiply(np.maximum(multiplier, 0.0), constraint.expr))
    if isinstance(constraint, kinds.PSD):
        return -cp.sum(cp.multiply(multiplier, constraint.expr))
    if isinstance(constraint, kinds.SOC):
        return -sum(
            cp.sum(cp.multiply(np.reshape(m, a.shape), a)) for m, a in zip(multiplier, constraint.args, strict=True)
        )
    return None


def _won(problem: cp.Problem) -> float:
    """By how much the objective falls in a box, from where the variables stand; they go back there."""
    variables = problem.variables()
    before = [variable.value for variable in variables]
    here = float(problem.objective.expr.value) if variables else 0.0
    least = float(problem.solve(solver="CLARABEL")) if variables else 0.0
    for variable, value in zip(variables, before, strict=True):
        variable.save_value(value)
    return max(0.0, here - least)


def _of_values(
    proof: ProblemProof, values: Mapping[str, Any], reference: Mapping[str, Any], right: bool | None, tol: float
) -> tuple[Verdict, str]:
    """What is wrong with values."""
    certificate = proof.certificate
    assert certificate is not None
    worst = max(proof.conditions, key=lambda c: float(c.infeasibility.max(initial=0.0)), default=None)
    slip = _slip(values, reference, "")
    hint = f" ({slip})" if slip else ""
    if right is None:
        return "undecided", f"Undecided: {certificate.missing()}"
    if worst is not None and worst.infeasibility.max(initial=0.0) > tol:
        by = float(np.max(np.abs(worst.slack) if worst.equation else -worst.slack))
        return "infeasible", f"Infeasible: {worst.name} is violated by {by:.4g}{hint}"
    best = proof.upper if np.isfinite(proof.upper) else proof.lower
    return "not optimal", f"Not optimal: the value is {certificate.primal_value:.6g}, and {best:.6g} is possible{hint}"


def _slip(given: Mapping[str, Any], reference: Mapping[str, Any], what: str) -> str:
    """Which part of an answer is off by a sign or a factor 2, and nothing else is."""
    off = [name for name in given if not _near(given[name], reference[name])]
    for factor, words in SLIPS.items():
        if off and all(_near(given[name], _times(factor, reference[name])) for name in off):
            return f"{what}{' and '.join(off)} {words} the solver's"
    return ""


def _times(factor: float, value: Any) -> Any:
    return [_times(factor, part) for part in value] if isinstance(value, list) else factor * np.asarray(value)


def _near(a: Any, b: Any) -> bool:
    if isinstance(b, list):
        return all(map(_near, a, b))
    return bool(np.max(np.abs(a - b), initial=0.0) <= 1e-2 * (np.max(np.abs(b), initial=0.0) + 1e-6))
