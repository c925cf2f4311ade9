"""Arrays from npz files: of which type and shape they are, and within which bounds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import InputError

Shape = tuple[int | None, ...]


def finite(given: Any, name: str, shape: Shape | None = None) -> Array:
    """Return an array of finite floats of a shape (any, or None is any size in it); InputError if it is not one."""
    a = np.asarray(given)
    if a.dtype.kind not in "fiu":
        raise InputError(f"{name} must hold numbers, got {a.dtype}")
    if shape is not None:
        _check_shape(a, name, shape)
    if not np.isfinite(a).all():
        raise InputError(f"{name} must be finite")
    return a.astype(np.float64, copy=False)


def whole(given: Any, name: str, shape: Shape, low: int, stop: int) -> Index:
    """Return an array of whole numbers from low to below stop; InputError if it is not one."""
    a = np.asarray(given)
    if a.dtype.kind not in "iu":
        raise InputError(f"{name} must hold whole numbers, got {a.dtype}")
    _check_shape(a, name, shape)
    if a.size and not (low <= a.min() and a.max() < stop):
        raise InputError(f"{name} must lie between {low} and {stop - 1}, got {a.min()} to {a.max()}")
    return a


def yes_or_no(given: Any, name: str) -> bool:
    """Return a bool, or that of an array of one; InputError for everything else, "yes" and 1 included."""
    a = np.asarray(given)
    if a.dtype.kind != "b" or a.shape != ():
        raise InputError(f"{name} must be True or False, got {given!r:.100}")
    return bool(a)


def check_parts(indptr: Any, indices: Any, entries: int, what: str) -> None:
    """InputError unless the entries of a sparse matrix are told apart by whole numbers, in the order of its parts.

    Who reads such a matrix looks at memory wherever these say, and SciPy checks nothing of one without entries.
    """
    whole_numbers = (
        np.ndim(indptr) == np.ndim(indices) == 1 and indptr.dtype.kind in "iu" and indices.dtype.kind in "iu"
    )
    ends = np.asarray(indptr, dtype=np.int64) if whole_numbers and np.size(indptr) else np.zeros(0)
    if not ends.size or ends[0] != 0 or (np.diff(ends) < 0).any() or not ends[-1] == indices.size == entries:
        raise InputError(f"{what} must follow each other, one for each entry")


def hash_of(arrays: Mapping[str, Any], proved: set[str]) -> str:
    """The hash of arrays and texts by name, but for those that a proof looks at."""
    found = hashlib.sha256()
    for name in sorted({*arrays} - {*proved, "sha256"}):
        array = np.asarray(arrays[name])
        text = array.dtype.kind == "U"
        content = str(array) if text else array.dtype.kind
        found.update(json.dumps([name, array.shape, content]).encode())
        found.update(b"" if text else array.astype("<f8" if array.dtype.kind == "f" else "<i8").tobytes())
    return found.hexdigest()


def check_hash(stored: Mapping[str, Any], found: str, what: str) -> None:
    """InputError unless a file holds the hash that was found of it."""
    if str(stored["sha256"]) != found:
        raise InputError(f"its names, {what} were changed after it was saved: another hash")


def _check_shape(a: Any, name: str, shape: Shape) -> None:
    if a.ndim != len(shape) or any(want not in (None, size) for want, size in zip(shape, a.shape, strict=True)):
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise InputError(f"{name} must have shape ({wanted}), got {a.shape}")
