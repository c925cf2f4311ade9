"""Tests of `paretoclf.tuning.cost_plane`."""

from __future__ import annotations

import numpy as np

import paretoclf as pc
from paretoclf.path.plane import plane
from paretoclf.problem.gram import Gram
from paretoclf.problem.lines import LabelledSamples
from paretoclf.tuning import Minimax
from paretoclf.tuning.cost_plane import counts_at, plane_errors
from paretoclf.tuning.error_arrays import CountGrid, CrossValidation
from tests.tuning.test_error_arrays import MINUS, PLUS, data


def test_points_of_a_map_are_counted_as_its_own_lookup_does():
    X, y = data(24)
    Z, labels = data(20, seed=1)
    found = plane(LabelledSamples(Gram(X), y), (0.1, 2.0), (0.1, 2.0), progress=False)
    errors = found.error_map(Z, labels)
    counts = counts_at(found, Z, labels, errors.inside)
    for k in range(0, len(errors.inside), 7):
        assert tuple(counts[k]) == errors.at(*errors.inside[k])


def test_one_fold_on_the_cost_plane_is_its_exact_minimum():
    X, y = data(44)
    train, test = np.arange(0, 44, 2), np.arange(1, 44, 2)
    axes = {"bandwidth": np.array([np.nan]), "nu_plus": PLUS, "nu_minus": MINUS}
    cross = CrossValidation(X, y, axes, pc.Linear(), [(train, test)], CountGrid(PLUS, MINUS))
    errors = plane_errors(cross, (0.1, 2.0))
    k, step = errors.best(Minimax())
    found = plane(LabelledSamples(Gram(X[train]), y[train]), (0.1, 2.0), (0.1, 2.0), progress=False)
    assert step.objective == found.error_map(X[test], y[test]).minimax().objective
    tuned = pc.tune(X, y, method="cost-plane", kernel="linear", folds=[(train, test)], costs=(0.1, 2.0))
    assert (tuned.parameters["C_plus"], tuned.parameters["C_minus"]) == (errors.C_plus[k], errors.C_minus[k])
    assert tuned.solution.certificate.passes(1e-9)
