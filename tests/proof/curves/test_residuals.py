"""Approximate inverses: exact solutions in fractions are within the bounds, also between two ends."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from paretoclf.proof.curves.polynomials import Polynomials, evaluation
from paretoclf.proof.curves.residuals import ApproximateInverse


def solved_exactly(matrix, right):
    """Solution of a square system in fractions."""
    rows = [[*map(Fraction, row), Fraction(r)] for row, r in zip(matrix.tolist(), right.tolist(), strict=True)]
    for k in range(len(rows)):
        pivot = max(range(k, len(rows)), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(len(rows)):
            if i != k:
                share = rows[i][k] / rows[k][k]
                rows[i] = [a - share * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] / row[k] for k, row in enumerate(rows)]


@pytest.mark.parametrize("size", [0.0, 0.02])
def test_exact_solutions_are_within_the_bounds(size):
    rng = np.random.default_rng(1)
    first = rng.normal(size=(4, 4)) + 3 * np.eye(4)
    last = first + size * rng.normal(size=(4, 4))
    inverse = ApproximateInverse.of(first, last)
    assert inverse.works
    assert inverse.moving == (size > 0)
    right = Polynomials.of(rng.normal(size=(3, 4)))
    bound = inverse.bound(right)
    for share in (0.0, 0.3, 1.0):
        now = (1 - share) * first + share * last
        values = evaluation(2, [share])[0] @ right.value
        exact = solved_exactly(now.T, values)
        assert all(abs(float(v)) <= b * (1 + 1e-12) for v, b in zip(exact, bound, strict=True))
    near = inverse.solved(right)
    assert np.abs(near.value - right.value @ np.linalg.inv(0.5 * (first + last))).max() < 1e-12 + size


def test_what_is_missed_counts():
    """With half of what an inverse misses the bound would be below an exact solution."""
    first, last = np.array([[1.0]]), np.array([[4.0]])
    inverse = ApproximateInverse.of(first, last)
    assert inverse.misses == pytest.approx(0.6)
    bound = inverse.bound(Polynomials.of([[1.0]]))[0]
    assert bound >= 1.0  # the solution at the start
    assert 0.4 * (1 + 0.3 / 0.7) < 1.0


def test_matrices_without_an_inverse_are_refused():
    assert not ApproximateInverse.of(np.array([[1.0, 1.0]]), np.array([[1.0, 1.0]])).works
    assert not ApproximateInverse.of(np.array([[1.0]]), np.array([[-1.0]])).works
    assert not ApproximateInverse.of(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([[1.0, 1.0], [1.0, 1.0]])).works


def test_rows_that_stand_take_the_residual():
    first, last = np.array([[1.0], [1.0]]), np.array([[1.0], [3.0]])
    inverse = ApproximateInverse.of(first, last)
    assert inverse.misses < 1e-6
    assert abs(inverse.matrix[0, 1]) < 1e-6
