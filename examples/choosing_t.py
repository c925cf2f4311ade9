"""Which t of a path to take: rules for `CostPathSVCCV`, judged on samples that chose nothing.

Run ``python examples/choosing_t.py --state FOLDER`` (25 minutes; ``--smoke`` for seconds): it keeps every finished
split in FOLDER and goes on where it was stopped. PARETOCLF_DATA names the folder of the data sets; without it there is
nothing but wdbc. ``--out FOLDER`` writes what was found as CSV, and ``--page docs/reference/selection.md`` the tables
into that page, from these numbers. The protocol is on that page.
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
from paretoclf.files import replacing
from paretoclf.resume import Arrays, finish

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
BEGIN, END = "<!-- made by examples/choosing_t.py -->", "<!-- end -->"


def cost(y: Any, positive: Any, use: tuple[float, float]) -> float:
    """Cost of labels."""
    return float(use[0] * np.sum(~positive & (y > 0)) + use[1] * np.sum(positive & (y < 0)))


def split(X: Any, y: Any, train: Any, test: Any, seed: int) -> dict[str, Any]:
    """Cost of each rule and use on the test part, over that of the best constant label: shape (rules, uses)."""
    scaler = StandardScaler().fit(X[train])
    Z, held, labels, truth = scaler.transform(X[train]), scaler.transform(X[test]), y[train], y[test]
    constant = [min(cost(truth, np.full(truth.size, one), use) for one in (True, False)) for use in USES]
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    again = RepeatedStratifiedKFold(n_splits=5, n_repeats=5, random_state=seed)
    with threadpool_limits(1):
        fitted = pc.CostPathSVCCV(cv=folds).fit(Z, labels)
        said = [
            [fitted.set_params(selection=rule).predict(held, costs=use) > 0 for use in USES] for rule in RULES.values()
        ]
        repeated = pc.CostPathSVCCV(cv=again).fit(Z, labels)
        said.append([repeated.predict(held, costs=use) > 0 for use in USES])
        curve = fitted.path_.leave_one_out(progress=False).curve
        best = [max(curve.best(use), key=lambda optimum: optimum.width).t for use in USES]
        said.append([fitted.path_.at(t).classifier.decision_function(held) >= 0 for t in best])
    return {"cost": np.array([[cost(truth, p, use) for p, use in zip(x, USES, strict=True)] for x in said]) / constant}


def measure(names: Sequence[str], folder: str | None, state: Path | None, smoke: bool) -> dict[str, Any]:
    """For each set the relative costs, shape (splits, rules, uses)."""
    found = {}
    for name in names:
        data = pc.datasets.load(name, data_dir=folder, **({"drop": DROP[name]} if name in DROP else {}))
        X, y = np.asarray(data.X), data.y.astype(float)
        test = min(TEST, y.size - TRAIN)
        parts = StratifiedShuffleSplit(SPLITS, train_size=TRAIN, test_size=test, random_state=0).split(X, y)
        tasks = {f"{name}-{k}": partial(split, X, y, *part, k) for k, part in enumerate(parts)}
        if smoke:
            tasks = dict(list(tasks.items())[:2])
        made = finish(tasks, state, Arrays({"cost": (len(NAMES), len(USES))}), desc=name)
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


def tables(found: dict[str, Any]) -> str:
    """Means of each set and half, and differences to "longest", as Markdown."""
    out = [line(["set", "costs", *NAMES]), line(["---"] * (len(NAMES) + 2))]
    below: list[str] = []
    for half, names in (("chosen on", CHOOSE), ("judged on", JUDGE)):
        seen = [name for name in names if name in found]
        for name in seen:
            for k, use in enumerate(USES):
                means = found[name][:, :, k].mean(axis=0)
                cells = [f"**{x:.3f}**" if x == means.min() else f"{x:.3f}" for x in means]
                out.append(line([name, f"{use[0]:g}:{use[1]:g}", *cells]))
        if not seen:
            continue
        mean = np.array([found[name].mean(axis=(0, 2)) for name in seen])  # (sets, rules)
        out.append(line([f"**{half}**", "both", *(f"{x:.3f}" for x in mean.mean(axis=0))]))
        if len(seen) > 1:
            ends = [interval(mean[:, k] - mean[:, 0]) for k in range(1, len(NAMES))]
            cells = [f"{d:+.3f} ({low:+.3f} to {high:+.3f})" for d, (low, high) in zip(gains(mean), ends, strict=True)]
            below.append(line([half, *cells]))
    heads = [line(["mean difference to longest", *NAMES[1:]]), line(["---"] * len(NAMES))]
    return "\n".join([*out, "", *heads, *below, "", *single(found)])


def gains(mean: Any) -> Any:
    """Mean difference of each rule to the first, over sets."""
    return (mean[:, 1:] - mean[:, :1]).mean(axis=0)


def single(found: dict[str, Any]) -> list[str]:
    """How often a rule is cheaper or dearer than "longest" on a set and pair of costs, and beyond its own interval."""
    out = [line(["cheaper : dearer, beyond the interval", *NAMES[1:]]), line(["---"] * len(NAMES))]
    for half, names in (("chosen on", CHOOSE), ("judged on", JUDGE)):
        tally = np.zeros((len(NAMES) - 1, 4), dtype=int)
        for x in (found[name] for name in names if name in found):
            for k in range(1, len(NAMES)):
                for use in range(len(USES)):
                    d = x[:, k, use] - x[:, 0, use]
                    low, high = interval(d)
                    tally[k - 1] += d.mean() < 0, d.mean() > 0, high < 0, low > 0
        out.append(line([half, *(f"{a} : {b}, {c} : {d}" for a, b, c, d in tally)]))
    return out


def write(found: dict[str, Any], folder: Path) -> None:
    """Every number, as CSV: one line for each set and split."""
    folder.mkdir(parents=True, exist_ok=True)
    columns = [f"{rule} {use[0]:g}:{use[1]:g}" for rule in NAMES for use in USES]
    with replacing(folder / "costs.csv") as file, file.open("w", newline="", encoding="utf-8") as stream:
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
            found.setdefault(name, []).append(np.array(values, dtype=float).reshape(len(NAMES), len(USES)))
    return {name: np.stack(rows) for name, rows in found.items()}


def page_with(text: str, made: str) -> str:
    """The page with these tables in place of those that it had."""
    head, rest = text.split(BEGIN)
    return f"{head}{BEGIN}\n\n{made}\n\n{END}{rest.split(END)[1]}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: python examples/choosing_t.py --smoke"
    )
    parser.add_argument("--data", default=os.environ.get("PARETOCLF_DATA"), help="folder with pima.csv and so on")
    parser.add_argument("--state", type=Path, help="folder of finished splits, to go on from")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write costs.csv here")
    parser.add_argument("--page", type=Path, metavar="FILE", help="put the tables of --out into this page")
    parser.add_argument("--smoke", action="store_true", help="two splits of wdbc: seconds")
    args = parser.parse_args(arguments)
    names = ("wdbc",) if args.smoke or not args.data else (*CHOOSE, *JUDGE)
    found = measure(names, args.data, args.state, args.smoke)
    if args.out is not None:
        write(found, args.out)
        found = read(args.out / "costs.csv")
    print(tables(found))
    if args.page is not None:
        text = page_with(args.page.read_text(encoding="utf-8"), tables(found))
        with replacing(args.page) as file:
            file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
