"""Scores of a block: against the products of all multipliers with all samples, one column at a time."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from paretoclf.common.tolerances import ROUNDING
from paretoclf.problem.operator import Features
from paretoclf.problem.operator.matrix import Matrix
from paretoclf.proof.points.soft_margin import SoftMargin
from paretoclf.proof.segments import score_products
from paretoclf.proof.segments.score_products import BlockSlopes, FeatureProducts, KernelProducts, products_of
from paretoclf.proof.segments.stored_segments import Group

SEEDS = pytest.mark.parametrize("seed", range(4))
CASES = pytest.mark.parametrize("case", ["kernel", "implied", "stored", "sparse"])


class BlockCase:
    """A block of three segments between two anchors: all others move from one anchor to the next, some move freely."""

    def __init__(self, seed: int, case: str) -> None:
        rng = np.random.default_rng(seed)
        n, d = 9, 3
        self.rng, self.lam = rng, float(rng.choice([0.5, 2.0]))
        self.X = rng.normal(size=(n, d)) + rng.normal(size=d)
        self.y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
        self.share = np.array([0.0, 0.25, 0.7, 0.7, 1.0])  # two columns where something jumps
        self.ends = np.array([0, 1, 3]), np.array([1, 2, 4])
        self.moving = np.array([1, 4, 6])
        anchors = rng.random((3, n))
        between = np.stack([1.0 - self.share, self.share], axis=1)
        self.alpha = between @ anchors[1:]
        inside = rng.random((5, 3))
        inside[[0, -1]] = anchors[1:, self.moving]
        self.alpha[:, self.moving] = inside
        self.coef = self.alpha * self.y
        self.implied = self.coef @ self.X / self.lam
        self.w = self.implied + rng.normal(size=(5, d)) if case == "stored" else None
        self.w_of_anchors = None if self.w is None else np.vstack([rng.normal(size=(1, d)), self.w[[0, -1]]])
        self.judged = self.implied if self.w is None else self.w
        self.group = Group(np.array([0, 2, 5]), None, anchors)
        samples = sp.csr_array(self.X) if case == "sparse" else self.X
        self.products = (
            KernelProducts(self.X @ self.X.T, self.y, self.lam)
            if case == "kernel"
            else FeatureProducts(samples, self.y, self.lam)
        )
        self.stored = SimpleNamespace(w=None if self.w is None else np.zeros((6, d)))
        if self.w is not None:
            self.stored.w[self.group.ends] = self.w_of_anchors

    def block(self):
        anchors = self.products.anchors(self.group, self.stored).pair(1)
        return self.products.block(anchors, self.moving, self.coef[:, self.moving], self.share, self.ends, self.w)


@SEEDS
@CASES
def test_anchors_have_the_scores_of_their_multipliers_or_slopes(seed, case):
    case = BlockCase(seed, case)
    anchors = case.products.anchors(case.group, case.stored)
    implied = (case.group.alpha * case.y) @ case.X / case.lam
    judged = implied if case.w is None else case.w_of_anchors
    np.testing.assert_allclose(anchors.scores, judged @ case.X.T, rtol=1e-12, atol=1e-13)
    assert anchors.alpha is case.group.alpha
    if anchors.implied is not None:
        terms = np.abs(case.group.alpha[:, :, None] * case.X).sum(axis=1) / case.lam
        for found, wanted in ((anchors.implied, implied), (anchors.judged, judged), (anchors.terms, terms)):
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)
    second = anchors.pair(1)
    for name in ("alpha", "scores", "implied", "judged", "terms"):
        whole, part = getattr(anchors, name), getattr(second, name)
        assert (whole is None) == (part is None)
        assert whole is None or np.array_equal(part, whole[1:3])


@SEEDS
@CASES
def test_a_block_has_the_scores_of_all_samples_at_all_columns(seed, case):
    case = BlockCase(seed, case)
    found = case.block()
    scores = case.judged @ case.X.T
    np.testing.assert_allclose(found.of_moving, scores[:, case.moving], rtol=1e-11, atol=1e-12)
    others = np.array([0, 8, 3])
    np.testing.assert_allclose(found.others(others), scores[:, others], rtol=1e-11, atol=1e-12)


@SEEDS
@CASES
def test_norms_of_slopes_are_those_that_multipliers_imply(seed, case):
    case = BlockCase(seed, case)
    slopes = case.block().slopes
    first, last = case.ends
    norm2 = case.lam * (case.implied**2).sum(axis=1)
    cross = case.lam * (case.implied[first] * case.implied[last]).sum(axis=1)
    np.testing.assert_allclose(slopes.norm2, norm2, rtol=1e-11)
    np.testing.assert_allclose(slopes.cross, cross, rtol=1e-10, atol=1e-12)
    share = 0.3
    on_segment = (1 - share) * case.implied[first] + share * case.implied[last]
    weights = [(1 - share) ** 2, 2 * share * (1 - share), share**2]
    found = slopes.norms(case.ends) @ weights
    np.testing.assert_allclose(found, case.lam * (on_segment**2).sum(axis=1), rtol=1e-10)


@SEEDS
@CASES
def test_no_score_is_further_from_its_chord_than_the_deviation_says(seed, case):
    case = BlockCase(seed, case)
    found = case.block()
    between = np.stack([1.0 - case.share, case.share], axis=1)
    off_chord = case.judged - between @ case.judged[[0, -1]]
    length = np.sqrt((off_chord**2).sum(axis=1))
    change = off_chord @ case.X.T - found.shift[:, None]
    assert (np.abs(change) <= found.deviation[:, None] * case.products.lengths + 1e-12).all()
    if isinstance(case.products, KernelProducts):
        most = case.group.alpha[1:].sum(axis=1).max() + np.abs(case.coef[:, case.moving]).sum(axis=1).max()
        rounding = ROUNDING * most**2 * case.products.length2 / case.lam**2
        # Squares of kernel lengths are differences of larger numbers: off by no more than the rounding that is added.
        np.testing.assert_allclose(found.deviation**2, length**2 + rounding, rtol=1e-7, atol=rounding)
        assert not found.shift.any()
    else:
        np.testing.assert_allclose(found.deviation, length, rtol=1e-10, atol=1e-13)
        mean = case.X.mean(axis=0) * (not sp.issparse(case.products.X))
        np.testing.assert_allclose(found.shift, off_chord @ mean, rtol=1e-10, atol=1e-13)


def test_sizes_of_samples():
    X, y = np.array([[3.0, 4.0], [-1.0, 0.0], [1.0, 2.0]]), np.ones(3)
    dense, sparse, kernel = FeatureProducts(X, y), FeatureProducts(sp.csr_array(X), y), KernelProducts(X @ X.T, y)
    np.testing.assert_allclose(dense.lengths, [np.sqrt(8.0), np.sqrt(8.0), 0.0], atol=1e-15)
    for products in (sparse, kernel):
        np.testing.assert_allclose(products.lengths, [5.0, 1.0, np.sqrt(5.0)])
    assert dense.largest2 == sparse.largest2 == kernel.largest2 == 25.0
    assert dense.length2 == sparse.length2 == 25.0
    assert kernel.length2 == 25.0
    assert dense.size.tolist() == sparse.size.tolist() == [3.0, 4.0]
    negative = np.array([[-1e-9, 0.0], [0.0, 4.0]])
    assert KernelProducts(negative, np.ones(2)).lengths.tolist() == [0.0, 2.0]


def test_a_slope_is_judged_against_1_and_its_own_terms_where_these_cancel():
    """Two samples of one kind cancel: the terms of the slope are 2e6, and it is 1. Which of them move is no matter."""
    X, y, lam = np.array([[-1e6], [1.0 - 1e6], [0.5]]), np.array([-1.0, 1.0, 1.0]), 2.0
    alpha = lam * np.array([[1.0, 1.0, 0.0]] * 2)
    products, group = FeatureProducts(X, y, lam), Group(np.array([0, 1]), None, alpha)
    ends, share = (slice(0, -1), slice(1, None)), np.array([0.0, 1.0])
    for moving in (np.array([0, 2]), np.array([0, 1]), np.array([1])):
        for error, cancels in ((2.0**-50, False), (1e-3, True)):
            w = np.full((2, 1), 1.0 + error)
            anchors = products.anchors(group, SimpleNamespace(w=w))
            found = products.block(anchors, moving, (alpha * y)[:, moving], share, ends, w)
            terms = 2e6 - 1.0 if cancels else 1.0
            wanted = error * 1e6 / (1.0 + 1e6 * terms)
            np.testing.assert_allclose(found.slopes.stationarity, wanted, rtol=1e-3)
            np.testing.assert_allclose(found.slopes.distance, error, rtol=1e-3)


@SEEDS
def test_a_constant_feature_is_one_more_weight(seed):
    rng = np.random.default_rng(seed)
    lam, ends = 0.5, (np.array([0, 1]), np.array([1, 2]))
    implied, judged = rng.normal(size=(2, 3, 4))
    constant, b = implied[:, -1], judged[:, -1]
    unit = 1.0 + rng.random(3)

    def slopes(size):
        own, other = implied[:, :size], judged[:, :size]
        distance = np.sqrt(((own - other) ** 2).sum(axis=1))
        cross = lam * (own[ends[0]] * own[ends[1]]).sum(axis=1)
        return lam * (own**2).sum(axis=1), cross, distance

    norm2, cross, distance = slopes(3)
    stationarity = np.array([1e-9, 5.0, 1e-9])
    found = BlockSlopes(norm2, cross, stationarity, distance).with_constant(constant, b, unit, lam, ends)
    for one, other in zip((found.norm2, found.cross, found.distance), slopes(4), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    wanted = np.abs(b - constant) / unit
    np.testing.assert_allclose(found.stationarity, [wanted[0], max(5.0, wanted[1]), wanted[2]])


def test_features_are_taken_where_slopes_are_stored_or_few_numbers(monkeypatch):
    X, y = np.arange(12.0).reshape(4, 3), np.array([1.0, -1.0, 1.0, -1.0])
    problem, none, some = SoftMargin(y, Features(X), lam=3.0), SimpleNamespace(w=None), SimpleNamespace(w=X[:1])
    by_kernel = products_of(problem, none)  # 16 kernel values, and 256 slopes of 3 numbers
    assert isinstance(by_kernel, KernelProducts)
    np.testing.assert_allclose(by_kernel.K, X @ X.T)
    assert isinstance(products_of(problem, some), FeatureProducts)
    monkeypatch.setattr(score_products, "_POINTS", 5)  # 15 numbers
    found = products_of(problem, none)
    assert isinstance(found, FeatureProducts)
    assert (found.lam, found.y.tolist(), by_kernel.lam) == (3.0, y.tolist(), 3.0)
    monkeypatch.setattr(score_products, "_POINTS", 16 / 3)  # as many: the kernel
    assert isinstance(products_of(problem, none), KernelProducts)
    assert isinstance(products_of(SoftMargin(y, Matrix(X @ X.T)), none), KernelProducts)
