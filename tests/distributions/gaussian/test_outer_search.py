"""Tests of `paretoclf.distributions.gaussian.outer_search`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paretoclf as pc
from paretoclf.distributions.gaussian.outer_search import Node, chord_maximum, search, weighted_guarantee
from tests.formulations.test_mempm import apart, brute_force


@settings(max_examples=12)
@given(
    d=st.integers(1, 6), seed=st.integers(0, 99), theta=st.floats(0.02, 0.98), factor=st.sampled_from([0.3, 1.0, 3.0])
)
def test_mempm_against_the_whole_family(d, seed, theta, factor):
    pair = apart(d, seed, factor)
    machine = pc.MEMPM.from_moments(*pair)
    solution = machine.solve(theta)
    best = brute_force(pair, theta)
    assert -solution.value == pytest.approx(best, abs=1e-6)
    assert -solution.value >= best - 1e-9
    assert -solution.dual_value >= best - 1e-12
    assert solution.certificate.passes(1e-8)
    found = machine.distances(solution)
    assert -solution.value == pytest.approx(weighted_guarantee(theta, found.u_minus, found.u_plus), rel=1e-12)
    same = machine.moments.distances(solution.classifier.w, solution.classifier.b)
    assert (same.u_minus, same.u_plus) == pytest.approx((found.u_minus, found.u_plus), rel=1e-8, abs=1e-8)


@given(theta=st.floats(0.01, 0.99), ends=st.tuples(st.floats(0.1, 10), st.floats(0.1, 10)), bend=st.floats(0.0, 0.95))
def test_the_bound_of_the_search_is_never_below_the_truth(theta, ends, bend):
    """Convex decreasing curves of any bend: the search stops within its tolerance of a dense grid."""
    r2, r1 = ends

    def u(q):
        x = q / r1
        return r2 * (1 - x) * (1 - bend * x) / (1 + bend * x)

    x = np.linspace(0, r1, 20_001)
    y = u(x)
    if (np.diff(y, 2) < -1e-9).any():
        return
    best = (theta * y**2 / (1 + y**2) + (1 - theta) * x**2 / (1 + x**2)).max()
    found = search(theta, lambda q: (float(u(q)), float(u(q))), ends)
    assert found.bound >= best - 1e-12
    assert found.value == pytest.approx(best, abs=1e-6)
    assert found.bound - found.value <= 1e-9


@given(
    theta=st.floats(0.01, 0.99),
    q=st.tuples(st.floats(0, 3), st.floats(0.01, 3)),
    u=st.tuples(st.floats(0, 4), st.floats(0.01, 4)),
)
def test_the_maximum_over_a_chord(theta, q, u):
    left, right = Node(q[0], 0.0, u[0] + u[1]), Node(q[0] + q[1], 0.0, u[0])
    value, at = chord_maximum(theta, left, right)
    x = np.linspace(left.q, right.q, 20_001)
    y = np.interp(x, [left.q, right.q], [left.upper, right.upper])
    grid = (theta * y**2 / (1 + y**2) + (1 - theta) * x**2 / (1 + x**2)).max()
    assert value >= grid - 1e-12
    assert value == pytest.approx(grid, abs=1e-5)
    assert left.q <= at <= right.q
