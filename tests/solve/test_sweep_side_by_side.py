"""Sweeps in parts: eight values a part, in as many processes as one likes, with the same numbers."""

from __future__ import annotations

import pickle
import subprocess
import sys

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.errors import SolveError
from paretoclf.solve.given_problem import GivenProblem


def given():
    """A ridge with an l1 term and a lower bound that may be out of reach."""
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(12, 4)), rng.normal(size=12)
    w, lam, least = cp.Variable(4, name="w"), cp.Parameter(nonneg=True, name="lam"), cp.Parameter(name="least")
    objective = cp.sum_squares(A @ w - b) + lam * cp.norm1(w) + cp.norm2(w)
    return cp.Problem(cp.Minimize(objective), [cp.sum(w) >= least, w <= 1])


def test_processes_find_the_same_numbers_and_those_of_a_sweep_in_one(gaussians):
    svm = pc.TwoCSVM(*gaussians(20, 2))
    costs = np.geomspace(0.05, 5.0, 19)
    one, alone, two = (pc.sweep(svm, C_plus=costs, C_minus=1.0, n_jobs=n_jobs) for n_jobs in (None, 1, 2))
    for name in ("alpha", "b", "values", "dual_values", "costs"):
        np.testing.assert_array_equal(getattr(two, name), getattr(alone, name))
        np.testing.assert_allclose(getattr(two, name), getattr(one, name), atol=1e-8)
    assert two.worst < 1e-9
    assert two.setups == alone.setups >= 3
    assert two.form == one.form
    assert set(two.timing) == set(one.timing)


def test_values_without_a_solution_have_their_numbers():
    problem = given()
    least = [0.0, 9.0, *np.linspace(-1.0, 1.0, 14), 9.0, 0.5]
    problem.parameters()[0].value = 1.0
    known = {each.name(): each for each in problem.parameters()}
    known["lam"].value, known["least"].value = 1.0, 0.0
    problem.solve(solver="CLARABEL")  # it holds a solver now, which cannot be pickled
    one, two = (pc.sweep(problem, {"lam": 0.7, "least": least}, n_jobs=n_jobs) for n_jobs in (None, 2))
    assert [each.number for each in two.missing] == [each.number for each in one.missing] == [1, 16]
    assert {each.status for each in two.missing} == {"infeasible"}
    np.testing.assert_allclose(two.values, one.values, rtol=1e-7)
    for value, here in zip(two.values, two.parameters["least"], strict=True):
        known["lam"].value, known["least"].value = 0.7, here
        problem.solve(solver="CLARABEL")
        assert value == pytest.approx(problem.value, rel=1e-6)
    assert known["least"].value == here


def test_without_a_solution_anywhere_it_is_an_error():
    with pytest.raises(SolveError):
        pc.sweep(given(), {"lam": 1.0, "least": np.linspace(8.0, 9.0, 10)}, n_jobs=1)


def test_a_search_over_programs_is_swept_in_parts_too():
    class Searching(pc.TwoCSVM):
        searches = True

    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [-1, 1, -1, 1]
    costs = np.linspace(0.1, 1.0, 11)
    one, two = (pc.sweep(Searching(X, y), C_plus=costs, C_minus=1.0, n_jobs=n_jobs) for n_jobs in (None, 1))
    assert (one.form, two.form) == ("search", "search")
    np.testing.assert_array_equal(one.values, two.values)


#: In a new Python the numbers of CVXPY's variables begin at 1 again.
ELSEWHERE = """
import pickle, sys
given = pickle.loads(sys.stdin.buffer.read())
print(given.solve(lam=0.7, least=0.2).value)
"""


def test_a_problem_from_another_process_is_not_taken_for_what_is_made_there():
    problem = given()
    moved = GivenProblem(problem, {"lam": None, "least": None})
    done = subprocess.run([sys.executable, "-c", ELSEWHERE], input=pickle.dumps(moved), capture_output=True, check=True)
    assert float(done.stdout) == pytest.approx(moved.solve(lam=0.7, least=0.2).value, rel=1e-9)
    from cvxpy.lin_ops.lin_utils import ID_COUNTER

    largest = max(variable.id for variable in problem.variables())
    before, ID_COUNTER.count = ID_COUNTER.count, 1
    try:
        pickle.loads(pickle.dumps(moved))
        assert ID_COUNTER.count > largest
    finally:
        ID_COUNTER.count = max(before, ID_COUNTER.count)
