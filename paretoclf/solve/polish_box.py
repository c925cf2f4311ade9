r"""The active-set polish of a box QP with few equations: from an interior-point answer to the vertex it is close to.

For :math:`\min_\alpha\tfrac12\alpha^\top Q\alpha-p^\top\alpha` s.t. :math:`A\alpha=e`, :math:`0\le\alpha\le c`, with
multipliers :math:`\eta` and :math:`g=Q\alpha-p+A^\top\eta`: samples with :math:`g_i>0` are at 0, those with
:math:`g_i<0` (the set L) at their caps, and the rest, M, solves

.. math::

   \begin{pmatrix}Q_{MM}&A_M^\top\\A_M&0\end{pmatrix}\begin{pmatrix}\alpha_M\\\eta\end{pmatrix}
   =\begin{pmatrix}p-Q_{ML}c_L\\e-A_Lc_L\end{pmatrix}.

The 2nu-SVM has :math:`p=0`, the rows :math:`y` and :math:`-1` and :math:`\eta=(b,\rho)`; the quantile SVM
:math:`p=1` and no row; the biobjective margin problem infinite caps and, with squared slacks, a diagonal in Q.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import lstsq

from paretoclf.checks import Array, Index
from paretoclf.gram import Gram
from paretoclf.tolerances import POLISH_EXCHANGE, POLISH_RANK, TINY_CAP

#: Exchanges tried, and refinements of one system.
EXCHANGES = 12
REFINEMENTS = 3


@dataclass(frozen=True)
class BoxQP:
    """The problem of this module, ``Q = diag(y) (K + constant) diag(y) + diag(diagonal)``.

    Attributes
    ----------
    gram : Gram
        Samples and kernel.
    y, caps : array of shape (n,)
        Labels and upper bounds; all finite, or all infinite.
    target : array of shape (n,)
        p.
    rows : array of shape (k, n)
        Equations.
    sums : array of shape (k,)
        Their right-hand sides.
    constant : float
        What is added to the kernel.
    diagonal : array of shape (n,), optional
        What is added to the diagonal of Q.
    """

    gram: Gram = field(repr=False)
    y: Array = field(repr=False)
    caps: Array = field(repr=False)
    target: Array = field(repr=False)
    rows: Array = field(repr=False)
    sums: Array = field(repr=False)
    constant: float = 0.0
    diagonal: Array | None = field(default=None, repr=False)

    def gradient(self, alpha: Array, eta: Array) -> Array:
        """``Q alpha - p + A' eta``, shape (n,)."""
        coef = self.y * alpha
        product = self.gram.matvec(coef) + self.constant * float(coef.sum())
        extra = 0.0 if self.diagonal is None else self.diagonal * alpha
        return np.asarray(self.y * product + extra - self.target + self.rows.T @ eta)

    def unit(self, gradient: Array, eta: Array) -> float:
        """Size against which gradients are judged."""
        shifts = np.abs(self.rows.T @ eta)
        return max(float(np.max(v)) for v in (np.abs(self.target), shifts, np.abs(gradient), np.finfo(float).tiny))


def polish_box(problem: BoxQP, alpha: Array, eta: Array) -> Array:
    """Refine nearly optimal multipliers, and those of the equations, on their active set.

    They are those that were given where no choice of the sets was consistent.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf import Gram
    >>> from paretoclf.solve.polish_box import BoxQP, polish_box
    >>> gram, y = Gram(np.array([[2.0], [-1.0]])), np.array([1.0, -1.0])
    >>> problem = BoxQP(gram, y, np.ones(2), np.ones(2), np.zeros((0, 2)), np.zeros(0))
    >>> polish_box(problem, np.array([1e-7, 0.99999]), np.zeros(0))
    array([0., 1.])
    """
    caps, given = problem.caps, alpha
    bounded = bool(np.isfinite(caps).all())
    size = np.maximum(caps if bounded else np.full(caps.size, np.max(alpha)), np.finfo(float).tiny)
    g = problem.gradient(alpha, eta)
    unit = problem.unit(g, eta)
    left = (g < 0) & ((caps - alpha) / size < -g / unit)
    right = (g > 0) & (alpha / size < g / unit)
    # A solver does not see a cap this small: the side tells where its multiplier belongs.
    tiny = caps <= (TINY_CAP * float(np.max(caps)) if bounded else 0.0)
    left, right = np.where(tiny, g < 0, left), np.where(tiny, g >= 0, right)
    for _ in range(EXCHANGES):
        alpha = np.where(left, caps, np.where(right, 0.0, alpha))
        on = ~(left | right)
        alpha, eta = _on_margin(problem, alpha, eta, np.flatnonzero(on))
        g = problem.gradient(alpha, eta)
        unit = problem.unit(g, eta)
        full, empty = on & (alpha > caps * (1 + POLISH_EXCHANGE)), on & (alpha < -size * POLISH_EXCHANGE)
        enter = (left & (g > POLISH_EXCHANGE * unit)) | (right & (g < -POLISH_EXCHANGE * unit))
        if not (full | empty | enter).any():
            return np.clip(alpha, 0.0, caps)
        left, right = (left & ~enter) | full, (right & ~enter) | empty
    return given


def _on_margin(problem: BoxQP, alpha: Array, eta: Array, margin: Index) -> tuple[Array, Array]:
    """Put the margin set on its margin, by least-norm corrections of the point at hand."""
    m, k = margin.size, eta.size
    if m + k == 0:
        return alpha, eta
    S = np.zeros((m + k, m + k))
    signs = problem.y[margin]
    S[:m, :m] = signs[:, None] * (problem.gram.block(margin) + problem.constant) * signs
    if problem.diagonal is not None:
        S[np.arange(m), np.arange(m)] += problem.diagonal[margin]
    S[m:, :m] = problem.rows[:, margin]
    S[:m, m:] = S[m:, :m].T
    scale = np.ones(m + k)
    scale[:m] /= max(float(np.sqrt(np.max(np.diag(S)[:m], initial=0.0))), 1e-300)
    alpha = alpha.copy()
    for _ in range(REFINEMENTS):
        off = problem.gradient(alpha, eta)[margin]
        rhs = -np.concatenate([off, problem.rows @ alpha - problem.sums])
        step = scale * lstsq((scale[:, None] * S) * scale, scale * rhs, cond=POLISH_RANK, lapack_driver="gelsy")[0]
        alpha[margin] += step[:m]
        eta = eta + step[m:]
    return alpha, eta
