"""Stages of a reduction: an optimum of one by Clarabel, and how far points are from the conditions of an optimum.

Nothing here comes from the way back: the conditions are written out item by item, in doubles or in fractions.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from paretoclf.engine.reduction.program import ProgramLine
from paretoclf.engine.reduction.rules.stage import ItemBounds, ReductionStage, StagePoints
from paretoclf.problem.parametric_qp import ParametricQP
from tests.oracles.parametric import solve_at


def line_of(P, A, q, b, equations=0):
    """A program of small arrays; b and q for t = 0, or for both ends."""
    q, b = (np.broadcast_to(np.asarray(each, dtype=float), (2, np.shape(each)[-1])).copy() for each in (q, b))
    P, A = (sp.csc_array(np.asarray(each, dtype=float)) for each in (P, A))
    return ProgramLine(P, A, q, b, np.zeros(2), equations, 1, {}, {})


def stage_of(P, A, q, b, equations=0, **bounds):
    """A stage of small arrays, with bounds of columns by their names where there are any."""
    stage = ReductionStage.of(line_of(P, A, q, b, equations))
    of_columns = stage.of_columns.copy()
    for name, each in bounds.items():
        getattr(of_columns, name)[:] = each
    return replace(stage, of_columns=of_columns)


def _at(ends, t):
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(ends[0]), (1 - t) * ends[0] + t * ends[1], ends[0])


def optimum(stage, t):
    """An optimal point of a stage at t, or None: costs with kinks as variables that are more than all pieces."""
    columns, rows = np.flatnonzero(stage.columns), np.flatnonzero(stage.rows)
    kinks = stage.kinks
    P = whole(stage)[np.ix_(columns, columns)]
    A = stage.A.toarray()[np.ix_(rows, columns)]
    pieces = kinks.slope[:, None] * kinks.directions.toarray()[kinks.owner][:, columns]
    largest = -np.eye(kinks.size)[kinks.owner]
    free = ItemBounds.none(kinks.size)
    no_bound = np.full(kinks.offset.shape, np.inf)
    of_pieces = ItemBounds(-no_bound, kinks.offset, no_bound, no_bound)
    bounds = stage.of_columns.at(columns).joined(free).joined(stage.of_rows.at(rows)).joined(of_pieces)
    problem = ParametricQP(
        sp.block_diag([P, np.zeros((kinks.size, kinks.size))]).toarray(),
        np.block([[A, np.zeros((rows.size, kinks.size))], [pieces, largest]]),
        np.hstack([stage.q[:, columns], kinks.cost]),
        *bounds.arrays,
    )
    for tol in (1e-12, 1e-10, 1e-8):
        value, v, y = solve_at(problem, t, tol)
        if value is None or np.isfinite(value):  # else the solver gave up
            break
    if value is None or not np.isfinite(value):
        return None
    n, k = columns.size, kinks.size
    x, u = np.zeros((2, stage.columns.size, 1))
    z = np.zeros((stage.A.shape[0], 1))
    x[columns, 0], u[columns, 0] = v[:n], -y[:n]
    of_rows, weights = np.split(-y[n + k :], [rows.size])
    z[rows, 0] = of_rows
    given = kinks.weights.T @ weights
    z[: given.size, 0] += given
    return StagePoints(np.array([t]), x, z, u)


def whole(stage):
    """P of a stage as one array."""
    P = stage.P.toarray()
    for columns, array in stage.squares:
        P[np.ix_(columns, columns)] += array
    return P


def violation(stage, point, exactly=False):
    """The largest violation of the conditions of an optimum at one point.

    Multipliers of bounds of columns are what stationarity leaves: all conditions are in the signs of these.
    """
    number = np.vectorize(Fraction, otypes=[object]) if exactly else np.asarray
    t = number(point.t)[0]
    x, z = number(point.x)[:, 0], number(point.z)[:, 0]
    kinks = stage.kinks
    used = stage.columns, stage.rows
    A, D = (number(each.toarray()) for each in (stage.A, kinks.directions))
    slope, weights = number(kinks.slope), _weights(number, kinks, point.z[:, 0])
    gradient = number(whole(stage)) @ x + _line(number, stage.q, t) + A[used[1]].T @ z[used[1]]
    gradient = gradient + D[kinks.owner].T @ (slope * weights)
    worst = [0]
    for v, multipliers, bounds, which in (
        (x, -gradient, stage.of_columns, used[0]),
        (A @ x, z, stage.of_rows, used[1]),
    ):
        sides = [[_one_line(number, each[:, i], t) for each in bounds.arrays] for i in np.flatnonzero(which)]
        each_item = zip(v[which], multipliers[which], sides, strict=True)
        worst += [_off(value, multiplier, *own) for value, multiplier, own in each_item]
    cost, offset = _line(number, kinks.cost, t), _line(number, kinks.offset, t)
    pieces = slope * (D @ x)[kinks.owner] - offset
    for k in range(kinks.size):
        own = slice(kinks.begin[k], kinks.begin[k + 1])
        worst.append(abs(weights[own].sum() - cost[k]))
        worst += [
            max(-w, abs(w) * (max(pieces[own]) - each)) for w, each in zip(weights[own], pieces[own], strict=True)
        ]
    return max(worst)


def _line(number, ends, t):
    ends = number(ends)
    return (1 - t) * ends[0] + t * ends[1]


def _one_line(number, ends, t):
    """One number along the line; an infinite one is so at both ends."""
    return ends[0] if np.isinf(ends[0]) else _line(number, ends, t)


def _weights(number, kinks, z):
    """Weights of pieces that give the rows that are gone their multipliers, which must be one way only."""
    given = kinks.weights.toarray()
    rows = np.flatnonzero(given.any(axis=0))
    one_each = (np.count_nonzero(given, axis=0)[rows] == 1).all() and (np.count_nonzero(given, axis=1) == 1).all()
    if one_each:
        piece, row = np.nonzero(given)
        return number(z)[row] / number(given[piece, row])
    found, _, rank, _ = np.linalg.lstsq(given[:, rows].T, z[rows], rcond=None)
    assert rank == kinks.slope.size
    np.testing.assert_allclose(given[:, rows].T @ found, z[rows], atol=1e-9 * (1 + np.abs(z).max()))
    return number(found)


def _off(v, z, lower, upper, below, above):
    """How far a value and its multiplier, positive where at the upper bound, are from their staircase."""
    sides = ((v - upper, z, above), (lower - v, -z, below))
    off = [0]
    for beyond, price, most in sides:
        if np.isinf(float(beyond)):
            off.append(price)  # there is no such bound
        elif np.isinf(most):
            off += [beyond, price * -beyond if price > 0 and beyond < 0 else 0]
        else:
            off += [price - most, beyond * (most - price) if beyond > 0 else 0]
            off.append(price * -beyond if price > 0 and beyond < 0 else 0)
    return max(off)


def taken_back(rule, stage, t):
    """An optimum of what a rule makes of a stage, inverted; None where there is none."""
    after, done = rule.apply(stage)
    point = optimum(after, t)
    if point is not None:
        done.invert(point)
    return point


def recedes(rule, stage, t=0.5, far=2.0**26):
    """Whether rays come back as what points come to far away, per unit of what they have gone."""
    after, done = rule.apply(stage)
    rng = np.random.default_rng(0)
    sizes = stage.columns.size, stage.columns.size, after.A.shape[0]
    here, way = ([rng.normal(size=(size, 1)) for size in sizes] for _ in range(2))
    for each in (here, way):
        each[0][~after.columns], each[2][~after.rows] = 0.0, 0.0
    for moves in ((True, False), (False, True)):
        start = StagePoints(np.array([t]), *(each.copy() for each in (here[0], here[2], here[1])))
        end = StagePoints(np.array([t]), *_moved(here, way, moves, far))
        ray = StagePoints(np.array([t]), *_moved([0.0 * each for each in way], way, moves, 1.0), is_ray=True)
        for point in (start, end, ray):
            done.invert(point)
        for name in ("x", "z"):
            if moves == (False, True) and name == "x":
                continue
            if moves == (True, False) and name == "z":
                continue  # a direction of values has none of multipliers
            gone = (getattr(end, name) - getattr(start, name)) / far
            np.testing.assert_allclose(getattr(ray, name), gone, atol=1e-5)


def _moved(here, way, moves, far):
    """Columns, multipliers of rows and of bounds, moved along a way."""
    x, u, z = (
        each + far * moves[0 if k == 0 else 1] * step for k, (each, step) in enumerate(zip(here, way, strict=True))
    )
    return x, z, u
