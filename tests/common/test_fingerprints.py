"""Fingerprints: equal in every process, different for whatever differs, and none for what cannot be told apart."""

from __future__ import annotations

import functools
import subprocess
import sys
from dataclasses import dataclass, field

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import paretoclf as pc
from paretoclf.common.fingerprints import fingerprint
from paretoclf.tuning import ExpectedCost, Minimax, NeymanPearson

WIDTH = 1.0


def by_global(X, Z):
    return np.exp(-WIDTH * X @ Z.T)


def maker(width):
    return lambda X, Z: np.exp(-width * X @ Z.T)


def inner(x):
    return maker(x)(x, x)


class Weighted:
    """A criterion of a user."""

    def __init__(self, weight):
        self.weight = weight

    def __call__(self, fpr, fnr):
        return self.weight * fpr + fnr


class Other(Weighted):
    def __call__(self, fpr, fnr):
        return self.weight * fpr - fnr


@dataclass(frozen=True)
class Settings:
    a: float
    hidden: object = field(repr=False, default=None)


class Slots:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


def circle(size):
    found = [size]
    found.append(found)
    return found


#: What must be told from each other; each is made twice.
DIFFERENT = [
    lambda: 1, lambda: 1.0, lambda: True, lambda: "1", lambda: b"1", lambda: None, lambda: (1,), lambda: [1],
    lambda: {1}, lambda: {1: 2}, lambda: {2: 1}, lambda: ((1, 2), 3), lambda: (1, (2, 3)), lambda: ("ab", "c"),
    lambda: ("a", "bc"), lambda: {"a", "b", "c"}, lambda: np.nan, lambda: 0.0, lambda: -0.0,
    lambda: np.arange(4.0), lambda: np.arange(4.0).reshape(2, 2), lambda: np.arange(4), lambda: np.arange(4.0)[::-1],
    lambda: np.array([1, "a"], dtype=object), lambda: np.array([1, "b"], dtype=object), lambda: np.array(["x"]),
    lambda: sp.csr_array(np.eye(3)), lambda: sp.csr_array(np.eye(3)[::-1]),
    lambda: by_global, lambda: maker(1.0), lambda: maker(2.0), lambda: inner, lambda: (lambda x: x),
    lambda: (lambda x: x + 1), lambda: (lambda x, y=1: x), lambda: (lambda x, y=2: x), lambda: (lambda x, *, y=2: x),
    lambda: functools.partial(by_global, 1), lambda: functools.partial(by_global, 2), lambda: np.exp, lambda: np.log,
    lambda: len, lambda: [].append, lambda: "a".join, lambda: "b".join,
    lambda: Weighted(1), lambda: Weighted(2), lambda: Other(1), lambda: Weighted(1).__call__, lambda: Weighted,
    lambda: Settings(1.0), lambda: Settings(1.0, "x"), lambda: Settings(1.0, Weighted(1)), lambda: Slots(1),
    lambda: Slots(2), lambda: pc.RBF(1.0), lambda: pc.RBF(2.0), lambda: Minimax(), lambda: NeymanPearson(0.1),
    lambda: ExpectedCost(1.0, 2.0, 0.5), lambda: ExpectedCost(1.0, 3.0, 0.5), lambda: circle(1),
    lambda: circle(2), lambda: StandardScaler(), lambda: StandardScaler(with_mean=False),
    lambda: FunctionTransformer(np.log), lambda: FunctionTransformer(np.exp), lambda: FunctionTransformer(maker(3.0)),
    lambda: make_pipeline(FunctionTransformer(maker(1.0)), StandardScaler()),
    lambda: make_pipeline(FunctionTransformer(maker(1.0)), StandardScaler(with_std=False)),
    lambda: np.random.default_rng(1), lambda: np.random.default_rng(2), lambda: range(3), lambda: range(4),
    lambda: functools.lru_cache(maker(1.0)), lambda: functools.lru_cache(maker(5.0)), lambda: {}, lambda: [],
]  # fmt: skip


def test_what_differs_has_another_fingerprint_and_what_is_equal_the_same():
    found = [fingerprint(make()) for make in DIFFERENT]
    assert found == [fingerprint(make()) for make in DIFFERENT]
    assert len(set(found)) == len(found)


def test_numbers_of_numpy_and_orders_of_mappings_are_no_difference():
    assert fingerprint(np.float64(1.5), {"a": 1, "b": 2}) == fingerprint(1.5, {"b": 2, "a": 1})
    assert fingerprint(np.asfortranarray(np.eye(2, 3))) == fingerprint(np.eye(2, 3))


def test_globals_that_a_function_reads(monkeypatch):
    before = fingerprint(by_global), fingerprint(inner)
    monkeypatch.setitem(globals(), "WIDTH", 2.0)
    assert fingerprint(by_global) != before[0]
    monkeypatch.setitem(globals(), "maker", lambda width: lambda X, Z: X)
    assert fingerprint(inner) != before[1]


def test_every_process_finds_the_same():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_fingerprints import DIFFERENT, fingerprint\n"
        "print(*[fingerprint(make()) for make in DIFFERENT])"
    )
    folder = __file__.rpartition("/")[0]
    done = [
        subprocess.run(
            [sys.executable, "-c", code, folder], capture_output=True, text=True, check=True,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
        ).stdout.split()
        for seed in ("1", "2")
    ]  # fmt: skip
    assert done[0] == done[1] == [fingerprint(make()) for make in DIFFERENT]


def test_comments_and_documentation_of_a_function_are_no_difference():
    one, two = {}, {}
    exec("def f(x):\n    'Text.'\n    return x", one)
    exec("# More.\n\ndef f(x):\n    'Other text.'\n    return x", two)
    assert fingerprint(one["f"]) == fingerprint(two["f"])
    exec("def f(x):\n    'Other text.'\n    return -x", two)
    assert fingerprint(one["f"]) != fingerprint(two["f"])


@pytest.mark.parametrize("what", ["file", "generator", "inside"])
def test_what_cannot_be_told_apart_is_refused(what):
    with open(__file__, encoding="utf-8") as stream:
        given = {"file": stream, "generator": (x for x in ()), "inside": functools.partial(by_global, lambda: stream)}
        with pytest.raises(pc.InputError, match="cannot be told from another one"):
            fingerprint(given[what])


def test_what_pip_put_elsewhere_is_installed(tmp_path):
    """As by ``pip install --target``: known by name and version, and not walked into what it holds open."""
    (tmp_path / "far_away.py").write_text("import threading\nHELD = threading.local()\ndef f(x):\n    return HELD, x\n")
    code = "import far_away\nfrom paretoclf.common.fingerprints import fingerprint\nprint(fingerprint(far_away.f))"
    run = [sys.executable, "-c", code]
    env = {"PYTHONPATH": str(tmp_path), "PATH": ""}
    assert "cannot be told from another one" in subprocess.run(run, capture_output=True, text=True, env=env).stderr
    (tmp_path / "far_away-1.0.dist-info").mkdir()
    assert len(subprocess.run(run, capture_output=True, text=True, env=env, check=True).stdout.split()) == 1
