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
        """Stored features, by their name for judges."""
        return {"X": self.X}

    @cached_property
    def reach(self) -> Array:
        """Largest absolute value of each feature, shape (d,)."""
        return largest(self.X)

    def times(self, v: Array) -> Array:
        """Products ``X (X' v)``."""
        return np.asarray(self.X @ (self.X.T @ v))

    def whole(self) -> Array:
        """Whole matrix ``X X'``."""
        return dot(self.X, self.X)

    def rows(self, index: Any) -> Array:
        """Products of some samples with all."""
        return dot(self.X[index], self.X)

    def block(self, index: Any) -> Array:
        """Products among some samples."""
        return dot(self.X[index], self.X[index])

    def diagonal(self) -> Array:
        """Squared lengths of the samples."""
        return self._squares.copy()

    @cached_property
    def _squares(self) -> Array:
        """Squared lengths of the samples."""
        return squares(self.X)

    @property
    def terms2(self) -> float:
        """Squared length of a sample that has the largest value of every feature: it bounds the terms of a score."""
        return float(self.reach @ self.reach)

    def slope(self, coef: Array) -> Array:
        """Slope ``X' coef``."""
        return np.asarray(self.X.T @ coef)

    def own(self, w: Any) -> Array | None:
        """Given slope as an array."""
        return np.asarray(w)

    def zeros(self, *shape: int) -> Array | None:
        """Slopes that are 0, of shape (..., d)."""
        return np.zeros((*shape, self.width))

    def slopes(self, coef: Array, W: Array | None = None) -> FeatureSlopes:
        """Slopes with scores ``X W``, W given or implied by the coefficients."""
        slope = implied = self.slope(coef)
        apart = np.zeros(coef.shape[1])
        if W is not None:
            slope, apart = W, self._apart(W, implied, coef)
        return FeatureSlopes(np.asarray(self.X @ slope), np.einsum("dk,dk->k", slope, slope), apart)

    @cached_property
    def mean(self) -> Array:
        """Mean of dense features, shape (d,); of one that is constant its value, unrounded."""
        first = self.X[0]
        constant = (first == self.X).all(axis=0)
        return np.asarray(np.where(constant, first, self.X.mean(axis=0)))

    @property
    def middle(self) -> Array | None:
        """Mean of dense features, from which balanced slopes are measured; None for sparse ones."""
        return None if self.sparse else self.mean

    @cached_property
    def near(self) -> Features:
        """Dense features measured from their mean; sparse ones, which would fill up, as they are."""
        return self if self.sparse else Features(self.X - self.mean)

    def balanced(self, coef: Array) -> FeatureSlopes:
        """Slopes of the features from their mean, with scores as from 0."""
        found = self.near.slopes(coef)
        if self.sparse:
            return found
        offset = self.mean @ self.near.slope(coef)
        return replace(found, scores=found.scores + offset)

    @property
    def balanced2(self) -> float:
        """Largest squared length of a sample, measured from the mean."""
        return self.near.length2

    def norms(self, coef: Array) -> Array:
        """Squared norms of ``X' coef``."""
        slope = self.slope(coef)
        return np.asarray(np.einsum("dk,dk->k", slope, slope))

    def score_terms(self, coef: Array, norm2: Array) -> Array:
        """Bounds on the terms of scores: the longest sample times the slope."""
        return np.asarray(np.sqrt(self.length2 * norm2))

    def signed(self, y: Array) -> Samples:
        """Features, each sample times its label."""
        return signed(self.X, y)

    def largest_terms(self, w: Array) -> Array:
        """Largest sums of absolute terms of scores of slopes (k, d), shape (k,)."""
        sums = np.asarray(abs(self.X) @ np.abs(w).T)
        return np.asarray(sums.max(axis=0))

    def _apart(self, W: Array, implied: Array, coef: Array) -> Array:
        """Distance of given slopes (d, k) from those that coefficients imply, in scores."""
        terms = np.asarray(abs(self.X).T @ np.abs(coef))
        return affects(W, implied, terms, self.reach[:, None])

    def twice(self, high: Array, low: Array, W: Array | None = None) -> TwiceSlopes:
        """Slopes by two products in twice the precision, one after the other."""
        turned = sp.csr_array(self.X.T) if self.sparse else self.X.T
        slope = twice.product(turned, high, low)
        apart = distance = np.zeros(high.shape[1])
        if W is not None:
            apart = self._apart(W, slope[0], high)
            distance = np.linalg.norm(W - slope[0], axis=0)
            slope = W, np.zeros(W.shape)
        return TwiceSlopes(*twice.product(self.X, *slope), apart, distance)

    def precise(self, parts: Array, w: Array | None = None) -> PreciseSlope:
        """Slope that is rounded once, with scores that are."""
        slope, apart = product(self.X.T, parts), 0.0
        if w is not None:
            of_one = self._apart(w[:, None], slope[:, None], parts[0][:, None])
            slope, apart = w, float(of_one[0])
        pair = np.stack([slope, np.zeros_like(slope)])
        return PreciseSlope(lambda more=None: product(self.X, pair, more), float(slope @ slope), apart)

    def exactly(self) -> ExactSlopes:
        """Calculator of scores and squared norms of slopes in fractions, from these features without rounding."""
        return ExactSlopes(dense(self.X), features=True)

    def scores_at(self, index: Any, coef: Array) -> Array:
        """Scores of some samples, through the slopes."""
        return np.asarray(self.X[index] @ self.slope(coef))

    def project(self, w: Array) -> Array:
        """Scores ``X w`` of slopes."""
        return np.asarray(self.X @ w)

    def scores_of(self, Z: Any, coef: Array) -> Array:
        """Scores of new samples: their features times the slopes."""
        return np.asarray(Z @ self.slope(coef))

    def largest_value(self, Z: Any) -> float:
        """Bound on kernel values of new samples: the product of the largest lengths."""
        return float(np.sqrt(squares(Z).max(initial=0.0) * self.length2))

    def part(self, index: Any) -> Features:
        """Features of some of the samples."""
        return Features(self.X[index])

    def new_in_part(self, index: Any, rows: Any) -> Samples:
        """Features of the samples at ``rows``."""
        return self.X[rows]

    def centred(self, mean: Array | None) -> Features:
        """Features measured from a point."""
        if mean is None:
            return self
        return self.near if mean is self.middle else Features(self.X - mean)

    def over(self, unit: float) -> Features:
        """Features divided by a number."""
        return Features(self.X / unit)

    def plus_constant(self) -> Features:
        """Features with a column of ones."""
        both = [self.X, np.ones((self.n, 1))]
        if self.sparse:
            return Features(sp.hstack(both, format="csr"))
        return Features(np.hstack(both))

    def plus_diagonal(self, square: Array) -> Features:
        """Features with a diagonal matrix beside them."""
        roots = sp.diags_array(np.sqrt(square))
        return Features(sp.hstack([sp.csr_array(self.X), roots], format="csr"))

    def coordinates(self, factor: Callable[[], Array]) -> tuple[Any, Array] | None:
        """Features, measured from their mean where they are dense, with the length of the longest for each column."""
        near = self.near
        return near.X, np.full(near.width, np.sqrt(near.length2))
