"""Tests of `paretoclf.engine.log`: points that are made from what is kept are those that the core handed over."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.engine import core_walk
from paretoclf.engine.engines import ENGINES
from paretoclf.engine.general import follow
from paretoclf.problem.parametric_qp import ParametricQP
from tests.engine.test_general import drawn

pytestmark = pytest.mark.skipif("fast" not in ENGINES, reason="installed without a C++ compiler")


@pytest.mark.parametrize("large", [False, True])
def test_points_of_a_log_are_those_that_were_handed_over(large, monkeypatch):
    """Soft and hard bounds, jumps, rows of one kind twice, and columns of other sizes."""
    rng, jumps, logged = np.random.default_rng(int(large)), 0, 0
    for _ in range(40):
        problem = drawn(rng, large)
        monkeypatch.setattr(core_walk, "LOGGED", 10**9)
        whole = follow(problem, progress=False)
        monkeypatch.setattr(core_walk, "LOGGED", 0)
        found = follow(problem, progress=False)
        assert (found.status, found.exchanges, found.item) == (whole.status, whole.exchanges, whole.item)
        for name in ("t", "labels", "ends"):
            np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
        if found.log is None:
            continue  # it ends where it starts, or doubles did not do
        logged, jumps = logged + 1, jumps + len(whole.values) - len(whole.labels) - 1
        for mine, other in ((found.values, whole.values), (found.multipliers, whole.multipliers)):
            assert mine.shape == other.shape
            np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-12 * (1 + np.abs(other).max(initial=0.0)))
            np.testing.assert_allclose(mine[2:5], np.asarray(mine)[2:5], rtol=1e-12, atol=1e-12)
        v, y = found.points(slice(0, len(whole.values)))
        np.testing.assert_array_equal(v, np.asarray(found.values)[:, : problem.n])
        np.testing.assert_array_equal(y, np.asarray(found.multipliers))
        np.testing.assert_array_equal(y != 0.0, whole.multipliers != 0.0)  # what no longer binds has no price
        np.testing.assert_array_equal(found.v[-1], np.asarray(found.values)[found.ends[-1]])
    assert logged > 20
    assert jumps > 5


def test_a_log_is_small(monkeypatch):
    """Of a program of many rows it holds its variables, and as many multipliers of rows."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), rng.normal(size=300)
    none = np.full((2, 3), np.inf)
    tau = np.array([[0.1], [0.9]])
    bounds = np.tile(y, (2, 1))
    soft = [np.hstack([none, np.broadcast_to(each, (2, 300))]) for each in (1 - tau, tau)][::-1]
    lower, upper = np.hstack([-none, bounds]), np.hstack([none, bounds])
    problem = ParametricQP(np.zeros((3, 3)), X, np.zeros((2, 3)), lower, upper, *soft)
    monkeypatch.setattr(core_walk, "LOGGED", 0)
    found = follow(problem, progress=False)
    log = found.log
    kept = sum(each.nbytes for each in (log.variables, log.rows, log.prices, log.begin, log.own))
    assert found.status == "end"
    assert len(found.labels) > 30
    assert 10 * kept < np.asarray(found.values).nbytes + np.asarray(found.multipliers).nbytes


@pytest.mark.parametrize("engine", ENGINES)
def test_a_path_through_squares_keeps_no_log_of_them(engine, monkeypatch):
    """Rows of squares are dropped, and with them the log that has them."""
    monkeypatch.setattr(core_walk, "LOGGED", 0)
    a = np.array([0.1, 0.2, 0.7])
    free, hard = np.full((2, 3), np.inf), np.full((2, 4), np.inf)
    lower, upper = np.hstack([-free, [[-2.0], [-2.0]]]), np.hstack([free, [[1.0], [-1.0]]])
    problem = ParametricQP(np.multiply.outer(a, a), np.ones((1, 3)), np.zeros((2, 3)), lower, upper, hard, hard)
    found = follow(problem, progress=False, engine=engine, precise=True)
    assert found.status == "end"
    assert found.log is None
    assert found.values.shape[1] == problem.items
