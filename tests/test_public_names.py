"""Every public name stands once, in the stub; what is imported, listed and starred is exactly that."""

from __future__ import annotations

import ast
import re
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

import paretoclf as pc
from paretoclf.checking.versions import DEPENDENCIES, versions
from paretoclf.engine.engines import DEFAULT
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
        own = f"paretoclf.{module}.{name}".replace("..", ".")
        assert isinstance(value, ModuleType) == (getattr(value, "__name__", "") == own), name
        home = getattr(value, "__module__", None)
        assert home is None or home.startswith("paretoclf"), name


def test_few_names_stand_at_the_top_and_each_answers_a_question():
    """Whoever types `pc.` reads them all; the rest is in rooms, whose results need no name to be used."""
    assert len(pc.__all__) <= 76
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", page))))
    assert set(pc.__all__) - words == set()


def test_what_calls_return_is_where_the_table_of_questions_says():
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    returned = re.findall(r"\| .*`(?:(\w+)\.)?\w+[^`]*` → ((?:`[A-Z]\w+`(?:, | or | and )?)+)", page)
    assert len(returned) > 30
    counted = ("roc", "empirical")
    for room, names in returned:
        places = [pc, pc.results, *(getattr(pc, name) for name in (room, *counted) if name and hasattr(pc, name))]
        for name in re.findall(r"\w+", names):
            assert any(name in place.__all__ for place in places), name
    assert "`pc.roc` and `pc.empirical`" in page
    assert not {"ErrorCurve", "NestedRoc"} & {*pc.__all__, *pc.results.__all__}


def test_no_name_stands_in_two_rooms():
    found = [name.rpartition(".")[2] for name in everything() if not name.startswith(("datasets.", "plotting."))]
    assert len(found) == len(set(found))
    assert all(len(of_room(room)) > 1 for room in ROOMS)


def test_what_documents_and_examples_import_is_there():
    texts = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.py")]
    texts = [f for f in texts if not {"_build", "generated"} & set(f.parts)]
    pattern = re.compile(r"^[ >]*from (paretoclf[\w.]*) import (\([^)]*\)|[^\n(]+)", re.MULTILINE)
    found = {
        (module, name)
        for f in texts
        for module, names in pattern.findall(f.read_text(encoding="utf-8"))
        for name in re.findall(r"(\w+)(?: as \w+)?(?=[,)\n ]|$)", re.sub(r"#.*", "", names))
    }
    assert len(found) > 60
    for module, name in found - {(module, "as") for module, _ in found}:
        assert hasattr(import_module(module), name) or find_spec(f"{module}.{name}"), (module, name)


def test_a_name_that_is_not_there_is_said():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        pc.nothing  # noqa: B018


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
