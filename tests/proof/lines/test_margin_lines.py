"""The proof of two margins: against objectives in fractions and conditions of each sample, at many shares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paretoclf.problem.operator import Features
from paretoclf.problem.operator.matrix import Matrix
from paretoclf.problem.pieces import Pieces
from paretoclf.proof.lines.margin_lines import prove_margins
from paretoclf.proof.points.soft_margin import PRECISELY, SoftMargin

SEEDS = pytest.mark.parametrize("seed", range(5))
SOFT = pytest.mark.parametrize("soft", [True, False])


class Segment:
    """One segment of random multipliers in balance, a slope and two intercepts: far from optimal."""

    def __init__(self, seed: int, soft: bool) -> None:
        rng = np.random.default_rng(seed)
        n, d = 9, 2
        self.y = np.where(np.arange(n) < 4, 1.0, -1.0)
        self.X = rng.normal(size=(n, d)) + 4.0 * self.y[:, None]
        self.costs = rng.random(n) + 0.5 if soft else None
        self.index = np.array([0, 2, 5, 7, 8])
        alpha = rng.random(self.index.size) + 0.1
        sums = {side: alpha[self.y[self.index] == side].sum() for side in (1.0, -1.0)}
        alpha *= np.where(self.y[self.index] > 0, sums[-1.0] / sums[1.0], 1.0)
        self.given = np.zeros(n)
        self.given[self.index] = alpha
        self.w = self.X.T @ (0.5 * self.y * self.given) + 0.2 * rng.normal(size=d)
        self.b, self.t = rng.normal(size=2), np.array([0.3, 0.8])
        w, state = np.stack([self.w, self.w]), np.zeros(n, dtype=np.int8)
        self.pieces = Pieces.still(self.t, self.index, alpha, self.b, 0.0, w, state)
        self.problem = SoftMargin(self.y, Features(self.X), squares=self.costs, lam=2.0, note="Noted.")

    def at(self, share):
        """Share of the positives, intercept and targets at a share of the segment."""
        p = (1 - share) * self.t[0] + share * self.t[1]
        return p, (1 - share) * self.b[0] + share * self.b[1], np.where(self.y > 0, 2 * p, 2 * (1 - p))

    def bounds(self, share):
        _, b, target = self.at(share)
        return self.problem.bounds(self.given[None], b, self.w, target)


@SEEDS
@SOFT
def test_no_gap_is_less_than_the_difference_of_objectives_in_fractions(seed, soft):
    segment = Segment(seed, soft)
    proof = prove_margins(segment.problem, segment.pieces, "p")
    for share in np.linspace(0.0, 1.0, 9):
        exact = segment.bounds(share)
        weights = [(1 - share) ** 2, 2 * share * (1 - share), share**2]
        found = proof.gaps[0] @ weights
        assert found >= float(exact.primal - exact.dual) - 1e-9
        if share in (0.0, 1.0):
            assert found == pytest.approx(float(exact.primal - exact.dual), rel=1e-9)
        assert proof.duals[0] @ weights == pytest.approx(float(exact.dual), rel=1e-9)
    assert not proof.rounding.any()
    assert (proof.sizes == np.maximum(proof.duals, 0.0)).all()
    assert (proof.parameter, proof.note, proof.t.tolist()) == ("p", "Noted.", segment.t.tolist())
    assert proof.kernel_rounding is None


@SEEDS
@SOFT
def test_residuals_are_those_of_each_sample_at_both_ends(seed, soft):
    segment = Segment(seed, soft)
    y, given, found = segment.y, segment.given, prove_margins(segment.problem, segment.pieces, "p")
    ends = [segment.at(share) for share in (0.0, 1.0)]
    f = np.array([segment.X @ segment.w + b for _, b, _ in ends])
    target = np.array([target for *_, target in ends])
    same = np.where(f[0] * f[1] > 0, np.abs(f), 0.0)
    xi = np.maximum(0.0, target - y * f) if soft else np.zeros_like(f)
    slack = (y * f - target + xi) / (target + same)
    theta = np.array([p / (1 - p) for p, *_ in ends])
    loads = np.array([np.where(y > 0, given, given / one) for one in theta])
    loads /= loads.max(axis=1, keepdims=True)
    meeting = np.minimum(loads.max(axis=0), slack.max(axis=0)).clip(0.0)
    residuals = {name: float(values[0]) for name, values in found.residuals.items()}
    assert residuals["margin"] == pytest.approx(max(0.0, -slack.min()), rel=1e-9, abs=1e-15)
    assert residuals["complementarity"] == pytest.approx(meeting.max(), rel=1e-9)
    assert residuals["box"] == residuals["one solution"] == 0.0
    assert residuals["balance"] < 1e-15
    assert residuals["stationarity in w"] > 1e-4
    if soft:
        off = np.abs(xi - 0.5 * given / segment.costs).max()
        wanted = off / (1.0 + same.min(axis=0).max())
        assert residuals["stationarity in xi"] == pytest.approx(wanted, rel=1e-9)
    assert found.samples[0] == np.argmax(np.maximum(meeting, -slack.min(axis=0)))


@SEEDS
def test_without_a_stored_slope_it_is_that_of_the_multipliers(seed):
    segment = Segment(seed, soft=True)
    proof = prove_margins(segment.problem, replace(segment.pieces, w=None), "p")
    assert proof.residuals["stationarity in w"][0] == 0.0
    w = segment.X.T @ (0.5 * segment.y * segment.given)
    own = prove_margins(segment.problem, replace(segment.pieces, w=np.stack([w, w])), "p")
    np.testing.assert_allclose(proof.gaps, own.gaps, rtol=1e-12)


def test_what_differs_between_the_two_ends_is_no_one_solution():
    segment = Segment(0, soft=True)
    P = segment.pieces
    largest, size = np.abs(P.a0).max(), np.abs(segment.w).max()
    for changed, wanted in (
        ({"a1": P.a0 + np.eye(5)[1] * 0.25}, 0.25 / largest),
        ({"w": P.w + np.array([[0.0, 0.0], [0.5, 0.0]])}, 0.5 / size),
        ({"a1": P.a0 + np.eye(5)[1] * 0.25, "w": P.w + np.array([[0.0, 0.0], [size, 0.0]])}, 1.0),
    ):
        found = prove_margins(segment.problem, replace(P, **changed), "p")
        assert found.residuals["one solution"][0] == pytest.approx(wanted)


def test_multipliers_below_0_and_samples_at_a_cap_are_outside_the_box():
    segment = Segment(1, soft=True)
    P = segment.pieces
    negative = replace(P, a0=P.a0 * [1, 1, -1, 1, 1], a1=P.a1 * [1, 1, -1, 1, 1])  # of a negative sample
    theta = (segment.t / (1 - segment.t))[:, None]
    given = np.where(segment.y > 0, segment.given, segment.given / theta)
    own = np.delete(given, 5, axis=1).max(axis=1)
    wanted = (given[:, 5] / own).max()
    assert prove_margins(segment.problem, negative, "p").residuals["box"][0] == pytest.approx(wanted)
    state = P.state.copy()
    state[3] = 1
    capped = prove_margins(segment.problem, replace(P, state=state), "p")
    assert capped.residuals["box"][0] == np.inf
    assert not capped.passes()


def two_points(soft):
    """Samples at 1 and -1, whose optimum is known: u = 1 and w = 1, or with slacks less; b = p - (1 - p)."""
    y, X, C = np.array([1.0, -1.0]), np.array([[1.0], [-1.0]]), 4.0
    w = 2 * C / (1 + 2 * C) if soft else 1.0
    u = 2 * C * (1 - w) if soft else 1.0
    t = np.array([0.25, 0.5])
    value = w**2 + (2 * C * (1 - w) ** 2 if soft else 0.0)
    b = 2 * t - 1.0
    state = np.zeros(2, dtype=np.int8)
    pieces = Pieces.still(t, np.arange(2), np.full(2, u), b, value, np.full((2, 1), w), state)
    return y, X, np.full(2, C) if soft else None, pieces, value


@SOFT
@pytest.mark.parametrize("low", [None, np.zeros(2)])
def test_a_known_optimum_is_proved_and_any_other_is_not(soft, low):
    y, X, costs, P, value = two_points(soft)
    problem = SoftMargin(y, Features(X), squares=costs, lam=2.0)
    proof = prove_margins(problem, P, "p", low)
    assert proof.passes(1e-14)
    assert proof.sizes == pytest.approx(value)
    assert (PRECISELY in proof.note) == (low is not None)
    for wrong in (
        replace(P, b0=P.b0 + 1e-4),
        replace(P, b1=P.b1 - 1e-4),
        replace(P, w=P.w * 1.001),
        replace(P, a0=P.a0 * 1.01, a1=P.a1 * 1.01),
        replace(P, value=P.value * 1.001),
    ):
        assert not prove_margins(problem, wrong, "p", low).passes(1e-6)
    off = prove_margins(problem, replace(P, value=P.value * 1.25), "p").residuals["value"][0]
    assert off == pytest.approx(0.25)


def test_rounding_of_kernel_values_is_that_of_all_multipliers():
    y, X, _, P, _ = two_points(soft=False)
    rounding = np.array([0.5, 0.25])
    problem = SoftMargin(y, Matrix(X @ X.T), lam=2.0, kernel_rounding=rounding)
    found = prove_margins(problem, replace(P, w=None), "p").kernel_rounding
    assert found == pytest.approx(0.25 * 0.75**2)


def test_classes_that_overlap_have_an_infinite_gap_where_the_problem_is_hard():
    segment = Segment(0, soft=False)
    other = replace(segment.problem, Q=Features(-segment.X))
    assert prove_margins(other, segment.pieces, "p").gaps.max() == np.inf
