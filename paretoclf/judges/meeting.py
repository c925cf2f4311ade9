r"""Whether two reduced hulls meet: w = 0, said only where it is proved.

Of a small :math:`|w|^2=a^\top Qa` nothing follows: for distinct samples and an RBF kernel w is never 0, however small
(Micchelli 1986: the kernel matrix is positive definite), and double precision shows its square down to 1e-16 only.
There are two proofs:

* Weights that cancel sample by sample: where the same sample is in both classes. With caps :math:`c_\pm` these add up to
  at most :math:`\nu_0=2\sum_g\min(c_+n_+^g,c_-n_-^g)` over the distinct samples g, and for an RBF kernel there are no
  others, so that :math:`\nu_*=\nu_0`.
* Weights whose slope, computed in coordinates and not from its square, is 0 up to the rounding of these coordinates. A
  kernel matrix has such coordinates where its rank is plain: where the pivots of its Cholesky factor end with a jump to
  rounding.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from paretoclf.checks import Array, Index, Mask
from paretoclf.gram import Gram
from paretoclf.kernels import RBF
from paretoclf.samples import Samples, squares
from paretoclf.tolerances import MEETING, PLAIN_RANK, SCORE_ROUNDING


def only_twins_meet(gram: Gram) -> bool:
    """Whether weights of the two classes cancel only sample by sample: the kernel is strictly positive definite."""
    return isinstance(gram.kernel, RBF) and gram.features is None


def twins(gram: Gram) -> Index:
    """Number of the distinct sample that each sample is, shape (n,); for a kernel matrix by its rows."""
    X = gram.X.toarray() if sp.issparse(gram.X) else gram.X
    _, which = np.unique(X, axis=0, return_inverse=True)
    return np.asarray(which.reshape(-1), dtype=np.int64)


def largest_cancelling(which: Index, y: Array, caps: Array) -> tuple[float, Array]:
    r"""Largest sum of multipliers within caps (n,) that cancel sample by sample, and such multipliers, shape (n,).

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.judges.meeting import largest_cancelling
    >>> largest_cancelling(np.array([0, 0, 1]), np.array([1.0, -1.0, 1.0]), np.array([0.5, 0.25, 1.0]))
    (0.5, array([0.25, 0.25, 0.  ]))
    """
    of_plus, of_minus = (np.bincount(which, np.where(side, caps, 0.0)) for side in (y > 0, y < 0))
    both = np.minimum(of_plus, of_minus)
    share = np.stack([np.divide(both, of, out=np.zeros_like(both), where=of > 0) for of in (of_minus, of_plus)])
    return 2.0 * float(both.sum()), np.asarray(caps * share[(y > 0).astype(np.int64), which])


def coordinates(gram: Gram) -> Samples | None:
    """Rows whose products are the kernel values up to rounding; None where the kernel matrix has no plain rank."""
    if gram.features is not None:
        return gram.features
    if only_twins_meet(gram):
        return None
    F = gram.factor
    if F.shape[1] == gram.n:
        return F
    left = gram.diagonal() - squares(F)
    pivots = np.max(np.abs(np.asarray(F)), axis=0)  # of each column: its pivot is its largest entry
    plain = np.max(np.abs(left)) <= SCORE_ROUNDING * gram.n * pivots[0] ** 2 and pivots[-1] > PLAIN_RANK * pivots[0]
    return F if plain else None


def proved_to_meet(gram: Gram, y: Array, nu: Array, alpha: Array) -> Mask:
    """Whether multipliers with sum nu prove that w = 0, for each column of alpha (n, k): shape (k,)."""
    if only_twins_meet(gram):
        which = twins(gram)
        left = [np.abs(np.bincount(which, column)).max() for column in (y[:, None] * alpha).T]
        return np.asarray(np.array(left) <= MEETING * nu)
    F = coordinates(gram)
    if F is None:
        return np.zeros(nu.size, dtype=np.bool_)
    slope = np.abs(np.asarray(F.T @ (y[:, None] * alpha))).max(axis=0)
    return np.asarray(slope <= MEETING * nu * np.sqrt(np.max(squares(F))))
