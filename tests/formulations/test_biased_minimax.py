"""The biased minimax machine beside the largest distance that a search over all directions of the plane finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from paretoclf.common.errors import InputError
from paretoclf.formulations.biased_minimax import BiasedMinimaxProbabilityMachine

MU_PLUS, MU_MINUS = np.array([1.5, 0.5]), np.array([-0.5, -1.0])
S_PLUS, S_MINUS = np.array([[1.0, 0.3], [0.3, 0.6]]), np.array([[0.5, -0.2], [-0.2, 1.4]])
DELTA = MU_PLUS - MU_MINUS


def machine(**changes):
    pair = {"mu_plus": MU_PLUS, "Sigma_plus": S_PLUS, "mu_minus": MU_MINUS, "Sigma_minus": S_MINUS} | changes
    return BiasedMinimaxProbabilityMachine.from_moments(**pair)


def of_direction(angle, u_plus):
    """Distance of the negatives' mean from the hyperplane of a direction that is so far from the positives' mean."""
    a = np.array([np.cos(angle), np.sin(angle)])
    return (a @ DELTA - u_plus * np.sqrt(a @ S_PLUS @ a)) / np.sqrt(a @ S_MINUS @ a)


def by_search(u_plus):
    """The largest of all directions, and the direction."""
    grid = np.linspace(0, 2 * np.pi, 2001)
    best = grid[np.argmax([of_direction(angle, u_plus) for angle in grid])]
    near = (best - 0.01, best + 0.01)
    found = minimize_scalar(lambda s: -of_direction(s, u_plus), bounds=near, method="bounded", options={"xatol": 1e-12})
    return -found.fun, np.array([np.cos(found.x), np.sin(found.x)])


@pytest.mark.parametrize("u_plus", [0.0, 0.3, 1.0, 2.2])
@pytest.mark.parametrize("form", ["primal", "dual"])
@pytest.mark.parametrize("polish", [True, False])
def test_the_distance_is_the_largest_of_all_directions(u_plus, form, polish):
    solution = machine().solve(u_plus, form=form, polish=polish)
    best, direction = by_search(u_plus)
    assert -solution.value == pytest.approx(best, rel=1e-9)
    assert solution.numbers["u_minus"] == pytest.approx(best, rel=1e-9)
    w, b = solution.classifier.w, solution.classifier.b
    np.testing.assert_allclose(w / np.linalg.norm(w), direction, atol=1e-5)
    # The hyperplane is as far from both means, in their standard deviations, as it is said to be.
    assert (w @ MU_PLUS + b) / np.sqrt(w @ S_PLUS @ w) == pytest.approx(u_plus, abs=1e-9)
    assert -(w @ MU_MINUS + b) / np.sqrt(w @ S_MINUS @ w) == pytest.approx(best, rel=1e-9)
    assert w @ S_MINUS @ w == pytest.approx(1)
    assert solution.certificate.passes(1e-9 if polish else 1e-5)
    assert ("polished" in solution.status) == (polish and u_plus > 0)


def test_both_programs_have_that_value_themselves():
    made = machine()
    made.parameters["u_plus"].value = 0.8
    best, _ = by_search(0.8)
    assert made.primal.solve("CLARABEL") == pytest.approx(-best, abs=1e-6)
    assert made.dual.solve("CLARABEL") == pytest.approx(best, abs=1e-6)
    assert made.primal.is_dcp(dpp=True)
    assert made.dual.is_dcp(dpp=True)
    (h,) = (v.value for v in made.dual.variables() if v.name() == "h")
    (v,) = (v.value for v in made.dual.variables() if v.name() == "v")
    assert np.linalg.norm(h) == pytest.approx(best, abs=1e-6)
    assert np.linalg.norm(v) == pytest.approx(0.8, abs=1e-6)


def test_positives_that_ask_for_nothing_leave_a_closed_form():
    solution = machine().solve(u_plus=0)
    assert solution.status == solution.source == "closed form"
    a = np.linalg.solve(S_MINUS, DELTA)
    np.testing.assert_allclose(solution.classifier.w, a / np.sqrt(a @ S_MINUS @ a), rtol=1e-12)
    assert machine().solve(u_plus=1e-9).source != "closed form"


def test_the_ends_are_where_one_of_the_means_reaches_the_hyperplane():
    largest_minus, largest_plus = machine().ends
    assert largest_minus == pytest.approx(np.sqrt(DELTA @ np.linalg.solve(S_MINUS, DELTA)))
    assert largest_plus == pytest.approx(np.sqrt(DELTA @ np.linalg.solve(S_PLUS, DELTA)))
    assert machine().solve(largest_plus * (1 - 1e-6)).numbers["u_minus"] == pytest.approx(0, abs=1e-4)
    for u_plus in (largest_plus, 2 * largest_plus):
        with pytest.raises(InputError, match=rf"u_plus must be below r1 = {largest_plus:.6g}, where the negatives'"):
            machine().solve(u_plus)
    with pytest.raises(InputError, match="u_plus must be a finite nonnegative number"):
        machine().solve(-0.1)


def test_with_equal_covariances_the_distances_add_up():
    made = machine(Sigma_minus=S_PLUS)
    for u_plus in (0.2, 1.1):
        assert made.solve(u_plus).numbers["u_minus"] == pytest.approx(made.ends[1] - u_plus, rel=1e-9)


def test_the_ratio_is_that_of_the_combined_covariance():
    """(Sigma_plus + t Sigma_minus) a is a multiple of the difference of the means."""
    made = machine()
    a = made.solve(0.9).classifier.w
    t = made.ratio({"u_plus": 0.9}, a)
    pull = (S_PLUS + t * S_MINUS) @ a
    assert pull[0] / pull[1] == pytest.approx(DELTA[0] / DELTA[1], rel=1e-7)
    assert made.ratio({"u_plus": 0.0}, a) == np.inf


def test_the_slope_of_samples_is_a_sum_of_their_features_through_a_kernel():
    rng = np.random.default_rng(0)
    y = np.repeat([1, -1], 8)
    X = rng.normal(size=(16, 2)) + 0.7 * y[:, None]
    made = BiasedMinimaxProbabilityMachine(X, y, "rbf", reg=0.1)
    for u_plus in (0.0, 0.5):
        solution = made.solve(u_plus)
        scores = solution.classifier.decision_function(X)
        mean = scores[y == 1].mean(), scores[y == -1].mean()
        assert mean[0] > 0 > mean[1] if u_plus else mean[0] == pytest.approx(0, abs=1e-9)
        assert solution.certificate.passes(1e-8)
