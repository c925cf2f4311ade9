"""Tests of `paretoclf.proof.programs.clear_segments`: the fast answer is that of NumPy, or none at all."""

from __future__ import annotations

from functools import partial

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.tolerances import CERTIFY, PRODUCT_ROUNDING
from paretoclf.engine.reduction.points import ProgramPoints
from paretoclf.proof.maps.program_regions import at_once
from paretoclf.proof.programs import clear_segments, program_lines
from paretoclf.proof.programs.clear_segments import clear_bounds, no_less, smaller
from paretoclf.proof.programs.program_lines import judged, prove_program
from paretoclf.proof.programs.row_units import Sizes
from paretoclf.solve.sources.problem_line import program_line
from tests.oracles.lines import FAMILIES

KINDS = ("lasso", "SVM, costs", "frontier, target", "transport, supply", "Huber")


def falsified(path, rng):
    """Points of a path, with errors of a random size in some entries at one point."""
    x, z = (each.copy() for each in (path.points.x, path.points.z))
    size, point = 10.0 ** rng.uniform(-13, -1), int(rng.integers(len(x)))
    which = (x, z)[int(rng.integers(2))]
    some = rng.random(which.shape[1]) < 0.3
    error = size * rng.normal(size=int(some.sum()))
    which[point, some] += error * (np.abs(which[point, some]) if rng.random() < 0.5 else 1.0)  # or signs change, too
    return ProgramPoints.known(x, z, path.points.begin)


@pytest.mark.parametrize("family", [name for name in FAMILIES if name in KINDS] or list(FAMILIES)[:5])
def test_verdicts_residuals_and_gaps_are_those_of_numpy(family, monkeypatch):
    """On right paths and on falsified ones, the pass over columns is held against the judge that looks row by row."""
    path, rng = pc.trace(*FAMILIES[family]()), np.random.default_rng(0)
    seen = {True: 0, False: 0}
    for _ in range(80):
        points = falsified(path, rng)
        found = prove_program(path.program, path.t, points)
        with monkeypatch.context() as patched:
            patched.setattr(program_lines, "clear_bounds", lambda *_: None)
            patched.setattr(program_lines, "judged", partial(judged, at_once=at_once))
            other = prove_program(path.program, path.t, points)
        assert found.passes() == other.passes()
        seen[found.passes()] += 1
        np.testing.assert_array_equal(found.failures(), other.failures())
        np.testing.assert_allclose(found.gaps, other.gaps, rtol=1e-6, atol=1e-14 * np.abs(other.sizes).max())
        np.testing.assert_allclose(found.sizes, other.sizes, rtol=1e-9)
        for name, wanted in other.residuals.items():
            np.testing.assert_allclose(found.residuals[name], wanted, rtol=1e-6, atol=1e-14, err_msg=name)
    assert min(seen.values()) > 3


def test_what_is_not_clear_is_left_to_each_segment():
    path = pc.trace(*FAMILIES["lasso"]())
    line, at, (x, z) = path.program, path.t[:2], path.points.columns(slice(0, 2))
    assert clear_bounds(line, Sizes(line), at, x, z) is not None
    for factor in (1 + 1e-6, np.nan, np.inf):
        with np.errstate(invalid="ignore", over="ignore"):
            assert clear_bounds(line, Sizes(line), at, factor * x, z) is None
            assert clear_bounds(line, Sizes(line), at, x, factor * z) is None
    assert pytest.approx(1e-8) == clear_segments.CLEAR * 1e-6


def test_a_slack_counts_no_more_than_its_multiplier_where_that_was_asked_for():
    share, price, largest = (
        np.array(each) for each in ([3.0, 3.0, 3.0, 0.5], [2.0, 0.0, 0.0, 1.0], [1.0, 1.0, 0.0, 9.0])
    )
    # 2 of a multiplier; nobody asked for its price; there is none; the slack is the smaller one
    np.testing.assert_array_equal(smaller(share, price, largest), [2.0, 3.0, 0.0, 0.5])


def test_a_size_is_no_less_than_what_is_rounding_of_it():
    size = np.array([1.0, 1e-300, 0.0])
    np.testing.assert_array_equal(no_less(size, 0.0), [1.0, 1e-300, np.finfo(float).tiny])
    least = no_less(size, 1.0)[2]
    assert least == PRODUCT_ROUNDING / CERTIFY
    assert least < 1.0


def test_a_multiplier_of_the_wrong_sign_is_worth_the_terms_of_its_row():
    """Minimise x with 1 <= x <= 2: at 1 the roof has a multiplier of -s, and the floor what stationarity asks for.

    The slack of the roof times s, and s times the terms of its row, which are 1 and 2: the gap is 4 s.
    """
    x, th = cp.Variable(name="x"), cp.Parameter()
    line = program_line(cp.Problem(cp.Minimize(th * x), [x >= 1, x <= 2]), {th: 1.0}, {th: 1.0}, still=True)
    t, one, s = np.array([0.0, 0.4, 1.0]), np.ones((1, 3)), np.array([1e-12, 2e-12, 4e-12])
    found = clear_bounds(line, Sizes(line), t, one, np.stack([1.0 - s, -s]))
    middle = (s[:-1] + s[1:]) / 2
    np.testing.assert_allclose(found.gaps, 4 * np.stack([s[:-1], middle, s[1:]], axis=1), rtol=1e-3)
    np.testing.assert_allclose(found.duals, 1.0 - found.gaps, rtol=1e-15)
    right = clear_bounds(line, Sizes(line), t, one, np.stack([np.ones(3), np.zeros(3)]))
    assert (right.gaps == 0.0).all()
    assert (right.residuals == 0.0).all()
