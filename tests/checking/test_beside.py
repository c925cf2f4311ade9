"""Points beside a proved path: what is right passes, and what is wrong is named."""

import re
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest
from sklearn.linear_model import lars_path, lasso_path

import paretoclf as pc
from paretoclf.checking.beside import _places, judge_beside
from paretoclf.common.tables import rounded_up
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


@pytest.mark.parametrize("far", [1.0, 1e6])
def test_a_verdict_does_not_hang_on_how_far_the_line_goes(far):
    """Minimise x with x >= m, m from 1e-3 on: 40 % too much there is not optimal, however large m becomes."""
    x, m = cp.Variable(name="x"), cp.Parameter(name="m")
    path = pc.trace(cp.Problem(cp.Minimize(x), [x >= m]), {m: 1e-3}, {m: far}, progress=False)
    found = judge_beside(path, [0.0, 1.0], {"x": [1.4e-3, far]})
    assert found.verdicts[0] == "not optimal"
    assert found.excess[0] == pytest.approx(0.4, rel=1e-6)
    assert found.verdicts[-1] == "optimal"
    alone = cp.Problem(cp.Minimize(x), [x >= 1e-3])
    alone.solve(solver="CLARABEL")
    x.value = 1.4e-3
    assert pc.verify(alone).certificate.scale == pytest.approx(1.4e-3)  # the value of the point, here of the optimum
    assert found.scales[0].size == pytest.approx(1e-3)


def test_scikit_learns_lasso_path_is_measured_at_each_alpha():
    """At tol = 1e-4 its last values are off by .4 to 4 times the optimal ones, which are small there."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 20))
    y = A @ np.where(np.arange(20) < 5, 3.0, 0.0)
    w, lam = cp.Variable(20, name="w"), cp.Parameter(nonneg=True, name="lam")
    loss = cp.sum_squares(A @ w - y) / 2 + lam * cp.norm1(w)
    grid = np.abs(A.T @ y).max() / 30 * np.geomspace(1.0, 1e-8, 12)
    alphas, coefs, _ = lasso_path(A, y, alphas=grid, tol=1e-4)
    top = 30 * alphas[0]
    path = pc.trace(cp.Problem(cp.Minimize(loss)), {lam: top}, {lam: 30 * alphas[-1]}, progress=False)
    found = pc.verify(path, {"lam": 30 * alphas, "w": coefs.T}, between=False)
    for k in (-3, -2, -1):
        level, theirs = 30 * alphas[k], coefs[:, k]
        value = np.sum((A @ theirs - y) ** 2) / 2 + level * np.abs(theirs).sum()
        lam.value = level
        best = cp.Problem(cp.Minimize(loss)).solve(solver="CLARABEL", tol_gap_rel=1e-12, tol_gap_abs=1e-14)
        scale = found.scales[k]
        assert scale.size <= max(best, 1e-2 * 30)
        assert found.excess[k] == pytest.approx((value - best) / scale.size, rel=1e-4)
        assert scale.decides != "the value" or found.excess[k] == pytest.approx(value / best - 1, rel=1e-4)


def test_it_is_said_what_an_excess_is_relative_to():
    """(x - th)^2 with x at most 1: nothing is left of the value at th = 1/2, where the unit decides."""
    x, th = cp.Variable(name="x"), cp.Parameter(name="th")
    path = pc.trace(cp.Problem(cp.Minimize(cp.square(x - th)), [x <= 1]), {th: 0.5}, {th: 3.0}, progress=False)
    found = judge_beside(path, [0.0, 1.0], {"x": [0.6, 1.0]}, between=False)
    rows = repr(found).splitlines()
    assert "relative to" in rows[0]
    assert ", the unit  not optimal: there is a better point" in rows[1]
    assert ", the unit" not in rows[2]
    assert found.worst == 0
    assert "the worst" not in rows[-1]  # it is the first that fails
    worse = judge_beside(path, [0.0, 0.5, 1.0], {"x": [0.51, 0.8, 1.0]}, between=False)
    k = int(np.argmax(np.abs(worse.excess)))
    assert worse.worst == k == 1
    assert f"; the worst, at t = 0.5, is off by {worse[1].off_by:.1e}; the first that is not, at " in repr(worse)
    said = found.explain()
    for part in (f"{found.scales[0].size:.3g}", "size of the value", "largest term", "a hundredth of its unit"):
        assert part in said
    assert "that is by 1.0e-02" in said
    assert "optimal (tolerance 1e-06)" in found.explain(1)
    assert found.records()[0]["scale"] == found.scales[0].size


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
    """By formula: the excess is relative to the value there, and to a hundredth of the unit where it is smaller."""
    x, th = cp.Variable(name="x"), cp.Parameter(name="th")
    cost = factor * cp.square(x - th) / 2
    goal = cp.Minimize(cost) if sense > 0 else cp.Maximize(-cost)
    path = pc.trace(cp.Problem(goal, [(x <= 1).set_label("cap")]), {th: 0.0}, {th: 3.0})
    t = np.array([0.0, 1 / 3, 0.341, 0.4, 2 / 3, 1.0])
    best, theirs = np.maximum(3 * t - 1, 0.0) ** 2 / 2, np.minimum(3 * t, 1.0) - 0.01
    unit = np.maximum(best, 1e-2)
    judged = judge_beside(path, t, {"x": theirs}, between=False)
    np.testing.assert_allclose(judged.excess, ((theirs - 3 * t) ** 2 / 2 - best) / unit, rtol=1e-6)
    assert set(judged.verdicts) == {"not optimal"}
    assert (best[2:4] < unit[:2]).tolist() == [True, False]  # one value on either side of that hundredth
    assert [scale.decides for scale in judged.scales[2:4]] == ["the unit", "the value"]
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


T = np.array([0.0, 1.0])


@pytest.fixture(scope="module")
def fixed():
    """Minimise x with x >= th and x <= th, th from 1 to 2: only the difference of the multipliers is known, 1."""
    x, th = cp.Variable(name="x"), cp.Parameter(name="th")
    rows = [(x >= th).set_label("floor"), (x <= th).set_label("cap")]
    return pc.trace(cp.Problem(cp.Minimize(x), rows), {th: 1.0}, {th: 2.0}, progress=False)


@pytest.mark.parametrize(
    ("floor", "cap", "right"),
    [(1.0, 0.0, True), (1.5, 0.5, True), (0.5, -0.5, False), (0.5, None, False), (1.0, None, True), (2.0, None, True)],
)
def test_the_sign_of_each_multiplier_counts_given_or_chosen(fixed, floor, cap, right):
    """With .5 for the floor the gradient vanishes only if the cap's is -.5."""
    given = {"floor": np.full(2, floor)} | ({} if cap is None else {"cap": np.full(2, cap)})
    found = judge_beside(fixed, T, {"x": np.array([1.0, 2.0])}, given)
    assert set(found.verdicts) == {"optimal" if right else "not optimal"}
    assert set(found.reasons) == {"" if right else "wrong dual"}


@pytest.mark.parametrize("wrong", [0.5, 1e-3])
def test_a_multiplier_of_a_row_with_room_is_wrong_where_the_other_rows_could_make_it_good(wrong):
    """x0 from th to 9: 1 + .5 of the floor and .5 of the cap is stationary, but the cap has room."""
    x, th = cp.Variable(2, name="x"), cp.Parameter(name="th")
    rows = [(x[0] >= th).set_label("floor"), (x[0] <= 9).set_label("cap"), x[1] <= 1, x[1] >= 0]
    path = pc.trace(cp.Problem(cp.Minimize(x[0]), rows), {th: 1.0}, {th: 2.0}, progress=False)
    points = {"x": np.array([[1.0, 0.5], [2.0, 0.5]])}
    assert judge_beside(path, T, points, {"cap": np.zeros(2)}).passes()
    found = judge_beside(path, T, points, {"cap": np.full(2, wrong)})
    assert set(found.reasons) == {"wrong dual"}


def test_each_piece_between_breakpoints_is_looked_at_in_its_middle():
    """Two breakpoints between two knots: three middles, and the breakpoints."""
    found = _places(np.array([0.0, 1.0]), np.array([0.0, 0.25, 0.5, 1.0]))
    assert sorted({at for at, _, _ in found}) == [0.0, 0.125, 0.25, 0.375, 0.5, 0.75, 1.0]


def test_multipliers_that_could_not_be_judged_are_undecided(fixed, monkeypatch):
    """Where the linear program that chooses the others fails nothing is known: that had counted as right."""
    failed = SimpleNamespace(status=4, fun=None)
    monkeypatch.setattr("paretoclf.checking.multipliers.linprog", lambda *given, **options: failed)
    found = judge_beside(fixed, T, {"x": np.array([1.0, 2.0])}, {"floor": np.ones(2)})
    assert set(found.verdicts) == {"undecided"}
    assert set(found.reasons) == {"the multipliers could not be judged"}


def test_beside_a_band_it_is_said_how_closely_the_value_is_known():
    x, th = cp.Variable(name="x"), cp.Parameter(name="th")
    bent = cp.norm2(cp.hstack([x, 1]))
    band = pc.trace(cp.Problem(cp.Minimize(bent), [x >= th]), {th: 1.0}, {th: 4.0}, eps=1e-2, progress=False)
    t = np.linspace(0.0, 1.0, 7)
    found = judge_beside(band, t, {"x": 1.0 + 3.0 * t}, between=False)
    undecided = [reason for reason, left in zip(found.reasons, found.left, strict=True) if left > found.tol]
    assert undecided
    for reason, left in zip(found.reasons, found.left, strict=True):
        assert (reason == f"known within {rounded_up(left)} only: refine it") == (left > found.tol)
    for at, left, scale in zip(t, found.left, found.scales, strict=True):
        low, high = band.bounds(at)
        assert left * scale.size == pytest.approx(high - low)


def test_a_value_that_small_violations_buy_is_undecided():
    """x >= th is missed by 5e-9, and the value 1e3 x by 5e-6 of .01: no solver leaves less."""
    x, th = cp.Variable(name="x"), cp.Parameter(name="th")
    path = pc.trace(cp.Problem(cp.Minimize(1e3 * x), [x >= th]), {th: 1e-3}, {th: 1.0}, progress=False)
    found = judge_beside(path, T, {"x": np.array([1e-3 - 5e-9, 1.0])}, between=False)
    assert (found.verdicts[0], found.reasons[0]) == ("undecided", "violations within 1e-08 buy that value")
    assert found.excess[0] == pytest.approx(-5e-6, rel=1e-6)


def test_a_kink_between_the_points_is_seen():
    """``(w0 + w1 - 3)^2 + lam |w|_1``: from lam = 3 on ``(1.5, 0)`` may be shared, but no entry may be negative.

    At the knots, and in the middle of each two, the other path is optimal; w0 turns negative at lam = 1.2.
    """
    lam, w = cp.Parameter(nonneg=True, name="lam"), cp.Variable(2, name="w")
    problem = cp.Problem(cp.Minimize(cp.square(w[0] + w[1] - 3) + lam * cp.norm1(w)))
    path = pc.trace(problem, start={lam: 6.0}, stop={lam: 0.0}, progress=False)
    other = {"lam": [6, 3, 0], "w": np.array([[0, 0], [1.5, 0], [-1, 4]])}
    report = pc.verify(path, other)
    assert not report.passes()
    at = report.parameters["lam"]
    assert at[report.excess > 1e-6].max() == pytest.approx(1.2, abs=0.05)
    shared = np.interp(at, [0, 3, 6], [3.0, 1.5, 0.0])
    best = (shared - 3) ** 2 + at * shared
    w0 = np.interp(at, [0, 3, 6], [-1.0, 1.5, 0.0])
    np.testing.assert_allclose(
        report.excess * [each.size for each in report.scales], 2 * at * np.maximum(-w0, 0), atol=1e-9
    )
    np.testing.assert_allclose(report.best, best, atol=1e-9)
    right = pc.verify(path, other | {"w": np.array([[0, 0], [1.5, 0], [0, 3]])})
    assert right.passes()
    assert len(right) == 5  # no more points are judged where there is no kink


def test_a_breakpoint_half_way_between_two_middles_is_not_taken_for_a_middle():
    """``(w - 1)^2 / 2 + lam |w|`` has its one kink at lam = 1, half way: five places, in whatever way t is rounded."""
    lam, w = cp.Parameter(nonneg=True, name="lam"), cp.Variable(name="w")
    problem = cp.Problem(cp.Minimize(cp.square(w - 1) / 2 + lam * cp.abs(w)))
    path = pc.trace(problem, start={lam: 2.0}, stop={lam: 0.0}, progress=False)
    report = pc.verify(path, {"lam": [2, 0], "w": np.array([0.0, 1.0])})
    np.testing.assert_allclose(report.t, [0.0, 0.25, 0.5, 0.75, 1.0])


def test_a_parameter_may_be_called_t():
    """Tables have the numbers of the parameter, and pairs places on the line."""
    x, t = cp.Variable(name="x"), cp.Parameter(name="t")
    path = pc.trace(cp.Problem(cp.Minimize(cp.square(x - 1)), [x <= t]), {t: -1.0}, {t: 0.5}, progress=False)
    assert pc.verify(path, path.to_frame()).passes()
    assert pc.verify(path, {"t": [-1.0, 0.5], "x": [-1.0, 0.5]}).passes()
    assert not pc.verify(path, {"t": [-1.0, 0.5], "x": [-1.0, 0.4]}).passes()
    assert pc.verify(path, ([0.0, 1.0], [-1.0, 0.5])).passes()
    assert pc.verify(path, lambda place: -1.0 + 1.5 * place).passes()
    points = pc.verify(path, {"t": [-1.0, 0.5], "x": [-1.0, 0.5]})
    values = pc.verify(path, {"t": [-1.0, 0.5], "value": [4.0, 0.25]})
    for judged in (points, values):
        assert re.search(r" t, 0 to 1 +t ", repr(judged).splitlines()[0])
    assert "at t = 0 (parameter t = -1)" in repr(values)
