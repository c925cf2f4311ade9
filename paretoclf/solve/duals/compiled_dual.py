"""The dual of the cone program that CVXPY makes of a problem: numbers without names, of anything that it compiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.errors import InputError
from paretoclf.proof.cones.cone_kinds import Cone
from paretoclf.solve.judging.cone_proof import cones_of
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Model


def dual_of_compiled(model: Model) -> cp.Problem:
    """The dual of ``min x'Px/2 + q'x, b - Ax in K``: ``max -x'Px/2 - b'z, Px + q + A'z = 0, z in K*``.

    Raises
    ------
    InputError
        If the problem does not compile.
    """
    try:
        fixed = not model.problem.is_dcp(dpp=True)
        data, _, inverse = model.problem.get_problem_data("CLARABEL", solver_opts={}, ignore_dpp=fixed)
    except cp.SolverError as error:
        raise InputError(f"problem must compile to a cone program: {error}") from None
    A, b, q = sp.csc_array(data["A"]), data["b"], data["c"]
    offset = float(inverse[-1][cp.settings.OFFSET])
    z = cp.Variable(b.size, name="z")
    value, left = -b @ z + offset, A.T @ z + q
    if "P" in data and data["P"].nnz:
        P = sp.csc_array(data["P"])
        x = cp.Variable(q.size, name="x")
        value = value - cp.quad_form(x, cp.psd_wrap(P)) / 2
        left = left + P @ x
    conditions, begin = [(left == 0).set_label("coefficient of x")], 0
    for cone in cones_of(data):
        conditions += _in_dual(z[begin : begin + cone.size], cone)
        begin += cone.size
    objective = cp.Maximize(value) if model.sense > 0 else cp.Minimize(-value)
    return cp.Problem(objective, conditions)


def _in_dual(z: Any, cone: Cone) -> list[Any]:
    """Conditions for multipliers in the dual of a cone of Clarabel."""
    if cone.kind == "zero":
        return []
    if cone.kind == "nonnegative":
        return [z >= 0]
    if cone.kind == "second-order":
        return [cp.SOC(z[0], z[1:])]
    if cone.kind == "exponential":
        return [cp.ExpCone(z[0] - z[1], -z[0], z[2])]
    if cone.kind == "power":
        a = cone.exponent
        return [cp.PowCone3D(z[0] / a, z[1] / (1 - a), z[2], a)]
    return [_matrix(z, cone) >> 0]


def _matrix(z: Any, cone: Cone) -> Any:
    """The symmetric matrix whose upper triangle, column by column, is stored with off-diagonal entries times sqrt 2."""
    n = round((np.sqrt(8 * z.size + 1) - 1) / 2)
    columns = [(i, j) for j in range(n) for i in range(j + 1)]
    entries = np.zeros((n * n, z.size))
    for k, (i, j) in enumerate(columns):
        factor = 1.0 if i == j else np.sqrt(0.5)
        entries[i + n * j, k] = factor
        entries[j + n * i, k] = factor
    return cp.reshape(entries @ z, (n, n), order="F")
