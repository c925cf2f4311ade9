"""The engine for any parametric program: exactly in fractions, and in doubles against another solver."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.linear_model import lars_path

import paretoclf as pc
from paretoclf.common.errors import DegeneratePathError
from paretoclf.engine import general
from paretoclf.engine.boxes import BOXES
from paretoclf.engine.engines import DEFAULT, ENGINES, walks_of
from paretoclf.engine.general import follow
from paretoclf.engine.in_fractions import in_fractions
from paretoclf.engine.start import Data, first_labels, shifted, without_inequalities
from paretoclf.engine.textbook import Walk
from paretoclf.problem.lines import lines_of
from paretoclf.problem.parametric_qp import LOWER, UPPER, ParametricQP
from tests.oracles.parametric import solve_at
from tests.oracles.random_programs import fractions, off, program, refuted

SHARES = (Fraction(0), Fraction(1, 3), Fraction(1))


def along(problem, found, shares):
    """The largest violation of the optimality conditions at some points of every segment."""
    worst = 0
    for k in range(len(found.labels)):
        for share in shares:
            t, v, y = ((1 - share) * ends[0] + share * ends[1] for ends in (found.t[k : k + 2], found.v[k], found.y[k]))
            worst = max(worst, off(problem, t, v, y))
    return worst


BOXED = {
    "costs": (pc.TwoCSVM, {"start": (0.1, 1.9), "stop": (1.9, 0.1)}),
    "quantile": (partial(pc.QuantileSVM, bias=True), {"tau": (0.1, 0.9), "lam": 0.1}),
    "nu": (pc.TwoNuSVM, {"nu": (0.2, 0.4), "asymmetry": 0.5}),
    "hulls": (pc.TwoNuSVM, {"start": (0.9, 0.9), "stop": (0.5, 0.4)}),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", BOXED)
def test_a_box_with_an_operator_is_followed_by_the_core_for_boxes(kind, engine, gaussians, monkeypatch):
    """And its trace is that of the same program with P as an array."""
    (svm, how), used = BOXED[kind], []
    problem = lines_of(made := svm(*gaussians(n=40, d=3, seed=3), pc.RBF(0.5))).of(made, **how).problem
    for name, box in BOXES.items():
        monkeypatch.setitem(BOXES, name, lambda given, box=box, name=name: used.append(name) or box(given))
    found, other = (follow(each, progress=False, engine=engine) for each in (problem, problem.dense()))
    assert used == [engine] * (engine in BOXES)
    assert found.labels[[0, -1]].tolist() == other.labels[[0, -1]].tolist()
    np.testing.assert_allclose(found.t, other.t, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.v, other.v, atol=1e-11)
    np.testing.assert_allclose(found.y, other.y, atol=1e-11)
    again = follow(problem, other.labels[0], progress=False, engine=engine)  # from a basis that is known
    np.testing.assert_allclose(again.t, other.t, rtol=0, atol=1e-12)
    wrong = follow(problem, -other.labels[0], progress=False, engine=engine)  # and from a guess that is wrong
    np.testing.assert_allclose(wrong.v[-1, 1], other.v[-1, 1], atol=1e-11)


@pytest.mark.parametrize("block", range(3))
def test_fractions_are_exactly_optimal_and_rays_are_rays(block):
    seen = Counter()
    for seed in range(40 * block, 40 * (block + 1)):
        if (raw := program(seed)) is None:
            continue
        problem = ParametricQP(*map(fractions, raw))
        found = follow(problem, progress=False)
        assert along(problem, found, SHARES) == 0, seed
        assert (np.diff(found.t) > 0).all() or (found.t.tolist() == [0, 0] and found.status != "end")
        if found.status != "end" and found.t.size > 1:
            assert refuted(problem, found), seed
        elif found.status == "end":
            assert found.t[-1] == 1
        seen[found.status] += 1
    assert min(seen[status] for status in ("end", "infeasible", "unbounded")) > 0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("block", range(3))
def test_doubles_against_another_solver(block, engine):
    solved = 0
    for seed in range(1000 + 40 * block, 1040 + 40 * block):
        if (raw := program(seed)) is None:
            continue
        scale = 1.0 if seed % 2 else 10.0 ** np.random.default_rng(seed).uniform(-1, 1)  # degenerate up to rounding
        P, A, q, *sides = (np.asarray(each, dtype=float) for each in raw)
        problem = ParametricQP(scale * P, A, scale * q, *sides[:2], *(scale * each for each in sides[2:]))
        found = follow(problem, progress=False, engine=engine)
        assert along(problem, found, (0.0, 0.4, 1.0)) <= 1e-9 * scale + 1e-9, seed
        for t in (0.31, 0.77):
            value, _, _ = solve_at(problem, t)
            k = int(np.searchsorted(found.t, t)) - 1
            if value is None:
                assert t >= found.t[-1] - 1e-9, seed
            elif np.isfinite(value) and t < found.t[-1]:
                share = (t - found.t[k]) / (found.t[k + 1] - found.t[k])
                v = (1 - share) * found.v[k, 0] + share * found.v[k, 1]
                assert objective(problem, t, v) == pytest.approx(value, rel=1e-7, abs=1e-7), seed
                solved += 1
    assert solved > 20


def objective(problem, t, v):
    """The value of a point, slopes of what is beyond soft bounds included."""
    x, total = v[: problem.n], 0.0
    q = (1 - t) * problem.q[0] + t * problem.q[1]
    for side, slope, sign in ((problem.lower, problem.below, -1), (problem.upper, problem.above, 1)):
        for i in np.flatnonzero(np.isfinite(side[0]) & np.isfinite(slope[0])):
            bound, price = ((1 - t) * each[0, i] + t * each[1, i] for each in (side, slope))
            total += price * max(sign * (v[i] - bound), 0.0)
    return 0.5 * x @ problem.P @ x + q @ x + total


@pytest.mark.parametrize("engine", ENGINES)
def test_a_lasso_is_the_soft_threshold(engine):
    """min |x - c|^2 / 2 + lam |x|_1: each coefficient by hand, and a breakpoint where it vanishes."""
    c, lam = np.array([3.0, -1.0, 0.5]), np.array([0.0, 4.0])
    slope = np.repeat(lam[:, None], 3, axis=1)
    none = np.zeros((2, 3))
    found = follow(
        ParametricQP(np.eye(3), np.zeros((0, 3)), np.stack([-c, -c]), none, none, slope, slope),
        progress=False,
        engine=engine,
    )
    np.testing.assert_allclose(found.t, [0, 0.125, 0.25, 0.75, 1], atol=1e-14)
    for k in range(4):
        for end in (0, 1):
            expected = np.sign(c) * np.maximum(np.abs(c) - 4.0 * found.t[k + end], 0.0)
            np.testing.assert_allclose(found.v[k, end], expected, atol=1e-14)


def test_a_limit_returns_what_was_traced_and_any_guess_leads_to_the_same_values():
    problem = ParametricQP(*(np.asarray(each, dtype=float) for each in program(14)))
    whole = follow(problem, progress=False)
    assert follow(problem, max_events=0, progress=False).status in ("limit", whole.status)
    guess = np.where(np.isfinite(problem.upper[0]) & (np.arange(problem.items) < problem.n), UPPER, 0)
    guess = np.where((guess == 0) & (np.arange(problem.items) < problem.n), LOWER, guess)
    other = follow(problem, labels=guess, progress=False)
    assert other.status == whole.status
    assert other.t[-1] == pytest.approx(whole.t[-1])
    assert objective(problem, 0.0, other.v[0, 0]) == pytest.approx(objective(problem, 0.0, whole.v[0, 0]))


@pytest.mark.parametrize("seed", [6299, 27284, 62869, 65675])
def test_what_doubles_cannot_tell_is_followed_in_fractions(seed):
    """Of some seventy thousand degenerate programs these were refused: a singular basis, a solution off its sets."""
    raw = program(seed)
    scale = 1.0 if seed % 2 == 0 else 10.0 ** np.random.default_rng(seed).uniform(-1, 1)
    P, A, q, *sides = (np.asarray(each, dtype=float) for each in raw)
    problem = ParametricQP(scale * P, A, scale * q, *sides[:2], *(scale * each for each in sides[2:]))
    found = follow(problem, progress=False)
    assert found.t.dtype == found.v.dtype == found.y.dtype == np.float64
    assert (np.diff(found.t) > 0).all()
    assert along(problem, found, (0.0, 0.4, 1.0)) <= 1e-9 * (1 + scale)
    whole = follow(ParametricQP(*map(fractions, raw)), progress=False)  # without the scaling that rounds
    assert found.status == whole.status
    assert found.t[-1] == pytest.approx(float(whole.t[-1]), abs=1e-9)


@pytest.mark.parametrize("share", [0, 1, 2, 3])
def test_a_scale_of_any_last_digit_is_followed(share):
    """Seed 65675 at scales an ulp apart: of one the P was off its rank by rounding, and refused."""
    raw = program(65675)
    scale = 0.2091337224593644 * (1 + share * 2.0**-52)
    P, A, q, *sides = (np.asarray(each, dtype=float) for each in raw)
    problem = ParametricQP(scale * P, A, scale * q, *sides[:2], *(scale * each for each in sides[2:]))
    assert along(problem, follow(problem, progress=False), (0.0, 0.4, 1.0)) <= 1e-9 * (1 + scale)


def test_large_or_indefinite_problems_are_refused_as_before(monkeypatch):
    raw = program(6299)
    monkeypatch.setattr(general, "_SMALL", 0)
    P, A, q, *sides = (np.asarray(each, dtype=float) for each in raw)
    scale = 10.0 ** np.random.default_rng(6299).uniform(-1, 1)
    problem = ParametricQP(scale * P, A, scale * q, *sides[:2], *(scale * each for each in sides[2:]))
    for walk in general.walks_of(DEFAULT):
        monkeypatch.setattr(walk, "follow", _refuses)
    with pytest.raises(DegeneratePathError, match="singular"):
        follow(problem, progress=False)


def _refuses(*_, **__):
    raise DegeneratePathError("the basis is singular", t=0.0, costs="", n_margin=0, remedy="")


def flat_up_to_rounding():
    """29 variables, P of rank 13: doubles see curvature where there is none. Drawn from a fixed state."""
    rng = np.random.default_rng(5)
    begun = {"state": 17869937412087265063824699745008870915, "inc": 233193750087604940414945475171846202189}
    rng.bit_generator.state = {"bit_generator": "PCG64", "state": begun, "has_uint32": 1, "uinteger": 2786721669}
    n, m = rng.integers(10, 40), rng.integers(0, 40)
    F, S = rng.integers(-2, 3, (rng.integers(0, n + 1), n)).astype(float), 10 ** rng.uniform(-1, 1, n)
    A = rng.integers(-2, 3, (m, n)).astype(float)
    if m > 1 and rng.random() < 0.4:
        A[-1] = A[0]
    q, low = rng.integers(-3, 4, (2, n)).astype(float), rng.integers(-4, 1, (2, n + m)).astype(float)
    up = low + rng.integers(0, 5, (2, n + m))
    for bound, none in ((low, -np.inf), (up, np.inf)):
        bound[:, rng.random(n + m) < 0.35] = none
    below, above = (rng.integers(1, 5, (2, n + m)).astype(float) for _ in range(2))
    for slope in (below, above):
        slope[:, rng.random(n + m) < 0.6] = np.inf
    return ParametricQP(S[:, None] * (F.T @ F) * S, A, q, low, up, below, above)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_end_of_a_path_is_looked_at(engine):
    """A rate that could be rounding was taken for 0 as far as t = 1, where multipliers were off by 4e5."""
    problem = flat_up_to_rounding()
    assert (problem.n, problem.items - problem.n) == (29, 5)
    try:
        found = follow(problem, progress=False, engine=engine)
    except DegeneratePathError:
        return
    assert (found.status, found.t[-1]) == ("unbounded", pytest.approx(0.51534, abs=1e-5))
    size = 1 + np.abs(found.v[-1, 1]).max() + np.abs(found.y[-1, 1]).max()
    assert off(problem, found.t[-1], found.v[-1, 1], found.y[-1, 1]) <= 1e-9 * size


@pytest.mark.parametrize("engine", ENGINES)
def test_the_end_of_a_path_is_looked_at_in_each_engine(engine):
    """By the first engine of each kind alone, which has nobody to go on with: it refuses, or is right."""
    problem = flat_up_to_rounding()
    for walk in walks_of(engine):
        with suppress(DegeneratePathError):
            found = general._followed(problem, None, walk=walk, limit=10**5, progress=False)
            size = 1 + np.abs(found.v[-1, 1]).max() + np.abs(found.y[-1, 1]).max()
            assert off(problem, found.t[-1], found.v[-1, 1], found.y[-1, 1]) <= 1e-6 * size


def badly_scaled(seed):
    """A linear program of twelve stages, each row and column in units of its own, from 1e-3 to 1e3."""
    rng = np.random.default_rng(seed)
    stages, k = 12, 6
    A = np.zeros((stages * (k - 2), stages * k))
    for row in range(len(A)):
        s = row // (k - 2)
        A[row, s * k : (s + 1) * k] = rng.integers(-2, 3, k)
        if s:
            A[row, (s - 1) * k : s * k] = rng.integers(-1, 2, k) * rng.random(k).round(1)
    units, sizes = (10.0 ** rng.uniform(-3, 3, each) for each in A.shape)
    x = rng.integers(0, 3, A.shape[1]) / sizes
    A = units[:, None] * A * sizes
    b, equal = A @ x, rng.random(len(A)) < 0.6
    q = rng.integers(-3, 4, x.size).astype(float)
    low, up = np.r_[0 * x, np.where(equal, b, -np.inf)], np.r_[10.0 / sizes if seed % 4 else 0 * x + 10.0, b]
    hard = np.full(low.size, np.inf)
    both = [np.stack([each, each]) for each in (low, up, hard, hard)]
    return ParametricQP(np.zeros((x.size, x.size)), A, np.stack([q, q + rng.integers(-2, 3, x.size)]), *both)


@pytest.mark.parametrize("seed", [*range(10), 46, 83, 95, 98, 138, 144, 156, 159, 183, 190, 209, 216, 229])
@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_left_of_a_zero_is_no_pivot(seed, engine):
    """Refinement leaves 1e-52 in place of 0; taken as the pivot of a pair, that made the next basis singular."""
    problem = badly_scaled(seed)
    found = follow(problem, progress=False, engine=engine)
    n = problem.n
    low, up = problem.lower[0], problem.upper[0]
    equal = low[n:] == up[n:]
    theirs = linprog(
        problem.q[0],
        A_eq=problem.A[equal],
        b_eq=up[n:][equal],
        A_ub=problem.A[~equal],
        b_ub=up[n:][~equal],
        bounds=np.stack([low[:n], up[:n]], axis=1),
        method="highs-ds",
    )
    if found.status == "end":
        v = found.v[0, 0, :n]
        assert theirs.status == 0
        assert abs(problem.q[0] @ v - theirs.fun) <= 1e-7 * (abs(problem.q[0]) @ abs(v))
    else:
        assert (found.status, theirs.status) == ("infeasible", 2)


@pytest.mark.parametrize("walk", walks_of(DEFAULT))
def test_each_precision_has_the_breakpoints_of_fractions(walk):
    """Ties included: integers are exact in every precision, so that labels are the same, too."""
    seen = 0
    for seed in range(2000, 2080):
        if (raw := program(seed)) is None:
            continue
        whole = follow(ParametricQP(*map(fractions, raw)), progress=False)
        problem = ParametricQP(*(np.asarray(each, dtype=float) for each in raw))
        found = general._followed(problem, None, walk=walk, limit=10_000, progress=False)
        assert found.status == whole.status
        assert along(problem, found, (0.0, 0.4, 1.0)) <= 1e-11
        assert found.t[-1] == pytest.approx(float(whole.t[-1]), abs=1e-13)
        seen += len(found.t) == len(whole.t) and bool(np.allclose(found.t, whole.t.astype(float), rtol=0, atol=1e-13))
    assert seen > 70  # other labels may share a basis's segment at a tie


def test_what_one_precision_refuses_another_start_and_a_finer_precision_are_asked(monkeypatch):
    """The ways in doubles are refused here; what comes out of the last one is the path all the same."""
    raw = program(14)
    problem = ParametricQP(*(np.asarray(each, dtype=float) for each in raw))
    whole = follow(problem, progress=False)
    asked = []

    def refuses(data, labels):
        asked.append(labels)
        _refuses()

    monkeypatch.setattr(general, "_SMALL", 0)
    monkeypatch.setattr(general, "walks_of", lambda engine: (refuses, refuses, walks_of(DEFAULT)[-1]))
    found = follow(problem, progress=False)
    assert len(asked) == 3  # two walks, and the other one from another start
    np.testing.assert_allclose(found.t, whole.t, atol=1e-14)
    monkeypatch.setattr(general, "walks_of", lambda engine: (refuses,))
    with pytest.raises(DegeneratePathError, match=r"singular, at t = 0\. It was tried from 4 starts\. Rescale"):
        follow(problem, progress=False)
    monkeypatch.setattr(general, "walks_of", lambda engine: (refuses, refuses, refuses))
    with pytest.raises(DegeneratePathError, match="from another start, and in twice the precision"):
        follow(problem, progress=False)


def at(found, t):
    """Values at t."""
    k = min(max(int(np.searchsorted(found.t, t)) - 1, 0), len(found.labels) - 1)
    share = (t - found.t[k]) / (found.t[k + 1] - found.t[k])
    return (1 - share) * found.v[k, 0] + share * found.v[k, 1]


def few_squares(seed, squares=3, n=96):
    """Three squares for 96 variables, most of which are at an end of their box; two rows."""
    rng = np.random.default_rng(seed)
    F, A = rng.normal(size=(squares, n)), np.stack([np.ones(n), rng.integers(-1, 2, n).astype(float)])
    q, upper = rng.normal(size=(2, n)), np.tile(np.concatenate([rng.uniform(0.5, 2.0, n), [1.0, 3.0]]), (2, 1))
    return ParametricQP.hard(F.T @ F, A, q, np.hstack([np.zeros((2, n)), -upper[:, n:]]), upper)


@pytest.mark.skipif("fast" not in ENGINES, reason="installed without a C++ compiler")
@pytest.mark.parametrize("seed", range(6))
def test_products_through_few_squares_are_those_with_the_matrix(seed, monkeypatch):
    problem, core, used = few_squares(seed), walks_of("fast")[0], []
    squares = core.squares
    monkeypatch.setattr(core, "squares", lambda self, P: used.append(squares(self, P)) or used[-1])
    found = follow(problem, progress=False)
    assert {len(F) for F in used} == {3}
    assert along(problem, found, (0.0, 0.4, 1.0)) <= 1e-12
    monkeypatch.setattr(core, "squares", lambda _, P: np.zeros((0, len(P))))
    whole = follow(problem, progress=False)
    assert (found.labels == whole.labels).all()
    np.testing.assert_allclose(found.t, whole.t, rtol=0, atol=1e-12)
    value = solve_at(problem, 0.37)[0]
    assert objective(problem, 0.37, at(found, 0.37)) == pytest.approx(value, rel=1e-7)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("last", "status"), [(1.0, "unbounded"), (-3.0, "infeasible")])
def test_a_ray_through_squares_is_one_of_the_problem(last, status, engine):
    """min (a'x)^2 / 2 + q(t)'x, the sum of x at least -2 and at most last at t = 1."""
    a = np.array([0.1, 0.2, 0.7])
    q = np.stack([0 * a, [0.0, 1.0, 0.0] if status == "unbounded" else 0 * a])
    free, hard = np.full((2, 3), np.inf), np.full((2, 4), np.inf)
    lower, upper = np.hstack([-free, [[-2.0], [-2.0]]]), np.hstack([free, [[1.0], [last]]])
    problem = ParametricQP(np.multiply.outer(a, a), np.ones((1, 3)), q, lower, upper, hard, hard)
    found = follow(problem, progress=False, engine=engine, precise=True)
    assert found.status == status
    if status == "infeasible":
        assert found.item == 3
        assert found.t[-1] == pytest.approx(0.75, abs=1e-15)
    else:
        assert found.ray.shape == (4,)
        assert refuted(problem, found, 1e-14)


def test_a_program_of_more_members_than_exchanges_between_two_inverses():
    """A lasso of 150 coefficients: the inverse is changed some hundred times, made afresh, and refined."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 150))
    y = X @ rng.normal(size=150) + rng.normal(size=200)
    zero, most = np.zeros((2, 150)), abs(X.T @ y).max()
    slope = np.stack([np.full(150, 1.01 * most), np.full(150, 1e-3 * most)])
    problem = ParametricQP(X.T @ X, np.zeros((0, 150)), np.stack([-X.T @ y] * 2), zero, zero, slope, slope)
    found = follow(problem, progress=False)
    assert len(found.labels) > 150
    assert along(problem, found, (0.0, 0.5, 1.0)) <= 1e-9
    lam = (1 - found.t) * slope[0, 0] + found.t * slope[1, 0]
    alphas, _, theirs = lars_path(X, y, method="lasso", alpha_min=lam[-1] / 200)
    for alpha, w in zip(alphas[1:], theirs.T[1:], strict=True):
        k = int(np.argmin(abs(lam - 200 * alpha)))
        assert lam[k] == pytest.approx(200 * alpha, rel=1e-9)
        np.testing.assert_allclose(found.v[k - 1, 1], w, atol=1e-9)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("labels", [[0, 0, -1, -1], [0, -1, -1, -1], [-1, -1, 0, 0]])
def test_a_guess_that_is_no_basis_costs_time_only(labels, exact):
    """Two rows that say the same, both in the basis: x + y = 1 at least cost."""
    q, ends = np.array([[1.0, 2.0], [3.0, 2.0]]), np.array([[0.0, 0.0, 1.0, 1.0], [9.0, 9.0, 1.0, 1.0]])
    low, up = (np.stack([each, each]) for each in ends)
    numbers = [np.zeros((2, 2)), np.ones((2, 2)), q, low, up]
    problem = ParametricQP.hard(*(map(fractions, numbers) if exact else numbers))
    found = follow(problem, np.array(labels), progress=False)
    assert found.status == "end"
    assert [float(t) for t in found.t] == [0.0, 0.5, 1.0]
    np.testing.assert_allclose(found.v[:, 0, :2].astype(float), [[1.0, 0.0], [0.0, 1.0]])


def test_neighbours_share_a_point_unless_the_solution_jumps():
    q = np.array([[-1.0, 1.0], [1.0, 2.0]])  # x_0 falls from 1 to 0 at t = 1/2, all at once; x_1 is a parabola's
    problem = ParametricQP.hard(
        np.diag([0.0, 1.0]), np.zeros((0, 2)), q, np.array([[0.0, -1.5]] * 2), np.array([[1.0, 1.5]] * 2)
    )
    for engine in ENGINES:
        found = follow(problem, engine=engine)
        np.testing.assert_allclose(found.t, [0.0, 0.5, 1.0])
        np.testing.assert_allclose(found.v[:, :, 0], [[1.0, 1.0], [0.0, 0.0]])
    smooth = follow(replace(problem, q=q[:, 1:], P=np.eye(1), A=np.zeros((0, 1)), **sides(problem, slice(1, 2))))
    np.testing.assert_allclose(smooth.v[:, :, 0], [[-1.0, -1.5], [-1.5, -1.5]])
    if "fast" in ENGINES:
        assert follow(problem, engine="fast").path.ends.tolist() == [[0, 1], [2, 3]]
        assert smooth.path.ends.tolist() == [[0, 1], [1, 2]]
        assert smooth.v[1, 0, 0] == smooth.v[1, 1, 0] == -1.5  # the bound, to the last bit


def sides(problem, which):
    """Bounds and slopes of some items."""
    return {name: getattr(problem, name)[:, which] for name in ("lower", "upper", "below", "above")}


def drawn(rng, large):
    """A program whose P is of any rank, columns in units of their own, and soft, hard, equal and missing bounds."""
    n, m = (
        (int(rng.integers(10, 40)), int(rng.integers(0, 40)))
        if large
        else (int(rng.integers(1, 9)), int(rng.integers(0, 8)))
    )
    F = rng.integers(-2, 3, (rng.integers(0, n + 1), n)) * (10 ** rng.uniform(-1, 1, n) if large else 1.0)
    A, q = rng.integers(-2, 3, (m, n)).astype(float), rng.integers(-3, 4, (2, n)).astype(float)
    if m > 1 and rng.random() < 0.4:
        A[-1] = A[0]
    low = rng.integers(-4, 1, (2, n + m)).astype(float)
    up = low + rng.integers(0, 5, (2, n + m))
    below, above = rng.integers(1, 5, (2, 2, n + m)).astype(float)
    for ends, none, share in ((low, -np.inf, 0.35), (up, np.inf, 0.35), (below, np.inf, 0.6), (above, np.inf, 0.6)):
        ends[:, rng.random(n + m) < share] = none
    return ParametricQP(F.T @ F, A, q, low, up, below, above)


@pytest.mark.skipif("fast" not in ENGINES, reason="installed without a C++ compiler")
@pytest.mark.parametrize("block", range(4))
def test_a_solution_that_is_carried_on_is_the_one_that_is_computed_afresh(block, monkeypatch):
    """Each step is compared with a fresh solution; path and end are those of steps that are all computed afresh."""
    carries, afresh = walks_of("fast")[:2]
    began, walks, rng = carries.__init__, [], np.random.default_rng(block)

    def compared(self, data, labels):
        began(self, data, labels)
        self._walk.compared = True
        walks.append(self._walk)

    monkeypatch.setattr(carries, "__init__", compared)
    for _ in range(15):
        problem, _ = general.equilibrated(drawn(rng, large=block % 2 == 1))
        how = {"limit": 10**5, "progress": False}
        found, other = (general._followed(problem, None, walk=walk, **how) for walk in (carries, afresh))
        assert found.status == other.status
        assert found.t[-1] == pytest.approx(other.t[-1], abs=1e-10)
        for t in np.linspace(0, found.t[-1], 7) if len(found.labels) else ():
            v, size = at(found, t), 1 + np.abs(at(found, t)) @ np.abs(at(found, t))
            assert abs(objective(problem, t, v) - objective(problem, t, at(other, t))) <= 1e-10 * size
    mine = [walk for walk in walks if walk.exchanges and not walk.afresh]
    assert max(walk.worst for walk in mine) <= 1.0  # no further off than it says it may be
    assert 2 * sum(walk.solved for walk in mine) < sum(walk.exchanges for walk in mine)


def ill_scaled(*seed, small):
    """A random program whose columns and rows have units from 1e-6 to 1e6."""
    rng = np.random.default_rng(seed)
    n, m = (rng.integers(3, 16), rng.integers(0, 16)) if small else (rng.integers(10, 40), rng.integers(0, 40))
    F = rng.integers(-2, 3, (rng.integers(0, n + 1), n)).astype(float)
    A = rng.integers(-2, 3, (m, n)).astype(float)
    if m > 1 and rng.random() < 0.4:
        A[-1] = A[0]
    q = rng.integers(-3, 4, (2, n)).astype(float)
    low = rng.integers(-4, 1, (2, n + m)).astype(float)
    up = low + rng.integers(0, 5, (2, n + m))
    for ends, none in ((low, -np.inf), (up, np.inf)):
        ends[:, rng.random(n + m) < 0.35] = none
    below, above = rng.integers(1, 5, (2, n + m)).astype(float), rng.integers(1, 5, (2, n + m)).astype(float)
    for ends in (below, above):
        ends[:, rng.random(n + m) < 0.6] = np.inf
    S, R = 10 ** rng.uniform(-6, 6, n), 10 ** rng.uniform(-6, 6, m)
    low[:, n:], up[:, n:], below[:, n:], above[:, n:] = (
        low[:, n:] * R,
        up[:, n:] * R,
        below[:, n:] / R,
        above[:, n:] / R,
    )
    c, d = 10 ** rng.uniform(-6, 6), 10 ** rng.uniform(-6, 6)
    P = S[:, None] * (F.T @ F) * S
    return ParametricQP(P, R[:, None] * A, q * d, low * c, up * c, below * d, above * d)


@pytest.mark.skipif("fast" not in ENGINES, reason="installed without a C++ compiler")
@pytest.mark.parametrize(
    ("seed", "small", "status"), [((2, 20261, 18548), False, "end"), ((3, 20261, 13328), True, "unbounded")]
)
def test_that_there_is_no_way_is_not_said_of_a_column_by_one_product(seed, small, status):
    """A solver finds a point on both lines where steps that were carried on found them infeasible."""
    problem = ill_scaled(*seed, small=small)
    stated, _ = general.equilibrated(problem)
    afresh = general._followed(stated, None, walk=walks_of("fast")[1], limit=10**5, progress=False)
    found = follow(problem, progress=False)
    assert found.status == afresh.status == status
    assert found.t[-1] == pytest.approx(afresh.t[-1], abs=1e-10)
    t, n = found.t[-1], stated.n
    low, up = (  # at t, and infinite where they are
        np.where(np.isfinite(a), (1 - t) * np.where(np.isfinite(a), a, 0) + t * np.where(np.isfinite(b), b, 0), a)
        for a, b in (stated.lower, stated.upper)
    )
    low[np.isfinite(stated.below[0])], up[np.isfinite(stated.above[0])] = -np.inf, np.inf
    unit = max(np.abs(each[np.isfinite(each)]).max(initial=0.0) for each in (low, up))
    rows = np.vstack([stated.A, -stated.A])
    right = np.r_[up[n:], -low[n:]] / unit
    kept, bounds = np.isfinite(right), np.stack([low[:n], up[:n]], axis=1) / unit
    assert linprog(np.zeros(n), rows[kept], right[kept], bounds=bounds).status == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_the_search_for_a_start_has_a_limit(engine, monkeypatch):
    """It is ``max_events``, but no fewer than some for each item; the path has no segments then."""
    rng = np.random.default_rng(0)
    n, m = 30, 20
    A, none = rng.normal(size=(m, n)), np.full((2, n + m), np.inf)
    upper = np.tile(np.r_[np.full(n, np.inf), A @ rng.uniform(0, 1, n)], (2, 1))
    lower = np.where(np.arange(n + m) < n, 0.0, upper)
    problem = ParametricQP(np.zeros((n, n)), A, rng.uniform(0, 1, (2, n)), lower, upper, none, none)
    assert follow(problem, max_events=0, progress=False, engine=engine).t[-1] >= 0.0
    monkeypatch.setattr(general, "_SEARCH", 0)
    found = follow(problem, max_events=3, progress=False, engine=engine)
    assert (found.status, len(found.labels), found.exchanges) == ("limit", 0, 3)


def test_a_start_has_no_ties_that_can_be_helped():
    """Kinks begin beyond them; multipliers of 0, and rows at a bound, are shifted: equations alone stay at theirs."""
    rng = np.random.default_rng(4)
    for large in (False, True) * 10:
        data = Data.of(drawn(rng, large))
        begin = first_labels(data)
        line = shifted(data, begin, Walk)
        v, y = (each[0] for each in Walk(line, begin).solve(0))
        known = {LOWER: line.low[0], UPPER: line.up[0]}
        for i in np.flatnonzero(~data.free & ~(data.fixed & ~data.soft_low & ~data.soft_up)):
            if begin[i] in known:
                assert v[i] == known[begin[i]][i]
                assert data.fixed[i] or y[i] != 0
            else:
                assert not (data.has_low[i] and v[i] == line.low[0, i])
                assert not (data.has_up[i] and v[i] == line.up[0, i])


@pytest.mark.parametrize(
    "walk", dict.fromkeys((walks_of("textbook")[0], walks_of(DEFAULT)[0])), ids=lambda walk: walk.__name__
)
def test_a_start_from_the_basis_without_inequalities_leads_to_the_same_end(walk):
    """An item beyond a soft bound is shifted there, and so is its other bound where the two would cross."""
    rng, how = np.random.default_rng(5), {"walk": walk, "limit": 10**5, "progress": False}
    for _ in range(60):
        problem = drawn(rng, large=False)
        try:
            guess = without_inequalities(Data.of(problem), walk)
        except DegeneratePathError:  # it is no basis
            continue
        found, other = (general._followed(problem, labels, **how) for labels in (guess, None))
        assert found.status == other.status
        assert found.t[-1] == pytest.approx(other.t[-1], abs=1e-10)


def fine_walks(problem, monkeypatch):
    """Paths with solutions in two doubles on a basis in doubles, carried on and computed afresh."""
    from paretoclf.engine.core_walk import FineWalk

    paths = []
    for afresh in (False, True):
        with monkeypatch.context() as patch:
            patch.setattr(FineWalk, "afresh", afresh)
            paths.append(general._followed(problem, None, walk=FineWalk, limit=10**5, progress=False))
    return paths


def ill_conditioned_lasso(n, cond):
    """A lasso from where all coefficients are 0 to no penalty, of columns with a large condition."""
    rng = np.random.default_rng(0)
    U, V = (np.linalg.qr(rng.normal(size=(k, n)))[0] for k in (2 * n, n))
    X = (U * np.logspace(0, -np.log10(cond), n)) @ V.T
    c = X.T @ (X @ rng.normal(size=n) + 0.01 * rng.normal(size=2 * n))
    zero = np.zeros((2, n))
    slope = np.stack([np.full(n, 1.01 * abs(c).max()), zero[0]])
    return ParametricQP(X.T @ X, np.zeros((0, n)), np.stack([-c, -c]), zero, zero, slope, slope)


@pytest.mark.skipif("fast" not in ENGINES, reason="installed without a C++ compiler")
@pytest.mark.parametrize("cond", [1e4, 1e6, 1e7])
def test_solutions_in_twice_the_precision_decide_what_doubles_leave_open(cond, monkeypatch):
    """A lasso of so large a condition: its path is that in fractions."""
    problem, _ = general.equilibrated(ill_conditioned_lasso(7, cond))
    exact = general._followed(in_fractions(problem), None, walk=Walk, limit=10**5, progress=False)
    for found in fine_walks(problem, monkeypatch):
        assert found.labels.tolist() == exact.labels.tolist()
        np.testing.assert_allclose(found.t, exact.t.astype(float), rtol=0, atol=1e-12)
        for t in np.linspace(0, 1, 9):
            k = max(int(np.searchsorted(exact.t.astype(float), t)) - 1, 0)
            share = (Fraction(t) - exact.t[k]) / (exact.t[k + 1] - exact.t[k])
            v = (1 - share) * exact.v[k, 0] + share * exact.v[k, 1]
            value = objective(problem, t, v.astype(float))
            assert objective(problem, t, at(found, t)) == pytest.approx(value, rel=1e-10, abs=1e-12)


@pytest.mark.skipif("fast" not in ENGINES, reason="installed without a C++ compiler")
@pytest.mark.parametrize(("n", "plain"), [(20, 1), (40, 2)])
def test_solutions_in_two_doubles_are_asked_for_before_a_basis_in_two_is(n, plain, monkeypatch):
    """Neither fractions nor two doubles throughout are asked for; a small program is not computed afresh, either."""
    problem, followed, asked = ill_conditioned_lasso(n, 1e6), general._followed, []

    def counted(*given, walk, **how):
        asked.append(walk)
        return followed(*given, walk=walk, **how)

    monkeypatch.setattr(general, "_followed", counted)
    found = follow(problem, progress=False)
    core, afresh, fine, twice = walks_of("fast")
    assert asked == [*(core, afresh)[:plain], fine]
    stated, d = general.equilibrated(problem)
    whole = followed(stated, None, walk=twice, limit=10**5, progress=False)
    assert found.status == "end"
    assert found.labels.tolist() == whole.labels.tolist()
    np.testing.assert_allclose(found.t, whole.t, rtol=0, atol=1e-12)
    v, size = whole.v * d, np.abs(whole.v * d).max()
    np.testing.assert_allclose(found.v, v, rtol=0, atol=1e-9 * size)
