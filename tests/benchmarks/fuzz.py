"""Small problems of all families of degenerate data, by the ten thousands: none may be wrong.

Of each instance up to 8 samples (both classes among them), a kernel, and one of six lines of costs, some into axes and
into the origin. Every path is judged by its proof of every t; one in 20 with whole numbers (a linear kernel) by the
criss-cross method in fractions, and one in 20 of the others by both bounds in fractions at three points and at an end.
Where costs are so large that the rounding of kernel values decides, what is proved is proved of the values as rounded,
and says so; these are counted apart.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from threadpoolctl import threadpool_limits
from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import paretoclf as pc
from tests.oracles.exact import fractions, objections
from tests.oracles.exact_criss_cross import criss_cross
from tests.oracles.families import FAMILIES, kernel_of, sample_lines, standardised

LARGEST = 8  # samples of an instance
JUDGED = 20  # one path in so many is judged in fractions
CHUNK = 50  # instances of one call

LINES = {
    "ray": lambda plus, minus: ((0.0, 0.0), (10.0 / plus, 10.0 / minus)),
    "asymmetry": lambda plus, minus: ((0.04, 1.96), (1.96, 0.04)),
    "into an axis": lambda plus, minus: ((1.5, 0.5), (0.0, 2.0)),
    "axis to axis": lambda plus, minus: ((0.0, 2.0), (2.0, 0.0)),
    "into the origin": lambda plus, minus: ((2.0, 1.0), (0.0, 0.0)),
    "out of the origin": lambda plus, minus: ((0.0, 0.0), (0.3, 3.0)),
}


def instance(number: int, seed: int) -> tuple[dict[str, Any], Any, Any, Any, Any]:
    """Which one it is; the problem, both ends of its line, and its samples (None where these are no whole numbers)."""
    rng = np.random.default_rng([seed, number])
    name = list(FAMILIES)[number % len(FAMILIES)]
    family = FAMILIES[name]
    X, y, weight = family.instance(int(rng.integers(2**31)))
    n = int(rng.integers(2, LARGEST + 1))
    first = [rng.choice(np.flatnonzero(y == label)) for label in (1.0, -1.0)]
    rest = rng.permutation(np.setdiff1d(np.arange(y.size), first))[: n - 2]
    rows = rng.permutation(np.concatenate([first, rest]))
    X, y, weight = X[rows], y[rows], None if weight is None else weight[rows]
    kernel, scaling = str(rng.choice(family.kernels)), str(rng.choice(family.scalings))
    Z = standardised(X) if scaling == "standardised" else X
    svm = pc.TwoCSVM(Z, y, kernel_of(kernel, Z), sample_weight=weight)
    if family.per_sample:
        lines = sample_lines(y, int(rng.integers(2**31)))
        line = str(rng.choice(list(lines)))
        start, stop = (pc.SampleCosts(costs) for costs in lines[line])
    else:
        line, factor = str(rng.choice(list(LINES))), family.factor(kernel)
        start, stop = (tuple(factor * c for c in end) for end in LINES[line]((y > 0).sum(), (y < 0).sum()))
    whole = kernel == "linear" and weight is None and not family.per_sample and (np.rint(Z) == Z).all()
    where = {"instance": number, "family": name, "n": y.size, "kernel": kernel, "scaling": scaling, "line": line}
    return where, svm, start, stop, Z if whole and np.abs(Z).max(initial=0.0) < 1e3 else None


def objection(path: Any, whole: Any) -> str:
    """What fractions have against a path; nothing: ""."""
    if whole is not None:
        Z = np.array([[int(v) for v in row] for row in whole], dtype=object)
        first, last = (fractions(path.caps(t)) for t in (0.0, 1.0))
        plus = path.y > 0
        for caps in (first, last):  # costs of 10 and 10/3 are meant to balance, as they do up to their rounding
            of_plus, of_minus = sum(caps[plus]), sum(caps[~plus])
            if abs(of_plus - of_minus) <= 1e-12 * (of_plus + of_minus) and of_minus:
                caps[~plus] *= of_plus / of_minus
        said = objections(path, criss_cross(Z @ Z.T, path.y, first, last - first))
        return said[0] if said else ""
    for t in (0.0, 0.5 * float(path.breakpoints[:2].sum()), 0.5, 0.9):
        certificate = path.certificate(t, exact=True)
        dual, primal = (float(bound) for bound in certificate.bounds)
        rounding = path.certificate(t).rounding  # of what is stored, in doubles
        room = 1e-8 * primal + rounding
        if not (primal - dual <= room and dual - room <= path.value(t) <= primal + room):
            return f"exact bounds {dual!r} and {primal!r}, value {path.value(t)!r} at t = {t!r}"
    return ""


def row_of(number: int, seed: int) -> dict[str, Any]:
    """Trace and judge one instance."""
    where, svm, start, stop, whole = instance(number, seed)
    row = {**where, "status": "proved", "message": "", "fractions": False, "rounded": False}
    try:
        path = pc.trace(svm, start, stop, progress=False)
        if not path.proof.holds():
            return {**row, "status": "wrong", "message": path.proof.explain()}
        row["rounded"] = not path.proof.passes()
        if number // len(FAMILIES) % JUDGED == 0:
            said = objection(path, whole)
            row |= {"fractions": True, "status": "wrong" if said else "proved", "message": said}
    except pc.DegeneratePathError as error:
        return {**row, "status": "refused", "message": str(error)}
    except Exception as error:  # whatever else happens is a bug, and must not end the run
        return {**row, "status": "wrong", "message": f"{type(error).__name__}: {error}".splitlines()[0]}
    return row


def chunk(numbers: range, seed: int) -> tuple[Counter[str], list[dict[str, Any]]]:
    """Counts of some instances, and those that were not proved."""
    counts, bad = Counter[str](), []
    with threadpool_limits(1):
        for number in numbers:
            row = row_of(number, seed)
            counts[row["status"]] += 1
            counts["in fractions"] += row["fractions"]
            counts["of the rounded kernel"] += row["rounded"]
            bad += [row] if row["status"] != "proved" else []
    return counts, bad


def chunks(instances: int) -> Iterator[range]:
    """All instances, some at a time."""
    for first in range(0, instances, CHUNK):
        yield range(first, min(first + CHUNK, instances))


def cause(message: str) -> str:
    """The kind of a refusal: its message without numbers."""
    said = message.split(", at t =")[0]
    for condition in ("a multiplier leaves its box", "do not balance", "is not at its bound", "stored value", "gap"):
        if said.startswith("the certificate fails") and condition in said:
            return f"the certificate fails: {condition}"
    return "".join("#" if c.isdigit() else c for c in said)[:70]


def parsed(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0],
        epilog="example: python tests/benchmarks/fuzz.py --instances 100000 --jobs 4",
    )
    parser.add_argument("--instances", type=int, default=100_000, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--jobs", type=int, default=1, help="processes; default: %(default)s")
    parser.add_argument("--smoke", action="store_true", help="200 instances: seconds")
    args = parser.parse_args(argv)
    args.instances = 200 if args.smoke else args.instances
    return args


def main(argv: list[str] | None = None) -> int:
    args = parsed(argv)
    began, counts, bad = time.perf_counter(), Counter[str](), []
    todo = list(chunks(args.instances))
    calls = (joblib.delayed(chunk)(numbers, args.seed) for numbers in todo)
    results = joblib.Parallel(args.jobs, return_as="generator")(calls)
    for some, rows in tqdm(results, total=len(todo), disable=not sys.stderr.isatty(), leave=False):
        counts += some
        bad += rows
    seconds = time.perf_counter() - began
    print(
        f"{args.instances} instances: {counts['proved']} proved, {counts['refused']} refused, {counts['wrong']} wrong; "
        f"{counts['in fractions']} judged in fractions, too"
        + (f"; of the kernel values as rounded only: {rounded}" if (rounded := counts["of the rounded kernel"]) else "")
    )
    refused = [row for row in bad if row["status"] == "refused"]
    kinds: dict[tuple[str, str], list[int]] = {}
    for row in refused:
        kinds.setdefault((row["family"], cause(row["message"])), []).append(row["instance"])
    for (family, why), numbers in sorted(kinds.items()):
        print(f"refused {len(numbers):>6}  {family}: {why} (the first is instance {min(numbers)})")
    for row in bad:
        if row["status"] == "wrong":
            print(
                "wrong:",
                ", ".join(f"{key} {row[key]}" for key in ("instance", "family", "n", "kernel", "scaling", "line")),
            )
            print("      ", row["message"])
    print(f"{seconds:.0f} seconds, {args.instances / seconds:.0f} instances a second, seed {args.seed}")
    return 0 if counts["wrong"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
