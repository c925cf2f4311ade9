from __future__ import annotations

import pickle
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from paretoclf.common.errors import InputError, SolveError
from paretoclf.formulations.two_c_svm import TwoCSVM
from paretoclf.problem.kernels import RBF, Polynomial

FORMS = ("dual", "primal")
KERNELS = {"linear": None, "rbf": RBF(1.0), "poly": Polynomial(2)}

# Five points on a line whose whole path is known in exact rational arithmetic.
LINE_X = np.array([[2.0], [1.0], [0.0], [-1.0], [-3.0]])
LINE_Y = np.array([1, 1, -1, -1, -1])


def F(text):
    return float(Fraction(text))


# Ray C_plus = t, C_minus = 2t/3: (t, w, b). The last piece is linear from (3/2; 1, 0) to (3; 2, -1).
RAY = [
    ("6/85", "2/5", "1/5"),
    ("6/35", "2/5", "1/5"),
    ("2/7", "2/3", "-1/3"),
    ("1/2", "2/3", "-1/3"),
    ("3/5", "4/5", "-1/5"),
    ("3/4", "1", "0"),
    ("3/2", "1", "0"),
    ("9/4", "3/2", "-1/2"),
    ("3", "2", "-1"),
]
# Asymmetry line of total 2/3: (asymmetry, w, b).
ASYMMETRY = [
    ("0", "0", "-1"),
    ("1/2", "2/3", "-1/3"),
    ("3/5", "2/3", "-1/3"),
    ("3/4", "1/2", "1/2"),
    ("25/28", "1/2", "1/2"),
    ("1", "0", "1"),
]
LINE_FIXTURES = [(F(t), 2 * F(t) / 3, F(w), F(b)) for t, w, b in RAY] + [
    (F(g) * 2 / 3, (1 - F(g)) * 2 / 3, F(w), F(b)) for g, w, b in ASYMMETRY
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("C_plus", "C_minus", "w", "b"), LINE_FIXTURES)
def test_exact_solutions_of_five_points(form, C_plus, C_minus, w, b):
    solution = TwoCSVM(LINE_X, LINE_Y).solve(C_plus, C_minus, form)
    assert solution.certificate.passes(1e-12)
    assert solution.classifier.w[0] == pytest.approx(w, abs=1e-12)
    lo, hi = solution.classifier.b_interval
    assert lo - 1e-12 <= b <= hi + 1e-12
    if hi - lo < 1e-9:
        assert solution.classifier.b == pytest.approx(b, abs=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("asymmetry", "expected"), [(Fraction(2, 3), (-1 / 3, 1 / 3)), (Fraction(1, 3), (-1.0, -1 / 3))]
)
def test_the_whole_jump_of_b_is_reported(form, asymmetry, expected):
    total = Fraction(2, 3)
    solution = TwoCSVM(LINE_X, LINE_Y).solve(float(asymmetry * total), float((1 - asymmetry) * total), form)
    assert solution.classifier.w[0] == pytest.approx(2 / 3, abs=1e-12)
    assert solution.classifier.b_interval == pytest.approx(expected, abs=1e-9)
    assert solution.classifier.b == pytest.approx(sum(expected) / 2, abs=1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("C_plus", "C_minus"), [(0.3, 2.0), (0.1, 0.4), (0.45, 0.6), (5.0, 3.0)])
def test_two_points(form, C_plus, C_minus):
    solution = TwoCSVM([[1.0], [-1.0]], [1, -1]).solve(C_plus, C_minus, form)
    w = 2 * min(0.5, C_plus, C_minus)
    assert solution.classifier.w[0] == pytest.approx(w, abs=1e-12)
    if C_plus < min(C_minus, 0.5):
        assert solution.classifier.b == pytest.approx(w - 1, abs=1e-12)


SOLVERS = [s for s in ("CLARABEL", "OSQP", "SCS", "HIGHS", "PIQP", "DAQP", "PROXQP") if s in cp.installed_solvers()]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("form", FORMS)
def test_four_point_hinge_on_every_installed_solver(solver, form):
    """The textbook hinge makes four of these solvers report 4.0 as optimal; our model must not."""
    X, y = np.array([[1.0], [2.0], [-1.0], [-2.0]]), [1, 1, -1, -1]
    claimed = TwoCSVM(X, y).solve(1, 1, form, solver=solver, polish=False)
    assert claimed.value == pytest.approx(0.5, abs=1e-3)
    assert claimed.classifier.w[0] == pytest.approx(1.0, abs=1e-3)
    assert claimed.source == solver
    polished = TwoCSVM(X, y).solve(1, 1, form, solver=solver)
    assert polished.value == 0.5
    assert polished.certificate.passes(1e-14)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
def test_both_forms_agree_and_strong_duality_holds(gaussians, kernel):
    svm = TwoCSVM(*gaussians(), kernel)
    dual, primal = (svm.solve(1.5, 0.7, form) for form in FORMS)
    assert svm.primal.value == pytest.approx(-svm.dual.value, rel=1e-10)
    assert svm.primal.value == pytest.approx(primal.value, rel=1e-10)
    assert dual.value == pytest.approx(primal.value, rel=1e-12)
    assert dual.value == pytest.approx(dual.dual_value, rel=1e-12)
    lo, hi = dual.classifier.b_interval
    assert hi - lo < 1e-9  # unique, so the two forms must agree on it
    assert dual.classifier.b == pytest.approx(primal.classifier.b, abs=1e-9)
    np.testing.assert_allclose(dual.alpha, primal.alpha, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("accuracy", "tol"), [("reference", 1e-6), ("fast", 1e-3)])
def test_what_the_solver_says_before_polishing(gaussians, form, accuracy, tol):
    """Recovery itself, without the polish to repair it: multipliers, intercept and slope with their signs."""
    X, y = gaussians()
    solution = TwoCSVM(X, y).solve(1.5, 0.7, form, polish=False, accuracy=accuracy)
    assert solution.certificate.gap < tol**1.4
    assert solution.certificate.residual < tol
    assert solution.status == "optimal"
    assert abs(y @ solution.alpha) < tol
    np.testing.assert_allclose(solution.classifier.w, X.T @ (y * solution.alpha), atol=tol)
    lo, hi = solution.classifier.b_interval
    assert lo <= solution.classifier.b <= hi
    assert hi - lo < tol


def test_multipliers_of_the_dual_are_the_primal(gaussians):
    X, y = gaussians()
    svm = TwoCSVM(X, y)
    svm.solve(1.5, 0.7, "primal")
    svm.solve(1.5, 0.7, "dual")
    primal, dual = svm.primal_model, svm.dual_model
    xi, b = primal.variables["xi"].value, primal.variables["b"].value
    alpha = dual.variables["alpha"].value
    np.testing.assert_allclose(dual.constraints["upper"].dual_value, xi, atol=1e-7)
    assert float(dual.constraints["balance"].dual_value) == pytest.approx(float(b), abs=1e-7)
    np.testing.assert_allclose(primal.constraints["margin"].dual_value, alpha, atol=1e-7)
    np.testing.assert_allclose(primal.constraints["slack"].dual_value, svm.caps(1.5, 0.7) - alpha, atol=1e-7)
    np.testing.assert_allclose(primal.variables["w"].value, X.T @ (y * alpha), atol=1e-7)
    lower = dual.constraints["lower"].dual_value
    np.testing.assert_allclose(lower - xi, y * (X @ primal.variables["w"].value + b) - 1, atol=1e-7)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
@pytest.mark.parametrize("form", FORMS)
def test_dpp_with_two_scalar_parameters(gaussians, form, kernel):
    svm = TwoCSVM(*gaussians(), kernel)
    problem = svm.model(form).problem
    assert problem.is_dcp()
    assert problem.is_dpp()
    assert isinstance(problem.objective, cp.Minimize)
    assert {p.name(): p.size for p in problem.parameters()} == {"C_plus": 1, "C_minus": 1}
    assert {p.id for p in problem.parameters()} == {p.id for p in svm.parameters.values()}
    assert problem is svm.model(form).problem
    svm.solve(1.0, 2.0, form)
    compiled = problem._cache.param_prog
    assert compiled is not None
    svm.solve(3.0, 0.5, form)
    assert problem._cache.param_prog is compiled  # the second solve did not compile


def libsvm(X, y, C_plus, C_minus, kernel=None, weight=None):
    """Independent optimum: LIBSVM's multipliers and intercept."""
    options = {"kernel": "linear"} if kernel is None else {"kernel": "rbf", "gamma": 1 / (2 * kernel.bandwidth**2)}
    model = SVC(C=1.0, class_weight={1: C_plus, -1: C_minus}, tol=1e-8, **options).fit(X, y, weight)
    alpha = np.zeros(len(y))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    return model, alpha


@pytest.mark.parametrize("kernel", [None, RBF(1.0)], ids=["linear", "rbf"])
@pytest.mark.parametrize(("C_plus", "C_minus"), [(1.0, 1.0), (0.2, 3.0), (10.0, 0.5)])
def test_against_libsvm(gaussians, kernel, C_plus, C_minus):
    X, y = gaussians(40, 3, seed=4)
    solution = TwoCSVM(X, y, kernel).solve(C_plus, C_minus)
    model, alpha = libsvm(X, y, C_plus, C_minus, kernel)
    K = X @ X.T if kernel is None else kernel(X, X)
    value = alpha.sum() - 0.5 * (y * alpha) @ K @ (y * alpha)
    assert solution.value == pytest.approx(value, rel=1e-9)
    new = np.random.default_rng(1).normal(size=(30, 3))
    offset = solution.classifier.b - model.intercept_[0]
    np.testing.assert_allclose(
        solution.classifier.decision_function(new) - offset, model.decision_function(new), atol=1e-5
    )
    lo, hi = solution.classifier.b_interval
    assert lo - 1e-6 <= model.intercept_[0] <= hi + 1e-6


def test_sample_weights_against_libsvm(gaussians):
    X, y = gaussians(50, 2, seed=5)
    weight = np.random.default_rng(2).uniform(0.2, 3.0, size=50)
    solution = TwoCSVM(X, y, sample_weight=weight).solve(0.8, 1.7)
    _, alpha = libsvm(X, y, 0.8, 1.7, weight=weight)
    assert solution.value == pytest.approx(alpha.sum() - 0.5 * np.sum((X.T @ (y * alpha)) ** 2), rel=1e-9)
    assert (solution.alpha <= weight * np.where(y > 0, 0.8, 1.7) * (1 + 1e-12)).all()


@st.composite
def grid_problems(draw):
    """Small data on an integer grid: ties, duplicates and opposite labels on one point are the rule."""
    n, d = draw(st.integers(2, 10)), draw(st.integers(1, 2))
    X = np.array(draw(st.lists(st.lists(st.integers(-2, 2), min_size=d, max_size=d), min_size=n, max_size=n)), float)
    y = np.array([1, -1, *draw(st.lists(st.sampled_from([1, -1]), min_size=n - 2, max_size=n - 2))])
    costs = st.sampled_from([0.05, 0.3, 0.5, 1.0, 1.7, 20.0])
    return X, y, draw(costs), draw(costs)


@given(grid_problems())
def test_every_small_problem_is_certified_in_both_forms(problem):
    X, y, C_plus, C_minus = problem
    svm = TwoCSVM(X, y)
    dual, primal = (svm.solve(C_plus, C_minus, form) for form in FORMS)
    assert dual.certificate.passes(1e-8), dual.certificate.explain()
    assert primal.certificate.passes(1e-8), primal.certificate.explain()
    assert dual.value == pytest.approx(primal.value, rel=1e-8, abs=1e-12)
    np.testing.assert_allclose(dual.classifier.w, primal.classifier.w, atol=1e-5)


@given(grid_problems())
@settings(max_examples=15)
def test_swapping_the_classes_mirrors_the_classifier(problem):
    X, y, C_plus, C_minus = problem
    one = TwoCSVM(X, y).solve(C_plus, C_minus)
    other = TwoCSVM(X, -y).solve(C_minus, C_plus)
    assert one.value == pytest.approx(other.value, rel=1e-8, abs=1e-12)
    np.testing.assert_allclose(one.classifier.w, -other.classifier.w, atol=1e-5)
    lo, hi = other.classifier.b_interval
    assert one.classifier.b_interval == pytest.approx((-hi, -lo), abs=1e-5)


@given(grid_problems(), st.randoms(use_true_random=False))
@settings(max_examples=15)
def test_a_duplicated_sample_is_a_doubled_cost_and_order_does_not_matter(problem, random):
    X, y, C_plus, C_minus = problem
    chosen = random.randrange(len(y))
    weight = np.ones(len(y))
    weight[chosen] = 2.0
    weighted = TwoCSVM(X, y, sample_weight=weight).solve(C_plus, C_minus)
    order = random.sample(range(len(y) + 1), len(y) + 1)
    X2, y2 = np.vstack([X, X[[chosen]]])[order], np.append(y, y[chosen])[order]
    doubled = TwoCSVM(X2, y2).solve(C_plus, C_minus)
    assert weighted.value == pytest.approx(doubled.value, rel=1e-8, abs=1e-12)
    np.testing.assert_allclose(weighted.classifier.w, doubled.classifier.w, atol=1e-5)
    assert weighted.classifier.b_interval == pytest.approx(doubled.classifier.b_interval, abs=1e-5)


AXES = [(0.0, 2.0, (-np.inf, -1.0), -1.0), (3.0, 0.0, (1.0, np.inf), 1.0), (0.0, 0.0, (-np.inf, np.inf), 0.0)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("C_plus", "C_minus", "interval", "b"), AXES)
def test_on_the_axes_no_sample_counts(form, C_plus, C_minus, interval, b):
    solution = TwoCSVM(LINE_X, LINE_Y).solve(C_plus, C_minus, form)
    assert (solution.alpha == 0).all()
    assert (solution.classifier.w == 0).all()
    assert solution.classifier.b_interval == interval
    assert solution.classifier.b == b
    assert solution.value == 0
    assert solution.certificate.passes(0)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("exponent", [-6, -4, -2, 2, 4, 6, 8])
def test_costs_of_any_size(gaussians, form, exponent):
    X, y = gaussians(30, 2, seed=1)
    cost = 10.0**exponent
    solution = TwoCSVM(X, y).solve(cost, 2 * cost, form)
    assert solution.certificate.passes(), (solution.status, solution.certificate.explain())


@pytest.mark.parametrize("form", FORMS)
def test_one_problem_at_costs_decades_apart(gaussians, form):
    """A solver that keeps the scaling of its first solve calls later ones unbounded; options forbid the rescue."""
    svm = TwoCSVM(*gaussians(60, 2, seed=3))
    for cost in np.logspace(-4, 5, 19):
        solution = svm.solve(cost, cost, form, max_iter=200)
        assert solution.status.startswith("optimal,"), cost
        assert solution.certificate.gap < 1e-4


@pytest.mark.parametrize("form", FORMS)
def test_awkward_data(form):
    rng = np.random.default_rng(3)
    cases = {
        "one sample per class": (np.array([[0.0, 1.0], [2.0, 1.0]]), [1, -1]),
        "opposite labels on one point": (np.array([[1.0], [1.0], [-1.0], [3.0]]), [1, -1, -1, 1]),
        "all samples one point": (np.ones((5, 2)), [1, 1, -1, -1, -1]),
        "constant feature": (np.column_stack([rng.normal(size=20), np.full(20, 7.0)]), [1] * 8 + [-1] * 12),
        "1 : 100": (rng.normal(size=(101, 2)), [1] + [-1] * 100),
        "duplicates": (np.repeat(rng.integers(-2, 3, size=(8, 2)).astype(float), 4, axis=0), [1, -1] * 16),
        "huge features": (1e5 * rng.normal(size=(30, 3)), [1, -1] * 15),
        "tiny features": (1e-5 * rng.normal(size=(30, 3)), [1, -1] * 15),
    }
    for name, (X, y) in cases.items():
        for C_plus, C_minus in [(1.0, 1.0), (0.1, 5.0), (30.0, 2.0)]:
            solution = TwoCSVM(X, y).solve(C_plus, C_minus, form)
            assert solution.certificate.passes(), (name, C_plus, solution.status, solution.certificate.explain())


def test_precomputed_and_named_kernels_are_the_same_problem(gaussians):
    X, y = gaussians(30, 2)
    kernel = RBF(0.7)
    direct = TwoCSVM(X, y, kernel).solve(2.0, 1.0)
    given_matrix = TwoCSVM(kernel(X, X), y, "precomputed").solve(2.0, 1.0)
    called = TwoCSVM(X, y, lambda A, B: kernel(A, B)).solve(2.0, 1.0)
    assert direct.value == pytest.approx(given_matrix.value, rel=1e-12)
    assert direct.value == pytest.approx(called.value, rel=1e-12)
    new = X[:5] + 0.1
    np.testing.assert_allclose(
        direct.classifier.decision_function(new), given_matrix.classifier.decision_function(kernel(new, X)), atol=1e-10
    )


def test_thin_and_full_kernels_use_different_models(gaussians):
    X, y = gaussians(60, 1)
    thin, full = TwoCSVM(X, y, RBF(5.0)), TwoCSVM(X, y, RBF(0.05))
    assert thin.dual_model.thin
    assert not full.dual_model.thin
    for svm in (thin, full):
        assert svm.solve(1.0, 1.0).certificate.passes(1e-10)


def test_caps_and_class_sizes():
    svm = TwoCSVM(LINE_X, LINE_Y, sample_weight=[1, 2, 3, 4, 5])
    np.testing.assert_array_equal(svm.caps(2.0, 10.0), [2, 4, 30, 40, 50])
    assert (svm.n_plus, svm.n_minus) == (2, 3)


def test_building_is_lazy_and_pickles(gaussians):
    svm = TwoCSVM(*gaussians(20, 2))
    assert "dual_model" not in svm.__dict__
    before = svm.solve(1.0, 2.0)
    again = pickle.loads(pickle.dumps(svm)).solve(1.0, 2.0)
    assert again.value == before.value
    assert pickle.loads(pickle.dumps(before)).value == before.value


def test_repr(gaussians):
    X, y = gaussians(20, 2)
    assert repr(TwoCSVM(X, y)) == "TwoCSVM(20 samples (8 positive, 12 negative), 2 features, Linear())"
    assert "weighted" in repr(TwoCSVM(X, y, sample_weight=np.full(20, 2.0)))
    assert "features" not in repr(TwoCSVM(X @ X.T, y, "precomputed"))


GOOD_X, GOOD_Y = [[0.0], [1.0], [2.0]], [1, -1, 1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([[0.0], [np.nan], [1.0]], GOOD_Y), ["X", "nan", "row 1"]),
        (([[0.0], [np.inf], [1.0]], GOOD_Y), ["X", "inf", "row 1"]),
        (([0.0, 1.0, 2.0], GOOD_Y), ["X", "shape (3,)"]),
        ((GOOD_X, [1, 1, 1]), ["y", "both classes"]),
        ((GOOD_X, [0, 1, 1]), ["y", "-1 and +1"]),
        ((GOOD_X, [1, -1]), ["y", "3", "2"]),
        ((GOOD_X, GOOD_Y, None, [1, 0, 1]), ["sample_weight", "positive"]),
        ((GOOD_X, GOOD_Y, None, [1, 1]), ["sample_weight", "shape"]),
        ((GOOD_X, GOOD_Y, "nonsense"), ["kernel", "nonsense"]),
        ((GOOD_X, GOOD_Y, "precomputed"), ["X", "square"]),
    ],
)
def test_bad_data(arguments, words):
    with pytest.raises(InputError) as error:
        TwoCSVM(*arguments)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"C_plus": -1.0, "C_minus": 1.0}, ["C_plus", "nonnegative"]),
        ({"C_plus": 1.0, "C_minus": np.nan}, ["C_minus", "nonnegative"]),
        ({"C_plus": np.inf, "C_minus": 1.0}, ["C_plus", "finite"]),
        ({"C_plus": "much", "C_minus": 1.0}, ["C_plus", "much"]),
        ({"C_plus": 1.0, "C_minus": 1.0, "form": "both"}, ["form", "'dual'", "'primal'"]),
        ({"C_plus": 1.0, "C_minus": 1.0, "accuracy": "high"}, ["accuracy", "'fast'"]),
        ({"C_plus": 1.0, "C_minus": 1.0, "solver": "NOPE"}, ["solver", "CLARABEL", "NOPE"]),
        ({"C_plus": 1.0, "C_minus": 1.0, "warm_start": True}, ["warm_start", "sweep"]),
    ],
)
def test_bad_solve(arguments, words):
    with pytest.raises(InputError) as error:
        TwoCSVM(GOOD_X, GOOD_Y).solve(**arguments)
    for word in words:
        assert word in str(error.value)


def test_a_point_that_is_not_optimal_is_not_certified(gaussians):
    """The solver stops at its first iteration; what comes back is given, and judged."""
    solution = TwoCSVM(*gaussians(40, 3)).solve(1.0, 1.0, max_iter=1, polish=False)
    assert solution.status == "user_limit"
    assert not solution.certificate.passes(1e-3)


def test_a_solver_that_returns_nothing_is_an_error(gaussians):
    with pytest.raises(SolveError, match=r"SCIPY failed on the dual at .*'C_plus': 1.0"):
        TwoCSVM(*gaussians(40, 3)).solve(1.0, 1.0, solver="SCIPY")
