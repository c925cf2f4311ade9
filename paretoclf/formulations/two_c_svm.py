r"""The 2C-SVM: a support vector machine with one cost for each kind of error.

Samples :math:`x_i`, labels :math:`y_i=\pm1`, weights :math:`s_i\ge0`, costs :math:`C_\pm\ge0`, caps
:math:`c_i=s_iC_{y_i}`.

**Primal**

.. math::

   P^*(C_+,C_-)=\min_{w,b,\xi}\ \tfrac12\|w\|^2+C_+\sum_{y_i=+1}s_i\xi_i+C_-\sum_{y_i=-1}s_i\xi_i
   \quad\text{s.t.}\quad y_i(w\cdot x_i+b)\ge1-\xi_i\ \ [\alpha_i\ge0],\qquad \xi_i\ge0\ \ [\mu_i\ge0].

**Dual**, written as a minimisation (:math:`Q_{ij}=y_iy_jk(x_i,x_j)`), so that :math:`P^*=-\min`

.. math::

   \min_\alpha\ \tfrac12\alpha^\top Q\alpha-1^\top\alpha
   \quad\text{s.t.}\quad y^\top\alpha=0\ \ [b],\qquad \alpha_i\ge0\ \ [\lambda_i\ge0],\qquad
   \alpha_i\le c_i\ \ [\xi_i\ge0].

**Multipliers.** The multipliers of the margin constraints are :math:`\alpha`, those of :math:`\xi\ge0`
:math:`\mu_i=c_i-\alpha_i`. In the dual the multiplier of the balance is the intercept :math:`b` itself, with this sign
(a free number), those of the caps are the slacks :math:`\xi`, and :math:`y_if(x_i)-1=\lambda_i-\xi_i`.
The slope is :math:`w=\sum_i\alpha_iy_ix_i`.

**Parameters.** ``C_plus`` and ``C_minus``, two nonnegative scalars. In the primal each multiplies an affine expression
without parameters, in the dual both stand in the right-hand side of the caps: each model is DPP, and compiling it
again is never needed. A product of two parameters (total times asymmetry) would not be DPP, nor one parameter and its
complement: form :math:`C_+` and :math:`C_-` in numpy.

**How it is written.** The labels are folded into the samples and the slacks are explicit; the quadratic is a sum of
squares of a factor :math:`L`, :math:`LL^\top=K` (the samples themselves for the linear kernel, dense or sparse; the
features that ``low_rank`` makes of another kernel), unless the factor is no thinner than the kernel matrix. Sparse
samples stay sparse in both models; inside the solver the primal has d + n variables and the dual n + d.

**Special cases.** :math:`C_+=C_-` is the C-SVM. :math:`C_+=0` (or :math:`C_-=0`): :math:`\alpha=0`, :math:`w=0`, and
every :math:`b\le-1` (:math:`b\ge1`) is optimal; both 0: every :math:`b`. Small costs with
:math:`C_+n_+=C_-n_-`: every :math:`\alpha_i=c_i`, the centroid rule. A kernel scaled by :math:`s` at costs :math:`C` is
the kernel itself at costs :math:`sC`, with :math:`\alpha/s`.

**References.** Bach, Heckerman & Horvitz, JMLR 7 (2006), section 3, equation (3) (its sign corrected:
:math:`\alpha_i(1-\xi_i-y_if(x_i))=0`). Davenport, Baraniuk & Scott, TPAMI 32 (2010), problem :math:`(P_{2C})`, with
:math:`C_+=C\gamma`, :math:`C_-=C(1-\gamma)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, check_weights
from paretoclf.formulations.base import NONNEGATIVE, SampleFormulation, margins_read
from paretoclf.problem.classifiers import Classifier
from paretoclf.problem.costs import Costs, per_sample
from paretoclf.problem.lines import LineOfCosts
from paretoclf.proof.points.judged_classifiers import make_solution
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.solve.formulation import DEFAULT_SOLVER, solve_at
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Accuracy, Claim, Form, Point
from paretoclf.solve.models.statement import Statement
from paretoclf.solve.vertices import or_vertices

PAGE = Statement(
    title="The 2C-SVM",
    data=(
        r"Samples $x_i$, labels $y_i=\pm1$, weights $s_i\ge0$, costs $C_+$ of a false negative and $C_-$ of a false "
        r"positive; caps $c_i=s_iC_{y_i}$; $f(x)=w\cdot x+b$."
    ),
    primal=r"""\min_{w,b,\xi}\ \tfrac12\|w\|^2+\sum_ic_i\xi_i
\quad\text{s.t.}\quad y_if(x_i)\ge1-\xi_i\ [\alpha_i],\quad \xi_i\ge0\ [\mu_i]""",
    lagrangian=r"""\tfrac12\|w\|^2+\sum_ic_i\xi_i-\sum_i\alpha_i\big(y_i(w\cdot x_i+b)-1+\xi_i\big)
-\sum_i\mu_i\xi_i""",
    dual=r"""\max_\alpha\ 1^\top\alpha-\tfrac12\alpha^\top Q\alpha
\quad\text{s.t.}\quad y^\top\alpha=0,\quad0\le\alpha_i\le c_i,\qquad Q_{ij}=y_iy_jk(x_i,x_j)""",
    kkt={
        "margin": r"y_if(x_i)\ge1-\xi_i,\ \xi_i\ge0",
        "stationarity in w": r"w=\sum_i\alpha_iy_ix_i",
        "balance": r"\sum_iy_i\alpha_i=0",
        "box": r"\alpha_i\ge0,\ \mu_i=c_i-\alpha_i\ge0",
        "complementarity": r"\alpha_i(1-\xi_i-y_if(x_i))=0,\ (c_i-\alpha_i)\xi_i=0",
    },
    signs={r"\alpha_i": "nonnegative, at most $c_i$", r"\mu_i=c_i-\alpha_i": "nonnegative"},
    recovery=(
        r"$w=\sum_i\alpha_iy_ix_i$; $b$ is the multiplier of $y^\top\alpha=0$ in the dual, and "
        r"$b=y_i-w\cdot x_i$ for any $i$ with $0<\alpha_i<c_i$; where there is none, an interval (`b_interval`)."
    ),
    remarks=(
        r"$C_+=0$: $w=0$, every $b\le-1$ is optimal; $C_-=0$: every $b\ge1$.",
        r"$C_+n_+=C_-n_-$ and both small: $\alpha_i=c_i$, the centroid rule.",
        r"$\partial P^*/\partial C_\pm=\sum_{y_i=\pm1}s_i\xi_i$ where $b$ is unique.",
    ),
    reference="Bach, Heckerman & Horvitz (2006), section 3, equation (3) with its sign corrected.",
)


class TwoCSVM(SampleFormulation):
    r"""The 2C-SVM of one data set: primal, dual, and the way back to a classifier.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d), or array of shape (n, n) if kernel is "precomputed"
        Samples.
    y : array of shape (n,)
        Labels -1 and +1, both present.
    kernel : optional
        None (linear), ``"rbf"`` (`RBF.scale`), ``"precomputed"``, another scikit-learn kernel name, a callable
        ``f(X, Z)``, or a kernel object.
    sample_weight : array of shape (n,), optional
        Nonnegative factors :math:`s_i` of the cost of each sample, some positive in each class; by default 1. A sample
        of weight 0 counts nothing: the classifier is that of the others.
    low_rank : int, float or sequence of int, optional
        Solve for an approximated kernel, without its n x n matrix: the largest rank, or the share of the trace that may
        be left out, or the samples to take as pivots; see `paretoclf.problem.low_rank`. Not for the linear kernel.

    Attributes
    ----------
    X, y, kernel, sample_weight
        Copies of what was given, checked; a sparse X as a canonical ``scipy.sparse.csr_array``.
    gram : Gram
        The kernel values.
    n_plus, n_minus : int
        Class sizes.

    Raises
    ------
    InputError
        If an argument is not what it must be; the message names it.

    References
    ----------
    Bach, Heckerman & Horvitz (2006), section 3.

    Examples
    --------
    >>> from paretoclf.formulations.two_c_svm import TwoCSVM
    >>> svm = TwoCSVM([[2.0], [1.0], [0.0], [-1.0], [-3.0]], [1, 1, -1, -1, -1])
    >>> solution = svm.solve(C_plus=0.5, C_minus=1 / 3)
    >>> round(float(solution.classifier.w[0]), 9), round(solution.classifier.b, 9)
    (0.666666667, -0.333333333)
    >>> solution.certificate.passes(1e-12)
    True
    """

    domain = MappingProxyType({"C_plus": NONNEGATIVE, "C_minus": NONNEGATIVE})
    default_form: Form = "dual"
    lines = LineOfCosts
    free_origin = True
    page = PAGE

    def __init__(self, X: Any, y: Any, kernel: Any = None, sample_weight: Any = None, *, low_rank: Any = None) -> None:
        super().__init__(X, y, kernel, low_rank=low_rank)
        self.sample_weight: Array = check_weights(sample_weight, self.y)

    @cached_property
    def primal(self) -> cp.Problem:
        """The primal: variables w (in the feature space of the factor), b and xi."""
        w = cp.Variable(self.gram.factor.shape[1], name="w")
        b = cp.Variable(name="b")
        xi = cp.Variable(self.n, name="xi")
        positives, negatives = self._weights()
        loss_plus = self.parameters["C_plus"] * (positives @ xi)
        loss_minus = self.parameters["C_minus"] * (negatives @ xi)
        margin = self.signed @ w + self.y * b >= 1 - xi
        slack = xi >= 0
        objective = 0.5 * cp.sum_squares(w) + loss_plus + loss_minus
        return cp.Problem(cp.Minimize(objective), [margin.set_label("margin"), slack.set_label("slack")])

    @cached_property
    def dual(self) -> cp.Problem:
        """The dual: variable alpha. Written as a minimisation: its value is minus that of the primal."""
        y, gram = self.y, self.gram
        alpha = cp.Variable(self.n, name="alpha")
        positives, negatives = self._weights()
        if gram.by_factor:
            quadratic = cp.sum_squares(self.signed.T @ alpha)
        else:
            quadratic = cp.quad_form(alpha, cp.psd_wrap(y[:, None] * gram.matrix * y))
        balance = y @ alpha == 0
        lower = alpha >= 0
        upper = alpha <= positives * self.parameters["C_plus"] + negatives * self.parameters["C_minus"]
        constraints = [balance.set_label("balance"), lower.set_label("lower"), upper.set_label("upper")]
        return cp.Problem(cp.Minimize(0.5 * quadratic - cp.sum(alpha)), constraints)

    def caps(self, C_plus: float, C_minus: float) -> Array:
        """Upper bound of each multiplier, ``sample_weight_i * C_{y_i}``, shape (n,)."""
        return self.sample_weight * per_sample(Costs(C_plus, C_minus), self.y)

    def solve(  # type: ignore[override]  # the base takes any parameters
        self,
        C_plus: float,
        C_minus: float,
        form: Form = "dual",
        *,
        accuracy: Accuracy = "reference",
        polish: bool = True,
        solver: str = DEFAULT_SOLVER,
        **solver_options: Any,
    ) -> Solution:
        """Solve at one pair of costs and certify the answer.

        Parameters
        ----------
        C_plus, C_minus : float
            Costs, nonnegative. Where one is 0 the solution is known and no solver runs.
        form : {"dual", "primal"}
            Which problem the solver sees.
        accuracy : {"reference", "fast"}
            Clarabel's tolerance, 1e-12 or 1e-8.
        polish : bool
            Whether to refine the answer on its active set; kept only where its certificate is the better one.
        solver : str
            An installed CVXPY solver.
        **solver_options
            Passed to ``cvxpy.Problem.solve``.

        Raises
        ------
        InputError
            If an argument is not what it must be.
        SolveError
            If the solver returns no point.
        """
        return solve_at(
            self,
            {"C_plus": C_plus, "C_minus": C_minus},
            form=form,
            accuracy=accuracy,
            polish=polish,
            solver=solver,
            options=solver_options,
        )

    def closed_form(self, values: Mapping[str, float]) -> Point | None:
        """Return the solution where a cost is 0: all multipliers 0, b at the finite end of its half-line."""
        return Point(np.zeros(self.n), None) if min(values.values()) == 0 else None

    def needs(self, form: Form) -> tuple[Form, ...]:
        """One form is enough: the certificate needs no other."""
        return (form,)

    def read(self, found: Mapping[Form, Mapping[str, Any]]) -> Point:
        """Read multipliers and intercept: variable and multiplier of the balance (dual), or the reverse (primal)."""
        return Point(**margins_read(self.gram, found))

    def complete(self, values: Mapping[str, float], point: Point, **how: Any) -> Solution:
        """Certify the point, and polish it on request."""
        return self._completed([Claim(values, point, **how)])[0]

    def complete_many(self, claims: Iterable[Claim]) -> list[Solution]:
        """Certify the points, and polish those that ask for it: after the last was solved, all certificates at once."""
        if type(self).complete is not TwoCSVM.complete:  # a subclass says how, point by point
            return super().complete_many(claims)
        return self._completed(list(claims))

    def _completed(self, claims: list[Claim]) -> list[Solution]:
        """Solutions of the claims, polished together where that is asked for."""
        solutions = [self._claimed(claim) for claim in claims]
        asked = [k for k, claim in enumerate(claims) if claim.polish and claim.point.b is not None]
        for k, better in zip(asked, or_vertices([solutions[k] for k in asked]), strict=True):
            solutions[k] = better
        return solutions

    def _claimed(self, claim: Claim) -> Solution:
        """Solution of a claim, its multipliers clipped to their box."""
        costs = Costs(**claim.values)
        point = claim.point
        caps = self.sample_weight * per_sample(costs, self.y)
        alpha = np.clip(point.alpha, 0.0, caps)
        if point.b is None:
            classifier = Classifier.best(self.gram, self.y, caps, alpha, point.w)
        else:
            classifier = Classifier(self.gram, self.y, caps, alpha, float(point.b), point.w)
        return make_solution(classifier, costs, source=claim.source, status=claim.status, timing=claim.timing)

    def _weights(self) -> tuple[Array, Array]:
        """Weights of each class, 0 in the other."""
        return self.sample_weight * (self.y > 0), self.sample_weight * (self.y < 0)

    def __repr__(self) -> str:
        n, width = self.X.shape
        features = "" if width == n and type(self.kernel).__name__ == "Precomputed" else f", {width} features"
        weighted = "" if np.all(self.sample_weight == 1) else ", weighted"
        approximated = "" if self.gram.approximation is None else f", approximated: {self.gram.approximation}"
        return (
            f"TwoCSVM({n} samples ({self.n_plus} positive, {self.n_minus} negative){features}, {self.kernel}{weighted}"
            f"{approximated})"
        )
