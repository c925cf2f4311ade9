"""Two formulations from nothing, each certified against a dual of its own, and a mistake that its gap gives away."""

from __future__ import annotations

from functools import cached_property

import cvxpy as cp
import numpy as np

import paretoclf as pc


class SquaredHinge(pc.SampleFormulation):
    """Squared slacks: |w|^2 / 2 + C sum_i xi_i^2 subject to y_i (w.x_i + b) >= 1 - xi_i."""

    domain = {"C": pc.POSITIVE}

    @cached_property
    def primal(self):
        w, b, xi = cp.Variable(self.X.shape[1], name="w"), cp.Variable(name="b"), cp.Variable(self.n, name="xi")
        margin = (self.signed @ w + self.y * b >= 1 - xi).set_label("margin")
        return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + self.parameters["C"] * cp.sum_squares(xi)), [margin])

    @cached_property
    def dual(self):
        alpha, C = cp.Variable(self.n, name="alpha"), self.parameters["C"]
        bend = cp.CallbackParam(callback=lambda: 1 / (4 * C.value), nonneg=True)  # from xi = alpha / (2 C)
        objective = cp.sum_squares(self.signed.T @ alpha) / 2 + bend * cp.sum_squares(alpha) - cp.sum(alpha)
        constraints = [(alpha >= 0).set_label("sign"), (self.y @ alpha == 0).set_label("balance")]
        return cp.Problem(cp.Minimize(objective), constraints)


class GroupMargin(pc.SampleFormulation):
    """A norm that keeps or drops whole groups of features: sum_g |w_g| + C sum_i xi_i."""

    domain = {"C": pc.POSITIVE}
    groups = (slice(0, 10), slice(10, 20), slice(20, 30))

    @cached_property
    def primal(self):
        w, b, xi = cp.Variable(self.X.shape[1], name="w"), cp.Variable(name="b"), cp.Variable(self.n, name="xi")
        constraints = [(self.signed @ w + self.y * b >= 1 - xi).set_label("margin"), (xi >= 0).set_label("slack")]
        norms = sum(cp.norm(w[g]) for g in self.groups)
        return cp.Problem(cp.Minimize(norms + self.parameters["C"] * cp.sum(xi)), constraints)

    @cached_property
    def dual(self):
        alpha = cp.Variable(self.n, name="alpha")
        constraints = [(alpha >= 0).set_label("lower"), (alpha <= self.parameters["C"]).set_label("upper")]
        constraints += [(self.y @ alpha == 0).set_label("balance")]
        for k, g in enumerate(self.groups):  # the dual norm: each group's slope inside the unit ball
            constraints.append((cp.norm(self.signed[:, g].T @ alpha) <= 1).set_label(f"group {k}"))
        return cp.Problem(cp.Minimize(-cp.sum(alpha)), constraints)


class Mistaken(SquaredHinge):
    """The squared hinge with a mistake in its dual: 1 / (2 C) where 1 / (4 C) belongs."""

    @cached_property
    def dual(self):
        alpha, C = cp.Variable(self.n, name="alpha"), self.parameters["C"]
        bend = cp.CallbackParam(callback=lambda: 1 / (2 * C.value), nonneg=True)
        objective = cp.sum_squares(self.signed.T @ alpha) / 2 + bend * cp.sum_squares(alpha) - cp.sum(alpha)
        constraints = [(alpha >= 0).set_label("sign"), (self.y @ alpha == 0).set_label("balance")]
        return cp.Problem(cp.Minimize(objective), constraints)


def main() -> None:
    """Solve, certify, sweep, and find the mistake."""
    data = pc.datasets.load("wdbc", n=200)
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)

    for formulation in (SquaredHinge(X, data.y), GroupMargin(X, data.y)):
        solution = formulation.solve(C=0.5)
        print(f"{type(formulation).__name__}: {solution.certificate.explain()}")
        assert solution.certificate.passes(1e-6)
        print(solution.duality_table()[:4])

    sweep = pc.sweep(GroupMargin(X, data.y), C=[0.005, 0.02, 0.5], progress=False)
    print(sweep)
    for solution in sweep:
        norms = [float(np.linalg.norm(solution.classifier.w[g])) for g in GroupMargin.groups]
        print(f"C = {solution.values['C']}: groups that are used: {[norm > 1e-6 for norm in norms]}")

    # An independent statement of the same problem: the biobjective margin at theta = 1, whose value is twice as large.
    ours = pc.BiobjectiveMargin(X, data.y).solve(theta=1.0, C_plus=1.0, C_minus=1.0)
    mine = SquaredHinge(X, data.y).solve(C=0.5)
    print(f"against BiobjectiveMargin: {abs(2 * mine.value - ours.value) / ours.value:.1e}")

    certificate = Mistaken(X, data.y).solve(C=0.5).certificate
    print(f"Mistaken: {certificate.explain()}")
    assert not certificate.passes(1e-2)


if __name__ == "__main__":
    main()
