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
    with pytest.raises(pc.InputError, match="minimise minus the objective"):
        pc.sweep(cp.Problem(cp.Maximize(-cp.square(x[0]) + b * x[0])), {b: [1.0]})
