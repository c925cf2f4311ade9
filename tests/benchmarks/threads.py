"""With the threads of BLAS that a user has by default, beside one thread: time of the processor, and on the clock.

Run ``python tests/benchmarks/threads.py`` (minutes; ``--smoke`` for seconds; ``--only JOB ...`` for some).
Two processes take turns on each job, one with one thread, the other with what BLAS takes by itself:

- ``lasso``, ``verify``, ``within``, ``command``, ``classes``: the five jobs of the README;
- ``svm``: costs of an RBF SVM of 400 samples; ``wide``: a lasso of 400 x 250; ``quantile``: 300 x 30; ``fused``: 200;
- ``plane``: all regions of a double integrator with a terminal weight, horizon 9;
- ``left-out``: scores of 200 samples, each without itself.

The table has seconds with one thread and by default, medians of the turns, their ratio and its spread, first of the
processor, then on the clock. A ratio of more than 1.2 in time of the processor is marked with ``<``, and the run fails;
on the clock it is marked only, as that hangs on what else the machine does.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
TURNS, MOST = 7, 1.2

Task = Callable[[], Any]


def regression(n: int, d: int) -> tuple[Any, Any]:
    """Samples, and responses of which ten features tell."""
    import numpy as np

    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d))
    return X, X[:, :10] @ rng.normal(size=min(d, 10)) + rng.normal(size=n)


def lasso(n: int, d: int) -> Task:
    """The path of a lasso from nothing to a fiftieth of the weight where it begins, with its proof in words."""
    import cvxpy as cp
    import numpy as np

    import paretoclf as pc

    X, y = regression(n, d)
    w, lam, top = cp.Variable(d, name="w"), cp.Parameter(nonneg=True, name="lam"), float(np.abs(X.T @ y).max())
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) / 2 + lam * cp.norm1(w)))
    return lambda: pc.trace(problem, {lam: top}, {lam: 0.02 * top}, progress=False).proof.explain()


def verify() -> Task:
    """Somebody's hinge loss, solved and judged."""
    import cvxpy as cp
    import numpy as np

    import paretoclf as pc

    X, y = np.array([[1.0], [2.0], [-1.0], [-2.0]]), np.array([1.0, 1.0, -1.0, -1.0])
    w, b = cp.Variable(1, name="w"), cp.Variable(name="b")
    hinge = cp.pos(1 - cp.multiply(y, X @ w + b))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + cp.sum(hinge)))
    problem.solve(solver="CLARABEL")
    return lambda: pc.verify(problem)


def within(eps: float) -> Task:
    """A path within eps."""
    import cvxpy as cp

    import paretoclf as pc

    x, tau = cp.Variable(3, name="x"), cp.Parameter(nonneg=True, name="tau")
    nearest = cp.Problem(cp.Minimize(cp.norm2(x - [3, 2, 1]) + 0.3 * cp.norm1(x)), [cp.norm2(x) <= tau])
    return lambda: pc.trace(nearest, start={tau: 0.5}, stop={tau: 3.0}, eps=eps, progress=False)


def command(*options: str) -> Task:
    """``paretoclf trace wdbc``, with its pictures."""
    from paretoclf.cli import main

    def task() -> None:
        with tempfile.TemporaryDirectory() as folder:
            main(["trace", "wdbc", "--quiet", "--out", folder, *options])

    return task


def classes(repeats: int) -> Task:
    """A line of costs, beside CVXPY, held out, and chosen by nested folds."""
    import paretoclf as pc

    data = pc.datasets.load("wdbc")
    X, y = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0), data.y
    train, test, ends = slice(0, None, 2), slice(1, None, 2), ((0.02, 0.98), (0.98, 0.02))

    def task() -> Any:
        svm = pc.TwoCSVM(X[train], y[train])
        path = pc.trace(svm, *ends, progress=False)
        pc.compare(path, svm, n=5, rng=0)
        pc.roc_of_path(path, X[test], y[test], vary="asymmetry")
        return pc.cross_validated_roc(svm, *ends, folds=3, inner=3, repeats=repeats, progress=False)

    return task


def two_classes(n: int) -> Any:
    """An RBF SVM of two Gaussian classes."""
    import numpy as np

    import paretoclf as pc

    y = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    return pc.TwoCSVM(np.random.default_rng(0).normal(size=(n, 10)) + y[:, None] / 10**0.5, y, pc.RBF(5**0.5))


def svm(n: int) -> Task:
    """An asymmetry line, with its kernel matrix."""
    import paretoclf as pc

    return lambda: pc.trace(two_classes(n), (0.04, 1.96), (1.96, 0.04), progress=False)


def left_out(n: int) -> Task:
    """Each sample scored without it."""
    import paretoclf as pc

    return lambda: pc.leave_one_out(two_classes(n), (1.0, 1.0)).scores


def quantile(n: int, d: int) -> Task:
    """Quantile regression from one tenth to nine."""
    import cvxpy as cp

    import paretoclf as pc

    X, y = regression(n, d)
    w, tau = cp.Variable(d), cp.Parameter(nonneg=True)
    up, down = cp.Variable(n, nonneg=True), cp.Variable(n, nonneg=True)
    problem = cp.Problem(cp.Minimize(tau * cp.sum(up) + (1 - tau) * cp.sum(down)), [X @ w + up - down == y])
    return lambda: pc.trace(problem, {tau: 0.1}, {tau: 0.9}, progress=False)


def fused(n: int) -> Task:
    """A signal from itself to its mean."""
    import paretoclf as pc
    from tests.oracles.sized_programs import signal

    problem, *ends = signal(n, 1, float(n))
    return lambda: pc.trace(problem, *ends, progress=False)


def plane(horizon: int) -> Task:
    """A double integrator steered to 0, from a rectangle of states."""
    import cvxpy as cp
    import numpy as np

    import paretoclf as pc

    A, B = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[0.5], [1.0]])
    x, u, place, speed = cp.Variable((2, horizon + 1)), cp.Variable((1, horizon)), cp.Parameter(), cp.Parameter()
    limits = [x[0, 0] == place, x[1, 0] == speed, x[:, 1:] == A @ x[:, :-1] + B @ u, cp.abs(u) <= 1]
    cost = cp.sum_squares(x) + 0.1 * cp.sum_squares(u) + 10 * cp.sum_squares(x[:, horizon])
    problem = cp.Problem(cp.Minimize(cost), [*limits, cp.abs(x[:, 1:]) <= 5])
    return lambda: pc.plane(problem, {place: (-3.0, 3.0), speed: (-1.5, 1.5)}, progress=False)


#: Each job: what makes it, for which size, and for which in a smoke.
JOBS: dict[str, tuple[Callable[..., Task], tuple[Any, ...], tuple[Any, ...]]] = {
    "lasso": (lasso, (50, 5), (20, 3)),
    "verify": (verify, (), ()),
    "within": (within, (1e-4,), (1e-2,)),
    "command": (command, (), ("--n", "80")),
    "classes": (classes, (2,), (1,)),
    "svm": (svm, (400,), (40,)),
    "wide": (lasso, (400, 250), (30, 20)),
    "quantile": (quantile, (300, 30), (30, 4)),
    "fused": (fused, (200,), (20,)),
    "plane": (plane, (9,), (3,)),
    "left-out": (left_out, (200,), (20,)),
}


def spent() -> float:
    """Seconds of the processor of this process, all its threads, and of those that it started and that have ended."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def work(name: str, smoke: bool) -> None:
    """Do a job once for nothing, then once for each line that comes in: seconds of the processor, and on the clock."""
    out, sys.stdout = sys.stdout, sys.stderr
    make, *sizes = JOBS[name]
    task = make(*sizes[smoke])
    task()
    for _ in sys.stdin:
        began = spent(), time.perf_counter()
        task()
        print(json.dumps([spent() - began[0], time.perf_counter() - began[1]]), file=out, flush=True)


class Worker:
    """A process that does one job, with one thread or as many as there are by default."""

    def __init__(self, name: str, smoke: bool, one: bool) -> None:
        environment = {key: value for key, value in os.environ.items() if key not in VARIABLES}
        environment |= dict.fromkeys(VARIABLES, "1") if one else {}
        command = [sys.executable, __file__, "--worker", name, *(["--smoke"] if smoke else [])]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, text=True, env={**environment, "MPLBACKEND": "Agg"}, **pipes)

    def turn(self) -> list[float]:
        """Both times of one turn."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"failed: {' '.join(map(str, self.process.args))}")
        return list(json.loads(line))

    def end(self) -> None:
        """No more turns."""
        self.process.communicate()


def compared(name: str, smoke: bool, turns: int) -> list[list[tuple[float, float]]]:
    """Pairs of seconds, one thread and default, of each turn: of the processor, then on the clock."""
    workers = [Worker(name, smoke, one) for one in (True, False)]
    pairs = []
    for turn in range(turns):
        order = (0, 1) if turn % 2 else (1, 0)
        found = {k: workers[k].turn() for k in order}
        pairs.append((found[0], found[1]))
    for worker in workers:
        worker.end()
    return [[(one[kind], default[kind]) for one, default in pairs] for kind in range(2)]


def shown(pairs: list[tuple[float, float]]) -> tuple[str, float]:
    """Both medians, the median of the ratios, and from where to where ratios go."""
    one, default = (statistics.median(each) for each in zip(*pairs, strict=True))
    ratios = sorted(default / one for one, default in pairs)
    middle = statistics.median(ratios)
    mark = "<" if middle > MOST else " "
    return f"{one:9.3f}{default:9.3f}{middle:6.2f}{mark} ({ratios[0]:.2f} to {ratios[-1]:.2f})", middle


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="small sizes, one turn: seconds")
    parser.add_argument("--only", nargs="*", choices=JOBS, default=list(JOBS), help="these jobs")
    parser.add_argument("--turns", type=int, default=TURNS, help="of each of the two; default: %(default)s")
    parser.add_argument("--worker", choices=JOBS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        work(args.worker, args.smoke)
        return 0
    print(f"{os.cpu_count()} cores; seconds with one thread and by default, their ratio: processor; clock")
    failed = False
    for name in args.only:
        processor, clock = (shown(pairs) for pairs in compared(name, args.smoke, 1 if args.smoke else args.turns))
        print(f"{name:<10}{processor[0]:<40}{clock[0]}", flush=True)
        failed |= processor[1] > MOST and not args.smoke
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
