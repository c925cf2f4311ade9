r"""Pareto-optimal linear classification of two Gaussian classes.

Means :math:`\mu_\pm`, covariances :math:`\Sigma_\pm=R_\pm^\top R_\pm\succ0`, :math:`\delta=\mu_+-\mu_-\ne0`, weight
:math:`\lambda>0`. The classifier is :math:`f(x)=a\cdot x+b`; the means stand :math:`u_\pm` standard deviations on their
own side of it, and the true negative and positive rates are :math:`\Phi(u_-)` and :math:`\Phi(u_+)`.

**Primal**

.. math::

   V^*(\lambda)=\min_{a,s_\pm}\ s_++\lambda s_-
   \quad\text{s.t.}\quad a\cdot\delta=1\ \ [z],\qquad \|R_+a\|\le s_+\ \ [h_+],\qquad \|R_-a\|\le s_-\ \ [h_-].

**Dual**, written as a minimisation, so that :math:`V^*=-\min`

.. math::

   \min_{z,h_\pm}\ -z
   \quad\text{s.t.}\quad z\delta=R_+^\top h_++R_-^\top h_-\ \ [a],\qquad |h_+|\le1\ \ [s_+\ge0],\qquad
   |h_-|\le\lambda\ \ [s_-\ge0].

**Multipliers.** The multiplier of the normalisation is :math:`z=V^*>0`; those of the two cones are
:math:`h_+=R_+a/\|R_+a\|` and :math:`h_-=\lambda R_-a/\|R_-a\|`. In the dual the multiplier of the balance is the slope
itself, with this sign, and those of the balls are the two standard deviations. In words: the ellipsoids of radius
:math:`1/z` around :math:`\mu_+` and :math:`\lambda/z` around :math:`\mu_-` touch, and the hyperplane separates them.

**Recovery.** :math:`u_+=1/V^*`, :math:`u_-=\lambda/V^*`, and
:math:`b=-a\cdot\mu_++u_+\|R_+a\|=-a\cdot\mu_--u_-\|R_-a\|` (the paper's threshold is :math:`-b`). As :math:`\lambda`
runs over :math:`(0,\infty)` this gives every Pareto-optimal classifier with both rates above one half, each once.

**Parameter.** ``lam``, positive. In the primal it multiplies one variable, in the dual it is a right-hand side: each
program is DPP, and no matrix moves.

**How it is written.** In coordinates :math:`\ell V^\top Pa` with :math:`P^\top P=\Sigma_++\Sigma_-`, :math:`V`
orthogonal, in which the two covariances are diagonal and add up to the identity: features of any scale give the solver
the same problem, and a sparse one. With a kernel the features
are the rows of a factor of the Gram, :math:`G=LL^\top`; that is the paper's problem (13), whose variable
:math:`\alpha` has :math:`a=L^\top\alpha`.

**Special cases.** Equal covariances: :math:`a\propto\Sigma^{-1}\delta` for every :math:`\lambda` (Fisher's
discriminant). One feature: :math:`a=1/\delta`. :math:`\lambda=1` is the minimax probability machine. The objective is
positively homogeneous, so it is not strictly convex, as the paper says; on :math:`a\cdot\delta=1` it is, and the
solution is unique.

**References.** Kim, Magnani, Samar, Boyd & Lim (2006), problems (3) and (13), appendix A.1. Anderson & Bahadur (1962).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from paretoclf.common.checks import Array
from paretoclf.distributions.gaussian.judges import judge_weighted_sum
from paretoclf.formulations.base import POSITIVE, Range
from paretoclf.formulations.on_moments import MomentFormulation, MomentSlope, with_coefficients
from paretoclf.proof.verdicts.evidence import Judged
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.statement import Statement

PAGE = Statement(
    title="Pareto-optimal classification of two Gaussian classes",
    data=(
        "Means $\\mu_\\pm$, covariances $\\Sigma_\\pm=R_\\pm^\\top R_\\pm\\succ0$, $\\delta=\\mu_+-\\mu_-\\ne0$. "
        "Parameter `lam`: $\\lambda>0$, the ratio $u_-/u_+$ of the distances of the means from the hyperplane."
    ),
    primal=(
        r"V^*(\lambda)=\min_{a,s_\pm}\ s_++\lambda s_-\quad\text{s.t.}\quad a\cdot\delta=1\ [z],\quad"
        r"\|R_+a\|\le s_+\ [h_+],\quad \|R_-a\|\le s_-\ [h_-]"
    ),
    lagrangian=(
        r"s_++\lambda s_-+z(1-a\cdot\delta)+(h_+\cdot R_+a-p_+s_+)+(h_-\cdot R_-a-p_-s_-),"
        r"\qquad |h_\pm|\le p_\pm"
    ),
    dual=(
        r"V^*=-\min_{z,h_\pm}\ -z\quad\text{s.t.}\quad z\delta=R_+^\top h_++R_-^\top h_-\ [a],\quad"
        r"|h_+|\le1\ [s_+],\quad |h_-|\le\lambda\ [s_-]"
    ),
    kkt={
        "normalisation": r"a\cdot\delta=1",
        "positives": r"\|R_+a\|\le s_+",
        "positives: sign": r"p_+=1\ge0",
        "positives: slackness": r"p_+s_+=h_+\cdot R_+a",
        "negatives": r"\|R_-a\|\le s_-",
        "negatives: sign": r"p_-=\lambda\ge0",
        "negatives: slackness": r"p_-s_-=h_-\cdot R_-a",
        "stationarity": r"z\delta=R_+^\top h_++R_-^\top h_-,\ h_+=R_+a/\|R_+a\|,\ h_-=\lambda R_-a/\|R_-a\|",
    },
    signs={"z": "positive: it is the optimal value", "h_+, h_-": "vectors, of length 1 and $\\lambda$"},
    recovery=(
        "$u_+=1/V^*$, $u_-=\\lambda/V^*$, $w=a$, $b=-a\\cdot\\mu_++u_+\\|R_+a\\|$; rates $\\Phi(u_-)$ (true negative) "
        "and $\\Phi(u_+)$ (true positive), both above one half."
    ),
    remarks=(
        "Equal covariances: $a\\propto\\Sigma^{-1}\\delta$ for every $\\lambda$.",
        "$\\lambda=1$ is the minimax probability machine.",
        "$\\lambda\\to0$ and $\\lambda\\to\\infty$ are the ends $u_-=0$ and $u_+=0$ of the segment.",
        "Equal means: no $a$ is feasible, and there is no solution. The outer problems (4) and (5) have one: "
        "`SProcedure.at_rate`.",
    ),
    reference="Kim et al. (2006), problem (3); with a kernel, problem (13).",
)


class ParetoGaussian(MomentFormulation):
    r"""Pareto-optimal classifiers of two Gaussian classes, both rates above one half.

    Parameters
    ----------
    X, y, kernel, reg, shrinkage, low_rank
        Samples and how their moments are estimated; see `MomentFormulation`, and `from_moments` for known moments.

    References
    ----------
    Kim et al. (2006), problems (3) and (13).

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.formulations.pareto_gaussian import ParetoGaussian
    >>> pair = ParetoGaussian.from_moments([2.0, 0.0], np.eye(2), [0.0, 0.0], np.diag([4.0, 1.0]))
    >>> solution = pair.solve(lam=0.5)
    >>> np.round(solution.classifier.w, 9) + 0.0, round(solution.classifier.b, 9)
    (array([0.5, 0. ]), -0.5)
    >>> found = pair.distances(solution)
    >>> round(found.u_minus, 9), round(found.u_plus, 9)
    (0.5, 1.0)
    >>> solution.certificate.passes(1e-12)
    True
    """

    domain: Mapping[str, Range] = MappingProxyType({"lam": POSITIVE})
    page = PAGE

    @cached_property
    def primal(self) -> cp.Problem:
        """The primal: variables z (whitened slope), s_plus and s_minus."""
        white = self.moments.white
        z = cp.Variable(self.moments.d, name="z")
        s_plus = cp.Variable(name="s_plus")
        s_minus = cp.Variable(name="s_minus")
        normalisation = 1 - white.direction @ z == 0
        positives = cp.norm(cp.multiply(white.plus, z), 2) <= s_plus
        negatives = cp.norm(cp.multiply(white.minus, z), 2) <= s_minus
        constraints = [
            normalisation.set_label("normalisation"),
            positives.set_label("positives"),
            negatives.set_label("negatives"),
        ]
        return cp.Problem(cp.Minimize((s_plus + self._weight * s_minus) / white.length), constraints)

    @cached_property
    def dual(self) -> cp.Problem:
        """The dual: variables value (z of the statement, times the length), h_plus and h_minus."""
        white = self.moments.white
        value = cp.Variable(name="value")
        h_plus = cp.Variable(self.moments.d, name="h_plus")
        h_minus = cp.Variable(self.moments.d, name="h_minus")
        balance = value * white.direction - cp.multiply(white.plus, h_plus) - cp.multiply(white.minus, h_minus) == 0
        positives = cp.norm(h_plus, 2) <= 1
        negatives = cp.norm(h_minus, 2) <= self._weight
        constraints = [
            balance.set_label("balance"),
            positives.set_label("ball of the positives"),
            negatives.set_label("ball of the negatives"),
        ]
        return cp.Problem(cp.Minimize(-value / white.length), constraints)

    @property
    def _weight(self) -> Any:
        """Weight of the negatives in the programs: a parameter, or a number."""
        return self.parameters["lam"]

    def lam(self, values: Mapping[str, float]) -> float:
        """Weight of the negatives at given parameter values."""
        return values["lam"]

    def judge(self, values: Mapping[str, float], point: MomentSlope) -> Judged:
        """Certify a slope."""
        return with_coefficients(judge_weighted_sum(self.moments, point.a, self.lam(values)), point)

    def ratio(self, values: Mapping[str, float], a: Array) -> float:
        r"""Return :math:`t=\lambda\|R_+a\|/\|R_-a\|`."""
        plus, minus = self.moments.spread(a)
        return self.lam(values) * plus / minus

    def refined(self, values: Mapping[str, float], point: MomentSlope, solution: Solution) -> MomentSlope:
        """Return the member of the family with this weight: one equation in log t."""
        return self.slope_of(self.family.of_weight(self.lam(values)))
