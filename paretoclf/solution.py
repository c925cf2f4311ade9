"""What every solver of ours returns: a Classifier, inside a Solution that carries its own certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.certificate import Certificate, certify_many
from paretoclf.checks import Array, check_matrix
from paretoclf.costs import Costs
from paretoclf.errors import InputError
from paretoclf.gram import Gram


@dataclass(frozen=True)
class Classifier:
    """A decision function ``f(x) = sum_i coef_i k(x_i, x) + b``; predicts +1 exactly where ``f(x) >= 0``.

    Attributes
    ----------
    gram : Gram
        Training samples and kernel.
    coef : array of shape (n,)
        ``y_i alpha_i``.
    b : float
        Intercept used by `decision_function`.
    b_interval : tuple of float
        All optimal intercepts; its two ends are equal when b is unique.
    slope : array of shape (d,) or None
        w, where it was computed apart from the multipliers (linear kernel).
    """

    gram: Gram = field(repr=False)
    coef: Array = field(repr=False)
    b: float
    b_interval: tuple[float, float]
    slope: Array | None = field(default=None, repr=False)

    @property
    def w(self) -> Array:
        """Slope of shape (d,), linear kernel only."""
        if not self.gram.linear:
            raise InputError("w exists for the linear kernel only; use decision_function")
        return self.gram.X.T @ self.coef if self.slope is None else self.slope

    def decision_function(self, X: Any) -> Array:
        """Scores f of shape (m,) for X of shape (m, d) (for a precomputed kernel: values against the training set)."""
        if self.gram.linear:
            return np.asarray(check_matrix(X, n_features=self.gram.X.shape[1]) @ self.w + self.b)
        return np.asarray(self.gram.cross(X) @ self.coef + self.b)

    def predict(self, X: Any) -> Array:
        """Labels -1 and +1; ``f(x) = 0`` is labelled +1."""
        return np.where(self.decision_function(X) >= 0, 1.0, -1.0)


@dataclass(frozen=True)
class Solution:
    """A solved problem, whoever solved it.

    Attributes
    ----------
    costs : Costs
        Where in the cost plane.
    classifier : Classifier
        Decision function, w, b and the interval of all optimal b.
    alpha : array of shape (n,)
        Multipliers of the margin constraints, in [0, cap].
    value, dual_value : float
        Primal and dual objective at feasible points (from the certificate).
    certificate : Certificate
        The proof.
    source : str
        Who computed it: ``"path"``, ``"CLARABEL"``, ...
    status : str
        What the source claimed about it. Never trusted; see the certificate.
    timing : mapping
        Seconds by stage, such as ``build``, ``solve``, ``polish``.
    xi : array of shape (n,)
        Slacks ``max(0, 1 - y f)``.
    """

    costs: Costs
    classifier: Classifier
    alpha: Array = field(repr=False)
    certificate: Certificate
    source: str
    status: str = "optimal"
    timing: Mapping[str, float] = field(default_factory=dict)
    xi: Array = field(default_factory=lambda: np.zeros(0), repr=False)

    @property
    def value(self) -> float:
        """Primal objective."""
        return self.certificate.primal_value

    @property
    def dual_value(self) -> float:
        """Dual objective (a lower bound of `value`)."""
        return self.certificate.dual_value


def make_solution(
    gram: Gram,
    y: Array,
    caps: Array,
    costs: Costs,
    alpha: Array,
    *,
    b: float | None = None,
    w: Array | None = None,
    source: str,
    status: str = "optimal",
    timing: Mapping[str, float] | None = None,
) -> Solution:
    """Complete multipliers to a Solution: interval of b, slacks, certificate.

    Parameters
    ----------
    gram, y, caps, costs
        The problem.
    alpha : array of shape (n,)
        Multipliers.
    b : float, optional
        Intercept; by default the middle of the interval of optimal ones, or the finite end of a half-line.
    w : array of shape (d,), optional
        Slope, where known better than the multipliers imply it (linear kernel).
    source, status, timing
        Passed on.
    """
    coef = y * alpha
    offset_free = gram.matvec(coef) if w is None else gram.X @ w
    interval = intercept_interval(y, caps, alpha, offset_free)
    if b is None:
        b = point_of(interval)
    lo, hi = min(interval[0], b), max(interval[1], b)
    kind: dict[str, Any] = {"X": gram.X, "W": None if w is None else w[:, None]} if gram.linear else {"K": gram.matrix}
    certificate = certify_many(y, caps[:, None], alpha[:, None], np.array([b]), **kind)[0]
    return Solution(
        costs=costs,
        classifier=Classifier(gram, coef, float(b), (float(lo), float(hi)), w),
        alpha=alpha,
        certificate=certificate,
        source=source,
        status=status,
        timing=dict(timing or {}),
        xi=np.maximum(0.0, 1.0 - y * (offset_free + b)),
    )


def intercept_interval(y: Array, caps: Array, alpha: Array, scores: Array, tol: float = 1e-9) -> tuple[float, float]:
    """All optimal intercepts for the multipliers alpha, given scores ``w . x_i`` without intercept.

    ``b_lo`` is the largest ``y_i - w.x_i`` over positives below their cap and negatives above zero, ``b_hi`` the
    smallest over positives above zero and negatives below their cap. A multiplier within ``tol`` of a bound
    (relative to its cap) counts as at it. Half-lines have an infinite end.
    """
    F = y - scores
    above = alpha > tol * caps
    below = alpha < (1 - tol) * caps
    lower = np.where(y > 0, below, above)
    upper = np.where(y > 0, above, below)
    lo = float(F[lower].max()) if lower.any() else -np.inf
    hi = float(F[upper].min()) if upper.any() else np.inf
    if lo > hi:  # rounding only: the two ends are one point
        lo = hi = 0.5 * (lo + hi)
    return lo, hi


def point_of(interval: tuple[float, float]) -> float:
    """Middle of a finite interval, finite end of a half-line, 0 for the whole line."""
    lo, hi = interval
    if np.isfinite(lo) and np.isfinite(hi):
        return 0.5 * (lo + hi)
    if np.isfinite(lo):
        return lo
    return hi if np.isfinite(hi) else 0.0
