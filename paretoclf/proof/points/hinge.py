r"""The judge of support vector machines with hinge slacks: the 2C-SVM, the quantile SVM, the hinge risk.

For the problem (:math:`K_{ij}=k(x_i,x_j)`, caps :math:`c_i\ge0`, see `paretoclf.proof.points.soft_margin`)

.. math::

   P(w,b)=\tfrac\lambda2\|w\|^2+\sum_i c_i\max(0,1-y_if(x_i)),\qquad
   D(\alpha)=1^\top\alpha-\tfrac1{2\lambda}(y\alpha)^\top K(y\alpha),\ 0\le\alpha\le c,

with :math:`y^\top\alpha=0` where the intercept is free, weak duality says :math:`D(\alpha)\le P(w,b)` for every
feasible pair. The certificate evaluates P at a feasible primal point and D at a feasible dual point, so the gap bounds
how far *each* of them is from optimal, whoever computed them. The residuals of the KKT conditions say where it goes
wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from paretoclf.proof.points.soft_margin import PRECISELY, SoftMargin
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.proof.verdicts.evidence import Condition, Judged

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
        Part of the multipliers that alpha, in doubles, does not hold: then sums are rounded once.
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
    scores = problem.Q.scores(coef, w) + b
    xi = np.maximum(0.0, 1.0 - y * scores)
    units: dict[str, Any] = {"slack_unit": 1.0 + np.abs(scores), "multiplier_unit": _units(problem, caps)}
    of_margin = Condition("margin", y * scores - 1.0 + xi, alpha, **units)
    of_slack = Condition("slack", xi, caps - alpha, **units)
    low = {} if alpha_lo is None else {"alpha_lo": alpha_lo}
    return Judged(certificate, (of_margin, of_slack), {"alpha": alpha, "xi": xi, "b": b} | low)


def certify_hinge(
    problem: SoftMargin, alpha: Array, b: float, w: Array | None = None, alpha_lo: Array | None = None
) -> Certificate:
    """Certify one pair; arguments as for `judge_hinge`."""
    if alpha_lo is not None:
        return certify_hinge_precisely(problem, np.stack([alpha, np.asarray(alpha_lo)]), b, w)
    slopes = None if w is None else np.asarray(w, dtype=np.float64)[:, None]
    intercept = np.array([b], dtype=np.float64)
    return _certified(problem, _caps(problem)[:, None], alpha[:, None], intercept, slopes)[0]


def hinge_value(problem: SoftMargin, alpha: Array, b: float, w: Array | None = None) -> float | None:
    """Primal objective of one pair with a free intercept, as its certificate has it.

    None where the rounding of slacks may be as much as the value: that takes the certificate (`certify_hinges`).
    """
    signs, caps = problem.y[:, None], _caps(problem)[:, None]
    if w is None:
        implied = problem.Q.slopes((problem.y * alpha / problem.lam)[:, None])
        scores, norm2 = implied.scores, implied.norm2
    else:
        slopes = np.asarray(w, dtype=np.float64)[:, None]
        scores, norm2 = problem.Q.project(slopes), np.einsum("dk,dk->k", slopes, slopes)
    scores = scores + b
    value = float(_objective(problem.lam, norm2, caps, signs * scores - 1.0)[0])
    size = 1.0 + float(np.abs(scores).max()) + abs(b)
    rounding = SLACK_ROUNDING * float(caps.sum()) * size
    return value if rounding <= 0.5 * UNDECIDED * value else None


def _objective(lam: float, norm2: Array, caps: Array, margin: Array) -> Array:
    """Primal objectives, shape (k,), of squared norms (k,), and caps and margins ``y f - 1`` (n, k)."""
    slacks = np.maximum(0.0, -margin)
    return np.asarray(0.5 * lam * norm2 + np.einsum("nk,nk->k", caps, slacks))


def certify_hinges(problem: SoftMargin, alpha: Array, b: Array, slopes: Array | None = None) -> list[Certificate]:
    """Certificates of k pairs at once: caps and alpha have shape (n, k), b (k,), slopes (d, k). No checks of input.

    By default the slopes are those that alpha implies. The k columns are worked through in blocks, so that the working
    arrays, which have n or d rows, stay below a fixed size whatever k is.
    """
    caps = _caps(problem)
    width = max(1, _WORK // (8 * (12 * problem.Q.n + 6 * problem.Q.width)))
    certificates = []
    for first in range(0, alpha.shape[1], width):
        block = slice(first, first + width)
        own_slopes = None if slopes is None else slopes[:, block]
        certificates += _certified(problem, caps[:, block], alpha[:, block], b[block], own_slopes)
    return certificates


def _certified(problem: SoftMargin, caps: Array, alpha: Array, b: Array, slopes: Array | None) -> list[Certificate]:
    """Certify the pairs of one block, with caps (n, k) in place of the problem's."""
    lam, signs = problem.lam, problem.y[:, None]
    coef = signs * alpha / lam
    judged = problem.Q.slopes(coef, slopes)
    terms = SCORE_ROUNDING * problem.Q.score_terms(coef, judged.norm2)
    feasible = problem.feasible(alpha, caps)
    feasible_coef = signs * feasible / lam
    known = slopes is None and (feasible_coef == coef).all()
    norm2 = judged.norm2 if known else problem.Q.norms(feasible_coef)
    constant = np.zeros(coef.shape[1])
    if problem.intercept == "feature":
        constant = coef.sum(axis=0)
        norm2 = norm2 + feasible_coef.sum(axis=0) ** 2
    dual = feasible.sum(axis=0) - 0.5 * lam * norm2
    intercept = np.where(np.isnan(b), constant, b)
    scores = judged.scores + intercept
    seen = _SeenPoints(scores, None, judged.norm2, judged.apart, intercept, constant, dual, terms)
    found = _conclude(problem, caps, alpha, seen)
    for point, certificate in enumerate(found):
        # A slack that rounds to 0 shows in no gap. Where that may hide as much as the value, margins are computed in
        # twice the precision.
        if certificate.rounding > UNDECIDED * certificate.scale:
            one = replace(problem, caps=caps[:, point])
            w = None if slopes is None else slopes[:, point]
            parts = quotient(alpha[:, point], lam)
            precise = certify_hinge_precisely(one.unit, parts, float(b[point]), w).times(lam)
            found[point] = replace(precise, note=problem.note)
    return found


def certify_hinge_precisely(problem: SoftMargin, parts: Array, b: float, w: Array | None = None) -> Certificate:
    """Certify one pair whose multipliers come in two parts, (2, n): sums are rounded once.

    Margins, too: a slack is computed even where it is nothing but the rounding of w and b. The weight of the squared
    norm is 1.
    """
    y, Q = problem.y, problem.Q
    slope = Q.precise(y * parts, w)
    feasible = problem.feasible_parts(parts)
    norm2, constant = Q.precise(y * feasible).norm2, 0.0
    if problem.intercept == "feature":
        constant = inner(parts, y)
        norm2 = norm2 + inner(feasible, y) ** 2
    b = constant if np.isnan(b) else b
    less_target = np.column_stack([np.full(y.size, b), -y])
    margin = y * slope.scores(less_target)
    seen = _SeenPoints(
        scores=(slope.scores() + b)[:, None],
        margin=margin[:, None],
        norm2=np.array([slope.norm2]),
        stationarity=np.array([slope.apart]),
        b=np.array([b]),
        constant=np.array([constant]),
        dual=np.array([total(feasible) - 0.5 * norm2]),
        rounding=np.zeros(1),
    )
    noted = replace(problem, note=f"{PRECISELY} {problem.note}".rstrip())
    return _conclude(noted, _caps(problem)[:, None], parts[0][:, None], seen)[0]


class _SeenPoints(NamedTuple):
    """Scores, slopes and dual values of k points.

    Scores (n, k) with intercepts b (k,), margins ``y f - 1`` where they are known better than these, ``norm2`` and
    ``stationarity`` (its residual) of the slopes, the ``constant`` that multipliers imply where b is the weight of a
    feature, dual values of feasible multipliers, and the rounding of scores.
    """

    scores: Array
    margin: Array | None
    norm2: Array
    stationarity: Array
    b: Array
    constant: Array
    dual: Array
    rounding: Array


def _conclude(problem: SoftMargin, caps: Array, alpha: Array, seen: _SeenPoints) -> list[Certificate]:
    """Make the certificates of multipliers (n, k) with caps (n, k)."""
    y, lam, free = problem.y, problem.lam, problem.intercept == "free"
    sums = class_sums(y, caps) if free else None
    b, norm2, stationarity = seen.b, seen.norm2, seen.stationarity
    margin = y[:, None] * seen.scores - 1.0 if seen.margin is None else seen.margin
    if not free:
        norm2 = norm2 + b**2
        unit = 1.0 + np.abs(alpha).sum(axis=0) / lam
        stationarity = np.maximum(stationarity, np.abs(b - seen.constant) / unit)
    primal = _objective(lam, norm2, caps, margin)
    rounding = margin_rounding(seen.scores, b)
    of_slacks = slack_rounding(caps, margin, seen.scores, b, rounding)
    units = box_units(caps) if sums is None else balanced_by(y > 0, caps, sums)
    found = _Wrong.of(caps, alpha, margin, units, seen, rounding)
    certain, least = found.certain, np.full(b.size, _TINY)
    constraints = {"stationarity in w": stationarity, "box": found.box}
    if sums is not None:
        # Elsewhere b is part of the norm, and adds no term of its own.
        balance, largest = np.abs(y @ alpha), np.minimum(*sums)
        certain = certain - np.abs(b) * balance
        if not (largest > 0.0).all():
            largest = largest_of(sums)
            least = least_scale(sums, largest)
        constraints["balance"] = balance / largest
    of_kernel = problem.value_rounding(alpha)
    result = []
    for point, upper in enumerate(primal.tolist()):
        lower, worst = seen.dual.item(point), found.worst.item(point)
        scale = max(abs(upper), least.item(point))
        at_worst = f"y f - 1 = {margin.item(worst, point):.3g}, alpha = {alpha.item(worst, point):.6g}"
        certificate = Certificate(
            primal_value=upper,
            dual_value=lower,
            gap=(upper - lower) / scale,
            scale=scale,
            primal={"margin": 0.0},
            dual={name: residuals.item(point) for name, residuals in constraints.items()},
            slackness={"complementarity": found.complementarity.item(point)},
            rounding=of_slacks.item(point),
            kernel_rounding=of_kernel.item(point),
            certain=certain.item(point),
            worst=worst,
            worst_side=f"{at_worst}, cap {caps.item(worst, point):.6g}",
            note=problem.note,
        )
        result.append(certificate)
    return result


@dataclass(frozen=True)
class _Wrong:
    """Residuals of box and complementarity at k points, and the part of the gap that is certain; (k,) each.

    ``worst`` is the sample with the largest residual at each point, of several one that leaves its box.
    """

    box: Array
    complementarity: Array
    certain: Array
    worst: Index

    @classmethod
    def of(cls, caps: Array, alpha: Array, margin: Array, units: Array, seen: _SeenPoints, rounding: Array) -> _Wrong:
        """Compute them from the few samples that have a residual.

        Only a sample that is off the right bound, or off its margin on the wrong side, adds to the residuals and to the
        gap. Caps, multipliers, margins and their rounding, and the units of multipliers have shape (n, k).
        """
        count = seen.b.size
        at_lower, at_upper = (alpha == 0.0) & (margin >= 0.0), (alpha == caps) & (margin <= 0.0)
        place = (~(at_lower | at_upper)).ravel().nonzero()[0]
        sample, point = np.divmod(place, count)
        numbers = (alpha, caps, margin, units, seen.scores)
        multiplier, cap, distance, unit, score = (each.take(place) for each in numbers)
        violation = np.maximum(np.maximum(-multiplier, multiplier - cap), 0.0)
        load, slack = np.maximum(multiplier, 0.0), np.maximum(cap - multiplier, 0.0)
        in_doubt = rounding.take(place) + seen.rounding.take(point)
        terms = certain_terms(load, slack, violation, distance, in_doubt)
        relative = distance / (1.0 + np.abs(score))
        with np.errstate(over="ignore"):  # costs may be as small as numbers are
            outside, load, slack = violation / unit, load / unit, slack / unit
        within = np.minimum(load, np.maximum(relative, 0.0))
        meeting = np.maximum(within, np.minimum(slack, np.maximum(-relative, 0.0)))
        residual = np.maximum(outside, meeting)
        box, complementarity, most = (_largest(point, each, count) for each in (outside, meeting, residual))
        worst = np.zeros(count, dtype=np.int64)
        reached = (~(residual < most.take(point))).nonzero()[0][::-1]
        leaving = reached[~(outside.take(reached) < residual.take(reached))]
        for some in (reached, leaving):  # of several one that leaves its box, as the verdict says; of those the first
            worst[point.take(some)] = sample.take(some)
        certain = np.asarray(np.bincount(point, terms, count), dtype=np.float64)
        return cls(box, complementarity, certain, worst)


def _largest(point: Index, values: Array, count: int) -> Array:
    """The largest of the values of each point, no less than 0."""
    if count == 1:
        return np.maximum.reduce(values, initial=0.0, keepdims=True)
    found = np.zeros(count)
    np.maximum.at(found, point, values)
    return found


def _caps(problem: SoftMargin) -> Array:
    """Caps of a problem that has them."""
    assert problem.caps is not None
    return problem.caps


def _units(problem: SoftMargin, caps: Array) -> Array:
    """Scale of each multiplier in the relative residuals."""
    return balanced_units(problem.y, caps) if problem.intercept == "free" else box_units(caps)
