r"""ROC curves: points of the ROC plane, in the order in which a family of classifiers visits them.

A classifier is the point :math:`(u, v)`, :math:`u=P(f\ge 0\mid -)` (false positive rate) and
:math:`v=P(f\ge 0\mid +)` (true positive rate). Its expected cost is :math:`p_+C_+(1-v)+p_-C_-u`
(Bach, Heckerman & Horvitz 2006, section 2.2), so the classifiers that are optimal for some costs are the vertices of
the upper convex hull.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from paretoclf.common.checks import Array, Mask, check_inside, check_number, real_array, the_one_given
from paretoclf.common.errors import InputError
from paretoclf.common.tables import Tabular
from paretoclf.common.tolerances import RATE_ROUNDING
from paretoclf.problem.costs import Costs
from paretoclf.roc.best_ranges import BestRange, BestRanges, ends_of_ranges
from paretoclf.roc.counts import Choosing, Objective, area_of_counts, objective_of, require_both, smallest
from paretoclf.roc.criteria import Criterion, ExpectedCost
from paretoclf.roc.hull import upper_hull
from paretoclf.roc.points import RocMixture, RocPoint
from paretoclf.roc.scores import also

if TYPE_CHECKING:
    from paretoclf.plotting.roc import RocDisplay

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class RocCurve(Tabular, Choosing[RocPoint]):
    """A curve in the ROC plane, and which classifier each of its points is.

    Point j is the classifier that predicts +1 where ``f(x) + shift[j] >= 0``, with f the scores at ``t[j]``; at a
    jump of the intercept, after the share ``swept[j]`` of it (see `paretoclf.roc.scores_at`).

    Attributes
    ----------
    fpr, tpr : array of shape (p,)
        False and true positive rates, in the order in which the curve visits them, from (0, 0) to (1, 1).
        The curve need not be monotone.
    n_plus, n_minus : int
        Samples of each class behind the rates: ``tpr * n_plus`` and ``fpr * n_minus`` are whole numbers.
    vary : str
        What varies along the curve: "intercept", "asymmetry" or "both"; free text for other curves.
    shift : array of shape (p,), optional
        Shift of the intercept; infinite where every sample gets the same label. Default 0.
    t : array of shape (p,) or None
        Path parameter, None if the curve does not come from a path.
    swept : array of shape (p,), optional
        Share of the jump of b at ``t[j]`` already swept. Default 1.
    index : int array of shape (p,) or None
        For a hull: positions on the original curve, -1 for an end point that it did not have.
    chosen : bool
        Whether the points were picked by the labels that their rates come from: an upper envelope. Such rates are
        optimistic; `paretoclf.cross_validated_roc` judges a choice on other labels.
    note : str
        Whose scores they come from, as of `PathScores`.

    Raises
    ------
    InputError
        If the arrays have different lengths, a rate lies outside [0, 1] or is not a whole number of samples.

    Examples
    --------
    >>> from paretoclf.roc import RocCurve
    >>> curve = RocCurve([0, 0.5, 0.5, 1], [0, 0, 1, 1], n_plus=2, n_minus=2)
    >>> curve.auc
    0.5
    >>> hull = curve.hull()
    >>> hull.fpr, hull.tpr
    (array([0. , 0.5, 1. ]), array([0., 1., 1.]))
    >>> [point.rates for point in curve.best((3.0, 1.0))]
    [(0.5, 0.0)]
    >>> curve.consistent
    array([ True, False,  True,  True])
    """

    fpr: Array
    tpr: Array
    n_plus: int
    n_minus: int
    vary: str = ""
    shift: Array = field(default_factory=lambda: np.zeros(0))
    t: Array | None = None
    swept: Array = field(default_factory=lambda: np.zeros(0))
    index: Indices | None = None
    chosen: bool = False
    note: str = ""

    def __post_init__(self) -> None:
        require_both(self.n_plus, self.n_minus)
        fpr, tpr = _rates(self.fpr, "fpr", self.n_minus), _rates(self.tpr, "tpr", self.n_plus)
        shift = _values(self.shift, "shift", fpr.size, default=0.0)
        swept = _values(self.swept, "swept", fpr.size, default=1.0)
        columns = {"fpr": fpr, "tpr": tpr, "shift": shift, "swept": swept}
        if self.t is not None:
            columns["t"] = np.array(self.t, dtype=float)
        if self.index is not None:
            columns["index"] = np.array(self.index, dtype=np.intp)
        for name, values in columns.items():
            if values.shape != (fpr.size,):
                raise InputError(f"{name} must have one value per point ({fpr.size}), got shape {values.shape}")
            object.__setattr__(self, name, values)

    def __len__(self) -> int:
        return len(self.fpr)

    def __repr__(self) -> str:
        kind = f"{self.vary}: " if self.vary else ""
        size = f"{kind}{len(self)} points, {self.n_plus} positives, {self.n_minus} negatives"
        if self.chosen:
            said = f"upper envelope chosen on these labels (optimistic): AUC {self.auc:.4f}"
        else:
            said = f"AUC {self.auc:.4f}, upper envelope {self.hull().auc:.4f} (optimistic)"
        return f"RocCurve({size}, {said}{also(self.note)})"

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Rows of the table, one for each point: its rates, and the labels of its classifier."""
        names = ("fpr", "tpr", "t", "swept", "threshold", "shift")
        given = [getattr(self, name) for name in names]
        columns = [[None] * len(self) if values is None else values.tolist() for values in given]
        for row in zip(*columns, strict=True):
            yield dict(zip(names, row, strict=True))

    @property
    def threshold(self) -> Array:
        """Thresholds of the scores, shape (p,): point j predicts +1 where the score is at least this; minus `shift`."""
        return 0.0 - self.shift

    @property
    def counts(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """False and true positives, as whole numbers."""
        fp = np.rint(self.fpr * self.n_minus)
        tp = np.rint(self.tpr * self.n_plus)
        return fp.astype(np.int64), tp.astype(np.int64)

    @property
    def auc(self) -> float:
        """Area under the curve by trapezoids.

        Where the curve runs backwards (varying the asymmetry it may) this is the signed integral of tpr d fpr along
        it: a piece passed forwards and backwards at the same height counts nothing. Take ``hull().auc`` for the area
        that can be attained by choosing at random between two classifiers. It is a ratio of whole numbers, rounded
        once: of classes in order 1.
        """
        return area_of_counts(*self.counts, self.n_plus, self.n_minus)

    def hull(self) -> RocCurve:
        """Upper convex hull of the points, (0, 0) and (1, 1): the classifiers optimal for some costs, on these labels.

        An upper envelope: its points are chosen by looking, so its area flatters, and the more the more points there
        were to choose from. Use it to choose, and other labels to judge the choice.

        Monotone chain on fpr ascending, ties by larger tpr; collinear points are dropped, exactly (the comparison is
        one of whole numbers). Where several classifiers are at one point, the first along the curve is kept.

        Returns
        -------
        RocCurve
            Its `index` says which points of this curve it kept.
        """
        fp, tp = self.counts
        hull_fp, hull_tp, index = upper_hull(fp, tp, self.n_minus, self.n_plus)
        on_curve = index >= 0
        nearest_end = np.where(hull_fp > 0, len(self) - 1, 0)
        curve = self._take(np.where(on_curve, index, nearest_end))
        one_label = np.where(hull_fp > 0, np.inf, -np.inf)
        shift = np.where(on_curve, curve.shift, one_label)
        fpr, tpr = hull_fp / self.n_minus, hull_tp / self.n_plus
        return replace(curve, fpr=fpr, tpr=tpr, shift=shift, index=index, chosen=True)

    @property
    def consistent(self) -> Mask:
        """Mask of the ROC-consistent points, shape (p,): on the upper hull, hence optimal for some costs (Bach, 2.2).

        Exact: compared in whole numbers. Points on an edge count, as do those of its vertices.
        """
        fp, tp = self.counts
        hull = self.hull()
        hull_fp, hull_tp = hull.counts
        edge = np.clip(np.searchsorted(hull_fp, fp, side="right") - 1, 0, len(hull) - 2)
        fp_after, tp_after = fp - hull_fp[edge], tp - hull_tp[edge]  # counts after the beginning of the edge
        width, height = np.diff(hull_fp)[edge], np.diff(hull_tp)[edge]
        on_edge = width * tp_after == height * fp_after
        return np.asarray(on_edge | (fp == 0))  # the vertical edge: optimal where misses are free

    def select(self, costs: Costs | tuple[float, float], prior_plus: float | None = None) -> tuple[RocPoint, ...]:
        """Return the best classifiers for given costs: `best`, under the name that nested curves have for it, too."""
        return self.best(costs, prior_plus)

    def best(
        self, criterion: Criterion | Costs | tuple[float, float], prior_plus: float | None = None
    ) -> tuple[RocPoint, ...]:
        """Best classifiers: points of the curve or its corners, in the order of increasing fpr.

        For costs (expected cost ``p_plus C_plus (1 - tpr) + p_minus C_minus fpr``) they are vertices of the hull: one,
        or both ends of an edge when the lines of equal cost are parallel to it (Bach et al. 2006, section 2.2 and
        figure 2). Points between these two are as good and are not returned: `consistent` marks them, and
        ``best(ExpectedCost(...))`` has them, as any other criterion has all its ties. Which vertex is best for which
        costs or priors: `best_ranges`.

        Cost and rates are those of the labels that chose them, so they promise too much; `NestedRoc.select` has the
        rates of the same choice where it was not made. A `neyman_pearson` is a single classifier, on the hull or below
        it; `at_rate` draws between two and may do better.

        Parameters
        ----------
        criterion : Costs, (C_plus, C_minus), Minimax, NeymanPearson, NeymanPearsonScore or ExpectedCost
            Objective to be minimised; costs are those when the classifier is used, not both zero.
        prior_plus : float, optional
            For costs: probability of a positive where the classifier is used. Default: the share of positives here.

        Raises
        ------
        InputError
            If a cost is negative, both are zero, or the prior is outside [0, 1].
        """
        objective = objective_of(criterion, prior_plus, self.n_plus, self.n_minus)
        if hasattr(criterion, "score"):
            costed = isinstance(criterion, ExpectedCost)
            return tuple(replace(point, costed=costed) for point in self._optima(objective))
        hull = self.hull()
        fp, tp = (count.tolist() for count in hull.counts)
        costs = [objective(false_p, self.n_plus - true_p)[1] for false_p, true_p in zip(fp, tp, strict=True)]
        least = min(costs)
        cheapest = [j for j, cost in enumerate(costs) if cost == least]
        return tuple(hull._point(j, float(least), costed=True) for j in cheapest)

    def best_ranges(
        self, costs: Costs | tuple[float, float] | None = None, prior_plus: float | None = None
    ) -> BestRanges:
        """Each vertex of the hull, with the costs or the priors for which no classifier of the curve is better.

        Without costs these are ratios of costs, ``C_plus / C_minus`` from 0 to infinity; with costs, probabilities of
        a positive from 0 to 1. At the end of a range the next vertex is as good. Computed in fractions, and chosen by
        the labels of this curve, as by `best`.

        Parameters
        ----------
        costs : Costs or (C_plus, C_minus), optional
            Costs of a false negative and of a false positive, both positive: the prior moves.
        prior_plus : float, optional
            Without costs: probability of a positive where the classifier is used, strictly between 0 and 1. Default:
            the share of positives here.

        Returns
        -------
        BestRanges
            Table with a row for each vertex by increasing fpr, from (0, 0), nobody is positive, with an infinite
            threshold, to (1, 1), everybody is, with threshold minus infinity.

        Raises
        ------
        InputError
            If both arguments are given, a cost is not positive, or the prior is not inside (0, 1).

        Examples
        --------
        >>> from paretoclf.roc import roc_of_scores
        >>> curve = roc_of_scores([0.1, 0.4, 0.4, 0.8], [-1, 1, -1, 1])
        >>> curve.best_ranges()
        threshold  false positives  true positives          C_plus / C_minus
        nobody                   0               0                    0 to 0
        0.8                      0               1                    0 to 1
        0.4                      1               2                  1 to inf
        everybody                2               2                inf to inf
        BestRanges(share of positives 0.5; chosen on these labels, optimistic)
        >>> [(each.start, each.stop) for each in curve.best_ranges(costs=(3, 1))]
        [(0.0, 0.0), (0.0, 0.25), (0.25, 1.0), (1.0, 1.0)]
        """
        hull = self.hull()
        over, given, ends = ends_of_ranges(*hull.counts, self.n_plus, self.n_minus, costs, prior_plus)
        fp, tp = (count.tolist() for count in hull.counts)
        points = [hull._point(j, math.nan) for j in range(len(hull))]
        points[0] = replace(points[0], shift=-math.inf)
        points[-1] = replace(points[-1], shift=math.inf)
        return BestRanges(tuple(map(BestRange, points, fp, tp, ends[:-1], ends[1:])), over, given)

    def at_threshold(self, threshold: float) -> RocPoint:
        """Return the classifier that predicts +1 where the score is at least a threshold.

        Parameters
        ----------
        threshold : float
            Infinity: nobody is positive; minus infinity: everybody is.

        Raises
        ------
        InputError
            If the threshold is finite and this is not the whole curve of one classifier's thresholds.

        Examples
        --------
        >>> import numpy as np
        >>> from paretoclf.roc import roc_of_scores
        >>> curve = roc_of_scores([0.1, 0.4, 0.4, 0.8], [-1, 1, -1, 1])
        >>> curve.at_threshold(0.5)
        RocPoint(fpr 0.0000, fnr 0.5000, threshold 0.5)
        >>> curve.at_threshold(np.inf).expected_cost((3, 1), prior_plus=0.1)  # nobody is called positive
        0.3
        """
        value = check_number(threshold, "threshold")
        if math.isnan(value):
            raise InputError("threshold must be a number, or infinite for one label for all, got nan")
        whole = self._with_corners()
        if math.isinf(value):
            j = len(self) + int(value < 0)
        elif self.vary != "intercept" or self.index is not None:
            raise InputError(
                f"threshold must be infinite unless all thresholds of one classifier are on the curve, as on that of "
                f'roc_of_scores(scores, y) or of roc_of_path with vary="intercept", got {value:g} on {self}'
            )
        else:
            j = int(np.searchsorted(self.shift, -value, side="right")) - 1
        return replace(whole._point(j, math.nan), shift=-value)

    def at_rate(
        self, *, tnr: float | None = None, tpr: float | None = None, fpr: float | None = None, fnr: float | None = None
    ) -> RocMixture:
        """Return the best mixture of two classifiers where one expected rate is fixed: a point of the upper hull.

        Parameters
        ----------
        tnr, tpr, fpr, fnr : float
            Exactly one of the four, in [0, 1].

        Raises
        ------
        InputError
            If not exactly one rate is given, or it is outside [0, 1].
        """
        name, given = the_one_given(tnr=tnr, tpr=tpr, fpr=fpr, fnr=fnr)
        value = check_inside(given, name)
        hull = self.hull()
        rate = 1.0 - value if name in ("tnr", "fnr") else value
        if name in ("tnr", "fpr"):
            along, j = hull.fpr, int(np.searchsorted(hull.fpr, rate, side="right")) - 1  # the most true positives
            ends = [j, j if along[j] == rate else j + 1]
        else:
            along, j = hull.tpr, int(np.searchsorted(hull.tpr, rate))  # the fewest false ones
            ends = [j if along[j] == rate else j - 1, j]
        first, second = (hull._point(k, 1.0 - float(hull.tpr[k])) for k in ends)
        low, high = along[ends]
        share = 0.0 if low == high else (rate - low) / (high - low)
        return RocMixture(first, second, float(share))

    def plot(self, ax: Any = None, *, name: str | None = None, **line: Any) -> RocDisplay:
        """Draw the curve; several curves in one picture: `paretoclf.plotting.RocDisplay`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; default: a new figure.
        name : str, optional
            Name in the legend, to which the AUC is appended. Default: what varies.
        **line
            Passed on to ``Axes.plot``.

        Returns
        -------
        RocDisplay
            Display with ``ax_`` and ``figure_``.
        """
        from paretoclf.plotting.roc import RocDisplay  # matplotlib only when a picture is wanted

        display = RocDisplay.from_curves(self) if name is None else RocDisplay({name: self})
        return display.plot(ax, **line)

    def _with_corners(self) -> RocCurve:
        """All points, then (0, 0) and (1, 1); `index` is the position of a point on this curve, -1 for the two."""
        size = len(self)
        whole = self._take(np.append(np.arange(size), [0, size - 1]))
        fpr, tpr = (np.append(rates, [0.0, 1.0]) for rates in (self.fpr, self.tpr))
        shift = np.append(self.shift, [-np.inf, np.inf])
        index = np.append(np.arange(size), [-1, -1])
        return replace(whole, fpr=fpr, tpr=tpr, shift=shift, index=index)

    def _optima(self, objective: Objective) -> tuple[RocPoint, ...]:
        """Points that minimise an objective, none that another of them dominates, each place once."""
        whole = self._with_corners()
        fp, tp = whole.counts
        chosen, least = smallest(fp, self.n_plus - tp, objective)
        best = np.flatnonzero(chosen)
        first = np.unique(fp[best], return_index=True)[1]
        return tuple(whole._point(int(j), float(least)) for j in best[first])

    def _take(self, which: Indices) -> RocCurve:
        """Curve of the points at the given positions, with their labels."""
        taken: dict[str, Any] = {}
        for name in ("fpr", "tpr", "shift", "t", "swept", "index"):
            values = getattr(self, name)
            if values is not None:
                taken[name] = values[which]
        return replace(self, **taken)

    def _point(self, j: int, cost: float, costed: bool = False) -> RocPoint:
        """Point j as a classifier, with the cost that chose it; the curve is a hull, or has its corners."""
        assert self.index is not None
        numbers = {name: float(getattr(self, name)[j]) for name in ("fpr", "tpr", "swept", "shift")}
        t = None if self.t is None else float(self.t[j])
        return RocPoint(cost=cost, t=t, index=int(self.index[j]), costed=costed, **numbers)


def _values(given: Any, name: str, size: int, default: float) -> Array:
    """Values given for the points, or the default for each."""
    values = real_array(given, name, copy=True)
    return np.full(size, default) if values.size == 0 else values


def _rates(values: Any, name: str, count: int) -> Array:
    """Rates in [0, 1] that are whole numbers of samples over their count."""
    rates = real_array(values, name)
    if rates.ndim != 1 or len(rates) == 0:
        raise InputError(f"{name} must be a non-empty vector, got shape {rates.shape}")
    outside = np.flatnonzero(~((rates >= 0) & (rates <= 1)))
    if outside.size:
        bad = int(outside[0])
        raise InputError(f"{name} must lie in [0, 1], got {rates[bad]} at index {bad}")
    whole = np.rint(rates * count) / count
    broken = np.flatnonzero(~np.isclose(rates, whole, rtol=0, atol=RATE_ROUNDING))
    if broken.size:
        bad = int(broken[0])
        raise InputError(
            f"{name} must be a whole number of {count} samples divided by {count}, got {rates[bad]} at index {bad}"
        )
    return np.asarray(whole)
