"""Features, dense or sparse: no matrix of n x n numbers is formed, and products go through slopes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.problem.exact_sums import product
from paretoclf.problem.operator import twice
from paretoclf.problem.operator.fractions import ExactSlopes
from paretoclf.problem.operator.operator import FeatureSlopes, PreciseSlope, Quadratic, TwiceSlopes, affects
from paretoclf.problem.samples import Samples, dense, dot, largest, signed, squares


class Features(Quadratic):
    """Features X: an array or a CSR array of shape (n, d)."""

    def __init__(self, X: Samples) -> None:
        self.X: Samples = X
        self.n, self.width = X.shape

    @property
    def sparse(self) -> bool:
        """Whether they are stored as a sparse array."""
        return bool(sp.issparse(self.X))

    @property
    def raw(self) -> dict[str, Any]:
        """The features."""
        return {"X": self.X}

    @cached_property
    def reach(self) -> Array:
        """Largest absolute value of each feature, shape (d,)."""
        return largest(self.X)

    def times(self, v: Array) -> Array:
        """X (X' v)."""
        return np.asarray(self.X @ (self.X.T @ v))

    def whole(self) -> Array:
        """X X'."""
        return dot(self.X, self.X)

    def rows(self, index: Any) -> Array:
        """Products of some samples with all."""
        return dot(self.X[index], self.X)

    def block(self, index: Any) -> Array:
        """Products among some samples."""
        return dot(self.X[index], self.X[index])

    def diagonal(self) -> Array:
        """Squared lengths."""
        return self._squares.copy()

    @cached_property
    def _squares(self) -> Array:
        return squares(self.X)

    @property
    def terms2(self) -> float:
        """That of a sample that has the largest value of every feature."""
        return float(self.reach @ self.reach)

    def slope(self, coef: Array) -> Array:
        """X' coef."""
        return np.asarray(self.X.T @ coef)

    def own(self, w: Any) -> Array | None:
        """The slope."""
        return np.asarray(w)

    def zeros(self, *shape: int) -> Array | None:
        """No slope at all."""
        return np.zeros((*shape, self.width))

    def slopes(self, coef: Array, W: Array | None = None) -> FeatureSlopes:
        """Scores X W, of what the coefficients imply or of what is given."""
        implied = self.slope(coef)
        slope, apart = (implied, np.zeros(coef.shape[1])) if W is None else (W, self._apart(W, implied, coef))
        return FeatureSlopes(np.asarray(self.X @ slope), np.einsum("dk,dk->k", slope, slope), apart)

    @cached_property
    def mean(self) -> Array:
        """Mean of dense features, shape (d,); of one that is constant its value, unrounded."""
        X = self.X
        return np.asarray(np.where((X[0] == X).all(axis=0), X[0], X.mean(axis=0)))

    @property
    def middle(self) -> Array | None:
        """The mean of dense features."""
        return None if self.sparse else self.mean

    @cached_property
    def near(self) -> Features:
        """Dense features, from their mean; sparse ones, which would fill up, as they are."""
        return self if self.sparse else Features(self.X - self.mean)

    def balanced(self, coef: Array) -> FeatureSlopes:
        """Slopes of the features from their mean, with scores as from 0."""
        found = self.near.slopes(coef)
        return found if self.sparse else replace(found, scores=found.scores + self.mean @ self.near.slope(coef))

    @property
    def balanced2(self) -> float:
        """From the mean."""
        return self.near.length2

    def norms(self, coef: Array) -> Array:
        """Those of ``X' coef``."""
        slope = self.slope(coef)
        return np.asarray(np.einsum("dk,dk->k", slope, slope))

    def score_terms(self, coef: Array, norm2: Array) -> Array:
        """The longest sample times the slope."""
        return np.asarray(np.sqrt(self.length2 * norm2))

    def signed(self, y: Array) -> Samples:
        """The features, each sample times its label."""
        return signed(self.X, y)

    def largest_terms(self, w: Array) -> Array:
        """What the absolute terms of scores of slopes (k, d) add up to at most, shape (k,)."""
        return np.asarray(np.asarray(abs(self.X) @ np.abs(w).T).max(axis=0))

    def _apart(self, W: Array, implied: Array, coef: Array) -> Array:
        """Distance of given slopes (d, k) from those that coefficients imply, in scores."""
        return affects(W, implied, np.asarray(abs(self.X).T @ np.abs(coef)), self.reach[:, None])

    def twice(self, high: Array, low: Array, W: Array | None = None) -> TwiceSlopes:
        """Two products, one after the other."""
        turned = sp.csr_array(self.X.T) if self.sparse else self.X.T
        implied = twice.product(turned, high, low)
        apart = distance = np.zeros(high.shape[1])
        if W is not None:
            apart, distance = self._apart(W, implied[0], high), np.linalg.norm(W - implied[0], axis=0)
        slope = implied if W is None else (W, np.zeros(W.shape))
        return TwiceSlopes(*twice.product(self.X, *slope), apart, distance)

    def precise(self, parts: Array, w: Array | None = None) -> PreciseSlope:
        """A slope that is rounded once, and products with it."""
        implied = product(self.X.T, parts)
        slope = implied if w is None else w
        pair = np.stack([slope, np.zeros_like(slope)])
        apart = 0.0 if w is None else float(self._apart(w[:, None], implied[:, None], parts[0][:, None])[0])
        return PreciseSlope(lambda more=None: product(self.X, pair, more), float(slope @ slope), apart)

    def exactly(self) -> ExactSlopes:
        """From the features as they are."""
        return ExactSlopes(dense(self.X), features=True)

    def scores_at(self, index: Any, coef: Array) -> Array:
        """Through the slopes."""
        return np.asarray(self.X[index] @ self.slope(coef))

    def project(self, w: Array) -> Array:
        """X w."""
        return np.asarray(self.X @ w)

    def scores_of(self, Z: Any, coef: Array) -> Array:
        """Features times slopes."""
        return np.asarray(Z @ self.slope(coef))

    def largest_value(self, Z: Any) -> float:
        """Product of the largest lengths."""
        return float(np.sqrt(squares(Z).max(initial=0.0) * self.length2))

    def part(self, index: Any) -> Features:
        """Some of the samples."""
        return Features(self.X[index])

    def new_in_part(self, index: Any, rows: Any) -> Samples:
        """The features of these samples."""
        return self.X[rows]

    def centred(self, mean: Array | None) -> Features:
        """Features less a point."""
        if mean is None:
            return self
        return self.near if mean is self.middle else Features(self.X - mean)

    def over(self, unit: float) -> Features:
        """Features divided by it."""
        return Features(self.X / unit)

    def plus_constant(self) -> Features:
        """A column of ones."""
        ones = np.ones((self.n, 1))
        return Features(
            sp.csr_array(sp.hstack([self.X, ones], format="csr")) if self.sparse else np.hstack([self.X, ones])
        )

    def plus_diagonal(self, square: Array) -> Features:
        """A diagonal matrix beside the features."""
        return Features(sp.hstack([sp.csr_array(self.X), sp.diags_array(np.sqrt(square))], format="csr"))

    def coordinates(self, factor: Callable[[], Array]) -> tuple[Any, Array] | None:
        """The features, from their mean where they are dense."""
        F = self.near.X
        return F, np.full(F.shape[1], np.sqrt(np.max(squares(F))))
