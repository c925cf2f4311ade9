"""Proof of all pieces: cover, widths relative to the scale at the same t, and words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paretoclf.common.errors import InputError
from paretoclf.proof.cones.cone_kinds import Cone, Cones
from paretoclf.proof.curves.curve_program import CurveProgram
from paretoclf.proof.curves.curve_proof import covers, prove_curve, relative_width
from paretoclf.proof.curves.curve_theorem import CurveJudge, CurvePiece


def program(goal=(1.0, 2.0), constant=0.0):
    """min x + constant where x is at least a goal that moves."""
    P, A = np.zeros((1, 1)), np.array([[-1.0]])
    b = -np.array(goal)[:, None]
    cones = Cones([Cone("nonnegative", 1)])
    return CurveProgram((P, P), (A, A), np.ones((2, 1)), b, np.full(2, constant), cones)


def pieces(above=0.0, goal=(1.0, 2.0)):
    one, middle = np.array([[1.0]]), 0.5 * (goal[0] + goal[1])
    ends = [(0.0, 0.5, goal[0], middle), (0.5, 1.0, middle, goal[1])]
    return [
        CurvePiece(start, stop, np.array([[a], [b]]) + above, one, np.array([[a], [b]]) + 1, one, one)
        for start, stop, a, b in ends
    ]


def test_an_exact_curve_is_proved_to_rounding():
    proof = prove_curve(CurveJudge(program()), pieces())
    assert proof.passes()
    assert proof.eps < 1e-13
    assert proof.passes(1e-9)
    assert not proof.passes(1e-17)
    assert "2 pieces" in proof.explain()
    assert "within" in repr(proof)
    assert proof[1].gap == proof.gap[1]
    assert "t = 0.5 and 1" in proof[1].cell


def test_the_width_is_what_points_are_above_the_optimum():
    proof = prove_curve(CurveJudge(program()), pieces(above=1e-3), 1e-2)
    assert proof.passes()
    assert proof.gap[0] == pytest.approx(1e-3, rel=0.1)  # of the smallest value, 1, and 1.5
    assert proof.gap[1] == pytest.approx(1e-3 / 1.5, rel=0.1)
    assert not proof.passes(1e-4)
    assert "Not proved to" in proof.explain(1e-4)


def test_a_value_near_0_has_the_scale_of_its_terms():
    """x - 1 from 0 to 1: relative to a thousandth of the term x where the value is 0, never to the path's largest."""
    proof = prove_curve(CurveJudge(program(constant=-1.0)), pieces(above=1e-6), 1.0)
    assert proof.gap[0] == pytest.approx(1e-6 / 1e-3, rel=0.2)


@pytest.mark.parametrize("wrong", [[], [0], [1], [1, 0], [0, 0, 1]])
def test_pieces_that_do_not_cover_the_line_prove_nothing(wrong):
    some = [pieces()[k] for k in wrong]
    assert not covers(some)
    if some:
        proof = prove_curve(CurveJudge(program()), some)
        assert not proof.passes()
        assert "one after the other" in proof.explain()


def test_a_piece_without_bounds_is_named():
    first, last = pieces()
    outside = replace(last, x=last.x - 0.1, inner=last.inner - 2)
    proof = prove_curve(CurveJudge(program()), [first, outside], 1e-3)
    assert proof.gap[1] == np.inf
    assert "between t = 0.5 and 1: no point" in proof.why
    assert not proof.passes()


def test_a_value_that_vanishes_with_all_its_terms_has_no_relative_width():
    """x from 0 to 1: at t = 0 nothing is within a share of the value, and that is no proof."""
    goal = (0.0, 1.0)
    proof = prove_curve(CurveJudge(program(goal)), pieces(goal=goal))
    assert proof.gap[0] == np.inf
    assert np.isfinite(proof.gap[1])
    assert not proof.passes()
    assert not proof.passes(np.inf)
    assert "may be 0" in proof.explain()


def test_no_certificate_file_is_written_yet(tmp_path):
    with pytest.raises(InputError, match="no certificate file"):
        prove_curve(CurveJudge(program()), pieces()).save(tmp_path / "x.json")


def test_relative_width_of_bounds():
    bounds = CurveJudge(program()).bounds(pieces(above=1e-3)[0])
    assert relative_width(bounds) == pytest.approx(1e-3, rel=0.1)
