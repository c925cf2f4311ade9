"""Multipliers of a basis to twice double precision, at given caps: for points that double precision cannot certify."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from math import fsum

import numpy as np

from paretoclf.common.checks import Array, Index, State
from paretoclf.common.errors import DegeneratePathError
from paretoclf.common.tolerances import CERTIFY, OFF_CENTRE, STEEP
from paretoclf.engine.boxes import make_tracker
from paretoclf.engine.sets import LEFT, MARGIN
from paretoclf.path.journey import outwards, straight
from paretoclf.problem.exact_sums import product
from paretoclf.problem.gram import Gram
from paretoclf.problem.operator import Quadratic
from paretoclf.problem.operator.signed import Signed, centre
from paretoclf.problem.parametric_qp import ParametricQP


def quadratic_of(gram: Gram, y: Array, largest_cap: float) -> tuple[Signed, Array | None]:
    """The quadratic term of the 2C-SVM, and the point at which its samples are centred (None if they are not).

    Centred samples are rounded. Where the largest cap makes that show in the margins, they are taken as they are.
    """
    Q = gram.quadratic
    mean = centre(Q)
    if mean is not None:
        apart, far = Q.balanced2, Q.length2
        if STEEP * largest_cap * np.sqrt(apart * far) > CERTIFY and far <= OFF_CENTRE * apart:
            mean = None
    return Signed(Q.centred(mean), y), mean


@dataclass(frozen=True)
class Precise:
    """Solution on one basis: multipliers alpha hi and lo (2, n), w (d,) where there are features, and b."""

    alpha: Array
    w: Array | None
    b: float


class PreciseSolver:
    """Solves for the multipliers on given bases at given caps, in double-double.

    Parameters
    ----------
    quadratic : Quadratic
        Kernel values and labels of the problem: slopes are vectors of its width.
    problem : ParametricQP
        Its P of samples that are measured from ``mean``.
    mean : array, optional
    """

    def __init__(self, quadratic: Quadratic, problem: ParametricQP, mean: Array | None) -> None:
        self.Q, self.mean, self.rows, self.sign = quadratic, mean, problem.A.shape[0], problem.P.sign
        self.tracker = make_tracker(None, problem)

    @classmethod
    def of_costs(cls, gram: Gram, problem: ParametricQP, largest_cap: float) -> PreciseSolver:
        """The solver of a 2C-SVM."""
        form, mean = quadratic_of(gram, problem.P.sign, largest_cap)
        return cls(gram.quadratic, replace(problem, P=form), mean)

    def solve(self, caps: Array, state: State, margin: Index) -> Precise | None:
        """Solution on a basis at exactly these caps; None if its margin system is too ill-conditioned, or it is none.

        Multipliers may leave their box by as much as the caps are rounded away from where the basis holds.
        """
        problem, here = self.tracker, np.array([1.0, 0.0])
        if problem is None:
            return None
        line = straight(problem, np.stack([caps, np.zeros_like(caps)]), here, here)
        try:
            if not problem.start_on(state, margin, line):
                return None
            found = problem.solution(0.0)
        except (DegeneratePathError, ValueError):  # sets may be stored that contradict each other
            return None
        alpha = np.zeros((2, caps.size))
        alpha[0] = np.where(state == LEFT, caps, 0.0)
        alpha[:, margin] = found.a
        b = found.eta[:, 0] if self.rows else np.zeros(1)
        if found.w is not None and self.mean is not None:
            b = np.append(b, -product(found.w[None], np.stack([self.mean, np.zeros_like(self.mean)])))
        w, intercept = found.w, fsum(b.tolist())
        if w is not None:  # of the precise ones doubles are rounded, too
            larger = float(outwards(self.Q, w[None], np.array([intercept]))[0])
            w, intercept = w * larger, intercept * larger
        elif self.rows:
            # Costs may be so large that slacks of what rounds an intercept are more than the value: so it is rounded
            # to where it costs less.
            up, down = (self._rate(caps, state, side) for side in (-1.0, 1.0))
            missing = fsum([*b.tolist(), -intercept])
            if missing * (down - up) > 0.0:
                intercept = float(np.nextafter(intercept, math.copysign(math.inf, missing)))
        return Precise(alpha, w, intercept)

    def _rate(self, caps: Array, state: State, label: float) -> float:
        """What slacks cost, a unit of an intercept that moves away from a label, on a basis."""
        mine = self.sign == label
        return float(caps[mine & ((state == LEFT) | (state == MARGIN))].sum() - caps[~mine & (state == LEFT)].sum())
