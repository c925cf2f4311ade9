"""The one-tailed signed-rank test: SciPy without ties, all signs tried with them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata, wilcoxon

import paretoclf as pc
from paretoclf.empirical import signed_rank_greater


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
