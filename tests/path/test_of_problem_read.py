"""What is read off a path of a CVXPY problem: events, rates, prices, the way back into the problem, files, pictures."""

from __future__ import annotations

import cvxpy as cp
import matplotlib as mpl
import numpy as np
import pytest
from sklearn.linear_model import lars_path

import paretoclf as pc
from paretoclf.plotting import ProblemPathDisplay
from tests.oracles.lines import FAMILIES, solved

mpl.use("Agg")
from matplotlib import pyplot as plt

W, LAM = cp.Variable(3, name="w"), cp.Parameter(nonneg=True, name="lam")
CENTRE = np.array([3.0, -1.0, 0.5])
LASSO = cp.Problem(cp.Minimize(cp.sum_squares(W - CENTRE) / 2 + LAM * cp.norm1(W)))


@pytest.fixture(scope="module")
def lasso():
    """Soft thresholds: w_j = sign(c_j) max(|c_j| - lam, 0)."""
    return pc.trace(LASSO, {LAM: 4.0}, {LAM: 0.0})


def test_events_have_the_users_names(lasso):
    assert [(event.t, *event.changes) for event in lasso.events] == [
        (pytest.approx(0.25), ("w[0]", "at its kink", "above its kink")),
        (pytest.approx(0.75), ("w[1]", "at its kink", "below its kink")),
        (pytest.approx(0.875), ("w[2]", "at its kink", "above its kink")),
    ]
    assert str(lasso.events[0]) == "t = 0.25: w[0] at its kink -> above its kink"
    x, th = cp.Variable(name="x"), cp.Parameter(name="th")
    path = pc.trace(cp.Problem(cp.Minimize(cp.square(x - th)), [(x <= 1).set_label("cap"), x >= 0]), {th: -1}, {th: 2})
    words = [event.changes for event in path.events]
    assert words == [(("x", "at its lower bound", "free"),), (("x", "free", "at its upper bound"),)]


def test_slopes_are_those_of_the_soft_threshold(lasso):
    at = lasso.slopes(lam=2.0, per="lam")
    assert at.t == 2.0
    for side in (at.left, at.right):  # V = 2 - ... : dV/dlam = |w|_1 = 1; w_0 falls by 1 a unit of lam
        assert side.value == pytest.approx(1.0)
        np.testing.assert_allclose(side.variables["w"], [-1.0, 0.0, 0.0], atol=1e-14)
    assert (at.left.until, at.right.until) == (pytest.approx(3.0), pytest.approx(1.0))
    knot = lasso.slopes(0.75)
    np.testing.assert_allclose(knot.left.variables["w"], [4.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(knot.right.variables["w"], [4.0, -4.0, 0.0], atol=1e-12)
    assert (knot.left.until, knot.right.until) == (pytest.approx(0.25), pytest.approx(0.875))
    assert lasso.slopes(0.0).left is None
    assert lasso.slopes(1.0).right is None


@pytest.mark.parametrize(
    "family", ["frontier, maximise", "frontier, target", "transport, supply", "svm, slacks", "tube"]
)
def test_rates_are_differences_of_what_clarabel_finds(family):
    """Between two breakpoints: central differences of values; variables and duals by another t of the piece."""
    problem, start, stop = FAMILIES[family]()
    path = pc.trace(problem, start, stop)
    j = int(np.argmax(np.diff(path.breakpoints)))
    a, b = path.breakpoints[j : j + 2]
    t, h = 0.5 * (a + b), 0.2 * (b - a)
    at = path.slopes(t)
    below, above = (solved(problem, start, stop, t + sign * h) for sign in (-1, 1))
    assert at.right.value == pytest.approx((above - below) / (2 * h), rel=1e-6, abs=1e-6)
    assert (at.left.until, at.right.until) == (a, b)
    moved, here = path.at(t + h), path.at(t)
    for rates, then, now in (
        (at.right.variables, moved.variables, here.variables),
        (at.left.duals, moved.duals, here.duals),
    ):
        for name, rate in rates.items():
            np.testing.assert_allclose(now[name] + h * np.asarray(rate), then[name], atol=1e-9)


@pytest.mark.parametrize("sense", [1, -1])
def test_a_shadow_price_is_what_a_unit_is_worth(sense):
    """A small change of each right hand side moves the value by minus (of a maximum: plus) the price."""
    x, th, extra = cp.Variable(2, name="x"), cp.Parameter(name="th"), cp.Parameter(3, name="extra")
    cost = cp.sum_squares(x - 2) + th * x[0]
    rows = [
        (cp.sum(x) <= 1 + th + extra[0]).set_label("most"),
        (x[0] >= 0.4 - extra[1]).set_label("least"),
        x[1] + 3 * x[0] == 2 + extra[2],
    ]
    problem = cp.Problem(cp.Minimize(cost) if sense > 0 else cp.Maximize(-cost), rows)
    extra.value = np.zeros(3)
    path = pc.trace(problem, {th: 0.0}, {th: 0.3})
    for k, row in enumerate(rows):
        price, unit = path.shadow_price(row), np.eye(3)[k]
        assert price.constraint == (row.label or "constraint 2")
        for t in (0.1, 0.8):
            values = []
            for by in (-1e-4, 1e-4):
                line = {th: 0.0, extra: by * unit}, {th: 0.3, extra: by * unit}
                values.append(solved(problem, *line, t))
            assert price(t) == pytest.approx(-sense * (values[1] - values[0]) / 2e-4, abs=1e-5)
    assert "most" in repr(path.shadow_price("most"))
    with pytest.raises(
        pc.InputError, match=r"^constraint must be one whose multiplier is known, one of most, least, c"
    ):
        path.shadow_price("much")
    with pytest.raises(pc.InputError, match=r"^constraint must be a label, or a constraint of the problem"):
        path.shadow_price(x >= 7)


def test_a_point_is_written_into_the_problem(lasso):
    for name in ("frontier, maximise", "svm, slacks", "transport, costs"):
        problem, start, stop = FAMILIES[name]()
        path = pc.trace(problem, start, stop)
        path.assign(0.4)
        point = path.at(0.4)
        assert problem.value == pytest.approx(point.value, rel=1e-14)
        assert problem.objective.value == pytest.approx(point.value, rel=1e-10)
        for variable in problem.variables():
            np.testing.assert_array_equal(variable.value, point.variables[variable.name()])
        for k, row in enumerate(problem.constraints):
            np.testing.assert_array_equal(row.dual_value, point.duals[row.label or f"constraint {k}"])
        assert problem.status == "optimal"
    lasso.assign(lam=1.0)
    assert LAM.value == 1.0
    np.testing.assert_allclose(W.value, [2.0, 0.0, 0.0], atol=1e-14)


def test_compare_solves_at_random_points(lasso):
    table = lasso.compare(7)
    assert table.t.size == 7
    assert table.agrees(1e-9)
    assert repr(table).endswith(f"worst relative difference over 7 points: {table.worst:.1e}")
    assert len(table.records()) == 7
    with pytest.raises(pc.InputError, match="n must be a whole number"):
        lasso.compare(0)


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
    theirs = path.judge(knots, {"w": coefs.T})
    assert theirs.passes()
    assert set(knots) <= set(theirs.t)
    assert theirs.t.size >= 2 * knots.size - 1
    assert np.abs(theirs.excess).max() < 1e-12
    missing = path.judge(np.delete(knots, 2), {"w": np.delete(coefs.T, 2, axis=0)})  # right at knots, not between
    assert all(
        verdict == "right" for at, verdict in zip(missing.t, missing.verdicts, strict=True) if at in knots[[0, 1, 3]]
    )
    wrong = [at for at, verdict in zip(missing.t, missing.verdicts, strict=True) if verdict == "not optimal"]
    assert wrong
    assert all(knots[1] < at < knots[3] for at in wrong)
    assert "points are right to 1e-06; the first that is not: not optimal at t = " in repr(missing)
    high = path.judge(knots, {"w": coefs.T + 20.0})
    assert set(high.verdicts) == {"infeasible"}
    for call, message in (
        (lambda: path.judge(knots, {}), "variables must have w, got none"),
        (lambda: path.judge(knots, {"w": coefs}), r"w must have shape \("),
        (lambda: path.judge(knots[::-1], {"w": coefs.T}), "t must hold increasing numbers"),
    ):
        with pytest.raises(pc.InputError, match=message):
            call()


def test_a_maximisation_is_judged_by_its_own_sense():
    problem, start, stop = FAMILIES["frontier, maximise"]()
    path = pc.trace(problem, start, stop)
    t, x = path.along("x")
    assert path.judge(t, {"x": x}).passes()
    even = np.full_like(x, 1 / 8)
    assert set(path.judge(t, {"x": even}).verdicts) == {"not optimal"}


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
    judged = path.judge(t, {"x": theirs}, between=False)
    np.testing.assert_allclose(judged.excess, ((theirs - 3 * t) ** 2 / 2 - best) / unit, rtol=1e-6)
    assert set(judged.verdicts) == {"not optimal"}
    assert (best[2:4] < unit[:2]).tolist() == [True, False]  # one value on either side of that thousandth
    near = path.judge(t, {"x": np.minimum(3 * t, 1.0) - 1e-9}, between=False)
    assert near.passes()
    still = pc.trace(cp.Problem(goal), {th: 0.0}, {th: 3.0})  # the value is 0 all along
    t = np.array([0.0, 0.25, 1.0])
    assert set(still.judge(t, {"x": 3 * t - 0.01}).verdicts) == {"not optimal"}
    assert still.judge(t, {"x": 3 * t}).passes()


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
            judged = path.judge(t, points, {name: right * (1.0 + off)}, between=False)
            assert judged.passes(), (name, off, judged)
            assert judged.dual.max() <= 1e-8
        for wrong in (1.001, 0.0, -1.0, 1e3, -1e3):
            judged = path.judge(t, points, {name: right * wrong}, between=False)
            assert set(judged.verdicts) == {"wrong dual"}, (name, wrong)


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
        judged = path.judge([0.5], {"x": np.array([1.5])}, {"row": np.array([wrong * own])})
        wanted = abs(1.0 - wrong) / (1.0 + max(abs(wrong), 1.0))
        assert judged.dual[0] == pytest.approx(wanted, rel=1e-5, abs=1e-12), wrong


STORED = {
    "lasso": FAMILIES["lasso"],
    "taken up": FAMILIES["quantile, maximum"],
    "maximise": FAMILIES["frontier, maximise"],
    "svm": FAMILIES["svm, slacks"],
}
X, TH = cp.Variable(2, name="x"), cp.Parameter(name="th")
STORED["infeasible"] = lambda: (
    cp.Problem(cp.Minimize(cp.sum(X)), [(X <= 3).set_label("cap"), cp.sum(X) >= TH]), {TH: 0.0}, {TH: 8.0},
)  # fmt: skip


@pytest.mark.parametrize("name", STORED)
def test_a_saved_path_comes_back_without_the_problem(name, tmp_path):
    path = pc.trace(*STORED[name]())
    path.save(tmp_path / "path")
    again = pc.load(tmp_path / "path.npz")
    assert repr(again) == repr(path)
    assert again.events == path.events
    assert again.proof.worst == path.proof.worst
    t = 0.4 * path.breakpoints[-1]
    assert repr(again.at(t)) == repr(path.at(t))
    assert (again.beyond is None) == (path.beyond is None)
    if path.beyond:
        assert again.beyond.explain() == path.beyond.explain()
    for call in (lambda: again.assign(0.0), lambda: again.compare(), lambda: again.shadow_price(X >= 0)):
        with pytest.raises(pc.InputError, match="needs the problem, which a file does not hold"):
            call()


@pytest.mark.parametrize(
    ("key", "change", "message"),
    [
        ("x", lambda a: a + 1e-3, "not proved"),
        ("z", lambda a: a * 1.01, "not proved"),
        ("x", lambda a: np.where(a == a.max(), np.nan, a), "x must be finite"),
        ("t", lambda a: a[::-1], "t must hold increasing ends"),
        ("t", lambda a: a * 0.5, "not proved|needs|t must"),
        ("labels", lambda a: a + 9, "labels must lie between"),
        ("ray", lambda a: -a, "not proved"),
        ("ray", lambda a: a[:1], "ray must have shape"),
        ("program_variables_factor", lambda a: a * np.nan, "variables of a program must be finite"),
        ("program_multipliers_factor", lambda a: np.append(a, 1.0), "multipliers must have . places and factors, got"),
        ("program_P_indptr", lambda a: np.where(np.arange(a.size) == 1, a[-1] + 1, a), "columns of P must follow"),
        ("program_A_indptr", lambda a: a[::-1], "columns of A must follow"),
        ("end_0_0", lambda a: np.zeros(3), "parameters must have the same shape"),
        ("of_problem", lambda a: np.array(str(a).replace("infeasible", "end")), "t must go to 1"),
        ("of_problem", lambda a: np.array(str(a).replace("infeasible", "unbounded")), "ray must have shape"),
    ],
)
def test_damaged_files_are_refused(key, change, message, tmp_path):
    pc.trace(*STORED["infeasible"]()).save(tmp_path / "path")
    with np.load(tmp_path / "path.npz") as data:
        arrays = {name: data[name] for name in data.files}
    np.savez(tmp_path / "damaged.npz", **{**arrays, key: change(arrays[key])})
    with pytest.raises(pc.InputError, match=message):
        pc.load(tmp_path / "damaged.npz")


def test_pictures_show_what_is_there(lasso):
    display = lasso.plot()
    assert isinstance(display, ProblemPathDisplay)
    lines = {line.get_label(): line.get_xydata() for line in display.ax_.get_lines() if line.get_label()[0] != "_"}
    assert set(lines) == {"w[0]", "w[1]", "w[2]"}
    lam, w = lines["w[0]"].T
    np.testing.assert_allclose(w, np.maximum(3.0 - lam, 0.0), atol=1e-13)
    assert display.ax_.get_xlabel() == "lam"
    _, t, value = ProblemPathDisplay.from_path(lasso, "value").curves()[0]
    np.testing.assert_allclose(value, [lasso.value(float(at)) for at in t])
    problem, start, stop = FAMILIES["svm, slacks"]()
    path = pc.trace(problem, start, stop)
    duals = path.plot("duals", ["margin"])
    assert duals.ax_.get_xlabel() == "path parameter $t$"
    assert any("smaller ones" in text.get_text() for text in duals.ax_.get_legend().get_texts())
    ax = plt.figure().add_subplot()
    assert path.plot("value", ax=ax).ax_ is ax
    plt.close("all")
    for options, message in ((("duality",), "what must be"), (("duals", ["w"]), "names must be among margin, got 'w'")):
        with pytest.raises(pc.InputError, match=message):
            path.plot(*options)


def test_one_entry_of_bad_input_each(lasso):
    for call, message in (
        (
            lambda: lasso.slopes(0.5, per="mu"),
            "^per must be a parameter that is a number and moves, one of lam, got 'mu'",
        ),
        (lambda: lasso.along("v"), "^name must be that of a variable or constraint, one of w, got 'v'"),
        (lambda: lasso.slopes(2.0), "t must lie between 0 and 1"),
    ):
        with pytest.raises(pc.InputError, match=message):
            call()
