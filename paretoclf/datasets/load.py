"""One function for every data set: built-in, in a folder of data files, or a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paretoclf.common.checks import Rng, check_rng, is_whole
from paretoclf.common.errors import InputError
from paretoclf.datasets import generators
from paretoclf.datasets.cells import Column, chosen_columns
from paretoclf.datasets.dataset import Dataset
from paretoclf.datasets.files import FRAMES, read_csv, read_frame, read_npz
from paretoclf.datasets.openml import list_fetched
from paretoclf.datasets.svmlight import is_svmlight, read_svmlight

#: Names a folder of data files: ``NAME.csv``, ``NAME.npz`` and the benchmark collection ``raetsch/NAME.npz``.
FOLDER_VARIABLE = "PARETOCLF_DATA"

GENERATORS: dict[str, Callable[[int, Rng], Dataset]] = {
    "twonorm": generators.make_twonorm,
    "ringnorm": generators.make_ringnorm,
    "threenorm": generators.make_threenorm,
    "waveform": generators.make_waveform,
    "gaussians": generators.make_gaussians,
    "bimodal": generators.make_bimodal,
}

#: Where in the data folder a name is looked up.
PLACES = ("{}.csv", "{}.npz", "raetsch/{}.npz")

#: By ending; what has another one may be a file of LIBSVM.
READERS: dict[str, Callable[..., Dataset]] = {
    **{".csv": read_csv, ".tsv": read_csv, ".npz": read_npz},
    **dict.fromkeys(FRAMES, read_frame),
}

#: What a reader takes that not all do.
OWN = {
    read_csv: ("separator", "encoding", "one_hot", "missing", "decimal", "thousands"),
    read_frame: ("one_hot", "missing"),
}


def list_datasets() -> tuple[str, ...]:
    """Return the names of the built-in data sets.

    Examples
    --------
    >>> from paretoclf.datasets import list_datasets
    >>> list_datasets()
    ('wdbc', 'twonorm', 'ringnorm', 'threenorm', 'waveform', 'gaussians', 'bimodal')
    """
    return ("wdbc", *GENERATORS)


def load(
    source: str | Path,
    *,
    label: str | int | None = None,
    positive: object = None,
    data_dir: str | Path | None = None,
    rng: Rng | None = None,
    n: int | None = None,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    separator: str | None = None,
    encoding: str | None = None,
    one_hot: Sequence[str] = (),
    missing: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    recipe: Sequence[Column] = (),
) -> Dataset:
    """Load a data set.

    Parameters
    ----------
    source : str or Path
        A built-in name (see `list_datasets`); the path of a .csv, .tsv or .npz file, of one that pandas reads, where it
        is installed (.xlsx, .xls, .ods, .parquet, .feather, .dta), or of one in the format of SVMlight and LIBSVM,
        whatever it is called; or a name that is looked up in the data folder as ``NAME.csv``, ``NAME.npz``,
        ``raetsch/NAME.npz``.
    label : str, optional
        Files only: name of the label column or array. Default for CSV: the one column called label, class, y or
        target; for npz: ``y``.
    positive : optional
        Label value that becomes +1. Default: 1 where the two values are {-1, 1} or {0, 1}.
    data_dir : str or Path, optional
        The data folder. Default: environment variable ``PARETOCLF_DATA``. Where it is given here and has a file of a
        built-in name, that file is meant.
    rng : int or numpy.random.Generator, optional
        Randomness of a generator (default 0). For other sources: draw the n samples at random, without replacement.
    n : int, optional
        Number of samples. Default: 400 from a generator, all of any other source. Without rng the first n.
    features : sequence of str, optional
        Names of the features to use, in this order. Default: all.
    drop : sequence of str
        Names of features to leave out; of a CSV file any column, which need not hold numbers then.
    separator, encoding, decimal, thousands : str, optional
        CSV files only: the character between two cells, the encoding of the text, the characters before a fraction and
        between thousands; see `read_csv`.
    one_hot : sequence of str
        Tables only: features that are categories; each becomes a feature of zeros and ones for each category but the
        first, in sorted order.
    missing : {"drop", "median"}, optional
        Tables only: leave out rows in which something is missing, or fill it by the column's median, a category by the
        most frequent one. The median is that of all rows that are read, held-out ones, too, but not of labels.
    recipe : sequence of Column
        That of another `Dataset`. A table is read as that one was: columns are found by their names, categories and
        medians are those. Built-in data and arrays have the features that are called so, where all of them are.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        If there is no such data set, or it cannot be read; with the file, row and column at fault.

    Examples
    --------
    >>> from paretoclf.datasets import load
    >>> load("twonorm", n=50, rng=1)
    Dataset('twonorm': 50 samples, 20 features, 22 of +1 (mean +a), 28 of -1 (mean -a))
    """
    name = str(source)
    given = {
        **{"separator": separator, "encoding": encoding, "missing": missing, "decimal": decimal},
        "thousands": thousands,
        "one_hot": one_hot if len(one_hot) else None,
    }
    reading: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    folder = None if data_dir is None else _folder(data_dir)
    if name not in list_datasets() or (folder is not None and _in_folder(name, folder) is not None):
        file = _find(name, data_dir)
        reader = READERS.get(file.suffix.lower(), read_svmlight)
        _tables_only(file, {name: way for name, way in reading.items() if name not in OWN.get(reader, ())})
        if reader in OWN:
            reading["recipe"] = recipe
        data = reader(file, label, positive, features, drop=drop, **reading)
        return _some_rows(data if reader in OWN else _alike(data, recipe), n, rng)
    _tables_only(name, reading)
    _no_label(name, label)
    if name in GENERATORS:
        data = GENERATORS[name](400 if n is None else n, 0 if rng is None else rng)
    else:
        data = _some_rows(_wdbc(), n, rng)
    data = _oriented(data, positive)
    return _alike(data.columns(chosen_columns(name, data.feature_names, features, drop)), recipe)


def _alike(data: Dataset, recipe: Sequence[Column]) -> Dataset:
    """Features of a recipe, by their names, where the data set has all of them."""
    names = [name for column in recipe for name in column.features]
    known = data.feature_names
    return data.columns([known.index(name) for name in names]) if names and set(names) <= set(known) else data


def _find(name: str, data_dir: str | Path | None) -> Path:
    """Return the file that a source that is not built in stands for."""
    folder = _folder(data_dir)
    if Path(name).suffix.lower() in READERS:
        places = [Path(name)] if folder is None else [Path(name), folder / name]
        found = next((place for place in places if place.is_file()), None)
        if found is None:
            raise InputError(f"file not found: {' or '.join(str(place) for place in places)}")
        return found
    others = [place for place in (Path(name), *([] if folder is None else [folder / name])) if place.is_file()]
    if others:
        found = next((place for place in others if is_svmlight(place)), None)
        if found is None:
            raise InputError(
                f"{others[0]}: a data file must end in {', '.join(READERS)}, "
                "or be one of LIBSVM (label index:value ...)"
            )
        return found
    known = f"{name!r} is not a built-in data set ({', '.join(list_datasets())})"
    if name in list_fetched():
        known += f", but paretoclf.datasets.fetch({name!r}) has it from OpenML"
    if folder is None:
        raise InputError(
            f"{known}; give the path of a .csv or .npz file, or a folder of them with data_dir or {FOLDER_VARIABLE}"
        )
    found = _in_folder(name, folder)
    if found is None:
        raise InputError(f"{known}, and {folder} has none of {', '.join(each.format(name) for each in PLACES)}")
    return found


def _in_folder(name: str, folder: Path) -> Path | None:
    """The file of this name, if there is one."""
    return next((file for each in PLACES if (file := folder / each.format(name)).is_file()), None)


def _folder(data_dir: str | Path | None) -> Path | None:
    given = data_dir if data_dir is not None else os.environ.get(FOLDER_VARIABLE)
    if not given:
        return None
    folder = Path(given)
    if not folder.is_dir():
        origin = "data_dir" if data_dir is not None else FOLDER_VARIABLE
        raise InputError(f"{origin} must be a folder, got {folder}")
    return folder


def _some_rows(data: Dataset, n: int | None, rng: Rng | None) -> Dataset:
    if n is None:
        return data
    if not is_whole(n) or not 2 <= n <= data.n:
        raise InputError(f"n must be a whole number from 2 to the size of {data.name} ({data.n}), got {n!r}")
    if rng is None:
        return data.rows(slice(0, int(n)))
    return data.rows(np.sort(check_rng(rng).permutation(data.n)[:n]))


def _oriented(data: Dataset, positive: object) -> Dataset:
    """Return a built-in data set with the class that the user calls positive as +1."""
    if positive is None or str(positive) == data.positive:
        return data
    if str(positive) != data.negative:
        raise InputError(f"{data.name}: positive must be {data.positive!r} or {data.negative!r}, got {str(positive)!r}")
    return data.swapped()


def _tables_only(source: object, reading: dict[str, Any]) -> None:
    if reading:
        kind = "CSV files" if reading.keys() - set(OWN[read_frame]) else "tables"
        raise InputError(f"{' and '.join(reading)}: for {kind} only, and {source} is none")


def _no_label(name: str, label: str | int | None) -> None:
    if label is not None:
        raise InputError(f"label is for files; {name} is built in and has its own, got {label!r}")


def _wdbc() -> Dataset:
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    names = tuple(name.replace(" ", "_") for name in data.feature_names.tolist())
    y = np.where(data.target == 0, 1.0, -1.0)  # scikit-learn's target 0 is malignant
    notes = "Breast Cancer Wisconsin (Diagnostic), Street, Wolberg & Mangasarian 1993; from scikit-learn"
    return Dataset("wdbc", data.data, y, names, "malignant", "benign", notes)
