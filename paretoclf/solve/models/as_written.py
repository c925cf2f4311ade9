"""Expressions and constraints of CVXPY as their author wrote them."""

from __future__ import annotations

import re
from typing import Any

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
