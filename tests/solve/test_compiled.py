"""A problem moved inside the solver: data and optima are CVXPY's at every value of the parameters."""

from __future__ import annotations

import pickle

import cvxpy as cp
import numpy as np
import pytest

from paretoclf.common.errors import SolveError
from paretoclf.solve.compiled import Compiled, NotUpdatable, moved
from paretoclf.solve.models.model import Model

TIGHT = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
F = np.random.default_rng(4).normal(size=(6, 3))
G = np.array([1.0, -2.0, 0.3, 0.7, 1.5, -0.2])


def lasso():
    x, lam = cp.Variable(3, name="x"), cp.Parameter(nonneg=True, name="lam")
    box = (x <= 2).set_label("box")
    return cp.Problem(cp.Minimize(cp.sum_squares(F @ x - G) + lam * cp.norm1(x)), [box]), {"lam": lam}


def limited():
    """Only b moves, and in proportion to the parameter."""
    x, size = cp.Variable(3, name="x"), cp.Parameter(nonneg=True, name="size")
    ball = (cp.norm2(x) <= size).set_label("ball")
    return cp.Problem(cp.Minimize(G[:3] @ x), [ball]), {"size": size}


def both():
    """Both vectors move, one by a parameter that follows from another; there is a constant."""
    x, a, b = cp.Variable(3, name="x"), cp.Parameter(name="a"), cp.Parameter(nonneg=True, name="b")
    square = cp.CallbackParam(lambda: b.value**2 + 1, name="square", nonneg=True)
    S = cp.Variable((2, 2), symmetric=True, name="S")
    rows = [
        (cp.sum(x) == a).set_label("mass"),
        (x >= -square).set_label("low"),
        (S >> np.eye(2)).set_label("psd"),
        cp.SOC(square, x).set_label("ball"),
    ]
    cost = cp.sum_squares(x) + square * x[0] + a * 2 + cp.trace(S) + cp.sum_squares(S[0, 1] - 1)
    return cp.Problem(cp.Minimize(cost), rows), {"a": a, "b": b}


MADE = {"lasso": lasso, "limited": limited, "both": both}
MOVING = {"lasso": ("q",), "limited": ("b",), "both": ("q", "b")}
POINTS = {
    "lasso": [{"lam": v} for v in (1.0, 1.3, 0.2, 30.0, 1e-5)],
    "limited": [{"size": v} for v in (1.0, 1.1, 100.0, 1e-4)],
    "both": [{"a": a, "b": b} for a, b in ((1.0, 1.0), (0.5, 2.0), (0.0, 1.1))],
}


@pytest.mark.parametrize("name", MADE)
def test_data_and_optima_are_those_of_cvxpy(name):
    problem, parameters = MADE[name]()
    model = Model.of(problem)
    made = Compiled(model, parameters)
    assert made.moving == MOVING[name]
    for values in POINTS[name]:
        raw = made.solve(values)
        for key, value in values.items():
            parameters[key].value = value
        data, _, _ = problem.get_problem_data("CLARABEL")
        q, b = made.data(values)
        assert q == pytest.approx(data["c"], rel=1e-13)
        assert b == pytest.approx(data["b"], rel=1e-13)
        problem.solve("CLARABEL", **TIGHT)
        assert raw.status == "optimal"
        assert raw.iterations > 0
        assert 0 < raw.seconds < 60
        size = float(np.abs(problem.variables()[0].value).max()) if name == "limited" else 1.0
        for v in problem.variables():
            assert raw.numbers[v.name()] == pytest.approx(v.value, abs=1e-6 * size)
        for c in problem.constraints:
            own, theirs = raw.numbers[c.label], c.dual_value
            if isinstance(theirs, list):
                own, theirs = np.concatenate([np.ravel(e) for e in own]), np.concatenate([np.ravel(e) for e in theirs])
            assert np.ravel(own) == pytest.approx(np.ravel(theirs), abs=1e-5)


def test_the_solver_is_moved_in_place_while_data_are_of_like_size():
    problem, parameters = lasso()
    made = Compiled(Model.of(problem), parameters)
    assert made.setups == 0
    assert [made.solve({"lam": v}).fresh for v in (1.0, 1.1, 0.9)] == [True, False, False]
    assert made.setups == 1
    assert made.solve({"lam": 1e6}).fresh
    assert made.solve({"lam": 1e6}).fresh is False
    assert made.setups == 2
    again = pickle.loads(pickle.dumps(made))
    first, second = made.solve({"lam": 2.0}), again.solve({"lam": 2.0})
    assert second.fresh
    assert second.numbers["x"] == pytest.approx(first.numbers["x"], abs=1e-8)


def test_small_data_lose_no_digits():
    """Minimise u c'x in the unit ball, x = -c / |c|; and c'x in a ball of 1e-9."""
    x, u = cp.Variable(3, name="x"), cp.Parameter(nonneg=True, name="u")
    c = np.array([1.0, -2.0, 2.0])
    problem = cp.Problem(cp.Minimize((u * c) @ x), [cp.norm2(x) <= 1])
    made = Compiled(Model.of(problem), {"u": u})
    for value in (1.0, 1e-9):
        assert made.solve({"u": value}).numbers["x"] == pytest.approx(-c / 3, abs=1e-7)
    ball, parameters = limited()
    small = Compiled(Model.of(ball), parameters, at={"size": 0.5})
    for value in (1.0, 1e-9):
        found = small.solve({"size": value})
        assert found.numbers["x"] / value == pytest.approx(-G[:3] / np.linalg.norm(G[:3]), abs=1e-7)
        assert np.ravel(found.numbers["ball"])[0] == pytest.approx(np.linalg.norm(G[:3]), abs=1e-6)


def test_entries_that_an_attribute_makes_0():
    D, a = cp.Variable((2, 2), diag=True, name="D"), cp.Parameter(name="a")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(D - np.ones((2, 2))) + a * cp.trace(D)))
    found = Compiled(Model.of(problem), {"a": a}).solve({"a": 1.0}).numbers["D"]
    assert found == pytest.approx(0.5 * np.eye(2), abs=1e-8)


def test_matrices_that_move_are_refused_by_their_parameters():
    x, a, b = cp.Variable(2, name="x"), cp.Parameter(name="a"), cp.Parameter(name="b")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [a * x[0] + x[1] >= b])
    with pytest.raises(NotUpdatable, match=r"depend on its parameters \(a\)") as caught:
        Compiled(Model.of(problem), {"a": a, "b": b})
    assert caught.value.names == ("a",)
    with pytest.raises(NotUpdatable):
        Compiled(Model.of(problem), {"a": a, "b": b}, at={"a": 0.0, "b": 1.0})


def test_what_has_no_optimum_is_said():
    x, a = cp.Variable(name="x"), cp.Parameter(name="a")
    made = Compiled(Model.of(cp.Problem(cp.Minimize(x), [x >= 0, x <= a])), {"a": a})
    assert made.solve({"a": 1.0}).numbers["x"] == pytest.approx(0, abs=1e-8)
    with pytest.raises(SolveError, match="CLARABEL returned 'PrimalInfeasible' at"):
        made.solve({"a": -1.0})


def test_parameters_have_other_values_for_a_while():
    a, b = cp.Parameter(name="a", value=1.0), cp.Parameter(name="b")
    with moved({"a": a, "b": b}, {"a": 2.0, "b": 3.0}):
        assert (float(a.value), float(b.value)) == (2, 3)
    assert (a.value, b.value) == (1, None)
    with pytest.raises(KeyError), moved({"a": a, "b": b}, {"a": 2.0}):
        pass
    assert (a.value, b.value) == (1, None)
