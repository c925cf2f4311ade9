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
from paretoclf.proof.points.hinge import certify_hinge
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.proof.verdicts.exact_bounds import exactly


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
    """Certify one (alpha, b), from raw arrays.

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
        Part of the multipliers that alpha does not hold: ``alpha + alpha_lo`` are judged, with sums rounded once.
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
    caps = check_nonnegative(caps, labels.size, "caps")
    require_scale_of_costs(float(caps.max(initial=0.0)), "caps")
    alpha = check_vector(alpha, labels.size, "alpha")
    b = check_number(b, "b")
    if not np.isfinite(b):
        raise InputError(f"b must be finite, got {b!r}")
    samples = _checked_samples(labels.size, K, X, psd)
    if w is not None and X is None:
        raise InputError("w must be given together with X")
    slope = None if w is None else check_vector(w, samples.shape[1], "w")
    as_given = Matrix(samples) if X is None else Features(samples)
    judged, intercept = as_given, b
    origin = None if X is None else far_origin(samples)
    if origin is not None:  # as seen from amid the samples, no digits are lost
        judged = Features(moved(samples, origin))
        own_slope = judged.slope(labels * alpha) if slope is None else slope
        intercept = float(b + own_slope @ origin)
    low = None if alpha_lo is None else check_vector(alpha_lo, labels.size, "alpha_lo")
    problem = SoftMargin(labels, judged, caps, note=sign_hint(labels, alpha))
    certificate = certify_hinge(problem, alpha, intercept, slope, low)
    if exact:
        parts = alpha[None] if low is None else np.stack([alpha, low])
        certificate = exactly(certificate, SoftMargin(labels, as_given, caps).bounds(parts, b, slope))
    if xi is None:
        return certificate
    scores = judged.slope_of(labels * alpha, slope).scores + intercept
    violation = _margin_violation(labels, scores, check_vector(xi, labels.size, "xi"))
    return replace(certificate, primal={"margin": violation})


def _checked_samples(count: int, K: Any, X: Any, psd: bool) -> Any:
    """The kernel matrix or the samples, one of which must be given and have a row for each label."""
    if (K is None) == (X is None):
        raise InputError("exactly one of K and X must be given")
    samples: Any = check_matrix(K, "K") if X is None else check_samples(X)
    if samples.shape[0] != count or (X is None and samples.shape[1] != count):
        raise InputError(f"{'K' if X is None else 'X'} must have {count} rows (and columns), got shape {samples.shape}")
    if X is None and not psd:
        check_semidefinite(samples, "K")
    return samples


def _margin_violation(labels: Array, scores: Array, xi: Array) -> float:
    """Largest violation of the margin constraints and of ``xi >= 0`` by given slacks, relative to 1 + |score|."""
    missing = 1 - xi - labels * scores
    violation = np.maximum(np.maximum(-xi, missing), 0.0)
    return float((violation / (1 + np.abs(scores))).max())


def sign_hint(labels: Array, alpha: Array) -> str:
    """Hint for multipliers that have the signs of their labels; empty where they have not."""
    some_are_negative = float(alpha.min()) < -LOOSE * float(np.abs(alpha).max())
    if some_are_negative and bool((labels * alpha >= 0).all()):
        return "These look like y * alpha (scikit-learn's dual_coef_): give alpha, which is y times them."
    return ""
