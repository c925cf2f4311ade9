"""The proof of a map: it bounds what certificates say at any costs, and sees what is wrong inside of a region only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.problem.operator import Matrix
from paretoclf.proof.points.two_c import certify
from paretoclf.proof.regions import Corners, prove_regions

SQUARE = (0.05, 2.0)


def problem(n=16, kernel="rbf", seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    X = rng.normal(size=(n, 2)) + 0.5 * y[:, None] + shift
    return pc.TwoCSVM(X, y, kernel=pc.RBF(1.0) if kernel == "rbf" else None, sample_weight=rng.uniform(0.5, 2.0, n))


def data_of(found):
    features = found.gram.features
    return {"K": found.gram.matrix} if features is None else {"X": features}


def slope_of(found, alpha):
    """As `CostPlane.at` has it: from features less their mean."""
    features = found.gram.features
    return None if features is None else (features - features.mean(axis=0)).T @ (found.y * alpha)


def somewhere(polygon, rng):
    return rng.dirichlet(np.ones(polygon.shape[0])) @ polygon


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("wrong", [0.0, 1e-9, 1e-5, 1e-2])
def test_nothing_inside_of_a_region_is_worse_than_its_proof_says(kernel, wrong):
    svm, rng = problem(kernel=kernel), np.random.default_rng(1)
    good = pc.plane(svm, SQUARE, SQUARE)
    assert good.proof.passes(1e-10)
    regions = tuple(
        replace(
            r,
            alpha_map=r.alpha_map + wrong * rng.normal(size=r.alpha_map.shape),
            b_map=r.b_map + wrong * rng.normal(size=3),
        )
        for r in good.regions[::3]
    )
    found = replace(good, regions=regions)
    proof = found.proof
    assert proof.passes(1e-8) == (wrong == 0.0)
    for k, region in enumerate(regions):
        at = somewhere(region.polygon, rng)
        alpha, b = found._in(k, *at)
        truth = certify(svm.y, found.caps(*at), alpha, b, w=slope_of(found, alpha), **data_of(found))
        rounding = 1e-13
        assert truth.gap <= proof.gap[k] + rounding
        # The certificate is about multipliers that were moved into their box; that moves margins, too.
        moved = 2 * np.abs(region.coefficients(found.unit_caps) @ np.array([1.0, *at]) - alpha).sum()
        assert truth.complementarity <= proof.residuals["complementarity"][k] + moved * 10 + rounding
        assert truth.conditions["balance"] <= proof.residuals["balance"][k] + moved * 10 + rounding


def test_three_perfect_corners_that_do_not_belong_together_are_no_region():
    svm, rng = problem(24), np.random.default_rng(0)
    found, seen = pc.plane(svm, SQUARE, SQUARE), 0
    for _ in range(20):
        corners = rng.uniform(*SQUARE, size=(3, 2))
        solutions = [found.at(*at) for at in corners]
        assert all(solution.certificate.passes(1e-10) for solution in solutions)
        alpha, b = np.stack([s.alpha for s in solutions]), np.array([s.classifier.b for s in solutions])
        part = Corners(np.array([0]), corners[None], alpha[None], b[None])
        proof = prove_regions([part], 1, svm.y, found.unit_caps, Matrix(found.gram.matrix))
        at, mixed = corners.mean(axis=0), alpha.mean(axis=0)
        inside = certify(svm.y, found.caps(*at), mixed, float(b.mean()), K=found.gram.matrix)
        assert inside.gap <= proof.gap[0] + 1e-13
        if not inside.passes():
            seen += 1
            assert not proof.passes()
            assert "undecided" in proof.explain().lower()  # the bound alone refutes nothing
    assert seen >= 15


def test_a_class_that_is_too_heavy_is_found():
    svm = problem()
    good = pc.plane(svm, SQUARE, SQUARE)
    k = int(np.argmax(good.n_margin))
    tilted = good.regions[k].alpha_map.copy()
    tilted[0, 0] += 1e-3
    proof = replace(good, regions=(replace(good.regions[k], alpha_map=tilted),)).proof
    assert proof.residuals["balance"][0] > 1e-5
    assert not proof.passes()
    assert "balance" in proof[0].explain()


def test_the_proof_reads_in_words_and_numbers_its_regions():
    found = pc.plane(problem(), (0.0, 2.0), (0.0, 2.0))
    proof = found.proof
    assert len(proof) == len(found.regions)
    assert proof.explain().startswith("Optimal at every pair of costs")
    assert "regions, optimal" in repr(proof)
    assert proof.worst.passes()
    assert proof[-1].cell.startswith(f"Region {len(proof) - 1} (C_plus = ")
    assert proof.worst.residual == pytest.approx(proof.residual.max(), rel=1e-12) or proof.worst.gap > 0
    with pytest.raises(IndexError):
        proof[len(proof)]


def test_rounding_of_the_intercept_is_explained_where_the_caps_of_a_vertex_are_zero():
    found = pc.plane(problem(), (0.0, 2.0), (0.0, 2.0))
    origin = [k for k, region in enumerate(found.regions) if (region.polygon == 0.0).all(axis=1).any()]
    assert origin
    for shift in (-1, 1):
        rounded = [replace(found.regions[k], b_map=found.regions[k].b_map * (1 + shift * 2.0**-53)) for k in origin]
        assert replace(found, regions=tuple(rounded)).proof.passes(1e-10)
        wrong = [replace(found.regions[k], b_map=found.regions[k].b_map * (1 + shift * 1e-6)) for k in origin]
        assert replace(found, regions=tuple(wrong)).proof.failures(1e-10).size == len(origin)


def test_what_is_not_a_number_is_not_proved():
    found = pc.plane(problem(), SQUARE, SQUARE)
    bad = replace(found.regions[0], b_map=np.full(3, np.nan))
    with np.errstate(invalid="ignore"):
        proof = replace(found, regions=(bad,)).proof
        assert not proof.passes()
        assert not proof.worst.passes()


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_features_dense_sparse_and_far_from_the_origin(far):
    svm = problem(kernel="linear", shift=far)
    found = pc.plane(svm, SQUARE, SQUARE)
    assert found.proof.passes(1e-8)
    if far == 0.0:
        sparse = pc.TwoCSVM(sp.csr_array(svm.X), svm.y, sample_weight=svm.sample_weight)
        other = pc.plane(sparse, SQUARE, SQUARE).proof
        assert other.passes(1e-8)
        assert len(other) == len(found.proof)
