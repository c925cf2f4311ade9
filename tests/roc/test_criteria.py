"""Criteria of two error rates: floats against fractions, and both against the formulas."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from sklearn.metrics import f1_score

from paretoclf.common.errors import InputError
from paretoclf.roc import RocCurve
from paretoclf.roc.criteria import (
    DECIMALS,
    ExpectedCost,
    Minimax,
    NeymanPearson,
    NeymanPearsonScore,
    as_fraction,
    exactly,
)

RATES = [(Fraction(i, 30), Fraction(j, 7)) for i, j in product(range(0, 31, 3), range(8))]
TENTH = Fraction(1, 10)

FORMULAS = {
    "minimax": (Minimax(), lambda p, m: (False, max(p, m))),
    "score": (NeymanPearsonScore(0.1), lambda p, m: (False, max(p - TENTH, 0) * 10 + m)),
    "constraint": (NeymanPearson(0.1), lambda p, m: (False, m) if p <= TENTH else (True, (p - TENTH) * 10 + m)),
    "costs": (ExpectedCost(10, 0.5, 0.1), lambda p, m: (False, m + Fraction(9, 20) * p)),
}


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (0.1 + 0.2, Fraction(3, 10)),
        (1 / 3, Fraction(1, 3)),
        (0.0, Fraction(0)),
        (-0.75, Fraction(-3, 4)),
        (123456 / 999983, Fraction(123456, 999983)),
        (0.1234567890123, Fraction(1234567890123, 10**13)),
        (1e-9, Fraction(1, 10**9)),
        (math.nextafter(0.3, 1), Fraction(3, 10)),
        (math.nextafter(0.25, 1), Fraction(1, 4)),
        (0.25 + 2 * math.ulp(0.25), Fraction(repr(0.25 + 2 * math.ulp(0.25)))),
    ],
)
def test_the_fraction_that_a_float_came_of(x, expected):
    assert as_fraction(x) == expected


@pytest.mark.parametrize("name", FORMULAS)
def test_fractions_and_floats_are_the_formula(name):
    criterion, formula = FORMULAS[name]
    key = exactly(criterion)
    for fpr, fnr in RATES:
        forbidden, objective = formula(fpr, fnr)
        assert key(fpr, fnr) == criterion.exact(fpr, fnr) == (forbidden, objective)
        value, score = criterion(float(fpr), float(fnr)), criterion.score(float(fpr), float(fnr))
        assert value == (math.inf if forbidden else pytest.approx(float(objective), abs=1e-14))
        if name != "constraint":
            assert score == pytest.approx(float(objective), abs=1e-14)
    fpr, fnr = (np.array([float(pair[k]) for pair in RATES]) for k in (0, 1))
    np.testing.assert_array_equal(criterion(fpr, fnr), [criterion(*pair) for pair in zip(fpr, fnr, strict=True)])


def test_the_score_of_what_is_not_allowed():
    for fpr, fnr in ((0.05, 0.25), (0.3, 0.25)):
        assert NeymanPearson(0.1).score(fpr, fnr) == NeymanPearsonScore(0.1)(fpr, fnr)
    assert NeymanPearson(0.1).score(0.3, 0.25) == pytest.approx(2.25)


def test_a_rate_is_at_the_level_up_to_the_rounding_of_a_mean():
    at, above = 0.1 + 1e-14, 0.1 + 1e-11
    assert NeymanPearson(0.1)([at, above, 0.05, math.nan], 0.5).tolist()[:3] == [0.5, math.inf, 0.5]
    assert math.isnan(NeymanPearson(0.1)(math.nan, 0.5))
    assert NeymanPearson(0.1).exact(Fraction(3, 30), Fraction(1, 2)) == (False, Fraction(1, 2))


def test_levels():
    assert [each.level for each, _ in FORMULAS.values()] == [None, 0.1, 0.1, None]


class Own:
    """The squared distance from no errors; not allowed above a half."""

    level = None

    def __call__(self, fpr, fnr):
        return math.inf if fpr > 0.5 else fpr**2 + fnr**2

    def score(self, fpr, fnr):
        return 2 * (fpr**2 + fnr**2)


class Scored(Minimax):
    def score(self, fpr, fnr):
        return 7.0


class Called(NeymanPearson):
    def __call__(self, fpr, fnr):
        return math.nan


class Inherits(NeymanPearson):
    """Nothing of its own."""


class Both(Minimax):
    def __call__(self, fpr, fnr):
        return 5.0

    def exact(self, fpr, fnr):
        return True, fnr


def test_a_criterion_of_a_user_is_rounded():
    third = Fraction(1, 3)
    key = exactly(Own())
    assert key(third, third) == (False, as_fraction(round(2 / 9, DECIMALS)))
    assert key(Fraction(3, 5), Fraction(0)) == (True, Fraction(72, 100))
    assert key(Fraction(1, 2), Fraction(0)) == (False, Fraction(1, 4))
    assert exactly(Scored())(third, 2 * third) == (False, as_fraction(round(2 / 3, DECIMALS)))
    assert exactly(Called(0.1))(third, third)[0] is True
    assert exactly(Inherits(0.1))(third, third) == NeymanPearson(0.1).exact(third, third)
    assert exactly(Both())(third, 2 * third) == (True, 2 * third)


class PooledF1:
    """One minus the F-measure of all counts together, of so many negatives for each positive."""

    level = None

    def __init__(self, ratio):
        self.ratio = ratio

    def __call__(self, fpr, fnr):
        hit = 1 - fnr
        return 1 - 2 * hit / (2 * hit + self.ratio * fpr + fnr)

    score = __call__


class BareExact(PooledF1):
    exact = PooledF1.__call__


def test_a_criterion_whose_exact_returns_no_pair_is_refused_and_is_right_without_it():
    curve = RocCurve([0, 0, 0.25, 0.75, 1], [0, 0.5, 0.5, 1, 1], n_plus=2, n_minus=4)
    with pytest.raises(InputError, match=r"\(False, Fraction\(1, 3\)\), got Fraction\(.*it may be left out"):
        curve.best(BareExact(2))
    (best,) = curve.best(PooledF1(2))
    scores = [f1_score(*truth_and_said(fp, tp)) for fp, tp in [(0, 0), (0, 1), (1, 1), (3, 2), (4, 2)]]
    assert 1 - best.cost == pytest.approx(max(scores))
    assert best.index == int(np.argmax(scores))


@pytest.mark.parametrize("given", [lambda fpr, fnr: fpr, Minimax])
def test_a_bare_function_and_a_class_are_no_criteria(given):
    curve = RocCurve([0, 0.5, 1], [0, 1, 1], n_plus=2, n_minus=2)
    with pytest.raises(InputError, match="criterion must be costs, or an object with the methods __call__ and score"):
        curve.best(given)


def truth_and_said(fp, tp):
    """Labels of 4 negatives and 2 positives, and what is said of them."""
    return [0] * 4 + [1] * 2, [1] * fp + [0] * (4 - fp) + [1] * tp + [0] * (2 - tp)


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, math.nan])
def test_no_level(alpha):
    for cls in (NeymanPearson, NeymanPearsonScore):
        with pytest.raises(InputError, match="alpha"):
            cls(alpha)


@pytest.mark.parametrize(
    ("given", "word"),
    [((0, 0, 0.5), "both be 0"), ((-1, 1, 0.5), "C_plus"), ((1, -1, 0.5), "C_minus"), ((1, 1, 0), "prior_plus")],
)
def test_no_costs(given, word):
    with pytest.raises(InputError, match=word):
        ExpectedCost(*given)


def test_one_cost_may_be_0():
    assert ExpectedCost(0, 2, 0.25)(0.5, 0.5) == 0.75
    assert ExpectedCost(2, 0, 0.25)(0.5, 0.5) == 0.25
    assert isinstance(ExpectedCost(1, 2, 0.5).C_plus, float)
