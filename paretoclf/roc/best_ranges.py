"""Which costs, or which prior, make each vertex of an upper hull the best classifier."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from paretoclf.common.checks import Index, check_share
from paretoclf.common.errors import InputError
from paretoclf.common.tables import SHOWN, Tabular, listing
from paretoclf.problem.costs import Costs, as_costs
from paretoclf.roc.criteria import as_fraction
from paretoclf.roc.points import RocPoint


@dataclass(frozen=True)
class BestRange:
    """A vertex of a hull, and where no classifier of the curve is better.

    Attributes
    ----------
    point : RocPoint
        The classifier; its threshold is infinite where all samples get one label.
    false_positives, true_positives : int
        Its counts.
    start, stop : float
        Ends of the range, both included, of ``C_plus / C_minus`` or of the prior of the positives.
    """

    point: RocPoint
    false_positives: int
    true_positives: int
    start: float
    stop: float

    @property
    def positive(self) -> str:
        """Rule in words: ``"nobody"``, ``"everybody"``, or a score that is at least the threshold."""
        threshold = self.point.threshold
        if math.isinf(threshold):
            return "nobody" if threshold > 0 else "everybody"
        return f"score >= {threshold:.6g}"


@dataclass(frozen=True, repr=False)
class BestRanges(Tabular):
    """Vertices of the upper hull of a ROC curve with their ranges, by increasing false positive rate; `best_ranges`.

    Attributes
    ----------
    rows : tuple of BestRange
    over : str
        The name of what moves: ``"ratio"`` (of ``C_plus / C_minus``) or ``"prior"`` (of a positive).
    given : str
        What stays as it is, in words.
    """

    rows: tuple[BestRange, ...]
    over: str
    given: str

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[BestRange]:
        return iter(self.rows)

    def __getitem__(self, j: int) -> BestRange:
        return self.rows[j]

    def _title(self) -> str:
        """Title of the table."""
        return f"BestRanges({self.given}; chosen on these labels, optimistic)"

    def __repr__(self) -> str:
        along = self.rows[0].point.t is not None
        moves = "C_plus / C_minus" if self.over == "ratio" else "prior_plus"
        head = f"{'t          ' * along}threshold  false positives  true positives {moves:>25}"
        lines = []
        for row in self.rows[:SHOWN]:
            t = f"{row.point.t:<11.6g}" if along else ""
            counts = f"{row.false_positives:15d}  {row.true_positives:14d}"
            ends = f"{row.start:.6g} to {row.stop:.6g}"
            lines.append(f"{t}{row.positive.removeprefix('score >= '):<10} {counts} {ends:>25}")
        return listing(head, lines, len(self), self._title())

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Rows of the table, one for each vertex."""
        for row in self.rows:
            place = {} if row.point.t is None else {"t": row.point.t, "swept": row.point.swept}
            counts = {"false_positives": row.false_positives, "true_positives": row.true_positives}
            rates = {"fpr": row.point.fpr, "tpr": row.point.tpr}
            ends = {f"{self.over}_from": row.start, f"{self.over}_to": row.stop}
            yield {"positive": row.positive, **place, "threshold": row.point.threshold, **counts, **rates, **ends}


def ends_of_ranges(
    fp: Index, tp: Index, n_plus: int, n_minus: int, costs: Costs | tuple[float, float] | None, prior_plus: float | None
) -> tuple[str, str, list[float]]:
    """Name what moves and what is given, and return the ends of the ranges of the vertices: one more than these.

    On an edge of the hull both its vertices cost the same: ``prior C_plus / n_plus`` for each true positive that the
    second has more is ``(1 - prior) C_minus / n_minus`` for each false one.
    """
    steps = list(zip((fp[1:] - fp[:-1]).tolist(), (tp[1:] - tp[:-1]).tolist(), strict=True))
    if costs is None:
        share = Fraction(n_plus, n_plus + n_minus)
        prior = share if prior_plus is None else as_fraction(check_share(prior_plus, "prior_plus"))
        unit = (1 - prior) / prior * Fraction(n_plus, n_minus)
        ties = [float(unit * Fraction(alarms, hits)) if hits else math.inf for alarms, hits in steps]
        return "ratio", f"share of positives {float(prior):.4g}", [0.0, *ties, math.inf]
    if prior_plus is not None:
        raise InputError(f"prior_plus must be left out where costs are given: it moves then, got {prior_plus!r}")
    at = as_costs(costs)
    if not at.C_plus > 0 < at.C_minus:
        raise InputError(f"costs must both be positive where the prior moves, got {at}: one free error decides alone")
    miss, alarm = as_fraction(at.C_plus) / n_plus, as_fraction(at.C_minus) / n_minus
    ties = [float(alarm * alarms / (alarm * alarms + miss * hits)) for alarms, hits in steps]
    return "prior", f"costs ({at.C_plus:g}, {at.C_minus:g})", [0.0, *ties, 1.0]
