"""Solutions of a ``cvxpy.Problem``: they have variables, and no classifier need be there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from paretoclf.proof.verdicts.solution import Solution
from paretoclf.solve.entries import entries
from paretoclf.solve.models.model import dense


@dataclass(frozen=True, repr=False)
class ProblemSolution(Solution):
    """A solution of a ``cvxpy.Problem``, with its variables.

    Attributes
    ----------
    names : tuple of str
        The variables of the problem.
    """

    names: tuple[str, ...] = ()

    @property
    def variables(self) -> dict[str, Any]:
        """Values of the variables, by name."""
        return {name: dense(self.numbers[name]) for name in self.names}

    def summary(self) -> dict[str, Any]:
        """Parameters, value with its proved bounds, gap, largest residual, every entry of real variables, and who."""
        row = super().summary()
        del row["b"]
        source = row.pop("source")
        real = {name: value for name, value in self.variables.items() if not np.iscomplexobj(value)}
        own = dict(each for name, value in real.items() for each in entries(name, value))
        told = {f"variable {name}" if name in (*row, "source") else name: number for name, number in own.items()}
        return {**row, **told, "source": source}


def with_variables(solutions: Iterable[Solution], given: Any) -> list[Solution]:
    """Solutions of a problem, told by its variables."""
    names = tuple(given.primal_model.variables)
    return [ProblemSolution(**{f.name: getattr(s, f.name) for f in fields(s)}, names=names) for s in solutions]
