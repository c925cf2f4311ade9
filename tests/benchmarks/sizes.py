"""Paths of programs at the sizes that their users have, beside what they use instead, with time and memory.

Run ``python tests/benchmarks/sizes.py`` (minutes; ``--smoke`` for seconds; ``--only ROW ...`` for some rows), on one
thread, each row in a process of its own:

- ``svm``: primal, and dual with an RBF kernel, of a 2C-SVM of 500 samples in CVXPY, beside `paretoclf.trace` of costs;
- ``lasso``: 500 x 1000 and 1000 x 200 beside ``sklearn.linear_model.lars_path``;
- ``wide``: 50 x 2 000 and 100 x 4 000, to a tenth of the weight where they begin, beside the same;
- ``sparse``: 1 000 x 10 000, 3 000 x 30 000 and 10 000 x 100 000, ten numbers a column;
- ``rows``: a lasso of five coefficients and 30 000 rows beside one solution by Clarabel;
- ``quantile``: all quantiles of a regression with 4 features, 1 000 and 10 000 rows;
- ``fused``, ``trend``: a signal of 500, 2 000 and, fused, 10 000, from itself to its mean or a line, beside single
  solutions by Clarabel;
- ``factors``: the frontier of 500 assets with 20 factors, of 1 000 with 30, and of 2 000 with 50, beside ``cvxcla``
  where that is there;
- ``plan``: a sparse linear program of 400, 1 600 and 10 000 rows, each cost moved, from two starts;
- ``control``: a controller of horizon 400 with 20 states and 8 inputs, along a line of its initial state;
- ``ranges``: every number of a transport problem from 15 stores to 20 shops, and of a quadratic program of 20 columns
  and 40 rows, and one direction of that, beside single solutions by HiGHS and Clarabel;
- ``netlib``: linear programs (``PARETOCLF_DATA``), each cost moved by up to a tenth;
- ``small``: the small problems of ``against.py``, warm: the tiniest, the README's lasso beside CVXPY's compilation of
  it, a map, a path within eps, a program of arrays, and `paretoclf.verify` of a sum of norms beside CVXPY's solution;
- ``fits``: a ray and an asymmetry line of 200 and 2 000 samples, proved, beside one fit of ``SVC``, in turns;
- ``side``: a map, scores without each sample, a sweep, ranges, and a line in two parts, in one process and with
  ``n_jobs=2``: seconds on the clock, which say something on two quiet cores, and of the processor in the first process.

Seconds are of the processor, with proof, compiling apart. ``limit`` seconds (``--limit``, 300 by default) end a row.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from joblib.externals.loky import get_reusable_executor

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import paretoclf as pc
from paretoclf.path.programs import problem_path
from paretoclf.path.programs.problem_path import trace_problem
from paretoclf.solve.sources.problem_line import LineOfPrograms
from tests.benchmarks import against
from tests.oracles import sized_programs as programs


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the processor, and the result."""
    began = time.process_time()
    found = call()
    return time.process_time() - began, found


def path_of(problem: cp.Problem, start: Any, stop: Any) -> tuple[str, float, Any]:
    """What is said of a path, its seconds with proof, and the path."""
    compiling, source = timed(lambda: LineOfPrograms(problem, start, stop))
    seconds, path = timed(lambda: trace_problem(source, progress=False))
    end = "" if path.status == "end" else f", {path.status} from t = {path.t[-1]:.4g} on"
    said = f"{path.breakpoints.size - 1} pieces in {seconds:.2f} s with proof ({path.proof.worst.off_by:.0e}){end}"
    return f"{said}, compiling {compiling:.2f} s", seconds, path


def solved(problem: cp.Problem, values: dict[Any, float]) -> float:
    """Seconds of one solution by Clarabel, compiled before."""
    for parameter, value in values.items():
        parameter.value = value
    problem.solve(solver="CLARABEL")
    return timed(lambda: problem.solve(solver="CLARABEL"))[0]


def svm(n: int) -> Iterator[str]:
    """A 2C-SVM as a program, in both forms."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 10))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)
    for form, known in (("primal", pc.TwoCSVM(X, y)), ("dual", pc.TwoCSVM(X, y, pc.RBF(3.0)))):
        ends = [{known.parameters[key]: c for key, c in (("C_plus", c), ("C_minus", 1.0))} for c in (0.05, 1.0)]
        pc.trace(known, (0.05, 1.0), (1.0, 1.0))
        fast, path = timed(lambda known=known: pc.trace(known, (0.05, 1.0), (1.0, 1.0)))
        said, slow, other = path_of(known.model(form).problem, *ends)
        sign = 1 if form == "primal" else -1
        off = max(abs(path.value(t) - sign * other.value(t)) / path.value(t) for t in np.linspace(0, 1, 5))
        yield f"2C-SVM n = {n}, {form}: {said}; trace of costs {fast:.3f} s, ratio {slow / fast:.1f}, apart {off:.0e}"


def sparse(n: int, d: int) -> Iterator[str]:
    """A lasso of sparse features, to three tenths of the weight where it begins."""
    rng = np.random.default_rng(n + d)
    places = rng.integers(0, n, 10 * d), np.repeat(np.arange(d), 10)
    X = sp.csr_array((rng.normal(size=10 * d), places), shape=(n, d))
    y = X[:, :10] @ rng.normal(size=10) * 3.0 + 0.3 * rng.normal(size=n)
    w, lam, top = cp.Variable(d, name="w"), cp.Parameter(nonneg=True, name="lam"), float(np.abs(X.T @ y).max())
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) / 2 + lam * cp.norm1(w)))
    yield f"sparse lasso {n} x {d}: {path_of(problem, {lam: top}, {lam: 0.3 * top})[0]}"


def lasso(n: int, d: int, share: float = 0.02) -> Iterator[str]:
    """A lasso beside scikit-learn's path."""
    from sklearn.linear_model import lars_path

    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d))
    y = X[:, :10] @ rng.normal(size=10) + rng.normal(size=n)
    w, lam = cp.Variable(d, name="w"), cp.Parameter(nonneg=True, name="lam")
    top = float(np.abs(X.T @ y).max())
    low = share * top
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) / 2 + lam * cp.norm1(w)))
    said, seconds, path = path_of(problem, {lam: top}, {lam: low})
    theirs, (alphas, _, coefs) = timed(lambda: lars_path(X, y, alpha_min=low / n, method="lasso"))
    off = max(
        float(np.abs(path.at(lam=float(np.clip(a * n, low, top))).variables["w"] - coefs[:, k]).max())
        for k, a in list(enumerate(alphas))[:: max(len(alphas) // 7, 1)]
    )
    yield f"lasso {n} x {d}: {said}; lars_path {theirs:.3f} s, ratio {seconds / theirs:.1f}, apart {off:.0e}"


def rows(n: int) -> Iterator[str]:
    """Few coefficients and many rows."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 5))
    y = X @ np.array([3.0, -2.0, 1.0, 0.0, 0.0]) + rng.normal(size=n)
    w, lam = cp.Variable(5, name="w"), cp.Parameter(nonneg=True, name="lam")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) / 2 + lam * cp.norm1(w)))
    top = float(np.abs(X.T @ y).max())
    said, seconds, _ = path_of(problem, {lam: top}, {lam: 0.0})
    theirs = solved(problem, {lam: 0.1 * top})
    yield f"lasso {n} x 5: {said}; one Clarabel solution {theirs:.2f} s, ratio {seconds / theirs:.1f}"


def quantile(n: int) -> Iterator[str]:
    """All quantiles of a regression."""
    rng = np.random.default_rng(n)
    X = np.column_stack([np.ones(n), rng.normal(size=(n, 3))])
    y = X @ rng.normal(size=4) + rng.normal(size=n)
    w, tau = cp.Variable(4, name="w"), cp.Parameter(nonneg=True, name="tau")
    up, down = cp.Variable(n, nonneg=True, name="up"), cp.Variable(n, nonneg=True, name="down")
    problem = cp.Problem(cp.Minimize(tau * cp.sum(up) + (1 - tau) * cp.sum(down)), [X @ w + up - down == y])
    yield f"quantile regression {n} x 4: {path_of(problem, {tau: 0.02}, {tau: 0.98})[0]}"


def smoothing(order: int, n: int) -> Iterator[str]:
    """A signal, its differences of an order penalised, from nothing to all."""
    problem, start, stop = programs.signal(n, order, float(n) if order == 1 else float(n) ** 2 / 8)
    said, seconds, _ = path_of(problem, start, stop)
    theirs = solved(problem, {lam: 0.5 * top for lam, top in stop.items()})
    name = "fused lasso" if order == 1 else "trend filter"
    yield f"{name} n = {n}: {said}; one Clarabel solution {theirs:.3f} s: as long as {seconds / theirs:.0f}"


def factors(n: int, k: int) -> Iterator[str]:
    """The efficient frontier of a factor model, with caps."""
    said, seconds, _ = path_of(*programs.portfolio(n, k))
    peer = ""
    if n <= 500 and find_spec("cvxcla"):
        from cvxcla import CLA

        F, own, mu = programs.moments(n, k)
        S, one = F @ F.T + np.diag(own), {"a": np.ones((1, n)), "b": np.ones(1)}
        theirs, cla = timed(lambda: CLA(mu, S, np.zeros(n), np.full(n, 10 / n), **one))
        peer = f"; cvxcla {theirs:.2f} s, {len(cla.turning_points)} turning points, ratio {seconds / theirs:.2f}"
    yield f"portfolio of {n} with {k} factors: {said}{peer}"


def plan(m: int) -> Iterator[str]:
    """A sparse linear program of m rows, its costs moved, with the start that HiGHS finds and with the own one."""
    data, move = programs.planning(m)
    qp = pc.QP(None, *data, moves={"share": {"q": move}})
    for name, guess in (("HiGHS", problem_path.vertex), ("own", lambda problem, deadline: None)):
        with mock.patch.object(problem_path, "vertex", guess):
            seconds, path = timed(lambda: pc.trace(qp, {"share": 0.0}, {"share": 1.0}, progress=False))
        yield f"plan of {m} rows, {name} start: {path.breakpoints.size - 1} pieces in {seconds:.2f} s with proof"


def control(horizon: int) -> Iterator[str]:
    """A linear system steered to 0 with bounded inputs, as its initial state grows."""
    said = path_of(*programs.controller(horizon, seed=horizon))[0]
    yield f"control, horizon {horizon}, {28 * horizon} unknowns: {said}"


def netlib(count: int) -> Iterator[str]:
    """Linear programs from files, each cost moved."""
    folder = Path(os.environ.get("PARETOCLF_DATA", "none")) / "netlib"
    for file in sorted(folder.glob("*.mps"))[:count]:
        qp = pc.QP.from_file(file)
        move = np.random.default_rng(0).uniform(-0.1, 0.1, qp.q.size) * np.abs(qp.q)
        moved = pc.QP(qp.P, qp.q, qp.A, qp.l, qp.u, moves={"share": {"q": move}})
        try:
            seconds, path = timed(lambda moved=moved: pc.trace(moved, {"share": 0.0}, {"share": 1.0}, progress=False))
            said = f"{path.breakpoints.size - 1} pieces, {path.status}, {path.proof.worst.off_by:.0e}"
        except (pc.InputError, pc.DegeneratePathError) as error:
            seconds, said = float("nan"), f"refused: {error!s:.120}"
        yield f"{file.stem}, {qp.A.shape[0]} rows: {said}, {seconds:.2f} s"


def ranges(n: int) -> Iterator[str]:
    """Ranges of all numbers, and rates in one direction."""
    rng = np.random.default_rng(0)
    m = 3 * n // 4
    cost, supply, demand = rng.uniform(1.0, 10.0, (m, n)), rng.uniform(10.0, 20.0, m), rng.uniform(5.0, 10.0, n)
    flow = cp.Variable((m, n), nonneg=True, name="flow")
    limits = [cp.sum(flow, axis=1) <= supply, cp.sum(flow, axis=0) >= 0.9 * demand * supply.sum() / demand.sum()]
    F, A, s = rng.normal(size=(n, n)), rng.normal(size=(2 * n, n)), cp.Parameter(name="s", value=1.0)
    x = cp.Variable(n, name="x")
    objective = cp.sum_squares(F @ x) / n + 0.1 * cp.sum_squares(x) + 3 * s * (rng.normal(size=n) @ x)
    programs_of = (
        ("transport", "HIGHS", cp.Problem(cp.Minimize(cp.sum(cp.multiply(cost, flow))), limits)),
        ("quadratic", "CLARABEL", cp.Problem(cp.Minimize(objective), [A @ x <= s * rng.uniform(0.1, 1.0, 2 * n)])),
    )
    for name, solver, problem in programs_of:
        problem.solve(solver=solver)
        theirs, _ = timed(lambda problem=problem, solver=solver: problem.solve(solver=solver))
        seconds, found = timed(lambda problem=problem: pc.ranges(problem, progress=False))
        ratio = f"one solution {theirs:.4f} s: as long as {seconds / theirs:.0f}"
        yield f"{name} {n}: {len(found)} numbers in {seconds:.3f} s; {ratio}"
    seconds, found = timed(lambda: pc.derivatives(problem, {s: 1.0}))
    yield f"one direction in {seconds:.4f} s, as long as {seconds / theirs:.0f} solutions, two-sided: {found.two_sided}"


#: The small problems of ``against.py``, each with what of CVXPY alone is its unit.
SMALL = {
    ("tiny", 1): None,
    ("readme", 50): ("readme-compiled", 50),
    ("map", 4): None,
    ("eps", 3): None,
    ("arrays", 30): None,
    ("verify-socp", 5): ("solve-socp", 5),
}


def in_turns(tasks: list[Callable[[], Any]], turns: int) -> list[float]:
    """Seconds of each task: medians of turns, after one that warms up."""
    for task in tasks:
        task()
    times = [[against.seconds(task, 1) for task in tasks] for _ in range(turns)]
    return [statistics.median(each) for each in zip(*times, strict=True)]


def small(turns: int) -> Iterator[str]:
    """Small problems, some in units of what CVXPY alone takes for them."""
    for (name, n), unit in SMALL.items():
        tasks = [against.CASES[case][0](size) for case, size in ((name, n), *([unit] if unit else []))]
        seconds = in_turns(tasks, turns)
        beside = f"; {unit[0]} {1e3 * seconds[1]:.2f} ms, ratio {seconds[0] / seconds[1]:.1f}" if unit else ""
        yield f"{name} {n}: {1e3 * seconds[0]:.2f} ms{beside}"


def fits(n: int, turns: int) -> Iterator[str]:
    """A ray and a line of an SVM, proved, in fits of scikit-learn's."""
    from sklearn.svm import SVC

    X, y = against.two_classes(n)
    for kind in ("rbf", "linear"):
        fit = SVC(C=1.0, kernel=kind, gamma=0.1, cache_size=1000).fit  # gamma as the bandwidth of ``against.kernel``
        seconds, theirs = in_turns([against.both_lines(n, kind, True), partial(fit, X, y)], turns)
        yield f"SVM n = {n}, {kind}: {seconds:.3f} s, one fit {theirs:.4f} s, ratio {seconds / theirs:.1f}"


def side(n: int, m: int) -> Iterator[str]:
    """Take ``n_jobs``: programs of n columns, n shops, and 80 n rows; m samples."""
    rng, dense, (data, move) = np.random.default_rng(1), against.dense_program(n), programs.planning(80 * n)
    moves = {name: {"q": rng.normal(size=n), "u": rng.uniform(size=2 * n)} for name in ("r", "s")}
    mapped, plan = (
        pc.QP(dense.P, dense.q, dense.A, None, dense.u, moves=moves),
        pc.QP(None, *data, moves={"s": {"q": move}}),
    )
    machine, share = pc.TwoCSVM(*against.two_classes(m)), np.linspace(0.1, 0.9, 32)
    line = pc.trace(machine, (0.04, 1.96), (1.96, 0.04), progress=False)
    costs = {"C_plus": 2 * share, "C_minus": 2 - 2 * share}
    jobs: dict[str, tuple[Callable[..., Any], Callable[[Any], Any]]] = {
        f"map of {n} columns": (
            partial(pc.plane, mapped, {"r": (0.0, 0.5), "s": (0.0, 0.5)}),
            lambda found: len(found.regions),
        ),
        f"each of {m} samples left out": (line.leave_one_out, lambda found: found(0.3)),
        f"sweep of {share.size} costs": (partial(pc.sweep, machine, **costs), lambda found: found.values),
        f"ranges, {n} shops": (partial(pc.ranges, against.transport(n)), len),
        f"plan of {80 * n} rows, 2 parts": (
            partial(pc.trace, plan, {"s": 0.0}, {"s": 1.0}, parts=2),
            lambda found: found.breakpoints,
        ),
    }
    pc.sweep(machine, C_plus=[0.1] * 16, C_minus=[0.1] * 16, n_jobs=2, progress=False)  # the processes are there
    for name, (job, read) in jobs.items():
        said, results = [], []
        for n_jobs in (None, 2):
            clock = time.perf_counter()
            seconds, found = timed(partial(job, n_jobs=n_jobs, progress=False))
            said.append(f"{time.perf_counter() - clock:.2f} s on the clock, {seconds:.2f} s of the first process")
            results.append(read(found))
        off = float(np.abs(np.subtract(*results)).max())
        yield f"{name}: {said[0]}; with n_jobs=2 {said[1]}; apart {off:.0e}"
    get_reusable_executor().shutdown()  # which a process that was started by multiprocessing waits for


#: Each row: what makes it, for which sizes, and for which in a smoke.
ROWS: dict[str, tuple[Callable[..., Iterator[str]], tuple[tuple[float, ...], ...], tuple[float, ...]]] = {
    "svm": (svm, ((500,),), (40,)),
    "lasso": (lasso, ((500, 1000), (1000, 200)), (30, 10)),
    "wide": (lasso, ((50, 2000, 0.1), (100, 4000, 0.1)), (10, 200, 0.1)),
    "sparse": (sparse, ((1000, 10_000), (3000, 30_000), (10_000, 100_000)), (30, 300)),
    "rows": (rows, ((30_000,),), (200,)),
    "quantile": (quantile, ((1000,), (10_000,)), (40,)),
    "fused": (smoothing, ((1, 500), (1, 2000), (1, 10_000)), (1, 20)),
    "trend": (smoothing, ((2, 500), (2, 2000)), (2, 20)),
    "factors": (factors, ((500, 20), (1000, 30), (2000, 50)), (20, 3)),
    "plan": (plan, ((400,), (1600,), (10_000,)), (20,)),
    "control": (control, ((400,),), (4,)),
    "ranges": (ranges, ((20,),), (4,)),
    "netlib": (netlib, ((10,),), (1,)),
    "small": (small, ((20,),), (1,)),
    "fits": (fits, ((200, 9), (2000, 5)), (40, 1)),
    "side": (side, ((20, 200),), (4, 20)),
}


def row(name: str, size: tuple[float, ...]) -> None:
    """Print a row, line by line, and the memory that it took."""
    try:
        for line in ROWS[name][0](*size):
            print(f"{line}; {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB", flush=True)
    except (pc.InputError, pc.DegeneratePathError) as error:
        print(f"{name} {', '.join(map(str, size))}: refused: {error}", flush=True)


def main() -> None:
    """Each row in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="the smallest sizes")
    parser.add_argument("--only", nargs="*", choices=ROWS, default=list(ROWS), help="these rows")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds that a row may take")
    args = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    for name in args.only:
        for size in (ROWS[name][2],) if args.smoke else ROWS[name][1]:
            process = context.Process(target=row, args=(name, size))
            process.start()
            process.join(args.limit)
            if process.is_alive():
                process.terminate()
                process.join()
                print(f"{name} {', '.join(map(str, size))}: not done in {args.limit:g} s")
            elif process.exitcode:
                sys.exit(f"{name}: failed")


if __name__ == "__main__":
    main()
