"""A formulation that a user writes: from parameters, primal and dual to certificates, sweeps, tables and refusals."""

from __future__ import annotations

import ast
from functools import cached_property
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.formulations.registry import formulation, formulations
from paretoclf.solve.models.model import Model
from paretoclf.solve.models.statement import printed


class SquaredHinge(pc.SampleFormulation):
    """A squared hinge, written as a user would."""

    domain = {"C": pc.POSITIVE}  # noqa: RUF012  # what a user writes
    mistake = 1.0

    @cached_property
    def primal(self):
        w, b = cp.Variable(self.X.shape[1], name="w"), cp.Variable(name="b")
        xi = cp.Variable(self.n, name="xi")
        margin = (self.signed @ w + self.y * b >= 1 - xi).set_label("margin")
        return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + self.parameters["C"] * cp.sum_squares(xi)), [margin])

    @cached_property
    def dual(self):
        C, alpha = self.parameters["C"], cp.Variable(self.n, name="alpha")
        bend = cp.CallbackParam(callback=lambda: self.mistake / (4 * C.value), nonneg=True)
        objective = cp.sum_squares(self.signed.T @ alpha) / 2 + bend * cp.sum_squares(alpha) - cp.sum(alpha)
        return cp.Problem(
            cp.Minimize(objective), [(alpha >= 0).set_label("sign"), (self.y @ alpha == 0).set_label("balance")]
        )


def made(objective, *constraints, names=("C",)):
    """A formulation with this objective and these constraints, functions of w and the parameters."""

    class Made(pc.SampleFormulation):
        domain = dict.fromkeys(names, pc.POSITIVE)
        variable = "w"

        @cached_property
        def primal(self):
            w = cp.Variable(2, name=self.variable)
            return cp.Problem(cp.Minimize(objective(w, self.parameters)), [c(w, self.parameters) for c in constraints])

    return Made([[1.0, 0.0], [0.0, 1.0]], [1, -1])


def square(w, p):
    return cp.sum_squares(w)


WRONG = {
    "infeasible": (
        made(square, lambda w, p: w >= p["C"], lambda w, p: w <= -p["C"]),
        r"no point satisfies its constraints",
    ),
    "unbounded": (made(lambda w, p: p["C"] * cp.sum(w)), r"its objective has no lower bound"),
    "not DPP": (
        made(lambda w, p: square(w, p) + p["C"] * p["D"] * cp.sum(w), lambda w, p: w >= 0, names=("C", "D")),
        r"^a model must be DPP in its parameters, which it is not in: objective\. A parameter may multiply",
    ),
    "not convex": (
        made(lambda w, p: -square(w, p), lambda w, p: w <= p["C"]),
        r"^a model must be convex by CVXPY's rules \(DCP\), which it is not in: objective\. "
        r"What is minimised must be convex, got concave: ",
    ),
    "a stray parameter": (
        made(square, lambda w, p: w >= p["C"] + cp.Parameter(name="q")),
        r"^parameter q of the \w+ must have a value",
    ),
}


@pytest.mark.parametrize("how", WRONG)
def test_what_is_wrong_with_a_formulation_is_said(how):
    """Before: "although the problem has a solution", KeyError 122, and errors of CVXPY's."""
    mine, message = WRONG[how]
    values = dict.fromkeys(mine.domain, 1.0)
    with pytest.raises((pc.InputError, pc.errors.SolveError), match=message) as caught:
        mine.solve(**values)
    with pytest.raises(type(caught.value), match=message):
        pc.sweep(mine, progress=False, **values)


def test_a_primal_without_w_says_what_to_name():
    mine = made(square, lambda w, p: w >= p["C"])
    mine.variable = "beta"
    solution = mine.solve(C=1.0)
    assert solution.certificate.passes()
    with pytest.raises(pc.InputError, match=r"^Made must name a variable of its primal w .* its variables are beta$"):
        solution.classifier.predict([[0.0]])


def test_a_statement_abbreviates_long_indices():
    X, y = np.linspace(-1, 1, 569)[:, None], np.where(np.arange(569) % 3 == 0, 1, -1)

    class Chosen(pc.SampleFormulation):
        domain = {"C": pc.POSITIVE}  # noqa: RUF012  # what a user writes

        @cached_property
        def primal(self):
            w, xi = cp.Variable(1, name="w"), cp.Variable(self.n, name="xi")
            loss = self.parameters["C"] * cp.sum(xi[self.y > 0]) + cp.sum(np.ones(self.n) @ xi)
            return cp.Problem(cp.Minimize(cp.sum_squares(w) + loss), [xi >= 1 - self.signed @ w, xi >= 0])

    said = Chosen(X, y).statement()
    assert "(569 entries)" in said
    assert len(said) < 1500


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (lambda w, t: cp.sum_squares(w) / 2, "||w||^2 / 2.0"),
        (lambda w, t: cp.sum_squares(w[:3] + w[2:]) + cp.sum_squares(w), "||w[0:3] + w[2:5]||^2 + ||w||^2"),
        (lambda w, t: cp.quad_over_lin(w, t), "(||w||^2 / t)"),
        (lambda w, t: cp.quad_over_lin(w, t + 1), "(||w||^2 / (t + 1.0))"),
        (lambda w, t: cp.sum_squares(cp.sum_squares(w)), "||||w||^2||^2"),
        (lambda w, t: cp.sum(cp.sum_squares(cp.reshape(w[:4], (2, 2), "F"), axis=0)), "quad_over_lin("),
    ],
)
def test_squares_are_written_as_such(expression, words):
    w, t = cp.Variable(5, name="w"), cp.Variable(name="t")
    assert words in printed(cp.Problem(cp.Minimize(expression(w, t))))


def test_a_prototype_states_its_squares(hinge):
    assert "||w||^2 / 2.0" in hinge.statement()
    assert "quad_over_lin" not in hinge.statement()


class Distance(pc.Formulation):
    """Distance from the origin to a hyperplane at distance h: a cone, and its dual."""

    domain = {"h": pc.NONNEGATIVE}  # noqa: RUF012  # what a user writes

    @cached_property
    def primal(self):
        w, t = cp.Variable(2, name="w"), cp.Variable(name="t")
        plane = (np.array([0.6, 0.8]) @ w >= self.parameters["h"]).set_label("plane")
        return cp.Problem(cp.Minimize(t), [cp.SOC(t, w).set_label("cone"), plane])

    @cached_property
    def dual(self):
        v = cp.Variable(name="v", nonneg=True)
        return cp.Problem(cp.Minimize(-self.parameters["h"] * v), [(v <= 1).set_label("norm")])


class Bound(pc.Formulation):
    """Largest eigenvalue, as a semidefinite program without a dual."""

    domain = {"s": pc.Range(-1, 1)}  # noqa: RUF012  # what a user writes

    @cached_property
    def primal(self):
        t = cp.Variable(name="t")
        matrix = np.diag([1.0, 2.0]) + self.parameters["s"] * np.array([[0, 1.0], [1.0, 0]])
        return cp.Problem(cp.Minimize(t), [(t * np.eye(2) - matrix >> 0).set_label("psd")])

    def classifier(self, values, numbers):
        return pc.results.LinearRule([1.0, 0.0], float(numbers["t"]))


@pytest.fixture
def hinge(gaussians):
    return SquaredHinge(*gaussians(40, 3, seed=1))


def test_primal_and_dual_alone_give_certified_solutions(hinge):
    solution = hinge.solve(C=2.0)
    assert solution.certificate.passes(), solution.certificate.explain()
    assert solution.value == pytest.approx(solution.dual_value, rel=1e-9)
    assert set(solution.certificate.conditions) == {
        *("margin", "margin: sign", "margin: slackness", "dual program: sign", "dual program: balance")
    }
    # Half the soft biobjective margin problem at twice the cost: |w|^2 + 2 C xi^2, divided by 2.
    reference = pc.BiobjectiveMargin(hinge.X, hinge.y).solve(theta=1.0, C_plus=4.0, C_minus=4.0)
    assert 2 * solution.value == pytest.approx(reference.value, rel=1e-8)
    np.testing.assert_allclose(solution.classifier.w, reference.classifier.w, atol=1e-6)
    np.testing.assert_allclose(solution.numbers["margin"], solution.alpha, atol=1e-6)


@pytest.mark.parametrize(("mistake", "words"), [(2.0, "duality gap exceeds"), (0.5, "weak duality forbids")])
def test_a_mistake_in_the_dual_is_found_by_its_gap(hinge, mistake, words):
    hinge.mistake = mistake
    certificate = hinge.solve(C=1.0).certificate
    assert not certificate.passes(1e-4)
    assert words in certificate.explain()
    assert certificate.residual < 1e-8  # each program is solved: the gap alone tells
    assert np.sign(certificate.gap) == np.sign(mistake - 1)


def test_positional_parameters_options_and_forms(hinge):
    assert hinge.solve(2.0).value == hinge.solve(C=2.0).value
    assert hinge.solve(2.0, form="dual").value == pytest.approx(hinge.solve(2.0).value, rel=1e-9)
    assert hinge.solve(2.0, solver="CLARABEL", max_iter=100).certificate.passes()
    with pytest.raises(InputError, match="C must be given once"):
        hinge.solve(2.0, C=1.0)
    with pytest.raises(InputError, match="1 parameters"):
        hinge.solve(2.0, 1.0)
    with pytest.raises(InputError, match="form must be"):
        hinge.solve(2.0, form="both")
    with pytest.raises(InputError, match="C must be a finite positive number, got 0"):
        hinge.solve(0)
    stopped = hinge.solve(2.0, solver="CLARABEL", max_iter=3)
    assert not stopped.certificate.passes()  # whatever the solver called it


def test_a_sweep_of_a_user_s_formulation(hinge):
    C = [0.1, 1.0, 10.0]
    result = pc.sweep(hinge, C=C)
    assert [s.values["C"] for s in result] == C
    np.testing.assert_array_equal(result.parameters["C"], C)
    assert result.worst < 1e-8
    assert np.all(np.diff(result.values) > 0)
    for solution in result:
        assert solution.value == pytest.approx(hinge.solve(C=solution.values["C"]).value, rel=1e-8)


def test_the_duality_table_is_the_constraints(hinge):
    solution = hinge.solve(C=2.0)
    table = solution.duality_table()
    assert len(table) == hinge.n
    row = table[0]
    w, b = solution.classifier.w, solution.classifier.b
    slack = hinge.y[row.index] * (hinge.X[row.index] @ w + b) - 1 + solution.xi[row.index]
    assert row.constraint == "margin"
    assert row.slack == pytest.approx(slack, abs=1e-12)
    assert row.product == pytest.approx(row.slack * row.multiplier)
    assert table.total == pytest.approx(sum(r.product for r in table))
    assert "more" in repr(table)
    assert repr(table[:3]).count("\n") == 4
    assert table._repr_html_().count("<tr>") == 22  # a head, twenty rows, and how many there are more


def test_a_table_puts_the_violated_constraint_first():
    X, y = np.array([[2.0], [1.0], [0.0], [-1.0], [-3.0]]), np.array([1, 1, -1, -1, -1])
    svm = pc.TwoCSVM(X, y)
    good = svm.solve(0.75, 0.5)
    assert good.duality_table()[0].violation < 1e-12
    from paretoclf.problem.classifiers import Classifier
    from paretoclf.proof.points.judged_classifiers import make_solution

    alpha = good.alpha.copy()
    alpha[4] = 0.3  # far beyond its margin, yet with a multiplier
    classifier = Classifier(svm.gram, svm.y, svm.caps(0.75, 0.5), alpha, 0.0)
    wrong = make_solution(classifier, pc.Costs(0.75, 0.5), source="nobody")
    assert (wrong.duality_table()[0].constraint, wrong.duality_table()[0].index) == ("margin", 4)


def test_cones_are_judged_too():
    solution = Distance().solve(h=2.0)
    assert solution.value == pytest.approx(2.0)
    assert solution.certificate.passes(), solution.certificate.explain()
    np.testing.assert_allclose(solution.classifier.w, [1.2, 1.6], atol=1e-6)
    table = {row.constraint: row for row in solution.duality_table()}
    assert table["cone"].product == pytest.approx(0, abs=1e-8)
    assert table["plane"].multiplier == pytest.approx(1.0)


def test_without_a_dual_the_compiled_program_proves():
    problem = Bound()
    solution = problem.solve(s=0.5)
    assert solution.value == pytest.approx(np.linalg.eigvalsh([[1, 0.5], [0.5, 2]])[-1])
    assert solution.certificate.passes(1e-7), solution.certificate.explain(1e-7)
    assert solution.dual_value <= np.linalg.eigvalsh([[1, 0.5], [0.5, 2]])[-1] + 1e-12
    assert not problem.states_dual
    assert problem.solve(s=0.5, form="dual").value == pytest.approx(solution.value, abs=1e-7)  # the derived one
    with pytest.raises(InputError, match=r"s must be in \[-1, 1\], got 2"):
        problem.solve(s=2)
    assert [s.values["s"] for s in pc.sweep(problem, s=[0.0, 0.5])] == [0.0, 0.5]


def test_a_statement_without_a_page_shows_the_programs(hinge):
    text = hinge.statement()
    assert text.startswith("# SquaredHinge")
    assert "`C`: a finite positive number" in text
    assert "## Dual" in text
    assert "minimize" in text


def test_a_user_s_formulation_is_listed():
    assert formulations()["SquaredHinge"] is SquaredHinge
    assert formulation("squaredhinge") is SquaredHinge
    with pytest.raises(InputError, match="NAME must be one of the formulations TwoCSVM"):
        formulation("nothing")


@pytest.mark.parametrize(
    ("allowed", "inside", "outside", "words"),
    [
        (pc.POSITIVE, 1e-300, 0.0, "finite positive"),
        (pc.NONNEGATIVE, 0.0, -1e-300, "finite nonnegative"),
        (pc.Range(0, 1), 1.0, 1.0000001, "in [0, 1]"),
        (pc.Range(0, 1, closed=False), 0.5, 0.0, "strictly between 0 and 1"),
        (pc.Range(0, 1, open_low=True), 1.0, 0.0, "greater than 0 and at most 1"),
        (pc.Range(2), 2.0, np.inf, "at least 2"),
        (pc.Range(2, closed=False), 2.1, 2.0, "greater than 2"),
        (pc.Range(high=2), -1e300, 2.1, "at most 2"),
        (pc.Range(high=2, closed=False), -1e300, 2.0, "less than 2"),
        (pc.Range(), -5.0, np.nan, "finite"),
    ],
)
def test_ranges(allowed, inside, outside, words):
    assert inside in allowed
    assert outside not in allowed
    assert words in str(allowed)


def test_models_take_names_from_the_problem():
    x = cp.Variable(2, name="x")
    model = Model.of(cp.Problem(cp.Minimize(cp.sum(x)), [(x >= 1).set_label("low"), x <= 2]))
    assert list(model.variables) == ["x"]
    assert list(model.constraints) == ["low", "constraint 1"]
    with pytest.raises(InputError, match="must differ, got 'x' twice"):
        Model.of(cp.Problem(cp.Minimize(cp.sum(x)), [(x >= 1).set_label("x")]))
    with pytest.raises(InputError, match=r"must be a cvxpy\.Problem that minimises"):
        Model.of(cp.Problem(cp.Maximize(-cp.sum(x)), [x >= 1]))


def test_a_formulation_of_ones_own_against_ours(gaussians):
    """`compare`: a user's hinge against TwoCSVM, and one with a mistake."""

    class Mine(pc.SampleFormulation):
        """The 2C-SVM again."""

        domain = {"C_plus": pc.POSITIVE, "C_minus": pc.POSITIVE}  # noqa: RUF012  # what a user writes
        mistake = 1.0

        @cached_property
        def primal(self):
            w, b = cp.Variable(self.X.shape[1], name="w"), cp.Variable(name="b")
            xi, p = cp.Variable(self.n, name="xi", nonneg=True), self.parameters
            loss = p["C_plus"] * cp.sum(xi[self.y > 0]) + self.mistake * p["C_minus"] * cp.sum(xi[self.y < 0])
            margin = (self.signed @ w + self.y * b >= 1 - xi).set_label("margin")
            return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + loss), [margin])

    X, y = gaussians(30, 2, seed=3)
    grid = {"C_plus": [0.1, 1.0, 5.0], "C_minus": [0.3, 1.0, 0.5]}
    agreement = pc.compare(pc.sweep(Mine(X, y), **grid), pc.TwoCSVM(X, y))
    assert agreement.agrees(1e-7)
    assert agreement.n == 3
    assert "worst relative difference over 3 points" in repr(agreement)
    assert pc.compare(pc.sweep(Mine(X, y), **grid), pc.TwoCSVM(X, y), n=2).n == 2
    wrong = Mine(X, y)
    wrong.mistake = 1.1
    assert pc.compare(pc.sweep(wrong, **grid), pc.TwoCSVM(X, y)).worst > 1e-3
    with pytest.raises(InputError, match="svm must have the parameters of the sweep"):
        pc.compare(pc.sweep(Mine(X, y), **grid), pc.QuantileSVM(X, y))
    with pytest.raises(InputError, match="n must be"):
        pc.compare(pc.sweep(Mine(X, y), **grid), pc.TwoCSVM(X, y), n=0)


class SquaredSlacks(pc.SampleFormulation):
    """The class of the how-to, for any kernel; what it is written with may be changed."""

    domain = {"C": pc.POSITIVE}  # noqa: RUF012  # what a user writes

    @property
    def rows(self):
        return self.signed

    @cached_property
    def primal(self):
        w, b, xi = cp.Variable(self.rows.shape[1], name="w"), cp.Variable(name="b"), cp.Variable(self.n, name="xi")
        margin = (self.rows @ w + self.y * b >= 1 - xi).set_label("margin")
        return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + self.parameters["C"] * cp.sum_squares(xi)), [margin])


class OfSamples(SquaredSlacks):
    """It leaves the kernel aside."""

    @property
    def rows(self):
        return self.X * self.y[:, None]


class Rescaled(SquaredSlacks):
    """Its rows are neither samples nor features, but twice the ones or the others."""

    @property
    def rows(self):
        return 2.0 * self.signed


class FarAway(SquaredSlacks):
    """Its samples may be moved: features are measured from the middle of samples that lie far from 0."""

    free_origin = True


def ring(d=3):
    """Samples inside and outside of a sphere."""
    X = np.random.default_rng(0).normal(size=(60, d))
    return X, np.where((X**2).sum(axis=1) > 0.7 * d, 1.0, -1.0)


def dot_product(A, B):
    return A @ B.T


def quadratic(A, B):
    return (A @ B.T + 1.0) ** 2


@pytest.mark.parametrize("kind", [SquaredSlacks, FarAway, OfSamples])
@pytest.mark.parametrize(
    ("kernel", "low_rank"),
    [(pc.RBF(1.5), 3), (pc.RBF(1.5), 20), (quadratic, 3), (quadratic, 1e-9), (dot_product, 3), (None, None)],
)
def test_the_classifier_is_that_of_the_program_whatever_its_features_are(kind, kernel, low_rank):
    X, y = ring()
    far = 1e6 if kind is FarAway and kernel is None else 0.0
    solution = (mine := kind(X + far, y, kernel, low_rank=low_rank)).solve(C=10.0)
    rule, w, b = solution.classifier, solution.numbers["w"], float(solution.numbers["b"])
    program = mine.y * (mine.rows @ w) + b  # what the margins of the program say
    np.testing.assert_allclose(rule.decision_function(mine.X), program, atol=1e-6 * (1.0 + np.abs(program).max()))
    assert (np.sign(program) == y).mean() >= 0.5
    np.testing.assert_allclose(rule.w, w)
    if kind is not OfSamples and kernel is not None:  # new samples: kernel values, by hand
        new = np.random.default_rng(1).normal(size=(5, 3))
        pivots, values = mine.gram.pivots, mine.gram.kernel
        coef = np.linalg.solve(mine.gram.features[pivots].T, w)
        np.testing.assert_allclose(rule.decision_function(new), values(new, X[pivots]) @ coef + b, atol=1e-6)


def test_a_path_with_low_rank_counts_the_errors_of_its_program():
    class Hinges(SquaredSlacks):
        @cached_property
        def primal(self):
            w, b = cp.Variable(3, name="w"), cp.Variable(name="b")
            hinges = cp.sum(cp.pos(1 - self.signed @ w - self.y * b))
            return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + self.parameters["C"] * hinges))

    X, y = ring()
    mine = Hinges(X, y, pc.RBF(1.5), low_rank=3)
    path = pc.trace(mine, C=(1.0, 10.0))
    errors = path.error_curve(X, y)
    for t in (0.13, 0.5, 0.91):
        point = path.at(t).variables
        wrong = y * np.sign(mine.gram.features @ point["w"] + point["b"]) < 0
        assert errors.counts(t) == ((wrong & (y < 0)).sum(), (wrong & (y > 0)).sum())


def test_a_slope_whose_features_are_not_known_is_no_classifier():
    X, y = ring()
    for kernel in (pc.RBF(1.5), dot_product):  # w has as many entries as a factor of the kernel matrix has columns
        with pytest.raises(InputError, match=r"its w is of a factor of the kernel matrix\. Pass low_rank=1e-8"):
            SquaredSlacks(X, y, kernel).solve(C=1.0).classifier.predict(X)
        remedy = SquaredSlacks(X, y, kernel, low_rank=1e-8).solve(C=1.0)
        assert remedy.classifier.predict(X).shape == y.shape
    undecided = Rescaled(X, y, pc.RBF(1.5), low_rank=3)
    with pytest.raises(InputError, match=r"of the columns of X or of the features of its kernel, 3 both"):
        undecided.solve(C=1.0).classifier.predict(X)
    undecided.classifier = lambda values, n: pc.results.FeatureRule(undecided.gram, n["w"], n["b"] / 2.0)
    solution = undecided.solve(C=1.0)
    program = 2.0 * undecided.gram.features @ solution.numbers["w"] + solution.numbers["b"]
    np.testing.assert_allclose(2.0 * solution.classifier.decision_function(X), program, atol=1e-9)


def test_sparse_samples_have_features_too():
    X, y = ring()
    thin = sp.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    for kind in (SquaredSlacks, OfSamples):
        mine = kind(thin, y, pc.RBF(1.5), low_rank=3)
        solution = mine.solve(C=10.0)
        program = mine.y * (mine.rows @ solution.numbers["w"]) + solution.numbers["b"]
        np.testing.assert_allclose(solution.classifier.decision_function(thin), program, atol=1e-9)


def test_the_example_is_short():
    """Each of its formulations takes under 25 lines; the script itself is run by tests/test_readme.py."""
    source = (Path(__file__).resolve().parents[2] / "examples" / "prototype_a_formulation.py").read_text(
        encoding="utf-8"
    )
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    assert [c.name for c in classes] == ["SquaredHinge", "GroupMargin", "Mistaken"]
    for c in classes:
        assert c.end_lineno - c.lineno + 1 < 25, c.name
