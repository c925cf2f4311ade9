"""Which exact path a formulation has is what it declares, and nothing that it happens to have."""

from __future__ import annotations

import re
from functools import cached_property

import cvxpy as cp
import numpy as np
import pytest
from sklearn.svm import SVC

import paretoclf as pc
from paretoclf.problem.lines import LineOfCosts

X = np.array([[2.0], [1.0], [-0.5], [0.0], [-1.0], [-3.0]])
Y = np.array([1, 1, 1, -1, -1, -1])
LINE = (0.5, 1.5), (1.5, 0.5)


class SquaredSlacks(pc.SampleFormulation):
    """Squared slacks with the costs and the weights of the 2C-SVM: not its problem, although it has all of its data."""

    domain = {"C_plus": pc.NONNEGATIVE, "C_minus": pc.NONNEGATIVE}  # noqa: RUF012  # what a user writes

    def __init__(self, X, y, kernel=None, sample_weight=None):
        super().__init__(X, y, kernel)
        self.sample_weight = np.ones(self.n) if sample_weight is None else np.asarray(sample_weight)

    def slacks(self, xi):
        return xi**2

    @cached_property
    def primal(self):
        w, b, xi = cp.Variable(self.X.shape[1], name="w"), cp.Variable(name="b"), cp.Variable(self.n, name="xi")
        margin = (self.signed @ w + self.y * b >= 1 - xi).set_label("margin")
        slack = (xi >= 0).set_label("slack")
        loss = sum(
            self.parameters[name] * cp.sum(cp.multiply(self.sample_weight, self.slacks(xi))[side])
            for name, side in (("C_plus", self.y > 0), ("C_minus", self.y < 0))
        )
        return cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + loss), [margin, slack])


class Hinge(SquaredSlacks):
    """The 2C-SVM in the words of a user, who says so."""

    lines = LineOfCosts

    def slacks(self, xi):
        return xi


class ReallyQuadratic(pc.TwoCSVM):
    """A subclass with a primal of its own is another problem, whatever its parent is."""

    primal = SquaredSlacks.primal

    def slacks(self, xi):
        return xi**2


def ours():
    return pc.trace(pc.TwoCSVM(X, Y), *LINE)


@pytest.mark.parametrize("cls", [SquaredSlacks, ReallyQuadratic])
@pytest.mark.parametrize(
    "call",
    [
        lambda svm: pc.plane(svm, (0.1, 1), (0.1, 1)),
        lambda svm: pc.nu_grid(svm, [0.5, 1.0], [0.5, 1.0]),
        lambda svm: pc.cross_validated_errors(svm, *LINE, folds=2),
        lambda svm: pc.compare(ours(), svm),
    ],
    ids=["plane", "nu_grid", "cross_validated_errors", "compare"],
)
def test_a_formulation_that_declares_nothing_has_no_exact_path(cls, call):
    with pytest.raises(pc.InputError, match=rf"^no exact path for {cls.__name__}: use sweep$"):
        call(cls(X, Y))


def test_a_formulation_of_a_user_that_declares_the_problem_is_traced_and_compared():
    mine = Hinge(X, Y)
    path = pc.trace(mine, *LINE)
    assert pc.compare(path, mine, n=6).worst < 1e-6  # its own primal, solved by CVXPY
    np.testing.assert_array_equal(path.breakpoints, ours().breakpoints)


def test_what_is_declared_must_be_there_and_be_known():
    mine = Hinge(X, Y)
    del mine.sample_weight
    with pytest.raises(pc.InputError, match=r"^Hinge declares lines = LineOfCosts and must have sample_weight"):
        pc.trace(mine, *LINE)
    mine.lines = "costly"
    with pytest.raises(
        pc.InputError, match=r"^lines of Hinge must be one of LineOfCosts, LineOfTau, LineOfTheta, LineOfNu or"
    ):
        pc.trace(mine, *LINE)


def test_other_formulations_of_ours_have_their_own_paths_or_none():
    with pytest.raises(pc.InputError, match=r"^svm must be a TwoCSVM, or declare lines = LineOfCosts, got a Quant"):
        pc.plane(pc.QuantileSVM(X, Y), (0.1, 1), (0.1, 1))
    with pytest.raises(pc.InputError, match=r"^start must be left out: SurrogateRisk is traced with its parameters"):
        pc.trace(pc.SurrogateRisk(X, Y), *LINE)
    with pytest.raises(pc.InputError, match=r"^no exact path for MEMPM: use sweep$"):
        pc.trace(pc.MEMPM(X, Y), theta=(0.1, 0.9))


@pytest.mark.parametrize(
    ("given", "called"),
    [(X, "an array of shape (6, 1)"), (SVC(), "SVC"), (pc.TwoCSVM, "the class TwoCSVM: make one first, TwoCSVM(...)")],
    ids=["array", "SVC", "class"],
)
def test_what_is_no_formulation_is_named_with_what_to_do(given, called):
    for call in (lambda: pc.trace(given, *LINE), lambda: pc.compare(ours(), given), lambda: pc.sweep(given, C_plus=1)):
        with pytest.raises(pc.InputError, match=re.escape(called) + "$") as caught:
            call()
        assert str(caught.value).startswith(
            ("svm must be a formulation", "problem must be a formulation", "formulation must be a formulation")
        )


def test_a_curve_of_what_is_no_path_says_what_is_missing():
    with pytest.raises(pc.InputError, match=r"^no exact path for SquaredSlacks: use sweep$"):
        pc.roc_of_path(SquaredSlacks(X, Y), X, Y)
    with pytest.raises(pc.InputError, match=r"^path must be what .*got TwoCSVM[;:]"):
        pc.roc_of_path(pc.TwoCSVM(X, Y), X, Y)
    with pytest.raises(pc.InputError, match=r"^path must be what trace or sweep returns, got TwoCSVM$"):
        pc.compare(pc.TwoCSVM(X, Y), pc.TwoCSVM(X, Y))


MINE = [
    (lambda X, y: pc.TwoCSVM(X, y), {"start": (0, 0), "stop": (1, 1)}, "start and stop"),
    (lambda X, y: pc.TwoNuSVM(X, y), {"nu": (0, 1), "asymmetry": 0.5}, "nu and asymmetry, or with start and stop"),
    (lambda X, y: pc.TwoNuSVM(X, y), {}, "start and stop, or with nu and asymmetry"),
    (lambda X, y: pc.QuantileSVM(X, y), {"tau": (0, 1), "lam": 1.0}, "tau and lam"),
    (lambda X, y: pc.BiobjectiveMargin(X, y, soft=False), {"theta": (1, 2)}, "theta"),
]


@pytest.mark.parametrize(("make", "given", "how"), MINE)
def test_a_name_that_trace_does_not_know_is_bad_input(make, given, how):
    svm = make([[0.0], [1.0]], [-1, 1])
    for rest in (0.1, None):
        wanted = f"^rest must be left out for a {type(svm).__name__}, which is traced with {how}, got {rest}$"
        with pytest.raises(pc.InputError, match=wanted):
            pc.trace(svm, **given, rest=rest)
