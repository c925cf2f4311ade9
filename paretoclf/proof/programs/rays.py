"""Proofs that there is no optimum: a ray of multipliers, or a direction, and from which t on there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import CERTIFY
from paretoclf.engine.reduction.points import ProgramPoints
from paretoclf.engine.reduction.program import ProgramLine, between
from paretoclf.problem.exact_sums import inner
from paretoclf.proof.programs.program_lines import bounds_of

_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, repr=False)
class RayProof:
    r"""Proof that there is no optimum at the end of a line, on the program as CVXPY compiled it.

    Attributes
    ----------
    residual : float
        Violation of its conditions, in the units of `paretoclf.proof.programs.row_units`: of multipliers z, that
        :math:`A^\top z=0` and their signs; of a direction x, that :math:`Px=0` and that no row is left along it.
    gain : float
        Gain along the ray, relative to the sum of its terms, positive: :math:`-b^\top z`, or :math:`-q^\top x`.
    since : float
        As the gain is affine in t, there is no optimum at any t of the line after this; infinite where it gains nothing
        at t = 1.
    """

    residual: float
    gain: float
    since: float = 0.0

    def passes(self, tol: float = CERTIFY) -> bool:
        """Whether it gains more than what a feasible point may miss its rows by, relative to their terms.

        A smaller contradiction cannot be told from a program whose numbers were rounded: 0.7 + 0.1 is less than 0.8.
        """
        return bool(self.residual <= tol < self.gain)

    def __str__(self) -> str:
        return f"{self._verdict} (its conditions hold to {self.residual:.1e}, and it gains {self.gain:.1e})"

    @property
    def _verdict(self) -> str:
        return "proved" if self.passes() else "not proved"

    def __repr__(self) -> str:
        return f"RayProof({self._verdict}, gain={self.gain:.1e}, residual={self.residual:.1e})"


def judge_ray(line: ProgramLine, status: str, ray: Array, t: float = 1.0) -> RayProof:
    """Judge a ray at one t: multipliers where a program is infeasible, a direction of x where it is unbounded."""
    ray = ray / max(float(np.abs(ray).max(initial=0.0)), _TINY)
    infeasible = status == "infeasible"
    x, z = (np.zeros(line.n), ray) if infeasible else (ray, np.zeros(line.m))
    costs = line.b if infeasible else line.q
    points = ProgramPoints.of(*(each[None, None].repeat(2, 1) for each in (x, z)))
    without_data = {name: np.zeros_like(getattr(line, name)) for name in ("q", "b", "constant")}
    residuals, *_ = bounds_of(replace(line, **without_data), np.zeros(2), points)
    residual = max(float(residuals[name][0]) for name in ("rows", "stationarity", "signs"))
    at_start, at_stop = (-float(each @ ray) for each in costs)
    cost = between(costs, t)
    size = float(np.abs(cost) @ np.abs(ray))
    gain = -inner(np.stack([cost, np.zeros_like(cost)]), ray) / size if size else 0.0
    return RayProof(residual, gain, _since(at_start, at_stop))


def _since(at_start: float, at_stop: float) -> float:
    """Value of t after which an affine gain is positive up to t = 1, by its values at both ends; else infinity."""
    if not at_stop > 0.0:
        return float("inf")
    if not at_stop > max(at_start, 0.0):  # it shrinks, and is positive everywhere
        return 0.0
    return max(0.0, at_start / (at_start - at_stop))
