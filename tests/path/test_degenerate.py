"""Paths on degenerate data, and on real data: every path is certified or refused, and hardly any is refused."""

from __future__ import annotations

import os
from itertools import product

import numpy as np
import pytest
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.problem.kernels import median_bandwidth
from tests.oracles import families

KERNELS = {"linear": None, "rbf": pc.RBF(1.0), "poly": pc.Polynomial(2)}
BY_KERNEL = pytest.mark.parametrize("kernel", KERNELS)
SEEDS = range(3)


CASES = {
    case.__name__: case
    for case in (
        families.grid,
        families.duplicates,
        families.conflicts,
        families.constant_feature,
        families.collinear,
        families.one_sample,
        families.rare_class,
        families.separable,
        families.identical,
        families.wide,
        families.rank_deficient,
        families.balanced,
    )
}
BY_CASE = pytest.mark.parametrize("case", CASES)


def ray(y, mean):
    """Ends of the balanced ray up to the given mean cost."""
    share = (y < 0).mean()
    return (0, 0), (2 * mean * share, 2 * mean * (1 - share))


def asymmetry(total, lowest=0.02):
    ends = [tuple(pc.Costs.from_asymmetry(g, total)) for g in (lowest, 1 - lowest)]
    return ends[0], ends[1]


def certified(svm, line):
    """The path, every certificate of which has been looked at."""
    path = pc.trace(svm, *line)
    assert all(c.passes(1e-8) for c in path.certificates()), path.worst_certificate.explain()
    assert (np.diff(path.breakpoints) > 0).all()
    return path


# ---- the catalogue -----------------------------------------------------------------------------------------------


@BY_CASE
@BY_KERNEL
def test_catalogue(case, kernel):
    for seed in SEEDS:
        X, y = CASES[case](np.random.default_rng(seed))
        svm = pc.TwoCSVM(X, y, KERNELS[kernel])
        up = certified(svm, ray(y, 5.0))
        certified(svm, asymmetry(4.0))
        across = certified(svm, asymmetry(4.0, 0.0))
        # where the two lines meet: at mean cost 2 and the asymmetry of the ray
        assert up.value(2 / 5) == pytest.approx(across.value((y < 0).mean()), rel=1e-9)


def test_into_the_origin_hardly_any_is_refused():
    """Off the ray the caps vanish with everything: a refusal names its cause; a wrong path is never returned."""
    refused, count = [], 0
    for case, kernel in product(CASES, KERNELS):
        X, y = CASES[case](np.random.default_rng(0))
        svm = pc.TwoCSVM(X, y, KERNELS[kernel])
        for line in (((2, 1), (0, 0)), ((0, 0), (0.3, 3)), ((1, 1), (0, 0))):
            count += 1
            try:
                certified(svm, line)
            except pc.DegeneratePathError as error:
                refused.append((case, kernel, line, error))
    assert count > 100
    assert all(error.cause and 0 <= error.t <= 1 for *_, error in refused)
    assert len(refused) <= 0.01 * count, refused


@BY_CASE
def test_catalogue_against_cvxpy(case):
    X, y = CASES[case](np.random.default_rng(0))
    for kernel in ("linear", "rbf"):
        svm = pc.TwoCSVM(X, y, KERNELS[kernel])
        agreement = pc.compare(certified(svm, asymmetry(4.0)), svm, n=5)
        assert agreement.cvxpy_better <= 1e-9, agreement
        assert agreement.worst <= 1e-9, agreement


@pytest.mark.parametrize("seed", range(8))
def test_weights_and_ties(seed):
    rng = np.random.default_rng(seed)
    X, y = families.grid(rng)
    weight = rng.integers(1, 4, y.size).astype(float)
    for kernel in KERNELS.values():
        svm = pc.TwoCSVM(X, y, kernel, sample_weight=weight)
        certified(svm, asymmetry(2.0))
        certified(svm, ((0.0, 1.0), (1.0, 1.0)))


# ---- jumps and intervals of b ------------------------------------------------------------------------------------


def test_a_jump_of_b_and_cvxpy_on_both_sides():
    """Spec 12b: b jumps from -1/3 to 1/3 at asymmetry 2/3, with the same w and the same value."""
    X = np.array([[2.0], [1.0], [0.0], [-1.0], [-3.0]])
    svm = pc.TwoCSVM(X, [1, 1, -1, -1, -1])
    path = pc.trace(svm, (0, 2 / 3), (2 / 3, 0))
    for t, b in ((2 / 3 - 1e-6, -1 / 3), (2 / 3 + 1e-6, 1 / 3)):
        c = path.costs(t)
        reference = svm.solve(C_plus=c.C_plus, C_minus=c.C_minus)
        assert path.value(t) == pytest.approx(reference.value, rel=1e-10)
        assert path.intercept(t) == pytest.approx(b, abs=1e-4)
        assert reference.classifier.b == pytest.approx(b, abs=1e-4)
    scores = path.scores(X)
    np.testing.assert_allclose(scores(2 / 3 + 1e-9) - scores(2 / 3 - 1e-9), 2 / 3, atol=1e-6)


def test_a_jump_of_b_on_symmetric_data():
    """Mirror symmetry of data and costs: b jumps over 0 at the middle of the line, or is 0 there."""
    X = np.array([[1.0], [2.0], [-0.5], [-1.0], [-2.0], [0.5]])
    svm = pc.TwoCSVM(X, [1, 1, 1, -1, -1, -1])
    path = certified(svm, asymmetry(0.4))
    lo, hi = path.at(0.5).classifier.b_interval
    assert lo == pytest.approx(-hi, abs=1e-9)
    for t in (0.5 - 1e-7, 0.5 + 1e-7):
        c = path.costs(t)
        assert path.value(t) == pytest.approx(svm.solve(C_plus=c.C_plus, C_minus=c.C_minus).value, rel=1e-10)


def test_balanced_classes_have_intervals_of_b_along_the_ray():
    X, y = families.balanced(np.random.default_rng(0))
    path = certified(pc.TwoCSVM(X, y), ray(y, 5.0))
    first = float(path.breakpoints[1]) / 2
    solution = path.at(first)
    lo, hi = solution.classifier.b_interval
    assert hi - lo > 0.1
    assert lo < solution.classifier.b < hi  # the chord, not an end
    np.testing.assert_array_equal(solution.alpha, path.caps(first))
    assert path.at(first / 10).classifier.b == pytest.approx(solution.classifier.b / 10, rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_classes_around_one_point_out_of_the_origin(seed):
    """w = 0 at first: an exchange of samples that rest on their margin must not move the beginning of the path."""
    X, y = families.equal_centroids(np.random.default_rng(seed))
    path = certified(pc.TwoCSVM(X, y), ray(y, 10.0))
    for t in (0.25, 0.5, 0.75, 1.0):
        assert path.value(t) == pytest.approx(path.at(t).value, rel=1e-12)
        assert path.value(t) == pytest.approx(path.caps(t).sum(), rel=1e-12)


def test_identical_samples_need_only_an_intercept():
    X, y = np.ones((5, 2)), np.array([1, 1, -1, -1, -1.0])
    path = certified(pc.TwoCSVM(X, y), asymmetry(1.0, 0.0))
    for t in np.linspace(0, 1, 11):
        c = path.costs(t)
        assert path.value(t) == pytest.approx(2 * min(2 * c.C_plus, 3 * c.C_minus), abs=1e-12)
        np.testing.assert_allclose(path.slope(t), 0.0, atol=1e-12)


def test_kernel_values_of_almost_nothing():
    """Samples that nothing but 1e-42 tells apart, next to the origin: less than is left of terms that cancel."""
    K = np.eye(8)
    K[1, 7] = K[7, 1] = 6.65e-42
    y = np.where(np.isin(np.arange(8), [1, 3, 7]), 1.0, -1.0)
    path = pc.trace(pc.TwoCSVM(K, y, "precomputed"), (0.0, 0.0), (0.3, 3.0))
    assert path.proof.passes(1e-12)
    dual, primal = path.certificate(0.7, exact=True).bounds
    assert dual <= primal <= (1 + 1e-12) * dual


def test_breakpoints_next_to_a_vanishing_end_are_refused_with_a_remedy():
    """At squared distances of 1e12 the last breakpoints have 1 - t of 1e-13: three digits are left of the costs."""
    X = [[0.0, 5e5, -5e5], [-1.1e6, 4e5, 1.3e6], [-4e5, -2.2e6, 5e5]]
    svm = pc.TwoCSVM(X, [-1, 1, -1])
    with pytest.raises(pc.DegeneratePathError, match="from its other end"):
        pc.trace(svm, (2.0, 1.0), (0.0, 0.0))
    assert pc.trace(svm, (0.0, 0.0), (2.0, 1.0)).proof.passes(1e-12)


# ---- real data ---------------------------------------------------------------------------------------------------


def _held_to_the_goal(X, y, kernel):
    svm = pc.TwoCSVM(X, y, pc.RBF(median_bandwidth(X)) if kernel == "rbf" else None)
    for line in (ray(y, 10.0), asymmetry(2.0)):
        worst = pc.trace(svm, *line).certificates()
        assert max(c.residual for c in worst) <= 1e-8
        assert max(abs(c.gap) for c in worst) <= 1e-9


@pytest.mark.parametrize("seed", [11, 46])
def test_margin_sets_singular_to_working_precision(seed):
    """RBF on 16 points of a line, each with both labels: margin systems of condition 1e13 and more.

    What rounding leaves of the gradient of an entering sample must be kept as a shift of its target; divided by a
    pivot of 1e-12 it would throw the multipliers out of their box. How sums are rounded decides what is left: residuals
    of 1e-11 with fused sums, of 3e-10 without.
    """
    X = np.repeat(np.random.default_rng(seed).normal(size=(16, 1)), 2, axis=0)
    y = np.where(np.arange(32) % 2, 1, -1)
    path = pc.trace(pc.TwoCSVM(X, y, pc.RBF(1.0)), (0.002, 0.098), (0.098, 0.002))
    assert path.worst_certificate.passes(1e-9)


@pytest.mark.parametrize("scale", ["raw", "standardised"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_wdbc(kernel, scale):
    data = pc.datasets.load("wdbc")
    _held_to_the_goal(data.X if scale == "raw" else families.standardised(data.X), data.y, kernel)


@pytest.mark.skipif(not os.environ.get("PARETOCLF_DATA"), reason="PARETOCLF_DATA is not set")
@pytest.mark.parametrize("scale", ["raw", "standardised"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("name", ["pima", "sonar", "bupa", "ionosphere", "breast_w", "spambase", "raetsch/banana"])
def test_real_data(name, kernel, scale):
    # spambase is sorted by class: its first 1500 rows are all spam, so they are drawn.
    some = {"spambase": {"n": 1500, "rng": 0}, "raetsch/banana": {"n": 1000}}.get(name, {})
    data = pc.datasets.load(name, data_dir=os.environ["PARETOCLF_DATA"], **some)
    _held_to_the_goal(data.X if scale == "raw" else families.standardised(data.X), data.y, kernel)


@pytest.mark.parametrize("seed", [8, 271, 616, 1331, 1723, 2184, 5595])
def test_lines_of_whole_numbers_on_which_some_costs_are_0_at_an_end(seed):
    """The line is balanced at its end but for rounding, or what vanishes there is less than rounding of what stays."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 25))
    X, y = rng.integers(-3, 4, (n, 2)).astype(float), np.where(rng.random(n) < 0.5, 1, -1)
    y[:2] = 1, -1
    start, stop = 0.1 * rng.integers(0, 3, n), 100.0 * rng.integers(0, 3, n)
    path = pc.trace(pc.TwoCSVM(X, y), pc.SampleCosts(start), pc.SampleCosts(stop))
    for t in (0.3, 0.9):
        costs = (1 - t) * start + t * stop
        model = SVC(C=1.0, kernel="linear", tol=1e-9).fit(X[costs > 0], y[costs > 0], costs[costs > 0])
        slacks = np.maximum(0.0, 1.0 - y * model.decision_function(X))
        value = 0.5 * float(np.square(model.coef_).sum()) + costs @ slacks
        assert path.value(t) == pytest.approx(value, rel=1e-6)
