r"""Linear machines of other packages whose intercept is part of the norm: that of a constant feature, or none at all.

.. math::

   \min_{w,\xi}\ \tfrac12\|w\|^2+\sum_ic_i\xi_i^p\quad\text{s.t.}\quad y_iw\cdot x_i\ge1-\xi_i\ [\alpha_i],\ \xi_i\ge0,

p = 1 or 2, with :math:`c_i=s_iC_{y_i}`. The dual is :math:`\max_\alpha1^\top\alpha-\tfrac12\|\sum_i\alpha_iy_ix_i\|^2`
subject to :math:`0\le\alpha_i\le c_i` for p = 1, less :math:`\sum_i\alpha_i^2/(4c_i)` and without the caps for p = 2.
LIBLINEAR solves it (Hsieh, Chang, Lin, Keerthi & Sundararajan, ICML 2008).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Mask, check_weights
from paretoclf.formulations.base import POSITIVE, SampleFormulation
from paretoclf.problem.classifiers import LinearRule, Rule
from paretoclf.solve.models.lazily import cp


class ThroughTheOrigin(SampleFormulation):
    """A linear machine without a free intercept, in ``C_plus`` and ``C_minus``.

    Parameters
    ----------
    X, y, sample_weight
        As for `TwoCSVM`.
    squared : bool
        Whether slacks are squared.
    bias : float
        Value of a constant feature that is added; 0 for none.

    Examples
    --------
    >>> from paretoclf.checking.machines import ThroughTheOrigin
    >>> solution = ThroughTheOrigin([[1.0], [-1.0]], [1, -1], squared=False).solve(C_plus=1.0, C_minus=1.0)
    >>> round(float(solution.classifier.w[0]), 6), solution.certificate.passes()
    (1.0, True)
    """

    domain = MappingProxyType({"C_plus": POSITIVE, "C_minus": POSITIVE})

    def __init__(self, X: Any, y: Any, sample_weight: Any = None, *, squared: bool, bias: float = 0.0) -> None:
        super().__init__(X, y)
        self.sample_weight = check_weights(sample_weight, self.y)
        self.squared = squared
        self.bias = float(bias)

    @cached_property
    def primal(self) -> cp.Problem:
        """The primal: variables w (with the weight v of the constant feature behind it) and xi."""
        w = cp.Variable(self.X.shape[1], name="w")
        v = cp.Variable(name="v")
        xi = cp.Variable(self.n, name="xi")
        loss = cp.sum_squares if self.squared else cp.sum
        weights = np.sqrt(self.sample_weight) if self.squared else self.sample_weight

        def loss_of(side: Mask) -> Any:
            return loss(cp.multiply(weights[side], xi[side]))

        loss_plus = self.parameters["C_plus"] * loss_of(self.y > 0)
        loss_minus = self.parameters["C_minus"] * loss_of(self.y < 0)
        scores = self.signed @ w + self.bias * self.y * v
        margin = scores >= 1 - xi
        slack = xi >= 0
        squares = cp.sum_squares(w) + cp.square(v)
        objective = squares / 2 + (loss_plus + loss_minus)
        return cp.Problem(cp.Minimize(objective), [margin.set_label("margin"), slack.set_label("slack")])

    @cached_property
    def dual(self) -> cp.Problem:
        """The dual: variable alpha."""
        alpha = cp.Variable(self.n, name="alpha")
        slope_squares = cp.sum_squares(self.signed.T @ alpha)
        bias_square = self.bias**2 * cp.square(self.y @ alpha)
        objective = (slope_squares + bias_square) / 2 - cp.sum(alpha)
        lower = alpha >= 0
        sides = {"C_plus": self.y > 0, "C_minus": self.y < 0}
        if not self.squared:
            caps = sum(self.parameters[name] * (self.sample_weight * side) for name, side in sides.items())
            upper = alpha <= caps
            return cp.Problem(cp.Minimize(objective), [lower.set_label("lower"), upper.set_label("upper")])
        for name, side in sides.items():
            cost = self.parameters[name]
            inverse = cp.CallbackParam(callback=lambda cost=cost: 0.25 / cost.value, nonneg=True)
            scaled = alpha[side] / np.sqrt(self.sample_weight[side])
            objective = objective + inverse * cp.sum_squares(scaled)
        return cp.Problem(cp.Minimize(objective), [lower.set_label("lower")])

    def classifier(self, values: Mapping[str, float], numbers: Mapping[str, Any]) -> Rule:
        """Return the linear rule; its intercept is the weight of the constant feature times its value."""
        return LinearRule(numbers["w"], self.bias * float(numbers["v"]))

    def numbers(self, w: Array, b: float) -> dict[str, Any]:
        """Numbers of the primal's variables, from a slope and an intercept."""
        v = b / self.bias if self.bias else 0.0
        margins = self.y * (self.X @ w + b)
        return {"w": w, "v": v, "xi": np.maximum(0.0, 1.0 - margins)}
