"""All optima of small programs: ranges beside HiGHS through SciPy on the same set, and cases that are known."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

import paretoclf as pc


def program(seed):
    """Whole numbers, so that several vertices are optimal more often than not, within 0 and 3."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    A = rng.integers(-1, 3, (m, n)).astype(float)
    return rng.integers(-2, 2, n).astype(float), A, rng.integers(1, 5, m).astype(float)


@pytest.mark.parametrize("seed", range(40))
def test_ranges_are_those_of_the_set_of_optima(seed):
    c, A, b = program(seed)
    x = cp.Variable(c.size, bounds=[0, 3], name="x")
    found = pc.unique(cp.Problem(cp.Minimize(c @ x), [A @ x <= b]), progress=False)
    best = linprog(c, A, b, bounds=(0, 3)).fun
    assert found.value == pytest.approx(best, abs=1e-9)
    widths = []
    for j, row in enumerate(found):
        e = np.eye(c.size)[j]
        low = linprog(e, A, b, c[None], [best], bounds=(0, 3)).fun
        high = -linprog(-e, A, b, c[None], [best], bounds=(0, 3)).fun
        assert (row.lower, row.upper) == pytest.approx((low, high), abs=1e-7)
        widths.append(high - low)
    assert bool(found) == found.unique == (max(widths) < 1e-7)


@pytest.mark.parametrize("seed", range(10))
def test_a_quadratic_program_whose_optima_are_a_set_of_points(seed):
    """The optima of a least squares problem within a box: those with one residual, which another program has."""
    rng = np.random.default_rng(seed)
    F, y = rng.normal(size=(2, 4)), rng.normal(size=2)
    x = cp.Variable(4, bounds=[-1, 1], name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(F @ x - y)))
    found = pc.unique(problem, progress=False)
    product = F @ np.asarray(found.variables["x"])
    for j, row in enumerate(found):
        e = np.eye(4)[j]
        ends = [sign * linprog(sign * e, A_eq=F, b_eq=product, bounds=(-1, 1)).fun for sign in (1, -1)]
        assert (row.lower, row.upper) == pytest.approx(ends, abs=1e-6)


def test_without_a_bound_a_range_has_no_end():
    x = cp.Variable(3, nonneg=True, name="x")
    found = pc.unique(cp.Problem(cp.Maximize(x[0] + x[1]), [x[0] + x[1] <= 3]), progress=False)
    assert [(row.lower, row.upper) for row in found] == [(0, 3), (0, 3), (0, np.inf)]
    assert repr(found).endswith("3 of 3 numbers differ between optima: proved")


def test_one_optimum_is_proved_by_a_basis_and_by_ranges():
    x = cp.Variable(2, name="x")
    by_basis = pc.unique(cp.Problem(cp.Minimize(x[0] + x[1]), [x >= 1]))
    by_ranges = pc.unique(cp.Problem(cp.Minimize(x[0] + x[1]), [x >= 1, x[0] >= 1, x[0] + x[1] >= 2]), progress=False)
    for found in (by_basis, by_ranges):
        assert found
        assert [(row.value, row.lower, row.upper) for row in found] == [(1, 1, 1), (1, 1, 1)]
        assert repr(found).endswith("optimal value 2; the optimum is unique: proved")


def test_only_what_is_asked_for_is_looked_at():
    pytest.importorskip("pandas")
    x, y = cp.Variable(2, nonneg=True, name="x"), cp.Variable(name="y")
    problem = cp.Problem(cp.Maximize(cp.sum(x) - y), [cp.sum(x) <= 1, y >= 2])
    assert pc.unique(problem, of=y)
    assert not pc.unique(problem, of=["x", y], progress=False)
    frame = pc.unique(problem, of="x", progress=False).to_frame()
    assert frame["name"].tolist() == ["x[0]", "x[1]"]
    assert pc.unique(problem, progress=False)["y"][0].value == 2
    with pytest.raises(pc.InputError, match="of must have variables among x, y, got 'z'"):
        pc.unique(problem, of="z")
    with pytest.raises(pc.InputError, match="name must be that of a variable, one of x, y, got 'z'"):
        pc.unique(problem, progress=False)["z"]


def test_arrays_with_names_and_what_has_no_optimum():
    qp = pc.QP(None, [-1.0, -1.0], [[1, 1]], [-np.inf], [2.0], names=(["a", "b"], ["sum"]))
    norm = cp.Problem(cp.Minimize(cp.norm2(cp.Variable(2))))
    with pytest.raises(pc.InputError, match="problem must be a quadratic or linear program"):
        pc.unique(norm)
    found = pc.unique(qp, progress=False)
    assert [(row.name, row.lower, row.upper) for row in found] == [("a", -np.inf, np.inf), ("b", -np.inf, np.inf)]
    with pytest.raises(pc.InputError, match="problem must have an optimum, got one that is unbounded"):
        pc.unique(pc.QP(None, [-1.0], [[1.0]], [0.0], None))
