"""Six solvers on the hard cases: each is called as a user would, and judged by the certificate alone.

Run it with ``python examples/verify_other_solvers.py --all`` for the table of docs/how_to/verify_your_solver.md;
without ``--all`` it takes two cases and default options. The solvers that CVXPY knows get the textbook primal, with
explicit slacks and the labels folded into the samples; what they say of the multipliers of the margins and of the
intercept is judged.
"""

from __future__ import annotations

import argparse
import warnings

import cvxpy as cp
import numpy as np
from sklearn.svm import SVC

import paretoclf as pc

#: Options beyond which a solver is not asked for more accuracy: as accurate as its own documentation allows.
TIGHT = {
    "CLARABEL": {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12},
    "OSQP": {"eps_abs": 1e-10, "eps_rel": 1e-10, "max_iter": 200_000},
    "PIQP": {"eps_abs": 1e-12, "eps_rel": 1e-12},
    "DAQP": {},
    "HIGHS": {"highs_options": {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}},
}


def scikit_learn(tight):
    """Sequential minimal optimisation, LIBSVM's."""

    def solver(X, y, C_plus, C_minus):
        weights = {1.0: C_plus, -1.0: C_minus}
        return SVC(kernel="linear", C=1.0, class_weight=weights, tol=1e-10 if tight else 1e-3).fit(X, y)

    return solver


def through_cvxpy(name, tight):
    """The primal, by one of CVXPY's solvers."""

    def solver(X, y, C_plus, C_minus):
        w, b, xi = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable(y.size, nonneg=True)
        margin = (y[:, None] * X) @ w + y * b >= 1 - xi
        costs = np.where(y > 0, C_plus, C_minus)
        problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + costs @ xi), [margin])
        problem.solve(solver=name, **(TIGHT[name] if tight else {}))
        if problem.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
            raise ValueError(f"{name} says {problem.status}")
        return margin.dual_value, float(b.value)

    return solver


def reports(cases, tight):
    """The report of every solver that is installed, by its name."""
    named = {"scikit-learn SVC": scikit_learn(tight)}
    for name in TIGHT:
        if name in cp.installed_solvers():
            named[name] = through_cvxpy(name, tight)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they warn of, they are judged for
        return {name: pc.verify_solver(solver, cases=cases) for name, solver in named.items()}


def table(cases, tight):
    """Markdown: how many trials end how, with default options and, if asked for, with tight ones.

    Where a cost is zero every multiplier must be zero, which no interior point is: such trials stand in a column of
    their own.
    """
    ends = ("optimal", "undecided", "not optimal", "failed")
    head = ("solver", "options", *ends, "a cost is zero: optimal", "the first of its worst")
    rows = ["| " + " | ".join(head) + " |", "| --- " * len(head) + "|"]
    found = {"default": reports(cases, tight=False), **({"tight": reports(cases, tight=True)} if tight else {})}
    for name in found["default"]:
        for options, report in ((options, each[name]) for options, each in found.items()):
            zero = [t.end == "optimal" for t in report if min(t.costs) == 0]
            trials = [t for t in report if min(t.costs) > 0]
            counts = [sum(t.end == end for t in trials) for end in ends]
            bad = [t for end in ("not optimal", "failed", "undecided") for t in trials if t.end == end]
            words = f"{bad[0].case}: {bad[0].words[:80]}" if bad else ""
            rows.append(
                f"| {name} | {options} | {' | '.join(map(str, counts))} | {sum(zero)} of {len(zero)} | {words} |"
            )
    return "\n".join(rows)


def main(argv=None):
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="all hard cases, default and tight options: minutes")
    args = parser.parse_args(argv)
    cases = pc.datasets.hard_cases()
    print(table(cases if args.all else cases[:2], args.all))


if __name__ == "__main__":
    main()
