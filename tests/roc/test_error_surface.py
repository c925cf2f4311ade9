"""Errors over t and the shift: counts, the best shift and the best pair, against every threshold tried one by one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.roc.error_curve import ErrorCurve
from paretoclf.roc.error_surface import ErrorSurface
from paretoclf.roc.scores import PathScores

G = np.array([0.003, 0.2, 0.5, 0.61, 0.997])


def made(seed, ties=False):
    """Scores of three folds along invented paths, with jumps; whole numbers where there are to be ties."""
    rng = np.random.default_rng(seed)
    folds, labels = [], []
    for k in range(3):
        t = np.concatenate([[0.0], np.sort(rng.random(k + 1)), [1.0]])
        start, end = rng.normal(size=(2, 7, t.size - 1)) + rng.normal()
        if ties:
            start, end = np.rint(start), np.rint(end)
        folds.append(PathScores(t, start, end))
        labels.append(np.where(rng.random(7) < 0.4, 1.0, -1.0))
    labels[0][:2] = -1.0, 1.0
    return folds, labels


def tried(folds, labels, t, g):
    """Smallest cost at some t, exactly, by trying a threshold between any two different scores."""
    scores = np.concatenate([fold(float(t)) for fold in folds])
    y, weight = np.concatenate(labels), Fraction(float(g))
    best = None
    for threshold in [-np.inf, *np.unique(scores)[:-1], np.inf]:
        positive = scores > threshold
        cost = weight * int((~positive & (y > 0)).sum()) + (1 - weight) * int((positive & (y < 0)).sum())
        best = cost if best is None else min(best, cost)
    return best


def cost(surface, g, t, shift):
    """The exact cost of all folds together."""
    fp, fn = surface.counts(float(t), float(shift)).sum(axis=0).tolist()
    return Fraction(float(g)) * fn + (1 - Fraction(float(g))) * fp


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_shift_and_the_best_pair_are_those_of_trying_all(seed, ties):
    folds, labels = made(seed, ties)
    surface = ErrorSurface(folds, labels)
    t = np.linspace(0, 1, 9)
    at, by = surface.best(G, t)
    for j, g in enumerate(G):
        shifts = surface.best_shifts(np.full(t.size, g), t)
        each = [tried(folds, labels, s, g) for s in t]
        assert [cost(surface, g, s, b) for s, b in zip(t, shifts, strict=True)] == each
        assert at[j] in t
        assert cost(surface, g, at[j], by[j]) == min(each)


def test_counts_and_costs_of_each_fold_are_those_of_its_samples():
    folds, labels = made(3)
    surface = ErrorSurface(folds, labels)
    t, shift = np.array([0.1, 0.5, 1.0]), np.array([0.3, -np.inf, np.inf])
    found, costs = surface.counts(t, shift), surface.costs(0.3, t, shift)
    for j in range(3):
        for k, (fold, y) in enumerate(zip(folds, labels, strict=True)):
            positive = fold(float(t[j])) + shift[j] >= 0
            fp, fn = np.sum(positive & (y < 0)), np.sum(~positive & (y > 0))
            assert found[j, k].tolist() == [fp, fn]
            assert costs[j, k] == pytest.approx((2 * 0.3 * fn + 2 * 0.7 * fp) / 7)


def test_at_one_half_the_cost_is_the_share_of_errors():
    folds, labels = made(4)
    surface = ErrorSurface(folds, labels)
    assert surface.costs(0.5, 0.2)[0] == pytest.approx(surface.counts(0.2).sum(axis=1) / 7)


@pytest.mark.parametrize("shift", [0.0, 0.25, -1.5])
def test_the_curve_at_a_shift_has_the_counts_of_the_surface(shift):
    folds, labels = made(5)
    surface = ErrorSurface(folds, labels)
    curve = surface.curve(shift)
    for t in np.random.default_rng(0).random(20):
        assert curve.counts(t) == tuple(surface.counts(t, shift).sum(axis=0))
    if shift == 0:
        same = ErrorCurve.of_scores(folds, labels)
        assert np.array_equal(same.t, curve.t)
        assert np.array_equal(same.false_positives, curve.false_positives)


def test_a_shift_is_zero_where_nothing_is_gained_by_one():
    folds, labels = made(0)
    perfect = [PathScores(f.t, np.repeat(y[:, None], f.t.size - 1, 1), np.repeat(y[:, None], f.t.size - 1, 1) * 1.5)
               for f, y in zip(folds, labels, strict=True)]  # fmt: skip
    surface = ErrorSurface(perfect, labels)
    assert np.array_equal(surface.best_shifts(G, 0.5), np.zeros(G.size))
    assert np.array_equal(surface.best(G, [0.0, 0.5, 1.0])[1], np.zeros(G.size))


def test_of_equally_good_t_the_one_trained_for_the_costs_is_taken():
    y = np.array([-1.0, 1.0])
    line = pc.results.CostLine(pc.Costs(0.0, 2.0), pc.Costs(2.0, 0.0))
    flat = PathScores(np.array([0.0, 1.0]), y[:, None], y[:, None])
    at, _ = ErrorSurface([flat], [y], line).best(G, np.linspace(0, 1, 1001))
    assert at == pytest.approx(G)


@pytest.mark.parametrize(
    ("start", "stop", "where"),
    [
        ((0, 3), (1, 0), lambda g: 3 * g / (1 + 2 * g)),  # t = g (3 - 2 t)
        ((1, 0), (0, 3), lambda g: (1 - g) / (1 + 2 * g)),
        ((1, 3), (2, 1), lambda g: np.clip((4 * g - 1) / (1 + g), 0, 1)),  # 1 + t = g (4 - t), from 1/4 to 2/3
        ((0, 0), (2, 1), lambda g: np.full(g.size, 0.5)),
        ((1, 2), (2, 4), lambda g: np.full(g.size, 0.5)),
    ],
)
def test_the_costs_of_use_are_found_on_any_line(start, stop, where):
    y = np.array([-1.0, 1.0])
    flat = PathScores(np.array([0.0, 1.0]), y[:, None], y[:, None])
    surface = ErrorSurface([flat], [y], pc.results.CostLine(pc.Costs(*start), pc.Costs(*stop)))
    np.testing.assert_allclose(surface.trained_for(G), where(G), atol=1e-15)


def test_copies_with_both_labels_are_never_separated():
    svm = pc.TwoCSVM([[0.0, 1.0], [1.0, 0.1], [0.3, 0.7], [0.3, 0.7], [0.9, 0.2]], [-1, 1, 1, -1, 1])
    path = pc.trace(svm, (0.1, 1.9), (1.9, 0.1), progress=False)
    surface = ErrorSurface([path.scores([[0.3, 0.7], [0.3, 0.7], [0.8, 0.0], [0.1, 0.9]])], [[1, -1, 1, -1]])
    at, shift = surface.best(G, np.linspace(0, 1, 51))
    assert (surface.counts(at, shift)[:, 0].sum(axis=1) >= 1).all()


@pytest.mark.parametrize("g", [0.0, 1.0, -0.1, np.nan, [], [[0.5]]])
def test_a_testing_asymmetry_lies_strictly_between_0_and_1(g):
    folds, labels = made(0)
    with pytest.raises(pc.InputError, match="asymmetries must be numbers strictly between 0 and 1"):
        ErrorSurface(folds, labels).best(g, [0.5])


def test_an_empty_fold_is_refused():
    folds, labels = made(0)
    empty = PathScores(folds[0].t, np.zeros((0, folds[0].t.size - 1)), np.zeros((0, folds[0].t.size - 1)))
    with pytest.raises(pc.InputError, match=r"folds\[1\] must have samples, got none"):
        ErrorSurface([folds[0], empty], [labels[0], []])


def test_folds_without_test_samples_or_none_at_all_are_refused():
    X, y = np.random.default_rng(0).normal(size=(12, 2)), np.repeat([-1.0, 1.0], 6)
    svm = pc.TwoCSVM(X, y)
    with pytest.raises(pc.InputError, match="folds must be at least one"):
        pc.cross_validated_errors(svm, (0.1, 1.9), (1.9, 0.1), folds=[])
    with pytest.raises(pc.InputError, match=r"folds\[0\] must have test samples, got none"):
        pc.cross_validated_surface(svm, (0.1, 1.9), (1.9, 0.1), folds=[(np.arange(12), np.zeros(0, dtype=int))])
    with pytest.raises(pc.InputError, match=r"at most the size of the smaller class \(6\)"):
        pc.cross_validated_surface(svm, (0.1, 1.9), (1.9, 0.1), folds=7)
