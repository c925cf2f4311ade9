"""Rows of every formulation, right and wrong, and their certificates, beside solutions and closed forms."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.checking.judging import against, best_margin, by_value, certificate_of, exact_objective
from paretoclf.checking.rows import Row
from tests.oracles.formulation_cases import FORMULATIONS


@pytest.mark.parametrize("case", FORMULATIONS, ids=lambda case: case.id)
def test_our_own_solutions_of_every_formulation(case):
    made = case.make(np.random.default_rng(5))
    solution = made.solve(**case.values[0])
    report = pc.verify(made, solution, tol=1e-6)
    assert report.passes(), report
    assert report[0].primal_value == pytest.approx(solution.value, rel=1e-6, abs=1e-12)


FOUR = np.array([[2.0, 0.0], [0.5, 1.0], [-1.0, 0.5], [-0.5, -1.0], [0.2, 0.1], [-2.0, 1.0]]), [1, 1, -1, -1, 1, -1]


PROBLEMS = {
    "costs": (pc.TwoCSVM, {"C_plus": 1.0, "C_minus": 0.5}),
    "nu": (pc.TwoNuSVM, {"nu": 0.3, "asymmetry": 0.6}),
    "tau": (pc.QuantileSVM, {"tau": 0.3, "lam": 0.1}),
    "theta": (pc.BiobjectiveMargin, {"theta": 2.0, "C_plus": 1.0, "C_minus": 3.0}),
    "logistic": (lambda X, y: pc.SurrogateRisk(X, y, loss="logistic"), {"C_plus": 1.0, "C_minus": 2.0}),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_rows_mappings_slopes_and_faults_of_every_kind_of_problem(name):
    make, values = PROBLEMS[name]
    made = make(*FOUR)
    solution = made.solve(**values)
    alpha, b = solution.alpha, solution.classifier.b
    numbers = {"alpha": alpha} if name == "tau" else {"alpha": alpha, "b": b}
    w = solution.classifier.w
    values = made.check_values(values)
    given = [
        (*values.values(), *numbers.values()),
        {**values, **numbers},
        {**values, "w": w, **({} if name == "tau" else {"b": b})},
    ]
    report = pc.verify(made, given, tol=1e-6)
    assert report.passes(), report
    many = {key: np.array([value, value]) for key, value in {**values, **numbers}.items()}
    assert len(pc.verify(made, many, tol=1e-6)) == 2
    low = {**values, **numbers, "alpha": 0.9 * alpha}
    negative = {**values, **numbers, "alpha": np.where(np.arange(6) == 0, -0.1, alpha)}
    turned = {**values, "w": -w, **({} if name == "tau" else {"b": b})}
    assert pc.verify(made, [low, negative, turned], tol=1e-6).classes["not optimal"] == (0, 1, 2)
    if name not in ("tau", "logistic"):
        moved = {**values, **numbers, "b": b + 0.3}
        assert pc.verify(made, [moved], tol=1e-6).classes["not optimal"] == (0,)


class Hinge(pc.SampleFormulation):
    """The 2C-SVM as somebody's prototype, without a dual."""

    domain = MappingProxyType({"C_plus": pc.NONNEGATIVE, "C_minus": pc.NONNEGATIVE})

    @cached_property
    def primal(self):
        w, b, xi = cp.Variable(self.X.shape[1], name="w"), cp.Variable(name="b"), cp.Variable(self.n, name="xi")
        plus, minus = (cp.sum(xi[side]) for side in (self.y > 0, self.y < 0))
        loss = self.parameters["C_plus"] * plus + self.parameters["C_minus"] * minus
        margin = (self.signed @ w + cp.multiply(self.y, b) >= 1 - xi).set_label("margin")
        return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + loss), [margin, (xi >= 0).set_label("slack")])


class LeastSquares(pc.Formulation):
    """min v'Kv / 2 + h q'v, with a dual by hand; K has no full rank, and its rounding is not positive semidefinite."""

    domain = MappingProxyType({"h": pc.NONNEGATIVE})

    def __init__(self, K, q):
        self.K, self.q = cp.psd_wrap(K), q
        super().__init__()

    @cached_property
    def primal(self):
        v = cp.Variable(self.q.size, name="v")
        return cp.Problem(cp.Minimize(cp.quad_form(v, self.K) / 2 + self.parameters["h"] * (self.q @ v)))

    @cached_property
    def dual(self):
        u = cp.Variable(self.q.size, name="u")
        row = (self.K @ u + self.parameters["h"] * self.q == 0).set_label("gradient")
        return cp.Problem(cp.Minimize(cp.quad_form(u, self.K) / 2), [row])


@pytest.mark.parametrize("seed", range(3))
def test_where_the_compiled_program_proves_no_bound_the_dual_by_hand_does(seed):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(5, 2))
    K = factor @ factor.T
    K[0, 0] -= 1e-13  # so that no bound of this matrix is -inf by rounding alone
    q = K @ rng.normal(size=5)
    best = -0.7 * np.linalg.lstsq(K, q, rcond=1e-10)[0]
    value = 0.5 * best @ K @ best + 0.7 * q @ best
    for off in (0.0, 0.1):
        v = (1.0 + off) * best  # the value is that much less, squared
        judged = pc.verify(LeastSquares(K, q), [{"h": 0.7, "v": v}], tol=1e-6)[0]
        assert judged.dual_value == pytest.approx(value, rel=1e-9)
        assert judged.primal_value == pytest.approx(value * (1.0 - off**2), rel=1e-9)
        assert judged.gap * judged.scale == pytest.approx(-value * off**2, rel=1e-6, abs=1e-9)
        assert judged.scale >= abs(judged.primal_value)
        assert judged.passes(1e-6) == (off == 0.0)
        assert "Bound it" not in judged.explain()


def test_a_prototype_whose_optimum_is_zero():
    """Before: the exact optimum was undecided, with a gap of 4e248, as gaps were relative to a value of 0."""
    X, y = FOUR
    made = Hinge(X, y)
    for off, passes in ((0.0, True), (1e-12, True), (1e-2, False)):
        b = -1.0 + off
        row = {"C_plus": 0.0, "C_minus": 1.0, "w": np.zeros(2), "b": b, "xi": np.maximum(0.0, 1.0 - made.y * b)}
        report = pc.verify(made, [row])
        assert report.passes() == passes, report
        assert report[0].primal_value == pytest.approx(3 * off, rel=1e-3)


def test_hyperplanes_of_two_gaussians():
    moments = pc.Moments.from_covariances([2.0, 0.0], np.eye(2), [0.0, 1.0], np.diag([4.0, 1.0]))
    tradeoff = pc.gaussian_tradeoff(moments)
    curve = tradeoff.curve(9)
    assert pc.verify(tradeoff, curve).passes()
    rows = list(zip(curve.w, curve.b, strict=True))
    assert pc.verify(moments, rows).passes()
    w, b = rows[4]
    report = pc.verify(moments, [(w, b), (w + np.array([0.0, 0.3]), b), (5 * w, 5 * b)])
    assert report.classes["not optimal"] == (1,)
    pair = pc.ParetoGaussian.from_moments([2.0, 0.0], np.eye(2), [0.0, 1.0], np.diag([4.0, 1.0]))
    best = pair.solve(lam=0.5).classifier
    report = pc.verify(pair, [(0.5, best.w, best.b), (0.5, 3 * best.w, 3 * best.b), (0.5, best.w, best.b + 0.1)])
    assert report.classes["not optimal"] == (2,)
    assert "intercept" in report.verdict(2)


def costs_of(y, plus, minus):
    return np.where(np.array(y) > 0, plus, minus)


def numbers_of(seed, n=6):
    """Multipliers that are not negative, a slope of their own, and an intercept."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.0, 1.0, size=n), rng.normal(size=2), float(rng.normal())


@pytest.mark.parametrize("seed", range(3))
def test_a_row_of_costs_has_the_objectives_of_its_definition(seed):
    X, y = FOUR
    svm = pc.TwoCSVM(X, y, sample_weight=np.linspace(1.0, 2.0, 6))
    alpha, w, b = numbers_of(seed)
    caps = np.linspace(1.0, 2.0, 6) * costs_of(y, 1.5, 2.5)
    for slope, given in ((X.T @ (y * alpha), {}), (w, {"w": w})):
        row = Row({"C_plus": 1.5, "C_minus": 2.5}, {"alpha": alpha, "b": b, **given})
        found = certificate_of(svm, row)
        value = slope @ slope / 2 + caps @ np.maximum(0, 1 - y * (X @ slope + b))
        assert found.primal_value == pytest.approx(value, rel=1e-12)
        assert float(exact_objective(svm, row)) == pytest.approx(value, rel=1e-12)
    exact = exact_objective(svm, Row(row.values, {"w": np.array([1.0, 0.5]), "b": 0.25}))
    slacks = [
        max(Fraction(0), 1 - c * (Fraction(u) + Fraction(v) / 2 + Fraction(1, 4)))
        for (u, v), c in zip(X, y, strict=True)
    ]
    assert exact == Fraction(5, 8) + sum(Fraction(float(c)) * slack for c, slack in zip(caps, slacks, strict=True))
    best = certificate_of(svm, Row(row.values, {"alpha": alpha}))  # the best intercept
    scores = X @ (X.T @ (y * alpha))
    others = [caps @ np.maximum(0, 1 - y * (scores + c)) for c in y - scores]
    slope = X.T @ (y * alpha)
    assert best.primal_value == pytest.approx(slope @ slope / 2 + min(others), rel=1e-12)
    costs = pc.SampleCosts(np.linspace(0.5, 1.0, 6))
    found = certificate_of(svm, Row({"costs": costs}, {"alpha": alpha, "b": b}))
    value = slope @ slope / 2 + (np.linspace(1, 2, 6) * costs.values) @ np.maximum(0, 1 - y * (scores + b))
    assert found.primal_value == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("nu", [0.05, 0.2, 0.39])
@pytest.mark.parametrize("seed", range(3))
def test_the_best_margin_is_the_best_of_all(nu, seed):
    X, y = FOUR
    made = pc.TwoNuSVM(X, y)
    alpha, w, b = numbers_of(seed)
    values = {"nu": nu, "asymmetry": 0.6}
    caps = costs_of(y, 0.6, 0.4) / 6
    for slope, given in ((X.T @ (y * alpha), {}), (w, {"w": w})):
        margins = y * (X @ slope + b)
        rho = best_margin(made, values, {"alpha": alpha, "b": b, **given})

        def objective(rho, margins=margins):
            return caps @ np.maximum(0, rho - margins) - nu * rho

        assert rho >= 0
        assert objective(rho) <= min(objective(max(0.0, each)) for each in [0.0, *margins]) + 1e-12
        found = certificate_of(made, Row(values, {"alpha": alpha, "b": b, **given}))
        assert found.primal_value == pytest.approx(slope @ slope / 2 + objective(rho), rel=1e-12)
        other = certificate_of(made, Row(values, {"alpha": alpha, "b": b, "rho": 0.7, **given}))
        assert other.primal_value == pytest.approx(slope @ slope / 2 + objective(0.7), rel=1e-12)
    nu_plus, nu_minus = made.to_classes(nu, 0.6)
    if max(nu_plus, nu_minus) <= 1:
        classes = pc.TwoNuSVM(X, y, by="classes")
        same = certificate_of(
            classes, Row({"nu_plus": nu_plus, "nu_minus": nu_minus}, {"alpha": alpha, "b": b, "w": w})
        )
        assert same.primal_value == pytest.approx(found.primal_value, rel=1e-9)


@pytest.mark.parametrize("theta", [0.5, 1.0, 3.0])
def test_margins_of_both_classes(theta):
    X, y = FOUR[0], np.array(FOUR[1])
    made = pc.BiobjectiveMargin(X, y)
    alpha, w, b = numbers_of(1)
    size = np.where(y > 0, 1.0, theta)
    target = 2 * theta / (1 + theta)
    values = {"theta": theta, "C_plus": 2.0, "C_minus": 0.5}
    for slope, given in ((X.T @ (0.5 * y * size * alpha), {}), (w, {"w": w})):
        found = certificate_of(made, Row(values, {"alpha": alpha, "b": b, **given}))
        slacks = np.maximum(0, target / size - y * (X @ slope + b))
        value = slope @ slope + costs_of(y, 2.0, 0.5) @ slacks**2
        assert found.primal_value == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(("loss", "phi"), [
    ("square", lambda u: 0.5 * (u - 1) ** 2),
    ("hinge", lambda u: np.maximum(0, 1 - u)),
    ("logistic", lambda u: np.logaddexp(0, -u)),
])  # fmt: skip
def test_risks(loss, phi):
    X, y = FOUR
    made = pc.SurrogateRisk(X, y, loss=loss)
    alpha, w, b = numbers_of(2)
    values = {"C_plus": 2.0, "C_minus": 0.5, "ridge": 0.7}
    for slope, given in ((X.T @ (y * alpha) / 0.7, {}), (w, {"w": w})):
        found = certificate_of(made, Row(values, {"alpha": 0.5 * alpha / alpha.max() * 0.7, "b": b, **given}))
        if given:
            value = 0.35 * slope @ slope + costs_of(y, 2.0, 0.5) @ phi(y * (X @ slope + b))
            assert found.primal_value == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("bias", [False, True])
def test_quantiles(bias):
    X, y = FOUR
    made = pc.QuantileSVM(X, y, bias=bias)
    alpha, _, _ = numbers_of(3)
    costs = costs_of(y, 2 * 0.7 / 6, 2 * 0.3 / 6)
    alpha = alpha * costs
    w, b = X.T @ (y * alpha) / 0.1, float(y @ alpha) / 0.1 if bias else 0.0
    value = 0.05 * (w @ w + b**2) + costs @ np.maximum(0, 1 - y * (X @ w + b))
    row = Row({"tau": 0.3, "lam": 0.1}, {"alpha": alpha, **({"b": b} if bias else {})})
    assert certificate_of(made, row).primal_value == pytest.approx(value, rel=1e-12)
    if bias:
        without = Row(row.values, {"alpha": alpha})
        assert certificate_of(made, without).primal_value == pytest.approx(value, rel=1e-12)
    else:
        with pytest.raises(pc.InputError, match="b must be 0 or left out: there is no intercept"):
            certificate_of(made, Row(row.values, {"alpha": alpha, "b": 0.5}))


def test_a_better_point_refutes_by_more_than_rounding():
    base = pc.certify([-1, 1], [1.0, 1.0], [0.4, 0.4], 0.0, X=[[-1.0], [1.0]])
    mine, best = replace(base, primal_value=3.0, rounding=0.25), replace(base, primal_value=1.0, rounding=0.5)
    assert against(mine, best).shortfall == 1.25
    assert against(best, mine).shortfall == 0.0
    alone = by_value(mine, best)
    assert (alone.dual, alone.slackness, alone.shortfall) == ({}, {}, 1.25)
    assert alone.note.startswith("No multipliers were given")


def test_an_intercept_of_moments_is_measured_in_deviations():
    pair = pc.ParetoGaussian.from_moments([2.0, 0.0], np.eye(2), [0.0, 1.0], np.diag([4.0, 1.0]))
    best = pair.solve(lam=0.5).classifier
    for off in (0.1, -0.3):
        found = certificate_of(pair, Row({"lam": 0.5}, {"w": 2.0 * best.w, "b": 2.0 * (best.b + off)}))
        plus, minus = np.linalg.norm(best.w), np.sqrt(best.w @ np.diag([4.0, 1.0]) @ best.w)
        distances = np.array([best.w @ [2.0, 0.0] + best.b, -(best.w @ [0.0, 1.0] + best.b)]) / [plus, minus]
        residual = abs(off) / min(plus, minus) / max(1.0, *np.abs(distances))
        assert found.primal["intercept: the distances of the means"] == pytest.approx(residual, rel=1e-9)
        assert (
            "intercept: the distances of the means" not in certificate_of(pair, Row({"lam": 0.5}, {"w": best.w})).primal
        )
    with pytest.raises(pc.InputError, match="w must point from the negatives' mean to the positives'"):
        certificate_of(pair, Row({"lam": 0.5}, {"w": -best.w, "b": -best.b}))


def test_a_hyperplane_is_refuted_by_the_one_of_the_curve():
    moments = pc.Moments.from_covariances([2.0, 0.0], np.eye(2), [0.0, 1.0], np.diag([4.0, 1.0]))
    w, b = np.array([1.0, 0.4]), -0.9
    mine = moments.distances(w, b)
    best = pc.gaussian_tradeoff(moments).at_rate(tnr=mine.tnr)
    found = certificate_of(moments, Row({}, {"w": w, "b": b}))
    assert found.shortfall == pytest.approx(best.u_plus - mine.u_plus, abs=1e-6)
    assert certificate_of(moments, Row({}, {"w": best.w, "b": best.b})).shortfall == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "alpha must be given, or w and b, got nothing"),
        ({"b": 0.0}, "alpha must be given, or w and b, got b"),
        ({"alpha": np.zeros(5), "b": 0.0}, r"alpha must have shape \(6,\), got \(5,\)"),
        ({"alpha": np.zeros(6), "b": np.inf}, "b must be finite, got inf"),
        ({"alpha": np.zeros(6), "b": 0.0, "w": np.zeros(3)}, r"w must have shape \(2,\), got \(3,\)"),
        ({"w": np.zeros(2)}, None),
    ],
)
def test_numbers_that_are_missing_or_have_another_shape(given, message):
    svm = pc.TwoCSVM(*FOUR)
    row = Row({"C_plus": 1.0, "C_minus": 1.0}, given)
    if message is None:
        assert certificate_of(svm, row).primal_value == pytest.approx(6.0)
        return
    with pytest.raises(pc.InputError, match=message):
        certificate_of(svm, row)
    with pytest.raises(pc.InputError, match="w must not be given: it belongs to the linear kernel"):
        certificate_of(pc.TwoCSVM(*FOUR, pc.RBF(1.0)), Row(row.values, {"alpha": np.zeros(6), "w": np.zeros(2)}))
    with pytest.raises(pc.InputError, match="alpha must be given where each sample has a cost of its own"):
        certificate_of(svm, Row({"costs": pc.SampleCosts(np.ones(6))}, {"w": np.zeros(2), "b": 0.0}))
    with pytest.raises(pc.InputError, match="xi must be given: the variables of Hinge are w, xi, b"):
        certificate_of(Hinge(*FOUR), Row(row.values, {"w": np.zeros(2), "b": 0.0}))
    with pytest.raises(pc.InputError, match="w must be given, got b"):
        certificate_of(pc.Moments.from_covariances([1.0], [[1.0]], [0.0], [[1.0]]), Row({}, {"b": 0.0}))
