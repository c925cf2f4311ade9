"""The table of conjugates against closed forms: Fenchel-Young at 1 000 points, equality at gradients, w = 0."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.special import rel_entr, xlogy

from paretoclf.solve.duals.construction.conjugates import TABLE
from paretoclf.solve.duals.construction.tree import Occurrence
from paretoclf.solve.duals.dual_page import filled
from paretoclf.solve.duals.notation import Speaker

N = 1000
#: How many numbers an argument of a vector has, and the side of a matrix.
K = 3
#: Membership of a set is judged to this, relative to the weight.
NEAR = 1e-9


@dataclass
class Case:
    """One row with an oracle: the function, its gradient, and its conjugate in closed form, of N points at a time.

    Arrays have the shape (N, size of all arguments); ``inside`` draws multipliers at which the conjugate is finite.
    """

    row: str
    points: Callable[[Any], Any]
    value: Callable[[Any], Any]
    gradient: Callable[[Any], Any]
    conjugate: Callable[[Any, Any], Any]
    inside: Callable[[Any, Any], Any]
    arguments: Callable[[Any], list[Any]]
    numbers: dict[str, Any] = field(default_factory=dict)
    matrix: bool = False


def normal(size):
    return lambda rng: rng.normal(size=(N, size)) * 10 ** rng.uniform(-1, 1, (N, 1))


def positive(size):
    return lambda rng: rng.exponential(size=(N, size)) * 10 ** rng.uniform(-1, 1, (N, 1)) + 1e-3


def where(test, value=0.0):
    """A value where the test holds, else infinite."""
    return np.where(test, value, np.inf)


def zero(w, value):
    """A value that is 0 where w is, whatever a division says there."""
    return np.where(w > 0, value, 0.0)


def column(y):
    return [y[:, 0]]


def rows(y):
    return [y]


def two(y):
    return [y[:, 0], y[:, 1]]


def alone(y):
    return [y]


def simplex(rng, size=K):
    return rng.dirichlet(np.ones(size), N)


def sides(y, w, top):
    """Whether vectors of a norm are within w."""
    return top <= w * (1 + NEAR) + NEAR


with_w = lambda w, y: w[:, None] * y  # noqa: E731


def power(p):
    q = p / (p - 1)
    if p > 1:
        even = p in (2.0, 4.0, 8.0)
        c = (1 - 1 / p) * p ** (-1 / (p - 1))
        size = np.abs if even else lambda y: np.maximum(y, 0)
        row = "square" if p == 2 else "power even" if even else "power above 1"
        return Case(
            row,
            normal(1) if even else positive(1),
            lambda u: np.abs(u[:, 0]) ** p,
            lambda u: p * np.sign(u) * np.abs(u) ** (p - 1),
            lambda w, y: np.where(
                w > 0, c * size(y[:, 0]) ** q * np.maximum(w, 1e-9) ** (1 - q), where(size(y[:, 0]) <= 0)
            ),
            lambda rng, w: np.where(w[:, None] > 0, normal(1)(rng), 0.0 if even else -positive(1)(rng)),
            column,
            {"p": p},
        )
    if p > 0:
        c = (1 - p) * p ** (p / (1 - p))
        return Case(
            "-power below 1",
            positive(1),
            lambda u: -(u[:, 0] ** p),
            lambda u: -p * u ** (p - 1),
            lambda w, y: where(y[:, 0] < 0, c * w ** (1 / (1 - p)) * np.maximum(-y[:, 0], 1e-300) ** (-p / (1 - p))),
            lambda rng, w: -positive(1)(rng),
            column,
            {"p": p},
        )
    m = -p
    c = (1 + 1 / m) * m ** (1 / (m + 1))
    return Case(
        "power below 0",
        positive(1),
        lambda u: u[:, 0] ** p,
        lambda u: p * u ** (p - 1),
        lambda w, y: where(y[:, 0] <= 0, -c * np.maximum(-y[:, 0], 0) ** (m / (m + 1)) * w ** (1 / (m + 1))),
        lambda rng, w: -positive(1)(rng),
        column,
        {"p": p},
    )


def norm(row, p, q):
    """A norm and its dual norm; of gradients the one that holds almost everywhere."""
    long = lambda v, order: np.linalg.norm(v, order, axis=1)  # noqa: E731

    def gradient(u):
        if p == 1:
            return np.sign(u)
        if p == np.inf:
            return np.sign(u) * (np.arange(K) == np.abs(u).argmax(1)[:, None])
        return np.sign(u) * np.abs(u) ** (p - 1) / long(u, p)[:, None] ** (p - 1)

    return Case(
        row,
        normal(K),
        lambda u: long(u, p),
        gradient,
        lambda w, y: where(sides(y, w, long(y, q))),
        lambda rng, w: with_w(w, rng.uniform(-1, 1, (N, K)) / K),
        alone if row == "pnorm" else rows,
        {"axis": None if row == "pnorm" else 1, "p": p},
        row == "pnorm",
    )


def pnorm_below_1(p):
    q = p / (p - 1)

    def mean(v, p):
        with np.errstate(divide="ignore"):
            return (v**p).sum(1) ** (1 / p)

    def inside(rng, w):
        v = positive(K)(rng)
        return -v * (w / mean(v, q) * (1 + rng.exponential(size=N)))[:, None] - (w == 0)[:, None]

    return Case(
        "-pnorm below 1",
        positive(K),
        lambda u: -mean(u, p),
        lambda u: -(mean(u, p) ** (1 - p))[:, None] * u ** (p - 1),
        lambda w, y: where((y <= 0).all(1) & (mean(np.maximum(-y, 1e-300), q) >= w * (1 - NEAR) - NEAR)),
        inside,
        alone,
        {"axis": None, "p": p},
        True,
    )


def on_simplex(y, w, k=1.0):
    return (y >= -NEAR).all(1) & (np.abs(y.sum(1) - k * w) <= NEAR * (1 + w))


def largest(k):
    def gradient(u):
        return (u >= np.sort(u, axis=1)[:, [-k]]).astype(float)

    return Case(
        "sum_largest",
        normal(K),
        lambda u: np.sort(u, axis=1)[:, -k:].sum(1),
        gradient,
        lambda w, y: where(on_simplex(y, w, k) & (y <= w[:, None] * (1 + NEAR) + NEAR).all(1)),
        lambda rng, w: with_w(w, 1 - simplex(rng)),
        rows,
        {"axis": 1, "k": float(k)},
    )


def huber(M):
    def value(u):
        size = np.abs(u[:, 0])
        return np.where(size <= M, size**2, 2 * M * size - M * M)

    return Case(
        "huber",
        normal(1),
        value,
        lambda u: 2 * np.clip(u, -M, M),
        lambda w, y: where(
            np.abs(y[:, 0]) <= 2 * M * w * (1 + NEAR), zero(w, y[:, 0] ** 2 / (4 * np.maximum(w, 1e-9)))
        ),
        lambda rng, w: with_w(w, rng.uniform(-2 * M, 2 * M, (N, 1))),
        column,
        {"M": M},
    )


def geometric():
    g = np.array([0.5, 0.3, 0.2])

    def mean(v):
        return np.exp((g * np.log(np.maximum(v, 1e-300))).sum(1))

    def inside(rng, w):
        v = positive(K)(rng)
        return -v * (w / mean(v / g) * (1 + rng.exponential(size=N)))[:, None] - (w == 0)[:, None]

    return Case(
        "-geo_mean",
        positive(K),
        lambda u: -mean(u),
        lambda u: -mean(u)[:, None] * g / u,
        lambda w, y: where((y <= NEAR).all(1) & (mean(-y / g) >= w * (1 - NEAR) - NEAR)),
        inside,
        rows,
        {"axis": 1, "g": g},
    )


def capped(rng, w, low=-1e9):
    """Numbers whose exponential, over w, is no overflow."""
    return np.clip(rng.normal(size=N), low, 5 * w)


def of_entropy(row, shift, offset):
    """Relative entropy, or the divergence of Kullback and Leibler."""

    def value(u):
        plain = rel_entr(u[:, 0], u[:, 1])
        return plain - u[:, 0] + u[:, 1] if offset else plain

    def gradient(u):
        log, ratio = np.log(u[:, 0] / u[:, 1]), u[:, 0] / u[:, 1]
        return np.stack([log, 1 - ratio] if offset else [log + 1, -ratio], 1)

    def edge(w, y):
        return w * np.exp(np.minimum(y / np.maximum(w, 1e-300) - shift, 700))

    def conjugate(w, y):
        room = offset * w - y[:, 1]
        inside = np.where(w > 0, edge(w, y[:, 0]) <= room * (1 + NEAR) + NEAR, (y <= 0).all(1))
        return where(inside)

    def inside(rng, w):
        first = capped(rng, w)
        second = offset * w - edge(w, first) - rng.exponential(size=N)
        return np.where(w[:, None] > 0, np.stack([first, second], 1), -positive(2)(rng))

    return Case(row, positive(2), value, gradient, conjugate, inside, two)


def quad_over_lin():
    def gradient(u):
        return np.column_stack([2 * u[:, :2] / u[:, 2:], -(u[:, :2] ** 2).sum(1) / u[:, 2] ** 2])

    def inside(rng, w):
        y = normal(2)(rng) * (w > 0)[:, None]
        last = -(y**2).sum(1) / (4 * np.maximum(w, 1e-9)) - rng.exponential(size=N)
        return np.column_stack([y, last])

    return Case(
        "quad_over_lin",
        lambda rng: np.column_stack([normal(2)(rng), positive(1)(rng)]),
        lambda u: (u[:, :2] ** 2).sum(1) / u[:, 2],
        gradient,
        lambda w, y: where(((y[:, :2] ** 2).sum(1) <= -4 * w * y[:, 2] * (1 + NEAR) + NEAR) & (y[:, 2] <= NEAR)),
        inside,
        lambda y: [y[:2], y[2]],
        {"axis": None},
        True,
    )


# --- Matrices: the entries of symmetric ones, and (x, P) one after the other ----------------------------------------


def stack(v):
    M = v.reshape(len(v), K, K)
    return (M + np.swapaxes(M, 1, 2)) / 2


def entries(M):
    return M.reshape(len(M), K * K)


def symmetric(rng):
    return entries(stack(rng.normal(size=(N, K * K))))


def definite(rng):
    M = rng.normal(size=(N, K, K))
    return entries(M @ np.swapaxes(M, 1, 2) + 0.05 * np.eye(K))


def trace(v):
    return np.trace(stack(v), axis1=1, axis2=2)


def spectrum(v):
    return np.linalg.eigvalsh(stack(v))


def matrix(y):
    return [y.reshape(K, K)]


def top(k):
    def gradient(u):
        vectors = np.linalg.eigh(stack(u))[1][:, :, -k:]
        return entries(vectors @ np.swapaxes(vectors, 1, 2))

    def conjugate(w, y):
        values = spectrum(y)
        inside = (values[:, 0] >= -NEAR) & (np.abs(trace(y) - k * w) <= NEAR * (1 + w))
        return where(inside & (values[:, -1] <= w * (1 + NEAR) + NEAR if k > 1 else True))

    def inside(rng, w):
        M = definite(rng)
        M = M / trace(M)[:, None]
        return with_w(w, M if k == 1 else entries(np.eye(K) - stack(M)))

    row, numbers = ("lambda_max", {}) if k == 1 else ("lambda_sum_largest", {"k": float(k)})
    return Case(
        row, symmetric, lambda u: spectrum(u)[:, -k:].sum(1), gradient, conjugate, inside, matrix, numbers, True
    )


def singular(v):
    return np.linalg.svd(v.reshape(N, K, K), compute_uv=False)


def of_singular_values(row, nuclear):
    def value(u):
        return singular(u).sum(1) if nuclear else singular(u)[:, 0]

    def gradient(u):
        left, _, right = np.linalg.svd(u.reshape(N, K, K))
        return entries(left @ right if nuclear else left[:, :, :1] @ right[:, :1, :])

    def dual(y):
        return singular(y)[:, 0] if nuclear else singular(y).sum(1)

    def inside(rng, w):
        M = rng.normal(size=(N, K * K))
        return M * (w / dual(M) * rng.uniform(size=N))[:, None]

    return Case(row, normal(K * K), value, gradient, lambda w, y: where(sides(y, w, dual(y))), inside, matrix, {}, True)


def log_det():
    def conjugate(w, y):
        values = spectrum(-y)
        logs = np.log(np.maximum(values, 1e-300)).sum(1)
        return where(values[:, 0] > 0, K * xlogy(w, w) - K * w - w * logs)

    return Case(
        "-log_det",
        definite,
        lambda u: -np.log(spectrum(u)).sum(1),
        lambda u: -entries(np.linalg.inv(stack(u))),
        conjugate,
        lambda rng, w: -definite(rng),
        matrix,
        {},
        True,
    )


def tr_inv():
    return Case(
        "tr_inv",
        definite,
        lambda u: (1 / spectrum(u)).sum(1),
        lambda u: -entries(np.linalg.inv(stack(u) @ stack(u))),
        lambda w, y: where(spectrum(-y)[:, 0] >= -NEAR, -2 * np.sqrt(w) * np.sqrt(np.maximum(spectrum(-y), 0)).sum(1)),
        lambda rng, w: -definite(rng),
        matrix,
        {},
        True,
    )


def matrix_frac():
    def solved(u):
        return np.linalg.solve(stack(u[:, K:]), u[:, :K, None])[:, :, 0]

    def gradient(u):
        v = solved(u)
        return np.column_stack([2 * v, -entries(v[:, :, None] * v[:, None, :])])

    def conjugate(w, y):
        corner = np.broadcast_to(4 * w[:, None, None], (N, 1, 1))
        block = np.block([[-stack(y[:, K:]), y[:, :K, None]], [y[:, None, :K], corner]])
        least = np.linalg.eigvalsh(block)[:, 0]
        return where(least >= -1e-9 * (1 + np.abs(block).max((1, 2))))

    def inside(rng, w):
        first = normal(K)(rng) * (w > 0)[:, None]
        square = first[:, :, None] * first[:, None, :] / (4 * np.maximum(w, 1e-9))[:, None, None]
        return np.column_stack([first, -entries(square) - definite(rng)])

    return Case(
        "matrix_frac",
        lambda rng: np.column_stack([normal(K)(rng), definite(rng)]),
        lambda u: (u[:, :K] * solved(u)).sum(1),
        gradient,
        conjugate,
        inside,
        lambda y: [y[:K], y[K:].reshape(K, K)],
        {},
        True,
    )


def quad_form():
    P = np.array([[2.0, 1, 0], [1, 3, 0], [0, 0, 0]])
    inverse = np.linalg.pinv(P)

    def conjugate(w, y):
        value = np.einsum("ni,ij,nj->n", y, inverse, y)
        return where(np.abs(y[:, 2]) <= NEAR, zero(w, value / (4 * np.maximum(w, 1e-9))))

    return Case(
        "quad_form",
        normal(K),
        lambda u: np.einsum("ni,ij,nj->n", u, P, u),
        lambda u: 2 * u @ P,
        conjugate,
        lambda rng, w: normal(K)(rng) * np.array([1.0, 1.0, 0.0]) * (w > 0)[:, None],
        lambda y: [y],
        {"P": P},
        True,
    )


def dotsort():
    c = np.array([3.0, 1.0, -2.0])
    rising = np.sort(c)

    def conjugate(w, y):
        ordered = np.sort(y, axis=1)[:, ::-1].cumsum(1)
        most = rising[::-1].cumsum()
        below = (ordered <= with_w(w, most) + NEAR * (1 + w)[:, None]).all(1)
        return where(below & (np.abs(ordered[:, -1] - w * c.sum()) <= NEAR * (1 + w)))

    def inside(rng, w):
        orders = np.stack([rng.permuted(np.tile(c, (N, 1)), axis=1) for _ in range(3)], 2)
        return with_w(w, (orders * simplex(rng)[:, None, :]).sum(2))

    return Case(
        "dotsort",
        normal(K),
        lambda u: np.sort(u, axis=1) @ rising,
        lambda u: rising[np.argsort(np.argsort(u, axis=1), axis=1)],
        conjugate,
        inside,
        lambda y: [y],
        {"c": c},
        True,
    )


def exponential():
    return Case(
        "exp",
        lambda rng: 3 * rng.normal(size=(N, 1)),
        lambda u: np.exp(u[:, 0]),
        np.exp,
        lambda w, y: where(y[:, 0] >= 0, rel_entr(np.maximum(y[:, 0], 0), w) - y[:, 0]),
        lambda rng, w: positive(1)(rng) * (w > 0)[:, None],
        column,
    )


def logistic():
    def conjugate(w, y):
        v = np.clip(y[:, 0], 0, w)
        return where((y[:, 0] >= 0) & (y[:, 0] <= w), rel_entr(v, w) + rel_entr(w - v, w))

    return Case(
        "logistic",
        normal(1),
        lambda u: np.logaddexp(0, u[:, 0]),
        lambda u: 1 / (1 + np.exp(-u)),
        conjugate,
        lambda rng, w: with_w(w, rng.uniform(0, 1, (N, 1))),
        column,
    )


def log_sum_exp():
    def conjugate(w, y):
        return where(on_simplex(y, w), rel_entr(np.maximum(y, 0), w[:, None]).sum(1))

    return Case(
        "log_sum_exp",
        normal(K),
        lambda u: np.logaddexp.reduce(u, axis=1),
        lambda u: np.exp(u - np.logaddexp.reduce(u, axis=1)[:, None]),
        conjugate,
        lambda rng, w: with_w(w, simplex(rng)),
        rows,
        {"axis": 1},
    )


def logarithm(one):
    def conjugate(w, y):
        value = rel_entr(w, np.maximum(-y[:, 0], 0)) - w - one * y[:, 0]
        return where(y[:, 0] <= 0, value)

    return Case(
        "-log1p" if one else "-log",
        lambda rng: positive(1)(rng) - one,
        lambda u: -np.log(u[:, 0] + one),
        lambda u: -1 / (u + one),
        conjugate,
        lambda rng, w: -positive(1)(rng),
        column,
    )


def entropy():
    def conjugate(w, y):
        exponent = np.minimum(y[:, 0] / np.maximum(w, 1e-300) - 1, 700)
        return np.where(w > 0, w * np.exp(exponent), where(y[:, 0] <= 0))

    return Case(
        "-entr",
        positive(1),
        lambda u: xlogy(u[:, 0], u[:, 0]),
        lambda u: np.log(u) + 1,
        conjugate,
        lambda rng, w: np.where(w[:, None] > 0, capped(rng, w)[:, None], -positive(1)(rng)),
        column,
    )


def absolute():
    return Case(
        "abs",
        normal(1),
        lambda u: np.abs(u[:, 0]),
        np.sign,
        lambda w, y: where(sides(y, w, np.abs(y[:, 0]))),
        lambda rng, w: with_w(w, rng.uniform(-1, 1, (N, 1))),
        column,
    )


def positive_part():
    return Case(
        "pos",
        normal(1),
        lambda u: np.maximum(u[:, 0], 0),
        lambda u: (u > 0).astype(float),
        lambda w, y: where((y[:, 0] >= -NEAR) & (y[:, 0] <= w * (1 + NEAR))),
        lambda rng, w: with_w(w, rng.uniform(0, 1, (N, 1))),
        column,
    )


def greatest(row, arguments, numbers):
    return Case(
        row,
        normal(K),
        lambda u: u.max(1),
        lambda u: (np.arange(K) == u.argmax(1)[:, None]).astype(float),
        lambda w, y: where(on_simplex(y, w)),
        lambda rng, w: with_w(w, simplex(rng)),
        arguments,
        numbers,
    )


def sum_squares():
    return Case(
        "sum_squares",
        normal(K),
        lambda u: (u**2).sum(1),
        lambda u: 2 * u,
        lambda w, y: np.where(w > 0, (y**2).sum(1) / (4 * np.maximum(w, 1e-9)), where((y == 0).all(1))),
        lambda rng, w: normal(K)(rng) * (w > 0)[:, None],
        rows,
        {"axis": 1},
    )


CASES = [
    *(power(p) for p in (2.0, 4.0, 8.0, 3.0, 1.5, 6.0, 0.5, 0.3, -1.0, -2.5)),
    absolute(),
    positive_part(),
    norm("norm1", 1, np.inf),
    norm("norm_inf", np.inf, 1),
    norm("norm2", 2, 2),
    norm("pnorm", 1.5, 3.0),
    norm("pnorm", 3.0, 1.5),
    pnorm_below_1(0.5),
    pnorm_below_1(-1.0),
    greatest("max", rows, {"axis": 1}),
    greatest("maximum", lambda y: [y[:, 0], y[:, 1], y[:, 2]], {}),
    largest(2),
    dotsort(),
    quad_form(),
    sum_squares(),
    quad_over_lin(),
    huber(0.7),
    exponential(),
    logistic(),
    log_sum_exp(),
    logarithm(0),
    logarithm(1),
    entropy(),
    of_entropy("rel_entr", 1.0, 0.0),
    of_entropy("kl_div", 0.0, 1.0),
    geometric(),
    top(1),
    top(2),
    of_singular_values("normNuc", True),
    of_singular_values("sigma_max", False),
    log_det(),
    tr_inv(),
    matrix_frac(),
]


def named(case):
    p = case.numbers.get("p")
    return f"{case.row} {p:g}" if isinstance(p, float) else case.row


@pytest.mark.parametrize("case", CASES, ids=named)
def test_the_inequality_holds_and_is_an_equation_at_gradients(case):
    rng = np.random.default_rng(0)
    u, w = case.points(rng), 10 ** rng.uniform(-2, 1, N)
    y, value = case.inside(rng, w), case.value(u)
    cost = case.conjugate(w, y)
    assert np.isfinite(cost).all()
    terms = np.abs(y * u).sum(1) + np.abs(w * value) + np.abs(cost)
    assert ((y * u).sum(1) <= w * value + cost + 1e-9 * (1 + terms)).all()
    nothing = np.zeros(N)
    y = case.inside(rng, nothing)
    cost = case.conjugate(nothing, y)
    assert ((y * u).sum(1) <= cost + 1e-9 * (1 + np.abs(y * u).sum(1))).all()
    y = w[:, None] * case.gradient(u)
    cost = case.conjugate(w, y)
    terms = np.abs(y * u).sum(1) + np.abs(w * value) + np.abs(cost)
    assert np.isfinite(cost).all()
    assert (np.abs(w * value + cost - (y * u).sum(1)) <= 1e-7 * (1e-9 + terms)).all()


def stated(case, w, y):
    """The problem that a row states, where multipliers and weights have given values."""
    variables = [cp.Variable(np.shape(part)) for part in case.arguments(y)]
    weight = cp.Variable(np.shape(w), nonneg=True)
    cost, conditions = TABLE[case.row].state(weight, variables, case.numbers)
    given = [variable == part for variable, part in zip(variables, case.arguments(y), strict=True)]
    problem = cp.Problem(cp.Minimize(cost), [*conditions, *given, weight == w])
    assert problem.is_dcp()
    return problem


@pytest.mark.parametrize("case", CASES, ids=named)
def test_what_a_row_states_is_the_closed_form(case):
    rng = np.random.default_rng(1)
    w = 10 ** rng.uniform(-1, 1, N)
    y = case.inside(rng, w)
    cost = case.conjugate(w, y)
    plain = np.flatnonzero((np.abs(cost) < 50) & (np.abs(y).max(1) < 20) & (np.abs(y).max(1) > 0.05))
    if case.matrix:
        for k in plain[:3]:
            found = stated(case, w[k], y[k]).solve("CLARABEL")
            assert found == pytest.approx(cost[k], rel=1e-5, abs=1e-5)
        return
    part = plain[:100]
    found = stated(case, w[part], y[part]).solve("CLARABEL")
    assert found == pytest.approx(cost[part].sum(), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("case", CASES, ids=named)
def test_beyond_its_domain_a_row_has_no_point(case):
    """Gradients are on the border of a domain: what is a tenth beyond is outside, where there is an outside."""
    rng = np.random.default_rng(2)
    u, w = case.points(rng), 10 ** rng.uniform(-1, 1, N)
    y = w[:, None] * case.gradient(u)
    beyond = [1.1 * y, 0.9 * y, -y]
    for out in beyond:
        outside = np.flatnonzero(np.isinf(case.conjugate(w, out)) & (np.abs(out).max(1) < 1e2))[:1]
        for k in outside:
            one = (w[k], out[k]) if case.matrix else (w[[k]], out[[k]])
            problem = stated(case, *one)
            problem.solve("CLARABEL")
            assert problem.status.startswith("infeasible")


def test_every_row_is_tested():
    """Two rows have no closed form of one number: they are tested by the problems that they stand in."""
    assert set(TABLE) - {case.row for case in CASES} == {"cummax", "perspective"}
    assert len(CASES) >= 40


def test_words_name_what_they_are_about():
    for row in TABLE.values():
        for words in (row.plain, row.latex):
            assert "<u" in words.atom
            assert words.cost or words.domain
            assert words.at_zero


def read_aloud(cost):
    """The words of a cost as Python: factors side by side are multiplied."""
    text = re.sub(r"\|([^|]*)\|", r"abs(\1)", cost.replace("^", "**"))
    return re.sub(r"(?<=[\w)])\s+(?=[\w(])", "*", text) or "0"


@pytest.mark.parametrize("case", [c for c in CASES if c.arguments is column], ids=named)
def test_the_words_of_a_cost_are_its_value(case):
    rng = np.random.default_rng(3)
    w = 10 ** rng.uniform(-1, 1, N)
    y = case.inside(rng, w)
    names = {"log": np.log, "exp": np.exp, "abs": np.abs, "max": np.maximum}
    weight, variable = cp.Parameter(nonneg=True, name="w"), cp.Variable(name="y")
    one = Occurrence(TABLE[case.row], None, None, (variable,), (variable,), weight, case.numbers)
    told = filled(one.row.plain.cost, one, Speaker())
    found = eval(read_aloud(told), names | {"w": w, "y": y[:, 0]})
    known = case.conjugate(w, y)
    assert np.allclose(found, known, rtol=5e-4, atol=1e-9 * (1 + np.abs(known)).max()), told
    # A weight that is a number is multiplied out.
    one = replace(one, w=cp.Constant(w[0]))
    told = filled(one.row.plain.cost, one, Speaker())
    found = eval(read_aloud(told), names | {"y": y[0, 0]})
    assert found == pytest.approx(known[0], rel=5e-4, abs=1e-9), told
    one = replace(one, w=cp.Constant(1.0))
    y = case.inside(rng, np.ones(N))
    told = filled(one.row.plain.cost, one, Speaker())
    found = eval(read_aloud(told), names | {"y": y[:, 0]})
    known = case.conjugate(np.ones(N), y)
    assert np.allclose(found, known, rtol=5e-4, atol=1e-9 * (1 + np.abs(known)).max()), told
