"""Proofs of any parametric program, item by item: against objectives in fractions, and against special cases."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.engine.general import follow
from paretoclf.engine.in_fractions import as_fractions, in_doubles
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.problem.piecewise import Piecewise
from paretoclf.problem.trace import Trace
from paretoclf.proof import prove
from tests.oracles.random_programs import fractions, program

TOL = Fraction(1, 10**6)
SHARES = [Fraction(k, 4) for k in range(5)]
INF = float("inf")


def programs(seeds):
    """Problems in fractions with their exact paths, of those with a segment."""
    for seed in seeds:
        raw = program(seed)
        if raw is not None:
            problem = ParametricQP(*map(fractions, raw), constant=fractions([seed % 3, 1]))
            found = follow(problem, progress=False)
            if found.t[-1] > 0:
                yield seed, problem, found


def in_floats(problem):
    return ParametricQP(*(np.asarray(getattr(problem, name), dtype=float) for name in
                          ("P", "A", "q", "lower", "upper", "below", "above", "constant")))  # fmt: skip


def between(first, last, share):
    """What is affine, at a share; infinite where it is."""
    return [a if abs(a) == INF else (1 - share) * a + share * b for a, b in zip(first, last, strict=True)]


def objective(problem, data, v):
    """That of values v, without what hard bounds forbid; and its terms."""
    q, lower, upper, below, above, constant = data
    x = v[: problem.n]
    terms = [Fraction(1, 2) * (x @ problem.P @ x), *(a * b for a, b in zip(q, x, strict=True))]
    for vi, low, up, least, most in zip(v, lower, upper, below, above, strict=True):
        terms.append(least * max(low - vi, 0) if least < INF and low > -INF else 0)
        terms.append(most * max(vi - up, 0) if most < INF and up < INF else 0)
    return sum(terms) + constant, sum(abs(each) for each in terms)


def errors_at(problem, data, v, y, best):
    """In fractions: what a pair misses at a point, and the sizes that it is small against.

    Pairs of an error and its terms: bounds and rows, stationarity, distances from bounds that have a multiplier,
    multipliers beyond their prices; then how far the value is above the best one, and above the dual one.
    """
    q, lower, upper, below, above, constant = data
    n, (P, A) = problem.n, (problem.P, problem.A)
    x, rows = v[:n], A.dot(v[:n])
    found = [(abs(a - b), abs(b) + abs(row) @ abs(x)) for a, b, row in zip(v[n:], rows, A, strict=True)]
    v, coefficients = np.append(x, rows), [*np.eye(n, dtype=int), *A]
    for vi, low, up, least, most, row in zip(v, lower, upper, below, above, coefficients, strict=True):
        size = abs(row) @ abs(x)
        if low > -INF and least == INF:
            found.append((max(low - vi, 0), size + abs(low)))
        if up < INF and most == INF:
            found.append((max(vi - up, 0), size + abs(up)))
    miss = P.dot(x) + q - y[:n] - A.T.dot(y[n:])
    sizes = abs(P.dot(x)) + abs(np.array(q)) + abs(y[:n]) + abs(A.T).dot(abs(y[n:]))
    found += list(zip(abs(miss), sizes, strict=True))
    apart = []
    for vi, yi, low, up, least, most, row in zip(v, y, lower, upper, below, above, coefficients, strict=True):
        for off, bound, multiplier, price in ((vi - low, low, yi, least), (up - vi, up, -yi, most)):
            if (multiplier > 0 and abs(off) < INF) or (off < 0 and multiplier < price < INF):
                apart.append((abs(off), abs(row) @ abs(x) + abs(bound)))  # a multiplier without its bound
    dual = -Fraction(1, 2) * (x @ P @ x) + constant
    for yi, low, up, least, most, row in zip(y, lower, upper, below, above, coefficients, strict=True):
        bound, price = (low, least) if yi >= 0 else (up, most)
        allowed = 0 if abs(bound) == INF else min(abs(yi), price)
        found.append(((abs(yi) - allowed) * max(abs(row)), abs(yi) * max(abs(row))))  # what it adds to a gradient
        if not any(row):  # nor is a multiplier right that no gradient shows
            apart.append((abs(yi) - allowed, abs(yi)))
        dual += 0 if abs(bound) == INF else (allowed if yi >= 0 else -allowed) * bound
    value, terms = objective(problem, data, v)
    return found, apart, value - best, value - dual, (abs(best), abs(value) + terms)


def judged(problem, exact, stored, j):
    """Of segment j of what is stored, a bound of it on each segment of the exact path: all errors in fractions."""
    t, v, y = (as_fractions(each) for each in (stored.t[j : j + 2], stored.v[j], stored.y[j]))
    for share in SHARES:
        at = (1 - share) * t[0] + share * t[1]
        data = [between(*ends, at) for ends in (problem.q, problem.lower, problem.upper, problem.below, problem.above)]
        data.append((1 - at) * problem.constant[0] + at * problem.constant[1])
        k = min(
            max(int(np.searchsorted(np.array(exact.t, dtype=object), at, side="right")) - 1, 0), len(exact.labels) - 1
        )
        begin, end = exact.t[k : k + 2]
        own = (at - begin) / (end - begin)
        best = objective(problem, data, (1 - own) * exact.v[k, 0] + own * exact.v[k, 1])[0]
        yield errors_at(problem, data, *((1 - share) * each[0] + share * each[1] for each in (v, y)), best)


def wrong(problem, stored, rng):
    """What is stored, with errors of a random size on a random segment, and which that is.

    Errors are in values, in multipliers, in both, in step at both ends, in all in proportion, or in values and in
    multipliers of rows, with those of columns that belong to them; or a segment goes from one knot to the next but one.
    """
    size, n, kind, end = 10.0 ** rng.uniform(-11, -1), problem.n, int(rng.integers(8)), int(rng.integers(2))
    t, labels, v, y = stored.t, stored.labels, stored.v.copy(), stored.y.copy()
    j, some = int(rng.integers(len(labels))), rng.random(v.shape[2]) < 0.5
    if kind in (0, 2, 5):
        v[j, end] += size * some * rng.normal(size=some.size)
    if kind in (1, 2, 7):
        y[j, end] += size * some * rng.normal(size=some.size)
    if kind == 3:
        v[j] += size * some * rng.normal(size=some.size)
    if kind == 4:
        v[j], y[j] = (1.0 + size) * v[j], (1.0 - size) * y[j]
    if kind == 6 and len(labels) > 1:
        j = min(j, len(labels) - 2)
        ends = np.array([[v[j, 0], v[j + 1, 1]], [y[j, 0], y[j + 1, 1]]])
        t, labels, v, y = np.delete(t, j + 1), *(np.delete(each, j, axis=0) for each in (labels, v, y))
        v[j], y[j] = ends
    if kind > 2:
        v[..., n:] = v[..., :n] @ problem.A.T
    if kind in (5, 7):
        here = t[[j, j + 1], None]
        y[j, :, :n] = (
            v[j, :, :n] @ problem.P + (1 - here) * problem.q[0] + here * problem.q[1] - y[j, :, n:] @ problem.A
        )
    return Trace(Piecewise.of(problem, t, v[..., :n], y, labels), stored.status), j


@pytest.mark.parametrize("block", range(4))
def test_what_is_wrong_in_fractions_is_never_proved_and_what_is_right_never_refused(block):
    seen = Counter()
    for seed, problem, exact in programs(range(30 * block, 30 * block + 30)):
        plain = in_floats(problem)
        right, rng = in_doubles(exact, plain), np.random.default_rng(seed)
        assert prove(plain, right.path).holds(1e-10), seed  # where all terms vanish, rounding of the least unit
        for _ in range(9):
            stored, j = wrong(plain, right, rng)
            found, proof = list(judged(problem, exact, stored, j)), prove(plain, stored.path)
            must, small = ([pair for each in found for pair in each[part]] for part in (0, 1))
            largest = max(size for _, size in must)
            above, gap = (max(abs(each[part]) for each in found) for part in (2, 3))
            least, most = (max(each[4][part] for each in found) for part in (0, 1))
            proved = j not in proof.failures(float(TOL))
            if proved:
                assert all(error <= 10 * TOL * (size + largest) for error, size in must), seed
                assert max(above, gap) <= 10 * TOL * (most + Fraction(1, 10**8)), seed
            else:
                assert gap > TOL / 10 * least or any(error > TOL / 10 * size for error, size in must + small), seed
            if all(error <= size / 10**14 for error, size in must):  # then G is the difference of two objectives
                seen["feasible"] += gap > 1e-6
                room = 1e-13 * float(most) + 1e-300
                rows = np.array([not any(row) for row in problem.A], dtype=bool)
                idle = stored.y[j][:, problem.n :][:, rows].any()  # a price that no gradient shows: the gap has it
                bound = [
                    (1 - s) ** 2 * a + 2 * s * (1 - s) * b + s**2 * c for s in SHARES for a, b, c in [proof.gaps[j]]
                ]
                for share, at, each in zip(SHARES, bound, found, strict=True):
                    assert float(each[3]) <= float(at) + room, seed
                    if share in (0, 1) and not idle:
                        assert float(at) <= float(each[3]) + room, seed
                assert proof.sizes[j].max() <= 1.000001 * float(most) + 1e-4 * float(largest) ** 2, seed
            seen[proved] += 1
    assert min(seen[True], seen[False]) > 40
    assert seen["feasible"] > 2


def as_piecewise(path):
    """What a path of samples stores, as a path of its problem."""
    problem, P = path.problem.dense(), path.pieces
    (low, high), n, k = path.t[[0, -1]], problem.n, P.t.size - 1
    t, unit = (P.t - low) / (high - low), path.lam if hasattr(path, "lam") else 1.0
    v, y = np.zeros((k, 2, n)), np.zeros((k, 2, problem.items))
    for j in range(k):
        for end, ends in enumerate(((P.b0, P.rho0), (P.b1, P.rho1))):
            b, rho = (each[j] if each.size else 0.0 for each in ends)
            # Within the caps, as `path.at` has it: rounding is outside by 1e-14 of the largest.
            caps = (1 - t[j + end]) * problem.upper[0, :n] + t[j + end] * problem.upper[1, :n]
            x = np.clip(path._stored(float(P.t[j + end]), j) / unit, 0.0, caps)
            q = (1 - t[j + end]) * problem.q[0] + t[j + end] * problem.q[1]
            v[j, end] = x
            y[j, end, n:] = {0: [], 1: [-b], 2: [rho - b, rho + b]}[problem.items - n]
            y[j, end, :n] = problem.P @ x + q - y[j, end, n:] @ problem.A
    return Piecewise.of(problem, t, v, y), unit


KINDS = {
    "costs": lambda X, y: pc.trace(pc.TwoCSVM(X, y, pc.RBF(1.5)), (0.2, 0.9), (0.9, 0.2)),
    "tau": lambda X, y: pc.trace(pc.QuantileSVM(X, y, pc.RBF(1.5)), tau=(0.2, 0.8), lam=0.1),
    "nu": lambda X, y: pc.trace(pc.TwoNuSVM(X, y, pc.RBF(1.5)), nu=(0.1, 0.3), asymmetry=0.5),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_proofs_of_paths_are_special_cases(kind):
    rng = np.random.default_rng(7)
    y = np.where(np.arange(30) < 12, 1.0, -1.0)
    path = KINDS[kind](rng.normal(size=(30, 2)) + 0.6 * y[:, None], y)
    P, rng = path.pieces, np.random.default_rng(1)
    names = ("a0", "a1") if kind == "tau" else ("b0", "b1")  # without an equation multipliers may be wrong, too
    for size in (0.0, 1e-9, 1e-5, 1e-2):
        wrong = {name: getattr(P, name) * (1.0 - size * rng.random(getattr(P, name).size)) for name in names}
        other = replace(path, pieces=replace(P, **wrong))
        stored, unit = as_piecewise(other)
        plain, own = prove(path.problem, stored), other._proved()
        np.testing.assert_allclose(unit * plain.gaps, own.gaps, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(-unit * plain.duals, own.duals + own.gaps, atol=1e-9)  # what is minimised there
        if size in (
            0.0,
            1e-2,
        ):  # in between it counts what a gap is relative to: the value at t, or that of the segment
            assert plain.holds() == own.holds() == (size == 0.0)


def of_one_variable(curvature, number):
    """A box from -1 to 1, and one segment on which all items have one value and multiplier."""
    box, found = np.ones((2, 1)), np.full((1, 2, 1), number)
    problem = ParametricQP.hard(curvature * np.eye(1), np.zeros((0, 1)), 0.0 * box, -box, box)
    return problem, Piecewise.of(problem, np.array([0.0, 1.0]), found, found)


def test_lower_bounds_of_values_are_parabolas_where_prices_move():
    """``min x**2 / 2 - 10 x + c max(x, 0)`` with c from 1 to 3: x = 10 - c, and the value is -32 at c = 2."""
    one, none = np.ones((2, 1)), np.full((2, 1), np.inf)
    prices = np.array([[1.0], [3.0]])
    problem = ParametricQP(np.eye(1), np.zeros((0, 1)), -10.0 * one, -none, 0.0 * one, none, prices)
    found = np.array([[[9.0], [7.0]]]), np.array([[[-1.0], [-3.0]]])
    proof = prove(problem, Piecewise.of(problem, np.array([0.0, 1.0]), *found))
    assert proof.passes(1e-15)
    np.testing.assert_array_equal(proof.duals @ [[1, 0.25, 0], [0, 0.5, 0], [0, 0.25, 1]], [[-40.5, -32.0, -24.5]])


@pytest.mark.parametrize("size", [1.0, 1e6])
def test_a_problem_without_convexity_is_not_proved(size):
    proof = prove(*of_one_variable(-size, 0.0))
    assert proof.gap.max() == 0.0
    assert proof.residuals["curvature"][0] == 1.0
    assert "curvature" in proof.explain()
    assert not proof.passes()
    assert prove(*of_one_variable(1.0, 0.0)).passes()


@pytest.mark.parametrize("sparse", [True, False])
def test_traces_of_engines_are_proved_in_words_of_items(sparse, monkeypatch):
    rng = np.random.default_rng(0)
    A, box = rng.normal(size=(10, 30)) * (rng.random((10, 30)) < 0.2), np.ones((2, 40))
    P, q = np.diag(rng.random(30) + 0.1), rng.normal(size=(2, 30))
    problem = ParametricQP.hard(
        *((sp.csc_array(each) for each in (P, A)) if sparse else (P, A)), q, -0.5 * box, 0.5 * box
    )
    found = follow(problem, progress=False).path
    proof = prove(problem, found, "u")
    assert proof.passes()
    assert "at every u in [0, 1]" in proof.explain()
    x, y = found.spread()
    x[3, 0, 0] += 1e-3
    wrong = Piecewise.of(problem, found.t, x, y)
    assert prove(problem, wrong).failures().tolist() == [3]
    assert "sample" not in prove(problem, wrong).explain()
    monkeypatch.setattr("paretoclf.engine.reduction.products._CACHED", 100)  # many parts
    monkeypatch.setattr("paretoclf.proof.programs.item_lines._TOGETHER", 3)
    for name in ("gaps", "sizes", "duals"):
        np.testing.assert_allclose(getattr(prove(problem, found), name), getattr(proof, name), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("wrong", [0.0, 1e-3])
def test_a_multiplier_of_what_has_no_bound_is_none(wrong):
    none, zero = np.full((2, 3), np.inf), np.zeros((2, 2))
    problem = ParametricQP.hard(np.eye(2), np.array([[1.0, 0.0]]), zero + 1.0, -none, none)
    found = np.array([[[-1.0, -1.0]] * 2]), np.array([[[0.0, 0.0, wrong]] * 2])
    proof = prove(problem, Piecewise.of(problem, np.array([0.0, 1.0]), *found))
    assert proof.passes() == (wrong == 0.0)
    assert proof.residuals["free"][0] == pytest.approx(wrong, rel=1e-2)


@pytest.mark.parametrize("end", [0, 1])
def test_nor_is_it_one_at_one_end_alone(end):
    none, zero = np.full((2, 3), np.inf), np.zeros((2, 2))
    problem = ParametricQP.hard(np.eye(2), np.array([[1.0, 0.0]]), zero + 1.0, -none, none)
    y = np.zeros((1, 2, 3))
    y[0, end, 2] = 0.5
    found = Piecewise.of(problem, np.array([0.0, 1.0]), np.full((1, 2, 2), -1.0), y)
    proof = prove(problem, found)
    assert proof.residuals["free"][0] == pytest.approx(1 / 3)  # .5 of .5 + the largest entry of q
    assert not proof.passes()


def test_what_is_not_a_number_is_not_proved():
    assert not prove(*of_one_variable(1.0, np.nan)).passes()
