"""A kernel matrix in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import PLAIN_RANK
from paretoclf.problem.exact_sums import inner, product
from paretoclf.problem.operator import twice
from paretoclf.problem.operator.fractions import ExactSlopes
from paretoclf.problem.operator.operator import FeatureSlopes, PreciseSlope, Quadratic, TwiceSlopes
from paretoclf.problem.samples import squares


class Matrix(Quadratic):
    """A kernel matrix K of shape (n, n)."""

    width = 0

    def __init__(self, K: Array) -> None:
        self.K, self.n = K, K.shape[0]

    @property
    def raw(self) -> dict[str, Any]:
        """Stored matrix, by its name for judges."""
        return {"K": self.K}

    def times(self, v: Array) -> Array:
        """Products ``K v``."""
        return np.asarray((v.T @ self.K.T).T)

    def whole(self) -> Array:
        """Whole matrix K."""
        return self.K

    def rows(self, index: Any) -> Array:
        """Rows of K."""
        return np.asarray(self.K[index])

    def block(self, index: Any) -> Array:
        """Rows and columns of K."""
        return np.asarray(self.K[np.ix_(index, index)])

    def diagonal(self) -> Array:
        """Diagonal of K."""
        return np.diagonal(self.K).copy()

    @property
    def terms2(self) -> float:
        """Largest value of K, which bounds the terms of a score: by Cauchy and Schwarz it is on the diagonal."""
        return self.length2

    def slopes(self, coef: Array, W: Array | None = None) -> FeatureSlopes:
        """Slopes with scores ``K coef``."""
        scores = self.times(coef)
        return FeatureSlopes(scores, np.einsum("nk,nk->k", coef, scores), np.zeros(coef.shape[1]))

    def norms(self, coef: Array) -> Array:
        """Squared norms ``coef' K coef``."""
        return np.asarray(np.einsum("nk,nk->k", coef, self.times(coef)))

    def score_terms(self, coef: Array, norm2: Array) -> Array:
        """Bounds on the terms of scores: the largest kernel value times the sum of the coefficients."""
        return np.asarray(self.length2 * np.abs(coef).sum(axis=0))

    def twice(self, high: Array, low: Array, W: Array | None = None) -> TwiceSlopes:
        """Slopes by one product in twice the precision."""
        none = np.zeros(high.shape[1])
        return TwiceSlopes(*twice.product(self.K, high, low), none, none)

    def precise(self, parts: Array, w: Array | None = None) -> PreciseSlope:
        """Slope with scores that are rounded once."""
        plain = product(self.K, parts)  # the norm needs it, and most who ask for the norm ask for it, too

        def scores(more: Array | None = None) -> Array:
            return plain if more is None else product(self.K, parts, more)

        return PreciseSlope(scores, inner(parts, plain), 0.0)

    def exactly(self) -> ExactSlopes:
        """Calculator of scores and squared norms of slopes in fractions, from these values without rounding."""
        return ExactSlopes(self.K, features=False)

    def scores_of(self, Z: Any, coef: Array) -> Array:
        """Scores of new samples: their kernel values times the coefficients."""
        return np.asarray(Z @ coef)

    def largest_value(self, Z: Any) -> float:
        """Largest kernel value of new samples."""
        return float(np.abs(Z).max(initial=0.0))

    def part(self, index: Any) -> Matrix:
        """Block of some of the samples."""
        return Matrix(self.block(index))

    def new_in_part(self, index: Any, rows: Any) -> Array:
        """Kernel values against the samples of the part."""
        return np.asarray(self.K[np.ix_(rows, index)])

    def centred(self, mean: Array | None) -> Matrix:
        """Return the matrix as it is: it has no features."""
        return self

    def over(self, unit: float) -> Matrix:
        """Values divided by the square of a number."""
        return self if unit == 1.0 else Matrix(self.K / unit**2)

    def plus_constant(self) -> Matrix:
        """Values plus 1, as of one more feature that is 1."""
        return Matrix(self.K + 1.0)

    def plus_diagonal(self, square: Array) -> Matrix:
        """Values plus squared lengths on the diagonal."""
        return Matrix(self.K + np.diag(square))

    def coordinates(self, factor: Callable[[], Array]) -> tuple[Any, Array] | None:
        """Factor of the matrix, where its pivots end with a jump to rounding; else None."""
        rows = np.asarray(factor())
        pivots = np.max(np.abs(rows), axis=0)  # of a column its pivot is the largest entry
        remainder = np.max(np.abs(self.diagonal() - squares(rows)))
        return None if remainder > PLAIN_RANK * pivots[0] ** 2 else (rows, pivots[0] ** 2 / pivots)
