"""What Bach, Heckerman & Horvitz (2006) leave for later in section 5: their paths with several kernels.

Run it with ``python examples/papers/bach2006_kernels.py`` (seconds). The weights of the kernels, ``d >= 0`` with sum 1
for ``K = sum_k d_k K_k``, minimise the optimal value of the 2C-SVM, which is convex in them: its dual is one program of
CVXPY, and the weights are the multipliers of that (Bach, Lanckriet & Jordan 2004). With these weights fixed, all costs
are one exact path. Where the weights were found, the two have one value; elsewhere the path's is above the best that
other weights could have, and the script says by how much.

The path with weights that follow the costs is made of curves (``d`` is on a quadratic constraint), which nothing here
follows: docs/explanation/limits.md.

The kernels are those of the means, standard errors and worst cases of ten measurements of wdbc, standardised, each
linear and of trace n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

import paretoclf as pc

TOTAL = 0.5
GROUPS = {"means": slice(0, 10), "errors": slice(10, 20), "worst": slice(20, 30)}


@dataclass(frozen=True)
class Weights:
    """Weights of the kernels that are best for a pair of costs, and the optimal value with them."""

    of: np.ndarray
    value: float


def samples(n: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Features of each kernel (its Gram matrix is ``F F'``) and labels, of n samples drawn at random."""
    data = pc.datasets.load("wdbc")
    some = np.sort(np.random.default_rng(0).permutation(data.y.size)[:n])
    X, y = data.X[some], data.y[some]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return [X[:, part] * np.sqrt(n) / np.linalg.norm(X[:, part]) for part in GROUPS.values()], y


def best_weights(features: Sequence[np.ndarray], y: np.ndarray, C_plus: float, C_minus: float) -> Weights:
    """The dual ``max sum a - u / 2`` with ``|F_k'(y a)|^2 <= u`` for all k; the weights are twice its multipliers."""
    a, u = cp.Variable(y.size, nonneg=True), cp.Variable()
    bounds = [cp.sum_squares(F.T @ cp.multiply(y, a)) <= u for F in features]
    caps = a <= np.where(y > 0, C_plus, C_minus)
    dual = cp.Problem(cp.Maximize(cp.sum(a) - u / 2), [*bounds, caps, y @ a == 0])
    value = dual.solve("CLARABEL")
    return Weights(2 * np.array([np.sum(bound.dual_value) for bound in bounds]), float(value))


def path_of(features: Sequence[np.ndarray], y: np.ndarray, weights: np.ndarray) -> pc.Path:
    """The exact path of all shares of C_plus in the total, with fixed weights."""
    X = np.hstack([np.sqrt(max(d, 0.0)) * F for d, F in zip(weights, features, strict=True)])
    return pc.trace(pc.TwoCSVM(X, y), (0.01 * TOTAL, 0.99 * TOTAL), (0.99 * TOTAL, 0.01 * TOTAL), progress=False)


def main(n: int = 200) -> dict[float, tuple[Weights, float]]:
    """Weights and values at several asymmetries, and the path with the weights of the middle one."""
    features, y = samples(n)
    middle = best_weights(features, y, TOTAL / 2, TOTAL / 2)
    path = path_of(features, y, middle.of)
    print(f"{n} samples; weights of {', '.join(GROUPS)}; path with those of the middle: {path}")
    found = {}
    for share in (0.05, 0.2, 0.5, 0.8, 0.95):
        here = best_weights(features, y, share * TOTAL, (1 - share) * TOTAL)
        value = path.value((share - 0.01) / 0.98)
        found[share] = here, value
        shown = ", ".join(f"{d:.3f}" for d in here.of)
        print(
            f"  C_plus {share * TOTAL:.3f} of {TOTAL}: weights {shown}; best {here.value:.6f}, path {value:.6f}", end=""
        )
        print(f", {100 * max(0.0, value / here.value - 1):.3f} % above")
    return found


if __name__ == "__main__":
    main()
