r"""Why a line has no optimum at its start, and where on it there is one, in the user's numbers.

A program has an optimum where some x satisfies its rows, and some multipliers balance its objective:

.. math:: Ax\le b(t),\qquad Py+q(t)+A^\top z=0,\quad z\ge0\text{ on inequalities}.

All of this is linear in (t, x, y, z): the least and the largest such t are two linear programs, and as the set is
convex, there is an optimum at every t between them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.common.tolerances import AFFINE
from paretoclf.engine.general import follow
from paretoclf.engine.reduction.presolve import reduce
from paretoclf.engine.reduction.program import ProgramLine, between
from paretoclf.engine.reduction.reduced import Reduced
from paretoclf.engine.reduction.taken_back import taken_back
from paretoclf.engine.vertex import vertex
from paretoclf.path.base.points import those
from paretoclf.path.programs.path_ends import beyond_of, has_points, ray_of, refusal
from paretoclf.problem.trace import Trace
from paretoclf.proof.programs.program_lines import prove_program
from paretoclf.proof.programs.rays import judge_ray

#: A t is said in so many parts of the line, rounded to the side on which there is an optimum.
_PARTS = 1e6

_NOWHERE = "nor is there one at stop, or between"


def no_start(reduced: Reduced, found: Trace, ray: Array, ends: Sequence[Mapping[str, Any]]) -> Exception:
    """Error for a line, on which parameters move from one end to the other, without an optimum at its start."""
    why = beyond_of(reduced.program, found.status, ray, 0.0, judge_ray(reduced.program, found.status, ray, 0.0))
    if not why.proof.passes():
        return refusal(f"it seems {found.status} at the start, and that is not proved ({why.proof!r})", 0.0)
    names = ", ".join(why.blame) or "what CVXPY added"
    stop = judge_ray(reduced.program, found.status, ray, 1.0)
    remedy = _NOWHERE if stop.passes() else where(reduced.program, ends)
    if found.status == "infeasible":
        how = f"it is infeasible (no point satisfies {names})"
    elif has_points(reduced.program):
        how = f"it is unbounded (the objective has no bound along {names})"
    else:
        how = f"there is none (from any point that is feasible the objective improves for ever, along {names})"
    return InputError(f"the problem must have a solution at the start, where {how}; {remedy}")


def with_a_place(error: InputError, line: ProgramLine, ends: Sequence[Mapping[str, Any]]) -> InputError:
    """Error of a start that was refused, with where on the line there is an optimum, if anything moves."""
    moves = any((ends[0] != ends[1]).any() for ends in (line.q, line.b))
    return InputError(f"{error}; {where(line, ends)}") if moves else error


def where(line: ProgramLine, ends: Sequence[Mapping[str, Any]]) -> str:
    """Sentence on where a line without an optimum at its start has one, as far as that is proved."""
    unknown = "whether there is one at another t is not known"
    try:
        found = interval(line)
    except DegeneratePathError:
        return unknown
    if found is None:
        return _NOWHERE
    first = math.ceil(_PARTS * (found[0] - AFFINE)) / _PARTS
    last = math.floor(_PARTS * (found[1] + AFFINE)) / _PARTS
    if first <= 0.0:
        return unknown
    start, stop = ends
    begin, end = numbers_at(found[0], start, stop), numbers_at(1.0 - found[1], stop, start)
    if last >= 1.0:
        return f"there is one from t = {first:.6g} on{those(begin)}: start there"
    if last <= first:
        return f"there is one at about t = {found[0]:.6g}{those(begin)}, and nowhere else: solve it there"
    return f"there is one from t = {first:.6g}{those(begin)} to t = {last:.6g}{those(end)}: trace it there"


def interval(line: ProgramLine) -> tuple[float, float] | None:
    """The first and the last t of a line at which a program has an optimum; None where it has none at any.

    Raises
    ------
    DegeneratePathError
        If that is not proved.

    Examples
    --------
    The least x between 1 and 3 t, and at most 4 - 4 t:

    >>> import cvxpy as cp
    >>> from paretoclf.path.programs.no_start import interval
    >>> from paretoclf.solve.sources.problem_line import program_line
    >>> x, t = cp.Variable(), cp.Parameter()
    >>> problem = cp.Problem(cp.Minimize(x), [x >= 1, x <= 3 * t, x <= 4 - 4 * t])
    >>> [round(end, 9) for end in interval(program_line(problem, {t: 0}, {t: 1}))]
    [0.333333333, 0.75]
    """
    first, last = (_first_column(_of_t(line, sign)) for sign in (1.0, -1.0))
    return None if first is None or last is None else (first, last)


def _first_column(line: ProgramLine) -> float | None:
    """The first column of an optimum of a program that stands still, proved; None if it is proved that none exists."""
    try:
        reduced = reduce(line)
    except InputError:  # bounds that cross
        return None
    found = follow(reduced.problem, labels=vertex(reduced.problem), progress=False)
    if found.segments:
        points = taken_back(reduced, found.path)
        if prove_program(line, found.t, points).passes():
            return float(points.segment(0)[0][0, 0])
    elif found.status == "infeasible" and judge_ray(line, found.status, ray_of(reduced, found), 0.0).passes():
        return None
    raise refusal("it is not proved where there is an optimum", 0.0)


def _of_t(line: ProgramLine, sign: float) -> ProgramLine:
    """The least t, or minus t, for which some x, y and z exist: columns t, x, y and z, equations first."""
    n, m, equations = line.n, line.m, line.equations
    A, P = sp.csr_array(line.A), sp.csc_array(line.given)
    q, b = (sp.csc_array(np.diff(ends, axis=0).T) for ends in (line.q, line.b))
    rows = sp.block_array([[-b, A, sp.csc_array((m, n + m))]], format="csr")
    balance = sp.hstack([q, sp.csc_array((n, n)), P, A.T])
    signs = sp.hstack([sp.csc_array((m - equations, 1 + 2 * n + equations)), -sp.eye_array(m - equations)])
    of_t = sp.csr_array(([1.0, -1.0], ([0, 1], [0, 0])), shape=(2, 1 + 2 * n + m))
    sides = np.concatenate(
        [line.b[0, :equations], -line.q[0], line.b[0, equations:], np.zeros(m - equations), [1.0, 0.0]]
    )
    cost = np.zeros(1 + 2 * n + m)
    cost[0] = sign
    return ProgramLine(
        P=sp.csc_array((cost.size, cost.size)),
        A=sp.csc_array(sp.vstack([rows[:equations], balance, rows[equations:], signs, of_t])),
        q=np.stack([cost, cost]),
        b=np.stack([sides, sides]),
        constant=np.zeros(2),
        equations=equations + n,
        sense=1,
        variables={},
        multipliers={},
    )


def numbers_at(t: float, start: Mapping[str, Any], stop: Mapping[str, Any]) -> dict[str, float]:
    """Parameters that are numbers and move, at t: in the digits that are shown, no nearer to the start than t is.

    Examples
    --------
    >>> from paretoclf.path.programs.no_start import numbers_at
    >>> numbers_at(1 / 3, {"a": 0.0, "b": 5.0}, {"a": 4.0, "b": 5.0})  # a is 1.333333...
    {'a': 1.33334}
    """
    found = {}
    for name, first in start.items():
        last = stop[name]
        if np.ndim(first) == 0 and np.ndim(last) == 0 and first != last:
            found[name] = _rounded_towards(float(last), float(between((first, last), t)))
    return found


def _rounded_towards(last: float, number: float) -> float:
    """Round a number to six digits, in the direction of another one and no further than that."""
    if number == 0.0:
        return number
    unit = 10.0 ** (math.floor(math.log10(abs(number))) - 5)
    rises = last > number
    units = number / unit
    if abs(units - round(units)) > AFFINE * abs(units):  # else these digits are the number, but for rounding
        units = math.ceil(units) if rises else math.floor(units)
    rounded = float(f"{round(units) * unit:.6g}")  # the double that these digits are
    return min(last, rounded) if rises else max(last, rounded)
