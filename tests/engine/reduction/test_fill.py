"""Which columns are worth squaring: beside the entries that products have when they are made."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import lars_path

import paretoclf as pc
from paretoclf.engine.reduction.fill import _DEARER, worth_squaring
from paretoclf.engine.reduction.presolve import reduce
from paretoclf.solve.sources.problem_line import program_line
from tests.oracles.sized_programs import portfolio


def residuals(X, more=None):
    """P and the equations r = X w of squared residuals; ``more`` is what else w costs."""
    k, d = X.shape
    P = sp.block_diag([sp.eye_array(k), sp.csr_array((d, d)) if more is None else more], format="csr")
    return P, sp.csr_array(sp.hstack([sp.eye_array(k), -sp.csr_array(X)])), np.arange(k)


def saved(P, equations, columns):
    """By how much less is read when all go, as products of patterns have it that are made."""
    n = P.shape[0]
    stay = np.setdiff1d(np.arange(n), columns)
    D = (equations[:, stay] != 0).astype(float)
    after = (abs(P[stay][:, stay]) + D.T @ abs(P[columns][:, columns]) @ D).tocsr()
    after.eliminate_zeros()
    before = 2 * equations.nnz + columns.size  # columns cost nothing beside others here
    return _DEARER * before - (after.nnz - P[stay][:, stay].nnz)


@pytest.mark.parametrize("shape", [(40, 8), (8, 40), (8, 80), (8, 97), (8, 120), (3, 400)])
def test_dense_residuals_go_where_their_square_has_fewer_entries(shape):
    case = residuals(np.random.default_rng(0).normal(size=shape))
    assert worth_squaring(*case).tolist() == [saved(*case) > 0] * shape[0]


@pytest.mark.parametrize("seed", range(8))
def test_sparse_residuals_are_counted_as_they_overlap(seed):
    """Rows of one length that hardly meet: their squares add up, and are not all of P."""
    rng = np.random.default_rng(seed)
    length, rows = (3, 30) if seed % 2 else (60, 30)
    X = np.zeros((rows, 4000))
    for row in X:
        row[rng.choice(4000, length, replace=False)] = 1.0
    case = residuals(X)
    goes = worth_squaring(*case)
    assert goes.all() == (saved(*case) > 0)
    assert goes.any() == goes.all()


def test_what_p_has_already_is_not_filled_again():
    X, full = np.ones((2, 100)), np.ones((100, 100))
    assert not worth_squaring(*residuals(X)).any()
    assert worth_squaring(*residuals(X, full)).all()


def test_short_equations_go_beside_long_ones_that_stay():
    X = np.vstack([np.eye(300)[:150], np.ones((2, 300)), np.eye(300)[150:]])
    long = np.array([150, 151])
    assert np.flatnonzero(~worth_squaring(*residuals(X))).tolist() == long.tolist()
    order = np.random.default_rng(0).permutation(302)
    assert (
        np.flatnonzero(~worth_squaring(*residuals(X[order]))).tolist() == np.flatnonzero(np.isin(order, long)).tolist()
    )


def test_columns_beside_which_others_cost_pay_for_these_products():
    """A residual times each of 400 other variables: with it 400 rows of products with its equation's entries come."""
    alone = sp.block_diag([sp.csr_array([[500.0]]), sp.csr_array((10, 10)), sp.eye_array(400)], format="csr")
    beside = alone.tolil()
    beside[0, 11:] = beside[11:, 0] = 1.0
    equation = sp.csr_array(np.repeat([1.0, 0.0], [11, 400])[None])
    assert worth_squaring(alone, equation, np.array([0])).all()
    assert not worth_squaring(sp.csr_array(beside), equation, np.array([0])).any()


def wide(kind, n=25, d=1200):
    """A lasso with many more features than samples."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, d)) if kind == "dense" else sp.random_array((n, d), density=0.1, rng=rng, format="csr")
    y = X @ np.repeat([3.0, 0.0], [5, d - 5]) + rng.normal(size=n)
    w, lam = cp.Variable(d, name="w"), cp.Parameter(nonneg=True, name="lam")
    top = float(np.abs(X.T @ y).max())
    return X, y, cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) / 2 + lam * cp.norm1(w))), lam, top


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_the_path_of_a_wide_lasso_is_that_of_lars(kind):
    X, y, problem, lam, top = wide(kind)
    assert reduce(program_line(problem, {lam: top}, {lam: 0.1 * top})).problem.P.nnz == len(y)
    path = pc.trace(problem, {lam: 1.1 * top}, {lam: 0.1 * top}, progress=False)
    X = X if kind == "dense" else X.toarray()
    alphas, _, theirs = lars_path(X, y, alpha_min=0.1 * top / len(y), method="lasso")
    np.testing.assert_allclose(
        [path.parameters(t)["lam"] for t in path.breakpoints[1:-1]], alphas[:-1] * len(y), rtol=1e-9
    )
    for k, alpha in enumerate(alphas):
        np.testing.assert_allclose(path.at(lam=alpha * len(y)).variables["w"], theirs[:, k], atol=1e-9)
    assert path.proof.passes()


def test_the_square_of_a_factor_model_is_never_made():
    problem, start, stop = portfolio(300, 5)
    reduced = reduce(program_line(problem, start, stop)).problem
    assert (reduced.n, reduced.items) == (305, 311)  # assets and factors; what factors are, and the budget
    assert np.count_nonzero(reduced.P) == 305
