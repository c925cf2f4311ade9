"""Pieces where a matrix moves, between pairs that are wrong in one way each: no less than the truth, and not much more.

Paths that are traced go through pairs that are optimal to twelve digits, for which each term of the bound is about 0.
"""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.proof.cone_judge import ConeJudge
from paretoclf.proof.cone_line import GRID
from paretoclf.proof.points.cones import Cone, interior, project
from paretoclf.solve.cone_solver import ConeSolver
from tests.oracles.array_lines import SHARES, array_line, interval, least, pairs_of

NONE = (np.zeros(3), np.zeros(3))

#: Name -> p, q, and x, y, z at both ends, of `interval`: minimise p x^2 / 2 + q x on [-1, 1].
WRONG = {
    "y off the point": ((1, 1), (0, 0), (0.5, 0.5), (0, 0), NONE),
    "y off the point where p grows": ((0.1, 3), (0, 0), (0.5, 0.5), (0, 0), NONE),
    "y off the point where p shrinks": ((3, 0.1), (0, 0), (0.5, 0.5), (0, 0), NONE),
    "no multipliers": ((0, 0), (1, 1), (0.9, 0.9), (0.9, 0.9), NONE),
    "multipliers of a wrong sign": ((0, 0), (1, 1), (0.9, 0.9), (0.9, 0.9), [[0, -1, 0]] * 2),
    "right multipliers, a wrong point": ((0, 0), (1, 1), (0.9, 0.9), (0.9, 0.9), [[0, 0, 1]] * 2),
    "multipliers of the other end": ((0, 0), (-1, 1), (0, 0), (0, 0), [[0, 1, 0], [0, 0, 1]]),
}


@pytest.mark.parametrize("name", WRONG)
def test_one_error_at_a_time_costs_what_it_costs(name):
    p, q, x, y, z = WRONG[name]
    line = interval(p, q, moves=True)
    judge = ConeJudge(line, np.inf, np.zeros((2, 1)))
    pairs = pairs_of(judge, x, y, z)
    piece = judge.piece(*pairs)
    truths = []
    for u in (0.0, *SHARES, 1.0):
        point, _ = piece.bend.at(*pairs, u)
        truths.append(line.value(point, u) - least(line, u))
        assert truths[-1] <= piece.at(u) * (1 + 1e-12) + 1e-15
    assert max(truths) <= piece.gap <= 1.15 * max(truths) + 1e-12


def test_a_bend_costs_its_energy():
    """Minimise 500 (x0 - (1 - 2t))^2 + x1^2 / 2 + 50 x2^2 where x1 + x2 + 1 <= (1 - 2t) x0.

    Pairs are optimal at both ends, where the row is just satisfied. Half way the straight line misses it by 1. The bend
    takes x1 and x2 alike, as it knows of no prices; x2 costs a hundred times as much.
    """
    first, last = ([[1.0 * sign, 1, 1], *np.eye(3), *-np.eye(3)] for sign in (-1, 1))
    sides, steep = [-1.0, *[3.0] * 6], 1000.0
    q, cones = [[-steep, 0, 0], [steep, 0, 0]], [Cone("nonnegative", 1), Cone("nonnegative", 6)]
    line = array_line(first, sides, q, P=np.diag([steep, 1, 100]), cones=cones, A_stop=last)
    judge = ConeJudge(line, np.inf, np.array([[0.0, -2, -2], [0.0, -2, -2]]))
    x = np.array([[1.0, 0, 0], [-1.0, 0, 0]]) + 1e-9 * np.array([[0, -1, -1]])
    pairs = pairs_of(judge, x, x, np.zeros((2, 7)))
    piece = judge.piece(*pairs)
    point, _ = piece.bend.at(*pairs, 0.5)
    assert point == pytest.approx([0, -0.5, -0.5], abs=1e-6)
    best = 0.5 / (1 + 1 / 100) - 0.5 * steep * 0**2  # x1 = 100 x2, x1 + x2 = -1, and x0 = 0 has no part in the row
    truth = 0.5 * point @ np.diag([steep, 1, 100]) @ point - best
    assert truth <= piece.at(0.5) <= 1.15 * truth
    assert truth <= piece.gap <= 1.15 * truth


def test_multipliers_that_bend_cost_what_the_bend_leaves():
    """Minimise x >= 1 / (1 + 2t) times t: no multiplier at the start, 1/3 at the end, and points that stand still at 5.

    The row's coefficient and its multiplier move together: half way the interpolated ones miss stationarity.
    """
    line = array_line([[-1.0], [1], [-1]], [-1.0, 6, 6], [[0.0], [1.0]], A_stop=[[-3.0], [1], [-1]])
    judge = ConeJudge(line, np.inf, np.array([[2.0], [2.0]]))
    pairs = pairs_of(judge, (5, 5), (5, 5), [[0, 0, 0], [1 / 3, 0, 0]])
    piece = judge.piece(*pairs)
    for u in SHARES:
        truth = u * 5 - u / (1 + 2 * u)
        assert truth <= piece.at(u) <= 1.5 * truth
    assert 5 - 1 / 3 <= piece.gap <= 1.15 * (5 - 1 / 3)


def test_a_quadratic_that_moves_bends_multipliers():
    """Minimise p x^2 / 2 - x, p from 1 to 3: optimal at both ends, and between them the best x is no straight line."""
    line = interval((1, 3), (-1, -1), moves=False)
    judge = ConeJudge(line, np.inf)
    x = (1 - 1e-9, 1 / 3)
    piece = judge.piece(*pairs_of(judge, x, x, NONE))
    for u in SHARES:
        at = (1 - u) * x[0] + u * x[1]
        assert line.value(np.array([at]), u) - least(line, u) <= piece.at(u) <= 0.5


def test_objectives_hold_a_cubic():
    """2 t x^2 / 2 with x = 1 - t is t (1 - t)^2: 0 at both ends, and 4/27 between them."""
    line = interval((0, 2), (0, 0), moves=False)
    judge = ConeJudge(line, np.inf)
    piece = judge.piece(*pairs_of(judge, (1 - 1e-9, 0), (0, 0), NONE))
    assert piece.low == pytest.approx(0, abs=1e-8)
    assert 4 / 27 <= piece.high <= 1 / 3 + 1e-8  # the largest of its Bernstein coefficients


def test_objectives_hold_the_way_inwards():
    """x0 + x1 where a point just above (1, 0), then (0, 1), is brought in by a way to (3, 3)."""
    first, last = ([row, *np.eye(2), *-np.eye(2)] for row in ([-1, -0.5], [-0.5, -1]))
    line = array_line(first, [-1.0, 6, 6, 1, 1], [1.0, 1.0], A_stop=last)
    judge = ConeJudge(line, np.inf, np.array([[3.0, 3], [3.0, 3]]))
    x = [[1 + 1e-9, 0], [0, 1 + 1e-9]]
    pairs = pairs_of(judge, x, x, [[1.0, 0, 0, 0, 0.5], [1.0, 0, 0, 0.5, 0]])
    piece = judge.piece(*pairs)
    values = [float(piece.bend.at(*pairs, u)[0].sum()) for u in SHARES]
    assert max(values) > 1.4
    assert piece.low <= min(values)
    assert max(values) <= piece.high <= 1.15 * max(values) + 0.5


def _points(line, solver, t, inside):
    """The optimum at t, moved in by a little, and its multipliers."""
    x, z, _ = solver(t)
    deep = (1 - t) * inside[0] + t * inside[1]
    return x + 1e-7 * (deep - x), z, deep


def random_line(rng, moves):
    """Random cones with 0 (or nearly) inside and a box; P, or A, or both move; and points inside."""
    columns, equation = int(rng.integers(1, 4)), bool(rng.random() < 0.25)
    kinds = [Cone("nonnegative", 2), Cone("second-order", int(rng.integers(2, 5)))][: 1 + (rng.random() < 0.6)]
    into, inside = interior(kinds), np.zeros((2, columns))
    first = rng.normal(size=(into.size, columns))
    last = first + 10.0 ** rng.uniform(-1.5, 0.5) * rng.normal(size=first.shape)
    b = rng.uniform(1, 2, size=(2, 1)) * into + 0.05 * rng.normal(size=(2, into.size))
    box = np.vstack([np.eye(columns), -np.eye(columns)])
    A = [np.vstack([each, box]) for each in (first, last)]
    b = np.hstack([b, np.full((2, 2 * columns), 2.0)])
    cones = [*kinds, Cone("nonnegative", 2 * columns)]
    if equation:
        row, side = rng.normal(size=(1, columns)), 0.1 * rng.normal(size=(2, 1))
        A, b = [np.vstack([row, each]) for each in A], np.hstack([side, b])
        cones, inside = [Cone("zero", 1), *cones], side * row / float((row**2).sum())
    P = [F @ F.T for F in rng.normal(size=(2, columns, columns))]
    ends = {"P_stop": P[1] if "P" in moves else None, "A_stop": A[1] if "A" in moves else None}
    q = rng.choice([0.1, 1.0, 5.0]) * rng.normal(size=(2, columns))
    return array_line(A[0], b, q, P=P[0], constant=rng.normal(size=2), cones=cones, **ends), inside


#: One kind of error: what becomes of a point, of y and of z, with a direction each, a size, and a point well inside.
ERRORS = {
    "nothing": lambda x, z, dx, dz, size, deep: (x, x, z),
    "x": lambda x, z, dx, dz, size, deep: (x + size * (deep - x), x, z),
    "y": lambda x, z, dx, dz, size, deep: (x, x + size * dx, z),
    "z": lambda x, z, dx, dz, size, deep: (x, x, z + size * dz),
    "z too large": lambda x, z, dx, dz, size, deep: (x, x, z * (1 + size * dz[0])),
    "no z": lambda x, z, dx, dz, size, deep: (deep, deep, 0 * z),
}


@pytest.mark.parametrize("moves", ["P", "A", "PA"])
@pytest.mark.parametrize("error", ERRORS)
def test_one_error_of_random_pairs_is_within_its_bound(error, moves):
    """Against a solver between them: of cones, boxes and equations."""
    rng = np.random.default_rng([list(ERRORS).index(error), len(moves), "P" in moves])
    used, refused = 0.0, 0
    for _ in range(8):
        line, inside = random_line(rng, moves)
        judge, solver = ConeJudge(line, np.inf, inside), ConeSolver(line, 1e-11)
        t = [float(np.floor(each / GRID) * GRID) for each in (0.2, 0.2 + 10 ** rng.uniform(-1.5, -0.1))]
        size, dx, dz = 10.0 ** rng.uniform(-3, 0), rng.normal(size=line.n), rng.normal(size=line.m)
        pairs = []
        for each in t:
            x, z, deep = _points(line, solver, each, inside)
            pairs.append(judge.pair(each, *ERRORS[error](x, z, dx, dz, size, deep)))
        if any(pair.why for pair in pairs):  # the solver's own point was too far out
            refused += 1
            continue
        piece = judge.piece(*pairs)
        assert np.isfinite(piece.gap)
        for u in SHARES:
            at = (1 - u) * t[0] + u * t[1]
            point, radius = piece.bend.at(*pairs, u)
            slack = line.at(at).b - line.at(at).A @ point
            assert np.abs(slack - project(slack, line.cones)).max() < 1e-10
            (value, off), best = judge.value(at, point, radius), line.value(solver(at)[0], at)
            assert value - off - best <= piece.at(u) + 1e-8
            assert piece.low - 1e-9 <= value <= piece.high + 1e-9
            used = max(used, (value - best) / piece.at(u))
    assert refused <= 1
    if error in ("x", "no z"):  # where the multipliers are the best ones, or there are none, the bound is reached
        assert used > 0.9
