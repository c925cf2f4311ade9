"""Events of programs beside states of the user's rows in fractions, in closed form, at every door and in files."""

from __future__ import annotations

import csv
import itertools
import re
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.cli import main
from paretoclf.engine.reduction.points import ProgramPoints
from paretoclf.path.base.point_rows import point_rows
from tests.oracles.program_states import SmallProgram, compared

INF = np.inf


def told(path):
    """Events as pairs of t and text, by increasing t."""
    return [(round(event.t, 9), f"{event.name} {event.before} -> {event.after}") for event in path.events]


def traced(program, door, folder=None):
    """The path of a program of the oracle at a door; None where there is no optimum at its start."""
    start, stop = program.ends
    try:
        if door == "cvxpy":
            problem, s = program.cvxpy()
            return pc.trace(problem, {s: start}, {s: stop}, progress=False)
        if door == "arrays":
            return pc.trace(program.arrays(), {"s": start}, {"s": stop}, progress=False)
        moves, *ends = program.file_moves()
        file = folder / f"program.{door}"
        file.write_text(getattr(program, door)())
        return pc.trace(pc.QP.from_file(file, moves=moves), *ends, progress=False)
    except pc.InputError as error:
        if "must have a solution" not in str(error):
            raise
        return None


@pytest.mark.parametrize("door", ["arrays", "cvxpy", "lp", "mps"])
@pytest.mark.parametrize("seeds", [range(first, first + 8) for first in range(8, 40, 8)], ids=str)
def test_no_event_is_false_and_none_is_missing(seeds, door, tmp_path):
    """Penalty columns, ranges, equations, free variables, rows of one entry and rows twice, in fractions."""
    looked = 0
    for seed in seeds:
        program = SmallProgram.drawn(seed)
        if door in ("lp", "mps"):
            pytest.importorskip("highspy")
            program = program.linear(ranges=door == "mps")
            if not any(each.any() for each in program.moves.values()):
                continue
        path = traced(program, door, tmp_path)
        if path is not None:
            found, *wrong = compared(program, path, door)
            assert wrong == [], seed
            looked += int(found)
    assert looked


@pytest.mark.parametrize("seed", range(12))
def test_terms_are_said_to_be_where_they_are(seed):
    """Whole numbers, columns twice, rows through one point: what is at its kink by chance stays there."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 5)), int(rng.integers(3, 7))
    A, y = rng.integers(-2, 3, (m, n)).astype(float), rng.integers(-3, 4, m).astype(float)
    if seed % 3 == 0:
        A[:, 1] = A[:, 0]
    w, lam = cp.Variable(n, name="w"), cp.Parameter(nonneg=True, name="lam")
    fit = cp.sum_squares(A @ w - y) / 2 if seed % 2 else cp.norm1(A @ w - y)
    costs = [cp.norm1(w), cp.norm1(cp.diff(w)), cp.sum(cp.pos(w - 1)) + cp.norm1(w)]
    path = pc.trace(cp.Problem(cp.Minimize(fit + lam * costs[seed % 3])), {lam: 6}, {lam: 0}, progress=False)
    long = path.long_segments
    middles = {float(path.t[j]): 0.5 * (path.t[[i, j]] + path.t[[i + 1, j + 1]]) for i, j in itertools.pairwise(long)}
    for event in (each for each in path.events if not each.name.startswith("term of")):
        for state, t in zip(event.changes[0][1:], middles[event.t].tolist(), strict=True):
            point = path.at(t).variables["w"]
            entry = re.fullmatch(r"term (\d) of abs\(w\)(, number 0)?", event.name)
            if entry is not None:
                k = int(entry[1])
                size, direction, kinks, others = A[k] @ point - y[k], A[k], {0.0}, ()
            else:
                of_w = re.sub(r"(\d) w", r"\1 * w", event.name)
                size, direction = (eval(of_w, {"w": each}) for each in (point, np.eye(n)))
                kinks, others = {0.0, 1.0}, zip(A, y, strict=True)  # of the cost, and of rows of A in this direction
            for row, side in others:
                factor = row @ direction / (direction @ direction)
                if factor and np.allclose(row, factor * direction):
                    kinks.add(side / factor)
            at_one = min(abs(size - kink) for kink in kinks) < 1e-9
            assert {
                "0": abs(size) < 1e-9,
                "not 0": abs(size) > 1e-9,
                "at its kink": at_one,
                "above its kink": size > min(kinks) + 1e-9,
                "below its kink": size < max(kinks) - 1e-9,
            }[state], (event, size)


@pytest.mark.parametrize(
    ("cost", "rows", "expected"),
    [
        # min (x - s)^2 + 2 pos(...): each kink holds x while s goes one unit further than it
        (lambda x: cp.pos(1 - x), [], [(0, "below its kink", "at its kink"), (1, "at its kink", "above its kink")]),
        (lambda x: cp.pos(x - 1), [], [(1, "below its kink", "at its kink"), (2, "at its kink", "above its kink")]),
        (
            lambda x: cp.pos(x - 1),
            [-3, 4],  # the user's own bounds are bounds
            [
                (-3, "at its lower bound", "free"),
                *[(1, "below its kink", "at its kink"), (2, "at its kink", "above its kink")],
                (5, "free", "at its upper bound"),
            ],
        ),
        (
            lambda x: cp.pos(cp.abs(x) - 1),
            [],
            [
                *[(-2, "below its lower kink", "at its lower kink"), (-1, "at its lower kink", "between its kinks")],
                *[(1, "between its kinks", "at its upper kink"), (2, "at its upper kink", "above its upper kink")],
            ],
        ),
    ],
    ids=["below", "above", "bounds", "both"],
)
def test_a_kink_of_a_cost_is_no_bound(cost, rows, expected):
    x, s = cp.Variable(name="x", bounds=rows or None), cp.Parameter(name="s")
    path = pc.trace(cp.Problem(cp.Minimize(cp.square(x - s) + 2 * cost(x))), {s: -6}, {s: 6}, progress=False)
    found = [(event.parameters["s"], event.name, event.before, event.after) for event in path.events]
    assert found == [(pytest.approx(at, abs=1e-9), "x", *states) for at, *states in expected]


# ---- a column that pays for the violation of a row -------------------------------------------------------------------

NEED = "Minimize\n 3 a + b\nSubject To\n need: a + b >= 4\n room: b <= 3\nEnd\n"


def test_a_penalty_column_is_said_to_be_paid_and_its_row_to_be_tight(tmp_path):
    """min 3 a + b, a + b >= need, b <= 3: all of need is b up to 3, and a from there on."""
    pytest.importorskip("highspy")
    (tmp_path / "goods.lp").write_text(NEED)
    path = pc.trace(pc.QP.from_file(tmp_path / "goods.lp", moves={"need": "rhs:need"}), {"need": 0}, {"need": 9})
    expected = [(round(1 / 3, 9), text) for text in ("a at its lower bound -> free", "b free -> at its upper bound")]
    assert told(path) == expected
    whole = pc.trace(pc.QP.from_file(tmp_path / "goods.lp", moves={"need": "rhs:need"}), {"need": -3}, {"need": 9})
    assert told(whole) == [
        (0.25, "b at its lower bound -> free"),
        (0.25, "need free -> at its lower bound"),
        (0.5, "a at its lower bound -> free"),
        (0.5, "b free -> at its upper bound"),
    ]


def test_every_door_says_the_same_of_variables(tmp_path):
    """LP, MPS and CVXPY; a constraint of CVXPY compares two expressions, and has no side."""
    pytest.importorskip("highspy")
    mps = (
        "NAME\nROWS\n N cost\n G need\n L room\nCOLUMNS\n a cost 3 need 1\n b cost 1 need 1\n b room 1\n"
        "RHS\n RHS need 4 room 3\nENDATA\n"
    )
    a, b, need = cp.Variable(name="a", nonneg=True), cp.Variable(name="b", nonneg=True), cp.Parameter(name="need")
    rows = [(a + b >= need).set_label("need"), (b <= 3).set_label("room")]
    found = [told(pc.trace(cp.Problem(cp.Minimize(3 * a + b), rows), {need: -3}, {need: 9}))]
    for name, text in (("goods.lp", NEED), ("goods.mps", mps)):
        (tmp_path / name).write_text(text)
        qp = pc.QP.from_file(tmp_path / name, moves={"need": "rhs:need"})
        found.append(told(pc.trace(qp, {"need": -3}, {"need": 9})))
    assert found[1] == found[2]
    assert found[0] == [
        (t, text.replace("need free -> at its lower bound", "need free -> tight")) for t, text in found[1]
    ]


def test_the_table_and_the_command_line_say_the_same(tmp_path, monkeypatch, capsys):
    pytest.importorskip("highspy")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "goods.lp").write_text(NEED)
    assert main(["trace", "goods.lp", "--move", "rhs:need=-3..9", "--csv", "table.csv"]) == 0
    out = capsys.readouterr().out
    path = pc.trace(pc.QP.from_file("goods.lp", moves={"need": "rhs:need"}), {"need": -3}, {"need": 9})
    said = ["", "b free; need at its lower bound", "a free; b at its upper bound", ""]
    assert list(dict.fromkeys((row["t"], row["events"]) for row in point_rows(path))) == list(
        zip(path.breakpoints.tolist(), said, strict=True)
    )
    assert path.to_frame()["events"].tolist() == [row["events"] for row in point_rows(path)]
    with open("table.csv", newline="") as handle:
        assert [row["events"] for row in csv.DictReader(handle)] == path.to_frame()["events"].tolist()
    assert all(each in out for each in said)


# ---- rows of one entry -----------------------------------------------------------------------------------------------


def test_of_two_rows_of_one_variable_it_is_said_which_gives_way_to_which():
    """min x, x >= 1 and x >= s: one holds up to s = 1, the other from there."""
    rows = np.ones((2, 1))
    qp = pc.QP(None, [1.0], rows, [1.0, 0.0], [INF, INF], moves={"s": {"l": [0.0, 1.0]}})
    path = pc.trace(qp, {"s": 0}, {"s": 4})
    assert told(path) == [(0.25, "y[0] at its lower bound -> free"), (0.25, "y[1] free -> at its lower bound")]


def test_a_row_gives_way_to_a_bound_of_its_variable():
    """max x, x <= 3 by its attribute and x <= s by a constraint."""
    x, s = cp.Variable(name="x", bounds=[0, 3]), cp.Parameter(name="s")
    path = pc.trace(cp.Problem(cp.Maximize(x), [(x <= s).set_label("cap")]), {s: 1}, {s: 5})
    assert told(path) == [(0.5, "x free -> at its upper bound"), (0.5, "cap tight -> free")]


def test_one_row_of_one_entry_is_the_bound_of_its_variable_on_either_side():
    """The x next to s, -1 <= x and 2 x <= 4, one of them written backwards."""
    x, s = cp.Variable(name="x"), cp.Parameter(name="s")
    path = pc.trace(cp.Problem(cp.Minimize(cp.square(x - s)), [-x <= 1, -2 * x >= -4]), {s: -2}, {s: 3})
    assert told(path) == [(0.2, "x at its lower bound -> free"), (0.8, "x free -> at its upper bound")]


@pytest.mark.parametrize(("low", "radius"), [(-1.0, 2.0), (-3.0, 2.0), (-2.0, 2.0)])
def test_a_jump_between_a_bound_and_one_that_an_absolute_value_makes_is_one_event(low, radius):
    z, t = cp.Variable(name="z", bounds=[low, None]), cp.Parameter(name="t")
    path = pc.trace(cp.Problem(cp.Minimize(t * z), [cp.abs(z) <= radius]), {t: -1}, {t: 1})
    assert path.at(0.6).variables["z"] == max(low, -radius)
    of_z = [each for each in told(path) if each[1].startswith("z ")]
    assert of_z == [(0.5, "z at its upper bound -> at its lower bound")]


def test_a_parameter_beside_a_variable_leaves_a_row_a_row():
    """min v + (x - 1)^2, v >= s x and v >= (s - 1) x: x is 0 from s = 2 to s = 3, where both hold; v has no bound."""
    x, v, s = cp.Variable(name="x"), cp.Variable(name="v"), cp.Parameter(name="s", nonneg=True)
    rows = [(v >= s * x).set_label("up"), (v >= (s - 1) * x).set_label("down")]
    path = pc.trace(cp.Problem(cp.Minimize(v + cp.square(x - 1)), rows), {s: 0}, {s: 4})
    assert path.program.moved
    assert told(path) == [(0.5, "down free -> tight"), (0.75, "up tight -> free")]


# ---- prices ----------------------------------------------------------------------------------------------------------


def test_a_row_that_stays_tight_gets_a_price():
    """min (x - 1)^2 + y^2, x <= 1, x + y >= s: x is 1 all along, and the cap has a price from s = 1 on."""
    x, y, s = cp.Variable(name="x"), cp.Variable(name="y"), cp.Parameter(name="s")
    rows = [(x <= 1).set_label("cap"), (x + y >= s).set_label("push")]
    path = pc.trace(cp.Problem(cp.Minimize(cp.square(x - 1) + cp.square(y)), rows), {s: 0}, {s: 2})
    assert told(path) == [
        (0.5, "x at its upper bound without a price -> at its upper bound"),
        (0.5, "push free -> tight"),
    ]


def test_rows_with_columns_of_cvxpy_are_tight_where_they_have_a_price():
    """The w next to (3, -1), |w|_1 <= r: from r = 4 on there is room, which columns for |w| need not show."""
    w, r = cp.Variable(2, name="w"), cp.Parameter(name="r", nonneg=True)
    size = (cp.norm1(w) <= r).set_label("size")
    path = pc.trace(cp.Problem(cp.Minimize(cp.sum_squares(w - [3, -1])), [size]), {r: 1}, {r: 5})
    assert (0.75, "size tight -> without a price") in told(path)


def test_a_constraint_on_one_absolute_value_has_one_event_by_its_name(tmp_path):
    """The w next to (3, 2): w_0 + 2 w_1 is r up to 7, w_0 - 2 w_1 is r up to 2, and then (16 - 3 r) / 5."""
    w, r = cp.Variable(2, name="w"), cp.Parameter(name="r", nonneg=True)
    rules = [(cp.abs(w[0] + 2 * w[1]) <= r).set_label("sum"), (cp.abs(cp.hstack([w[0] - 2 * w[1]])) <= r)]
    path = pc.trace(cp.Problem(cp.Minimize(cp.sum_squares(w - [3, 2])), rules), {r: 0}, {r: 10})
    expected = [(0.2, "constraint 1[0] tight -> free"), (0.7, "sum tight -> free")]
    assert told(path) == expected
    path.save(tmp_path / "path.npz")
    assert told(pc.load(tmp_path / "path.npz")) == expected
    for value in (1.5, 2.5, 6.5, 7.5):
        r.value = value
        cp.Problem(cp.Minimize(cp.sum_squares(w - [3, 2])), rules).solve(solver="CLARABEL")
        room = value - np.abs([w.value[0] - 2 * w.value[1], w.value[0] + 2 * w.value[1]])
        np.testing.assert_array_equal(room > 1e-5, [value > 2, value > 7])


def test_of_two_expressions_that_a_constraint_bounds_each_has_its_event():
    w, r = cp.Variable(2, name="w"), cp.Parameter(name="r", nonneg=True)
    cap = (cp.maximum(w[0] + w[1], w[0] - 2 * w[1]) <= r).set_label("cap")
    path = pc.trace(cp.Problem(cp.Minimize(cp.sum_squares(w - [3, 2])), [cap]), {r: 0}, {r: 10})
    assert not any("cap tight -> free" in text for _, text in told(path))


def test_terms_of_the_objective_keep_their_words():
    """Soft thresholds in a problem with a bound: 0 and not 0 of the term, at its upper bound of the variable."""
    w, lam = cp.Variable(2, name="w"), cp.Parameter(name="lam", nonneg=True)
    cost = cp.sum_squares(w - [3, -1]) / 2 + lam * cp.norm1(w)
    path = pc.trace(cp.Problem(cp.Minimize(cost), [w <= 1]), {lam: 4}, {lam: 0})
    assert told(path) == [
        (0.25, "w[0] 0 -> not 0"),
        (0.5, "w[0] free -> at its upper bound"),
        (0.75, "w[1] 0 -> not 0"),
    ]


# ---- files -----------------------------------------------------------------------------------------------------------


def test_a_file_has_the_same_events(tmp_path):
    path = traced(SmallProgram.drawn(89), "arrays")
    assert len(path.events) == 4
    path.save(tmp_path / "path.npz")
    assert pc.load(tmp_path / "path.npz").events == path.events
    # Files of earlier versions hold the points themselves.
    begin, x, z = path.points.begin, path.points.x, path.points.z
    earlier = replace(path, points=ProgramPoints.known(x, z, begin))
    assert earlier.points.way is None
    assert earlier.events == path.events


def test_rounding_is_no_event():
    """A row twice, but for its last digits: neither is said to have room."""
    third = 1 / 3
    A = np.array([[1.0, 1.0], [third, third], [1.0, -1.0]])
    qp = pc.QP(np.eye(2), [-3, -2], A, None, [1.0, third * (1 + 2e-16), 0.5], moves={"s": {"u": [1.0, third, 0.0]}})
    path = pc.trace(qp, {"s": 0}, {"s": 5})
    for event in path.events:
        slack = qp.at({"s": 5 * event.t})["u"] - A @ path.at(event.t).variables["x"]
        assert slack[int(event.name[2])] == pytest.approx(0.0, abs=1e-12) or event.name.startswith("x")
    assert {event.after for event in path.events if event.t > 0.3} == {"free"}
