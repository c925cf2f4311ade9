"""Tests of `paretoclf.tuning.exact_lines`."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.tuning import ExpectedCost, GaussianWindow, Minimax, NeymanPearson
from paretoclf.tuning.exact_lines import LineErrors, best_on_lines, best_on_smoothed_lines, line_errors
from tests.tuning.test_error_arrays import BANDWIDTHS, MINUS, data, everything, validation


def test_lines_are_the_grid_between_its_values():
    X, y = data(40)
    cross = validation(X, y, np.array([0.2, 1.0]), np.array([0.37, 0.71]))
    lines = line_errors(cross, 0.2)
    for s in range(2):
        for j in range(2):
            line = lines[s][j]
            middle = 0.5 * (line.nu_plus[1:] + line.nu_plus[:-1])
            wide = np.flatnonzero(np.diff(line.nu_plus) > 1e-6)[::3]
            grid = everything(validation(X, y, middle[wide], MINUS[:1] * 0 + line.nu_minus, bandwidths=BANDWIDTHS[[s]]))
            assert np.array_equal(grid.fpr[0, :, 0], line.fpr[wide])
            assert np.array_equal(grid.fnr[0, :, 0], line.fnr[wide])


def test_the_minimum_over_lines_is_no_larger_than_that_of_any_grid_on_them():
    X, y = data(40)
    cross = validation(X, y, np.arange(10, 51) / 50 - 0.003, MINUS)
    lines = line_errors(cross, 0.19)
    arrays = everything(cross)
    for criterion in (Minimax(), NeymanPearson(0.15), ExpectedCost(1, 2, 0.5)):
        best = best_on_lines(lines, criterion)
        assert best.objective <= np.nanmin(criterion(arrays.fpr, arrays.fnr)) + 1e-12
        line = next(
            each for row in lines for each in row if (each.bandwidth, each.nu_minus) == (best.bandwidth, best.nu_minus)
        )
        j = int(np.searchsorted(line.nu_plus, best.nu_plus)) - 1
        assert (line.fpr[j], line.fnr[j]) == (best.fpr, best.fnr)
        assert best.interval == (line.nu_plus[j], line.nu_plus[j + 1])


def test_smoothed_lines_against_quadrature_and_a_dense_search():
    rng = np.random.default_rng(0)

    def line(nu_minus, bandwidth):
        knots = np.sort(np.concatenate([[0.1, 1.0], rng.uniform(0.1, 1, 12)]))
        return LineErrors(bandwidth, nu_minus, knots, np.sort(rng.random(13)), np.sort(rng.random(13))[::-1])

    lines = [[line(v, s) for v in (0.3, 0.6, 0.9)] for s in (1.0, 2.0)]
    lines[1][1] = None
    window, step = GaussianWindow(3), 0.08
    dense = np.linspace(0.1, 1.0, 20001)
    for criterion in (Minimax(), NeymanPearson(0.4), ExpectedCost(1, 2, 0.4)):
        best = best_on_smoothed_lines(lines, criterion, window, step)
        least, at_best = np.inf, None
        for s in range(2):
            for j in range(3):
                if lines[s][j] is None:
                    continue
                sums = np.zeros((3, dense.size))
                for c in range(2):
                    for a in range(3):
                        other = lines[c][a]
                        if other is None or abs(a - j) > 1:
                            continue
                        w = np.exp(-0.5 * ((a - j) ** 2 + (c - s) ** 2))
                        heights = [np.interp(dense, dense, h[np.clip(np.searchsorted(other.nu_plus, dense) - 1, 0, 12)])
                                   for h in (other.fpr, other.fnr)]  # fmt: skip
                        for k, h in enumerate([np.ones(dense.size), *heights]):
                            area = np.concatenate([[0], np.cumsum(0.5 * (h[1:] + h[:-1]) * np.diff(dense))])
                            sums[k] += w * (np.interp(dense + 0.12, dense, area) - np.interp(dense - 0.12, dense, area))
                rates = sums[1] / sums[0], sums[2] / sums[0]
                least = min(least, criterion(*rates).min())
                if (lines[s][j].bandwidth, lines[s][j].nu_minus) == (best.bandwidth, best.nu_minus):
                    at_best = [float(np.interp(best.nu_plus, dense, r)) for r in rates]
        assert best.objective == pytest.approx(least, abs=2e-3)
        assert best.objective <= least + 1e-4  # quadrature errs
        assert at_best == pytest.approx([best.fpr, best.fnr], abs=1e-3)
