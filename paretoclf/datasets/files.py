"""CSV and npz files. Errors name the file, the row (counted as in the file: the header is row 1) and the column."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paretoclf.common.checks import Index, check_matrix
from paretoclf.common.errors import InputError
from paretoclf.common.files import read_arrays, reading
from paretoclf.datasets.cells import (
    Column,
    ColumnsError,
    Table,
    Wanted,
    chosen_columns,
    number_of,
    read_table,
    restored,
    two_classes,
)
from paretoclf.datasets.dataset import Dataset, texts_of

#: What may stand between the cells of a row.
SEPARATORS = (",", ";", "\t")

#: What pandas reads, by ending.
FRAMES = {
    **{".parquet": "read_parquet", ".feather": "read_feather", ".dta": "read_stata"},
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "read_excel"),
}

#: Arrays of row numbers: the training and the test parts of splits.
SPLITS = ("train_idx", "test_idx")


def read_csv(
    file: Path,
    label: str | int | None = None,
    positive: object = None,
    features: Sequence[str] | None = None,
    *,
    drop: Sequence[str] = (),
    separator: str | None = None,
    encoding: str | None = None,
    one_hot: Sequence[str] = (),
    missing: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    recipe: Sequence[Column] = (),
) -> Dataset:
    """Read a CSV file with numeric features and a label column of two values.

    It has a header, unless its first row is nothing but numbers, or the label is given by the number of its column.
    Then columns are called by their numbers, 1, 2, ...

    Parameters
    ----------
    file : Path
        The file.
    label : str or int, optional
        Name of the label column. Default: the one called label, class, y or target, if there is exactly one. Without a
        header its number, from 1.
    positive : optional
        Label value that is +1. Default: 1, for the values {-1, 1} or {0, 1}.
    features : sequence of str, optional
        Names of the columns to use. Default: all but the label.
    drop : sequence of str
        Names of columns to leave out.
    separator : str, optional
        The character between two cells. Default: comma, semicolon or tab, what the header has most of.
    encoding : str, optional
        The text's encoding, as in `open`; default UTF-8, with or without a mark at its beginning.
    one_hot : sequence of str
        Features that are categories, texts or numbers. Each becomes a feature ``NAME=CATEGORY`` of zeros and ones for
        each of its categories but the first, in sorted order: with that one their sum would be 1 everywhere.
    missing : {"drop", "median"}, optional
        What becomes of rows in which a feature that is used (or, with "drop", the label) is missing: an empty cell,
        ``NA``, ``?``, ... They are left out; or filled by the median of the column, a category by the most frequent
        one. Default: an error that names them.
    decimal : {".", ","}, optional
        What stands before the fraction of a number. Default: a point, or what the recipe says.
    thousands : {",", ".", " ", "'"}, optional
        What stands between groups of three digits of a number. Default: nothing does.
    recipe : sequence of Column
        That of another data set, by which the features are read.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        With the file, row and column at fault.
    """
    names, rows = csv_rows(file, separator, encoding)
    if isinstance(label, int) or all(number_of(name) is not None for name in names):
        names, rows = [str(j + 1) for j in range(len(names))], [(1, names), *rows]
        if label is None:
            raise InputError(f"{file}: there is no header: label must be the number of its column, 1 to {len(names)}")
        label = str(label)
    decimal = decimal or (None if recipe else ".")
    wanted = Wanted(label, positive, features, drop, one_hot, missing, decimal, thousands, recipe)
    return _dataset(file, read_table(f"{file}", names, rows, wanted))


def _dataset(file: Path, read: Table) -> Dataset:
    notes = f"read from {file.name}"
    return Dataset(
        file.stem, read.X, read.y, read.feature_names, read.positive, read.negative, notes, recipe=read.recipe
    )


def csv_rows(
    file: Path, separator: str | None = None, encoding: str | None = None
) -> tuple[list[str], list[tuple[object, Sequence[str]]]]:
    """Return the first row of a CSV file, and the others with their numbers; parameters as in `read_csv`."""
    if separator is not None and (not isinstance(separator, str) or len(separator) != 1 or separator in '\r\n"'):
        raise InputError(f"separator must be one character, got {separator!r}")
    encoding = "utf-8-sig" if encoding is None else encoding
    with reading(file, "cannot be read as a CSV file"):
        try:
            with open(file, newline="", encoding=encoding) as stream:
                first = stream.readline()
                stream.seek(0)
                reader = csv.reader(stream, delimiter=separator or max(SEPARATORS, key=first.count))
                table: list[tuple[object, Sequence[str]]] = [
                    (reader.line_num, list(map(restored, row))) for row in reader if row
                ]
        except LookupError:
            known = "one that Python knows, such as utf-8 or latin-1"
            raise InputError(f"encoding must be {known}, got {encoding!r}") from None
        except UnicodeError as error:
            said = f"{file}: cannot be read as a CSV file in {encoding} ({error}); name its encoding"
            raise ColumnsError(said, {"encoding": "latin-1"}) from None
    if not table:
        raise InputError(f"{file}: the file is empty")
    return [name.strip() for name in table[0][1]], table[1:]


def read_frame(
    file: Path,
    label: str | None = None,
    positive: object = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    *,
    one_hot: Sequence[str] = (),
    missing: str | None = None,
    recipe: Sequence[Column] = (),
) -> Dataset:
    """Read a table of Excel, Parquet, Stata, ... with pandas, where that is installed.

    Parameters and errors as in `read_csv`.
    """
    wanted = Wanted(label, positive, features, drop, one_hot, missing, recipe=recipe)
    return _dataset(file, read_table(f"{file}", *frame_rows(file), wanted))


def frame_rows(file: Path) -> tuple[list[str], list[tuple[object, Sequence[str]]]]:
    """Return the names of the columns of a file that pandas reads, and its rows with their numbers."""
    names, rows = texts_of(f"{file}", _frame(file))
    return names, list(rows)


def _frame(file: Path) -> Any:
    try:
        import pandas as pd

        with reading(file, "cannot be read by pandas"):
            return getattr(pd, FRAMES[file.suffix.lower()])(file)
    except ImportError as error:  # pandas, or what it needs for this kind of file
        raise InputError(f"{file}: needs pandas: pip install 'paretoclf[pandas]' ({error})") from None


def read_npz(
    file: Path,
    label: str | None = None,
    positive: object = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
) -> Dataset:
    """Read an npz file with arrays ``X`` of shape (n, d) and ``y`` (or another name: label) of shape (n,).

    Arrays ``train_idx`` and ``test_idx`` of k rows of row numbers from 0, if there are, become the data set's
    ``splits``. The features are called x1, x2, ... Parameters and errors as in `read_csv`.
    """
    name = "y" if label is None else label
    found = read_arrays(file, "cannot be read as an npz file", ("X", name), SPLITS)
    X, given, parts = found["X"], found[name], [found[key] for key in SPLITS if key in found]
    matrix = check_matrix(X, f"{file}: array 'X'")
    if given.shape != (len(matrix),):
        raise InputError(f"{file}: array {name!r} must have shape ({len(matrix)},), got {given.shape}")
    labels = [str(value) for value in given.tolist()]
    y, plus, minus = two_classes(f"{file}: array {name!r}", labels, positive)
    names = tuple(f"x{j + 1}" for j in range(matrix.shape[1]))
    splits = _splits(file, parts, len(matrix))
    data = Dataset(file.stem, matrix, y, names, plus, minus, f"read from {file.name}", splits)
    return data.columns(chosen_columns(f"{file}", names, features, drop))


def _splits(file: Path, parts: list[Any], n: int) -> tuple[tuple[Index, Index], ...]:
    """Pairs of row numbers, from two arrays of as many rows."""
    if not parts:
        return ()
    if len(parts) != 2 or any(part.ndim != 2 for part in parts) or len(parts[0]) != len(parts[1]):
        raise InputError(f"{file}: {' and '.join(SPLITS)} must be two arrays with a row for each split")
    for name, part in zip(SPLITS, parts, strict=True):
        if part.dtype.kind not in "iu" or part.size == 0 or part.min() < 0 or part.max() >= n:
            raise InputError(f"{file}: array {name!r} must hold row numbers from 0 to {n - 1}")
    train, test = (part.astype(np.int64) for part in parts)
    return tuple(zip(train, test, strict=True))
