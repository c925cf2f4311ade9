"""Which t of a path to take: rules for `CostPathSVCCV`, judged on samples that chose nothing.

Run ``python examples/choosing_t.py --state FOLDER`` (25 minutes; ``--smoke`` for seconds): it keeps every finished
split in FOLDER and goes on where it was stopped. PARETOCLF_DATA names the folder of the data sets; without it there is
nothing but wdbc. ``--out FOLDER`` writes what was found as CSV, and ``--page docs/research/selection.md`` the tables
into that page, from these numbers. ``--rare`` is the second question on that page: the same rules where one sample in
101 is positive (10 minutes). The protocols are there.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import paretoclf as pc
from paretoclf.common.files import replacing
from paretoclf.common.resume import Arrays, finish

#: Sets on which rules are chosen, and those on which the chosen one is judged.
CHOOSE = (
    *("wdbc", "pima", "ionosphere", "sonar", "bupa", "adult2000"),
    *("banana", "flare-solar", "spambase", "vehicle_van_saab"),
)
JUDGE = (
    *("breast-cancer", "breast_w", "dermatology_psoriasis", "heart", "image"),
    *("ringnorm", "splice", "thyroid", "twonorm", "waveform"),
)
DROP = {"ionosphere": ("v2",)}
USES = ((5.0, 1.0), (1.0, 20.0))
SPLITS, TRAIN, TEST = 30, 100, 1000
#: Leave-one-out takes as long as all others together, several times: it is of these first splits.
FEW = 10
#: Name -> the selection of `CostPathSVCCV`.
RULES: dict[str, str | float] = {
    "longest": "longest",
    "first": "first",
    "window .02": 0.02,
    "window .05": 0.05,
    "window .1": 0.1,
    "one-se": "one-se",
    "threshold": "threshold",
}
NAMES = [*RULES, "repeated", "leave-one-out"]
#: Of rare positives: how many of either class to train, the sets that have so many, and the pairs of costs.
RARE = (10, 1000)
RARE_SETS = ("adult2000", "banana", "spambase", "ringnorm", "splice", "twonorm", "waveform")
RARE_USES = ((100.0, 1.0), (20.0, 1.0))
BEGIN, END = "<!-- made by examples/choosing_t.py -->", "<!-- end -->"
RARE_BEGIN = BEGIN.replace(" -->", " --rare -->")


def cost(y: Any, positive: Any, use: tuple[float, float]) -> float:
    """Cost of labels."""
    return float(use[0] * np.sum(~positive & (y > 0)) + use[1] * np.sum(positive & (y < 0)))


def split(X: Any, y: Any, train: Any, test: Any, seed: int) -> dict[str, Any]:
    """Cost of each rule and use on the test part, over that of the best constant label: shape (rules, uses).

    Not a number where a rule has no part in a split.
    """
    scaler = StandardScaler().fit(X[train])
    Z, held, labels, truth = scaler.transform(X[train]), scaler.transform(X[test]), y[train], y[test]
    constant = [min(cost(truth, np.full(truth.size, one), use) for one in (True, False)) for use in USES]
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    again = RepeatedStratifiedKFold(n_splits=5, n_repeats=5, random_state=seed)
    with threadpool_limits(1):
        fitted = pc.CostPathSVCCV(cv=folds, selection="longest").fit(Z, labels)
        said = predicted(fitted, held, USES)
        repeated = pc.CostPathSVCCV(cv=again, selection="longest").fit(Z, labels)
        said.append([repeated.predict(held, costs=use) > 0 for use in USES])
        if seed < FEW:
            curve = fitted.path_.leave_one_out(progress=False).curve
            best = [max(curve.best(use), key=lambda optimum: optimum.width).t for use in USES]
            said.append([fitted.path_.at(t).classifier.decision_function(held) >= 0 for t in best])
    found = np.full((len(NAMES), len(USES)), np.nan)
    for k, labels in enumerate(said):
        found[k] = [cost(truth, p, use) for p, use in zip(labels, USES, strict=True)]
    return {"cost": found / constant}


def predicted(fitted: Any, held: Any, uses: Any) -> list[list[Any]]:
    """Which of some samples each rule says to be positive, for each pair of costs."""
    return [[fitted.set_params(selection=rule).predict(held, costs=use) > 0 for use in uses] for rule in RULES.values()]


def rare_split(X: Any, y: Any, seed: int) -> dict[str, Any]:
    """The same with rare positives to train, and all others to test, weighed so that as many of these are positive."""
    rng = np.random.default_rng(seed)
    sides = [rng.permutation(np.flatnonzero(side)) for side in (y > 0, y < 0)]
    train, test = (
        np.concatenate([side[part] for side, part in zip(sides, parts, strict=True)])
        for parts in ([slice(size) for size in RARE], [slice(size, None) for size in RARE])
    )
    scaler = StandardScaler().fit(X[train])
    Z, held, truth = scaler.transform(X[train]), scaler.transform(X[test]), y[test]
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    with threadpool_limits(1):
        fitted = pc.CostPathSVCCV(cv=folds, selection="longest").fit(Z, y[train])
        said = predicted(fitted, held, RARE_USES)
    share = [n / sum(RARE) / np.sum(side) for n, side in zip(RARE, (truth > 0, truth < 0), strict=True)]
    weighed = [(use[0] * share[0], use[1] * share[1]) for use in RARE_USES]
    constant = [min(cost(truth, np.full(truth.size, one), use) for one in (True, False)) for use in weighed]
    found = [[cost(truth, p, use) for p, use in zip(labels, weighed, strict=True)] for labels in said]
    return {"cost": np.array(found) / constant}


def measure(
    names: Sequence[str], folder: str | None, state: Path | None, smoke: bool, rare: bool = False
) -> dict[str, Any]:
    """For each set the relative costs, shape (splits, rules, uses)."""
    found, rules = {}, len(RULES if rare else NAMES)
    for name in names:
        data = pc.datasets.load(name, data_dir=folder, **({"drop": DROP[name]} if name in DROP else {}))
        X, y = np.asarray(data.X), data.y.astype(float)
        if rare:
            tasks = {f"rare-{name}-{k}": partial(rare_split, X, y, k) for k in range(SPLITS)}
        else:
            test = min(TEST, y.size - TRAIN)
            parts = StratifiedShuffleSplit(SPLITS, train_size=TRAIN, test_size=test, random_state=0).split(X, y)
            tasks = {f"{name}-{k}": partial(split, X, y, *part, k) for k, part in enumerate(parts)}
        if smoke:
            tasks = dict(list(tasks.items())[:2])
        made = finish(tasks, state, Arrays({"cost": (rules, len(USES))}), desc=name)
        found[name] = np.stack([piece["cost"] for piece in made.values()])
        print(name, "done", flush=True)
    return found


# ---- tables ---------------------------------------------------------------------------------------------------------


def interval(d: Any) -> tuple[float, float]:
    """95 % interval of Student's t for a mean."""
    half = student(d.size - 1).ppf(0.975) * np.sqrt(d.var(ddof=1) / d.size)
    return float(d.mean() - half), float(d.mean() + half)


def line(cells: Sequence[str]) -> str:
    """A row of a table."""
    return "| " + " | ".join(cells) + " |"


def tables(found: dict[str, Any], rare: bool = False) -> str:
    """Means of each set and half, and differences to "longest", as Markdown."""
    heads_of = list(RULES) if rare else NAMES
    out, below = [line(["set", "costs", *heads_of]), line(["---"] * (len(heads_of) + 2))], []
    for half, names in (("all", RARE_SETS),) if rare else (("chosen on", CHOOSE), ("judged on", JUDGE)):
        seen = [name for name in names if name in found]
        for name in seen:
            for k, use in enumerate(RARE_USES if rare else USES):
                means = np.nanmean(found[name][:, :, k], axis=0)
                cells = [f"**{x:.3f}**" if x == means.min() else f"{x:.3f}" for x in means]
                out.append(line([name, f"{use[0]:g}:{use[1]:g}", *cells]))
        if len(seen) > 1:
            mean = np.mean([np.nanmean(found[name], axis=(0, 2)) for name in seen], axis=0)
            out.append(line([f"**{half}**", "both", *(f"{x:.3f}" for x in mean)]))
            below += differences(half, [found[name] for name in seen])
    heads = [line(["against longest", "", *heads_of[1:]]), line(["---"] * (len(heads_of) + 1))]
    return "\n".join([*out, "", *heads, *below])


def differences(half: str, sets: Sequence[Any]) -> list[str]:
    """Rows of a half: mean difference of each rule to "longest" with its interval over sets; and set by set."""
    own = [x[:, 1:] - x[:, :1] for x in sets]  # of the splits that the rule has
    d = np.array([np.nanmean(each, axis=(0, 2)) for each in own])
    ends = [interval(column) for column in d.T]
    mean = [f"{m:+.3f} ({low:+.3f} to {high:+.3f})" for m, (low, high) in zip(d.mean(axis=0), ends, strict=True)]
    tally = np.zeros((d.shape[1], 4), dtype=int)
    for each in own:
        for k, use in np.ndindex(d.shape[1], len(USES)):
            x = each[:, k, use][np.isfinite(each[:, k, use])]
            low, high = interval(x)
            tally[k] += x.mean() < 0, x.mean() > 0, high < 0, low > 0
    counts = [f"{a} : {b}, {c} : {e}" for a, b, c, e in tally]
    return [line([half, "difference", *mean]), line([half, "cheaper : dearer, so beyond the interval", *counts])]


def write(found: dict[str, Any], to: Path, rare: bool) -> None:
    """Every number, as CSV: one line for each set and split."""
    to.parent.mkdir(parents=True, exist_ok=True)
    rules, uses = (RULES, RARE_USES) if rare else (NAMES, USES)
    columns = [f"{rule} {use[0]:g}:{use[1]:g}" for rule in rules for use in uses]
    with replacing(to) as file, file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["set", "split", *columns])
        for name, x in found.items():
            for k, row in enumerate(x):
                writer.writerow([name, k, *(f"{value:.4f}" for value in row.ravel())])


def read(file: Path) -> dict[str, Any]:
    """The numbers of such a file."""
    found: dict[str, list[Any]] = {}
    with file.open(newline="", encoding="utf-8") as stream:
        for name, _, *values in list(csv.reader(stream))[1:]:
            found.setdefault(name, []).append(np.array(values, dtype=float).reshape(-1, len(USES)))
    return {name: np.stack(rows) for name, rows in found.items()}


def page_with(text: str, made: str, begin: str = BEGIN) -> str:
    """The page with these tables in place of those that it had."""
    head, rest = text.split(begin)
    return f"{head}{begin}\n\n{made}\n\n{END}{rest.split(END, 1)[1]}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: python examples/choosing_t.py --smoke"
    )
    parser.add_argument("--data", default=os.environ.get("PARETOCLF_DATA"), help="folder with pima.csv and so on")
    parser.add_argument("--state", type=Path, help="folder of finished splits, to go on from")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write costs.csv, or rare.csv, here")
    parser.add_argument("--page", type=Path, metavar="FILE", help="put the tables of --out into this page")
    parser.add_argument("--rare", action="store_true", help="one sample in 101 positive, seven sets")
    parser.add_argument("--smoke", action="store_true", help="two splits of wdbc: seconds")
    args = parser.parse_args(arguments)
    if args.rare and not args.data:
        parser.error("--rare needs --data: wdbc has too few samples")
    names: Sequence[str] = ("wdbc",) if args.smoke or not args.data else (*CHOOSE, *JUDGE)
    if args.rare:
        names = RARE_SETS[:1] if args.smoke else RARE_SETS
    found = measure(names, args.data, args.state, args.smoke, args.rare)
    if args.out is not None:
        to = args.out / ("rare.csv" if args.rare else "costs.csv")
        write(found, to, args.rare)
        found = read(to)
    print(tables(found, args.rare))
    if args.page is not None:
        text = args.page.read_text(encoding="utf-8")
        text = page_with(text, tables(found, args.rare), RARE_BEGIN if args.rare else BEGIN)
        with replacing(args.page) as file:
            file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
