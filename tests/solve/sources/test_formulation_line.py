"""Every public call on the smallest formulations that a user may write, with names of their own: it works, or one
clear error says what is missing. None has w, b, alpha or xi by these names, and none has a dual.
"""

from __future__ import annotations

import inspect
import pickle
from functools import cached_property

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.plotting import BoundaryDisplay, plot_sweep
from tests.oracles.public import everything


class Bare(pc.Formulation):
    """No samples, and no classifier."""

    domain = {"r": pc.POSITIVE}  # noqa: RUF012  # what a user writes

    @cached_property
    def primal(self):
        v = cp.Variable(2, name="v")
        objective = cp.sum_squares(v) + self.parameters["r"] * cp.sum(v)
        return cp.Problem(cp.Minimize(objective), [(cp.sum(v) >= 1).set_label("mass")])


class Nameless(pc.SampleFormulation):
    """Samples, but nothing is called w."""

    domain = {"r": pc.POSITIVE}  # noqa: RUF012  # what a user writes

    @cached_property
    def primal(self):
        v, c = cp.Variable(self.X.shape[1], name="v"), cp.Variable(name="c")
        s = cp.Variable(self.n, name="s", nonneg=True)
        objective = cp.sum_squares(v) + self.parameters["r"] * cp.sum(s)
        return cp.Problem(cp.Minimize(objective), [cp.multiply(self.y, self.X @ v + c) >= 1 - s])


class Own(Nameless):
    """The same, and it says what its classifier is."""

    def classifier(self, values, numbers):
        return pc.results.LinearRule(numbers["v"], numbers["c"])


class Columns(pc.SampleFormulation):
    """A slope that is a column, and an intercept of one entry."""

    domain = {"r": pc.POSITIVE}  # noqa: RUF012  # what a user writes

    @cached_property
    def primal(self):
        w, b = cp.Variable((self.X.shape[1], 1), name="w"), cp.Variable(1, name="b")
        s = cp.Variable(self.n, name="s", nonneg=True)
        objective = cp.sum_squares(w) + self.parameters["r"] * cp.sum(s)
        return cp.Problem(cp.Minimize(objective), [cp.multiply(self.y, self.X @ w[:, 0] + b) >= 1 - s])


RNG = np.random.default_rng(0)
y = np.repeat([-1.0, 1.0], 10)
X = RNG.normal(size=(20, 2)) + y[:, None]
MADE = {"Bare": Bare(), "Nameless": Nameless(X, y), "Own": Own(X, y), "Columns": Columns(X, y)}
WITH_RULE = ("Own", "Columns")

#: Calls of (formulation, solution, sweep) that must work for all of them.
WORK = {
    "statement": lambda f, s, w: f.statement(),
    "describe": lambda f, s, w: type(f).describe(),
    "in a notebook": lambda f, s, w: f._repr_markdown_(),
    "repr": lambda f, s, w: (repr(f), repr(s), repr(w)),
    "pickle": lambda f, s, w: [pickle.loads(pickle.dumps(each)) for each in (f, s, w)],
    "value": lambda f, s, w: s.dual_value <= s.value + 1e-9,
    "certificate": lambda f, s, w: s.certificate.passes() and s.certificate.explain(),
    "numbers": lambda f, s, w: dict(s.numbers),
    "duality table": lambda f, s, w: repr(s.duality_table()),
    "approximation": lambda f, s, w: (s.approximation, s.costs),
    "sweep": lambda f, s, w: (w.parameters, w.values, w.dual_values, w.certificates, w.worst, w.b, w[:2], list(w)),
    "plot": lambda f, s, w: (w.plot(), plot_sweep(w, "r")),
    "compare": lambda f, s, w: pc.compare(w, f).agrees(),
    "verify": lambda f, s, w: pc.verify(f, s).passes() and pc.verify(f, [s]).passes() and pc.verify(f, w).passes(),
    # A judged point is not assigned to the model: it holds what it was solved for last.
    "certify_problem": lambda f, s, w: f.solve(r=1.0) and pc.verify(f.primal).status == "optimal",
    "trace": lambda f, s, w: pc.trace(f, r=(1.0, 3.0)).value(r=2.0) == pytest.approx(w.values[1], rel=1e-9),
    "grade": lambda f, s, w: (
        f.solve(r=1.0) and pc.grade(f.primal, {each.name(): each.value for each in f.primal.variables()}).values
    ),
}

#: Calls that need a classifier.
SCORES = {
    "slope": lambda f, s, w: s.classifier.w,
    "scores": lambda f, s, w: s.classifier.decision_function(X),
    "labels": lambda f, s, w: s.classifier.predict(X),
    "scores of a sweep": lambda f, s, w: w.scores(X),
    "error curve": lambda f, s, w: w.error_curve(X, y).plot(),
    "roc_of_path, intercept": lambda f, s, w: pc.roc_of_path(w, X, y, t=1),
    "roc_of_path, asymmetry": lambda f, s, w: pc.roc_of_path(w, X, y, "asymmetry"),
    "roc_of_path, both": lambda f, s, w: pc.roc_of_path(w, X, y, "both"),
    "cross_validated_sweep": lambda f, s, w: pc.cross_validated_sweep(
        lambda X, y: f if isinstance(f, Bare) else type(f)(X, y), X, y, 2, r=[1.0, 2.0]
    ),
}

#: Calls that no such formulation can have, and what is said.
REFUSED = {
    "alpha": ("this solution has no alpha, only", lambda f, s, w: s.alpha),
    "xi": ("this solution has no xi, only", lambda f, s, w: s.xi),
    "alpha of a sweep": ("this solution has no alpha, only", lambda f, s, w: w.alpha),
    "costs of a sweep": ("this sweep has no costs, only the parameters r", lambda f, s, w: w.costs),
    "no parameter": ("r must be given", lambda f, s, w: f.solve()),
    "another parameter": ("q must be one of the parameters r", lambda f, s, w: pc.sweep(f, r=1.0, q=1.0)),
    "another axis": ("parameter must be one of r, got 'w'", lambda f, s, w: plot_sweep(w, "w")),
    "boundary": ("solution must be one of a 2C-SVM", lambda f, s, w: BoundaryDisplay.from_solution(s)),
    "verify as a 2C-SVM": ("r must be one of the parameters C_plus", lambda f, s, w: pc.verify(X, y, s)),
    "verify by multipliers": ("must be given", lambda f, s, w: pc.verify(f, [(1.0, np.zeros(20), 0.0)])),
    "verify no solution": ("solutions must be", lambda f, s, w: pc.verify(X, y, f)),
    "verify_solver": ("solver must be a callable", lambda f, s, w: pc.verify_solver(f)),
    "trace as a 2C-SVM": ("start must be left out: ", lambda f, s, w: pc.trace(f, (0.1, 1.9), (1.9, 0.1))),
    "compare as a path": ("svm must have the parameters", lambda f, s, w: pc.compare(w, pc.TwoCSVM(X, y))),
    "plane": ("no exact path for", lambda f, s, w: pc.plane(f, (0.1, 1.0), (0.1, 1.0))),
    "leave_one_out": ("no exact path for", lambda f, s, w: pc.leave_one_out(f, (1.0, 1.0))),
    "conformal_ranks": ("no exact path for", lambda f, s, w: pc.deletion.conformal_ranks(f, (1.0, 1.0), X[:1])),
    "target_p_values": ("path must be one of a problem", lambda f, s, w: pc.deletion.target_p_values(f, None)),
    "influence": ("no exact path for", lambda f, s, w: pc.deletion.influence(f, (1.0, 1.0))),
    "nu_grid": ("no exact path for", lambda f, s, w: pc.nu_grid(f, [0.1], [0.1])),
    "cross_validated_errors": ("use sweep", lambda f, s, w: pc.cross_validated_errors(f, (0.1, 1), (1, 0.1))),
    "cross_validated_surface": ("use sweep", lambda f, s, w: pc.cross_validated_surface(f, (0.1, 1), (1, 0.1))),
    "cross_validated_roc": ("use sweep", lambda f, s, w: pc.cross_validated_roc(f, (0.1, 1), (1, 0.1))),
    "roc_of_path": ("no exact path for", lambda f, s, w: pc.roc_of_path(f, X, y)),
    "ranges": (r"problem must be a cvxpy\.Problem", lambda f, s, w: pc.ranges(f)),
    "conflict": (r"problem must be a cvxpy\.Problem", lambda f, s, w: pc.conflict(f)),
    "unique": (r"problem must be a cvxpy\.Problem", lambda f, s, w: pc.unique(f)),
    "derivatives": (r"problem must be a cvxpy\.Problem", lambda f, s, w: pc.derivatives(f, {"r": 1.0})),
    "pc.dual": (r"problem must be a cvxpy\.Problem", lambda f, s, w: pc.dual(f)),
    "lagrangian": (r"problem must be a cvxpy\.Problem", lambda f, s, w: pc.lagrangian(f, ["rows"])),
}


@pytest.fixture(scope="module")
def solved():
    return {name: (f, f.solve(r=1.0), pc.sweep(f, r=[1.0, 2.0, 3.0], progress=False)) for name, f in MADE.items()}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("call", WORK)
def test_what_needs_no_classifier_works(solved, name, call):
    assert WORK[call](*solved[name]) is not False


@pytest.mark.parametrize("name", MADE)
def test_a_dual_that_nobody_wrote_is_derived(solved, name):
    formulation = solved[name][0]
    assert not formulation.states_dual
    by_dual, by_primal = (formulation.solve(r=1.0, form=form) for form in ("dual", "primal"))
    assert by_dual.value == pytest.approx(by_primal.value, rel=1e-8)
    assert by_dual.certificate.passes(1e-7), by_dual.certificate.explain(1e-7)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("call", SCORES)
def test_what_needs_a_classifier_works_or_says_how_to_name_it(solved, name, call):
    if name in WITH_RULE:
        SCORES[call](*solved[name])
        return
    with pytest.raises(pc.InputError, match=rf"^{name} must name a variable of its primal w .* its variables are v"):
        SCORES[call](*solved[name])


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("call", REFUSED)
def test_what_cannot_be_is_said(solved, name, call):
    message, refused = REFUSED[call]
    with pytest.raises(pc.InputError, match=message):
        refused(*solved[name])


def test_a_column_is_the_slope_that_it_is(solved):
    """Before: only 0-dimensional arrays can be converted to Python scalars."""
    _, one, _ = solved["Own"]
    _, other, _ = solved["Columns"]
    np.testing.assert_allclose(one.classifier.w, other.classifier.w, atol=1e-7)
    assert other.classifier.decision_function(X).shape == (20,)
    assert other.classifier.b == pytest.approx(one.classifier.b, abs=1e-7)


def test_a_slope_of_several_columns_is_none():
    class Wide(Columns):
        """Two slopes."""

        @cached_property
        def primal(self):
            w = cp.Variable((self.X.shape[1], 2), name="w")
            return cp.Problem(cp.Minimize(cp.sum_squares(w) + self.parameters["r"] * cp.sum(w)))

    solution = Wide(X, y).solve(r=1.0)
    with pytest.raises(pc.InputError, match=r"must override classifier\(values, numbers\): its w has shape \(2, 2\)"):
        solution.classifier.predict(X)


def test_every_public_function_that_takes_a_formulation_is_walked():
    """A new function whose first argument is a formulation, a path, a solver or a problem belongs into the tables."""
    first = ("svm", "formulation", "path", "solver", "problem", "make")
    walked = " ".join(inspect.getsource(call) for call in WORK.values())
    walked += " ".join(inspect.getsource(call) for _, call in REFUSED.values())
    walked += " ".join(inspect.getsource(call) for call in SCORES.values()) + inspect.getsource(solved)
    for name, called in everything().items():
        if name == "roc.symmetric_t":  # of any object with costs
            continue
        if inspect.isfunction(called) and next(iter(inspect.signature(called).parameters), "") in first:
            assert f"pc.{name}(" in walked, name


def written(primal=None, domain=None, **methods):
    """A formulation as a user may get it wrong."""
    default = lambda self: cp.Problem(  # noqa: E731  # a method in one line
        cp.Minimize(cp.sum_squares(cp.Variable(2, name="w")) + self.parameters["r"])
    )
    made = {"domain": {"r": pc.POSITIVE} if domain is None else domain, "primal": property(primal or default)}
    return type("Written", (pc.Formulation,), {**made, **methods})()


@pytest.mark.parametrize(
    ("mine", "message"),
    [
        (lambda: written(lambda self: cp.Problem(cp.Minimize(self.parameters["C"]))), "^C must be one of r$"),
        (lambda: written(classifier=lambda self, values, numbers: numbers["beta"]), "^beta must be one of w"),
        (lambda: written(domain=["r"]), r"domain must map names of parameters to their Range, .* got \['r'\]"),
        (lambda: written(domain={"r": None}), "domain must map names of parameters to their Range"),
        (lambda: written(lambda self: 3), r"must be a cvxpy\.Problem that minimises, got 3"),
    ],
)
def test_a_name_that_is_none_is_said(mine, message):
    """Before: KeyError 'C', KeyError 'beta', and TypeErrors of ours."""
    with pytest.raises(pc.InputError, match=message):
        mine().solve(r=1.0)
    with pytest.raises(pc.InputError, match=message):
        pc.sweep(mine(), r=1.0)
