"""A census of public path codes: which share of their paths is right, silently wrong, or refused; and ours beside.

Run ``python tests/benchmarks/census.py`` (minutes; ``--smoke`` for less). Codes that are not installed are left out,
and named: ``pip install scikit-learn cvxcla pyportfolioopt``.

Families: the lasso (``lars_path``, ``LassoLars`` with an intercept, ``cvxcla.Lasso``) and the efficient frontier with
bounds (``cvxcla.CLA``, ``pypfopt.cla.CLA``). Designs: plain; a duplicate column, or an asset twice; small whole
numbers; rank deficient (more columns than rows, or fewer days than assets); for the frontier tied means, and equal
means. A path is

- right: proved at its knots and between them, to 1e-6 (`paretoclf.verify`);
- silently wrong: refuted, by a better point or a violated constraint, or no path at all (numbers that are not finite,
  knots in no order), and the code has said nothing;
- wrong, warned: the same, and the code has warned of something;
- refused: the code has raised an exception.

Ours is judged as the others are: the knots of its path are given to another path of the same problem in other units
(all data times 3), and its own proof must pass. ``--find CODE`` prints ten lines that reproduce the first wrong path of
each design. The exit status is 1 if ours is not right somewhere.

Last: the frontier of 500 assets with caps, beside cvxcla, in one run; required: at most 2 times its time, without
proof.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import textwrap
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import paretoclf as pc
from paretoclf.checking import known
from paretoclf.path.programs.problem_path import trace_problem
from paretoclf.solve.sources.problem_line import LineOfPrograms

RIGHT, SILENT, WARNED, REFUSED = "right", "silently wrong", "wrong, warned", "refused"
OUTCOMES, UNDECIDED = (RIGHT, SILENT, WARNED, REFUSED), "undecided"

#: The data of each design, as lines of Python that `--find` prints: from ``rng`` to X, y, or to mu, S.
DESIGNS: dict[str, dict[str, str]] = {
    "lasso": {
        "plain": "X, y = rng.normal(size=(20, 6)), rng.normal(size=20)",
        "duplicate column": "X, y = rng.normal(size=(20, 6)), rng.normal(size=20); X[:, 5] = X[:, 0]",
        "integer": "X, y = (rng.integers(-2, 3, size).astype(float) for size in ((12, 5), 12))",
        "rank deficient": "X, y = rng.normal(size=(5, 8)), rng.normal(size=5)",
    },
    "frontier": {
        "plain": "mu, S = rng.normal(size=8), np.cov(rng.normal(size=(30, 8)).T)",
        "asset twice": (
            "F, mu = rng.normal(size=(30, 8)), rng.normal(size=8); F[:, 7], mu[7] = F[:, 0], mu[0]; S = np.cov(F.T)"
        ),
        "integer": (
            "F, mu = rng.integers(-2, 3, (12, 8)), rng.integers(1, 5, 8).astype(float); S = (F.T @ F).astype(float)"
        ),
        "tied means": "mu, S = rng.integers(1, 4, 8).astype(float), np.cov(rng.normal(size=(30, 8)).T)",
        "equal means": "mu, S = np.ones(8), np.cov(rng.normal(size=(30, 8)).T)",
        "rank deficient": "mu, S = rng.normal(size=8), np.cov(rng.normal(size=(5, 8)).T)",
    },
}

#: How each code is called: its distribution, what is imported, the family, and the call whose result is judged.
CODES: dict[str, tuple[str, str, str, str]] = {
    "lars_path": (
        *("sklearn", "from sklearn.linear_model import lars_path", "lasso"),
        "pc.verify(X, y, lars_path(X, y, method='lasso'))",
    ),
    "LassoLars": (
        *("sklearn", "from sklearn.linear_model import LassoLars", "lasso"),
        "pc.verify(X, y, LassoLars(alpha=0.0).fit(X, y))",
    ),
    "cvxcla.Lasso": ("cvxcla", "from cvxcla import Lasso", "lasso", "pc.verify(Lasso(X, y))"),
    "cvxcla.CLA": (
        *("cvxcla", "from cvxcla import CLA", "frontier"),
        "pc.verify(CLA(mu, S, np.zeros(8), np.full(8, 0.3), np.ones((1, 8)), np.ones(1)))",
    ),
    "pypfopt CLA": (
        *("pypfopt", "from pypfopt.cla import CLA", "frontier"),
        "cla = CLA(mu, S, weight_bounds=(0, 0.3)); cla.efficient_frontier(); report = pc.verify(cla)",
    ),
}


def script(code: str, design: str, seed: int) -> str:
    """What reproduces one path and its judgement, in some ten lines."""
    _, importing, family, call = CODES[code]
    lines = ["import numpy as np", importing, "import paretoclf as pc", ""]
    lines += [f"rng = np.random.default_rng({seed})", *DESIGNS[family][design].split("; ")]
    *before, last = call.split("; ")
    lines += [*before, last if last.startswith("report") else f"report = {last}"]
    return "\n".join([*lines, "print(report)"])


def outcome(code: str, design: str, seed: int) -> str:
    """One path of a code, judged."""
    lines = script(code, design, seed).splitlines()[:-1]
    room: dict[str, Any] = {}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            exec("\n".join(lines), room)
        except pc.DegeneratePathError:
            return UNDECIDED  # ours: nobody was judged
        except pc.InputError:  # of `verify`: it is no path
            return WARNED if said else SILENT
        except Exception:  # whatever another code raises
            return REFUSED
    report = room["report"]
    if set(report.verdicts) <= {"optimal", "undecided"}:
        return RIGHT if report.passes() else UNDECIDED
    return WARNED if said else SILENT


def ours(family: str, design: str, seed: int) -> str:
    """Our path of the same data."""
    room: dict[str, Any] = {"np": np, "rng": np.random.default_rng(seed)}
    exec(DESIGNS[family][design], room)

    def stated(factor: float) -> tuple[Any, Any]:
        if family == "lasso":
            X, y = room["X"] * factor, room["y"] * factor
            return known.lasso(X, y, intercept=False, nonneg=False, scale=1.0)
        rows = {"a": np.ones((1, 8)), "b": np.ones(1)}
        bounds = (np.zeros(8), np.full(8, 0.3))
        return known.frontier(room["mu"] * factor, room["S"] * factor, bounds, **rows)

    top, units = (2 * float(np.abs(room["X"].T @ room["y"]).max()), 9.0) if family == "lasso" else (8.0, 1.0)
    paths = []
    for factor, unit in ((1.0, 1.0), (3.0, units)):
        problem, lam = stated(factor)
        try:
            paths.append(trace_problem(LineOfPrograms(problem, {lam: top * unit}, {lam: 0.0}), progress=False))
        except pc.DegeneratePathError:
            return REFUSED
    t, w = paths[0].along("w")
    return RIGHT if paths[0].proof.passes() and pc.verify(paths[1], (t, w)).passes() else SILENT


def counted(one: Callable[[int], str], seeds: int) -> Counter[str]:
    return Counter(one(seed) for seed in range(seeds))


def census(codes: Sequence[str], seeds: int) -> tuple[dict[tuple[str, str], Counter[str]], bool]:
    """The table, printed as it is made; and whether ours is right everywhere."""
    found, good = {}, True
    print(f"{'family':<10}{'design':<18}{'code':<15}" + "".join(f"{name:>16}" for name in OUTCOMES))
    for family, designs in DESIGNS.items():
        for design in designs:
            for code in [each for each in codes if CODES[each][2] == family]:
                found[code, design] = counted(lambda seed, c=code, d=design: outcome(c, d, seed), seeds)
                row(family, design, code, found[code, design], seeds)
            mine = counted(lambda seed, f=family, d=design: ours(f, d, seed), seeds)
            good &= mine[RIGHT] == seeds
            row(family, design, "paretoclf", mine, seeds)
    return found, good


def row(family: str, design: str, code: str, counts: Counter[str], seeds: int) -> None:
    shares = "".join(f"{100 * counts[name] / seeds:15.0f}%" for name in OUTCOMES)
    others = ", ".join(f"{name}: {count}" for name, count in counts.items() if name not in OUTCOMES)
    print(f"{family:<10}{design:<18}{code:<15}{shares}{'  ' + others if others else ''}", flush=True)


def findings(codes: Sequence[str], seeds: int) -> None:
    """Ten lines for the first path of each code and design that is wrong."""
    for code in codes:
        for design in DESIGNS[CODES[code][2]]:
            seed = next((s for s in range(seeds) if outcome(code, design, s) in (SILENT, WARNED)), None)
            if seed is not None:
                print(f"\n# {code}, {design}: {outcome(code, design, seed)}\n{script(code, design, seed)}")


def frontier(assets: int) -> str:
    """Time of the frontier with caps, ours and cvxcla's, the best of three each."""
    from cvxcla import CLA

    rng = np.random.default_rng(0)
    loadings = rng.normal(size=(assets, 20))
    S = loadings @ loadings.T / 20 + np.diag(rng.uniform(0.5, 1.5, assets))
    mu, cap = rng.normal(size=assets), np.full(assets, 10 / assets)
    rows = {"a": np.ones((1, assets)), "b": np.ones(1)}

    def timed(run: Callable[[], Any]) -> tuple[float, Any]:
        began = time.perf_counter()
        result = run()
        return time.perf_counter() - began, result

    theirs = [timed(lambda: CLA(mu, S, np.zeros(assets), cap, **rows)) for _ in range(3)]
    cla = theirs[0][1]
    top = 1.01 * max(point.lamb for point in cla.turning_points if np.isfinite(point.lamb))
    problem, lam = known.frontier(mu, S, (np.zeros(assets), cap), **rows)
    compiling, source = timed(lambda: LineOfPrograms(problem, {lam: top}, {lam: 0.0}))
    mine = [timed(lambda: trace_problem(source, certify=False, progress=False)) for _ in range(3)]
    path = mine[0][1]
    proving, proof = timed(lambda: path.proof)
    apart = max(
        abs(path.value(**{"lambda": p.lamb}) - (0.5 * p.weights @ S @ p.weights - p.lamb * mu @ p.weights))
        for p in cla.turning_points
        if np.isfinite(p.lamb)
    )
    seconds, their_seconds = (min(each for each, _ in runs) for runs in (mine, theirs))
    ratio = seconds / their_seconds
    missed = "" if ratio <= 2 else "  MISSED"
    return (
        f"frontier of {assets} assets, caps: path of {path.breakpoints.size - 1} pieces {seconds:.2f} s "
        f"(compile {compiling:.2f}, proof {proving:.2f}, {proof!r}); cvxcla {their_seconds:.2f} s, "
        f"{len(cla.turning_points)} turning points, values differ by {apart:.0e}; "
        f"ratio {ratio:.2f} (required 2){missed}"
    )


def installed(package: str) -> bool:
    try:
        importlib.import_module(package)
    except ImportError:
        return False
    return True


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: python tests/benchmarks/census.py --seeds 100"
    )
    parser.add_argument("--seeds", type=int, default=100, help="data sets of each design; default: 100")
    parser.add_argument("--find", choices=CODES, action="append", help="print ten lines for each finding of this code")
    parser.add_argument("--assets", type=int, default=500, help="of the frontier that is timed; default: 500")
    parser.add_argument("--smoke", action="store_true", help="3 seeds, 40 assets: half a minute")
    args = parser.parse_args(argv)
    seeds, assets = (3, 40) if args.smoke else (args.seeds, args.assets)
    codes = [code for code, (package, *_) in CODES.items() if installed(package)]
    for code in CODES:
        if code not in codes:
            print(f"{code}: {CODES[code][0]} is not installed, left out")
    if args.find:
        findings([code for code in args.find if code in codes], seeds)
        return 0
    _, good = census(codes, seeds)
    if installed("cvxcla"):
        print("\n".join(textwrap.wrap(frontier(assets), 118, subsequent_indent="  ")))
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
