"""Data set, as every source of data returns it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from paretoclf.common.checks import Array, Index, check_labels, check_matrix
from paretoclf.common.errors import InputError
from paretoclf.common.tables import frame, html_table
from paretoclf.datasets.cells import Column, Wanted, read_table


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples of two classes.

    Attributes
    ----------
    name : str
        Name, or file name without its ending.
    X : array of shape (n, d)
        Samples.
    y : array of shape (n,)
        Labels -1 and +1, both present.
    feature_names : tuple of str
        d names.
    positive, negative : str
        What +1 and -1 stand for.
    notes : str
        Where it comes from.
    splits : tuple of pairs (train, test)
        Row numbers of the splits that a file gives, such as those of a benchmark collection; empty where there are
        none. They are those of all rows, and a choice of rows has none.
    recipe : tuple of Column
        How the columns of a table became these features; empty where they come from none.

    Raises
    ------
    InputError
        If X is not finite, y does not hold both labels, or the shapes do not fit.

    Examples
    --------
    >>> from paretoclf.datasets import load
    >>> load("wdbc")
    Dataset('wdbc': 569 samples, 30 features, 212 of +1 (malignant), 357 of -1 (benign))
    """

    name: str
    X: Array = field(repr=False)
    y: Array = field(repr=False)
    feature_names: tuple[str, ...] = field(repr=False)
    positive: str
    negative: str
    notes: str = ""
    splits: tuple[tuple[Index, Index], ...] = field(default=(), repr=False)
    recipe: tuple[Column, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature_names", tuple(self.feature_names))
        object.__setattr__(self, "X", check_matrix(self.X, copy=True))
        object.__setattr__(self, "y", check_labels(self.y, len(self.X)))
        if len(self.feature_names) != self.X.shape[1]:
            raise InputError(
                f"feature_names must have one name per column ({self.X.shape[1]}), got {len(self.feature_names)}"
            )

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}: {self.n} samples, {self.d} features, "
            f"{self.n_plus} of +1 ({self.positive}), {self.n_minus} of -1 ({self.negative}))"
        )

    def _repr_html_(self) -> str:
        classes = ((1, self.positive, self.n_plus), (-1, self.negative, self.n_minus))
        rows = [dict(zip(("y", "class", "samples"), row, strict=True)) for row in classes]
        return html_table(repr(self), rows, len(rows))

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def n_plus(self) -> int:
        """Number of positives."""
        return int(np.count_nonzero(self.y > 0))

    @property
    def n_minus(self) -> int:
        """Number of negatives."""
        return self.n - self.n_plus

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        label: str | None = None,
        positive: object = None,
        name: str = "frame",
        features: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        one_hot: Sequence[str] = (),
        missing: str | None = None,
    ) -> Dataset:
        """Make a data set of a frame of pandas or polars: numeric features, and a label column of two values.

        Parameters
        ----------
        frame : DataFrame
            One row a sample.
        label : str, optional
            Name of the label column. Default: the one called label, class, y or target, if there is exactly one.
        positive : optional
            Label value that is +1. Default: 1, for the values {-1, 1} or {0, 1}.
        name : str
            The data set's name.
        features, drop : sequences of str
            Names of the columns to use, or to leave out. Default: all but the label.
        one_hot : sequence of str
            Features that are categories. Each becomes a feature ``NAME=CATEGORY`` of zeros and ones for each of its
            categories but the first, in sorted order: with that one their sum would be 1 everywhere.
        missing : {"drop", "median"}, optional
            Leave incomplete rows out, or replace what is missing, as in `paretoclf.datasets.load`.

        Returns
        -------
        Dataset

        Raises
        ------
        InputError
            If it is not such a frame; with the row (as its index calls it) and the column at fault.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"age": [30, 50, 40], "sex": ["f", "m", "f"], "ill": ["no", "yes", "no"]})
        >>> data = Dataset.from_frame(frame, label="ill", positive="yes", one_hot=["sex"])
        >>> data.feature_names
        ('age', 'sex=m')
        >>> data.to_frame().iloc[1].to_dict()
        {'age': 50.0, 'sex=m': 1.0, 'label': 'yes'}
        """
        names, table = texts_of(name, frame)
        read = read_table(name, names, table, Wanted(label, positive, features, drop, one_hot, missing))
        return cls(
            name, read.X, read.y, read.feature_names, read.positive, read.negative, "from a frame", recipe=read.recipe
        )

    def to_frame(self, label: str = "label") -> Any:
        """Return features and labels, in the words of `positive` and `negative`, as a frame of pandas.

        ``Dataset.from_frame(data.to_frame(), positive=data.positive)`` is the same data again. It needs pandas:
        ``pip install 'paretoclf[pandas]'``.

        Parameters
        ----------
        label : str
            Name of the label column, which comes last.

        Returns
        -------
        pandas.DataFrame
            n rows, d + 1 columns.

        Raises
        ------
        InputError
            If a feature has the name of the label, or pandas is not installed.
        """
        if label in self.feature_names:
            raise InputError(f"label must not be the name of a feature, got {label!r}")
        words = np.where(self.y > 0, self.positive, self.negative)
        return frame(dict(zip(self.feature_names, self.X.T, strict=True)) | {label: words})

    def swapped(self) -> Dataset:
        """Return the same samples with the classes' roles exchanged."""
        return replace(self, y=-self.y, positive=self.negative, negative=self.positive)

    def rows(self, which: npt.NDArray[np.intp] | slice) -> Dataset:
        """Return the samples at the given positions."""
        labels = self.y[which]
        if len(np.unique(labels)) < 2:
            only = "no sample" if len(labels) == 0 else f"only {self._class_name(labels[0])}"
            raise InputError(
                f"{self.name}: the {len(labels)} chosen rows must hold both classes, got {only}; "
                "the rows may be sorted by class: draw them at random with rng"
            )
        return replace(self, X=self.X[which], y=labels, splits=())

    def columns(self, which: Sequence[int]) -> Dataset:
        """Return the same samples with the features at the given positions."""
        kept = list(which)
        return replace(self, X=self.X[:, kept], feature_names=tuple(self.feature_names[j] for j in kept), recipe=())

    def _class_name(self, label: float) -> str:
        return f"{self.positive!r} (+1)" if label > 0 else f"{self.negative!r} (-1)"


def texts_of(name: str, frame: Any) -> tuple[list[str], Iterator[tuple[Any, tuple[str, ...]]]]:
    """Return the names of a frame's columns, and its rows, by their index, as texts; name is for errors."""
    if not (hasattr(frame, "columns") and hasattr(frame, "__getitem__") and getattr(frame, "ndim", 2) == 2):
        raise InputError(f"frame must be a DataFrame of pandas or polars, got {type(frame).__name__}")
    names = [str(column).strip() for column in frame.columns]
    if len(set(names)) < len(names):
        raise InputError(f"{name}: two columns have one name: {', '.join(sorted(names))}")
    columns = [map(str, frame[column].to_list()) for column in frame.columns]
    return names, zip(getattr(frame, "index", range(len(frame))), zip(*columns, strict=True), strict=True)
