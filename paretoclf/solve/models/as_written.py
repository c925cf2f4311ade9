"""Expressions and constraints of CVXPY as their author wrote them, and why CVXPY's rules do not accept them."""

from __future__ import annotations

import re
from typing import Any

from paretoclf.solve.models.lazily import cp

#: CVXPY's name of an atom, what it prints behind the arguments, and the function that a user calls.
_CALLS = (
    ("quad_over_lin(", ", 1.0, None, False", "sum_squares("),
    ("Sum(", ", None, False", "sum("),
    ("PnormApprox(", "", "norm("),
    ("Pnorm(", "", "norm("),
    ("PowerApprox(", "", "power("),
    ("Power(", "", "power("),
    ("GeoMeanApprox(", "", "geo_mean("),
    ("GeoMean(", "", "geo_mean("),
    ("QuadForm(", "", "quad_form("),
)


def spoken(expression: Any) -> str:
    """The text of an expression, with the functions that a user calls in place of CVXPY's atoms.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.models.as_written import spoken
    >>> w = cp.Variable(2, name="w")
    >>> spoken(cp.sum_squares(w) + cp.norm(w, 2))
    'sum_squares(w) + norm(w, 2)'
    """
    text = " ".join(str(expression).split())
    for called, tail, said in _CALLS:
        at = -1
        while (found := re.compile(rf"(?<!\w){re.escape(called)}").search(text, at + 1)) is not None:
            at, begin = found.start(), found.end()
            end = _closing(text, begin)
            inside = text[begin:end]
            if inside.endswith(tail):
                text = f"{text[:at]}{said}{inside[: len(inside) - len(tail)]}{text[end:]}"
    text = re.sub(r"\[[-\d.e+\s\[\]]{12,}\]", "[...]", text)  # the numbers of an array
    # A number beside an array is promoted to its shape.
    text = re.sub(r"Promote\(([^,()]+), \([^()]*\)\)", lambda m: f"({m[1]})" if " " in m[1] else m[1], text)
    return re.sub(r"(?<![\w.])(\d+)\.0(?![\w.])", r"\1", text).replace("+ -", "- ")


def _closing(text: str, begin: int) -> int:
    """Where the parenthesis closes that was opened before ``begin``."""
    depth = 1
    for k in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[k], 0)
        if depth == 0:
            return k
    return len(text)


def short(expression: Any) -> str:
    """Text of an expression in one line of a message."""
    text = spoken(expression)
    return text if len(text) <= 80 else f"{text[:50]} ... {text[-25:]}"


def called(name: str, constraint: Any) -> str:
    """A constraint in a message: by its label, or by its number and its text."""
    return name if constraint.label else f"{name} ({short(constraint)})"


def why_not_convex(part: Any) -> str:
    """Return which piece of an objective or a constraint breaks CVXPY's rules for convexity (DCP), and what to write.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.models.as_written import why_not_convex
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
                return (
                    f"{short(factor)} has no sign that CVXPY knows, in {short(expression)}. {_two_parameters(factor)}"
                )
    kinds = ", ".join(f"{short(each)} is {each.curvature.lower()}" for each in expression.args)
    return f"{short(expression)} is neither convex nor concave by these rules: {kinds}"


def _two_parameters(factor: Any) -> str:
    """Advise what to write for a factor whose sign is not known: a parameter beside the ones in it."""
    own = factor.parameters()
    if factor is own[0] or factor.args == []:
        return f"Say which it has: cp.Parameter(nonneg=True, name={own[0].name()!r})"
    text = short(factor)
    values = dict(zip((p.name() for p in own), "abcdefgh", strict=False))
    there = re.sub(r"[^\W\d]\w*", lambda found: values.get(found[0], found[0]), text)
    start = ", ".join(f"{name}: {value}" for name, value in values.items())
    return (
        "Write a Parameter of its own for it, rest = cp.Parameter(nonneg=True), and give it the value of "
        f"{text} at both ends: start={{{start}, rest: {there}}}, and likewise stop"
    )
