"""Held-out cost and CPU time: a grid search with scikit-learn against `CostPathSVCCV`, on six data sets.

Run ``python tests/benchmarks/compared.py --state FOLDER`` (ten minutes; ``--smoke`` for seconds): it keeps every
finished outer fold in FOLDER and goes on where it was stopped. PARETOCLF_DATA names the folder of the data sets;
without, wdbc only. ``--out docs/_static/compared`` writes what was found as CSV, and ``--page
docs/reference/compared.md`` the tables into that page, from the CSV beside it.

A miss costs 5 and a false alarm 1, or 1 and 20. Each method is given the training part of an outer fold, standardised,
and what it says of the test part is charged. Outer folds: 5, stratified; inner folds: 5, stratified, the same for all.
Of larger sets 600 rows are drawn. One thread; CPU time of the training, prediction excluded.

- constant: the label that costs less on the training part.
- SVC, grid: GridSearchCV of SVC (RBF, gamma="scale") over five C and seven class weights, 35 cells, by the cost.
- threshold: TunedThresholdClassifierCV by the cost, on top of what the grid search found.
- LinearSVC, grid: the same grid, with the squared hinge loss, which is its default.
- path: CostPathSVCCV(C=1) with the same kernel; every asymmetry of the line, no grid.
- path, five C: of the five C of the grid the one with the smallest cross-validated cost, every asymmetry of each.
- linear path, five C: the same with the linear kernel.

Each grid search is for one pair of costs. A path answers for both: it is traced once. So the times are for both pairs.
The interval is that of the corrected resampled t-test (Nadeau & Bengio 2003) for the mean paired difference.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

import paretoclf as pc
from paretoclf.common.files import replacing
from paretoclf.common.resume import Arrays, finish

#: What a miss and a false alarm cost.
USES = ((5.0, 1.0), (1.0, 20.0))
GRID_C = (0.01, 0.1, 1.0, 10.0, 100.0)
WEIGHTS = (0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0)
MOST, FOLDS, REPEATS = 600, 5, 1
#: Name, where it is, and how it is read.
SETS: dict[str, dict[str, Any]] = {
    "wdbc": {},
    "pima": {},
    "ionosphere": {"drop": ("v2",)},
    "sonar": {},
    "bupa": {},
    "adult2000": {},
}
BEGIN, END = "<!-- made by tests/benchmarks/compared.py -->", "<!-- end -->"


def cost(y: Any, said: Any, costs: tuple[float, float]) -> float:
    """Mean cost of a sample."""
    return float((costs[0] * ((y > 0) & (said < 0)) + costs[1] * ((y < 0) & (said > 0))).mean())


def inner() -> StratifiedKFold:
    return StratifiedKFold(5, shuffle=True, random_state=0)


# ---- methods: training samples -> for each use, what predicts; and the CPU seconds for both -------------------------

Predict = Callable[[Any], Any]


def constant(X: Any, y: Any, C: Sequence[float]) -> dict[str, tuple[list[Predict], float]]:
    best = [min((-1.0, 1.0), key=lambda s, use=use: cost(y, np.full(y.size, s), use)) for use in USES]
    return {"constant": ([lambda Z, s=s: np.full(len(Z), s) for s in best], 0.0)}


def grid(kind: Any, X: Any, y: Any, C: Sequence[float]) -> dict[str, tuple[list[Predict], float]]:
    """The grid search, and the threshold on top of it."""
    cells = {"C": list(C), "class_weight": [{1: w, -1: 1.0} for w in WEIGHTS]}
    found, shifted, seconds = [], [], np.zeros(2)
    for use in USES:
        scoring = make_scorer(cost, greater_is_better=False, costs=use)
        began = time.process_time()
        search = GridSearchCV(kind, cells, scoring=scoring, cv=inner()).fit(X, y)
        searched = time.process_time()
        tuned = TunedThresholdClassifierCV(kind.set_params(**search.best_params_), scoring=scoring, cv=inner())
        shifted.append(tuned.fit(X, y).predict)
        seconds += searched - began, time.process_time() - searched
        found.append(search.predict)
    name = f"{type(kind).__name__}, grid"
    return {name: (found, seconds[0]), f"{name}, threshold": (shifted, seconds.sum())}


def paths(kernel: str, X: Any, y: Any, C: Sequence[float]) -> dict[str, tuple[list[Predict], float]]:
    """The path with C = 1, and the best of several C; one fit serves both uses."""
    fitted, seconds = {}, {}
    for each in C:
        began = time.process_time()
        fitted[each] = pc.CostPathSVCCV(C=each, kernel=kernel, selection="longest", cv=inner()).fit(X, y)
        seconds[each] = time.process_time() - began
    one, several = [], []
    for use in USES:
        best = min(C, key=lambda each, use=use: fitted[each].errors_.best(use)[0].objective)
        several.append(partial(fitted[best].predict, costs=use))
        one.append(partial(fitted[1.0].predict, costs=use))
    name = "path" if kernel == "rbf" else "linear path"
    return {name: (one, seconds[1.0]), f"{name}, five C": (several, sum(seconds.values()))}


METHODS = (
    constant,
    partial(grid, SVC()),
    partial(grid, LinearSVC()),
    partial(paths, "rbf"),
    partial(paths, "linear"),
)


# ---- running --------------------------------------------------------------------------------------------------------


def samples(name: str, folder: str | None, most: int) -> tuple[Any, Any]:
    data = pc.datasets.load(name, data_dir=folder, **SETS[name])
    rows = np.sort(np.random.default_rng(0).permutation(data.y.size)[:most])
    return data.X[rows], data.y[rows].astype(float)


def fold(X: Any, y: Any, train: Any, test: Any, C: Sequence[float]) -> dict[str, Any]:
    """Costs (methods, uses) on the test part, and CPU seconds (methods,)."""
    scaler = StandardScaler().fit(X[train])
    Z, held, found = scaler.transform(X[train]), scaler.transform(X[test]), {}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        for method in METHODS:
            found |= method(Z, y[train], C)
    costs = [[cost(y[test], said(held), use) for said, use in zip(x[0], USES, strict=True)] for x in found.values()]
    seconds = [x[1] for x in found.values()]
    return {"names": np.array(list(found)), "costs": np.array(costs), "seconds": np.array(seconds)}


def measure(names: Sequence[str], folder: str | None, state: Path | None, smoke: bool) -> list[dict[str, Any]]:
    """One row for each data set, outer fold, method and use."""
    C, most = ((1.0,), 120) if smoke else (GRID_C, MOST)
    splitter = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=1 if smoke else REPEATS, random_state=0)
    rows = []
    for name in names:
        X, y = samples(name, folder, most)
        parts = list(splitter.split(X, y))[: 2 if smoke else None]
        tasks = {f"{name}-{k}": partial(fold, X, y, *part, C) for k, part in enumerate(parts)}
        made = finish(tasks, state, Arrays(), desc=name)
        for k, piece in enumerate(made.values()):
            for method, costs, seconds in zip(piece["names"], piece["costs"], piece["seconds"], strict=True):
                for use, each in zip(USES, costs, strict=True):
                    rows.append(
                        {
                            "data": name, "n": y.size, "d": X.shape[1], "positives": int((y > 0).sum()), "fold": k,
                            "method": str(method), "costs": f"{use[0]:g}:{use[1]:g}", "cost": f"{each:.6f}",
                            "seconds": f"{seconds:.3f}",
                        }
                    )  # fmt: skip
        print(name, "done", flush=True)
    return rows


# ---- tables ---------------------------------------------------------------------------------------------------------


def interval(differences: Any) -> tuple[float, float]:
    """95 % interval for the mean of paired differences over folds, whose training parts overlap."""
    d = np.asarray(differences)
    half = student(d.size - 1).ppf(0.975) * np.sqrt((1.0 / d.size + 1.0 / (FOLDS - 1)) * d.var(ddof=1))
    return float(d.mean() - half), float(d.mean() + half)


def tables(rows: Sequence[dict[str, Any]]) -> str:
    """Mean costs with the paired difference, and seconds, as Markdown."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    sets = list(dict.fromkeys(row["data"] for row in rows))
    uses = list(dict.fromkeys(row["costs"] for row in rows))
    cost_of: dict[tuple[str, str, str], list[float]] = {}
    seconds_of: dict[tuple[str, str], list[float]] = {}
    size = {row["data"]: (row["n"], row["d"], row["positives"]) for row in rows}
    for row in rows:
        cost_of.setdefault((row["data"], row["costs"], row["method"]), []).append(float(row["cost"]))
        seconds_of.setdefault((row["data"], row["method"]), []).append(float(row["seconds"]))

    out = [line(["data", "n × d, positives", "costs", *methods]), line(["---"] * (3 + len(methods)))]
    for name in sets:
        for use in uses:
            means = [100 * np.mean(cost_of[name, use, method]) for method in methods]
            best = min(means)
            cells = [f"**{x:.1f}**" if x == best else f"{x:.1f}" for x in means]
            n, d, positives = size[name]
            out.append(line([name, f"{n} × {d}, {positives}", use, *cells]))
    out += ["", *paired(cost_of, sets, uses), ""]
    out += [line(["data", *methods[1:]]), line(["---"] * len(methods))]
    out += [line([name, *(f"{np.mean(seconds_of[name, each]):.2f}" for each in methods[1:])]) for name in sets]
    total = [sum(np.mean(seconds_of[name, each]) for name in sets) for each in methods[1:]]
    return "\n".join([*out, line(["all", *(f"{x:.2f}" for x in total)])])


PAIRS = (
    ("path, five C", "SVC, grid"),
    ("path, five C", "SVC, grid, threshold"),
    ("path", "SVC, grid"),
    ("linear path, five C", "LinearSVC, grid"),
)


def paired(cost_of: dict[tuple[str, str, str], list[float]], sets: Sequence[str], uses: Sequence[str]) -> list[str]:
    """Differences of 100 x cost over the folds, with their intervals: negative where the first is cheaper."""
    out = [line(["data", "costs", *(f"{a} − {b}" for a, b in PAIRS)]), line(["---"] * (2 + len(PAIRS)))]
    tally = np.zeros((len(PAIRS), 4), dtype=int)  # cheaper, dearer, and so for certain
    for name in sets:
        for use in uses:
            cells = []
            for k, (a, b) in enumerate(PAIRS):
                d = 100 * (np.array(cost_of[name, use, a]) - np.array(cost_of[name, use, b]))
                low, high = interval(d)
                tally[k] += d.mean() < 0, d.mean() > 0, high < 0, low > 0
                cells.append(f"{d.mean():+.1f} ({low:+.1f} to {high:+.1f})")
            out.append(line([name, use, *cells]))
    return [
        *out,
        line(["cheaper : dearer", "", *(f"{a} : {b}, beyond the interval {c} : {d}" for a, b, c, d in tally)]),
    ]


def line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def read(file: Path) -> list[dict[str, Any]]:
    with file.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def page_with(text: str, made: str) -> str:
    """The page with these tables in place of those that it had."""
    head, rest = text.split(BEGIN)
    return f"{head}{BEGIN}\n\n{made}\n\n{END}{rest.split(END)[1]}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: python tests/benchmarks/compared.py --smoke"
    )
    parser.add_argument("--data", default=os.environ.get("PARETOCLF_DATA"), help="folder with pima.csv and so on")
    parser.add_argument("--sets", nargs="+", choices=tuple(SETS), help="these in place of all")
    parser.add_argument("--state", type=Path, help="folder of finished outer folds, to go on from")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write costs.csv here")
    parser.add_argument("--page", type=Path, metavar="FILE", help="put the tables of --out into this page")
    parser.add_argument("--smoke", action="store_true", help="120 samples of wdbc, two folds: seconds")
    args = parser.parse_args(arguments)
    names = args.sets or (["wdbc"] if args.smoke or not args.data else list(SETS))
    rows = measure(names, args.data, args.state, args.smoke)
    print(tables(rows))
    if args.out is not None:
        args.out.mkdir(parents=True, exist_ok=True)
        with replacing(args.out / "costs.csv") as file, file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    if args.page is not None:
        text = page_with(args.page.read_text(encoding="utf-8"), tables(rows))
        with replacing(args.page) as file:
            file.write_text(text, encoding="utf-8")
    if not args.data:
        print("PARETOCLF_DATA is not set: wdbc only.", file=sys.stderr)


if __name__ == "__main__":
    main()
