"""Fifteen families of problems, each a few lines of CVXPY and one exact path, beside what is used for it today.

Run ``python examples/paths_of_any_problem.py`` (half a minute); ``--out FOLDER`` draws the pictures of the gallery,
``--only`` takes one family. Each path is proved at every t, and compared with Clarabel at 20 random t; where
scikit-learn or SciPy solve the same problem at one point, with theirs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.optimize import linprog
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import QuantileRegressor, lars_path
from sklearn.svm import SVR, OneClassSVM

import paretoclf as pc


@dataclass(frozen=True)
class Family:
    """A problem and its line.

    ``beside`` takes the path and returns how far an incumbent is from it, at most ``within``; ``show`` is what the
    picture shows, and ``xscale`` that of its parameter.
    """

    problem: cp.Problem
    start: dict[Any, Any]
    stop: dict[Any, Any]
    beside: Callable[[pc.results.ProblemPath], float] | None = None
    show: tuple[str, list[str] | None] = ("variables", None)
    within: float = 1e-8
    xscale: str | None = None


def samples(n=60, d=5, seed=0):
    """A regression with heavy tails."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ np.array([3.0, -2.0, 1.0, 0.0, 0.0]) + rng.standard_t(3, size=n)


def lasso(ridge=0.0):
    """Lasso in its weight; with a ridge, the elastic net. Beside it: lars_path, in its knots and between."""
    X, y = samples()
    w, lam = cp.Variable(5, name="w"), cp.Parameter(nonneg=True, name="lam")
    loss = cp.sum_squares(X @ w - y) / 2 + ridge / 2 * cp.sum_squares(w) + lam * cp.norm1(w)

    def beside(path):
        wider, longer = np.vstack([X, np.sqrt(ridge) * np.eye(5)]), np.concatenate([y, np.zeros(5)])
        alphas, _, coefs = lars_path(wider, longer, method="lasso")
        lam = longer.size * alphas
        middles = [(np.mean(lam[k : k + 2]), coefs[:, k : k + 2].mean(axis=1)) for k in range(lam.size - 1)]
        return max(
            np.abs(path.at(lam=a).variables["w"] - c).max() for a, c in [*zip(lam, coefs.T, strict=True), *middles]
        )

    return Family(cp.Problem(cp.Minimize(loss)), {lam: 300.0}, {lam: 0.0}, beside, xscale="log")


def frontier(move):
    """Efficient frontier of 12 assets in three sectors: by appetite for return, or by target return."""
    rng = np.random.default_rng(1)
    F, mu = rng.normal(size=(40, 12)), np.linspace(0.1, 1.2, 12)
    x, g = cp.Variable(12, name="x"), cp.Parameter(name="g")
    held = [(cp.sum(x) == 1).set_label("budget"), x >= 0, (x <= 0.25).set_label("cap")]
    held += [(cp.sum(x[4 * k : 4 * k + 4]) <= 0.5).set_label(f"sector {k}") for k in range(3)]
    risk = cp.quad_form(x, F.T @ F / 40) / 2
    if move == "target":
        return Family(cp.Problem(cp.Minimize(risk), [*held, mu @ x == g]), {g: 0.65}, {g: 1.2})
    return Family(cp.Problem(cp.Maximize(g * (mu @ x) - risk), held), {g: 0.0}, {g: 5.0})


def quantile():
    """Quantile regression at every tau, a linear program. Beside it: scikit-learn at seven of them."""
    X, y = samples()
    w, b, tau = cp.Variable(5, name="w"), cp.Variable(name="b"), cp.Parameter(nonneg=True, name="tau")
    r = y - X @ w - b

    def beside(path):
        def value(tau):
            fit = QuantileRegressor(quantile=tau, alpha=0.0, solver="highs").fit(X, y)
            left = y - fit.predict(X)
            return np.maximum(tau * left, (tau - 1) * left).sum()

        return max(abs(path.value(tau=t) / value(t) - 1) for t in np.linspace(0.1, 0.9, 7))

    return Family(cp.Problem(cp.Minimize(cp.sum(cp.maximum(tau * r, (tau - 1) * r)))), {tau: 0.05}, {tau: 0.95}, beside)


def support_vector_regression():
    """Epsilon-SVR at every cost. Beside it: LIBSVM at three of them."""
    X, y = samples()
    w, b, C = cp.Variable(5, name="w"), cp.Variable(name="b"), cp.Parameter(nonneg=True, name="C")
    loss = cp.sum_squares(w) / 2 + C * cp.sum(cp.pos(cp.abs(y - X @ w - b) - 0.5))

    def beside(path):
        def value(c):
            fit = SVR(kernel="linear", C=c, epsilon=0.5, tol=1e-9).fit(X, y)
            missed = np.maximum(np.abs(y - fit.predict(X)) - 0.5, 0.0)
            return fit.coef_[0] @ fit.coef_[0] / 2 + c * missed.sum()

        return max(abs(path.value(C=c) / value(c) - 1) for c in (0.05, 0.3, 1.0))

    # LIBSVM's value is 2e-8 above that of Clarabel and of the path, whatever its tolerance.
    return Family(cp.Problem(cp.Minimize(loss)), {C: 0.001}, {C: 1.0}, beside, within=1e-7)


def one_class():
    """One-class SVM at every cost 1 / (nu n). Beside it: LIBSVM at three nu."""
    X = np.random.default_rng(3).normal(size=(60, 2)) + 2.0
    w, rho, C = cp.Variable(2, name="w"), cp.Variable(name="rho"), cp.Parameter(nonneg=True, name="C")
    loss = cp.sum_squares(w) / 2 - rho + C * cp.sum(cp.pos(rho - X @ w))

    def beside(path):
        fits = {nu: OneClassSVM(kernel="linear", nu=nu, tol=1e-9).fit(X).coef_[0] / (60 * nu) for nu in (0.1, 0.3, 0.7)}
        return max(np.abs(path.at(C=1 / (60 * nu)).variables["w"] - coef).max() for nu, coef in fits.items())

    return Family(cp.Problem(cp.Minimize(loss)), {C: 1 / 59}, {C: 0.5}, beside, xscale="log")


def signal(penalty, top):
    """A noisy signal of 40 steps, and a penalty of its differences."""
    y = np.repeat([0.0, 2.0, 1.0, 4.0], 10) + 0.7 * np.random.default_rng(5).normal(size=40)
    u, lam = cp.Variable(40, name="u"), cp.Parameter(nonneg=True, name="lam")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(u - y) / 2 + penalty(u, lam)))
    return Family(problem, {lam: 0.0}, {lam: top}, xscale="log"), y


def fused():
    """Fused lasso: jumps cost."""
    return signal(lambda u, lam: lam * cp.norm1(cp.diff(u)) + 0.1 * cp.norm1(u), 20.0)[0]


def trend():
    """Trend filtering: kinks cost."""
    return signal(lambda u, lam: lam * cp.norm1(cp.diff(u, k=2)), 50.0)[0]


def isotonic():
    """Nearly isotonic: only falls cost. Where they cost enough there are none, as in scikit-learn's."""
    family, y = signal(lambda u, lam: lam * cp.sum(cp.pos(-cp.diff(u))), 10.0)

    def beside(path):
        return np.abs(path.at(1.0).variables["u"] - IsotonicRegression().fit_transform(np.arange(40), y)).max()

    return replace(family, beside=beside)


def fairness():
    """An SVM whose scores covary with a group by at most a bound: what each unit of fairness costs."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3))
    group, y = np.sign(X[:, 0] + rng.normal(size=60)), np.sign(X @ np.ones(3) + rng.normal(size=60))
    w, b, bound = cp.Variable(3, name="w"), cp.Variable(name="b"), cp.Parameter(nonneg=True, name="bound")
    unfair = ((group - group.mean()) @ X / 60) @ w
    rows = [(unfair <= bound).set_label("not above"), (unfair >= -bound).set_label("not below")]
    loss = cp.sum_squares(w) / 2 + cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
    return Family(cp.Problem(cp.Minimize(loss), rows), {bound: 0.0}, {bound: 1.0}, None, ("duals", None))


def robust():
    """Least absolute deviations where each feature is known up to a radius: at worst that costs n |w|_1 a unit."""
    X, y = samples()
    w, radius = cp.Variable(5, name="w"), cp.Parameter(nonneg=True, name="radius")
    worst = cp.norm1(y - X @ w) + 60 * radius * cp.norm1(w)
    return Family(cp.Problem(cp.Minimize(worst)), {radius: 0.0}, {radius: 1.0})


def control():
    """A step of model predictive control: a mass is braked, from every state between rest and speed."""
    A, B = np.array([[1.0, 0.2], [0.0, 1.0]]), np.array([0.02, 0.2])
    s, u, state = cp.Variable((2, 16), name="s"), cp.Variable(15, name="u"), cp.Parameter(2, name="state")
    rows = [s[:, 0] == state, (cp.abs(u) <= 1).set_label("force")]
    rows += [s[:, k + 1] == A @ s[:, k] + B * u[k] for k in range(15)]
    cost = cp.sum_squares(s) + 0.1 * cp.sum_squares(u)
    return Family(cp.Problem(cp.Minimize(cost), rows), {state: [0, 0]}, {state: [1, 2]}, None, ("variables", ["u"]))


def transport():
    """A transport problem while a town needs more and more: its prices. Beside it: HiGHS at five points."""
    cost = np.array([[4.0, 2, 7], [3, 6, 1], [5, 5, 3]])
    T, moved = cp.Variable((3, 3), nonneg=True, name="T"), cp.Parameter(name="moved")
    into = np.array([1.0, 6, 4]) + moved * np.array([1.0, 0, 0])
    rows = [
        (cp.sum(T, axis=1) <= [7, 7, 6]).set_label("supply"),
        (cp.sum(T, axis=0) == into).set_label("demand"),
    ]

    def beside(path):
        out, sums = np.kron(np.eye(3), np.ones(3)), np.kron(np.ones(3), np.eye(3))

        def value(m):
            demand = [1 + m, 6, 4]
            return linprog(cost.ravel(), A_ub=out, b_ub=[7, 7, 6], A_eq=sums, b_eq=demand).fun

        return max(abs(path.value(moved=m) / value(m) - 1) for m in np.linspace(0, 9, 5))

    problem = cp.Problem(cp.Minimize(cp.sum(cp.multiply(cost, T))), rows)
    return Family(problem, {moved: 0.0}, {moved: 10.0}, beside, ("duals", None))


def flow():
    """Min-cost flow, more and more of it, until a cut is full: which one, says the end of the path."""
    ends = [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4)]
    cost, room = np.array([2.0, 4, 1, 7, 2, 9, 1]), np.array([6.0, 5, 4, 3, 5, 4, 7])
    net = np.zeros((5, 7))
    for k, (a, b) in enumerate(ends):
        net[a, k], net[b, k] = 1.0, -1.0
    f, amount = cp.Variable(7, nonneg=True, name="f"), cp.Parameter(name="amount")
    rows = [(net @ f == amount * np.array([1.0, 0, 0, 0, -1])).set_label("balance"), (f <= room).set_label("room")]
    return Family(cp.Problem(cp.Minimize(cost @ f), rows), {amount: 0.0}, {amount: 20.0})


FAMILIES = {
    "lasso": lasso,
    "elastic_net": lambda: lasso(ridge=10.0),
    "frontier": lambda: frontier("appetite"),
    "frontier_target": lambda: frontier("target"),
    "quantile_regression": quantile,
    "svr": support_vector_regression,
    "one_class_svm": one_class,
    "fused_lasso": fused,
    "trend_filtering": trend,
    "isotonic": isotonic,
    "fairness": fairness,
    "robust": robust,
    "control": control,
    "transport": transport,
    "min_cost_flow": flow,
}


def main(argv: list[str] | None = None) -> None:
    """Trace, compare, draw."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n\n")[0], epilog="example: paths_of_any_problem.py --only lasso --out ."
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where pictures go; default: none are drawn")
    parser.add_argument("--only", choices=FAMILIES, help="one family; default: all")
    args = parser.parse_args(argv)
    for name in (args.only,) if args.only else FAMILIES:
        family = FAMILIES[name]()
        path = pc.trace(family.problem, family.start, family.stop, progress=False)
        print(f"{name}: {path}\n  {path.proof.explain()}")
        if path.beyond:
            print(f"  {path.beyond.explain()}")
        apart = path.compare(20).worst
        assert apart < 1e-8, (name, apart)
        print(f"  Clarabel at 20 random t: within {apart:.0e}", end="")
        if family.beside is not None:
            apart = float(family.beside(path))
            assert apart < family.within, (name, apart)
            print(f"; the incumbent: within {apart:.0e}", end="")
        print()
        if args.out is not None:
            args.out.mkdir(parents=True, exist_ok=True)
            display = path.plot(*family.show, xscale=family.xscale)
            display.figure_.set_size_inches(5.0, 3.0)
            display.figure_.savefig(args.out / f"path_{name}.png", dpi=144)


if __name__ == "__main__":
    main()
