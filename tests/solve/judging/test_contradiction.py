"""Names of contradicting constraints, each of which is needed: without any of those that are named there is a point."""

from __future__ import annotations

import cvxpy as cp
import pytest

import paretoclf as pc

X, D = cp.Variable(2, name="x"), cp.Variable(2, name="d")


def labelled(**rows):
    return [row.set_label(name) for name, row in rows.items()]


@pytest.mark.parametrize(
    "rows",
    [
        labelled(size=cp.abs(X) <= 2, low=X[0] >= 3),
        labelled(size=cp.norm1(X) <= 2, low=X >= 1.5),
        labelled(ball=cp.norm(X) <= 1, total=cp.sum(X) >= 2),
        labelled(nested=cp.max(cp.abs(X) + cp.abs(D)) <= 1, low=D[1] <= -2),
        labelled(alone=cp.abs(X[0] - 1) <= -2),
        labelled(alone=cp.norm(X) <= -1),
    ],
    ids=["abs", "norm1", "norm", "nested", "itself", "norm itself"],
)
def test_rows_that_cvxpy_added_are_said_to_be_the_constraint_that_has_them(rows):
    other = (cp.abs(X[1]) <= 9).set_label("other")
    problem = cp.Problem(cp.Minimize(cp.norm1(X)), [*rows, other])
    names = [row.label for row in rows]
    problem.solve(solver="CLARABEL")
    assert list(pc.verify(problem).blame) in (names, names[::-1])
    together = "contradicts itself" if len(rows) == 1 else "together"
    assert together in str(pc.grade(problem, "infeasible"))
    for left_out in rows:
        rest = cp.Problem(cp.Minimize(0), [row for row in [*rows, other] if row is not left_out])
        rest.solve(solver="CLARABEL")
        assert rest.status == "optimal"


def test_the_domain_of_an_objective_is_none_of_the_constraints():
    """The rows that it is compiled to have nothing in common with the constraint that has no point in it."""
    s = cp.Variable(name="s")
    problem = cp.Problem(cp.Minimize(-cp.sqrt(s)), [(s <= -1).set_label("top")])
    assert "top and the domain of the objective together" in str(pc.grade(problem, "infeasible"))
