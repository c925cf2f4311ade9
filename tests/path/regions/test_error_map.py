"""Held-out errors over the cost plane: against classifiers, exact error curves of paths through it, and a grid."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc

SQUARE = (0.05, 1.5)


def made(seed, n=20, shift=0.5):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < 0.4 * n, 1.0, -1.0)
    return rng.normal(size=(n, 2)) + shift * y[:, None], y


def errors(predicted, y):
    return int(((predicted > 0) & (y < 0)).sum()), int(((predicted < 0) & (y > 0)).sum())


def with_copies(Z, truth):
    """Each sample twice, and some once more with the other label: lines that coincide."""
    return np.vstack([Z, Z, Z[:5]]), np.concatenate([truth, truth, -truth[:5]])


CASES = {
    "rbf": (lambda: pc.TwoCSVM(*made(0), pc.RBF(1.0)), made(1, 40)),
    "linear": (lambda: pc.TwoCSVM(*made(0)), made(1, 40)),
    "weighted": (lambda: pc.TwoCSVM(*made(2), sample_weight=np.linspace(0.5, 2, 20)), made(3, 40)),
    "balanced": (lambda: pc.TwoCSVM(made(4)[0], np.where(np.arange(20) < 10, 1.0, -1.0)), made(5, 40)),
    "coinciding lines": (lambda: pc.TwoCSVM(*made(0)), with_copies(*made(1, 20))),
    "one line for all": (lambda: pc.TwoCSVM(*made(0)), (np.tile([[0.1, 0.2]], (9, 1)), np.repeat([1.0, -1.0], [4, 5]))),
    "training samples": (lambda: pc.TwoCSVM(*made(0)), made(0)),
    "duplicates": (lambda: pc.TwoCSVM(*with_copies(*made(6, 12))), made(7, 30)),
    "sparse": (lambda: pc.TwoCSVM(sp.csr_array(made(0)[0]), made(0)[1]), made(1, 40)),
}


@pytest.fixture(scope="module", params=CASES)
def mapped(request):
    make, (Z, truth) = CASES[request.param]
    svm = make()
    plane = pc.plane(svm, SQUARE, SQUARE)
    return svm, plane, Z, truth, plane.error_map(Z, truth)


def nearest(plane, Z, costs):
    """How near a score is to 0 at these costs, and these costs to a border of their region."""
    k = plane.region_at(*costs)
    scores = plane.score_maps(Z, [k])[0] @ [1.0, *costs]
    polygon = plane.regions[k].polygon
    step = np.roll(polygon, -1, axis=0) - polygon
    away = step[:, 0] * (costs[1] - polygon[:, 1]) - step[:, 1] * (costs[0] - polygon[:, 0])
    return min(np.abs(scores).min(), (away / np.linalg.norm(step, axis=1)).min())


def test_counts_anywhere_are_those_of_the_classifier(mapped):
    _, plane, Z, truth, found = mapped
    for costs in np.random.default_rng(0).uniform(*SQUARE, (40, 2)):
        if nearest(plane, Z, costs) > 1e-9:
            assert found.at(*costs) == errors(plane.at(*costs).classifier.predict(Z), truth)


def test_cvxpys_classifiers_make_these_errors(mapped):
    svm, plane, Z, truth, found = mapped
    points = [costs for costs in np.random.default_rng(1).uniform(*SQUARE, (6, 2)) if nearest(plane, Z, costs) > 1e-5]
    assert points
    for C_plus, C_minus in points:
        theirs = svm.solve(C_plus=C_plus, C_minus=C_minus).classifier
        if np.ptp(theirs.b_interval) < 1e-9:
            assert found.at(C_plus, C_minus) == errors(theirs.predict(Z), truth)


def test_each_cell_has_a_point_with_its_counts(mapped):
    _, plane, Z, _, found = mapped
    looked_at = [k for k, costs in enumerate(found.inside) if nearest(plane, Z, costs) > 1e-8]
    assert len(looked_at) > 0.5 * len(found.inside)
    for k in looked_at[::3]:
        assert found.at(*found.inside[k]) == tuple(found.inside_counts[k])


def test_the_counts_beside_each_piece_are_those_on_its_two_sides(mapped):
    _, plane, Z, _, found = mapped
    step = found.stop - found.start
    length = np.linalg.norm(step, axis=1)
    left = np.column_stack([-step[:, 1], step[:, 0]]) / np.maximum(length, 1e-300)[:, None]
    compared = 0
    for k in np.flatnonzero(length > 1e-4)[::3]:
        for side, sign in enumerate((1, -1)):
            costs = 0.5 * (found.start[k] + found.stop[k]) + sign * 1e-7 * left[k]
            if (costs > SQUARE[0]).all() and (costs < SQUARE[1]).all() and nearest(plane, Z, costs) > 1e-9:
                assert found.at(*costs) == tuple(found.counts[k, side])
                compared += 1
    assert compared > 5


def crossed(found, start, stop):
    """Where a line crosses pieces on which the counts differ, and what it crosses into."""
    u, v = stop - start, found.stop - found.start
    det = u[0] * v[:, 1] - u[1] * v[:, 0]
    w = found.start - start
    with np.errstate(divide="ignore", invalid="ignore"):
        t, s = (w[:, 0] * v[:, 1] - w[:, 1] * v[:, 0]) / det, (w[:, 0] * u[1] - w[:, 1] * u[0]) / det
    hit = np.flatnonzero((t > 0) & (t < 1) & (s >= 0) & (s <= 1))
    into_left = det[hit] < 0
    before = np.where(into_left[:, None], found.counts[hit, 1], found.counts[hit, 0])
    after = np.where(into_left[:, None], found.counts[hit, 0], found.counts[hit, 1])
    order = np.argsort(t[hit])
    return t[hit][order], before[order], after[order]


@pytest.mark.parametrize("seed", range(3))
def test_a_path_through_the_map_changes_its_errors_at_the_pieces_it_crosses(mapped, seed):
    svm, _, Z, truth, found = mapped
    rng = np.random.default_rng(seed)
    start, stop = np.array([rng.uniform(0.06, 0.5), rng.uniform(1, 1.45)]), np.array([1.45, rng.uniform(0.06, 0.6)])
    curve = pc.trace(svm, tuple(start), tuple(stop)).error_curve(Z, truth)
    t, before, after = crossed(found, start, stop)
    changes = (before != after).any(axis=1)
    t, after = t[changes], after[changes]
    both = np.column_stack([curve.false_positives, curve.false_negatives])
    theirs = curve.t[1:-1][(both[1:] != both[:-1]).any(axis=1)]
    for one, other in ((t, theirs), (theirs, t)):  # at a corner of a cell one of them may see two changes as one
        assert all(np.abs(other - each).min() < 1e-6 for each in one)
    for each, counts in zip(t, after, strict=True):
        later = each + 1e-7
        if np.abs(np.append(theirs, 0) - later).min() > 2e-8 and (np.abs(t - each) < 1e-6).sum() == 1:
            assert curve.counts(later) == tuple(counts)


def test_no_costs_are_better_than_the_best(mapped):
    svm, plane, Z, truth, found = mapped
    grid = [plane.at(*costs).classifier.predict(Z) for costs in np.random.default_rng(2).uniform(*SQUARE, (150, 2))]
    counts = np.array([errors(predicted, truth) for predicted in grid])
    for at in ((1.0, 1.0), (3.0, 1.0), (1.0, 4.0)):
        best = found.best(at)
        assert best.objective <= (counts @ [at[1], at[0]]).min() / truth.size + 1e-12
        assert best.objective == pytest.approx(
            (best.false_positives * at[1] + best.false_negatives * at[0]) / truth.size
        )
        path = pc.trace(svm, SQUARE, SQUARE[::-1]).error_curve(Z, truth)  # one line of the rectangle
        assert best.objective <= path.best(at)[0].objective + 1e-12
        if nearest(plane, Z, tuple(best.costs)) > 1e-9:
            assert found.at(*best.costs) == (best.false_positives, best.false_negatives)
    worst = (counts / [found.n_minus, found.n_plus]).max(axis=1)
    assert found.minimax().objective <= worst.min() + 1e-12


def test_level_sets_are_where_the_error_passes_the_level(mapped):
    _, _, _, truth, found = mapped
    shares = np.unique(found.inside_counts.sum(axis=1)) / truth.size
    for level in 0.5 * (shares[1:] + shares[:-1]):
        pieces = found.level(level)
        beside = found.counts.sum(axis=2) / truth.size
        assert len(pieces) == ((beside.min(axis=1) < level) & (beside.max(axis=1) > level)).sum() > 0
    assert len(found.level(2.0)) == 0


def test_by_hand():
    """Two samples at -1 and 1: w = min(C, 1/2), b = 0 where the costs are equal; one held-out sample on either side."""
    plane = pc.plane(pc.TwoCSVM([[1.0], [-1.0]], [1, -1]), (0.1, 1), (0.1, 1))
    found = plane.error_map([[3.0], [-3.0]], [1, -1])
    # w = 2 min(C_plus, C_minus, 1/2) and b = -+1 on the two sides of the diagonal below 1/2: f(+-3) = +-3 w + b.
    for C_plus, C_minus in ((0.1, 0.9), (0.3, 0.9), (0.9, 0.3), (0.9, 0.12), (0.9, 0.8)):
        w = min(2 * min(C_plus, C_minus), 1.0)
        b = 0.0 if w == 1.0 else (1 - w) * np.sign(C_plus - C_minus)
        assert found.at(C_plus, C_minus) == errors(
            np.where(np.array([3.0, -3.0]) * w + b >= 0, 1, -1), np.array([1, -1])
        )
    # 3 w = 1 - w at w = 1/4, C = 1/8: two lines to the diagonal; along it, up to there, b jumps over both samples.
    pieces = sorted(sorted(map(tuple, np.round(piece, 12).tolist())) for piece in found.level(0.25))
    assert pieces == [[(0.125, 0.125), (0.125, 1.0)], [(0.125, 0.125), (1.0, 0.125)]]
    (jump,) = np.flatnonzero(
        (found.counts == [[[0, 1], [1, 0]]]).all(axis=(1, 2)) | (found.counts == [[[1, 0], [0, 1]]]).all(axis=(1, 2))
    )
    assert np.sort(np.stack([found.start[jump], found.stop[jump]]), axis=0) == pytest.approx(
        np.array([[0.1] * 2, [0.125] * 2])
    )


def test_labels_are_checked(mapped):
    _, plane, Z, truth, found = mapped
    assert repr(found).startswith(f"ErrorMap({truth.size} samples, ")
    with pytest.raises(pc.InputError, match="one label per sample"):
        plane.error_map(Z, truth[1:])
    with pytest.raises(pc.InputError, match="both classes"):
        plane.error_map(Z, np.ones(truth.size))


def test_the_size_of_blocks_does_not_matter(mapped, monkeypatch):
    _, plane, Z, truth, found = mapped
    monkeypatch.setattr("paretoclf.path.regions.error_map._BLOCK", 40)
    again = plane.error_map(Z, truth)
    for name in ("start", "stop", "counts"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
    assert len(again.inside) == len(found.inside)
    assert again.best((2, 1)).objective == found.best((2, 1)).objective
