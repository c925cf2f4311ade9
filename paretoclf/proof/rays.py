"""Why there is no optimum: a ray of multipliers, or a direction, and from which t on it says so."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import CERTIFY
from paretoclf.engine.reduction.program import Points, ProgramLine, between
from paretoclf.proof.programs import bounds_of


@dataclass(frozen=True, repr=False)
class RayProof:
    r"""Why there is no optimum at the end of a line, on the program as CVXPY compiled it.

    Attributes
    ----------
    residual : float
        By how much the ray is none, in the units of `paretoclf.proof.row_units`: of multipliers z, that
        :math:`A^\top z=0` and their signs; of a direction x, that :math:`Px=0` and that no row is left along it.
    gain : float
        What it gains there, relative to the sum of its terms, positive: :math:`-b^\top z`, or :math:`-q^\top x`.
    since : float
        As that is affine in t, there is no optimum at any t of the line after this; infinite where it gains nothing at
        t = 1.
    """

    residual: float
    gain: float
    since: float = 0.0

    def passes(self, tol: float = CERTIFY) -> bool:
        """Whether it gains something, and more than by what it misses."""
        return bool(self.residual <= tol and self.gain > self.residual)

    def __repr__(self) -> str:
        verdict = "proved" if self.passes() else "not proved"
        return f"RayProof({verdict}, gain={self.gain:.1e}, residual={self.residual:.1e})"


def judge_ray(line: ProgramLine, status: str, ray: Array, t: float = 1.0) -> RayProof:
    """Judge a ray at one t: multipliers where a program is infeasible, a direction of x where it is unbounded."""
    r = ray / max(float(np.abs(ray).max(initial=0.0)), np.finfo(float).tiny)
    none = {name: np.zeros_like(getattr(line, name)) for name in ("q", "b", "constant")}
    x, z = (np.zeros(line.n), r) if status == "infeasible" else (r, np.zeros(line.m))
    points = Points.of(x[None, None].repeat(2, 1), z[None, None].repeat(2, 1))
    misses, *_ = bounds_of(replace(line, **none), np.zeros(2), points)
    residual = max(float(misses[name][0]) for name in ("rows", "stationarity", "signs"))
    costs = line.b if status == "infeasible" else line.q
    first, last = (-float(each @ r) for each in costs)
    since = max(0.0, first / (first - last)) if last > max(first, 0.0) else 0.0 if last > 0.0 else float("inf")
    cost = between(costs, t)
    size = float(np.abs(cost) @ np.abs(r))
    return RayProof(residual, -float(cost @ r) / size if size else 0.0, since)
