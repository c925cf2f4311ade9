"""Samples of the content of a file, as `paretoclf.path.base.stored_samples` has written them."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from paretoclf.common.storage import check_parts
from paretoclf.problem.samples import Samples


def take_samples(stored: dict[str, Any]) -> Samples:
    """Take the samples out of what a file holds."""
    X = stored.pop("X")
    if "X_shape" not in stored:
        return X
    indices, indptr, shape = (stored.pop(f"X_{name}") for name in ("indices", "indptr", "shape"))
    check_parts(indptr, indices, X.size, "rows of X")
    samples = sp.csr_array((X, indices, indptr), shape=tuple(int(size) for size in shape))
    samples.check_format()  # ValueError for indices out of range
    return samples
