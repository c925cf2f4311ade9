"""What every source of data returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from paretoclf.checks import Array, Index, check_labels, check_matrix
from paretoclf.errors import InputError


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
        return replace(self, X=self.X[:, kept], feature_names=tuple(self.feature_names[j] for j in kept))

    def _class_name(self, label: float) -> str:
        return f"{self.positive!r} (+1)" if label > 0 else f"{self.negative!r} (-1)"
