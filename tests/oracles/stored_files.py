"""Saved files with another content: with the hash that belongs to it, or without."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.common.files import write_file
from paretoclf.path.base.older_files import read_content
from tests.oracles.lines import FAMILIES

#: Programs whose files are changed, each with both ends of a line.
STORED = {
    "lasso": FAMILIES["lasso"],
    "taken up": FAMILIES["quantile, maximum"],
    "maximise": FAMILIES["frontier, maximise"],
    "svm": FAMILIES["svm, slacks"],
}
X, TH = cp.Variable(2, name="x"), cp.Parameter(name="th")
STORED["infeasible"] = lambda: (
    cp.Problem(cp.Minimize(cp.sum(X)), [(X <= 3).set_label("cap"), cp.sum(X) >= TH]), {TH: 0.0}, {TH: 8.0},
)  # fmt: skip


def content_of_file(file):
    """What a saved file holds: arrays and what is said, by name."""
    return read_content(file, "not a saved file")


def rewritten(file, into, **changes):
    """A file with some of its content changed, by functions of what was there, or left out where that is None."""
    content = content_of_file(file)
    for name, change in changes.items():
        if change is None:
            del content[name]
        else:
            was = content[name]
            content[name] = change(was.copy() if hasattr(was, "copy") else was)
    write_file(into, content)
    return into


def damaged(file, into, **arrays):
    """A file with other arrays and its old hash."""
    with np.load(file) as data:
        np.savez(into, **{**{name: data[name] for name in data.files}, **arrays})
    return into


def telling(**changes):
    """A function that changes what is said, as `rewritten` takes it."""
    return lambda told: {**told, **changes}


def spoilt(array, k):
    """An array with its entry k changed."""
    other, was = array.copy(), array.ravel()[k]
    if array.dtype.kind == "u":  # bytes of a hash: one in 256 is 0, from which nothing can be taken
        other.ravel()[k] = was ^ 1
        return other
    other.ravel()[k] = not was if array.dtype.kind == "b" else 1 if np.isinf(was) else was - (was or 1)
    return other


def refused_when_changed(file, other, left_out=()):
    """How many changes of the arrays of a file were tried, all of which are refused, with ``prove=False``, too."""
    with np.load(file) as data:
        arrays = {key: data[key] for key in data.files if key not in left_out and data[key].dtype.kind != "U"}
    rng, tried = np.random.default_rng(0), 0
    for key, array in arrays.items():
        for k in rng.permutation(array.size)[:1].tolist():
            with pytest.raises(pc.InputError, match="not a saved path"):
                pc.load(damaged(file, other, **{key: spoilt(array, k)}), prove=False)
            tried += 1
    return tried
