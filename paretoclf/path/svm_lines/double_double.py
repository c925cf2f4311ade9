"""Solutions in double-double precision on a given basis at given caps: for points that double cannot certify."""

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
from paretoclf.path.svm_lines.stages import outwards, straight
from paretoclf.problem.exact_sums import product
from paretoclf.problem.gram import Gram
from paretoclf.problem.operator import Quadratic
from paretoclf.problem.operator.signed import Signed, centre
from paretoclf.problem.parametric_qp import ParametricQP

NEAR = 4 * float(np.finfo(float).eps)  # from a breakpoint: there the basis before or after it may be the right one


def quadratic_of(gram: Gram, y: Array, largest_cap: float) -> tuple[Signed, Array | None]:
    """Quadratic term of the 2C-SVM, and the point at which its samples are centred (None if they are not).

    Centred samples are rounded. Where the largest cap makes that show in the margins, they are taken as they are.
    """
    Q = gram.quadratic
    mean = centre(Q)
    if mean is not None:
        from_mean, from_origin = Q.balanced2, Q.length2  # largest squared lengths
        rounding = STEEP * largest_cap * np.sqrt(from_mean * from_origin)
        if rounding > CERTIFY and from_origin <= OFF_CENTRE * from_mean:
            mean = None
    return Signed(Q.centred(mean), y), mean


@dataclass(frozen=True)
class Precise:
    """Solution on one basis: multipliers alpha hi and lo (2, n), w (d,) where there are features, and b."""

    alpha: Array
    w: Array | None
    b: float


class PreciseSolver:
    """Solver for the multipliers on given bases at given caps, in double-double.

    Parameters
    ----------
    quadratic : Quadratic
        Kernel values and labels of the problem: slopes are vectors of its width.
    problem : ParametricQP
        The problem whose P is that of samples measured from ``mean``.
    mean : array of shape (d,), optional
    """

    def __init__(self, quadratic: Quadratic, problem: ParametricQP, mean: Array | None) -> None:
        self.Q, self.mean = quadratic, mean
        self.rows = problem.A.shape[0]
        self.sign = problem.P.sign
        self.tracker = make_tracker(None, problem)

    @classmethod
    def of_costs(cls, gram: Gram, problem: ParametricQP, largest_cap: float) -> PreciseSolver:
        """Make the solver of a 2C-SVM."""
        form, mean = quadratic_of(gram, problem.P.sign, largest_cap)
        return cls(gram.quadratic, replace(problem, P=form), mean)

    def solve(self, caps: Array, state: State, margin: Index) -> Precise | None:
        """Solution on a basis at exactly these caps; None if its margin system is too ill-conditioned, or it is none.

        Multipliers may leave their box by as much as the caps are rounded away from where the basis holds.
        """
        problem = self.tracker
        if problem is None:
            return None
        here = np.array([1.0, 0.0])
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
        parts = found.eta[:, 0] if self.rows else np.zeros(1)  # of the intercept
        if found.w is not None and self.mean is not None:
            mean = np.stack([self.mean, np.zeros_like(self.mean)])
            parts = np.append(parts, -product(found.w[None], mean))
        w, intercept = found.w, fsum(parts.tolist())
        if w is not None:  # slope and intercept are rounded to double
            larger = float(outwards(self.Q, w[None], np.array([intercept]))[0])
            w, intercept = w * larger, intercept * larger
        elif self.rows:
            # Costs may be so large that slacks of what rounds an intercept are more than the value: so it is rounded
            # to where it costs less.
            up, down = (self._rate(caps, state, side) for side in (-1.0, 1.0))
            missing = fsum([*parts.tolist(), -intercept])
            if missing * (down - up) > 0.0:
                intercept = float(np.nextafter(intercept, math.copysign(math.inf, missing)))
        return Precise(alpha, w, intercept)

    def _rate(self, caps: Array, state: State, label: float) -> float:
        """Rate of the cost of all slacks on a basis, for a unit of an intercept that moves away from a label."""
        of_label = self.sign == label
        left = state == LEFT
        growing = of_label & (left | (state == MARGIN))
        shrinking = ~of_label & left
        return float(caps[growing].sum() - caps[shrinking].sum())
