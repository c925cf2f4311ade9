r"""The biased minimax probability machine: the best guarantee of one class at a given guarantee of the other.

Only the mean :math:`\mu_\pm` and the covariance :math:`\Sigma_\pm=R_\pm^\top R_\pm\succ0` of each class are known;
:math:`\delta=\mu_+-\mu_-\ne0`. The distance :math:`u_+` of the positives' mean from the hyperplane is given, and with
it their guarantee :math:`\Psi(u_+)=u_+^2/(1+u_+^2)`; the largest :math:`u_-` is wanted.

**Primal**

.. math::

   -u_-^*(u_+)=\min_{a,s_+}\ u_+s_+-a\cdot\delta
   \quad\text{s.t.}\quad \|R_+a\|\le s_+\ \ [v],\qquad \|R_-a\|\le1\ \ [u_-\ge0].

**Dual**, written as a minimisation, so that :math:`u_-^*` is its value

.. math::

   \min_{h,v}\ |h|\quad\text{s.t.}\quad \delta=R_-^\top h+R_+^\top v\ \ [a],\qquad |v|\le u_+\ \ [s_+\ge0].

In words: the distance, in the metric of the negatives, of their mean from the ellipsoid of radius :math:`u_+` around
the mean of the positives.

**Multipliers.** The multiplier of the unit deviation of the negatives is the optimal value :math:`u_-`;
:math:`h=u_-R_-a`, :math:`v=u_+R_+a/\|R_+a\|`. In the dual the multiplier of the balance is the slope, with this sign.

**Recovery.** :math:`w=a` and :math:`b=-a\cdot\mu_++u_+\|R_+a\|`.

**Parameter.** ``u_plus``, from 0 up to (not including) :math:`r_1=\sqrt{\delta^\top\Sigma_+^{-1}\delta}`, where
:math:`u_-=0`. It multiplies one variable in the primal and is a right-hand side in the dual: both are DPP.

**Special cases.** :math:`u_+=0`: :math:`a\propto\Sigma_-^{-1}\delta`, :math:`u_-=r_2`. Equal covariances:
:math:`u_-=r_1-u_+`. :math:`u_-^*` is convex and decreasing in :math:`u_+`.

**References.** Huang, Yang, King, Lyu & Chan, JMLR 5 (2004), section 3 (their fractional program, made convex by
fixing the scale of the slope). Kim et al. (2006), section 5.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.distributions.gaussian.bounds import fixed_distance
from paretoclf.distributions.gaussian.judges import judge_fixed_distance, largest_distances
from paretoclf.formulations.base import NONNEGATIVE
from paretoclf.formulations.on_moments import MomentFormulation, MomentSlope, with_coefficients
from paretoclf.proof.verdicts.evidence import Judged
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.statement import Statement

PAGE = Statement(
    title="The biased minimax probability machine",
    data=(
        "Means $\\mu_\\pm$ and covariances $\\Sigma_\\pm=R_\\pm^\\top R_\\pm\\succ0$ of otherwise unknown "
        "distributions; $\\delta=\\mu_+-\\mu_-\\ne0$. Parameter `u_plus`: $0\\le u_+<r_1$, the distance of the "
        "positives' mean from the hyperplane in standard deviations."
    ),
    primal=(
        r"-u_-^*(u_+)=\min_{a,s_+}\ u_+s_+-a\cdot\delta\quad\text{s.t.}\quad\|R_+a\|\le s_+\ [v],\quad"
        r"\|R_-a\|\le1\ [u_-]"
    ),
    lagrangian=r"u_+s_+-a\cdot\delta+(v\cdot R_+a-ps_+)+(h\cdot R_-a-u_-),\qquad |v|\le p,\ |h|\le u_-",
    dual=r"u_-^*(u_+)=\min_{h,v}\ |h|\quad\text{s.t.}\quad\delta=R_-^\top h+R_+^\top v\ [a],\quad|v|\le u_+\ [s_+]",
    kkt={
        "unit deviation of the negatives": r"\|R_-a\|\le1",
        "unit deviation of the negatives: sign": r"u_-\ge0",
        "unit deviation of the negatives: slackness": r"u_-(1-\|R_-a\|)=0",
        "stationarity": r"\delta=R_-^\top h+R_+^\top v,\ h=u_-R_-a,\ v=u_+R_+a/\|R_+a\|",
    },
    signs={"u_-": "nonnegative: it is minus the optimal value", "h, v": "vectors, of length $u_-$ and $u_+$"},
    recovery=(
        "$w=a$, $b=-a\\cdot\\mu_++u_+\\|R_+a\\|$. Guarantees: $u_\\pm^2/(1+u_\\pm^2)$, whatever the distributions."
    ),
    remarks=(
        "$u_+=0$: $a\\propto\\Sigma_-^{-1}\\delta$.",
        "Equal covariances: $u_-=r_1-u_+$.",
        "$u_-^*$ is convex and decreasing in $u_+$.",
    ),
    reference="Huang, Yang, King, Lyu & Chan (2004).",
)


class BiasedMinimaxProbabilityMachine(MomentFormulation):
    r"""The largest distance of the negatives' mean from a hyperplane at a given distance of the positives' mean.

    Parameters
    ----------
    X, y, kernel, reg, shrinkage, low_rank
        Samples and how their moments are estimated; see `MomentFormulation`, and `from_moments` for known moments.

    References
    ----------
    Huang et al. (2004), section 3.

    Examples
    --------
    >>> from paretoclf.formulations.biased_minimax import BiasedMinimaxProbabilityMachine
    >>> machine = BiasedMinimaxProbabilityMachine.from_moments([4.0], [[1.0]], [0.0], [[1.0]])
    >>> solution = machine.solve(u_plus=1.0)
    >>> round(solution.numbers["u_minus"], 9), round(solution.classifier.b, 9)
    (3.0, -3.0)
    """

    domain = MappingProxyType({"u_plus": NONNEGATIVE})
    page = PAGE

    @cached_property
    def ends(self) -> tuple[float, float]:
        r"""Ends of the curve, :math:`(r_2,r_1)`: the largest :math:`u_-` and the largest :math:`u_+`."""
        r1, r2 = largest_distances(self.moments)
        return r2, r1

    @cached_property
    def primal(self) -> cp.Problem:
        """The primal: variables z (whitened slope) and s_plus."""
        white = self.moments.white
        z = cp.Variable(self.moments.d, name="z")
        s_plus = cp.Variable(name="s_plus")
        positives = cp.norm(cp.multiply(white.plus, z), 2) <= s_plus
        negatives = cp.norm(cp.multiply(white.minus, z), 2) <= 1
        constraints = [positives.set_label("positives"), negatives.set_label("unit deviation of the negatives")]
        difference = white.length * (white.direction @ z)
        return cp.Problem(cp.Minimize(self.parameters["u_plus"] * s_plus - difference), constraints)

    @cached_property
    def dual(self) -> cp.Problem:
        """The dual: variables h, v and size, a bound of the length of h."""
        white = self.moments.white
        h = cp.Variable(self.moments.d, name="h")
        v = cp.Variable(self.moments.d, name="v")
        size = cp.Variable(name="size")
        difference = white.length * white.direction
        balance = difference - cp.multiply(white.minus, h) - cp.multiply(white.plus, v) == 0
        length = cp.norm(h, 2) <= size
        ball = cp.norm(v, 2) <= self.parameters["u_plus"]
        constraints = [
            balance.set_label("balance"),
            length.set_label("length of h"),
            ball.set_label("ball of the positives"),
        ]
        return cp.Problem(cp.Minimize(size), constraints)

    def check_values(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Return u_plus as a float; InputError unless it is below r1."""
        numbers = super().check_values(values)
        if numbers["u_plus"] >= self.ends[1]:
            raise InputError(
                f"u_plus must be below r1 = {self.ends[1]:.6g}, where the negatives' mean reaches the hyperplane, "
                f"got {values['u_plus']!r}"
            )
        return numbers

    def closed_form(self, values: Mapping[str, float]) -> MomentSlope | None:
        """Return the slope that is best for the negatives alone, where the positives ask for nothing."""
        return self.slope_of(self.family.of_negatives()) if values["u_plus"] == 0 else None

    def judge(self, values: Mapping[str, float], point: MomentSlope) -> Judged:
        """Certify a slope."""
        return with_coefficients(judge_fixed_distance(self.moments, point.a, values["u_plus"]), point)

    def ratio(self, values: Mapping[str, float], a: Array) -> float:
        r"""Return :math:`t=u_-\|R_+a\|/(u_+\|R_-a\|)`."""
        u_plus = values["u_plus"]
        plus, minus = self.moments.spread(a)
        u_minus = -fixed_distance(self.moments, a, u_plus).primal_value
        return u_minus * plus / (u_plus * minus) if u_plus > 0 else np.inf

    def refined(self, values: Mapping[str, float], point: MomentSlope, solution: Solution) -> MomentSlope | None:
        """Return the member of the family with this u_plus."""
        u_plus = values["u_plus"]
        return self.slope_of(self.family.of_u_plus(u_plus)) if u_plus > 0 else None
