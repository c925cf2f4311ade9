"""Curves of families of problems beside what is required of them: ``python tests/benchmarks/curves.py`` (half an hour).

``--smoke`` takes seconds. ``--families`` and ``--seeds`` choose; ``--fresh`` says at how many t of each path its bounds
are held against Clarabel's interval from the dual to the primal value; ``--apart`` leaves out the paths within 1e-6. A
line a path: columns and rows, pieces, interior-point solves (those that find branches, and those for points inside),
events, the proved width of smooth pieces and of chords, the length that these have, CPU seconds, those of a path within
1e-6, and values apart. Then a table of what is required, with the number of paths that meet it.

``--certificates`` writes the certificate file of each path instead, has it checked, and prints a table of that.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cvxpy as cp
import numpy as np

import paretoclf as pc
from paretoclf.proof import check_band, check_curve
from paretoclf.solve.eps.solver import ConeSolver
from paretoclf.solve.judging.cone_proof import certify_problem

Family = Callable[[np.random.Generator], tuple[cp.Problem, dict[Any, float], dict[Any, float]]]


def regression(rng, n, d, noise=1.0):
    X = rng.normal(size=(n, d))
    return X, X[:, :4] @ [3, -2, 1, 0.5] + noise * rng.normal(size=n)


def classes(rng, n, d, apart):
    labels = np.sign(rng.normal(size=n))
    return rng.normal(size=(n, d)) + apart * labels[:, None], labels


def two_norms(rng):
    x, lam = cp.Variable(3), cp.Parameter(nonneg=True)
    near, far = rng.normal(size=(2, 3)) * 2
    objective = cp.norm2(x - near) + lam * cp.norm2(x - far) + 0.3 * cp.sum_squares(x)
    return cp.Problem(cp.Minimize(objective)), {lam: 0.2}, {lam: 3.0}


def largest_eigenvalue(rng):
    matrices = [(G + G.T) / 2 for G in rng.normal(size=(4, 5, 5))]
    v, cost = cp.Variable(3), cp.Parameter()
    matrix = matrices[0] + sum(v[k] * matrices[k + 1] for k in range(3))
    return (
        cp.Problem(cp.Minimize(cp.lambda_max(matrix) + 0.1 * cp.sum_squares(v) + cost * v[0])),
        {cost: -0.5},
        {cost: 0.5},
    )


def square_root_lasso(rng):
    X, y = regression(rng, 40, 15)
    w, lam = cp.Variable(15), cp.Parameter(nonneg=True)
    return cp.Problem(cp.Minimize(cp.norm2(X @ w - y) + lam * cp.norm1(w))), {lam: 4.0}, {lam: 0.2}


def group_lasso(rng):
    X, y = regression(rng, 60, 24)
    w, lam = cp.Variable(24), cp.Parameter(nonneg=True)
    groups = sum(cp.norm2(w[3 * k : 3 * k + 3]) for k in range(8))
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) / 2 + lam * groups)), {lam: 60.0}, {lam: 1.0}


def completion(rng):
    M = np.outer(*rng.normal(size=(2, 6))) + 0.3 * rng.normal(size=(6, 6))
    known = rng.random((6, 6)) < 0.6
    X, lam = cp.Variable((6, 6)), cp.Parameter(nonneg=True)
    fit = cp.sum_squares(cp.multiply(known, X - M)) / 2
    return cp.Problem(cp.Minimize(fit + lam * cp.normNuc(X))), {lam: 2.0}, {lam: 0.2}


def entropy(rng):
    values = rng.normal(size=20)
    p, mean = cp.Variable(20), cp.Parameter()
    ends = {mean: float(values.mean())}, {mean: float(np.sort(values)[-3])}
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [cp.sum(p) == 1, values @ p == mean]), *ends


def logistic_lasso(rng):
    X = rng.normal(size=(40, 6))
    y = np.sign(X[:, 0] - X[:, 1] + rng.normal(size=40))
    w, lam = cp.Variable(6), cp.Parameter(nonneg=True)
    return (
        cp.Problem(cp.Minimize(cp.sum(cp.logistic(-(y[:, None] * X) @ w)) + lam * cp.norm1(w))),
        {lam: 8.0},
        {lam: 0.5},
    )


def logistic_ridge(rng):
    X = rng.normal(size=(40, 6))
    y = np.sign(X[:, 0] - X[:, 1] + rng.normal(size=40))
    w, lam = cp.Variable(6), cp.Parameter(nonneg=True)
    loss = cp.sum(cp.logistic(-(y[:, None] * X) @ w))
    return cp.Problem(cp.Minimize(loss + lam * cp.sum_squares(w))), {lam: 8.0}, {lam: 0.1}


def elastic_net(rng):
    X, y = regression(rng, 60, 20, 2.0)
    w, mu = cp.Variable(20), cp.Parameter(nonneg=True)
    fit = cp.sum_squares(X @ w - y) / 2 + 8 * cp.norm1(w)
    return cp.Problem(cp.Minimize(fit + mu / 2 * cp.sum_squares(w))), {mu: 0.01}, {mu: 100.0}


def shrinkage(rng):
    sample = np.cov((rng.normal(size=(30, 20)) * rng.uniform(0.5, 2, 20)).T)
    target, gain = np.sqrt(np.diag(np.diag(sample))), 0.3 * rng.normal(size=20)
    root = np.linalg.cholesky(sample + 1e-9 * np.eye(20)).T
    x, own, other = cp.Variable(20), cp.Parameter(nonneg=True), cp.Parameter(nonneg=True)
    risk = own / 2 * cp.sum_squares(root @ x) + other / 2 * cp.sum_squares(target @ x)
    rows = [cp.sum(x) == 1, x >= 0, x <= 0.25]
    return cp.Problem(cp.Minimize(risk - gain @ x), rows), {own: 1.0, other: 0.0}, {own: 0.05, other: 0.95}


def robust_svm(rng):
    X, y = classes(rng, 30, 3, 1.0)
    w, b, radius = cp.Variable(3), cp.Variable(), cp.Parameter(nonneg=True)
    missed = cp.pos(1 - cp.multiply(y, X @ w + b) + radius * cp.norm2(w))
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + cp.sum(missed))), {radius: 0.05}, {radius: 0.5}


def norm_bounded_svm(rng):
    X, y = classes(rng, 40, 5, 0.7)
    w, b, most = cp.Variable(5), cp.Variable(), cp.Parameter(nonneg=True)
    loss = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b))) + 0.01 * b**2
    return cp.Problem(cp.Minimize(loss), [cp.norm2(w) <= most]), {most: 0.2}, {most: 2.0}


def huber(rng):
    X, y = regression(rng, 30, 6, 2.0)
    w, lam = cp.Variable(6), cp.Parameter(nonneg=True)
    return cp.Problem(cp.Minimize(cp.sum(cp.huber(X @ w - y)) + lam * cp.norm2(w))), {lam: 0.5}, {lam: 20.0}


def risk_aversion(rng):
    root, gain = rng.normal(size=(12, 10)), rng.normal(size=10) * 0.3
    x, price = cp.Variable(10), cp.Parameter(nonneg=True)
    rows = [cp.sum(x) == 1, x >= 0]
    return cp.Problem(cp.Minimize(price * cp.sum_squares(root @ x) - gain @ x), rows), {price: 0.05}, {price: 5.0}


def chance_constraint(rng):
    root, mean = rng.normal(size=(5, 5)) * 0.2, rng.uniform(0.5, 1.5, 5)
    x, safe = cp.Variable(5), cp.Parameter(nonneg=True)
    rows = [mean @ x + safe * cp.norm2(root @ x) <= 3, cp.norm2(x) <= 4]
    return cp.Problem(cp.Maximize(rng.uniform(0.5, 1.5, 5) @ x), rows), {safe: 0.5}, {safe: 3.0}


def moving_matrix(rng):
    first, step = rng.normal(size=(2, 12, 6))
    inner = rng.normal(size=6)
    sides = np.maximum(first @ inner, (first + step) @ inner) + rng.uniform(0.3, 1, 12)
    x, t = cp.Variable(6), cp.Parameter(nonneg=True)
    rows = [first @ x + t * (step @ x) <= sides, x <= 3, x >= -3]
    objective = rng.normal(size=6) @ x + cp.sum_squares(rng.normal(size=(3, 6)) @ x)
    return cp.Problem(cp.Minimize(objective), rows), {t: 0.0}, {t: 1.0}


def log_optimal(rng):
    """Shares of a bet on outcomes, with a price of turnover: exponential cones."""
    gains, held = rng.uniform(0.6, 1.5, (12, 4)), np.full(4, 0.25)
    x, price = cp.Variable(4), cp.Parameter(nonneg=True)
    growth = cp.sum(cp.log(gains @ x)) / 12
    rows = [cp.sum(x) == 1, x >= 0.01]
    return cp.Problem(cp.Minimize(1 - growth + price * cp.norm1(x - held)), rows), {price: 0.005}, {price: 0.2}


def moving_budget(rng):
    """Least risk where an equation's coefficients move."""
    root, gain = rng.normal(size=(8, 6)), rng.normal(size=6)
    weights = rng.uniform(-0.3, 0.3, 6)
    x, t = cp.Variable(6), cp.Parameter(nonneg=True)
    rows = [cp.sum(x) + t * (weights @ x) == 1, x >= 0]
    return cp.Problem(cp.Minimize(1 + cp.sum_squares(root @ x) - 0.1 * gain @ x), rows), {t: 0.0}, {t: 1.0}


#: Families, and how wide their bands may be: 1e-8 in one run of ten where it is 1e-9; infinite where it is only stated.
FAMILIES: dict[Family, float] = {
    two_norms: 1e-9,
    largest_eigenvalue: 1e-9,
    square_root_lasso: 1e-9,
    group_lasso: 1e-9,
    completion: 1e-9,
    entropy: 1e-9,
    logistic_lasso: 1e-9,
    elastic_net: 1e-8,
    shrinkage: 1e-8,
    robust_svm: 1e-7,
    logistic_ridge: np.inf,
    norm_bounded_svm: np.inf,
    huber: 1e-9,
    log_optimal: 1e-9,
    risk_aversion: 1e-8,
    chance_constraint: 1e-7,
    moving_matrix: 1e-7,
    moving_budget: 1e-7,
}


@dataclass(frozen=True)
class Measured:
    """One path, and what it cost; ``why`` there is none."""

    family: str
    seed: int
    bar: float
    width: float = np.inf
    width_of_chords: float = 0.0
    chords: float = 0.0
    events: int = 0
    solves: int = 0
    seconds: float = np.nan
    within: float = np.nan
    apart: int = 0
    compared: int = 0
    why: str = ""
    how: str = ""

    def __str__(self) -> str:
        name = f"{self.family:18s} {self.seed:3d}"
        if self.why:
            return f"{name} {self.seconds:.1f} s: {self.why}"
        return (
            f"{name} {self.how}, {self.events:2d} events; width {self.width:.1e}, chords {self.width_of_chords:.1e} on "
            f"{self.chords:.1e}; {self.seconds:5.1f} s, eps=1e-6 {self.within:5.1f} s; apart {self.apart} of "
            f"{self.compared}"
        )


def timed(make: Callable[[], Any]) -> tuple[Any, float]:
    """What is made, or the error, and CPU seconds."""
    began = time.process_time()
    try:
        made = make()
    except pc.ParetoclfError as error:
        made = f"{type(error).__name__}: {str(error)[:100]}"
    return made, time.process_time() - began


def apart(path: Any, count: int, rng: np.random.Generator) -> int:
    """At how many fresh t bounds and Clarabel's interval miss each other; another judge decides where they seem to."""
    found, solver, line = 0, ConeSolver(path.program, 1e-11), path.program
    for t in rng.random(count).tolist():
        x, z, _ = solver(t)
        bent = x @ (line.matrices(t)[0] @ x)
        price = (1 - t) * line.b[0] + t * line.b[1]
        primal, constant = line.value(x, t), line.sense * ((1 - t) * line.constant[0] + t * line.constant[1])
        theirs = sorted((primal, constant + line.sense * (-bent / 2 - price @ z)))
        low, high = path.bounds(t)
        if theirs[0] <= high and low <= theirs[1]:
            continue
        path.source.move(t)
        path.source.problem.solve("CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
        proof = certify_problem(path.source.problem)
        found += not (proof.lower <= high and low <= proof.upper)
    return found


def measured(family: Family, seed: int, fresh: int, within: bool) -> Measured:
    """A path of a family and its numbers."""

    def made() -> tuple[Any, ...]:
        return family(np.random.default_rng(seed))

    named = family.__name__, seed, FAMILIES[family]
    path, seconds = timed(lambda: pc.trace(*made(), curve=True, progress=False))
    if isinstance(path, str):
        return Measured(*named, why=path, seconds=seconds)
    other, taken = timed(lambda: pc.trace(*made(), eps=1e-6, progress=False)) if within else ("", np.nan)
    smooth, gap = np.array(path.smooth), path.proof.gap
    lengths = np.diff(path.t)
    size = f"{path.program.n:4d} x {path.program.m:3d}"
    how = f"{size}: {smooth.size:3d} pieces, {path.solves:3d} + {path.inner_solves:3d} solves"
    missed = apart(path, fresh, np.random.default_rng(seed)) if fresh else 0
    return Measured(
        *named,
        width=float(gap[smooth].max(initial=0.0)),
        width_of_chords=float(gap[~smooth].max(initial=0.0)),
        chords=float(lengths[~smooth].sum()),
        events=len({change.t for change in path.changes}),
        solves=path.solves,
        seconds=seconds,
        within=np.nan if isinstance(other, str) else taken,
        apart=missed,
        compared=fresh,
        how=how,
    )


def table(rows: list[Measured]) -> Iterator[str]:
    """What is required, and how many paths meet it."""
    found = [row for row in rows if not row.why]
    for name in dict.fromkeys(row.family for row in rows):
        own = [row for row in rows if row.family == name]
        worst = max(row.width for row in own)
        ratios = [row.seconds / row.within for row in own if row.within > 0]
        ratio = float(np.median(ratios)) if ratios else np.nan
        yield (
            f"{name:18s} {len(own)} paths, {sum(not row.why for row in own)} found; width <= {own[0].bar:.0e}: "
            f"{sum(row.width <= row.bar for row in own)}, worst {worst:.1e}; CPU over that of eps=1e-6: {ratio:.2f}"
        )
    held = [row for row in rows if np.isfinite(row.bar)]
    compared = [row for row in found if row.within > 0]
    tenfold = sum(row.width <= 10 * row.bar for row in held)
    yield f"width: {sum(row.width <= row.bar for row in held)} of {len(held)}, and {tenfold} within ten times that"
    yield f"chords on at most 2 %: {sum(not row.why and row.chords <= 0.02 for row in rows)} of {len(rows)}"
    yield f"solves at most 2 x events + 1: {sum(row.solves <= 2 * row.events + 1 for row in found)} of {len(found)}"
    yield f"CPU at most half of eps=1e-6: {sum(row.seconds <= row.within / 2 for row in compared)} of {len(compared)}"
    yield f"values apart: {sum(row.apart for row in found)} of {sum(row.compared for row in found)}"


def certified(family: Family, seed: int) -> str:
    """A row about the certificate file of a path."""
    path = pc.trace(*family(np.random.default_rng(seed)), curve=True, progress=False)
    name = f"| {family.__name__} {seed} | {path.program.n} x {path.program.m} | {len(path.pieces)} |"
    with TemporaryDirectory() as folder:
        file = Path(folder, "a.json")
        why, wrote = timed(lambda: path.proof.save(file, progress=False))
        if why:
            return f"{name} none: {why} |"
        content = json.loads(file.read_text())
        size = file.stat().st_size / 1e3
    pieces, checked = timed(lambda: check_curve.curve(content["problem"], content["stretches"]))
    share, own = check_band.share_of(pieces), path.proof.difference.max()
    relative = "-" if share is None else f"{float(share):.1e}"
    width = max(float(piece.width) for piece in pieces) / own
    return f"{name} {wrote:.1f} | {checked:.1f} | {size:.0f} kB | {relative} | {width:.2f} |"


def certificates(families: list[Family], seeds: int) -> Iterator[str]:
    """A table of certificate files; the last column is the width over that in doubles, both the largest."""
    yield "| path | columns x rows | pieces | write | check | size | width, of \\|V\\| | over that in doubles |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for family in families:
        for seed in range(seeds):
            try:
                yield certified(family, seed)
            except pc.ParetoclfError as error:
                yield f"| {family.__name__} {seed} | no path: {str(error)[:80]} |"


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    names = {family.__name__: family for family in FAMILIES}
    parser.add_argument("--families", nargs="+", choices=names, default=list(names))
    parser.add_argument("--seeds", type=int, default=8, help="so many seeds, from 0 (default: 8)")
    parser.add_argument("--fresh", type=int, default=700, help="fresh t of each path (default: 700, 10^5 in all)")
    parser.add_argument("--apart", action="store_true", help="without the paths within 1e-6")
    parser.add_argument("--smoke", action="store_true", help="two families, one seed: seconds")
    parser.add_argument("--certificates", action="store_true", help="a table of certificate files instead")
    args = parser.parse_args()
    chosen = args.families[:2] if args.smoke else args.families
    seeds, fresh = (1, 5) if args.smoke else (args.seeds, args.fresh)
    for line in certificates([names[name] for name in chosen], seeds) if args.certificates or args.smoke else ():
        print(line, flush=True)
    rows: list[Measured] = []
    for name in () if args.certificates else chosen:
        for seed in range(seeds):
            rows.append(measured(names[name], seed, fresh, not args.apart))
            print(rows[-1], flush=True)
    print(*table(rows) if rows else (), sep="\n")
