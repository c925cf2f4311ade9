"""Tests of `paretoclf.engine.reduction.epigraphs`."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.engine.reduction import epigraphs as epigraph_module
from paretoclf.engine.reduction.epigraphs import Piece, envelope, epigraphs
from paretoclf.solve.to_qp import program_line
from tests.oracles.lines import FAMILIES, solved


def test_only_pieces_that_are_the_largest_somewhere_are_left():
    def piece(slope, *offset):
        return Piece(slope, np.array(offset))

    still = envelope([piece(1.0, 0.0, 0.0), piece(-1.0, 0.0, 0.0), piece(0.0, 1.0, 1.0), piece(1.0, 2.0, 0.5)])
    assert [p.slope for p in still] == [-1.0, 1.0]  # 0 is nowhere above |v|, nor is v - 2
    assert len(envelope([piece(-1.0, 0.0, 0.0), piece(0.0, -1.0, -2.0), piece(1.0, 0.0, 0.0)])) == 3
    assert envelope([piece(-1.0, 0.0, 0.0), piece(0.0, -1.0, 1.0), piece(1.0, 0.0, 0.0)]) is None  # at one end only
    assert envelope([piece(1.0, 0.0, 1.0), piece(1.0, 1.0, 0.0)]) is None  # which is larger changes


def described(found):
    """Costs with kinks, each once, whatever their order; and what is left."""
    costs = [
        (
            *(part.tolist() for part in cost.a),
            cost.cost.tolist(),
            [(piece.slope, piece.offset.tolist(), dict(piece.rows)) for piece in cost.pieces],
        )
        for cost in found.kinked
    ]
    return sorted(map(repr, costs)), found.rows.tolist(), found.columns.tolist()


@pytest.mark.parametrize("family", FAMILIES)
def test_all_at_once_finds_what_one_by_one_does(family, monkeypatch):
    line = program_line(*FAMILIES[family]())
    flat = ~(line.P.toarray() != 0).any(axis=0)
    at_once = described(epigraphs(flat, (line.A, line.rows), line.q, line.b, line.equations))
    monkeypatch.setattr(epigraph_module, "_of_two_rows", lambda *_: ())
    assert at_once == described(epigraphs(flat, (line.A, line.rows), line.q, line.b, line.equations))


def test_two_rows_that_are_no_kink_stay():
    x, tau, lam = (
        cp.Variable(3, name="x"),
        cp.Variable(2, name="tau", nonneg=False),
        cp.Parameter(name="lam", nonneg=True),
    )
    rows = [tau[0] >= x[0] + x[1], tau[0] >= x[2] - 1, tau[1] >= x[0] - x[1], tau[1] >= x[0] + 2 * x[1] + 1]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 1) + lam * cp.sum(tau)), rows)
    line = program_line(problem, {lam: 0.1}, {lam: 2.0})
    found = epigraphs(~(line.P.toarray() != 0).any(axis=0), (line.A, line.rows), line.q, line.b, line.equations)
    assert not found.kinked
    path = pc.trace(problem, {lam: 0.1}, {lam: 2.0}, progress=False)
    for t in (0.0, 0.4, 1.0):
        assert path.value(t) == pytest.approx(solved(problem, {lam: 0.1}, {lam: 2.0}, t), rel=1e-8)
