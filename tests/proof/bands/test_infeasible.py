"""Chains of multipliers that leave no feasible point: against a simplex code, and falsified."""

from __future__ import annotations

import functools
from bisect import bisect_left
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from paretoclf.proof.bands import infeasible
from paretoclf.proof.bands.band_proof import judge_cone_ray
from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.proof.bands.infeasible import ChainJudge, judge_chain
from paretoclf.proof.cones.cone_kinds import Cone, Cones
from tests.oracles.array_lines import array_line


def roofs(rng, rows=4, columns=3):
    """Inequalities whose right sides become too small, with coefficients that move; and a box."""
    box = np.vstack([np.eye(columns), -np.eye(columns)])
    first = rng.normal(size=(rows, columns))
    last = first + 0.3 * rng.normal(size=first.shape)
    across = -rng.uniform(0.5, 1, size=rows) @ first  # with the rows a contradiction once the sides are small
    first, last = np.vstack([first, across]), np.vstack([last, across + 0.1 * rng.normal(size=columns)])
    A, A_stop = (np.vstack([each, box]) for each in (first, last))
    sides = [np.full(rows + 1, 1.0), np.full(rows + 1, -2.0)]
    b = np.stack([np.append(each, np.full(2 * columns, 0.5)) for each in sides])
    cones, none = Cones([Cone("nonnegative", len(A))]), np.zeros((2, columns))
    return ConeLine(np.zeros((columns, columns)), A, none, b, np.zeros(2), 0, 1, {}, {}, (), cones, A_stop=A_stop)


def depth(line, t):
    """By how much all rows but those of the box are missed at least, and multipliers of that."""
    now, n = line.at(t), line.n
    loose = (np.arange(line.m) < line.m - 2 * n).astype(float)
    A = np.column_stack([now.A.toarray(), -loose])
    found = linprog(np.append(np.zeros(n), 1.0), A_ub=A, b_ub=now.b, bounds=[(None, None)] * n + [(-9, None)])
    return found.fun, -found.ineqlin.marginals


def test_what_a_chain_proves_a_simplex_code_finds():
    rng = np.random.default_rng(4)
    for _ in range(5):
        line = roofs(rng)
        at = np.linspace(0.0, 1.0, 65)
        found = [depth(line, t) for t in at]
        beyond = at[[missed > 0.02 for missed, _ in found]]
        rays = np.stack([np.append(t, z) for t, (missed, z) in zip(at, found, strict=True) if missed > 0.02])
        proof = judge_cone_ray(line, "infeasible", rays)
        assert proof.passes()
        assert proof.since == beyond[0]  # all of it, from where multipliers were asked for
        for t in rng.uniform(proof.since, 1, 20):
            assert depth(line, t)[0] > 0
        assert judge_chain(line, rays[::5] if len(rays) % 5 == 1 else np.vstack([rays[:-1:5], rays[-1:]])).passes()


def test_a_false_chain_proves_nothing_that_is_not_so():
    """Rows scaled, moved, exchanged, left out: from where it says that there are no points there are none."""
    rng = np.random.default_rng(6)
    refused = kept = 0
    lines = [roofs(np.random.default_rng(seed)) for seed in range(5)]
    known = functools.cache(lambda k, t: depth(lines[k], t))
    grid = np.linspace(0, 1, 400)
    borders = [grid[bisect_left(grid, True, key=lambda t, k=k: known(k, t)[0] > 1e-9)] for k in range(5)]
    for trial in range(40):
        k = trial % 5
        line, border = lines[k], borders[k]
        at = np.linspace(max(border - 0.05, 0.0), 1.0, 9)  # the first ones have points
        rays = np.stack([np.append(t, known(k, t)[1]) for t in at])
        size = 10.0 ** rng.uniform(-6, 0)
        kind = trial % 6
        if kind == 0:
            rays[:, 1:] *= rng.uniform(0.5, 2, size=(9, 1))
        elif kind == 1:
            rays[:, 1:] += size * rng.normal(size=rays[:, 1:].shape)
        elif kind == 2:
            rays[:, 0] = np.append(rays[:-1, 0] * (1 - 0.1 * size), 1.0)
        elif kind == 3:
            rays[:, 1:] = rays[::-1, 1:]
        elif kind == 4:
            rays = rays[[0, 1, 8]]
        else:
            rays[8, 1:] *= -1
        proof = judge_chain(line, rays)
        if proof.passes():
            kept += 1
            assert all(known(k, t)[0] > 0 for t in np.linspace(proof.since, 1.0, 50))
        else:
            refused += 1
    assert refused > 5
    assert kept > 5


def test_a_chain_must_go_to_the_end_in_order():
    line = roofs(np.random.default_rng(1))
    rays = np.stack([np.append(t, depth(line, t)[1]) for t in (0.9, 0.95, 1.0)])
    assert judge_chain(line, rays).since == 0.9
    assert not judge_chain(line, rays[:2]).passes()
    assert not judge_chain(line, rays[:1]).passes()
    assert not judge_chain(line, rays[[1, 0, 2]]).since < 0.9
    own, proved = ChainJudge(line).links(rays)
    assert (own < 0).all()
    assert proved.all()


@pytest.mark.parametrize("status", ["infeasible", "unbounded"])
def test_one_ray_says_nothing_where_coefficients_move(status):
    line = roofs(np.random.default_rng(1))
    assert not judge_cone_ray(line, status, depth(line, 1.0)[1]).passes()


def test_what_a_chain_misses_of_stationarity_costs_what_feasible_points_can():
    """2 <= a x and x <= 3, a from 1 to 1.1, side from 2 to 2.5: x = 3 will do at every t, and (1, 0, 0) is no proof.

    With x <= 1 nothing will do, and it is one: a x - 2 is at most -1 then, and -1.4 at the end.
    """
    first, last = ([[-a], [1.0], [-1.0]] for a in (1.0, 1.1))
    for top, proved in ((3.0, False), (1.0, True)):
        line = array_line(first, [[-2.0, top, 1.0], [-2.5, top, 1.0]], [0.0], A_stop=last)
        rays = np.array([[0.5, 1, 0, 0], [1.0, 1, 0, 0]])
        own, links = ChainJudge(line).links(rays)
        size = np.array([1.05, 1.1]) * max(top, 1.0)
        assert own == pytest.approx(size - [2.25, 2.5], abs=1e-5)
        assert links.tolist() == [proved]
        assert judge_chain(line, rays).passes() is proved


@pytest.mark.parametrize(("side", "proved"), [(0.4, False), (0.499, False), (0.501, True), (0.6, True)])
def test_a_chain_pays_for_multipliers_and_coefficients_that_move_together(side, proved):
    """t x >= side and (1 - t) x >= side with |x| <= 1: no point at either end, and x = 1 half way for a side of 1/2."""
    box = [[1.0], [-1.0]]
    line = array_line([[0.0], [-1.0], *box], [-side, -side, 1, 1], [0.0], A_stop=[[-1.0], [0.0], *box])
    rays = np.array([[0.0, 1, 0, 0, 0], [1.0, 0, 1, 0, 0]])
    own, links = ChainJudge(line).links(rays)
    assert own == pytest.approx(-side, abs=1e-12)  # of both ends it is proved
    assert links.tolist() == [proved]
    assert judge_chain(line, rays).passes() is proved


def test_a_chain_is_stationary_where_nothing_bounds_a_column():
    """2y <= 1, y <= 0 and a loose row of x that moves: near (1, 1) there are numbers with A'z = 0, and no proof."""
    still = [[0.0, 2.0], [0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]]
    line = array_line([*still, [1.0, 0.0]], [1.0, 0.0, 1.0, 1.0, 9.0], np.zeros(2), A_stop=[*still, [2.0, 0.0]])
    rays = np.array([[0.0, 1, 1, 0, 0, 0], [1.0, 1, 1, 0, 0, 0]])
    judge = ChainJudge(line)
    assert judge.why == ""
    assert not judge.links(rays)[1].any()
    assert not judge_chain(line, rays).passes()


@pytest.mark.parametrize("bounds", [True, False])
@pytest.mark.parametrize(("first", "last"), [(0.5, 2.5), (2.5, 0.5), (0.9, 0.9), (1.1, 1.1)])
def test_a_chain_pays_for_what_each_end_says_of_the_other(bounds, first, last):
    """x1 >= side misses x1 <= 1 by 1 at the start and fits by ``first`` at the end; that of x2 the other way round.

    Both fit somewhere if ``first last >= 1``. Where multipliers of the bounds are left out, that costs as much.
    """
    sides = np.array([[2.0, 1 - last], [1 - first, 2.0]])
    rows = [*-np.eye(2), *np.eye(2), *-np.eye(2)]
    b = np.hstack([-sides, np.ones((2, 4)), np.full((2, 1), 9.0)])
    line = array_line([*rows, [1.0, 0.0]], b, np.zeros(2), A_stop=[*rows, [2.0, 0.0]])
    held = float(bounds)
    rays = np.array([[0.0, 1, 0, held, 0, 0, 0, 0], [1.0, 0, 1, 0, held, 0, 0, 0]])
    own, links = ChainJudge(line).links(rays)
    assert own == pytest.approx(-1, abs=1e-5)
    assert links.tolist() == [first == last == 0.9]
    assert judge_chain(line, rays).passes() is (first == last == 0.9)


@pytest.mark.parametrize("begin", [True, False])
def test_a_chain_is_of_points_that_are_none_at_either_end(begin):
    """x >= side and x <= 1 contradict each other at one end only: the links sum up to less than 0 all the same."""
    sides = np.array([[-3.0], [-0.5]]) if begin else np.array([[-0.5], [-3.0]])
    line = array_line([[-1.0], [1], [-1], [1]], np.hstack([sides, np.tile([1.0, 1, 9], (2, 1))]), [0.0],
                      A_stop=[[-1.0], [1], [-1], [2]])  # fmt: skip
    rays = np.array([[0.0, 1, 1, 0, 0], [1.0, 1, 1, 0, 0]])
    own, links = ChainJudge(line).links(rays)
    assert sorted(own) == pytest.approx([-2, 0.5], abs=1e-9)
    assert not links.any()
    assert not judge_chain(line, rays).passes()
    end = np.vstack([rays[:1], [0.5, 1, 1, 0, 0], rays[1:]])
    found = judge_chain(line, end)
    assert found.passes() is not begin
    assert begin or found.since == 0.5


def test_a_chain_begins_after_its_last_gap():
    """t x >= .4 and (1 - t) x >= .4 with |x| <= 1: no point before .4 and after .6."""
    box = [[1.0], [-1.0]]
    line = array_line([[0.0], [-1.0], *box], [-0.4, -0.4, 1, 1], [0.0], A_stop=[[-1.0], [0.0], *box])
    rays = np.array([[0.0, 1, 0, 0, 0], [0.3, 1, 0, 0.3, 0], [0.7, 0, 1, 0.3, 0], [1.0, 0, 1, 0, 0]])
    assert ChainJudge(line).links(rays)[1].tolist() == [True, False, True]
    assert judge_chain(line, rays).since == 0.7


def test_a_chain_of_coefficients_that_move_next_to_what_has_no_bounds_says_nothing():
    """t x >= 1: no point will do at the start, where the row's coefficient is 0, and each x above 1 / t after it."""
    line = array_line([[0.0]], [-1.0], [0.0], A_stop=[[-1.0]])
    rays = np.array([[0.0, 1], [1.0, 1]])
    assert ChainJudge(line).why.startswith("coefficients move of what the constraints imply no bounds of")
    assert not judge_chain(line, rays).passes()


# The bounds of a chain by themselves, against their formulas.


def cut(A=(1.0, 2.0), b=(-1.0, -2.0)):
    """-3 <= x <= 3 and a(t) x <= b(t)."""
    rows = [[[a], [1.0], [-1.0]] for a in A]
    return array_line(rows[0], [[side, 3.0, 3.0] for side in b], [0.0], A_stop=rows[1])


def test_a_link_is_bounded_by_both_ends_and_by_what_moves_between():
    """Own bounds ``b'z + |A'z| 3``, and the coefficient of u (1 - u), in closed form."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        line = cut(rng.normal(size=2), rng.normal(size=2))
        t, z = np.array([0.25, 0.75]), rng.uniform(0, 1, size=(2, 3))
        own, proved = ChainJudge(line).links(np.column_stack([t, z]))
        now = [line.at(float(at)) for at in t]
        reach = [3 * abs(float((each.A.T @ row)[0])) for each, row in zip(now, z, strict=True)]
        expected = [each.b @ row + cost for each, row, cost in zip(now, z, reach, strict=True)]
        assert own == pytest.approx(expected, rel=1e-5, abs=1e-12)
        assert (own >= np.array(expected)).all()
        moved = 3 * abs(0.5 * float((line.A_stop - line.A)[[0]].toarray()[0, 0]) * (z[1, 0] - z[0, 0]))
        cross = now[0].b @ z[1] + now[1].b @ z[0] + sum(reach) + moved
        a, b = expected
        assert proved.tolist() == [a < 0 and b < 0 and (cross <= 0 or cross**2 < 4 * a * b)]


def test_the_residual_between_two_rows_is_the_product_of_both_changes():
    rng = np.random.default_rng(2)
    A, A_stop = rng.normal(size=(2, 4, 2))
    box = np.vstack([np.eye(2), -np.eye(2)])
    line = array_line(np.vstack([A, box]), np.ones(8), np.zeros(2), A_stop=np.vstack([A_stop, box]))
    t, z, radius = np.array([0.0, 0.25, 1.0]), rng.normal(size=(3, 8)), rng.uniform(0, 0.1, size=(3, 8))
    found = ChainJudge(line)._residual_between(t, z, radius)
    for k, h in enumerate(np.diff(t)):
        change = (A_stop - A).T
        expected = h * (np.abs(change @ (z[k + 1] - z[k])[:4]) + np.abs(change) @ (radius[k] + radius[k + 1])[:4])
        assert (found[k] >= expected).all()
        np.testing.assert_allclose(found[k], expected, rtol=1e-5)


def test_products_with_sides_are_bounded_at_all_corners_and_rounded_upwards():
    rng = np.random.default_rng(3)
    b, z = rng.normal(size=(2, 2, 4))
    radius = rng.uniform(0, 0.1, size=(2, 4))
    whole, one = slice(None), slice(1, None)
    sides = infeasible._ChainSides(b, np.abs(b), z, radius)
    expected = (b * z).sum(axis=1) + (np.abs(b) * radius).sum(axis=1)
    assert sides.product(whole, whole) == pytest.approx(expected, rel=1e-5)
    assert (sides.product(whole, whole) >= expected).all()
    assert sides.product(slice(0, 1), one)[0] == pytest.approx(b[0] @ z[1] + np.abs(b[0]) @ radius[1], rel=1e-5)
    sharp = infeasible._ChainSides(b, np.abs(b), z, 0 * radius)
    for k in range(2):
        exact = sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(b[k], z[k], strict=True))
        rounding = float(Fraction(float(sharp.product(whole, whole)[k])) - exact)
        assert rounding == pytest.approx(10 * np.finfo(float).eps * np.abs(b[k]) @ np.abs(z[k]), rel=0.3, abs=0)


def test_the_proof_begins_where_links_hold_to_the_end():
    """a from 1 to 2 and b = -9: no point with x >= -3 wherever a < 3."""
    line = cut((1.0, 2.0), (-9.0, -9.0))
    good, bad = [1.0, 0.0, 1.5], [0.0, 0.0, 1.0]
    rays = np.array([[0.0, *good], [0.25, *bad], [0.5, *good], [0.75, *good], [1.0, *good]])
    proof = judge_chain(line, rays)
    assert proof.since == 0.5
    own = -9 + 1.5 * 3 + 3 * 0.5  # and |2 - 1.5| of the row at the end
    assert proof.gain == pytest.approx(-own / max(9 + 1.5 * 3, -own), rel=1e-5)
    assert judge_chain(line, rays[[0, 2, 3, 4]]).since == 0.0
    for wrong in (rays[:-1], rays[-1:], rays - [1.0, 0, 0, 0], np.vstack([rays[:-1], [1.0, *bad]])):
        assert not judge_chain(line, wrong).passes()
