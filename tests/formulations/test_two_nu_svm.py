"""The 2nu-SVM: Propositions 1-3 and Theorems 1-3 of Davenport et al. (2010), and what they leave open."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.svm import NuSVC

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.formulations.two_nu_svm import TwoNuSVM
from paretoclf.problem.nu import caps_of
from paretoclf.proof.points.hulls import judge_hulls, thresholds
from paretoclf.proof.points.soft_margin import SoftMargin

KERNELS = {"linear": None, "rbf": pc.RBF(1.5)}
kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())


def data(seed, n=24, shift=0.5, d=2):
    rng = np.random.default_rng(seed)
    n_plus = int(rng.integers(5, n - 5))
    y = np.where(np.arange(n) < n_plus, 1.0, -1.0)
    return rng.normal(size=(n, d)) + shift * y[:, None], y


problems = given(
    seed=st.integers(0, 10**6),
    asymmetry=st.floats(0.15, 0.85),
    share=st.floats(0.05, 0.98),
)


def between(svm, asymmetry, share):
    """A nu strictly between the trivial and the infeasible ones."""
    low, high = svm.nu_star(asymmetry), svm.nu_max(asymmetry)
    assume(high - low > 0.02)
    return low + share * (high - low)


def quadratic(svm, alpha):
    return 0.5 * (svm.y * alpha) @ svm.gram.matrix @ (svm.y * alpha)


# Parameters, and Propositions 2 and 3


@given(
    n_plus=st.integers(1, 50),
    n_minus=st.integers(1, 50),
    nu_plus=st.floats(0.01, 1.0),
    nu_minus=st.floats(0.01, 1.0),
)
def test_the_two_pairs_of_parameters(n_plus, n_minus, nu_plus, nu_minus):
    svm = TwoNuSVM(np.zeros((n_plus + n_minus, 1)), np.repeat([1.0, -1.0], [n_plus, n_minus]))
    n = n_plus + n_minus
    nu, asymmetry = svm.to_asymmetry(nu_plus, nu_minus)
    assert svm.to_classes(nu, asymmetry) == pytest.approx((nu_plus, nu_minus), rel=1e-12)
    # Full caps, times the shares, are half of nu in each class: what nu_plus and nu_minus mean.
    assert nu_plus * n_plus * asymmetry / n == pytest.approx(nu / 2, rel=1e-12)
    assert nu_minus * n_minus * (1 - asymmetry) / n == pytest.approx(nu / 2, rel=1e-12)
    # Proposition 3 from Proposition 2.
    assert (nu <= svm.nu_max(asymmetry) * (1 + 1e-12)) == (max(nu_plus, nu_minus) <= 1)


def test_the_formula_of_nu_as_our_copy_prints_it():
    """Erratum eD10, at 20 positive and 30 negative samples: half of nu is nu_plus of the positives' full caps."""
    svm = TwoNuSVM(np.zeros((50, 1)), np.repeat([1.0, -1.0], [20, 30]))
    nu_plus, nu_minus, n = 0.3, 0.7, 50
    nu, asymmetry = svm.to_asymmetry(nu_plus, nu_minus)
    assert 2 * nu_plus * 20 * asymmetry / n == pytest.approx(nu)
    printed = 2 * nu_plus * nu_minus * nu_plus * 30 / ((nu_plus * 20 + nu_minus * nu_minus) * n)
    printed_asymmetry = nu_minus * nu_minus / (nu_plus * 20 + nu_minus * nu_minus)
    assert abs(printed - nu) > 0.05
    assert abs(printed_asymmetry - asymmetry) > 0.2


@pytest.mark.parametrize("asymmetry", [0.2, 0.5, 0.85])
def test_proposition_2_the_feasible_nu(asymmetry):
    """The largest sum of feasible multipliers, by a linear program of its own."""
    X, y = data(1)
    svm = TwoNuSVM(X, y)
    caps = np.where(y > 0, asymmetry, 1 - asymmetry) / y.size
    largest = -linprog(-np.ones(y.size), A_eq=y[None, :], b_eq=[0.0], bounds=np.c_[0 * caps, caps]).fun
    assert svm.nu_max(asymmetry) == pytest.approx(largest, rel=1e-9)
    assert svm.solve(nu=largest * 0.9999, asymmetry=asymmetry).certificate.passes()
    with pytest.raises(InputError, match="nu must be at most"):
        svm.solve(nu=largest * 1.001, asymmetry=asymmetry)


def test_beyond_the_feasible_nu_a_solver_is_wrong_so_none_is_asked():
    X, y = data(1)
    svm = TwoNuSVM(X, y)
    svm.parameters["nu"].value, svm.parameters["asymmetry"].value = 0.9, 0.5
    svm.primal.solve(solver="CLARABEL")
    assert svm.primal.status in ("optimal", "optimal_inaccurate", "unbounded", "unbounded_inaccurate")
    assert svm.primal.value < -1e6  # the primal is unbounded, whatever it is called
    with pytest.raises(InputError, match="nu_plus or nu_minus would exceed 1"):
        svm.solve(nu=0.9, asymmetry=0.5)


def test_feasibility_is_checked_before_any_kernel_is_computed():
    X, y = data(1)
    svm = TwoNuSVM(X, y, pc.RBF(1.0))
    with pytest.raises(InputError):
        svm.solve(nu=0.99, asymmetry=0.5)
    assert "matrix" not in svm.gram.__dict__


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"nu": 0.1, "nu_plus": 0.1}, ("nu_plus", "nu and asymmetry")),
        ({"nu": -0.1, "asymmetry": 0.5}, ("nu", "in [0, 1]")),
        ({"nu": 0.1, "asymmetry": 1.0}, ("asymmetry", "strictly between")),
        ({"nu_plus": 0.5, "nu_minus": 1.5}, ("nu_minus", "at most 1")),
        ({"nu_plus": 0.5}, ("nu_minus", "must be given")),
    ],
)
def test_bad_parameters(values, words):
    with pytest.raises(InputError) as error:
        TwoNuSVM(*data(1)).solve(**values)
    assert all(word in str(error.value) for word in words)
    with pytest.raises(InputError, match="by must be"):
        TwoNuSVM(*data(1), by="costs")


@pytest.mark.parametrize("seed", [1, 3])
@pytest.mark.parametrize("form", ["primal", "dual"])
def test_theorem_3_covers_a_nu_of_0(seed, form):
    """Nothing is better than w = 0, b = 0, rho = 0, xi = 0: the objective is a sum of what is not negative."""
    X, y = data(seed)
    for own in (None, pc.RBF(0.7), pc.RBF(1e3)):  # of the last one no plain rank can be told
        svm = TwoNuSVM(X, y, own)
        solution = svm.solve(nu=0, asymmetry=0.3, form=form)
        assert solution.certificate.passes()
        assert (solution.value, np.abs(solution.alpha).max()) == (0.0, 0.0)
        assert solution.notes == ("trivial: w = 0, since nu = 0, and there is no classifier",)
        with pytest.raises(InputError, match="there is no classifier"):
            solution.classifier.predict(X)
    svm.parameters["nu"].value, svm.parameters["asymmetry"].value = 0.0, 0.3
    assert getattr(svm, form).solve(solver="CLARABEL") == pytest.approx(0.0, abs=1e-8)
    with pytest.raises(InputError, match="nu must be positive where the programs are in nu_plus and nu_minus"):
        TwoNuSVM(X, y, by="classes").solve(nu=0, asymmetry=0.3)


@kernel
def test_both_pairs_state_the_same_programs(kernel):
    X, y = data(3)
    by = {name: TwoNuSVM(X, y, kernel, by=name) for name in ("asymmetry", "classes")}
    pair = by["classes"].to_asymmetry(0.7, 0.9)
    found = [
        svm.solve(**values)
        for svm in by.values()
        for values in ({"nu": pair[0], "asymmetry": pair[1]}, {"nu_plus": 0.7, "nu_minus": 0.9})
    ]
    for solution in found[1:]:
        np.testing.assert_allclose(solution.alpha, found[0].alpha, atol=1e-12)


# Proposition 1: margin errors and support vectors


@kernel
@problems
def test_proposition_1_fractions(kernel, seed, asymmetry, share):
    svm = TwoNuSVM(*data(seed), kernel)
    nu = between(svm, asymmetry, share)
    solution = svm.solve(nu=nu, asymmetry=asymmetry)
    assert solution.certificate.passes()
    assert solution.value < 0
    f = solution.classifier.decision_function(svm.X)
    rho = solution.numbers["rho"]
    for sign, bound in zip((1, -1), svm.to_classes(nu, asymmetry), strict=True):
        mine = svm.y == sign
        errors = np.mean(svm.y[mine] * f[mine] < rho * (1 - 1e-9))
        support = np.mean(solution.alpha[mine] > 1e-12)
        assert errors <= bound + 1e-9
        assert support >= bound - 1e-9


# Theorems 1 and 2


@kernel
@problems
def test_theorem_1_a_2c_solution_is_a_2nu_solution(kernel, seed, asymmetry, share):
    X, y = data(seed)
    svm, two_c = TwoNuSVM(X, y, kernel), pc.TwoCSVM(X, y, kernel)
    costs = pc.Costs.from_asymmetry(asymmetry, 10 ** (4 * share - 2))
    alpha = two_c.solve(*costs).alpha
    nu, gamma = svm.parameters_of(alpha, costs)
    assume(nu > svm.nu_star(gamma) * (1 + 1e-6))
    scaled = alpha / (costs.total * svm.n)
    solution = svm.solve(nu=min(nu, svm.nu_max(gamma)), asymmetry=gamma)
    # Optimal: feasible, and no larger than the optimal value. Objectives, since multipliers need not be unique.
    assert quadratic(svm, scaled) == pytest.approx(-solution.value, rel=1e-9, abs=1e-15)
    assert judge_hulls(SoftMargin.of(svm.gram, y, caps_of(gamma, y), nu=nu), scaled).certificate.passes()
    # Class by class: nu_plus is the mean of alpha / C_plus.
    nu_plus, nu_minus = svm.to_classes(nu, gamma)
    assert nu_plus == pytest.approx(np.mean(alpha[y > 0]) / costs.C_plus, rel=1e-9)
    assert nu_minus == pytest.approx(np.mean(alpha[y < 0]) / costs.C_minus, rel=1e-9)
    # With another scale it is not optimal.
    assert quadratic(svm, alpha / costs.total) != pytest.approx(-solution.value, rel=1e-3)


@kernel
@problems
def test_theorem_2_a_2nu_solution_is_a_2c_solution(kernel, seed, asymmetry, share):
    X, y = data(seed)
    svm = TwoNuSVM(X, y, kernel)
    nu = between(svm, asymmetry, share)
    solution = svm.solve(nu=nu, asymmetry=asymmetry)
    rho = solution.numbers["rho"]
    assert rho > 0
    assume(solution.costs.total < 1e5)  # at larger costs 1e-8 of the value is more than doubles can tell
    C = 1 / (rho * svm.n)
    assert tuple(solution.costs) == pytest.approx((asymmetry * C, (1 - asymmetry) * C), rel=1e-12)
    two_c = pc.TwoCSVM(X, y, kernel)
    K = svm.gram.matrix
    certificate = pc.certify(y, two_c.caps(*solution.costs), solution.alpha / rho, solution.classifier.b / rho, K=K)
    assert certificate.passes(), certificate.explain()
    reference = two_c.solve(*solution.costs)
    assert certificate.primal_value == pytest.approx(reference.value, rel=1e-9)
    np.testing.assert_allclose(
        reference.classifier.training_scores * rho, solution.classifier.decision_function(X) - solution.classifier.b,
        atol=1e-9 * (1 + np.abs(K).max()),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("asymmetry", [0.4, 0.45, 0.6])
def test_the_proof_of_theorem_2(seed, asymmetry):
    """rho nu = alpha'Q alpha + the weighed slacks; the paper's display (erratum eD2) has gamma on every slack."""
    y = np.repeat([1.0, -1.0], 20)  # equal classes that overlap: both have slacks
    svm = TwoNuSVM(np.random.default_rng(seed).normal(size=(40, 2)) + 0.5 * y[:, None], y)
    low, high = svm.nu_star(asymmetry), svm.nu_max(asymmetry)
    nu = low + 0.6 * (high - low)
    solution = svm.solve(nu=nu, asymmetry=asymmetry)
    rho, xi, plus = solution.numbers["rho"], solution.xi, svm.y > 0
    slacks = asymmetry / svm.n * xi[plus].sum() + (1 - asymmetry) / svm.n * xi[~plus].sum()
    assert rho * nu == pytest.approx(2 * quadratic(svm, solution.alpha) + slacks, rel=1e-9)
    printed = 2 * quadratic(svm, solution.alpha) + asymmetry / svm.n * xi.sum()
    assert xi[~plus].sum() > 1e-2
    assert abs(printed - rho * nu) > 1e-3 * rho * nu


# Theorem 3


@kernel
@pytest.mark.parametrize("seed", range(4))
def test_theorem_3_nu_of_C(kernel, seed):
    """Non-increasing and continuous in C; constant stretches exist (erratum eD3: not decreasing)."""
    X, y = data(seed)
    svm, two_c = TwoNuSVM(X, y, kernel), pc.TwoCSVM(X, y, kernel)
    total = np.geomspace(1e-4, 1e4, 60)
    asymmetry = 0.4
    sweep = pc.sweep(two_c, C_plus=asymmetry * total, C_minus=(1 - asymmetry) * total, progress=False)
    nu = sweep.alpha.sum(axis=1) / (total * svm.n)
    assert np.all(np.diff(nu) <= 1e-10)
    assert nu[0] == pytest.approx(svm.nu_max(asymmetry), rel=1e-9)  # nu^*
    assert nu[-1] >= svm.nu_star(asymmetry) - 1e-9
    assert np.any(np.abs(np.diff(nu)) <= 1e-12)  # a constant stretch
    close = pc.sweep(
        two_c, C_plus=asymmetry * np.array([1, 1 + 1e-7]), C_minus=(1 - asymmetry) * np.array([1, 1 + 1e-7])
    )
    assert np.diff(close.alpha.sum(axis=1) / svm.n)[0] == pytest.approx(0, abs=1e-5)


def solved(Q, y, caps, linear, nu=None):
    """Optimal multipliers of 1/2 a'Qa - linear 1'a in the box with y'a = 0, 1'a >= nu; Clarabel. None: infeasible."""
    a, L = cp.Variable(len(y)), np.linalg.cholesky(Q + 1e-13 * np.trace(Q) * np.eye(len(y)))
    constraints = [a >= 0, a <= caps, y @ a == 0] + ([] if nu is None else [cp.sum(a) >= nu])
    program = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(L.T @ a) - linear * cp.sum(a)), constraints)
    program.solve(solver="CLARABEL", tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13)
    return a.value


def corners(Q, y, caps, alpha, rng):
    """Some ends of the set of all optimal multipliers: those in the box with the same Qa, y'a and 1'a."""
    fixed = np.vstack([Q, y, np.ones(len(y))])
    for direction in rng.normal(size=(6, len(y))):
        end = linprog(direction, A_eq=fixed, b_eq=fixed @ alpha, bounds=np.column_stack([0 * caps, caps]))
        if end.status == 0:  # rounding may leave no point at all
            yield end.x


@pytest.mark.parametrize("twice", [False, True], ids=["once", "every sample twice"])
@pytest.mark.parametrize("seed", range(3))
def test_theorem_3_on_both_sides_of_the_limits(seed, twice):
    """The whole statement, by linear programs and Clarabel: 0 <= nu_* <= nu^* = nu_max <= 1; beyond nu^* infeasible;
    between the limits a positive value and a C with the same set of solutions (any alpha: every end of either set is
    optimal in the other); up to nu_* the value 0 and w = 0. With every sample twice the multipliers are not unique."""
    X, y = data(seed, n=16, shift=0.1)
    if twice:
        X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    n, gamma, rng = y.size, 0.4, np.random.default_rng(seed)
    Q = (y[:, None] * X) @ (y[:, None] * X).T
    shares = np.where(y > 0, gamma, 1 - gamma)  # caps C gamma, C (1 - gamma) of the 2C-SVM; over C n those of the 2nu
    caps = shares / n
    top = 2 * min(gamma * np.sum(y > 0), (1 - gamma) * np.sum(y < 0)) / n
    flat = linprog(
        -np.ones(n), A_eq=np.vstack([(y[:, None] * X).T, y]), b_eq=np.zeros(3), bounds=[(0, c) for c in caps]
    )
    star = -flat.fun  # most multipliers with w = 0
    svm = TwoNuSVM(X, y)
    assert (svm.nu_star(gamma), svm.nu_max(gamma)) == (pytest.approx(star, abs=1e-9), pytest.approx(top, abs=1e-12))
    assert 0 <= star < top <= 1
    small, large = (solved(Q, y, C * shares, 1.0).sum() / (C * n) for C in (1e-4, 1e6))
    assert small == pytest.approx(top, rel=1e-6)
    assert large == pytest.approx(star, rel=1e-4)

    assert solved(Q, y, caps, 0.0, top * 1.001) is None  # beyond nu^*
    for nu in (0.0, 0.5 * star, star):  # up to nu_*
        alpha = solved(Q, y, caps, 0.0, nu)
        assert alpha @ Q @ alpha == pytest.approx(0, abs=1e-12)
        assert nu == 0 or "trivial" in svm.solve(nu=nu, asymmetry=gamma).status
    for share in (0.02, 0.4, 0.9, 1.0):  # between the limits, nu^* included
        nu = star + share * (top - star)
        solution = svm.solve(nu=nu, asymmetry=gamma)
        value = 0.5 * solution.alpha @ Q @ solution.alpha
        assert value > 0
        C = solution.costs.total
        best = solved(Q, y, C * shares, 1.0)
        objective = 0.5 * best @ Q @ best - best.sum()
        for alpha in (solution.alpha, *corners(Q, y, caps, solution.alpha, rng)):
            assert 0.5 * alpha @ Q @ alpha == pytest.approx(value, rel=1e-8)  # optimal for D_2nu ...
            scaled = C * n * alpha
            assert 0.5 * scaled @ Q @ scaled - scaled.sum() == pytest.approx(objective, rel=1e-6)  # ... and for D_2C
        for alpha in (best, *corners(Q, y, C * shares, best, rng)):
            assert 0.5 * alpha @ Q @ alpha - alpha.sum() == pytest.approx(objective, rel=1e-7)
            assert alpha.sum() / (C * n) == pytest.approx(nu, rel=1e-5)
            assert 0.5 * alpha @ Q @ alpha / (C * n) ** 2 == pytest.approx(value, rel=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_theorem_3_nu_star_is_the_limit(seed):
    X, y = data(seed, shift=0.1)
    svm, two_c = TwoNuSVM(X, y), pc.TwoCSVM(X, y)
    star = svm.nu_star(0.5)
    assert star > 0.05  # these classes overlap
    at = [two_c.solve(c / 2, c / 2).alpha.sum() / (c * svm.n) for c in (1e3, 1e5)]
    assert star <= at[1] + 1e-9 <= at[0] + 2e-9
    assert at[1] == pytest.approx(star, rel=1e-4)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("form", ["primal", "dual"])
def test_theorem_3_up_to_nu_star_the_solution_is_trivial_and_says_so(seed, form):
    svm = TwoNuSVM(*data(seed, shift=0.1))
    star = svm.nu_star(0.5)
    for share in (0.3, 0.999, 1.0):
        solution = svm.solve(nu=share * star, asymmetry=0.5, form=form)
        assert "trivial" in solution.status
        assert "nu_*" in solution.notes[0]
        assert solution.value == pytest.approx(0, abs=1e-15)
        assert solution.certificate.passes(), solution.certificate.explain()
        assert solution.costs is None
        for ask in (solution.classifier.predict, solution.classifier.decision_function):
            with pytest.raises(InputError, match="no classifier"):
                ask(svm.X)
    beyond = svm.solve(nu=1.01 * star, asymmetry=0.5, form=form)
    assert beyond.value < 0
    assert beyond.certificate.passes(), beyond.certificate.explain()
    assert set(beyond.classifier.predict(svm.X)) <= {-1.0, 1.0}


def test_separable_classes_have_nu_star_0():
    svm = TwoNuSVM(*data(0, shift=4.0))
    assert svm.nu_star(0.5) == 0.0
    solution = svm.solve(nu=1e-4, asymmetry=0.5)
    assert solution.certificate.passes()
    assert solution.classifier.predict(svm.X) == pytest.approx(svm.y)


# Oracles


@kernel
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("asymmetry", [0.35, 0.6])
def test_against_libsvm(kernel, seed, asymmetry):
    """NuSVC with sample weights is the 2nu-SVM (its class_weight is ignored)."""
    X, y = data(seed, n=30)
    svm = TwoNuSVM(X, y, kernel)
    nu = 0.5 * (svm.nu_star(asymmetry) + svm.nu_max(asymmetry))
    solution = svm.solve(nu=nu, asymmetry=asymmetry)
    weight = np.where(y > 0, asymmetry, 1 - asymmetry)
    # LIBSVM: sum of alpha = nu_svc * sum of weights, alpha_i <= weight_i; ours times n.
    model = NuSVC(nu=nu * y.size / weight.sum(), kernel="precomputed", tol=1e-10)
    model.fit(svm.gram.matrix, y, sample_weight=weight)
    alpha = np.zeros(y.size)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    alpha *= nu / alpha.sum()  # LIBSVM returns alpha / rho
    assert quadratic(svm, alpha) == pytest.approx(-solution.value, rel=1e-6)
    np.testing.assert_allclose(svm.gram.matvec(y * alpha), svm.gram.matvec(y * solution.alpha), atol=1e-5)


@pytest.mark.parametrize("seed", range(2))
def test_at_one_half_it_is_the_nu_svm_at_twice_nu(seed):
    X, y = data(seed, n=30)
    svm = TwoNuSVM(X, y)
    nu = 0.5 * (svm.nu_star(0.5) + svm.nu_max(0.5))
    own = svm.solve(nu=nu, asymmetry=0.5).classifier
    direction = own.w / np.linalg.norm(own.w)

    def theirs(nu):
        w = NuSVC(nu=nu, kernel="linear", tol=1e-6).fit(X, y).coef_[0]  # a tighter one takes a minute
        return w / np.linalg.norm(w)

    assert theirs(2 * nu) == pytest.approx(direction, abs=1e-5)
    assert np.abs(theirs(nu) - direction).max() > 1e-3


@problems
def test_the_value_has_derivative_minus_rho_in_nu(seed, asymmetry, share):
    svm = TwoNuSVM(*data(seed))
    nu, h = between(svm, asymmetry, share), 1e-5
    low, mid, high = (svm.solve(nu=v, asymmetry=asymmetry) for v in (nu - h, nu, nu + h))
    slope = (low.value - high.value) / (2 * h)
    # At a kink any number between the one-sided derivatives, which bracket rho.
    one_sided = sorted([(low.value - mid.value) / h, (mid.value - high.value) / h])
    rho = mid.numbers["rho"]
    assert one_sided[0] - 1e-4 <= rho <= one_sided[1] + 1e-4 or slope == pytest.approx(rho, rel=1e-3, abs=1e-4)


# Intercepts that are not unique


def brute_force(y, scores, nu, plus, minus):
    """Minimum over (rho, b) by a linear program, and the range of b at that minimum."""
    rho, b, xi = cp.Variable(), cp.Variable(), cp.Variable(y.size, nonneg=True)
    objective = -nu * rho + np.where(y > 0, plus, minus) @ xi
    constraints = [cp.multiply(y, scores + b) >= rho - xi]
    best = cp.Problem(cp.Minimize(objective), constraints).solve(solver="HIGHS")
    ends = []
    for sign in (1, -1):
        p = cp.Problem(cp.Minimize(sign * b), [*constraints, objective <= best + 1e-12, cp.abs(b) <= 50])
        ends.append(sign * p.solve(solver="HIGHS"))
    return best, ends


@given(seed=st.integers(0, 10**6), k_plus=st.integers(1, 8), k_minus=st.integers(1, 10), whole=st.booleans())
def test_thresholds_against_linear_programs(seed, k_plus, k_minus, whole):
    rng = np.random.default_rng(seed)
    y = np.repeat([1.0, -1.0], [8, 10])
    scores = np.round(rng.normal(size=18), 3) + y
    shift = 0.0 if whole else 0.37
    plus, minus, nu = 0.5 / (k_plus - shift), 0.5 / (k_minus - shift), 1.0
    best = thresholds(y, scores, nu, plus, minus)
    value, (low, high) = brute_force(y, scores, nu, plus, minus)
    b = 0.5 * (sum(best.minus) - sum(best.plus))
    assert low == pytest.approx(max(best.b_interval[0], -50), abs=1e-5)
    assert high == pytest.approx(min(best.b_interval[1], 50), abs=1e-5)
    rho, b = 0.5 * sum(_chosen(i) for i in (best.plus, best.minus)), best.b
    xi = np.maximum(0, rho - y * (scores + b))
    assert -nu * rho + np.where(y > 0, plus, minus) @ xi == pytest.approx(value, abs=1e-9)


def _chosen(interval):
    low, high = interval
    return 0.5 * (low + high) if np.isfinite(high) else low


def test_whole_ranks_report_an_interval_and_use_its_middle():
    found = 0
    for seed in range(20):
        X, y = data(seed, n=30)
        svm = TwoNuSVM(X, y)
        nu_plus, nu_minus = 3 / svm.n_plus, 5 / svm.n_minus
        if svm.to_asymmetry(nu_plus, nu_minus)[0] <= svm.nu_star(svm.to_asymmetry(nu_plus, nu_minus)[1]):
            continue
        solution = svm.solve(nu_plus=nu_plus, nu_minus=nu_minus)
        low, high = solution.classifier.b_interval
        if high > low:
            found += 1
            assert "Not unique" in solution.notes[0]
            assert solution.classifier.b == pytest.approx((low + high) / 2)
            # Every intercept in it is optimal: with its best rho the primal value is the same.
            for b in np.linspace(low, high, 5):
                values = _best_value(svm, solution, b)
                assert values == pytest.approx(solution.value, rel=1e-9)
            assert _best_value(svm, solution, high + 0.1 * (high - low)) > solution.value + 1e-9 * abs(solution.value)
    assert found >= 2


def _best_value(svm, solution, b):
    """Primal value at w and b, with the best rho: a minimum over the kinks of a convex piecewise linear function."""
    nu, plus, minus = svm._numbers(solution.values)
    y, scores = svm.y, svm.X @ solution.classifier.w
    margins = y * (scores + b)
    return min(
        0.5 * solution.classifier.w @ solution.classifier.w
        - nu * rho
        + np.where(y > 0, plus, minus) @ np.maximum(0, rho - margins)
        for rho in np.maximum(margins, 0.0)
    )


def test_the_edge_uses_the_finite_end_of_its_half_line():
    X, y = data(5)
    svm = TwoNuSVM(X, y)
    solution = svm.solve(nu_plus=1.0, nu_minus=0.77)
    low, high = solution.classifier.b_interval
    assert low == -np.inf
    assert solution.classifier.b == high
    rho, b = solution.numbers["rho"], solution.classifier.b
    assert rho - b == pytest.approx((X @ solution.classifier.w)[y > 0].max())
    # The smallest rho is the largest equivalent cost; there the 2C-SVM leaves its first phase.
    assert solution.certificate.passes()


# Reduced convex hulls


def test_shares_of_1_are_the_nearest_mean_rule():
    X, y = data(2)
    hulls = TwoNuSVM(X, y).hulls(1.0, 1.0)
    np.testing.assert_allclose(hulls.point_plus, X[y > 0].mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(hulls.point_minus, X[y < 0].mean(axis=0), atol=1e-9)
    w = hulls.solution.classifier.w
    direction = hulls.point_plus - hulls.point_minus
    np.testing.assert_allclose(w / np.linalg.norm(w), direction / np.linalg.norm(direction), atol=1e-9)
    assert hulls.distance == pytest.approx(np.linalg.norm(direction))
    assert not hulls.meet


@kernel
@problems
def test_hulls_against_their_own_program(kernel, seed, asymmetry, share):
    X, y = data(seed)
    svm = TwoNuSVM(X, y, kernel)
    nu = between(svm, asymmetry, share)
    nu_plus, nu_minus = svm.to_classes(nu, asymmetry)
    assume(max(nu_plus, nu_minus) <= 1)
    hulls = svm.hulls(nu_plus, nu_minus)
    caps = np.where(y > 0, 1 / (nu_plus * svm.n_plus), 1 / (nu_minus * svm.n_minus))
    for mine in (y > 0, y < 0):
        assert hulls.weights[mine].sum() == pytest.approx(1, rel=1e-9)
    assert np.all(hulls.weights <= caps * (1 + 1e-9))
    a = cp.Variable(y.size, nonneg=True)
    F = np.asarray(svm.gram.factor)
    apart = cp.sum_squares(F.T @ cp.multiply(y, a))
    reference = cp.Problem(cp.Minimize(apart), [cp.sum(a[y > 0]) == 1, cp.sum(a[y < 0]) == 1, a <= caps])
    reference.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    assert hulls.distance**2 == pytest.approx(reference.value, rel=1e-6, abs=1e-9)


def test_meeting_hulls_say_so():
    svm = TwoNuSVM(*data(1, shift=0.1))
    star = svm.nu_star(0.5)
    hulls = svm.hulls(*svm.to_classes(0.9 * star, 0.5))
    assert hulls.meet
    assert hulls.distance < 1e-8
    np.testing.assert_allclose(hulls.point_plus, hulls.point_minus, atol=1e-8)


@pytest.mark.parametrize("offset", [1e6, 1.7e9, 2.0**40])
def test_nu_star_knows_no_origin(offset):
    """At 1.7e9 it was 0.433 for 0.368: the solver's tolerance was that of the offset."""
    rng = np.random.default_rng(3)
    X = np.round(1024 * rng.normal(size=(30, 2))) / 1024  # exact at every offset
    y = np.where(X[:, 0] + rng.normal(size=30) > 0, 1.0, -1.0)
    here, there = (pc.TwoNuSVM(Z, y).nu_star(0.5) for Z in (X, X + offset))
    assert there == pytest.approx(here, rel=1e-9)
    assert here == pytest.approx(pc.TwoNuSVM(X, y, lambda A, B: A @ B.T + 1).nu_star(0.5), rel=1e-6)
