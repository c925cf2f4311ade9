"""Files of paths and maps: what is damaged is refused by name, and what does not prove itself is not believed."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import paretoclf as pc
from paretoclf.checking.solution_files import read_solutions
from paretoclf.path.load import AnyPath
from paretoclf.path.programs.problem_path import ProblemPath, trace_problem
from paretoclf.problem.parametric_qp import ParametricQP
from paretoclf.proof import check
from paretoclf.solve.sources.item_line import LineOfItems
from tests.oracles.stored_files import content_of_file, rewritten
from tests.stored.make import own_kernel, proved, said_of, said_of_plane


def _data(n=14):
    rng = np.random.default_rng(1)
    y = np.where(np.arange(n) < 5, 1.0, -1.0)
    return rng.normal(size=(n, 2)) + 0.7 * y[:, None], y


def _apart():
    X, y = _data()
    return X + 4 * y[:, None], y


PATHS = {
    "linear": lambda: pc.trace(pc.TwoCSVM(*_data()), (0.2, 1), (1, 0)),
    "kernel": lambda: pc.trace(pc.TwoCSVM(*_data(), pc.RBF(1.0)), (0, 0), (1, 3)),
    "steep": lambda: pc.trace(pc.TwoCSVM(1e4 * _data()[0], np.roll(_data()[1], 2)), (0.2, 1), (1, 0.3)),
    "sample costs": lambda: pc.trace(pc.TwoCSVM(*_data()), pc.SampleCosts(np.linspace(0.2, 1, 14)), (1, 1)),
    "quantile": lambda: pc.trace(pc.QuantileSVM(*_data(), bias=True), tau=(0, 1), lam=0.05),
    "nu": lambda: pc.trace(pc.TwoNuSVM(*_data()), nu=(0, None), asymmetry=0.4),
    "hulls": lambda: pc.trace(pc.TwoNuSVM(*_apart()), (1, 1), (0.4, 0.3)),
    "margins": lambda: pc.trace(pc.BiobjectiveMargin(*_apart()), theta=(0.1, 10), C_plus=1.0, C_minus=2.0),
    "hard margins": lambda: pc.trace(pc.BiobjectiveMargin(*_apart(), soft=False), theta=(0.1, 10)),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("paths")
    for name, make in PATHS.items():
        make().save(folder / name)
    pc.plane(pc.TwoCSVM(*_data(8)), (0.1, 1), (0.1, 1)).save(folder / "map")
    return folder


def damaged(files, name, tmp_path, **changes):
    """The file with some arrays changed by functions, or left out where that is None."""
    return rewritten(files / f"{name}.npz", tmp_path / "damaged.npz", **changes)


def put(value, where=0):
    def change(a):
        a.reshape(-1)[where] = value
        return a

    return change


@pytest.mark.parametrize("name", PATHS)
def test_what_was_saved_loads_and_is_proved(files, name):
    again = pc.load(files / f"{name}.npz")
    assert again.worst_certificate.passes()
    assert again.proof.residuals["value"].max() <= 1e-8
    assert repr(pc.load(files / f"{name}.npz", prove=False)) == repr(again)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", PATHS)
def test_an_array_that_is_not_finite(files, name, bad, tmp_path):
    with np.load(files / f"{name}.npz") as data:
        keys = [key for key in data.files if data[key].dtype.kind == "f" and data[key].size]
    assert {"X", "t", "a0", "value"} <= set(keys)
    for key in keys:
        file = damaged(files, name, tmp_path, **{key: put(bad, -1)})
        for prove in (True, False):
            with pytest.raises(pc.InputError, match=r"finite|increas|from 0 to 1|labels|weight"):
                pc.load(file, prove=prove)


SHAPES = {
    "t": (lambda a: a[::-1], "t must"),
    "ptr": (lambda a: a[:-1], "ptr must have shape"),
    "index": (lambda a: a + 100, "index must lie between 0 and 13"),
    "a0": (lambda a: a[1:], "a0 must have shape"),
    "a1": (lambda a: a.astype(str), "a1 must hold numbers"),
    "b0": (lambda a: a[None], "b0 must have shape"),
    "b1": (lambda a: np.append(a, 0.0), "b1 must have shape"),
    "value": (lambda a: a[:, :2], "value must have shape"),
    "state": (lambda a: a + 2, "state must lie between 0 and 2"),
    "changes": (lambda a: a[:2], "changes must have shape"),
    "seconds": (lambda a: np.array([1.0, 2.0]), "seconds must have shape"),
    "y": (lambda a: 2 * a, "labels"),
    "sample_weight": (lambda a: -a, "sample_weight must be nonnegative"),
    "line": (lambda a: -a, "nonnegative"),
    "w": (lambda a: a[:, :1], "w must have shape"),
}


@pytest.mark.parametrize("key", SHAPES)
def test_an_array_of_the_wrong_shape_or_range(files, key, tmp_path):
    change, message = SHAPES[key]
    with pytest.raises(pc.InputError, match=rf"damaged\.npz: not a saved path \(.*{message}"):
        pc.load(damaged(files, "linear", tmp_path, **{key: change}), prove=False)


def test_sets_that_do_not_fit_each_other(files, tmp_path):
    def moved(state):
        state[:] = np.where(state == 2, 0, state)
        return state

    with pytest.raises(pc.InputError, match="margin set of piece 0 is not that of its sets"):
        pc.load(damaged(files, "linear", tmp_path, state=moved), prove=False)
    with pytest.raises(pc.InputError, match="not a saved path"):
        pc.load(damaged(files, "linear", tmp_path, ptr=None))


def test_indices_of_sparse_samples(tmp_path):
    import scipy.sparse as sp

    X, y = _data()
    pc.trace(pc.TwoCSVM(sp.csr_array(X), y), (1, 1), (2, 1)).save(tmp_path / "sparse")
    for key in ("X_indices", "X_indptr"):
        file = damaged(tmp_path, "sparse", tmp_path, **{key: lambda a: a + 1})
        with pytest.raises(pc.InputError, match="not a saved path"):
            pc.load(file)


CONSISTENT = {
    "reversed values": {"value": lambda a: a[::-1]},
    "a value": {"value": lambda a: a * (1 + 1e-6)},
    "an intercept": {"b1": lambda a: a + 1e-3},
    "a multiplier": {"a0": lambda a: 0.99 * a},
    "other labels": {"y": lambda a: a[::-1]},
    "other samples": {"X": lambda a: a + np.linspace(0, 1e-3, a.shape[0])[:, None]},
}


@pytest.mark.parametrize("what", CONSISTENT)
@pytest.mark.parametrize("name", ["linear", "kernel", "steep", "quantile", "nu", "hulls"])
def test_a_consistent_file_that_is_not_optimal(files, name, what, tmp_path):
    if (name, what) in {("quantile", "an intercept")}:
        pytest.skip("its intercept is stored with w, as the last of the slopes' constant feature")
    file = damaged(files, name, tmp_path, **CONSISTENT[what])
    with pytest.raises(pc.InputError, match=r"damaged\.npz: not proved: .*load\(\.\.\., prove=False\)"):
        pc.load(file)
    assert pc.load(file, prove=False).worst_certificate is not None


def test_the_worst_certificate_is_the_one_that_is_not_a_number(files):
    path = pc.load(files / "linear.npz", prove=False)
    path.pieces.w[1] = np.nan
    assert not path.worst_certificate.passes()
    assert path.worst_certificate.off_by == np.inf
    path = pc.load(files / "linear.npz", prove=False)
    path.pieces.b0[0] += 1e-3
    assert not path.worst_certificate.passes()


def test_maps(files, tmp_path):
    good = pc.load(files / "map.npz")
    assert all(proof.passes() for proofs in good.certificates() for proof in proofs)
    with np.load(files / "map.npz") as data:
        keys = [key for key in data.files if data[key].dtype.kind == "f" and data[key].size]
    for key in keys:
        with pytest.raises(pc.InputError, match=r"finite|pair|labels"):
            pc.load(damaged(files, "map", tmp_path, **{key: put(np.nan, -1)}), prove=False)
    for key, change, message in (
        ("margin", lambda a: a + 100, "margin must lie between"),
        ("sets", lambda a: np.zeros_like(a), "margin set of region"),
        ("contacts", lambda a: a + 1000, "contacts must lie between"),
        ("corners", lambda a: a + 1, "lengths|shape"),
        ("b_map", lambda a: a[:, :2], "b_map must have shape"),
        ("rectangle", lambda a: a[:, ::-1], "lo < hi"),
    ):
        with pytest.raises(pc.InputError, match=rf"not a saved map of the cost plane \(.*({message})"):
            pc.load(damaged(files, "map", tmp_path, **{key: change}), prove=False)
    for key, factor in (("polygon", 0.5), ("polygon", 3.0), ("rectangle", 2.0)):
        file = damaged(files, "map", tmp_path, **{key: lambda a, by=factor: by * a})
        with pytest.raises(pc.InputError, match=r"not proved: (the regions miss|a region leaves)"):
            pc.load(file, prove=False)
    for key, change in (("b_map", lambda a: a + 1e-3), ("alpha_map", lambda a: 0.9 * a)):
        file = damaged(files, "map", tmp_path, **{key: change})
        with pytest.raises(pc.InputError, match=r"not proved: a region is not proved"):
            pc.load(file)
        assert len(pc.load(file, prove=False).regions) == len(good.regions)


def test_multipliers_that_are_not_finite(tmp_path):
    np.savez(tmp_path / "bad.npz", C_plus=[1.0, 1.0], C_minus=[1.0, 1.0], alpha=[[0, 0], [0, np.nan]])
    with pytest.raises(pc.InputError, match=r"alpha must be finite, got nan in row 1, sample 1"):
        read_solutions(tmp_path / "bad.npz", 2)


STORED = Path(__file__).resolve().parents[1] / "stored"
SAID = json.loads((STORED / "said.json").read_text(encoding="utf-8"))
CERTIFICATES = [name for name in SAID if name.endswith(".json.gz")]
FILES = [name for name in SAID if name not in CERTIFICATES]


def same(found, said, name):
    """Numbers, and whatever holds them, are the same up to what another processor rounds."""
    if isinstance(said, dict):
        assert found.keys() == said.keys(), name
        for key, value in said.items():
            same(found[key], value, f"{name}, {key}")
    elif isinstance(said, list):
        assert len(found) == len(said), name
        for one, value in zip(found, said, strict=True):
            same(one, value, name)
    elif isinstance(said, float):
        assert found == pytest.approx(said, rel=1e-12, abs=1e-14), name
    else:
        assert found == said, name


@pytest.mark.parametrize("name", FILES)
def test_what_an_older_version_saved_is_proved_and_says_the_same(name):
    found = pc.load(STORED / f"{name}.npz", kernel=own_kernel if name == "costs_callable" else None)
    same(said_of_plane(found) if name == "plane" else said_of(found), SAID[name], name)


@pytest.mark.parametrize("name", CERTIFICATES)
def test_what_an_older_version_certified_is_proved_with_the_same_values(name):
    same(proved(STORED / name), SAID[name], name)


def test_every_kind_of_file_is_there_as_an_older_version_made_it():
    kinds = {kind.__name__ for kind in (*get_args(AnyPath), pc.results.CostPlane)}
    assert {SAID[name]["kind"] for name in FILES} == kinds
    contents = [json.loads(gzip.decompress((STORED / name).read_bytes())) for name in CERTIFICATES]
    assert {content["problem"]["kind"] for content in contents} == {*check.WORDS}
    assert {key for content in contents for key in ("ray", "points", "segments") if key in content} == {
        "ray", "points", "segments",
    }  # fmt: skip


@pytest.mark.parametrize("value", [1e308, 1e200, 5e-324])
@pytest.mark.parametrize("name", ["mu_plus", "mu_minus", "root_plus", "root_minus", "slopes"])
def test_numbers_near_the_ends_of_doubles_are_judged_or_refused(name, value, tmp_path):
    for place in range(min(content_of_file(STORED / "guarantees.npz")[name].size, 3)):
        file = rewritten(STORED / "guarantees.npz", tmp_path / "wrong.npz", **{name: put(value, place)})
        with suppress(pc.InputError):
            assert pc.load(file).passes()


class OwnPath(ProblemPath):
    """A path of a class that is no part of the package."""


class OtherPath(ProblemPath):
    """Another one."""


def test_a_path_of_a_class_of_ones_own_comes_back_as_such(tmp_path):
    q, box = np.array([[0.0, 1.0], [-3.0, 1.0]]), np.ones((2, 2))
    source = LineOfItems(ParametricQP.hard(np.eye(2), np.zeros((0, 2)), q, 0 * box, box))
    path = trace_problem(source, OwnPath, progress=False)
    path.save(tmp_path / "own.npz")
    again = pc.load(tmp_path / "own.npz", kind=OwnPath)
    assert type(again) is OwnPath
    assert again.value(0.5) == path.value(0.5)
    assert again.proof.passes()
    assert type(pc.load(tmp_path / "own.npz")) is ProblemPath
    with pytest.raises(pc.InputError, match="kind must be what the file holds, OwnPath, got OtherPath"):
        pc.load(tmp_path / "own.npz", kind=OtherPath)
    with pytest.raises(pc.InputError, match="kind must be a class derived from ProblemPath, got <class 'int'>"):
        pc.load(tmp_path / "own.npz", kind=int)
    trace_problem(source, progress=False).save(tmp_path / "plain.npz")
    with pytest.raises(pc.InputError, match="the file holds, ProblemPath, got OwnPath"):
        pc.load(tmp_path / "plain.npz", kind=OwnPath)
    pc.trace(pc.TwoCSVM([[0.0], [1.0]], [-1, 1]), (0, 0), (1, 1)).save(tmp_path / "svm.npz")
    with pytest.raises(pc.InputError, match="no path of a program, got OwnPath"):
        pc.load(tmp_path / "svm.npz", kind=OwnPath)
