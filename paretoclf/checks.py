"""Input checks. Each raises InputError with the argument, what was given and what is allowed; nothing is fixed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from paretoclf.errors import InputError

Array = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
State = npt.NDArray[np.int8]
Mask = npt.NDArray[np.bool_]


def real_array(values: Any, name: str, *, copy: bool = False) -> Array:
    """Return numbers as a float64 array of any shape; with ``copy``, in memory of its own.

    What an object keeps must be a copy: its caller may write to the original later.
    """
    if np.ma.is_masked(values):
        raise InputError(f"{name} must have no masked entries, got {int(np.ma.getmaskarray(values).sum())}")
    try:
        A = np.asarray(values)
        if A.dtype.kind in "biufO":
            return np.array(A, dtype=np.float64, order="C") if copy else np.asarray(A, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numeric and real, got {type(values).__name__}") from None
    raise InputError(f"{name} must be numeric and real, got {A.dtype}")


def real_number(value: Any) -> float:
    """Return a float; TypeError or ValueError for what is no real number."""
    if np.iscomplexobj(value):  # of which `float` would drop a part, if it comes from NumPy
        raise TypeError("a complex number")
    return float(value)


def keep(owner: Any, *names: str) -> None:
    """Replace arrays that a frozen dataclass was given by copies: the caller may write to the originals later."""
    for name in names:
        given = getattr(owner, name)
        if given is not None:
            object.__setattr__(owner, name, given.copy() if hasattr(given, "toarray") else np.array(given))


def check_matrix(X: Any, name: str = "X", *, n_features: int | None = None, copy: bool = False) -> Array:
    """Return X as a float64 array of shape (n, d), with ``copy`` of its own, or say what is wrong with it."""
    if hasattr(X, "toarray"):
        raise InputError(f"{name} must be a dense array, got a sparse matrix of shape {X.shape}")
    A = real_array(X, name, copy=copy)
    check_features(A.shape, name, n_features)
    finite = np.isfinite(A)
    if not finite.all():
        i, j = (int(v) for v in np.argwhere(~finite)[0])
        raise InputError(f"{name} must be finite, got {A[i, j]} at row {i}, column {j}")
    return A


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
    if v.dtype.kind in "iuf":
        positive = v == 1
        if (positive | (v == -1)).all() and 0 < np.count_nonzero(positive) < v.size:
            return v.astype(np.float64)
    values = np.unique(v)
    if not (v.dtype.kind in "iuf" and np.isin(values, (-1, 1)).all()):
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
    v = real_array(weights, name, copy=True)
    if v.shape != (n,):
        raise InputError(f"{name} must have shape ({n},), got {v.shape}")
    bad = np.flatnonzero(~(np.isfinite(v) & (v > 0)))
    if bad.size:
        raise InputError(f"{name} must be positive and finite, got {v[bad[0]]} at index {int(bad[0])}")
    return v


def check_vector(values: Any, n: int, name: str) -> Array:
    """Return a finite float64 vector of length n."""
    v = real_array(values, name)
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
        return real_number(value)
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
        v = real_number(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a positive number, got {value!r}") from None
    if not np.isfinite(v) or v <= 0:
        raise InputError(f"{name} must be a finite positive number, got {value!r}")
    return v
