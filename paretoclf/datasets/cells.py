"""A table of texts with a header, from a file or a frame: features and labels. Errors name the row and the column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.errors import InputError

#: Names under which the label is found when none is given.
LABEL_NAMES = ("label", "class", "y", "target")

#: Texts of missing values in files and frames, besides nothing at all.
MISSING = frozenset({"", "?", "na", "nan", "n/a", "null", "none", ".", "<na>", "nat"})

#: Treatments of missing values.
WAYS = ("drop", "median")

#: Treatments of categories that the training samples did not have.
UNSEEN = ("drop", "frequent")

#: Texts of infinity.
_INFINITE = ("inf", "infinity")

#: What may stand between groups of three digits.
GROUPS = (",", ".", " ", "'")

#: Numbers with commas between thousands.
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")

#: Numbers with other signs there, which the first group has.
_GROUPED = re.compile(r"[+-]?\d{1,3}([.' \u00a0\u2019\u202f])\d{3}(\1\d{3})*([.,]\d+)?")

#: Largest number of rows with wrong cells that are named.
SHOWN_ROWS = 10

#: A column of texts with more different ones than this is rather names than categories.
MOST_CATEGORIES = 20

#: Characters that a spreadsheet takes for the beginning of a formula.
_FORMULA = frozenset("=+-@")

#: Incomplete rows up to this share of all may be left out without much loss.
FEW_ROWS = 0.1


class ColumnsError(InputError):
    """Columns of a table hold texts that are no numbers.

    Attributes
    ----------
    found : str
        All of them, with the first row at fault.
    ways : dict from str to str or list of str
        Arguments of `paretoclf.datasets.load` with which the table can be read, those that were given among them; empty
        where there are none.
    """

    def __init__(self, found: str, ways: Mapping[str, Any]) -> None:
        self.found, self.ways = found, dict(ways)
        ready = ", ".join(f"{name}={value!r}" for name, value in ways.items())
        super().__init__(f"{found}; ready: {ready}" if ways else found)


@dataclass(frozen=True)
class Column:
    """Recipe by which a column of a table becomes features.

    Attributes
    ----------
    name : str
        Name in the header.
    categories : tuple of str, optional
        Categories that it may hold, sorted, where it is no column of numbers. Each but the first is a feature of zeros
        and ones: with the first their sum would be 1 everywhere.
    fill : float or str, optional
        Substitute for a missing value: the median of the numbers, or the most frequent category.
    decimal : str, optional
        A comma, where it separates the fraction of its numbers.
    thousands : str, optional
        What stands between groups of three digits of its numbers.
    """

    name: str
    categories: tuple[str, ...] | None = None
    fill: float | str | None = None
    decimal: str | None = None
    thousands: str | None = None

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return (self.name,) if self.categories is None else tuple(f"{self.name}={c}" for c in self.categories[1:])


@dataclass(frozen=True)
class Table:
    """Samples and labels of a table.

    Attributes
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)
    recipe : tuple of Column
        Columns from which the features come.
    positive, negative : str
        Values in the table that became +1 and -1.
    """

    X: Array
    y: Array
    recipe: tuple[Column, ...]
    positive: str
    negative: str

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the columns of X."""
        return tuple(name for column in self.recipe for name in column.features)


@dataclass(frozen=True)
class Wanted:
    """Settings with which a table is read; all as in `paretoclf.datasets.load`.

    Attributes
    ----------
    label, positive, features, drop, one_hot, missing
    decimal : str, optional
        None where numbers are no texts that a person wrote, so that commas are never meant.
    thousands : str, optional
        None where digits are not grouped.
    recipe : sequence of Column
        Columns of other samples, by which these are read; features, drop and one_hot are those, and not looked at.
    """

    label: str | None = None
    positive: object = None
    features: Sequence[str] | None = None
    drop: Sequence[str] = ()
    one_hot: Sequence[str] = ()
    missing: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    recipe: Sequence[Column] = ()

    def __post_init__(self) -> None:
        if self.missing is not None and self.missing not in WAYS:
            raise InputError(f"missing must be {' or '.join(map(repr, WAYS))}, got {self.missing!r}")
        if self.decimal not in (None, ".", ","):
            raise InputError(f"decimal must be '.' or ',', got {self.decimal!r}")
        others = [each for each in GROUPS if each != (self.decimal or ".")]
        if self.thousands not in (None, *others):
            raise InputError(f"thousands must be {' or '.join(map(repr, others))}, got {self.thousands!r}")


def read_table(
    where: str, names: list[str], table: Iterable[tuple[object, Sequence[str]]], wanted: Wanted | None = None
) -> Table:
    """Read features and labels from texts.

    Parameters
    ----------
    where : str
        Name of the table, for errors.
    names : list of str
        The header.
    table : iterable of (row name, texts)
        One text for each name.
    wanted : Wanted, optional

    Raises
    ------
    InputError
        With the rows and columns at fault.
    """
    wanted = Wanted() if wanted is None else wanted
    _check_header(where, names)
    column = _label_column(where, names, wanted.label)
    if wanted.recipe:
        return _read_alike(where, names, table, column, wanted)
    kept = chosen_columns(where, names, wanted.features, wanted.drop, label=column)
    hot = _one_hot_columns(where, names, kept, wanted.one_hot)
    rows, texts = _texts(where, names, table)
    read = []
    for j in kept:
        read.append(_Read(names[j], texts[j], j in hot, wanted.decimal, wanted.thousands))
    labels = _Read(names[column], texts[column], True, None)
    if wanted.missing == "drop":
        whole = np.flatnonzero(~np.logical_or.reduce([each.absent for each in (*read, labels)]))
        if not whole.size:
            raise InputError(f"{where}: no row is complete: missing='drop' leaves nothing")
        read, labels = [each.rows(whole) for each in read], labels.rows(whole)
        rows = [rows[i] for i in whole]
    found = _wrong(rows, read, wanted.missing is None) + _first(rows, labels, labels.absent, "label")
    if found:
        raise ColumnsError(f"{where}: {'; '.join(found)}", _ways(read, labels, wanted))
    recipe = tuple(each.column() for each in read)
    X = np.column_stack([each.features(column) for each, column in zip(read, recipe, strict=True)])
    if not X.shape[1]:
        raise InputError(f"{where}: no feature is left: each column of categories holds one only")
    y, plus, minus = two_classes(f"{where}: label column {names[column]!r}", list(labels.texts), wanted.positive)
    return Table(X, y, recipe, plus, minus)


def read_samples(
    where: str,
    names: list[str],
    table: Iterable[tuple[object, Sequence[str]]],
    recipe: Sequence[Column],
    *,
    missing: str | None = None,
    decimal: str | None = None,
    unseen: str | None = None,
) -> tuple[Array, list[object]]:
    """Read new samples by the recipe of those that a classifier was trained on.

    Parameters
    ----------
    where, names, table
        As for `read_table`; columns that the recipe does not name are passed over.
    recipe : sequence of Column
        The columns of the training samples.
    missing : {"drop", "median"}, optional
        Leave incomplete rows out, or fill them with the values of the recipe: medians of the training samples.
    decimal : str, optional
        Character before a fraction; default: that of the training samples.
    unseen : {"drop", "frequent"}, optional
        Leave rows out that have a category which the training samples did not have, or take their most frequent one.

    Returns
    -------
    X, names of the rows

    Raises
    ------
    InputError
        With the rows and columns at fault.
    """
    wanted = Wanted(missing=missing, decimal=decimal, recipe=recipe)
    if unseen is not None and unseen not in UNSEEN:
        raise InputError(f"unseen must be {' or '.join(map(repr, UNSEEN))}, got {unseen!r}")
    _check_header(where, names)
    _has_columns(where, names, recipe)
    rows, texts = _texts(where, names, table)
    X, kept = _by_recipe(where, names, rows, texts, wanted, unseen)
    return X, [rows[i] for i in kept]


def _has_columns(where: str, names: list[str], recipe: Sequence[Column]) -> None:
    """Refuse a header that lacks columns of a recipe."""
    gone = [column.name for column in recipe if column.name not in names]
    if gone:
        raise InputError(f"{where}: there is no column {', '.join(map(repr, gone))}; columns: {listed(names)}")


def _read_alike(
    where: str, names: list[str], table: Iterable[tuple[object, Sequence[str]]], column: int, wanted: Wanted
) -> Table:
    """Read features by the recipe of other samples, and the labels of a column."""
    _has_columns(where, names, wanted.recipe)
    rows, texts = _texts(where, names, table)
    labels = _Read(names[column], texts[column], True, None)
    if wanted.missing != "drop" and (found := _first(rows, labels, labels.absent, "label")):
        raise ColumnsError(f"{where}: {'; '.join(found)}", {"missing": "drop"})
    X, kept = _by_recipe(where, names, rows, texts, wanted, None)
    labelled = ~labels.absent[kept]
    known = labels.rows(kept[labelled]).texts
    y, plus, minus = two_classes(f"{where}: label column {names[column]!r}", list(known), wanted.positive)
    return Table(X[labelled], y, tuple(wanted.recipe), plus, minus)


def _by_recipe(
    where: str,
    names: list[str],
    rows: list[object],
    texts: Sequence[Sequence[str]],
    wanted: Wanted,
    unseen: str | None,
) -> tuple[Array, Index]:
    """Features of the rows that are not left out, and the positions of these rows."""
    recipe, missing = wanted.recipe, wanted.missing
    read = []
    for column in recipe:
        cells = texts[names.index(column.name)]
        hot, thousands = column.categories is not None, wanted.thousands or column.thousands
        read.append(_Read(column.name, cells, hot, wanted.decimal or column.decimal, thousands))
    left_out = np.zeros(len(rows), dtype=bool)
    for each, column in zip(read, recipe, strict=True):
        if missing == "drop":
            left_out |= each.absent
        if unseen == "drop":
            left_out |= each.unseen(column.categories)
        elif unseen == "frequent":
            each.replace(each.unseen(column.categories), column.fill)
    kept = np.flatnonzero(~left_out)
    read, rows = [each.rows(kept) for each in read], [rows[i] for i in kept]
    known = {column.name: column.categories for column in recipe if column.categories is not None}
    found = _wrong(rows, read, missing is None, known)
    if found:
        if not _wrong(rows, read, False, known):
            ways = {"missing": "median"}
        else:
            used = {each.decimal or "." for each in read if not each.hot}
            strange = _wrong(rows, [each for each in read if each.hot], False, known)
            others = [each for each in (".", ",") if each not in used and _all_numbers(read, each)]
            ways = {"decimal": others[0]} if others and not strange else {}
        raise ColumnsError(f"{where}: {'; '.join(found)}", ways)
    return np.column_stack([each.features(column) for each, column in zip(read, recipe, strict=True)]), kept


class _Read:
    """Cells of a column, read as numbers or as categories."""

    def __init__(
        self, name: str, texts: Sequence[str], hot: bool, decimal: str | None, thousands: str | None = None
    ) -> None:
        self.name, self.hot, self.decimal, self.thousands = name, hot, decimal, thousands
        self.texts = texts
        self.values: Array = np.zeros(len(texts))
        self.absent: Mask = np.zeros(len(texts), dtype=bool)
        self.wrong: Mask = np.zeros(len(texts), dtype=bool)
        if hot:
            self.texts = [text.strip() for text in texts]
            self.absent = np.array([text.lower() in MISSING for text in self.texts], dtype=bool)
            return
        try:
            if decimal == "," or "_" in "".join(texts):
                raise ValueError
            self.values = np.array(list(map(float, texts)))  # nothing but numbers, as a rule
        except ValueError:
            self.texts = [text.strip() for text in texts]
            known = [number_of(ungrouped(text, thousands), decimal) for text in self.texts]
            self.values = np.array([np.nan if value is None else value for value in known])
        bad = np.flatnonzero(~np.isfinite(self.values))
        lowered = [self.texts[i].strip().lower() for i in bad.tolist()]
        self.absent[bad] = [text in MISSING for text in lowered]
        self.wrong[bad] = ~self.absent[bad]

    @property
    def present(self) -> list[str]:
        """Cells that are not missing."""
        return [text for text, absent in zip(self.texts, self.absent, strict=True) if not absent]

    @property
    def few_wrong(self) -> bool:
        """Whether it is a column of numbers in which a few cells are none: infinite ones, or up to FEW_ROWS of all."""
        if self.hot or not self.wrong.any():
            return False
        wrong = [text.strip().lower() for text, bad in zip(self.texts, self.wrong, strict=True) if bad]
        infinite = all(text.lstrip("+-") in _INFINITE for text in wrong)
        return infinite or len(wrong) <= FEW_ROWS * len(self.present)

    def unseen(self, categories: Sequence[str] | None) -> Mask:
        """Which cells hold none of the categories; nowhere in a column of numbers, which has None."""
        if categories is None:
            return np.zeros(len(self.texts), dtype=bool)
        return np.asarray(~self.absent & ~np.isin(self.texts, categories))

    def replace(self, which: Mask, text: Any) -> None:
        """Put a text in place of some cells."""
        self.texts = [text if new else old for old, new in zip(self.texts, which, strict=True)]

    def rows(self, which: Index) -> _Read:
        """Cells of some rows."""
        part = copy(self)
        part.texts = [self.texts[i] for i in which.tolist()]
        part.values, part.absent, part.wrong = self.values[which], self.absent[which], self.wrong[which]
        return part

    def column(self) -> Column:
        """Recipe by which the column becomes features."""
        if not self.hot:
            comma = "," if self.decimal == "," else None
            return Column(self.name, None, float(np.median(self.values[~self.absent])), comma, self.thousands)
        counts = Counter(self.present)
        categories = tuple(sorted(counts))
        return Column(self.name, categories, max(categories, key=counts.__getitem__))

    def features(self, column: Column) -> Array:
        """Features of the column, shape (n, k), missing values filled."""
        if column.categories is None:
            return np.where(self.absent, np.float64(column.fill or 0.0), self.values)[:, None]
        filled = [column.fill if absent else text for text, absent in zip(self.texts, self.absent, strict=True)]
        others = column.categories[1:]
        ones = [[float(text == category) for category in others] for text in filled]
        return np.array(ones).reshape(len(filled), len(others))


def _texts(
    where: str, names: list[str], table: Iterable[tuple[object, Sequence[str]]]
) -> tuple[list[object], list[tuple[str, ...]]]:
    """Names of the rows, and the cells of each column."""
    rows, cells = [], []
    for number, row in table:
        if len(row) != len(names):
            raise InputError(f"{where}: row {number} must have {len(names)} cells like the header, got {len(row)}")
        rows.append(number)
        cells.append(row)
    if not rows:
        raise InputError(f"{where}: there is a header but no row of data")
    return rows, list(zip(*cells, strict=True))


def _wrong(
    rows: Sequence[object], read: Sequence[_Read], whole: bool, known: Mapping[str, Sequence[str]] | None = None
) -> list[str]:
    """Describe the first fault of each column; ``known`` are categories that it may hold, of training samples."""
    found = []
    for each in read:
        categories = (known or {}).get(each.name)
        refused = whole or (known is None and each.absent.all())  # there is nothing to fill with
        if categories is None:
            found += _first(rows, each, each.wrong | (each.absent & refused), "value")
            continue
        found += _first(rows, each, each.unseen(categories), "value", categories)
        found += _first(rows, each, each.absent & refused, "value")  # which another treatment reads
    return found


def _first(
    rows: Sequence[object], each: _Read, bad: Mask, what: str, categories: Sequence[str] | None = None
) -> list[str]:
    """Describe the first bad cell of a column, and how many there are; nothing if there is none."""
    if not bad.any():
        return []
    i = int(np.argmax(bad))
    text = each.texts[i].strip()
    if each.absent[i]:
        is_wrong = f"the {what} is missing"
    elif categories is not None:
        is_wrong = f"the value must be one of {', '.join(map(repr, categories))}"
    elif text.lower().lstrip("+-") in _INFINITE:
        is_wrong = "the value must be finite; empty the cell, and missing= (--missing) drops its row or fills it"
    elif _THOUSANDS.fullmatch(text):
        is_wrong = "the value must be a number without commas between thousands (pandas.read_csv takes thousands=',')"
    elif grouped := _GROUPED.fullmatch(text):
        pandas = f"pandas.read_csv takes thousands={grouped[1]!r}{', decimal=' + repr(',') if ',' in text else ''}"
        is_wrong = f"the value must be a number without {grouped[1]!r} between thousands ({pandas})"
    elif number_of(text.removesuffix("%"), each.decimal) is not None:
        is_wrong = "the value must be a number without a per cent sign (replace % by nothing in the file)"
    else:
        is_wrong = f"the value must be a number{' with a decimal comma' if each.decimal == ',' else ''}"
    others = [rows[k] for k in np.flatnonzero(bad)[1:].tolist()]
    rest = f" (and {len(others)} row{'s' if len(others) > 1 else ''} more)" if others else ""
    if each.few_wrong and 0 < len(others) <= SHOWN_ROWS:
        rest = f" (and row{'s' if len(others) > 1 else ''} {', '.join(map(str, others))})"
    return [f"row {rows[i]}, column {each.name!r}: {is_wrong}, got {text!r}{rest}"]


def _all_numbers(read: Sequence[_Read], decimal: str) -> bool:
    """Whether all columns of numbers can be read with another character before fractions."""
    cells = (text for each in read if not each.hot for text in each.present)
    return all(number_of(text, decimal) is not None for text in cells)


def _ways(read: Sequence[_Read], labels: _Read, wanted: Wanted) -> dict[str, Any]:
    """Arguments with which the columns can be read, given ones included. Empty if no feature were left."""
    one_hot, drop, decimal = list(wanted.one_hot), list(wanted.drop), wanted.decimal
    texts = [each for each in read if each.wrong.any()]
    commas = [each for each in texts if all(number_of(text, ",") is not None for text in each.present)]
    # 1,000 is a thousand or 1: where no other number has a comma, nobody knows.
    commas = [each for each in commas if any("," in t and not _THOUSANDS.fullmatch(t.strip()) for t in each.present)]
    others = [each for each in read if not each.hot and each not in commas]
    pointed = (text for each in others for text in each.present if "." in text)  # of which some may be no numbers
    if decimal == "." and commas and all(number_of(text) is None for text in pointed):
        decimal, texts = ",", [each for each in texts if each not in commas]
    thousands = wanted.thousands
    if thousands is None and decimal is not None:
        thousands = _groups_of(texts, decimal)
        texts = [each for each in texts if thousands is None or not _reads(each, decimal, thousands)]
    if any(each.few_wrong for each in texts):  # rows are at fault, which were named, and not their column
        return {}
    for each in texts:
        different = len(set(each.present))
        few = different <= MOST_CATEGORIES and different < len(each.present)
        mostly_texts = 2 * each.wrong.sum() > len(each.present)
        (one_hot if few and mostly_texts else drop).append(each.name)
    drop += [each.name for each in read if each.absent.all()]
    one_hot = [name for name in one_hot if name not in drop]
    left = [each for each in read if each.name not in drop]
    if not left:
        return {}
    absent = np.logical_or.reduce([each.absent for each in left])
    missing = wanted.missing
    if labels.absent.any() or (missing is None and 0 < absent.mean() <= FEW_ROWS):
        missing = "drop"
    elif missing is None and absent.any():
        missing = "median"
    ways = {"one_hot": one_hot, "drop": drop, "missing": missing}
    ways |= {"decimal": None if decimal == "." else decimal, "thousands": thousands}
    return {name: way for name, way in ways.items() if way}


def _groups_of(texts: Sequence[_Read], decimal: str) -> str | None:
    """Sign that groups the digits of a column that is wrong else; None where that is open: 1,000 alone may be 1."""
    for sign in GROUPS:
        for each in texts if sign != decimal else ():
            plain = [text for text in each.present if text.count(sign) > 1 or decimal in text or sign in " '"]
            if _reads(each, decimal, sign) and any(ungrouped(text, sign) != text for text in plain):
                return sign
    return None


def _reads(each: _Read, decimal: str, thousands: str) -> bool:
    """Whether all cells are numbers with these signs."""
    return all(number_of(ungrouped(text, thousands), decimal) is not None for text in each.present)


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
                raise InputError(f"{where}: {argument}: there is no column {name!r}; columns: {listed(names)}")
            if names.index(name) == label:
                raise InputError(f"{where}: {argument}: the column {name!r} is the label")
    wanted = features
    if wanted is None:
        wanted = [name for j, name in enumerate(names) if j != label]
    kept = [names.index(name) for name in dict.fromkeys(wanted) if name not in drop]
    if not kept:
        raise InputError(f"{where}: no feature is left of {listed(names)}")
    return kept


def _check_header(where: str, names: list[str]) -> None:
    """Refuse a header with too few names, an empty one, or one twice."""
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
    """Position of the label: that of the given name, or of the one usual name in the header."""
    if label is not None:
        if label not in names:
            raise InputError(f"{where}: there is no column {label!r}; columns: {listed(names)}")
        return names.index(label)
    found = [j for j, name in enumerate(names) if name.lower() in LABEL_NAMES]
    if len(found) != 1:
        which = "no column is" if not found else f"{len(found)} columns are"
        raise InputError(
            f"{where}: name the label column, with label= (--label): {which} called {', '.join(LABEL_NAMES)}; "
            f"columns: {listed(names)}"
        )
    return found[0]


def _one_hot_columns(where: str, names: list[str], kept: list[int], one_hot: Sequence[str]) -> list[int]:
    """Positions of the features that are categories."""
    if isinstance(one_hot, str):
        raise InputError(f"one_hot must be a list of names, got {one_hot!r}")
    for name in one_hot:
        if name not in [names[j] for j in kept]:
            raise InputError(f"{where}: one_hot: there is no feature {name!r}; features: {_listed(names, kept)}")
    return [names.index(name) for name in one_hot]


def _listed(names: list[str], kept: list[int]) -> str:
    """Names at some positions, as an option takes them."""
    return listed([names[j] for j in kept])


def listed(names: Sequence[str]) -> str:
    """Write names as an option takes them: one with a comma is quoted.

    Examples
    --------
    >>> from paretoclf.datasets.cells import listed
    >>> print(listed(["name, first", "age"]))
    "name, first", age
    """
    texts = []
    for name in names:
        quoted = '"' + name.replace('"', '""') + '"'
        texts.append(quoted if set(name) & set(',"') else name)
    return ", ".join(texts)


def defused(text: str) -> str:
    """Put an apostrophe before a cell that begins like a formula, so that a spreadsheet takes it for text.

    Examples
    --------
    >>> from paretoclf.datasets.cells import defused, restored
    >>> defused("=1+1"), defused("-1"), restored(defused("=1+1"))
    ("'=1+1", '-1', '=1+1')
    """
    return f"'{text}" if text.lstrip("'")[:1] in _FORMULA and number_of(text) is None else text


def restored(text: str) -> str:
    """Invert `defused`."""
    return text[1:] if text[:1] == "'" and text.lstrip("'")[:1] in _FORMULA else text


def number_of(cell: str, decimal: str | None = None) -> float | None:
    """Return the finite number that a cell holds, or None. Digits are not grouped (1_000; 1.000,0)."""
    if decimal == ",":
        cell = "_" if "." in cell else cell.replace(",", ".")
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if isfinite(value) and "_" not in cell else None


def ungrouped(cell: str, thousands: str | None) -> str:
    """Leave out what groups the digits of a number by three; other texts stay as they are.

    Examples
    --------
    >>> from paretoclf.datasets.cells import ungrouped
    >>> ungrouped("1,234,567.5", ","), ungrouped("1,5", ","), ungrouped("1 000", None)
    ('1234567.5', '1,5', '1 000')
    """
    if thousands is None:
        return cell
    sign = re.escape(thousands)
    is_grouped = re.fullmatch(rf"\s*[+-]?\d{{1,3}}({sign}\d{{3}})+([.,]\d+)?\s*", cell)
    return cell.replace(thousands, "") if is_grouped else cell


def _text(value: float) -> str:
    """Return one text for 1, +1 and 1.0."""
    return str(int(value)) if value.is_integer() else repr(value)


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
            said = f"{where}: say which value is positive; the two are {shown}"
            raise ColumnsError(said, {"positive": max(counts)})
        plus = "1"
    else:
        text = str(positive).strip()
        value = number_of(text)
        plus = _text(value) if numeric and value is not None else text
        if plus not in counts:
            raise InputError(f"{where}: positive must be one of its two values {shown}, got {text!r}")
    minus = next(key for key in counts if key != plus)
    return np.where(np.array(keys) == plus, 1.0, -1.0), plus, minus
