"""Every kind of exact path on small random sets: how often is one refused, for which reason, and is any wrong?

Sets of 2 to 30 samples of up to 4 features: zeros and ones, whole numbers, each sample twice, a constant feature,
tenths, one direction only, doubles; one class down to a single sample. Kernels: linear, `RBF` from narrow to wide,
`Polynomial(2)`. Lines of costs from anywhere to anywhere, rays, lines between the axes; costs per sample, some of them
0 at an end; all nu, lines of reduced hulls; all quantiles, with and without a bias; planes. At a random point of each
path its value is compared with Clarabel's of the dual, stated here anew: off by more than 1e-6, of the value and of all
costs, it is wrong.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

import cvxpy as cp
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import paretoclf as pc

TIGHT = {"solver": "CLARABEL", "tol_gap_abs": 1e-11, "tol_gap_rel": 1e-11, "tol_feas": 1e-11}
KERNELS = (None, pc.RBF(0.3), pc.RBF(1.0), pc.RBF(3.0), pc.Polynomial(2))


def samples(rng: np.random.Generator, kind: int) -> tuple[Any, Any]:
    """Samples and labels, at least one of each."""
    n, d = int(rng.integers(2, 31)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, d))
    if kind == 0:
        X = rng.integers(0, 2, (n, d)).astype(float)
    elif kind == 1:
        X = rng.integers(-2, 3, (n, d)).astype(float)
    elif kind == 2:
        X = np.repeat(X[: (n + 1) // 2], 2, axis=0)[:n]
    elif kind == 3:
        X = np.column_stack([X, np.ones(n)])
    elif kind == 4:
        X = X.round(1)
    elif kind == 5:
        X = X[:, :1] * rng.normal(size=d)
    y = np.where(rng.random(n) < rng.choice([0.5, 0.1, 0.9]), 1, -1)
    y[0], y[-1] = 1, -1
    return X, y


@dataclass(frozen=True)
class Line:
    """How to trace a line, and what its problem is at t, stated anew: caps, and what differs from a 2C-SVM."""

    trace: Callable[[], Any]
    stated: Callable[[float], dict[str, Any]]


def lines(X: Any, y: Any, kernel: Any, rng: np.random.Generator) -> dict[str, Line]:
    """One of each kind."""
    svm, nu, n = pc.TwoCSVM(X, y, kernel), pc.TwoNuSVM(X, y, kernel), y.size
    top, lam, share = 10.0 ** rng.integers(-2, 4), 10.0 ** rng.integers(-4, 2), float(rng.uniform(0.1, 0.9))
    a, b, s = rng.uniform(0.0, top, 2), rng.uniform(0.0, top, 2), rng.uniform(0.05, 1.0, (2, 2))
    each = [costs * rng.integers(0, 3, n) for costs in (0.1, top)]
    sizes = np.array([np.count_nonzero(y > 0), np.count_nonzero(y < 0)])

    def by_class(pair: Any) -> Any:
        return np.where(y > 0, pair[0], pair[1])

    def costs(first: Any, last: Any) -> Line:
        return Line(
            lambda: pc.trace(svm, tuple(first), tuple(last)),
            lambda t: {"caps": by_class((1 - t) * np.array(first) + t * np.array(last))},
        )

    def hulls(t: float) -> dict[str, Any]:
        """Equation (8) of Davenport, Baraniuk and Scott: nu and gamma of a pair (nu_plus, nu_minus)."""
        at = sizes / ((1 - t) / s[0] + t / s[1])
        gamma = at[1] / at.sum()
        return {"caps": by_class((gamma, 1 - gamma)) / n, "total": 2 * at[0] * at[1] / (at.sum() * n)}

    def quantile(bias: bool) -> Line:
        return Line(
            lambda: pc.trace(pc.QuantileSVM(X, y, kernel, bias=bias), tau=(0, 1), lam=lam),
            lambda t: {"caps": 2 / n * by_class((1 - t, t)), "lam": lam, "intercept": "feature" if bias else "none"},
        )

    def all_nu(lo: Any) -> Line:
        caps = by_class((share, 1 - share)) / n
        return Line(lambda: pc.trace(nu, nu=(lo, None), asymmetry=share), lambda t: {"caps": caps, "total": t})

    return {
        "costs": costs(a, b),
        "ray": costs((0, 0), b),
        "between axes": costs((a[0], 0), (0, b[1])),
        "costs per sample": Line(
            lambda: pc.trace(svm, *map(pc.SampleCosts, each)), lambda t: {"caps": (1 - t) * each[0] + t * each[1]}
        ),
        "nu": all_nu(0),
        "nu, as proved": all_nu(None),
        "reduced hulls": Line(lambda: pc.trace(nu, tuple(s[0]), tuple(s[1])), hulls),
        "quantile": quantile(False),
        "quantile, bias": quantile(True),
        "plane": Line(
            lambda: pc.plane(svm, (0, top), (0, top)), lambda t: {"caps": by_class((t * top, (1 - t) * top))}
        ),
    }


def by_clarabel(
    K: Any, y: Any, caps: Any, total: float | None = None, lam: float = 1.0, intercept: str = "free"
) -> float:
    """Value of the dual of a problem; nan where Clarabel does not find it."""
    values, vectors = np.linalg.eigh(K + (intercept == "feature"))
    alpha = cp.Variable(y.size)
    factor = np.sqrt(np.maximum(values, 0.0)) * (y[:, None] * vectors)
    rules = [alpha >= 0, alpha <= caps]
    rules += [y @ alpha == 0] if intercept == "free" else []
    rules += [] if total is None else [cp.sum(alpha) == total]
    gain = cp.sum(alpha) if total is None else 0.0
    dual = cp.Problem(cp.Maximize(gain - cp.sum_squares(factor.T @ alpha) / (2 * lam)), rules)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dual.solve(**TIGHT)
    except cp.SolverError:
        return float("nan")
    return float("nan" if dual.value is None else dual.value)


def outcome(line: Line, K: Any, y: Any, rng: np.random.Generator) -> tuple[str, str]:
    """What came of a line, and what is wrong with it or was said of it."""
    try:
        path = line.trace()
    except pc.InputError as error:
        return "nothing to trace", "" if "trivial" in str(error) else str(error)
    except pc.DegeneratePathError as error:
        return "refused", error.cause.split(" (")[0].split(" by ")[0]
    if isinstance(path, pc.results.CostPlane):
        t = float(rng.uniform(0.01, 0.99))
        caps = line.stated(t)["caps"]
        mine = path.at(float(caps[0]), float(caps[-1])).value  # the first sample is a positive one, the last is not
    else:
        t = float(rng.uniform(*path.breakpoints[[0, -1]]))
        mine = path.value(t)
    stated = line.stated(t)
    theirs = by_clarabel(K, y, **stated)
    unit = 1e-6 * (abs(mine) + float(stated["caps"].sum()) * (stated.get("total") is None)) + 1e-9 * K.max()
    if np.isnan(theirs):
        return "not compared", ""
    return (
        ("compared", "") if abs(mine - theirs) <= unit else ("wrong", f"{mine:.9g} at {t:.6g}, Clarabel's {theirs:.9g}")
    )


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: python tests/benchmarks/kinds.py --count 100"
    )
    parser.add_argument("--count", type=int, default=1000, help="sets of samples; default: %(default)s")
    parser.add_argument("--first", type=int, default=0, help="seed of the first one")
    parser.add_argument("--smoke", action="store_true", help="6 sets: seconds")
    args = parser.parse_args(argv)
    began, bad, kinds = time.process_time(), 0, list[str]()
    counts, reasons = Counter[tuple[str, str]](), dict[tuple[str, str], list[int]]()
    for seed in range(args.first, args.first + (6 if args.smoke else args.count)):
        rng = np.random.default_rng(seed)
        X, y = samples(rng, seed % 7)
        kernel = KERNELS[int(rng.integers(len(KERNELS)))]
        K = X @ X.T if kernel is None else np.asarray(kernel(X, X))
        given = lines(X, y, kernel, rng)
        kinds = list(given)
        for kind, line in given.items():
            what, said = outcome(line, K, y, rng)
            counts[kind, what] += 1
            if what == "refused":
                reasons.setdefault((kind, said), []).append(seed)
            elif said:
                bad += 1
                print(f"seed {seed}, {kind}: {what}: {said}")
    columns = ("compared", "not compared", "nothing to trace", "refused", "wrong")
    print(f"{'kind':<18}" + "".join(f"{name:>18}" for name in columns))
    for kind in kinds:
        print(f"{kind:<18}" + "".join(f"{counts[kind, name]:>18}" for name in columns))
    for (kind, why), seeds in sorted(reasons.items(), key=lambda each: -len(each[1])):
        print(f"refused {len(seeds):>4}  {kind}: {why} (the first is {seeds[0]})")
    print(f"{time.process_time() - began:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
