r"""The judge of the 2C-SVM: from raw arrays to a proof of optimality. Knows neither CVXPY nor the tracker.

For the problem (Bach et al. 2006, section 3; :math:`K_{ij}=k(x_i,x_j)`, caps :math:`c_i\ge 0`)

.. math::

   P(w,b)=\tfrac12\|w\|^2+\sum_i c_i\max(0,1-y_if(x_i)),\qquad
   D(\alpha)=1^\top\alpha-\tfrac12(y\alpha)^\top K(y\alpha),\ 0\le\alpha\le c,\ y^\top\alpha=0,

weak duality says :math:`D(\alpha)\le P(w,b)` for every feasible pair. The certificate evaluates P at a feasible
primal point and D at a feasible dual point, so the gap bounds how far *each* of them is from optimal, whoever
computed them. The residuals of the KKT conditions say where it goes wrong.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from paretoclf.checks import (
    Array,
    check_labels,
    check_matrix,
    check_nonnegative,
    check_number,
    check_semidefinite,
    check_vector,
    require_scale_of_costs,
)
from paretoclf.errors import InputError
from paretoclf.exact_sums import total
from paretoclf.proof import PRECISELY, Certificate, SoftMargin
from paretoclf.proof.exact import exactly
from paretoclf.quadratic import Features, FeatureSlopes, Matrix, Quadratic
from paretoclf.samples import check_samples, far_origin, moved
from paretoclf.tolerances import LOOSE, SCORE_ROUNDING, UNDECIDED
from paretoclf.units import balanced_units, certain_gap, largest_sum, least_scale, margin_rounding, slack_rounding

#: What a certificate says that was computed with sums rounded once.

#: Bytes of working arrays that `certify_many` holds at a time.
_WORK = 2**25


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
    W, note = None if slope is None else slope[:, None], sign_hint(labels, alpha)
    parts = alpha[None] if alpha_lo is None else np.stack([alpha, check_vector(alpha_lo, n, "alpha_lo")])
    if alpha_lo is None:
        certificate = certify_many(labels, caps[:, None], alpha[:, None], np.array([float(b)]), Q, W, note)[0]
    else:
        certificate = certify_precisely(labels, caps, parts, float(b), Q, W, note)
    if exact:
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


def certify_many(
    y: Array, caps: Array, alpha: Array, b: Array, Q: Quadratic, W: Array | None = None, note: str = ""
) -> list[Certificate]:
    """Certificates of k pairs at once: caps and alpha have shape (n, k), b (k,), W (d, k). No checks of input.

    Without W, w is what alpha implies. The k columns are worked through in blocks, so that the working arrays, which
    have n or d rows, stay below a fixed size whatever k is.
    """
    width = max(1, _WORK // (8 * (12 * Q.n + 6 * Q.width)))
    found: list[Certificate] = []
    for first in range(0, alpha.shape[1], width):
        at = slice(first, first + width)
        coef, feasible = y[:, None] * alpha[:, at], _feasible_dual(y, caps[:, at], alpha[:, at])
        slopes = Q.slopes(coef, None if W is None else W[:, at])
        dual = feasible.sum(axis=0) - 0.5 * Q.norms(y[:, None] * feasible)
        terms = SCORE_ROUNDING * Q.score_terms(coef, slopes.norm2)
        found += _conclude(y, caps[:, at], alpha[:, at], b[at], _Bounded(slopes, dual, terms), note)
    for j, certificate in enumerate(found):
        # A slack that rounds to 0 shows in no gap. Where that may hide as much as the value, margins are computed in
        # twice the precision.
        if certificate.rounding > UNDECIDED * certificate.scale:
            parts, w = np.stack([alpha[:, j], np.zeros(Q.n)]), None if W is None else W[:, j : j + 1]
            precise = certify_precisely(y, caps[:, j], parts, float(b[j]), Q, w, note)
            found[j] = replace(precise, note=note)
    return found


def certify_precisely(
    y: Array, caps: Array, alpha: Array, b: float, Q: Quadratic, W: Array | None = None, note: str = ""
) -> Certificate:
    """`certify_many` for one pair whose multipliers come in two parts, alpha (2, n): sums are rounded once.

    Margins, too: a slack is computed even where it is nothing but the rounding of w and b.
    """
    slope = Q.precise(y * alpha, None if W is None else W[:, 0])
    feasible = _feasible_parts(y, caps, alpha)
    margin = y * slope.scores(np.column_stack([np.full(y.size, b), -y]))
    dual = total(feasible) - 0.5 * Q.precise(y * feasible).norm2
    slopes = FeatureSlopes(slope.scores()[:, None], np.array([slope.norm2]), np.array([slope.apart]))
    found = _Bounded(slopes, np.array([dual]), np.zeros(1), margin[:, None])
    note = f"{PRECISELY} {note}".rstrip()
    return _conclude(y, caps[:, None], alpha[0][:, None], np.array([b]), found, note)[0]


class _Bounded(NamedTuple):
    """Slopes, dual values (k,), what rounding of scores can be (k,), and margins (n, k) where they are known better."""

    slopes: FeatureSlopes
    dual: Array
    rounding: Array
    margin: Array | None = None


def _conclude(y: Array, caps: Array, alpha: Array, b: Array, found: _Bounded, note: str) -> list[Certificate]:
    """Certificates of multipliers (n, k) and intercepts (k,)."""
    slopes, dual, stationarity = found.slopes, found.dual, found.slopes.apart
    f = slopes.scores + b
    margin = y[:, None] * f - 1.0 if found.margin is None else found.margin
    primal = 0.5 * slopes.norm2 + np.einsum("nk,nk->k", caps, np.maximum(0.0, -margin))
    unit, both, least = balanced_units(y, caps), largest_sum(y, caps), least_scale(y, caps)
    box = np.maximum(np.maximum(-alpha, alpha - caps), 0.0) / unit
    balance = np.abs(alpha[y > 0].sum(axis=0) - alpha[y < 0].sum(axis=0)) / both
    scaled = margin / (1.0 + np.abs(f))
    room = np.clip((caps - alpha) / unit, 0.0, None)
    load = np.clip(alpha / unit, 0.0, None)
    comp = np.maximum(np.minimum(load, np.maximum(scaled, 0.0)), np.minimum(room, np.maximum(-scaled, 0.0)))
    worst = np.argmax(np.maximum(box, comp), axis=0)
    rounding = slack_rounding(caps, margin, f, b)
    certain = certain_gap(y, caps, alpha, margin, margin_rounding(f, b) + found.rounding, b)
    result = []
    for j in range(caps.shape[1]):
        i = int(worst[j])
        scale = max(abs(primal[j]), least[j])
        result.append(
            Certificate(
                primal_value=float(primal[j]),
                dual_value=float(dual[j]),
                gap=float((primal[j] - dual[j]) / scale),
                scale=float(scale),
                primal={"margin": 0.0},
                dual={
                    "stationarity in w": float(stationarity[j]),
                    "box": float(box[:, j].max()),
                    "balance": float(balance[j]),
                },
                slackness={"complementarity": float(comp[:, j].max())},
                rounding=float(rounding[j]),
                certain=float(certain[j]),
                worst=i,
                worst_side=f"y f - 1 = {margin[i, j]:.3g}, alpha = {alpha[i, j]:.6g}, cap {caps[i, j]:.6g}",
                note=note,
            )
        )
    return result


def _feasible_dual(y: Array, caps: Array, alpha: Array) -> Array:
    """Nearest obviously feasible point: clip to the box, then scale the heavier class down to balance."""
    feasible = np.clip(alpha, 0.0, caps)
    positive, negative = y > 0, y < 0
    up, down = feasible[positive].sum(axis=0), feasible[negative].sum(axis=0)
    smaller = np.minimum(up, down)
    tiny = np.finfo(float).tiny
    feasible[positive] *= smaller / np.maximum(up, tiny)
    feasible[negative] *= smaller / np.maximum(down, tiny)
    return feasible


def _feasible_parts(y: Array, caps: Array, alpha: Array) -> Array:
    """`_feasible_dual` for multipliers in two parts (2, n)."""
    above, below = (alpha[0] - caps) + alpha[1] > 0, alpha[0] + alpha[1] < 0
    feasible = np.where(above, np.stack([caps, np.zeros_like(caps)]), np.where(below, 0.0, alpha))
    excess = total(y * feasible)
    heavier = (y > 0) == (excess > 0)
    feasible[1, heavier] -= feasible[0, heavier] * (abs(excess) / max(feasible[0, heavier].sum(), np.finfo(float).tiny))
    return feasible
