"""Tests of `paretoclf.tuning.bandwidths`."""

from __future__ import annotations

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.errors import BandwidthWarning, InputError
from paretoclf.tuning import bandwidth_grid
from paretoclf.tuning.bandwidths import DistanceQuantiles, judge_bandwidths
from tests.tuning.test_error_arrays import data


def test_most_bandwidths_of_the_paper_are_useless_and_named():
    X, y = data(80)
    papers = np.geomspace(1e-4, 1e4, 50)
    judged = judge_bandwidths(X, papers)
    assert judged.useful.size < 20
    K = pc.RBF(float(papers[judged.identity][-1]))(X, X)
    np.fill_diagonal(K, 0.0)
    assert np.median(K.max(axis=1)) < 1e-2
    assert np.quantile(pc.RBF(float(papers[judged.constant][0]))(X, X), 0.06) > 0.99
    some = [papers[3], papers[24], papers[45]]
    with pytest.warns(
        BandwidthWarning, match=r"bandwidth 0\.0003.* makes an identity .*; bandwidth 2.*e\+03 makes a con"
    ):
        pc.tune(X, y, bandwidths=some, nu_plus=[0.55], folds=2)


def test_bandwidths_chosen_from_the_data_need_no_warning():
    for X in (data(80)[0], data(80, d=20)[0], 1e5 + data(80)[0], np.round(data(80)[0])):
        judged = judge_bandwidths(X, bandwidth_grid(X))
        assert str(judged) == ""
        assert judged.useful.size == 12


def test_distances_are_those_of_different_points():
    assert DistanceQuantiles.of(np.repeat([[0.0], [3.0], [4.0]], 50, axis=0)).nearest == 1.0
    with pytest.raises(InputError, match="at least two different samples"):
        bandwidth_grid(np.ones((5, 2)))
