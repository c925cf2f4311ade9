"""Right-hand sides are rounded upwards: against fractions, where terms cancel."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from paretoclf.proof.cones import half_spaces as half_spaces_module
from paretoclf.proof.cones.cone_kinds import Cone
from paretoclf.proof.cones.half_spaces import _pattern, half_spaces

CONES = (
    Cone("zero", 2),
    Cone("nonnegative", 4),
    Cone("second-order", 4),
    Cone("psd", 3),
    Cone("exponential"),
    Cone("power", 3, 0.3),
)
ROWS = sum(cone.size for cone in CONES)


def exact_sides(spaces, b):
    """What each combination of right-hand sides is, and the sum of its terms in absolute values."""
    combine = sp.csr_array(spaces.combine)
    sides, sizes = [], []
    for i in range(combine.shape[0]):
        at = slice(combine.indptr[i], combine.indptr[i + 1])
        terms = [
            Fraction(w) * Fraction(float(b[j]))
            for w, j in zip(combine.data[at].tolist(), combine.indices[at].tolist(), strict=True)
        ]
        sides.append(sum(terms, Fraction(0)))
        sizes.append(sum(map(abs, terms), Fraction(0)))
    for i, j in spaces.sums.tolist():
        sides.append(sides[i] + sides[j])
        sizes.append(sizes[i] + sizes[j])
    return sides, sizes


def test_right_hand_sides_are_rounded_upwards_and_by_no_more_than_rounding():
    rng, above, cancelled = np.random.default_rng(0), 0, 0
    A = np.zeros((ROWS, 3))
    A[2:6] = [[1.0, 2, -3], [1, -2, 3], [-1, 0.1, 0.7], [-1, -0.1, -0.7]]  # rows that cancel in pairs
    A[6:] = rng.integers(-2, 3, (ROWS - 6, 3))
    spaces = half_spaces(A, CONES)
    assert spaces.sums.size
    for _ in range(200):
        b = rng.standard_normal(ROWS) * 10.0 ** rng.integers(-3, 4, ROWS)
        b[9] = -b[6] * (1 + 2.0**-40 * rng.integers(-3, 4))  # t + v of a cone cancels
        b[12] = (b[10] + b[15]) / np.sqrt(2) * rng.choice([-1, 1])
        h = spaces.at(b)
        for got, side, size in zip(h, *exact_sides(spaces, b), strict=True):
            assert Fraction(float(got)) >= side
            assert Fraction(float(got)) - side <= size * Fraction(1, 10**14)
            above += Fraction(float(got)) > side
            cancelled += abs(side) < size / 10**9
    assert above > 1000  # not by luck
    assert cancelled > 100


def test_single_rows_are_as_they_are():
    """Nothing is rounded in them, so nothing is added."""
    spaces = half_spaces(np.eye(3), [Cone("zero", 1), Cone("nonnegative", 2)])
    assert spaces.at(np.array([0.1, 0.2, 0.3])).tolist() == [0.1, -0.1, 0.2, 0.3]
    assert spaces.spread.tolist() == [0.0] * 4


def test_coefficients_are_known_within_their_spread():
    """Sums of products in fractions; where the spread is 0, nothing was rounded."""
    rng, rounded, lost = np.random.default_rng(1), 0, 0
    for _ in range(20):
        A = rng.standard_normal((ROWS, 3)) * (rng.random((ROWS, 3)) < 0.6)
        A[9] = -A[6] * (1 + 2.0**-50)  # what cancels is not told from 0
        spaces = half_spaces(A, CONES)
        combine = sp.csr_array(spaces.combine)
        known = {
            (int(i), int(j)): (Fraction(float(v)), Fraction(float(e)))
            for i, j, v, e in zip(spaces.row, spaces.column, spaces.value, spaces.spread, strict=True)
        }
        for i in range(combine.shape[0]):
            at = slice(combine.indptr[i], combine.indptr[i + 1])
            for j in range(3):
                terms = [
                    Fraction(w) * Fraction(float(A[k, j]))
                    for w, k in zip(combine.data[at].tolist(), combine.indices[at].tolist(), strict=True)
                ]
                value, spread = known.get((i, j), (Fraction(0), Fraction(0)))
                off = abs(sum(terms, Fraction(0)) - value)
                assert off <= spread
                assert spread <= abs(value) / 10**10 or value == 0
                rounded += off > 0
                lost += value == 0 and spread > 0
    assert rounded > 100
    assert lost > 10


def test_an_entry_that_cancels_is_somewhere_between_its_bounds():
    """Of products of whole matrices, sparse and full of terms that cancel to rounding: in fractions."""
    rng, cancelled = np.random.default_rng(5), 0
    for _ in range(30):
        T = np.round(rng.standard_normal((3, 4)), 1) * (rng.random((3, 4)) < 0.7)
        A = rng.standard_normal((4, 5)) * (rng.random((4, 5)) < 0.7)
        k = int(rng.integers(3))
        A[3] = -(T[k, :3] @ A[:3]) / T[k, 3] if T[k, 3] else A[3]  # row k of the product is rounding
        A[3] *= 1.0 + float(rng.choice([0.0, 1e-9]))  # or not much more
        row, column, value, spread = half_spaces_module._products(sp.csr_array(T), sp.csr_array(A), np.zeros(3, bool))
        found = {(i, j): (v, d) for i, j, v, d in zip(row, column, value, spread, strict=True)}
        for i in range(3):
            for j in range(5):
                exact = sum((Fraction(a) * Fraction(b) for a, b in zip(T[i], A[:, j], strict=True)), Fraction(0))
                near, off = found.get((i, j), (0.0, 0.0))
                assert abs(exact - Fraction(float(near))) <= Fraction(float(off))
                cancelled += bool(exact) and near == 0.0
    assert cancelled > 20


def test_tangents_of_an_exponential_and_of_a_power_cone_are_in_their_duals():
    """In decimals of 60 digits: ``-u exp(v / u) <= e w``, and ``|w|`` at most what u and v allow."""
    with localcontext() as context:
        context.prec = 60
        for tangent in half_spaces_module._tangents([Cone("exponential")], 3).toarray():
            u, v, w = map(Decimal, tangent.tolist())
            assert (u == 0 and v >= 0 and w >= 0) or (u < 0 and -u * (v / u).exp() <= Decimal(1).exp() * w)
        for exponent in (0.25, 0.3, 0.9):
            a = Decimal(exponent)
            for tangent in half_spaces_module._tangents([Cone("power", 3, exponent)], 3).toarray():
                u, v, w = map(Decimal, tangent.tolist())
                assert u >= 0
                assert v >= 0
                assert w == 0 or a * (u / a).ln() + (1 - a) * (v / (1 - a)).ln() >= abs(w).ln()


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_combinations_of_a_semidefinite_matrix_are_squares(order):
    """Of v v' they are v_i^2 and (v_i +- v_j)^2: each entry stands where columns of the upper triangle have it."""
    v = np.random.default_rng(order).normal(size=order)
    S = np.outer(v, v)
    entries = np.array([S[i, j] * (1.0 if i == j else np.sqrt(2.0)) for j in range(order) for i in range(j + 1)])
    row, place, weight, count = _pattern(Cone("psd", order))
    found = np.bincount(row, weight * entries[place], count)
    pairs = [(v[i] + sign * v[j]) ** 2 for i in range(order) for j in range(i) for sign in (1, -1)]
    np.testing.assert_allclose(np.sort(found), np.sort([*v**2, *pairs]), atol=1e-12)


def test_rows_that_cancel_in_all_but_one_variable_are_added():
    """Random rows and the mate of one: each sum has one variable, and one of the pair is in a sum."""
    rng = np.random.default_rng(8)
    for _ in range(30):
        A = rng.choice([-2.0, -1.0, 1.0, 3.0], size=(4, 4)) * (rng.random((4, 4)) < 0.8)
        mate, j = -A[0], int(rng.integers(4))
        A[0, j], mate[j] = 2.0, float(rng.choice([1.0, -1.0, 5.0, 2.0]))
        A = np.vstack([A, mate])
        spaces = half_spaces(A, [Cone("nonnegative", 5)])
        if np.count_nonzero(A[0]) < 2 or np.count_nonzero(mate) < 2:
            continue
        for row, (first, second) in enumerate(spaces.sums.tolist()):
            total = A[first] + A[second]
            at = spaces.row == 5 + row
            assert np.count_nonzero(total) == 1
            assert spaces.column[at].tolist() == np.flatnonzero(total).tolist()
            assert spaces.value[at].tolist() == total[total != 0].tolist()
            assert spaces.spread[at].tolist() == [0.0]
        assert np.isin(spaces.sums, [0, 4]).any()
        assert spaces.count == 5 + len(spaces.sums)


@pytest.mark.parametrize(
    "rows",
    [
        [[1.0, 2.0], [1.0, 2.0]],  # equal, not opposite
        [[1.0, 2.0], [-1.0, -2.0]],  # nothing remains
        [[1.0, 2.0, 3.0], [4.0, 5.0, -3.0]],  # two remain
        [[1.0, 0.0], [-3.0, 0.0]],  # one variable each
    ],
)
def test_other_rows_are_not_added(rows):
    assert half_spaces(np.array(rows), [Cone("nonnegative", len(rows))]).sums.size == 0


def test_a_hash_of_the_rest_of_a_row_changes_its_sign_with_the_row():
    row, column = np.repeat([0, 1, 2], 3), np.tile([0, 1, 2], 3)
    value = np.array([1.0, 2, 3, 7, -2, -3, -1, 2, 3])
    rest = half_spaces_module._rest_hash(row, column, value, (3, 3)).reshape(3, 3)
    assert rest[0, 0] == -rest[1, 0] == rest[2, 0]
    assert len({*np.abs(rest[:, 1:]).ravel().tolist()}) == 6
    first, second = half_spaces_module._mates(row, column, rest.ravel())
    found = sorted(sorted(pair) for pair in zip(row[first].tolist(), row[second].tolist(), strict=True))
    assert found in ([[0, 1]], [[1, 2]])


@pytest.mark.parametrize("order", [1, 2, 4])
def test_combinations_of_a_second_order_cone_are_its_first_entry_and_differences(order):
    row, place, weight, count = _pattern(Cone("second-order", order))
    dense = np.zeros((count, order))
    dense[row, place] = weight
    expected = [np.eye(order)[0]]
    expected += [np.eye(order)[0] + np.eye(order)[k] for k in range(1, order)]
    expected += [np.eye(order)[0] - np.eye(order)[k] for k in range(1, order)]
    assert dense.tolist() == np.array(expected).tolist()


def test_equations_are_two_inequalities():
    row, place, weight, count = _pattern(Cone("zero", 2))
    assert (row.tolist(), place.tolist(), weight.tolist(), count) == ([0, 1, 2, 3], [0, 1, 0, 1], [1, 1, -1, -1], 4)


def test_tangents_touch_the_exponential_cone_where_it_is_said():
    """``z - e^c x - (1 - c) e^c y`` is 0 at (c, 1, e^c) to rounding, and y and z are nonnegative."""
    row, place, weight, count = _pattern(Cone("exponential"))
    dense = np.zeros((count, 3))
    dense[row, place] = weight
    assert dense[:2].tolist() == [[0, 1, 0], [0, 0, 1]]
    touched = (-4.0, -2.0, -1.0, 0.0, 1.0, 2.0)
    assert count == 2 + len(touched)
    for c, tangent in zip(touched, dense[2:], strict=True):
        assert tangent[2] == pytest.approx(1, abs=1e-11)
        assert tangent @ [c, 1, np.exp(c)] == pytest.approx(1e-12 * np.exp(c), rel=1e-2, abs=1e-15)
    power = np.zeros((4, 3))
    row, place, weight, count = _pattern(Cone("power", 3, 0.25))
    power[row, place] = weight
    steep = 1 - 1e-12
    assert power.tolist() == [[1, 0, 0], [0, 1, 0], [0.25, 0.75, steep], [0.25, 0.75, -steep]]


def test_rows_of_which_no_two_cancel_have_no_sums():
    """Pairs have two columns even where there is none; a row of one entry has no rest that could cancel."""
    for A in (np.array([[1.0, 2.0, 0.0], [1.0, 3.0, 0.5]]), np.array([[1.0, 0.0], [-1.0, 0.0]])):
        spaces = half_spaces(A, (Cone("nonnegative", 2),))
        assert spaces.sums.shape == (0, 2)
        assert spaces.at(np.zeros(2)).shape == (2,)
