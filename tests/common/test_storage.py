"""Arrays of files: what they may be."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf import InputError
from paretoclf.common.storage import check_parts
from paretoclf.engine.reduction.stored import unpacked_matrix
from paretoclf.path.base.taken_samples import take_samples

NONE = np.zeros(0, dtype=np.int64)
WRONG = {
    "no number": np.array([0.0, np.nan, 0.0]),
    "falls": np.array([0, 2, 0]),
    "falls, unsigned": np.array([0, 2, 0], dtype=np.uint64),
    "below 0": np.array([0, -(2**40), 0]),
    "too many": np.array([0, 0, 2**40]),
    "none": NONE,
    "a table": np.zeros((1, 3), dtype=np.int64),
}


@pytest.mark.parametrize("indptr", WRONG.values(), ids=WRONG)
def test_a_sparse_matrix_without_entries_is_read_nowhere_else(indptr):
    """SciPy checks nothing of it, and reads the memory that its arrays point to."""
    check_parts(np.zeros(3, dtype=np.int64), NONE, 0, "columns of P")
    with pytest.raises(InputError, match="columns of P must follow each other"):
        unpacked_matrix({"P_data": np.zeros(0), "P_indices": NONE, "P_indptr": indptr}, "P", (2, 2))
    with pytest.raises(InputError, match="rows of X must follow each other"):
        take_samples({"X": np.zeros(0), "X_indices": NONE, "X_indptr": indptr, "X_shape": np.array([2, 2])})


def test_parts_without_whole_numbers_for_the_entries():
    with pytest.raises(InputError, match="rows of X must follow each other"):
        check_parts(np.array([0, 1]), np.array([np.nan]), 1, "rows of X")
