"""Paths on degenerate and on real data: how many are finished, how many are refused, and whether any is wrong.

Run ``python tests/benchmarks/degenerate.py`` (minutes; ``--smoke`` for seconds, ``--family NAME`` for one row). It
traces

- families of generated instances: ties, duplicates, singular margin sets, extreme scales, classes, bandwidths, costs;
- wdbc, and every data set of the folder that PARETOCLF_DATA names;

with the linear kernel and RBF (median bandwidth), raw and standardised, on the ray (zero costs to mean cost 10) and on
an asymmetry line (asymmetry 0.02 to 0.98, total 2); the first instances of each family also on special lines:
backwards, into, along and between the axes, into and out of the origin, without length, up to costs of 1e6.

A path counts as wrong if one of its certificates fails, if its breakpoints are not in order, or if its optimal value
leaves the bounds of its certificates or of another solver: on a share of the paths, at random costs, the problem is
solved by Clarabel (or else LIBSVM), and a feasible dual and a feasible primal point are made of what that returns, by
code of this file.

Exit status 1 if a path is wrong or more than 1 % are refused.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import clarabel
import joblib
import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits
from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from families import FAMILIES, Family, kernel_of, standardised

import paretoclf as pc

INSTANCES, SPECIAL = 20, 2  # of each family; how many of them are traced on the special lines too
LARGE, SAMPLE = 600, 400  # data sets of more samples are cut down to so many
SHARE, POINTS = 5, 3  # one in so many paths (two, of data sets) is compared with another solver, at so many costs
WORSE = 1e-6  # relative difference of optimal values from which a path is wrong
ROUNDING = 1e-12  # a slack is a difference of numbers of size 1: this share of all costs is rounding


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


def main_lines(y: Any, s: Any) -> dict[str, Any]:
    """The ray (with weights: of balanced sums of weights) and the asymmetry line."""
    plus, minus = s[y > 0].sum(), s[y < 0].sum()
    top = 10.0 * y.size / np.array([plus, minus]) / 2
    return {"ray": ((0.0, 0.0), tuple(top)), "asymmetry": ((0.04, 1.96), (1.96, 0.04))}


def special_lines(y: Any, s: Any, factor: float, smoke: bool) -> dict[str, Any]:
    """Lines that begin, end or lie where costs vanish, or reach far."""
    ray, asymmetry = main_lines(y, s).values()
    lines = {
        "into an axis": ((1.5, 0.5), (0.0, 2.0)),
        "into the origin": ((2.0, 1.0), (0.0, 0.0)),
    }
    if smoke:
        return lines
    far = (
        {}
        if factor != 1
        else {"ray to 1e6": ((0.0, 0.0), tuple(1e5 * c for c in ray[1])), "to 1e6": ((1, 1), (1e6, 1e6))}
    )
    return (
        lines
        | far
        | {
            "ray back": ray[::-1],
            "asymmetry back": asymmetry[::-1],
            "along an axis": ((0.0, 0.5), (0.0, 2.0)),
            "axis to axis": ((0.0, 2.0), (2.0, 0.0)),
            "out of the origin": ((0.0, 0.0), (0.3, 3.0)),
            "no length": ((1.0, 0.7), (1.0, 0.7)),
        }
    )


def sample_lines(y: Any, seed: int) -> dict[str, Any]:
    """Costs that move sample by sample, some of them zero."""
    rng = np.random.default_rng(seed)
    one, other = np.maximum(rng.uniform(-0.5, 2.0, (2, y.size)), 0.0)
    whole = rng.integers(0, 4, (2, y.size)).astype(float)
    return {
        "costs": (one, other),
        "whole costs": (whole[0], whole[1]),
        "out of the origin": (np.zeros(y.size), one),
        "into the origin": (other, np.zeros(y.size)),
        "into one class": (one, np.where(y > 0, one, 0.0)),
        "no length": (whole[0], whole[0]),
    }


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
            lines |= special_lines(y, s, family.costs, job.smoke)
        yield from traced(X, y, weight, kernel, scaling, lines, family.costs)


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


# ---- another solver ----------------------------------------------------------------------------------------------


def primal(norm2: Any, scores: Any, y: Any, caps: Any, b: Any) -> Any:
    """Primal objective of a slope, given its squared norm and scores, and of intercepts b (shape of the result)."""
    return 0.5 * norm2 + caps @ np.maximum(0.0, 1 - y[:, None] * (scores[:, None] + np.atleast_1d(b)))


def bounds(K: Any, y: Any, caps: Any, a: Any) -> tuple[float, float]:
    """A lower and an upper bound on the optimal value, from any multipliers: made feasible, with the best b."""
    a = np.clip(np.nan_to_num(a), 0.0, caps)
    sums = [a[y > 0].sum(), a[y < 0].sum()]
    for label, total in ((1, sums[0]), (-1, sums[1])):
        a[y == label] *= min(sums) / total if total > 0 else 1.0
    scores = K @ (y * a)
    norm2 = y * a @ scores
    return float(a.sum() - 0.5 * norm2), float(primal(norm2, scores, y, caps, y - scores).min())


def solved(P: Any, q: Any, A: Any, b: Any, equalities: int) -> Any:
    """Clarabel's solution of min x'Px/2 + q'x, A x <= b, the first rows with equality; its x, and its multipliers."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = 100
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cones = [clarabel.ZeroConeT(equalities)] * bool(equalities) + [clarabel.NonnegativeConeT(b.size - equalities)]
    P = sparse.triu(P).tocsc()
    solution = clarabel.DefaultSolver(P, q, sparse.csc_array(A), b, cones, settings).solve()
    return np.array(solution.x), np.array(solution.z)


def by_dual(K: Any, Z: Any, y: Any, caps: Any) -> tuple[float, float]:
    """Bounds from the dual, which is well scaled where few multipliers are at their caps."""
    n = y.size
    eye = sparse.eye_array(n)
    A = sparse.vstack([sparse.csc_array(y[None]), -eye, eye])
    Q = sparse.csc_array(y[:, None] * K * y)
    return bounds(K, y, caps, solved(Q, -np.ones(n), A, np.r_[np.zeros(n + 1), caps], 1)[0])


def by_primal(K: Any, Z: Any, y: Any, caps: Any) -> tuple[float, float]:
    """Bounds from the primal in units of the mean cost, which is well scaled where slacks are most of the value."""
    n, d = Z.shape
    unit = float(caps.mean())
    rows = sparse.hstack([sparse.csc_array(-y[:, None] * np.column_stack([Z, np.ones(n)])), -sparse.eye_array(n)])
    A = sparse.vstack([rows, sparse.hstack([sparse.csc_array((n, d + 1)), -sparse.eye_array(n)])])
    P = sparse.diags_array(np.r_[np.full(d, 1 / unit), np.zeros(n + 1)])
    x, z = solved(P, np.r_[np.zeros(d + 1), caps / unit], A, np.r_[-np.ones(n), np.zeros(n)], 0)
    w = np.nan_to_num(x[:d])
    lower, upper = bounds(K, y, caps, unit * z[:n])
    return lower, min(upper, float(primal(w @ w, Z @ w, y, caps, y - Z @ w).min()))


def by_libsvm(K: Any, Z: Any, y: Any, caps: Any) -> tuple[float, float]:
    """Bounds from sequential minimal optimisation."""
    used = np.flatnonzero(caps > 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where it stops short, the bounds say so
        model = SVC(kernel="precomputed", C=1.0, tol=1e-10, max_iter=200_000)
        model.fit(K[np.ix_(used, used)], y[used], sample_weight=caps[used])
    a = np.zeros(y.size)
    a[used[model.support_]] = abs(model.dual_coef_[0])
    return bounds(K, y, caps, a)


def reference(K: Any, Z: Any, y: Any, caps: Any) -> tuple[float, float]:
    """Bounds on the optimal value that owe nothing to the package, as close as three ways to solve bring them."""
    if min(caps[y > 0].max(), caps[y < 0].max()) == 0.0:
        return 0.0, 0.0
    scale = max(float(K.diagonal().max()), np.finfo(float).tiny)  # a kernel over s at costs s C is the kernel at C
    lower, upper = -np.inf, np.inf
    for solver in (by_dual, by_primal, by_libsvm):
        lo, hi = solver(K / scale, Z / np.sqrt(scale), y, caps * scale)
        lower, upper = max(lower, lo / scale), min(upper, hi / scale)
        if upper - lower <= 0.1 * allowed(upper, caps):
            break
    return lower, upper


def allowed(value: float, caps: Any) -> float:
    """By how much two computations of an optimal value may differ."""
    return WORSE * abs(value) + ROUNDING * float(caps.sum())


def disagreement(case: Case, path: Any, t: float) -> tuple[str, bool]:
    """What another solver has against the path at t (nothing: ""), and whether its bounds are close enough to tell."""
    y, caps = case.svm.y, (1 - t) * case.caps[0] + t * case.caps[1]
    lower, upper = reference(case.K, case.Z, y, caps)
    tol = allowed(upper, caps)
    v, b = y * path.alpha(t), path.intercept(t)
    if case.svm.gram.linear:  # the kernel values are those of centred samples, which have another intercept
        w = path.slope(t)
        ours = float(primal(w @ w, case.svm.X @ w, y, caps, b)[0])
    else:
        ours = float(primal(v @ case.K @ v, case.K @ v, y, caps, b)[0])
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
    row: dict[str, Any] = {**case.where, "status": "finished", "message": "", "compared": 0, "undecided": 0}
    try:
        path = pc.trace(case.svm, case.start, case.stop, progress=False)
    except pc.DegeneratePathError as error:
        return {**row, "status": "refused", "message": str(error)}
    except Exception as error:  # whatever else happens is a bug, and must not end the run
        return {**row, "status": "wrong", "message": f"{type(error).__name__}: {error}".splitlines()[0]}
    certificates = path.certificates()
    said = [certificate.explain() for certificate in certificates if not certificate.passes(1e-8)]
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
    count = 2 if smoke else INSTANCES
    names = [name for name, family in FAMILIES.items() if not family.per_sample or hasattr(pc, "SampleCosts")]
    return [Job(name, seed, smoke=smoke) for name in names for seed in range(count)]


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
    if not hasattr(pc, "SampleCosts"):
        out.append("Without costs per sample: this version of the package has none.")
    return out


def report(summaries: list[dict[str, Any]], total: dict[str, Any], rows: list[dict[str, Any]], args: Any) -> str:
    """The table, its caption, and the message of every path that was refused or is wrong."""
    out = [HEADER, *map(line_of, summaries), line_of(total), "", *caption(args)]
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
    names = dict.fromkeys(row["family"] for row in rows)
    summaries = [summary(name, [row for row in rows if row["family"] == name]) for name in names]
    total = summary("total", rows)
    if args.json:
        bad = [row for row in rows if row["status"] != "finished"]
        json.dump({"seconds": seconds, "rows": summaries, "total": total, "not_finished": bad}, sys.stdout, indent=2)
        print()
    else:
        print(report(summaries, total, rows, args))
        print(f"{seconds:.0f} seconds, {args.jobs} process{'es' if args.jobs != 1 else ''}")
    return 0 if passed(total) else 1


if __name__ == "__main__":
    sys.exit(main())
