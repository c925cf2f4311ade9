"""The judge of reduced hulls: against brute force over thresholds, fractions, and conditions sample by sample."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from paretoclf.common.tolerances import CERTIFY, LOOSE, SCORE_DIGITS, SCORE_ROUNDING, UNDECIDED
from paretoclf.problem.operator import Features
from paretoclf.problem.operator.matrix import Matrix
from paretoclf.proof.points.hulls import (
    CONDITIONS,
    Intervals,
    OptimalThresholds,
    grade_hulls,
    judge_hulls,
    moved_by_rounding,
    thresholds,
)
from paretoclf.proof.points.soft_margin import SoftMargin

SEEDS = pytest.mark.parametrize("seed", range(5))


# ---- thresholds ------------------------------------------------------------------------------------------------------


def cost(threshold, scores, cap, nu):
    """One bracket of the objective, in fractions."""
    losses = [max(Fraction(0), threshold - Fraction(s)) for s in scores]
    return Fraction(cap) * sum(losses) - Fraction(nu) / 2 * threshold


@pytest.mark.parametrize("nu", [0.25, 0.75, 1.0, 1.25, 1.5, 2.0])
@SEEDS
def test_thresholds_are_all_that_minimise_a_bracket(seed, nu):
    rng = np.random.default_rng(seed)
    scores, y = rng.integers(-3, 4, 9) / 2.0, np.repeat([1.0, -1.0], [4, 5])
    caps = {1.0: 0.25, -1.0: 0.25}
    found = thresholds(y, scores, nu, caps[1.0], caps[-1.0])
    for side, (low, high) in ((1.0, found.plus), (-1.0, found.minus)):
        own = (side * scores[y == side]).tolist()
        inside = [Fraction(s) for s in own] + [Fraction(max(own)) + 1]
        best = min(cost(t, own, caps[side], nu) for t in inside)
        grid = [Fraction(k, 8) for k in range(-40, 41)]
        for t in grid:
            assert (cost(t, own, caps[side], nu) == best) == (low <= t <= high), (side, t)


def test_a_rank_of_none_and_of_all_is_a_half_line():
    y, scores = np.array([1.0, 1.0, -1.0]), np.array([3.0, 1.0, 0.0])
    found = thresholds(y, scores, 0.0, 0.5, 2.0)
    assert found.plus == (-np.inf, 1.0)
    assert found.minus == (-np.inf, 0.0)
    assert thresholds(y, scores, 2.0, 0.5, 2.0).plus == (3.0, np.inf)
    assert thresholds(y, scores, 2.5, 0.5, 2.0).plus == (3.0, 3.0)  # more than there are: the last


def test_a_rank_that_is_whole_but_for_rounding_is_whole_and_scores_that_differ_by_it_are_one():
    y, scores = np.array([1.0, 1.0, 1.0, -1.0]), np.array([1.0, 2.0, 3.0, 0.0])
    for nu in (2.0 - 1e-15, 2.0, 2.0 + 1e-15):
        assert thresholds(y, scores, nu, 0.5, 2.0).plus == (2.0, 3.0)
    assert thresholds(y, scores, 2.0 + 1e-3, 0.5, 2.0).plus == (3.0, 3.0)
    assert thresholds(y, scores, 2.0 - 1e-3, 0.5, 2.0).plus == (2.0, 2.0)
    near = np.array([1.0, 2.0, 2.0 + 4e-16, 0.0])
    assert thresholds(y, near, 2.0, 0.5, 2.0).plus == (2.0, 2.0)


def test_the_chosen_point_is_the_middle_or_the_finite_end():
    both = OptimalThresholds((1.0, 3.0), (0.0, 1.0))
    assert (both.b, both.rho) == (0.5 * (0.5 - 2.0), 0.5 * (2.0 + 0.5))
    assert both.b_interval == (-1.5, 0.0)
    assert both.rho_interval == (0.5, 2.0)
    assert not both.unique
    assert not OptimalThresholds((1.0, 1.0), (0.0, 1.0)).unique
    one = OptimalThresholds((1.0, 1.0), (-2.0, -2.0))
    assert (one.unique, one.rho, one.b) == (True, 0.0, -1.5)
    half = OptimalThresholds((1.0, np.inf), (-np.inf, 3.0))
    assert (half.b, half.rho) == (1.0, 2.0)
    several = Intervals(*np.array([[1.0, 1.0], [3.0, 1.0], [0.0, -2.0], [1.0, -2.0]]))
    assert several.at(0) == both
    assert several.at(1) == one
    plus, minus = several.chosen
    assert plus.tolist() == [2.0, 1.0]
    assert minus.tolist() == [0.5, -2.0]


def test_scores_move_by_the_larger_rate_next_to_a_breakpoint():
    t, eps = np.array([1.0, 1.5, 4.0]), np.finfo(float).eps
    found = moved_by_rounding(t, np.array([3.0, 5.0]))
    np.testing.assert_allclose(found, 4 * eps * np.array([1.0 * 6.0, 1.5 * 6.0, 4.0 * 2.0]))
    found = moved_by_rounding(-t[::-1], np.array([5.0, 3.0]))
    np.testing.assert_allclose(found, 4 * eps * np.array([4.0 * 2.0, 1.5 * 6.0, 1.0 * 6.0]))


# ---- points ----------------------------------------------------------------------------------------------------------


class Points:
    """Three points of one problem, in eighths: multipliers that are not optimal, a slope that is, or is not, theirs."""

    def __init__(self, seed: int, kind: str = "implied", feasible: bool = True) -> None:
        rng = np.random.default_rng(seed)
        n, k = 9, 3
        self.y = np.repeat([1.0, -1.0], [4, 5])[rng.permutation(n)]
        self.X = rng.integers(-8, 9, (n, 2)) / 4.0
        self.caps = np.array([[0.25, 0.5, 0.375], [0.5, 0.25, 0.5]])  # of the positives, of the negatives
        caps = np.where(self.y[:, None] > 0, *self.caps)
        self.nu = np.array([0.75, 1.0, 1.25])
        alpha = caps * rng.integers(0, 5, (n, k)) / 4.0
        if feasible:
            alpha = self.balanced(alpha, caps)
        self.alpha, self.all_caps = alpha, caps
        self.W = rng.integers(-4, 5, (2, k)) / 4.0 if kind == "stored" else None
        Q = Matrix(self.X @ self.X.T) if kind == "kernel" else Features(self.X)
        self.problem = SoftMargin(self.y, Q, caps, nu=self.nu, note="Noted.")

    def balanced(self, alpha, caps):
        """Each class has the sum nu / 2: the same share of all caps."""
        out = np.empty_like(alpha)
        for side in (1.0, -1.0):
            own = self.y == side
            out[own] = caps[own] * (0.5 * self.nu / caps[own].sum(axis=0))
        return out

    def graded(self, **named):
        return grade_hulls(self.problem, self.alpha, W=self.W, **named)

    def w(self, j):
        implied = self.X.T @ (self.y * self.alpha[:, j])
        return implied if self.W is None else self.W[:, j]


@SEEDS
@pytest.mark.parametrize("kind", ["implied", "stored", "kernel"])
@pytest.mark.parametrize("feasible", [True, False])
def test_values_are_the_objectives_in_fractions(seed, kind, feasible):
    points = Points(seed, kind, feasible)
    graded = points.graded()
    for j in range(3):
        problem = replace(points.problem, caps=points.all_caps[:, j], nu=float(points.nu[j]))
        w = None if points.W is None else points.W[:, j]
        exact = problem.bounds(points.alpha[None, :, j], float(graded.b[j]), w, float(graded.rho[j]))
        # bounds has nu rho with the sum of feasible multipliers in place of nu.
        assert graded.primal_value[j] == pytest.approx(float(exact.primal), rel=1e-11, abs=1e-13)
        if feasible or kind == "stored":
            assert graded.dual_value[j] == pytest.approx(float(exact.dual), rel=1e-11, abs=1e-13)
        else:
            assert graded.dual_value[j] <= float(exact.dual) + 1e-12
        assert graded.gap[j] == pytest.approx((graded.primal_value[j] - graded.dual_value[j]) / graded.scale[j])


@SEEDS
@pytest.mark.parametrize("size", [0.1, 1e3])
def test_a_dual_value_is_no_more_than_that_of_feasible_multipliers_where_a_bound_will_do(seed, size):
    """Multipliers that are too small by what rounding makes of them: moved up, they have a longer slope."""
    points = Points(seed)
    points.X *= size
    points.problem = replace(points.problem, Q=Features(points.X))
    off = 1e-13
    points.alpha *= 1.0 - off
    graded = points.graded()
    for j in range(3):
        problem = replace(points.problem, caps=points.all_caps[:, j], nu=float(points.nu[j]))
        exact = problem.bounds(points.alpha[None, :, j], float(graded.b[j]), None, float(graded.rho[j]))
        dual, norm2 = float(exact.dual), points.w(j) @ points.w(j)
        rounding = 2e-15 * norm2
        assert graded.dual_value[j] <= dual + rounding
        moved, longest = off * points.nu[j], np.sqrt(points.problem.Q.length2)
        assert graded.dual_value[j] >= dual - 4.0 * moved * longest * np.sqrt(norm2) - rounding


def bracketed(points, j, b, rho):
    """The objective at an intercept and a margin."""
    f = points.X @ points.w(j) + b
    slacks = np.maximum(0.0, rho - points.y * f)
    return 0.5 * points.w(j) @ points.w(j) + points.all_caps[:, j] @ slacks - points.nu[j] * rho


@SEEDS
@pytest.mark.parametrize("kind", ["implied", "stored"])
def test_no_intercept_and_margin_are_better_than_the_best(seed, kind):
    points = Points(seed, kind)
    graded = points.graded()
    for j in range(3):
        best = bracketed(points, j, float(graded.b[j]), float(graded.rho[j]))
        assert graded.primal_value[j] == pytest.approx(best, abs=1e-13)
        for b in np.linspace(-4, 4, 17):
            for rho in np.linspace(0.0, 4.0, 9):
                assert best <= bracketed(points, j, b, rho) + 1e-12 or graded.intervals.at(j).rho_interval[0] < 0.0


@SEEDS
@pytest.mark.parametrize("kind", ["implied", "stored", "kernel"])
@pytest.mark.parametrize("own", [True, False])
def test_residuals_are_those_of_each_sample(seed, kind, own):
    points = Points(seed, kind, feasible=False)
    points.alpha[2, 0], points.alpha[3, 1] = 0.75, -0.125
    given = (np.array([0.25, -0.5, 0.0]), np.array([0.5, 1.0, -0.25])) if own else None
    graded = points.graded(own=given)
    assert list(graded.residuals) == list(CONDITIONS)
    assert graded.residual.tolist() == np.max(list(graded.residuals.values()), axis=0).tolist()
    for j in range(3):
        alpha, caps, nu = points.alpha[:, j], points.all_caps[:, j], float(points.nu[j])
        b, rho = float(graded.b[j]), float(graded.rho[j])
        if own:
            assert (b, rho) == (given[0][j], given[1][j])
        f = points.X @ points.w(j) + b
        yf, xi = points.y * f, np.maximum(0.0, rho - points.y * f)
        size = max(np.abs(f).max(), rho)
        unit = np.minimum(caps, 0.5 * nu)
        total = alpha.sum() - nu
        wanted = {
            "box": max(0.0, *(np.maximum(-alpha, alpha - caps) / unit)),
            "complementarity": max(
                0.0, *np.minimum((yf - rho + xi) / size, alpha / unit), *np.minimum(xi / size, (caps - alpha) / unit)
            ),
            "rho": max(-rho / size, -total / nu, min(rho / size, total / nu), 0.0),
            "balance": abs(float(points.y @ alpha)) / nu,
        }
        for name, value in wanted.items():
            assert graded.residuals[name][j] == pytest.approx(value, rel=1e-9, abs=1e-14), name
        assert (graded.residuals["stationarity in w"][j] > 1e-6) == (kind == "stored")
        assert graded.size[j] == pytest.approx(size)


@SEEDS
def test_one_point_spelled_out_has_the_numbers_of_all(seed):
    points = Points(seed, feasible=False)
    graded = points.graded()
    for j in range(3):
        judged = graded.judged(j)
        certificate = judged.certificate
        assert certificate.gap == pytest.approx(graded.gap[j], rel=1e-12)
        assert certificate.scale == graded.scale[j]
        assert certificate.rounding == graded.rounding[j]
        assert certificate.note == "Noted."
        assert certificate.residual == pytest.approx(graded.residual[j], rel=1e-9)
        assert judged.numbers["rho"] == graded.rho[j]
        assert judged.numbers["thresholds"] == graded.intervals.at(j)
        xi = np.maximum(0.0, graded.rho[j] - points.y * (points.X @ points.w(j) + graded.b[j]))
        np.testing.assert_allclose(judged.numbers["xi"], xi, atol=1e-15)
        alone = judge_hulls(
            replace(points.problem, caps=points.all_caps[:, j], nu=float(points.nu[j])), points.alpha[:, j]
        )
        assert alone.certificate.gap == pytest.approx(certificate.gap, rel=1e-12)
        assert alone.certificate.dual == pytest.approx(certificate.dual, rel=1e-9, abs=1e-15)
    own = judge_hulls(
        replace(points.problem, caps=points.all_caps[:, 0], nu=0.75), points.alpha[:, 0], np.array([1.0, 2.0])
    )
    assert own.certificate.dual["stationarity in w"] > 0.0


def test_what_rounding_can_do_is_relative_to_the_terms_of_scores():
    """Of multipliers nu in all times the largest squared length, or of the terms of a slope that is given."""
    y, X, caps = np.array([1.0, -1.0]), np.array([[3.0, 4.0], [0.0, 1.0]]), np.full((2, 1), 0.5)
    problem = SoftMargin(y, Features(X), caps, nu=np.array([0.5]))
    alpha = np.full((2, 1), 0.25)
    own = grade_hulls(problem, alpha)
    assert own.rounding[0] == pytest.approx(SCORE_ROUNDING * 0.5 * 0.5 * problem.Q.length2)
    small = np.array([[1e-3], [2e-3]])
    given = grade_hulls(problem, alpha, W=small)
    terms = 3e-3 + 8e-3
    floor = SCORE_ROUNDING * 0.5 * problem.Q.length2
    assert given.rounding[0] == pytest.approx(SCORE_ROUNDING * 0.5 * (terms + floor), rel=1e-9)
    moved = grade_hulls(problem, alpha, W=small, moved=np.array([SCORE_ROUNDING]))
    assert moved.rounding[0] == pytest.approx(SCORE_ROUNDING * 0.5 * (terms + 1.0 + floor), rel=1e-9)
    large = grade_hulls(problem, alpha, W=np.full((2, 1), 1e6))
    assert large.rounding[0] == own.rounding[0]


def test_where_hulls_meet_the_slope_is_0_and_what_alpha_leaves_of_it_is_a_residual():
    y, X, caps = np.array([1.0, -1.0]), np.array([[2.0], [2.0 - 1e-3]]), np.full((2, 2), 0.5)
    problem, alpha = SoftMargin(y, Features(X), caps, nu=np.array([1.0, 1.0])), np.full((2, 2), 0.5)
    own = np.zeros(2), np.zeros(2)
    graded = grade_hulls(problem, alpha, own=own, zero=np.array([True, False]))
    assert graded.primal_value[0] == 0.0
    assert graded.primal_value[1] > 1e-7
    assert problem.Q.length2 == 4.0
    assert graded.residuals["stationarity in w"][0] == pytest.approx(2.0 * 5e-4 / 4.0, rel=1e-6)
    assert graded.residuals["stationarity in w"][1] == 0.0
    assert graded.scores[:, 0].tolist() == [0.0, 0.0]
    assert graded.scores[0, 1] > 1e-4


def test_margins_that_are_rounding_are_measured_against_what_rounding_leaves_where_the_gap_is_small():
    y, X = np.array([1.0, -1.0]), np.array([[1.0], [1.0 - 1e-9]])
    problem = SoftMargin(y, Features(X), np.full((2, 1), 0.5), nu=np.array([1.0]))
    right = grade_hulls(problem, np.full((2, 1), 0.5))
    assert abs(right.gap[0]) <= LOOSE
    assert right.size[0] == pytest.approx(max(SCORE_DIGITS * problem.Q.length2, np.abs(right.scores).max()), rel=1.0)
    assert right.size[0] >= SCORE_DIGITS


@pytest.mark.parametrize(
    ("gap", "rounding", "residual", "passes"),
    [
        (0.5 * CERTIFY, 0.0, 0.5 * CERTIFY, True),
        (2 * CERTIFY, 0.0, 0.0, False),
        (0.0, 0.0, 2 * CERTIFY, False),
        (2 * CERTIFY, 3 * CERTIFY, 0.0, True),
        (1.5 * UNDECIDED, 1.0, 0.0, False),
        (-2 * CERTIFY, 0.0, 0.0, False),
    ],
)
def test_a_point_passes_with_its_gap_or_with_what_rounding_makes_of_it(gap, rounding, residual, passes):
    points = Points(0)
    ones = np.ones(1)
    graded = replace(
        points.graded(),
        gap=gap * ones,
        rounding=2.0 * rounding * ones,
        scale=2.0 * ones,
        residuals={"box": residual * ones, "rho": 0.0 * ones},
    )
    assert graded.passes().tolist() == [passes]
    assert graded.passes(0.1).tolist() == [False] if not passes or residual else [False]
    assert graded.passes(10.0)[0] or gap > UNDECIDED
    explained = abs(gap) <= rounding
    assert graded.unexplained[0] == (0.0 if explained else abs(gap))


def test_rounding_of_kernel_values_is_that_of_each_points_multipliers():
    points = Points(0)
    weight = np.linspace(0.0, 1.0, points.y.size)
    problem = replace(points.problem, kernel_rounding=weight)
    found = grade_hulls(problem, points.alpha)
    np.testing.assert_allclose(found.kernel_rounding, 0.5 * (weight @ points.alpha) ** 2)
    assert found.judged(1).certificate.kernel_rounding == pytest.approx(found.kernel_rounding[1])
