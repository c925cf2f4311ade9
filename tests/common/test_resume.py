"""A file says what it belongs to, in words that tell all else from it, and is refused elsewhere with the difference."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import paretoclf as pc
from paretoclf.common.resume import Arrays, difference, finish, statement


@dataclass(frozen=True)
class Settings:
    """A dataclass whose repr leaves something out."""

    a: float
    X: object = None

    def __repr__(self):
        return "Settings"


class Loud:
    """An object that says what it is."""

    def __init__(self, x):
        self.x = x

    def __repr__(self):
        return f"Loud({self.x})"


class Silent:
    """An object that does not."""


def double(x):
    return {"twice": np.array(2 * x)}


def triple(x):
    return {"twice": np.array(3 * x)}


DIFFERENT = [
    1, 1.5, "1", None, True, b"1", [1, 2], [2, 1], [[1], 2], {"a": 1}, {"a": 2}, {"b": 1}, {}, [],
    np.arange(3), np.arange(3.0), np.arange(3.0)[::-1], np.arange(3.0).reshape(3, 1), np.array(["x"]),
    sp.csr_array(np.eye(2)), sp.csr_array(2 * np.eye(2)), sp.csr_array(np.eye(2)[::-1]), sp.csr_array((2, 3)),
    double, triple, len, np.log, np.exp, Settings, partial(double, 1), partial(double, 2), partial(double, x=1),
    partial(triple, 1), Settings(1.0), Settings(2.0), Settings(1.0, np.zeros(2)), Settings(1.0, np.ones(2)),
    Loud(1), Loud(2), pc.RBF(1.0), pc.RBF(2.0), pc.tuning.NeymanPearson(0.1), pc.tuning.NeymanPearson(0.2),
    StandardScaler(), StandardScaler(with_mean=False), FunctionTransformer(np.log), FunctionTransformer(double),
    make_pipeline(StandardScaler(), FunctionTransformer(double)), range(3), range(4),
    make_pipeline(StandardScaler(with_std=False), FunctionTransformer(double)),
]  # fmt: skip


def test_what_differs_is_stated_differently_and_the_difference_is_named():
    stated = [statement("task", each) for each in DIFFERENT]
    assert len(set(stated)) == len(stated)
    assert stated == [statement("task", each) for each in DIFFERENT]
    for one in stated:
        for other in stated:
            if one != other:
                assert difference(one, other).startswith("parameters")


def test_a_statement_can_be_read():
    found = json.loads(statement("fold-01", {"X": np.zeros((3, 2)), "level": 0.05, "inner": partial(double, x=[1])}))
    assert found["task"] == "fold-01"
    assert found["version"] == pc.__version__
    assert found["parameters"]["level"] == 0.05
    assert found["parameters"]["X"].startswith("array (3, 2) of <f8, sha256 ")
    assert found["parameters"]["inner"] == {"call": f"{__name__}.double", "with": [], "x": [1]}


def test_it_is_the_same_in_another_process():
    code = (
        "import numpy as np, paretoclf as pc\nfrom paretoclf.common.resume import statement\n"
        "print(statement('t', {'X': np.arange(4.0), 'kernel': pc.RBF(2.0), 'f': np.log}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout.strip() == statement("t", {"X": np.arange(4.0), "kernel": pc.RBF(2.0), "f": np.log})


def test_what_has_no_name_of_its_own_is_refused():
    def inner(x):
        return x

    for each in (lambda x: x, inner, Silent(), [Silent()], FunctionTransformer(inner), object()):
        with pytest.raises(pc.InputError, match=r"cannot be told from another one.* a __repr__ that says what it is"):
            statement("task", {"x": each})


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (("p-1", partial(double, 2)), r"parameters\.with\.0: 1 there, 2 here"),
        (("p-1", partial(triple, 1)), r"parameters\.call: .*double\" there, .*triple\" here"),
        (("p-1", partial(double, 1, 2)), r"parameters\.with\.1: \"nothing\" there, 2 here"),
    ],
)
def test_a_file_of_another_task_is_refused_with_the_difference(tmp_path, other, said):
    task = {"p-1": partial(double, 1)}
    assert finish(task, tmp_path, Arrays())["p-1"]["twice"] == 2
    with pytest.raises(pc.InputError, match=rf"state must be of the same samples, .*p-1\.npz is of others \({said}\)"):
        finish(dict([other]), tmp_path, Arrays())
    assert finish(task, tmp_path, Arrays())["p-1"]["twice"] == 2


def test_a_file_of_another_version_or_an_older_form_or_another_name_is_refused(tmp_path, monkeypatch):
    task = {"p-1": partial(double, 1)}
    finish(task, tmp_path, Arrays())
    monkeypatch.setattr(pc, "__version__", "0.0.9")
    with pytest.raises(pc.InputError, match=rf'\(version: "{"0.1.0"}" there, "0.0.9" here\)'):
        finish(task, tmp_path, Arrays())
    monkeypatch.undo()
    (tmp_path / "p-1.npz").rename(tmp_path / "p-2.npz")
    with pytest.raises(pc.InputError, match=r'\(task: "p-1" there, "p-2" here\)'):
        finish({"p-2": partial(double, 1)}, tmp_path, Arrays())
    np.savez(tmp_path / "p-1.npz", problem=np.array("3fe2"), twice=np.array(2))
    with pytest.raises(pc.InputError, match=r"\(an older version wrote it, which did not say of which\)"):
        finish(task, tmp_path, Arrays())


def test_what_is_damaged_is_computed_again_and_what_is_whole_is_not(tmp_path, caplog):
    caplog.set_level(logging.WARNING, logger="paretoclf")
    done = []

    tasks = {f"p-{k}": partial(double, k) for k in range(3)}
    finish(tasks, tmp_path, Arrays())
    (tmp_path / "p-1.npz").write_bytes(b"torn")
    before = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    found = finish(tasks, tmp_path, Arrays())
    assert [int(found[name]["twice"]) for name in tasks] == [0, 2, 4]
    done = [file.name for file, time in before.items() if file.stat().st_mtime_ns != time]
    assert done == ["p-1.npz"]
    assert "it is computed again" in caplog.text
