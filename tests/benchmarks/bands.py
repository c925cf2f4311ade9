"""Certificates of paths within eps: what they cost, which there are not; and what the second checker says of mutants.

python tests/benchmarks/bands.py table   # 50 cone paths at 1e-4: file and check, size, width, or why there is none
python tests/benchmarks/bands.py second  # 1000 changed files of each kind: the same verdict in Python and in JavaScript
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import json

import numpy as np

import paretoclf as pc
from paretoclf.proof import check_band
from paretoclf.proof.bands.band_certificate import relative_width
from tests.oracles import cone_lines
from tests.oracles.bands import HONEST, band_of
from tests.oracles.broken_certificates import files
from tests.oracles.curve_certificates import HONEST as CURVES
from tests.oracles.curve_certificates import curve_of
from tests.oracles.maps import MAPS, content_of
from tests.oracles.ranges import MADE, content_of_ranges, objections
from tests.proof.test_check_js import changed_texts, of_javascript, of_python, proved

#: Lines in other sizes than those of `cone_lines.LINES`.
SIZES = {
    "square_root_lasso": [(30, 5), (40, 10), (80, 30), (100, 45)],
    "group_lasso": [(40, 3), (80, 8)],
    "norm_constrained_svm": [(20, 3), (30, 10), (70, 4)],
    "matrix_completion": [(4, 3), (5, 5)],
    "maximum_entropy": [(8,), (30,), (45,)],
    "log_barrier": [(4, 10), (12, 30)],
    "s_procedure": [(3,), (8,)],
    "s_procedure_lmi": [(3,), (4,)],
    "ridge_logistic": [(15, 3), (25, 4)],
    "elastic_net": [(30, 6), (40, 25)],
    "robust_svm": [(12, 3), (40, 3)],
    "moving_samples": [(10, 2), (30, 4)],
    "shrunk_covariance": [(3,), (10,)],
}
COLUMNS = 100


def lines():
    """Names and lines, of all that `cone_lines` has first."""
    for name, make in cone_lines.LINES.items():
        yield name, make()
    for name, sizes in SIZES.items():
        for size in sizes:
            yield f"{name}{size}", getattr(cone_lines, name)(*size)


def table(eps, count):
    """Print a row for each path, and how many are proved."""
    print("| path | columns x rows | pairs | write | check | size | width, of \\|V\\| |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    counts = Counter()
    for name, line in lines():
        if sum(counts.values()) == count:
            break
        try:
            path = pc.trace(*line, eps=eps, progress=False)
        except pc.ParetoclfError:
            continue
        if not hasattr(path, "program") or path.program.n > COLUMNS:
            continue
        shape = f"{path.program.n} x {path.program.m} | {path.t.size}"
        with TemporaryDirectory() as folder:
            file = Path(folder, "a.json")
            began = time.process_time()
            try:
                path.proof.save(file, progress=False)
            except pc.InputError as error:
                counts["refused"] += 1
                print(
                    f"| {name} | {shape} | {time.process_time() - began:.1f} | none: {str(error)[:110]} |", flush=True
                )
                continue
            wrote = time.process_time() - began
            began = time.process_time()
            check_band.main(str(file))
            checked = time.process_time() - began
            size, width = file.stat().st_size / 1e3, relative_width(json.loads(file.read_text()))
        counts["proved"] += 1
        counts["above a minute"] += wrote + checked > 60
        print(f"| {name} | {shape} | {wrote:.1f} | {checked:.1f} | {size:.0f} kB | {width:.1e} |", flush=True)
    print(dict(counts))


def second(count):
    """Print of each kind how many changed files are proved and refused by both; return how often they differ."""
    differ = 0
    with TemporaryDirectory() as name:
        folder = Path(name)
        contents = [
            *files(),
            *(band_of(each)[0] for each in HONEST),
            *(content_of(each(), folder) for each in MAPS.values()),
            *map(content_of_ranges, MADE),
            *(curve_of(each)[0] for each in CURVES),
        ]
        for kind in ("exact", "bounded", "band", "map", "ranges", "curve"):
            originals = [each for each in contents if each["format"].startswith(kind)]
            texts = changed_texts(originals, count, np.random.default_rng(11))
            verdicts = [
                (proved(theirs), proved(of_python(text, folder)))
                for theirs, text in zip(of_javascript(texts), texts, strict=True)
            ]
            counts = Counter(verdicts)
            if kind == "ranges":
                differ += solved_again([text for text, both in zip(texts, verdicts, strict=True) if all(both)])
            wrong = counts[True, False] + counts[False, True]
            print(
                f"{kind}: proved by both {counts[True, True]}, refused by both {counts[False, False]}, differ {wrong}"
            )
            differ += wrong
    return differ


def solved_again(texts):
    """Print and count what Clarabel has against the prices and ends that are proved of changed files of ranges."""
    found = [each for text in dict.fromkeys(texts) for each in objections(json.loads(text))]
    for each in found:
        print(f"  Clarabel: {each}")
    print(f"ranges: {len(texts)} that are proved were solved again by Clarabel, {len(found)} objections")
    return len(found)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["table", "second"])
    parser.add_argument("--eps", type=float, default=1e-4)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--smoke", action="store_true")
    args = parser.parse_args()
    number = 12 if args.smoke else args.count
    if args.what in (None, "table"):
        table(1e-2 if args.smoke else args.eps, 3 if args.smoke else 50)
    sys.exit(bool(second(number)) if args.what in (None, "second") else 0)
