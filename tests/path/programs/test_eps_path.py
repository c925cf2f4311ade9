"""Paths within eps: against what `verify` proves of single solves, closed forms, exact paths; falsified ones."""

from __future__ import annotations

import re
import time
import warnings
from dataclasses import replace
from functools import cache

import cvxpy as cp
import numpy as np
import pytest
from joblib import parallel_config
from scipy.optimize import linprog

import paretoclf as pc
from paretoclf.common.errors import InterruptedPath, StoppedError
from paretoclf.proof.bands.moving_matrix import ConePiece
from paretoclf.solve.eps import search as eps_search
from paretoclf.solve.eps.solver import ConeSolver
from paretoclf.solve.judging.cone_proof import certify_problem
from tests.oracles.cone_lines import LINES, move
from tests.oracles.gaussian_pairs import random_pair
from tests.oracles.stored_files import content_of_file, damaged, rewritten, telling

FEW = ["square_root_lasso", "maximum_entropy", "s_procedure_lmi", "powers", "group_lasso"]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@cache
def traced(name, eps=1e-3):
    line = LINES[name]()
    return line, pc.trace(*line, eps=eps, progress=False)


def proved_interval(problem):
    """Bounds of the optimal value that another judge proves, of a tight solve."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve("CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
        proof = certify_problem(problem)
    return proof.lower, proof.upper


def apart(theirs, ours):
    """By how much two intervals, which both hold the optimal value, miss each other."""
    return max(theirs[0] - ours[1], ours[0] - theirs[1])


@pytest.mark.parametrize("name", LINES)
def test_the_bounds_hold_between_the_pairs(name, rng):
    line, path = traced(name)
    assert path.proof.passes()
    assert path.proof.worst.off_by <= 1e-3
    assert path.status == "end"
    largest = max(abs(v) for t in path.t.tolist() for v in path.bounds(t))
    for t in rng.uniform(0, 1, 6).tolist():
        low, high = path.bounds(t)
        assert 0 <= high - low <= 1e-3 * max(min(abs(low), abs(high)), 1e-3 * largest) * (1 + 1e-9)
        assert apart(proved_interval(move(line, t)), (low, high)) <= 0
        point = path.at(t)
        assert point.value == path.value(t) == pytest.approx(high if path.program.sense > 0 else low, rel=1e-12)
        problem = move(line, t)
        for variable in problem.variables():
            variable.save_value(np.asarray(point.variables[variable.name()]))
        assert max((float(np.max(c.violation())) for c in problem.constraints), default=0.0) < 1e-9
        assert float(problem.objective.value) == pytest.approx(point.value, rel=1e-3)  # epigraphs are not always tight


def test_a_bound_that_is_too_small_is_seen(rng):
    """The check has teeth: with less of the mixed term a value leaves the band."""
    line, path = traced("tradeoff_by_bounds", 1e-2)
    false = replace(path)
    false.__dict__["proof"] = replace(
        path.proof, pieces=tuple(replace(each, c=0.4 * each.c) for each in path.proof.pieces)
    )
    ours = [(t, false.bounds(t)) for t in rng.uniform(0, 1, 20).tolist()]
    assert any(apart(proved_interval(move(line, t)), bounds) > 0 for t, bounds in ours)


@pytest.mark.parametrize("name", ["lasso", "svm"])
@pytest.mark.parametrize("eps", [1e-3, 1e-5])
def test_exact_paths_are_inside(name, eps, rng):
    line = LINES[name]()
    exact, band = pc.trace(*line, progress=False), pc.trace(*line, eps=eps, progress=False)
    for t in rng.uniform(0, 1, 60).tolist():
        low, high = band.bounds(t)
        assert low * (1 - 1e-13) <= exact.value(t) <= high * (1 + 1e-13)


def test_second_order_cones_that_the_user_states(tmp_path):
    """The least a'x with |x| <= radius is -|a| radius, with multipliers (|a|, a): in a file, too."""
    x, radius = cp.Variable(3, name="x"), cp.Parameter(name="radius")
    problem = cp.Problem(cp.Minimize(np.array([1.0, 2.0, -2.0]) @ x), [cp.SOC(radius, x).set_label("ball")])
    path = pc.trace(problem, {radius: 5.0}, {radius: 7.0}, eps=1e-6, progress=False)
    path.save(tmp_path / "ball.npz")
    for each in (path, pc.load(tmp_path / "ball.npz")):
        point = each.at(radius=6.0)
        assert point.value == pytest.approx(-18.0, rel=1e-6)
        np.testing.assert_allclose(point.duals["ball"], [3.0, 1.0, 2.0, -2.0], atol=1e-5)


def test_the_number_of_pairs_grows_with_the_root():
    line = LINES["s_procedure"]()
    counts = [pc.trace(*line, eps=eps, progress=False).t.size for eps in (1e-3, 1e-5)]
    assert counts[1] <= 12 * counts[0]


def test_programs_with_moving_coefficients_against_a_simplex_code(rng):
    """Linear programs whose whole matrix moves, with 0 well inside at every t."""
    for size in (3, 6, 9):
        x, A = cp.Variable(3, name="x"), cp.Parameter((size, 3), name="A")
        ends, b, c = rng.normal(size=(2, size, 3)), 0.5 + rng.random(size), rng.normal(size=3)
        problem = cp.Problem(cp.Minimize(c @ x), [A @ x <= b, cp.abs(x) <= 4])
        path = pc.trace(problem, {A: ends[0]}, {A: ends[1]}, eps=1e-3, progress=False)
        assert path.status == "end"
        for t in rng.uniform(0, 1, 20).tolist():
            (low, high), now = path.bounds(t), (1 - t) * ends[0] + t * ends[1]
            value = linprog(c, A_ub=now, b_ub=b, bounds=[(-4, 4)] * 3).fun
            assert low - 1e-9 <= value <= high + 1e-9
            assert (now @ path.at(t).variables["x"] <= b + 1e-12).all()
    with pytest.raises(pc.InputError, match=r"^slopes has no bounds where a parameter multiplies a variable"):
        path.slopes(0.5)


def test_a_closed_form_where_a_coefficient_moves():
    """The largest x with r x at most 1 and x at most 4: 1 / r, which is no quadratic in r."""
    x, r = cp.Variable(name="x"), cp.Parameter(nonneg=True, name="r")
    path = pc.trace(cp.Problem(cp.Maximize(x), [r * x <= 1, x <= 4, x >= -1]), {r: 0.5}, {r: 2.0}, eps=1e-4)
    for t in np.linspace(0, 1, 41).tolist():
        low, high = path.bounds(t)
        assert low <= 1 / (0.5 + 1.5 * t) <= high <= low * (1 + 1.1e-4)
    t, values = path.along("x", 3)
    assert values == pytest.approx([path.at(float(s)).variables["x"] for s in t], rel=1e-14)


def test_a_form_whose_matrix_moves_has_slopes():
    """Half x'P(t)x of a fixed sum: half of 1 over the sum of the inverse's entries."""
    x, P = cp.Variable(2, name="x"), cp.Parameter((2, 2), PSD=True, name="P")
    first, last = np.diag([1.0, 2.0]), np.array([[3.0, 1.0], [1.0, 4.0]])
    path = pc.trace(
        cp.Problem(cp.Minimize(0.5 * cp.quad_form(x, P)), [cp.sum(x) == 1, cp.abs(x) <= 2]), {P: first}, {P: last},
        eps=1e-6,
    )  # fmt: skip

    def value(t):
        return 0.5 / np.linalg.inv((1 - t) * first + t * last).sum()

    for t in np.linspace(0.05, 0.95, 19).tolist():
        low, high = path.bounds(t)
        assert low * (1 - 1e-12) <= value(t) <= high * (1 + 1e-12)
        found, rate = path.slopes(t), (value(t + 1e-5) - value(t - 1e-5)) / 2e-5
        assert found.lower - 1e-6 <= rate <= found.upper + 1e-6
        assert found.upper - found.lower < 0.05


def test_a_closed_form():
    """The least norm of a point on a plane that moves away: the distance, convex in t."""
    x, level = cp.Variable(3, name="x"), cp.Parameter(name="level")
    c = np.array([1.0, 2.0, 2.0])
    path = pc.trace(
        cp.Problem(cp.Minimize(cp.norm2(x)), [(c @ x == level).set_label("plane")]), {level: 1}, {level: 4}, eps=1e-6
    )
    for t in np.linspace(0, 1, 13):
        low, high = path.bounds(float(t))
        assert low <= (1 + 3 * t) / 3 <= high
    found = path.slopes(0.5, per="level")
    assert found.lower <= 1 / 3 <= found.upper < found.lower + 1e-4
    assert repr(found).startswith("SlopeBounds(level=2.5, lower=")
    assert path.at(level=2.5).duals["plane"] == pytest.approx(-1 / 3, abs=1e-6)
    assert path.t.size == 9  # a straight line: none is needed besides those of the start


def test_a_concave_value_has_bounds_of_its_slope():
    _, path = traced("square_root_lasso")
    fine = path.refine(1e-6)
    for t in (0.2, 0.5, 0.9):
        found = path.slopes(t, per="lam")
        h = 1e-4
        rates = [(fine.value(t + s) - fine.value(t)) / (s * -5.9) for s in (-h, h)]
        assert found.lower - 0.05 <= min(rates) <= max(rates) <= found.upper + 0.05
        assert found.upper - found.lower < 2


def test_where_both_move_the_slope_is_that_of_two_lines():
    """The distance of (3, 3) from the half-plane beyond t, and t times its first coordinate."""
    x, u = cp.Variable(2, name="x"), cp.Parameter(name="u")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 3) / 2 + cp.norm2(x) + u * x[0]), [x[1] >= 3 * u, x[0] <= 9])
    path = pc.trace(problem, {u: 0.2}, {u: 1.5}, eps=1e-6)
    for at in (0.4, 0.9, 1.3):
        found, h = path.slopes(u=at, per="u"), 1e-3
        rate = (proved_interval(move((problem, {u: at + h}, {u: 0}), 0))[1] - path.bounds(u=at)[0]) / h
        assert found.lower - 0.02 <= rate <= found.upper + 0.02
        assert found.upper - found.lower < 0.1


def test_the_largest_gap_of_a_piece_is_that_of_its_quadratic(rng):
    for a, b, c in rng.exponential(size=(300, 3)) * 10.0 ** rng.integers(-3, 3, size=(300, 3)):
        piece = ConePiece(float(a), float(b), float(c), 0.0, 1.0)
        largest = max(piece.at(u) for u in np.linspace(0, 1, 2001).tolist())
        assert largest <= piece.gap <= largest * (1 + 1e-5)


@pytest.mark.parametrize(
    ("name", "variable"), [("maximum_entropy", "p"), ("minimax_by_kappa", "a"), ("shrunk_covariance", "x")]
)
def test_it_is_saved_and_judged_anew(name, variable, tmp_path):
    _, path = traced(name)
    path.save(tmp_path / "path")
    again = pc.load(tmp_path / "path.npz")
    assert again.bounds(0.37) == path.bounds(0.37)
    assert again.proof.worst.off_by == path.proof.worst.off_by
    assert again.at(0.37).variables[variable].tolist() == path.at(0.37).variables[variable].tolist()
    assert [str(each) for each in again.events] == [str(each) for each in path.events]
    with pytest.raises(pc.InputError, match=r"^assign needs the problem"):
        again.assign(0.5)


def stored_with(path, file, **changes):
    """A saved path with some of its arrays replaced."""
    path.save(file)
    return rewritten(file, file, **changes)


FALSE = {
    "multipliers scaled": {"z": lambda z: z * 1.001},
    "y moved": {"y": lambda y: y + 0.1},
    "a point beside": {"x": lambda x: x - 1e-6},
    "points outside": {"x": lambda x: -x},
    "a piece widened": {name: lambda each: np.delete(each, [3, 4, 5, 6], axis=0) for name in "txyz"},
    "pairs at other t": {"t": lambda t: np.append(t[:-1] * 0.99, 1.0)},
    "a ceiling below": {"ceiling": lambda c: c - 10.0},
    "a smaller eps": {"eps": lambda eps: eps / 10},
}


@pytest.mark.parametrize("what", FALSE)
def test_a_falsified_file_is_refused_or_has_true_bounds(what, tmp_path, rng):
    line, path = traced("maximum_entropy")
    file = stored_with(path, tmp_path / "path.npz", **FALSE[what])
    if what not in ("y moved", "multipliers scaled", "a point beside"):
        with pytest.raises(pc.InputError, match=r"not proved"):
            pc.load(file)
        return
    again = pc.load(file, prove=False)  # what multipliers miss has its price: bounds are wider, and true
    for t in rng.uniform(0, 1, 10).tolist():
        assert apart(proved_interval(move(line, t)), again.bounds(t)) <= 0


def test_a_falsified_file_of_moving_coefficients_is_refused_or_has_true_bounds(tmp_path, rng):
    line, path = traced("minimax_by_kappa", 1e-2)
    for name in ("program_A_stop_data", "program_A_data"):
        path.save(tmp_path / "path.npz")
        other = content_of_file(tmp_path / "path.npz")[name] * (1 + 1e-9)
        with pytest.raises(pc.InputError, match="another hash"):
            pc.load(damaged(tmp_path / "path.npz", tmp_path / "path.npz", **{name: other}))
    with pytest.raises(pc.InputError, match="not proved"):  # points that are not inside take nothing back
        pc.load(stored_with(path, tmp_path / "path.npz", inside=lambda each: -each))
    for changes in ({"inside": lambda each: 1.5 * each}, {"z": lambda z: z * 1.001}, {"x": lambda x: x * (1 + 1e-6)}):
        again = pc.load(stored_with(path, tmp_path / "path.npz", **changes), prove=False)
        if again.proof.why:
            continue
        for t in rng.uniform(0, 1, 3).tolist():
            assert apart(proved_interval(move(line, t)), again.bounds(t)) <= 0


def test_damaged_files_are_refused(tmp_path):
    _, path = traced("maximum_entropy")
    for changes, why in (
        ({"z": lambda z: z[:, 1:]}, "z must have shape"),
        ({"t": lambda t: t[::-1]}, "t must increase"),
        ({"eps": lambda eps: 2.0}, "eps must lie"),
        ({"cones": lambda cones: cones[1:]}, "exponents must have shape"),
        ({"exponents": lambda e: e[1:], "cones": lambda cones: cones[1:]}, "cones must have"),
        ({"of_cones": telling(status="?")}, "status must be"),
    ):
        with pytest.raises(pc.InputError, match=why):
            pc.load(stored_with(path, tmp_path / "path.npz", **changes))


def test_a_proof_that_belongs_to_no_path_has_no_certificate_file_and_says_what_is_saved_instead(tmp_path):
    _, path = traced("square_root_lasso")
    alone = replace(path.proof, writer=None)
    with pytest.raises(pc.InputError, match=r"of a BandProof, but of a path .*with its save\(file\)"):
        alone.save(tmp_path / "band.proof.json.gz")
    path.save(tmp_path / "band.npz")
    assert pc.load(tmp_path / "band.npz").proof.passes()


def test_it_is_refined_from_what_is_there():
    _, path = traced("square_root_lasso")
    fine = path.refine(1e-4)
    assert fine.proof.passes(1e-4)
    assert fine.eps == 1e-4
    assert set(path.t) <= set(fine.t)
    assert fine.solves == fine.t.size  # no pair was solved twice


class _Clock:
    """Clock by which so many looks at it come before the deadline."""

    perf_counter = staticmethod(time.perf_counter)

    def __init__(self, looks):
        self.looks = looks

    def monotonic(self):
        self.looks -= 1
        return -np.inf if self.looks >= 0 else np.inf


def _pressed_at(monkeypatch, solves):
    """Let the keyboard interrupt the solve of this number."""
    real, count = ConeSolver.__call__, iter(range(solves))

    def solver(self, t, **others):
        if next(count, None) is None:
            raise KeyboardInterrupt
        return real(self, t, **others)

    monkeypatch.setattr(ConeSolver, "__call__", solver)


@pytest.mark.parametrize("name", ["square_root_lasso", "s_procedure", "moving_samples"])
@pytest.mark.parametrize("looks", [0, 1, 2])
def test_no_time_leaves_a_wider_band_on_all_of_the_line(monkeypatch, rng, name, looks):
    line, whole = traced(name, 1e-5)
    monkeypatch.setattr(eps_search, "time", _Clock(looks))
    with pytest.raises(StoppedError, match=r"the time that was allowed is over.*Raise max_seconds, or eps") as caught:
        pc.trace(*line, eps=1e-5, max_seconds=1e6, progress=False)
    path = caught.value.path
    assert 1e-5 < path.eps < 1
    assert path.proof.passes()
    assert path.proof.gap.max() <= path.eps <= 1.12 * path.proof.gap.max()
    assert (path.t[0], path.t[-1], path.status) == (0.0, whole.t[-1], whole.status)
    assert path.t.size < whole.t.size
    for t in rng.uniform(0, path.t[-1], 6).tolist():
        assert apart(whole.bounds(t), path.bounds(t)) <= 1e-12 * abs(whole.bounds(t)[1])
    monkeypatch.undo()
    fine = path.refine(1e-5, progress=False)
    assert fine.eps == 1e-5
    assert fine.proof.passes()
    assert set(path.t) <= set(fine.t)


@pytest.mark.parametrize("solves", [30, 40, 55])
def test_the_keyboard_leaves_the_pairs_that_there_are(monkeypatch, tmp_path, solves):
    line, whole = traced("square_root_lasso", 1e-5)
    assert whole.solves > 55
    _pressed_at(monkeypatch, solves)
    with pytest.raises(InterruptedPath, match="stopped by the keyboard: what was traced is the path") as caught:
        pc.trace(*line, eps=1e-5, progress=False)
    path = caught.value.path
    assert path.proof.passes()
    assert (path.t[0], path.t[-1]) == (0.0, 1.0)
    path.save(tmp_path / "part.npz")
    assert pc.load(tmp_path / "part.npz").proof.passes(path.eps)
    with pytest.raises(InterruptedPath) as caught:
        path.refine(1e-6, progress=False)
    assert caught.value.path.t.size >= path.t.size
    assert caught.value.path.proof.passes()


def test_no_time_leaves_nothing_where_nothing_is_proved_yet(monkeypatch):
    monkeypatch.setattr(eps_search, "time", _Clock(0))
    monkeypatch.setattr(eps_search, "_FIRST", 2)
    with pytest.raises(StoppedError, match="the time that was allowed is over") as caught:
        pc.trace(*LINES["minimax_by_kappa"](), eps=1e-6, max_seconds=1e6, progress=False)
    assert caught.value.path is None


def test_processes_stop_in_time(monkeypatch):
    with pytest.raises(StoppedError) as caught:
        pc.trace(*LINES["square_root_lasso"](), eps=1e-6, max_seconds=1e-9, n_jobs=2, progress=False)
    assert caught.value.path.proof.passes()


def test_progress_says_how_many_pieces_there_will_be(capsys):
    """As the gap grows with the square of the length, that is known before the line is refined."""
    path = pc.trace(*LINES["square_root_lasso"](), eps=1e-4, progress=True)
    said = {int(number) for number in re.findall(r"of about (\d+) pieces", capsys.readouterr().err)}
    assert len(said) == 1
    assert said.pop() == pytest.approx(path.t.size - 1, rel=0.3)


def test_the_result_does_not_depend_on_n_jobs():
    line = LINES["s_procedure"]()
    one, two = (pc.trace(*line, eps=1e-3, n_jobs=n, progress=False) for n in (1, 2))
    assert all((getattr(one, name) == getattr(two, name)).all() for name in "txyz")


@pytest.mark.parametrize("name", ["matrix_completion", "robust_svm", "exponents"])
def test_what_is_found_on_a_span_does_not_depend_on_those_beside_it(name):
    """A solver that has been elsewhere returns other digits: each span has its own."""
    line = LINES[name]()
    one = pc.trace(*line, eps=1e-3, progress=False)
    with parallel_config(backend="threading"):
        three = pc.trace(*line, eps=1e-3, n_jobs=3, progress=False)
    assert all(np.array_equal(getattr(one, name), getattr(three, name)) for name in "txyz")


def test_events_say_between_which_points_they_lie(tmp_path):
    """Of |w - c|^2 / 2 + lam |w| both entries leave 0 at lam = |c|, however close the points of the path are."""
    w, lam = cp.Variable(2, name="w"), cp.Parameter(nonneg=True, name="lam")
    fit = cp.sum_squares(w - [3.0, 4.0]) / 2 + lam * cp.norm2(w)
    path = pc.trace(cp.Problem(cp.Minimize(fit)), {lam: 7.0}, {lam: 2.0}, eps=1e-2, progress=False)
    for each in (path, path.refine(1e-5, progress=False)):
        assert [(event.name, event.before, event.after) for event in each.events] == [
            ("w[0]", "0", "not 0"),
            ("w[1]", "0", "not 0"),
        ]
        for event in each.events:
            j = each.t.tolist().index(event.t)
            assert event.since == each.t[j - 1]
            before, after = event.parameters_before["lam"], event.parameters["lam"]
            assert before >= 5.0 >= after
            assert str(event) == (
                f"between t = {event.since:.6g} (lam = {before:.6g}) and t = {event.t:.6g} (lam = {after:.6g}): "
                f"{event.name} 0 -> not 0"
            )
    first = path.events[0]
    row = path.to_frame().set_index("t")["events"][first.t]
    assert row == f"w[0] not 0 (0 at t = {first.since:.6g}); w[1] not 0 (0 at t = {first.since:.6g})"
    path.page(tmp_path / "path.html")
    assert row in (tmp_path / "path.html").read_text(encoding="utf-8")
    near = replace(first, t=0.25, since=0.25 - 1e-9)
    assert str(near).startswith("between t = 0.249999999 (lam = ")


def test_it_compares_assigns_and_prints(tmp_path):
    line, path = traced("square_root_lasso")
    assert repr(path) == f"ConePath(lam 6 to 0.1, within 0.001 everywhere, {path.t.size} pairs, 33 columns and 83 rows)"
    assert path.compare(4).agrees(1e-3)
    path.assign(lam=3.0)
    assert path.bounds(lam=3.0)[0] <= line[0].value <= path.value(lam=3.0)  # epigraphs of the path need not be tight
    assert line[0].variables()[0].value.shape == (16,)
    assert str(path.at(0.5)).startswith("feasible point at t = 0.5 (lam = 3.05): value ")
    t, w = path.along("w")
    assert t.size == 2 * (path.t.size - 1)
    assert w.shape == (t.size, 16)
    assert all(change[1:] in (("0", "not 0"), ("not 0", "0")) for event in path.events for change in event.changes)
    assert {change[0] for event in path.events for change in event.changes} <= {f"w[{k}]" for k in range(16)}
    table = path.to_frame()
    assert table.columns.tolist() == ["t", "lam", "lower", "upper", *(f"w[{k}]" for k in range(16)), "events"]
    assert table["t"].tolist() == path.t.tolist()
    for k in (0, 1, -1):
        point = path.at(float(path.t[k]))
        assert table.iloc[k][[f"w[{j}]" for j in range(16)]].tolist() == pytest.approx(point.variables["w"], abs=1e-12)
        assert table.iloc[k]["lower"] <= point.value <= table.iloc[k]["upper"] + 1e-12
    assert pc.verify(path, table, tol=1e-3).passes()
    assert "at every t in [0, 1]" in path.proof.explain()
    assert "Not proved to 1e-09" in path.proof.explain(1e-9)
    path.page(tmp_path / "page.html")
    assert '"other":' in (tmp_path / "page.html").read_text()
    for what in ("value", "variables", "duals"):
        path.plot(what)


@pytest.mark.parametrize(("end", "status"), [(0.5, "infeasible"), (2.0, "unbounded")])
def test_it_ends_where_there_is_no_solution(end, status):
    if status == "infeasible":
        problem, start, _ = LINES["tradeoff_by_bounds"]()
        (tau,) = problem.parameters()
        least = start[tau] / 1.05
        path, border, names = pc.trace(problem, {tau: 3 * least}, {tau: end * least}, eps=1e-2), 0.8, {"unit", "bound"}
    else:
        x, u = cp.Variable(3, name="x"), cp.Parameter(nonneg=True, name="u")
        problem = cp.Problem(cp.Minimize(cp.norm2(x - 1) - u * (x @ [1 / 3, 2 / 3, 2 / 3])))
        path, border, names = pc.trace(problem, {u: 0.5}, {u: end}, eps=1e-2), 1 / 3, {"x"}
    assert path.status == status
    assert path.proof.passes()
    assert path.beyond.proof.passes()
    assert path.beyond.end <= border <= path.beyond.t <= path.beyond.end + 1e-4
    assert set(path.beyond.blame) == names
    assert status in repr(path)
    with pytest.raises(pc.InputError, match=rf"where the path ends: {status}"):
        path.at(1.0)


@pytest.mark.parametrize("name", ["entropy", "divergence", "determinant"])
def test_it_ends_where_multipliers_are_on_a_face_of_the_dual_cones(name, tmp_path):
    """The mean of a distribution on 1 to 6 reaches 6, and an entry on the diagonal of a positive matrix 0."""
    mean, p = cp.Parameter(name="mean"), cp.Variable(6, name="p")
    if name == "determinant":
        T = cp.Variable((3, 3), symmetric=True, name="T")
        line = cp.Problem(cp.Maximize(cp.log_det(T)), [cp.trace(T) <= 4, T[0, 0] <= mean]), {mean: 2.0}, {mean: -1.0}
        border = 2 / 3
    else:
        cost = cp.sum(cp.entr(p)) if name == "entropy" else -cp.sum(cp.kl_div(p, np.full(6, 1 / 6)))
        line = cp.Problem(cp.Maximize(cost), [cp.sum(p) == 1, np.arange(1, 7) @ p == mean]), {mean: 3.5}, {mean: 7.0}
        border = 2.5 / 3.5
    path = pc.trace(*line, eps=1e-2, progress=False)
    assert path.status == "infeasible"
    assert path.beyond.end <= border <= path.beyond.t <= border + 1e-4
    path.save(tmp_path / "path.npz")
    assert pc.load(tmp_path / "path.npz").beyond.t == path.beyond.t
    for false in (lambda ray: -ray, lambda ray: ray[::-1]):
        with pytest.raises(pc.InputError, match="it ends infeasible, and that is not proved"):
            pc.load(stored_with(path, tmp_path / "other.npz", ray=false))


def test_an_end_is_saved_and_a_false_ray_refused(tmp_path):
    x, u = cp.Variable(3, name="x"), cp.Parameter(nonneg=True, name="u")
    problem = cp.Problem(cp.Minimize(cp.norm2(x - 1) - u * (x @ [1 / 3, 2 / 3, 2 / 3])))
    path = pc.trace(problem, {u: 0.5}, {u: 2.0}, eps=1e-2)
    path.save(tmp_path / "path.npz")
    again = pc.load(tmp_path / "path.npz")
    assert again.beyond.t == path.beyond.t
    with pytest.raises(pc.InputError, match="it ends unbounded, and that is not proved"):
        pc.load(stored_with(path, tmp_path / "other.npz", ray=lambda ray: -ray))


def ends_while_moving(name):
    """Lines on which a matrix moves until there is no point: with the t where that is so in closed form."""
    if name == "a corner":
        x, u = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="u")
        rows = [(u * x[0] + x[1] <= 1).set_label("roof"), x[0] + u * x[1] >= 0.1, (x >= 0.4).set_label("floor"), x <= 5]
        return (cp.Problem(cp.Minimize(cp.sum(x)), rows), {u: 0.5}, {u: 4.0}), 1 / 3.5, {"roof", "floor"}
    rng = np.random.default_rng(7)
    root, delta = np.linalg.cholesky(np.cov(rng.normal(size=(9, 3)).T)).T, rng.normal(size=3)
    top = np.sqrt(delta @ np.linalg.solve(root.T @ root, delta))
    a, kappa = cp.Variable(3, name="a"), cp.Parameter(nonneg=True, name="kappa")
    rows = [(delta @ a - kappa * cp.norm2(root @ a) >= 0.1).set_label("margin")]
    rows.append((cp.norm2(root @ a) <= 20).set_label("size"))  # so that (delta @ a - 0.1) / norm is top - 0.1 / 20
    line = cp.Problem(cp.Minimize(cp.norm2(a)), rows), {kappa: 0.2 * top}, {kappa: 2 * top}
    return line, (0.8 - 0.005 / top) / 1.8, {"margin", "size"}


@pytest.mark.parametrize("name", ["a corner", "a slope"])
def test_it_ends_where_there_is_no_point_though_coefficients_move(name, tmp_path):
    line, border, names = ends_while_moving(name)
    path = pc.trace(*line, eps=1e-2, progress=False)
    assert path.status == "infeasible"
    assert path.beyond.end <= border <= path.beyond.t <= path.beyond.end + 1e-5
    assert names == set(path.beyond.blame)
    for t in np.linspace(path.beyond.t + 1e-9, 1.0, 6).tolist():
        move(line, t).solve("CLARABEL")
        assert line[0].status in ("infeasible", "infeasible_inaccurate")
    assert "nothing is known" in path.beyond.explain()
    path.save(tmp_path / "path.npz")
    again = pc.load(tmp_path / "path.npz")
    assert again.beyond.t == path.beyond.t
    for false in (lambda ray: ray[:-1], lambda ray: ray * np.append(1.0, -np.ones(ray.shape[1] - 1))):
        with pytest.raises(pc.InputError, match="it ends infeasible, and that is not proved"):
            pc.load(stored_with(path, tmp_path / "other.npz", ray=false))
    fine = path.refine(1e-3, progress=False)
    assert fine.proof.passes(1e-3)
    assert fine.beyond.t == path.beyond.t


def test_an_end_that_no_ray_can_prove_is_refused_with_the_reason():
    x, u = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="u")
    problem = cp.Problem(cp.Minimize(x[1] - u * x[0]), [x[1] >= 0, (x[0] - u * x[1] <= 1).set_label("wall"), x[0] >= 0])
    with pytest.raises((pc.errors.DegeneratePathError, pc.InputError), match=r"direction would have to be one|bounds"):
        pc.trace(problem, {u: 0.5}, {u: 3.0}, eps=1e-2, progress=False)


X, TH = cp.Variable(2, name="x"), cp.Parameter(name="th")
WHOLE = cp.Variable(2, integer=True)
SLOPE, WEIGHT = cp.Parameter(nonneg=True, name="slope"), cp.Parameter(nonneg=True, name="weight")
REFUSED = {
    "eps": (cp.norm2(X - TH), [], TH, 1.0, r"^eps must lie strictly between 0 and 1, got 1.0"),
    "nan": (cp.norm2(X - TH), [], TH, float("nan"), r"^eps must"),
    "integers": (cp.norm2(WHOLE - TH), [], TH, 1e-3, r"^problem must be convex, got the integer"),
    "not DPP": (SLOPE * SLOPE * cp.norm2(X - 1), [], SLOPE, 1e-3, r"^a model must be DPP"),
    "nothing moves": (cp.norm2(X - 1), [], WEIGHT, 1e-3, r"^start must have parameters of the problem"),
    "no point inside": (
        cp.norm2(X),
        [(X[0] <= TH).set_label("above"), (X[0] >= TH).set_label("below"), X[1] <= 5],
        TH,
        1e-3,
        r"^a path within eps needs a point inside .*, and none was found: see above, below. Write what",
    ),
    "no point inside for all of a line": (
        cp.norm2(X),
        [(SLOPE * X[0] <= 4).set_label("moves"), (SLOPE * X[0] >= 3.5).set_label("floor")],
        SLOPE,
        1e-3,
        r"^a path within eps needs a point .* coefficients of both ends of the line.*: see moves, floor.*shorter lines",
    ),
    "no bounds of what moves": (
        X[0],
        [cp.norm2(SLOPE * (np.array([[2.0, 1.0], [0.0, 1.0]]) @ X) - 1) <= 3],
        SLOPE,
        1e-3,
        r"^the problem must have bounds where its coefficients move: .* \(x\[0\], x\[1\]\). Add them",
    ),
    "no start": (cp.norm2(X), [cp.norm2(X) <= TH, X[0] >= 3], TH, 1e-3, r"must have a solution at the start.*3 as|"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_has_no_such_path_is_refused(what):
    objective, rows, parameter, eps, said = REFUSED[what]
    with pytest.raises(pc.InputError, match=said):
        pc.trace(cp.Problem(cp.Minimize(objective), rows), {parameter: 1}, {parameter: 2}, eps=eps)


def test_what_has_no_point_inside_is_refused_after_two_solves(monkeypatch):
    """One at each end of the line, to know how large points are."""
    calls, solve = [], ConeSolver.__call__
    monkeypatch.setattr(ConeSolver, "__call__", lambda self, t: calls.append(t) or solve(self, t))
    with pytest.raises(pc.InputError, match=r"^a path within eps needs a point inside .* none was found"):
        pc.trace(cp.Problem(cp.Minimize(cp.norm2(X)), [X[0] <= TH, X[0] >= TH]), {TH: 1}, {TH: 2}, eps=1e-3)
    assert calls == [0.0, 1.0]


def test_an_infimum_that_is_not_attained_is_refused_at_one_t_and_its_remedy_works(monkeypatch):
    """What else there is was tried at all nine t: up to 10 s for three variables."""
    calls, solve = [], ConeSolver.__call__

    def counted(self, t, **others):
        calls.append((t, others))
        return solve(self, t, **others)

    monkeypatch.setattr(ConeSolver, "__call__", counted)
    w = cp.Variable(3, name="w")
    cost = 1 + cp.norm2(w) - (2 - SLOPE) * w[0]  # beside a w[1] of 1 it falls as far as 1 at slope 1
    with pytest.raises(pc.DegeneratePathError, match=r"not proved stationary .* Bound these variables by constraints"):
        pc.trace(cp.Problem(cp.Minimize(cost), [w[1] >= 1]), {SLOPE: 1.0}, {SLOPE: 2.0}, eps=1e-3, progress=False)
    assert {t for t, others in calls if others} == {0.0}
    remedied = cp.Problem(cp.Minimize(cost), [w[1] >= 1, w <= 50])
    path = pc.trace(remedied, {SLOPE: 1.0}, {SLOPE: 2.0}, eps=1e-3, progress=False)
    assert path.proof.passes()
    assert path.bounds(0.0)[0] <= 1 + np.hypot(50, 1) - 50 <= path.bounds(0.0)[1]
    assert path.bounds(1.0)[0] <= 2 <= path.bounds(1.0)[1]


def test_a_start_without_a_solution_says_from_where_on_there_is_one():
    problem = cp.Problem(cp.Minimize(cp.norm2(X - 1)), [(cp.norm2(X) <= TH).set_label("ball"), X[0] >= 3])
    with pytest.raises(pc.InputError, match=r"where it is infeasible, as is every t before 0.5; .* t = 0.5 on"):
        pc.trace(problem, {TH: 1}, {TH: 5}, eps=1e-3)


def test_a_value_of_0_is_a_floor_with_its_name():
    with pytest.raises(pc.DegeneratePathError, match=r"a floor: .* add a constant to the objective"):
        pc.trace(cp.Problem(cp.Minimize(cp.norm2(X)), [cp.sum(X) <= TH]), {TH: 1}, {TH: 2}, eps=1e-3)
    path = pc.trace(cp.Problem(cp.Minimize(1 + cp.norm2(X)), [cp.sum(X) <= TH]), {TH: 1}, {TH: 2}, eps=1e-3)
    assert path.bounds(0.5)[0] <= 1 <= path.bounds(0.5)[1]


NO_COST = {
    "a ball": [cp.norm2(X) <= 1, X[0] == TH],
    "an exponential": [cp.exp(X[0]) <= X[1], X[0] == TH],
    "coefficients move": [cp.norm2(X) <= 2, TH * X[0] + X[1] <= 3],
}


@pytest.mark.parametrize("sense", [cp.Minimize, cp.Maximize])
@pytest.mark.parametrize("name", NO_COST)
def test_an_objective_of_0_is_no_floor(name, sense, tmp_path):
    """Any feasible point is optimal, and none but feasible points pass."""
    path = pc.trace(cp.Problem(sense(0), NO_COST[name]), {TH: 0}, {TH: 0.5}, eps=1e-3)
    assert path.bounds(0.3) == (0.0, 0.0)
    TH.value, X.value = 0.15, path.at(0.3).variables["x"]
    assert max(np.max(row.violation()) for row in NO_COST[name]) <= 1e-12
    assert pc.load(stored_with(path, tmp_path / "same.npz")).proof.passes()
    with pytest.raises(pc.InputError, match="not proved"):
        pc.load(stored_with(path, tmp_path / "false.npz", x=lambda x: x + 3 * np.arange(1, x.shape[1] + 1)))


def test_an_objective_of_0_ends_where_there_is_no_point():
    path = pc.trace(cp.Problem(cp.Minimize(0), NO_COST["a ball"]), {TH: 0}, {TH: 2}, eps=1e-3)
    assert (path.status, path.bounds(0.4)) == ("infeasible", (0.0, 0.0))
    assert path.beyond.end <= 0.5 <= path.beyond.t


def test_arguments_of_other_paths_are_refused():
    problem = cp.Problem(cp.Minimize(cp.norm2(X - TH)), [X <= 5, X >= -5])
    for more, said in (
        ({"certify": False}, "certify must be left out with eps"),
        ({"max_events": 3}, "max_events must be left out with eps"),
        ({"tau": 3}, "tau must be left out for a cvxpy.Problem"),
    ):
        with pytest.raises(pc.InputError, match=said):
            pc.trace(problem, {TH: 1}, {TH: 2}, eps=1e-3, **more)
    with pytest.raises(pc.InputError, match=r"problem must be a cvxpy\.Problem or a formulation where eps is given"):
        pc.trace([1], {TH: 1}, {TH: 2}, eps=1e-3)
    with pytest.raises(pc.InputError, match="n_jobs must be left out for an exact path"):
        pc.trace(cp.Problem(cp.Minimize(cp.norm1(X - TH))), {TH: 1}, {TH: 2}, n_jobs=2)


def test_without_eps_a_cone_says_so():
    with pytest.raises(pc.InputError, match=r"Pass eps=1e-4 for a path that is proved"):
        pc.trace(cp.Problem(cp.Minimize(cp.norm2(X - TH))), {TH: 1}, {TH: 2})


def two_classes():
    draw = np.random.default_rng(0)
    X = np.vstack([draw.normal(size=(40, 4)) + 1, draw.normal(size=(50, 4)) * [1, 2, 1, 0.5]])
    return X, np.append(np.ones(40), -np.ones(50))


FORMULATIONS = {
    "s_procedure": (lambda: pc.SProcedure(*two_classes()), "zeta", (2.0, 6.0), lambda f: f.unit),
    "biased_minimax": (
        lambda: pc.formulations.BiasedMinimaxProbabilityMachine(*two_classes()), "u_plus", (0.1, 0.6), lambda f: 1.0,
    ),
    "pareto_gaussian": (lambda: pc.ParetoGaussian(*two_classes()), "lam", (0.2, 5.0), lambda f: 1.0),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMULATIONS)
def test_formulations_of_the_papers_have_paths_beside_their_closed_forms(name):
    """The S-procedure against the secular equation, the others against their solutions by Newton's method."""
    make, parameter, ends, unit = FORMULATIONS[name]
    formulation = make()
    path = pc.trace(formulation, eps=1e-3, **{parameter: ends})
    for t in np.linspace(0, 1, 9).tolist():
        at = path.parameters(t)[parameter]
        value = formulation.solve(**{parameter: at}).value / unit(formulation)
        low, high = path.bounds(t)
        assert low - 1e-9 * abs(value) <= value <= high + 1e-9 * abs(value)


@pytest.mark.parametrize(
    "kind",
    [
        pc.rates.GaussianRate(),
        pc.rates.StudentRate(3),
        pc.rates.KLRate(0.1),
        pc.rates.KLRate(0.5),
        pc.rates.KLRate(1.0),
        pc.rates.ScaleMixtureRate(lambda v: np.exp(-v)),
        pc.rates.ChebyshevRate(),
    ],
    ids=["gaussian", "student", "kl-0.1", "kl-0.5", "kl-1", "mixture", "chebyshev"],
)
def test_the_band_of_a_distance_is_one_of_every_rate(kind):
    """Kim et al. (2006): each rate is increasing in its distance, those of a ball of divergence among them."""
    mu_plus, S_plus, mu_minus, S_minus = random_pair(4, 3, 10.0)
    moments = pc.Moments.from_covariances(3 * mu_plus + 3, S_plus, mu_minus, S_minus)
    tradeoff = pc.gaussian_tradeoff(moments, rates=kind)
    machine = pc.formulations.BiasedMinimaxProbabilityMachine.from_moments(3 * mu_plus + 3, S_plus, mu_minus, S_minus)
    path = pc.trace(machine, u_plus=(0.1 * tradeoff.r1, 0.9 * tradeoff.r1), eps=1e-4, progress=False)
    apart = 0.0
    for u_plus in np.linspace(0.15, 0.85, 8) * tradeoff.r1:
        low, high = (float(kind.correct(-value)) for value in path.bounds(u_plus=float(u_plus))[::-1])
        rate = float(kind.correct(u_plus))
        assert 0 <= low <= high
        apart = max(apart, high - low)
        if 1e-6 < rate < 1 - 1e-9:
            assert low - 1e-9 <= tradeoff.at_rate(tpr=rate).tnr <= high + 1e-9
    assert 0 < apart < 1e-3


def test_a_formulation_says_why_it_has_no_path():
    with pytest.raises(pc.InputError, match=r"^no path within eps for BiobjectiveMargin in .* use sweep. its primal: "):
        pc.trace(pc.BiobjectiveMargin(*two_classes()), theta=(0.5, 2.0), C_plus=1.0, C_minus=1.0, eps=1e-3)
    with pytest.raises(pc.InputError, match=r"^lam must be given"):
        pc.trace(pc.ParetoGaussian(*two_classes()), eps=1e-3)


def test_quadratic_formulations_given_eps_go_this_way_too():
    """Cones without curved faces: there is nothing to be inside of."""
    X, y = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]]), [-1, 1, -1, 1]
    svm = pc.QuantileSVM(X, y)
    exact = pc.trace(svm, tau=(0.1, 0.9), lam=0.1)
    path = pc.trace(svm, tau=(0.1, 0.9), lam=0.1, eps=1e-3)
    for tau in np.linspace(0.1, 0.9, 21).tolist():
        low, high = path.bounds(tau=tau)
        assert low - 1e-9 <= exact.value(tau) / 0.1 <= high + 1e-9  # the model is that of w over lam
    nu = pc.trace(pc.TwoNuSVM(X, y), nu=(0.2, 0.5), asymmetry=0.5)
    path = pc.trace(pc.TwoNuSVM(X, y), nu=(0.2, 0.5), asymmetry=0.5, eps=1e-3)  # at 0.5 no multiplier is free
    for at in np.linspace(0.2, 0.5, 21).tolist():
        low, high = path.bounds(nu=at)
        assert low - 1e-9 <= (nu.value(at) if at >= 0.25 else 0.0) <= high + 1e-9
