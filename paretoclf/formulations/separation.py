"""Whether a hyperplane separates two classes: a linear program, and its answer's proof."""

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
    """Outcome of the program.

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
    reach = largest(F)
    reach = np.where(reach > 0, reach, 1.0)
    Z = sp.csr_array(F) @ sp.diags_array(1.0 / reach) if sp.issparse(F) else F / reach
    left = sp.hstack([-sp.csr_array(signed(Z, y)), sp.csr_array(-y[:, None]), sp.csr_array(np.ones((n, 1)))]).tocsr()
    cost = np.append(np.zeros(d + 1), -1.0)
    bounds = [(-1.0, 1.0)] * d + [(None, None), (None, None)]
    found = linprog(cost, A_ub=left, b_ub=np.zeros(n), bounds=bounds, method="highs")
    if found.status != 0:
        raise SolveError(f"the separation program failed: {found.message}")
    weights = np.maximum(-np.asarray(found.ineqlin.marginals), 0.0)
    for sign in (1, -1):
        weights[y == sign] /= max(float(weights[y == sign].sum()), np.finfo(float).tiny)
    distance = float(np.max(np.abs(np.asarray(Z.T @ (y * weights)))))
    # The program resolves a billionth of the spread. Classes closer than that nearly touch between the samples with
    # weights: the hyperplane with margin 1 at those may do what its own does not.
    near = weights > WEIGHTED
    rows = np.column_stack([dense(Z[near]), np.ones(np.count_nonzero(near))])
    slopes = found.x[:d], np.linalg.lstsq(rows, y[near], rcond=None)[0][:d]
    return Separation(any(_separates(Z, y, w) for w in slopes), weights, distance)


def _separates(Z: Samples, y: Array, w: Array) -> bool:
    """Whether all scores of one class are above all of the other by more than their rounding."""
    scores, rounding = Z @ w, (w.size + 2) * np.finfo(float).eps * float(np.max(abs(Z) @ np.abs(w)))
    return bool(np.min(scores[y > 0]) - np.max(scores[y < 0]) > 2 * rounding)
