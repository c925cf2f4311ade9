"""What is read off the path of a program: a point, the rates beside it, what happens at a breakpoint, and its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.tables import SHOWN, Tabular, listing
from paretoclf.common.tolerances import AGREE_OBJECTIVE
from paretoclf.problem.parametric_qp import ABOVE, BELOW, INSIDE, LOWER, UPPER
from paretoclf.proof.rays import RayProof

#: Where an item is, in words: of one whose two bounds are one (the kink of an absolute value), and of any other.
_KINK = {BELOW: "below its kink", LOWER: "at its kink", INSIDE: "free", UPPER: "at its kink", ABOVE: "above its kink"}
_BOUNDS = {
    BELOW: "beyond its lower bound",
    LOWER: "at its lower bound",
    INSIDE: "free",
    UPPER: "at its upper bound",
    ABOVE: "beyond its upper bound",
}


class Shares(NamedTuple):
    """Weights of both ends of a piece: each accurate relative to itself, as what vanishes at an end asks for."""

    before: Any
    after: Any

    @classmethod
    def of(cls, t: float, start: float, end: float) -> Shares:
        """The shares that start and end have at a point t between them; where the two are one, all is at start."""
        length = end - start
        return cls((end - t) / length, (t - start) / length) if length else cls(1.0, 0.0)

    @property
    def whole(self) -> Shares:
        """The same, but that they add up to 1 however they are rounded: what stands still is read as it stands."""
        return Shares(1.0 - self.after, self.after)

    def between(self, start: Any, end: Any) -> Any:
        """What goes from start to end."""
        return self.before * start + self.after * end

    def parabola(self, start: Any, end: Any, bend: Any) -> Any:
        """The same along a parabola: a quarter of the bend below the chord in its middle."""
        return self.between(start, end) - self.before * self.after * bend


@dataclass(frozen=True, repr=False)
class ProblemPoint:
    """The optimum at one t, in the user's words.

    Attributes
    ----------
    t : float
    value : float
        The optimal value of the objective as it was written; of a maximisation the largest.
    parameters, variables, duals : mapping of str to number or array
        By name; duals have the signs and shapes of CVXPY's ``dual_value``.
    """

    t: float
    value: float
    parameters: Mapping[str, Any]
    variables: Mapping[str, Any]
    duals: Mapping[str, Any]

    def __repr__(self) -> str:
        head = f"optimum at t = {self.t:.6g}{those(self.parameters)}: value {self.value:.10g}"
        return "\n".join([head, *listed(self.variables, self.duals)])


@dataclass(frozen=True)
class Event:
    """A variable, a constraint, a term of the objective or a sample changes at a breakpoint.

    Attributes
    ----------
    t : float
    name : str
        Who changes: ``"w[0]"``, ``"budget"``; of a sample its multiplier, ``"alpha[3]"``.
    before, after : str
        Where it was and is: ``"free"``, ``"at its lower bound"``, ``"at its kink"``; a sample in the sets ``"R"``
        (multiplier 0), ``"L"`` (at its cap) or ``"M"`` (margin set).
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
        """The position of the sample, along a path of samples."""
        return self.item

    @property
    def changes(self) -> tuple[tuple[str, str, str], ...]:
        """The change as a tuple of one ``(name, before, after)``."""
        return ((self.name, self.before, self.after),)

    def __str__(self) -> str:
        return f"t = {self.t:.6g}{those(self.parameters)}: {self.name} {self.before} -> {self.after}"


def words_of(kinks: Any) -> list[Mapping[int, str]]:
    """What the labels of each item are called: of a kink of an absolute value, and of any other."""
    return [_KINK if kink else _BOUNDS for kink in kinks]


def events_of(
    t: Array,
    labels: Any,
    items: Sequence[str],
    words: Sequence[Mapping[int, str]],
    parameters: Callable[[float], Mapping[str, Any]],
) -> tuple[Event, ...]:
    """What changes at t[1], t[2], ..., in the words of each item; ``parameters`` says which have moved where."""
    found = []
    for j in range(1, len(labels)):
        changed, at = np.flatnonzero(labels[j] != labels[j - 1]), float(t[j])
        there = parameters(at) if changed.size else {}
        for i in changed.tolist():
            before, after = (words[i][int(labels[k][i])] for k in (j - 1, j))
            found.append(Event(at, items[i], before, after, i, there))
    return tuple(found)


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


@dataclass(frozen=True)
class Slopes:
    """Rates of an optimum on both sides of a point; None on a side on which there is no path.

    Attributes
    ----------
    t : float
    left, right : Slope or None
    """

    t: float
    left: Slope | None
    right: Slope | None


@dataclass(frozen=True, repr=False)
class PriceAlong:
    """The multiplier of a constraint all along a path: what a unit of its right hand side is worth.

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
        How near to a breakpoint t is at it: the data that move say no more.
    """

    constraint: str
    t: Array
    price: Array
    least: float = 0.0

    def __call__(self, t: float) -> Any:
        """The price at t; at a breakpoint where it jumps, that to the right."""
        j = 2 * min(int(np.searchsorted(self.t[1::2], t + self.least, side="right")), self.t.size // 2 - 1)
        a, b = self.t[j : j + 2]
        found = Shares.of(min(max(t, a), b), a, b).whole.between(self.price[j], self.price[j + 1])
        return float(found) if np.ndim(found) == 0 else found

    def __repr__(self) -> str:
        low, high = (float(each(self.price)) for each in (np.min, np.max))
        return (
            f"PriceAlong({self.constraint}: {low:.6g} to {high:.6g}, t {self.t[0]:g} to {self.t[-1]:g}, "
            f"{self.t.size // 2} segments)"
        )


@dataclass(frozen=True, repr=False)
class SolverComparison(Tabular):
    """A path beside a solver, at some t; prints as a table.

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
        """``(path - solver) / max(|solver|, tiny)``."""
        return (self.path - self.solver) / np.maximum(np.abs(self.solver), np.finfo(float).tiny)

    @property
    def worst(self) -> float:
        """The largest relative difference; nan where the solver found no optimum somewhere."""
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
        return f"worst relative difference over {self.t.size} points: {self.worst:.1e}"

    def _rows(self) -> Iterator[dict[str, Any]]:
        for k in range(self.t.size):
            row = {name: float(getattr(self, name)[k]) for name in ("t", "path", "solver")}
            yield {**row, "difference": float(self.difference[k])}


@dataclass(frozen=True)
class Beyond:
    """Why there is no optimum at any t beyond the end of a path.

    Attributes
    ----------
    status : str
        ``"infeasible"``; or ``"unbounded"``: of feasible points, if there are any, see ``feasible``.
    t : float
        The ray refutes every later t; where the path ends, or after that.
    ray : mapping of str to array
        Multipliers of constraints whose sum is a contradiction, or a direction of variables along which the objective
        improves for ever.
    blame : tuple of str
        The constraints, or the variables, that have a part in it.
    proof : RayProof
        What of the ray is checked on the compiled program.
    end : float
        Where the path ends; of t between that and ``t`` nothing is known.
    texts : mapping of str to str
        What `explain` says in place of the names of constraints without a label: their text, too.
    parameters : mapping of str to number or array
        The parameters that move, at ``t``.
    feasible : bool
        Whether the path's last point is feasible at every later t, too: no side or coefficient of a constraint moves.
    """

    status: str
    t: float
    ray: Mapping[str, Any] = field(repr=False)
    blame: tuple[str, ...]
    proof: RayProof = field(repr=False)
    end: float
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)
    parameters: Mapping[str, Any] = field(default_factory=dict, repr=False)
    feasible: bool = field(default=False, repr=False)

    @property
    def verdict(self) -> str:
        """Name what is proved, in a word or two: ``"infeasible"``, ``"unbounded"`` or ``"no optimum"``."""
        return verdict_of(self.status, feasible=self.feasible)

    def explain(self) -> str:
        """Say in words why there is none."""
        names = ", ".join(self.texts.get(name, name) for name in self.blame) or "what CVXPY added"
        what = reason_of(self.status, names, feasible=self.feasible)
        more = f"; from t = {self.end:.6g}, where the path ends, to there nothing is known" if self.t > self.end else ""
        return f"beyond t = {self.t:.6g}{those(self.parameters)} {what}: {self.proof!r}{more}"


def verdict_of(status: str, *, feasible: bool) -> str:
    """Name what a ray proves, in a word or two: "unbounded" only where a point is known to be feasible."""
    return status if status == "infeasible" or feasible else "no optimum"


def reason_of(status: str, names: str, *, feasible: bool) -> str:
    """Say in words what a ray proves."""
    if status == "infeasible":
        return f"no point satisfies {names} together"
    if feasible:
        return f"the objective improves for ever, along {names}"
    return f"from any point that is feasible the objective improves for ever, along {names}"


def shown(value: Any) -> str:
    """A number or array in one short line."""
    array = np.asarray(value, dtype=np.float64)
    if array.ndim == 0:
        return f"{float(array):.6g}"
    entries = [f"{number:.4g}" for number in array.ravel()[:6]]
    more = f", ... ({array.size} entries)" if array.size > 6 else ""
    return f"[{', '.join(entries)}{more}]"


def listed(variables: Mapping[str, Any], duals: Mapping[str, Any]) -> list[str]:
    """A line for each variable, and for the multipliers of each constraint."""
    lines = [f"  {name} = {shown(value)}" for name, value in variables.items()]
    return lines + [f"  dual of {name} = {shown(value)}" for name, value in duals.items()]


def those(parameters: Mapping[str, Any]) -> str:
    """Parameters in parentheses, to stand beside t; nothing where none is known."""
    named = [f"{name} = {shown(value)}" for name, value in parameters.items()]
    return f" ({', '.join(named)})" if named else ""


def moves(ends: tuple[Mapping[str, Any], Mapping[str, Any]]) -> dict[str, tuple[Array, Array]]:
    """The parameters that differ at both ends, by name."""
    return {name: (first, ends[1][name]) for name, first in ends[0].items() if (first != ends[1][name]).any()}
