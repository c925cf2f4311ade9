"""Units of residuals: against sums over all entries of P and A, one row and one column at a time."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from paretoclf.common.tolerances import OWN_SIZE, OWN_TERMS
from paretoclf.engine.reduction.of_arrays import line_of
from paretoclf.problem.qp import QP
from paretoclf.proof.programs.row_units import Sizes, Units

SEEDS = pytest.mark.parametrize("seed", range(6))


def random_line(seed):
    """A program of one part, or of two that share neither a row nor an entry of P, with empty rows and columns."""
    rng = np.random.default_rng(seed)
    n, m, equations = 6, 5, 2
    P, A = np.zeros((n, n)), rng.integers(-3, 4, (m, n)) * (rng.random((m, n)) < 0.6)
    factor = rng.normal(size=(n, 2)) * (rng.random((n, 1)) < 0.7)
    P[:4, :4] = factor[:4] @ factor[:4].T
    if seed % 2:
        A[:3, 3:], A[3:, :3], P[:3, 3:], P[3:, :3] = 0, 0, 0, 0
    if seed == 4:
        A[:equations] = 0.0
    A[4] = 0.0  # an empty row
    lower = np.where(np.arange(m) < equations, 1.0, -np.inf)
    line = line_of(QP(P, rng.normal(size=n), A.astype(float), lower, np.ones(m)), {}, {})
    assert (line.equations, np.array_equal(line.A.toarray(), A)) == (equations, True)
    return line, rng


def connected(line):
    """The part of each column and row, by walking from entry to entry."""
    P, A = sp.csc_array(line.P).toarray(), sp.csc_array(line.A).toarray()
    part = list(range(line.n + line.m))
    for _ in part:
        for i in range(line.n):
            for j in [k for k in range(line.n) if P[i, k]] + [line.n + k for k in range(line.m) if A[k, i]]:
                part[i] = part[j] = min(part[i], part[j])
    return part


def expected(line, q, b, x, z, none):
    """Rows, gradient, their least, slacks, shares, largest and squares of one segment, from their definitions."""
    P, A = abs(sp.csc_array(line.P).toarray()), abs(sp.csc_array(line.A).toarray())
    n, m, part = line.n, line.m, connected(line)
    columns, rows = range(n), range(m)

    def largest(values_of_columns, values_of_rows, own):
        together = [values_of_columns[j] for j in columns if part[j] == own]
        return max(together + [values_of_rows[i] for i in rows if part[n + i] == own], default=0.0)

    row_terms = [b[i] + sum(A[i, j] * x[j] for j in columns) for i in rows]
    natural = []
    for j in columns:
        found = [row_terms[i] / A[i, j] for i in range(line.equations) if A[i, j] and P[j].any()]
        natural.append(max(x[j], min(found, default=0.0)))
    curved = [sum(P[j, k] * natural[k] for k in columns) for j in columns]
    terms = [sum(A[i, j] * z[i] for i in rows) + q[j] + sum(P[j, k] * x[k] for k in columns) for j in columns]
    balancing = [(q[j] + curved[j]) / max(A[:, j]) if A[:, j].any() else 0.0 for j in columns]
    most_x = [largest(x, [0.0] * m, part[n + i]) for i in rows]
    most_b = [most_x[i] * sum(A[i]) for i in rows]
    most_q = []
    for j in columns:
        multiplier = largest(balancing, z, part[j])
        most_q.append(largest(x, [0.0] * m, part[j]) * sum(P[j]) + multiplier * sum(A[:, j]))

    def unit(own, share, most):
        return np.array([o + share * u or none for o, u in zip(own, most, strict=True)])

    squares = sum(natural[j] * curved[j] for j in columns)
    largest_terms = np.array(most_b) + b
    return (
        unit(row_terms, OWN_TERMS, most_b),
        unit(terms, OWN_TERMS, most_q),
        OWN_TERMS * np.array(most_b),
        OWN_TERMS * np.array(most_q),
        1.0 / unit(row_terms, OWN_SIZE, most_b),
        1.0 / unit(terms, OWN_SIZE, most_q),
        largest_terms,
        squares,
    )


@SEEDS
def test_units_are_the_terms_of_each_row_and_entry_and_a_share_of_what_they_could_be(seed):
    line, rng = random_line(seed)
    k = 3
    q, b = rng.random((k, line.n)), rng.random((k, line.m))
    x, z = rng.random((k, line.n)) * 10.0 ** rng.integers(-4, 3, line.n), rng.random((k, line.m))
    q[1], x[1], z[1], b[1] = 0.0, 0.0, 0.0, 0.0  # nothing has a size
    found = Units.of(Sizes(line), q, b, x, z, none=7.0)
    names = ("rows", "gradient", "least_rows", "least_gradient", "slacks", "shares", "largest", "squares")
    for segment in range(k):
        wanted = expected(line, q[segment], b[segment], x[segment], z[segment], 7.0)
        for name, values in zip(names, wanted, strict=True):
            np.testing.assert_allclose(getattr(found, name)[segment], values, rtol=1e-12, err_msg=name)
    assert (found.rows[1] == 7.0).all()


@SEEDS
def test_units_at_points_are_those_of_the_largest_of_them(seed):
    line, rng = random_line(seed)
    x, z = rng.normal(size=(2, line.n)), rng.normal(size=(2, line.m))
    at = Units.at(line, np.array([0.0, 0.4]), x, z)
    given = Units.at(line, np.array([0.0, 0.4]), x, z, Sizes(line))
    largest = (np.abs(each).max(axis=0, keepdims=True) for each in (x, z))
    wanted = Units.of(Sizes(line), np.abs(line.q[:1]), np.abs(line.b[:1]), *largest, none=1.0)
    for name in ("rows", "gradient", "least_rows", "least_gradient", "slacks", "shares", "largest", "squares"):
        np.testing.assert_array_equal(getattr(at, name), getattr(wanted, name))
        np.testing.assert_array_equal(getattr(at, name), getattr(given, name))


@SEEDS
def test_a_price_turns_a_multiplier_into_its_largest_share_of_the_gradient(seed):
    line, rng = random_line(seed)
    A, k = abs(sp.csc_array(line.A).toarray()), 2
    data = (rng.random((k, size)) for size in (line.n, line.m, line.n, line.m))
    units = Units.of(Sizes(line), *data, none=1.0)
    asked = rng.random((k, line.m + 2)) < 0.7
    row = np.append(np.arange(line.m), [3, 2])  # soft rows stand there twice
    for which, mask in ((slice(None), asked[:, : line.m]), (row, asked)):
        found = units.prices(mask, which) if isinstance(which, np.ndarray) else units.prices(mask)
        for segment in range(k):
            for place in range(mask.shape[1]):
                entries = A[row[place]] * units.shares[segment]
                wanted = entries.max() if mask[segment, place] else 0.0
                assert found[segment, place] == pytest.approx(wanted, rel=1e-14)
    one = Units.of(Sizes(line), *(rng.random((1, size)) for size in (line.n, line.m, line.n, line.m)), none=1.0)
    several = one.prices(np.ones((3, line.m), dtype=bool))  # one segment's shares for all
    np.testing.assert_array_equal(several, np.repeat(one.prices(np.ones((1, line.m), dtype=bool)), 3, axis=0))
    assert not one.prices(np.zeros((1, line.m), dtype=bool)).any()


@SEEDS
def test_sizes_reach_only_what_is_connected(seed):
    line, rng = random_line(seed)
    sizes, part = Sizes(line), connected(line)
    x, z = rng.random((2, line.n)), rng.random((2, line.m))
    whole = len(set(part)) == 1
    for rows in (None, z):
        of_columns, of_rows = sizes.connected(x, rows)
        given = np.hstack([x, np.zeros_like(z) if rows is None else rows])
        wanted = np.array([[given[s, [p == own for p in part]].max() for own in part] for s in range(2)])
        np.testing.assert_array_equal(np.broadcast_to(of_columns, x.shape), wanted[:, : line.n])
        np.testing.assert_array_equal(np.broadcast_to(of_rows, z.shape), wanted[:, line.n :])
        assert of_columns.shape == ((2, 1) if whole else (2, line.n))


def test_a_program_of_one_part_has_one_largest_number():
    line = line_of(QP(np.eye(2), np.ones(2), [[1.0, 2.0]], [1.0], [1.0]), {}, {})
    sizes = Sizes(line)
    most, same = sizes.connected(np.array([[1.0, 5.0]]), np.array([[7.0]]))
    assert most.tolist() == same.tolist() == [[7.0]]
    assert sizes.connected(np.array([[1.0, 5.0]]))[0].tolist() == [[5.0]]
    assert sizes.balancing.tolist() == [1.0, 0.5]
