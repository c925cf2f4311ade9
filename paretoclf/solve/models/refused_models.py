"""Reasons why CVXPY's rules do not accept a problem, and what to write instead: the words of refusals."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from string import ascii_lowercase
from typing import Any

import numpy as np

from paretoclf.solve.models.as_written import short
from paretoclf.solve.models.lazily import cp


def not_convex(problem: Any, parts: Mapping[str, Any], broken: Sequence[str]) -> str:
    """Say in which parts a problem is not convex by CVXPY's rules, why the first of them is not, and what to write."""
    why = why_not_convex(parts[broken[0]])
    if problem.is_dgp():
        verb = "minimise" if isinstance(problem.objective, cp.Minimize) else "maximise"
        why += (
            ". It is a geometric program, which is convex in the logarithms of its variables and parameters: write u "
            f"for log(x), sums for products and cp.log_sum_exp for sums, {verb} the logarithm of the objective, and "
            "trace within eps"
        )
    return f"a model must be convex by CVXPY's rules (DCP), which it is not in: {', '.join(broken)}. {why}"


def not_dpp(parts: Mapping[str, Any], broken: Sequence[str]) -> str:
    """Say in which parts a problem is not DPP, and what to write for the first of them."""
    part = parts[broken[0]]
    if any(_divides(side) for side in part.args):
        instead = ". In place of quad_over_lin(x, p) write quad_over_lin(x, s) with a Variable s and s == p"
    else:
        instead = _instead_of_product(part)
    return (
        f"a model must be DPP in its parameters, which it is not in: {', '.join(broken)}. A parameter may multiply "
        "what holds no parameter, nothing more; a function of parameters is a cvxpy.CallbackParam, or, to trace in "
        f"it, a Parameter of its own{instead}"
    )


def _divides(expression: Any) -> bool:
    """Whether a ``quad_over_lin`` below an expression divides by a parameter."""
    if isinstance(expression, cp.quad_over_lin) and expression.args[1].parameters():
        return True
    return any(_divides(part) for part in expression.args)


def _instead_of_product(part: Any) -> str:
    """Remedy for a product of parameters, which it names; nothing where something else is not DPP."""
    with getattr(cp.utilities.scopes, "quad_form_dpp_scope", nullcontext)():
        expression = next((each for each in (part.expr, *part.args) if not each.is_dcp(dpp=True)), None)
        while expression is not None:
            inner = [each for each in expression.args if not each.is_dcp(dpp=True)]
            if not inner:
                break
            expression = inner[0]
    if expression is None or expression.variables() or len(expression.parameters()) < 1:
        return ""
    return (
        f". Here that is {short(expression)}: write a Parameter in its place, and give it the value of "
        f"{short(expression)} at both ends, between which it goes straight"
    )


def why_not_convex(part: Any) -> str:
    """Return which piece of an objective or a constraint breaks CVXPY's rules for convexity (DCP), and what to write.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.models.refused_models import why_not_convex
    >>> r, tau = cp.Variable(name="r"), cp.Parameter(nonneg=True, name="tau")
    >>> print(why_not_convex(cp.Minimize(tau * cp.pos(r) + (1 - tau) * cp.neg(r))))
    1 - tau has no sign that CVXPY knows, in (1 - tau) * -(minimum(r, 0)). Write a Parameter of its own for it, rest =
    cp.Parameter(nonneg=True), and give it the value of 1 - tau at both ends: start={tau: a, rest: 1 - a}, and likewise
    stop
    """
    expression = next((each for each in (part.expr, *part.args) if not each.is_dcp()), None)
    if expression is None:
        if isinstance(part, cp.Minimize | cp.Maximize):
            verb, need = ("minimised", "convex") if isinstance(part, cp.Minimize) else ("maximised", "concave")
            return f"What is {verb} must be {need}, got {part.expr.curvature.lower()}: {short(part.expr)}"
        if isinstance(part, cp.constraints.Equality | cp.constraints.Zero):
            return f"Both sides of an equation must be affine: {short(part)}"
        return f"The smaller side must be convex and the larger one concave: {short(part)}"
    while inner := [each for each in expression.args if not each.is_dcp()]:
        expression = inner[0]
    if type(expression).__name__ in ("MulExpression", "multiply"):
        for factor in expression.args:
            factor = factor.args[0] if type(factor).__name__ == "Promote" else factor
            own = factor.parameters()
            if own and not factor.variables() and factor.sign == "UNKNOWN":
                said = (
                    f"{short(factor)} has no sign that CVXPY knows, in {short(expression)}. {_two_parameters(factor)}"
                )
                return f"{said}{_of_bent_path(expression)}"
    if isinstance(expression, cp.QuadForm) and expression.args[1].parameters():
        return _of_moving_matrix(expression)
    if isinstance(expression, cp.QuadForm) and not expression.args[1].variables():
        return _of_fixed_matrix(expression)
    kinds = ", ".join(f"{short(each)} is {each.curvature.lower()}" for each in expression.args)
    return f"{short(expression)} is neither convex nor concave by these rules: {kinds}"


def _two_parameters(factor: Any) -> str:
    """Advise what to write for a factor whose sign is not known: a parameter beside the ones in it."""
    own = factor.parameters()
    if factor is own[0] or factor.args == []:
        return f"Say which it has: cp.Parameter(nonneg=True, name={own[0].name()!r})"
    text = short(factor)
    names = [p.name() for p in own]
    letters = [letter for letter in ascii_lowercase if letter not in names]
    values = dict(zip(names, letters, strict=False))
    there = re.sub(r"[^\W\d]\w*", lambda found: values.get(found[0], found[0]), text)
    start = ", ".join(f"{name}: {value}" for name, value in values.items())
    return (
        "Write a Parameter of its own for it, rest = cp.Parameter(nonneg=True), and give it the value of "
        f"{text} at both ends: start={{{start}, rest: {there}}}, and likewise stop"
    )


def _of_bent_path(product: Any) -> str:
    """Say what `trace` needs where a parameter multiplies what is not piecewise linear; else nothing."""
    factors = [each for each in product.args if each.variables()]
    if all(each.is_pwl() for each in factors):
        return ""
    return ". As it multiplies what is not piecewise linear, trace takes it with eps=1e-4"


def _of_fixed_matrix(form: Any) -> str:
    """Reason and remedy for a quadratic form whose matrix is not semidefinite."""
    matrix = np.asarray(form.args[1].value.todense() if hasattr(form.args[1].value, "todense") else form.args[1].value)
    ends = np.linalg.eigvalsh(0.5 * (matrix + matrix.T))[[0, -1]]
    x = short(form.args[0])
    return (
        f"{short(form)} is neither convex nor concave: eigenvalues of its matrix go from {ends[0]:.1e} to {ends[1]:.1e}"
        f". Where one of these signs is rounding, write cp.quad_form({x}, pc.nearest_psd(P))"
    )


def _of_moving_matrix(form: Any) -> str:
    """Reason and remedy for a quadratic form whose matrix holds parameters."""
    x, matrix = (short(each) for each in form.args)
    return (
        f"{short(form)} is neither convex nor concave by these rules: CVXPY does not know whether {matrix}, which "
        f"depends on {', '.join(p.name() for p in form.args[1].parameters())}, is positive semidefinite. Where it is, "
        f"write cp.quad_form({x}, cp.psd_wrap(...)) with the matrix inside, or one term for each part of the matrix: "
        f"for S + d * np.eye(n) they are cp.quad_form({x}, S) + d * cp.sum_squares({x}), with d = "
        "cp.Parameter(nonneg=True)"
    )
