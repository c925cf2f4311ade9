"""Tests of `paretoclf.tuning.cross_validation`."""

from __future__ import annotations

import numpy as np
import pytest

from paretoclf.tuning import Minimax, NeymanPearson
from paretoclf.tuning.cross_validation import folds_of
from paretoclf.tuning.error_arrays import CrossValidation
from paretoclf.tuning.one_nu import CountBalanced, CountShifted
from tests.tuning.test_error_arrays import BANDWIDTHS, data, everything, validation


def test_the_balanced_line_has_the_counts_of_the_diagonal():
    X, y = data()
    nu = np.array([0.31, 0.57, 0.93])
    grid = everything(validation(X, y, nu, nu))
    axes = {"bandwidth": BANDWIDTHS, "nu": nu}
    line = everything(CrossValidation(X, y, axes, None, folds_of(y, 3, 0), CountBalanced(nu)))
    assert np.array_equal(line.false_positives, np.diagonal(grid.false_positives, axis1=1, axis2=2))
    assert np.array_equal(line.false_negatives, np.diagonal(grid.false_negatives, axis1=1, axis2=2))


def test_at_whole_numbers_of_margin_errors_a_line_uses_the_middle_as_the_grid_does():
    X, y = data(60)  # of each class 16 and 24 are trained on: k / 8 are whole numbers of both
    nu = np.arange(2, 9) / 8
    grid = everything(validation(X, y, nu, nu))
    line = everything(
        CrossValidation(X, y, {"bandwidth": BANDWIDTHS, "nu": nu}, None, folds_of(y, 3, 0), CountBalanced(nu))
    )
    inner = slice(None, -1)  # at (1, 1) the grid takes the middle of a half-line's ends, and so does the path
    assert np.array_equal(line.false_positives[:, inner], np.diagonal(grid.false_positives, axis1=1, axis2=2)[:, inner])


@pytest.mark.parametrize("criterion", [Minimax(), NeymanPearson(0.2)])
def test_counts_at_shifted_intercepts_are_best_at_every_cell(criterion):
    X, y = data(40)
    nu = np.array([0.41, 0.83])
    axes = {"bandwidth": BANDWIDTHS, "nu": nu}
    arrays = everything(CrossValidation(X, y, axes, None, folds_of(y, 2, 0), CountShifted(nu, criterion)))
    plain = everything(validation(X, y, nu * 16 / 16, nu * 16 / 24, folds=2))  # the same line: nu_plus 16 = nu_minus 24
    straight = criterion(*(np.diagonal(each, axis1=1, axis2=2) for each in (plain.fpr, plain.fnr)))
    assert (criterion(arrays.fpr, arrays.fnr) <= straight).all()
