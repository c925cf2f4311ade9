"""What a proof costs: a certified sweep of a user's formulation, beside the loop over CVXPY that it stands for.

Run ``python tests/benchmarks/prices.py`` (a minute; ``--smoke`` for less). On wdbc (569 samples, 30 standardised
features) at 8 values of the one parameter, on one thread, in milliseconds of the processor a value:

- raw: ``parameter.value = ...; problem.solve(solver="CLARABEL")`` in a loop, with CVXPY's cache and Clarabel's own
  tolerances (1e-8), and no proof;
- bare: ``sweep(formulation, ..., certify=False)``, to 1e-12;
- sweep: ``sweep(formulation, ...)``, every value with a proved interval.

All include compiling. They take turns; the ratio is the median of the ratios of sweep to raw. ``widest`` is the widest
proved interval, relative to the value. Required: at most 3 for QPs, 4 with second-order cones, 10 with exponential
ones. A row that misses it ends with "MISSED", and the exit status is then 1 (not with ``--smoke``).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import cvxpy as cp
import numpy as np
from threadpoolctl import threadpool_limits

import paretoclf as pc


class ElasticNetSVM(pc.SampleFormulation):
    """A quadratic and an absolute value in the objective."""

    domain = {"C": pc.POSITIVE}  # noqa: RUF012  # what a user writes

    @cached_property
    def primal(self):
        w, b = cp.Variable(self.X.shape[1], name="w"), cp.Variable(name="b")
        xi = cp.Variable(self.n, name="xi", nonneg=True)
        margin = (self.signed @ w + self.y * b >= 1 - xi).set_label("margin")
        return cp.Problem(
            cp.Minimize(cp.sum_squares(w) / 2 + cp.norm1(w) + self.parameters["C"] * cp.sum(xi)), [margin]
        )


class BoxedLasso(pc.SampleFormulation):
    """Labels by least squares: 569 residuals in the objective, and no constraint on them."""

    domain = {"lam": pc.POSITIVE}  # noqa: RUF012

    @cached_property
    def primal(self):
        w, b = cp.Variable(self.X.shape[1], name="w"), cp.Variable(name="b")
        loss = cp.sum_squares(self.X @ w + b - self.y) / 2
        return cp.Problem(cp.Minimize(loss + self.parameters["lam"] * cp.norm1(w)), [(cp.abs(w) <= 1).set_label("box")])


class WassersteinSVM(pc.SampleFormulation):
    """The mean hinge against the worst distribution nearby: a norm, not squared."""

    domain = {"eps": pc.POSITIVE}  # noqa: RUF012

    @cached_property
    def primal(self):
        w, b = cp.Variable(self.X.shape[1], name="w"), cp.Variable(name="b")
        xi = cp.Variable(self.n, name="xi", nonneg=True)
        margin = (self.signed @ w + self.y * b >= 1 - xi).set_label("margin")
        return cp.Problem(cp.Minimize(self.parameters["eps"] * cp.norm(w, 2) + cp.sum(xi) / self.n), [margin])


class GroupLogistic(pc.SampleFormulation):
    """Logistic loss of every sample, and ten groups of three features."""

    domain = {"lam": pc.POSITIVE}  # noqa: RUF012

    @cached_property
    def primal(self):
        w, b = cp.Variable(self.X.shape[1], name="w"), cp.Variable(name="b")
        loss = cp.sum(cp.logistic(-(self.signed @ w + self.y * b))) / self.n
        groups = sum(cp.norm(w[k::10]) for k in range(10))
        return cp.Problem(cp.Minimize(loss + self.parameters["lam"] * groups))


CASES: tuple[tuple[type[pc.SampleFormulation], str, Any, float], ...] = (
    (ElasticNetSVM, "C", np.logspace(-2, 1, 8), 3),
    (BoxedLasso, "lam", np.logspace(-1, 2, 8), 3),
    (WassersteinSVM, "eps", np.logspace(-3, -0.5, 8), 4),
    (GroupLogistic, "lam", np.logspace(-3, -1, 8), 10),
)


def loop(formulation: pc.SampleFormulation, name: str, values: Any) -> list[float]:
    """What a user writes without us."""
    found = []
    for value in values:
        formulation.parameters[name].value = value
        formulation.primal.solve(solver="CLARABEL")
        found.append(formulation.primal.value)
    return found


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    found = run()
    return time.process_time() - began, found


def measure(kind: type[pc.SampleFormulation], name: str, values: Any, turns: int) -> dict[str, Any]:
    """One row of the table."""
    data = pc.datasets.load("wdbc")
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    grid = {name: values}
    loop(kind(X, data.y), name, values[:1])  # imports
    seconds: dict[str, list[float]] = {"raw": [], "bare": [], "sweep": []}
    for _ in range(turns):
        seconds["raw"].append(timed(lambda: loop(kind(X, data.y), name, values))[0])
        took, _ = timed(lambda: pc.sweep(kind(X, data.y), certify=False, progress=False, **grid))
        seconds["bare"].append(took)
        took, found = timed(lambda: pc.sweep(kind(X, data.y), progress=False, **grid))
        seconds["sweep"].append(took)
    widths = (found.values - found.dual_values) / np.abs(found.values)
    return {
        **{way: 1e3 * float(np.median(took)) / len(values) for way, took in seconds.items()},
        "ratio": float(np.median(np.divide(seconds["sweep"], seconds["raw"]))),
        "widest": float(widths.max()),
    }


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: python tests/benchmarks/prices.py --turns 9"
    )
    parser.add_argument("--turns", type=int, default=3, help="of each way; default: 3")
    parser.add_argument("--smoke", action="store_true", help="two values, once: seconds")
    args = parser.parse_args(argv)
    print(f"one thread; milliseconds of the processor a value\n{'':<16}{'raw':>8}{'bare':>8}{'sweep':>8}", end="")
    print(f"{'ratio':>7}{'required':>9}{'widest':>9}")
    missed = False
    for kind, name, values, required in CASES:
        row = measure(kind, name, values[::4] if args.smoke else values, 1 if args.smoke else args.turns)
        late = row["ratio"] > required
        missed |= late
        print(
            f"{kind.__name__:<16}{row['raw']:>8.1f}{row['bare']:>8.1f}{row['sweep']:>8.1f}{row['ratio']:>7.1f}"
            f"{required:>9}{row['widest']:>9.0e}" + ("  MISSED" if late else ""),
            flush=True,
        )
    return int(missed and not args.smoke)


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
