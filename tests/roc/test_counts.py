"""Rates of counts, and the best of classifiers, against enumeration in fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import auc

from paretoclf.common.errors import InputError
from paretoclf.problem.costs import Costs
from paretoclf.roc.counts import (
    Choosing,
    CountedErrors,
    area_of_counts,
    exact_costs,
    exact_weights,
    objective_of,
    require_both,
    smallest,
)
from paretoclf.roc.criteria import Minimax, NeymanPearson


class Counted(CountedErrors):
    """Counts that return the mask of the best and the minimum."""

    def __init__(self, fp, fn, n_plus=12, n_minus=10):
        self.false_positives, self.false_negatives = np.array(fp), np.array(fn)
        self.n_plus, self.n_minus = n_plus, n_minus

    def _optima(self, objective):
        return smallest(self.false_positives, self.false_negatives, objective)

    def _places(self):
        return ({"place": 10 * j} for j in range(len(self.false_positives)))


def best(fp, fn, objective):
    """Enumerate all pairs: the smallest, without those that another pair dominates."""
    pairs = list(zip(fp.tolist(), fn.tolist(), strict=True))
    kept = [
        pair
        for pair in pairs
        if not any(other != pair and other[0] <= pair[0] and other[1] <= pair[1] for other in pairs)
    ]
    least = min(objective(*pair) for pair in kept)
    return [pair in kept and objective(*pair) == least for pair in pairs], least[1]


@pytest.fixture(params=range(12))
def counts(request):
    rng = np.random.default_rng(request.param)
    return Counted(rng.integers(0, 11, size=15), rng.integers(0, 13, size=15))


def agree(found, counts, objective):
    mask, least = best(counts.false_positives, counts.false_negatives, objective)
    assert found[0].tolist() == mask
    assert found[1] == least


class TestBest:
    def test_of_costs(self, counts):
        for costs, prior in (((1, 1), None), ((3, 1), 0.3), ((0, 1), None), ((1, 0), 0.5), (Costs(0.1, 0.7), 0.1)):
            share = Fraction(12, 22) if prior is None else Fraction(str(prior))
            miss, alarm = (Fraction(str(cost)) for cost in costs)
            agree(
                counts.best(costs, prior),
                counts,
                lambda fp, fn, a=share * miss / 12, b=(1 - share) * alarm / 10: (False, a * fn + b * fp),
            )

    def test_of_criteria(self, counts):
        agree(counts.minimax(), counts, lambda fp, fn: (False, max(Fraction(fp, 10), Fraction(fn, 12))))
        agree(counts.best(Minimax()), counts, lambda fp, fn: (False, max(Fraction(fp, 10), Fraction(fn, 12))))

    def test_of_a_constraint(self, counts):
        fewest = counts.false_positives.min()
        for most in sorted({fewest, 3, 7, 10}):
            if most >= fewest:
                found = counts.neyman_pearson(most / 10)
                agree(found, counts, lambda fp, fn, most=most: (fp > most, Fraction(fn, 12)))
        if fewest:
            with pytest.raises(InputError, match=f"at least {fewest / 10:g}, the smallest"):
                counts.neyman_pearson(fewest / 10 - 0.05)

    def test_a_rate_at_the_bound_is_allowed(self):
        counts = Counted([3, 2], [1, 5], 10, 30)
        assert counts.neyman_pearson(0.1)[0].tolist() == [True, False]
        assert counts.neyman_pearson(0.09)[0].tolist() == [False, True]

    def test_what_is_dominated_is_not_best(self):
        counts = Counted([2, 2, 2, 5], [4, 3, 3, 3])
        assert counts.best((1, 0))[0].tolist() == [False, True, True, False]
        assert counts.best((0, 1))[0].tolist() == [False, True, True, False]

    @pytest.mark.parametrize("most", [-0.1, 1.1, math.nan])
    def test_no_rate(self, most):
        with pytest.raises(InputError, match="max_fpr must"):
            Counted([0], [1]).neyman_pearson(most)

    def test_a_curve_from_no_errors_has_no_smallest_rate(self):
        curve = Choosing()
        curve.n_plus, curve.n_minus = 3, 4
        with pytest.raises(NotImplementedError):
            curve.neyman_pearson(0.0)


class TestObjective:
    @pytest.mark.parametrize("prior", [-0.1, 1.1, math.nan])
    def test_no_prior(self, prior):
        with pytest.raises(InputError, match="prior_plus must"):
            objective_of((1, 1), prior, 3, 4)

    @pytest.mark.parametrize(("costs", "prior"), [((0, 0), None), ((1, 0), 0.0), ((0, 1), 1.0)])
    def test_nothing_costs(self, costs, prior):
        with pytest.raises(InputError, match="must not both be zero"):
            objective_of(costs, prior, 3, 4)

    def test_a_prior_belongs_to_costs(self):
        with pytest.raises(InputError, match="left out for"):
            objective_of(NeymanPearson(0.1), 0.5, 3, 4)
        with pytest.raises(InputError, match="criterion must be a pair"):
            objective_of(1.0, None, 3, 4)

    def test_of_rates(self):
        assert objective_of(NeymanPearson(0.5), None, 3, 4)(2, 1) == (False, Fraction(1, 3))
        own = SimpleNamespace(score=lambda p, m: p, __call__=None)
        assert callable(objective_of(own, None, 3, 4))


def test_rates_and_rows():
    counts = Counted([0, 5], [12, 3])
    np.testing.assert_array_equal(counts.fpr, [0.0, 0.5])
    np.testing.assert_array_equal(counts.fnr, [1.0, 0.25])
    first, second = counts._rows()
    assert first == {"place": 0, "false_positives": 0, "false_negatives": 12, "fpr": 0.0, "fnr": 1.0}
    assert second == {"place": 10, "false_positives": 5, "false_negatives": 3, "fpr": 0.5, "fnr": 0.25}


def test_both_classes():
    require_both(1, 1)
    for given, name in (((0, 1), "n_plus"), ((1, 0), "n_minus")):
        with pytest.raises(InputError, match=f"{name} must be at least 1, got 0"):
            require_both(*given)


def test_the_area_is_that_of_trapezoids():
    rng = np.random.default_rng(0)
    for _ in range(20):
        fp, tp = (np.concatenate([[0], np.sort(rng.integers(0, n + 1, size=6)), [n]]) for n in (9, 7))
        assert area_of_counts(fp, tp, 7, 9) == pytest.approx(auc(fp / 9, tp / 7), rel=1e-14)
        assert area_of_counts(fp[::-1], tp[::-1], 7, 9) == -area_of_counts(fp, tp, 7, 9)


def test_costs_in_whole_numbers():
    asymmetries = np.array([0.1 + 0.2, 1 / 3, 0.0, 1.0])
    v, unit = exact_weights(asymmetries)
    assert unit == 30
    assert [Fraction(each, unit) for each in v] == [Fraction(3, 10), Fraction(1, 3), 0, 1]
    rng = np.random.default_rng(1)
    counts, sizes = rng.integers(0, 9, size=(4, 5, 3, 2)), np.array([4, 6, 10])
    plain, means = exact_costs((v, unit), counts), exact_costs((v, unit), counts, sizes)
    for place in np.ndindex(plain.shape):
        fp, fn = counts[place].tolist()
        cost = v[place[0]] * fn + (unit - v[place[0]]) * fp
        assert plain[place] == cost
        assert means[place] == 60 * Fraction(cost, int(sizes[place[2]]))
    alone = exact_costs((v, unit), counts[:, 0, 0])
    np.testing.assert_array_equal(alone, plain[:, 0, 0])
