r"""The largest variance of the negatives at a bounded variance of the positives: not convex, and solved exactly.

Covariances :math:`\Sigma_\pm\succ0`, :math:`\delta=\mu_+-\mu_-\ne0`, bound :math:`\zeta\ge\zeta_{\min}`. This is the
inner problem of the outer segments of the trade-off curve, where one rate is below one half:

.. math::

   h(\zeta)^2=\max_a\ a^\top\Sigma_-a\quad\text{s.t.}\quad a^\top\Sigma_+a\le\zeta\ \ [\tau\ge0],\qquad
   a\cdot\delta=1\ \ [\mu].

**S-procedure.** It maximises a convex function, yet it has a tight dual with no gap: :math:`\tau\zeta+\mu` is an upper
bound whenever :math:`\tau\Sigma_+-\Sigma_-+\mu\delta\delta^\top\succeq0`, :math:`\tau\ge0`, and the best bound is
:math:`h(\zeta)^2`.

**Coordinates.** :math:`a=a_0+Bv` with :math:`a_0=\zeta_{\min}\Sigma_+^{-1}\delta`,
:math:`\zeta_{\min}=1/(\delta^\top\Sigma_+^{-1}\delta)` (the paper prints its reciprocal), :math:`\delta^\top B=0`,
:math:`B^\top\Sigma_+B=I` and :math:`B^\top\Sigma_-B=\mathrm{diag}(d)`; :math:`c=a_0^\top\Sigma_-a_0`,
:math:`h=B^\top\Sigma_-a_0`. Then :math:`a^\top\Sigma_+a=\zeta_{\min}+\|v\|^2` and
:math:`a^\top\Sigma_-a=c+2h\cdot v+\sum_jd_jv_j^2`.

**Primal**, convex since only the squares :math:`V_j=v_j^2` occur, relaxed to :math:`V_j\ge v_j^2`

.. math::

   -h(\zeta)^2=\min_{v,V}\ -\sum_jd_jV_j-2h\cdot v-c
   \quad\text{s.t.}\quad v_j^2\le V_j\ \ [\sigma_j\ge0],\qquad \sum_jV_j\le\zeta-\zeta_{\min}\ \ [\tau\ge0].

**Dual**, written as a minimisation: a linear matrix inequality whose matrix is an arrow

.. math::

   \min_{\tau,s}\ \tau(\zeta-\zeta_{\min})+s+c
   \quad\text{s.t.}\quad\begin{pmatrix}\tau I-\mathrm{diag}(d)&-h\\-h^\top&s\end{pmatrix}\succeq0\ \ [Z\succeq0].

**Why it is tight.** From any :math:`(v,V)` the point with entries :math:`\mathrm{sign}(h_j)\sqrt{V_j}` is feasible for
the problem itself, and no worse.

**Multipliers.** The multiplier of the bound is :math:`\tau`, and :math:`\sigma_j=\tau-d_j\ge0`. The multiplier of the
matrix inequality is :math:`Z=\begin{pmatrix}\cdot&v\\v^\top&1\end{pmatrix}` with :math:`V` on its diagonal.

**Recovery.** :math:`v` itself, extended to the length :math:`\zeta-\zeta_{\min}` along the direction of the largest
:math:`d_j`. It is too short exactly in the hard case: :math:`h` vanishes there, :math:`\tau=\max d`, two optima are
mirror images of each other, and the solver returns the middle of them (the lifted matrix has rank 2).
Refined by the secular equation :math:`\sum_jh_j^2/(\tau-d_j)^2=\zeta-\zeta_{\min}`. Where
:math:`\tau\Sigma_+-\Sigma_-\succeq0` the slope is Pareto optimal, with :math:`t=-1/\tau` in the family
:math:`(\Sigma_++t\Sigma_-)a=k\delta`, :math:`u_-=t\sqrt{a^\top\Sigma_-a}/k<0` and :math:`u_+=\sqrt{a^\top\Sigma_+a}/k`.

**Equal means.** At :math:`\delta=0` no :math:`a` is feasible, here and in problem (3) (`ParetoGaussian`). But (4) and
(5) have a solution, and `at_rate` returns it: :math:`u_+=-u_-\sqrt{\max_aa^\top\Sigma_-a/a^\top\Sigma_+a}`, at the
eigenvector of the largest eigenvalue :math:`\tau` of the pair :math:`(\Sigma_-,\Sigma_+)`; its mirror image is as good.

**Kernel.** As in section 6 of the paper: everything in the features of a factor of the kernel matrix, whose slopes are
combinations of the samples. With ridges :math:`r_\pm` the whole feature space has nothing better where
:math:`\tau r_+\ge r_-`; elsewhere a note says so.

**Parameter.** ``zeta``. In the primal it is a right-hand side, in the dual it multiplies one variable: both are DPP.

**How it is written.** With :math:`\zeta`, squared lengths and constants in units of :math:`\zeta_{\min}`, and both
objectives in units of :math:`\zeta_{\min}\max d` (``unit``): where the means are close to each other the numbers of the
problem are large, and a solver calls the primal unbounded.

**Why not the plain lift.** With a matrix variable :math:`A\succeq aa^\top` and :math:`A\delta=a` the vector
:math:`(\delta,-1)` is in the kernel of every feasible lifted matrix: there is no interior point, and solvers fail.

**References.** Kim et al. (2006), problems (19)-(22), appendix A.2. Boyd & Vandenberghe, Convex Optimization, appendix
B. Ben-Tal & Teboulle, Math. Programming 72 (1996), for the convex primal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from paretoclf.common.checks import Array, the_one_given
from paretoclf.common.errors import InputError
from paretoclf.distributions.gaussian.bounds import largest_distance
from paretoclf.distributions.gaussian.judges import classified, judge_largest_spread, judge_widest
from paretoclf.distributions.gaussian.span import coefficients
from paretoclf.distributions.gaussian.trust_region import TrustRegion, secular
from paretoclf.formulations.base import POSITIVE, Range
from paretoclf.formulations.on_moments import MomentFormulation, MomentSlope, with_coefficients
from paretoclf.proof.verdicts.evidence import Evidence, Judged, judge
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.model import Form
from paretoclf.solve.models.statement import Statement

#: Rates of the outer segments.
BELOW_HALF = Range(0, 0.5, closed=False)

PAGE = Statement(
    title="The S-procedure: the largest variance of one class at a bounded variance of the other",
    data=(
        "Covariances $\\Sigma_\\pm\\succ0$, $\\delta=\\mu_+-\\mu_-\\ne0$. Parameter `zeta`: "
        "$\\zeta\\ge\\zeta_{\\min}=1/(\\delta^\\top\\Sigma_+^{-1}\\delta)$. Not convex: "
        "$\\max a^\\top\\Sigma_-a$ s.t. $a^\\top\\Sigma_+a\\le\\zeta$, $a\\cdot\\delta=1$. In coordinates "
        "$a=a_0+Bv$ with $a_0=\\zeta_{\\min}\\Sigma_+^{-1}\\delta$, $\\delta^\\top B=0$, $B^\\top\\Sigma_+B=I$, "
        "$B^\\top\\Sigma_-B=\\mathrm{diag}(d)$; $c=a_0^\\top\\Sigma_-a_0$, $h=B^\\top\\Sigma_-a_0$:"
    ),
    primal=(
        r"\min_{v,V}\ -\sum_jd_jV_j-2h\cdot v-c\quad\text{s.t.}\quad v_j^2\le V_j\ [\sigma_j],\quad"
        r"\sum_jV_j\le\zeta-\zeta_{\min}\ [\tau]"
    ),
    lagrangian=r"-\sum_jd_jV_j-2h\cdot v-c+\sum_j\sigma_j(v_j^2-V_j)+\tau\Big(\sum_jV_j-\zeta+\zeta_{\min}\Big)",
    dual=(
        r"-\min_{\tau,s}\ \tau(\zeta-\zeta_{\min})+s+c\quad\text{s.t.}\quad"
        r"\begin{pmatrix}\tau I-\mathrm{diag}(d)&-h\\-h^\top&s\end{pmatrix}\succeq0\ [Z]"
    ),
    kkt={
        "normalisation": r"a\cdot\delta=1",
        "bound on the positives": r"a^\top\Sigma_+a\le\zeta",
        "bound on the positives: sign": r"\tau\ge0",
        "bound on the positives: slackness": r"\tau(\zeta-a^\top\Sigma_+a)=0",
        "stationarity": r"(\tau\Sigma_+-\Sigma_-)a=-\mu\delta,\ \mu=a^\top\Sigma_-a-\tau a^\top\Sigma_+a",
    },
    signs={"\\tau, \\sigma_j": "nonnegative", "\\mu": "free", "Z": "positive semidefinite"},
    recovery=(
        "$v$, and what is missing of the length along the direction of the largest $d_j$ (the hard case: both signs "
        "are optimal). Where $\\tau\\Sigma_+-\\Sigma_-\\succeq0$ the classifier is Pareto optimal: $t=-1/\\tau$, "
        "$k=a^\\top(\\Sigma_++t\\Sigma_-)a$, $u_-=t\\|R_-a\\|/k<0$, $u_+=\\|R_+a\\|/k$."
    ),
    remarks=(
        "$\\zeta=\\zeta_{\\min}$: only $a_0$ is feasible.",
        "One feature: only $a=1/\\delta$ is feasible.",
        "Equal means: no $a$ is feasible; `at_rate` has the solution of (4) and (5), the eigenvector of the largest "
        "eigenvalue of $(\\Sigma_-,\\Sigma_+)$.",
    ),
    reference="Kim et al. (2006), problems (19)-(22).",
)


class SProcedure(MomentFormulation):
    r"""The non-convex inner problem of the outer segments of the trade-off curve, through its tight convex form.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d), or array of shape (n, n) if kernel is "precomputed"
        Samples. `from_moments` takes moments instead.
    y : array of shape (n,)
        Labels -1 and +1, both present.
    kernel : optional
        As for `ParetoGaussian`; reg must then usually be positive.
    reg : float or pair of floats
        Ridges added to the diagonals of the two sample covariances.
    low_rank : int, float or sequence of int, optional
        Replace the kernel by features; see `paretoclf.problem.low_rank`.
    shrinkage : float, "ledoit-wolf", "oas", or a pair of them
        Shrinkage of the two sample covariances towards a sphere; see `Moments.from_samples`.

    References
    ----------
    Kim et al. (2006), problems (19)-(22).

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.formulations.s_procedure import SProcedure
    >>> hard = SProcedure.from_moments([1.0, 0.0], np.eye(2), [0.0, 0.0], np.diag([1.0, 4.0]))
    >>> hard.zeta_min
    1.0
    >>> solution = hard.solve(zeta=2.0)
    >>> np.round(solution.classifier.w, 9), round(-solution.value, 9), round(solution.numbers["tau"], 9)
    (array([1., 1.]), 5.0, 4.0)
    """

    domain = MappingProxyType({"zeta": POSITIVE})
    page = PAGE
    without_difference = None

    @cached_property
    def region(self) -> TrustRegion:
        """The problem in coordinates in which both covariances are diagonal."""
        self.moments.require_difference(
            ": no slope has a . (mu_plus - mu_minus) = 1, so no zeta has a solution. "
            "Problems (4) and (5) have one: at_rate"
        )
        return TrustRegion.of(self.moments)

    @property
    def zeta_min(self) -> float:
        r"""Smallest possible variance of the positives, :math:`1/(\delta^\top\Sigma_+^{-1}\delta)`."""
        return self.region.zeta_min

    @property
    def unit(self) -> float:
        """Unit of the objectives of the two programs: zeta_min times the largest d."""
        return self.zeta_min * float(self.region.curvature.max())

    @cached_property
    def primal(self) -> cp.Problem:
        """The convex primal: variables v and V, the objective in units of `unit` and lengths in units of zeta_min."""
        k = self._directions
        d, h, c = self._data()
        v = cp.Variable(k, name="v")
        V = cp.Variable(k, name="V")
        squares = cp.square(v) <= V
        bound = cp.sum(V) <= self.parameters["zeta"] / self.zeta_min - 1
        constraints = [squares.set_label("squares"), bound.set_label("bound on the positives")]
        objective = -(d @ V) - 2 * (h @ v) - c
        return cp.Problem(cp.Minimize(objective), constraints)

    @cached_property
    def dual(self) -> cp.Problem:
        """The dual: variables tau (in units of the largest d) and s (in units of `unit`)."""
        k = self._directions
        d, h, c = self._data()
        tau = cp.Variable(name="tau")
        s = cp.Variable((1, 1), name="s")
        block = tau * np.eye(k) - np.diag(d)
        side = -h[:, None]
        arrow = cp.bmat([[block, side], [side.T, s]]) >> 0
        bound = self.parameters["zeta"] / self.zeta_min - 1
        objective = tau * bound + cp.sum(s) + c
        return cp.Problem(cp.Minimize(objective), [arrow.set_label("arrow")])

    def _data(self) -> tuple[Array, Array, float]:
        """Return d, h and c, lengths in units of zeta_min and objectives in units of `unit`."""
        region = self.region
        d = region.curvature * self.zeta_min / self.unit
        h = region.linear * np.sqrt(self.zeta_min) / self.unit
        return d, h, region.constant / self.unit

    @property
    def _directions(self) -> int:
        """Number of directions orthogonal to the difference of the means; InputError if there is none."""
        if self.moments.d == 1:
            raise InputError("the programs need two features: with one, only the slope 1 / delta is feasible")
        return self.moments.d - 1

    def check_values(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Return zeta as a float; InputError if it is below zeta_min."""
        numbers = super().check_values(values)
        if numbers["zeta"] < self.zeta_min * (1 - 1e-12):
            raise InputError(
                f"zeta must be at least zeta_min = {self.zeta_min:.6g}, the smallest variance of the positives with "
                f"a . delta = 1, got {values['zeta']!r}"
            )
        return numbers

    def closed_form(self, values: Mapping[str, float]) -> MomentSlope | None:
        """Return the slope where only one is feasible: at zeta_min, and for one feature.

        There the best bound is approached as tau grows, and no multiplier attains it.
        """
        if self.moments.d > 1 and values["zeta"] > self.zeta_min * (1 + 1e-12):
            return None
        region = self.region
        if self.moments.d == 1:
            return MomentSlope(region.center, 0.0)
        largest = max(region.constant / region.zeta_min, float(region.curvature.max()))
        return MomentSlope(region.center, 1e16 * largest)

    def read(self, found: Mapping[Form, Mapping[str, Any]]) -> MomentSlope:
        """Read v and tau, from either program; extend v to the length of V along the top direction."""
        if "dual" in found:
            numbers = found["dual"]
            Z = np.asarray(numbers["arrow"])
            corner = Z[-1, -1]
            v = Z[:-1, -1] / corner
            squares = np.diagonal(Z)[:-1] / corner
            tau = numbers["tau"]
        else:
            numbers = found["primal"]
            v = numbers["v"]
            squares = numbers["V"]
            tau = numbers["bound on the positives"]
        region = self.region
        point = np.sqrt(self.zeta_min) * np.asarray(v)
        size = self.zeta_min * float(np.sum(squares))
        return MomentSlope(region.slope(extended(region, point, size)), float(tau) * self.unit / self.zeta_min)

    def judge(self, values: Mapping[str, float], point: MomentSlope) -> Judged:
        """Certify a slope and its tau."""
        return with_coefficients(judge_largest_spread(self.moments, point.a, point.tau or 0.0, values["zeta"]), point)

    def _implied(self, values: Mapping[str, float], point: MomentSlope) -> MomentSlope:
        """Return a slope with its coefficients, as these imply it; without a kernel the slope itself."""
        if self.gram is None or self.linear:
            return point
        a = point.a / float(point.a @ self.moments.delta)
        coef = self._coefficients(a, point.tau or 0.0)
        return MomentSlope(np.asarray(self.gram.factor.T @ coef), point.tau, coef)

    def _coefficients(self, a: Array, tau: float) -> Array:
        """Coefficients of the samples for a slope with ``(tau Sigma_plus - Sigma_minus) a = -mu delta``."""
        assert self.gram is not None
        assert self.y is not None
        plus, minus = self.moments.spread(a)
        of_plus, of_minus = self._estimates
        ridge, kept = (of_plus.ridge, of_minus.ridge), (of_plus.kept, of_minus.kept)
        return coefficients(self.gram, self.y, a, tau * plus**2 - minus**2, (tau, -1.0), ridge, kept)

    def _beyond_the_samples(self, tau: float) -> tuple[str, ...]:
        """Say where directions that no sample has would make the variance of the negatives larger still."""
        if self.linear:
            return ()
        of_plus, of_minus = self._estimates
        if tau * of_plus.ridge >= of_minus.ridge:
            return ()
        return (
            "Best in the span of the samples alone: with a ridge, directions that no sample has would have more "
            "variance of the negatives for that of the positives",
        )

    def refined(self, values: Mapping[str, float], point: MomentSlope, solution: Solution) -> MomentSlope:
        """Solve the secular equation."""
        best = secular(self.region, values["zeta"])
        return MomentSlope(self.region.slope(best.v), best.tau)

    def complete(self, values: Mapping[str, float], point: MomentSlope, *, polish: bool, **how: Any) -> Solution:
        """Certify the point; in the hard case say that it is not the only one."""
        solution = super().complete(values, point, polish=polish, **how)
        solution = replace(solution, notes=(*solution.notes, *self._beyond_the_samples(solution.numbers["tau"])))
        if not secular(self.region, values["zeta"]).hard:
            return solution
        where, others = "direction", "its mirror image there is"
        if np.count_nonzero(self.region.top) > 1:
            where, others = "directions", "every slope of this length there is"
        note = (
            f"Not unique (the hard case): of the part of the slope in the {where} of the largest ratio of the "
            f"variances {others} as good"
        )
        return replace(solution, notes=(*solution.notes, note))

    def at_rate(self, *, tnr: float | None = None, tpr: float | None = None, **options: Any) -> Solution:
        r"""Solve problem (4) or (5): the best rate of one class where that of the other is fixed below one half.

        The outer problem (19) is one equation in zeta, :math:`u_-(\zeta)=\Phi^{-1}(\mathrm{tnr})`; each of its
        evaluations is one program. The slope is that of the zeta found, not of zeta_min as the paper says. The
        certificate is against the dual of (4), `paretoclf.distributions.gaussian.bounds.largest_distance`. Equal means
        need no program: see above.

        Parameters
        ----------
        tnr, tpr : float
            Exactly one of the two: a true negative or true positive rate, strictly between 0 and 1/2.
        **options
            Passed to `solve`: form, accuracy, solver, ...

        Returns
        -------
        Solution
            Solution of the minimisation of minus the other distance.

        Raises
        ------
        InputError
            If not exactly one rate is given, or it is not below one half.

        Examples
        --------
        >>> import numpy as np
        >>> from paretoclf.formulations.s_procedure import SProcedure
        >>> pair = SProcedure.from_moments([1.0, 0.0], np.eye(2), [0.0, 0.0], np.eye(2) / 4)
        >>> solution = pair.at_rate(tnr=0.2)
        >>> round(pair.distances(solution).tnr, 9), solution.certificate.passes()
        (0.2, True)

        Equal means: the negatives are twice as wide along the first feature.

        >>> pair = SProcedure.from_moments([0.0, 0.0], np.eye(2), [0.0, 0.0], np.diag([4.0, 1.0]))
        >>> solution = pair.at_rate(tnr=0.2)
        >>> round(pair.distances(solution).tpr, 6), solution.notes
        (0.953836, ('its mirror image in the common mean is as good',))
        """
        name, rate = the_one_given(tnr=tnr, tpr=tpr)
        if not isinstance(rate, int | float | np.floating) or float(rate) not in BELOW_HALF:
            raise InputError(f"{name} must be {BELOW_HALF}, got {rate!r}")
        here = self if tpr is None else self._exchanged()
        solution = here._at_distance(float(ndtri(rate)), options)
        numbers = dict(solution.numbers)
        if tpr is not None:
            numbers |= {"w": -numbers["w"], "b": -numbers["b"], "t": 1 / numbers["t"]}
            numbers |= {"u_minus": numbers["u_plus"], "u_plus": numbers["u_minus"]}
            numbers |= {"coef": -numbers["coef"]} if "coef" in numbers else {}
        evidence = Evidence(replace(solution.evidence.judged, numbers=numbers))
        rule = self.classifier({}, numbers)
        return replace(solution, classifier=rule, evidence=evidence, values={name: float(rate)})

    def _exchanged(self) -> SProcedure:
        """Return the problem with the names of the classes exchanged."""
        other = SProcedure.__new__(SProcedure)
        other.gram, other.X, other.reg = self.gram, self.X, (self.reg[1], self.reg[0])
        other.y = None if self.y is None else -self.y
        other.moments = self.moments.swapped()
        if not self.linear:
            other._estimates = (self._estimates[1], self._estimates[0])
        return other

    def _at_distance(self, q: float, options: Mapping[str, Any]) -> Solution:
        """Best hyperplane at a negative distance q of the negatives' mean."""
        if self.moments.equal_means:
            judged = judge_widest(self.moments, q)
            if not self.linear:
                coef = self._coefficients(judged.numbers["w"], judged.numbers["tau"])
                judged = replace(judged, numbers={**judged.numbers, "coef": coef})
            rule = self.classifier({}, judged.numbers)
            notes = ("its mirror image in the common mean is as good",)
            return Solution(rule, Evidence(judged), source=self.direct, status=self.direct, notes=notes)

        solution, tau = self._inner_solution(q, options)
        slope = solution.numbers["w"]
        plus, minus = self.moments.spread(slope)
        u_plus = (1 - q * minus) / plus
        b = -float(slope @ self.moments.mu_minus) - q * minus
        bound = largest_distance(self.moments, tau, q)
        numbers = {**solution.numbers, **classified(self.moments, slope, b, -1 / tau), "tau": tau}
        stationarity = {"inner problem": solution.certificate.residual}
        scale = max(abs(u_plus), 1.0)
        judged = judge(-u_plus, -bound, [], numbers, stationarity=stationarity, scale=scale).revised(shortfall=0.0)
        return replace(solution, classifier=self.classifier({}, numbers), evidence=Evidence(judged))

    def _inner_solution(self, q: float, options: Mapping[str, Any]) -> tuple[Solution, float]:
        """Solution of the inner problem whose slope is best at a negative distance q, and its multiplier tau."""

        def at(log_growth: float) -> Solution:
            """Solution at zeta_min times 1 plus the exponential of a number."""
            return self.solve(zeta=self.zeta_min * (1 + float(np.exp(log_growth))), **options)

        def excess(log_growth: float) -> float:
            """Distance q over that of the solution, minus 1: where mu < 0, h / mu is u_minus.

            Beyond, no hyperplane of the curve has this slope.
            """
            solved = at(log_growth)
            h = float(np.sqrt(max(-solved.value, 0.0)))
            return float(solved.numbers["mu"]) * q / h - 1.0

        low, high = -6.0, 0.0
        while low > -24.0 and excess(low) < 0:
            low -= 6.0
        if self.moments.d == 1 or low <= -24.0:  # the slope of smallest variance is best
            solution = self.solve(zeta=self.zeta_min, **options)
            plus, minus = self.moments.spread(solution.numbers["w"])
            return solution, (minus - q * minus**2) / (-q * plus**2)
        while excess(high) > 0:
            high += 3.0
        solution = at(float(brentq(excess, low, high, xtol=1e-13, rtol=1e-13)))
        return solution, solution.numbers["tau"]


def extended(region: TrustRegion, v: Array, size: float) -> Array:
    """Point whose squared length is size: v, made longer along the first top direction, away from 0.

    Where v is an average of optima, as a solver returns it in the hard case, the result is one of them.
    """
    missing = size - float(v @ v)
    if missing <= 0:
        return v
    top = int(np.argmax(region.curvature))
    sign = -1.0 if region.linear[top] < 0 else 1.0
    longer = v.copy()
    longer[top] = sign * float(np.sqrt(v[top] ** 2 + missing))
    return longer
