"""The box of a line holds every point that matters somewhere on it, and where that is known no more."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.proof.bands.line_bounds import line_box
from paretoclf.proof.cones.cone_kinds import Cone
from tests.oracles.array_lines import array_line

#: Name -> p, q and constant at both ends, and the ceiling: of p x^2 / 2 + q x + constant on [-9, 9].
LEVELS = {
    "nothing moves": ((1, 1), (0, 0), (0, 0), 0.5),
    "a constant that stands still": ((1, 1), (0, 0), (-3, -3), 0.5),
    "the constant falls": ((1, 1), (0, 0), (0, -3), 0.5),
    "the constant rises": ((1, 1), (0, 0), (-3, 0), 0.5),
    "the slope grows": ((1, 1), (0, 2), (0, 0), 0.5),
    "the slope changes its sign": ((1, 1), (2, -1), (0, 0), 0.5),
    "the slope becomes 0": ((1, 1), (2, 0), (0, 0), 0.5),
    "p shrinks": ((4, 1), (0, 0), (0, 0), 0.5),
    "p grows": ((1, 4), (0, 0), (0, 0), 0.5),
}


@pytest.mark.parametrize("name", LEVELS)
def test_a_box_is_that_of_both_ends(name):
    """The objective at x is affine in t: what is below the ceiling somewhere is below it at an end."""
    p, q, constant, ceiling = LEVELS[name]
    ends = []
    for a, slope, level in zip(p, q, constant, strict=True):
        root = np.sqrt(slope**2 + 2 * a * (ceiling - level))
        ends += [(-slope - root) / a, (-slope + root) / a]
    stop = [[p[1]]] if p[0] != p[1] else None
    q = np.array(q, dtype=float)[:, None]
    box = line_box(array_line([[1.0], [-1.0]], [9, 9], q, P=[[p[0]]], constant=constant, P_stop=stop), ceiling)
    assert box.low[0] <= min(ends)
    assert box.high[0] >= max(ends)
    assert box.low[0] == pytest.approx(min(ends), rel=1e-6)
    assert box.high[0] == pytest.approx(max(ends), rel=1e-6)


#: Name -> the coefficient of x0, the side, at both ends, bounds of x0, and the largest x1: coefficient x0 + x1 <= side.
ROWS = {
    "of a positive variable": ((-1, 2), (1, 1), (0, 3), 1 + 3),
    "of a negative variable": ((-1, 2), (1, 1), (-3, 0), 1 + 6),
    "of either sign": ((-1, 1), (1, 1), (-3, 3), 1 + 3),
    "of either sign, more to one side": ((-1, 1), (1, 1), (-3, 1), 1 + 3),
    "of either sign, more to the other": ((-1, 1), (1, 1), (-1, 3), 1 + 3),
    "and a side that grows": ((-1, 1), (1, 2), (-3, 3), 2 + 3),
    "and a side that shrinks": ((-1, 1), (2, 1), (-3, 3), 2 + 3),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_that_moves_counts_as_its_weakest(name):
    coefficients, sides, (low, high), most = ROWS[name]
    A = [[[each, 1.0], [1, 0], [-1, 0], [0, -1]] for each in coefficients]
    b = [[each, high, -low, 0.0] for each in sides]
    box = line_box(array_line(A[0], b, np.zeros(2), A_stop=A[1]), np.inf)
    assert box.low == pytest.approx([low, 0], abs=1e-8)
    assert box.high == pytest.approx([high, most], rel=1e-6)
    assert box.high[1] >= most


#: Name -> factor and side of x in the norm, and what is added to s, at both ends: |(factor x + side, 1)| <= s + added.
NORMS = {
    "the factor grows": ((1, 3), (0, 0), (0, 0)),
    "the factor shrinks": ((3, 1), (0, 0), (0, 0)),
    "the factor changes its sign": ((-2, 1), (0, 0), (0, 0)),
    "the side grows": ((1, 1), (0, 2), (0, 0)),
    "what is added grows": ((1, 1), (0, 0), (0, 0.5)),
    "what is added shrinks": ((1, 1), (0, 0), (0.5, 0)),
}


@pytest.mark.parametrize("name", NORMS)
def test_a_norm_need_not_be_larger_than_it_is(name):
    """|x| <= 1 and r s <= 9 with r from 1 to 2: the largest norm that is needed, for nothing wants s to be larger."""
    factors, sides, added = NORMS[name]
    cones = [Cone("second-order", 3), Cone("nonnegative", 3)]
    rows = [
        [[-1.0, 0], [0, -factor], [0, 0], [r, 0], [0, 1], [0, -1]] for factor, r in zip(factors, (1, 2), strict=True)
    ]
    b = [[more, side, 1, 9, 1, 1] for side, more in zip(sides, added, strict=True)]
    box = line_box(array_line(rows[0], b, [1.0, 0.0], cones=cones, A_stop=rows[1]), np.inf)
    ends = zip(factors, sides, added, strict=True)
    needed = max(np.hypot(abs(factor) + abs(side), 1) - more for factor, side, more in ends)
    assert box.high[0] >= needed
    largest = np.hypot(max(map(abs, factors)) + max(map(abs, sides)), 1) - min(added)
    assert box.high[0] == pytest.approx(largest, rel=1e-6)


def random_line(rng, kind):
    """A line with 0 below the ceiling at every t: of parabolas, or of linear programs that moving rows bound."""
    columns, rows = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    q, constant, eye = 2 * rng.normal(size=(2, columns)), 3 * rng.normal(size=2), np.eye(columns)
    if kind == "linear":
        low = rng.choice([0.0, 3.0], size=columns)
        first = rng.uniform(0.3, 2, size=(rows + 1, columns))
        first[:-1] *= rng.choice([1, 1, 1, -1], size=(rows, columns))
        last = first * rng.uniform(0.4, 2.5, size=first.shape)
        b = np.hstack([rng.uniform(1, 5, size=(2, rows + 1)), [low, low]])
        return array_line(np.vstack([first, -eye]), b, q, constant=constant, A_stop=np.vstack([last, -eye])), np.inf
    P = [F @ F.T + 0.3 * eye for F in rng.normal(size=(2, columns, columns))]
    first = rng.normal(size=(rows, columns))
    last = first + rng.normal(size=first.shape)
    A = [np.vstack([each, eye, -eye]) for each in (first, last)]
    b = np.hstack([rng.uniform(0.2, 3, size=(2, rows)), np.full((2, 2 * columns), 50.0)])
    if "q" not in kind:
        q[1] = q[0]
    if "d" not in kind:
        constant[1] = constant[0]
    ends = {"P_stop": P[1] if "P" in kind else None, "A_stop": A[1] if "A" in kind else None}
    return array_line(A[0], b, q, P=P[0], constant=constant, **ends), max(constant) + rng.uniform(0.1, 2)


def reached(line, t, ceiling, rng):
    """Points at t that are as far as feasible points below the ceiling go, along random lines through others."""
    now, count = line.at(t), 40
    P, A, x = now.P.toarray(), now.A.toarray(), np.zeros((count, line.n))
    constant, found = (1 - t) * line.constant[0] + t * line.constant[1], []
    for _ in range(6):
        way = rng.normal(size=x.shape)
        way[::2] = np.eye(line.n)[rng.integers(line.n, size=count // 2)]
        steps, room = way @ A.T, now.b - x @ A.T
        ratio = room / np.where(steps != 0, steps, 1)
        far = np.where(steps > 0, ratio, np.inf).min(axis=1)
        near = np.where(steps < 0, ratio, -np.inf).max(axis=1)
        if np.isfinite(ceiling):
            a, slope = 0.5 * (way @ P * way).sum(axis=1), (way * (x @ P + now.q)).sum(axis=1)
            rest = ceiling - constant - x @ now.q - 0.5 * (x @ P * x).sum(axis=1)
            root = np.sqrt(slope**2 + 4 * a * np.maximum(rest, 0))
            near, far = np.maximum(near, (-slope - root) / (2 * a)), np.minimum(far, (-slope + root) / (2 * a))
        found += [x + near[:, None] * way, x + far[:, None] * way]
        share = rng.uniform(0, 1, size=count)
        x = x + ((1 - share) * near + share * far)[:, None] * way * 0.999
    return np.vstack(found)


@pytest.mark.parametrize("kind", ["d", "q", "P", "A", "qd", "qdPA", "linear"])
def test_random_points_are_in_the_box(kind):
    rng = np.random.default_rng(len(kind) * 100 + ord(kind[0]))
    for _ in range(12):
        line, ceiling = random_line(rng, kind)
        box = line_box(line, ceiling)
        for t in (0.0, 0.25, 0.5, 0.75, 1.0):
            x = reached(line, t, ceiling, rng)
            slack = line.at(t).b[:, None] - line.at(t).A @ x.T
            assert slack.min() >= -1e-8
            assert (x >= box.low - 1e-8).all()
            assert (x <= box.high + 1e-8).all()


@pytest.mark.parametrize("sides", [(1.0, 3.0), (3.0, 1.0), (-1.0, -3.0), (-2.0, 4.0)])
@pytest.mark.parametrize("moves", [True, False])
def test_a_side_that_moves_counts_as_its_largest(sides, moves):
    """-9 <= x <= b(t), and |y| <= b(t) + 5: exactly the larger end; also beside a row whose coefficient moves."""
    A = np.array([[1.0, 0], [-1, 0], [0, 0], [0, -1], [0, 0]])
    stop = A + np.outer([0, 0, 0, 0, 0.1], [0, 1]) if moves else None
    cones = [Cone("nonnegative", 2), Cone("second-order", 2), Cone("nonnegative", 1)]
    b = [[side, 9.0, side + 5, 0, 50.0] for side in sides]
    box = line_box(array_line(A, b, np.zeros(2), cones=cones, A_stop=stop), np.inf)
    assert box.high == pytest.approx([max(sides), max(sides) + 5], rel=1e-7)
    assert box.low == pytest.approx([-9, -max(sides) - 5], rel=1e-7)
    assert (box.high >= [max(sides), max(sides) + 5]).all()


@pytest.mark.parametrize("tops", [(1.0, 2.0), (2.0, 1.0)])
def test_a_norm_below_what_is_added_leaves_a_negative_bound(tops):
    """|1| <= top s + 5: s may be -4 / top, and nothing needs more than the larger one."""
    rows = [[[-top], [0.0], [1.0]] for top in tops]
    cones = [Cone("second-order", 2), Cone("nonnegative", 1)]
    box = line_box(array_line(rows[0], [5.0, 1.0, 9.0], [1.0], cones=cones, A_stop=rows[1]), np.inf)
    assert box.high[0] == pytest.approx(-4 / 2, rel=1e-6)
    assert box.high[0] >= -4 / 2


def test_a_ceiling_counts_its_rounding():
    """x^2 / 2 + d <= c with c and d near 1e6: what c - d is rounded by is many roundings of the difference."""
    line = array_line([[1.0], [-1]], [9, 9], [0.0], P=[[1.0]], constant=[1e6, 1e6])
    ceiling = 1e6 + 2.0**-30
    box = line_box(line, ceiling)
    exact = np.sqrt(2 * 2.0**-30)
    assert box.high[0] >= np.sqrt(2 * (2.0**-30 + 4 * 2.0**-52 * 2e6)) * (1 - 1e-12)
    assert box.high[0] <= 2 * exact


#: Rows of a column s in first place of a norm, its costs and quadratic costs: does something want it large?
WANTED = {
    "by nothing": ([[1.0, 0]], [1.0, 0], [0.0, 1], True),
    "by a row": ([[-1.0, 1]], [1.0, 0], [0.0, 1], False),
    "by its cost": ([[1.0, 0]], [-1.0, 0], [0.0, 1], False),
    "by a square": ([[1.0, 0]], [1.0, 0], [1.0, 1], False),
}


@pytest.mark.parametrize("name", WANTED)
def test_a_norm_is_no_bound_of_a_column_that_something_wants_large(name):
    rows, costs, squares, capped = WANTED[name]
    A = np.array([[-1.0, 0], [0, -1], [0, 1], [0, -1], [1, 0], *rows])
    stop = A.copy()
    stop[4, 0] = 2.0
    cones = [Cone("second-order", 2), Cone("nonnegative", 4)]
    b = [0.0, 0, 1, 1, 8, 8]
    box = line_box(array_line(A, b, costs, P=np.diag(squares), cones=cones, A_stop=stop), np.inf)
    assert (box.high[0] == pytest.approx(1, rel=1e-6)) == capped
