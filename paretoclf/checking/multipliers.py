"""Multipliers that somebody gives beside a point: one rule for every kind of answer, on the compiled program.

Where they are given they are part of the answer. They are wrong where a sign is, where a row with slack has one, or
where no multipliers of the other rows make the gradient vanish.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Mask
from paretoclf.common.linear_programs import linprog
from paretoclf.common.tolerances import CERTIFY
from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.engine.reduction.program import between as between_ends
from paretoclf.proof.programs.row_units import Units

#: What is said of multipliers that are right but for their sign.
OPPOSITE = "With the opposite sign they are right"


def dual_error(line: ProgramLine, t: float, x: Array, duals: Mapping[str, Array], own: Array | None = None) -> float:
    """Residual of multipliers, given by name, as those of an optimum: signs, products with slacks, stationarity.

    The multipliers of rows that are not given are chosen by a linear program, as well as can be.

    Parameters
    ----------
    line : ProgramLine
    t : float
    x : array of shape (n,)
        An optimal point.
    duals : mapping of str to array
        Multipliers, with the signs that the program's own multipliers have for the user.
    own : array of shape (m,), optional
        Multipliers that are optimal, where some are known: errors are relative to their terms, too.

    Returns
    -------
    float
        The residual, relative to the terms of each condition; nan where the linear program is not solved.
    """
    z = np.zeros(line.m)
    known = np.zeros(line.m, dtype=bool)
    is_equation = np.arange(line.m) < line.equations
    for name, value in duals.items():
        place, entries = line.all_multipliers[name].spread(value, is_equation)
        z[place] = entries
        known[place] = True
    gradient = line.P @ x + between_ends(line.q, t)
    gradient = gradient + line.A.T @ z
    every = np.stack([z] if own is None else [z, own])
    units = Units.at(line, np.array([t]), x[None], every)
    slack = units.slacks[0] * np.abs(between_ends(line.b, t) - line.A @ x)
    terms = units.prices(z[None] != 0.0)[0] * z  # of the gradient, in its units
    empty = abs(line.A).sum(axis=1) == 0.0  # rows without a part in the gradient have one in the dual value
    terms = np.where(empty, z / (1.0 + np.abs(z)), terms)
    sign = float(-terms[~is_equation].min(initial=0.0))
    products = float((slack * np.abs(terms))[~is_equation].max(initial=0.0))
    chosen = ~known & (is_equation | (slack <= CERTIFY))
    stationarity = _least_gradient(gradient, line.A[chosen], is_equation[chosen], units.gradient[0])
    return float(np.max([sign, products, stationarity]))  # not max: nan is to stay


def _least_gradient(gradient: Array, A: Any, free: Mask, terms: Array) -> float:
    """The least of max |gradient + A'z| / terms over z, nonnegative but where free."""
    relative = gradient / terms
    if not A.shape[0]:
        return float(np.abs(relative).max(initial=0.0))
    columns = sp.csc_array(sp.diags_array(1.0 / terms) @ A.T)
    size = abs(columns).max(axis=0).toarray().ravel()
    size[size == 0.0] = 1.0
    columns = columns @ sp.diags_array(1.0 / size)  # HiGHS drops small entries: z in units of its rows
    # Variables z and s; the rows say |relative + columns z| <= s.
    minus_one = -np.ones((relative.size, 1))
    rows = sp.vstack([sp.hstack([columns, minus_one]), sp.hstack([-columns, minus_one])])
    bounds = [(None if each else 0.0, None) for each in free.tolist()]
    bounds.append((0.0, None))
    cost = np.append(np.zeros(A.shape[0]), 1.0)
    found = linprog(cost, A_ub=rows, b_ub=np.append(-relative, relative), bounds=bounds)
    return float(found.fun) if found.status == 0 else float("nan")
