"""MEMPM: the outer search, its bound, and Proposition 2 of Kim et al. (2006)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import paretoclf as pc
from paretoclf.distributions.gaussian.bounds import weighted_sum
from paretoclf.distributions.gaussian.moments import chebyshev
from tests.oracles.gaussian_pairs import FIXTURE, Pencil, random_pair


def apart(d, seed, factor=3.0):
    """A pair whose means are further apart, so that guarantees are worth something."""
    mu_plus, S_plus, mu_minus, S_minus = random_pair(d, seed, 10.0)
    return factor * mu_plus + factor, S_plus, mu_minus, S_minus


def brute_force(pair, theta):
    """Largest objective over a fine grid of the whole family, from a generalised eigendecomposition."""
    p = Pencil(*pair)
    y = p.c / (1 + np.logspace(-9, 9, 400_001)[:, None] * p.ell)
    t = np.logspace(-9, 9, 400_001)
    u_minus, u_plus = t * np.sqrt((p.ell * y**2).sum(axis=1)), np.sqrt((y**2).sum(axis=1))
    psi = [u**2 / (1 + u**2) for u in (u_minus, u_plus)]
    return (theta * psi[0] + (1 - theta) * psi[1]).max()


def test_a_sweep_searches_at_every_value():
    machine = pc.MEMPM.from_moments(*apart(3, 1))
    thetas = [0.2, 0.5, 0.7]
    swept = pc.sweep(machine, theta=thetas, progress=False)
    np.testing.assert_array_equal(swept.parameters["theta"], thetas)
    np.testing.assert_allclose(-swept.values, [brute_force(apart(3, 1), theta) for theta in thetas], rtol=1e-8)
    assert "3 solutions by search, 3 certified" in repr(swept)
    with pytest.raises(pc.InputError, match=r"^theta must be strictly between 0 and 1, got 1.0 \(value 1 of"):
        pc.sweep(machine, theta=[0.5, 1.0])


@pytest.mark.parametrize(("d", "seed"), [(1, 3), (3, 1), (4, 7)])
def test_the_path_over_all_weights_holds_what_a_fine_grid_finds(d, seed):
    pair = apart(d, seed)
    machine = pc.MEMPM.from_moments(*pair)
    path = pc.trace(machine, theta=(0.15, 0.9), eps=1e-3, progress=False)
    assert path.passes()
    assert not path.passes(path.worst * 0.99)
    for theta in np.random.default_rng(seed).uniform(0.15, 0.9, 5).tolist():
        low, high = path.bounds(theta)
        best = -brute_force(pair, theta)
        assert low - 1e-12 <= best <= high + 1e-8  # the grid is not fine enough for the last digits
        assert high - low <= 1e-3 * abs(high)
        assert path.value(theta) == high
    solution = path.at(0.5)
    assert path.bounds(0.5)[0] <= solution.value <= path.bounds(0.5)[1]
    assert solution.certificate.passes(1e-3)
    assert path.to_frame().columns.tolist() == ["theta", "lower", "upper"]
    assert repr(path).startswith("GuaranteePath(theta 0.15 to 0.9, within 0.001 everywhere, ")


def test_a_line_that_is_left_out_makes_the_band_wider_and_a_lower_chord_is_seen():
    """What stands between the searches comes from all hyperplanes, and the check has teeth."""
    pair = apart(3, 1)
    path = pc.trace(pc.MEMPM.from_moments(*pair), theta=(0.15, 0.9), eps=1e-2, progress=False)
    fewer = replace(path, q=path.q[::3], slopes=path.slopes[::3])
    assert fewer.worst > path.worst
    false = replace(path)
    false.__dict__["most"] = path.most - 0.01
    grid = np.linspace(0.15, 0.9, 6).tolist()
    assert any(-brute_force(pair, theta) < false.bounds(theta)[0] for theta in grid)


def test_a_path_over_weights_takes_nothing_else():
    machine = pc.MEMPM.from_moments(*apart(2, 0))
    for given_to_it, said in (
        ({"theta": (0.2, 1.0)}, "theta must be strictly between 0 and 1"),
        ({"theta": (0.2, 0.2)}, "theta must be a pair with different ends"),
        ({"theta": 0.2}, "theta must be"),
        ({"theta": (0.2, 0.5), "lam": 1.0}, "MEMPM is traced with theta"),
        ({"theta": (0.2, 0.5), "n_jobs": 2}, "n_jobs must be left out for MEMPM"),
    ):
        with pytest.raises(pc.InputError, match=said):
            pc.trace(machine, eps=1e-2, progress=False, **given_to_it)
    path = pc.trace(machine, theta=(0.4, 0.5), eps=1e-2, progress=False)
    with pytest.raises(pc.InputError, match=r"theta must lie between 0.4 and 0.5, got 0.6"):
        path.bounds(0.6)


@settings(max_examples=12)
@given(d=st.integers(1, 6), seed=st.integers(0, 99), theta=st.floats(0.1, 0.9))
def test_proposition_2_every_mempm_solution_is_pareto_optimal_for_gaussians(d, seed, theta):
    """Its slope has a zero duality gap for problem (3) at lam = u_minus / u_plus, and the same threshold."""
    pair = apart(d, seed)
    machine = pc.MEMPM.from_moments(*pair)
    solution = machine.solve(theta)
    found = machine.distances(solution)
    if min(found.u_minus, found.u_plus) < 1e-6:
        assert any("end of the curve" in note for note in solution.notes)
        return
    lam = found.u_minus / found.u_plus
    assert weighted_sum(machine.moments, solution.classifier.w, lam).gap == pytest.approx(0, abs=1e-9)
    gaussian = pc.ParetoGaussian.from_moments(*pair).solve(lam)
    w, g = solution.classifier, gaussian.classifier
    scale = np.linalg.norm(g.w) / np.linalg.norm(w.w)
    np.testing.assert_allclose(w.w * scale, g.w, atol=1e-6 * np.abs(g.w).max())
    assert w.b * scale == pytest.approx(g.b, abs=1e-6 * (1 + abs(g.b)))


@pytest.mark.parametrize("theta", [0.3, 0.5, 0.7])
def test_the_interior_optimum_is_stationary(theta):
    pair = apart(4, seed=1)
    solution = pc.MEMPM.from_moments(*pair).solve(theta)
    w = solution.classifier.w
    u_minus, u_plus = solution.numbers["u_minus"], solution.numbers["u_plus"]
    slope = [2 * u / (1 + u**2) ** 2 for u in (u_minus, u_plus)]
    ratio = np.sqrt(w @ pair[3] @ w) / np.sqrt(w @ pair[1] @ w)
    assert theta * slope[0] == pytest.approx((1 - theta) * slope[1] * ratio, rel=1e-9)


def test_equal_covariances_and_weights_share_the_distance():
    mu_plus, S, mu_minus, _ = apart(3, seed=2)
    solution = pc.MEMPM.from_moments(mu_plus, S, mu_minus, S).solve(0.5)
    reach = np.sqrt((mu_plus - mu_minus) @ np.linalg.solve(S, mu_plus - mu_minus))
    assert solution.numbers["u_plus"] == pytest.approx(reach / 2, rel=1e-7)
    assert solution.numbers["u_minus"] == pytest.approx(reach / 2, rel=1e-7)


def test_an_end_of_the_curve_is_named():
    """At the fixture the means are close: a guarantee for one class only is worth more, and no open problem has it."""
    machine = pc.MEMPM.from_moments(*FIXTURE)
    solution = machine.solve(0.9)
    assert "the mean of the positives lies on the hyperplane" in solution.notes[0]
    assert any(note.startswith("predicting -1 always guarantees 0.9") for note in solution.notes)
    delta = FIXTURE[0]
    r2 = delta @ np.linalg.solve(FIXTURE[3], delta)
    assert -solution.value == pytest.approx(0.9 * r2 / (1 + r2), rel=1e-9)
    assert solution.classifier.decision_function(FIXTURE[0][None])[0] == pytest.approx(0, abs=1e-9)
    other = machine.solve(0.05)
    assert "the mean of the negatives lies on the hyperplane" in other.notes[0]
    r1 = delta @ np.linalg.solve(FIXTURE[1], delta)
    assert -other.value == pytest.approx(0.95 * r1 / (1 + r1), rel=1e-9)


def test_several_local_maxima_are_told_apart():
    """Both ends are local maxima, besides one inside: whichever weight, the search finds the highest."""
    pair = ([4.4, 0.0], np.diag([1.0, 1.0]), [0.0, 0.0], np.diag([1.0, 1.0]))
    values = [brute_force(pair, theta) for theta in (0.05, 0.2, 0.5, 0.8, 0.95)]
    found = [-pc.MEMPM.from_moments(*pair).solve(theta).value for theta in (0.05, 0.2, 0.5, 0.8, 0.95)]
    assert found == pytest.approx(values, abs=1e-8)


def test_few_programs_suffice():
    solution = pc.MEMPM.from_moments(*apart(5, seed=3)).solve(0.5)
    assert int(solution.status.rsplit(", ", 1)[1].split()[0]) <= 30
    assert -solution.dual_value + solution.value < 1e-9


@pytest.mark.parametrize("u", [0.3, 1.0, 2.5])
def test_the_chebyshev_bound_is_a_linear_program(u):
    """Smallest mass on the right side of -u over all distributions on a grid with mean 0 and variance 1."""
    x = np.unique(np.r_[np.linspace(-6, 6, 2401), -u, 1 / u])
    constraints = np.vstack([np.ones_like(x), x, x**2])
    found = linprog((x > -u).astype(float), A_eq=constraints, b_eq=[1.0, 0.0, 1.0], method="highs")
    assert found.fun == pytest.approx(chebyshev(u), abs=1e-9)


def test_a_worst_case_distribution_attains_the_guarantee_of_mpm():
    """Two atoms along the slope, with the moments of the class: no larger rate can be promised."""
    pair = apart(3, seed=5)
    solution = pc.MinimaxProbabilityMachine.from_moments(*pair).solve()
    w, b, kappa = solution.classifier.w, solution.classifier.b, solution.numbers["u_plus"]
    direction = pair[1] @ w / np.sqrt(w @ pair[1] @ w)
    p = 1 / (1 + kappa**2)
    atoms = np.array([pair[0] - kappa * direction, pair[0] + direction / kappa])
    mass = np.array([p, 1 - p])
    np.testing.assert_allclose(mass @ atoms, pair[0], atol=1e-12)
    spread = w @ np.einsum("k,ki,kj->ij", mass, atoms - pair[0], atoms - pair[0]) @ w
    assert spread == pytest.approx(w @ pair[1] @ w)
    scores = atoms @ w + b
    assert scores[0] == pytest.approx(0, abs=1e-9)
    assert scores[1] > 0
    assert solution.numbers["guarantee"] == pytest.approx(mass[1])


def test_the_statement_names_what_is_certified():
    machine = pc.MEMPM.from_moments(*apart(3, seed=1))
    text = machine.statement()
    assert machine._repr_markdown_() == text
    assert set(machine.solve(0.5).certificate.conditions) == set(machine.page.kkt)
    assert "## Primal" in text
    assert text.replace("$$", "").count("$") % 2 == 0
    assert "MEMPM(Biased" in repr(machine)


@pytest.mark.parametrize(
    ("theta", "message"),
    [(0.0, "strictly between 0 and 1"), (1.0, "theta must be"), (-1, "got -1"), ("half", "theta must be a number")],
)
def test_bad_weights_are_refused(theta, message):
    with pytest.raises(pc.InputError, match=message):
        pc.MEMPM.from_moments(*FIXTURE).solve(theta)
