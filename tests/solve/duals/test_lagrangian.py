"""Dual functions of some constraints: values, minimisers, supergradients."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.errors import SolveError


def problem():
    rng = np.random.default_rng(0)
    F, g, x = rng.normal(size=(6, 3)), rng.normal(size=6), cp.Variable(3, name="x")
    mass, low = (cp.sum(x) == 1).set_label("mass"), (x >= 0.1).set_label("low")
    return cp.Problem(cp.Minimize(cp.sum_squares(F @ x - g)), [mass, low, x <= 2])


def test_the_dual_function_is_a_bound_with_its_supergradient():
    primal = problem()
    best = primal.solve("CLARABEL")
    made = pc.lagrangian(primal, dualize=["mass", "low"])
    assert len(made.problem.constraints) == 1
    rng = np.random.default_rng(1)
    for _ in range(5):
        here = {"mass": rng.normal(), "low": rng.exponential(size=3)}
        there = {"mass": rng.normal(), "low": rng.exponential(size=3)}
        point, other = made.at(here), made.at(there)
        assert point.value <= best + 1e-7
        rise = sum(np.sum(point.supergradient[k] * (np.asarray(there[k]) - here[k])) for k in here)
        assert other.value <= point.value + rise + 1e-6
        assert point.supergradient["mass"] == pytest.approx(point.minimiser["x"].sum() - 1, abs=1e-8)
    own = {c.label: c.dual_value for c in primal.constraints[:2]}
    assert made.at(own).value == pytest.approx(best, abs=1e-6)


def test_of_a_maximisation_it_is_an_upper_bound():
    x = cp.Variable(name="x")
    primal = cp.Problem(cp.Maximize(-cp.square(x - 3)), [(x <= 1).set_label("top")])
    made = pc.lagrangian(primal, dualize="top")
    assert [made.at({"top": m}).value for m in (0, 4, 6)] == pytest.approx([0, -4, -3], abs=1e-6)
    assert made.at({"top": 4}).supergradient["top"] == pytest.approx(0, abs=1e-6)


def test_where_it_has_no_least_value_it_is_minus_infinity():
    x = cp.Variable(name="x")
    made = pc.lagrangian(cp.Problem(cp.Minimize(x), [(x >= 1).set_label("low")]), dualize=["low"])
    assert made.at({"low": 0.5}).value == -np.inf
    assert made.at({"low": 1.0}).value == pytest.approx(1)


def test_matrices():
    S = cp.Variable((2, 2), symmetric=True, name="S")
    primal = cp.Problem(cp.Minimize(cp.sum_squares(S + np.eye(2))), [(S >> 0).set_label("psd")])
    primal.solve("CLARABEL")
    made = pc.lagrangian(primal, dualize=["psd"])
    assert made.at({"psd": 2 * np.eye(2)}).value == pytest.approx(2, abs=1e-6)


def test_what_cannot_be_dualised_or_given_is_refused():
    primal = problem()
    with pytest.raises(pc.InputError, match="mass, low, constraint 2"):
        pc.lagrangian(primal, dualize=["none"])
    made = pc.lagrangian(primal, dualize=["low"])
    with pytest.raises(pc.InputError, match="signs"):
        made.at({"low": [-1, 0, 0]})
    with pytest.raises(pc.InputError, match="missing"):
        made.at({})
    t, x = cp.Variable(), cp.Variable(2)
    with pytest.raises(pc.InputError, match="ball is"):
        pc.lagrangian(cp.Problem(cp.Minimize(t), [cp.SOC(t, x).set_label("ball")]), dualize=["ball"])


def test_a_least_value_that_is_not_attained_is_refused_and_never_false():
    """exp(-x) + m x^2 / y is exp(-k) + 1 / (m k) or so at x = k, y = m^2 k^3: it comes as near to 0 as one likes."""
    x, y = cp.Variable(name="x"), cp.Variable(name="y")
    never = (cp.quad_over_lin(x, y) <= 0).set_label("never")
    made = pc.lagrangian(cp.Problem(cp.Minimize(cp.exp(-x)), [never]), dualize=["never"])
    for m in (1.0, 1e3, 1e6):
        try:
            point = made.at({"never": m})
        except SolveError as refused:
            assert "at these multipliers is not proved to 1e-06: the solver says" in str(refused)  # noqa: PT017
        else:
            assert point.lower <= 0.0 <= point.value <= 1e-6
    assert x.value is None
    bounded = pc.lagrangian(cp.Problem(cp.Minimize(cp.exp(-x)), [never, x <= 1, y <= 1]), dualize=["never"])
    # With y = 1 it is least where exp(-x) = 2 m x.
    point = bounded.at({"never": 0.5 * np.exp(-0.5) / 0.5})
    assert point.value == pytest.approx(np.exp(-0.5) * 1.25, abs=1e-6)
    assert point.lower - 1e-12 <= np.exp(-0.5) * 1.25 <= point.upper + 1e-12


def test_a_value_comes_with_bounds_that_hold_it():
    """min x^2 - m (x - 2) is 2 m - m^2 / 4, and so for minus it; a slope of 1e-9 has no least value."""
    x = cp.Variable(name="x")
    low = (x >= 2).set_label("low")
    for sense, goal in ((1, cp.Minimize(cp.square(x))), (-1, cp.Maximize(-cp.square(x)))):
        made = pc.lagrangian(cp.Problem(goal, [low]), dualize=["low"])
        for m in (0.0, 1.0, 3.0):
            point = made.at({"low": m})
            assert point.lower - 1e-12 <= sense * (2 * m - m * m / 4) <= point.upper + 1e-12
            assert point.upper - point.lower <= 1e-5
    linear = pc.lagrangian(cp.Problem(cp.Minimize(x), [low]), dualize=["low"])
    assert linear.at({"low": 1.0}).lower == pytest.approx(2)
    try:
        assert linear.at({"low": 1.0 + 2.0**-30}).lower == -np.inf
    except SolveError as refused:
        assert "is proved to lie in [-inf, inf] only" in str(refused)  # noqa: PT017


def test_a_solver_that_fails_is_named_with_a_remedy(monkeypatch):
    def fail(self, *args, **options):
        raise cp.SolverError("Solver 'CLARABEL' failed.")

    made = pc.lagrangian(problem(), dualize=["mass"])
    monkeypatch.setattr(cp.Problem, "solve", fail)
    with pytest.raises(SolveError, match=r"CLARABEL fails on .* Bound its variables"):
        made.at({"mass": 1.0})
