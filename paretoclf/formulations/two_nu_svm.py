r"""The 2nu-SVM: bounds on the fractions of margin errors, in place of costs.

Samples :math:`x_i`, labels :math:`y_i=\pm1`; caps :math:`c_i=\gamma/n` for positive, :math:`(1-\gamma)/n` for negative
samples.

**Primal**

.. math::

   \min_{w,b,\rho,\xi}\ \tfrac12\|w\|^2-\nu\rho+\tfrac\gamma n\sum_{y_i=+1}\xi_i+\tfrac{1-\gamma}n\sum_{y_i=-1}\xi_i
   \quad\text{s.t.}\quad y_i(w\cdot x_i+b)\ge\rho-\xi_i\ \ [\alpha_i\ge0],\quad\xi_i\ge0\ \ [c_i-\alpha_i\ge0],\quad
   \rho\ge0\ \ [1^\top\alpha-\nu\ge0].

**Dual**, written as a minimisation, so that the primal value is minus it

.. math::

   \min_\alpha\ \tfrac12\alpha^\top Q\alpha
   \quad\text{s.t.}\quad y^\top\alpha=0\ \ [b],\quad0\le\alpha_i\le c_i\ \ [\xi_i],\quad1^\top\alpha\ge\nu\ \ [\rho].

:math:`w=\sum_i\alpha_iy_ix_i`, both values are :math:`-\frac12\|w\|^2`.

**Parameters.** ``nu`` and ``asymmetry`` (:math:`\gamma`), or with ``by="classes"`` ``nu_plus`` and ``nu_minus``:

.. math::

   \nu=\frac{2\nu_+\nu_-n_+n_-}{(\nu_+n_++\nu_-n_-)n},\quad\gamma=\frac{\nu_-n_-}{\nu_+n_++\nu_-n_-},\qquad
   \nu_+=\frac{\nu n}{2\gamma n_+},\quad\nu_-=\frac{\nu n}{2(1-\gamma)n_-} .

`solve` takes either pair, whichever the programs are in. :math:`\nu` and the caps are parameters of the programs
(following the given pair where they differ from it), each beside an expression without parameters: DPP.

**Feasible** iff :math:`\nu\le\nu_{\max}=\frac2n\min(\gamma n_+,(1-\gamma)n_-)`, that is :math:`\nu_\pm\le1`; above,
solvers call the primal optimal at huge negative values, so that is checked first. **Trivial** (:math:`w=0`, no
classifier) iff :math:`\nu\le\nu_*`, the value of a linear program, 0 for separable classes. In between, the solution is
that of the 2C-SVM at :math:`C=1/(\rho n)`, :math:`C_+=\gamma C`, :math:`C_-=(1-\gamma)C`, divided by :math:`Cn`.

**Not unique.** The slope is; intercept and margin are not where :math:`\nu_\pm n_\pm` is a whole number (the edges
:math:`\nu_\pm=1` included). Then the whole interval is reported, and its middle is used; of a half-line its finite end.

**Reference.** Davenport, Baraniuk & Scott, TPAMI 32 (2010), section 2: problems :math:`(P_{2\nu})`, :math:`(D_{2\nu})`,
Propositions 1-3, Theorems 1-3 (the :math:`\nu,\gamma` formula of our copy corrected: docs/research/errata.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError, SolveError
from paretoclf.common.tolerances import HULLS_MEET, NU_ROUNDING
from paretoclf.formulations.base import Range, SampleFormulation, within
from paretoclf.formulations.reduced_hulls import ReducedHulls, largest_total
from paretoclf.problem.classifiers import KernelRule, NoRule, Rule
from paretoclf.problem.costs import Costs
from paretoclf.problem.lines import LineOfNu
from paretoclf.problem.nu import caps_of, equivalent_costs, nu_max, to_asymmetry, to_classes
from paretoclf.problem.operator.signed import Signed
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.problem.samples import distinct
from paretoclf.proof.points.hulls import judge_hulls
from paretoclf.proof.points.meeting import largest_cancelling
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.verdicts.evidence import Evidence, Judged
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Form
from paretoclf.solve.models.statement import Statement
from paretoclf.solve.polish import polish

PAGE = Statement(
    title="The 2nu-SVM",
    data=(
        r"Samples $x_i$, labels $y_i=\pm1$, $\nu$ and asymmetry $\gamma\in(0,1)$; caps $c_i=\gamma/n$ for positive and "
        r"$(1-\gamma)/n$ for negative samples; $f(x)=w\cdot x+b$. Or $\nu_+,\nu_-\in(0,1]$, with "
        r"$\nu_+=\frac{\nu n}{2\gamma n_+}$, $\nu_-=\frac{\nu n}{2(1-\gamma)n_-}$."
    ),
    primal=r"""\min_{w,b,\rho,\xi}\ \tfrac12\|w\|^2-\nu\rho+\sum_ic_i\xi_i
\quad\text{s.t.}\quad y_if(x_i)\ge\rho-\xi_i\ [\alpha_i],\quad\xi_i\ge0\ [\mu_i],\quad\rho\ge0\ [\delta]""",
    lagrangian=r"""\tfrac12\|w\|^2-\nu\rho+\sum_ic_i\xi_i-\sum_i\alpha_i\big(y_i(w\cdot x_i+b)-\rho+\xi_i\big)
-\sum_i\mu_i\xi_i-\delta\rho""",
    dual=r"""\max_\alpha\ -\tfrac12\alpha^\top Q\alpha
\quad\text{s.t.}\quad y^\top\alpha=0,\quad0\le\alpha_i\le c_i,\quad1^\top\alpha\ge\nu,\qquad Q_{ij}=y_iy_jk(x_i,x_j)""",
    kkt={
        "margin": r"y_if(x_i)\ge\rho-\xi_i",
        "slack": r"\xi_i\ge0",
        "rho": r"\rho\ge0",
        "stationarity in w": r"w=\sum_i\alpha_iy_ix_i",
        "balance": r"\sum_iy_i\alpha_i=0",
        "margin: sign": r"\alpha_i\ge0",
        "slack: sign": r"\mu_i=c_i-\alpha_i\ge0",
        "rho: sign": r"\delta=1^\top\alpha-\nu\ge0",
        "margin: slackness": r"\alpha_i(y_if(x_i)-\rho+\xi_i)=0",
        "slack: slackness": r"(c_i-\alpha_i)\xi_i=0",
        "rho: slackness": r"\rho(1^\top\alpha-\nu)=0",
    },
    signs={
        r"\alpha_i": "nonnegative, at most $c_i$",
        r"\mu_i=c_i-\alpha_i": "nonnegative",
        r"\delta=1^\top\alpha-\nu": "nonnegative; 0 unless the solution is trivial",
    },
    recovery=(
        r"$w=\sum_i\alpha_iy_ix_i$; $b$ and $\rho$ are the multipliers of $y^\top\alpha=0$ and $1^\top\alpha\ge\nu$ in "
        r"the dual; $\rho-b$ is the positive score of rank $\nu_+n_+$ (rounded up), $-(\rho+b)$ likewise from above "
        r"among the negative ones."
    ),
    remarks=(
        r"Feasible iff $\nu\le\nu_{\max}=\frac2n\min(\gamma n_+,(1-\gamma)n_-)$, that is $\nu_\pm\le1$.",
        r"$\nu\le\nu_*$: $w=0$; $\nu_*<\nu$: the 2C-SVM at $C_+=\gamma/(\rho n)$, $C_-=(1-\gamma)/(\rho n)$, with "
        r"multipliers $\alpha/\rho$, slope $w/\rho$, intercept $b/\rho$.",
        r"$2\alpha/\nu$ are the weights of the nearest points of two reduced convex hulls with caps "
        r"$1/(\nu_\pm n_\pm)$; $\nu_\pm=1$: the class means.",
    ),
    reference="Davenport, Baraniuk & Scott (2010), section 2, Propositions 1-3, Theorems 1-3.",
)

BY_ASYMMETRY = MappingProxyType({"nu": Range(0, 1), "asymmetry": Range(0, 1, closed=False)})
BY_CLASSES = MappingProxyType({"nu_plus": Range(0, 1, open_low=True), "nu_minus": Range(0, 1, open_low=True)})


class TwoNuSVM(SampleFormulation):
    """The 2nu-SVM of one data set, in ``nu`` and ``asymmetry`` or in ``nu_plus`` and ``nu_minus``.

    Parameters
    ----------
    X, y, kernel
        As for `TwoCSVM`.
    by : {"asymmetry", "classes"}
        Which pair the CVXPY programs are in; `solve` takes either.

    References
    ----------
    Davenport, Baraniuk & Scott (2010), section 2.

    Examples
    --------
    >>> from paretoclf.formulations.two_nu_svm import TwoNuSVM
    >>> svm = TwoNuSVM([[2.0], [1.0], [0.0], [-1.0], [-3.0]], [1, 1, -1, -1, -1])
    >>> svm.to_classes(nu=0.4, asymmetry=0.5)
    (1.0, 0.66...)
    >>> solution = svm.solve(nu_plus=0.75, nu_minus=0.5)
    >>> solution.certificate.passes(), round(solution.costs.asymmetry, 9)
    (True, 0.5)
    """

    domain: Mapping[str, Range] = BY_ASYMMETRY
    default_form: Form = "dual"
    lines = LineOfNu
    free_origin = True
    page = PAGE

    def __init__(self, X: Any, y: Any, kernel: Any = None, *, by: str = "asymmetry") -> None:
        if by not in ("asymmetry", "classes"):
            raise InputError(f"by must be 'asymmetry' or 'classes', got {by!r}")
        super().__init__(X, y, kernel)
        self.by = by
        self.domain = dict(BY_ASYMMETRY if by == "asymmetry" else BY_CLASSES)
        self._nu_star: dict[float, tuple[float, Array]] = {}

    @cached_property
    def primal(self) -> cp.Problem:
        """The primal: variables w (in the feature space of the factor), b, rho and xi."""
        nu, plus, minus = self._coefficients
        w = cp.Variable(self.gram.factor.shape[1], name="w")
        b = cp.Variable(name="b")
        rho = cp.Variable(name="rho")
        xi = cp.Variable(self.n, name="xi")
        loss_plus = plus * cp.sum(xi[self.y > 0])
        loss_minus = minus * cp.sum(xi[self.y < 0])
        margin = self.signed @ w + self.y * b >= rho - xi
        slack = xi >= 0
        total = rho >= 0
        constraints = [margin.set_label("margin"), slack.set_label("slack"), total.set_label("total")]
        objective = cp.sum_squares(w) / 2 - nu * rho + loss_plus + loss_minus
        return cp.Problem(cp.Minimize(objective), constraints)

    @cached_property
    def dual(self) -> cp.Problem:
        """The dual: variable alpha. Written as a minimisation: its value is minus that of the primal."""
        nu, plus, minus = self._coefficients
        alpha = cp.Variable(self.n, name="alpha")
        balance = self.y @ alpha == 0
        lower = alpha >= 0
        upper = alpha <= plus * (self.y > 0) + minus * (self.y < 0)
        total = cp.sum(alpha) >= nu
        constraints = [
            balance.set_label("balance"),
            lower.set_label("lower"),
            upper.set_label("upper"),
            total.set_label("total"),
        ]
        objective = cp.sum_squares(self.signed.T @ alpha) / 2
        return cp.Problem(cp.Minimize(objective), constraints)

    @cached_property
    def _coefficients(self) -> tuple[cp.Parameter, cp.Parameter, cp.Parameter]:
        """``nu`` and the two caps, following the parameters."""
        given = dict(self.parameters)

        def follow(k: int, name: str) -> cp.Parameter:
            def value() -> float:
                return self._numbers({key: parameter.value for key, parameter in given.items()})[k]

            return cp.CallbackParam(callback=value, nonneg=True, name=name)

        nu = given["nu"] if self.by == "asymmetry" else follow(0, "nu")
        return nu, follow(1, "cap_plus"), follow(2, "cap_minus")

    def _numbers(self, values: Mapping[str, float]) -> tuple[float, float, float]:
        """``nu`` and the two caps."""
        nu, asymmetry = self._pair(values)
        return nu, asymmetry / self.n, (1 - asymmetry) / self.n

    def _pair(self, values: Mapping[str, float]) -> tuple[float, float]:
        """``nu`` and ``asymmetry``, from either pair."""
        if "nu" in values:
            return values["nu"], values["asymmetry"]
        return self.to_asymmetry(values["nu_plus"], values["nu_minus"])

    def to_classes(self, nu: float, asymmetry: float) -> tuple[float, float]:
        """Convert ``(nu, asymmetry)`` to ``(nu_plus, nu_minus)``."""
        return to_classes(nu, asymmetry, self.n_plus, self.n_minus)

    def to_asymmetry(self, nu_plus: float, nu_minus: float) -> tuple[float, float]:
        """Convert ``(nu_plus, nu_minus)`` to ``(nu, asymmetry)``."""
        return to_asymmetry(nu_plus, nu_minus, self.n_plus, self.n_minus)

    def nu_max(self, asymmetry: float) -> float:
        r"""Largest feasible ``nu`` (Proposition 2); also the limit :math:`\nu^*` of Theorem 3."""
        return nu_max(asymmetry, self.n_plus, self.n_minus)

    def nu_star(self, asymmetry: float) -> float:
        r"""Largest ``nu`` whose solution is trivial, :math:`\nu_*` of Theorem 3: the value of a linear program.

        For an RBF kernel it has a closed form, as only the same sample in both classes can cancel: 0 without such.

        Raises
        ------
        SolveError
            If a kernel matrix has no plain rank, so that it cannot be told which multipliers cancel exactly.
        """
        return self._largest_total(asymmetry)[0]

    def parameters_of(self, alpha: Array, costs: Costs) -> tuple[float, float]:
        """``(nu, asymmetry)`` whose solution is ``alpha / (C n)``, for optimal multipliers of a 2C-SVM (Theorem 1)."""
        return float(np.sum(alpha)) / (costs.total * self.n), costs.asymmetry

    @property
    def accepted(self) -> tuple[str, ...]:
        """Both pairs of parameters."""
        return (*BY_ASYMMETRY, *BY_CLASSES)

    def check_values(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Return the pair that the programs are in, from either.

        Raises
        ------
        InputError
            If a parameter is missing, unknown or out of its range, both pairs are mixed, or no point is feasible.
        """
        given = BY_CLASSES if set(values) & set(BY_CLASSES) else BY_ASYMMETRY
        mixed = [name for name in values if name in self.accepted and name not in given]
        if mixed:
            raise InputError(f"give nu and asymmetry, or nu_plus and nu_minus; got {', '.join(values)}")
        numbers = within(values, given)
        if set(given) == set(self.domain):
            pair = numbers
        elif given is BY_CLASSES:
            pair = dict(zip(BY_ASYMMETRY, self.to_asymmetry(**numbers), strict=True))
        elif numbers["nu"] == 0.0:
            raise InputError(
                "nu must be positive where the programs are in nu_plus and nu_minus: both would be 0 at any asymmetry"
            )
        else:
            pair = dict(zip(BY_CLASSES, self.to_classes(**numbers), strict=True))
        nu, asymmetry = self._pair(numbers)
        limit = self.nu_max(asymmetry)
        if nu > limit * (1 + NU_ROUNDING):
            raise InputError(
                f"nu must be at most {limit:.9g} at asymmetry {asymmetry:.6g}, got {nu:.9g}: "
                "above it no multipliers are feasible (nu_plus or nu_minus would exceed 1)"
            )
        if "nu" in pair:
            return {**pair, "nu": min(pair["nu"], limit)}
        return {name: min(value, 1.0) for name, value in pair.items()}

    def read(self, found: Mapping[Form, Mapping[str, Any]]) -> dict[str, Any]:
        """Read the multipliers, and w where the primal has it; intercept and margin are computed from the scores."""
        ((form, numbers),) = found.items()
        if form == "dual":
            return {"alpha": np.asarray(numbers["alpha"]), "w": None}
        w = self.gram.quadratic.own(numbers["w"])
        return {"alpha": np.asarray(numbers["margin"]), "w": w}

    def judge(self, values: Mapping[str, float], point: Any) -> Judged:
        """Certify a point, with numpy."""
        nu, plus, minus = self._numbers(values)
        caps = np.where(self.y > 0, plus, minus)
        problem = SoftMargin.of(self.gram, self.y, caps, nu=nu)
        return judge_hulls(problem, np.clip(point["alpha"], 0.0, caps), point["w"])

    def classifier(self, values: Mapping[str, float], numbers: Mapping[str, Any]) -> Rule:
        """Read the classifier from multipliers and thresholds."""
        best = numbers["thresholds"]
        interval = None if best.unique else best.b_interval
        return KernelRule(self.gram, self.y * numbers["alpha"], best.b, interval)

    def complete(self, values: Mapping[str, float], point: Any, *, polish: bool, **how: Any) -> Solution:
        """Certify the point; report a trivial solution, intervals, and the costs of the equivalent 2C-SVM."""
        solution = self.certified(values, point, **how)
        nu, asymmetry = self._pair(values)
        if self._hulls_may_meet(solution, nu) and self._is_trivial(nu, asymmetry):
            return self._trivial(values, how, nu, asymmetry)
        if polish and solution.numbers["rho"] > 0:
            solution = self.better(solution, values, self.refined(values, point, solution), **how)
        rho = solution.numbers["rho"]
        best = solution.numbers["thresholds"]
        notes: tuple[str, ...] = ()
        if not best.unique:
            low, high = best.b_interval
            least, most = best.rho_interval
            notes = (
                f"Not unique: every intercept in [{low:.6g}, {high:.6g}] is optimal, with rho in "
                f"[{least:.6g}, {most:.6g}]; the middle is used, or the finite end.",
            )
        return replace(solution, costs=equivalent_costs(asymmetry, rho, self.n), notes=notes)

    def hulls(self, nu_plus: float = 1.0, nu_minus: float = 1.0) -> ReducedHulls:
        r"""Nearest points of the two reduced convex hulls: class averages with weights of at most :math:`1/(\nu n)`.

        At ``nu_plus = nu_minus = 1`` the hulls are the class means, and the classifier is the nearest-mean rule.

        Parameters
        ----------
        nu_plus, nu_minus : float
            In (0, 1].

        Examples
        --------
        >>> from paretoclf.formulations.two_nu_svm import TwoNuSVM
        >>> hulls = TwoNuSVM([[2.0], [1.0], [0.0], [-1.0], [-3.0]], [1, 1, -1, -1, -1]).hulls()
        >>> round(float(hulls.point_plus[0]), 6), round(float(hulls.point_minus[0]), 6)
        (1.5, -1.333333)
        """
        solution = self.solve(nu_plus=nu_plus, nu_minus=nu_minus)
        nu, _ = self.to_asymmetry(nu_plus, nu_minus)
        weights = 2 * solution.alpha / nu
        return ReducedHulls(self.gram, self.y, float(nu_plus), float(nu_minus), weights, solution)

    def _hulls_may_meet(self, solution: Solution, nu: float) -> bool:
        """Whether the distance of the reduced hulls, ``2 |w| / nu``, is so small that it may be 0."""
        largest = float(np.max(self.gram.diagonal()))
        return 8 * max(0.0, -solution.dual_value) <= (HULLS_MEET * nu) ** 2 * largest

    def refined(self, values: Mapping[str, float], point: Any, solution: Solution) -> dict[str, Any]:
        """Return the vertex next to a solution."""
        nu, plus, minus = self._numbers(values)
        caps = np.where(self.y > 0, plus, minus)
        # A box problem whose rows are y . alpha = 0 and -1 . alpha <= -nu, constant along its line.
        rows = np.vstack([self.y, -np.ones(self.n)])
        sums = np.array([[0.0, -nu]] * 2)
        form = Signed(self.gram.quadratic, self.y)
        bounds = np.stack([caps, caps])
        problem = ParametricQP.box(form, np.zeros(self.n), rows, bounds, sums)
        numbers = solution.numbers
        found = polish(problem, numbers["alpha"], np.array([numbers["b"], numbers["rho"]]))
        return {"alpha": found.alpha, "w": None}

    def _trivial(self, values: Mapping[str, float], how: Mapping[str, Any], nu: float, asymmetry: float) -> Solution:
        """Solution without a classifier: multipliers whose slope is 0."""
        if nu == 0.0:
            alpha = np.zeros(self.n)
            why = "nu = 0"
        else:
            nu_star, multipliers = self._largest_total(asymmetry)
            alpha = multipliers * (nu / nu_star)
            why = f"nu = {nu:.6g} is at most nu_* = {nu_star:.6g}"
        judged = self.judge(values, {"alpha": alpha, "w": self.gram.quadratic.zeros()})
        reason = f"trivial: w = 0, since {why}, and there is no classifier"
        return Solution(
            classifier=NoRule(reason),
            evidence=Evidence(judged),
            source=how["source"],
            status=f"{how['status']}, {reason}",
            timing=dict(how["timing"]),
            values=dict(values),
            notes=(reason,),
        )

    def _is_trivial(self, nu: float, asymmetry: float) -> bool:
        """Whether nu is at most nu_star; False where that cannot be told."""
        try:
            return nu == 0.0 or nu <= self.nu_star(asymmetry) * (1 + NU_ROUNDING)
        except SolveError:
            return False

    def _largest_total(self, asymmetry: float) -> tuple[float, Array]:
        """Return nu_star and multipliers of this sum whose slope is 0; computed once for each asymmetry."""
        if asymmetry not in self._nu_star:
            caps = caps_of(asymmetry, self.y)
            if self.gram.strict:
                self._nu_star[asymmetry] = largest_cancelling(distinct(self.gram.X), self.y, caps)
            elif self.gram.coordinates() is None:
                raise SolveError(
                    "nu_star cannot be told: the kernel matrix has no plain rank, and of a slope that is nearly 0 "
                    "double precision cannot tell whether it is 0. Use a narrower kernel, or low_rank"
                )
            else:
                self._nu_star[asymmetry] = largest_total(self.gram.factor, self.y, caps)
        return self._nu_star[asymmetry]
