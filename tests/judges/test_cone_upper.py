"""Feasible points next to a solver's: steps into cones where projections alone would take thousands of rounds."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from paretoclf.judges import cone_upper
from paretoclf.judges.cone import ConeProgram, cone_bounds
from paretoclf.judges.cone_upper import upper_bound
from paretoclf.judges.cones import Cone
from paretoclf.solve.cone_proof import _compile
from paretoclf.solve.model import Model


def ball_machine(noise, n=200, d=5):
    """The smallest sum of slacks of a classifier with |w| <= 1: rows and a ball that meet at sharp angles."""
    rng = np.random.default_rng(1)
    X, beta = rng.standard_normal((n, d)), rng.standard_normal(d)
    y = np.sign(X @ beta + noise * rng.standard_normal(n))
    w, b, xi = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="xi", nonneg=True)
    return cp.Problem(cp.Minimize(cp.sum(xi)), [cp.multiply(y, X @ w + b) >= 1 - xi, cp.norm(w) <= 1])


@pytest.mark.parametrize("noise", [0.5, 3.0])
def test_a_point_on_the_edge_is_moved_inside_by_little(noise, monkeypatch):
    compiled = _compile(Model.of(ball_machine(noise)))
    program = compiled.program
    found = upper_bound(program, compiled.x)
    lower = cone_bounds(program, compiled.x, compiled.z, tol=1e-11).lower
    assert lower <= found.value <= lower * (1 + 3e-10)
    monkeypatch.setattr(cone_upper, "_AT_ONCE", ())  # projections alone end later, and farther inside
    alone = upper_bound(program, compiled.x)
    assert found.value - lower <= alone.value - lower


def test_a_step_meets_all_planes_at_once_even_if_some_depend_on_others():
    """Three inequalities, one of them twice, and an equation that stays."""
    A = [[1.0, 1, 1], [-1, 0, 0], [-1, 0, 0], [0, -1, 0]]
    program = ConeProgram(np.zeros((3, 3)), np.ones(3), A, [1.0, 0, 0, 0], [Cone("zero", 1), Cone("nonnegative", 3)])
    gap = np.array([0.0, -0.5, -0.5, -0.25])  # outside by so much
    step = cone_upper._all_at_once(program, gap, np.ones(4, dtype=bool))
    assert step == pytest.approx([0.5, 0.25, -0.75], abs=1e-9)


def test_a_step_into_a_second_order_cone_is_across_its_plane():
    program = ConeProgram(
        np.zeros((2, 2)), np.ones(2), [[0.0, 0], [-1, 0], [0, -1]], [1.0, 0, 0], [Cone("second-order", 3)]
    )
    x = np.array([3.0, 4.0])
    gap = np.array([-2.0, 1.2, 1.6])  # of (1, 3, 4) from the nearest point (3, 1.8, 2.4) of the cone
    step = cone_upper._all_at_once(program, gap, gap != 0)
    assert step / np.linalg.norm(step) == pytest.approx(-x / 5)
    assert np.linalg.norm(step) == pytest.approx(4.0)  # to |x| = 1


def test_what_no_step_can_change_is_left():
    program = ConeProgram(np.zeros((1, 1)), np.ones(1), [[0.0], [-1.0]], [-1.0, 0.0], [Cone("nonnegative", 2)])
    gap = np.array([-1.0, -2.0])
    assert cone_upper._all_at_once(program, gap, gap != 0) == pytest.approx([2.0])
    assert upper_bound(program, np.zeros(1)).value == np.inf
