"""The best weighted guarantee at every weight: files that are judged anew, refinement, the picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.distributions.gaussian.moments import chebyshev
from tests.oracles.gaussian_pairs import Pencil, random_pair
from tests.oracles.stored_files import damaged, rewritten


@pytest.fixture(scope="module")
def pair():
    """Two classes whose means are apart."""
    mu_plus, S_plus, mu_minus, S_minus = random_pair(3, 1, 10.0)
    return 3 * mu_plus + 3, S_plus, mu_minus, S_minus


@pytest.fixture(scope="module")
def path(pair):
    return pc.trace(pc.MEMPM.from_moments(*pair), theta=(0.2, 0.8), eps=1e-2, progress=False)


def best(pair, theta):
    """Largest weighted guarantee over a fine grid of all Pareto-optimal slopes."""
    p, t = Pencil(*pair), np.logspace(-9, 9, 100_001)
    y = p.c / (1 + t[:, None] * p.ell)
    minus, plus = t * np.sqrt((p.ell * y**2).sum(axis=1)), np.sqrt((y**2).sum(axis=1))
    return float((theta * minus**2 / (1 + minus**2) + (1 - theta) * plus**2 / (1 + plus**2)).max())


def stored_with(path, file, **changes):
    path.save(file)
    return rewritten(file, file, **{name: lambda _, to=to: to for name, to in changes.items()})


def test_it_is_saved_and_judged_anew(pair, path, tmp_path):
    path.save(tmp_path / "path.npz")
    again = pc.load(tmp_path / "path.npz")
    assert again.machine is None
    assert repr(again) == repr(path)
    for theta in (0.2, 0.37, 0.8):
        assert again.bounds(theta) == path.bounds(theta)
        solution = again.at(theta)
        low, high = again.bounds(theta)
        assert solution.value == high
        assert low <= solution.dual_value <= -best(pair, theta) <= high + 1e-8
        assert solution.certificate.passes(1e-2)
        rule, (mu_plus, S_plus, mu_minus, S_minus) = solution.classifier, pair
        u_plus = (rule.w @ mu_plus + rule.b) / np.sqrt(rule.w @ S_plus @ rule.w)
        u_minus = -(rule.w @ mu_minus + rule.b) / np.sqrt(rule.w @ S_minus @ rule.w)
        assert theta * chebyshev(u_minus) + (1 - theta) * chebyshev(u_plus) == pytest.approx(-high, rel=1e-9)
        assert again.guarantees(theta) == pytest.approx((chebyshev(u_minus), chebyshev(u_plus)), rel=1e-9)


@pytest.mark.parametrize("what", ["slope", "fewer", "far", "eps", "other classes"])
def test_a_falsified_file_is_refused_or_has_true_bounds(what, pair, path, tmp_path):
    rng = np.random.default_rng(3)
    slopes = path.slopes * (1 + rng.normal(size=path.slopes.shape))
    changes = {
        "slope": {"slopes": np.vstack([path.slopes[:1] * (1 + 1e-3 * rng.normal(size=3)), path.slopes[1:]])},
        "fewer": {"slopes": path.slopes[::2], "q": path.q[::2]},
        "far": {"slopes": slopes},
        "eps": {"eps": np.array(1e-5)},
        "other classes": {"root_plus": path.moments.root_plus * 1.5},
    }[what]
    file = stored_with(path, tmp_path / "path.npz", **changes)
    if what in ("far", "eps"):
        with pytest.raises(pc.InputError, match="not proved"):
            pc.load(file)
    false = pc.load(file, prove=False)
    other = (pair[0], 2.25 * pair[1], *pair[2:]) if what == "other classes" else pair
    for theta in np.linspace(0.2, 0.8, 7).tolist():
        low, high = false.bounds(theta)
        assert low <= -best(other, theta) <= high + 1e-8


def test_damaged_files_are_refused(path, tmp_path):
    for changes, said in (
        ({"q": path.q[:-1]}, "slopes must have shape"),
        ({"q": path.q[::-1]}, "q must increase"),
        ({"theta": np.array([0.2, 1.2])}, "theta must increase, strictly between 0 and 1"),
        ({"root_minus": path.moments.root_minus.T}, "root_minus must be an upper triangle"),
        ({"slopes": 0 * path.slopes}, "no slope be 0"),
        ({"eps": np.array(2.0)}, "eps must lie"),
        ({"slopes": path.slopes * np.nan}, "slopes must hold finite numbers"),
    ):
        with pytest.raises(pc.InputError, match=said):
            pc.load(stored_with(path, tmp_path / "path.npz", **changes))


@pytest.mark.parametrize("what", ["mu_plus", "root_minus", "theta", "slopes", "json", "sha256"])
def test_the_statement_is_bound_by_a_hash(what, path, tmp_path):
    """Other means have a path of their own, which slopes prove as well: it is not the one that was saved."""
    changes = {
        "mu_plus": path.moments.mu_plus + 1e-9,
        "root_minus": path.moments.root_minus * (1 + 1e-9),
        "theta": path.theta[:-1],
        "slopes": path.slopes * (1 + 1e-15),
        "json": np.frombuffer(b'{"eps": 0.02, "of_guarantees": {"linear": true}}', dtype=np.uint8),
        "sha256": np.zeros(32, dtype=np.uint8),
    }
    path.save(tmp_path / "path.npz")
    file = damaged(tmp_path / "path.npz", tmp_path / "path.npz", **{what: changes[what]})
    for prove in (True, False):
        with pytest.raises(pc.InputError, match="what it holds was changed after it was saved: another hash"):
            pc.load(file, prove=prove)


def test_a_file_of_an_older_version_says_what_no_hash_binds(tmp_path):
    again = pc.load(Path(__file__).parents[2] / "stored" / "guarantees.npz")
    assert again.explain().endswith("; moments and weights: said, not checked")
    again.save(tmp_path / "again.npz")
    assert pc.load(tmp_path / "again.npz").unchecked


@pytest.mark.parametrize("linear", ["yes", 1, None, [True]])
def test_linear_is_true_or_false(linear, path, tmp_path):
    with pytest.raises(pc.InputError, match="linear must be True or False, got"):
        pc.load(stored_with(path, tmp_path / "path.npz", of_guarantees={"linear": linear}))


def test_it_is_refined_from_what_is_there(pair, path, tmp_path):
    path.save(tmp_path / "path.npz")
    for coarse in (path, pc.load(tmp_path / "path.npz")):  # no solver is needed
        fine = coarse.refine(1e-4, progress=False)
        assert fine.passes(1e-4)
        assert not coarse.passes(1e-4)
        assert set(coarse.q) <= set(fine.q)
        assert set(coarse.theta) <= set(fine.theta)
        low, high = fine.bounds(0.45)
        assert low <= -best(pair, 0.45) <= high + 1e-8
    with pytest.raises(pc.InputError, match=r"^eps must"):
        path.refine(2.0)


def test_a_loaded_path_of_a_kernel_has_bounds_but_no_classifiers(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)) + np.repeat([[1.5], [-1.5]], 15, axis=0), np.repeat([1.0, -1.0], 15)
    traced = pc.trace(pc.MEMPM(X, y, pc.RBF(2.0), reg=0.1), theta=(0.4, 0.6), eps=1e-2, progress=False)
    traced.save(tmp_path / "path.npz")
    again = pc.load(tmp_path / "path.npz")
    assert again.bounds(0.5) == traced.bounds(0.5)
    assert traced.at(0.5).classifier.predict(X).shape == (30,)
    with pytest.raises(pc.InputError, match="at needs the samples of a kernel's classifier"):
        again.at(0.5)


def test_it_says_and_draws_what_is_proved(path):
    assert path.explain().startswith("Within 1e-02 of the best guarantee at every theta in [0.2, 0.8]")
    assert path.explain(1e-6).startswith("Not proved to 1e-06")
    assert path.proof.passes()
    axes = path.plot().ax_
    assert axes.get_xlabel() == "theta, the weight of the negatives"
    drawn = axes.get_lines()[0]
    assert drawn.get_label() == "weighted guarantee"
    assert np.interp(0.5, *drawn.get_data()) == pytest.approx(-path.value(0.5), abs=1e-6)
