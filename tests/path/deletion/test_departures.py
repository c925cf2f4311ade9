"""One call of the core for many lines, against one line at a time, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.path.deletion.departures import Departures, Move
from paretoclf.path.svm.cost_path import trace_costs


def departures(X, y, kernel):
    svm = pc.TwoCSVM(X, y, kernel)
    return Departures(trace_costs(svm, (1.0, 0.6), (1.0, 0.6), progress=False), 0.0)


@pytest.mark.parametrize("kernel", [None, "sparse", pc.RBF(1.5)], ids=["dense", "sparse", "rbf"])
def test_together_or_one_by_one_is_the_same(gaussians, kernel):
    X, y = gaussians(40, 3, seed=7)
    X, kernel = (sp.csr_array(X), None) if kernel == "sparse" else (X, kernel)
    leaving = departures(X, y, kernel)
    moves = [Move(np.array([i]), np.array([to])) for i in range(40) for to in (0.0, 0.3, 2.5)]
    many_are_as_each(leaving, moves, atol=1e-10)


@pytest.mark.parametrize("kernel", [None, pc.RBF(1.5)], ids=["dense", "rbf"])
def test_what_one_line_teaches_changes_no_other(gaussians, kernel):
    """So many samples that only some are watched, by budgets that are learnt on the lines before."""
    leaving = departures(*gaussians(700, 3, seed=7), kernel)
    moves = [Move(np.array([i]), np.array([to])) for i in range(0, 700, 23) for to in (0.0, 2.5, 0.99)]
    many_are_as_each(leaving, moves, atol=1e-9)


def many_are_as_each(leaving, moves, atol):
    """Lines followed together end where each does that is followed alone."""
    alpha, b, w, failed = leaving._follow_many(moves)
    assert not failed.any()
    for j, move in enumerate(moves):
        caps = leaving.caps.copy()
        caps[move.samples] = move.caps
        one = leaving._follow(move, caps)
        np.testing.assert_allclose(alpha[:, j], one[0], atol=atol)
        assert b[j] == pytest.approx(one[1], abs=1e-9)
        if w is not None:
            np.testing.assert_allclose(w[:, j], one[2], atol=atol)


def test_each_end_is_proved(gaussians):
    leaving = departures(*gaussians(30, 2, seed=8), None)
    moves = [Move(np.array([i]), np.array([to])) for i in range(30) for to in (0.0, 3.0)]
    for ends in leaving.ends(moves):
        assert all(each.passes() for each in ends.certificates)


def test_what_fits_nothing_is_refused(gaussians):
    leaving = departures(*gaussians(12, 2, seed=9), None)
    core, _, saved = leaving._engine
    ask = core._core.ends
    caps, one, zero = leaving.caps, np.array([0]), np.array([0.0])
    for arguments, message in (
        ((saved, caps + 1.0, one, zero, 0, 9), "caps must be those"),
        ((saved, caps, np.array([12]), zero, 0, 9), "samples lie between"),
        ((saved, caps, one, np.array([-1.0]), 0, 9), "one cap from 0 on"),
        ((saved, caps, one, np.array([0.0, 1.0]), 0, 9), "one cap from 0 on"),
        ((saved, caps, one, zero, 1, 9), "width must be 0"),
    ):
        with pytest.raises(ValueError, match=message):
            ask(*arguments)
