"""Certificate files: what they cost, whether broken ones are caught, and whether degenerate problems have them.

python tests/benchmarks/certificates.py table       # write, check, size: a quarter of an hour
python tests/benchmarks/certificates.py broken      # 1000 mutations over 20 files of all kinds
python tests/benchmarks/certificates.py degenerate  # 1000 random degenerate instances of all kinds
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import cvxpy as cp
import numpy as np

import paretoclf as pc
from paretoclf.path.programs.problem_path import ProblemPath
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.proof import check, check_gap, check_ray
from paretoclf.proof.files.certificate_file import certificate
from paretoclf.proof.files.stated_problems import path_problem, program_problem
from tests.oracles.broken_certificates import files, mutated, verdicts
from tests.oracles.random_programs import fractions, program


def cases():
    """Names, how to trace the path, and the levels that are written."""

    def gaussians(n, d, by=0.8, seed=0):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(n, d)), np.where(rng.random(n) < 0.4, 1.0, -1.0)
        return X + by * (y > 0)[:, None], y

    def traced(samples, kernel, start, stop):
        return lambda: pc.trace(pc.TwoCSVM(*samples, kernel), start=start, stop=stop, progress=False)

    def up(start, stop):
        return (start, start), (stop, stop)

    def lasso():
        A, b = np.random.default_rng(0).normal(size=(120, 60)), np.random.default_rng(1).normal(size=120)
        x, lam = cp.Variable(60, name="x"), cp.Parameter(nonneg=True, name="lam")
        loss = cp.Minimize(0.5 * cp.sum_squares(A @ x - b) + lam * cp.norm1(x))
        return pc.trace(cp.Problem(loss), {lam: 30}, {lam: 0.1}, progress=False)

    data, both = pc.datasets.load("wdbc"), ("exact", "bounded")
    wdbc, rbf = ((data.X - data.X.mean(axis=0)) / data.X.std(axis=0), data.y), pc.RBF(1.0)
    yield "linear, n = 100, d = 10", traced(gaussians(100, 10, 0.3), None, *up(0.01, 10)), both
    yield "RBF, n = 100, d = 3, costs to 900", traced(gaussians(100, 3, seed=1), rbf, *up(0.01, 900)), both
    yield "RBF, n = 100, d = 5, costs to 1000", traced(gaussians(100, 5, 0.3, 1), rbf, *up(0.01, 1000)), both
    yield "wdbc, asymmetry .02 to .98 of 2", traced(wdbc, None, (0.04, 1.96), (1.96, 0.04)), both
    yield "wdbc, all asymmetries of 2", traced(wdbc, None, (0.0, 2.0), (2.0, 0.0)), both
    yield "lasso of 60 coefficients", lasso, ("bounded",)
    yield "RBF, n = 500, d = 10, costs to 10", traced(gaussians(500, 10, 0.5), pc.RBF(3.0), *up(0.1, 10)), ("bounded",)
    large = traced(gaussians(2000, 10, 0.5), pc.RBF(3.0), (0.04, 1.96), (1.96, 0.04))
    yield "RBF, n = 2000, asymmetry .02 to .98 of 2", large, ("bounded",)


def basis_of(path):
    """How many equations fix the solution, at most."""
    if isinstance(path, ProblemPath):
        line = path.program
        return line.n + int((path.z != 0).any(axis=1).sum(axis=1).max())
    return int(path.n_margin.max())


def table(smoke):
    """Processor seconds to write and to check, the size, and the bound, as the page has them."""
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    print("| path | segments | margin set | level | write | check | size | bound |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, trace, levels in list(cases())[: 1 if smoke else None]:
        path = trace()
        for level in levels:
            with TemporaryDirectory() as folder:
                file = Path(folder, "a.json.gz")
                began = time.process_time()
                path.proof.save(file, level=level, progress=False)
                wrote = time.process_time() - began
                began = time.process_time()
                said = (check.main if level == "exact" else check_gap.main)(str(file))
                checked, size = time.process_time() - began, file.stat().st_size / 1e3
            most, value = 0.0, float(said.split("as doubles: [")[1].split(",")[1].split("]")[0])
            if level == "bounded":
                most = float(said.split("at most ")[1].split()[0])
            sizes = f"{path.breakpoints.size - 1} | {basis_of(path)}"
            bound = f"{most:.0e} of {abs(value):.4g}" if most else "0"
            print(f"| {name} | {sizes} | {level} | {wrote:.1f} | {checked:.1f} | {size:.0f} kB | {bound} |", flush=True)


def broken(count):
    """Mutations that are caught, and those that both checkers call true certificates of what they then state."""
    contents, rng, counts = list(files()), np.random.default_rng(0), Counter()
    for k in range(count):
        what, new = mutated(contents[k % len(contents)], rng)
        ours, others = verdicts(new)
        if ours:
            counts["caught"] += 1
            counts["caught by ours alone"] += not others
        else:
            counts["harmless by both" if not others else "WRONG"] += 1
            if others:
                print(f"WRONG: mutation {k} ({what}) of file {k % len(contents)}: {others}")
    print(f"{count} mutations of {len(contents)} files:", dict(counts))
    return counts["WRONG"]


def instance(kind, rng):
    """A path of degenerate data."""
    n = int(rng.integers(6, 14))
    X = rng.integers(-2, 3, (n, 2)).astype(float) / rng.choice([1.0, 3.0])
    y = np.where(np.arange(n) < rng.integers(1, n), 1.0, -1.0)
    if rng.random() < 0.4:
        X[n // 2 :] = X[: n - n // 2]
    kernel = [None, pc.RBF(1.0), pc.Polynomial(2)][int(rng.integers(3))]
    if kind == "costs":
        a, b = rng.integers(0, 4, (2, 2)) / 2
        return pc.trace(pc.TwoCSVM(X, y, kernel), start=tuple(a), stop=tuple(b))
    if kind == "2nu":
        most = float(min((y > 0).sum(), (y < 0).sum()) / n)
        return pc.trace(pc.TwoNuSVM(X, y, kernel), nu=(0.5 * most, most), asymmetry=0.5)
    if kind == "quantile":
        return pc.trace(pc.QuantileSVM(X, y, kernel, bias=bool(rng.integers(2))), tau=(0, 1), lam=0.25)
    return pc.trace(pc.BiobjectiveMargin(X, y, kernel), theta=(0.25, 4), C_plus=0.5, C_minus=2.0)


def degenerate(count):
    """Instances that have an exact file which checks, and the reasons of the others."""
    kinds, counts = ("costs", "2nu", "quantile", "margins", "program"), Counter()
    for seed in range(count):
        kind, rng = kinds[seed % 5], np.random.default_rng(seed)
        try:
            if kind == "program":
                if (raw := program(seed)) is None:
                    counts["no problem: bounds cross at the start"] += 1
                    continue
                problem, guide = program_problem(ParametricQP(*map(fractions, raw))), []
            else:
                path = instance(kind, rng)
                problem, guide = path_problem(path), list(path._labels(path.equations))
        except pc.ParetoclfError as error:
            counts[f"no path, {kind}: {str(error)[:60]}"] += 1
            continue
        try:
            content = certificate(problem, guide, progress=False)
            _, end = check.check(content["problem"], content["segments"], "ray" in content)
            if end < 1:
                check_ray.beyond(content["problem"], end, *content["ray"])
            counts[f"proved, {kind}"] += 1
        except ArithmeticError as error:
            counts[f"refused, {kind}: {error}"] += 1
    for reason, number in sorted(counts.items()):
        print(f"{number:>6}  {reason}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["table", "broken", "degenerate"])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--smoke", action="store_true")
    args = parser.parse_args()
    number = 25 if args.smoke else args.count
    wrong = 0
    if args.what in (None, "table"):
        table(args.smoke)
    if args.what in (None, "broken"):
        wrong = broken(number)
    if args.what in (None, "degenerate"):
        degenerate(number)
    sys.exit(1 if wrong else 0)
