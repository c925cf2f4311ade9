"""Samples left out of the path of a formulation of one's own, against solving each problem without them."""

from functools import cached_property
from types import MappingProxyType

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc


class Sparse(pc.SampleFormulation):
    """Hinges, an l1 norm, and a little of a square, so that the optimum is unique."""

    domain = MappingProxyType({"lam": pc.POSITIVE, "mu": pc.POSITIVE})

    @cached_property
    def primal(self):
        w, b = cp.Variable(self.X.shape[1], name="w"), cp.Variable(name="b")
        hinge = cp.sum(cp.pos(1 - cp.multiply(self.y, self.X @ w + b)))
        square = self.parameters["mu"] * (cp.sum_squares(w) + cp.square(b))
        return cp.Problem(cp.Minimize(hinge + self.parameters["lam"] * cp.norm1(w) + square))


class Weighted(Sparse):
    """Each sample has a weight: more than samples and labels."""

    def __init__(self, X, y, weight):
        super().__init__(X, y)
        self.weight = np.asarray(weight)

    def without(self, samples):
        rest = np.setdiff1d(np.arange(self.n), samples)
        return Weighted(self.X[rest], self.y[rest], self.weight[rest])


class Forgetful(Sparse):
    """It is given more than samples and labels, and does not say what belongs to whom."""

    def __init__(self, X, y, name):
        super().__init__(X, y)
        self.name = name


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    y = np.repeat([1.0, -1.0], [4, 5])
    return rng.normal(size=(9, 2)) + 0.8 * y[:, None], y


def test_each_score_is_that_of_the_problem_without_the_sample(data):
    X, y = data
    path = pc.trace(Sparse(X, y), lam=(4.0, 0.2), mu=0.1)
    out = path.leave_one_out()
    assert out.passes()
    assert len(out.scores) == 9
    first = out.stretches[0]
    assert (first.start, first.stop, first.segments) == (0.0, 1.0, len(first.path.labels))
    for t in (0.2, 0.9):
        lam = float(path.parameters(t)["lam"])
        expected = [
            Sparse(np.delete(X, i, 0), np.delete(y, i)).solve(lam=lam, mu=0.1).classifier.decision_function(X[[i]])[0]
            for i in range(9)
        ]
        assert np.abs(out(t) - expected).max() < 1e-6
        wrong = (np.where(out(t) >= 0, 1, -1) != y).astype(float)
        assert out.curve.rates(t) == pytest.approx((wrong[y < 0].mean(), wrong[y > 0].mean()))
    rows = list(out._rows())
    assert len(rows) == 9
    assert all(row["gap"] < 1e-8 for row in rows)
    assert all(row["segments"] > 0 for row in rows)


def test_samples_of_a_group_have_their_own_scores(data):
    X, y = data
    groups = np.array([0, 1, 1, 0, 2, 2, 2, 0, 1])
    path = pc.trace(Sparse(X, y), lam=(2.0, 1.0), mu=0.1)
    found = path.leave_one_out(groups=groups)(1.0)
    for group in range(3):
        rest, out = groups != group, groups == group
        rule = Sparse(X[rest], y[rest]).solve(lam=1.0, mu=0.1).classifier
        assert np.abs(found[out] - rule.decision_function(X[out])).max() < 1e-6


def test_processes_change_nothing(data):
    path = pc.trace(Sparse(*data), lam=(2.0, 1.0), mu=0.1)
    groups = [0, 1, 2, 0, 0, 1, 1, 2, 2]
    one, two = (path.leave_one_out(groups=groups, n_jobs=n) for n in (1, 2))
    assert len(one.stretches) == 3
    for a, b in zip(one.scores, two.scores, strict=True):
        for key in ("t", "start", "end"):
            assert np.array_equal(getattr(a, key), getattr(b, key))


def test_a_formulation_says_how_samples_are_taken_out_of_it(data):
    X, y = data
    heavy = Weighted(X, y, np.arange(9.0))
    assert heavy.without([0, 8]).weight.tolist() == list(range(1, 8))
    assert pc.trace(heavy, lam=(2.0, 1.0), mu=0.1).leave_one_out(cv=2).passes()
    with pytest.raises(pc.InputError, match=r"Forgetful must override without\(samples\)"):
        pc.trace(Forgetful(X, y, "me"), lam=(2.0, 1.0), mu=0.1).leave_one_out()
    with pytest.raises(pc.InputError, match="kernel that is given for all samples"):
        Sparse(X @ X.T, y, "precomputed").without([0])
    with pytest.raises(pc.InputError, match="y must"):
        Sparse(X[:5], y[:5]).without([4])


def test_within_eps_no_score_is_that_of_an_optimum(data):
    """Points within eps may err as often as they like: they are no proof of what the optimum of all others says."""
    X, y = data
    svm = Sparse(X, y)
    with pytest.raises(pc.InputError, match=r"leave_one_out needs an exact path.* within 0.01. Trace it without eps"):
        pc.trace(svm, lam=(2.0, 1.5), mu=0.1, eps=1e-2).leave_one_out(cv=2)
    assert pc.trace(svm, lam=(2.0, 1.5), mu=0.1).leave_one_out(cv=2).passes()  # its remedies
    alone = pc.trace(svm.without([0]), lam=(2.0, 1.5), mu=0.1, eps=1e-2).scores(X[[0]])
    assert "of the path's points, within 0.01 of optimal" in repr(alone)


def test_paths_that_end_elsewhere_are_refused():
    class Capped(pc.SampleFormulation):
        """Margins that all must be met, by a slope of bounded size."""

        domain = MappingProxyType({"cap": pc.NONNEGATIVE})

        @cached_property
        def primal(self):
            w, b = cp.Variable(self.X.shape[1], name="w"), cp.Variable(name="b")
            margin = cp.multiply(self.y, self.X @ w + b) >= 1
            return cp.Problem(
                cp.Minimize(cp.sum_squares(w) + cp.square(b)), [margin, cp.norm1(w) <= self.parameters["cap"]]
            )

    path = pc.trace(Capped([[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]), cap=(3.0, 0.0))
    assert path.status == "infeasible"
    with pytest.raises(pc.InputError, match=r"path must end where all do .* without samples \[1\] it ends at"):
        path.leave_one_out()
