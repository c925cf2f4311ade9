"""The minimax probability machine beside a search over all directions, and distributions that are as bad as it says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import paretoclf as pc
from paretoclf.formulations.minimax_probability import MinimaxProbabilityMachine

MU_PLUS, MU_MINUS = np.array([1.5, 0.5]), np.array([-0.5, -1.0])
S_PLUS, S_MINUS = np.array([[1.0, 0.3], [0.3, 0.6]]), np.array([[0.5, -0.2], [-0.2, 1.4]])
PAIR = (MU_PLUS, S_PLUS, MU_MINUS, S_MINUS)


def deviations(a):
    return np.sqrt(a @ S_PLUS @ a), np.sqrt(a @ S_MINUS @ a)


def by_search():
    """The largest common distance of both means over all directions: Lanckriet et al. (2002), theorem 2."""

    def distance(angle):
        a = np.array([np.cos(angle), np.sin(angle)])
        return a @ (MU_PLUS - MU_MINUS) / sum(deviations(a))

    grid = np.linspace(0, 2 * np.pi, 2001)
    best = grid[np.argmax([distance(angle) for angle in grid])]
    near = (best - 0.01, best + 0.01)
    return -minimize_scalar(lambda s: -distance(s), bounds=near, method="bounded", options={"xatol": 1e-12}).fun


@pytest.mark.parametrize("form", ["primal", "dual"])
@pytest.mark.parametrize("polish", [True, False])
def test_both_classes_have_the_best_common_guarantee(form, polish):
    solution = MinimaxProbabilityMachine.from_moments(*PAIR).solve(form=form, polish=polish)
    kappa = by_search()
    assert solution.value == pytest.approx(1 / kappa, rel=1e-9)
    assert solution.numbers["guarantee"] == pytest.approx(kappa**2 / (1 + kappa**2), rel=1e-9)
    w, b = solution.classifier.w, solution.classifier.b
    plus, minus = deviations(w)
    assert (w @ MU_PLUS + b) / plus == pytest.approx(kappa, rel=1e-9)
    assert -(w @ MU_MINUS + b) / minus == pytest.approx(kappa, rel=1e-9)
    assert solution.certificate.passes(1e-9 if polish else 1e-5)
    assert dict(solution.values) == {}


def test_the_guarantee_is_reached_by_the_worst_distribution():
    """Two points with the moments of a class along the slope: one at the hyperplane, with the rest of the mass."""
    solution = MinimaxProbabilityMachine.from_moments(*PAIR).solve()
    w, b = solution.classifier.w, solution.classifier.b
    rate = solution.numbers["guarantee"]
    for mean, deviation in ((w @ MU_PLUS + b, deviations(w)[0]), (-(w @ MU_MINUS + b), deviations(w)[1])):
        points = np.array([0.0, mean + deviation**2 / mean])
        mass = np.array([1 - rate, rate])
        assert mass @ points == pytest.approx(mean, rel=1e-8)
        assert mass @ (points - mean) ** 2 == pytest.approx(deviation**2, rel=1e-8)


def test_the_guarantee_is_the_smaller_of_both_wherever_a_slope_is_judged():
    machine = MinimaxProbabilityMachine.from_moments(*PAIR)
    other = machine.judge({}, machine.slope_of(machine.family.of_u_plus(0.5)))
    u = min(other.numbers["u_minus"], other.numbers["u_plus"])
    assert other.numbers["guarantee"] == pytest.approx(u**2 / (1 + u**2))
    assert not other.certificate.passes(1e-3)


def test_it_is_the_pareto_optimum_of_equal_weights():
    ours = MinimaxProbabilityMachine.from_moments(*PAIR)
    theirs = pc.ParetoGaussian.from_moments(*PAIR).solve(lam=1.0)
    assert ours.solve().value == pytest.approx(theirs.value, rel=1e-12)
    assert ours.lam({}) == 1.0
    assert dict(ours.parameters) == {}
    assert ours.primal.is_dcp()
    assert ours.primal.solve("CLARABEL") == pytest.approx(theirs.value, abs=1e-6)
    assert ours.dual.solve("CLARABEL") == pytest.approx(-theirs.value, abs=1e-6)


def test_its_page_has_no_parameter_and_the_conditions_that_are_judged():
    machine = MinimaxProbabilityMachine.from_moments(*PAIR)
    said = machine.statement()
    assert said.startswith("# The minimax probability machine\n")
    assert "No parameters." in said
    assert "lambda" not in said.replace("at $\\lambda=1$", "")
    assert "V^*=\\min_{a,s_\\pm}\\ s_++ s_-" in said
    assert r"\|h_-\|\le1" in said.replace("|h_-|", r"\|h_-\|")
    assert machine.page.kkt["negatives: sign"] == r"p_-=1\ge0"
