r"""The active-set polish: from an interior-point answer to the vertex it is close to.

An interior-point method stops at a small distance from every bound. For a box QP with few equations,
:math:`\min_\alpha\tfrac12\alpha^\top Q\alpha-p^\top\alpha` s.t. :math:`A\alpha=e`, :math:`0\le\alpha\le c`, with
multipliers :math:`\eta` and :math:`g=Q\alpha-p+A^\top\eta`, the KKT conditions say more: samples with :math:`g_i>0`
are at 0 exactly, those with :math:`g_i<0` (the set L) at their caps, and the rest, M, solves

.. math::

   \begin{pmatrix}Q_{MM}&A_M^\top\\A_M&0\end{pmatrix}\begin{pmatrix}\alpha_M\\\eta\end{pmatrix}
   =\begin{pmatrix}p-Q_{ML}c_L\\e-A_Lc_L\end{pmatrix}.

So: guess the three sets by comparing each multiplier with its g, solve the system, exchange the samples that come out
on the wrong side, a few times. Where the margin samples are dependent the system is solved as the least correction of
the answer at hand, which keeps an interior point interior.

The 2C-SVM (section 3 of Bach, Heckerman and Horvitz 2006) has :math:`p=1`, the row y and :math:`\eta=b`; the 2nu-SVM
:math:`p=0`, the rows y and -1 and :math:`\eta=(b,\rho)`; the quantile SVM :math:`p=1` and no row; the biobjective
margin problem infinite caps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import lapack, lstsq

from paretoclf.common.checks import Array, Index
from paretoclf.common.tolerances import POLISH_EXCHANGE, POLISH_MARGIN, POLISH_RANK, TINY_CAP
from paretoclf.problem.operator import Features, Quadratic
from paretoclf.problem.operator.signed import Signed
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.problem.samples import dense, largest

#: Exchanges tried, and refinements of one linear system: a good guess needs one or two of each.
EXCHANGES = 12
REFINEMENTS = 6

#: Features beyond which w is no unknown of its own: the system would have a row and a column for each of them.
WIDE = 2000

_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Polished:
    """Refined multipliers and slope (None where the multipliers imply it), and whether they settled."""

    alpha: Array = field(repr=False)
    w: Array | None = field(repr=False)
    settled: bool


def polish(problem: ParametricQP, alpha: Array, eta: Array, reach: Array | None = None) -> Polished:
    """Refine nearly optimal multipliers, and those of the equations, on their active set.

    It is not ``settled`` where no choice of the three sets was consistent; the point is then only the last try.

    Parameters
    ----------
    problem : ParametricQP
        A box QP of samples, at t = 0. Its caps are all finite, or all infinite.
    alpha : array of shape (n,)
    eta : array of shape (k,)
    reach : array of shape (n,), optional
        What each multiplier can reach; by default its cap.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.problem.parametric_qp import ParametricQP
    >>> from paretoclf.problem.operator import Features
    >>> from paretoclf.problem.operator.signed import Signed
    >>> from paretoclf.solve.polish import polish
    >>> P = Signed(Features(np.array([[2.0], [-1.0]])), np.array([1.0, -1.0]))
    >>> problem = ParametricQP.box(P, np.ones(2), np.zeros((0, 2)), np.ones((2, 2)))
    >>> polish(problem, np.array([1e-7, 0.99999]), np.zeros(0)).alpha
    array([0., 1.])
    """
    system, caps = _System.of(problem), problem.upper[0, : problem.n]
    bounded, alpha = bool(np.isfinite(caps).all()), np.clip(alpha, 0.0, caps)
    size = np.maximum(caps if bounded else np.full(caps.size, np.max(alpha)), _TINY)
    reach = size if reach is None else reach
    g = system.gradient(alpha, eta)
    unit = system.unit(g, eta)
    left = (g < 0) & (caps - alpha < -g / unit * reach)
    right = (g > 0) & (alpha < g / unit * reach)
    # A solver does not see a cap this small: the side tells where its multiplier belongs.
    tiny = caps <= (TINY_CAP * float(np.max(reach)) if bounded else 0.0)
    left, right = np.where(tiny, g < 0, left), np.where(tiny, g >= 0, right)
    to_margin, w = system.with_slope if system.features is not None else system.without_slope, None
    for _ in range(EXCHANGES):
        alpha = np.where(left, caps, np.where(right, 0.0, alpha))
        on = ~(left | right)
        alpha, eta, w, g = to_margin(alpha, eta, np.flatnonzero(on))
        off = g / system.size(g, eta)
        full, empty = on & (alpha > caps * (1 + POLISH_EXCHANGE)), on & (alpha < -size * POLISH_EXCHANGE)
        enter = (left & (off > POLISH_EXCHANGE)) | (right & (off < -POLISH_EXCHANGE))
        if not (full | empty | enter).any():
            missed = np.abs(system.rows @ alpha - system.sums).max(initial=0.0) / float(size.sum())
            settled = max(float(np.abs(off[on]).max(initial=0.0)), missed) <= POLISH_EXCHANGE
            return Polished(np.clip(alpha, 0.0, caps), w, settled)
        left, right = (left & ~enter) | full, (right & ~enter) | empty
    return Polished(np.clip(alpha, 0.0, caps), w, False)


#: Multipliers, those of the equations, the slope where it is an unknown, and the gradient.
_Point = tuple[Array, Array, Array | None, Array]


@dataclass(frozen=True)
class _System:
    """The problem at one point: ``Q = diag(sign) quadratic diag(sign)``, p (n,), A (k, n) and e (k,)."""

    quadratic: Quadratic
    sign: Array
    target: Array
    rows: Array
    sums: Array

    @classmethod
    def of(cls, problem: ParametricQP) -> _System:
        form: Signed = problem.P
        return cls(form.quadratic, form.sign, -problem.q[0], problem.A, problem.lower[0, problem.n :])

    @property
    def features(self) -> Features | None:
        """Where w is an unknown of its own: not with a kernel matrix, nor with very many features."""
        Q = self.quadratic
        return Q if isinstance(Q, Features) and Q.width <= min(Q.n, WIDE) else None

    def gradient(self, alpha: Array, eta: Array) -> Array:
        """``Q alpha - p + A' eta``, shape (n,)."""
        return np.asarray(self.sign * self.quadratic.times(self.sign * alpha) - self.target + self.rows.T @ eta)

    def unit(self, gradient: Array, eta: Array) -> float:
        """Unit of gradients: the largest margin asked for; where none is, the largest of their parts."""
        asked = float(np.abs(self.target).max(initial=0.0))
        shifts = np.abs(self.rows.T @ eta).max(initial=0.0)
        return asked if asked > 0.0 else max(float(shifts), float(np.abs(gradient).max(initial=0.0)), _TINY)

    def size(self, gradient: Array, eta: Array) -> Array:
        """Sum of the sizes of the terms of each gradient entry, shape (n,)."""
        return self.unit(gradient, eta) + np.abs(gradient + self.target)

    def without_slope(self, alpha: Array, eta: Array, margin: Index) -> _Point:
        """Move alpha[margin] and eta until the gradient of these is 0 and the equations hold."""
        g = self.gradient(alpha, eta)
        m, k = margin.size, eta.size
        if m + k == 0:
            return alpha, eta, None, g
        signs, A = self.sign[margin], self.rows[:, margin]
        S = np.zeros((m + k, m + k))
        S[:m, :m] = signs[:, None] * self.quadratic.block(margin) * signs
        unit = max(float(np.diagonal(S).max()), _TINY)
        S[:m, :m] /= unit
        S[m:, :m], S[:m, m:] = A, A.T
        correct, alpha = _solver(S, singular=m == 0), alpha.copy()
        for _ in range(REFINEMENTS):
            step = correct(-np.concatenate([g[margin], unit * (self.rows @ alpha - self.sums)]))
            alpha[margin] += step[:m] / unit
            eta = eta + step[m:]
            g = self.gradient(alpha, eta)
            if (np.abs(g[margin]) <= POLISH_MARGIN * self.size(g, eta)[margin]).all():
                break
        return alpha, eta, None, g

    def with_slope(self, alpha: Array, eta: Array, margin: Index) -> _Point:
        """As `without_slope`, with w an unknown of its own.

        Scores through the multipliers lose as many digits as the multipliers cancel; scores through w do not. The
        system is ``w = X' (sign alpha)``, ``sign_M X_M w + A_M' eta = p_M``, ``A alpha = e``, in features scaled to at
        most 1.
        """
        assert self.features is not None
        X = self.features.X
        w = np.asarray(X.T @ (self.sign * alpha))

        def gradient() -> Array:
            return np.asarray(self.sign * (X @ w) - self.target + self.rows.T @ eta)

        g, m, k, d = gradient(), margin.size, eta.size, w.size
        if m == 0:
            return alpha, eta, w, g
        reach = largest(X)
        size, A = np.where(reach > 0, reach, 1.0), self.rows[:, margin]
        G = self.sign[margin][:, None] * dense(X[margin]) / size
        S = np.zeros((d + m + k, d + m + k))
        np.fill_diagonal(S[:d, :d], 1.0 / size**2)
        S[:d, d : d + m], S[d : d + m, :d] = -G.T, G
        S[d : d + m, d + m :], S[d + m :, d : d + m] = A.T, A
        correct = _solver(S, singular=m > d + k)  # more margins than w and eta can set
        alpha = alpha.copy()
        for _ in range(REFINEMENTS):
            implied = X.T @ (self.sign * alpha)
            step = correct(np.concatenate([(implied - w) / size, -g[margin], self.sums - self.rows @ alpha]))
            w = w + step[:d] / size
            alpha[margin] += step[d : d + m]
            eta = eta + step[d + m :]
            g = gradient()
            if (np.abs(g[margin]) <= POLISH_MARGIN * self.size(g, eta)[margin]).all():
                break
        return alpha, eta, w, g


def _solver(S: Array, *, singular: bool = False) -> Callable[[Array], Array]:
    """Solver of S x = rhs: LU where S is regular, else least norm."""
    if not singular:
        lu, pivots, info = lapack.dgetrf(S)
        rcond = lapack.dgecon(lu, np.abs(S).sum(axis=0).max())[0] if info == 0 else 0.0
        if rcond > POLISH_RANK:
            return lambda rhs: np.asarray(lapack.dgetrs(lu, pivots, rhs)[0])
    return lambda rhs: np.asarray(lstsq(S, rhs, cond=POLISH_RANK, lapack_driver="gelsy")[0])
