"""Criteria, windows and searches, on arrays with known answers."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.errors import InputError
from paretoclf.tuning import (
    ExpectedCost,
    GaussianWindow,
    MedianWindow,
    Minimax,
    NeymanPearson,
    NeymanPearsonScore,
    choose,
    coordinate_descent,
    grid_search,
    smooth,
)
from paretoclf.tuning.search import nearest
from paretoclf.tuning.smoothing import needed
from paretoclf.tuning.tune import centre, descent_2d

# ---- criteria -------------------------------------------------------------------------------------------------------


def test_criteria_by_hand():
    fpr, fnr = np.array([0.05, 0.1, 0.3]), np.array([0.5, 0.4, 0.0])
    assert Minimax()(fpr, fnr).tolist() == [0.5, 0.4, 0.3]
    assert NeymanPearson(0.1)(fpr, fnr).tolist() == [0.5, 0.4, np.inf]
    assert NeymanPearson(0.1).score(fpr, fnr) == pytest.approx([0.5, 0.4, 2.0])
    assert NeymanPearsonScore(0.1)(fpr, fnr) == pytest.approx([0.5, 0.4, 2.0])
    assert ExpectedCost(2.0, 1.0, 0.25)(fpr, fnr) == pytest.approx([0.2875, 0.275, 0.225])


def test_three_of_thirty_are_not_more_than_a_tenth():
    assert np.isfinite(NeymanPearson(0.1)(3 / 30, 0.5))
    assert np.isfinite(NeymanPearson(0.3)(0.1 + 0.2, 0.5))  # 0.30000000000000004: rounding is no violation
    assert NeymanPearson(0.1)(4 / 30, 0.5) == np.inf


def test_what_is_nan_stays_nan():
    for criterion in (
        Minimax(),
        NeymanPearson(0.1),
        NeymanPearsonScore(0.1),
        ExpectedCost(1, 1, 0.5),
    ):
        assert np.isnan(criterion(np.nan, np.nan))
        assert np.isnan(criterion.score(np.nan, np.nan))


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 1.5, np.nan, "much"])
def test_alpha_outside_the_open_interval(alpha):
    for criterion in (NeymanPearson, NeymanPearsonScore):
        with pytest.raises(InputError, match="alpha must"):
            criterion(alpha)


def test_costs_that_are_none():
    with pytest.raises(InputError, match="C_plus must be a finite nonnegative number, got -1"):
        ExpectedCost(-1, 1, 0.5)
    with pytest.raises(InputError, match="must not both be 0"):
        ExpectedCost(0, 0, 0.5)
    with pytest.raises(InputError, match="prior_plus must lie strictly"):
        ExpectedCost(1, 1, 1.0)


# ---- smoothing ------------------------------------------------------------------------------------------------------


def by_hand(values, window):
    """The same in loops: weights of the cells that are there, made to add up to 1."""
    axes = (1, 2) if window.dimensions == 2 and values.ndim == 3 else range(values.ndim)
    reach = [range(-(window.size // 2), window.size // 2 + 1) if k in axes else (0,) for k in range(values.ndim)]
    out = np.full(values.shape, np.nan)
    for cell in product(*map(range, values.shape)):
        if np.isnan(values[cell]):
            continue
        total = weight = 0.0
        for step in product(*reach):
            other = tuple(np.add(cell, step))
            if all(0 <= i < n for i, n in zip(other, values.shape, strict=True)) and not np.isnan(values[other]):
                w = np.exp(-sum(j**2 for j in step) / (2 * window.deviation**2))
                total, weight = total + w * values[other], weight + w
        out[cell] = total / weight
    return out


def test_the_numbers_of_the_3_by_3_window():
    """W1: centre, edge, corner; and with three axes centre, face, edge, corner."""
    impulse = np.zeros((1, 5, 5))
    impulse[0, 2, 2] = 1.0
    found = smooth(impulse, GaussianWindow(2))[0]
    assert [found[2, 2], found[2, 1], found[1, 1]] == pytest.approx([0.204180, 0.123841, 0.075114], abs=1e-6)
    impulse = np.zeros((5, 5, 5))
    impulse[2, 2, 2] = 1.0
    found = smooth(impulse, GaussianWindow(3))
    assert [found[2, 2, 2], found[1, 2, 2], found[1, 1, 2], found[1, 1, 1]] == pytest.approx(
        [0.092261, 0.055959, 0.033941, 0.020586], abs=1e-6
    )
    assert found.sum() == pytest.approx(1.0)


def test_a_constant_stays_what_it_is_at_edges_and_corners():
    """Zeros outside would multiply an edge by .726 and a corner by .527: minima where there are none (W2)."""
    for window in (
        GaussianWindow(2),
        GaussianWindow(3),
        GaussianWindow(3, 5, 2.0),
        MedianWindow(3),
    ):
        assert np.array_equal(smooth(np.full((3, 4, 5), 0.3), window), np.full((3, 4, 5), 0.3))


@pytest.mark.parametrize("window", [GaussianWindow(2), GaussianWindow(3), GaussianWindow(3, 5, 0.7)])
@pytest.mark.parametrize("shape", [(3, 4, 5), (4, 6), (1, 1, 1)])
def test_windows_against_loops_with_cells_that_have_no_classifier(window, shape):
    rng = np.random.default_rng(0)
    values = rng.random(shape)
    values[rng.random(shape) < 0.3] = np.nan
    assert np.allclose(smooth(values, window), by_hand(values, window), equal_nan=True, atol=1e-11)


def test_a_cell_without_a_classifier_is_left_out_and_stays_out():
    values = np.array([[[0.2, np.nan, 0.4]]])
    assert np.isnan(smooth(values, GaussianWindow(2))[0, 0, 1])
    assert smooth(values, GaussianWindow(2))[0, 0, [0, 2]].tolist() == [0.2, 0.4]


def test_a_median_by_hand():
    values = np.array([[[0.0, 0.1, 0.9], [0.2, 1.0, 0.3], [np.nan, 0.4, 0.5]]])
    found = smooth(values, MedianWindow(2))[0]
    assert found[1, 1] == pytest.approx(0.35)  # of 0, .1, .2, .3, .4, .5, .9, 1
    assert found[0, 0] == pytest.approx(0.15)  # of 0, .1, .2, 1
    assert np.isnan(found[2, 0])


def test_two_dimensions_leave_bandwidths_apart_and_three_do_not():
    values = np.zeros((3, 3, 3))
    values[1] = 1.0
    assert np.array_equal(smooth(values, GaussianWindow(2)), values)
    assert smooth(values, GaussianWindow(3))[1, 1, 1] == pytest.approx(0.451863, abs=1e-6)


def test_rates_are_smoothed_before_the_criterion_is_formed():
    """Erratum eD7: the other order is never smaller (Jensen), chooses other cells, and is infinite for NP."""
    rng, other = np.random.default_rng(0), 0
    window = GaussianWindow(2)
    for _ in range(100):
        fpr, fnr = rng.random((2, 1, 6, 6))
        a, b = smooth(fpr, window), smooth(fnr, window)
        printed = smooth(np.maximum(fpr, fnr), window)
        assert (np.maximum(a, b) <= printed + 1e-12).all()
        other += choose(Minimax(), a, b).cell != np.unravel_index(printed.argmin(), printed.shape)
    assert other > 10
    criterion = NeymanPearson(0.5)
    assert not np.isfinite(smooth(criterion(fpr, fnr), window)).any()
    assert np.isfinite(criterion(a, b)).any()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: GaussianWindow(4), "dimensions must be 2 or 3, got 4"),
        (lambda: GaussianWindow(3, 2), "size must be an odd whole number, got 2"),
        (lambda: GaussianWindow(3, 3, 0.0), "deviation must be"),
        (lambda: MedianWindow(2, -1), "size must be an odd whole number, got -1"),
        (lambda: pc.tune([[0.0], [1.0]], [-1, 1], smoothing="4d"), "smoothing must be 'none', '2d', '3d'"),
    ],
)
def test_windows_that_are_none(make, words):
    with pytest.raises(InputError, match=words):
        make()


# ---- the best cell --------------------------------------------------------------------------------------------------


def test_the_smallest_objective_wins():
    fpr, fnr = np.array([[0.3, 0.2], [0.1, 0.4]]), np.array([[0.1, 0.2], [0.3, 0.0]])
    assert choose(Minimax(), fpr, fnr).cell == (0, 1)
    assert choose(NeymanPearson(0.3), fpr, fnr).cell == (0, 0)


def test_ties_by_the_sum_of_both_rates():
    fpr, fnr = np.array([0.3, 0.3, 0.1]), np.array([0.3, 0.1, 0.3])
    assert choose(Minimax(), fpr, fnr).cell == (1,)  # sums .6, .4, .4: the second and third are still tied


def test_ties_by_the_centroid_of_the_tied_cells_then_by_index():
    tied = np.ones((5, 5))
    tied[1:4, 1:4] = 0.2  # nine equal cells around (2, 2)
    assert choose(Minimax(), tied, tied).cell == (2, 2)
    tied[2, 2] = 1.0  # now eight: four are nearest, the first of them in the order of indices
    assert choose(Minimax(), tied, tied).cell == (1, 2)


def test_rounding_breaks_no_ties():
    a = np.array([0.1 + 0.2, 0.3, 0.3])
    assert choose(Minimax(), a, a).cell == (1,)


def test_costs_are_compared_in_fractions():
    """Counts are whole numbers and weights are fractions: a small unit makes no ties, a large one breaks none."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        n_plus, n_minus = (int(n) for n in rng.integers(2, 60, 2))
        fp, fn = rng.integers(0, n_minus + 1, (4, 5)), rng.integers(0, n_plus + 1, (4, 5))
        a, b, p = (int(k) for k in rng.integers(1, 10, 3))
        weights = Fraction(p * a, 10 * n_plus), Fraction((10 - p) * b, 10 * n_minus)
        costs = {cell: weights[0] * int(fn[cell]) + weights[1] * int(fp[cell]) for cell in np.ndindex(4, 5)}
        sums = {cell: Fraction(int(fp[cell]), n_minus) + Fraction(int(fn[cell]), n_plus) for cell in costs}
        best = min((costs[cell], sums[cell]) for cell in costs)
        tied = [cell for cell in costs if (costs[cell], sums[cell]) == best]
        middle = [Fraction(sum(cell[k] for cell in tied), len(tied)) for k in (0, 1)]
        expected = min(tied, key=lambda cell: sum((cell[k] - middle[k]) ** 2 for k in (0, 1)))
        for unit in (1e-12, 1.0, 1e9):
            step = choose(ExpectedCost(a * unit, b * unit, p / 10), fp / n_minus, fn / n_plus)
            assert step.cell == expected
            assert step.objective == pytest.approx(unit * float(best[0]), rel=1e-14)


def test_a_criterion_with_an_objective_of_its_own_is_not_its_parent():
    class Squares(Minimax):
        def __call__(self, fpr, fnr):
            return np.square(fpr) + np.square(fnr)

        def score(self, fpr, fnr):
            return self(fpr, fnr)

    assert choose(Squares(), np.array([0.5, 0.4]), np.array([0.0, 0.4])).cell == (0,)
    assert choose(Minimax(), np.array([0.5, 0.4]), np.array([0.0, 0.4])).cell == (1,)
    assert choose(Squares(), np.array([0.3, 0.4, 0.5]), np.array([0.4, 0.3, 0.0])).cell == (2,)
    with pytest.raises(InputError, match="got nan at all 1"):
        choose(Squares(), np.array([np.nan]), np.array([0.1]))


def test_the_current_cell_is_left_for_a_smaller_objective_only():
    a, b = np.array([0.2, 0.2, 0.2]), np.array([0.2, 0.0, 0.1])
    assert choose(Minimax(), a, b, current=(0,)).cell == (0,)  # although (1,) has the smaller sum
    assert choose(Minimax(), a, b).cell == (1,)


def test_where_nothing_is_allowed_the_score_decides_and_it_is_said():
    step = choose(NeymanPearson(0.1), np.array([0.2, 0.15, np.nan]), np.array([0.1, 0.3, 0.0]))
    assert (step.cell, step.allowed) == ((1,), False)  # .8 against 1.1
    assert step.objective == pytest.approx(0.8)


def test_cells_without_a_classifier_are_never_chosen():
    fpr = np.array([np.nan, 0.4])
    assert choose(Minimax(), fpr, fpr).cell == (1,)
    with pytest.raises(InputError, match="criterion must be a number at some cell, got nan at all 2"):
        choose(Minimax(), np.full(2, np.nan), np.full(2, np.nan))


# ---- Algorithms 1 and 2 ---------------------------------------------------------------------------------------------


class Watched:
    """Rates that note which cells were asked for, as a cross-validation with a window would evaluate them."""

    def __init__(self, fpr, fnr, window=None):
        self.fpr, self.fnr, self.window = fpr, fnr, window
        self.seen = np.zeros(fpr.shape, dtype=bool)

    def __call__(self, cells):
        self.seen |= needed(cells, self.window)
        rates = (np.where(self.seen, each, np.nan) for each in (self.fpr, self.fnr))
        return tuple(smooth(each, self.window) for each in rates)


def test_algorithm_1_looks_at_everything_and_takes_the_smoothed_minimum():
    error = np.full((1, 5, 5), 0.4)
    error[0, 0, 4] = 0.0  # an outlier; the plateau is better on average
    error[0, 2:, :3] = 0.2
    assert grid_search(Watched(error, error), error.shape, Minimax())[0].cell == (0, 0, 4)
    look = Watched(error, error, GaussianWindow(2))
    (step,) = grid_search(look, error.shape, Minimax())
    assert step.cell == (0, 3, 0)  # of four cells at .2, two of them on the edge, the first
    assert step.objective == pytest.approx(0.2)
    assert look.seen.all()


ERROR = np.array(
    [
        [9, 9, 1, 9, 9],
        [9, 8, 7, 8, 9],
        [6, 5, 6, 7, 8],
        [9, 3, 9, 9, 9],
        [4, 2, 9, 9, 0],
    ]
) / 10  # fmt: skip


def test_algorithm_2_step_by_step():
    """From (2, 2): row 2 has its minimum 5 at (2, 1), column 2 has 1 at (0, 2); nothing on row 0 is below 1: stop."""
    look = Watched(ERROR, ERROR)
    steps = coordinate_descent(look, ERROR.shape, Minimax(), (2, 2), (0, 1))
    assert [(s.cell, s.objective) for s in steps] == [((0, 2), 0.1), ((0, 2), 0.1)]
    assert look.seen.sum() == 9 + 4  # row 2 and column 2, then row 0
    without = ERROR.copy()
    without[0, 2] = 0.9
    look = Watched(without, without)
    steps = coordinate_descent(look, ERROR.shape, Minimax(), (2, 2), (0, 1))
    # row 2: .5 at (2, 1); column 1: .2 at (4, 1); row 4: 0 at (4, 4); stays.
    assert [s.cell for s in steps] == [(2, 1), (4, 1), (4, 4), (4, 4)]
    assert [s.objective for s in steps] == [0.5, 0.2, 0.0, 0.0]


def literal(error, start):
    """Algorithm 2 as printed, on a table of errors without ties."""
    here = start
    while True:
        i, j = here
        line = {(i, k): error[i, k] for k in range(error.shape[1])} | {(k, j): error[k, j] for k in range(len(error))}
        new = min(line, key=line.__getitem__)
        if new == here:
            return here
        here = new


def test_algorithm_2_as_printed_on_random_tables():
    rng = np.random.default_rng(0)
    for _ in range(50):
        error = rng.permutation(63).reshape(7, 9) / 63
        start = (int(rng.integers(7)), int(rng.integers(9)))
        assert coordinate_descent(Watched(error, error), error.shape, Minimax(), start, (0, 1))[-1].cell == literal(
            error, start
        )


def test_a_tube_has_the_smoothed_values_of_the_whole_grid():
    rng, window = np.random.default_rng(1), GaussianWindow(3)
    fpr, fnr = rng.random((2, 5, 8, 9))
    whole = smooth(fpr, window), smooth(fnr, window)
    look = Watched(fpr, fnr, window)
    steps = coordinate_descent(look, fpr.shape, Minimax(), (2, 4, 4), (0, 1, 2))
    for step in steps:
        assert (step.fpr, step.fnr) == pytest.approx((whole[0][step.cell], whole[1][step.cell]), abs=1e-12)
    straight = coordinate_descent(lambda cells: whole, fpr.shape, Minimax(), (2, 4, 4), (0, 1, 2))
    assert [s.cell for s in straight] == [s.cell for s in steps]
    assert look.seen.sum() < fpr.size


def test_the_size_of_a_tube():
    """Lines through (2, 2, 2) of 5 x 5 x 5: 13 cells; with the cells beside them 81: the 27 around, and 9 six times."""
    look = Watched(np.full((5, 5, 5), 0.5), np.full((5, 5, 5), 0.5), GaussianWindow(3))
    coordinate_descent(look, (5, 5, 5), Minimax(), (2, 2, 2), (0, 1, 2))
    assert look.seen.sum() == 27 + 6 * 9
    look = Watched(np.full((5, 5, 5), 0.5), np.full((5, 5, 5), 0.5))
    coordinate_descent(look, (5, 5, 5), Minimax(), (2, 2, 2), (0, 1, 2))
    assert look.seen.sum() == 13


def test_a_plateau_is_not_walked_on():
    flat = np.full((3, 3), 0.5)
    steps = coordinate_descent(Watched(flat, flat), (3, 3), Minimax(), (0, 2), (0, 1))
    assert [s.cell for s in steps] == [(0, 2)]


def test_descent_leaves_what_is_not_allowed_and_does_not_return():
    fpr = np.array([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4], [0.3, 0.2, 0.05]])
    steps = coordinate_descent(Watched(fpr, 1 - fpr), (3, 3), NeymanPearson(0.1), (0, 0), (0, 1))
    assert [(s.cell, s.allowed) for s in steps] == [((2, 0), False), ((2, 2), True), ((2, 2), True)]


def test_descent_from_a_cell_without_a_classifier():
    error = np.array([[np.nan, 0.4], [0.3, 0.2]])
    steps = coordinate_descent(Watched(error, error), (2, 2), Minimax(), (0, 0), (0, 1))
    assert [s.cell for s in steps] == [(1, 0), (1, 1), (1, 1)]
    error[0, 1] = error[1, 0] = np.nan
    with pytest.raises(InputError, match="got nan at all 3"):
        coordinate_descent(Watched(error, error), (2, 2), Minimax(), (0, 0), (0, 1))


def test_two_dimensions_for_each_bandwidth_and_the_best_of_their_ends():
    error = np.full((3, 3, 3), 0.5)
    error[0, 1, 1], error[1, 1, 2] = 0.3, 0.2
    error[2] = np.nan  # no classifier at this bandwidth: left out
    axes = {"bandwidth": np.arange(1.0, 4.0), "nu_plus": np.array([0.3, 0.5, 1]), "nu_minus": np.array([0.3, 0.5, 1])}
    steps = descent_2d(Watched(error, error), axes, Minimax())
    assert [s.cell for s in steps] == [(0, 1, 1), (1, 1, 2), (1, 1, 2), (1, 1, 2)]


def test_where_descent_starts():
    fifty, even = np.arange(1, 51) / 50, np.arange(1, 26) / 25
    axes = {"bandwidth": np.arange(1.0, 13.0), "nu_plus": fifty, "nu_minus": even}
    assert centre(axes) == (6, 24, 11)
    assert (fifty[24], even[11]) == (0.5, 0.48)
    assert nearest(np.array([0.4, 0.6]), 0.5) == 0
