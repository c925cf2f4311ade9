"""Newton's method for a smooth regularised risk, from raw arrays."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from paretoclf.common.checks import Array
from paretoclf.common.errors import SolveError
from paretoclf.problem.samples import Samples, dense
from paretoclf.proof.points.losses import Loss

#: Steps, and halvings of one step: far more than a strictly convex smooth risk needs.
STEPS = 200
HALVINGS = 50

#: Steps where values no longer tell which point is better.
LAST = 4


def minimise_risk(F: Samples, y: Array, costs: Array, ridge: float, loss: Loss) -> tuple[Array, float]:
    r"""Minimise :math:`\frac r2\|w\|^2+\sum_ic_i\phi(y_i(w\cdot x_i+b))` over w, shape (d,), and b.

    Costs and ridge are positive, the loss is smooth and strictly convex. SolveError if the gradient does not vanish.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.formulations.newton import minimise_risk
    >>> from paretoclf.proof.points.losses import loss_of
    >>> w, b = minimise_risk(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), np.ones(2), 1.0, loss_of("square"))
    >>> round(float(w[0]), 12), abs(b) < 1e-12
    (0.666666666667, True)
    """
    Z = np.column_stack([dense(F), np.ones(y.size)])
    weight = np.append(np.full(Z.shape[1] - 1, ridge), 0.0)
    theta = np.zeros(Z.shape[1])

    def risk(theta: Array) -> float:
        return 0.5 * float(weight @ theta**2) + float(costs @ loss.value(y * (Z @ theta)))

    value = risk(theta)
    last = 0
    for _ in range(STEPS):
        u = y * (Z @ theta)
        gradient = weight * theta + Z.T @ (y * costs * loss.slope(u))
        size = np.abs(weight * theta) + np.abs(Z).T @ np.abs(costs * loss.slope(u))
        if np.all(np.abs(gradient) <= 4e-15 * size):
            break
        # A floor under the curvature keeps the system regular where a tail of the loss is flat.
        bend = costs * np.maximum(loss.curvature(u), 1e-12)
        step = -cho_solve(cho_factor((Z.T * bend) @ Z + np.diag(weight)), gradient)
        descent = float(gradient @ step)
        if -descent <= 1e-10 * value:
            # So close that values differ by rounding only: full steps converge quadratically.
            theta, last = theta + step, last + 1
            value = risk(theta)
            if last == LAST:
                break
            continue
        length = 1.0
        for _ in range(HALVINGS):
            new = risk(theta + length * step)
            if new <= value + 1e-4 * length * descent:
                break
            length /= 2
        else:
            break  # the value cannot be made smaller
        theta, value = theta + length * step, new
    u = y * (Z @ theta)
    gradient = weight * theta + Z.T @ (y * costs * loss.slope(u))
    if not np.max(np.abs(gradient)) <= 1e-7 * (1.0 + float(costs.sum()) * (1.0 + float(np.abs(Z).max()))):
        raise SolveError(f"Newton's method did not converge for the {loss.name} loss; rescale the features")
    return theta[:-1], float(theta[-1])
