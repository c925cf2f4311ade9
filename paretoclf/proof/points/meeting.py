r"""Whether two reduced hulls meet: w = 0, said only where it is proved.

Nothing follows from a small :math:`|w|^2=a^\top Qa`: for distinct samples and an RBF kernel w is never 0 (Micchelli
1986: the kernel matrix is positive definite), and double precision shows its square down to 1e-16 only.
There are two proofs:

* Weights that cancel sample by sample: where one sample is in both classes. With caps :math:`c_\pm` these add up to
  at most :math:`\nu_0=2\sum_g\min(c_+n_+^g,c_-n_-^g)` over the distinct samples g, and for an RBF kernel there are no
  others, so that :math:`\nu_*=\nu_0`.
* Weights whose slope, computed in coordinates and not from its square, is 0 up to the rounding of these coordinates. A
  kernel matrix has such coordinates where its rank is plain: where the pivots of its Cholesky factor end with a jump to
  rounding.
"""

from __future__ import annotations

import numpy as np

from paretoclf.common.checks import Array, Index, Mask
from paretoclf.common.tolerances import MEETING
from paretoclf.problem.gram import Gram
from paretoclf.problem.samples import distinct


def largest_cancelling(which: Index, y: Array, caps: Array) -> tuple[float, Array]:
    r"""Largest sum of multipliers within caps (n,) that cancel sample by sample, and such multipliers, shape (n,).

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.points.meeting import largest_cancelling
    >>> largest_cancelling(np.array([0, 0, 1]), np.array([1.0, -1.0, 1.0]), np.array([0.5, 0.25, 1.0]))
    (0.5, array([0.25, 0.25, 0.  ]))
    """
    of_minus, of_plus = (np.bincount(which, np.where(members, caps, 0.0)) for members in (y < 0, y > 0))
    both = np.minimum(of_plus, of_minus)
    # The share of its cap that a sample has, by class: 0 where its class has no cap there.
    shares = [np.divide(both, own, out=np.zeros_like(both), where=own > 0) for own in (of_minus, of_plus)]
    own_class = (y > 0).astype(np.int64)
    multipliers = caps * np.stack(shares)[own_class, which]
    return 2.0 * float(both.sum()), np.asarray(multipliers)


def proved_to_meet(gram: Gram, y: Array, nu: Array, alpha: Array) -> Mask:
    """Whether multipliers with sum nu prove that w = 0, for each column of alpha (n, k): shape (k,).

    Examples
    --------
    >>> import numpy as np
    >>> import paretoclf as pc
    >>> from paretoclf.proof.points.meeting import proved_to_meet
    >>> X, y, alpha = [[0.0], [2.0], [1.0]], np.array([1.0, 1.0, -1.0]), np.array([[0.5], [0.5], [1.0]])
    >>> proved_to_meet(pc.Gram(X), y, np.array([2.0]), alpha), proved_to_meet(pc.Gram(X, pc.RBF(1e9)), y, 2.0, alpha)
    (array([ True]), array([False]))
    """
    if alpha.shape[1] == 0:
        return np.zeros(0, dtype=np.bool_)
    signed = y[:, None] * alpha
    if gram.strict:
        which = distinct(gram.X)
        sums = [np.abs(np.bincount(which, column)).max() for column in signed.T]
        return np.asarray(np.array(sums) <= MEETING * nu)
    found = gram.coordinates()
    if found is None:
        return np.zeros(alpha.shape[1], dtype=np.bool_)
    coordinates, unit = found
    slope = np.abs(np.asarray(coordinates.T @ signed))
    return np.asarray((slope <= MEETING * nu * unit[:, None]).all(axis=0))
