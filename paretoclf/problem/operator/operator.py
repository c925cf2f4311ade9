r"""Interface of every representation of a positive semidefinite matrix :math:`Q`: products, rows, blocks, norms.

:math:`Q_{ij}=x_i\cdot x_j` are the kernel values of samples. Coefficients :math:`a` stand for a *slope*
:math:`w=\sum_ia_ix_i`, with *scores* :math:`w\cdot x_i=(Qa)_i` and :math:`\|w\|^2=a^\top Qa`. Where there are features,
w is a vector of its own, which may be stored, given, or judged apart from the coefficients.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.problem.operator.fractions import ExactSlopes


@dataclass(frozen=True)
class FeatureSlope:
    """A slope in the feature space of a Gram.

    Attributes
    ----------
    scores : array of shape (n,)
        ``w . x_i``.
    norm2 : float
        Squared norm.
    apart : float
        Distance of a separately given w from ``sum_i coef_i x_i``, as its effect on the scores relative to 1 + the
        terms of that sum; 0 if w is that sum.
    """

    scores: Array = field(repr=False)
    norm2: float
    apart: float = 0.0


@dataclass(frozen=True)
class FeatureSlopes:
    """Several slopes: `FeatureSlope` with scores of shape (n, k), the others (k,)."""

    scores: Array = field(repr=False)
    norm2: Array
    apart: Array

    def __getitem__(self, j: int) -> FeatureSlope:
        norm2, apart = float(self.norm2[j]), float(self.apart[j])
        return FeatureSlope(self.scores[:, j], norm2, apart)


@dataclass(frozen=True)
class TwiceSlopes:
    """Slopes of coefficients in two parts: scores (n, k), with their rounding error, and the distance of a given W.

    ``apart`` is that of `FeatureSlopes`, ``distance`` the length of the difference, shape (k,).
    """

    scores: Array
    rest: Array
    apart: Array
    distance: Array


@dataclass(frozen=True)
class PreciseSlope:
    """One slope whose sums are rounded once.

    ``scores(more)`` are scores to which the entries of ``more`` (n, p) are added before they are rounded.
    """

    scores: Callable[..., Array]
    norm2: float
    apart: float


class Quadratic(ABC):
    """A positive semidefinite matrix of shape (n, n), whatever it is stored as.

    Attributes
    ----------
    n : int
        Number of samples.
    width : int
        Length of a slope; 0 where slopes are no vectors of their own.
    """

    n: int
    width: int

    @property
    @abstractmethod
    def raw(self) -> dict[str, Any]:
        """Stored arrays, by the name that judges give them: ``{"K": matrix}`` or ``{"X": features}``."""

    @abstractmethod
    def times(self, v: Array) -> Array:
        """Products with v, of shape (n,) or (n, k); of points that are judged together each in one piece of memory."""

    @abstractmethod
    def whole(self) -> Array:
        """Whole matrix, shape (n, n)."""

    @abstractmethod
    def rows(self, index: Any) -> Array:
        """Rows of the matrix, shape (len(index), n)."""

    @abstractmethod
    def block(self, index: Any) -> Array:
        """Rows and columns of some samples, shape (len(index), len(index))."""

    @abstractmethod
    def diagonal(self) -> Array:
        """Squared lengths of the samples, shape (n,)."""

    @property
    @abstractmethod
    def terms2(self) -> float:
        """Bound on the squared sum of the absolute terms of a score, for coefficients of sum 1."""

    # ---- slopes ----

    def slope(self, coef: Array) -> Array:
        """Slope of coefficients (n,) or (n, k); InputError where slopes are no vectors."""
        raise InputError("w exists for the linear kernel and with low_rank only; use decision_function")

    def own(self, w: Any) -> Array | None:
        """Given slope in the features, as an array; None where it is one in a factor of the matrix."""
        return None

    def zeros(self, *shape: int) -> Array | None:
        """Slopes that are 0, of shape (..., width); None where there are none."""
        return None

    @abstractmethod
    def slopes(self, coef: Array, W: Array | None = None) -> FeatureSlopes:
        """Slopes of coefficients (n, k), or W (width, k), which should equal them, with one product for all."""

    def slope_of(self, coef: Array, w: Array | None = None) -> FeatureSlope:
        """Slope of coefficients (n,), or w (width,)."""
        W = None if w is None else np.asarray(w, dtype=np.float64)[:, None]
        return self.slopes(coef[:, None], W)[0]

    def scores(self, coef: Array, w: Array | None = None) -> Array:
        """Scores of all samples for coefficients (n,), or for w (width,) where it is known."""
        return self.times(coef) if w is None else self.project(w)

    def balanced(self, coef: Array) -> FeatureSlopes:
        """Slopes of coefficients whose sum is 0: these do not depend on the origin, so w may be more precise."""
        return self.slopes(coef)

    @property
    def middle(self) -> Array | None:
        """Point from which balanced slopes are measured; None where that is 0."""
        return None

    @cached_property
    def length2(self) -> float:
        """Largest squared length of a sample."""
        return float(np.max(self.diagonal(), initial=0.0))

    @property
    def balanced2(self) -> float:
        """Largest squared length of a sample, measured from the point in the middle."""
        return self.length2

    @abstractmethod
    def norms(self, coef: Array) -> Array:
        """Squared norms of the slopes of coefficients (n, k), shape (k,)."""

    @abstractmethod
    def score_terms(self, coef: Array, norm2: Array) -> Array:
        """Bounds on the sums of absolute terms of scores, for slopes of these coefficients and squared norms: (k,)."""

    def signed(self, y: Array) -> Any:
        """Features, each sample times its label."""
        raise InputError("w exists for the linear kernel and with low_rank only")

    def largest_terms(self, w: Array) -> Array:
        """Largest sums of absolute terms of scores of slopes (k, width), shape (k,)."""
        raise InputError("w exists for the linear kernel and with low_rank only")

    # ---- in more digits ----

    @abstractmethod
    def twice(self, high: Array, low: Array, W: Array | None = None) -> TwiceSlopes:
        """Slopes of coefficients (n, k) in two parts, or W (width, k), by products in twice the precision."""

    @abstractmethod
    def precise(self, parts: Array, w: Array | None = None) -> PreciseSlope:
        """Slope of coefficients in two parts (2, n), or w (width,), with sums that are rounded once."""

    @abstractmethod
    def exactly(self) -> ExactSlopes:
        """Calculator of scores and squared norms of slopes in fractions."""

    def scores_at(self, index: Any, coef: Array) -> Array:
        """Scores of some samples, (len(index), k), from coefficients (n, k)."""
        return self.rows(index) @ coef

    def project(self, w: Array) -> Array:
        """Scores of a slope (width,) or of slopes (width, k)."""
        raise InputError("w exists for the linear kernel and with low_rank only")

    # ---- samples that are new, and other quadratics ----

    @abstractmethod
    def scores_of(self, Z: Any, coef: Array) -> Array:
        """Scores of new samples, (m, k), from coefficients (n, k); Z are their features, or kernel values (m, n)."""

    @abstractmethod
    def largest_value(self, Z: Any) -> float:
        """Bound on the kernel values of new samples."""

    @abstractmethod
    def part(self, index: Any) -> Quadratic:
        """Quadratic of some of the samples."""

    @abstractmethod
    def new_in_part(self, index: Any, rows: Any) -> Any:
        """Samples of this one (rows) as new samples of one of its parts (index)."""

    @abstractmethod
    def centred(self, mean: Array | None) -> Quadratic:
        """Samples measured from a point; where there are no features, or no point, as they are."""

    @abstractmethod
    def over(self, unit: float) -> Quadratic:
        """Samples divided by a number."""

    @abstractmethod
    def plus_constant(self) -> Quadratic:
        """Quadratic of samples with one more feature, which is 1."""

    @abstractmethod
    def plus_diagonal(self, square: Array) -> Quadratic:
        """Quadratic of samples with one more feature each, with this squared length."""

    @abstractmethod
    def coordinates(self, factor: Callable[[], Array]) -> tuple[Any, Array] | None:
        """Coordinates of the samples (n, r), of dense ones from their mean, and the size of rounding in each column.

        None where a kernel matrix has no clear rank.
        """


def affects(W: Array, implied: Array, terms: Array, reach: Array) -> Array:
    """Residuals of slopes (d, k), as their effect on scores relative to 1 + the terms of these: shape (k,)."""
    relative = np.abs(W - implied) * reach / (1.0 + terms * reach)
    return np.asarray(relative.max(axis=0, initial=0.0))
