"""ParetoGaussian, its QP, and the minimax probability machines: both forms against references that share no code."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import paretoclf as pc
from paretoclf.formulations import BiasedMinimaxProbabilityMachine, ParetoGaussianQP
from paretoclf.solve.compiled import Compiled
from tests.oracles.gaussian_pairs import FIXTURE, FIXTURE_POINTS, Pencil, random_pair

FORMS = ("dual", "primal")
PROBLEMS = {"d": st.integers(1, 8), "seed": st.integers(0, 99), "form": st.sampled_from(FORMS)}

#: Formulation, parameters (a function of the formulation), the name of a constraint of the primal and of the dual.
CASES = {
    "socp": (pc.ParetoGaussian, lambda f: {"lam": 1.7}),
    "qp": (ParetoGaussianQP, lambda f: {"t": 0.8}),
    "mpm": (pc.MinimaxProbabilityMachine, lambda f: {}),
    "biased": (BiasedMinimaxProbabilityMachine, lambda f: {"u_plus": 0.4 * f.ends[1]}),
}


def same_direction(w, a, tol=1e-8):
    w, a = w / np.linalg.norm(w), a / np.linalg.norm(a)
    np.testing.assert_allclose(w, a, atol=tol)


@given(**PROBLEMS, log_lam=st.floats(-3, 3))
def test_pareto_gaussian_against_the_generalised_eigenproblem(d, seed, form, log_lam):
    pair, lam = random_pair(d, seed), 10.0**log_lam
    solution = pc.ParetoGaussian.from_moments(*pair).solve(lam, form=form)
    assert solution.certificate.passes(1e-10)
    a, (u_minus, u_plus) = Pencil(*pair).at(Pencil(*pair).of_weight(lam))
    assert solution.value == pytest.approx(1 / u_plus, rel=1e-8)
    same_direction(solution.classifier.w, a)
    # The rates of the hyperplane, from the moments as they were given.
    w, b = solution.classifier.w, solution.classifier.b
    assert (w @ pair[0] + b) / np.sqrt(w @ pair[1] @ w) == pytest.approx(u_plus, rel=1e-7)
    assert -(w @ pair[2] + b) / np.sqrt(w @ pair[3] @ w) == pytest.approx(u_minus, rel=1e-7)
    assert u_minus == pytest.approx(lam * u_plus, rel=1e-7)


@given(**PROBLEMS, log_t=st.floats(-3, 3))
def test_the_qp_has_a_closed_form(d, seed, form, log_t):
    pair, t = random_pair(d, seed), 10.0**log_t
    solution = ParetoGaussianQP.from_moments(*pair).solve(t, form=form)
    assert solution.certificate.passes(1e-10)
    delta, M = pair[0] - pair[2], pair[1] + t * pair[3]
    a = np.linalg.solve(M, delta)
    assert solution.value == pytest.approx(1 / (delta @ a), rel=1e-9)
    np.testing.assert_allclose(solution.classifier.w, a / (delta @ a), atol=1e-8 * np.abs(a / (delta @ a)).max())


@given(**PROBLEMS, log_t=st.floats(-2, 2))
def test_the_qp_and_the_cone_program_have_one_solution(d, seed, form, log_t):
    pair, t = random_pair(d, seed), 10.0**log_t
    qp = ParetoGaussianQP.from_moments(*pair).solve(t, form=form)
    w = qp.classifier.w
    lam = t * np.sqrt(w @ pair[3] @ w) / np.sqrt(w @ pair[1] @ w)
    cone = pc.ParetoGaussian.from_moments(*pair).solve(lam, form=form)
    np.testing.assert_allclose(cone.classifier.w, w, atol=1e-8 * np.abs(w).max())
    assert cone.classifier.b == pytest.approx(qp.classifier.b, rel=1e-7, abs=1e-8)
    assert cone.numbers["t"] == pytest.approx(t, rel=1e-8)


@given(**PROBLEMS, share=st.floats(0.01, 0.97))
def test_the_biased_machine_against_the_generalised_eigenproblem(d, seed, form, share):
    pair = random_pair(d, seed)
    machine = BiasedMinimaxProbabilityMachine.from_moments(*pair)
    u_plus = share * machine.ends[1]
    solution = machine.solve(u_plus, form=form)
    assert solution.certificate.passes(1e-9)
    a, (u_minus, _) = Pencil(*pair).at(Pencil(*pair).of_u_plus(u_plus))
    assert -solution.value == pytest.approx(u_minus, rel=1e-6)
    same_direction(solution.classifier.w, a, 1e-6)
    distances = machine.distances(solution)
    assert distances.u_plus == pytest.approx(u_plus, rel=1e-9)


@given(**PROBLEMS)
def test_mpm_is_where_both_distances_are_equal(d, seed, form):
    pair = random_pair(d, seed)
    solution = pc.MinimaxProbabilityMachine.from_moments(*pair).solve(form=form)
    assert solution.certificate.passes(1e-10)
    _, (u_minus, u_plus) = Pencil(*pair).at(Pencil(*pair).of_weight(1.0))
    assert u_minus == pytest.approx(u_plus, rel=1e-9)
    assert solution.numbers["guarantee"] == pytest.approx(u_plus**2 / (1 + u_plus**2), rel=1e-8)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("t", "u_minus", "u_plus", "lam"), FIXTURE_POINTS)
def test_the_fixture(form, t, u_minus, u_plus, lam):
    problem = pc.ParetoGaussian.from_moments(*FIXTURE)
    solution = problem.solve(lam, form=form)
    found = problem.distances(solution)
    assert (found.u_minus, found.u_plus) == pytest.approx((u_minus, u_plus), abs=1e-9)
    assert solution.numbers["t"] == pytest.approx(t, rel=1e-8)
    same = problem.moments.distances(solution.classifier.w, solution.classifier.b)
    assert (same.u_minus, same.u_plus) == pytest.approx((u_minus, u_plus), abs=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_mpm_of_the_fixture(form):
    solution = pc.MinimaxProbabilityMachine.from_moments(*FIXTURE).solve(form=form)
    assert solution.numbers["t"] == pytest.approx(0.8623920962, abs=1e-9)
    assert solution.numbers["u_plus"] == pytest.approx(0.4882405954, abs=1e-10)
    assert solution.numbers["guarantee"] == pytest.approx(0.1924926878, abs=1e-10)


@pytest.mark.parametrize("lam", [0.1, 1.0, 4.0])
def test_two_features_by_looking_at_every_direction(lam):
    pair = random_pair(2, seed=7, condition=10.0)
    angle = np.linspace(0, np.pi, 400_001)
    a = np.array([np.cos(angle), np.sin(angle)])
    a = a / ((pair[0] - pair[2]) @ a)
    value = (
        np.sqrt(np.einsum("ik,ij,jk->k", a, pair[1], a)) + lam * np.sqrt(np.einsum("ik,ij,jk->k", a, pair[3], a))
    ).min()
    assert pc.ParetoGaussian.from_moments(*pair).solve(lam).value == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_a_general_solver_finds_nothing_better(seed):
    pair = random_pair(5, seed)
    delta = pair[0] - pair[2]
    F = np.linalg.svd(delta[None])[2][1:].T

    def objective(u):
        a = delta / (delta @ delta) + F @ u
        return np.sqrt(a @ pair[1] @ a) + 2.0 * np.sqrt(a @ pair[3] @ a)

    best = min(minimize(objective, u, method="BFGS", options={"gtol": 1e-9}).fun for u in np.eye(4))
    assert pc.ParetoGaussian.from_moments(*pair).solve(2.0).value == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("form", FORMS)
def test_dpp_and_no_second_compilation(case, form):
    cls, values = CASES[case]
    problem = cls.from_moments(*random_pair(4, seed=1))
    program = getattr(problem, form)
    assert program.is_dcp(dpp=True)
    assert all(p.size == 1 for p in program.parameters())
    first = values(problem)
    problem.solve(**first, form=form)
    compiled = program._cache.param_prog
    problem.solve(**{name: 0.7 * value for name, value in first.items()}, form=form)
    assert program._cache.param_prog is compiled


@pytest.mark.parametrize("case", ["socp", "biased"])
def test_only_one_vector_moves(case):
    """The parameter is in the objective of the primal and in a right-hand side of the dual: updates in place."""
    cls, values = CASES[case]
    problem = cls.from_moments(*random_pair(4, seed=1))
    moving = [
        Compiled(problem.model(form), problem.parameters, at=values(problem)).moving for form in ("primal", "dual")
    ]
    assert moving == [("q",), ("b",)]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("d", "condition"), [(1, 1.0), (3, 1e2), (10, 1e6), (40, 1e4)])
def test_strong_duality_of_the_programs(case, d, condition):
    cls, values = CASES[case]
    problem = cls.from_moments(*random_pair(d, seed=d, condition=condition))
    for form in FORMS:
        solution = problem.solve(**values(problem), form=form)
    assert problem.primal.value == pytest.approx(-problem.dual.value, rel=1e-8, abs=1e-9)
    assert problem.primal.value == pytest.approx(solution.value, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("form", FORMS)
def test_what_the_solver_says_before_polishing(case, form):
    cls, values = CASES[case]
    problem = cls.from_moments(*random_pair(6, seed=3))
    raw = problem.solve(**values(problem), form=form, polish=False)
    polished = problem.solve(**values(problem), form=form)
    assert abs(raw.certificate.gap) < 1e-9
    assert raw.certificate.residual < 1e-4
    same_direction(raw.classifier.w, polished.classifier.w, 1e-4)
    assert polished.certificate.residual < 1e-12
    assert "polished" not in raw.status


def test_multipliers_of_one_program_are_variables_of_the_other():
    """Signs included: z, the two balls, and the slope itself."""
    pair = random_pair(4, seed=2)
    problem = pc.ParetoGaussian.from_moments(*pair)
    lam = 0.6
    solution = problem.solve(lam)
    w, white = solution.classifier.w, problem.moments.white
    problem.solve(lam, form="primal")
    primal = {c.label: c.dual_value for c in problem.primal.constraints}
    assert primal["normalisation"] == pytest.approx(solution.value, rel=1e-7)
    dual = {c.label: c.dual_value for c in problem.dual.constraints}
    np.testing.assert_allclose(white.slope(dual["balance"]) * white.length, w, atol=1e-5 * np.abs(w).max())
    assert dual["ball of the positives"] == pytest.approx(np.sqrt(w @ pair[1] @ w), rel=1e-6)
    assert dual["ball of the negatives"] == pytest.approx(np.sqrt(w @ pair[3] @ w), rel=1e-6)
    h_plus, h_minus = solution.numbers["h_plus"], solution.numbers["h_minus"]
    m = problem.moments
    np.testing.assert_allclose(m.root_plus.T @ h_plus + m.root_minus.T @ h_minus, solution.value * m.delta, atol=1e-9)
    assert (np.linalg.norm(h_plus), np.linalg.norm(h_minus)) == pytest.approx((1.0, lam))


def test_the_two_ellipsoids_touch():
    """The dual in words: the point of contact lies on both ellipsoids and on the hyperplane."""
    pair = random_pair(3, seed=5)
    problem = pc.ParetoGaussian.from_moments(*pair)
    solution = problem.solve(0.8)
    m, z = problem.moments, solution.value
    contact = pair[0] - m.root_plus.T @ solution.numbers["h_plus"] / z
    np.testing.assert_allclose(contact, pair[2] + m.root_minus.T @ solution.numbers["h_minus"] / z, atol=1e-9)
    assert solution.classifier.decision_function(contact[None])[0] == pytest.approx(0, abs=1e-9)


@given(d=st.integers(1, 6), seed=st.integers(0, 99), log_lam=st.floats(-2, 2))
def test_exchanging_the_classes_mirrors_the_classifier(d, seed, log_lam):
    pair, lam = random_pair(d, seed), 10.0**log_lam
    one = pc.ParetoGaussian.from_moments(*pair).solve(lam)
    other = pc.ParetoGaussian.from_moments(*pair[2:], *pair[:2]).solve(1 / lam)
    same_direction(one.classifier.w, -other.classifier.w, 1e-9)
    assert one.value == pytest.approx(lam * other.value, rel=1e-9)
    assert one.numbers["u_plus"] == pytest.approx(other.numbers["u_minus"], rel=1e-9)


@given(d=st.integers(1, 6), seed=st.integers(0, 99))
def test_rates_do_not_depend_on_units_or_axes(d, seed):
    pair = random_pair(d, seed)
    rng = np.random.default_rng(seed)
    T, shift = rng.normal(size=(d, d)) + 2 * np.eye(d), rng.normal(size=d)
    T *= 10.0 ** rng.uniform(-3, 3, size=d)[:, None]
    moved = (T @ pair[0] + shift, T @ pair[1] @ T.T, T @ pair[2] + shift, T @ pair[3] @ T.T)
    one, other = (pc.ParetoGaussian.from_moments(*p).solve(1.4) for p in (pair, moved))
    assert one.numbers["u_plus"] == pytest.approx(other.numbers["u_plus"], rel=1e-6)
    same_direction(one.classifier.w, T.T @ other.classifier.w, 1e-5)


# Degenerate data.


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e3])
def test_equal_covariances_are_fishers_discriminant(form, lam):
    mu_plus, S, mu_minus, _ = random_pair(5, seed=4)
    solution = pc.ParetoGaussian.from_moments(mu_plus, S, mu_minus, S).solve(lam, form=form)
    same_direction(solution.classifier.w, np.linalg.solve(S, mu_plus - mu_minus), 1e-9)
    reach = np.sqrt((mu_plus - mu_minus) @ np.linalg.solve(S, mu_plus - mu_minus))
    assert solution.numbers["u_plus"] == pytest.approx(reach / (1 + lam), rel=1e-9)
    assert solution.certificate.passes(1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_one_feature(form):
    solution = pc.ParetoGaussian.from_moments([-2.0], [[4.0]], [1.0], [[1.0]]).solve(3.0, form=form)
    assert solution.classifier.w[0] == pytest.approx(-1 / 3, rel=1e-12)
    u = 3 / (2 + 3 * 1)  # a . delta = u_plus * 2 + u_minus * 1, u_minus = 3 u_plus, per unit of |a|
    assert solution.numbers["u_plus"] == pytest.approx(u, rel=1e-12)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("condition", [1e8, 1e12, 1e14])
@pytest.mark.parametrize("form", FORMS)
def test_near_singular_covariances(case, condition, form):
    cls, values = CASES[case]
    mu_plus, S_plus, mu_minus, S_minus = random_pair(6, seed=8, condition=condition)
    problem = cls.from_moments(mu_plus, S_plus, mu_minus, S_minus)
    solution = problem.solve(**values(problem), form=form)
    assert solution.certificate.gap == pytest.approx(0, abs=1e-9)
    assert solution.certificate.residual < 1e-4


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("lam", [1e-8, 1e-5, 1e5, 1e8])
def test_extreme_weights_reach_the_ends_of_the_segment(form, lam):
    pair = random_pair(4, seed=6)
    solution = pc.ParetoGaussian.from_moments(*pair).solve(lam, form=form)
    assert solution.certificate.passes(1e-9)
    delta = pair[0] - pair[2]
    r1, r2 = (np.sqrt(delta @ np.linalg.solve(S, delta)) for S in (pair[1], pair[3]))
    which, reach = ("u_plus", r1) if lam < 1 else ("u_minus", r2)
    assert solution.numbers[which] == pytest.approx(reach, rel=1e-3)


def test_t_zero_puts_the_mean_of_the_negatives_on_the_hyperplane():
    pair = random_pair(4, seed=6)
    for form in FORMS:
        solution = ParetoGaussianQP.from_moments(*pair).solve(0.0, form=form)
        assert solution.certificate.passes(1e-9)
        assert solution.classifier.decision_function(pair[2][None])[0] == pytest.approx(0, abs=1e-9)


def test_no_distance_asked_of_the_positives_has_a_closed_form():
    pair = random_pair(4, seed=6)
    machine = BiasedMinimaxProbabilityMachine.from_moments(*pair)
    solution = machine.solve(0.0)
    delta = pair[0] - pair[2]
    assert -solution.value == pytest.approx(np.sqrt(delta @ np.linalg.solve(pair[3], delta)), rel=1e-10)
    assert solution.status == "closed form"
    same_direction(solution.classifier.w, np.linalg.solve(pair[3], delta), 1e-10)
    assert solution.classifier.decision_function(pair[0][None])[0] == pytest.approx(0, abs=1e-9)


def test_the_best_distance_is_convex_and_decreasing():
    machine = BiasedMinimaxProbabilityMachine.from_moments(*random_pair(4, seed=9))
    q = np.linspace(0, 0.999 * machine.ends[1], 25)
    u = np.array([-machine.solve(x).value for x in q])
    assert (np.diff(u) < 0).all()
    assert (np.diff(u, 2) > 0).all()


def test_two_values_of_the_curve_are_the_same_two_problems():
    """u_minus at u_plus, and u_plus at that u_minus with the classes exchanged."""
    pair = random_pair(4, seed=9)
    there = BiasedMinimaxProbabilityMachine.from_moments(*pair)
    back = BiasedMinimaxProbabilityMachine.from_moments(*pair[2:], *pair[:2])
    u_plus = 0.3 * there.ends[1]
    assert -back.solve(-there.solve(u_plus).value).value == pytest.approx(u_plus, rel=1e-8)


@settings(max_examples=10)
@given(seed=st.integers(0, 99))
def test_a_sweep_is_certified_and_follows_the_curve(seed):
    pair = random_pair(5, seed)
    lam = np.logspace(-2, 2, 9)
    swept = pc.sweep(pc.ParetoGaussian.from_moments(*pair), lam=lam)
    assert swept.worst < 1e-9
    pencil = Pencil(*pair)
    expected = [1 / pencil.at(pencil.of_weight(x))[1][1] for x in lam]
    np.testing.assert_allclose(swept.values, expected, rtol=1e-8)


@pytest.mark.parametrize("case", CASES)
def test_statement_repr_and_pickle(case):
    cls, values = CASES[case]
    problem = cls.from_moments(*random_pair(3))
    solution = problem.solve(**values(problem))
    text = problem.statement()
    for part in ("## Primal", "## Lagrangian", "## Dual", "## KKT", "## Recovery", "Reference:"):
        assert part in text
    assert all(name.split(":")[0] in problem.page.kkt for name in solution.certificate.dual if "sign" not in name)
    assert cls.__name__ in repr(problem)
    again = pickle.loads(pickle.dumps(problem)).solve(**values(problem))
    assert again.value == pytest.approx(solution.value, rel=1e-12)
    assert len(solution.duality_table()) >= 1
    assert solution.duality_table().total == pytest.approx(0, abs=1e-12)


BAD = [
    (lambda: pc.ParetoGaussian.from_moments([1.0], [[-1.0]], [0.0], [[1.0]]), "Sigma_plus must be positive definite"),
    (lambda: pc.ParetoGaussian.from_moments([1.0], [[1.0]], [1.0], [[1.0]]), "mu_plus and mu_minus must differ"),
    (lambda: pc.ParetoGaussian.from_moments([1.0], [[1.0]], [1.0], [[1.0]]), "no solution.* SProcedure.at_rate"),
    (lambda: pc.ParetoGaussian.from_moments(*FIXTURE).solve(0.0), "lam must be a finite positive number, got 0.0"),
    (lambda: pc.ParetoGaussian.from_moments(*FIXTURE).solve(lam=-1), "lam must be a finite positive number, got -1"),
    (lambda: pc.ParetoGaussian.from_moments(*FIXTURE).solve(np.inf), "lam must be a finite positive number"),
    (
        lambda: ParetoGaussianQP.from_moments(*FIXTURE).solve(t=-0.1),
        "t must be a finite nonnegative number",
    ),
    (lambda: pc.MinimaxProbabilityMachine.from_moments(*FIXTURE).solve(1.0), "there are 0 parameters"),
    (
        lambda: BiasedMinimaxProbabilityMachine.from_moments(*FIXTURE).solve(9.0),
        "u_plus must be below r1 = 1.118",
    ),
    (lambda: pc.ParetoGaussian([[0.0], [1.0]], [1, -1], reg=-1.0), "reg must be nonnegative"),
    (lambda: pc.ParetoGaussian([[0.0], [1.0]], [1, -1]), "reg must be positive"),
    (lambda: pc.ParetoGaussian([[0.0], [0.0], [1.0], [1.0]], [1, -1, 1, -1], reg=1.0), "must differ"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_input_is_refused(make, message):
    with pytest.raises(pc.InputError, match=message):
        make()
