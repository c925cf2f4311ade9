"""Atoms as rows of the table: the row's function of the row's arguments, in NumPy, is the atom or minus the atom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.special import xlogy

from paretoclf.common.errors import InputError
from paretoclf.solve.duals.construction.atoms import recognised

X = np.array([0.7, 2.5, 0.3])
Z = np.array([1.5, 0.4, 2.0])
M = np.array([[0.5, 2.0, 0.25], [1.5, 0.75, 3.0]])
S = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.25], [0.5, -0.25, 2.0]])


def variable(value: Any, **how: Any) -> cp.Variable:
    """A variable that holds a value."""
    made = cp.Variable(np.shape(value), **how)
    made.value = value
    return made


x, z, m, s, r = variable(X), variable(Z), variable(M), variable(S, symmetric=True), variable(1.25)


def of_slices(function: Callable[[Any], float]) -> Callable[..., Any]:
    """A function of all entries, or of each slice along an axis."""

    def value(args: Any, numbers: Any) -> Any:
        if numbers.get("axis") is None:
            return function(args[0].ravel(order="F"))
        return np.apply_along_axis(function, numbers["axis"], args[0])

    return value


def largest(u: Any, k: float) -> float:
    """Sum of the k largest entries; of the next one the rest of k."""
    u = np.sort(u)[::-1]
    whole = int(k)
    return u[:whole].sum() + ((k - whole) * u[whole] if k > whole else 0.0)


def eigenvalues(args: Any) -> Any:
    return np.linalg.eigvalsh(args[0])


def huber(u: Any, turn: float) -> Any:
    return np.where(np.abs(u) <= turn, u**2, 2 * turn * np.abs(u) - turn**2)


#: Each row as a function of its arguments and numbers.
ROWS: dict[str, Callable[[Any, Any], Any]] = {
    "abs": lambda a, n: np.abs(a[0]),
    "exp": lambda a, n: np.exp(a[0]),
    "logistic": lambda a, n: np.log(1 + np.exp(a[0])),
    "-log": lambda a, n: -np.log(a[0]),
    "-log1p": lambda a, n: -np.log(1 + a[0]),
    "-entr": lambda a, n: xlogy(a[0], a[0]),
    "rel_entr": lambda a, n: xlogy(a[0], a[0] / a[1]),
    "kl_div": lambda a, n: xlogy(a[0], a[0] / a[1]) - a[0] + a[1],
    "pos": lambda a, n: np.where(a[0] > 0, a[0], 0.0),
    "maximum": lambda a, n: np.stack(a).max(axis=0),
    "square": lambda a, n: a[0] ** 2,
    "power even": lambda a, n: a[0] ** n["p"],
    "power above 1": lambda a, n: a[0] ** n["p"],
    "-power below 1": lambda a, n: -(a[0] ** n["p"]),
    "power below 0": lambda a, n: a[0] ** n["p"],
    "huber": lambda a, n: huber(a[0], n["M"] if isinstance(n["M"], float) else n["M"].value),
    "norm1": of_slices(lambda u: np.abs(u).sum()),
    "norm_inf": of_slices(lambda u: np.abs(u).max()),
    "norm2": of_slices(lambda u: np.sqrt(u @ u)),
    "pnorm": lambda a, n: of_slices(lambda u: (np.abs(u) ** n["p"]).sum() ** (1 / n["p"]))(a, n),
    "-pnorm below 1": lambda a, n: of_slices(lambda u: -((u ** n["p"]).sum() ** (1 / n["p"])))(a, n),
    "max": of_slices(np.max),
    "sum_largest": lambda a, n: of_slices(lambda u: largest(u, n["k"]))(a, n),
    "log_sum_exp": of_slices(lambda u: np.log(np.exp(u).sum())),
    "-geo_mean": lambda a, n: of_slices(lambda u: -np.prod(u ** n["g"]))(a, n),
    "sum_squares": of_slices(lambda u: u @ u),
    "quad_over_lin": lambda a, n: (a[0].ravel() @ a[0].ravel()) / a[1],
    "dotsort": lambda a, n: np.sort(a[0].ravel()) @ np.sort(_array(n["c"])),
    "quad_form": lambda a, n: a[0] @ n["P"] @ a[0],
    "lambda_max": lambda a, n: eigenvalues(a)[-1],
    "lambda_sum_largest": lambda a, n: largest(eigenvalues(a), n["k"]),
    "normNuc": lambda a, n: np.linalg.svd(a[0], compute_uv=False).sum(),
    "sigma_max": lambda a, n: np.linalg.svd(a[0], compute_uv=False).max(),
    "-log_det": lambda a, n: -np.log(np.linalg.det(a[0])),
    "tr_inv": lambda a, n: np.trace(np.linalg.inv(a[0])),
    "matrix_frac": lambda a, n: np.trace(np.atleast_2d(a[0].T @ np.linalg.inv(a[1]) @ a[0])),
    "cummax": lambda a, n: np.maximum.accumulate(a[0], axis=0),
}


def _array(given: Any) -> Any:
    return np.asarray(given.value if hasattr(given, "value") else given)


lam = cp.Parameter(nonneg=True, value=0.8)
weights = cp.Parameter(3, value=[0.5, 2.0, 1.0])

#: Atoms, each with its row and whether the row is that of minus the atom.
CASES: dict[str, tuple[Any, str, bool]] = {
    "abs": (cp.abs(x - 1), "abs", False),
    "exp": (cp.exp(x), "exp", False),
    "logistic": (cp.logistic(m), "logistic", False),
    "log": (cp.log(x), "-log", True),
    "log1p": (cp.log1p(x), "-log1p", True),
    "entropy": (cp.entr(x), "-entr", True),
    "relative entropy": (cp.rel_entr(x, z), "rel_entr", False),
    "relative entropy to a number": (cp.rel_entr(x, r), "rel_entr", False),
    "Kullback-Leibler": (cp.kl_div(x, z), "kl_div", False),
    "positive part": (cp.pos(x - 1), "pos", False),
    "negative part": (cp.neg(x - 1).args[0], "pos", True),
    "0 first": (cp.maximum(0, x - 1), "pos", False),
    "a number beside 0": (cp.maximum(r - 2, np.zeros(3)), "pos", False),
    "minimum with 0": (cp.minimum(x - 1, 0), "pos", True),
    "maximum": (cp.maximum(x, z), "maximum", False),
    "maximum of three": (cp.maximum(x, z, 1), "maximum", False),
    "a number beside others": (cp.maximum(x, r), "maximum", False),
    "a row beside a matrix": (cp.maximum(m, cp.reshape(x, (1, 3), order="F")), "maximum", False),
    "maximum of numbers": (cp.maximum(x, 0.5), "maximum", False),
    "minimum": (cp.minimum(x, z, 1), "maximum", True),
    "square": (cp.square(x - 1), "square", False),
    "fourth power": (cp.power(x - 1, 4), "power even", False),
    "eighth power": (cp.power(x - 1, 8), "power even", False),
    "sixth power": (cp.power(x, 6), "power above 1", False),
    "cube": (cp.power(x, 3), "power above 1", False),
    "power 1.5": (cp.power(x, 1.5, approx=False), "power above 1", False),
    "root": (cp.sqrt(x), "-power below 1", True),
    "inverse": (cp.inv_pos(x), "power below 0", False),
    "huber": (cp.huber(x - 1, 0.5), "huber", False),
    "huber, a parameter": (cp.huber(x - 1, lam), "huber", False),
    "sum of absolute values": (cp.norm1(m), "norm1", False),
    "of columns": (cp.norm1(m, axis=0), "norm1", False),
    "of rows, as a column": (cp.norm1(m, axis=1, keepdims=True), "norm1", False),
    "of a negative axis": (cp.norm1(m, axis=-1), "norm1", False),
    "of both axes": (cp.max(m, axis=(0, 1)), "max", False),
    "largest absolute value": (cp.norm_inf(x - 1), "norm_inf", False),
    "length": (cp.norm2(x), "norm2", False),
    "of each row": (cp.norm(m, 2, axis=1), "norm2", False),
    "third norm": (cp.pnorm(x, 3), "pnorm", False),
    "below 1": (cp.pnorm(x, 0.5), "-pnorm below 1", True),
    "largest": (cp.max(m, axis=1), "max", False),
    "smallest": (cp.min(m), "max", True),
    "smallest of columns": (cp.min(m, axis=0), "max", True),
    "sum of the largest two": (cp.sum_largest(x, 2), "sum_largest", False),
    "log sum exp": (cp.log_sum_exp(m, axis=1), "log_sum_exp", False),
    "geometric mean": (cp.geo_mean(x), "-geo_mean", True),
    "geometric mean, weights": (cp.geo_mean(x, [1, 2, 1]), "-geo_mean", True),
    "geometric mean, one left out": (cp.geo_mean(x, [1, 0, 3]), "-geo_mean", True),
    "sum of squares": (cp.sum_squares(m), "sum_squares", False),
    "squares over a number": (cp.quad_over_lin(x, 4), "sum_squares", False),
    "squares over two": (cp.quad_over_lin(x, 2), "sum_squares", False),
    "squares over a variable": (cp.quad_over_lin(x, r), "quad_over_lin", False),
    "squares over a parameter": (cp.quad_over_lin(x, lam), "quad_over_lin", False),
    "weights for ranks": (cp.dotsort(x, [1.0, 3.0, 2.0]), "dotsort", False),
    "weights for ranks, a parameter": (cp.dotsort(x, weights), "dotsort", False),
    "quadratic form": (cp.quad_form(x, S), "quad_form", False),
    "concave quadratic form": (cp.quad_form(x, -S), "quad_form", True),
    "eigenvalue": (cp.lambda_max(s), "lambda_max", False),
    "two eigenvalues": (cp.lambda_sum_largest(s, 2), "lambda_sum_largest", False),
    "nuclear norm": (cp.normNuc(m), "normNuc", False),
    "spectral norm": (cp.sigma_max(m), "sigma_max", False),
    "determinant": (cp.log_det(s), "-log_det", True),
    "inverse of a matrix": (cp.tr_inv(s), "tr_inv", False),
    "matrix fraction": (cp.matrix_frac(x, s), "matrix_frac", False),
    "largest so far": (cp.cummax(x), "cummax", False),
    "largest so far, down": (cp.cummax(m, axis=0), "cummax", False),
    "largest so far, across": (cp.cummax(m, axis=1), "cummax", False),
}


@pytest.mark.parametrize("name", CASES)
def test_the_row_of_an_atom_has_its_values(name):
    atom, row, concave = CASES[name]
    found = recognised(atom)
    assert (found.row.name, found.concave) == (row, concave)
    args = [np.asarray(arg.value) for arg in found.args]
    value = np.asarray(ROWS[row](args, found.numbers))
    assert value.shape == found.shape
    value = value.T if found.numbers.get("turned") else value
    expected = np.reshape(atom.value, value.shape, order="F")
    np.testing.assert_allclose(-value if concave else value, expected, rtol=1e-6)


def test_exponents_and_weights_are_those_of_the_user():
    assert recognised(cp.power(x, 3)).numbers["p"] == 3
    assert recognised(cp.pnorm(x, 3, approx=False)).numbers["p"] == 3
    assert recognised(cp.sum_largest(x, 2)).numbers["k"] == 2
    np.testing.assert_allclose(recognised(cp.geo_mean(x, [1, 0, 3])).numbers["g"], [0.25, 0, 0.75])
    np.testing.assert_allclose(recognised(cp.geo_mean(x)).numbers["g"], np.ones(3) / 3)
    assert recognised(cp.huber(x, lam)).numbers["M"] is lam or lam in recognised(cp.huber(x, lam)).numbers["M"].args
    assert recognised(cp.norm1(m, axis=-1)).numbers["axis"] == 1


def test_a_quadratic_form_is_that_of_its_symmetric_part():
    skewed = S + np.array([[0, 1, 0], [-1, 0, 2], [0, -2, 0]])
    P = recognised(cp.quad_form(x, skewed, assume_PSD=True)).numbers["P"]
    np.testing.assert_array_equal(P, S)


deep, stack = cp.Variable((2, 3, 2)), cp.Variable((2, 3, 3))

#: What has no row, with words of the message.
REFUSED = {
    "an atom that nobody has": (lambda: cp.xexp(cp.Variable(nonneg=True)), "no conjugate of xexp, in xexp"),
    "complex numbers": (lambda: cp.abs(cp.Variable(complex=True)), "real arguments only"),
    "slices of three axes": (lambda: cp.norm1(deep, axis=1), r"slices of matrices only, got .* of shape \(2, 3, 2\)"),
    "eigenvalues of a stack": (lambda: cp.lambda_max(stack), "matrices, no stacks of them"),
    "the nuclear norm of a stack": (lambda: cp.normNuc(stack), "matrices, no stacks of them"),
    "the largest so far of a stack": (lambda: cp.cummax(deep, axis=1), "cummax of vectors, and of matrices along one"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_row_is_refused_by_name(name):
    make, words = REFUSED[name]
    with pytest.raises(InputError, match=words):
        recognised(make())
