"""Stretches that one call follows and one proof judges, against the same stretches traced one by one."""

from __future__ import annotations

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.path.deletion import stretches

core = pytest.importorskip("paretoclf.engine._core", reason="built without a C++ compiler")
LINE = ((0.2, 1.8), (1.8, 0.2))
KERNELS = pytest.mark.parametrize("kernel", [None, pc.RBF(1.5)], ids=["linear", "rbf"])


def refuse(*_):
    raise AssertionError("a stretch was traced by itself")


@KERNELS
@pytest.mark.parametrize("features", [3, 40], ids=["few", "many"])
def test_together_or_one_by_one_is_the_same(gaussians, monkeypatch, kernel, features):
    """Of many features no slopes are stored."""
    path = pc.trace(pc.TwoCSVM(*gaussians(40, features, seed=4), kernel), *LINE)
    with monkeypatch.context() as patched:
        patched.setattr(stretches, "_alone", refuse)
        together = path.leave_one_out(progress=False)
    with monkeypatch.context() as patched:
        patched.setattr(stretches._Together, "follow", lambda self, batch: [None] * len(batch))
        apart = path.leave_one_out(progress=False)
    assert together.passes()
    assert apart.passes()
    for t in np.linspace(0.003, 0.997, 23):
        np.testing.assert_allclose(together(t), apart(t), atol=1e-9)


@KERNELS
def test_batches_and_threads_change_nothing(gaussians, monkeypatch, kernel):
    path = pc.trace(pc.TwoCSVM(*gaussians(30, 2, seed=5), kernel), *LINE)
    whole = path.leave_one_out()
    monkeypatch.setattr(stretches, "_NUMBERS", 500)
    parts = path.leave_one_out(n_jobs=2)
    for one, other in zip(whole.scores, parts.scores, strict=True):
        np.testing.assert_array_equal(one.t, other.t)
        np.testing.assert_allclose(one.start, other.start, atol=1e-12)


def test_what_fits_nothing_is_refused(gaussians):
    path = pc.trace(pc.TwoCSVM(*gaussians(12, 2, seed=9)), *LINE)
    ask = stretches._Together(path, None)._tracker()._core.many
    caps, none = np.stack([path.caps(0.0), path.caps(1.0)]), np.zeros(0, dtype=np.int64)
    state, ptr, t = np.zeros((1, 12), dtype=np.int8), np.array([0, 0]), np.array([[0.0, 1.0]])
    for arguments, message in (
        ((caps[:1], state, ptr, none, t, 0, 9, 1e-12, 1e-12), "two caps per sample"),
        ((caps * np.nan, state, ptr, none, t, 0, 9, 1e-12, 1e-12), "two caps per sample"),
        ((caps, state[:, :5], ptr, none, t, 0, 9, 1e-12, 1e-12), "n sets and two t"),
        ((caps, state, ptr, none, t[:, :1], 0, 9, 1e-12, 1e-12), "n sets and two t"),
        ((caps, state, np.array([0, 1]), none, t, 0, 9, 1e-12, 1e-12), "ptr must increase"),
        ((caps, state, np.array([0, 1]), np.array([12]), t, 0, 9, 1e-12, 1e-12), "members of the margin set lie"),
        ((caps, state + np.int8(7), ptr, none, t, 0, 9, 1e-12, 1e-12), "sets outside of the margin set"),
        ((caps, state, ptr, none, t, 1, 9, 1e-12, 1e-12), "width must be 0"),
    ):
        with pytest.raises(ValueError, match=message):
            ask(*arguments)
    assert ask(caps, state, ptr, none, t, 0, 0, 1e-12, 1e-12)["failed"].tolist() == [1]  # no exchange is allowed
