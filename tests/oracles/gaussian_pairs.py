"""Pairs of Gaussian classes for the tests, and references that share no code with the package."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq

from paretoclf.distributions.gaussian.moments import Moments


def covariance(rng, d, condition):
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    S = Q @ np.diag(np.logspace(0, np.log10(condition), d)) @ Q.T
    return 0.5 * (S + S.T)


def random_pair(d, seed=0, condition=100.0):
    """Return mu_plus, Sigma_plus, mu_minus, Sigma_minus."""
    rng = np.random.default_rng(seed)
    S = [covariance(rng, d, condition) for _ in range(2)]
    return rng.normal(size=d) + 1.0, S[0], rng.normal(size=d), S[1]


def random_moments(d, seed=0, condition=100.0):
    return Moments.from_covariances(*random_pair(d, seed, condition))


# Spec fixture: Sigma_plus = diag(1, 4), Sigma_minus = ((2, .5), (.5, 1)), delta = (1, 1).
FIXTURE = (np.array([1.0, 1.0]), np.diag([1.0, 4.0]), np.zeros(2), np.array([[2.0, 0.5], [0.5, 1.0]]))

#: (t; u_minus, u_plus, lam) of the fixture.
FIXTURE_POINTS = [
    (0.5, 0.3820000079, 0.6160200153, 0.6201097342),
    (1.0, 0.5163236004, 0.4560550524, 1.1321519137),
    (3.0, 0.7058823529, 0.2630668209, 2.6832815730),
]


class Pencil:
    """The whole curve by one generalised eigendecomposition (scipy), as in Anderson & Bahadur (1962)."""

    def __init__(self, mu_plus, Sigma_plus, mu_minus, Sigma_minus):
        self.ell, self.W = eigh(Sigma_minus, Sigma_plus)
        self.c = self.W.T @ (np.asarray(mu_plus) - mu_minus)

    def at(self, t):
        """Slope (Sigma_plus + t Sigma_minus)^-1 delta and (u_minus, u_plus)."""
        y = self.c / (1 + t * self.ell)
        return self.W @ y, (t * np.sqrt(self.ell @ y**2), np.sqrt(y @ y))

    def of_weight(self, lam):
        """The t at which u_minus / u_plus is lam."""

        def miss(s):
            u_minus, u_plus = self.at(np.exp(s))[1]
            return np.log(u_minus / u_plus / lam)

        ends = np.log(lam) - 0.5 * np.log([self.ell[-1] * 1.1, self.ell[0] / 1.1])
        return float(np.exp(brentq(miss, *ends, xtol=1e-15, rtol=1e-15)))

    def of_u_plus(self, u_plus):
        """The t at which the positives' distance is u_plus."""
        return float(np.exp(brentq(lambda s: self.at(np.exp(s))[1][1] - u_plus, -60, 60, xtol=1e-15, rtol=1e-15)))
