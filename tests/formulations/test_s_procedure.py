"""SProcedure: both programs against the secular equation and brute force; the hard case; problems (4) and (5)."""

from __future__ import annotations

import warnings
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh
from scipy.special import ndtr, ndtri

import paretoclf as pc
from paretoclf.distributions.gaussian.trust_region import secular
from paretoclf.formulations.on_moments import MomentSlope
from tests.distributions.gaussian.test_trust_region import hard_pair
from tests.oracles.gaussian_pairs import Pencil, random_pair

FORMS = ("dual", "primal")


def of(pair):
    return pc.SProcedure.from_moments(*pair)


@settings(max_examples=15)
@given(
    d=st.integers(2, 10),
    seed=st.integers(0, 99),
    form=st.sampled_from(FORMS),
    log_room=st.floats(-4, 4),
    polish=st.booleans(),
)
def test_the_programs_against_the_secular_equation(d, seed, form, log_room, polish):
    """The solver's own point too: the programs are tight, and the refinement has little to do."""
    pair = random_pair(d, seed)
    problem = of(pair)
    zeta = problem.zeta_min * (1 + 10.0**log_room)
    solution = problem.solve(zeta, form=form, polish=polish)
    best = secular(problem.region, zeta)
    tol = 1e-10 if polish else 1e-6
    assert -solution.value == pytest.approx(problem.region.value(best.v), rel=tol)
    assert abs(solution.certificate.gap) < tol
    w = solution.classifier.w
    assert w @ (pair[0] - pair[2]) == pytest.approx(1.0, rel=1e-8)
    assert w @ pair[1] @ w <= zeta * (1 + 1e-7)
    assert w @ pair[3] @ w == pytest.approx(-solution.value, rel=1e-6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("d", "seed", "condition", "shrunk"), [(5, 969560, 2.4e3, 1e-3), (14, 468324, 3.4e7, 2.5e-2)])
def test_means_close_to_each_other_make_large_numbers(d, seed, condition, shrunk, form):
    """Slopes with a . delta = 1 are then long: variances of 1e7 and more, in both programs."""
    mu_plus, S_plus, mu_minus, S_minus = random_pair(d, seed, condition)
    problem = of((shrunk * mu_plus, S_plus, shrunk * mu_minus, S_minus))
    for room in (0.1, 100.0):
        assert problem.solve(problem.zeta_min * (1 + room), form=form).certificate.passes(1e-8)
    assert problem.at_rate(tnr=0.1, form=form).certificate.passes(1e-7)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("room", [1e-6, 1e-2, 1.0, 1e2, 1e4])
def test_always_solved_at_sixty_features(form, room):
    """Where the plain lift fails: here the arrow always ends, with a tight value."""
    problem = of(random_pair(60, seed=0, condition=1e3))
    solution = problem.solve(problem.zeta_min * (1 + room), form=form, polish=False)
    assert solution.status.startswith("optimal")
    best = secular(problem.region, problem.zeta_min * (1 + room))
    program = problem.unit * (problem.dual.value if form == "dual" else -problem.primal.value)
    assert program == pytest.approx(problem.region.value(best.v), rel=1e-8)


def plain_lift(pair, zeta):
    """Shor's relaxation as it is first written: A >= a a', A delta = a, a . delta = 1."""
    delta, d = pair[0] - pair[2], len(pair[0])
    A, a = cp.Variable((d, d), symmetric=True), cp.Variable((d, 1))
    lifted = cp.bmat([[A, a], [a.T, np.ones((1, 1))]])
    constraints = [lifted >> 0, A @ delta == a[:, 0], a[:, 0] @ delta == 1, cp.trace(pair[1] @ A) <= zeta]
    return cp.Problem(cp.Maximize(cp.trace(pair[3] @ A)), constraints), A, a, lifted


def test_the_plain_lift_has_no_interior():
    """(delta, -1) is in the kernel of every matrix that satisfies the equations, whatever A and a are."""
    pair = random_pair(4, seed=1)
    delta = pair[0] - pair[2]
    rng = np.random.default_rng(0)
    for _ in range(20):
        # Every symmetric A with A delta = a, a . delta = 1 is a a' + N S N', N orthogonal to delta.
        N = np.linalg.svd(delta[None])[2][1:].T
        a = delta / (delta @ delta) + N @ rng.normal(size=3)
        S = rng.normal(size=(3, 3))
        A = np.outer(a, a) + N @ (S @ S.T) @ N.T
        lifted = np.block([[A, a[:, None]], [a[None], np.ones((1, 1))]])
        np.testing.assert_allclose(A @ delta, a, atol=1e-12)
        np.testing.assert_allclose(lifted @ np.r_[delta, -1.0], 0, atol=1e-12)


def test_the_plain_lift_fails_where_the_arrow_does_not():
    """Ten features, ten sizes of room: mostly the plain lift fails, or loses five digits more than the arrow."""
    pair = random_pair(10, seed=0, condition=1e3)
    problem = of(pair)
    worse = 0
    for room in np.logspace(-6, 3, 10):
        zeta = problem.zeta_min * (1 + room)
        exact = problem.region.value(secular(problem.region, zeta).v)
        problem.solve(zeta, polish=False)
        arrow = abs(problem.unit * problem.dual.value / exact - 1)
        assert arrow < 1e-8
        program, *_ = plain_lift(pair, zeta)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                program.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
            error = abs(program.value / exact - 1)
        except cp.SolverError:
            error = np.inf
        worse += not error < max(1e5 * arrow, 1e-7)
    assert worse >= 5


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("gap", [1.0, 0.0])
@pytest.mark.parametrize("room", [1e-4, 0.5, 30.0])
def test_the_hard_case_is_recovered(form, gap, room):
    """Two optima, mirror images: the solver returns their middle, the recovery one of them. Also without refinement."""
    pair = hard_pair(gap=gap)
    problem = of(pair)
    for polish in (False, True):
        solution = problem.solve(problem.zeta_min + room, form=form, polish=polish)
        w = solution.classifier.w
        assert w[0] == pytest.approx(1.0, abs=1e-9)
        assert w @ pair[3] @ w == pytest.approx(1.0 + 4.0 * room, rel=1e-7)
        assert w @ pair[1] @ w == pytest.approx(1.0 + room, rel=1e-7)
        assert solution.numbers["tau"] == pytest.approx(4.0, rel=1e-5)
        told = "every slope of this length there is" if gap == 0.0 else "its mirror image there is"
        assert solution.notes == (
            f"Not unique (the hard case): of the part of the slope in the direction{'s' if gap == 0.0 else ''} of the "
            f"largest ratio of the variances {told} as good",
        )
    assert solution.certificate.passes(1e-9)
    mirrored = w.copy()
    mirrored[1:] *= -1
    assert mirrored @ pair[3] @ mirrored == pytest.approx(-solution.value, rel=1e-9)


def test_the_lifted_matrix_of_the_hard_case_has_rank_two():
    """Why a vector must be recovered: the multiplier of the arrow is the middle of two rank-one matrices."""
    problem = of(hard_pair())
    problem.solve(problem.zeta_min + 0.5, polish=False)
    Z = problem.dual.constraints[0].dual_value
    assert Z[-1, -1] == pytest.approx(1.0, rel=1e-6)
    np.testing.assert_allclose(Z[:-1, -1], 0, atol=1e-6)
    eigenvalues = np.linalg.eigvalsh(Z)[::-1]
    assert eigenvalues[0] == pytest.approx(1.0, abs=1e-5)
    assert eigenvalues[1] == pytest.approx(0.5, abs=1e-5)
    easy = of(random_pair(4, seed=0))
    easy.solve(2 * easy.zeta_min, polish=False)
    Z = easy.dual.constraints[0].dual_value
    v = Z[:-1, -1]
    assert np.diagonal(Z)[:-1] == pytest.approx(v**2, abs=1e-6 * (v @ v))  # rank one


@pytest.mark.parametrize("form", FORMS)
def test_dpp_and_no_second_compilation(form):
    problem = of(random_pair(4, seed=1))
    program = getattr(problem, form)
    assert program.is_dcp(dpp=True)
    problem.solve(2 * problem.zeta_min, form=form)
    compiled = program._cache.param_prog
    problem.solve(3 * problem.zeta_min, form=form)
    assert program._cache.param_prog is compiled


def test_strong_duality_and_signs():
    problem = of(random_pair(5, seed=2))
    for room in (0.01, 1.0, 100.0):
        zeta = problem.zeta_min * (1 + room)
        for form in FORMS:
            solution = problem.solve(zeta, form=form)
        assert problem.primal.value == pytest.approx(-problem.dual.value, rel=1e-8)
        bound = {c.label: c.dual_value for c in problem.primal.constraints}
        largest = problem.region.curvature.max()  # the programs' unit of tau
        assert largest * bound["bound on the positives"] == pytest.approx(solution.numbers["tau"], rel=1e-5)
        sigma = largest * bound["squares"]
        np.testing.assert_allclose(sigma, solution.numbers["tau"] - problem.region.curvature, rtol=1e-3, atol=1e-4)
        assert (sigma > -1e-8).all()
        # h^2 rises at the rate tau.
        step = 1e-5 * zeta
        up, down = (problem.solve(z).value for z in (zeta + step, zeta - step))
        assert -(up - down) / (2 * step) == pytest.approx(solution.numbers["tau"], rel=1e-4)


def test_ends_in_closed_form():
    pair = random_pair(4, seed=3)
    problem = of(pair)
    solution = problem.solve(problem.zeta_min)
    assert solution.status == "closed form"
    delta = pair[0] - pair[2]
    a = np.linalg.solve(pair[1], delta)
    np.testing.assert_allclose(solution.classifier.w, a / (delta @ a), rtol=1e-9)
    assert abs(solution.certificate.gap) < 1e-10
    one = of(([2.0], [[1.0]], [0.0], [[9.0]]))
    assert one.zeta_min == pytest.approx(0.25)
    assert -one.solve(3.0).value == pytest.approx(9 / 4)
    assert one.solve(3.0).certificate.passes(1e-12)
    with pytest.raises(pc.InputError, match="two features"):
        _ = one.dual


def many_starts(pair, q, rng, starts=40):
    """Largest u_plus at u_minus = q by alternating ascent from many slopes: h is fixed, the slope solved, and again."""
    delta = pair[0] - pair[2]
    L = np.linalg.cholesky(pair[3]).T
    best = -np.inf
    for _ in range(starts):
        a = rng.normal(size=len(delta))
        for _ in range(3000):
            h = L @ a
            g = delta - q * (L.T @ h) / np.linalg.norm(h)  # gradient of the convex numerator a . delta - q |L a|
            new = np.linalg.solve(pair[1], g)
            new /= np.sqrt(new @ pair[1] @ new)
            if np.linalg.norm(new - a) < 1e-14:
                break
            a = new
        best = max(best, (a @ delta - q * np.linalg.norm(L @ a)) / np.sqrt(a @ pair[1] @ a))
    return best


@pytest.mark.parametrize("rate", [0.45, 0.2, 0.05, 0.001])
@pytest.mark.parametrize("seed", range(3))
def test_problems_4_and_5_against_many_starts(rate, seed):
    pair = random_pair(4, seed, condition=20.0)
    problem = of(pair)
    solution = problem.at_rate(tnr=rate)
    assert solution.certificate.passes(1e-8)
    found = problem.distances(solution)
    assert found.tnr == pytest.approx(rate, rel=1e-9)
    assert found.u_plus == pytest.approx(many_starts(pair, ndtri(rate), np.random.default_rng(0)), rel=1e-8)
    same = problem.moments.distances(solution.classifier.w, solution.classifier.b)
    assert (same.u_minus, same.u_plus) == pytest.approx((found.u_minus, found.u_plus), rel=1e-9)
    mirrored = problem.at_rate(tpr=rate)
    swapped = (*pair[2:], *pair[:2])
    found = problem.distances(mirrored)
    assert found.tpr == pytest.approx(rate, rel=1e-9)
    assert found.u_minus == pytest.approx(many_starts(swapped, ndtri(rate), np.random.default_rng(0)), rel=1e-8)
    same = problem.moments.distances(mirrored.classifier.w, mirrored.classifier.b)
    assert (same.u_minus, same.u_plus) == pytest.approx((found.u_minus, found.u_plus), rel=1e-9)


@pytest.mark.parametrize("rate", [0.3, 0.01])
def test_the_outer_segment_belongs_to_the_family_with_negative_t(rate):
    pair = random_pair(6, seed=5)
    problem = of(pair)
    solution = problem.at_rate(tnr=rate)
    t = solution.numbers["t"]
    assert -1 / eigh(pair[3], pair[1], eigvals_only=True)[-1] < t < 0
    a, (u_minus, u_plus) = Pencil(*pair).at(t)
    assert u_minus == pytest.approx(ndtri(rate), rel=1e-7)
    assert u_plus == pytest.approx(-solution.value, rel=1e-8)
    w = solution.classifier.w
    np.testing.assert_allclose(w / np.linalg.norm(w), a / np.linalg.norm(a), atol=1e-7)


def test_a_pareto_optimal_inner_solution_is_on_the_curve():
    """Where tau exceeds every ratio of variances; elsewhere it says that it is not."""
    pair = random_pair(5, seed=4)
    problem = of(pair)
    largest = eigh(pair[3], pair[1], eigvals_only=True)[-1]
    seen = set()
    for room in (1e-3, 0.1, 1.0, 100.0, 1e5):
        solution = problem.solve(problem.zeta_min * (1 + room))
        assert solution.numbers["pareto"] == (solution.numbers["tau"] >= largest)
        seen.add(solution.numbers["pareto"])
        if solution.numbers["pareto"]:
            found = problem.distances(solution)
            best = problem.at_rate(tnr=found.tnr)
            assert found.u_plus == pytest.approx(-best.value, rel=1e-7)
        else:
            assert problem.distances(solution).u_minus == pytest.approx(0.0, abs=1e-9)
    assert seen == {True, False}


@pytest.mark.parametrize("rate", [0.3, 0.02])
def test_outer_segments_of_equal_and_of_proportional_covariances(rate):
    """Fixture: Sigma_plus = I, Sigma_minus = I / 4, delta = e_1: u_plus = 1 / (1 + t / 4), u_minus = t / 2 u_plus."""
    problem = of((np.eye(3)[0], np.eye(3), np.zeros(3), np.eye(3) / 4))
    solution = problem.at_rate(tnr=rate)
    t = 4 * ndtri(rate) / (2 - ndtri(rate))
    assert solution.numbers["t"] == pytest.approx(t, rel=1e-9)
    assert problem.distances(solution).u_plus == pytest.approx(1 / (1 + t / 4), rel=1e-9)
    mu_plus, S, mu_minus, _ = random_pair(4, seed=2)
    same = of((mu_plus, S, mu_minus, S))
    found = same.at_rate(tnr=rate)
    reach = np.sqrt((mu_plus - mu_minus) @ np.linalg.solve(S, mu_plus - mu_minus))
    assert same.distances(found).u_plus == pytest.approx(reach - ndtri(rate), rel=1e-9)
    assert found.certificate.passes(1e-9)
    line = of(([3.0], [[4.0]], [0.0], [[1.0]]))
    assert line.distances(line.at_rate(tnr=rate)).u_plus == pytest.approx((3 - ndtri(rate)) / 2, rel=1e-12)


def test_the_outer_segment_beyond_the_hard_case():
    """Small rates lie where t is at its end and the slope leaves along the top eigenvector; +- tie."""
    pair = hard_pair()
    problem = of(pair)
    solution = problem.at_rate(tnr=0.001)
    assert solution.numbers["tau"] == pytest.approx(4.0, rel=1e-9)
    assert solution.certificate.passes(1e-9)
    assert abs(solution.classifier.w[1]) > 0.1
    assert problem.distances(solution).u_plus == pytest.approx(
        many_starts(pair, ndtri(0.001), np.random.default_rng(1)), rel=1e-8
    )
    assert "its mirror image there is as good" in solution.notes[0]
    assert problem.at_rate(tnr=0.45).notes == ()  # where the length is still short
    mirrored = solution.classifier.w * np.array([1, -1, 1, 1])
    same = problem.moments.distances(mirrored, solution.classifier.b)
    assert same.u_plus == pytest.approx(problem.distances(solution).u_plus, rel=1e-9)


@pytest.mark.parametrize("far", [0.0, 1e6])
@pytest.mark.parametrize("rate", [0.4, 0.1, 0.001])
@pytest.mark.parametrize("seed", range(2))
def test_problems_4_and_5_at_equal_means(rate, seed, far):
    """Appendix A.2 of Kim et al., mu_- = mu_+: an eigenvector; by scipy, by many starts, by the closed-form curve."""
    _, S_plus, _, S_minus = random_pair(4, seed, condition=20.0)
    mean = far + np.arange(4.0)
    problem = of((mean, S_plus, mean, S_minus))
    values, vectors = eigh(S_minus, S_plus)
    for name, ratio, along in (("tnr", values[-1], vectors[:, -1]), ("tpr", 1 / values[0], vectors[:, 0])):
        solution = problem.at_rate(**{name: rate})
        found = problem.distances(solution)
        given, other = (found.tnr, found.tpr) if name == "tnr" else (found.tpr, found.tnr)
        assert given == pytest.approx(rate, rel=1e-8)
        assert other == pytest.approx(ndtr(-ndtri(rate) * np.sqrt(ratio)), rel=1e-9)
        assert solution.certificate.passes(1e-9)
        assert solution.values == {name: rate}
        w = solution.classifier.w
        assert abs(w @ along) / np.linalg.norm(w) / np.linalg.norm(along) == pytest.approx(1.0, abs=1e-9)
        same = problem.moments.distances(w, solution.classifier.b)
        assert (same.u_minus, same.u_plus) == pytest.approx((found.u_minus, found.u_plus), rel=1e-7)
        mirrored = problem.moments.distances(-w, 2 * float(w @ mean) + solution.classifier.b)
        assert (mirrored.u_minus, mirrored.u_plus) == pytest.approx((found.u_minus, found.u_plus), rel=1e-6)
        assert "mirror image" in solution.notes[0]
        curve = pc.gaussian_tradeoff(problem.moments).at_rate(**{name: rate})
        assert (curve.tnr, curve.tpr) == pytest.approx((found.tnr, found.tpr), rel=1e-8)
    if far == 0.0:
        pair = (mean, S_plus, mean, S_minus)
        best = many_starts(pair, ndtri(rate), np.random.default_rng(0))
        assert problem.distances(problem.at_rate(tnr=rate)).u_plus == pytest.approx(best, rel=1e-8)


def test_equal_means_of_samples_and_of_one_feature():
    X = np.array([[-1.0], [1.0], [-3.0], [3.0]])
    problem = pc.SProcedure(X, [1, 1, -1, -1])
    assert problem.distances(problem.at_rate(tnr=0.2)).u_plus == pytest.approx(-3 * ndtri(0.2), rel=1e-12)


@pytest.mark.parametrize("ask", [lambda p: p.solve(1.0), lambda p: p.zeta_min, lambda p: p.primal, lambda p: p.dual])
def test_at_equal_means_no_zeta_has_a_solution(ask):
    problem = of((np.ones(2), np.eye(2), np.ones(2), 2 * np.eye(2)))
    with pytest.raises(
        pc.InputError, match=r"two equal means \[1. 1.\]: no slope .* \(4\) and \(5\) have one: at_rate"
    ):
        ask(problem)


BAD = [
    (lambda p: p.solve(0.5 * p.zeta_min), "zeta must be at least zeta_min"),
    (lambda p: p.solve(-1.0), "zeta must be a finite positive number"),
    (lambda p: p.at_rate(), "exactly one of tnr and tpr"),
    (lambda p: p.at_rate(tnr=0.1, tpr=0.1), "exactly one of tnr and tpr"),
    (lambda p: p.at_rate(tnr=0.5), "tnr must be strictly between 0 and 0.5, got 0.5"),
    (lambda p: p.at_rate(tpr=0.0), "tpr must be strictly between 0 and 0.5, got 0.0"),
    (lambda p: p.at_rate(tpr="low"), "tpr must be strictly between"),
]


@pytest.mark.parametrize(("ask", "message"), BAD)
def test_bad_input_is_refused(ask, message):
    with pytest.raises(pc.InputError, match=message):
        ask(of(random_pair(3)))


@pytest.fixture(scope="module")
def spread_samples():
    """Two classes of which the negatives are wider along one feature."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(40) < 18, 1.0, -1.0)
    X = rng.normal(size=(40, 3))
    X[y > 0] += 0.4
    X[y < 0] *= [1, 2, 0.5]
    return X, y


class TestKernels:
    @pytest.mark.parametrize("form", FORMS)
    def test_inner_products_given_as_a_kernel_are_the_features(self, spread_samples, form):
        X, y = spread_samples
        plain, through = pc.SProcedure(X, y, reg=0.1), pc.SProcedure(X @ X.T, y, "precomputed", reg=0.1)
        assert through.zeta_min == pytest.approx(plain.zeta_min, rel=1e-12)
        zeta = 1.7 * plain.zeta_min
        one, other = plain.solve(zeta, form=form), through.solve(zeta, form=form)
        assert other.certificate.passes(1e-8)
        assert other.value == pytest.approx(one.value, rel=1e-10)
        scores = other.classifier.decision_function(X @ X.T)
        np.testing.assert_allclose(scores, one.classifier.decision_function(X), atol=1e-8)

    @pytest.mark.parametrize("rate", ["tnr", "tpr"])
    def test_rates_are_those_of_the_closed_form(self, spread_samples, rate):
        X, y = spread_samples
        model = pc.SProcedure(X, y, pc.RBF(1.0), reg=0.05)
        closed = pc.gaussian_tradeoff(X, y, kernel=pc.RBF(1.0), reg=0.05)
        solution, point = model.at_rate(**{rate: 0.3}), closed.at_rate(**{rate: 0.3})
        assert solution.certificate.passes(1e-7)
        distances = model.distances(solution)
        assert (distances.u_minus, distances.u_plus) == pytest.approx((point.u_minus, point.u_plus), rel=1e-6)
        new = np.random.default_rng(1).normal(size=(7, 3))
        ours, theirs = solution.classifier.decision_function(new), point.classifier.decision_function(new)
        np.testing.assert_allclose(ours / np.abs(ours).max(), theirs / np.abs(theirs).max(), atol=1e-5)

    def test_coefficients_imply_the_slope_that_is_certified(self, spread_samples):
        X, y = spread_samples
        model = pc.SProcedure(X, y, pc.RBF(1.0), reg=0.05)
        solution = model.solve(2 * model.zeta_min)
        numbers = solution.numbers
        np.testing.assert_allclose(model.gram.factor.T @ numbers["coef"], numbers["w"], atol=1e-10)
        values = np.asarray(model.gram.factor) @ numbers["w"] + numbers["b"]
        np.testing.assert_allclose(solution.classifier.decision_function(X), values, atol=1e-9)
        wrong = replace(model._implied({}, MomentSlope(numbers["w"], numbers["tau"])), a=1.01 * numbers["w"][::-1])
        assert not model.judge({"zeta": 2 * model.zeta_min}, wrong).certificate.passes(1e-6)

    @pytest.mark.parametrize(("reg", "beyond"), [((0.5, 0.01), False), ((0.01, 5.0), True)])
    def test_it_is_said_where_the_whole_space_has_better(self, spread_samples, reg, beyond):
        """By one more direction that no sample has: a feature that is 0 throughout."""
        X, y = spread_samples
        model = pc.SProcedure(X @ X.T, y, "precomputed", reg=reg)
        wider = pc.SProcedure(np.column_stack([X, np.zeros(len(X))]), y, reg=reg)
        zeta = 2 * model.zeta_min
        inside, whole = model.solve(zeta), wider.solve(zeta)
        assert any("span of the samples alone" in note for note in inside.notes) == beyond
        assert (-whole.value > -inside.value * (1 + 1e-6)) == beyond
