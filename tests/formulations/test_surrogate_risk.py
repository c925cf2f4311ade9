"""Surrogate risks: the four losses, their conjugates, and independent minimisers of each risk."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.formulations.surrogate_risk import SurrogateRisk
from paretoclf.proof.points.losses import LOSSES
from paretoclf.proof.points.risk import judge_risk

loss_name = pytest.mark.parametrize("loss", sorted(LOSSES))
problems = given(
    seed=st.integers(0, 10**6),
    C_plus=st.floats(0.01, 10.0),
    C_minus=st.floats(0.01, 10.0),
    ridge=st.floats(0.05, 20.0),
)


def data(seed, n=30, d=3):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < rng.integers(5, n - 5), 1.0, -1.0)
    return rng.normal(size=(n, d)) + 0.6 * y[:, None], y


@problems
def test_the_hinge_risk_against_libsvm(seed, C_plus, C_minus, ridge):
    """The hinge is not smooth: the risk written by hand at LIBSVM's minimiser, and nowhere near it is it smaller."""
    X, y = data(seed)
    costs = np.where(y > 0, C_plus, C_minus)

    def risk(w, b):
        return ridge / 2 * w @ w + costs @ np.maximum(0.0, 1 - y * (X @ w + b))

    fit = SVC(kernel="linear", C=1.0 / ridge, tol=1e-10).fit(X, y, sample_weight=costs)
    solution = SurrogateRisk(X, y, loss="hinge").solve(C_plus=C_plus, C_minus=C_minus, ridge=ridge)
    assert solution.value == pytest.approx(risk(solution.classifier.w, solution.classifier.b), rel=1e-7)
    found = risk(fit.coef_[0], fit.intercept_[0])
    assert solution.value <= found * (1 + 1e-9)
    assert solution.value == pytest.approx(found, rel=1e-4)  # LIBSVM has kernel values in single precision


@problems
def test_the_hinge_risk_is_the_2c_svm_at_costs_over_ridge(seed, C_plus, C_minus, ridge):
    X, y = data(seed)
    solution = SurrogateRisk(X, y, loss="hinge").solve(C_plus=C_plus, C_minus=C_minus, ridge=ridge)
    reference = pc.TwoCSVM(X, y).solve(C_plus / ridge, C_minus / ridge)
    assert solution.certificate.passes(1e-7), solution.certificate.explain()
    assert solution.value == pytest.approx(ridge * reference.value, rel=1e-8)
    np.testing.assert_allclose(solution.classifier.w, reference.classifier.w, atol=1e-6)


@problems
def test_the_square_loss_is_a_linear_system(seed, C_plus, C_minus, ridge):
    """The system of its statement, in the multipliers; and weighed least squares in w."""
    X, y = data(seed)
    n = y.size
    costs = np.where(y > 0, C_plus, C_minus)
    system = np.block([[X @ X.T / ridge + np.diag(1 / costs), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    found = np.linalg.solve(system, np.append(y, 0.0))
    solution = SurrogateRisk(X, y, loss="square").solve(C_plus=C_plus, C_minus=C_minus, ridge=ridge)
    assert solution.source == "closed form"
    np.testing.assert_allclose(y * solution.alpha, found[:n], atol=1e-8)
    assert solution.classifier.b == pytest.approx(found[n], abs=1e-8)
    Z = np.column_stack([X, np.ones(n)]) * np.sqrt(costs)[:, None]
    rows = np.vstack([Z, np.sqrt(ridge) * np.eye(3, 4)])
    w = np.linalg.lstsq(rows, np.append(np.sqrt(costs) * y, np.zeros(3)), rcond=None)[0]
    np.testing.assert_allclose(np.append(solution.classifier.w, solution.classifier.b), w, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_the_logistic_loss_against_scikit_learn(seed):
    X, y = data(seed)
    model = LogisticRegression(C=1 / 0.7, class_weight={1: 2.0, -1: 0.3}, tol=1e-12, max_iter=10**4).fit(X, y)
    rule = SurrogateRisk(X, y, loss="logistic").solve(C_plus=2.0, C_minus=0.3, ridge=0.7).classifier
    np.testing.assert_allclose(rule.w, model.coef_[0], atol=1e-6)
    assert rule.b == pytest.approx(model.intercept_[0], abs=1e-6)


@loss_name
@given(seed=st.integers(0, 10**6), factor=st.floats(0.1, 10.0))
def test_costs_and_ridge_scale_together(loss, seed, factor):
    risk = SurrogateRisk(*data(seed), loss=loss)
    one = risk.solve(C_plus=0.8, C_minus=1.7, ridge=0.4)
    other = risk.solve(C_plus=0.8 * factor, C_minus=1.7 * factor, ridge=0.4 * factor)
    assert other.value == pytest.approx(factor * one.value, rel=1e-8)
    np.testing.assert_allclose(other.classifier.w, one.classifier.w, atol=1e-5)


@loss_name
@given(seed=st.integers(0, 10**6))
def test_a_perturbed_point_fails_and_names_the_condition(loss, seed):
    X, y = data(seed)
    risk = SurrogateRisk(X, y, loss=loss)
    solution = risk.solve(C_plus=0.8, C_minus=1.7)
    costs = risk.costs(solution.values)
    i = int(np.argmax(solution.alpha * (solution.alpha < 0.9 * costs)))
    alpha = solution.alpha.copy()
    alpha[i] *= 0.9
    for changed in (
        {"alpha": alpha, "b": solution.classifier.b},
        {"alpha": solution.alpha, "b": solution.classifier.b + 0.1},
    ):
        judged = judge_risk(risk.gram, y, costs, 1.0, risk.loss, **changed)
        assert not judged.certificate.passes()
        assert judged.certificate.dual_value <= solution.value + 1e-9
        assert judged.certificate.primal_value >= solution.value - 1e-9
        assert ("is not at its bound" if loss == "hinge" else "does not hold") in judged.certificate.explain()


def test_the_erf_programs_are_a_model_of_the_risk_and_only_at_its_minimiser():
    """Their value is the risk's at the parameters they were built for, and they follow the parameters."""
    risk = SurrogateRisk(*data(0), loss="erf")
    for C_plus in (0.5, 3.0):
        solution = risk.solve(C_plus=C_plus, C_minus=1.0)
        for name, value in solution.values.items():
            risk.parameters[name].value = value
        assert risk.primal.solve(solver="CLARABEL") == pytest.approx(solution.value, rel=1e-9)
        w = risk.primal_model.variables["w"].value
        np.testing.assert_allclose(w, solution.classifier.w, atol=1e-6)


@pytest.mark.parametrize("values", [{"C_plus": 0.0, "C_minus": 1.0}, {"C_plus": 1.0, "C_minus": 1.0, "ridge": 0.0}])
def test_bad_parameters(values):
    with pytest.raises(InputError, match="must be a finite positive number"):
        SurrogateRisk(*data(0)).solve(**values)
    with pytest.raises(InputError, match="loss must be one of square, hinge, logistic, erf, got 'log'"):
        SurrogateRisk(*data(0), loss="log")
