"""Attributes as constraints: their names, their order, and an equal problem in which they are written out."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from paretoclf.solve.models.attributes import as_compiled, attribute_constraints, bounded_entries, written_out

LOW, HIGH = np.array([0.0, -np.inf, -1.0]), np.array([np.inf, np.inf, 0.5])
MOVING = cp.Parameter(3, name="limit", value=np.ones(3))
SPARSE = sp.coo_array((np.array([1.0, 2.0]), ([0, 2], [1, 0])), shape=(3, 3))

#: Arguments of a variable -> its attributes, signs and bounds first.
SAID = [
    ({"shape": 3}, []),
    ({"shape": 3, "nonneg": True}, ["nonneg"]),
    ({"shape": 3, "pos": True}, ["pos"]),
    ({"shape": 3, "nonpos": True}, ["nonpos"]),
    ({"shape": 3, "neg": True}, ["neg"]),
    ({"shape": 3, "bounds": [0, 1]}, ["lower bound", "upper bound"]),
    ({"shape": 3, "bounds": [None, 1]}, ["upper bound"]),
    ({"shape": 3, "bounds": [LOW, None]}, ["lower bound"]),
    ({"shape": 3, "bounds": [LOW, HIGH]}, ["lower bound", "upper bound"]),
    ({"shape": 3, "bounds": [None, MOVING]}, ["upper bound"]),
    ({"shape": (2, 2), "PSD": True}, ["PSD"]),
    ({"shape": (2, 2), "NSD": True}, ["NSD"]),
    ({"shape": (2, 2), "symmetric": True}, []),
    ({"shape": (2, 2), "diag": True}, []),
    ({"shape": (2, 2), "PSD": True, "nonneg": True}, ["nonneg", "PSD"]),
    ({"shape": (), "nonneg": True}, ["nonneg"]),
]


@pytest.mark.parametrize(("how", "kinds"), SAID)
def test_each_attribute_is_a_constraint_with_its_name(how, kinds):
    x = cp.Variable(name="x", **how)
    found = attribute_constraints(x)
    assert list(found) == [f"x: {kind}" for kind in kinds]
    assert sorted(as_compiled(x)) == sorted(found)
    assert as_compiled(x) == [f"x: {kind}" for kind in sorted(kinds, key=lambda kind: kind not in ("PSD", "NSD"))]
    for name, constraint in found.items():
        x.save_value(np.full(x.shape, 0.25))
        inside = np.max(constraint.violation()) <= 1e-9
        assert inside == (kinds[0] not in ("nonpos", "neg", "NSD")) or name == "x: nonneg"
        assert constraint.expr.size == (x.size if "bound" not in name else bounded_entries(x, name).size)


@pytest.mark.parametrize(
    ("bounds", "lower", "upper"),
    [
        ([LOW, HIGH], [0, 2], [2]),
        ([0, HIGH], [0, 1, 2], [2]),
        ([LOW, MOVING], [0, 2], [0, 1, 2]),
    ],
)
def test_entries_with_a_bound(bounds, lower, upper):
    x = cp.Variable(3, bounds=bounds, name="x")
    assert bounded_entries(x, "x: lower bound").tolist() == lower
    assert bounded_entries(x, "x: upper bound").tolist() == upper


def test_entries_of_a_matrix_and_of_a_pattern():
    bound = np.array([[np.inf, 1.0], [2.0, np.inf]])
    x = cp.Variable((2, 2), bounds=[None, bound], name="x")
    assert bounded_entries(x, "x: upper bound").tolist() == [1, 2]
    assert attribute_constraints(x)["x: upper bound"].args[1].value.tolist() == [1, 2]
    assert bounded_entries(cp.Variable((2, 2), nonneg=True, name="x"), "x: nonneg").tolist() == [0, 1, 2, 3]
    sparse = cp.Variable((3, 3), sparsity=([0, 2], [1, 0]), bounds=[SPARSE, None], name="x")
    assert bounded_entries(sparse, "x: lower bound").tolist() == [1, 6]


def spread(variables, rng):
    """A strictly convex objective whose optimum would lie outside of what attributes say."""
    return sum(cp.sum_squares(v - 3 * rng.normal(size=v.shape)) for v in variables)


def test_the_problem_written_out_is_equal_and_its_multipliers_are_those_of_the_lagrangian():
    rng = np.random.default_rng(1)
    x = cp.Variable(3, bounds=[LOW, HIGH], name="x")
    y = cp.Variable((2, 2), nonneg=True, name="y")
    P = cp.Variable((3, 3), PSD=True, name="P")
    both = cp.Variable(4, bounds=[-0.5, 0.5], name="both")
    goal = spread([x, y, P, both], rng)
    problem = cp.Problem(cp.Minimize(goal), [(cp.sum(x) <= 0.2).set_label("top"), cp.sum(y) >= 1])
    best = problem.solve("CLARABEL")
    names = ["x: lower bound", "x: upper bound", "y: nonneg", "P: PSD", "both: upper bound"]
    again = written_out(problem, names)
    assert [c.label for c in again.constraints] == ["top", "constraint 1", *names]
    assert again.solve("CLARABEL") == pytest.approx(best, rel=1e-7)
    kinds = {v.name(): v.attributes for v in again.variables()}
    assert not kinds["y"]["nonneg"]
    assert not kinds["P"]["PSD"]
    assert kinds["P"]["symmetric"]
    assert kinds["x"]["bounds"] is None
    assert kinds["both"]["bounds"][0] is not None
    assert np.isinf(kinds["both"]["bounds"][1]).all()
    assert all(c.dual_value is not None for c in again.constraints)
    assert {v.id for v in problem.variables()}.isdisjoint(v.id for v in again.variables())


def test_what_is_not_named_stays():
    x, y = cp.Variable(2, nonneg=True, name="x"), cp.Variable(2, nonneg=True, name="y")
    again = written_out(cp.Problem(cp.Maximize(-cp.sum(x + y))), {"x: nonneg"})
    assert isinstance(again.objective, cp.Maximize)
    own = {v.id for v in again.variables()}
    assert y.id in own
    assert x.id not in own
    assert [c.label for c in again.constraints] == ["x: nonneg"]
