"""Arrays from npz files: of which type and shape they are, and within which bounds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import InputError
from paretoclf.common.files import hash_of

Shape = tuple[int | None, ...]

#: What is said of a file that does not have the hash that it was saved with.
CHANGED = "what it holds was changed after it was saved: another hash"


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
    """Refuse a sparse matrix whose pointers are no whole numbers that divide its entries into parts, in their order.

    SciPy reads memory wherever pointers lead, and checks nothing of a matrix without entries.
    """
    numbers = all(np.ndim(each) == 1 and each.dtype.kind in "iu" for each in (indptr, indices))
    ends = np.asarray(indptr if numbers and indptr.size else [-1], dtype=np.int64)
    in_order = ends[0] == 0 and (np.diff(ends) >= 0).all()
    if not (in_order and ends[-1] == indices.size == entries):
        raise InputError(f"{what} must follow each other, one for each entry")


def content_of(members: Mapping[str, Array]) -> dict[str, Any]:
    """Content of a file that `paretoclf.common.files.write_file` wrote, of all of its arrays.

    Raises
    ------
    InputError
        If it is not what was written.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.common.files import members_of
    >>> from paretoclf.common.storage import content_of
    >>> content_of(members_of({"t": np.arange(2.0), "status": "end"}))
    {'t': array([0., 1.]), 'status': 'end'}
    """
    if members["sha256"].tobytes() != hash_of(members):
        raise InputError(CHANGED)
    said = json.loads(members["json"].tobytes())
    arrays = {name: each for name, each in members.items() if name not in ("json", "sha256")}
    if not isinstance(said, dict) or said.keys() & arrays.keys():
        raise InputError("json must be an object with other names than the arrays have")
    return {**arrays, **said}


def _check_shape(a: Any, name: str, shape: Shape) -> None:
    """Refuse an array of another shape; None is any size."""
    if a.ndim != len(shape) or any(want not in (None, size) for want, size in zip(shape, a.shape, strict=True)):
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise InputError(f"{name} must have shape ({wanted}), got {a.shape}")
