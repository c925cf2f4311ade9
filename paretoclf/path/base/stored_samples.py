"""Samples, labels and kernel in the npz files of paths and maps of classifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.common.files import AnyFile, write_file
from paretoclf.problem.kernels import kernel_spec
from paretoclf.problem.samples import Samples

if TYPE_CHECKING:
    from paretoclf.problem.gram import Gram


def arrays_with(gram: Gram, y: Array, seconds: float, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays of a file: samples, labels, kernel and seconds, which every path and map has, and others by name."""
    stored: dict[str, Any] = {**_stored(gram.X), **arrays}
    if gram.pivots is not None:
        stored["pivots"] = gram.pivots
    return {"y": y, "kernel": kernel_spec(gram.kernel), "seconds": np.array(seconds), **stored}


def write_arrays(file: AnyFile, gram: Gram, y: Array, seconds: float, arrays: Mapping[str, Any]) -> None:
    """Write samples, labels, kernel, seconds and other arrays to an npz file; as `write_file`."""
    write_file(file, arrays_with(gram, y, seconds, arrays))


def _stored(X: Samples) -> dict[str, Any]:
    """Samples as arrays that npz can hold."""
    if not sp.issparse(X):
        return {"X": X}
    return {"X": X.data, "X_indices": X.indices, "X_indptr": X.indptr, "X_shape": np.array(X.shape)}
