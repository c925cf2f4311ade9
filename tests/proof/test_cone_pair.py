"""Pairs that are wrong in one way each: what is proved of them is no less than the truth, and not much more."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.proof.cone_judge import ConeJudge
from paretoclf.proof.points.cones import Cone
from tests.oracles.array_lines import SHARES, array_line, interval, least, pairs_of

NONE = (np.zeros(3), np.zeros(3))

#: Name -> p, q, and x, y, z at both ends, of `interval`: minimise p x^2 / 2 + q x on [-1, 1].
#: z is that of a row that is never tight, of x <= 1 and of x >= -1.
WRONG = {
    "a point off the optimum": ((1, 1), (0, 0), (0.5, 0.5), (0, 0), NONE),
    "y off the point, at one end": ((1, 1), (0, 0), (0.5, 0.0), (0, 0), NONE),
    "no multipliers": ((0, 0), (1, 1), (0.9, 0.9), (0.9, 0.9), NONE),
    "no multipliers, the slope moves": ((0, 0), (1, 2), (0.9, 0.5), (0.9, 0.5), NONE),
    "multipliers of a wrong sign": ((0, 0), (1, 1), (0.9, 0.9), (0.9, 0.9), [[0, -1, 0]] * 2),
    "a wrong sign beside a right one": ((0, 0), (1, 1), (0.9, 0.9), (0.9, 0.9), [[0, -0.5, 0.5]] * 2),
    "right multipliers, a wrong point": ((0, 0), (1, 1), (0.9, 0.9), (0.9, 0.9), [[0, 0, 1]] * 2),
    "right multipliers that grow, a wrong point": ((0, 0), (1, 3), (0.9, -0.9), (0, 0), [[0, 0, 1], [0, 0, 3]]),
    "multipliers of the other end": ((0, 0), (-1, 1), (0, 0), (0, 0), [[0, 1, 0], [0, 0, 1]]),
}


@pytest.mark.parametrize("name", WRONG)
def test_one_error_at_a_time_costs_what_it_costs(name):
    p, q, x, y, z = WRONG[name]
    line = interval(p, q, moves=False)
    judge = ConeJudge(line, np.inf)
    pairs = pairs_of(judge, x, y, z)
    for pair, at in zip(pairs, x, strict=True):
        truth = line.value(np.array([at]), pair.t) - least(line, pair.t)
        assert truth <= pair.own * (1 + 1e-12) + 1e-15
        assert pair.own <= 1.15 * truth + 1e-12
    piece = judge.piece(*pairs)
    truths = {u: line.value(np.array([(1 - u) * x[0] + u * x[1]]), u) - least(line, u) for u in (0.0, *SHARES, 1.0)}
    for u, truth in truths.items():
        assert truth <= piece.at(u) * (1 + 1e-12) + 1e-15
        assert piece.low - 1e-15 <= line.value(np.array([(1 - u) * x[0] + u * x[1]]), u) <= piece.high + 1e-15
    assert max(truths.values()) <= piece.gap <= 1.15 * max(truths.values()) + 1e-12


def test_a_point_out_of_one_cone_of_many_is_refused():
    """In a ball and out of a half-plane; in the half-plane and out of the ball."""
    cones = [Cone("nonnegative", 1), Cone("second-order", 3)]
    rows = [[1.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [0.0, -1.0]]
    judge = ConeJudge(array_line(rows, [0.5, 1.0, 0.0, 0.0], np.ones(2), cones=cones), np.inf)
    z = np.zeros(4)
    for x, why in (((0.4, 0.0), ""), ((0.6, 0.0), "not"), ((0.0, 1.1), "not"), ((0.6, 1.1), "not")):
        pair = judge.pair(0.0, np.array(x), np.array(x), z)
        assert pair.why == (f"its point is {why} proved feasible" if why else "")
