"""Costs: a point of the cost plane; SampleCosts: one cost per sample; CostLine: the segment between two of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretoclf.common.checks import (
    Array,
    check_inside,
    check_nonnegative,
    check_nonnegative_number,
    require_scale_of_costs,
)
from paretoclf.common.errors import InputError

#: Sine of the angle between two pairs of costs below which they are on one ray from the origin.
ON_RAY = 1e-12


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
        If a cost is negative, not a number, or above 1e140, whose square is hardly one.

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
            value = check_nonnegative_number(getattr(self, name), name)
            require_scale_of_costs(value, name)
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
        asymmetry = check_inside(asymmetry, "asymmetry")
        return cls(asymmetry * total, (1 - asymmetry) * total)

    def __iter__(self) -> Iterator[float]:
        return iter((self.C_plus, self.C_minus))


def as_costs(given: Any, name: str = "costs") -> Costs:
    """Costs, or the pair (C_plus, C_minus) that stands for them."""
    if isinstance(given, Costs):
        return given
    if isinstance(given, Mapping):  # its two keys would be taken for costs
        weights = "factors by label are the class_weight of an estimator"
        raise InputError(f"{name} must be a pair (C_plus, C_minus), got {given!r:.100}: {weights}")
    try:
        plus, minus = given
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a pair (C_plus, C_minus), got {given!r}") from None
    try:
        return Costs(plus, minus)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


@dataclass(frozen=True, eq=False)
class SampleCosts:
    """One cost per sample, where two costs for two classes are not enough.

    Parameters
    ----------
    values : array of shape (n,)
        Cost of an error on each sample, nonnegative: in place of the ``C_plus`` or ``C_minus`` of its class, and
        multiplied by its weight in the same way.

    Raises
    ------
    InputError
        If a cost is negative, not a number, or above 1e140, whose square is hardly one.

    References
    ----------
    Karasuyama, Harada, Sugiyama & Takeuchi (2012), Machine Learning 88.

    Examples
    --------
    >>> from paretoclf import SampleCosts
    >>> SampleCosts([1.0, 0.5, 0.0]).total
    1.5
    """

    values: Array = field(repr=False)

    def __post_init__(self) -> None:
        given = np.array(self.values)  # a copy: a path must not change with the caller's array
        if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "biuf":
            raise InputError(f"costs of the samples must be a vector of real numbers, got {self.values!r}")
        object.__setattr__(self, "values", check_nonnegative(given, given.size, "costs of the samples"))
        require_scale_of_costs(float(self.values.max()), "costs of the samples")

    @property
    def total(self) -> float:
        """Sum of the costs."""
        return float(self.values.sum())

    def __repr__(self) -> str:
        low, high = self.values.min(initial=np.inf), self.values.max(initial=0.0)
        return f"SampleCosts({self.values.size} samples, {low:g} to {high:g})"


def per_sample(costs: Costs | SampleCosts, y: Array) -> Array:
    """Cost of an error on each sample, shape (n,)."""
    if isinstance(costs, SampleCosts):
        return costs.values
    return np.where(y > 0, costs.C_plus, costs.C_minus)


@dataclass(frozen=True)
class CostLine:
    """The segment between two points, parametrised by t in [0, 1].

    Parameters
    ----------
    start, stop : Costs or SampleCosts
        Both of one kind.

    Examples
    --------
    >>> from paretoclf import Costs
    >>> from paretoclf.results import CostLine
    >>> CostLine(Costs(0, 0), Costs(2, 4)).at(0.25)
    Costs(C_plus=0.5, C_minus=1.0)
    """

    start: Any
    stop: Any

    def at(self, t: float) -> Any:
        """Costs at t; the end points exactly at t = 0 and t = 1."""
        t = check_inside(t, "t")
        start, stop = self.start, self.stop
        if isinstance(start, SampleCosts):
            return SampleCosts((1 - t) * start.values + t * stop.values)
        plus = (1 - t) * start.C_plus + t * stop.C_plus
        minus = (1 - t) * start.C_minus + t * stop.C_minus
        return Costs(plus, minus)

    def per_sample(self, points: Array, y: Array) -> Array:
        """Cost of an error on each sample at each of k points t, shape (n, k)."""
        start, stop = (per_sample(end, y)[:, None] for end in (self.start, self.stop))
        return np.asarray((1 - points) * start + points * stop)

    def position(self, costs: Any) -> float:
        """Find the t at which the line has costs of this ratio; on a ray from the origin, at which it has these costs.

        Parameters
        ----------
        costs : Costs or pair (C_plus, C_minus)

        Raises
        ------
        InputError
            If the line has no such costs.

        Examples
        --------
        >>> from paretoclf import Costs
        >>> from paretoclf.results import CostLine
        >>> CostLine(Costs(0, 2), Costs(2, 0)).position((3, 1))
        0.75
        >>> CostLine(Costs(0, 0), Costs(2, 2)).position((1, 1))
        0.5
        """
        at, start, stop = as_costs(costs), self.start, self.stop
        if isinstance(start, SampleCosts):
            raise InputError("a line of costs per sample has no position of two costs")
        if at.total == 0:
            raise InputError(f"costs must not both be zero, got {costs!r}")
        before, after = _sine(start, at), _sine(stop, at)  # of one sign: the line does not cross the ray of these costs
        on_ray = abs(_sine(start, stop)) <= ON_RAY
        if on_ray and max(abs(before), abs(after)) <= ON_RAY:
            low, high = sorted((start.total, stop.total))
            if not low * (1 - ON_RAY) <= at.total <= high * (1 + ON_RAY):
                raise InputError(f"costs must have a total from {low:g} to {high:g} on this ray, got {costs!r}")
            if low == high:
                return 1.0
            share = (at.total - start.total) / (stop.total - start.total)
            return min(1.0, max(0.0, float(share)))
        if on_ray or min(before, after) > ON_RAY or max(before, after) < -ON_RAY:
            there = [end.asymmetry for end in (start, stop) if end.total > 0]
            raise InputError(
                f"costs must have an asymmetry C_plus / (C_plus + C_minus) from {min(there):g} to {max(there):g}, as "
                f"the line has, got {costs!r}: a line with another start or stop has it"
            )
        from_start, from_stop = float(before * start.total), float(after * stop.total)
        return min(1.0, max(0.0, from_start / (from_start - from_stop)))


def _sine(first: Costs, second: Costs) -> float:
    """Sine of the angle between two pairs, at most 1: positive where the second has the smaller asymmetry.

    It is 0 on one ray, and costs of 0 are on every ray.
    """
    scale = first.total * second.total
    if scale == 0:
        return 0.0
    determinant = first.C_plus * second.C_minus - first.C_minus * second.C_plus
    return float(determinant) / scale
