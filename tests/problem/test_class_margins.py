"""Margins of arbitrary hyperplanes: against CVXPY, brute force and Theorems 5 and 7 of Carrizosa & Martin-Barragan."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.formulations import object_margins
from paretoclf.problem.classifiers import KernelRule

COSTS = pc.Costs(0.7, 2.5)
TIGHT = {"solver": "CLARABEL", "tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
seeds = pytest.mark.parametrize("seed", range(6))


def data(seed, shift=1.4, n=20, d=3):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < rng.integers(3, n - 3), 1.0, -1.0)
    return rng.uniform(-1, 1, size=(n, d)) + shift * y[:, None], y


def traced(X, y, soft=False):
    return pc.trace(pc.BiobjectiveMargin(X, y, soft=soft), theta=(1e-4, 1e4), **(vars(COSTS) if soft else {}))


def by_hand(X, y, w, b, xi=None):
    """Definition 2, or (28)."""
    C = np.where(y > 0, *COSTS)
    xi = np.zeros(y.size) if xi is None else xi
    each = (y * (X @ w + b) + xi) / np.sqrt(w @ w + C @ xi**2)
    return each[y > 0].min(), each[y < 0].min()


def some_separating(X, y, w1, b1, rng, n=300):
    """Hyperplanes near the best one that separate the classes."""
    for _ in range(n):
        w = w1 + rng.choice([0.01, 0.1, 0.5]) * np.linalg.norm(w1) * rng.normal(size=w1.size)
        b = b1 + rng.uniform(-1, 1)
        if min(by_hand(X, y, w, b)) > 0:
            yield w, b


# ---- margins -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])
def test_cvxpy_finds_the_nearest_point_of_the_plane(soft):
    X, y = data(0, 0.3)
    rng = np.random.default_rng(0)
    w, b, xi = rng.normal(size=3), 0.4, rng.uniform(0, 2, size=y.size)
    mine = object_margins(X, y, w, b, **({"xi": xi, "slack_costs": COSTS} if soft else {}))
    root = np.sqrt(np.where(y > 0, *COSTS))
    points = np.hstack([X, np.diag(y / root)]) if soft else X
    slope = np.concatenate([w, root * xi]) if soft else w
    for i in (0, 5, 19):
        z = cp.Variable(slope.size)
        problem = cp.Problem(cp.Minimize(cp.norm(z - points[i])), [slope @ z + b == 0])
        side = np.sign(y[i] * (slope @ points[i] + b))
        assert mine[i] == pytest.approx(side * problem.solve(**TIGHT), abs=1e-7)


def test_scale_sparsity_and_labels_change_nothing():
    X, y = data(1)
    w, b = np.array([1.0, 2.0, 0.5]), 0.1
    mine = object_margins(X, y, w, b)
    for mu in (1e-200, 1e-3, 1e200):  # equation (9)
        np.testing.assert_allclose(object_margins(X, y, mu * w, mu * b), mine, rtol=1e-13)
    np.testing.assert_allclose(object_margins(sp.csr_array(X), y.astype(int), w, b), mine, rtol=1e-13)
    np.testing.assert_allclose(object_margins(X, -y, -w, -b), mine, rtol=1e-13)
    # Zero slacks are none; a slope of zero with slacks has margins, though it is no hyperplane.
    np.testing.assert_allclose(object_margins(X, y, w, b, xi=0 * y, slack_costs=(1, 2)), mine, rtol=1e-13)
    flat = object_margins(X, y, 0 * w, 0.0, xi=np.ones(y.size), slack_costs=(1.0, 1.0))
    np.testing.assert_allclose(flat, 1 / np.sqrt(y.size), rtol=1e-13)


# ---- Pareto optimality ---------------------------------------------------------------------------------------------


@seeds
def test_theorem_5_and_corollary_6(seed):
    """Exactly the multiples of w_1 with an intercept closer than 1 to b_1, both from CVXPY, are (weakly) efficient."""
    X, y = data(seed)
    path = traced(X, y)
    w, b = cp.Variable(3), cp.Variable()
    cp.Problem(cp.Minimize(cp.sum_squares(w)), [cp.multiply(y, X @ w + b) >= 1]).solve(**TIGHT)
    w1, b1 = w.value, float(b.value)
    for mu in (0.02, 1.0, 50.0):
        for shift in (-0.999, -0.3, 0.0, 0.7, 0.999):
            member = path.hyperplane(mu * w1, mu * (b1 + shift))
            assert member.is_efficient(1e-6)
            assert member.is_weakly_efficient(1e-6)
            assert member.theta == pytest.approx((1 + shift) / (1 - shift), rel=1e-3)
        for shift in (-5.0, -1.001, 1.001, 5.0):
            outside = path.hyperplane(mu * w1, mu * (b1 + shift))
            assert not outside.separates
            assert not outside.is_efficient(1e-6)
            assert not outside.is_weakly_efficient(1e-6)
            assert outside.missing == pytest.approx(0.0, abs=1e-6)  # the sum does not depend on b
            with pytest.raises(pc.InputError, match="does not separate"):
                _ = outside.theta
            with pytest.raises(pc.InputError, match="does not separate"):
                _ = outside.dominating
        assert not path.hyperplane(-mu * w1, -mu * b1).is_efficient()
    for slope, intercept in some_separating(X, y, w1, b1, np.random.default_rng(seed), 40):
        assert not path.hyperplane(slope, intercept).is_efficient()


@seeds
def test_what_dominates_a_hyperplane_by_brute_force(seed):
    X, y = data(seed)
    path = traced(X, y)
    w1, b1 = path.slope(0.5), path.intercept(0.5)
    members = {theta: by_hand(X, y, w1, b1 + (theta - 1) / (theta + 1)) for theta in np.geomspace(1e-3, 1e3, 400)}
    for w, b in some_separating(X, y, w1, b1, np.random.default_rng(seed), 30):
        found, (plus, minus) = path.hyperplane(w, b), by_hand(X, y, w, b)
        assert (found.plus, found.minus) == pytest.approx((plus, minus), rel=1e-12)
        lo, hi = found.dominating
        assert lo < found.theta < hi
        for theta, margins in members.items():
            if min(abs(np.log(theta / lo)), abs(np.log(theta / hi))) > 1e-9:  # not at an end of the interval
                assert (margins[0] >= plus and margins[1] >= minus) == (lo <= theta <= hi)
        better = path.margins(path.share(found.theta))  # strictly, in both, by the same factor
        assert better[0] > plus
        assert better[1] > minus
        assert better[0] / plus == pytest.approx(better[1] / minus, rel=1e-9)


@pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])
@pytest.mark.parametrize("seed", range(3))
def test_cvxpy_improves_both_margins_by_half_of_what_is_missing(seed, soft):
    X, y = data(seed, 0.3 if soft else 1.4)
    path, rng = traced(X, y, soft), np.random.default_rng(seed)
    w = path.slope(0.5) + 0.2 * np.linalg.norm(path.slope(0.5)) * rng.normal(size=3)
    b, xi = path.intercept(0.5), path.slacks + rng.uniform(0, 1, size=y.size) if soft else None
    found = path.hyperplane(w, b, xi)
    slope, intercept, slack, gain = cp.Variable(3), cp.Variable(), cp.Variable(y.size), cp.Variable()
    root = np.sqrt(np.where(y > 0, *COSTS))
    reach = np.where(y > 0, found.plus, found.minus)
    constraints = [cp.multiply(y, X @ slope + intercept) + slack >= reach + gain]
    constraints += [cp.norm(cp.hstack([slope, cp.multiply(root, slack)])) <= 1, *([] if soft else [slack == 0])]
    best = cp.Problem(cp.Maximize(gain), constraints).solve(**TIGHT)
    assert best == pytest.approx(found.missing / 2, rel=1e-6)
    assert found.missing > 1e-3
    assert not found.is_weakly_efficient()
    assert found.is_efficient(found.missing / found.best_sum * (1 + 1e-9))


@seeds
def test_theorem_7_with_slacks(seed):
    X, y = data(seed, 0.3)
    path = traced(X, y, soft=True)
    w1, b1, xi1 = path.slope(0.5), path.intercept(0.5), path.slacks
    np.testing.assert_allclose(xi1, np.maximum(0, 1 - y * (X @ w1 + b1)), atol=1e-10)
    for shift in (-0.9, 0.0, 0.4):
        member = path.hyperplane(3 * w1, 3 * (b1 + shift), 3 * xi1)
        assert (member.plus, member.minus) == pytest.approx(by_hand(X, y, w1, b1 + shift, xi1), rel=1e-12)
        assert (member.plus, member.minus) == pytest.approx(path.margins(0.5 + 0.5 * shift), rel=1e-9)
        assert member.is_efficient(1e-11)
        assert not path.hyperplane(w1, b1 + shift, xi1 + 0.1).is_efficient()
        assert not path.hyperplane(w1, b1 + shift, 0.5 * xi1).is_efficient()
        plain = path.hyperplane(w1, b1 + shift)  # without slacks, as in Definition 2
        assert (plain.plus, plain.minus) == pytest.approx(by_hand(X, y, w1, b1 + shift), rel=1e-12)
    assert not path.hyperplane(w1, b1 + 1.1, xi1).separates


@pytest.mark.parametrize("soft", [False, True], ids=["hard", "soft"])
def test_the_solver_and_the_path_say_the_same_of_a_hyperplane(soft):
    X, y = data(0, 0.3 if soft else 1.4)
    path, solver = traced(X, y, soft), pc.BiobjectiveMargin(X, y, soft=soft)
    w, b, xi = path.slope(0.5), path.intercept(0.5) + 0.2, path.slacks if soft else None
    mine = path.hyperplane(w, b, xi)
    theirs = solver.pareto_set(**(vars(COSTS) if soft else {})).hyperplane(w, b, xi)
    assert list(vars(theirs).values()) == pytest.approx(list(vars(mine).values()), rel=1e-9)


def test_degenerate_data():
    one = traced(np.array([[2.0], [-1.0]]), np.array([1.0, -1.0]))
    found = one.hyperplane([1.0], 0.0)
    assert (found.plus, found.minus, found.best_sum) == pytest.approx((2.0, 1.0, 3.0))
    assert found.is_efficient(1e-12)
    on_plane = one.hyperplane([1.0], 1.0)  # the negative lies on the plane: not feasible
    assert on_plane.minus == 0
    assert not on_plane.separates
    X, y = data(3)
    twice = traced(np.vstack([X, X]), np.append(y, y))
    constant = traced(np.column_stack([X, np.ones(y.size)]), y)
    w, b = np.array([1.0, 1.0, 1.0]), 0.0
    expected = vars(traced(X, y).hyperplane(w, b))
    assert list(vars(twice.hyperplane(w, b)).values()) == pytest.approx(list(expected.values()), rel=1e-9)
    assert list(vars(constant.hyperplane([*w, 0.0], b)).values()) == pytest.approx(list(expected.values()), rel=1e-9)


def test_bad_input():
    X, y = data(0)
    hard, soft = traced(X, y), traced(X, y, soft=True)
    w, xi = np.ones(3), np.ones(y.size)
    for ask, message in (
        (lambda: hard.hyperplane(np.zeros(3), 1.0), "w must not be zero"),
        (lambda: soft.hyperplane(np.zeros(3), 1.0, 0 * xi), "w must not be zero where every slack is"),
        (lambda: hard.hyperplane(w[:2], 1.0), r"w must have shape \(3,\)"),
        (lambda: hard.hyperplane(w, "far"), "b must be a number"),
        (lambda: hard.hyperplane(w, 0.0, xi), "xi must be left out"),
        (lambda: soft.hyperplane(w, 0.0, xi[:4]), r"xi must have shape \(20,\)"),
        (lambda: object_margins(X, y, w, 0.0, xi=xi), "xi and slack_costs must be given together"),
        (
            lambda: object_margins(X, y, w, 0.0, slack_costs=COSTS),
            "xi and slack_costs must be given together",
        ),
        (
            lambda: object_margins(X, y, w, 0.0, xi=xi, slack_costs=(0, 1)),
            "slack_costs must both be positive",
        ),
        (lambda: object_margins(X, np.abs(y), w, 0.0), "y"),
    ):
        with pytest.raises(pc.InputError, match=message):
            ask()
    rbf = pc.trace(pc.BiobjectiveMargin(X, y, pc.RBF(1.0), soft=False), theta=(0.1, 10))
    with pytest.raises(pc.InputError, match="needs the linear kernel"):
        rbf.hyperplane(w, 0.0)


# ---- points on the plane -------------------------------------------------------------------------------------------


def test_points_on_the_plane_at_random():
    X = np.append(np.zeros(4000), [1e-300, -1e-300])[:, None]
    kernel = pc.Gram(np.array([[1.0], [-1.0]]))
    for rule in (pc.results.LinearRule([1.0], 0.0), KernelRule(kernel, np.array([0.5, -0.5]), 0.0)):
        assert (rule.predict(X)[:-1] == 1).all()
        labels = rule.predict(X, rng=0)
        assert list(labels[-2:]) == [1, -1]
        assert abs((labels[:-2] > 0).mean() - 0.5) < 4 * 0.5 / 4000**0.5
        np.testing.assert_array_equal(labels, rule.predict(X, rng=0))
        generator = np.random.default_rng(0)
        np.testing.assert_array_equal(labels, rule.predict(X, rng=generator))
        assert (labels != rule.predict(X, rng=generator)).any()
        with pytest.raises(pc.InputError, match="rng must be a seed"):
            rule.predict(X, rng=-1)


def test_the_best_slacks_of_a_slope_are_those_of_the_problem_along_it():
    """The recipe of docs/how_to/other_machines.md; CVXPY maximises the sum of the margins over intercept and slacks."""
    X, y = data(2, 0.3)
    whole = traced(X, y, soft=True)
    for w in (whole.slope(0.5) + np.array([0.1, -0.2, 0.3]), whole.slope(0.5)):
        unit = w / np.linalg.norm(w)
        along = traced((X @ unit)[:, None], y, soft=True)
        found = whole.hyperplane(along.slope(0.5) * unit, along.intercept(0.5), along.slacks)
        mu, b, xi, reach = cp.Variable(nonneg=True), cp.Variable(), cp.Variable(y.size), cp.Variable(2)
        constraints = [
            cp.multiply(y, mu * (X @ unit) + b) + xi >= np.stack([y > 0, y < 0], axis=1) @ reach,
            cp.norm(cp.hstack([mu, cp.multiply(np.sqrt(np.where(y > 0, *COSTS)), xi)])) <= 1,
        ]
        best = cp.Problem(cp.Maximize(cp.sum(reach)), constraints).solve(solver="CLARABEL")
        assert found.plus + found.minus == pytest.approx(best, rel=1e-6)
        assert found.is_efficient() == (np.allclose(np.cross(w, whole.slope(0.5)), 0, atol=1e-12))
