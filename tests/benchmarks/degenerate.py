"""Paths on degenerate and on real data: how many are finished, how many are refused, and whether any is wrong.

Run ``python tests/benchmarks/degenerate.py`` (minutes; ``--smoke`` for seconds, ``--family NAME`` for one row). It
traces

- families of generated instances: ties, duplicates, singular margin sets, extreme scales, classes, bandwidths, costs;
- wdbc, and every data set of the folder that PARETOCLF_DATA names;

with the linear kernel and RBF (median bandwidth), raw and standardised, on the ray (zero costs to mean cost 10) and on
an asymmetry line (asymmetry 0.02 to 0.98, total 2); the first instances of each family also on special lines:
backwards, into, along and between the axes, into and out of the origin, without length, up to costs of 1e6. Where a
family scales features by s, its linear kernel has all costs over s^2: the same problem in other units.

A path counts as wrong if one of its certificates fails, if its breakpoints are not in order, or if its optimal value
leaves the bounds of its certificates or of another solver: on a share of the paths, at random costs, the problem is
solved by Clarabel (or else LIBSVM), and a feasible dual and a feasible primal point are made of what that returns, by
code of this file's neighbour.

A path is *steep* if ``eps * max cap * max K_ii`` exceeds 1e-9 (eps = 2.2e-16; K of centred samples for the linear
kernel, as the free intercept allows). A single term of a margin, cap times K_ij, then has a rounding error of that
size, and a sum of tens of them is uncertain by more than what the certificates, to 1e-8, can bear. There are families
made for it; the other solvers' bounds are computed in whole numbers there, exactly.

Exit status 1 if any path is wrong, or if more than 1 % are refused.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits
from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import paretoclf as pc
from tests.benchmarks.other_solvers import Exact, allowed, primal, reference
from tests.oracles.families import FAMILIES, Family, kernel_of, main_lines, sample_lines, special_lines, standardised

SPECIAL = 2  # how many instances of a family are traced on the special lines too
LARGE, SAMPLE = 600, 400  # data sets of more samples are cut down to so many
STEEP = 1e-9  # rounding error of a term of a margin from which other solvers are judged exactly
SHARE, POINTS = 5, 3  # one in so many paths (two, of data sets) is compared with another solver, at so many costs


@dataclass(frozen=True)
class Job:
    """One instance of a family, or one data set with one kernel and scaling: the paths of one process."""

    family: str
    seed: int
    name: str = ""  # of a data set
    kernel: str = ""
    scaling: str = ""
    smoke: bool = False
    full: bool = False


# ---- what is traced ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One path to be traced: kernel values and a factor of them, caps at both ends, what `paretoclf.trace` takes."""

    svm: Any
    K: Any
    Z: Any
    where: dict[str, Any]
    caps: Any
    start: Any
    stop: Any

    @property
    def exact(self) -> Exact:
        """The problem as it is given: samples, or the package's kernel values."""
        gram = self.svm.gram
        return Exact(gram.X, True) if gram.linear else Exact(gram.matrix, False)

    @property
    def steep(self) -> bool:
        """Whether the terms of a margin, in double precision, are too uncertain to judge it."""
        largest = max(float(caps.max()) for caps in self.caps)
        return bool(np.finfo(float).eps * largest * self.K.diagonal().max() > STEEP)


def cases(job: Job) -> Iterator[Case]:
    """The paths of one job."""
    if job.name:
        yield from dataset_cases(job)
        return
    family = FAMILIES[job.family]
    X, y, weight = family.instance(job.seed)
    s = np.ones(y.size) if weight is None else weight
    special = job.seed < (1 if job.smoke else SPECIAL)
    variants = list(product(family.kernels, family.scalings))
    for kernel, scaling in [variants[-(job.seed % 2)]] if job.smoke else variants:
        lines = family_lines(family, y, s, job.seed)
        if special and not family.per_sample:
            lines |= special_lines(y, s, job.smoke)
        yield from traced(X, y, weight, kernel, scaling, lines, family.factor(kernel))


def family_lines(family: Family, y: Any, s: Any, seed: int) -> dict[str, Any]:
    """The lines of every instance of a family."""
    return sample_lines(y, seed) if family.per_sample else main_lines(y, s)


def dataset_cases(job: Job) -> Iterator[Case]:
    """One data set, raw or standardised, with one kernel."""
    data = pc.datasets.load(job.name)
    X, y = data.X, data.y
    if data.n > LARGE and not job.full:
        rows = stratified(y, SAMPLE)
        X, y = X[rows], y[rows]
    yield from traced(X, y, None, job.kernel, job.scaling, main_lines(y, np.ones(y.size)), 1.0)


def stratified(y: Any, n: int) -> Any:
    """Rows of a sample of n with the shares of the classes, always the same one."""
    rng = np.random.default_rng(0)
    classes = [np.flatnonzero(y == label) for label in (-1, 1)]
    drawn = [rng.choice(rows, max(1, round(n * rows.size / y.size)), replace=False) for rows in classes]
    return np.sort(np.concatenate(drawn))


def traced(X: Any, y: Any, weight: Any, kernel: str, scaling: str, lines: Any, factor: float) -> Iterator[Case]:
    """The cases of one matrix of samples."""
    Z = standardised(X) if scaling == "standardised" else X
    k = kernel_of(kernel, Z)
    svm = pc.TwoCSVM(Z, y, k, sample_weight=weight)
    K, features = kernel_matrix(Z, k)
    for name, ends in lines.items():
        start, stop = (factor * np.asarray(end) for end in ends)
        where = {"kernel": kernel, "scaling": scaling, "line": name}
        if start.size == 2 != y.size:
            caps = [(1.0 if weight is None else weight) * np.where(y > 0, *end) for end in (start, stop)]
            yield Case(svm, K, features, where, caps, tuple(start), tuple(stop))
        else:
            yield Case(svm, K, features, where, [start, stop], pc.SampleCosts(start), pc.SampleCosts(stop))


def kernel_matrix(X: Any, kernel: Any) -> tuple[Any, Any]:
    """Kernel values by other formulas than the package's, and Z with ``Z Z'`` equal to them up to rounding.

    For the linear kernel the samples are centred, as the free intercept allows.
    """
    if kernel is None:
        Z = X - X.mean(axis=0)
        return Z @ Z.T, Z
    if isinstance(kernel, pc.RBF):
        K = np.exp(-cdist(X, X, "sqeuclidean") / (2 * kernel.bandwidth**2))
    else:
        K = (np.einsum("id,jd->ij", X, X) + 1.0) ** kernel.degree
    values, vectors = np.linalg.eigh(K)
    used = values > 1e-13 * values[-1]
    return K, vectors[:, used] * np.sqrt(values[used])


def disagreement(case: Case, path: Any, t: float) -> tuple[str, bool]:
    """What another solver has against the path at t (nothing: ""), and whether its bounds are close enough to tell."""
    y, caps = case.svm.y, (1 - t) * case.caps[0] + t * case.caps[1]
    exact = case.exact if case.steep else None
    if exact is not None and np.allclose(caps, path.caps(t), rtol=1e-14):
        caps = path.caps(t)  # to the last bit: its solution is for these
    lower, upper = reference(case.K, case.Z, y, caps, exact)
    tol = allowed(upper, caps)
    solution = path.at(t)
    if case.svm.gram.linear:
        w = solution.classifier.w
        norm2, scores = w @ w, case.svm.X @ w
    elif exact is not None:
        norm2, scores = exact.slope(y * solution.alpha, y * solution.numbers.get("alpha_lo", 0.0))
    else:  # the values of K are those of another formula
        scores = case.K @ (y * solution.alpha)
        norm2 = y * solution.alpha @ scores
    ours = float(primal(norm2, scores, y, caps, solution.classifier.b)[0])
    for name, value in (("value", path.value(t)), ("objective", ours)):
        if not lower - tol <= value <= upper + tol:
            return f"{name} {value:.10g} outside of [{lower:.10g}, {upper:.10g}] at t = {t:.6g}", True
    return "", upper - lower <= tol


# ---- tracing and judging -----------------------------------------------------------------------------------------


def values_outside(case: Case, path: Any, certificates: list[Any]) -> list[str]:
    """Values of the path that leave the bounds of its own certificates."""
    out = []
    rounded = 1e-15 * float(np.maximum(*case.caps).sum())  # t is: where costs vanish, that is all there is
    for t, c in zip(path.certificate_points, certificates, strict=True):
        tol = allowed(c.primal_value, (1 - t) * case.caps[0] + t * case.caps[1]) + rounded
        if not c.dual_value - tol <= path.value(float(t)) <= c.primal_value + tol:
            out.append(f"value {path.value(float(t)):.10g} at t = {t:.6g}, but {c.explain()}")
    return out


def trace_case(case: Case, compare: Any) -> dict[str, Any]:
    """Trace one path and judge it; ``compare`` are the parameters at which another solver is asked."""
    row: dict[str, Any] = {**case.where, "steep": case.steep, "status": "finished", "message": ""}
    row |= {"compared": 0, "undecided": 0}
    try:
        path = pc.trace(case.svm, case.start, case.stop, progress=False)
    except pc.DegeneratePathError as error:
        return {**row, "status": "refused", "message": str(error)}
    except Exception as error:  # whatever else happens is a bug, and must not end the run
        return {**row, "status": "wrong", "message": f"{type(error).__name__}: {error}".splitlines()[0]}
    certificates = path.certificates()
    said = [
        certificate.explain() for certificate in certificates if not certificate.holds(1e-8)
    ]  # of the values as rounded
    t = path.breakpoints
    if not (t[0] == 0.0 and t[-1] == 1.0 and (np.diff(t) > 0).all()):
        said.append("the breakpoints are not in order")
    said += values_outside(case, path, certificates)
    for at in compare:
        objection, decided = disagreement(case, path, float(at))
        said += [objection] if objection else []
        row["compared" if decided else "undecided"] += 1
    row |= {"status": "wrong", "message": said[0]} if said else {}
    # A gap that rounding of the slacks explains is none: it is large where the optimal value is 0.
    gaps = [abs(c.gap) for c in certificates if abs(c.gap * c.primal_value) > c.rounding]
    worst = max(c.residual for c in certificates)
    return {**row, "residual": worst, "gap": max(gaps, default=0.0), "breakpoints": int(t.size - 2)}


def run(job: Job) -> list[dict[str, Any]]:
    """The rows of one job, one for each path."""
    rows = []
    with threadpool_limits(1):
        for k, case in enumerate(cases(job)):
            ask = (job.seed + k) % (2 if job.name else SHARE) == 0
            compare = np.random.default_rng([job.seed, k]).random(POINTS) if ask else ()
            rows.append({"family": job.family, "seed": job.seed, **trace_case(case, compare)})
    return rows


def family_jobs(smoke: bool) -> list[Job]:
    """One job for each instance."""
    return [
        Job(name, seed, smoke=smoke)
        for name, family in FAMILIES.items()
        for seed in range(2 if smoke else family.instances)
    ]


def dataset_jobs(full: bool) -> list[Job]:
    """wdbc, and the data sets of the folder; one job for each kernel and scaling."""
    sources = {"wdbc": "wdbc"}
    folder = os.environ.get("PARETOCLF_DATA")
    if folder:
        for file in sorted(
            file for pattern in ("*.csv", "*.npz", "raetsch/*.npz") for file in Path(folder).glob(pattern)
        ):
            sources.setdefault(str(file.relative_to(folder).with_suffix("")), str(file))
    jobs = []
    for name, source in sources.items():
        for seed, (kernel, scaling) in enumerate(product(("linear", "rbf"), ("raw", "standardised"))):
            jobs.append(Job(name, seed, source, kernel, scaling, full=full))
    return jobs


# ---- the report --------------------------------------------------------------------------------------------------

HEADER = (
    f"{'family':<22}{'instances (paths)':>18}{'finished':>10}{'refused':>9}{'wrong':>7}"
    f"{'residual':>10}{'gap':>9}{'breakpoints':>13}{'compared':>10}"
)


def summary(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """One row of the table."""
    status = [row["status"] for row in rows]
    return {
        "family": name,
        "instances": len({(row["family"], row["seed"]) for row in rows}),
        "paths": len(rows),
        **{kind: status.count(kind) for kind in ("finished", "refused", "wrong")},
        "worst_residual": max((row.get("residual", 0.0) for row in rows), default=0.0),
        "worst_gap": max((row.get("gap", 0.0) for row in rows), default=0.0),
        "breakpoints": sum(row.get("breakpoints", 0) for row in rows),
        "compared": sum(row["compared"] for row in rows),
        "undecided": sum(row["undecided"] for row in rows),
    }


def line_of(s: dict[str, Any]) -> str:
    """One row of the table in print."""
    instances = f"{s['instances']} ({s['paths']})"
    return (
        f"{s['family']:<22}{instances:>18}{s['finished']:>10}{s['refused']:>9}{s['wrong']:>7}"
        f"{s['worst_residual']:>10.1e}{s['worst_gap']:>9.1e}{s['breakpoints']:>13}{s['compared']:>10}"
    )


def table(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Rows of the table, and their sum."""
    names = dict.fromkeys(row["family"] for row in rows)
    return [summary(name, [row for row in rows if row["family"] == name]) for name in names], summary("total", rows)


def place_of(row: dict[str, Any]) -> str:
    """Where a path is to be found again."""
    return f"{row['family']}, seed {row['seed']}, {row['kernel']}, {row['scaling']}, {row['line']}: {row['message']}"


def passed(total: dict[str, Any]) -> bool:
    """No path wrong, and at most 1 % refused."""
    return bool(total["wrong"] == 0 and total["refused"] <= 0.01 * total["paths"])


def caption(args: argparse.Namespace) -> list[str]:
    """What the table leaves to be said."""
    out = [
        "residual, gap: the worst of the certificates; compared: optimal values held against another solver's bounds.",
        f"Data sets of more than {LARGE} samples: "
        + ("all rows." if args.full else f"a stratified sample of {SAMPLE} (numpy default_rng(0))."),
    ]
    if not args.smoke and not os.environ.get("PARETOCLF_DATA"):
        out.append("PARETOCLF_DATA is not set: of the data sets wdbc only.")
    return out


def report(families: list[Any], total: dict[str, Any], rows: list[dict[str, Any]], args: Any) -> str:
    """The table, its caption, and the message of every path that was refused or is wrong."""
    out = [HEADER, *map(line_of, [*families, total]), "", *caption(args)]
    out.append(f"{sum(row['steep'] for row in rows)} of the paths are steep (see the top of the file).")
    if total["undecided"]:
        out.append(f"At {total['undecided']} costs the other solvers' bounds were too far apart to compare.")
    for kind in ("refused", "wrong"):
        out += [f"{kind}: {place_of(row)}" for row in rows if row["status"] == kind]
    return "\n".join(out)


def parsed(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0],
        epilog="example: python tests/benchmarks/degenerate.py --family 'integer grid'",
    )
    parser.add_argument("--family", help=f"one family or data set: {', '.join(FAMILIES)}, wdbc, ...")
    parser.add_argument("--full", action="store_true", help="all rows of large data sets (hours)")
    parser.add_argument("--jobs", type=int, default=1, help="processes; default: %(default)s")
    parser.add_argument("--smoke", action="store_true", help="two instances of each family, no data sets: seconds")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
    args = parser.parse_args(argv)
    jobs = family_jobs(args.smoke) + ([] if args.smoke else dataset_jobs(args.full))
    args.todo = [job for job in jobs if args.family in (None, job.family)]
    if not args.todo:
        parser.error(f"--family must be one of {', '.join(dict.fromkeys(job.family for job in jobs))}")
    return args


def main(argv: list[str] | None = None) -> int:
    args = parsed(argv)
    began = time.perf_counter()
    results = joblib.Parallel(args.jobs, return_as="generator")(joblib.delayed(run)(job) for job in args.todo)
    bar = tqdm(results, total=len(args.todo), disable=not sys.stderr.isatty(), leave=False, unit="instance")
    rows = [row for some in bar for row in some]
    seconds = time.perf_counter() - began
    families, total = table(rows)
    if args.json:
        bad = [row for row in rows if row["status"] != "finished"]
        tables = {"rows": families, "total": total}
        json.dump({"seconds": seconds, **tables, "not_finished": bad}, sys.stdout, indent=2)
        print()
    else:
        print(report(families, total, rows, args))
        print(f"{seconds:.0f} seconds, {args.jobs} process{'es' if args.jobs != 1 else ''}")
    return 0 if passed(total) else 1


if __name__ == "__main__":
    sys.exit(main())
