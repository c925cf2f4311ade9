"""Every formulation on the data of its paper: wdbc and generated data always, others where PARETOCLF_DATA has them."""

from __future__ import annotations

import os

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.errors import InseparableError

FOLDER = os.environ.get("PARETOCLF_DATA")
there = pytest.mark.skipif(not FOLDER, reason="PARETOCLF_DATA is not set")
NAMES = [
    *("wdbc", "twonorm", "ringnorm", "bimodal"),
    *(pytest.param(name, marks=there) for name in ("sonar", "ionosphere", "pima", "bupa")),
]
#: Carrizosa and Martin-Barragan's C, from their figures 6 to 10.
CARRIZOSA = {"bupa": 0.03125, "ionosphere": 2.0, "pima": 0.03125, "sonar": 0.5, "wdbc": 2.0}


def data(name):
    some = {"n": 300} if name in ("twonorm", "ringnorm", "bimodal") else {"data_dir": FOLDER}
    found = pc.datasets.load(name, **some)
    spread = found.X.std(axis=0)  # a constant column stays one: 0 after centring
    return (found.X - found.X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), found.y


def certified(solutions, tol=1e-8):
    for solution in solutions:
        assert solution.certificate.passes(tol), solution.certificate.explain()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("name", NAMES)
def test_two_nu_svm(name, kernel):
    X, y = data(name)
    svm = pc.TwoNuSVM(X, y, None if kernel == "linear" else pc.RBF.median(X))
    shares = (0.9, 0.6, 0.3)
    for solution in pc.sweep(svm, nu_plus=shares, nu_minus=shares[::-1], progress=False):
        assert solution.certificate.passes(), solution.certificate.explain()
        if solution.costs is None:
            assert "trivial" in solution.status
            continue
        # Theorem 2, judged by the certificate of the other problem.
        rho, b = solution.numbers["rho"], solution.classifier.b
        caps = np.where(y > 0, *solution.costs)
        matrix = {"X": X} if kernel == "linear" else {"K": svm.gram.matrix}
        assert pc.certify(y, caps, solution.alpha / rho, b / rho, **matrix).passes(1e-7)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_quantile_svm(name, bias):
    X, y = data(name)
    svm = pc.QuantileSVM(X, y, bias=bias)
    certified(pc.sweep(svm, tau=[0.0, 0.1, 0.5, 0.9, 1.0], lam=0.01, progress=False))


@pytest.mark.parametrize("name", NAMES)
def test_biobjective_margin(name):
    X, y = data(name)
    soft = pc.BiobjectiveMargin(X, y)
    C = CARRIZOSA.get(name, 1.0)
    pareto = soft.pareto_set(C_plus=C, C_minus=C)
    for solution in pc.sweep(soft, theta=[0.2, 1.0, 5.0], C_plus=C, C_minus=C, progress=False):
        theta = solution.values["theta"]
        assert solution.certificate.passes(), solution.certificate.explain()
        assert np.linalg.norm(solution.classifier.w - pareto.classifier(theta).w) < 1e-6
        assert solution.classifier.b == pytest.approx(pareto.intercept(theta), abs=1e-6)
    hard = pc.BiobjectiveMargin(X, y, soft=False)
    if hard.separation.separable:
        certified([hard.solve(theta=2.0)], 1e-6)
    else:
        with pytest.raises(InseparableError) as error:
            hard.solve(theta=2.0)
        plus, minus = error.value.weights_plus, error.value.weights_minus
        np.testing.assert_allclose(X.T @ plus, X.T @ minus, atol=1e-8)


@pytest.mark.parametrize("loss", ["square", "hinge", "logistic", "erf"])
@pytest.mark.parametrize("name", NAMES)
def test_surrogate_risk(name, loss):
    X, y = data(name)
    risk = pc.SurrogateRisk(X, y, loss=loss)
    certified(risk.solve(C_plus=c, C_minus=1.0, ridge=1.0) for c in (0.1, 3.0))
