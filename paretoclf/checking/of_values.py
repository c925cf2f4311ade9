"""`verify` of numbers for a ``cvxpy.Problem`` that no solver has written into it: values, multipliers, or a claim."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from paretoclf.checking.engine_points import engine_points
from paretoclf.checking.multipliers import OPPOSITE, dual_error
from paretoclf.checking.of_problem import judge_problem
from paretoclf.checking.program_claims import CLAIMS, claim_of, judge_conflict
from paretoclf.checking.program_solutions import is_result, labelled
from paretoclf.checking.ray_claims import judge_contradiction
from paretoclf.common.checks import Array, what_it_is
from paretoclf.common.errors import DegeneratePathError, InputError, NeedsConeError
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.path.sensitivity.conflict import conflict
from paretoclf.path.tracing import source_here
from paretoclf.proof.cones.cone_kinds import Cone
from paretoclf.proof.cones.cone_program import ConeProgram
from paretoclf.solve.grading.claims import Judgement, judge_infeasible, judge_ray, judge_unbounded
from paretoclf.solve.grading.grading import grade
from paretoclf.solve.judging.cone_proof import ProblemProof
from paretoclf.solve.judging.given_values import by_name, kept
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Model, without_values


def judge_given(problem: Any, values: Any, duals: Any, tol: float) -> ProblemProof:
    """Judge values of the variables of a problem, with multipliers if they are given; or that it has no solution.

    What the problem holds is left as it was, and has no part in the verdict.

    Parameters
    ----------
    problem : cvxpy.Problem
        It need not be solved.
    values : mapping of variables, or their names, to numbers; or "infeasible" or "unbounded"
        Of a problem with one variable an array will do, or a result that has it as ``x``.
    duals : mapping of constraints, or their names, to numbers, optional
        With the signs of CVXPY. They are part of the answer: wrong ones are not optimal. Beside ``"infeasible"`` those
        of constraints that contradict each other, others being 0; beside ``"unbounded"`` the ray, by variables.
    tol : float
    """
    model = Model.of(problem, maximise=True, moving=False)
    model.check_parameters()
    model.check_continuous()
    values = claim_of(values)
    if isinstance(values, str) and values in CLAIMS:
        return _of_claim(model, values, duals, tol)
    given = by_name(_by_variable(values, model), model.variables, "values")
    missing = [name for name in model.variables if name not in given]
    if missing:
        raise InputError(f"values must have all variables, {', '.join(model.variables)}: {missing[0]} is missing")
    own = cp.Problem(problem.objective, problem.constraints)  # its status is not that of the user's
    with kept(own), without_values(own):
        for constraint in own.constraints:
            for leaf in constraint.dual_variables:
                leaf.save_value(None)
        for name, value in given.items():
            model.variables[name].save_value(value)
        proof = judge_problem(own, tol)
    if duals is None or proof.status != "optimal":
        return proof
    return _with_duals(problem, given, duals, proof)


def _by_variable(values: Any, model: Model) -> Any:
    """Values by name, where one variable may stand without it."""
    values = labelled(values)
    if isinstance(values, Mapping) and not is_result(values):
        return values
    bare = getattr(values, "x", values)
    if len(model.variables) != 1 or isinstance(bare, str | Mapping) or bare is None:
        got = f" {values!r:.100}" if isinstance(values, str) else ""
        names = "".join(f"{name!r}: value, " for name in model.variables)
        raise InputError(
            f"values must be a dict by variables or names, {{{names.removesuffix(', ')}}}, or 'infeasible' or "
            f"'unbounded', got {what_it_is(values)}{got}"
        )
    return {next(iter(model.variables)): bare}


def _with_duals(problem: Any, values: Mapping[str, Any], duals: Any, proof: ProblemProof) -> ProblemProof:
    """The proof of optimal values together with multipliers."""
    try:
        line = source_here(problem).line
    except NeedsConeError:
        said = grade(problem, values, duals, proof.tol)  # whose rule for multipliers covers cones
        off = {True: 0.0, False: np.inf, None: np.nan}[said.multipliers]
        return proof.with_multipliers(off, said.sentence)
    named = of_constraints(duals, problem, line)
    x, own = _optimum(line)
    error = dual_error(line, 0.0, x, named, own)
    words = f"The multipliers hold to {error:.1e} of their terms." if error <= proof.tol else ""
    if error > proof.tol and dual_error(line, 0.0, x, {name: -z for name, z in named.items()}, own) <= proof.tol:
        words = f"{OPPOSITE}: CVXPY's signs are meant, of minus the objective where it is maximised."
    left = [name for name in line.multipliers if name not in named]
    if left and error <= proof.tol:
        words += f" Those of {', '.join(left)} were not given: they are those that suit the others best."
    return proof.with_multipliers(error, words)


def of_constraints(duals: Any, problem: Any, line: ProgramLine) -> dict[str, Array]:
    """Multipliers by the names that they have in the program of a problem."""
    if not isinstance(duals, Mapping):
        raise InputError(f"duals must be a dict by constraints or their names, got {what_it_is(duals)}")
    names = {id(c): c.label or f"constraint {k}" for k, c in enumerate(problem.constraints)}
    found = {}
    for key, value in duals.items():
        name = names.get(id(key), str(key))
        if name not in line.all_multipliers:
            raise InputError(f"duals must be of {', '.join(line.all_multipliers) or 'no constraint'}, got {name:.100}")
        shape, array = line.all_multipliers[name].shape, np.asarray(value, dtype=np.float64)
        if array.size != int(np.prod(shape)) or not np.isfinite(array).all():
            raise InputError(f"duals must have finite numbers of shape {shape} for {name}, got {value!r:.100}")
        found[name] = array.reshape(shape)
    return found


def _optimum(line: ProgramLine) -> tuple[Array, Array | None]:
    """The engine's own optimum of a program, and its multipliers."""
    kinds = ("zero", line.equations), ("nonnegative", line.m - line.equations)
    program = ConeProgram(line.P, line.q[0], line.A, line.b[0], [Cone(kind, size) for kind, size in kinds if size])
    found = next(engine_points(program), None)
    if found is None:
        raise InputError("duals must be left out: the program is too large for its multipliers to be judged")
    return found


def _of_claim(model: Model, claim: str, evidence: Any, tol: float) -> ProblemProof:
    """Judge the claim that there is no solution, by the evidence for it if that is given."""
    if claim == "unbounded":
        if evidence is None:
            return _proof_of(judge_unbounded(model, tol), claim, tol)
        direction = by_name(evidence, model.variables, "ray")
        whole = {name: direction.get(name, np.zeros(each.shape)) for name, each in model.variables.items()}
        return _proof_of(judge_ray(model, whole, tol), claim, tol)
    if evidence is None:
        said = judge_infeasible(model, tol)
        rows = _proof_of_rows(model, tol) if said.right is None else None
        return rows or _proof_of(said, claim, tol)
    try:
        line = source_here(cp.Problem(cp.Minimize(0), model.problem.constraints)).line
    except NeedsConeError as error:
        raise InputError(
            f"duals must be left out beside 'infeasible', as they are judged of linear constraints only: {error}; "
            "verify(problem, 'infeasible') judges the claim"
        ) from None
    return judge_contradiction(line, of_constraints(evidence, model.problem, line), tol)


def _proof_of_rows(model: Model, tol: float) -> ProblemProof | None:
    """Proof by the rows themselves, if they are linear."""
    with suppress(InputError, DegeneratePathError):
        return judge_conflict(conflict(model.problem), model.sense, tol)
    return None


def _proof_of(said: Judgement, claim: str, tol: float) -> ProblemProof:
    """The judgement of a claim as a proof."""
    status = {True: claim, False: "not optimal", None: "undecided"}[said.right]
    proof = said.proof
    return replace(proof, status=status, certificate=None, words=said.sentence, tol=tol)
