"""Answers of every path: rates on both sides of a point, changes at a breakpoint, prices, values beside a solver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.checks import Array, check_one
from paretoclf.common.tables import SHOWN, Tabular, listing
from paretoclf.common.tolerances import AGREE_OBJECTIVE
from paretoclf.problem.shares import Shares


@dataclass(frozen=True)
class Event:
    """Change of a variable, a constraint, a term of the objective or a sample at a breakpoint.

    Attributes
    ----------
    t : float
    name : str
        Name of what changes: ``"w[0]"``, ``"budget"``; of a sample that of its multiplier, ``"alpha[3]"``.
    before, after : str
        State before and after: of a variable, or of a row of arrays or of a file, ``"free"`` or
        ``"at its lower bound"``; of a constraint of CVXPY ``"free"`` or ``"tight"``; with ``"without a price"`` where
        the multiplier of what is tight is 0; of a term ``"0"`` or ``"not 0"``; of a sample the set ``"R"`` (multiplier
        0), ``"L"`` (at its cap) or ``"M"`` (margin set).
    item : int
        The position of the sample, or of the item in ``path.items``; -1 where there is none.
    parameters : mapping of str to number or array
        The parameters that move, there.
    """

    t: float
    name: str
    before: str
    after: str
    item: int = field(default=-1, repr=False)
    parameters: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)  # t says where it is

    @property
    def sample(self) -> int:
        """Position of the sample, along a path of samples."""
        return self.item

    @property
    def changes(self) -> tuple[tuple[str, str, str], ...]:
        """Tuple of the one change, as ``(name, before, after)``."""
        return ((self.name, self.before, self.after),)

    @property
    def said(self) -> str:
        """Name and state after it, for a table."""
        return f"{self.name} {self.after}"

    def __str__(self) -> str:
        return f"t = {self.t:.6g}{those(self.parameters)}: {self.name} {self.before} -> {self.after}"


@dataclass(frozen=True)
class Slope:
    """Rates on one side of a point.

    Attributes
    ----------
    value : float
        Rate of the optimal value at the point itself; between breakpoints it is affine, of a linear program constant.
    variables, duals : mapping of str to number or array
        Rates of variables and multipliers; they hold as far as ``until``, but those of variables next to which a moving
        parameter stands (``program.parabolas``) at the point itself, as for the value.
    until : float
        The breakpoint at which this side ends.
    """

    value: float
    variables: Mapping[str, Any] = field(repr=False)
    duals: Mapping[str, Any] = field(repr=False)
    until: float


@dataclass(frozen=True, repr=False)
class Slopes:
    """Rates of an optimum on both sides of a point; None on a side on which there is no path.

    Attributes
    ----------
    t : float
        Where: in the unit for which rates are.
    left, right : Slope or None
        Towards the start and the end of the path: where a parameter falls along it, left is the parameter from above,
        which is the other way round than in `paretoclf.derivatives`.
    per : str
        Name of that number: ``"t"``, or the parameter that was asked for.
    """

    t: float
    left: Slope | None
    right: Slope | None
    per: str = "t"

    def __repr__(self) -> str:
        begin, end = (side.until if side else self.t for side in (self.left, self.right))
        falls = f"; left is {self.per} from above" if begin > end else ""
        return f"Slopes({self.per}={self.t!r}, left={self.left!r}, right={self.right!r}{falls})"


@dataclass(frozen=True, repr=False)
class PriceAlong:
    """Shadow price of a constraint all along a path: the worth of a unit of its right hand side.

    For each unit that is added to the right of ``<=`` or ``==``, or taken from the right of ``>=``, the optimal value
    improves at that rate: that of a minimisation falls, that of a maximisation grows.

    Attributes
    ----------
    constraint : str
    t : array of shape (2 k,)
        Both ends of each segment that has a length; the price is affine between the two.
    price : array of shape (2 k, ...)
        The price there, in the shape of the constraint.
    least : float
        Distance from a breakpoint below which t is taken for it: the data that move say no more.
    """

    constraint: str
    t: Array
    price: Array
    least: float = 0.0

    def __call__(self, t: float) -> Any:
        """Price at t; at a breakpoint where it jumps, that to the right."""
        t = check_one(t, "t")
        first = 2 * self.t[1:-1:2].searchsorted(t + self.least, "right")
        start, end = self.t[first : first + 2]
        nearest = min(max(t, start), end)
        share = Shares.of(nearest, start, end).whole
        found = share.between(*self.price[first : first + 2])
        return found if np.ndim(found) else float(found)

    def __repr__(self) -> str:
        low, high = self.price.min(), self.price.max()
        return (
            f"PriceAlong({self.constraint}: {low:.6g} to {high:.6g}, t {self.t[0]:g} to {self.t[-1]:g}, "
            f"{self.t.size // 2} segments)"
        )


@dataclass(frozen=True, repr=False)
class SolverComparison(Tabular):
    """Optimal values of a path and of a solver, at some t; prints as a table.

    Attributes
    ----------
    t, path, solver : arrays of shape (n,)
        Optimal values of both; nan where the solver found none.
    """

    t: Array
    path: Array
    solver: Array

    @property
    def difference(self) -> Array:
        """Relative difference ``(path - solver) / max(|solver|, tiny)``."""
        size = np.maximum(np.abs(self.solver), np.finfo(float).tiny)
        return (self.path - self.solver) / size

    @property
    def worst(self) -> float:
        """Largest relative difference; nan where the solver found no optimum somewhere."""
        return float(np.abs(self.difference).max(initial=0.0))

    def agrees(self, tol: float = AGREE_OBJECTIVE) -> bool:
        """Whether every difference is at most tol."""
        return bool(self.worst <= tol)

    def __repr__(self) -> str:
        head = f"{'t':>10} {'path':>17} {'solver':>17} {'difference':>10}"
        rows = [
            f"{row['t']:10.6f} {row['path']:17.10g} {row['solver']:17.10g} {row['difference']:10.1e}"
            for row in self.records()[:SHOWN]
        ]
        return listing(head, rows, self.t.size, self._title())

    def _title(self) -> str:
        """First line of the table."""
        return f"worst relative difference over {self.t.size} points: {self.worst:.1e}"

    def _rows(self) -> Iterator[dict[str, Any]]:
        for k in range(self.t.size):
            row = {name: float(getattr(self, name)[k]) for name in ("t", "path", "solver")}
            yield {**row, "difference": float(self.difference[k])}


def shown(value: Any, digits: int = 6) -> str:
    """Write a number, in so many digits, or an array in one short line."""
    array = np.asarray(value, dtype=np.float64)
    if array.ndim == 0:
        return f"{float(array):.{digits}g}"
    entries = [f"{number:.4g}" for number in array.ravel()[:6]]
    more = f", ... ({array.size} entries)" if array.size > 6 else ""
    return f"[{', '.join(entries)}{more}]"


def those(parameters: Mapping[str, Any], digits: int = 6) -> str:
    """Write parameters in parentheses, to stand beside t; nothing where none is known."""
    named = [f"{'parameter ' * (name == 't')}{name} = {shown(value, digits)}" for name, value in parameters.items()]
    return f" ({', '.join(named)})" if named else ""
