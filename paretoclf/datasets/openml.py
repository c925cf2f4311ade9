"""Real data sets of the papers, from OpenML through scikit-learn's fetcher, each known by its checksum."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.datasets.dataset import Dataset


@dataclass(frozen=True)
class OpenMLSource:
    """Place of a data set at OpenML, and its checksum.

    Attributes
    ----------
    data_id : int
        Its number at OpenML: of one version, which does not change.
    positive, negative : tuple of str
        Labels there that become +1 and -1. Rows with another label, or with a missing value, are left out.
    sha256 : str
        See `checksum`.
    notes : str
        Its origin.
    """

    data_id: int
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    sha256: str
    notes: str


SOURCES = {
    "breast_w": OpenMLSource(
        15, ("malignant",), ("benign",), "f710bc0493f69b4d4bfd73ebe649643fde74087654a54ca809ea3cb66625aabc",
        "Breast Cancer Wisconsin (Original), Wolberg & Mangasarian 1990; 16 rows with a missing value left out",
    ),
    "dermatology_psoriasis": OpenMLSource(
        35, ("1",), ("2", "3", "4", "5", "6"), "b85947731d53eae4092ea5ec773519ed56b3fabc5d9c0290d3cab63bc4554493",
        "Dermatology, Ilter & Guvenir 1998; psoriasis against the others; 8 rows without an age left out",
    ),
    "ionosphere": OpenMLSource(
        59, ("g",), ("b",), "5c1a11a49c29e612c1ae9895565f2039e7fb8629775add438926641ba6153b98",
        "Ionosphere, Sigillito et al. 1989; the second feature is constant",
    ),
    "pima": OpenMLSource(
        37, ("tested_positive",), ("tested_negative",),
        "2f0b33112fac08f0df7294b7debcd4079dc53d6a96cd6696807bbaf6be40c9b7",
        "Pima Indians Diabetes, Smith et al. 1988; zeros stand for missing values",
    ),
    "sonar": OpenMLSource(
        40, ("Mine",), ("Rock",), "e58b6ead8ce13aea215d5808d3ce9f50a56391e384dd5f5857ed31f87e0fa631",
        "Connectionist Bench (Sonar), Gorman & Sejnowski 1988",
    ),
    "spambase": OpenMLSource(
        44, ("1",), ("0",), "95700b3dd64e99fa45d74216b44b292b5f6ae65bc3a2bdb79d4519e496202378",
        "Spambase, Hopkins et al. 1999; 1 is spam",
    ),
    "vehicle_van_saab": OpenMLSource(
        54, ("van",), ("saab",), "48c7292a0b4265f89a190a1b1a141708feb26a97c57e298a8ee15b9b0eeba9c3",
        "Statlog (Vehicle Silhouettes), Siebert 1987; two of its four classes",
    ),
}  # fmt: skip


def list_fetched() -> tuple[str, ...]:
    """Return the names that `fetch` knows.

    Examples
    --------
    >>> from paretoclf.datasets import list_fetched
    >>> list_fetched()
    ('breast_w', 'dermatology_psoriasis', 'ionosphere', 'pima', 'sonar', 'spambase', 'vehicle_van_saab')
    """
    return tuple(SOURCES)


def fetch(name: str, *, data_home: str | Path | None = None) -> Dataset:
    """Fetch a data set of the papers from OpenML; the second time, from this machine.

    Parameters
    ----------
    name : str
        One of `list_fetched`.
    data_home : str or Path, optional
        Where scikit-learn keeps what it downloaded; default `sklearn.datasets.get_data_home`, ``~/scikit_learn_data``.

    Returns
    -------
    Dataset
        Rows in the order of OpenML. +1 is malignant, psoriasis, good (ionosphere), diabetic, mine, spam, van.

    Raises
    ------
    InputError
        If there is no such name; if nothing could be downloaded, and nothing was before; or if another data set than
        this one came: its rows, features and labels, in whatever order of the rows, have a checksum.

    Notes
    -----
    The checksums are those of independent copies of the same UCI data sets. Liver disorders, splice, adult and the
    benchmark collection of Raetsch are not here: OpenML has them in another form than the papers used, or a part of
    them only. `load` reads them from files.

    Examples
    --------
    >>> from paretoclf.datasets import fetch
    >>> fetch("sonar")  # doctest: +SKIP
    Dataset('sonar': 208 samples, 60 features, 111 of +1 (Mine), 97 of -1 (Rock))
    """
    source = SOURCES.get(name)
    if source is None:
        raise InputError(f"name must be one of {', '.join(SOURCES)}, got {name!r}")
    found = _download(name, source, data_home)
    names = tuple(str(feature) for feature in found.feature_names)
    X = _numbers(np.asarray(found.data, dtype=np.float64), names, found.categories or {})
    labels = np.asarray(found.target).astype(str)
    complete = ~np.isnan(X).any(axis=1)
    kept = np.isin(labels, source.positive + source.negative) & complete
    X, labels = X[kept], labels[kept]
    y = np.where(np.isin(labels, source.positive), 1.0, -1.0)
    if (got := checksum(X, y)) != source.sha256:
        raise InputError(
            f"{name}: what OpenML sent as data set {source.data_id} is not the one that is meant: {len(X)} samples "
            f"with checksum {got}, expected {source.sha256}; if it was damaged on the way, remove it from "
            f"{data_home or 'the data_home of scikit-learn'} and fetch it again"
        )
    positive, negative = (_any_of(classes) for classes in (source.positive, source.negative))
    return Dataset(name, X, y, names, positive, negative, f"{source.notes}; OpenML data set {source.data_id}")


def checksum(X: Array, y: Array) -> str:
    """SHA-256 of the rows (features, then -1 or +1) in sorted order, as little-endian doubles; -0 counts as 0."""
    rows = np.column_stack([X, y]) + 0.0
    ordered = rows[np.lexsort(rows.T[::-1])]
    return hashlib.sha256(ordered.astype("<f8").tobytes()).hexdigest()


def _download(name: str, source: OpenMLSource, data_home: str | Path | None) -> Any:
    """Fetch a data set by scikit-learn; InputError where it can be had neither from the network nor from the disk."""
    from sklearn import datasets

    home = None if data_home is None else str(data_home)
    try:
        # This parser needs no pandas. Only a missing network makes it wait: once is enough.
        return datasets.fetch_openml(
            data_id=source.data_id, as_frame=False, parser="liac-arff", data_home=home, n_retries=1
        )
    except (OSError, ValueError) as error:
        raise InputError(
            f"{name}: data set {source.data_id} of OpenML could not be fetched ({error}), and is not in "
            f"{datasets.get_data_home(home)}. Without a network: copy this folder from a machine that fetched it, or "
            "give a file to paretoclf.datasets.load"
        ) from None


def _numbers(X: Array, names: tuple[str, ...], categories: dict[str, Any]) -> Array:
    """Replace positions in lists of values, which OpenML has for features with declared values, by the values."""
    X = X.copy()
    for j, name in enumerate(names):
        if name in categories:
            values = np.asarray(categories[name], dtype=np.float64)
            there = ~np.isnan(X[:, j])
            X[there, j] = values[X[there, j].astype(int)]
    return X


def _any_of(classes: tuple[str, ...]) -> str:
    """Names of classes in a sentence."""
    return classes[0] if len(classes) == 1 else f"{', '.join(classes[:-1])} or {classes[-1]}"
