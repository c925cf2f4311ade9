"""This code beside an earlier revision of it: time, calls and memory, as ratios.

Run ``python tests/benchmarks/against.py REV`` (minutes), or ``REV CASE ...`` for the cases whose names begin so. Each
of the two is a folder with the package and its core, and uses what else this Python has installed. That of the
revision is made once and kept (in ``$XDG_CACHE_HOME/paretoclf/against``, by default in ``~/.cache``); where its core is
the present one, it takes that as it is built. Two processes, on one thread each, take turns on the same data, new ones
for every case; in a turn each does its work as often as takes a twentieth of a second. The table has, before and now:

- milliseconds of the processor, the medians of nine turns (the largest cases: of one), and their ratio;
- how many functions are called, those of NumPy and of Python itself among them, and the ratio;
- the peak memory of the process in megabytes, its libraries among it, and the ratio.

What the revision cannot do has no numbers there. ``first`` is a new Python that traces and proves one path. Two rows
are of CVXPY alone, each the unit of the row before it: ``readme-compiled`` compiles the README's lasso, ``solve-socp``
solves what ``verify-socp`` judges. A ratio of more than 1.1 in time is marked with ``<``: its reason stands in the
message of the commit.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import importlib.metadata
import importlib.util
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CORE = "paretoclf/engine/core"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
TURNS, LEAST, REASON, LARGE = 9, 0.05, 1.1, 4000

Task = Callable[[], Any]

#: Present names, and what they were called before: one that changes gets a line. None of these has.
OLDER: dict[str, str] = {}


def named(name: str) -> Any:
    """What the package calls so, or has called so: the only place that knows older names."""
    import paretoclf as pc

    return getattr(pc, name if hasattr(pc, name) else OLDER.get(name, name))


# ---- the cases: each makes its data, and returns what is to be done --------------------------------------------------


def two_classes(n: int, d: int = 10) -> tuple[Any, Any]:
    """Two Gaussian classes, their means 2 apart."""
    import numpy as np

    y = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    return np.random.default_rng(0).normal(size=(n, d)) + y[:, None] / np.sqrt(d), y


def kernel(name: str) -> Any:
    """The RBF kernel of bandwidth sqrt(5), or none."""
    return named("RBF")(5.0**0.5) if name == "rbf" else None


def both_lines(n: int, kind: str, certify: bool) -> Task:
    """Kernel matrix, ray to mean cost 10, and asymmetry line at total cost 2."""
    svm, trace, (X, y) = named("TwoCSVM"), named("trace"), two_classes(n)

    def task() -> Any:
        problem = svm(X, y, kernel=kernel(kind))
        ray = trace(problem, (0, 0), (10.0, 10.0), certify=certify, progress=False)
        return ray, trace(problem, (0.04, 1.96), (1.96, 0.04), hub=ray, certify=certify, progress=False)

    return task


def nu_path(n: int) -> Task:
    """All nu at asymmetry 1/2."""
    svm, trace, (X, y) = named("TwoNuSVM"), named("trace"), two_classes(n)
    return lambda: trace(svm(X, y, kernel("rbf")), nu=(0, None), asymmetry=0.5, progress=False)


def nu_grid(n: int) -> Task:
    """A grid of 12 x 12."""
    import numpy as np

    svm, grid, (X, y), shares = named("TwoNuSVM"), named("nu_grid"), two_classes(n), np.arange(1, 13) / 12
    return lambda: grid(svm(X, y, kernel("rbf")), shares, shares, progress=False)


def quantiles(n: int) -> Task:
    """All tau, 8 features."""
    svm, trace, (X, y) = named("QuantileSVM"), named("trace"), two_classes(n, 8)
    return lambda: trace(svm(X, y, bias=True), tau=(0, 1), lam=1e-3, progress=False)


def plane(n: int) -> Task:
    """Every region of the cost plane from 0.05 to 2."""
    svm, plane, (X, y) = named("TwoCSVM"), named("plane"), two_classes(n, 2)
    return lambda: plane(svm(X, y, kernel=named("RBF")(1.0)), (0.05, 2.0), (0.05, 2.0)).proof


def left_out(n: int) -> Task:
    """Each sample scored without it, at one pair of costs."""
    svm, leave_one_out, (X, y) = named("TwoCSVM"), named("leave_one_out"), two_classes(n)
    return lambda: leave_one_out(svm(X, y, kernel=kernel("rbf")), (1.0, 1.0)).scores


def program(kind: str, n: int) -> Task:
    """The path of a program that CVXPY states, as it is compiled each time."""
    import cvxpy as cp
    import numpy as np

    trace, (X, y), rng = named("trace"), two_classes(n, 5), np.random.default_rng(1)

    def task() -> Any:
        w, b, xi, p = cp.Variable(5), cp.Variable(), cp.Variable(n), cp.Parameter(nonneg=True)
        ends = (0.1, 5.0)
        if kind == "lasso":
            made = cp.Minimize(cp.sum_squares(X @ w - target) / 2 + p * cp.norm1(w)), []
        elif kind == "svm":
            rows = [cp.multiply(y, X @ w + b) >= 1 - xi, xi >= 0]
            made = cp.Minimize(cp.sum_squares(w) / 2 + p * cp.sum(xi)), rows
        elif kind == "frontier":
            x, (ends, risk) = cp.Variable(n), ((0.4, 0.7), np.diag(1.0 + np.arange(n) / n) + 0.1)
            made = cp.Minimize(cp.quad_form(x, risk) / 2), [cp.sum(x) == 1, x >= 0, np.linspace(0, 1, n) @ x == p]
        else:
            up, ends = cp.Variable(n, nonneg=True), (0.2, 0.8)
            rows = [up - xi == target - X @ w - b, xi >= 0]
            made = cp.Minimize(cp.sum(xi) + p * cp.sum(up - xi)), rows
        return trace(cp.Problem(*made), start={p: ends[0]}, stop={p: ends[1]}, progress=False)

    target = X @ np.arange(5.0) + rng.normal(size=n)
    return task


def of_readme(n: int, traced: bool) -> Task:
    """The README's lasso, made anew each time; traced and proved, or compiled by CVXPY alone, which is the unit."""
    import cvxpy as cp
    import numpy as np

    trace, A, noise = named("trace"), np.random.default_rng(0).normal(size=(n, 5)), np.random.default_rng(1)
    target = A @ [3.0, -2.0, 1.0, 0.0, 0.0] + noise.normal(size=n)

    def task() -> Any:
        w, lam = cp.Variable(5, name="w"), cp.Parameter(nonneg=True, name="lam")
        problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ w - target) / 2 + lam * cp.norm1(w)))
        if traced:
            return trace(problem, start={lam: 200.0}, stop={lam: 0.0}, progress=False).proof
        lam.value = 1.0
        return problem.get_problem_data("CLARABEL")

    return task


def of_norms(n: int, judged: bool) -> Task:
    """A solved sum of five norms in n variables; judged, or solved again by CVXPY alone, which is the unit."""
    import cvxpy as cp
    import numpy as np

    verify, rng, v = named("verify"), np.random.default_rng(0), cp.Variable(n)
    norms = [cp.norm2(rng.normal(size=(n + 1, n)) @ v - 1.0) for _ in range(5)]
    solved = cp.Problem(cp.Minimize(sum(norms)), [cp.norm2(v) <= 2])
    solved.solve("CLARABEL")
    return (lambda: verify(solved)) if judged else (lambda: solved.solve("CLARABEL"))


def small(kind: str, n: int) -> Task:
    """A small problem, made anew each time (but ``tiny``, which is made once)."""
    import cvxpy as cp
    import numpy as np

    trace, plane, rng = named("trace"), named("plane"), np.random.default_rng(0)
    A, move, sides = rng.normal(size=(2 * n, n)), rng.normal(size=n), rng.uniform(0.2, 1.0, 2 * n)
    one, p = cp.Variable(), cp.Parameter()
    tiny = cp.Problem(cp.Minimize(cp.square(one)), [one >= p])

    def of_kind() -> Any:
        x, first, last = cp.Variable(n), cp.Parameter(nonneg=True), cp.Parameter()
        if kind == "tiny":
            return trace(tiny, start={p: 1.0}, stop={p: 2.0}, progress=False)
        if kind == "map":
            rows = [A @ x <= sides + first]
            mapped = cp.Problem(cp.Minimize(cp.sum_squares(x - move) / 2 + last * cp.sum(x)), rows)
            return plane(mapped, {first: (0.0, 1.0), last: (-1.0, 1.0)}, progress=False)
        near = cp.norm2(x - np.arange(1.0, n + 1)) + 0.3 * cp.norm1(x)
        nearest = cp.Problem(cp.Minimize(near), [cp.norm2(x) <= first])
        return trace(nearest, start={first: 0.5}, stop={first: 3.0}, eps=1e-4, progress=False)

    return of_kind


def of_arrays(n: int) -> Task:
    """The path of a quadratic program of n columns and 2 n rows that is given as arrays."""
    trace, qp = named("trace"), dense_program(n)
    return lambda: trace(qp, {"s": 0.0}, {"s": 0.05}, progress=False)


def in_parts(n: int) -> Task:
    """A longer line of such a program, in four parts."""
    trace, qp = named("trace"), dense_program(n)
    return lambda: trace(qp, {"s": 0.0}, {"s": 0.2}, parts=4, progress=False)


def planned(n: int) -> Task:
    """A sparse linear program of n rows, whose prices move."""
    import numpy as np
    import scipy.sparse as sp

    trace, rng, k = named("trace"), np.random.default_rng(n), 3 * n // 4
    places = np.repeat(np.arange(n), 5), rng.integers(0, k, 5 * n)
    A = sp.csr_array((rng.uniform(0.5, 2.0, 5 * n), places), shape=(n, k))
    low, high = np.append(rng.uniform(1.0, 5.0, n), np.zeros(k)), np.append(np.full(n, np.inf), np.full(k, 10.0))
    costs, moves = rng.uniform(1.0, 2.0, k), {"share": {"q": rng.uniform(-0.5, 0.5, k)}}
    qp = named("QP")(None, costs, sp.csr_array(sp.vstack([A, sp.eye_array(k)])), low, high, moves=moves)
    return lambda: trace(qp, {"share": 0.0}, {"share": 1.0}, progress=False)


def wide(d: int, samples: int, each: int | None = None) -> Task:
    """A lasso of d features and few samples, to a tenth of the weight where it begins; each in so many samples."""
    import cvxpy as cp
    import numpy as np
    import scipy.sparse as sp

    trace, rng = named("trace"), np.random.default_rng(d)
    X = rng.normal(size=(samples, d))
    if each is not None:
        places = rng.integers(0, samples, d * each), np.repeat(np.arange(d), each)
        X = sp.csr_array((rng.normal(size=d * each), places), shape=(samples, d))
    y = X @ np.repeat([3.0, 0.0], [10, d - 10]) + rng.normal(size=samples)
    w, lam, top = cp.Variable(d), cp.Parameter(nonneg=True), float(np.abs(X.T @ y).max())
    lasso = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) / 2 + lam * cp.norm1(w)))
    return lambda: trace(lasso, start={lam: top}, stop={lam: 0.1 * top}, progress=False)


def factors(n: int) -> Task:
    """The frontier of n assets with twenty factors, and caps."""
    import cvxpy as cp
    import numpy as np

    trace, rng = named("trace"), np.random.default_rng(n)
    F, own, mu = rng.normal(size=(n, 20)) / 20**0.5, rng.uniform(0.5, 1.5, n), rng.normal(size=n)
    w, f, gain = cp.Variable(n), cp.Variable(20), cp.Parameter(nonneg=True)
    risk = cp.sum_squares(f) / 2 + cp.sum_squares(cp.multiply(np.sqrt(own), w)) / 2
    problem = cp.Problem(cp.Minimize(risk - gain * (mu @ w)), [f == F.T @ w, cp.sum(w) == 1, w >= 0, w <= 10 / n])
    return lambda: trace(problem, start={gain: 0.0}, stop={gain: 2.0}, progress=False)


def items(n: int, kind: str) -> Task:
    """The proof of a box along an asymmetry line, as values and multipliers of its items."""
    from paretoclf.engine.general import follow
    from paretoclf.proof import prove

    problem = named("TwoCSVM")(*two_classes(n), kernel=kernel(kind)).line((0.04, 1.96), (1.96, 0.04)).problem
    path = follow(problem, progress=False).path
    return lambda: prove(problem, path)


def swept(n: int) -> Task:
    """Twelve points of an asymmetry line, each solved and certified."""
    import numpy as np

    svm, sweep, (X, y), share = named("TwoCSVM"), named("sweep"), two_classes(n), np.linspace(0.1, 0.9, 12)
    return lambda: sweep(svm(X, y), C_plus=2 * share, C_minus=2 * (1 - share), progress=False)


def verified(n: int) -> Task:
    """Twenty solutions of somebody else's."""
    verify, (X, y), path = named("verify"), two_classes(n), both_lines(n, "rbf", False)()[1]
    rows = [(2 * t, 2 - 2 * t, path.at((t - 0.02) / 0.96).alpha) for t in (k / 22 for k in range(1, 21))]
    return lambda: verify(X, y, rows, kernel("rbf"))


def dense_program(n: int) -> Any:
    """A quadratic program of n columns and 2 n rows, without ties; a parameter moves all its vectors."""
    import numpy as np

    rng = np.random.default_rng(0)
    F, A = rng.normal(size=(n, n)), rng.normal(size=(2 * n, n))
    moves = {"s": {"q": rng.normal(size=n), "u": rng.normal(size=2 * n)}}
    curved = F.T @ F / n + 0.1 * np.eye(n)
    return named("QP")(curved, 3 * rng.normal(size=n), A, None, rng.uniform(0.1, 1.0, 2 * n), moves=moves)


def transport(n: int) -> Any:
    """From 3 n / 4 stores to n shops: a linear program, without ties."""
    import numpy as np

    rng, m = np.random.default_rng(0), 3 * n // 4
    supply, demand = rng.uniform(10.0, 20.0, m), rng.uniform(5.0, 10.0, n)
    demand *= 0.9 * supply.sum() / demand.sum()
    A = np.vstack([np.kron(np.eye(m), np.ones(n)), np.kron(np.ones(m), np.eye(n)), np.eye(m * n)])
    low = np.concatenate([np.full(m, -np.inf), demand, np.zeros(m * n)])
    high = np.concatenate([supply, np.full(n + m * n, np.inf)])
    return named("QP")(None, rng.uniform(1.0, 10.0, m * n), A, low, high)


def ranged(n: int, kind: Callable[[int], Any]) -> Task:
    """How far each number of a program may go."""
    ranges, qp = named("ranges"), kind(n)
    return lambda: ranges(qp, progress=False)


def differentiated(n: int) -> Task:
    """Rates in one direction, on both sides."""
    derivatives, qp = named("derivatives"), dense_program(n)
    return lambda: derivatives(qp, {"s": 1.0})


def read(n: int, certified: bool) -> Task:
    """A hundred points of a path: multipliers, intercept and value of each, and its certificate."""
    path = both_lines(n, "linear", False)()[1]

    def task() -> Any:
        for k in range(100):
            point = path.at((k + 0.5) / 100)
            _ = point.alpha, point.classifier.b, point.value, point.certificate if certified else None

    return task


FIRST = """
import numpy as np, paretoclf as pc
X = np.random.default_rng(0).normal(size=(40, 2))
pc.trace(pc.TwoCSVM(X, np.where(np.arange(40) < 20, 1.0, -1.0)), (0.1, 1.0), (1.0, 0.1))
"""


def first(n: int) -> Task:
    """A new Python with a path and its proof."""
    return lambda: subprocess.run([sys.executable, "-S", "-P", "-c", FIRST], check=True)


CASES: dict[str, tuple[Callable[[int], Task], tuple[int, ...]]] = {
    "trace-rbf": (partial(both_lines, kind="rbf", certify=False), (200, 500, 2000)),
    "trace-linear": (partial(both_lines, kind="linear", certify=False), (200, 500, 2000)),
    "prove-rbf": (partial(both_lines, kind="rbf", certify=True), (200, 500, 2000, 5000, 10_000)),
    "prove-linear": (partial(both_lines, kind="linear", certify=True), (200, 500, 2000)),
    "nu": (nu_path, (200, 500)),
    "nu-grid": (nu_grid, (200,)),
    "quantile": (quantiles, (668,)),
    "plane": (plane, (40, 60)),
    "leave-one-out": (left_out, (200,)),
    "lasso": (partial(program, "lasso"), (60,)),
    "svm": (partial(program, "svm"), (40,)),
    "frontier": (partial(program, "frontier"), (40,)),
    "quantile-regression": (partial(program, "quantile regression"), (40,)),
    "ranges-qp": (partial(ranged, kind=dense_program), (20,)),
    "ranges-transport": (partial(ranged, kind=transport), (20,)),
    "derivatives": (differentiated, (20,)),
    "tiny": (partial(small, "tiny"), (1,)),
    "readme": (partial(of_readme, traced=True), (50,)),
    "readme-compiled": (partial(of_readme, traced=False), (50,)),
    "map": (partial(small, "map"), (4,)),
    "eps": (partial(small, "eps"), (3,)),
    "verify-socp": (partial(of_norms, judged=True), (5,)),
    "solve-socp": (partial(of_norms, judged=False), (5,)),
    "arrays": (of_arrays, (20, 30)),
    "parts": (in_parts, (30,)),
    "planning": (planned, (400, 1600)),
    "wide-lasso": (partial(wide, samples=50), (2000,)),
    "sparse-lasso": (partial(wide, samples=300, each=5), (3000,)),
    "factors": (factors, (500,)),
    "items-linear": (partial(items, kind="linear"), (200, 800)),
    "items-rbf": (partial(items, kind="rbf"), (200, 800)),
    "sweep": (swept, (100,)),
    "verify": (verified, (200,)),
    "at": (partial(read, certified=False), (40,)),
    "at-certified": (partial(read, certified=True), (40,)),
    "first": (first, (40,)),
}
SMOKE = 16


# ---- a worker: it is told a case, then how often to do it ------------------------------------------------------------


def spent() -> float:
    """Seconds of the processor, those of processes that have ended among them."""
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + use.ru_utime + use.ru_stime


def seconds(task: Task, times: int) -> float:
    """For doing it once, of so many times."""
    gc.collect()
    began = spent()
    for _ in range(times):
        task()
    return (spent() - began) / times


def calls(task: Task) -> int:
    """How many functions it calls."""
    profile = cProfile.Profile()
    profile.runcall(task)
    return sum(entry.callcount for entry in profile.getstats())


def peak() -> float:
    """The largest memory of this process or of one that it started, in megabytes."""
    most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return most / (2**20 if sys.platform == "darwin" else 2**10)


def work() -> None:
    """Answer what comes in, a line each, until there is nothing more."""
    out, sys.stdout = sys.stdout, sys.stderr
    task: Task = int
    for line in sys.stdin:
        order, answer = json.loads(line), dict[str, Any]()
        try:
            if "case" in order:
                task = CASES[order["case"]][0](order["n"])
                answer = {"seconds": seconds(task, 1)}
            elif "times" in order:
                answer = {"seconds": seconds(task, order["times"])}
            else:
                answer = {"memory": peak(), "calls": calls(task)}
        except Exception as error:  # the revision may not have what the case asks for
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=out, flush=True)


class Worker:
    """A process that does the work of one of the two."""

    def __init__(self, folder: Path) -> None:
        path = [str(folder), *(each for each in sys.path if each and Path(each).resolve() != Path(__file__).parent)]
        environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(path)}
        # -S: without the hook by which an editable installation finds its sources
        command = [sys.executable, "-S", "-P", __file__, "--worker"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def ask(self, **order: Any) -> dict[str, Any]:
        """Send an order, and wait for what it says."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(order), file=self.process.stdin, flush=True)
        return dict(json.loads(self.process.stdout.readline() or '{"error": "the process ended"}'))

    def end(self) -> None:
        """No more orders."""
        self.process.communicate()


# ---- the two environments --------------------------------------------------------------------------------------------


def git(*words: str) -> subprocess.CompletedProcess[bytes]:
    """Ask git about this repository; it fails where there is no git."""
    command = ["git", "-C", str(ROOT), *words]
    if shutil.which("git") is None:
        return subprocess.CompletedProcess(command, 1, b"", b"")
    return subprocess.run(command, capture_output=True, check=False)


def commit(revision: str) -> str:
    """Its full name; empty where there is none."""
    found = git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    return found.stdout.decode().strip() if found.returncode == 0 else ""


def with_core(folder: Path) -> None:
    """Put the compiled core of this environment into a folder that has the package."""
    found = importlib.util.find_spec("paretoclf.engine._core")
    if found is None or found.origin is None:
        raise SystemExit("the core is not compiled here: install the package first (CONTRIBUTING)")
    shutil.copy2(found.origin, folder / Path(CORE).parent)


def present(folder: Path) -> Path:
    """This code as it is now: what is written meanwhile is not measured."""
    shutil.copytree(ROOT / "paretoclf", folder / "paretoclf", ignore=shutil.ignore_patterns("core", "__pycache__"))
    with_core(folder)
    return folder


def earlier(name: str, folder: Path) -> Path:
    """That of a commit; it is compiled only if its core is not the present one."""
    if (folder / "paretoclf").exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        tree, made = Path(scratch) / "tree", Path(scratch) / "made"
        tree.mkdir()
        subprocess.run(["tar", "-x", "-C", str(tree)], input=git("archive", name).stdout, check=True)
        if git("diff", "--quiet", name, "--", CORE).returncode == 0:
            made.mkdir()
            shutil.copytree(tree / "paretoclf", made / "paretoclf", ignore=shutil.ignore_patterns("core"))
            with_core(made)
        else:
            print(f"building {name[:12]} once, into {folder}", file=sys.stderr)
            install(made, "--no-deps", *in_place(), str(tree))
        missing = [each for each in required(tree) if not installed(each)]
        if missing:
            install(made, "--no-deps", *missing)
        made.rename(folder)
    return folder


def in_place() -> list[str]:
    """What tells pip to build with the tools that are installed, where they are."""
    tools = all(importlib.util.find_spec(each) for each in ("scikit_build_core", "nanobind"))
    return ["--no-build-isolation"] if tools else []


def install(folder: Path, *what: str) -> None:
    """Install into a folder, which later runs take as it is."""
    scripts = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-compile", "--target", str(folder), *what]
    if subprocess.run(command, env={**os.environ, "PATH": scripts}, check=False).returncode:
        raise SystemExit(f"the revision could not be built: {' '.join(command)}")


def required(tree: Path) -> list[str]:
    """What the revision itself requires."""
    with (tree / "pyproject.toml").open("rb") as file:
        stated = tomllib.load(file)["project"]["dependencies"]
    return [each for each in stated if ";" not in each]


def installed(requirement: str) -> bool:
    """Whether some version of it is installed here."""
    name = re.split(r"[^\w.-]", requirement)[0]
    return any(importlib.metadata.distributions(name=name))


# ---- the table -------------------------------------------------------------------------------------------------------


def measured(workers: list[Worker], case: str, n: int, turns: int) -> dict[str, Any]:
    """One row: what each of the two says, before and now."""
    began = [worker.ask(case=case, n=n) for worker in workers]
    able = [k for k, each in enumerate(began) if "error" not in each]
    row: dict[str, Any] = {"case": f"{case}-{n}", "errors": [each.get("error", "") for each in began]}
    if n >= LARGE or turns == 1:
        times = [[each["seconds"]] if "seconds" in each else [] for each in began]
    else:
        often, times = max(1, round(LEAST / min(began[k]["seconds"] for k in able))) if able else 1, [[], []]
        for turn in range(turns):
            for k in able if turn % 2 else able[::-1]:
                times[k].append(workers[k].ask(times=often)["seconds"])
    row["seconds"] = [statistics.median(each) if each else None for each in times]
    after = [workers[k].ask() if k in able else {} for k in range(2)]
    return row | {name: [each.get(name) for each in after] for name in ("calls", "memory")}


def ratio(before: float | None, now: float | None) -> str:
    """Now to before."""
    return f"{now / before:.2f}" if before and now is not None else "-"


def line(row: dict[str, Any]) -> str:
    """A row of the table as a text."""
    slow = None not in row["seconds"] and row["seconds"][1] > REASON * row["seconds"][0]
    text = f"{row['case']:<24}"
    for name, unit, digits in (("seconds", 1e3, 2), ("calls", 1, 0), ("memory", 1, 0)):
        shown = ["-" if each is None else f"{unit * each:.{digits}f}" for each in row[name]]
        text += f"{shown[0]:>11}{shown[1]:>11}{ratio(*row[name]):>6}" + (" <"[slow] if name == "seconds" else "")
    return text + "".join(f"  {each[:60]}" for each in row["errors"][1:] if each)


def chosen(words: list[str], smoke: bool) -> list[tuple[str, int]]:
    """Cases and sizes whose names begin with one of these words."""
    sized = [(case, n) for case, (_, sizes) in CASES.items() for n in ([SMOKE] if smoke else sizes)]
    found = [each for each in sized if not words or any(f"{each[0]}-{each[1]}".startswith(word) for word in words)]
    if not found:
        raise SystemExit(f"no case begins with {' or '.join(words)}; there are {', '.join(CASES)}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0],
        epilog="example: python tests/benchmarks/against.py HEAD~1 nu plane",
    )
    parser.add_argument("revision", nargs="?", default="HEAD", help="what git calls it; default: %(default)s")
    parser.add_argument("cases", nargs="*", metavar="CASE", help="only cases whose names begin so; default: all")
    parser.add_argument("--turns", type=int, default=TURNS, help="of each of the two; default: %(default)s")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    parser.add_argument("--smoke", action="store_true", help="HEAD and itself, small sizes, one turn: seconds")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        work()
        return 0
    name = commit("HEAD" if args.smoke else args.revision)
    if not name and not commit("HEAD"):
        print("there is no history here that git can read, and so nothing to compare with")
        return 0
    if not name:
        parser.error(f"git knows no revision {args.revision!r}")
    cases = chosen(args.cases, args.smoke)
    kept = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "paretoclf" / "against"
    rows, failed = [], False
    with tempfile.TemporaryDirectory() as scratch:
        now = Path(scratch) / "now"
        folders = [earlier(name, (Path(scratch) if args.smoke else kept) / name), now if not args.smoke else None]
        folders = [folders[0], folders[0] if args.smoke else present(now)]
        if not args.json:
            print(f"before: {name[:12]}; milliseconds of the processor, calls, megabytes: before, now, ratio")
        workers: list[Worker] = []
        for case, n in cases:
            workers = workers or [Worker(folder) for folder in folders]
            rows.append(measured(workers, case, n, 1 if args.smoke else args.turns))
            failed |= bool(rows[-1]["errors"][1])
            if not args.json:
                print(line(rows[-1]), flush=True)
            if not args.smoke:  # new ones, for the peak of each case
                for worker in workers:
                    worker.end()
                workers = []
        for worker in workers:
            worker.end()
    if args.json:
        json.dump({"before": name, "threads": 1, "rows": rows}, sys.stdout, indent=2)
        print()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
