r"""The minimax probability machine: the best guaranteed rate of correct classification, the same for both classes.

Only the mean :math:`\mu_\pm` and the covariance :math:`\Sigma_\pm=R_\pm^\top R_\pm\succ0` of each class are known. Over
all distributions with these moments the smallest probability of the right side of a hyperplane is
:math:`\Psi(u)=u^2/(1+u^2)`, :math:`u` the distance of the mean in standard deviations (Chebyshev). The machine
maximises the smaller of the two guarantees; at the optimum they are equal.

**Primal**

.. math::

   V^*=\min_{a,s_\pm}\ s_++s_-
   \quad\text{s.t.}\quad a\cdot\delta=1\ \ [z],\qquad \|R_+a\|\le s_+\ \ [h_+],\qquad \|R_-a\|\le s_-\ \ [h_-].

**Dual**, written as a minimisation

.. math::

   \min_{z,h_\pm}\ -z
   \quad\text{s.t.}\quad z\delta=R_+^\top h_++R_-^\top h_-\ \ [a],\qquad |h_+|\le1\ \ [s_+\ge0],\qquad
   |h_-|\le1\ \ [s_-\ge0].

In words: the ellipsoids of one common radius around the two means grow until they touch; that radius is
:math:`\kappa=1/V^*`, and the hyperplane is the tangent.

**Recovery.** :math:`u_+=u_-=\kappa=1/V^*`, the guarantee is :math:`\kappa^2/(1+\kappa^2)`, and
:math:`b=-a\cdot\mu_++\kappa\|R_+a\|`.

**Parameters.** None: it is one second-order cone program, that of `ParetoGaussian` at :math:`\lambda=1`.

**References.** Lanckriet, El Ghaoui, Bhattacharyya & Jordan, JMLR 3 (2002), theorem 2 and section 3 (kernels). Kim et
al. (2006), section 5.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from paretoclf.distributions.gaussian.moments import chebyshev
from paretoclf.formulations.on_moments import MomentSlope
from paretoclf.formulations.pareto_gaussian import PAGE, ParetoGaussian
from paretoclf.proof.verdicts.evidence import Judged

#: Conditions of `ParetoGaussian` at lambda = 1.
_KKT = {name: formula.replace(r"\lambda\ge0", r"1\ge0").replace(r"\lambda ", "") for name, formula in PAGE.kkt.items()}


class MinimaxProbabilityMachine(ParetoGaussian):
    r"""The classifier with the best rate that is guaranteed for both classes.

    Parameters
    ----------
    X, y, kernel, reg, shrinkage, low_rank
        Samples and how their moments are estimated; see `MomentFormulation`, and `from_moments` for known moments.

    References
    ----------
    Lanckriet et al. (2002).

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.formulations.minimax_probability import MinimaxProbabilityMachine
    >>> machine = MinimaxProbabilityMachine.from_moments([4.0], [[1.0]], [0.0], [[1.0]])
    >>> solution = machine.solve()
    >>> round(solution.numbers["guarantee"], 9), round(solution.classifier.b, 9)
    (0.8, -0.5)
    """

    domain = MappingProxyType({})
    page = replace(
        PAGE,
        title="The minimax probability machine",
        data=(
            "Means $\\mu_\\pm$ and covariances $\\Sigma_\\pm=R_\\pm^\\top R_\\pm\\succ0$ of otherwise unknown "
            "distributions; $\\delta=\\mu_+-\\mu_-\\ne0$. No parameters."
        ),
        primal=PAGE.primal.replace(r"(\lambda)", "").replace(r"\lambda", ""),
        lagrangian=PAGE.lagrangian.replace(r"\lambda", ""),
        dual=PAGE.dual.replace(r"\lambda", "1"),
        kkt=_KKT,
        signs={"z": "positive: it is the optimal value", "h_+, h_-": "vectors of length 1"},
        recovery=(
            "$\\kappa=1/V^*$, $w=a$, $b=-a\\cdot\\mu_++\\kappa\\|R_+a\\|$; each class is classified correctly with "
            "probability at least $\\kappa^2/(1+\\kappa^2)$, whatever its distribution."
        ),
        remarks=("It is problem (3) of Kim et al. (2006) at $\\lambda=1$.",),
        reference="Lanckriet, El Ghaoui, Bhattacharyya & Jordan (2002).",
    )

    @property
    def _weight(self) -> Any:
        """Weight of the negatives in the programs: 1."""
        return 1.0

    def lam(self, values: Mapping[str, float]) -> float:
        """Weight of the negatives: 1."""
        return 1.0

    def judge(self, values: Mapping[str, float], point: MomentSlope) -> Judged:
        """Certify a slope; ``guarantee`` among its numbers is the rate that both classes are sure of."""
        judged = super().judge(values, point)
        rate = min(chebyshev(judged.numbers["u_minus"]), chebyshev(judged.numbers["u_plus"]))
        return replace(judged, numbers={**judged.numbers, "guarantee": rate})
