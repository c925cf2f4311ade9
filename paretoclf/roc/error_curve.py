r"""Held-out errors along a path, as exact step functions of the path parameter t.

Scores are piecewise affine in t, so every t at which a held-out prediction changes is known: the zeros of
:math:`f_t(x)`, and the breakpoints at which it jumps over 0 with the intercept. Between two of them no error count
moves, so the best t for given costs, for minimax and for Neyman-Pearson is an interval, found by comparing whole
numbers and not on a grid.

A sample with :math:`f_t(x)=0` is predicted +1. So the counts *at* a change are kept apart from those of the open
stretches beside it: a negative whose score only touches 0 is a false positive at that one t. At a jump of the intercept
the classifier is the path's own, that of the right-hand limit; those within the jump are in `roc_of_path`. Zeros that
only rounding has put apart are one: between the copies of a sample no interval is found. Nor does rounding choose the
label where :math:`f_t(x)=0` along a whole stretch: the scores of paths are 0 there (`with_intercepts`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from paretoclf.common.checks import Array, Index, Mask, check_inside, keep, refuse_other_order
from paretoclf.common.errors import InputError
from paretoclf.problem.costs import CostLine, Costs
from paretoclf.roc.counts import CountedErrors, Objective, require_both, smallest
from paretoclf.roc.crossings import BLOCK, distinct_changes, just_after, zeros_of_pieces
from paretoclf.roc.labelled_scores import signs_of
from paretoclf.roc.of_path import checked_folds
from paretoclf.roc.scores import PathScores, also, note_of

Changes = tuple[Array, npt.NDArray[np.intp], Index, Index]


@dataclass(frozen=True)
class PathInterval:
    """An interval of the parameter of a path.

    Attributes
    ----------
    start, stop : float
        Its ends; equal where it is a single t.
    start_included, stop_included : bool
        Whether they belong to it.
    line : CostLine, optional
        The line of the path.
    parameter : str
        Name of t.

    Examples
    --------
    >>> from paretoclf import Costs
    >>> from paretoclf.results import CostLine
    >>> from paretoclf.roc import PathInterval
    >>> PathInterval(0.25, 0.5, True, False, line=CostLine(Costs(0, 4), Costs(4, 0)))
    PathInterval(t in [0.25, 0.5), C_plus 1 to 2, C_minus 3 to 2)
    """

    start: float
    stop: float
    start_included: bool
    stop_included: bool
    line: CostLine | None = field(default=None, kw_only=True)
    parameter: str = field(default="t", kw_only=True)

    def __repr__(self) -> str:
        return f"PathInterval({self._where})"

    @property
    def _where(self) -> str:
        """The interval in brackets, and the costs at its ends."""
        left, right = "[" if self.start_included else "(", "]" if self.stop_included else ")"
        said = [f"{self.parameter} in {left}{self.start:.6g}, {self.stop:.6g}{right}"]
        if self.costs is not None:
            first, last = self.costs
            said.append(f"C_plus {first.C_plus:.6g} to {last.C_plus:.6g}")
            said.append(f"C_minus {first.C_minus:.6g} to {last.C_minus:.6g}")
        return ", ".join(said)

    @property
    def costs(self) -> tuple[Costs, Costs] | None:
        """Costs at both ends; None for a path that does not go along a line of two costs."""
        line = self.line
        if line is None or not isinstance(line.start, Costs):
            return None
        return line.at(self.start), line.at(self.stop)

    @property
    def t(self) -> float:
        """Middle of the interval: the t that is farthest from both changes."""
        return 0.5 * (self.start + self.stop)

    @property
    def width(self) -> float:
        """Length of the interval."""
        return self.stop - self.start


@dataclass(frozen=True)
class Optimum(PathInterval):
    """An interval of t on which the error counts are constant and optimal.

    Attributes
    ----------
    start, stop, start_included, stop_included, line, parameter
        As of `PathInterval`.
    false_positives, false_negatives : int
        Counts on it.
    fpr, fnr : float
        Rates on it.
    objective : float
        Objective that was minimised, on the labels that chose it: optimistic.
    note : str
        Whose errors they are, as of `PathScores`.

    Examples
    --------
    >>> from paretoclf.roc import Optimum
    >>> Optimum(0.25, 0.5, True, False, 1, 0, 0.1, 0.0, 0.1)
    Optimum(t in [0.25, 0.5), fpr 0.1, fnr 0, objective 0.1)
    """

    false_positives: int
    false_negatives: int
    fpr: float
    fnr: float
    objective: float
    note: str = ""

    def __repr__(self) -> str:
        rates = f"fpr {self.fpr:.4g}, fnr {self.fnr:.4g}, objective {self.objective:.4g}"
        return f"Optimum({self._where}, {rates}{also(self.note)})"


@dataclass(frozen=True, eq=False, repr=False)
class ErrorCurve(CountedErrors[Optimum]):
    """False positives and false negatives as exact step functions of t.

    The counts at any t that was fixed beforehand are held out. The smallest of them are not: `best`, `minimax` and
    `neyman_pearson` choose t by the labels that they then report, which is how to choose and not how to judge the
    choice (`paretoclf.cross_validated_roc` does).

    Attributes
    ----------
    t : array of shape (k + 1,)
        Every t at which a count changes, and the two ends of the path; increasing.
    false_positives, false_negatives : int array of shape (k,)
        Counts on the open stretches ``(t[j], t[j + 1])``.
    false_positives_at, false_negatives_at : int array of shape (k + 1,)
        Counts at ``t[j]`` itself, where a score may be exactly 0 and is predicted +1.
    n_plus, n_minus : int
        Samples of each class.
    line : CostLine, optional
        The line of the path.
    parameter : str
        What t is, where it does not go along a line of costs: ``"tau"``, ``"share"``.
    note : str
        Whose errors they are, as of `PathScores`.

    Raises
    ------
    InputError
        If a class has no sample.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.roc.scores import PathScores
    >>> from paretoclf.roc import ErrorCurve
    >>> scores = PathScores(np.array([0.0, 1.0]), np.array([[-2.0], [-1.0]]), np.array([[2.0], [3.0]]))
    >>> curve = ErrorCurve.of_scores(scores, [-1, 1])
    >>> curve.t
    array([0.  , 0.25, 0.5 , 1.  ])
    >>> curve.fpr, curve.fnr
    (array([0., 0., 1.]), array([1., 0., 0.]))
    >>> curve.minimax()
    (Optimum(t in [0.25, 0.5), fpr 0, fnr 0, objective 0),)
    """

    t: Array
    false_positives: Index
    false_negatives: Index
    false_positives_at: Index
    false_negatives_at: Index
    n_plus: int
    n_minus: int
    line: CostLine | None = field(default=None)
    parameter: str = "t"
    note: str = ""

    def __post_init__(self) -> None:
        require_both(self.n_plus, self.n_minus)
        keep(self, "t", "false_positives", "false_negatives", "false_positives_at", "false_negatives_at")

    @classmethod
    def of_scores(
        cls, scores: PathScores | Sequence[PathScores], y: Any, line: Any = None, parameter: str = "t"
    ) -> ErrorCurve:
        """Error curve of a path, or of the paths of several folds on one line, whose counts are added.

        Parameters
        ----------
        scores : PathScores or sequence of PathScores
            Scores of one set of samples, or one for each fold.
        y : array of shape (m,), or a sequence of them
            Labels -1 and +1, one vector for each PathScores. Both classes must occur, not in each fold.
        line : object, optional
            Line of the path in the cost plane, if it is a `CostLine`; for the picture.
        parameter : str
            Name of t, if it is not the position on a line.

        Raises
        ------
        InputError
            If the labels do not fit the scores.

        Examples
        --------
        A negative that touches 0 is a false positive there, and nowhere else.

        >>> import numpy as np
        >>> from paretoclf.roc.scores import PathScores
        >>> from paretoclf.roc import ErrorCurve
        >>> start, end = np.array([[-1.0, 0.0], [1, 1]]), np.array([[0.0, -1.0], [1, 1]])
        >>> touch = PathScores(np.array([0.0, 0.5, 1.0]), start, end)
        >>> curve = ErrorCurve.of_scores(touch, [-1, 1])
        >>> curve.t, curve.false_positives, curve.false_positives_at
        (array([0. , 0.5, 1. ]), array([0, 0]), array([0, 1, 0]))
        """
        folds, labels = checked_folds(scores, y)
        pooled = np.concatenate(labels)
        begin = _errors(np.concatenate([just_after(fold.start[:, 0], fold.end[:, 0]) for fold in folds]), pooled)
        knots, (place, sample, at, after) = _at_knots(folds)
        # One more sample labelled +1: one false positive more if it is a negative, one false negative less if not.
        per_label = np.stack([pooled < 0, -(pooled > 0).astype(np.int64)], axis=1)[sample]
        sums = np.zeros((2, knots.size, 2), dtype=np.int64)  # changes of the counts, on a knot and after it
        np.add.at(sums[0], place, at[:, None] * per_label)
        np.add.at(sums[1], place, after[:, None] * per_label)
        stretches = begin + np.cumsum(sums[1, :-1], axis=0)
        points = np.concatenate([begin[None], stretches]) + sums[0]
        n_plus = int(np.count_nonzero(pooled > 0))
        n_minus = pooled.size - n_plus
        fp, fn = stretches.T
        fp_at, fn_at = points.T
        cost_line = line if isinstance(line, CostLine) else None
        return cls(knots, fp, fn, fp_at, fn_at, n_plus, n_minus, cost_line, parameter, note_of(folds))

    def __repr__(self) -> str:
        best = self.minimax()[0]
        size = f"{self.t.size - 2} changes, {self.n_plus} positives, {self.n_minus} negatives"
        minimax = f"minimax {best.objective:.4f} at {self.parameter} = {best.t:.6g}"
        return f"ErrorCurve({size}, {minimax}{also(self.note)})"

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Rows of the table: maximal intervals, single t too, of constant counts, with the costs at their ends."""
        fp, fn = self._cells
        for first, last in _runs(fp, fn):
            row = self._interval(first, last)
            place: dict[str, Any] = {name: row[name] for name in ("start", "stop", "start_included", "stop_included")}
            for name, costs in zip(("start", "stop"), PathInterval(**row).costs or (), strict=False):
                place |= {f"{name}_C_plus": costs.C_plus, f"{name}_C_minus": costs.C_minus}
            counts = {"false_positives": int(fp[first]), "false_negatives": int(fn[first])}
            yield {**place, **counts, "fpr": fp[first] / self.n_minus, "fnr": fn[first] / self.n_plus}

    def counts(self, t: float) -> tuple[int, int]:
        """False positives and false negatives at t."""
        check_inside(t, self.parameter, self.t[0], self.t[-1])
        j = int(np.searchsorted(self.t, t))
        if self.t[j] == t:
            return int(self.false_positives_at[j]), int(self.false_negatives_at[j])
        return int(self.false_positives[j - 1]), int(self.false_negatives[j - 1])

    def rates(self, t: float) -> tuple[float, float]:
        """False positive rate and false negative rate at t."""
        fp, fn = self.counts(t)
        return fp / self.n_minus, fn / self.n_plus

    def where(self, *, max_fpr: float | None = None, max_fnr: float | None = None) -> tuple[PathInterval, ...]:
        """Find the maximal intervals of t on which the error rates are at most given ones, exactly.

        If the last interval goes to the end of the path, its start is the t from which on the rates are so low without
        interruption. For two groups of samples ask a curve of each, and take the later start.

        Parameters
        ----------
        max_fpr, max_fnr : float
            In [0, 1], one of them or both; compared with rates as floats, so that 3 of 30 are not more than 0.1.

        Returns
        -------
        tuple of PathInterval
            In the order of t; empty where the rates are nowhere so low.

        Raises
        ------
        InputError
            If no rate is given, or one is outside [0, 1].

        Examples
        --------
        >>> import paretoclf as pc
        >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
        >>> path = pc.trace(svm, start=(0.2, 1.8), stop=(1.8, 0.2), progress=False)
        >>> curve = path.error_curve([[0.5], [1.4], [1.6], [2.5]], [-1, 1, -1, 1])
        >>> curve.where(max_fpr=0.5)
        (PathInterval(t in [0, 0.666667), C_plus 0.2 to 1.26667, C_minus 1.8 to 0.733333),)
        >>> curve.where(max_fpr=0.5, max_fnr=0.5)
        (PathInterval(t in [0.333333, 0.666667), C_plus 0.733333 to 1.26667, C_minus 1.26667 to 0.733333),)
        >>> last = curve.where(max_fnr=0)[-1]  # no positive is missed from here on
        >>> last.start, last.costs[0]
        (0.643..., Costs(C_plus=1.229..., C_minus=0.770...))
        """
        given = {"max_fpr": max_fpr, "max_fnr": max_fnr}
        if max_fpr is None and max_fnr is None:
            raise InputError("max_fpr or max_fnr must be given, got neither")
        limits = [1.0 if value is None else check_inside(value, name) for name, value in given.items()]
        fp, fn = self._cells
        holds = (fp / self.n_minus <= limits[0]) & (fn / self.n_plus <= limits[1])
        return tuple(PathInterval(**self._interval(first, last)) for first, last in _runs(holds) if holds[first])

    def costs_of_cells(self, costs: Costs) -> Array:
        """Costs of all samples at each of `t` and on the stretches between, in order; shape (2 k + 1,)."""
        fp, fn = self._cells
        return np.asarray(costs.C_plus * fn + costs.C_minus * fp)

    @property
    def _cells(self) -> tuple[Index, Index]:
        """False positives and false negatives at each of `t` and on the stretches between, in order: 2 k + 1 cells."""
        fp = _alternate(self.false_positives_at, self.false_positives)
        return fp, _alternate(self.false_negatives_at, self.false_negatives)

    @property
    def _fewest_false_positives(self) -> int:
        return int(min(self.false_positives.min(), self.false_positives_at.min()))

    def _optima(self, objective: Objective) -> tuple[Optimum, ...]:
        """Maximal intervals of constant counts that minimise an objective of (fp, fn) and are not dominated."""
        fp, fn = self._cells
        chosen, least = smallest(fp, fn, objective)
        found = []
        for first, last in _runs(fp, fn):
            if chosen[first]:
                found.append(self._optimum(first, last, int(fp[first]), int(fn[first]), float(least)))
        return tuple(found)

    def _optimum(self, first: int, last: int, fp: int, fn: int, objective: float) -> Optimum:
        """Interval of the cells first to last, whose counts are optimal."""
        return Optimum(
            **self._interval(first, last),
            false_positives=fp,
            false_negatives=fn,
            fpr=fp / self.n_minus,
            fnr=fn / self.n_plus,
            objective=objective,
            note=self.note,
        )

    def _interval(self, first: int, last: int) -> dict[str, Any]:
        """Interval of the cells first to last, by the names of `PathInterval`."""
        return {
            "start": float(self.t[first // 2]),
            "stop": float(self.t[(last + 1) // 2]),
            "start_included": first % 2 == 0,
            "stop_included": last % 2 == 0,
            "line": self.line,
            "parameter": self.parameter,
        }

    def plot(self, ax: Any = None, *, xscale: str | None = None) -> Any:
        """Draw both rates along the line; see `paretoclf.plotting.ErrorCurveDisplay`."""
        from paretoclf.plotting.errors import ErrorCurveDisplay  # matplotlib only when a picture is wanted

        return ErrorCurveDisplay.from_curve(self).plot(ax=ax, xscale=xscale)


def errors_along(path: Any, X: Any, y: Any, pos_label: Any = None) -> ErrorCurve:
    """Count the errors of a path on samples; `Path.error_curve` has the arguments and an example."""
    refuse_other_order(X, y)
    line = getattr(path, "line", None)
    return ErrorCurve.of_scores(path.scores(X), signs_of(y, pos_label), line, path.parameter)


def labels_of_scores(scores: PathScores) -> tuple[Array, Mask, Mask]:
    """Labels of m samples (True: +1) as exact step functions of t, as `ErrorCurve.of_scores` counts them.

    Returns
    -------
    t : array of shape (k + 1,)
        Every t at which a label changes, with the two ends.
    at : bool array of shape (k + 1, m)
        Labels at these t themselves.
    after : bool array of shape (k, m)
        Labels on the open stretches between.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.roc.scores import PathScores
    >>> from paretoclf.roc.error_curve import labels_of_scores
    >>> labels_of_scores(PathScores(np.array([0.0, 1.0]), np.array([[-1.0]]), np.array([[1.0]])))
    (array([0. , 0.5, 1. ]), array([[False], [ True], [ True]]), array([[False], [ True]]))
    """
    knots, (place, sample, at, after) = _at_knots([scores])
    sums = np.zeros((2, knots.size, scores.start.shape[0]), dtype=np.int8)
    np.add.at(sums[0], (place, sample), at)
    np.add.at(sums[1], (place, sample), after)
    first = just_after(scores.start[:, 0], scores.end[:, 0]).astype(np.int8)
    stretches = first + np.cumsum(sums[1, :-1], axis=0)
    points = np.concatenate([first[None], stretches]) + sums[0]
    return knots, points > 0, stretches > 0


def _at_knots(folds: Sequence[PathScores]) -> tuple[Array, tuple[Index, Index, Index, Index]]:
    """Distinct t at which labels change, with both ends of the path, and the changes there.

    Those are the position of t, the sample (numbered through all folds), and the differences of its label at t and
    after it from that before it. At the first t, where there is nothing before, the differences from just after it.
    """
    found = [_changes(fold) for fold in folds]
    sizes = [fold.start.shape[0] for fold in folds]
    before = np.cumsum([0, *sizes[:-1]])
    t, sample, at, after = (np.concatenate(parts) for parts in zip(*found, strict=True))
    sample = sample + np.repeat(before, [each[0].size for each in found])
    ends = folds[0].t[[0, -1]]
    knots, place = distinct_changes(np.concatenate([ends, t]))
    place = place[ends.size :]
    if (t != knots[place]).any():
        at = np.where(_changes_again(place, sample, t), after, at)
    return knots, (place, sample, at, after)


def _changes_again(place: Index, sample: Index, t: Array) -> Mask:
    """Mask of the changes that a later one of the same sample follows, in what is one t but for rounding."""
    order = np.lexsort((t, sample, place))
    run = np.flatnonzero(np.append((np.diff(place[order]) != 0) | (np.diff(sample[order]) != 0), True))
    last = np.repeat(t[order][run], np.diff(run, prepend=-1))
    again = np.empty(t.size, dtype=bool)
    again[order] = t[order] < last
    return again


def _runs(*values: npt.NDArray[Any]) -> list[tuple[int, int]]:
    """First and last cells of the maximal runs of cells on which no value changes."""
    changes = np.flatnonzero(np.any([np.diff(each) != 0 for each in values], axis=0))
    ends = [*changes.tolist(), values[0].size - 1]
    return list(zip([0, *(changes + 1).tolist()], ends, strict=True))


def _alternate(points: Index, stretches: Index) -> Index:
    """Values at points and on the stretches between, in the order of t."""
    cells = np.empty(points.size + stretches.size, dtype=np.int64)
    cells[::2], cells[1::2] = points, stretches
    return cells


def _errors(positive: Mask, y: Array) -> Index:
    """Numbers of false positives and of false negatives."""
    false_positives = positive & (y < 0)
    false_negatives = ~positive & (y > 0)
    return np.array([np.count_nonzero(false_positives), np.count_nonzero(false_negatives)])


def _changes(scores: PathScores) -> Changes:
    """Changes of labels: t, sample, and the differences of its label at t and after it from that before it."""
    samples, pieces = scores.start.shape
    width = max(1, BLOCK // max(samples, 1))
    found = [_at_ends(scores)]
    for low in range(0, pieces, width):
        found.append(_in_pieces(scores, low, min(low + width, pieces)))
        found.append(_at_breakpoints(scores, low, min(low + width, pieces - 1)))
    t, sample, at, after = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return t, sample, at, after


def _in_pieces(scores: PathScores, low: int, high: int) -> Changes:
    """Zeros strictly inside the pieces low to high - 1; there the label is +1."""
    start, end = scores.start[:, low:high], scores.end[:, low:high]
    up = just_after(end, start)
    sample, piece = np.nonzero(just_after(start, end) != up)
    left, right = scores.t[low + piece], scores.t[low + piece + 1]
    t = zeros_of_pieces(scores, sample, low + piece)
    after = np.where(up[sample, piece], 1, -1)
    # Rounding may put a zero on an end of its piece: the label there is that of `_at_breakpoints`.
    at = np.maximum(after, 0)
    at[t == right] = after[t == right]
    at[t == left] = 0
    return t, sample, at, after


def _at_breakpoints(scores: PathScores, low: int, high: int) -> Changes:
    """Changes at the right ends of the pieces low to high - 1."""
    before = just_after(scores.end[:, low:high], scores.start[:, low:high])
    here = scores.start[:, low + 1 : high + 1]
    behind = just_after(here, scores.end[:, low + 1 : high + 1])
    at = (here >= 0).astype(np.int64) - before
    after = behind.astype(np.int64) - before
    sample, j = np.nonzero((at != 0) | (after != 0))
    t = scores.t[low + 1 + j]
    return t, sample, at[sample, j], after[sample, j]


def _at_ends(scores: PathScores) -> Changes:
    """Differences of the labels at the two ends from those beside them."""
    start, end = scores.start[:, 0], scores.end[:, -1]
    first = (start >= 0).astype(np.int64) - just_after(start, scores.end[:, 0])
    last = (end >= 0).astype(np.int64) - just_after(end, scores.start[:, -1])
    t = np.repeat(scores.t[[0, -1]], start.size)
    sample = np.tile(np.arange(start.size), 2)
    at = np.concatenate([first, last])
    return t, sample, at, np.zeros_like(at)
