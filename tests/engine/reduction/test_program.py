"""Tests of `paretoclf.engine.reduction.program`."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.engine.reduction.points import ProgramPoints
from paretoclf.proof.programs.program_lines import prove_program
from paretoclf.solve.sources.problem_line import program_line
from tests.proof.programs.test_program_lines import judge_line


def dual_of_an_svm(top, n=24):
    """Path of the dual in CVXPY as it is written first, with ``quad_form``, its costs from 1 to top; and its Q."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(n, 2)), np.where(np.arange(n) < n // 2, 1.0, -1.0)
    Q = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 4.5) * np.multiply.outer(y, y)
    a, C = cp.Variable(n, name="a"), cp.Parameter(nonneg=True, name="C")
    loss = 0.5 * cp.quad_form(a, cp.psd_wrap(Q)) - cp.sum(a)
    return pc.trace(cp.Problem(cp.Minimize(loss), [a >= 0, a <= C, y @ a == 0]), {C: 1.0}, {C: top}, progress=False), Q


@pytest.mark.parametrize("top", [1e2, 1e6, 1e8])
@pytest.mark.parametrize("share", [1e-6, 1e-4, 1e-2])
def test_no_other_segment_hides_an_optimum_that_is_too_high(top, share):
    """The point at C = 1 scaled down is feasible, and not optimal: it passed beside values of 1e6 and 1e8."""
    path, Q = dual_of_an_svm(top)
    assert path.proof.passes()
    x = path.points.x.copy()
    x[0] *= 1 - share
    values = [0.5 * each @ Q @ each - each.sum() for each in (path.points.x[0], x[0])]
    proof = prove_program(path.program, path.t, ProgramPoints.known(x, path.points.z, path.points.begin))
    excess = (values[1] - values[0]) / abs(values[0])
    assert excess > 0.5 * share
    assert 0.5 * excess < proof.gap[0] < 2 * excess
    assert proof.failures().tolist() == [0]
    assert proof.gap[1:].max() < 1e-10  # as small as before: the path itself is clear, and has wider bounds


@pytest.mark.parametrize(("point", "bad"), [(0, [0]), (1, [0, 1]), (2, [1]), (3, [2]), (4, [2])])
def test_a_point_is_held_against_the_segments_that_meet_there_and_no_others(point, bad):
    """``min (t - 1/2) x`` on [-1, 1]: it jumps at t = 1/2, and one half of the path is cut in two."""
    x, th = cp.Variable(name="x"), cp.Parameter()
    line = program_line(cp.Problem(cp.Minimize(th * x), [x <= 1, x >= -1]), {th: -0.5}, {th: 0.5})
    t, own = np.array([0.0, 0.25, 0.5, 1.0]), np.array([1.0, 1.0, 1.0, -1.0, -1.0])
    price = np.array([0.5, 0.25, 0.0, 0.0, -0.5])
    z = np.maximum(np.stack([price, -price], axis=1), 0.0)
    segments = [[0, 1], [1, 2], [3, 4]]
    for joined in (
        ProgramPoints.known(own[:, None], z, np.array([0, 1, 3])),
        ProgramPoints.of(own[segments][:, :, None], z[segments]),
    ):
        assert len(joined.x) == 5
        assert prove_program(line, t, joined).passes(0.0)
        joined.x[point] = 9.0
        assert np.flatnonzero(prove_program(line, t, joined).residuals["rows"] > 0.5).tolist() == bad
        spread = judge_line(line, t, *joined.spread())
        assert np.flatnonzero(spread.residuals["rows"] > 0.5).tolist() == bad
