"""Paths within eps of any convex problem: violations at random t, solves, growth, time, exact paths in the band.

Run ``python tests/benchmarks/eps_paths.py`` (twenty minutes; ``--smoke`` for seconds; parts by name: lines, forms,
false, exact, solves, times, fine). Each line of `tests/oracles/cone_lines.py` is traced, and its bounds are held
against those that `verify` proves of single solves to 1e-11. A row that misses what is required ends with "MISSED", and
the exit status is then 1.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import paretoclf as pc
from paretoclf.formulations.surrogate_risk import SurrogateRisk
from paretoclf.path.programs.eps_path import trace_cones
from paretoclf.proof.bands.band_proof import prove_band
from paretoclf.proof.bands.cone_line import GRID
from paretoclf.proof.bands.line_judge import ConeJudge
from paretoclf.solve.eps.search import search
from paretoclf.solve.eps.solver import ConeSolver
from paretoclf.solve.judging.cone_proof import certify_problem
from paretoclf.solve.sources.cone_problem_line import LineOfCones
from tests.oracles import cone_lines
from tests.oracles.cone_lines import LINES, move

#: Sizes of the study: name -> how the line is made, and the solves that are allowed at 1e-4.
STUDY = {
    "group_lasso": ({"n": 80, "groups": 8}, 25),
    "square_root_lasso": ({"n": 60, "p": 20}, 110),
    "s_procedure": ({"p": 6}, 120),
    "logistic_group_lasso": ({"n": 80, "groups": 6}, 135),
}


def interval(problem: Any) -> tuple[float, float]:
    """Bounds of the optimal value that another judge proves, of a solve that is as tight as the solver can."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for tol in (1e-11, 1e-10, 1e-9):
            with suppress(cp.SolverError):
                problem.solve("CLARABEL", tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol)
                break
        proof = certify_problem(problem)
    return proof.lower, proof.upper


def lines(smoke: bool) -> Iterator[tuple[str, bool]]:
    """No interval that `verify` proves may miss the band."""
    rng, total, wrong = np.random.default_rng(0), 0, 0
    for name in list(LINES)[:: 8 if smoke else 1]:
        line = LINES[name]()
        path = pc.trace(*line, eps=1e-3 if smoke else 1e-4, progress=False)
        missed, tight, count = 0, 0.0, 4 if smoke else 200
        for t in rng.uniform(0, 1, count).tolist():
            low, high = path.bounds(t)
            theirs = interval(move(line, t))
            missed += theirs[0] > high or theirs[1] < low
            tight = max(tight, (high - theirs[0]) / max(abs(high), 1e-12))
        total, wrong = total + count, wrong + missed
        yield f"{name}: {path.t.size} pairs, {missed} of {count} t outside, true excess up to {tight:.1e}", missed == 0
    yield f"all: {wrong} of {total} t outside", wrong == 0


#: Lines whose paths are falsified: of every cone, and those on which a matrix moves.
FALSIFIED = (
    *("maximum_entropy", "s_procedure", "square_root_lasso", "powers", "matrix_completion", "tradeoff_by_bounds"),
    *("robust_svm", "minimax_by_kappa", "moving_samples", "exponents", "scaled_matrix", "risk_and_budget"),
    "shrunk_covariance",
)


def false_path(path: Any, kind: str, size: float, rng: Any) -> Any:
    """The path with something else written into it."""
    t, x, y, z = (getattr(path, name).copy() for name in "txyz")
    i, ceiling, inside = int(rng.integers(1, t.size - 1)), path.ceiling, path.inside
    if kind == "z scaled":
        z[i] *= 1 + size
    elif kind == "y moved":
        y[i] += size * rng.normal(size=y[i].size)
    elif kind == "x moved":
        x[i] += size * rng.normal(size=x[i].size)
    elif kind == "z of another pair":
        z[i] = z[i + 1]
    elif kind == "a slack out of its cone":
        pair, line = path.proof.pairs[i], path.program
        starts = np.cumsum([0, *(cone.size for cone in line.cones)])
        first = [int(k) for k, c in zip(starts[:-1], line.cones, strict=True) if c.kind == "second-order"]
        row = int(rng.choice([*first, *np.flatnonzero(line.base.kinds == "nonnegative").tolist()] or [line.m - 1]))
        a = line.at(float(t[i])).A[[row]].toarray().ravel()
        length = np.linalg.norm(pair.s[row + 1 : starts[starts > row][0]]) if row in first else 0.0
        x[i] = pair.x + a / max(a @ a, 1e-12) * (pair.s[row] - length + 10 * pair.s_radius[row])
    elif kind == "a piece widened":
        kept = np.delete(np.arange(t.size), np.arange(i, min(i + 1 + int(rng.integers(4)), t.size - 1)))
        t, x, y, z = (each[kept] for each in (t, x, y, z))
    elif kind == "a pair at another t":
        t[i] = np.floor((t[i] + (t[i + 1] - t[i]) * min(size, 0.9)) / GRID) * GRID
    elif kind == "the ceiling rewritten":
        ceiling -= rng.random() * (ceiling - min(pair.value for pair in path.proof.pairs))
    elif inside is not None:  # the points inside rewritten
        inside = inside + size * rng.normal(size=inside.shape)
    return replace(path, t=t, x=x, y=y, z=z, ceiling=ceiling, inside=inside)


KINDS = (
    *("z scaled", "y moved", "x moved", "z of another pair", "a slack out of its cone", "a piece widened"),
    *("a pair at another t", "the ceiling rewritten", "points inside rewritten"),
)


def falsified(smoke: bool) -> Iterator[tuple[str, bool]]:
    """Whatever is written into a path, its bounds hold, or it is refused."""
    rng, counts = np.random.default_rng(1), {kind: [0, 0, 0] for kind in KINDS}
    for name in FALSIFIED[::7] if smoke else FALSIFIED:
        line = LINES[name]()
        path = pc.trace(*line, eps=1e-2 if smoke else 1e-3, progress=False)
        at = rng.uniform(0, 1, 2 if smoke else 200)
        theirs = [interval(move(line, t)) for t in at.tolist()]
        for trial in range(len(KINDS) * (1 if smoke else 4)):
            kind, size = KINDS[trial % len(KINDS)], 10.0 ** rng.uniform(-9, 0)
            false = false_path(path, kind, size, rng)
            if false.proof.why:
                counts[kind][0] += 1
                continue
            counts[kind][1] += 1
            for t, bounds in zip(at.tolist(), theirs, strict=True):
                low, high = false.bounds(t)
                counts[kind][2] += bounds[0] > high or bounds[1] < low
    for kind, (refused, held, wrong) in counts.items():
        yield f"{kind}: {refused} refused, {held} with bounds, {wrong} of these false at some t", wrong == 0


def exact(smoke: bool) -> Iterator[tuple[str, bool]]:
    """The exact paths of quadratic programs are inside the band."""
    rng, outside, count = np.random.default_rng(2), 0, 0
    floors: dict[float, int] = {}
    for k in range(1 if smoke else 30):
        line = cone_lines.svm(20 + 2 * k, 2 + k % 5) if k % 2 else cone_lines.lasso(20 + 2 * k, 4 + k % 9)
        path = pc.trace(*line, progress=False)
        for eps in (1e-3,) if smoke else (1e-3, 1e-4, 1e-6, 1e-8):
            try:
                band = pc.trace(*line, eps=eps, progress=False)
            except pc.errors.DegeneratePathError as error:
                floors[eps] = floors.get(eps, 0) + ("a floor" in str(error))
                continue
            for t in rng.uniform(0, 1, 300).tolist():
                (low, high), value = band.bounds(t), path.value(t)
                count += 1
                outside += not low - 1e-12 * abs(value) <= value <= high + 1e-12 * abs(value)
    yield f"exact paths: {outside} of {count} t outside; floors {floors}", outside == 0 and set(floors) <= {1e-8}


def solves(smoke: bool) -> Iterator[tuple[str, bool]]:
    """Solves at 1e-4, and how they grow."""
    for name, (sizes, most) in list(STUDY.items())[1:2] if smoke else STUDY.items():
        line = getattr(cone_lines, name)(**sizes)
        counts = []
        for eps in (1e-2, 1e-4):
            began = time.process_time()
            path = pc.trace(*line, eps=eps, progress=False)
            counts.append(path.solves)
        seconds = time.process_time() - began
        growth = counts[1] / counts[0]
        yield (
            f"{name}: {counts[1]} solves at 1e-4 of {most}, {growth:.1f} times those at 1e-2, {seconds:.1f} s",
            (counts[1] <= most and growth <= 12),
        )


def fine(smoke: bool) -> Iterator[tuple[str, bool]]:
    """To 1e-6 where the cones are exponential."""
    for name, sizes in (("logistic_group_lasso", {"n": 80, "groups": 6}), ("ridge_logistic", {"n": 80, "p": 6})):
        source = LineOfCones(*getattr(cone_lines, name)(**({} if smoke else sizes)))
        began = time.process_time()
        path = trace_cones(source, 1e-3 if smoke else 1e-6, progress=False)
        seconds = time.process_time() - began
        yield (
            f"{name}: {path.solves} solves, worst {path.proof.worst.off_by:.1e}, {seconds:.0f} s of CPU",
            seconds <= 60,
        )


def times(smoke: bool) -> Iterator[tuple[str, bool]]:
    """How long the judge takes for a path, and the whole search, in units of all solves of that path."""
    sizes = {name: size for name, (size, _) in STUDY.items()}
    for name in list(LINES)[:: 9 if smoke else 1]:
        line = getattr(cone_lines, name)(**sizes.get(name, {}))
        path = pc.trace(*line, eps=1e-2 if smoke else 1e-4, progress=False)
        taken = []
        for _ in range(1 if smoke else 3):
            began = time.process_time()
            solver = ConeSolver(path.program, 1e-9)
            for t in path.t.tolist():
                solver(t)
            solved = time.process_time()
            judge = ConeJudge(path.program, path.ceiling, path.inside)
            prove_band(judge, (path.t, path.x, path.y, path.z), path.eps)
            proved = time.process_time()
            search(path.program, path.eps, progress=False)
            taken.append((solved - began, proved - solved, time.process_time() - proved))
        solves, proofs, whole = np.min(taken, axis=0).tolist()
        share = proofs / solves
        yield (
            f"{name}: {path.t.size} solves in {1e3 * solves:.0f} ms, proofs {share:.2f} of that, "
            f"all else of the search {(whole - solves) / solves:.2f}",
            share <= 0.8,
        )


def two_classes() -> tuple[Any, Any]:
    """Samples of two classes that overlap."""
    draw = np.random.default_rng(0)
    X = np.vstack([draw.normal(size=(40, 4)) + 1, draw.normal(size=(50, 4)) * [1, 2, 1, 0.5]])
    return X, np.append(np.ones(40), -np.ones(50))


#: Formulations: how each is made, what moves and what else it takes, and the unit of its values.
FORMS: dict[str, tuple[Any, dict[str, Any], Any]] = {
    "s_procedure": (pc.SProcedure, {"zeta": (2.0, 6.0)}, lambda f: f.unit),
    "biased_minimax": (pc.formulations.BiasedMinimaxProbabilityMachine, {"u_plus": (0.1, 0.9)}, lambda f: 1.0),
    "pareto_gaussian": (pc.ParetoGaussian, {"lam": (0.2, 5.0)}, lambda f: 1.0),
    "pareto_gaussian_qp": (pc.formulations.ParetoGaussianQP, {"t": (0.2, 5.0)}, lambda f: 1.0),
    "two_c_svm": (pc.TwoCSVM, {"C_plus": (0.1, 2.0), "C_minus": 1.0}, lambda f: 1.0),
    "two_nu_svm": (pc.TwoNuSVM, {"nu": (0.2, 0.4), "asymmetry": 0.5}, lambda f: 1.0),
    "two_nu_svm_asymmetry": (pc.TwoNuSVM, {"nu": 0.2, "asymmetry": (0.4, 0.6)}, lambda f: 1.0),
    "quantile_svm": (pc.QuantileSVM, {"tau": (0.1, 0.9), "lam": 0.1}, lambda f: 0.1),
    "biobjective_margin": (pc.BiobjectiveMargin, {"theta": 1.5, "C_plus": (0.5, 2), "C_minus": 1.0}, lambda f: 1.0),
}
for _norm in ("l1", "l2", "linf"):
    FORMS[f"margin_in_norm_{_norm}"] = (
        partial(pc.formulations.MarginInNorm, norm=_norm),
        {"theta": 2.0, "radius": (0.02, 0.4), "C_plus": 0.3, "C_minus": 0.2}, lambda f: 1.0,
    )  # fmt: skip
for _loss in ("logistic", "hinge", "square"):
    FORMS[f"surrogate_risk_{_loss}"] = (
        partial(SurrogateRisk, loss=_loss), {"C_plus": (0.1, 2.0), "C_minus": 1.0, "ridge": 0.1}, lambda f: 1.0,
    )  # fmt: skip


def forms(smoke: bool) -> Iterator[tuple[str, bool]]:
    """Paths of formulations beside their own solutions, in closed form where there is one, and beside `verify`."""
    rng = np.random.default_rng(3)
    for name in list(FORMS)[::6] if smoke else FORMS:
        make, given, unit = FORMS[name]
        formulation = make(*two_classes())
        path = pc.trace(formulation, eps=1e-2 if smoke else 1e-4, progress=False, **given)
        own, theirs, count = 0, 0, 3 if smoke else 200
        for t in rng.uniform(0, 1, count).tolist():
            low, high = path.bounds(t)
            values = {key: (1 - t) * v[0] + t * v[1] if isinstance(v, tuple) else v for key, v in given.items()}
            value = formulation.solve(**values).value / unit(formulation)
            own += not low - 1e-8 * abs(value) <= value <= high + 1e-8 * abs(value)
            path.source.move(t)
            first, last = sorted(path.source.sign * each for each in interval(path.source.problem))
            theirs += first > high or last < low
        yield (
            f"{name}: {path.t.size} pairs, {own} of {count} t outside by its own solution, {theirs} by verify",
            own == theirs == 0,
        )


PARTS = {
    "solves": solves,
    "exact": exact,
    "false": falsified,
    "fine": fine,
    "times": times,
    "lines": lines,
    "forms": forms,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"among {', '.join(PARTS)}; default: all")
    parser.add_argument("--smoke", action="store_true", help="smallest sizes: seconds")
    args = parser.parse_args()
    unknown = sorted({*args.parts} - {*PARTS})
    if unknown:
        parser.error(f"part must be among {', '.join(PARTS)}, got {unknown[0]}")
    missed = False
    for part in args.parts or PARTS:
        for text, fine_so in PARTS[part](args.smoke):
            print(text + ("" if fine_so else "  MISSED"), flush=True)
            missed |= not fine_so
    return 1 if missed and not args.smoke else 0


if __name__ == "__main__":
    sys.exit(main())
