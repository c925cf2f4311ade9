"""What an installation promises: bounds that can be tried, extras that somebody names, an import that costs little."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_every_requirement_states_its_lowest_version(extra):
    """.ci/run installs exactly these; a requirement without one would be tried with its newest version only."""
    for requirement in EXTRAS[extra] if extra else PROJECT["dependencies"]:
        assert re.fullmatch(r"[a-z-]+>=[0-9.]+(; sys_platform != 'emscripten')?|paretoclf\[[a-z,]+\]", requirement), (
            requirement
        )


def test_a_browser_is_not_asked_for_what_it_does_without():
    """Pyodide has CVXPY 1.8 and matplotlib 3.8: an installer there would refuse the package for our lower bounds."""
    there = {re.split(r"[>;]", each)[0] for each in PROJECT["dependencies"] if "emscripten" not in each}
    assert there == {"numpy", "scipy", "scikit-learn", "joblib", "tqdm"}


def test_users_are_told_of_every_extra_and_of_no_other():
    told = [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("examples/*.py"),
        *ROOT.glob("paretoclf/**/*.py"),
    ]
    named = {
        extra
        for file in told
        if "_build" not in file.parts and file.name != "CHANGELOG.md"
        for extras in re.findall(r"paretoclf\[([a-z,]+)\]", file.read_text(encoding="utf-8"))
        for extra in extras.split(",")
    }
    assert {*EXTRAS} - {"test", "docs", "dev"} <= named <= {*EXTRAS}


def test_type_checkers_are_told_that_there_are_types():
    assert (ROOT / "paretoclf" / "py.typed").is_file()
    assert "Typing :: Typed" in PROJECT["classifiers"]


def test_readers_of_citations_find_what_they_need():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for key in ("cff-version", "message", "title", "type", "authors", "version", "license", "abstract", "keywords"):
        assert re.search(rf"^{key}:", citation, re.MULTILINE), key
    assert f"license: {PROJECT['license']}" in citation


def test_the_paper_cites_what_it_lists_and_has_todays_numbers():
    folder = ROOT / "docs" / "paper"
    text, sources = ((folder / name).read_text(encoding="utf-8") for name in ("paper.md", "paper.bib"))
    assert {*re.findall(r"@(\w+)", text)} == {*re.findall(r"^@\w+\{(\w+),", sources, re.MULTILINE)}
    assert {"# Summary", "# Statement of need", "# State of the field"} <= {*text.splitlines()}
    page = (ROOT / "docs" / "how_to" / "verify_your_solver.md").read_text(encoding="utf-8")
    default = re.findall(r"^\| ([\w -]+) \| default \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", page, re.MULTILINE)
    here = re.findall(r"^\| ([\w `()-]+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    assert len(default) == 6
    assert [row[1:] for row in here] == [row[1:] for row in default]
    benchmarks = (ROOT / "docs" / "reference" / "benchmarks.md").read_text(encoding="utf-8")
    for row, share in (("integer +lars_path", "9%"), ("duplicate column +lars_path", "22%"), ("plain +pypfopt", "19%")):
        assert re.search(rf"{row}.* {share}", benchmarks), row
        assert share.replace("%", " %") in text
    finished, total = re.search(r"proved (\d+) of (\d+) degenerate paths", text).groups()
    assert re.search(rf"^total +\d+ \({total}\) +{finished} +4 +0 ", benchmarks, re.MULTILINE)
