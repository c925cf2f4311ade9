"""Maps of data in any units: a kernel times a constant is the same problem, with costs over it."""

from __future__ import annotations

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.path.plane.centred import definite
from tests.benchmarks import planes as benchmark
from tests.oracles.exact import fractions
from tests.path.test_plane import objections


def labelled(rng, n):
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1, -1
    return y


def against_other_solvers(svm, found):
    """What Clarabel or LIBSVM say of the map at random costs, with bounds in whole numbers."""
    (low, top), rng = found.C_plus, np.random.default_rng(0)
    for costs in rng.uniform(low, top, (3, 2)).tolist():
        said, decided = benchmark.objection(svm, found, costs)
        assert said == ""
        assert decided


@pytest.mark.parametrize("top", [2.0, 1000.0])
@pytest.mark.parametrize("kernel", [pc.RBF(1.0), pc.Polynomial(2)], ids=["rbf", "polynomial"])
@pytest.mark.parametrize(("n", "d"), [(15, 1), (19, 1), (20, 2)])
def test_tiny_features_under_a_kernel(n, d, kernel, top):
    """Values of 1 - 1e-6 have three directions (of 1e-6, 1e-11 and 1e-17) and the others by rounding."""
    rng = np.random.default_rng([n, d])
    y = labelled(rng, n)
    svm = pc.TwoCSVM(1e-3 * rng.normal(size=(n, d)), y, kernel)
    found = pc.plane(svm, (0.0, top), (0.0, top))
    assert objections(svm, found) == []
    against_other_solvers(svm, found)


@pytest.mark.parametrize(("seed", "top"), [(79, 1.0), (93, 10.0), (135, 10.0)])
def test_polynomials_whose_rounding_is_a_direction(seed, top):
    rng = np.random.default_rng(seed)
    y = labelled(rng, 18)
    svm = pc.TwoCSVM(rng.normal(size=(18, 1)) + 0.5 * y[:, None], y, pc.Polynomial(2))
    found = pc.plane(svm, (0.0, top), (0.0, top))
    assert objections(svm, found) == []
    against_other_solvers(svm, found)


def test_the_tracker_passes_a_basis_that_cannot_be_inverted():
    """Three samples next to each other on a curve of 1e-12: the region behind them was not looked for."""
    svm, (low, top) = benchmark.instance("tiny", 161)
    found = pc.plane(svm, (low, top), (low, top))
    assert objections(svm, found) == []
    against_other_solvers(svm, found)


def seen_from(K, p):
    return K - K[p] - K[:, p, None] + K[p, p]


def leftover(K, pivots):
    """What is left of a matrix, in fractions, once directions of these samples are taken out."""
    K = fractions(K)
    for j in pivots:
        K = K - np.outer(K[:, j], K[j]) / K[j, j]
    return K


@pytest.mark.parametrize("kernel", [pc.RBF(1.0), pc.Polynomial(2)], ids=["rbf", "polynomial"])
def test_a_map_is_of_a_kernel_although_its_values_are_rounded(kernel):
    X = 1e-3 * np.random.default_rng(1).normal(size=(12, 1))
    X[5] = X[3]
    gram = pc.Gram(X, kernel)
    as_rounded = seen_from(fractions(gram.matrix), 0)
    first = [int(j) for j in np.argsort(X[:, 0])[[0, -1]]]
    noise = leftover(as_rounded, first)
    assert min(np.diagonal(noise)) < 0 < max(np.diagonal(noise))  # as rounded it is of no kernel
    parts = definite(gram.matrix, 2e-15)
    found = seen_from(fractions(parts[0]) + fractions(parts[1]), 0)
    assert 0 < max(abs(v) for v in (found - as_rounded).ravel()) < 1e-14
    assert max(abs(v) for v in leftover(found, first).ravel()) < 1e-25  # two directions, to what two doubles hold
    assert (found[5] == found[3]).all()


def test_a_kernel_matrix_of_full_rank_stays_as_it_is():
    X = np.random.default_rng(2).normal(size=(10, 2))
    assert definite(pc.Gram(X, pc.RBF(1.0)).matrix, 2e-15) is None


def test_the_benchmark_runs(capsys):
    assert benchmark.main(["--smoke"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:6]] == list(benchmark.FAMILIES)
    assert all(int(line.split()[4]) == 0 for line in lines[1:6])
