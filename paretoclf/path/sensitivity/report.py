"""Sensitivity reports as spreadsheets and modelling systems print them, from proved ranges.

A line of a variable has its value, its reduced cost, its coefficient in the objective, and by how much that may
increase and decrease while the optimum keeps its value. A line of a constraint has the value of its left side, its
shadow price, its right-hand side, and by how much that may increase and decrease while the price holds. Reduced costs
are prices of the variable's own bounds: the rate of the optimal value where the bound that holds is moved.

Where the optimum is degenerate there are two prices, one for an increase and one for a decrease. Excel, JuMP, Gurobi
and HiGHS print one of them, that of the basis at which they stopped, with the range of that basis.

Where a variable is not unique its final value is that of one optimum. It is another as soon as its coefficient moves,
and on each side it is one again: those are the two values that a line has beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paretoclf.path.sensitivity.number_range import NumberRange, called

#: Two rates that differ by no more than this of the larger are one.
_SAME = 1e-9

#: Columns of a report, in their order.
COLUMNS = (
    "section",
    "name",
    "final value",
    "reduced cost",
    "shadow price",
    "slack",
    "objective coefficient",
    "right-hand side",
    "allowable increase",
    "allowable decrease",
    "price of a decrease",
    "final value of an increase",
    "final value of a decrease",
    "note",
)


@dataclass(frozen=True)
class TwoPrices:
    """Rates of the optimal value on both sides: where a number increases, and where it decreases.

    Attributes
    ----------
    up, down : float
    """

    up: float
    down: float

    @property
    def one(self) -> bool:
        """Whether they are one price."""
        if not (np.isfinite(self.up) and np.isfinite(self.down)):
            return self.up == self.down
        return abs(self.up - self.down) <= _SAME * max(1.0, abs(self.up), abs(self.down))

    @classmethod
    def of_bounds(cls, bounds: Sequence[NumberRange]) -> TwoPrices:
        """The reduced cost: the price of the bound that holds; of several on a side the one that says most."""
        up = max((each.price for each in bounds), key=abs, default=0.0)
        down = max((each.price_below for each in bounds), key=abs, default=0.0)
        return cls(up, down)


def report_rows(rows: Sequence[NumberRange], bounds: Mapping[str, Sequence[NumberRange]]) -> Iterator[dict[str, Any]]:
    """Write the lines of a report: variables, then constraints.

    Parameters
    ----------
    rows : sequence of NumberRange
    bounds : mapping of str to sequence of NumberRange
        By the names of variables the ranges of their own bounds, which have no lines.
    """
    for row in rows:
        if row.kind == "cost":
            yield _in_order(_of_variable(row, TwoPrices.of_bounds(bounds.get(called(row), ()))))
    for row in rows:
        if row.kind != "cost" and not row.variable:
            yield _in_order(_of_constraint(row))


def _of_variable(row: NumberRange, reduced: TwoPrices) -> dict[str, Any]:
    """A line of a variable, whose value is the price of its coefficient."""
    notes = [] if reduced.one else ["degenerate"]
    if not TwoPrices(row.price, row.price_below).one:
        notes.append(f"not unique: {_between(row.price_below, row.price)}")
    own = {"reduced cost": reduced.up, "price of a decrease": reduced.down, "objective coefficient": row.value}
    beside = {"final value of an increase": row.price, "final value of a decrease": row.price_below}
    return {"section": "variable", **_shared(row), **own, **beside, "note": "; ".join(notes)}


def _of_constraint(row: NumberRange) -> dict[str, Any]:
    """A line of a constraint."""
    prices = TwoPrices(row.price, row.price_below)
    own = {"shadow price": prices.up, "price of a decrease": prices.down, "right-hand side": row.value}
    slack = abs(row.value - row.final)
    return {"section": "constraint", **_shared(row), **own, "slack": slack, "note": "" if prices.one else "degenerate"}


def _shared(row: NumberRange) -> dict[str, Any]:
    """Columns that both kinds of lines have."""
    room = {"allowable increase": row.upper - row.value, "allowable decrease": row.value - row.lower}
    return {"name": called(row), "final value": row.final, **room}


def _between(one: float, other: float) -> str:
    """Two numbers, the smaller first."""
    low, high = sorted((one, other))
    return f"{low:.6g} to {high:.6g}"


def _in_order(line: Mapping[str, Any]) -> dict[str, Any]:
    """All columns; nan in those that this kind of line does not have."""
    return {name: line.get(name, np.nan) for name in COLUMNS}
