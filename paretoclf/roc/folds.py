"""Folds: which samples are trained on and which are held out, and the one loop over them.

A trained model is a function of the positions of samples and returns something about these: scores along a path, or at
the points of a sweep. Whoever chooses or judges on samples that were held out asks `held_out`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from paretoclf.common.checks import Array, Rng, check_seed
from paretoclf.common.errors import InputError
from paretoclf.common.progress import counted

Rows = npt.NDArray[np.intp]
T = TypeVar("T")

#: Trains on the samples at some positions, and returns a function of the positions of others.
Trainer = Callable[[Rows], Callable[[Rows], T]]


class Splitter(Protocol):
    """Splitter of samples, as scikit-learn has them."""

    def split(self, X: Any, y: Any = None) -> Iterable[tuple[Any, Any]]:
        """Training and test rows of each fold."""


#: How many folds, or which ones.
GivenFolds = int | Splitter | Iterable[tuple[Any, Any]]


def folds_of(y: Array, folds: Any, rng: Rng) -> list[tuple[Rows, Rows]]:
    """Training and test rows of each fold; InputError where a class is too small for so many, or a fold is empty."""
    if isinstance(folds, int | np.integer):
        return _stratified(y, _checked(y, folds), check_seed(rng))
    parts = given_parts(y, folds)
    if not parts:
        raise InputError("folds must be at least one (train, test), got none")
    for k, (train, test) in enumerate(parts):
        if test.size == 0:
            raise InputError(f"folds[{k}] must have test samples, got none")
        if np.unique(y[train]).size < 2:
            raise InputError(f"folds[{k}] must train on both classes, got {train.size} samples of one or none")
    return parts


def given_parts(y: Array, folds: Any) -> list[tuple[Rows, Rows]]:
    """Training and test rows that are given as index arrays, or by a splitter of scikit-learn."""
    every = np.arange(y.size)
    if hasattr(folds, "split") and not isinstance(folds, str | Iterable):
        try:
            folds = list(folds.split(every, y))
        except (TypeError, ValueError) as error:
            raise InputError(f"folds must be a splitter that splits by X and y, or its .split(...): {error}") from None
    if isinstance(folds, str) or not isinstance(folds, Iterable):
        raise InputError(
            f"folds must be a number, a splitter such as KFold(5), or pairs (train, test), got {folds!r:.100}"
        )
    return [(every[train], every[test]) for train, test in folds]


def outer_folds(y: Array, folds: int, repeats: int, rng: Rng) -> list[list[tuple[Rows, Rows, int]]]:
    """List (train, test, seed of the validation folds) for each repeat; the first has the seed that is given."""
    count = _checked(y, folds)
    if int(repeats) != repeats or repeats < 1:
        raise InputError(f"repeats must be a whole number >= 1, got {repeats!r}")
    size = int(repeats), count + 1
    drawn = np.random.default_rng(rng).integers(2**31, size=size).tolist()
    if isinstance(rng, int | np.integer):
        drawn[0][0] = int(rng)
    found = []
    for seed_of_folds, *seeds in drawn:
        parts = _stratified(y, count, seed_of_folds)
        found.append([(train, test, seed) for (train, test), seed in zip(parts, seeds, strict=True)])
    return found


def validation_folds(y: Array, train: Rows, folds: int, seed: int) -> list[tuple[Rows, Rows]]:
    """Folds of a training part, in the positions of all samples; fewer where it has fewer samples of a class."""
    n_plus = int((y[train] > 0).sum())
    count = min(folds, n_plus, train.size - n_plus)
    if count < 2:
        raise InputError(
            f"validation folds need 2 samples of each class, got {n_plus} positives and {train.size - n_plus} "
            "negatives in a training part"
        )
    return [(train[rest], train[fold]) for rest, fold in _stratified(y[train], count, seed)]


def held_out(trained: Trainer[T], parts: Sequence[tuple[Rows, Rows]], n_jobs: int | None = None) -> list[T]:
    """Train on the training rows of each fold and return what the model gives for its test rows."""
    return each(_asked, [(trained, train, test) for train, test in parts], n_jobs=n_jobs)


def each(
    task: Callable[..., T],
    arguments: Sequence[tuple[Any, ...]],
    name: str = "folds",
    *,
    n_jobs: int | None = None,
    progress: bool | None = False,
) -> list[T]:
    """Call a function with each of several arguments, by so many processes, with progress; results in their order."""
    made = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(task)(*given) for given in arguments)
    return list(counted(made, name, len(arguments), progress))


@dataclass(frozen=True)
class FoldSamples:
    """Samples, of which some are trained on; a transformer is fitted to these alone.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d), or of shape (n, n) if precomputed
    transformer : scikit-learn transformer, optional
    precomputed : bool
        Whether X has kernel values in place of features.
    """

    X: Any = field(repr=False)
    transformer: Any = None
    precomputed: bool = False

    def __post_init__(self) -> None:
        if self.precomputed and self.transformer is not None:
            raise InputError(
                "transformer must be left out for kernel='precomputed': there are no features to transform"
            )

    def part(self, train: Rows) -> Part:
        """Samples at some positions, to be trained on, with a transformer fitted to them."""
        fitted = None if self.transformer is None else clone(self.transformer).fit(self.X[train])
        return Part(self, train, fitted)


@dataclass(frozen=True)
class Part:
    """Samples that are trained on, and with them a transformer."""

    whole: FoldSamples
    train: Rows
    fitted: Any

    def of(self, rows: Rows) -> Any:
        """The samples at some positions, transformed; kernel values are those with the samples trained on."""
        X = self.whole.X[rows]
        if self.whole.precomputed:
            return X[:, self.train]
        return X if self.fitted is None else self.fitted.transform(X)

    @property
    def X(self) -> Any:
        """Samples that are trained on, transformed."""
        return self.of(self.train)


def _asked(trained: Trainer[T], train: Rows, test: Rows) -> T:
    """Train on the training rows and return what the model gives for the test rows."""
    return trained(train)(test)


def _checked(y: Array, folds: Any) -> int:
    """Return a number of folds for which both classes have enough samples, or refuse it."""
    smaller = int(min((y > 0).sum(), (y < 0).sum()))
    if int(folds) != folds or not 2 <= folds <= smaller:
        raise InputError(f"folds must be at least 2 and at most the size of the smaller class ({smaller}), got {folds}")
    return int(folds)


def _stratified(y: Array, folds: int, seed: int) -> list[tuple[Rows, Rows]]:
    """Training and test rows of stratified, shuffled folds."""
    return list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(y, y))
