"""Maps of data in any units: a kernel times a constant is the same problem, with costs over it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.path.regions.centred_kernel import definite
from paretoclf.problem.operator import Features, Matrix
from paretoclf.proof.maps.cost_regions import _precise
from tests.benchmarks import planes as benchmark
from tests.oracles.exact import fractions, integer_kernel
from tests.oracles.exact_criss_cross import criss_cross
from tests.path.cost_plane.test_cost_plane import objections


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


@pytest.mark.parametrize("number", [39, 51, 120])
def test_slivers_under_a_narrow_kernel(number):
    """Samples change their sets within 1e-10 of each other: a line from the middle of a sliver went along it."""
    svm, square = benchmark.instance("narrow", number)
    found = pc.plane(svm, square, square)
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


LARGE = [(19, 1, None, 1e3, 1000.0), (13, 2, None, 1e3, 1000.0), (14, 2, pc.Polynomial(2), 1e2, 10.0)]


def large(n, d, kernel, size, top, seed=0):
    rng = np.random.default_rng([seed, n])
    y = labelled(rng, n)
    svm = pc.TwoCSVM(np.round(size * (rng.normal(size=(n, d)) + 0.5 * y[:, None])), y, kernel)
    return svm, pc.plane(svm, (0.05 * top, top), (0.05 * top, top))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("case", LARGE, ids=["line", "plane", "polynomial"])
def test_costs_times_kernel_values_of_1e9(case, seed):
    """Multipliers to 16 digits move margins by 1e-7: no region was proved."""
    svm, found = large(*case, seed)
    assert found.proof.holds()
    K = integer_kernel(svm.X, 1 if svm.gram.linear else 2)
    for costs in np.random.default_rng(seed).uniform(0.05 * case[-1], case[-1], (2, 2)):
        caps = found.caps(*costs)
        exact = float(criss_cross(K, svm.y, caps, np.zeros_like(caps)).value(0))
        assert found.at(*costs).value == pytest.approx(exact, rel=1e-8)
        assert found.at(*costs).certificate.holds()
    for proofs in found.certificates():  # at the vertices, where either region may be right
        assert all(proof.holds() for proof in proofs)


@pytest.mark.parametrize("case", LARGE, ids=["line", "plane", "polynomial"])
def test_what_a_region_stores_is_the_precise_solution_but_for_rounding(case):
    _, found = large(*case)
    assert "twice double precision" in found.proof.note
    for k in range(0, len(found.regions), 3):
        region = found.regions[k]
        largest = max(1.0, float(np.abs(region.alpha_map).max()))
        for wrong in (
            replace(region, alpha_map=region.alpha_map + 1e-4 * largest),
            replace(region, b_map=region.b_map + np.array([1e-2, 0.0, 0.0])),
            replace(region, polygon=(other := found.regions[k - 1]).polygon, facets=other.facets),
        ):
            regions = (*found.regions[:k], wrong, *found.regions[k + 1 :])
            assert k in replace(found, regions=regions).proof.failures()


def test_proofs_sum_multipliers_in_two_parts_against_fractions():
    rng = np.random.default_rng(0)
    X, y = 1e3 * rng.normal(size=(7, 2)), np.array([1.0, 1, 1, -1, -1, -1, -1])
    alpha, low, b = rng.uniform(1, 1e3, (3, 7)), 1e-14 * rng.normal(size=(3, 7)), rng.normal(size=(1, 3))
    for data in (Features(X), Matrix(X @ X.T)):
        f, margin, norm2 = _precise(y, y * alpha, y * low, b, data)
        Q = fractions(X) @ fractions(X).T if data.width else fractions(data.whole())
        coef = fractions(y * alpha) + fractions(y * low)
        scores = coef @ Q
        exact = fractions(y) * (scores + fractions(b[0])[:, None]) - 1
        assert margin[0] == pytest.approx(exact.astype(float), rel=1e-13, abs=1e-13)
        assert f[0] == pytest.approx((fractions(y) * (exact + 1)).astype(float), rel=1e-15)
        assert norm2[0] == pytest.approx([float(v) for v in (coef * scores).sum(axis=1)], rel=1e-14)


def test_the_benchmark_runs(capsys):
    assert benchmark.main(["--smoke"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = lines[1 : len(benchmark.FAMILIES) + 1]
    assert [line.split()[0] for line in rows] == list(benchmark.FAMILIES)
    assert all(int(line.split()[4]) == 0 for line in rows)
