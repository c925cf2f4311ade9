"""Maps of the cost plane of data in all units: how many are refused, for which reason, and whether any is wrong.

Small problems (6 to 20 samples of up to 3 features) under the linear kernel, RBF(1) and Polynomial(2), on squares of
costs up to 1, 2, 10 or 1000, half of them from the origin:

- ordinary: features of size 1;
- scaled: features times 1e2 to 1e3;
- hundreds: the same, rounded to whole numbers;
- tiny: features times 1e-3;
- identical: all samples are the same;
- narrow: features of size 1 under an RBF kernel of bandwidth 0.1 to 0.6 instead, whose values are so small that many
  samples change their sets at nearly the same costs: between regions there are slivers.

Of each map that is returned the values at random costs, and the objective of the classifier there, must lie within the
bounds of Clarabel or LIBSVM, computed in whole numbers from the kernel values.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from threadpoolctl import threadpool_limits
from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import paretoclf as pc
from tests.benchmarks.degenerate import kernel_matrix
from tests.benchmarks.other_solvers import Exact, allowed, primal, reference

POINTS = 2  # random costs of a map
KERNELS = (None, pc.RBF(1.0), pc.Polynomial(2))
COSTS = (1.0, 2.0, 10.0, 1000.0)


def samples(family: str, rng: Any, n: int, d: int, y: Any) -> Any:
    """Features of n samples with these labels."""
    if family == "tiny":
        return 1e-3 * rng.normal(size=(n, d))
    if family == "identical":
        return np.repeat(rng.normal(size=(1, d)), n, axis=0)
    X = rng.normal(size=(n, d)) + 0.5 * y[:, None]
    if family == "scaled":
        return X * 10.0 ** rng.uniform(2, 3)
    if family == "hundreds":
        return np.round(X * 10.0 ** rng.uniform(2, 2.9))
    return X


FAMILIES = ("ordinary", "scaled", "hundreds", "tiny", "identical", "narrow")


def instance(family: str, number: int) -> tuple[Any, tuple[float, float]]:
    """A problem, and the range of both costs."""
    rng = np.random.default_rng([FAMILIES.index(family), number])
    n, d = int(rng.integers(6, 21)), int(rng.integers(1, 4))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1, -1
    X = samples(family, rng, n, d, y)
    kernel: Any = KERNELS[int(rng.integers(3))]
    top = COSTS[int(rng.integers(4))]
    if family == "narrow":
        kernel = pc.RBF(10.0 ** rng.uniform(-1.0, -0.2))
    return pc.TwoCSVM(X, y, kernel), (0.05 * top if number % 2 else 0.0, top)


def objection(svm: Any, found: Any, costs: Any) -> tuple[str, bool]:
    """What other solvers have against a map at these costs (nothing: ""), and whether their bounds can tell."""
    gram, y, caps = svm.gram, svm.y, found.caps(*costs)
    exact = Exact(gram.X, True) if gram.linear else Exact(gram.matrix, False)
    K, Z = kernel_matrix(svm.X, None if gram.linear else gram.kernel)
    lower, upper = reference(K, Z, y, caps, exact)
    solution, tol = found.at(*costs), allowed(upper, caps)
    if gram.linear:
        w = solution.classifier.w
        norm2, scores = w @ w, svm.X @ w
    else:
        norm2, scores = exact.slope(y * solution.alpha, y * solution.numbers.get("alpha_lo", 0.0))
    ours = float(primal(norm2, scores, y, caps, solution.classifier.b)[0])
    where = f"at C_plus = {costs[0]!r}, C_minus = {costs[1]!r}"
    for name, value in (("value", solution.value), ("objective", ours)):
        if not lower - tol <= value <= upper + tol:
            return f"{name} {value:.10g} outside of [{lower:.10g}, {upper:.10g}] {where}", True
    if not solution.certificate.holds():
        return f"{solution.certificate.explain()} {where}", True
    return "", upper - lower <= tol


def row_of(family: str, number: int) -> dict[str, Any]:
    """Map and judge one instance."""
    row: dict[str, Any] = {"family": family, "number": number, "status": "finished", "message": "", "compared": 0}
    with threadpool_limits(1):
        svm, (low, top) = instance(family, number)
        began = time.perf_counter()
        try:
            found = pc.plane(svm, (low, top), (low, top), progress=False)
            row |= {"seconds": time.perf_counter() - began, "regions": len(found.regions)}
            for costs in np.random.default_rng(number).uniform(low, top, (POINTS, 2)).tolist():
                said, decided = objection(svm, found, costs)
                row["compared"] += decided
                row |= {"status": "wrong", "message": said} if said else {}
        except pc.DegeneratePathError as error:
            return {**row, "status": "refused", "message": cause(svm, error)}
        except Exception as error:  # whatever else happens is a bug, and must not end the run
            return {**row, "status": "wrong", "message": f"{type(error).__name__}: {error}".splitlines()[0]}
    return row


def cause(svm: Any, error: pc.DegeneratePathError) -> str:
    """The kind of a refusal: the kernel, and its cause up to the first number."""
    return f"{type(svm.gram.kernel).__name__}: {error.cause.split(' (')[0].split(' on ')[0]}"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0],
        epilog="example: python tests/benchmarks/planes.py --instances 50 --family tiny",
    )
    parser.add_argument("--instances", type=int, default=300, help="of each family; default: %(default)s")
    parser.add_argument("--family", choices=FAMILIES, action="append", help="default: all")
    parser.add_argument("--jobs", type=int, default=1, help="processes; default: %(default)s")
    parser.add_argument("--smoke", action="store_true", help="4 instances of each family: seconds")
    args = parser.parse_args(argv)
    families, many = args.family or FAMILIES, 4 if args.smoke else args.instances
    began = time.perf_counter()
    calls = (joblib.delayed(row_of)(family, number) for family in families for number in range(many))
    results = joblib.Parallel(args.jobs, return_as="generator")(calls)
    rows = list(tqdm(results, total=len(families) * many, disable=not sys.stderr.isatty(), leave=False))
    print(
        f"{'family':<12}{'maps':>6}{'finished':>10}{'refused':>9}{'wrong':>7}{'compared':>10}{'regions':>9}{'seconds':>9}"
    )
    for family in families:
        mine = [row for row in rows if row["family"] == family]
        count = Counter(row["status"] for row in mine)
        compared, regions = (sum(row.get(name, 0) for row in mine) for name in ("compared", "regions"))
        print(
            f"{family:<12}{len(mine):>6}{count['finished']:>10}{count['refused']:>9}{count['wrong']:>7}"
            f"{compared:>10}{regions:>9}{sum(row.get('seconds', 0.0) for row in mine):>9.1f}"
        )
    reasons: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        if row["status"] == "refused":
            reasons.setdefault((row["family"], row["message"]), []).append(row["number"])
    for (family, why), numbers in sorted(reasons.items(), key=lambda each: -len(each[1])):
        print(f"refused {len(numbers):>4}  {family}, {why} (the first is {numbers[0]})")
    wrong = [row for row in rows if row["status"] == "wrong"]
    for row in wrong:
        print(f"wrong: {row['family']} {row['number']}: {row['message']}")
    print(f"{time.perf_counter() - began:.0f} seconds")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
