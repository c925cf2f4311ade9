"""The engine of exact paths as a solver: a point of a quadratic or linear program and its multipliers, at a vertex.

The multipliers of an interior-point method all have small errors; the engine's are those of one basis, exact up to
rounding, and 0 where they should be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.common.errors import DegeneratePathError
from paretoclf.engine.general import follow
from paretoclf.engine.reduction.presolve import reduce
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.problem.parametric_qp import INSIDE, LOWER, UPPER
from paretoclf.proof.cones.cone_program import ConeProgram

#: Columns and rows up to which the engine, which is dense, is asked.
LARGEST = 2500


def engine_points(program: ConeProgram, guesses: Sequence[tuple[Array, Array]] = ()) -> Iterator[tuple[Array, Array]]:
    """The engine's points and multipliers, if the program is one of equations and inequalities, and not too large.

    First from the inequalities that seem to be active at each solver's point, then from none.

    Parameters
    ----------
    program : ConeProgram
    guesses : sequence of pairs of arrays (n,) and (m,)
        Points and multipliers of other solvers.

    Examples
    --------
    The smallest x with x >= 1:

    >>> import numpy as np
    >>> from paretoclf.checking.engine_points import engine_points
    >>> from paretoclf.proof.cones.cone_judge import ConeProgram
    >>> from paretoclf.proof.cones.cone_kinds import Cone
    >>> program = ConeProgram([[0.0]], np.ones(1), [[-1.0]], np.array([-1.0]), [Cone("nonnegative", 1)])
    >>> [(x.tolist(), z.tolist()) for x, z in engine_points(program, [(np.array([0.9]), np.array([0.8]))])]
    [([1.0], [1.0]), ([1.0], [1.0])]
    """
    kinds = [cone.kind for cone in program.cones]
    plain = kinds in ([], ["zero"], ["nonnegative"], ["zero", "nonnegative"])
    if not plain or program.indefinite or program.q.size + program.b.size > LARGEST:
        return
    equations = program.cones[0].order if kinds[:1] == ["zero"] else 0
    P = sp.csc_array(program.P)
    A = sp.csc_array(program.A)
    q = np.stack([program.q, program.q])
    b = np.stack([program.b, program.b])
    line = ProgramLine(P, A, q, b, np.zeros(2), equations, 1, {}, {})
    for guess in (*guesses, None):
        try:
            found = _without_guess(line) if guess is None else _from_point(line, *guess)
        except (DegeneratePathError, StopIteration):  # a guess may be a singular basis
            continue
        if found is not None and all(np.isfinite(each).all() for each in found):
            yield found


def _from_point(line: ProgramLine, x: Array, z: Array) -> tuple[Array, Array] | None:
    """Start from the inequalities whose multipliers are larger than their slacks, each relative to its size."""
    b = line.b[0]
    size = 1.0 + np.abs(b) + abs(line.A) @ np.abs(x)
    slack = (b - line.A @ x) / size
    active = z / (1.0 + float(np.abs(z).max(initial=0.0))) > slack
    is_equation = np.arange(line.m) < line.equations
    rows = np.where(is_equation, LOWER, np.where(active, UPPER, INSIDE))
    variables = np.full(line.n, INSIDE)
    found = follow(line.problem, np.concatenate([variables, rows]), progress=False)
    if not found.segments:
        return None
    x, y = found.path.points(slice(0, 1))
    return x[0], -y[0, line.n :]


def _without_guess(line: ProgramLine) -> tuple[Array, Array] | None:
    """Start with no active inequality, after the reduction."""
    reduced = reduce(line)
    found = follow(reduced.problem, progress=False)
    if not found.segments:
        return None
    x, z = reduced.back(*found.path.points(slice(0, 1)), np.zeros(1))
    return x[0], z[0]
