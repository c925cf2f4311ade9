"""Multipliers that somebody gives beside a point: one rule at every door, on the compiled program.

Where they are given they are part of the answer. They are wrong where a sign is, where a row with room has one, or
where no multipliers of the other rows make the gradient vanish.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.common.linear_programs import linprog
from paretoclf.common.tolerances import CERTIFY
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.engine.reduction.program import between as between_ends
from paretoclf.proof.row_units import Units


def dual_error(line: ProgramLine, t: float, x: Array, duals: Mapping[str, Array], own: Array | None = None) -> float:
    """How far multipliers by name are from those of any optimum: signs, products with slacks, stationarity.

    Those of rows that are not given are chosen as well as can be, by a linear program.

    Parameters
    ----------
    line : ProgramLine
    t : float
    x : array of shape (n,)
        An optimal point.
    duals : mapping of str to array
        With the signs that the program's own multipliers have for the user.
    own : array of shape (m,), optional
        Multipliers that are optimal, where some are known: errors are relative to their terms, too.

    Returns
    -------
    float
        Relative to the terms of what is judged; nan where the linear program is not solved.
    """
    z, known = np.zeros(line.m), np.zeros(line.m, dtype=bool)
    equation = np.arange(line.m) < line.equations
    for name, value in duals.items():
        place, entries = line.multipliers[name].spread(value, equation)
        z[place], known[place] = entries, True
    slack = between_ends(line.b, t) - line.A @ x
    gradient = line.P @ x + between_ends(line.q, t)
    gradient = gradient + line.A.T @ z
    every = np.stack([z] if own is None else [z, own])
    units = Units.at(line, np.array([t]), x[None], every)
    room = units.slacks[0] * np.abs(slack)
    added = units.prices(z[None] != 0.0)[0] * z  # to the gradient, in its units
    sign = float(-added[~equation].min(initial=0.0))
    products = float((room * np.abs(added))[~equation].max(initial=0.0))
    chosen = ~known & (equation | (room <= CERTIFY))
    missed = _missed(gradient, line.A[chosen], equation[chosen], units.gradient[0])
    return float(np.max([sign, products, missed]))  # not max: nan is to stay


def _missed(gradient: Array, A: Any, free: Any, terms: Array) -> float:
    """The least of max |gradient + A'z| / terms over z, nonnegative but where free."""
    r = gradient / terms
    if not A.shape[0]:
        return float(np.abs(r).max(initial=0.0))
    B = sp.csc_array(sp.diags_array(1.0 / terms) @ A.T)
    size = abs(B).max(axis=0).toarray().ravel()
    size[size == 0.0] = 1.0
    B = B @ sp.diags_array(1.0 / size)  # HiGHS drops what is small: z in units of its rows
    one = np.ones((r.size, 1))
    rows = sp.vstack([sp.hstack([B, -one]), sp.hstack([-B, -one])])
    bounds = [(None if each else 0.0, None) for each in free.tolist()]
    bounds.append((0.0, None))
    cost = np.append(np.zeros(A.shape[0]), 1.0)
    found = linprog(cost, A_ub=rows, b_ub=np.append(-r, r), bounds=bounds)
    return float(found.fun) if found.status == 0 else float("nan")
