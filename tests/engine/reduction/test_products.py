"""Tests of `paretoclf.engine.reduction.products`."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from paretoclf.engine.reduction.products import Products, blocks, plainly


def matrices():
    """A lasso's, an SVM's, one with dense rows and columns, of a signal, an array, and empty ones."""
    rng = np.random.default_rng(0)
    X, one = rng.normal(size=(30, 50)), sp.eye_array
    few = X[:, :3].copy()
    few[::4] = 0.0
    return {
        "lasso": sp.vstack(
            [sp.hstack([X, one(30), sp.csr_array((30, 50))]), sp.hstack([one(50), sp.csr_array((50, 80))])]
        ),
        "svm": sp.vstack([sp.hstack([few, one(30)]), sp.hstack([sp.csr_array((30, 3)), one(30)])]),
        "arrow": sp.vstack([sp.hstack([np.ones((40, 1)), one(40)]), np.ones((1, 41))]),
        "signal": sp.diags_array([np.ones(60), -np.ones(60)], offsets=[0, 1], shape=(60, 61)),
        "array": sp.csr_array(X),
        "zeros": sp.csr_array((4, 7)),
        "no rows": sp.csr_array((0, 3)),
        "no columns": sp.csr_array((3, 0)),
    }


@pytest.mark.parametrize("how", [Products.of, Products.whole])
@pytest.mark.parametrize("name", matrices())
def test_products_are_those_of_the_matrix_its_transposed_its_sizes_and_its_rows(name, how):
    M = sp.csr_array(matrices()[name])
    full, found, rng = M.toarray(), how(M), np.random.default_rng(1)
    some = np.flatnonzero(rng.random(M.shape[0]) < 0.6)
    for own, array in (
        (found, full),
        (found.T, full.T),
        (found.of_sizes, np.abs(full)),
        (found.of_rows(some), full[some]),
        (found.of_rows(some[::-1]), full[some[::-1]]),
        (found.of_rows(some).T.of_sizes, np.abs(full[some].T)),
    ):
        x = rng.normal(size=(array.shape[1], 5))
        assert own.shape == array.shape
        np.testing.assert_allclose(own @ x, array @ x, atol=1e-13)
        np.testing.assert_allclose(own(np.ascontiguousarray(x.T)), (array @ x).T, atol=1e-13)


def test_what_is_dense_is_an_array_and_nothing_else_is():
    found = {name: Products.of(M) for name, M in matrices().items()}
    shapes = {name: [array.shape for _, _, array in each.dense] for name, each in found.items()}
    assert shapes == {
        "lasso": [(30, 50)],
        "svm": [(22, 3)],
        "arrow": [(41, 1), (1, 40)],
        "signal": [],
        "array": [(30, 50)],
        "zeros": [],
        "no rows": [],
        "no columns": [],
    }
    assert [found[name].rest.nnz for name in ("lasso", "svm", "array")] == [80, 60, 0]


def test_a_small_matrix_is_one_array():
    small, large = (sp.eye_array(size, format="csr") for size in (64, 65))
    whole, parted = Products.whole(small), Products.whole(large)
    assert whole.rest is None
    assert [array.shape for _, _, array in whole.dense] == [(64, 64)]
    assert parted.rest.nnz == 65


@pytest.mark.parametrize("form", [sp.csc_array, sp.csr_array])
def test_a_full_matrix_is_one_array_however_large(form):
    M = np.random.default_rng(0).normal(size=(90, 70))
    found = Products.whole(form(M))
    assert found.rest is None
    np.testing.assert_array_equal(found.dense[0][2], M)
    x = np.random.default_rng(1).normal(size=(70, 3))
    np.testing.assert_allclose(found @ x, M @ x, rtol=1e-12)
    M[3, 4] = 0.0
    assert Products.whole(form(M)).rest is not None


@pytest.mark.parametrize("how", [Products.of, Products.whole])
def test_few_entries_connect_what_a_matrix_does(how):
    for M in matrices().values():
        (m, n), (row, column) = M.shape, how(sp.csr_array(M)).connected()
        labels = [
            connected_components(sp.coo_array((np.ones(i.size), (i, m + j)), shape=(m + n, m + n)), directed=False)[1]
            for i, j in ((row, column), np.nonzero(M.toarray()))
        ]
        np.testing.assert_array_equal(*labels)
    assert Products.of(matrices()["lasso"]).connected()[0].size == 80 + 80
    gap = np.ones((40, 40))
    gap[:, :20][20:] = gap[:, 20:][:20] = 0.0
    row, column = Products.of(sp.csr_array(gap)).connected()
    assert set(zip(row.tolist(), column.tolist(), strict=True)) == set(zip(*np.nonzero(gap), strict=True))


def test_places_that_follow_each_other_are_a_slice():
    assert plainly(np.arange(3, 7)) == slice(3, 7)
    assert plainly(np.array([3, 5])).tolist() == [3, 5]
    assert plainly(np.zeros(0, dtype=int)).size == 0


def test_blocks_cover_all_points_in_even_parts():
    parts = blocks(101, 2**14)
    assert np.concatenate([np.arange(101)[part] for part in parts]).tolist() == list(range(101))
    assert {part.stop - part.start for part in parts[:-1]} == {16}
