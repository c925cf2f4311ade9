"""The one-tailed signed-rank test: SciPy without ties, all signs tried with them."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata, wilcoxon

import paretoclf as pc
from examples.papers.comparisons import signed_rank_greater
from paretoclf.roc.counts import exact_costs, exact_weights


def tried(d):
    """p by trying all signs of the differences that are not zero."""
    d = d[d != 0]
    ranks = rankdata(np.abs(d))
    seen = ranks[d > 0].sum()
    return np.mean([ranks[np.array(signs, dtype=bool)].sum() >= seen for signs in product((0, 1), repeat=d.size)])


@pytest.mark.parametrize("n", [1, 2, 7, 10, 40])
def test_without_ties_it_is_that_of_scipy(n):
    d = np.random.default_rng(n).normal(0.3, 1.0, size=(20, n))
    expected = [wilcoxon(each, alternative="greater", method="exact").pvalue for each in d]
    assert signed_rank_greater(d) == pytest.approx(expected, abs=1e-12)


def test_with_ties_and_zeros_all_signs_are_equally_likely():
    d = np.random.default_rng(0).integers(-2, 4, size=(40, 8)).astype(float)
    d[0] = 0.0
    assert signed_rank_greater(d) == pytest.approx([tried(each) for each in d], abs=1e-12)


def test_of_ten_differences_negative_ranks_of_ten_in_sum_are_significant():
    sizes = np.arange(1.0, 11.0)
    ten, eleven = sizes.copy(), sizes.copy()
    ten[[9]] *= -1
    eleven[[9, 0]] *= -1
    assert signed_rank_greater(ten) == pytest.approx(43 / 1024)
    assert signed_rank_greater(eleven) == pytest.approx(54 / 1024)


@pytest.mark.parametrize("d", [[], [np.nan], np.zeros((2, 2, 2)), np.zeros(201)])
def test_what_is_no_sample_of_differences_is_refused(d):
    with pytest.raises(pc.InputError, match="differences must be 1 to 200 finite numbers"):
        signed_rank_greater(d)


def exactly(d):
    """p of one sample of fractions, by counting all sums of ranks with whole numbers."""
    sizes = sorted(abs(x) for x in d if x)
    doubled = {x: 2 * sizes.index(x) + 1 + sizes.count(x) for x in set(sizes)}
    ways = {0: 1}
    for x in (abs(x) for x in d if x):
        more = dict(ways)
        for total, count in ways.items():
            more[total + doubled[x]] = more.get(total + doubled[x], 0) + count
        ways = more
    seen = sum(doubled[x] for x in d if x > 0)
    return Fraction(sum(count for total, count in ways.items() if total >= seen), 2 ** len(sizes))


def test_costs_of_counts_against_fractions():
    """Ten folds of nearly one size, an asymmetry of four digits: 3000 studies at random."""
    rng = np.random.default_rng(0)
    whole, rounded, exact = [], [], []
    for _ in range(3000):
        thousandths = int(rng.integers(1, 2000))
        g, sizes = thousandths / 2000, rng.integers(20, 22, size=10)
        counts = rng.integers(0, 6, size=(2, 1, 10, 2))
        one, two = (exact_costs(exact_weights(np.array([g])), each, sizes)[0] for each in counts)
        whole.append(one - two)
        one, two = (2 * (g * each[0, :, 1] + (1 - g) * each[0, :, 0]) / sizes for each in counts)
        rounded.append(one - two)
        share = Fraction(thousandths, 2000)
        exact.append([
            2 * (share * int(a[1] - b[1]) + (1 - share) * int(a[0] - b[0])) / int(n)
            for a, b, n in zip(*counts[:, 0], sizes, strict=True)
        ])  # fmt: skip
    p, other = signed_rank_greater(whole), signed_rank_greater(rounded)
    assert [Fraction(each) for each in p.tolist()] == [exactly(d) for d in exact]
    assert np.count_nonzero(other != p) > 300  # what differences of rounded costs would say
    assert np.count_nonzero((other <= 0.05) != (p <= 0.05)) > 5


def test_fractions_and_whole_numbers_of_any_size():
    third = Fraction(1, 3)
    d = np.array([third, -third, third, 2 * third, 5 * third], dtype=object)
    assert signed_rank_greater(d) == float(exactly(d.tolist()))
    assert signed_rank_greater(10**40 * np.array([1, -1, 1, 2, 5], dtype=object)) == signed_rank_greater(d)
    with pytest.raises(pc.InputError, match="differences"):
        signed_rank_greater(np.array([1, None], dtype=object))
