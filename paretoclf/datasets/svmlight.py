"""Files of SVMlight, LIBSVM and LIBLINEAR: a label, then ``index:value`` for each feature that is not 0."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import numpy as np

from paretoclf.common.checks import check_matrix
from paretoclf.common.errors import InputError
from paretoclf.common.files import reading
from paretoclf.common.memory import require_memory
from paretoclf.datasets.cells import chosen_columns, two_classes
from paretoclf.datasets.dataset import Dataset


def is_svmlight(file: Path) -> bool:
    """Whether scikit-learn reads the first line of a file, but for comments, as a label and pairs ``index:value``."""
    from sklearn.datasets import load_svmlight_file

    try:
        with open(file, encoding="utf-8") as stream:
            first = next((line.strip() for line in stream if line.strip() and not line.startswith("#")), "")
    except (OSError, UnicodeError):
        return False
    try:
        return ":" in first and load_svmlight_file(BytesIO(first.encode()))[0].shape[0] == 1
    except ValueError:
        return False


def read_svmlight(
    file: Path,
    label: str | int | None = None,
    positive: object = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
) -> Dataset:
    """Read a file of SVMlight or LIBSVM. The features are called x1, x2, ... by their index.

    Parameters
    ----------
    file : Path
    label : None
        Such a file has its labels in front.
    positive, features, drop
        As in `read_csv`.

    Returns
    -------
    Dataset
        Its samples are dense.

    Raises
    ------
    InputError
        If it cannot be read, or its dense samples would not fit into memory.
    """
    from sklearn.datasets import load_svmlight_file

    if label is not None:
        raise InputError(f"label must be left out: {file} has its labels in front, got {label!r}")
    with reading(file, "cannot be read as a file of LIBSVM"):
        sparse, given = load_svmlight_file(str(file))
    if 0 in sparse.shape:
        raise InputError(f"{file}: there are no samples, or no features, got shape {sparse.shape}")
    require_memory(
        8 * sparse.shape[0] * sparse.shape[1], f"{file}: a dense matrix of its samples", "take fewer features"
    )
    X = check_matrix(sparse.toarray(), f"{file}: features")
    texts = [repr(value) for value in np.ravel(given).tolist()]
    y, plus, minus = two_classes(f"{file}: the labels", texts, positive)
    names = tuple(f"x{j + 1}" for j in range(X.shape[1]))
    found = Dataset(file.stem, X, y, names, plus, minus, f"read from {file.name}")
    return found.columns(chosen_columns(f"{file}", names, features, drop))
