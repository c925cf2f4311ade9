"""From any convex ``cvxpy.Problem`` and a line of its parameters to a cone program along that line.

As `paretoclf.solve.to_qp`, for every cone that Clarabel knows. A parameter that multiplies a quadratic term would move
the matrix P; the problem is then compiled without a quadratic objective, and the parameter stands in q. P moves where a
parameter is the matrix of a quadratic form, A where one multiplies a variable in a constraint.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from paretoclf.common.errors import InputError
from paretoclf.engine.reduction.program import ProgramLine, symmetric
from paretoclf.problem.convex import Convexity, not_convex
from paretoclf.proof.cone_line import ConeLine
from paretoclf.proof.points.cones import Cones
from paretoclf.solve.cone_proof import cones_of
from paretoclf.solve.of_formulation import source_of
from paretoclf.solve.to_qp import CompiledLine, LineOfPrograms


def cone_line(problem: Any, start: Mapping[Any, Any], stop: Mapping[Any, Any]) -> ConeLine:
    """Compile a problem once, and read how its program moves on a line of its parameters.

    Parameters
    ----------
    problem : cvxpy.Problem
        DPP and convex. What it holds is left as it was.
    start, stop : mapping of cvxpy.Parameter to number or array
        The ends of the line. Parameters that are not among them keep the values that they have.

    Raises
    ------
    InputError
        If it is something else, the line moves nothing, or a parameter moves a coefficient of an equation.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.to_cones import cone_line
    >>> x, lam = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="lam")
    >>> problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 1) + lam * cp.norm2(x)))
    >>> line = cone_line(problem, {lam: 1}, {lam: 3})
    >>> [cone.kind for cone in line.cones], sorted(set((line.q[1] - line.q[0]).tolist()))
    (['zero', 'second-order'], [0.0, 2.0])
    """
    found = CompiledLine.of(problem, start, stop, cones=True)
    # Where a parameter is the matrix of a quadratic form, CVXPY would make cones of the one that it has first.
    if (found.moves("P") or _moves_equations(found)) and problem.objective.is_dcp(dpp=True):
        _check_convex(found)
        found = CompiledLine.of(problem, start, stop, cones=True, use_quad_obj=False)
    if found.bends("P"):
        raise InputError(found.moving("P", "Else the objective bends"))
    if _moves_equations(found):
        raise InputError(found.moving("A", "In an equation that leaves no feasible points between two"))
    stops = {f"{which}_stop": getattr(found, which)[1] for which in "PA" if found.moves(which)}
    if "P_stop" in stops:
        stops["P_stop"] = symmetric(stops["P_stop"])
    if not stops:
        found.check_moves()
    return ConeLine(**vars(found.line), cones=Cones(cones_of(found.data)), **stops)


def _check_convex(found: CompiledLine) -> None:
    """InputError if the objective is not convex: cones are made of the part that is, without a word of the rest."""
    for P in found.P[:2]:
        convexity = Convexity.of(symmetric(P))
        if convexity.lacks is not None:
            raise not_convex(convexity.P, convexity.lacks, found.line.column_name)


def _moves_equations(found: CompiledLine) -> bool:
    """Whether a coefficient of an equation moves."""
    return found.moves("A", found.line.equations)


class LineOfCones(LineOfPrograms):
    """A problem and a line of its parameters: its cone program, and the way back into it."""

    line: ConeLine
    _tolerance = 1.0  # a path that is to be within eps decides what a negative curvature may cost

    def _compile(self, problem: Any, start: Mapping[Any, Any], stop: Mapping[Any, Any], still: bool) -> ProgramLine:
        """The program along the line."""
        return cone_line(problem, start, stop)

    def solve(self, t: float) -> float:
        """The optimal value at t, by Clarabel, whatever it says of its accuracy."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Solution may be inaccurate")
            return super().solve(t)


def cone_source_of(formulation: Any, given: Mapping[str, Any]) -> LineOfPrograms:
    """The cone program of a formulation, where each parameter is a number or a pair (from, to)."""
    return source_of(formulation, given, LineOfCones)
