r"""Coefficients of the samples for a slope in feature space, :math:`a=\sum_i\alpha_i\phi(x_i)`.

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

from typing import Any

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
        Scale of the slope.
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
    pooled = weights[0] * ridge[0] + weights[1] * ridge[1]
    factor = gram.factor
    if pooled <= 0:
        return _of_least_norm(factor, a)
    scores = np.asarray(factor @ a)
    alpha = np.zeros(len(scores))
    for sign, weight, share in zip((1.0, -1.0), weights, kept, strict=True):
        here = y == sign
        centred = scores[here] - scores[here].mean()
        pull = k * sign - weight * share * centred
        alpha[here] = pull / here.sum()
    alpha /= pooled
    # A small ridge leaves few digits: coefficients of least norm for the residual of the slope are added.
    residual = a - np.asarray(factor.T @ alpha)
    if np.linalg.norm(residual) > IMPLIED * np.linalg.norm(a):
        alpha += _of_least_norm(factor, residual)
    return alpha


def _of_least_norm(factor: Any, a: Array) -> Array:
    """Coefficients of least norm that imply a slope, or come as close to it as any."""
    return np.asarray(np.linalg.lstsq(np.asarray(factor).T, a, rcond=None)[0])
