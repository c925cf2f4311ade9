"""Pieces turned round, cut and joined: what a path stores stays what it was."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import paretoclf as pc


@pytest.fixture(params=["costs, linear", "costs, kernel", "nu", "quantile"])
def pieces(request, gaussians):
    X, y = gaussians(40, 3, seed=1, positives=0.4)
    kernel = None if "linear" in request.param else pc.RBF(2.0)
    if "costs" in request.param:
        return pc.trace(pc.TwoCSVM(X, y, kernel), (0.1, 3.0), (3.0, 0.1)).pieces
    if request.param == "nu":
        return pc.trace(pc.TwoNuSVM(X, y, kernel), nu=(0.1, None), asymmetry=0.4).pieces
    return pc.trace(pc.QuantileSVM(X, y), tau=(0.1, 0.9), lam=0.05).pieces


def state_on(pieces, j):
    """The sets on piece j, change by change."""
    state = pieces.state.copy()
    for piece, sample, new in pieces.changes.T:
        if piece <= j:
            state[sample] = new
    return state


def same(one, other):
    for name, value in vars(one).items():
        if value is None:
            assert getattr(other, name) is None
        else:
            np.testing.assert_array_equal(value, getattr(other, name), err_msg=name)


def test_turned_round_every_piece_has_what_it_had(pieces):
    back, k = pieces.reversed(), pieces.t.size - 1
    for j in range(k):
        i = k - 1 - j
        np.testing.assert_array_equal(state_on(back, i), state_on(pieces, j))
        F, G = slice(pieces.ptr[j], pieces.ptr[j + 1]), slice(back.ptr[i], back.ptr[i + 1])
        mine = dict(zip(pieces.index[F], zip(pieces.a0[F], pieces.a1[F], strict=True), strict=True))
        theirs = dict(zip(back.index[G], zip(back.a1[G], back.a0[G], strict=True), strict=True))
        assert mine == theirs
        assert (pieces.b0[j], pieces.b1[j]) == (back.b1[i], back.b0[i])
        assert tuple(pieces.value[j]) == tuple(back.value[i, [1, 0, 2]])
    same(back.reversed().pruned(), pieces)


def test_cut_and_joined_they_are_the_same(pieces):
    k = pieces.t.size - 1
    for at in (1, k // 2, k - 1):
        before, behind = pieces.part(0, at), pieces.part(at, k)
        np.testing.assert_array_equal(behind.state, state_on(pieces, at))
        # What changes where the two meet is in the sets that the second begins with.
        there = pieces.changes[:, pieces.changes[0] == at]
        behind = replace(behind, changes=np.append(there - np.array([[at], [0], [0]]), behind.changes, axis=1))
        same(before.joined(behind).pruned(), pieces)


def test_a_piece_of_no_length_goes_and_its_changes_stay(pieces):
    k, t = pieces.t.size - 1, pieces.t.copy()
    for at in (0, k // 2, k - 1):
        flat = t.copy()
        flat[at + 1] = flat[at]
        left = replace(pieces, t=flat).pruned()
        assert left.t.size == k
        assert left.ptr[-1] == left.index.size == left.a0.size
        for j in range(k - 1):
            np.testing.assert_array_equal(state_on(left, j), state_on(pieces, j + (j >= at)))
            np.testing.assert_array_equal(left.value[j], pieces.value[j + (j >= at)])


@pytest.mark.parametrize("share", [0.25, 0.9])
def test_a_knot_on_the_last_piece_changes_nothing_there(pieces, share):
    """Multipliers, intercept, slope, value and margin on either side of it are what they were."""
    t = float(pieces.t[-2] + share * (pieces.t[-1] - pieces.t[-2]))
    cut, k = pieces.cut_last(t), pieces.t.size - 1
    assert cut.t.tolist() == [*pieces.t[:-1], t, pieces.t[-1]]
    F = slice(pieces.ptr[-2], pieces.ptr[-1])

    def at(P, j, u):
        f, G = (u - P.t[j]) / (P.t[j + 1] - P.t[j]), slice(P.ptr[j], P.ptr[j + 1])
        start, end, bend = P.value[j]
        value = (1 - f) * start + f * end - f * (1 - f) * bend
        a, b = (1 - f) * P.a0[G] + f * P.a1[G], (1 - f) * P.b0[j] + f * P.b1[j]
        w = np.zeros(0) if P.w is None else (1 - f) * P.w[j] + f * P.w[j + 1]
        rho = [(1 - f) * P.rho0[j] + f * P.rho1[j]] if P.rho0.size else []
        return np.concatenate([P.index[G], a, w, [b, value], rho])

    for u in (float(pieces.t[-2]), 0.5 * (pieces.t[-2] + t), t, 0.5 * (t + pieces.t[-1]), float(pieces.t[-1])):
        for j in (k - 1,) if u < t else (k - 1, k) if u == t else (k,):
            np.testing.assert_allclose(at(cut, j, u), at(pieces, k - 1, u), rtol=1e-12, atol=1e-14)
    same(cut.part(0, k - 1), pieces.part(0, k - 1))
    same(pieces.cut_last(float(pieces.t[-2])), pieces)
    assert F.stop - F.start == cut.ptr[-1] - cut.ptr[-2]


def test_scaled_and_measured_from_elsewhere_each_number_is_what_it_must_be(pieces):
    """Back again they are the same (powers of two), and scores of samples at a mean are those at 0."""
    same(pieces.scaled(2.0, 4.0, 8.0, 0.5).scaled(0.5, 0.25, 0.125, 2.0), pieces)
    large = pieces.scaled(a=2.0, b=4.0)
    for name, by in (("a0", 2.0), ("a1", 2.0), ("b0", 4.0), ("b1", 4.0), ("rho0", 4.0), ("rho1", 4.0), ("value", 1.0)):
        np.testing.assert_array_equal(getattr(large, name), by * getattr(pieces, name))
    assert pieces.from_origin(None) is pieces
    if pieces.w is None:
        assert pieces.from_origin(np.ones(3)) is pieces
        return
    mean, x = np.array([3.0, -2.0, 1.0]), np.array([0.5, 0.25, -1.0])
    moved = pieces.from_origin(mean)
    np.testing.assert_allclose(moved.w[:-1] @ x + moved.b0, pieces.w[:-1] @ (x - mean) + pieces.b0, atol=1e-12)
    np.testing.assert_allclose(moved.w[1:] @ x + moved.b1, pieces.w[1:] @ (x - mean) + pieces.b1, atol=1e-12)


def test_pieces_that_are_cut_together_are_what_they_are_one_after_the_other(pieces):
    """Whether knots rise or fall; what is not inside of its piece is no cut."""
    for given in (pieces, pieces.reversed()):
        k = given.t.size - 1
        where = {j: 0.75 * given.t[j] + 0.25 * given.t[j + 1] for j in (k - 1, 0, k // 2, k // 2 + 1)}
        apart = given
        for j in sorted(where, reverse=True):
            apart = apart.cut({j: where[j]})
        same(given.cut(where | {1: given.t[1]}), apart)
        assert apart.t.size == given.t.size + 4
        assert given.cut({1: given.t[1]}) is given
