r"""The trust-region problem of the outer segments: the largest variance of one class at a given one of the other.

Kim et al. (2006), problems (21) and (22): :math:`\max a^\top\Sigma_-a` subject to :math:`a^\top\Sigma_+a\le\zeta`,
:math:`a\cdot\delta=1`. With :math:`a=a_0+Bv`, where :math:`a_0=\Sigma_+^{-1}\delta/(\delta^\top\Sigma_+^{-1}\delta)`,
:math:`\delta^\top B=0`, :math:`B^\top\Sigma_+B=I` and :math:`B^\top\Sigma_-B=\mathrm{diag}(d)`, it becomes

.. math::

   \max_v\ c+2h\cdot v+\sum_jd_jv_j^2\quad\text{s.t.}\quad\|v\|^2\le\rho=\zeta-\zeta_{\min},\qquad
   \zeta_{\min}=\frac1{\delta^\top\Sigma_+^{-1}\delta},\quad c=a_0^\top\Sigma_-a_0,\quad h=B^\top\Sigma_-a_0 .

Its optima are the points with :math:`(\tau-d_j)v_j=h_j`, :math:`\tau\ge\max d`, :math:`\|v\|^2=\rho`: one scalar
(secular) equation in :math:`\tau`. In the hard case :math:`h` vanishes on the top eigenspace and :math:`\rho` is large;
then :math:`\tau=\max d` and the rest of the length goes along a top eigenvector, in either direction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr, solve_triangular
from scipy.optimize import brentq

from paretoclf.common.checks import Array, Mask
from paretoclf.common.tolerances import HARD_CASE
from paretoclf.distributions.gaussian.moments import Moments


@dataclass(frozen=True, eq=False)
class TrustRegion:
    """Problem (22) in coordinates in which both covariances are diagonal.

    Attributes
    ----------
    center : array of shape (d,)
        The slope of smallest variance of the positives, a_0.
    basis : array of shape (d, d - 1)
        Directions orthogonal to delta, the matrix B.
    curvature : array of shape (d - 1,)
        Variances of the negatives along the directions, in decreasing order.
    linear : array of shape (d - 1,)
        Linear term h of the objective.
    constant : float
        Constant term c of the objective, the variance of the negatives at the center.
    zeta_min : float
        Variance of the positives at the center, the smallest there is.
    """

    center: Array
    basis: Array
    curvature: Array
    linear: Array
    constant: float
    zeta_min: float

    @classmethod
    def of(cls, moments: Moments) -> TrustRegion:
        """Diagonalise the two covariances on the slopes with a . delta = 1."""
        # In the coordinates R_+ a the positives have the covariance I, and delta is the direction.
        direction = solve_triangular(moments.root_plus, moments.delta, trans=1)
        length = float(np.linalg.norm(direction))
        orthogonal = qr(direction[:, None])[0][:, 1:]
        nearest = direction / length**2
        root_minus = solve_triangular(moments.root_plus, moments.root_minus.T, trans=1).T
        left, deviations, axes = np.linalg.svd(root_minus @ orthogonal, full_matrices=False)
        along = root_minus @ nearest
        center = solve_triangular(moments.root_plus, nearest)
        basis = solve_triangular(moments.root_plus, orthogonal @ axes.T)
        linear = deviations * (left.T @ along)
        return cls(center, basis, deviations**2, linear, constant=float(along @ along), zeta_min=1.0 / length**2)

    def slope(self, v: Array) -> Array:
        """Return the slope of a point v, with a . delta = 1."""
        return self.center + self.basis @ v

    def value(self, v: Array) -> float:
        """Variance of the negatives at a point v."""
        linear = 2 * self.linear @ v
        quadratic = self.curvature @ v**2
        return float(self.constant + linear + quadratic)

    @property
    def top(self) -> Mask:
        """Which directions have the largest curvature (up to rounding)."""
        largest = self.curvature.max(initial=0.0)
        return np.asarray(self.curvature >= largest * (1 - HARD_CASE))


@dataclass(frozen=True, eq=False)
class GlobalOptimum:
    """A global optimum of the trust-region problem.

    Attributes
    ----------
    v : array of shape (d - 1,)
        The point; in the hard case its mirror image in the top eigenspace is as good.
    tau : float
        Multiplier of the bound on the length of v.
    hard : bool
        Whether this is the hard case.
    """

    v: Array
    tau: float
    hard: bool


def secular(problem: TrustRegion, zeta: float) -> GlobalOptimum:
    r"""Solve by the secular equation :math:`\sum_j h_j^2/(\tau-d_j)^2=\zeta-\zeta_{\min}`, :math:`\tau>\max d`.

    Parameters
    ----------
    problem : TrustRegion
        The problem in diagonal coordinates.
    zeta : float
        Bound on the variance of the positives, at least zeta_min.

    Returns
    -------
    GlobalOptimum

    References
    ----------
    Kim et al. (2006), appendix A.2. Moré & Sorensen, SIAM J. Sci. Stat. Comput. 4 (1983).

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.distributions.gaussian.moments import Moments
    >>> m = Moments.from_covariances([1.0, 0.0], np.eye(2), [0.0, 0.0], np.diag([1.0, 4.0]))
    >>> found = secular(TrustRegion.of(m), zeta=10.0)
    >>> found.hard, found.tau, abs(found.v)
    (True, 4.0, array([3.]))
    """
    curvature, linear, top = problem.curvature, problem.linear, problem.top
    rho = max(zeta - problem.zeta_min, 0.0)
    if curvature.size == 0:
        return GlobalOptimum(np.zeros(0), 0.0, False)
    largest = float(curvature.max())
    if rho == 0.0:
        return GlobalOptimum(np.zeros(curvature.size), np.inf, False)
    radius = np.sqrt(rho)
    steep = float(np.linalg.norm(linear[top]))
    gaps = largest - curvature[~top]
    if steep <= HARD_CASE * np.sqrt(largest * problem.constant):
        others = linear[~top] / gaps
        slack = rho - float(others @ others)
        if slack >= 0:
            v = np.zeros(curvature.size)
            v[~top] = others
            v[np.argmax(top)] = np.sqrt(slack)
            return GlobalOptimum(v, largest, True)
        steep = 0.0

    def excess(distance: float) -> float:
        """One over the length at tau minus one over the radius: nearly linear in tau minus the largest curvature."""
        length = np.hypot(steep / distance, np.linalg.norm(linear[~top] / (gaps + distance)))
        return float(1.0 / length - 1.0 / radius)

    upper = float(np.linalg.norm(linear)) / radius
    lower = steep / radius
    if lower == 0.0:
        lower = upper * np.finfo(float).eps
        if excess(lower) > 0:  # all but the hard case
            lower, upper = 0.5 * lower, lower
    if excess(lower) >= 0:
        distance = lower
    elif excess(upper) <= 0:
        distance = upper
    else:
        distance = float(brentq(excess, lower, upper, xtol=1e-300, rtol=4 * np.finfo(float).eps, maxiter=500))
    v = np.where(top, linear, 0.0) / distance
    v[~top] = linear[~top] / (gaps + distance)
    v *= radius / np.linalg.norm(v)  # of exactly the length that is allowed
    return GlobalOptimum(v, largest + distance, False)
