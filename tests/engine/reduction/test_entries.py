"""Sparse arrays by rows: their parts, rows that are alike, and columns of numbers."""

import numpy as np
import pytest
import scipy.sparse as sp

from paretoclf.engine.reduction.entries import (
    alike,
    entries_of,
    first_alike,
    for_products,
    largest_of_columns,
    placed,
    squared,
    without,
)


@pytest.mark.parametrize("size", range(9))
def test_the_largest_of_each_column(size):
    sizes = np.abs(np.random.default_rng(size).normal(size=(size, 40)))
    np.testing.assert_array_equal(largest_of_columns(sizes.copy()), sizes.max(axis=0, initial=0.0))


def test_columns_of_one_number():
    assert alike(np.array([2.0, 2.0])) == 2.0
    assert alike(np.array([2.0, 3.0])).tolist() == [[2.0], [3.0]]
    assert alike(np.zeros(0)).shape == (0, 1)


def test_rows_that_are_alike():
    rows = [[1, 0, 2], [0, 1, 2], [1, 0, 2], [1, 0, 2 + 2.0**-50], [0, 1, 2], [0, 0, 0], [2, 0, 1]]
    assert first_alike(sp.csr_array(rows)).tolist() == [0, 1, 0, 3, 1, 5, 6]
    assert first_alike(sp.csr_array((0, 3))).tolist() == []


def test_entries_without_zeros():
    parts = np.array([1.0, 2.0, 0.0]), np.array([1, 1, 0]), np.array([0, 3])
    found = entries_of(sp.csr_array(parts, shape=(1, 2)))
    assert (found.nnz, found.toarray().tolist()) == (1, [[0.0, 3.0]])


def test_columns_are_emptied():
    matrix = sp.csr_array([[1.0, 2.0], [3.0, 0.0]])
    assert without(matrix, np.array([True, False])).toarray().tolist() == [[0, 2], [0, 0]]
    assert without(matrix, np.zeros(2, dtype=bool)) is matrix


@pytest.mark.parametrize("as_array", [False, True])
def test_a_part_is_placed(as_array):
    part = np.array([[1.0, 2.0], [3.0, 4.0]])
    found = placed(part if as_array else sp.csr_array(part), np.array([0, 2]), np.array([1, 2]), 3)
    assert found.toarray().tolist() == [[0, 1, 2], [0, 0, 0], [0, 3, 4]]


@pytest.mark.parametrize("inner", [np.eye(3), 2.0 * np.eye(3), np.diag([1.0, 2, 3]), np.ones((3, 3))])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_squares(inner, kind):
    D = np.arange(6.0).reshape(3, 2)
    found = squared(kind(D), sp.csr_array(inner))
    np.testing.assert_allclose(found.toarray() if sp.issparse(found) else found, D.T @ inner @ D)


def test_dense_matrices_are_arrays():
    assert isinstance(for_products(sp.csr_array(np.ones((2, 2)))), np.ndarray)
    assert sp.issparse(for_products(sp.csr_array(np.eye(9))))
