"""Folds, bandwidths and lines on a cluster of dask, a worker of which is killed on the way: the same results."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

import paretoclf as pc

distributed = pytest.importorskip("dask.distributed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # sockets of the worker that is killed
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
LINE = (0.1, 1.9), (1.9, 0.1)


@pytest.fixture(scope="module")
def client():
    """Of a cluster of two worker processes."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def workers(client):
    """Both at work: with one alone joblib would stay in this process."""
    client.wait_for_workers(2, timeout=60)


@dataclass
class Deadly:
    """Kills the process that gets here first, once."""

    mark: Path
    here: int

    def __call__(self) -> None:
        if os.getpid() != self.here and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)


class DeadlyScaler(StandardScaler):
    def __init__(self, deadly=None):
        super().__init__()
        self.deadly = deadly

    def fit(self, X, y=None, sample_weight=None):
        self.deadly()
        return super().fit(X, y, sample_weight)


def deadly_trace(deadly, svm, total):
    deadly()
    return pc.trace(svm, (0.1 * total, 0.9 * total), (0.9 * total, 0.1 * total))


@pytest.fixture
def deadly(tmp_path):
    return Deadly(tmp_path / "killed", os.getpid())


def test_folds(workers, deadly, gaussians):
    svm = pc.TwoCSVM(*gaussians(60, 3, seed=1, positives=0.4), pc.RBF(1.0))
    here = pc.cross_validated_errors(svm, *LINE, folds=6, transformer=DeadlyScaler(deadly))
    with joblib.parallel_config(backend="dask"):
        there = pc.cross_validated_errors(svm, *LINE, folds=6, transformer=DeadlyScaler(deadly), n_jobs=-1)
    assert deadly.mark.exists()
    for name in ("t", "fpr", "fnr"):
        np.testing.assert_array_equal(getattr(here, name), getattr(there, name))


def test_lines(workers, deadly, gaussians):
    svm = pc.TwoCSVM(*gaussians(40, 2, seed=2, positives=0.4), pc.RBF(1.0))
    tasks = [joblib.delayed(deadly_trace)(deadly, svm, total) for total in (0.5, 1.0, 2.0, 4.0)]
    with joblib.parallel_config(backend="dask"):
        there = joblib.Parallel(n_jobs=-1)(tasks)
    assert deadly.mark.exists()
    for one, (_, arguments, _) in zip(there, tasks, strict=True):
        np.testing.assert_array_equal(one.breakpoints, deadly_trace(*arguments).breakpoints)
        assert one.proof.passes()


def test_bandwidths_and_estimators(workers, gaussians):
    X, y = gaussians(40, 2, seed=3, positives=0.4)
    options = {"folds": 3, "bandwidths": [0.5, 1.0, 2.0], "method": "exact-lines", "nu_plus": 6}
    here = pc.tune(X, y, **options)
    one = pc.CostPathSVCCV(costs=(5, 1), cv=4).fit(X, y)
    with joblib.parallel_config(backend="dask"):
        there = pc.tune(X, y, n_jobs=-1, **options)
        other = pc.CostPathSVCCV(costs=(5, 1), cv=4, n_jobs=-1).fit(X, y)
    assert here.parameters == there.parameters
    assert (here.fpr, here.fnr) == (there.fpr, there.fnr)
    assert (one.best_t_, one.best_score_) == (other.best_t_, other.best_score_)
