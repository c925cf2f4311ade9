"""Paths and maps in npz files: what all of them store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import InputError
from paretoclf.common.files import AnyFile, save_arrays
from paretoclf.problem.kernels import kernel_spec
from paretoclf.problem.samples import Samples

if TYPE_CHECKING:
    from paretoclf.problem.gram import Gram

Shape = tuple[int | None, ...]


def write_arrays(file: AnyFile, gram: Gram, y: Array, seconds: float, arrays: Mapping[str, Any]) -> None:
    """Write what every path and map has, and the rest by name, to an npz file; as `write_file`."""
    stored: dict[str, Any] = {**_stored(gram.X), **arrays}
    if gram.pivots is not None:
        stored["pivots"] = gram.pivots
    kernel = np.array(json.dumps(kernel_spec(gram.kernel)))
    write_file(file, {"y": y, "kernel": kernel, "seconds": np.array(seconds), **stored})


def write_file(file: AnyFile, arrays: Mapping[str, Any]) -> None:
    """Write arrays to an npz file, complete or not at all; ``.npz`` is added where it is missing, no folder is."""
    target = FilePath(file)
    target = target if target.suffix == ".npz" else target.with_name(target.name + ".npz")
    if not target.parent.is_dir():
        raise InputError(f"file must lie in a folder that there is, got {target}: there is no folder {target.parent}")
    save_arrays(target, arrays, compress=True)


def _stored(X: Samples) -> dict[str, Any]:
    """Samples as arrays that npz can hold."""
    if not sp.issparse(X):
        return {"X": X}
    return {"X": X.data, "X_indices": X.indices, "X_indptr": X.indptr, "X_shape": np.array(X.shape)}


def take_samples(stored: dict[str, Any]) -> Samples:
    """Take the samples out of what a file holds."""
    X = stored.pop("X")
    if "X_shape" not in stored:
        return X
    indices, indptr, shape = (stored.pop(f"X_{name}") for name in ("indices", "indptr", "shape"))
    samples = sp.csr_array((X, indices, indptr), shape=tuple(int(size) for size in shape))
    samples.check_format()  # ValueError for indices out of range
    return samples


def finite(given: Any, name: str, shape: Shape) -> Array:
    """Return an array of finite floats of a shape, in which None is any size; InputError if it is not one."""
    a = np.asarray(given)
    if a.dtype.kind not in "fiu":
        raise InputError(f"{name} must hold numbers, got {a.dtype}")
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


def _check_shape(a: Any, name: str, shape: Shape) -> None:
    if a.ndim != len(shape) or any(want not in (None, size) for want, size in zip(shape, a.shape, strict=True)):
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise InputError(f"{name} must have shape ({wanted}), got {a.shape}")
