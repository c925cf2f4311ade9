r"""From a slope in feature space to coefficients of the samples, :math:`a=\sum_i\alpha_i\phi(x_i)`.

Kim et al. (2006), section 6.2. Let :math:`(t_+\Sigma_++t_-\Sigma_-)\,a=k\,\delta`, where
:math:`\Sigma_\pm=\kappa_\pm S_\pm+r_\pm I` are estimates (see `paretoclf.distributions.gaussian.estimation`; in the
paper :math:`\kappa_\pm=1`, :math:`r_\pm=\delta_\pm`). With scores :math:`s_i=a\cdot\phi(x_i)` this is

.. math::

   (t_+r_++t_-r_-)\,\alpha=k\,(g_+-g_-)-(t_+\kappa_+J_+J_+^\top+t_-\kappa_-J_-J_-^\top)\,s,

where :math:`g_\pm` averages a class and :math:`J_\pm J_\pm^\top s` is what is left of s after centring, over the size
of the class. It needs :math:`t_+r_++t_-r_->0`, which holds wherever the slope is optimal in the whole feature space: on
the complement of the samples that sum *is* the matrix on the left. On an outer segment a slope can be optimal in the
span of the samples alone; then, and without a ridge, the coefficients of least norm are taken.
"""

from __future__ import annotations

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.common.tolerances import IMPLIED
from paretoclf.problem.gram import Gram

Pair = tuple[float, float]


def coefficients(
    gram: Gram, y: Array, a: Array, k: float, weights: Pair, ridge: Pair, kept: Pair = (1.0, 1.0)
) -> Array:
    r"""Coefficients of the samples that imply a slope.

    Parameters
    ----------
    gram : Gram
        Training samples and kernel.
    y : array of shape (n,)
        Labels.
    a : array of shape (rank,)
        Slope in the features of the Gram's factor: :math:`(t_+\Sigma_++t_-\Sigma_-)\,a=k\,\delta`.
    k : float
        Its scale.
    weights : (float, float)
        :math:`t_+` and :math:`t_-`; one of them may be negative.
    ridge : (float, float)
        :math:`r_+` and :math:`r_-`.
    kept : (float, float)
        :math:`\kappa_+` and :math:`\kappa_-`.

    Returns
    -------
    array of shape (n,)
    """
    left = weights[0] * ridge[0] + weights[1] * ridge[1]
    L = gram.factor
    if left <= 0:
        return np.asarray(np.linalg.lstsq(np.asarray(L).T, a, rcond=None)[0])
    s = np.asarray(L @ a)
    out = np.zeros(len(s))
    for sign, weight, share in zip((1.0, -1.0), weights, kept, strict=True):
        here = y == sign
        out[here] = (k * sign - weight * share * (s[here] - s[here].mean())) / here.sum()
    out /= left
    # A small ridge leaves few digits: what the coefficients do not imply of the slope is added, by those of least norm.
    missed = a - np.asarray(L.T @ out)
    if np.linalg.norm(missed) > IMPLIED * np.linalg.norm(a):
        out += np.linalg.lstsq(np.asarray(L).T, missed, rcond=None)[0]
    return out
