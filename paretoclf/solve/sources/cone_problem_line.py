"""From any convex ``cvxpy.Problem`` and a line of its parameters to a cone program along that line.

As `paretoclf.solve.sources.problem_line`, for every cone that Clarabel knows. A parameter that multiplies a quadratic
term would move the matrix P; the problem is then compiled without a quadratic objective, and the parameter stands in q.
P moves where a parameter is the matrix of a quadratic form, A where one multiplies a variable in a constraint. Where
coefficients of an equation move, too, the path is a curve, and the problem is compiled for that.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from paretoclf.common.errors import InputError
from paretoclf.engine.reduction.program import ProgramLine, symmetric
from paretoclf.problem.convex import Convexity, not_convex
from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.proof.cones.cone_kinds import Cones
from paretoclf.solve.judging.cone_proof import cones_of
from paretoclf.solve.sources.formulation_line import source_of
from paretoclf.solve.sources.problem_line import CompiledLine, LineOfPrograms


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
        If it is something else, or the line moves nothing.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.sources.cone_problem_line import cone_line
    >>> x, lam = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="lam")
    >>> problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 1) + lam * cp.norm2(x)))
    >>> line = cone_line(problem, {lam: 1}, {lam: 3})
    >>> [cone.kind for cone in line.cones], sorted(set((line.q[1] - line.q[0]).tolist()))
    (['zero', 'second-order'], [0.0, 2.0])
    """
    return _conic(CompiledLine.of(problem, start, stop, cones=True))


def _conic(found: CompiledLine) -> ConeLine:
    """The program of a line, with a quadratic term that moves in cones, unless coefficients of equations move."""
    problem, as_it_is = found.problem, found
    # Where a parameter is the matrix of a quadratic form, CVXPY would make cones of the one that it has first.
    if (found.P.moves() or _moves_equations(found)) and found.compiled.model.problem.objective.is_dcp(dpp=True):
        _check_convex(found)
        found = CompiledLine.of(problem, *found.ends, cones=True, use_quad_obj=False)
    if _moves_equations(found):
        return _curved(as_it_is)
    if found.bends("P"):
        raise InputError(found.moving("P", "Else the objective bends"))
    return _with_stops(found, Cones(cones_of(found.compiled.data)))


def _with_stops(found: CompiledLine, cones: Cones) -> ConeLine:
    """The program with its matrices at the end of the line where they move."""
    stops = {f"{which}_stop": getattr(found, which).at(1) for which in "PA" if getattr(found, which).moves()}
    if "P_stop" in stops:
        stops["P_stop"] = symmetric(stops["P_stop"])
    if not stops:
        found.check_moves()
    return ConeLine(**vars(found.line), cones=cones, **stops)


def _check_convex(found: CompiledLine) -> None:
    """InputError if the objective is not convex: cones are made of the part that is, without a word of the rest."""
    for end in (0, 1):
        convexity = Convexity.of(symmetric(found.P.at(end)))
        if convexity.lacks is not None:
            raise not_convex(convexity.P, convexity.lacks, found.line.column_name)


def _moves_equations(found: CompiledLine) -> bool:
    """Whether a coefficient of an equation moves."""
    return found.A.moves(found.line.equations)


def curve_line(problem: Any, start: Mapping[Any, Any], stop: Mapping[Any, Any]) -> ConeLine:
    """Compile a problem whose data are all affine in t, matrices and equations included.

    Where `cone_line` takes a quadratic term that moves apart, it stays one here.

    Parameters
    ----------
    problem, start, stop
        As for `cone_line`.

    Raises
    ------
    InputError
        If it is something else, the line moves nothing, or something is not affine in t.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from paretoclf.solve.sources.cone_problem_line import curve_line
    >>> x, mu = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="mu")
    >>> line = curve_line(cp.Problem(cp.Minimize(mu * cp.sum_squares(x) + x[0]), [x >= -1]), {mu: 1}, {mu: 3})
    >>> float(line.P_stop.toarray().max() / line.P.toarray().max()), line.A_stop is None
    (3.0, True)
    """
    return _curved(CompiledLine.of(problem, start, stop, cones=True))


def _curved(found: CompiledLine) -> ConeLine:
    """The program of a line on which all may move."""
    cones = Cones(cones_of(found.compiled.data))
    if any(cone.kind == "power" for cone in cones):
        raise InputError(_power_cones(found))
    if found.bends("P"):
        raise InputError(found.moving("P", "Else the objective bends"))
    return _with_stops(found, cones)


def _power_cones(found: CompiledLine) -> str:
    """Say what to do about power cones, of which there are no curves."""
    if _moves_equations(found):
        return (
            "problem must not have power cones where coefficients of an equation move: write powers with approx=True, "
            "which are second-order cones"
        )
    return "curve must be False for a problem with power cones: pass eps=1e-4, which has them"


class LineOfCones(LineOfPrograms):
    """A problem and a line of its parameters: its cone program, and the way back into it."""

    line: ConeLine
    called = "path within eps"
    _tolerance = 1.0  # a path that is to be within eps decides what a negative curvature may cost
    _cones = True

    def _line(self, found: CompiledLine, still: bool) -> ProgramLine:
        """The program along what was compiled."""
        return _conic(found)

    def solve(self, t: float) -> float:
        """The optimal value at t, by Clarabel, whatever it says of its accuracy."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Solution may be inaccurate")
            return super().solve(t)


class LineOfCurves(LineOfCones):
    """A problem whose data are all affine in t, matrices and equations included."""

    called = "curve"

    def _line(self, found: CompiledLine, still: bool) -> ProgramLine:
        """The program along what was compiled."""
        return _curved(found)


def cone_source_of(formulation: Any, given: Mapping[str, Any], kind: type[LineOfCones] = LineOfCones) -> LineOfPrograms:
    """The cone program of a formulation, where each parameter is a number or a pair (from, to)."""
    return source_of(formulation, given, kind)
