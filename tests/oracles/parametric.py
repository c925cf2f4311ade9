"""A `ParametricQP` at one t, solved by Clarabel with every soft bound written out: knows nothing of paths."""

from __future__ import annotations

import clarabel
import numpy as np
import scipy.sparse as sp


def solve_at(problem, t, tol=1e-12):
    """Optimal value, values v and multipliers y of all items; None for the three where there is no optimum.

    Where the solver gives up, the value is nan: nothing is known.
    """
    q, lower, upper, below, above, constant = (
        _between(ends, t)
        for ends in (problem.q, problem.lower, problem.upper, problem.below, problem.above, problem.constant)
    )
    n, N = problem.n, problem.items
    items = sp.vstack([sp.eye_array(n), sp.csc_array(np.atleast_2d(problem.A).reshape(N - n, n))]).tocsr()
    # A bound that costs nothing is none: its slack variables could grow without end.
    fixed = (lower == upper) & np.isinf(below) & np.isinf(above)
    equal = np.flatnonzero(fixed)
    low = np.flatnonzero(np.isfinite(lower) & (below > 0) & ~fixed)
    up = np.flatnonzero(np.isfinite(upper) & (above > 0) & ~fixed)
    soft_low, soft_up = low[np.isfinite(below[low])], up[np.isfinite(above[up])]
    k = soft_low.size + soft_up.size

    def slack(rows, soft, offset):
        """Which slack variable relaxes which row."""
        at = np.searchsorted(rows, soft)
        return sp.csr_array((-np.ones(soft.size), (at, offset + np.arange(soft.size))), shape=(rows.size, k))

    A = sp.vstack(
        [
            sp.hstack([items[equal], sp.csr_array((equal.size, k))]),
            sp.hstack([-items[low], slack(low, soft_low, 0)]),
            sp.hstack([items[up], slack(up, soft_up, soft_low.size)]),
            sp.hstack([sp.csr_array((k, n)), -sp.eye_array(k)]),
        ]
    )
    b = np.concatenate([lower[equal], -lower[low], upper[up], np.zeros(k)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
    P = sp.block_diag([sp.csc_array(problem.P), sp.csc_array((k, k))])
    cost = np.concatenate([q, below[soft_low], above[soft_up]])
    cones = [clarabel.ZeroConeT(equal.size), clarabel.NonnegativeConeT(b.size - equal.size)]
    found = clarabel.DefaultSolver(sp.csc_array(sp.triu(P)), cost, sp.csc_array(A), b, cones, settings).solve()
    if str(found.status) in ("PrimalInfeasible", "DualInfeasible"):
        return None, None, None
    x, z = np.array(found.x)[:n], np.array(found.z)
    y, parts = np.zeros(N), np.split(z, np.cumsum([equal.size, low.size, up.size]))
    for rows, sign, part in zip((equal, low, up), (-1, 1, -1), parts, strict=False):
        y[rows] += sign * part
    value = found.obj_val + float(constant) if str(found.status) == "Solved" else float("nan")
    return value, items @ x, y


def _between(ends, t):
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(ends[0]), (1 - t) * ends[0] + t * ends[1], ends[0])
