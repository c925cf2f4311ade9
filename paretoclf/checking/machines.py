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

from paretoclf.common.checks import Array, check_weights
from paretoclf.formulations.base import POSITIVE, SampleFormulation
from paretoclf.problem.classifiers import LinearRule, Rule
from paretoclf.solve.lazily import cp


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
        self.squared, self.bias = squared, float(bias)

    @cached_property
    def primal(self) -> cp.Problem:
        """The primal: variables w (with the weight v of the constant feature behind it) and xi."""
        w, v, xi = cp.Variable(self.X.shape[1], name="w"), cp.Variable(name="v"), cp.Variable(self.n, name="xi")
        cost = cp.sum_squares if self.squared else cp.sum
        roots = np.sqrt(self.sample_weight) if self.squared else self.sample_weight
        plus, minus = (cost(cp.multiply(roots[side], xi[side])) for side in (self.y > 0, self.y < 0))
        loss = self.parameters["C_plus"] * plus + self.parameters["C_minus"] * minus
        margin = (self.signed @ w + self.bias * self.y * v >= 1 - xi).set_label("margin")
        slack = (xi >= 0).set_label("slack")
        return cp.Problem(cp.Minimize((cp.sum_squares(w) + cp.square(v)) / 2 + loss), [margin, slack])

    @cached_property
    def dual(self) -> cp.Problem:
        """The dual: variable alpha."""
        alpha, p = cp.Variable(self.n, name="alpha"), self.parameters
        quadratic = cp.sum_squares(self.signed.T @ alpha) + self.bias**2 * cp.square(self.y @ alpha)
        objective, sides = quadratic / 2 - cp.sum(alpha), {"C_plus": self.y > 0, "C_minus": self.y < 0}
        constraints = [(alpha >= 0).set_label("lower")]
        if not self.squared:
            caps = sum(p[name] * (self.sample_weight * side) for name, side in sides.items())
            return cp.Problem(cp.Minimize(objective), [*constraints, (alpha <= caps).set_label("upper")])
        for name, side in sides.items():
            bend = cp.CallbackParam(callback=lambda cost=p[name]: 0.25 / cost.value, nonneg=True)
            objective = objective + bend * cp.sum_squares(alpha[side] / np.sqrt(self.sample_weight[side]))
        return cp.Problem(cp.Minimize(objective), constraints)

    def classifier(self, values: Mapping[str, float], numbers: Mapping[str, Any]) -> Rule:
        """The intercept is the weight of the constant feature times its value."""
        return LinearRule(numbers["w"], self.bias * float(numbers["v"]))

    def numbers(self, w: Array, b: float) -> dict[str, Any]:
        """What the primal calls a slope and an intercept."""
        v = b / self.bias if self.bias else 0.0
        return {"w": w, "v": v, "xi": np.maximum(0.0, 1.0 - self.y * (self.X @ w + b))}
