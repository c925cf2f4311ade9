"""Populations for the tests, and references that share no code with the package."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtr
from scipy.stats import multivariate_normal

from paretoclf.distributions.population import Mixture, Population

PHI = {
    "square": lambda u: 0.5 * (u - 1) ** 2,
    "erf": lambda u: u * ndtr(u) - u + np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi),
    "hinge": lambda u: np.maximum(0.0, 1 - u),
    "logistic": lambda u: np.logaddexp(0, -u),
    "probit": lambda u: -log_ndtr(u),
}


def pair(prior_plus=0.4):
    """Two Gaussians with A = 0 at 0 and A > 0 at 1."""
    return Population(Mixture([1.4, 0.0], [[2.0, 0.5], [0.5, 1.0]]), Mixture([-1.0, 0.0], 2 * np.eye(2)), prior_plus)


def mixtures(prior_plus=0.3):
    """Three components against two, no symmetry."""
    positives = Mixture(
        [[1.0, 1.0], [1.5, 0.0], [0.0, -1.0]],
        [0.8 * np.eye(2), np.diag([2.5, 0.5]), [[1.0, 0.5], [0.5, 2.0]]],
        [0.3, 0.5, 0.2],
    )
    negatives = Mixture([[-1.0, 0.0], [0.0, -2.0]], [np.eye(2), np.diag([2.0, 0.5])], [0.3, 0.7])
    return Population(positives, negatives, prior_plus)


def with_regime(A, prior_plus=0.5):
    """Two Gaussians with a given A at 0: the negatives are N(0, I), the positives stand at (1, 0)."""
    variance = 1.0 / (1.0 - A)
    return Population(Mixture([1.0, 0.0], [[variance, 0.0], [0.0, 1.5]]), Mixture([0.0, 0.0], np.eye(2)), prior_plus)


class Grid:
    """The expected loss of a population in two dimensions, by a sum over a fine grid."""

    def __init__(self, population, n=221, reach=13.0):
        axis = np.linspace(-reach, reach, n)
        self.points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
        cell = (axis[1] - axis[0]) ** 2
        self.shares = [
            cell
            * sum(
                weight * multivariate_normal(mean, S).pdf(self.points)
                for weight, mean, S in zip(m.weights, m.means, m.covariances, strict=True)
            )
            for m in (population.positives, population.negatives)
        ]
        self.prior = population.prior_plus

    def risk(self, loss, asymmetry, w, b):
        f = self.points @ w + b
        plus, minus = PHI[loss](f) @ self.shares[0], PHI[loss](-f) @ self.shares[1]
        return asymmetry * self.prior * plus + (1 - asymmetry) * (1 - self.prior) * minus


def slope(small, remainders):
    """Order of remainders in a small parameter: slope of a line through their logarithms."""
    return float(np.polyfit(np.log(small), np.log(np.abs(remainders)), 1)[0])
