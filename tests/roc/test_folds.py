"""Tests of `paretoclf.roc.folds`."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

import paretoclf as pc
from examples.papers.bach2006_population import PAIRS
from paretoclf.common.errors import InputError
from paretoclf.roc.folds import folds_of, outer_folds, validation_folds


def test_a_multiplier_that_enters_below_a_small_cap_is_stored_in_its_box():
    """Its margin is known to 1e-14, hence it to 5e-11: too little to move a margin, and 3e-8 of a cap of 0.0016."""
    X, y = PAIRS[0.12].draw(2000, rng=0)  # GAUSSIANS of Bach et al. (2006), Table 1, on an inner fold
    outer, _, seed = outer_folds(y, 10, 1, 0)[0][0]
    train, _ = validation_folds(y, outer, 10, seed)[2]
    svm = pc.TwoCSVM(StandardScaler().fit_transform(X[train]), y[train])
    costs = np.bincount(y[outer] > 0) / outer.size  # C_plus and C_minus up the balanced ray
    path = pc.trace(svm, 1e-4 * costs, 100.0 * costs)
    assert path.proof.passes()
    assert path.proof.residuals["box"].max() <= 1e-9


@pytest.mark.skipif(not os.environ.get("PARETOCLF_DATA"), reason="PARETOCLF_DATA is not set")
def test_slacks_of_rounding_are_no_cost_where_all_costs_are_large_against_the_value():
    """ADULT of Bach et al. (2006), an inner fold: w = 0, b = 1, and 1e-11 of 1232 slacks, at 10, is 3e-8 of 3.88."""
    data = pc.datasets.load("adult2000", data_dir=os.environ["PARETOCLF_DATA"], positive=-1)
    outer, _, seed = outer_folds(data.y, 10, 1, 0)[0][3]
    train, _ = validation_folds(data.y, outer, 10, seed)[0]
    svm = pc.TwoCSVM(StandardScaler().fit_transform(data.X[train]), data.y[train])
    path = pc.trace(svm, pc.Costs.from_asymmetry(0.0005, 10), pc.Costs.from_asymmetry(0.9995, 10))
    assert path.proof.passes()
    assert path.at(1.0).certificate.passes()
    assert path.value(1.0) == pytest.approx(2 * 0.005 * np.count_nonzero(svm.y < 0), rel=1e-8)


@pytest.mark.parametrize("splitter", [KFold(3), StratifiedKFold(3, shuffle=True, random_state=1)])
def test_a_splitter_is_taken_as_its_split_is(splitter):
    X, y = np.arange(24.0).reshape(12, 2), np.tile([-1.0, 1.0], 6)
    for own, theirs in zip(folds_of(y, splitter, 0), splitter.split(X, y), strict=True):
        assert all(map(np.array_equal, own, theirs))


@pytest.mark.parametrize(
    ("folds", "words"),
    [
        (GroupKFold(3), "folds must be a splitter that splits by X and y, or its .split(...): The 'groups' parameter"),
        (2.5, "folds must be a number, a splitter such as KFold(5), or pairs (train, test), got 2.5"),
        ("5", "folds must be a number, a splitter such as KFold(5), or pairs (train, test), got '5'"),
    ],
)
def test_what_gives_no_folds_is_refused(folds, words):
    with pytest.raises(InputError) as error:
        folds_of(np.tile([-1.0, 1.0], 6), folds, 0)
    assert str(error.value).startswith(words)
