"""A chain of rules: it says what was done, and is inverted from its end."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from paretoclf.engine.reduction.presolve import RULES, reduce
from paretoclf.engine.reduction.rules.chain import Chain
from paretoclf.engine.reduction.rules.stage import ReductionStage
from paretoclf.solve.sources.problem_line import program_line
from tests.oracles.stages import optimum, stage_of, violation


def test_nothing_to_do():
    stage = stage_of(np.eye(2), [[1, 1]], [0, 0], [1])
    found = Chain.applied(stage, RULES)
    assert found[0] is stage
    assert repr(found[1]) == "nothing to reduce"


def test_it_says_what_each_rule_did():
    x, s, lam = cp.Variable(4, name="x"), cp.Variable(name="s", nonneg=True), cp.Parameter(nonneg=True, name="lam")
    rows = [x[3] == 1, x[0] + x[1] <= 2, -x[0] - x[1] <= 3, x[2] - s == -1]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 1) + lam * cp.norm1(x[:2]) + 2 * s), rows)
    chain = reduce(program_line(problem, {lam: 0.0}, {lam: 1.0})).chain
    assert repr(chain) == (
        "2 epigraph variables made 2 costs, 2 rows made bounds, 1 column fixed, 1 slack made prices, 1 row joined, "
        "2 kinks made soft bounds, 4 columns substituted"
    )


def test_rules_are_inverted_from_the_last_to_the_first():
    done = []

    class Said:
        def __init__(self, name):
            self.invert = lambda _: done.append(name)

    Chain((Said("first"), Said("second"))).invert(None)
    assert done == ["second", "first"]


def test_points_between_any_two_rules_are_optimal():
    """Of the whole chain, rule by rule: the optimum of the last stage is taken back through all others."""
    x, lam = cp.Variable(4, name="x"), cp.Parameter(nonneg=True, name="lam")
    rows = [x[3] == 1, x[0] + x[1] <= 2, -x[0] - x[1] <= 1, x[:2] >= -1]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 1) + lam * cp.norm1(x[:2] + 0.5) + cp.pos(x[2] - x[0])), rows)
    stage = ReductionStage.of(program_line(problem, {lam: 0.5}, {lam: 4.0}))
    stages, done = [stage], []
    for rule in RULES:
        if rule.accepts(stage):
            stage, each = rule.apply(stage)
            stages.append(stage)
            done.append(each)
    assert len(done) > 3
    point = optimum(stages[-1], 0.3)
    for rule, before in zip(reversed(done), reversed(stages[:-1]), strict=True):
        rule.invert(point)
        assert violation(before, point) < 1e-8
