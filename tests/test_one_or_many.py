"""Parameters of paths one at a time or many, breakpoints that are events, and randomness given in one way."""

from __future__ import annotations

import re

import numpy as np
import pytest

import paretoclf as pc


def data(n=40, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < 0.4 * n, 1.0, -1.0)
    return rng.normal(size=(n, 2)) + 0.6 * y[:, None], y


X, Y = data()
PATHS = {
    "ray": lambda: pc.trace(pc.TwoCSVM(X, Y), (0, 0), (3, 2)),
    "through the ray": lambda: pc.trace(pc.TwoCSVM(X, Y, kernel=pc.RBF(1.0)), (0.1, 1.9), (1.9, 0.1)),
    "into an axis": lambda: pc.trace(pc.TwoCSVM(X, Y), (0, 1), (1, 0)),
    "quantile": lambda: pc.trace(pc.QuantileSVM(X, Y), tau=(0, 1), lam=0.1),
    "nu": lambda: pc.trace(pc.TwoNuSVM(X, Y), nu=(0, None), asymmetry=0.5),
    "hulls": lambda: pc.trace(pc.TwoNuSVM(X, Y), (1, 1), (0.8, 0.9)),
    "margins": lambda: pc.trace(pc.BiobjectiveMargin(X, Y), theta=(0.5, 2), C_plus=1.0, C_minus=1.0),
}


@pytest.fixture(scope="module", params=PATHS)
def path(request):
    return PATHS[request.param]()


def test_breakpoints_are_the_ends_and_where_a_set_changes(path):
    ends = path.pieces.t[[0, -1]]
    np.testing.assert_array_equal(path.breakpoints, np.unique([*ends, *(event.t for event in path.events)]))
    counted = re.search(r"(\d+) breakpoints", repr(path))
    if counted:
        assert int(counted[1]) == len(path.breakpoints)
    for before, after in zip(path.breakpoints[:-1], path.breakpoints[1:], strict=True):
        inside = before + np.array([0.01, 0.99]) * (after - before)
        np.testing.assert_array_equal(path.sets(inside[0]), path.sets(inside[1]))


def test_stretches_that_meet_are_no_breakpoints():
    """A line that crosses the ray is traced from there in both directions: a piece ends, and nothing happens."""
    path = PATHS["through the ray"]()
    assert len(path.breakpoints) < path.pieces.t.size


def test_values_of_many_parameters_are_those_of_each(path):
    lo, hi = path.breakpoints[[0, -1]]
    t = np.linspace(lo, hi, 6).reshape(2, 3)
    expected = [[path.at(u).value for u in row] for row in t]
    np.testing.assert_allclose(path.value(t), expected, rtol=1e-9, atol=1e-14)
    assert isinstance(path.value(float(lo)), float)
    np.testing.assert_array_equal(path.value(t.tolist()), path.value(t))
    with pytest.raises(pc.InputError, match=rf"^{path.parameter} must lie in "):
        path.value([lo, hi + 1])


@pytest.mark.parametrize("what", ["at", "costs", "alpha", "intercept", "slope", "sets", "basis"])
def test_the_rest_takes_one_parameter_and_says_so(path, what):
    lo, hi = path.breakpoints[[0, -1]]
    if what == "slope" and path.gram.features is None:
        return
    for many in () if what == "at" else ([lo, hi], np.array([lo]), np.linspace(lo, hi, 5)):
        with pytest.raises(
            pc.InputError, match=rf"^{path.parameter} must be one number, got \d of them: take one"
        ) as e:
            getattr(path, what)(many)
        assert "\n" not in str(e.value)
    with pytest.raises(pc.InputError, match=rf"^{path.parameter} must be a number, got None"):
        getattr(path, what)(None)
    with pytest.raises(pc.InputError, match=rf"^{path.parameter} must lie in "):
        getattr(path, what)(hi + 1)


# ---- rng ---------------------------------------------------------------------------------------------------------


class Centroids:
    """The nearest-mean rule at every threshold."""

    def __init__(self, X, y):
        self.w = X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)

    def scores(self, Z):
        return pc.results.PathScores(np.array([0.0, 1.0]), (Z @ self.w)[:, None] - 4, (Z @ self.w)[:, None] + 4)


DRAWING = {
    "compare": lambda rng: pc.compare(PATHS["ray"](), pc.TwoCSVM(X, Y), n=6, rng=rng).points,
    "cross_validated_errors": lambda rng: pc.cross_validated_errors(
        pc.TwoCSVM(X, Y), (0.5, 1.5), (1.5, 0.5), folds=3, rng=rng
    ).minimax(),
    "empirical_tradeoff": lambda rng: pc.empirical_tradeoff(X, Y, Centroids, splits=3, rng=rng).area,
    "band": lambda rng: pc.empirical_tradeoff(X, Y, Centroids, splits=3).band(draws=40, rng=rng).lower.tolist(),
    "load": lambda rng: pc.datasets.load("wdbc", n=30, rng=rng).X.tolist(),
    "make_twonorm": lambda rng: pc.datasets.make_twonorm(30, rng).X.tolist(),
}


@pytest.mark.parametrize("name", DRAWING)
def test_rng_is_a_seed_or_a_generator_everywhere(name):
    call = DRAWING[name]
    assert repr(call(3)) == repr(call(np.int64(3)))
    assert repr(call(np.random.default_rng(3))) == repr(call(np.random.default_rng(3)))
    for wrong in (-1, 0.5, "a", True, np.random.RandomState(0)):
        with pytest.raises(pc.InputError, match=r"^rng must be a seed .* or a numpy.random.Generator, got"):
            call(wrong)


# ---- what is no path, no scores, no solution ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda svm, ray: pc.compare(sample_costs(svm), svm), r"^path must be one of two costs: "),
        (lambda svm, ray: pc.compare(ray, svm, n="three"), r"^n must be a whole number of at least 1, got 'three'$"),
        (lambda svm, ray: pc.compare(swept(svm)[:0], svm), r"^path must have at least one solution, got an empty part"),
        (
            lambda svm, ray: pc.roc.roc_of_scores(X, Y),
            r"^scores must have shape \(40,\), got \(40, 2\)",
        ),
        (lambda svm, ray: pc.roc.ErrorCurve.of_scores(X, Y), r"^scores must be PathScores, "),
        (
            lambda svm, ray: pc.trace(svm, (1, 1), (2, 1), hub=svm),
            r"^hub must be a path of costs, as trace returns it, or a solution, got TwoCSVM$",
        ),
        (
            lambda svm, ray: pc.plane(svm, (0.5, 1), (0.5, 1)).at([0.5, 1], 1),
            r"^C_plus must be one number, got 2 of them",
        ),
    ],
)
def test_what_is_given_in_place_of_another_thing_is_named(call, message):
    svm = pc.TwoCSVM(X, Y)
    with pytest.raises(pc.InputError, match=message):
        call(svm, PATHS["ray"]())


def sample_costs(svm):
    return pc.trace(svm, pc.SampleCosts(np.ones(svm.y.size)), pc.SampleCosts(np.linspace(1, 2, svm.y.size)))


def swept(svm):
    return pc.sweep(svm, C_plus=[1.0], C_minus=1.0, progress=False)


def test_a_path_of_costs_per_sample_has_a_curve():
    curve = pc.roc_of_path(sample_costs(pc.TwoCSVM(X, Y)), X, Y)
    np.testing.assert_array_equal(curve.t, 1.0)
