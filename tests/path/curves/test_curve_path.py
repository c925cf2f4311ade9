"""Curves: against another judge, exact paths, closed forms, paths within eps; what they can be asked; refusals."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_diabetes

import paretoclf as pc
from paretoclf.solve.curves import curve_search
from paretoclf.solve.judging.cone_proof import certify_problem
from tests.oracles.curve_lines import LINES, move


@cache
def traced(name):
    return pc.trace(*LINES[name](), curve=True, progress=False)


def proved_interval(problem):
    """Bounds of the optimal value that another judge proves, of a tight solve."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve("CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
        proof = certify_problem(problem)
    return proof.lower, proof.upper


@pytest.mark.parametrize("name", LINES)
def test_bounds_hold_a_solvers_interval_at_fresh_t(name):
    line, path = LINES[name](), traced(name)
    assert path.proof.passes()
    assert path.eps < 1e-7
    for t in np.random.default_rng(3).random(25).tolist():
        (low, high), (least, most) = path.bounds(t), proved_interval(move(line, t))
        scale = max(abs(low), abs(high))
        assert low <= most
        assert least <= high
        assert high - low <= (path.eps + 1e-12) * max(scale, 1e-3)
        assert low - 1e-9 * scale <= path.value(t) <= high + 1e-9 * scale


@pytest.mark.parametrize("name", ["two_norms", "square_root_lasso", "robust_svm", "largest_eigenvalue", "entropy"])
def test_values_are_within_the_band_of_a_path_within_eps(name):
    band = pc.trace(*LINES[name](), eps=1e-4, progress=False)
    for t in np.linspace(0, 1, 21).tolist():
        (low, high), value = band.bounds(t), traced(name).value(t)
        assert low - 1e-10 * abs(low) <= value <= high + 1e-10 * abs(high)


def test_a_quadratic_program_has_its_exact_path():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 4)), rng.normal(size=20)
    w, lam = cp.Variable(4, name="w"), cp.Parameter(nonneg=True, name="lam")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + lam * cp.norm1(w)))
    exact = pc.trace(problem, {lam: 30.0}, {lam: 0.1}, progress=False)
    curve = pc.trace(problem, {lam: 30.0}, {lam: 0.1}, curve=True, progress=False)
    for t in rng.random(20).tolist():
        low, high = curve.bounds(t)
        assert low <= exact.value(t) * (1 + 1e-12)
        assert high >= exact.value(t) * (1 - 1e-12)
        np.testing.assert_allclose(curve.at(t).variables["w"], exact.at(t).variables["w"], atol=1e-8)
    inner = exact.breakpoints[1:-1]
    named = sorted({event.t for event in curve.events})
    np.testing.assert_allclose(named, inner, atol=1e-8)


@pytest.mark.parametrize("name", LINES)
def test_slopes_are_those_of_the_curve(name):
    path, step = traced(name), 1e-6
    for t in (0.21, 0.64):
        found = path.slopes(t).right
        rise = (path.value(t + step) - path.value(t - step)) / (2 * step)
        assert found.value == pytest.approx(rise, rel=1e-5, abs=1e-6)
        for variable, rate in found.variables.items():
            ends = [path.at(s).variables[variable] for s in (t - step, t + step)]
            np.testing.assert_allclose(rate, (ends[1] - ends[0]) / (2 * step), rtol=1e-4, atol=1e-5)


def test_the_slope_of_the_value_is_a_difference_per_parameter():
    path = traced("elastic_net")
    per = path.slopes(mu=20.0, per="mu").right.value
    step = 1e-4
    rise = (path.value(mu=20.0 + step) - path.value(mu=20.0 - step)) / (2 * step)
    assert per == pytest.approx(rise, rel=1e-7)
    assert per == pytest.approx(0.5 * np.sum(path.at(mu=20.0).variables["w"] ** 2), rel=1e-7)  # the envelope theorem


def test_prices_are_read_from_the_polynomials():
    path = traced("moving_equation")
    price = path.shadow_price("budget")
    for t in (0.0, 0.3141, 1.0):
        assert price(t) == pytest.approx(path.at(t).duals["budget"], abs=1e-13)
    with pytest.raises(pc.InputError, match="t must be one number, got 2 of them: take one at a time"):
        price(np.array([0.1, 0.5]))
    assert price.t.size == price.price.size
    between = np.interp(0.3141, price.t, price.price)
    assert between == pytest.approx(price(0.3141), rel=1e-3)


def test_events_are_named_by_the_users_variables_and_constraints():
    assert [str(event).split(": ")[1] for event in traced("two_norms").events] == ["x[2] not 0 -> 0"]
    rows = [event.name for event in traced("moving_rows").events]
    assert "rows[3]" in rows
    (event, *_) = traced("square_root_lasso").events
    assert (event.name, event.before, event.after) == ("w[1]", "0", "not 0")
    lam = event.parameters["lam"]
    path = traced("square_root_lasso")
    assert abs(path.at(lam=lam + 1e-4).variables["w"][1]) < 1e-8 < abs(path.at(lam=lam - 1e-4).variables["w"][1])


@pytest.mark.parametrize("name", ["moving_rows", "robust_plan"])
def test_events_of_constraints_are_true_of_points_on_both_sides(name):
    """Slacks are those of the constraints as they were written, at points of the path."""
    line, path = LINES[name](), traced(name)
    largest = max(np.abs(price).max() for t in path.t for price in path.at(t).duals.values())
    events = [event for event in path.events if "active" in (event.before, event.after)]
    for event in events:
        others = [0.0, 1.0, *(other.t for other in path.events if other.name == event.name and other.t != event.t)]
        label, _, entry = event.name.rstrip("]").partition("[")
        constraint = {c.label or f"constraint {k}": c for k, c in enumerate(line[0].constraints)}[label]
        ends = max(t for t in others if t < event.t), min(t for t in others if t > event.t)
        for end, state in zip(ends, (event.before, event.after), strict=True):
            t = 0.5 * (event.t + end)
            move(line, t)
            for variable in line[0].variables():
                variable.value = path.at(t).variables[variable.name()]
            where = int(entry or 0)
            slack = np.ravel(constraint.args[1].value - constraint.args[0].value)[where]
            price = np.ravel(path.at(t).duals[label])[where]
            assert (slack < 1e-9, price > 1e-9 * largest) == ((True, True) if state == "active" else (False, False))
    assert events


def test_the_constraint_of_a_norm_that_leaves_does_not_come_back():
    """Behind radius 2.03 its slack grows to .088, and its multiplier is 0: see the points."""
    assert [str(event) for event in traced("robust_plan").events] == [
        "t = 0.675671 (radius = 2.03026): constraint 0 active -> not active"
    ]


def test_stretches_say_how_they_were_found_and_how_close_they_are():
    path = traced("two_norms")
    (stretch,) = path.stretches
    assert (stretch.start, stretch.stop, stretch.smooth) == (0.0, 1.0, True)
    assert stretch.pieces == len(path.pieces)
    assert stretch.width == path.eps == path.proof.gap.max()
    mixed = replace(path, smooth=(False, *path.smooth[1:]))
    assert [each.smooth for each in mixed.stretches] == [False, True]
    assert mixed.stretches[0].width == path.proof.gap[0]
    assert "1 of them chords" in repr(mixed)


def test_events_beside_chords_are_not_resolved_and_nothing_that_cvxpy_added_is_named():
    """The same path with one of its pieces said to be a chord: an event at an end of it is not said any more."""
    path = traced("square_root_lasso")
    ends = {event.t for event in path.events}
    piece = next(j for j, each in enumerate(path.pieces) if each.start in ends)
    one = path.pieces[piece]
    mixed = replace(path, smooth=tuple(j != piece for j in range(len(path.pieces))))
    assert {event.t for event in mixed.events} == ends - {one.start, one.stop}
    assert f"{len({event.t for event in mixed.events})} events, not resolved between t = " in repr(mixed)
    assert f"t = {one.start:.6g} and {one.stop:.6g}" in repr(mixed)
    assert "not resolved" not in repr(path)
    chords = replace(path, smooth=(False,) * len(path.pieces))
    assert chords.events == ()
    assert repr(chords).endswith("0 events, not resolved between t = 0 and 1)")
    for name in LINES:
        assert not any("auxiliary" in str(event) for event in traced(name).events)


def test_the_proof_is_that_of_the_program_and_the_pieces_alone():
    path = traced("robust_svm")
    again = replace(path)  # without what the search has computed
    assert again.proof is not path.proof
    np.testing.assert_array_equal(again.proof.gap, path.proof.gap)
    assert again.bounds(0.3) == path.bounds(0.3)


def test_a_falsified_path_is_not_proved():
    path = traced("elastic_net")
    piece = path.pieces[2]
    for wrong in (
        replace(piece, x=piece.x + 1e-3),
        replace(piece, z=-piece.z),
        replace(piece, stop=piece.stop + 2.0**-20),
    ):
        false = replace(path, pieces=(*path.pieces[:2], wrong, *path.pieces[3:]))
        assert not false.proof.passes(path.eps)


def test_pictures_tables_and_pages(tmp_path):
    path = traced("robust_svm")
    assert path.plot().ax_.lines
    path.plot("variables")
    path.plot("duals")
    path.page(tmp_path / "curve.html")
    assert "robust" not in (tmp_path / "curve.html").read_text()[:200]
    rows = path.records()
    assert len(rows) == len(path.pieces)
    assert rows[0]["lower"] <= path.value(0.0) <= rows[0]["upper"] + 1e-12
    assert "point of the curve at t = 0.5" in repr(path.at(0.5))
    assert "CurvePath(radius 0.05 to 0.5, within" in repr(path)
    assert path.rule(0.5).decision_function(np.zeros((1, 2))).shape == (1,)
    t, w = path.along("w", 5)
    assert w.shape == (5 * len(path.pieces), 2)
    assert t[0] == 0.0
    assert path.compare(4).agrees(1e-8)
    path.assign(0.5)
    assert path.source.problem.value == path.value(0.5)


def test_a_maximisation_has_its_own_sense():
    path = traced("entropy")
    low, high = path.bounds(0.4)
    assert low <= path.value(0.4) <= high
    assert path.at(0.4).value > 0  # an entropy
    assert path.program.sense == -1


def test_formulations_are_traced_by_their_parameters():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), np.array([-1, 1] * 6)
    svm = pc.formulations.MarginInNorm(X, y, norm="l2")
    given = {**dict.fromkeys(svm.domain, 1.0), "radius": (0.1, 0.4)}
    path = pc.trace(svm, curve=True, progress=False, **given)
    for t in (0.2, 0.7):
        low, high = path.bounds(t)
        values = {**given, "radius": 0.1 + 0.3 * t}
        assert low * (1 - 1e-8) <= svm.solve(form="primal", **values).value <= high * (1 + 1e-8)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"eps": 1e-3}, "eps must be left out with curve=True, got 0.001: eps is what is proved"),
        ({"n_jobs": 2}, "n_jobs must be left out with curve=True"),
        ({"parts": 2}, "parts must be left out with curve=True, got 2: trace shorter lines"),
        ({"certify": False}, "certify must be left out with curve=True"),
        ({"max_events": 3}, "max_events must be left out with curve=True"),
        ({"curve": 1}, "curve must be True or False, got 1"),
        ({"lam": 3}, "lam must be left out"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(given, why):
    with pytest.raises(pc.InputError, match=why):
        pc.trace(*LINES["two_norms"](), **{"curve": True, **given})


def test_problems_that_have_no_curve_are_refused():
    x, p = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="p")
    power = cp.Problem(cp.Minimize(p * cp.sum(cp.power(x, 1.5, approx=False)) - cp.sum(x)))
    with pytest.raises(pc.InputError, match="power cones"):
        pc.trace(power, {p: 1.0}, {p: 2.0}, curve=True)
    pc.trace(power, {p: 1.0}, {p: 2.0}, eps=1e-3, progress=False)  # the remedy
    with pytest.raises(pc.InputError, match=r"problem must be a cvxpy\.Problem or a formulation where curve is True"):
        pc.trace(3, {}, {}, curve=True)
    ends = cp.Problem(cp.Minimize(cp.exp(x[0])), [x[0] >= 1, x[0] <= p])
    with pytest.raises(pc.InputError, match=r"at t = 0 .*Trace it with eps"):
        pc.trace(ends, {p: 0.5}, {p: 2.0}, curve=True)


def test_a_value_that_vanishes_is_refused_and_a_constant_helps():
    x, p = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="p")
    loss = p * cp.norm2(x) + cp.sum_squares(x)
    with pytest.raises(pc.DegeneratePathError, match=r"may be (near )?0.*Add a constant to the objective"):
        pc.trace(cp.Problem(cp.Minimize(loss)), {p: 1.0}, {p: 2.0}, curve=True, progress=False)
    path = pc.trace(cp.Problem(cp.Minimize(loss + 1)), {p: 1.0}, {p: 2.0}, curve=True, progress=False)
    assert path.eps < 1e-9
    assert path.value(0.5) == pytest.approx(1.0, abs=1e-12)


@cache
def largest_box():
    """The box of most volume in logarithms; at W = 120 its walls become slack as a ratio of sides becomes tight."""
    h, w, d = (cp.Variable(name=name) for name in "hwd")
    area = cp.Parameter(name="area")
    walls = cp.log_sum_exp(cp.hstack([h + w, h + d])) <= area - np.log(2)
    ratios = cp.abs(h - w) <= np.log(2), cp.abs(d - w) <= np.log(2)
    problem = cp.Problem(cp.Maximize(h + w + d), [walls, w + d <= np.log(10), *ratios])
    return problem, {area: np.log(20)}, {area: np.log(150)}


def test_chords_cover_a_place_where_multipliers_jump():
    path = pc.trace(*largest_box(), curve=True, progress=False)
    assert path.eps < 1e-8
    for walls in (81.0, 100.0, 119.99, 120.01, 145.0):
        width = np.sqrt((min(walls, 120.0) - 40) / 4)  # the height is twice that, and the floor is 10
        low, high = path.bounds(area=np.log(walls))
        assert low - 1e-12 <= np.log(20 * width) <= high + 1e-12


def test_bounds_that_stay_apart_are_said_with_the_value_that_is_there(monkeypatch):
    monkeypatch.setattr(curve_search, "_WIDEST", 0.0)
    with pytest.raises(pc.DegeneratePathError) as error:
        pc.trace(*largest_box(), curve=True, progress=False)
    said = str(error.value)
    assert "relative to a value that is between 2.76073 and 2.76093, at t = 0. " in said
    assert "near 0" not in said
    assert said.endswith("Trace it with eps=1e-4, or begin the line a little later.")


def test_a_line_that_ends_where_one_point_is_left_is_told_to_end_earlier():
    p, mean = cp.Variable(6), cp.Parameter(name="mean")
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [cp.sum(p) == 1, np.arange(1.0, 7) @ p == mean])
    with pytest.raises(pc.DegeneratePathError, match=r"End the line a little earlier\.$") as error:
        pc.trace(problem, {mean: 3.5}, {mean: 6}, curve=True, progress=False)
    assert "eps" not in str(error.value)  # nor is there a path within eps
    with pytest.raises(pc.InputError, match="needs a point inside"):
        pc.trace(problem, {mean: 3.5}, {mean: 6}, eps=1e-4, progress=False)
    assert pc.trace(problem, {mean: 3.5}, {mean: 5.99}, curve=True, progress=False).eps < 1e-6


def test_large_programs_are_refused():
    x, p = cp.Variable(2000, name="x"), cp.Parameter(nonneg=True, name="p")
    large = cp.Problem(cp.Minimize(cp.norm2(x - 1) + p * cp.norm1(x)))
    with pytest.raises(pc.InputError, match=r"Pass eps=1e-4 in its place, or state the problem with fewer$"):
        pc.trace(large, {p: 0.1}, {p: 0.2}, curve=True)


def test_a_fit_of_many_samples_is_refused_with_two_ways_out():
    """Ridge, whose value is y'y - y'X (X'X + mu)^-1 X'y: within eps as it stands, and by the QR form as a curve."""
    rng = np.random.default_rng(0)
    X, w, mu = rng.normal(size=(1500, 3)), cp.Variable(3, name="w"), cp.Parameter(nonneg=True, name="mu")
    y = X[:, 0] + rng.normal(size=1500)

    def ridge(A, b):
        return cp.Problem(cp.Minimize(cp.sum_squares(A @ w - b) + mu * cp.sum_squares(w)))

    ends = {mu: 10.0}, {mu: 100.0}
    said = (
        r"Pass eps=1e-4 in its place, or .* is sum_squares\(R @ w - r\), where \[R, r\] is np\.linalg\.qr of \[X, y\]"
    )
    with pytest.raises(pc.InputError, match=said):
        pc.trace(ridge(X, y), *ends, curve=True, progress=False)
    R = np.linalg.qr(np.column_stack([X, y]), mode="r")
    curve = pc.trace(ridge(R[:, :-1], R[:, -1]), *ends, curve=True, progress=False)
    near = pc.trace(ridge(X, y), *ends, eps=1e-4, progress=False)
    for at in (10.0, 70.0, 100.0):
        value = y @ y - y @ X @ np.linalg.solve(X.T @ X + at * np.eye(3), X.T @ y)
        assert curve.value(mu=at) == pytest.approx(value, rel=1e-8)
        assert near.value(mu=at) == pytest.approx(value, rel=1e-4)


def test_what_a_curve_has_not_is_said():
    path = traced("robust_svm")
    with pytest.raises(pc.InputError, match=r"path\.rule\(t\)"):
        path.scores([[0.0, 0.0]])
    with pytest.raises(pc.InputError, match="without curve"):
        path.leave_one_out()


def test_the_messages_of_other_paths_name_the_curve():
    x, t = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="t")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 1)), [x[0] + t * x[1] == 1])
    with pytest.raises(pc.InputError, match="curve=True for polynomials"):
        pc.trace(problem, {t: 0.5}, {t: 1.0})
    assert pc.trace(problem, {t: 0.5}, {t: 1.0}, curve=True, progress=False).eps < 1e-9


def test_entries_that_are_0_but_for_rounding_do_not_leave_0():
    """Above the largest norm of a group all of w is rounding of 0, some entries of it more than others."""
    X, y = load_diabetes(return_X_y=True)
    R, groups = np.linalg.qr(X)[1], ((0, 2), (2, 4), (4, 10))
    pull = X.T @ (y - y.mean())
    w, lam = cp.Variable(10, name="w"), cp.Parameter(nonneg=True, name="lam")
    norms = cp.sum([np.sqrt(b - a) * cp.norm2(w[a:b]) for a, b in groups])
    smooth = (cp.sum_squares(R @ w) + ((y - y.mean()) ** 2).sum()) / 2 - pull @ w
    path = pc.trace(
        cp.Problem(cp.Minimize(smooth + lam * norms)), {lam: 1000.0}, {lam: 700.0}, curve=True, progress=False
    )
    first = np.linalg.norm(pull[2:4]) / np.sqrt(2)
    told = [(event.name, event.before, event.after) for event in path.events if event.name.startswith("w[")]
    assert told == [("w[2]", "0", "not 0"), ("w[3]", "0", "not 0")]
    assert path.events[0].parameters["lam"] == pytest.approx(first, rel=1e-6)
