"""What differentiable layers return, judged: derivatives of diffcp and of cvxpylayers beside one-sided exact ones.

Run ``python tests/benchmarks/layers.py`` where ``diffcp``, ``cvxpylayers`` and ``jax`` are installed (they are no
requirement of anything here; without them it says so). Each problem is solved at a point and differentiated along one
direction by `paretoclf.derivatives`, by CVXPY's ``problem.derivative()`` (diffcp), and by a layer of cvxpylayers. The
table has the rates that these returned and the verdict on each: ``right``; one-sided; ``wrong``, or ``none`` where the
solution has no derivative on either side. ``--smoke`` takes the first problem.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import cvxpy as cp
import numpy as np

import paretoclf as pc

Case = tuple[str, cp.Problem, cp.Parameter, float]


def smooth() -> Case:
    """A quadratic program away from all kinks."""
    z, b = cp.Variable(2, name="z"), cp.Parameter(name="b", value=2.0)
    rows = [cp.sum(z) == b, z[0] - 2 * z[1] <= -0.5]
    return "away from kinks", cp.Problem(cp.Minimize(cp.sum_squares(z) / 2), rows), b, 1.0


def kink() -> Case:
    """The same where an inequality is just met."""
    _, problem, b, _ = smooth()
    b.value = 1.0
    return "an inequality is just met", problem, b, 1.0


def lasso() -> Case:
    """A lasso at the price at which its second coefficient leaves 0."""
    A, y = np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([3.0, 1.0])
    w, lam = cp.Variable(2, name="w"), cp.Parameter(nonneg=True, name="lam", value=1.0)
    return "lasso at a breakpoint", cp.Problem(cp.Minimize(cp.sum_squares(A @ w - y) / 2 + lam * cp.norm1(w))), lam, 1.0


def jump() -> Case:
    """A linear program whose optimum jumps from one end of an interval to the other."""
    x, a = cp.Variable(name="x"), cp.Parameter(name="a", value=1.0)
    return "the solution jumps", cp.Problem(cp.Minimize((a - 1) * x), [x >= 0, x <= 1]), a, 1.0


def vertex() -> Case:
    """A vertex of a linear program with a row more than it needs."""
    x, b = cp.Variable(2, name="x"), cp.Parameter(name="b", value=1.0)
    rows = [x[0] <= 1, x[1] <= 1, x[0] + x[1] <= 1 + b]
    return "a degenerate vertex", cp.Problem(cp.Minimize(-x[0] - 2 * x[1]), rows), b, 1.0


CASES: tuple[Callable[[], Case], ...] = (smooth, kink, lasso, jump, vertex)


def by_diffcp(problem: cp.Problem, parameter: cp.Parameter, by: float) -> dict[Any, Any]:
    """Rates of the variables by CVXPY and diffcp."""
    problem.solve(requires_grad=True, eps=1e-10)
    parameter.delta = by
    problem.derivative()
    return {v: np.array(v.delta, dtype=float).reshape(v.shape) for v in problem.variables()}


def by_layer(problem: cp.Problem, parameter: cp.Parameter, by: float) -> dict[Any, Any]:
    """Rates of the variables by a layer of cvxpylayers: one pass back for each entry."""
    import jax
    import jax.numpy as jnp
    from cvxpylayers.jax import CvxpyLayer

    jax.config.update("jax_enable_x64", True)
    variables = problem.variables()
    layer = CvxpyLayer(problem, parameters=[parameter], variables=variables)

    def entry(k: int, i: int) -> Callable[[Any], Any]:
        return lambda value: jnp.ravel(layer(value, solver_args={"eps": 1e-10})[k])[i]

    at = jnp.array(float(parameter.value))
    return {
        v: np.array([by * float(jax.grad(entry(k, i))(at)) for i in range(v.size)]).reshape(v.shape)
        for k, v in enumerate(variables)
    }


def main() -> None:
    """Print a line a problem and layer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="the first problem only")
    args = parser.parse_args()
    layers = [("diffcp", by_diffcp)] if find_spec("diffcp") else []
    layers += [("cvxpylayers", by_layer)] if find_spec("cvxpylayers") and find_spec("jax") else []
    if not layers:
        print("neither diffcp nor cvxpylayers with jax is installed: nothing to judge")
        return
    print(f"{'problem':<27}{'rates on the left':<20}{'on the right':<20}{'layer':<13}{'returned':<20}verdict")
    for made in CASES[: 1 if args.smoke else None]:
        for which, rates_of in layers:
            name, problem, parameter, by = made()
            found = pc.derivatives(problem, {parameter: by})
            rates = rates_of(problem, parameter, by)
            (variable,) = rates
            sides = [shown(side, variable.name()) for side in (found.left, found.right)]
            verdict = found.judge(rates)
            print(
                f"{name:<27}{sides[0]:<20}{sides[1]:<20}{which:<13}{listed(rates[variable]):<20}{verdict.rows[0].verdict}"
            )


def shown(side: Any, name: str) -> str:
    """The rates of a variable on one side, or why there is none."""
    if name in side.undefined:
        return "jumps" if "jump" in side.undefined[name] else "not unique"
    return listed(side.variables[name])


def listed(value: Any) -> str:
    """Numbers in a row."""
    return ", ".join(f"{each:.4g}" for each in np.ravel(np.round(value, 6)) + 0.0)


if __name__ == "__main__":
    main()
