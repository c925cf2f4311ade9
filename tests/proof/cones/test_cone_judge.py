"""Bounds that are never guesses: thin sets, promises about P, free variables, faces without inside, and fractions."""

from __future__ import annotations

import os
from fractions import Fraction
from pathlib import Path

import clarabel
import cvxpy as cp
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.proof.cones import cone_judge, lower_bound
from paretoclf.proof.cones.cone_judge import (
    ConeProgram,
    chosen_multipliers,
    cone_bounds,
    has_ray,
    infeasibility,
)
from paretoclf.proof.cones.cone_kinds import Cone
from paretoclf.proof.cones.half_spaces import half_spaces
from paretoclf.proof.cones.implied_bounds import implied_box

ROOT_TWO = float(np.sqrt(2.0))


def thin(sense=1.0):
    """Min s with [[2, 2], [2, 2 + t]] positive semidefinite, t <= 0 and s >= 3: t = 0, and the value is 3."""
    A = [[0, 0], [0, 0], [0, -1], [0, 1], [-1, 0]]
    b = np.array([2, 2 * ROOT_TWO, 2, 0, -3.0])
    cones = [Cone("psd", 2), Cone("nonnegative", 2)]
    return ConeProgram(np.zeros((2, 2)), [sense, 0.0], A, b, cones)


def test_a_cancellation_is_not_a_contradiction():
    """Before: ``2 + 2 - sqrt(2) (sqrt(2) 2) = -4e-16 < 0``, and the ceiling was the bound, as of an empty set."""
    program = thin()
    low, high = implied_box(program, 6.0)
    assert (low <= high + 1e-15).all()
    assert cone_bounds(program, [3.0, 0.0], np.zeros(5)).lower <= 3
    assert cone_bounds(program, [3.0, 0.0], [0, 0, 0, 0, 1.0]).lower == pytest.approx(3, abs=1e-9)
    for z in ([0.0, 0, 0, 0, 1], [0, 0, 0, 1, 1], [1, -ROOT_TWO, 1, 0, 0], [1, -1.5, 1, 0, 0.3]):
        assert not np.isinf(infeasibility(program, z)[1])


def test_half_spaces_hold_all_points_of_their_cones():
    """Each row, in fractions, at points on the edges of the cones; whatever cancelled."""
    rng = np.random.default_rng(3)
    cones = [Cone("zero", 1), Cone("second-order", 3), Cone("psd", 2), Cone("exponential"), Cone("power", 3, 0.3)]
    for _ in range(30):
        A = rng.integers(-2, 3, (13, 3)) * rng.choice([1.0, 0.1, ROOT_TWO], (13, 1))
        x, u, v = rng.standard_normal(3), rng.standard_normal(2), rng.standard_normal(2)
        e = np.exp(rng.uniform(-3, 3))
        edges = [0.0, np.hypot(*u) * (1 + 1e-15), *u, v[0] ** 2, ROOT_TWO * v[0] * v[1], v[1] ** 2]
        edges += [np.log(e), 1.0, e * (1 + 1e-14), 1.0, 1.0, 1 - 1e-15]
        b = np.array(
            [float(sum(map(Fraction, map(float, (s, *terms))))) for s, terms in zip(edges, A * x, strict=True)]
        )
        spaces = half_spaces(A, cones)
        h = spaces.at(b)
        left = [Fraction(0)] * spaces.count
        for i, j, value, spread in zip(spaces.row, spaces.column, spaces.value, spaces.spread, strict=True):
            left[i] += Fraction(float(value)) * Fraction(float(x[j])) - Fraction(float(spread)) * abs(
                Fraction(float(x[j]))
            )
        size = 1 + np.abs(b).max() + np.abs(A).max() * np.abs(x).sum()
        assert all(float(a - Fraction(float(c))) <= 1e-14 * size for a, c in zip(left, h, strict=True))


def test_rows_that_cancel_in_pairs_bound_what_is_left():
    spaces = half_spaces([[1.0, 2, -3], [1, -2, 3], [0.5, 2, 3], [4, 4, 4]], [Cone("nonnegative", 4)])
    assert spaces.count == 5
    assert (spaces.column[-1], spaces.value[-1]) == (0, 2.0)
    assert spaces.at(np.array([1.0, 5, 0, 0]))[-1] == pytest.approx(6)


def maros_meszaros(name):
    """One problem of the set, with every bound a row; skips without the data."""
    file = Path(os.environ.get("PARETOCLF_DATA", "none")) / "maros_meszaros" / f"{name}.mat"
    if not file.exists():
        pytest.skip("PARETOCLF_DATA has no maros_meszaros")
    data = scipy.io.loadmat(file)
    A, low, high = sp.csr_array(data["A"]), data["l"].ravel(), data["u"].ravel()
    equal, below, above = low == high, (high < 1e19) & (low != high), (low > -1e19) & (low != high)
    rows = sp.vstack([A[np.flatnonzero(equal)], A[np.flatnonzero(below)], -A[np.flatnonzero(above)]])
    b = np.concatenate([high[equal], high[below], -low[above]])
    sizes = {"zero": int(equal.sum()), "nonnegative": int(below.sum() + above.sum())}
    return ConeProgram(data["P"], data["q"].ravel(), rows, b, [Cone(k, size) for k, size in sizes.items() if size])


def at_a_solution(program):
    """Clarabel's point of a quadratic program."""
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    kinds = {"zero": clarabel.ZeroConeT, "nonnegative": clarabel.NonnegativeConeT}
    P, A = sp.csc_matrix(sp.triu(program.P)), sp.csc_matrix(program.A)
    cones = [kinds[c.kind](c.size) for c in program.cones]
    found = clarabel.DefaultSolver(P, program.q, A, program.b, cones, settings).solve()
    return np.array(found.x), np.array(found.z)


@pytest.mark.parametrize(
    ("name", "value", "above"),
    [
        ("QETAMACR", 86760.3696, False),  # before: a lower bound of twice that; its rows contradict each other by 1e-16
        ("HS51", -6.0, True),  # before: no lower bound, as no variable has one
        ("QSHARE2B", 11703.6917, True),  # before: neither
        ("QBEACONF", 164712.060, True),
        ("PRIMALC2", -3551.30769, True),
        ("QADLITTL", 480318.859, True),  # before: no upper one, as some inequalities are equations
    ],
)
def test_bounds_of_maros_meszaros_problems_close(name, value, above):
    """Published optimal values, to their nine digits."""
    program = maros_meszaros(name)
    found = cone_bounds(program, *at_a_solution(program))
    assert found.lower == pytest.approx(value, rel=2e-8, abs=1e-8)
    assert found.upper == (pytest.approx(value, rel=2e-8, abs=1e-8) if above else np.inf)


def degenerate(rng):
    """An integer program with a known solution: dependent and repeated rows, ties, free and pinned variables."""
    n, m, e = int(rng.integers(1, 6)), int(rng.integers(1, 9)), int(rng.integers(0, 3))
    A = rng.integers(-2, 3, (e + m, n))
    for k in rng.integers(0, e + m, 2):  # what follows from others
        A[k] = rng.integers(-2, 3) * A[rng.integers(0, e + m)] + rng.integers(-1, 2) * A[rng.integers(0, e + m)]
    x = rng.integers(-3, 4, n)
    s, z = rng.integers(0, 3, e + m) * rng.integers(0, 2, e + m), rng.integers(0, 3, e + m)
    z[s > 0], s[:e] = 0, 0
    z[:e] = rng.integers(-2, 3, e)
    F = rng.integers(-1, 2, (int(rng.integers(0, n + 1)), n))
    P = F.T @ F * int(rng.integers(0, 2))
    cones = [Cone("zero", e)] if e else []
    program = ConeProgram(P, -P @ x - A.T @ z, A, s + A @ x, [*cones, Cone("nonnegative", m)])
    value = Fraction(int(x @ P @ x), 2) + int((-P @ x - A.T @ z) @ x)
    return program, x, z, value


def test_bounds_are_on_the_right_side_of_the_truth_in_fractions():
    """Whatever the points are; and they meet where the points are a solver's."""
    rng, met, count = np.random.default_rng(11), 0, 150
    for trial in range(count):
        program, x, z, value = degenerate(rng)
        noise = 10.0 ** rng.integers(-12, -8)
        points = [(x + noise * rng.standard_normal(x.size), z + noise * rng.standard_normal(z.size))]
        rough = 10.0 ** rng.integers(-7, 2)
        points.append((x + rough * rng.standard_normal(x.size), z + rough * rng.standard_normal(z.size)))
        for k, point in enumerate(points):
            found = cone_bounds(program, *point)
            assert not found.lower > value, (trial, k)  # a float and a fraction are compared exactly
            assert not found.upper < value, (trial, k)
            met += k == 0 and found.upper - found.lower <= 1e-6 * max(1e-3, abs(float(value)))
    assert met >= 0.9 * count


def test_columns_that_are_multiples_of_each_other_where_multipliers_move():
    """One constraint is active; that all free variables are stationary then hangs on ratios that are no small ones."""
    A = [[-2, -2, 4, 1, 0], [2, 2, 2, -1, 2], [-2, -0.3, 0, 3, -4], [-2, -2, 1, 1, -1]]
    q = [4, 0.6, 0, -6, 8]
    program = ConeProgram(np.zeros((5, 5)), q, A, np.array([9.0, 9, 1, 9]), [Cone("nonnegative", 4)])
    found = cone_bounds(program, [0.0, 0, 0, 1 / 3, 0], [0, 0, 2 + 1e-9, 1e-12])
    assert found.lower == pytest.approx(-2, abs=1e-9)
    assert found.upper == pytest.approx(-2, abs=1e-9)


def test_what_is_proved_of_a_promise():
    """Before: psd_wrap and assume_PSD were believed."""
    x = cp.Variable(2, name="x")
    hollow = np.diag([1.0, -0.5])
    for form in (cp.quad_form(x, cp.psd_wrap(hollow)), cp.quad_form(x, hollow, assume_PSD=True)):
        problem = cp.Problem(cp.Minimize(form + x[0]), [x >= -1, x <= 1])
        problem.solve(solver="CLARABEL")
        with pytest.raises(
            pc.InputError, match=r"an eigenvalue of -1 among x\[1\].*may cost 2\."
        ):  # P is twice the matrix
            pc.verify(problem)
        free = cp.Problem(cp.Minimize(form + x[0]), [x[0] >= -1, x[0] <= 1])  # unbounded below
        free.solve(solver="CLARABEL")
        with pytest.raises(pc.InputError, match=r"not semidefinite by more than rounding"):
            pc.verify(free)
    plain = cp.Problem(cp.Minimize(cp.sum_squares(x)), [x >= 1])
    plain.solve(solver="CLARABEL")
    assert "semidefinite" not in pc.verify(plain).explain()
    program = ConeProgram(np.diag([2.0, -1.0]), [1.0, 0.0], [[-1.0, 0.0]], [1.0], [Cone("nonnegative", 1)])
    found = cone_bounds(program, [-0.5, 0.0], [0.0])
    assert (found.lower, found.indefinite) == (-np.inf, 1.0)
    box = np.vstack([np.eye(2), -np.eye(2)])
    bounded = ConeProgram(np.diag([2.0, -1.0]), [1.0, 0.0], box, np.ones(4), [Cone("nonnegative", 4)])
    assert -0.76 <= cone_bounds(bounded, [-0.5, 0.0], np.zeros(4)).lower <= -0.75


def test_a_quadratic_that_is_not_symmetric_is_refused_or_read_as_solvers_do():
    with pytest.raises(pc.InputError, match=r"P must be symmetric, got entries that differ by 1\.0e\+00"):
        ConeProgram([[1.0, 1], [0, 1]], np.zeros(2), np.zeros((0, 2)), np.zeros(0), [])
    rounded = ConeProgram([[1.0, 0.1], [np.nextafter(0.1, 1), 1]], np.zeros(2), np.zeros((0, 2)), np.zeros(0), [])
    assert (rounded.P != rounded.P.T).nnz == 0


@pytest.fixture
def rng():
    return np.random.default_rng(8)


def textbook(rng):
    """Problems with free variables, faces without inside or one-sided curvature; before, none had both bounds."""
    X, y = rng.standard_normal((40, 3)), rng.standard_normal(40)
    w, b, u = cp.Variable(3, name="w"), cp.Variable(name="b"), cp.Variable(name="u")
    r, T = X @ w + b - y, cp.Variable((3, 3), name="T", nonneg=True)
    supply, demand, cost = np.array([3.0, 2, 5]), np.array([4.0, 4, 2]), rng.random((3, 3))
    R, p, share = 0.1 * rng.standard_normal((50, 3)), cp.Variable(3, name="p", nonneg=True), cp.Variable(name="a")
    A, room = rng.standard_normal((20, 3)), 1 + rng.random(20)
    c = A.T @ rng.random(20)
    return {
        "least absolute deviations": (cp.norm1(r), []),
        "quantile": (cp.sum(cp.maximum(0.3 * r, -0.7 * r)), []),
        "Chebyshev": (cp.norm_inf(r), []),
        "free": (c @ w, [-A @ w <= room]),
        "conditional value at risk": (share + cp.sum(cp.pos(-R @ p - share)) / 5, [cp.sum(p) == 1]),
        "robust": (c @ w, [-A @ w + 0.3 * cp.norm(w) <= room]),
        "transport": (cp.sum(cp.multiply(cost, T)), [cp.sum(T, axis=1) == supply, cp.sum(T, axis=0) == demand]),
        "exponential": (cp.exp(u) - 2 * u, []),
        "power": (cp.power(u, 3.5) - 2 * u, [u >= 0.25]),
    }


@pytest.mark.parametrize("name", list(textbook(np.random.default_rng(0))))
def test_textbook_problems_have_both_bounds(name, rng):
    cost, constraints = textbook(rng)[name]
    problem = cp.Problem(cp.Minimize(cost), constraints)
    value = problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    proof = pc.verify(problem)
    assert proof.lower == pytest.approx(value, rel=1e-8)
    assert proof.upper == pytest.approx(value, rel=1e-8)
    assert proof.lower <= proof.upper


@pytest.mark.parametrize(("tol", "works"), [(1e-3, False), (1e-9, True)])
def test_a_bound_that_is_as_close_as_asked_is_not_worked_on(monkeypatch, tol, works):
    """A linear function on the unit disc, from multipliers that are off by 1e-5."""
    calls, solved = [], lower_bound._solved
    monkeypatch.setattr(lower_bound, "_solved", lambda *given: calls.append(given) or solved(*given))
    A = np.vstack([np.zeros(2), -np.eye(2)])
    program = ConeProgram(np.zeros((2, 2)), [-3.0, -4.0], A, [1.0, 0.0, 0.0], [Cone("second-order", 3)])
    found = cone_bounds(program, [0.6, 0.8], np.array([5.0, -3.0, -4.0]) * (1 + 1e-5), tol=tol)
    assert bool(calls) == works
    assert -5 - 1e-4 <= found.lower <= -5 <= found.upper


def interval(low=1.0, high=4.0, q=1.0):
    """Minimise q x with low <= x <= high."""
    return ConeProgram([[0.0]], [q], [[-1.0], [1.0]], [-low, high], [Cone("nonnegative", 2)])


def test_bounds_are_the_best_of_all_points():
    """The first point is out of the interval and its multipliers are 0; the third pair is not asked for."""
    asked = []

    def more():
        for pair in (([1.5], [0.0, 0.0]), ([1.0], [1.0, 0.0]), ([2.0], [9.0, 0.0])):
            asked.append(pair)
            yield pair

    program = interval()
    found = cone_bounds(program, [2.0], [0.0, 1.0], more())
    assert found.lower == pytest.approx(1, abs=1e-9)
    assert found.upper == pytest.approx(1, abs=1e-9)
    assert len(asked) <= 2
    assert found.x == pytest.approx([1.0], abs=1e-9)
    assert found.unabsorbed == {}
    assert found.blocked is None
    assert found.indefinite == 0
    for bad in (([1.0, 2.0], [0.0, 0.0]), ([1.0], [0.0]), ([np.nan], [0.0, 0.0])):
        with pytest.raises(pc.errors.InputError):
            cone_bounds(program, *bad)


def test_without_a_feasible_point_a_ceiling_above_the_bound_is_found():
    """x >= 1 and x <= 1 - 1e-9 exclude each other; the objective has a ceiling all the same."""
    program = ConeProgram([[2.0]], [0.0], [[-1.0], [1.0]], [-1.0, 1 - 1e-9], [Cone("nonnegative", 2)])
    found = cone_bounds(program, [1.0], [2.0, 0.0])
    assert found.upper == np.inf
    assert found.blocked is not None
    assert found.lower >= 1 - 1e-6


@pytest.mark.parametrize(
    ("given", "small"), [([True, True, True], False), ([False, True, True], True), ([False] * 3, True)]
)
def test_multipliers_that_are_not_given_are_chosen(given, small):
    """Minimise 2 x0 + x1 over x >= 0 and x0 + x1 >= 1: (0, 1) with (1, 0, 1); the first multiplier is wrong."""
    program = ConeProgram(
        np.zeros((2, 2)), [2.0, 1.0], [[-1.0, 0], [0, -1], [-1, -1]], [0.0, 0, -1], [Cone("nonnegative", 3)]
    )
    _, found = chosen_multipliers(program, np.array([0.0, 1.0]), np.array([0.5, 0.0, 1.0]), np.array(given))
    assert found.shape == (3,)
    assert (found.max() < 1e-9) == small
    if not small:
        assert found == pytest.approx([0.5 / (1 + 2 + 1.5), 0, 0])
    _, away = chosen_multipliers(program, np.array([1.0, 1.0]), np.array([0.0, 0.0, 1.0]), np.zeros(3, bool))
    assert away[:2].max() + away[2] > 1e-2  # a multiplier of a row with slack is not orthogonal


def test_multipliers_are_chosen_in_a_few_rounds_where_the_tolerance_is_met(monkeypatch):
    """Minimise the distance from (1, 1) over x0 <= 1/2, with a multiplier of 1 + 1e-9 in place of 1: no choice fits."""
    rows = [[0.0, 1, 0], [-1, 0, 0], [0, -1, 0], [0, 0, -1]]
    cones = [Cone("nonnegative", 1), Cone("second-order", 3)]
    program = ConeProgram(np.zeros((3, 3)), [1.0, 0, 0], rows, [0.5, 0, -1, -1], cones)
    rounds, project = [], cone_judge.project_dual
    monkeypatch.setattr(cone_judge, "project_dual", lambda *given: rounds.append(1) or project(*given))
    x, z, given = np.array([0.5, 0.5, 1]), np.array([1 + 1e-9, 1, 1, 0]), np.array([True, False, False, False])
    _, rough = chosen_multipliers(program, x, z, given, 1e-8)
    few = len(rounds)
    _, fine = chosen_multipliers(program, x, z, given, 1e-12)
    assert few <= 5 < len(rounds) - few
    assert 1e-10 < fine.max() <= rough.max() < 1.001 * fine.max()


def test_multipliers_exclude_points_everywhere_or_say_nothing():
    """x >= 1 and x <= -1: the sum of both rows says 0 <= -2."""
    empty = interval(1.0, -1.0)
    z, reach = infeasibility(empty, [3.0, 3.0])
    assert reach == np.inf
    assert z == pytest.approx([0.5, 0.5])
    for nothing in ([0.0, 0.0], [-1.0, -1.0]):
        z, reach = infeasibility(empty, nothing)
        assert (z.tolist(), reach) == ([0, 0], 0.0)
    assert infeasibility(interval(), [1.0, 0.2])[1] < 4


#: Minimise q x0 + p x1^2 / 2 where rows are at most their sides: is there a ray?
RAYS = {
    "x0 may grow": (-1.0, np.diag([0.0, 2.0]), [[-1.0, 0]], [5.0], True),
    "x0 may grow, and x1 with it": (-1.0, np.zeros((2, 2)), [[-1.0, 0], [1.0, -1.0]], [5.0, -3.0], True),
    "its square is in the objective": (-1.0, np.diag([2.0, 0.0]), [[-1.0, 0]], [5.0], False),
    "a row ends it": (-1.0, np.diag([0.0, 2.0]), [[1e-9, 0]], [5.0], False),
    "it costs": (1.0, np.diag([0.0, 2.0]), [[-1.0, 0]], [5.0], False),
    "it costs nothing": (0.0, np.diag([0.0, 2.0]), [[-1.0, 0]], [5.0], False),
    "x1 would have to grow": (-1.0, np.diag([0.0, 2.0]), [[1.0, -1.0]], [5.0], False),
}


@pytest.mark.parametrize("name", RAYS)
def test_a_ray_falls_within_all_cones_and_along_no_curvature(name):
    q, P, rows, sides, ray = RAYS[name]
    program = ConeProgram(P, [q, 0.0], rows, sides, [Cone("nonnegative", len(rows))])
    for d in ([1.0, 0.0], [1.0, 1.0]):
        assert has_ray(program, d) == ray


@pytest.mark.parametrize(
    ("found", "ceilings"),
    [
        ([3.0], [4.0]),
        ([10.0, 25.0, 24.0], [4.0, 20.0, 50.0]),
        ([4.0, 7.0], [4.0, 8.0]),
        ([10.0, 25.0, 60.0, 61.0], [4.0, 20.0, 50.0, np.inf]),
        ([-0.5], [-0.5 + 1.0]),
        ([0.625, 0.75], [0.5, 1.625]),
    ],
)
def test_each_ceiling_is_above_the_bound_under_the_one_before(monkeypatch, found, ceilings):
    """From the value at the point on: a bound that is no lower than its ceiling needs a higher one."""
    from types import SimpleNamespace

    from paretoclf.proof.cones import cone_judge

    asked, left = [], iter(found)
    monkeypatch.setattr(cone_judge, "_box", lambda program, ceiling: asked.append(ceiling))
    monkeypatch.setattr(cone_judge, "lower_bound", lambda *given: SimpleNamespace(value=next(left)))
    start = -0.5 if found[0] < 1 else 2.0
    program = SimpleNamespace(value=lambda x: start)
    assert cone_judge._lower_bound(program, None, None, np.inf, 0.0).value == found[-1]
    assert asked == ceilings
    asked.clear()
    left = iter([1.0])
    cone_judge._lower_bound(program, None, None, 5.0, 0.0)
    assert asked == [5.0]  # a feasible point's


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("size", [1.0, 7.0, 1e-3])
def test_points_that_are_not_excluded_are_as_far_as_is_said(sign, size):
    """x <= -1 and x + eps y >= 1, or with -y: y must be 2 / eps at least, and nothing nearer is feasible."""
    eps = 1e-3
    program = ConeProgram(
        np.zeros((2, 2)), [0.0, 0.0], [[1.0, 0.0], [-1.0, -sign * eps]], [-1.0, -1.0], [Cone("nonnegative", 2)]
    )
    z, reach = infeasibility(program, size * np.array([0.5, 0.5]))
    assert program.b @ z == pytest.approx(-1)
    assert (z >= 0).all()
    assert 1 / eps < reach <= 2 / eps
