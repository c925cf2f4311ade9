r"""The quantile SVM: the asymmetric hinge loss without a free intercept, in the quantile :math:`\tau`.

Samples :math:`x_i`, labels :math:`y_i=\pm1`; :math:`c_i=\tfrac{2(1-\tau)}n` for a positive sample,
:math:`\tfrac{2\tau}n` for a negative one.

**Primal**

.. math::

   P^*(\tau,\lambda)=\min_{w,\xi}\ \tfrac\lambda2\|w\|^2+\tfrac{2(1-\tau)}n\sum_{y_i=+1}\xi_i
   +\tfrac{2\tau}n\sum_{y_i=-1}\xi_i
   \quad\text{s.t.}\quad y_iw\cdot x_i\ge1-\xi_i\ \ [\alpha_i\ge0],\qquad \xi_i\ge0\ \ [\mu_i\ge0].

**Dual**, written as a minimisation (:math:`Q_{ij}=y_iy_jk(x_i,x_j)`), so that :math:`P^*=-\min`

.. math::

   \min_\alpha\ \tfrac1{2\lambda}\alpha^\top Q\alpha-1^\top\alpha
   \quad\text{s.t.}\quad \alpha_i\ge0,\qquad \alpha_i\le c_i\ \ [\xi_i\ge0].

There is no equation: w has no intercept to pay for it. The slope is :math:`w=\frac1\lambda\sum_i\alpha_iy_ix_i`.

**Parameters.** ``tau`` in [0, 1] and ``lam`` > 0. The CVXPY programs are these two divided by :math:`\lambda`, with
multipliers :math:`\alpha/\lambda`, in :math:`C_+=\frac{2(1-\tau)}{n\lambda}` and :math:`C_-=\frac{2\tau}{n\lambda}`,
which follow the two parameters (``cvxpy.CallbackParam``). Each is DPP, and no matrix moves. A `Solution` has the
values and multipliers of the problems above.

**Intercept.** None, or with ``bias=True`` that of the paper: a constant feature 1, whose weight b is part of the norm:
:math:`\|w\|^2+b^2` and kernel :math:`k+1`. It is never stored as a column, so sparse samples stay as they are.

**Equivalence.** The 2C-SVM without intercept at :math:`C_+=\frac{2(1-\tau)}{n\lambda}`,
:math:`C_-=\frac{2\tau}{n\lambda}` has the same w and the multipliers :math:`\alpha/\lambda`; its asymmetry is
:math:`1-\tau`. The paper's own :math:`C_+` is the cost of a false positive.

**References.** Yu et al. (2009), on the quantile path of a risk-agnostic SVM, problems (7) and (8), Lemma 2.2
(corrected: see `minimiser`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, check_bool, check_inside
from paretoclf.formulations.base import POSITIVE, Range, SampleFormulation
from paretoclf.problem.classifiers import KernelRule, Rule
from paretoclf.problem.costs import Costs
from paretoclf.problem.lines import LineOfTau
from paretoclf.proof.points.hinge import judge_hinge
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.verdicts.evidence import Judged
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Form
from paretoclf.solve.models.statement import Statement
from paretoclf.solve.polish import polish

PAGE = Statement(
    title="The quantile SVM",
    data=(
        r"Samples $x_i$, labels $y_i=\pm1$, quantile $\tau\in[0,1]$, ridge $\lambda>0$; $c_i=2(1-\tau)/n$ for positive "
        r"and $2\tau/n$ for negative samples. No intercept; with `bias=True` a constant feature 1 belongs to $x_i$."
    ),
    primal=r"""\min_{w,\xi}\ \tfrac\lambda2\|w\|^2+\sum_ic_i\xi_i
\quad\text{s.t.}\quad y_iw\cdot x_i\ge1-\xi_i\ [\alpha_i],\quad \xi_i\ge0\ [\mu_i]""",
    lagrangian=r"""\tfrac\lambda2\|w\|^2+\sum_ic_i\xi_i-\sum_i\alpha_i(y_iw\cdot x_i-1+\xi_i)-\sum_i\mu_i\xi_i""",
    dual=r"""\max_\alpha\ 1^\top\alpha-\tfrac1{2\lambda}\alpha^\top Q\alpha
\quad\text{s.t.}\quad 0\le\alpha_i\le c_i,\qquad Q_{ij}=y_iy_jk(x_i,x_j)""",
    kkt={
        "margin": r"y_if(x_i)\ge1-\xi_i,\ \xi_i\ge0",
        "stationarity in w": r"\lambda w=\sum_i\alpha_iy_ix_i",
        "box": r"0\le\alpha_i\le c_i",
        "complementarity": r"\alpha_i(y_if(x_i)-1+\xi_i)=0,\ (c_i-\alpha_i)\xi_i=0",
    },
    signs={r"\alpha_i": "nonnegative, at most $c_i$", r"\mu_i=c_i-\alpha_i": "nonnegative"},
    recovery=(
        r"$w=\frac1\lambda\sum_i\alpha_iy_ix_i$, $f(x)=w\cdot x$; with a constant feature "
        r"$b=\frac1\lambda\sum_i\alpha_iy_i$."
    ),
    remarks=(
        r"2C-SVM without intercept at $C_+=2(1-\tau)/(n\lambda)$, $C_-=2\tau/(n\lambda)$: same $w$, multipliers "
        r"$\alpha/\lambda$.",
        r"$\tau=0$: only the positive samples count ($c_i=0$ for the others); $\tau=1$: only the negative ones.",
        r"Without ridge, where $P(y=1|x)=\eta$: $\mathrm{sign}(\eta-\tau)$ is a minimiser, and the only one if "
        r"$0<\tau<1$ and $\eta\notin\{0,\tau,1\}$.",
    ),
    reference="Yu et al., problems (7) and (8), Lemma 2.2.",
)


class QuantileSVM(SampleFormulation):
    """The quantile SVM of one data set, in ``tau`` and ``lam``.

    Parameters
    ----------
    X, y, kernel
        As for `TwoCSVM`; X may be sparse.
    bias : bool
        Whether a constant feature 1 is added; its weight is part of the norm.

    References
    ----------
    Yu et al., problems (7) and (8).

    Examples
    --------
    >>> from paretoclf.formulations.quantile_svm import QuantileSVM
    >>> solution = QuantileSVM([[2.0], [-1.0]], [1, -1]).solve(tau=0.5, lam=0.25)
    >>> round(float(solution.classifier.w[0]), 6), solution.certificate.passes()
    (1.0, True)
    """

    domain = MappingProxyType({"tau": Range(0, 1), "lam": POSITIVE})
    default_form: Form = "dual"
    lines = LineOfTau
    page = PAGE

    def __init__(self, X: Any, y: Any, kernel: Any = None, *, bias: bool = False) -> None:
        super().__init__(X, y, kernel)
        self.bias = check_bool(bias, "bias")

    @cached_property
    def primal(self) -> cp.Problem:
        """The primal: variables w (in the feature space of the factor), xi, and b where there is a constant feature."""
        C_plus, C_minus = self._costs
        w = cp.Variable(self.gram.factor.shape[1], name="w")
        xi = cp.Variable(self.n, name="xi")
        loss_plus = C_plus * cp.sum(xi[self.y > 0])
        loss_minus = C_minus * cp.sum(xi[self.y < 0])
        squares = cp.sum_squares(w)
        scores = self.signed @ w
        if self.bias:
            b = cp.Variable(name="b")
            squares = squares + cp.square(b)
            scores = scores + self.y * b
        margin = scores >= 1 - xi
        slack = xi >= 0
        objective = squares / 2 + loss_plus + loss_minus
        return cp.Problem(cp.Minimize(objective), [margin.set_label("margin"), slack.set_label("slack")])

    @cached_property
    def dual(self) -> cp.Problem:
        """The dual: variable alpha. Written as a minimisation: its value is minus that of the primal."""
        C_plus, C_minus = self._costs
        alpha = cp.Variable(self.n, name="alpha")
        quadratic = cp.sum_squares(self.signed.T @ alpha)
        if self.bias:
            quadratic = quadratic + cp.square(self.y @ alpha)
        lower = alpha >= 0
        upper = alpha <= C_plus * (self.y > 0) + C_minus * (self.y < 0)
        constraints = [lower.set_label("lower"), upper.set_label("upper")]
        return cp.Problem(cp.Minimize(quadratic / 2 - cp.sum(alpha)), constraints)

    @cached_property
    def _costs(self) -> tuple[cp.Parameter, cp.Parameter]:
        """Costs that follow the parameters."""
        tau, lam = self.parameters["tau"], self.parameters["lam"]

        def follow(name: str) -> cp.Parameter:
            return cp.CallbackParam(
                callback=lambda: getattr(self.costs(tau.value, lam.value), name), nonneg=True, name=name
            )

        return follow("C_plus"), follow("C_minus")

    def caps(self, tau: float) -> Array:
        """Weights ``c_i`` of the slacks, shape (n,)."""
        plus = 2 * (1 - tau) / self.n
        minus = 2 * tau / self.n
        return np.where(self.y > 0, plus, minus)

    def costs(self, tau: float, lam: float) -> Costs:
        """Costs at which the 2C-SVM without intercept has the same solution.

        Examples
        --------
        >>> from paretoclf.formulations.quantile_svm import QuantileSVM
        >>> QuantileSVM([[2.0], [-1.0]], [1, -1]).costs(0.25, 0.5)
        Costs(C_plus=1.5, C_minus=0.5)
        """
        scale = self.n * lam
        return Costs(C_plus=2 * (1 - tau) / scale, C_minus=2 * tau / scale)

    def read(self, found: Mapping[Form, Mapping[str, Any]]) -> dict[str, Any]:
        """Read the multipliers divided by lam, and w and b where the primal has them."""
        ((form, numbers),) = found.items()
        if form == "dual":
            return {"beta": np.asarray(numbers["alpha"]), "b": np.nan if self.bias else 0.0, "w": None}
        w = self.gram.quadratic.own(numbers["w"])
        # Without features w cannot be kept, so b is the one that alpha implies, as w is.
        b = (float(numbers["b"]) if w is not None else np.nan) if self.bias else 0.0
        return {"beta": np.asarray(numbers["margin"]), "b": b, "w": w}

    def soft_margin(self, tau: float, lam: float) -> SoftMargin:
        """Problem that the judge evaluates: caps, ridge, and how the intercept is penalised."""
        intercept = "feature" if self.bias else "none"
        return SoftMargin.of(self.gram, self.y, self.caps(tau), lam=lam, intercept=intercept)

    def judge(self, values: Mapping[str, float], point: Any) -> Judged:
        """Certify a point, with numpy."""
        problem = self.soft_margin(values["tau"], values["lam"])
        alpha = np.clip(values["lam"] * point["beta"], 0.0, problem.caps)
        return judge_hinge(problem, alpha, point["b"], point["w"])

    def classifier(self, values: Mapping[str, float], numbers: Mapping[str, Any]) -> Rule:
        """Read the classifier from the multipliers."""
        coef = self.y * numbers["alpha"] / values["lam"]
        return KernelRule(self.gram, coef, float(numbers["b"]))

    def refined(self, values: Mapping[str, float], point: Any, solution: Solution) -> dict[str, Any]:
        """Refine the multipliers on their active set."""
        tau, lam = values["tau"], values["lam"]
        problem = LineOfTau(self.gram, self.y, self.bias, lam, (tau, tau)).problem
        beta = polish(problem, solution.alpha / lam, np.zeros(0)).alpha
        return {"beta": beta, "b": np.nan if self.bias else 0.0, "w": None}

    def complete(self, values: Mapping[str, float], point: Any, **how: Any) -> Solution:
        """Certify the point, polish it on request, and name the costs of the equivalent 2C-SVM."""
        return replace(super().complete(values, point, **how), costs=self.costs(**values))


def minimiser(eta: float, tau: float) -> tuple[float, float]:
    r"""Return the interval of all minimisers of the asymmetric hinge risk where :math:`P(y=1|x)=\eta`.

    :math:`\tau(1-\eta)(1+f)_++(1-\tau)\eta(1-f)_+` has the slopes :math:`-(1-\tau)\eta`, :math:`\tau-\eta`,
    :math:`\tau(1-\eta)` on :math:`f<-1`, :math:`(-1,1)`, :math:`f>1`. The paper's lemma calls
    :math:`\mathrm{sign}(\eta-\tau)` *the* minimiser for every :math:`\tau`; it is one, but the only one just where
    :math:`0<\tau<1` and :math:`\eta\notin\{0,\tau,1\}`.

    Parameters
    ----------
    eta, tau : float
        In [0, 1].

    References
    ----------
    Yu et al., Lemma 2.2, corrected.

    Examples
    --------
    >>> from paretoclf.formulations.quantile_svm import minimiser
    >>> minimiser(0.7, 0.4), minimiser(0.4, 0.4), minimiser(1.0, 0.4)
    ((1.0, 1.0), (-1.0, 1.0), (1.0, inf))
    """
    eta, tau = check_inside(eta, "eta"), check_inside(tau, "tau")
    slopes = (-(1 - tau) * eta, tau - eta, tau * (1 - eta))
    kinks = (-np.inf, -1.0, 1.0, np.inf)
    flat = [piece for piece, slope in enumerate(slopes) if slope == 0]
    if flat:
        return kinks[flat[0]], kinks[flat[-1] + 1]
    only = kinks[sum(slope < 0 for slope in slopes)]
    return only, only
