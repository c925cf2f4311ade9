"""Bounds of curves: against Clarabel's own interval, on honest and falsified pieces; what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paretoclf.common.errors import InputError
from paretoclf.proof.cones.cone_kinds import Cone, Cones
from paretoclf.proof.curves.curve_program import CurveProgram
from paretoclf.proof.curves.curve_theorem import CurveJudge, CurvePiece
from tests.oracles.curve_programs import FALSE, KINDS, Honest, beyond, falsified


class BoxJudge(CurveJudge):
    """Takes residuals by the box alone."""

    def _below_by_multipliers(self, piece):
        return "not asked"


def judges(honest):
    return CurveJudge(honest.program), BoxJudge(honest.program, honest.box)


@pytest.mark.parametrize("kind", KINDS)
def test_no_bound_is_beyond_the_truth(kind):
    """A fixed sample; `tests/benchmarks/falsified_curves.py` draws 10 000."""
    rng = np.random.default_rng(5)
    honest, said = Honest.of(kind, rng), 0
    for how in FALSE:
        start = rng.uniform(0, 0.8)
        piece = honest.piece(start, start + 0.1)
        for judge in judges(honest):
            found = beyond(judge, falsified(piece, how, rng), rng.random(2))
            if found is not None:
                said += 1
                assert found[0] < 1e-9, how
    assert said >= 4


@pytest.mark.parametrize("kind", KINDS)
def test_short_pieces_have_close_bounds(kind):
    rng = np.random.default_rng(1)
    honest = Honest.of(kind, rng)
    widths = []
    for start in (0.1, 0.3, 0.5, 0.7, 0.9):
        for judge in judges(honest):
            found = beyond(judge, honest.piece(start, start + 2.0**-7), [0.3, 0.8])
            if found is not None:
                widths += found[1]
    assert len(widths) >= 8
    assert min(widths) < 1e-7
    assert np.median(widths) < 1e-6


def line_of(a, c=1.0):
    """min c x where x >= t and x <= 3, of which the optimum is t."""
    P, A = np.zeros((1, 1)), np.array([[-1.0], [1.0]])
    b = np.array([[0.0, 3.0], [-a, 3.0]])
    return CurveProgram((P, P), (A, A), np.full((2, 1), c), b, np.zeros(2), Cones([Cone("nonnegative", 2)]))


EXACT = CurvePiece(
    0.0,
    1.0,
    np.array([[0.0], [1.0]]),
    np.array([[1.0, 0.0]] * 2),
    np.array([[1.0], [2.0]]),
    np.zeros((1, 1)),
    np.array([[2.0, 1.0]]),
)


def test_an_exact_segment_has_a_band_of_its_rounding():
    bounds = CurveJudge(line_of(1.0)).bounds(EXACT)
    for share in (0.0, 0.25, 1.0):
        low, high = bounds.at(share)
        assert low <= share <= high
        assert high - low < 1e-13
    assert bounds.lifted < 1e-14
    assert bounds.shared < 1e-14


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"start": 0.1}, "grid"),
        ({"stop": 2.0}, "grid"),
        ({"x": np.zeros((2, 2))}, "shapes"),
        ({"z": np.full((2, 2), np.nan)}, "no numbers"),
        ({"inner": np.array([[-1.0], [2.0]])}, "inside the constraints"),
        ({"x": np.array([[-0.1], [1.0]]), "inner": np.array([[0.0], [1.0]])}, "inside the constraints"),
        ({"inner_z": np.array([[1.0, -1.0]])}, "dual cones"),
    ],
)
def test_pieces_without_bounds_say_why(change, why):
    assert why in CurveJudge(line_of(1.0)).bounds(replace(EXACT, **change))


def test_power_cones_and_negative_prices_are_refused():
    P, A = np.zeros((1, 1)), np.zeros((3, 1))
    data = (P, P), (A, A), np.zeros((2, 1)), np.zeros((2, 3)), np.zeros(2)
    with pytest.raises(InputError, match="power cones"):
        CurveProgram(*data, Cones([Cone("power", 3)]))
    with pytest.raises(InputError, match="negative"):
        CurveProgram(*data, Cones([Cone("nonnegative", 3)]), np.full((2, 3), -1.0))


def test_directions_that_are_free_are_refused():
    program = line_of(1.0)
    free = replace(program, A=(np.zeros((2, 1)),) * 2)
    why = CurveJudge(free).bounds(EXACT)
    assert "leave a direction free" in why or "inside" in why
