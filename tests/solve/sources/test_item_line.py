"""A program of items as the source of a path: against brute force, and a new kind of path that has no tracer."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from scipy.optimize import nnls

import paretoclf as pc
from paretoclf.checking.beside import judge_beside
from paretoclf.path.programs.problem_path import ProblemPath, trace_problem
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.solve.sources.item_line import LineOfItems


@dataclass(frozen=True, repr=False)
class NonnegativePath(ProblemPath):
    """Nonnegative least squares, min |A w - c|^2 / 2 over w >= 0, while the right-hand side c moves along a line."""

    @classmethod
    def trace(cls, A, first, last):
        """Follow and prove it: the residual r = A w - c is a variable, too."""
        (m, n), sides, free = A.shape, -np.stack([first, last]), np.full((2, len(A)), np.inf)
        P, rows = np.diag(np.repeat([0.0, 1.0], [n, m])), np.hstack([-A, np.eye(m)])
        low = np.hstack([np.zeros((2, n)), -free, sides])
        high = np.hstack([np.full((2, n), np.inf), free, sides])
        problem = ParametricQP.hard(P, rows, np.zeros((2, n + m)), low, high)
        return trace_problem(LineOfItems(problem, variables={"w": n, "r": m}), cls)

    def support(self, t):
        """The columns that are used at t."""
        return np.flatnonzero(self.at(t).variables["w"] > 0.0)


def least_squares(seed=0, m=12, n=6):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, n)), rng.normal(size=m), rng.normal(size=m)


def test_a_kind_of_path_needs_forty_lines_and_no_tracer():
    assert len(inspect.getsource(NonnegativePath).splitlines()) <= 40


@pytest.mark.parametrize("seed", range(6))
def test_nonnegative_least_squares_along_its_right_hand_side(seed):
    """At every t it is what Lawson and Hanson find, it is proved, and it has the face of all paths."""
    A, first, last = least_squares(seed)
    path = NonnegativePath.trace(A, first, last)
    assert type(path) is NonnegativePath
    assert path.proof.passes(1e-12)
    assert path.status == "end"
    for t in np.linspace(0.0, 1.0, 23).tolist():
        w, residual = nnls(A, (1 - t) * first + t * last)
        assert path.value(t) == pytest.approx(0.5 * residual**2, rel=1e-10)
        np.testing.assert_allclose(path.at(t).variables["w"], w, atol=1e-10)
        assert set(np.flatnonzero(w > 1e-9)) <= set(path.support(t))
    for before, after in zip(path.breakpoints[:-1], path.breakpoints[1:], strict=True):
        middle = 0.5 * (before + after)
        slopes, move = path.slopes(middle), last - first
        assert slopes.right.value == pytest.approx(-path.at(middle).variables["r"] @ move, rel=1e-9)
        support = path.support(middle)
        expected = np.zeros(A.shape[1])
        expected[support] = np.linalg.lstsq(A[:, support], move)[0]
        np.testing.assert_allclose(slopes.right.variables["w"], expected, atol=1e-9)
    assert {event.name.partition("[")[0] for event in path.events} <= {"w"}
    assert path.compare(3).agrees(1e-8)


def test_a_stranger_is_judged_beside_it():
    A, first, last = least_squares()
    path = NonnegativePath.trace(A, first, last)
    t = np.linspace(0.0, 1.0, 9)
    w = np.array([nnls(A, (1 - s) * first + s * last)[0] for s in t])
    r = w @ A.T - np.array([(1 - s) * first + s * last for s in t])
    assert judge_beside(path, t, {"w": w, "r": r}, between=False).passes()
    assert not judge_beside(path, t, {"w": w, "r": r}).passes()  # it bends between these knots
    for wrong in ({"w": 1.01 * w, "r": 1.01 * w @ A.T - (r - w @ A.T) * -1}, {"w": w - 1e-4, "r": r}):
        assert not judge_beside(path, t, wrong, between=False).passes()


def test_a_file_holds_it(tmp_path):
    path = NonnegativePath.trace(*least_squares())
    path.save(tmp_path / "path")
    again = pc.load(tmp_path / "path.npz")
    np.testing.assert_array_equal(again.value(path.breakpoints), path.value(path.breakpoints))


# ---- the program of items ------------------------------------------------------------------------------------------


def random_items(seed):
    """Bounds of all kinds, hard and soft, on two variables and two rows."""
    rng = np.random.default_rng(seed)
    B, A, q = rng.normal(size=(2, 2)), rng.normal(size=(2, 2)), rng.normal(size=(2, 2))
    low, high = np.full((2, 4), -np.inf), np.full((2, 4), np.inf)
    below, above = np.full((2, 4), np.inf), np.full((2, 4), np.inf)
    low[:, :2], high[:, :2] = -1.0 - rng.random((2, 2)), 1.0 + rng.random((2, 2))
    for row in (2, 3):
        if rng.random() < 0.7:
            high[:, row], above[:, row] = rng.normal(size=2), 3.0 * rng.random(2)
        if rng.random() < 0.5:
            low[:, row], below[:, row] = np.minimum(high[:, row], 3.0) - rng.random(2), 3.0 * rng.random(2)
    return ParametricQP(B @ B.T, A, q, low, high, below, above)


def at_t(ends, t):
    """What is affine, and infinite at both ends or at none."""
    return ends[0] if np.isinf(ends[0]) else (1 - t) * ends[0] + t * ends[1]


def cost(problem, x, t):
    """The objective with its kinks, at points (k, 2); infinite outside of hard bounds."""
    v = np.hstack([x, x @ problem.A.T])
    value = 0.5 * np.sum((x @ problem.P) * x, axis=1) + x @ ((1 - t) * problem.q[0] + t * problem.q[1])
    for i in range(problem.items):
        low, high, below, above = (
            at_t(getattr(problem, name)[:, i], t) for name in ("lower", "upper", "below", "above")
        )
        for off, price in ((low - v[:, i], below), (v[:, i] - high, above)):
            beyond = off > 1e-12
            value[beyond] += price * off[beyond]
    return value


@pytest.mark.parametrize("seed", range(8))
def test_soft_and_hard_bounds_are_those_of_the_items(seed):
    """No point of a fine grid is better; the point itself costs what the path says; a stranger's point does, too."""
    problem = random_items(seed)
    source = LineOfItems(problem)
    path = trace_problem(source)
    assert path.proof.passes()
    grid = np.array(list(product(np.linspace(-2, 2, 161), repeat=2)))
    for t in (0.0, 0.31, 0.77, 1.0):
        x, value = path.at(t).variables["x"], path.value(t)
        assert cost(problem, x[None], t)[0] == pytest.approx(value, abs=1e-9)
        best = cost(problem, grid, t).min()
        assert value <= best + 1e-9
        assert value >= best - 0.3
        assert source.solve(t) == pytest.approx(value, abs=1e-7)
        objective, violation = source.tried(t, {"x": x})
        assert objective == pytest.approx(value, abs=1e-9)
        assert violation < 1e-9
    assert source.tried(0.5, {"x": [3.0, 0.0]})[1] > 0.1


def test_multipliers_have_the_signs_of_items():
    """y is nonnegative at a lower bound, nonpositive at an upper one, and P x + q = y."""
    q, box = np.array([[0.5, 0.5, 3.0], [-3.0, 0.5, 3.0]]), np.ones((2, 3))
    path = trace_problem(LineOfItems(ParametricQP.hard(np.eye(3), np.zeros((0, 3)), q, 0 * box, box)))
    for t in (0.1, 0.5, 0.9):
        point = path.at(t)
        np.testing.assert_allclose(point.variables["x"] + (1 - t) * q[0] + t * q[1], point.duals["y"], atol=1e-12)
    assert path.shadow_price("y")(1.0)[0] == pytest.approx(-2.0)


def test_what_does_not_fit_is_refused():
    problem = random_items(0)
    with pytest.raises(pc.InputError, match=r"^variables must have 2 entries together, got \{'a': 3\}$"):
        LineOfItems(problem, variables={"a": 3})
    path = trace_problem(LineOfItems(problem))
    for ask, said in (
        (path.assign, "assign writes into a cvxpy.Problem"),
        (path.rule, "path must be of a cvxpy.Problem"),
    ):
        with pytest.raises(pc.InputError, match=said):
            ask(0.5)
