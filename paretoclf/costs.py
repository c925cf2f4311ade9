"""Costs: a point of the cost plane; CostLine: the segment between two points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from paretoclf.errors import InputError


@dataclass(frozen=True)
class Costs:
    """A point of the cost plane.

    Parameters
    ----------
    C_plus : float
        Cost of a false negative: the cap on the positives' multipliers. Nonnegative.
    C_minus : float
        Cost of a false positive: the cap on the negatives' multipliers. Nonnegative.

    Raises
    ------
    InputError
        If a cost is negative, infinite or not a number.

    Examples
    --------
    >>> from paretoclf import Costs
    >>> Costs(3.0, 1.0).asymmetry
    0.75
    """

    C_plus: float
    C_minus: float

    def __post_init__(self) -> None:
        for name in ("C_plus", "C_minus"):
            given = getattr(self, name)
            try:
                value = float(given)
            except (TypeError, ValueError):
                raise InputError(f"{name} must be a nonnegative number, got {given!r}") from None
            if not np.isfinite(value) or value < 0:
                raise InputError(f"{name} must be a finite nonnegative number, got {given!r}")
            object.__setattr__(self, name, value)

    @property
    def total(self) -> float:
        """``C_plus + C_minus``."""
        return self.C_plus + self.C_minus

    @property
    def asymmetry(self) -> float:
        """``C_plus / (C_plus + C_minus)``; nan when both costs are zero."""
        return self.C_plus / self.total if self.total > 0 else float("nan")

    @classmethod
    def from_asymmetry(cls, asymmetry: float, total: float) -> Costs:
        """Costs with the given asymmetry (in [0, 1]) and total."""
        if not 0 <= asymmetry <= 1:
            raise InputError(f"asymmetry must lie in [0, 1], got {asymmetry!r}")
        return cls(asymmetry * total, (1 - asymmetry) * total)

    def __iter__(self) -> Iterator[float]:
        return iter((self.C_plus, self.C_minus))


@dataclass(frozen=True)
class CostLine:
    """The segment between two points of the cost plane, parametrised by t in [0, 1].

    Examples
    --------
    >>> from paretoclf import CostLine, Costs
    >>> CostLine(Costs(0, 0), Costs(2, 4)).at(0.25)
    Costs(C_plus=0.5, C_minus=1.0)
    """

    start: Costs
    stop: Costs

    def at(self, t: float) -> Costs:
        """Costs at t; the end points exactly at t = 0 and t = 1."""
        if not 0 <= t <= 1:
            raise InputError(f"t must lie in [0, 1], got {t!r}")
        a, b = self.start, self.stop
        return Costs((1 - t) * a.C_plus + t * b.C_plus, (1 - t) * a.C_minus + t * b.C_minus)
