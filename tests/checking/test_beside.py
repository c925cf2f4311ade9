"""Points beside a proved path: what is right passes, and what is wrong is named."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.linear_model import lars_path

import paretoclf as pc
from paretoclf.checking.beside import judge_beside
from tests.oracles.lines import FAMILIES

CENTRE = np.array([3.0, -1.0, 0.5])


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_multipliers_of_tight_and_of_loose_rows_are_judged(size):
    """``(x - 3)**2 + (y - 1)**2`` with x at most th and y at most 5, in any unit: 2 (3 - th), and 0."""
    (x, y), th = (cp.Variable(name=name) for name in "xy"), cp.Parameter(name="th")
    rows = [(x <= th).set_label("cap"), (y <= 5 * size).set_label("loose")]
    loss = cp.square(x - 3 * size) + cp.square(y - size)
    path = pc.trace(cp.Problem(cp.Minimize(loss), rows), {th: size}, {th: 2 * size}, progress=False)
    t = np.array([0.0, 0.5, 1.0])
    variables = {"x": size * (1 + t), "y": size * np.ones(3)}
    right = {"cap": 2 * size * (2 - t), "loose": np.zeros(3)}
    assert judge_beside(path, t, variables, right).passes()
    for wrong in ({"cap": -right["cap"]}, {"cap": 1.01 * right["cap"]}, {"loose": 0.1 * right["cap"]}):
        assert not judge_beside(path, t, variables, {**right, **wrong}).passes()


def test_an_excess_is_measured_where_it_is():
    """x at least th, from 1000 to 1: one part in 1e5 too much at the end counts beside large values."""
    x, th = cp.Variable(name="x"), cp.Parameter(name="th")
    path = pc.trace(cp.Problem(cp.Minimize(x), [x >= th]), {th: 1000.0}, {th: 1.0}, progress=False)
    assert judge_beside(path, [0.0, 1.0], {"x": [1000.0, 1.0]}).passes()
    assert not judge_beside(path, [0.0, 1.0], {"x": [1000.0, 1.00001]}).passes()


def test_the_path_of_a_stranger_is_judged_in_its_knots_and_between():
    rng = np.random.default_rng(0)
    A, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    w, lam = cp.Variable(4, name="w"), cp.Parameter(nonneg=True, name="lam")
    alphas, _, coefs = lars_path(A, y, method="lasso")
    top = 30 * alphas[0]
    path = pc.trace(
        cp.Problem(cp.Minimize(cp.sum_squares(A @ w - y) / 2 + lam * cp.norm1(w)), [w <= 9]), {lam: top}, {lam: 0.0}
    )
    knots = 1.0 - 30 * alphas / top
    theirs = judge_beside(path, knots, {"w": coefs.T})
    assert theirs.passes()
    assert set(knots) <= set(theirs.t)
    assert theirs.t.size >= 2 * knots.size - 1
    assert np.abs(theirs.excess).max() < 1e-12
    without = np.delete(coefs.T, 2, axis=0)
    missing = judge_beside(path, np.delete(knots, 2), {"w": without})  # right at knots, not between
    assert all(
        verdict == "optimal" for at, verdict in zip(missing.t, missing.verdicts, strict=True) if at in knots[[0, 1, 3]]
    )
    wrong = [at for at, verdict in zip(missing.t, missing.verdicts, strict=True) if verdict == "not optimal"]
    assert wrong
    assert all(knots[1] < at < knots[3] for at in wrong)
    assert "points are optimal to 1e-06; the first that is not, at t = " in repr(missing)
    high = judge_beside(path, knots, {"w": coefs.T + 20.0})
    assert set(high.reasons) == {"infeasible"}
    for call, message in (
        (lambda: judge_beside(path, knots, {}), "variables must have w, got none"),
        (lambda: judge_beside(path, knots, {"w": coefs}), r"w must have shape \("),
        (lambda: judge_beside(path, knots[::-1], {"w": coefs.T}), "t must hold increasing numbers"),
    ):
        with pytest.raises(pc.InputError, match=message):
            call()


def test_a_maximisation_is_judged_by_its_own_sense():
    problem, start, stop = FAMILIES["frontier, maximise"]()
    path = pc.trace(problem, start, stop)
    t, x = path.along("x")
    assert judge_beside(path, t, {"x": x}).passes()
    even = np.full_like(x, 1 / 8)
    assert set(judge_beside(path, t, {"x": even}).verdicts) == {"not optimal"}


@pytest.mark.parametrize("factor", [1e-8, 1.0, 1e8, 1e12])
@pytest.mark.parametrize("sense", [1, -1])
def test_points_are_judged_alike_whatever_the_objective_is_multiplied_with(sense, factor):
    """By formula: the excess is relative to the value there, and to a thousandth of the largest where it is smaller."""
    x, th = cp.Variable(name="x"), cp.Parameter(name="th")
    cost = factor * cp.square(x - th) / 2
    goal = cp.Minimize(cost) if sense > 0 else cp.Maximize(-cost)
    path = pc.trace(cp.Problem(goal, [(x <= 1).set_label("cap")]), {th: 0.0}, {th: 3.0})
    t = np.array([0.0, 1 / 3, 0.341, 0.36, 2 / 3, 1.0])
    best, theirs = np.maximum(3 * t - 1, 0.0) ** 2 / 2, np.minimum(3 * t, 1.0) - 0.01
    unit = np.maximum(best, 1e-3 * 2.0)
    judged = judge_beside(path, t, {"x": theirs}, between=False)
    np.testing.assert_allclose(judged.excess, ((theirs - 3 * t) ** 2 / 2 - best) / unit, rtol=1e-6)
    assert set(judged.verdicts) == {"not optimal"}
    assert (best[2:4] < unit[:2]).tolist() == [True, False]  # one value on either side of that thousandth
    near = judge_beside(path, t, {"x": np.minimum(3 * t, 1.0) - 1e-9}, between=False)
    assert near.passes()
    still = pc.trace(cp.Problem(goal), {th: 0.0}, {th: 3.0})  # the value is 0 all along
    t = np.array([0.0, 0.25, 1.0])
    assert set(judge_beside(still, t, {"x": 3 * t - 0.01}).verdicts) == {"not optimal"}
    assert judge_beside(still, t, {"x": 3 * t}).passes()


@pytest.mark.parametrize("factor", [1e-8, 1.0, 1e8, 1e12])
def test_multipliers_are_judged_alike_whatever_the_objective_is_multiplied_with(factor):
    """Those of rows that are not given are chosen, whatever unit they are in."""
    x, th = cp.Variable(3, name="x"), cp.Parameter(name="th")
    rows = [(x <= 1).set_label("cap"), (cp.sum(x) == th).set_label("sum"), (x >= -0.4).set_label("low")]
    path = pc.trace(cp.Problem(cp.Minimize(factor * cp.sum_squares(x - CENTRE) / 2), rows), {th: 0.0}, {th: 3.0})
    t = np.array([0.1, 0.4, 0.9])
    points = {"x": np.array([path.at(each).variables["x"] for each in t])}
    for name in ("cap", "sum"):
        right = np.array([path.at(each).duals[name] for each in t])
        for off in (0.0, 1e-9):
            judged = judge_beside(path, t, points, {name: right * (1.0 + off)}, between=False)
            assert judged.passes(), (name, off, judged)
            assert judged.dual.max() <= 1e-8
        for wrong in (1.001, 0.0, -1.0, 1e3, -1e3):
            judged = judge_beside(path, t, points, {name: right * wrong}, between=False)
            assert set(judged.reasons) == {"wrong dual"}, (name, wrong)


@pytest.mark.parametrize("factor", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("row", ["at least", "at most", "equal", "equal, falling"])
def test_a_multiplier_of_wrong_sign_or_size_is_measured_by_the_terms_of_its_gradient(row, factor):
    """Of ``q x`` with one row the gradient is ``q - z``: what is missed, over ``|q|`` and the larger multiplier."""
    x, th = cp.Variable(name="x"), cp.Parameter(name="th")
    fall = row in ("at most", "equal, falling")
    given = {"at least": x >= th, "at most": x <= th}.get(row, x == th).set_label("row")
    path = pc.trace(cp.Problem(cp.Minimize((-factor if fall else factor) * x), [given]), {th: 1.0}, {th: 2.0})
    own = path.at(0.5).duals["row"]
    assert abs(own) == pytest.approx(factor)
    assert (own < 0) == (row == "equal")
    for wrong in (1.0, 0.5, 0.0, 2.0, -1.0, -0.5, 1e3, -1e3):
        judged = judge_beside(path, [0.5], {"x": np.array([1.5])}, {"row": np.array([wrong * own])})
        wanted = abs(1.0 - wrong) / (1.0 + max(abs(wrong), 1.0))
        assert judged.dual[0] == pytest.approx(wanted, rel=1e-5, abs=1e-12), wrong
