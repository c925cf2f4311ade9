r"""How nearly a symmetric matrix is proved positive semidefinite: a diagonal D with ``P - D`` positive semidefinite.

Each connected block of P is proved alone. A block of one entry is that entry. Where the diagonal dominates the rest of
its row, exactly, the block is positive semidefinite. Else Cholesky's algorithm decides: if it ends in double precision
for :math:`P-\lambda I`, the smallest eigenvalue of P is at least :math:`\lambda-c`, with

.. math:: c=\frac{\gamma_{k+2}}{1-\gamma_{k+2}}\,\mathrm{tr}(P-\lambda I)+\varepsilon\max_iP_{ii},\qquad
   \gamma_k=\frac{k\varepsilon}{1-k\varepsilon},

for a block of k rows (S. M. Rump, *Verification of positive definiteness*, BIT 46 (2006), Corollary 2.4). A singular
block cannot pass with :math:`\lambda-c\ge0`; small ones are then factored in fractions. Large sparse ones are factored
as LDL', and the factors multiplied again: what they miss of P bounds its eigenvalues from below (Gershgorin).
"""

from __future__ import annotations

from fractions import Fraction
from math import fsum
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from paretoclf.common.checks import Array

_EPS = float(np.finfo(float).eps)

#: Rows up to which a block is factored as an array.
_DENSE = 1500

#: Rows up to which a block is factored in fractions.
_EXACT = 40

#: A shift below the smallest computed eigenvalue, in units of what rounding can make, until Cholesky's algorithm ends.
_MARGINS = (4.0, 64.0, 4096.0)


def least_curvature(P: Any, *, signs: bool = False) -> Array:
    """The diagonal of a proved D with P - D positive semidefinite, constant on each block of P that is connected.

    An entry is 0 or positive where the block is proved positive (semi)definite, and ``-inf`` where nothing is proved.
    Where only ``signs`` are asked for, it may be far from the largest such number, and takes no eigenvalues.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.problem.definite import least_curvature
    >>> [float(d) for d in least_curvature(np.diag([2.0, 0.0, -1.0]))]
    [2.0, 0.0, -1.0]
    >>> [float(d) for d in least_curvature(np.ones((2, 2)))]
    [0.0, 0.0]
    """
    P = sp.csr_array(P, dtype=np.float64)
    found = np.asarray(P.diagonal())
    if not P.data.all():
        P = P.copy()
        P.eliminate_zeros()
    if (P.indices == np.repeat(np.arange(found.size), np.diff(P.indptr))).all():
        return found
    count, label = connected_components(P, directed=False)
    order = np.argsort(label, kind="stable")
    blocks = np.split(order, np.flatnonzero(np.diff(label[order])) + 1)
    for block in blocks:
        if block.size > 1:
            found[block] = _of_block(P if count == 1 else sp.csr_array(P[block][:, block]), signs)
    return found


def _of_block(B: Any, signs: bool) -> float:
    """A proved lower bound of the eigenvalues of one connected block."""
    diagonal = np.asarray(B.diagonal())
    if B.shape[0] > _DENSE:
        return 0.0 if _dominated(B, diagonal) else _of_large(B, diagonal)
    M = B.toarray()
    least = _near_zero(M) if signs else None
    if least is None:
        least = _near(M, float(np.linalg.eigvalsh(M)[0]))
    if least < 0 and (_dominated(B, diagonal) or (B.shape[0] <= _EXACT and _exactly(M))):
        return 0.0
    return least


def _near(M: Array, eigenvalue: float) -> float:
    """The bound from a shift that is a little below the computed smallest eigenvalue."""
    for margin in _MARGINS:
        shift = eigenvalue - margin * _missed(M, 0.0)
        if _factored(M, shift):
            return shift - _missed(M, shift)
    return -np.inf


def _near_zero(M: Array) -> float | None:
    """The bound from a shift a little above 0, or a little below, where the matrix is about positive semidefinite."""
    for margin in (_MARGINS[0], -_MARGINS[0]):
        shift = margin * _missed(M, 0.0)
        if _factored(M, shift):
            return shift - _missed(M, shift)
    return None


def _missed(M: Array, shift: float) -> float:
    """By how much the smallest eigenvalue of a matrix may be below a shift at which it was factored."""
    k, diagonal = M.shape[0], M.diagonal()
    gamma = (k + 2) * _EPS / (1 - (k + 2) * _EPS)
    trace = float(np.abs(diagonal).sum()) + k * abs(shift)
    return float(gamma / (1 - gamma) * trace + _EPS * (np.abs(diagonal).max() + abs(shift)) + k * np.finfo(float).tiny)


def _factored(M: Array, shift: float) -> bool:
    try:
        return bool(np.isfinite(np.linalg.cholesky(M - shift * np.eye(M.shape[0]))).all())
    except np.linalg.LinAlgError:
        return False


def _dominated(B: Any, diagonal: Array) -> bool:
    """Whether every diagonal entry is at least the sum of the others in its row; the sign of `fsum` is exact."""
    ends = zip(B.indptr[:-1], B.indptr[1:], diagonal.tolist(), strict=True)
    return all(fsum([2 * d, *(-np.abs(B.data[a:b])).tolist()]) >= 0 and d >= 0 for a, b, d in ends)


def _exactly(M: Array) -> bool:
    """Whether a matrix is positive semidefinite, by elimination in fractions."""
    rows = [[Fraction(v) for v in row] for row in M.tolist()]
    for k in range(len(rows)):
        pivot = rows[k][k]
        if pivot < 0 or (pivot == 0 and any(rows[k][k + 1 :])):
            return False
        if pivot == 0:
            continue
        for i in range(k + 1, len(rows)):
            share = rows[k][i] / pivot
            if share:
                for j in range(i, len(rows)):
                    rows[i][j] -= share * rows[k][j]
    return True


def _of_large(B: Any, diagonal: Array) -> float:
    """A proved lower bound from sparse factors of B plus a small multiple of the identity, multiplied out again."""
    size = float(np.abs(diagonal).max()) + float(abs(B).sum(axis=1).max())
    for margin in (1e-14, 1e-12, 1e-10):
        shift = margin * size
        moved = sp.csc_array(B + sp.diags_array(np.full(diagonal.size, shift)))
        try:
            factors = splu(moved, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        except RuntimeError:
            continue
        pivots = factors.U.diagonal()
        if (factors.perm_r != factors.perm_c).any() or not (pivots > 0).all():
            continue
        L = sp.csr_array(factors.L)
        order = np.argsort(factors.perm_c)
        left = moved[order][:, order] - L @ sp.diags_array(pivots) @ L.T
        terms = abs(moved[order][:, order]) + abs(L) @ sp.diags_array(pivots) @ abs(L.T)
        longest = float(np.diff(L.indptr).max()) + 4
        missed = float((abs(left) + longest * 2 * _EPS * terms).sum(axis=1).max()) * (1 + 1e-9)
        return -missed - shift * (1 + 1e-9)
    return -np.inf
