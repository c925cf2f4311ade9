r"""Margins of two classes in any of three norms, under noise of a given size: :math:`(P_\theta)` beyond Euclid.

Distances are measured by a norm :math:`\|\cdot\|` on samples, l1, l2 or linf, and so slopes by its dual norm
:math:`\|w\|^\circ` (linf, l2 or l1). The margin of a class is its least distance from the hyperplane on the right side,
:math:`\rho_\pm=\min_{y_i=\pm1}y_if(x_i)/\|w\|^\circ`. :math:`(P_\theta)` maximises :math:`\min\{\rho_+,\theta\rho_-\}`;
with targets :math:`A_i=\frac{2\theta}{1+\theta}` on positive, :math:`\frac2{1+\theta}` on negative samples, slacks,
and every sample moved as badly as can be within a distance r:

**Primal**

.. math::

   \min_{w,b,s,\xi}\ s+\sum_iC_i\xi_i\quad\text{s.t.}\quad y_i(w\cdot x_i+b)-rs+\xi_i\ge A_i\ [\lambda_i],\quad
   \|w\|^\circ\le s,\quad\xi\ge0 .

**Dual**, written as a minimisation

.. math::

   \min_\lambda\ -\sum_iA_i\lambda_i\quad\text{s.t.}\quad\Big\|\sum_i\lambda_iy_ix_i\Big\|\le1+r\sum_i\lambda_i,\quad
   \sum_i\lambda_iy_i=0\ [b],\quad0\le\lambda_i\le C_i .

**Parameters.** ``theta`` > 0, ``radius`` r >= 0, ``C_plus``, ``C_minus`` > 0. Targets and caps follow them: DPP. In the
costs the path within eps moves right hand sides or the objective; the radius multiplies variables of constraints.

**Closed form in theta.** The targets sum to 2 whatever theta is: from the solution :math:`(w_1,b_1,s_1,\xi_1)` at
:math:`\theta=1` it is :math:`w_\theta=w_1`, :math:`\xi_\theta=\xi_1`, :math:`b_\theta=b_1+\frac{\theta-1}{\theta+1}`,
with the same multipliers and value, as in Corollary 6 for the Euclidean norm.

**References.** Carrizosa & Martin-Barragan (2006), problem :math:`(P_\theta)`, Corollary 6, for the Euclidean norm.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from paretoclf.common.checks import check_positive_number
from paretoclf.common.errors import InputError
from paretoclf.formulations.base import NONNEGATIVE, POSITIVE, Range, SampleFormulation
from paretoclf.solve.models.lazily import cp
from paretoclf.solve.models.statement import Statement

#: The norm of samples -> the order of the norm of slopes.
_ORDER: Mapping[str, Any] = MappingProxyType({"l1": "inf", "l2": 2, "linf": 1})
_DUAL_ORDER: Mapping[str, Any] = MappingProxyType({"l1": 1, "l2": 2, "linf": "inf"})

PAGE = Statement(
    title="Margins in a norm, under noise",
    data=(
        r"Samples $x_i$, labels $y_i=\pm1$, a norm $\|\cdot\|$ of samples (l1, l2, linf) and its dual norm "
        r"$\|\cdot\|^\circ$ of slopes. Parameters: ratio $\theta>0$ of the margins, radius $r\ge0$ of the noise, costs "
        r"$C_i=C_{y_i}>0$. $A_i=\frac{2\theta}{1+\theta}$ on positive, $\frac2{1+\theta}$ on negative samples."
    ),
    primal=(
        r"\min_{w,b,s,\xi}\ s+\sum_iC_i\xi_i\quad\text{s.t.}\quad y_i(w\cdot x_i+b)-rs+\xi_i\ge A_i\ [\lambda_i],\ "
        r"\|w\|^\circ\le s\ [p],\ \xi\ge0\ [\mu]"
    ),
    lagrangian=(
        r"s+\sum_iC_i\xi_i-\sum_i\lambda_i\big(y_i(w\cdot x_i+b)-rs+\xi_i-A_i\big)-(ps+v\cdot w)-\mu\cdot\xi,\qquad"
        r"\|v\|\le p"
    ),
    dual=(
        r"\max_\lambda\ \sum_iA_i\lambda_i\quad\text{s.t.}\quad\Big\|\sum_i\lambda_iy_ix_i\Big\|\le1+r\sum_i\lambda_i,"
        r"\ \sum_i\lambda_iy_i=0,\ 0\le\lambda_i\le C_i"
    ),
    kkt={
        "margin": r"y_i(w\cdot x_i+b)-rs+\xi_i\ge A_i",
        "norm": r"\|w\|^\circ\le s",
        "slack": r"\xi\ge0",
        "dual program: ball": r"\|\sum_i\lambda_iy_ix_i\|\le1+r\sum_i\lambda_i",
        "dual program: balance": r"\sum_i\lambda_iy_i=0",
        "dual program: lower": r"\lambda_i\ge0",
        "dual program: upper": r"\lambda_i\le C_i",
        "margin: sign": r"\lambda_i\ge0",
        "norm: sign": r"p\ge0",
        "slack: sign": r"\mu_i=C_i-\lambda_i\ge0",
        "margin: slackness": r"\lambda_i(y_i(w\cdot x_i+b)-rs+\xi_i-A_i)=0",
        "norm: slackness": r"p(s-\|w\|^\circ)=0,\ p=1+r\sum_i\lambda_i",
        "slack: slackness": r"\mu_i\xi_i=0",
    },
    signs={r"\lambda_i, \mu_i, p": "nonnegative"},
    recovery=r"$w$ and $b$ are those of the primal: the multipliers of the ball and of the balance in the dual.",
    remarks=(
        r"$w_\theta=w_1$, $b_\theta=b_1+\frac{\theta-1}{\theta+1}$, $\xi_\theta=\xi_1$, with the same value.",
        r"linf distances have the l1 norm of slopes: few features.",
        r"No cost large enough keeps $w$ away from 0 where $r$ is at least half the distance of the hulls: then $w=0$.",
    ),
    reference="Carrizosa & Martin-Barragan (2006), problem $(P_\\theta)$, Corollary 6, for the Euclidean norm.",
)


class MarginInNorm(SampleFormulation):
    """The margins of two classes in a norm, in ``theta``, ``radius``, ``C_plus`` and ``C_minus``.

    Parameters
    ----------
    X, y
        Samples and labels; the norm is one of their features.
    norm : {"l2", "l1", "linf"}
        Norm in which distances of samples are measured, margins and noise alike.

    References
    ----------
    Carrizosa & Martin-Barragan (2006).

    Examples
    --------
    >>> from paretoclf.formulations.margin_in_norm import MarginInNorm
    >>> margins = MarginInNorm([[1.0, 0.0], [-1.0, 0.0]], [1, -1], norm="linf")
    >>> solution = margins.solve(theta=3.0, radius=0.5, C_plus=5.0, C_minus=5.0)
    >>> solution.classifier.w.round(6).tolist(), round(float(solution.classifier.b), 6)
    ([2.0, 0.0], 0.5)
    """

    domain: Mapping[str, Range] = MappingProxyType(
        {"theta": POSITIVE, "radius": NONNEGATIVE, "C_plus": POSITIVE, "C_minus": POSITIVE}
    )
    page = PAGE

    def __init__(self, X: Any, y: Any, *, norm: str = "l2") -> None:
        super().__init__(X, y)
        if norm not in _ORDER:
            raise InputError(f"norm must be one of {', '.join(_ORDER)}, got {norm!r:.100}")
        self.norm = norm

    @cached_property
    def primal(self) -> cp.Problem:
        """The primal: variables w, b, s (the norm of the slope) and xi."""
        w = cp.Variable(self.X.shape[1], name="w")
        b = cp.Variable(name="b")
        s = cp.Variable(name="s")
        xi = cp.Variable(self.n, name="xi")
        scores = self.signed @ w + self.y * b
        margin = scores - self.parameters["radius"] * s + xi >= self._targets
        norm = cp.norm(w, _ORDER[self.norm]) <= s
        slack = xi >= 0
        constraints = [margin.set_label("margin"), norm.set_label("norm"), slack.set_label("slack")]
        return cp.Problem(cp.Minimize(s + self._costs @ xi), constraints)

    @cached_property
    def dual(self) -> cp.Problem:
        """The dual: variable alpha, the multipliers of the margins. Written as a minimisation."""
        alpha = cp.Variable(self.n, name="alpha")
        size = cp.norm(self.signed.T @ alpha, _DUAL_ORDER[self.norm])
        ball = size <= 1 + self.parameters["radius"] * cp.sum(alpha)
        balance = self.y @ alpha == 0
        lower = alpha >= 0
        upper = alpha <= self._costs
        constraints = [
            ball.set_label("ball"),
            balance.set_label("balance"),
            lower.set_label("lower"),
            upper.set_label("upper"),
        ]
        return cp.Problem(cp.Minimize(-(self._targets @ alpha)), constraints)

    @property
    def _targets(self) -> Any:
        """Target A of each sample, following theta."""
        theta = self.parameters["theta"]
        plus = cp.CallbackParam(callback=lambda: 2 * theta.value / (1 + theta.value), nonneg=True, name="A_plus")
        minus = cp.CallbackParam(callback=lambda: 2 / (1 + theta.value), nonneg=True, name="A_minus")
        return self._by_class(plus, minus)

    @property
    def _costs(self) -> Any:
        """Cost C of each sample."""
        return self._by_class(self.parameters["C_plus"], self.parameters["C_minus"])

    def _by_class(self, plus: Any, minus: Any) -> Any:
        """One number for every positive sample, another for every negative one."""
        positives = (self.y > 0).astype(float)
        negatives = (self.y < 0).astype(float)
        return plus * positives + minus * negatives

    @staticmethod
    def intercept(b: float, theta: float) -> float:
        """Return the intercept at theta, given that at theta = 1: nothing else of a solution changes.

        Examples
        --------
        >>> from paretoclf.formulations.margin_in_norm import MarginInNorm
        >>> MarginInNorm.intercept(0.25, theta=3.0)
        0.75
        """
        theta = check_positive_number(theta, "theta")
        return float(b) + (theta - 1.0) / (theta + 1.0)
