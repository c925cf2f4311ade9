"""One optimum of a linear or quadratic program, proved; or why there is none, in words that know of no line."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.engine.general import follow
from paretoclf.engine.reduction.presolve import reduce
from paretoclf.engine.reduction.program import ProgramLine, between
from paretoclf.path.programs.path_ends import beyond_of, has_points, ray_of
from paretoclf.path.programs.problem_path import trace_problem
from paretoclf.proof.programs.rays import judge_ray


class UnboundedError(InputError):
    """There are feasible points, and the objective has no bound on them."""


def standing(line: ProgramLine, t: float = 0.0) -> ProgramLine:
    """The program at a point of a line, where it stays."""
    there = (between(ends, t) for ends in (line.q, line.b, line.constant))
    q, b, constant = (np.stack([each, each]) for each in there)
    return replace(line, q=q, b=b, constant=constant)


def optimum(line: ProgramLine) -> tuple[Array, Array]:
    """Columns and multipliers of an optimum of a program that stands still, proved.

    Raises
    ------
    InputError
        If there is none: what is contradictory, or along which variables the objective has no bound.
    DegeneratePathError
        If it cannot be proved.

    Examples
    --------
    >>> from paretoclf.engine.reduction.of_arrays import line_of
    >>> from paretoclf.path.programs.optimum import optimum
    >>> from paretoclf.problem.qp import QP
    >>> [each.tolist() for each in optimum(line_of(QP(None, [2.0], [[1.0]], [3.0], None), {}, {}))]
    [[3.0], [2.0]]
    """
    source = SimpleNamespace(line=line, ends=({}, {}), seconds=0.0)
    try:
        path = trace_problem(source, progress=False)
    except InputError as error:
        raise _none(line) or error from None
    x, z = path.points.segment(0)
    return x[0], z[0]


def _none(line: ProgramLine) -> InputError | None:
    """Why a program has no optimum; None where that is not what was wrong with it."""
    with suppress(InputError):
        reduced = reduce(line)
        found = follow(reduced.problem, progress=False)
        if found.segments:
            return None
        ray = ray_of(reduced, found)
        why = beyond_of(line, found.status, ray, 0.0, judge_ray(line, found.status, ray, 0.0))
        if not why.proof.passes():
            return None
        names = ", ".join(why.blame) or "what CVXPY added"
        if found.status == "infeasible":
            said = f"one that is infeasible: no point satisfies {names}; relax one of them"
        elif has_points(line):
            said = f"one that is unbounded: the objective has no bound along {names}; give it one"
            return UnboundedError(f"problem must have an optimum, got {said}")
        else:
            said = f"one that has none: from any feasible point the objective improves for ever, along {names}"
        return InputError(f"problem must have an optimum, got {said}")
    return None
