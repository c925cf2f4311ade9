"""Searches along small lines: what they find is within eps of a value in closed form, in as few pieces as need be."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.proof.bands.cone_line import ConeLine
from paretoclf.proof.cones.cone_kinds import Cone, Cones
from paretoclf.solve.eps.search import search
from tests.oracles.array_lines import array_line

BALL = [Cone("second-order", 3)]


def turning():
    """The least of q'x in the unit ball, q from (1, 0) to (0, 1): minus the length of q."""
    rows = [[0.0, 0], [-1, 0], [0, -1]]
    return array_line(rows, [1.0, 0, 0], [[1.0, 0.0], [0.0, 1.0]], cones=BALL), lambda t: -np.hypot(1 - t, t)


def norm():
    """The least s above the norm of (1, 4t - 2): a value that is large, small and large again."""
    line = array_line([[-1.0], [0], [0]], [[0.0, 1, -2], [0.0, 1, 2]], [1.0], cones=BALL)
    return line, lambda t: np.hypot(1, 4 * t - 2)


def parabola():
    """x^2 / 2 - 3 t x on [-1, 1]: at its end from t = 1/3 on."""
    line = array_line([[1.0], [-1.0]], [1.0, 1.0], [[0.0], [-3.0]], P=[[1.0]], constant=[1.0, 1.0])
    return line, lambda t: 1 + (-4.5 * t * t if t < 1 / 3 else 0.5 - 3 * t)


def steeper():
    """p x^2 / 2 - x on [-2, 2] with p from 1 to 5: -1 / (2 p)."""
    line = array_line([[1.0], [-1.0]], [2.0, 2.0], [-1.0], P=[[1.0]], P_stop=[[5.0]])
    return line, lambda t: -0.5 / (1 + 4 * t)


def coefficient():
    """The least x with a x >= 1, a from 1 to 4, in [-2, 2]: 1 / a."""
    line = array_line([[-1.0], [1], [-1]], [-1.0, 2, 2], [1.0], A_stop=[[-4.0], [1], [-1]])
    return line, lambda t: 1 / (1 + 3 * t)


LINES = {made.__name__: made for made in (turning, norm, parabola, steeper, coefficient)}


@pytest.mark.parametrize("eps", [1e-2, 1e-4])
@pytest.mark.parametrize("name", LINES)
def test_bounds_hold_a_value_in_closed_form(name, eps):
    line, value = LINES[name]()
    found = search(line, eps, progress=False)
    proof, (t, x, y, z) = found.proof, found.points
    assert (found.status, found.ray) == ("end", None)
    assert (t[0], t[-1]) == (0.0, 1.0)
    assert (np.diff(t) > 0).all()
    assert x.shape == y.shape == (t.size, line.n)
    assert z.shape == (t.size, line.m)
    assert proof.passes()
    assert proof.eps == eps
    assert found.solves >= 9
    largest = max(abs(value(s)) for s in np.linspace(0, 1, 50))
    for s in np.linspace(0.003, 0.997, 41).tolist():
        j = min(int(np.searchsorted(t, s, side="right")) - 1, len(proof) - 1)
        u, point, _ = proof.point(j, s)
        own, gap = line.value(point, s), float(proof.pieces[j].at(u))
        assert own - gap - 1e-12 <= value(s) <= own + 1e-12
        assert gap <= eps * max(abs(value(s)), 1e-3 * largest) * (1 + 1e-9)
    assert (found.inside is not None) == (line.A_stop is not None)


def test_pieces_grow_with_the_root_of_what_is_asked_for():
    counts = [len(search(turning()[0], eps, progress=False).proof) for eps in (1e-3, 1e-5)]
    assert 8 <= counts[0] <= 40
    assert 7 <= counts[1] / counts[0] <= 11


def test_a_path_is_refined_from_its_own_pairs():
    line, value = norm()
    first = search(line, 1e-2, progress=False)
    finer = search(line, 1e-4, (first.points, (first.status, first.ray)), progress=False)
    assert finer.proof.passes(1e-4)
    assert not first.proof.passes(1e-4)
    assert set(first.points[0]) <= set(finer.points[0])
    assert abs(finer.proof.pairs[0].value - value(0.0)) < 1e-4


def test_a_line_is_cut_where_its_solutions_end():
    """x between 0 and 1 - 3t; minimise x + 1."""
    line = array_line([[1.0], [-1.0]], [[1.0, 0.0], [-2.0, 0.0]], [1.0], constant=[1.0, 1.0])
    found = search(line, 1e-3, progress=False)
    assert found.status == "infeasible"
    assert 1 / 3 - 1e-4 <= found.points[0][-1] <= 1 / 3
    again = search(line, 1e-4, (found.points, (found.status, found.ray)), progress=False)
    assert (again.status, again.points[0][-1]) == ("infeasible", found.points[0][-1])


def test_what_is_hollow_or_has_no_bounds_is_refused():
    hollow = array_line([[1.0], [-1.0]], [1.0, 1.0], [1.0], P=[[-1.0]])
    with pytest.raises(InputError, match="must be convex, which is not proved"):
        search(hollow, 1e-3, progress=False)
    free = array_line([[-1.0, 0.0], [0.0, 1.0]], [-1.0, 1.0], [[1.0, -1.0], [1.0, -1.0]], A_stop=[[-2.0, 0], [0, 1]])
    with pytest.raises(InputError, match="must have bounds where its coefficients move"):
        search(free, 1e-3, progress=False)


def test_a_value_of_0_has_no_bounds_within_a_share_of_it():
    """The least x^2 / 2 is 0 everywhere; with a constant it is not."""
    zero = ConeLine(
        np.zeros((2, 2)), np.array([[-1.0, 0], [0, 0], [0, -1]]), np.tile([1.0, 0.0], (2, 1)),
        np.array([[0.0, 0, -1], [0.0, 0, 1]]), np.zeros(2), 0, 1, {}, {}, (), Cones(BALL),
    )  # fmt: skip
    with pytest.raises(DegeneratePathError, match="add a constant to the objective"):
        search(zero, 1e-3, progress=False)


@pytest.mark.parametrize("which", ["diamond", "cone"])
def test_bounds_that_several_moving_rows_imply_together_are_asked_for_and_curves_need_none(which):
    """A diamond bounds x, no row of it does: both remedies of the refusal work, and agree."""
    x, p = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="p")
    sides = cp.hstack([p * x[0] + x[1], -p * x[0] + x[1], p * x[0] - x[1], -p * x[0] - x[1]])
    rows = [sides <= 1] if which == "diamond" else [cp.norm(cp.hstack([p * x[0] + x[1], x[0] - x[1]])) <= 2]
    loss, ends = cp.Minimize(-cp.log(x[0] + 3) + cp.sum(x)), ({p: 1.0}, {p: 2.0})
    with pytest.raises(pc.InputError, match=r"imply no bounds of \(x\[0\]\). Add them, or pass curve=True"):
        pc.trace(cp.Problem(loss, rows), *ends, eps=1e-3, progress=False)
    within = pc.trace(cp.Problem(loss, [*rows, x <= 9, x >= -9]), *ends, eps=1e-3, progress=False)
    curve = pc.trace(cp.Problem(loss, rows), *ends, curve=True, progress=False)
    for t in (0.0, 0.4, 1.0):
        low, high = within.bounds(t)
        assert low - 1e-7 <= curve.value(t) <= high + 1e-7
