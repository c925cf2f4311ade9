"""Tests of `paretoclf.proof.lines.knots`."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.path.deletion import stretches
from paretoclf.problem.operator import Features
from paretoclf.proof.lines import knots as knots_module
from paretoclf.proof.lines.knots import LineKnots, SignedSamples, part_of, prove_knots
from paretoclf.proof.points.soft_margin import SoftMargin
from tests.path.deletion.test_stretches import LINE


@pytest.fixture(params=[None, pc.RBF(1.5)], ids=["linear", "rbf"])
def knots(gaussians, monkeypatch, request):
    """Of all stretches of a path."""
    seen = []

    def keep(found, note=""):
        seen.append(found)
        return prove_knots(found, note)

    monkeypatch.setattr(stretches, "prove_knots", keep)
    monkeypatch.setattr(stretches, "_NUMBERS", 2**22)
    pc.trace(pc.TwoCSVM(*gaussians(30, 2, seed=6), request.param), *LINE).leave_one_out()
    (found,) = seen
    assert prove_knots(found).passes()
    return found


def test_the_bounds_are_those_of_refits(knots):
    """At ends of segments the dual value is that of a solver, and the gap is no less than 0."""
    proof, y = prove_knots(knots), knots.of.y
    for j in range(0, knots.first.size, max(1, knots.first.size // 6)):
        knot = knots.first[j]
        there = knots.sets[knot] != 3
        caps = (1.0 - knots.t[knot]) * knots.of.caps[0] + knots.t[knot] * knots.of.caps[1]
        if knots.w is None:
            K = (y[:, None] * knots.of.matrix * y)[np.ix_(there, there)]
            svm = pc.TwoCSVM(K, y[there], "precomputed", sample_weight=caps[there])
        else:
            svm = pc.TwoCSVM((y[:, None] * knots.of.matrix)[there], y[there], sample_weight=caps[there])
        value = svm.solve(C_plus=1.0, C_minus=1.0, accuracy="reference").value
        assert proof.duals[j, 0] == pytest.approx(value, rel=1e-7)
    assert np.all(proof.gaps >= 0.0)


@pytest.mark.parametrize("what", ["b", "alpha", "sets", "w"])
def test_what_is_wrong_is_refuted(knots, what):
    """One number of what is stored is changed at one knot; both segments that have it fail, and no other."""
    if what == "w" and knots.w is None:
        pytest.skip("no slopes are stored")  # of a kernel: there is nothing to falsify
    rng, caught = np.random.default_rng(0), 0
    for knot in rng.choice(knots.first, 12, replace=False):
        x, t = getattr(knots, what).copy(), knots.t[knot]
        caps = (1.0 - t) * knots.of.caps[0] + t * knots.of.caps[1]
        if what == "b":
            x[knot] += 1e-3
        elif what == "w":
            x[knot, 0] += 1e-3
        else:
            listed = np.flatnonzero(knots.sets[knot] == 2)
            if what == "alpha":
                i = listed[0]
                x[knot, i] = x[knot, i] + 1e-3 if x[knot, i] < 0.5 * caps[i] else x[knot, i] - 1e-3
            else:  # one that is said to be at its cap, and is
                i = np.flatnonzero(knots.sets[knot] == 0)[0]
                x[knot, i] = 1
        changed = replace(knots, **{what: x})
        if what == "sets":
            alpha = knots.alpha.copy()
            alpha[knot, i] = caps[i]
            changed = replace(changed, alpha=alpha)
        failed = prove_knots(changed).failures()
        near = np.flatnonzero((knots.first == knot) | (knots.first + 1 == knot))
        assert set(failed.tolist()) <= set(near.tolist())
        caught += set(failed.tolist()) == set(near.tolist())
    assert caught == 12


def test_multipliers_out_of_their_box_are_refuted(knots):
    """All else holds there, as where a path walks past a cap: margins, slopes and sums are those of the multipliers."""
    of, knot = copy(knots.of), knots.first[knots.first.size // 2]
    t, i = knots.t[knot], np.flatnonzero(knots.sets[knot] == 2)[0]
    of.caps = of.caps.copy()
    of.caps[:, i] *= 0.9 * knots.alpha[knot, i] / ((1.0 - t) * of.caps[0, i] + t * of.caps[1, i])
    proof = prove_knots(replace(knots, of=of))
    j = int(np.flatnonzero(knots.first == knot)[0])
    assert j in proof.failures()
    assert proof.residuals["box"][j] > 0.05
    assert proof[j].verdict() == "not optimal"


def test_what_is_no_number_is_not_proved(knots):
    b = knots.b.copy()
    b[knots.first[0]] = np.nan
    assert 0 in prove_knots(replace(knots, b=b)).failures()


# ---- random knots, against loops over all samples --------------------------------------------------------------------


class Random:
    """Two lines of three and two segments, of which each leaves out a sample; nothing is optimal."""

    def __init__(self, seed, slopes, rounding=False):
        rng = np.random.default_rng(seed)
        n, d, c = 7, 2, 7
        self.X, self.y = rng.normal(size=(n, d)), np.where(np.arange(n) < 3, 1.0, -1.0)
        self.caps = rng.random((2, n)) + 0.5
        self.weight = rng.random(n) if rounding else None
        of = SignedSamples(Features(self.X), self.y, self.caps, self.weight, slopes)
        self.first = np.array([0, 1, 2, 4, 5])
        self.t = np.array([0.0, 0.25, 0.5, 0.75, 0.5, 0.75, 1.0])
        sets = rng.choice([0, 1, 2], size=(c, n), p=[0.25, 0.25, 0.5])
        sets[:4, 1], sets[4:, 5] = 3, 3
        here = (1 - self.t)[:, None] * self.caps[0] + self.t[:, None] * self.caps[1]
        alpha = np.choose(sets, [np.zeros_like(here), here, here * rng.uniform(-0.1, 1.1, (c, n)), np.zeros_like(here)])
        self.there = sets != 3
        costs = np.stack([(here * self.there)[:, self.y == side].sum(axis=1) for side in (1.0, -1.0)], axis=1)
        implied = (alpha * self.y) @ self.X
        self.w = implied + rng.normal(size=(c, d)) if slopes else None
        b = rng.normal(size=c)
        self.here, self.implied = here, implied
        self.at = LineKnots(self.t, b, costs, sets.astype(np.int8), alpha, self.w, self.first, of)

    def ends(self, j):
        return self.first[j], self.first[j] + 1


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("slopes", [True, False])
def test_residuals_are_those_of_each_sample_at_both_ends(seed, slopes):
    case = Random(seed, slopes)
    at, y, proof = case.at, case.y, prove_knots(case.at)
    judged = case.implied if case.w is None else case.w
    margin = y * (judged @ case.X.T + at.b[:, None]) - 1.0
    scaled = margin / (1.0 + np.abs(margin + 1.0))
    others = np.where(y > 0, at.costs[:, 1:], at.costs[:, :1])
    unit, inside = np.minimum(case.here, others), np.minimum(at.alpha, case.here)
    past = np.maximum(np.maximum(-at.alpha, at.alpha - case.here), 0.0)
    size = np.abs(case.X).max(axis=0)
    off = (np.abs(judged - case.implied) * size / (1.0 + np.abs(case.implied) * size)).max(axis=1)
    for j in range(5):
        ends = list(case.ends(j))
        found = {name: values[j] for name, values in proof.residuals.items()}
        assert found["box"] == pytest.approx((past / case.here)[ends].max(), rel=1e-9)
        assert found["stationarity in w"] == pytest.approx(off[ends].max(), rel=1e-9, abs=1e-14)
        balance = np.abs(at.alpha[ends] @ y) / at.costs[ends].min(axis=1)
        assert found["balance"] == pytest.approx(balance.max(), rel=1e-9)
        there = case.there[ends].all(axis=0)
        load, slack = (inside / unit)[ends].max(axis=0), ((case.here - inside) / unit)[ends].max(axis=0)
        above = np.minimum(load, scaled[ends].max(axis=0))[there]
        below = np.minimum(slack, -scaled[ends].min(axis=0))[there]
        assert found["complementarity"] == pytest.approx(max(above.max(), below.max(), 1e-12), rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("slopes", [True, False])
def test_no_gap_is_less_than_the_difference_of_objectives_in_fractions(seed, slopes):
    case = Random(seed, slopes)
    proof = prove_knots(case.at)
    for j in range(5):
        for share in (0.0, 0.5, 1.0):
            first, last = case.ends(j)
            there = case.there[first]
            alpha, b, caps, t = (
                (1 - share) * each[first] + share * each[last] for each in (case.at.alpha, case.at.b, case.here, case.t)
            )
            w = None if case.w is None else (1 - share) * case.w[first] + share * case.w[last]
            problem = SoftMargin(case.y[there], Features(case.X[there]), caps[there])
            exact = problem.bounds(alpha[None, there], float(b), w)
            found = proof.gaps[j] @ [(1 - share) ** 2, 2 * share * (1 - share), share**2]
            assert found >= float(exact.primal - exact.dual) - 1e-9
            sums = alpha.sum() - 0.5 * np.sum((case.X.T @ (case.y * alpha)) ** 2)
            assert proof.duals[j] @ [(1 - share) ** 2, 2 * share * (1 - share), share**2] <= sums + 1e-12
            assert t == pytest.approx((1 - share) * case.t[first] + share * case.t[last])


def test_both_products_find_the_same_where_the_slopes_are_those_of_the_multipliers():
    with_slopes, with_kernel = Random(0, True), Random(0, False)
    alpha = np.clip(with_slopes.at.alpha, 0.0, with_slopes.here)
    own = replace(with_slopes.at, alpha=alpha, w=(alpha * with_slopes.y) @ with_slopes.X)
    one = prove_knots(own)
    other = prove_knots(replace(own, w=None, of=with_kernel.at.of))
    for name in ("duals", "sizes", "rounding"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-9)
    np.testing.assert_allclose(one.residuals["box"], other.residuals["box"])
    np.testing.assert_allclose(one.residuals["complementarity"], other.residuals["complementarity"], rtol=1e-9)


def test_blocks_of_segments_do_not_matter_and_parts_are_taken_from_the_whole(monkeypatch):
    case = Random(1, True, rounding=True)
    whole = prove_knots(case.at, "Noted.")
    monkeypatch.setattr(knots_module, "_NUMBERS", 1)  # 16 segments at least
    for name in ("gaps", "sizes", "rounding", "duals", "samples", "kernel_rounding"):
        np.testing.assert_array_equal(getattr(prove_knots(case.at), name), getattr(whole, name))
    sums = case.at.alpha @ case.weight
    wanted = [0.5 * max(sums[list(case.ends(j))]) ** 2 for j in range(5)]
    np.testing.assert_allclose(whole.kernel_rounding, wanted)
    part = part_of(whole, np.array([3, 4]), case.t[4:])
    assert (part.t.tolist(), part.note, len(part)) == ([0.5, 0.75, 1.0], "Noted.", 2)
    np.testing.assert_array_equal(part.gaps, whole.gaps[3:])
    np.testing.assert_array_equal(part.kernel_rounding, whole.kernel_rounding[3:])
    np.testing.assert_array_equal(part.residuals["box"], whole.residuals["box"][3:])
    assert part_of(prove_knots(Random(1, True).at), np.array([0]), case.t[:2]).kernel_rounding is None


def test_a_margin_that_is_missed_by_rounding_is_not_listed_but_counts():
    """Two samples on their margin but for 1e-13: the residual and the gap are those of the least that is listed."""
    X, y, caps = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), np.ones((2, 2))
    of = SignedSamples(Features(X), y, caps, None, False)
    alpha = np.full((2, 2), 0.5 * (1 + 1e-13))
    at = LineKnots(
        np.array([0.0, 1.0]), np.zeros(2), np.ones((2, 2)), np.full((2, 2), 2), alpha, None, np.array([0]), of
    )
    proof = prove_knots(at)
    assert proof.residuals["complementarity"].tolist() == [1e-12]
    np.testing.assert_allclose(proof.gaps, 2e-12, rtol=1e-6)
    far = prove_knots(replace(at, alpha=np.full((2, 2), 0.5 * (1 + 1e-10))))
    assert far.residuals["complementarity"][0] == pytest.approx(0.5e-10 / 2.0 * 2.0, rel=0.1)
