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
from typing import NamedTuple

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.path.svm.nu_path import trace_hulls
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

    ``nu_plus``, shape (k + 1,), increases: the values at which a count changes, and the ends; both rates, shape (k,),
    are those on the open intervals between.
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
    """Best point of some lines: rates and objective there, smoothed if they were.

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
    nu_minus = cross.axes["nu_minus"]
    tasks = []
    for k, bandwidth in enumerate(cross.axes["bandwidth"].tolist()):
        kernel = cross.kernel_of(k)
        tasks.append((cross.X, cross.y, kernel, cross.folds, bandwidth, nu_minus, lo))
    return each(_lines, tasks, "bandwidths", n_jobs=cross.n_jobs, progress=cross.progress)


def best_on_lines(lines: Lines, criterion: Criterion) -> LineMinimum:
    """Return the best interval of all lines; ties: the smallest sum of both rates, the longest, the first."""
    known = [line for row in lines for line in row if line is not None]
    candidates = []
    for line in known:
        low, high = line.nu_plus[:-1], line.nu_plus[1:]
        candidates.append(_Candidates(line, low, high, line.fpr, line.fnr))
    return _best(candidates, criterion)


def best_on_smoothed_lines(lines: Lines, criterion: Criterion, window: GaussianWindow, step: float) -> LineMinimum:
    """Return the best point of all lines with smoothed rates; ties: the smallest sum of both rates, the first.

    The taps of the window go across lines (and bandwidths, with three dimensions); along a line it is the mean within
    ``size / 2`` steps of the grid in nu_plus.
    """
    half = 0.5 * window.size * step
    candidates = []
    for s, row in enumerate(lines):
        for j, here in enumerate(row):
            if here is not None:
                group = _neighbours(lines, s, j, window)
                nu_plus, fpr, fnr = _smoothed(group, here, half, criterion)
                candidates.append(_Candidates(here, nu_plus, nu_plus, fpr, fnr))
    return _best(candidates, criterion)


def _neighbours(lines: Lines, s: int, j: int, window: GaussianWindow) -> list[tuple[float, LineErrors]]:
    """Lines within the window around line j of bandwidth s, those that there are, each with its weight."""
    half = window.size // 2
    bandwidths = range(-half, half + 1) if window.dimensions == 3 else (0,)
    found = []
    for across in bandwidths:
        for along in range(-half, half + 1):
            if not (0 <= s + across < len(lines) and 0 <= j + along < len(lines[s])):
                continue
            line = lines[s + across][j + along]
            if line is not None:
                weight = window.taps[half + along]
                if len(bandwidths) > 1:
                    weight = weight * window.taps[half + across]
                found.append((weight, line))
    return found


class _Candidates(NamedTuple):
    """Intervals (or points) of a line, of shape (k,), with both rates there."""

    line: LineErrors
    low: Array
    high: Array
    fpr: Array
    fnr: Array


def _best(candidates: Sequence[_Candidates], criterion: Criterion) -> LineMinimum:
    """Choose the best interval of several lines."""
    if not candidates:
        raise InputError("criterion must be a number on some line, got none: no line has a classifier in every fold")
    low, high, fpr, fnr = (
        np.concatenate([getattr(each, name) for each in candidates]) for name in ("low", "high", "fpr", "fnr")
    )
    tied, (refused, objective) = least(criterion, fpr, fnr, np.ones(fpr.size, dtype=np.bool_))
    best = fewest(tied, fpr, fnr)[:, 0]
    k = int(best[np.argmin(low[best] - high[best])])
    ends_of_lines = np.cumsum([each.low.size for each in candidates])
    line = candidates[int(np.searchsorted(ends_of_lines, k, side="right"))].line
    interval = float(low[k]), float(high[k])
    return LineMinimum(
        line.bandwidth,
        0.5 * float(low[k] + high[k]),
        line.nu_minus,
        fpr=float(fpr[k]),
        fnr=float(fnr[k]),
        objective=float(objective),
        interval=interval,
        allowed=not refused,
    )


def _smoothed(
    group: list[tuple[float, LineErrors]], here: LineErrors, half: float, criterion: Criterion
) -> tuple[Array, Array, Array]:
    """Points of a line between which the criterion can be no smaller, and smoothed rates there."""
    low, high = here.nu_plus[[0, -1]]
    knots = np.concatenate([line.nu_plus + shift for _, line in group for shift in (-half, half)])
    inner = knots[(knots > low) & (knots < high)]
    nu_plus = np.unique(np.concatenate([[low, high], inner]))
    weight, fpr, fnr = _window_sums(group, nu_plus, half)
    gaps = [fpr - fnr]
    if criterion.level is not None:
        gaps.append(fpr - criterion.level * weight)
    points = np.sort(np.concatenate([nu_plus, *(_zeros(nu_plus, gap) for gap in gaps)]))
    weight, fpr, fnr = _window_sums(group, points, half)
    return points, np.round(fpr / weight, DECIMALS), np.round(fnr / weight, DECIMALS)


def _window_sums(group: list[tuple[float, LineErrors]], nu_plus: Array, half: float) -> Array:
    """Weighted integrals of 1, of the fpr and of the fnr over the window around each nu_plus, shape (3, k)."""
    total = np.zeros((3, nu_plus.size))
    low, high = nu_plus - half, nu_plus + half
    for weight, line in group:
        for which in range(3):
            integral = line.integral(which, high) - line.integral(which, low)
            total[which] += weight * integral
    return total


def _zeros(nu_plus: Array, values: Array) -> Array:
    """Zeros between neighbouring knots of a piecewise linear function with these values there."""
    first = np.flatnonzero(values[:-1] * values[1:] < 0)
    left, right = values[first], values[first + 1]
    share = left / (left - right)
    return np.asarray(nu_plus[first] + share * np.diff(nu_plus)[first])


def _lines(
    X: object, y: Array, kernel: object, folds: Folds, bandwidth: float, nu_minus: Array, lo: float
) -> list[LineErrors | None]:
    """Errors on the lines of one bandwidth, one for each nu_minus."""
    parts = list(problems_of(Gram(X, kernel, free_origin=True), y, folds))
    return [_line(parts, bandwidth, each, lo) for each in nu_minus.tolist()]


def _line(
    parts: Sequence[tuple[LabelledSamples, Samples, Array]], bandwidth: float, nu_minus: float, lo: float
) -> LineErrors | None:
    """Errors on one line, added up over the folds; None where the path of a fold cannot be followed."""
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
    folds = [_up_to(one, last) for one in scores]
    curve = ErrorCurve.of_scores(folds, [labels for *_, labels in parts])
    nu_plus = 1.0 / ((1.0 - curve.t) + curve.t / lo)
    return LineErrors(bandwidth, nu_minus, nu_plus[::-1], curve.fpr[::-1], curve.fnr[::-1])


def _up_to(scores: PathScores, last: float) -> PathScores:
    """Scores along the beginning of a path, up to last."""
    if scores.t[-1] == last:
        return scores
    k = int(np.searchsorted(scores.t, last))
    start, end = scores.start[:, :k], scores.end[:, :k].copy()
    left, right = scores.t[k - 1 : k + 1]
    share = (last - left) / (right - left)
    end[:, -1] = (1 - share) * start[:, -1] + share * end[:, -1]
    return PathScores(np.append(scores.t[:k], last), start, end)
