"""The proof of lines where multipliers need two doubles each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paretoclf.common.checks import Array
from paretoclf.problem.exact_sums import inner
from paretoclf.problem.parametric_qp import points_of
from paretoclf.problem.units import balanced_units, margin_rounding
from paretoclf.proof import bernstein
from paretoclf.proof.hinge import HingeTerms, of_margins
from paretoclf.proof.line import LineProof
from paretoclf.proof.products import BlockSlopes
from paretoclf.proof.soft_margin import PRECISELY, SoftMargin
from paretoclf.proof.theorem import Entries

_TINY, _EPS = float(np.finfo(float).tiny), float(np.finfo(float).eps)


@dataclass(frozen=True)
class Refined:
    """Solutions at both ends of k segments, to twice double precision.

    Attributes
    ----------
    t : array of shape (k, 2)
    alpha : array of shape (k, 2, 2, n)
        Multipliers: of a segment, at an end, in two parts.
    b : array of shape (k, 2)
    w : array of shape (k, 2, d) or None
        Slopes, where there are features.
    value : array of shape (k, 3)
        Stored optimal values, as in ``Stored``.
    """

    t: Array
    alpha: Array
    b: Array
    w: Array | None
    value: Array


def prove_refined(problem: SoftMargin, refined: Refined, parameter: str) -> LineProof:
    """`prove` for segments on which multipliers need two doubles each; all samples are looked at.

    The weight of the squared norm is 1.
    """
    y, caps, Q, intercept = problem.y, problem.caps, problem.Q, problem.intercept
    assert caps is not None
    note = f"{PRECISELY} {problem.note}".rstrip()
    R, (k, n), free = refined, (refined.t.shape[0], y.size), intercept == "free"
    box = ((1.0 - R.t)[:, :, None] * caps[0] + R.t[:, :, None] * caps[1]).reshape(2 * k, n)
    high, low = (np.ascontiguousarray(R.alpha[:, :, part].reshape(2 * k, n)) for part in (0, 1))
    coef, coef_low = (y * high).T, (y * low).T
    found = Q.twice(coef, coef_low, None if R.w is None else R.w.reshape(2 * k, -1).T)
    scores, rest = found.scores, found.rest
    b = R.b.reshape(-1)
    f, part = scores + b, (scores + b) - scores
    rest = rest + ((scores - (f - part)) + (b - part))  # what f is rounded by (Knuth)
    f = f.T
    margin = y * ((f - y) + rest.T)  # a slack is computed, even where it is all rounding
    inside = np.where((high - box) + low > 0.0, box, np.where(high + low < 0.0, 0.0, high))
    outside = np.abs((high - inside) + np.where(inside == high, 0.0, low))
    parts = [np.stack(pair) for pair in zip(high, low, strict=True)]
    sums, balance = (np.array([inner(pair, v) for pair in parts]) for v in (np.ones(n), y))
    first, second = slice(0, None, 2), slice(1, None, 2)
    norm2, cross = (
        np.array([inner(np.stack([coef[:, i], coef_low[:, i]]), scores[:, j]) for i, j in pairs])
        for pairs in ([(i, i) for i in range(2 * k)], [(2 * i, 2 * i + 1) for i in range(k)])
    )

    def at_ends(x: Array) -> Array:
        return np.stack([x[first].ravel(), x[second].ravel()])

    each = n * np.arange(k + 1), np.repeat(np.arange(k), n), np.tile(np.arange(n), k)
    E = Entries(*each, at_ends(box), at_ends(inside), at_ends(margin), points_of(R.t, caps))
    units = np.maximum(balanced_units(y, box.T).T * (box > 0.0), 0.0) if free else box
    seen = of_margins(E, at_ends(units), outside.sum(axis=1).reshape(k, 2))
    slopes = BlockSlopes(norm2, cross, found.apart, found.distance)
    if intercept == "feature":
        slopes = slopes.with_constant(balance, b, 1.0 + np.abs(coef).sum(axis=0), 1.0, (first, second))
    allowed = margin_rounding(f, R.b.reshape(-1, 1)).reshape(k, 2, n)
    near = (margin.reshape(k, 2, n) <= allowed).all(axis=1)  # at both ends, so all along
    lost = (box.reshape(k, 2, n) * (near * allowed.min(axis=1))[:, None]).sum(axis=2)
    plus, minus = (box[:, side].sum(axis=1).reshape(k, 2) for side in (y > 0, y < 0))
    residuals = {
        "stationarity in w": slopes.apart.reshape(k, 2).max(axis=1),
        "box": (outside / np.maximum(box, _TINY)).max(axis=1, initial=0.0).reshape(k, 2).max(axis=1),
        "balance": np.zeros(k),
        "complementarity": seen.pop("complementarity"),
    }
    terms = HingeTerms(
        t=R.t,
        norms=slopes.norms((first, second)),
        sums=sums.reshape(k, 2),
        balance=balance.reshape(k, 2),
        plus=plus,
        minus=minus,
        distance=slopes.distance.reshape(k, 2),
        slack=np.full(k, max(0.0, -float(margin.min()))),
        b=R.b,
        rounding=bernstein.line(lost),
        residuals=residuals,
        length2=Q.terms2,
        intercept=intercept,
        **seen,
    )
    return terms.proof(R.value, parameter=parameter, note=note)
