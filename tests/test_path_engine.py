"""The loop on toy problems, and the kernels under the tracker on tiny arrays."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from paretoclf.errors import DegeneratePathError
from paretoclf.path import events, extended
from paretoclf.path.engine import follow
from paretoclf.path.events import LEFT, MARGIN, NONE, RIGHT, TO_CAP, TO_MARGIN, TO_ZERO
from paretoclf.path.factor import Factor

# ---- the loop ----------------------------------------------------------------------------------------------------


class Schedule:
    """A problem whose steps are written down beforehand; a step beyond the schedule is the last one."""

    def __init__(self, steps, size=1):
        self.steps, self.size = list(steps), size
        self.recorded, self.pivots, self.careful = [], [], []

    def piece(self, t):
        return ("piece", t)

    def next_event(self, piece, t, careful):
        assert piece == ("piece", t)
        self.careful.append(careful)
        return (self.steps.pop(0), f"event after {t}") if self.steps else (np.inf, None)

    def pivot(self, piece, event, t):
        self.pivots.append((event, t))

    def record(self, piece, t, t_next):
        self.recorded.append((t, t_next))

    def describe(self, t):
        return {"costs": "C_plus = 1, C_minus = 2", "n_margin": 7, "size": self.size}


class Endless(Schedule):
    """Always one more step of the same length."""

    def __init__(self, step, size=1):
        super().__init__([], size)
        self.step = step

    def next_event(self, piece, t, careful):
        self.careful.append(careful)
        return self.step, "again"


def test_count_down():
    problem = Schedule([0.5, 0.25, 0.125])
    seen = []
    assert follow(problem, progress=seen.append) == 3
    assert problem.recorded == [(0.0, 0.5), (0.5, 0.75), (0.75, 0.875), (0.875, 1.0)]
    assert problem.pivots == [("event after 0.0", 0.5), ("event after 0.5", 0.75), ("event after 0.75", 0.875)]
    assert seen == [0.5, 0.75, 0.875, 1.0]


def test_no_event_at_all():
    problem = Schedule([])
    assert follow(problem) == 0
    assert problem.recorded == [(0.0, 1.0)]
    assert problem.pivots == []


def test_event_beyond_the_end_is_not_carried_out():
    problem = Schedule([0.5, 0.75])
    assert follow(problem) == 1
    assert problem.recorded == [(0.0, 0.5), (0.5, 1.0)]
    assert len(problem.pivots) == 1


def test_zero_steps_record_nothing_and_then_care_is_taken():
    problem = Schedule([0.5] + [0.0] * 60 + [0.25])
    assert follow(problem) == 62
    assert problem.recorded == [(0.0, 0.5), (0.5, 0.75), (0.75, 1.0)]
    assert not any(problem.careful[:50])
    assert any(problem.careful)
    assert not problem.careful[-1]  # progress ends the caution


@pytest.mark.parametrize("limit", [0, 1, 17])
def test_one_that_never_ends_is_refused_at_the_cap(limit):
    problem = Endless(2.0**-10)
    with pytest.raises(DegeneratePathError, match=f"more than {limit} exchanges") as caught:
        follow(problem, max_events=limit)
    assert caught.value.t == (limit + 1) * 2.0**-10
    assert "max_events" in str(caught.value)


def test_the_default_cap_grows_with_the_size():
    with pytest.raises(DegeneratePathError, match="more than 10200 exchanges"):
        follow(Endless(1e-9))


def test_one_that_stalls_names_cause_and_position():
    problem = Schedule([0.25] + [0.0] * 5000, size=3)
    with pytest.raises(DegeneratePathError) as caught:
        follow(problem)
    message = str(caught.value)
    assert caught.value.t == 0.25
    assert "no progress" in caught.value.cause
    for part in ("no progress", "t = 0.25", "C_plus = 1, C_minus = 2", "margin set of 7", "different line"):
        assert part in message
    assert problem.recorded == [(0.0, 0.25)]


def test_a_step_too_short_to_move_counts_as_a_stall():
    problem = Schedule([0.5] + [1e-20] * 5000)
    with pytest.raises(DegeneratePathError, match="no progress"):
        follow(problem)


# ---- double-double -----------------------------------------------------------------------------------------------

number = st.floats(-1e30, 1e30).filter(lambda x: x == 0 or abs(x) > 1e-60)


@given(number, number)
def test_two_sum_and_two_prod_are_exact(a, b):
    s, e = extended.two_sum(a, b)
    assert Fraction(s) + Fraction(e) == Fraction(a) + Fraction(b)
    p, e = extended.two_prod(a, b)
    assert Fraction(p) + Fraction(e) == Fraction(a) * Fraction(b)


vectors = st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=1, max_size=30)


@given(vectors)
def test_add_product_keeps_thirty_digits(pairs):
    pairs = [(a, b) for a, b in pairs if abs(a * b) > 1e-100]
    hi, lo, exact, size = 0.0, 0.0, Fraction(0), Fraction(0)
    for a, b in [*pairs, *((-a, b) for a, b in pairs[1:])]:  # nearly everything cancels
        hi, lo = extended.add_product(hi, lo, a, b)
        exact += Fraction(a) * Fraction(b)
        size += abs(Fraction(a) * Fraction(b))
    assert abs(Fraction(hi) + Fraction(lo) - exact) <= size * Fraction(1, 10**29)


def test_accumulate_and_at_t():
    rng = np.random.default_rng(0)
    hi, lo = np.zeros(4), np.zeros(4)
    exact = [Fraction(0)] * 4
    for _ in range(50):
        scale, row = float(rng.normal() * 1e5), rng.normal(size=4)
        extended.accumulate(hi, lo, scale, row)
        exact = [x + Fraction(scale) * Fraction(float(r)) for x, r in zip(exact, row, strict=True)]
    for h, e, x in zip(hi, lo, exact, strict=True):
        assert abs(Fraction(float(h)) + Fraction(float(e)) - x) < Fraction(1, 10**22)
    out = np.empty((2, 4))
    t, t_lo = 0.3, 1e-18
    extended.at_t(np.stack([hi, lo, hi[::-1], lo[::-1]]), t, t_lo, out)
    for j in range(4):
        want = exact[j] + (Fraction(t) + Fraction(t_lo)) * exact[3 - j]
        assert abs(Fraction(float(out[0, j])) + Fraction(float(out[1, j])) - want) < Fraction(1, 10**22)


def test_gram_residual_against_fractions():
    rng = np.random.default_rng(1)
    n, k = 6, 4
    rows, index = rng.normal(size=(k, n)), np.array([5, 0, 3, 1])
    kappa, group = np.where(rng.random(n) < 0.5, 1.0, -1.0), np.zeros(n, dtype=np.int64)
    a, a_lo = rng.normal(size=k), rng.normal(size=k) * 1e-17
    eta, eta_lo = np.array([0.7]), np.array([-3e-18])
    zero = np.zeros(k)
    frac = [[Fraction(float(rows[i, j])) for j in index] for i in range(k)]
    af = [Fraction(float(x)) + Fraction(float(z)) for x, z in zip(a, a_lo, strict=True)]
    ef = Fraction(float(eta[0])) + Fraction(float(eta_lo[0]))
    exact = [sum(q * x for q, x in zip(frac[i], af, strict=True)) + int(kappa[index[i]]) * ef for i in range(k)]
    right = np.array([float(x) for x in exact])  # what is left is the rounding of the right-hand side, 1e-16
    out = np.empty(k)
    extended.gram_residual(rows, index, k, right, zero, kappa, group, a, a_lo, eta, eta_lo, out)
    want = [float(Fraction(float(r)) - x) for r, x in zip(right, exact, strict=True)]
    np.testing.assert_allclose(out, want, rtol=0, atol=1e-30)


def test_extended_cholesky_solves_what_a_double_one_cannot():
    n = 9
    H = np.array([[Fraction(1, i + j + 1) for j in range(n)] for i in range(n)])  # Hilbert, condition 5e11
    high = H.astype(float)
    low = np.array([[float(H[i, j] - Fraction(high[i, j])) for j in range(n)] for i in range(n)])
    b = np.array([float(sum(H[i])) for i in range(n)])
    exact_b = [Fraction(float(x)) for x in b]
    # the exact solution for the rounded right-hand side, by Gauss elimination in fractions
    M = [[*H[i], exact_b[i]] for i in range(n)]
    for i in range(n):
        for r in range(n):
            if r != i:
                f = M[r][i] / M[i][i]
                M[r] = [x - f * z for x, z in zip(M[r], M[i], strict=True)]
    want = np.array([float(M[i][n] / M[i][i]) for i in range(n)])
    assert extended.cholesky(high, low)
    extended.cholesky_solve(high, low, b)
    np.testing.assert_allclose(b, want, rtol=1e-14)


def test_extended_cholesky_says_no_to_an_indefinite_matrix():
    assert not extended.cholesky(np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros((2, 2)))


def test_add_products():
    Z = np.array([[1e8, 1.0], [1e8, -1.0]])
    H, L = np.zeros((2, 2)), np.zeros((2, 2))
    extended.add_products(Z, H, L)
    for i in range(2):
        for j in range(2):
            want = sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(Z[i], Z[j], strict=True))
            assert Fraction(float(H[i, j])) + Fraction(float(L[i, j])) == want


# ---- the factor --------------------------------------------------------------------------------------------------


def _grown(A, order):
    factor = Factor()
    for k, i in enumerate(order):
        row = factor.forward(A[order[:k], i])
        factor.append(row, A[i, i] - row @ row)
    return factor


def _agrees(factor, A, order):
    k = len(order)
    assert factor.k == k
    np.testing.assert_allclose(np.tril(factor.L[:k, :k]), np.linalg.cholesky(A[np.ix_(order, order)]), atol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 24))
def test_cholesky_append_and_delete(seed, n):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, n + 3))
    A = B @ B.T + np.eye(n)
    order = [int(i) for i in rng.permutation(n)]
    factor = _grown(A, order)  # beyond 16 the storage grows
    _agrees(factor, A, order)
    X = rng.normal(size=(2, n))
    np.testing.assert_allclose(factor.solve(X), np.linalg.solve(A[np.ix_(order, order)], X.T).T, atol=1e-10)
    while len(order) > 1:
        position = int(rng.integers(len(order)))
        factor.delete(position)
        del order[position]
        _agrees(factor, A, order)
    np.testing.assert_allclose(factor.solve(np.array([3.0])), 3.0 / A[order[0], order[0]], atol=1e-12)


def test_a_hardened_factor_is_soft_again_after_a_change():
    A = np.array([[4.0, 1.0], [1.0, 3.0]])
    factor = _grown(A, [0, 1])
    assert not factor.hard
    assert factor.harden(A.copy(), np.zeros((2, 2)))
    assert factor.hard
    np.testing.assert_allclose(factor.solve(np.array([1.0, 2.0])), np.linalg.solve(A, [1.0, 2.0]), rtol=1e-15)
    factor.delete(0)
    assert not factor.hard
    assert not factor.harden(np.array([[-1.0]]), np.zeros((1, 1)))


# ---- ratio tests -------------------------------------------------------------------------------------------------


def _exit(a, da, cap, dcap, horizon=1.0, careful=False, index=None):
    k = len(a)
    index = np.arange(k) if index is None else np.array(index)
    arrays = (np.array(x, dtype=float) for x in (a, da, cap, dcap))
    return events.first_exit(index, *arrays, horizon, 1e-12, careful)


def test_first_exit_to_zero_to_a_cap_and_to_a_moving_cap():
    assert _exit([0.5, 0.5], [-1.0, 0.25], [1, 1], [0, 0]) == (0, TO_ZERO, 0.5)
    assert _exit([0.5, 0.5], [-0.25, 1.0], [1, 1], [0, 0]) == (1, TO_CAP, 0.5)
    assert _exit([0.5], [1.0], [1], [1.0]) == (-1, NONE, np.inf)  # runs along with its cap
    assert _exit([0.5], [0.0], [1], [-2.0]) == (0, TO_CAP, 0.25)  # the cap comes down
    assert _exit([0.5], [-1.0], [1], [0], horizon=0.25) == (-1, NONE, np.inf)
    assert _exit([0.5], [1e-13], [1], [0]) == (-1, NONE, np.inf)
    assert _exit([], [], [], []) == (-1, NONE, np.inf)


def test_first_exit_never_steps_back():
    assert _exit([-1e-15], [-1.0], [1], [0]) == (0, TO_ZERO, 0.0)
    assert _exit([1 + 1e-15], [1.0], [1], [0]) == (0, TO_CAP, 0.0)


def test_first_exit_ties():
    tied = ([0.25, 0.5, 0.75], [-0.5, -1.0, 0.5], [1, 1, 1], [0, 0, 0])
    assert _exit(*tied) == (1, TO_ZERO, 0.5)  # the fastest
    assert _exit(*tied, careful=True) == (0, TO_ZERO, 0.5)  # the lowest index
    assert _exit(*tied, careful=True, index=[2, 0, 1])[0] == 1  # of the sample, not of its position


def test_contenders_and_first_arrival():
    state = np.array([RIGHT, LEFT, RIGHT, MARGIN, LEFT], dtype=np.int8)
    g = np.array([1.0, -1.0, 1.0, 0.0, -1.0])
    dg = np.array([-2.0, 2.0 + 1e-15, -1.0, -9.0, -3.0])
    error = np.full(5, 1e-14)
    awake = np.zeros(5, dtype=bool)
    near = events.contenders(state, awake, g, dg, error, error, np.inf, 1.0)
    assert near.tolist() == [0, 1]  # 2 is later, 3 in the margin set, 4 moves away
    assert events.contenders(state, awake, g, dg, error, error, 0.25, 1.0).tolist() == []
    assert events.contenders(state, awake, g, dg, error, error, np.inf, 0.25).tolist() == []
    resting = np.array([True, True, False, False, False])
    assert events.contenders(state, resting, g, dg, error, error, np.inf, 1.0).tolist() == [2]
    assert events.first_arrival(state, near, g[near], dg[near], 1.0, False)[0] == 1  # told apart exactly
    tie = np.array([-2.0, 2.0])
    position, dt = events.first_arrival(state, near, g[near], tie, 1.0, True)
    assert (position, dt) == (0, 0.5)
    assert events.first_arrival(state, near, g[near], -tie, 1.0, False) == (-1, np.inf)
    assert events.first_arrival(state, near[:0], g[:0], g[:0], 1.0, False) == (-1, np.inf)


@given(st.integers(0, 10**6))
def test_contenders_never_lose_the_first(seed):
    rng = np.random.default_rng(seed)
    n = 12
    state = rng.integers(0, 3, n).astype(np.int8)
    g = np.where(state == LEFT, -1.0, 1.0) * rng.integers(0, 4, n)
    dg = rng.integers(-3, 4, n).astype(float)
    error = rng.random(n) * 1e-3
    outside = np.flatnonzero(state != MARGIN)
    best, dt = events.first_arrival(state, outside, g[outside], dg[outside], 1.0, False)
    assume(best >= 0)
    seen = g + rng.uniform(-1, 1, n) * error, dg + rng.uniform(-1, 1, n) * error
    near = events.contenders(state, np.zeros(n, dtype=bool), *seen, error, error, np.inf, 1.0)
    assert outside[best] in near
    again, dt_near = events.first_arrival(state, near, g[near], dg[near], 1.0, False)
    assert near[again] == outside[best]
    assert dt_near == dt


def test_blocking_exchange():
    def block(a, v, careful=False):
        a = np.array(a, dtype=float)
        return events.blocking_exchange(a, np.ones(a.size), np.array(v, dtype=float), 1e-11, careful)

    assert block([0.5, 0.5], [-1.0, 0.5]) == (0, TO_ZERO, 0.5)
    assert block([0.5, 0.75], [-0.25, 1.0]) == (1, TO_CAP, 0.25)
    assert block([0.5], [0.0]) == (-1, NONE, np.inf)
    assert block([0.5, 1.0], [-1.0, 2.0]) == (1, TO_CAP, 0.0)
    assert block([0.25, 0.5], [-0.5, -1.0])[0] == 1  # of a tie the fastest, which is the best pivot
    assert block([0.25, 0.5], [-0.5, -1.0], careful=True)[0] == 0
    assert block([0.0, 1.0], [1e-12, -1.0])[:2] == (1, TO_ZERO)  # rounding in v blocks nothing


def test_blocking_jump():
    state = np.array([RIGHT, LEFT, RIGHT, LEFT, MARGIN, RIGHT], dtype=np.int8)
    g = np.array([0.3, -0.2, 0.1, -0.4, 0.0, 0.05])
    kappa = np.array([-1.0, 1.0, 1.0, -1.0, 1.0, -1.0])
    group = np.array([0, 0, 0, 0, 0, 1])
    jump = events.blocking_jump
    assert jump(state, g, kappa, group, 0, 1.0, -1) == (1, 0.2)
    assert jump(state, g, kappa, group, 0, 1.0, 1) == (0, 0.3)
    assert jump(state, g, kappa, group, 0, -1.0, -1) == (2, 0.1)
    assert jump(state, g, kappa, group, 1, 1.0, -1) == (5, 0.05)
    assert jump(state, g, kappa, group, 1, -1.0, -1) == (-1, np.inf)


def test_the_kinds_are_distinct():
    assert len({NONE, TO_ZERO, TO_CAP, TO_MARGIN}) == 4
    assert len({RIGHT, LEFT, MARGIN}) == 3
