"""The separation of two classes by a hyperplane: a linear program, and the proof of its answer."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array, Index
from paretoclf.common.errors import SolveError
from paretoclf.common.linear_programs import linprog
from paretoclf.common.tolerances import TOUCHING, WEIGHTED
from paretoclf.problem.samples import Samples, dense, largest, middle, moved, signed


@dataclass(frozen=True)
class Separation:
    """Whether two classes can be separated, and the proof if not.

    Attributes
    ----------
    separable : bool
        Whether some hyperplane has the two classes strictly on its two sides.
    weights : array of shape (n,)
        If not separable: convex weights within each class, under which both classes average to the same point.
    distance : float
        Distance of the two averages (largest feature, relative to the samples).
    """

    separable: bool
    weights: Array = field(repr=False)
    distance: float

    @property
    def nearest(self) -> Index | None:
        """The samples where two classes nearly touch; None where they are apart, or overlap."""
        if not self.separable or self.distance > TOUCHING:
            return None
        return np.flatnonzero(self.weights > WEIGHTED)


def separate(F: Samples, y: Array) -> Separation:
    r"""Solve :math:`\max t` s.t. :math:`y_i(w\cdot x_i+b)\ge t`, :math:`|w_j|\le1`.

    At t = 0 its multipliers are convex weights, up to a factor 2, of a point in both convex hulls.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.formulations.separation import separate
    >>> separate(np.array([[0.0], [2.0], [1.0]]), np.array([1.0, 1.0, -1.0])).weights
    array([0.5, 0.5, 1. ])
    """
    n, d = F.shape
    F = moved(F, middle(F))
    scale = largest(F)
    scale = np.where(scale > 0, scale, 1.0)
    Z = sp.csr_array(F) @ sp.diags_array(1.0 / scale) if sp.issparse(F) else F / scale
    # Variables w, b and t; the rows say t - y_i (w . x_i + b) <= 0.
    of_slope = -sp.csr_array(signed(Z, y))
    of_intercept = sp.csr_array(-y[:, None])
    of_margin = sp.csr_array(np.ones((n, 1)))
    rows = sp.hstack([of_slope, of_intercept, of_margin]).tocsr()
    cost = np.append(np.zeros(d + 1), -1.0)
    bounds = [(-1.0, 1.0)] * d + [(None, None), (None, None)]
    found = linprog(cost, A_ub=rows, b_ub=np.zeros(n), bounds=bounds, method="highs")
    if found.status != 0:
        raise SolveError(f"the separation program failed: {found.message}")
    weights = np.maximum(-np.asarray(found.ineqlin.marginals), 0.0)
    for sign in (1, -1):
        here = y == sign
        weights[here] /= max(float(weights[here].sum()), np.finfo(float).tiny)
    difference = np.asarray(Z.T @ (y * weights))
    distance = float(np.max(np.abs(difference)))
    # The program resolves a billionth of the spread. Classes closer than that nearly touch between the samples with
    # weights: the hyperplane with margin 1 at those may separate where its own does not.
    near = weights > WEIGHTED
    with_constant = np.column_stack([dense(Z[near]), np.ones(np.count_nonzero(near))])
    with_margin_one = np.linalg.lstsq(with_constant, y[near], rcond=None)[0][:d]
    separable = any(_separates(Z, y, slope) for slope in (found.x[:d], with_margin_one))
    return Separation(separable, weights, distance)


def _separates(Z: Samples, y: Array, slope: Array) -> bool:
    """Whether all scores of one class are above all of the other by more than their rounding."""
    scores = Z @ slope
    largest_sum = float(np.max(abs(Z) @ np.abs(slope)))
    rounding = (slope.size + 2) * np.finfo(float).eps * largest_sum
    lowest_positive = np.min(scores[y > 0])
    highest_negative = np.max(scores[y < 0])
    return bool(lowest_positive - highest_negative > 2 * rounding)
