"""Breakpoints of curves in fractions: ``python tests/benchmarks/curve_breakpoints.py 500`` (minutes; ``--smoke``).

Elastic nets along their ridge, and long-only portfolios whose covariance shrinks to its diagonal, from small integers:
the matrix P moves. At each event of the curve the variables that are at 0 before it and behind it are read from the
polynomials in the middle of both pieces; with these, the optimality conditions are solved in fractions at t - 1e-9 and
t + 1e-9. An event is wrong where either are no optimum, or both are the same. Prints events and wrong ones of each kind
until there are so many.
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np

import paretoclf as pc

#: Distance from an event, and the share of the largest entry below which one is 0 in the middle of a piece.
BESIDE, ZERO = Fraction(1, 10**9), 1e-7


def solved(rows: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """Solution of equations in fractions; None where they are singular."""
    table = [[*row, side] for row, side in zip(rows, right, strict=True)]
    for i in range(len(table)):
        pivot = next((k for k in range(i, len(table)) if table[k][i] != 0), None)
        if pivot is None:
            return None
        table[i], table[pivot] = table[pivot], table[i]
        for k in range(len(table)):
            if k != i and table[k][i] != 0:
                share = table[k][i] / table[i][i]
                table[k] = [a - share * b for a, b in zip(table[k], table[i], strict=True)]
    return [row[-1] / row[i] for i, row in enumerate(table)]


class Net:
    """Elastic net along its ridge, from 0 to 200."""

    def __init__(self, rng: np.random.Generator) -> None:
        X = rng.integers(-3, 4, size=(12, 5)) + 2 * rng.integers(-2, 3, size=(12, 1))
        y = X[:, :3] @ [2, -1, 1] + rng.integers(-3, 4, size=12)
        self.gram, self.products, self.price = (X.T @ X).tolist(), (X.T @ y).tolist(), 18
        w, mu = cp.Variable(5, name="x"), cp.Parameter(nonneg=True, name="mu")
        objective = cp.sum_squares(X @ w - y) / 2 + self.price * cp.norm1(w) + mu / 2 * cp.sum_squares(w)
        self.line = cp.Problem(cp.Minimize(objective)), {mu: 0.0}, {mu: 200.0}

    def optimal(self, signs: list[int], t: Fraction) -> bool:
        """Whether an optimum at t has these signs."""
        on = [j for j, sign in enumerate(signs) if sign]
        rows = [[Fraction(self.gram[i][j]) + (200 * t if i == j else 0) for j in on] for i in on]
        w = solved(rows, [Fraction(self.products[i] - self.price * signs[i]) for i in on])
        if w is None or not all(value * signs[j] > 0 for value, j in zip(w, on, strict=True)):
            return False
        rest = [i for i in range(len(signs)) if i not in on]
        left = [self.products[i] - sum(self.gram[i][j] * v for v, j in zip(w, on, strict=True)) for i in rest]
        return all(abs(each) < self.price for each in left)


class Portfolio:
    """Long-only portfolio whose covariance goes to its diagonal."""

    def __init__(self, rng: np.random.Generator) -> None:
        returns = rng.integers(-4, 5, size=(9, 6)) + 2 * rng.integers(-2, 3, size=(9, 1))
        self.own = (returns.T @ returns + np.eye(6, dtype=int)).tolist()
        self.gain = rng.integers(-6, 7, size=6).tolist()
        S = np.array(self.own, dtype=float)
        root = np.linalg.cholesky(S).T
        x = cp.Variable(6, name="x")
        own, other = (cp.Parameter(nonneg=True, name=name) for name in ("own", "other"))
        risk = own / 2 * cp.sum_squares(root @ x) + other / 2 * cp.sum_squares(np.sqrt(np.diag(np.diag(S))) @ x)
        problem = cp.Problem(cp.Minimize(risk - np.array(self.gain) @ x), [cp.sum(x) == 1, x >= 0])
        self.line = problem, {own: 1.0, other: 0.0}, {own: 0.0, other: 1.0}

    def optimal(self, signs: list[int], t: Fraction) -> bool:
        """Whether an optimum at t has these shares that are not 0."""
        on = [j for j, sign in enumerate(signs) if sign]

        def entry(i: int, j: int) -> Fraction:
            return Fraction(self.own[i][j]) * (1 if i == j else 1 - t)

        rows = [[*(entry(i, j) for j in on), Fraction(1)] for i in on]
        rows.append([*(Fraction(1) for _ in on), Fraction(0)])
        found = solved(rows, [*(Fraction(self.gain[i]) for i in on), Fraction(1)])
        if found is None or not all(each > 0 for each in found[:-1]):
            return False
        rest = [i for i in range(len(signs)) if i not in on]
        gradient = [sum(entry(i, j) * v for v, j in zip(found, on, strict=False)) - self.gain[i] for i in rest]
        return all(each + found[-1] > 0 for each in gradient)


def signs_in(path: Any, start: float, stop: float) -> list[int]:
    """Signs of x in the middle between two t, where what is small is 0."""
    x = np.ravel(path.at(0.5 * (start + stop)).variables["x"])
    return np.where(np.abs(x) < ZERO * np.abs(x).max(), 0, np.sign(x)).astype(int).tolist()


def wrong_events(case: Net | Portfolio) -> tuple[int, list[str]]:
    """Number of events of a curve, and what is wrong."""
    path = pc.trace(*case.line, curve=True, progress=False)
    where = sorted({event.t for event in path.events})
    pieces = [(piece.start, piece.stop) for piece in path.pieces]
    wrong = []
    for t in where:
        before, behind = (signs_in(path, *next(p for p in pieces if p[end] == t)) for end in (1, 0))
        sides = case.optimal(before, Fraction(t) - BESIDE), case.optimal(behind, Fraction(t) + BESIDE)
        if before == behind or not all(sides):
            wrong.append(f"t = {t:.12g}: {before} -> {behind}, optimal {sides}")
    return len(where), wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("count", type=int, nargs="?", default=500, help="events of each kind (default: 500)")
    parser.add_argument("--smoke", action="store_true", help="ten events of each kind")
    args = parser.parse_args()
    for kind in (Net, Portfolio):
        events, seed, wrong = 0, 0, list[str]()
        while events < (10 if args.smoke else args.count):
            try:
                count, more = wrong_events(kind(np.random.default_rng(seed)))
            except pc.ParetoclfError as error:
                count, more = 0, []
                print(f"{kind.__name__} {seed}: {str(error)[:100]}")
            events, seed, wrong = events + count, seed + 1, [*wrong, *(f"{seed}: {each}" for each in more)]
        print(
            f"{kind.__name__}: {events} events of {seed} paths, {len(wrong)} wrong",
            *wrong[:10],
            sep="\n   ",
            flush=True,
        )
