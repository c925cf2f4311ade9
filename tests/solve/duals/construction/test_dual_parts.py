"""Duals in parts: programs whose duals are written by hand, labels of conditions, and what cannot be kept."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

from paretoclf.common.errors import InputError
from paretoclf.solve.duals.construction.dual_parts import checked, parts_of
from paretoclf.solve.models.model import Model

A = np.array([[1.0, 2.0, 0.5], [3.0, 1.0, 1.0]])
B, COST = np.array([2.0, 3.0]), np.array([4.0, 3.0, 2.0])


def parts(objective, *constraints):
    return parts_of(Model.of(cp.Problem(objective, list(constraints)), maximise=True, moving=False))


def linear(nonneg=True):
    x = cp.Variable(3, name="x", nonneg=nonneg)
    return parts(cp.Minimize(COST @ x), (A @ x >= B).set_label("cover"))


def test_the_dual_of_a_linear_program_is_the_one_by_hand():
    """max b.y with A'y <= c and y >= 0, by another solver."""
    made = linear()
    problem = made.built()
    by_hand = linprog(-B, A_ub=A.T, b_ub=COST)
    assert isinstance(problem.objective, cp.Maximize)
    assert problem.solve("CLARABEL") == pytest.approx(-by_hand.fun, abs=1e-7)
    (cover, sign) = made.multipliers
    assert (cover.label, sign.label) == ("cover", "x: nonneg")
    np.testing.assert_allclose(cover.parts[0].value, by_hand.x, atol=1e-6)
    np.testing.assert_allclose(sign.parts[0].value, COST - A.T @ by_hand.x, atol=1e-6)


def test_at_multipliers_the_value_and_the_equations_are_those_of_the_lagrangian():
    made = linear()
    y, mu = np.array([0.5, 0.25]), np.array([1.0, 0.0, 2.0])
    for multiplier, value in zip(made.multipliers, (y, mu), strict=True):
        multiplier.parts[0].value = value
    assert float(made.value.value) == pytest.approx(B @ y)
    assert set(made.equations) == {"x"}
    np.testing.assert_allclose(made.equations["x"].value, COST - A.T @ y - mu)
    assert made.sense == 1
    assert made.atoms == made.eliminated == ()
    assert set(made.variables) == {"x"}


def test_of_a_maximisation_the_dual_is_a_minimisation_of_the_same_value():
    x = cp.Variable(3, name="x", nonneg=True)
    made = parts(cp.Maximize(-COST @ x + 1), (A @ x >= B).set_label("cover"))
    problem = made.built()
    assert made.sense == -1
    assert isinstance(problem.objective, cp.Minimize)
    assert problem.solve("CLARABEL") == pytest.approx(1 + linprog(-B, A_ub=A.T, b_ub=COST).fun, abs=1e-7)


def test_conditions_have_the_names_of_what_they_come_from():
    x, z = cp.Variable(3, name="x"), cp.Variable(name="z", bounds=[0, 1])
    made = parts(
        cp.Minimize(cp.norm1(x) + cp.sum(cp.pos(x)) + z),
        (cp.sum(x) == 1).set_label("mass"),
        cp.SOC(z, x).set_label("cone"),
        x[0] >= 0,
    )
    labels = [condition.label for condition in made.built().constraints]
    assert labels[:2] == ["coefficient of x", "coefficient of z"]
    assert "norm1 1" in labels
    assert {"pos 2, 1", "pos 2, 2"} <= set(labels)
    assert "multiplier of cone" in labels
    assert [m.label for m in made.multipliers] == ["mass", "cone", "constraint 2", "z: lower bound", "z: upper bound"]
    assert made.multipliers[2].parts[0].name() == "lambda_2"


def test_a_variable_without_a_coefficient_has_no_equation():
    x, idle = cp.Variable(name="x"), cp.Variable(2, name="idle")
    made = parts(cp.Minimize(cp.square(x) + 0 * cp.sum(idle)), x >= 1)
    assert set(made.equations) == {"x"}
    assert made.built().solve("CLARABEL") == pytest.approx(1, abs=1e-6)


def test_costs_of_atoms_are_taken_from_the_value():
    x = cp.Variable(3, name="x")
    target = np.array([1.0, -2.0, 0.5])
    made = parts(cp.Minimize(cp.sum_squares(x - target)), (cp.sum(x) == 4).set_label("mass"))
    # The projection on a plane: 3 times the square of what each entry is moved by.
    assert made.built().solve("CLARABEL") == pytest.approx(3 * ((4 - target.sum()) / 3) ** 2, abs=1e-6)
    assert [atom.row.name for atom in made.atoms] == ["sum_squares"]
    assert float(made.atoms[0].w.value) == 1.0


class TestChecked:
    x = cp.Variable(name="x")
    a, b, c = (cp.Parameter(name=name, nonneg=True) for name in "abc")

    def test_a_dual_that_keeps_its_parameters_is_returned(self):
        primal = cp.Problem(cp.Minimize(self.a * cp.abs(self.x)))
        dual = cp.Problem(cp.Maximize(-self.x), [cp.abs(self.x) <= self.a])
        assert checked(dual, primal) is dual

    def test_parameters_that_multiply_each_other_are_named(self):
        primal = cp.Problem(cp.Minimize(self.a * cp.abs(self.x)), [self.b * self.x <= 1])
        dual = cp.Problem(cp.Maximize(-self.c * self.x), [cp.abs(self.x) <= self.b * self.a])
        with pytest.raises(InputError) as refused:
            checked(dual, primal)
        assert str(refused.value) == (
            "pc.dual cannot keep the parameters a, b, which multiply each other in the dual: "
            "give all but one of them as a number"
        )
        # Where the primal is not DPP itself nothing is lost.
        assert checked(dual, cp.Problem(cp.Minimize(self.a * self.b * cp.abs(self.x)))) is dual

    def test_one_that_is_not_convex_is_our_fault(self):
        with pytest.raises(InputError, match="please report the primal"):
            checked(cp.Problem(cp.Minimize(cp.sqrt(self.x))), cp.Problem(cp.Minimize(self.x)))


def test_what_was_eliminated_is_no_variable_any_more():
    made = linear()
    cover, sign = made.multipliers
    slack = COST - A.T @ cover.parts[0]
    fewer = replace(made, equations={}, multipliers=(cover, replace(sign, parts=(slack,))))
    problem = fewer.built()
    assert [v.name() for v in problem.variables()] == ["lambda_cover"]
    assert problem.solve("CLARABEL") == pytest.approx(-linprog(-B, A_ub=A.T, b_ub=COST).fun, abs=1e-7)
