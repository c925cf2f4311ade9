"""Attributes as constraints: their names and their order."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from paretoclf.solve.models.attributes import as_compiled, attribute_constraints, bounded_entries

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
