"""Strong duality: theorems where their conditions were checked, measured gaps elsewhere, and points that are inside."""

from __future__ import annotations

from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest

from paretoclf.solve.duals.construction.dual_parts import parts_of
from paretoclf.solve.duals.strong_duality import slater_point, strong_duality
from paretoclf.solve.models.model import Model

TOL = 1e-6
x, z = cp.Variable(name="x"), cp.Variable(name="z")
v = cp.Variable(3, name="v")


def relation(problem):
    """What is found of a problem and the dual that is made of its parts."""
    model = Model.of(problem, maximise=True, moving=False)
    parts = parts_of(model)
    return strong_duality(model, parts.built(), parts.atoms, TOL)


def minimise(objective, *constraints):
    return cp.Problem(cp.Minimize(objective), list(constraints))


class TestTheorems:
    def test_a_linear_program_with_a_value_has_no_gap(self):
        found = relation(minimise(cp.sum(v), v >= 1))
        assert (found.kind, dict(found.point)) == ("equal", {})
        assert (found.primal, found.dual) == pytest.approx((3, 3), abs=1e-5)
        assert found.gap < 1e-5
        assert str(found) == (
            "The dual never passes the primal (Fenchel-Young). They are equal, and the dual is attained: a feasible LP "
            "or QP with a finite value. The primal's value is 3, the dual's 3."
        )
        assert repr(found) == found.sentence

    def test_so_has_a_maximised_quadratic_program(self):
        found = relation(cp.Problem(cp.Maximize(2 * x - cp.square(x)), [x <= 0.5]))
        assert found.kind == "equal"
        assert (found.primal, found.dual) == pytest.approx((0.75, 0.75), abs=1e-5)

    def test_and_a_convex_problem_with_a_slater_point(self):
        found = relation(minimise(cp.exp(x), cp.square(x) <= 1))
        assert found.kind == "equal"
        assert abs(found.point["x"]) < 1
        assert "a Slater point was found and checked" in str(found)
        assert f"value is {np.exp(-1):.6g}" in str(found)

    @pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
    def test_without_one_the_gap_may_be_real(self):
        found = relation(minimise(cp.exp(-x), cp.quad_over_lin(x, z) <= 0, z >= 1e-3))  # 1, and its dual 0
        assert (found.kind, found.point) == ("open", {})
        assert "No theorem is known to hold (" in str(found)

    @pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
    def test_a_value_that_is_not_proved_finite_has_no_theorem(self, monkeypatch):
        from paretoclf.solve.duals import strong_duality as module
        from paretoclf.solve.judging.cone_proof import ProblemProof

        monkeypatch.setattr(module, "proved", lambda problem, tol: ProblemProof("undecided", -np.inf, np.inf))
        found = relation(minimise(cp.sum(v), v >= 1))
        assert (found.kind, found.gap) == ("open", np.inf)
        assert "(that the value is finite was not proved)" in str(found)
        assert "the gap is not bounded." in str(found)
        assert "The primal's value is not bounded by a proof" in str(found)

    @pytest.mark.parametrize(
        ("problem", "sign"), [(minimise(x, x <= 1), -1), (cp.Problem(cp.Maximize(x), [x >= 1]), 1)]
    )
    def test_an_unbounded_problem_has_an_infeasible_dual(self, problem, sign):
        found = relation(problem)
        assert (found.kind, found.primal, found.gap) == ("unbounded", sign * np.inf, np.inf)
        assert np.isnan(found.dual)
        assert str(found).startswith("The dual is infeasible, and the primal unbounded if it is feasible. ")

    @pytest.mark.parametrize(
        ("problem", "sign"), [(minimise(x, x >= 1, x <= 0), 1), (cp.Problem(cp.Maximize(x), [x >= 1, x <= 0]), -1)]
    )
    def test_an_infeasible_one_is_told(self, problem, sign):
        found = relation(problem)
        assert (found.kind, found.primal, found.gap) == ("infeasible", sign * np.inf, np.inf)
        assert str(found).endswith(" The dual is then unbounded, or infeasible too.")


class TestMeasured:
    """Proofs of some bounds and of none, as a judge returns them: what is said of the two values."""

    def said(self, monkeypatch, primal, dual, problem=None):
        from paretoclf.solve.duals import strong_duality as module
        from paretoclf.solve.judging.cone_proof import ProblemProof

        proofs = iter([ProblemProof("undecided", *primal), ProblemProof("undecided", *dual)])
        monkeypatch.setattr(module, "proved", lambda problem, tol: next(proofs))
        return relation(problem or minimise(x, cp.square(x) <= 0))  # without a Slater point

    def test_bounds_that_are_proved_bound_the_gap(self, monkeypatch):
        found = self.said(monkeypatch, (0.5, 2.0), (1.5, 3.0))
        assert (found.kind, found.primal, found.dual, found.gap) == ("open", 2.0, 1.5, 0.5)
        assert "No theorem is known to hold (no Slater point was found): the gap may be real" in str(found)
        assert (
            "The primal's value is in [0.5, 2], the dual's in [1.5, 3]; the gap is at most 0.5 here, by proved"
            in str(found)
        )

    def test_of_a_maximisation_the_other_bounds_count(self, monkeypatch):
        maximise = cp.Problem(cp.Maximize(x), [cp.square(x) <= 0])
        found = self.said(monkeypatch, (0.5, 2.0), (1.5, 3.0), maximise)
        assert (found.primal, found.dual, found.gap) == (0.5, 3.0, 2.5)

    @pytest.mark.parametrize(("missed", "gap"), [(0.0, 0.5), (TOL, 0.5), (2 * TOL, np.inf)])
    def test_without_proved_bounds_points_that_are_feasible_to_the_tolerance_count(self, monkeypatch, missed, gap):
        from paretoclf.solve.duals import strong_duality as module
        from paretoclf.solve.judging.cone_proof import ProblemProof

        def proof(value):
            condition = SimpleNamespace(infeasibility=np.array([0.0, missed]))
            at = SimpleNamespace(primal_value=value)
            return ProblemProof("undecided", -np.inf, np.inf, certificate=at, conditions=(condition,))

        proofs = iter([proof(2.0), proof(1.5)])
        monkeypatch.setattr(module, "proved", lambda problem, tol: next(proofs))
        found = relation(minimise(x, cp.square(x) <= 0))
        assert found.gap == gap
        words = "the gap is about 0.5 here, at points that are feasible to 1e-06" if missed <= TOL else "is not bounded"
        assert words in str(found)

    def test_values_that_pass_each_other_leave_no_gap(self, monkeypatch):
        assert self.said(monkeypatch, (0.5, 1.0), (1.5, 3.0)).gap == 0

    @pytest.mark.parametrize(
        ("dual", "words"),
        [
            ((-np.inf, 3.0), "the dual's at most 3"),
            ((1.5, np.inf), "the dual's at least 1.5"),
            ((2.0, 2.0 + 2e-5), "the dual's 2;"),
            ((2.0, 2.0 + 4e-5), "the dual's in [2, 2.00004]"),
            ((-np.inf, np.inf), "the dual's not bounded by a proof"),
        ],
    )
    def test_a_value_is_said_as_far_as_it_is_proved(self, monkeypatch, dual, words):
        assert words in str(self.said(monkeypatch, (0.5, 2.0), dual))

    def test_one_finite_bound_from_below_is_enough(self, monkeypatch):
        problem = minimise(cp.sum(v), v >= 1)
        for primal, dual in (((0.5, 2.0), (-np.inf, 3.0)), ((-np.inf, 2.0), (1.0, 3.0))):
            assert self.said(monkeypatch, primal, dual, problem).kind == "equal"
        found = self.said(monkeypatch, (-np.inf, 2.0), (-np.inf, 3.0), problem)
        assert (found.kind, found.gap) == ("open", np.inf)


def inside(*constraints, objective=None):
    """The Slater point of some constraints."""
    model = Model.of(minimise(0 if objective is None else objective, *constraints), maximise=True, moving=False)
    return slater_point(model, parts_of(model).atoms)


matrix = cp.Variable((2, 2), name="S", symmetric=True)
psd = cp.Variable((2, 2), name="S", PSD=True)
nsd = cp.Variable((2, 2), name="S", NSD=True)
t = cp.Variable(3, name="t")


class TestSlaterPoints:
    """Each constraint by a function of the point that is positive strictly inside."""

    def test_affine_constraints_are_kept_and_the_others_with_room(self):
        point = inside(cp.norm2(v) <= 1, cp.sum(v) == 0.5, v[0] >= 0)["v"]
        assert np.linalg.norm(point) < 0.99
        assert point.sum() == pytest.approx(0.5)
        assert point[0] >= -1e-7

    def test_polyhedral_constraints_need_no_room(self):
        assert inside(cp.sum(v) <= 0, cp.sum(v) >= 0) is not None
        assert inside(cp.abs(x) <= 0, cp.square(x) <= 1)["x"] == pytest.approx(0, abs=1e-6)
        assert inside(cp.square(x) <= 0) is None
        assert inside(cp.square(x) <= 1, x >= 1) is None

    @pytest.mark.parametrize(
        ("constraint", "smallest"),
        [
            (matrix - np.eye(2) >> 0, lambda p: np.linalg.eigvalsh(p["S"] - np.eye(2)).min()),
            (cp.SOC(z, v), lambda p: p["z"] - np.linalg.norm(p["v"])),
            (cp.SOC(t[:1], cp.reshape(v, (3, 1), order="F")), lambda p: p["t"][0] - np.linalg.norm(p["v"])),
            (cp.ExpCone(x, z, v[0]), lambda p: min(p["z"], p["v"][0] - p["z"] * np.exp(p["x"] / p["z"]))),
            (
                cp.PowCone3D(x, z, v[0], 0.25),
                lambda p: min(p["x"], p["z"], p["x"] ** 0.25 * p["z"] ** 0.75 - abs(p["v"][0])),
            ),
            (cp.square(x) <= z, lambda p: p["z"] - p["x"] ** 2),
            (cp.log(x) >= z, lambda p: np.log(p["x"]) - p["z"]),
        ],
    )
    def test_a_point_is_inside_every_cone(self, constraint, smallest):
        point = inside(constraint)
        assert smallest(point) > 0.1

    def test_a_point_of_unequal_parts_is_found(self):
        """0.1^0.75 is above 0.1: there is room where z is small."""
        assert inside(cp.PowCone3D(x, z, v[0], 0.25), x <= 1, z <= 0.1, v[0] == 0.1) is not None

    @pytest.mark.parametrize(
        "constraints",
        [
            (cp.PowCone3D(x, z, v[0], 0.25), x <= 1, z <= 1, v[0] == 1),
            (cp.PowCone3D(x, z, v[0], 0.75), x <= 1, z <= 1, v[0] == 1),
            (cp.ExpCone(x, z, v[0]), x == -1, z == 1, v[0] <= np.exp(-1)),
            (cp.ExpCone(x, z, v[0]), x >= 0, z == 1, v[0] <= 1),
            (cp.SOC(z, v), z <= 1, v[0] >= 1),
            (matrix >> np.eye(2), cp.trace(matrix) <= 2),
        ],
    )
    def test_a_point_at_the_border_is_none(self, constraints):
        assert inside(*constraints) is None

    @pytest.mark.parametrize(("variable", "sign"), [(psd, 1), (nsd, -1)])
    def test_and_inside_of_what_attributes_say(self, variable, sign):
        point = inside(cp.sum_squares(variable) <= 4)["S"]
        assert np.linalg.eigvalsh(sign * point).min() > 0.1
        assert inside(sign * cp.trace(variable) <= 0) is None  # 0 alone is left

    def test_and_inside_of_the_domains_of_atoms(self):
        assert inside(objective=-cp.log(x))["x"] > 0.1
        assert inside(x <= 0, objective=-cp.log(x)) is None
        assert inside(x <= 0, objective=-cp.sqrt(x)) is None
        assert inside(x == 1e-3, objective=-cp.sqrt(x)) is not None
        scale = cp.Variable(name="scale", nonneg=True)
        assert inside(objective=cp.perspective(cp.square(x), scale))["scale"] > 0.1
        assert inside(scale <= 0, objective=cp.perspective(cp.square(x), scale)) is None
        assert inside(scale <= 0.5, objective=cp.perspective(cp.square(x), scale)) is not None

    def test_what_the_objective_alone_has_may_be_anything(self):
        point = inside(cp.square(x) <= 1, objective=cp.sum(v))
        assert point["v"].tolist() == [0, 0, 0]

    def test_a_point_is_away_from_the_border_by_half_of_the_most(self):
        """The largest room is 1, which the search is bounded by; what is returned keeps half of it."""
        assert inside(cp.square(x) <= 100, cp.square(z) <= 1e-8) is None
        point = inside(cp.square(x) <= 1e-4)
        assert 1e-4 - point["x"] ** 2 >= 0.5e-4 * (1 - 1e-6)

    def test_variables_are_left_as_they_were(self):
        x.value = 3.0
        try:
            inside(cp.square(x) <= 1)
            assert x.value == 3.0
        finally:
            x.value = None

    def test_a_kind_of_cone_without_an_inside_here_has_no_point(self):
        many = cp.PowConeND(cp.Variable(3, name="W"), z, np.ones(3) / 3)
        model = Model.of(minimise(z, many), maximise=True, moving=False)
        assert slater_point(model, ()) is None

    def test_a_solver_that_fails_finds_none(self, monkeypatch):
        def fail(self, *args, **options):
            raise cp.SolverError("no progress")

        monkeypatch.setattr(cp.Problem, "solve", fail)
        assert inside(cp.square(x) <= 1) is None


@pytest.mark.parametrize(
    ("cone", "values", "kept"),
    [
        (cp.ExpCone, (0.0, 1.0, 1.0), True),  # on its border
        (cp.ExpCone, (0.1, 1.0, 1.0), False),
        (cp.ExpCone, (-1.0, 0.0, 1.0), False),  # where nothing can be computed
        (cp.ExpCone, (-1.0, 1.0, 0.0), False),
        (lambda x, y, z: cp.PowCone3D(x, y, z, 0.25), (1.0, 1.0, 1.0), True),
        (lambda x, y, z: cp.PowCone3D(x, y, z, 0.25), (1.0, 1.0, -1.0), True),
        (lambda x, y, z: cp.PowCone3D(x, y, z, 0.25), (1.0, 1.0, 1.1), False),
        (lambda x, y, z: cp.PowCone3D(x, y, z, 0.25), (1.0, 16.0, 7.9), True),
        (lambda x, y, z: cp.PowCone3D(x, y, z, 0.25), (16.0, 1.0, 2.1), False),
        (lambda x, y, z: cp.PowCone3D(x, y, z, 0.25), (0.0, 1.0, 0.0), False),
    ],
)
def test_whether_a_cone_is_kept_is_computed_and_not_asked_of_a_solver(cone, values, kept):
    from paretoclf.solve.duals.strong_duality import _inside

    own = [cp.Variable(value=value) for value in values]
    assert _inside(cone(*own)) == kept
