"""The walk of a tree: with variables at the values of the atoms it has the value of the expression."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.solve.duals.construction.adjoint import Coefficients
from paretoclf.solve.duals.construction.tree import Tree

x, t, S = cp.Variable(3, name="x"), cp.Variable(name="t"), cp.Variable((2, 2), symmetric=True, name="S")
X = cp.Variable((2, 3), name="X")
AT = {x: [1.0, -2.0, 0.5], t: 0.7, S: [[2.0, 0.3], [0.3, 1.0]], X: [[1.0, 2.0, -1.0], [0.5, -3.0, 2.0]]}
F = np.array([[1.0, 2.0, -1.0], [0.0, 1.0, 3.0]])

WALKED = {
    "affine": (F @ x + t, 0),
    "one": (cp.sum_squares(F @ x) + t, 1),
    "nested": (cp.exp(cp.square(t) / 9) + cp.square(cp.norm2(F @ x)), 4),
    "concave": (2 * cp.log(t + 3) - cp.square(t), 2),
    "several arguments": (cp.maximum(x[0], cp.square(t), 2 * t), 2),
    "axis": (cp.norm(X, 2, axis=0), 1),
    "kept dimensions": (cp.max(X, axis=1, keepdims=True), 1),
    "matrix": (cp.lambda_max(S + np.eye(2)), 1),
    "constant inside": (cp.Constant(2.0) + cp.square(cp.Constant(3.0)) + t, 0),
    "row sums": (cp.sum_squares(X) + cp.norm1(X[0]), 2),
}


@pytest.mark.parametrize("name", WALKED)
def test_the_walk_keeps_the_value(name):
    expression, count = WALKED[name]
    for variable, value in AT.items():
        variable.save_value(np.array(value))
    tree = Tree()
    affine = tree.affine(expression)
    assert affine.is_affine()
    assert affine.shape == expression.shape
    assert len(tree.occurrences) == count
    for k, each in enumerate(tree.occurrences, 1):
        assert each.w is None
        assert each.v.name() == f"v_{k}"
        assert all(arg.is_affine() for arg in each.args)
        assert [y.shape for y in each.ys] == [arg.shape for arg in each.args]
        sign = -1 if each.atom.is_atom_concave() and not each.atom.is_atom_convex() else 1
        value = sign * np.asarray(each.atom.value)
        own = value.T if each.numbers.get("turned") else value
        each.v.save_value(own.reshape(each.v.shape, order="F"))
    assert affine.value == pytest.approx(expression.value)
    if name == "affine":
        assert affine is expression


def test_one_object_is_replaced_once_and_two_twice():
    square = cp.square(t)
    tree = Tree("f")
    first = tree.affine(square + cp.exp(square))
    assert [each.v.name() for each in tree.occurrences] == ["v_f1", "v_f2"]
    assert tree.affine(square) is tree.affine(square)
    assert first.is_affine()
    apart = Tree()
    apart.affine(cp.square(t) + cp.square(t))
    assert len(apart.occurrences) == 2


def test_multipliers_are_named_by_number_and_letter():
    tree = Tree()
    tree.affine(cp.square(t) + cp.maximum(t, x[0], 1 - t))
    assert [y.name() for each in tree.occurrences for y in each.ys] == ["y_1", "y_2a", "y_2b", "y_2c"]
    many = Tree()
    many.affine(cp.maximum(*(t + k for k in range(26))))
    assert many.occurrences[0].ys[-1].name() == "y_1z"
    more = Tree()
    more.affine(cp.maximum(*(t + k for k in range(27))))
    assert [y.name() for y in more.occurrences[0].ys[::26]] == ["y_1(1)", "y_1(27)"]


def test_multipliers_of_spectra_are_symmetric_where_their_arguments_are():
    def symmetric(atom):
        tree = Tree()
        tree.affine(atom)
        return [y.attributes["symmetric"] for y in tree.occurrences[0].ys]

    assert symmetric(cp.lambda_max(S)) == [True]
    assert symmetric(cp.normNuc(S)) == [True]
    assert symmetric(cp.normNuc(X)) == [False]
    assert symmetric(cp.sum_squares(S)) == [False]
    assert symmetric(cp.sigma_max(cp.reshape(t, (1, 1), order="F"))) == [False]


def weighed(expression, weight=1.0):
    tree, coefficients = Tree(), Coefficients()
    coefficients.add(tree.affine(expression), cp.Constant(weight))
    return tree.weighed(coefficients)


def test_weights_are_what_the_rest_asks_of_an_atom():
    lam = cp.Parameter(nonneg=True, value=3.0)
    (one,) = weighed(lam * cp.sum(cp.square(x)), 2.0)
    assert one.w.value == pytest.approx([6, 6, 6])
    inner, outer = weighed(5 * cp.exp(2 * cp.square(t)))
    assert outer.w.value == pytest.approx(5)
    outer.ys[0].save_value(np.array(4.0))
    assert inner.w.value == pytest.approx(8)  # the derivative of the argument times its multiplier
    (none,) = weighed(0 * cp.square(t))
    assert none.w.value == 0
    (nothing,) = weighed(cp.sum(cp.multiply(np.zeros(3), cp.square(x))))
    assert nothing.w.shape == (3,)
    assert nothing.w.value.tolist() == [0, 0, 0]
    assert weighed(-2 * cp.log(t))[0].w.value == pytest.approx(2)


def test_an_atom_that_nothing_asks_for_has_weight_0():
    tree = Tree()
    tree.affine(cp.square(t))
    tree.affine(cp.square(x))
    scalar, vector = tree.weighed(Coefficients())
    assert (scalar.w.shape, scalar.w.value) == ((), 0)
    assert vector.w.value.tolist() == [0, 0, 0]


def test_a_negative_weight_is_refused():
    with pytest.raises(pc.InputError, match="has a negative weight"):
        weighed(-cp.square(t))


def test_the_state_of_a_square():
    """The conjugate of w u^2 is y^2 / (4 w); of a weight that may be negative it says that it is not."""
    (one,) = weighed(2 * cp.square(t))
    one.ys[0].save_value(np.array(3.0))
    cost, conditions = one.state()
    assert cost.value == pytest.approx(9 / 8)
    assert not any("v_" in str(condition) for condition in conditions)
    inner, _ = weighed(cp.exp(cp.square(t)))
    _, more = inner.state()
    _, none = weighed(cp.square(t))[0].state()
    assert len(more) == len(none) + 1
    (own,) = inner.w.variables()
    own.save_value(np.full(own.shape, -0.5))
    assert max(np.max(condition.violation()) for condition in more[:1]) == pytest.approx(0.5)


@pytest.mark.parametrize("concave", [False, True])
def test_the_conjugate_of_a_perspective_is_that_of_its_function(concave):
    """Of s f(u / s), f = (u - 1)^2 + u: the largest of y u - w s f(u / s) is 0 where r + w f*(y / w) <= 0."""
    u, s = cp.Variable(name="u"), cp.Variable(name="s", nonneg=True)
    f = cp.square(u - 1) + u
    atom = cp.perspective(-f if concave else f, s)
    best = cp.Problem(cp.Minimize((-atom if concave else atom) + cp.square(u - 3) + cp.square(s - 1)))
    value = best.solve("CLARABEL")
    assert pc.dual(best).problem.solve("CLARABEL") == pytest.approx(value, abs=1e-6)
    (found,) = weighed(-2 * atom if concave else 2 * atom)
    assert [arg.name() for arg in found.args] == ["s", "u"]
    r, y = found.ys
    for slope in (-1.0, 2.0):
        points = np.linspace(-20, 20, 40001)
        conjugate = (slope * points - 2 * ((points - 1) ** 2 + points)).max()
        cost, conditions = found.state()
        problem = cp.Problem(cp.Maximize(r - cost), [*conditions, y == slope])
        assert problem.solve("CLARABEL") == pytest.approx(-conjugate, abs=1e-4)
