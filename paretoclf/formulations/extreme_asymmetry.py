r"""The limit of the erf loss at an extreme asymmetry: a direction, and the components of the negatives that count.

Negatives :math:`\sum_i\pi_iN(\mu_i,\Sigma_i)`, :math:`\Sigma_i=R_i^\top R_i\succ0`, and the mean :math:`p` of the
positives (the origin, in the paper). As the training asymmetry tends to 0, the minimiser of the erf loss has
:math:`b\,w\to\theta`, and the components of the negatives that lie beyond the hyperplane come to weigh :math:`\xi`.
Both solve one convex problem. (Near asymmetry 1 the same holds with the names of the classes exchanged.)

**Primal**

.. math::

   V^*=\min_{\xi\ge0,v}\ \sum_i\xi_i\log\frac{\xi_i}{\pi_i}+\sum_i\frac{|v_i|^2}{2\xi_i}
   \quad\text{s.t.}\quad \sum_i\xi_i=1\ \ [\nu],\qquad\sum_iR_i^\top v_i=\sum_i\xi_i(\mu_i-p)\ \ [\theta].

Given :math:`\xi` the second sum is at least :math:`\frac12\bar\mu^\top S^{-1}\bar\mu` with
:math:`\bar\mu=\sum_i\xi_i(\mu_i-p)`, :math:`S=\sum_i\xi_i\Sigma_i`, at :math:`v_i=\xi_iR_iS^{-1}\bar\mu`: that is the
paper's objective :math:`H`, relative entropy plus a matrix-fractional function, jointly convex.

**Dual**, written as a minimisation, so that :math:`V^*=-\min`

.. math::

   \min_\theta\ \log\sum_i\pi_i\exp\Big(-\theta\cdot(\mu_i-p)+\tfrac12|R_i\theta|^2\Big)
   =\min_\theta\ \log E_-e^{-\theta\cdot(x-p)} .

It is the cumulant generating function of the negatives about :math:`p`: :math:`V^*` is Cramér's rate of the negatives
at the mean of the positives, and :math:`a=-\theta` tilts the negatives, :math:`e^{a\cdot x}p_-(x)`, until their mean
is :math:`p`. The weights of the tilted components are :math:`\xi`.

**Multipliers.** :math:`\theta` of the balance, with this sign; :math:`\nu=\log\sum_i\pi_ie^{-k_i}-1=-V^*-1` of the sum,
:math:`k_i=\theta\cdot(\mu_i-p)-\frac12|R_i\theta|^2`. Those of :math:`\xi_i\ge0` vanish: the entropy keeps every weight
positive.

**Recovery.** :math:`\xi_i\propto\pi_ie^{-k_i}`, :math:`\theta=S^{-1}\bar\mu`. The classifier is the limiting one,
:math:`f(x)=a\cdot(x-p)`: through the mean of the positives, to be moved to where its costs are smallest.

**Parameters.** None; one program with exponential and second-order cones.

**References.** Bach, Heckerman & Horvitz (2006), Proposition 2 and appendix A.2.3, equations (11) to (15).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.distributions.population.classes import Population
from paretoclf.distributions.population.expansions import tilt
from paretoclf.distributions.population.judges import judge_tilt
from paretoclf.formulations.base import Formulation
from paretoclf.problem.classifiers import LinearRule, Rule
from paretoclf.proof.verdicts.evidence import Judged
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Form
from paretoclf.solve.models.statement import Statement

PAGE = Statement(
    title="The erf loss at an extreme asymmetry",
    data=(
        "The frequent class $\\sum_i\\pi_iN(\\mu_i,\\Sigma_i)$, $\\Sigma_i=R_i^\\top R_i\\succ0$, and the mean $p$ of "
        "the other one. No parameters."
    ),
    primal=(
        r"V^*=\min_{\xi\ge0,v}\ \sum_i\xi_i\log\frac{\xi_i}{\pi_i}+\sum_i\frac{|v_i|^2}{2\xi_i}\quad\text{s.t.}\quad"
        r"\sum_i\xi_i=1\ [\nu],\quad\sum_iR_i^\top v_i=\sum_i\xi_i(\mu_i-p)\ [\theta]"
    ),
    lagrangian=(
        r"\sum_i\xi_i\log\frac{\xi_i}{\pi_i}+\sum_i\frac{|v_i|^2}{2\xi_i}+\nu\Big(\sum_i\xi_i-1\Big)"
        r"+\theta\cdot\Big(\sum_i\xi_i(\mu_i-p)-\sum_iR_i^\top v_i\Big)"
    ),
    dual=(
        r"V^*=-\min_\theta\ \log\sum_i\pi_ie^{-k_i(\theta)},\qquad "
        r"k_i(\theta)=\theta\cdot(\mu_i-p)-\tfrac12|R_i\theta|^2"
    ),
    kkt={
        "sum": r"\sum_i\xi_i=1",
        "weights": r"\xi_i\ge0",
        "weights: sign": r"\eta_i=0\ge0\ (\text{the entropy keeps }\xi_i>0)",
        "weights: slackness": r"\eta_i\xi_i=0",
        "tilted mean": r"\sum_i\xi_i(\mu_i-p)=\sum_i\xi_i\Sigma_i\,\theta",
        "tilted weights": r"\xi_i=\pi_ie^{-k_i}/\sum_j\pi_je^{-k_j}",
    },
    signs={"\\nu": "$-V^*-1$, negative", "\\theta": "a vector: minus the limiting direction of the slope"},
    recovery=(
        "$v_i=\\xi_iR_i\\theta$, $a=-\\theta$; as the asymmetry tends to its end $w\\sim a/T$, $b\\sim-T$, "
        "$T=-\\Phi^{-1}(\\rho)$. The classifier returned is $f(x)=a\\cdot(x-p)$."
    ),
    remarks=(
        "One component: $\\xi=1$, $a=\\Sigma^{-1}(p-\\mu)$, $V^*=\\frac12(p-\\mu)^\\top\\Sigma^{-1}(p-\\mu)$.",
        "$V^*=\\sup_a\\{a\\cdot p-\\log E_-e^{a\\cdot x}\\}$ is Cramér's rate of the frequent class at $p$.",
        "The slope of the logistic loss tends to the same $a$.",
    ),
    reference="Bach, Heckerman & Horvitz (2006), Proposition 2 and appendix A.2.3.",
)


@dataclass(frozen=True, eq=False)
class _Limit:
    """Weights and multipliers of the limit problem."""

    xi: Array = field(repr=False)
    theta: Array = field(repr=False)


class ExtremeAsymmetry(Formulation):
    r"""The limit of the erf loss at an extreme asymmetry: weights of components and direction of the slope.

    Parameters
    ----------
    population : Population
        Two classes, of different means.
    end : int
        0 for a training asymmetry that tends to 0 (false positives dear), 1 for one that tends to 1.

    Raises
    ------
    InputError
        If an argument is not what it must be.

    References
    ----------
    Bach, Heckerman & Horvitz (2006), appendix A.2.3.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> from paretoclf.distributions.population import Mixture, Population
    >>> negatives = Mixture([[-1.0, 0.0], [0.0, -2.0]], [np.eye(2), np.diag([2.0, 0.5])], [0.3, 0.7])
    >>> limit = pc.formulations.ExtremeAsymmetry(Population(Mixture([1.0, 0.0], np.eye(2)), negatives)).solve()
    >>> limit.numbers["xi"].round(8), limit.numbers["theta"].round(6)
    (array([0.54816927, 0.45183073]), array([-1.066357, -1.167394]))
    >>> limit.certificate.passes(1e-12)
    True
    """

    domain = MappingProxyType({})
    page = PAGE

    def __init__(self, population: Population, end: int = 0) -> None:
        if not isinstance(population, Population):
            raise InputError(f"population must be a Population, got {what_it_is(population)}")
        if end not in (0, 1):
            raise InputError(f"end must be 0 or 1, got {end!r}")
        population.moments.require_difference()
        self.population = population
        self.end = end
        here = population if end == 0 else population.swapped()
        self.mixture = here.negatives
        self.point = here.positives.mean

    @cached_property
    def primal(self) -> cp.Problem:
        """The primal: variables xi and v (rows v_i)."""
        mixture = self.mixture
        components = range(mixture.k)
        xi = cp.Variable(mixture.k, name="xi")
        v = cp.Variable((mixture.k, mixture.d), name="v")
        entropy = cp.sum(cp.rel_entr(xi, mixture.weights))
        squares = [cp.quad_over_lin(v[i], 2 * xi[i]) for i in components]
        pulls = [mixture.roots[i].T @ v[i] for i in components]
        total = cp.sum(xi) - 1 == 0
        balance = xi @ (mixture.means - self.point) - cp.sum(cp.vstack(pulls), axis=0) == 0
        constraints = [total.set_label("sum"), balance.set_label("balance")]
        return cp.Problem(cp.Minimize(entropy + cp.sum(cp.hstack(squares))), constraints)

    @cached_property
    def dual(self) -> cp.Problem:
        """The dual: variable theta, free."""
        mixture = self.mixture
        theta = cp.Variable(mixture.d, name="theta")
        exponents = []
        for weight, mean, root in zip(mixture.weights, mixture.means, mixture.roots, strict=True):
            half_square = cp.sum_squares(root @ theta) / 2
            exponents.append(np.log(weight) - (mean - self.point) @ theta + half_square)
        return cp.Problem(cp.Minimize(cp.log_sum_exp(cp.hstack(exponents))))

    def read(self, found: Mapping[Form, Mapping[str, Any]]) -> _Limit:
        """Read weights and multipliers; what one program lacks follows from what it has."""
        ((form, numbers),) = found.items()
        if form == "primal":
            return _Limit(np.asarray(numbers["xi"]), np.asarray(numbers["balance"]))
        theta = np.asarray(numbers["theta"])
        mixture = self.mixture
        logs = np.log(mixture.weights) - (mixture.means - self.point) @ theta
        logs += 0.5 * (mixture.covariances @ theta) @ theta
        shares = np.exp(logs - logs.max())
        return _Limit(shares / shares.sum(), theta)

    def judge(self, values: Mapping[str, float], point: _Limit) -> Judged:
        """Certify weights and multipliers, with numpy."""
        return judge_tilt(self.mixture, self.point, point.xi, point.theta)

    def classifier(self, values: Mapping[str, float], numbers: Mapping[str, Any]) -> Rule:
        """Return the limiting direction, through the mean of the rare class."""
        w = -np.asarray(numbers["theta"]) * (1.0 if self.end == 0 else -1.0)
        return LinearRule(w, -float(w @ self.point))

    def refined(self, values: Mapping[str, float], point: _Limit, solution: Solution) -> _Limit:
        """Return the solution of Newton's method."""
        found = tilt(self.mixture, self.point)
        return _Limit(found.xi, -found.a)

    def __repr__(self) -> str:
        return f"ExtremeAsymmetry({self.mixture!r}, asymmetry -> {self.end})"
