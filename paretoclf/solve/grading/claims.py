"""Homework without a solution: claims that a problem is infeasible, or unbounded along a direction, judged.

A direction is judged on the ray from one feasible point: for a convex problem that decides for all of them. There the
problem itself, with equations that hold its variables on the ray, goes to the judge of problems, which proves it
unbounded or bounds it. That the ray leaves a constraint, or that the objective rises on it, is seen at a point of it:
what is convex does not come back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.tolerances import CERTIFY
from paretoclf.proof.verdicts.evidence import Condition
from paretoclf.solve.judging.cone_proof import ProblemProof
from paretoclf.solve.judging.given_values import proved, solved
from paretoclf.solve.judging.primal_and_dual import evaluate, finite, held
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Model, dense, without_values

#: Steps along a direction at which constraints and the objective are looked at.
STEPS = (1.0, 1e2, 1e4)

#: How far a ray has left a constraint where it is said to have, in what a feasible point may miss of it.
_LEFT = 1e3

#: By how much an objective must get worse, relative to itself, to be said to.
_ROUNDING = 1e-9

#: Numbers of a point that are told; of a larger one its size is.
_TOLD = 6


@dataclass(frozen=True)
class Judgement:
    """What is said of a claim: whether it is right, None where nothing is proved; why; and the proof."""

    right: bool | None
    sentence: str
    proof: ProblemProof = field(repr=False)


def judge_infeasible(model: Model, tol: float) -> Judgement:
    """Whether no point satisfies the constraints of a problem: contradicting constraints, or a feasible point."""
    proof = proved(model.problem, 0.01 * tol)
    if proof.status == "undecided":
        proof = proved(_alone(model), 0.01 * tol)  # where the objective is defined may contradict them, too
    if proof.status == "infeasible":
        return Judgement(True, f"Right: it is infeasible, and here is why: {_contradiction(proof)}.", proof)
    point = feasible_point(model)
    if point is None:
        return Judgement(None, "Undecided: neither a feasible point nor a contradiction is proved.", proof)
    return Judgement(False, f"Wrong: it is feasible, {point}.", proof)


def judge_unbounded(model: Model, tol: float) -> Judgement:
    """Whether the objective has no bound: a feasible point and a ray of the solver's, or a bound."""
    proof = proved(model.problem, 0.01 * tol)
    if proof.status == "infeasible":
        return Judgement(False, f"Wrong: it is infeasible, and not unbounded: {_contradiction(proof)}.", proof)
    bound = proof.lower if model.sense > 0 else proof.upper
    if np.isfinite(bound):
        return Judgement(False, f"Wrong: the objective is never {_side(model)} {bound:.6g}.", proof)
    point = feasible_point(model) if proof.status == "unbounded" else None
    if point is None:
        return Judgement(None, "Undecided: neither a bound nor a feasible point with a ray is proved.", proof)
    return Judgement(True, f"Right: it is unbounded {_side(model)}, {point}, and {proof.ray}.", proof)


def _side(model: Model) -> str:
    """On which side the objective may have no bound."""
    return "below" if model.sense > 0 else "above"


def judge_ray(model: Model, direction: Mapping[str, Any], tol: float) -> Judgement:
    """Whether the objective has no bound along a direction, from a feasible point."""
    proof = proved(model.problem, 0.01 * tol)
    if proof.status == "infeasible":
        return Judgement(False, f"Wrong: it is infeasible, and not unbounded: {_contradiction(proof)}.", proof)
    along = f"along {_listed(direction)}"
    point = feasible_point(model)
    bound = proof.lower if model.sense > 0 else proof.upper
    side = _side(model)
    bounded = f"the objective is never {side} {bound:.6g}" if np.isfinite(bound) else ""
    if point is None:
        if bounded:
            return Judgement(False, f"Wrong: {bounded}.", proof)
        return Judgement(None, "Undecided: no feasible point is proved.", proof)
    why = _left(model, point, direction)
    if bounded or why:
        more = f"; {bounded}" if bounded and why else bounded
        return Judgement(False, f"Wrong: {why}{more}.", proof)
    on_ray = proved(_on_ray(model, point, direction), 0.01 * tol)
    verb = "falls" if model.sense > 0 else "rises"
    if on_ray.status == "unbounded":
        why = f"the objective {verb} for ever, and all constraints are kept"
        return Judgement(True, f"Right: it is unbounded {along}: from {point.told} {why}.", on_ray)
    bound = on_ray.lower if model.sense > 0 else on_ray.upper
    if np.isfinite(bound):
        return Judgement(False, f"Wrong: {along} from {point.told} the objective is never {side} {bound:.6g}.", on_ray)
    said = f"{along} no constraint is seen to be left, but that the objective {verb} for ever is not proved"
    return Judgement(None, f"Undecided: {said}.", on_ray)


@dataclass(frozen=True)
class FeasiblePoint:
    """Values of variables that satisfy all constraints, and by how much they may miss these."""

    values: Mapping[str, Any]
    missed: float
    few_digits: bool

    @property
    def told(self) -> str:
        """The values in words."""
        return _listed(self.values, "=" if self.few_digits else "near")

    def __str__(self) -> str:
        kept = "all constraints" if self.missed == 0.0 else f"all constraints to {self.missed:.0e}"
        return f"since {self.told} satisfies {kept}"


def feasible_point(model: Model) -> FeasiblePoint | None:
    """A point that satisfies all constraints, or next to which one is proved; None where neither is found.

    Of few digits, if such a point misses nothing.
    """
    alone = _alone(model)
    with without_values(model.problem):
        try:
            solved(alone)
        except cp.SolverError:
            return None
        values = {name: held(variable) for name, variable in model.variables.items()}
    if any(value is None or not finite(value) for value in values.values()):
        return None
    for digits in (1, 3):
        near = {name: np.round(value, digits) + 0.0 for name, value in values.items()}
        if _missed(model, near) == 0.0:
            return FeasiblePoint(near, 0.0, few_digits=True)
    missed = _missed(model, values)
    if missed <= CERTIFY and np.isfinite(proved(alone, CERTIFY).upper):
        return FeasiblePoint(values, missed, few_digits=False)
    return None


def _alone(model: Model) -> cp.Problem:
    """The constraints without the objective, but where this is defined."""
    domain = model.problem.objective.expr.domain
    for k, constraint in enumerate(domain):
        constraint.set_label(f"the domain of the objective{f' ({k + 1})' if k else ''}")
    return cp.Problem(cp.Minimize(_nothing(model)), [*model.constraints.values(), *domain])


def _missed(model: Model, values: Mapping[str, Any]) -> float:
    """The largest violation at a point; infinite where the objective is not defined."""
    value, conditions = _evaluated(model, values)
    return max(map(_violation, conditions), default=0.0) if np.isfinite(value) else np.inf


def _nothing(model: Model) -> Any:
    """An objective of 0 that has all variables."""
    real = [cp.real(v) if v.is_complex() else v for v in model.variables.values()]
    return sum((0 * cp.sum(v) for v in real), cp.Constant(0.0))


def _evaluated(model: Model, values: Mapping[str, Any]) -> tuple[float, list[Condition]]:
    """Objective and constraints at a point; constraints have no multipliers there."""
    value, conditions = evaluate(model, dict(values))
    return float(value), list(conditions)


def _violation(condition: Condition) -> float:
    """The largest violation of a condition, in its unit."""
    return float(condition.infeasibility.max(initial=0.0))


def _left(model: Model, point: FeasiblePoint, direction: Mapping[str, Any]) -> str:
    """Which constraint the ray from a feasible point leaves, or that the objective gets worse; empty for neither.

    Both are seen at one point: a violation beside which that of the feasible point is nothing, or a value that is
    worse than the first. A convex set that a ray has left is not entered again, and a convex objective that has risen
    does not fall again.
    """
    begin, _ = _evaluated(model, point.values)
    for step in STEPS:
        value, conditions = _evaluated(model, dict(_steps(point, direction, step)))
        worst = max(conditions, key=_violation, default=None)
        if worst is not None and _violation(worst) > _LEFT * max(point.missed, CERTIFY):
            by = float(np.max(np.abs(worst.slack) if worst.equation else -worst.slack))
            return f"{worst.name} is violated by {by:.4g}, {_times(step)} from {point.told}"
        if not np.isfinite(value):
            return f"the objective is not defined, {_times(step)} from {point.told}"
        if model.sense * (value - begin) > _ROUNDING * max(abs(value), abs(begin)):
            moves = "rises" if model.sense > 0 else "falls"
            return f"the objective {moves}: it is {begin:.6g} at {point.told}, and {value:.6g} {_times(step)}"
    return ""


def _times(step: float) -> str:
    """Steps in words."""
    return "one step on" if step == 1.0 else f"{step:.0f} steps on"


def _steps(point: FeasiblePoint, direction: Mapping[str, Any], step: float) -> Iterator[tuple[str, Any]]:
    """Values on the ray."""
    for name, value in point.values.items():
        yield name, value + step * direction[name]


def _on_ray(model: Model, point: FeasiblePoint, direction: Mapping[str, Any]) -> cp.Problem:
    """The problem, whose variables must be on the ray."""
    step = cp.Variable(nonneg=True, name="step")
    held_there = [variable == point.values[name] + step * direction[name] for name, variable in model.variables.items()]
    return cp.Problem(model.problem.objective, [*model.problem.constraints, *held_there])


def _contradiction(proof: ProblemProof) -> str:
    """The constraints that contradict each other, with their multipliers, the largest of which is 1."""
    if len(proof.blame) == 1:
        return f"no point satisfies {next(iter(proof.blame))}, which contradicts itself"
    largest = max(proof.blame.values(), default=1.0)
    sizes = [f"{size / largest:.4g} for {name}" for name, size in proof.blame.items()]
    together = f"no point satisfies {' and '.join(proof.blame)} together"
    return f"{together}, since their sum with multipliers, at most {' and '.join(sizes)}, contradicts itself"


def _listed(values: Mapping[str, Any], equal: str = "=") -> str:
    """A point in words."""
    return ", ".join(f"{name} {equal} {_number(value)}" for name, value in values.items())


def _number(value: Any) -> str:
    """A small array in words; of a large one its shape."""
    array = np.asarray(dense(value))
    if array.size > _TOLD:
        return f"an array of shape {array.shape}"
    return f"{float(array):.4g}" if array.ndim == 0 else str(np.round(array, 4).tolist())
