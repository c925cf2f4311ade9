"""The pictures of docs/explanation/tracker.md: sets along a path, a jump of b, a tie.

Run it as it is; it takes seconds.

Everything is computed in fractions by the textbook's engine (`paretoclf.engine.textbook`), and drawn in floats.
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from paretoclf.engine.general import follow
from paretoclf.engine.in_fractions import as_fractions as fractions
from paretoclf.engine.sets import LEFT, MARGIN, RIGHT, SETS
from paretoclf.engine.start import Data
from paretoclf.engine.textbook import Walk
from paretoclf.problem.parametric_qp import INSIDE, LOWER, UPPER, ParametricQP

COLOURS = ["#e8e8e8", "#3b6fb6", "#f2b134"]  # of RIGHT, LEFT, MARGIN
NAMES = ["right: alpha = 0", "left: alpha at its cap", "margin set"]


class Segment(NamedTuple):
    """From t0 to t1 the sets of the samples (n,), and at both ends multipliers a (2, n) and intercept eta (2, 1)."""

    t0: Fraction
    t1: Fraction
    basis: Any
    a: Any
    eta: Any


def problem_of(X, y, start, stop):
    """The dual of the linear 2C-SVM while the costs go from one pair to another."""
    ends = [[plus if label > 0 else minus for label in y] for plus, minus in (start, stop)]
    return ParametricQP.box(y[:, None] * (X @ X.T) * y, 0 * y + 1, y[None], np.array(ends, dtype=object))


def asymmetry_line(X, y, total, lo=Fraction(1, 100)):
    """The segments of the linear 2C-SVM from asymmetry lo to 1 - lo."""
    X, y, hi = fractions(X), fractions(y), 1 - lo
    found = follow(problem_of(X, y, (total * lo, total * hi), (total * hi, total * lo)), progress=False)
    t, n = lo + found.t * (hi - lo), y.size
    sets = np.vectorize(SETS.get)(found.labels[:, :n])
    return [Segment(*each) for each in zip(t[:-1], t[1:], sets, found.v[..., :n], -found.y[..., n:], strict=True)]


def all_bases(X, y, costs):
    """From costs of zero on: the ends of every basis, of those without length too, and the set of each sample on it."""
    X, y = fractions(X), fractions(y)
    problem = problem_of(X, y, (Fraction(0), Fraction(0)), tuple(map(Fraction, costs)))
    walk = Walk(Data.of(problem), np.array([INSIDE] + [UPPER] * (y.size - 1) + [LOWER]))
    ends, bases = [Fraction(0)], []
    sets = {INSIDE: MARGIN, UPPER: LEFT, LOWER: RIGHT}

    def seen(_):
        ends.append(walk.t)
        bases.append([sets[label] for label in walk.labels[: y.size].tolist()])

    walk.follow(1000, report=seen)
    return ends, bases


def draw_sets(segments: list[Segment]):
    """One row a sample, coloured by its set."""
    n = segments[0].basis.size
    fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
    for s in segments:
        for i in range(n):
            ax.barh(i, float(s.t1 - s.t0), left=float(s.t0), height=0.8, color=COLOURS[s.basis[i]])
    ax.set(xlabel="asymmetry", ylabel="sample", yticks=range(n), xlim=(0, 1), ylim=(n - 0.5, -0.5))
    patches = [Patch(color=c, label=name) for c, name in zip(COLOURS, NAMES, strict=True)]
    fig.legend(handles=patches, loc="outside upper center", ncols=3, frameon=False)
    return fig


def draw_jump(X, y, total, segments: list[Segment]):
    """The intercept along the line, and at the jump what is minimised as a function of the intercept."""
    fig, (one, two) = plt.subplots(1, 2, figsize=(7.4, 3.1), layout="constrained")
    for s in segments:
        one.plot([float(s.t0), float(s.t1)], s.eta[:, 0].astype(float), color=COLOURS[LEFT])
    for before, after in pairwise(segments):
        if before.eta[1, 0] != after.eta[0, 0]:
            jump, ends = before.t1, sorted((float(before.eta[1, 0]), float(after.eta[0, 0])))
            one.plot([float(jump)] * 2, ends, color=COLOURS[MARGIN], lw=3)
    one.set(xlabel="asymmetry", ylabel="b", xlim=(0, 1), title="b along the line")
    X, y = np.ravel(X).astype(float), np.array(y, dtype=float)
    at_jump = next(s for s in segments if s.t0 == jump)
    w = float(X @ (y * at_jump.a[0].astype(float)))
    b = np.linspace(-1.2, 1.2, 400)
    cost = np.where(y > 0, float(total * jump), float(total * (1 - jump)))
    loss = 0.5 * w**2 + np.maximum(0, 1 - y[:, None] * (w * X[:, None] + b)).T @ cost
    two.plot(b, loss, color=COLOURS[LEFT])
    two.plot(ends, [loss.min()] * 2, color=COLOURS[MARGIN], lw=3)
    slope = at_jump.a[0] @ (fractions(y) * fractions(X))
    two.set(xlabel="b", ylabel="objective", title=f"at asymmetry {jump}, where w = {slope}")
    return fig


def draw_tie(ends, bases):
    """The bases one after another, as rows: several rows with one t are a tie."""
    table = np.array(bases)
    fig, ax = plt.subplots(figsize=(6.2, 0.26 * len(bases) + 1.2), layout="constrained")
    ax.imshow(table, cmap=ListedColormap(COLOURS), vmin=0, vmax=2, aspect="auto")
    for k, (before, row) in enumerate(pairwise(table), start=1):
        for i in np.flatnonzero(row != before):
            ax.plot(i, k, "k.", ms=7)
    names = [f"{a} to {b}" if a < b else f"{a}, no length" for a, b in pairwise(ends)]
    ax.set(xlabel="index (a dot: it has just changed its set)", ylabel="t", xticks=range(table.shape[1]))
    ax.set_yticks(range(len(bases)), names)
    patches = [Patch(color=c, label=name) for c, name in zip(COLOURS, NAMES, strict=True)]
    fig.legend(handles=patches, loc="outside upper center", ncols=3, frameon=False, fontsize="small")
    return fig


def main() -> None:
    """Draw the three."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/_static"), help="folder of the pictures")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(3)
    y = [1] * 6 + [-1] * 8
    X = (rng.integers(-8, 9, (14, 2)) + 4 * np.array(y)[:, None]).tolist()
    draw_sets(asymmetry_line(X, y, Fraction(1, 20))).savefig(out / "tracker_sets.png", dpi=110)
    X, y, total = [[2], [1], [0], [-1], [-3]], [1, 1, -1, -1, -1], Fraction(2, 3)
    draw_jump(X, y, total, asymmetry_line(X, y, total)).savefig(out / "tracker_jump.png", dpi=110)
    # Four places of a grid, twice each, and one place with both labels.
    X = [[0, 0], [0, 0], [2, 0], [2, 0], [1, 1], [1, 1], [0, 1], [0, 1]]
    y = [1, 1, -1, -1, 1, -1, 1, 1]
    draw_tie(*all_bases(X, y, (3, 5))).savefig(out / "tracker_tie.png", dpi=110)
    print("wrote tracker_sets.png, tracker_jump.png and tracker_tie.png to", out)


if __name__ == "__main__":
    main()
