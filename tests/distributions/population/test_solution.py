"""Tests of `paretoclf.distributions.population.solution`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from paretoclf.distributions.population import (
    hinge_thresholds,
    population_solution,
)
from paretoclf.distributions.population.solution import solution_at
from tests.oracles.populations import mixtures, pair


@pytest.mark.parametrize("make", [pair, mixtures])
def test_below_the_threshold_no_slope_lowers_the_risk_of_the_hinge(
    make,
):
    population = make()
    for end, threshold in zip((-1, 1), hinge_thresholds(population), strict=True):
        inside, outside = (solution_at(population, threshold + end * e, "hinge") for e in (-0.05, 0.05))
        assert not outside.w.any()
        assert outside.b == end
        assert inside.w.any()
        assert np.isnan(outside.testing_asymmetry)
        # Independent: the risk along many small slopes, each with many intercepts.
        rng = np.random.default_rng(0)
        for at, better in ((inside, True), (outside, False)):
            gamma = at.asymmetry
            trivial = population_solution(population, gamma, "hinge").risk if not better else None
            constant = 2 * min(gamma * population.prior_plus, (1 - gamma) * (1 - population.prior_plus))
            if better:
                assert at.risk < constant
            else:
                assert trivial == pytest.approx(constant)
                for _ in range(200):
                    w = rng.normal(size=2) * 10 ** rng.uniform(-3, 1)
                    b = end + rng.normal() * np.linalg.norm(w) * 3
                    parts = [
                        gamma * population.prior_plus * mean_hinge(population.positives, w, b),
                        (1 - gamma) * (1 - population.prior_plus) * mean_hinge(population.negatives, -w, -b),
                    ]
                    assert sum(parts) >= constant - 1e-12


def mean_hinge(mixture, w, b):
    s = mixture.means @ w + b
    sigma = np.sqrt(np.einsum("a,iab,b->i", w, mixture.covariances, w))
    z = (1 - s) / sigma
    return float(mixture.weights @ ((1 - s) * norm.cdf(z) + sigma * norm.pdf(z)))
