"""The forms that textbooks print and people write: traced, or refused with a sentence that says what to write."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.linear_model import LassoLarsIC

import paretoclf as pc

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(16, 3)), RNG.normal(size=16)
LABELS = np.sign(X @ np.ones(3) + 0.5 * RNG.normal(size=16))
SIGNAL = np.repeat([0.0, 2.0, 1.0], 4) + 0.5 * RNG.normal(size=12)
RETURNS = 0.02 * RNG.normal(size=(20, 4)) + 0.01


def parameters(*names):
    return [cp.Parameter(nonneg=True, name=name) for name in names]


def quantile_loss():
    w, (tau, rest) = cp.Variable(3, name="w"), parameters("tau", "rest")
    r = Y - X @ w
    return (
        cp.Problem(cp.Minimize(cp.sum(tau * cp.pos(r) + rest * cp.neg(r)))),
        {tau: 0.1, rest: 0.9},
        {tau: 0.9, rest: 0.1},
    )


def quantile_maximum():
    w, (tau,) = cp.Variable(3, name="w"), parameters("tau")
    r = Y - X @ w
    return cp.Problem(cp.Minimize(cp.sum(cp.maximum(tau * r, (tau - 1) * r)))), {tau: 0.1}, {tau: 0.9}


def elastic_net():
    w, (lam,) = cp.Variable(3, name="w"), parameters("lam")
    loss = cp.sum_squares(Y - X @ w) / 2 + lam * cp.norm(w, 1) + 0.5 * cp.sum_squares(w)
    return cp.Problem(cp.Minimize(loss)), {lam: 20.0}, {lam: 0.0}


def elastic_net_share():
    """The share of l1 as a parameter, and the rest of it where it multiplies no square."""
    w, (lam, box) = cp.Variable(3, name="w"), parameters("lam", "box")
    loss = cp.sum_squares(Y - X @ w) / 2 + lam * cp.norm1(w) + box * cp.norm_inf(w)
    return cp.Problem(cp.Minimize(loss)), {lam: 5.0, box: 0.0}, {lam: 0.0, box: 5.0}


def huber():
    w, (lam,) = cp.Variable(3, name="w"), parameters("lam")
    return cp.Problem(cp.Minimize(cp.sum(cp.huber(Y - X @ w, 0.5)) + lam * cp.norm1(w))), {lam: 20.0}, {lam: 0.1}


def hinge():
    w, b, (C,) = cp.Variable(3, name="w"), cp.Variable(name="b"), parameters("C")
    margins = cp.multiply(LABELS, X @ w + b)
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * cp.sum(cp.pos(1 - margins)))), {C: 0.01}, {C: 2.0}


def epsilon_insensitive():
    w, (eps,) = cp.Variable(3, name="w"), parameters("eps")
    return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + cp.sum(cp.pos(cp.abs(Y - X @ w) - eps)))), {eps: 0}, {eps: 2}


def cvar():
    """Conditional value at risk, in the return that is asked for (Rockafellar & Uryasev)."""
    x, level, (target,) = cp.Variable(4, name="x"), cp.Variable(name="level"), parameters("target")
    shortfall = level + cp.sum(cp.pos(-RETURNS @ x - level)) / (0.1 * len(RETURNS))
    mean = RETURNS.mean(axis=0)
    rules = [cp.sum(x) == 1, x >= 0, mean @ x >= target]
    return cp.Problem(cp.Minimize(shortfall), rules), {target: float(mean.min())}, {target: float(mean.max())}


def turnover():
    x, (cost,), held = cp.Variable(4, name="x"), parameters("cost"), np.array([0.7, 0.1, 0.1, 0.1])
    risk = cp.quad_form(x, np.cov(100 * RETURNS.T)) / 2
    return cp.Problem(cp.Minimize(risk + cost * cp.norm1(x - held)), [cp.sum(x) == 1, x >= 0]), {cost: 5}, {cost: 0}


def total_variation():
    u, (lam,) = cp.Variable(12, name="u"), parameters("lam")
    return cp.Problem(cp.Minimize(cp.sum_squares(u - SIGNAL) / 2 + lam * cp.tv(u))), {lam: 0.0}, {lam: 5.0}


def isotonic():
    u, slack = cp.Variable(12, name="u"), cp.Parameter(name="slack")
    return cp.Problem(cp.Minimize(cp.sum_squares(u - SIGNAL)), [cp.diff(u) >= slack]), {slack: -2.0}, {slack: 0.0}


def flow():
    ends, (amount,) = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)], parameters("amount")
    net = np.zeros((4, 5))
    for k, (a, b) in enumerate(ends):
        net[a, k], net[b, k] = 1.0, -1.0
    f = cp.Variable(5, name="f")
    rules = [net @ f == amount * np.array([1.0, 0, 0, -1]), f >= 0, f <= [3, 2, 2, 2, 3]]
    return cp.Problem(cp.Minimize(np.array([2.0, 4, 1, 7, 2]) @ f), rules), {amount: 0.0}, {amount: 5.0}


def min_max():
    x, shift = cp.Variable(3, name="x"), cp.Parameter(name="shift")
    return cp.Problem(cp.Minimize(cp.max(X @ x + shift * Y)), [cp.norm_inf(x) <= 1]), {shift: -1.0}, {shift: 1.0}


FORMS = [
    quantile_loss, quantile_maximum, elastic_net, elastic_net_share, huber, hinge, epsilon_insensitive, cvar, turnover,
    total_variation, isotonic, flow, min_max,
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_a_form_of_the_textbooks_is_dcp_and_has_a_path(form):
    problem, start, stop = form()
    assert problem.is_dcp(dpp=True)
    path = pc.trace(problem, start, stop)
    assert path.status == "end"
    assert path.proof.passes()
    for t in (0.0, 0.37, 1.0):
        for p in start:
            p.value = (1 - t) * start[p] + t * stop[p]
        value = problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
        assert path.value(t) == pytest.approx(value, rel=1e-7, abs=1e-8)


def refused():
    """What has no exact path, or no convex form, and the words of its refusal."""
    w, (lam, tau) = cp.Variable(3, name="w"), parameters("lam", "tau")
    r = Y - X @ w
    one = ({lam: 0.1}, {lam: 0.9})
    yield (
        "tau and 1 - tau",
        cp.sum(tau * cp.pos(r) + (1 - tau) * cp.neg(r)),
        [],
        ({tau: 0.1}, {tau: 0.9}),
        (r"1 - tau has no sign that CVXPY knows.*start=\{tau: a, rest: 1 - a\}"),
    )
    yield (
        "ridge",
        cp.sum_squares(r) + lam * cp.sum_squares(w),
        [],
        one,
        r"lam \* sum_squares\(w\), in the objective\. Pass eps=1e-4",
    )
    yield (
        "weight of the fit",
        lam * cp.sum_squares(r) + cp.norm1(w),
        [],
        one,
        r"lam \* sum_squares\(.*in the objective\. As lam multiplies the whole quadratic, divide the objective by it",
    )
    yield "norm", cp.norm(r, 2) + lam * cp.norm1(w), [], one, r"got norm\(.*, 2\) in the objective: that needs a cone"
    yield "logistic", cp.sum(cp.logistic(-X @ w)) + lam * cp.norm1(w), [], one, r"got logistic\(.*Pass eps"
    yield "ball", cp.sum(X @ w) + lam * w[0], [cp.norm(w, 2) <= 1], one, r"got norm\(w, 2\) in constraint 0"
    yield "matrix", cp.norm1(w), [lam * w[0] + w[1] >= 1], one, "matrix A.*in constraint 0.*divide by it"


@pytest.mark.parametrize("case", list(refused()), ids=lambda case: case[0])
def test_what_cannot_be_traced_has_its_sentence(case):
    _, objective, rules, (start, stop), said = case
    with pytest.raises(pc.InputError, match=said):
        pc.trace(cp.Problem(cp.Minimize(objective), rules), start, stop)


PAGE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "lasso.md"


@pytest.mark.parametrize(("name", "shape"), [("AIC", (60, 8)), ("BIC", (60, 8)), ("AIC", (25, 5)), ("BIC", (25, 5))])
def test_criteria_along_the_lasso_of_the_page_are_those_of_scikit_learn(name, shape, capsys):
    """The page's own lines, on its data and on others: the least value of all penalties, where it is, and its count."""
    cells = re.findall(r"```{code-cell}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    first = cells[0].replace("(60, 8)", str(shape)).replace("size=60", f"size={shape[0]}")
    first = first.replace("0.0, 0.0, 0.0, 0.0]", ", ".join(["0.0"] * (shape[1] - 4)) + "]")
    first = first.replace("Variable(8", f"Variable({shape[1]}")
    own: dict[str, Any] = {}
    exec(first.replace("stop={lam: 0.3}", "stop={lam: 0.0}"), own)
    capsys.readouterr()
    exec(next(cell for cell in cells if "AIC" in cell), own)
    said = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    judge = LassoLarsIC(criterion=name.lower(), fit_intercept=False, eps=0.0).fit(own["X"], own["y"])
    found = re.fullmatch(rf"{name} (\S+) with (\d) coefficients at lam = (\S+)", said[name])
    assert float(found[1]) == pytest.approx(judge.criterion_.min(), abs=1e-3)
    assert int(found[2]) == np.count_nonzero(judge.coef_)
    assert float(found[3]) == pytest.approx(shape[0] * judge.alpha_, abs=1e-4)
    w = np.array([each.variables["w"] for each in own["path"].at(np.linspace(0.0, 1.0, 300))])
    noise, price = judge.noise_variance_, 2.0 if name == "AIC" else np.log(shape[0])
    squares = ((own["y"] - w @ own["X"].T) ** 2).sum(axis=1)
    criterion = shape[0] * np.log(2 * np.pi * noise) + squares / noise + price * (np.abs(w) > 1e-9).sum(axis=1)
    assert criterion.min() >= judge.criterion_.min() - 1e-9
