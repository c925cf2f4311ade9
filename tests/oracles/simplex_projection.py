"""The projection onto a simplex, its multipliers, and their rates on one side of a point, in fractions.

The least ``|x - theta|^2`` over x >= 0 with ``sum(x) = total`` is ``x = max(theta - tau, 0)``. With the multipliers nu
of the sum and lam of the signs, ``2 (x - theta) + nu - lam = 0``: nu is ``2 tau``, and lam ``2 max(tau - theta, 0)``.
Along a direction d the rates are a projection of d, too: entries at 0 without a multiplier may only grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class OneSide:
    """Rates of the squared distance, of x, nu and lam along a direction, and up to where they hold (None: for ever)."""

    value: Fraction
    x: list[Fraction]
    nu: Fraction
    lam: list[Fraction]
    until: Fraction | None


def one_side(theta: Sequence[int], total: int, direction: Sequence[int]) -> OneSide:
    """Rates along a direction."""
    point = [Fraction(each) for each in theta]
    moved = [Fraction(each) for each in direction]
    tau = _threshold(point, [True] * len(point), Fraction(total))
    above = [each > tau for each in point]
    at_zero = [each == tau for each in point]
    beside = [k for k, each in enumerate(point) if each >= tau]
    rate_of_tau = _threshold([moved[k] for k in beside], [at_zero[k] for k in beside], Fraction(0))
    x, lam, ends = [], [], []
    for k, (here, own) in enumerate(zip(point, moved, strict=True)):
        relative = own - rate_of_tau
        inside = above[k] or (at_zero[k] and relative > 0)
        x.append(relative if inside else Fraction(0))
        lam.append(Fraction(0) if inside else -2 * relative)
        if (above[k] and relative < 0) or (here < tau and relative > 0):
            ends.append((tau - here) / relative)
    distance = [here - max(here - tau, Fraction(0)) for here in point]
    value = sum((2 * off * own for off, own in zip(distance, moved, strict=True)), Fraction(0))
    return OneSide(value, x, 2 * rate_of_tau, lam, min(ends, default=None))


def _threshold(point: list[Fraction], signed: list[bool], total: Fraction) -> Fraction:
    """The number that, taken from each entry, leaves this sum; of entries with a sign only what is above 0 counts."""
    free = [each for each, own in zip(point, signed, strict=True) if not own]
    kept = sorted((each for each, own in zip(point, signed, strict=True) if own), reverse=True)
    for count in range(len(kept) + 1):
        inside = [*free, *kept[:count]]
        if not inside:
            continue
        tau = (sum(inside, Fraction(0)) - total) / len(inside)
        below = count == len(kept) or kept[count] <= tau
        if below and (count == 0 or kept[count - 1] >= tau):
            return tau
    raise AssertionError("a threshold always exists")
