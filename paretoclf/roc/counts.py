"""Rates of curves of counted errors, and the choice of the best of their classifiers, compared in fractions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from paretoclf.common.checks import Array, Index, Mask, check_inside, what_it_is
from paretoclf.common.errors import InputError
from paretoclf.common.tables import Tabular
from paretoclf.problem.costs import Costs, as_costs
from paretoclf.roc.criteria import Criterion, Key, Minimax, as_fraction, exactly

#: Objective of (false positives, false negatives), to be minimised.
Objective = Callable[[int, int], Key]

Best = TypeVar("Best")


class Choosing(Generic[Best]):
    """A curve that chooses among its classifiers by their counts of errors."""

    n_plus: int
    n_minus: int

    def best(
        self, criterion: Criterion | Costs | tuple[float, float], prior_plus: float | None = None
    ) -> tuple[Best, ...]:
        """All best classifiers, chosen by the labels whose errors are counted here.

        Parameters
        ----------
        criterion : Costs, (C_plus, C_minus), Minimax, NeymanPearson, NeymanPearsonScore or ExpectedCost
            Objective to be minimised. For costs (of a false negative and of a false positive when the classifier is
            used; not both zero) it is ``prior_plus C_plus fnr + (1 - prior_plus) C_minus fpr``. A function object with
            the same methods will do.
        prior_plus : float, optional
            For costs: probability of a positive where the classifier is used. Default: the share of positives here.

        Returns
        -------
        tuple
            In order: of ``Optimum``, intervals of t, for an `ErrorCurve`; of `GridOptimum`, points, for a
            `GridErrorCurve`; of `RocPoint` for a `RocCurve`. What is equal is equal in rational arithmetic. Among
            equally good errors none is returned that has more of one kind and no fewer of the other.

        Raises
        ------
        InputError
            If a cost is negative, both are zero, or the prior is outside [0, 1].
        """
        return self._optima(objective_of(criterion, prior_plus, self.n_plus, self.n_minus))

    def minimax(self) -> tuple[Best, ...]:
        """All classifiers with the smallest ``max(fpr, fnr)``; a tuple as of `best`."""
        return self.best(Minimax())

    def neyman_pearson(self, max_fpr: float) -> tuple[Best, ...]:
        """All classifiers with the smallest fnr among those with ``fpr <= max_fpr``; a tuple as of `best`.

        Parameters
        ----------
        max_fpr : float
            In [0, 1]; compared with the rate as a float, so that 3 of 30 are not more than 0.1.

        Raises
        ------
        InputError
            If max_fpr is outside [0, 1], or no classifier satisfies it.
        """
        check_inside(max_fpr, "max_fpr")
        lowest = self._fewest_false_positives / self.n_minus
        if lowest > max_fpr:
            raise InputError(f"max_fpr must be at least {lowest:g}, the smallest there is, got {max_fpr!r}")
        return self._optima(lambda fp, fn: (fp / self.n_minus > max_fpr, Fraction(fn, self.n_plus)))

    @property
    def _fewest_false_positives(self) -> int:
        return 0

    def _optima(self, objective: Objective) -> tuple[Best, ...]:
        """Classifiers that minimise an objective and are not dominated."""
        raise NotImplementedError


class CountedErrors(Tabular, Choosing[Best]):
    """False positives and false negatives of k classifiers. What is best is chosen by the labels that it reports."""

    false_positives: Index
    false_negatives: Index

    def _places(self) -> Iterator[Mapping[str, float]]:
        """Position of each pair of counts, by the names of its columns."""
        raise NotImplementedError

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Rows of the table, one for each pair of counts: its position, the counts, and the rates."""
        names = ("false_positives", "false_negatives", "fpr", "fnr")
        columns = [getattr(self, name).tolist() for name in names]
        for place, *numbers in zip(self._places(), *columns, strict=True):
            yield {**place, **dict(zip(names, numbers, strict=True))}

    @property
    def fpr(self) -> Array:
        """False positive rates, shape (k,)."""
        return np.asarray(self.false_positives / self.n_minus)

    @property
    def fnr(self) -> Array:
        """False negative rates, shape (k,)."""
        return np.asarray(self.false_negatives / self.n_plus)

    @property
    def _fewest_false_positives(self) -> int:
        return int(self.false_positives.min())


#: Whole numbers of any size.
Exact = npt.NDArray[np.object_]


def require_both(n_plus: int, n_minus: int) -> None:
    """Raise InputError unless there are samples of both classes."""
    for name, count in (("n_plus", n_plus), ("n_minus", n_minus)):
        if count < 1:
            raise InputError(f"{name} must be at least 1, got {count!r}")


def area_of_counts(fp: Index, tp: Index, n_plus: int, n_minus: int) -> float:
    """Area under the polygon through points of counts by trapezoids, signed: a ratio of whole numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.roc.counts import area_of_counts
    >>> area_of_counts(np.array([0, 0, 1, 7]), np.array([0, 6, 6, 6]), 6, 7)
    1.0
    """
    twice = int((np.diff(fp) * (tp[1:] + tp[:-1])).sum())
    return twice / (2 * int(n_plus) * int(n_minus))


def exact_weights(asymmetries: Array) -> tuple[Exact, int]:
    """Whole numbers v and a unit u with g = v / u for each asymmetry g (`as_fraction`): to compare costs of counts.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.roc.counts import exact_weights
    >>> exact_weights(np.array([0.9555, 0.1 + 0.2]))
    (array([1911, 600], dtype=object), 2000)
    """
    found = [as_fraction(g) for g in asymmetries.tolist()]
    unit = math.lcm(*(each.denominator for each in found))
    return np.array([each.numerator * (unit // each.denominator) for each in found], dtype=object), unit


def exact_costs(weights: tuple[Exact, int], counts: Index, sizes: Index | None = None) -> Exact:
    """Costs of false positives and negatives in whole numbers, of one unit for all: equal where costs are.

    Weights (q,) are those of `exact_weights`, counts (q, ..., 2); where costs are means over parts, the last axis but
    one has these, with their sizes. Shape (q, ...).
    """
    v, unit = weights
    miss = v.reshape(-1, *(1,) * (counts.ndim - 2))
    whole = counts.astype(object)
    costs: Exact = miss * whole[..., 1] + (unit - miss) * whole[..., 0]
    if sizes is None:
        return costs
    common = math.lcm(*sizes.tolist())
    shares = [common // int(size) for size in sizes]
    return np.asarray(costs * np.array(shares, dtype=object))


def objective_of(
    criterion: Criterion | Costs | tuple[float, float], prior_plus: float | None, n_plus: int, n_minus: int
) -> Objective:
    """Criterion, or expected cost, as a function of counts; for the parameters see ``CountedErrors.best``."""
    if isinstance(criterion, type) or (callable(criterion) and not hasattr(criterion, "score")):
        raise InputError(
            "criterion must be costs, or an object with the methods __call__ and score of (fpr, fnr), as "
            f"pc.tuning.Minimax() is, got {what_it_is(criterion)}"
        )
    if hasattr(criterion, "score"):
        if prior_plus is not None:
            raise InputError(f"prior_plus must be left out for {criterion}: it belongs to costs, got {prior_plus!r}")
        key = exactly(criterion)
        return lambda fp, fn: key(Fraction(fp, n_minus), Fraction(fn, n_plus))
    at = as_costs(criterion, "criterion")
    given = None if prior_plus is None else check_inside(prior_plus, "prior_plus")
    prior = Fraction(n_plus, n_plus + n_minus) if given is None else as_fraction(given)
    miss = prior * as_fraction(float(at.C_plus)) / n_plus
    alarm = (1 - prior) * as_fraction(float(at.C_minus)) / n_minus
    if miss + alarm == 0:
        raise InputError(f"costs times priors must not both be zero, got {at} with prior_plus = {float(prior):g}")
    return lambda fp, fn: (False, fn * miss + fp * alarm)


def smallest(fp: Index, fn: Index, objective: Objective) -> tuple[Mask, Fraction]:
    """Mask of the pairs of counts that minimise an objective and are not dominated by others; and the minimum."""
    order = np.lexsort((fn, fp))
    ordered = fn[order]
    before = np.append(np.iinfo(np.int64).max, ordered[:-1])
    fewest_before = np.minimum.accumulate(before)
    front = order[ordered < fewest_before]  # no pair has as few of both kinds, and no pair stands here twice
    pairs = list(zip(fp[front].tolist(), fn[front].tolist(), strict=True))
    keys = [objective(*pair) for pair in pairs]
    least = min(keys)
    chosen = [pair for pair, key in zip(pairs, keys, strict=True) if key == least]
    return np.any([(fp == false_p) & (fn == false_n) for false_p, false_n in chosen], axis=0), least[1]
