"""`certify_problem`: three verdicts on any convex problem, judged as it stands, whatever its variables are."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.solve.judging import cone_proof
from paretoclf.solve.models.model import Model


def state(problem):
    """What the variables hold: the very objects, and their bytes."""
    values = [v._value for v in problem.variables()]
    parts = [v.data if hasattr(v, "tocsr") else np.asarray(v) for v in values]
    return [(id(v), np.asarray(p).tobytes()) for v, p in zip(values, parts, strict=True)]


def certified(problem, tol=1e-6):
    """The proof; and that the problem is what it was."""
    before = state(problem)
    proof = pc.verify(problem, tol=tol)
    assert state(problem) == before
    return proof


def spoil(variable, size, rng):
    """Add noise to what a variable holds, behind CVXPY's back."""
    variable.save_value(np.asarray(variable.value) + size * rng.standard_normal(variable.shape))


# ---- three verdicts ------------------------------------------------------------------------------------------------


def regression(n):
    """Convex regression; not what any solver finds hard, but its re-solve ends a few digits early."""
    i = np.arange(1, n + 1)
    c, x = np.sqrt((i - 1) / (n - 1)) + 0.1 * np.sin(i), cp.Variable(n, name="x")
    return cp.Problem(cp.Minimize(cp.sum_squares(x - c) / 2), [(cp.diff(x, 2) >= 0).set_label("convex")]), x


def test_a_right_answer_is_not_convicted_and_a_wrong_one_not_acquitted():
    problem, x = regression(120)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    assert certified(problem, 1e-8).status != "not optimal"
    assert certified(problem, 1e-6).status == "optimal"
    rng, right = np.random.default_rng(0), x.value.copy()
    for size in (1e-3, 1e-6):
        x.value = right
        spoil(x, size, rng)
        proof = certified(problem, 1e-8)
        assert proof.status == "not optimal"  # second differences of noise are negative somewhere
        assert "'convex' does not hold" in proof.explain()


def test_a_worse_feasible_point_is_refuted_by_a_better_one():
    x = cp.Variable(3, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum(x) + cp.sum_squares(x)), [(x >= 1).set_label("low")])
    problem.solve(solver="CLARABEL")
    x.value = np.array([1.0, 1.0, 1.001])
    proof = certified(problem)
    assert proof.status == "not optimal"
    assert proof.certificate.refuted == pytest.approx(0.003001 / 6.003001, rel=1e-3)
    assert "a feasible point is known that is better by 5.0e-04" in proof.explain()
    assert "(tolerance 1e-06)" not in proof.explain(1e-3)


def test_a_loose_bound_refutes_nothing(monkeypatch):
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [(x >= 1).set_label("low")])
    problem.solve(solver="CLARABEL")
    bounds = cone_proof.cone_bounds

    def loose(*given):
        from dataclasses import replace

        return replace(bounds(*given), lower=1.0)

    monkeypatch.setattr(cone_proof, "cone_bounds", loose)
    proof = certified(problem)
    assert proof.status == "undecided"
    assert "Undecided: the duality gap exceeds the tolerance; the value is off by at most 5.0e-01" in proof.explain()
    assert repr(proof).startswith("ProblemProof(undecided to 1e-06, value in [1, ")


def test_tol_means_tol():
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [(cp.sum(x) >= 1).set_label("mass")])
    problem.solve(solver="CLARABEL")
    proof = certified(problem, 1e-6)
    assert proof.tol == 1e-6
    assert "1e-06" in proof.explain()
    assert "1e-08" not in proof.explain()
    assert "1e-04" in proof.explain(1e-4)
    assert "optimal to 1e-06" in repr(proof)


X, Y = np.random.default_rng(0).standard_normal((2, 8, 16))


def zeros():
    """Problems whose optimal value is 0, and all of whose terms vanish there."""
    x, w = cp.Variable(3, name="x"), cp.Variable(16, name="w")
    yield cp.Problem(cp.Minimize(0), [x >= 1])
    yield cp.Problem(cp.Minimize(cp.norm1(x)))
    yield cp.Problem(cp.Minimize(cp.norm1(x)), [x <= 1e6])
    yield cp.Problem(cp.Minimize(cp.sum_squares(X @ w - Y[:, 0]) + 0 * cp.norm1(w)))


@pytest.mark.parametrize("k", range(4))
@pytest.mark.parametrize("solver", ["CLARABEL", "SCS"])
def test_an_optimal_value_of_zero_is_not_refuted(k, solver):
    problem = list(zeros())[k]
    problem.solve(solver=solver)
    assert certified(problem, 1e-6).status != "not optimal"
    if k < 3:
        assert certified(problem, 1e-6).status == "optimal"


def test_next_to_zero_what_is_wrong_is_refuted():
    x = cp.Variable(3, name="x")
    problem = cp.Problem(cp.Minimize(cp.norm1(x)))
    problem.solve(solver="CLARABEL")
    for size in (1.0, 1e-3, 1e-6):
        x.value = np.array([size, 0.0, 0.0])
        assert certified(problem, 1e-6).status == "not optimal"


def test_a_violation_that_rounding_may_make_decides_nothing():
    """1e12 - 1e12 in the row: nobody knows its value to 1e-6."""
    x = cp.Variable(2, name="x")
    row = (1e12 * x[0] - 1e12 * x[1] == 1e-5).set_label("row")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - np.array([1.0, 1 / 3]))), [row])
    problem.solve(solver="CLARABEL")
    x.value = np.array([2 / 3, 2 / 3])
    proof = certified(problem, 1e-6)
    assert proof.certificate.residual_rounding["row"] > 1e-5
    assert proof.status == "undecided"


# ---- Maximize ------------------------------------------------------------------------------------------------------


def pair(sense, sign):
    x = cp.Variable(3, name="x")
    constraints = [(cp.sum(x) <= 2).set_label("mass"), (x >= 0).set_label("low")]
    return cp.Problem(sense(sign * (cp.sum_squares(x - np.array([1.0, 2.0, 3.0])) + 5)), constraints), x


def test_a_maximisation_is_proved_like_a_minimisation():
    (least, x), (most, z) = pair(cp.Minimize, 1.0), pair(cp.Maximize, -1.0)
    for problem in (least, most):
        problem.solve(solver="CLARABEL")
    first, second = certified(least), certified(most)
    assert first.status == second.status == "optimal"
    assert (second.lower, second.upper) == (-first.upper, -first.lower)
    assert second.certificate.primal_value == pytest.approx(most.value)
    assert second.lower - 1e-9 <= most.value <= second.upper + 1e-9
    assert second.certificate.gap >= -1e-9
    assert [(r.constraint, r.multiplier >= -1e-9) for r in second.duality_table() if r.slack < 1e-6] != []
    for variable, problem in ((x, least), (z, most)):
        variable.value = np.array([0.0, 0.0, 1.9])
        proof = certified(problem)
        assert proof.status == "not optimal"
        assert "a feasible point is known that is better" in proof.explain()
    assert most.objective.value < second.lower


def test_a_maximisation_without_a_bound_or_a_point():
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Maximize(cp.sum(x)), [(x >= 0).set_label("low")])
    problem.solve(solver="CLARABEL")
    proof = certified(problem)
    assert (proof.status, proof.lower, proof.upper) == ("unbounded", -np.inf, np.inf)
    assert "along a ray in x the objective rises" in proof.explain()
    problem = cp.Problem(cp.Maximize(cp.sum(x)), [(x >= 0).set_label("low"), (cp.sum(x) <= -1).set_label("high")])
    problem.solve(solver="CLARABEL")
    proof = certified(problem)
    assert (proof.status, proof.lower, proof.upper) == ("infeasible", -np.inf, -np.inf)


# ---- the judged point is the held one, and stays -------------------------------------------------------------------


def hermitian():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((3, 3)) + 1j * rng.standard_normal((3, 3))
    A, Z = A + A.conj().T, cp.Variable((3, 3), hermitian=True, name="Z")
    psd, trace = (Z >> 0).set_label("psd"), (cp.real(cp.trace(Z)) == 1).set_label("trace")
    return cp.Problem(cp.Minimize(cp.real(cp.trace(A @ Z))), [psd, trace]), Z, float(np.linalg.eigvalsh(A)[0])


def test_a_hermitian_variable_is_judged_whole():
    problem, Z, value = hermitian()
    problem.solve(solver="CLARABEL")
    assert np.abs(Z.value.imag).max() > 0.1
    proof = certified(problem)
    assert proof.status == "optimal"
    assert proof.certificate.primal_value == pytest.approx(value, rel=1e-6)
    assert proof.certificate.multipliers["stationarity in Z"] < 1e-6
    assert proof.duality_table().total == pytest.approx(0.0, abs=1e-6)
    held = Z.value
    Z.value = held.real + 0j
    assert certified(problem).status == "not optimal"
    Z.save_value(held + 1e-3j)  # no longer Hermitian
    assert certified(problem).certificate.primal["Z: hermitian"] > 1e-4


def test_complex_variables():
    w = cp.Variable(2, complex=True, name="w")
    equation = (w[0] + 1j * w[1] == 1 + 2j).set_label("equation")
    problem = cp.Problem(cp.Minimize(cp.norm(w)), [equation, cp.SOC(5, w)])
    problem.solve(solver="CLARABEL")
    proof = certified(problem)
    assert proof.status == "optimal"
    assert [row.constraint for row in proof.duality_table()] == ["equation"] * 2  # CVXPY has no multiplier of the cone
    w.value = w.value * (1 + 1e-4j)
    assert certified(problem).certificate.primal["equation"] == pytest.approx(1e-4 * 5**0.5 / 6**0.5, rel=0.7)
    assert certified(problem).status == "not optimal"
    v = cp.Variable(2, imag=True, name="v")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(v - np.array([1 + 1j, 2 - 2j]))))
    problem.solve(solver="CLARABEL")
    assert certified(problem).status == "optimal"


def with_attributes():
    """(problem, variable, attribute, what breaks it alone)."""
    B = np.random.default_rng(2).standard_normal((3, 3))
    B = B + B.T
    V = cp.Variable((3, 3), PSD=True, name="V")
    yield cp.Problem(cp.Maximize(cp.trace(B @ V)), [cp.trace(V) == 1]), V, "PSD", -0.1 * np.eye(3)
    V = cp.Variable((3, 3), NSD=True, name="V")
    yield cp.Problem(cp.Maximize(cp.trace(V) - cp.sum_squares(V - B))), V, "NSD", 0.1 * np.eye(3)
    V = cp.Variable((3, 3), diag=True, name="V")
    yield cp.Problem(cp.Minimize(cp.sum_squares(V - B)), [cp.trace(V) <= 1]), V, "diag", 0.1 * np.eye(3, k=1)
    V = cp.Variable((3, 3), symmetric=True, name="V")
    yield cp.Problem(cp.Minimize(cp.sum_squares(V - np.triu(B)))), V, "symmetric", 0.1 * np.eye(3, k=1)
    V = cp.Variable((3, 3), nonneg=True, name="V")
    yield cp.Problem(cp.Minimize(cp.sum_squares(V - B))), V, "nonneg", -0.1 * np.ones((3, 3))
    V = cp.Variable((3, 3), bounds=[-0.5, 0.5], name="V")
    yield cp.Problem(cp.Minimize(cp.sum_squares(V - B))), V, "upper bound", 0.1 * np.ones((3, 3))


@pytest.mark.parametrize("k", range(6))
@pytest.mark.parametrize("solver", ["CLARABEL", "SCS"])
def test_attributes_of_variables_are_constraints(k, solver):
    problem, variable, attribute, wrong = list(with_attributes())[k]
    problem.solve(solver=solver)
    proof = certified(problem, 1e-3)
    assert proof.status == "optimal", proof.explain()
    assert f"V: {attribute}" in proof.certificate.primal
    assert certified(problem, 1e-6).status in ("optimal", "not optimal", "undecided")  # before: ValueError, TypeError
    variable.save_value(variable.value + wrong)
    proof = certified(problem, 1e-3)
    assert proof.status == "not optimal"
    assert proof.certificate.primal[f"V: {attribute}"] > 1e-3
    assert f"'V: {attribute}' does not hold" in proof.explain()


def test_sparse_variables():
    S = cp.Variable((3, 3), sparsity=([0, 1], [1, 2]), name="S")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(S - 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CVXPY's own, about reading it
        problem.solve(solver="CLARABEL")
        assert pc.verify(problem, tol=1e-6).status == "optimal"


def test_values_stay_where_an_error_is_raised():
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [x >= 1])
    problem.solve(solver="CLARABEL")
    x.save_value(np.array([1.0, np.inf]))
    before = state(problem)
    with pytest.raises(pc.InputError, match="not finite"):
        pc.verify(problem)
    assert state(problem) == before


def test_a_solution_without_multipliers_is_judged():
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [(x >= 1).set_label("low")])
    problem.solve(solver="CLARABEL")
    problem.constraints[0].save_dual_value(None)
    assert certified(problem).status == "optimal"


def test_a_cone_that_is_written_out():
    """Before: its multipliers are a list, and numpy's error about that."""
    t, y = cp.Variable(name="t"), cp.Variable(2, name="y")
    problem = cp.Problem(cp.Minimize(t), [cp.SOC(t, y).set_label("cone"), (y[0] >= 1).set_label("low")])
    problem.solve(solver="CLARABEL")
    assert certified(problem).status == "optimal"


def test_a_judged_point_is_not_assigned_to_the_formulation():
    class Ridge(pc.SampleFormulation):
        domain = {"r": pc.POSITIVE}  # noqa: RUF012

        @property
        def primal(self):
            return self.problem

    rng = np.random.default_rng(0)
    made = Ridge(rng.standard_normal((12, 2)), np.repeat([-1, 1], 6))
    w = cp.Variable(2, name="w")
    made.__dict__["problem"] = cp.Problem(
        cp.Minimize(cp.sum_squares(w) + made.parameters["r"] * cp.sum_squares(made.signed @ w - 1))
    )
    solution = made.solve(r=1.0)
    held = w.value.copy()
    right, wrong = {"r": 1.0, "w": solution.numbers["w"]}, {"r": 1.0, "w": solution.numbers["w"] + 0.1}
    assert pc.verify(made, [right, wrong], tol=1e-6).classes == {"not optimal": (1,), "undecided": (), "optimal": (0,)}
    assert (w.value == held).all()


def test_one_constraint_that_contradicts_the_bounds_of_its_variable():
    """Without it nothing is left to compile: that was a TypeError."""
    x = cp.Variable(2, name="x", bounds=[np.zeros(2), np.ones(2)])
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [cp.sum(x) >= 3])
    problem.solve(solver="CLARABEL")
    proof = pc.verify(problem)
    assert proof.status == "infeasible"
    assert "no point" in proof.explain()


# ---- what an outside auditor found ---------------------------------------------------------------------------------


def held_at(problem, **values):
    """The problem, solved, with other values in its variables."""
    problem.solve(solver="CLARABEL")
    for variable in problem.variables():
        if variable.name() in values:
            variable.save_value(np.asarray(values[variable.name()], dtype=float))
    return problem


def outside():
    """Points beyond the domain of an atom, where NumPy has a value and CVXPY none, and which constraint says so."""
    x, y, X = cp.Variable(name="x"), cp.Variable(name="y"), cp.Variable((2, 2), name="X")
    ratio = [(cp.quad_over_lin(x, y) <= 1).set_label("ratio"), y <= 3, y >= -3]
    yield held_at(cp.Problem(cp.Minimize(cp.abs(x - 1)), ratio), x=1, y=-1), "ratio"
    yield held_at(cp.Problem(cp.Minimize(x**3)), x=-1e-3), "objective"
    yield held_at(cp.Problem(cp.Minimize(0), [(cp.inv_pos(x) <= 5).set_label("inverse")]), x=-1), "inverse"
    largest = (cp.lambda_max(X) <= 1).set_label("largest")
    yield held_at(cp.Problem(cp.Minimize(0), [largest]), X=[[0, 5], [0, 0]]), "largest"  # not symmetric: a ValueError


@pytest.mark.parametrize("k", range(4))
def test_beyond_the_domain_of_an_atom_no_point_is_optimal(k):
    problem, name = list(outside())[k]
    proof = certified(problem)
    assert proof.status == "not optimal"
    assert proof.certificate.primal[f"{name}: domain"] > 1e-4


def test_a_point_on_the_edge_of_a_domain_is_optimal():
    x = cp.Variable(name="x")
    problem = held_at(cp.Problem(cp.Minimize(x), [cp.sqrt(x) >= 0]), x=0)
    assert certified(problem).status == "optimal"
    assert certified(problem).certificate.primal["constraint 0: domain"] == 0


@pytest.mark.parametrize("relation", ["inequality", "equation", "bounds", "symmetric"])
def test_a_large_entry_hides_no_violation_of_a_small_one(relation):
    if relation == "symmetric":
        V = cp.Variable((3, 3), symmetric=True, name="V")
        problem = held_at(cp.Problem(cp.Minimize(0), [V[0, 0] == 1e9]), V=np.diag([1e9, 0, 0]) + 0.5 * np.eye(3, k=1))
    else:
        v = cp.Variable(2, name="v", nonneg=relation == "bounds")
        sides = {"equation": v == np.array([1e8, 1]), "bounds": v[0] == 1e8}
        problem = cp.Problem(cp.Minimize(0), [sides.get(relation, v >= np.array([1e8, 1]))])
        held_at(problem, v=[1e8, -0.5 if relation == "bounds" else 0.5])
    proof = certified(problem)
    assert proof.status == "not optimal"
    assert proof.certificate.primal_residual > 0.1
    values = np.diag([1e9, 0, 0]) if relation == "symmetric" else [1e8, 1.0]
    assert certified(held_at(problem, v=values, V=values)).status == "optimal"


@pytest.mark.parametrize("attribute", [True, False])
def test_a_large_entry_of_a_matrix_hides_no_negative_one(attribute):
    V = cp.Variable((2, 2), name="V", **{"PSD" if attribute else "symmetric": True})
    problem = cp.Problem(cp.Minimize(0), [V[0, 0] == 1e9, *([] if attribute else [(V >> 0).set_label("psd")])])
    assert certified(held_at(problem, V=np.diag([1e9, -0.5]))).status == "not optimal"
    assert certified(held_at(problem, V=[[1e9, 1e4], [1e4, 0.1]])).status == "optimal"
    assert certified(held_at(problem, V=[[1e9, 1e4], [1e4, 0.09]])).status == "not optimal"


def test_rounding_hides_a_violation_of_the_same_entry_only():
    """Row 0 has terms of 1e12, whose rounding says nothing of row 1; columns are in CVXPY's order, entries not."""
    X = cp.Variable((2, 2), name="X")
    row = (cp.multiply(np.array([[1.0, 1e12], [1.0, 1.0]]), X) == np.array([[1.0, 1e12], [1.0, 1.0]])).set_label("row")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X)), [row])
    assert certified(held_at(problem, X=np.ones((2, 2)))).certificate.residual_rounding["row"] < 1e-14
    assert certified(held_at(problem, X=[[1.0, 1.0], [1.0 + 1e-5, 1.0]])).status == "not optimal"


def test_a_violation_that_rounding_may_make_decides_nothing_without_multipliers_either():
    x = cp.Variable(2, name="x")
    row = (1e12 * x[0] - 1e12 * x[1] == 1e-5).set_label("row")
    problem = held_at(cp.Problem(cp.Minimize(cp.sum_squares(x - np.array([1.0, 1 / 3]))), [row]), x=[2 / 3, 2 / 3])
    row.save_dual_value(None)
    assert certified(problem).status == "undecided"


def test_a_proof_holds_its_ray():
    x, z = cp.Variable(2, name="x"), cp.Variable(name="z")
    rows = [z <= x[1], x[0] >= 0, cp.norm(x) <= 2 * z]
    problem = cp.Problem(cp.Minimize(x[0] - 3 * z), rows)
    problem.solve("CLARABEL")
    ray = certified(problem).ray
    for far in (0.0, 1e3, 1e6):
        x.value, z.value = np.array([0.5, 1.0]) + far * ray.direction["x"], 0.75 + far * ray.direction["z"]
        assert problem.objective.value == pytest.approx(0.5 - 3 * 0.75 - far, rel=1e-6)
        assert max(np.max(row.violation()) for row in rows) <= 1e-6 * far
    problem = cp.Problem(cp.Minimize(z), [z >= 1, z <= 0])
    problem.solve("CLARABEL")
    assert certified(problem).ray is None


def test_nearly_a_ray_is_no_proof_of_an_unbounded_problem():
    """The solver says unbounded; the optimum is at x = 1e10."""
    x, y = cp.Variable(name="x"), cp.Variable(name="y")
    problem = cp.Problem(cp.Minimize(-x - y), [1e-10 * x + y <= 1, y >= 0, 1e-9 * y <= x])
    proof = certified(held_at(problem, x=1e10, y=0))
    assert proof.status == "optimal"
    assert proof.lower <= -1e10 <= proof.upper


def test_points_that_are_excluded_up_to_a_size_only_do_not_make_a_problem_infeasible():
    """The solver says infeasible, and its multipliers exclude points with entries below 180: this one has 200."""
    A = np.array([[1e-4, 1e-8, 0], [0, 1e-9, 2e-9], [2e-10, 2e-9, -2e-3]])
    at, x = np.array([-200.0, -100.0, -100.0]), cp.Variable(3, name="x")
    rows = [A @ x <= A @ at, (0.1 * x[1] - 0.01 * x[2] == -9).set_label("equation")]
    problem = cp.Problem(cp.Minimize(1e-4 * x[0] - x[1] - 1e-2 * x[2]), rows)
    problem.solve(solver="CLARABEL")
    proof = pc.verify(problem)
    assert (proof.status, proof.lower, proof.upper) == ("undecided", -np.inf, np.inf)
    assert "proved of points with entries below 1.8e+02 only" in proof.explain()
    x.save_value(at)
    assert pc.verify(problem).status != "infeasible"


def test_parameters_need_not_follow_the_rules_for_moving_ones():
    x, y = cp.Variable(name="x"), cp.Variable(name="y")
    p, q = cp.Parameter(nonneg=True, value=2, name="p"), cp.Parameter(nonneg=True, value=3, name="q")
    rows = [(x >= 2 * q).set_label("low"), (p * q * y >= x).set_label("product")]
    problem = cp.Problem(cp.Minimize(p * q * cp.square(x - 1) + y), rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CVXPY's own, about solving it
        problem.solve(solver="CLARABEL")
    proof = certified(problem)
    assert proof.status == "optimal"
    assert proof.lower <= 151 + 1e-7
    assert proof.upper >= 151 - 1e-7
    y.value = y.value + 1e-3
    assert certified(problem).status == "not optimal"


def test_a_side_that_is_infinite_says_nothing():
    v = cp.Variable(2, name="v")
    problem = held_at(cp.Problem(cp.Minimize(-v[0]), [v <= np.array([1, np.inf]), v >= -np.inf]))
    assert certified(problem).status == "optimal"
    assert certified(held_at(problem, v=[1.1, 5])).status == "not optimal"


def cones():
    """Exponential and power cones as they are written out."""
    x, y, z = (cp.Variable(2, name=name) for name in "xyz")
    yield cp.Problem(cp.Minimize(cp.sum(x)), [cp.ExpCone(y, np.ones(2), x).set_label("cone"), y >= 10]), x
    cone = cp.PowCone3D(x, y, z, np.array([0.3, 0.5])).set_label("cone")
    yield cp.Problem(cp.Maximize(cp.sum(z)), [cone, x + y <= np.array([1, 1e4])]), z


@pytest.mark.parametrize("k", range(2))
def test_cones_of_three_entries_are_judged_one_by_one(k):
    problem, variable = list(cones())[k]
    problem.solve(solver="CLARABEL")
    assert certified(problem).status == "optimal"
    wrong = np.array([1.0, -1.0]) * (1.0 if k == 0 else 1e-4)
    variable.save_value(variable.value + wrong)  # the sum stays
    assert certified(problem).status == "not optimal"


def test_constraints_without_an_entry():
    v = cp.Variable(2, name="v")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(v)), [v[:0] >= 1, v[:0] == 2])
    assert certified(held_at(problem)).status == "optimal"


def test_no_constraint_contradicts_another_where_there_are_none():
    """The solver says infeasible of a problem without constraints: that was a TypeError."""
    x = cp.Variable(1, name="x", nonneg=True)
    F, at = np.array([[-2.0], [2.0]]), np.array([1.3e7])
    loss = np.zeros(1) @ x + 0.5 * cp.sum_squares(F @ (x - at) / 1e7) + 1e-7 * cp.norm1(x - at)
    problem = held_at(cp.Problem(cp.Maximize(-loss)), x=at)
    assert certified(problem).status == "optimal"


def test_what_cannot_be_copied_is_refused():
    x = cp.Variable(2, name="x")
    problem = held_at(cp.Problem(cp.Minimize(cp.sum(x) + cp.transforms.indicator([x >= 1]))))
    with pytest.raises(pc.InputError, match="no indicator"):
        certified(problem)


# ---- what has no bound ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_a_coefficient_of_zero_is_none(loss):
    """A robust SVM without robustness. Before: a RuntimeWarning, as 0 times an infinite bound, and undecided."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((30, 3))
    labels = np.sign(points[:, 0] + 0.3 * rng.standard_normal(30))
    w, b, xi = cp.Variable(3, name="w"), cp.Variable(name="b"), cp.Variable(30, name="xi", nonneg=True)
    r = cp.Parameter(nonneg=True, name="r", value=0.0)
    rows = cp.multiply(labels, points @ w + b) >= 1 - xi + r * cp.norm(w)
    size = cp.sum_squares(w) / 2 if loss == "squared" else cp.norm1(w)
    robust, plain = (
        cp.Problem(cp.Minimize(size + cp.sum(xi)), [row])
        for row in (rows, cp.multiply(labels, points @ w + b) >= 1 - xi)
    )
    value = plain.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    robust.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        proof = certified(robust, 1e-8)
    assert proof.status == "optimal", proof.explain()
    assert proof.lower == pytest.approx(value, rel=1e-8)


def test_a_norm_that_costs_nothing_has_a_multiplier_of_zero():
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x) + 0.1 * x[0] + 0 * cp.norm(x)))
    problem.solve(solver="CLARABEL")
    proof = certified(problem, 1e-8)
    assert proof.status == "optimal", proof.explain()
    assert proof.lower <= -0.0025 <= proof.upper


@pytest.mark.parametrize("penalty", [0.0, 0.1, 0.3])
@pytest.mark.parametrize("attribute", ["PSD", "symmetric"])
def test_a_graphical_lasso_is_proved(penalty, attribute):
    """Before: undecided, as no multipliers on the edge of two cones were stationary up to rounding only."""
    S = np.cov(np.random.default_rng(0).standard_normal((20, 5)).T)
    T = cp.Variable((5, 5), name="T", **{attribute: True})
    problem = cp.Problem(cp.Minimize(cp.trace(S @ T) - cp.log_det(T) + penalty * cp.sum(cp.abs(T))))
    value = problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    proof = certified(problem, 1e-8)
    assert proof.status == "optimal", proof.explain()
    assert proof.lower == pytest.approx(value, rel=1e-8)
    if penalty == 0:  # T is the inverse of S
        assert proof.lower <= 5 + np.linalg.slogdet(S)[1] + 1e-12
        assert proof.upper >= 5 + np.linalg.slogdet(S)[1] - 1e-12
    T.save_value(T.value * (1 + 1e-3))
    assert certified(problem, 1e-8).status == "not optimal"


def test_what_is_missing_is_said_in_the_users_variables():
    """Along (1, 1) the objective falls by 6e-17 a step: by the rounding of 0.1 + 0.2."""
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.square(x[0] - x[1]) + 0.3 * x[0] - (0.1 + 0.2) * x[1]), [x >= 0])
    problem.solve(solver="CLARABEL")
    proof = certified(problem)
    assert proof.status == "undecided"
    assert proof.explain().endswith(
        "The variable x has no bounds that the constraints imply, and the multipliers are dual feasible there to "
        "rounding only. Bound it."
    )
    assert list(proof.unabsorbed) == ["x"]


def test_a_variable_that_was_added_is_named_by_the_one_it_was_added_for():
    x, u = cp.Variable(2, name="x"), cp.Variable(3, name="u")
    problem = cp.Problem(cp.Minimize(cp.norm(u) + cp.sum_squares(x)), [u >= 1])
    compiled = cone_proof._compile(Model.of(problem))
    added = sorted(set(range(compiled.program.q.size)) - set(np.concatenate(list(compiled.columns.values())).tolist()))
    assert [compiled.variable(j) for j in added] == ["What CVXPY added for u"]
    assert list(compiled.by_variable({added[0]: 2.0, int(compiled.columns["x"][0]): 1e-9})) == [
        "x",
        "What CVXPY added for u",
    ]


# ---- what a verdict is relative to ---------------------------------------------------------------------------------


def toll(price, at):
    """``min x0 + price x1``, x0 + x1 <= 1, x >= 0, x0 <= 5, holding a point; the optimum is 0, whatever the price."""
    x = cp.Variable(2, name="x")
    rows = [x[0] + x[1] <= 1, x[1] >= 0, x[0] >= 0, x[0] <= 5]
    return held_at(cp.Problem(cp.Minimize(x[0] + price * x[1]), rows), x=np.array(at))


@pytest.mark.parametrize("price", [1e3, 1e5, 1e7, 1e9, 1e11])
@pytest.mark.parametrize("at", [1.0, 1e-2])
def test_a_price_of_what_is_not_used_does_not_say_what_is_optimal(price, at):
    """Bounds of 0 and of the value were "optimal to 1e-08" where one price was 1e9 or more."""
    proof = certified(toll(price, [at, 0.0]), 1e-8)
    assert proof.status == "not optimal"
    assert proof.certificate.gap == pytest.approx(1.0)
    assert proof.certificate.relative_to.unit == pytest.approx(1e-2)
    said = proof.explain()
    assert "a feasible point is known that is better by 1.0e+00" in said
    assert f"is proved to lie in [{proof.lower:.10g}, {proof.upper:.10g}]" in said  # as its repr says
    assert certified(toll(price, [0.0, 0.0]), 1e-8).status == "optimal"


ZERO = np.zeros(3)
FAR = np.array([1.0, -2.0, 3.0])


@pytest.mark.parametrize(
    ("objective", "best"),
    [
        (lambda x: cp.norm2(x - FAR), FAR),
        (lambda x: cp.norm1(x) + 3 * cp.norm2(x), ZERO),
        (lambda x: cp.sum_squares(np.vander([1.0, 2.0, 3.0, 4.0], 3) @ (x - FAR)), FAR),
        (lambda x: 1e-6 * cp.abs(x[0]) + cp.norm1(x), ZERO),
        (lambda x: cp.norm1(x - 1e9 * FAR), 1e9 * FAR),
    ],
    ids=["norm", "two norms", "perfect fit", "a small price", "far"],
)
def test_a_right_answer_is_proved_where_all_terms_vanish(objective, best):
    """At the optimum itself, and at what a solver makes of it; a thousandth aside it is wrong."""
    x = cp.Variable(3, name="x")
    problem = cp.Problem(cp.Minimize(objective(x)))
    problem.solve(solver="CLARABEL")
    found = x.value.copy()
    for answer in (found, best):
        assert certified(held_at(problem, x=answer), 1e-7).status == "optimal"
    wrong = certified(held_at(problem, x=best + 1e-3 * (1.0 + np.abs(best))), 1e-7)
    assert wrong.status == "not optimal"


def test_the_three_numbers_of_a_scale_are_said():
    """x0 + 1000 (x0 - 1 + 2^-10) with x0 = 1: the value is 2; its largest terms are 1001 and 999, its unit is 1001."""
    x = cp.Variable(name="x")
    problem = held_at(cp.Problem(cp.Minimize(x + 1000 * (x - 1) + 1), [x >= 1]), x=1.0)
    proof = certified(problem, 1e-8)
    scale = proof.certificate.relative_to
    assert (scale.value, scale.terms, scale.unit) == pytest.approx((2.0, 1.001, 10.01))
    assert scale.decides == "the unit"
    said = (
        "relative to 10, the largest of the size of the value (2), a thousandth of its largest term (1) and a hundredth"
    )
    assert said in proof.explain()


@pytest.mark.parametrize("sense", [cp.Minimize, cp.Maximize])
def test_a_violation_that_any_solver_leaves_convicts_nobody(sense):
    """x >= 0 is missed by 1e-9, and so is the value 0: that was "better than any feasible point's by 1.0e-07"."""
    x = cp.Variable(name="x")
    problem = held_at(cp.Problem(sense(x if sense is cp.Minimize else -x), [(x >= 0).set_label("low")]), x=-1e-9)
    proof = certified(problem, 1e-8)
    assert proof.status == "undecided"
    assert "better than any feasible point's by 1.0e-07 of 0.01, that is 1.0e-09" in proof.explain()
    assert "which violations of up to 1.0e-09 buy" in proof.explain()
    assert certified(problem, 1e-6).status == "optimal"
    x.save_value(-1e-7)
    wrong = certified(problem, 1e-6)
    assert wrong.status == "not optimal"
    assert "better than any feasible point's by 1.0e-05 of 0.01, that is 1.0e-07" in wrong.explain()


def test_rounding_of_large_multipliers_does_not_make_a_point_optimal_to_tol():
    """The value is exactly 1, as x must be 0; Clarabel's point is 7e-6 off, with multipliers of 1e6 and more."""
    x, y = cp.Variable(name="x"), cp.Variable(name="y")
    problem = cp.Problem(cp.Minimize(cp.exp(-x)), [cp.quad_over_lin(x, y) <= 0, y >= 1, y <= 100])
    held_at(problem, x=7.6e-6, y=98.5)
    for tol in (1e-10, 1e-8, 1e-6, 1e-3):
        proof = certified(problem, tol)
        assert proof.lower <= 1.0
        assert proof.certificate.shortfall == 0.0
        said_of_value = np.exp(-7.6e-6) - proof.lower <= tol  # the scale is 1
        assert (proof.status == "optimal") <= said_of_value
        assert "rounding" not in proof.explain()
    assert certified(problem, 1e-3).passes()


def test_rows_that_contradict_each_other_by_less_than_a_point_may_miss_are_undecided():
    """Of terms of 2e9 and 2e6 the sums of rows are 1 short."""
    x = cp.Variable(2, name="x")
    for size, status in ((1e9, "undecided"), (1e6, "infeasible")):
        problem = cp.Problem(cp.Minimize(0), [cp.sum(x) <= size, x >= size / 2 + 0.5])
        problem.solve("CLARABEL")
        proof = pc.verify(problem)
        assert (problem.status, proof.status) == ("infeasible", status)
        assert ("by no more than 5.0e-10 of their terms" in proof.explain()) == (status == "undecided")
