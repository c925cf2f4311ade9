"""Exact paths that are falsified on purpose: is one proved that is wrong, or one refused that is right?

Small problems: 2C-SVMs (also from tiny to huge costs, and on lines of next to no length), reduced hulls and all nu,
quantile SVMs with and without a bias, margins with slacks and without, on 8 to 40 samples, linear and Gaussian from
narrow to wide, classes from 1:1 to 1:7, some samples twice; lasso, nonnegative least squares, quantile regression, a
portfolio with caps, and linear programs from CVXPY. Each is traced; what is stored of it is changed, one thing at a
time, by 1e-12 to 0.1 of itself, and its proof is made anew from that.

The truth is that of fractions, and uses nothing of ``paretoclf.proof``: the objective at the point that the path gives,
and by how much that violates constraints, at nine points of the segments that were touched, most next to their ends,
held against the same of the path before it was changed. What is feasible is no better than the optimum: what that finds
is an excess. Once a path, the value before is held against Clarabel's. False is

- *proved* of a path whose excess, relative to the optimal value, whose violation, relative to the terms of a row, or
  whose stored value is off by more than ten times the tolerance, and by more than what four roundings of scores make
  (what is less is counted as *rounding*: proofs say that they allow it);
- *refused* of a path whose stored point, multipliers, gap and value are off by less than a tenth of the tolerance.

The exit status is 1 where there is any.
"""

from __future__ import annotations

import argparse
import copy
import math
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

import cvxpy as cp
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import paretoclf as pc

TOL = 1e-8
SHARES = (0.0, 1e-9, 1e-4, 0.03, 0.5, 0.97, 1 - 1e-4, 1 - 1e-9, 1.0)
TIGHT = {"solver": "CLARABEL", "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
#: Falsified paths, and moved ones, made of each path that is traced.
EACH = 20

exact = np.vectorize(Fraction, otypes=[object])


class Whole:
    """A matrix or vector of fractions as whole numbers over one denominator: products of these are fast."""

    def __init__(self, values: Any) -> None:
        fractions = values if np.asarray(values).dtype == object else exact(values)
        self.over = math.lcm(*(each.denominator for each in fractions.flat))
        self.numbers = np.empty(fractions.shape, dtype=object)
        self.numbers.flat = [each.numerator * (self.over // each.denominator) for each in fractions.flat]

    def __matmul__(self, vector: Any) -> Any:
        other = vector if isinstance(vector, Whole) else Whole(vector)
        found = self.numbers @ other.numbers
        over = self.over * other.over
        return exact(found, over) if isinstance(found, np.ndarray) else Fraction(found, over)


# ---- problems, and what is true of their paths -----------------------------------------------------------------------


@dataclass(frozen=True)
class Statement:
    """A support vector machine at one t: min lam/2 |w|^2 + c'xi - total rho, or with C'xi^2, or with no slack."""

    caps: Any = None
    squares: Any = None
    lam: Any = 1
    total: Any = None
    target: Any = 1
    intercept: str = "free"


@dataclass(frozen=True)
class Machine:
    """A path of classifiers, and what its problem is at t, in fractions."""

    path: Any
    X: Any
    y: Any
    stated: Callable[[Fraction], Statement]
    known: dict[float, Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        gram = self.path.gram
        data = self.X if gram.linear else np.column_stack([gram.matvec(e) for e in np.eye(self.y.size)])
        object.__setattr__(self, "data", Whole(data))
        object.__setattr__(self, "turned", Whole(data.T))
        object.__setattr__(self, "signs", exact(self.y.astype(float)))

    def again(self, path: Any) -> Machine:
        """The same of another path."""
        other = copy.copy(self)
        object.__setattr__(other, "path", path)
        object.__setattr__(other, "known", {})
        return other

    def point(self, t: float) -> tuple[Any, Any, Fraction, Fraction]:
        """Scores without intercept, squared norm, intercept and rho of the point that the path gives at t."""
        if t not in self.known:
            self.known[t] = self._point(t)
        return self.known[t]

    def _point(self, t: float) -> tuple[Any, Any, Fraction, Fraction]:
        """The same, found anew."""
        solution = self.path.at(t)
        rule = solution.classifier
        if not np.isfinite(rule.b):  # at nu = 0 there is no classifier
            zeros = exact(np.zeros(self.y.size))
            return zeros, Fraction(0), Fraction(0), Fraction(0)
        b = Fraction(rule.b)
        rho = Fraction(self.path.rho(t)) if hasattr(self.path, "rho") else Fraction(1)
        if self.path.gram.linear:
            w = Whole(rule.w)
            return self.data @ w, w @ w, b, rho
        coef = exact(rule.coef)
        low = solution.numbers.get("alpha_lo")
        coef = coef if low is None else coef + self.signs * exact(low)
        scores = self.data @ coef
        return scores, Whole(coef) @ scores, b, rho

    def kept(self, t: float) -> tuple[Any, Any, Fraction, Fraction]:
        """The same of what is stored; the path may give a better one where doubles do not suffice."""
        b = Fraction(self.path.intercept(t))
        rho = Fraction(self.path.rho(t)) if hasattr(self.path, "rho") else Fraction(1)
        if self.path.gram.linear:
            w = Whole(self.path.slope(t))
            return self.data @ w, w @ w, b, rho
        coef = Whole(self.path._coef(t))
        scores = self.data @ coef
        return scores, coef @ scores, b, rho

    def primal(self, t: float, point: Any = None) -> tuple[Fraction, float, Fraction]:
        """The objective at a point, by how much it violates its constraints, and the stored value."""
        at = self.stated(Fraction(t))
        scores, norm, b, rho = self.point(t) if point is None else point
        value = at.lam * (norm + (b * b if at.intercept == "feature" else 0)) / 2
        margins = self.signs * (scores + b)
        slack = np.maximum(at.target * rho - margins, Fraction(0))
        wrong = 0.0
        if at.caps is not None:
            value += (at.caps * slack).sum() - (0 if at.total is None else at.total * rho)
        elif at.squares is not None:
            value += (at.squares * slack**2).sum()
        else:
            wrong = max(map(float, slack / (at.target + abs(margins))))
        return value, wrong, Fraction(self.path.value(t))

    def dual(self, t: float) -> Fraction:
        """The objective of multipliers next to those that are stored: in their box, and balanced."""
        at, alpha = self.stated(Fraction(t)), self.path.alpha(t)
        if at.caps is None:  # those of the paper weigh the negatives otherwise
            alpha = np.where(self.y > 0, alpha, alpha * self.path.theta(t))
        alpha = np.maximum(exact(alpha), Fraction(0))
        alpha = alpha if at.caps is None else np.minimum(alpha, at.caps)
        if at.intercept == "free":
            sums = [alpha[side].sum() for side in (self.y > 0, self.y < 0)]
            goal = min(sums) if at.total is None else at.total / 2
            for side, now in zip((self.y > 0, self.y < 0), sums, strict=True):
                alpha[side] *= goal / now if now else 1
        coef = self.signs * alpha
        if self.path.gram.linear:
            w = self.turned @ coef
            norm = (w**2).sum()
        else:
            norm = Whole(coef) @ (self.data @ coef)
        norm += coef.sum() ** 2 if at.intercept == "feature" else 0
        value = (0 if at.total is not None else (at.target * alpha).sum()) - norm / (2 * at.lam)
        return value - ((alpha**2 / at.squares).sum() / 4 if at.squares is not None else 0)

    def off(self, before: Machine, t: float) -> dict[str, float]:
        """How far the path is from right at t, given the path before it was changed."""
        (value, wrong, stored), (best, _, _) = self.primal(t), before.primal(t)
        size = abs(best) or Fraction(1, 10**300)
        return {"excess": float((value - best) / size), "violation": wrong, "value": float(abs(stored - best) / size)}

    def rounding(self, before: Machine, t: float) -> float:
        """What four roundings make of the objective, relative to the value: of scores, intercept and target.

        Where hulls meet, scores and the value are small differences: there it is those of the terms they are sums of.
        """
        at, best, (scores, _, b, rho) = self.stated(Fraction(t)), abs(before.primal(t)[0]), self.point(t)
        if at.caps is None or not best:
            return 0.0
        terms, own = abs(scores).astype(float), 0.0
        if at.total is not None:
            data, alpha = np.abs((self.data.numbers / self.data.over).astype(float)), before.path.alpha(t)
            terms = data @ (data.T @ alpha) if self.path.gram.linear else data @ alpha
            own = float(alpha @ terms)
        off = float(at.caps.astype(float) @ (terms + abs(float(b)) + float(rho))) + own
        return off / float(best) * 2.0**-50

    def moved(self, before: Machine, t: float) -> float:
        """The largest of what it misses, each in its own unit; the gap is that of the stored multipliers."""
        found = self.off(before, t)
        at, size = self.stated(Fraction(t)), abs(before.primal(t)[0]) or 1
        kept = self.kept(t)
        value, wrong, _ = self.primal(t, kept)
        gap = max(wrong, float((value - (self.dual(t) if at.caps is not None else before.primal(t)[0])) / size))
        (f, _, b, rho), (g, _, c, sigma) = kept, before.point(t)
        unit = max(abs(g + c)) + sigma if at.total is not None else 1 + abs(g + c)
        unit = unit if np.all(unit) else 1
        margins = float(max(abs(f + b - rho - g - c + sigma) / unit)) if at.total is not None else 0.0
        margins = max(margins, float(max(abs(f + b - g - c) / unit)))
        alpha, beta = self.path.alpha(t), before.path.alpha(t)
        reach = np.full(self.y.size, beta.max()) if at.caps is None else at.caps.astype(float)
        if at.intercept == "free":
            sums = [float(reach[side].sum()) for side in (self.y > 0, self.y < 0)]
            reach = np.minimum(reach, np.where(self.y > 0, sums[1], sums[0]))
            balance = abs(float((self.y * alpha).sum() - (self.y * beta).sum())) / max(min(sums), 1e-300)
        else:
            balance = 0.0
        each = np.abs(alpha - beta) / np.where(reach > 0, reach, 1.0)
        return max(*found.values(), gap, margins, balance, float(each.max()), self._slopes(before, t))

    def _slopes(self, before: Machine, t: float) -> float:
        """How far the stored slope moved, and how far it is from what the multipliers say, relative to itself."""
        if not self.path.gram.linear:
            return 0.0
        w, v = self.path.slope(t), before.path.slope(t)
        implied = self.path.gram.quadratic.slope(self.path._coef(t))
        most = max(float(np.linalg.norm(v)), 1e-300)
        return max(float(np.linalg.norm(w - v)), float(np.linalg.norm(w - implied))) / most


@dataclass(frozen=True)
class Program:
    """A path of a program of CVXPY, read on the program as it was compiled."""

    path: Any
    known: dict[float, Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        line = self.path.program
        arrays = (np.asarray(M.todense()) for M in (line.P, line.A, line.A.T))
        object.__setattr__(self, "matrices", [Whole(M) for M in arrays])

    def again(self, path: Any) -> Program:
        """The same of another path."""
        other = copy.copy(self)
        object.__setattr__(other, "path", path)
        object.__setattr__(other, "known", {})
        return other

    def point(self, t: float) -> dict[str, Any]:
        """Columns and multipliers at t with q, b and the constant, in fractions."""
        path, line, at = self.path, self.path.program, Fraction(t)
        j = min(max(int(np.searchsorted(path.t, t, side="right")) - 1, 0), len(path.t) - 2)
        begin, end = Fraction(float(path.t[j])), Fraction(float(path.t[j + 1]))
        share = (at - begin) / (end - begin)
        stored = {"x": path.x[j], "z": path.z[j]}
        found = {name: (1 - share) * exact(ends[0]) + share * exact(ends[1]) for name, ends in stored.items()}
        data = {name: getattr(line, name) for name in ("q", "b", "constant")}
        return found | {name: (1 - at) * exact(ends[0]) + at * exact(ends[1]) for name, ends in data.items()}

    def left(self, t: float) -> dict[str, Any]:
        """What is left at t: objective, violation, and of rows, gradients and products, with their units."""
        if t not in self.known:
            self.known[t] = self._left(t)
        return self.known[t]

    def _left(self, t: float) -> dict[str, Any]:
        """The same, found anew: what is left in fractions, and its units in doubles."""
        line, p, (P, A, turned) = self.path.program, self.point(t), self.matrices
        x, z, e = p["x"], p["z"], line.equations
        sizes = {name: np.abs(each.astype(float)) for name, each in p.items() if name != "constant"}
        Px, slack = P @ x, p["b"] - A @ x
        gradient = Px + p["q"] + turned @ z
        rows_of, P_of = abs(line.A), abs(line.P)
        rows = sizes["b"] + rows_of @ sizes["x"] + 1e-6 * sizes["x"].max() * rows_of.sum(axis=1)
        columns = sizes["q"] + P_of @ sizes["x"] + rows_of.T @ sizes["z"]
        columns = columns + 1e-6 * sizes["z"].max(initial=0.0) * rows_of.sum(axis=0)
        rows, columns = (np.where(unit > 0.0, unit, 1.0) for unit in (rows, columns))
        value = Whole(x) @ (Px / 2 + p["q"]) + np.sum(p["constant"])
        terms = sizes["x"] @ (np.abs(Px.astype(float)) / 2 + sizes["q"])
        size = max(abs(float(value)), 1e-3 * float(terms))
        beyond = np.concatenate([abs(slack[:e]), np.maximum(-slack[e:], Fraction(0))]).astype(float)
        negative = np.where(np.arange(line.m) < e, 0.0, np.maximum(-z.astype(float), 0.0))
        return {
            "value": value,
            "size": size,
            "violation": float((beyond / rows).max(initial=0.0)),
            "missed": float((abs(gradient).astype(float) / columns).max(initial=0.0)),
            "gap": float((abs(slack) * abs(z)).sum()) / size if size else 0.0,
            "signs": float(((rows_of.multiply(negative[:, None])).tocsc() / columns).max()) if line.m else 0.0,
            "slack": slack,
            "rows": rows,
            "z": z,
            "x": x,
        }

    def off(self, before: Program, t: float) -> dict[str, float]:
        """How far the path is from right at t, given the path before it was changed."""
        here, there = self.left(t), before.left(t)
        excess = float(here["value"] - there["value"]) / there["size"] if there["size"] else 0.0
        return {"excess": excess, "violation": here["violation"]}

    def rounding(self, before: Program, t: float) -> float:
        """Nothing is excused by rounding here."""
        return 0.0

    def moved(self, before: Program, t: float) -> float:
        """The largest of what it misses, each in its own unit."""
        here, there = self.left(t), before.left(t)
        most = [abs(self.off(before, t)["excess"]), *(here[name] for name in ("violation", "missed", "gap", "signs"))]
        slacks = abs(here["slack"] - there["slack"]).astype(float) / there["rows"]
        for name in ("x", "z"):
            unit = np.where(there[name] != 0, abs(there[name]), 1)
            most.append(float((abs(here[name] - there[name]) / unit).max(initial=Fraction(0))))
        return max(*most, float(slacks.max(initial=0.0)))


# ---- what is drawn ---------------------------------------------------------------------------------------------------


def samples(rng: np.random.Generator, apart: float = 0.0) -> tuple[Any, Any, Any]:
    """Samples, labels, and a kernel: none is linear."""
    n, d = int(rng.integers(8, 41)), int(rng.integers(1, 5))
    few = max(2, round(n / (1 + rng.choice([1, 2, 3, 5, 7]))))
    y = np.where(np.arange(n) < few, 1, -1)
    X = rng.normal(size=(n, d)) + (rng.choice([0.2, 0.6, 1.5]) + apart) * y[:, None]
    if rng.random() < 0.3:
        X = X.round(1)
    if rng.random() < 0.3:
        again = rng.integers(0, n, n // 4)
        X[rng.integers(0, n, again.size)] = X[again]
    if apart:
        X[:, 0] = np.abs(X[:, 0]) * y + 0.5 * y
    return X, y, rng.choice(np.array([None, None, pc.RBF(0.1), pc.RBF(1.0), pc.RBF(10.0)], dtype=object))


def by_class(y: Any, plus: Any, minus: Any) -> Any:
    """One number a sample."""
    return np.array([Fraction(plus) if label > 0 else Fraction(minus) for label in y], dtype=object)


def costs(rng: np.random.Generator, low: float = -2.0, high: float = 3.0, short: bool = False) -> Machine:
    """A line of costs."""
    X, y, kernel = samples(rng)
    a, b = 10.0 ** rng.uniform(low, high, (2, 2))
    if low < -4.0:  # from the least to the most
        a, b = np.array([10.0**low, 10.0**high]), np.array([10.0**high, 10.0**low])
        a, b = (a, b) if rng.random() < 0.5 else (a[[0, 0]], b[[0, 0]])
    b = a * (1.0 + 10.0 ** rng.uniform(-10, -3) * rng.uniform(-1, 1, 2)) if short else b
    path = pc.trace(pc.TwoCSVM(X, y, kernel), tuple(a), tuple(b), progress=False)

    def stated(t: Fraction) -> Statement:
        pair = [(1 - t) * Fraction(float(a[k])) + t * Fraction(float(b[k])) for k in (0, 1)]
        return Statement(caps=by_class(y, *pair))

    return Machine(path, X, y, stated)


def nu(rng: np.random.Generator) -> Machine:
    """All nu at one asymmetry."""
    X, y, kernel = samples(rng)
    share = float(rng.uniform(0.1, 0.9))
    path = pc.trace(pc.TwoNuSVM(X, y, kernel), nu=(None, None), asymmetry=share, progress=False)
    caps = by_class(y, Fraction(share) / y.size, (1 - Fraction(share)) / y.size)
    return Machine(path, X, y, lambda t: Statement(caps=caps, total=t, intercept="free"))


def hulls(rng: np.random.Generator) -> Machine:
    """A line of reduced hulls: equation (8) of Davenport, Baraniuk and Scott."""
    X, y, kernel = samples(rng)
    s = rng.uniform(0.3, 1.0, (2, 2))
    path = pc.trace(pc.TwoNuSVM(X, y, kernel), tuple(s[0]), tuple(s[1]), progress=False)
    sizes, n = (int((y > 0).sum()), int((y < 0).sum())), y.size

    def stated(t: Fraction) -> Statement:
        at = [sizes[k] / ((1 - t) / Fraction(float(s[0, k])) + t / Fraction(float(s[1, k]))) for k in (0, 1)]
        gamma = at[1] / sum(at)
        return Statement(caps=by_class(y, gamma / n, (1 - gamma) / n), total=2 * at[0] * at[1] / (sum(at) * n))

    return Machine(path, X, y, stated)


def quantile(rng: np.random.Generator, bias: bool) -> Machine:
    """All quantiles."""
    X, y, kernel = samples(rng)
    lam = float(10.0 ** rng.uniform(-5, 1))
    path = pc.trace(pc.QuantileSVM(X, y, kernel, bias=bias), tau=(0, 1), lam=lam, progress=False)

    def stated(t: Fraction) -> Statement:
        caps = by_class(y, 2 * (1 - t) / y.size, 2 * t / y.size)
        return Statement(caps=caps, lam=Fraction(lam), intercept="feature" if bias else "none")

    return Machine(path, X, y, stated)


def margins(rng: np.random.Generator, soft: bool) -> Machine:
    """Margins at all ratios."""
    X, y, kernel = samples(rng, apart=0.0 if soft else 1.0)
    pair = 10.0 ** rng.uniform(-2, 3, 2) if soft else None
    more = {} if pair is None else {"C_plus": float(pair[0]), "C_minus": float(pair[1])}
    svm = pc.BiobjectiveMargin(X, y, kernel=kernel, soft=soft)
    path = pc.trace(svm, theta=(0.1, 10.0), progress=False, **more)
    squares = None if pair is None else by_class(y, *more.values())

    def stated(t: Fraction) -> Statement:
        return Statement(squares=squares, lam=Fraction(2), target=by_class(y, 2 * t, 2 * (1 - t)))

    return Machine(path, X, y, stated)


def program(rng: np.random.Generator, kind: str) -> Program:
    """A program of CVXPY along one parameter, or two."""
    n, d = int(rng.integers(8, 25)), int(rng.integers(2, 6))
    X, s = rng.normal(size=(n, d)), cp.Parameter(nonneg=True)
    r, x = X @ rng.normal(size=d) + rng.normal(size=n), cp.Variable(d)
    start, stop = 10.0 ** rng.uniform(-2, 2, 2)
    if rng.random() < 0.3:
        start, stop = 1e-6, 1e6
    elif rng.random() < 0.3:
        stop = start * (1.0 + 10.0 ** rng.uniform(-9, -3))
    if kind == "lasso":
        problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(X @ x - r) + s * cp.norm1(x)))
    elif kind == "least squares":
        problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(X @ x - r)), [x >= 0, cp.sum(x) <= s])
    elif kind == "quantile regression":
        start, stop = rng.uniform(0.05, 0.95, 2)
        rest = cp.Parameter(nonneg=True)
        ends = {s: start, rest: 1 - start}, {s: stop, rest: 1 - stop}
        problem = cp.Problem(cp.Minimize(cp.sum(s * cp.pos(r - X @ x) + rest * cp.pos(X @ x - r))))
        return Program(pc.trace(problem, *ends, progress=False))
    elif kind == "portfolio":
        gain = rng.normal(size=d)
        rows = [cp.sum(x) == 1, x >= 0, x <= 0.7]
        problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(X @ x) / n - s * (gain @ x)), rows)
    else:
        A = rng.uniform(0.1, 1.0, (n, d))
        problem = cp.Problem(
            cp.Minimize(-rng.uniform(0.1, 1.0, d) @ x), [A @ x <= rng.uniform(1, 2, n), x >= 0, x[0] <= s]
        )
    return Program(pc.trace(problem, {s: float(start)}, {s: float(stop)}, progress=False))


KINDS: dict[str, Callable[[np.random.Generator], Any]] = {
    "costs": costs,
    "steep costs": lambda rng: costs(rng, -8.0, float(rng.choice([3.0, 6.0]))),
    "short costs": lambda rng: costs(rng, short=True),
    "nu": nu,
    "hulls": hulls,
    "quantile": lambda rng: quantile(rng, bias=False),
    "quantile, bias": lambda rng: quantile(rng, bias=True),
    "soft margins": lambda rng: margins(rng, soft=True),
    "hard margins": lambda rng: margins(rng, soft=False),
} | {
    name: (lambda rng, name=name: program(rng, name))
    for name in ("lasso", "least squares", "quantile regression", "portfolio", "linear program")
}


# ---- how they are changed --------------------------------------------------------------------------------------------

#: What is changed of what is stored: the path, and the ends of a stretch of t that has all of it.
Changed = tuple[Any, float, float]


def of_machine(path: Any, how: str, size: float, rng: np.random.Generator) -> Changed | None:
    """One thing changed of the stored pieces of a path of classifiers; None where there is no such thing."""
    P = path.pieces
    k = P.t.size - 1
    j, sign = int(rng.integers(k)), float(rng.choice([-1.0, 1.0]))
    ends, more = [j, j + 1], {}
    if how == "multiplier" and P.ptr[j + 1] > P.ptr[j]:
        at, a0, a1 = int(rng.integers(P.ptr[j], P.ptr[j + 1])), P.a0.copy(), P.a1.copy()
        a0[at], a1[at] = a0[at] * (1 + sign * size), a1[at] * (1 + sign * size)
        more = {"a0": a0, "a1": a1}
    elif how == "all multipliers":
        more, ends = {"a0": P.a0 * (1 + sign * size), "a1": P.a1 * (1 + sign * size)}, [0, k]
    elif how == "intercept":
        b0, b1 = P.b0.copy(), P.b1.copy()
        b0[j], b1[j] = (each[j] + sign * size * (1 + abs(each[j])) for each in (b0, b1))
        more = {"b0": b0, "b1": b1}
    elif how == "rho" and P.rho0.size:
        more = {name: getattr(P, name) * np.where(np.arange(k) == j, 1 + sign * size, 1) for name in ("rho0", "rho1")}
    elif how == "slope" and P.w is not None:
        w, way = P.w.copy(), rng.normal(size=P.w.shape[1])
        w[j] += size * np.linalg.norm(w[j]) * way / np.linalg.norm(way)
        more, ends = {"w": w}, [max(j - 1, 0), j + 1]
    elif how == "value":
        value = P.value.copy()
        value[j] *= 1 + sign * size
        more = {"value": value}
    elif how == "breakpoint" and j > 0:
        t = P.t.copy()
        t[j] += size * (t[j + 1] - t[j] if sign > 0 else t[j - 1] - t[j])
        more, ends = {"t": t}, [j - 1, j + 1]
    elif how == "swapped" and j + 1 < k:
        order = np.arange(k)
        order[[j, j + 1]] = j + 1, j
        more = {name: getattr(P, name)[order] for name in ("b0", "b1", "value")}
        more |= {name: getattr(P, name)[order] for name in ("rho0", "rho1") if P.rho0.size}
        ends = [j, j + 2]
    elif how == "dropped" and j + 1 < k:  # piece j goes on to the end of the next, to what that ends with
        keep, own, changes = np.arange(k) != j + 1, np.repeat(np.arange(k), np.diff(P.ptr)), P.changes.copy()
        changes[0] -= changes[0] > j + 1  # what changed on the piece that goes does so on the next
        sizes = np.diff(P.ptr)[keep]
        more = {name: getattr(P, name)[own != j + 1] for name in ("index", "a0", "a1")}
        more |= {"ptr": np.append(0, np.cumsum(sizes)), "changes": changes, "t": np.delete(P.t, j + 1)}
        more |= {name: getattr(P, name)[keep] for name in ("b0", "value")}
        more |= {"b1": np.delete(P.b1, j)} | {} if P.w is None else more | {
            "b1": np.delete(P.b1, j), "w": np.delete(P.w, j + 1, axis=0)
        }  # fmt: skip
        more |= {"rho0": P.rho0[keep], "rho1": np.delete(P.rho1, j)} if P.rho0.size else {}
        ends = [j, j + 2]
    if not more:
        return None
    return replace(path, pieces=replace(P, **more)), float(P.t[ends[0]]), float(P.t[ends[1]])


def of_program(path: Any, how: str, size: float, rng: np.random.Generator) -> Changed | None:
    """One thing changed of the stored points of a path of a program; None where there is no such thing."""
    k, t, labels = len(path.labels), path.t.copy(), path.labels
    points = {"x": path.x.copy(), "z": path.z.copy()}
    j, sign = int(rng.integers(k)), float(rng.choice([-1.0, 1.0]))
    ends = [j, j + 1]
    name = "z" if "multiplier" in how else "x"
    a = points[name]
    if how in ("column", "multiplier") and a.shape[2]:
        i = int(rng.integers(a.shape[2]))
        a[j, :, i] += sign * size * np.where(a[j, :, i] != 0.0, a[j, :, i], 1.0)
    elif how in ("all columns", "all multipliers"):
        a *= 1 + sign * size
        ends = [0, k]
    elif how == "breakpoint" and j > 0:
        t[j] += size * (t[j + 1] - t[j] if sign > 0 else t[j - 1] - t[j])
        ends = [j - 1, j + 1]
    elif how == "swapped" and j + 1 < k:
        points = {name: each[np.where(np.arange(k) == j, j + 1, np.where(np.arange(k) == j + 1, j, np.arange(k)))]
                  for name, each in points.items()}  # fmt: skip
        ends = [j, j + 2]
    elif how == "dropped" and j + 1 < k:
        for each in points.values():
            each[j, 1] = each[j + 1, 1]
        points = {name: np.delete(each, j + 1, axis=0) for name, each in points.items()}
        t, labels, ends = np.delete(t, j + 1), np.delete(labels, j + 1, axis=0), [j, j + 2]
    else:
        return None
    made = replace(path, t=t, labels=labels, points=type(path.points).of(points["x"], points["z"]))
    return made, float(path.t[ends[0]]), float(path.t[ends[1]])


SMALL = ("multiplier", "all multipliers", "breakpoint")
HOWS = {
    Machine: (*SMALL, "intercept", "slope", "value", "rho", "dropped", "swapped"),
    Program: (*SMALL, "column", "all columns", "dropped", "swapped"),
}
WHOLE = ("dropped", "swapped")  # there is no size of these


def same(path: Any, other: Any) -> bool:
    """Whether nothing was changed, in doubles."""
    stored = [
        vars(each.pieces) if hasattr(each, "pieces") else {"t": each.t, "x": each.x, "z": each.z}
        for each in (path, other)
    ]
    return all(np.array_equal(value, stored[1][name]) for name, value in stored[0].items() if value is not None)


def touched(made: Any, low: float, high: float) -> Iterator[float]:
    """Points on up to two stretches between breakpoints, before and after the change."""
    inside = [float(t) for t in made.t if low < t < high]
    knots = [low, *inside, high]
    which = range(len(knots) - 1)
    if len(which) > 2:
        lengths = np.diff(knots)
        which = sorted({int(lengths.argmax()), int(lengths.argmin())})
    for j in which:
        a, b = knots[j : j + 2]  # a point of two segments is on the later one
        yield from (t for s in SHARES if a <= (t := a + s * (b - a)) < b or (t >= b and high == made.t[-1] == b))


def agrees(before: Any) -> bool | None:
    """Whether Clarabel's value at some point is that of the path before; None where it finds none."""
    t = float(0.37 * before.path.t[0] + 0.63 * before.path.t[-1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            mine, size, theirs = (
                _program_solved(before, t) if isinstance(before, Program) else _machine_solved(before, t)
            )
        except cp.SolverError:
            return None
    return None if theirs is None else bool(abs(mine - theirs) <= 1e-6 * size)


def _program_solved(before: Program, t: float) -> tuple[float, float, Any]:
    """The value of a compiled program at t, its size, and Clarabel's."""
    line, left, p = before.path.program, before.left(t), before.point(t)
    x, e, (q, b) = cp.Variable(line.n), line.equations, (p[name].astype(float) for name in ("q", "b"))
    rows = [line.A[:e] @ x == b[:e]] * bool(e) + [line.A[e:] @ x <= b[e:]] * bool(line.m > e)
    P = np.asarray(line.P.todense())
    theirs = cp.Problem(cp.Minimize(0.5 * cp.quad_form(x, cp.psd_wrap(P)) + q @ x), rows).solve(**TIGHT)
    return float(left["value"]) - float(np.sum(p["constant"])), float(left["size"]) + 1e-12, theirs


def _machine_solved(before: Machine, t: float) -> tuple[float, float, Any]:
    """The value of a classifier's problem at t, its size, and Clarabel's, in the span of the samples."""
    at, y = before.stated(Fraction(t)), before.y
    data = (before.data.numbers / before.data.over).astype(float)
    if not before.path.gram.linear:
        values, vectors = np.linalg.eigh(data)
        data = vectors * np.sqrt(np.maximum(values, 0.0))
    w, b, rho = cp.Variable(data.shape[1]), cp.Variable(), cp.Variable(nonneg=True)
    b = b if at.intercept != "none" else 0.0
    target = rho if at.total is not None else np.asarray(at.target * np.ones(y.size), dtype=float)
    slack = target - cp.multiply(y, data @ w + b)
    value, rows = 0.5 * float(at.lam) * cp.sum_squares(w), []
    value += 0.5 * float(at.lam) * cp.square(b) if at.intercept == "feature" else 0.0
    if at.caps is not None:
        value += at.caps.astype(float) @ cp.pos(slack) - (0.0 if at.total is None else float(at.total) * rho)
    elif at.squares is not None:
        value += at.squares.astype(float) @ cp.square(cp.pos(slack))
    else:
        rows = [slack <= 0]
    mine = float(before.primal(t)[0])
    size = abs(mine) + (0.0 if at.caps is None else 1e-3 * float(at.caps.sum())) + 1e-9
    return mine, size, cp.Problem(cp.Minimize(value), rows).solve(**TIGHT)


# ---- all of it -------------------------------------------------------------------------------------------------------


def changes(
    of: Any, rng: np.random.Generator, low: float, high: float, hows: Sequence[str]
) -> Iterator[tuple[Any, ...]]:
    """Paths that differ from one: how, by how much, and what `of_machine` or `of_program` made of it."""
    change = of_program if isinstance(of, Program) else of_machine
    made = tries = 0
    while made < EACH and tries < 8 * EACH:
        how, size = hows[tries % len(hows)], float(10.0 ** rng.uniform(low, high))
        changed, tries = change(of.path, how, size, rng), tries + 1
        if changed is not None and not same(of.path, changed[0]):
            made += 1
            yield how, size, *changed


def trial(seed: int, found: dict[str, Counter[str]], tell: Callable[[str], Any]) -> None:
    """One path: what is said of it where it is falsified, and where it is moved by next to nothing."""
    kind, rng = [*KINDS][seed % len(KINDS)], np.random.default_rng(seed)
    count = found.setdefault(kind, Counter())
    try:
        of = KINDS[kind](rng)
    except (pc.DegeneratePathError, pc.InputError):
        count["not traced"] += 1
        return
    if not of.path.proof.passes(TOL):  # a kernel whose rounding decides
        count["not proved"] += 1
        return
    count["traced"] += 1
    count[{True: "as Clarabel", False: "not as Clarabel", None: "Clarabel fails"}[agrees(of)]] += 1
    for how, size, path, low, high in changes(of, rng, -12.0, -1.0, HOWS[type(of)]):
        count["falsified"] += 1
        if not path.proof.passes(TOL):
            count["refused"] += 1
            continue
        other = of.again(path)
        most, where, rounded = 0.0, "", False
        for t in touched(path, low, high):
            off = other.off(of, t)
            name = max(off, key=off.__getitem__)
            if off[name] > 10 * TOL and off[name] <= other.rounding(of, t):
                rounded = True
            elif off[name] > most:
                most, where = off[name], f"{name} at {t!r}"
        count["proved"] += 1
        count["within rounding"] += rounded and most <= 10 * TOL
        if most > 10 * TOL:
            count["falsely proved"] += 1
            tell(f"proved, and wrong: {kind}, seed {seed}, {how} by {size:.1e}: {where} is {most:.1e}")
    for how, size, path, low, high in changes(of, rng, -12.0, -9.0, [h for h in HOWS[type(of)] if h not in WHOLE]):
        passes = path.proof.passes(TOL)
        points, other = [*touched(path, low, high)], of.again(path)
        if passes:  # at one point, as that takes long
            points = points[len(points) // 2 :][:1]
        for j in path.proof.failures(TOL)[:2]:
            points += touched(path, float(path.t[j]), float(path.t[j + 1]))
        if max((other.moved(of, t) for t in points), default=1.0) > TOL / 10:
            count["moved further"] += 1
            continue
        count["moved"] += 1
        if not passes:
            count["falsely refused"] += 1
            said = path.proof.explain(TOL).split("\n")[0][:200]
            tell(f"refused, and right: {kind}, seed {seed}, {how} by {size:.1e}: {said}")


COLUMNS = {
    "traced": "traced", "as Clarabel": "agree", "not as Clarabel": "differ", "falsified": "falsified",
    "refused": "refused", "proved": "proved", "within rounding": "rounding", "falsely proved": "wrong",
    "moved": "moved", "falsely refused": "wrong",
}  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example: python tests/benchmarks/falsified.py --count 500 --seed 1000",
    )
    parser.add_argument("--count", type=int, default=5000, help="falsified paths, and moved ones; default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="that of the first path; default: %(default)s")
    parser.add_argument("--smoke", action="store_true", help="one path of each kind: seconds")
    args = parser.parse_args(argv)
    found: dict[str, Counter[str]] = {}
    began, seed = time.process_time(), args.seed
    while True:
        sums: Counter[str] = sum(found.values(), Counter())
        enough = min(sums["falsified"], sums["moved"]) >= args.count
        if seed - args.seed >= len(KINDS) if args.smoke else enough:
            break
        trial(seed, found, lambda text: print(text, flush=True))
        seed += 1
    print(f"paths of seeds {args.seed} to {seed - 1}, {time.process_time() - began:.0f} s of the processor")
    print(f"{'kind':<20}" + "".join(f"{name:>10}" for name in COLUMNS.values()))
    for kind, count in [*found.items(), ("all", sums)]:
        print(f"{kind:<20}" + "".join(f"{count[name]:>10}" for name in COLUMNS))
    return int(bool(sums["falsely proved"] or sums["falsely refused"]))


if __name__ == "__main__":
    sys.exit(main())
