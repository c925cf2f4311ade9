"""Shares of inner points: the mean is in the cone at many places, and half the share is not always enough."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.proof.cones.cone_kinds import Cone, Cones, contains, interior, vector
from paretoclf.proof.curves.cone_shares import Vectors, in_second_order, needed_share, share_of
from paretoclf.proof.curves.exponential_cone import FROM_DUAL
from paretoclf.proof.curves.polynomials import Polynomials, evaluation

CONES = {"second-order": Cone("second-order", 3), "psd": Cone("psd", 2), "exponential": Cone("exponential", 3)}


def border(kind, rng, dual):
    """Coefficients near the border of a cone, or of its dual."""
    if kind == "second-order":
        angles = np.linspace(0, 0.4, 3)
        return np.stack([np.ones(3), np.cos(angles), np.sin(angles)], axis=1) - [0.05, 0, 0]
    if kind == "psd":
        v = rng.normal(size=2)
        return np.array([vector(size * np.outer(v, v) - 0.02 * np.eye(2)) for size in (1.0, 2.0)])
    rates = np.linspace(-0.1, 0.1, 3)
    points = np.stack([rates, np.ones(3), np.exp(rates) - 0.02], axis=1)
    return points @ np.linalg.inv(FROM_DUAL).T if dual else points


def within(cone, values, dual):
    values = values @ FROM_DUAL.T if dual and cone.kind == "exponential" else values
    return contains(values, np.full_like(values, 1e-13), [cone])[:, 0]


@pytest.mark.parametrize("kind", CONES)
@pytest.mark.parametrize("dual", [False, True])
def test_the_mean_is_in_the_cone(kind, dual):
    cone, rng = CONES[kind], np.random.default_rng(2)
    near = Polynomials.of(border(kind, rng, dual))
    deep = interior([cone])
    deep = np.linalg.solve(FROM_DUAL, deep) if dual and kind == "exponential" else deep
    inside = Polynomials.of(np.stack([deep, 1.5 * deep]))
    (share,) = needed_share(Cones([cone]), Vectors(near, inside, near, dual))
    assert 0 < share < 0.5
    places = np.linspace(0, 1, 101)
    values, inner = (evaluation(each.degree, places) @ each.value for each in (near, inside))
    for more in (share + 1e-9, 0.5 * (1 + share), 1.0):
        assert within(cone, (1 - more) * values + more * inner, dual).all()
    assert not within(cone, values, dual).all()
    outside = Polynomials.of(-inside.value)
    assert needed_share(Cones([cone]), Vectors(near, outside, near, dual))[0] == np.inf


def test_what_is_in_the_cone_needs_no_share():
    cones, deep = Cones(CONES.values()), interior(CONES.values())
    point = Polynomials.of(np.stack([deep, 2 * deep]))
    assert needed_share(cones, Vectors(point, point, point, False)).tolist() == [0.0, 0.0, 0.0]


def test_equations_and_nonnegative_rows_are_others_business():
    cones = Cones([Cone("zero", 2), Cone("nonnegative", 1)])
    point = Polynomials.of(np.full((2, 3), -1.0))
    assert needed_share(cones, Vectors(point, point, point, True)).tolist() == [0.0, 0.0]


def test_the_negative_second_order_cone_is_outside():
    assert in_second_order(Polynomials.of(np.array([[[-2.0, 1.0]], [[-2.0, 1.0]]]))).tolist() == [False]
    assert in_second_order(Polynomials.of(np.array([[[2.0, 1.0]], [[2.0, 1.0]]]))).tolist() == [True]


def test_the_tip_of_a_cone_is_mended():
    cones, deep = Cones([Cone("second-order", 3)]), interior([Cone("second-order", 3)])
    tip, inside = Polynomials.of(np.zeros((3, 3))).widened(1e-290), Polynomials.of(np.stack([deep, deep]))
    (share,) = needed_share(cones, Vectors(tip, inside, tip, False))
    assert 0 < share < 1e-90


def test_shares_need_a_depth():
    shift, depth = np.array([1.0, np.inf, 0.0]), np.array([-0.5, 1.0, 1.0])
    assert share_of(shift, depth).tolist() == [np.inf, np.inf, 0.0]
