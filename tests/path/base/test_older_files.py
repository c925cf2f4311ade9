"""Files of older versions: what bound them then binds them now, and what nothing bound is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import paretoclf as pc
from tests.oracles.stored_files import damaged, refused_when_changed

OLDER = Path(__file__).parents[2] / "stored"


@pytest.mark.parametrize("name", ["lasso", "infeasible", "limit", "moved_variable"])
def test_what_no_proof_sees_of_an_older_file_is_bound(name, tmp_path):
    """Of one with a hash. Its texts were arrays."""
    file, judged = OLDER / f"program_bound_{name}.npz", ("x", "z", "ray") if name == "limit" else ("x", "z", "t", "ray")
    assert pc.load(file).unchecked == ""
    assert refused_when_changed(file, tmp_path / "other.npz", judged) > 12
    with np.load(file) as data:
        told = np.array(str(data["of_problem"]).replace('"max_events"', '"most_events"'))
        names = np.array(str(data["program_variables"]).replace('": [', 'y": ['))
        assert told != data["of_problem"]
        assert names != data["program_variables"]
    for texts in ({"of_problem": told}, {"program_variables": names}):
        with pytest.raises(pc.InputError, match="another hash"):
            pc.load(damaged(file, tmp_path / "other.npz", **texts))


def test_that_an_older_path_was_stopped_is_said_and_not_checked(tmp_path):
    with np.load(OLDER / "program_infeasible.npz") as data:
        told = np.array(str(data["of_problem"]).replace('"infeasible"', '"limit"'))
    older = pc.load(damaged(OLDER / "program_infeasible.npz", tmp_path / "limit.npz", of_problem=told))
    assert "it was stopped" in repr(older)
    assert "names and constant, and that it was stopped: said, not checked" in repr(older)


@pytest.mark.parametrize("name", ["end", "infeasible", "unbounded", "crossing", "limit", "moved_variable"])
def test_an_older_file_says_what_is_not_checked(name, tmp_path):
    path = pc.load(OLDER / f"program_{name}.npz")
    said = "ames and constant, and that it was stopped" if name == "limit" else "ames and constant"
    assert f"n{said}: said, not checked" in repr(path)
    assert f"N{said}: said, not checked" in path.proof.explain()
    path.save(tmp_path / "again")  # what was not checked is not bound by that
    assert repr(pc.load(tmp_path / "again.npz")) == repr(path)
