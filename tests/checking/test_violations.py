"""Tests of `paretoclf.checking.violations`: how many rows a point violates is counted by hand here."""

from __future__ import annotations

import re

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc


def counted(said):
    """How many rows are said to be violated, of how many, which most, and by how much; None where nothing is."""
    found = re.search(
        r"Violated by more than 1e-08 of their sizes: (\d+) of (\d+) rows, most of all (.+) \(by (\S+)\)\.", said
    )
    return found and (int(found[1]), int(found[2]), found[3], float(found[4]))


def test_rows_of_arrays_have_their_names_and_sides():
    names = ["x", "y"], ["first", "second", "both", "same"]
    rows = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]]
    qp = pc.QP(None, [1.0, 1.0], rows, [1.0, 2.0, 4.0, 0.0], [9.0, 9.0, np.inf, 0.0], names=names)
    said = pc.verify(qp, [0.5, 9.5]).explain()  # first below 1, second above 9, not the same by 9
    assert counted(said)[:3] == (3, 6, "same")
    assert counted(said)[3] == pytest.approx(0.9, abs=0.05)  # 9 beside 1 + 9
    assert "There it is off by 9, beside its size of 10." in said
    assert "(by 9.0e-01 of its size, tolerance 1e-08)" in said
    assert counted(pc.verify(qp, [3.0, 10.0 / 3.0]).explain())[:3] == (1, 6, "same")
    assert counted(pc.verify(qp, [5.0, 5.0]).explain()) is None  # feasible, and not optimal
    assert counted(pc.verify(qp, [9.5, 9.5]).explain())[:3] == (2, 6, "first (upper bound)")
    assert counted(pc.verify(qp, [2.0, 2.0]).explain()) is None


@pytest.mark.parametrize("seed", range(3))
def test_entries_of_constraints_are_counted_in_their_shapes(seed):
    rng = np.random.default_rng(seed)
    M, bound = cp.Variable((3, 2), name="M"), rng.normal(size=(3, 2))
    rows = [(bound <= M).set_label("floor"), (cp.sum(M) <= 9).set_label("sum")]
    problem = cp.Problem(cp.Minimize(cp.sum(M)), rows)
    problem.solve("CLARABEL")
    M.value = bound + rng.normal(size=(3, 2))
    found = counted(pc.verify(problem).explain())
    room = M.value - bound
    by = np.maximum(-room, 0) / (1 + np.maximum(abs(M.value), abs(bound)))
    place = np.unravel_index(np.argmax(by), by.shape)
    assert found[:2] == ((room < 0).sum() + (M.value.sum() > 9), 7)
    assert found[2] == f"floor[{place[0]}, {place[1]}]"
    assert found[3] == pytest.approx(by.max(), rel=0.06)


def test_a_matrix_that_is_not_semidefinite_is_one_row():
    S, x = cp.Variable((2, 2), name="S", symmetric=True), cp.Variable(2, name="x", nonneg=True)
    rows = [(S >> np.eye(2)).set_label("large"), (cp.norm(x) <= 1).set_label("ball")]
    problem = cp.Problem(cp.Minimize(cp.trace(S) - cp.sum(x)), rows)
    problem.solve("CLARABEL")
    S.value, x.value = np.diag([1.0, 0.5]), np.array([0.5, 0.5])
    assert counted(pc.verify(problem).explain())[2] == "large"
    S.value, x.value = np.eye(2), np.array([3.0, 0.5])
    assert counted(pc.verify(problem).explain())[2] == "ball"
    S.value = np.eye(2)
    x.save_value(np.array([0.5, -0.5]))  # as a solver may leave it
    assert counted(pc.verify(problem).explain())[2] == "x: nonneg[1]"
