"""Newton's steps on a line: against closed forms, and against Clarabel at the nodes."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from paretoclf.proof.curves.polynomials import evaluation
from paretoclf.solve.curves.complementarity import labels
from paretoclf.solve.curves.newton import NODES, TO_COEFFICIENTS, Branch, CurvePoint, NewtonLine
from paretoclf.solve.eps.solver import ConeSolver
from paretoclf.solve.sources.cone_problem_line import LineOfCurves
from tests.oracles.curve_lines import LINES


def made(name):
    line = LineOfCurves(*LINES[name]()).line
    return NewtonLine(line), ConeSolver(line, 1e-11)


def label_of(newton, pair):
    return labels(newton.cones, newton.slack(pair), pair.z)


@pytest.mark.parametrize("name", LINES)
def test_solutions_have_no_residual_and_are_those_of_a_solver(name):
    newton, solver = made(name)
    x, z, _ = solver(0.3)
    for label in (None, label_of(newton, CurvePoint(0.3, x, z))):
        newton.steps = 0
        found = newton.solved(0.3, x, z, label)
        assert found is not None
        assert newton.missed(found, label) < 1e-11
        assert newton.steps <= 12
        line = newton.line
        assert line.value(found.x, 0.3) == pytest.approx(line.value(x, 0.3), rel=1e-7)


def test_nodes_are_solved_from_the_nearest_outwards():
    newton, solver = made("elastic_net")
    reference = newton.solved(0.5, *solver(0.5)[:2], None)
    branch = Branch(reference, label_of(newton, reference))
    pairs = newton.at_nodes(0.5, 1e-3, branch)
    assert np.allclose([pair.t for pair in pairs], 0.5 + 1e-3 * NODES)
    assert max(newton.missed(pair, branch.label) for pair in pairs) < 1e-11
    coefficients = TO_COEFFICIENTS @ np.array([pair.x for pair in pairs])
    middle = newton.solved(0.5 + 0.37e-3, *solver(0.5 + 0.37e-3)[:2], None)
    assert np.abs(evaluation(8, [0.37])[0] @ coefficients - middle.x).max() < 1e-10


def test_what_is_no_number_is_given_up():
    newton, _ = made("square_root_lasso")
    n, m = newton.line.n, newton.line.m
    assert newton.solved(0.5, np.full(n, np.nan), np.zeros(m), None) is None
    start = CurvePoint(0.5, np.full(n, np.inf), np.zeros(m))
    size = len(label_of(newton, CurvePoint(0.5, np.zeros(n), np.zeros(m))))
    assert newton.at_nodes(0.5, 1e-3, Branch(start, np.zeros(size, dtype=bool))) is None


def test_columns_that_nothing_determines_stay_where_they_are():
    """|x| <= 3 has a variable for |x| in CVXPY's form, anywhere between |x| and 3."""
    x, t = cp.Variable(2, name="x"), cp.Parameter(name="t")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 1) + t * x[0]), [cp.abs(x) <= 3])
    line = LineOfCurves(problem, {t: 0}, {t: 1}).line
    newton = NewtonLine(line)
    found = newton.solved(0.5, *ConeSolver(line, 1e-11)(0.5)[:2], None)
    assert line.values(found.x, 0.5)["x"] == pytest.approx([0.75, 1.0], abs=1e-12)
    later = newton.solved(0.75, found.x, found.z, None)
    assert line.values(later.x, 0.75)["x"] == pytest.approx([0.625, 1.0], abs=1e-12)
    assert np.abs(later.x - found.x).max() == pytest.approx(0.125)
