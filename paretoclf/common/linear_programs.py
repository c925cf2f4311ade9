"""Linear programs as SciPy solves them: its optimisers, a third of a second to import, come with the first one."""

from __future__ import annotations

from typing import Any


def linprog(cost: Any, **how: Any) -> Any:
    """Solve a linear program by ``scipy.optimize.linprog``."""
    from scipy.optimize import linprog as solved  # exact paths and their proofs need none

    return solved(cost, **how)
