"""The judge of two margins: against both objectives in fractions, and conditions written out sample by sample."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from paretoclf.problem.operator import Features
from paretoclf.problem.operator.matrix import Matrix
from paretoclf.proof.points.margins import judge_margins, nearest_feasible, noted, precisely, weigh
from paretoclf.proof.points.soft_margin import PRECISELY, SoftMargin

SEEDS = pytest.mark.parametrize("seed", range(5))
SOFT = pytest.mark.parametrize("soft", [True, False])
PARTS = pytest.mark.parametrize("parts", [1, 2])


class Point:
    """Multipliers, a slope and an intercept that are not optimal, of separable samples."""

    def __init__(self, seed: int, soft: bool, parts: int = 1, balanced: bool = False) -> None:
        rng = np.random.default_rng(seed)
        n, d = 8, 2
        self.y = np.where(np.arange(n) < 3, 1.0, -1.0)
        self.X = rng.normal(size=(n, d)) + 4.0 * self.y[:, None]
        self.costs = rng.random(n) + 0.5 if soft else None
        self.theta = float(rng.choice([0.25, 1.0, 3.0]))
        self.size = np.where(self.y > 0, 1.0, self.theta)
        self.given = rng.random(n)
        self.given[rng.integers(n)] = 0.0
        if balanced:
            sums = {side: self.given[self.y == side].sum() for side in (1.0, -1.0)}
            self.given *= np.where(self.y > 0, sums[-1.0] / sums[1.0], 1.0)
        else:
            self.given[-1] = -0.25
        self.low = 1e-18 * rng.random(n) if parts == 2 else None
        self.w = self.X.T @ (0.5 * self.y * self.given) + 0.1 * rng.normal(size=d)
        self.b = float(rng.normal())
        self.problem = SoftMargin(self.y, Features(self.X), squares=self.costs, lam=2.0, note="Noted.")
        self.target = 2 * self.theta / (1 + self.theta) / self.size

    def judged(self, **changed):
        given = {"b": self.b, "w": self.w, "low": self.low, **changed}
        return judge_margins(self.problem, self.theta, self.given / self.size, **given)


@SEEDS
@SOFT
@PARTS
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("balanced", [True, False])
def test_values_are_the_objectives_in_fractions(seed, soft, parts, own, balanced):
    point = Point(seed, soft, parts, balanced)
    w = point.w if own else None
    certificate = point.judged(w=w).certificate
    exact_parts = point.given[None]
    if parts == 2:  # in two parts the slope is that of multipliers without those below 0
        exact_parts = np.where(point.given < 0.0, 0.0, np.stack([point.given, point.low]))
    problem = SoftMargin(point.y, Features(point.X), squares=point.costs, lam=2.0)
    bounds = problem.bounds(exact_parts, point.b, w, point.target)
    assert certificate.primal_value == pytest.approx(float(bounds.primal), rel=1e-11)
    if balanced or not soft:
        assert certificate.dual_value == pytest.approx(float(bounds.dual), rel=1e-11, abs=1e-12)
    else:  # squares of the multipliers before they are balanced: a bound from below
        assert certificate.dual_value < float(bounds.dual)


@SEEDS
@SOFT
@PARTS
def test_conditions_are_those_of_each_sample(seed, soft, parts):
    point = Point(seed, soft, parts)
    judged = point.judged()
    certificate, n = judged.certificate, point.y.size
    f = [float(point.X[i] @ point.w) + point.b for i in range(n)]
    bar = [point.y[i] * point.size[i] for i in range(n)]
    A, lam = 2 * point.theta / (1 + point.theta), point.given / point.size
    xi = [max(0.0, (A - bar[i] * f[i]) / point.size[i]) if soft else 0.0 for i in range(n)]
    slack = [bar[i] * f[i] + point.size[i] * xi[i] - A for i in range(n)]
    slack_unit = [A + point.size[i] * abs(f[i]) for i in range(n)]
    load = [lam[i] / lam.max() for i in range(n)]
    violated = max(0.0, *(-slack[i] / slack_unit[i] for i in range(n)))
    below = max(0.0, *(-load[i] for i in range(n)))
    meeting = max(0.0, *(min(load[i], slack[i] / slack_unit[i]) for i in range(n)))
    assert certificate.primal["margin"] == pytest.approx(violated, rel=1e-9, abs=1e-15)
    assert max(certificate.dual.values()) >= below > 0.0
    assert max(certificate.slackness.values()) == pytest.approx(meeting, rel=1e-9)
    sums = [sum(max(point.given[i], 0.0) for i in range(n) if point.y[i] == side) for side in (1.0, -1.0)]
    balance = abs(sum(point.y[i] * (point.given[i] if parts == 1 else max(point.given[i], 0.0)) for i in range(n)))
    assert certificate.dual["balance"] == pytest.approx(balance / sum(sums), rel=1e-9)
    assert certificate.dual["stationarity in w"] > 1e-3
    assert ("stationarity in xi" in certificate.dual) == soft == ("xi" in judged.numbers)
    if soft:
        off = max(abs(xi[i] - point.size[i] * lam[i] / (2 * point.costs[i])) for i in range(n))
        wanted = off / (1.0 + max(map(abs, f)))
        assert certificate.dual["stationarity in xi"] == pytest.approx(wanted, rel=1e-9)
        np.testing.assert_allclose(judged.numbers["xi"], xi, rtol=1e-9, atol=1e-15)
    assert ("alpha_lo" in judged.numbers) == (parts == 2)
    if parts == 2:
        np.testing.assert_array_equal(judged.numbers["alpha_lo"], point.low / point.size)
    assert judged.numbers["b"] == point.b


@SEEDS
def test_the_slope_that_multipliers_imply_has_no_residual(seed):
    point = Point(seed, soft=True, balanced=True)
    for low in (None, np.zeros(point.y.size)):
        certificate = point.judged(w=None, low=low).certificate
        assert certificate.dual["stationarity in w"] < 1e-14
        assert certificate.dual["balance"] < 1e-15
        assert certificate.primal["margin"] == 0.0
    assert certificate.note == f"{PRECISELY} Noted."
    assert point.judged().certificate.note == "Noted."


@pytest.mark.parametrize("soft", [True, False])
def test_an_optimum_in_closed_form_passes(soft):
    """Two samples at 1 and -1: w = 2 u / 2 is half the sum of multipliers, and the margins are 2 apart."""
    y, X = np.array([1.0, -1.0]), np.array([[1.0], [-1.0]])
    C = 4.0
    # Hard: w = 1. Soft: min w^2 + 2 C (1 - w)^2 has w = 2 C / (1 + 2 C), and u = 2 C xi.
    w = 2 * C / (1 + 2 * C) if soft else 1.0
    u = 2 * C * (1 - w) if soft else 1.0
    problem = SoftMargin(y, Features(X), squares=np.full(2, C) if soft else None, lam=2.0)
    found = judge_margins(problem, 1.0, np.full(2, u), 0.0)
    assert found.certificate.passes(1e-14)
    assert found.certificate.primal_value == pytest.approx(w**2 + (2 * C * (1 - w) ** 2 if soft else 0.0))
    assert found.certificate.kernel_rounding == 0.0
    wrong = judge_margins(problem, 1.0, np.full(2, 1.1 * u), 0.0).certificate
    assert not wrong.passes(1e-3)


def test_what_rounding_of_kernel_values_can_do_is_part_of_the_certificate():
    y, K = np.array([1.0, -1.0]), np.array([[1.0, -1.0], [-1.0, 1.0]])
    problem = SoftMargin(y, Matrix(K), lam=2.0, kernel_rounding=np.array([0.5, 0.25]))
    found = judge_margins(problem, 1.0, np.ones(2), 0.0).certificate
    assert found.kernel_rounding == pytest.approx(0.25 * 0.75**2)


@SEEDS
@PARTS
def test_multipliers_that_are_weighed_are_not_negative(seed, parts):
    point = Point(seed, soft=True, parts=parts)
    found = weigh(point.problem, point.given, None, point.low)
    assert (found.feasible >= 0.0).all()
    sums = [found.feasible[point.y == side].sum() for side in (1.0, -1.0)]
    for own, side in zip(sums, (1.0, -1.0), strict=True):
        assert own == pytest.approx(np.maximum(point.given, 0.0)[point.y == side].sum())
    quarter = 0.25 * (found.feasible**2 / point.costs).sum()
    hard = weigh(SoftMargin(point.y, Features(point.X), lam=2.0), point.given, None, point.low)
    assert hard.dual - found.dual == pytest.approx(quarter)


def test_classes_that_overlap_have_no_feasible_multiple():
    y, X = np.array([1.0, 1.0, -1.0]), np.array([[3.0], [2.0], [1.0]])
    slope = Features(X).slope_of(np.array([0.0, 0.5, -0.0]), np.array([0.5]))
    assert nearest_feasible(y, slope) == pytest.approx(0.25 * (2 / 0.5) ** 2)  # scores 1 and 0.5
    assert nearest_feasible(-y, slope) == np.inf
    touching = Features(np.array([[1.0], [2.0], [1.0]])).slope_of(np.zeros(3), np.array([1.0]))
    assert nearest_feasible(y, touching) == np.inf


def test_sums_in_two_parts_are_rounded_once():
    X = np.array([[1.0], [1.0]])
    found = precisely(Features(X), np.array([[1.0, -1.0], [1e-20, 3e-20]]))
    assert found.norm2 == pytest.approx(float(Fraction(1e-20) + Fraction(3e-20)) ** 2, rel=1e-10)
    assert noted(SoftMargin(np.ones(1), Features(X[:1])), None) == ""
    assert noted(SoftMargin(np.ones(1), Features(X[:1])), np.zeros(1)) == PRECISELY
