"""Conflicts of random systems: infeasible, irreducible, and ended by what they say, beside HiGHS through SciPy."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

import paretoclf as pc
from paretoclf.path.sensitivity.conflict import _part, _seen, constraints_of, name_of_row


def system(seed):
    """Random whole numbers: rows and equations, infeasible more often than not."""
    rng = np.random.default_rng(seed)
    n, m, equations = int(rng.integers(2, 5)), int(rng.integers(4, 12)), int(rng.integers(0, 3))
    A = rng.integers(-3, 4, (m, n)).astype(float)
    b = rng.integers(-4, 3, m).astype(float)
    return A, b, min(equations, m)


def feasible(A, b, equations):
    """Whether HiGHS finds a point."""
    A_eq, b_eq = (A[equations], b[equations]) if equations.any() else (None, None)
    rest = ~equations
    A_ub, b_ub = (A[rest], b[rest]) if rest.any() else (None, None)
    return linprog(np.zeros(A.shape[1]), A_ub, b_ub, A_eq, b_eq, bounds=(None, None)).status == 0


@pytest.mark.parametrize("seed", range(60))
def test_a_conflict_is_infeasible_irreducible_and_ended_by_what_it_says(seed):
    A, b, count = system(seed)
    x = cp.Variable(A.shape[1], name="x")
    rows = [(A[i] @ x == b[i] if i < count else A[i] @ x <= b[i]).set_label(f"r{i}") for i in range(len(b))]
    found = pc.conflict(cp.Problem(cp.Minimize(cp.sum(x)), rows))
    every = np.arange(len(b)) < count
    assert bool(len(found)) == (not feasible(A, b, every))
    if not len(found):
        point = np.asarray(found.point["x"])
        off = A @ point - b
        assert np.where(every, np.abs(off), off).max() <= 1e-8
        return
    assert found.proof.passes()
    members = np.array([int(row.name[1:]) for row in found])
    assert not feasible(A[members], b[members], every[members])
    for k, row in enumerate(found):
        others = np.delete(members, k)
        assert feasible(A[others], b[others], every[others])
        point = np.asarray(row.without["x"])
        off = A[others] @ point - b[others]
        assert np.where(every[others], np.abs(off), off).max(initial=0.0) <= 1e-8
        if every[members[k]]:
            continue
        for share, ended in ((1.0 + 1e-6, True), (1.0 - 1e-6, False)):
            given = b.copy()
            given[members[k]] += share * row.relax
            assert feasible(A[members], given[members], every[members]) == ended


def test_bounds_of_variables_and_sides_of_rows_have_names():
    x = cp.Variable(2, bounds=[0, 2], name="x")
    found = pc.conflict(cp.Problem(cp.Minimize(0 * x[0]), [(cp.sum(x) >= 5).set_label("demand")]))
    assert {row.name for row in found} == {"demand", "upper bound of x[0]", "upper bound of x[1]"}
    assert set(found.constraints) == {"demand", "upper bound of x[0]", "upper bound of x[1]"}
    qp = pc.QP(None, [1.0, 1.0], [[1, 1], [1, 0], [0, 1]], [5, 0, 0], [9, 2, 2])
    assert {row.name for row in pc.conflict(qp)} == {"y[0] (lower bound)", "y[1] (upper bound)", "y[2] (upper bound)"}
    one_sided = pc.QP(None, [1.0], [[1], [1]], [3, -np.inf], [np.inf, 1])
    assert [row.name for row in pc.conflict(one_sided)] == ["y[1]", "y[0]"]


@pytest.mark.parametrize("way", ["nonpos", "nonneg", "bounds"])
def test_the_side_of_a_bound_of_a_variable_is_the_users(way):
    """Of a variable that is not positive CVXPY holds the opposite, of which that is a lower bound."""
    how = {"bounds": [-1, 0]} if way == "bounds" else {way: True}
    x, sign = cp.Variable(name="x", **how), 1.0 if way == "nonneg" else -1.0
    found = pc.conflict(cp.Problem(cp.Minimize(x), [(sign * x <= -3).set_label("far")]))
    assert {row.name for row in found} == {"far", "lower bound of x" if way == "nonneg" else "upper bound of x"}


def test_bounds_of_the_variables_of_a_file_have_sides_and_those_of_fixed_ones_none():
    names = ["steel", "coal"], ["need", "bound of steel", "bound of coal"]
    rows = [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    qp = pc.QP(None, [1.0, 1.0], rows, [9.0, 0.0, 3.0], [np.inf, 4.0, 3.0], names=names)
    found = pc.conflict(qp)
    assert {row.name for row in found} == {"need", "upper bound of steel", "bound of coal"}
    assert set(found.constraints) == set(names[1])


X3 = cp.Variable(3, name="x")
OF_TERMS = {
    "abs": [cp.abs(X3) <= 1, cp.sum(X3) >= 4, X3[0] <= 5],
    "norm1": [cp.norm1(X3) <= 1, X3[0] >= 2, X3[1] <= 0],
    "max": [cp.max(X3) <= 1, cp.sum(X3) >= 4, cp.min(X3) >= -9],
    "tv": [cp.tv(X3) <= 1, X3[0] >= 4, X3[2] <= 0, cp.abs(X3[1]) <= 9],
    "sum_largest": [cp.sum_largest(X3, 2) <= 1, X3[0] >= 4, X3[1] >= 0, X3[2] >= 0],
    "two in one": [cp.norm1(X3) + cp.abs(X3[0]) <= 1, cp.maximum(X3[0], 0.5) <= cp.minimum(X3[1], 4), X3[0] >= 0.4],
}


@pytest.mark.parametrize("kind", OF_TERMS)
def test_rows_of_norms_and_maxima_belong_to_their_constraints(kind):
    rows = [c.set_label(f"r{k}") for k, c in enumerate(OF_TERMS[kind])]
    found = pc.conflict(cp.Problem(cp.Minimize(cp.norm_inf(X3)), rows))
    assert len(found) > 1
    assert all(row.name.startswith("r") for row in found), found
    blamed = [c for c in rows if c.label in found.constraints]

    def status(constraints):
        problem = cp.Problem(cp.Minimize(0), constraints)
        problem.solve("CLARABEL")
        return problem.status

    assert status(blamed) == cp.INFEASIBLE
    for row in found:
        others = [c for c in blamed if c.label != row.constraint]
        assert status(others) == cp.OPTIMAL
        X3.value = row.without["x"]
        assert max(np.max(c.violation()) for c in others) < 1e-7


def test_the_objective_has_no_part_in_it():
    x = cp.Variable(2, name="x")
    rows = [(x[0] >= 2).set_label("low"), (x[0] <= 1).set_label("high"), x[1] >= 0]
    for goal in (cp.Minimize(cp.norm2(x)), cp.Maximize(cp.log(x[1])), cp.Minimize(cp.sum_squares(x))):
        found = pc.conflict(cp.Problem(goal, rows))
        assert (found.constraints, [row.relax for row in found]) == (("low", "high"), [1.0, 1.0])


def test_a_row_that_contradicts_itself():
    x = cp.Variable(name="x")
    found = pc.conflict(cp.Problem(cp.Minimize(x), [(0 * x >= 1).set_label("never"), x >= 0]))
    assert repr(found).splitlines()[-1] == "this one contradicts itself: proved"


def test_a_conflict_is_a_table():
    pytest.importorskip("pandas")
    x = cp.Variable(2, nonneg=True, name="x")
    problem = cp.Problem(cp.Minimize(x[0]), [(cp.sum(x) >= 5).set_label("demand"), (x <= 2).set_label("capacity")])
    found = pc.conflict(problem)
    assert found.to_frame().columns.tolist() == ["name", "constraint", "multiplier", "relax"]
    assert found.to_frame()["relax"].tolist() == [1.0, 1.0, 1.0]
    assert found.constraints == ("demand", "capacity")
    none = pc.conflict(cp.Problem(cp.Minimize(x[0]), [x <= 2]))
    assert (len(none), none.proof) == (0, None)
    assert repr(none) == "no conflict: there is a point that satisfies all constraints"


def test_rows_outside_of_a_conflict_may_exclude_what_is_said_of_it():
    """Of two caps of one constraint the conflict names one: without it, or relaxed, the other contradicts, too."""
    x = cp.Variable(name="x")
    rows = [(x >= 5).set_label("need"), (cp.hstack([x, x]) <= [1, 2]).set_label("cap")]
    found = pc.conflict(cp.Problem(cp.Minimize(x), rows))
    (cap,) = (row for row in found if row.constraint == "cap")
    assert len(found) == 2
    for end in ([9.0, 2.0], [1.0, 9.0]):  # without one of them, whichever it is
        without = cp.Problem(cp.Minimize(x), [rows[0], cp.hstack([x, x]) <= end])
        assert without.solve(solver="CLARABEL") == np.inf
    assert cap.relax == pytest.approx({"cap[0]": 4.0, "cap[1]": 3.0}[cap.name])
    head, *_, last = repr(found).splitlines()
    assert head.endswith("relax by at least")
    assert last.endswith("without any one of them there is a point for the others, which further rows may exclude")


def test_what_is_not_linear_is_refused():
    x = cp.Variable(2, name="x")
    with pytest.raises(pc.InputError, match=r"got norm.* conflict is of linear constraints"):
        pc.conflict(cp.Problem(cp.Minimize(x[0]), [cp.norm2(x) <= -1]))
    with pytest.raises(pc.InputError, match=r"problem must be a cvxpy\.Problem"):
        pc.conflict(3)


def test_a_part_of_a_system_is_seen_by_itself():
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(0), [x[0] == 1, x[0] + x[1] <= 0, x[1] >= 3])
    line = constraints_of(problem)
    assert _seen(line).ray is not None
    part = _part(line, np.array([0, 1]))
    assert (part.equations, part.m) == (1, 2)
    assert _seen(part).ray is None
    assert [name_of_row(line, i) for i in range(line.m)] == ["constraint 0", "constraint 1", "constraint 2"]


def test_without_constraints_there_is_no_conflict():
    x = cp.Variable(2, name="x")
    assert repr(pc.conflict(cp.Problem(cp.Minimize(cp.norm(x))))).startswith("no conflict")


def tight_system(seed):
    """Whole numbers that a whole point satisfies with equality, in rows of which one is minus a sum of the others."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    A, point = rng.integers(-3, 4, (m, n)), rng.integers(-5, 6, n)
    A = np.vstack([A, -(rng.integers(1, 8, m) @ A)])
    return A, A @ point


@pytest.mark.parametrize("seed", [2, 4, 55, 67, 73, 88, 164, 272])
def test_rows_that_a_whole_point_satisfies_do_not_contradict_each_other(seed):
    """But with 1 less on the right their sum says 0 <= -1, or less."""
    A, b = tight_system(seed)
    x, nothing = cp.Variable(A.shape[1], name="x"), np.zeros(A.shape[1])
    for of in (lambda b: pc.QP(None, nothing, A, None, b), lambda b: cp.Problem(cp.Minimize(0), [A @ x <= b])):
        found = pc.conflict(of(b))
        assert (len(found), found.missed) == (0, 0.0)
        assert repr(found) == "no conflict: there is a point that satisfies all constraints"
        assert (A @ next(iter(found.point.values())) - b).max() < 1e-12
        assert len(pc.conflict(of(b - 1))) > 0


def test_a_system_with_one_point_has_no_conflict():
    x = cp.Variable(2, nonpos=True, name="x")
    found = pc.conflict(cp.Problem(cp.Minimize(0), [x >= -2, -x[0] + 2 * x[1] >= 2]))
    assert (len(found), found.point["x"].tolist()) == (0, [-2.0, 0.0])


def test_a_contradiction_that_is_smaller_than_what_a_point_may_miss_is_none():
    """Doubles say that 0.7 + 0.1 is less than 0.8."""
    x = cp.Variable(2, name="x")
    assert Fraction(0.7) + Fraction(0.1) < Fraction(0.8)
    found = pc.conflict(cp.Problem(cp.Minimize(0), [x <= [0.7, 0.1], cp.sum(x) >= 0.8]))
    assert (len(found), 0.0 < found.missed < 1e-15) == (0, True)
    assert repr(found).endswith("satisfies all constraints to 2.2e-16 of their terms")
    assert len(pc.conflict(cp.Problem(cp.Minimize(0), [x <= [0.7, 0.1], cp.sum(x) >= 0.8 + 1e-6]))) == 3


def test_a_contradiction_of_rows_in_other_units_is_found():
    x = cp.Variable(2, name="x")
    found = pc.conflict(cp.Problem(cp.Minimize(0), [x[0] - x[1] <= 0, 1e9 * (x[0] - x[1]) >= 1]))
    assert sorted(row.multiplier for row in found) == pytest.approx([1.0, 1e9], rel=1e-12)
