"""The judge of the 2C-SVM, from raw arrays to a proof of optimality. Knows neither CVXPY nor the tracker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from paretoclf.common.checks import (
    Array,
    check_labels,
    check_matrix,
    check_nonnegative,
    check_number,
    check_semidefinite,
    check_vector,
    require_scale_of_costs,
)
from paretoclf.common.errors import InputError
from paretoclf.common.tolerances import LOOSE
from paretoclf.problem.operator import Features, Matrix
from paretoclf.problem.samples import check_samples, far_origin, moved
from paretoclf.proof.certificates import Certificate
from paretoclf.proof.exact import exactly
from paretoclf.proof.points.hinge import certify_hinge
from paretoclf.proof.soft_margin import SoftMargin


def certify(
    y: Any,
    caps: Any,
    alpha: Any,
    b: float,
    *,
    K: Any = None,
    X: Any = None,
    w: Any = None,
    xi: Any = None,
    alpha_lo: Any = None,
    psd: bool = False,
    exact: bool = False,
) -> Certificate:
    """Certificate of one (alpha, b), from raw arrays.

    Weak duality, and with it the proof, needs a symmetric and positive semidefinite kernel matrix.

    Parameters
    ----------
    y : array of shape (n,)
        Labels -1 and +1.
    caps : array of shape (n,)
        Upper bound of each multiplier: the sample's cost, nonnegative.
    alpha : array of shape (n,)
        Multipliers to be judged.
    b : float
        Intercept to be judged.
    K : array of shape (n, n), optional
        Kernel matrix, symmetric and positive semidefinite. Exactly one of K and X must be given.
    X : array or sparse matrix of shape (n, d), optional
        Samples, for the linear kernel. Far from 0 they are judged as seen from amid them, with b moved along.
    w : array of shape (d,), optional
        A separate primal point for the linear kernel; by default w is what alpha implies.
    xi : array of shape (n,), optional
        Slacks to be judged; by default the smallest feasible ones.
    alpha_lo : array of shape (n,), optional
        What alpha misses of the multipliers: then ``alpha + alpha_lo`` are judged, with sums that are rounded once.
        Where cap times ``K_ii`` is 1e8 and more, the rounding of alpha alone moves margins by more than 1e-8.
    psd : bool
        Whether you vouch for K. Otherwise it is checked, with ``n**3 / 3`` multiplications (a Cholesky factorisation),
        where the certificate itself takes ``2 n**2``: 0.3 s for 2000 samples on one core.
    exact : bool
        Whether to compute the two objectives in exact rational arithmetic: an `ExactCertificate`, whose bounds are
        theorems about the given numbers. For lectures and disputes: about 0.1 s for 200 samples, 5 s for 2000.

    Returns
    -------
    Certificate
        Its conditions: ``margin``, the largest violation of the primal constraints by the given slacks (0 when none
        were given). ``stationarity in w``, the distance of the given w from the one the multipliers imply, as its
        effect on the scores relative to 1 + the terms of that sum (0 when no separate w was given). ``box``, the
        largest violation of ``0 <= alpha_i <= c_i``, in the unit ``u_i`` of the multiplier (`balanced_units`).
        ``balance``, ``|sum_i y_i alpha_i|`` relative to the largest sum of multipliers that either class can have.
        ``complementarity``, the largest over the samples of ``min(alpha_i / u_i, (y f - 1)+)`` and
        ``min((c_i - alpha_i) / u_i, (1 - y f)+)``, margins in units of ``1 + |f|``: a sample off its margin must sit at
        the bound that belongs to its side. The gap is relative to the primal value; where a class has no costs, so that
        the optimal value is 0, to the sum of the caps, if that is larger.

    Raises
    ------
    InputError
        On arrays of wrong shape, not finite, or labels other than -1 and +1; on a K that is not symmetric, or not
        positive semidefinite.

    References
    ----------
    Bach, Heckerman & Horvitz (2006), section 3, equation (3) with its sign corrected.

    Examples
    --------
    Two points at -1 and 1 with costs 1: w = 1, b = 0, both on the margin.

    >>> import numpy as np
    >>> from paretoclf import certify
    >>> certify([-1, 1], [1.0, 1.0], [0.5, 0.5], 0.0, X=np.array([[-1.0], [1.0]])).gap
    0.0
    """
    labels = check_labels(y)
    n = labels.shape[0]
    caps = check_nonnegative(caps, n, "caps")
    require_scale_of_costs(float(caps.max(initial=0.0)), "caps")
    alpha = check_vector(alpha, n, "alpha")
    b = check_number(b, "b")
    if not np.isfinite(b):
        raise InputError(f"b must be finite, got {b!r}")
    if (K is None) == (X is None):
        raise InputError("exactly one of K and X must be given")
    samples: Any = check_matrix(K, "K") if X is None else check_samples(X)
    if samples.shape[0] != n or (X is None and samples.shape[1] != n):
        raise InputError(f"{'K' if X is None else 'X'} must have {n} rows (and columns), got shape {samples.shape}")
    if X is None and not psd:
        check_semidefinite(samples, "K")
    if w is not None and X is None:
        raise InputError("w must be given together with X")
    slope = None if w is None else check_vector(w, samples.shape[1], "w")
    given, as_given = b, Matrix(samples) if X is None else Features(samples)
    Q, origin = as_given, None if X is None else far_origin(samples)
    if origin is not None:
        Q = Features(moved(samples, origin))
        b = float(b + (Q.slope(labels * alpha) if slope is None else slope) @ origin)
    low = None if alpha_lo is None else check_vector(alpha_lo, n, "alpha_lo")
    problem = SoftMargin(labels, Q, caps, note=sign_hint(labels, alpha))
    certificate = certify_hinge(problem, alpha, b, slope, low)
    if exact:
        parts = alpha[None] if low is None else np.stack([alpha, low])
        certificate = exactly(certificate, SoftMargin(labels, as_given, caps).bounds(parts, given, slope))
    if xi is None:
        return certificate
    xi = check_vector(xi, n, "xi")
    f = Q.slope_of(labels * alpha, slope).scores + b
    violation = np.maximum(np.maximum(-xi, 1 - xi - labels * f), 0.0) / (1 + np.abs(f))
    return replace(certificate, primal={"margin": float(violation.max())})


def sign_hint(y: Array, alpha: Array) -> str:
    """What to say of multipliers that have the signs of their labels; nothing where they have not."""
    signed = float(alpha.min()) < -LOOSE * float(np.abs(alpha).max()) and bool((y * alpha >= 0).all())
    return "These look like y * alpha (scikit-learn's dual_coef_): give alpha, which is y times them." if signed else ""
