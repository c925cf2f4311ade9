"""Polynomials of a program against its data at many t."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.proof.curves.curve_program import CurveProgram
from paretoclf.proof.curves.polynomials import GRID, Polynomials, evaluation
from paretoclf.solve.sources.cone_problem_line import cone_line
from tests.oracles.cone_lines import LINES
from tests.oracles.curve_programs import KINDS, mix, random_program


@pytest.mark.parametrize("kind", KINDS)
def test_slacks_residuals_and_costs_are_those_of_the_data(kind):
    rng = np.random.default_rng(0)
    program, _ = random_program(kind, rng)
    t = (0.25, 0.75 + 3 * GRID)
    x, z = rng.normal(size=(4, program.n)), rng.normal(size=(3, program.m))
    points, multipliers = Polynomials.of(x), Polynomials.of(z)
    for share in (0.0, 0.3, 1.0):
        at = (1 - share) * t[0] + share * t[1]
        P, q, A, b = (mix(each, at) for each in (program.P, program.q, program.A, program.b))
        xs, zs = evaluation(3, [share])[0] @ x, evaluation(2, [share])[0] @ z
        np.testing.assert_allclose(program.slack(t, points).at(share)[0], b - A @ xs, atol=1e-12)
        residual = program.residual(t, points, multipliers).at(share)[0]
        np.testing.assert_allclose(residual, P @ xs + q + A.T @ zs, atol=1e-12)
        smooth = xs @ P @ xs / 2 + q @ xs
        assert program.objective(t, points).at(share)[0] == pytest.approx(smooth, abs=1e-12)
        prices = mix(program.prices, at)
        missed = np.maximum(A @ xs - b, 0.0)
        cost = smooth + (prices[program.soft] * missed[program.soft]).sum()
        assert program.cost(t, points).at(share)[0] >= cost - 1e-12


@pytest.mark.parametrize("name", ["square_root_lasso", "group_lasso", "maximum_entropy"])
def test_compiled_lines_are_read(name):
    line = cone_line(*LINES[name]())
    program = CurveProgram.of(line)
    x = np.random.default_rng(0).normal(size=program.n)
    whole = (0.0, 1.0)
    value = line.sense * program.objective(whole, Polynomials.constant(x)).at(0.5)[0]
    assert value == pytest.approx(line.value(x, 0.5), rel=1e-12)
    assert program.equations.tolist() == list(range(line.equations))
    assert program.A[0] is program.A[1]
