"""Several kernels, as section 5 of Bach et al. (2006) leaves them: `examples/papers/bach2006_kernels.py`."""

from __future__ import annotations

import numpy as np
import pytest

import paretoclf as pc
from examples.papers import bach2006_kernels as paper


def test_no_other_weights_have_a_smaller_value():
    """Against brute force: the 2C-SVM solved at all weights on a grid of the simplex."""
    features, y = paper.samples(40)
    costs = 0.3, 0.2
    best = paper.best_weights(features, y, *costs)
    assert best.of.min() > -1e-7
    assert best.of.sum() == pytest.approx(1.0, abs=1e-6)

    def value(weights: np.ndarray) -> float:
        X = np.hstack([np.sqrt(d) * F for d, F in zip(weights, features, strict=True)])
        return float(pc.TwoCSVM(X, y).solve(*costs).value)

    assert value(np.maximum(best.of, 0)) == pytest.approx(best.value, rel=1e-6)
    steps = [(i / 6, j / 6, (6 - i - j) / 6) for i in range(7) for j in range(7 - i)]
    values = [value(np.array(weights)) for weights in steps]
    assert min(values) >= best.value * (1 - 1e-8)
    assert max(values) > 1.01 * best.value


def test_the_path_touches_the_best_value_where_its_weights_were_found():
    found = paper.main(60)
    here, value = found[0.5]
    assert value == pytest.approx(here.value, rel=1e-6)
    for here, value in found.values():
        assert value >= here.value * (1 - 1e-7)
