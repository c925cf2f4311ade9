"""Paths whose multipliers need two doubles each: exact optima in fractions, what is stored, and what is spoilt."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.tolerances import CERTIFY, FAST_ERROR
from paretoclf.path.svm_lines.refined_path import NEAR
from paretoclf.path.svm_lines.refined_proof import RefinedProof, _near, _values_between
from paretoclf.path.svm_lines.svm_path import OnPieces
from tests.oracles.exact import fractions, integer_kernel
from tests.oracles.exact_criss_cross import criss_cross


def steep(seed, n=9):
    """Whole features of size 1e7: margins show the rounding of a multiplier."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(n) < int(rng.integers(3, n - 3)), 1.0, -1.0)
    return rng.integers(-(10**7), 10**7, (n, 2)) + 5 * 10**6 * y[:, None], y


LINES = {
    "ray": lambda y: ((0.0, 0.0), ((y < 0).sum() / 2, (y > 0).sum() / 2)),
    "asymmetry": lambda y: ((1 / 8, 15 / 8), (15 / 8, 1 / 8)),
    "into an axis": lambda y: ((2.0, 1.0), (0.0, 0.5)),
}
CASES = [(0, "ray"), (1, "asymmetry"), (2, "into an axis"), (3, "asymmetry")]


class Case:
    """A path and its exact optima."""

    def __init__(self, seed, line):
        self.X, self.y = steep(seed)
        self.ends = LINES[line](self.y)
        self.path = pc.trace(pc.TwoCSVM(self.X.astype(float), self.y), *self.ends)
        caps = [fractions(np.where(self.y > 0, *end)) for end in self.ends]
        self.exact = criss_cross(integer_kernel(self.X), self.y, caps[0], caps[1] - caps[0])


@pytest.fixture(scope="module", params=CASES, ids=lambda p: f"{p[1]}, {p[0]}")
def case(request):
    return Case(*request.param)


def inside(path, k=3):
    """Some t, a third into pieces that are long enough to have a third."""
    t = path.pieces.t
    wide = np.flatnonzero(np.diff(t) > 1e-6)
    return (t[wide] + np.diff(t)[wide] / 3)[:: max(1, wide.size // k)][:k].tolist()


def test_a_precise_solution_has_the_exact_value(case):
    """Both objectives of what is found, in fractions, enclose the optimum within 1e-12 of it."""
    path = case.path
    for t in inside(path):
        found, solution = path._precise(t)
        value = case.exact.value(Fraction(t))
        bounds = path._exact_bounds(t)
        assert bounds.dual <= bounds.primal
        assert float(abs(bounds.dual - value)) <= 1e-9 * float(value)
        assert float(abs(bounds.primal - value)) <= 1e-9 * float(value)
        assert solution.certificate.holds()
        high, low = found.alpha
        assert (np.abs(low) <= NEAR * np.abs(high)).all()
        assert path.at(t).certificate.passes()


def products(seed, n):
    """Kernel values of steep samples, whole numbers below 2**53, and their labels."""
    X, y = steep(seed, n)
    return (X @ X.T).astype(float), y


@pytest.fixture(scope="module", params=["products", "kernel"])
def needed(request):
    """A path of which many pieces need two doubles: no slope is stored."""
    if request.param == "products":
        K, y = products(1, n=14)
        return pc.trace(pc.TwoCSVM(K, y, "precomputed"), *LINES["asymmetry"](y))
    X, y = steep(0, n=20)
    return pc.trace(pc.TwoCSVM(X.astype(float) * 1e-6, y, pc.Polynomial(3)), (1e4, 3e6), (3e6, 1e4))


def test_the_path_is_proved_with_two_doubles_and_not_with_one(needed, case):
    assert needed.proof.failures().size == 0
    assert case.path.proof.passes()
    assert OnPieces._proved(needed).failures().size > 2


def spoilt(path, name, at, by):
    """The path with one stored number changed."""
    stored = getattr(path.pieces, name).copy()
    stored[at] += by
    return replace(path, pieces=replace(path.pieces, **{name: stored}))


def changes(path, j, share):
    """Each number that piece j stores, with a share of its size."""
    P = path.pieces
    entries = slice(P.ptr[j], P.ptr[j + 1])
    half = 0.5 * (P.a0[entries] + P.a1[entries])
    largest = P.ptr[j] + int(half.argmax())
    scores = 1.0 + np.abs(path.at(float(P.t[j])).classifier.decision_function(path.gram.X)).max()
    found = {name: (largest, share * half.max()) for name in ("a0", "a1")}
    found |= dict.fromkeys(("b0", "b1"), (j, share * scores))
    if P.w is not None:
        found["w"] = (j, 0), share * scores / np.abs(path.gram.X[:, 0]).max()
    return found


def has_free(path, j):
    """Whether a multiplier of piece j is between its bounds: then its intercept is the only one."""
    P = path.pieces
    entries = slice(P.ptr[j], P.ptr[j + 1])
    half, cap = 0.5 * (P.a0[entries] + P.a1[entries]), path.caps(float(P.t[j : j + 2].mean()))[P.index[entries]]
    return np.minimum(half, cap - half).max(initial=0.0) > 1e-3 * cap.min(initial=np.inf)


def test_numbers_that_are_off_keep_their_piece_from_being_proved(needed):
    P = needed.pieces
    doubted = OnPieces._proved(needed).failures()
    wide = [int(j) for j in doubted if P.t[j + 1] - P.t[j] > 1e-6 and has_free(needed, j)]
    for j in (wide[0], wide[len(wide) // 2]):
        for name, (at, by) in changes(needed, j, 1e-5).items():
            failed = spoilt(needed, name, at, by).proof.failures().tolist()
            assert j in failed, name
            assert set(failed) <= {j - 1, j}, name
    for name, (at, by) in changes(needed, j, 1e-17).items():
        assert spoilt(needed, name, at, by).proof.failures().size == 0, name


@pytest.fixture(scope="module")
def features():
    """A path whose slopes are stored, with pieces of 1e-15."""
    X, y = steep(1, n=14)
    return pc.trace(pc.TwoCSVM(X.astype(float), y), *LINES["asymmetry"](y))


def long_pieces(path):
    return np.flatnonzero(np.diff(path.pieces.t) > 1e-6)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("line", ["asymmetry", "ray"])
def test_stored_slopes_and_intercepts_are_the_exact_ones_at_both_ends_of_every_long_piece(seed, line):
    """Also where a piece of 1e-15 follows, on which they turn: scores were wrong by 0.04 there."""
    X, y = steep(seed, n=14)
    for size in (1.0, 100.0):
        path = pc.trace(pc.TwoCSVM(size * X, y), *LINES[line](y))
        P = path.pieces
        for j in long_pieces(path).tolist():
            for end, b in enumerate((P.b0[j], P.b1[j])):
                found = path._solve(float(P.t[j + end]), j)
                scores = size * X @ P.w[j + end] + b
                np.testing.assert_allclose(scores, size * X @ found.w + found.b, rtol=0, atol=1e-10)


def test_a_wrong_slope_or_intercept_shows_in_the_gap_however_large_the_features(features):
    assert features.proof.passes()
    assert "Next to breakpoints" not in features.proof.note
    for j in long_pieces(features).tolist():
        for name, (at, by) in changes(features, j, 1e-6).items():
            if name in ("b0", "b1", "w"):
                proof = spoilt(features, name, at, by).proof
                assert j in proof.failures(), (j, name)
                assert proof.gap[j] > 1e-8, (j, name)


def test_what_is_stored_next_to_breakpoints_of_a_kernel_is_as_near_as_the_proof_says(needed):
    """There t has too few digits: by how much scores, or the intercept, are off is said, and true."""
    proof, P = needed.proof, needed.pieces
    said = re.search(r"differ from those that are proved by up to (\S+)\.", proof.note)
    known_to = float(said.group(1)) if said else FAST_ERROR
    for j in long_pieces(needed).tolist():
        found = needed._solve(float(P.t[j]), j)
        assert abs(P.b0[j] - found.b) <= 1.1 * known_to
    for j in np.flatnonzero(np.diff(P.t) < 1e-14).tolist():
        assert j in spoilt(needed, "b0", j, 100.0).proof.failures()


def test_next_to_a_breakpoint_the_basis_on_either_side_may_be_the_right_one(needed):
    t = needed.pieces.t
    for k in range(1, t.size - 1, max(1, t.size // 6)):
        for at in (t[k], np.nextafter(t[k], 0), np.nextafter(t[k], 1)):
            found = needed._precise(float(at))
            assert found is not None
            assert found[1].certificate.holds()
            assert RefinedProof(needed)._proved_at(float(at))
            assert needed.at(float(at)).certificate.holds()


def test_certificates_of_points_are_those_of_the_better_solutions(needed):
    points = np.array(inside(needed, 5))
    for t, certificate in zip(points, needed._judge(points), strict=True):
        assert certificate.holds()
        better = needed._better(float(t))
        if better is not None:
            low = better.numbers["alpha_lo"]
            assert (np.abs(low) <= NEAR * np.abs(better.alpha)).all()
            bounds = needed._exact_bounds(float(t))
            assert bounds.dual <= bounds.primal
            assert float(bounds.primal - bounds.dual) <= 2e-8 * float(bounds.primal)


def test_where_all_caps_vanish_nothing_is_computed():
    path = Case(0, "ray").path
    assert path._trivial(0.0)
    assert path._precise(0.0) is None
    assert RefinedProof(path)._proved_at(0.0)


def test_a_path_of_small_numbers_is_not_doubted():
    data = pc.datasets.make_gaussians(20, rng=0)
    path = pc.trace(pc.TwoCSVM(data.X, data.y), (0.1, 1.0), (1.0, 0.1))
    assert not path._steep
    assert not any(path._doubted(j) for j in range(path.pieces.t.size - 1))
    assert path._better(0.5) is None
    assert "alpha_lo" not in path.at(0.5).numbers


def test_a_steep_path_is_doubted_and_its_bound_is_that_of_the_largest_cost(case):
    path = case.path
    assert path._steep
    assert all(path._doubted(j) for j in range(path.pieces.t.size - 1))
    assert path._steepest == max(max(end) for end in case.ends)
    assert 2e-14 * path._steepest * (case.X.astype(float) ** 2).sum(axis=1).max() > CERTIFY


def test_costs_that_are_large_for_the_value_are_doubted():
    from paretoclf.path.svm_lines.refined_path import Refining

    costly = Refining._costly
    caps = np.full(4, 2.0)
    limit = FAST_ERROR * 8.0 / CERTIFY
    assert costly(caps, 0.99 * limit)
    assert not costly(caps, 1.01 * limit)


def test_the_rate_of_the_caps_is_their_largest_relative_change(case):
    path = case.path
    for t in (0.25, 0.75):
        step = 1e-6
        before, after = path.caps(t - step), path.caps(t + step)
        there = path.caps(t) > 0
        rate = (np.abs(after - before)[there] / (2 * step) / path.caps(t)[there]).max()
        assert RefinedProof(path)._steepness(t) == pytest.approx(rate, rel=1e-6)


def test_a_shift_is_what_multipliers_change_by_on_a_share_of_a_piece(case):
    path = case.path
    P = path.pieces
    for j in range(min(4, P.t.size - 1)):
        length = P.t[j + 1] - P.t[j]
        ends = path._stored(P.t[j] + 0.25 * length, j), path._stored(P.t[j] + 0.75 * length, j)
        np.testing.assert_allclose(RefinedProof(path)._shift(j, 0.5), np.abs(ends[1] - ends[0]), rtol=1e-6, atol=1e-12)


def test_values_between_are_those_of_the_parabola(case):
    P = case.path.pieces
    which = np.flatnonzero(np.diff(P.t) > 1e-6)[:3]
    length = np.diff(P.t)[which]
    t = np.column_stack([P.t[which] + 0.2 * length, P.t[which] + 0.7 * length])
    values = _values_between(P, which, t)
    for row, j in enumerate(which.tolist()):
        first, last, bend = P.value[j]

        def parabola(s, first=first, last=last, bend=bend):
            return (1 - s) * first + s * last - s * (1 - s) * bend

        assert values[row, 0] == pytest.approx(parabola(0.2), rel=1e-9)
        assert values[row, 1] == pytest.approx(parabola(0.7), rel=1e-9)
        middle = (parabola(0.2) + parabola(0.7)) / 2 - values[row, 2] / 4
        assert middle == pytest.approx(parabola(0.45), rel=1e-9)


def test_numbers_are_near_within_a_share_of_their_unit_a_shift_and_rounding():
    unit, off = np.array([1.0, 100.0]), np.array([0.9e-10, -0.9e-8])
    assert _near(unit, off, 0.0, 0.0)
    assert not _near(unit, 1.2 * off, 0.0, 0.0)
    assert _near(unit, off + 1e-6, np.full(2, 1e-6), 0.0)
    assert _near(unit, off - 1e-6, 0.0, np.full(2, 1e-6))
    assert not _near(unit, np.array([0.0, 1e-7]), 0.0, 0.0)


@pytest.mark.parametrize("lam", [1e-6, 0.1, 1e3])
def test_paths_along_a_quantile_are_proved_in_two_doubles_whatever_the_ridge(lam):
    """There the ends are not 0 and 1, and values are in the unit of the ridge."""
    needs = 0
    for seed in (1, 3):
        K, y = products(seed, n=12)
        path = pc.trace(pc.QuantileSVM(K, y, "precomputed"), tau=(0.2, 0.8), lam=lam)
        assert path.proof.failures().size == 0
        needs += OnPieces._proved(path).failures().size
        for tau in (0.35, 0.65):
            step = 1e-6
            change = np.abs(path.caps(tau + step) - path.caps(tau - step)) / (2 * step)
            assert RefinedProof(path)._steepness(tau) == pytest.approx((change / path.caps(tau)).max(), rel=1e-6)
            solution = path.at(tau)
            assert solution.certificate.holds()
            assert path.value(tau) == pytest.approx(solution.value, rel=1e-8)
    assert needs > 1


def test_however_steep_a_piece_is_multipliers_are_stored_to_a_millionth_of_the_largest(needed, monkeypatch):
    j = int(OnPieces._proved(needed).failures()[0])
    t = float(needed.pieces.t[j])
    found = needed._solve(t, j)
    largest = found.alpha[0].max()
    monkeypatch.setattr(RefinedProof, "_shift", lambda self, j, share: np.ones(needed.y.size))  # a steep piece
    for off, stored in ((0.0, True), (0.9e-6, True), (3e-6, False)):
        alpha = found.alpha.copy()
        alpha[0, int(alpha[0].argmax())] += off * largest
        assert RefinedProof(needed)._stores(t, replace(found, alpha=alpha), j) is stored
