r"""Surrogate risks: square, hinge, logistic or erf loss, one cost for each kind of error, and a ridge.

Samples :math:`x_i`, labels :math:`y_i=\pm1`, costs :math:`c_i=C_{y_i}>0`, ridge :math:`r>0`, margins
:math:`u_i=y_i(w\cdot x_i+b)`.

**Primal**

.. math::

   P^*=\min_{w,b,u}\ \tfrac r2\|w\|^2+\sum_ic_i\phi(u_i)
   \quad\text{s.t.}\quad u_i=y_i(w\cdot x_i+b)\ \ [\alpha_i].

**Dual**, written as a minimisation, so that :math:`P^*=-\min`; :math:`\phi^*` is the conjugate

.. math::

   \min_\alpha\ \tfrac1{2r}\alpha^\top Q\alpha+\sum_ic_i\phi^*(-\alpha_i/c_i)
   \quad\text{s.t.}\quad y^\top\alpha=0\ \ [b].

=========  ===================================  ====================================  =====================
loss       :math:`\phi(u)`                      :math:`\phi^*(-p)`                    where finite
=========  ===================================  ====================================  =====================
square     :math:`\tfrac12(u-1)^2`              :math:`\tfrac12p^2-p`                 everywhere
hinge      :math:`\max(0,1-u)`                  :math:`-p`                            :math:`0\le p\le1`
logistic   :math:`\log(1+e^{-u})`               :math:`p\log p+(1-p)\log(1-p)`        :math:`0\le p\le1`
erf        :math:`u\Phi(u)-u+\varphi(u)`        :math:`-\varphi(\Phi^{-1}(p))`        :math:`0\le p\le1`
=========  ===================================  ====================================  =====================

At the optimum :math:`\alpha_i=-c_i\phi'(u_i)` (for the hinge: a subgradient), so :math:`\alpha\ge0` for all but the
square loss, whose multipliers are negative where :math:`u_i>1`. :math:`w=\frac1r\sum_i\alpha_iy_ix_i`.

**Parameters.** ``C_plus``, ``C_minus``, ``ridge`` (1 unless given), all positive; :math:`1/r` and :math:`1/C_\pm` are
parameters that follow them. Each model is DPP. The square loss is solved in closed form, a linear system. The erf loss
has no finite description by cones: it is minimised by Newton's method, and its CVXPY programs are the quadratic model
of the risk at that minimiser, which has the same minimiser and the same optimal value. The certificate does not trust
them; it evaluates the risk itself and its exact dual.

**References.** Bach, Heckerman & Horvitz, JMLR 7 (2006), section 2.1 (losses) and 2.3 (risk; theirs is this one with
ridge 1, divided by n).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.formulations.base import POSITIVE, SampleFormulation, margins_read
from paretoclf.formulations.newton import minimise_risk
from paretoclf.problem.classifiers import KernelRule, Rule
from paretoclf.problem.intercepts import best_intercepts, point_of
from paretoclf.proof.points.losses import Loss, loss_of
from paretoclf.proof.points.risk import judge_risk
from paretoclf.proof.verdicts.evidence import Judged
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Form
from paretoclf.solve.models.statement import Statement
from paretoclf.solve.vertices import vertex_of

PAGE = Statement(
    title="Surrogate risks with asymmetric costs",
    data=(
        r"Samples $x_i$, labels $y_i=\pm1$, costs $c_i=C_{y_i}>0$, ridge $r>0$, a convex loss $\phi$ of the margin "
        r"$u_i=y_i(w\cdot x_i+b)$: square $\frac12(u-1)^2$, hinge $\max(0,1-u)$, logistic $\log(1+e^{-u})$, erf "
        r"$u\Phi(u)-u+\varphi(u)$."
    ),
    primal=r"""\min_{w,b,u}\ \tfrac r2\|w\|^2+\sum_ic_i\phi(u_i)
\quad\text{s.t.}\quad u_i=y_i(w\cdot x_i+b)\ [\alpha_i]""",
    lagrangian=r"""\tfrac r2\|w\|^2+\sum_ic_i\phi(u_i)+\sum_i\alpha_i\big(u_i-y_i(w\cdot x_i+b)\big)""",
    dual=r"""\max_\alpha\ -\sum_ic_i\phi^*(-\alpha_i/c_i)-\tfrac1{2r}\alpha^\top Q\alpha
\quad\text{s.t.}\quad y^\top\alpha=0,\qquad \phi^*(-p)=\begin{cases}\frac12p^2-p&\text{square}\\
-p,\ 0\le p\le1&\text{hinge}\\p\log p+(1-p)\log(1-p)&\text{logistic}\\-\varphi(\Phi^{-1}(p))&\text{erf}\end{cases}""",
    kkt={
        "margin": r"u_i=y_i(w\cdot x_i+b)",
        "stationarity in w": r"rw=\sum_i\alpha_iy_ix_i",
        "balance": r"\sum_iy_i\alpha_i=0",
        "gradient": r"\alpha_i=-c_i\phi'(u_i)",
    },
    signs={r"\alpha_i": r"nonnegative for hinge, logistic and erf; of the sign of $1-u_i$ for the square loss"},
    recovery=r"$w=\frac1r\sum_i\alpha_iy_ix_i$; $b$ is the multiplier of $y^\top\alpha=0$ in the dual.",
    remarks=(
        r"Hinge, $r=1$: the 2C-SVM; the gradient condition reads $\alpha_i\in[0,c_i]$, $u_i>1\Rightarrow\alpha_i=0$, "
        r"$u_i<1\Rightarrow\alpha_i=c_i$.",
        r"Square: a linear system, $\big(\frac1rK+\mathrm{diag}(1/c)\big)y\alpha+b1=y$, $1^\top(y\alpha)=0$.",
        r"$(C_\pm,r)$ and $(sC_\pm,sr)$ have the same solution.",
    ),
    reference="Bach, Heckerman & Horvitz (2006), sections 2.1 and 2.3.",
)

HINGE = replace(
    PAGE,
    title="The hinge risk with asymmetric costs",
    kkt={
        "margin": r"y_if(x_i)\ge1-\xi_i,\ \xi_i\ge0",
        "stationarity in w": r"rw=\sum_i\alpha_iy_ix_i",
        "box": r"0\le\alpha_i\le c_i",
        "balance": r"\sum_iy_i\alpha_i=0",
        "complementarity": r"\alpha_i(y_if(x_i)-1+\xi_i)=0,\ (c_i-\alpha_i)\xi_i=0",
    },
)


class SurrogateRisk(SampleFormulation):
    """Regularised risk of one data set under a surrogate loss, in ``C_plus``, ``C_minus`` and ``ridge``.

    Parameters
    ----------
    X, y, kernel
        As for `TwoCSVM`.
    loss : {"hinge", "square", "logistic", "erf"}
        Function of the margin.

    References
    ----------
    Bach, Heckerman & Horvitz (2006), section 2.

    Examples
    --------
    >>> from paretoclf.formulations.surrogate_risk import SurrogateRisk
    >>> risk = SurrogateRisk([[1.0], [-1.0]], [1, -1], loss="square")
    >>> solution = risk.solve(C_plus=1.0, C_minus=1.0)
    >>> round(float(solution.classifier.w[0]), 9), solution.certificate.passes(1e-12)
    (0.666666667, True)
    """

    domain = MappingProxyType({"C_plus": POSITIVE, "C_minus": POSITIVE, "ridge": POSITIVE})
    default_form: Form = "primal"
    page = PAGE
    pages = (PAGE, HINGE)

    def __init__(self, X: Any, y: Any, kernel: Any = None, *, loss: str = "hinge") -> None:
        self.loss: Loss = loss_of(loss)
        super().__init__(X, y, kernel)
        if loss == "hinge":
            self.page = HINGE
        self.direct = "Newton" if self.loss.name == "erf" else "closed form"

    @cached_property
    def primal(self) -> cp.Problem:
        """The primal: variables w, b and u (for the hinge, xi)."""
        w = cp.Variable(self.gram.factor.shape[1], name="w")
        b = cp.Variable(name="b")
        norm = self.parameters["ridge"] * cp.sum_squares(w) / 2
        scores = self.signed @ w + self.y * b
        if self.loss.name == "hinge":
            xi = cp.Variable(self.n, name="xi")
            margin = scores >= 1 - xi
            slack = xi >= 0
            loss = self._weighed(lambda here: cp.sum(xi[here]))
            return cp.Problem(cp.Minimize(norm + loss), [margin.set_label("margin"), slack.set_label("slack")])
        u = cp.Variable(self.n, name="u")
        if self.loss.name == "square":
            loss = self._weighed(lambda here: cp.sum_squares(u[here] - 1) / 2)
        elif self.loss.name == "logistic":
            loss = self._weighed(lambda here: cp.sum(cp.logistic(-u[here])))
        else:
            bend, target, slope, constant = (self._model(part) for part in ("bend", "target", "slope", "constant"))
            quadratic = cp.sum_squares(cp.multiply(bend, u) - target) / 2
            loss = quadratic + slope @ u + constant
        margin = u - scores == 0
        return cp.Problem(cp.Minimize(norm + loss), [margin.set_label("margin")])

    @cached_property
    def dual(self) -> cp.Problem:
        """The dual: variable alpha (for the erf loss, v with alpha = -(slope + bend v))."""
        if self.loss.name == "erf":
            return self._dual_of_model()
        alpha = cp.Variable(self.n, name="alpha")
        inverse = self._following("1 / ridge", lambda given: 1.0 / given["ridge"])
        quadratic = inverse * cp.sum_squares(self.signed.T @ alpha) / 2
        positives = self.y > 0
        negatives = self.y < 0
        caps = self.parameters["C_plus"] * positives + self.parameters["C_minus"] * negatives
        balance = self.y @ alpha == 0
        constraints = [balance.set_label("balance")]
        if self.loss.name == "square":
            plus = self._following("1 / C_plus", lambda given: 1.0 / given["C_plus"])
            minus = self._following("1 / C_minus", lambda given: 1.0 / given["C_minus"])
            squares_plus = plus * cp.sum_squares(alpha[positives])
            squares_minus = minus * cp.sum_squares(alpha[negatives])
            conjugate = (squares_plus + squares_minus) / 2 - cp.sum(alpha)
        elif self.loss.name == "hinge":
            conjugate = -cp.sum(alpha)
            lower = alpha >= 0
            upper = alpha <= caps
            constraints += [lower.set_label("lower"), upper.set_label("upper")]
        else:
            entropies = cp.rel_entr(alpha, caps) + cp.rel_entr(caps - alpha, caps)
            conjugate = cp.sum(entropies)
        return cp.Problem(cp.Minimize(quadratic + conjugate), constraints)

    def _dual_of_model(self) -> cp.Problem:
        """The dual of the quadratic model of the erf risk: variable v."""
        v = cp.Variable(self.n, name="v")
        bend, slope, target = (self._model(part) for part in ("bend / root", "slope / root", "target"))
        root_alpha = -(slope + cp.multiply(bend, v))
        quadratic = cp.sum_squares(self.signed.T @ root_alpha) / 2
        # alpha'u0 = -slope'u0 - target'v, and slope'u0 is inside the constant of the model.
        conjugate = cp.sum_squares(v) / 2 + target @ v - self._model("constant")
        balance = self.y @ root_alpha == 0
        return cp.Problem(cp.Minimize(quadratic + conjugate), [balance.set_label("balance")])

    def check_values(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Return the parameters as floats; the ridge is 1 where it is not given."""
        return super().check_values({"ridge": 1.0, **values})

    def costs(self, values: Mapping[str, float]) -> Array:
        """Cost of each sample, shape (n,)."""
        return np.where(self.y > 0, values["C_plus"], values["C_minus"])

    def closed_form(self, values: Mapping[str, float]) -> dict[str, Any] | None:
        """Return the solution for the square loss (a linear system), and for the erf loss (Newton's method)."""
        return self._newton(values) if self.loss.name in ("square", "erf") else None

    def read(self, found: Mapping[Form, Mapping[str, Any]]) -> dict[str, Any]:
        """Read multipliers, intercept, and w where the primal has it."""
        return margins_read(self.gram, found)

    def judge(self, values: Mapping[str, float], point: Any) -> Judged:
        """Certify a point, with numpy."""
        costs = self.costs(values)
        ridge = values["ridge"]
        alpha = point["alpha"]
        if np.isfinite(self.loss.low):
            alpha = np.clip(alpha, self.loss.low * costs, self.loss.high * costs)
        return judge_risk(self.gram, self.y, costs, ridge, self.loss, alpha, point["b"], w=point["w"])

    def classifier(self, values: Mapping[str, float], numbers: Mapping[str, Any]) -> Rule:
        """Read the classifier from multipliers and intercept."""
        coef = self.y * numbers["alpha"] / values["ridge"]
        return KernelRule(self.gram, coef, float(numbers["b"]))

    def refined(self, values: Mapping[str, float], point: Any, solution: Solution) -> dict[str, Any] | None:
        """Refine the logistic loss by Newton's method, the hinge on its active set."""
        if self.loss.name == "logistic":
            return self._newton(values)
        return self._vertex(values, point) if self.loss.name == "hinge" else None

    def _weighed(self, loss: Callable[[Any], Any]) -> Any:
        """Losses of the two classes, each times its cost."""
        plus, minus = self.parameters["C_plus"], self.parameters["C_minus"]
        return plus * loss(self.y > 0) + minus * loss(self.y < 0)

    def _newton(self, values: Mapping[str, float]) -> dict[str, Any]:
        """Minimise by Newton's method; for the square loss that is one linear system."""
        costs = self.costs(values)
        w, b = minimise_risk(self.gram.factor, self.y, costs, values["ridge"], self.loss)
        alpha = -costs * self.loss.slope(self._margins(w, b))
        return {"alpha": alpha, "b": b, "w": self.gram.quadratic.own(w)}

    def _margins(self, w: Array, b: float) -> Array:
        """Margins ``y f`` of the samples, for a slope in the features of the Gram's factor."""
        return np.asarray(self.y * (self.gram.factor @ w + b))

    def _vertex(self, values: Mapping[str, float], point: Any) -> dict[str, Any]:
        """Refine multipliers of the hinge on their active set: those of the 2C-SVM, times the ridge."""
        ridge = values["ridge"]
        caps = self.costs(values) / ridge
        found = vertex_of(self.gram, self.y, caps, point["alpha"] / ridge, point["b"])
        scores = self.gram.quadratic.scores(self.y * found.alpha, found.w)
        b = point_of(best_intercepts(self.y, caps, scores))
        return {"alpha": ridge * found.alpha, "b": b, "w": found.w}

    def _following(self, name: str, of: Callable[[dict[str, float]], Any], shape: Any = (), **signs: bool) -> Any:
        """Make a parameter that follows the others."""
        parameters = dict(self.parameters)
        signs = signs or {"nonneg": True}

        def value() -> Any:
            return of({key: parameter.value for key, parameter in parameters.items()})

        return cp.CallbackParam(callback=value, shape=shape, name=name, **signs)

    def _model(self, part: str) -> Any:
        """Part of the quadratic model of the erf risk at its minimiser, as a parameter."""

        def value(given: dict[str, float]) -> Any:
            return self._model_parts(given)[part]

        shape = () if part == "constant" else (self.n,)
        return self._following(part, value, shape, nonneg=part.startswith("bend"))

    def _model_parts(self, values: Mapping[str, float]) -> dict[str, Any]:
        """Value, slopes and roots of the curvatures of the losses at the minimiser; two also over the ridge's root."""
        costs = self.costs(values)
        root = np.sqrt(values["ridge"])
        w, b = minimise_risk(self.gram.factor, self.y, costs, values["ridge"], self.loss)
        margins = self._margins(w, b)
        bend = np.sqrt(costs * self.loss.curvature(margins))
        slope = costs * self.loss.slope(margins)
        constant = float(costs @ self.loss.value(margins) - slope @ margins)
        parts = {"bend": bend, "target": bend * margins, "slope": slope, "constant": constant}
        return {**parts, "bend / root": bend / root, "slope / root": slope / root}
