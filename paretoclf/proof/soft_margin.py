"""The problem that is judged and proved: of samples with labels, with hinge or squared slacks or none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.problem.exact_sums import inner
from paretoclf.problem.gram import Gram
from paretoclf.problem.operator import Quadratic
from paretoclf.problem.operator.fractions import exact
from paretoclf.problem.units import class_sums
from paretoclf.proof.exact import ExactBounds

#: What an explanation begins with where multipliers have twice the digits.
PRECISELY = "For multipliers in twice double precision."
#: Fractions, in an array of objects.
Numbers = Any

_ZERO: Numbers = Fraction(0)
_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class SoftMargin:
    r"""A support vector machine: at a point, or along a line on which caps and nu are affine.

    It is :math:`\min\frac\lambda2\|w\|^2+\sum_i(c_i\xi_i\text{ or }C_i\xi_i^2)-\nu\rho` with
    :math:`y_if(x_i)\ge\tau_i-\xi_i`; its multipliers imply :math:`w=\frac1\lambda\sum_iy_i\alpha_ix_i`.

    Attributes
    ----------
    y : array of shape (n,)
    Q : Quadratic
        Kernel values and labels of the samples; positive semidefinite.
    caps : array of shape (n,), optional
        Costs c of the slacks; None where multipliers have no upper bound. Along a line (2, n): at t = 0 and at t = 1.
        At k points that are judged together (n, k).
    squares : array of shape (n,), optional
        Costs C of their squares. Without either there is no slack, and the primal point is the nearest feasible
        multiple of the slope.
    lam : float
    intercept : "free", "none" or "feature"
        The last: the weight of a constant feature 1, part of the norm.
    nu : float, optional
        Least sum of the multipliers where all :math:`\tau_i` are a free :math:`\rho\ge0`; no more than twice the sum of
        the caps of either class. Along a line (2,), at k points (k,).
    note : str
        What proofs add where they explain themselves, such as that the kernel is an approximation.
    kernel_rounding : array of shape (n,), optional
        `Gram.rounding`: what it can do is part of every proof then.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.soft_margin import SoftMargin
    >>> from paretoclf.problem.operator import Features
    >>> problem = SoftMargin(np.array([-1.0, 1.0]), Features(np.array([[-1.0], [1.0]])), np.ones(2))
    >>> print(*problem.bounds(np.full((1, 2), 0.375), 0.0))
    15/32 25/32
    """

    y: Array
    Q: Quadratic
    caps: Array | None = None
    squares: Array | None = None
    lam: float = 1.0
    intercept: str = "free"
    nu: Any = None
    note: str = ""
    kernel_rounding: Array | None = None

    @classmethod
    def of(cls, gram: Gram, y: Array, caps: Array | None = None, **others: Any) -> SoftMargin:
        """The problem of the samples and the kernel of a Gram, with what proofs must say of that."""
        return cls(y, gram.quadratic, caps, note=gram.note, kernel_rounding=gram.rounding, **others)

    @property
    def unit(self) -> SoftMargin:
        """The same over lam, where the weight of the squared norm is 1: so are multipliers and values."""
        return self if self.caps is None else replace(self, caps=self.caps / self.lam, lam=1.0)

    def value_rounding(self, alpha: Array) -> Any:
        """What rounding of kernel values makes of the dual value of multipliers (n,) or (n, k): a number, or (k,)."""
        if self.kernel_rounding is None:
            return np.zeros(alpha.shape[1:])[()]
        return (0.5 / self.lam) * (self.kernel_rounding @ np.abs(alpha)) ** 2

    def bounds(self, alpha: Any, b: float, w: Array | None = None, target: Any = 1.0) -> ExactBounds:
        """Both objectives at points next to those given, in fractions.

        The primal point is the given one with its least slacks. The dual point is the given one moved into its
        constraints: clipped to the box, and each class scaled to the sum that it must have.

        Parameters
        ----------
        alpha : array of shape (p, n)
            Multipliers, as sums of p parts. In their box, and with the sums of the two classes that the intercept asks
            for, they are the dual point.
        b : float
        w : array of shape (d,), optional
            Slope of the primal point, where there are features; by default the one that alpha implies.
        target : number or array of shape (n,)
            What margins are compared with.
        """
        slopes, sign, lam, tau = self.Q.exactly(), exact(self.y), Fraction(self.lam), exact(target)
        given, cap = exact(alpha).sum(axis=0), None if self.caps is None else exact(self.caps)
        feature, constant = self.intercept == "feature", Fraction(b)
        scores, norm2 = slopes.given(sign * given / lam, w)
        # The caps are doubles: at the largest nu they may add up to a little less than half of it.
        total = None if cap is None or self.nu is None else min(Fraction(self.nu) / 2, *class_sums(self.y, cap))
        made = self.feasible(given, cap, total)
        lower = slopes.of(sign * made / lam)[1] + feature * (sign @ made / lam) ** 2
        dual, primal = sum(tau * made, _ZERO) - lam / 2 * lower, lam / 2 * (norm2 + feature * constant**2)
        slack = _positive(tau - sign * (scores + constant))
        if self.nu is not None:
            loss = sum(made, _ZERO) * tau[()]  # as much is taken off both objectives
            return ExactBounds(dual - loss, primal + cap @ slack - loss)
        if cap is not None:
            return ExactBounds(dual, primal + cap @ slack)
        if self.squares is not None:
            weight = exact(self.squares)
            return ExactBounds(dual - sum(made**2 / weight) / 4, primal + weight @ slack**2)
        distance = min(scores[self.y > 0]) - max(scores[self.y < 0])
        if distance <= 0:
            raise ValueError("the slope separates nothing")
        return ExactBounds(dual, primal * (2 / distance) ** 2)

    def feasible(self, alpha: Any, caps: Any = None, total: Any = None) -> Any:
        """Feasible multipliers next to some (n,) or (n, k), of doubles or of fractions; caps likewise, or none.

        They are clipped, and the larger class is scaled down where the intercept is free. Where each class must have a
        ``total``, no more than its caps add up to, and has less, those are moved up that are off their bounds, if that
        suffices: at the optimum only these cost nothing.
        """
        nothing: Any = _ZERO if alpha.dtype == object else 0.0
        inside = np.maximum(alpha, nothing)
        if caps is not None:
            inside = np.minimum(inside, caps)
        if self.intercept != "free":
            return inside
        positive, sums = self.y > 0, class_sums(self.y, inside)
        goal = np.minimum(*sums) if total is None else total
        shares = (np.where(now > goal, goal / np.where(now > 0, now, 1), 1) for now in sums)
        out = inside * np.where(positive if inside.ndim == 1 else positive[:, None], *shares)
        for side, now in zip((positive, ~positive), sums, strict=True):
            if total is not None and np.any(now < total):
                room, missing = caps[side] - inside[side], np.maximum(total - now, nothing)
                free = np.where(inside[side] > 0, room, nothing)
                room = np.where(free.sum(axis=0) >= missing, free, room)
                most = room.sum(axis=0)
                out[side] += room * np.minimum(missing / np.where(most > 0, most, 1), 1)
        return out

    def feasible_parts(self, parts: Array) -> Array:
        """The same of multipliers in two parts (2, n): what rounding leaves of balance is taken off the second."""
        out = np.where(parts[0] + parts[1] < 0.0, 0.0, parts)
        if self.caps is not None:
            above = (parts[0] - self.caps) + parts[1] > 0.0
            out = np.where(above, np.stack([self.caps, np.zeros_like(self.caps)]), out)
        if self.intercept == "free":
            excess = inner(out, self.y)
            heavier = self.y * excess > 0
            most = float(out[0, heavier].sum())
            out[1, heavier] -= out[0, heavier] * (abs(excess) / max(most, _TINY))
        return out


def _positive(x: Numbers) -> Numbers:
    return np.maximum(x, _ZERO)
