r"""The active-set polish: from an interior-point answer to the vertex it is close to.

An interior-point method stops at a small distance from every bound. For the dual of section 3 of Bach, Heckerman and
Horvitz (2006), :math:`\min \tfrac12\alpha^\top Q\alpha - 1^\top\alpha`, :math:`y^\top\alpha=0`,
:math:`0\le\alpha\le c`, the KKT conditions say more: a sample beyond its margin has :math:`\alpha_i=0` exactly, one
that violates it :math:`\alpha_i=c_i` exactly, and those on the margin solve the linear system

.. math::

   \begin{pmatrix}Q_{MM}&y_M\\y_M^\top&0\end{pmatrix}\begin{pmatrix}\alpha_M\\b\end{pmatrix}
   =\begin{pmatrix}1-Q_{ML}c_L\\-y_L^\top c_L\end{pmatrix}.

So: guess the three sets by comparing each multiplier with its slack, solve the system, exchange the samples that come
out on the wrong side, a few times. Where the margin samples are dependent the system is solved as the least
correction of the answer at hand, which keeps an interior point interior.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack, lstsq

from paretoclf.checks import Array
from paretoclf.gram import Gram
from paretoclf.samples import dense, largest
from paretoclf.solution import sides
from paretoclf.tolerances import POLISH_EXCHANGE, POLISH_MARGIN, POLISH_RANK

Index = npt.NDArray[np.intp]

#: Exchanges tried, and refinements of one linear system: a good guess needs one or two of each.
EXCHANGES = 12
REFINEMENTS = 6

#: Features beyond which w is no unknown of its own: the system would have a row and a column for each of them.
WIDE = 2000


@dataclass(frozen=True)
class Polished:
    """Refined multipliers and slope (None where the multipliers imply it), and whether they settled."""

    alpha: Array = field(repr=False)
    w: Array | None = field(repr=False)
    settled: bool


def polish(gram: Gram, y: Array, caps: Array, alpha: Array, b: float) -> Polished:
    """Refine a nearly optimal (alpha, b) on its active set. All caps must be positive.

    It is not ``settled`` where no choice of the three sets was consistent; the point is then only the last try.
    """
    alpha = np.clip(alpha, 0.0, caps)
    left, right = sides(y, caps, alpha, gram.matvec(y * alpha) + b)
    wide = not 0 < gram.quadratic.width <= min(gram.n, WIDE)
    to_margin = _to_margin_kernel if wide else _to_margin_features
    w: Array | None = None
    for _ in range(EXCHANGES):
        alpha = np.where(left, caps, np.where(right, 0.0, alpha))
        margin = ~(left | right)
        alpha, b, w, scores = to_margin(gram, y, alpha, b, np.flatnonzero(margin))
        slack = (y * scores - 1.0) / (1.0 + np.abs(scores))
        full = margin & (alpha > caps * (1 + POLISH_EXCHANGE))
        empty = margin & (alpha < -caps * POLISH_EXCHANGE)
        enter = (left & (slack > POLISH_EXCHANGE)) | (right & (slack < -POLISH_EXCHANGE))
        if not (full | empty | enter).any():
            off = float(np.abs(slack[margin]).max(initial=0.0))
            unbalanced = abs(float(y @ alpha)) / float(caps.sum())
            return Polished(np.clip(alpha, 0.0, caps), w, max(off, unbalanced) <= POLISH_EXCHANGE)
        left, right = (left & ~enter) | full, (right & ~enter) | empty
    return Polished(np.clip(alpha, 0.0, caps), w, False)


def _to_margin_kernel(
    gram: Gram, y: Array, alpha: Array, b: float, margin: Index
) -> tuple[Array, float, Array | None, Array]:
    """Move alpha[margin] and b until those samples have y f = 1 and the classes balance; scores with them."""
    scores = gram.matvec(y * alpha) + b
    if margin.size == 0:
        return alpha, b, None, scores
    signs = y[margin]
    Q = signs[:, None] * gram.block(margin) * signs
    unit = max(float(np.diagonal(Q).max()), np.finfo(float).tiny)
    correct = _solver(np.block([[Q / unit, signs[:, None]], [signs, np.zeros(1)]]))
    alpha = alpha.copy()
    for _ in range(REFINEMENTS):
        step = correct(np.append(1.0 - signs * scores[margin], -unit * float(y @ alpha)))
        alpha[margin] += step[:-1] / unit
        b += float(step[-1])
        scores = gram.matvec(y * alpha) + b
        if np.all(np.abs(1.0 - signs * scores[margin]) <= POLISH_MARGIN * (1.0 + np.abs(scores[margin]))):
            break
    return alpha, b, None, scores


def _to_margin_features(
    gram: Gram, y: Array, alpha: Array, b: float, margin: Index
) -> tuple[Array, float, Array | None, Array]:
    """As `_to_margin_kernel`, with w an unknown of its own.

    Scores through the multipliers lose as many digits as the multipliers cancel; scores through w do not. The system is
    ``w = X' (y alpha)``, ``y_M (X_M w + b) = 1``, ``y' alpha = 0``, in features scaled to at most 1.
    """
    X = gram.features
    reach = largest(X)
    w = X.T @ (y * alpha)
    scores = X @ w + b
    if margin.size == 0:
        return alpha, b, w, scores
    size = np.where(reach > 0, reach, 1.0)
    signs, d, m = y[margin], size.size, margin.size
    G = signs[:, None] * dense(X[margin]) / size
    S = np.zeros((d + m + 1, d + m + 1))
    np.fill_diagonal(S[:d, :d], 1.0 / size**2)
    S[:d, d : d + m], S[d : d + m, :d] = -G.T, G
    S[d : d + m, -1], S[-1, d : d + m] = signs, signs
    correct = _solver(S, singular=m > d + 1)  # more margins than w and b can set
    alpha = alpha.copy()
    missing = 1.0 - signs * scores[margin]
    for _ in range(REFINEMENTS):
        implied = X.T @ (y * alpha)
        step = correct(np.concatenate([(implied - w) / size, missing, [-float(y @ alpha)]]))
        w = w + step[:d] / size
        alpha[margin] += step[d:-1]
        b += float(step[-1])
        scores = X @ w + b
        missing = 1.0 - signs * scores[margin]
        if (np.abs(missing) <= POLISH_MARGIN * (1.0 + np.abs(scores[margin]))).all():
            break
    return alpha, b, w, scores


def _solver(S: Array, *, singular: bool = False) -> Callable[[Array], Array]:
    """Solver of S x = rhs: LU where S is regular, else least norm."""
    if not singular:
        lu, pivots, info = lapack.dgetrf(S)
        rcond = lapack.dgecon(lu, np.abs(S).sum(axis=0).max())[0] if info == 0 else 0.0
        if rcond > POLISH_RANK:
            return lambda rhs: np.asarray(lapack.dgetrs(lu, pivots, rhs)[0])
    return lambda rhs: np.asarray(lstsq(S, rhs, cond=POLISH_RANK, lapack_driver="gelsy")[0])
