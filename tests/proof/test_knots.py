"""Tests of `paretoclf.proof.knots`."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.path.deletion import stretches
from paretoclf.proof.knots import prove_knots
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
        pytest.skip("no slopes are stored")
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
