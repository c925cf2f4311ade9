"""A problem in CVXPY as a formulation: what a sweep of it says is what CVXPY says at each value."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc


def lasso():
    rng = np.random.default_rng(0)
    A, y = rng.normal(size=(20, 3)), rng.normal(size=20)
    beta, lam, ridge = (
        cp.Variable(3, name="beta"),
        cp.Parameter(nonneg=True, name="lam"),
        cp.Parameter(nonneg=True, name="ridge"),
    )
    ridge.value = 0.5
    loss = cp.sum_squares(A @ beta - y) / 2 + ridge / 2 * cp.sum_squares(beta) + lam * cp.norm1(beta)
    return cp.Problem(cp.Minimize(loss)), lam, beta


def test_a_sweep_of_a_problem_is_what_cvxpy_says_at_each_value():
    problem, lam, beta = lasso()
    values = [0.1, 1.0, 10.0]
    sweep = pc.sweep(problem, {lam: values}, progress=False)
    assert sweep.parameters["lam"].tolist() == values
    for value, solution in zip(values, sweep, strict=True):
        lam.value = value
        assert solution.value == pytest.approx(problem.solve(solver="CLARABEL", tol_gap_rel=1e-12), rel=1e-7)
        np.testing.assert_allclose(solution.numbers["beta"], beta.value, atol=1e-5)
        assert solution.certificate.passes()
    assert pc.sweep(problem, {"lam": values}).values == pytest.approx(sweep.values, rel=1e-9)
    assert pc.sweep(problem, lam=values).values == pytest.approx(sweep.values, rel=1e-9)
    path = pc.trace(problem, {lam: 10.0}, {lam: 0.1})
    assert [path.value(lam=v) for v in values] == pytest.approx(sweep.values, rel=1e-8)


@pytest.mark.parametrize(
    ("grid", "said"),
    [
        ({}, r"^grid must have values of a parameter of the problem, as \{lam: \[1.0, 2.0\]\}$"),
        ({"mu": [1.0]}, r"^grid must be of parameters of the problem, which are ridge, lam, got 'mu'$"),
        ({"lam": [-1.0]}, r"^lam must be a finite nonnegative number, got -1.0 \(value 0 of the sweep\)$"),
    ],
)
def test_what_a_problem_is_not_swept_over(grid, said):
    with pytest.raises(pc.InputError, match=said):
        pc.sweep(lasso()[0], grid)


def test_other_parameters_need_values_and_vectors_are_not_swept():
    x, a, b = cp.Variable(2, name="x"), cp.Parameter(2, name="a"), cp.Parameter(name="b")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - a) + b * cp.sum(x)))
    with pytest.raises(pc.InputError, match=r"^a must have a value, or values to be swept over$"):
        pc.sweep(problem, {b: [1.0, 2.0]})
    with pytest.raises(pc.InputError, match=r"^a must be a number to be swept, got a parameter of shape \(2,\)$"):
        pc.sweep(problem, {a: [1.0, 2.0]})
    b.value = 1.0
    with pytest.raises(
        pc.InputError, match=r"minimise minus the objective, cp.Problem\(cp.Minimize\(-problem.objective.expr\)"
    ):
        pc.sweep(largest := cp.Problem(cp.Maximize(-cp.square(x[0]) + b * x[0])), {b: [1.0]})
    instead = cp.Problem(cp.Minimize(-largest.objective.expr), largest.constraints)
    assert pc.sweep(instead, {b: [1.0, 4.0]}).values == pytest.approx([-0.25, -4.0])


def test_a_table_of_a_problem_has_its_variables_and_no_intercept():
    """min |x - a|^2 + s^2 + c s with a = (1, 2): x = a, s = -c / 2; names that the table has give way."""
    x, s = cp.Variable(2, name="x"), cp.Variable(name="source")
    M, c = cp.Variable((1, 2), name="M"), cp.Parameter(name="c")
    goal = cp.sum_squares(x - [1, 2]) + s**2 + c * s + cp.sum_squares(M - 3)
    sweep = pc.sweep(cp.Problem(cp.Minimize(goal), [x >= 0]), {c: [0.0, 2.0]}, progress=False)
    frame = sweep.to_frame()
    entries = ["x[0]", "x[1]", "variable source", "M[0, 0]", "M[0, 1]"]
    assert [*frame] == ["c", "lower", "upper", "gap", "residual", *entries, "source"]
    np.testing.assert_allclose(frame[entries], [[1, 2, 0, 3, 3], [1, 2, -1, 3, 3]], atol=1e-6)
    assert {*frame["source"]} == {"CLARABEL"}
    variables = sweep[1].variables
    assert [*variables] == ["x", "source", "M"]
    np.testing.assert_allclose(variables["M"], [[3, 3]], atol=1e-6)
    np.testing.assert_allclose(sweep[:1][0].variables["x"], [1, 2], atol=1e-6)


def test_a_table_of_a_problem_with_an_intercept_has_it_once():
    w, b, c = cp.Variable(2, name="w"), cp.Variable(name="b"), cp.Parameter(name="c")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(w - 1) + cp.square(b - c)))
    frame = pc.sweep(problem, {c: [0.0, 2.0]}, progress=False).to_frame()
    assert [*frame] == ["c", "lower", "upper", "gap", "residual", "w[0]", "w[1]", "b", "source"]
    np.testing.assert_allclose(frame["b"], [0, 2], atol=1e-6)


def test_parameters_of_the_user_keep_their_values():
    x, k, a = (
        cp.Variable(2, name="x", nonneg=True),
        cp.Parameter(name="k", value=1.5),
        cp.Parameter(name="a", value=0.7),
    )
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - a)), [cp.sum(x) <= k])
    pc.sweep(problem, {k: [2.0, -1.0, 0.4]}, progress=False)
    assert (k.value, a.value) == (1.5, 0.7)
    stretched = cp.Problem(cp.Minimize(cp.sum_squares(x - a)), [k * cp.sum(x) <= 1])
    pc.sweep(stretched, {k: [2.0, 0.4]}, progress=False)
    assert pc.trace(problem, {k: 0}, {k: 2}).compare(2).worst < 1e-9
    assert (k.value, a.value) == (1.5, 0.7)


def test_booleans_are_refused_and_their_values_are_swept():
    """Before: the solver's error; the cheapest of 3 a + 2 b = 10 units, at most 6 of each, is b = 6."""
    x, k = cp.Variable(2, nonneg=True, name="x"), cp.Parameter(name="k")

    def plan(z):
        return cp.Problem(cp.Minimize(np.array([3.0, 2.0]) @ x), [cp.sum(x) == 10, x <= 6 * z, cp.sum(z) <= k])

    with pytest.raises(pc.InputError, match=r"boolean variable z; .* or give z as an array$"):
        pc.sweep(plan(cp.Variable(2, boolean=True, name="z")), {k: [2.0]})
    assert pc.sweep(plan(np.ones(2)), {k: [2.0, 3.0]}).values == pytest.approx([24.0, 24.0])
    assert pc.trace(plan(np.ones(2)), {k: 2.0}, {k: 3.0}).value(0.5) == pytest.approx(24.0)
