"""Tests of `paretoclf.path.programs.program_path`: what is read along a small path, against closed forms."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

import paretoclf as pc
from paretoclf.engine.reduction.points import ProgramPoints
from paretoclf.path.programs.problem_path import ProblemPath
from paretoclf.path.programs.program_path import check_line, in_words

V = np.array([3.0, -1.0])
W, LAM = cp.Variable(2, name="w"), cp.Parameter(nonneg=True, name="lam")
LASSO = cp.Problem(cp.Minimize(cp.sum_squares(W - V) / 2 + LAM * cp.norm1(W)), [(W[0] <= 2).set_label("cap")])


def lasso(lam):
    """The optimal w, its value, and the multiplier of the cap."""
    w = np.sign(V) * np.maximum(np.abs(V) - lam, 0.0)
    w[0] = min(w[0], 2.0)
    value = ((w - V) ** 2).sum() / 2 + lam * np.abs(w).sum()
    return w, value, max(1.0 - lam, 0.0)


@pytest.fixture(scope="module")
def path():
    return pc.trace(LASSO, {LAM: 4.0}, {LAM: 0.0})


@pytest.mark.parametrize("t", [0.0, 0.1, 0.25, 0.6, 0.75, 0.9, 1.0])
def test_every_point_is_the_closed_form(path, t):
    w, value, price = lasso(4 - 4 * t)
    point = path.at(t)
    np.testing.assert_allclose(point.variables["w"], w, atol=1e-12)
    assert (point.t, point.parameters["lam"]) == (t, 4 - 4 * t)
    assert (point.value, path.value(t)) == pytest.approx((value, value), rel=1e-12)
    assert point.duals["cap"] == pytest.approx(price, abs=1e-12)
    assert type(point.duals["cap"]) is float
    assert path.at(lam=4 - 4 * t).variables["w"] == pytest.approx(point.variables["w"], abs=1e-14)
    assert path.at({LAM: 4 - 4 * t}).value == pytest.approx(value, rel=1e-12)
    x, z = path.compiled(t)
    assert path.program.value(x, t) == pytest.approx(value, rel=1e-12)
    variables, duals = in_words(path.program, x, z, t)
    np.testing.assert_array_equal(variables["w"], point.variables["w"])
    assert duals == point.duals


def test_names_and_what_is_read_all_along(path):
    assert (path.variables, path.duals, path.parabolas) == (("w",), ("cap",), ())
    t, w = path.along("w", 7)
    np.testing.assert_allclose(w, [lasso(4 - 4 * at)[0] for at in t], atol=1e-12)
    t, price = path.along("cap", 7)
    np.testing.assert_allclose(price, [lasso(4 - 4 * at)[2] for at in t], atol=1e-12)
    by_name, by_row = path.shadow_price("cap"), path.shadow_price(LASSO.constraints[0])
    assert (by_name.constraint, by_name(0.8), by_row(0.8)) == ("cap", by_row(0.8), pytest.approx(0.2))
    with pytest.raises(pc.InputError, match="constraint must be a label, or a constraint of the problem"):
        path.shadow_price(W >= 0)


def test_a_constraint_without_a_label_is_called_by_its_place(path):
    rows = [SimpleNamespace(label=None), SimpleNamespace(label="own")]
    own = replace(path, source=SimpleNamespace(problem=SimpleNamespace(constraints=rows)))
    assert [own._called(row) for row in rows] == ["constraint 0", "own"]


def test_a_constant_on_a_segment_is_read_without_rounding():
    """Shares add up to 1 exactly: x = 1 stays what it is."""
    x, th = cp.Variable(2, name="x"), cp.Parameter(name="th")
    found = pc.trace(cp.Problem(cp.Minimize(cp.sum(x)), [x[0] >= 1, x[1] >= th]), {th: 0.0}, {th: 1.0})
    _, read = found.along("x", 50)
    assert np.unique(read[:, 0]).size == 1
    assert {found.at(float(t)).variables["x"][0] for t in np.linspace(0, 1, 37)} == {1.0}


def test_a_variable_next_to_which_a_parameter_stands_is_read_there():
    """v >= th x at x >= 1 + th: v is the parabola th (1 + th)."""
    x, v, th = cp.Variable(name="x"), cp.Variable(name="v"), cp.Parameter(nonneg=True, name="th")
    found = pc.trace(cp.Problem(cp.Minimize(x + v), [x >= 1 + th, v >= th * x]), {th: 0.0}, {th: 2.0})
    assert found.parabolas == ("v",)
    t, read = found.along("v", 9)
    np.testing.assert_allclose(read, 2 * t * (1 + 2 * t), atol=1e-12)


def test_the_problem_is_given_the_point_and_asked_for_its_own(path):
    path.assign(0.5)
    assert (LAM.value, W.value.tolist()) == (2.0, pytest.approx([1.0, 0.0]))
    path.assign(lam=0.5)
    assert LASSO.constraints[0].dual_value == pytest.approx(0.5)
    found = path.compare(3)
    np.testing.assert_allclose(found.solver, [lasso(4 - 4 * t)[1] for t in found.t], rtol=1e-7)
    np.testing.assert_allclose(found.path, found.solver, rtol=1e-7)
    alone = replace(path, source=None)
    for asked in (lambda: alone.assign(0.5), lambda: alone.compare(1), lambda: alone.shadow_price(W >= 0)):
        with pytest.raises(pc.InputError, match="needs the problem, which a file does not hold"):
            asked()


def test_a_path_says_how_far_it_goes(path):
    assert path.beyond is None
    assert "lam 4 to 0, " in repr(path)
    a, b = cp.Parameter(name="a"), cp.Parameter(2, name="b")
    two = cp.Problem(cp.Minimize(cp.sum_squares(W - b) + a * W[0]))
    zero = {a: 0.0, b: np.zeros(2)}
    assert "t 0 to 1 (a, b), " in repr(pc.trace(two, zero, {a: 1.0, b: np.ones(2)}))
    assert "t 0 to 1 (b), " in repr(pc.trace(two, zero, {a: 0.0, b: np.ones(2)}))
    assert "(a 0 to 2, " in repr(pc.trace(two, zero, {a: 2.0, b: np.zeros(2)}))
    assert "nothing moves" in replace(path, ends=(path.ends[0], path.ends[0]))._how_far()


X, TH = cp.Variable(2, name="x"), cp.Parameter(name="th")


def ends_early(kind):
    """sum x is between th and 6 as far as th = 6; (1 - th) sum x, x >= 0, has a minimum as far as th = 1."""
    if kind == "infeasible":
        rows = [(X <= 3).set_label("cap"), (cp.sum(X) >= TH).set_label("mass")]
        return pc.trace(cp.Problem(cp.Minimize(cp.sum_squares(X)), rows), {TH: 0.0}, {TH: 8.0})
    return pc.trace(cp.Problem(cp.Minimize((1 - TH) * cp.sum(X)), [X >= 0]), {TH: 0.0}, {TH: 4.0})


@pytest.mark.parametrize(("kind", "end", "blame"), [("infeasible", 0.75, "cap, mass"), ("unbounded", 0.25, "x")])
def test_beyond_the_end_there_is_a_ray(kind, end, blame):
    found = ends_early(kind)
    beyond = found.beyond
    assert (beyond.status, beyond.t, beyond.end) == (kind, pytest.approx(end), found.t[-1])
    assert beyond.t == beyond.end  # no later t is left open, up to the digits of what moves
    assert beyond.feasible is (kind == "unbounded")
    assert beyond.parameters["th"] == pytest.approx(6.0 if kind == "infeasible" else 1.0)
    assert f"{kind} beyond ({blame})" in repr(found)
    assert ("th 0 to 6, " if kind == "infeasible" else "th 0 to 1, ") in repr(found)
    check_line(found)
    later = SimpleNamespace(t=0.9, end=found.t[-1])
    stored = replace(found)
    stored.__dict__["beyond"] = replace(beyond, t=later.t, blame=())
    assert stored._ending == f"{kind} beyond t = 0.9 (what CVXPY added)"


def test_a_ray_that_refutes_only_later_t_keeps_its_own(monkeypatch):
    found = ends_early("infeasible")
    own = found._refuted()
    for by, expected in ((found._least / 2, own.end), (0.125, own.end + 0.125)):
        again = replace(found)
        monkeypatch.setattr(ProblemPath, "_refuted", lambda _, by=by: replace(own, t=own.end + by))
        assert again.beyond.t == expected
        assert again.beyond.parameters["th"] == pytest.approx(8 * expected)


def test_feasible_at_every_t_is_said_only_where_no_constraint_moves():
    found = ends_early("unbounded")
    assert found._constraints_stand
    moved = replace(found.program, b=found.program.b + np.array([[0.0], [1e-9]]))
    assert not replace(found, program=moved)._constraints_stand
    assert not ends_early("infeasible")._constraints_stand


def test_a_line_is_refused_where_its_proof_or_its_ray_fails():
    found = ends_early("infeasible")
    proof = found.proof
    k = 1 if proof.gap.size > 1 else 0
    gap = np.zeros(proof.gap.size)
    gap[k] = 1.0
    bad = replace(found)
    bad.__dict__["proof"] = SimpleNamespace(passes=lambda: False, explain=lambda: "a gap", gap=gap)
    with pytest.raises(pc.DegeneratePathError, match="a gap") as error:
        check_line(bad)
    assert f"{found.t[k]:.6g}" in str(error.value)
    unproved = replace(found)
    unproved.__dict__["beyond"] = replace(found.beyond, proof=SimpleNamespace(passes=lambda: False))
    with pytest.raises(pc.DegeneratePathError, match="it ends infeasible, and that is not proved"):
        check_line(unproved)


# ---- flows with arcs that nobody uses, and where digits are lost ----

LINES = ((0.0, 2.0), (1.0, 1e6), (1e-3, 1e3), (1e6, 1.0))


def flow(seed, kind):
    """A flow through a random network with a chain of dear arcs; t is what must flow, or what one of it earns.

    Most arcs are not used, and capacities are from a fifth to a million.
    """
    rng = np.random.default_rng(seed)
    nodes, arcs = int(rng.integers(4, 25)), int(rng.integers(8, 60))
    tail = rng.integers(nodes, size=arcs)
    head = (tail + rng.integers(1, nodes, size=arcs)) % nodes
    tail, head = np.append(tail, np.arange(nodes - 1)), np.append(head, np.arange(1, nodes))
    k = tail.size
    network = np.zeros((nodes, k))
    network[tail, np.arange(k)] += 1
    network[head, np.arange(k)] -= 1
    cost, room = rng.uniform(1, 10, k), rng.uniform(0.2, 1.0, k) * rng.choice([1.0, 1.0, 1e3, 1e6], k)
    room[1 - nodes :], cost[1 - nodes :] = 1e9, 100.0
    f, t, ends = cp.Variable(k, name="f"), cp.Parameter(nonneg=True, name="t"), np.zeros(nodes)
    ends[0], ends[-1] = 1.0, -1.0
    if kind == "elastic":
        d = cp.Variable(name="d", nonneg=True)
        rows = [network @ f == d * ends, f >= 0, f <= room, d <= 1e6]
        return cp.Problem(cp.Minimize(cost @ f - t * d), rows), t, (network, ends, cost, room)
    loss = cost @ f
    if kind == "quadratic":
        loss += cp.sum_squares(cp.multiply(rng.uniform(0.1, 1, k), f)) / 2
    rows = [network @ f == t * ends, f >= 0, f <= room]
    return cp.Problem(cp.Minimize(loss), rows), t, (network, ends, cost, room)


@pytest.mark.parametrize(("kind", "least"), [("linear", 100), ("quadratic", 416), ("elastic", 200)])
def test_flows_with_unused_arcs_are_proved_and_what_is_off_by_a_millionth_is_not(kind, least):
    """Beside flows of 1e6 a flow of 1 was off by 1e-6, and that was rounding of the whole path."""
    segments = 0
    for seed in range(16):
        problem, t, (network, ends, cost, room) = flow(seed, kind)
        start, stop = LINES[seed % 4]
        path = pc.trace(problem, {t: start}, {t: stop}, progress=False)
        assert path.proof.passes(), seed
        segments += len(path.t) - 1
        if kind == "linear":
            demand = 0.3 * start + 0.7 * stop
            best = linprog(cost, A_eq=network, b_eq=demand * ends, bounds=np.column_stack([0 * room, room]))
            assert path.value(0.7) == pytest.approx(best.fun, rel=1e-7), seed
        small = 0 if start < stop else -1
        for unused in np.flatnonzero(path.x[small, small] == 0.0)[:3]:
            x = path.x.copy()
            x[small, small, unused] += 1e-6 * np.abs(x[small, small]).max()
            if x[small, small, unused] > 0.0:
                wrong = replace(path, points=ProgramPoints.of(x, path.z))
                assert not wrong.proof.passes(), (seed, unused)
    assert segments >= least


@pytest.mark.parametrize("seed", [27, 107])
def test_what_is_small_at_the_end_of_a_line_loses_digits_and_the_refusal_names_the_other_direction(seed):
    """A price that falls from 1e6 to 1 is known to 1e-10 next to t = 1, where a flow of 3e5 ends."""
    problem, t, (network, ends, cost, room) = flow(seed, "elastic")
    with pytest.raises(pc.DegeneratePathError, match="Trace the line from its other end: what is small at t = 0"):
        pc.trace(problem, {t: 1e6}, {t: 1.0}, progress=False)
    path = pc.trace(problem, {t: 1.0}, {t: 1e6}, progress=False)
    assert path.proof.passes(1e-10)
    balance = np.column_stack([network, -ends])
    bounds = np.column_stack([np.zeros(len(room) + 1), np.append(room, 1e6)])
    for price in (1.0, 150.0, 1e4):
        best = linprog(np.append(cost, -price), A_eq=balance, b_eq=0.0 * ends, bounds=bounds)
        assert path.value((price - 1.0) / (1e6 - 1.0)) == pytest.approx(best.fun, rel=1e-7, abs=1e-7)
