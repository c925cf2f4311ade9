"""Answers of a path of a program: an optimum in the user's words, changes of its items, a reason why it ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.path.base.points import Event, shown, those
from paretoclf.proof.programs.rays import RayProof

#: Words for the labels INSIDE, UPPER, ABOVE, BELOW, LOWER (0, 1, 2, -2, -1) of an item; of one whose two bounds are one
#: (the kink of an absolute value); and of one whose kink is at 0, in the words of paths within eps and of curves.
_WORDS = (
    ("free", "at its upper bound", "beyond its upper bound", "beyond its lower bound", "at its lower bound"),
    ("free", "at its kink", "above its kink", "below its kink", "at its kink"),
    ("free", "0", "not 0", "not 0", "0"),
)


@dataclass(frozen=True, repr=False)
class ProblemPoint:
    """Optimum at one t, in the user's words.

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


def words_of(kinks: Any) -> list[Sequence[str]]:
    """Words for the labels of each item, given which items are kinks (1), and kinks at 0 (2)."""
    return [_WORDS[kink] for kink in kinks]


def events_of(
    t: Array,
    labels: Any,
    items: Sequence[str],
    words: Sequence[Sequence[str]],
    parameters: Callable[[float], Mapping[str, Any]],
) -> tuple[Event, ...]:
    """List the changes of labels at t[1], t[2], ...

    Parameters
    ----------
    t : array of shape (k + 1,)
        Ends of the segments.
    labels : array of shape (k, m)
        Label of each item on each segment.
    items : sequence of m str
        Names of the items.
    words : sequence of m sequences
        For each item the words for its labels, which are their places.
    parameters : callable
        Values at t of the parameters that move.
    """
    found = []
    for j in range(1, len(labels)):
        before, after = labels[j - 1], labels[j]
        changed = np.flatnonzero(after != before)
        at = float(t[j])
        there = parameters(at) if changed.size else {}
        for i in changed.tolist():
            was, is_now = (words[i][int(each[i])] for each in (before, after))
            found.append(Event(at, items[i], was, is_now, i, there))
    return tuple(found)


@dataclass(frozen=True)
class Beyond:
    """Reason why there is no optimum at any t beyond the end of a path.

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
        Conditions of the ray, checked on the compiled program.
    end : float
        Where the path ends; of t between that and ``t`` nothing is known.
    texts : mapping of str to str
        Names for `explain` of constraints without a label: they have their text, too.
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
        beyond, end = apart(self.t, self.end)
        more = f"; from t = {end}, where the path ends, to there nothing is known" if self.t > self.end else ""
        return f"beyond t = {beyond}{those(self.parameters)} {what}: {self.proof}{more}"


def apart(first: float, second: float) -> tuple[str, str]:
    """Two numbers in six digits, or in as many as tell them apart."""
    pairs = ((f"{first:.{digits}g}", f"{second:.{digits}g}") for digits in range(6, 17))
    return next((pair for pair in pairs if pair[0] != pair[1]), (f"{first:.6g}", f"{second:.6g}"))


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


def listed(variables: Mapping[str, Any], duals: Mapping[str, Any]) -> list[str]:
    """Write a line for each variable, and for the multipliers of each constraint."""
    lines = [f"  {name} = {shown(value)}" for name, value in variables.items()]
    return lines + [f"  dual of {name} = {shown(value)}" for name, value in duals.items()]


def moves(ends: tuple[Mapping[str, Any], Mapping[str, Any]]) -> dict[str, tuple[Array, Array]]:
    """Values at both ends of the parameters that differ there, by name."""
    first, last = ends
    pairs = {name: (value, last[name]) for name, value in first.items()}
    return {name: (start, end) for name, (start, end) in pairs.items() if (start != end).any()}
