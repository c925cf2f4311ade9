"""The area curve against every pair in rational arithmetic, and against scikit-learn."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from paretoclf.common.errors import InputError
from paretoclf.roc import AreaCurve, area_curve
from paretoclf.roc.scores import PathScores


def random_scores(rng, most=4, jumps=True):
    """One sample's scores: whole numbers at knots that are multiples of 1/16."""
    inner = np.sort(rng.choice(np.arange(1, 16), size=rng.integers(0, most), replace=False)) / 16
    t = np.concatenate([[0.0], inner, [1.0]])
    values = rng.integers(-4, 5, size=t.size) * 1.0
    end = values[1:].copy()
    if jumps:
        end += rng.integers(-1, 2, size=end.size) * (rng.uniform(size=end.size) < 0.3)
    return PathScores(t, values[None, :-1], end[None])


def score(path, t):
    """Score at a fraction, from the right, or from the left at the end."""
    piece = max(j for j in range(path.t.size - 1) if Fraction(path.t[j]) <= t)
    left, right = Fraction(path.t[piece]), Fraction(path.t[piece + 1])
    start, end = Fraction(path.start[0, piece]), Fraction(path.end[0, piece])
    return start + (end - start) * (t - left) / (right - left)


def area(scores, y, t):
    values = [score(path, t) for path in scores]
    plus = [v for v, label in zip(values, y, strict=True) if label > 0]
    minus = [v for v, label in zip(values, y, strict=True) if label < 0]
    twice = sum((p > m) * 2 + (p == m) for p in plus for m in minus)
    return Fraction(twice, 2 * len(plus) * len(minus))


def special(scores):
    """Every t at which an order may change: knots and crossings."""
    knots = sorted({Fraction(t) for path in scores for t in path.t})
    found = set(knots)
    for left, right in pairwise(knots):
        third = (right - left) / 3
        ends = [(score(path, left + third), score(path, right - third)) for path in scores]
        for i, one in enumerate(ends):
            for other in ends[:i]:
                first, second = one[0] - other[0], one[1] - other[1]
                if first != second:
                    t = left + third + third * first / (first - second)
                    if left < t < right:
                        found.add(t)
    return sorted(found)


def is_the_area(curve, scores, y):
    points = special(scores)
    assert (curve.t[0], curve.t[-1]) == (points[0], points[-1])
    assert (np.diff(curve.t) > 1e-9).all()
    for t in points:
        j = int(np.abs(curve.t - float(t)).argmin())
        near = curve.t[j] if abs(curve.t[j] - float(t)) < 1e-12 else float(t)
        assert curve(near) == float(area(scores, y, t))
    for left, right in pairwise(points):
        middle = (left + right) / 2
        assert curve(float(middle)) == float(area(scores, y, middle))
    allowed = np.array([float(t) for t in points])
    assert max(np.abs(allowed - t).min() for t in curve.t) < 1e-12


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sizes", [{}, {"_CELLS": 1}, {"_CELLS": 3, "_PAIRS": 1}, {"_PAIRS": 8}])
def test_every_pair_is_ordered(seed, sizes, monkeypatch):
    for name, size in sizes.items():
        monkeypatch.setattr(area_curve, name, size)
    rng = np.random.default_rng(seed)
    scores = [random_scores(rng) for _ in range(6)]
    y = [1, -1, 1, -1, 1, -1]
    is_the_area(AreaCurve.of_scores(scores, y), scores, y)


def test_many_samples_against_scikit_learn():
    rng = np.random.default_rng(0)
    y = np.where(rng.uniform(size=60) < 0.4, 1, -1)
    scores = [random_scores(rng, most=9, jumps=False) for _ in y]
    curve = AreaCurve.of_scores(scores, y)
    for t in rng.uniform(size=20):
        assert curve(t) == pytest.approx(roc_auc_score(y, [round(path(t)[0], 9) for path in scores]), abs=1e-14)


def line(start, end, note=""):
    return PathScores(np.array([0.0, 1.0]), np.array([[start]]), np.array([[end]]), note)


def test_a_tie_along_the_line_counts_one_half():
    curve = AreaCurve.of_scores([line(1.0, 2.0), line(1.0, 2.0), line(9.0, -9.0)], [1, -1, -1])
    assert (curve(0.1), curve(1.0)) == (0.25, 0.75)


@pytest.mark.parametrize(("apart", "expected"), [(1e-16, 0.5), (-1e-16, 0.5), (1e-6, 1.0), (-1e-6, 0.0)])
def test_differences_by_rounding_alone_are_ties(apart, expected):
    curve = AreaCurve.of_scores([line(1.0 + apart, 1.0 + apart), line(1.0, 1.0)], [1, -1])
    np.testing.assert_array_equal(curve.area, np.full(curve.area.size, expected))
    np.testing.assert_array_equal(curve.area_at, np.full(curve.t.size, expected))
    touching = AreaCurve.of_scores([line(1.0 + 2 * apart, 3.0), line(1.0, 0.0)], [1, -1])
    assert touching(0.0) == expected


def test_crossings_that_differ_by_rounding_are_one():
    ends = [(0.1, -0.3), (0.2, -0.6), (0.3, -0.9), (0.7, -2.1)]
    scores = [line(*end) for end in ends] + [line(0.0, 0.0)]
    curve = AreaCurve.of_scores(scores, [1, 1, 1, 1, -1])
    np.testing.assert_allclose(curve.t, [0.0, 0.25, 1.0])
    assert (curve.area.tolist(), curve.area_at.tolist()) == ([1.0, 0.0], [1.0, 0.5, 0.0])


class TestCurve:
    curve = AreaCurve(np.array([0.0, 0.25, 0.5, 1.0]), np.array([0.2, 0.9, 0.4]), np.array([0.1, 0.3, 0.6, 0.5]), "old")

    @pytest.mark.parametrize(
        ("t", "expected"), [(0, 0.1), (0.1, 0.2), (0.25, 0.3), (0.3, 0.9), (0.5, 0.6), (0.75, 0.4), (1, 0.5)]
    )
    def test_at(self, t, expected):
        assert self.curve(t) == expected

    @pytest.mark.parametrize("t", [-0.1, 1.1, np.nan])
    def test_outside(self, t):
        with pytest.raises(InputError, match="t must"):
            self.curve(t)

    def test_text(self):
        assert repr(self.curve) == "AreaCurve(2 changes, largest 0.9000 on (0.25, 0.5); old)"


def test_notes_and_labels():
    scores = [line(0.0, 1.0, "of old scores"), line(1.0, 0.0, "of old scores")]
    assert AreaCurve.of_scores(scores, [1, -1]).note == "of old scores"
    with pytest.raises(InputError, match=r"one label per PathScores \(2\), got 3"):
        AreaCurve.of_scores(scores, [1, -1, 1])
    with pytest.raises(InputError):
        AreaCurve.of_scores(scores, [1, 1])
