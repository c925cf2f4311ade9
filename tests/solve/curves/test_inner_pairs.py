"""Inner pairs are inside, stationary, and so are those between two of them where matrices stand."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.proof.cones.cone_kinds import contains
from paretoclf.solve.curves.inner_pairs import InnerPairs
from paretoclf.solve.eps.interior import dual_cones
from paretoclf.solve.sources.cone_problem_line import LineOfCurves
from tests.oracles.curve_lines import LINES


def inside(line, pair):
    now = line.at(pair.t)
    s = now.b - now.A @ pair.x
    mine = np.array([cone.kind != "zero" for cone in line.cones])
    fine = contains(s, np.full(s.size, 1e-9), line.cones)[mine].all()
    into, cones = dual_cones(line)
    fine &= contains(into @ pair.z, np.full(into.shape[0], 1e-9), cones).all()
    missed = np.abs(now.P @ pair.y + now.q + now.A.T @ pair.z).max()
    return bool(fine) and missed < 1e-6 * (1 + np.abs(pair.z).max())


@pytest.mark.parametrize("name", LINES)
def test_pairs_are_inside_and_stationary(name):
    line = LineOfCurves(*LINES[name]()).line
    pairs = InnerPairs(line, 10.0, 10.0)
    ends = [pairs.at(t) for t in (0.0, 1.0)]
    assert all(inside(line, pair) for pair in ends)
    assert pairs.solves == 8
    first, last = pairs.around(0.25, 0.5)
    assert (first.t, last.t) == (0.25, 0.5)
    if line.stands:
        assert inside(line, first)
        assert inside(line, last)
    assert pairs.closer(0.0, 1.0) is None
    assert pairs.closer(0.25, 1.0)[0] is pairs.at(0.25)


def test_pairs_that_do_not_enclose_a_piece_are_none():
    pairs = InnerPairs(LineOfCurves(*LINES["two_norms"]()).line, 10.0, 10.0)
    assert pairs.around(0.1, 0.2) is None
