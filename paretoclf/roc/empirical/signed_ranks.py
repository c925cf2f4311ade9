r"""The signed-rank test of Wilcoxon, one-tailed and exact, for many small samples at once.

Differences that are zero are left out, the sizes of the others are ranked (mean ranks for ties), and :math:`W_+` is the
sum of the ranks of the positive ones. If their signs are coin flips, each of the :math:`2^n` sums is equally likely:
p is the share of them that are at least :math:`W_+`, counted by convolution, given the ties that there are. Of ten
differences without ties p is below 5 % where the negative ones have ranks of 10 or less in sum.

**Reference.** M. Hollander & D. Wolfe (1999), Nonparametric Statistical Methods, section 3.1.
"""

from __future__ import annotations

from numbers import Rational
from typing import Any

import numpy as np
from scipy.stats import rankdata

from paretoclf.common.checks import Array, real_array
from paretoclf.common.errors import InputError


def signed_rank_greater(differences: Any) -> Array:
    """p-values of "the differences are not positive" against "they tend to be positive".

    Parameters
    ----------
    differences : array of shape (n,) or (k, n)
        One sample, or k of them, of at most 200 differences: floats, or whole numbers and fractions of any size in an
        array of objects. Ties are what is equal: differences of rounded costs seldom are, so costs of counts are to be
        compared in whole numbers (`paretoclf.roc.counts.exact_costs`).

    Returns
    -------
    array of shape () or (k,)
        1 where all differences are zero.

    Raises
    ------
    InputError
        If there are none or more than 200, or one of them is not finite.

    Examples
    --------
    >>> from paretoclf.roc.empirical import signed_rank_greater
    >>> signed_rank_greater([[1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 0.0, 0.0, 0.0, 0.0], [1.0, -1.0, 0.0, 0.0, 0.0]])
    array([0.03125, 1.     , 0.75   ])
    """
    given = np.asarray(differences)
    if not (given.dtype == object and all(isinstance(x, Rational) for x in given.flat)):
        given = real_array(differences, "differences")
    finite = given.dtype == object or bool(np.isfinite(given).all())
    if given.ndim not in (1, 2) or not 1 <= given.shape[-1] <= 200 or not finite:
        raise InputError(f"differences must be 1 to 200 finite numbers a sample, got an array of shape {given.shape}")
    d = np.atleast_2d(given)
    codes = np.stack([np.unique(np.abs(each), return_inverse=True)[1].reshape(-1) for each in d])
    zero = d == 0
    sizes = np.where(zero, d.shape[1], codes)  # zeros rank last, and do not count
    doubled = np.where(zero, 0, np.rint(2 * rankdata(sizes, axis=1))).astype(np.int64)  # whole numbers, ties or not
    k, n = d.shape
    sums = np.arange(n * (n + 1) + 1)
    shares = np.zeros((k, sums.size))
    shares[:, 0] = 1.0
    for rank in doubled.T[:, :, None]:
        moved = np.take_along_axis(shares, np.maximum(sums - rank, 0), axis=1)
        shares = 0.5 * (shares + np.where(sums >= rank, moved, 0.0))
    seen = np.where(d > 0, doubled, 0).sum(axis=1)
    p = np.where(sums >= seen[:, None], shares, 0.0).sum(axis=1)
    return np.asarray(np.minimum(p, 1.0).reshape(given.shape[:-1]))
