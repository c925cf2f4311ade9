r"""Proofs that symmetric matrices are about positive semidefinite: a diagonal D with ``P - D`` positive semidefinite.

Each connected block of P is proved alone. A block of one entry is that entry. Where the diagonal dominates the rest of
its row, exactly, the block is positive semidefinite. Else Cholesky's algorithm decides: if it ends in double precision
for :math:`P-\lambda I`, the smallest eigenvalue of P is at least :math:`\lambda-c`, with

.. math:: c=\frac{\gamma_{k+2}}{1-\gamma_{k+2}}\,\mathrm{tr}(P-\lambda I)+\varepsilon\max_iP_{ii},\qquad
   \gamma_k=\frac{k\varepsilon}{1-k\varepsilon},

for a block of k rows (S. M. Rump, *Verification of positive definiteness*, BIT 46 (2006), Corollary 2.4). A singular
block cannot pass with :math:`\lambda-c\ge0`; small ones are then factored in fractions. Large sparse ones are factored
as LDL', and the factors multiplied again: their residual bounds the eigenvalues of P from below (Gershgorin).

Whether a block is positive semidefinite does not depend on the units of its variables, and neither do the errors of
Cholesky's algorithm: an entry is off by no more than :math:`\gamma_{k+1}/(1-\gamma_{k+1})\sqrt{P_{ii}P_{jj}}` (J.
Demmel). So a block is also tried in units, powers of two, in which its diagonal is about 1. It is positive semidefinite
if the algorithm ends after the share :math:`k\gamma_{k+2}/(1-\gamma_{k+2})+2\varepsilon` of its diagonal is subtracted.

**Rounding of the entries** (`rounding_shares`): of a positive semidefinite matrix whose entries were rounded, or summed
up, the diagonal is a little too small. A share s of it is added, the same in a whole block, until the block is proved.
What needs more than ``PSD_SHARE`` times k squared of the rounding unit was not rounded by double precision.
"""

from __future__ import annotations

from fractions import Fraction
from math import fsum
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from paretoclf.common.checks import Array, Index
from paretoclf.common.tolerances import PSD_SHARE

_EPS = float(np.finfo(float).eps)

#: Rows up to which a block is factored as an array.
_DENSE = 1500

#: Rows up to which a block is factored in fractions.
_EXACT = 40

#: A shift below the smallest computed eigenvalue, in units of what rounding can make, until Cholesky's algorithm ends.
_MARGINS = (4.0, 64.0, 4096.0)

#: Numbers subtracted from the unit diagonal of a large block before it is factored; the residual may be as large.
_SUBTRACTED = (1e-13, 1e-11, 1e-9)

#: A share of the diagonal is proved with this many times the rounding of the proof: other processors round otherwise.
_TO_SPARE = 2.0


def least_curvature(P: Any, *, signs: bool = False) -> Array:
    """Diagonal of a proved D with P - D positive semidefinite, constant on each connected block of P.

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
    P = _by_rows(P)
    found = np.asarray(P.diagonal())
    for block, B in _connected(P):
        found[block] = _of_block(B, signs)
    return found


def least_eigenvalue(M: Array) -> float:
    """Lower bound of the eigenvalues of a symmetric matrix, near the smallest one; ``-inf`` where nothing is proved.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.problem.definite import least_eigenvalue
    >>> round(least_eigenvalue(np.array([[2.0, 1.0], [1.0, 2.0]])), 9)
    1.0
    """
    return _below(M, float(np.linalg.eigvalsh(M)[0]), _MARGINS)


def strong_convexity(P: Any) -> Array:
    """Diagonal of a proved C with P - C positive semidefinite, as `least_curvature`, and never negative.

    Where rounding left next to nothing of the smallest eigenvalue, C may still be a tiny multiple of the diagonal of P.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.problem.definite import strong_convexity
    >>> [bool(c > 0) for c in strong_convexity(np.array([[1.0, 1.0], [1.0, 1.0 + 1e-14]]))]
    [True, True]
    >>> strong_convexity(np.ones((2, 2))).tolist()
    [0.0, 0.0]
    """
    P = _by_rows(P)
    found = np.maximum(least_curvature(P), 0.0)
    for block, B in _connected(P):
        scaled = _scaled(B) if found[block[0]] == 0.0 and block.size <= _DENSE else None
        if scaled is not None and _by_cholesky(scaled, 2.0):  # twice its rounding is subtracted: once is left
            found[block] = 0.999 * _rounding(block.size) * B.diagonal()
    return found


def rounding_shares(P: Any) -> Array:
    """Find the share of itself by which each diagonal entry is enlarged until P is proved positive semidefinite.

    Parameters
    ----------
    P : array or sparse matrix of shape (n, n)
        Symmetric.

    Returns
    -------
    array of shape (n,)
        0 where the connected block of the entry is proved as it is. Else the least that was proved of ``PSD_SHARE``
        times k squared of the rounding unit, for a block of k rows, and of what halving makes of that; and nan where
        none does, or a diagonal entry is negative, or 0 beside others in its row.

    Examples
    --------
    Of a correlation of 1, and of one that is rounded to a little more, and to a lot more:

    >>> import numpy as np
    >>> from paretoclf.problem.definite import rounding_shares
    >>> [float(rounding_shares(np.array([[1.0, r], [r, 1.0]]))[0]) for r in (1.0, 1 + 1e-15, 1 + 1e-8)]
    [0.0, 1.7763568394002505e-15, nan]
    """
    P = _by_rows(P)
    shares = np.where(least_curvature(P, signs=True) < 0.0, np.nan, 0.0)
    if np.isnan(shares).any():
        for block, B in _connected(P):
            if np.isnan(shares[block[0]]):
                shares[block] = _share(B)
    return shares


def lacking(P: Any, blocks: Array) -> Array:
    """Find numbers to add to the diagonal of P that prove it positive semidefinite, in some connected blocks.

    Parameters
    ----------
    P : array or sparse matrix of shape (n, n)
        Symmetric.
    blocks : bool array of shape (n,)
        Rows for which it is asked; 0 in the others.

    Returns
    -------
    array of shape (n,)
        One number in a whole block, not much more than minus its smallest eigenvalue; infinite where nothing is proved.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.problem.definite import lacking
    >>> lacking(np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([True, True])).round(9).tolist()
    [1.0, 1.0]
    """
    P = _by_rows(P)
    found = np.where(blocks, np.maximum(0.0, -P.diagonal()), 0.0)
    for block, B in _connected(P):
        if blocks[block[0]]:
            found[block] = _lacking(B)
    return found


def _lacking(B: Any) -> float:
    """Number to add to the diagonal of one connected block; infinite where nothing is proved."""
    least = _of_block(B, False)
    unit = B.shape[0] ** 2 * _EPS * float(abs(B).max())
    for margin in (0.0, *_MARGINS):
        more = max(0.0, -least) + margin * unit
        if np.isfinite(more) and _of_block(sp.csr_array(_moved(B, more)), True) >= 0.0:
            return float(more)
    return np.inf


def _moved(B: Any, shift: float) -> Any:
    """Add a number to each entry of the diagonal of a sparse block."""
    return B + sp.diags_array(np.full(B.shape[0], shift))


def enlarged(P: Any, shares: Array) -> Any:
    """Enlarge each diagonal entry of P by a share of itself.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.problem.definite import enlarged
    >>> enlarged(np.eye(2), np.array([0.0, 0.5])).toarray().tolist()
    [[1.0, 0.0], [0.0, 1.5]]
    """
    P = sp.csc_array(P, dtype=np.float64)
    return sp.csc_array(P + sp.diags_array(shares * P.diagonal()))


def _by_rows(P: Any) -> Any:
    """Take a symmetric matrix by rows: one by columns is that, turned."""
    if sp.issparse(P) and P.format == "csc":
        P = P.T
    return sp.csr_array(P, dtype=np.float64)


def connected_blocks(P: Any) -> list[Index]:
    """Rows of each connected block of a symmetric matrix, in order; a row without a 0 connects all."""
    if sp.issparse(P) and (np.diff(P.indptr) == P.shape[0]).any():
        return [np.arange(P.shape[0])]
    _, label = connected_components(sp.csr_array(P), directed=False)
    order = np.argsort(label, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(label[order])) + 1)


def _connected(P: Any) -> list[tuple[Index, Any]]:
    """Connected blocks of more than one row: their rows, and the blocks."""
    if not P.data.all():
        P = P.copy()
        P.eliminate_zeros()
    if (P.indices == np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))).all():
        return []
    blocks = connected_blocks(P)
    if len(blocks) == 1:
        return [(blocks[0], P)]
    return [(each, sp.csr_array(P[each][:, each])) for each in blocks if each.size > 1]


def _of_block(B: Any, signs: bool) -> float:
    """Prove a lower bound of the eigenvalues of one connected block."""
    if B.shape[0] > _DENSE:
        return 0.0 if _semidefinite(B) else _of_large(B)
    M = B.toarray()
    least = _below(M, 0.0, (-_MARGINS[0], _MARGINS[0])) if signs else -np.inf
    if least == -np.inf:
        least = _below(M, float(np.linalg.eigvalsh(M)[0]), _MARGINS)
    if least < 0 and (_semidefinite(B) or (B.shape[0] <= _EXACT and _exactly(M))):
        return 0.0
    return least


def _share(B: Any) -> float:
    """Share of its diagonal that, added to it, proves a block; nan where that is no rounding."""
    if not (B.diagonal() > 0.0).all():
        return np.nan
    most = PSD_SHARE * B.shape[0] ** 2 * _EPS
    halvings = int(np.log2(most / _EPS))

    def proved(halved: int, spare: float = _TO_SPARE) -> bool:
        shares = np.full(B.shape[0], most / 2**halved)
        return _semidefinite(sp.csr_array(enlarged(B, shares)), spare)

    if not proved(0):
        return float(most) if proved(0, 1.0) else np.nan
    low, high = 0, halvings + 1  # proved, and not proved
    while high - low > 1:
        middle = (low + high) // 2
        if proved(middle):
            low = middle
        else:
            high = middle
    return float(most / 2**low)


def _semidefinite(B: Any, spare: float = 1.0) -> bool:
    """Whether a block is proved positive semidefinite in units of its own, with so many times the rounding."""
    diagonal = np.asarray(B.diagonal())
    large = B.shape[0] > _DENSE
    if large and _dominated(B, diagonal):
        return True
    scaled = _scaled(B)
    if scaled is not None and (_by_sparse_factors if large else _by_cholesky)(scaled, spare):
        return True
    return not large and _dominated(B, diagonal)


def _scaled(B: Any) -> Any:
    """Block in units in which its diagonal is about 1; None where there are no such units."""
    diagonal = np.asarray(B.diagonal())
    if not (diagonal > 0.0).all():
        return None
    unit = np.ldexp(1.0, -(np.frexp(diagonal)[1] // 2))
    scaled = sp.csr_array(B, copy=True)
    with np.errstate(over="ignore"):
        scaled.data *= np.repeat(unit, np.diff(scaled.indptr))
        scaled.data *= unit[scaled.indices]
    return scaled if np.isfinite(scaled.data).all() else None


def _rounding(k: int) -> float:
    """Share of the diagonal of k rows that must be subtracted for a proof by Cholesky's algorithm."""
    gamma = (k + 2) * _EPS / (1 - (k + 2) * _EPS)
    return k * gamma / (1 - gamma) + 2 * _EPS


def _by_cholesky(scaled: Any, spare: float) -> bool:
    """Whether a block of about unit diagonal is proved semidefinite by Cholesky's algorithm, rounding included."""
    M = scaled.toarray()
    subtracted = spare * _rounding(M.shape[0])
    return _factored(M - subtracted * np.diag(M.diagonal()), 0.0)


def _by_sparse_factors(scaled: Any, spare: float) -> bool:
    """Whether a large block of about unit diagonal is proved semidefinite, by sparse factors of small residual."""
    for subtracted in _SUBTRACTED:
        residual = _residual_of_factors(scaled, -subtracted)
        if residual is not None and spare * residual <= subtracted * (1 - 1e-9):
            return True
    return False


def _below(M: Array, eigenvalue: float, margins: tuple[float, ...]) -> float:
    """Bound the eigenvalues from below by a shift near an estimate of the smallest one, below it by a margin."""
    for margin in margins:
        shift = eigenvalue - margin * _rounding_at(M, 0.0)
        if _factored(M, shift):
            return shift - _rounding_at(M, shift)
    return -np.inf


def _rounding_at(M: Array, shift: float) -> float:
    """Bound how far the smallest eigenvalue may be below a shift at which Cholesky's algorithm has ended."""
    k, diagonal = M.shape[0], np.abs(M.diagonal())
    gamma = (k + 2) * _EPS / (1 - (k + 2) * _EPS)
    trace = float(diagonal.sum()) + k * abs(shift)
    largest = diagonal.max() + abs(shift)
    underflow = k * np.finfo(float).tiny
    return float(gamma / (1 - gamma) * trace + _EPS * largest + underflow)


def _factored(M: Array, shift: float) -> bool:
    """Whether Cholesky's algorithm ends for a matrix less a multiple of the identity."""
    shifted = M - shift * np.eye(M.shape[0])
    try:
        return bool(np.isfinite(np.linalg.cholesky(shifted)).all())
    except np.linalg.LinAlgError:
        return False


def _dominated(B: Any, diagonal: Array) -> bool:
    """Whether every diagonal entry is at least the sum of the others in its row; the sign of `fsum` is exact."""
    entries = (-np.abs(B.data)).tolist()  # with that of the diagonal, which is counted twice against it
    ends = B.indptr.tolist()
    for entry, first, last in zip(diagonal.tolist(), ends[:-1], ends[1:], strict=True):
        if entry < 0 or fsum([2 * entry, *entries[first:last]]) < 0:
            return False
    return True


def _exactly(M: Array) -> bool:
    """Whether a matrix is positive semidefinite, by elimination in fractions."""
    rows = [[Fraction(value) for value in row] for row in M.tolist()]
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


def _of_large(B: Any) -> float:
    """Prove a lower bound by sparse factors of B plus a small multiple of the identity, multiplied out again."""
    row_sums = abs(B).sum(axis=1)
    size = float(np.abs(B.diagonal()).max() + row_sums.max())
    for margin in (1e-14, 1e-12, 1e-10):
        residual = _residual_of_factors(B, margin * size)
        if residual is not None:
            return -residual - margin * size * (1 + 1e-9)
    return -np.inf


def _residual_of_factors(B: Any, shift: float) -> float | None:
    """Bound how far eigenvalues of B plus a shift may be below 0, by factors LDL' with D > 0; None if it has none."""
    moved = sp.csc_array(_moved(B, shift))
    try:
        factors = splu(moved, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:
        return None
    pivots = factors.U.diagonal()
    if (factors.perm_r != factors.perm_c).any() or not (pivots > 0).all():
        return None
    L, D = sp.csr_array(factors.L), sp.diags_array(pivots)
    order = np.argsort(factors.perm_c)
    own = moved[order][:, order]
    computed = own - L @ D @ L.T
    terms = abs(own) + abs(L) @ D @ abs(L.T)
    longest = float(np.diff(L.indptr).max()) + 4
    residual = abs(computed) + longest * 2 * _EPS * terms
    return float(residual.sum(axis=1).max()) * (1 + 1e-9)
