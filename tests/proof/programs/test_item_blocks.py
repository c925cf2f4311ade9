"""Tests of `paretoclf.proof.programs.item_blocks`: blocks of a path have the numbers that the path has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paretoclf.problem.piecewise import Piecewise
from paretoclf.proof.programs.item_blocks import PathOfItems, at_points
from tests.oracles.item_paths import PROBLEMS, path_of


def values_and_multipliers(block, path):
    """Values of all variables, and multipliers of all items, as a block has them: known, moving, or a response."""
    segments, n = block.segments, path.problem.n
    known = at_points(segments.known, segments.t)
    x, y = known[:n].copy(), np.concatenate([block.response[:n], known[n:]])
    variables = block.variables
    x[variables] = block.x
    y[block.moving] = block.y
    return x.T, y.T


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("step", [1, 3, 1000])
def test_a_block_has_the_numbers_of_the_path(name, step):
    problem = PROBLEMS[name]()
    path = path_of(problem)
    parts = [slice(begin, min(begin + step, path.segments)) for begin in range(0, path.segments, step)]
    A = problem.A.toarray() if hasattr(problem.A, "toarray") else problem.A
    for part, block in zip(parts, PathOfItems(problem, path).blocks(parts), strict=True):
        begin = path.begin[part]
        np.testing.assert_array_equal(block.segments.points.start + block.segments.begin, begin)
        x, y = path.points(block.segments.points)
        own_x, own_y = values_and_multipliers(block, path)
        np.testing.assert_allclose(own_x, x, rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(own_y, y, rtol=1e-9, atol=1e-11 * (1 + np.abs(y).max()))
        t = block.segments.t
        slope = (problem.P @ x.T).T + np.outer(1 - t, problem.q[0]) + np.outer(t, problem.q[1]) - y[:, problem.n :] @ A
        response = np.hstack([slope, x @ A.T]).T
        np.testing.assert_allclose(block.response, response, rtol=1e-9, atol=1e-11 * (1 + np.abs(response).max()))
        variables = block.variables
        product = block.of_moving + at_points(block.of_still[variables], t)
        np.testing.assert_allclose(product, (problem.P @ x.T)[variables], rtol=1e-9, atol=1e-11)


def test_most_of_a_long_path_is_still_on_few_segments():
    problem = PROBLEMS["box, kernel"]()
    path = path_of(problem)
    block = next(PathOfItems(problem, path).blocks([slice(2, 5)]))
    changed = path.labels(2, 6)
    assert 0 < block.moving.size < problem.items / 2
    assert set(np.flatnonzero((changed != changed[0]).any(axis=0))) <= set(block.moving)  # at the last point, too


def test_of_a_path_that_has_all_its_numbers_every_item_is_looked_at():
    problem = PROBLEMS["box, kernel"]()
    path = path_of(problem)
    block = next(PathOfItems(problem, Piecewise.of(problem, path.t, *path.spread())).blocks([slice(0, 2)]))
    assert set(range(problem.items)) == set(block.moving)


def test_without_stationarity_a_variable_has_the_multiplier_that_is_stored():
    problem = PROBLEMS["box, kernel"]()
    path = replace(path_of(problem), stationary=False)
    block = next(PathOfItems(problem, path).blocks([slice(0, 2)]))
    assert set(range(problem.n)) <= set(block.moving)
    np.testing.assert_array_equal(block.y[: problem.n], path.points(block.segments.points)[1][:, : problem.n].T)
    assert (block.y[: problem.n] != block.response[: problem.n]).any()


def test_what_is_constant_is_not_rounded():
    ends = np.array([[0.1, 0.1], [0.1, 0.3], [-np.inf, -np.inf]])
    t = np.array([0.0, 0.3, 0.7, 1.0])
    with np.errstate(invalid="ignore"):
        found = at_points(ends, t)
    np.testing.assert_array_equal(found[0], 0.1)
    np.testing.assert_allclose(found[1], 0.1 + 0.2 * t, rtol=1e-15)
    np.testing.assert_array_equal(found[2], -np.inf)
