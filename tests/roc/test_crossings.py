"""Tests of `paretoclf.roc.crossings`."""

from __future__ import annotations

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.roc import of_path as of_path_module
from paretoclf.roc.crossings import distinct_changes, label_changes, scores_at
from paretoclf.roc.of_path import roc_of_scores
from tests.roc.test_curve import exhaustive_hull, path_scores, random_labels, random_scores


def test_first_labels_are_those_just_after_the_start():
    found = label_changes(path_scores([0, 1], [[0], [0], [0], [1]], [[-1], [1], [0], [1]]))
    assert found.first.tolist() == [False, True, True, True]


@pytest.mark.parametrize("seed", range(4))
def test_the_table_of_changes_leads_to_the_labels_at_every_t(seed):
    """Begin with the first labels and change one sample a row: these are the labels that scores have there."""
    scores = random_scores(np.random.default_rng(seed), 12, 5, whole=False, jumps=1.0)
    found = pc.roc.label_changes(scores)
    table = found.records()
    assert [row["t"] for row in table] == sorted(row["t"] for row in table)
    labels, passed = found.first.copy(), 0
    for t in np.linspace(0, 1, 997)[1:-1]:
        while passed < len(table) and table[passed]["t"] <= t:
            row = table[passed]
            assert labels[row["sample"]] == (row["label"] < 0)
            labels[row["sample"]] = row["label"] > 0
            passed += 1
        assert np.array_equal(labels, scores(t) >= 0)
    assert 0 < len({row["sample"] for row in table}) <= 12
    assert repr(found) == f"LabelChanges({len(table)} changes of {np.unique(found.sample).size} of 12 samples)"


def test_changes_are_of_scores():
    with pytest.raises(
        pc.InputError, match=r"scores must be PathScores, as path\.scores\(X\) returns them, got an array"
    ):
        pc.roc.label_changes(np.zeros(3))


@pytest.mark.parametrize("n_folds", [1, 2])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_both_is_the_hull_of_all_thresholds(n_folds, whole, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    folds = [random_scores(rng, 12, 5, whole=whole, jumps=1.0) for _ in range(n_folds)]
    labels = [random_labels(rng, 12) for _ in folds]
    y = np.concatenate(labels)
    curve = roc_of_scores(folds, labels, "both", n_grid=50)
    asymmetry = roc_of_scores(folds, labels, "asymmetry")
    points = set(zip(*(c.tolist() for c in asymmetry.counts), strict=True))
    positions = [(t, 1.0) for t in np.linspace(0, 1, 50)]
    positions += [(t, s) for fold in folds for t in fold.t for s in (0.0, 1.0)]
    for t, s in positions:
        f = np.concatenate([scores_at(fold, t, s)[:, 0] for fold in folds])
        for threshold in f:
            points.add((int(np.sum(f[y < 0] >= threshold)), int(np.sum(f[y > 0] >= threshold))))
    expected = exhaustive_hull(points, int(np.sum(y < 0)), int(np.sum(y > 0)))
    assert list(zip(*(c.tolist() for c in curve.counts), strict=True)) == expected
    monkeypatch.setattr(of_path_module, "BLOCK", 3 * len(y))
    blockwise = roc_of_scores(folds, labels, "both", n_grid=50)
    assert np.array_equal(blockwise.fpr, curve.fpr)
    assert np.array_equal(blockwise.tpr, curve.tpr)


def test_scores_at_sweeps_a_jump():
    scores = random_scores(np.random.default_rng(4), 3, 4, jumps=1.0)
    for j in (1, 2, 3):
        t = scores.t[j]
        at = scores_at(scores, t, np.array([0.0, 0.5, 1.0]))
        assert np.allclose(at, np.column_stack([scores.end[:, j - 1], at[:, 1], scores.start[:, j]]), atol=1e-14)
        assert np.allclose(at[:, 1], 0.5 * (at[:, 0] + at[:, 2]))
    between = np.array([0.1, 0.9])
    assert np.array_equal(scores_at(scores, between, 0.2), scores(between))


def test_close_changes_at_an_end_are_the_end():
    step = np.spacing(1.0)
    given = np.array([1.0, 0.0, 1.0 - 4 * step, 1e-14, 0.5, 0.5 + 1e-12, 0.5 + 4 * step])
    t, place = distinct_changes(given)
    np.testing.assert_array_equal(t, [0.0, 0.5 + 4 * step, 0.5 + 1e-12, 1.0])
    np.testing.assert_array_equal(place, [3, 0, 3, 0, 1, 2, 1])
