"""Tests of `paretoclf.engine.reduction.points`: a large path says what it says where all points are kept."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.engine.engines import ENGINES
from paretoclf.engine.reduction import points
from paretoclf.engine.reduction.points import ProgramPoints


def quantiles(n=60):
    """Quantile regression as a program in CVXPY, from 0.1 to 0.9."""
    rng = np.random.default_rng(1)
    X = np.c_[np.ones(n), rng.normal(size=(n, 2))]
    y = X @ [1.0, 2.0, -1.0] + rng.normal(size=n)
    tau, b = cp.Parameter(nonneg=True, name="tau"), cp.Variable(3, name="b")
    up, down = cp.Variable(n, nonneg=True, name="up"), cp.Variable(n, nonneg=True, name="down")
    rows = (X @ b + up - down == y).set_label("fit")
    return cp.Problem(cp.Minimize(tau * cp.sum(up) + (1 - tau) * cp.sum(down)), [rows]), {tau: 0.1}, {tau: 0.9}


def lasso(n=30):
    """Least squares with a price on |b| that falls."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, 12))
    y, lam, b = (
        X[:, :3].sum(axis=1) + rng.normal(size=n),
        cp.Parameter(nonneg=True, name="lam"),
        cp.Variable(12, name="b"),
    )
    return cp.Problem(cp.Minimize(cp.sum_squares(X @ b - y) + lam * cp.norm1(b))), {lam: 100.0}, {lam: 0.1}


@pytest.mark.skipif("fast" not in ENGINES, reason="installed without a C++ compiler")
@pytest.mark.parametrize("made", [quantiles, lasso])
def test_a_path_on_demand_is_the_path(made, monkeypatch, tmp_path):
    """Proof, points, derivatives, what is along it, and its file."""
    whole = pc.trace(*made(), progress=False)
    assert whole.points.are_kept
    monkeypatch.setattr(points, "_KEPT", 0)
    path = pc.trace(*made(), progress=False)
    assert not path.points.are_kept
    assert path.proof.passes()
    assert len(path.points) == len(whole.points)
    np.testing.assert_array_equal(path.t, whole.t)
    size = 1e-11 * max(np.abs(whole.x).max(), np.abs(whole.z).max())
    for mine, other in zip(path.points.spread(), whole.points.spread(), strict=True):
        np.testing.assert_allclose(mine, other, atol=size)
    for name in (*whole.program.variables, *whole.program.multipliers):
        for mine, other in zip(path.along(name), whole.along(name), strict=True):
            np.testing.assert_allclose(mine, other, atol=size)
    for t in (0.0, 0.3, 0.77, 1.0):
        assert path.value(t) == pytest.approx(whole.value(t), rel=1e-11)
        for side in ("left", "right"):
            mine, other = (getattr(each.slopes(t), side) for each in (path, whole))
            assert (mine is None) == (other is None)
            assert mine is None or mine.value == pytest.approx(other.value, rel=1e-9, abs=1e-9)
    for j in (0, len(path.labels) - 1, len(path.labels) // 2, 1):
        for mine, other in zip(path.points.segment(j), whole.points.segment(j), strict=True):
            np.testing.assert_allclose(mine, other, atol=size)
    with monkeypatch.context() as patched:
        patched.setattr(ProgramPoints, "spread", None)  # a file is written without all of them
        path.save(tmp_path / "path.npz")
    again = pc.load(tmp_path / "path.npz")
    np.testing.assert_allclose(again.x, path.x, atol=size)
    np.testing.assert_allclose(again.z, path.z, atol=size)
    assert again.proof.passes()


@pytest.mark.skipif("fast" not in ENGINES, reason="installed without a C++ compiler")
def test_the_proof_of_a_path_on_demand_sees_a_wrong_point(monkeypatch):
    """One multiplier of the log is another one."""
    monkeypatch.setattr(points, "_KEPT", 0)
    path = pc.trace(*quantiles(), progress=False)
    stored = path.points._make.path
    stored.number[stored.ptr[7]] += 0.01
    del path.__dict__["proof"]
    assert not path.proof.passes()
