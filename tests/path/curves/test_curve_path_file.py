"""Files of curves: what is read is what was written, proved anew; files that were changed are refused."""

from __future__ import annotations

import numpy as np
import pytest

import paretoclf as pc
from tests.oracles.curve_lines import LINES
from tests.oracles.stored_files import rewritten


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Path, and its file, of a program whose constraints move."""
    path = pc.trace(*LINES["robust_svm"](), curve=True, progress=False)
    file = tmp_path_factory.mktemp("curves") / "curve.npz"
    path.save(file)
    return path, file


@pytest.mark.parametrize("name", ["elastic_net", "entropy", "largest_eigenvalue", "moving_rows", "moving_equation"])
def test_what_is_read_is_what_was_written(name, tmp_path):
    path = pc.trace(*LINES[name](), curve=True, progress=False)
    path.save(tmp_path / "curve.npz")
    again = pc.load(tmp_path / "curve.npz")
    assert repr(again) == repr(path)
    assert again.proof.passes()
    for t in (0.0, 0.37, 1.0):
        assert again.bounds(t) == path.bounds(t)
        assert again.value(t) == path.value(t)
        for variable, value in path.at(t).variables.items():
            np.testing.assert_array_equal(again.at(t).variables[variable], value)
    assert again.stretches == path.stretches
    assert again.events == path.events
    assert again.changes == path.changes
    again.save(tmp_path / "again.npz")
    assert pc.load(tmp_path / "again.npz").eps == path.eps
    with pytest.raises(pc.InputError, match="needs the problem"):
        again.compare(2)


def changed(saved, tmp_path, **how):
    """A file with some arrays changed by functions."""
    return rewritten(saved[1], tmp_path / "changed.npz", **how)


CHANGES = {
    "points": ({"x": lambda x: x + 1e-4}, "its file says|no point"),
    "multipliers": ({"z": lambda z: 1.001 * z}, "its file says|no multipliers"),
    "negative multipliers": ({"z": lambda z: -z}, "its file says|no multipliers"),
    "an end": ({"t": lambda t: np.append(t[:-1], 0.5)}, "t must"),
    "ends that are not on the grid": ({"t": lambda t: np.array([0.0, *(t[1:-1] + 1e-16), 1.0])}, "grid"),
    "eps": ({"eps": lambda eps: 0.1 * eps}, "its file says"),
    "costs": ({"program_q": lambda q: q + 1e-3}, "its file says|no point|no multipliers"),
    "numbers of rows": ({"x_rows": lambda rows: rows + 1}, "x must have shape"),
    "what is smooth": ({"smooth": lambda smooth: smooth + 5}, "smooth must lie"),
    "places of changes": ({"changes_t": lambda t: np.append(t, 0.1)}, "changes_t must have shape"),
    "no numbers": ({"inner": lambda x: np.full_like(x, np.nan)}, "inner must be finite"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_files_that_were_changed_are_refused(name, saved, tmp_path):
    how, why = CHANGES[name]
    with pytest.raises((pc.InputError, pc.DegeneratePathError), match=why):
        pc.load(changed(saved, tmp_path, **how))


def test_a_file_is_read_without_its_proof_if_that_is_asked_for(saved, tmp_path):
    path = pc.load(changed(saved, tmp_path, x=lambda x: x + 1e-4), prove=False)
    assert path.eps > 2 * path.claimed
