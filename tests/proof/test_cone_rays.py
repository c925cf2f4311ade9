"""Chains of multipliers that leave no feasible point: against a simplex code, and falsified."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from paretoclf.proof.cone_band import judge_cone_ray
from paretoclf.proof.cone_line import ConeLine
from paretoclf.proof.cone_rays import ChainJudge, judge_chain
from paretoclf.proof.points.cones import Cone, Cones
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
        beyond = at[[depth(line, t)[0] > 0.02 for t in at]]
        rays = np.stack([np.append(t, depth(line, t)[1]) for t in beyond])
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
    borders = [next(t for t in np.linspace(0, 1, 400) if depth(line, t)[0] > 1e-9) for line in lines]
    for trial in range(40):
        line, border = lines[trial % 5], borders[trial % 5]
        at = np.linspace(max(border - 0.05, 0.0), 1.0, 9)  # the first ones have points
        rays = np.stack([np.append(t, depth(line, t)[1]) for t in at])
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
            assert all(depth(line, t)[0] > 0 for t in np.linspace(proof.since, 1.0, 50))
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
