"""`verify` of numbers that no solver has written into a problem: values, multipliers, and claims."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import paretoclf as pc


@pytest.fixture
def split():
    """The shortest x with x_1 + x_2 = 1 and x_1 at least 3/4: (3/4, 1/4), multipliers -1/2 and 1."""
    x = cp.Variable(2, name="x")
    rows = [(cp.sum(x) == 1).set_label("mass"), (x[0] >= 0.75).set_label("low")]
    return cp.Problem(cp.Minimize(cp.sum_squares(x)), rows)


def test_values_that_were_set_by_hand_are_judged_without_a_solve(split):
    (x,) = split.variables()
    with pytest.raises(pc.InputError, match=r"must be solved first: .* verify\(problem, {'x': value}\)"):
        pc.verify(split)
    x.value = np.array([0.75, 0.25])
    assert pc.verify(split).passes()
    x.value = np.array([0.76, 0.24])
    assert pc.verify(split).status == "not optimal"
    assert split.status is None


def test_values_are_given_by_variables_or_names_or_alone(split):
    (x,) = split.variables()
    x.value = np.array([9.0, 9.0])
    for point, verdict in (([0.75, 0.25], "optimal"), ([0.8, 0.2], "not optimal"), ([0.5, 0.5], "not optimal")):
        for given in ({"x": point}, {x: point}, point, np.array(point)):
            assert pc.verify(split, given).status == verdict
    assert (x.value.tolist(), split.status, split.constraints[0].dual_value) == ([9.0, 9.0], None, None)
    for given, words in (
        ({}, "values must have all variables, x: x is missing"),
        ({"y": 1}, "values must be of x, got y"),
        ({"x": [1.0]}, r"finite numbers of shape \(2,\) for x"),
        ("done", r"must be a dict by variables or names, {'x': value}, or 'infeasible' or 'unbounded', got str"),
        (None, "or 'infeasible' or 'unbounded', got NoneType"),
    ):
        with pytest.raises(pc.InputError, match=words):
            pc.verify(split, given, {"low": 1.0})


def test_multipliers_that_a_solver_left_have_no_part_in_the_verdict_on_given_values(split):
    split.solve(solver="CLARABEL")
    split.constraints[1].save_dual_value(np.array(5.0))
    assert "do not prove it" not in pc.verify(split, {"x": [0.75, 0.25]}).explain()
    assert split.constraints[1].dual_value == 5.0


def test_nothing_is_said_of_multipliers_where_none_came():
    """Values by hand have none, however far they are from the optimum."""
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) == 1000, x[0] >= 750])
    for point in ([740.0, 250.0], [760.0, 240.0]):
        assert "multipliers" not in pc.verify(problem, {"x": point}).explain()


@pytest.mark.parametrize("sense", [1, -1])
def test_multipliers_are_part_of_the_answer(split, sense):
    mass, low = split.constraints
    problem = split if sense > 0 else cp.Problem(cp.Maximize(-split.objective.expr), split.constraints)
    at = {"x": [0.75, 0.25]}
    right = {mass: -0.5, "low": 1.0}
    assert pc.verify(problem, at, right).passes()
    assert "hold to" in pc.verify(problem, at, right).explain()
    assert "Those of mass were not given" in pc.verify(problem, at, {"low": 1.0}).explain()
    for wrong in ({**right, "low": 1.0001}, {mass: 0.5, "low": -1.0}, {"low": 0.5}):
        found = pc.verify(problem, at, wrong)
        assert (found.status, "wrong dual" in repr(found)) == ("not optimal", True)
    assert pc.verify(problem, at, {**right, "low": 1.0001}, tol=1e-3).passes()
    assert "With the opposite sign they are right" in pc.verify(problem, at, {mass: 0.5, low: -1.0}).explain()
    with pytest.raises(pc.InputError, match="duals must be of mass, low, got lo"):
        pc.verify(problem, at, {"lo": 1.0})


def test_multipliers_of_a_cone_are_judged_too():
    """The least norm on a plane with the normal (1, 2): -1 / sqrt(5)."""
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.norm2(x)), [(x[0] + 2 * x[1] == 5).set_label("plane")])
    assert pc.verify(problem, {"x": [1.0, 2.0]}, {"plane": -(5.0**-0.5)}).passes()
    found = pc.verify(problem, {"x": [1.0, 2.0]}, {"plane": -0.5})
    assert found.status == "not optimal"
    assert "not stationary in x" in found.explain()
    assert "inf" not in found.explain()


def test_linprogs_answers_to_random_programs():
    """Right ones pass with their marginals, and a point or a multiplier that is off by 1e-4 does not."""
    rng = np.random.default_rng(0)
    for _ in range(3):
        A, b, c = rng.normal(size=(4, 3)), rng.uniform(1, 2, 4), rng.normal(size=3)
        x = cp.Variable(3, name="x")
        problem = cp.Problem(cp.Minimize(c @ x), [(A @ x <= b).set_label("rows"), (cp.abs(x) <= 3).set_label("box")])
        found = linprog(c, A_ub=A, b_ub=b, bounds=[(-3, 3)] * 3)
        y = -found.ineqlin.marginals
        assert pc.verify(problem, found).passes()
        assert pc.verify(problem, found.x, {"rows": y}).passes()
        assert not pc.verify(problem, found.x, {"rows": y + 1e-4}).passes()
        assert not pc.verify(problem, found.x + 1e-4 * np.sign(c)).passes()


def test_claims_and_their_proofs():
    x = cp.Variable(2, name="x")
    low, cap = (x >= 1).set_label("low"), (cp.sum(x) <= 1).set_label("cap")
    never, away = cp.Problem(cp.Minimize(cp.sum(x)), [low, cap]), cp.Problem(cp.Minimize(cp.sum(x)), [x <= 1])
    assert pc.verify(never, "infeasible").status == "infeasible"
    assert pc.verify(never, "infeasible", {low: [1, 1], cap: 1}).status == "infeasible"
    for wrong in ({low: [1, 2], cap: 1}, {low: [-1, -1], cap: -1}, {low: [0, 0]}):
        assert pc.verify(never, "infeasible", wrong).status == "not optimal"
    assert pc.verify(away, "infeasible").status == "not optimal"
    assert pc.verify(away, "unbounded").status == "unbounded"
    assert pc.verify(never, "unbounded").status == "not optimal"
    assert pc.verify(away, "unbounded", {"x": [-1, 0]}).status == "unbounded"
    assert pc.verify(away, "unbounded", {"x": [1, -2]}).status == "not optimal"


def test_bounds_of_attributes_complete_a_proof():
    u = cp.Variable(2, nonneg=True, name="u")
    problem = cp.Problem(cp.Minimize(cp.sum(u)), [(cp.sum(u) <= -1).set_label("neg")])
    for given in ({"neg": 1}, {"neg": 1, "u: nonneg": [1, 1]}):
        found = pc.verify(problem, "infeasible", given)
        assert found.status == "infeasible"
        assert "no point satisfies u: nonneg[0] and u: nonneg[1] and neg together" in found.explain()
    assert pc.verify(problem, "infeasible", {"neg": 1, "u: nonneg": [1, 0.5]}).status == "not optimal"


def test_integers_are_refused_at_every_door_and_the_remedies_work():
    n, m = cp.Variable(integer=True, name="n"), cp.Variable(name="n")
    n.value = 1
    problem = cp.Problem(cp.Minimize(cp.square(n - 1.4)), [n >= 0])
    for door in (pc.verify, pc.ranges, lambda p: pc.verify(p, {"n": 1}), lambda p: pc.grade(p, {"n": 1})):
        with pytest.raises(
            pc.InputError, match=r"integer or boolean variable n; .* relaxation: .* or give n as an array"
        ):
            door(problem)
    relaxed, fixed = cp.Problem(cp.Minimize(cp.square(m - 1.4)), [m >= 0]), [m == 1]
    assert pc.verify(relaxed, {"n": 1.4}).passes()
    assert pc.verify(cp.Problem(relaxed.objective, fixed), {"n": 1}).passes()


def test_a_multiplier_of_a_row_without_entries_is_judged():
    """0 y <= 1 has 1 to spare, and 0 y <= 0 has nothing: its multiplier may be anything that is not negative."""
    y = cp.Variable(name="y")
    rows = [(y >= 1).set_label("low"), (0 * y <= 1).set_label("idle"), (0 * y <= 0).set_label("tight")]
    problem = cp.Problem(cp.Minimize(y), rows)
    for idle, tight, verdict in ((0, 0, "optimal"), (0, 2, "optimal"), (1, 0, "not optimal"), (0, -1, "not optimal")):
        assert pc.verify(problem, {"y": 1}, {"low": 1, "idle": idle, "tight": tight}).status == verdict
    qp = pc.QP(None, [1.0], [[1.0], [0.0]], [1.0, -np.inf], [np.inf, 1.0])
    assert [pc.verify(qp, [1.0], [-1.0, idle]).status for idle in (0.0, 1.0)] == ["optimal", "not optimal"]


def test_numbers_come_in_whatever_holds_them():
    pandas = pytest.importorskip("pandas")
    M, z = cp.Variable((2, 2), PSD=True, name="M"), cp.Variable(complex=True, name="z")
    problem = cp.Problem(cp.Minimize(cp.trace(M) + cp.abs(z - 1 - 1j)), [M[0, 1] == 1])
    for given in (
        {"M": np.ones((2, 2)), "z": 1 + 1j},
        {M: sp.csr_array(np.ones((2, 2))), z: 1 + 1j},
        pandas.Series({"M": np.ones((2, 2)), "z": 1 + 1j}),
    ):
        assert pc.verify(problem, given).passes()
    assert pc.verify(problem, {"M": np.ones((2, 2)), "z": 1}).status == "not optimal"
    with pytest.raises(pc.InputError, match=r"finite numbers of shape \(2, 2\) for M, got 'one'"):
        pc.verify(problem, {"M": "one", "z": 1})


def test_a_claim_needs_no_values_where_solvers_disagree():
    """Rows in units of 1e-9: one run of the solver finds a point that misses them by little, and another none."""
    x = cp.Variable(2, name="x")
    for rows in ([1e9 * x[0] <= 1, 1e9 * x[0] >= 2], [x[0] <= x[1], 1e9 * (x[0] - x[1]) >= 1]):
        problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), rows)
        found = pc.verify(problem, "infeasible")
        assert (found.status, "constraint 0 and constraint 1 together" in found.explain()) == ("infeasible", True)
        assert pc.grade(problem, "infeasible").verdict in ("right", "undecided")


def test_one_constraint_contradicts_itself_alone():
    x = cp.Variable(name="x")
    problem = cp.Problem(cp.Minimize(x), [(cp.hstack([x, -x]) <= -1).set_label("both")])
    assert "no point satisfies both, which contradicts itself" in pc.verify(problem, "infeasible").explain()
    problem.solve("CLARABEL")
    assert pc.verify(problem).explain() == "Infeasible, proved: no point satisfies both."
