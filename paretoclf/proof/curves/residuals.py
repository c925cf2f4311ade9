r"""Residuals that go into points and multipliers, by an approximate inverse and a bound on what it misses.

Let N(u) be a matrix that is affine over a piece, and B any matrix. If
:math:`\theta=\max_u\|(BN(u))^\top-I\|_\infty<1`, then for every right-hand side r there is a v with
:math:`N(u)^\top v=r`, exactly, and

.. math:: |v|\le|B|^\top\Big(|r|+\frac\theta{1-\theta}\max_i|r_i|\,\mathbf 1\Big) .

*Proof.* :math:`(BN)^\top=I+E` with :math:`\|E\|_\infty\le\theta`, so there is a w with :math:`(I+E)w=r`. From
:math:`w=r-Ew` follows :math:`\|w\|_\infty\le\|r\|_\infty/(1-\theta)`, and again
:math:`|w|\le|r|+\theta\|w\|_\infty`. Now :math:`v=B^\top w` solves it. :math:`\square` A maximum of a norm of what is
affine in u is at an end of the piece.

**Stationarity.** With :math:`N=[P;A]` there are e and w with :math:`Pe+A^\top w=r`: so :math:`(y-e,z-w)` is stationary,
whatever r is, without a bound of any variable. **Equations.** With :math:`N=A_e^\top` there is a d with
:math:`A_ed=r`: so x + d keeps the equations, also where their coefficients move.

It is used twice: first :math:`B^\top r` itself is subtracted, a polynomial, after which only about :math:`\theta r` is
left; then the bound of what is left widens the radius.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.proof.curves.polynomials import UNIT, UP, Polynomials

#: Nothing is proved where the inverse misses more than this.
_MOST = 0.9

#: Weight, in the inverse, of rows that move: the less they are used the less is missed.
_MOVING = 1e-4


@dataclass(frozen=True)
class ApproximateInverse:
    r"""A left inverse B of a matrix N at every u of a piece, and :math:`\theta`, by which it misses that.

    Attributes
    ----------
    matrix, size : arrays of shape (columns, rows)
        B and its absolute values.
    misses : float
        Theta; nothing is proved where it is infinite.
    moving : bool
        Whether N moves.
    """

    matrix: Array
    size: Array
    misses: float
    moving: bool

    @classmethod
    def of(cls, first: Array, last: Array) -> ApproximateInverse:
        """Left inverse for matrices between two, which are known within `_OF_ENDS` roundings of their entries.

        Examples
        --------
        >>> import numpy as np
        >>> from paretoclf.proof.curves.residuals import ApproximateInverse
        >>> found = ApproximateInverse.of(np.array([[1.0], [2.0]]), np.array([[1.0], [4.0]]))
        >>> 0.0 < found.misses < 1e-3, found.matrix.round(3).tolist()
        (True, [[1.0, 0.0]])
        """
        moves = (first != last).any(axis=1)
        weights = np.where(moves, _MOVING, 1.0)[:, None]
        middle = weights * (first + last) * 0.5
        try:
            found = np.asarray(np.linalg.pinv(middle) * weights.T, dtype=np.float64)
        except np.linalg.LinAlgError:
            found = np.zeros((first.shape[1], first.shape[0]))
        ends = (first, last) if moves.any() else (first,)
        misses = max(_missed(found, end) for end in ends)
        return cls(found, np.abs(found), misses if misses < _MOST else np.inf, bool(moves.any()))

    @property
    def works(self) -> bool:
        """Whether there is an exact solution for every right-hand side."""
        return bool(np.isfinite(self.misses))

    def solved(self, rest: Polynomials) -> Polynomials:
        """Solutions, nearly, as polynomials."""
        return rest.through(self.matrix.T, self.size.T)

    def bound(self, rest: Polynomials) -> Array:
        """Numbers that no entry of an exact solution is larger than, anywhere on the piece."""
        sizes = rest.largest()
        more = self.misses / (1.0 - self.misses) * sizes.max(initial=0.0) * UP
        terms = (len(sizes) + 4) * UNIT
        return np.asarray(self.size.T @ (sizes + more) * (UP + 4 * terms))


#: Roundings of the entries of a matrix at an end of a piece.
_OF_ENDS = 4


def _missed(found: Array, end: Array) -> float:
    """Upper bound of the norm of ``(B N)' - 1``, whatever rounding did to N and to the product."""
    with np.errstate(over="ignore", invalid="ignore"):
        product = found @ end
        product[np.diag_indices_from(product)] -= 1.0
        roundings = (found.shape[1] + _OF_ENDS + 4) * UNIT
        rounding = np.abs(found) @ np.abs(end)
        missed = np.abs(product) + roundings * (rounding + np.eye(len(product)))
        largest = float(missed.sum(axis=0).max(initial=0.0)) * (UP + 4 * roundings)
    return largest if np.isfinite(largest) else np.inf
