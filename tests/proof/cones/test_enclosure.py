"""Boxes around solutions of equations: against solutions in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from paretoclf.proof.cones import enclosure
from paretoclf.proof.cones.enclosure import equations, settled, times

_EPS = float(np.finfo(float).eps)


def fractions(values):
    """The numbers of an array as fractions, in an object array."""
    flat = [Fraction(float(v)) for v in np.ravel(values)]
    return np.array(flat, dtype=object).reshape(np.shape(values))


def solved_exactly(M, t):
    """The solution of as many equations as unknowns, in fractions (Gauss and Jordan)."""
    rows = [[*row, side] for row, side in zip(fractions(M), fractions(t), strict=True)]
    for k in range(len(rows)):
        pivot = next(i for i in range(k, len(rows)) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return np.array([row[-1] for row in rows], dtype=object)


def check(found, exact, most):
    """The exact solution is in the box, which is no larger than a number."""
    for point, radius, truth in zip(found.point, found.radius, exact, strict=True):
        assert abs(Fraction(float(point)) - truth) <= Fraction(float(radius))
    assert found.radius.max() <= most


@pytest.fixture(params=["dense", "sparse", "peeled", "pivoted"])
def way(request, monkeypatch):
    """Ways to a right inverse: by a dense or a sparse factorisation, after equations were peeled off, by pivoting."""
    name = request.param
    monkeypatch.setattr(enclosure, "_SPARSE", 1.0 if name == "sparse" else -1.0)
    if name == "peeled":
        monkeypatch.setattr(enclosure, "_FEW", 0)
    if name == "pivoted":
        monkeypatch.setattr(enclosure, "_right_inverse", lambda M, weight: None)
    return name


def triangle(rng, n=5):
    """A matrix with unknowns that few equations have: the first equation alone has the first unknown, and so on."""
    return np.triu(rng.uniform(-0.5, 0.5, size=(n, n)), 1) + np.diag(rng.choice([-1.0, 1.0], n) * rng.uniform(1, 2, n))


@pytest.mark.parametrize("seed", range(6))
def test_the_exact_solution_is_in_the_box(way, seed):
    rng = np.random.default_rng(seed)
    M, t = triangle(rng), rng.normal(size=5) * 10.0 ** rng.integers(-3, 4, size=5)
    exact = solved_exactly(M, t)
    near = exact.astype(float) * (1 + 1e-6 * rng.normal(size=5))
    system = equations(sp.csr_array(M), np.ones(5))
    assert bool(system.peeled) == (way == "peeled")
    found = system.enclose(t, near)
    check(found, exact, 1e-12 * (1 + np.abs(t).max()))
    assert sorted(found.solved.tolist()) == list(range(5))
    points, radius, solved = system.enclose_each(np.array([t, 2 * t]), np.array([near, near]))
    np.testing.assert_array_equal(points[0], found.point)
    np.testing.assert_array_equal(radius[0], found.radius)
    assert solved.all()
    check(enclosure.Enclosed(points[1], radius[1], found.rows, {}), 2 * exact, 1e-11 * (1 + np.abs(t).max()))


def test_unknowns_of_weight_0_stay_and_those_of_large_weight_move(way):
    """3 x + y + 7 z = 1 and z - y = 2: of the three, z stays."""
    M, t = np.array([[3.0, 1, 7], [0, -1, 1]]), np.array([1.0, 2.0])
    given = np.array([0.3, 0.2, 0.1])
    found = equations(sp.csr_array(M), np.array([1.0, 1.0, 0.0])).enclose(t, given)
    assert found.point[2] == 0.1
    assert found.radius[2] == 0.0
    rest = solved_exactly(M[:, :2], np.zeros(2)) + 0
    z = Fraction(0.1)
    y = z - 2
    check(found, [(1 - y - 7 * z) / 3, y, z], 1e-14)
    assert rest.tolist() == [0, 0]
    one = equations(sp.csr_array([[1.0, 1.0]]), np.array([1.0, 1e-6])).enclose(np.array([1.0]), np.zeros(2))
    if way != "peeled":
        assert one.point == pytest.approx([1, 1e-6], rel=1e-5)  # in proportion to their weights


@pytest.mark.parametrize("off", [0.0, 2.0**-40, -(2.0**-40)])
def test_dependent_equations_are_decided_exactly(off):
    """The third is the sum of twice the first and a third of the second; the fourth has no unknown that moves."""
    M = np.array([[1.0, 3, 0, 2], [6.0, -3, 9, 0], [4.0, 5, 3, 4], [0.0, 0, 0, 5]])
    t = np.array([0.5, 3.0, 2.0 + off, 1.25 + off])
    found = equations(sp.csr_array(M), np.array([1.0, 1, 1, 0])).enclose(t, np.array([0.1, 0.2, 0.3, 0.25]))
    left = {row: value for row, value in found.left.items() if row == 3}
    assert left == {3: off}
    (row,) = set(found.left) - {3}
    sizes = {0: -0.5, 1: -3.0, 2: 1.0}
    assert found.left[row] == pytest.approx(off * sizes[row], rel=1e-15)
    assert set(found.solved.tolist()) == (set(range(4)) if off == 0 else set(range(3)) - {row})


def test_a_residual_too_small_for_a_double_keeps_its_sign():
    """5e-324 z less half of it, for a z that stays."""
    M, tiny = sp.csr_array([[1.0, 0.0], [0.0, 2.0**-1000]]), np.finfo(float).tiny
    for z in (2.0**-1000, -(2.0**-1000)):
        found = equations(M, np.array([1.0, 0.0])).enclose(np.zeros(2), np.array([0.0, z]))
        assert found.left == {1: -np.sign(z) * tiny}
        assert found.solved.tolist() == [0]


def test_what_no_simple_combination_explains_is_not_known():
    """The second is nearly a multiple of the first; the third differs from the sum of two by rounding."""
    for M in ([[1.0, 1.0], [1.0, 1.0 + 2.0**-45]], [[1.0, 0, 1], [0, 1, 1], [1, 1, 2 + 2.0**-45]]):
        M = np.array(M)
        system = equations(sp.csr_array(M), np.ones(M.shape[1]))
        assert len(system.dependent) == 1
        t = np.append(np.ones(len(M) - 1), len(M) - 1.0)
        found = system.enclose(t, np.zeros(M.shape[1]))
        assert found.left == {}
        assert found.solved.size == len(M) - 1
        assert system.enclose_each(t[None], np.zeros((1, M.shape[1])))[2].sum() == len(M) - 1


def test_negative_coefficients_count_in_a_combination():
    """The third is the first less twice the second."""
    M = np.array([[1.0, 5, 0, 0], [0, 1, 3, 0], [1, 3, -6, 0]])
    found = equations(sp.csr_array(M), np.ones(4)).enclose(np.array([1.0, 2.0, -3.0]), np.zeros(4))
    assert sorted(found.solved.tolist()) == [0, 1, 2]


def test_a_factor_is_that_of_an_unknown_that_moves():
    """Rows differ in an unknown that stays, before the one in which they are multiples."""
    M = sp.csr_array(np.array([[5.0, 1.0], [1.0, 3.0]]))
    assert enclosure._quotient(M, 1, 0, np.array([0.0, 1.0])) == 3
    assert enclosure._quotient(M, 1, 0, np.array([1.0, 1.0])) == Fraction(1, 5)
    assert enclosure._quotient(M, 1, 0, np.zeros(2)) == 0


def test_multiples_of_one_equation_are_found_whatever_the_factor():
    M = np.array([[1.0, 2.0], [1 / 2.0**-31, 2 / 2.0**-31], [0.0, 0.0]])
    found = equations(sp.csr_array(M), np.ones(2)).enclose(np.array([1.0, 2.0**31, 0.0]), np.zeros(2))
    assert sorted(found.solved.tolist()) == [0, 1, 2]


def test_too_many_equations_have_no_right_inverse(monkeypatch):
    M, weight = sp.csr_array(np.eye(3) + 1), np.ones(3)
    assert equations(M, weight) is not None
    monkeypatch.setattr(enclosure, "DENSE", 2)
    assert equations(M, weight) is None
    monkeypatch.setattr(enclosure, "DENSE", 3)
    assert equations(M, weight) is not None
    double = sp.csr_array(np.ones((3, 3)))
    assert equations(double, weight) is not None
    monkeypatch.setattr(enclosure, "_PIVOTED", 2)
    assert equations(double, weight) is None


@pytest.mark.parametrize("sparse", [True, False])
def test_a_rough_right_inverse_is_corrected(monkeypatch, sparse):
    monkeypatch.setattr(enclosure, "_SPARSE", 1.0 if sparse else -1.0)
    rng = np.random.default_rng(3)
    M, weight = sp.csr_array(rng.normal(size=(3, 5))), rng.uniform(0.1, 2, 5)
    exact = enclosure._right_inverse(M, weight)
    np.testing.assert_allclose(M @ exact, np.eye(3), atol=1e-13)
    W = np.diag(weight)
    np.testing.assert_allclose(exact, W @ M.T @ np.linalg.inv(M @ W @ M.T.toarray()), rtol=1e-9)
    monkeypatch.setattr(enclosure, "_inverse", lambda gram: np.linalg.inv(gram.toarray()) + 1e-4)
    corrected = enclosure._right_inverse(M, weight)
    assert np.abs(M @ corrected - np.eye(3)).max() < 1e-6
    singular = sp.csc_array([[1.0, 1.0], [1.0, 1.0]])
    monkeypatch.undo()
    monkeypatch.setattr(enclosure, "_SPARSE", 1.0 if sparse else -1.0)
    assert enclosure._inverse(singular) is None
    assert enclosure._inverse(sp.csc_array([[1.0, 1.0], [1.0, 1 + 1e-15]])) is None


def test_the_defect_bounds_what_a_right_inverse_misses():
    rng = np.random.default_rng(4)
    M, right = np.array([[1.0, 0.5, 0], [0.3, 0, 0]]), 1e6 * rng.normal(size=(3, 2))
    found = enclosure._defect(sp.csr_array(M), right)
    exact = np.abs(np.eye(2) - fractions(M) @ fractions(right)).sum(axis=1)
    assert all(Fraction(float(a)) >= b for a, b in zip(found, exact, strict=True))
    terms = (np.abs(M) @ np.abs(right)).sum(axis=1)
    rest = [Fraction(float(a)) - Fraction(float(b)) for a, b in zip(found, exact, strict=True)]
    assert all(float(a) <= 1.5 * count * _EPS * b for a, count, b in zip(rest, (4, 3), terms, strict=True))
    assert enclosure._defect(sp.csr_array(np.eye(2)), np.eye(2)) == pytest.approx(3 * _EPS, rel=1e-12, abs=0)


def test_a_residual_is_bounded_with_its_rounding():
    rng = np.random.default_rng(5)
    part = sp.csr_array(rng.normal(size=(3, 4)))
    u = rng.normal(size=4)
    goal = part @ u
    found = enclosure._residual(part, abs(part), u, goal)
    exact = np.abs(fractions(part.toarray()) @ fractions(u) - fractions(goal))
    assert all(Fraction(float(a)) >= b for a, b in zip(found, exact, strict=True))
    np.testing.assert_allclose(found, 7 * _EPS * (abs(part) @ np.abs(u) + np.abs(goal)), rtol=1e-12)
    far = enclosure._residual(part, abs(part), u, goal + np.array([1.0, -1.0, 0.0]))
    np.testing.assert_allclose(far[:2], 1.0, rtol=1e-12)


def test_the_box_grows_with_the_defect_of_the_right_inverse():
    """2u = 1 from the right inverse 0.4: the residual stays, and its bound is that of the geometric series."""
    M, t = sp.csr_array([[2.0]]), np.array([1.0])
    rough = enclosure.Equations(M, np.ones(1), (), np.array([0]), np.array([[0.4]]), np.array([0.2]), {})
    found = rough.enclose(t, np.array([1.0]))
    missed = 2 * 0.5 * 0.2**3  # three corrections
    assert found.point[0] == pytest.approx(0.5 + missed / 2)
    assert found.radius[0] == pytest.approx(0.4 * missed * (1 + 0.2 / 0.8))
    two = enclosure.Equations(
        sp.csr_array(2 * np.eye(2)), np.ones(2), (), np.arange(2), 0.4 * np.eye(2), np.array([0.2, 0.4]), {}
    )
    found = two.enclose(np.ones(2), np.array([1.0, 0.5]))
    assert found.radius == pytest.approx(0.4 * (np.array([missed, 0]) + np.array([0.2, 0.4]) * missed / 0.6))


@pytest.mark.parametrize("rounds", [1, 3])
def test_peeled_equations_have_an_unknown_of_their_own(monkeypatch, rounds):
    monkeypatch.setattr(enclosure, "_PEELS", rounds)
    M = np.array([[1.0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 1, -1]])
    peeled, left = enclosure._peel(sp.csr_array(M), np.ones(4), np.arange(4))
    assert [(p.rows.tolist(), p.columns.tolist(), p.pivots.tolist()) for p in peeled] == [
        ([0], [0], [1.0]),
        ([1], [1], [1.0]),
    ][:rounds]
    assert left.tolist() == ([1, 2, 3] if rounds == 1 else [2, 3])
    weight = np.array([0.4, 1, 1, 1])  # an unknown that does not move freely
    assert enclosure._peel(sp.csr_array(M), weight, np.arange(4)) == ([], pytest.approx([0, 1, 2, 3]))
    small = M * [[1e-3, 1, 1, 1]] + 0.0
    assert enclosure._peel(sp.csr_array(small), np.ones(4), np.arange(4))[0] == []
    several = np.array([[1.0, -3, 2, 0], [0, 0, 0, 1]])
    (peel,), left = enclosure._peel(sp.csr_array(several), np.ones(4), np.arange(2))
    assert (peel.columns.tolist(), peel.pivots.tolist(), left.tolist()) == ([1, 3], [-3.0, 1.0], [])


def test_single_equations_settle_unknowns_one_after_the_other():
    """x = 3/4; then x + 2 y = 1; then 3 z = y, which is no double; w has two equations and is known by one."""
    M = np.array([[4.0, 0, 0, 0], [1, 2, 0, 0], [0, -1, 3, 0], [0, 1, 0, 4], [0, 0, 0, 1]])
    t = np.array([3.0, 1.0, 0.0, 1.125, 0.25])
    u, weight = settled(sp.csr_array(M), t, np.full(4, 9.0), np.array([1.0, 2, 3, 4]))
    assert u.tolist() == [0.75, 0.125, 9.0, 0.25]
    assert weight.tolist() == [0.0, 0.0, 3.0, 0.0]
    u, weight = settled(sp.csr_array(M), t, np.full(4, 9.0), np.array([0.0, 2, 3, 4]))  # x stays at 9
    assert u.tolist() == [9.0, -4.0, 9.0, 0.25]
    given = np.full(4, 9.0)
    settled(sp.csr_array(M), t, given, np.ones(4))
    assert (given == 9).all()


def test_products_with_rows_are_those_with_each():
    rng = np.random.default_rng(6)
    M, v = rng.normal(size=(3, 4)), rng.normal(size=(5, 4))
    for made in (M, sp.csr_array(M)):
        np.testing.assert_allclose(times(made, v), v @ M.T, rtol=1e-13)
        np.testing.assert_allclose(times(made, v[0]), M @ v[0], rtol=1e-13)
        for row in range(5):
            np.testing.assert_array_equal(times(made, v)[row], times(made, v[row : row + 1])[0])
