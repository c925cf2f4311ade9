r"""Reduced convex hulls: averages of a class in which no sample has more than a given share.

The 2nu-SVM finds the nearest points of two of them:

.. math::

   \min_{\alpha'}\ \tfrac12\Big\|\sum_{y_i=+1}\alpha'_ix_i-\sum_{y_i=-1}\alpha'_ix_i\Big\|^2
   \quad\text{s.t.}\quad\sum_{y_i=\pm1}\alpha'_i=1,\qquad0\le\alpha'_i\le\frac1{\nu_\pm n_\pm}.

With :math:`\nu_\pm=1` each hull is the mean of its class, with a cap of at least 1 the whole convex hull.

References: Crisp & Burges (1999), Bennett & Bredensteiner (2000); Davenport et al. (2010), section 2.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError, SolveError
from paretoclf.common.linear_programs import linprog
from paretoclf.problem.gram import Gram
from paretoclf.problem.samples import Samples, dense, largest, middle, moved, signed
from paretoclf.proof.verdicts.solution import Solution


@dataclass(frozen=True)
class ReducedHulls:
    """The nearest points of two reduced hulls.

    Attributes
    ----------
    gram, y
        Samples and labels.
    nu_plus, nu_minus : float
        Shares: no weight is larger than ``1 / (nu n)``.
    weights : array of shape (n,)
        Weights of the two points, of sum 1 in each class.
    solution : Solution
        Solution of the 2nu-SVM, with certificate and classifier.
    """

    gram: Gram = field(repr=False)
    y: Array = field(repr=False)
    nu_plus: float
    nu_minus: float
    weights: Array = field(repr=False)
    solution: Solution = field(repr=False)

    @property
    def distance(self) -> float:
        """Distance of the two points, 0 where the hulls meet."""
        signed_weights = self.y * self.weights
        square = float(signed_weights @ self.gram.matvec(signed_weights))
        return float(np.sqrt(max(0.0, square)))

    @property
    def meet(self) -> bool:
        """Whether the hulls have a point in common: then there is no classifier."""
        return bool(self.solution.notes) and self.solution.notes[0].startswith("trivial")

    @property
    def point_plus(self) -> Array:
        """Nearest point of the positive hull, shape (d,)."""
        return self._point(1)

    @property
    def point_minus(self) -> Array:
        """Nearest point of the negative hull, shape (d,)."""
        return self._point(-1)

    def _point(self, sign: int) -> Array:
        """Nearest point of the hull of one class."""
        if not self.gram.quadratic.width:
            raise InputError("the points exist in the samples' space for the linear kernel only; use weights")
        return self.gram.quadratic.slope(np.where(self.y == sign, self.weights, 0.0))

    def outline(self, sign: int, directions: int = 360) -> Array:
        """Corners of a reduced hull of samples in the plane, in order, shape (k, 2): its farthest points in directions.

        Parameters
        ----------
        sign : int
            Label of the class, -1 or 1.
        directions : int
            Number of directions, evenly spaced.
        """
        X = self.gram.features
        if self.gram.quadratic.width != 2:
            raise InputError("an outline exists for the linear kernel and two features only")
        nu = self.nu_plus if sign == 1 else self.nu_minus
        samples = dense(X)[self.y == sign]
        corners = []
        for angle in np.linspace(0, 2 * np.pi, directions, endpoint=False):
            direction = np.array([np.cos(angle), np.sin(angle)])
            corners.append(farthest(samples, nu, direction))
        last = corners[-1:] + corners[:-1]
        distinct = [each for each, before in zip(corners, last, strict=True) if not _equal(each, before)]
        return np.array(distinct or corners[:1])


def _equal(first: Array, second: Array) -> bool:
    """Whether two points are equal but for rounding."""
    return bool(np.allclose(first, second, rtol=0, atol=1e-12))


def farthest(X: Array, nu: float, direction: Array) -> Array:
    """Point of the reduced hull of the rows of X that lies farthest in a direction.

    Full weights ``1 / (nu n)`` go to the farthest samples, and the rest to the next one.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.formulations.reduced_hulls import farthest
    >>> farthest(np.array([[0.0], [1.0], [2.0], [3.0]]), 0.5, np.array([1.0]))
    array([2.5])
    """
    order = np.argsort(-(X @ direction), kind="stable")
    cap = 1.0 / (nu * X.shape[0])
    weights = np.clip(1.0 - cap * np.arange(X.shape[0]), 0.0, cap)
    return np.asarray(weights @ X[order])


def largest_total(F: Samples, y: Array, caps: Array) -> tuple[float, Array]:
    r"""Solve the linear program whose value is :math:`\nu_*`, up to where the hulls meet; return value and multipliers.

    .. math::

       \max_\alpha1^\top\alpha\quad\text{s.t.}\quad\sum_i\alpha_iy_ix_i=0,\quad y^\top\alpha=0,\quad0\le\alpha\le c.
    """
    F = moved(F, middle(F))  # the equations hold wherever the origin is, and the solver's tolerance is relative to F
    scale = largest(F)
    scale = np.where(scale > 0, scale, 1.0)
    features = (signed(F, y) @ sp.diags_array(1.0 / scale)).T
    # In units of the caps, so that the program's own tolerances are relative to them.
    shares = caps / caps.max()
    rows = sp.vstack([sp.csr_array(features), sp.csr_array(y[None, :])])
    equations = (rows @ sp.diags_array(shares)).tocsr()
    found = linprog(-shares, A_eq=equations, b_eq=np.zeros(equations.shape[0]), bounds=(0, 1))
    if found.status != 0:
        raise SolveError(f"the linear program of nu_star failed: {found.message}")
    alpha = np.clip(found.x, 0.0, 1.0) * caps
    total = float(alpha.sum())
    if total <= 1e-9 * float(caps.sum()):  # rounding of the program is no common point of the hulls
        return 0.0, np.zeros(y.size)
    return total, alpha
