"""The proof of a map: it bounds what certificates say at any costs, and sees what is wrong inside of a region only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.problem.operator import Features, Matrix
from paretoclf.proof.maps import cost_regions
from paretoclf.proof.maps.cost_regions import Corners, prove_regions
from paretoclf.proof.points.two_c import certify

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


# Each number by itself, against its formula in loops.


@pytest.fixture(params=[False, True], ids=["costs", "a class without costs"])
def state(request):
    """Two triangles of three samples, with multipliers, margins and residuals of all signs."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(3, 2)), np.array([1.0, -1.0, 1.0])
    costs = rng.uniform(0.5, 2.0, size=(2, 3, 2))
    if request.param:
        costs[0, 1, 0] = 0.0
    unit_caps = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
    part = Corners(np.array([1, 0]), costs, rng.uniform(-0.5, 4.0, size=(2, 3, 3)), rng.normal(size=(2, 3)))
    samples = cost_regions._CostMap(y, unit_caps, Features(X), rng.uniform(0, 0.1, 3))
    return cost_regions._State.of(part, samples), X


def test_a_state_has_caps_scores_and_margins_of_each_vertex(state):
    found, X = state
    y, mean = found.samples.y, X.mean(axis=0)
    for r in range(2):
        for v in range(3):
            costs = found.part.costs[r, v]
            assert found.caps[r, v] == pytest.approx([costs[0], 2 * costs[1], 3 * costs[0]])
            empty = costs.min() == 0
            assert found.empty[r, v] == empty
            alpha = np.zeros(3) if empty else found.part.alpha[r, v]
            assert found.alpha[r, v].tolist() == alpha.tolist()
            w = (X - mean).T @ (y * alpha)
            scores = (X - mean) @ w + found.part.b[r, v]
            if abs(y @ alpha) < 1e-12:
                np.testing.assert_allclose(found.scores[r, v], scores, atol=1e-12)
            np.testing.assert_allclose(found.margin[r, v], y * found.scores[r, v] - 1, atol=1e-14)
            assert found.norm2[r, v] >= 0


def test_residuals_are_the_largest_at_vertices(state):
    found, _ = state
    y, stored = found.samples.y, found.part.alpha
    wrong, sample = found.complementarity()
    for r in range(2):
        box, balance = [], []
        for v in range(3):
            caps, alpha = found.caps[r, v], found.alpha[r, v]
            outside = [max(s - c, -s, abs(s - a)) for s, c, a in zip(stored[r, v], caps, alpha, strict=True)]
            assert found.outside[r, v] == pytest.approx(outside)
            box += [o / unit for o, unit in zip(outside, found.units[r, v], strict=True)]
            sums = alpha[y > 0].sum(), alpha[y < 0].sum()
            assert found.class_sums[:, r, v] == pytest.approx(sums)
            most = max(caps[y > 0].sum(), caps[y < 0].sum())
            balance.append((abs(sums[0] - sums[1]), most))
        assert found.box()[r] == pytest.approx(max(box))
        assert found.balance[r] == pytest.approx([off for off, _ in balance])
        size = 1 + np.abs(found.scores[r])
        parts = []
        for i in range(3):
            units, alpha, caps = found.units[r, :, i], found.alpha[r, :, i], found.caps[r, :, i]
            margin = found.margin[r, :, i] / size[:, i]
            load, slack = (max(0, each) for each in ((alpha / units).max(), ((caps - alpha) / units).max()))
            parts.append(max(min(load, max(0, margin.max())), min(slack, max(0, (-margin).max()))))
        assert wrong[r] == pytest.approx(max(parts))
        assert sample[r] == int(np.argmax(parts))
    assert found.kernel_share(np.array([2.0, 0.5])) == pytest.approx(
        [0.5 * ((found.alpha[r] @ found.samples.rounding) ** 2).max() / size for r, size in ((0, 2.0), (1, 0.5))]
    )


@pytest.mark.parametrize("seed", range(4))
def test_gaps_are_the_largest_products_relative_to_lower_bounds(seed):
    """Every product of a vertex and another, symmetric; what balances the classes costs a share of the slacks.

    Multipliers are near their caps, and all samples within the margin, so that lower bounds are positive.
    """
    rng = np.random.default_rng(seed)
    y, X = np.array([1.0, -1.0, 1.0, -1.0]), 0.2 * rng.normal(size=(4, 2))
    costs = rng.uniform(1.0, 1.1, size=(2, 3, 2))
    unit_caps = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    alpha = (costs @ unit_caps.T) * rng.uniform(0.8, 1.01, size=(2, 3, 4))
    part = Corners(np.arange(2), costs, alpha, rng.uniform(-0.1, 0.1, size=(2, 3)))
    found = cost_regions._State.of(part, cost_regions._CostMap(y, unit_caps, Features(X), None))
    length2 = found.samples.kernel.balanced2
    gaps = cost_regions._gaps(found)
    for r in range(2):
        load, slack = np.maximum(found.alpha[r], 0), np.maximum(found.caps[r] - found.alpha[r], 0)
        right, left = np.maximum(found.margin[r], 0), np.maximum(-found.margin[r], 0)
        products = np.array([[load[v] @ right[u] + slack[v] @ left[u] for u in range(3)] for v in range(3)])
        products = 0.5 * (products + products.T)
        sums = found.class_sums[:, r]
        off, least = np.abs(sums[0] - sums[1]), sums.min(axis=0)
        share = max(o / max(s, 1e-300) if o > 0 else 0.0 for o, s in zip(off, least, strict=True))
        moved = 0.5 * length2 * (off + found.outside[r].sum(axis=1)) ** 2
        hinge = (found.caps[r] * left).sum(axis=1)
        extra = share * hinge + moved
        low = np.maximum(0.5 * found.norm2[r] + hinge - np.diag(products) - extra, 0)
        sizes = 0.5 * (low[:, None] + low[None])
        assert gaps.largest[r] == pytest.approx(sizes.max())
        assert gaps.difference[r] == pytest.approx(products.max() + extra.max(), rel=1e-9)
        assert low.min() > 0.5
        relative = (products / sizes).max() + share + (moved / low).max()
        assert gaps.gap[r] == pytest.approx(relative, rel=1e-9)
        assert gaps.unexplained[r] == pytest.approx(relative, rel=1e-9)


def test_a_product_that_rounding_explains_is_relative_to_the_largest_value():
    """One vertex of which nothing is left: its products are 0 to rounding, and its value is 0."""
    n = 2
    y, X = np.array([1.0, -1.0]), np.array([[1.0], [-1.0]])
    costs = np.array([[[1e-3, 1e-3], [0.4, 0.4], [1e-3, 0.4]]])
    alpha = np.repeat(costs[:, :, :1], n, axis=2)
    part = Corners(np.array([0]), costs, alpha, alpha[:, :, 0] * 2 - 1)
    exact = prove_regions([part], 1, y, np.eye(2), Features(X))
    assert exact.gap[0] < 1e-12
    shifted = replace(part, alpha=part.alpha * (1 + 1e-6))
    proof = prove_regions([shifted], 1, y, np.eye(2), Features(X), "a remark", np.array([1e-3, 2e-3]))
    assert proof.residuals["box"][0] == pytest.approx(1e-6, rel=1e-3)
    assert proof.places["C_plus"] == pytest.approx([(2e-3 + 0.4) / 3])
    assert proof.places["C_minus"] == pytest.approx([(1e-3 + 0.8) / 3])
    assert proof.kernel.shape == (1,)
    assert proof.note == "a remark"
    assert exact.kernel is None


def test_regions_are_judged_in_blocks_of_as_many_vertices(monkeypatch):
    monkeypatch.setattr(cost_regions, "_BLOCK", 3 * 10 * 2)
    found = [block.tolist() for block in cost_regions.blocks([3, 4, 3, 3, 4], 10)]
    assert found == [[0, 2], [3], [1], [4]]
    monkeypatch.setattr(cost_regions, "_BLOCK", 1)
    assert [block.tolist() for block in cost_regions.blocks([3, 3], 10)] == [[0], [1]]
