"""Points of bounded certificates: each keeps its bounds and equations in fractions, and stays near the path."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.proof import check, check_gap
from paretoclf.proof.files.bounded_points import StoredPoints, lower_triangle, one_point, program_points
from paretoclf.proof.files.stated_problems import path_problem, program_problem

X = np.random.default_rng(0).normal(size=(12, 2)) + 0.4 * np.repeat([1.0, -1.0], [5, 7])[:, None]
Y = np.repeat([1.0, -1.0], [5, 7])

PATHS = {
    "costs": lambda: pc.trace(pc.TwoCSVM(X, Y), (0.2, 1.0), (1.0, 0.2)),
    "kernel": lambda: pc.trace(pc.TwoCSVM(X, Y, pc.RBF(1.0)), (0.2, 1.0), (1.0, 0.2)),
    "jumps": lambda: pc.trace(pc.TwoCSVM(X, Y), (0, 0), (1, 1.5)),
    "nu": lambda: pc.trace(pc.TwoNuSVM(X, Y), nu=(0.15, 0.4), asymmetry=0.5),
    "quantile": lambda: pc.trace(pc.QuantileSVM(X, Y, bias=True), tau=(0.1, 0.9), lam=0.1),
    "margins": lambda: pc.trace(pc.BiobjectiveMargin(X, Y), theta=(0.5, 2.0), C_plus=1.0, C_minus=2.0),
}


@pytest.fixture(scope="module")
def paths():
    return {name: make() for name, make in PATHS.items()}


def stored_points(path):
    problem = path_problem(path)
    return problem, StoredPoints(problem, path.pieces, list(path._labels(path.equations)))


def caps_at(problem, t):
    """Caps in fractions; None where there are none."""
    if "caps" not in problem:
        return None
    first, last = problem["caps"]
    return [(1 - t) * Fraction(a) + t * Fraction(b) for a, b in zip(first, last, strict=True)]


def decoded(problem, points):
    """t, multipliers and multipliers of rows of each point, in fractions."""
    letters: dict = {}
    for t, changes, rows in points:
        letters.update(dict(changes))
        when = Fraction(t)
        caps = caps_at(problem, when)
        n = len(problem["y"])
        numbers = {"l": lambda i: Fraction(0), "u": lambda i, caps=caps: caps[i]}
        x = [numbers[v](i) if (v := letters.get(i, "l")) in numbers else Fraction(v) for i in range(n)]
        yield when, x, [Fraction(r) for r in rows]


@pytest.mark.parametrize("name", PATHS)
def test_points_keep_their_bounds_and_equations_in_fractions(paths, name):
    path = paths[name]
    problem, points = stored_points(path)
    found = list(decoded(problem, points.points(Fraction(0))))
    _, rows, ends = check.classifier(dict(problem), points.y)
    assert (found[0][0], found[-1][0]) == (0, 1)
    for when, x, prices in found:
        caps = caps_at(problem, when)
        assert all(v >= 0 for v in x)
        assert caps is None or all(v <= cap for v, cap in zip(x, caps, strict=True))
        assert len(prices) == len(rows)
        for row, first, last in zip(rows, *ends, strict=True):
            wanted = (1 - when) * Fraction(first) + when * Fraction(last)
            assert sum(a * v for a, v in zip(row, x, strict=True)) == wanted


@pytest.mark.parametrize("name", PATHS)
def test_points_are_near_the_path_and_bound_its_value(paths, name):
    path = paths[name]
    problem, points = stored_points(path)
    stretch = Fraction(0) if "caps" in problem else Fraction(1, 2**34)
    stated = points.points(stretch)
    low, high = path.t[[0, -1]]
    unit = 0.5 if name == "margins" else 1.0
    for when, x, _ in decoded(problem, stated):
        t = float(low + float(when) * (high - low))
        inside = np.flatnonzero(np.abs(path.t - t) < 1e-12)
        near = [unit * path._stored(t, j) for j in (set(inside) | set(inside - 1)) & set(range(len(path.t) - 1))]
        scale = max(1.0, max(map(float, x)))
        assert min(np.abs(np.array(x, dtype=float) - alpha).max() for alpha in near) < 1e-9 * scale
    values, gap = check_gap.gap(problem, stated, str(stretch))
    assert float(gap) < 1e-6 * max(abs(float(values[0])), abs(float(values[1])))


def test_a_joint_is_written_once_unless_something_jumps(paths):
    seen = 0
    for name in ("costs", "jumps", "kernel"):
        path = paths[name]
        _, points = stored_points(path)
        knots = [point[0] for point in points.points(Fraction(0))]
        jumps = np.abs(path.pieces.b1[:-1] - path.pieces.b0[1:]) > 1e-9
        assert len(knots) == len(points.t) + jumps.sum()
        assert knots == sorted(knots)
        seen += int(jumps.sum())
    assert seen


def side(t=0.5, labels=(0, 1, -1), values=(0.25,), rows=(0.5,), margin_set=(0,)):
    return SimpleNamespace(
        t=t, labels=np.array(labels), margin_set=np.array(margin_set), values=np.array(values), rows=np.array(rows)
    )


def test_two_sides_are_one_point_where_nothing_jumps():
    before, here = side(), side(values=(0.25 + 1e-12,), rows=(0.5 + 1e-13,))
    joint = StoredPoints.joined(before, here, 1.0)
    assert (joint.t, joint.values.tolist(), joint.rows.tolist()) == (0.5, [0.25], [0.5])
    assert joint.labels.tolist() == [0, 1, -1]
    assert StoredPoints.joined(before, side(rows=(0.5 + 1e-11,)), 1.0) is None  # a multiplier of a row
    assert StoredPoints.joined(before, side(values=(0.25 + 1e-8,)), 1.0) is None  # a multiplier
    assert StoredPoints.joined(before, side(values=(0.25 + 1e-8,)), 100.0) is not None
    assert StoredPoints.joined(before, side(labels=(0, -1, -1)), 1.0) is None  # from one bound to the other
    large = side(values=(2e3,)), side(values=(2e3 + 1e-6,))
    assert StoredPoints.joined(*large, 0.0) is not None  # without caps relative to the largest
    assert StoredPoints.joined(*large, 1.0) is None


def test_who_leaves_the_margin_set_at_a_joint_is_at_its_bound_there():
    before = side(labels=(0, 0, -1), margin_set=(0, 1), values=(0.25, 1.0))
    here = side(labels=(0, 1, 0), margin_set=(0, 2), values=(0.25, 0.0))
    joint = StoredPoints.joined(before, here, 1.0)
    assert joint.labels.tolist() == [0, 1, -1]
    assert joint.margin_set.tolist() == [0]
    assert joint.values.tolist() == [0.25]


def small(caps=((1.0, 1.0, 2.0), (2.0, 1.0, 2.0)), alpha=(0.5, 0.25, 0.75), labels=(0, 0, 0)):
    """Three samples, the last a negative: the sums of the two classes are the same."""
    problem = {"kind": "2C-SVM", "y": [1, 1, -1], "K": [[1.0], [0.0, 1.0], [0.0, 0.0, 1.0]], "positive": "1"}
    problem["caps"] = [list(end) for end in caps]
    one = one_point(np.array(alpha), np.array([*labels, -1]))
    return problem, StoredPoints(problem, one, [np.array([*labels, -1])])


def repaired(points, letters, wanted, when):
    """Letters after a repair, numbers as fractions."""
    letters = dict(letters)
    points.repair(letters, points.A[0], Fraction(wanted), Fraction(when))
    return {i: v if v in ("l", "u") else Fraction(v) for i, v in letters.items()}


def test_the_multiplier_with_most_room_makes_the_equation_hold():
    _, points = small()
    when = Fraction(1, 2)
    for letters, wanted in (
        ({0: 0.5, 1: 0.25, 2: 1.0}, {0: 0.75}),  # 0.25 more: the first has 1, the second 0.75, the last 1 down
        ({0: 0.5, 1: 0.25, 2: 0.5}, {2: 0.75}),  # 0.25 less: the last has 1.5 up
        ({0: "u", 1: "l", 2: 1.25}, {2: 1.5}),
        ({0: "u", 1: "u", 2: "u"}, {0: 1.0}),  # at their caps, 1.5 and 1 against 2: half less
        ({0: "l", 1: "l", 2: 0.0}, {}),
        ({0: "l", 1: 0.5, 2: 0.5}, {}),
    ):
        exact = {i: v if v in ("l", "u") else Fraction(v) for i, v in (letters | wanted).items()}
        assert repaired(points, letters, 0, when) == exact
    right = {0: 0.5, 1: 0.25, 2: 0.5}
    assert repaired(points, right, Fraction(1, 4), when) == right
    with pytest.raises(ArithmeticError, match=r"no multiplier can make an equation hold exactly at t = 0\.5"):
        repaired(points, {0: "l", 1: "l", 2: "u"}, 5, when)


def test_without_caps_any_multiplier_has_room():
    problem, _ = small()
    del problem["caps"]
    problem |= {"kind": "margins", "q": [["-1"] * 3, ["-1"] * 3]}
    one = one_point(np.array([1.0, 0.5, 1.5]), np.array([0, 0, 0, -1]))
    points = StoredPoints(problem, one, [np.array([0, 0, 0, -1])])
    assert not points.capped
    assert points.side(0, 0).values.tolist() == [0.5, 0.25, 0.75]  # half of those of the formulation
    # The last can be 6.25 less, as it is 7; the others have as much room and their own value, 6.75 and 6.5.
    assert repaired(points, {0: 0.5, 1: 0.25, 2: 7.0}, 0, 0) == {0: 0.5, 1: 0.25, 2: 0.75}
    assert repaired(points, {0: 0.5, 1: 0.25, 2: 0.5}, 0, 0) == {0: 0.5, 1: 0.25, 2: 0.75}


def test_multipliers_beyond_their_bounds_are_at_them():
    problem, points = small(alpha=(1.5, -0.25, 1.0))
    ((_, changes, _), _) = points.points(Fraction(0))
    assert dict(changes)[0] == "u"
    assert changes == [[0, "u"], [2, 1.0]]
    end = list(decoded(problem, points.points(Fraction(0))))[-1]
    assert end[1] == [1, 0, 1]  # at t = 1 the first is below its cap, 2, and has most room


def test_the_price_of_a_row_leaves_the_margin_set_where_it_is():
    _, points = small()
    row, cap = np.array([1, 1, -1]), np.array([1.0, 1.0, 2.0])
    gradient, none = np.array([0.5, 0.25, -0.75]), np.array([], dtype=int)
    inside = np.array([0, 2])
    assert points.price(row, gradient, np.array([0, 1, 0]), inside, cap) == pytest.approx(0.625)
    assert points.price(np.array([0, 1, 0]), gradient, np.array([0, 0, 0]), np.array([0]), cap) == 0.25
    # Without one: x at 0 asks gradient - r row >= 0, at a cap <= 0.
    assert points.price(row, gradient, np.array([-1, 1, -1]), none, cap) == pytest.approx(0.5 * (0.5 + 0.75))
    assert points.price(row, gradient, np.array([-1, -1, 1]), none, cap) == pytest.approx(0.25)
    assert points.price(row, gradient, np.array([-1, -1, -1]), none, cap) == pytest.approx(0.5 * (0.25 + 0.75))
    assert points.price(row, gradient, np.array([-1, 1, -1]), none, np.array([1.0, 0.0, 2.0])) == pytest.approx(0.625)
    assert points.price(row, gradient, np.array([1, 1, 1]), none, np.zeros(3)) == 0.0


def test_a_side_has_the_gradient_of_its_kernel_or_features():
    """Prices of the one row: gradient over label of the margin set."""
    rng = np.random.default_rng(1)
    Z, diagonal = rng.integers(-3, 4, (3, 2)) / 2.0, [0.5, "1/4", 0]
    K = Z @ Z.T
    problem, _ = small()
    by_kernel = problem | {"K": [row[: i + 1].tolist() for i, row in enumerate(K)], "diagonal": diagonal}
    by_features = {**{k: v for k, v in problem.items() if k != "K"}, "X": Z.tolist(), "diagonal": diagonal}
    with_bias = by_features | {"bias": True, "kind": "quantile SVM", "lam": 0.5}
    labels = [np.array([0, 1, -1, -1])]
    one = one_point(np.array([0.5, 0.0, 0.0]), labels[0])
    y = np.array([1.0, 1.0, -1.0])
    x = np.array([0.5, 1.0, 0.0])
    whole = K + np.diag([0.5, 0.25, 0.0])
    wanted = (y * (whole @ (y * x)) - 1.0)[0]
    for stated in (by_kernel, by_features):
        found = StoredPoints(stated, one, labels).side(0, 0)
        assert found.rows.tolist() == pytest.approx([wanted])
        assert (found.t, found.margin_set.tolist(), found.values.tolist()) == (0.0, [0], [0.5])
    product = StoredPoints(with_bias, one, labels).product
    np.testing.assert_allclose(product(x), whole @ x + x.sum())
    np.testing.assert_array_equal(lower_triangle(by_kernel), np.tril(whole))
    end = StoredPoints(by_kernel, replace(one, a1=one.a1 + 0.25), labels).side(0, 1)
    assert (end.t, end.values.tolist()) == (1.0, [0.75])
    moved = y * (whole @ (y * np.array([0.75, 1.0, 0.0]))) - 1.0
    assert end.rows.tolist() == pytest.approx([moved[0]])


# ---- programs --------------------------------------------------------------------------------------------------------


def box_program(lower=-1.0, upper=1.0):
    """``min |x|^2 / 2 - 3 t x_0`` with bounds on x_0, none on x_1, and the row ``x_0 + x_1 = 0.1``."""
    q, inf = np.array([[0.0, 0.0], [-3.0, 0.0]]), np.inf
    low = np.array([[lower, -inf, 0.1]] * 2)
    up = np.array([[upper, inf, 0.1]] * 2)
    return ParametricQP.hard(np.eye(2), np.array([[1.0, 1.0]]), q, low, up)


def is_power_of_two(number):
    return np.log2(number) == np.round(np.log2(number))


def test_bounds_of_a_program_are_widened_by_a_power_of_two_more_than_what_doubles_miss():
    problem, t = box_program(), np.array([0.0, 0.25, 0.25, 1.0])
    x0 = np.array([0.05, 0.4, 0.4, 1.0 + 1e-9])
    x = np.stack([x0, 0.1 - x0 + 1e-7], axis=1)
    r = np.array([[0.05], [-0.3], [-0.3], [-0.9]])
    wider, points, about = program_points(problem, t, x, r)
    # The row misses 1e-7, the bound of x_0 1e-9; where nothing is missed nothing is widened.
    assert wider.lower[:, 0].tolist() == [-1.0, -1.0]
    for end in (0, 1):
        added = wider.upper[end, 0] - 1.0
        assert is_power_of_two(added)
        assert 2e-9 <= added <= 4.1e-9
        row = wider.upper[end, 2] - 0.1
        assert 2e-7 <= row <= 4.1e-7
        assert wider.lower[end, 1] == -4.0
        assert wider.upper[end, 1] == 4.0
    assert wider.lower[0, 2] <= 0.1
    assert "variables without any have 4" in about
    assert f"bounds are at most {wider.upper[0, 2] - 0.1:.1e} wider" in about
    assert [point[0] for point in points] == [0.0, 0.25, 1.0]  # two that are one stand there once
    assert points[0][1] == [[0, 0.05], [1, float(x[0, 1])]]
    assert points[1][2] == [-0.3]
    values, gap = check_gap.gap(program_problem(wider), points, "0")
    assert gap >= 0
    assert len(values) == 2


def test_points_that_differ_in_a_multiplier_alone_are_two():
    problem, t = box_program(), np.array([0.0, 0.5, 0.5, 1.0])
    x = np.array([[0.0, 0.1]] * 4)
    r = np.array([[0.1], [0.1], [0.2], [0.2]])
    _, points, _ = program_points(problem, t, x, r)
    assert [(point[0], point[2]) for point in points] == [(0.0, [0.1]), (0.5, [0.1]), (0.5, [0.2]), (1.0, [0.2])]
    assert [point[1] for point in points[1:]] == [[], [], []]


def test_every_point_is_within_the_wider_bounds_without_rounding():
    rng = np.random.default_rng(2)
    n, m, k = 3, 4, 6
    A, x = rng.normal(size=(m, n)), rng.normal(size=(k, n)) * 3
    t = np.linspace(0.0, 1.0, k)
    rows = x @ A.T
    low = np.hstack([np.full((2, n), -2.0), np.tile(rows.min(axis=0) + 0.3, (2, 1))])
    up = np.hstack([np.full((2, n), np.inf), np.tile(rows.max(axis=0) - 0.2, (2, 1))])
    low[:, n], up[:, n + 1] = -np.inf, np.inf
    problem = ParametricQP.hard(np.eye(n), A, np.zeros((2, n)), low, up)
    r = np.tile([[-1.0, 2.0, 1.0, -1.0]], (k, 1))
    r[0, :2] = 3.0, -4.0
    wider, points, _ = program_points(problem, t, x, r)
    for when, values in zip(t.tolist(), x.tolist(), strict=True):
        exact = [Fraction(v) for v in values]
        exact += [sum(Fraction(a) * v for a, v in zip(row, exact[:n], strict=True)) for row in A.tolist()]
        share = Fraction(when)
        for i, v in enumerate(exact):
            for ends, sign in ((wider.lower, 1), (wider.upper, -1)):
                if np.isfinite(ends[0, i]):
                    bound = (1 - share) * Fraction(float(ends[0, i])) + share * Fraction(float(ends[1, i]))
                    assert sign * (v - bound) >= 0
    # A multiplier has no sign for which its row has no bound.
    assert all(point[2][0] <= 0.0 for point in points)
    assert all(point[2][1] >= 0.0 for point in points)
    assert points[0][2] == [0.0, 0.0, 1.0, -1.0]
    assert points[1][2] == [-1.0, 2.0, 1.0, -1.0]
    far = 2 * max(1.0, np.abs(x).max())
    assert is_power_of_two(wider.upper[0, 0])
    assert far <= wider.upper[0, 0] < 2 * far


def test_one_solution_is_a_path_on_which_nothing_moves():
    found = one_point(np.array([0.5, 0.0, 1.0, 0.25]), np.array([0, -1, 1, 0, -1]))
    assert (found.t.tolist(), found.ptr.tolist(), found.index.tolist()) == ([0.0, 1.0], [0, 2], [0, 3])
    assert found.a0.tolist() == found.a1.tolist() == [0.5, 0.25]
