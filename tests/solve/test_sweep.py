from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cached_property
from types import SimpleNamespace
from typing import ClassVar

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.reductions.solvers.conic_solvers import clarabel_conif
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.common.errors import InputError, SolveError
from paretoclf.formulations.base import POSITIVE, Formulation
from paretoclf.formulations.two_c_svm import TwoCSVM
from paretoclf.problem.intercepts import sides
from paretoclf.problem.kernels import RBF
from paretoclf.solve import sweep as swept
from paretoclf.solve import vertices
from paretoclf.solve.compiled import Compiled
from paretoclf.solve.models.model import Model
from paretoclf.solve.polish import Polished
from paretoclf.solve.sweep import Sweep, sweep
from paretoclf.solve.vertices import vertex_of

FORMS = ("dual", "primal")
ASYMMETRY = np.linspace(0.05, 0.95, 7)


@pytest.fixture
def svm(gaussians):
    return TwoCSVM(*gaussians(60, 4, seed=7))


@pytest.mark.parametrize("kernel", [None, RBF(1.5), RBF(0.1)], ids=["linear", "rbf thin", "rbf full"])
@pytest.mark.parametrize("form", FORMS)
def test_sweep_agrees_with_separate_solves(gaussians, form, kernel):
    svm = TwoCSVM(*gaussians(50, 1 if kernel else 4, seed=7), kernel)
    result = sweep(svm, C_plus=4 * ASYMMETRY, C_minus=4 * (1 - ASYMMETRY), form=form, polish=False)
    for solution in result:
        single = svm.solve(*solution.costs, form, polish=False)
        assert solution.value == pytest.approx(single.value, rel=1e-10)
        np.testing.assert_allclose(solution.alpha, single.alpha, atol=1e-6)
        assert solution.classifier.b == pytest.approx(single.classifier.b, abs=1e-6)
    assert result.setups == 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("accuracy", ["reference", "fast"])
def test_the_polish_makes_every_accuracy_exact(svm, form, accuracy):
    result = sweep(svm, C_plus=4 * ASYMMETRY, C_minus=4 * (1 - ASYMMETRY), form=form, accuracy=accuracy)
    assert result.worst < 1e-12, result.worst
    assert all(s.status == "optimal, polished" for s in result)
    rough = sweep(svm, C_plus=4 * ASYMMETRY, C_minus=4 * (1 - ASYMMETRY), form=form, accuracy=accuracy, polish=False)
    assert rough.worst > 1e-12  # there was something to polish
    assert all(s.status == "optimal" for s in rough)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("direction", [1, -1])
def test_ten_decades_of_costs(gaussians, form, direction):
    """Where the scaling of the first solve is kept, feasible problems come back as infeasible."""
    X, y = gaussians(60, 2, seed=3)
    costs = np.logspace(-5, 5, 21)[::direction]
    result = sweep(TwoCSVM(X, y), C_plus=costs, C_minus=costs, form=form)
    assert all(c.passes() for c in result.certificates), result
    assert result.setups > 1
    assert (np.diff(result.values * direction) > 0).all()  # the optimal value increases with the costs
    for solution in result[8:13]:
        model = SVC(C=solution.costs.C_plus, kernel="linear", tol=1e-8).fit(X, y)
        np.testing.assert_allclose(solution.classifier.w, model.coef_[0], atol=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_extreme_asymmetries(gaussians, form):
    g = np.logspace(-3, 0, 9)[:-1]
    result = sweep(
        TwoCSVM(*gaussians(60, 2, seed=3)), C_plus=np.append(g, 1 - g), C_minus=np.append(1 - g, g), form=form
    )
    assert all(c.passes() for c in result.certificates), result


def test_raw_features_of_very_different_sizes(gaussians):
    X, y = gaussians(80, 4, seed=11)
    X = X * np.array([1e-3, 1.0, 30.0, 1e3]) + np.array([0.0, 5.0, 0.0, 2e3])
    result = sweep(TwoCSVM(X, y), C_plus=20 * ASYMMETRY, C_minus=20 * (1 - ASYMMETRY))
    assert result.worst < 1e-9, result


@given(st.integers(0, 10**6), st.sampled_from(FORMS))
@settings(max_examples=15)
def test_random_grid_data(seed, form):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 16))
    X, y = rng.integers(-2, 3, size=(n, 2)).astype(float), np.where(rng.random(n) < 0.5, 1, -1)
    y[:2] = 1, -1
    C_plus, C_minus = 10 ** rng.uniform(-2, 2, size=(2, 5))
    result = sweep(TwoCSVM(X, y), C_plus=C_plus, C_minus=C_minus, form=form)
    assert all(c.passes() for c in result.certificates), (seed, result, [s.status for s in result])


def test_zero_costs_need_no_solver(svm):
    result = sweep(svm, C_plus=[0.0, 0.0, 1.0, 1.0], C_minus=[0.0, 1.0, 0.0, 1.0])
    assert [s.source for s in result] == ["closed form"] * 3 + ["CLARABEL"]
    assert [s.classifier.b_interval[0] for s in result[:3]] == [-np.inf, -np.inf, 1.0]
    assert (result.values[:3] == 0).all()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", [None, RBF(1.5)], ids=["linear", "rbf"])
def test_certificates_made_together_are_those_of_each_point(gaussians, form, kernel):
    """Against `certify`, point by point, from raw arrays; points that need no solver stand among the others."""
    X, y = gaussians(40, 2, seed=5)
    svm, caps = TwoCSVM(X, y, kernel), np.array([[0.0, 1.0], [0.3, 0.7], [1.0, 0.0], [0.9, 0.1], [4.0, 5.0]])
    result = sweep(svm, C_plus=caps[:, 0], C_minus=caps[:, 1], form=form)
    assert [s.source for s in result] == ["closed form", "CLARABEL", "closed form", "CLARABEL", "CLARABEL"]
    np.testing.assert_array_equal(result.costs, caps)
    for solution in result:
        c, rule = solution.certificate, solution.classifier
        own = {"X": X, "w": rule.slope} if kernel is None else {"K": svm.gram.matrix}
        alone = pc.certify(y, rule.caps, rule.alpha, rule.b, **own)
        np.testing.assert_array_equal(rule.caps, np.where(y > 0, *solution.costs))
        assert (c.primal_value, c.dual_value) == pytest.approx((alone.primal_value, alone.dual_value), rel=1e-13)
        assert c.residual == pytest.approx(alone.residual, abs=1e-13)
        assert c.passes(1e-12)


def test_a_sweep_completes_points_as_a_subclass_says(gaussians):
    class Signed(TwoCSVM):
        def complete(self, values, point, **how):
            return replace(super().complete(values, point, **how), notes=("ours",))

    svm = Signed(*gaussians(30, 2, seed=7))
    assert svm.solve(1.0, 2.0).notes == ("ours",)
    assert [solution.notes for solution in sweep(svm, C_plus=[1.0, 0.0], C_minus=[2.0, 1.0])] == [("ours",)] * 2


def test_sweep_is_a_sequence_with_arrays(svm):
    result = sweep(svm, C_plus=[0.5, 1.0, 2.0], C_minus=1.0)
    assert len(result) == 3
    assert result[1] is list(result)[1]
    assert isinstance(result[:2], Sweep)
    assert len(result[:2]) == 2
    np.testing.assert_array_equal(result.costs, [[0.5, 1], [1, 1], [2, 1]])
    np.testing.assert_array_equal(result.values, [s.value for s in result])
    np.testing.assert_array_equal(result.dual_values, [s.dual_value for s in result])
    np.testing.assert_array_equal(result.b, [s.classifier.b for s in result])
    assert result.alpha.shape == (3, 60)
    assert len(result.certificates) == 3
    assert result.worst == max(max(c.residual, abs(c.gap)) for c in result.certificates)
    assert set(result.timing) == {"build", "solve", "polish", "proof"}
    assert "3 solutions of the dual, 3 certified" in repr(result)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(result)).values, result.values)


def test_an_empty_sweep_is_refused_and_an_empty_part_of_one_is_not(svm):
    with pytest.raises(InputError, match=r"^C_plus must have at least one value, got \[\]$"):
        sweep(svm, C_plus=[], C_minus=[])
    result = sweep(svm, C_plus=[1.0], C_minus=1.0)[:0]
    assert result.costs.shape == (0, 2)
    assert "0 solutions" in repr(result)


def test_nothing_is_printed_unless_asked_for(svm, capfd):
    sweep(svm, C_plus=[0.5, 1.0], C_minus=1.0, progress=False)
    assert capfd.readouterr() == ("", "")
    sweep(svm, C_plus=[0.5, 1.0], C_minus=1.0, progress=True)
    assert "sweep" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"C_plus": [1.0, 2.0], "C_minus": [1.0]}, ["same length", "C_plus has 2", "C_minus has 1"]),
        ({"C_plus": [1.0, -2.0], "C_minus": 1.0}, ["C_plus", "-2.0", "value 1"]),
        ({"C_plus": [1.0, np.nan], "C_minus": 1.0}, ["C_plus", "nan", "value 1"]),
        ({"C_plus": [[1.0]], "C_minus": 1.0}, ["C_plus", "shape (1, 1)"]),
        ({"C_plus": "abc", "C_minus": 1.0}, ["C_plus", "numeric"]),
        ({"C_plus": [1.0]}, ["C_minus must be given"]),
        ({"C_plus": [1.0], "C_minus": 1.0, "nu": 0.5}, ["nu", "C_plus, C_minus"]),
        ({"C_plus": [1.0], "C_minus": 1.0, "form": "both"}, ["form"]),
        ({"C_plus": [1.0], "C_minus": 1.0, "accuracy": 1e-9}, ["accuracy"]),
    ],
)
def test_bad_input(svm, arguments, words):
    with pytest.raises(InputError) as error:
        sweep(svm, **arguments)
    for word in words:
        assert word in str(error.value)


class OwnHinge(Formulation):
    """A user's, without a dual; the mean hinge is written so that the objective has a constant that moves."""

    domain: ClassVar = {"C": POSITIVE}

    def __init__(self, X, y):
        self.X, self.y = X, y

    @cached_property
    def primal(self):
        n, d = self.X.shape
        w, b, xi = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="xi", nonneg=True)
        margin = ((self.y[:, None] * self.X) @ w + self.y * b >= 1 - xi).set_label("margin")
        C = self.parameters["C"]
        return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * cp.sum(xi) - 3 * C), [margin])


class TestProofs:
    """What a sweep of a user's formulation proves, and what that takes."""

    grid = (0.1, 0.4, 2.0)

    @pytest.fixture
    def own(self, gaussians):
        return OwnHinge(*gaussians(40, 3, seed=5))

    def test_are_those_of_solves_one_by_one(self, own):
        for one in sweep(own, C=self.grid):
            alone = own.solve(C=one.values["C"])
            assert one.certificate.passes()
            assert alone.certificate.passes()
            bound = one.certificate.dual_value
            # the optimal value by CVXPY itself, with the constant
            assert bound <= own.primal.value + 1e-7
            assert bound == pytest.approx(alone.certificate.dual_value, abs=1e-8)

    def test_nothing_is_solved_twice(self, own, monkeypatch):
        """Before: the compiled program was compiled and solved once more at every value, to be proved."""
        solved = []
        honest = clarabel_conif.CLARABEL.solve_via_data
        monkeypatch.setattr(
            clarabel_conif.CLARABEL,
            "solve_via_data",
            lambda *args, **kwargs: solved.append(1) or honest(*args, **kwargs),
        )
        assert all(certificate.passes() for certificate in sweep(own, C=self.grid).certificates)
        assert not solved

    def test_their_seconds_count(self, own, svm):
        found = sweep(own, C=self.grid)
        assert set(found.timing) == {"build", "solve", "polish", "proof"}
        assert found.timing["proof"] > 0
        assert set(sweep(svm, C_plus=[0.1, 0.2], C_minus=1.0).timing) == set(found.timing)

    def test_can_be_left_out(self, own, svm):
        proved, bare = sweep(own, C=self.grid), sweep(own, C=self.grid, certify=False)
        np.testing.assert_allclose(bare.values, proved.values, rtol=1e-9)
        np.testing.assert_allclose([s.classifier.w for s in bare], [s.classifier.w for s in proved], atol=1e-6)
        assert "0 certified" in repr(bare)
        for solution in bare:
            assert not solution.certificate.passes(1e3)
            assert solution.dual_value == -np.inf
            assert solution.certificate.verdict() == "undecided"
            assert "certify=False" in solution.certificate.explain()
        # One with a judge of its own is certified all the same.
        assert sweep(svm, C_plus=[0.1], C_minus=1.0, certify=False)[0].certificate.passes()


class TestCompiled:
    @pytest.mark.parametrize(("form", "moving"), [("dual", ("b",)), ("primal", ("q",))])
    def test_the_affine_maps_are_cvxpys_data(self, svm, form, moving):
        compiled = Compiled(svm.model(form), svm.parameters)
        assert compiled.moving == moving
        for values in ({"C_plus": 0.3, "C_minus": 70.0}, {"C_plus": 2.0, "C_minus": 0.01}):
            for name, value in values.items():
                svm.parameters[name].value = value
            data, _, _ = svm.model(form).problem.get_problem_data("CLARABEL", solver_opts={})
            q, b = compiled.data(values)
            np.testing.assert_allclose(q, data["c"], rtol=1e-14)
            np.testing.assert_allclose(b, data["b"], rtol=1e-14)

    @pytest.mark.parametrize("form", FORMS)
    def test_numbers_are_those_of_cvxpy(self, svm, form):
        """Every named variable and multiplier, with its sign, against CVXPY's own way back."""
        raw = Compiled(svm.model(form), svm.parameters).solve({"C_plus": 0.01, "C_minus": 0.02})
        svm.solve(0.01, 0.02, form, polish=False)
        model = svm.model(form)
        expected = {name: v.value for name, v in model.variables.items()}
        expected |= {name: c.dual_value for name, c in model.constraints.items()}
        assert set(raw.numbers) == set(expected)
        for name, value in expected.items():
            np.testing.assert_allclose(raw.numbers[name], value, atol=1e-7, err_msg=name)

    def test_parameters_are_left_alone(self, svm):
        svm.parameters["C_plus"].value = 3.0
        Compiled(svm.dual_model, svm.parameters)
        assert svm.parameters["C_plus"].value == 3.0
        assert svm.parameters["C_minus"].value is None

    def test_set_up_anew_only_where_the_costs_moved_far(self, svm):
        compiled = Compiled(svm.primal_model, svm.parameters)
        fresh = [compiled.solve({"C_plus": c, "C_minus": 1.0}).fresh for c in (1.0, 3.0, 50.0, 200.0, 300.0, 1.0)]
        assert fresh == [True, False, False, True, False, True]
        assert compiled.setups == 3

    def test_what_was_tried_is_not_tried_again(self, svm, monkeypatch):
        """Before: a solver that got almost there was set up once more with the same numbers."""
        tried, honest = [], Compiled._set_up

        def almost(self, q, b, units):
            honest(self, q, b, units)
            tried.append(units)
            found = self._solver.solve()
            claim = SimpleNamespace(x=found.x, z=found.z, iterations=found.iterations, status="AlmostSolved")
            self._solver = SimpleNamespace(solve=lambda: claim)

        monkeypatch.setattr(Compiled, "_set_up", almost)
        for cost in (0.5, 2.0):  # below 1 there is one unit, above 1 there are two
            raw = Compiled(svm.primal_model, svm.parameters).solve({"C_plus": cost, "C_minus": cost})
            assert raw.status == "optimal_inaccurate"
        assert tried == [(0.5, 1.0), (1.0, 1.0), (2.0, 1.0)]

    def test_a_moving_matrix_is_refused(self):
        x, p = cp.Variable(2), cp.Parameter(nonneg=True)
        constraint = p * x[0] + x[1] >= 1
        model = Model(cp.Problem(cp.Minimize(cp.sum_squares(x)), [constraint]), {"x": x}, {"c": constraint})
        with pytest.raises(SolveError, match="matrices of this model depend on its parameters"):
            Compiled(model, {"p": p})

    def test_a_false_claim_is_an_error(self):
        x, p = cp.Variable(2), cp.Parameter(nonneg=True)
        constraint = cp.sum(x) == p
        model = Model(cp.Problem(cp.Minimize(cp.sum(x)), [constraint, x >= 1]), {"x": x}, {"c": constraint})
        with pytest.raises(SolveError, match="CLARABEL returned 'PrimalInfeasible'"):
            Compiled(model, {"p": p}).solve({"p": 1.0})

    def test_pickles_without_its_solver(self, svm):
        compiled = Compiled(svm.dual_model, svm.parameters)
        values = {"C_plus": 1.0, "C_minus": 2.0}
        before = compiled.solve(values)
        after = pickle.loads(pickle.dumps(compiled)).solve(values)
        assert after.fresh
        np.testing.assert_array_equal(before.numbers["alpha"], after.numbers["alpha"])


class TestPolish:
    def test_from_a_rough_point_to_the_vertex(self, svm):
        exact = svm.solve(1.0, 2.0)
        caps = svm.caps(1.0, 2.0)
        noise = np.random.default_rng(0).normal(size=60)
        rough = exact.alpha + 1e-5 * caps * noise
        refined = vertex_of(svm.gram, svm.y, caps, rough, exact.classifier.b + 1e-5)
        assert refined.settled
        np.testing.assert_allclose(refined.alpha, exact.alpha, atol=1e-12)

    def test_wrong_sets_are_exchanged(self, gaussians):
        """From rough points whose first guess of the three sets is wrong, the polish still finds the right ones."""
        repaired = 0
        for seed in range(20):
            svm = TwoCSVM(*gaussians(60, 2, seed=seed))
            exact, caps = svm.solve(1.0, 2.0), svm.caps(1.0, 2.0)
            rough = np.clip(exact.alpha + 3e-3 * caps * np.random.default_rng(seed).normal(size=60), 0, caps)
            b = exact.classifier.b
            truth = np.isclose(exact.alpha, caps), exact.alpha == 0
            guess = sides(svm.y, caps, rough, svm.gram.matvec(svm.y * rough) + b)
            refined = vertex_of(svm.gram, svm.y, caps, rough, b)
            if refined.settled:  # judged by the objective: the multipliers need not be unique
                w = svm.X.T @ (svm.y * refined.alpha)
                assert refined.alpha.sum() - 0.5 * w @ w == pytest.approx(exact.value, rel=1e-12)
                repaired += any((g != t).any() for g, t in zip(guess, truth, strict=True))
        assert repaired >= 3

    def test_dependent_margin_samples_keep_an_interior_point(self):
        """Four copies of one sample on the margin: the multipliers are not unique, and stay where they were."""
        X, y = np.array([[1.0]] * 4 + [[-1.0]]), np.array([1.0] * 4 + [-1.0])
        rough = np.array([0.1, 0.12, 0.13, 0.15, 0.5]) + 1e-6
        refined = vertex_of(TwoCSVM(X, y).gram, y, np.ones(5), rough, 1e-6)
        assert refined.settled
        assert refined.alpha[:4].sum() == pytest.approx(0.5, abs=1e-14)
        np.testing.assert_allclose(refined.alpha, rough, atol=1e-5)

    @pytest.mark.parametrize("seed", range(6))
    def test_nearly_dependent_margin_samples(self, seed):
        """Six positives on one line up to rounding: sometimes regular in floating point, always singular in truth."""
        rng = np.random.default_rng(seed)
        along = rng.uniform(-1, 1, size=6)
        direction, normal, _ = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        X = np.vstack([np.outer(along, direction) + normal, [-normal, -normal]])
        y = np.array([1.0] * 6 + [-1.0] * 2)
        weights = np.linalg.lstsq(np.vstack([along, np.ones(6)]), np.array([0.0, 0.5]), rcond=None)[0]
        exact = np.append(weights, [0.25, 0.25])  # w = normal, b = 0: every sample on the margin
        rough = exact + 1e-7 * rng.normal(size=8)
        refined = vertex_of(TwoCSVM(X, y).gram, y, np.ones(8), rough, 1e-7)
        assert refined.settled
        np.testing.assert_allclose(refined.alpha, rough, atol=1e-6)
        np.testing.assert_allclose(refined.w, normal, atol=1e-13)

    def test_a_bad_polish_is_thrown_away(self, svm, monkeypatch):
        bad = Polished(np.zeros(60), None, False)
        monkeypatch.setattr(vertices, "vertex_of", lambda *args: bad)
        solution = svm.solve(1.0, 2.0)
        assert solution.status == "optimal, not polished: the margin set did not settle"
        assert solution.certificate.gap < 1e-9
        assert "polish" in solution.timing

    def test_one_bad_polish_among_many_is_thrown_away(self, svm, monkeypatch):
        good = vertices.vertex_of
        costs = np.array([0.5, 1.0, 2.0])

        def sometimes(gram, y, caps, alpha, b):
            found = good(gram, y, caps, alpha, b)
            return replace(found, alpha=np.zeros(60), settled=False) if caps.max() == 1.0 else found

        monkeypatch.setattr(vertices, "vertex_of", sometimes)
        result = sweep(svm, C_plus=costs, C_minus=costs)
        assert [s.status.partition(", ")[2] for s in result] == [
            "polished",
            "not polished: the margin set did not settle",
            "polished",
        ]
        assert result[1].certificate.gap < 1e-9
        assert all(s.certificate.passes() and "polish" in s.timing for s in result)


@pytest.mark.parametrize("grid", [{"C_plus": [], "C_minus": []}, {"C_plus": [], "C_minus": 1.0}])
def test_nothing_to_solve_is_refused(grid):
    with pytest.raises(InputError, match="C_plus must have at least one value"):
        pc.sweep(pc.TwoCSVM([[0.0], [1.0]], [-1, 1]), **grid)


def test_complex_costs_are_refused():
    svm = pc.TwoCSVM([[0.0], [1.0]], [-1, 1])
    with pytest.raises(InputError, match="C_plus must be numeric and real, got complex128"):
        pc.sweep(svm, C_plus=[1 + 1j], C_minus=[1.0])
    for value in (1 + 1j, np.complex128(1 + 0j)):
        with pytest.raises(InputError, match="C_plus must be a number"):
            svm.solve(value, 1.0)
        with pytest.raises(InputError, match="reg must be"):
            pc.ParetoGaussian([[0.0], [1.0], [3.0], [5.0]], [-1, -1, 1, 1], reg=value)


def test_verifying_nothing_is_refused():
    with pytest.raises(InputError, match=r"solutions must hold at least one .*, got none"):
        pc.verify([[0.0], [1.0]], [-1, 1], [])


class Stretched(OwnHinge):
    """With a parameter that stands in a matrix, and one that reaches it by way of another."""

    domain: ClassVar = {"C": POSITIVE, "stretch": POSITIVE, "more": POSITIVE}

    @cached_property
    def primal(self):
        n, d = self.X.shape
        w, b, xi = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="xi", nonneg=True)
        p = self.parameters
        half = cp.CallbackParam(lambda: 0.5 * p["more"].value, nonneg=True)
        rows = (self.y[:, None] * self.X) @ w
        margin = (p["stretch"] * rows + half * rows + self.y * b >= 1 - xi).set_label("margin")
        return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + p["C"] * cp.sum(xi)), [margin])


@pytest.mark.filterwarnings("ignore:Reading from a sparse CVXPY expression")
@pytest.mark.parametrize("attribute", ["diag", "sparsity", "symmetric", "PSD", None])
def test_a_sweep_reads_variables_that_are_fewer_numbers_than_entries(attribute):
    """Before: IndexError of diagonal ones, and what stood first in place of the zeros of sparse ones."""
    said = {"sparsity": [(0, 1), (1, 0)], None: None}.get(attribute, True)
    D, lam = cp.Variable((2, 2), name="D", **({attribute: said} if attribute else {})), cp.Parameter(name="lam")
    target = np.array([[3.0, 1.0], [1.0, 2.0]])
    rows = [(cp.sum(D) >= 9).set_label("sum"), cp.SOC(cp.Constant(20), D[0]).set_label("cone")]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(D - target) + lam * cp.trace(D)), rows)
    for solution, value in zip(pc.sweep(problem, {lam: [0.0, 1.0]}, progress=False), (0.0, 1.0), strict=True):
        assert solution.certificate.passes()
        lam.value = value
        assert solution.value == pytest.approx(problem.solve("CLARABEL", tol_gap_rel=1e-12, tol_gap_abs=1e-12))
        theirs = D.value_sparse if attribute == "sparsity" else D.value
        theirs = theirs.toarray() if hasattr(theirs, "toarray") else theirs
        np.testing.assert_allclose(solution.numbers["D"], theirs, atol=1e-6)
        assert solution.numbers["sum"] == pytest.approx(float(rows[0].dual_value), abs=1e-6)


PATTERN = [(0, 1), (1, 0)]
LEAVES = {
    "nonneg": {"nonneg": True},
    "nonpos": {"nonpos": True},
    "neg": {"neg": True},
    "box": {"bounds": [0, 1]},
    "upper": {"bounds": [None, 1]},
    "arrays": {"bounds": [np.array([[-np.inf, -1], [0, 0]]), np.array([[1, 2], [0.5, np.inf]])]},
    "moving": {"bounds": [-1, cp.Parameter(name="k")]},
    "NSD": {"NSD": True},
    "symmetric box": {"symmetric": True, "bounds": [0, 1]},
    "diag and nonpos": {"diag": True, "nonpos": True},
    "sparse box": {"sparsity": PATTERN, "bounds": [0, 1]},
    "complex": {"complex": True},
    "imag": {"imag": True},
    "hermitian": {"hermitian": True},
}


@pytest.mark.filterwarnings("ignore:Reading from a sparse CVXPY expression")
@pytest.mark.parametrize("kind", LEAVES)
def test_a_sweep_reads_variables_within_their_bounds(kind):
    """Before: CVXPY's way back, of which positions were read, moved these into the bounds; nor were there complex."""
    given = LEAVES[kind]
    Z = cp.Variable((2, 2), name="Z", **given)
    k = next((b for b in given.get("bounds", []) if isinstance(b, cp.Parameter)), cp.Parameter(name="k"))
    target = np.array([[0.6, 0.3], [0.3, 2.0]]) if not Z.is_complex() else np.array([[1 + 2j, 3 - 1j], [0.5j, 2 - 1j]])
    total = cp.sum(cp.real(Z)) if Z.is_complex() else cp.sum(Z)
    problem = cp.Problem(
        cp.Minimize(cp.sum_squares(cp.abs(Z - target) if Z.is_complex() else Z - target)), [total <= k]
    )
    found = pc.sweep(problem, {k: [2.0, 1.0, 1.5, 0.8]}, progress=False)
    assert len(found) == 4
    for solution, value in zip(found, (2.0, 1.0, 1.5, 0.8), strict=True):
        assert solution.certificate.passes()
        k.value = value
        problem.solve("CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        theirs = Z.value_sparse if Z.attributes["sparsity"] else Z.value
        theirs = theirs.toarray() if hasattr(theirs, "toarray") else theirs
        assert solution.value == pytest.approx(problem.value, abs=1e-8)
        np.testing.assert_allclose(solution.variables["Z"], theirs, atol=1e-4)


def test_a_sweep_says_which_parameters_stand_in_a_matrix(gaussians, svm):
    found = sweep(Stretched(*gaussians(20, 2, seed=1)), C=[0.5, 1.0], stretch=1.0, more=[1.0, 2.0])
    assert found.recompiled == found[:1].recompiled == ("stretch", "more")
    assert "; set up at every value: stretch, more in a matrix)" in repr(found)
    inside = sweep(svm, C_plus=[1.0, 2.0], C_minus=1.0)
    assert inside.recompiled == ()
    assert "set up" not in repr(inside)


def test_every_combination(svm):
    with pytest.raises(pc.InputError, match="C_plus has 2, C_minus has 3; product=True is every combination"):
        sweep(svm, C_plus=[1.0, 2.0], C_minus=[1.0, 2.0, 3.0])
    every = sweep(svm, product=True, C_plus=[1.0, 2.0], C_minus=[1.0, 2.0, 3.0])
    assert every.costs.tolist() == [[1, 1], [1, 2], [1, 3], [2, 1], [2, 2], [2, 3]]
    one = sweep(svm, product=True, C_plus=[1.0, 2.0], C_minus=3.0)
    assert one.costs.tolist() == [[1, 3], [2, 3]]


class TestValuesWithoutASolution:
    """Returns of a list of targets, some of them out of reach: the others are kept."""

    X, TARGET = cp.Variable(2, name="x"), cp.Parameter(name="target")
    ROWS = ((cp.norm2(X) <= 1).set_label("ball"), X[0] == TARGET)

    def test_what_was_solved_is_kept(self):
        problem = cp.Problem(cp.Minimize(cp.sum_squares(self.X - 1)), [*self.ROWS])
        found = sweep(problem, {self.TARGET: [0.5, 2.0, 0.25, -3.0]}, progress=False)
        np.testing.assert_allclose(
            found.values, [0.25 + (1 - np.sqrt(0.75)) ** 2, 0.75**2 + (1 - np.sqrt(0.9375)) ** 2]
        )
        assert found.parameters["target"].tolist() == [0.5, 0.25]
        assert [(each.number, each.values, each.status) for each in found.missing] == [
            (1, {"target": 2.0}, "infeasible"),
            (3, {"target": -3.0}, "infeasible"),
        ]
        assert "ball" in found.missing[0].words
        assert "infeasible at {'target': 2.0}" in repr(found)

    def test_what_has_no_bound_is_said_to_have_none(self):
        slope = cp.Parameter(nonneg=True, name="slope")
        problem = cp.Problem(cp.Minimize(1 + cp.norm2(self.X) - slope * self.X[0]))
        found = sweep(problem, {slope: [0.5, 2.0]}, progress=False)
        assert (len(found), [each.status for each in found.missing]) == (1, ["unbounded"])

    @staticmethod
    def stop_at(monkeypatch, target):
        """Let the solver miss its tolerance at one value."""
        honest = Compiled.solve

        def fails(self, values):
            if values["target"] == target:
                raise SolveError("the solver has stopped")
            return honest(self, values)

        monkeypatch.setattr(Compiled, "solve", fails)

    def test_where_the_solver_misses_its_tolerance_the_next_one_is_tried(self, monkeypatch):
        self.stop_at(monkeypatch, 0.25)
        problem = cp.Problem(cp.Minimize(cp.sum_squares(self.X - 1)), [*self.ROWS])
        found = sweep(problem, {self.TARGET: [0.5, 0.25]}, progress=False)
        assert not found.missing
        assert found[1].status == "optimal, at 1e-10"
        assert found[1].certificate.passes(1e-6)
        assert found.values[1] == pytest.approx(0.75**2 + (1 - np.sqrt(0.9375)) ** 2)

    def test_a_claim_that_is_not_proved_stays_one(self, monkeypatch):
        """A solver that fails at a value that has a solution: what it says is no proof."""
        self.stop_at(monkeypatch, 0.25)

        def fails_too(*_):
            raise SolveError("so has the second try")

        monkeypatch.setattr(swept, "less_accurate", fails_too)
        problem = cp.Problem(cp.Minimize(cp.sum_squares(self.X - 1)), [*self.ROWS])
        found = sweep(problem, {self.TARGET: [0.5, 0.25]}, progress=False)
        assert [(each.status, each.words) for each in found.missing] == [("undecided", "the solver has stopped")]

    def test_where_there_is_no_solution_at_all_it_is_an_error(self):
        problem = cp.Problem(cp.Minimize(cp.sum_squares(self.X)), [*self.ROWS])
        with pytest.raises(SolveError, match="PrimalInfeasible"):
            sweep(problem, {self.TARGET: [2.0, 3.0]}, progress=False)

    def test_a_formulation_that_always_has_a_solution_is_never_shortened(self, svm, monkeypatch):
        """Whoever compares it with a path goes by the places of its values."""
        monkeypatch.setattr(Compiled, "solve", lambda self, values: (_ for _ in ()).throw(SolveError("stopped")))
        monkeypatch.setattr(swept, "less_accurate", lambda *_: (_ for _ in ()).throw(SolveError("so has the second")))
        with pytest.raises(SolveError, match="stopped"):
            sweep(svm, C_plus=[1.0, 2.0], C_minus=1.0, progress=False)
