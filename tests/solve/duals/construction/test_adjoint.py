"""Every affine atom turned round: the inner product of its value with a multiplier is that of its argument."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.solve.duals.construction.adjoint import Coefficients

RNG = np.random.default_rng(0)
X, x, s = cp.Variable((3, 2), name="X"), cp.Variable(3, name="x"), cp.Variable(name="s")
S = cp.Variable((3, 3), name="S")
A, B, c = RNG.normal(size=(4, 3)), RNG.normal(size=(2, 5)), RNG.normal(size=3)
P, p = cp.Parameter((4, 3), value=RNG.normal(size=(4, 3))), cp.Parameter(3, value=RNG.normal(size=3))
r = cp.Parameter(value=1.7)

AFFINE = {
    "sum": X + 2 * X - 1,
    "matrix on the left": A @ X + 3,
    "matrix on the right": X @ B,
    "both": A @ X @ B,
    "vector on the left": c @ X,
    "vector on the right": S @ c,
    "vector times vector": c @ x,
    "vector times matrix": x @ RNG.normal(size=(3, 4)),
    "entries": cp.multiply(RNG.normal(size=(3, 2)), X),
    "scalar times array": s * np.ones((2, 3)),
    "quotient": X / 3 + cp.multiply(X, 1 / RNG.normal(size=(3, 2))),
    "reshaped": cp.reshape(X, (2, 3), order="C") + cp.reshape(X, (2, 3), order="F"),
    "transposed": X.T,
    "sum of all": cp.sum(X) + s,
    "sums of columns": cp.sum(X, axis=0),
    "sums of rows, kept": cp.sum(X, axis=1, keepdims=True),
    "one beside the other": cp.hstack([x, 2 * x, s]),
    "columns": cp.hstack([X, S]),
    "rows": cp.vstack([x, c, 2 * x]),
    "blocks": cp.bmat([[S, X], [X.T, np.ones((2, 2))]]),
    "trace": cp.trace(S),
    "trace of a product": cp.trace(RNG.normal(size=(3, 3)) @ S),
    "diagonal of a vector": cp.diag(x),
    "diagonal of a matrix": cp.diag(S),
    "entry": X[1, 1] + x[2],
    "slice": X[::2, :1],
    "places": x[[2, 0, 0]],
    "mask": x[np.array([True, False, True])],
    "spread": X + x[:, None],
    "promoted": X + s,
    "cumulated": cp.cumsum(X, axis=0),
    "differences": cp.diff(x),
    "convolved": cp.convolve(np.array([1.0, 2.0]), x),
    "kron": cp.kron(np.array([[1.0, 2.0]]), X),
    "above the diagonal": cp.upper_tri(S),
    "outer": cp.outer(c, x),
    "vec": cp.vec(X, order="F"),
    "parameter matrix": P @ X,
    "parameter vector": p @ X + p @ x,
    "parameter entries": cp.multiply(p, x) + r * x,
    "parameter number": r * X + r,
    "parameter in a convolution": cp.convolve(p, x),
    "parameter in a kron": cp.kron(P, X),
    "parameter that cumulates": cp.cumsum(cp.multiply(p, x)),
}


@pytest.mark.parametrize("name", AFFINE)
def test_an_affine_atom_is_turned_round(name):
    e = AFFINE[name]
    for _ in range(2):
        for leaf in (X, x, s, S, P, p, r):
            leaf.save_value(RNG.normal(size=leaf.shape))
        m = cp.Variable(e.shape)
        m.value = RNG.normal(size=e.shape)
        found = Coefficients()
        found.add(e, m)
        right = float(found.constant().value)
        for variable in e.variables():
            coefficient = found.coefficient(variable)
            if coefficient is not None:
                assert coefficient.shape == variable.shape
                right += float(np.sum(coefficient.value * variable.value))
        assert right == pytest.approx(float(np.sum(np.reshape(e.value, e.shape) * m.value)), abs=1e-10)


ODD = {
    "a constant objective": cp.Problem(cp.Minimize(0), [x >= 1]),
    "a constant beside": cp.Problem(cp.Minimize(cp.sum_squares(x) + 3.0)),
    "shape (1,)": cp.Problem(cp.Minimize(cp.sum_squares(cp.Variable(1, name="one") - 2) + 1)),
    "shape (1, 1)": cp.Problem(cp.Minimize(cp.sum(cp.abs(cp.Variable((1, 1), name="one") - 2)) + 1)),
    "a variable without a use": cp.Problem(cp.Minimize(cp.sum_squares(x)), [0 * s <= 1]),
    "a weight of 0": cp.Problem(cp.Minimize(0 * cp.norm1(x) + cp.sum_squares(x - 1))),
    "the same atom twice": (lambda n: cp.Problem(cp.Minimize(n + cp.square(n)), [cp.sum(x) == 2]))(cp.norm2(x)),
    "a large scale": cp.Problem(cp.Minimize(1e-6 * cp.sum_squares(x - 1e3) + 1e-3 * cp.norm1(x))),
    "equal rows": cp.Problem(
        cp.Minimize(cp.sum_squares(x)), [cp.sum(x) >= 1, cp.sum(x) >= 1, np.zeros((1, 3)) @ x <= 0]
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_problems_have_equal_duals(name):
    problem = ODD[name]
    made = pc.dual(problem)
    for dual in (made, made.simplified()):
        assert dual.problem.solve("CLARABEL") == pytest.approx(problem.solve("CLARABEL"), rel=1e-6, abs=1e-6)
        assert dual.text()
        assert dual.latex()


def test_an_atom_that_occurs_twice_is_one():
    assert pc.dual(ODD["the same atom twice"]).text().count("|y") == 1
