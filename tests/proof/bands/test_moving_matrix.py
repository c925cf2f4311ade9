"""Pieces where a matrix moves, between pairs that are wrong in one way each: no less than the truth, and not much more.

Paths that are traced go through pairs that are optimal to twelve digits, for which each term of the bound is about 0.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from paretoclf.proof.bands import moving_matrix
from paretoclf.proof.bands.cone_line import GRID
from paretoclf.proof.bands.line_judge import ConeJudge
from paretoclf.proof.bands.moving_matrix import ConePiece
from paretoclf.proof.bands.pairs import StackedPairs
from paretoclf.proof.cones.cone_kinds import Cone, Cones, interior, project, vector
from paretoclf.solve.eps.solver import ConeSolver
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


# Each part by itself, against its formula with dense matrices, at pairs with radii that are large enough to be seen.


def fractions(values):
    """The numbers of an array as fractions, in an object array."""
    flat = [Fraction(float(v)) for v in np.ravel(values)]
    return np.array(flat, dtype=object).reshape(np.shape(values))


@pytest.fixture
def parts():
    """A judge of a random line on which both matrices move, and three pairs of pairs with large radii and residuals."""
    rng = np.random.default_rng(12)
    columns = 3
    cones = [Cone("zero", 1), Cone("nonnegative", 2), Cone("second-order", 3), Cone("nonnegative", 2 * columns)]
    box = np.vstack([np.eye(columns), -np.eye(columns)])
    first, last = rng.normal(size=(2, 5, columns))
    row = rng.normal(size=(1, columns))
    A, A_stop = (np.vstack([row, each, box]) for each in (first, last))
    b = np.hstack([0.1 * rng.normal(size=(2, 1)), rng.uniform(1, 2, size=(2, 5)), np.full((2, 6), 3.0)])
    P, P_stop = (F @ F.T for F in rng.normal(size=(2, columns, columns)))
    line = array_line(
        A, b, rng.normal(size=(2, columns)), P=P, constant=[1.5, -2.0], cones=cones, A_stop=A_stop, P_stop=P_stop
    )
    judge = ConeJudge(line, np.inf, np.zeros((2, columns)))
    pairs = []
    for t in (0.0, 0.125, 0.25, 0.5, 0.625, 1.0):
        x, y = rng.uniform(-1, 1, size=(2, columns))
        pair = judge.pair(t, x, y, rng.normal(size=line.m))
        wide = {name: rng.uniform(0, 0.1, size=columns) for name in ("x_radius", "y_radius")}
        wide |= {name: rng.uniform(0, 0.1, size=line.m) for name in ("s_radius", "z_radius")}
        wide |= {"missed": rng.uniform(0, 1, size=columns), "reach": rng.uniform(1, 2, size=columns)}
        inside = moving_matrix.Near(*rng.uniform(0.1, 0.3, size=(2, columns)), *rng.uniform(1, 2, (2, line.m)), True)
        pairs.append(replace(pair, **wide, inside=inside))
    return judge, StackedPairs.of(pairs[::2]), StackedPairs.of(pairs[1::2]), rng


def dense(judge, t=None):
    """P and A at t, or their changes."""
    line = judge.line
    if t is None:
        return line.end.P.toarray() - line.base.P.toarray(), line.end.A.toarray() - line.base.A.toarray()
    return line.at(t).P.toarray(), line.at(t).A.toarray()


def test_a_correction_is_a_parabola_and_then_a_way_inwards(parts):
    _, first, last, rng = parts
    v, radius = rng.normal(size=3), rng.uniform(0, 0.1, size=3)
    k, j = (moving_matrix.Near(*(each[0] for each in vars(one.inside).values())) for one in (first, last))
    ends = [type("End", (), {"x": one.x[0], "x_radius": one.x_radius[0], "inside": near}) for one, near in
            ((first, k), (last, j))]  # fmt: skip
    for inwards in (0.0, 1.5):
        bend = moving_matrix.Bend(v, radius, inwards)
        for u in (0.0, 0.25, 0.5, 1.0):
            w = u * (1 - u)
            point, around = bend.at(*ends, u)
            plain = (1 - u) * first.x[0] + u * last.x[0] + w * v
            wide = (1 - u) * first.x_radius[0] + u * last.x_radius[0] + w * radius
            deep, deep_radius = (1 - u) * k.x + u * j.x, (1 - u) * k.x_radius + u * j.x_radius
            share = w * inwards
            np.testing.assert_allclose(point, (1 - share) * plain + share * deep, rtol=1e-13)
            np.testing.assert_allclose(around, (1 - share) * wide + share * deep_radius, rtol=1e-5)
            assert (around >= (1 - share) * wide + share * deep_radius).all()
    none = moving_matrix.Bend(v, 0 * radius, 1.0)
    sharp = [type("End", (), {"x": e.x, "x_radius": 0 * v, "inside": replace(e.inside, x_radius=0 * v)}) for e in ends]
    sizes = sum(np.abs(each) for each in (first.x[0], last.x[0], v, k.x, j.x))
    np.testing.assert_allclose(none.at(*sharp, 0.3)[1], 16 * np.finfo(float).eps * sizes, rtol=1e-12)
    without = replace(none, inwards=0.0).at(*sharp, 0.3)[1]
    np.testing.assert_allclose(without, 16 * np.finfo(float).eps * (sizes - np.abs(k.x) - np.abs(j.x)), rtol=1e-12)


@pytest.mark.parametrize("a", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("b", [0.0, 2.0])
@pytest.mark.parametrize("c", [0.0, 1.0, 5.9, 6.1, 20.0])
def test_the_gap_of_a_piece_is_the_largest_value_of_its_polynomial(a, b, c):
    piece = ConePiece(a, b, c, 1.0, 2.0)
    u = np.linspace(0, 1, 20001)
    values = (1 - u) ** 2 * a + u**2 * b + u * (1 - u) * c
    np.testing.assert_allclose(piece.at(u), values, rtol=2e-12, atol=4e-15 * c)
    assert (piece.at(u) >= values).all()
    assert values.max() <= piece.gap <= values.max() * (1 + 1e-6)
    assert ConePiece(a, b, np.inf, 1.0, 2.0).gap == np.inf


def test_the_unit_of_a_piece_is_a_bound_of_the_optimal_value():
    assert ConePiece(0.1, 0.1, 0.1, 2.0, 3.0).unit(0.5) == pytest.approx(1.9)
    assert ConePiece(0.1, 0.1, 0.1, -3.0, -2.0).unit(0.5) == 2.0
    assert ConePiece(0.1, 0.1, 0.1, -3.0, 2.0).unit(0.5) == 0.5
    assert ConePiece(0.1, 0.1, 0.1, 0.0, 2.0).unit(0.5) == 0.5
    assert ConePiece(0.1, 0.1, 0.1, 0.4, 2.0).unit(0.5) == 0.5
    assert ConePiece(0.1, 0.1, 0.1, -3.0, 0.0).unit(0.5) == 0.5


def test_missing_slacks_are_products_of_both_changes(parts):
    judge, first, last, _ = parts
    dA = dense(judge)[1]
    delta, radius = moving_matrix._missing_slacks(judge, first, last)
    for i, h in enumerate(last.t - first.t):
        np.testing.assert_allclose(delta[i], h * dA @ (last.x[i] - first.x[i]), rtol=1e-12, atol=1e-15)
        expected = h * np.abs(dA) @ (first.x_radius[i] + last.x_radius[i])
        assert (radius[i] >= expected).all()
        np.testing.assert_allclose(radius[i], expected, rtol=1e-5)


def test_a_correction_leaves_missing_what_it_does_not_absorb(parts):
    judge, first, last, rng = parts
    delta, delta_radius = rng.normal(size=(3, 12)), rng.uniform(0, 0.1, size=(3, 12))
    v, radius = rng.normal(size=(3, 3)), rng.uniform(0, 0.1, size=(3, 3))
    offs = moving_matrix._left_missing(judge, (first, last), (delta, delta_radius), (v, radius))
    for (off, off_radius), end in zip(offs, (first, last), strict=True):
        for i, t in enumerate(end.t):
            A = dense(judge, float(t))[1]
            np.testing.assert_allclose(off[i, 1:], (delta[i] - A @ v[i])[1:], rtol=1e-12)
            sizes = np.abs(judge.line.base.A.toarray()) + t * np.abs(dense(judge)[1])
            expected = delta_radius[i] + sizes @ radius[i]
            np.testing.assert_allclose(off_radius[i, 1:], expected[1:], rtol=1e-5)
    assert all(off[:, 0].tolist() == radius[:, 0].tolist() == [0, 0, 0] for off, radius in offs)
    zero = moving_matrix._left_missing(judge, (first, last), (delta, 0 * delta), (v, 0 * v))
    for (off, off_radius), end in zip(zero, (first, last), strict=True):
        for i, t in enumerate(end.t):
            A0, dA = fractions(judge.line.base.A.toarray()), fractions(dense(judge)[1])
            exact = fractions(delta[i]) - (A0 + Fraction(float(t)) * dA) @ fractions(v[i])
            away = np.abs(exact - fractions(off[i]))[1:]
            assert all(a <= Fraction(float(r)) for a, r in zip(away, off_radius[i, 1:], strict=True))
            assert (off_radius[i] <= 1e-13).all()


def test_missing_stationarity_is_the_products_of_both_changes(parts):
    judge, first, last, _ = parts
    dP, dA = dense(judge)
    rho, radius = moving_matrix._missing_stationarity(judge, first, last)
    for i, h in enumerate(last.t - first.t):
        expected = h * (dP @ (last.y[i] - first.y[i]) + dA.T @ (last.z[i] - first.z[i]))
        np.testing.assert_allclose(rho[i], expected, rtol=1e-11, atol=1e-14)
        around = np.abs(dP) @ (first.y_radius[i] + last.y_radius[i])
        around = h * (around + np.abs(dA.T) @ (first.z_radius[i] + last.z_radius[i]))
        assert (radius[i] >= around).all()
        np.testing.assert_allclose(radius[i], around, rtol=1e-5)


def test_multipliers_are_corrected_by_the_quadratic_half_way(parts):
    judge, first, last, _ = parts
    rho, radius = moving_matrix._missing_stationarity(judge, first, last)
    left, eta = moving_matrix._bend_multipliers(judge, first, last)
    for i in range(3):
        ends = [dense(judge, float(each.t[i]))[0] for each in (first, last)]
        np.testing.assert_allclose(eta[i], np.linalg.solve(0.5 * (ends[0] + ends[1]), rho[i]), rtol=1e-6)
        expected = np.max([np.abs(rho[i] - P @ eta[i]) for P in ends], axis=0) + radius[i]
        np.testing.assert_allclose(left[i], expected, rtol=1e-9)


def test_energies_are_those_of_the_larger_end(parts):
    judge, first, last, rng = parts
    v, eta = rng.normal(size=(2, 3, 3))
    moved = np.abs(v) + 0.1
    found = moving_matrix._energies(judge, first, last, (v, moved, eta))
    around = [each.x_radius + each.y_radius for each in (first, last)]
    differences = [first.x - first.y, last.x - last.y, v - eta]
    for energies, e, radius in zip(found, differences, [*around, np.full((3, 3), 0.1)], strict=True):
        for i in range(3):
            bounds = []
            for t in (first.t[i], last.t[i]):
                P = dense(judge, float(t))[0]
                sizes = np.abs(judge.line.base.P.toarray()) + t * np.abs(dense(judge)[0])
                energy = 0.5 * e[i] @ P @ e[i]
                bounds.append(energy + radius[i] @ sizes @ np.abs(e[i]) + radius[i] @ sizes @ radius[i])
            assert energies[i] == pytest.approx(max(bounds), rel=1e-5)


def test_the_cost_of_a_bend_is_the_sum_of_its_products(parts):
    _, first, last, rng = parts
    moved, residual = rng.uniform(0, 1, size=(2, 3, 3))
    energies = tuple(rng.uniform(0, 1, size=(3, 3)))
    found = moving_matrix._bend_cost(first, last, (moved, residual), energies)
    for i in range(3):
        k, j, own = (each[i] for each in energies)
        cost = residual[i] @ np.maximum(first.reach[i], last.reach[i])
        cost += moved[i] @ np.maximum(first.missed[i], last.missed[i]) + 0.25 * moved[i] @ residual[i]
        cost += first.missed[i] @ last.reach[i] + last.missed[i] @ first.reach[i]
        cost += 2 * np.sqrt(max(k, j) * own) + 0.25 * own
        assert found[i] == pytest.approx(cost, rel=1e-12)


def test_moves_are_bounded_by_the_correction_and_by_the_way_inwards(parts):
    _, first, last, rng = parts
    bends = moving_matrix._Bends(*rng.uniform(-1, 1, size=(2, 3, 3)), np.array([0.0, 0.5, 2.0]))
    bends = replace(bends, radius=np.abs(bends.radius))
    found = moving_matrix._largest_moves(bends, first, last)
    for i in range(3):
        plain = np.abs(bends.v[i]) + bends.radius[i]
        ways = [np.abs(a.inside.x[i] - b.x[i]) + a.inside.x_radius[i] + b.x_radius[i] for a in (first, last)
                for b in (first, last)]  # fmt: skip
        expected = plain + bends.inwards[i] * (np.max(ways, axis=0) + 0.25 * plain)
        np.testing.assert_allclose(found[i], expected, rtol=1e-12)


def test_products_of_multipliers_with_what_is_between_two_ends(parts):
    """The largest over u and over all corners of the radii, and with the negative: hardly less than the bound."""
    rng = parts[-1]
    for _ in range(10):
        z, v = rng.normal(size=(2, 2, 1, 4))
        z_radius, radius = rng.uniform(0, 0.2, size=(2, 2, 1, 4))
        ends = [(v[0], radius[0]), (v[1], radius[1])]
        above, below = moving_matrix._largest_products(z, z_radius, ends)
        u = np.linspace(0, 1, 101)[:, None]
        for found, sign in ((above, 1), (below, -1)):
            corners = np.zeros((2, 2))
            for a in range(2):
                for b in range(2):
                    corners[a, b] = sign * z[a, 0] @ v[b, 0] + np.abs(z[a, 0]) @ radius[b, 0]
                    corners[a, b] += z_radius[a, 0] @ (np.abs(v[b, 0]) + radius[b, 0])
            expected = max(corners[0, 0], corners[1, 1], 0.5 * (corners[0, 1] + corners[1, 0]))
            assert found[0] == pytest.approx(expected, abs=1e-5)
            between = sign * (((1 - u) * z[0] + u * z[1]) * ((1 - u) * v[0] + u * v[1])).sum(axis=1)
            assert between.max() <= found[0]


@pytest.mark.parametrize("inwards", [0.0, 0.7, np.inf])
def test_a_correction_adds_its_products_and_those_of_the_way_inwards(parts, inwards):
    judge, first, last, rng = parts
    offs = [(rng.normal(size=(3, 12)), rng.uniform(0, 0.1, size=(3, 12))) for _ in range(2)]
    found = moving_matrix._added(judge, (first, last), offs, np.full(3, inwards))
    z, z_radius = np.stack([first.z, last.z]), np.stack([first.z_radius, last.z_radius])
    added, less = moving_matrix._largest_products(z, z_radius, offs)
    ends = [(each.inside.s, each.inside.s_radius) for each in (first, last)]
    deep, _ = moving_matrix._largest_products(z, z_radius, ends)
    dA = np.abs(dense(judge)[1])
    for i in range(3):
        way = np.abs(last.inside.x[i] - first.inside.x[i]) + last.inside.x_radius[i] + first.inside.x_radius[i]
        gained = (last.t[i] - first.t[i]) * dA @ way
        bent = 0.25 * (np.abs(z[:, i]) + z_radius[:, i]).max(axis=0) @ gained
        more = max(deep[i], 0) + bent + 0.25 * max(less[i], 0)
        expected = np.inf if inwards == np.inf else added[i] + inwards * more
        assert found[i] == pytest.approx(expected, rel=1e-5)
    alone = [replace(each, inside=None) for each in (first, last)]
    without = moving_matrix._added(judge, alone, offs, np.array([0.0, inwards, 0.0]))
    assert without[[0, 2]] == pytest.approx(added[[0, 2]])
    assert without[1] == pytest.approx(np.inf if inwards else added[1])


def test_the_least_share_inwards_is_found_among_those_that_are_tried():
    """Slacks off, with s^0 = 1 or 2: the share must be at least -off / s^0, at all three corners."""
    needed = np.array([[0.5, 0.1, 0.2], [0.01, 0.7, 0.3], [1e-7, 1e-9, 1e-8], [2.0, 0.1, 0.1]]).T
    s = np.broadcast_to(np.array([1.0, 2.0, 1.0])[:, None, None], (3, 4, 1))
    fine, cones = np.zeros((4, 1), bool), Cones([Cone("nonnegative", 1)])
    zero = np.zeros((3, 4, 1))
    way = moving_matrix._WayInwards(s, zero, np.abs(s), -needed[..., None] * s, zero, cones, fine, np.ones(4, bool))
    found = moving_matrix._least_shares(way)
    for share, most in zip(found[:3], needed.max(axis=0)[:3], strict=True):
        assert most <= share <= 1.25 * most * (1 + 1e-12)
    assert found[3] == np.inf
    assert moving_matrix._least_shares(replace(way, possible=np.array([True, False, True, True])))[1] == np.inf
    wide = replace(way, s_radius=0.5 * s, off_radius=np.full((3, 4, 1), 0.01))
    assert way.enough(np.full((1, 4), 0.71)).tolist() == [[True, True, True, False]]
    larger = [True, False, True, False]
    assert wide.enough(np.full((2, 4), [[1.1], [1.01]])).tolist() == [larger, [False, False, True, False]]
    assert moving_matrix._least_shares(replace(way, fine=~fine)).max() < 1e-15


def test_objectives_are_bounded_by_their_cubic_and_the_corrections(parts):
    """The Bernstein coefficients by interpolation of the cubic at four points; corrections by their slope."""
    judge, first, last, rng = parts
    sharp = [replace(each, x_radius=0 * each.x) for each in (first, last)]
    low, high = moving_matrix._objectives(judge, *sharp, np.zeros((3, 3)))
    moved = rng.uniform(0, 0.3, size=(3, 3))
    wide_low, wide_high = moving_matrix._objectives(judge, *sharp, moved)
    radius_low, _ = moving_matrix._objectives(judge, first, last, np.zeros((3, 3)))
    for i in range(3):
        u = np.array([0, 1 / 3, 2 / 3, 1])
        t = (1 - u) * first.t[i] + u * last.t[i]
        x = (1 - u)[:, None] * first.x[i] + u[:, None] * last.x[i]
        values = [judge.line.value(point, at) for point, at in zip(x, t, strict=True)]
        basis = np.stack([(1 - u) ** 3, 3 * u * (1 - u) ** 2, 3 * u**2 * (1 - u), u**3], axis=1)
        coefficients = np.linalg.solve(basis, values)
        assert low[i] == pytest.approx(coefficients.min(), abs=1e-11)
        assert high[i] == pytest.approx(coefficients.max(), abs=1e-11)
        steepest, bent = np.zeros(3), 0.0
        for end in (first, last):
            P = dense(judge, float(end.t[i]))[0]
            q = judge.line.at(float(end.t[i])).q
            sizes = np.abs(judge.line.base.P.toarray()) + end.t[i] * np.abs(dense(judge)[0])
            steepest = np.maximum(steepest, np.maximum(*(np.abs(P @ each.x[i] + q) for each in (first, last))))
            bent = max(bent, moved[i] @ sizes @ moved[i])
        extra = 0.25 * moved[i] @ steepest + bent / 32
        assert low[i] - wide_low[i] == pytest.approx(extra, rel=1e-4)
        assert wide_high[i] - high[i] == pytest.approx(extra, rel=1e-4)
        assert radius_low[i] < low[i] - 1e-3


def test_two_thirds_and_one_third():
    value, off = moving_matrix._third((np.array([3.0]), np.array([0.3])), (np.array([-6.0]), np.array([0.6])))
    assert value.tolist() == [0.0]
    assert off[0] - 0.4 == pytest.approx(36 * np.finfo(float).eps, rel=0.2, abs=0)


def test_roots_measure_cones_from_their_own_points(parts):
    rng = parts[-1]
    floor = np.array([[0.1], [0.5]])
    slacks = np.array([[3.0, 1, 2, 0.5], [0.2, 3, 0, 0]])
    assert moving_matrix._root_zero(slacks, 4, floor).tolist() == [[10.0] * 4, [2.0] * 4]
    plain = moving_matrix._root_nonnegative(slacks, 4, floor)
    assert plain == pytest.approx(1 / np.array([[3.0, 1, 2, 0.5], [0.5, 3, 0.5, 0.5]]))
    roots = moving_matrix._root_second_order(slacks, 4, floor)
    for point, root, smallest in zip(slacks, roots, floor[:, 0], strict=True):
        length = np.linalg.norm(point[1:])
        room = max(point[0] - length, smallest)
        normal = np.append(1.0, -point[1:] / length) / np.sqrt(2)
        np.testing.assert_allclose(root @ normal, normal / room, rtol=1e-12)
        across = np.append(1.0, point[1:] / length) / np.sqrt(2)
        np.testing.assert_allclose(root @ across, across / np.sqrt(room * max(point[0], room)), rtol=1e-12)
    S, X = rng.normal(size=(2, 3, 3))
    S, X = S @ S.T + 0.3 * np.eye(3), X + X.T
    (found,) = moving_matrix._root_psd(vector(S)[None], 3, np.array([[1e-9]]))
    values, basis = np.linalg.eigh(S)
    half = (basis / np.sqrt(values)) @ basis.T
    np.testing.assert_allclose(found @ vector(X), vector(half @ X @ half), rtol=1e-10)
    other = moving_matrix._root_plain(slacks, 4, floor)
    assert other[:, 0] == pytest.approx(1 / np.array([0.1 + 3e-3, 0.5 + 3e-3]))
    assert other.shape == (2, 4)


def test_corrections_absorb_missing_slacks_by_weighted_least_squares(parts):
    judge, first, last, rng = parts
    delta = rng.normal(size=(3, 12))
    found = moving_matrix._absorbing(judge, first, last, delta)
    cones = judge.line.base.grouped
    floor = 1e-3 * np.abs(delta).max(axis=1, keepdims=True)
    slacks = 0.5 * (first.s + last.s) + floor * interior(cones)
    for i in range(3):
        A = dense(judge, 0.5 * float(first.t[i] + last.t[i]))[1]
        W = np.zeros((12, 12))
        for cone, at in zip(cones, (slice(0, 1), slice(1, 3), slice(3, 6), slice(6, 12)), strict=True):
            root = moving_matrix._ROOTS[cone.kind](slacks[i : i + 1, at], cone.order, floor[i : i + 1])[0]
            W[at, at] = root if root.ndim == 2 else np.diag(root)
        expected = np.linalg.lstsq(W @ A, W @ delta[i], rcond=None)[0]
        np.testing.assert_allclose(found[i], expected, rtol=1e-6, atol=1e-8)


def test_least_squares_are_scaled_and_regularised():
    rng = np.random.default_rng(4)
    M, goal = rng.normal(size=(6, 3)) * [1e6, 1, 1e-6], rng.normal(size=6)
    np.testing.assert_allclose(
        moving_matrix._least_squares(M, goal), np.linalg.lstsq(M, goal, rcond=None)[0], rtol=1e-8
    )
    twice = np.column_stack([M[:, 1], M[:, 1], 0 * goal])
    found = moving_matrix._least_squares(twice, goal)
    half = float(M[:, 1] @ goal / (M[:, 1] @ M[:, 1])) / 2
    assert found == pytest.approx([half, half, 0.0], rel=1e-3)
    assert moving_matrix._least_squares(np.full((2, 1), np.nan), np.ones(2)).tolist() == [0.0]
