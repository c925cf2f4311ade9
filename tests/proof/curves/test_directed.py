"""One program for each condition of the theorem: a judge without the condition says something false there.

Random falsification catches few of these: `tests/benchmarks/falsified_curves.py` can be run with each wrong judge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from paretoclf.proof.cones.cone_kinds import Cone, Cones
from paretoclf.proof.curves import cone_shares, curve_theorem
from paretoclf.proof.curves.curve_program import CurveProgram
from paretoclf.proof.curves.curve_theorem import CurveJudge, CurvePiece, ValueBox
from paretoclf.proof.curves.polynomials import Polynomials
from paretoclf.proof.curves.residuals import ApproximateInverse


def column(*values):
    return np.array(values, dtype=float)[:, None]


@dataclass(frozen=True)
class Case:
    """A program of one variable, a piece, and the optimal value as a function of t."""

    program: CurveProgram
    piece: CurvePiece
    truth: object
    shares: tuple
    box: ValueBox


def case(A, b, piece, truth, shares, *, prices=None, kinds=None, box=3.0, ceiling=np.inf, P=(0.0, 0.0), q=1.0):
    A = [column(*each) for each in A]
    A = (A[0], A[0]) if (A[0] == A[1]).all() else tuple(A)
    P = [np.array([[float(each)]]) for each in P]
    P = (P[0], P[0]) if P[0] == P[1] else tuple(P)
    m = len(A[0])
    cones = Cones(kinds or [Cone("nonnegative", m)])
    found = None if prices is None else np.array(prices, dtype=float)
    program = CurveProgram(P, A, np.full((2, 1), q), np.array(b, dtype=float), np.zeros(2), cones, found)
    limits = ValueBox(np.array([-box]), np.array([box]), ceiling)
    return Case(program, piece, truth, shares, limits)


def piece(start, stop, x, z, inner, inner_z, inner_y=((0.0,),)):
    arrays = (np.array(each, dtype=float) for each in (x, z, inner, inner_y, inner_z))
    return CurvePiece(start, stop, *arrays)


def moving_row(t):
    """min x where -.1 - (1 - 2t) x >= 0 and |x| <= 3: nothing is feasible around t = 1/2."""
    if abs(t - 0.5) < 0.02:
        return np.inf
    return -3.0 if t < 0.5 else 0.1 / (2 * t - 1)


SMALL = 1e-3
CASES = {
    "slacks of the inner point between the ends": case(
        ((1, -1, 1), (1, -1, -1)),
        ((3, 3, -0.1),) * 2,
        piece(0, 1, [[-1], [1]], [[1, 3, 1], [1, 1, 1]], [[-1], [1]], [[1, 3, 1], [1, 1, 1]]),
        moving_row,
        (0.5,),
    ),
    "residual of the inner multipliers between the ends": case(
        ((1, -1, -1), (1, -1, -3)),
        ((3, 3, -1),) * 2,
        piece(0, 1, [[1], [0.34]], [[-50] * 3] * 2, [[2], [2]], [[SMALL, SMALL, 1], [SMALL, SMALL, 1 / 3]]),
        lambda t: 1 / (1 + 2 * t),
        (0.3, 0.5, 0.7),
    ),
    "residual of the inner multipliers where P moves": case(
        ((1, -1, -1),) * 2,
        ((3, 3, 0),) * 2,
        piece(
            *(0, 1, [[1], [1 / 9]], [[-50] * 3] * 2, [[2], [2]], [[SMALL] * 3] * 2),
            inner_y=[[1 + SMALL], [(1 + SMALL) / 9]],
        ),
        lambda t: -0.5 / (1 + 8 * t),
        (0.3, 0.5, 0.7),
        P=(1.0, 9.0),
        q=-1.0,
    ),
    "multipliers at most their prices": case(
        ((1, -1, -1),) * 2,
        ((2, 0, -1),) * 2,
        piece(0, 1, [[0.5]], [[0, 0, 1]], [[1]], [[0.1, 0.85, 0.25]]),
        lambda t: 0.5,
        (0.5,),
        prices=((np.inf, np.inf, 0.5),) * 2,
        box=2.0,
    ),
    "the side of a second-order cone": case(
        ((1, -1, -1, 0),) * 2,
        ((3, 3, 0, 0.5),) * 2,
        piece(0, 1, [[-1]], [[0, 0, 1, -1]], [[1]], [[0.1, 0.1, 1, 0]]),
        lambda t: 0.5,
        (0.5,),
        kinds=[Cone("nonnegative", 2), Cone("second-order", 2)],
    ),
    "how far the box reaches": case(
        ((1, -1),) * 2, ((3, 3),) * 2, piece(0, 1, [[0]], [[0, 0]], [[0]], [[1, 2]]), lambda t: -3.0, (0.5,)
    ),
    "how far the box reaches from all of a piece": case(
        ((1, -1),) * 2, ((3, 3),) * 2, piece(0, 1, [[0], [3]], [[0, 0]], [[0]], [[1, 2]]), lambda t: -3.0, (0.9,)
    ),
    "the least depth of the inner point": case(
        ((1, -1, -1),) * 2,
        ((3, 3, 0),) * 2,
        piece(0, 1, [[-0.1], [-0.1]], [[0, 0, 1]], [[0.9], [0.001]], [[1, 1, 1]]),
        lambda t: 0.0,
        (0.9,),
    ),
    "the ceiling above the piece's values": case(
        ((-1, -1), (-1, -1)),
        ((0, -1),) * 2,
        piece(0, 1, [[0.1]], [[0, 3]], [[2]], [[1, 1]]),
        lambda t: 1.0,
        (0.5,),
        box=0.1,
        ceiling=0.1,
    ),
    "the curvature at both ends of the line": case(
        ((1, -1), (1, -1)),
        ((1, 1),) * 2,
        piece(0.625, 1, [[0]], [[0, 0]], [[0]], [[1, 1]]),
        lambda t: (1 - 2 * t) / 2,
        (0.5,),
        P=(1.0, -1.0),
        q=0.0,
        box=1.0,
    ),
    "equations that are kept": case(
        ((1, 1, -1),) * 2,
        ((1, 3, 3),) * 2,
        piece(0, 1, [[0.999]], [[-1, 0, 0]], [[1]], [[-1, 1, 1]]),
        lambda t: 1.0,
        (0.5,),
        kinds=[Cone("zero", 1), Cone("nonnegative", 2)],
    ),
    "what the inverse misses where a matrix moves": case(
        ((-2,), (-1,)),
        ((-1,),) * 2,
        piece(0, 1, [[0.5], [1.0]], [[0.5], [1.2]], [[3], [3]], [[0.6], [1.1]], [[0.0]]),
        lambda t: 1 / (2 - t),
        (0.1, 0.5, 0.9),
    ),
    "the point of an exponential cone whose scale is negative": case(
        ((1, -1, 0, -1, 0),) * 2,
        ((3, 5, 0, 0, 3),) * 2,
        piece(0, 1, [[-5]], [[0, 1, 0, 0, 0]], [[1]], [[0.1, 0.6, -0.5, 0.5, 2.0]]),
        lambda t: 0.0,
        (0.5,),
        kinds=[Cone("nonnegative", 2), Cone("exponential", 3)],
        box=5.0,
    ),
}


class Right(CurveJudge):
    """Both ways of taking residuals, whichever says more that is false."""


class ByBox(CurveJudge):
    """The box alone."""

    def _below_by_multipliers(self, piece):
        return "not asked"


def falsehood(judge, given):
    """By how much a bound is beyond the truth; None where there is no bound."""
    bounds = judge.bounds(given.piece)
    if isinstance(bounds, str):
        return None
    found = -np.inf
    for share in given.shares:
        low, high = bounds.at(share)
        value = given.truth(given.piece.start + share * (given.piece.stop - given.piece.start))
        found = max(found, low - value, value - high)
    return found


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("kind", [Right, ByBox])
def test_the_judge_says_nothing_false(name, kind):
    given = CASES[name]
    found = falsehood(kind(given.program, given.box), given)
    assert found is None or found <= 1e-12


# ---- judges with one condition left out ---------------------------------------------------------------------------


def chord_of_ends(poly):
    ends = slice(None, None, max(poly.degree, 1))
    return Polynomials(poly.value[ends], poly.radius[ends])


class WithChordOfSlacks(CurveJudge):
    def _share(self, vectors, t):
        if not vectors.dual:
            changed = chord_of_ends(vectors.inside)
            vectors = cone_shares.Vectors(vectors.near, changed, vectors.partner, vectors.dual)
        return super()._share(vectors, t)


class WithStationaryEnds(ByBox):
    """Takes the inner multipliers for stationary, as they are at both ends."""

    def _in_box(self, t, y, z):
        if z.degree <= 1 and (z.value > 0).all():
            return self.program.objective(t, y) - z.dot(self.program.slack(t, y))
        return super()._in_box(t, y, z)


class WithoutUpperPrices(CurveJudge):
    def _share_of_prices(self, vectors, t):
        rows = self.program.soft
        near, deep = (each[rows].low().min(axis=0) for each in (vectors.near, vectors.inside))
        return float(cone_shares.share_of(np.maximum(-near, 0.0), deep).max())


class WithoutReach(ByBox):
    def _in_box(self, t, y, z):
        return self.program.objective(t, y) - z.dot(self.program.slack(t, y))


class WithReachAtTheStart(ByBox):
    """Takes the distance to the box's sides from where the piece begins."""

    def _in_box(self, t, y, z):
        first = Polynomials(y.value[:1], y.radius[:1])
        reach = np.maximum(self.box.high - first.value[0], first.value[0] - self.box.low)
        lost = float((self.program.residual(t, y, z).largest() * reach).sum())
        return self.program.objective(t, y) - z.dot(self.program.slack(t, y)) - Polynomials.constant(lost)


class WithDepthAtTheStart(CurveJudge):
    def _share(self, vectors, t):
        if not vectors.dual:
            first = Polynomials(vectors.inside.value[:1], vectors.inside.radius[:1])
            vectors = cone_shares.Vectors(vectors.near, first, vectors.partner, vectors.dual)
        return super()._share(vectors, t)


class WithoutCeiling(ByBox):
    def __init__(self, program, box):
        super().__init__(program, ValueBox(box.low, box.high, np.inf))


class WithEquationsMissed(CurveJudge):
    def _kept(self, inverse, t, x):
        return x


def without_side(points):
    height, tail = points[:, 0], points[:, 1:]
    return (height * height - tail.dot(tail)).low().min(axis=0) >= 0.0


class WithoutCurvature(CurveJudge):
    convex = True


WRONG = {
    "slacks of the inner point between the ends": WithChordOfSlacks,
    "residual of the inner multipliers between the ends": WithStationaryEnds,
    "residual of the inner multipliers where P moves": WithStationaryEnds,
    "how far the box reaches from all of a piece": WithReachAtTheStart,
    "multipliers at most their prices": WithoutUpperPrices,
    "how far the box reaches": WithoutReach,
    "the least depth of the inner point": WithDepthAtTheStart,
    "the ceiling above the piece's values": WithoutCeiling,
    "equations that are kept": WithEquationsMissed,
    "the curvature at both ends of the line": WithoutCurvature,
}


@pytest.mark.parametrize("name", WRONG)
def test_a_judge_without_the_condition_says_something_false(name):
    given = CASES[name]
    found = falsehood(WRONG[name](given.program, given.box), given)
    assert found is not None
    assert found > 1e-7


def test_a_second_order_cone_without_its_side_proves_something_false(monkeypatch):
    given = CASES["the side of a second-order cone"]
    monkeypatch.setattr(cone_shares, "in_second_order", without_side)
    assert falsehood(CurveJudge(given.program, given.box), given) > 1e-3


def test_an_inverse_that_is_believed_proves_something_false(monkeypatch):
    given = CASES["what the inverse misses where a matrix moves"]

    def believed(self, rest):
        return np.zeros(self.matrix.shape[1])

    monkeypatch.setattr(ApproximateInverse, "bound", believed)
    monkeypatch.setattr(curve_theorem, "_FOLDS_MOVING", 1)
    assert falsehood(CurveJudge(given.program), given) > 1e-6


def test_an_exponential_cone_that_is_mended_along_its_border_proves_something_false(monkeypatch):
    given = CASES["the point of an exponential cone whose scale is negative"]

    def of_third_entry(points, direction, test, each):
        return np.abs(points.value).max(axis=(0, 2))

    monkeypatch.setattr(cone_shares, "_shift", of_third_entry)
    monkeypatch.setattr(cone_shares, "INSIDE", np.array([0.0, 0.0, 1.0]))
    found = falsehood(CurveJudge(given.program, given.box), given)
    assert found is not None
    assert found > 1e-3
