"""The proof of a whole line: against certificates of many points, planted errors, and exact rational arithmetic."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import paretoclf as pc
from paretoclf.common.tolerances import CERTIFY, SLACK_ROUNDING
from paretoclf.path.on_pieces import check_certificates
from paretoclf.path.pieces import Pieces
from paretoclf.problem.operator.twice import product
from paretoclf.proof import hinge, hulls, products
from paretoclf.proof.proving import prove
from paretoclf.proof.theorem import Entries, complementarity, gap_of

KERNELS = {"linear": None, "rbf": pc.RBF(1.0)}
BY_KERNEL = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def data(seed=0, n=50, d=3, shift=0.8):
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(n) < n * 0.4, 1.0, -1.0)
    return rng.normal(size=(n, d)) + shift * y[:, None], y


def traced(kernel=None, seed=0, start=(0.1, 1.9), stop=(1.9, 0.1)):
    return pc.trace(pc.TwoCSVM(*data(seed), kernel), start, stop, certify=False)


def of_every_kind(kernel):
    X, y = data(3)
    apart = X + 4 * y[:, None]
    return [
        traced(kernel),
        traced(kernel, start=(0, 0), stop=(1, 1.5)),
        pc.trace(pc.QuantileSVM(X, y, kernel=kernel, bias=True), tau=(0, 1), lam=0.01, certify=False),
        pc.trace(pc.QuantileSVM(X, y, kernel=kernel), tau=(0.2, 1), lam=0.1, certify=False),
        pc.trace(pc.TwoNuSVM(X, y, kernel), nu=(0, None), asymmetry=0.4, certify=False),
        pc.trace(pc.TwoNuSVM(X, y, kernel), start=(1, 0.9), stop=(0.4, 0.5), certify=False),
        pc.trace(pc.BiobjectiveMargin(X, y, kernel=kernel), theta=(0.1, 10), C_plus=1.0, C_minus=2.0, certify=False),
        pc.trace(pc.BiobjectiveMargin(apart, y, kernel=kernel, soft=False), theta=(0.1, 10), certify=False),
    ]


def sampled(path, j, points=41):
    """Largest gap and residual of certificates of many points of a segment."""
    lo, hi = path.pieces.t[j : j + 2]
    found = [path.at(float(t)).certificate for t in np.linspace(lo, hi, points)[:-1] + 1e-12 * (hi - lo)]
    return max(c.gap for c in found), max(c.residual for c in found)


# ---- the theorem ---------------------------------------------------------------------------------------------------


def joined(path, lo, hi):
    """Two points of a path as the ends of one segment, though they are no neighbours."""
    ends, value = (path.at(lo), path.at(hi)), [path.value(lo), path.value(hi)]
    n, alpha = path.y.size, [path.alpha(lo), path.alpha(hi)]
    pieces = Pieces(
        t=np.array([lo, hi]), ptr=np.array([0, n]), index=np.arange(n), a0=alpha[0], a1=alpha[1],
        b0=np.array([path.intercept(lo)]), b1=np.array([path.intercept(hi)]), value=np.array([[*value, 0.0]]),
        w=None if path.pieces.w is None else np.stack([path.slope(lo), path.slope(hi)]),
        state=np.zeros(n, dtype=np.int8), changes=np.zeros((3, 0), dtype=np.int64),
    )  # fmt: skip
    assert all(end.certificate.passes(1e-10) for end in ends)
    return replace(path, pieces=pieces)


@BY_KERNEL
@pytest.mark.parametrize(("lo", "hi"), [(0.2, 0.8), (0.4, 0.5), (0.5, 0.53)])
def test_two_perfect_ends_that_are_not_neighbours_are_wrong_inside(kernel, lo, hi):
    path = joined(traced(kernel), lo, hi)
    proof = path.proof
    assert not proof.passes()
    assert proof.failures().tolist() == [0]
    gap, residual = sampled(path, 0)
    assert gap > CERTIFY
    assert gap <= proof.gap[0] <= 8 * gap
    assert proof.residual[0] >= residual
    with pytest.raises(pc.DegeneratePathError, match=r"segment 0, t in \[0\."):
        check_certificates(path)


@BY_KERNEL
def test_paths_of_every_kind_are_proved(kernel):
    for path in of_every_kind(kernel):
        proof, certificates = path.proof, path.certificates()
        assert proof.passes(1e-9), proof.explain()
        assert len(proof) == path.pieces.t.size - 1
        assert proof is path.proof
        assert path.worst_certificate.passes(1e-9)
        assert all(c.passes(1e-9) for c in certificates)
        check_certificates(path)
        assert f"every {path.parameter} in" in proof.explain()
        assert "optimal" in repr(proof)
        assert proof[-1].segment == len(proof) - 1


# ---- planted errors --------------------------------------------------------------------------------------------------


def with_pieces(path, **changed):
    return replace(path, pieces=replace(path.pieces, **changed))


def altered(array, at, by):
    out = np.array(array, dtype=float)
    out[at] += by
    return out


def largest_entry(path, j):
    P = path.pieces
    part = slice(P.ptr[j], P.ptr[j + 1])
    return int(P.ptr[j] + np.argmax(np.minimum(P.a0[part], P.a1[part])))


def planted(path, j, size):
    """Errors of each kind in segment j, by name; each with whether it shows in optimality, not in the value alone."""
    P, e = path.pieces, largest_entry(path, j)
    yield "multiplier at the beginning", with_pieces(path, a0=altered(P.a0, e, -size)), True
    yield "multiplier at the end", with_pieces(path, a1=altered(P.a1, e, -size)), True
    yield "b", with_pieces(path, b1=altered(P.b1, j, size)), True
    yield "value", with_pieces(path, value=altered(P.value, (j, 2), size)), False
    if P.w is not None:
        yield "w", with_pieces(path, w=altered(P.w, (j + 1, 0), size)), True


@BY_KERNEL
@pytest.mark.parametrize("size", [1e-6, 1e-2])
def test_planted_errors_are_found_where_they_are(kernel, size):
    for path in of_every_kind(kernel)[:6]:
        for j in (0, len(path.proof) // 2, len(path.proof) - 1):
            if not (path.pieces.ptr[j + 1] > path.pieces.ptr[j] and largest_entry(path, j) is not None):
                continue
            at = largest_entry(path, j)
            if min(path.pieces.a0[at], path.pieces.a1[at]) < 2 * size * np.abs(path.pieces.a1).max():
                continue
            unit = {"multiplier at the beginning": np.abs(path.pieces.a1).max()}
            for name, wrong, _ in planted(path, j, size * min(1.0, *unit.values())):
                if name == "b" and type(path) is pc.results.QuantilePath and (path.pieces.w is None or not path.bias):
                    continue  # there it is what the multipliers imply, or 0
                failed = wrong.proof.failures(0.01 * CERTIFY)
                assert set(failed.tolist()) & {j - 1, j, j + 1}, (type(path).__name__, name, j)
                assert set(failed.tolist()) <= {j - 1, j, j + 1}, (type(path).__name__, name, j)


@BY_KERNEL
def test_a_sample_that_is_wrong_inside_a_segment_only_is_found(kernel):
    """A sample far from its margin is put on the other side for one segment."""
    path = traced(kernel)
    P, j = path.pieces, len(path.proof) // 2
    t = 0.5 * (P.t[j] + P.t[j + 1])
    margin = path.y * (path.gram.matvec(path.y * path.alpha(t)) + path.intercept(t)) - 1
    for i, here, back in ((int(np.argmax(margin)), 1, 0), (int(np.argmin(margin)), 0, 1)):
        before = np.searchsorted(P.changes[0], j, side="right")
        after = np.searchsorted(P.changes[0], j + 1, side="right")
        changes = np.insert(P.changes, [before], np.array([[j], [i], [here]]), axis=1)
        changes = np.insert(changes, [after + 1], np.array([[j + 1], [i], [back]]), axis=1)
        wrong = with_pieces(path, changes=changes)
        assert wrong.proof.failures().tolist() == [j]
        assert wrong.proof.residual[j] > 0.1
        assert "worst sample" in wrong.proof.explain().lower()
        if kernel is not None:
            assert wrong.proof.samples[j] == i


def where_b_alone_decides(kernel):
    """Paths that begin where all multipliers are at their caps, or 0, and paths on which b jumps."""
    X, y = data(3)
    half = np.where(np.arange(y.size) % 2, 1.0, -1.0)
    return [
        pc.trace(pc.TwoCSVM(X, half, kernel), (0, 0), (0.05, 0.05), certify=False),
        pc.trace(pc.TwoCSVM(X, y, kernel), (0, 0), (1, 1.5), certify=False),
        pc.trace(pc.QuantileSVM(X, y, kernel=kernel, bias=True), tau=(0, 1), lam=0.05, certify=False),
        pc.trace(pc.TwoNuSVM(X, half, kernel), nu=(0.2, None), asymmetry=0.5, certify=False),
        pc.trace(pc.TwoNuSVM(X, y, kernel), start=(1, 0.9), stop=(0.4, 0.5), certify=False),
    ]


@BY_KERNEL
def test_an_intercept_alone_is_judged_at_both_ends_of_a_segment(kernel):
    """No multiplier shows it: the samples do that are not listed there. Judges of points say what is right."""
    for path in where_b_alone_decides(kernel):
        P = path.pieces
        jumps = np.flatnonzero(np.abs(P.b1[:-1] - P.b0[1:]) > 1e-6)[:3]
        for j in {0, P.t.size - 2, *jumps.tolist(), *(jumps + 1).tolist()}:
            for name, share in (("b0", 1e-3), ("b1", 1.0 - 1e-3)):
                for by in (-3.0, 3.0):
                    wrong = with_pieces(path, **{name: altered(getattr(P, name), j, by)})
                    t = float(P.t[j] + share * (P.t[j + 1] - P.t[j]))
                    right = wrong.at(t).certificate.passes(1e-6)
                    assert right == (j not in wrong.proof.failures()), (type(path).__name__, j, name, by)
                    # With a kernel the intercept of a quantile path is read off the multipliers.
                    assert right == (isinstance(path, pc.results.QuantilePath) and kernel is not None)


@BY_KERNEL
def test_a_multiplier_is_measured_by_what_the_other_class_can_balance(kernel):
    """From an asymmetry of 1e-6 to 1 - 1e-6: multipliers of wrong sign and size, by sums of caps."""
    (X, y), rare = data(3), 1e-6
    path = pc.trace(pc.TwoCSVM(X, y, kernel), (rare, 1.0), (1.0, rare), certify=False)
    P = path.pieces
    assert path.proof.passes(1e-9)
    judged = 0
    for j in (0, 1, len(path.proof) // 2, len(path.proof) - 1):
        listed = np.arange(P.ptr[j], P.ptr[j + 1])
        for sign in (-1.0, 1.0):
            for e in listed[y[P.index[listed]] == sign][:1]:
                for name, t in (("a0", P.t[j]), ("a1", P.t[j + 1])):
                    caps = (1.0 - t) * np.where(y > 0, rare, 1.0) + t * np.where(y > 0, 1.0, rare)
                    own, other = (float(caps[y == side].sum()) for side in (sign, -sign))
                    below, apart = -1e-4 * min(caps[P.index[e]], other), 1e-4 * min(own, other)
                    stored = getattr(P, name)
                    negative = with_pieces(path, **{name: altered(stored, e, below - stored[e])}).proof
                    unbalanced = with_pieces(path, **{name: altered(stored, e, apart)}).proof
                    assert negative.residuals["box"][j] == pytest.approx(1e-4, rel=1e-6)
                    assert unbalanced.residuals["balance"][j] == pytest.approx(1e-4, rel=1e-6)
                    assert not negative.passes()
                    assert not unbalanced.passes()
                    judged += 1
    assert judged >= 8


@pytest.mark.parametrize("kind", [0, 2, 4])
def test_a_slope_that_is_wrong_at_one_knot_shows_on_both_segments_that_meet_there(kind):
    """Whatever its other end says: as far as w is from the combination of samples, and nowhere else."""
    path = of_every_kind(None)[kind]
    P, length = path.pieces, float(np.linalg.norm(path.gram.X - path.gram.X.mean(axis=0), axis=1).max())
    k = len(path.proof) // 2
    found = with_pieces(path, w=altered(P.w, (k, 0), 1e-3)).proof.residuals["stationarity in w"]
    wrong = np.flatnonzero(found > 1e-6)
    assert wrong.tolist() == [k - 1, k]
    assert (found[wrong] >= 1e-6 * length).all()
    assert found[k - 1] == pytest.approx(found[k], rel=0.5)


# ---- stretches of no length ------------------------------------------------------------------------------------------

#: The first feature is a thousand million times the others, and all numbers are doubles: no score is rounded.
FAR = np.array([[-1.0, 2, -1], [1.5, 1.5, 1.5], [-2, -0.5, 1.5], [0, -1.5, 2], [1, 1, 2], [0.5, -1.5, 1]]) * [
    2.0**28,
    0.25,
    0.25,
]
FAR_LABELS = np.array([1.0, -1, 1, 1, -1, 1])


def relative_gap(path, t, b):
    """By fractions: the objective at (w, b), less that of multipliers that balance, over the latter."""
    X, y, c = (
        [[Fraction(v) for v in row] for row in np.atleast_2d(each).tolist()] for each in (FAR, path.y, path.caps(t))
    )
    alpha, w, number = [Fraction(v) for v in path.at(t).alpha.tolist()], path.slope(t).tolist(), range(len(X))
    sums = {s: sum(a for a, v in zip(alpha, y[0], strict=True) if v == s) for s in (1, -1)}
    least = min(sums.values())
    alpha = [a * least / sums[int(v)] if sums[int(v)] else a for a, v in zip(alpha, y[0], strict=True)]
    implied = [sum(a * v * row[k] for a, v, row in zip(alpha, y[0], X, strict=True)) for k in range(3)]
    w, b = [Fraction(v) for v in w], Fraction(b)
    slacks = [max(Fraction(0), 1 - y[0][i] * (sum(u * v for u, v in zip(w, X[i], strict=True)) + b)) for i in number]
    primal = sum(v * v for v in w) / 2 + sum(u * v for u, v in zip(c[0], slacks, strict=True))
    dual = sum(alpha) - sum(v * v for v in implied) / 2
    return float((primal - dual) / dual) if dual else float(primal)


def test_a_stretch_of_no_length_is_two_points_each_judged_by_itself():
    """Costs of one class vanish at t = 1, and so fast does b move before that the last stretch is one double long."""
    path = pc.trace(pc.TwoCSVM(FAR, FAR_LABELS), (1, 2), (0, 3))
    P = path.pieces
    assert P.t[-1] - P.t[-2] == 2.0**-53
    assert abs(P.b1[-1] - P.b0[-1]) > 0.1  # a sample between the two is on the wrong side of its margin at one of them
    for t, b in ((P.t[-2], P.b0[-1]), (P.t[-1], P.b1[-1])):
        assert relative_gap(path, float(t), b) <= 1e-9
    assert path.proof.passes()
    for name, off in (("b0", 0.01), ("b0", -0.01), ("b1", 0.01)):  # at the end, any b below -1 would do, too
        b = getattr(P, name).copy()
        b[-1] += off
        wrong = replace(path, pieces=replace(P, **{name: b}))
        failed = prove(wrong.soft_margin, wrong.pieces).failures()
        assert failed.size
        assert failed[-1] == P.t.size - 2


def test_nothing_at_one_of_two_points_is_multiplied_with_what_is_at_the_other():
    """Two segments of the same numbers: a multiplier that goes from 0 to half its cap, and a margin from 1 to 0."""
    two = {"ptr": np.arange(3), "row": np.arange(2), "sample": np.array([4, 5]), "caps": np.ones((2, 2))}
    E = Entries(**two, alpha=np.array([[0.0, 0], [0.5, 0.5]]), margin=np.array([[1.0, 1], [0, 0]]))
    apart = replace(E, apart=np.array([False, True]))
    assert np.array_equal(gap_of(E), [[0.0, 0.25, 0.0]] * 2)
    assert np.array_equal(gap_of(apart), [[0.0, 0.25, 0.0], [0.0, 0.0, 0.0]])
    for entries, most in ((E, [0.5, 0.5]), (apart, [0.5, 0.0])):
        assert np.array_equal(complementarity(entries, entries.margin, entries.caps)[0], most)
    below = replace(apart, alpha=1.0 - E.alpha, margin=-E.margin)  # the same at the cap
    assert np.array_equal(gap_of(below), gap_of(apart))
    assert np.array_equal(complementarity(below, below.margin, below.caps)[0], [0.5, 0.0])
    wrong = replace(apart, alpha=np.array([[0.0, 0.25], [0.5, 0.5]]))  # at one of the two points
    assert np.array_equal(gap_of(wrong)[1], [0.25, 0.125, 0.0])
    assert complementarity(wrong, wrong.margin, wrong.caps)[0][1] == 0.25


def test_a_wrong_path_that_stops_short_of_one_is_refused():
    """The message asks for costs at the end of a line of costs only: this path has none at tau = 1."""
    path = pc.trace(pc.QuantileSVM(*data(3)), tau=(0.2, 1 - 1e-9), lam=0.1, certify=False)
    wrong = with_pieces(path, a1=0.99 * path.pieces.a1)
    with pytest.raises(pc.DegeneratePathError, match="Standardise"):
        check_certificates(wrong)


def test_wrong_caps_are_found():
    path = traced(pc.RBF(1.0))
    weight = path.sample_weight.copy()
    free = path.pieces.index[0]
    weight[np.flatnonzero(path.sets(0.5) == 1)[0]] *= 1.0 + 1e-6
    assert not replace(path, sample_weight=weight).proof.passes()
    weight[free] *= 2
    assert not replace(path, sample_weight=weight).proof.passes()


@BY_KERNEL
@pytest.mark.parametrize("name", ["multiplier at the beginning", "multiplier at the end", "b", "w"])
def test_bounds_are_above_every_certificate_and_not_far_above_the_worst(kernel, name):
    path = traced(kernel)
    for j in (5, len(path.proof) // 2):
        found = {which: wrong for which, wrong, _ in planted(path, j, 1e-3)}
        if name not in found:
            continue
        proof = found[name].proof
        gap, residual = sampled(found[name], j)
        assert 0.999 * gap <= proof.gap[j] <= 4 * gap
        assert 0.999 * residual <= proof.residual[j] <= 4 * residual


@pytest.mark.parametrize("low_rank", [None, 0.01])
def test_features_dense_sparse_and_approximated(low_rank):
    X, y = data(5)
    X = np.round(X) * (np.abs(X) > 0.5)
    given_kernel = None if low_rank is None else pc.RBF(1.0)
    svm = pc.TwoCSVM(sp.csr_array(X) if low_rank is None else X, y, given_kernel, low_rank=low_rank)
    path = pc.trace(svm, (0.1, 1.9), (1.9, 0.1), certify=False)
    assert path.proof.passes(1e-9)
    assert ("approximated" in path.proof.explain()) == (low_rank is not None)
    assert not with_pieces(path, b0=path.pieces.b0 + 1e-6).proof.passes()


@pytest.mark.parametrize("fmt", [sp.csr_array, np.asarray], ids=["sparse", "dense"])
def test_features_more_than_slopes_fit_are_judged_by_their_kernel_matrix(fmt, monkeypatch):
    """No slope of 3000 features is stored; a piece that is wrong inside is found either way, and by as much."""
    X, y = data(5)
    rng = np.random.default_rng(5)
    wide = np.zeros((y.size, 3000))
    wide[:, rng.choice(3000, 3, replace=False)] = X
    wide[np.arange(y.size), rng.integers(3000, size=y.size)] += 0.3
    path = pc.trace(pc.TwoCSVM(fmt(wide), y), (0.1, 1.9), (1.9, 0.1), certify=False)
    assert path.pieces.w is None
    wrong = joined(path, 0.4, 0.5)
    found = [(path.proof, wrong.proof)]
    monkeypatch.setattr(products, "_POINTS", 0)  # by slopes
    path.__dict__.pop("proof"), wrong.__dict__.pop("proof")
    found.append((path.proof, wrong.proof))
    for right, other in found:
        assert right.passes(1e-10)
        assert not other.passes()
    (by_kernel, worse_by_kernel), (by_slopes, worse_by_slopes) = found
    np.testing.assert_allclose(by_kernel.duals, by_slopes.duals, rtol=1e-12)
    np.testing.assert_allclose(worse_by_kernel.gap, worse_by_slopes.gap, rtol=1e-6, atol=1e-12)


def test_costs_per_sample():
    X, y = data(6)
    rng = np.random.default_rng(0)
    line = (pc.SampleCosts(rng.random(y.size)), pc.SampleCosts(rng.random(y.size)))
    path = pc.trace(pc.TwoCSVM(X, y, pc.RBF(1.0)), *line, certify=False)
    assert path.proof.passes(1e-9), path.proof.explain()


def test_a_saved_path_is_proved(tmp_path):
    path = traced(pc.RBF(1.0))
    path.save(tmp_path / "path.npz")
    assert pc.load(tmp_path / "path.npz").proof.passes(1e-9)


# ---- hinge losses --------------------------------------------------------------------------------------------------


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
    found = hinge.slack_rounding(costs, b)
    np.testing.assert_allclose(found, SLACK_ROUNDING * np.array([[2.0, 2.5, 3.0]]) * [[5.0], [1.0], [1.0]], rtol=1e-15)


def test_sizes_that_vanish_at_an_end_are_rounding_of_the_largest_there():
    for unit in (1e-9, 1.0, 1e9):
        found = hinge.floored(unit * np.array([[0.0, 1.0, 4.0], [3.0, 2.0, 1.0]]))
        np.testing.assert_array_equal(found, unit * np.array([[4.0 * np.finfo(float).eps, 1.0, 4.0], [3.0, 2.0, 1.0]]))


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_slacks_that_round_to_0_count_where_they_are_as_large_as_the_value_all_along(unit):
    """In any unit of the costs: of 0.3 times the value at both ends, of 0.2 at one, and of 0.2 at both."""
    share = np.array([[0.3, 0.3], [0.3, 0.2], [0.2, 0.2]])
    b, sizes = np.zeros((3, 2)), unit * np.array([[1.0, 2.0, 3.0]] * 3)
    found = hinge.hidden(3.0 * unit * share / SLACK_ROUNDING, b, sizes)
    np.testing.assert_allclose(found, 3.0 * unit * np.array([[0.3, 0.3, 0.3], [0, 0, 0], [0, 0, 0]]), rtol=1e-12)


@pytest.mark.parametrize(("cost", "told"), [(1e6, True), (1e15, False)])
def test_costs_so_large_that_slacks_which_round_to_0_may_be_worth_the_value_prove_nothing(cost, told):
    """w = 1 and b = 0 to the last bit: no slack shows, and one of 2e-15 on each margin would cost 4."""
    X, y = np.array([[-1.0], [1.0], [2.0], [-3.0]]), np.array([-1.0, 1.0, 1.0, -1.0])
    path = pc.trace(pc.TwoCSVM(X, y), (cost, cost), (2 * cost, 3 * cost), certify=False)
    zero = np.zeros_like(path.pieces.b0)
    exact = with_pieces(path, w=np.ones_like(path.pieces.w), b0=zero, b1=zero)
    assert prove(exact.soft_margin, exact.pieces).passes() == told


# ---- two reduced hulls ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [2.0**-12, 1.0, 2.0**12])
def test_a_stored_margin_below_0_and_a_wrong_value_of_hulls_are_seen_in_any_unit(unit):
    """What lies below is relative to the largest margin of the segment, what the value is off to the value."""
    X, y = data(3)
    path = pc.trace(pc.TwoNuSVM(unit * X, y), nu=(0, None), asymmetry=0.4, certify=False)
    P, j = path.pieces, int(np.argmax(path.pieces.rho1 > 0.0))
    assert P.rho0[j] == 0.0
    assert path.proof.residuals["rho"][j] <= 1e-12
    rho0 = P.rho0.copy()
    rho0[j] = -1e-3 * P.rho1[j]
    assert with_pieces(path, rho0=rho0).proof.residuals["rho"][j] == pytest.approx(1e-3, rel=1e-6)
    k = len(path.proof) - 1
    assert path.proof.residuals["value"][k] <= 1e-12
    value = P.value.copy()
    value[k, :2] *= 1.0 + 1e-4
    assert with_pieces(path, value=value).proof.residuals["value"][k] == pytest.approx(1e-4, rel=1e-2)


@BY_KERNEL
@pytest.mark.parametrize("factor", [0.999, 1.001], ids=["too small", "too large"])
def test_hulls_of_multipliers_of_a_wrong_sum_are_told_from_both_sides(kernel, factor):
    """Their sums are nu, up or down; the gap is no less than objective minus optimal value, which are computed here."""
    X, y = data(3)
    path = pc.trace(pc.TwoNuSVM(X, y, kernel), nu=(0, None), asymmetry=0.4, certify=False)
    P, K = path.pieces, path.gram.matrix
    wrong = with_pieces(path, a0=factor * P.a0, a1=factor * P.a1, w=None if P.w is None else factor * P.w)
    proof = wrong.proof
    assert proof.failures().tolist() == list(range(len(proof)))
    for j in (3, len(proof) // 2, len(proof) - 1):
        missing = []
        for column, share in ((0, 1e-9), (2, 1.0 - 1e-9)):
            t = float(P.t[j] + share * (P.t[j + 1] - P.t[j]))
            alpha, nu, b, rho = wrong.alpha(t), float(path.alpha(t).sum()), wrong.intercept(t), wrong.rho(t)
            stored = (P.a0, P.a1)[column // 2][P.ptr[j] : P.ptr[j + 1]]
            missing.append(abs(factor - 1.0) * stored.sum() / nu)
            coef = y * alpha if P.w is None else factor * y * path.alpha(t)
            slack = np.maximum(0.0, rho - y * (K @ coef + b))
            gap = 0.5 * coef @ K @ coef + wrong.caps(t) @ slack - nu * rho - path.value(t)
            assert 0.0 < gap <= 1.001 * proof.gaps[j, column]
        assert proof.residuals["rho"][j] == pytest.approx(max(missing), rel=1e-5)


@BY_KERNEL
def test_the_gap_of_hulls_is_the_sum_that_the_theorem_has(kernel):
    """At ends of segments, term by term: slacks, what sums and balance miss, and how far w is from its multipliers."""
    X, y = data(3)
    path = pc.trace(pc.TwoNuSVM(X, y, kernel), nu=(0, None), asymmetry=0.4, certify=False)
    P, K = path.pieces, path.gram.matrix
    stretch = 1e-3 if kernel is None else 0.0
    w = None if P.w is None else (1.0 + stretch) * P.w
    wrong = with_pieces(path, a0=0.999 * P.a0, a1=0.999 * P.a1, b0=P.b0 + 1e-3, b1=P.b1 + 1e-3, w=w)
    reach = 1.0 if kernel is not None else float(np.linalg.norm(X - X.mean(axis=0), axis=1).max())
    for j in (3, len(path.proof) // 2, len(path.proof) - 1):
        listed, proof = slice(P.ptr[j], P.ptr[j + 1]), wrong.proof
        for end, (stored, b, rho) in enumerate(((P.a0, P.b0, P.rho0), (P.a1, P.b1, P.rho1))):
            t = float(P.t[j + end])
            right, caps = path.alpha(t), path.caps(t)
            alpha = right.copy()
            alpha[P.index[listed]] = 0.999 * stored[listed]
            slope = y * (right if kernel is None else alpha) * (1.0 + stretch)
            margin = y * (K @ slope + b[j] + 1e-3) - rho[j]
            apart, own = slope - y * alpha, y * alpha
            missing, balance, size = abs(alpha.sum() - right.sum()), abs(alpha @ y), float(np.sqrt(own @ K @ own))
            moved = reach * (missing + balance)
            terms = (
                alpha @ np.maximum(margin, 0.0) + (caps - alpha) @ np.maximum(-margin, 0.0),
                rho[j] * missing + abs(b[j] + 1e-3) * balance,
                size * moved + 0.5 * moved**2 + 0.5 * float(apart @ K @ apart),
            )
            assert min(terms) > 1e-8
            assert proof.gaps[j, 2 * end] == pytest.approx(sum(terms), rel=1e-6)


@pytest.mark.parametrize("unit", [2.0**-12, 1.0, 2.0**12])
def test_where_a_margin_of_hulls_vanishes_rounding_is_allowed_for_and_nowhere_else(unit):
    """There the dual value is a small difference of terms that are not; elsewhere it is a bound as it stands."""
    X, y = data(3)
    proof = pc.trace(pc.TwoNuSVM(unit * X, y), nu=(0, None), asymmetry=0.4, certify=False).proof
    P = pc.trace(pc.TwoNuSVM(unit * X, y), nu=(0, None), asymmetry=0.4, certify=False).pieces
    vanishes = np.minimum(P.rho0, P.rho1) == 0.0
    assert 0 < vanishes.sum() < vanishes.size
    below, width, _ = proof.allowed
    lost = np.where(vanishes[:, None], proof.rounding, 0.0)
    np.testing.assert_array_equal(below, proof.duals - lost)
    np.testing.assert_array_equal(width, proof.gaps + proof.rounding + lost)


@BY_KERNEL
def test_the_gap_of_hulls_is_no_less_than_that_of_feasible_multipliers(kernel):
    """One multiplier beyond its cap, by little and by much: what it is off moves the slope, which moves every term."""
    X, y = data(3)
    path = pc.trace(pc.TwoNuSVM(X, y, kernel), nu=(0, None), asymmetry=0.4, certify=False)
    P, K = path.pieces, path.gram.matrix
    reach = float(
        np.sqrt(np.diagonal(K).max() if kernel is not None else ((X - X.mean(axis=0)) ** 2).sum(axis=1).max())
    )
    for j in (3, len(path.proof) // 2):
        e, t = int(P.ptr[j]), float(P.t[j])
        i, caps = int(P.index[e]), path.caps(t)
        for beyond in (1e-4, 1.0):
            wrong = with_pieces(path, w=None, a0=altered(P.a0, e, (1.0 + beyond) * caps[i] - P.a0[e]))
            alpha = path.alpha(t)
            stored, inside, nu = alpha.copy(), alpha.copy(), float(alpha.sum())
            stored[i], inside[i] = (1.0 + beyond) * caps[i], caps[i]
            slope = y * stored
            margin = y * (K @ slope + P.b0[j]) - P.rho0[j]
            off, missing, balance = beyond * caps[i], abs(stored.sum() - nu), abs(stored @ y)
            moved = reach * (missing + balance + 2.0 * off)
            terms = (
                inside @ np.maximum(margin, 0.0) + (caps - inside) @ np.maximum(-margin, 0.0),
                P.rho0[j] * missing + abs(P.b0[j]) * balance,
                float(np.sqrt(slope @ K @ slope)) * moved + 0.5 * moved**2,
            )
            assert wrong.proof.gaps[j, 0] >= sum(terms) * (1.0 - 1e-9)


@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20])
def test_the_unit_of_the_samples_is_of_no_account_to_a_proof_of_hulls(unit):
    """Powers of two round nothing: what is judged, and what rounding is allowed to make, are the same squared units."""
    X, y = data(3)
    one, other = (
        pc.trace(pc.TwoNuSVM(s * X, y), nu=(0, None), asymmetry=0.4, certify=False).proof for s in (1.0, unit)
    )
    np.testing.assert_array_equal(other.t, one.t)
    for name in ("sizes", "rounding", "duals"):
        np.testing.assert_allclose(getattr(other, name) / unit**2, getattr(one, name), rtol=1e-12)
    np.testing.assert_allclose(other.gaps / unit**2, one.gaps, rtol=1e-9, atol=1e-15 * one.sizes.max())
    for name, found in one.residuals.items():
        np.testing.assert_allclose(other.residuals[name], found, rtol=1e-9, atol=1e-14, err_msg=name)


def test_scores_of_hulls_next_to_their_meeting_are_measured_by_their_terms():
    nu = np.array([[0.2, 0.4], [0.0, 0.3], [0.5, 0.0]])
    wanted = 1e-6 * 9.0 * np.array([[0.2, 0.4], [0.3, 0.3], [0.5, 0.5]])
    np.testing.assert_allclose(hulls._least(nu, 9.0 * nu), wanted, rtol=1e-15)


def test_what_takes_the_place_of_the_larger_of_two_is_nowhere_above_it():
    """Of two affine functions the larger, where one of them is; else their mean."""
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 200, 2))
    found, t = hulls._larger(a, b), np.linspace(0.0, 1.0, 11)
    along = np.stack([1.0 - t, t])
    assert (found @ along <= np.maximum(a @ along, b @ along) * (1.0 + 1e-15)).all()
    for one, other in ((a, b), (b, a)):
        above = (one >= other).all(axis=1)
        assert above.any()
        np.testing.assert_array_equal(found[above], one[above])
    crossing = ((a - b)[:, 0] * (a - b)[:, 1]) < 0
    np.testing.assert_allclose(found[crossing], 0.5 * (a + b)[crossing])


# ---- exact rational arithmetic ---------------------------------------------------------------------------------------


def objectives(y, caps, alpha, b, K):
    """Both objectives in Fractions, from their formulas."""
    n = y.size
    Q = [[Fraction(K[i, j]) * int(y[i] * y[j]) for j in range(n)] for i in range(n)]
    a, c = [Fraction(v) for v in alpha], [Fraction(v) for v in caps]

    def form(u, v):
        return sum(u[i] * Q[i][j] * v[j] for i in range(n) for j in range(n))

    yf = [sum(Q[i][j] * a[j] for j in range(n)) + Fraction(b) * int(y[i]) for i in range(n)]
    primal = form(a, a) / 2 + sum(c[i] * max(Fraction(0), 1 - yf[i]) for i in range(n))
    inside = [min(max(v, Fraction(0)), cap) for v, cap in zip(a, c, strict=True)]
    sums = {s: sum(v for v, label in zip(inside, y, strict=True) if label == s) for s in (1, -1)}
    least = min(sums.values())
    feasible = [v * least / sums[int(s)] if sums[int(s)] else v for v, s in zip(inside, y, strict=True)]
    assert sum(v * int(s) for v, s in zip(feasible, y, strict=True)) == 0
    return sum(feasible) - form(feasible, feasible) / 2, primal


@given(st.integers(0, 10**6))
def test_exact_bounds_are_those_of_fractions(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X, caps = rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-3, 4), rng.random(n) * (rng.random(n) < 0.9)
    alpha, b = rng.normal(size=n) * 0.5, float(rng.normal())
    K = pc.RBF(1.0)(X, X)
    found = pc.certify(y, caps, alpha, b, K=K, psd=True, exact=True)
    assert found.bounds == objectives(y, caps, alpha, b, K)
    assert found.bounds[0] <= found.bounds[1]
    assert Fraction(found.dual_value) <= found.bounds[0]
    assert Fraction(found.primal_value) >= found.bounds[1]
    linear = np.array([[float(Fraction(0)) for _ in range(n)] for _ in range(n)])
    Z = np.round(X, 2).astype(np.float32).astype(float)  # products of these are doubles
    linear = Z @ Z.T
    exact = [[sum(Fraction(p) * Fraction(q) for p, q in zip(a, c, strict=True)) for c in Z] for a in Z]
    if all(Fraction(linear[i, j]) == exact[i][j] for i in range(n) for j in range(n)):
        by_features = pc.certify(y, caps, alpha, b, X=Z, exact=True)
        assert by_features.bounds == objectives(y, caps, alpha, b, linear)


@BY_KERNEL
def test_exact_certificates_of_a_path(kernel):
    path = traced(kernel, seed=8)
    for t in (0.0, 0.3, 1.0):
        exact, rounded = path.certificate(t, exact=True), path.certificate(t)
        assert exact.passes(1e-9)
        assert exact.bounds[0] <= Fraction(path.value(t)) * (1 + Fraction(1e-12))
        assert exact.primal_value == pytest.approx(rounded.primal_value, rel=1e-12)
        assert exact.dual_value == pytest.approx(rounded.dual_value, rel=1e-12)


@BY_KERNEL
def test_exact_certificates_of_every_kind_of_path(kernel):
    """Bounds in fractions, next to those of the judges in floats, which share nothing with them."""
    for path in of_every_kind(kernel)[2:]:
        lo, hi = path.pieces.t[[0, -1]]
        for t in (lo + 0.2 * (hi - lo), 0.5 * (lo + hi)):
            exact, rounded, value = path.certificate(t, exact=True), path.certificate(t), path.value(t)
            dual, primal = exact.bounds
            room = Fraction(1e-9) * abs(Fraction(value))
            assert dual <= primal
            assert dual - room <= Fraction(value) <= primal + room
            assert exact.primal_value == pytest.approx(rounded.primal_value, rel=1e-9)
            assert exact.dual_value == pytest.approx(rounded.dual_value, rel=1e-9)
            assert Fraction(exact.dual_value) <= dual
            assert Fraction(exact.primal_value) >= primal
            assert exact.passes(), (path, exact.explain())


# ---- sums in twice the precision ---------------------------------------------------------------------------------


@given(st.integers(1, 5), st.integers(1, 60), st.integers(0, 2**20))
def test_products_in_twice_the_precision(m, k, seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, k)) * 10.0 ** rng.integers(-8, 8, size=(m, k))
    A[rng.random((m, k)) < 0.2] = 0.0
    x = rng.normal(size=(k, 2)) * 10.0 ** rng.integers(-8, 8, size=(k, 2))
    low = x * 1e-17 * rng.normal(size=(k, 2))
    for matrix in (A, sp.csr_array(A)):
        high, rest = product(matrix, x, low)
        for i in range(m):
            for c in range(2):
                terms = [Fraction(A[i, j]) * (Fraction(x[j, c]) + Fraction(low[j, c])) for j in range(k)]
                exact = sum(terms, Fraction(0))
                scale = float(np.abs(A[i]).max() * np.abs(x[:, c]).max()) * k
                assert abs(Fraction(high[i, c]) + Fraction(rest[i, c]) - exact) <= Fraction(1e-22) * Fraction(scale)
