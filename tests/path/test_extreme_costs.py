"""Costs, or slacks and the norm, that differ by up to 1e15: no factor of two in the value passes as optimal."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.problem.intercepts import best_intercepts
from paretoclf.proof.points.hinge import judge_hinge
from paretoclf.proof.points.hulls import judge_hulls
from paretoclf.proof.points.losses import loss_of
from paretoclf.proof.points.risk import judge_risk
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.points.two_c import certify
from tests.oracles.exact import fractions, integer_kernel
from tests.oracles.exact_criss_cross import criss_cross
from tests.oracles.families import FAMILIES, kernel_of

# Positives at 0 and 5 at cost 1, a negative at 1 at cost r. The multipliers 4 r / 5, r / 5 and r balance with w = 0,
# and b = 1 is the only intercept at which both positives, off their bounds, are on their margins: the value is 2 r.
X, Y = np.array([[0.0], [1.0], [5.0]]), np.array([1.0, -1.0, 1.0])
RATIOS = [10.0**-k for k in range(3, 16)]


def caps(r):
    return np.array([1.0, r, 1.0])


def alpha(r):
    return r * np.array([0.8, 1.0, 0.2])


@pytest.fixture(params=["cheap negatives", "cheap positives"])
def y(request):
    return Y if request.param == "cheap negatives" else -Y


@pytest.mark.parametrize("r", RATIOS)
def test_the_optimum_passes_and_the_wrong_intercept_fails(r, y):
    side = y[0]
    right = certify(y, caps(r), alpha(r), side, X=X)
    assert right.passes(), right.explain()
    assert right.dual_value == pytest.approx(2 * r, rel=1e-12)
    for off in (0.1, 1.0, 10.0):
        wrong = certify(y, caps(r), alpha(r), side * (1 + off), X=X)
        assert wrong.primal_value == pytest.approx((2 + off) * r, rel=1e-2)
        assert not wrong.passes(), wrong.explain()
        assert wrong.verdict() == "not optimal"


@pytest.mark.parametrize("r", RATIOS)
def test_half_the_multipliers_fail(r, y):
    """The dual value is half the optimal one; nothing else is wrong that is not of size r."""
    half = certify(y, caps(r), alpha(r) / 2, y[0], X=X)
    assert half.dual_value == pytest.approx(r, rel=1e-12)
    assert not half.passes()


@pytest.mark.parametrize(("r", "missed"), [(1e-14, 4e-15), (1e-15, 1.8e-15)])
def test_what_rounding_can_make_of_the_value_is_not_called_optimal(r, missed):
    """Both positives miss their margin by what rounding may be: that costs as much as the value, or not far from it."""
    blurred = certify(Y, caps(r), alpha(r), 1 - missed, X=X)
    assert blurred.primal_value > 1.3 * blurred.dual_value
    assert not blurred.passes()
    assert blurred.verdict() == "undecided"
    assert "Undecided: rounding of the margins alone can make this gap" in blurred.explain()
    assert "Certificate(undecided, " in repr(blurred)


@pytest.mark.parametrize("r", RATIOS)
def test_a_path_to_extreme_costs(r, y):
    cheap = (1.0, r) if y is Y else (r, 1.0)
    path = pc.trace(pc.TwoCSVM(X, y), (1, 1), cheap)
    end, side = path.at(1.0), float(y[0])
    assert end.certificate.passes()
    assert path.value(1.0) == pytest.approx(2 * r, rel=1e-9)
    assert end.classifier.b == pytest.approx(side, rel=1e-9)
    assert end.classifier.b_interval == pytest.approx((side, side), rel=1e-9)
    prices = path.shadow_prices(1.0)
    assert prices.unique
    dear, of_cheap = (0, 1) if y is Y else (1, 0)
    for price in ((prices.C_plus, prices.C_minus), *prices.ends):
        assert price[dear] == pytest.approx(0.0, abs=1e-9)
        assert price[of_cheap] == pytest.approx(2.0, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [33, 43, 49])
def test_paths_to_extreme_costs_have_the_exact_values(seed, k):
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(9) < 3 + seed % 3, 1.0, -1.0)
    Z = rng.integers(-8, 9, (9, 2)) + 2 * (y > 0)[:, None].astype(int)
    ends = ((1.0, 1.0), (1.0, 2.0**-k)) if seed % 2 else ((1.0, 1.0), (2.0**-k, 1.0))
    path = pc.trace(pc.TwoCSVM(Z.astype(float), y), *ends)
    first, last = (fractions(np.where(y > 0, *end)) for end in ends)
    exact = criss_cross(integer_kernel(Z), y, first, last - first)
    for t in (0.5, 1 - 2.0**-20, 1.0):
        value, certificate = float(exact.value(Fraction(t))), path.at(t).certificate
        assert certificate.passes(), certificate.explain()
        assert certificate.dual_value <= value * (1 + 1e-9)
        assert certificate.primal_value >= value * (1 - 1e-9)
        assert path.value(t) == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("r", RATIOS)
def test_the_best_intercepts_of_extreme_costs(r):
    """Scores 0: positives want b >= 1, the negative b <= -1; the dear class decides, whatever the other one costs."""
    assert best_intercepts(Y, caps(r), np.zeros(3)) == (1.0, 1.0)
    assert best_intercepts(-Y, caps(r), np.zeros(3)) == (-1.0, -1.0)
    assert best_intercepts(Y, np.array([r, 1.0, r]), np.zeros(3)) == (-1.0, -1.0)
    assert best_intercepts(Y, np.array([r, 2 * r, r]), np.zeros(3)) == (-1.0, 1.0)  # equal sums: flat between


@pytest.mark.parametrize("C", [1.0, 1e6, 1e13, 1e15])
def test_twice_the_hard_margin_slope_fails_at_any_cost(C):
    """Points at -1 and 1: w = 1 is optimal, and w = 2 has four times its value without any slack."""
    points, y = np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0])
    assert certify(y, [C, C], [0.5, 0.5], 0.0, X=points).passes(1e-15)
    assert certify(y, [C, C], [1.0, 1.0], 0.0, X=points).verdict() == "not optimal"


@pytest.mark.parametrize("r", RATIOS)
def test_hinge_risks(r):
    def judged(b):
        return judge_risk(pc.Gram(X), Y, caps(r), 1.0, loss_of("hinge"), alpha(r), b).certificate

    assert judged(1.0).passes()
    for b in (1.1, 2.0, 11.0):
        assert judged(b).verdict() == "not optimal"


@pytest.mark.parametrize("lam", RATIOS)
def test_quantile_problems_with_a_norm_that_hardly_counts(lam):
    """Points 2 and -1 of their own labels: w = 1, and its multiplier is lam; w = 2 has four times the value."""
    gram, y = pc.Gram(np.array([[2.0], [-1.0]])), np.array([1.0, -1.0])
    problem = SoftMargin.of(gram, y, np.ones(2), lam=lam, intercept="none")
    assert judge_hinge(problem, np.array([0.0, lam]), 0.0).certificate.passes(1e-15)
    assert judge_hinge(problem, np.array([0.0, 2 * lam]), 0.0).certificate.verdict() == "not optimal"


@pytest.mark.parametrize("cheap", [1e-3, 1e-13, 1e-15])
def test_multipliers_of_the_2nu_svm_are_judged_against_what_they_add_up_to(cheap):
    """Positives at 1 and 3, a negative at 0: all weight belongs on the nearer positive, whatever its cap is."""
    gram, y = pc.Gram(np.array([[1.0], [3.0], [0.0]])), np.array([1.0, 1.0, -1.0])
    problem = SoftMargin.of(gram, y, np.array([1.0, 1.0, cheap]), nu=2 * cheap)
    right = judge_hulls(problem, cheap * np.array([1.0, 0.0, 1.0])).certificate
    assert right.passes(1e-12), right.explain()
    wrong = judge_hulls(problem, cheap * np.array([0.5, 0.5, 1.0])).certificate
    assert wrong.complementarity > 0.1
    assert wrong.verdict() == "not optimal"


# ---- next to an axis -----------------------------------------------------------------------------------------------

INTO = {
    "an axis": ((1.5, 0.5), (0.0, 2.0)),
    "axes": ((0.0, 2.0), (2.0, 0.0)),
    "the origin": ((2.0, 1.0), (0.0, 0.0)),
    "out of it": ((0.0, 0.0), (0.3, 3.0)),
}
CHEAP = [("one sample", 0), ("collinear", 2), ("polynomial", 0), ("polynomial", 2), ("rounded", 0)]


@pytest.mark.parametrize("line", INTO)
@pytest.mark.parametrize(("family", "seed"), CHEAP)
@pytest.mark.parametrize("engine", ["fast", "textbook"])
def test_every_t_up_to_an_axis_is_proved_and_accurate_relative_to_the_cost_that_vanishes(family, seed, line, engine):
    X, y, _ = FAMILIES[family].instance(seed)
    kernel = kernel_of(FAMILIES[family].kernels[-1], X)
    path = pc.trace(pc.TwoCSVM(X, y, kernel), *INTO[line], engine=engine)
    assert path.proof.passes()
    assert (path.proof.t[0], path.proof.t[-1]) == (0.0, 1.0)
    for t in [*(1.0 - 2.0**-k for k in range(20, 52, 5)), *(2.0**-k for k in range(20, 200, 30))]:
        caps, alpha = path.caps(t), path.alpha(t)
        least = min(caps[y > 0].sum(), caps[y < 0].sum())
        assert abs(y @ alpha) <= 1e-12 * least
        # Next to an end all of the cheap class is at its cap, so the value is twice what its costs add up to.
        if least < 1e-9 * max(end for ends in INTO[line] for end in ends):
            assert path.value(t) == pytest.approx(2 * least, rel=1e-4)


def test_events_nearer_to_an_axis_than_a_billionth_are_found():
    """Distances of 1e6: w grows until costs of 1e-12 are left; exact values of the criss-cross method."""
    Z = np.array([[0, 0], [1, 1], [2, 1], [5, 3], [1, 4], [6, 2]]) * 10**6
    y = np.array([1.0, -1.0, 1.0, -1.0, -1.0, 1.0])
    path = pc.trace(pc.TwoCSVM(Z.astype(float), y), (0.0, 1.0), (1.0, 1.0))
    first, last = (fractions(np.where(y > 0, *end)) for end in ((0.0, 1.0), (1.0, 1.0)))
    exact = criss_cross(integer_kernel(Z), y, first, last - first)
    assert path.breakpoints[1] < 1e-9
    for t in (*path.breakpoints[1:-1], *(10.0**-k for k in range(1, 20))):
        assert path.value(t) == pytest.approx(float(exact.value(Fraction(float(t)))), rel=1e-9)


def test_a_multiplier_at_rest_while_its_cap_grows_by_1e13_pins_the_intercept_down():
    """Two equal samples of both classes at their caps C, and two that are separated: 1/12 each, f = 1 and -1 there."""
    X, y = [[1, 0], [0, 0], [0, 2], [1, 0]], [1, 1, -1, -1]
    path = pc.trace(pc.TwoCSVM(X, y, pc.Polynomial(2)), (0, 0), (2e12, 2e12))
    for t in (1e-13, 1e-6, 0.5, 1.0):
        assert path.intercept(t) == pytest.approx(1.0, rel=1e-14)
        np.testing.assert_allclose(path.alpha(t), [2e12 * t, 1 / 12, 1 / 12, 2e12 * t], rtol=1e-14)
        assert path.value(t) == pytest.approx(4e12 * t + 1 / 12, rel=1e-14)


@pytest.mark.parametrize("bandwidth", [1000.0, 3000.0, 5000.0])
def test_multipliers_next_to_an_axis_balance_though_all_samples_are_nearly_one(bandwidth):
    """Squared pivots of 1e-6: what they make of rounding is more than the sums of multipliers that vanish."""
    X = [[-0.28, -1.41, 1.37], [-1.06, 0.84, -0.98], [1.34, 0.56, -0.39]]
    path = pc.trace(pc.TwoCSVM(X, [1, -1, 1], pc.RBF(bandwidth)), (0.0, 2.0), (2.0, 0.0))
    for t in (*path.breakpoints[1:-1], 1e-6, 0.9998, 1.0 - 1e-9):
        alpha = path.alpha(float(t))
        assert abs(alpha @ path.y) <= 1e-9 * alpha.sum()
        assert path.certificate(float(t)).passes()


@pytest.mark.parametrize("e", [1e-7, 1e-9, 1e-12, 1e-15])
@pytest.mark.parametrize("kernel", [None, pc.RBF(1.0)], ids=["linear", "rbf"])
def test_lines_between_costs_that_all_but_vanish_balance(e, kernel):
    """Two equal samples: the multipliers are the smaller cost each, w = 0, and the value is twice that."""
    path = pc.trace(pc.TwoCSVM([[0.0], [0.0]], [1, -1], kernel), (e, 1 - e), (1 - e, e))
    for t in (0.0, 0.25, 0.5, 1.0):
        assert path.value(t) == pytest.approx(2 * min(path.costs(t)), rel=1e-13)
    np.testing.assert_allclose(path.alpha(0.0), e, rtol=1e-13)
    np.testing.assert_allclose(path.alpha(1.0), e, rtol=1e-13)


@pytest.mark.parametrize(
    ("seed", "e", "kernel"),
    [(10, 1e-13, pc.Polynomial(3)), (18, 1e-11, pc.Polynomial(3)), (23, 1e-13, None), (25, 1e-11, pc.Polynomial(3))],
)
def test_lines_that_end_next_to_an_axis(seed, e, kernel):
    """With the cheap class all but free, the others' slacks are what costs: as at half the cost, up to its square."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(40) < 20, 1, -1)
    X = rng.normal(size=(40, 2)) + 0.6 * y[:, None]
    svm = pc.TwoCSVM(X, y, kernel)
    path = pc.trace(svm, (e, 1 - e), (1 - e, e))
    for t, sign in (
        (0.0, -1),
        (1.0, 1),
    ):  # the cheap class is at its caps, with slacks of 2
        assert path.value(t) == pytest.approx(2 * e * 20, rel=1e-6)
        assert path.at(t).classifier.b == pytest.approx(sign, rel=1e-6)


@pytest.mark.parametrize("seed", [29, 38, 73])
def test_nothing_happens_on_the_last_stage_to_an_axis_though_doubles_see_an_event(seed):
    """An ill-conditioned margin set: in double a multiplier reached 0 a few billionths before all do."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(60) < 30, 1, -1)
    X = rng.normal(size=(60, 2)) + 0.6 * y[:, None]
    fitted = pc.CostPathSVCCV(cv=3).fit(X, y)
    near = 1.0 - 2.0**-40
    assert fitted.path_.value(near) == pytest.approx(2 * 30 * 2.0**-39, rel=1e-6)  # b = 1, slack 2 for each negative


HUGE = {
    "trace": lambda X, y, c: pc.trace(pc.TwoCSVM(X, y), (0, 0), (c, c)),
    "one cost": lambda X, y, c: pc.trace(pc.TwoCSVM(X, y, pc.RBF(1.0)), (c, c / 2), (c / 2, c)),
    "costs of samples": lambda X, y, c: pc.trace(pc.TwoCSVM(X, y), *(pc.SampleCosts(v) for v in (y * 0 + c, y * 0))),
    "solve": lambda X, y, c: pc.TwoCSVM(X, y).solve(C_plus=c, C_minus=c),
    "sweep": lambda X, y, c: list(pc.sweep(pc.TwoCSVM(X, y), C_plus=[c], C_minus=[c])),
    "certify": lambda X, y, c: pc.certify(y, y * 0 + c, y * 0 + 1.0, 0.0, X=X),
    "verify": lambda X, y, c: pc.verify(X, y, [(c, c, y * 0 + c)]),
    "plane": lambda X, y, c: pc.plane(pc.TwoCSVM(X, y), (1, c), (1, c)),
    "estimator": lambda X, y, c: pc.CostPathSVC(C=c).fit(X, y),
}


@pytest.mark.parametrize("c", [1e160, 1e300])
@pytest.mark.parametrize("door", HUGE)
def test_costs_whose_squares_are_infinite_are_refused_at_every_door(door, c):
    y = np.where(np.arange(12) % 2, 1.0, -1.0)
    X = np.random.default_rng(0).normal(0.3 * y[:, None], 1.0, (12, 2))
    with pytest.raises(pc.InputError, match=r"must be at most 1e\+140|use other units"):
        HUGE[door](X, y, c)


def test_costs_times_lengths_whose_squares_are_infinite_are_refused():
    y = np.where(np.arange(12) % 2, 1.0, -1.0)
    X = 1e60 * np.random.default_rng(0).normal(0.3 * y[:, None], 1.0, (12, 2))
    with pytest.raises(pc.InputError, match=r"^the sum of the costs times the largest length of a sample"):
        pc.trace(pc.TwoCSVM(X, y), (0, 0), (1e100, 1e100))
