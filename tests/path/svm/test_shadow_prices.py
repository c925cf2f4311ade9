"""Shadow prices against slacks in exact fractions, at all intercepts that are optimal for the slope."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.path.svm.shadow_prices import ShadowPrices, prices_of


def slacks_of(scores, y, weight, b):
    """Weighted slacks, and their sums over both classes, in fractions."""
    own = [w * max(Fraction(0), 1 - s * (f + b)) for f, s, w in zip(scores, y, weight, strict=True)]
    return own, *(sum((x for x, s in zip(own, y, strict=True) if s == sign), Fraction(0)) for sign in (1, -1))


def optimal_intercepts(scores, y, weight, costs):
    """First and last of the kinks at which the sum of losses is smallest."""
    kinks = sorted(s - f for f, s in zip(scores, y, strict=True))
    losses = [np.dot(costs, slacks_of(scores, y, weight, b)[1:]) for b in kinks]
    best = [b for b, loss in zip(kinks, losses, strict=True) if loss - min(losses) < Fraction(1, 10**9)]
    return best[0], best[-1]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("costs", [(0.25, 0.25), (1.5, 0.5), (0.01, 0.02)])
def test_prices_are_sums_of_slacks(seed, costs):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, (7, 2)).astype(float), np.where(np.arange(7) < 3, 1, -1)
    weight = rng.integers(1, 4, 7).astype(float) if seed % 2 else np.ones(7)
    solution = pc.TwoCSVM(X, y, sample_weight=weight).solve(C_plus=costs[0], C_minus=costs[1])
    classifier, prices = solution.classifier, prices_of(solution, weight)
    coef = [Fraction(c) for c in np.asarray(classifier.coef).tolist()]
    K = (X @ X.T).astype(int).tolist()
    scores = [sum((k * c for k, c in zip(row, coef, strict=True)), Fraction(0)) for row in K]
    exact = [int(s) for s in y], [Fraction(w) for w in weight.tolist()]
    own, plus, minus = slacks_of(scores, *exact, Fraction(float(classifier.b)))
    assert prices.samples == pytest.approx([float(x) for x in own], abs=1e-9)
    assert (prices.C_plus, prices.C_minus) == pytest.approx((float(plus), float(minus)), abs=1e-9)
    low, high = optimal_intercepts(scores, *exact, [Fraction(c) for c in costs])
    for end, b in zip(prices.ends, (low, high), strict=True):
        assert end == pytest.approx([float(x) for x in slacks_of(scores, *exact, b)[1:]], abs=1e-7)
    assert prices.unique is (high - low < Fraction(1, 10**7))


def test_samples_are_kept_when_the_given_ones_change():
    given = np.ones(2)
    prices = ShadowPrices(0.0, 0.0, ((0.0, 0.0), (0.0, 0.0)), given)
    given[0] = 5.0
    assert prices.samples.tolist() == [1.0, 1.0]


def test_where_a_class_has_no_cost_the_ends_are_infinite():
    solution = pc.TwoCSVM([[0.0], [2.0]], [-1, 1]).solve(C_plus=1.0, C_minus=0.0)
    prices = prices_of(solution, np.ones(2))
    assert not np.isfinite(prices.ends).all()
    assert not prices.unique


@pytest.mark.parametrize(
    ("ends", "answer"),
    [
        (((1.0, 2.0), (1.0, 2.0)), True),
        (((1.0, 2.0), (1.0, 2.0 + 1e-9)), False),
        (((2.0 + 1e-9, 1.0), (2.0, 1.0)), False),
        (((1.0, 2.0), (1.0 + 1e-6, 2.0 - 1e-6)), False),
        (((100.0, 200.0), (100.0 + 2e-8, 200.0)), True),
        (((100.0, 200.0), (100.0 + 4e-8, 200.0)), False),
        (((0.0, 0.0), (100.0, 0.0)), False),
        (((1e-3, 0.0), (1e-3 + 0.9e-10, 0.0)), True),
        (((1e-3, 0.0), (1e-3 + 1.2e-10, 0.0)), False),
        (((0.0, np.inf), (0.0, np.inf)), False),
        (((0.0, 1.0), (np.inf, 0.0)), False),
    ],
)
def test_unique_prices_are_equal_up_to_rounding(ends, answer):
    assert ShadowPrices(0.0, 0.0, ends, np.zeros(2)).unique is answer
