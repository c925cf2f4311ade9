r"""Pareto-optimal linear classification of two Gaussian classes, as a quadratic program with one equation.

Means :math:`\mu_\pm`, covariances :math:`\Sigma_\pm=R_\pm^\top R_\pm\succ0`, :math:`\delta=\mu_+-\mu_-\ne0`, weight
:math:`t\ge0`. Its classifiers are those of :mod:`paretoclf.formulations.pareto_gaussian`, with variances in place of
standard deviations: the problem for :math:`t` has the slope of the problem for :math:`\lambda=t\,\|R_-a\|/\|R_+a\|`.

**Primal**

.. math::

   \frac1{D(t)}=\min_a\ \|R_+a\|^2+t\|R_-a\|^2\quad\text{s.t.}\quad a\cdot\delta=1\ \ [2\nu].

**Dual**, written as a minimisation

.. math::

   \min_{\nu,h_\pm}\ |h_+|^2+t|h_-|^2-2\nu\quad\text{s.t.}\quad \nu\delta=R_+^\top h_++tR_-^\top h_-\ \ [2a].

**Multipliers.** The multiplier of the normalisation is :math:`2\nu`, twice the optimal value; :math:`h_\pm=R_\pm a`. In
the dual the multiplier of the balance is :math:`2a`, with this sign.

**Closed form.** :math:`a=M^{-1}\delta/D(t)` with :math:`M=\Sigma_++t\Sigma_-` and :math:`D(t)=\delta^\top
M^{-1}\delta`.

**Recovery.** :math:`u_+=\|R_+a\|/\nu`, :math:`u_-=t\|R_-a\|/\nu`, :math:`b=-a\cdot\mu_++u_+\|R_+a\|`. :math:`t=0` is
the end of the segment at which the mean of the negatives lies on the hyperplane.

**Parameter.** ``t``, nonnegative. It multiplies squares and, in the dual, an affine expression of the equation: both
programs are DPP, but their matrices move with it, so that a sweep compiles once and sets the solver up at each value.

**References.** Anderson & Bahadur (1962); Kim et al. (2006), problem (3).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType

from paretoclf.common.checks import Array
from paretoclf.distributions.gaussian.judges import judge_squared_sum
from paretoclf.formulations.base import NONNEGATIVE
from paretoclf.formulations.on_moments import MomentFormulation, MomentSlope, with_coefficients
from paretoclf.proof.verdicts.evidence import Judged
from paretoclf.proof.verdicts.solution import Solution
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.statement import Statement

PAGE = Statement(
    title="Pareto-optimal classification of two Gaussian classes, as a quadratic program",
    data=(
        "Means $\\mu_\\pm$, covariances $\\Sigma_\\pm=R_\\pm^\\top R_\\pm\\succ0$, $\\delta=\\mu_+-\\mu_-\\ne0$. "
        "Parameter `t`: $t\\ge0$, the weight of the negatives' variance."
    ),
    primal=r"\min_a\ \|R_+a\|^2+t\|R_-a\|^2\quad\text{s.t.}\quad a\cdot\delta=1\ [2\nu]",
    lagrangian=r"\|R_+a\|^2+t\|R_-a\|^2+2\nu(1-a\cdot\delta)",
    dual=r"-\min_{\nu,h_\pm}\ |h_+|^2+t|h_-|^2-2\nu\quad\text{s.t.}\quad \nu\delta=R_+^\top h_++tR_-^\top h_-\ [2a]",
    kkt={
        "normalisation": r"a\cdot\delta=1",
        "stationarity": r"\nu\delta=R_+^\top h_++tR_-^\top h_-,\ h_\pm=R_\pm a",
    },
    signs={"\\nu": "positive: it is the optimal value"},
    recovery=(
        "$w=a$, $u_+=\\|R_+a\\|/\\nu$, $u_-=t\\|R_-a\\|/\\nu$, $b=-a\\cdot\\mu_++u_+\\|R_+a\\|$. "
        "The slope solves problem (3) of the paper for $\\lambda=t\\|R_-a\\|/\\|R_+a\\|$."
    ),
    remarks=("$t=0$: the mean of the negatives lies on the hyperplane.",),
    reference="Kim et al. (2006), problem (3); Anderson & Bahadur (1962).",
)


class ParetoGaussianQP(MomentFormulation):
    r"""Pareto-optimal classifiers of two Gaussian classes, by weighting their variances.

    Parameters
    ----------
    X, y, kernel, reg, shrinkage, low_rank
        Samples and how their moments are estimated; see `MomentFormulation`, and `from_moments` for known moments.

    References
    ----------
    Anderson & Bahadur (1962).

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.formulations.pareto_gaussian_qp import ParetoGaussianQP
    >>> pair = ParetoGaussianQP.from_moments([2.0, 0.0], np.eye(2), [0.0, 0.0], np.diag([4.0, 1.0]))
    >>> solution = pair.solve(t=0.25)
    >>> found = pair.distances(solution)
    >>> round(found.u_minus, 9), round(found.u_plus, 9)
    (0.5, 1.0)
    """

    domain = MappingProxyType({"t": NONNEGATIVE})
    page = PAGE

    @cached_property
    def primal(self) -> cp.Problem:
        """The primal: variable z (whitened slope)."""
        white = self.moments.white
        z = cp.Variable(self.moments.d, name="z")
        normalisation = 1 - white.direction @ z == 0
        variance_plus = cp.sum_squares(cp.multiply(white.plus, z))
        variance_minus = cp.sum_squares(cp.multiply(white.minus, z))
        value = variance_plus + self.parameters["t"] * variance_minus
        return cp.Problem(cp.Minimize(value / white.length**2), [normalisation.set_label("normalisation")])

    @cached_property
    def dual(self) -> cp.Problem:
        """The dual: variables nu (of the statement, times the squared length), h_plus and h_minus."""
        white = self.moments.white
        t = self.parameters["t"]
        nu = cp.Variable(name="nu")
        h_plus = cp.Variable(self.moments.d, name="h_plus")
        h_minus = cp.Variable(self.moments.d, name="h_minus")
        of_plus = cp.multiply(white.plus, h_plus)
        of_minus = t * cp.multiply(white.minus, h_minus)
        balance = nu * white.direction - of_plus - of_minus == 0
        value = cp.sum_squares(h_plus) + t * cp.sum_squares(h_minus) - 2 * nu
        return cp.Problem(cp.Minimize(value / white.length**2), [balance.set_label("balance")])

    def judge(self, values: Mapping[str, float], point: MomentSlope) -> Judged:
        """Certify a slope."""
        return with_coefficients(judge_squared_sum(self.moments, point.a, values["t"]), point)

    def ratio(self, values: Mapping[str, float], a: Array) -> float:
        """Return t."""
        return values["t"]

    def refined(self, values: Mapping[str, float], point: MomentSlope, solution: Solution) -> MomentSlope:
        """Return the closed form."""
        return self.slope_of(self.family.of_ratio(values["t"]))
