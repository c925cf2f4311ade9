"""A table of texts with a header, from a file or a frame: features and labels. Errors name the row and the column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite

import numpy as np

from paretoclf.checks import Array
from paretoclf.errors import InputError

#: Names under which the label is found when none is given.
LABEL_NAMES = ("label", "class", "y", "target")

#: What files and frames have where a value is missing, besides nothing at all.
MISSING = frozenset({"", "?", "na", "nan", "n/a", "null", "none", ".", "<na>", "nat"})


def read_table(
    where: str,
    names: list[str],
    table: Iterable[tuple[object, Sequence[str]]],
    *,
    label: str | None = None,
    positive: object = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    one_hot: Sequence[str] = (),
) -> tuple[Array, Array, tuple[str, ...], str, str]:
    """Read features and labels from texts.

    Parameters
    ----------
    where : str
        What it is, for errors.
    names : list of str
        The header.
    table : iterable of (row name, texts)
        One text for each name.
    label, positive, features, drop, one_hot
        As in `paretoclf.datasets.load`.

    Returns
    -------
    X, y, feature names, what +1 and what -1 stands for

    Raises
    ------
    InputError
        With the row and column at fault.
    """
    _check_header(where, names)
    column = _label_column(where, names, label)
    kept = chosen_columns(where, names, features, drop, label=column)
    hot = _one_hot_columns(where, names, kept, one_hot)
    X, feature_names, labels = _cells(where, names, column, kept, hot, table)
    y, plus, minus = two_classes(f"{where}: label column {names[column]!r}", labels, positive)
    return X, y, feature_names, plus, minus


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


def _check_header(where: str, names: list[str]) -> None:
    if len(names) < 2:
        raise InputError(
            f"{where}: the header must name a label and at least one feature, separated by commas, semicolons or tabs, "
            f"got {names}"
        )
    for j, name in enumerate(names):
        if not name:
            raise InputError(f"{where}: row 1: column {j + 1} has no name")
        if name in names[:j]:
            raise InputError(f"{where}: row 1: there are two columns named {name!r}")


def _label_column(where: str, names: list[str], label: str | None) -> int:
    if label is not None:
        if label not in names:
            raise InputError(f"{where}: there is no column {label!r}; columns: {', '.join(names)}")
        return names.index(label)
    found = [j for j, name in enumerate(names) if name.lower() in LABEL_NAMES]
    if len(found) != 1:
        which = "no column is" if not found else f"{len(found)} columns are"
        raise InputError(
            f"{where}: name the label column: {which} called {', '.join(LABEL_NAMES)}; columns: {', '.join(names)}"
        )
    return found[0]


def _one_hot_columns(where: str, names: list[str], kept: list[int], one_hot: Sequence[str]) -> list[int]:
    if isinstance(one_hot, str):
        raise InputError(f"one_hot must be a list of names, got {one_hot!r}")
    for name in one_hot:
        if name not in [names[j] for j in kept]:
            raise InputError(f"{where}: one_hot: there is no feature {name!r}; features: {_listed(names, kept)}")
    return [names.index(name) for name in one_hot]


def _listed(names: list[str], kept: list[int]) -> str:
    return ", ".join(names[j] for j in kept)


def _cells(
    where: str,
    names: list[str],
    column: int,
    kept: list[int],
    hot: list[int],
    table: Iterable[tuple[object, Sequence[str]]],
) -> tuple[Array, tuple[str, ...], list[str]]:
    """Features as numbers, with their names, and labels as text."""
    rows, categories, labels = [], [], []
    for number, row in table:
        if len(row) != len(names):
            raise InputError(f"{where}: row {number} must have {len(names)} cells like the header, got {len(row)}")
        label = row[column].strip()
        if label.lower() in MISSING:
            raise InputError(f"{where}: row {number}, column {names[column]!r}: the label is missing, got {label!r}")
        values = [0.0 if j in hot else number_of(row[j]) for j in kept]
        wrong = [j for j, value in zip(kept, values, strict=True) if value is None]
        wrong += [j for j in hot if row[j].strip().lower() in MISSING]
        if wrong:
            raise InputError(f"{where}: row {number}, column {names[wrong[0]]!r}: {_what_is_wrong(row[wrong[0]])}")
        labels.append(label)
        categories.append([row[j].strip() for j in hot])
        rows.append(values)
    if not rows:
        raise InputError(f"{where}: there is a header but no row of data")
    X = np.array(rows, dtype=np.float64)
    columns, feature_names = [], []
    for k, j in enumerate(kept):
        if j not in hot:
            columns.append(X[:, k])
            feature_names.append(names[j])
            continue
        texts = np.array([row[hot.index(j)] for row in categories])
        for category in np.unique(texts).tolist():
            columns.append((texts == category).astype(np.float64))
            feature_names.append(f"{names[j]}={category}")
    return np.column_stack(columns), tuple(feature_names), labels


def number_of(cell: str) -> float | None:
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
    return f"the value must be a number, got {text!r}; a column of categories is given as one_hot, or dropped"


def two_classes(where: str, labels: list[str], positive: object) -> tuple[Array, str, str]:
    """Labels as -1 and +1, and the texts of the two values."""
    numbers = [number_of(text) for text in labels]
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
        value = number_of(text)
        plus = _text(value) if numeric and value is not None else text
        if plus not in counts:
            raise InputError(f"{where}: positive must be one of its two values {shown}, got {text!r}")
    minus = next(key for key in counts if key != plus)
    return np.where(np.array(keys) == plus, 1.0, -1.0), plus, minus
