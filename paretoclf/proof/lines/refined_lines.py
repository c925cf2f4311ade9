"""The proof of lines where multipliers need two doubles each."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from paretoclf.common.checks import Array, Index
from paretoclf.problem.exact_sums import inner
from paretoclf.problem.parametric_qp import points_of
from paretoclf.problem.pieces import Pieces
from paretoclf.problem.units import balanced_units, margin_rounding
from paretoclf.proof.lines.hinge_lines import HingeTerms, of_margins, prove_hinge
from paretoclf.proof.points.soft_margin import PRECISELY, SoftMargin
from paretoclf.proof.segments import bernstein
from paretoclf.proof.segments.line_proof import LineProof
from paretoclf.proof.segments.score_products import BlockSlopes
from paretoclf.proof.segments.theorem import Entries

_TINY = float(np.finfo(float).tiny)

#: Rows of the beginnings and of the ends of segments, among those of all ends.
_FIRST, _LAST = slice(0, None, 2), slice(1, None, 2)

#: Scores in two parts, (n, 2 k) each.
_Scores = tuple[Array, Array]


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
        Stored optimal values, as in ``Pieces``.
    """

    t: Array
    alpha: Array
    b: Array
    w: Array | None
    value: Array

    def part(self, which: Index) -> Refined:
        """Take some of the segments."""
        w = None if self.w is None else self.w[which]
        return Refined(self.t[which], self.alpha[which], self.b[which], w, self.value[which])


def prove_costs(problem: SoftMargin, stored: Pieces | Refined, parameter: str) -> LineProof:
    """Prove what is stored of a line of classifiers whose slacks have costs."""
    if not isinstance(stored, Refined):
        return prove_hinge(problem, stored, parameter)
    unit = replace(stored, value=stored.value / problem.lam)
    return prove_refined(problem.unit, unit, parameter).times(problem.lam)


def prove_refined(problem: SoftMargin, refined: Refined, parameter: str) -> LineProof:
    """Prove segments on which multipliers need two doubles each; margins of all samples are computed.

    The weight of the squared norm is 1.
    """
    ends = _RefinedEnds.of(problem, refined)
    shape = refined.t.shape
    slopes, scores = _slopes_and_scores(problem, refined, ends)
    b = refined.b.reshape(-1)
    margin, rounded_scores = _margins(problem.y, scores, b)
    entries, units = _entries(problem, refined, ends, margin)
    part = of_margins(entries, units, ends.outside.sum(axis=1).reshape(shape))
    sums = np.array([inner(pair, np.ones_like(problem.y)) for pair in ends.pairs])
    balance = np.array([inner(pair, problem.y) for pair in ends.pairs])
    if problem.intercept == "feature":
        size = 1.0 + np.abs(problem.y * ends.high).sum(axis=1)
        slopes = slopes.with_constant(balance, b, size, 1.0, (_FIRST, _LAST))
    plus, minus = (ends.caps[:, members].sum(axis=1) for members in (problem.y > 0, problem.y < 0))
    box = (ends.outside / np.maximum(ends.caps, _TINY)).max(axis=1, initial=0.0)
    residuals = {
        "stationarity in w": slopes.stationarity.reshape(shape).max(axis=1),
        "box": box.reshape(shape).max(axis=1),
        "balance": np.zeros(len(refined.t)),
        "complementarity": part.pop("complementarity"),
    }
    terms = HingeTerms(
        t=refined.t,
        norms=slopes.norms((_FIRST, _LAST)),
        sums=sums.reshape(shape),
        balance=balance.reshape(shape),
        plus=plus.reshape(shape),
        minus=minus.reshape(shape),
        distance=slopes.distance.reshape(shape),
        slack=np.full(len(refined.t), max(0.0, -float(margin.min()))),
        b=refined.b,
        rounding=bernstein.line(_lost(refined, ends.caps, margin, rounded_scores)),
        residuals=residuals,
        length2=problem.Q.terms2,
        intercept=problem.intercept,
        **part,
    )
    note = f"{PRECISELY} {problem.note}".rstrip()
    return terms.proof(refined.value, parameter=parameter, note=note)


@dataclass(frozen=True)
class _RefinedEnds:
    """Caps and multipliers at the 2 k ends of k segments, one after the other.

    Attributes
    ----------
    caps, high, low : arrays of shape (2 k, n)
        Caps, and the two parts of the multipliers.
    inside, outside : arrays of shape (2 k, n)
        Multipliers moved into their box, and the sizes of these moves.
    """

    caps: Array
    high: Array
    low: Array
    inside: Array
    outside: Array

    @classmethod
    def of(cls, problem: SoftMargin, refined: Refined) -> _RefinedEnds:
        """Compute them for a problem and what is stored of its line."""
        assert problem.caps is not None
        start, stop = problem.caps
        t = refined.t[:, :, None]
        caps = ((1.0 - t) * start + t * stop).reshape(-1, problem.y.size)
        high, low = (np.ascontiguousarray(refined.alpha[:, :, part].reshape(caps.shape)) for part in (0, 1))
        above_cap = (high - caps) + low > 0.0
        not_negative = np.where(high + low < 0.0, 0.0, high)
        inside = np.where(above_cap, caps, not_negative)
        rest = np.where(inside == high, 0.0, low)
        return cls(caps, high, low, inside, np.abs((high - inside) + rest))

    @property
    def pairs(self) -> list[Array]:
        """Both parts of the multipliers at each end, (2, n) each."""
        return [np.stack(pair) for pair in zip(self.high, self.low, strict=True)]


def _slopes_and_scores(problem: SoftMargin, refined: Refined, ends: _RefinedEnds) -> tuple[BlockSlopes, _Scores]:
    """Norms and residuals of the slopes, and the scores, with products in twice the precision."""
    coef, coef_low = (problem.y * ends.high).T, (problem.y * ends.low).T
    w = None if refined.w is None else refined.w.reshape(len(ends.caps), -1).T
    found = problem.Q.twice(coef, coef_low, w)

    def product(one: int, other: int) -> float:
        """Inner product of the slope implied at one end with the slope that is judged at another."""
        return inner(np.stack([coef[:, one], coef_low[:, one]]), found.scores[:, other])

    count = len(ends.caps)
    norm2 = np.array([product(end, end) for end in range(count)])
    cross = np.array([product(end, end + 1) for end in range(0, count, 2)])
    return BlockSlopes(norm2, cross, found.apart, found.distance), (found.scores, found.rest)


def _margins(y: Array, scores: _Scores, b: Array) -> tuple[Array, Array]:
    """Distances within the margin, (2 k, n), and scores with the intercept, as they are rounded.

    A slack is computed even where it is all rounding.
    """
    products, rest = scores
    rounded = products + b
    b_part = rounded - products
    rest = rest + ((products - (rounded - b_part)) + (b - b_part))  # the rounding of the sum (Knuth)
    rounded = rounded.T
    return y * ((rounded - y) + rest.T), rounded


def _entries(problem: SoftMargin, refined: Refined, ends: _RefinedEnds, margin: Array) -> tuple[Entries, Array]:
    """List all samples on each segment, with the most that their multipliers can be, (2, e)."""
    assert problem.caps is not None
    count, segments = problem.y.size, len(refined.t)
    ptr = count * np.arange(segments + 1)
    row = np.repeat(np.arange(segments), count)
    sample = np.tile(np.arange(count), segments)
    caps, inside, margin = (_at_ends(each) for each in (ends.caps, ends.inside, margin))
    units = ends.caps
    if problem.intercept == "free":
        balanced = balanced_units(problem.y, ends.caps.T).T
        units = np.maximum(balanced * (ends.caps > 0.0), 0.0)
    return Entries(ptr, row, sample, caps, inside, margin, points_of(refined.t, problem.caps)), _at_ends(units)


def _at_ends(numbers: Array) -> Array:
    """Split rows (2 k, n) for all ends into those of beginnings and those of ends of segments, (2, k n)."""
    return np.stack([numbers[_FIRST].ravel(), numbers[_LAST].ravel()])


def _lost(refined: Refined, caps: Array, margin: Array, scores: Array) -> Array:
    """Costs, at both ends of each segment (k, 2), of slacks that rounding of margins may hide."""
    shape = (*refined.t.shape, margin.shape[1])
    rounding = margin_rounding(scores, refined.b.reshape(-1, 1)).reshape(shape)
    near = (margin.reshape(shape) <= rounding).all(axis=1)  # at both ends, so all along
    hidden = (near * rounding.min(axis=1))[:, None]
    return np.asarray((caps.reshape(shape) * hidden).sum(axis=2))
