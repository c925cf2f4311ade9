"""Every public name stands once, in the stub; what is imported, listed and starred is exactly that."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from types import ModuleType

import cvxpy as cp
import numpy as np
import pytest

import paretoclf as pc
from paretoclf.moved import MOVED
from paretoclf.path.engines import DEFAULT
from paretoclf.versions import DEPENDENCIES, versions
from tests.oracles.public import ROOMS, everything, of_room

ROOT = Path(__file__).resolve().parents[1]


def stub():
    """Public name -> module that the stub imports it from (empty for a module of the package)."""
    found: list[tuple[str, str]] = []
    for node in ast.parse((ROOT / "paretoclf" / "__init__.pyi").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            assert node.level == 1
            assert all(alias.name == alias.asname for alias in node.names)  # else type checkers take it for private
            found += [(alias.name, node.module or "") for alias in node.names]
    assert len(found) == len(dict(found)), "a name stands twice"
    return dict(found)


def test_what_is_listed_and_starred_is_what_the_stub_says():
    starred: dict[str, object] = {}
    exec("from paretoclf import *", starred)
    del starred["__builtins__"]
    assert sorted(starred) == sorted(dir(pc)) == sorted(pc.__all__) == sorted(stub())


def test_every_name_is_there_and_public_where_the_stub_says():
    for name, module in stub().items():
        value = getattr(pc, name)
        assert isinstance(value, ModuleType) == (module == ""), name
        home = getattr(value, "__module__", None)
        assert home is None or home.startswith("paretoclf"), name


def test_few_names_stand_at_the_top_and_each_answers_a_question():
    """Whoever types `pc.` reads them all; the rest is in rooms, whose results need no name to be used."""
    assert len(pc.__all__) <= 70
    page = (ROOT / "docs" / "reference" / "questions.md").read_text(encoding="utf-8")
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", page))))
    assert set(pc.__all__) - words == set()


def test_no_name_stands_in_two_rooms():
    found = [name.rpartition(".")[2] for name in everything() if not name.startswith(("datasets.", "plotting."))]
    assert len(found) == len(set(found))
    assert all(len(of_room(room)) > 1 for room in ROOMS)


def test_old_names_work_and_say_what_to_write():
    assert set(MOVED).isdisjoint(pc.__all__)
    for name, (instead, _) in MOVED.items():
        with pytest.warns(
            FutureWarning, match=rf"paretoclf\.{name} will go with .*: write {re.escape(instead)}"
        ) as told:
            old = getattr(pc, name)
        assert told[0].filename == __file__  # of whoever wrote the old name
        room, _, new = instead.removeprefix("paretoclf.").rpartition(".")
        if room in ROOMS and new == name:
            assert old is getattr(getattr(pc, room), name)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        pc.nothing  # noqa: B018


@pytest.mark.filterwarnings("ignore::paretoclf.errors.SlowTrackerWarning")
@pytest.mark.filterwarnings("ignore:.*will go with:FutureWarning")
def test_old_functions_of_other_arguments_do_what_they_did(tmp_path):
    y, score = np.array([-1, 1, -1, 1]), np.array([0.1, 0.4, 0.4, 0.8])
    np.testing.assert_array_equal(pc.roc_curve_of_scores(y, score).tpr, pc.roc.roc_of_scores(score, y).tpr)
    X = np.array([[0.0], [1.0], [2.0], [3.0], [1.5], [2.5], [0.5], [1.2], [2.2], [2.7]])
    svm = pc.TwoCSVM(X, [-1, 1] * 5)
    path = pc.trace(svm, (0.1, 1), (1, 0.1))
    path.save(tmp_path / "path.npz")
    assert pc.load_path(tmp_path / "path.npz").value(0.5) == pc.load(tmp_path / "path.npz").value(0.5)
    pc.plane(svm, (0.5, 1), (0.5, 1)).save(tmp_path / "plane.npz")
    assert repr(pc.load_plane(tmp_path / "plane.npz")) == repr(pc.load(tmp_path / "plane.npz"))
    assert pc.error_curve_of_scores(path.scores(X), svm.y).counts(0.5) == path.error_curve(X, svm.y).counts(0.5)
    assert list(pc.cross_validated_rocs(svm, (0.1, 1), (1, 0.1), folds=2, repeats=1)) == [
        *("intercept", "asymmetry", "both"),
    ]
    x = cp.Variable()
    problem = cp.Problem(cp.Minimize(cp.square(x)), [x >= 1])
    problem.solve("CLARABEL")
    assert pc.certify_problem(problem, 1e-6).status == pc.verify(problem, tol=1e-6).status == "optimal"
    with pytest.raises(pc.InputError, match="takes nothing else"):
        pc.verify(problem, y)


def test_versions_name_every_dependency_and_the_tracker(capsys):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert sorted(DEPENDENCIES) == sorted(re.split(r"[<>=~!]", d)[0] for d in project["dependencies"])
    found = versions()
    assert "missing" not in found.values()
    assert found["paretoclf"] == pc.__version__
    assert found["tracker"] == DEFAULT
    pc.show_versions()
    printed = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert printed == found
