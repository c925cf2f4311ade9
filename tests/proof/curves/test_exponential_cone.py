"""Membership in the exponential cone all over a piece, against values in fifty digits."""

from __future__ import annotations

from decimal import Decimal, getcontext

import numpy as np
import pytest

from paretoclf.proof.curves import exponential_cone
from paretoclf.proof.curves.exponential_cone import FROM_DUAL, INSIDE, in_exponential
from paretoclf.proof.curves.polynomials import Polynomials, evaluation
from tests.oracles.curve_programs import DEGREE, NODES, TO_COEFFICIENTS

getcontext().prec = 50


def curve(rng, size):
    """Entries a, c of points along a piece, with c positive."""
    top = TO_COEFFICIENTS @ (evaluation(DEGREE, NODES) @ (rng.normal(size=DEGREE + 1).cumsum() * size))
    return top, rng.uniform(0.5, 2) + 0.1 * rng.normal(size=DEGREE + 1)


def bound(top, scale):
    """Coefficients nowhere below ``c e^(a/c)``, on each eighth."""
    parts = [Polynomials.of(np.stack([top, scale], axis=1))]
    for _ in range(3):
        parts = [half for part in parts for half in part.halves()]
    both = [exponential_cone._upper(part[0], part[1]) for part in parts]
    return [poly for poly, _ in both], all(bool(fine) for _, fine in both)


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_is_above_the_exponential_and_near_it(seed):
    rng = np.random.default_rng(seed)
    top, scale = curve(rng, rng.uniform(0.01, 0.5))
    found, fine = bound(top, scale)
    assert fine
    for number, poly in enumerate(found):
        for share in rng.random(4):
            u = (Decimal(number) + Decimal(float(share))) / 8
            binomials = [Decimal(int(k)) for k in evaluation(DEGREE, [0.5])[0] * 2**DEGREE]
            powers = [c * u**i * (1 - u) ** (DEGREE - i) for i, c in enumerate(binomials)]
            a, c = (sum(p * Decimal(float(v)) for p, v in zip(powers, each, strict=True)) for each in (top, scale))
            true, (value, radius) = c * (a / c).exp(), poly.at(float(share))
            assert Decimal(float(value + radius)) >= true * (1 - Decimal("1e-15"))
            assert float(value) <= float(true) * (1 + 1e-3)


def points(*entries):
    return Polynomials.of(np.array(entries, dtype=float)[:, None, :])


def test_points_of_the_cone_and_others():
    assert in_exponential(points((0, 1, 1 + 1e-9), (1, 1, np.e + 1e-8))).tolist() == [True]
    assert in_exponential(points((0, 1, 1 - 1e-9), (1, 1, np.e))).tolist() == [False]
    assert in_exponential(points((0, -1, 5), (0, 1, 5))).tolist() == [False]
    assert in_exponential(points((0, 0, 5), (0, 0, 5))).tolist() == [False]
    assert in_exponential(points((800, 1, 5), (800, 1, 5))).tolist() == [False]


def test_the_direction_is_inside_the_cone_and_its_dual():
    assert in_exponential(Polynomials.constant(np.array([0.9 * INSIDE, INSIDE @ FROM_DUAL.T]))).all()
