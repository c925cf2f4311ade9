"""One entry of a parameter moves: paths, maps and derivatives beside those of the whole array, and beside CVXPY."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.solve.sources.parameter_entries import ParameterEntry, keys_of, whole


@pytest.fixture
def control():
    """A regulator of a double integrator with a state of four entries, within bounds of its force."""
    x0 = cp.Parameter(4, name="x0", value=[1.0, 0.2, 0.5, 0.0])
    X, u = cp.Variable((4, 5), name="X"), cp.Variable(4, name="u")
    A = np.eye(4) + 0.3 * np.diag(np.ones(3), 1)
    B = np.array([0.0, 0.1, 0.0, 0.4])
    rows = [X[:, 0] == x0, cp.abs(u) <= 1, *(X[:, k + 1] == A @ X[:, k] + B * u[k] for k in range(4))]
    return cp.Problem(cp.Minimize(cp.sum_squares(X) + 0.1 * cp.sum_squares(u)), rows), x0


def solved(problem, state, **values):
    """The optimal value that CVXPY finds where entries have other values."""
    before = state.value.copy()
    state.value = np.array([values.get(f"x{k}", before[k]) for k in range(4)])
    found = float(problem.solve("CLARABEL"))
    state.value = before
    return found


@pytest.mark.parametrize("key", ["itself", "name"])
def test_a_path_along_one_entry(control, key):
    problem, x0 = control
    entry = {"itself": x0[0], "name": "x0[0]"}[key]
    path = pc.trace(problem, {entry: -4}, {entry: 4})
    assert path.axis == ("x0[0]", -4.0, 4.0)
    for value in (-3.0, 0.5, 3.9):
        assert path.at({x0[0]: value}).value == pytest.approx(solved(problem, x0, x0=value), abs=1e-6)
    same = pc.trace(problem, {x0: [-4, 0.2, 0.5, 0]}, {x0: [4, 0.2, 0.5, 0]})
    np.testing.assert_array_equal(path.breakpoints, same.breakpoints)
    path.assign(0.75)
    assert x0.value.tolist() == [2.0, 0.2, 0.5, 0.0]


def test_a_map_of_two_entries(control):
    problem, x0 = control
    found = pc.plane(problem, {x0[0]: (-4, 4), "x0[2]": (-2, 2)}, progress=False)
    assert list(found.ranges) == ["x0[0]", "x0[2]"]
    assert found.proof.passes()
    for a, b in ((0.3, -1.0), (3.5, 1.8)):
        assert found.at({x0[0]: a, x0[2]: b}).value == pytest.approx(solved(problem, x0, x0=a, x2=b), abs=1e-6)


def test_derivatives_in_one_entry(control):
    problem, x0 = control
    found = pc.derivatives(problem, {x0[2]: 1.0})
    step = 1e-4
    rise = (solved(problem, x0, x2=0.5 + step) - solved(problem, x0, x2=0.5 - step)) / (2 * step)
    assert found.right.value == pytest.approx(rise, abs=1e-4)
    assert found.right.value == pc.derivatives(problem, {x0: [0, 0, 1, 0]}).right.value


def test_an_entry_of_a_matrix_and_from_the_end():
    p, x = cp.Parameter((2, 3), name="p", value=np.zeros((2, 3))), cp.Variable((2, 3), name="x")
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= p])
    keys = list(keys_of(problem, {p[0, 1]: 1, "p[1,2]": 2, p[-1, 0]: 3}, "start"))
    assert [key.name() for key in keys] == ["p[0, 1]", "p[1, 2]", "p[1, 0]"]
    assert pc.trace(problem, {p[0, 1]: 0}, {p[0, 1]: 3}).value(1.0) == pytest.approx(3)


def test_other_entries_need_values_unless_all_move():
    p, x = cp.Parameter(2, name="p"), cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= p])
    with pytest.raises(pc.InputError, match=r"parameter p must have a value, as p\[1\] keeps its own"):
        pc.trace(problem, {p[0]: 0}, {p[0]: 1})
    assert pc.trace(problem, {p[0]: 0, p[1]: 0}, {p[0]: 1, p[1]: 2}).value(1.0) == pytest.approx(3)
    assert whole({ParameterEntry(p, (1,)): 2.0}, "direction", zero=True)[p].tolist() == [0.0, 2.0]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (lambda p: {p[0:2]: 1}, "must have parameters of the problem, or their names, for keys"),
        (lambda p: {p[0]: 1, p: [1, 2, 3]}, r"must have p as a whole or by its entries, got p and p\[0\]"),
        (lambda p: {p[0]: 1, "p[0]": 2}, r"must have each parameter once, got p\[0\] by itself and by name"),
        (lambda p: {"p[3]": 1}, r"for keys, got 'p\[3\]': the problem has p"),
        (lambda p: {"p[0, 0]": 1}, r"for keys, got 'p\[0, 0\]': the problem has p"),
        (lambda p: {p[0] + 1: 1}, "for keys"),
    ],
)
def test_what_is_no_entry_is_refused(keys, said):
    p, x = cp.Parameter(3, name="p", value=np.zeros(3)), cp.Variable(3, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= p])
    with pytest.raises(pc.InputError, match=said):
        pc.derivatives(problem, keys(p))
