"""Slopes at knots: where a slope turns within a few doubles of t, the last of them is a piece of its own."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.path.svm_lines.knot_slopes import with_knot_slopes
from paretoclf.problem.operator import Features
from paretoclf.problem.pieces import Pieces


@pytest.fixture
def cuts(monkeypatch):
    """How many pieces each cut was of."""
    made = []
    original = Pieces.cut
    monkeypatch.setattr(Pieces, "cut", lambda self, where: made.append(len(where)) or original(self, where))
    return made


@pytest.mark.parametrize("scale", [1e7, 1e9])
def test_a_steep_path_is_cut_once_however_many_knots_turn_and_is_proved(cuts, gaussians, scale):
    """Each cut copies the whole path: one a knot made the time grow with the square of the knots."""
    X, y = gaussians(60, 3, seed=1)
    path = pc.trace(pc.TwoCSVM(scale * X, y), (0.1, 3.0), (3.0, 0.1))
    assert 1 <= len(cuts) <= 2, "one for each way from where the line is joined"
    assert sum(cuts) > 6
    assert path.proof.passes()
    pieces = path.pieces
    # Each piece of some length keeps its margin set there, with slope and intercept at either end.
    long = np.flatnonzero(np.diff(pieces.t) > 1e-12)
    for j in long.tolist():
        members = pieces.index[pieces.ptr[j] : pieces.ptr[j + 1]]
        for w, b in ((pieces.w[j], pieces.b0[j]), (pieces.w[j + 1], pieces.b1[j])):
            np.testing.assert_allclose(y[members] * (scale * X[members] @ w + b), 1.0, atol=1e-7)


def test_a_plain_path_has_no_knot_that_turns(cuts, gaussians):
    X, y = gaussians(60, 3, seed=1)
    pc.trace(pc.TwoCSVM(X, y), (0.1, 3.0), (3.0, 0.1))
    assert cuts == []


SAMPLES = np.array([[2.0], [-1.0], [0.5]])


def settled(t, slopes):
    """Slopes of pieces by hand, each with a sample in its margin set, after `with_knot_slopes`; and the pieces."""
    k = len(slopes)
    w = np.array(slopes, dtype=float)[:, :, None]
    pieces = Pieces(
        t=np.array(t),
        ptr=np.arange(k + 1),
        index=np.arange(k) % 3,
        a0=np.full(k, 0.3),
        a1=np.full(k, 0.7),
        b0=10.0 + np.arange(k),
        b1=20.0 + np.arange(k),
        value=np.zeros((k, 3)),
        w=np.append(w[:, 0], w[-1:, 1], axis=0),
        state=np.zeros(3, dtype=np.int8),
        changes=np.array([[1], [0], [2]]),
    )
    return with_knot_slopes(pieces, SimpleNamespace(w=w), Features(SAMPLES), np.ones((2, 3))), pieces


def test_the_last_double_before_a_turn_between_two_flat_pieces_is_a_piece_of_its_own():
    found, given = settled([0.0, 0.25, 0.5, 1.0], [(0.0, 1.0), (2.0, 2.0), (3.0, 5.0)])
    first, second = np.nextafter(0.25, 0.0), np.nextafter(0.5, 0.0)
    assert found.t.tolist() == [0.0, first, 0.25, second, 0.5, 1.0]
    assert found.w.ravel().tolist() == [0.0, 1.0, 2.0, 2.0, 3.0, 5.0]
    assert found.b0.tolist() == [10.0, 20.0, 11.0, 21.0, 12.0]
    assert found.b1.tolist() == [20.0, 11.0, 21.0, 12.0, 22.0]
    assert found.index.tolist() == [0, 0, 1, 1, 2]
    assert found.changes.tolist() == [[2], [0], [2]]
    assert given.t.size == 4


def test_a_steep_piece_takes_the_slope_of_its_flat_neighbour_and_moves_its_intercept():
    few = 0.25 + 4 * np.spacing(0.25)
    found, _ = settled([0.25, few, 1.0], [(0.0, 1.0), (2.0, 2.5)])
    assert found.t.tolist() == [0.25, few, 1.0]
    assert found.w.ravel().tolist() == [0.0, 2.0, 2.5]
    assert found.b1.tolist() == [20.0 - 2.0 * 1.0, 21.0]  # the sample of the first piece, 2, times the change, 1
    assert found.b0.tolist() == [10.0, 11.0]
    back, _ = settled([0.0, 0.25, few], [(0.0, 1.0), (2.0, 3.0)])
    assert back.w.ravel().tolist() == [0.0, 1.0, 3.0]
    assert back.b0.tolist() == [10.0, 11.0 - (-1.0) * -1.0]
    assert back.b1.tolist() == [20.0, 21.0]
