"""CSV and npz files. Errors name the file, the row (counted as in the file: the header is row 1) and the column."""

from __future__ import annotations

import csv
import zipfile
from collections import Counter
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from paretoclf.checks import Array, Index, check_matrix
from paretoclf.datasets.dataset import Dataset
from paretoclf.errors import InputError

#: Names under which the label is found when none is given.
LABEL_NAMES = ("label", "class", "y", "target")

#: What may stand between the cells of a row.
SEPARATORS = (",", ";", "\t")

#: Arrays of row numbers: the training and the test parts of splits.
SPLITS = ("train_idx", "test_idx")

#: What files write where a value is missing, besides nothing at all.
MISSING = frozenset({"", "?", "na", "nan", "n/a", "null", "none", "."})


def read_csv(
    file: Path,
    label: str | None = None,
    positive: object = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
) -> Dataset:
    """Read a CSV file with a header, numeric features and a label column of two values.

    Parameters
    ----------
    file : Path
        The file; UTF-8, separated by commas, semicolons or tabs: by what the header has most of.
    label : str, optional
        Name of the label column. Default: the one called label, class, y or target, if there is exactly one.
    positive : optional
        Label value that is +1. Default: 1, for the values {-1, 1} or {0, 1}.
    features : sequence of str, optional
        Names of the columns to use. Default: all but the label.
    drop : sequence of str
        Names of columns to leave out.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        With the file, row and column at fault.
    """
    try:
        with open(file, newline="", encoding="utf-8-sig") as stream:
            header = stream.readline()
            stream.seek(0)
            reader = csv.reader(stream, delimiter=max(SEPARATORS, key=header.count))
            table = [(reader.line_num, row) for row in reader if row]
    except FileNotFoundError:
        raise InputError(f"file not found: {file}") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{file}: cannot be read as a CSV file ({error})") from None
    if not table:
        raise InputError(f"{file}: the file is empty")
    names = [name.strip() for name in table[0][1]]
    _check_header(file, names)
    column = _label_column(file, names, label)
    if len(table) == 1:
        raise InputError(f"{file}: there is a header but no row of data")
    kept = chosen_columns(f"{file}", names, features, drop, label=column)
    X, labels = _cells(file, names, column, kept, table[1:])
    y, plus, minus = _two_classes(f"{file}: label column {names[column]!r}", labels, positive)
    return Dataset(file.stem, X, y, tuple(names[j] for j in kept), plus, minus, f"read from {file.name}")


def chosen_columns(
    where: str, names: Sequence[str], features: Sequence[str] | None, drop: Sequence[str], label: int = -1
) -> list[int]:
    """Positions of the features to use: those named, or all but the label, without those to drop.

    Raises
    ------
    InputError
        If a name is none, names the label, or none is left.
    """
    for argument, given in (("features", features or ()), ("drop", drop)):
        if isinstance(given, str):
            raise InputError(f"{argument} must be a list of names, got {given!r}")
        for name in given:
            if name not in names:
                raise InputError(f"{where}: {argument}: there is no column {name!r}; columns: {', '.join(names)}")
            if names.index(name) == label:
                raise InputError(f"{where}: {argument}: the column {name!r} is the label")
    wanted = [name for j, name in enumerate(names) if j != label] if features is None else list(features)
    kept = [names.index(name) for name in dict.fromkeys(wanted) if name not in drop]
    if not kept:
        raise InputError(f"{where}: no feature is left of {', '.join(names)}")
    return kept


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
    try:
        with open(file, "rb") as stream, np.load(stream, allow_pickle=False) as arrays:
            missing = [key for key in ("X", name) if key not in arrays]
            if missing:
                raise InputError(f"{file}: there is no array {missing[0]!r}; arrays: {', '.join(arrays)}")
            X, given = arrays["X"], arrays[name]
            parts = [arrays[key] for key in SPLITS if key in arrays]
    except FileNotFoundError:
        raise InputError(f"file not found: {file}") from None
    except InputError:
        raise
    except (OSError, ValueError, EOFError, TypeError, zipfile.BadZipFile) as error:
        raise InputError(f"{file}: cannot be read as an npz file ({error})") from None
    matrix = check_matrix(X, f"{file}: array 'X'")
    if given.shape != (len(matrix),):
        raise InputError(f"{file}: array {name!r} must have shape ({len(matrix)},), got {given.shape}")
    labels = [str(value) for value in given.tolist()]
    y, plus, minus = _two_classes(f"{file}: array {name!r}", labels, positive)
    names = tuple(f"x{j + 1}" for j in range(matrix.shape[1]))
    splits = _splits(file, parts, len(matrix))
    found = Dataset(file.stem, matrix, y, names, plus, minus, f"read from {file.name}", splits)
    return found.columns(chosen_columns(f"{file}", names, features, drop))


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


def _check_header(file: Path, names: list[str]) -> None:
    if len(names) < 2:
        raise InputError(
            f"{file}: the header must name a label and at least one feature, separated by commas, semicolons or tabs, "
            f"got {names}"
        )
    if all(_number(name) is not None for name in names):
        raise InputError(f"{file}: row 1 must be a header of column names, got only numbers")
    for j, name in enumerate(names):
        if not name:
            raise InputError(f"{file}: row 1: column {j + 1} has no name")
        if name in names[:j]:
            raise InputError(f"{file}: row 1: there are two columns named {name!r}")


def _label_column(file: Path, names: list[str], label: str | None) -> int:
    if label is not None:
        if label not in names:
            raise InputError(f"{file}: there is no column {label!r}; columns: {', '.join(names)}")
        return names.index(label)
    found = [j for j, name in enumerate(names) if name.lower() in LABEL_NAMES]
    if len(found) != 1:
        which = "no column is" if not found else f"{len(found)} columns are"
        raise InputError(
            f"{file}: name the label column: {which} called {', '.join(LABEL_NAMES)}; columns: {', '.join(names)}"
        )
    return found[0]


def _cells(
    file: Path, names: list[str], column: int, kept: list[int], table: Sequence[tuple[int, list[str]]]
) -> tuple[Array, list[str]]:
    """Features as numbers and labels as text."""
    rows, labels = [], []
    for number, row in table:
        if len(row) != len(names):
            raise InputError(f"{file}: row {number} must have {len(names)} cells like the header, got {len(row)}")
        label = row[column].strip()
        if label.lower() in MISSING:
            raise InputError(f"{file}: row {number}, column {names[column]!r}: the label is missing, got {label!r}")
        values = [_number(row[j]) for j in kept]
        if None in values:
            j = kept[values.index(None)]
            raise InputError(f"{file}: row {number}, column {names[j]!r}: {_what_is_wrong(row[j])}")
        labels.append(label)
        rows.append(values)
    return np.array(rows, dtype=np.float64), labels


def _number(cell: str) -> float | None:
    """Return the finite number that a cell holds, or None. Python's digit grouping (1_000) is not one."""
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if isfinite(value) and "_" not in cell else None


def _text(value: float) -> str:
    """Return one text for 1, +1 and 1.0."""
    return str(int(value)) if value.is_integer() else repr(value)


def _what_is_wrong(cell: str) -> str:
    text = cell.strip()
    if text.lower() in MISSING:
        return f"the value is missing, got {text!r}; drop or fill such rows first"
    if text.lower().lstrip("+-") in ("inf", "infinity"):
        return f"the value must be finite, got {text!r}"
    return f"the value must be a number, got {text!r}"


def _two_classes(where: str, labels: list[str], positive: object) -> tuple[Array, str, str]:
    """Labels as -1 and +1, and the texts of the two values."""
    numbers = [_number(text) for text in labels]
    numeric = None not in numbers
    keys: list[str] = [_text(value) for value in numbers if value is not None] if numeric else labels
    counts = Counter(keys)
    shown = ", ".join(f"{key!r} ({count})" for key, count in sorted(counts.items())[:10])
    if len(counts) != 2:
        more = f" and {len(counts) - 10} more" if len(counts) > 10 else ""
        raise InputError(f"{where} must have two values, got {len(counts)}: {shown}{more}")
    if positive is None:
        if not numeric or set(counts) not in ({"-1", "1"}, {"0", "1"}):
            raise InputError(f"{where}: say which value is positive; the two are {shown}")
        plus = "1"
    else:
        text = str(positive).strip()
        value = _number(text)
        plus = _text(value) if numeric and value is not None else text
        if plus not in counts:
            raise InputError(f"{where}: positive must be one of its two values {shown}, got {text!r}")
    minus = next(key for key in counts if key != plus)
    return np.where(np.array(keys) == plus, 1.0, -1.0), plus, minus
