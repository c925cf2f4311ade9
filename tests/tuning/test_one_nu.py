"""Tests of `paretoclf.tuning.one_nu`."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.tuning import ExpectedCost, Minimax, NeymanPearson
from paretoclf.tuning.one_nu import best_shift


def test_the_best_shift_against_all_thresholds():
    rng = np.random.default_rng(0)
    for criterion in (Minimax(), NeymanPearson(0.2), ExpectedCost(1, 3, 0.5)):
        for _ in range(20):
            y = np.where(rng.random(30) < 0.5, 1.0, -1.0)
            scores = np.round(rng.normal(size=30) + y, 1)  # with ties
            shift, fp, fn = best_shift(scores, y, criterion)
            positive = scores + shift >= 0
            assert (fp, fn) == ((positive & (y < 0)).sum(), (~positive & (y > 0)).sum())
            n_minus, n_plus = (y < 0).sum(), (y > 0).sum()
            every = []
            for threshold in [*np.unique(scores), np.inf]:
                positive = scores >= threshold
                every.append(criterion((positive & (y < 0)).sum() / n_minus, (~positive & (y > 0)).sum() / n_plus))
            assert criterion(fp / n_minus, fn / n_plus) == pytest.approx(min(every))
