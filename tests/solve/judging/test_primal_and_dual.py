"""Verdicts of ``certify_problem`` against truths from elsewhere; `tests/benchmarks/verdicts.py` has thousands."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

import paretoclf as pc
from paretoclf.solve.judging import cone_proof
from tests.benchmarks.verdicts import TOL, trial
from tests.oracles.exact_quadratic import degenerate, optimum
from tests.oracles.textbook_problems import TEXTBOOK, convex_regression


@pytest.mark.parametrize("make", TEXTBOOK, ids=lambda make: make.__name__)
def test_textbook_problems_are_proved_from_both_sides(make):
    problem, truth = make()
    problem.solve(solver="CLARABEL")
    proof = pc.verify(problem, tol=TOL)
    rounding = 1e-12 * max(1.0, abs(truth))
    assert proof.status == "optimal", proof.explain()
    assert truth - TOL * max(1.0, abs(truth)) <= proof.lower <= truth + rounding
    assert truth - rounding <= proof.upper <= truth + TOL * max(1.0, abs(truth))


def test_convex_regression_is_no_longer_convicted():
    """Right to nine digits, and called not optimal for a proof that failed."""
    problem, truth = convex_regression(600)
    solver = "HIGHS" if "HIGHS" in cp.installed_solvers() else "CLARABEL"
    problem.solve(solver=solver)
    assert problem.value == pytest.approx(truth, rel=1e-9)
    proof = pc.verify(problem, tol=TOL)
    assert proof.status == "optimal", proof.explain()
    assert proof.lower <= truth * (1 + 1e-12)
    assert proof.upper >= truth * (1 - 1e-12)


@pytest.mark.parametrize("claim", ["infeasible", "unbounded"])
def test_a_claim_that_is_not_proved_leaves_the_point_to_be_judged(monkeypatch, claim):
    """Before: Clarabel calls a problem of Maros and Meszaros unbounded, and right answers of others were undecided."""
    honest = cone_proof._compile

    def claiming(model):
        found = honest(model)
        if isinstance(model.problem.objective.expr, cp.Constant):  # asked which constraints contradict each other
            return found
        return replace(found, status=claim, x=np.zeros_like(found.x), z=np.zeros_like(found.z))

    monkeypatch.setattr(cone_proof, "_compile", claiming)
    problem, truth = TEXTBOOK[9]()
    problem.solve(solver="CLARABEL")
    proof = pc.verify(problem, tol=TOL)
    assert proof.status == "optimal", proof.explain()
    assert proof.lower <= truth <= proof.upper


@pytest.mark.parametrize("seed", range(10))
def test_no_verdict_on_degenerate_problems_is_false(seed):
    """Two solvers, errors in the point and in the multipliers, three ways of writing the problem."""
    rows = trial(seed, ("CLARABEL", "SCS"))
    assert [row for row in rows if row["fault"]] == []
    points = [row for row in rows if row["standing"] and not row["answer"].startswith("multipliers")]
    assert [row for row in points if row["status"] not in ("optimal", "not optimal")] == []


def test_the_exact_oracle_and_highs_agree_on_linear_programs():
    counts = {"optimal": 0, "infeasible": 0, "unbounded": 0}
    for seed in range(600):
        exact = degenerate(seed)
        if exact.F.shape[0]:
            continue
        G, h = (a.astype(float) for a in exact.rows())
        n = exact.q.size
        found = linprog(exact.q.astype(float), A_ub=-G, b_ub=-h, bounds=[(None, None)] * n, options={"presolve": False})
        truth = optimum(exact)
        counts[truth.status] += 1
        assert {0: "optimal", 2: "infeasible", 3: "unbounded"}[found.status] == truth.status, seed
        if truth.status == "optimal":
            assert found.fun == pytest.approx(float(truth.value), abs=1e-7)
    assert min(counts.values()) >= 2
    assert sum(counts.values()) > 200


@pytest.mark.parametrize("sense", [cp.Minimize, cp.Maximize])
def test_a_value_that_is_better_than_possible_is_refuted(sense):
    """Before: undecided. The constraint is violated by half of the tolerance, the value is off by fifty times it."""
    x = cp.Variable(name="x")
    loss = 100 * (x - 1)  # at least 0 where x >= 1
    problem = cp.Problem(sense(loss if sense is cp.Minimize else -loss), [x >= 1])
    problem.solve(solver="CLARABEL")
    assert pc.verify(problem, tol=TOL).status == "optimal"
    x.save_value(1 - 5e-7)
    proof = pc.verify(problem, tol=TOL)
    assert proof.certificate.primal_residual <= TOL
    assert proof.status == "not optimal"
    assert "the value is better than any feasible point's by 5.0e-05" in proof.explain()
    assert "weak duality" not in proof.explain()
    assert proof.certificate.verdict(4e-5) == "not optimal"
    assert proof.certificate.verdict(6e-5) == "optimal"


@pytest.mark.parametrize("seed", range(5))
def test_rounding_of_a_value_at_a_far_point_is_not_held_against_it(seed):
    """Terms of 1e17 that cancel: the value is below 0 by rounding alone, where no value is."""
    rng = np.random.default_rng(seed)
    x, P = cp.Variable(2, name="x"), np.array([[1.0, -3.0], [-3.0, 9.0]])
    problem = cp.Problem(cp.Minimize(cp.quad_form(x, cp.psd_wrap(P))), [x >= -1])
    problem.solve(solver="CLARABEL")
    value = 1.0
    while value >= 0:
        a = 1e8 * (1 + rng.random())
        x.save_value(np.array([3 * a, a]))
        value = problem.objective.value
    assert 0 <= (Fraction(3 * a) - 3 * Fraction(a)) ** 2 < Fraction(1, 10**12)
    proof = pc.verify(problem, tol=TOL)
    assert proof.certificate.shortfall == 0, proof.explain()
    assert proof.status == "undecided"


@pytest.mark.parametrize("seed", range(5))
def test_nor_is_that_of_a_row_that_the_objective_became(seed):
    """The same where CVXPY made a constraint of it: the larger of two sums, of which one is rounded."""
    rng = np.random.default_rng(seed)
    x, weights = cp.Variable(3, name="x"), np.array([0.1, 0.2, -0.3])
    problem = cp.Problem(cp.Minimize(cp.maximum(weights @ x, -x[0] - 1)), [weights @ x >= 0, x >= -1])
    problem.solve(solver="CLARABEL")
    value = 1.0
    while value >= 0:
        x.save_value(1e12 * (1 + rng.random() * np.ones(3)))
        value = problem.objective.value
    assert sum(Fraction(w) * Fraction(v) for w, v in zip(weights, x.value, strict=True)) >= 0  # and so is the maximum
    proof = pc.verify(problem, tol=TOL)
    assert proof.certificate.shortfall == 0, proof.explain()
    assert proof.status == "undecided"
