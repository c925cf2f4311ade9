"""The quadratic term Q of a box QP in the two forms a tracker can use: a kernel matrix, or features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.checks import Array
from paretoclf.gram import Gram
from paretoclf.samples import squares

STORED_SLOPE = 512  # a path keeps w up to this length, beyond it recomputes w from the multipliers


@dataclass(frozen=True)
class GramForm:
    """``Q = diag(sign) K diag(sign)`` from a kernel matrix held in memory."""

    K: Array
    sign: Array

    @property
    def reach(self) -> Array:
        """``sqrt(Q_ii)``."""
        return np.asarray(np.sqrt(np.maximum(np.diagonal(self.K), 0.0)))

    @property
    def stored_width(self) -> int:
        """No vector w."""
        return 0


@dataclass(frozen=True)
class FeatureForm:
    """``Q = Z Z'`` with ``Z = diag(sign) X``: the n x n matrix is never formed, and w is a variable of its own.

    X is an array of shape (n, d) or a `scipy.sparse.csr_array`.
    """

    X: Any
    sign: Array

    @property
    def reach(self) -> Array:
        """``sqrt(Q_ii)``."""
        return np.asarray(np.sqrt(squares(self.X)))

    @property
    def stored_width(self) -> int:
        """Length of w, where it is about as short as a margin set."""
        return int(self.X.shape[1]) if self.X.shape[1] <= STORED_SLOPE else 0


def centre(gram: Gram) -> Array | None:
    """Where to measure samples from where the intercept is free: costs no accuracy, and improves the conditioning.

    None for sparse samples, which would fill up, and for features too many for w to be stored.
    """
    X = gram.features
    return gram.mean if isinstance(X, np.ndarray) and X.shape[1] <= STORED_SLOPE else None
