"""Bounds that constraints imply: against simplex codes, corners of boxes and closed forms."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from paretoclf.proof.cones import implied_bounds
from paretoclf.proof.cones.cone_kinds import Cone
from paretoclf.proof.cones.cone_program import ConeProgram
from paretoclf.proof.cones.half_spaces import HalfSpaces
from paretoclf.proof.cones.implied_bounds import implied_box


def made(A, b, cones=None, P=None, q=None):
    """A program with inequalities and no objective, if nothing else is said."""
    A = np.asarray(A, dtype=float)
    n = A.shape[1]
    cones = cones or [Cone("nonnegative", len(A))]
    return ConeProgram(np.zeros((n, n)) if P is None else P, np.zeros(n) if q is None else q, A, b, cones)


def close(found, low, high):
    """Bounds are no closer than these, and by little wider."""
    lower, upper = found
    assert (lower <= low).all()
    assert (upper >= high).all()
    np.testing.assert_allclose(lower, low, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(upper, high, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("seed", range(10))
def test_the_box_of_a_polyhedron_holds_it(seed):
    """The largest and the smallest value of each variable, by a simplex code."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    A = np.vstack([rng.normal(size=(3, n)) * (rng.random((3, n)) < 0.7), np.eye(n), -np.eye(n)])
    b = np.concatenate([rng.uniform(0, 1, 3), rng.uniform(0, 5, 2 * n)])
    lower, upper = implied_box(made(A, b))
    for j, sign in product(range(n), (1, -1)):
        found = linprog(sign * np.eye(n)[j], A_ub=A, b_ub=b, bounds=[(None, None)] * n)
        assert lower[j] - 1e-12 <= sign * found.fun <= upper[j] + 1e-12
    assert (lower >= -b[3 + n :] - 1e-7).all()
    assert (upper <= b[3 : 3 + n] + 1e-7).all()


def test_bounds_pass_from_row_to_row():
    """0 <= x0 <= 2, x1 <= 3 x0 - 1, x1 >= x0, x2 - 2 x1 <= 4, x2 >= -1: each row of the others' bounds."""
    rows = [[-1, 0, 0], [1, 0, 0], [-3, 1, 0], [1, -1, 0], [0, -2, 1], [0, 0, -1]]
    close(implied_box(made(rows, [0.0, 2, -1, 0, 4, 1])), [0.5, 0.5, -1], [2, 5, 14])


@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_a_row_bounds_a_variable_by_the_corners_of_the_others(spread):
    """``sum (value +- spread) x <= 1``: the largest x_j over all corners of the others, and of the coefficients."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        value = rng.choice([-1.0, 1.0], 3) * rng.uniform(0.5, 2, 3)
        value[1] = 0.0 if spread else value[1]
        spreads = np.array([0.0, spread, 0.0])
        none = np.zeros(3, dtype=int)
        rows = HalfSpaces(1, none, np.arange(3), value, spreads, sp.csr_array((1, 3)), np.ones(1, bool), none)
        lower, upper = -rng.uniform(0, 2, 3), rng.uniform(0, 2, 3)
        found = implied_bounds._from_rows(rows, np.array([-3.0]), lower, upper)
        low, high = lower.copy(), upper.copy()
        for j in (0, 2):
            least = 0.0
            for k in (1, 2 - j):
                ends = [c * x for c in (value[k] - spreads[k], value[k] + spreads[k]) for x in (lower[k], upper[k])]
                least += min(ends)
            bound = (-3.0 - least) / value[j]
            low[j] = max(low[j], bound) if value[j] < 0 else low[j]
            high[j] = min(high[j], bound) if value[j] > 0 else high[j]
        if not spread:
            least = min(value[0] * lower[0], value[0] * upper[0]) + min(value[2] * lower[2], value[2] * upper[2])
            bound = (-3.0 - least) / value[1]
            low[1] = max(low[1], bound) if value[1] < 0 else low[1]
            high[1] = min(high[1], bound) if value[1] > 0 else high[1]
        close(found, low, high)


@pytest.mark.parametrize("infinite", [0, 1, 2])
def test_a_row_needs_bounds_of_all_other_variables(infinite):
    """x0 + x1 - x2 <= 1 with x0, x1 >= 0 and x2 <= 0; without one of the three bounds, or of two."""
    lower, upper = np.array([0.0, 0, -np.inf]), np.array([np.inf, np.inf, 0])
    for j in ([], [0], [2])[infinite]:
        lower[j], upper[j] = -np.inf, np.inf
    spaces = made([[1, 1, -1]], [1.0]).half_spaces
    low, high = implied_bounds._from_rows(spaces, spaces.at(np.ones(1)), lower, upper)
    expected_high = {0: [1, 1, 0], 1: [1, np.inf, 0], 2: [np.inf, np.inf, np.inf]}[infinite]
    expected_low = {0: -1, 1: -np.inf, 2: -1}[infinite]
    assert high == pytest.approx(expected_high)
    assert low[2] == pytest.approx(expected_low)


@pytest.mark.parametrize("seed", range(10))
def test_a_ceiling_bounds_each_term_by_the_others(seed):
    """``sum c x^2 / 2 + q x <= ceiling`` in a box: against the roots of each parabola, the others at their least."""
    rng = np.random.default_rng(seed)
    curvature, q = rng.choice([0.0, -1.0, 1.0, 2.0], 4), rng.choice([-2.0, -1.0, 0.0, 1.0, 3.0], 4)
    lower, upper = -rng.uniform(0, 4, 4), rng.uniform(0, 4, 4)
    least = implied_bounds._least_terms(curvature, q, lower, upper)
    grid = lower + np.linspace(0, 1, 4001)[:, None] * (upper - lower)
    values = 0.5 * curvature * grid**2 + q * grid
    np.testing.assert_allclose(least, values.min(axis=0), atol=1e-5)
    assert (least <= values.min(axis=0) + 1e-12).all()
    ceiling = least.sum() + 0.5
    low, high = implied_bounds._from_objective(curvature, q, ceiling, lower, upper)
    for j in range(4):
        if curvature[j] >= 0:  # nothing is said of concave terms
            kept = grid[values[:, j] <= least[j] + 0.5, j]
            step = (upper[j] - lower[j]) / 4000
            assert low[j] == pytest.approx(kept.min(), abs=2 * step)
            assert high[j] == pytest.approx(kept.max(), abs=2 * step)
            assert low[j] <= kept.min()
            assert high[j] >= kept.max()
        else:
            assert (low[j], high[j]) == (lower[j], upper[j])


def test_of_terms_without_a_least_value_one_is_bounded_and_two_are_not():
    """x0 + x1^2 / 2 + x2 <= 1 with x2 >= 0: x0 from above, and with a bound of x0 all."""
    curvature, q = np.array([0.0, 1, 0]), np.array([1.0, 0, 1])
    low, high = np.array([-np.inf, -np.inf, 0]), np.full(3, np.inf)
    close(implied_bounds._from_objective(curvature, q, 1.0, low, high), low, [1, np.inf, np.inf])
    low[0] = -1.0
    close(implied_bounds._from_objective(curvature, q, 1.0, low, high), [-1, -2, 0], [1, 2, 2])
    low[[0, 2]] = -np.inf
    found = implied_bounds._from_objective(curvature, q, 1.0, low, high)
    assert found[0].tolist() == low.tolist()
    assert found[1].tolist() == high.tolist()
    hollow = implied_bounds._least_terms(np.array([-1.0]), np.zeros(1), np.array([-np.inf]), np.array([1.0]))
    assert hollow[0] == -np.inf


def test_a_ceiling_is_propagated_with_the_rows():
    """x0^2 + x1^2 <= 4 and x2 <= x0: a disc, and a row."""
    box = implied_box(made([[-1.0, 0, 1], [0, 0, -1]], [0.0, 9], P=np.diag([2.0, 2, 0])), 4.0)
    close(box, [-2, -2, -9], [2, 2, 2])
    lower, upper = implied_box(made([[1.0]], [-3.0], P=[[1.0]]), 2.0)  # x <= -3 and x^2 <= 4
    assert lower[0] > upper[0]


def system_of_two():
    """x0 + x1 + x2 = 3, x0 - x1 = 1 and x3 + x4 + 2 x2 = 1 with x2 from 1 to 2."""
    rows = [[1.0, 1, 1, 0, 0], [1, -1, 0, 0, 0], [0, 0, 2, 1, 1], [0, 0, 1, 0, 0], [0, 0, -1, 0, 0]]
    return made(rows, [3.0, 1, 1, 2, -1], cones=[Cone("zero", 3), Cone("nonnegative", 2)])


def test_rows_together_bound_what_none_bounds_alone():
    """x0 + x1 is from 1 to 2; x3 and x4 only come together."""
    lower, upper = implied_box(system_of_two())
    close((lower[:3], upper[:3]), [1, 0, 1], [1.5, 0.5, 2])
    assert np.isinf([lower[3:], upper[3:]]).all()
    norm = [[0.0, 0, 0], [-1, -1, -1], [-1, 1, 0], [0, 0, 1], [0, 0, -1]]  # |(x0 + x1 + x2, x0 - x1)| <= 4
    lower, upper = implied_box(made(norm, [4.0, 0, 0, 2, -1], cones=[Cone("second-order", 3), Cone("nonnegative", 2)]))
    close((lower, upper), [-5, -5, 1], [3.5, 3.5, 2])


@pytest.mark.parametrize("limit", [3, 4])
def test_systems_of_too_many_variables_are_not_solved(monkeypatch, limit):
    monkeypatch.setattr(implied_bounds, "_DENSE", limit)
    lower, upper = implied_box(system_of_two())
    assert np.isfinite([lower[:2], upper[:2]]).all() == (limit >= 4)
    assert np.isfinite([lower[2], upper[2]]).all()


def test_systems_of_too_many_rows_are_not_solved(monkeypatch):
    rows = np.vstack([[[1.0, 1], [1, -1]]] * 5)
    program = made(rows, np.tile([2.0, 0], 5), cones=[Cone("zero", 10)])
    none = np.full(2, -np.inf), np.full(2, np.inf)
    close(implied_bounds._from_systems(program, *none), [1, 1], [1, 1])
    monkeypatch.setattr(implied_bounds, "_DENSE", 2)
    assert np.isinf(implied_bounds._from_systems(program, *none)).all()


def test_variables_that_rows_do_not_determine_are_left_out():
    system = implied_bounds._BoundedRows(
        np.array([[1.0, 0, 0], [0, 1, 1], [2, 0, 0]]), np.arange(3.0), np.arange(3.0) + 1, np.array([4, 5, 6])
    )
    found = system.determined()
    assert found.M.tolist() == [[1.0], [2.0]]
    assert (found.middle.tolist(), found.radius.tolist(), found.free.tolist()) == ([0, 2], [1, 3], [4])


CONES = {
    "zero": (Cone("zero", 2), [0, 0], [0, 0]),
    "nonnegative": (Cone("nonnegative", 2), [0, 0], [4, 5]),
    "second-order": (Cone("second-order", 3), [0, -4, -4], [4, 4, 2]),
    "psd": (Cone("psd", 2), [-4 * np.sqrt(2)] * 3, [4, 5, 3]),
    "exponential": (Cone("exponential"), [-9, 0, 0], [4, 5, 2]),
    "power": (Cone("power", 3, 0.3), [0, 0, -5], [4, 5, 2]),
}


@pytest.mark.parametrize("name", CONES)
def test_cones_cut_the_values_of_their_rows(name):
    """Rows are from -9 to 4, 5 and 2 (or 3) by their box, and the cones leave what is possible of that."""
    cone, low, high = CONES[name]
    top = np.array([4.0, 5, 3 if name == "psd" else 2])[: cone.size]
    program = made(-np.eye(cone.size), np.zeros(cone.size), cones=[cone])
    found = implied_bounds._row_values(program, np.full(cone.size, -9.0), top)
    assert found[0].tolist() == pytest.approx(low)
    assert found[1].tolist() == pytest.approx(high)


def test_the_values_of_rows_are_those_at_corners():
    rng = np.random.default_rng(5)
    program = made(rng.normal(size=(3, 4)), rng.normal(size=3))
    lower, upper = -rng.uniform(0, 1, 4), rng.uniform(0, 1, 4)
    corners = np.array(list(product(*zip(lower, upper, strict=True))))
    values = program.b - corners @ program.A.toarray().T
    low, high = implied_bounds._interval(program, lower, upper)
    np.testing.assert_allclose(low, values.min(axis=0), rtol=1e-13)
    np.testing.assert_allclose(high, values.max(axis=0), rtol=1e-13)


def test_propagation_goes_on_while_a_bound_becomes_finite_or_smaller_by_a_tenth():
    old, wide = np.array([10.0, np.inf]), np.array([-np.inf, -np.inf])
    assert implied_bounds._stalled((wide, old), (wide, old))
    assert not implied_bounds._stalled((wide, old), (wide, np.array([10.0, 5.0])))
    assert not implied_bounds._stalled((wide, old), (wide, np.array([8.0, np.inf])))
    assert implied_bounds._stalled((wide, old), (wide, np.array([9.5, np.inf])))
    assert implied_bounds._stalled((-old, wide), (np.array([-9.05, -np.inf]), wide))
    assert not implied_bounds._stalled((-old, wide), (np.array([-8.7, -np.inf]), wide))
    assert implied_bounds._stalled((np.zeros(1), np.ones(1)), (np.zeros(1), np.array([0.9])))


def test_each_bound_is_moved_outwards_by_more_than_rounding():
    """1e9 x0 - 1e9 x1 <= 1 with x1 <= 1: terms are a billion times as large as the side."""
    spaces = made([[1e9, -1e9]], [1.0]).half_spaces
    lower, upper = np.array([-np.inf, 0.0]), np.array([np.inf, 1.0])
    _, high = implied_bounds._from_rows(spaces, spaces.at(np.ones(1)), lower, upper)
    assert high[0] - (1 + 1e-9) == pytest.approx(1e-9, rel=1e-3)
    _, high = implied_bounds._from_objective(np.zeros(2), np.array([1.0, -1e9]), 0.0, np.array([-9.0, 0]), upper)
    assert high[0] - 1e9 == pytest.approx(1 + 9e-9, rel=1e-3)


def test_an_inverse_that_is_rounded_widens_the_bounds(monkeypatch):
    """By the contraction over 1 less itself; a rougher one gives none."""
    for error, found in ((1e-8, True), (1e-5, False)):
        monkeypatch.setattr(np.linalg, "pinv", lambda M, share=1 + error: np.linalg.inv(M) * share)
        rows = np.array([[1.0, 0], [0, 2]])
        program = made(rows, [1e6, 0.0], cones=[Cone("zero", 2)])
        low, high = implied_bounds._from_systems(program, np.full(2, -np.inf), np.full(2, np.inf))
        assert np.isfinite([low, high]).all() == found
        if found:
            assert low[1] == pytest.approx(-1e6 * error, rel=0.2)
            assert high[1] == pytest.approx(1e6 * error, rel=0.2)


def test_bounds_of_systems_are_moved_outwards_by_their_terms():
    """x0 = 1e6 - x1 with x1 from -2e6 to -1e6."""
    program = made([[1.0, 1]], [1e6], cones=[Cone("zero", 1)])
    low, high = implied_bounds._from_systems(program, np.array([-np.inf, -2e6]), np.array([np.inf, -1e6]))
    terms = 1e6 + 1.5e6 + 2.5e6 + 2.5e6  # of the side and the other variable, of their sum, and of the solution
    assert 2e6 - low[0] == pytest.approx(1e-9 * terms, rel=1e-3)
    assert high[0] - 3e6 == pytest.approx(1e-9 * terms, rel=1e-3)
