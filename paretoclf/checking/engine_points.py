"""The engine of exact paths as a solver: a point of a quadratic or linear program and its multipliers, at a vertex.

Interior points end with multipliers that are all a little off; the engine's are those of one basis, exact up to
rounding, and 0 where they should be.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from paretoclf.checks import Array
from paretoclf.errors import DegeneratePathError
from paretoclf.judges.cone_program import ConeProgram
from paretoclf.path.general import follow
from paretoclf.reduction.presolve import reduce
from paretoclf.reduction.program import ProgramLine

#: Columns and rows up to which the engine, which is dense, is asked.
LARGEST = 2500


def engine_points(program: ConeProgram) -> Iterator[tuple[Array, Array]]:
    """The engine's point and multipliers, if the program is one of equations and inequalities, and not too large.

    Examples
    --------
    The smallest x with x >= 1:

    >>> import numpy as np
    >>> from paretoclf.checking.engine_points import engine_points
    >>> from paretoclf.judges.cone import ConeProgram
    >>> from paretoclf.judges.cones import Cone
    >>> program = ConeProgram([[0.0]], np.ones(1), [[-1.0]], np.array([-1.0]), [Cone("nonnegative", 1)])
    >>> [(x.tolist(), z.tolist()) for x, z in engine_points(program)]
    [([1.0], [1.0])]
    """
    kinds = [cone.kind for cone in program.cones]
    plain = kinds in ([], ["zero"], ["nonnegative"], ["zero", "nonnegative"])
    if not plain or program.indefinite or program.q.size + program.b.size > LARGEST:
        return
    equations = program.cones[0].order if kinds[:1] == ["zero"] else 0
    P, A = sp.csc_array(program.P), sp.csc_array(program.A)
    still = (np.stack([v, v]) for v in (program.q, program.b))
    line = ProgramLine(P, A, *still, np.zeros(2), equations, 1, {}, {})
    try:
        reduced = reduce(line)
        found = follow(reduced.problem, progress=False)
    except DegeneratePathError:
        return
    if not len(found.labels):
        return
    x, z = reduced.back(found.v[0, :1], found.y[0, :1], np.zeros(1))
    if np.isfinite(x).all() and np.isfinite(z).all():
        yield x[0], z[0]
