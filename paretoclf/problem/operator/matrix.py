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
        """The matrix."""
        return {"K": self.K}

    def times(self, v: Array) -> Array:
        """K v."""
        return np.asarray((v.T @ self.K.T).T)

    def whole(self) -> Array:
        """K."""
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
        """The largest value: by Cauchy and Schwarz it is on the diagonal."""
        return self.length2

    def slopes(self, coef: Array, W: Array | None = None) -> FeatureSlopes:
        """Scores K coef."""
        scores = self.times(coef)
        return FeatureSlopes(scores, np.einsum("nk,nk->k", coef, scores), np.zeros(coef.shape[1]))

    def norms(self, coef: Array) -> Array:
        """Coef' K coef."""
        return np.asarray(np.einsum("nk,nk->k", coef, self.times(coef)))

    def score_terms(self, coef: Array, norm2: Array) -> Array:
        """The largest kernel value times the sum of the coefficients."""
        return np.asarray(self.length2 * np.abs(coef).sum(axis=0))

    def twice(self, high: Array, low: Array, W: Array | None = None) -> TwiceSlopes:
        """One product."""
        none = np.zeros(high.shape[1])
        return TwiceSlopes(*twice.product(self.K, high, low), none, none)

    def precise(self, parts: Array, w: Array | None = None) -> PreciseSlope:
        """One product."""
        plain = product(self.K, parts)  # the norm needs it, and most who ask for the norm ask for it, too

        def scores(more: Array | None = None) -> Array:
            return plain if more is None else product(self.K, parts, more)

        return PreciseSlope(scores, inner(parts, plain), 0.0)

    def exactly(self) -> ExactSlopes:
        """From the values as they are."""
        return ExactSlopes(self.K, features=False)

    def scores_of(self, Z: Any, coef: Array) -> Array:
        """Kernel values times coefficients."""
        return np.asarray(Z @ coef)

    def largest_value(self, Z: Any) -> float:
        """The largest of them."""
        return float(np.abs(Z).max(initial=0.0))

    def part(self, index: Any) -> Matrix:
        """A block."""
        return Matrix(self.block(index))

    def new_in_part(self, index: Any, rows: Any) -> Array:
        """Kernel values against the samples of the part."""
        return np.asarray(self.K[np.ix_(rows, index)])

    def centred(self, mean: Array | None) -> Matrix:
        """As it is."""
        return self

    def over(self, unit: float) -> Matrix:
        """Values divided by the square."""
        return self if unit == 1.0 else Matrix(self.K / unit**2)

    def plus_constant(self) -> Matrix:
        """Values plus 1."""
        return Matrix(self.K + 1.0)

    def plus_diagonal(self, square: Array) -> Matrix:
        """Squares on the diagonal."""
        return Matrix(self.K + np.diag(square))

    def coordinates(self, factor: Callable[[], Array]) -> tuple[Any, Array] | None:
        """The factor, where its pivots end with a jump to rounding."""
        F = np.asarray(factor())
        pivots = np.max(np.abs(F), axis=0)  # of a column its pivot is the largest entry
        left = np.max(np.abs(self.diagonal() - squares(F)))
        return None if left > PLAIN_RANK * pivots[0] ** 2 else (F, pivots[0] ** 2 / pivots)
