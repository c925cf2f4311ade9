"""A quadratic program of raw arrays and a line of its parameters: the source of its path, and its CVXPY problem."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Mask, check_number
from paretoclf.common.errors import InputError
from paretoclf.engine.reduction.of_arrays import line_of
from paretoclf.engine.reduction.program import between
from paretoclf.problem.qp import QP
from paretoclf.proof.programs.convexity import convex_line
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import conic_settings


class LineOfArrays:
    """A `QP` and a line of its parameters: its program, and an independent solver.

    Attributes
    ----------
    line : ProgramLine
    ends : pair of mappings
        The parameters at both ends, by name.
    seconds : float
    """

    sign = 1
    texts: Mapping[str, str] = {}

    def __init__(self, qp: QP, start: Any, stop: Any, still: bool = False) -> None:
        began = time.perf_counter()
        self.qp = qp
        first, last = (_values(qp, given, name) for given, name in ((start, "start"), (stop, "stop")))
        if set(first) != set(last):
            alone = next(iter(set(first) ^ set(last)))
            raise InputError(f"start and stop must have the same parameters, got {alone} in one of them only")
        self.line = convex_line(line_of(qp, first, last))
        if not still and all(np.array_equal(*getattr(self.line, key)) for key in "qb"):
            raise InputError("start and stop must differ in a parameter that moves something: nothing moves")
        self.ends: Any = tuple({name: np.array(value) for name, value in end.items()} for end in (first, last))
        self.seconds = time.perf_counter() - began

    @classmethod
    def here(cls, qp: QP) -> LineOfArrays:
        """The point at which the arrays stand, as a line on which nothing moves."""
        made = cls.__new__(cls)
        made.qp, made.line, made.ends, made.seconds = qp, convex_line(line_of(qp, {}, {})), ({}, {}), 0.0
        return made

    @classmethod
    def of_constraints(cls, qp: QP) -> LineOfArrays:
        """The rows of a QP without its objective, where its arrays stand."""
        return cls.here(replace(qp, P=None, q=np.zeros_like(qp.q), moves={}, values={}))

    def assign(self, point: Any) -> None:
        """Arrays hold no values."""
        raise InputError("assign writes into a cvxpy.Problem; of a QP read path.at(t).variables")

    def rule(self, t: float, numbers: Mapping[str, Any]) -> Any:
        """Arrays are no classifier."""
        raise InputError("path must be of a cvxpy.Problem with a variable w to have a classifier, got that of a QP")

    def tried(self, t: float, values: Mapping[str, Any]) -> tuple[float, float]:
        """Objective and largest violation of values of the variables at t, relative to 1 + the terms of its row."""
        qp, x = self.qp, self._columns(values)
        data = qp.at(self._values_at(t))
        v = qp.A @ x
        off = np.maximum(np.maximum(data["l"] - v, v - data["u"]), 0.0)
        value = float(0.5 * x @ (qp.P @ x) + data["q"] @ x + qp.constant)
        return value, float(np.max(off / (1.0 + abs(qp.A) @ np.abs(x)), initial=0.0))

    def _values_at(self, t: float) -> dict[str, float]:
        """The parameters at t."""
        return {name: float(between((value, self.ends[1][name]), t)) for name, value in self.ends[0].items()}

    def _columns(self, values: Mapping[str, Any]) -> Array:
        if self.qp.names is None:
            return np.asarray(values["x"], dtype=np.float64)
        return np.array([float(values[name]) for name in self.qp.keys[0]])

    def solve(self, t: float) -> float:
        """The optimal value at t, by Clarabel at its reference accuracy; nan where it finds none."""
        problem = problem_of(self.qp, self._values_at(t))
        try:
            problem.solve(solver="CLARABEL", **conic_settings("reference"))
        except cp.SolverError:
            return float("nan")
        found = problem.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE)
        return float(problem.value) if found else float("nan")


#: The constraints of the problem of a QP by their labels: which rows each has.
BLOCKS: Mapping[str, Callable[[QP], Mask]] = {
    "equations": lambda qp: qp.equations,
    "upper bounds of rows": lambda qp: qp.above,
    "lower bounds of rows": lambda qp: qp.below,
}


def problem_of(qp: QP, values: Mapping[str, float]) -> Any:
    """The ``cvxpy.Problem`` at values of the parameters: variable ``x``, and a constraint for each of `BLOCKS`."""
    data, x = qp.at(values), cp.Variable(qp.q.size, name="x")
    objective = data["q"] @ x + qp.constant
    if qp.P.nnz:
        objective += 0.5 * qp.sense * cp.quad_form(x, cp.psd_wrap(qp.sense * qp.P))
    v, rows = qp.A @ x, []
    for name, block in BLOCKS.items():
        own = np.flatnonzero(block(qp))
        if own.size:
            side = data["l" if name.startswith("lower") else "u"][own]
            row = {"e": v[own] == side, "u": v[own] <= side, "l": v[own] >= side}[name[0]]
            rows.append(row.set_label(name))
    return cp.Problem((cp.Maximize if qp.maximise else cp.Minimize)(objective), rows)


def holding(qp: QP, x: Array, y: Array | None) -> Any:
    """The problem of a QP as its arrays stand, holding a point (and multipliers) as if a solver had written them.

    The multiplier of a row with one side is that of its side, whatever its sign; of one with two it is its positive
    part for the upper side, its negative part for the lower one.
    """
    from cvxpy.reductions.solution import Solution

    problem = problem_of(qp, {})
    dual = {}
    for row in problem.constraints if y is not None else ():
        rows = BLOCKS[row.label](qp)
        own = np.asarray(y)[rows]
        own = -own if row.label.startswith("lower") else own
        two_sided = (qp.above & qp.below)[rows]
        dual[row.id] = np.where(two_sided, np.maximum(own, 0.0), own)
    value = float(0.5 * x @ (qp.P @ x) + qp.q @ x + qp.constant)
    problem.unpack(Solution(cp.OPTIMAL, value, {problem.variables()[0].id: x}, dual, {}))
    return problem


def _values(qp: QP, given: Any, name: str) -> dict[str, float]:
    """Values of parameters by name."""
    known = ", ".join(qp.moves) or "none"
    if not isinstance(given, Mapping) or not given:
        raise InputError(f"{name} must map parameters of the QP to numbers, got {given!r:.100}; it has {known}")
    for key in given:
        if key not in qp.moves:
            raise InputError(f"{name} must have parameters of the QP for keys, got {key!r:.100}; it has {known}")
    found = {key: check_number(value, f"{name}[{key!r}]") for key, value in given.items()}
    for key, value in found.items():
        if not np.isfinite(value):
            raise InputError(f"{name}[{key!r}] must be finite, got {value}")
    return found
