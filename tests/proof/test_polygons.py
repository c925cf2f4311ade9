"""What is said of polygons of a map is held against every corner: errors that vanish at one of them are seen."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.proof.polygons import judge_polygons


@pytest.fixture(scope="module")
def mapped():
    """One region: (x0 - 3)^2 with x0 <= a and x1 + x2 = b, on the unit square."""
    x, a, b = cp.Variable(3, name="x"), cp.Parameter(name="a"), cp.Parameter(name="b")
    rows = [x[0] <= a, x[1] + x[2] == b, x >= -9, x <= 9]
    return pc.plane(cp.Problem(cp.Minimize(cp.square(x[0] - 3)), rows), {a: (0, 1), b: (0, 1)}, progress=False)


def changed(found, name, offset, gains):
    """The proof of the only region, with one column of x moved by ``offset + gains (s, t)``."""
    (piece,) = found.pieces
    line, x = found.plane.line, piece.x.copy()
    (column,) = (j for j in range(line.n) if line.column_name(j) == name)
    x[column] += [offset, *gains]
    return judge_polygons(found.plane, [piece.polygon], [x], [piece.z])


#: Where an affine error is 0: at one side of the square, at the other, at one corner.
ERRORS = {
    "0 where s = 0": (0.0, (1.0, 0.0)),
    "0 where s = 1": (1.0, (-1.0, 0.0)),
    "0 where t = 0": (0.0, (0.0, 1.0)),
    "0 at (0, 0)": (0.0, (0.5, 0.5)),
    "0 in the middle": (0.5, (-1.0, 0.0)),
}


@pytest.mark.parametrize("where", ERRORS)
def test_an_equation_that_is_missed_away_from_one_corner_is_not_proved(mapped, where):
    """By up to 1 below b or above it; as it stands it is proved."""
    offset, gains = ERRORS[where]
    assert changed(mapped, "x[1]", 0.0, (0.0, 0.0)).passes()
    for sign in (1.0, -1.0):
        proof = changed(mapped, "x[1]", sign * offset, tuple(sign * np.array(gains)))
        assert not proof.passes()
        assert proof.residuals["rows"][0] > 1e-3


@pytest.mark.parametrize("where", ERRORS)
def test_a_point_that_is_too_dear_away_from_one_corner_is_not_proved(mapped, where):
    """x0 below its bound a costs (3 - x0)^2 - (3 - a)^2: the bound is no less than that, and not much more."""
    offset, gains = ERRORS[where]
    lowered = 0.1 * np.abs(offset), tuple(0.1 * np.array(gains))
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    below = np.maximum(lowered[0] + corners @ lowered[1], 0.0)
    proof = changed(mapped, "x[0]", -lowered[0], tuple(-np.array(lowered[1])))
    a = corners[:, 0]
    truth = ((3 - a + below) ** 2 - (3 - a) ** 2).max()
    assert not proof.passes()
    assert truth <= proof.difference[0] <= 2 * truth
