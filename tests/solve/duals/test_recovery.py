"""Primal points from multipliers: equations against gradients by differences, points against closed forms and CVXPY."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

from paretoclf.solve.duals.construction.dual_parts import parts_of
from paretoclf.solve.duals.construction.tree import Tree
from paretoclf.solve.duals.recovery import equations_of, recovered
from paretoclf.solve.models.model import Model

TIGHT = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
WEIGHTS = np.array([1.0, 2.0, 0.5])
TURN = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
SPD = TURN @ np.diag([3.0, 1.0, 0.5]) @ TURN.T


def occurrence(atom, x, w, *ys):
    """The atom with a weight and multipliers that have values."""
    tree = Tree()
    tree.affine(atom(x))
    (found,) = tree.occurrences
    for y, value in zip(found.ys, ys, strict=True):
        y.save_value(np.asarray(value, dtype=float).reshape(y.shape))
    return replace(found, w=w if isinstance(w, cp.Expression) else cp.Constant(w))


def sign(atom):
    """-1 of a concave one."""
    return -1.0 if atom.is_atom_concave() and not atom.is_atom_convex() else 1.0


def gradient(cost, point, step=1e-5):
    """By central differences."""
    found = np.zeros(point.shape)
    square = point.ndim == 2 and point.shape[0] == point.shape[1]
    for place in np.ndindex(point.shape):
        unit = np.zeros(point.shape)
        unit[place] = step
        unit = (unit + unit.T) / 2 if square else unit
        found[place] = (cost(point + unit) - cost(point - unit)) / (2 * step)
    return found


def rank_of(found, points, values):
    """Rank of what they say of the arguments, once they are seen to hold at points and values."""
    for k, B, side, direction in found:
        u = np.asarray(points[k]).ravel(order="F")
        assert B @ u == pytest.approx(side + direction @ np.ravel(values, order="F"), abs=2e-8)
    return sum(np.linalg.matrix_rank(B) for _, B, _, _ in found)


SMOOTH = {
    "square": (cp.square, [1.0, -2.0, 0.0], 3),
    "sum_squares": (cp.sum_squares, [1.0, -2.0, 0.5], 3),
    "huber": (lambda x: cp.huber(x, 0.8), [0.3, -0.5, 1.5], 2),
    "exp": (cp.exp, [1.0, -0.5, 0.0], 3),
    "logistic": (cp.logistic, [1.0, -0.5, 0.3], 3),
    "log": (cp.log, [1.0, 0.3, 2.0], 3),
    "log1p": (cp.log1p, [1.0, -0.3, 2.0], 3),
    "entr": (cp.entr, [1.0, 0.3, 2.0], 3),
    "quartic": (lambda x: cp.power(x, 4, approx=False), [1.0, -0.7, 1.2], 3),
    "eighth power": (lambda x: cp.power(x, 8, approx=False), [1.0, -0.7, 1.1], 3),
    "cubic": (lambda x: cp.power(x, 3, approx=False), [1.0, 0.7, 1.2], 3),
    "power 1.5": (lambda x: cp.power(x, 1.5, approx=False), [1.0, 0.7, 1.2], 3),
    "square root": (lambda x: cp.power(x, 0.5, approx=False), [1.0, 0.7, 1.2], 3),
    "inverse": (lambda x: cp.power(x, -1, approx=False), [1.0, 0.7, 1.2], 3),
    "inverse square": (lambda x: cp.power(x, -2, approx=False), [1.0, 0.7, 1.2], 3),
    "norm2": (cp.norm2, [1.0, 0.7, -1.2], 3),
    "log_sum_exp": (cp.log_sum_exp, [1.0, 0.7, -1.2], 3),
    "quad_form": (lambda x: cp.quad_form(x, SPD), [1.0, 0.7, -1.2], 3),
    "log_det": (cp.log_det, SPD, 9),
    "tr_inv": (cp.tr_inv, SPD, 9),
    "rows' norms": (lambda x: cp.norm(x, 2, axis=1), np.arange(6.0).reshape(3, 2) - 2.2, 6),
    "columns' norms": (lambda x: cp.norm(x, 2, axis=0), np.arange(6.0).reshape(2, 3) - 2.2, 6),
    "rows' log_sum_exp": (lambda x: cp.log_sum_exp(x, axis=1), np.arange(6.0).reshape(3, 2) / 5, 6),
    "columns' log_sum_exp": (lambda x: cp.log_sum_exp(x, axis=0), np.arange(6.0).reshape(2, 3) / 5, 6),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_where_an_atom_is_smooth_the_equations_hold_at_its_maximiser_only(name):
    atom, point, rank = SMOOTH[name]
    point = np.array(point)
    x = cp.Variable(point.shape, symmetric=name in ("log_det", "tr_inv"))
    its_sign = sign(atom(x))

    def value(u):
        return its_sign * atom(cp.Constant(u)).value

    w = WEIGHTS if np.size(value(point)) == 3 else 2.0
    y = gradient(lambda u: np.sum(w * value(u)), point)
    found = equations_of(occurrence(atom, x, w, y))
    assert rank_of(found, [point], value(point)) == rank
    own = cp.Variable(np.shape(value(point)))
    own.save_value(np.zeros(own.shape) + 1e-9)  # a weight that a solver left of 0
    of_none = equations_of(occurrence(atom, x, own, 0 * point))
    assert sum(len(each[1]) for each in of_none) == 0 or "norm" in name
    own.save_value(np.zeros(own.shape) + w)
    assert rank_of(equations_of(occurrence(atom, x, own, y)), [point], value(point)) == rank
    own.save_value(np.full(own.shape, np.nan))
    assert equations_of(occurrence(atom, x, own, y)) == []


BY_TURN = TURN @ np.diag([3.0, 3.0, 1.0]) @ TURN.T
KINKS = {
    "abs": (cp.abs, [0.0, 2.0, -3.0], WEIGHTS, [0.3, 2.0, -0.5], 3),
    "pos": (cp.pos, [0.0, 2.0, -1.0], WEIGHTS, [0.5, 2.0, 0.0], 2),
    "norm1": (cp.norm1, [0.0, 2.0, -3.0], 2.0, [-0.7, 2.0, -2.0], 1),
    "norm_inf": (cp.norm_inf, [1.0, 3.0, -3.0], 2.0, [0.0, 1.5, -0.5], 2),
    "norm2 at 0": (cp.norm2, [0.0, 0.0, 0.0], 2.0, [0.9, 0.3, -1.0], 3),
    "rows' norms": (
        lambda x: cp.norm(x, 2, axis=1),
        [[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]],
        WEIGHTS,
        [[0.6, 0.3], [1.2, 1.6], [0.0, 0.1]],
        6,
    ),
    "max": (cp.max, [1.0, 3.0, 3.0], 2.0, [0.0, 1.5, 0.5], 2),
    "rows' largest": (
        lambda x: cp.max(x, axis=1),
        [[1.0, 3.0], [5.0, 2.0], [4.0, 4.0]],
        WEIGHTS,
        [[0.0, 1.0], [2.0, 0.0], [0.2, 0.3]],
        4,
    ),
    "lambda_max": (cp.lambda_max, BY_TURN, 2.0, TURN @ np.diag([1.2, 0.8, 0.0]) @ TURN.T, 6),
    "log_sum_exp of one": (cp.log_sum_exp, [-40.0, 1.0, -40.0], 2.0, [0.0, 2.0, 0.0], 1),
    "power 3 at 0": (lambda x: cp.power(x, 3, approx=False), [-1.0, 1.0, 0.0], 1.0, [0.0, 3.0, 0.0], 1),
    "indefinite": (cp.log_det, np.eye(3), 1.0, np.diag([1.0, -1.0, -1.0]), 0),
    "without an inverse": (cp.tr_inv, np.eye(3), 1.0, np.diag([1.0, -1.0, -1.0]), 0),
}


@pytest.mark.parametrize("name", KINKS)
def test_at_kinks_they_say_no_more_than_holds(name):
    atom, point, w, y, rank = KINKS[name]
    x = cp.Variable(np.shape(point), symmetric=name in ("lambda_max", "indefinite", "without an inverse"))
    w = np.broadcast_to(w, atom(x).shape)
    value = atom(cp.Constant(np.array(point))).value
    assert rank_of(equations_of(occurrence(atom, x, w, y)), [point], value) == rank


def test_inside_the_ball_of_multipliers_a_norm_is_0_whatever_its_value():
    y = np.array([[0.6, 0.3], [1.2, 1.6], [0.0, 0.1]])
    found = equations_of(occurrence(lambda x: cp.norm(x, 2, axis=1), cp.Variable((3, 2)), WEIGHTS, y))
    kinds = [(len(B), np.abs(direction).sum(axis=0)) for _, B, _, direction in found]
    assert [rows for rows, _ in kinds] == [4, 2]
    assert kinds[0][1] == pytest.approx([0, 0, 0])
    assert kinds[1][1] == pytest.approx([0, 1.4, 0])


def test_of_the_largest_of_several_those_with_a_multiplier_are_equal():
    x = cp.Variable((2, 2))
    points = np.array([1.0, 2.0]), np.array([1.0, 0.0])
    found = equations_of(occurrence(lambda x: cp.maximum(x[0], x[1]), x, np.ones(2), [0.4, 1.0], [0.6, 0.0]))
    assert rank_of(found, points, [1.0, 2.0]) == 3
    assert {each[0] for each in found} == {0, 1}


def at_optimum(problem):
    """What is recovered from CVXPY's solution of the dual."""
    parts = parts_of(Model.of(problem, maximise=True, moving=False))
    parts.built().solve("CLARABEL", **TIGHT)
    return recovered(parts)


F = np.random.default_rng(1).normal(size=(5, 3))
G = np.array([1.0, -2.0, 0.3, 0.7, 1.5])
x, t, S = cp.Variable(3, name="x"), cp.Variable(name="t"), cp.Variable((3, 3), symmetric=True, name="S")
LOW = np.array([0.1, 0.2, 0.0])
PROBLEMS = {
    "lasso": cp.Problem(cp.Minimize(cp.sum_squares(F @ x - G) + 2 * cp.norm1(x))),
    "bounds": cp.Problem(cp.Minimize(cp.sum_squares(F @ x - G)), [x >= LOW, cp.sum(x) == 1]),
    "LP": cp.Problem(cp.Maximize(x @ [1.0, 2.0, 0.5]), [x >= LOW, cp.sum(x) <= 1]),
    "SOC": cp.Problem(cp.Minimize(3 * t + x @ [0.3, 0.4, 0.0]), [cp.SOC(t, x), x[0] == 1, x[2] == 0.5]),
    "SOC at its tip": cp.Problem(cp.Minimize(2 * t + x @ [0.3, 0.4, 0.0]), [cp.SOC(t, x)]),
    "SDP": cp.Problem(cp.Minimize(cp.trace(SPD @ S)), [S >> 0, cp.trace(S) == 1]),
    "maximised": cp.Problem(cp.Maximize(cp.sum(cp.log(x)) - cp.sum(x) * 2)),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_primal_point_is_that_of_cvxpy(name):
    problem = PROBLEMS[name]
    found = at_optimum(problem)
    problem.solve("CLARABEL", **TIGHT)
    assert found.unique
    assert found.missed <= 1e-5
    assert str(found) == "x is determined by stationarity and complementary slackness."
    assert set(found.values) == {v.name() for v in problem.variables()}
    for v in problem.variables():
        assert found.values[v.name()] == pytest.approx(v.value, abs=3e-5)


def test_what_is_open_is_said():
    problem = cp.Problem(cp.Minimize(cp.square(x[0] - 2) + cp.pos(x[1] + x[2] - 1) + cp.pos(t)))
    found = at_optimum(problem)
    assert not found.unique
    assert found.values["x"][0] == pytest.approx(2, abs=1e-6)
    assert np.isnan(found.values["x"][1:]).all()
    assert np.isnan(found.values["t"])
    assert "slackness: 2 of 3 entries of x, t." in repr(found) or "slackness: t, 2 of 3 entries of x." in repr(found)


def test_multipliers_that_are_not_optimal_contradict_each_other():
    """u = 0 by y = 0, with u = x0 - 2 so x0 = 2, and x0 = 5: relative to their size, 3 and 6, the rows are

    x0 / 3 = 2 / 3 and x0 / 6 = 5 / 6. The least squares have x0 = (2 / 9 + 5 / 36) / (1 / 9 + 1 / 36) = 13 / 5, which
    misses the second by 2 / 5, relative to 1 + x0.
    """
    x0 = cp.Variable(name="x0")
    parts = parts_of(Model.of(cp.Problem(cp.Minimize(cp.square(x0 - 2)), [x0 == 5]), maximise=True, moving=False))
    for v in parts.built().variables():
        v.save_value(np.zeros(v.shape))
    found = recovered(parts)
    assert found.missed == pytest.approx((2 / 5) / (1 + 13 / 5))
    assert f"The equations contradict each other by {found.missed:.1g} of their size." in found.sentence


def test_patterns_of_variables_are_equations():
    """The nearest matrices with an attribute to one are its parts."""
    C = np.arange(9.0).reshape(3, 3) - np.array([0, 5.0, 1])
    cases = (
        ({"symmetric": True}, (C + C.T) / 2),
        ({"diag": True}, np.diag(np.diag(C))),
        ({"sparsity": ([0, 1, 2], [1, 1, 0])}, C * np.array([[0, 1, 0], [0, 1, 0], [1, 0, 0]])),
    )
    bound = {"symmetric": np.zeros((3, 3)), "diag": 1 - np.eye(3), "sparsity": cases[2][1] == 0}
    for said, nearest in cases:
        M = cp.Variable((3, 3), name="M", **said)
        found = at_optimum(cp.Problem(cp.Minimize(cp.sum_squares(M - C))))
        assert found.values["M"] == pytest.approx(nearest, abs=1e-6)
        assert found.unique
        assert found.missed <= 1e-6
        alone = at_optimum(cp.Problem(cp.Minimize(cp.pos(M[0, 0] - 1) + cp.pos(M[1, 1] + 1))))
        free = np.isnan(alone.values["M"])
        assert free.tolist() == (np.asarray(bound[next(iter(said))]) == 0).tolist()


def test_values_of_unknowns_are_left_as_they_were():
    x.save_value(np.array([7.0, 8.0, 9.0]))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(F @ x - G)))
    parts = parts_of(Model.of(problem, maximise=True, moving=False))
    for v in parts.built().variables():
        v.save_value(np.zeros(v.shape))
    recovered(parts)
    assert x.value.tolist() == [7, 8, 9]
