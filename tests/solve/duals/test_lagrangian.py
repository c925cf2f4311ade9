"""Dual functions of some constraints: values, minimisers, supergradients."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc


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
