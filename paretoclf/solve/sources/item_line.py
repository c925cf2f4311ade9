"""A parametric program of items as the source of its path: the program with rows, and Clarabel at any t."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.errors import InputError
from paretoclf.engine.reduction.of_items import RowsOfItems
from paretoclf.engine.reduction.program import Reading, between, side_at
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.proof.programs.convexity import convex_line
from paretoclf.solve.models.lazily import clarabel
from paretoclf.solve.models.model import conic_settings


class LineOfItems:
    """A `ParametricQP` for `path.programs.problem_path.trace_problem`: its multipliers, one an item, are ``y``.

    Parameters
    ----------
    problem : ParametricQP
        With an operator for P it is taken as an array.
    ends : pair of mappings, optional
        The numbers that move from t = 0 to 1, by name; by default t itself.
    variables : mapping of str to int, optional
        Names of its variables, one after the other, and how many entries each has; by default all are ``x``.

    Attributes
    ----------
    line : ProgramLine
        A row for each bound, and a column more for each bound that is soft.
    seconds : float

    Examples
    --------
    The point of a box that is nearest to (3 t, -1):

    >>> import numpy as np
    >>> from paretoclf.path.programs.problem_path import trace_problem
    >>> from paretoclf.problem.parametric_qp import ParametricQP
    >>> from paretoclf.solve.sources.item_line import LineOfItems
    >>> q, box = np.array([[0.0, 1.0], [-3.0, 1.0]]), np.ones((2, 2))
    >>> path = trace_problem(LineOfItems(ParametricQP.hard(np.eye(2), np.zeros((0, 2)), q, 0 * box, box)))
    >>> path.at(0.5).variables["x"].tolist(), path.along("y")[1][-1].tolist(), path.proof.passes()
    ([1.0, 0.0], [-2.0, 1.0], True)
    """

    sign = 1
    texts: Mapping[str, str] = {}

    def __init__(
        self,
        problem: ParametricQP,
        ends: tuple[Mapping[str, Any], Mapping[str, Any]] | None = None,
        variables: Mapping[str, int] | None = None,
    ) -> None:
        began = time.perf_counter()
        self.problem = problem
        given = ({"t": 0.0}, {"t": 1.0}) if ends is None else ends
        self.ends: Any = tuple({name: np.array(value, dtype=float) for name, value in end.items()} for end in given)
        sizes, begin = {"x": problem.n} if variables is None else variables, 0
        if sum(sizes.values()) != problem.n:
            raise InputError(f"variables must have {problem.n} entries together, got {dict(sizes)}")
        self.names = dict[str, Reading]()
        for name, size in sizes.items():
            self.names[name] = Reading((size,), np.arange(begin, begin + size), np.ones(size))
            begin += size
        self.line = convex_line(RowsOfItems.of(self.problem, self.names).hard)
        self.seconds = time.perf_counter() - began

    @cached_property
    def _matrices(self) -> tuple[Any, Any]:
        return sp.csc_matrix(sp.triu(self.line.P)), sp.csc_matrix(self.line.A)

    def solve(self, t: float) -> float:
        """The optimal value at t, by Clarabel at its reference accuracy, else at its own; nan where it finds none."""
        line, (P, A) = self.line, self._matrices
        cones = [clarabel.ZeroConeT(line.equations), clarabel.NonnegativeConeT(line.m - line.equations)]
        for how in (conic_settings("reference"), {"max_threads": 1}):
            settings = clarabel.DefaultSettings()
            for key, value in {"verbose": False, **how}.items():
                setattr(settings, key, value)
            found = clarabel.DefaultSolver(P, between(line.q, t), A, between(line.b, t), cones, settings).solve()
            if str(found.status) in ("Solved", "AlmostSolved"):
                return float(line.value(np.asarray(found.x), t))
        return float("nan")

    def tried(self, t: float, values: Mapping[str, Any]) -> tuple[float, float]:
        """Objective and largest violation of a point at t, relative to 1 + the terms of its row."""
        problem = self.problem
        x = np.concatenate([np.asarray(values[name], dtype=np.float64) for name in self.names])
        items = np.concatenate([x, problem.A @ x])
        sizes = np.concatenate([np.abs(x), abs(problem.A) @ np.abs(x)])
        squares = 0.5 * x @ (problem.P @ x)
        value = squares + between(problem.q, t) @ x + between(problem.constant, t)
        violated = 0.0
        below, above = side_at(problem.lower, t) - items, items - side_at(problem.upper, t)
        for outside, prices in ((below, problem.below), (above, problem.above)):
            by = np.maximum(outside, 0.0)
            soft = np.isfinite(prices[0])  # bounds that may be passed, at a price
            value += between(prices[:, soft], t) @ by[soft]
            relative = by[~soft] / (1.0 + sizes[~soft])
            violated = max(violated, float(np.max(relative, initial=0.0)))
        return float(value), violated

    def assign(self, point: Any) -> None:
        """Arrays hold no values."""
        raise InputError("assign writes into a cvxpy.Problem; of a program of arrays read path.at(t).variables")

    def rule(self, t: float, numbers: Mapping[str, Any]) -> Any:
        """Arrays are no classifier."""
        raise InputError("path must be of a cvxpy.Problem with a variable w to have a classifier, got that of arrays")
