r"""The biobjective margin problem: a margin for each class, and every compromise between the two.

Margins :math:`\rho_\pm=\min_{y_i=\pm1}y_if(x_i)/\|w\|` with :math:`f=w\cdot x+b`. Maximising
:math:`\min\{\rho_+,\theta\rho_-\}` for some :math:`\theta>0` is the problem :math:`(P_\theta)`, with
:math:`A=\frac{2\theta}{1+\theta}` and :math:`\bar y_i=1` on the positive, :math:`-\theta` on the negative samples.

**Primal**, hard and soft (squared slacks, free in sign, nonnegative at the optimum)

.. math::

   \min_{w,b}\ \|w\|^2\quad\text{s.t.}\quad\bar y_if(x_i)\ge A\ \ [\lambda_i\ge0],

   \min_{w,b,\xi}\ \|w\|^2+C_+\sum_{y_i=+1}\xi_i^2+C_-\sum_{y_i=-1}\xi_i^2
   \quad\text{s.t.}\quad\bar y_if(x_i)+|\bar y_i|\xi_i\ge A\ \ [\lambda_i\ge0].

**Dual**, written as a minimisation (the last term in the soft problem only)

.. math::

   \min_\lambda\ \tfrac14\Big\|\sum_i\lambda_i\bar y_ix_i\Big\|^2-A\sum_i\lambda_i
   +\tfrac14\sum_i\frac{(\bar y_i\lambda_i)^2}{C_i}
   \quad\text{s.t.}\quad\sum_i\lambda_i\bar y_i=0\ \ [b],\qquad\lambda\ge0 .

The objective is :math:`\|w\|^2`, not half of it: :math:`w=\frac12\sum_i\lambda_i\bar y_ix_i`, and
:math:`\xi_i=|\bar y_i|\lambda_i/(2C_i)`.

**Parameters.** ``theta`` > 0; in the soft problem also ``C_plus``, ``C_minus`` > 0. ``theta`` multiplies affine
expressions, :math:`A`, :math:`1/C_+` and :math:`\theta^2/C_-` follow: DPP.

**Closed form.** From the solution :math:`(w_1,b_1,\lambda_1)` at :math:`\theta=1`, the ordinary margin:
:math:`w_\theta=w_1`, :math:`\xi_\theta=\xi_1`, :math:`b_\theta=b_1+\frac{\theta-1}{\theta+1}`, and
:math:`\lambda_\theta=\lambda_1` on positive, :math:`\lambda_1/\theta` on negative samples. So the Pareto-optimal
classifiers are :math:`\mu(w_1,b)` with :math:`\mu>0`, :math:`|b-b_1|<1`: see `BiobjectiveMargin.pareto_set`, and
`paretoclf.path.svm.margin_path` for the same as an exact path, without a solver. This is Pareto optimality in training
margins, not in error rates.

**References.** Carrizosa & Martin-Barragan, European Journal of Operational Research (2006): problem
:math:`(P_\theta)`, Lemma 4, Theorem 5, Corollary 6 (hard); problems (26), (27), (31) and Theorem 7 (soft). Printed slip
in the proof of Corollary 6: see docs/research/errata.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, check_bool, check_positive_number
from paretoclf.common.errors import InputError, InseparableError, SolveError
from paretoclf.formulations.base import POSITIVE, Range, SampleFormulation, margins_read
from paretoclf.formulations.separation import Separation, separate
from paretoclf.problem.class_margins import ClassMargins, class_margins
from paretoclf.problem.classifiers import KernelRule, Rule
from paretoclf.problem.costs import Costs
from paretoclf.problem.gram import Gram
from paretoclf.problem.lines import LineOfTheta
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.problem.touching import by_the_nearest
from paretoclf.proof.points.margins import judge_margins
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.verdicts.evidence import Judged
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Form
from paretoclf.solve.models.statement import Statement
from paretoclf.solve.polish import polish

_DATA = (
    r"Samples $x_i$, labels $y_i=\pm1$, ratio $\theta>0$ of the two margins; $A=\frac{2\theta}{1+\theta}$, "
    r"$\bar y_i=1$ for positive and $-\theta$ for negative samples, $f=w\cdot x+b$."
)
_KKT = {
    "margin": r"\bar y_if(x_i)\ge A",
    "stationarity in w": r"2w=\sum_i\lambda_i\bar y_ix_i",
    "balance": r"\sum_i\lambda_i\bar y_i=0",
    "margin: sign": r"\lambda_i\ge0",
    "margin: slackness": r"\lambda_i(\bar y_if(x_i)-A)=0",
}
_SHIFT = (
    r"$w_\theta=w_1$, $b_\theta=b_1+\frac{\theta-1}{\theta+1}$; $\lambda_\theta=\lambda_1$ on positive and "
    r"$\lambda_1/\theta$ on negative samples."
)

HARD = Statement(
    title="The biobjective margin problem, separable classes",
    data=_DATA,
    primal=r"\min_{w,b}\ \|w\|^2\quad\text{s.t.}\quad\bar y_if(x_i)\ge A\ [\lambda_i]",
    lagrangian=r"\|w\|^2-\sum_i\lambda_i\big(\bar y_i(w\cdot x_i+b)-A\big)",
    dual=r"""\max_\lambda\ A\sum_i\lambda_i-\tfrac14\Big\|\sum_i\lambda_i\bar y_ix_i\Big\|^2
\quad\text{s.t.}\quad\sum_i\lambda_i\bar y_i=0,\quad\lambda\ge0""",
    kkt=_KKT,
    signs={r"\lambda_i": "nonnegative"},
    recovery=r"$w=\frac12\sum_i\lambda_i\bar y_ix_i$; $b$ is the multiplier of the equation in the dual.",
    remarks=(
        _SHIFT,
        r"$\rho_+=\frac{2\theta}{(1+\theta)\|w_1\|}$, $\rho_-=\frac2{(1+\theta)\|w_1\|}$: the ratio is $\theta$, the "
        r"sum $2/\|w_1\|$ the distance of the two convex hulls.",
        "Classes that no hyperplane separates: infeasible, and the dual is unbounded.",
    ),
    reference="Carrizosa & Martin-Barragan (2006), problem $(P_\\theta)$, Lemma 4, Theorem 5, Corollary 6.",
)

SOFT = Statement(
    title="The biobjective margin problem, squared slacks",
    data=_DATA + r" Weights $C_i=C_{y_i}>0$ of the squared slacks.",
    primal=r"""\min_{w,b,\xi}\ \|w\|^2+\sum_iC_i\xi_i^2
\quad\text{s.t.}\quad\bar y_if(x_i)+|\bar y_i|\xi_i\ge A\ [\lambda_i]""",
    lagrangian=r"\|w\|^2+\sum_iC_i\xi_i^2-\sum_i\lambda_i\big(\bar y_i(w\cdot x_i+b)+|\bar y_i|\xi_i-A\big)",
    dual=r"""\max_\lambda\ A\sum_i\lambda_i-\tfrac14\Big\|\sum_i\lambda_i\bar y_ix_i\Big\|^2
-\tfrac14\sum_i\frac{(\bar y_i\lambda_i)^2}{C_i}\quad\text{s.t.}\quad\sum_i\lambda_i\bar y_i=0,\quad\lambda\ge0""",
    kkt={
        **_KKT,
        "margin": r"\bar y_if(x_i)+|\bar y_i|\xi_i\ge A",
        "stationarity in xi": r"2C_i\xi_i=|\bar y_i|\lambda_i",
        "margin: slackness": r"\lambda_i(\bar y_if(x_i)+|\bar y_i|\xi_i-A)=0",
    },
    signs={r"\lambda_i": "nonnegative, so $\\xi_i\\ge0$"},
    recovery=HARD.recovery + r" $\xi_i=|\bar y_i|\lambda_i/(2C_i)$.",
    remarks=(
        _SHIFT + r" $\xi_\theta=\xi_1$.",
        r"The hard problem for the kernel $k+\mathrm{diag}(1/C)$: samples $(x_i,y_ie_i/\sqrt{C_i})$, slope "
        r"$(w,\sqrt{C_i}\xi_i)$.",
        r"$\partial P^*/\partial C_\pm=\sum_{y_i=\pm1}\xi_i^2$.",
    ),
    reference="Carrizosa & Martin-Barragan (2006), problems (26), (27), (31), Theorem 7.",
)


class BiobjectiveMargin(SampleFormulation):
    """The biobjective margin problem of one data set, hard in ``theta``, or soft in ``theta``, ``C_plus``, ``C_minus``.

    Parameters
    ----------
    X, y, kernel
        As for `TwoCSVM`.
    soft : bool
        Whether margins may be violated, at the cost of squared slacks.

    Raises
    ------
    InseparableError
        Raised by `solve` of the hard problem, where no hyperplane separates the classes; it holds a point in both
        hulls.

    References
    ----------
    Carrizosa & Martin-Barragan (2006).

    Examples
    --------
    >>> from paretoclf.formulations.biobjective_margin import BiobjectiveMargin
    >>> hard = BiobjectiveMargin([[1.0], [-1.0]], [1, -1], soft=False)
    >>> solution = hard.solve(theta=3.0)
    >>> round(float(solution.classifier.w[0]), 9), round(solution.classifier.b, 9)
    (1.0, 0.5)
    >>> hard.pareto_set().interval
    (-1.0..., 1.0...)
    """

    domain: Mapping[str, Range] = MappingProxyType({"theta": POSITIVE, "C_plus": POSITIVE, "C_minus": POSITIVE})
    default_form: Form = "dual"
    lines = LineOfTheta
    free_origin = True
    page = SOFT
    pages = (HARD, SOFT)

    def __init__(self, X: Any, y: Any, kernel: Any = None, *, soft: bool = True) -> None:
        super().__init__(X, y, kernel)
        self.soft = check_bool(soft, "soft")
        if not self.soft:
            self.domain = {"theta": POSITIVE}
            self.page = HARD

    @cached_property
    def primal(self) -> cp.Problem:
        """The primal: variables w (in the feature space of the factor), b, and xi in the soft problem."""
        A = self._target
        w = cp.Variable(self.gram.factor.shape[1], name="w")
        b = cp.Variable(name="b")
        reached = self.signed @ w + self.y * b
        objective = cp.sum_squares(w)
        if self.soft:
            xi = cp.Variable(self.n, name="xi")
            reached = reached + xi
            objective = self._with_squares(objective, self.parameters["C_plus"], self.parameters["C_minus"], xi)
        margin = cp.multiply(self._size, reached) >= A
        return cp.Problem(cp.Minimize(objective), [margin.set_label("margin")])

    @cached_property
    def dual(self) -> cp.Problem:
        """The dual: variable alpha. Written as a minimisation: its value is minus that of the primal."""
        alpha = cp.Variable(self.n, name="alpha")
        weighed = cp.multiply(self._size, alpha)
        quadratic = cp.sum_squares(self.signed.T @ weighed) / 4
        objective = quadratic - self._target * cp.sum(alpha)
        if self.soft:
            theta, C_plus, C_minus = (self.parameters[name] for name in ("theta", "C_plus", "C_minus"))
            plus = cp.CallbackParam(callback=lambda: 0.25 / C_plus.value, nonneg=True)
            minus = cp.CallbackParam(callback=lambda: 0.25 * theta.value**2 / C_minus.value, nonneg=True)
            objective = self._with_squares(objective, plus, minus, alpha)
        balance = self.y @ weighed == 0
        sign = alpha >= 0
        return cp.Problem(cp.Minimize(objective), [balance.set_label("balance"), sign.set_label("sign")])

    def _with_squares(self, objective: Any, plus: Any, minus: Any, entries: cp.Variable) -> Any:
        """Add the squares of the entries, those of each class times a weight of its own."""
        of_plus = plus * cp.sum_squares(entries[self.y > 0])
        of_minus = minus * cp.sum_squares(entries[self.y < 0])
        return objective + of_plus + of_minus

    @property
    def _target(self) -> cp.Parameter:
        """``A``, following theta."""
        theta = self.parameters["theta"]
        return cp.CallbackParam(callback=lambda: 2 * theta.value / (1 + theta.value), nonneg=True, name="A")

    @property
    def _size(self) -> Any:
        """``|y_theta|``: 1 for positive samples, theta for negative ones."""
        return (self.y > 0) + self.parameters["theta"] * (self.y < 0)

    @cached_property
    def separation(self) -> Separation:
        """Whether a hyperplane separates the classes (in the feature space of the kernel), with proof if not."""
        return separate(self.gram.factor, self.y)

    @property
    def nearest(self) -> Index | None:
        """The samples where the classes of a hard problem nearly touch; None where that is no help."""
        nearest = None if self.soft or not self.gram.quadratic.width else self.separation.nearest
        return None if nearest is None or nearest.size == self.n else nearest

    def check_values(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Return the parameters as floats; InseparableError where the hard problem has no feasible point."""
        numbers = super().check_values(values)
        if not self.soft and not self.separation.separable:
            weights = self.separation.weights
            weights_plus = np.where(self.y > 0, weights, 0.0)
            weights_minus = np.where(self.y < 0, weights, 0.0)
            distance = self.separation.distance
            raise InseparableError(
                "the classes cannot be separated: a point lies in both convex hulls, as the average of "
                f"{np.count_nonzero(weights_plus)} positive and of {np.count_nonzero(weights_minus)} "
                f"negative samples (weights in this error; the two averages differ by {distance:.1e}). "
                "The hard problem is infeasible; soft=True has a solution",
                weights_plus=weights_plus,
                weights_minus=weights_minus,
                distance=distance,
            )
        return numbers

    def closed_form(self, values: Mapping[str, float]) -> dict[str, Any] | None:
        """Return the point of a hard problem whose classes nearly touch: that of the few samples that decide."""
        nearest = self.nearest
        found = None if nearest is None else by_the_nearest(self.gram, self.y, nearest, _hard_margin)
        if found is None:
            return None
        half, b = found
        theta = values["theta"]
        size = np.where(self.y > 0, 1.0, theta)
        return {"alpha": 2.0 * half / size, "b": b + _shift(theta), "w": None}

    def read(self, found: Mapping[Form, Mapping[str, Any]]) -> dict[str, Any]:
        """Read multipliers, intercept, and w where the primal has it."""
        return margins_read(self.gram, found)

    def judge(self, values: Mapping[str, float], point: Any) -> Judged:
        """Certify a point, with numpy."""
        costs = np.where(self.y > 0, values["C_plus"], values["C_minus"]) if self.soft else None
        alpha = np.maximum(point["alpha"], 0.0)
        problem = SoftMargin.of(self.gram, self.y, squares=costs, lam=2.0)
        return judge_margins(problem, values["theta"], alpha, point["b"], point["w"])

    def classifier(self, values: Mapping[str, float], numbers: Mapping[str, Any]) -> Rule:
        """Read the classifier from multipliers and intercept."""
        size = np.where(self.y > 0, 1.0, values["theta"])
        coef = 0.5 * self.y * size * numbers["alpha"]
        return KernelRule(self.gram, coef, float(numbers["b"]))

    def refined(self, values: Mapping[str, float], point: Any, solution: Solution) -> dict[str, Any]:
        """Refine the multipliers on their active set."""
        # In units of half a multiplier, times |y_theta|: the problem of theta = 1, with other targets.
        theta = values["theta"]
        size = np.where(self.y > 0, 1.0, theta)
        costs = Costs(values["C_plus"], values["C_minus"]) if self.soft else None
        share = theta / (1 + theta)
        problem = LineOfTheta(self.gram, self.y, costs, (share, share)).problem
        start = 0.5 * size * solution.alpha
        half = polish(problem, start, np.array([solution.numbers["b"]])).alpha
        b = _intercept(problem, half)
        return {"alpha": 2 * half / size, "b": b, "w": None}

    def pareto_set(self, **costs: float) -> ParetoSet:
        """Solve at theta = 1 and describe all Pareto-optimal classifiers.

        Parameters
        ----------
        **costs
            ``C_plus`` and ``C_minus``, in the soft problem.
        """
        values: dict[str, Any] = {"theta": 1.0, **costs}
        solution = self.solve(**values)
        b = float(solution.numbers["b"])
        norm = float(np.sqrt(solution.value))
        slack_costs = Costs(**costs) if self.soft else None
        return ParetoSet(self.gram, self.y, solution.alpha, b, norm, slack_costs)


def _shift(theta: float) -> float:
    """Difference of the intercepts at theta and at 1 (Corollary 6)."""
    return (theta - 1.0) / (theta + 1.0)


def _hard_margin(Z: Array, y: Array) -> tuple[Array, float] | None:
    """Multipliers and intercept of the hard margin of a few samples; None where the solver does not get there."""
    try:
        solution = BiobjectiveMargin(Z, y, soft=False).solve(theta=1.0)
    except (SolveError, InseparableError):
        return None
    return (0.5 * solution.alpha, float(solution.numbers["b"])) if solution.certificate.holds() else None


def _intercept(problem: ParametricQP, half: Array) -> float:
    """Intercept at which the samples with a multiplier are on their margins: their average, weighed by multipliers."""
    y = problem.P.sign
    gradient = y * problem.P.quadratic.times(y * half) + problem.q[0]
    total = max(float(half.sum()), np.finfo(float).tiny)
    return float(-(half @ (y * gradient)) / total)


@dataclass(frozen=True)
class ParetoSet:
    """The classifiers whose two training margins cannot both be made larger.

    Attributes
    ----------
    gram, y
        Samples and labels.
    alpha : array of shape (n,)
        Multipliers at theta = 1.
    b_at_origin : float
        Intercept at theta = 1, of features as the Gram measures them; `b` unless they lie far from 0.
    norm : float
        Norm of w; in the soft problem that of (w, xi), the slacks weighed by their costs.
    slack_costs : Costs or None
        Costs of the squared slacks; None for the hard problem.

    References
    ----------
    Carrizosa & Martin-Barragan (2006), Theorem 5, Corollary 6, Theorem 7.
    """

    gram: Gram = field(repr=False)
    y: Array = field(repr=False)
    alpha: Array = field(repr=False)
    b_at_origin: float
    norm: float
    slack_costs: Costs | None

    @property
    def b(self) -> float:
        """Intercept at theta = 1."""
        return self.gram.intercept(self.b_at_origin, lambda: self.gram.quadratic.slope(self._coef))

    @property
    def _coef(self) -> Array:
        """Coefficients of the samples in the slope."""
        return np.asarray(0.5 * self.y * self.alpha)

    @property
    def interval(self) -> tuple[float, float]:
        """Intercepts of the Pareto-optimal classifiers with slope w: the inside of this interval."""
        return self.b - 1.0, self.b + 1.0

    def margins(self, theta: float) -> tuple[float, float]:
        """Margins of the positive and the negative class at one compromise; their ratio is theta."""
        theta = check_positive_number(theta, "theta")
        scale = (1 + theta) * self.norm
        return 2 * theta / scale, 2 / scale

    def intercept(self, theta: float) -> float:
        """Intercept at one compromise."""
        theta = check_positive_number(theta, "theta")
        return self.b + _shift(theta)

    def theta(self, b: float) -> float:
        """Return the compromise that the intercept b is optimal for; InputError outside of the interval."""
        low, high = self.interval
        if not low < b < high:
            raise InputError(f"b must be strictly between {low:g} and {high:g} to be Pareto-optimal, got {b!r}")
        return (1 + b - self.b) / (1 - b + self.b)

    def multipliers(self, theta: float) -> Array:
        """Multipliers at one compromise, shape (n,)."""
        return np.where(self.y > 0, self.alpha, self.alpha / check_positive_number(theta, "theta"))

    def classifier(self, theta: float) -> Rule:
        """Classifier at one compromise."""
        theta = check_positive_number(theta, "theta")
        return KernelRule(self.gram, self._coef, self.b_at_origin + _shift(theta))

    def hyperplane(self, w: Any, b: float, xi: Any = None) -> ClassMargins:
        """Judge any hyperplane by both margins, as `MarginPath.hyperplane` does."""
        return class_margins(self.gram, self.y, w, b, xi, self.slack_costs, 2.0 / self.norm)
