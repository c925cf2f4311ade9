"""The textbook's engine on boxes: in fractions against the oracles and the fast engine, in floats as a tracker."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.engine.box import AnyBox
from paretoclf.engine.segments import Line
from paretoclf.engine.sets import LEFT, MARGIN, RIGHT
from paretoclf.engine.start import Data
from paretoclf.engine.textbook import Walk
from paretoclf.problem.operator import Matrix
from paretoclf.problem.operator.signed import Signed
from paretoclf.problem.parametric_qp import INSIDE, LOWER, UPPER, ParametricQP
from tests.oracles.box_problems import Problem as Sampled
from tests.oracles.box_problems import line as line_of
from tests.oracles.box_problems import ray
from tests.oracles.box_problems import trace as fast_trace
from tests.oracles.exact import fractions as exact
from tests.oracles.exact import integer_kernel, objections
from tests.oracles.exact_textbook import rational_segments, textbook
from tests.oracles.mostly_slow import mostly_slow
from tests.path.test_exact import CASES, KERNELS, instance, labels, lines

NEAR = 1e-12
LIMIT = 10_000  # exchanges on a line: far more than a few samples need, lest a fault run for ever


# ---- in fractions: proofs that need no other tracker -------------------------------------------------------------


def walk_from(problem, sets):
    """From sets of the variables; every row is in the basis."""
    labels = {RIGHT: LOWER, MARGIN: INSIDE, LEFT: UPPER}
    return Walk(Data.of(problem), np.array([*(labels[k] for k in sets), *[LOWER] * len(problem.A)]))


def optimal(problem, t, v, y):
    """Whether the optimality conditions hold, exactly."""
    n = problem.n
    low, up = ((1 - t) * x[0] + t * x[1] for x in (problem.lower, problem.upper))
    a, c, eta = v[:n], up[:n], -y[n:]
    g = problem.P @ a + problem.q[0] + eta @ problem.A
    inside = (a >= 0).all() and (a <= c).all() and (problem.A @ a == up[n:]).all() and (low[n:] == up[n:]).all()
    return inside and (g[a < c] >= 0).all() and (g[a > 0] <= 0).all()


def whole(problem, walk):
    """The path, once it covers [0, 1], is optimal at both ends of every segment, and is made of fractions only."""
    found = walk.follow(LIMIT)
    assert (found.status, found.t[0], found.t[-1]) == ("end", 0, 1)
    for t, v, y in zip(zip(found.t[:-1], found.t[1:], strict=True), found.v, found.y, strict=True):
        assert not any(isinstance(x, float) for x in (*t, *v.ravel(), *y.ravel()))
        assert all(optimal(problem, *each) for each in zip(t, v, y, strict=True))
    return found


FIVE = [MARGIN, LEFT, LEFT, LEFT, LEFT]


@pytest.fixture
def five():
    """Spec 12b: five points of a line, on the balanced ray up to the costs (3, 2)."""
    X, y = exact([[2], [1], [0], [-1], [-3]]), exact([1, 1, -1, -1, -1])
    caps = exact([[0] * 5, [3, 3, 2, 2, 2]])
    return ParametricQP.box(y[:, None] * (X @ X.T) * y, exact([1] * 5), y[None], caps)


def test_five_points_by_hand(five):
    found = whole(five, walk_from(five, FIVE))
    ends, b = ("6/85", "6/35", "2/7", "1/2", "3/4", "3/2", "3"), ("1/5", "1/5", "-1/3", "-1/3", "0", "0", "-1")
    assert [3 * t for t in found.t[1:]] == [Fraction(x) for x in ends]
    assert [-y[1, 5] for y in found.y] == [Fraction(x) for x in b]


def test_floats_and_fractions_are_one_algorithm(five):
    names = ("P", "q", "A", "lower", "upper")
    floats = replace(five, **{name: getattr(five, name).astype(float) for name in names})
    one, other = (walk_from(problem, FIVE).follow(LIMIT) for problem in (five, floats))
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_allclose(other.t, one.t.astype(float), rtol=1e-15)
    np.testing.assert_allclose(other.v, one.v.astype(float), atol=1e-15)
    np.testing.assert_allclose(other.y, one.y.astype(float), atol=3e-15)


@pytest.mark.parametrize("m", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(12))
def test_any_rows_with_coefficients_of_any_size(m, seed):
    """Ties, dependent samples, some at the origin, some in no row: out of the origin, caps crosswise, e alone."""
    rng = np.random.default_rng(seed)
    n = 9
    X = exact(rng.integers(-1, 2, (n, 2)))
    group, size = rng.integers(-1 if seed % 2 else 0, m, n) if m else np.full(n, -1), rng.integers(1, 9, n)
    group[:m] = np.arange(m)
    kappa = np.where(np.arange(n) < m, 1, rng.choice([-1, 1], n)) * size
    A = exact(np.where(group == np.arange(m)[:, None], kappa, 0)) / exact([3])
    r, part = exact(rng.integers(1, 4, n)), exact(rng.integers(0, 2, n))
    p = exact(rng.integers(1, 3, n))
    zero = exact([0] * n)
    basis = np.full(n, LEFT)
    for row in range(m):  # at the origin: of those with the smallest p per coefficient one holds the row
        members = [i for i in range(n) if group[i] == row and kappa[i] > 0]
        basis[min(members, key=lambda i: (p[i] / A[row, i], i))] = MARGIN
    problem = ParametricQP.box(X @ X.T, p, A, np.stack([zero, r]), np.stack([A @ zero, A @ r]))
    stop = (3 * r * part + r * (1 - part) / 4) / 2
    ends = [(r, stop, A @ r, A @ stop * Fraction(2, 3)), (stop, stop, A @ stop * Fraction(2, 3), A @ stop / 5)]
    walk = walk_from(problem, basis)
    pieces = len(whole(problem, walk).labels)
    for c0, c1, e0, e1 in ends:
        line = ParametricQP.box(X @ X.T, p, A, np.stack([c0, c1]), np.stack([e0, e1]))
        walk = Walk(Data.of(line), walk.labels)
        pieces += len(whole(line, walk).labels)
    assert pieces > 3


def test_no_order_of_the_samples_makes_it_cycle():
    """All samples in two places: whole classes are tied all along; 60 orders of them."""
    rng = np.random.default_rng(0)
    X, y = np.array([[0]] * 4 + [[1]] * 4), np.array([1, 1, 1, -1, 1, -1, -1, -1])
    for _ in range(60):
        order = rng.permutation(8)
        K, labels_ = integer_kernel(X[order]), y[order]
        found = rational_segments(K, labels_, exact([Fraction(1, 9)] * 8), exact(np.where(labels_ > 0, 4, 3)))
        assert found[-1].t1 == 1


def test_the_end_where_eta_adds_up_to_zero():
    """Reduced hulls, from the means to whole hulls; eta adds up to minus twice the margin."""
    y, A = np.array([-1.0, -1.0, 1.0, 1.0]), np.array([[0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0]])

    def hulls(X):
        quadratic, one = Signed(Matrix(np.multiply.outer(X, X)), y), np.ones(2)
        box = AnyBox(ParametricQP.box(quadratic, 0 * y, A, np.ones((2, 4)), 1.0), "textbook")
        log = box.along(Line(np.ones((1, 4)), np.array([0.5]), np.array([1.0]), one, one, True))
        t = float(log.t[1, -1])
        return t, box.weights(t), log.eta[-1, 1]

    t, a, _ = hulls(np.array([0.0, 1.0, 2.0, 5.0]))
    assert t == 1.0
    np.testing.assert_allclose(a, [0, 1, 1, 0], atol=1e-15)
    X = np.array([0.0, 3.0, 1.0, 4.0])  # with a share s of either inner point they meet where 3 s = s + 4 (1 - s)
    t, a, eta = hulls(X)
    assert (1 + t) / 2 == pytest.approx(2 / 3, abs=1e-15)
    assert a @ (y * X) == pytest.approx(0, abs=1e-14)
    assert sum(eta) == pytest.approx(0, abs=1e-14)


def test_the_page_prints_what_it_says(capsys):
    page = (Path(__file__).resolve().parents[2] / "docs" / "explanation" / "tracker.md").read_text(encoding="utf-8")
    code, printed = re.search(r"```python\n(.*?)```\n+```text\n(.*?)```", page, re.DOTALL).groups()
    exec(code, {})
    assert capsys.readouterr().out == printed


# ---- exchanges one by one ------------------------------------------------------------------------------------------


def twins(five, caps):
    """The first sample twice, and the third."""
    pick = [0, 0, 2]
    return ParametricQP.box(five.P[np.ix_(pick, pick)], exact([1] * 3), five.A[:, pick], exact([caps] * 2))


def exchanged(problem, sets, i):
    """Multipliers and gradient before and after item i, whose gradient is 0, has come to its margin; its labels."""
    walk = walk_from(problem, sets)
    (v, y), side = walk.solve(Fraction(0)), 1 if sets[i] == RIGHT else 0
    assert y[0, i] == 0
    assert walk.exchange(i, side, v, y) is None
    after, multipliers = walk.solve(Fraction(0))
    back = {LOWER: RIGHT, INSIDE: MARGIN, UPPER: LEFT}
    return v[0, :3], y[0], after[0, :3], multipliers[0], [back[k] for k in walk.labels[:3].tolist()]


@pytest.mark.parametrize(
    ("basis", "new"),
    [([MARGIN, RIGHT, MARGIN], [RIGHT, MARGIN, MARGIN]), ([MARGIN, LEFT, LEFT], [LEFT, MARGIN, LEFT])],
)
def test_exchange_2_moves_along_the_null_direction(five, basis, new):
    """The twin takes over what the other cannot lose, and neither g nor the objective changes."""
    problem = twins(five, [1, 1, 1])
    a, g, b, h, sets = exchanged(problem, basis, 1)
    assert sets == new
    assert (g == h).all()
    assert a @ problem.P @ a / 2 - sum(a) == b @ problem.P @ b / 2 - sum(b)


def test_exchange_2_may_run_through_to_the_other_bound(five):
    """The twin's cap is smaller than what the other has to lose."""
    a, _, b, _, sets = exchanged(twins(five, [9, "1/100", 9]), [MARGIN, RIGHT, MARGIN], 1)
    assert sets == [MARGIN, LEFT, MARGIN]
    assert b[0] == a[0] - Fraction(1, 100)


def test_exchange_4_takes_the_first_to_reach_its_margin(five):
    """Spec 12b: on the line of total 5/2, b jumps from 1/3 to -1/3 where both sides weigh the same."""
    total = Fraction(2, 3)
    start, stop = (exact(np.where(five.A[0] > 0, *ends)) for ends in ((total / 10, 9 * total / 10), (total, 0)))
    K = five.P * five.A[0][:, None] * five.A[0]
    found = [s for s in rational_segments(K, five.A[0], start, stop) if s.t0 < s.t1]
    jumps = {a.t1: (a.eta[1, 0], b.eta[0, 0]) for a, b in pairwise(found) if a.eta[1, 0] != b.eta[0, 0]}
    asymmetry = {Fraction(1, 10) + t * Fraction(9, 10): sorted(b) for t, b in jumps.items()}
    assert asymmetry[Fraction(2, 3)] == [Fraction(-1, 3), Fraction(1, 3)]


# ---- what is refused -----------------------------------------------------------------------------------------------


def test_a_basis_that_is_not_optimal_is_refused(five):
    caps, (P, A) = np.array([[3.0, 3, 2, 2, 2]] * 2), (each.astype(float) for each in (five.P, five.A))
    with pytest.raises(pc.DegeneratePathError, match=r"left its sets by .*, at t = 0\. Rescale"):
        walk_from(ParametricQP.box(P, np.ones(5), A, caps), FIVE).follow(LIMIT)


def test_an_indefinite_kernel_is_refused():
    line = exact([[0, 0], [9, 9]])
    problem = ParametricQP.box(exact([[-1, 0], [0, -1]]), exact([-1, -1]), exact([[1, -1]])[:0], line)
    walk = walk_from(problem, [RIGHT, RIGHT])
    v, y = walk.solve(Fraction(0))
    with pytest.raises(pc.DegeneratePathError, match="not positive semidefinite"):
        walk.exchange(0, 1, v, y)


def test_an_equation_that_nothing_can_meet_is_refused():
    """a_0 + a_1 = t with caps 1/4."""
    quarter = exact([[Fraction(1, 4)] * 2] * 2)
    problem = ParametricQP.box(exact([[1, 0], [0, 1]]), exact([0, 0]), exact([[1, 1]]), quarter, exact([[0], [1]]))
    found = walk_from(problem, [MARGIN, MARGIN]).follow(LIMIT)
    assert (found.status, found.t[-1]) == ("infeasible", Fraction(1, 2))
    quadratic, one = Signed(Matrix(np.eye(2)), np.ones(2)), np.ones((2, 2))
    box = AnyBox(ParametricQP.box(quadratic, np.zeros(2), one[:1], one), "textbook")
    still, ends = np.array([0.25]), (np.zeros(1), np.ones(1))
    with pytest.raises(pc.DegeneratePathError, match=r"balance the group, at t = 0\.5"):
        box.along(Line(np.ones((1, 2)), still, still, *ends))


# ---- the fast engine against fractions -----------------------------------------------------------------------------


def settled(K, y, group):
    """Of the samples that may be on their margin those whose multiplier is unique: no null vector moves it."""
    M = np.flatnonzero(group)
    T = exact(np.vstack([K[np.ix_(M, M)] * y[M], y[M][None]]))  # quotients of whole numbers would be rounded
    pivots, row = [], 0
    for column in range(M.size):
        found = next((i for i in range(row, T.shape[0]) if T[i, column] != 0), None)
        if found is None:
            continue
        T[[row, found]] = T[[found, row]]
        T[row] = T[row] / T[row, column]
        for i in range(T.shape[0]):
            if i != row:
                T[i] = T[i] - T[i, column] * T[row]
        pivots.append(column)
        row += 1
    rest = [j for j in range(M.size) if j not in pivots]
    unique = np.zeros(y.size, dtype=bool)
    unique[M[[j for k, j in enumerate(pivots) if (T[k, rest] == 0).all()]]] = True
    return unique


def differences(path, here):
    """Where a path is not the exact one, rounded: breakpoints, and on every piece sets and multipliers.

    Samples off their margin for every optimal b are on the side they belong to; those strictly between their bounds are
    in the margin set, where their multiplier is unique. A path may have breakpoints more: where a line was reached, on
    the way to a vanishing cost, and where others of several optimal multipliers were chosen.
    """
    judge = here.judged(textbook)
    t = np.asarray(path.breakpoints)
    out = [f"no breakpoint at {s}" for s in judge.bends if not (abs(t - float(s)) <= NEAR * float(s)).any()]
    ends = sorted({*(Fraction(s) for s in t), *judge.ends})
    for lo, hi in pairwise(ends):
        if hi - lo <= NEAR:  # the same one, rounded
            continue
        u = (lo + hi) / 2
        a, c = judge.alpha(u), judge.c0 + u * judge.c1
        scores, bounds = judge.scores_of(a), judge.intercepts(u)
        if not np.isfinite([float(b) for b in bounds]).all():
            continue
        g = np.array([[y * (f + b) - 1 for b in bounds] for y, f in zip(judge.y, scores, strict=True)])
        label, given = path.sets(float(u)), path.alpha(float(u))
        left, right = (g < 0).all(axis=1), (g > 0).all(axis=1)
        unique = settled(judge.K, judge.y, ~left & ~right)
        free = unique & np.array((a > 0) & (a < c), dtype=bool) & (bounds[0] == bounds[1])
        costs = np.array(c > 0, dtype=bool)
        wrong = costs & ((left & (label != LEFT)) | (right & (label != RIGHT)) | (free & (label != MARGIN)))
        out += [f"{float(u)}: sample {i} in {label[i]}" for i in np.flatnonzero(wrong)]
        off = abs(given - a.astype(float)) > NEAR * float(max(c))
        out += [f"{float(u)}: alpha of {i}" for i in np.flatnonzero(off & (unique | left | right))]
    return out


@pytest.mark.parametrize(("case", "kernel", "seed"), mostly_slow(product(CASES, KERNELS, [10, 11]), 8))
def test_the_fast_engine_gives_the_exact_path_rounded(case, kernel, seed):
    y = CASES[case](np.random.default_rng(seed))[1]
    for line in lines(y):
        here = instance(case, seed, kernel, line)
        assert differences(here.path(), here) == [], line


@pytest.mark.parametrize("seed", range(10))
def test_without_ties_the_two_have_the_same_bases(seed):
    """A kernel matrix of full rank, its floats taken exactly: the same breakpoints, and the same labels between."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(9, 2)), labels(rng, 9, 4)
    K = pc.RBF(1.0)(X, X)
    line = ((0.0, 0.0), (12.5, 10.0)) if seed % 2 else ((0.25, 3.75), (3.75, 0.25))
    start, stop = (exact(np.where(y > 0, *end)) for end in line)
    found = rational_segments(exact(K), y, start, stop)
    path = pc.trace(pc.TwoCSVM(K, y, "precomputed"), *line)
    t = np.array([float(s.t1) for s in found])
    caps = [start + u * (stop - start) for s in found for u in (s.t0, s.t1)]
    free = np.array([((s.a > 0) & (s.a < np.stack(caps[2 * k : 2 * k + 2]))).any() for k, s in enumerate(found)])
    assert free.sum() > 4
    near = abs(t[:, None] - path.breakpoints).min(axis=1) <= NEAR * t
    near |= [
        k + 1 < t.size and (s.basis == found[k + 1].basis).all() for k, s in enumerate(found)
    ]  # two stretches meet
    assert near[free].all()  # else b is one of an interval, and there are several bases
    extra = [u for u in path.breakpoints[1:] if abs(t - u).min() > NEAR * u and free[np.searchsorted(t, u)]]
    assert extra == []
    for s in np.array(found, dtype=object)[free]:
        np.testing.assert_array_equal(path.sets(float((s.t0 + s.t1) / 2)), s.basis)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("groups", ["none", "one", "two"])
def test_box_qps_of_the_fast_engine(groups, seed):
    """Out of the origin, on integer samples with ties: values are those of the exact solution."""
    rng = np.random.default_rng(seed)
    n = 10
    sign = np.where(np.arange(n) < 4, 1.0, -1.0)
    X = rng.integers(-2, 3, (n, 2)).astype(float)
    group = {"none": np.full(n, -1), "one": np.zeros(n, dtype=int), "two": (sign < 0).astype(int)}[groups]
    kappa = sign if groups == "one" else np.ones(n)
    p, r = Sampled(X, sign, np.ones(n), kappa, group), np.ones(n)
    r[sign > 0] = 1.5 if groups == "one" else 1.0
    state, margin = ray(p, r)
    e = 4.0 * p.A @ r
    fast = fast_trace(p.tracker("gram"), p, line_of(np.stack([r, 0 * r]), (0, 0), (4, 0), 0 * e, e), (state, margin))
    zero = exact([0] * n)
    problem = ParametricQP.box(
        exact(p.Q), exact(p.p), exact(p.A), np.stack([zero, exact(4 * r)]), np.stack([exact(0 * e), exact(e)])
    )
    state = state.copy()
    state[margin] = MARGIN
    found = whole(problem, walk_from(problem, state))
    for t, v in zip(zip(found.t[:-1], found.t[1:], strict=True), found.v, strict=True):
        a = (v[0, :n] + v[1, :n]) / 2
        want = float(-problem.q[0] @ a - a @ problem.P @ a / 2)
        np.testing.assert_allclose(
            fast.solution(float(sum(t) / 2))[2], want, rtol=1e-13, atol=1e-15 * p.terms(a.astype(float))
        )


# ---- in floats, as an engine ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("case", "kernel"), mostly_slow(product(CASES, KERNELS), 5))
def test_in_floats_it_is_right_on_degenerate_data_too(case, kernel):
    y = CASES[case](np.random.default_rng(2))[1]
    for line in lines(y):
        here = instance(case, 2, kernel, line)
        assert objections(here.path(engine="textbook"), here.judged(textbook)) == [], line


def paths(X, y):
    """A path of every kind."""
    costs = np.random.default_rng(1).random((2, y.size))
    apart = X + 3.0 * y[:, None]
    return {
        "ray": (pc.TwoCSVM(X, y), {"start": (0, 0), "stop": (3.6, 2.4)}),
        "asymmetry": (pc.TwoCSVM(X, y, pc.RBF(1.5)), {"start": (0.1, 1.9), "stop": (1.9, 0.1)}),
        "weights, axis to axis": (
            pc.TwoCSVM(X, y, sample_weight=1 + costs[0]), {"start": (2, 0), "stop": (0, 2)},
        ),
        "into the origin": (pc.TwoCSVM(X, y), {"start": (2, 1), "stop": (0, 0)}),
        "per sample": (
            pc.TwoCSVM(X, y), {"start": pc.SampleCosts(costs[0]), "stop": pc.SampleCosts(costs[1])},
        ),
        "quantile": (pc.QuantileSVM(X, y, pc.RBF(1.0)), {"tau": (0, 1), "lam": 0.1}),
        "quantile, bias": (pc.QuantileSVM(X, y, bias=True), {"tau": (0.2, 0.8), "lam": 0.1}),
        "nu to the meeting": (pc.TwoNuSVM(X, y), {"nu": (0, None), "asymmetry": 0.5}),
        "nu to zero": (pc.TwoNuSVM(X, y, pc.RBF(1.0)), {"nu": (0, None), "asymmetry": 0.3}),
        "hulls": (pc.TwoNuSVM(X, y, pc.RBF(1.0)), {"start": (1, 1), "stop": (0.5, 0.4)}),
        "hard margins": (pc.BiobjectiveMargin(apart, y, soft=False), {"theta": (0.25, 4)}),
        "soft margins": (pc.BiobjectiveMargin(X, y), {"theta": (0.25, 4), "C_plus": 1.0, "C_minus": 2.0}),
    }  # fmt: skip


@pytest.mark.parametrize("kind", paths(np.zeros((2, 1)), np.array([1.0, -1.0])))
def test_every_kind_of_path(kind, gaussians):
    svm, how = paths(*gaussians(n=40, d=3, seed=3))[kind]
    fast, slow = pc.trace(svm, **how), pc.trace(svm, engine="textbook", **how)
    assert type(fast) is type(slow)
    assert slow.worst_certificate.passes(1e-9)
    lo, hi = (f(fast.breakpoints[k], slow.breakpoints[k]) for f, k in ((max, 0), (min, -1)))
    np.testing.assert_allclose((lo, hi), fast.breakpoints[[0, -1]], atol=1e-12)
    for t in np.clip(np.linspace(lo, hi, 9), lo, hi):
        assert slow.value(t) == pytest.approx(fast.value(t), rel=1e-9, abs=1e-13)
        assert slow.intercept(t) == pytest.approx(fast.intercept(t), abs=1e-10)


@pytest.mark.parametrize(("scale", "seed"), [*product((1e-3, 1e-4), range(6))])
def test_margin_sets_that_nearly_depend_on_each_other(scale, seed):
    """Three samples almost on a line: rates of 1e4 make an event's last digits a multiplier's first."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(40) < 15, 1.0, -1.0)
    X = rng.normal(size=(40, 2)) * [1.0, scale]
    X[:, 0] += 0.5 * y
    svm = pc.TwoCSVM(X @ [[0.8, 0.6], [-0.6, 0.8]], y)
    fast, slow = (pc.trace(svm, (0.005, 0.995), (0.995, 0.005), engine=name) for name in ("fast", "textbook"))
    assert slow.worst_certificate.passes(1e-8)
    for t in np.linspace(0, 1, 41):
        assert slow.value(t) == pytest.approx(fast.value(t), rel=1e-9)


def test_a_hub_and_a_map_of_the_fast_engine_serve_the_textbook(gaussians):
    X, y = gaussians(n=30)
    svm = pc.TwoCSVM(X, y)
    ray_path = pc.trace(svm, (0, 0), (3, 2))
    how = {"start": (0.2, 1.8), "stop": (1.8, 0.2)}
    alone, from_hub = pc.trace(svm, engine="textbook", **how), pc.trace(svm, hub=ray_path, engine="textbook", **how)
    for t in (0.1, 0.3, 0.7, 1.0):
        np.testing.assert_allclose(alone.alpha(t), from_hub.alpha(t), atol=1e-12)
    # At its start all positives are at their caps, and other multipliers make the same w.
    np.testing.assert_allclose(alone.slope(0.0), from_hub.slope(0.0), atol=1e-12)


def test_its_paths_are_saved_and_read_like_any_other(gaussians, tmp_path):
    path = pc.trace(pc.TwoCSVM(*gaussians(n=20)), (0, 0), (1, 1), engine="textbook")
    path.save(tmp_path / "path.npz")
    again = pc.load(tmp_path / "path.npz")
    np.testing.assert_array_equal(again.breakpoints, path.breakpoints)
    assert again.worst_certificate.passes(1e-10)


def test_limits_and_names(gaussians):
    svm = pc.TwoCSVM(*gaussians(n=20))
    with pytest.raises(pc.DegeneratePathError, match="more than 3 exchanges"):
        pc.trace(svm, (0, 0), (3, 2), engine="textbook", max_events=3)
    with pytest.raises(pc.InputError, match="engine must be one of 'fast', 'careful', 'textbook', got 'slow'"):
        pc.trace(svm, (0, 0), (3, 2), engine="slow")


def test_an_indefinite_kernel_is_refused_in_floats():
    K = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    with pytest.raises((pc.DegeneratePathError, pc.InputError)):
        pc.trace(pc.TwoCSVM(K, [1, 1, -1], "precomputed"), (0, 0), (40, 80), engine="textbook")
