"""Claims of programs of arrays beside what SciPy's HiGHS says of them, results of OSQP, and words for other things."""

from __future__ import annotations

import re
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

import paretoclf as pc
from paretoclf.cli import main

#: What the status of linprog says.
SAYS = {0: "optimal", 2: "infeasible", 3: "unbounded"}


def random_program(seed):
    """Small integers, so that all three happen, with ties."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 4)), int(rng.integers(1, 6))
    return rng.integers(-2, 3, n), rng.integers(-2, 3, (m, n)), rng.integers(-3, 4, m)


@pytest.mark.parametrize("maximise", [False, True])
def test_claims_are_right_where_highs_says_so(maximise):
    seen = []
    for seed in range(14):
        c, A, b = random_program(seed)
        sign = -1 if maximise else 1
        found = linprog(c, A_ub=A, b_ub=b, bounds=(-3 if seed % 2 else None, None))
        rows = np.vstack([A, np.eye(c.size)])
        low = np.concatenate([np.full(b.size, -np.inf), np.full(c.size, -3 if seed % 2 else -np.inf)])
        high = np.concatenate([b, np.full(c.size, np.inf)])
        qp = pc.QP(None, sign * c, rows, low, high, maximise=maximise)
        truth = SAYS[found.status]
        if truth == "unbounded" and linprog(0 * c, A_ub=A, b_ub=b, bounds=(-3 if seed % 2 else None, None)).status:
            truth = "infeasible"  # with a ray besides, it may say either
        seen.append(truth)
        for claim in ("infeasible", "unbounded"):
            proof = pc.verify(qp, claim)
            assert proof.status == (claim if claim == truth else "not optimal"), (seed, claim, truth, proof.explain())
    assert set(seen) == set(SAYS.values())


def test_a_claim_that_is_wrong_is_told_a_point_or_a_bound():
    qp = pc.QP(None, [1.0, 1.0], [[1.0, 1.0], [1, 0], [0, 1]], [1, 0, 0])
    said = pc.verify(qp, "infeasible").explain()
    point = np.array(said.partition("x = [")[2].rstrip("].").split(), dtype=float)
    assert (point.sum() >= 1 - 1e-6, (point >= 0).all()) == (True, True)
    assert pc.verify(qp, "unbounded").explain() == "Not unbounded: the optimal value lies in [1, 1]."
    with pytest.raises(pc.InputError, match=r"verify\(qp, x, y\) needs a point: .*'infeasible' or 'unbounded'"):
        pc.verify(qp)


def test_a_result_of_osqp_is_judged_with_its_multipliers():
    """By what it has: OSQP is no requirement."""
    P, q, A = np.array([[4.0, 1.0], [1.0, 2.0]]), [1.0, 1.0], [[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    qp = pc.QP(P, q, A, [1.0, 0.0, 0.0], [1.0, 0.7, 0.7])
    x, y = np.array([0.3, 0.7]), np.array([-2.9, 0.0, 0.2])
    result = SimpleNamespace(x=x, y=y, info=SimpleNamespace(status="solved", status_val=1))
    assert pc.verify(qp, result).passes()
    assert "With the opposite sign" in pc.verify(qp, SimpleNamespace(**vars(result) | {"y": -y})).explain()
    assert not pc.verify(qp, SimpleNamespace(**vars(result) | {"x": x[::-1]})).passes()
    assert not pc.verify(qp, result, 2.0 * y).passes()  # multipliers that are given count
    for status, claim in (("primal infeasible", "infeasible"), ("dual infeasible inaccurate", "unbounded")):
        other = SimpleNamespace(x=None, y=None, info=SimpleNamespace(status=status))
        with pytest.raises(pc.InputError, match=rf"got a result with status '{status}': verify\(qp, '{claim}'\)"):
            pc.verify(qp, other)
    with pytest.raises(pc.InputError, match="got a result that has further multipliers in z"):
        pc.verify(qp, SimpleNamespace(**vars(result), z=y))


def test_a_qp_without_names_is_told_x_and_y_as_its_path_has_them():
    qp = pc.QP(None, [1.0, 2.0], [[1.0, 1.0], [0, 1]], [1.0, 0.0], moves={"need": {"l": [1.0, 0.0]}})
    point = pc.trace(qp, {"need": 0}, {"need": 1}).at(0.0)
    assert pc.verify(qp, point.variables, point.duals).passes()
    with pytest.raises(pc.InputError, match=r"x must be an array of shape \(2,\): this QP has no names, got a mapping"):
        pc.verify(qp, {"z": [0.0, 0.0]})


def test_grade_says_what_judges_a_qp():
    qp = pc.QP(None, [1.0], [[1.0]], [1.0])
    with pytest.raises(pc.InputError, match=r"got LP\(1 .*verify\(qp, x, y, tol=0.001\) judges a point") as caught:
        pc.grade(qp, {"x": [1.0]})
    assert "verify(qp, 'infeasible')" in str(caught.value)


def test_a_claim_on_the_command_line(tmp_path, monkeypatch, capsys):
    pytest.importorskip("highspy")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.lp").write_text("Minimize\n o: x\nSubject To\n low: x + y >= 4\n high: x + y <= 3\nEnd\n")
    assert main(["verify", "p.lp", "infeasible"]) == 0
    assert "no point satisfies high and low together" in capsys.readouterr().out
    assert main(["verify", "p.lp", "unbounded"]) == 1


def test_somebodys_proof_that_there_is_no_solution_is_judged_as_it_stands():
    """(1, 1, 1) proves that these rows contradict each other, as -1 <= 0 is left of them; the others prove nothing."""
    qp = pc.QP(None, [0.0, 0.0], [[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], None, [1.0, -2.0, 0.0])
    assert pc.verify(qp, "infeasible", [1, 1, 1]).status == "infeasible"
    assert pc.verify(qp, "infeasible", {"y": [2, 2, 2]}).status == "infeasible"
    for y, words in (
        ([1, 1, 0], r"it has x\[1\] with the coefficient 1"),
        ([-1, -1, -1], "multiplier of row 0 is -1 and must not be negative: the row has no lower side"),
        ([0, 0, 0], "all are 0"),
        ([1, 1, 1.001], r"x\[1\] with the coefficient -0.001"),
    ):
        found = pc.verify(qp, "infeasible", y)
        assert found.status == "not optimal"
        assert re.search(words, found.explain())
    rising = pc.QP(None, [-1.0, 0.0], [[1.0, -1.0], [0.0, 1.0]], None, [1.0, np.inf])
    assert pc.verify(rising, "unbounded", [1.0, 1.0]).status == "unbounded"
    assert pc.verify(rising, "unbounded", [1.0, 0.5]).status == "not optimal"
    assert pc.verify(qp, "unbounded", [1.0, 0.5]).status == "not optimal"


def test_a_point_of_a_program_without_an_optimum_is_told_why_by_the_names_of_its_rows():
    never = pc.QP(None, [1.0], [[1.0], [1.0]], [2.0, -np.inf], [np.inf, 1.0], names=(["a"], ["floor", "roof"]))
    found = pc.verify(never, {"a": 1.5})
    assert found.status == "infeasible"
    assert "no point satisfies roof and floor together" in found.explain()
    for ray, words in (
        ([1.0, 0.5], "it leaves row 0, which has an upper side and rises by 0.5 a step"),
        ([-1.0, 1.0], "the objective rises by 1 a step along it"),
    ):
        rising = pc.QP(None, [-1.0, 0.0], [[1.0, -1.0], [0.0, 1.0]], None, [1.0, np.inf])
        assert words in pc.verify(rising, "unbounded", ray).explain()
    bent = pc.QP(np.diag([1.0, 0.0]), [-1.0, 0.0])
    assert "the objective bends along it" in pc.verify(bent, "unbounded", [1.0, 0.0]).explain()


def test_a_ray_of_a_quadratic_program_is_found_and_told():
    """Closed form: the objective is x[1]^2 / 2 + x[0] - x[1], and nothing holds x[0] from below."""
    inf = np.inf
    qp = pc.QP(np.diag([0.0, 1]), [1.0, -1], [[0.0, 2], [0, 0], [2, 2]], [-inf, -3, -inf], [4, inf, 2])
    found = pc.verify(qp, "unbounded")
    assert (found.status, "proved by the ray d = [-1, 0]:" in found.explain()) == ("unbounded", True)
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.square(x[1]) + x[0] - x[1]), [x[1] <= 2, cp.sum(x) <= 1])
    found = pc.verify(problem, "unbounded")
    assert (found.status, "The ray is x = [-1, 0]." in found.explain()) == ("unbounded", True)
    named = pc.QP(None, [-1.0, 0], [[1.0, -1]], [0], [0], names=(("a", "b"), ("r",)))
    assert "proved by the ray a = 1, b = 1:" in pc.verify(named, "unbounded").explain()


def test_where_the_solver_fails_there_is_a_verdict():
    """Strictly convex: its optimum is (0.2, 1.4)."""
    inf = np.inf
    qp = pc.QP(np.eye(2), [0.0, -1], [[2.0, 1], [-1, 1], [-1, -2], [2, -2]], [-inf, -1, -3, -inf], [2, inf, -3, inf])
    assert pc.verify(qp, "unbounded").explain() == "Not unbounded: the optimal value lies in [-0.4, -0.4]."


def test_multipliers_of_a_contradiction_are_told():
    """Twice the first row is beside the second: 2x >= 6 and 2x <= 4."""
    qp = pc.QP(None, [1.0], [[1.0], [2.0]], [3.0, -np.inf], [np.inf, 4.0])
    assert pc.verify(qp, "infeasible").explain().endswith("together (multipliers 0.5 and 1).")


@pytest.mark.parametrize("claim", ["Infeasible", "primal infeasible", "PRIMAL_INFEASIBLE", "infeasible_inaccurate"])
def test_a_claim_may_be_in_any_case_and_as_solvers_say_it(claim):
    x = cp.Variable(name="x")
    problem = cp.Problem(cp.Minimize(x), [x >= 3, x <= 2])
    for given in (pc.QP(None, [1.0], [[1.0], [1.0]], [3.0, -np.inf], [np.inf, 2.0]), problem):
        assert pc.verify(given, claim).status == "infeasible"
    assert pc.verify(cp.Problem(cp.Minimize(x)), "Unbounded").status == "unbounded"


def test_what_is_no_claim_is_told_what_may_be_claimed():
    x = cp.Variable(name="x")
    named = pc.QP(None, [1.0], [[1.0]], [3.0], [np.inf], names=(["x"], ["row"]))
    for given in (pc.QP(None, [1.0], [[1.0]], [3.0], [np.inf]), named, cp.Problem(cp.Minimize(x), [x >= 3])):
        with pytest.raises(pc.InputError, match="INF_OR_UNBD") as refused:
            pc.verify(given, "INF_OR_UNBD")
        assert "'infeasible' or 'unbounded'" in str(refused.value)


@pytest.mark.parametrize("where", ["costs", "row"])
def test_a_ray_whose_products_overflow_proves_nothing(where):
    """Before: 'falls by nan a step', and so proved, of x[0] - x[1] between -1 and 1; inf - inf is nan."""
    large = 1e200 if where == "row" else 1.0
    qp = pc.QP(None, [1e200 / large, -1e200 / large], [[large, -large]], [-1.0], [1.0])
    ray = np.array([1e200, 1e200])
    found = pc.verify(qp, "unbounded", ray)
    assert (found.status, "overflow: divide it by its largest entry" in found.explain()) == ("not optimal", True)
    found = pc.verify(qp, "unbounded", ray / 1e200)
    assert (found.status, "rises by 0 a step" in found.explain()) == ("not optimal", True)


@pytest.mark.parametrize(
    ("A", "u", "point"),
    [
        ([[-3, -1, -1], [2, 0, -3], [4, 6, 27]], [2, -13, 79], [-2, 1, 3]),
        ([[0, -3, 0], [0, 1, -1], [0, 5, 7]], [-3, -1, 19], [0, 1, 2]),
    ],
)
def test_whole_numbers_that_a_point_satisfies_are_not_infeasible(A, u, point):
    assert (np.array(A) @ point == u).all()
    qp = pc.QP(None, np.zeros(3), A, None, u)
    found = pc.verify(qp, "infeasible")
    assert (found.status, found.explain().partition(",")[0]) == (
        "not optimal",
        "Not infeasible: a point satisfies all rows",
    )
    given = pc.verify(qp, "infeasible", [6 / 7, 1, 1 / 7])
    assert given.status != "infeasible"
    assert "prove nothing" in given.explain()


def test_a_contradiction_counts_beside_the_tolerance_of_points():
    """Doubles say that 0.7 + 0.1 is less than 0.8; and that 1 is less than 1.000001."""
    decimals = pc.QP(None, [0.0, 0.0], [[1, 0], [0, 1], [-1, -1]], None, [0.7, 0.1, -0.8])
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(0), [x == [0.7, 0.1], cp.sum(x) == 0.8])
    for given in (decimals, problem):
        found = pc.verify(given, "infeasible")
        assert (found.status, "feasible within the tolerance" in found.explain()) == ("undecided", True)
    given = pc.verify(decimals, "infeasible", [1, 1, 1])
    assert (given.status, "5.2e-17 of its terms, by which a feasible point may" in given.explain()) == (
        "undecided",
        True,
    )
    near = pc.QP(None, [0.0], [[1], [-1]], None, [1, -1 - 1e-6])
    for tol, status in ((1e-8, "infeasible"), (1e-4, "undecided")):
        assert pc.verify(near, "infeasible", tol=tol).status == status
        assert pc.verify(near, "infeasible", [1, 1], tol=tol).status == status


def test_multipliers_whose_sum_leaves_more_than_rounding_prove_what_their_rows_do():
    """With the coefficient 1 + 1e-9 the point (-2e9, -2e9) satisfies both rows: they are no contradiction."""
    assert -2e9 * (1 - (1 + 1e-9)) > 1
    for more, y, status in ((1e-9, 1.0, "not optimal"), (0.0, 1.0 + 1e-9, "infeasible"), (0.0, 1.0, "infeasible")):
        qp = pc.QP(None, [0.0, 0.0], [[1, -1], [-1, 1 + more]], None, [0, -1])
        assert pc.verify(qp, "infeasible", [1, y]).status == status


def test_one_row_is_not_said_to_be_together_and_no_step_is_minus_zero():
    assert (
        pc.verify(pc.QP(None, [0.0], [[0.0]], [1.0], [2.0]), "infeasible")
        .explain()
        .endswith("satisfies y[0] (lower bound).")
    )
    said = pc.verify(pc.QP(None, [-1.0], [[1.0]], [3.0]), "unbounded", [1.0]).explain()
    assert said.endswith("the objective falls by 1 a step, while all rows are kept.")
