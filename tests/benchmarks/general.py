"""Paths of any problem written in CVXPY: right in every family, and what they cost beside what people do instead.

Run ``python tests/benchmarks/general.py`` (ten minutes; ``--smoke`` for less; one part by its name, such as
``--only families``), on one thread:

- families: every family of `tests/oracles/lines.py` against Clarabel (1e-12) at 20 random t; required: 1e-8 relative
  to the value (to no less than 1e-3), and every t proved;
- lars: a lasso of 200 samples and 100 coefficients beside ``sklearn.linear_model.lars_path``, in its knots and between;
  required: at most 5 times its time, the proof included, CVXPY's compiling apart;
- sweep: the path of a 2C-SVM (n + m = 51, 201, 999 in the compiled program) beside 100 solutions of the same
  ``cvxpy.Problem``, compiled once, by the faster of Clarabel (its defaults) and OSQP (1e-6, warm-started); required:
  less than 1, less than 1, at most 2;
- svm: primal and dual of a 2C-SVM of 500 samples, in CVXPY, beside `paretoclf.trace` of costs; required: at most 3;
- maros: problems of Maros and Meszaros (``PARETOCLF_DATA``) with n + m up to ``--largest``, 1500 by default: q moved by
  10 %, q moved by a random half, and b moved by 10 %; required: 95 % traced to the end or to a proved ray, none wrong
  against Clarabel (1e-10) at three t. ``--seconds`` is the time that each may take, 60 by default.

A row that misses what is required ends with "MISSED", and the exit status is then 1 (not with ``--smoke``).
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.io
import scipy.sparse as sp
from sklearn.linear_model import lars_path
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import paretoclf as pc
from paretoclf.engine.reduction.program import ProgramLine, Reading
from paretoclf.path.programs.problem_path import trace_problem
from paretoclf.solve.sources.problem_line import LineOfPrograms
from tests.oracles import lines

PARTS = ("families", "lars", "sweep", "svm", "maros")


def families(smoke: bool) -> Iterator[tuple[str, bool]]:
    """Values against Clarabel."""
    yield (
        f"{'':<26}{'n + m':>7}{'items':>7}{'pieces':>8}{'largest':>10}{'proof':>9}{'compile':>9}{'trace ms':>9}",
        False,
    )
    for name, make in list(lines.FAMILIES.items())[:: 8 if smoke else 1]:
        problem, start, stop = make()
        path = pc.trace(problem, start, stop, progress=False)
        off = 0.0
        for t in np.random.default_rng(0).uniform(0, path.t[-1], 3 if smoke else 20):
            theirs = lines.solved(problem, start, stop, t)
            off = max(off, abs(path.value(t) - theirs) / max(abs(theirs), 1e-3))
        ms = {key: 1e3 * seconds for key, seconds in path.seconds.items()}
        size = path.program.n + path.program.m
        yield (
            (
                f"{name:<26}{size:>7}{len(path.items):>7}{len(path.labels):>8}{off:>10.0e}{path.proof.worst.off_by:>9.0e}"
                f"{ms['compile']:>9.0f}{ms['reduce'] + ms['trace']:>9.0f}"
            ),
            not (off <= 1e-8 and path.proof.passes()),
        )


def timed(call: Callable[[], Any], turns: int) -> tuple[float, Any]:
    """The median of several runs in seconds of the processor, and the last result."""
    seconds, found = [], None
    for _ in range(turns):
        began = time.process_time()
        found = call()
        seconds.append(time.process_time() - began)
    return float(np.median(seconds)), found


def lars(smoke: bool) -> Iterator[tuple[str, bool]]:
    """A lasso beside scikit-learn's."""
    n, d = (40, 8) if smoke else (200, 100)
    problem, start, stop = lines.lasso(n, d)
    rng = np.random.default_rng(n + d)  # the same data
    X = rng.normal(size=(n, d))
    y = X[:, :2] @ rng.normal(size=2) + rng.normal(size=n)
    theirs, (alphas, _, coefs) = timed(lambda: lars_path(X, y, method="lasso", alpha_min=0.1 / n), 5)
    compiling, source = timed(lambda: LineOfPrograms(problem, start, stop), 1 if smoke else 5)
    ours, path = timed(lambda: trace_problem(source, progress=False), 1 if smoke else 5)  # proved, or refused
    lam, off = alphas * n, 0.0
    for k, share in ((k, share) for k in range(len(lam) - 1) for share in (0.0, 0.5)):
        at = (1 - share) * lam[k] + share * lam[k + 1]
        w = (1 - share) * coefs[:, k] + share * coefs[:, k + 1]
        off = max(off, float(np.abs(path.at(lam=max(at, 0.1)).variables["w"] - w).max()))
    yield (
        (
            f"lasso {n} x {d}: {1e3 * ours:.0f} ms with proof, compiling {1e3 * compiling:.0f} ms, lars_path "
            f"{1e3 * theirs:.1f} ms, ratio {ours / theirs:.1f} (required 5), {(ours + compiling) / theirs:.1f} with "
            f"compiling, coefficients differ by {off:.0e}"
        ),
        ours > 5 * theirs,
    )


def swept(family: tuple[Any, Any, Any], points: int, solver: str) -> None:
    """The loop that a path stands for."""
    problem, start, stop = family
    options = {"eps_abs": 1e-6, "eps_rel": 1e-6, "warm_start": True} if solver == "OSQP" else {}
    for t in np.linspace(0, 1, points):
        for p in start:
            p.value = (1 - t) * start[p] + t * stop[p]
        problem.solve(solver=solver, **options)


def sweep(smoke: bool) -> Iterator[tuple[str, bool]]:
    """A path beside 100 points."""
    points = 5 if smoke else 100
    for n, required in ((15, 1.0), (65, 1.0), (331, 2.0))[: 1 if smoke else 3]:
        family = lines.svm(n, 5, slacks=True)
        ours, path = timed(partial(pc.trace, *family, progress=False), 1 if smoke else 3)
        swept(family, 1, "CLARABEL")  # compiled
        theirs = {solver: timed(partial(swept, family, points, solver), 1)[0] for solver in ("CLARABEL", "OSQP")}
        best, size = min(theirs.values()), path.program.n + path.program.m
        said = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in theirs.items())
        yield (
            (
                f"n + m = {size}: path of {len(path.labels)} pieces {ours:.2f} s with proof; {points} points: {said}; "
                f"ratio {ours / best:.2f} (required {required:g})"
            ),
            ours > required * best,
        )


def svm(smoke: bool) -> Iterator[tuple[str, bool]]:
    """A 2C-SVM beside the tracker of costs."""
    n = 60 if smoke else 500
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 10))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)
    known = pc.TwoCSVM(X, y)
    ends = [{known.parameters[key]: c for key, c in (("C_plus", c), ("C_minus", 1.0))} for c in (0.05, 1.0)]
    for form, sign in (("primal", 1), ("dual", -1)):
        fast, path = timed(lambda: pc.trace(known, (0.05, 1.0), (1.0, 1.0)), 5)
        problem = known.model(form).problem
        compiling, source = timed(partial(LineOfPrograms, problem, *ends), 1)
        slow, other = timed(partial(trace_problem, source, progress=False), 1 if smoke else 5)
        off = max(abs(path.value(t) - sign * other.value(t)) / path.value(t) for t in np.linspace(0, 1, 9))
        yield (
            (
                f"2C-SVM n = {n}, {form}: general {slow:.3f} s ({len(other.labels)} pieces), compiling {compiling:.3f} "
                f"s, trace of costs {fast:.3f} s ({path.breakpoints.size - 1} pieces), both with proof, ratio "
                f"{slow / fast:.0f} (required 3), values differ by {off:.0e}"
            ),
            slow > 3 * fast,
        )


@dataclass
class Moved:
    """A problem of Maros and Meszaros along a line: what `trace_problem` needs."""

    line: ProgramLine
    ends = ({"t": np.array(0.0)}, {"t": np.array(1.0)})
    seconds = 0.0


def loaded(file: Path) -> ProgramLine:
    """A problem that stands still."""
    given = scipy.io.loadmat(file)
    P, A = sp.csc_array(given["P"]), sp.csr_array(given["A"])
    q, low, high = (given[name].ravel().astype(float) for name in ("q", "l", "u"))
    same = np.flatnonzero(low == high)
    above, below = (np.flatnonzero((low != high) & finite) for finite in (high < 1e19, low > -1e19))
    rows = sp.csc_array(sp.vstack([A[same], A[above], -A[below]]))
    b = np.concatenate([low[same], high[above], -low[below]])
    names = [{key: Reading((n,), np.arange(n), np.ones(n))} for key, n in (("x", q.size), ("rows", b.size))]
    still = np.stack([q, q]), np.stack([b, b]), np.full(2, float(np.ravel(given["r"])[0]))
    return ProgramLine(sp.csc_array((P + P.T) / 2), rows, *still, same.size, 1, *names)


def moves(line: ProgramLine) -> Iterator[tuple[str, ProgramLine]]:
    """The ways in which it is moved."""
    rng = np.random.default_rng(0)
    size = np.abs(line.q[0]).max() or 1.0
    yield "q by 10 %", replace(line, q=np.stack([line.q[0], 1.1 * line.q[0]]))
    yield "q by half", replace(line, q=np.stack([line.q[0], line.q[0] + 0.5 * size * rng.uniform(-1, 1, line.n)]))
    yield "b by 10 %", replace(line, b=np.stack([line.b[0], 1.1 * line.b[0]]))


def value_of(line: ProgramLine, t: float) -> float:
    """Clarabel's value, nan where it has none."""
    x, e = cp.Variable(line.n), line.equations
    q, b = ((1 - t) * ends[0] + t * ends[1] for ends in (line.q, line.b))
    constraints = [line.A[:e] @ x == b[:e]] * (e > 0) + [line.A[e:] @ x <= b[e:]] * (e < line.m)
    quadratic = cp.quad_form(x, cp.psd_wrap(line.P)) / 2 if line.P.nnz else 0.0
    problem = cp.Problem(cp.Minimize(quadratic + q @ x), constraints)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem.solve("CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    except cp.SolverError:
        return float("nan")
    return float(problem.value + line.constant[0]) if problem.status == "optimal" else float("nan")


def verdict(line: ProgramLine, seconds: int) -> tuple[str, str]:
    """What became of one line."""
    signal.alarm(seconds)
    began = time.perf_counter()
    try:
        path = trace_problem(Moved(line), progress=False)  # proved, or refused
    except TimeoutError:
        return "late", f"more than {seconds} s"
    except pc.ParetoclfError as error:
        return "refused", str(error)[:90]
    finally:
        signal.alarm(0)
    took, off = time.perf_counter() - began, 0.0
    for t in np.random.default_rng(1).uniform(0, path.t[-1], 3):
        theirs = value_of(line, float(t))
        off = max(off, abs(path.value(float(t)) - theirs) / max(abs(theirs), 1e-3) if np.isfinite(theirs) else 0.0)
    proof = f"proof {path.proof.worst.off_by:.0e}"
    said = f"{path.status}, {len(path.labels)} pieces, {took:.1f} s, {proof}, differs by {off:.0e}"
    return ("wrong" if off > 1e-5 else "right"), said


def maros(smoke: bool, largest: int = 1500, seconds: int = 60) -> Iterator[tuple[str, bool]]:
    """Problems that others have collected."""
    data = os.environ.get("PARETOCLF_DATA")
    if not data:
        yield "maros: PARETOCLF_DATA is not set", False
        return

    def late(*_: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    files = {}
    for file in sorted((Path(data) / "maros_meszaros").glob("*.mat")):
        sizes = {key: shape for key, shape, _ in scipy.io.whosmat(file)}
        if (total := sum(sizes["A"])) <= (30 if smoke else largest):
            files[file] = total
    counted: Counter[str] = Counter()
    for file, total in sorted(files.items(), key=lambda each: each[1]):
        for how, line in moves(loaded(file)):
            found, said = verdict(line, seconds)
            counted[found] += 1
            yield f"{file.stem:<10}{total:>6}  {how}  {found:<8}{said}", False
    every = sum(counted.values())
    share = counted["right"] / max(every, 1)
    told = ", ".join(f"{counted[key]} {key}" for key in ("right", "wrong", "refused", "late"))
    yield (
        f"{len(files)} problems, {every} lines: {told}: {100 * share:.1f} % (required 95 %)",
        (share < 0.95 or counted["wrong"] > 0),
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: python tests/benchmarks/general.py --only sweep"
    )
    parser.add_argument("--only", choices=PARTS, help="one part; default: all")
    parser.add_argument("--largest", type=int, default=1500, help="n + m of the problems of Maros and Meszaros")
    parser.add_argument("--seconds", type=int, default=60, help="for each of those; default: 60")
    parser.add_argument("--smoke", action="store_true", help="smallest sizes: seconds")
    args = parser.parse_args(argv)
    missed = False
    for part in (args.only,) if args.only else PARTS:
        options = {"largest": args.largest, "seconds": args.seconds} if part == "maros" else {}
        for row, late in globals()[part](args.smoke, **options):
            print(row + ("  MISSED" if late else ""), flush=True)
            missed |= late
    return int(missed and not args.smoke)


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
