"""Products of affine functions as Bernstein coefficients: where they are below 0, against many points."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.proof.bernstein import negative


def test_where_a_quadratic_is_negative():
    rng, share = np.random.default_rng(0), np.linspace(0.0, 1.0, 2001)
    weights = np.stack([(1 - share) ** 2, 2 * share * (1 - share), share**2])
    seen = set()
    for _ in range(400):
        c = rng.integers(-3, 4, 3) * 10.0 ** rng.integers(-3, 4, 3)
        found = negative(c)
        inside = np.array([any(low <= s <= high for low, high in found) for s in share])
        value = c @ weights
        clear = np.abs(value) > 1e-9 * np.abs(c).max()
        assert (inside == (value < 0.0))[clear].all()
        seen.add(len(found))
    assert seen >= {0, 1, 2}


@pytest.mark.parametrize("root", [1e-12, 1e-8, 0.3])
def test_a_root_next_to_an_end_keeps_its_digits(root):
    for unit in (1.0, 1e-250, 1e250):
        ((low, high),) = negative(unit * np.array([-root, 0.5 - root, 1.0 - root]))
        assert low == 0.0
        assert high == pytest.approx(root, rel=1e-14)
    assert negative(np.zeros(3)) == negative(np.array([np.inf, np.nan, 1.0])) == []
