"""The convex QPs of Maros and Meszaros: a proved interval for each optimal value, and which solver's answer is right.

Run ``PARETOCLF_DATA=... python tests/benchmarks/maros_meszaros.py --results FILE`` (hours; what FILE holds already is
not done again, and ``--largest`` leaves out problems of more variables and rows). Each problem has a process of its
own, on one thread; ``--page`` writes the table of `docs/research/maros_meszaros.md`. Without the data nothing is done.

Each solver that is installed gets the problem from CVXPY, with its own default settings, and ``certify_problem`` judges
its answer at 1e-6: *solved* is proved within that, *wrong* is refuted (by a better feasible point, or a violated
constraint), *undecided* is neither. The interval is the best of all answers.

Required: with n + m at most 2000 (m rows, bounds of variables among them), two-sided bounds within 1e-6 of the value
(absolute where it is below 1e-3) for 95 % of the problems; and none that contradict each other.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

import cvxpy as cp
import numpy as np
import scipy.io
import scipy.sparse as sp

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import paretoclf as pc

TOL, SMALLEST = 1e-6, 1e-3
SOLVERS = ("CLARABEL", "SCS", "OSQP", "HIGHS", "PIQP", "DAQP")
DENSE = 600  # variables up to which a solver that works with dense matrices is tried
LARGE = 2000  # n + m up to which the requirement is
SIGNS = {"optimal": "solved", "not optimal": "wrong", "undecided": "?", "infeasible": "?", "unbounded": "?"}

#: Optimal values of the report of 1999 (Optimization Methods and Software 11, 671-681), where some are off; None where
#: they are not known here.
PUBLISHED: dict[str, float | None] = dict(
    AUG2D=None, AUG2DC=None, AUG2DQP=None, AUG3D=None, AUG3DCQP=None,
    AUG3DQP=6.7523767e02, BOYD2=2.1256767e01, CVXQP1_L=1.0870480e08, CVXQP1_S=1.1590718e04, CVXQP2_L=8.1842458e07,
    CVXQP2_S=8.1209405e03, CVXQP3_L=1.1571110e08, CVXQP3_S=1.1943432e04, DPKLO1=3.7009622e-01, DUAL1=3.5012966e-02,
    DUAL2=3.3733676e-02, DUAL4=7.4609084e-01, DUALC1=6.1552508e03, DUALC5=4.2723233e02, DUALC8=1.8309359e04,
    GOULDQP2=1.8427534e-04, GOULDQP3=2.0627840e00, HS21=-9.9960000e01, HS268=5.7310705e-07, HS35MOD=2.5000000e-01,
    HS51=8.8817842e-16, HS53=4.0930233e00, HS76=-4.6818182e00, HUESTIS=3.4824690e11, KSIP=5.7579794e-01,
    LISWET1=3.6122402e01, LISWET10=4.9485785e01, LISWET12=1.7369274e03, LISWET2=2.4998076e01, LISWET4=2.5000112e01,
    LISWET5=2.5034253e01, LISWET7=4.9884089e02, LISWET8=7.1447006e03, LOTSCHD=2.3984159e03, MOSARQP1=-9.5287544e02,
    POWELL20=5.2089583e10, PRIMAL1=-3.5012965e-02, PRIMAL3=-1.3575584e-01, PRIMAL4=-7.4609083e-01,
    PRIMALC2=-3.5513077e03, PRIMALC5=-4.2723233e02, Q25FV47=1.3744448e07, QADLITTL=4.8031886e05, QBANDM=1.6352342e04,
    QBEACONF=1.6471206e05, QBRANDY=2.8375115e04, QCAPRI=6.6793293e07, QETAMACR=8.6760370e04, QFFFFF80=8.7314747e05,
    QGFRDXPN=1.0079059e11, QGROW15=-1.0169364e08, QGROW7=-4.2798714e07, QISRAEL=2.5347838e07, QPCBOEI1=1.1503914e07,
    QPCBOEI2=8.1719623e06, QPILOTNO=4.7285869e06, QPTEST=4.3718750e00, QSC205=-5.8139518e-03, QSCAGR25=2.0173794e08,
    QSCFXM1=1.6882692e07, QSCFXM2=2.7776162e07, QSCORPIO=1.8805096e03, QSCRS8=9.0456001e02, QSCSD6=5.0808214e01,
    QSCSD8=9.4076357e02, QSCTAP2=1.7350265e03, QSCTAP3=1.4387547e03, QSHARE1B=7.2007832e05, QSHARE2B=1.1703692e04,
    QSHIP04L=2.4200155e06, QSHIP04S=2.4249937e06, QSHIP08S=2.3857289e06, QSHIP12L=3.0188766e06, QSIERRA=2.3750458e07,
    QSTAIR=7.9854528e06, S268=5.7310705e-07, STADAT1=-2.8526864e07, STADAT3=-3.5779453e01, STCQP1=1.5514356e05,
    TAME=0.0, UBH1=1.1160008e00, YAO=1.9770426e02, ZECEVIC2=-4.1250000e00,
    **{"CONT-050": -4.5638509e00, "CONT-101": 1.9552733e-01, "CONT-200": -4.6848759e00, "CONT-300": 1.9151232e-01},
)  # fmt: skip


def folder() -> Path | None:
    """Where the problems are; None where they are not."""
    data = os.environ.get("PARETOCLF_DATA")
    found = Path(data) / "maros_meszaros" if data else None
    return found if found is not None and found.is_dir() else None


def stated(file: Path) -> tuple[cp.Problem, cp.Variable]:
    """The problem as a user may write it."""
    given = scipy.io.loadmat(file)
    P, A = sp.csc_array(given["P"]), sp.csr_array(given["A"])
    q, low, high = (given[name].ravel().astype(float) for name in ("q", "l", "u"))
    P = sp.csc_array((P + P.T) / 2)
    x = cp.Variable(q.size, name="x")
    objective = q @ x + float(np.ravel(given["r"])[0])
    if P.nnz:
        objective = cp.quad_form(x, cp.psd_wrap(P)) / 2 + objective
    same, below, above = low == high, low > -1e20, high < 1e20
    constraints = [A[np.flatnonzero(same)] @ x == low[same]] if same.any() else []
    if (below & ~same).any():
        constraints.append(A[np.flatnonzero(below & ~same)] @ x >= low[below & ~same])
    if (above & ~same).any():
        constraints.append(A[np.flatnonzero(above & ~same)] @ x <= high[above & ~same])
    return cp.Problem(cp.Minimize(objective), constraints), x


def one(file: Path) -> Iterator[dict[str, Any]]:
    """What is proved of one problem, answer by answer."""
    problem, x = stated(file)
    sizes = {key: shape for key, shape, _ in scipy.io.whosmat(file)}
    yield {"name": file.stem, "n": x.size, "m": sizes["A"][0]}
    for solver in SOLVERS:
        if solver not in cp.installed_solvers() or (solver == "DAQP" and x.size > DENSE):
            continue
        began = time.perf_counter()
        try:
            problem.solve(solver=solver)
        except (cp.SolverError, ValueError, RuntimeError):
            yield {"solver": solver, "status": "no answer"}
            continue
        if problem.value is None or not np.isfinite(problem.value):
            yield {"solver": solver, "status": "no answer"}
            continue
        solved = time.perf_counter() - began
        value = float(problem.value)
        try:
            proof = pc.verify(problem, tol=TOL)
        except pc.ParetoclfError as error:
            yield {"solver": solver, "status": "undecided", "value": value, "why": str(error)}
            continue
        yield {
            **{"solver": solver, "status": proof.status, "value": value, "lower": proof.lower, "upper": proof.upper},
            **{"solve": solved, "proof": time.perf_counter() - began - solved},
        }


def contradiction(file: Path) -> str | None:
    """A combination of equations that no point within the bounds satisfies, in exact arithmetic; None if none is found.

    Decimals that were rounded to doubles make dependent equations independent: what is left of one after the others
    are taken off is a tiny multiple of a statement that nobody meant.
    """
    given = scipy.io.loadmat(file)
    A = sp.csr_array(given["A"])
    low, high = (given[name].ravel().astype(float) for name in ("l", "u"))
    box: dict[int, list[Fraction | None]] = {}
    for i in np.flatnonzero((np.diff(A.indptr) == 1) & (low < high)).tolist():
        j, value = int(A.indices[A.indptr[i]]), Fraction(float(A.data[A.indptr[i]]))
        ends = [Fraction(v) / value if abs(v) < 1e20 else None for v in (float(low[i]), float(high[i]))]
        box[j] = ends if value > 0 else ends[::-1]
    solved: list[tuple[int, dict[int, Fraction], Fraction]] = []
    for i in np.flatnonzero(low == high).tolist():
        at = slice(A.indptr[i], A.indptr[i + 1])
        row = {int(j): Fraction(float(v)) for j, v in zip(A.indices[at], A.data[at], strict=True) if v}
        side = Fraction(float(low[i]))
        for j, other, value in solved:
            if factor := row.get(j, Fraction(0)) / other[j]:
                row = {k: v for k in {**row, **other} if (v := row.get(k, 0) - factor * other.get(k, 0))}
                side -= factor * value
        if not row:
            if side:
                return f"equation {i} less a combination of others is 0 = {float(side):.3g}"
            continue
        pivot = max(row, key=lambda k: abs(row[k]))
        reach: list[Fraction | None] = [Fraction(0), Fraction(0)]  # of the row, in units of its pivot, over the box
        for j, v in row.items():
            for end in (0, 1):
                bound = box.get(j, [None, None])[end if v / row[pivot] > 0 else 1 - end]
                total = reach[end]
                reach[end] = None if bound is None or total is None else total + v / row[pivot] * bound
        value = side / row[pivot]
        if (reach[0] is not None and value < reach[0]) or (reach[1] is not None and value > reach[1]):
            words = " + ".join(f"{float(v / row[pivot]):.3g} x[{j}]" for j, v in row.items())
            ends = " to ".join("inf" if v is None else f"{float(v):.6g}" for v in reach)
            said = f"{float(abs(row[pivot])):.1e} times {words} = {float(value):.6g}, where bounds allow {ends}"
            return f"equation {i} less a combination of others is {said}"
        solved.append((pivot, row, side))
    return None


def collected(lines: Sequence[str]) -> dict[str, Any]:
    """One problem from what its process wrote, as far as it got."""
    head, *answers = map(json.loads, lines)
    lower = max((a["lower"] for a in answers if "lower" in a), default=-np.inf)
    upper = min((a["upper"] for a in answers if "upper" in a), default=np.inf)
    return {**head, "lower": lower, "upper": upper, "answers": {a.pop("solver"): a for a in answers}}


def run(file: Path, seconds: float) -> dict[str, Any]:
    """One problem in a process of its own."""
    command = [sys.executable, __file__, "--one", file.stem]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            out, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
    lines = [line for line in out.splitlines() if line.startswith("{") and line.endswith("}")]
    return collected(lines) if lines else {"name": file.stem, "lower": -np.inf, "upper": np.inf, "answers": {}}


def width(row: dict[str, Any]) -> float:
    """Of the proved interval: relative to the value, absolute where that is below 1e-3."""
    if not np.isfinite([row["lower"], row["upper"]]).all():
        return float("inf")
    size = max(abs(row["upper"]), abs(row["lower"]))
    return float((row["upper"] - row["lower"]) / (size if size >= SMALLEST else 1.0))


def objections(row: dict[str, Any]) -> list[str]:
    """What is false of a row: bounds that contradict each other."""
    return ["lower above upper"] if row["lower"] > row["upper"] else []


PAGE = """# Maros and Mészáros: which optimum is right?

The convex QPs that I. Maros and C. Mészáros collected (*Optimization Methods and Software* 11, 1999, 671-681) were
chosen to be difficult: dependent constraints, bad scaling, degenerate solutions. The optimal values that were published
with them are good to some six digits, and not all of them. Here each value has an interval that is proved, and each
solver's answer a verdict that is: `tests/benchmarks/maros_meszaros.py` gives the problems to the solvers through CVXPY,
with their own default settings, and asks [`verify`](../explanation/duality.md) at a tolerance of 1e-6.

```bash
export PARETOCLF_DATA=...
.venv/bin/python tests/benchmarks/maros_meszaros.py --results maros.json --page docs/research/maros_meszaros.md
```

- *solved*: the point is feasible and optimal to 1e-6, proved.
- *wrong*: refuted, by a feasible point that is better by more, or by a constraint that it violates by more. Most of
  these have the accuracy that their solver's default settings ask for, which is less than 1e-6.
- *?*: neither was proved. *-*: the solver gave no answer, or was not asked (DAQP with more than {DENSE} variables), or
  {SECONDS:g} seconds were over.

`width` is that of the interval, relative to the value (absolute where that is below 1e-3); m counts the bounds of
variables, as in the published files. A public repository
([qpsolvers/maros_meszaros_qpbenchmark](https://github.com/qpsolvers/maros_meszaros_qpbenchmark)) holds 92 of the 138
problems; {COUNT} of these are in the table (`--largest` says how far it goes). A published
value that is outside its proved interval by more
than 1e-5 is in bold.

QSCORPIO has no upper bound because it has no point: decimals that were rounded to doubles make dependent equations
independent, and `--exact QSCORPIO` finds, in fractions, that equation 74 less a combination of others is 2.6e-17 times
`x[305] = -2.15459`, where x[305] is at least 0. Whoever solves it solves a problem that is next to it.

```text
{SUMMARY}
```

{TABLE}
"""


def page(rows: Sequence[dict[str, Any]], seconds: float) -> str:
    """The page of the documentation."""
    text = PAGE.replace("{DENSE}", str(DENSE)).replace("{SECONDS:g}", f"{seconds:g}").replace("{COUNT}", str(len(rows)))
    return text.replace("{SUMMARY}", summary(rows)).replace("{TABLE}", table(rows))


def misprinted(row: dict[str, Any]) -> bool:
    """Whether the published value is not in the proved interval, by more than its digits explain."""
    value = PUBLISHED[row["name"]]
    if value is None:
        return False
    room = 1e-5 * (abs(value) if abs(value) >= SMALLEST else 1.0)
    return bool(value < row["lower"] - room or value > row["upper"] + room)


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The table, in Markdown."""
    used = [s for s in SOLVERS if any(s in row["answers"] for row in rows)]
    head = ["problem", "n", "m", "published", "proved interval", "width", *used]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for row in sorted(rows, key=lambda row: (row.get("n", 0) + row.get("m", 0), row["name"])):
        verdicts = [SIGNS.get(row["answers"].get(s, {}).get("status", ""), "-") for s in used]
        interval = f"[{row['lower']:.10g}, {row['upper']:.10g}]"
        published = PUBLISHED[row["name"]]
        known = "-" if published is None else f"{published:.7e}"
        known = f"**{known}**" if misprinted(row) else known
        cells = [row["name"], str(row.get("n", "")), str(row.get("m", "")), known]
        lines.append("| " + " | ".join([*cells, interval, f"{width(row):.0e}", *verdicts]) + " |")
    return "\n".join(lines)


def summary(rows: Sequence[dict[str, Any]]) -> str:
    """How many, in a few lines."""
    lines = []
    small = [row for row in rows if row.get("n", 0) + row.get("m", 0) <= LARGE]
    for name, these in ((f"n + m <= {LARGE}", small), ("all", rows)):
        close = sum(width(row) <= TOL for row in these)
        lines.append(f"{name}: {close} of {len(these)} with two-sided bounds within {TOL:g}")
    off = [row["name"] for row in rows if misprinted(row)]
    lines.append(f"published values outside their proved interval: {', '.join(off) or 'none'}")
    for solver in SOLVERS:
        statuses = [row["answers"][solver]["status"] for row in rows if solver in row["answers"]]
        if statuses:
            counts = {word: statuses.count(word) for word in ("optimal", "not optimal", "undecided", "no answer")}
            lines.append(
                f"{solver}: {counts['optimal']} solved, {counts['not optimal']} wrong by proof, "
                f"{counts['undecided']} undecided, {counts['no answer']} without an answer"
            )
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example: python tests/benchmarks/maros_meszaros.py --largest 2000 --results maros.json --page maros.md",
    )
    parser.add_argument("--results", type=Path, help="what is known already; new problems are added to it")
    parser.add_argument("--page", type=Path, help="write the table to this file")
    parser.add_argument("--largest", type=int, default=10**9, help="variables and rows of the largest problem")
    parser.add_argument("--seconds", type=float, default=600, help="for one problem; default: 600")
    parser.add_argument("--exact", metavar="NAME", help="look for equations of a problem that contradict its bounds")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--smoke", action="store_true", help="five small problems: seconds")
    args = parser.parse_args(argv)
    where = folder()
    if where is None:
        print("no data: PARETOCLF_DATA must name a folder with maros_meszaros/*.mat")
        return 0
    if args.exact:
        print(f"{args.exact}: {contradiction(where / f'{args.exact}.mat') or 'no contradiction was found'}")
        return 0
    if args.one:
        warnings.simplefilter("ignore")
        for part in one(where / f"{args.one}.mat"):
            print(json.dumps(part), flush=True)
        return 0
    names = ["HS21", "HS35MOD", "HS76", "QPTEST", "ZECEVIC2"] if args.smoke else sorted(PUBLISHED)
    known = json.loads(args.results.read_text()) if args.results and args.results.exists() else []
    rows = list(known)
    for name in names:
        sizes = {key: shape for key, shape, _ in scipy.io.whosmat(where / f"{name}.mat")}
        if sum(sizes["A"]) > args.largest or any(row["name"] == name for row in rows):
            continue
        row = run(where / f"{name}.mat", args.seconds)
        rows.append(row)
        words = {solver: answer["status"] for solver, answer in row["answers"].items()}
        print(f"{name:<10} [{row['lower']:.10g}, {row['upper']:.10g}] {width(row):.0e} {words}", flush=True)
        if args.results:
            args.results.write_text(json.dumps(rows))
    wrong = [(row["name"], objection) for row in rows for objection in objections(row)]
    print(summary(rows))
    print(f"false: {wrong or 'none'}")
    if args.page:
        args.page.write_text(page(rows, args.seconds))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
