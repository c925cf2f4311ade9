"""Decision functions: what their scores are where products do not fit into a number."""

from __future__ import annotations

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.problem.classifiers import LinearRule


@pytest.mark.parametrize("x", [[2.0, 3.0], [1.0, 1.5, 1.5], [2.0, 1.0]])
def test_a_sum_that_passes_the_largest_number_has_no_sign(x):
    """The second sum is -1e308, and infinite from its first two terms on; the first is inf - inf, no number at all."""
    sign = np.where(np.arange(len(x)) == 0, 1.0, -1.0)
    rule = LinearRule(1e308 * sign * np.where(np.array(x) > 1.0, 1.0, 1.7), 0.0)
    for ask in (rule.decision_function, rule.predict):
        with pytest.raises(pc.InputError, match=r"X must have finite scores, got .* in row 1: its products with w"):
            ask([np.zeros(len(x)), np.array(x) * 4.0])


def test_scores_that_fit_are_what_they_were():
    rule = LinearRule([1e308, -1e308], -1.0)
    assert rule.decision_function([[1.0, 0.5], [0.0, 0.0]]).tolist() == [5e307, -1.0]
    assert LinearRule([1.0], np.inf).predict([[-3.0]]).tolist() == [1.0]  # a rule that labels all alike
