"""Falsified pieces of curves: no bound may be beyond the truth. ``python tests/benchmarks/falsified_curves.py 1700``.

Draws that many programs of each of six kinds, a piece of each in six ways, honest or not, and asks both judges. A
number of 280 makes 10 080 pieces. Prints one line for each kind: pieces, those without bounds, values compared, and the
largest amount, relative to 1 + the value, by which a bound is beyond Clarabel's interval.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from paretoclf.proof.curves.curve_theorem import CurveJudge
from tests.oracles.curve_programs import FALSE, KINDS, Honest, beyond, falsified


class BoxJudge(CurveJudge):
    """Takes residuals by the box alone."""

    def _below_by_multipliers(self, piece):
        return "not asked"


def attack(kind: str, count: int, first: int = 0) -> tuple[int, int, int, float, float]:
    """Pieces, refusals, values, the worst excess, and the median width of honest pieces, of one kind."""
    pieces, refused, values, worst, widths = 0, 0, 0, -np.inf, []
    for seed in range(first, first + count):
        rng = np.random.default_rng(seed)
        honest = Honest.of(kind, rng)
        for how in FALSE:
            start, stop = np.sort(rng.random(2))
            if rng.random() < 0.5:
                stop = min(1.0, start + 2.0 ** -rng.integers(4, 9))
            piece = honest.piece(start, stop)
            if piece is None:
                continue
            for judge in (CurveJudge(honest.program), BoxJudge(honest.program, honest.box)):
                pieces += 1
                found = beyond(judge, falsified(piece, how, rng), rng.random(2))
                if found is None:
                    refused += 1
                    continue
                worst = max(worst, found[0])
                values += 2
                if how == "honest":
                    widths += found[1]
    return pieces, refused, values, worst, float(np.median(widths or [np.nan]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("count", type=int, nargs="?", default=20, help="programs of each kind (default: 20)")
    parser.add_argument("kinds", nargs="?", default=",".join(KINDS), help="kinds, with commas (default: all)")
    parser.add_argument("--smoke", action="store_true", help="one program of each kind")
    args = parser.parse_args()
    count = 1 if args.smoke else args.count
    for kind in args.kinds.split(","):
        began = time.process_time()
        pieces, refused, values, worst, width = attack(kind, count)
        seconds = time.process_time() - began
        print(
            f"{kind:13s} {pieces} pieces, {refused} without bounds, {values} values, worst excess {worst:.1e}, "
            f"median honest width {width:.1e}, {seconds:.0f} s",
            flush=True,
        )
