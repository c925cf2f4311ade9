r"""The judge of support vector machines with hinge slacks: the 2C-SVM, the quantile SVM, the hinge risk.

For the problem (:math:`K_{ij}=k(x_i,x_j)`, caps :math:`c_i\ge0`, see `paretoclf.proof.soft_margin`)

.. math::

   P(w,b)=\tfrac\lambda2\|w\|^2+\sum_i c_i\max(0,1-y_if(x_i)),\qquad
   D(\alpha)=1^\top\alpha-\tfrac1{2\lambda}(y\alpha)^\top K(y\alpha),\ 0\le\alpha\le c,

with :math:`y^\top\alpha=0` where the intercept is free, weak duality says :math:`D(\alpha)\le P(w,b)` for every
feasible pair. The certificate evaluates P at a feasible primal point and D at a feasible dual point, so the gap bounds
how far *each* of them is from optimal, whoever computed them. The residuals of the KKT conditions say where it goes
wrong.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.common.tolerances import SCORE_ROUNDING, SLACK_ROUNDING, UNDECIDED
from paretoclf.problem.exact_sums import inner, quotient, total
from paretoclf.problem.units import (
    balanced_by,
    balanced_units,
    box_units,
    certain_terms,
    class_sums,
    largest_of,
    least_scale,
    margin_rounding,
    slack_rounding,
)
from paretoclf.proof.certificates import Certificate
from paretoclf.proof.evidence import Condition, Judged
from paretoclf.proof.soft_margin import PRECISELY, SoftMargin

#: Bytes of working arrays that `certify_hinges` holds at a time.
_WORK = 2**25

_TINY = float(np.finfo(float).tiny)


def judge_hinge(
    problem: SoftMargin,
    alpha: Array,
    b: float,
    w: Array | None = None,
    alpha_lo: Array | None = None,
    certificate: Certificate | None = None,
) -> Judged:
    """Judge multipliers and intercept.

    Parameters
    ----------
    problem : SoftMargin
        With caps of shape (n,).
    alpha : array of shape (n,)
        Multipliers.
    b : float
        Intercept; where it is the weight of a constant feature, nan for the one that the multipliers imply.
    w : array of shape (d,), optional
        A slope given separately; by default the one that alpha implies.
    alpha_lo : array of shape (n,), optional
        What alpha misses of the multipliers: then sums are rounded once.
    certificate : Certificate, optional
        The certificate, where it was computed together with others.

    Examples
    --------
    >>> import numpy as np
    >>> from paretoclf.proof.points.hinge import judge_hinge
    >>> from paretoclf.proof import SoftMargin
    >>> from paretoclf.problem.operator import Features
    >>> problem = SoftMargin(np.array([1.0, -1.0]), Features(np.array([[1.0], [-1.0]])), np.ones(2), intercept="none")
    >>> judge_hinge(problem, np.full(2, 0.5), 0.0).certificate.gap
    0.0
    """
    y, caps = problem.y, _caps(problem)
    if certificate is None:
        certificate = certify_hinge(problem, alpha, b, w, alpha_lo)
    coef = y * alpha / problem.lam
    b = float(coef.sum()) if np.isnan(b) else float(b)
    f = problem.Q.scores(coef, w) + b
    xi = np.maximum(0.0, 1.0 - y * f)
    units: dict[str, Any] = {"slack_unit": 1.0 + np.abs(f), "multiplier_unit": _units(problem, caps)}
    conditions = (
        Condition("margin", y * f - 1.0 + xi, alpha, **units),
        Condition("slack", xi, caps - alpha, **units),
    )
    low = {} if alpha_lo is None else {"alpha_lo": alpha_lo}
    return Judged(certificate, conditions, {"alpha": alpha, "xi": xi, "b": b} | low)


def certify_hinge(
    problem: SoftMargin, alpha: Array, b: float, w: Array | None = None, alpha_lo: Array | None = None
) -> Certificate:
    """The certificate of one pair; arguments as for `judge_hinge`."""
    if alpha_lo is not None:
        return certify_hinge_precisely(problem, np.stack([alpha, np.asarray(alpha_lo)]), b, w)
    W = None if w is None else np.asarray(w, dtype=np.float64)[:, None]
    return _certified(problem, _caps(problem)[:, None], alpha[:, None], np.array([b], dtype=np.float64), W)[0]


def hinge_value(problem: SoftMargin, alpha: Array, b: float, w: Array | None = None) -> float | None:
    """Primal objective of one pair with a free intercept, as its certificate has it.

    None where the rounding of slacks may be as much as the value: that takes the certificate (`certify_hinges`).
    """
    y, Q, lam, caps = problem.y, problem.Q, problem.lam, _caps(problem)[:, None]
    if w is None:
        slopes = Q.slopes((y * alpha / lam)[:, None])
        scores, norm2 = slopes.scores, slopes.norm2
    else:
        W = np.asarray(w, dtype=np.float64)[:, None]
        scores, norm2 = Q.project(W), np.einsum("dk,dk->k", W, W)
    f = scores + b
    value = float(_objective(lam, norm2, caps, y[:, None] * f - 1.0)[0])
    most = SLACK_ROUNDING * float(caps.sum()) * (1.0 + float(np.abs(f).max()) + abs(b))
    return value if most <= 0.5 * UNDECIDED * value else None


def _objective(lam: float, norm2: Array, caps: Array, margin: Array) -> Array:
    """Primal objectives, shape (k,), of squared norms (k,), and caps and margins ``y f - 1`` (n, k)."""
    return np.asarray(0.5 * lam * norm2 + np.einsum("nk,nk->k", caps, np.maximum(0.0, -margin)))


def certify_hinges(problem: SoftMargin, alpha: Array, b: Array, W: Array | None = None) -> list[Certificate]:
    """Certificates of k pairs at once: caps and alpha have shape (n, k), b (k,), W (d, k). No checks of input.

    Without W, w is what alpha implies. The k columns are worked through in blocks, so that the working arrays, which
    have n or d rows, stay below a fixed size whatever k is.
    """
    Q, caps = problem.Q, _caps(problem)
    width = max(1, _WORK // (8 * (12 * Q.n + 6 * Q.width)))
    blocks = (slice(first, first + width) for first in range(0, alpha.shape[1], width))
    return [
        certificate
        for at in blocks
        for certificate in _certified(problem, caps[:, at], alpha[:, at], b[at], None if W is None else W[:, at])
    ]


def _certified(problem: SoftMargin, caps: Array, alpha: Array, b: Array, W: Array | None) -> list[Certificate]:
    """The certificates of one block: the same with caps (n, k) in place of the problem's."""
    Q, lam, signs = problem.Q, problem.lam, problem.y[:, None]
    coef, made = signs * alpha / lam, problem.feasible(alpha, caps)
    slopes, below = Q.slopes(coef, W), signs * made / lam
    constant = coef.sum(axis=0) if problem.intercept == "feature" else np.zeros(coef.shape[1])
    norm2 = slopes.norm2 if W is None and (below == coef).all() else Q.norms(below)
    if problem.intercept == "feature":
        norm2 = norm2 + below.sum(axis=0) ** 2
    dual = made.sum(axis=0) - 0.5 * lam * norm2
    terms = SCORE_ROUNDING * Q.score_terms(coef, slopes.norm2)
    intercept = np.where(np.isnan(b), constant, b)
    seen = _Seen(slopes.scores + intercept, None, slopes.norm2, slopes.apart, intercept, constant, dual, terms)
    found = _conclude(problem, caps, alpha, seen)
    for j, certificate in enumerate(found):
        # A slack that rounds to 0 shows in no gap. Where that may hide as much as the value, margins are computed in
        # twice the precision.
        if certificate.rounding > UNDECIDED * certificate.scale:
            one = replace(problem, caps=caps[:, j])
            w = None if W is None else W[:, j]
            precise = certify_hinge_precisely(one.unit, quotient(alpha[:, j], lam), float(b[j]), w).times(lam)
            found[j] = replace(precise, note=problem.note)
    return found


def certify_hinge_precisely(problem: SoftMargin, parts: Array, b: float, w: Array | None = None) -> Certificate:
    """`certify_hinges` for one pair whose multipliers come in two parts, (2, n): sums are rounded once.

    Margins, too: a slack is computed even where it is nothing but the rounding of w and b. The weight of the squared
    norm is 1.
    """
    y, Q = problem.y, problem.Q
    slope, made = Q.precise(y * parts, w), problem.feasible_parts(parts)
    lower, constant = Q.precise(y * made).norm2, 0.0
    if problem.intercept == "feature":
        constant, lower = inner(parts, y), lower + inner(made, y) ** 2
    b = constant if np.isnan(b) else b
    ones = np.full(y.size, b)
    f, margin = slope.scores() + b, y * slope.scores(np.column_stack([ones, -y]))
    norm2, apart, at, implied, dual = (
        np.array([x]) for x in (slope.norm2, slope.apart, b, constant, total(made) - 0.5 * lower)
    )
    seen = _Seen(f[:, None], margin[:, None], norm2, apart, at, implied, dual, np.zeros(1))
    noted = replace(problem, note=f"{PRECISELY} {problem.note}".rstrip())
    return _conclude(noted, _caps(problem)[:, None], parts[0][:, None], seen)[0]


class _Seen(NamedTuple):
    """What k points are judged by.

    Scores f (n, k) with intercepts b (k,), margins ``y f - 1`` where they are known better than these, ``norm2`` and
    ``apart`` of the slopes, the ``constant`` that multipliers imply where b is the weight of a feature, dual values of
    feasible multipliers, and the rounding of scores.
    """

    f: Array
    margin: Array | None
    norm2: Array
    apart: Array
    b: Array
    constant: Array
    dual: Array
    rounding: Array


def _conclude(problem: SoftMargin, caps: Array, alpha: Array, seen: _Seen) -> list[Certificate]:
    """Certificates of multipliers (n, k) with caps (n, k)."""
    y, lam, free = problem.y, problem.lam, problem.intercept == "free"
    sums = class_sums(y, caps) if free else None
    f, b, norm2, apart = seen.f, seen.b, seen.norm2, seen.apart
    margin = y[:, None] * f - 1.0 if seen.margin is None else seen.margin
    if not free:
        norm2 = norm2 + b**2
        apart = np.maximum(apart, np.abs(b - seen.constant) / (1.0 + np.abs(alpha).sum(axis=0) / lam))
    primal = _objective(lam, norm2, caps, margin)
    rounding = margin_rounding(f, b)
    hidden = slack_rounding(caps, margin, f, b, rounding)
    # Only who is off the right bound, or off its margin on the wrong side, adds to the residuals and to the gap.
    right = ((alpha == 0.0) & (margin >= 0.0)) | ((alpha == caps) & (margin <= 0.0))
    place = (~right).ravel().nonzero()[0]
    sample, of = np.divmod(place, b.size)
    units = box_units(caps) if sums is None else balanced_by(y > 0, caps, sums)
    a, c, g, unit, score = (x.take(place) for x in (alpha, caps, margin, units, f))
    beyond, load, room = np.maximum(np.maximum(-a, a - c), 0.0), np.maximum(a, 0.0), np.maximum(c - a, 0.0)
    terms = certain_terms(load, room, beyond, g, rounding.take(place) + seen.rounding.take(of))
    certain, scaled = np.bincount(of, terms, b.size), g / (1.0 + np.abs(score))
    with np.errstate(over="ignore"):  # costs may be as small as numbers are
        outside, load, room = beyond / unit, load / unit, room / unit
    meet = np.maximum(np.minimum(load, np.maximum(scaled, 0.0)), np.minimum(room, np.maximum(-scaled, 0.0)))
    off = np.maximum(outside, meet)
    box, comp, most = (_largest(of, each, b.size) for each in (outside, meet, off))
    worst, first = np.zeros(b.size, dtype=np.int64), (~(off < most.take(of))).nonzero()[0][::-1]
    worst[of.take(first)] = sample.take(first)  # of several the first sample
    constraints, least = {"stationarity in w": apart, "box": box}, np.full(b.size, _TINY)
    if sums is not None:
        # Elsewhere b is part of the norm, and adds no term of its own.
        balance, largest = np.abs(y @ alpha), np.minimum(*sums)
        certain = certain - np.abs(b) * balance
        if not (largest > 0.0).all():
            largest = largest_of(sums)
            least = least_scale(sums, largest)
        constraints["balance"] = balance / largest
    numbers = primal, seen.dual, comp, hidden, problem.value_rounding(alpha), certain, least, worst
    result = []
    for j, each in enumerate(zip(*(x.tolist() for x in numbers), strict=True)):
        upper, lower, slackness, rounding_of_slacks, of_kernel, sure, smallest, i = each
        scale = max(abs(upper), smallest)
        result.append(
            Certificate(
                primal_value=upper,
                dual_value=lower,
                gap=(upper - lower) / scale,
                scale=scale,
                primal={"margin": 0.0},
                dual={name: residuals.item(j) for name, residuals in constraints.items()},
                slackness={"complementarity": slackness},
                rounding=rounding_of_slacks,
                kernel_rounding=of_kernel,
                certain=sure,
                worst=i,
                worst_side=(
                    f"y f - 1 = {margin.item(i, j):.3g}, alpha = {alpha.item(i, j):.6g}, cap {caps.item(i, j):.6g}"
                ),
                note=problem.note,
            )
        )
    return result


def _largest(of: Index, values: Array, k: int) -> Array:
    """The largest of the values of each of k points, no less than 0."""
    if k == 1:
        return np.maximum.reduce(values, initial=0.0, keepdims=True)
    found = np.zeros(k)
    np.maximum.at(found, of, values)
    return found


def _caps(problem: SoftMargin) -> Array:
    assert problem.caps is not None
    return problem.caps


def _units(problem: SoftMargin, caps: Array) -> Array:
    """What multipliers are judged against."""
    return balanced_units(problem.y, caps) if problem.intercept == "free" else box_units(caps)
