"""Multipliers of constraints and attributes: signs and sizes as CVXPY has them, dual cones by inner products."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.solve.duals.construction.adjoint import Coefficients
from paretoclf.solve.duals.construction.multipliers import Multiplier, equation_of, of_attributes, of_constraint
from paretoclf.solve.duals.construction.tree import Tree

x, t, S = cp.Variable(3, name="x"), cp.Variable(name="t"), cp.Variable((2, 2), symmetric=True, name="S")
POINT = np.array([0.5, -1.0, 2.0])
MATRIX = np.array([[2.0, 0.3], [0.3, -1.0]])


def made(constraint):
    return of_constraint(constraint, "label", "name", Tree())


@pytest.mark.parametrize(
    ("constraint", "cone", "names", "added"),
    [
        (x == 1, "free", ["nu_name"], [POINT - 1]),
        (cp.constraints.Zero(x - 1), "free", ["nu_name"], [POINT - 1]),
        (x <= 1, "nonnegative", ["lambda_name"], [POINT - 1]),
        (x >= 1, "nonnegative", ["lambda_name"], [1 - POINT]),
        (cp.constraints.NonNeg(x - 1), "nonnegative", ["lambda_name"], [1 - POINT]),
        (S >> np.eye(2), "psd", ["Z_name"], [np.eye(2) - MATRIX]),
        (cp.SOC(t, x - 1), "soc", ["s_name", "z_name"], [[-4.0], 1 - POINT]),
        (cp.ExpCone(x[0], x[1], x[2]), "exponential", ["s_name", "z_name", "r_name"], [[-0.5], [1.0], [-2.0]]),
        (cp.PowCone3D(x[0], x[1], x[2], 0.3), "power", ["s_name", "z_name", "r_name"], [[-0.5], [1.0], [-2.0]]),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_each_constraint_has_a_multiplier_of_what_must_not_be_positive(constraint, cone, names, added):
    x.save_value(POINT)
    t.save_value(np.array(4.0))
    S.save_value(MATRIX)
    found = made(constraint)
    assert (found.label, found.cone, found.constraint) == ("label", cone, constraint)
    assert [part.name() for part in found.parts] == names
    assert len(found.added) == len(added)
    for part, expression, value in zip(found.parts, found.added, added, strict=True):
        assert part.shape == expression.shape
        assert np.ravel(expression.value) == pytest.approx(np.ravel(value))
    assert found.parts[0].is_nonneg() == (cone == "nonnegative")
    assert bool(found.parts[0].attributes["PSD"]) == (cone == "psd")


def holds(multiplier, *values):
    """Whether a multiplier with values meets its conditions."""
    for part, value in zip(multiplier.parts, values, strict=True):
        part.save_value(np.asarray(value, dtype=float).reshape(part.shape))
    return all(np.max(condition.violation()) <= 1e-4 for condition in multiplier.conditions())


def sampled(inside, dim=3, count=4000):
    """Points of a cone among random ones."""
    points = np.random.default_rng(0).normal(size=(count, dim)) * 2
    return points[inside(points)]


def exponential(p):
    u, v, w = p.T
    return (v > 0) & (v * np.exp(np.clip(u / np.where(v > 0, v, 1.0), -50, 50)) <= w)


def power(p, alpha=0.3):
    u, v, w = p.T
    return (u > 0) & (v > 0) & (np.maximum(u, 0) ** alpha * np.maximum(v, 0) ** (1 - alpha) >= np.abs(w))


def second_order(p):
    return p[:, 0] >= np.hypot(p[:, 1], p[:, 2])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["exponential", "power", "second order"])
def test_conditions_are_the_dual_cone(kind):
    """A multiplier is allowed where its products with the points of the cone, many of them, are not negative."""
    constraint, inside = {
        "exponential": (cp.ExpCone(x[0], x[1], x[2]), exponential),
        "power": (cp.PowCone3D(x[0], x[1], x[2], 0.3), power),
        "second order": (cp.SOC(t, x[:2]), second_order),
    }[kind]
    multiplier, cone = made(constraint), sampled(inside)
    assert len(multiplier.conditions()) == 1
    seen = set()
    for z in np.random.default_rng(1).normal(size=(30, 3)) * [1, 1, 0.6] + [0, 0.5, 0.3]:
        least = (cone @ z).min()
        if abs(least) < 0.3:  # too near to tell from these points
            continue
        parts = (z[:1], z[1:]) if kind == "second order" else z
        if kind == "exponential" and z[0] > 0 and least > 0:
            continue
        assert holds(multiplier, *parts) == (least > 0)
        seen.add(bool(least > 0))
    assert False in seen
    good = {"exponential": (-1.0, 0.5, 1.0), "power": (0.3, 0.7, 0.99), "second order": (1.0, [0.6, -0.79])}[kind]
    bad = {"exponential": (-1.0, -1.01, 1.0), "power": (0.3, 0.7, -1.01), "second order": (1.0, [0.6, -0.81])}[kind]
    assert holds(multiplier, *good)
    assert not holds(multiplier, *bad)
    if kind == "exponential":  # its border: v = u + u log(-w / u)
        assert holds(multiplier, -1.0, -0.99, 1.0)
        assert not holds(multiplier, -2.0, -2.0 - 2.0 * np.log(0.5) - 0.01, 1.0)


def test_conditions_of_what_was_eliminated_are_said():
    y = cp.Variable(2)
    assert Multiplier("a", (y,), "nonnegative").conditions() == Multiplier("a", (y,), "psd").conditions() == []
    assert Multiplier("a", (2 * y,), "free").conditions() == []
    turned = Multiplier("a", (1 - y,), "nonnegative")
    (condition,) = turned.conditions()
    y.save_value(np.array([0.5, 1.5]))
    assert condition.violation().tolist() == [0, 0.5]
    M = cp.Variable((2, 2))
    (matrix,) = Multiplier("a", (M + 0 * M,), "psd").conditions()
    M.save_value(np.array([[1.0, 2.0], [-2.0, 1.0]]))
    assert matrix.violation() <= 1e-9
    M.save_value(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert matrix.violation() == pytest.approx(1)


@pytest.mark.parametrize(
    ("said", "label", "name", "value"),
    [
        ({"nonneg": True}, "a: nonneg", "mu_a", [-1.0, -2, -3]),
        ({"pos": True}, "a: pos", "mu_a", [-1.0, -2, -3]),
        ({"nonpos": True}, "a: nonpos", "mu_a", [1.0, 2, 3]),
        ({"neg": True}, "a: neg", "mu_a", [1.0, 2, 3]),
        ({"bounds": [0.5, None]}, "a: lower bound", "mu_l_a", [-0.5, -1.5, -2.5]),
        ({"bounds": [None, 0.5]}, "a: upper bound", "mu_u_a", [0.5, 1.5, 2.5]),
        ({"bounds": [np.array([-np.inf, 1, 5]), None]}, "a: lower bound", "mu_l_a", [-1.0, 2]),
        ({"bounds": [None, np.array([4.0, np.inf, 1])]}, "a: upper bound", "mu_u_a", [-3.0, 2]),
        ({"bounds": [None, np.array([4.0, 1, 1])]}, "a: upper bound", "mu_u_a", [-3.0, 1, 2]),
    ],
)
def test_attributes_have_multipliers(said, label, name, value):
    a = cp.Variable(3, name="a", **said)
    (found,) = of_attributes(a)
    a.save_value(np.array([1.0, 2.0, 3.0]))
    assert (found.label, found.cone, found.constraint) == (label, "nonnegative", None)
    assert found.parts[0].name() == name
    assert found.parts[0].is_nonneg()
    assert found.parts[0].shape == found.added[0].shape
    assert found.added[0].value.tolist() == value


def test_both_bounds_none_and_matrices():
    both = of_attributes(cp.Variable(2, name="a", bounds=[0, 1]))
    assert [each.label for each in both] == ["a: lower bound", "a: upper bound"]
    assert of_attributes(cp.Variable(2)) == []
    limit = cp.Parameter(2, name="limit")
    (moving,) = of_attributes(cp.Variable(2, name="a", bounds=[limit, None]))
    assert moving.added[0].parameters() == [limit]
    assert moving.parts[0].shape == (2,)
    for said, sign in (("PSD", -1), ("NSD", 1)):
        M = cp.Variable((2, 2), name="M", **{said: True})
        (found,) = of_attributes(M)
        M.save_value(MATRIX)
        assert (found.label, found.cone, found.parts[0].name()) == (f"M: {said}", "psd", "Z_M")
        assert found.added[0].value.tolist() == (sign * MATRIX).tolist()


def test_what_has_no_multiplier_is_refused():
    for said in ("boolean", "integer", "complex", "imag"):
        with pytest.raises(pc.InputError, match=f"a is {said}"):
            of_attributes(cp.Variable(2, name="a", **{said: True}))
    with pytest.raises(pc.InputError, match="a is hermitian"):
        of_attributes(cp.Variable((2, 2), name="a", hermitian=True))
    with pytest.raises(pc.InputError, match="a is integer"):
        of_attributes(cp.Variable(2, name="a", integer=[(0,)]))
    with pytest.raises(pc.InputError, match="no multiplier of PowConeND, label"):
        made(cp.PowConeND(x, t, np.array([0.2, 0.3, 0.5])))
    with pytest.raises(pc.InputError, match="exponent is a number"):
        made(cp.PowCone3D(x[0], x[1], x[2], cp.Parameter(value=0.3)))


def test_the_equation_is_of_entries_that_are_free():
    C = np.arange(9.0).reshape(3, 3)
    for said in ("symmetric", "PSD", "NSD"):
        M = cp.Variable((3, 3), **{said: True})
        assert equation_of(M, [cp.Constant(C)]).value.tolist() == ((C + C.T) / 2).tolist()
    assert equation_of(cp.Variable((3, 3)), [cp.Constant(C), cp.Constant(C)]).value.tolist() == (2 * C).tolist()
    assert np.ravel(equation_of(cp.Variable((3, 3), diag=True), [cp.Constant(C)]).value).tolist() == [0, 4, 8]
    pattern = cp.Variable((3, 3), sparsity=(np.array([0, 2]), np.array([1, 0])))
    assert sorted(equation_of(pattern, [cp.Constant(C)]).value.tolist()) == [1, 6]


def test_a_term_is_made_symmetric_where_it_is_not():
    """Values agree with the symmetric part; terms that are symmetric by their form are left as they are."""
    M = cp.Variable((2, 2), symmetric=True)
    Y, Z, s = cp.Variable((2, 2)), cp.Variable((2, 2), symmetric=True), cp.Variable()
    K, L = np.array([[1.0, 2.0], [2.0, 5.0]]), np.array([[1.0, 3.0], [2.0, 5.0]])
    Y.save_value(np.array([[1.0, 7.0], [2.0, 3.0]]))
    Z.save_value(MATRIX)
    s.save_value(np.array(3.0))
    kept = [Z, -Z, 2 * Z, -cp.multiply(K, Z), cp.multiply(K, cp.promote(s, (2, 2))), s * K]
    for term in kept:
        assert equation_of(M, [term]) is term
    for term in (Y, -Y, 2 * Y, K @ Z, cp.multiply(L, Z), s * L, Z @ L, cp.multiply(Z, Y)):
        found = equation_of(M, [term])
        assert found.value == pytest.approx((term.value + term.value.T) / 2)
        assert found.value == pytest.approx(found.value.T)


def test_the_products_of_a_cone_stand_in_the_lagrangian():
    """Of |x - 1| <= t with (s, z): minus s t minus z'(x - 1)."""
    found = Coefficients()
    multiplier = made(cp.SOC(t, x - 1))
    multiplier.add_to(found)
    multiplier.parts[0].save_value(np.full(multiplier.parts[0].shape, 5.0))
    multiplier.parts[1].save_value(np.array([1.0, 2.0, 3.0]))
    assert np.ravel(found.coefficient(t).value).tolist() == [-5]
    assert found.coefficient(x).value.tolist() == [-1, -2, -3]
    assert found.constant().value == 6
