"""The judge of a regularised risk: against objectives summed sample by sample, and optima of CVXPY."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.tolerances import SLACK_ROUNDING
from paretoclf.proof.points.losses import LOSSES
from paretoclf.proof.points.risk import judge_risk

NAMES = pytest.mark.parametrize("name", sorted(LOSSES))
SMOOTH = pytest.mark.parametrize("name", sorted(set(LOSSES) - {"hinge"}))


class Risk:
    """Multipliers, an intercept and maybe a slope that are not optimal."""

    def __init__(self, seed: int, name: str, kernel=None, inside: bool = True) -> None:
        rng = np.random.default_rng(seed)
        n = 8
        self.y = np.where(np.arange(n) < 3, 1.0, -1.0)
        self.X = rng.normal(size=(n, 2)) + 0.5 * self.y[:, None]
        self.costs, self.ridge, self.b = rng.random(n) + 0.5, float(rng.choice([0.5, 2.0])), float(rng.normal())
        self.loss, self.gram = LOSSES[name], pc.Gram(self.X, kernel)
        self.K = np.array([[float(self.gram.matrix[i, j]) for j in range(n)] for i in range(n)])
        shares = rng.random(n) if inside else 2.0 * rng.random(n) - 0.5
        self.alpha = shares * self.costs
        self.w = rng.normal(size=2)

    def judged(self, **named):
        return judge_risk(self.gram, self.y, self.costs, self.ridge, self.loss, self.alpha, self.b, **named)

    def feasible(self):
        """Multipliers in the range of the loss, and in balance."""
        if not np.isfinite(self.loss.low):
            return self.alpha - self.y * (self.y @ self.alpha) / self.y.size
        alpha = np.clip(self.alpha, self.loss.low * self.costs, self.loss.high * self.costs)
        up, down = alpha[self.y > 0].sum(), alpha[self.y < 0].sum()
        return alpha * np.where(self.y > 0, min(1.0, down / up), min(1.0, up / down))


@NAMES
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["linear", "stored", "rbf"])
@pytest.mark.parametrize("inside", [True, False])
def test_values_are_the_two_objectives(seed, name, kind, inside):
    risk = Risk(seed, name, pc.RBF(1.0) if kind == "rbf" else None, inside)
    certificate = risk.judged(w=risk.w if kind == "stored" else None).certificate
    coef = risk.y * risk.alpha / risk.ridge
    scores, norm2 = risk.K @ coef, coef @ risk.K @ coef
    if kind == "stored":
        scores, norm2 = risk.X @ risk.w, risk.w @ risk.w
    u = risk.y * (scores + risk.b)
    primal = 0.5 * risk.ridge * norm2 + sum(
        c * float(risk.loss.value(np.array(v))) for c, v in zip(risk.costs, u, strict=True)
    )
    made = risk.feasible()
    own = risk.y * made
    dual = -sum(c * float(risk.loss.conjugate(np.array(a / c))) for c, a in zip(risk.costs, made, strict=True))
    dual -= 0.5 * own @ risk.K @ own / risk.ridge
    assert certificate.primal_value == pytest.approx(primal, rel=1e-12)
    assert certificate.dual_value == pytest.approx(dual, rel=1e-11, abs=1e-12)
    assert certificate.primal_value >= certificate.dual_value


@SMOOTH
@pytest.mark.parametrize("seed", range(4))
def test_conditions_are_those_of_each_sample(seed, name):
    risk = Risk(seed, name)
    judged = risk.judged(w=risk.w)
    u = risk.y * (risk.X @ risk.w + risk.b)
    residuals = judged.certificate.dual
    gradient = np.abs(risk.alpha / risk.costs + risk.loss.slope(u)) / (1.0 + np.abs(u))
    assert residuals["gradient"] == pytest.approx(gradient.max(), rel=1e-12)
    sums = [risk.costs[risk.y == side].sum() for side in (1.0, -1.0)]
    unit = min(sums) if np.isfinite(risk.loss.low) else max(risk.costs.sum(), np.abs(risk.alpha).sum())
    assert residuals["balance"] == pytest.approx(abs(risk.y @ risk.alpha) / unit, rel=1e-12)
    assert residuals["stationarity in w"] > 1e-3
    np.testing.assert_allclose(judged.numbers["u"], u, rtol=1e-12)
    assert risk.judged().certificate.dual["stationarity in w"] == 0.0
    rounding = SLACK_ROUNDING * (1.0 + np.abs(u) + abs(risk.b))
    steep = np.maximum(np.abs(risk.loss.slope(u - rounding)), np.abs(risk.loss.slope(u + rounding)))
    assert judged.certificate.rounding == pytest.approx(risk.costs @ (steep * rounding), rel=1e-9)
    assert judged.certificate.kernel_rounding == 0.0


def test_the_largest_of_all_costs_and_multipliers_is_the_unit_of_balance_without_bounds():
    risk = Risk(0, "square")
    risk.alpha = 10.0 * risk.alpha
    found = risk.judged().certificate.dual["balance"]
    assert found == pytest.approx(abs(risk.y @ risk.alpha) / np.abs(risk.alpha).sum())


def test_what_rounding_of_kernel_values_can_do_is_that_of_feasible_multipliers():
    risk = Risk(1, "logistic", pc.RBF(1.0))
    rounding = risk.gram.rounding
    assert rounding is not None
    wanted = 0.5 / risk.ridge * (rounding @ risk.feasible()) ** 2
    assert risk.judged().certificate.kernel_rounding == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("name", ["square", "logistic"])
def test_the_optimum_of_a_solver_passes(name):
    risk = Risk(2, name)
    w, b = cp.Variable(2), cp.Variable()
    u = cp.multiply(risk.y, risk.X @ w + b)
    losses = cp.square(u - 1) / 2 if name == "square" else cp.logistic(-u)
    problem = cp.Problem(cp.Minimize(0.5 * risk.ridge * cp.sum_squares(w) + risk.costs @ losses))
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13)
    margin = risk.y * (risk.X @ w.value + b.value)
    risk.alpha, risk.b = -risk.costs * risk.loss.slope(margin), float(b.value)
    certificate = risk.judged(w=w.value).certificate
    assert certificate.primal_value == pytest.approx(problem.value, rel=1e-9)
    assert certificate.gap < 1e-9
    assert certificate.residual < 1e-5
