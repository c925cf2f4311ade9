"""Paths against optima in exact rational arithmetic: every breakpoint, value, slope, multiplier and interval of b."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import paretoclf as pc
from tests.oracles.exact import ExactPath, fractions, integer_kernel, objections
from tests.oracles.exact_criss_cross import criss_cross
from tests.oracles.exact_enumeration import enumerate_bases
from tests.oracles.exact_textbook import textbook
from tests.oracles.mostly_slow import mostly_slow

SEEDS = range(2)
KERNELS = {"linear": (1, None), "poly": (2, pc.Polynomial(2))}
BY_KERNEL = pytest.mark.parametrize("kernel", KERNELS)


# ---- small integer data ------------------------------------------------------------------------------------------


def labels(rng, n, n_plus=None):
    n_plus = int(rng.integers(1, n)) if n_plus is None else n_plus
    return np.where(rng.permutation(n) < n_plus, 1.0, -1.0)


def grid(rng):
    n = int(rng.integers(5, 8))
    return rng.integers(-1, 2, (n, 2)), labels(rng, n)


def duplicates(rng):
    X, y = rng.integers(-3, 4, (4, 2)), labels(rng, 4)
    pick = np.concatenate([np.arange(4), rng.integers(0, 4, 3)])
    return X[pick], y[pick]


def conflicts(rng):
    X = np.repeat(rng.integers(-2, 3, (3, 2)), 2, axis=0)
    return np.vstack([X, rng.integers(-2, 3, (1, 2))]), np.concatenate([[1, -1] * 3, labels(rng, 2)[:1]]).astype(float)


def collinear(rng):
    return rng.integers(-3, 4, (7, 1)) * np.array([[1, -2]]) + 1, labels(rng, 7)


def one_sample(rng):
    return rng.integers(-2, 3, (7, 2)), labels(rng, 7, n_plus=int(rng.choice([1, 6])))


def constant_feature(rng):
    return np.column_stack([rng.integers(-3, 4, 6), np.full(6, 2)]), labels(rng, 6)


def separable(rng):
    y = labels(rng, 6)
    return rng.integers(-1, 2, (6, 2)) + 3 * y[:, None].astype(int), y


def balanced(rng):
    y = labels(rng, 6, n_plus=3)
    return rng.integers(-2, 3, (6, 2)) + y[:, None].astype(int), y


def identical(rng):
    return np.ones((6, 1), dtype=int) * rng.integers(-2, 3, (1, 2)), labels(rng, 6)


def wide(rng):
    return rng.integers(-1, 2, (5, 8)), labels(rng, 5)


CASES = {
    case.__name__: case
    for case in (
        grid,
        duplicates,
        conflicts,
        collinear,
        one_sample,
        constant_feature,
        separable,
        balanced,
        identical,
        wide,
    )
}


def lines(y):
    """Lines of the cost plane whose ends are floats without rounding."""
    n_plus, n_minus = int((y > 0).sum()), int((y < 0).sum())
    top = n_minus / 2, n_plus / 2
    return {
        "ray": ((0, 0), top),
        "ray back": (top, (0, 0)),
        "asymmetry": ((1 / 8, 15 / 8), (15 / 8, 1 / 8)),
        "axis to axis": ((0, 3), (3, 0)),
        "into an axis": ((2, 1), (0, 1 / 2)),
        "along an axis": ((0, 1), (0, 3)),
        "into the origin": ((2, 1), (0, 0)),
        "total": ((1 / 4, 1 / 2), (4, 8)),
        "no length": ((1, 1 / 2), (1, 1 / 2)),
    }


@dataclass(frozen=True)
class Instance:
    """Samples, labels, weights, kernel, and a line."""

    X: Any
    y: Any
    kernel: str
    line: Any
    weight: Any = None

    @property
    def svm(self) -> pc.TwoCSVM:
        return pc.TwoCSVM(self.X, self.y, KERNELS[self.kernel][1], sample_weight=self.weight)

    def path(self, **changed: Any) -> pc.Path:
        return pc.trace(self.svm, *self.line, **changed)

    def judged(self, how=enumerate_bases) -> ExactPath:
        """The exact optima along the line."""
        s = fractions(np.ones(self.y.size) if self.weight is None else self.weight)
        start, stop = ((s * fractions(np.where(self.y > 0, *end))) for end in self.line)
        return how(integer_kernel(self.X, KERNELS[self.kernel][0]), self.y, start, stop - start)


def instance(case, seed, kernel, line, weight=None):
    X, y = CASES[case](np.random.default_rng(seed))
    return Instance(X.astype(float), y, kernel, lines(y)[line], weight)


@cache
def enumerated(case, seed, kernel, line):
    """The exact optima of an instance: several tests ask for the same."""
    return instance(case, seed, kernel, line).judged()


def problem(seed, n, high=2):
    """Samples of a small grid, whole labels and weights."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-high, high + 1, (n, 2)).astype(float)
    return X, labels(rng, n), rng.integers(1, 4, n).astype(float)


# ---- the judge ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [enumerate_bases, criss_cross, textbook])
def test_the_judge_knows_the_five_points(how):
    """Spec 12b: the knots of the ray, and the jump of b at asymmetry 2/3."""
    X, y = np.array([[2.0], [1.0], [0.0], [-1.0], [-3.0]]), np.array([1, 1, -1, -1, -1.0])
    ray = Instance(X, y, "linear", ((0, 0), (3, 2))).judged(how)
    assert [3 * t for t in ray.bends] == [Fraction(*pq) for pq in ((6, 85), (6, 35), (2, 7), (1, 2), (3, 4), (3, 2))]
    caps = [np.where(y > 0, *(Fraction(c) for c in ends)) for ends in ((0, Fraction(2, 3)), (Fraction(2, 3), 0))]
    line = how(integer_kernel(X), y, caps[0], caps[1] - caps[0])
    assert line.intercepts(Fraction(2, 3)) == (Fraction(-1, 3), Fraction(1, 3))
    assert line.intercepts(Fraction(5, 8)) == (Fraction(-1, 3), Fraction(-1, 3))
    assert line.value(Fraction(3, 5)) == ray.value(Fraction(2, 15))
    assert line.intercepts(Fraction(0)) == (-np.inf, -1)


@pytest.mark.parametrize(("case", "kernel", "how"), mostly_slow(product(CASES, KERNELS, [criss_cross, textbook]), 8))
def test_ways_to_judge_agree(case, kernel, how):
    """The textbook tracker in fractions, too, has exactly the optima that both oracles have."""
    y = CASES[case](np.random.default_rng(0))[1]
    for line in lines(y):
        one, other = enumerated(case, 0, kernel, line), instance(case, 0, kernel, line).judged(how)
        for t in one.ends + other.ends:
            assert one.value(t) == other.value(t)
            assert one.intercepts(t) == other.intercepts(t)
            assert (one.scores_of(one.alpha(t)) == other.scores_of(other.alpha(t))).all()
        bends = [b.t0 for a, b in pairwise(other.cells) if other.bends_w(a, b)]
        assert bends == [b.t0 for a, b in pairwise(one.cells) if one.bends_w(a, b)]


def test_the_judge_proves_what_it_says():
    judge = instance("grid", 1, "linear", "asymmetry").judged()
    cell = judge.cells[1]
    for wrong in (replace(cell, at0=cell.at0 * 2), replace(cell, rate=cell.rate + Fraction(1, 10**9))):
        with pytest.raises(AssertionError):
            replace(judge, cells=(judge.cells[0], wrong, *judge.cells[2:])).proved()
    with pytest.raises(AssertionError):
        replace(judge, cells=judge.cells[:-1]).proved()


class Tampered:
    """A path, parts of which are replaced."""

    def __init__(self, path, **replaced):
        self._path = path
        self.__dict__.update(replaced)

    def __getattr__(self, name):
        return getattr(self._path, name)


@pytest.fixture
def case():
    return instance("grid", 1, "linear", "asymmetry")


@pytest.fixture
def path(case):
    return case.path()


def complaints(path, case):
    return " ".join(objections(path, case.judged()))


@pytest.mark.parametrize("by", [1e-9, -1e-9])
def test_the_judge_objects_to_slightly_different_costs(case, by):
    (plus, minus), stop = case.line
    other = replace(case, line=((plus, minus * (1 + by)), stop)).path()
    assert "value" in complaints(other, case)


def test_the_judge_objects_to_slightly_different_samples_and_labels(case):
    X = case.X.copy()
    X[0, 0] += 1e-9
    assert complaints(replace(case, X=X).path(), case)
    assert complaints(replace(case, y=-case.y).path(), case)


def test_the_judge_objects_to_a_lost_and_to_a_moved_breakpoint(case, path):
    t = path.breakpoints
    here = abs(t - float(case.judged().bends[1])) < 1e-9
    assert here.any()
    for breakpoints in (t[~here], t + 1e-10 * here):
        assert "there is no breakpoint" in complaints(Tampered(path, breakpoints=breakpoints), case)


@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        ("value", lambda value: value * (1 + 1e-12), "value"),
        ("alpha", lambda alpha: alpha + 1e-9, "alpha"),
        ("intercept", lambda b: b + 1e-9, "b "),
    ],
)
def test_the_judge_objects_to_slightly_wrong_numbers(case, path, name, change, complaint):
    wrong = Tampered(path, **{name: lambda t: change(getattr(path, name)(t))})
    assert complaint in complaints(wrong, case)


def test_the_judge_objects_to_a_bend_of_w_and_to_a_wrong_interval_of_b(case, path):
    knot = float(path.breakpoints[2])

    def bent(t):
        classifier = path.at(t).classifier
        lo, hi = classifier.b_interval
        scores = classifier.training_scores + 1e-9 * abs(t - knot)
        return SimpleNamespace(classifier=SimpleNamespace(training_scores=scores, b_interval=(lo, hi + 1e-6)))

    said = complaints(Tampered(path, at=bent), case)
    assert "scores" in said
    assert "b_interval" in said
    judge = case.judged()
    unbent = replace(judge, cells=(replace(judge.cells[0], t1=Fraction(1)),))
    assert "w bends for no reason" in " ".join(objections(path, unbent))


# ---- paths before the judge --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("case", "kernel", "seed"), mostly_slow(product(CASES, KERNELS, SEEDS), 8))
def test_the_path_is_the_exact_one(case, kernel, seed):
    y = CASES[case](np.random.default_rng(seed))[1]
    for line in lines(y):
        path = instance(case, seed, kernel, line).path()
        assert objections(path, enumerated(case, seed, kernel, line)) == [], line


@BY_KERNEL
@pytest.mark.parametrize("seed", SEEDS)
def test_eight_samples_with_weights(kernel, seed):
    X, y, weight = problem(seed, 8)
    for line in ("ray", "asymmetry", "into the origin"):
        here = Instance(X, y, kernel, lines(y)[line], weight)
        assert objections(here.path(), here.judged()) == [], line


@BY_KERNEL
@pytest.mark.parametrize("seed", SEEDS)
def test_fourteen_samples_with_many_ties(kernel, seed):
    X, y, _ = problem(seed, 14, high=1)
    for line in ("ray", "asymmetry"):
        here = Instance(X, y, kernel, lines(y)[line])
        assert objections(here.path(), here.judged(criss_cross)) == [], line


@BY_KERNEL
@pytest.mark.parametrize("seed", SEEDS)
def test_costs_that_move_per_sample(kernel, seed):
    X, y, _ = problem(seed, 7)
    degree, ours = KERNELS[kernel]
    rng = np.random.default_rng(seed)
    ends = [rng.integers(0, 9, (2, 7)) / 4 for _ in range(3)]
    for start, stop in [*ends, (np.zeros(7), ends[0][0]), (ends[1][0], np.zeros(7)), (ends[2][0], ends[2][0])]:
        path = pc.trace(pc.TwoCSVM(X, y, ours), pc.SampleCosts(start), pc.SampleCosts(stop))
        judge = enumerate_bases(integer_kernel(X, degree), y, fractions(start), fractions(stop) - fractions(start))
        assert objections(path, judge) == []
