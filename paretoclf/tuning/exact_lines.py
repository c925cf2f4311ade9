r"""The criterion minimised without a grid in nu_plus: on a line of fixed nu_minus the errors are exact step functions.

One path a fold, from :math:`\nu_+=1` down, has all classifiers of a line. Added up over the folds the errors are
constant on open intervals of :math:`\nu_+`; the best of them is found by comparing numbers. (What happens at single
values between two intervals, where a score touches 0, is left out: nobody can hit them.)

Smoothed, a rate at :math:`\nu_+` is its mean over the values within 1.5 steps of the grid, an integral of a step
function and so piecewise linear; lines beside it and bandwidths beside it are averaged with the taps of the window.
Sums of such integrals are piecewise linear, too, and a rate is the ratio of two of them, monotone between knots. So the
minimum is at a knot, where both rates are equal, or where the false positive rate is at its limit: all are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.path.nu import trace_hulls
from paretoclf.problem.gram import Gram
from paretoclf.problem.lines import LabelledSamples
from paretoclf.problem.samples import Samples
from paretoclf.roc.criteria import DECIMALS, Criterion
from paretoclf.roc.error_curve import ErrorCurve
from paretoclf.roc.folds import each
from paretoclf.roc.scores import PathScores
from paretoclf.tuning.error_arrays import CrossValidation, Folds, problems_of
from paretoclf.tuning.search import fewest, least
from paretoclf.tuning.smoothing import GaussianWindow

Lines = Sequence[Sequence["LineErrors | None"]]


@dataclass(frozen=True)
class LineErrors:
    """Cross-validated errors on the line of a bandwidth and a nu_minus, exactly.

    ``nu_plus``, shape (k + 1,), increases: where a count changes, and the ends; both rates, shape (k,), are those on
    the open intervals between.
    """

    bandwidth: float
    nu_minus: float
    nu_plus: Array = field(repr=False)
    fpr: Array = field(repr=False)
    fnr: Array = field(repr=False)

    def integral(self, which: int, at: Array) -> Array:
        """Integral from the low end to each point of 1 (which = 0), of the fpr (1), of the fnr (2)."""
        heights = (np.ones(self.fpr.size), self.fpr, self.fnr)[which]
        sums = np.concatenate([[0.0], np.cumsum(heights * np.diff(self.nu_plus))])
        return np.asarray(np.interp(at, self.nu_plus, sums))


@dataclass(frozen=True)
class LineMinimum:
    """Where the criterion is smallest: rates and objective there, smoothed if they were.

    The interval has all nu_plus with these rates; both ends are the same where they are smoothed. Where nothing is
    allowed the objective is the score.
    """

    bandwidth: float
    nu_plus: float
    nu_minus: float
    fpr: float
    fnr: float
    objective: float
    interval: tuple[float, float]
    allowed: bool


def line_errors(cross: CrossValidation, lo: float) -> list[list[LineErrors | None]]:
    """Errors on the line of each bandwidth and each nu_minus, nu_plus from lo to 1; None where there is no path."""
    bandwidths, nu_minus = cross.axes["bandwidth"], cross.axes["nu_minus"]
    tasks = [
        (cross.X, cross.y, cross.kernel_of(k), cross.folds, float(s), nu_minus, lo) for k, s in enumerate(bandwidths)
    ]
    return each(_lines, tasks, "bandwidths", n_jobs=cross.n_jobs, progress=cross.progress)


def best_on_lines(lines: Lines, criterion: Criterion) -> LineMinimum:
    """Return the best interval of all lines; ties: the smallest sum of both rates, the longest, the first."""
    known = [line for row in lines for line in row if line is not None]
    return _best([(line, line.nu_plus[:-1], line.nu_plus[1:], line.fpr, line.fnr) for line in known], criterion)


def best_on_smoothed_lines(lines: Lines, criterion: Criterion, window: GaussianWindow, step: float) -> LineMinimum:
    """Return the best point of all lines with smoothed rates; ties: the smallest sum of both rates, the first.

    The taps of the window go across lines (and bandwidths, with three dimensions); along a line it is the mean within
    ``size / 2`` steps of the grid in nu_plus.
    """
    half, reach = 0.5 * window.size * step, window.size // 2
    across = reach if window.dimensions == 3 else 0
    points = []
    for s, row in enumerate(lines):
        for j, here in enumerate(row):
            if here is None:
                continue
            group = [
                (window.taps[reach + a] * (window.taps[reach + c] if across else 1.0), line)
                for c in range(-across, across + 1)
                for a in range(-reach, reach + 1)
                if 0 <= s + c < len(lines) and 0 <= j + a < len(row) and (line := lines[s + c][j + a]) is not None
            ]
            u, fpr, fnr = _smoothed(group, here, half, criterion)
            points.append((here, u, u, fpr, fnr))
    return _best(points, criterion)


def _best(points: Sequence[tuple[LineErrors, Array, Array, Array, Array]], criterion: Criterion) -> LineMinimum:
    """The best of intervals of lines, each line with its low and high ends and both rates."""
    if not points:
        raise InputError("criterion must be a number on some line, got none: no line has a classifier in every fold")
    low, high, fpr, fnr = (np.concatenate([each[part] for each in points]) for part in (1, 2, 3, 4))
    tied, (refused, objective) = least(criterion, fpr, fnr, np.ones(fpr.size, dtype=np.bool_))
    at = fewest(tied, fpr, fnr)[:, 0]
    k = int(at[np.argmin(low[at] - high[at])])
    line = points[int(np.searchsorted(np.cumsum([each[1].size for each in points]), k, side="right"))][0]
    return LineMinimum(
        line.bandwidth, 0.5 * float(low[k] + high[k]), line.nu_minus, float(fpr[k]), float(fnr[k]), float(objective),
        (float(low[k]), float(high[k])), not refused,
    )  # fmt: skip


def _smoothed(
    group: list[tuple[float, LineErrors]], here: LineErrors, half: float, criterion: Criterion
) -> tuple[Array, Array, Array]:
    """Points of a line between which nothing can be smaller, and smoothed rates there."""
    lo, hi = here.nu_plus[[0, -1]]
    knots = np.concatenate([line.nu_plus + shift for _, line in group for shift in (-half, half)])
    u = np.unique(np.concatenate([[lo, hi], knots[(knots > lo) & (knots < hi)]]))

    def sums(at: Array) -> Array:
        total = np.zeros((3, at.size))
        for w, line in group:
            total += [w * (line.integral(k, at + half) - line.integral(k, at - half)) for k in range(3)]
        return total

    ends = sums(u)
    gaps = [ends[1] - ends[2]]
    if criterion.level is not None:
        gaps.append(ends[1] - criterion.level * ends[0])
    points = [u]
    for gap in gaps:
        at = np.flatnonzero(gap[:-1] * gap[1:] < 0)
        points.append(u[at] + gap[at] / (gap[at] - gap[at + 1]) * np.diff(u)[at])
    u = np.sort(np.concatenate(points))
    weight, fpr, fnr = sums(u)
    return u, np.round(fpr / weight, DECIMALS), np.round(fnr / weight, DECIMALS)


def _lines(
    X: object, y: Array, kernel: object, folds: Folds, bandwidth: float, nu_minus: Array, lo: float
) -> list[LineErrors | None]:
    parts = list(problems_of(Gram(X, kernel, free_origin=True), y, folds))
    return [_line(parts, bandwidth, float(v), lo) for v in nu_minus]


def _line(
    parts: Sequence[tuple[LabelledSamples, Samples, Array]], bandwidth: float, nu_minus: float, lo: float
) -> LineErrors | None:
    scores = []
    for problem, new, _ in parts:
        try:
            path = trace_hulls(problem, (1.0, nu_minus), (lo, nu_minus), certify=False, progress=False)
        except (DegeneratePathError, InputError):  # the path is refused; the hulls meet on the whole line
            return None
        scores.append(path.scores(new))
    if any(one.t[0] > 0 for one in scores):  # the hulls meet at nu_plus = 1 in a fold
        return None
    last = min(one.t[-1] for one in scores)
    curve = ErrorCurve.of_scores([_up_to(one, last) for one in scores], [labels for *_, labels in parts])
    nu_plus = 1.0 / ((1.0 - curve.t) + curve.t / lo)
    return LineErrors(bandwidth, nu_minus, nu_plus[::-1], curve.fpr[::-1], curve.fnr[::-1])


def _up_to(scores: PathScores, last: float) -> PathScores:
    """The beginning of a path, up to last."""
    if scores.t[-1] == last:
        return scores
    k = int(np.searchsorted(scores.t, last))
    t = np.append(scores.t[:k], last)
    end = scores.end[:, :k].copy()
    share = (last - scores.t[k - 1]) / (scores.t[k] - scores.t[k - 1])
    end[:, -1] = (1 - share) * scores.start[:, k - 1] + share * end[:, -1]
    return PathScores(t, scores.start[:, :k], end)
