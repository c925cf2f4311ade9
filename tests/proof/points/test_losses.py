"""Tests of `paretoclf.proof.points.losses`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit

from paretoclf.formulations.surrogate_risk import SurrogateRisk
from paretoclf.proof.points.losses import LOSSES
from tests.formulations.test_surrogate_risk import data, loss_name, problems

BY_HAND = {
    "square": lambda u: 0.5 * (u - 1) ** 2,
    "hinge": lambda u: max(0.0, 1 - u),
    "logistic": lambda u: np.log1p(np.exp(-u)),
    # E (Z - u)+ for a standard normal Z, by quadrature.
    "erf": lambda u: quad(lambda z: (z - u) * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi), u, u + 40, epsabs=1e-14)[0],
}


@loss_name
@pytest.mark.parametrize("u", [-4.0, -0.3, 0.0, 0.9, 2.5, 6.5])
def test_losses_and_derivatives(loss, u):
    phi = LOSSES[loss]

    def at(v):
        return float(phi.value(np.array([v]))[0])

    assert at(u) == pytest.approx(BY_HAND[loss](u), rel=1e-10, abs=1e-14)
    h = 1e-5
    assert float(phi.slope(np.array([u]))[0]) == pytest.approx((at(u + h) - at(u - h)) / (2 * h), abs=1e-8)
    if loss != "hinge":
        second = (at(u + 1e-4) - 2 * at(u) + at(u - 1e-4)) / 1e-8
        assert float(phi.curvature(np.array([u]))[0]) == pytest.approx(second, abs=1e-6)


@loss_name
@pytest.mark.parametrize("p", [0.02, 0.3, 0.5, 0.97])
def test_conjugates_by_maximisation(loss, p):
    phi = LOSSES[loss]
    found = minimize_scalar(lambda u: p * u + BY_HAND[loss](u), bounds=(-12, 12), method="bounded")
    assert float(phi.conjugate(np.array([p]))[0]) == pytest.approx(-found.fun, abs=1e-5)
    # Fenchel and Young: equality where -p is the slope.
    if loss in ("logistic", "erf"):
        u = minimize_scalar(lambda v: (float(phi.slope(np.array([v]))[0]) + p) ** 2, bounds=(-6, 6), method="bounded").x
        value = float(phi.value(np.array([u]))[0])
        assert float(phi.conjugate(np.array([p]))[0]) == pytest.approx(-p * u - value, abs=1e-9)


def test_the_erf_loss_approximates_the_scaled_logistic_loss_only():
    """Erratum eB11: not log(1 + e^-u) (off by 0.294), nor "tightly" log(1 + e^-2u) / 2 (0.052).

    With k = 1.78 in place of 2 it is 0.0095, with 1.776 it is 0.0087.
    """
    u = np.linspace(-30, 30, 60001)
    erf = LOSSES["erf"].value(u)
    off = {k: np.abs(erf - np.logaddexp(0, -k * u) / k).max() for k in (1.0, 2.0, 1.702, 1.776, 1.78)}
    assert off == pytest.approx({1.0: 0.294, 2.0: 0.0523, 1.702: 0.0156, 1.776: 0.0087, 1.78: 0.0095}, abs=3e-4)


@pytest.mark.parametrize("loss", sorted(set(LOSSES) - {"hinge"}))
@problems
def test_against_a_general_minimiser(loss, seed, C_plus, C_minus, ridge):
    """BFGS on the risk written by hand."""
    X, y = data(seed)
    costs = np.where(y > 0, C_plus, C_minus)
    phi = {
        "square": (lambda u: 0.5 * (u - 1) ** 2, lambda u: u - 1),
        "logistic": (lambda u: np.logaddexp(0, -u), lambda u: -expit(-u)),
        "erf": (LOSSES["erf"].value, LOSSES["erf"].slope),  # checked by quadrature above
    }[loss]

    def risk(t):
        u = y * (X @ t[:3] + t[3])
        gradient = X.T @ (y * costs * phi[1](u)) + ridge * t[:3]
        value = ridge / 2 * t[:3] @ t[:3] + costs @ phi[0](u)
        return value, np.append(gradient, y @ (costs * phi[1](u)))

    found = minimize(risk, np.zeros(4), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 2000})
    solution = SurrogateRisk(X, y, loss=loss).solve(C_plus=C_plus, C_minus=C_minus, ridge=ridge)
    assert solution.certificate.passes(1e-10), solution.certificate.explain()
    assert solution.value <= found.fun + 1e-10
    assert solution.value == pytest.approx(found.fun, rel=1e-7)
