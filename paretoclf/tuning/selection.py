"""Rules that choose a t of a line by the held-out errors of folds: those of `CostPathSVCCV`.

Their costs on samples that chose nothing are measured in docs/research/selection.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from paretoclf.common.checks import Array, Mask, real_number
from paretoclf.common.errors import InputError
from paretoclf.problem.costs import Costs
from paretoclf.roc.error_curve import ErrorCurve, Optimum
from paretoclf.roc.error_surface import ErrorSurface

#: Rules by name; a number is the width of a window in t.
RULES = ("longest", "first", "one-se", "threshold")
#: Number of t at which a shift of the threshold is looked for.
SHIFTED_AT = 201
#: A shift beyond all scores, which stays finite with them.
ONE_LABEL = 1e200
#: Mean costs of windows that differ by no more than this share of the largest are one: they are sums of many stretches.
_EQUAL = 1e-12
#: How far inside the end of an interval its nearest t is taken, as a share of the line: at the end a score is 0.
_INSIDE = 1e-7


class Taken(NamedTuple):
    """A t, and the shift that is added to its scores."""

    t: float
    shift: float = 0.0


def check_selection(given: Any) -> str | float:
    """Return a rule, one of `RULES` or the width of a window in (0, 1], or refuse it.

    Raises
    ------
    InputError
        If it is neither.
    """
    if isinstance(given, str):
        if given in RULES:
            return given
    elif not isinstance(given, bool):
        try:
            if 0.0 < (width := real_number(given)) <= 1.0:
                return width
        except (TypeError, ValueError):
            pass
    names = ", ".join(repr(name) for name in RULES)
    raise InputError(f"selection must be one of {names}, or the width of a window in (0, 1], got {given!r}")


def choose(surface: ErrorSurface, costs: Costs, selection: str | float = "longest", line: Costs | None = None) -> Taken:
    """Choose a t with a small held-out cost, by one of the rules.

    Parameters
    ----------
    surface : ErrorSurface
        Held-out scores of the folds, along their paths.
    costs : Costs
        Costs of a miss and of a false alarm, where the classifier is used.
    selection : str or float
        ``"longest"``: the middle of the longest interval with the smallest cost. ``"first"``: of the first one.
        A number: the middle of the window of this width with the smallest mean cost. ``"one-se"``: of all t whose cost
        is within one standard error, over the folds, of the smallest, the one nearest to the asymmetry of use (on a
        ray to the middle); 1e-7 of the line inside its interval, at whose end a held-out score is 0 and changes its
        label.
        ``"threshold"``: of 201 t and all thresholds the pair with the smallest cost.
    line : Costs, optional
        The same costs in the units of the line, where weights of samples multiply its costs.

    Raises
    ------
    InputError
        If the rule is none of these, or a threshold is asked for where one of the costs is 0.

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> from paretoclf.tuning.selection import choose
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([-1, 1], 20)
    >>> svm = pc.TwoCSVM(rng.normal(size=(40, 2)) + y[:, None], y)
    >>> surface = pc.cross_validated_surface(svm, (0, 2), (2, 0), folds=4)
    >>> [round(choose(surface, pc.Costs(5, 1), rule).t, 3) for rule in ("longest", "first", 0.1, "one-se")]
    [0.725, 0.725, 0.725, 0.833]
    """
    rule = check_selection(selection)
    if rule == "threshold":
        return _with_threshold(surface, costs)
    curve = surface.curve()
    if rule == "one-se":
        return Taken(_within_one_error(surface, curve, costs, costs if line is None else line))
    if not isinstance(rule, str):
        return Taken(_window(curve, costs, rule))
    optimum = curve.best(costs)[0] if rule == "first" else _longest(curve, costs)
    return Taken(optimum.t)


def _longest(curve: ErrorCurve, costs: Costs) -> Optimum:
    """Longest interval with the smallest cost; of several the first."""
    return max(curve.best(costs), key=lambda optimum: optimum.width)


def _costs_of(curve: ErrorCurve, costs: Costs) -> Array:
    """Cost of all samples on each stretch."""
    return np.asarray(costs.C_plus * curve.false_negatives + costs.C_minus * curve.false_positives)


def _window(curve: ErrorCurve, costs: Costs, width: float) -> float:
    """Middle of the best windows, cut at the ends of the line; their mean cost is monotone between two kinks."""
    t, cost = curve.t, _costs_of(curve, costs)
    begin, end = t[[0, -1]]
    total = np.concatenate([[0.0], np.cumsum(cost * np.diff(t))])
    half = 0.5 * width * (end - begin)
    kinks = np.concatenate([t, t - half, t + half])
    kinks = np.unique(np.clip(kinks, begin, end))
    left, right = np.clip(kinks - half, begin, end), np.clip(kinks + half, begin, end)
    in_window = np.interp(right, t, total) - np.interp(left, t, total)
    mean = in_window / (right - left)
    best = mean <= mean.min() + _EQUAL * cost.max(initial=0.0)
    edges = np.flatnonzero(np.diff(best, prepend=False, append=False))
    first, last = kinks[edges[::2]], kinks[edges[1::2] - 1]
    longest = int(np.argmax(last - first))
    return float(0.5 * (first[longest] + last[longest]))


def _within_one_error(surface: ErrorSurface, curve: ErrorCurve, costs: Costs, line: Costs) -> float:
    """Find the t nearest to the asymmetry of use whose cost is within one standard error of the smallest."""
    best = _longest(curve, costs)
    false_positives, false_negatives = surface.counts(best.t).T
    of_folds = (costs.C_minus * false_positives + costs.C_plus * false_negatives) / surface.sizes
    error = 0.0
    if of_folds.size > 1:
        error = float(np.std(of_folds, ddof=1) / np.sqrt(of_folds.size))
    smallest = costs.C_plus * best.false_negatives + costs.C_minus * best.false_positives
    largest = smallest + error * surface.sizes.sum()
    wished = float(surface.trained_for(np.array([line.asymmetry]))[0])
    return _nearest_inside(curve, curve.costs_of_cells(costs) <= largest, wished)


def _nearest_inside(curve: ErrorCurve, allowed: Mask, wished: float) -> float:
    """Find the t nearest to a wish, inside the intervals of allowed cells; a single t only where no interval is."""
    edges = np.flatnonzero(np.diff(allowed, prepend=False, append=False))
    first, last = edges[::2], edges[1::2] - 1
    start, stop = curve.t[first // 2], curve.t[(last + 1) // 2]
    if (wide := stop > start).any():
        first, last, start, stop = first[wide], last[wide], start[wide], stop[wide]
    step = np.minimum(0.5 * (stop - start), _INSIDE * (curve.t[-1] - curve.t[0]))
    at_begin, at_end = first == 0, last == allowed.size - 1  # the ends of the line change nothing
    nearest = np.clip(wished, np.where(at_begin, start, start + step), np.where(at_end, stop, stop - step))
    return float(nearest[np.argmin(np.abs(nearest - wished))])


def _with_threshold(surface: ErrorSurface, costs: Costs) -> Taken:
    """Choose the best pair of a shift and a t, of t spread evenly over the breakpoints of all folds; finite."""
    knots = np.unique(np.concatenate([fold.t for fold in surface.folds]))
    evenly = np.linspace(0, knots.size - 1, SHIFTED_AT)
    t = np.interp(evenly, np.arange(knots.size), knots)
    (best_t,), (shift,) = surface.best([costs.asymmetry], t)
    return Taken(float(best_t), float(np.clip(shift, -ONE_LABEL, ONE_LABEL)))
