"""The biobjective margin problem: Lemmas 3, 4, Theorems 5, 7, Corollary 6 of Carrizosa & Martin-Barragan (2006)."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.common.errors import InputError, InseparableError
from paretoclf.formulations.biobjective_margin import BiobjectiveMargin

KERNELS = {"linear": None, "rbf": pc.RBF(1.5)}
kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
thetas = given(seed=st.integers(0, 10**6), theta=st.floats(0.05, 20.0))


def data(seed, shift, n=24, d=3):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < rng.integers(5, n - 5), 1.0, -1.0)
    return rng.uniform(-1, 1, size=(n, d)) + shift * y[:, None], y


def separable(seed):
    return data(seed, 1.4)


def margins(X, y, w, b):
    scores = y * (X @ w + b) / np.linalg.norm(w)
    return scores[y > 0].min(), scores[y < 0].min()


# Hard


@pytest.mark.parametrize("form", ["primal", "dual"])
@thetas
def test_lemma_4_cvxpy_against_the_closed_form(form, seed, theta):
    X, y = separable(seed)
    hard = BiobjectiveMargin(X, y, soft=False)
    pareto = hard.pareto_set()
    assert hard.solve(theta=theta, form=form).certificate.passes(1e-10)
    solution = hard.solve(theta=theta, form=form, polish=False)  # what CVXPY says, not the polish
    np.testing.assert_allclose(solution.classifier.w, pareto.classifier(theta).w, atol=1e-7)
    assert solution.classifier.b == pytest.approx(pareto.b + (theta - 1) / (theta + 1), abs=1e-7)
    assert pareto.classifier(theta).b == pareto.intercept(theta)
    if hard.n - np.count_nonzero(solution.alpha > 1e-6) >= hard.n - 4:  # affinely independent: multipliers are unique
        np.testing.assert_allclose(solution.alpha, pareto.multipliers(theta), atol=1e-4 * solution.alpha.max())
    # The sign of the shift matters.
    if abs(theta - 1) > 0.1:
        assert solution.classifier.b != pytest.approx(pareto.b - (theta - 1) / (theta + 1), abs=1e-3)


@thetas
def test_margins_by_hand(seed, theta):
    X, y = separable(seed)
    hard = BiobjectiveMargin(X, y, soft=False)
    pareto = hard.pareto_set()
    rule = hard.solve(theta=theta).classifier
    plus, minus = margins(X, y, rule.w, rule.b)
    assert (plus, minus) == pytest.approx(pareto.margins(theta), rel=1e-7)
    assert plus / minus == pytest.approx(theta, rel=1e-7)
    assert plus + minus == pytest.approx(2 / pareto.norm, rel=1e-7)
    assert pareto.theta(rule.b) == pytest.approx(theta, rel=1e-6)
    # The sum is the distance of the convex hulls: nearest points from the multipliers, which are convex weights.
    alpha = pareto.alpha / pareto.alpha[y > 0].sum()
    points = [X[y == sign].T @ alpha[y == sign] for sign in (1, -1)]
    assert np.linalg.norm(points[0] - points[1]) == pytest.approx(plus + minus, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_theta_1_is_the_hard_margin_svm(seed):
    X, y = separable(seed)
    solution = BiobjectiveMargin(X, y, soft=False).solve(theta=1.0)
    model = SVC(C=1e7, kernel="linear", tol=1e-10).fit(X, y)
    np.testing.assert_allclose(solution.classifier.w, model.coef_[0], rtol=1e-4, atol=1e-5)
    assert solution.classifier.b == pytest.approx(model.intercept_[0], abs=1e-4)


@given(seed=st.integers(0, 10**6))
def test_theorem_5_and_corollary_6_nothing_dominates_the_pareto_set(seed):
    """No other classifier has both margins larger; outside of the interval, some classifier of the set has."""
    X, y = separable(seed)
    pareto = BiobjectiveMargin(X, y, soft=False).pareto_set()
    rng = np.random.default_rng(seed)
    w1, (low, high) = pareto.classifier(1.0).w, pareto.interval
    directions = np.vstack([rng.normal(size=(2000, 3)), w1 + 0.1 * np.linalg.norm(w1) * rng.normal(size=(2000, 3))])
    best = [margins(X, y, w, 0.0) for w in directions]
    assert max(sum(m) for m in best) <= 2 / pareto.norm + 1e-9  # the sum does not depend on b
    for b in (low - 0.1, high + 0.1):
        assert min(margins(X, y, w1, b)) < 0  # a class is on the wrong side: not even feasible
        with pytest.raises(InputError, match="Pareto-optimal"):
            pareto.theta(b)
    for scale in (0.1, 10.0):  # mu > 0 changes nothing
        theta = pareto.theta(pareto.b + 0.3)
        assert margins(X, y, scale * w1, scale * (pareto.b + 0.3)) == pytest.approx(pareto.margins(theta), rel=1e-6)


def test_lemma_3_the_largest_smaller_margin_is_weakly_efficient():
    """Of 4000 random hyperplanes none has a larger min(rho_plus, theta rho_minus) than that of theta, nor both margins
    larger; and that of theta is the one of its own ratio of margins."""
    X, y = separable(3)
    pareto = BiobjectiveMargin(X, y, soft=False).pareto_set()
    rng = np.random.default_rng(3)
    w1 = pareto.classifier(1.0).w
    others = []
    for w in np.vstack([rng.normal(size=(2000, 3)), w1 + 0.1 * np.linalg.norm(w1) * rng.normal(size=(2000, 3))]):
        others.append(margins(X, y, w, rng.normal(scale=np.linalg.norm(w))))
    plus, minus = np.array(others).T
    for theta in (0.1, 1.0, 4.0):
        mine = pareto.classifier(theta)
        own = margins(X, y, mine.w, mine.b)
        assert own[0] == pytest.approx(theta * own[1])
        assert np.minimum(plus, theta * minus).max() <= min(own[0], theta * own[1]) + 1e-9
        assert not ((plus > own[0] + 1e-9) & (minus > own[1] + 1e-9)).any()


def largest(X, y, plus, minus):
    """Largest s with rho_plus >= plus[0] s + plus[1], rho_minus >= minus[0] s + minus[1], and the hyperplane: Clarabel.

    On |w| <= 1 margins are concave where they are positive; the best s has |w| = 1.
    """
    w, b, s = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable()
    f = X @ w + b
    constraints = [cp.norm(w) <= 1, f[y > 0] >= plus[0] * s + plus[1], -f[y < 0] >= minus[0] * s + minus[1]]
    program = cp.Problem(cp.Maximize(s), constraints)
    program.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return float(s.value), w.value, float(b.value)


@pytest.mark.parametrize("seed", [3, 5])
def test_lemma_3_in_both_directions(seed):
    """(1) what maximises min(rho_plus, theta rho_minus) is weakly efficient: no hyperplane has both margins larger.
    (2) what is weakly efficient maximises it for some theta. Weakly efficient hyperplanes are found without theta: the
    largest margin of one class where that of the other is given. Others maximise it for no theta."""
    X, y = separable(seed)

    def reached(w, b, theta):
        plus, minus = margins(X, y, w, b)
        return min(plus, theta * minus)

    for theta in (0.1, 1.0, 4.0):
        best, w, b = largest(X, y, (1.0, 0.0), (1 / theta, 0.0))
        plus, minus = margins(X, y, w, b)
        assert reached(w, b, theta) == pytest.approx(best, rel=1e-7)
        assert largest(X, y, (1.0, plus), (1.0, minus))[0] == pytest.approx(0, abs=1e-7)
    whole = largest(X, y, (0.0, 1e-9), (1.0, 0.0))[0]  # rho_minus at most
    for share in (0.05, 0.4, 0.95):
        _, w, b = largest(X, y, (1.0, 0.0), (0.0, share * whole))
        plus, minus = margins(X, y, w, b)
        assert min(plus, minus) > 0
        theta = plus / minus
        assert reached(w, b, theta) == pytest.approx(largest(X, y, (1.0, 0.0), (1 / theta, 0.0))[0], rel=1e-7)
    _, w, b = largest(X, y, (1.0, 0.0), (1.0, 0.0))
    turned = w + 0.05 * np.linalg.norm(w) * np.random.default_rng(seed).normal(size=3)
    plus, minus = margins(X, y, turned, b)
    assert min(plus, minus) > 0
    assert largest(X, y, (1.0, plus), (1.0, minus))[0] > 1e-4  # not weakly efficient, and ...
    for theta in np.geomspace(1e-3, 1e3, 25):
        assert reached(turned, b, theta) < largest(X, y, (1.0, 0.0), (1 / theta, 0.0))[0] * (1 - 1e-7)


def test_the_proof_of_corollary_6_as_printed():
    """Erratum eC1: min over the negatives of y f >= A; it is A / theta (at theta = 3: 0.5, not 1.5)."""
    X, y = separable(0)
    rule = BiobjectiveMargin(X, y, soft=False).solve(theta=3.0).classifier
    reached = (y * (X @ rule.w + rule.b))[y < 0].min()
    assert reached == pytest.approx(1.5 / 3, abs=1e-7)
    assert reached != pytest.approx(1.5, abs=0.1)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("forbidden", [None, pc.Polynomial(1)])
def test_inseparable_classes_are_refused_with_a_point_in_both_hulls(seed, forbidden):
    X, y = data(seed, 0.1)
    hard = BiobjectiveMargin(X, y, forbidden, soft=False)
    for ask in (lambda: hard.solve(theta=1.0), hard.pareto_set, lambda: pc.sweep(hard, theta=[1.0])):
        with pytest.raises(InseparableError, match="cannot be separated") as error:
            ask()
    plus, minus = error.value.weights_plus, error.value.weights_minus
    for weights, sign in ((plus, 1), (minus, -1)):
        assert np.all(weights >= 0)
        assert np.all(weights[y != sign] == 0)
        assert weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(X.T @ plus, X.T @ minus, atol=1e-9)
    assert BiobjectiveMargin(X, y, pc.RBF(0.3), soft=False).solve(theta=1.0).certificate.passes()


def test_touching_classes_are_inseparable():
    X = np.array([[0.0], [1.0], [1.0], [2.0]])
    with pytest.raises(InseparableError):
        BiobjectiveMargin(X, [-1, -1, 1, 1], soft=False).solve(theta=1.0)
    apart = X - np.array([[0.0], [1e-3], [0.0], [0.0]])
    assert BiobjectiveMargin(apart, [-1, -1, 1, 1], soft=False).solve(theta=1.0).value > 3.9e6


# Soft


@kernel
@pytest.mark.parametrize("form", ["primal", "dual"])
@given(
    seed=st.integers(0, 10**6), theta=st.floats(0.1, 10.0), C_plus=st.floats(0.1, 10.0), C_minus=st.floats(0.1, 10.0)
)
def test_theorem_7_cvxpy_against_the_closed_form(kernel, form, seed, theta, C_plus, C_minus):
    X, y = data(seed, 0.3)
    soft = BiobjectiveMargin(X, y, kernel)
    costs = {"C_plus": C_plus, "C_minus": C_minus}
    assert soft.solve(theta=theta, **costs, form=form).certificate.passes(1e-10)
    pareto = soft.pareto_set(**costs)
    solution = soft.solve(theta=theta, **costs, form=form, polish=False)  # what CVXPY says, not the polish
    first = soft.solve(theta=1.0, **costs)
    assert solution.value == pytest.approx(first.value, rel=1e-8)  # same w and xi
    np.testing.assert_allclose(solution.xi, first.xi, atol=1e-5)
    np.testing.assert_allclose(solution.alpha, pareto.multipliers(theta), atol=1e-5 * pareto.alpha.max())
    assert solution.classifier.b == pytest.approx(pareto.intercept(theta), abs=1e-5)
    # The margins of the paper's (28), slacks included.
    f = soft.gram.matvec(0.5 * y * np.where(y > 0, 1.0, theta) * solution.alpha) + solution.classifier.b
    reached = (y * f + solution.xi) / pareto.norm
    assert (reached[y > 0].min(), reached[y < 0].min()) == pytest.approx(pareto.margins(theta), rel=1e-4)


@given(seed=st.integers(0, 10**6), theta=st.floats(0.2, 5.0), C_plus=st.floats(0.2, 5.0), C_minus=st.floats(0.2, 5.0))
def test_soft_is_hard_in_the_augmented_space(seed, theta, C_plus, C_minus):
    X, y = data(seed, 0.2)
    costs = np.where(y > 0, C_plus, C_minus)
    soft = BiobjectiveMargin(X, y).solve(theta=theta, C_plus=C_plus, C_minus=C_minus)
    augmented = np.hstack([X, np.diag(y / np.sqrt(costs))])
    hard = BiobjectiveMargin(augmented, y, soft=False).solve(theta=theta)
    assert hard.value == pytest.approx(soft.value, rel=1e-8)
    w = hard.classifier.w
    np.testing.assert_allclose(w[:3], soft.classifier.w, atol=1e-6)
    np.testing.assert_allclose(w[3:], np.sqrt(costs) * soft.xi, atol=1e-6)
    assert hard.classifier.b == pytest.approx(soft.classifier.b, abs=1e-6)


def test_equal_weights_are_problem_26_by_an_independent_solver():
    """The squared hinge with unpenalised intercept is the hard margin for the kernel K + I / C: LIBSVM at huge C."""
    X, y = data(2, 0.2)
    solution = BiobjectiveMargin(X, y).solve(theta=1.0, C_plus=0.7, C_minus=0.7)
    model = SVC(C=1e9, kernel="precomputed", tol=1e-10).fit(X @ X.T + np.eye(y.size) / 0.7, y)
    alpha = np.zeros(y.size)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    np.testing.assert_allclose(solution.alpha, 2 * alpha, atol=1e-4)
    assert solution.classifier.b == pytest.approx(model.intercept_[0], abs=1e-4)


@given(seed=st.integers(0, 10**6), theta=st.floats(0.2, 5.0))
def test_the_value_has_the_squared_slacks_as_derivatives(seed, theta):
    X, y = data(seed, 0.1)
    soft, h = BiobjectiveMargin(X, y), 1e-4
    solution = soft.solve(theta=theta, C_plus=0.8, C_minus=1.3)
    up = (
        soft.solve(theta=theta, C_plus=0.8 + h, C_minus=1.3).value
        - soft.solve(theta=theta, C_plus=0.8 - h, C_minus=1.3).value
    )
    assert up / (2 * h) == pytest.approx((solution.xi[y > 0] ** 2).sum(), rel=1e-4, abs=1e-6)


def test_a_larger_cost_lowers_the_false_negative_rate():
    """Erratum eC2: the class of larger (not smaller) misclassification cost gets the larger weight."""
    X, y = data(3, 0.25, n=60)
    soft = BiobjectiveMargin(X, y)
    missed = [
        np.mean(soft.solve(theta=1.0, C_plus=c, C_minus=1.0).classifier.predict(X)[y > 0] < 0)
        for c in (0.02, 1.0, 50.0)
    ]
    assert missed[0] > missed[2]
    assert missed[0] >= missed[1] >= missed[2]


def test_bad_input():
    X, y = separable(0)
    with pytest.raises(InputError, match="soft must be True or False"):
        BiobjectiveMargin(X, y, soft="no")
    with pytest.raises(InputError, match="theta must be"):
        BiobjectiveMargin(X, y, soft=False).pareto_set().margins(0.0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("X", "y", "separable"),
    [
        (1.7e9 + np.array([[0], [1], [3], [4.5], [6], [9]]), [-1, -1, -1, 1, 1, 1], True),
        (1.7e9 + np.array([[0], [1], [3], [4.5], [6], [9]]), [-1, -1, 1, -1, 1, 1], False),
        ([[0.0], [1e-9], [1.0]], [-1, 1, 1], True),
        ([[0.0], [1e-9], [1.0]], [-1, 1, -1], False),
        ([[0.0, 1.0], [1e-9, 1.0], [1.0, 5.0], [-1.0, 7.0]], [-1, 1, 1, -1], True),
        ([[0.0, 0.0], [1.0, 1.0], [0.5, 0.5 + 1e-10]], [-1, -1, 1], True),
        ([[0.0, 0.0], [1.0, 1.0], [0.5, 0.5]], [-1, -1, 1], False),
        (1e6 + np.array([[0.0, 0.0], [1.0, 1.0], [0.5, 0.5 + 2.0**-20]]), [-1, -1, 1], True),
    ],
)
def test_separability_wherever_the_origin_is_and_however_close_the_classes(X, y, separable, form):
    """Said of the first: "a point lies in both convex hulls"; the classes are 1.5 apart."""
    margin = pc.BiobjectiveMargin(form(np.asarray(X)), y, soft=False)
    assert margin.separation.separable == separable
    if separable:
        assert margin.check_values({"theta": 1.0}) == {"theta": 1.0}
    else:
        with pytest.raises(pc.errors.InseparableError):
            margin.solve(theta=1.0)


@pytest.mark.parametrize("seed", range(20))
def test_separability_against_the_order_on_a_line(seed):
    """Classes on a line through the space: the largest of one against the smallest of the other, exactly."""
    rng = np.random.default_rng(seed)
    d, gap = int(rng.integers(1, 4)), 10.0 ** -rng.integers(2, 11) * rng.choice([-1, 1])
    along = np.concatenate([-rng.uniform(size=6), [0.0], gap + rng.uniform(size=6), [gap]])
    X = along[:, None] * np.ones(d) + rng.choice([0.0, 1e4])
    y = np.repeat([-1, 1], 7)
    truth = X[y > 0, 0].min() > X[y < 0, 0].max()
    if abs(gap) > 1e-14 * np.abs(X).max() * 1e3:
        assert pc.BiobjectiveMargin(X, y, soft=False).separation.separable == truth
