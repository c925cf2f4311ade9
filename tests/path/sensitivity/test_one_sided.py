"""Tests of `paretoclf.path.sensitivity.one_sided`: rates and how far they hold, by closed forms and in fractions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.path.sensitivity import one_sided
from paretoclf.path.sensitivity.one_sided import beside
from paretoclf.path.tracing import source_between
from tests.oracles.small_programs import optima

INF = np.inf


def found_of(qp, at=0.0, sign=1, unit=1.0, most=INF):
    """One side of s = at, and the ends of the lines that were asked for."""
    asked = []

    def source_at(begin, end):
        asked.append((begin, end))
        return source_between(qp, {"s": at + sign * begin}, {"s": at + sign * end})

    return beside(source_at, unit, most), asked


def of_one(curve, cost, low, high, **moves):
    """The least curve x^2 / 2 + cost x of one x, in rows of that x."""
    rows = np.ones((len(low), 1))
    return pc.QP(None if curve is None else [[curve]], [cost], rows, low, high, moves={"s": moves})


FLOOR = of_one(None, 1.0, [0.0, -INF], [INF, 2.0], l=[1.0, 0.0])  # x from s to 2
LARGEST = of_one(None, 1.0, [1.0, 0.0], [INF, INF], l=[0.0, 1.0])  # x at least 1 and s
SQUARE = of_one(1.0, 0.0, [0.0], [INF], l=[1.0])  # x at least s: s^2 / 2 from 0 on
TILT = of_one(None, 1.0, [0.0], [INF], q=[-1.0])  # (1 - s) x, x >= 0


@pytest.mark.parametrize("unit", [1e-3, 0.3, 1.0, 50.0])
@pytest.mark.parametrize(
    ("qp", "at", "sign", "rate", "bend", "until"),
    [
        (FLOOR, 0.0, 1, 1.0, 0.0, 2.0),
        (FLOOR, 1.5, 1, 1.0, 0.0, 0.5),
        (FLOOR, 1.5, -1, -1.0, 0.0, INF),
        (LARGEST, 0.0, 1, 0.0, 0.0, 1.0),
        (LARGEST, 1.0, 1, 1.0, 0.0, INF),
        (LARGEST, 3.0, -1, -1.0, 0.0, 2.0),
        (SQUARE, 2.0, 1, 2.0, 1.0, INF),
        (SQUARE, 2.0, -1, -2.0, 1.0, 2.0),
        (SQUARE, 0.0, -1, 0.0, 0.0, INF),
        (TILT, 0.0, 1, 0.0, 0.0, 1.0),
        (TILT, 0.0, -1, 0.0, 0.0, INF),
    ],
)
def test_rates_are_closed_forms_whatever_the_unit(qp, at, sign, rate, bend, until, unit):
    found, _ = found_of(qp, at, sign, unit)
    assert (found.rate, found.bend) == pytest.approx((rate, bend), rel=1e-9, abs=1e-9)
    assert found.until == pytest.approx(until, rel=1e-8)
    assert bool(found.after) == (until < INF)
    assert found.piece == 0
    assert found.room < 1e-6
    assert np.copysign(1.0, found.rate) == 1.0 or found.rate < 0.0  # no -0.0


@pytest.mark.parametrize("end", [1e-2, 1e-4, 1e-6])
def test_a_short_piece_ends_where_the_bend_changes(end):
    """The least (x0^2 + x1^2) / 2 with x0 >= s and x1 >= s - end: V = s^2 / 2, and from the end on more."""
    qp = pc.QP(np.eye(2), np.zeros(2), np.eye(2), [0.0, -end], None, moves={"s": {"l": [1.0, 1.0]}})
    found, _ = found_of(qp)
    assert (found.rate, found.bend, found.until) == pytest.approx((0.0, 1.0, end), rel=1e-6, abs=1e-12)


def test_what_happens_at_the_end_is_said():
    assert found_of(FLOOR)[0].after.startswith("infeasible (")
    assert found_of(TILT)[0].after.startswith("unbounded (")
    assert set(found_of(LARGEST)[0].after.split("; ")) == {"x[0] free", "y[1] at its upper bound"}
    assert found_of(SQUARE, 2.0)[0].after == ""


def test_what_happens_at_the_end_is_said_of_the_users_rows():
    """Both rows are lower bounds; labels of the reduced problem call one of them an upper bound."""
    assert found_of(LARGEST)[0].said == "y[0] free; y[1] at its lower bound"
    assert found_of(FLOOR)[0].said == found_of(FLOOR)[0].after
    assert found_of(SQUARE, 2.0)[0].said == ""


def test_a_bend_ends_what_holds_whatever_is_said_of_it(monkeypatch):
    """How far the value goes on is read off its rates: where no name has a change, that is said."""
    monkeypatch.setattr(one_sided, "events_of", lambda *_: ())
    monkeypatch.setattr(one_sided.ProblemPath, "events", ())
    found, _ = found_of(LARGEST)
    assert (found.until, found.bends) == (pytest.approx(1.0), True)
    assert found.after == found.said == "the rate of the value changes"


@pytest.mark.parametrize(("qp", "at", "rate"), [(FLOOR, 2.0, INF), (TILT, 1.0, -INF)])
def test_where_there_is_no_optimum_beside_a_point_the_rate_is_infinite(qp, at, rate):
    found, asked = found_of(qp, at)
    assert (found.rate, found.bend, found.until, found.piece) == (rate, 0.0, 0.0, -1)
    assert found.after.startswith("infeasible" if rate > 0 else "unbounded")
    assert asked == [(0.0, 1.0)]


def test_of_a_largest_value_signs_are_the_users():
    x, s = cp.Variable(name="x"), cp.Parameter(name="s")

    def source_at(begin, end, start=0.0):
        return source_between(problem, {s: start + begin}, {s: start + end})

    problem = cp.Problem(cp.Maximize(x), [x <= 2 - s, x >= 0])
    found = beside(source_at, 1.0)
    assert (found.rate, found.until) == pytest.approx((-1.0, 2.0))
    assert beside(lambda begin, end: source_at(begin, end, 2.0), 1.0).rate == -INF
    problem = cp.Problem(cp.Maximize(s * x), [x >= 0])
    assert beside(source_at, 1.0).rate == INF


def test_no_line_is_longer_than_it_may_be():
    found, asked = found_of(FLOOR, most=0.5)
    assert (found.rate, found.until, found.after) == (1.0, 0.5, "")
    assert max(end for _, end in asked) == 0.5
    found, asked = found_of(FLOOR, unit=0.5, most=1.5)
    assert found.until == pytest.approx(1.5)
    assert asked == [(0.0, 0.5), (0.0, 1.5)]
    assert found_of(FLOOR, unit=0.5, most=8.0)[0].until == pytest.approx(2.0)


def test_lines_are_as_long_as_they_must_be():
    """Where a slack would be 0 at 2, a line of 4 shows what happens there; that nothing happens, the basis says."""
    assert found_of(FLOOR)[1] == [(0.0, 1.0), (0.0, pytest.approx(4.0))]
    assert found_of(FLOOR, unit=8.0)[1] == [(0.0, 8.0)]
    assert found_of(FLOOR, 1.5, -1)[1] == [(0.0, 1.0)]


def test_without_a_certified_basis_a_line_of_1e6_units_shows_whether_anything_happens(monkeypatch):
    monkeypatch.setattr(one_sided, "basis_at", lambda *_: None)
    assert found_of(FLOOR)[1] == [(0.0, 1.0), (0.0, pytest.approx(4.0))]
    found, asked = found_of(FLOOR, 1.5, -1)
    assert asked == [(0.0, 1.0), (0.0, 1e6)]
    assert found.reach == 1e6
    assert found.rate == -1.0  # as the first line shows it


def test_a_slack_that_vanishes_later_is_where_it_would_be_if_all_went_on():
    for at, empty in ((0.0, 2.0), (0.5, 1.5), (-3.0, 5.0)):
        path = pc.trace(FLOOR, {"s": at}, {"s": at + 1})
        assert one_sided._empty(path, 0) == pytest.approx(empty)
    halved = pc.trace(FLOOR, {"s": 0.0}, {"s": 0.5})
    assert one_sided._empty(halved, 0) == pytest.approx(4.0)  # in lengths of the line
    assert one_sided._empty(pc.trace(FLOOR, {"s": 1.0}, {"s": 0.0}), 0) == INF
    assert one_sided._empty(pc.trace(TILT, {"s": 0.0}, {"s": 0.5}), 0) == pytest.approx(2.0)  # a multiplier


def program(seed):
    """A small program in whole numbers, bounded, that moves in its costs, its bounds, or both."""
    rng = np.random.default_rng(seed)
    n, m = 2, int(rng.integers(1, 4))
    A = np.vstack([rng.integers(-2, 4, (m, n)), np.ones((1, n)), -np.eye(n)]).astype(float)
    b = np.concatenate([rng.integers(0, 5, m), [6], np.zeros(n)]).astype(float)
    F = rng.integers(-2, 3, (n, n)).astype(float)
    P = (F.T @ F + np.eye(n)) * (seed % 2)
    dq, db = rng.integers(-2, 3, n) * float(seed % 3 != 1), rng.integers(-1, 2, b.size) * float(seed % 3 != 0)
    dq[0] += 0.5
    return P, rng.integers(-3, 4, n).astype(float), A, b, dq, db


@pytest.mark.parametrize("seed", range(16))
def test_the_value_is_one_parabola_to_its_end_in_fractions(seed):
    P, q, A, b, dq, db = program(seed)
    exact = [np.vectorize(Fraction, otypes=[object])(each) for each in (P, q, A, b, dq, db)]

    def value(step):
        P, q, A, b, dq, db = exact
        point = optima(P.tolist(), (q + step * dq).tolist(), A.tolist(), (b + step * db).tolist())
        return point if isinstance(point, str) else float(point[0])

    here = value(Fraction(0))
    if isinstance(here, str):
        pytest.skip("no optimum at 0")  # the draw is infeasible or unbounded, and nothing is beside it
    found, _ = found_of(pc.QP(P, q, A, None, b, moves={"s": {"q": dq, "u": db}}))
    if found.until == 0.0:
        assert value(Fraction(1, 10**6)) in ("infeasible", "unbounded")
        return
    length = min(found.until, 1e3)
    for share in (0.25, 0.75, 1 - 1e-9):
        h = share * length
        expected = here + h * found.rate + h * h * found.bend / 2
        assert value(Fraction(h)) == pytest.approx(expected, rel=1e-8, abs=1e-8)
    if found.until < INF:  # and not further
        h = 1.5 * found.until
        further = value(Fraction(h))
        expected = here + h * found.rate + h * h * found.bend / 2
        assert isinstance(further, str) or abs(further - expected) > 1e-7


# ---- what is decided on numbers of two lines -------------------------------------------------------------------------


def side(**numbers):
    known = {"rate": 0.0, "bend": 0.0, "until": 1.0, "after": "", "room": 0.0, "empty": INF}
    return one_sided.Beside(**({"path": None, "reach": 2.0, "piece": 0} | known | numbers))


@pytest.mark.parametrize(
    ("found", "beyond", "on"),
    [
        (side(rate=1.0, bend=3.0), side(rate=7.0, bend=3.0), True),
        (side(rate=1.0, bend=3.0), side(rate=1.0, bend=3.0), False),
        (side(rate=1.0), side(rate=1.5), False),
        (side(rate=1.0, room=0.5), side(rate=1.5), True),
        (side(rate=1.0), side(rate=1.5, room=0.5), True),
        (side(rate=1.0, room=0.25), side(rate=1.5), False),
        (side(rate=1.0, room=1.0), side(rate=1.0, bend=0.5), True),
        (side(rate=1.0, room=0.75), side(rate=1.0, bend=0.5), False),
        (side(rate=1.0), side(rate=1.0, after="infeasible"), False),
        (side(rate=1.0), side(rate=1.0, empty=5.0), False),
    ],
)
def test_what_goes_on_has_the_rates_that_were_left(found, beyond, on):
    assert bool(one_sided._goes_on(found, beyond)) is on


@pytest.mark.parametrize("on", [True, False])
def test_a_slack_that_always_would_be_empty_is_decided_beyond(monkeypatch, on):
    """Each line would have a slack of 0 at its double: no more than `_LINES` are tried, and then what is beyond."""
    asked = []

    def seen(source, reach):
        asked.append((source, reach))
        path = SimpleNamespace(t=np.array([0.0, 1.0]))
        if source[0]:
            return side(path=path, reach=reach, rate=1.0 if on else 2.0)
        return side(path=path, reach=reach, rate=1.0, room=0.1 * reach, empty=2.0 * reach, until=reach)

    monkeypatch.setattr(one_sided, "_seen", lambda source, reach: replace(seen(source, reach), room=0.0 * reach))
    if on:
        assert beside(lambda *ends: ends, 1.0).until == INF
    else:
        with pytest.raises(pc.DegeneratePathError, match="it is not known how far the value goes on"):
            beside(lambda *ends: ends, 1.0)
    lengths = [4.0**k for k in range(one_sided._LINES + 1)]
    assert [reach for _, reach in asked] == [*lengths, lengths[-1]]
    assert asked[-1][0] == (lengths[-1], 2 * lengths[-1])


def test_more_exchanges_are_allowed_until_the_value_bends(monkeypatch):
    allowed, real = [], one_sided.trace_problem

    def traced(source, max_events, progress):
        allowed.append(max_events)
        return real(source, max_events=max_events if max_events > 400 else 1, progress=progress)

    steps = of_one(None, 1.0, [1.0, 0.0, -1.0], [INF] * 3, l=[0.0, 1.0, 2.0])
    expected = found_of(steps)[0]
    monkeypatch.setattr(one_sided, "trace_problem", traced)
    found = found_of(steps)[0]
    assert (found.rate, found.until) == (expected.rate, expected.until) == pytest.approx((0.0, 1.0))
    monkeypatch.setattr(one_sided, "_first_piece", lambda *_: None)
    allowed.clear()
    with pytest.raises(pc.DegeneratePathError, match="the value does not bend within 204800 exchanges"):
        found_of(steps)
    assert allowed == [50, 400, 3200, 25600, 204800]
