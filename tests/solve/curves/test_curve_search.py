"""Curves of small problems: proved, against Clarabel's interval at random t, closed forms and fractions."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise, product

import cvxpy as cp
import numpy as np
import pytest

from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.proof.curves.curve_proof import prove_curve
from paretoclf.solve.curves.curve_search import CurveSearch
from paretoclf.solve.sources.cone_problem_line import LineOfCurves, curve_line
from tests.oracles.curve_lines import LINES
from tests.oracles.curve_programs import solved


@cache
def found(name):
    source = LineOfCurves(*LINES[name]())
    search = CurveSearch(source.line)
    curve = search.run(progress=False)
    return source.line, search, curve, prove_curve(search.judge, curve.pieces)


def bounds_at(proof, t):
    number = max(k for k, piece in enumerate(proof.pieces) if piece.start <= t)
    piece = proof.pieces[number]
    return proof.bounds[number].at((t - piece.start) / (piece.stop - piece.start))


@pytest.mark.parametrize("name", LINES)
def test_bounds_hold_a_solvers_interval_at_random_t(name):
    _, search, curve, proof = found(name)
    assert proof.passes(1e-7)
    assert all(curve.smooth)
    for t in np.random.default_rng(0).random(12).tolist():
        low, high = bounds_at(proof, t)
        *_, (least, most), fine = solved(search.judge.program, t)
        assert fine
        scale = max(abs(low), abs(high), 1.0)
        assert low <= most + 1e-10 * scale  # a solver's point is feasible to 1e-11, and multipliers are larger than 1
        assert least <= high + 1e-10 * scale
        assert high - low <= 2e-7 * scale


@pytest.mark.parametrize("name", LINES)
def test_few_solves_are_needed(name):
    *_, curve, _ = found(name)
    assert curve.solves <= 2 * len(curve.events) + 8


def exact_elastic_net(X, y, price, mu):
    """Signs and coefficients of an elastic net, by enumeration in fractions."""
    d = X.shape[1]
    gram, c = X.T @ X, X.T @ y
    for signs in product((-1, 0, 1), repeat=d):
        on = [j for j in range(d) if signs[j]]
        rows = [[Fraction(int(gram[i, j])) + (mu if i == j else 0) for j in on] for i in on]
        right = [Fraction(int(c[i])) - price * signs[i] for i in on]
        for i in range(len(on)):
            for k in range(len(on)):
                if k != i:
                    share = rows[k][i] / rows[i][i]
                    rows[k] = [p - share * q for p, q in zip(rows[k], rows[i], strict=True)]
                    right[k] -= share * right[i]
        w = {on[i]: right[i] / rows[i][i] for i in range(len(on))}
        off = [abs(int(c[i]) - sum(int(gram[i, j]) * w[j] for j in on)) for i in range(d) if i not in on]
        if all(w[j] * signs[j] > 0 for j in on) and all(each <= price for each in off):
            return signs, [float(w.get(j, 0)) for j in range(d)]
    raise AssertionError("no signs are optimal")


@pytest.mark.parametrize("seed", range(3))
def test_breakpoints_of_an_elastic_net_along_its_ridge_in_fractions(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(12, 4)) + 2 * rng.integers(-2, 3, size=(12, 1))
    y = X[:, :3] @ [2, -1, 1] + rng.integers(-3, 4, size=12)
    w, mu = cp.Variable(4, name="w"), cp.Parameter(nonneg=True, name="mu")
    objective = cp.sum_squares(X @ w - y) / 2 + 18 * cp.norm1(w) + mu / 2 * cp.sum_squares(w)
    line = LineOfCurves(cp.Problem(cp.Minimize(objective)), {mu: 0.0}, {mu: 200.0}).line
    search = CurveSearch(line)
    curve = search.run(progress=False)
    assert prove_curve(search.judge, curve.pieces).passes(1e-8)
    where = sorted({event.t for event in curve.events})
    for t in where:
        before, behind = (exact_elastic_net(X, y, 18, 200 * Fraction(t + step))[0] for step in (-1e-9, 1e-9))
        assert before != behind
    ends = [0.0, *where, 1.0]
    signs = [exact_elastic_net(X, y, 18, 200 * Fraction(0.5 * (a + b)))[0] for a, b in pairwise(ends)]
    assert all(one != other for one, other in pairwise(signs))
    for piece in curve.pieces:
        t = 0.5 * (piece.start + piece.stop)
        x = np.array([1, 8, 28, 56, 70, 56, 28, 8, 1]) / 256 @ piece.x
        np.testing.assert_allclose(line.values(x, t)["w"], exact_elastic_net(X, y, 18, 200 * Fraction(t))[1], atol=1e-9)


class WithoutBranches(CurveSearch):
    """Finds no smooth branch before t = 0.2."""

    def _branch(self, t, length):
        return None if t < 0.2 else super()._branch(t, length)


@pytest.mark.parametrize("name", ["two_norms", "robust_svm", "moving_equation"])
def test_a_stretch_without_a_smooth_branch_is_chords(name):
    search = WithoutBranches(LineOfCurves(*LINES[name]()).line)
    curve = search.run(progress=False)
    proof = prove_curve(search.judge, curve.pieces)
    chords = [piece for piece, smooth in zip(curve.pieces, curve.smooth, strict=True) if not smooth]
    assert chords[0].start == 0.0
    assert 0.2 <= max(piece.stop for piece in chords) < 0.9
    assert proof.passes(1e-3)
    for t in np.random.default_rng(1).random(8).tolist():
        low, high = bounds_at(proof, t)
        *_, (least, most), _ = solved(search.judge.program, t)
        scale = max(abs(low), abs(high), 1.0)
        assert low <= most + 1e-10 * scale
        assert least <= high + 1e-10 * scale


def test_optima_that_are_not_unique_have_a_smooth_curve():
    """Two copies of a variable, between which the objective does not choose: Newton's matrix is singular at every t."""
    x, lam = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="lam")
    problem = cp.Problem(cp.Minimize(cp.square(cp.sum(x) - 1) + lam * cp.sum(x)), [x >= 0, x <= 2])
    line = LineOfCurves(problem, {lam: 0.1}, {lam: 0.5}).line
    search = CurveSearch(line)
    curve = search.run(progress=False)
    proof = prove_curve(search.judge, curve.pieces)
    assert all(curve.smooth)
    assert proof.passes(1e-9)
    for t in (0.0, 0.37, 1.0):
        low, high = bounds_at(proof, t)
        price = 0.1 + 0.4 * t
        assert low - 1e-12 <= price - price**2 / 4 <= high + 1e-12


def test_a_line_that_begins_where_a_term_vanishes_is_refused_and_a_later_one_is_not():
    problem, start, stop = LINES["robust_svm"]()
    (radius,) = start
    with pytest.raises(DegeneratePathError, match=r"no multipliers are well inside.*begin the line a little later"):
        CurveSearch(LineOfCurves(problem, {radius: 0.0}, stop).line).run(progress=False)
    search = CurveSearch(LineOfCurves(problem, {radius: 0.01}, stop).line)
    assert prove_curve(search.judge, search.run(progress=False).pieces).passes(1e-6)


def test_lines_without_an_optimum_somewhere_are_refused():
    x, t = cp.Variable(name="x"), cp.Parameter(name="t")
    problem = cp.Problem(cp.Minimize(cp.exp(x)), [x >= 1, x <= t])
    with pytest.raises(InputError, match=r"at t = 0 the solver says 'PrimalInfeasible'.*eps"):
        CurveSearch(LineOfCurves(problem, {t: 0.0}, {t: 2.0}).line)


def test_problems_that_bend_are_refused():
    x, t = cp.Variable(2, name="x"), cp.Parameter((2, 2), name="t")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(t @ x - 1)))
    line = curve_line(problem, {t: np.eye(2)}, {t: 2 * np.eye(2)})  # rows of an equation move
    assert line.A_stop is not None


def test_solutions_with_a_wrong_sign_are_not_believed():
    """At an event Newton's method finds points with a negative multiplier: a chord from one was off by 17 per cent."""
    rng = np.random.default_rng(0)
    first, step, inner = rng.normal(size=(16, 8)), rng.normal(size=(16, 8)), rng.normal(size=8)
    sides = np.maximum(first @ inner, (first + step) @ inner) + rng.uniform(0.3, 1, 16)
    x, t = cp.Variable(8, name="x"), cp.Parameter(nonneg=True, name="t")
    rows = [first @ x + t * (step @ x) <= sides, x <= 3, x >= -3]
    line = LineOfCurves(cp.Problem(cp.Minimize(rng.normal(size=8) @ x), rows), {t: 0.0}, {t: 1.0}).line
    search = CurveSearch(line)
    curve = search.run(progress=False)
    assert prove_curve(search.judge, curve.pieces).passes(1e-5)
    for event in curve.events:
        assert search._solution(event.t).z[line.equations :].min() > -1e-7


def test_columns_that_nothing_determines_are_no_reason_for_chords():
    """CVXPY adds a column for each |w| <= 9, anywhere between both: Newton's matrix is singular."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 6))
    y = X[:, :3] @ [3, -2, 1] + rng.normal(size=20)
    w, lam = cp.Variable(6, name="w"), cp.Parameter(nonneg=True, name="lam")
    problem = cp.Problem(cp.Minimize(cp.norm2(X @ w - y) + lam * cp.norm1(w)), [cp.abs(w) <= 9])
    search = CurveSearch(LineOfCurves(problem, {lam: 3.0}, {lam: 0.2}).line)
    curve = search.run(progress=False)
    assert all(curve.smooth)
    assert prove_curve(search.judge, curve.pieces).passes(1e-8)


def test_behind_a_place_where_the_value_is_0_bounds_are_as_close_as_before():
    rng = np.random.default_rng(0)
    root, gain = rng.normal(size=(12, 10)), rng.normal(size=10) * 0.3
    x, price = cp.Variable(10, name="x"), cp.Parameter(nonneg=True, name="price")
    risk = price * cp.sum_squares(root @ x) - gain @ x
    line = curve_line(cp.Problem(cp.Minimize(risk), [cp.sum(x) == 1, x >= 0]), {price: 0.05}, {price: 5.0})
    proof = CurveSearch(line).run(progress=False).proof()
    lower, upper = (
        np.array([getattr(each, name).value.mean() for each in proof.bounds]) for name in ("lower", "upper")
    )
    assert lower[0] < 0 < upper[-1]
    assert proof.eps < 2e-8  # where it is 0
    assert np.median(proof.gap) < 1e-9
    assert proof.gap[-5:].max() < 3e-9
