r"""The active-set polish of the 2nu-SVM: from an interior-point answer to the vertex it is close to.

With margin set M and the samples L at their caps, the optimum of Davenport et al. (2010), problem :math:`(D_{2\nu})`,
solves

.. math::

   \begin{pmatrix}Q_{MM}&y_M&-1\\y_M^\top&0&0\\1^\top&0&0\end{pmatrix}
   \begin{pmatrix}\alpha_M\\b\\\rho\end{pmatrix}
   =\begin{pmatrix}-Q_{ML}c_L\\-y_L^\top c_L\\\nu-1^\top c_L\end{pmatrix}.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lstsq

from paretoclf.checks import Array, Index
from paretoclf.gram import Gram
from paretoclf.tolerances import POLISH_EXCHANGE, POLISH_RANK

#: Exchanges tried, and refinements of one system.
EXCHANGES = 12
REFINEMENTS = 3


def polish_nu(gram: Gram, y: Array, nu: float, caps: Array, alpha: Array, b: float, rho: float) -> Array:
    """Refine multipliers on their active set.

    Parameters
    ----------
    gram, y, nu, caps
        The problem.
    alpha : array of shape (n,)
        A nearly optimal point.
    b, rho : float
        Its intercept and margin; rho positive.

    Returns
    -------
    array of shape (n,)
        Multipliers in their box; no better than the given ones where no choice of the sets was consistent.
    """
    slack = y * (gram.matvec(y * alpha) + b) - rho
    unit = max(rho, float(np.max(np.abs(slack))))
    left = (slack < 0) & ((caps - alpha) / caps < -slack / unit)
    right = (slack > 0) & (alpha / caps < slack / unit)
    for _ in range(EXCHANGES):
        alpha = np.where(left, caps, np.where(right, 0.0, alpha))
        margin = np.flatnonzero(~(left | right))
        alpha, b, rho = _on_margin(gram, y, nu, alpha, b, rho, margin)
        slack = y * (gram.matvec(y * alpha) + b) - rho
        unit = max(rho, float(np.max(np.abs(slack))))
        on = ~(left | right)
        full, empty = on & (alpha > caps * (1 + POLISH_EXCHANGE)), on & (alpha < -caps * POLISH_EXCHANGE)
        enter = (left & (slack > POLISH_EXCHANGE * unit)) | (right & (slack < -POLISH_EXCHANGE * unit))
        if not (full | empty | enter).any():
            break
        left, right = (left & ~enter) | full, (right & ~enter) | empty
    return np.clip(alpha, 0.0, caps)


def _on_margin(
    gram: Gram, y: Array, nu: float, alpha: Array, b: float, rho: float, margin: Index
) -> tuple[Array, float, float]:
    """Put the margin set on its margin, by least-norm corrections of the point at hand."""
    m = margin.size
    S = np.zeros((m + 2, m + 2))
    signs = y[margin]
    S[:m, :m] = signs[:, None] * gram.block(margin) * signs
    S[:m, m], S[m, :m] = signs, signs
    S[:m, m + 1], S[m + 1, :m] = -1.0, 1.0
    scale = np.append(np.full(m, 1.0 / max(float(np.sqrt(np.max(np.diag(S)[:m], initial=0.0))), 1e-300)), [1.0, 1.0])
    alpha = alpha.copy()
    for _ in range(REFINEMENTS):
        off = (y * (gram.matvec(y * alpha) + b) - rho)[margin]
        rhs = -np.concatenate([off, [float(y @ alpha), float(alpha.sum()) - nu]])
        step = scale * lstsq((scale[:, None] * S) * scale, scale * rhs, cond=POLISH_RANK, lapack_driver="gelsy")[0]
        alpha[margin] += step[:m]
        b, rho = b + float(step[m]), rho + float(step[m + 1])
    return alpha, b, rho
