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
from paretoclf.proof.verdicts.exact_bounds import ExactBounds

#: Beginning of an explanation where multipliers have twice the digits.
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
        With "feature" it is the weight of a constant feature 1, part of the norm.
    nu : float, optional
        Least sum of the multipliers where all :math:`\tau_i` are a free :math:`\rho\ge0`; no more than twice the sum of
        the caps of either class. Along a line (2,), at k points (k,).
    note : str
        Note that proofs add to their explanation, such as that the kernel is an approximation.
    kernel_rounding : array of shape (n,), optional
        `Gram.rounding`: what it can do is part of every proof then.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.points.soft_margin import SoftMargin
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
        """Make the problem of the samples and the kernel of a Gram, with its note and the rounding of its values."""
        return cls(y, gram.quadratic, caps, note=gram.note, kernel_rounding=gram.rounding, **others)

    @property
    def unit(self) -> SoftMargin:
        """Problem with weight 1 of the squared norm: caps, multipliers and values are divided by lam."""
        return self if self.caps is None else replace(self, caps=self.caps / self.lam, lam=1.0)

    def value_rounding(self, alpha: Array) -> Any:
        """Bound on what rounding of kernel values does to the dual value of multipliers (n,), or (n, k): shape (k,)."""
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
            Numbers that margins are compared with.
        """
        slopes, signs = self.Q.exactly(), exact(self.y)
        lam, tau = Fraction(self.lam), exact(target)
        given = exact(alpha).sum(axis=0)
        caps = None if self.caps is None else exact(self.caps)
        constant = Fraction(b)
        scores, norm2 = slopes.given(signs * given / lam, w)
        feasible = self.feasible(given, caps, self._class_sum(caps))
        _, lower_norm2 = slopes.of(signs * feasible / lam)
        if self.intercept == "feature":
            lower_norm2 = lower_norm2 + (signs @ feasible / lam) ** 2
            norm2 = norm2 + constant**2
        dual = sum(tau * feasible, _ZERO) - lam / 2 * lower_norm2
        primal = lam / 2 * norm2
        slack = _positive(tau - signs * (scores + constant))
        if self.nu is not None:
            # nu rho is subtracted from both objectives, and rho is tau.
            loss = sum(feasible, _ZERO) * tau[()]
            return ExactBounds(dual - loss, primal + caps @ slack - loss)
        if caps is not None:
            return ExactBounds(dual, primal + caps @ slack)
        if self.squares is not None:
            weight = exact(self.squares)
            dual = dual - sum(feasible**2 / weight) / 4
            return ExactBounds(dual, primal + weight @ slack**2)
        lowest, highest = min(scores[self.y > 0]), max(scores[self.y < 0])
        if lowest <= highest:
            raise ValueError("the slope separates nothing")
        return ExactBounds(dual, primal * (2 / (lowest - highest)) ** 2)

    def _class_sum(self, caps: Any) -> Any:
        """Sum of the multipliers of either class, where there is a nu; None where there is none.

        The caps are doubles: at the largest nu they may add up to a little less than half of it.
        """
        if caps is None or self.nu is None:
            return None
        return min(Fraction(self.nu) / 2, *class_sums(self.y, caps))

    def feasible(self, alpha: Any, caps: Any = None, total: Any = None) -> Any:
        """Return feasible multipliers next to some (n,) or (n, k), of doubles or of fractions; caps likewise, or none.

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
        shares = [np.where(own > goal, goal / np.where(own > 0, own, 1), 1) for own in sums]
        out = inside * np.where(positive if inside.ndim == 1 else positive[:, None], *shares)
        for side, own in zip((positive, ~positive), sums, strict=True):
            if total is not None and np.any(own < total):
                missing = np.maximum(total - own, nothing)
                out[side] += _moves_up(inside[side], caps[side], missing)
        return out

    def feasible_parts(self, parts: Array) -> Array:
        """Return feasible multipliers in two parts (2, n); an imbalance by rounding is subtracted from the second."""
        high, low = parts
        out = np.where(high + low < 0.0, 0.0, parts)
        if self.caps is not None:
            above = (high - self.caps) + low > 0.0
            at_caps = np.stack([self.caps, np.zeros_like(self.caps)])
            out = np.where(above, at_caps, out)
        if self.intercept == "free":
            excess = inner(out, self.y)
            heavier = self.y * excess > 0
            most = float(out[0, heavier].sum())
            out[1, heavier] -= out[0, heavier] * (abs(excess) / max(most, _TINY))
        return out


def _moves_up(alpha: Any, caps: Any, missing: Any) -> Any:
    """Moves of the multipliers of one class that add up to what is missing, in proportion to their distance from caps.

    Multipliers that are 0 are moved only where the others are not enough.
    """
    slack = caps - alpha
    off_bounds = np.where(alpha > 0, slack, _ZERO if slack.dtype == object else 0.0)
    slack = np.where(off_bounds.sum(axis=0) >= missing, off_bounds, slack)
    most = slack.sum(axis=0)
    return slack * np.minimum(missing / np.where(most > 0, most, 1), 1)


def _positive(numbers: Numbers) -> Numbers:
    """Positive parts."""
    return np.maximum(numbers, _ZERO)
