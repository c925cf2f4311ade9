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
    ridges = np.append(np.full(Z.shape[1] - 1, ridge), 0.0)
    theta = np.zeros(Z.shape[1])  # w and b

    def risk(theta: Array) -> float:
        losses = loss.value(y * (Z @ theta))
        return 0.5 * float(ridges @ theta**2) + float(costs @ losses)

    def gradient_at(margins: Array) -> Array:
        pulls = y * costs * loss.slope(margins)
        return ridges * theta + Z.T @ pulls

    value = risk(theta)
    full_steps = 0
    for _ in range(STEPS):
        margins = y * (Z @ theta)
        gradient = gradient_at(margins)
        pulls = np.abs(costs * loss.slope(margins))
        size = np.abs(ridges * theta) + np.abs(Z).T @ pulls
        if np.all(np.abs(gradient) <= 4e-15 * size):
            break
        # A lower bound on the curvature keeps the system regular where a tail of the loss is flat.
        curvature = costs * np.maximum(loss.curvature(margins), 1e-12)
        hessian = (Z.T * curvature) @ Z + np.diag(ridges)
        step = -cho_solve(cho_factor(hessian), gradient)
        descent = float(gradient @ step)
        if -descent <= 1e-10 * value:
            # So close that values differ by rounding only: full steps converge quadratically.
            theta = theta + step
            value = risk(theta)
            full_steps += 1
            if full_steps == LAST:
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
        theta = theta + length * step
        value = new
    gradient = gradient_at(y * (Z @ theta))
    largest = 1.0 + float(np.abs(Z).max())
    if not np.max(np.abs(gradient)) <= 1e-7 * (1.0 + float(costs.sum()) * largest):
        raise SolveError(f"Newton's method did not converge for the {loss.name} loss; rescale the features")
    return theta[:-1], float(theta[-1])
