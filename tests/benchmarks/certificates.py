"""Certificate files: what they cost, whether broken ones are caught, and whether degenerate problems have them.

python tests/benchmarks/certificates.py table       # write, check, size
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

import numpy as np

import paretoclf as pc
from paretoclf.path.certificate_file import certificate
from paretoclf.path.certificate_problems import program_problem
from paretoclf.problem import ParametricQP
from paretoclf.proof import check, check_gap, check_ray
from tests.oracles.broken_certificates import files, mutated, verdicts
from tests.oracles.random_programs import fractions, program


def table(smoke):
    """Processor seconds to write and to check, and the size."""

    def gaussians(n, d, by=0.8):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(n, d)), np.where(rng.random(n) < 0.4, 1.0, -1.0)
        return X + by * (y > 0)[:, None], y

    data = pc.datasets.load("wdbc")
    Z = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)

    def up(start, stop):
        return {"start": (start, start), "stop": (stop, stop)}

    cases = [
        ("linear, n = 100, d = 10", gaussians(100, 10, 0.3), None, up(0.01, 10)),
        ("RBF, n = 100, d = 2, bandwidth 1", gaussians(100, 2), pc.RBF(1.0), up(1, 2000)),
        (
            "RBF, n = 100, d = 4, bandwidth 1",
            gaussians(100, 4),
            pc.RBF(1.0),
            up(0.01, 1000),
        ),
        ("wdbc, asymmetry line", (Z, data.y), None, {"start": (0.04, 1.96), "stop": (1.96, 0.04)}),
        (
            "RBF, n = 500, d = 10, bandwidth 3",
            gaussians(500, 10, 0.5),
            pc.RBF(3.0),
            up(0.1, 10),
        ),
    ]
    print(f"{'path':<36}{'level':<9}{'segments':>9}{'margin set':>11}{'write':>8}{'check':>8}{'kB':>7}{'bound':>10}")
    for name, (X, y), kernel, line in cases[: 1 if smoke else None]:
        path = pc.trace(pc.TwoCSVM(X, y, kernel), **line, progress=False)
        for level in ("exact", "bounded") if path.n_margin.max() < 100 else ("bounded",):
            with TemporaryDirectory() as folder:
                file = Path(folder, "a.json.gz")
                began = time.process_time()
                path.proof.save(file, level=level, progress=False)
                wrote = time.process_time() - began
                began = time.process_time()
                said = (check.main if level == "exact" else check_gap.main)(str(file))
                checked, size = time.process_time() - began, file.stat().st_size / 1e3
            bound = said.split("at most ")[1].split()[0] if level == "bounded" else "0"
            sizes = f"{path.breakpoints.size - 1:>9}{path.n_margin.max():>11}"
            print(
                f"{name:<36}{level:<9}{sizes}{wrote:>8.1f}{checked:>8.1f}{size:>7.0f}{float(bound):>10.0e}", flush=True
            )


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
                problem, guide = path._certificate_problem(), list(path._labels(path.equations))
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
