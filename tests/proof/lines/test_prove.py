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
from paretoclf.common.tolerances import CERTIFY
from paretoclf.path.svm_lines.svm_path import check_certificates
from paretoclf.problem.operator.twice import product
from paretoclf.problem.pieces import Pieces
from paretoclf.proof.lines.prove import prove
from paretoclf.proof.segments import score_products

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
    monkeypatch.setattr(score_products, "_POINTS", 0)  # by slopes
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
