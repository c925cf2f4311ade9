"""The proof with multipliers in two doubles: against objectives in fractions, and conditions sample by sample."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from paretoclf.common.tolerances import SLACK_ROUNDING
from paretoclf.problem.operator import Features
from paretoclf.problem.operator.matrix import Matrix
from paretoclf.proof.lines.refined_lines import Refined, prove_refined
from paretoclf.proof.points.soft_margin import PRECISELY, SoftMargin

SEEDS = pytest.mark.parametrize("seed", range(2))
INTERCEPTS = pytest.mark.parametrize("intercept", ["free", "none", "feature"])
KINDS = pytest.mark.parametrize("kind", ["kernel", "implied", "stored"])


class Segments:
    """Two segments with multipliers that are not optimal: high parts in eighths, and low parts far below."""

    def __init__(self, seed: int, intercept: str, kind: str, outside: bool = False) -> None:
        rng = np.random.default_rng(seed)
        n, d, k = 8, 2, 2
        self.rng, self.intercept = rng, intercept
        self.y = np.where(np.arange(n) < 3, 1.0, -1.0)
        self.X = rng.integers(-6, 7, (n, d)) / 4.0
        self.caps = rng.integers(2, 9, (2, n)) / 4.0
        self.t = np.array([[0.0, 0.5], [0.5, 1.0]])
        caps = self.caps_at(self.t)
        high = caps * rng.integers(0, 5, (k, 2, n)) / 4.0
        low = 2.0**-60 * rng.integers(-2, 3, (k, 2, n)) * ((high > 0) & (high < caps))
        if intercept == "free":  # in balance: all at the same share of caps that add up to the same
            self.caps[:] = np.where(self.y > 0, 8.0, 3.0)
            own = np.where(self.y > 0, 5.0, 3.0)  # 15 in all of either class
            high = 0.25 * own * rng.integers(1, 4, (k, 2, 1))
            low = own * 2.0**-60 * rng.integers(-2, 3, (k, 2, 1))
            caps = self.caps_at(self.t)
        if outside:
            high[0, 0, 0] = 1.5 * caps[0, 0, 0]
            high[1, 1, -1] = -0.25
            low[1, 0, 1], high[1, 0, 1] = 2.0**-40, caps[1, 0, 1]  # by the second part alone
        self.alpha = np.stack([high, low], axis=2)
        self.w = None
        if kind == "stored":
            self.w = np.einsum("sen,nd->sed", high * self.y, self.X) + rng.integers(-2, 3, (k, 2, d)) / 4.0
        self.b = rng.integers(-4, 5, (k, 2)) / 4.0 if intercept != "none" else np.zeros((k, 2))
        self.value = np.zeros((k, 3))
        Q = Matrix(self.X @ self.X.T) if kind == "kernel" else Features(self.X)
        self.problem = SoftMargin(self.y, Q, self.caps, intercept=intercept, note="Noted.")

    def caps_at(self, t):
        t = np.asarray(t)[..., None]
        return (1.0 - t) * self.caps[0] + t * self.caps[1]

    def refined(self, **changed):
        return Refined(**{"t": self.t, "alpha": self.alpha, "b": self.b, "w": self.w, "value": self.value, **changed})

    def proof(self):
        return prove_refined(self.problem, self.refined(), "t")

    def bounds(self, segment, share):
        """Both objectives in fractions at a share of a segment."""
        ends = [1.0 - share, share]
        parts = np.concatenate([end * self.alpha[segment, e] for e, end in enumerate(ends)])
        t = ends @ self.t[segment]
        w = None if self.w is None else ends @ self.w[segment]
        return replace(self.problem, caps=self.caps_at(t)).bounds(parts, float(ends @ self.b[segment]), w)


@SEEDS
@INTERCEPTS
@KINDS
@pytest.mark.parametrize("outside", [False, True])
def test_no_gap_is_less_than_the_difference_of_objectives_in_fractions(seed, intercept, kind, outside):
    segments = Segments(seed, intercept, kind, outside)
    if intercept != "free" and kind == "stored":
        segments.b = np.round(segments.b)
    proof = segments.proof()
    for segment in range(2):
        for share in (0.0, 0.25, 0.5, 1.0):
            exact = segments.bounds(segment, share)
            gap = float(exact.primal - exact.dual)
            found = proof.gaps[segment] @ [(1 - share) ** 2, 2 * share * (1 - share), share**2]
            assert found >= gap - 1e-11
            if not outside and kind != "stored":
                assert share not in (0.0, 1.0) or found <= gap + 1e-11 or intercept == "feature"
                dual = proof.duals[segment] @ [(1 - share) ** 2, 2 * share * (1 - share), share**2]
                assert dual == pytest.approx(float(exact.dual), abs=1e-12)


@SEEDS
def test_where_the_intercept_is_that_of_the_multipliers_the_gap_is_exact(seed):
    segments = Segments(seed, "feature", "implied")
    segments.b = np.einsum("sepn,n->se", segments.alpha, segments.y)
    proof = segments.proof()
    for segment in range(2):
        for share, place in ((0.0, 0), (1.0, 2)):
            exact = segments.bounds(segment, share)
            assert proof.gaps[segment, place] == pytest.approx(float(exact.primal - exact.dual), abs=1e-11)
    assert (proof.residuals["stationarity in w"] < 1e-14).all()


@SEEDS
@INTERCEPTS
@KINDS
@pytest.mark.parametrize("outside", [False, True])
def test_residuals_are_those_of_each_sample(seed, intercept, kind, outside):
    segments = Segments(seed, intercept, kind, outside)
    proof, y = segments.proof(), segments.y
    total = segments.alpha.sum(axis=2)
    caps = segments.caps_at(segments.t)
    implied = np.einsum("sen,nd->sed", total * y, segments.X)
    w = implied if segments.w is None else segments.w
    f = w @ segments.X.T + segments.b[..., None]
    own = segments.alpha[:, :, 0]
    past = np.maximum((own - caps) + segments.alpha[:, :, 1], -total).clip(0.0)
    np.testing.assert_allclose(proof.residuals["box"], (past / caps).max(axis=(1, 2)), rtol=1e-9, atol=1e-300)
    constant = (total * y).sum(axis=2) if intercept == "feature" else np.zeros((2, 2))
    size = np.abs(segments.X).max(axis=0)
    terms = np.einsum("sen,nd->sed", np.abs(own), np.abs(segments.X))
    apart = (np.abs(w - implied) * size / (1.0 + terms * size)).max(axis=2)
    if intercept == "feature":
        apart = np.maximum(apart, np.abs(segments.b - constant) / (1.0 + np.abs(own).sum(axis=2)))
    np.testing.assert_allclose(proof.residuals["stationarity in w"], apart.max(axis=1), rtol=1e-9, atol=1e-12)
    units = caps
    if intercept == "free":
        sums = [caps[..., y == side].sum(axis=2, keepdims=True) for side in (-1.0, 1.0)]
        units = np.minimum(caps, np.where(y > 0, sums[0], sums[1]))
        balance = np.abs((total * y).sum(axis=2))
        smaller = np.minimum(*sums)[..., 0]
        np.testing.assert_allclose(proof.residuals["balance"], (balance / smaller).max(axis=1), atol=1e-15)
    inside = np.where(past > 0, np.where(total > 0, caps, 0.0), own)
    margin = (y * f - 1.0) / (1.0 + np.abs(y * f))
    above = np.minimum((inside / units).max(axis=1), margin.max(axis=1))
    below = np.minimum(((caps - inside) / units).max(axis=1), -margin.min(axis=1))
    wanted = np.maximum(above, below).max(axis=1).clip(0.0)
    np.testing.assert_allclose(proof.residuals["complementarity"], wanted, rtol=1e-9, atol=1e-15)
    at_samples = np.maximum(above, below)[[0, 1], proof.samples]
    np.testing.assert_allclose(at_samples, wanted, rtol=1e-9)  # of several the last


def exact_pair():
    """Samples at 1 and -1 with caps 1: multipliers 1/2, w = 1 and b = 0 for each t."""
    y, X = np.array([1.0, -1.0]), np.array([[1.0], [-1.0]])
    alpha = np.zeros((1, 2, 2, 2))
    alpha[:, :, 0] = 0.5
    refined = Refined(np.array([[0.0, 1.0]]), alpha, np.zeros((1, 2)), None, np.array([[0.5, 0.5, 0.0]]))
    return SoftMargin(y, Features(X), np.ones((2, 2)), note="Noted."), refined


def test_what_is_optimal_is_proved_and_any_error_is_seen():
    problem, right = exact_pair()
    proof = prove_refined(problem, right, "cost")
    assert proof.passes(1e-14)
    assert (proof.parameter, proof.note) == ("cost", f"{PRECISELY} Noted.")
    assert prove_refined(replace(problem, note=""), right, "t").note == PRECISELY
    np.testing.assert_allclose(proof.sizes, 0.5)
    for changed in (
        {"b": right.b + np.array([0.0, 1e-3])},
        {"alpha": right.alpha * np.array([1.001, 1.0])},
        {"alpha": right.alpha + np.array([[0.0, 0.0], [1e-3, 1e-3]])},
        {"w": np.array([[[1.0], [1.001]]])},
        {"value": right.value * 1.001},
    ):
        assert not prove_refined(problem, replace(right, **changed), "t").passes(1e-5), changed


def test_a_margin_is_known_in_twice_the_precision():
    """Scores of 1 + 2**-60, by the second part of the multipliers: beyond the margin by as much."""
    problem, right = exact_pair()
    alpha = right.alpha.copy()
    alpha[:, :, 1] = 2.0**-61
    proof = prove_refined(problem, replace(right, alpha=alpha), "t")
    gap = 2 * (0.5 + 2.0**-61) * 2.0**-60
    np.testing.assert_allclose(proof.gaps, gap, rtol=1e-9)
    wide = replace(problem, caps=np.array([[1.0, 2.0]] * 2))
    for b, costs in ((2.0**-60, 2.0), (-(2.0**-60), 1.0)):
        # One sample is within its margin, at the cost of its multiplier, and the other has a slack.
        away = prove_refined(wide, replace(right, b=right.b + b), "t")
        np.testing.assert_allclose(away.gaps, costs * 2.0**-60, rtol=1e-9)


def test_what_rounding_of_margins_may_hide_are_the_costs_next_to_them():
    """Both samples are on their margin; a third is clear of it, and a fourth beyond it."""
    y, X = np.array([1.0, -1.0, 1.0, -1.0]), np.array([[1.0], [-1.0], [3.0], [0.0]])
    caps = np.array([[1.0, 2.0, 4.0, 8.0], [2.0, 3.0, 4.0, 8.0]])
    alpha = np.zeros((1, 2, 2, 4))
    alpha[:, :, 0, :2] = 0.5
    refined = Refined(np.array([[0.0, 1.0]]), alpha, np.zeros((1, 2)), None, np.zeros((1, 3)))
    proof = prove_refined(SoftMargin(y, Features(X), caps), refined, "t")
    # 1 + |f| is 2 at the margin, and 1 for the last sample, whose score is 0.
    ends = SLACK_ROUNDING * (caps @ [2.0, 2.0, 0.0, 1.0])
    np.testing.assert_allclose(proof.rounding[0], [ends[0], ends.mean(), ends[1]])
    # With an intercept of 1/2 at one end the first sample is clear of its margin there; the least rounding counts.
    moved = prove_refined(SoftMargin(y, Features(X), caps), replace(refined, b=np.array([[0.0, 0.5]])), "t")
    ends = SLACK_ROUNDING * (caps @ [0.0, 2.0, 0.0, 1.0])
    np.testing.assert_allclose(moved.rounding[0], [ends[0], ends.mean(), ends[1]])


def test_the_largest_squared_length_bounds_what_moves_to_the_box_do():
    segments = Segments(0, "none", "implied", outside=True)
    proof = segments.proof()
    reach2 = Fraction(float((segments.X**2).sum(axis=1).max()))
    assert segments.problem.Q.terms2 >= float(reach2)
    outside = np.abs(
        segments.alpha.sum(axis=2) - np.clip(segments.alpha.sum(axis=2), 0.0, segments.caps_at(segments.t))
    )
    at_least = 0.5 * segments.problem.Q.terms2 * outside.sum(axis=2) ** 2
    assert (proof.gaps[:, 0] >= at_least[:, 0] - 1e-12).all()
    assert (proof.gaps[:, 2] >= at_least[:, 1] - 1e-12).all()
