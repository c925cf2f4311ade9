"""What is read off a path of a CVXPY problem: events, rates, prices, the way back into the problem, files, pictures."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import cvxpy as cp
import matplotlib as mpl
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.files import members_of
from paretoclf.engine.general import follow
from paretoclf.engine.reduction.points import ProgramPoints
from paretoclf.path.programs import problem_path
from paretoclf.plotting import ProblemPathDisplay
from tests.oracles.lines import FAMILIES, solved
from tests.oracles.stored_files import STORED, X, content_of_file, damaged, refused_when_changed, rewritten, telling

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
        (pytest.approx(0.25), ("w[0]", "0", "not 0")),
        (pytest.approx(0.75), ("w[1]", "0", "not 0")),
        (pytest.approx(0.875), ("w[2]", "0", "not 0")),
    ]
    assert str(lasso.events[0]) == "t = 0.25 (lam = 3): w[0] 0 -> not 0"
    x, th = cp.Variable(name="x"), cp.Parameter(name="th")
    path = pc.trace(cp.Problem(cp.Minimize(cp.square(x - th)), [(x <= 1).set_label("cap"), x >= 0]), {th: -1}, {th: 2})
    words = [event.changes for event in path.events]
    assert words == [(("x", "at its lower bound", "free"),), (("x", "free", "at its upper bound"),)]
    priced = pc.trace(cp.Problem(cp.Minimize(cp.square(x - th) + 2 * cp.pos(x - 1))), {th: 0}, {th: 5})
    (first, second), at = (event.changes for event in priced.events), "at its kink"
    assert (*first, *second) == (("x", "below its kink", at), ("x", at, "above its kink"))


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


@pytest.mark.parametrize("name", STORED)
def test_a_saved_path_comes_back_without_the_problem(name, tmp_path):
    path = pc.trace(*STORED[name]())
    path.save(tmp_path / "path")
    again = pc.load(tmp_path / "path.npz")
    assert repr(again) == repr(path)
    assert again.events == path.events
    assert again.proof.worst.off_by == path.proof.worst.off_by
    t = 0.4 * path.breakpoints[-1]
    assert repr(again.at(t)) == repr(path.at(t))
    assert (again.beyond is None) == (path.beyond is None)
    if path.beyond:
        # The text of a constraint is the problem's, which a file does not hold.
        assert again.beyond.explain() == replace(path.beyond, texts={}).explain()
    for call in (lambda: again.assign(0.0), lambda: again.compare(), lambda: again.shadow_price(X >= 0)):
        with pytest.raises(pc.InputError, match="needs the problem, which a file does not hold"):
            call()


def test_a_file_is_small(tmp_path):
    """Of 200 absolute values: the numbers that labels do not say, not those of 603 columns and rows at each point."""
    rng, tau = np.random.default_rng(0), cp.Parameter(name="tau")
    X, w = np.hstack([np.ones((200, 1)), rng.normal(size=(200, 2))]), cp.Variable(3, name="w")
    r = rng.normal(size=200) - X @ w
    path = pc.trace(cp.Problem(cp.Minimize(cp.sum(cp.maximum(tau * r, (tau - 1) * r)))), {tau: 0.1}, {tau: 0.9})
    path.save(tmp_path / "path")
    held = members_of(content_of_file(tmp_path / "path.npz"))
    assert path.t.size > 100
    assert sum(each.nbytes for each in held.values()) < 0.2 * 8 * path.t.size * (path.program.n + path.program.m)


def test_a_path_through_a_map_comes_back_with_its_points(tmp_path):
    """It has no reduced problem: its points are stored."""
    x, a, b = cp.Variable(2, name="x"), cp.Parameter(name="a"), cp.Parameter(name="b")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x) - 2 * a * x[0] + b * x[1]), [x <= 1, x >= 0])
    path = pc.plane(problem, {a: (-1.0, 2.0), b: (-1.0, 1.0)}).along({a: -1.0, b: -1.0}, {a: 2.0, b: 1.0})
    path.save(tmp_path / "path")
    again = pc.load(tmp_path / "path.npz")
    assert again.events == path.events
    assert {"x", "z", "labels"} <= content_of_file(tmp_path / "path.npz").keys()
    for name in ("t", "x", "z", "labels"):
        np.testing.assert_array_equal(getattr(again, name), getattr(path, name))


@pytest.mark.parametrize(
    ("key", "change", "message"),
    [
        ("number", lambda a: a + 1e-3, "not proved"),
        ("number", lambda a: np.where(a == a.max(), np.nan, a), "number must be finite"),
        ("number", lambda a: a[:-1], "ptr must"),
        ("t", lambda a: a[::-1], "t must hold increasing ends"),
        ("t", lambda a: a * 0.5, "not proved|needs|t must"),
        ("t", lambda a: np.insert(a, 1, a[1] / 2), "begin must have shape"),
        ("begin", lambda a: a + 1, "begin must increase"),
        ("ptr", lambda a: a[::-1], "ptr must part"),
        ("first", lambda a: a + 9, "first must lie between"),
        ("changes", lambda a: a[:2], "changes must have shape"),
        ("reduced_columns", lambda a: a - 9, "columns must lie between"),
        ("reduced_upper", lambda a: a * np.nan, "upper must be numbers"),
        ("reduced_upper", lambda a: np.where([[True], [False]], np.inf, a), "upper must be numbers, or infinite at"),
        ("rules", lambda names: [*names, "RowsToNothing"], "rules must be among EpigraphsToKinks, "),
        ("ray", lambda a: -a, "not proved"),
        ("ray", lambda a: a[:1], "ray must have shape"),
        ("program_variables_factor", lambda a: a * np.nan, "variables of a program must be finite"),
        ("program_multipliers_factor", lambda a: np.append(a, 1.0), "multipliers must have . places and factors, got"),
        ("program_P_indptr", lambda a: np.where(np.arange(a.size) == 1, a[-1] + 1, a), "columns of P must follow"),
        ("program_A_indptr", lambda a: a[::-1], "columns of A must follow"),
        ("end_0_0", lambda a: np.zeros(3), "parameters must have the same shape"),
        ("of_problem", telling(status="end"), "t must go to 1"),
        ("of_problem", telling(status="unbounded"), "ray must have shape"),
        ("of_problem", telling(items=["x"]), "must"),
        ("of_problem", telling(terms=[[99, "x", 1]]), "terms must be items below"),
        ("of_problem", telling(terms=[[0, "x", 0]]), "terms must be items below"),
    ],
)
def test_damaged_files_are_refused(key, change, message, tmp_path):
    pc.trace(*STORED["infeasible"]()).save(tmp_path / "path")
    file = rewritten(tmp_path / "path.npz", tmp_path / "damaged.npz", **{key: change})
    with pytest.raises(pc.InputError, match=message):
        pc.load(file)


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("program_moved_places", lambda a: a[:0]),
        ("program_moved_values", lambda a: a[None]),
        ("program_moved_scale", np.ravel),
        ("program_moved", lambda a: a[None]),
    ],
)
def test_what_moves_in_a_file_has_its_shape(key, change, tmp_path):
    changed = rewritten(OLDER / "program_moved_variable.npz", tmp_path / "damaged.npz", **{key: change})
    with pytest.raises(pc.InputError, match="must have shape"):
        pc.load(changed, prove=False)


OLDER = Path(__file__).parents[2] / "stored"


@pytest.mark.parametrize("name", STORED)
def test_whatever_is_changed_is_refused(name, tmp_path):
    """Names, their places and factors, signs, the constant, parameters, the plan, numbers: all that the file holds."""
    pc.trace(*STORED[name]()).save(tmp_path / "path")
    assert refused_when_changed(tmp_path / "path.npz", tmp_path / "other.npz") > 25


def test_a_path_that_was_cut_says_from_where_on_there_is_none(tmp_path):
    """The ray refutes from 5/8 on; a path that ends at 1/4 says nothing of what is between."""
    x, s = cp.Variable(name="x"), cp.Parameter(name="s")
    rows = [(x <= 5).set_label("cap"), (x >= s).set_label("least")]
    path = pc.trace(cp.Problem(cp.Minimize(cp.square(x)), rows), {s: 0.0}, {s: 8.0})
    assert (path.beyond.t, path.beyond.end) == (0.625, 0.625)
    assert path.beyond.explain() == (
        "beyond t = 0.625 (s = 5) no point satisfies cap, least together: "
        "proved (its conditions hold to 0.0e+00, and it gains 2.3e-01)"
    )
    k = path.t.size - 1
    share = (0.25 - path.t[k - 1]) / (0.625 - path.t[k - 1])
    x, z = (each.copy() for each in (path.x, path.z))
    x[-1, 1], z[-1, 1] = (each[-1, 0] + share * (each[-1, 1] - each[-1, 0]) for each in (path.x, path.z))
    replace(path, t=np.append(path.t[:-1], 0.25), points=ProgramPoints.of(x, z)).save(tmp_path / "cut")
    found = pc.load(tmp_path / "cut.npz")
    assert (found.beyond.t, found.beyond.end) == (pytest.approx(0.625), 0.25)
    assert "beyond t = 0.625 (s = 5) no point" in found.beyond.explain()
    assert found.beyond.explain().endswith("; from t = 0.25, where the path ends, to there nothing is known")
    assert "infeasible beyond t = 0.625 (cap, least)" in repr(found)
    with pytest.raises(pc.InputError, match="max_events must be what ended it where the status is 'limit', got None"):
        pc.load(rewritten(tmp_path / "cut.npz", tmp_path / "limit.npz", of_problem=telling(status="limit")))


def test_where_a_path_was_stopped_is_bound(tmp_path):
    problem, start, stop = STORED["lasso"]()
    path = pc.trace(problem, start, stop, max_events=2)
    path.save(tmp_path / "path")
    again = pc.load(tmp_path / "path.npz")
    assert (again.status, again.max_events, repr(again)) == ("limit", 2, repr(path))
    with pytest.raises(pc.InputError, match="another hash"):
        pc.load(damaged(tmp_path / "path.npz", tmp_path / "short.npz", t=path.t[:-1]))


def test_more_exchanges_than_are_allowed_by_default_are_no_end(monkeypatch):
    problem, start, stop = STORED["lasso"]()
    monkeypatch.setattr(problem_path, "follow", lambda *given, **how: follow(*given, **{**how, "max_events": 2}))
    with pytest.raises(pc.DegeneratePathError, match=r"not come to its end after 2 exchanges.*Give max_events"):
        pc.trace(problem, start, stop)


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
    for options, message in (
        (("duality",), "what must be"),
        (("duals", ["w"]), "names must be among margin, xi: nonneg, got 'w'"),
    ):
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


def boxes(seed, offset):
    """x_i = c_i + d_i s within whole numbers, of which low and up are beyond d_i offset; kinks are fractions."""
    rng = np.random.default_rng(seed)
    n, length = 4, int(rng.choice([3, 7, 10]))
    c, d, low = rng.integers(-4, 5, n), rng.choice([-3, -2, -1, 1, 2, 3], n), rng.integers(-5, 0, n)
    up = low + rng.integers(1, 8, n)
    x, s = cp.Variable(n, name="x"), cp.Parameter(name="s")
    rows = [x >= low + d * offset, x <= up + d * offset]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - c - d * s) / 2), rows)
    return pc.trace(problem, {s: offset}, {s: offset + length}), c, d, low, up, length


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("seed", range(6))
def test_a_kink_that_is_named_has_both_its_sides(seed, offset):
    path, c, d, low, up, length = boxes(seed, offset)
    kinks = {Fraction(int(bound - a), int(b)) for side in (low, up) for bound, a, b in zip(side, c, d, strict=True)}
    kinks = sorted(kink for kink in kinks if 0 < kink < length)
    assert kinks
    for kink in kinks:
        at = path.slopes(s=offset + float(kink), per="s")
        beside = [other for other in (Fraction(0), *kinks, Fraction(length)) if other != kink]
        for side, others in ((at.left, [o for o in beside if o < kink]), (at.right, [o for o in beside if o > kink])):
            until = (max if side is at.left else min)(others)
            middle = (kink + until) / 2
            inside = [bool(a < v < b) for a, b, v in zip(low, up, c + d * middle, strict=True)]
            np.testing.assert_allclose(side.variables["x"], np.where(inside, d, 0), atol=1e-6)
            assert side.until == pytest.approx(offset + float(until), rel=1e-12)


def test_sides_of_a_breakpoint_that_is_stored_a_little_beside():
    x, b = cp.Variable(2, name="x"), cp.Parameter(name="b")
    rows = [cp.sum(x) == b, x[0] - 2 * x[1] <= -0.5]
    path = pc.trace(cp.Problem(cp.Minimize(cp.sum_squares(x) / 2), rows), {b: 0.0}, {b: 2.0})
    kinks = []
    for near in (np.nextafter(1.0, 0.0), 1.0, np.nextafter(1.0, 2.0)):
        at = path.slopes(b=near, per="b")
        np.testing.assert_allclose(at.left.variables["x"], [2 / 3, 1 / 3])  # x_0 - 2 x_1 = -1/2 up to there is not kept
        np.testing.assert_allclose(at.right.variables["x"], [0.5, 0.5])
        kinks.append((at.left.until, at.right.until))
    assert kinks == [(0.0, 2.0)] * 3


def same_sides(found, known):
    for side in ("left", "right"):
        one, other = getattr(found, side), getattr(known, side)
        assert (one.value, one.until) == (pytest.approx(other.value, rel=1e-12), other.until)
        for kind in ("variables", "duals"):
            for name, rate in getattr(other, kind).items():
                np.testing.assert_allclose(getattr(one, kind)[name], rate, atol=1e-12)


def test_a_stretch_of_no_length_is_no_side(lasso):
    """One more segment within what the data can tell, before each breakpoint: rates and prices stay."""
    x, th = cp.Variable(name="x"), cp.Parameter(name="th")
    rows = [(x >= th).set_label("low"), (x >= 1).set_label("one")]
    price = pc.trace(cp.Problem(cp.Minimize(2 * x), rows), {th: 0.0}, {th: 2.0})
    for path in (lasso, price):
        for j in range(1, path.t.size - 1):
            at = path.t[j] - 2.0**-53
            more = [np.insert(each, j, each[j, 0], axis=0) for each in (path.x, path.z)]
            longer = {"t": np.insert(path.t, j, at), "labels": np.insert(path.labels, j, path.labels[j], axis=0)}
            other = replace(path, points=ProgramPoints.of(*more), **longer)
            assert other.t.size == path.t.size + 1
            for near in (at, path.t[j] - 2.0**-54, path.t[j], path.t[j] + 2.0**-53):
                same_sides(other.slopes(near), path.slopes(path.t[j]))
                if path is price:
                    found = [other.shadow_price(name) for name in ("low", "one")]
                    assert [each(near) for each in found] == pytest.approx([2.0, 0.0])
                    assert [each(near - 1e-9) for each in found] == pytest.approx([0.0, 2.0])


def parabola():
    """v = s x with x = 3 - s: the row with s - 1 is never tight where x > 0."""
    x, v, s = cp.Variable(name="x"), cp.Variable(name="v"), cp.Parameter(name="s")
    problem = cp.Problem(cp.Minimize(v + cp.square(x - 3) / 2), [(v >= s * x).set_label("steep"), v >= (s - 1) * x])
    return problem, {s: 0.0}, {s: 1.0}


def many_parabolas(seed):
    """v_i = max(s a_i'x, (s - 1) a_i'x), some rows of which change sides along the line."""
    rng = np.random.default_rng(seed)
    A, c = rng.normal(size=(5, 3)), 2 * rng.normal(size=3)
    x, v, s = cp.Variable(3, name="x"), cp.Variable(5, name="v"), cp.Parameter(name="s")
    rows = [v >= s * (A @ x), v >= (s - 1) * (A @ x), x >= -1]
    return cp.Problem(cp.Minimize(cp.sum(v) + cp.sum_squares(x - c) / 2), rows), {s: 0.1}, {s: 0.9}


def test_a_variable_beside_a_moving_parameter_is_a_parabola():
    path = pc.trace(*parabola())
    assert path.program.parabolas == ("v",)
    for s in (0.0, 0.25, 0.5, 0.75, 1.0):
        at = path.slopes(s=s, per="s")
        for side in (at.left, at.right):
            if side is not None:
                assert side.variables == pytest.approx({"v": 3 - 2 * s, "x": -1.0})
    t, v = path.along("v")
    np.testing.assert_allclose(v, t * (3 - t))
    assert t.tolist() == [0.0, 0.5, 1.0]
    assert [each.tolist() for each in path.along("x")] == [[0.0, 1.0], [3.0, 2.0]]
    t, v = path.along("v", points=5)
    np.testing.assert_allclose(v, t * (3 - t))
    curves = {name: (t, values) for name, t, values in ProblemPathDisplay.from_path(path).curves()}
    np.testing.assert_allclose(curves["v"][1], curves["v"][0] * (3 - curves["v"][0]))
    assert curves["v"][0].size > 5
    with pytest.raises(pc.InputError, match="points must be"):
        path.along("v", points=1)


@pytest.mark.parametrize("seed", range(6))
def test_rates_of_parabolas_are_their_differences(seed):
    path = pc.trace(*many_parabolas(seed))
    assert path.program.parabolas == ("v",)
    bent = 0.0
    for a, b in zip(path.t[:-1], path.t[1:], strict=True):
        h = 0.1 * (b - a)
        for t in (a + 2 * h, b - 2 * h):
            at = path.slopes(t)
            then, now = path.at(t + h).variables, path.at(t - h).variables
            for side in (at.left, at.right):
                for name, rate in side.variables.items():  # of a parabola, differences about the middle are exact
                    np.testing.assert_allclose(rate, (then[name] - now[name]) / (2 * h), atol=1e-8)
        chord = path.at(a).variables["v"] + path.at(b).variables["v"]
        bent = max(bent, np.abs(path.at((a + b) / 2).variables["v"] - chord / 2).max())
    assert bent > 1e-3
    t, v = path.along("v")
    for at, values in zip(t[1::3], v[1::3], strict=True):
        np.testing.assert_allclose(values, path.at(at).variables["v"], atol=1e-12)


@pytest.mark.parametrize("solved_before", [False, True])
@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda path: pickle.loads(pickle.dumps(path))])
def test_a_path_can_be_copied_and_pickled(how, solved_before):
    """Of a user's problem, and of a formulation's, before and after the problem was solved."""
    svm = pc.TwoCSVM([[0.0], [1.0], [2.5], [3.0]], [-1, 1, -1, 1])
    for path in (pc.trace(LASSO, {LAM: 4.0}, {LAM: 0.0}), pc.trace(svm, C_plus=(0.1, 2.0), C_minus=1.0)):
        if solved_before:
            assert path.compare(3).agrees()
        other = how(path)
        assert repr(other) == repr(path)
        assert repr(other.at(0.4)) == repr(path.at(0.4))
        assert other.proof.worst.off_by == path.proof.worst.off_by
        assert other.compare(3).agrees()
        other.assign(0.7)
        for variable in other.source.problem.variables():
            np.testing.assert_array_equal(variable.value, path.at(0.7).variables[variable.name()])


def test_a_deep_copy_writes_into_the_users_problem():
    """A callback knows the parameter that the user has, and no copy of it."""
    x, s = cp.Variable(name="x"), cp.Parameter(name="s")
    twice = cp.CallbackParam(lambda: 2 * s.value, name="twice")
    path = pc.trace(cp.Problem(cp.Minimize(cp.square(x - twice) + x)), {s: 0.0}, {s: 1.0})
    path.compare(1)
    other = copy.deepcopy(path)
    assert other.compare(3).agrees()
    other.assign(0.25)
    assert (float(x.value), s.value) == (pytest.approx(0.0, abs=1e-12), 0.25)


def test_a_point_is_asked_for_by_the_parameter_itself():
    w, lam = cp.Variable(name="w"), cp.Parameter(nonneg=True, name="lam")
    path = pc.trace(cp.Problem(cp.Minimize(cp.square(w - 3) / 2 + lam * cp.abs(w))), {lam: 4.0}, {lam: 0.0})
    assert path.at({lam: 1.0}).variables == path.at(lam=1.0).variables == path.at({"lam": 1.0}).variables
    assert path.value({lam: 1.0}) == pytest.approx(2.5)
    assert path.slopes({lam: 1.0}, per="lam").right.value == pytest.approx(2.0)
    path.assign({lam: 1.0})
    assert w.value == pytest.approx(2.0)
    with pytest.raises(pc.InputError, match="one of t, lam must be given, got mu"):
        path.at({cp.Parameter(name="mu"): 1.0})
