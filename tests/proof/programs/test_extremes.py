"""Tests of `paretoclf.proof.programs.extremes`: the compiled pass sees what NumPy sees, and what is no number."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from paretoclf.engine.engines import ENGINES
from paretoclf.proof.programs.extremes import ColumnExtremes, PointProducts, PointSums, RowExtremes, extremes_of
from paretoclf.proof.programs.numpy_extremes import extremes


def in_numpy(t, x, z, made, q, b):
    columns, rows, points = extremes(t, x, z, (made.rows, made.gradient, made.curved, made.half_P), q, b)
    return ColumnExtremes(*columns), RowExtremes(*rows), PointSums(*points)


PASSES = [extremes_of, in_numpy] if "fast" in ENGINES else [in_numpy]


def drawn(seed, points=37):
    """Points of a random program, with its matrices and data."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 12)), int(rng.integers(1, 12))
    P, A = rng.normal(size=(n, n)), rng.normal(size=(m, n))
    P[rng.random(n) < 0.4] = 0.0
    t = np.sort(rng.random(points))
    x, z = rng.normal(size=(n, points)), rng.normal(size=(m, points))
    q, b = rng.normal(size=(2, n)), rng.normal(size=(2, m))
    for ends in (q, b):
        still = rng.random(ends.shape[1]) < 0.5
        ends[1, still] = ends[0, still]
    return t, x, z, (P, A), q, b


def products(x, z, matrices):
    P, A = matrices
    curved = np.flatnonzero(P.any(axis=1))
    return PointProducts(A @ x, P @ x + A.T @ z, curved, np.ascontiguousarray(0.5 * (P @ x)[curved]))


def sums_of(t, x, z, matrices, q, b):
    """Value at each point, and the products of sizes there, from the definition."""
    P, A = matrices
    for k, at in enumerate(t):
        cost, bound = ((1 - at) * each[0] + at * each[1] for each in (q, b))
        slack = np.abs(bound - A @ x[:, k])
        gradient = np.abs(P @ x[:, k] + cost + A.T @ z[:, k])
        value = 0.5 * x[:, k] @ P @ x[:, k] + cost @ x[:, k]
        yield value, slack @ np.abs(z[:, k]) + gradient @ np.abs(x[:, k])


@pytest.mark.parametrize("look", PASSES)
@pytest.mark.parametrize("seed", range(4))
def test_sums_are_those_of_the_definition(seed, look):
    t, x, z, matrices, q, b = drawn(seed)
    columns, rows, points = look(t, x, z, products(x, z, matrices), q, b)
    value, together = np.array(list(sums_of(t, x, z, matrices, q, b))).T
    np.testing.assert_allclose(points.value, value, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(points.products, together, rtol=1e-12)
    np.testing.assert_array_equal(rows.least_multiplier, z.min(axis=1))
    np.testing.assert_array_equal(rows.multiplier, np.abs(z).max(axis=1))
    np.testing.assert_array_equal(columns.least, np.abs(x).min(axis=1))
    np.testing.assert_allclose(points.moved, (q[1] - q[0]) @ x, rtol=1e-12, atol=1e-13)


@pytest.mark.skipif("fast" not in ENGINES, reason="installed without a C++ compiler")
@pytest.mark.parametrize("points", [2, 7, 8, 9, 64])
def test_the_compiled_pass_is_that_of_numpy(points):
    for seed in range(6):
        t, x, z, matrices, q, b = drawn(seed, points)
        mine, other = products(x, z, matrices), products(x, z, matrices)
        for found, wanted in zip(extremes_of(t, x, z, mine, q, b), in_numpy(t, x, z, other, q, b), strict=True):
            for field in fields(found):
                one, two = (getattr(each, field.name) for each in (found, wanted))
                np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-13, err_msg=field.name)
        np.testing.assert_allclose(mine.rows, other.rows, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(mine.gradient, other.gradient, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("look", PASSES)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_in_a_sum(look, bad):
    """The largest of some numbers does not see nan: whoever asks for a verdict asks whether the sums are finite."""
    for seed in range(3):
        t, x, z, matrices, q, b = drawn(seed)
        assert look(t, x, z, products(x, z, matrices), q, b)[2].finite
        for which in range(2):
            for place in range(3):
                spoilt = x.copy(), z.copy()
                spoilt[which][place % len(spoilt[which]), 5 * place] = bad
                with np.errstate(invalid="ignore"):
                    made = products(*spoilt, matrices)
                    assert not look(t, *spoilt, made, q, b)[2].finite
