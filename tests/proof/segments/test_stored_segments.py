"""What is stored is what is judged: as it stands in the file, and by allowances that it has no part in."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.proof.segments import stored_segments
from paretoclf.proof.segments.stored_segments import Cutter, groups, kernel_rounding, totals

KERNELS = {"linear": None, "rbf": pc.RBF(1.0)}
BY_KERNEL = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def data(seed=1, n=40, shift=0.5):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < 0.4 * n, 1.0, -1.0)
    return rng.normal(size=(n, 2)) + shift * y[:, None], y


def with_pieces(path, **changed):
    return replace(path, pieces=replace(path.pieces, **changed))


def altered(array, at, by):
    out = np.array(array, dtype=float)
    out[at] += by
    return out


# ---- multipliers outside their box -----------------------------------------------------------------------------------


@BY_KERNEL
def test_a_multiplier_that_begins_far_outside_its_box_is_seen(kernel):
    """Put back on the border of the box it would be right at both ends, and wrong everywhere between them."""
    path = pc.trace(pc.TwoCSVM(*data(), kernel), (0.2, 1.0), (1.0, 0.2))
    P = path.pieces
    entering = np.flatnonzero((P.a0 <= 1e-12) & (P.a1 > 1e-3))
    assert entering.size
    j = int(np.searchsorted(P.ptr, entering[0], side="right")) - 1
    wrong = with_pieces(path, a0=altered(P.a0, entering[0], -1e3))
    share = np.abs(wrong.alpha(float(P.t[j] + 0.5 * (P.t[j + 1] - P.t[j]))) - path.alpha(float(P.t[j : j + 2].mean())))
    assert share.max() > 1e-4
    assert wrong.proof.failures().tolist() == [j]
    assert wrong.proof.residuals["box"][j] > 1.0


def in_two_doubles(X, y):
    """A path whose multipliers are judged in two doubles: kernel values are whole numbers, and large."""
    whole = np.round(1e6 * X)
    return pc.trace(pc.TwoCSVM(whole @ whole.T, y, "precomputed"), (0.2, 1.0), (1.0, 0.3))


def test_the_same_where_multipliers_are_judged_in_two_doubles():
    X, y = data(n=14)
    path = in_two_doubles(X, np.roll(y, 2))
    assert "twice double precision" in path.proof.explain()
    P = path.pieces
    for entry in np.flatnonzero((P.a0 <= 1e-12 * P.a1) & (P.a1 > 0.0)):
        wrong = with_pieces(path, a0=altered(P.a0, entry, -1e3))
        assert not wrong.proof.passes()


@pytest.mark.parametrize("end", ["a0", "a1"])
def test_each_end_of_a_piece_is_its_own_where_multipliers_are_judged_in_two_doubles(end):
    """The end of a piece was held against what the next one begins with."""
    X, y = data(n=14)
    path = in_two_doubles(X, np.roll(y, 2))
    P = path.pieces
    least = 1e-3 * max(P.a0.max(), P.a1.max())
    for j in range(0, P.t.size - 1, 5):
        for entry in np.arange(P.ptr[j], P.ptr[j + 1])[:2]:
            wrong = with_pieces(path, **{end: altered(getattr(P, end), entry, least)})
            assert j in wrong.proof.failures(), (j, entry)


def test_a_foreign_path_whose_knots_leave_the_box_is_not_proved_between_them():
    X, y = data()
    path = pc.trace(pc.TwoCSVM(X, y, pc.RBF(1.0)), (0.2, 1.0), (1.0, 0.2))
    knots = [(*vars(path.costs(t)).values(), path.alpha(t), path.intercept(t)) for t in path.breakpoints.tolist()]
    a0 = path.pieces.a0
    entering = int(np.flatnonzero((a0 <= 1e-12) & (path.pieces.a1 > 1e-3))[0])
    j = int(np.searchsorted(path.pieces.ptr, entering, side="right")) - 1
    knots[j][2][path.pieces.index[entering]] -= 1e3
    stretch = pc.verify(X, y, knots, pc.RBF(1.0), between=True).stretches[j]
    assert stretch.status != "proved"


# ---- optimal values --------------------------------------------------------------------------------------------------


def test_the_value_at_an_end_of_a_path_that_grows_by_a_factor_of_1e12():
    """Two samples in one place: w = 0, every multiplier the smaller cost, and twice that is the value."""
    svm = pc.TwoCSVM([[0.0], [0.0]], [1, -1], pc.RBF(1.0))
    path = pc.trace(svm, (1e-3, 1e3), (1e9, 1e9))
    assert path.value(0.0) == pytest.approx(2e-3, rel=1e-12)
    assert path.value(1.0) == pytest.approx(2e9, rel=1e-12)
    wrong = with_pieces(path, value=altered(path.pieces.value, (0, 0), 9.3e-8))
    assert not wrong.proof.passes()
    assert wrong.proof.residuals["value"][0] > 1e-5


def test_a_claimed_value_buys_itself_no_allowance():
    """On a piece of a few units in the last place of t any value used to pass: its own size over so short a piece."""
    path = pc.trace(pc.TwoCSVM(*data()), (0.2, 1.0), (1.0, 0.2))
    P, j = path.pieces, 20
    listed = slice(int(P.ptr[j]), int(P.ptr[j + 1]))
    more = {  # a piece as short as there is, on which everything is what the next one begins with
        "t": np.insert(P.t, j + 1, np.nextafter(P.t[j], 1.0)),
        "ptr": np.concatenate([P.ptr[: j + 1], P.ptr[j:] + (P.ptr[j + 1] - P.ptr[j])]),
        "index": np.insert(P.index, listed.start, P.index[listed]),
        "a0": np.insert(P.a0, listed.start, P.a0[listed]),
        "a1": np.insert(P.a1, listed.start, P.a0[listed]),
        "b0": np.insert(P.b0, j, P.b0[j]),
        "b1": np.insert(P.b1, j, P.b0[j]),
        "value": np.insert(P.value, j, [P.value[j, 0], P.value[j, 0], 0.0], axis=0),
        "w": np.insert(P.w, j, P.w[j], axis=0),
        "changes": P.changes + (P.changes[0] > j) * np.array([[1], [0], [0]]),
    }
    longer = with_pieces(path, **more)
    assert longer.proof.passes(), longer.proof.explain()
    wrong = with_pieces(longer, value=altered(longer.pieces.value, (j, 1), 1e3))
    assert wrong.proof.failures().tolist() == [j]


# ---- numbers that answers are read off -------------------------------------------------------------------------------


def test_a_margin_of_hulls_that_begins_far_below_0_is_seen():
    path = pc.trace(pc.TwoNuSVM(*data()), nu=(0, None), asymmetry=0.4)
    assert path.pieces.rho0[0] == 0.0
    wrong = with_pieces(path, rho0=altered(path.pieces.rho0, 0, -1.0))
    t = float(path.pieces.t[:2].mean())
    assert path.rho(t) > 0.0 == wrong.rho(t)
    assert wrong.proof.failures().tolist() == [0]


@BY_KERNEL
@pytest.mark.parametrize("bias", [True, False])
def test_a_quantile_path_whose_scores_are_shifted_is_not_proved(kernel, bias):
    """Also where there is no constant feature: what is stored for its weight is part of the scores."""
    X, y = data()
    path = pc.trace(pc.QuantileSVM(X, y, kernel=kernel, bias=bias), tau=(0, 1), lam=0.05)
    shifted = with_pieces(path, b0=path.pieces.b0 + 1.0, b1=path.pieces.b1 + 1.0)
    moved = np.abs(shifted.scores(X)(0.5) - path.scores(X)(0.5)).max()
    assert shifted.proof.passes() == (moved == 0.0)
    assert (moved == 0.0) == (kernel is not None)  # with a kernel it is read off the multipliers


@BY_KERNEL
@pytest.mark.parametrize("soft", [True, False])
def test_both_ends_of_a_margin_path_are_judged(kernel, soft):
    X, y = data()
    costs = {"C_plus": 1.0, "C_minus": 2.0} if soft else {}
    svm = pc.BiobjectiveMargin(X + 4 * y[:, None], y, kernel=kernel, soft=soft)
    path = pc.trace(svm, theta=(0.1, 10), **costs)
    P = path.pieces
    for name in ("a0", "a1"):
        assert not with_pieces(path, **{name: altered(getattr(P, name), 0, 1e-3)}).proof.passes(), name
        assert not with_pieces(path, **{name: altered(getattr(P, name), 0, -1e3)}).proof.passes(), name
    for row in range(0 if P.w is None else 2):
        assert not with_pieces(path, w=altered(P.w, (row, 0), 1e-3)).proof.passes(), row
    for name in ("b0", "b1"):
        assert not with_pieces(path, **{name: altered(getattr(P, name), 0, 1e-3)}).proof.passes(), name
    for column in range(3):
        assert not with_pieces(path, value=altered(P.value, (0, column), 1e-3)).proof.passes(), column


# ---- slacks that round to nothing ------------------------------------------------------------------------------------


def separable(seed):
    """Whole numbers around 1e6 and costs as large: a slack of 1e-16 costs more than the optimal value."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(10, 3)) * 1e6)
    return X, np.sign(X[:, 0])


LARGE = ((0.02e6, 0.98e6), (0.98e6, 0.02e6))


@pytest.mark.parametrize("seed", [0, 1, 2, 5, 6, 10, 12])
def test_slopes_that_are_stored_are_good_in_exact_arithmetic(seed):
    X, y = separable(seed)
    path = pc.trace(pc.TwoCSVM(X, y), *LARGE)
    for t in (0.0, 0.2, 0.5, 0.9, 1.0):
        default, exact = path.certificate(t), path.certificate(t, exact=True)
        assert default.verdict() == exact.verdict() == "optimal"
        assert default.rounding <= 1e-8 * default.scale
        assert 0.0 <= exact.gap <= 1e-10
    quantile = pc.trace(pc.QuantileSVM(X, y, bias=True), tau=(0.02, 0.98), lam=1e-7)
    assert 0.0 <= quantile.certificate(0.5, exact=True).gap <= 1e-10


@pytest.mark.parametrize("seed", [0, 6, 8, 18, 20])
def test_a_gap_that_rounding_may_hide_is_seen(seed):
    """Of w and b that are not stored so the margins round to 1, and the gap to 0; the exact gap is many times that."""
    X, y = separable(seed)
    svm = pc.TwoCSVM(X, y)
    path = pc.trace(svm, *LARGE)
    alpha, caps = path.alpha(0.5), path.caps(0.5)
    b = pc.results.Classifier.best(svm.gram, y, caps, alpha).b
    found, exact = (pc.certify(y, caps, alpha, b, X=X, exact=exact) for exact in (False, True))
    assert exact.gap > 1e-3
    assert found.verdict() != "optimal"
    assert found.gap > 0.1
    with pytest.raises(pc.DegeneratePathError, match="not proved"):  # no slope is stored for a map
        pc.plane(svm, (0.02e6, 0.98e6), (0.02e6, 0.98e6))


def test_margins_in_twice_the_precision_show_what_they_are_rounded_by():
    """With the second half of the multipliers a slack is computed, and not excused unseen."""
    X, y = separable(0)
    path = pc.trace(pc.TwoCSVM(X, y), *LARGE)
    alpha, caps = path.alpha(0.5), path.caps(0.5)
    b = float(np.nextafter(path.intercept(0.5), np.inf)) * (1 + 1e-12)
    found, exact = (
        pc.certify(y, caps, alpha, b, X=X, alpha_lo=np.zeros_like(alpha), exact=exact) for exact in (False, True)
    )
    assert found.gap == pytest.approx(exact.gap, rel=1e-3)


# ---- against loops over all samples ----------------------------------------------------------------------------------


class Stored:
    """Random segments of a few samples: some are listed, some at 0, some at their cap, and states change often."""

    def __init__(self, seed, m=9, n=6):
        rng = np.random.default_rng(seed)
        self.rng, self.m, self.n = rng, m, n
        self.t = np.sort(np.concatenate([[0.0, 1.0], rng.random(m - 1)]))
        self.caps = rng.random((2, n)) + 0.5
        self.listed = rng.random((m, n)) < 0.3
        self.states = np.where(self.listed, 2, rng.choice([0, 1], size=(m, n)))
        self.state = self.states[0].astype(np.int8)
        changes = [
            (j, i, self.states[j, i])
            for j in range(1, m)
            for i in range(n)
            if self.states[j, i] != self.states[j - 1, i]
        ]
        self.changes = np.array(changes, dtype=np.int64).T.reshape(3, -1)
        self.index = np.nonzero(self.listed)[1]
        self.ptr = np.append(0, np.cumsum(self.listed.sum(axis=1)))
        self.a0, self.a1 = rng.normal(size=(2, self.index.size))

    def alpha(self, j, end):
        """Multipliers at an end of a segment."""
        t = self.t[j + end]
        found = np.where(self.states[j] == 1, (1 - t) * self.caps[0] + t * self.caps[1], 0.0)
        found[self.listed[j]] = (self.a1 if end else self.a0)[self.ptr[j] : self.ptr[j + 1]]
        return found


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("at_once", [2, 1024])
def test_totals_are_weighted_sums_of_the_sizes_of_all_multipliers(seed, at_once, monkeypatch):
    monkeypatch.setattr(stored_segments, "_SEGMENTS", at_once)
    stored = Stored(seed)
    weight = stored.rng.random(stored.n)
    wanted = [[weight @ np.abs(stored.alpha(j, end)) for end in (0, 1)] for j in range(stored.m)]
    np.testing.assert_allclose(totals(stored, stored.caps, weight), wanted, rtol=1e-12)
    none = np.zeros((2, stored.n))
    sums = [
        [
            sum(w * abs(a) for w, a, own in zip(weight, stored.alpha(j, e), stored.listed[j], strict=True) if own)
            for e in (0, 1)
        ]
        for j in range(stored.m)
    ]
    np.testing.assert_allclose(totals(stored, none, weight), sums, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_rounding_of_kernel_values_is_half_the_square_of_the_larger_sum(seed):
    stored, lam = Stored(seed), 0.5
    weight, equal = stored.rng.random(stored.n), np.full(stored.n, 0.25)
    wanted = 0.5 / lam * totals(stored, stored.caps, weight).max(axis=1) ** 2
    sums = np.abs([[stored.alpha(j, end) for end in (0, 1)] for j in range(stored.m)]).sum(axis=2)
    np.testing.assert_allclose(kernel_rounding(weight, lam, stored, stored.caps, sums), wanted, rtol=1e-12)
    np.testing.assert_allclose(kernel_rounding(weight, lam, stored, stored.caps, None), wanted, rtol=1e-12)
    given = 3.0 * sums  # known to be no more than this
    wanted = 0.5 / lam * (0.25 * given.max(axis=1)) ** 2
    np.testing.assert_allclose(kernel_rounding(equal, lam, stored, stored.caps, given), wanted, rtol=1e-12)
    own = 0.5 / lam * (0.25 * sums.max(axis=1)) ** 2
    np.testing.assert_allclose(kernel_rounding(equal, lam, stored, stored.caps, None), own, rtol=1e-12)
    assert kernel_rounding(None, lam, stored, stored.caps, sums) is None


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("size", "rows"), [(3, 10), (2, 2), (100, 1), (1, 3)])
def test_groups_and_blocks_hold_the_states_and_multipliers_of_their_segments(seed, size, rows):
    stored = Stored(seed)
    cutter, seen = Cutter(stored), []
    for group in groups(stored, stored.caps, size, rows):
        assert len(group.ends) <= rows + 1
        assert np.abs(np.diff(group.ends) - stored.m / max(1, round(stored.m / size))).max() < 1.0
        for k, end in enumerate(group.ends.tolist()):
            anchor = stored.alpha(end, 0) if end < stored.m else stored.alpha(stored.m - 1, 1)
            np.testing.assert_allclose(group.alpha[k], anchor, rtol=1e-14)
        for k, (a, z) in enumerate(pairwise(group.ends.tolist())):
            seen += range(a, z)
            assert (group.states[k] == stored.states[a]).all()
            block = cutter.block(a, z, group.states[k])
            after = min(z, stored.m - 1)
            moving = (stored.listed[a : z + 1].any(axis=0)) | (stored.states[a : after + 1] != stored.states[a]).any(
                axis=0
            )
            assert block.moving.tolist() == np.flatnonzero(moving).tolist()
            assert (block.at_cap == (stored.states[a:z, block.moving] == 1)).all()
            assert block.ptr.tolist() == (stored.ptr[a : z + 1] - stored.ptr[a]).tolist()
            row, sample = np.nonzero(stored.listed[a:z])
            assert block.row.tolist() == row.tolist()
            assert block.moving[block.place % block.moving.size].tolist() == sample.tolist()
            assert (block.place // block.moving.size).tolist() == row.tolist()
    assert seen == list(range(stored.m))
