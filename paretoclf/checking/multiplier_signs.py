"""Signs of multipliers that came in a file: which its column has, and which change makes wrong ones right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from paretoclf.checking.multipliers import OPPOSITE
from paretoclf.common.checks import Array
from paretoclf.problem.qp import QP

#: OSQP's signs in words.
_OSQP = "OSQP's sign is meant, positive where an upper side holds"


@dataclass(frozen=True)
class Signs:
    """Signs that numbers have where they are read.

    Attributes
    ----------
    column : str
        Header of their column in a table; empty elsewhere.
    price : bool
        Whether they are derivatives of the value, as solvers print them, and not multipliers with OSQP's signs.
    factor : {1, -1}
        A number times this is a multiplier with OSQP's signs.
    """

    column: str = ""
    price: bool = False
    factor: float = 1.0

    def named(self, row: str, multiplier: float) -> str:
        """A multiplier with its row, as the number that was given, to begin a sentence."""
        place = f" in the column `{self.column}`" if self.column else " in the file" if self.price else ""
        return f"The {'number' if place else 'multiplier'} of {row}{place} is {self.factor * multiplier + 0.0:.6g}"

    def word(self, is_positive: bool) -> str:
        """The sign that a number must not have whose multiplier must not be positive, or negative."""
        return "positive" if is_positive == (self.factor > 0.0) else "negative"

    def advice(self, sense: int, kind: str) -> str:
        """Say which change makes wrong multipliers right: the opposite sign of all, of the rows, or of the bounds."""
        change = OPPOSITE if kind == "all" else _alone(kind)
        if not self.column:
            meant = "a solver's file is read with the signs of rates of the value" if self.price else _OSQP
            return f"{change}: {meant}."
        meant = "rates of the value, as solvers print them" if self.price else _OSQP
        other = "dual" if self.price else "price"
        renamed = f": under the header `{other}` as they stand" if kind == "all" and sense > 0 else ""
        return f"Column `{self.column}`: {meant}. {change}{renamed}."


def _alone(kind: str) -> str:
    """Say that one kind of multipliers is right with the opposite sign, and the other as it is."""
    both = "the rows", "the bounds of variables"
    wrong, right = both if kind == "rows" else both[::-1]
    return f"With the opposite sign of those of {wrong} they are right: those of {right} are right as they are"


class SignedMultipliers(dict[str, float]):
    """Multipliers of rows by name, with OSQP's signs, and the signs that they had where they were read."""

    def __init__(self, numbers: Mapping[str, float], signs: Signs) -> None:
        super().__init__(numbers)
        self.signs = signs


def signs_of_given(y: Any) -> Signs:
    """The signs that multipliers had where they were read; OSQP's elsewhere."""
    return y.signs if isinstance(y, SignedMultipliers) else Signs()


def sign_advice(
    qp: QP, signs: Signs, duals: Mapping[str, Array], is_right: Callable[[Mapping[str, Array]], bool]
) -> str:
    """Try the opposite sign of all multipliers, of those of rows, and of those of bounds; say which is right."""
    bounds = set()
    if qp.names is not None:
        own = {f"bound of {name}" for name in qp.names[0]}
        bounds = {key for key, name in zip(qp.keys[1], qp.names[1], strict=True) if name in own}
    kinds = {"all": set(duals)}
    if bounds & set(duals) and set(duals) - bounds:
        kinds |= {"rows": set(duals) - bounds, "bounds": set(duals) & bounds}
    for kind, turned in kinds.items():
        if is_right({name: -value if name in turned else value for name, value in duals.items()}):
            return signs.advice(qp.sense, kind)
    return ""
