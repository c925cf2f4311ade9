"""Derivatives of complementarity against differences, and what changes sign at an event."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.proof.cones.cone_kinds import Cone, Cones, project, vector
from paretoclf.solve.curves.complementarity import eigenvalues, free_rows, labelled, labels, products, watched

CONES = Cones(
    [
        Cone("zero", 2),
        Cone("nonnegative", 3),
        *[Cone("second-order", 3)] * 2,
        Cone("psd", 2),
        Cone("psd", 3),
        *[Cone("exponential", 3)] * 2,
    ]
)
SIZE = sum(cone.size for cone in CONES)


def whole(blocks):
    found = np.zeros((SIZE, SIZE))
    for rows, block in blocks:
        found[rows[:, :, None], rows[:, None, :]] = block
    return found


@pytest.mark.parametrize("seed", range(6))
def test_derivatives_are_those_of_the_products(seed):
    rng = np.random.default_rng(seed)
    s, z, step = 0.5 + rng.random(SIZE), 0.5 + rng.random(SIZE), 1e-6
    label = None if seed < 3 else rng.random(12) < 0.5
    found = products(CONES, s, z, label)
    for blocks, place in ((found.in_slack, 0), (found.in_multiplier, 1)):
        difference = np.zeros((SIZE, SIZE))
        for k in range(SIZE):
            ahead, behind = [s.copy(), z.copy()], [s.copy(), z.copy()]
            ahead[place][k] += step
            behind[place][k] -= step
            difference[:, k] = (products(CONES, *ahead, label).value - products(CONES, *behind, label).value) / (
                2 * step
            )
        np.testing.assert_allclose(whole(blocks), difference, atol=1e-6)


def test_products_of_complementary_pairs_are_0():
    """Moreau: a vector is the difference of its projection and a complementary multiplier."""
    rng = np.random.default_rng(4)
    curved = Cones([cone for cone in CONES if cone.kind not in ("zero", "exponential")])
    v = rng.normal(size=SIZE - 8) * 2
    s = project(v, curved)
    z = s - v
    assert np.abs(products(curved, s, z, None).value).max() < 1e-12
    r = 0.3
    s = np.array([r * 2, 2.0, 2 * np.exp(r)])
    z = 1.5 * np.array([-np.exp(r), (r - 1) * np.exp(r), 1.0])
    assert np.abs(products(Cones([Cone("exponential")]), s, z, None).value).max() < 1e-12
    assert abs(s @ z) < 1e-12


def test_cones_whose_labels_are_of_one_kind_have_linear_equations():
    """One after the other: entries, a norm whose slack is inside, one at its tip, one on its border, two matrices."""
    rng = np.random.default_rng(5)
    cones = Cones([Cone("zero", 1), Cone("nonnegative", 2), *[Cone("second-order", 3)] * 3, Cone("psd", 2)])
    label = np.array([True, False, True, True, False, False, False, True, True, True])
    s, z = rng.normal(size=(2, 15))
    value = products(cones, s, z, label).value
    inside, tip, border, matrix = slice(3, 6), slice(6, 9), slice(9, 12), slice(12, 15)
    np.testing.assert_array_equal(value[:3], [s[0], z[1], s[2]])
    for rows, expected in ((inside, z), (tip, s), (matrix, z)):
        np.testing.assert_array_equal(value[rows], expected[rows])
    assert value[border][0] == pytest.approx(s[border] @ z[border])
    free = free_rows(cones, label)
    assert np.flatnonzero(free).tolist() == [1, *range(3, 6), *range(12, 15)]
    assert [mine.tolist() for _, mine in labelled(cones, label)][2] == [[True, True], [False, False], [False, True]]


def test_labels_say_which_of_two_eigenvalues_is_positive():
    cones = Cones([Cone("nonnegative", 2), Cone("second-order", 2), Cone("psd", 2)])
    s = np.concatenate([[1.0, 0.0], [2.0, 2.0], vector(np.diag([3.0, 0.0]))])
    z = np.concatenate([[0.0, 1.0], [1.0, -1.0], vector(np.diag([0.0, 4.0]))])
    assert labels(cones, s, z).tolist() == [True, False, False, True, False, True]
    assert eigenvalues(cones, s, z)[2].tolist() == [0, 1, 2, 2, 4, 4]
    assert watched(cones, s, z, labels(cones, s, z)).round(9).tolist() == [1.0, 1.0, 2.0, 1.0, 3.0, 4.0]


def test_a_norm_that_passes_through_zero_is_seen():
    """|s_2| does not change its sign there: the first entries do."""
    cones, label = Cones([Cone("second-order", 2)]), np.array([False, True])
    before = watched(cones, np.array([0.1, 0.1]), np.array([1.0, -1.0]), label)
    behind = watched(cones, np.array([-0.1, -0.1]), np.array([1.0, -1.0]), label)
    assert before.min() > 0 > behind.min()


def test_signs_that_sorted_eigenvalues_hide_are_seen():
    """S on the kernel of Z is -1, though the largest eigenvalue of S is positive."""
    cones, label = Cones([Cone("psd", 2)]), np.array([False, True])
    s, z = vector(np.diag([-1.0, 0.5])), vector(np.diag([0.0, 2.0]))
    assert watched(cones, s, z, label).min() == pytest.approx(-1.0)
