"""The limit at an extreme asymmetry beside a minimisation of the cumulant generating function, by another method."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.distributions.population import Mixture, Population
from paretoclf.formulations.extreme_asymmetry import ExtremeAsymmetry

MEANS = np.array([[-1.0, 0.0], [0.0, -2.0], [-0.5, 0.5]])
COVARIANCES = [np.eye(2), np.array([[2.0, 0.4], [0.4, 0.5]]), np.diag([0.3, 1.5])]
WEIGHTS = np.array([0.3, 0.5, 0.2])
POINT = np.array([1.0, 0.3])
POSITIVES = Mixture(POINT + np.array([[1.0, 0.5], [-1.0, -0.5]]), [np.eye(2), 2 * np.eye(2)], [0.5, 0.5])
POPULATION = Population(POSITIVES, Mixture(MEANS, COVARIANCES, WEIGHTS))


def cumulant(a):
    """log E exp(a.(x - p)) of the negatives, and the weights of the tilted components."""
    logs = [np.log(w) + a @ (m - POINT) + a @ S @ a / 2 for w, m, S in zip(WEIGHTS, MEANS, COVARIANCES, strict=True)]
    shares = np.exp(logs)
    return np.log(shares.sum()), shares / shares.sum()


BEST = minimize(lambda a: cumulant(a)[0], np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-11, "fatol": 1e-15})


@pytest.mark.parametrize("form", ["primal", "dual"])
@pytest.mark.parametrize("polish", [True, False])
def test_the_value_is_cramers_rate_and_the_weights_are_those_of_the_tilt(form, polish):
    solution = ExtremeAsymmetry(POPULATION).solve(form=form, polish=polish)
    assert solution.value == pytest.approx(-BEST.fun, rel=1e-9)
    np.testing.assert_allclose(solution.numbers["theta"], -BEST.x, atol=1e-6)
    np.testing.assert_allclose(solution.numbers["xi"], cumulant(BEST.x)[1], atol=1e-6)
    assert solution.certificate.passes(1e-10 if polish else 1e-6)
    assert ("polished" in solution.status) == polish


def test_the_tilted_negatives_have_the_mean_of_the_positives():
    theta = ExtremeAsymmetry(POPULATION).solve().numbers["theta"]
    shares = cumulant(-theta)[1]
    means = [m - S @ theta for m, S in zip(MEANS, COVARIANCES, strict=True)]  # each component, tilted by -theta
    np.testing.assert_allclose(shares @ means, POINT, atol=1e-9)


def test_both_programs_have_that_value_themselves():
    made = ExtremeAsymmetry(POPULATION)
    assert made.primal.solve("CLARABEL") == pytest.approx(-BEST.fun, abs=1e-6)
    assert made.dual.solve("CLARABEL") == pytest.approx(BEST.fun, abs=1e-6)
    xi, v = (made.primal_model.variables[name].value for name in ("xi", "v"))
    assert xi.sum() == pytest.approx(1, abs=1e-7)
    for k, S in enumerate(COVARIANCES):  # the half squares are those of the tilt
        assert v[k] @ v[k] / xi[k] == pytest.approx(xi[k] * BEST.x @ S @ BEST.x, rel=1e-3)


def test_the_classifier_goes_through_the_mean_of_the_rare_class_towards_it():
    rule = ExtremeAsymmetry(POPULATION).solve().classifier
    np.testing.assert_allclose(rule.w, BEST.x, atol=1e-6)
    assert rule.decision_function(POINT[None])[0] == pytest.approx(0, abs=1e-12)
    assert (rule.decision_function(MEANS) < 0).all()


def test_at_the_other_end_the_classes_change_their_roles():
    there = ExtremeAsymmetry(POPULATION, end=1)
    back = ExtremeAsymmetry(POPULATION.swapped(), end=0)
    ours, theirs = there.solve(), back.solve()
    assert ours.value == pytest.approx(theirs.value, rel=1e-12)
    np.testing.assert_allclose(ours.classifier.w, -theirs.classifier.w, atol=1e-9)
    mean = WEIGHTS @ MEANS
    assert ours.classifier.decision_function(mean[None])[0] == pytest.approx(0, abs=1e-12)
    assert (ours.classifier.decision_function(POSITIVES.means) > 0).all()
    assert ours.value != pytest.approx(-BEST.fun)


def test_of_one_component_it_is_the_half_square_of_the_distance():
    S, mean = COVARIANCES[1], MEANS[1]
    solution = ExtremeAsymmetry(Population(Mixture(POINT, np.eye(2)), Mixture(mean, S))).solve()
    a = np.linalg.solve(S, POINT - mean)
    assert solution.value == pytest.approx((POINT - mean) @ a / 2, rel=1e-9)
    np.testing.assert_allclose(solution.numbers["a"], a, rtol=1e-9)
    np.testing.assert_allclose(solution.numbers["xi"], [1.0])


def test_components_far_apart_do_not_overflow():
    far = Population(Mixture([60.0], [[1.0]]), Mixture([[-40.0], [0.0]], [[[1.0]], [[0.5]]], [0.9, 0.1]))
    solution = ExtremeAsymmetry(far).solve(form="dual")
    assert solution.certificate.passes(1e-9)
    assert np.isfinite(solution.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("pair",), "population must be a Population, got"),
        ((POPULATION, 2), "end must be 0 or 1, got 2"),
        ((POPULATION, 0.5), "end must be 0 or 1, got 0.5"),
        ((Population(Mixture(POINT, np.eye(2)), Mixture(POINT, 2 * np.eye(2))),), "mean"),
    ],
)
def test_what_has_no_limit_is_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        ExtremeAsymmetry(*arguments)


def test_it_says_which_end_it_is():
    assert repr(ExtremeAsymmetry(POPULATION, 1)).endswith("asymmetry -> 1)")
    assert pc.formulations.ExtremeAsymmetry is ExtremeAsymmetry
