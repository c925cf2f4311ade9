"""The engine's multipliers as a source of bounds: they alone suffice, against optimal values in fractions."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.checking.engine_points import engine_points
from paretoclf.proof.cones.cone_judge import cone_bounds
from paretoclf.solve.judging.cone_proof import CompiledCone, certify_problem
from paretoclf.solve.models.model import Model
from tests.benchmarks.verdicts import stated
from tests.oracles.exact_quadratic import degenerate, optimum


@pytest.mark.parametrize("seed", range(40))
def test_the_engine_alone_bounds_the_value_of_degenerate_programs(seed):
    """No other solver's point is known: the first one is 0, with multipliers 0."""
    exact = degenerate(seed)
    truth = optimum(exact)
    problem, _ = stated(exact, seed)
    model = Model.of(problem, maximise=True)
    compiled = CompiledCone.of(model, problem.get_problem_data("CLARABEL", solver_opts={}))
    zero = np.zeros(compiled.program.q.size), np.zeros(compiled.program.b.size)
    points = list(engine_points(compiled.program, [zero]))
    if truth.status != "optimal":
        assert not points
        return
    (x, z), *_ = points
    found = cone_bounds(compiled.program, np.zeros_like(x), np.zeros_like(z), points, 1e-12)
    value = model.sense * (float(truth.value) if problem.objective.NAME == "minimize" else -float(truth.value))
    low, high = found.lower + compiled.offset, found.upper + compiled.offset
    unit = max(1.0, abs(value))
    assert low <= value + 1e-15 * unit
    assert value <= high + 1e-15 * unit
    assert high - low < 1e-9 * unit


def test_verify_asks_the_engine_where_the_others_leave_a_gap():
    """A spoilt value on a problem whose own multipliers are lost: certify_problem says so with points that it is given.

    Asked are the points only as long as the bounds are apart.
    """
    x = cp.Variable(3, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x) + cp.sum(x)), [cp.sum(x) >= 1, x <= 5])
    problem.solve("CLARABEL")
    asked = []

    def spy(program, guesses):
        asked.append(program)
        yield from engine_points(program, guesses)

    assert certify_problem(problem, 1e-6, spy).status == "optimal"
    assert asked == []  # a generator is made, and nothing of it was needed
    assert certify_problem(problem, 1e-17, spy).upper >= 4 / 3 - 1e-12
    assert len(asked) == 1


def test_the_engine_is_not_asked_for_cones_or_large_programs():
    x = cp.Variable(3, name="x")
    for problem in (
        cp.Problem(cp.Minimize(cp.norm(x, 2) + cp.sum(x))),
        cp.Problem(cp.Minimize(cp.sum(cp.exp(x)))),
    ):
        compiled = CompiledCone.of(Model.of(problem), problem.get_problem_data("CLARABEL", solver_opts={}))
        assert list(engine_points(compiled.program)) == []
    wide = cp.Variable(1500, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum(wide)), [wide >= 1])
    compiled = CompiledCone.of(Model.of(problem), problem.get_problem_data("CLARABEL", solver_opts={}))
    assert list(engine_points(compiled.program)) == []
    problem.solve("CLARABEL")
    assert pc.verify(problem, tol=1e-6).status == "optimal"
