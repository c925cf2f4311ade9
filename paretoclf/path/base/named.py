"""Names of variables, parameters and constraints of a problem in results."""

from __future__ import annotations

from typing import Any


def name_in(problem: Any, key: Any) -> str:
    """Name of a variable, a parameter or a constraint of a problem; a name is returned as it is.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.path.base.named import name_in
    >>> x = cp.Variable(name="x")
    >>> problem = cp.Problem(cp.Minimize(x), [x >= 1, (x <= 3).set_label("cap")])
    >>> name_in(problem, x), [name_in(problem, each) for each in problem.constraints]
    ('x', ['constraint 0', 'cap'])
    """
    if isinstance(key, str):
        return key
    if getattr(key, "label", None):
        return str(key.label)
    for k, row in enumerate(getattr(problem, "constraints", ())):
        if row is key:
            return f"constraint {k}"
    return str(key.name()) if hasattr(key, "name") else str(key)
