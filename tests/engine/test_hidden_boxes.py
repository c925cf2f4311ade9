"""Tests of `paretoclf.engine.hidden_boxes`."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.errors import DegeneratePathError
from paretoclf.engine import hidden_boxes
from paretoclf.engine.boxes import BOXES
from paretoclf.engine.general import follow
from paretoclf.engine.hidden_boxes import box_path
from paretoclf.problem.parametric_qp import INSIDE, LOWER, ParametricQP
from paretoclf.proof import prove
from tests.oracles.parametric import solve_at

pytestmark = pytest.mark.skipif(not BOXES, reason="there is no compiled engine")


def samples(n, seed=0, *, repeated=False):
    """Two classes of unequal size; repeated ones are whole numbers, each sample twice, some under both labels."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    X = rng.normal(size=(n, 3)) + 0.5 * y[:, None]
    if repeated:
        half = n // 2
        X = np.round(2 * X)
        X[half : 2 * half] = X[:half]
        y[half : half + 4] = -y[:4]
        y[half + 4 : 2 * half] = y[4:half]
    return X, y


def soft_rows(n=24, seed=0, *, repeated=False, upper=False, bias=True, share=0.0):
    """The primal of an SVM; some rows are stated as upper bounds. With a share it is of one class, and b has a cost."""
    X, y = samples(n, seed, repeated=repeated)
    y = np.where(share, 1.0, y)
    A = y[:, None] * (np.column_stack([X, np.ones(n)]) if bias else X)
    low, high = np.ones(n), np.full(n, np.inf)
    cost = np.array([[1 / 64], [1.0]]) * np.ones(n)
    below, above = cost, np.full((2, n), np.inf)
    if upper:
        other = np.arange(n) % 3 == 0
        A[other] *= -1
        low, high = np.where(other, -np.inf, 1.0), np.where(other, -1.0, np.inf)
        below, above = np.where(other, np.inf, cost), np.where(other, cost, np.inf)
    free = np.full(A.shape[1], np.inf)
    squares = np.array([1.0, 2.0, 4.0, 0.0])[: free.size]
    q = np.zeros((2, free.size))
    q[:, 3:] = share * n * cost[:, :1]
    sides = (np.append(-free, low), np.append(free, high))
    prices = (np.column_stack([np.stack([free, free]), each]) for each in (below, above))
    return ParametricQP(np.diag(squares), A, q, *(np.stack([each, each]) for each in sides), *prices)


def array_box(n=24, seed=0, *, repeated=False, bias=True, kernel=True):
    """The dual of an SVM, P as an array."""
    X, y = samples(n, seed, repeated=repeated)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 3) if kernel else X @ X.T
    caps = np.array([[1 / 64], [1.0]]) * np.ones(n)
    return ParametricQP.box(y[:, None] * K * y, np.ones(n), y[None] if bias else np.zeros((0, n)), caps)


def as_box(problem, engine="fast"):
    return box_path(engine, problem, None, None, False, None)


def value(problem, t, x):
    """The objective at a point that keeps to the hard bounds, by its definition."""
    weights = np.array([1 - t, t])
    items = np.append(x, problem.A @ x)
    found = x @ problem.P @ x / 2 + weights @ problem.q @ x
    for sign, bound, price in ((1, problem.lower, problem.below), (-1, problem.upper, problem.above)):
        soft = np.isfinite(bound[0]) & np.isfinite(price[0])
        missed = np.maximum(sign * (weights @ bound[:, soft] - items[soft]), 0.0)
        found += weights @ price[:, soft] @ missed
    return found


KINDS = {
    "soft rows": soft_rows(),
    "soft rows without an equation": soft_rows(bias=False, seed=1),
    "rows on either side": soft_rows(upper=True, seed=2),
    "repeated rows": soft_rows(repeated=True, upper=True, seed=3),
    "one class": soft_rows(upper=True, seed=4, share=0.25),
    "box": array_box(seed=5),
    "box without an equation": array_box(bias=False, seed=6),
    "box of repeated samples": array_box(repeated=True, seed=7),
    "flat box": array_box(kernel=False, repeated=True, seed=8),
}


@pytest.mark.parametrize("engine", BOXES)
@pytest.mark.parametrize("name", KINDS)
def test_the_path_is_that_of_the_textbook_and_proved(name, engine):
    problem = KINDS[name]
    found, textbook = as_box(problem, engine), follow(problem, progress=False, engine="textbook")
    assert found.status == textbook.status == "end"
    assert found.path.problem is problem
    assert prove(problem, found.path).passes()
    for t in np.linspace(0.0, 1.0, 23):
        ours, theirs = (value(problem, t, each.path.at(t)[0]) for each in (found, textbook))
        assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("name", ["soft rows", "rows on either side", "box"])
def test_labels_are_those_of_the_textbook(name):
    problem = KINDS[name]
    found, textbook = as_box(problem), follow(problem, progress=False, engine="textbook")
    np.testing.assert_allclose(found.t, textbook.t, rtol=1e-11, atol=1e-13)
    np.testing.assert_array_equal(found.labels, textbook.labels)
    np.testing.assert_allclose(found.v, textbook.v, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found.y, textbook.y, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("make", [soft_rows, array_box])
def test_large_problems_are_followed_as_boxes_and_solved(make, monkeypatch):
    """By the one entry; Clarabel knows nothing of paths."""
    problem, used, inner = make(150), [], hidden_boxes.box_trace
    monkeypatch.setattr(hidden_boxes, "box_trace", lambda *given: used.append(inner(*given)) or used[-1])
    found = follow(problem, progress=False)
    assert used[-1].path.t is found.path.t
    for t in (0.0, 0.37, 1.0):
        x = found.path.at(t)[0]
        assert value(problem, t, x) == pytest.approx(solve_at(problem, t)[0], rel=1e-9)


def test_who_asks_for_care_gets_the_other_engine(monkeypatch):
    """It is asked for where the first path has failed its proof."""
    monkeypatch.setattr(hidden_boxes, "box_trace", lambda *given: pytest.fail("it went to the engine for boxes"))
    assert follow(soft_rows(100), progress=False, engine="careful").status == "end"


def test_what_the_engine_for_boxes_refuses_is_followed_by_the_other(monkeypatch):
    problem = soft_rows(100)

    def refuse(*given):
        raise DegeneratePathError("refused", t=0.0, costs="", n_margin=None, remedy="")

    known = follow(problem, progress=False)
    monkeypatch.setattr(hidden_boxes, "box_trace", refuse)
    found = follow(problem, progress=False)
    assert found.status == "end"
    np.testing.assert_allclose(found.path.at(0.5)[0], known.path.at(0.5)[0], rtol=1e-9)


@pytest.mark.parametrize("make", [soft_rows, array_box])
def test_segments_that_meet_share_their_point(make):
    """Points are made for 128 segments at a time, and shared from block to block, too."""
    problem = make(500, seed=9)
    path = as_box(problem).path
    assert path.segments > 180
    shared = 1 + np.flatnonzero(np.diff(path.begin) == 1)
    assert shared.size > 0.9 * path.segments
    assert 129 in shared


def test_who_changes_where_segments_meet_is_at_its_bound_without_a_multiplier():
    """What rounding leaves there would say that it is off its bound, or that the bound holds it back."""
    problem = array_box(100, seed=9)
    caps = np.where(problem.A[0] > 0, [[0.05], [1.0]], [[1.0], [0.05]])
    path = as_box(replace(problem, upper=np.hstack([caps, np.zeros((2, 1))]))).path
    shared = 1 + np.flatnonzero(np.diff(path.begin) == 1)
    x, y = path.points()
    came = left = 0
    for before, item, step in zip(*path.changes, strict=True):
        if before not in shared:
            continue
        here, now = path.begin[before], int(path.labels_at(before)[item])
        if now == INSIDE and now - step == LOWER:
            left += 1
            assert x[here, item] == 0.0
        if now != INSIDE:
            came += 1
            assert y[here, item] == 0.0
    assert min(came, left) > 5


def test_where_the_intercept_jumps_there_are_two_points():
    """Costs of one class grow: one sample after the other goes to its cap, and at each b goes over an interval."""
    problem = soft_rows(seed=1)
    negative = problem.A[:, -1] < 0
    prices = np.where(negative, [[0.002], [0.02]], 0.01)
    problem = replace(problem, below=np.hstack([problem.below[:, :4], prices]))
    found, textbook = as_box(problem), follow(problem, progress=False, engine="textbook")
    assert prove(problem, found.path).passes()
    own = np.diff(found.path.begin) == 2
    b = found.path.spread()[0][:, :, -1]
    jumps = np.abs(b[1:, 0] - b[:-1, 1])
    assert own.sum() >= 3
    assert (jumps[own] > 1e-5).all()
    assert (jumps[~own] == 0.0).all()
    np.testing.assert_allclose(found.v[:, :, :3], textbook.v[:, :, :3], rtol=1e-9, atol=1e-11)


def changed(problem, **fields):
    return replace(problem, **fields)


def with_entry(array, place, number):
    found = np.array(array)
    found[place] = number
    return found


ROWS, BOX = soft_rows(), array_box()
NONE = {
    "classes that do not balance": changed(ROWS, q=with_entry(ROWS.q, (slice(None), 3), 0.004)),
    "a squared variable with a cost": changed(ROWS, q=with_entry(ROWS.q, (1, 0), 0.1)),
    "a variable with a bound": changed(ROWS, lower=with_entry(ROWS.lower, (slice(None), 0), 0.0)),
    "two variables without a square": changed(ROWS, P=np.diag([1.0, 2.0, 0.0, 0.0])),
    "squares that are not apart": changed(ROWS, P=with_entry(ROWS.P, ([0, 1], [1, 0]), 0.5)),
    "a hard row": changed(ROWS, below=with_entry(ROWS.below, (slice(None), 9), np.inf)),
    "a row with two sides": changed(
        ROWS,
        upper=with_entry(ROWS.upper, (slice(None), 9), 3.0),
        above=with_entry(ROWS.above, (slice(None), 9), 1.0),
    ),
    "a row that costs nothing": changed(ROWS, below=with_entry(ROWS.below, (slice(None), 9), 0.0)),
    "costs so large that w would lack digits": changed(ROWS, below=1e7 * ROWS.below),
    "a side that moves": changed(ROWS, lower=with_entry(ROWS.lower, (1, 9), 2.0)),
    "no curvature": changed(BOX, P=np.zeros(BOX.P.shape)),
    "a box that does not begin at 0": changed(BOX, lower=with_entry(BOX.lower, (slice(None), 3), 0.001)),
    "a soft box": changed(BOX, above=with_entry(BOX.above, (slice(None), 3), 1.0)),
    "a linear term that moves": changed(BOX, q=with_entry(BOX.q, (1, 3), -2.0)),
    "an equation that is none": changed(BOX, upper=with_entry(BOX.upper, (slice(None), -1), 1.0)),
}


@pytest.mark.parametrize("name", NONE)
def test_what_is_no_box_is_left_to_the_other_engine(name):
    assert as_box(NONE[name]) is None


@pytest.mark.parametrize("kind", ["primal", "dual"])
def test_a_program_of_cvxpy_is_proved_as_it_was_compiled_and_stored(kind, tmp_path):
    X, y = samples(120, 11)
    C = cp.Parameter(nonneg=True, name="C")
    if kind == "primal":
        w, b = cp.Variable(3, name="w"), cp.Variable(name="b")
        loss = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
        problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * loss))
    else:
        a = cp.Variable(y.size, name="a")
        squares = cp.sum_squares((y[:, None] * X).T @ a)
        problem = cp.Problem(cp.Minimize(squares / 2 - cp.sum(a)), [a >= 0, a <= C, y @ a == 0])
    path = pc.trace(problem, {C: 0.01}, {C: 2.0}, progress=False)
    assert path.proof.passes()
    path.save(tmp_path / "path.npz")
    stored = pc.load(tmp_path / "path.npz")
    assert stored.proof.passes()
    own = pc.trace(pc.TwoCSVM(X, y), (0.01, 0.01), (2.0, 2.0), progress=False)
    sign = 1 if kind == "primal" else -1
    for t in (0.0, 0.3, 0.9):
        assert path.value(t) == pytest.approx(sign * own.value(t), rel=1e-10)
        C.value = 0.01 + 1.99 * t
        assert path.value(t) == pytest.approx(problem.solve("CLARABEL"), rel=1e-6)
        assert stored.value(t) == pytest.approx(path.value(t), rel=1e-14)
