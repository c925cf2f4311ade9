"""The Gram of the training samples: products, rows, and a factor.

The linear kernel is never squared: its products go through the features.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import lapack

from paretoclf.checks import Array, check_matrix
from paretoclf.errors import InputError
from paretoclf.kernels import Kernel, Linear, Precomputed, as_kernel
from paretoclf.tolerances import FACTOR_RANK, GRAM_PSD, GRAM_SYMMETRY


class Gram:
    """Kernel values among the training samples.

    Parameters
    ----------
    X : array of shape (n, d), or (n, n) if kernel is "precomputed"
        Training samples, or their kernel matrix.
    kernel : optional
        As in `paretoclf.kernels.as_kernel`; None is linear.

    Raises
    ------
    InputError
        If X is not finite, or the kernel matrix is not symmetric or not positive semidefinite.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf import Gram
    >>> Gram(np.array([[1.0], [2.0]])).matvec(np.array([1.0, 1.0]))
    array([3., 6.])
    """

    def __init__(self, X: Any, kernel: Any = None) -> None:
        self.kernel: Kernel = as_kernel(kernel)
        self.X: Array = check_matrix(X)
        self.n: int = self.X.shape[0]
        if isinstance(self.kernel, Precomputed) and self.X.shape[1] != self.n:
            raise InputError(f"X must be a square kernel matrix for kernel='precomputed', got shape {self.X.shape}")
        if not self.kernel.psd:
            _check_psd(self.matrix, type(self.kernel).__name__)

    @property
    def linear(self) -> bool:
        """True where the features are the samples themselves."""
        return isinstance(self.kernel, Linear)

    @cached_property
    def matrix(self) -> Array:
        """The whole kernel matrix, shape (n, n)."""
        K: Array = np.ascontiguousarray(self.kernel(self.X, self.X))
        bad = np.argwhere(~np.isfinite(K))
        if bad.size:
            i, j = (int(v) for v in bad[0])
            raise InputError(
                f"kernel matrix ({type(self.kernel).__name__}) must be finite, got {K[i, j]} at ({i}, {j})"
            )
        return K

    def matvec(self, v: Array) -> Array:
        """Gram times v; v has shape (n,) or (n, k)."""
        return np.asarray(self.X @ (self.X.T @ v) if self.linear else self.matrix @ v)

    def rows(self, index: Any) -> Array:
        """Rows of the Gram, shape (len(index), n)."""
        return np.asarray(self.X[index] @ self.X.T if self.linear else self.matrix[index])

    def diagonal(self) -> Array:
        """Diagonal of the Gram, shape (n,)."""
        return np.asarray(np.einsum("ij,ij->i", self.X, self.X) if self.linear else np.diagonal(self.matrix).copy())

    def cross(self, X: Any) -> Array:
        """Kernel values of new samples against the training samples, shape (m, n).

        For a precomputed kernel X must already be that matrix.
        """
        return self.kernel(check_matrix(X, n_features=self.X.shape[1]), self.X)

    def cross_features(self, X: Any) -> Array:
        """New samples as features, linear kernel only, shape (m, d)."""
        return check_matrix(X, n_features=self.X.shape[1])

    @cached_property
    def factor(self) -> Array:
        """Matrix L with L L' = Gram: the samples if linear, else pivoted Cholesky (n, rank) at FACTOR_RANK."""
        if self.linear:
            return self.X
        scale = float(np.max(self.diagonal(), initial=0.0))
        if scale == 0.0:
            return np.zeros((self.n, 1))
        c, pivots, rank, _ = lapack.dpstrf(self.matrix, lower=1, tol=FACTOR_RANK * scale)
        L = np.tril(c)[:, : max(rank, 1)]
        out: Array = np.empty_like(L)
        out[pivots - 1] = L
        return out

    @property
    def low_rank(self) -> bool:
        """True where working with the factor is cheaper than with the kernel matrix (rank < n / 4)."""
        return self.linear or self.factor.shape[1] < self.n / 4


def _check_psd(K: Array, name: str) -> None:
    scale = float(np.abs(K).max())
    skew = np.abs(K - K.T)
    if skew.max() > GRAM_SYMMETRY * scale:
        i, j = (int(v) for v in np.unravel_index(int(np.argmax(skew)), K.shape))
        raise InputError(
            f"kernel matrix ({name}) must be symmetric, got {K[i, j]} at ({i}, {j}) and {K[j, i]} at ({j}, {i})"
        )
    smallest = float(np.linalg.eigvalsh(K)[0])
    if smallest < -GRAM_PSD * max(scale * K.shape[0], 1e-300):
        raise InputError(
            f"kernel matrix ({name}) must be positive semidefinite, got smallest eigenvalue {smallest:.3g}"
        )
