"""The theorem of lines with hinge slacks, held against objectives in fractions at points that are far from feasible."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.tolerances import SLACK_ROUNDING
from paretoclf.problem.operator import Features
from paretoclf.proof.lines import hinge_lines
from paretoclf.proof.lines.hinge_lines import (
    HingeTerms,
    _line_proof,
    average_slack,
    floored,
    hidden,
    prove_hinge,
    slack_rounding,
)
from paretoclf.proof.lines.prove import prove
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.segments.bernstein import columns
from paretoclf.proof.segments.block import ProofTask
from tests.oracles.stored_points import StoredPoint, with_errors
from tests.proof.lines.test_prove import BY_KERNEL, data, joined, traced, with_pieces


def terms_at(problem: SoftMargin, X, alpha, b, w) -> HingeTerms:
    """One segment of no length but in t: the same point at both ends."""
    y, caps, lam = problem.y, problem.caps, problem.lam
    implied = X.T @ (y * alpha) / lam
    constant = float(y @ alpha) / lam if problem.intercept == "feature" else 0.0
    margin = y * (X @ w + b) - 1.0
    inside = np.clip(alpha, 0.0, caps)
    gap = float(inside @ np.maximum(margin, 0.0) + (caps - inside) @ np.maximum(-margin, 0.0))
    norm2 = lam * (float(implied @ implied) + constant**2)
    apart = np.linalg.norm(np.append(w - implied, b - constant if problem.intercept != "free" else 0.0))
    outside = np.abs(alpha - inside)
    off = float(np.abs(margin)[outside > 0].max(initial=0.0))

    def both(x):
        return np.full((1, 2), float(x))

    return HingeTerms(
        t=np.array([[0.0, 1.0]]),
        gap=np.full((1, 3), gap),
        norms=columns(*np.full((3, 1), norm2)),
        sums=both(alpha.sum()),
        balance=both(y @ alpha),
        plus=both(caps[y > 0].sum()),
        minus=both(caps[y < 0].sum()),
        outside=both(outside.sum()),
        outside_margin=both(off),
        distance=both(apart),
        slack=np.array([float(np.maximum(-margin, 0.0).max())]),
        b=both(b),
        rounding=np.zeros((1, 3)),
        residuals={},
        samples=np.zeros(1, dtype=np.int64),
        length2=float((X * X).sum(axis=1).max()),
        lam=lam,
        intercept=problem.intercept,
    )


@pytest.mark.parametrize("intercept", ["free", "none", "feature"])
@pytest.mark.parametrize("wrong", ["nothing", "box", "balance", "slope", "all", "aligned", "clipped"])
@pytest.mark.parametrize("seed", range(20))
def test_no_gap_is_less_than_that_of_the_feasible_point_next_to_it(intercept, wrong, seed):
    rng = np.random.default_rng(seed)
    n, d = 8, 2
    X, y = rng.integers(-4, 5, (n, d)) / 2.0, np.where(np.arange(n) < 3, 1.0, -1.0)
    caps, lam = rng.integers(1, 9, n) / 4.0, float(rng.choice([0.5, 1.0, 2.0]))
    alpha = caps * rng.integers(0, 5, n) / 4.0
    up, down = alpha[y > 0].sum(), alpha[y < 0].sum()
    if intercept == "free" and min(up, down) > 0:
        alpha = np.where(y > 0, alpha * min(up, down) / up, alpha * min(up, down) / down)
    if wrong in ("balance", "all"):
        alpha = np.where(y > 0, 0.5 * alpha, alpha)
    if wrong in ("box", "all"):
        alpha[0] = 1.5 * caps[0]
        alpha[-1] = -0.25 * caps[-1]
    longest = int(np.argmax((X * X).sum(axis=1)))
    if wrong == "aligned":
        alpha[longest] = 1.75 * caps[longest]
    problem = SoftMargin(y, Features(X), caps, lam=lam, intercept=intercept)
    if wrong == "clipped":  # in balance, as long as nobody asks for the box
        alpha[0] = 3.0 * caps[0]
        alpha[1:3] = 0.0
        alpha[y < 0] = alpha[0] * caps[y < 0] / caps[y < 0].sum()
    w = X.T @ (y * alpha) / lam
    b = {"free": 0.25, "none": 0.0, "feature": float(y @ alpha) / lam}[intercept]
    if wrong in ("slope", "all"):
        w = w + rng.normal(size=d) / 4.0
    if wrong == "aligned":  # the slope is wrong in the direction in which multipliers outside their box move it
        w = w + 0.5 * y[longest] * X[longest]
    proof = terms_at(problem, X, alpha, b, w).proof()
    exact = problem.bounds(alpha[None], b, w)
    gap = exact.primal - exact.dual
    assert (proof.gaps[0] >= float(gap) - 1e-12).all()
    if wrong == "nothing" and intercept != "free":
        assert proof.gaps[0, 0] == pytest.approx(float(gap), abs=1e-12)
    assert Fraction(float(proof.duals[0, 0])) <= exact.primal + Fraction(1, 10**12)


# ---- lines ---------------------------------------------------------------------------------------------------------


def hinge_paths():
    """Linear ones, whose slopes are stored, each with the weight of its squared norm, and whether b is a feature's."""
    X, y = data(3)
    yield X, y, pc.trace(pc.TwoCSVM(X, y), (0.1, 1.9), (1.9, 0.1), certify=False), 1.0, False
    for lam in (0.05, 7.0):
        svm = pc.QuantileSVM(X, y, bias=True)
        yield X, y, pc.trace(svm, tau=(0.1, 0.9), lam=lam, certify=False), lam, True


@pytest.mark.parametrize("kind", range(3), ids=["two costs", "quantile", "quantile, large lam"])
def test_the_gap_of_hinges_is_the_sum_that_the_theorem_has(kind):
    """At ends of segments: slacks, and how far w (with b, where it is the weight of a feature) is from what it was."""
    X, y, path, lam, of_feature = list(hinge_paths())[kind]
    P = path.pieces
    wrong = with_pieces(path, w=1.001 * P.w, b0=P.b0 + 1e-3, b1=P.b1 + 1e-3)
    assert path.proof.passes(1e-9)
    for j in (1, len(path.proof) // 2, len(path.proof) - 1):
        for end, b in enumerate((P.b0[j], P.b1[j])):
            t = float(P.t[j + end])
            alpha, caps, w = path.alpha(t), path.caps(t), P.w[j + end]
            margin = y * (1.001 * (X @ w) + b + 1e-3) - 1.0
            slacks = alpha @ np.maximum(margin, 0.0) + (caps - alpha) @ np.maximum(-margin, 0.0)
            apart = 0.5 * lam * (1e-6 * float(w @ w) + (1e-6 if of_feature else 0.0))
            assert wrong.proof.gaps[j, 2 * end] == pytest.approx(slacks + apart, rel=1e-6)
        sums = min(path.alpha(float(P.t[j + end])).sum() for end in (0, 1))
        for by in (1e-3, -1e-3) if of_feature else ():
            shifted = with_pieces(path, b0=P.b0 + by, b1=P.b1 + by)
            found = shifted.proof.residuals["stationarity in w"][j]
            assert found == pytest.approx(1e-3 / (1.0 + sums / lam), rel=1e-6)


@BY_KERNEL
def test_bounds_of_multipliers_beyond_their_caps_are_those_of_feasible_ones(kernel):
    """One at its cap, of a sample inside the margin, by little and by much: dual value below, gap above truth."""
    X, y = data(3)
    paths = (
        traced(kernel),
        pc.trace(pc.QuantileSVM(X, y, kernel=kernel), tau=(0.2, 1), lam=0.5, certify=False),  # without an intercept
    )
    for path, free in zip(paths, (True, False), strict=True):
        j = path.pieces.t.size // 2
        lo = float(path.pieces.t[j])
        hi = lo + 0.2 * float(path.pieces.t[j + 1] - lo)
        lam, gram = path.soft_margin.lam, path.gram.matrix
        caps, y, right = path.caps(lo), path.y, joined(path, lo, hi)
        right = with_pieces(right, w=None)
        assert right.proof.closed(1e-9).all()
        b = right.pieces.b0[0] if free else 0.0
        margin = y * (gram @ (y * right.pieces.a0) / lam + b) - 1.0
        i = int(np.argmin(np.where(right.pieces.a0 == caps, margin, np.inf)))
        assert margin[i] < -0.2
        for beyond in (1e-4, 1.0):
            a0 = right.pieces.a0.copy()
            a0[i] += beyond * caps[i]
            proof = with_pieces(right, a0=a0).proof
            inside, coef = right.pieces.a0, y * a0
            assert proof.residuals["box"][0] == pytest.approx(beyond, rel=1e-6)
            primal = 0.5 * coef @ gram @ coef / lam + caps @ np.maximum(0.0, 1.0 - y * (gram @ coef / lam + b))
            dual = inside.sum() - 0.5 * (y * inside) @ gram @ (y * inside) / lam
            if not free:
                assert proof.duals[0, 0] <= dual + 1e-12
            assert proof.gaps[0, 0] >= primal - dual - 1e-12


def test_what_rounding_makes_of_slacks_grows_with_an_intercept_that_stays_away_from_0():
    costs, b = np.array([[2.0, 3.0]] * 3), np.array([[-5.0, -4.0], [-5.0, 4.0], [0.0, 4.0]])
    found = slack_rounding(costs, b)
    np.testing.assert_allclose(found, SLACK_ROUNDING * np.array([[2.0, 2.5, 3.0]]) * [[5.0], [1.0], [1.0]], rtol=1e-15)


def test_sizes_that_vanish_at_an_end_are_rounding_of_the_largest_there():
    for unit in (1e-9, 1.0, 1e9):
        found = floored(unit * np.array([[0.0, 1.0, 4.0], [3.0, 2.0, 1.0]]))
        np.testing.assert_array_equal(found, unit * np.array([[4.0 * np.finfo(float).eps, 1.0, 4.0], [3.0, 2.0, 1.0]]))


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_slacks_that_round_to_0_count_where_they_are_as_large_as_the_value_all_along(unit):
    """In any unit of the costs: of 0.3 times the value at both ends, of 0.2 at one, and of 0.2 at both."""
    share = np.array([[0.3, 0.3], [0.3, 0.2], [0.2, 0.2]])
    b, sizes = np.zeros((3, 2)), unit * np.array([[1.0, 2.0, 3.0]] * 3)
    found = hidden(3.0 * unit * share / SLACK_ROUNDING, b, sizes)
    np.testing.assert_allclose(found, 3.0 * unit * np.array([[0.3, 0.3, 0.3], [0, 0, 0], [0, 0, 0]]), rtol=1e-12)


@pytest.mark.parametrize(("cost", "told"), [(1e6, True), (1e15, False)])
def test_costs_so_large_that_slacks_which_round_to_0_may_be_worth_the_value_prove_nothing(cost, told):
    """w = 1 and b = 0 to the last bit: no slack shows, and one of 2e-15 on each margin would cost 4."""
    X, y = np.array([[-1.0], [1.0], [2.0], [-3.0]]), np.array([-1.0, 1.0, 1.0, -1.0])
    path = pc.trace(pc.TwoCSVM(X, y), (cost, cost), (2 * cost, 3 * cost), certify=False)
    zero = np.zeros_like(path.pieces.b0)
    exact = with_pieces(path, w=np.ones_like(path.pieces.w), b0=zero, b1=zero)
    assert prove(exact.soft_margin, exact.pieces).passes() == told


# ---- lines in fractions ----------------------------------------------------------------------------------------------


KINDS = {
    "costs": lambda X, y: pc.trace(pc.TwoCSVM(X, y), (0.3, 1.5), (1.5, 0.4), certify=False),
    "few costs": lambda X, y: pc.trace(pc.TwoCSVM(X, y), (0.02, 1.5), (0.05, 1.0), certify=False),
    "costs, kernel": lambda X, y: pc.trace(pc.TwoCSVM(X, y, pc.RBF(1.0)), (0.3, 1.5), (1.5, 0.4), certify=False),
    "feature": lambda X, y: pc.trace(pc.QuantileSVM(X, y, bias=True), tau=(0.2, 0.8), lam=0.25, certify=False),
    "feature, kernel": lambda X, y: pc.trace(
        pc.QuantileSVM(X, y, kernel=pc.RBF(1.0), bias=True), tau=(0.2, 0.8), lam=0.25, certify=False
    ),
    "none, kernel": lambda X, y: pc.trace(
        pc.QuantileSVM(X, y, kernel=pc.RBF(1.0)), tau=(0.2, 0.8), lam=0.25, certify=False
    ),
}
WRONG = {
    "nothing": {},
    "multipliers": {"alpha": 1.01},
    "one end": {"alpha": 0.97, "end": True},
    "intercept": {"b": 0.1},
    "intercept below": {"b": -0.1},
    "slope": {"w": 0.05},
    "a sample": {"sample": -0.05},
}
BY_KIND = pytest.mark.parametrize("kind", KINDS)
BY_ERROR = pytest.mark.parametrize("wrong", WRONG)


@pytest.fixture(scope="module")
def paths():
    X, y = data(3, n=14, d=2)
    return {kind: make(X, y) for kind, make in KINDS.items()}


@BY_KIND
@BY_ERROR
def test_no_gap_on_a_line_is_less_than_the_difference_of_objectives_in_fractions(paths, kind, wrong):
    path = paths[kind]
    pieces = with_errors(path, slopes=path.pieces.w is not None, **WRONG[wrong])
    proof = prove_hinge(path.soft_margin, pieces, "cost")
    assert proof.parameter == "cost"
    of_stored = wrong != "slope" or pieces.w is not None
    of_stored &= not wrong.startswith("intercept") or pieces.w is not None or path.soft_margin.intercept == "free"
    assert proof.passes() == (wrong == "nothing" or not of_stored)
    for j in range(len(proof)):
        for share in (0.0, 0.5, 1.0):
            at = StoredPoint(path, pieces, j, share)
            weights = [(1 - share) ** 2, 2 * share * (1 - share), share**2]
            primal, dual = at.objectives()
            found = proof.gaps[j] @ weights
            assert found >= primal - dual - 1e-12
            assert found <= 4.0 * (primal - dual) + 0.4 * (wrong != "nothing") + 1e-12
            if wrong in ("nothing", "intercept", "intercept below", "slope"):
                assert proof.duals[j] @ weights == pytest.approx(dual, rel=1e-9)
                assert proof.sizes[j] @ weights <= dual * (1 + 1e-9)
    if wrong != "a sample":  # what it is outside its box is taken off the dual values alone
        np.testing.assert_allclose(proof.sizes[:, [0, 2]], proof.duals[:, [0, 2]], rtol=1e-3)


@BY_KIND
@BY_ERROR
def test_residuals_on_a_line_are_those_of_both_ends(paths, kind, wrong):
    path = paths[kind]
    pieces = with_errors(path, slopes=path.pieces.w is not None, **WRONG[wrong])
    free = path.soft_margin.intercept == "free"
    proof, y = _line_proof(ProofTask.of(path.soft_margin, pieces).with_each_end(), "t"), path.y
    for j in range(len(proof)):
        ends = [StoredPoint(path, pieces, j, share) for share in (0.0, 1.0)]
        found = {name: values[j] for name, values in proof.residuals.items()}
        sums = [[at.caps[y == side].sum() for side in (1.0, -1.0)] for at in ends]
        units = [at.caps for at in ends]
        if free:
            units = [
                np.minimum(at.caps, np.where(y > 0, minus, plus)) for at, (plus, minus) in zip(ends, sums, strict=True)
            ]
        balance = max(abs(y @ at.alpha) / min(each) for at, each in zip(ends, sums, strict=True))
        box = max(
            (np.maximum(-at.alpha, at.alpha - at.caps) / unit).max() for at, unit in zip(ends, units, strict=True)
        )
        assert found["balance"] == pytest.approx(balance if free else 0.0, rel=1e-6, abs=1e-12)
        assert found["box"] == pytest.approx(max(box, 0.0), rel=1e-6, abs=1e-12)
        inside = [np.clip(at.alpha, 0.0, at.caps) for at in ends]
        margins = [y * at.scores() - 1.0 for at in ends]
        scaled = [margin / (1.0 + np.abs(margin + 1.0)) for margin in margins]
        load = np.max([a / u for a, u in zip(inside, units, strict=True)], axis=0)
        slack = np.max([(at.caps - a) / u for at, a, u in zip(ends, inside, units, strict=True)], axis=0)
        above, below = np.minimum(load, np.max(scaled, axis=0)), np.minimum(slack, -np.min(scaled, axis=0))
        assert found["complementarity"] == pytest.approx(max(0.0, above.max(), below.max()), rel=1e-6, abs=1e-9)
        stationarity = 0.0
        if pieces.w is not None:
            size = np.abs(at_features(path)).max(axis=0)
            terms = [np.abs(at_features(path)).T @ np.abs(at.alpha) / at.lam for at in ends]
            off = [np.abs(at.w - at.implied) * size / (1.0 + own * size) for at, own in zip(ends, terms, strict=True)]
            stationarity = np.max(off)
            if not free:
                constant = [y @ at.alpha / at.lam for at in ends]
                lost = [abs(at.b - c) / (1.0 + at.alpha.sum() / at.lam) for at, c in zip(ends, constant, strict=True)]
                stationarity = max(stationarity, *lost)
        assert found["stationarity in w"] == pytest.approx(stationarity, rel=1e-6, abs=1e-12)


def at_features(path):
    """The features of the samples of a path."""
    return path.gram.X


@BY_KIND
def test_what_rounding_can_hide_are_the_costs_of_those_that_are_not_clear_of_their_margin(paths, kind):
    path = paths[kind]
    pieces, y = path.pieces, path.y
    proof = _line_proof(ProofTask.of(path.soft_margin, pieces).with_each_end(), "t")
    for j in range(len(proof)):
        ends = [StoredPoint(path, pieces, j, share) for share in (0.0, 1.0)]
        margins = np.array([y * at.scores() - 1.0 for at in ends])
        near = (margins <= SLACK_ROUNDING).all(axis=0)
        costs = [at.alpha.sum() + (at.caps - at.alpha)[near].sum() for at in ends]
        b = np.array([at.b for at in ends])
        size = 1.0 + np.abs(b).min() * (b[0] * b[1] > 0.0)
        wanted = SLACK_ROUNDING * size * np.array([costs[0], 0.5 * (costs[0] + costs[1]), costs[1]])
        np.testing.assert_allclose(proof.rounding[j], wanted, rtol=0.15)


def test_a_line_that_fails_is_proved_anew_with_each_end(paths, monkeypatch):
    """Ends of neighbours that are judged as one widen the bound: what fails with them may hold without."""
    path = paths["costs"]
    asked = []
    real = hinge_lines._line_proof
    monkeypatch.setattr(
        hinge_lines, "_line_proof", lambda task, name: asked.append(task.one_column) or real(task, name)
    )
    prove_hinge(path.soft_margin, path.pieces, "t")
    assert len(asked) == 1
    assert asked[0] > 0.0
    prove_hinge(path.soft_margin, with_errors(path, slopes=True, b=0.1), "t")
    assert asked[1:] == [asked[0], 0.0]


def test_an_average_slack_is_twice_what_is_left_of_the_sums():
    """Slacks times caps are sum alpha - |w|^2 + gap, and the largest quotient of the three coefficients counts."""
    sums, norms, gaps = np.array([[2.0, 4.0, 5.0]]), np.array([[1.0, 2.0, 1.0]]), np.array([[0.5, 0.0, 0.0]])
    assert average_slack(sums, norms, gaps).tolist() == [2.0 * max(1.5 / 2.0, 2.0 / 4.0, 4.0 / 5.0)]
