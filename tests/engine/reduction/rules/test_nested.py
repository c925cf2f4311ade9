"""Epigraph variables that are found one by one: nested ones, and those of more than two rows."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.engine.reduction.rules.epigraphs import _cheap
from paretoclf.engine.reduction.rules.nested import Piece, envelope, with_nested
from paretoclf.engine.reduction.rules.pairs import Epigraphs, pairs
from paretoclf.engine.reduction.rules.stage import Kinks, ReductionStage
from paretoclf.solve.sources.problem_line import program_line
from tests.oracles.lines import FAMILIES, solved
from tests.oracles.stages import stage_of


def test_only_pieces_that_are_the_largest_somewhere_are_left():
    def piece(slope, *offset):
        return Piece(slope, np.array(offset))

    still = envelope([piece(1.0, 0.0, 0.0), piece(-1.0, 0.0, 0.0), piece(0.0, 1.0, 1.0), piece(1.0, 2.0, 0.5)])
    assert [p.slope for p in still] == [-1.0, 1.0]  # 0 is nowhere above |v|, nor is v - 2
    assert len(envelope([piece(-1.0, 0.0, 0.0), piece(0.0, -1.0, -2.0), piece(1.0, 0.0, 0.0)])) == 3
    assert envelope([piece(-1.0, 0.0, 0.0), piece(0.0, -1.0, 1.0), piece(1.0, 0.0, 0.0)]) is None  # at one end only
    assert envelope([piece(1.0, 0.0, 1.0), piece(1.0, 1.0, 0.0)]) is None  # which is larger changes


def nothing(stage):
    """No epigraph variable."""
    none = np.zeros(0, dtype=np.int64)
    kinks = Kinks.none(stage.columns.size, stage.rows.size)
    return Epigraphs(kinks, none, np.zeros(1, dtype=np.int64), none, np.zeros(0), stage.rows, stage.columns)


def described(found):
    """Costs with kinks, each once, whatever their order; and what is left."""
    kinks = found.kinks
    D, W = kinks.directions.toarray(), kinks.weights.toarray()
    costs = []
    for k in range(kinks.size):
        own = slice(kinks.begin[k], kinks.begin[k + 1])
        pieces = kinks.slope[own].tolist(), kinks.offset[:, own].tolist(), W[own].tolist()
        costs.append((D[k].tolist(), kinks.cost[:, k].tolist(), *pieces))
    variables = sorted(zip(found.variables.tolist(), np.diff(found.begin).tolist(), strict=True))
    return sorted(map(repr, costs)), variables, found.rows.tolist(), found.columns.tolist()


@pytest.mark.parametrize("family", FAMILIES)
def test_all_at_once_finds_what_one_by_one_does(family):
    stage = ReductionStage.of(program_line(*FAMILIES[family]()))
    cheap = _cheap(stage)
    at_once = with_nested(stage, cheap, pairs(stage, cheap))
    assert described(at_once) == described(with_nested(stage, cheap, nothing(stage)))


def test_a_variable_in_another_is_composed():
    """tau_0 >= |x|, tau_1 >= max(0, tau_0 - 1), and only the latter costs: max(0, -x - 1, x - 1)."""
    A = [[1, -1, 0], [-1, -1, 0], [0, 1, -1], [0, 0, -2]]
    stage = stage_of(np.diag([1.0, 0, 0]), A, [0, 0, 2], [0, 0, 1, 0])
    found = with_nested(stage, _cheap(stage), pairs(stage, _cheap(stage)))
    assert found.variables.tolist() == [2, 1]
    assert (found.kinks.slope.tolist(), found.kinks.offset[0].tolist()) == ([-1, 0, 1], [1, 0, 1])
    assert found.kinks.weights.toarray().tolist() == [[0, 1, 1, 0], [0, 0, 0, 0.5], [1, 0, 1, 0]]
    assert found.kinks.cost.tolist() == [[2], [2]]
    assert (found.rows.any(), found.columns.tolist()) == (False, [True, False, False])


def test_a_shared_direction_and_a_decreasing_one_stay():
    """A variable that another one has beside others in its direction, or of which it is decreasing, is none of its."""
    for second in ([1.0, 1.0, -1.0], [0.0, -1.0, -1.0]):
        A = [[1, -1, 0], [-1, -1, 0], second, [0, 0, -1]]
        stage = stage_of(np.diag([1.0, 0, 0]), A, [0, 0, 2], [0, 0, 1, 0])
        assert 1 not in with_nested(stage, _cheap(stage), nothing(stage)).variables


def test_two_rows_that_are_no_kink_stay():
    x, tau, lam = (
        cp.Variable(3, name="x"),
        cp.Variable(2, name="tau", nonneg=False),
        cp.Parameter(name="lam", nonneg=True),
    )
    rows = [tau[0] >= x[0] + x[1], tau[0] >= x[2] - 1, tau[1] >= x[0] - x[1], tau[1] >= x[0] + 2 * x[1] + 1]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 1) + lam * cp.sum(tau)), rows)
    stage = ReductionStage.of(program_line(problem, {lam: 0.1}, {lam: 2.0}))
    cheap = _cheap(stage)
    assert not with_nested(stage, cheap, pairs(stage, cheap)).kinks.size
    path = pc.trace(problem, {lam: 0.1}, {lam: 2.0}, progress=False)
    for t in (0.0, 0.4, 1.0):
        assert path.value(t) == pytest.approx(solved(problem, {lam: 0.1}, {lam: 2.0}, t), rel=1e-8)
