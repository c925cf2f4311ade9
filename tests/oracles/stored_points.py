"""Points of stored paths: what is stored at a share of a segment, and both objectives there, in fractions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np


class StoredPoint:
    """Multipliers, caps, intercept, margin and slope of a path of samples, whose pieces may have errors.

    Everything is read off the arrays, sample by sample: an intercept that nothing stores is 0, or the weight of a
    feature that the multipliers imply.
    """

    def __init__(self, path: Any, pieces: Any, segment: int, share: float) -> None:
        problem, self.y = path.soft_margin, path.y
        ends = [_multipliers(problem, pieces, segment, end) for end in (0, 1)]
        t = (1 - share) * pieces.t[segment] + share * pieces.t[segment + 1]
        self.alpha = (1 - share) * ends[0] + share * ends[1]
        boxes = [
            (1 - pieces.t[segment + end]) * problem.caps[0] + pieces.t[segment + end] * problem.caps[1]
            for end in (0, 1)
        ]
        inside = [np.clip(alpha, 0.0, box) for alpha, box in zip(ends, boxes, strict=True)]
        self.inside = (1 - share) * inside[0] + share * inside[1]
        self.caps = (1 - t) * problem.caps[0] + t * problem.caps[1]
        self.lam, self.intercept = problem.lam, problem.intercept
        self.w = None if pieces.w is None else (1 - share) * pieces.w[segment] + share * pieces.w[segment + 1]
        self.b = float((1 - share) * pieces.b0[segment] + share * pieces.b1[segment])
        if self.intercept != "free" and self.w is None:
            self.b = float(self.y @ self.alpha) / self.lam if self.intercept == "feature" else 0.0
        self.nu, self.rho = None, 1.0
        if problem.nu is not None:
            self.nu = float((1 - t) * problem.nu[0] + t * problem.nu[1])
            self.rho = float((1 - share) * pieces.rho0[segment] + share * pieces.rho1[segment])
        self.X, self.K = path.gram.X, path.gram.matrix
        self.problem = replace(problem, caps=self.caps, nu=self.nu)

    @property
    def implied(self) -> Any:
        """The slope that the multipliers imply, for the linear kernel."""
        return self.X.T @ (self.y * self.alpha) / self.lam

    @property
    def norm2(self) -> float:
        """lam times the squared norm of that slope, with the weight of a feature 1."""
        coef = self.y * self.alpha
        feature = float(coef.sum()) ** 2 if self.intercept == "feature" else 0.0
        return (float(coef @ self.K @ coef) + feature) / self.lam

    def objectives(self) -> tuple[float, float]:
        """Primal objective, and the larger dual one: of the multipliers, or of those in their box at both ends."""
        exact = self.problem.bounds(self.alpha[None], self.b, self.w, self.rho)
        inside = self.problem.bounds(self.inside[None], self.b, self.w, self.rho)
        return float(exact.primal), float(max(exact.dual, inside.dual))

    def scores(self) -> Any:
        """Scores of all samples."""
        products = self.K @ (self.y * self.alpha) / self.lam if self.w is None else self.X @ self.w
        return products + self.b


def _multipliers(problem: Any, pieces: Any, segment: int, end: int) -> Any:
    """All multipliers at an end of a segment."""
    state = np.array(pieces.state)
    for _, sample, new in pieces.changes[:, pieces.changes[0] <= segment].T:
        state[sample] = new
    t = pieces.t[segment + end]
    alpha = np.where(state == 1, (1 - t) * problem.caps[0] + t * problem.caps[1], 0.0)
    part = slice(pieces.ptr[segment], pieces.ptr[segment + 1])
    alpha[pieces.index[part]] = (pieces.a1 if end else pieces.a0)[part]
    return alpha


def with_errors(
    path: Any,
    *,
    slopes: bool = False,
    alpha: float = 1.0,
    rho: float = 1.0,
    b: float = 0.0,
    w: float = 0.0,
    end: bool = False,
    sample: float = 0.0,
) -> Any:
    """Pieces with errors: factors of multipliers (at the end alone, or at both) and of the margin, and what is added.

    ``slopes`` says whether slopes are stored; ``sample`` is added to the first multiplier at its beginning.
    """
    stored = path.pieces
    a0 = stored.a0.copy() if end else alpha * stored.a0
    a0[:1] += sample
    own = np.array([path.slope(float(t)) for t in path.t]) + w if slopes else None
    margins = {"rho0": rho * stored.rho0, "rho1": rho * stored.rho1}
    return replace(stored, a0=a0, a1=alpha * stored.a1, b0=stored.b0 + b, b1=stored.b1 + b, w=own, **margins)
