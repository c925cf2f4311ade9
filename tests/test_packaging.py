"""What an installation promises: bounds that can be tried, extras that somebody names, an import that costs little."""

from __future__ import annotations

import re
import runpy
import subprocess
import tomllib
from functools import partial
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
PUBLISHED = runpy.run_path(str(ROOT / "docs" / "repository.py"))
ELSEWHERE = "https://github.com/Someone/else.where"


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
    headings = {"# Summary", "# Statement of need", "# State of the field", "# Software design", "# Research impact"}
    assert headings <= {*text.splitlines()}
    text = " ".join(text.split("\n---\n", 1)[1].split())
    assert 750 <= len(text.split()) <= 1200  # the journal's length
    page = (ROOT / "docs" / "how_to" / "verify_your_solver.md").read_text(encoding="utf-8")
    default = dict(re.findall(r"^\| ([\w -]+) \| default \| (\d+) \| \d+ \| \d+ \| \d+ \|", page, re.MULTILINE))
    proved = re.search(r"proved optimal to 1e-8 in (.*?);", text)[1]
    here = re.findall(r"(\d+) (?:cases )?by (?:scikit-learn's )?`?(\w+)", proved)
    assert {name.upper(): count for count, name in here} == {name.split()[-1].upper(): n for name, n in default.items()}
    assert len(here) == 6
    benchmarks = (ROOT / "docs" / "research" / "benchmarks.md").read_text(encoding="utf-8")
    for row, told in PAPER.items():
        assert re.search(row, benchmarks), row
        assert re.search(told, text), told


#: What a table of the benchmarks says, and the same in words of the paper.
PAPER = {
    r"integer +lars_path .* 9%": "`lars_path` was silently wrong on 9 % of lassos with whole numbers",
    r"plain +pypfopt CLA .* 19%": "PyPortfolioOpt's critical line on 19 % of plain frontiers",
    r"\| 20 degenerate maps \| 9 maps, 11 without an optimum; 0 wrong \| ppopt: 9 failed, 33 of 1100 points wrong": (
        r"Of twenty of these ppopt 1\.6\.12 failed on 9, and 33 of 1100 points were wrong; here 9 have a map, 11 are"
    ),
    r"\| 1250 random programs, answers of six solvers, as they are and spoilt \| no false verdict; 99\.3 % decided": (
        r"On 1250 random programs, answered by six solvers and spoilt on purpose, no verdict was false and 99\.3 %"
    ),
    r"\| 100 000 random degenerate programs \| 0 wrong, 0 refused": (
        "Of 100 000 random degenerate programs none was wrong and none refused"
    ),
    r"\ntotal +\d+ \(7304\) +7300 +4 +0 ": "of 7304 paths of degenerate classifiers 4 were refused, and none was wrong",
    r"takes 4 to 5 times `lars_path`, of which a third is the proof": (
        "a lasso takes four to five times `lars_path`, of which a third is the proof"
    ),
}


def test_what_is_not_published_has_no_links_and_what_is_has_one_setting(monkeypatch):
    repository = PUBLISHED["REPOSITORY"]
    fields = PUBLISHED["dynamic_metadata"]({}, PROJECT)
    assert {*PROJECT["dynamic"]} == {*fields}
    if not repository:
        assert fields["urls"] == PUBLISHED["theme"]("") == {}
        assert fields["readme"]["text"] == (ROOT / "README.md").read_text(encoding="utf-8")
    monkeypatch.setitem(PUBLISHED["dynamic_metadata"].__globals__, "REPOSITORY", ELSEWHERE)
    fields = PUBLISHED["dynamic_metadata"]({}, PROJECT)
    assert {*fields["urls"]} == {"Documentation", "Source", "Issues", "Changelog"}
    assert fields["urls"]["Documentation"] == "https://someone.github.io/else.where/"
    targets = re.findall(r"\]\(([^)]+)\)|src=\"([^\"]+)\"", fields["readme"]["text"])
    leading = re.compile(rf"{re.escape(ELSEWHERE)}/(blob|raw)/v{re.escape(PROJECT['version'])}/([^#]+)(#.*)?")
    files = [leading.fullmatch(link or picture) for link, picture in targets if "#" not in {link[:1], picture[:1]}]
    assert len(files) > 30
    assert all(found and (ROOT / found[2]).is_file() for found in files)
    assert {found[1] for found in files if found[2].endswith(".png")} == {"raw"}


@pytest.mark.parametrize("wrong", ["github.com/someone/else", "https://github.com/someone", f"{ELSEWHERE}/"])
def test_an_address_that_is_none_is_refused(wrong):
    with pytest.raises(ValueError, match=r"REPOSITORY is .*OWNER/NAME"):
        PUBLISHED["urls"](wrong)


def said_in(words):
    """Files of the project, those that git would take, in which an expression is found."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    suffixes = {".md", ".py", ".toml", ".yml", ".cff", ".js", ".css"}
    files = [ROOT / name for name in names if Path(name).suffix in suffixes]
    return {
        file.relative_to(ROOT).as_posix()
        for file in files
        if file.is_file() and re.search(words, file.read_text(encoding="utf-8"))
    }


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="asks git for the files of the project")
def test_nothing_but_the_setting_is_to_be_changed_for_a_release():
    """No address of ours stands anywhere else, to be forgotten there."""
    assert said_in(r"(github\.com|github\.io|readthedocs\.io)/[\w.-]*/?paretoclf") <= {"docs/repository.py"}
    assert said_in(r"^REPOSITORY = \"") | said_in(r"\nREPOSITORY = \"") == {"docs/repository.py"}


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="asks git for the files of the project")
def test_an_index_is_named_only_where_the_package_is_there():
    """Before a release only its checklist does; with an extra it is true of whoever has the package already."""
    if not PUBLISHED["REPOSITORY"]:
        assert said_in(r"pip install [p]aretoclf(?!\[)") == {"RELEASE.md"}


@pytest.mark.skipif(not (ROOT / ".ci" / "pages").exists(), reason="a source distribution has no .ci")
def test_documentation_of_a_version_stands_beside_that_of_others(tmp_path):
    """Of versions out of order, one of them twice: the root leads to the newest, and each keeps its pages."""
    git = partial(subprocess.run, check=True, cwd=tmp_path, capture_output=True, text=True)
    git(["git", "init", "-q", "--bare", "origin"])
    git(["git", "init", "-q", "clone"])
    git(["git", "-C", "clone", "remote", "add", "origin", str(tmp_path / "origin")])
    (tmp_path / "html" / ".doctrees").mkdir(parents=True)
    for version, words in (("0.9.0", "first"), ("0.10.0", "wrong"), ("0.9.1", "third"), ("0.10.0", "fourth")):
        (tmp_path / "html" / "index.html").write_text(words, encoding="utf-8")
        git([str(ROOT / ".ci" / "pages"), "../html", version], cwd=tmp_path / "clone")
    shown = lambda name: git(["git", "-C", "origin", "show", f"gh-pages:{name}"]).stdout  # noqa: E731
    assert [shown(f"{version}/index.html") for version in ("0.9.0", "0.9.1", "0.10.0")] == ["first", "third", "fourth"]
    assert 'url=0.10.0/"' in shown("index.html")
    assert re.findall(r'href="([\d.]+)/"', shown("versions.html")) == ["0.10.0", "0.9.1", "0.9.0"]
