"""Input checks. Each raises InputError with the argument, what was given and what is allowed; nothing is fixed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from paretoclf.errors import InputError
from paretoclf.tolerances import GRAM_SYMMETRY, KERNEL_ROUNDING

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
State = npt.NDArray[np.int8]
Mask = npt.NDArray[np.bool_]


def check_matrix(X: Any, name: str = "X", *, n_features: int | None = None) -> Array:
    """Return X as a float64 array of shape (n, d), or say what is wrong with it."""
    if hasattr(X, "toarray"):
        raise InputError(f"{name} must be a dense array, got a sparse matrix of shape {X.shape}")
    try:
        A = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a numeric array, got {type(X).__name__}") from None
    check_features(A.shape, name, n_features)
    finite = np.isfinite(A)
    if not finite.all():
        i, j = (int(v) for v in np.argwhere(~finite)[0])
        raise InputError(f"{name} must be finite, got {A[i, j]} at row {i}, column {j}")
    return np.ascontiguousarray(A)


def check_semidefinite(K: Array, name: str) -> None:
    """Say where a square matrix is not symmetric, or that it is not positive semidefinite, beyond rounding.

    One Cholesky factorisation, n**3 / 3 multiplications; a matrix that fails it costs its eigenvalues, too.
    """
    scale = max(float(K.max()), -float(K.min()))
    skew = np.abs(K - K.T)
    if skew.max() > GRAM_SYMMETRY * scale:
        i, j = (int(v) for v in np.unravel_index(int(np.argmax(skew)), skew.shape))
        raise InputError(f"{name} must be symmetric, got {K[i, j]} at ({i}, {j}) and {K[j, i]} at ({j}, {i})")
    shift = KERNEL_ROUNDING * K.shape[0] * scale
    if shift == 0.0:
        return
    shifted = K.copy()
    shifted.flat[:: K.shape[0] + 1] += shift
    try:
        np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        smallest = float(np.linalg.eigvalsh(K)[0])
        if smallest < -shift:
            raise InputError(
                f"{name} must be positive semidefinite, got smallest eigenvalue {smallest:.3g}: weak duality needs it, "
                "and without it nothing is proved"
            ) from None


def check_features(shape: tuple[int, ...], name: str, n_features: int | None) -> None:
    """Say what is wrong with the shape of a matrix of samples."""
    if len(shape) != 2:
        raise InputError(f"{name} must have shape (n_samples, n_features), got shape {shape}")
    if 0 in shape:
        raise InputError(f"{name} must have at least one row and one column, got shape {shape}")
    if n_features is not None and shape[1] != n_features:
        raise InputError(f"{name} must have {n_features} columns as in training, got {shape[1]}")


def check_labels(y: Any, n: int | None = None, name: str = "y") -> Array:
    """Return y as a float64 vector of -1 and +1 with both classes present."""
    v = np.asarray(y)
    if v.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, got shape {v.shape}")
    if n is not None and v.shape[0] != n:
        raise InputError(f"{name} must have one label per sample ({n}), got {v.shape[0]}")
    if np.issubdtype(v.dtype, np.number):
        positive = v == 1
        if (positive | (v == -1)).all() and 0 < np.count_nonzero(positive) < v.size:
            return v.astype(np.float64)
    values = np.unique(v)
    if not (np.issubdtype(v.dtype, np.number) and np.isin(values, (-1, 1)).all()):
        shown = ", ".join(str(u) for u in values[:5])
        raise InputError(
            f"{name} must contain only the labels -1 and +1, got {{{shown}{', ...' if len(values) > 5 else ''}}}; "
            f"use for example numpy.where({name} == positive, 1, -1)"
        )
    raise InputError(f"{name} must contain both classes, got only {{{', '.join(f'{int(u):+d}' for u in values)}}}")


def check_weights(weights: Any, n: int, name: str = "sample_weight") -> Array:
    """Return positive finite per-sample weights; None means all ones."""
    if weights is None:
        return np.ones(n)
    try:
        v = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numeric, got {type(weights).__name__}") from None
    if v.shape != (n,):
        raise InputError(f"{name} must have shape ({n},), got {v.shape}")
    bad = np.flatnonzero(~(np.isfinite(v) & (v > 0)))
    if bad.size:
        raise InputError(f"{name} must be positive and finite, got {v[bad[0]]} at index {int(bad[0])}")
    return v.copy()


def check_vector(values: Any, n: int, name: str) -> Array:
    """Return a finite float64 vector of length n."""
    try:
        v = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numeric, got {type(values).__name__}") from None
    if v.shape != (n,):
        raise InputError(f"{name} must have shape ({n},), got {v.shape}")
    if not np.isfinite(v).all():
        i = int(np.flatnonzero(~np.isfinite(v))[0])
        raise InputError(f"{name} must be finite, got {v[i]} at index {i}")
    return v


def check_nonnegative(values: Any, n: int, name: str) -> Array:
    """Return a finite, nonnegative float64 vector of length n."""
    v = check_vector(values, n, name)
    bad = np.flatnonzero(v < 0)
    if bad.size:
        raise InputError(f"{name} must be nonnegative, got {v[bad[0]]} at index {int(bad[0])}")
    return v


def check_number(value: Any, name: str) -> float:
    """Return a float."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a number, got {value!r}") from None


def check_pair(value: Any, name: str, form: str = "(lo, hi)", *, default: float | None = None) -> tuple[float, float]:
    """Return two numbers; for None in place of the second the default, if there is one."""
    try:
        first, second = value
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a pair {form}, got {value!r}") from None
    return check_number(first, name), check_number(default if second is None else second, name)


def check_positive_number(value: Any, name: str) -> float:
    """Return a finite positive float."""
    try:
        v = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a positive number, got {value!r}") from None
    if not np.isfinite(v) or v <= 0:
        raise InputError(f"{name} must be a finite positive number, got {value!r}")
    return v
