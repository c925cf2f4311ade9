"""Areas with their intervals, and the paired test, against sums over all pairs in fractions, and by simulation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

import paretoclf as pc
from paretoclf.roc.delong import area_difference, area_interval
from paretoclf.roc.of_path import roc_of_scores
from paretoclf.roc.scores import PathScores


def by_pairs(y, *scores):
    """Areas and their covariance by the definition: a sum over all pairs of samples."""
    kernel = [
        [[Fraction(int(a > b)) + Fraction(int(a == b), 2) for b in f[y < 0]] for a in f[y > 0]]
        for f in (np.asarray(s) for s in scores)
    ]
    m, n = int((y > 0).sum()), int((y < 0).sum())
    V = [[sum(row) / n for row in table] for table in kernel]
    W = [[sum(row[j] for row in table) / m for j in range(n)] for table in kernel]
    area = [sum(v) / m for v in V]

    def covariance(values, r, s):
        products = ((a - area[r]) * (b - area[s]) for a, b in zip(values[r], values[s], strict=True))
        return sum(products) / (len(values[r]) - 1)

    both = range(len(scores))
    return area, [[covariance(V, r, s) / m + covariance(W, r, s) / n for s in both] for r in both]


def sample(seed, n=37, ties=True):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    y[:4] = 1, 1, -1, -1
    first = y + 1.5 * rng.normal(size=n)
    second = 0.5 * first + 0.5 * y + rng.normal(size=n)
    return (y, np.round(first), np.round(second)) if ties else (y, first, second)


@pytest.mark.parametrize("ties", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_areas_and_errors_are_those_of_the_definition(seed, ties):
    y, first, second = sample(seed, ties=ties)
    area, covariance = by_pairs(y, first, second)
    found = area_interval(y, first)
    assert found.area == float(area[0]) == pytest.approx(roc_auc_score(y > 0, first))
    assert found.error == pytest.approx(np.sqrt(float(covariance[0][0])))
    both = area_difference(y, first, second)
    assert both.difference == float(area[0] - area[1])
    error = np.sqrt(float(covariance[0][0] + covariance[1][1] - 2 * covariance[0][1]))
    assert both.z == pytest.approx(both.difference / error)
    assert both.p == pytest.approx(2 * norm.sf(abs(both.z)))
    assert (both.low, both.high) == pytest.approx(
        (both.difference - 1.959964 * error, both.difference + 1.959964 * error), abs=1e-6
    )


def test_symmetries():
    y, first, second = sample(7)
    one, other = area_interval(y, first), area_interval(-y, -np.asarray(first))
    assert (one.area, one.error) == pytest.approx((other.area, other.error))
    assert area_interval(y, 3 * first + 1) == one
    assert area_difference(y, first, second).p == pytest.approx(area_difference(y, second, first).p)
    equal = area_difference(y, first, 2 * first)
    assert (equal.difference, equal.z, equal.p, equal.low, equal.high) == (0, 0, 1, 0, 0)


def test_the_interval_covers_as_often_as_it_says():
    """Two normal scores: the area of the population is known. 2000 samples of 40 and 60."""
    rng = np.random.default_rng(0)
    truth, y = norm.cdf(1 / np.sqrt(2)), np.repeat([1.0, -1.0], [40, 60])
    draws = rng.normal(size=(2000, 100)) + (y > 0)
    found = [area_interval(y, f, level=0.9) for f in draws]
    covered = np.mean([each.low <= truth <= each.high for each in found])
    assert covered == pytest.approx(0.9, abs=3 * np.sqrt(0.09 / 2000) + 0.01)


def test_the_paired_test_rejects_as_often_as_it_says():
    rng = np.random.default_rng(1)
    y = np.repeat([1.0, -1.0], [40, 60])
    shared = rng.normal(size=(2000, 100)) + (y > 0)
    first, second = (shared + rng.normal(size=shared.shape) for _ in range(2))  # equally good, correlated
    rejected = np.mean([area_difference(y, a, b).p < 0.1 for a, b in zip(first, second, strict=True)])
    assert rejected == pytest.approx(0.1, abs=3 * np.sqrt(0.09 / 2000) + 0.01)


def test_intervals_keep_to_what_an_area_and_a_difference_can_be():
    """Far from each other, of few samples: the normal interval reaches beyond, the one that is said does not."""
    y = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    good, bad = np.array([3.0, 2.0, 0.0, 1.0, -1.0, -2.0]), np.array([-3.0, -2.0, 0.0, -1.0, 1.0, 2.0])
    for first, second, sign in ((good, bad, 1), (bad, good, -1)):
        both = area_difference(y, first, second)
        half = norm.ppf(0.975) * abs(both.difference / both.z)
        assert sign * both.difference == pytest.approx(7 / 9)
        assert abs(both.difference) + half > 1
        inner = abs(both.difference) - half
        assert (both.low, both.high) == pytest.approx((inner, 1) if sign > 0 else (-1, -inner))
    for scores, ends in ((good, (None, 1)), (bad, (0, None))):
        one = area_interval(y, scores)
        half = norm.ppf(0.975) * one.error
        assert (one.low, one.high) == pytest.approx(
            (one.area - half if ends[0] is None else 0, one.area + half if ends[1] is None else 1)
        )
        assert one.area - half < 0 or one.area + half > 1


def test_perfect_scores_have_an_interval_of_one_point():
    y = np.repeat([1.0, -1.0], 5)
    found = area_interval(y=y, scores=y)
    assert (found.area, found.low, found.high, found.error) == (1, 1, 1, 0)
    against = area_difference(y, y, -y)
    assert (against.difference, against.z, against.p) == (2 / 2, np.inf, 0)
    alike = area_interval(y, np.zeros(10))
    assert (alike.area, alike.low, alike.high) == (0.5, 0.5, 0.5)
    for each in (found, against, alike, area_difference(y, y, y)):
        assert each.note.startswith("no standard error")
        assert each.note in str(each)
    usual = area_interval(y, np.arange(10) % 7)
    assert usual.note == ""
    assert "no standard error" not in str(usual)


def test_scores_and_labels_in_either_order_or_by_name():
    rng = np.random.default_rng(0)
    y, scores = np.repeat([1.0, -1.0], 6), rng.normal(size=12)
    usual = area_interval(y, scores)
    for given in ((scores, y), (scores.tolist(), y.tolist())):
        assert area_interval(*given) == usual
    assert area_interval(y=y, scores=scores) == area_interval(y, scores=scores) == area_interval(scores, y=y) == usual
    assert area_interval(y, scores, 0.9) == area_interval(scores, y, level=0.9) != usual
    curve = roc_of_scores(scores, y)
    for other in (roc_of_scores(y, scores), roc_of_scores(y=y, scores=scores), roc_of_scores(y, scores=scores)):
        assert (other.fpr == curve.fpr).all()
        assert (other.tpr == curve.tpr).all()
    said = rng.permutation(y)
    for function in (area_interval, roc_of_scores):
        with pytest.raises(pc.InputError, match="told apart by their names, scores= and y=: both hold -1 and"):
            function(said, y)
        function(scores=said, y=y)
        for given in ((), (y,)):
            with pytest.raises(pc.InputError, match="scores and y must be given, each once"):
                function(*given)
        with pytest.raises(pc.InputError, match="scores and y must be given, each once"):
            function(scores, y, y=y)
    assert area_interval(y=y, scores=said).area == pytest.approx(roc_of_scores(scores=said, y=y).auc, abs=1e-15)


def test_scores_along_folds_in_either_order():
    fold = PathScores(np.array([0.0, 1.0]), np.array([[-2.0], [-1.0]]), np.array([[1.0], [2.0]]))
    labels = [[-1, 1], [1, -1]]
    expected = roc_of_scores([fold, fold], labels, "asymmetry")
    found = roc_of_scores(labels, [fold, fold], "asymmetry")
    assert (found.fpr == expected.fpr).all()
    assert (found.tpr == expected.tpr).all()
    one = roc_of_scores([-1, 1], fold, "asymmetry")
    assert (one.fpr == roc_of_scores(fold, [-1, 1], "asymmetry").fpr).all()


def test_bad_input():
    y = [1, 1, -1, -1]
    with pytest.raises(pc.InputError, match="y must have at least two positive samples, got 1"):
        area_interval([1, -1, -1], [1, 2, 3])
    with pytest.raises(pc.InputError, match="level must lie strictly between 0 and 1, got 95"):
        area_interval(y, [1, 2, 3, 4], level=95)
    with pytest.raises(pc.InputError, match="scores"):
        area_interval(y, [1, 2, 3, np.nan])
    with pytest.raises(pc.InputError, match="scores"):
        area_difference(y, [1, 2, 3, 4], [1, 2, 3])


@pytest.mark.parametrize("function", [area_interval, roc_of_scores, pc.roc.rate_intervals])
def test_labels_are_not_guessed(function):
    rng = np.random.default_rng(0)
    y, scores = np.repeat([0, 1], 6), rng.random(12)
    said = np.where(rng.random(12) < 0.5, 1, -1)
    for given in ((y, said), (said, y)):  # a detector's -1 and +1 are no labels
        with pytest.raises(pc.InputError, match=r"the other \{0, 1\}; write f\(y=\.\.\., scores=\.\.\.\)"):
            function(*given)
    for given in ((y, scores), (scores, y)):
        with pytest.raises(pc.InputError, match=r"labels -1 and \+1, got \{0, 1\}.*f\(y, scores, pos_label=1\)"):
            function(*given)
    with pytest.raises(pc.InputError, match=r"pos_label must be one of the labels of y, \{0, 1\}, got 2"):
        function(y, scores, pos_label=2)
    with pytest.raises(pc.InputError, match="neither holds"):
        function(scores, 2 * scores)


def test_any_two_labels_with_the_positive_one_named():
    rng = np.random.default_rng(0)
    y, scores = np.repeat([0, 1], 6), rng.random(12)
    said = np.where(rng.random(12) < 0.5, 1, -1)
    assert area_interval(y, scores, pos_label=1).area == pytest.approx(roc_auc_score(y, scores))
    assert area_interval(y, said, pos_label=1).area == pytest.approx(roc_auc_score(y, said))
    assert area_interval(y=y, scores=scores, pos_label=0).area == pytest.approx(1 - roc_auc_score(y, scores))
    texts = np.where(y == 1, "ill", "well")
    assert roc_of_scores(texts, scores, pos_label="ill").auc == pytest.approx(roc_auc_score(y, scores))
    both = area_difference(texts, scores, -scores, pos_label="ill")
    assert both.difference == pytest.approx(2 * roc_auc_score(y, scores) - 1)
    rates = pc.roc.rate_intervals(y, said, pos_label=1)
    assert (rates.fpr.errors, rates.fnr.errors) == (np.sum((y == 0) & (said > 0)), np.sum((y == 1) & (said < 0)))
