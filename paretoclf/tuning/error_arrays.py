"""Cross-validated error counts over a grid of parameters, from exact lines.

Counts are added up over the folds and divided by the sizes of the classes: a mean of the folds' rates would weigh folds
by what chance put into them.

A cell has a classifier only where each fold has one. Where in some fold the reduced hulls meet (*trivial*: w = 0) or
the solution fails its certificate (*refused*), there is none that could be trained, so there is no error either: the
counts are nan, no search chooses the cell, and windows leave it out. How many folds it was is kept.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.errors import InputError
from paretoclf.common.files import DamagedFileError
from paretoclf.common.memory import require_memory
from paretoclf.common.progress import counted
from paretoclf.common.resume import Arrays, statement
from paretoclf.path.svm.nu_grid import NuGrid, nu_grid
from paretoclf.problem.gram import Gram
from paretoclf.problem.kernels import RBF
from paretoclf.problem.lines import LabelledSamples
from paretoclf.problem.samples import Samples
from paretoclf.roc.folds import Rows

Counts = npt.NDArray[np.float32]
Folds = Sequence[tuple[Rows, Rows]]

#: Attributes of `ErrorArrays` that a file to resume from has.
_KEPT = ("false_positives", "false_negatives", "trivial", "refused", "evaluated")

#: Held-out scores that are computed at once.
_SCORES = 1 << 22


def problems_of(gram: Gram, y: Array, folds: Folds) -> Iterator[tuple[LabelledSamples, Samples, Array]]:
    """Problem of each fold, and the samples that it is tested on, with their labels."""
    for train, test in folds:
        problem = LabelledSamples(gram.part(train), y[train])
        yield problem, gram.part_of_new(train, test), y[test]


@dataclass(frozen=True, eq=False, repr=False)
class ErrorArrays:
    """Held-out errors over a grid of parameters.

    Attributes
    ----------
    axes : mapping from str to array
        Values of each parameter, in the order of the arrays' axes: ``bandwidth``, then ``nu_plus`` and ``nu_minus``,
        or ``nu``. A kernel without bandwidth has the one value nan.
    false_positives, false_negatives : float32 array, one axis for each parameter
        Counts, added up over the folds; nan where a fold has no classifier, and where nothing was evaluated.
    trivial, refused : int array of the same shape
        Folds in which the reduced hulls meet, and in which the solution fails its certificate.
    evaluated : bool array of the same shape
        Cells that were evaluated.
    n_plus, n_minus, folds : int
        Held-out samples of each class, and folds.
    seconds : float
        Time of the processors for all of them.
    """

    axes: Mapping[str, Array]
    false_positives: Counts
    false_negatives: Counts
    trivial: npt.NDArray[np.int16]
    refused: npt.NDArray[np.int16]
    evaluated: Mask
    n_plus: int
    n_minus: int
    folds: int
    seconds: float = 0.0

    @property
    def without(self) -> int:
        """Number of cells that were evaluated and have no classifier in some fold (trivial or refused)."""
        return int(((self.trivial > 0) | (self.refused > 0)).sum())

    def __repr__(self) -> str:
        sizes = " x ".join(f"{name} {values.size}" for name, values in self.axes.items())
        cells = [f"{self.cells} cells evaluated"]
        for name, count in (("trivial", self.trivial), ("refused", self.refused)):
            if count.any():
                cells.append(f"{np.count_nonzero(count)} {name}")
        samples = f"{self.n_plus} positives, {self.n_minus} negatives, {self.folds} folds"
        return f"ErrorArrays({sizes}: {', '.join(cells)}; {samples}, {self.seconds:.1f} s)"

    @property
    def fpr(self) -> Array:
        """False positive rates; nan where there is no classifier."""
        return self.false_positives.astype(np.float64) / self.n_minus

    @property
    def fnr(self) -> Array:
        """False negative rates; nan where there is no classifier."""
        return self.false_negatives.astype(np.float64) / self.n_plus

    @property
    def cells(self) -> int:
        """Number of cells that were evaluated, with or without a classifier."""
        return int(self.evaluated.sum())

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return tuple(values.size for values in self.axes.values())

    def at(self, cell: tuple[int, ...]) -> dict[str, float]:
        """Parameters of a cell; without the bandwidth where there is none."""
        values = [float(axis[k]) for axis, k in zip(self.axes.values(), cell, strict=True)]
        return {name: value for name, value in zip(self.axes, values, strict=True) if not np.isnan(value)}


# False positives, false negatives, trivial folds, refused folds: whole numbers, one a cell.
Totals = tuple[Any, Any, Any, Any]

# Of one bandwidth: (Gram, labels, folds, cells wanted) -> totals.
Counter = Callable[[Gram, Array, Folds, Mask], Totals]


@dataclass(eq=False)
class CrossValidation:
    """Error counts that are computed where they are asked for, and kept. The only object here that changes.

    The samples X may be a kernel matrix; without a kernel there is an RBF of each bandwidth of the axes (as for
    `ErrorArrays`), and ``count`` counts the cells of one. The file to resume from is written anew after every
    bandwidth.
    """

    X: Any
    y: Array
    axes: Mapping[str, Array]
    kernel: Any
    folds: Folds
    count: Counter
    n_jobs: int | None = None
    progress: bool | None = None
    resume: str | os.PathLike[str] | None = None
    arrays: ErrorArrays = field(init=False)

    def __post_init__(self) -> None:
        shape = tuple(values.size for values in self.axes.values())
        require_memory(40 * int(np.prod(shape)), f"error arrays of shape {shape}", "Use fewer points.")
        self.arrays = self._empty(shape)
        if self.resume is not None and Path(self.resume).exists():
            self._read(Path(self.resume))

    def _empty(self, shape: tuple[int, ...]) -> ErrorArrays:
        """Arrays without an evaluated cell."""
        held = np.concatenate([self.y[test] for _, test in self.folds])
        n_plus, n_minus = int((held > 0).sum()), int((held < 0).sum())
        unknown = np.full(shape, np.nan, dtype=np.float32)
        no_fold = np.zeros(shape, dtype=np.int16)
        evaluated = np.zeros(shape, dtype=np.bool_)
        arrays = unknown, unknown.copy(), no_fold, no_fold.copy(), evaluated
        return ErrorArrays(self.axes, *arrays, n_plus, n_minus, len(self.folds))

    def evaluate(self, cells: Mask) -> ErrorArrays:
        """Count the errors of these cells, as far as they are not known, and return all that are."""
        new = cells & ~self.arrays.evaluated
        todo = [k for k in range(new.shape[0]) if new[k].any()]
        tasks = []
        for k in todo:
            problem = self.X, self.y, self.kernel_of(k), self.folds
            tasks.append(delayed(_one)(*problem, self.count, new[k], k))
        found: Iterator[Any] = Parallel(n_jobs=self.n_jobs, return_as="generator_unordered")(tasks)
        progress = self.progress if len(todo) > 1 else False
        for k, counts, seconds in counted(found, "bandwidths", len(todo), progress):
            self._enter(k, new[k], counts)
            self.arrays = replace(self.arrays, seconds=self.arrays.seconds + seconds)
            if self.resume is not None:
                self._write(Path(self.resume))
        return self.arrays

    def _enter(self, k: int, cells: Mask, counts: Totals) -> None:
        """Enter the counts of some cells of the k-th bandwidth."""
        fp, fn, trivial, refused = counts
        no_classifier = (trivial + refused) > 0
        arrays = self.arrays
        for array, values in (
            (arrays.false_positives, np.where(no_classifier, np.nan, fp)),
            (arrays.false_negatives, np.where(no_classifier, np.nan, fn)),
            (arrays.trivial, trivial),
            (arrays.refused, refused),
        ):
            array[k][cells] = values[cells]
        arrays.evaluated[k][cells] = True

    def kernel_of(self, k: int) -> Any:
        """Kernel of the k-th bandwidth."""
        return RBF(float(self.axes["bandwidth"][k])) if self.kernel is None else self.kernel

    def number_of(self, bandwidth: float) -> int:
        """Position of a bandwidth on its axis; 0 for a kernel without bandwidth."""
        return 0 if np.isnan(bandwidth) else int(np.searchsorted(self.axes["bandwidth"], bandwidth))

    def problem(self, k: int) -> LabelledSamples:
        """Problem of all samples, with the kernel of the k-th bandwidth."""
        return LabelledSamples(Gram(self.X, self.kernel_of(k), free_origin=True), self.y)

    @property
    def _form(self) -> Arrays:
        """Names and shapes of the arrays that the file to resume from holds."""
        return Arrays({"seconds": (), **dict.fromkeys(_KEPT, self.arrays.shape)}, "resume")

    @cached_property
    def _problem(self) -> str:
        """Statement of everything that the counts depend on."""
        names = ("X", "y", "axes", "kernel", "folds", "count")
        return statement("error arrays", {name: getattr(self, name) for name in names})

    def _write(self, file: Path) -> None:
        """Write the arrays to a file to resume from."""
        kept = {name: getattr(self.arrays, name) for name in _KEPT}
        self._form.write(file, {**kept, "seconds": np.array(self.arrays.seconds)}, self._problem)

    def _read(self, file: Path) -> None:
        """Read the arrays from a file to resume from; InputError if it has those of another problem."""
        try:
            stored = self._form.read(file, self._problem)
        except DamagedFileError as error:  # which is perhaps not ours to overwrite
            raise InputError(f"{error}: delete it to compute it again, or resume from another one") from None
        for name in _KEPT:
            getattr(self.arrays, name)[...] = stored[name]
        self.arrays = replace(self.arrays, seconds=float(stored["seconds"]))


def _one(X: Any, y: Array, kernel: Any, folds: Folds, count: Counter, cells: Mask, k: int) -> tuple[int, Any, float]:
    """Position of a bandwidth, the counts of its cells, and the time of the processor that these took."""
    began = time.process_time()
    counts = count(Gram(X, kernel, free_origin=True), y, folds, cells)
    return k, counts, time.process_time() - began


@dataclass(frozen=True)
class CountGrid:
    """Counts errors of the 2nu-SVM at pairs (nu_plus, nu_minus): a `Counter`."""

    nu_plus: Array
    nu_minus: Array

    def __call__(self, gram: Gram, y: Array, folds: Folds, cells: Mask) -> Totals:
        """Count errors at the given cells, shape (p, m)."""
        totals = np.zeros((4, *cells.shape))
        for problem, new, labels in problems_of(gram, y, folds):
            for box in _boxes(cells):
                rows, columns = (index.ravel() for index in box)
                grid = nu_grid(problem, self.nu_plus[rows], self.nu_minus[columns], progress=False)
                fp, fn = count_errors(grid, new, labels)
                for total, part in zip(totals, (fp, fn, grid.trivial, grid.refused), strict=True):
                    total[box] += part
        fp, fn, trivial, refused = totals
        return fp, fn, trivial, refused


def count_errors(grid: NuGrid, X: Any, y: Array) -> tuple[Index, Index]:
    """False positives and false negatives at every point of a grid, shape (p, m) each; 0 where nothing is predicted."""
    shape = grid.rho.shape
    fp, fn = np.zeros((2, *shape), dtype=np.int64)
    block = max(1, _SCORES // grid.rho.size)
    for first in range(0, y.size, block):
        part = slice(first, first + block)
        scores, labels = grid.scores(X[part]), y[part]
        fp += np.count_nonzero(scores[:, :, labels < 0] >= 0, axis=2)
        fn += np.count_nonzero(scores[:, :, labels > 0] < 0, axis=2)
    return fp, fn


def _boxes(cells: Mask) -> list[tuple[Any, Any]]:
    """Cover cells with few products of rows and columns (indices of `numpy.ix_`); rows with the same cells are one."""
    patterns, pattern_of_row = np.unique(cells, axis=0, return_inverse=True)
    boxes = []
    for k, pattern in enumerate(patterns):
        if pattern.any():
            rows = np.flatnonzero(pattern_of_row.ravel() == k)
            columns = np.flatnonzero(pattern)
            boxes.append((rows[:, None], columns[None]))
    return boxes
