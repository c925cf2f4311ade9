"""Tests of `paretoclf.problem.piecewise`: what a path is said to be by labels and few numbers is the path."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paretoclf.engine.engines import ENGINES, walks_of
from paretoclf.engine.general import follow
from paretoclf.problem.operator import Features
from paretoclf.problem.operator.signed import Signed
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.problem.piecewise import Piecewise, changes_of
from tests.engine.test_general import drawn

COMPILED = pytest.mark.skipif("fast" not in ENGINES, reason="installed without a C++ compiler")


def hinges(n=300, features=3, seed=0):
    """Quantile regression, from the first decile to the last: n rows with two soft bounds, few variables."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, features)), rng.normal(size=n)
    none, tau = np.full((2, features), np.inf), np.array([[0.1], [0.9]])
    bounds = np.tile(y, (2, 1))
    below, above = (np.hstack([none, np.broadcast_to(each, (2, n))]) for each in (tau, 1 - tau))
    lower, upper = np.hstack([-none, bounds]), np.hstack([none, bounds])
    P, q = np.zeros((features, features)), np.zeros((2, features))
    return ParametricQP(P, X, q, lower, upper, below, above)


def box(n=25):
    """Multipliers of an SVM without an operator's shortcut: caps move, one equation."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(n, 2)), np.where(np.arange(n) % 2, 1.0, -1.0)
    caps = np.where(y > 0, [[0.2], [1.5]], [[1.5], [0.2]])
    return ParametricQP.box(Signed(Features(X), y), np.ones(n), y[None], caps)


@COMPILED
@pytest.mark.parametrize("large", [False, True])
def test_a_point_is_the_one_that_the_engine_had(large, monkeypatch):
    """Soft and hard bounds, jumps, rows of one kind twice, columns of other sizes: against all numbers of the core."""
    rng, jumps, compared = np.random.default_rng(int(large)), 0, 0
    for _ in range(40):
        problem = drawn(rng, large)
        found = follow(problem, progress=False)
        with monkeypatch.context() as patched:
            for walk in walks_of("fast"):
                patched.setattr(walk, "whole_points", True)
            other = follow(problem, progress=False)
        assert (found.status, found.exchanges, found.item) == (other.status, other.exchanges, other.item)
        few, whole = found.path, other.path
        if few.place is None:
            continue  # it ends where it starts, or doubles did not do
        compared, jumps = compared + 1, jumps + few.count - few.segments - 1
        np.testing.assert_array_equal(few.t, whole.t)
        np.testing.assert_array_equal(few.ends, whole.ends)
        np.testing.assert_array_equal(few.labels(), whole.labels())
        for mine, wanted in zip(few.points(), whole.points(), strict=True):
            np.testing.assert_allclose(mine, wanted, rtol=1e-12, atol=1e-12 * (1 + np.abs(wanted).max(initial=0.0)))
        np.testing.assert_array_equal(few.points()[1] != 0.0, whole.points()[1] != 0.0)  # who leaves has no price
    assert compared > 20
    assert jumps > 5


@COMPILED
@pytest.mark.parametrize("make", [hinges, box])
def test_a_block_of_points_is_a_part_of_all(make):
    """The last point of a block is kept by the labels of a segment beyond it."""
    path = follow(make(), progress=False).path
    x, y = path.points()
    for first in range(0, path.count, 3):
        for last in (first, first + 1, first + 4):
            part = path.points(slice(first, last))
            for mine, wanted in zip(part, (x, y), strict=True):
                np.testing.assert_allclose(mine, wanted[first:last], rtol=1e-13, atol=1e-14)
    assert path.points(slice(-1, None))[0].shape == (1, path.problem.n)


@COMPILED
@pytest.mark.parametrize("make", [hinges, box])
def test_between_two_points_a_path_is_affine(make):
    path = follow(make(), progress=False).path
    x, y = path.spread()
    for t in (0.0, 0.21, float(path.t[3]), 0.87, 1.0):
        j = min(int(np.searchsorted(path.t, t, side="right")) - 1, path.segments - 1)
        share = (t - path.t[j]) / (path.t[j + 1] - path.t[j])
        for mine, ends in zip(path.at(t), (x[j], y[j]), strict=True):
            np.testing.assert_allclose(mine, (1 - share) * ends[0] + share * ends[1], rtol=1e-12, atol=1e-13)


def test_labels_are_those_that_changed_step_by_step():
    labels = np.random.default_rng(0).integers(-2, 3, (50, 6)).astype(np.int8)
    labels[10:20] = labels[10]  # nothing changes
    problem = ParametricQP.hard(np.eye(6), np.zeros((0, 6)), *np.zeros((3, 2, 6)))
    points = np.random.default_rng(1).normal(size=(2, 50, 2, 6))
    path = Piecewise.of(problem, np.arange(51.0), *points, labels)
    np.testing.assert_array_equal(path.labels(), labels)
    for first, last in ((0, 50), (7, 8), (12, 31), (49, 50), (20, 20)):
        np.testing.assert_array_equal(path.labels(first, last), labels[first:last])
    for j in (0, 11, 49):
        np.testing.assert_array_equal(path.labels_at(j), labels[j])
    assert changes_of(labels)[0].max() == 49


def test_segments_share_a_point_unless_the_path_jumps():
    x = np.array([[[0.0], [1.0]], [[1.0], [2.0]], [[5.0], [6.0]]])
    problem = ParametricQP.hard(np.eye(1), np.zeros((0, 1)), *np.zeros((3, 2, 1)))
    path = Piecewise.of(problem, np.arange(4.0), x, 0.0 * x)
    assert path.ends.tolist() == [[0, 1], [1, 2], [3, 4]]
    assert path.at_points.tolist() == [0.0, 1.0, 2.0, 2.0, 3.0]
    np.testing.assert_array_equal(path.spread()[0], x)
    assert [path.at(t)[0].item() for t in (1.5, 2.0, 2.5)] == [1.5, 5.0, 5.5]


@COMPILED
def test_multipliers_that_stationarity_leaves_are_those_of_the_equations():
    """Of a box nothing but the margin set is kept: a sample at a bound has what the gradient says, one inside 0."""
    path = follow(box(), progress=False).path
    assert path.stationary
    problem, labels = path.problem, path.labels()[path._segment][:, : path.problem.n]
    x, y = path.points()
    P = problem.P.whole()
    linear = (1 - path.at_points)[:, None] * problem.q[0] + path.at_points[:, None] * problem.q[1]
    gradient = x @ P + linear - y[:, problem.n :] @ problem.A
    np.testing.assert_allclose(y[:, : problem.n], gradient, atol=1e-12)
    assert (y[:, : problem.n][labels == 0] == 0.0).all()
    at_cap = labels == 1
    caps = (1 - path.at_points)[:, None] * problem.upper[0] + path.at_points[:, None] * problem.upper[1]
    np.testing.assert_allclose(x[at_cap], caps[:, : problem.n][at_cap], rtol=1e-15)
    assert (x[labels == -1] == 0.0).all()


@COMPILED
def test_a_path_is_small():
    """Of quantile regression it holds its variables, and as many multipliers of rows."""
    path = follow(hinges(), progress=False).path
    assert path.segments > 30
    stored = path.t, path.begin, path.first, *path.changes, path.ptr, path.place, path.number
    assert 10 * sum(each.nbytes for each in stored) < sum(each.nbytes for each in path.whole())


@COMPILED
def test_other_units_and_some_of_the_items():
    problem = hinges(n=40)
    path = follow(problem, progress=False).path
    x, y = path.points()
    unit = 2.0 ** np.arange(3)
    stretched = replace(problem, A=problem.A / unit)
    multipliers = np.concatenate([1 / unit, np.ones(40)])
    for mine, wanted in zip(
        path.scaled(stretched, unit, multipliers).points(), (unit * x, multipliers * y), strict=True
    ):
        np.testing.assert_array_equal(mine, wanted)
    kept = np.r_[:3, 3 + np.arange(0, 40, 2)]
    sides = {name: getattr(problem, name)[:, kept] for name in ("lower", "upper", "below", "above")}
    some = path.of_some(replace(problem, A=problem.A[::2], **sides), kept)
    np.testing.assert_array_equal(some.labels(), path.labels()[:, kept])
    for mine, wanted in zip(some.points(), (x, y[:, kept]), strict=True):
        np.testing.assert_array_equal(mine, wanted)


def test_a_path_without_segments_has_no_points():
    problem = hinges(n=5)
    path = Piecewise.nowhere(problem, np.zeros(1))
    assert (path.segments, path.count) == (0, 0)
    assert path.points()[1].shape == (0, 8)
    assert path.labels().shape == (0, 8)
