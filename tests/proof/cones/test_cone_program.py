"""A cone program as arrays: what it refuses, and what it computes of its matrices once."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.proof.cones.cone_kinds import Cone
from paretoclf.proof.cones.cone_program import ConeProgram, factor

ROWS = [[1.0, 0, 0], [0, 2, 0], [1, 1, 0], [0, 0, 3], [0, 0, 1], [0, -4, 0]]
CONES = [Cone("zero", 1), Cone("nonnegative", 2), Cone("second-order", 2), Cone("nonnegative", 1)]


def made(P=None, q=None, A=None, b=None, cones=None):
    """A program with three variables and six rows, changed in one place."""
    return ConeProgram(
        np.diag([2.0, 0, -1]) if P is None else P,
        np.arange(3.0) if q is None else q,
        ROWS if A is None else A,
        np.arange(6.0) if b is None else b,
        CONES if cones is None else cones,
    )


REFUSED = {
    "P must be finite and of shape (3, 3), got shape (2, 2)": {"P": np.eye(2)},
    "P must be finite and of shape (3, 3), got shape (3, 3)": {"P": np.diag([1.0, np.nan, 1])},
    "A must be finite and of shape (6, 3), got shape (6, 2)": {"A": np.ones((6, 2))},
    "A must be finite and of shape (6, 3), got shape (6, 3)": {"A": np.full((6, 3), np.inf)},
    "P must be symmetric, got entries that differ by 5.0e-01": {"P": [[1.0, 0.5, 0], [0, 1, 0], [0, 0, 1]]},
    "cones must have 6 entries together, got 5": {"cones": CONES[:-1]},
    "q must ": {"q": [0.0, np.nan, 0]},
    "b must ": {"b": np.full(6, np.inf)},
}


@pytest.mark.parametrize("words", REFUSED)
def test_arrays_that_do_not_fit_are_refused(words):
    with pytest.raises(pc.errors.InputError, match=re.escape(words)):
        made(**REFUSED[words])


def test_of_a_matrix_that_is_symmetric_to_rounding_the_upper_triangle_counts():
    P = np.array([[2.0, 1.0, 0], [1.0 + 1e-15, 3.0, 0], [0, 0, 1]])
    assert made(P=P).P.toarray().tolist() == [[2, 1, 0], [1, 3, 0], [0, 0, 1]]


def test_coefficients_0_are_none():
    given = sp.csr_array(np.array(ROWS))
    given.data[0] = 0.0
    assert made(A=given).A.nnz == given.nnz - 1
    assert (given.data == 0).sum() == 1  # the user's own matrix is as it was


def test_values_are_those_of_the_quadratic():
    x = np.array([1.0, 2, 3])
    assert made().value(x) == 0.5 * (2 - 9) + 2 + 6


def test_rows_know_their_cones():
    program = made()
    assert program.kinds.tolist() == ["zero", *["nonnegative"] * 2, *["second-order"] * 2, "nonnegative"]
    groups = program.block_of_row.tolist()
    assert groups[3] == groups[4] == 2
    assert len(set(groups)) == 5
    assert min(groups[k] for k in (0, 1, 2, 5)) >= len(CONES)
    assert [cone.kind for cone in program.grouped] == [cone.kind for cone in CONES]


def test_bounds_are_inequalities_with_one_variable():
    rows, columns, values = made().bounds
    assert (rows.tolist(), columns.tolist(), values.tolist()) == ([1, 5], [1, 1], [2.0, -4.0])


def test_curvature_is_proved_from_below():
    program = made()
    assert (program.curvature <= [2, 0, -1]).all()
    assert program.curvature == pytest.approx([2, 0, -1], abs=1e-8)
    assert program.indefinite == pytest.approx(1, rel=1e-8)
    assert program.indefinite >= 1
    assert made(P=np.eye(3)).indefinite == 0
    assert program.diagonal
    assert not made(P=np.ones((3, 3))).diagonal


def test_terms_of_columns_are_counted():
    assert made().column_length.tolist() == [2 + 1 + 3, 3 + 0 + 3, 2 + 1 + 3]


@pytest.mark.parametrize("known", [False, True])
def test_other_vectors_keep_what_is_known_of_the_matrices(known):
    program = made()
    names = ("kinds", "grouped", "block_of_row", "bounds", "half_spaces", "curvature", "diagonal", "column_length")
    kept = {name: getattr(program, name) for name in names} if known else {}
    other = program.moved(np.ones(3), np.zeros(6))
    assert (other.q.tolist(), other.b.tolist()) == ([1, 1, 1], [0] * 6)
    assert (other.P != program.P).nnz == (other.A != program.A).nnz == 0
    for name in names:
        assert (name in other.__dict__) == known
        assert not known or getattr(other, name) is kept[name]


def test_a_factor_solves_as_well_as_a_singular_matrix_allows():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(4, 3))
    normal, v = A.T @ A, rng.normal(size=3)
    np.testing.assert_allclose(factor(sp.csr_array(normal))(v), np.linalg.solve(normal, v), rtol=1e-8)
    flat = factor(sp.csr_array(np.diag([4.0, 0.0])))
    assert flat(np.array([8.0, 0.0])) == pytest.approx([2.0, 0.0])
    assert flat(np.array([0.0, 1.0]))[1] == pytest.approx(1 / 4e-13, rel=1e-6)  # 1e-13 of the largest entry
    assert np.isfinite(factor(sp.csr_array((2, 2)))(np.zeros(2))).all()
