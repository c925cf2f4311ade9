"""What is read off the path of a program: a point, the rates beside it, what happens at a breakpoint, and its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.checks import Array
from paretoclf.reduction.judged import RayProof


@dataclass(frozen=True, repr=False)
class ProblemPoint:
    """The optimum at one t, in the user's words.

    Attributes
    ----------
    t : float
    value : float
        The optimal value of the objective as it was written; of a maximisation the largest.
    parameters, variables, duals : mapping of str to number or array
        By name; duals have the signs and shapes of CVXPY's ``dual_value``.
    """

    t: float
    value: float
    parameters: Mapping[str, Any]
    variables: Mapping[str, Any]
    duals: Mapping[str, Any]

    def __repr__(self) -> str:
        lines = [f"optimum at t = {self.t:.6g}{_those(self.parameters)}: value {self.value:.10g}"]
        lines += [f"  {name} = {shown(value)}" for name, value in self.variables.items()]
        lines += [f"  dual of {name} = {shown(value)}" for name, value in self.duals.items()]
        return "\n".join(lines)


@dataclass(frozen=True)
class Beyond:
    """Why there is no optimum at any t beyond the end of a path.

    Attributes
    ----------
    status : str
        ``"infeasible"`` or ``"unbounded"``.
    t : float
        Where the path ends; the ray refutes every later t.
    ray : mapping of str to array
        Multipliers of constraints whose sum is a contradiction, or a direction of variables along which the objective
        improves for ever.
    blame : tuple of str
        The constraints, or the variables, that have a part in it.
    proof : RayProof
        What of the ray is checked on the compiled program.
    """

    status: str
    t: float
    ray: Mapping[str, Any] = field(repr=False)
    blame: tuple[str, ...]
    proof: RayProof = field(repr=False)

    def explain(self) -> str:
        """Say in words why there is none."""
        names = ", ".join(self.blame) or "what CVXPY added"
        if self.status == "infeasible":
            return f"beyond t = {self.t:.6g} no point satisfies {names} together: {self.proof!r}"
        return f"beyond t = {self.t:.6g} the objective improves for ever, along {names}: {self.proof!r}"


def shown(value: Any) -> str:
    """A number or array in one short line."""
    array = np.asarray(value, dtype=np.float64)
    if array.ndim == 0:
        return f"{float(array):.6g}"
    entries = [f"{number:.4g}" for number in array.ravel()[:6]]
    more = f", ... ({array.size} entries)" if array.size > 6 else ""
    return f"[{', '.join(entries)}{more}]"


def _those(parameters: Mapping[str, Any]) -> str:
    named = [f"{name} = {shown(value)}" for name, value in parameters.items()]
    return f" ({', '.join(named)})" if named else ""


def moves(ends: tuple[Mapping[str, Any], Mapping[str, Any]]) -> dict[str, tuple[Array, Array]]:
    """The parameters that differ at both ends, by name."""
    return {name: (first, ends[1][name]) for name, first in ends[0].items() if (first != ends[1][name]).any()}
