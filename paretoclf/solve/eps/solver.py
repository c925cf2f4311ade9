"""Clarabel for the cone programs of a line: set up once, and moved along it."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.engine.reduction.program import between
from paretoclf.proof.bands.cone_line import AffineMatrix, ConeLine
from paretoclf.solve.judging.candidates import CLARABEL_CONES
from paretoclf.solve.models.lazily import clarabel
from paretoclf.solve.models.model import settings_at

#: Clarabel's words for there being no solution.
NONE = {"PrimalInfeasible": "infeasible", "AlmostPrimalInfeasible": "infeasible"}
NONE |= {"DualInfeasible": "unbounded", "AlmostDualInfeasible": "unbounded"}

#: Its words for having found nothing out.
STALLED = ("InsufficientProgress", "NumericalError", "MaxIterations")

#: Where steps almost to the border of the cones stall, shorter ones do not: so often next to exponential cones.
SHORTER: tuple[dict[str, Any], ...] = ({"max_step_fraction": 0.9}, {"max_step_fraction": 0.7})


class ConeSolver:
    """Clarabel, set up once and moved along a line.

    What it returns at t depends a little on the t at which it was set up, the first.

    Parameters
    ----------
    line : ConeLine
    tol : float
        Tolerance that is asked for.
    unit : float
        Unit of the objective: the stopping rule is absolute for values below 1.
    """

    def __init__(self, line: ConeLine, tol: float, unit: float = 1.0) -> None:
        self.line, self.tol, self.unit, self.solves = line, tol, unit, 0
        self._solver: Any = None
        self._matrices = sp.csc_array(sp.triu(line.base.P)) / unit, sp.csc_array(line.base.A)
        if not line.stands:
            P, A = line.speeds
            self._moving = AffineMatrix(self._matrices[0], sp.triu(P) / unit), AffineMatrix(self._matrices[1], A)

    def fresh(self) -> ConeSolver:
        """One that has not been anywhere."""
        other = copy(self)
        other.solves, other._solver = 0, None
        return other

    def __call__(self, t: float, **others: Any) -> tuple[Array, Array, str]:
        """Point, multipliers and Clarabel's word for them; with other settings it is set up anew."""
        q, b = between(self.line.q, t) / self.unit, between(self.line.b, t)
        solver = self._solver
        if solver is None or others:
            P, A = self._matrices
            if not self.line.stands:
                P, A = (each.at(t) for each in self._moving)
            solver = conic(P, q, A, b, self.line.cones, {**settings_at(self.tol), **others})
            self._solver = (self._solver or solver) if self.line.stands else None
        else:
            solver.update(q=q, b=b)
        found = solver.solve()
        self.solves += 1
        return np.asarray(found.x), np.asarray(found.z) * self.unit, str(found.status)


def solved(P: Any, q: Array, A: Any, b: Array, cones: Any, how: Mapping[str, Any]) -> Any:
    """Solve a cone program with Clarabel, in shorter steps where it stalls."""
    for others in ({}, *SHORTER):
        found = conic(P, q, A, b, cones, {**how, **others}).solve()
        if str(found.status) not in STALLED:
            break
    return found


def conic(P: Any, q: Array, A: Any, b: Array, cones: Any, how: Mapping[str, Any]) -> Any:
    """Clarabel for a cone program, to be solved and moved."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.presolve_enable = False  # what is presolved or decomposed cannot be moved
    settings.chordal_decomposition_enable = False
    for key, value in how.items():
        setattr(settings, key, value)
    kinds = [CLARABEL_CONES[cone.kind](cone) for cone in cones]
    return clarabel.DefaultSolver(sp.csc_matrix(P), q, sp.csc_matrix(A), b, kinds, settings)
