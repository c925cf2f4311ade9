"""The theorem of lines with hinge slacks, held against objectives in fractions at points that are far from feasible."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from paretoclf.problem.operator import Features
from paretoclf.proof.bernstein import columns
from paretoclf.proof.hinge import HingeTerms
from paretoclf.proof.soft_margin import SoftMargin


def terms_at(problem: SoftMargin, X, alpha, b, w) -> HingeTerms:
    """One segment of no length but in t: the same point at both ends."""
    y, caps, lam = problem.y, problem.caps, problem.lam
    implied = X.T @ (y * alpha) / lam
    constant = float(y @ alpha) / lam if problem.intercept == "feature" else 0.0
    margin = y * (X @ w + b) - 1.0
    inside = np.clip(alpha, 0.0, caps)
    gap = float(inside @ np.maximum(margin, 0.0) + (caps - inside) @ np.maximum(-margin, 0.0))
    norm2 = lam * (float(implied @ implied) + constant**2)
    apart = np.linalg.norm(np.append(w - implied, b - constant if problem.intercept != "free" else 0.0))
    outside = np.abs(alpha - inside)
    off = float(np.abs(margin)[outside > 0].max(initial=0.0))

    def both(x):
        return np.full((1, 2), float(x))

    return HingeTerms(
        t=np.array([[0.0, 1.0]]),
        gap=np.full((1, 3), gap),
        norms=columns(*np.full((3, 1), norm2)),
        sums=both(alpha.sum()),
        balance=both(y @ alpha),
        plus=both(caps[y > 0].sum()),
        minus=both(caps[y < 0].sum()),
        outside=both(outside.sum()),
        off=both(off),
        distance=both(apart),
        slack=np.array([float(np.maximum(-margin, 0.0).max())]),
        b=both(b),
        rounding=np.zeros((1, 3)),
        residuals={},
        samples=np.zeros(1, dtype=np.int64),
        length2=float((X * X).sum(axis=1).max()),
        lam=lam,
        intercept=problem.intercept,
    )


@pytest.mark.parametrize("intercept", ["free", "none", "feature"])
@pytest.mark.parametrize("wrong", ["nothing", "box", "balance", "slope", "all", "aligned", "clipped"])
@pytest.mark.parametrize("seed", range(20))
def test_no_gap_is_less_than_that_of_the_feasible_point_next_to_it(intercept, wrong, seed):
    rng = np.random.default_rng(seed)
    n, d = 8, 2
    X, y = rng.integers(-4, 5, (n, d)) / 2.0, np.where(np.arange(n) < 3, 1.0, -1.0)
    caps, lam = rng.integers(1, 9, n) / 4.0, float(rng.choice([0.5, 1.0, 2.0]))
    alpha = caps * rng.integers(0, 5, n) / 4.0
    up, down = alpha[y > 0].sum(), alpha[y < 0].sum()
    if intercept == "free" and min(up, down) > 0:
        alpha = np.where(y > 0, alpha * min(up, down) / up, alpha * min(up, down) / down)
    if wrong in ("balance", "all"):
        alpha = np.where(y > 0, 0.5 * alpha, alpha)
    if wrong in ("box", "all"):
        alpha[0] = 1.5 * caps[0]
        alpha[-1] = -0.25 * caps[-1]
    longest = int(np.argmax((X * X).sum(axis=1)))
    if wrong == "aligned":
        alpha[longest] = 1.75 * caps[longest]
    problem = SoftMargin(y, Features(X), caps, lam=lam, intercept=intercept)
    if wrong == "clipped":  # in balance, as long as nobody asks for the box
        alpha[0] = 3.0 * caps[0]
        alpha[1:3] = 0.0
        alpha[y < 0] = alpha[0] * caps[y < 0] / caps[y < 0].sum()
    w = X.T @ (y * alpha) / lam
    b = {"free": 0.25, "none": 0.0, "feature": float(y @ alpha) / lam}[intercept]
    if wrong in ("slope", "all"):
        w = w + rng.normal(size=d) / 4.0
    if wrong == "aligned":  # the slope is wrong in the direction in which multipliers outside their box move it
        w = w + 0.5 * y[longest] * X[longest]
    proof = terms_at(problem, X, alpha, b, w).proof()
    exact = problem.bounds(alpha[None], b, w)
    gap = exact.primal - exact.dual
    assert (proof.gaps[0] >= float(gap) - 1e-12).all()
    if wrong == "nothing" and intercept != "free":
        assert proof.gaps[0, 0] == pytest.approx(float(gap), abs=1e-12)
    assert Fraction(float(proof.duals[0, 0])) <= exact.primal + Fraction(1, 10**12)
